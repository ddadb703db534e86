package verify_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A draft is an RNTuple that is not written yet, so that tests can put lies into
// it that its checksums cover.
type draft struct {
	name   string
	header envelope.Header
	footer envelope.Footer
	groups [][]draftCluster // a cluster group each
	maxKey uint64
	noSum  bool // pages have no checksum
	cycles int  // older ones, which have the same envelopes
	sets   []*draft
	lists  func([]envelope.PageList) // edits them last
	links  func(*envelope.Footer)    // edits it last
	anchor func(*anchor.Anchor)
	raw    func(kind envelope.Type, b []byte) // edits what an envelope holds
}

type draftCluster struct {
	first, entries uint64
	columns        []draftColumn
}

type draftColumn struct {
	offset int64
	pages  []draftPage
}

type draftPage struct {
	bytes    []byte
	elements uint32
}

var suppressed = draftColumn{offset: envelope.Suppressed}

// col is what a cluster has of a column, in one page.
func col[T column.Element](offset int64, f column.Format, values ...T) draftColumn {
	if len(values) == 0 {
		return draftColumn{offset: offset}
	}
	b, err := column.Append(f, nil, values)
	if err != nil {
		panic(err)
	}
	return draftColumn{offset, []draftPage{{bytes: b, elements: uint32(len(values))}}}
}

func format(t column.Type) column.Format {
	least, _ := t.BitRange()
	return column.Format{Type: t, Bits: least}
}

func (d *draft) field(parent int, name, typ string, role envelope.Role, edit ...func(*envelope.Field)) int {
	id := len(d.header.Fields)
	f := envelope.Field{Name: name, TypeName: typ, Role: role, Parent: uint32(parent)}
	if parent < 0 {
		f.Parent = uint32(id)
	}
	for _, e := range edit {
		e(&f)
	}
	d.header.Fields = append(d.header.Fields, f)
	return id
}

func (d *draft) column(field int, t column.Type, edit ...func(*envelope.Column)) {
	c := envelope.Column{Field: uint32(field), Type: t, Bits: format(t).Bits}
	for _, e := range edit {
		e(&c)
	}
	d.header.Columns = append(d.header.Columns, c)
}

// The columns of newDraft.
const (
	colX = iota
	colV
	colStr
	colChar
	colO
	colOItem
	colU
	colU0
	colU1
	colA
	colD
	colDOther
)

// newDraft has a field of each shape, in two clusters of two and one entries, each
// in a cluster group of its own.
func newDraft() *draft {
	d := &draft{name: "n", header: envelope.Header{Name: "n", Writer: "test"}}
	d.footer = envelope.Footer{Extension: &envelope.Schema{}, AttributeSets: []envelope.AttributeSet{}}
	x := d.field(-1, "x", "std::int32_t", envelope.RolePlain)
	d.column(x, column.Int32)
	v := d.field(-1, "v", "std::vector<std::string>", envelope.RoleCollection)
	d.column(v, column.Index64)
	str := d.field(v, "_0", "std::string", envelope.RolePlain)
	d.column(str, column.SplitIndex32)
	d.column(str, column.Char)
	o := d.field(-1, "o", "std::optional<float>", envelope.RoleCollection)
	d.column(o, column.Index64)
	d.column(d.field(o, "_0", "float", envelope.RolePlain), column.Real32)
	u := d.field(-1, "u", "std::variant<std::int32_t,double>", envelope.RoleVariant)
	d.column(u, column.Switch)
	d.column(d.field(u, "_0", "std::int32_t", envelope.RolePlain), column.Int32)
	d.column(d.field(u, "_1", "double", envelope.RolePlain), column.Real64)
	a := d.field(-1, "a", "std::array<std::uint8_t,2>", envelope.RolePlain,
		func(f *envelope.Field) { f.Flags, f.ArraySize = envelope.FieldRepetitive, 2 })
	d.column(d.field(a, "_0", "std::uint8_t", envelope.RolePlain), column.UInt8)
	twice := d.field(-1, "d", "double", envelope.RolePlain)
	d.column(twice, column.Real64)
	d.column(twice, column.Real32, func(c *envelope.Column) { c.Representation = 1 })
	n := d.field(-1, "n", "ROOT::RNTupleCardinality<std::uint64_t>", envelope.RolePlain,
		func(f *envelope.Field) { f.Flags, f.Source = envelope.FieldProjected, uint32(v) })
	d.header.Aliases = append(d.header.Aliases, envelope.Alias{Column: colV, Field: uint32(n)})

	index, tags := format(column.Index64), format(column.Switch)
	d.groups = [][]draftCluster{{{0, 2, []draftColumn{
		colX:      col[int32](0, format(column.Int32), 1, 2),
		colV:      col[uint64](0, index, 2, 3),
		colStr:    col[uint32](0, format(column.SplitIndex32), 1, 3, 4),
		colChar:   col[int8](0, format(column.Char), 'a', 'b', 'c', 'd'),
		colO:      col[uint64](0, index, 1, 1),
		colOItem:  col[float32](0, format(column.Real32), 1.5),
		colU:      col(0, tags, column.Tagged{Index: 0, Tag: 1}, column.Tagged{Index: 0, Tag: 2}),
		colU0:     col[int32](0, format(column.Int32), 7),
		colU1:     col[float64](0, format(column.Real64), 0.25),
		colA:      col[uint8](0, format(column.UInt8), 1, 2, 3, 4),
		colD:      col[float64](0, format(column.Real64), 0.1, 0.2),
		colDOther: suppressed,
	}}}, {{2, 1, []draftColumn{
		colX:      col[int32](2, format(column.Int32), 3),
		colV:      col[uint64](2, index, 0),
		colStr:    {offset: 3},
		colChar:   {offset: 4},
		colO:      col[uint64](2, index, 1),
		colOItem:  col[float32](1, format(column.Real32), 2.5),
		colU:      col(2, tags, column.Tagged{}),
		colU0:     {offset: 1},
		colU1:     {offset: 1},
		colA:      col[uint8](4, format(column.UInt8), 5, 6),
		colD:      suppressed,
		colDOther: col[float32](2, format(column.Real32), 0.5),
	}}}}
	return d
}

// newSet is an attribute set of the ranges of entries, with attributes 0, 1, ...
func newSet(name string, ranges ...[2]uint64) *draft {
	d := &draft{name: name, header: envelope.Header{Name: name, Writer: "test"}}
	d.footer = envelope.Footer{Extension: &envelope.Schema{}}
	c := draftCluster{entries: uint64(len(ranges))}
	var start, length []uint64
	var data []int32
	for i, r := range ranges {
		start, length, data = append(start, r[0]), append(length, r[1]), append(data, int32(i))
	}
	d.column(d.field(-1, "_rangeStart", "std::uint64_t", envelope.RolePlain), column.UInt64)
	d.column(d.field(-1, "_rangeLen", "std::uint64_t", envelope.RolePlain), column.UInt64)
	user := d.field(-1, "_userData", "", envelope.RoleRecord)
	d.column(d.field(user, "data", "std::int32_t", envelope.RolePlain), column.Int32)
	c.columns = []draftColumn{col(0, format(column.UInt64), start...), col(0, format(column.UInt64), length...),
		col(0, format(column.Int32), data...)}
	d.groups = [][]draftCluster{{c}}
	return d
}

// memory is a file.
type memory []byte

func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	if end := int(at) + len(b); end > len(*m) {
		*m = append(*m, make([]byte, end-len(*m))...)
	}
	return copy((*m)[at:], b), nil
}

// file writes the draft as a ROOT file.
func (d *draft) file(t testing.TB) []byte {
	t.Helper()
	var m memory
	w, err := rootfile.Create(&m, rootfile.Options{Name: "test.root",
		Clock: func() time.Time { return time.Unix(1e9, 0).UTC() }, UUID: [16]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	object := d.write(t, w)
	for range 1 + d.cycles {
		if _, err := w.Object("", rootfile.Object{Class: anchor.ClassName, Name: d.name, Stored: object,
			Len: len(object)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// write writes pages and envelopes and returns the anchor.
func (d *draft) write(t testing.TB, w *rootfile.Writer) []byte {
	must := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	blob := func(b []byte) uint64 {
		at, err := anchor.WriteBlob(b, d.maxKey, w.Blob)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(at)
	}
	link := func(b []byte) locator.Link {
		return locator.Link{Length: uint64(len(b)), Locator: locator.At(blob(b), uint64(len(b)))}
	}
	seal := func(kind envelope.Type, b []byte) []byte {
		if end := len(b) - checksum.Size; d.raw != nil {
			d.raw(kind, b[8:end])
			binary.LittleEndian.PutUint64(b[end:], checksum.Sum(b[:end]))
		}
		return b
	}
	header := seal(envelope.TypeHeader, must(d.header.Append(nil)))
	headerLink := link(header)
	var lists []envelope.PageList
	for _, group := range d.groups {
		list := envelope.PageList{HeaderChecksum: envelope.Checksum(header)}
		for _, c := range group {
			var columns []envelope.ColumnPages
			for _, stored := range c.columns {
				out := envelope.ColumnPages{ElementOffset: stored.offset}
				for _, p := range stored.pages {
					b := slices.Clone(p.bytes)
					if !d.noSum {
						b = binary.LittleEndian.AppendUint64(b, checksum.Sum(p.bytes))
					}
					out.Pages = append(out.Pages, envelope.Page{NumElements: p.elements, HasChecksum: !d.noSum,
						Locator: locator.At(blob(b), uint64(len(p.bytes)))})
				}
				columns = append(columns, out)
			}
			list.Clusters = append(list.Clusters, envelope.Cluster{FirstEntry: c.first, NumEntries: c.entries})
			list.Pages = append(list.Pages, envelope.ClusterPages{Columns: columns})
		}
		lists = append(lists, list)
	}
	if d.lists != nil {
		d.lists(lists)
	}
	footer := d.footer
	footer.HeaderChecksum = envelope.Checksum(header)
	for i, group := range d.groups {
		g := envelope.ClusterGroup{MinEntry: math.MaxUint64, NumClusters: uint32(len(group)),
			PageList: link(seal(envelope.TypePageList, must(lists[i].Append(nil))))}
		for _, c := range group {
			g.MinEntry, g.EntrySpan = min(g.MinEntry, c.first), g.EntrySpan+c.entries
		}
		footer.ClusterGroups = append(footer.ClusterGroups, g)
	}
	for _, set := range d.sets {
		object := set.write(t, w)
		at, err := w.Unlisted(rootfile.Object{Class: anchor.ClassName, Name: set.name, Stored: object, Len: len(object)})
		if err != nil {
			t.Fatal(err)
		}
		footer.AttributeSets = append(footer.AttributeSets, envelope.AttributeSet{
			SchemaMajor: 1, AnchorLength: uint32(len(object)), Anchor: locator.At(uint64(at), uint64(len(object))),
			Name: set.name,
		})
	}
	if d.links != nil {
		d.links(&footer)
	}
	footerLink := link(seal(envelope.TypeFooter, must(footer.Append(nil))))
	a := anchor.Anchor{ClassVersion: anchor.ClassVersion, Epoch: 1, Minor: 2, MaxKeySize: d.maxKey}
	a.SeekHeader, a.NBytesHeader, a.LenHeader = headerLink.Locator.Offset, headerLink.Locator.Size, headerLink.Length
	a.SeekFooter, a.NBytesFooter, a.LenFooter = footerLink.Locator.Offset, footerLink.Locator.Size, footerLink.Length
	if d.anchor != nil {
		d.anchor(&a)
	}
	return must(a.Append(nil))
}
