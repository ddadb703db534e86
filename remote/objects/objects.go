package objects

import (
	"context"
	"io"
	"sync"
)

// MaxSize is the size in bytes of the largest object, and MaxCount the number of objects, that are
// read.
const (
	MaxSize  = 1 << 30
	MaxCount = 1 << 30
)

// bits are the bits of offsets below the number of an object. What lies between two objects is far
// more than any gap that is read: each has a request of its own.
const bits = 32

// End is the offset behind those of all objects.
const End = MaxCount << bits

// Offset returns the offset that stands for the object with a number. It is not ok if the number is
// not below MaxCount.
func Offset(id uint64) (offset int64, ok bool) { return int64(id << bits), id < MaxCount }

// At returns the number of the object at an offset.
func At(offset int64) uint64 { return uint64(offset) >> bits }

// A Backend is a remote.Backend of objects. The size in its remote.Info is End. Each range that its
// Read is asked for is a whole object, at its offset: one of another size is an error.
type Backend interface {
	// Anchor returns the anchor as it would be serialized in a file, with the offsets of objects.
	// It is called after Open.
	Anchor() []byte
	// ObjectSize returns the size in bytes of the object at an offset. It makes one attempt, as
	// Open does.
	ObjectSize(ctx context.Context, offset int64, arrived func(n int)) (int64, error)
}

// A Source reads objects at their offsets.
type Source interface {
	io.ReaderAt
	io.Closer
	Name() string // that can be shown
	Len() int64   // End
	Anchor() []byte
	ObjectSize(ctx context.Context, offset int64) (int64, error)
}

var schemes sync.Map

// Register makes known that URLs of a scheme are of objects. Its remote.Backend must be a Backend,
// too.
func Register(scheme string) { schemes.Store(scheme, nil) }

// Has reports whether URLs of a scheme are of objects.
func Has(scheme string) bool {
	_, ok := schemes.Load(scheme)
	return ok
}
