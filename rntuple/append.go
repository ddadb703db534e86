package rntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// Append opens an RNTuple, of ROOT's making or ours, to write more entries behind
// those that it has. Its fields must go with the struct T as they would with
// Create; their encodings stay. An RNTuple whose fields T does not have all is an
// error.
//
// What the RNTuple has stays where it is in the file, and of it only metadata is
// read. Readers see the new entries when the writer is closed, or at a checkpoint.
// The RNTuple gets a higher cycle then, and the earlier one stays readable under
// its own. Attribute sets are kept.
//
// Pages are compressed as those that are there, unless Compression says else;
// MaxKeySize and Description have no effect. Name is as for Open. Files that ROOT
// wrote before format 1.0.0.0 are an error that wraps ErrUnsupported.
func Append[T any](path, name string, opts ...WriteOption) (*Writer[T], error) {
	r, err := Open(path, name)
	if err != nil {
		return nil, err
	}
	defer r.Close() // the writer needs no more than it has read by now
	fail := func(err error) (*Writer[T], error) { return nil, fmt.Errorf("%s: %w", path, err) }
	if c, ok, err := r.ntuple.Compression(r.ctx); err != nil {
		return fail(err)
	} else if ok {
		opts = append([]WriteOption{Compression(c)}, opts...)
	}
	f, err := UpdateFile(path, opts...)
	if err != nil {
		return nil, err
	}
	w, err := owning(f, func() (*Writer[T], error) { return resume[T](f, r, opts) })
	if err != nil {
		return fail(err)
	}
	return w, nil
}

// AppendRecords is Append for entries without a Go type: dynamic values, whose
// members are those of the RNTuple's schema.
func AppendRecords(path, name string, opts ...WriteOption) (*Writer[value.Record], error) {
	return Append[value.Record](path, name, opts...)
}

// resume returns a writer that goes on with the RNTuple that r reads, in its file.
func resume[T any](f *File, r *Reader, opts []WriteOption) (*Writer[T], error) {
	o, err := ntuple.NewWriteOptions(opts)
	if err != nil {
		return nil, err
	}
	base, err := f.ntuple.Resume(r.ntuple, o)
	if err != nil {
		return nil, err
	}
	w, err := writerOn[T](base)
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", r.Name(), err)
	}
	return w, nil
}
