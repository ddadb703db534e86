package rntbeam

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// A Temporary is a file written by a bundle.
type Temporary struct {
	Path string
	File workunits.File
	Runs []Run // if entries have keys: all entries
}

// A Run is a range of entries with non-decreasing keys.
type Run struct {
	rntuple.EntryRange
	Min, Max int64 // keys
}

// add adds an entry, and reports whether it begins a run.
func (t *Temporary) add(key int64) (begins bool) {
	n := len(t.Runs)
	if n > 0 && key >= t.Runs[n-1].Max {
		t.Runs[n-1].End++
		t.Runs[n-1].Max = key
		return false
	}
	at := int64(0)
	if n > 0 {
		at = t.Runs[n-1].End
	}
	t.Runs = append(t.Runs, Run{rntuple.EntryRange{First: at, End: at + 1}, key, key})
	return true
}

// last returns the last run, or an empty one.
func (t *Temporary) last() Run {
	if len(t.Runs) == 0 {
		return Run{}
	}
	return t.Runs[len(t.Runs)-1]
}

// identify notes what the file is.
func (t *Temporary) identify(name string) error {
	r, err := rntuple.Open(t.Path, name, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	t.File, _, err = workunits.Clusters(context.Background(), r, t.Path, nil)
	return err
}

// A Piece is a range of entries of a temporary file.
type Piece struct {
	File workunits.File
	rntuple.EntryRange
}

// An Output is a file to be composed of pieces.
type Output struct {
	Path   string
	Pieces []Piece
}

// An arrangeFn decides which file has what.
type arrangeFn struct{ writing }

func (f *arrangeFn) ProcessElement(_ context.Context, _ int, all func(*Temporary) bool, emit func(Output)) error {
	var files []Temporary
	var t Temporary
	for all(&t) {
		if t.Path != "" {
			files = append(files, t)
		}
		t = Temporary{}
	}
	slices.SortFunc(files, func(a, b Temporary) int { return cmp.Compare(a.Path, b.Path) })
	pieces, err := f.pieces(files)
	if err != nil {
		return err
	}
	outputs := f.outputs(pieces)
	if err := f.forget(outputs); err != nil {
		return err
	}
	for _, o := range outputs {
		emit(o)
	}
	return nil
}

// pieces returns the parts of the files in the order in which outputs have them.
func (f *arrangeFn) pieces(files []Temporary) (pieces []Piece, err error) {
	if f.Ordered {
		return inOrder(files)
	}
	for _, t := range files {
		pieces = append(pieces, Piece{t.File, rntuple.EntryRange{End: t.File.Entries}})
	}
	return pieces, nil
}

// outputs deals the pieces to files: about the same number of entries to each, or if no number of
// files is given a piece to each.
func (f *arrangeFn) outputs(pieces []Piece) (outputs []Output) {
	if f.Options.Shards == 0 && len(pieces) > 0 {
		for i, p := range pieces {
			outputs = append(outputs, Output{numbered(f.Path, i, len(pieces)), []Piece{p}})
		}
		return outputs
	}
	total := int64(0)
	for _, p := range pieces {
		total += p.Len()
	}
	n := max(1, min(int64(f.Options.Shards), total))
	done := int64(0)
	for i := range n {
		o := Output{Path: f.Path}
		if f.Options.Shards != 1 {
			o.Path = numbered(f.Path, int(i), int(n))
		}
		for end := share(total, i+1, n); done < end; {
			p := pieces[0]
			p.End = min(p.End, p.First+end-done)
			o.Pieces = append(o.Pieces, p)
			done += p.Len()
			if pieces[0].First = p.End; p.End == pieces[0].End {
				pieces = pieces[1:]
			}
		}
		outputs = append(outputs, o)
	}
	return outputs
}

// share returns total*i/n.
func share(total, i, n int64) int64 { return total/n*i + total%n*i/n }

// numbered returns the path of a file of several.
func numbered(path string, i, n int) string {
	suffix := filepath.Ext(path)
	return fmt.Sprintf("%s-%05d-of-%05d%s", strings.TrimSuffix(path, suffix), i, n, suffix)
}

// forget removes the files that an earlier attempt of the pipeline has made and that this one,
// whose bundles are others, has not. They are noted in the folder for temporary files.
func (f *arrangeFn) forget(outputs []Output) error {
	if remote.IsURL(f.Path) {
		return nil // of which none can be removed
	}
	note := filepath.Join(f.Dir, "outputs.json")
	var before []string
	text, err := os.ReadFile(note)
	if err == nil {
		err = json.Unmarshal(text, &before)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var now []string
	for _, o := range outputs {
		now = append(now, o.Path)
	}
	for _, path := range before {
		if !slices.Contains(now, path) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if text, err = json.Marshal(now); err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(note+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(note+".new", note)
}

// A keyed is a run of a file, and where a merge of runs is in it.
type keyed struct {
	Run
	file workunits.File
	keys []int64 // from First on, if the run must be cut
	at   int64   // entry
}

func (k *keyed) next() int64 { return k.keys[k.at-k.First] }

// inOrder returns the pieces of files in the order of the keys.
func inOrder(files []Temporary) (pieces []Piece, err error) {
	var runs []*keyed
	for _, t := range files {
		for _, r := range t.Runs {
			runs = append(runs, &keyed{Run: r, file: t.File, at: r.First})
		}
	}
	slices.SortStableFunc(runs, func(a, b *keyed) int {
		return cmp.Or(cmp.Compare(a.Min, b.Min),
			cmp.Compare(a.Max, b.Max))
	})
	for i := 0; i < len(runs); {
		end, most := i+1, runs[i].Max
		for end < len(runs) && runs[end].Min < most {
			most = max(most, runs[end].Max)
			end++
		}
		if end == i+1 {
			pieces = append(pieces, Piece{runs[i].file, runs[i].EntryRange})
		} else if pieces, err = interleave(pieces, runs[i:end]); err != nil {
			return nil, err
		}
		i = end
	}
	return pieces, nil
}

// interleave appends the pieces of runs that overlap.
func interleave(pieces []Piece, runs []*keyed) ([]Piece, error) {
	for _, r := range runs {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	h := byKey(slices.Clone(runs))
	heap.Init(&h)
	for len(h) > 0 {
		r := h[0]
		limit := r.Max // up to which the run can go on
		if len(h) > 1 {
			limit = h[1].next()
			if len(h) > 2 {
				limit = min(limit, h[2].next())
			}
		}
		first := r.at
		for r.at++; r.at < r.End && r.next() <= limit; r.at++ {
		}
		if n := len(pieces); n > 0 && pieces[n-1].File == r.file && pieces[n-1].End == first {
			pieces[n-1].End = r.at
		} else {
			pieces = append(pieces, Piece{r.file, rntuple.EntryRange{First: first, End: r.at}})
		}
		if r.at == r.End {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return pieces, nil
}

// load reads the keys.
func (k *keyed) load() error {
	r, err := rntuple.Open(k.file.Path, keysName, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	v, err := rntuple.ViewOf[int64](r, "Key")
	if err != nil {
		return err
	}
	k.keys = make([]int64, k.Len())
	n, err := v.Read(k.keys, k.First)
	if n < len(k.keys) {
		return fmt.Errorf("%s: keys of %d entries, and not of %d: %w", k.file.Path, n, len(k.keys), err)
	}
	return nil
}

// byKey is a heap of runs.
type byKey []*keyed

func (h byKey) Len() int           { return len(h) }
func (h byKey) Less(i, j int) bool { return h[i].next() < h[j].next() }
func (h byKey) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byKey) Push(x any)        { *h = append(*h, x.(*keyed)) }
func (h *byKey) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
