package expression

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/zonemap"
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
}

// TestRuledOut has conditions that zones rule out, and others that they do not: for clusters
// of entries of which each has other values than the one before.
func TestRuledOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zoned.root")
	w, err := rntuple.Create[zoned](path, "zoned", rntuple.ZoneMap())
	if err != nil {
		t.Fatal(err)
	}
	five := int32(5)
	for _, e := range []zoned{
		{N: 10, U: 3, F: 1.5, OK: true, None: math.NaN(), Pt: []float32{10, 20}, Hits: []hit{{X: 3, K: -1}}, Opt: &five, A: [3]int8{1, 2, 3}, Odd: 4},
		{N: 20, U: 5, F: 2.5, OK: true, None: math.NaN(), Pt: []float32{30, 20, 25}, Hits: []hit{{X: 7, K: 1}}, Opt: &five, A: [3]int8{1, 2, 3}, Odd: 6, Deep: [][]int16{{4}, {6, 5}}},
	} {
		e.At.X, e.At.Y = 2, float64(e.N)
		w.Write(&e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for text, may := range map[string]bool{
		"N > 20": false, "N >= 20": true, "N < 10": false, "N <= 10": true, "N == 15": true, "N == 21": false, "N != 15": true, "21 == N": false,
		"not (N > 20)": true, "not (N >= 10)": false, "!(N < 30)": false, "N > 20 or F > 2": true, "N > 20 or F > 3": false,
		"N > 15 and F > 3": false, "N > 15 && S == 'x'": true, "N > 20 && S == 'x'": false, "N > 20 || S == 'x'": true, "not (N < 30 or S == 'x')": false,
		"U in [1, 2]": false, "U in [1, 2, 4]": true, "N in 1..9": false, "N in 1..10": true, "N not in 5..25": true, "N in [F, 3]": false,
		"OK": true, "not OK": false, "OK == false": false, "OK != true": false, "OK ? N > 20 : N > 0": false, "OK and N < 5": false,
		"None > 0": false, "None <= 0": false, "None == None": false, "None != None": true, "not (None > 0)": true, "None + 1 > 0": false,
		"F * 2 > 5": false, "F * 2 >= 5": true, "-F < -2.5": false, "N - 100 > -80": false, "N * -1 > -10": false, "F / 2 > 1.25": false, "1 / F > 1": false, "1 / (F - 2) > 100": true,
		"F + N > 22.5": false, "F + N >= 22.5": true, "N / 4 == 5": true, "N / 4 > 5": false, "N ** 2 > 1000": true, "N % 7 > 7": true, "abs(-N) > 20": false, "abs(N - 15) > 5": false,
		"any(Pt, # > 30)": false, "any(Pt, # >= 30)": true, "all(Pt, # > 30)": false, "all(Pt, # < 10)": false, "none(Pt, # >= 10)": false, "one(Pt, # > 40)": false,
		"count(Pt, # > 5) > 3": false, "count(Pt, # > 5) == 3": true, "count(Pt, # > 5) < 2": false, "count(Pt, # > 50) > 0": false, "len(Pt) > 3": false, "len(Pt) == 2": true, "len(Pt) < 2": false,
		"len(filter(Pt, # > 30)) > 0": false, "any(filter(Pt, # < 25), # > 30)": false, "any(map(Pt, # * 2), # > 60)": false, "Pt[0] > 30": false, "Pt[1] < 10": false, "Pt[2] == 20": true, "Pt[7] > 30": false, "Pt[-1] > 30": false,
		"(Pt[0] ?? 99.5) > 50": false, "(Pt[2] ?? 99.5) > 50": true, "(Pt[2] ?? 9.5) > 50": false, "max(Pt) > 30": false, "min(Pt) < 10": false, "any(Pt[1:], # > 30)": false, "any(Pt * 2, # > 60)": false, "any(abs(Pt), # < 10)": false,
		"any(Hits, .X > 7)": false, "any(Hits, .X > 6 and .K > 0)": true, "any(Hits, .K > 1)": false, "any(Hits, .X > 6 and .K > N)": false, "Hits[0].X > 7": false, "any(Hits, .S == 'x')": true, "any(Hits, len(.L) > 0)": false,
		"Opt > 5": false, "Opt == 5": true, "not (Opt > 5)": true, "Opt != 5": true, "(Opt ?? 2) > 5": false, "(Opt ?? 9) > 5": true, "Opt == nil": true,
		"At.X > 2": false, "At.Y > 2": true, "At.Y > 20": false, `$env["odd-name"] > 6`: false, `$env.N > 20`: false, "any(A, # > 3)": false, "A[1] == 4": false, "len(A) == 2": false,
		"let n = N + 1; n > 21": false, "let n = N + 1; n > 20": true, "let m = F; m > 5": false, "sum(Pt) > 1000": true, "N > 20 and sum(Pt) > 10": false, "any(Deep, any(#, # > 6))": false, "any(Deep, any(#, # > 5))": true, "any(Deep, len(#) > 2)": false,
		"9223372036854775807 + N > 0": true, "-9223372036854775807 - N < 0": true, "9223372036854775807 * N > 0": true, "5 < N < 10": false,
	} {
		if strconv.IntSize < 64 && strings.Contains(text, "9223372036854775807") {
			continue // the language's integers are Go's int
		}
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		z := &zonemap.Use{}
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

// TestZones makes sure that zone maps hide no entry: with random conditions on random data, in
// clusters of few entries, whose bounds are narrow.
func TestZones(t *testing.T) {
	const entries = 120
	done, passed := 0, int64(0)
	for seed := range uint64(3) {
		// A cluster ends with the first entry that makes it larger than a byte.
		r := zooFile(t, entries, seed, rntuple.ZoneMap(), rntuple.MaxUnzippedClusterSize(int64(1+600*seed)), rntuple.Workers(1))
		if clusters, err := r.Clusters(); err != nil || len(clusters) < 20 {
			t.Fatal(len(clusters), err)
		}
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 7))}
		for range 300 {
			if ok, n := zonesAgree(t, r, w.write("b", 1+w.IntN(4))); ok {
				done++
				passed += n
			}
		}
	}
	t.Logf("%d conditions, %d clusters passed over", done, passed)
	if done < 500 || passed < int64(done) {
		t.Errorf("only %d conditions, %d clusters passed over", done, passed)
	}
}

// zonesAgree compares the entries that a condition chooses with zone maps and without.
func zonesAgree(t *testing.T, r *rntuple.Reader, text string) (ok bool, passed int64) {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		return false, 0
	}
	z := &zonemap.Use{}
	with, without := e.ConditionUsing(z), e.ConditionUsing(&zonemap.Use{Off: true})
	if without.Check(r) != nil {
		return false, 0
	}
	all := rntuple.EntryRange{End: r.NumEntries()}
	want, err := chosen(without, r, all)
	if err != nil {
		return false, 0 // an entry that is passed over has no errors
	}
	got, err := chosen(with, r, all)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: entries %v, %v; without zone maps %v", text, got, err, want)
	}
	_, passed = z.Clusters()
	return true, passed
}

// FuzzZones is TestZones for the conditions of texts, or random ones.
func FuzzZones(f *testing.F) {
	f.Add(uint64(1), "")
	f.Add(uint64(2), "any(H, .X > 1 and N < 2) or X[0] > 2")
	r := zooFile(f, 60, 5, rntuple.ZoneMap(), rntuple.MaxUnzippedClusterSize(1), rntuple.Workers(1))
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 300 || strings.Contains(text, "repeat") || strings.Contains(text, "now") {
			return
		}
		if text == "" {
			w := &writer{Rand: rand.New(rand.NewPCG(seed, 11))}
			text = w.write("b", 4)
		}
		zonesAgree(t, r, text)
	})
}
