package rootfile

import (
	"fmt"
	"math"
	"time"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A Key is the head of every record of a ROOT file. A directory lists copies
// of the keys of its objects.
type Key struct {
	NBytes   int32  // of the record: the key and its payload
	Version  uint16 // 4; more than 1000 in the big form, which ROOT chooses key by key
	ObjLen   uint32 // bytes of the uncompressed payload; meaningless in an RBlob
	Datime   Datime
	KeyLen   uint16 // from the start of the record to the payload
	Cycle    int16  // distinguishes keys of the same name; negative in some files, see CycleNumber
	SeekKey  int64  // of the record
	SeekPdir int64  // of the record of the directory that the key is in
	// ProcessID is stored in the upper bits of SeekPdir in the big form; ROOT needs
	// it for references between objects.
	ProcessID uint16

	Class, Name, Title string
}

// Versions of the records that have a small and a big form.
const (
	KeyVersion       = 4
	DirectoryVersion = 5
	BigVersion       = 1000 // is added to the version in the big form
)

const (
	seekBits   = 48     // of SeekPdir; the other bits are ProcessID
	minKey     = 26 + 3 // bytes of the shortest key: the fixed part, and three empty strings
	smallFixed = 26
	bigFixed   = 34
)

// Big reports whether the key has the big form.
func (k *Key) Big() bool { return k.Version > BigVersion }

// CycleNumber returns the cycle as it is shown, without the sign.
func (k *Key) CycleNumber() int {
	return max(int(k.Cycle), -int(k.Cycle))
}

// Size returns the number of bytes that Wire writes, which is the KeyLen that
// ROOT gives a key.
func (k *Key) Size() int {
	n := smallFixed
	if k.Big() {
		n = bigFixed
	}
	return n + stringSize(k.Class) + stringSize(k.Name) + stringSize(k.Title)
}

// Wire describes a key.
func (k *Key) Wire(c *frame.Codec) {
	start := c.Pos()
	frame.Int(c, "nbytes", &k.NBytes)
	frame.Int(c, "version", &k.Version)
	frame.Int(c, "object length", &k.ObjLen)
	frame.Int(c, "datime", &k.Datime)
	frame.Int(c, "key length", &k.KeyLen)
	frame.Int(c, "cycle", &k.Cycle)
	seek(c, "seek key", k.Big(), &k.SeekKey)
	k.wirePdir(c)
	String(c, "class", &k.Class)
	String(c, "name", &k.Name)
	String(c, "title", &k.Title)
	// Names are not longer than the key, whose length has 16 bits. This
	// bounds the paths of directories.
	if n := c.Pos() - start; n > math.MaxUint16 {
		c.Fail("key length", frame.Corrupt("key of %d bytes", n))
	}
}

// own reads the key at the start of record, the bytes at k.SeekKey. It can differ
// from k, which a directory lists.
func (k *Key) own(record []byte) (own Key, err error) {
	return decoded[Key](record[:min(int(k.KeyLen), len(record))], fmt.Sprintf("%s %q", k.Class, k.Name), k.SeekKey)
}

// confirm makes sure that k, which a directory lists, agrees with the key in its
// record.
func (k *Key) confirm(record []byte) error {
	own, err := k.own(record)
	if err == nil {
		err = k.same(own)
	}
	return err
}

// same makes sure that k, which a directory lists, and the key in its record are
// those of the same object. Lists have no checksum.
func (k *Key) same(own Key) error {
	if own.Class != k.Class || own.Name != k.Name || own.CycleNumber() != k.CycleNumber() {
		return &frame.FormatError{Offset: k.SeekKey, Path: fmt.Sprintf("%s %q", k.Class, k.Name), Err: frame.Corrupt(
			"listed as cycle %d, but its record says %s %q, cycle %d", k.CycleNumber(), own.Class, own.Name, own.CycleNumber())}
	}
	return nil
}

func (k *Key) wirePdir(c *frame.Codec) {
	const mask = 1<<seekBits - 1
	word := k.SeekPdir
	if c.Writing() {
		if word&^mask != 0 || k.ProcessID != 0 && !k.Big() {
			c.Fail("seek pdir", fmt.Errorf("%#x with process id %d does not fit the key", word, k.ProcessID))
			return
		}
		word |= int64(k.ProcessID) << seekBits
	}
	seek(c, "seek pdir", k.Big(), &word)
	if !c.Writing() {
		k.SeekPdir, k.ProcessID = word&mask, uint16(word>>seekBits)
	}
}

// A Datime is a point in time as ROOT packs it, with a resolution of a second, in
// the local time of the writer.
type Datime uint32

const firstYear = 1995

// MakeDatime returns the date and time of day of t, in its location. Times out of
// range become the earliest or the latest one.
func MakeDatime(t time.Time) Datime {
	switch year := t.Year() - firstYear; {
	case year < 0:
		return MakeDatime(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC))
	case year >= 1<<6:
		return MakeDatime(time.Date(firstYear+1<<6-1, 12, 31, 23, 59, 59, 0, time.UTC))
	default:
		return Datime(year<<26 | int(t.Month())<<22 | t.Day()<<17 | t.Hour()<<12 | t.Minute()<<6 | t.Second())
	}
}

// Time returns the point in time, taken for UTC, or the zero Time for zero.
func (d Datime) Time() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Date(int(d>>26)+firstYear, time.Month(d>>22&15), int(d>>17&31), int(d>>12&31), int(d>>6&63),
		int(d&63), 0, time.UTC)
}
