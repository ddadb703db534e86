package rntuple

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A Writer writes one RNTuple, entry by entry, from values of type T. It must be used by one
// goroutine at a time; other goroutines can use Fillers concurrently. Overlapping calls fail with
// an error that wraps ErrConcurrent. Errors are sticky: after the first error, all methods,
// including Close, only return it.
type Writer[T any] struct {
	common
	rows[T]
}

// common is the part of writers that does not depend on the type of entries.
type common struct {
	ntuple  *ntuple.Writer
	file    *File // nil if it is that of an RNTuple that is continued
	owned   *File // closed with the writer; nil if the caller closes the file
	outlets *field.Outlets

	mu   sync.Mutex // guards what fillers share with the writer: the schema, and
	idle []*fork
}

// Create creates a ROOT file at path with one RNTuple whose fields are those of the struct T. The
// name may contain directories: "dir/sub/name". An existing file at path is replaced when the
// Writer is closed, unless FileOptions.NoReplace is set; see CreateFile.
//
// The package documentation describes how Go types are mapped to C++ types, and how tags affect
// this. Structs become untyped records where the format allows it, otherwise classes with the name
// of the struct.
//
// The error lists all problems of T and its tags.
func Create[T any](path, name string, o *WriteOptions) (*Writer[T], error) {
	f, err := CreateFile(path, o.file())
	return owning(f, err, func() (*Writer[T], error) { return NewWriter[T](f, name, o.alone()) })
}

// CreateRecords is like Create for dynamic values: the document defines the schema.
func CreateRecords(path, name string, doc *schema.Document, o *WriteOptions) (*Writer[value.Record], error) {
	f, err := CreateFile(path, o.file())
	return owning(f, err, func() (*Writer[value.Record], error) { return NewRecordWriter(f, name, doc, o.alone()) })
}

// owning returns the writer that begin returns, and makes it close the file. The error is that of
// opening the file.
func owning[W interface{ own(*File) }](f *File, err error, begin func() (W, error)) (w W, _ error) {
	if err != nil {
		return w, err
	}
	if w, err = begin(); err != nil {
		f.Abort()
		return w, err
	}
	w.own(f)
	return w, nil
}

func (w *common) own(f *File) { w.owned = f }

// NewWriter creates an RNTuple in a file. See Create.
func NewWriter[T any](f *File, name string, o *WriteOptions) (*Writer[T], error) {
	_, last := ntuple.SplitPath(name)
	doc, err := model(last, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return newWriter[T](f, name, doc, o)
}

// NewRecordWriter creates an RNTuple of dynamic values in a file. See CreateRecords.
func NewRecordWriter(f *File, name string, doc *schema.Document, o *WriteOptions) (*Writer[value.Record], error) {
	return newWriter[value.Record](f, name, doc, o)
}

func newWriter[T any](f *File, name string, doc *schema.Document, o *WriteOptions) (*Writer[T], error) {
	base, err := begin(f, name, doc, o)
	if err != nil {
		return nil, err
	}
	w, err := writerOn[T](base)
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", name, err)
	}
	w.file = f
	return w, nil
}

// writerOn returns a Writer of entries of type T to an RNTuple that exists.
func writerOn[T any](base *ntuple.Writer) (*Writer[T], error) {
	w := &Writer[T]{common: common{ntuple: base, outlets: field.NewOutlets(base.Sink)}}
	w.rows = rows[T]{sink: base.Sink, err: base.Err}
	err := w.compile()
	if err != nil {
		base.Discard()
	}
	return w, err
}

// model returns the schema of a Go type. The error lists everything that is wrong with the
// type, its tags and its names.
func model(name string, t reflect.Type) (*schema.Document, error) {
	doc, err := field.Model(name, t)
	var problems *schema.DocumentError
	if errors.As(err, &problems) && len(doc.Fields) > 0 {
		var more *schema.DocumentError
		if _, err := doc.Describe(true); errors.As(err, &more) {
			problems.Problems = append(problems.Problems, more.Problems...)
		}
	}
	return doc, err
}

// begin begins an RNTuple with the schema of doc at a path of the file.
func begin(f *File, path string, doc *schema.Document, options *WriteOptions) (*ntuple.Writer, error) {
	fail := func(err error) (*ntuple.Writer, error) { return nil, fmt.Errorf("RNTuple %q: %w", path, err) }
	o, err := options.in(f)
	if err != nil {
		return fail(err)
	}
	header, ext, err := describe(path, doc, o)
	if err != nil {
		return fail(err)
	}
	w, err := f.ntuple.Create(path, header, o)
	if err != nil {
		return nil, err
	}
	w.Extension = *ext
	if err := recordZones(w, o); err != nil {
		w.Discard()
		return fail(err)
	}
	return w, nil
}

// describe returns the header of an RNTuple with the schema of doc, and the extension for
// its footer.
func describe(path string, doc *schema.Document, o *ntuple.WriteOptions) (*envelope.Header, *envelope.Schema, error) {
	compressed := o.Pages.Compression.Level() > 0
	named := *doc
	_, named.Name = ntuple.SplitPath(path)
	if err := project(&named, o.Projections, compressed); err != nil {
		return nil, nil, err
	}
	described, err := named.Describe(compressed)
	if err != nil {
		return nil, nil, err
	}
	h := &envelope.Header{Name: named.Name, Description: doc.Description, Writer: ntuple.WriterName(), Schema: *described}
	if o.Description != "" {
		h.Description = o.Description
	}
	// ROOT writes extra type information in the footer.
	ext := &envelope.Schema{ExtraTypes: h.ExtraTypes}
	h.ExtraTypes = nil
	return h, ext, nil
}

// compile makes the plan for the current fields of the RNTuple.
func (w *Writer[T]) compile() (err error) {
	w.plan, err = w.outlets.CompileEntries(w.ntuple.Schema.Fields, reflect.TypeFor[T]())
	return err
}

// Schema returns the current schema.
func (w *common) Schema() *schema.Schema { return w.ntuple.Schema }

// NumEntries returns the number of entries written so far.
func (w *common) NumEntries() int64 { return w.ntuple.Sink.Entries() }

// FileSize returns the length in bytes that the file has so far; see File.Size.
func (w *common) FileSize() int64 { return w.ntuple.FileSize() }

// Extend adds fields to the RNTuple. They are zero in earlier entries, and later entries must have
// them. Extend is supported only for dynamic values, because the fields of a Go type are fixed. It
// is an error while there are open Fillers.
//
// Specification: "Schema Extension Record Frame".
func (w *Writer[T]) Extend(fields ...*schema.FieldDocument) error {
	return w.alone("Extend", func() error {
		if err := extend(w.ntuple, fields); err != nil {
			return err
		}
		return w.compile()
	})
}

// extend adds fields to an RNTuple that is being written.
func extend(w *ntuple.Writer, fields []*schema.FieldDocument) error {
	doc := &schema.Document{Name: w.Header.Name, Fields: fields}
	added, err := doc.Extend(w.Schema, w.Sink.Entries(), w.Sink.Settings().Compression.Level() > 0)
	if err != nil {
		return err
	}
	return w.Extend(added)
}

// CommitCluster ends the current cluster, if it has entries.
func (w *common) CommitCluster() error {
	return during("CommitCluster", w.ntuple.Sink, w.ntuple.Err, w.ntuple.Sink.CommitCluster)
}

// CommitClusterGroup ends the current cluster, if it has entries, and writes the page list
// of the clusters since the last group. Without it the RNTuple has one group, as ROOT writes
// it.
func (w *common) CommitClusterGroup() error {
	return during("CommitClusterGroup", w.ntuple.Sink, w.ntuple.Err, w.ntuple.Sink.CommitClusterGroup)
}

// during is the body of a call that changes a sink: it calls change unless state returns an error.
func during(call string, s *pagesink.Sink, state, change func() error) error {
	if err := s.Enter(call); err != nil {
		return err
	}
	defer s.Leave()
	if err := state(); err != nil {
		return err
	}
	return change()
}

// Use ends the current cluster, and writes the values of a field in another of the
// representations that its document gives, counted from 0, from the next cluster on. It is
// an error while there are Fillers.
func (w *common) Use(path string, representation int) error {
	return w.alone("Use", func() error { return w.use(path, representation) })
}

func (w *common) use(path string, representation int) error {
	chain, err := w.ntuple.Schema.Lookup(path)
	if err != nil {
		return err
	}
	f := chain[len(chain)-1]
	if representation < 0 || representation >= len(f.Columns) || f.Source != nil {
		return fmt.Errorf("field %q has %d representations, counted from 0: there is no representation %d", path,
			len(f.Columns), representation)
	}
	if err := w.ntuple.Sink.CommitCluster(); err != nil {
		return err
	}
	w.outlets.Activate(f, representation)
	return nil
}

// Checkpoint ends the current cluster and cluster group, and makes the file readable with
// all entries written so far. More entries can be written afterwards; if the program dies
// then, the file stays as it was at the checkpoint.
func (w *common) Checkpoint() error {
	if err := w.ntuple.Sink.Enter("Checkpoint"); err != nil {
		return err
	}
	defer w.ntuple.Sink.Leave()
	return w.ntuple.Checkpoint()
}

// Abort discards everything written since the last checkpoint. If the writer was made
// together with its file, as by Create, it aborts the file as well.
func (w *common) Abort() error {
	w.ntuple.Sink.Seize("Abort")
	defer w.ntuple.Sink.Leave()
	err := w.ntuple.Abort()
	if w.owned == nil || errors.Is(err, ntuple.ErrClosed) {
		return err
	}
	return cmp.Or(err, w.owned.Abort())
}

// Close writes the remaining entries and the metadata. If the writer was made together with its
// file, as by Create, it closes the file as well. Close returns the first error of all methods, so
// that a program may ignore those of Write, and an error if one panicked. After an error the file
// does not exist, or is as it was at the last checkpoint. It is an error if FileOptions.Context is
// done.
func (w *common) Close() error {
	w.ntuple.Sink.Seize("Close")
	defer w.ntuple.Sink.Leave()
	err := w.ntuple.Close()
	if err == nil {
		if w.file != nil {
			raise(&w.file.needs, w.needs())
		}
		w.release()
	}
	if w.owned == nil || errors.Is(err, ntuple.ErrClosed) {
		return err
	}
	return cmp.Or(err, w.owned.Close())
}
