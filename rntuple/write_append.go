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
	o, t := cmp.Or(o, new(WriteOptions)), reflect.TypeFor[T]()
	if o.ExtendSchema && t == recordType {
		return nil, refuse(refusal{true, "ExtendSchema is not for AppendRecords: see Writer.Extend"})
	}
	extend := func(base *ntuple.Writer) error {
		if !o.ExtendSchema {
			return nil
		}
		return extendTo(base, t)
	}
	return appending(path, name, o, extend,
		func(base *ntuple.Writer, _ *File) (*Writer[T], error) { return writerOn[T](base) })
}

// AppendRecords is like Append for dynamic values with the members of the RNTuple's schema.
func AppendRecords(path, name string, o *WriteOptions) (*Writer[value.Record], error) {
	return Append[value.Record](path, name, o)
}

// AppendColumns is like Append for slices with the values of the RNTuple's fields; ExtendSchema is an
// error.
func AppendColumns(path, name string, o *WriteOptions) (*ColumnWriter, error) {
	o = cmp.Or(o, new(WriteOptions))
	if err := refuse(refusal{o.ExtendSchema, "ExtendSchema is not for AppendColumns"}); err != nil {
		return nil, err
	}
	return appending(path, name, o, func(*ntuple.Writer) error { return nil }, columnWriterOn)
}

// appending returns a writer on an RNTuple that is continued in the file at path, once it is extended.
func appending[W interface{ own(*File) }](path, name string, o *WriteOptions, extend func(*ntuple.Writer) error,
	on func(*ntuple.Writer, *File) (W, error)) (none W, _ error) {
	err := refuse(
		refusal{o.Description != "", "Description is not for Append"},
		refusal{o.MaxKeySize != 0, "MaxKeySize is not for Append"},
		refusal{len(o.Projections) > 0, "Projections is not for Append"})
	if err != nil {
		return none, err
	}
	f, err := UpdateFile(path, o.file())
	return owning(f, err, func() (W, error) {
		r, err := Open(path, name, &ReadOptions{Context: f.ctx, Limits: o.Limits})
		if err != nil {
			return none, err
		}
		w, err := resume(f, r, *o, extend, on)
		if err != nil {
			r.Close()
			return none, fmt.Errorf("%s: %w", path, err)
		}
		f.ntuple.CloseWith(r.ntuple)
		return w, nil
	})
}

// resume returns a writer that continues the RNTuple that r reads, in its file.
func resume[W any](f *File, r *Reader, options WriteOptions, extend func(*ntuple.Writer) error,
	on func(*ntuple.Writer, *File) (W, error)) (none W, _ error) {
	c, ok, err := r.ntuple.Compression(r.ctx)
	if err != nil {
		return none, err
	}
	if ok {
		options.Compression = cmp.Or(options.Compression, c, compress.None)
	}
	o, err := options.base()
	if err != nil {
		return none, err
	}
	base, err := f.ntuple.Resume(r.ntuple, o)
	if err != nil {
		return none, err
	}
	err = extend(base)
	if err == nil { // a zone map may name new fields
		err = recordZones(base, o)
	}
	var w W
	if err == nil {
		w, err = on(base, f)
	}
	if err != nil {
		return none, fmt.Errorf("RNTuple %q: %w", r.Name(), err)
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
