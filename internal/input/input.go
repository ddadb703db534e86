package input

import (
	"context"
	"io"

	"github.com/go-rntuple/go-rntuple/internal/disk/mmap"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A File is open for reading.
type File interface {
	io.ReaderAt
	io.Closer
}

// Open opens the regular file at a path, or the file at a URL, and returns its size. If mapped is
// set, it maps a local file into memory if possible. The context is also that of reading a file
// that is far away.
func Open(ctx context.Context, at location.Location, mapped bool, o remote.Options) (File, int64, error) {
	if at.IsURL() {
		f, err := remote.Open(ctx, at.Name(), &o)
		if err != nil {
			return nil, 0, err
		}
		return f, f.Len(), nil
	}
	f, info, err := regular.Open(at.Name())
	if err != nil {
		return nil, 0, err
	}
	if mapped {
		if m, err := mmap.New(f, info.Size()); err == nil {
			return m, info.Size(), nil
		}
	}
	return f, info.Size(), nil
}
