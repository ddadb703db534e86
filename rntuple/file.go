package rntuple

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/internal/pages"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A File is a ROOT file that RNTuples are written to, one or several of them,
// one after the other or side by side. It serves one goroutine at a time, and
// so do its writers together.
//
// What is written can be seen when the file is closed, or at a checkpoint. A
// file that is abandoned or fails before leaves what was at its path as it was.
type File struct {
	out    *rootfile.Writer
	pages  *pages.Output // on out
	config *writeConfig
	open   int // writers that are not closed

	disk *os.File // nil if the caller has the target
	path string
	temp bool // disk does not have its name yet
	err  error
}

// CreateFile creates a ROOT file at path. Until Close, or a checkpoint, it has
// another name in the same folder, so that a file that was there stays.
func CreateFile(path string, opts ...WriteOption) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "create", Path: path, Err: errors.New("not a regular file")}
	}
	disk, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) { // do not speak of a name that nobody has given
			err = cause.Err
		}
		return nil, &os.PathError{Op: "create", Path: path, Err: err}
	}
	f, err := newFile(disk, filepath.Base(path), opts)
	if err != nil {
		disk.Close()
		os.Remove(disk.Name())
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.disk, f.path, f.temp = disk, path, true
	return f, nil
}

// NewFile writes a ROOT file to w, which must be empty; name is the file name
// that ROOT shows.
func NewFile(w io.WriterAt, name string, opts ...WriteOption) (*File, error) {
	return newFile(w, name, opts)
}

// UpdateFile adds RNTuples to the ROOT file at path, of ROOT's making or ours,
// and keeps all that it holds. Until Close, or a checkpoint, nothing changes for
// its readers. An RNTuple of a name that there is gets a higher cycle.
func UpdateFile(path string, opts ...WriteOption) (*File, error) {
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := disk.Stat()
	var f *File
	if err == nil {
		f, err = update(disk, info.Size(), opts)
	}
	if err != nil {
		disk.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.disk, f.path = disk, path
	return f, nil
}

func update(rw rootfile.ReadWriterAt, size int64, opts []WriteOption) (*File, error) {
	config, err := newWriteConfig(opts)
	if err != nil {
		return nil, err
	}
	out, err := rootfile.Append(rw, size, config.file)
	if err != nil {
		return nil, err
	}
	return fileOn(out, config), nil
}

func fileOn(out *rootfile.Writer, config *writeConfig) *File {
	o := pages.NewOutput(out.Blob)
	o.Stream, o.Extents = out.BlobFrom, out
	return &File{out: out, pages: o, config: config}
}

func newFile(w io.WriterAt, name string, opts []WriteOption) (*File, error) {
	config, err := newWriteConfig(opts)
	if err != nil {
		return nil, err
	}
	config.file.Name = name
	out, err := rootfile.Create(w, config.file)
	if err != nil {
		return nil, err
	}
	return fileOn(out, config), nil
}

// commit makes visible what has been written so far.
func (f *File) commit() error {
	if f.err == nil {
		f.err = f.out.Commit()
	}
	if f.err == nil && f.temp {
		// Not before: the name stands for a whole file.
		mode := os.FileMode(0o644)
		if old, err := os.Stat(f.path); err == nil {
			mode = old.Mode().Perm() // who may read stays as it was
		}
		if f.err = os.Chmod(f.disk.Name(), mode); f.err == nil {
			f.err = os.Rename(f.disk.Name(), f.path)
		}
		f.temp = f.err != nil
	}
	return f.err
}

// Close completes the file. All writers must be closed. If anything failed,
// what was at the path stays.
func (f *File) Close() error {
	if f.open > 0 && f.err == nil {
		f.err = fmt.Errorf("%d RNTuples are not closed", f.open)
	}
	if f.err == nil {
		f.commit()
	}
	return f.release()
}

// Abort gives up what has been written since the last checkpoint.
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
