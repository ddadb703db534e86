package expression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/oracle"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// zoned has an entry per cluster of its fields, and what their zones are.
type zoned struct {
	N    int32
	U    uint64
	F    float32
	OK   bool
	None float64 // NaN
	Pt   []float32
	Hits []hit
	Opt  *int32
	At   struct{ X, Y float64 }
	A    [3]int8
	S    string
	Odd  int32 `rntuple:"odd-name"`
	Deep [][]int16
	P, Q *hit
	Big  int64 // 2^53 + 1
}

// TestRuledOut has conditions that zones rule out, and others that they do not: for clusters
// of entries of which each has other values than the one before.
func TestRuledOut(t *testing.T) {
	five := int32(5)
	entries := []zoned{
		{N: 10, U: 3, F: 1.5, OK: true, None: math.NaN(), Pt: []float32{10, 20}, Hits: []hit{{X: 3, K: -1}}, Opt: &five,
			A: [3]int8{1, 2, 3}, Odd: 4, P: &hit{X: 3}, Q: &hit{X: 60}, Big: 1<<53 + 1},
		{N: 20, U: 5, F: 2.5, OK: true, None: math.NaN(), Pt: []float32{30, 20, 25}, Hits: []hit{{X: 7, K: 1}}, Opt: &five,
			A: [3]int8{1, 2, 3}, Odd: 6, Deep: [][]int16{{4}, {6, 5}}, Q: &hit{X: 60}, Big: 1<<53 + 1},
	}
	for i := range entries {
		entries[i].At.X, entries[i].At.Y = 2, float64(entries[i].N)
	}
	r := made(t, entries...)
	for text, may := range map[string]bool{
		"N > 20": false, "N >= 20": true, "N < 10": false, "N <= 10": true, "N == 15": true, "N == 21": false,
		"N != 15": true, "21 == N": false,
		"not (N > 20)": true, "not (N >= 10)": false, "!(N < 30)": false, "N > 20 or F > 2": true, "N > 20 or F > 3": false,
		"N > 15 and F > 3": false, "N > 15 && S == 'x'": true, "N > 20 && S == 'x'": false, "N > 20 || S == 'x'": true,
		"not (N < 30 or S == 'x')": false,
		"U in [1, 2]":              false, "U in [1, 2, 4]": true, "N in 1..9": false, "N in 1..10": true,
		"N not in 5..25":  false,
		"N not in 11..25": true, "N in [F, 3]": false,
		"OK": true, "not OK": false, "OK == false": false, "OK != true": false,
		"OK ? N > 20 : N > 0": false, "OK and N < 5": false,
		"None > 0": false, "None <= 0": false, "None == None": false, "None != None": true,
		"not (None > 0)": true, "None + 1 > 0": false,
		"F * 2 > 5": false, "F * 2 >= 5": true, "-F < -2.5": false, "N - 100 > -80": false, "N * -1 > -10": false,
		"F / 2 > 1.25": false, "1 / F > 1": false, "1 / (F - 2) > 100": true,
		"F + N > 22.5": false, "F + N >= 22.5": true, "N / 4 == 5": true, "N / 4 > 5": false, "N ** 2 > 1000": false,
		"N % 7 > 7": false, "abs(-N) > 20": false, "abs(N - 15) > 5": false,
		"any(Pt, # > 30)": false, "any(Pt, # >= 30)": true, "all(Pt, # > 30)": false, "all(Pt, # < 10)": false,
		"none(Pt, # >= 10)": false, "one(Pt, # > 40)": false,
		"count(Pt, # > 5) > 3": false, "count(Pt, # > 5) == 3": true, "count(Pt, # > 5) < 2": false,
		"count(Pt, # > 50) > 0": false, "len(Pt) > 3": false, "len(Pt) == 2": true, "len(Pt) < 2": false,
		"len(filter(Pt, # > 30)) > 0": false, "any(filter(Pt, # < 25), # > 30)": false, "any(map(Pt, # * 2), # > 60)": false,
		"Pt[0] > 30": false, "Pt[1] < 10": false, "Pt[2] == 20": true, "Pt[7] > 30": false, "Pt[-1] > 30": false,
		"(Pt[0] ?? 99.5) > 50": false, "(Pt[2] ?? 99.5) > 50": true, "(Pt[2] ?? 9.5) > 50": false, "max(Pt) > 30": false,
		"min(Pt) < 10": false, "any(Pt[1:], # > 30)": false, "any(Pt * 2, # > 60)": false, "any(abs(Pt), # < 10)": false,
		"any(Hits, .X > 7)": false, "any(Hits, .X > 6 and .K > 0)": true, "any(Hits, .K > 1)": false,
		"any(Hits, .X > 6 and .K > N)": false, "Hits[0].X > 7": false, "any(Hits, .S == 'x')": true,
		"any(Hits, len(.L) > 0)": false,
		"Opt > 5":                false, "Opt == 5": true, "not (Opt > 5)": true, "Opt != 5": false, "Opt != 6": true,
		"(Opt ?? 2) > 5": false, "(Opt ?? 9) > 5": true, "Opt == nil": true,
		"At.X > 2": false, "At.Y > 2": true, "At.Y > 20": false, `$env["odd-name"] > 6`: false, `$env.N > 20`: false,
		"any(A, # > 3)": false, "A[1] == 4": false, "len(A) == 2": false,
		"let n = N + 1; n > 21": false, "let n = N + 1; n > 20": true, "let m = F; m > 5": false, "sum(Pt) > 1000": false,
		"N > 20 and sum(Pt) > 10": false, "any(Deep, any(#, # > 6))": false, "any(Deep, any(#, # > 5))": true,
		"any(Deep, len(#) > 2)": false,
		"P.X > 50":              false, "(P ?? Q).X > 50": true, "let p = P ?? Q; p.X > 50": true, "(P.X ?? Q.X) > 50": true,
		"(P.X ?? Q.X) > 60": false, "P.X > 2 or Q.X > 60": true,
		"Big == 9007199254740992": false, "Big == 9007199254740992.0": true, "Big > 9007199254740992": true,
		"Big > 9007199254740992.0": false,
		"sum(Pt) >= 20":            true, "sum(Pt) < 19.9": false, "sum(Pt) > 90.1": false,
		"sum(A) > 9": false, "sum(A) == 6": true,
		"sum(Pt, # > 0) > 3": false, "mean(Pt) > 31": false, "median(Pt) > 30": false, "median(Pt) < 10": false,
		"sqrt(F) > 1.6": false, "sqrt(F) > 1.5": true, "sqrt(F - 2) < 0": false, "floor(F) > 2": false,
		"round(-F) > -2": false, "log(N) > 3": false, "exp(-F) > 1": false, "isnan(F)": false, "isnan(None)": true,
		"isinf(F)": false, "hypot(N, F) > 21": false, "F ** 3 < 3": false,
		"int(F) > 2": false, "N % 7 < 0": false, "abs(-N) % 30 > 20": false, "max(N, F) > 20": false, "min(N, 5) > 5": false,
		"max(Pt, Hits[0].X) > 30": false, "fmax(F, 2) < 2": false, "len(S) < 0": false,
		"N in Pt": true, "40 in Pt": false, "any(Pt, # in A)": false, "any(N..30, # < 10)": false, "len(N..30) > 21": false,
		"len(concat(Pt, A)) < 5": false, "len(sort(Pt)) > 3": false, "len(uniq(Pt)) == 0": false,
		"any(Pt, #index > 2)":    false,
		"(N > 15 ? F : nil) > 3": false, "(Opt ?? 9) == nil": false, "(N > 30 ? Pt : A)[2] > 3": false,
		"len(N > 30 ? Pt : A) != 3": false, "[N, 40][0] > 20": false, "one(A[:1], # > 5)": false,
		"not (filter(Pt, # > 5)[0] >= 10)": false,
		"N > 20 and any(Pt + A, # > 0)":    false, "N > 20 and int(S) > 0": false, "N > 5 or any(Pt + A, # > 0)": true,
		"9223372036854775807 + N > 0": true, "-9223372036854775807 - N < 0": true,
		"9223372036854775807 * N > 0": true, "5 < N < 10": false,
		"(N > 15 ? 4611686018427387904 : 0) + (N > 15 ? 4611686018427387904 : 1) > 4611686018427387905": true,
	} {
		if strconv.IntSize < 64 && strings.Contains(text, "9223372036854775807") {
			continue // the language's integers are Go's int
		}
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		z := &rntuple.ZoneUse{}
		c := e.ConditionUsing(z)
		if err := c.Check(r); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, err := range c.Select(r, rntuple.EntryRange{End: 2}) {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if all, passed := z.Clusters(); all != 1 || passed == 1 == may {
			t.Errorf("%s: passed over %d of %d clusters, may hold: %v", text, passed, all, may)
		}
	}
}

// chosen returns the entries for which a condition holds, up to the first error.
func chosen(c rntuple.Condition, s rntuple.Source, r rntuple.EntryRange) (all []int64, err error) {
	for e, err := range c.Select(s, r) {
		if err != nil {
			return all, err
		}
		for i := e.First; i < e.End; i++ {
			all = append(all, i)
		}
	}
	return all, nil
}

// A wide has fields of all types of numbers, and others that may be missing.
type wide struct {
	zoo
	I8      int8
	I16     int16
	I32     int32
	I64     int64
	U8      uint8
	U16     uint16
	U32     uint32
	U64     uint64
	F32     float32
	OK      *bool
	O8      *int8
	O64     *int64
	OU      *uint32
	O32     *float32
	OD      *float64
	R, R2   rec
	OR, OR2 *rec
	VB      []bool
	V8      []int8
	V64     []int64
	VU      []uint64
	VF      []float32
	VO      []*int64
	VR      []rec
	VOR     []*rec
	VV      [][]int64
	A64     [2]int64
	AF      [3]float32
	OA      *[2]float64
	OV      *[]float64
	Number  string // of digits, or none
}

type rec struct {
	X float64
	K int64
	O *int32
	V []float32
	P yes
}

type yes struct{ Y float32 }

// A regime is how a field varies in a cluster: a number around which its values are, in steps,
// and the least number of items that it has.
type regime struct {
	middle, step float64
	least        int
}

var middles = [][2]float64{
	{0, 1}, {0, 1}, {3, 0}, {-2, 1}, {100, 5}, {0.5, 0.25}, {1 << 24, 1}, {1 << 53, 1}, {-(1 << 53), 1}, {1 << 53, 2},
	{1 << 61, 1 << 60}, {1 << 62, 1 << 10}, {1 << 63, 1 << 11}, {-(1 << 63), 1},
	{1 << 64, 1}, {1e308, 1e307}, {5e-324, 5e-324}, {math.Inf(1), 1}, {math.Inf(-1), 0}, {math.NaN(), 0},
}

// A filler makes values of which each field has the same regime in a cluster.
type filler struct {
	*rand.Rand
	regimes map[string]regime // by path
}

func (f *filler) fill(v reflect.Value, path string) {
	r, ok := f.regimes[path]
	if !ok {
		m := middles[f.IntN(len(middles))]
		r = regime{m[0], m[1], f.IntN(3)}
		f.regimes[path] = r
	}
	x := r.middle + r.step*float64(f.IntN(5)-2)
	if f.IntN(25) == 0 {
		x = []float64{math.NaN(), math.Copysign(0, -1), 0}[f.IntN(3)]
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "zoo" {
				f.fill(v.Field(i), path+"."+name)
			}
		}
	case reflect.Pointer:
		if r.step == 0 && f.IntN(8) > 0 || f.IntN(2) == 0 { // mostly none, or some
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path+"*")
	case reflect.Slice:
		n := r.least + f.IntN(2)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), path+"[]")
		}
	case reflect.Bool:
		v.SetBool(r.step == 0 && r.middle > 0 || r.step == 1 && f.IntN(2) == 0)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(x)
	case reflect.String:
		v.SetString([]string{"12", "7", "", "x"}[f.IntN(24)/8+f.IntN(40)/39])
	default:
		n := f.integer(x, r)
		if v.CanInt() {
			low := int64(math.MinInt64) >> (64 - v.Type().Bits())
			v.SetInt(min(max(n, low), -(low + 1)))
		} else if most := uint64(math.MaxUint64) >> (64 - v.Type().Bits()); r.middle == 1<<64 &&
			most == math.MaxUint64 && f.IntN(8) == 0 {
			v.SetUint(1<<63 + uint64(f.IntN(2)))
		} else {
			v.SetUint(min(uint64(max(0, n)), most))
		}
	}
}

// integer returns the integer of x that is exact beside powers of two.
func (f *filler) integer(x float64, r regime) int64 {
	switch odd := int64(f.IntN(3) - 1); {
	case x != x:
		return odd
	case x >= 1<<63:
		return math.MaxInt64 - max(0, odd)
	case x <= -(1 << 63):
		return math.MinInt64 + max(0, odd)
	case math.Abs(r.middle) >= 1<<53:
		return int64(x) + odd
	}
	return int64(x)
}

// wideFile makes a file of random entries in clusters of a few, with a zone map of all fields or
// some.
func wideFile(t testing.TB, entries int, seed uint64) *rntuple.Reader {
	t.Helper()
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 3))}
	some := []string{"*"}
	if f.IntN(4) == 0 {
		some = []string{"I*", "R*", "O*", "VF"}
	}
	return fileOf(t, "wide", &rntuple.WriteOptions{ZoneMap: some, Workers: 1}, func(w *rntuple.Writer[wide]) {
		z := zooFile(t, entries, seed, nil)
		next := 0
		for e, err := range rntuple.Entries[zoo](z) {
			if err != nil {
				t.Fatal(err)
			}
			if next--; next < 0 {
				next, f.regimes = f.IntN(5), map[string]regime{}
				if err := w.CommitCluster(); err != nil {
					t.Fatal(err)
				}
			}
			all := wide{zoo: *e}
			f.fill(reflect.ValueOf(&all).Elem(), "")
			w.Write(&all)
		}
	}, nil)
}

// TestZones makes sure that zone maps change nothing of what conditions choose, and of how they
// fail: of random conditions on random entries. With RNTUPLE_CAMPAIGN=1 these are a million.
func TestZones(t *testing.T) {
	const each = 250 // conditions, for a file
	files, random := 8, sampletest.Rand(t)
	if sampletest.Whole() {
		files = 4000
	}
	var sum agreement
	for range files {
		t.Run("", func(t *testing.T) {
			r := wideFile(t, 40, random.Uint64())
			fields, err := oracle.FieldsOf(r)
			if err != nil {
				t.Fatal(err)
			}
			g := oracle.NewGenerator(random, fields.Types)
			for n := 0; n < each; {
				if zonesAgree(t, r, g.Condition(random.IntN(3)), &sum) {
					n++
				}
			}
		})
	}
	t.Logf("%d conditions, of which %d fail; %d pass over %d clusters, %d are known to be true for a cluster", sum.done,
		sum.failed, sum.narrowed, sum.passed, sum.decided)
	if sum.failed < sum.done/200 || sum.failed > sum.done/2 || sum.narrowed < sum.done/10 || sum.decided < sum.done/20 {
		t.Error("this is too little of one kind")
	}
}

// An agreement counts conditions.
type agreement struct {
	done, failed, narrowed, decided int
	passed                          int64
}

// zonesAgree compares the entries that a condition chooses, or its error, with zone maps and
// without.
func zonesAgree(t *testing.T, r *rntuple.Reader, text string, sum *agreement) bool {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		return false
	}
	z := &rntuple.ZoneUse{}
	with, without := e.ConditionUsing(z), e.ConditionUsing(&rntuple.ZoneUse{Off: true})
	if without.Check(r) != nil {
		return false
	}
	all := rntuple.EntryRange{End: r.NumEntries()}
	want, wantErr := chosen(without, r, all)
	got, err := chosen(with, r, all)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !slices.Equal(got, want) {
		t.Errorf("%s: entries %v, %v; without zone maps %v, %v", text, got, err, want, wantErr)
	}
	sum.done++
	if wantErr != nil {
		sum.failed++
	}
	if _, passed := z.Clusters(); passed > 0 {
		sum.narrowed++
		sum.passed += passed
	}
	p, err := Compile(r, e)
	if err != nil {
		t.Fatal(err)
	}
	in := p.instance()
	defer p.pool.Put(in)
	isOpen, isDecided := in.open(func(string) (zonemap.Zone, bool) { return zonemap.Zone{}, false }), false
	for _, err := range rntuple.Possible(r, all, nil, func(zone func(path string) (zonemap.Zone, bool)) bool {
		isDecided = isDecided || isOpen && !in.open(zone)
		return true
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if isDecided {
		sum.decided++
	}
	return true
}

// FuzzZones is TestZones for the conditions of texts, or random ones.
func FuzzZones(f *testing.F) {
	f.Add(uint64(1), "")
	f.Add(uint64(2), "any(H, .X > 1 and N < 2) or X[0] > 2")
	r := zooFile(f, 60, 5, &rntuple.WriteOptions{ZoneMap: []string{"*"}, MaxUnzippedClusterSize: 1, Workers: 1})
	fields, err := oracle.FieldsOf(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 300 || strings.Contains(text, "repeat") || strings.Contains(text, "now") {
			return
		}
		if text == "" {
			text = oracle.NewGenerator(rand.New(rand.NewPCG(seed, 11)), fields.Types).Condition(3)
		}
		zonesAgree(t, r, text, new(agreement))
	})
}

// TestZonesOfJoin has a second input with a field of the name of a joined source: its zones are not
// those of the source's fields.
func TestZonesOfJoin(t *testing.T) {
	type inner struct{ N int32 }
	type plain struct{ N int32 }
	type more struct {
		N     int32
		Other inner
	}
	a := made(t, plain{1}, plain{2})
	b := made(t, more{3, inner{-1}}, more{4, inner{-1}})
	friend := made(t, plain{10}, plain{20}, plain{30}, plain{40})
	chain, err := rntuple.NewChain([]rntuple.Input{{Source: a}, {Source: b}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { chain.Close() })
	join, err := rntuple.NewJoin(chain, rntuple.Friend("Other", friend))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int64{"Other.N > 25": {2, 3}, "Other.N > 15 and N < 4": {1, 2}, "N > 4": nil} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := chosen(e.Condition(), join, rntuple.EntryRange{End: 4}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: entries %v, %v; want %v", text, got, err, want)
		}
	}
}

// made returns a file of entries with a zone map.
func made[T any](t *testing.T, entries ...T) *rntuple.Reader {
	t.Helper()
	return fileOf(t, "made", &rntuple.WriteOptions{ZoneMap: []string{"*"}}, func(w *rntuple.Writer[T]) {
		for _, e := range entries {
			w.Write(&e)
		}
	}, nil)
}
