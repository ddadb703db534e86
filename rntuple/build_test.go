package rntuple_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// builder lays out an RNTuple in a ROOT file by hand, so that tests can have
// what ROOT rarely or never writes. Pages are not compressed.
type builder struct {
	t      testing.TB
	zip    compress.Settings // of the envelopes
	file   []byte
	maxKey uint64
	name   string
	header envelope.Header
	footer envelope.Footer
	groups [][]cluster // each becomes a cluster group
}

type cluster struct {
	entries uint64
	flags   uint8
	columns []envelope.ColumnPages
}

func newBuilder(t testing.TB) *builder {
	b := &builder{t: t, name: "n", file: make([]byte, 1000),
		footer: envelope.Footer{Extension: &envelope.Schema{}, AttributeSets: []envelope.AttributeSet{}}}
	b.header.Name = "n"
	b.header.Writer = "by hand"
	return b
}

// field adds a field below parent, -1 for a top-level one, and returns its ID.
func (s schemaOf) field(parent int, name, typ string, role envelope.Role, edit ...func(*envelope.Field)) int {
	id := s.ids()
	f := envelope.Field{Name: name, TypeName: typ, Role: role, Parent: uint32(parent)}
	if parent < 0 {
		f.Parent = uint32(id)
	}
	for _, e := range edit {
		e(&f)
	}
	s.Fields = append(s.Fields, f)
	return id
}

// column adds a column with the width of the type table.
func (s schemaOf) column(field int, typ column.Type, edit ...func(*envelope.Column)) {
	c := envelope.Column{Field: uint32(field), Type: typ, Bits: widths[typ]}
	for _, e := range edit {
		e(&c)
	}
	s.Columns = append(s.Columns, c)
}

// schemaOf adds to a schema; before are the fields that come before it.
type schemaOf struct {
	*envelope.Schema
	before int
}

func (s schemaOf) ids() int { return s.before + len(s.Fields) }

func (b *builder) regular() schemaOf { return schemaOf{&b.header.Schema, 0} }
func (b *builder) extension() schemaOf {
	return schemaOf{b.footer.Extension, len(b.header.Fields)}
}

var widths = map[column.Type]uint16{
	column.Bit: 1, column.Byte: 8, column.Char: 8, column.Int8: 8, column.UInt8: 8, column.Int32: 32,
	column.UInt32: 32, column.Int64: 64,
	column.Real16: 16, column.SplitReal16: 16, column.Real32: 32, column.SplitReal32: 32, column.Real64: 64,
	column.Index32: 32, column.Index64: 64, column.SplitIndex64: 64, column.Switch: 96,
}

// blob appends a payload, in chunks if need be, and returns its offset.
func (b *builder) blob(p []byte) uint64 {
	at, err := anchor.WriteBlob(p, b.maxKey, func(parts ...[]byte) (int64, error) {
		at := int64(len(b.file))
		b.file = append(b.file, bytes.Join(parts, nil)...)
		b.file = append(b.file, "gap"...)
		return at, nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return uint64(at)
}

// envelope stores an envelope.
func (b *builder) envelope(p []byte) locator.Link {
	stored, err := compress.Append(nil, p, b.zip)
	if err != nil {
		b.t.Fatal(err)
	}
	return locator.Link{Length: uint64(len(p)), Locator: locator.At(b.blob(stored), uint64(len(stored)))}
}

// page stores a page with its checksum.
func page[T column.Element](b *builder, typ column.Type, src ...T) envelope.Page {
	f := column.Format{Type: typ, Bits: widths[typ]}
	p, err := column.Append(f, nil, src)
	if err != nil {
		b.t.Fatal(err)
	}
	stored := binary.LittleEndian.AppendUint64(bytes.Clone(p), checksum.Sum(p))
	return envelope.Page{NumElements: uint32(len(src)), HasChecksum: true,
		Locator: locator.At(b.blob(stored), uint64(len(p)))}
}

// chunk is what a cluster has of a column.
func chunk(offset int64, pages ...envelope.Page) envelope.ColumnPages {
	return envelope.ColumnPages{ElementOffset: offset, Pages: pages}
}

var suppressed = envelope.ColumnPages{ElementOffset: envelope.Suppressed}

// cluster adds a cluster to the last cluster group.
func (b *builder) cluster(entries uint64, columns ...envelope.ColumnPages) {
	if len(b.groups) == 0 {
		b.groups = append(b.groups, nil)
	}
	last := &b.groups[len(b.groups)-1]
	*last = append(*last, cluster{entries: entries, columns: columns})
}

// edits change what bytes writes, before or after it is made.
type edits struct {
	header   func([]byte) []byte
	pageList func(*envelope.PageList)
	footer   func(*envelope.Footer)
	anchor   func(*anchor.Anchor)
	link     func(locator.Locator) locator.Locator
}

// bytes returns the file.
func (b *builder) bytes(e edits) []byte {
	must := func(p []byte, err error) []byte {
		if err != nil {
			b.t.Fatal(err)
		}
		return p
	}
	header := must(b.header.Append(nil))
	if e.header != nil {
		header = e.header(header)
	}
	sum := envelope.Checksum(header)
	var a anchor.Anchor
	a.Epoch, a.Minor, a.ClassVersion, a.MaxKeySize = 1, 2, anchor.ClassVersion, b.maxKey
	link := b.envelope(header)
	a.SeekHeader, a.NBytesHeader, a.LenHeader = link.Locator.Offset, link.Locator.Size, link.Length

	first := uint64(0)
	for _, group := range b.groups {
		list := envelope.PageList{HeaderChecksum: sum}
		g := envelope.ClusterGroup{MinEntry: first, NumClusters: uint32(len(group))}
		for _, c := range group {
			list.Clusters = append(list.Clusters, envelope.Cluster{FirstEntry: first, NumEntries: c.entries, Flags: c.flags})
			list.Pages = append(list.Pages, envelope.ClusterPages{Columns: c.columns})
			first += c.entries
			g.EntrySpan += c.entries
		}
		if e.pageList != nil {
			e.pageList(&list)
		}
		g.PageList = b.envelope(must(list.Append(nil)))
		if e.link != nil {
			g.PageList.Locator = e.link(g.PageList.Locator)
		}
		b.footer.ClusterGroups = append(b.footer.ClusterGroups, g)
	}
	b.footer.HeaderChecksum = sum
	if e.footer != nil {
		e.footer(&b.footer)
	}
	link = b.envelope(must(b.footer.Append(nil)))
	a.SeekFooter, a.NBytesFooter, a.LenFooter = link.Locator.Offset, link.Locator.Size, link.Length
	if e.anchor != nil {
		e.anchor(&a)
	}
	return b.container(must(a.Append(nil)))
}

// container finishes the file with the records that lead to the anchor.
func (b *builder) container(object []byte) []byte {
	record := func(r interface{ Wire(*frame.Codec) }) []byte {
		c := frame.NewWriter(nil, "record").BigEndian()
		r.Wire(c)
		p, err := c.Bytes()
		if err != nil {
			b.t.Fatal(err)
		}
		return p
	}
	put := func(k rootfile.Key, payload []byte) rootfile.Key {
		k.Version, k.Cycle, k.SeekPdir, k.ObjLen = rootfile.KeyVersion, 1, 100, uint32(len(payload))
		k.SeekKey = int64(len(b.file))
		k.KeyLen = uint16(k.Size())
		k.NBytes = int32(k.KeyLen) + int32(len(payload))
		b.file = append(append(b.file, record(&k)...), payload...)
		return k
	}
	key := put(rootfile.Key{Class: anchor.ClassName, Name: b.name}, object)
	list := put(rootfile.Key{}, append(binary.BigEndian.AppendUint32(nil, 1), record(&key)...))

	root := rootfile.Root{Key: rootfile.Key{Version: rootfile.KeyVersion, Cycle: 1, SeekKey: 100, Class: "TFile"}}
	root.Version, root.SeekDir, root.SeekKeys, root.NBytesKeys = rootfile.DirectoryVersion, 100,
		list.SeekKey, uint32(list.NBytes)
	root.Key.KeyLen = uint16(root.Key.Size())
	root.NBytesName = uint32(root.Key.KeyLen) + 2 // two empty strings
	head := rootfile.Header{Version: 64000, Begin: 100, End: int64(len(b.file)), SeekFree: 1,
		NBytesName: root.NBytesName, Units: 4}
	copy(b.file, record(&head))
	copy(b.file[100:], record(&root))
	return b.file
}

// open opens the file with default options.
func (b *builder) open(e edits, opts *rntuple.ReadOptions) (*rntuple.Reader, error) {
	file := b.bytes(e)
	return rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", opts)
}
