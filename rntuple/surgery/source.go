package surgery

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A source is an RNTuple that is open.
type source struct {
	*ntuple.Reader
	index  int    // number of the input
	path   string // of the file
	name   string // for errors
	ahead  *pagesource.ReadAhead
	pruned *pruned   // the fields that are wanted; nil: all
	zones  *zone.Map // nil until loadZones is called
}

// openSource opens the input of the given number.
func openSource(ctx context.Context, index int, in Input, o *ntuple.ReadOptions) (*source, error) {
	options := *o
	options.Context = ctx
	r, err := ntuple.Open(location.Parse(in.Path), in.Name, &options)
	if err != nil {
		return nil, &sourceError{InputError: &rntuple.InputError{Index: index, Path: in.Path, Err: err}}
	}
	path, _ := rootfile.SplitCycle(r.Path)
	_, r.Header.Name = ntuple.SplitPath(path) // after a Rename the header of an older cycle still has the former one
	return newSource(r, index, in.Path, in.String()), nil
}

func newSource(r *ntuple.Reader, index int, path, name string) *source {
	s := &source{Reader: r, index: index, path: path, name: name, ahead: r.Source.NewReadAhead()}
	r.Source.ExpectWith(s.ahead)
	return s
}

func (s *source) close() error {
	s.ahead.Stop()
	return s.Close()
}

// set opens an attribute set, which is closed with the source.
func (s *source) set(name string) (*source, error) {
	full := fmt.Sprintf("%s, attribute set %q", s.name, name)
	r, err := s.OpenSet(name)
	if err != nil {
		return nil, (&source{index: s.index, path: s.path, name: full}).fail(err)
	}
	return newSource(r, s.index, s.path, full), nil
}

// schema returns the schema of the source, with the fields that are wanted.
func (s *source) schema() *schema.Schema {
	if s.pruned != nil {
		return s.pruned.Schema
	}
	return s.Source.Schema
}

// shape returns the schema of the source for an output. The features of the header
// are kept, because they concern the schema.
func (s *source) shape() (*shape, error) {
	header, ext := *s.Header, s.extension()
	if s.pruned != nil {
		header, ext = *s.pruned.Header, *s.pruned.Extension
	}
	shape, err := newShape(header, ext)
	return shape, s.fail(err)
}

// extension returns the descriptors of the schema extension.
func (s *source) extension() envelope.Schema {
	return *cmp.Or(s.Footer.Extension, new(envelope.Schema))
}

// fail adds the name of the source to an error, if there is one.
func (s *source) fail(err error) error { return s.failIn("", err) }

// failIn is like fail, and adds where in the source the error was met. An error that was met in the
// background may say already which input it is about.
func (s *source) failIn(where string, err error) error {
	switch {
	case err == nil || errors.As(err, new(*rntuple.InputError)):
		return err
	case where != "":
		err = fmt.Errorf("%s: %w", where, err)
	}
	return &sourceError{s.name, &rntuple.InputError{Index: s.index, Path: s.path, Err: err}}
}

// A sourceError is an InputError with another name for the input, or none if the error has it.
type sourceError struct {
	name string
	*rntuple.InputError
}

func (e *sourceError) Error() string {
	if e.name == "" {
		return e.Err.Error()
	}
	return e.name + ": " + e.Err.Error()
}

func (e *sourceError) Unwrap() error { return e.InputError }

// find returns the cluster that holds an entry.
func (s *source) find(ctx context.Context, entry int64) (*pagesource.Cluster, error) {
	c, err := s.Source.Find(ctx, entry)
	return c, s.fail(err)
}

// A clusterSize is a range of entries with the bytes of its pages, as stored.
type clusterSize struct {
	rntuple.EntryRange
	bytes int64
}

// clusterSizes returns the clusters of an RNTuple.
func clusterSizes(ctx context.Context, in Input, o *ntuple.ReadOptions) ([]clusterSize, error) {
	src, err := openSource(ctx, 0, in, o)
	if err != nil {
		return nil, err
	}
	defer src.close()
	clusters, err := src.Source.Clusters(ctx)
	if err != nil {
		return nil, src.fail(err)
	}
	all := make([]clusterSize, len(clusters))
	for i, c := range clusters {
		_, bytes := stored(c)
		all[i] = clusterSize{rntuple.EntryRange{First: c.First, End: c.End}, bytes}
	}
	return all, nil
}

// stored returns the number of pages of a cluster, and their bytes.
func stored(c *pagesource.Cluster) (n, bytes int64) {
	for _, list := range c.Columns() {
		for _, p := range list.Pages {
			n, bytes = n+1, bytes+int64(p.StoredSize())
		}
	}
	return n, bytes
}
