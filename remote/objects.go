package remote

import (
	"context"
	"errors"

	"github.com/go-rntuple/go-rntuple/internal/location"
)

// ErrObjects is the error of those who need a file where a URL is of objects. See OpenObjects.
var ErrObjects = errors.New("the URL is of an RNTuple in objects of its own, which is read, but is not a file")

// MaxObject is the size in bytes of the largest object, and MaxObjects the number of objects, that are read.
const (
	MaxObject  = 1 << 30
	MaxObjects = 1 << 30
)

// objectBits are the bits of offsets below the number of an object. What lies between two objects is far
// more than any gap that is read: each has a request of its own.
const objectBits = 32

// RegisterObjects is like Register for a scheme whose URLs are not of files but of RNTuples, of which each
// page and each envelope is an object. It is experimental, as is the only such layout.
//
// Open of the Backend returns the anchor as it would be serialized in a file, with the numbers of objects by
// ObjectOffset, and the size is that of all their offsets, OffsetsOfObjects. Each range that Read is
// asked for is a whole object, at its offset: one of another size is an error. The Backend must also be
// an ObjectSizer.
func RegisterObjects(scheme string, o Opener) {
	Register(scheme, o)
	schemes.Lock()
	defer schemes.Unlock()
	schemes.objects[scheme] = true
}

// An ObjectSizer tells the size in bytes of the object at an offset. It makes one attempt, as a Backend does.
type ObjectSizer interface {
	ObjectSize(ctx context.Context, offset int64, arrived func(n int)) (int64, error)
}

// OffsetsOfObjects is the offset behind those of all objects.
const OffsetsOfObjects = MaxObjects << objectBits

// ObjectOffset returns the offset that stands for the object with a number. It is not ok if the number is
// not below MaxObjects.
func ObjectOffset(id uint64) (offset int64, ok bool) {
	return int64(id << objectBits), id < MaxObjects
}

// ObjectAt returns the number of the object at an offset.
func ObjectAt(offset int64) uint64 { return uint64(offset) >> objectBits }

// IsObjects reports whether a name is a URL of objects, rather than of a file: whether a package that has
// registered its scheme says so.
func IsObjects(name string) bool {
	return isObjects(location.Parse(name))
}

func isObjects(at location.Location) bool {
	schemes.RLock()
	defer schemes.RUnlock()
	return schemes.objects[at.Scheme()]
}

// OpenObjects opens the RNTuple at a URL for which IsObjects holds. Package rntuple does so for those who read
// it; it is not for others. The File has the anchor, and the objects at their offsets.
func OpenObjects(ctx context.Context, name string, o Options) (*File, error) {
	return openAny(ctx, location.Parse(name), o)
}

// Anchor returns the anchor of objects, as it would be serialized in a file; that of a file is nil.
func (f *File) Anchor() []byte { return f.info.Anchor }

// ObjectSize asks for the size in bytes of the object at an offset.
func (f *File) ObjectSize(ctx context.Context, offset int64) (size int64, err error) {
	b, ok := f.backend.(ObjectSizer)
	if !ok {
		return 0, &Error{Op: "read", URL: f.name, Err: errors.ErrUnsupported}
	}
	err = f.try(ctx, "read", func(ctx context.Context, arrived func(int)) (bool, error) {
		size, err = b.ObjectSize(ctx, offset, arrived)
		return false, err
	})
	return size, err
}
