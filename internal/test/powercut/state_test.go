package powercut

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// A row is an entry of the RNTuples that the scenarios write. Its values follow from a number.
type row struct {
	ID int64
	X  float64
	S  string
	V  []int32
}

func rowOf(id int64) row {
	r := row{ID: id, X: float64(id) / 8, S: strings.Repeat("s", int(id%5))}
	for i := range id % 3 {
		r.V = append(r.V, int32(id-i))
	}
	return r
}

func (r row) equal(o row) bool {
	return r.ID == o.ID && r.X == o.X && r.S == o.S && slices.Equal(r.V, o.V)
}

// A note is an attribute of entries: of those from its number on, as many as that is modulo 4.
type note struct{ Number int64 }

// A content is what an RNTuple holds.
type content interface {
	// compare returns how the RNTuple differs.
	compare(r *rntuple.Reader) error
	// sum returns the number of entries and the sum of ID; -1 if that is not known.
	sum() (entries, sum int64)
}

// ids is the content of an RNTuple of rows: those with the numbers of each run, and notes
// from 0 on.
type ids struct {
	runs  []run
	notes int64
}

type run struct{ first, n int64 }

// count returns rows from first on.
func count(first, n int64) *ids { return &ids{runs: []run{{first, n}}} }

// then returns the rows of c and those that follow.
func (c *ids) then(first, n int64) *ids {
	return &ids{append(slices.Clone(c.runs), run{first, n}), c.notes}
}

// noted returns the same rows with n notes.
func (c *ids) noted(n int64) *ids { return &ids{c.runs, n} }

func (c *ids) sum() (entries, sum int64) {
	for _, r := range c.runs {
		for id := r.first; id < r.first+r.n; id++ {
			entries++
			sum += id
		}
	}
	return entries, sum
}

func (c *ids) compare(r *rntuple.Reader) error {
	if n, _ := c.sum(); r.NumEntries() != n {
		return fmt.Errorf("%d entries, want %d", r.NumEntries(), n)
	}
	view, err := rntuple.ViewOf[row](r, "")
	if err != nil {
		return err
	}
	got := make([]row, r.NumEntries())
	if n, err := view.Read(got, 0); n < len(got) {
		return err
	}
	for _, run := range c.runs {
		for id := run.first; id < run.first+run.n; id++ {
			if want := rowOf(id); !got[0].equal(want) {
				return fmt.Errorf("entry %v, want %v", got[0], want)
			}
			got = got[1:]
		}
	}
	return c.compareNotes(r)
}

func (c *ids) compareNotes(r *rntuple.Reader) error {
	if sets := r.AttributeSets(); c.notes == 0 && len(sets) == 0 {
		return nil
	} else if len(sets) != 1 || c.notes == 0 {
		return fmt.Errorf("%d attribute sets, want %d notes", len(sets), c.notes)
	}
	a, err := r.OpenAttributes("notes")
	if err != nil {
		return err
	}
	if int64(a.Len()) != c.notes {
		return fmt.Errorf("%d notes, want %d", a.Len(), c.notes)
	}
	view, err := rntuple.AttributesOf[note](a)
	if err != nil {
		return err
	}
	i := int64(0)
	for entries, got := range view.All() {
		if want := (rntuple.EntryRange{First: i, End: i + i%4}); got.Number != i || entries != want {
			return fmt.Errorf("note %v of %v, want %d of %v", got, entries, i, want)
		}
		i++
	}
	return view.Err()
}

// judged is the content of an RNTuple of ROOT's: the entries that ROOT read from it.
type judged struct{ lines []string }

func (c *judged) sum() (entries, sum int64) { return int64(len(c.lines)), -1 }

func (c *judged) compare(r *rntuple.Reader) error {
	if n := int64(len(c.lines)); r.NumEntries() != n {
		return fmt.Errorf("%d entries, want %d", r.NumEntries(), n)
	}
	return golden.Entries(r, func(i int64, line []byte) error {
		if string(line) != c.lines[i] {
			return fmt.Errorf("entry %d: %s, want %s", i, line, c.lines[i])
		}
		return nil
	})
}

// unzipped returns a file that is compressed with gzip.
func unzipped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// A state is what a file holds, by paths with cycles. A nil map stands for no file.
type state map[string]any // a content, always the same one, or a key's class and payload as a string

// with returns the state with another RNTuple.
func (s state) with(path string, c content) state {
	s = maps.Clone(s)
	if s == nil {
		s = state{}
	}
	s[path] = c
	return s
}

// without returns the state with one RNTuple less.
func (s state) without(path string) state {
	s = maps.Clone(s)
	delete(s, path)
	return s
}

// group returns the directory of s that holds path, or that holds the new directories that
// path leads through. What is in one group appears at once.
func (s state) group(at string) string {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		for known := range s {
			if strings.HasPrefix(known, dir+"/") {
				return dir
			}
		}
	}
	return "."
}

// frugal are options to read many small files with.
var frugal = &rntuple.ReadOptions{Workers: 1, ReadAhead: -1}

// keysOf returns the keys of a file, except those of directories, with class and payload; of
// RNTuples the class only.
func keysOf(b []byte) (map[string]string, error) {
	f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	err = f.Walk(func(dir string, k rootfile.Key) error {
		if strings.HasPrefix(k.Class, "TDirectory") {
			return nil
		}
		what := k.Class
		if k.Class != anchor.ClassName {
			payload, err := f.Payload(k)
			if err != nil {
				return err
			}
			what += " " + string(payload)
		}
		name := fmt.Sprintf("%s;%d", path.Join(dir, k.Name), k.CycleNumber())
		if keys[name] != "" {
			return fmt.Errorf("%s is listed twice", name)
		}
		keys[name] = what
		return nil
	})
	return keys, err
}

// compare returns an error unless b holds one of the states; the directories of the first one
// may be in different ones. It returns what the file holds.
func compare(b []byte, states ...state) (state, error) {
	keys, err := keysOf(b)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for name := range keys {
		all[name] = true
	}
	for _, s := range states {
		for name := range s {
			all[name] = true
		}
	}
	found := state{}
	wrong := map[string][]error{} // by group, for each state
	for _, name := range slices.Sorted(maps.Keys(all)) {
		group := states[0].group(name)
		if wrong[group] == nil {
			wrong[group] = make([]error, len(states))
		}
		var err error
		for i, s := range states {
			if i == 0 || s[name] != states[i-1][name] {
				err = compareOne(b, name, keys[name], s[name])
			}
			if err == nil && s[name] != nil {
				found[name] = s[name]
			}
			if err != nil && wrong[group][i] == nil {
				wrong[group][i] = fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for group, errs := range wrong {
		if !slices.Contains(errs, nil) {
			return nil, fmt.Errorf("directory %s has none of the expected states:\n%w", group, errors.Join(errs...))
		}
	}
	return found, nil
}

// compareOne compares what a file has under a name, which is a key, with what it should have.
func compareOne(b []byte, name, key string, want any) error {
	switch want := want.(type) {
	case nil:
		if key != "" {
			return fmt.Errorf("there is a %.20q", key)
		}
		return nil
	case string:
		if key != want {
			return fmt.Errorf("%.20q, want %.20q", key, want)
		}
		return nil
	case content:
		r, err := rntuple.NewReader(bytes.NewReader(b), int64(len(b)), name, frugal)
		if err != nil {
			return err
		}
		return want.compare(r)
	}
	panic("unknown content")
}

// sound returns the problems that package verify finds.
func sound(b []byte) error {
	var all []error
	_, err := verify.ReaderAt(context.Background(), bytes.NewReader(b), int64(len(b)), func(p verify.Problem) error {
		all = append(all, errors.New("verify: "+p.String()))
		return nil
	}, &verify.Options{Workers: 1})
	return errors.Join(append(all, err)...)
}
