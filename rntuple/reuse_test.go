package rntuple_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// reused has memory of every kind that entries point to.
type reused struct {
	ID    int64              `rntuple:"id"`
	Pt    []float32          `rntuple:"pt"`
	Name  string             `rntuple:"name"`
	Names []string           `rntuple:"names"`
	Raw   []byte             `rntuple:"raw"`
	Best  *float64           `rntuple:"best"`
	Cells [2][]int16         `rntuple:"cells"`
	Scale map[string][]int32 `rntuple:"scale"`
	Jets  []reusedJet        `rntuple:"jets"`
	Hits  []reusedHit        `rntuple:"hits"`
	Note  int                `rntuple:"-"`
}

type reusedJet struct {
	E     float32   `rntuple:"e"`
	Parts []*uint32 `rntuple:"parts"`
	Note  int       `rntuple:"-"`
}

type reusedHit struct {
	ADC  int16 `rntuple:"adc"`
	Note int   `rntuple:"-"`
}

func reusedEntries(n int) []reused {
	all := make([]reused, n)
	for i := range all {
		e := reused{ID: int64(i), Name: strings.Repeat("n", i%5) + fmt.Sprint(i), Raw: []byte(fmt.Sprint("raw ", i)),
			Scale: map[string][]int32{}}
		for j := range i % 4 {
			x := float64(i) / 16
			u := uint32(i * j)
			e.Pt = append(e.Pt, float32(i)/float32(j+1))
			e.Names = append(e.Names, fmt.Sprint(i, ".", j))
			e.Cells[j%2] = append(e.Cells[j%2], int16(i-j))
			e.Scale[fmt.Sprint(j)] = []int32{int32(i), int32(j)}
			e.Jets = append(e.Jets, reusedJet{E: float32(j) - float32(i), Parts: []*uint32{&u, nil}[:1+j%2]})
			e.Hits = append(e.Hits, reusedHit{ADC: int16(i * j)})
			e.Best = &x
		}
		all[i] = e
	}
	return all
}

// spoil overwrites all that an entry points to, apart from strings.
func (e *reused) spoil() {
	e.ID, e.Note = -1, 1
	for i := range e.Pt {
		e.Pt[i] = -1
	}
	for i := range e.Names {
		e.Names[i] = "spoilt"
	}
	for i := range e.Raw {
		e.Raw[i] = '!'
	}
	for _, c := range e.Cells {
		for i := range c {
			c[i] = -1
		}
	}
	for _, s := range e.Scale {
		s[0] = -1
	}
	for i := range e.Jets {
		for j := range e.Jets[i].Parts {
			e.Jets[i].Parts[j] = new(uint32)
		}
		e.Jets[i].E, e.Jets[i].Note = -1, 1
	}
	for i := range e.Hits {
		e.Hits[i] = reusedHit{1, 1}
	}
	if e.Best != nil {
		*e.Best = -1
	}
}

// TestReuse makes sure that entries in memory that is used again have the values of those
// in fresh memory, whatever loops do to them, that strings stay, and that the memory is
// indeed used again, and only if asked for.
func TestReuse(t *testing.T) {
	const n = 24_000
	file := fileOf(t, reusedEntries(n), 2500)
	open := func(workers int) rntuple.Source {
		r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "set", &rntuple.ReadOptions{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	join, err := rntuple.NewJoin(open(2), rntuple.Match("m", open(2), "id").ZeroValues())
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]rntuple.Source{
		"one worker": open(1), "several": open(3), "join": join,
		"chain": chainOf(t, []rntuple.Input{{Source: open(2)}, {Source: open(1)}}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for e, err := range rntuple.Entries[reused](src) {
				if err != nil {
					t.Fatal(err)
				}
				text, _ := json.Marshal(e)
				want = append(want, string(text))
			}
			for _, reuse := range []bool{false, true} {
				i, again := 0, 0
				var kept []string
				seen := map[*float32]bool{} // keeps what entries pointed to in use
				for e, err := range rntuple.EntriesIn[reused](src, all, &rntuple.EntriesOptions{Reuse: reuse}) {
					if err != nil {
						t.Fatal(err)
					}
					if text, _ := json.Marshal(e); string(text) != want[i] {
						t.Fatalf("reuse %v, entry %d: %s, want %s", reuse, i, text, want[i])
					}
					for j := range e.Pt {
						if p := &e.Pt[j]; seen[p] {
							again++
						} else {
							seen[p] = true
						}
					}
					kept = append(kept, e.Name)
					kept = append(kept, e.Names...)
					e.spoil()
					i++
				}
				if i != len(want) || reuse == (again == 0) {
					t.Errorf("reuse %v: %d entries, want %d; %d numbers are where earlier ones were", reuse, i, len(want), again)
				}
				for i := range want {
					id := i % n
					names := []string{strings.Repeat("n", id%5) + fmt.Sprint(id)}
					for j := range id % 4 {
						names = append(names, fmt.Sprint(id, ".", j))
					}
					if !slices.Equal(kept[:len(names)], names) {
						t.Fatalf("reuse %v: entry %d left the strings %q, want %q", reuse, i, kept[:len(names)], names)
					}
					kept = kept[len(names):]
				}
			}
		})
	}

	// A joined field, a range, and a loop that ends early.
	type joined struct {
		ID int64     `rntuple:"id"`
		Pt []float32 `rntuple:"m.pt"`
	}
	i := int64(2490)
	for e, err := range rntuple.EntriesIn[joined](join, rntuple.EntryRange{First: i, End: n},
		&rntuple.EntriesOptions{Reuse: true}) {
		if err != nil || e.ID != i || len(e.Pt) != int(i%4) || len(e.Pt) > 0 && e.Pt[0] != float32(i) {
			t.Fatalf("entry %d: %v, %v", i, e, err)
		}
		if i++; i == 5000 {
			break
		}
	}
	if i != 5000 {
		t.Errorf("the loop ended with entry %d", i)
	}
}

// all is the range of all entries.
var all = rntuple.EntryRange{End: math.MaxInt64}

// TestReuseLimit makes sure that an entry above the limit is the same error with reuse.
func TestReuseLimit(t *testing.T) {
	entries := reusedEntries(3000)
	entries[2000].Pt = make([]float32, 100_000)
	file := fileOf(t, entries, 3000)
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "set",
		&rntuple.ReadOptions{Limits: rntuple.Limits{EntryBytes: 1 << 18}})
	if err != nil {
		t.Fatal(err)
	}
	for _, reuse := range []bool{false, true} {
		var limit *frame.LimitError
		for _, err = range rntuple.EntriesIn[reused](r, all, &rntuple.EntriesOptions{Reuse: reuse}) {
		}
		if !errors.As(err, &limit) || limit.What != "entry 2000" {
			t.Errorf("reuse %v: %v", reuse, err)
		}
	}
}
