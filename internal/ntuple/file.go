package ntuple

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A File is a ROOT file to which RNTuples are written. The File and its writers must be
// used by one goroutine at a time.
type File struct {
	ctx   context.Context
	root  *rootfile.Writer
	pages *pagesink.Output // on root
	open  int              // number of writers that are not closed
	err   error            // the first error; sticky

	disk *os.File // nil if the caller provides the target
	path string
	temp bool // disk still has its temporary name
}

// CreateFile creates a ROOT file at path. Until Close or Commit it has another name in the
// same directory; then it replaces a file that existed at path.
func CreateFile(path string, o *WriteOptions) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "create", Path: path, Err: errors.New("not a regular file")}
	}
	disk, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) { // its path is that of the temporary file
			err = cause.Err
		}
		return nil, &os.PathError{Op: "create", Path: path, Err: err}
	}
	f, err := NewFile(disk, filepath.Base(path), o)
	if err != nil {
		disk.Close()
		os.Remove(disk.Name())
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.disk, f.path, f.temp = disk, path, true
	return f, nil
}

// NewFile creates a ROOT file in w, which must be empty; name is the file name that ROOT
// shows.
func NewFile(w io.WriterAt, name string, o *WriteOptions) (*File, error) {
	options := o.File
	options.Name = name
	root, err := rootfile.Create(w, options)
	if err != nil {
		return nil, err
	}
	return newFile(root, o), nil
}

// UpdateFile opens the ROOT file at path to add RNTuples. Until Close or Commit nothing
// changes for its readers.
func UpdateFile(path string, o *WriteOptions) (*File, error) {
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := disk.Stat()
	var f *File
	if err == nil {
		f, err = Update(disk, info.Size(), o)
	}
	if err != nil {
		disk.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.disk, f.path = disk, path
	return f, nil
}

// Update is like UpdateFile for the file of size bytes that rw reads and writes.
func Update(rw rootfile.ReadWriterAt, size int64, o *WriteOptions) (*File, error) {
	root, err := rootfile.Append(rw, size, o.File)
	if err != nil {
		return nil, err
	}
	return newFile(root, o), nil
}

func newFile(root *rootfile.Writer, o *WriteOptions) *File {
	out := &pagesink.Output{Blob: root.Blob, SmallBlob: root.SmallBlob, Stream: root.BlobFrom, Extents: root}
	return &File{root: root, pages: out, ctx: o.Context}
}

// Commit makes everything written so far visible to readers, unless the context is done.
func (f *File) Commit() error {
	if f.err == nil {
		f.err = f.ctx.Err()
	}
	if f.err == nil {
		f.err = f.root.Commit()
	}
	if f.err == nil && f.temp {
		// Not earlier: a file with this name must be complete.
		mode := os.FileMode(0o644)
		if old, err := os.Stat(f.path); err == nil {
			mode = old.Mode().Perm() // permissions stay as they were
		}
		if f.err = os.Chmod(f.disk.Name(), mode); f.err == nil {
			f.err = os.Rename(f.disk.Name(), f.path)
		}
		f.temp = f.err != nil
	}
	return f.err
}

// Close completes the file. All its writers must have been closed. After an error of the
// file or of a writer, a file that existed at the path stays as it was.
func (f *File) Close() error {
	if f.open > 0 && f.err == nil {
		f.err = fmt.Errorf("%d RNTuples are not closed", f.open)
	}
	if f.err == nil {
		f.Commit()
	}
	return f.release()
}

// Abort discards everything written since the last commit.
func (f *File) Abort() error {
	if f.err == nil {
		f.err = errAborted
	}
	if err := f.release(); !errors.Is(err, errAborted) {
		return err
	}
	return nil
}

var errAborted = errors.New("the file was aborted")

// release closes the file on disk, and removes it if it has not been committed.
func (f *File) release() error {
	if f.disk == nil {
		return f.err
	}
	disk := f.disk
	f.disk = nil
	err := disk.Close()
	if f.temp {
		os.Remove(disk.Name())
	}
	if f.err == nil {
		f.err = err
	}
	return f.err
}
