package legacy

import (
	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/wire"
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
	c := wire.NewReader(b, "anchor", 0).BigEndian()
	wire.Int(c, "byte count", &count)
	wire.Int(c, "class version", &version)
	if c.Err() != nil {
		return nil, c.Err()
	}
	switch version {
	case classV0, classRC1:
		o := new(oldAnchor)
		c = wire.NewReader(b, "anchor", 0).BigEndian()
		o.Wire(c)
		return o.lift(), end(c)
	case classRC2, classNoMax:
		m := new(midAnchor)
		c = wire.NewReader(b, "anchor", 0).BigEndian()
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
	return nil, &wire.FormatError{Offset: 4, Path: "anchor.class version", Err: wire.Unsupported("pre-release format: anchor of %d bytes and class version %d", len(b), version)}
}

// end returns the error of c, or one that says that c has bytes left.
func end(c *wire.Codec) error {
	if n := c.Left(); n > 0 {
		c.Fail("end", wire.Corrupt("%d bytes follow", n))
	}
	return c.Err()
}

// oldAnchor is the anchor of ROOT 6.20 to 6.30.
type oldAnchor struct {
	ClassVersion            uint16
	ClassChecksum           uint32 // of the streamer info; depends on the writer
	Version, Size           uint32 // of the structure; not used
	SeekHeader              uint64
	NBytesHeader, LenHeader uint32
	SeekFooter              uint64
	NBytesFooter, LenFooter uint32
	Reserved                uint64
}

// Wire describes the object with ROOT's byte count and class version.
func (o *oldAnchor) Wire(c *wire.Codec) {
	wire.Const[uint32](c, "byte count", countFlag|54)
	wire.Int(c, "class version", &o.ClassVersion)
	wire.Int(c, "class checksum", &o.ClassChecksum)
	wire.Int(c, "version", &o.Version)
	wire.Int(c, "size", &o.Size)
	wire.Int(c, "seek header", &o.SeekHeader)
	wire.Int(c, "nbytes header", &o.NBytesHeader)
	wire.Int(c, "len header", &o.LenHeader)
	wire.Int(c, "seek footer", &o.SeekFooter)
	wire.Int(c, "nbytes footer", &o.NBytesFooter)
	wire.Int(c, "len footer", &o.LenFooter)
	wire.Int(c, "reserved", &o.Reserved)
}

func (o *oldAnchor) lift() *anchor.Anchor {
	return &anchor.Anchor{
		ClassVersion: o.ClassVersion,
		SeekHeader:   o.SeekHeader, NBytesHeader: uint64(o.NBytesHeader), LenHeader: uint64(o.LenHeader),
		SeekFooter: o.SeekFooter, NBytesFooter: uint64(o.NBytesFooter), LenFooter: uint64(o.LenFooter),
	}
}

// midAnchor is the anchor of ROOT 6.32 and of the development versions that
// followed it.
type midAnchor struct {
	anchor.Anchor
	Checksum uint64
}

// Wire describes the object with ROOT's byte count, which includes the checksum
// only in ROOT 6.32, and its class version.
func (m *midAnchor) Wire(c *wire.Codec) {
	start := c.Pos()
	var count uint32
	wire.Int(c, "byte count", &count)
	wire.Int(c, "class version", &m.ClassVersion)
	want := uint32(countFlag | 66)
	if m.ClassVersion == classNoMax {
		want -= checksum.Size
	}
	if c.Writing() {
		wire.Patch(c, start, want)
	} else if count != want {
		c.Fail("byte count", wire.Corrupt("is %#x, expected %#x", count, want))
	}
	wire.Int(c, "version epoch", &m.Epoch)
	wire.Int(c, "version major", &m.Major)
	wire.Int(c, "version minor", &m.Minor)
	wire.Int(c, "version patch", &m.Patch)
	wire.Int(c, "seek header", &m.SeekHeader)
	wire.Int(c, "nbytes header", &m.NBytesHeader)
	wire.Int(c, "len header", &m.LenHeader)
	wire.Int(c, "seek footer", &m.SeekFooter)
	wire.Int(c, "nbytes footer", &m.NBytesFooter)
	wire.Int(c, "len footer", &m.LenFooter)
	wire.Int(c, "checksum", &m.Checksum)
}
