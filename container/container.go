package container

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// ErrNotFound reports that a file has no object with the given name.
var ErrNotFound = rootfile.ErrNotFound

// A Key is the header of a record that contains an object. A directory lists copies of the keys of
// its objects.
type Key struct {
	Class, Name, Title string

	Cycle   int   // distinguishes objects of the same name
	SeekKey int64 // position of the record in the file
	NBytes  int64 // size of the record: the key and the stored object
	KeyLen  int   // bytes from the start of the record to the object
	ObjLen  int64 // bytes of the object, uncompressed

	stored rootfile.Key
}

func makeKey(k rootfile.Key) Key {
	return Key{k.Class, k.Name, k.Title, k.CycleNumber(), k.SeekKey, int64(k.NBytes), int(k.KeyLen), int64(k.ObjLen), k}
}

// ReadKey reads the key at the start of a record from a big-endian codec. Errors are reported by
// the codec.
func ReadKey(c *frame.Codec) Key {
	var k rootfile.Key
	k.Wire(c)
	return makeKey(k)
}

// A File is an open ROOT file. It is safe for concurrent use.
type File struct {
	r    input.File
	root *rootfile.File
}

// Open opens the ROOT file at a path or a URL. The context and the options apply to remote files;
// the context is used for all reads from the file.
func Open(ctx context.Context, name string, far *remote.Options) (*File, error) {
	at := location.Parse(name)
	r, size, err := input.Open(ctx, at, false, *cmp.Or(far, new(remote.Options)))
	if err != nil {
		return nil, err
	}
	root, err := rootfile.Open(r, size)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return &File{r, root}, nil
}

// Close closes the file.
func (f *File) Close() error { return f.r.Close() }

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.root.Size() }

// ReadAt implements io.ReaderAt, for example to read records that no directory lists.
func (f *File) ReadAt(p []byte, offset int64) (int, error) { return f.r.ReadAt(p, offset) }

// Walk calls visit for all keys in the directories of the file, in the order of their lists; the
// keys in a directory follow the directory's own key. dir is the path of the directory, "" for the
// top-level one. Walk stops at the first error, including those of visit, and returns it.
func (f *File) Walk(visit func(dir string, k Key) error) error {
	return f.root.Walk(func(dir string, k rootfile.Key) error { return visit(dir, makeKey(k)) })
}

// Find returns the key of the object at path, "name" or "dir/sub/name". If there are several
// cycles, it returns the highest, or the one selected by the path, "dir/name;2". If classes are
// given, objects of other classes are ignored. The error wraps ErrNotFound if there is no such
// object.
func (f *File) Find(path string, class ...string) (Key, error) {
	k, err := f.root.Find(path, class...)
	return makeKey(k), err
}

// Object reads and decompresses the object of a key of this file. It returns an error if the key
// differs from the copy in the record, because a corrupt list of keys could otherwise yield another
// object.
func (f *File) Object(k Key) ([]byte, error) { return f.root.Payload(k.stored) }

// StreamerInfo reads the list of TStreamerInfo of the file, which describes the classes of its
// objects. It returns nil if the file has none.
func (f *File) StreamerInfo() (k Key, object []byte, err error) {
	const largest = 1 << 10 // of the names in keys that no directory lists; most are shorter
	at, size := f.root.Header.SeekInfo, f.Size()
	switch {
	case at == 0:
		return k, nil, nil
	case at < 0 || at >= size:
		return k, nil, fmt.Errorf("streamer information: %w", frame.Corrupt("a record at byte %d of %d", at, size))
	}
	b := make([]byte, min(largest, size-at))
	if _, err := f.r.ReadAt(b, at); err != nil && err != io.EOF {
		return k, nil, fmt.Errorf("streamer information: %w", err)
	}
	c := frame.NewReader(b, "key", at).BigEndian()
	if k = ReadKey(c); c.Err() != nil {
		return k, nil, fmt.Errorf("streamer information: %w", c.Err())
	}
	object, err = rootfile.ReadPayload(f.r, size, k.stored)
	return k, object, err
}
