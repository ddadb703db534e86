package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A file is the one that is open.
type file struct {
	name  string
	r     *remote.File
	stats *remote.Stats
	infos []rntuple.Info

	ctx  context.Context // done once another file is opened
	stop context.CancelCauseFunc
	use  sync.WaitGroup // requests that are being answered

	mu      sync.Mutex
	readers map[string]*rntuple.Reader // by name
	views   []*rowView                 // the last used first
}

// current returns the open file. The caller must call use.Done.
func (e *Engine) current() (*file, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil {
		return nil, invalid("no file is open")
	}
	e.file.use.Add(1)
	return e.file, nil
}

// during returns a context that is done when ctx or that of the file is.
func (f *file) during(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(f.ctx, func() { cancel(context.Cause(f.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// replace makes f the open file, and closes the one before.
func (e *Engine) replace(f *file) {
	e.mu.Lock()
	old := e.file
	e.file = f
	e.mu.Unlock()
	if old != nil {
		old.stop(errReplaced)
		old.use.Wait()
		old.r.Close()
	}
}

// MaxWhole is the size of the largest file that is read whole, into memory, where its server has no
// ranges.
const MaxWhole = 256 << 20

// Opened is the answer to open.
type Opened struct {
	Name     string   `json:"name"`
	Size     Int      `json:"size"`
	NTuples  []NTuple `json:"ntuples"`
	Others   []Other  `json:"others"`
	Formats  []string `json:"formats"` // of downloads
	Warnings []string `json:"warnings"`
}

// An NTuple describes an RNTuple of a file. If it cannot be opened, Error says why, and there are
// only Name and Older.
type NTuple struct {
	Name        string `json:"name"` // its path, with the cycle if it is not the newest
	Older       bool   `json:"older"`
	Error       *Error `json:"error,omitempty"`
	Description string `json:"description"`
	Entries     Int    `json:"entries"`
	Clusters    Int    `json:"clusters"`
	Groups      int    `json:"clusterGroups"`
	Fields      int    `json:"fields"` // at the top level
	Columns     int    `json:"columns"`
	// The sizes of the pages, and before compression, are left out where much would have to be read
	// to know them.
	Compressed   *Int     `json:"compressed,omitempty"`
	Uncompressed *Int     `json:"uncompressed,omitempty"`
	Writer       string   `json:"writer"`
	Version      string   `json:"version"` // of the format
	Attributes   []string `json:"attributes"`
}

// An Other is an object that is no RNTuple.
type Other struct {
	Name string `json:"name"` // its path
	Type string `json:"type"` // its class
}

// maxOthers is the number of other objects that are listed.
const maxOthers = 1000

// open opens a file: {url, name} with a URL that package remote knows, and the name to show. It
// reads directories, anchors, headers and footers, and page lists if they are small.
func (e *Engine) open(c *call) (Answer, error) {
	var p struct{ URL, Name string }
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	f := &file{name: p.Name, stats: new(remote.Stats), readers: map[string]*rntuple.Reader{}}
	f.ctx, f.stop = context.WithCancelCause(context.Background())
	if f.name == "" {
		f.name = remote.Base(p.URL)
	}
	stop := context.AfterFunc(c.ctx, func() { f.stop(context.Cause(c.ctx)) })
	defer stop()
	e.replace(nil)
	var err error
	if f.r, err = remote.Open(f.ctx, p.URL, &remote.Options{Stats: f.stats, Whole: MaxWhole}); err != nil {
		return Answer{}, named(f.ctx, err)
	}
	a, err := f.list()
	if err == nil {
		err = context.Cause(f.ctx)
	}
	if err != nil {
		f.r.Close()
		return Answer{}, named(f.ctx, err)
	}
	e.replace(f)
	return Answer{JSON: a}, nil
}

// named returns the cause of the end of ctx, if it has ended, rather than what came of it.
func named(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// list describes the file.
func (f *file) list() (*Opened, error) {
	a := &Opened{Name: f.name, Size: Int(f.r.Len()), NTuples: []NTuple{}, Others: []Other{},
		Formats: []string{"csv", "jsonl"}, Warnings: []string{}}
	var err error
	f.infos, err = rntuple.List(f.r, f.r.Len())
	if err != nil && len(f.infos) == 0 {
		return nil, err
	} else if err != nil {
		a.Warnings = append(a.Warnings, err.Error())
	}
	for _, i := range f.infos {
		n, warnings := f.describe(i.Path)
		n.Older = !i.Newest
		if n.Error != nil && f.ctx.Err() != nil {
			return nil, context.Cause(f.ctx)
		}
		a.NTuples, a.Warnings = append(a.NTuples, n), append(a.Warnings, warnings...)
	}
	if err := f.others(a); err != nil {
		a.Warnings = append(a.Warnings, err.Error())
	}
	return a, nil
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// others lists the objects that are no RNTuples.
func (f *file) others(a *Opened) error {
	root, err := rootfile.Open(f.r, f.r.Len())
	if err != nil {
		return nil // a bare file of a format before 1.0.0.0
	}
	err = root.Walk(func(dir string, k rootfile.Key) error {
		switch {
		case anchor.IsClass(k.Class):
			return nil
		case len(a.Others) == maxOthers:
			a.Warnings = append(a.Warnings, fmt.Sprintf("of the other objects in the file, the first %d are listed", maxOthers))
			return errEnough
		}
		a.Others = append(a.Others, Other{strings.TrimPrefix(dir+"/"+k.Name, "/"), k.Class})
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// maxInspected is the stored size of the page lists that are read when a file is opened.
const maxInspected = 4 << 20

// describe describes the RNTuple at a path, with what is odd about it.
func (f *file) describe(path string) (n NTuple, warnings []string) {
	n.Name, n.Attributes = path, []string{}
	failed := func(err error) (NTuple, []string) {
		n.Error = ErrorOf(err)
		return n, nil
	}
	r, err := f.reader(path)
	if err != nil {
		return failed(err)
	}
	s := r.Schema()
	n.Description, n.Writer, n.Version = r.Header().Description, r.Header().Writer, r.FormatVersion()
	n.Entries, n.Groups = Int(r.NumEntries()), len(r.Footer().ClusterGroups)
	n.Fields, n.Columns = len(s.TopLevel()), len(s.Columns)
	lists := uint64(0)
	for _, g := range r.Footer().ClusterGroups {
		n.Clusters += Int(g.NumClusters)
		lists += g.PageList.Locator.Size
	}
	for _, a := range r.AttributeSets() {
		n.Attributes = append(n.Attributes, a.Name)
	}
	for _, h := range s.Hidden {
		warnings = append(warnings, fmt.Sprintf("%s: field %q cannot be read: %v", path, h.Field.Name, h.Err))
	}
	if lists > maxInspected {
		return n, warnings
	}
	i, err := r.Inspect(nil)
	if err != nil {
		return failed(err)
	}
	disk, packed := Int(i.Total.OwnDisk()), Int(i.Total.Packed)
	n.Compressed, n.Uncompressed = &disk, &packed
	return n, warnings
}

// pathOf returns the path of the RNTuple with a name; the first one has the empty name, too.
func (f *file) pathOf(name string) string {
	if i := slices.IndexFunc(f.infos, func(i rntuple.Info) bool { return i.Newest }); name == "" && i >= 0 {
		return f.infos[i].Path
	}
	return name
}

// reader returns the reader of the RNTuple with a name, whose context is that of the file.
func (f *file) reader(name string) (*rntuple.Reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = f.pathOf(name)
	if r := f.readers[name]; r != nil {
		return r, nil
	}
	if !slices.ContainsFunc(f.infos, func(i rntuple.Info) bool { return i.Path == name }) {
		return nil, fmt.Errorf("RNTuple %q: %w", name, rntuple.ErrNotFound)
	}
	r, err := rntuple.NewReader(f.r, f.r.Len(), name,
		&rntuple.ReadOptions{Context: f.ctx, Workers: workers, ReadAhead: readAhead})
	if err != nil {
		return nil, err
	}
	f.readers[name] = r
	return r, nil
}

const (
	// workers is the number of goroutines that wait for bytes, while one computes.
	workers = 4
	// readAhead is the memory in bytes of pages that one request holds.
	readAhead = 32 << 20
)
