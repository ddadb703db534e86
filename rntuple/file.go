package rntuple

import (
	"context"
	"io"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A File is a ROOT file to which one or more RNTuples are written, one after the other or
// side by side. The File and its writers must be used by one goroutine at a time.
//
// Readers see the RNTuples once the file is closed, or at a checkpoint. If the file is
// abandoned, or fails, before that, a file that existed at its path stays as it was.
type File struct {
	ntuple *ntuple.File
	ctx    context.Context
	needs  Limits // what readers need for the RNTuples whose writers are closed
}

// CreateFile creates a ROOT file at path. Until Close, or a checkpoint, it has another name
// in the same directory; then it replaces a file that existed at path, unless o.NoReplace is
// set, and has its mode. A symbolic link at path is followed. If the file that it replaces
// is being updated by another File, Close returns an error that wraps ErrLocked.
//
// If path is a URL of a scheme for which package remote has a protocol that writes, the file is
// written to the folder for temporary files, and uploaded by Close, and by each checkpoint.
func CreateFile(path string, o *FileOptions) (*File, error) {
	return file(o, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.CreateFile(path, o) })
}

// NewFile creates a ROOT file in w, which must be empty; name is the file name that ROOT shows. If w
// has a method Sync, as that of os.File, commits call it, unless o.NoSync is set; if it has a method
// ReadAt, they reuse the space of what they replace.
//
// ROOT files cannot be written to streams: the header, which has the position of everything else,
// is written last. Write to a file or to memory, then copy that to the stream.
func NewFile(w io.WriterAt, name string, o *FileOptions) (*File, error) {
	return file(o, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.NewFile(w, name, o) })
}

// UpdateFile opens the ROOT file at path to add RNTuples; it may have been written by ROOT or
// by this library, and keeps everything that it holds. Until Close, or a checkpoint, nothing
// changes for its readers. An RNTuple whose name exists already gets a higher cycle.
//
// The file is locked until Close. If another File has the lock, and does not give it up within
// o.LockWait, the error wraps ErrLocked. If a process without the lock, such as ROOT, has the file
// open for writing, UpdateFile, Close and Checkpoint return an error that wraps
// ErrOpenElsewhere; this is only noticed on Linux, and for processes of the same user. If it
// has changed the file since, the error wraps ErrChanged; if it has moved or replaced it,
// ErrMoved. The file at a URL is not updated: the error wraps errors.ErrUnsupported.
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

// Close completes the file. All its writers must have been closed. After an error of the
// file or of a writer, a file that existed at the path stays as it was.
func (f *File) Close() error { return f.ntuple.Close() }

// Abort discards everything written since the last checkpoint.
func (f *File) Abort() error { return f.ntuple.Abort() }

// Size returns the length in bytes that the file has so far, for programs that begin a new one
// when it is large enough. It grows as clusters are written: the cluster that is being filled,
// and with several Workers the one before it, do not count yet, nor does the metadata that
// Close writes.
func (f *File) Size() int64 { return f.ntuple.Size() }

// Errors of files that others write to at the same time.
var (
	// ErrLocked: another File, of any process, has the lock.
	ErrLocked = diskfile.ErrLocked
	// ErrOpenElsewhere: a process without the lock has the file open for writing.
	ErrOpenElsewhere = diskfile.ErrOpenElsewhere
	// ErrMoved: the file no longer has the name under which it was opened.
	ErrMoved = diskfile.ErrMoved
	// ErrChanged: a program without the lock has changed the file since it was opened, or
	// since the last checkpoint. It keeps what that program has written.
	ErrChanged = rootfile.ErrChanged
)

// ErrConcurrent is the error of writers, and of Fillers, that several goroutines use at a time.
// The error says which call was made while another one was not complete.
var ErrConcurrent = pagesink.ErrConcurrent
