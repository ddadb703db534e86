package legacy

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// Bare is an RNTuple in a file that is not a ROOT file: it has a head of its own
// and no keys. ROOT can write such files for tests.
type Bare struct {
	Name   string
	Class  string // of the anchor
	Anchor []byte // the object, as in a ROOT file
}

var bareMagic = []byte("rntuple")

// maxBare exceeds the size of any head.
const maxBare = 1024

// ReadBare reads the head of a bare file of size bytes. It returns nil if the file
// is of another kind.
func ReadBare(r io.ReaderAt, size int64) (*Bare, error) {
	b := make([]byte, min(size, maxBare))
	if n, err := r.ReadAt(b, 0); n < len(b) && !errors.Is(err, io.EOF) {
		return nil, err
	} else if b = b[:n]; !bytes.HasPrefix(b, bareMagic) {
		return nil, nil
	}
	bare := new(Bare)
	c := frame.NewReader(b, "bare RNTuple", 0).BigEndian()
	bare.wire(c)
	return bare, c.Err()
}

// wire describes the head. An anchor without contents precedes the name; the real
// one follows it.
func (f *Bare) wire(c *frame.Codec) {
	var magic, dummy []byte
	var version, format, compression uint32 // of ROOT, always 1, settings
	c.Raw("magic", len(bareMagic), &magic)
	frame.Int(c, "ROOT version", &version)
	frame.Int(c, "format", &format)
	frame.Int(c, "compression settings", &compression)
	wireAnchor(c, "dummy", &dummy)
	var n uint8 // a name of 255 bytes or more is as unlikely as a bare file
	frame.Int(c, "length of name", &n)
	name := []byte(nil)
	c.Raw("name", int(n), &name)
	f.Name = string(name)
	class := wireAnchor(c, "anchor", &f.Anchor)
	f.Class = anchor.ExperimentalClassName
	switch {
	case c.Err() != nil:
		return
	case class == anchor.ClassVersion:
		f.Class = anchor.ClassName
	case class < classNoMax: // its checksum, if it has one, is part of the object
		return
	}
	// The checksum follows; unlike in a ROOT file, it is little-endian.
	var sum []byte
	c.Raw("checksum", checksum.Size, &sum)
	sum = slices.Clone(sum)
	slices.Reverse(sum)
	f.Anchor = append(slices.Clip(f.Anchor), sum...)
}

// wireAnchor reads an object of the length that its byte count gives and returns
// its class version.
func wireAnchor(c *frame.Codec, name string, object *[]byte) (class uint16) {
	c.Within(name, func() {
		var count uint32
		at := *c // to return to
		frame.Int(c, "byte count", &count)
		frame.Int(c, "class version", &class)
		if c.Err() == nil && (count&countFlag == 0 || count&^countFlag > maxBare) {
			c.Fail("byte count", frame.Corrupt("is %#x", count))
		}
		if c.Err() == nil {
			*c = at
			c.Raw("object", int(count&^countFlag)+4, object)
		}
	})
	return class
}
