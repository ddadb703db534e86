package workunits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// ErrChanged reports that a file is not what it was when the plan was made.
var ErrChanged = errors.New("the file has changed since the plan was made")

// Options say how a data set is cut. The zero value stands for the defaults, and so does a nil
// pointer.
type Options struct {
	// Name is the name of the RNTuple in each file, as for rntuple.Open.
	Name string
	// Fields are patterns of the fields that will be read, those of conditions among them:
	// "Muon_*", "event.*.x". Their columns, and those of the fields below, make up the cost of a
	// unit. Default: all.
	Fields []string
	// Target is the cost that a unit should have, in bytes. Default: 256 MiB, unless Count is set.
	Target int64
	// Count is the number of units to make. There are fewer if there are not so many clusters.
	Count int
	// Read are the options for opening files.
	Read *rntuple.ReadOptions
	// Workers is the number of files that are open at a time. Default: 8, or 32 if the first one is
	// far away.
	Workers int
	// Clock tells the time of the plan. Default: time.Now.
	Clock func() time.Time
	// Progress is called with the number of files that have been read, and of all. Calls do not
	// overlap.
	Progress func(done, total int)
}

// defaultTarget is enough for about a second of work.
const defaultTarget = 256 << 20

// Make reads the metadata of files and cuts their entries into units. Small clusters and files are
// joined, large files are cut where clusters end: each unit costs about the same, and differs by at
// most a cluster. The same files and options, Clock among them, make the same plan. Of a file only
// the number of entries and the cost of each cluster are kept.
func Make(ctx context.Context, paths []string, o *Options) (*Plan, error) {
	o = cmp.Or(o, new(Options))
	if o.Count < 0 || o.Target < 0 || o.Count > 0 && o.Target > 0 {
		return nil, fmt.Errorf("workunits.Options: Count is %d and Target is %d; one of them may be set, and must not be negative", o.Count, o.Target)
	}
	if len(paths) == 0 {
		return nil, errors.New("a plan of no files")
	}
	for _, text := range o.Fields {
		if err := pattern.Check(text); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
	}
	workers := o.Workers
	if workers <= 0 {
		workers = 8
		if remote.IsURL(paths[0]) {
			workers = 32
		}
	}
	clock := o.Clock
	if clock == nil {
		clock = time.Now
	}
	p := &Plan{Format: Format, Time: clock().UTC().Truncate(time.Second), Name: o.Name, Fields: o.Fields,
		Files: make([]File, len(paths))}
	clusters := make([][]cluster, len(paths))
	var mu sync.Mutex
	done := 0
	err := parallel.Do(min(workers, len(paths)), len(paths), func(i int) (err error) {
		if p.Files[i], clusters[i], err = read(ctx, i, paths[i], *o); err != nil {
			return &rntuple.InputError{Index: i, Path: paths[i], Err: err}
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; o.Progress != nil {
			o.Progress(done, len(paths))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.cut(slices.Concat(clusters...), *o)
	return p, nil
}

// A cluster of a file, and what it costs.
type cluster struct {
	Part
	cost int64
}

// read opens the i-th file and returns what a plan needs of it.
func read(ctx context.Context, i int, path string, o Options) (f File, clusters []cluster, err error) {
	read := *cmp.Or(o.Read, new(rntuple.ReadOptions))
	read.Context = ctx
	r, err := rntuple.Open(path, o.Name, &read)
	if err != nil {
		return f, nil, err
	}
	defer r.Close()
	f, all, err := Clusters(ctx, r, path, o.Fields)
	for _, c := range all {
		clusters = append(clusters, cluster{Part{i, c.First, c.End}, c.Cost})
	}
	return f, clusters, err
}

// columns reports which columns of a schema belong to fields that match one of some patterns, and
// to the fields below. If there are no patterns, all do.
func columns(s *schema.Schema, patterns []string) ([]bool, error) {
	wanted := make([]bool, len(s.Columns))
	used := make([]bool, len(patterns))
	var walk func(fields []*schema.Field, inside bool)
	walk = func(fields []*schema.Field, inside bool) {
		for _, f := range fields {
			inside := inside || len(patterns) == 0
			for i, text := range patterns {
				if pattern.Match(text, f) {
					inside, used[i] = true, true
				}
			}
			if inside {
				for of := f; of != nil; of = of.Parent { // the columns of those above are needed for reading it
					for _, c := range slices.Concat(cmp.Or(of.Source, of).Columns...) {
						wanted[c.ID] = true
					}
				}
			}
			walk(f.Children, inside)
		}
	}
	walk(s.Fields, false)
	for i, text := range patterns {
		switch {
		case used[i]:
		case pattern.IsExact(text):
			return nil, schema.NoField(s.Fields, text, fmt.Sprintf("RNTuple %q", s.Name))
		default:
			return nil, fmt.Errorf("no field matches %q in RNTuple %q", text, s.Name)
		}
	}
	return wanted, nil
}

// fileOf describes the file of a Reader.
func fileOf(r *rntuple.Reader, path string) (f File, err error) {
	info := r.FileInfo()
	f = File{Path: path, Entries: r.NumEntries(), Size: info.Size, Version: info.Version}
	if !info.Remote {
		info, err := os.Stat(path)
		if err != nil {
			return f, err
		}
		f.Version = info.ModTime().UTC().Format(time.RFC3339Nano)
	}
	footer, err := r.Footer().Append(nil)
	if err != nil {
		return f, err
	}
	f.Content = sum(fmt.Appendf(footer, " %x", r.Footer().HeaderChecksum))
	return f, nil
}

// Check returns an error that wraps ErrChanged unless the Reader's file is what it was.
func (f File) Check(r *rntuple.Reader) error {
	now, err := fileOf(r, f.Path)
	if err == nil && now != f {
		err = fmt.Errorf("%w: it is %v, and was %v", ErrChanged, now, f)
	}
	return err
}

// String describes the file without its path, which may have a token.
func (f File) String() string {
	return fmt.Sprintf("%d bytes and %d entries of %s with the checksum %s", f.Size, f.Entries, f.Version, f.Content)
}
