package rntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/field"
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
	c, err := r.compression()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	opts = append([]WriteOption{Compression(c)}, opts...)
	f, err := UpdateFile(path, opts...)
	if err != nil {
		return nil, err
	}
	w, err := owning(f, func() (*Writer[T], error) { return goOn[T](f, r, name, opts) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// AppendRecords is Append for entries without a Go type: dynamic values, whose
// members are those of the RNTuple's schema.
func AppendRecords(path, name string, opts ...WriteOption) (*Writer[value.Record], error) {
	return Append[value.Record](path, name, opts...)
}

// goOn returns a writer of the RNTuple that r reads, in its file.
func goOn[T any](f *File, r *Reader, name string, opts []WriteOption) (*Writer[T], error) {
	config, err := newWriteConfig(opts)
	if err != nil {
		return nil, err
	}
	dir, _ := splitPath(name)
	resumed, err := resumeNtuple(f, r, dir, config)
	if err != nil {
		return nil, err
	}
	w := &Writer[T]{ntuple: *resumed}
	w.outlets = field.NewOutlets(w.sink)
	if err := w.compile(); err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", r.Name(), err)
	}
	f.open++
	return w, nil
}

// compression returns how the first pages are compressed, or the default if there
// are none.
func (r *Reader) compression() (compress.Settings, error) {
	if r.NumEntries() > 0 {
		first, err := r.src.Find(r.ctx, 0)
		if err != nil {
			return 0, err
		}
		for _, c := range first.Columns() {
			if len(c.Pages) > 0 {
				s := compress.Settings(c.Compression)
				if _, err := compress.Append(nil, nil, s); err == nil {
					return s, nil
				}
			}
		}
	}
	return writeDefaults().pages.Compression, nil
}
