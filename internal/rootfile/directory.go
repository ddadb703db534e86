package rootfile

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A Directory is the record that says where the keys of a directory are listed.
type Directory struct {
	Version    uint16 // 5; more than 1000 in the big form; 1 in RNTuple files of ROOT 6.20 to 6.26
	Created    Datime
	Modified   Datime
	NBytesKeys uint32 // of the key list, its own key included
	NBytesName uint32 // from SeekDir to this record
	SeekDir    int64  // of the record that this one is the payload of
	SeekParent int64  // of the parent; of the top directory in files of ROOT before 6.38
	SeekKeys   int64  // of the key list; 0: none

	// Not in version 1. ROOT overwrites parts of these in some files longer than 2
	// GB; no reader uses them.
	UUIDVersion uint16
	UUID        [16]byte
}

// directorySize is the number of bytes of a directory record. It is the same for
// both forms, so that ROOT can overwrite one with the other. Older versions are
// shorter.
const directorySize = 60

// The first class versions in which a directory record has a UUID, and in which it
// has the size of the big form.
const (
	uuidSince    = 2
	paddingSince = 5
)

// Big reports whether the record has the big form.
func (d *Directory) Big() bool { return d.Version > BigVersion }

// Wire describes a directory record.
func (d *Directory) Wire(c *frame.Codec) {
	frame.Int(c, "version", &d.Version)
	frame.Int(c, "created", &d.Created)
	frame.Int(c, "modified", &d.Modified)
	frame.Int(c, "nbytes keys", &d.NBytesKeys)
	frame.Int(c, "nbytes name", &d.NBytesName)
	seek(c, "seek dir", d.Big(), &d.SeekDir)
	seek(c, "seek parent", d.Big(), &d.SeekParent)
	seek(c, "seek keys", d.Big(), &d.SeekKeys)
	version := d.Version % BigVersion
	if version < uuidSince {
		return
	}
	frame.Int(c, "uuid version", &d.UUIDVersion)
	uuid(c, &d.UUID)
	if version >= paddingSince && !d.Big() {
		padding := make([]byte, 3*4) // the three positions are 4 bytes longer each in the big form
		c.Raw("padding", len(padding), &padding)
	}
}

// A Root is the first record of a file, which holds its top directory.
type Root struct {
	Key         Key // class TFile
	Name, Title string
	Directory
}

// Wire describes the first record of a file.
func (r *Root) Wire(c *frame.Codec) {
	r.wireHead(c)
	r.Directory.Wire(c)
}

// wireHead describes the bytes before the directory, Header.NBytesName of them.
func (r *Root) wireHead(c *frame.Codec) {
	c.Within("key", func() { r.Key.Wire(c) })
	String(c, "name", &r.Name)
	String(c, "title", &r.Title)
}

// A KeyList is the record that lists the keys of a directory.
type KeyList struct {
	Key   Key
	Keys  []Key
	Extra []byte // bytes after the keys: TFile leaves some in big files
}

// Wire describes a key list.
func (l *KeyList) Wire(c *frame.Codec) {
	c.Within("key", func() { l.Key.Wire(c) })
	n := uint32(len(l.Keys))
	if c.Writing() && len(l.Keys) > math.MaxInt32 {
		c.Fail("number of keys", fmt.Errorf("%d keys", len(l.Keys)))
		return
	}
	frame.Int(c, "number of keys", &n)
	if !c.Writing() && c.Err() == nil {
		if uint64(n) > uint64(c.Left()/minKey) {
			c.Fail("number of keys", frame.Corrupt("%d keys in %d bytes", n, c.Left()))
			return
		}
		l.Keys = make([]Key, n)
	}
	c.Within("keys", func() {
		for i := range l.Keys {
			if c.Err() != nil {
				return
			}
			c.Element(i, func() { l.Keys[i].Wire(c) })
		}
	})
	c.Rest(&l.Extra)
}
