package rntuple

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Append opens an RNTuple, written by ROOT or by this library, to write more entries after
// those it has. Its fields must fit the struct T as they would with Create; they keep their
// encodings. A field that T lacks is an error, and so is a member of T without a field,
// unless ExtendSchema adds it.
//
// Existing pages stay where they are in the file, and only metadata is read. Readers see
// the new entries once the writer is closed, or at a checkpoint. The RNTuple then gets a
// higher cycle, and its earlier state stays readable under the earlier cycle. Attribute
// sets are kept.
//
// Pages are compressed like the existing ones unless the option Compression is given;
// MaxKeySize and Description have no effect. The name is as for Open. For RNTuples in a
// format before 1.0.0.0 the error wraps ErrUnsupported.
func Append[T any](path, name string, opts ...WriteOption) (*Writer[T], error) {
	f, err := UpdateFile(path, opts...)
	if err != nil {
		return nil, err
	}
	return owning(f, func() (*Writer[T], error) { return continuing[T](f, path, name, opts) })
}

// continuing returns a writer that continues an RNTuple in the file f at path.
func continuing[T any](f *File, path, name string, opts []WriteOption) (*Writer[T], error) {
	o, err := ntuple.NewWriteOptions(opts)
	if err != nil {
		return nil, err
	}
	r, err := Open(path, name, Context(o.Context), WithLimits(Limits(o.Limits)))
	if err != nil {
		return nil, err
	}
	c, ok, err := r.ntuple.Compression(r.ctx)
	if ok {
		opts = append([]WriteOption{Compression(c)}, opts...)
	}
	var w *Writer[T]
	if err == nil {
		w, err = resume[T](f, r, opts)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.ntuple.CloseWith(r.ntuple)
	return w, nil
}

// ExtendSchema makes Append add a top-level field for each member of T without a field. The
// field is zero in the existing entries. It has no effect on AppendRecords, whose writer has
// the method Extend. Default: such members are an error.
//
// Specification: "Schema Extension Record Frame".
func ExtendSchema() WriteOption {
	return func(o *ntuple.WriteOptions) error { o.ExtendSchema = true; return nil }
}

// ReadLimits sets the limits with which Append reads the metadata of the existing RNTuple.
// Default: as for Open.
func ReadLimits(l Limits) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		o.Limits = ntuple.Limits(l)
		return checkLimits("ReadLimits", l)
	}
}

// AppendRecords is like Append for entries without a Go type: dynamic values with the
// members of the RNTuple's schema.
func AppendRecords(path, name string, opts ...WriteOption) (*Writer[value.Record], error) {
	return Append[value.Record](path, name, opts...)
}

// resume returns a writer that continues the RNTuple that r reads, in its file.
func resume[T any](f *File, r *Reader, opts []WriteOption) (*Writer[T], error) {
	o, err := ntuple.NewWriteOptions(opts)
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
