package rootfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
)

// BlobClassName is the class name of the keys of an RNTuple's pages and
// envelopes, which no directory lists.
const BlobClassName = "RBlob"

// firstRead is how much Open reads at once: enough for the header and, unless
// names are very long, the top directory.
const firstRead = 1024

// An object may be maxRatio times as large as the file, and minLimit bytes in any
// case.
const (
	maxRatio = 4096
	minLimit = 4 << 20
)

// A File is an open ROOT file. It keeps nothing but the header and the top
// directory, and is safe for concurrent use if the io.ReaderAt is.
type File struct {
	Header Header
	Root   Root
	// Misnamed is the error in the names before the top directory, or nil. No reader needs them.
	Misnamed error

	r     io.ReaderAt
	size  int64
	grows bool        // r can tell the size, so it may be a file that grows
	start []rawRecord // what the header and the top directory were read from
}

// Open reads the header and the top directory of a ROOT file of size bytes. If the
// file has grown since its size was taken, and r has a method Stat or Size as os.File
// and bytes.Reader have, the size is taken again.
//
// A truncated file, whose Header.End lies beyond its end, can be opened; reading
// what is missing is an error.
func Open(r io.ReaderAt, size int64) (*File, error) {
	return Retry(context.Background(), func() (*File, error) {
		f, err := open(r, size)
		if err == nil {
			return f, nil
		}
		t := Trail{f, f.start} // a commit may have come in between
		return nil, t.Check(err)
	})
}

// open returns a File even if there is an error.
func open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	head, err := f.read("header", 0, min(size, firstRead))
	if err != nil {
		return f, err
	}
	f.start = []rawRecord{{0, head}}
	c := reader(head, "header", 0)
	if err := foreign(head); err != nil {
		return f, &frame.FormatError{Err: err}
	}
	f.Header.Wire(c)
	if n := f.Header.NBytesName; c.Err() == nil && (n < minNameSize || n > maxNameSize) {
		c.Fail("nbytes name", frame.Corrupt("%d bytes before the top directory, expected %d to %d", n,
			minNameSize, maxNameSize))
	}
	if c.Err() != nil {
		return f, c.Err()
	}
	now, ok := sizeOf(r)
	if f.grows = ok; ok && f.Header.End > size {
		f.size = max(size, now)
	}
	return f, f.readRoot(head)
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// readRoot reads the first record; head is the start of the file.
func (f *File) readRoot(head []byte) error {
	const what = "first record"
	begin, names := int64(f.Header.Begin), int(f.Header.NBytesName)
	var b []byte
	if n := begin + int64(names) + directorySize; n <= int64(len(head)) || int64(len(head)) == f.size {
		b = head[min(begin, int64(len(head))):]
		f.start = []rawRecord{{0, head[:min(n, int64(len(head)))]}}
	} else {
		var err error
		if b, err = f.readUpTo(what, begin, int64(names)+directorySize); err != nil {
			return err
		}
		f.start = []rawRecord{{0, head[:min(begin, int64(len(head)))]}, {begin, b}}
	}
	c := reader(b, what, begin)
	// The header gives the place of the directory, so the names before it must end there.
	// If they do not, which ROOT does not notice, the directory must say where it is.
	c.Window("names", names, func() {
		head := reader(c.Unread(), what, begin)
		if f.Root.wireHead(head); head.Left() > 0 && head.Err() == nil {
			head.Fail("names", frame.Corrupt("%d bytes before the top directory, expected %d", names, names-head.Left()))
		}
		f.Misnamed = head.Err()
	})
	f.Root.Directory.Wire(c)
	if c.Err() == nil && f.Misnamed != nil && f.Root.SeekDir != begin {
		return f.Misnamed
	}
	if c.Err() == nil && f.Root.SeekKeys == 0 {
		// ROOT writes the list of keys when it closes the file.
		c.Fail("seek keys", frame.Corrupt("there is no list of keys: the file %s", notClosed))
	}
	return c.Err()
}

// notClosed says why a file lacks what is written when it is closed, and what helps.
const notClosed = "was never closed, or its writer crashed; rnt recover saves what is left of its RNTuples"

// foreign returns an error if head does not begin a ROOT file.
func foreign(head []byte) error {
	switch {
	case len(head) == 0:
		return foreignError("the file is empty")
	case bytes.HasPrefix(head, []byte("root")) && (len(head) == 4 || head[4] == 0 || head[4] == 0xff):
		return nil // versions of ROOT have less than 25 bits and a sign; text may also begin with "root"
	case bytes.HasPrefix(head, []byte("rntuple")):
		return frame.Unsupported("a bare RNTuple without a ROOT file around it")
	case len(head) >= 4 && len(bytes.Trim(head[:min(len(head), 100)], "\x00")) == 0:
		return foreignError("the file begins with zeros: it " + notClosed)
	}
	return foreignError(fmt.Sprintf("not a ROOT file: it begins with %q", head[:min(len(head), 8)]))
}

// A foreignError says that a file is not a ROOT file. It counts as corrupt.
type foreignError string

func (e foreignError) Error() string        { return string(e) }
func (e foreignError) Is(target error) bool { return target == frame.ErrCorrupt }

// Payload reads the object whose key is k, and decompresses it if necessary to
// k.ObjLen bytes. It makes sure that the record agrees with k, which a directory
// lists. The payload of an RBlob is returned as it is stored.
func (f *File) Payload(k Key) ([]byte, error) {
	what := fmt.Sprintf("%s %q", k.Class, k.Name)
	n := int64(k.NBytes) - int64(k.KeyLen)
	if n < 0 || k.SeekKey < 0 {
		return nil, &frame.FormatError{Offset: k.SeekKey, Path: what,
			Err: frame.Corrupt("record of %d bytes with a key of %d", k.NBytes, k.KeyLen)}
	}
	offset, length := k.SeekKey+int64(k.KeyLen), int64(k.ObjLen)
	b, err := f.read(what, k.SeekKey, int64(k.NBytes))
	if err != nil {
		return nil, err
	}
	record, b := b, b[k.KeyLen:]
	if k.Class == BlobClassName { // its key does not tell whether it is compressed; and no directory lists it
		return b, nil
	}
	if err := k.confirm(record); err != nil {
		return nil, err
	}
	if length <= n {
		return b[:length], nil
	}
	// The file claims this length: compare it with the size of the file and with
	// the blocks first.
	if limit := max(minLimit, min(f.size, math.MaxInt64/maxRatio)*maxRatio); length > limit {
		return nil, &frame.FormatError{Offset: k.SeekKey, Path: what,
			Err: frame.Unsupported("object of %d bytes, the limit is %d", length, limit)}
	}
	if err = compress.Check(b, length); err == nil {
		object := make([]byte, length)
		if err = compress.Decompress(object, b); err == nil {
			return object, nil
		}
	}
	return nil, fmt.Errorf("%s at offset %#x: %w", what, offset, err)
}

// readUpTo returns n bytes of the file, or as many as there are.
func (f *File) readUpTo(what string, offset, n int64) ([]byte, error) {
	return f.read(what, offset, max(0, min(n, f.size-offset)))
}

// read returns n bytes of the file. It allocates no more than the size of the file.
func (f *File) read(what string, offset, n int64) ([]byte, error) {
	fail := func(err error) error {
		if f.Header.End > f.size {
			err = fmt.Errorf("%w (the file is truncated: it has %d of %d bytes)", err, f.size, f.Header.End)
		}
		return &frame.FormatError{Offset: offset, Path: what, Err: err}
	}
	if offset < 0 || n < 0 || offset > f.size || n > f.size-offset {
		return nil, fail(frame.Corrupt("%d bytes are beyond the end of the file, %#x", n, f.size))
	}
	b := make([]byte, n)
	switch got, err := f.r.ReadAt(b, offset); {
	case int64(got) == n: // an io.EOF that comes with the last bytes is no error
		return b, nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fail(frame.Corrupt("file ends after %d of %d bytes", got, n))
	default:
		return nil, fmt.Errorf("%s: read %d bytes at offset %#x: %w", what, n, offset, err)
	}
}

func reader(b []byte, what string, offset int64) *frame.Codec {
	return frame.NewReader(b, what, offset).BigEndian()
}

// decoded returns the record, or the part of one, at the start of b.
func decoded[T any, R interface {
	*T
	Wire(*frame.Codec)
}](b []byte, what string, offset int64) (v T, err error) {
	c := reader(b, what, offset)
	R(&v).Wire(c)
	return v, c.Err()
}
