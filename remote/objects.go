package remote

import (
	"context"
	"errors"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// ErrObjects is the error of those who need a file where a URL is of an RNTuple in objects.
var ErrObjects = errors.New("the URL is of an RNTuple in objects of its own, which is read, but is not a file")

// OpenObjects opens the RNTuple in objects at a URL for the packages of this library, which have
// parsed the URL: IsObjects of the location must hold.
func OpenObjects(ctx context.Context, at location.Location, o Options) (objects.Source, error) {
	f, err := openAny(ctx, at, o)
	if err != nil {
		return nil, err
	}
	return objectFile{f}, nil
}

// An objectFile is a File of objects.
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
