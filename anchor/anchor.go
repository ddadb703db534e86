package anchor

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
)

// The class names that the key of an anchor has in its directory.
const (
	ClassName             = "ROOT::RNTuple"
	ExperimentalClassName = "ROOT::Experimental::RNTuple" // before the first stable format
)

// IsClass reports whether a class name in a directory is that of an anchor.
func IsClass(name string) bool { return name == ClassName || name == ExperimentalClassName }

// MaxSize is the size in bytes above which readers should refuse an anchor. It far exceeds the 78
// bytes of today's anchors.
const MaxSize = 1 << 16

// ClassVersion is the class version of ROOT::RNTuple that this library writes.
const ClassVersion = 2

// Epoch is the version epoch that this library reads.
const Epoch = 1

// lastCandidate is the major version of the last release candidate, in epoch 0. It
// became format 1.0.0.0 without a change.
const lastCandidate = 3

// An Anchor is the entry point to an RNTuple.
//
// Seek members are bytes from the start of the file and point at an envelope,
// not at the key before it. NBytes members are the sizes in the file, Len
// members those of the uncompressed envelopes.
type Anchor struct {
	ClassVersion uint16

	// The format version that the writer supports.
	Epoch, Major, Minor, Patch uint16

	SeekHeader, NBytesHeader, LenHeader uint64
	SeekFooter, NBytesFooter, LenFooter uint64

	// MaxKeySize is the size above which a payload is split, see Split. If it is
	// zero, payloads are never split.
	MaxKeySize uint64

	Extra []byte // members that newer class versions append
}

// New returns an anchor of the format version that this library writes, which points
// at a header and a footer.
func New(header, footer locator.Link, maxKeySize uint64) *Anchor {
	return &Anchor{
		ClassVersion: ClassVersion, Epoch: Epoch, Minor: 2,
		SeekHeader: header.Locator.Offset, NBytesHeader: header.Locator.Size, LenHeader: header.Length,
		SeekFooter: footer.Locator.Offset, NBytesFooter: footer.Locator.Size, LenFooter: footer.Length,
		MaxKeySize: maxKeySize,
	}
}

// Header returns where the header is.
func (a *Anchor) Header() locator.Link {
	return locator.Link{Length: a.LenHeader, Locator: locator.At(a.SeekHeader, a.NBytesHeader)}
}

// Footer returns where the footer is.
func (a *Anchor) Footer() locator.Link {
	return locator.Link{Length: a.LenFooter, Locator: locator.At(a.SeekFooter, a.NBytesFooter)}
}

// Sizes in bytes.
const (
	countSize   = 4
	versionSize = 2
	sumSize     = 8
	hashFrom    = countSize + versionSize // the checksum covers what follows the class version
	minSize     = hashFrom + 4*2 + 7*8 + sumSize
)

// ROOT marks the byte count before an object with a flag, as the same place
// can hold a class version in very old files.
const (
	countFlag = 1 << 30
	countMask = countFlag - 1
)

// wire describes an anchor without its checksum. It begins with ROOT's byte count
// and class version, which the specification omits.
func (a *Anchor) wire(c *frame.Codec) {
	// ROOT's byte count covers neither itself nor the checksum.
	n := minSize - countSize - sumSize + len(a.Extra)
	if !c.Writing() {
		n = c.Left() - countSize
	} else if n > countMask {
		c.Fail("byte count", fmt.Errorf("%d bytes do not fit an anchor", n))
		return
	}
	frame.Const(c, "byte count", countFlag|uint32(n))
	frame.Int(c, "class version", &a.ClassVersion)
	frame.Int(c, "version epoch", &a.Epoch)
	frame.Int(c, "version major", &a.Major)
	frame.Int(c, "version minor", &a.Minor)
	frame.Int(c, "version patch", &a.Patch)
	frame.Int(c, "seek header", &a.SeekHeader)
	frame.Int(c, "nbytes header", &a.NBytesHeader)
	frame.Int(c, "len header", &a.LenHeader)
	frame.Int(c, "seek footer", &a.SeekFooter)
	frame.Int(c, "nbytes footer", &a.NBytesFooter)
	frame.Int(c, "len footer", &a.LenFooter)
	frame.Int(c, "max key size", &a.MaxKeySize)
	c.Rest(&a.Extra)
}

// Parse reads an anchor from the uncompressed payload of its key and verifies its
// checksum. It accepts any format version, see Supported. The layouts of
// pre-release versions of ROOT give an error that wraps frame.ErrUnsupported.
func Parse(b []byte) (*Anchor, error) {
	c := frame.NewReader(b, "anchor", 0).BigEndian()
	if len(b) < minSize {
		if v, ok := preRelease(b); ok {
			c.Fail("class version", frame.Unsupported("anchor of class version %d, from a pre-release version of RNTuple", v))
		} else {
			c.Fail("byte count", frame.Corrupt("need %d bytes, have %d", minSize, len(b)))
		}
		return nil, c.Err()
	}
	a := new(Anchor)
	end := len(b) - sumSize
	c.Window("members", end, func() { a.wire(c) })
	var stored uint64
	if c.Err() == nil {
		frame.Int(c, "checksum", &stored)
		if err := checksum.Verify(stored, b[hashFrom:end]); err != nil {
			c.Fail("checksum", err)
		}
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	return a, nil
}

// Append appends the anchor and its checksum to dst.
func (a *Anchor) Append(dst []byte) ([]byte, error) {
	start := len(dst)
	c := frame.NewWriter(dst, "anchor").BigEndian()
	a.wire(c)
	b, err := c.Bytes()
	if err != nil {
		return dst, err
	}
	sum := checksum.Sum(b[start+hashFrom:])
	frame.Int(c, "checksum", &sum)
	return c.Bytes()
}

// Version returns the format version in the usual notation, "1.0.2.0".
func (a *Anchor) Version() string {
	return fmt.Sprintf("%d.%d.%d.%d", a.Epoch, a.Major, a.Minor, a.Patch)
}

// String returns the format version and where header and footer lie.
func (a *Anchor) String() string {
	return fmt.Sprintf("RNTuple %s: header of %d bytes, stored as %v; footer of %d bytes, stored as %v",
		a.Version(), a.LenHeader, locator.At(a.SeekHeader, a.NBytesHeader), a.LenFooter,
		locator.At(a.SeekFooter, a.NBytesFooter))
}

// Supported returns nil if this library reads the format version of a, else an
// error that wraps frame.ErrUnsupported. All versions within an epoch can be read:
// the feature flags of the header and the footer tell what else a reader must
// know. Specification: "Versioning Notes".
func (a *Anchor) Supported() error {
	switch {
	case a.Epoch == 0 && a.Major == lastCandidate:
		return nil
	case a.Epoch < Epoch:
		return frame.Unsupported("RNTuple format %s is a pre-release version, older than epoch %d", a.Version(), Epoch)
	case a.Epoch > Epoch:
		return frame.Unsupported("RNTuple format %s is newer than this library, which knows epoch %d", a.Version(), Epoch)
	}
	return nil
}

// preRelease reports whether b has the layout of a pre-release anchor, which is
// shorter than that of format 1, and returns its class version.
func preRelease(b []byte) (version uint16, ok bool) {
	var count uint32
	c := frame.NewReader(b, "", 0).BigEndian()
	frame.Int(c, "", &count)
	frame.Int(c, "", &version)
	if c.Err() != nil {
		return 0, false
	}
	for _, known := range []struct {
		version     uint16
		count, size uint32
	}{
		{0, 54, 58}, // ROOT 6.20 to 6.26
		{3, 54, 58}, // until 6.30
		{4, 66, 70}, // 6.32: the byte count includes the checksum
		{5, 58, 70}, // development versions: no maximal key size yet
	} {
		if known.version == version && count == countFlag|known.count && uint64(len(b)) == uint64(known.size) {
			return version, true
		}
	}
	return 0, false
}
