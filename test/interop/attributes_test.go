package interop

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestAttributes compares the attributes of entries and ranges, in sets that ROOT
// and this library wrote, with those that ROOT finds.
func TestAttributes(t *testing.T) {
	needed(t)
	const entries = 40
	path := filepath.Join(t.TempDir(), "attributes.root")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	type entry struct{ X int32 }
	w, err := rntuple.Create[entry](path, "main", nil)
	check(err)
	check(w.WriteBatch(make([]entry, entries)))
	rng := rand.New(rand.NewPCG(1, 2))
	for name, n := range map[string]int{"none": 0, "one": 1, "few": 40, "many": 500} {
		a, err := rntuple.NewAttributes[entry](w, name, nil)
		check(err)
		for i := range n { // empty ones, and some that end beyond the last entry
			first := rng.Int64N(entries)
			r := rntuple.EntryRange{First: first, End: first + max(0, rng.Int64N([]int64{3, 10, entries}[i%3])-1)}
			check(a.Write(r, entry{int32(i)}))
		}
	}
	check(w.Close())

	type found struct{ Holding, Covering, Within [][]int }
	files := []string{path + ":main", "../../testdata/good/special_attributes.root:main"}
	out := json.NewDecoder(bytes.NewReader(script(t, "attributes_found.py",
		append([]string{strconv.Itoa(entries)}, files...)...)))
	for _, file := range files {
		var want map[string]found
		check(out.Decode(&want))
		r, err := rntuple.Open(file[:len(file)-len(":main")], "main", nil)
		check(err)
		defer r.Close()
		if len(r.AttributeSets()) != len(want) || len(want) < 2 {
			t.Errorf("%s: sets %v, ROOT finds %d", file, r.AttributeSets(), len(want))
		}
		for _, s := range r.AttributeSets() {
			a, err := r.OpenAttributes(s.Name)
			check(err)
			var got found
			for first := range int64(entries) {
				got.Holding = append(got.Holding, a.Holding(first))
				for end := first + 1; end <= entries; end++ {
					e := rntuple.EntryRange{First: first, End: end}
					got.Covering, got.Within = append(got.Covering, a.Covering(e)), append(got.Within, a.Within(e))
				}
			}
			for _, c := range []struct {
				what      string
				got, want [][]int
			}{
				{"holding", got.Holding, want[s.Name].Holding}, {"covering", got.Covering, want[s.Name].Covering},
				{"within", got.Within, want[s.Name].Within},
			} {
				if !slices.EqualFunc(c.got, c.want, slices.Equal) {
					t.Errorf("%s, set %q, %s: got\n%v\nROOT finds\n%v", file, s.Name, c.what, c.got, c.want)
				}
			}
		}
	}
}
