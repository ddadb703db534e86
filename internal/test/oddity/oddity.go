package oddity

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A Case is a file whose objects are those of the original.
type Case struct {
	Name string
	File []byte
	Says string // about it, as package verify does; "" if it says nothing
	// Fixed is the error of programs that would add to the file, if they must not.
	Fixed string
	// Hidden reports that an object is not listed any more but still there, so that the
	// file must not be read.
	Hidden bool
}

// A draft is a file whose records can be changed.
type draft struct {
	bytes []byte
	rootfile.Header
	root rootfile.Root
	list rootfile.KeyList
	free rootfile.FreeList
}

// cases change a draft. The file has at least two objects in its top directory, and a
// directory.
var cases = []struct {
	name, says, fixed string
	hidden            bool
	change            func(d *draft)
}{
	{name: "the same", change: func(*draft) {}},
	{name: "zeros after the keys", says: "unused bytes", change: func(d *draft) { d.list.Extra = make([]byte, 300) }},
	{name: "text after the keys", says: "unused bytes",
		change: func(d *draft) { d.list.Extra = bytes.Repeat([]byte("text "), 60) }},
	{name: "listed key after the keys", says: "unused bytes",
		change: func(d *draft) { d.list.Extra = encoded(&d.list.Keys[0]) }},
	{name: "key of nothing after the keys", says: "unused bytes", change: func(d *draft) {
		k := d.list.Keys[0]
		k.SeekKey++
		d.list.Extra = encoded(&k)
	}},
	{name: "key of a deleted object", says: "unused bytes", change: func(d *draft) {
		k := rootfile.Key{Version: rootfile.KeyVersion, Cycle: 1, SeekKey: int64(len(d.bytes)), SeekPdir: d.root.SeekDir,
			Class: "TNamed", Name: "gone"}
		k.KeyLen, k.NBytes = uint16(k.Size()), int32(k.Size())
		d.bytes = append(d.bytes, encoded(&k)...)
		d.free.Segments = slices.Insert(d.free.Segments, len(d.free.Segments)-1,
			rootfile.Segment{Version: 1, First: k.SeekKey, Last: int64(len(d.bytes)) - 1})
		d.list.Extra = encoded(&k)
	}},
	{name: "fewer keys than there are", says: "follow the last", hidden: true, change: func(d *draft) {
		n := len(d.list.Keys) - 1
		d.list.Extra = append(encoded(&d.list.Keys[n]), make([]byte, 100)...)
		d.list.Keys = d.list.Keys[:n]
	}},
	{name: "no keys but there are", says: "follow the last", hidden: true, change: func(d *draft) {
		for i := range d.list.Keys {
			d.list.Extra = append(d.list.Extra, encoded(&d.list.Keys[i])...)
		}
		d.list.Keys = nil
	}},
	{name: "list of a directory names its parent", says: "its key says that it is in the directory",
		change: func(d *draft) {
			i := slices.IndexFunc(d.list.Keys, func(k rootfile.Key) bool { return k.Class == "TDirectory" })
			k := d.list.Keys[i]
			var sub rootfile.Directory
			decode(d.bytes[k.SeekKey+int64(k.KeyLen):], &sub)
			binary.BigEndian.PutUint32(d.bytes[sub.SeekKeys+22:], uint32(d.root.SeekDir))
		}},
	{name: "other length of the names", says: "it says that it is behind",
		change: func(d *draft) { d.root.Directory.NBytesName += 5 }},
	{name: "names that do not end", says: "do not end where it begins", change: func(d *draft) { d.root.Name = "" }},
	{name: "special build", change: func(d *draft) { d.Version = -938200 }},
	{name: "no streamer infos", change: func(d *draft) { d.SeekInfo, d.NBytesInfo = 0, 0 }},
	{name: "no free list", says: "there is no free list", fixed: "there is no free list",
		change: func(d *draft) { d.SeekFree, d.NBytesFree, d.NFree = 0, 0, 0 }},
	{name: "zeros after the segments", says: "zeros after the",
		change: func(d *draft) { d.free.Extra = make([]byte, 10) }},
	{name: "some zeros after the segments", says: "zeros after the",
		change: func(d *draft) { d.free.Extra = make([]byte, 8) }},
	{name: "unmarked gap", change: func(d *draft) { d.bytes = append(d.bytes, "not a record"...) }},
}

// Cases returns variants of a file in the small form, which has at least two objects in its
// top directory, and a directory with an object.
func Cases(t testing.TB, file []byte) (all []Case) {
	for _, c := range cases {
		d := draft{bytes: bytes.Clone(file)}
		f, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		d.Header, d.root = f.Header, f.Root
		decode(file[d.root.SeekKeys:][:d.root.NBytesKeys], &d.list)
		decode(file[d.SeekFree:][:d.NBytesFree], &d.free)
		c.change(&d)
		all = append(all, Case{c.name, d.file(), c.says, c.fixed, c.hidden})
	}
	return all
}

// file returns the changed file, with its lists at the end.
func (d *draft) file() []byte {
	place := func(k *rootfile.Key, r record) int64 {
		k.SeekKey = int64(len(d.bytes))
		k.NBytes = int32(len(encoded(r)))
		k.ObjLen = uint32(k.NBytes) - uint32(k.KeyLen)
		return k.SeekKey
	}
	d.root.SeekKeys = place(&d.list.Key, &d.list)
	d.root.NBytesKeys = uint32(d.list.Key.NBytes)
	d.bytes = append(d.bytes, encoded(&d.list)...)
	if d.SeekFree != 0 {
		d.SeekFree = place(&d.free.Key, &d.free)
		d.NBytesFree = uint32(d.free.Key.NBytes)
		d.free.Segments[len(d.free.Segments)-1].First = d.SeekFree + int64(d.NBytesFree)
		d.bytes = append(d.bytes, encoded(&d.free)...)
	}
	d.End = int64(len(d.bytes))
	copy(d.bytes[d.Begin:], encoded(&d.root)[:d.NBytesName])
	copy(d.bytes[d.Begin+d.NBytesName:], encoded(&d.root.Directory))
	copy(d.bytes, encoded(&d.Header))
	return d.bytes
}

type record interface{ Wire(*frame.Codec) }

func encoded(r record) []byte {
	c := frame.NewWriter(nil, "record").BigEndian()
	r.Wire(c)
	b, err := c.Bytes()
	if err != nil {
		panic(err)
	}
	return b
}

func decode(b []byte, r record) {
	c := frame.NewReader(b, "record", 0).BigEndian()
	if r.Wire(c); c.Err() != nil {
		panic(c.Err())
	}
}
