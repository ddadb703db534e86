package rntuple

import (
	"context"
	"io"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A File is a ROOT file to which one or more RNTuples are written, sequentially or interleaved. The
// File and its writers must be used by one goroutine at a time.
//
// Readers see the RNTuples after Close or Checkpoint. If the File is aborted or fails before that,
// an existing file at its path is unchanged.
type File struct {
	ntuple *ntuple.File
	ctx    context.Context
	needs  Limits // what readers need for the RNTuples whose writers are closed
}

// CreateFile creates a ROOT file at path. Until Close or the first checkpoint it has a temporary
// name in the same directory; it then replaces an existing file at path and takes over its mode,
// unless o.NoReplace is set. A symbolic link at path is followed. If another File is updating the
// file to be replaced, Close returns an error that wraps ErrLocked.
//
// If path is a URL whose protocol supports writing (see package remote), the file is written to the
// temporary folder, and uploaded by Close and by each checkpoint.
func CreateFile(path string, o *FileOptions) (*File, error) {
	return file(o, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.CreateFile(path, o) })
}

// NewFile creates a ROOT file in w, which must be empty; name is the file name that ROOT shows. If
// w has a method Sync like os.File, commits call it, unless o.NoSync is set. If w implements
// io.ReaderAt, commits reuse the space of replaced records.
//
// ROOT files cannot be written to streams: the header, which contains the positions of everything
// else, is written last. Write to a file or to memory, then copy the result to the stream.
func NewFile(w io.WriterAt, name string, o *FileOptions) (*File, error) {
	return file(o, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.NewFile(w, name, o) })
}

// UpdateFile opens the ROOT file at path to add RNTuples. It may have been written by ROOT or by
// this library; existing objects are preserved. Readers see no change until Close or a checkpoint.
// An RNTuple whose name already exists gets a higher cycle.
//
// The file is locked until Close. If another File holds the lock and does not release it within
// o.LockWait, the error wraps ErrLocked. If a process without the lock, such as ROOT, has the file
// open for writing, UpdateFile, Close and Checkpoint return an error that wraps ErrOpenElsewhere;
// this is detected only on Linux, and only for processes of the same user. If such a process has
// changed the file, the error wraps ErrChanged; if it has moved or replaced it, ErrMoved. Remote
// files cannot be updated: the error wraps errors.ErrUnsupported.
func UpdateFile(path string, o *FileOptions) (*File, error) {
	if o != nil && o.NoReplace {
		return nil, refuse(refusal{true, "NoReplace is not for a file that is updated"})
	}
	return file(o, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.UpdateFile(path, o) })
}

// file returns the File that open opens.
func file(options *FileOptions, open func(*ntuple.WriteOptions) (*ntuple.File, error)) (*File, error) {
	o, err := options.base()
	if err != nil {
		return nil, err
	}
	base, err := open(o)
	if err != nil {
		return nil, err
	}
	return &File{ntuple: base, ctx: o.Context}, nil
}

// Close completes the file. All its writers must have been closed. After an error of the File or of
// a writer, an existing file at the path is unchanged.
func (f *File) Close() error { return f.ntuple.Close() }

// Abort discards everything written since the last checkpoint.
func (f *File) Abort() error { return f.ntuple.Abort() }

// Size returns the current length of the file in bytes, for programs that rotate files by size. It
// grows when clusters are written: it does not include the cluster being filled, with several
// Workers the one before it, and the metadata written by Close.
func (f *File) Size() int64 { return f.ntuple.Size() }

// Errors about concurrent updates of a file by others.
var (
	// ErrLocked: another File, in this or another process, holds the lock.
	ErrLocked = diskfile.ErrLocked
	// ErrOpenElsewhere: a process without the lock has the file open for writing.
	ErrOpenElsewhere = diskfile.ErrOpenElsewhere
	// ErrMoved: the file was renamed or replaced since it was opened.
	ErrMoved = diskfile.ErrMoved
	// ErrChanged: a program without the lock has changed the file since it was opened, or since the
	// last checkpoint. Its changes are preserved.
	ErrChanged = rootfile.ErrChanged
)

// ErrConcurrent reports that a writer or Filler was used by several goroutines concurrently. The
// error names the overlapping call.
var ErrConcurrent = pagesink.ErrConcurrent
