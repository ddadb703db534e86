package legacy

import (
	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// The class versions of ROOT::Experimental::RNTuple that occur in files. From
// classRC2 on, the anchor holds the version of the format.
const (
	classV0    = 0 // ROOT 6.20 to 6.26
	classRC1   = 3 // until 6.30
	classRC2   = 4 // 6.32
	classNoMax = 5 // development versions, without a maximal key size
	classMax   = 6 // the layout of format 1
)

const countFlag = 1 << 30 // of the byte count, see package anchor

// ParseAnchor reads an anchor of class ROOT::Experimental::RNTuple.
func ParseAnchor(b []byte) (*anchor.Anchor, error) {
	var count uint32
	var version uint16
	c := frame.NewReader(b, "anchor", 0).BigEndian()
	frame.Int(c, "byte count", &count)
	frame.Int(c, "class version", &version)
	if c.Err() != nil {
		return nil, c.Err()
	}
	c = frame.NewReader(b, "anchor", 0).BigEndian()
	switch version {
	case classV0, classRC1:
		o := new(oldAnchor)
		o.Wire(c)
		return &o.Anchor, end(c)
	case classRC2, classNoMax:
		m := new(midAnchor)
		m.Wire(c)
		if err := end(c); err != nil {
			return nil, err
		}
		if err := checksum.Verify(m.Checksum, b[6:len(b)-checksum.Size]); err != nil {
			c.Fail("checksum", err)
			return nil, c.Err()
		}
		return &m.Anchor, nil
	case classMax:
		return anchor.Parse(b)
	}
	return nil, &frame.FormatError{Offset: 4, Path: "anchor.class version",
		Err: frame.Unsupported("pre-release format: anchor of %d bytes and class version %d", len(b), version)}
}

// end returns the error of c, or one that says that c has bytes left.
func end(c *frame.Codec) error {
	if n := c.Left(); n > 0 {
		c.Fail("end", frame.Corrupt("%d bytes follow", n))
	}
	return c.Err()
}

// oldAnchor is the anchor of ROOT 6.20 to 6.30.
type oldAnchor struct {
	anchor.Anchor
	ClassChecksum       uint32 // of the streamer info; depends on the writer
	StructVersion, Size uint32 // of the structure; not used
	Reserved            uint64
}

// Wire describes the object with ROOT's byte count and class version.
func (o *oldAnchor) Wire(c *frame.Codec) {
	frame.Const[uint32](c, "byte count", countFlag|54)
	frame.Int(c, "class version", &o.ClassVersion)
	frame.Int(c, "class checksum", &o.ClassChecksum)
	frame.Int(c, "version", &o.StructVersion)
	frame.Int(c, "size", &o.Size)
	frame.Int(c, "seek header", &o.SeekHeader)
	wireSize(c, "nbytes header", &o.NBytesHeader)
	wireSize(c, "len header", &o.LenHeader)
	frame.Int(c, "seek footer", &o.SeekFooter)
	wireSize(c, "nbytes footer", &o.NBytesFooter)
	wireSize(c, "len footer", &o.LenFooter)
	frame.Int(c, "reserved", &o.Reserved)
}

// wireSize describes a size of 32 bits.
func wireSize(c *frame.Codec, name string, size *uint64) {
	n := uint32(*size)
	frame.Int(c, name, &n)
	*size = uint64(n)
}

// midAnchor is the anchor of ROOT 6.32 and of the development versions that
// followed it.
type midAnchor struct {
	anchor.Anchor
	Checksum uint64
}

// Wire describes the object with ROOT's byte count, which includes the checksum
// only in ROOT 6.32, and its class version.
func (m *midAnchor) Wire(c *frame.Codec) {
	start := c.Pos()
	var count uint32
	frame.Int(c, "byte count", &count)
	frame.Int(c, "class version", &m.ClassVersion)
	want := uint32(countFlag | 66)
	if m.ClassVersion == classNoMax {
		want -= checksum.Size
	}
	if c.Writing() {
		frame.Patch(c, start, want)
	} else if count != want {
		c.Fail("byte count", frame.Corrupt("is %#x, expected %#x", count, want))
	}
	frame.Int(c, "version epoch", &m.Epoch)
	frame.Int(c, "version major", &m.Major)
	frame.Int(c, "version minor", &m.Minor)
	frame.Int(c, "version patch", &m.Patch)
	frame.Int(c, "seek header", &m.SeekHeader)
	frame.Int(c, "nbytes header", &m.NBytesHeader)
	frame.Int(c, "len header", &m.LenHeader)
	frame.Int(c, "seek footer", &m.SeekFooter)
	frame.Int(c, "nbytes footer", &m.NBytesFooter)
	frame.Int(c, "len footer", &m.LenFooter)
	frame.Int(c, "checksum", &m.Checksum)
}
