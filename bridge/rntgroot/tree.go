package rntgroot

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A TreeInfo describes a TTree in a file.
type TreeInfo struct {
	Name     string // path in the file, such as "dir/Events"
	Class    string // TTree, or a derived class
	Title    string
	Cycle    int
	Entries  int64
	Branches []BranchInfo // top-level branches
}

// A BranchInfo describes a branch of a TTree.
type BranchInfo struct {
	Name string
	// Type is the C++ type in the file, with array dimensions, such as "float[nJet]" or
	// "vector<float>", or the list of leaves, such as "a/I:b[2]/D".
	Type  string
	Title string
}

// A BranchError reports why a branch cannot be converted to a field.
type BranchError struct {
	BranchInfo
	Err error
}

func (e BranchError) Error() string {
	return fmt.Sprintf("branch %q of type %s: %v", e.Name, e.Type, e.Err)
}

func (e BranchError) Unwrap() error { return e.Err }

// A TreeError lists all branches of a TTree that cannot be converted to fields.
type TreeError struct {
	File, Tree string
	Branches   []BranchError
}

func (e *TreeError) Error() string {
	text := fmt.Sprintf("%s: tree %q: ", e.File, e.Tree)
	if len(e.Branches) == 1 {
		return text + e.Branches[0].Error()
	}
	text += fmt.Sprintf("%d branches cannot be converted:", len(e.Branches))
	for _, b := range e.Branches {
		text += "\n\t" + b.Error()
	}
	return text
}

// Unwrap returns the errors of the branches.
func (e *TreeError) Unwrap() (all []error) {
	for _, b := range e.Branches {
		all = append(all, b)
	}
	return all
}

// TreeOptions configures what is read of a TTree, and how.
type TreeOptions struct {
	// Branches lists names of top-level branches, or path.Match patterns of them. A pattern without
	// a matching branch is an error. Default: all.
	Branches []string
	// Skip skips branches that cannot be converted to fields. Otherwise, they are an error.
	Skip bool
	// Flat converts arrays of variable length to vectors, and their counters to a field, instead of
	// a collection with projected fields.
	Flat bool
	// Workers is the number of goroutines that decode baskets. The result does not depend on it.
	// Default: runtime.GOMAXPROCS(0).
	Workers int
	// Remote configures how URLs are read.
	Remote remote.Options
}

func (o TreeOptions) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// A Tree is a TTree, or a chain of TTrees with the same name, that is read as an RNTuple. It must
// be used by one goroutine at a time.
type Tree struct {
	name, title string
	options     TreeOptions
	files       []treeFile
	doc         *schema.Document
	skipped     []BranchError

	open    *openFile
	at      int // number of the open file
	columns []column
}

// A treeFile is a file of a chain.
type treeFile struct {
	path       string
	first, end int64 // entries; end is negative until the file has been opened
}

// A column is a source with the name of its field.
type column struct {
	name  string
	title string
	*source
}

// OpenTree opens the TTree with the given name in one or several files, as a chain; an empty name
// selects the only TTree of the first file. The branches must be the same in all files.
//
// The error wraps a *TreeError if branches cannot be converted to fields.
func OpenTree(name string, paths []string, o *TreeOptions) (*Tree, error) {
	if o == nil {
		o = new(TreeOptions)
	}
	if len(paths) == 0 {
		return nil, errors.New("rntgroot: no files")
	}
	t := &Tree{name: name, options: *o, at: -1}
	at := int64(0)
	for i, path := range paths {
		t.files = append(t.files, treeFile{path: path, first: at, end: -1})
		if err := t.load(i); err != nil {
			t.Close()
			return nil, err
		}
		at = t.files[i].end
	}
	return t, nil
}

// load opens file i.
func (t *Tree) load(i int) error {
	t.Close()
	f := &t.files[i]
	o, err := openTrees(f.path, t.options.Remote)
	if err != nil {
		return err
	}
	t.open, t.at = o, i
	k, err := o.find(t.name)
	if err != nil {
		return err
	}
	tree, err := o.read(k)
	if err != nil {
		return err
	}
	t.name = k.name
	if f.end < 0 {
		f.end = f.first + tree.entries
	}
	if f.end-f.first != tree.entries {
		return fmt.Errorf("%s: the file has changed: %d entries instead of %d", remote.Redact(f.path), tree.entries,
			f.end-f.first)
	}
	return recovered(func() error { return t.compile(tree) })
}

// Name returns the name of the tree, including its directories.
func (t *Tree) Name() string { return t.name }

// Title returns the title of the tree in the first file.
func (t *Tree) Title() string { return t.title }

// Entries returns the total number of entries of all files.
func (t *Tree) Entries() int64 { return t.files[len(t.files)-1].end }

// Skipped returns the branches skipped because of TreeOptions.Skip.
func (t *Tree) Skipped() []BranchError { return t.skipped }

// Document returns the schema of the RNTuple. Its name is that of the tree, without directories.
func (t *Tree) Document() *schema.Document { return t.doc }

// Close closes the files.
func (t *Tree) Close() error {
	if t.open == nil {
		return nil
	}
	err := t.open.Close()
	t.open, t.at, t.columns = nil, -1, nil
	return err
}

// A Writer is a *rntuple.ColumnWriter or a *rntuple.ColumnFiller, to which Tree.Write writes.
type Writer interface {
	rntuple.Columns
	End(entries int64) error
}

// Write writes the entries from first to end, excluding end, in order. The fields of w must be
// those of Document.
func (t *Tree) Write(ctx context.Context, w Writer, first, end int64) error {
	return t.write(ctx, w, first, end, nil)
}

func (t *Tree) write(ctx context.Context, w Writer, first, end int64, progress func(done int64)) error {
	if first < 0 || end < first || end > t.Entries() {
		return fmt.Errorf("entries from %d to %d of %d", first, end, t.Entries())
	}
	for i, f := range t.files {
		if f.end <= first || f.first >= end {
			continue
		}
		if t.at != i {
			if err := t.load(i); err != nil {
				return err
			}
		}
		step := t.step(f)
		for at := max(first, f.first); at < min(end, f.end); at += step {
			n := min(step, min(end, f.end)-at)
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.entries(w, at-f.first, n); err != nil {
				return fmt.Errorf("%s: tree %q: %w", remote.Redact(f.path), t.name, err)
			}
			if progress != nil {
				progress(at + n)
			}
		}
	}
	return nil
}

// entries writes n entries of the open file. Columns are read in parallel, no further ahead than
// there are workers, as each column that waits needs memory.
func (t *Tree) entries(w Writer, first, n int64) error {
	type result struct {
		array *columnar.Array
		err   error
	}
	results := make([]chan result, len(t.columns))
	var reads sync.WaitGroup
	defer reads.Wait()
	begin := func(i int) {
		if i >= len(t.columns) {
			return
		}
		results[i] = make(chan result, 1)
		reads.Go(func() {
			var r result
			r.err = recovered(func() (err error) {
				r.array, err = t.columns[i].read(first, n, nil)
				return err
			})
			results[i] <- r
		})
	}
	workers := max(1, t.options.workers())
	for i := range workers {
		begin(i)
	}
	for i, c := range t.columns {
		r := <-results[i]
		if r.err != nil {
			return r.err
		}
		if err := rntuple.PutArray(w, c.name, r.array, 0, r.array.Len); err != nil {
			return err
		}
		begin(i + workers)
	}
	return w.End(n)
}

// step returns how many entries are read at once: those of some megabytes.
func (t *Tree) step(f treeFile) int64 {
	const bytes, most = 4 << 20, 1 << 15
	var all []*branch
	for _, c := range t.columns {
		all = c.branches(all)
	}
	total := int64(0)
	for _, b := range all {
		total += max(0, b.bytes)
	}
	return max(1, min(most, (f.end-f.first)*bytes/max(1, total)))
}

// CreateFromTree creates a ROOT file at path with one RNTuple of all entries of t, and returns
// their number. An empty name selects that of the tree. If progress is not nil, it is called with
// the number of entries written so far. After an error, there is no file.
func CreateFromTree(ctx context.Context, path, name string, t *Tree, progress func(done int64),
	opts *rntuple.WriteOptions) (entries int64, err error) {
	if name == "" {
		name = t.doc.Name
	}
	w, err := rntuple.CreateColumns(path, name, t.doc, opts)
	if err != nil {
		return 0, err
	}
	if err := t.write(ctx, w, 0, t.Entries(), progress); err != nil {
		w.Abort()
		return 0, err
	}
	return t.Entries(), w.Close()
}
