package rootfile

import (
	"io"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
)

// image is a sparse file in memory. It counts reads.
type image struct {
	parts []part // later ones cover earlier ones
	size  int64
	reads []int // lengths
}

type part struct {
	at   int64
	data []byte
}

func (m *image) put(at int64, data []byte) {
	m.parts = append(m.parts, part{at, data})
	m.size = max(m.size, at+int64(len(data)))
}

func (m *image) ReadAt(b []byte, off int64) (int, error) {
	m.reads = append(m.reads, len(b))
	clear(b)
	for _, p := range m.parts {
		from, to := max(p.at, off), min(p.at+int64(len(p.data)), off+int64(len(b)))
		if from < to {
			copy(b[from-off:], p.data[from-p.at:to-p.at])
		}
	}
	if off+int64(len(b)) > m.size {
		return int(max(m.size-off, 0)), io.EOF
	}
	return len(b), nil
}

// bytes returns the whole file.
func (m *image) bytes() []byte {
	b := make([]byte, m.size)
	for _, p := range m.parts {
		copy(b[p.at:], p.data)
	}
	return b
}

// wirer is a record.
type wirer interface{ Wire(*frame.Codec) }

func encode(t testing.TB, r wirer) []byte {
	t.Helper()
	c := frame.NewWriter(nil, "test").BigEndian()
	r.Wire(c)
	b, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(b []byte, r wirer) error {
	c := frame.NewReader(b, "test", 0).BigEndian()
	r.Wire(c)
	if c.Err() == nil && c.Left() > 0 {
		c.Fail("end", frame.Corrupt("%d bytes left", c.Left()))
	}
	return c.Err()
}

// builder lays out a ROOT file with the descriptions of the records.
type builder struct {
	t      testing.TB
	img    *image
	end    int64  // where the next record goes
	big    uint16 // added to the version of new records: 0 or BigVersion
	header Header
	root   Root
	dirs   []*dir
}

// dir is a directory that is being built.
type dir struct {
	b    *builder
	rec  *Directory
	at   int64 // of the record
	list KeyList
}

func newFile(t testing.TB, name string) *builder {
	b := &builder{t: t, img: new(image), header: Header{Version: 64000, Begin: 100, NFree: 1, Units: 4}}
	b.root.Key = Key{Version: KeyVersion, Cycle: 1, SeekKey: 100, Class: "TFile", Name: name}
	b.root.Name = name
	b.root.Version = DirectoryVersion
	b.root.SeekDir, b.root.UUIDVersion = 100, 1
	b.root.Key.KeyLen = uint16(b.root.Key.Size())
	size := int64(len(encode(t, &b.root)))
	b.root.NBytesName = uint32(size - directorySize)
	b.root.Key.ObjLen = uint32(size) - uint32(b.root.Key.KeyLen)
	b.root.Key.NBytes = int32(size)
	b.header.NBytesName = b.root.NBytesName
	b.end = 100 + size
	b.dirs = []*dir{{b: b, rec: &b.root.Directory, at: b.end - directorySize}}
	return b
}

func (b *builder) top() *dir { return b.dirs[0] }

// record appends a record; it completes the key k.
func (b *builder) record(k Key, payload []byte) Key {
	k.Version = KeyVersion + b.big
	k.SeekKey = b.end
	k.KeyLen = uint16(k.Size())
	k.NBytes = int32(k.KeyLen) + int32(len(payload))
	if k.ObjLen == 0 {
		k.ObjLen = uint32(len(payload))
	}
	b.img.put(b.end, append(encode(b.t, &k), payload...))
	b.end = k.SeekKey + int64(k.NBytes)
	return k
}

// add appends an object and lists it.
func (d *dir) add(class, name string, cycle int16, payload []byte) Key {
	return d.addLong(class, name, cycle, payload, 0)
}

// addLong adds a compressed object of objLen bytes.
func (d *dir) addLong(class, name string, cycle int16, payload []byte, objLen int) Key {
	k := d.b.record(Key{Class: class, Name: name, Cycle: cycle, SeekPdir: d.rec.SeekDir, ObjLen: uint32(objLen)}, payload)
	d.list.Keys = append(d.list.Keys, k)
	return k
}

func (d *dir) mkdir(name string) *dir {
	k := d.add("TDirectory", name, 1, make([]byte, directorySize))
	sub := &dir{
		b:  d.b,
		at: k.SeekKey + int64(k.KeyLen),
		rec: &Directory{Version: DirectoryVersion + d.b.big, NBytesName: uint32(k.KeyLen), SeekDir: k.SeekKey,
			SeekParent: d.rec.SeekDir, UUIDVersion: 1},
	}
	d.b.dirs = append(d.b.dirs, sub)
	return sub
}

// close writes the key lists, directories and the header.
func (b *builder) close() *image {
	for _, d := range b.dirs {
		d.list.Key = Key{Version: KeyVersion + b.big, Cycle: 1, SeekPdir: d.rec.SeekDir}
		whole := d.list
		whole.Key = Key{}
		payload := encode(b.t, &whole)[whole.Key.Size():]
		k := b.record(d.list.Key, payload)
		d.rec.SeekKeys, d.rec.NBytesKeys = k.SeekKey, uint32(k.NBytes)
		if b.big > 0 {
			d.rec.Version = DirectoryVersion + BigVersion
		}
		if d.at > b.dirs[0].at {
			b.img.put(d.at, encode(b.t, d.rec))
		}
	}
	b.header.SeekFree, b.header.End = b.end, b.end
	b.header.Big = b.big > 0
	b.img.put(100, encode(b.t, &b.root))
	b.img.put(0, encode(b.t, &b.header))
	return b.img
}

// open opens the file that has been built.
func (b *builder) open() *File {
	b.t.Helper()
	img := b.close()
	f, err := Open(img, img.size)
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}
