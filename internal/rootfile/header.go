package rootfile

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A Header is the first record of a ROOT file.
//
// The big form has 64-bit file positions. ROOT uses it when the file is longer than
// 2 GB, but a file of any length may have either form.
type Header struct {
	Version     int32 // of ROOT: 10000*major + 100*minor + patch; of special builds, 1000000 less
	Big         bool
	Begin       uint32 // position of the first record, 100
	End         int64  // first free byte; padding may follow, and a truncated file ends before it
	SeekFree    int64  // of the list of free segments; 0 while the file is being written
	NBytesFree  uint32
	NFree       uint32
	NBytesName  uint32 // bytes from Begin to the directory in the first record, see Root
	Units       uint8  // bytes of a file position; readers go by the version instead
	Compression uint32 // default of the file; objects may differ
	SeekInfo    int64  // of the list of streamer infos; 0: none
	NBytesInfo  uint32
	UUIDVersion uint16
	UUID        [16]byte // ROOT leaves it zero in files of RNTupleWriter
}

const (
	magic      = 0x726f6f74 // "root"
	bigVersion = 1000000    // is added to the version in the big form

	// The number of bytes from Begin to the directory that ROOT accepts.
	minNameSize, maxNameSize = 10, 10000
)

// Wire describes a file header; the bytes after it, up to Begin, are zero.
func (h *Header) Wire(c *frame.Codec) {
	version := h.Version
	if h.Big { // a negative version plus bigVersion would say that the form is small
		version = (version+bigVersion)%bigVersion + bigVersion
	}
	frame.Const(c, "magic", uint32(magic))
	frame.Int(c, "version", &version)
	if !c.Writing() {
		if h.Version, h.Big = version, version >= bigVersion; h.Big {
			h.Version %= bigVersion
		}
	}
	frame.Int(c, "begin", &h.Begin)
	seek(c, "end", h.Big, &h.End)
	seek(c, "seek free", h.Big, &h.SeekFree)
	frame.Int(c, "nbytes free", &h.NBytesFree)
	frame.Int(c, "nfree", &h.NFree)
	frame.Int(c, "nbytes name", &h.NBytesName)
	frame.Int(c, "units", &h.Units)
	frame.Int(c, "compression", &h.Compression)
	seek(c, "seek info", h.Big, &h.SeekInfo)
	frame.Int(c, "nbytes info", &h.NBytesInfo)
	frame.Int(c, "uuid version", &h.UUIDVersion)
	uuid(c, &h.UUID)
}

// seek reads or writes a file position, of 64 bits in the big form of a record
// and of 32 bits in the small one.
func seek(c *frame.Codec, name string, big bool, v *int64) {
	if big {
		frame.Int(c, name, v)
		return
	}
	if c.Writing() && (*v < 0 || *v > math.MaxUint32) {
		c.Fail(name, fmt.Errorf("%#x does not fit the small form", *v))
		return
	}
	small := uint32(*v)
	frame.Int(c, name, &small)
	*v = int64(small)
}

func uuid(c *frame.Codec, v *[16]byte) {
	b := v[:]
	c.Raw("uuid", len(v), &b)
	copy(v[:], b)
}

// String reads or writes a string in the form that ROOT uses in keys: the length in
// a byte, or in the next 4 bytes if that is 255.
func String(c *frame.Codec, name string, v *string) {
	const long = 255
	n := uint8(min(len(*v), long))
	frame.Int(c, name, &n)
	if c.Err() != nil {
		return
	}
	if n == long {
		c.String(name, v)
		return
	}
	b := []byte(*v)
	c.Raw(name, int(n), &b)
	if c.Err() == nil {
		*v = string(b)
	}
}

// stringSize returns the number of bytes that String writes.
func stringSize(s string) int {
	if len(s) < 255 {
		return 1 + len(s)
	}
	return 1 + 4 + len(s)
}
