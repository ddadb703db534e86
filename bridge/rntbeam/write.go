package rntbeam

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// WriteOptions configures what is written. The zero value selects the defaults.
type WriteOptions struct {
	// Name is the name of the RNTuples. Default: "Events".
	Name string
	// Shards is the number of files into which the RNTuples of the bundles are merged, with about
	// the same number of entries each. Pages are copied, except those of clusters that span two
	// files. With 1, the single file is written to the path itself. Default: one file per bundle
	// for Write, one file for WriteOrdered.
	Shards int
	// TempDir is a folder shared by all workers, in which a folder for temporary files is created.
	// Default: the folder of the path. It is required if the path is a URL.
	TempDir string
	// Compression is in the format of compress.ParseSettings: "zstd:5". Default: that of
	// rntuple.Create.
	Compression string
	// JoinClusters is the size in bytes below which clusters are combined into larger ones when
	// files are merged. Default: none.
	JoinClusters int64
	// Schema is the schema of records. Structs define their own.
	Schema *schema.Document
}

// Write writes a collection of T, a struct or value.Record, to files. Their paths are path with a
// number before the extension, such as "out-00002-of-00007.root", unless WriteOptions.Shards is 1.
// Each bundle is written to a temporary file. When all bundles are complete, their files are
// renamed or merged, and the remains of failed bundles are removed, so each element is written
// exactly once, despite retries. Write returns the collection of the paths, of type string. It
// panics in the same cases as Read.
//
// Files appear atomically, and replace existing ones. If a runner restarts the entire pipeline, the
// number of bundles, and thus of files, may differ: at a URL, where files cannot be removed, set
// Shards. A failed pipeline leaves a folder behind whose name ends in ".tmp".
func Write[T any](s beam.Scope, path string, entries beam.PCollection, o *WriteOptions) beam.PCollection {
	if o == nil {
		o = new(WriteOptions)
	}
	s = s.Scope("rntbeam.Write")
	w := newWriting[T](path, *o, false)
	return finish[T](s, w, beam.ParDo(s, &writeFn[T]{writing: w}, entries))
}

// WriteOrdered is like Write, for a collection of KV<int64,T>: entries are sorted by key, across
// all files. Ordered runs of entries, such as those of Read, are copied; other entries are
// rewritten. The order of entries with the same key is undefined.
func WriteOrdered[T any](s beam.Scope, path string, entries beam.PCollection, options *WriteOptions) beam.PCollection {
	var o WriteOptions
	if options != nil {
		o = *options
	}
	s = s.Scope("rntbeam.WriteOrdered")
	o.Shards = max(1, o.Shards)
	w := newWriting[T](path, o, true)
	return finish[T](s, w, beam.ParDo(s, &orderedFn[T]{writing: w}, entries))
}

// A writing is what the steps of Write have in common.
type writing struct {
	Path    string
	Dir     string // for temporary files, of this pipeline alone
	Ordered bool
	Options WriteOptions
}

func newWriting[T any](path string, o WriteOptions, ordered bool) writing {
	mustBeRegistered[T]()
	t := reflect.TypeFor[T]()
	if o.Name == "" {
		o.Name = "Events"
	}
	if o.TempDir == "" {
		o.TempDir = filepath.Dir(path)
		if remote.IsURL(path) {
			panic(fmt.Sprintf("rntbeam: writing to %s takes WriteOptions.TempDir, a folder that all workers share",
				remote.Redact(path)))
		}
	}
	var err error
	if o.Compression != "" {
		_, err = compress.ParseSettings(o.Compression)
	}
	switch {
	case err != nil:
		panic(fmt.Errorf("rntbeam: %w", err))
	case t == reflect.TypeFor[Batch]():
		panic("rntbeam: batches are written as structs or records")
	case isEntry(t) == (o.Schema != nil):
		panic(fmt.Sprintf("rntbeam: WriteOptions.Schema must be set for records, and for them alone, not %v", t))
	}
	return writing{path, filepath.Join(o.TempDir, "."+remote.Base(path)+"-"+rand.Text()+".tmp"), ordered, o}
}

// options returns those of writers.
func (w *writing) options() (o *rntuple.WriteOptions, err error) {
	o = new(rntuple.WriteOptions)
	if w.Options.Compression != "" {
		o.Compression, err = compress.ParseSettings(w.Options.Compression)
	}
	return o, err
}

// merges reports whether outputs are made of temporary files, which else become outputs.
func (w *writing) merges() bool {
	return w.Options.Shards > 0 || remote.IsURL(w.Path) || w.Options.TempDir != filepath.Dir(w.Path)
}

// keysName is the RNTuple of the keys in temporary files.
const keysName = "rntbeam_keys"

// A key is that of the entry with the same number.
type key struct{ Key int64 }

// longRun is the number of entries from which on a run has clusters of its own, so that it is
// copied.
const longRun = 1000

// A bundle is a temporary file that is being written.
type bundle[T any] struct {
	temporary Temporary
	file      *rntuple.File
	entries   *rntuple.Writer[T]
	keys      *rntuple.Writer[key] // or nil
}

// createIn creates a file for entries, and for keys if asked.
func createIn[T any](path string, w *writing, keys bool) (b *bundle[T], err error) {
	opts, err := w.options()
	if err != nil {
		return nil, err
	}
	b = &bundle[T]{temporary: Temporary{Path: path}}
	file := &rntuple.FileOptions{Compression: opts.Compression, NoSync: w.merges() && path != w.Path}
	if b.file, err = rntuple.CreateFile(path, file); err != nil {
		return nil, err
	}
	if w.Options.Schema == nil {
		b.entries, err = rntuple.NewWriter[T](b.file, w.Options.Name, opts)
	} else {
		var records *rntuple.Writer[value.Record]
		records, err = rntuple.NewRecordWriter(b.file, w.Options.Name, w.Options.Schema, opts)
		b.entries, _ = any(records).(*rntuple.Writer[T])
	}
	if err == nil && keys {
		b.keys, err = rntuple.NewWriter[key](b.file, keysName, nil)
	}
	if err != nil {
		b.file.Abort()
		return nil, err
	}
	return b, nil
}

// close completes the file.
func (b *bundle[T]) close() error {
	err := b.entries.Close()
	if b.keys != nil {
		err = errors.Join(err, b.keys.Close())
	}
	if err != nil {
		b.file.Abort()
		return err
	}
	return b.file.Close()
}

// bundles writes the bundles that one instance of a DoFn gets, one after the other.
type bundles[T any] struct{ open *bundle[T] }

// begin discards what a bundle that failed has left.
func (s *bundles[T]) begin() error {
	if s.open == nil {
		return nil
	}
	b := s.open
	s.open = nil
	return b.file.Abort()
}

// of returns the bundle that is open.
func (s *bundles[T]) of(w *writing) (b *bundle[T], err error) {
	if s.open == nil {
		if err := os.MkdirAll(w.Dir, 0o777); err != nil {
			return nil, err
		}
		s.open, err = createIn[T](filepath.Join(w.Dir, rand.Text()+".root"), w, w.Ordered)
	}
	return s.open, err
}

// end completes the bundle and emits what it has made.
func (s *bundles[T]) end(ctx context.Context, w *writing, emit func(Temporary)) error {
	b := s.open
	if b == nil {
		return nil
	}
	s.open = nil
	if err := b.close(); err != nil {
		return err
	}
	t := b.temporary
	if err := t.identify(w.Options.Name); err != nil {
		return err
	}
	entriesWritten.Inc(ctx, t.File.Entries)
	bytesWritten.Inc(ctx, t.File.Size)
	bundleEntries.Update(ctx, t.File.Entries)
	emit(t)
	return nil
}

// A writeFn writes bundles.
type writeFn[T any] struct {
	writing
	bundles[T]
}

func (f *writeFn[T]) StartBundle(context.Context, func(Temporary)) error { return f.begin() }

func (f *writeFn[T]) ProcessElement(_ context.Context, v T, _ func(Temporary)) error {
	b, err := f.of(&f.writing)
	if err != nil {
		return err
	}
	return b.entries.Write(&v)
}

func (f *writeFn[T]) FinishBundle(ctx context.Context, emit func(Temporary)) error {
	return f.end(ctx, &f.writing, emit)
}

func (f *writeFn[T]) Teardown() error { return f.begin() }

// An orderedFn writes bundles whose entries have keys.
type orderedFn[T any] struct {
	writing
	bundles[T]
}

func (f *orderedFn[T]) StartBundle(context.Context, func(Temporary)) error { return f.begin() }

func (f *orderedFn[T]) ProcessElement(_ context.Context, k int64, v T, _ func(Temporary)) error {
	b, err := f.of(&f.writing)
	if err != nil {
		return err
	}
	if before := b.temporary.last(); b.temporary.add(k) && before.Len() >= longRun {
		if err := b.entries.CommitCluster(); err != nil {
			return err
		}
	}
	return errors.Join(b.entries.Write(&v), b.keys.Write(&key{k}))
}

func (f *orderedFn[T]) FinishBundle(ctx context.Context, emit func(Temporary)) error {
	return f.end(ctx, &f.writing, emit)
}

func (f *orderedFn[T]) Teardown() error { return f.begin() }
