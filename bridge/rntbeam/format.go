package rntbeam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// A Format reads files in a format other than RNTuple. Packages parquet and ttree each implement
// one.
type Format struct {
	// Clusters returns the ranges of entries that are best read as a unit, and their approximate
	// costs.
	Clusters func(ctx context.Context, f Foreign) ([]workunits.Cluster, error)
	// Convert creates a ROOT file at a path with one RNTuple that contains a range of the entries.
	Convert func(ctx context.Context, f Foreign, to string, entries rntuple.EntryRange) error
}

// Foreign is a file of a Format.
type Foreign struct {
	Path string
	Name string // name of the table, see ReadOptions
	// Wanted reports whether a top-level column is read.
	Wanted func(column string) bool
}

var formats = map[string]Format{}

// RegisterFormat registers a format. Packages that implement a format call it in an init function.
// It panics if the name is already registered.
func RegisterFormat(name string, f Format) {
	if _, ok := formats[name]; ok || name == "" {
		panic(fmt.Sprintf("rntbeam: format %q is registered already", name))
	}
	formats[name] = f
}

// A foreign is a file of another format.
type foreign struct {
	Foreign
	Format
}

func openForeign(_ context.Context, o *ReadOptions, path string, t reflect.Type) (reading, error) {
	format, ok := formats[o.Format]
	if !ok {
		return nil, fmt.Errorf("format %q: the program of the worker does not import the package that registers it", o.Format)
	}
	return &foreign{Foreign{path, o.Name, o.columns(t)}, format}, nil
}

// columns returns which columns at the top are read.
func (o *ReadOptions) columns(t reflect.Type) func(string) bool {
	fields := o.Fields
	if isEntry(t) {
		fields = members(t)
	}
	if len(fields) == 0 && !isEntry(t) {
		return func(string) bool { return true }
	}
	// Of a condition, all words count: some are functions, but which ones are columns only their
	// types tell.
	wanted := strings.FieldsFunc(o.Where, func(r rune) bool {
		return r != '_' &&
			!unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, path := range fields {
		top, _, _ := strings.Cut(path, ".")
		wanted = append(wanted, top)
	}
	return func(name string) bool { return slices.Contains(wanted, name) }
}

// file describes the file as it is.
func (f *foreign) file(ctx context.Context) (workunits.File, error) {
	if remote.IsURL(f.Path) {
		r, err := remote.Open(ctx, f.Path, nil)
		if err != nil {
			return workunits.File{}, err
		}
		defer r.Close()
		return workunits.File{Path: f.Path, Size: r.Len(), Version: r.Version()}, nil
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return workunits.File{}, err
	}
	return workunits.File{Path: f.Path, Size: info.Size(), Version: info.ModTime().UTC().Format(time.RFC3339Nano)}, nil
}

func (f *foreign) check(known workunits.File) error {
	now, err := f.file(context.Background())
	known.Entries = 0
	if err == nil && now != known {
		err = fmt.Errorf("%w: it is %+v, and was %+v", workunits.ErrChanged, now, known)
	}
	return err
}

func (f *foreign) clusters(ctx context.Context) (workunits.File, []workunits.Cluster, error) {
	file, err := f.file(ctx)
	if err != nil {
		return file, nil, err
	}
	clusters, err := f.Clusters(ctx, f.Foreign)
	if n := len(clusters); n > 0 {
		file.Entries = clusters[n-1].End
	}
	return file, clusters, err
}

func (f *foreign) entries(ctx context.Context, e rntuple.EntryRange,
	use func(rntuple.Source, int64) error) (err error) {
	dir, err := os.MkdirTemp("", "rntbeam-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "entries.root")
	if err := f.Convert(ctx, f.Foreign, path, e); err != nil {
		return err
	}
	r, err := rntuple.Open(path, "", &rntuple.ReadOptions{Context: ctx})
	if err != nil {
		return err
	}
	defer r.Close()
	if r.NumEntries() != e.Len() {
		return fmt.Errorf("%d entries, and not %d", r.NumEntries(), e.Len())
	}
	return use(r, 0)
}

func (f *foreign) Close() error { return nil }
