package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// ErrObjects reports that a URL refers to an RNTuple stored as objects where a file is required.
var ErrObjects = errors.New("the URL is of an RNTuple in objects of its own, which is read, but is not a file")

// OpenObjects opens the RNTuple stored as objects at a URL, as Open opens a file. If the URL refers
// to a file, the error wraps errors.ErrUnsupported. It is experimental, and meant for programs that
// read the bytes of objects; package rntuple reads RNTuples from files and objects alike.
func OpenObjects(ctx context.Context, name string, o *Options) (objects.Source, error) {
	o = cmp.Or(o, new(Options))
	f, err := openAny(ctx, location.Parse(name), *o)
	if err != nil {
		return nil, err
	}
	if f.objects == nil {
		f.Close()
		return nil, &Error{Op: "open", URL: f.name,
			Err: fmt.Errorf("%w: there is a file, not an RNTuple in objects", errors.ErrUnsupported)}
	}
	return objectFile{f}, nil
}

// An objectFile is a File whose virtual offsets address objects.
type objectFile struct{ *File }

// Anchor implements objects.Source.
func (f objectFile) Anchor() []byte { return f.objects.Anchor() }

// ObjectSize implements objects.Source.
func (f objectFile) ObjectSize(ctx context.Context, offset int64) (size int64, err error) {
	err = f.try(ctx, "read", func(ctx context.Context, arrived func(int)) (bool, error) {
		size, err = f.objects.ObjectSize(ctx, offset, arrived)
		return false, err
	})
	return size, err
}
