package rntuple

import (
	"io"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// A File is a ROOT file that RNTuples are written to, one or several of them,
// one after the other or side by side. It serves one goroutine at a time, and
// so do its writers together.
//
// What is written can be seen when the file is closed, or at a checkpoint. A
// file that is abandoned or fails before leaves what was at its path as it was.
type File struct{ ntuple *ntuple.File }

// CreateFile creates a ROOT file at path. Until Close, or a checkpoint, it has
// another name in the same folder, so that a file that was there stays.
func CreateFile(path string, opts ...WriteOption) (*File, error) {
	return file(opts, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.CreateFile(path, o) })
}

// NewFile writes a ROOT file to w, which must be empty; name is the file name
// that ROOT shows.
func NewFile(w io.WriterAt, name string, opts ...WriteOption) (*File, error) {
	return file(opts, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.NewFile(w, name, o) })
}

// UpdateFile adds RNTuples to the ROOT file at path, of ROOT's making or ours,
// and keeps all that it holds. Until Close, or a checkpoint, nothing changes for
// its readers. An RNTuple of a name that there is gets a higher cycle.
func UpdateFile(path string, opts ...WriteOption) (*File, error) {
	return file(opts, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.UpdateFile(path, o) })
}

// file returns the File that open opens.
func file(opts []WriteOption, open func(*ntuple.WriteOptions) (*ntuple.File, error)) (*File, error) {
	o, err := ntuple.NewWriteOptions(opts)
	if err != nil {
		return nil, err
	}
	base, err := open(o)
	if err != nil {
		return nil, err
	}
	return &File{base}, nil
}

// Close completes the file. All writers must be closed. If anything failed,
// what was at the path stays.
func (f *File) Close() error { return f.ntuple.Close() }

// Abort gives up what has been written since the last checkpoint.
func (f *File) Abort() error { return f.ntuple.Abort() }
