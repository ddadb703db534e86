package rntflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/schema"
)

const (
	maxLimit  = 64 << 20 // bytes, for each of the default Limits except ExpressionBytes
	maxValues = 32 << 20 // bytes, for ExpressionBytes, of which each worker has as much
	readAhead = 8 << 20  // bytes of a stream
	workers   = 4        // of a stream
)

// open opens a regular file below the folder. No error tells about what is outside of it.
func (s *Server) open(name string) (*os.File, fs.FileInfo, error) {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) ||
		slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
		return nil, nil, status.Errorf(codes.PermissionDenied,
			"file %q: names are relative to the folder that is served, and do not leave it", name)
	}
	path, err := filepath.Localize(name)
	if err != nil {
		return nil, nil, invalid("file %q: not the name of a file", name)
	}
	// Opening a device can have effects of its own, so what is certain not to be a file is not
	// opened.
	info, err := s.root.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, invalid("file %q: not a regular file", name)
	}
	var f *os.File
	if err == nil {
		f, err = s.root.OpenFile(path, os.O_RDONLY|nonblock, 0)
	}
	if err == nil {
		if info, err = f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, info, nil
		}
		f.Close()
	}
	s.options.Log.Debug("cannot open", "file", name, "error", err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, status.Errorf(codes.PermissionDenied, "file %q: the server may not read it", name)
	case errors.Is(err, fs.ErrClosed):
		return nil, nil, status.Error(codes.Unavailable, "the server shuts down")
	}
	return nil, nil, status.Errorf(codes.NotFound, "file %q: there is no such file", name)
}

// version identifies what a file holds, as far as can be seen without reading it.
func version(info fs.FileInfo) string {
	return fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano())
}

// contents reads a file, with errors that do not name it.
type contents struct{ f *os.File }

func (c contents) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		err = &readError{err}
	}
	return n, err
}

// limits returns the limits for a file of a size.
func (s *Server) limits(size int64) rntuple.Limits {
	l, most := s.options.Limits, rntuple.Limits{}.For(size)
	for _, m := range []struct {
		limit *int64
		most  int64
	}{{&l.PageBytes, most.PageBytes}, {&l.EntryBytes, most.EntryBytes}, {&l.EnvelopeBytes, most.EnvelopeBytes}} {
		if *m.limit == 0 {
			*m.limit = min(m.most, maxLimit)
		}
	}
	l.ExpressionBytes = cmp.Or(l.ExpressionBytes, maxValues)
	return l
}

// reader opens an RNTuple in a file.
func (s *Server) reader(ctx context.Context, f *os.File, size int64, name string) (*rntuple.Reader, error) {
	return rntuple.NewReader(contents{f}, size, name,
		&rntuple.ReadOptions{Context: ctx, Limits: s.limits(size), ReadAhead: readAhead,
			Workers: min(workers, runtime.GOMAXPROCS(0))})
}

// A source is what a query asks for. It is valid while its file is open.
type source struct {
	*rntuple.Reader
	query     *Query
	version   string
	entries   rntuple.EntryRange // that the query asks for
	options   rntarrow.Options
	schema    *arrow.Schema
	where     *expression.Expression // or nil, as is
	condition rntuple.Condition
}

// with opens what a query asks for, calls use, and closes it.
func (s *Server) with(ctx context.Context, q *Query, use func(*source) error) error {
	f, info, err := s.open(q.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if v := version(info); q.Version != "" && q.Version != v {
		return status.Errorf(codes.FailedPrecondition, "file %q: it has changed; GetFlightInfo makes new tickets", q.File)
	}
	r, err := s.reader(ctx, f, info.Size(), q.Ntuple)
	if err != nil {
		return err
	}
	src := &source{Reader: r, query: q, version: version(info)}
	if err := src.resolve(); err != nil {
		return err
	}
	return use(src)
}

// resolve finds the entries, the fields and the condition of the query.
func (s *source) resolve() error {
	n := s.NumEntries()
	s.entries = rntuple.EntryRange{First: 0, End: n}
	if s.query.First != nil {
		s.entries.First = *s.query.First
	}
	if s.query.End != nil {
		s.entries.End = *s.query.End
	}
	if s.entries.First > n || s.entries.End > n {
		return status.Errorf(codes.OutOfRange, "RNTuple %q has %d entries, fewer than the range that is asked for", s.Name(),
			n)
	}
	fields, err := choose(s.Schema(), s.query.Fields)
	if err != nil {
		return err
	}
	s.options = rntarrow.Options{Fields: fields, Lists32: s.query.Lists32, Binary: s.query.Binary,
		Structs: s.query.Structs}
	if s.schema, err = rntarrow.SchemaOf(s.Reader, &s.options); err != nil || s.query.Where == "" {
		return err
	}
	if s.where, err = expression.Parse(s.query.Where); err != nil {
		return fmt.Errorf("condition: %w", err)
	}
	s.condition = s.where.Condition()
	if err := s.condition.Check(s.Reader); err != nil {
		return fmt.Errorf("condition: %w", err)
	}
	return nil
}

// choose returns the paths of the fields that patterns match, each once, in the order of the
// patterns and the schema, without those of fields below them.
func choose(s *schema.Schema, patterns []string) (paths []string, err error) {
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, p := range patterns {
		if !strings.ContainsAny(p, `*?[\`) {
			add(p)
			continue
		}
		found := false
		var walk func(fields []*schema.Field)
		walk = func(fields []*schema.Field) {
			for _, f := range fields {
				if yes, _ := schema.Match(p, f); yes {
					found = true
					add(f.Path())
				} else {
					walk(f.Children)
				}
			}
		}
		walk(s.Fields)
		if !found {
			return nil, fmt.Errorf("%w matches %q in RNTuple %q", schema.ErrNoField, p, s.Name)
		}
	}
	return paths, nil
}

// footprint returns the bytes in memory of the elements of the fields that are asked for, of
// all entries.
func (s *source) footprint() (bytes int64, err error) {
	i, err := s.Inspect(nil)
	if err != nil {
		return 0, err
	}
	fields := s.Schema().Fields
	if len(s.options.Fields) > 0 {
		fields = nil
		for _, path := range s.options.Fields {
			chain, err := s.Schema().Lookup(path)
			if err != nil {
				return 0, err
			}
			fields = append(fields, chain[len(chain)-1])
		}
	}
	for _, f := range fields {
		for f.Source != nil {
			f = f.Source
		}
		bytes += i.Field(f).Memory
	}
	return bytes, nil
}
