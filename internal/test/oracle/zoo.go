package oracle

import (
	"math"
	"math/rand/v2"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/value"
)

// Zoo is an entry with fields of all types.
type Zoo struct {
	B                bool
	I8               int8
	I16              int16
	N                int32
	I64              int64
	U8               uint8
	U16              uint16
	U32              uint32
	U                uint64
	Big              uint64 // sometimes more than int64 has
	F                float32
	D                float64
	F16              float32 `rntuple:",encoding=Real16"`
	DD               cpp.Double32
	C                cpp.Char
	E                int32 `rntuple:",enum=Color"`
	At               cpp.Atomic[int32]
	S                string
	V, W             []float32 // of the same length
	X                []float64
	I, J             []int64 // of the same length
	Bytes            []uint8
	Bigs             []uint64
	T                []string
	M                []bool
	Set              cpp.Set[int32]
	RV               cpp.RVec[float32]
	Deep             [][]float64
	DeepI            [][]int16
	DeepT            [][]string
	Deepest          [][][]float32
	A                [3]float64
	AA               [2][2]int32
	AV               [2][]float32
	Bits             [9]bool `rntuple:",type=std::bitset<9>"`
	O                *int32
	OB               *bool
	OF               *float64
	OS               *string
	OV               *[]float64
	OA               *[2]int32
	OR               *Point
	VO               []*float64
	VOI              []*int32
	VOV              []*[]int32
	UP               cpp.UniquePtr[float32]
	P                Point
	H, G             []Hit
	R                Track
	ByName           map[string]float64
	ByNameV          map[string][]int32
	ByNameU          map[string]uint64
	ByNumber         map[int32]float32
	Multi            cpp.MultiMap[int32, string]
	Pair             cpp.Pair[float32, float64]
	Mixed            cpp.Pair[uint64, string]
	Mixes            []cpp.Pair[string, uint64]
	Tuple            cpp.Tuple3[int32, float64, int16]
	TupleS           cpp.Tuple2[string, []float32]
	Pairs            []cpp.Pair[int32, float32]
	VarN             cpp.Variant2[int32, float64] // a number that may be missing
	VarS             cpp.Variant3[int32, string, float32]
	VarV             cpp.Variant2[string, []float32]
	VarS2            []cpp.Variant2[int32, string]
	Empty            []float32
	Colon            int32 `rntuple:"a:b"`
	Infinity, Always float64
}

// Point and the types below are records.
type Point struct{ X, Y float64 }

type Hit struct {
	X, Y float64
	K    int16
	Q    uint64 // sometimes more than int64 has
	L    []float32
	S    string
	O    *float32
	Flag bool
	At   Point
	Sub  []Point
}

type Track struct {
	Hits   []Hit
	Charge int8
	Params [2]float32
	At     Point
	Name   *string
	ByName map[string]int32
}

// WriteZoo makes a file with an RNTuple "zoo" of random entries in several clusters.
func WriteZoo(path string, entries int, seed uint64, opts *rntuple.WriteOptions) error {
	w, err := rntuple.Create[Zoo](path, "zoo", opts)
	if err != nil {
		return err
	}
	z := zookeeper{rand.New(rand.NewPCG(seed, 1))}
	for i := range entries {
		e := z.entry()
		w.Write(&e)
		if i%(entries/4+1) == entries/5 {
			if err := w.CommitCluster(); err != nil {
				w.Close()
				return err
			}
		}
	}
	return w.Close()
}

type zookeeper struct{ *rand.Rand }

func (z zookeeper) flag() bool { return z.IntN(2) == 0 }

func (z zookeeper) float() float64 {
	switch z.IntN(20) {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1 - 2*z.IntN(2))
	case 2:
		return math.Copysign(0, -1)
	case 3:
		return []float64{1e308, -1e308, 5e-324, 1 << 53, 1 << 63, -1 << 63}[z.IntN(6)]
	case 4, 5, 6, 7, 8:
		return float64(z.IntN(5) - 2)
	}
	return z.NormFloat64() * 3
}

func (z zookeeper) integer() int64 {
	if z.IntN(12) == 0 {
		return []int64{math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1, -1<<53 - 1, math.MaxInt32, 63, 64}[z.IntN(8)]
	}
	return int64(z.IntN(7) - 3)
}

func (z zookeeper) big() uint64 {
	if z.IntN(12) == 0 {
		return []uint64{1 << 63, math.MaxUint64}[z.IntN(2)]
	}
	return uint64(z.IntN(5))
}

func (z zookeeper) name() string {
	return []string{"", "a", "b", "ab", "é", "abc", "a b", " x ", "12", "-3", "1.5", "a,b"}[z.IntN(12)]
}

// many makes up to max items.
func many[T any](z zookeeper, limit int, one func() T) (all []T) {
	for range z.IntN(limit + 1) {
		all = append(all, one())
	}
	return all
}

// maybe makes a pointer, which is nil half of the time.
func maybe[T any](z zookeeper, one func() T) *T {
	if v := one(); z.flag() {
		return &v
	}
	return nil
}

func (z zookeeper) float32() float32 { return float32(z.float()) }
func (z zookeeper) int32() int32     { return int32(z.integer()) }
func (z zookeeper) point() Point     { return Point{z.float(), z.float()} }

func (z zookeeper) alternative(of ...any) any {
	i := z.IntN(len(of) + 1)
	if i == len(of) {
		return nil
	}
	return value.Alternative{Index: i, Value: of[i]}
}

func (z zookeeper) hit() Hit {
	return Hit{z.float(), z.float(), int16(z.integer()), z.big(), many(z, 3, z.float32), z.name(), maybe(z, z.float32),
		z.flag(), z.point(), many(z, 2, z.point)}
}

func (z zookeeper) hits() []Hit { return many(z, 3, z.hit) }

func (z zookeeper) entry() Zoo {
	floats := func() []float64 { return many(z, 3, z.float) }
	float32s := func() []float32 { return many(z, 3, z.float32) }
	ints := func() []int32 { return many(z, 3, z.int32) }
	names := func() []string { return many(z, 3, z.name) }
	e := Zoo{
		B: z.flag(), I8: int8(z.integer()), I16: int16(z.integer()), N: z.int32(), I64: z.integer(), U8: uint8(z.integer()),
		U16: uint16(z.integer()),
		U32: uint32(z.integer()), U: uint64(z.IntN(5)), Big: z.big(), F: z.float32(), D: z.float(), F16: z.float32(),
		DD: cpp.Double32(z.float32()),
		C:  cpp.Char('a' + z.IntN(3)), E: int32(z.IntN(3)), At: cpp.Atomic[int32]{Value: z.int32()}, S: z.name(),
		X: floats(), Bytes: many(z, 3, func() uint8 { return uint8(z.integer()) }), Bigs: many(z, 2, z.big),
		T: names(), M: many(z, 3, z.flag),
		Set: ints(), RV: float32s(), Deep: many(z, 3, floats),
		DeepI: many(z, 2, func() []int16 { return many(z, 3, func() int16 { return int16(z.integer()) }) }),
		DeepT: many(z, 2, names), Deepest: many(z, 2, func() [][]float32 { return many(z, 2, float32s) }),
		A:  [3]float64{z.float(), z.float(), z.float()},
		AA: [2][2]int32{{z.int32(), z.int32()}, {z.int32(), z.int32()}}, AV: [2][]float32{float32s(), float32s()},
		O: maybe(z, z.int32), OB: maybe(z, z.flag), OF: maybe(z, z.float), OS: maybe(z, z.name), OV: maybe(z, floats),
		OA: maybe(z, func() [2]int32 { return [2]int32{z.int32(), z.int32()} }), OR: maybe(z, z.point),
		VO:  many(z, 3, func() *float64 { return maybe(z, z.float) }),
		VOI: many(z, 3, func() *int32 { return maybe(z, z.int32) }),
		VOV: many(z, 2, func() *[]int32 { return maybe(z, ints) }), UP: cpp.UniquePtr[float32]{Value: maybe(z, z.float32)},
		P: z.point(), H: z.hits(), G: z.hits(),
		R: Track{z.hits(), int8(z.integer()), [2]float32{z.float32(), z.float32()}, z.point(), maybe(z, z.name),
			map[string]int32{z.name(): z.int32()}},
		ByName: map[string]float64{z.name(): z.float(), "a": z.float()}, ByNameV: map[string][]int32{z.name(): ints()},
		ByNameU: map[string]uint64{z.name(): z.big()},
		Mixes: many(z, 3, func() cpp.Pair[string,
			uint64] {
			return cpp.Pair[string, uint64]{First: z.name(), Second: z.big()}
		}),
		ByNumber: map[int32]float32{z.int32(): z.float32()},
		Multi: many(z, 2, func() cpp.Pair[int32,
			string] {
			return cpp.Pair[int32, string]{First: z.int32(), Second: z.name()}
		}),
		Pair:   cpp.Pair[float32, float64]{First: z.float32(), Second: z.float()},
		Mixed:  cpp.Pair[uint64, string]{First: z.big(), Second: z.name()},
		Tuple:  cpp.Tuple3[int32, float64, int16]{V0: z.int32(), V1: z.float(), V2: int16(z.integer())},
		TupleS: cpp.Tuple2[string, []float32]{V0: z.name(), V1: float32s()},
		Pairs: many(z, 2, func() cpp.Pair[int32, float32] {
			return cpp.Pair[int32, float32]{First: z.int32(), Second: z.float32()}
		}),
		VarN:  cpp.Variant2[int32, float64]{Value: z.alternative(z.int32(), z.float())},
		VarS:  cpp.Variant3[int32, string, float32]{Value: z.alternative(z.int32(), z.name(), z.float32())},
		VarV:  cpp.Variant2[string, []float32]{Value: z.alternative(z.name(), many(z, 3, func() any { return z.float32() }))},
		Colon: z.int32(), Infinity: math.Inf(1), Always: 1.5,
		VarS2: many(z, 2, func() cpp.Variant2[int32, string] {
			return cpp.Variant2[int32, string]{Value: z.alternative(z.int32(), z.name())}
		}),
	}
	for range z.IntN(4) {
		e.V, e.W, e.I, e.J = append(e.V, z.float32()), append(e.W, z.float32()), append(e.I, z.integer()),
			append(e.J, z.integer())
	}
	for i := range e.Bits {
		e.Bits[i] = z.flag()
	}
	return e
}
