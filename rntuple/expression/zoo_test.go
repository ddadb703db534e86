package expression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

type hit struct {
	X float64
	K int16
	L []float32
	S string
}

// A zoo is an entry with fields of many types.
type zoo struct {
	B        bool
	N        int32
	U        uint64
	F        float32
	D        float64
	S        string
	V, W     []float32 // of the same length
	X        []float64
	I        []int8
	T        []string
	M        []bool
	H        []hit
	Deep     [][]float64
	O        *int32
	OF       *float64
	OS       *string
	A        [3]float64
	P        struct{ X, Y float64 }
	ByName   map[string]float64
	ByNumber map[int32]float32
}

// zooFile makes a file of random entries.
func zooFile(t testing.TB, entries int, seed uint64, opts *rntuple.WriteOptions) *rntuple.Reader {
	t.Helper()
	return fileOf(t, "zoo", opts, func(w *rntuple.Writer[zoo]) {
		random := rand.New(rand.NewPCG(seed, 1))
		float := func() float64 {
			switch random.IntN(12) {
			case 0:
				return math.NaN()
			case 1:
				return math.Inf(1 - 2*random.IntN(2))
			case 2:
				return math.Copysign(0, -1)
			case 3, 4, 5:
				return float64(random.IntN(5) - 2)
			}
			return random.NormFloat64() * 3
		}
		integer := func() int32 { return int32(random.IntN(7) - 3) }
		name := func() string { return []string{"", "a", "b", "ab", "é", "abc"}[random.IntN(6)] }
		for i := range entries {
			e := zoo{B: random.IntN(2) == 0, N: integer(), U: uint64(random.IntN(5)), F: float32(float()), D: float(), S: name()}
			for range random.IntN(4) {
				e.V, e.W = append(e.V, float32(float())), append(e.W, float32(float()))
			}
			for range random.IntN(4) {
				e.X, e.I, e.T = append(e.X, float()), append(e.I, int8(integer())), append(e.T, name())
			}
			for range random.IntN(3) {
				e.M, e.H = append(e.M, random.IntN(2) == 0), append(e.H, hit{float(), int16(integer()), e.V, name()})
				e.Deep = append(e.Deep, e.X)
			}
			n, x, s := integer(), float(), name()
			if random.IntN(2) == 0 {
				e.O, e.OF, e.OS = &n, &x, &s
			}
			e.A, e.P.X, e.P.Y = [3]float64{float(), float(), float()}, float(), float()
			e.ByName, e.ByNumber = map[string]float64{name(): float()}, map[int32]float32{n: float32(x)}
			w.Write(&e)
			if i == entries/2 {
				if err := w.CommitCluster(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}, nil)
}

// fileOf makes a file of the entries that fill writes, and opens it.
func fileOf[T any](t testing.TB, name string, opts *rntuple.WriteOptions, fill func(w *rntuple.Writer[T]),
	read *rntuple.ReadOptions) *rntuple.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".root")
	w, err := rntuple.Create[T](path, name, opts)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", read)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// at returns value i of an Array as Go values, of which floats are bits.
func at(a *columnar.Array, i int) any {
	switch a.Shape {
	case schema.Optional:
		if !a.Valid[i] {
			return nil
		}
		return at(a.Children[0], i)
	case schema.String:
		return string(a.Bytes[a.Offsets[i]:a.Offsets[i+1]])
	case schema.Collection:
		items := []any{}
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			items = append(items, at(a.Children[0], int(k)))
		}
		return items
	}
	v := reflect.ValueOf(a.Values()).Index(i).Interface()
	if x, ok := v.(float64); ok && math.IsNaN(x) {
		return "NaN" // operations need not keep its bits
	} else if ok {
		return fmt.Sprintf("%b", x)
	}
	return v
}

// evaluated returns the values of an expression in the entries before the first error.
func evaluated(s rntuple.Source, p *Program, r rntuple.EntryRange) (all []any, err error) {
	for b, err := range p.In(s, r) {
		if err != nil {
			return all, err
		}
		for i := range b.Len {
			all = append(all, at(b.Values[0], i))
		}
	}
	return all, nil
}

// entryOfError returns what an error begins with: if an entry has several errors, the message
// may be about any of them.
func entryOfError(err error) string {
	entry, _, _ := strings.Cut(fmt.Sprint(err), ":")
	return entry
}
