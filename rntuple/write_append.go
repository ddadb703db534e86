package rntuple

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Append opens an existing RNTuple, written by ROOT or by this library, and appends entries to it.
// Its fields must match the struct T as with Create; they keep their encodings. A field that is
// missing from T is an error, and so is a member of T without a field, unless
// WriteOptions.ExtendSchema adds it.
//
// Existing pages are not moved, and only metadata is read. Readers see the new entries after Close
// or a checkpoint. The RNTuple then gets a higher cycle, and its earlier state remains readable
// under the earlier cycle. Attribute sets are preserved.
//
// Pages are compressed like the existing ones unless WriteOptions.Compression is set. See Open for
// the name. For formats before 1.0.0.0 the error wraps ErrUnsupported.
func Append[T any](path, name string, o *WriteOptions) (*Writer[T], error) {
	o = cmp.Or(o, new(WriteOptions))
	err := refuse(
		refusal{o.Description != "", "Description is not for Append"},
		refusal{o.MaxKeySize != 0, "MaxKeySize is not for Append"},
		refusal{len(o.Projections) > 0, "Projections is not for Append"},
		refusal{o.ExtendSchema && reflect.TypeFor[T]() == recordType,
			"ExtendSchema is not for AppendRecords: see Writer.Extend"})
	if err != nil {
		return nil, err
	}
	f, err := UpdateFile(path, o.file())
	return owning(f, err, func() (*Writer[T], error) { return continuing[T](f, path, name, o) })
}

// continuing returns a writer that continues an RNTuple in the file f at path.
func continuing[T any](f *File, path, name string, options *WriteOptions) (*Writer[T], error) {
	o := *cmp.Or(options, new(WriteOptions))
	r, err := Open(path, name, &ReadOptions{Context: f.ctx, Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	c, ok, err := r.ntuple.Compression(r.ctx)
	if ok {
		o.Compression = cmp.Or(o.Compression, c, compress.None)
	}
	var w *Writer[T]
	if err == nil {
		w, err = resume[T](f, r, &o)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.ntuple.CloseWith(r.ntuple)
	return w, nil
}

// AppendRecords is like Append for dynamic values with the members of the RNTuple's schema.
func AppendRecords(path, name string, o *WriteOptions) (*Writer[value.Record], error) {
	return Append[value.Record](path, name, o)
}

// resume returns a writer that continues the RNTuple that r reads, in its file.
func resume[T any](f *File, r *Reader, options *WriteOptions) (*Writer[T], error) {
	o, err := options.base()
	if err != nil {
		return nil, err
	}
	base, err := f.ntuple.Resume(r.ntuple, o)
	if err != nil {
		return nil, err
	}
	if t := reflect.TypeFor[T](); o.ExtendSchema && t != recordType {
		if err := extendTo(base, t); err != nil {
			return nil, fmt.Errorf("RNTuple %q: %w", r.Name(), err)
		}
	}
	err = recordZones(base, o)
	var w *Writer[T]
	if err == nil {
		w, err = writerOn[T](base)
	}
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", r.Name(), err)
	}
	return w, nil
}

// extendTo adds to w the fields of type t that the RNTuple lacks.
func extendTo(w *ntuple.Writer, t reflect.Type) error {
	doc, err := model(w.Header.Name, t)
	if err != nil {
		return err
	}
	return extend(w, slices.DeleteFunc(doc.Fields, func(f *schema.FieldDocument) bool {
		return slices.ContainsFunc(w.Schema.Fields, func(old *schema.Field) bool { return old.Name == f.Name })
	}))
}
