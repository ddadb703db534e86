package mmap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// ErrUnsupported reports that a file cannot be mapped, or that no files can on this
// system.
var ErrUnsupported = errors.New("memory maps are not supported")

// A File is a mapped file. It is safe for concurrent use. What the file has grown by
// since it was mapped is not in the map; ReadAt reads it from the file.
type File struct {
	file *os.File
	mu   sync.RWMutex // held for reading while data are in use
	data []byte       // nil once closed
}

// New maps the first size bytes of f. If there is no error, it takes ownership of
// f.
func New(f *os.File, size int64) (*File, error) {
	if size <= 0 || int64(int(size)) != size {
		return nil, ErrUnsupported
	}
	data, err := mapFile(f, int(size))
	if err != nil {
		return nil, err
	}
	return &File{file: f, data: data}, nil
}

// Use calls use with the n bytes at offset off, which must lie in the map, and
// returns its error. The bytes are valid until use returns. If reading them fails,
// use is ended by a panic, for which Use returns an error: use must not leave
// shared data in an inconsistent state, and must not read the bytes in another
// goroutine.
func (f *File) Use(off, n int64, use func([]byte) error) (err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.data == nil {
		return os.ErrClosed
	}
	if off < 0 || n < 0 || off > int64(len(f.data))-n {
		return fmt.Errorf("%d bytes at offset %#x: %w", n, off, io.ErrUnexpectedEOF)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			if !f.holds(p.Addr()) {
				panic(p)
			}
			err = fmt.Errorf("%d bytes at offset %#x: the file was truncated, or cannot be read: %w", n,
				off, io.ErrUnexpectedEOF)
		default:
			panic(p)
		}
	}()
	return use(f.data[off : off+n : off+n])
}

// Len returns the length of the map in bytes, 0 once it is closed.
func (f *File) Len() int64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return int64(len(f.data))
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if size := f.Len(); size > 0 && off > size-int64(len(p)) {
		return f.file.ReadAt(p, off)
	}
	err = f.Use(off, int64(len(p)), func(b []byte) error { n = copy(p, b); return nil })
	if err != nil {
		n = 0
	}
	return n, err
}

// Stat describes the file as it is now.
func (f *File) Stat() (os.FileInfo, error) { return f.file.Stat() }

// Disk returns the file itself, which Close closes: to read much data once is
// cheaper without the map.
func (f *File) Disk() *os.File { return f.file }

// Close removes the map and closes the file. It waits for calls of Use to return.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.data == nil {
		return os.ErrClosed
	}
	data := f.data
	f.data = nil
	return errors.Join(unmap(data), f.file.Close())
}
