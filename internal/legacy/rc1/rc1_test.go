package rc1

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	. "github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/locator"
)

// The vectors are written by hand after the document. They show what it says,
// not what any program ever wrote.

// rec and lst return the text of a record and a list frame of 32 bits.
func rec(body ...string) string {
	text := strings.Join(body, "\n")
	return LE(4, int64(4+len(Hex(text).Bytes))) + text + "\n"
}

func lst(items int, body ...string) string {
	text := strings.Join(body, "\n")
	return LE(4, -int64(8+len(Hex(text).Bytes))) + LE(4, int64(items)) + text + "\n"
}

var empty = lst(0)

var header = `
	00 00 00 00 00 00 00 00                # no feature flags
	01 00 00 00                            # release candidate 1
	03 00 00 00 "ntp"  00 00 00 00  04 00 00 00 "hand"
	` + lst(3,
	rec(`00 00 00 00  00 00 00 00  00 00 00 00  01 00  00 00   # a collection
		01 00 00 00 "c"  00 00 00 00  00 00 00 00  00 00 00 00`),
	rec(`00 00 00 00  00 00 00 00  01 00 00 00  00 00  01 00   # an array of 3
		03 00 00 00 00 00 00 00
		01 00 00 00 "a"  14 00 00 00 "std::array<double,3>"  03 00 00 00 "A3d"  04 00 00 00 "text"`),
	rec(`00 00 00 00  02 00 00 00  01 00 00 00  00 00  00 00   # its items
		06 00 00 00 "double"  06 00 00 00 "double"  00 00 00 00  00 00 00 00`)) +
	lst(2,
		rec(`0e 00  40 00  00 00 00 00  05 00 00 00`),                            // SplitIndex64, ascending, not negative
		rec(`07 00  40 00  02 00 00 00  08 00 00 00  06 00 00 00 00 00 00 00`)) + // Real64, from element 6 on
	lst(1, rec(`00 00 00 00  01 00 00 00`)) +
	lst(1, rec(`01 00 00 00  02 00 00 00  01 00 00 00  01 00 00 00 "T"  03 00 00 00 "int"`))

func TestHeader(t *testing.T) {
	c := Walk("header", (*Header).Wire)
	got := c.Check(t, Hex(header))
	want := &Header{
		Features: envelope.Features{0}, Tag: 1, Name: "ntp", Writer: "hand",
		Schema: Schema{
			Fields: []Field{
				{envelope.Field{Role: envelope.RoleCollection, Name: "c"}},
				{envelope.Field{Parent: 1, Flags: 1, ArraySize: 3, Name: "a", TypeName: "std::array<double,3>",
					TypeAlias: "A3d", Description: "text"}},
				{envelope.Field{TypeVersion: 2, Parent: 1, Name: "double", TypeName: "double"}},
			},
			Columns:    []Column{{Type: 0x0e, Bits: 64, Flags: 5}, {Type: 7, Bits: 64, Field: 2, Flags: 8, FirstElement: 6}},
			Aliases:    []Alias{{envelope.Alias{Column: 0, Field: 1}}},
			ExtraTypes: []ExtraType{{From: 1, To: 2, ContentID: 1, TypeName: "T", Extra: []byte("\x03\x00\x00\x00int")}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	Longer(t, c, got)
}

var (
	extension = rec(empty, lst(1, rec(`08 00  20 00  02 00 00 00  00 00 00 00`)), empty, empty) // a Real32 column
	// 128 bytes, 64 of them in the file at 4096
	link = `80 00 00 00  40 00 00 00  00 10 00 00 00 00 00 00`
)

func footer(extension, groups, clusters, clusterGroups, metaData string) string {
	return `00 00 00 00 00 00 00 00  44 33 22 11` + "\n" + extension + groups + clusters + clusterGroups + metaData
}

var sharded = footer(extension,
	lst(2, rec(lst(2, `00 00 00 00  01 00 00 00`)), rec(lst(1, `02 00 00 00`))),
	lst(3,
		rec(`00 00 00 00 00 00 00 00  0a 00 00 00 00 00 00 00`),               // entries 0 to 9, all columns
		rec(`0a 00 00 00 00 00 00 00  05 00 00 00 00 00 00 01  01 00 00 00`),  // 10 to 14, column group 1
		rec(`0a 00 00 00 00 00 00 00  fb ff ff ff ff ff ff ff  00 00 00 00`)), // the same, column group 0, in ROOT's way
	lst(1, rec(`03 00 00 00`, link)),
	lst(1, link))

func TestFooter(t *testing.T) {
	c := Walk("footer", (*Footer).Wire)
	got := c.Check(t, Hex(sharded))
	to := Link{Length: 128, Locator: locator.At(4096, 64)}
	want := &Footer{
		Features: envelope.Features{0}, HeaderChecksum: 0x11223344,
		Extension: &Schema{Fields: []Field{}, Columns: []Column{{Type: 8, Bits: 32, Field: 2}}, Aliases: []Alias{},
			ExtraTypes: []ExtraType{}},
		ColumnGroups: []ColumnGroup{{Columns: []uint32{0, 1}}, {Columns: []uint32{2}}},
		Clusters: []Cluster{
			{FirstEntry: 0, Entries: 10}, {FirstEntry: 10, Entries: 5 | 1<<56, ColumnGroup: 1},
			{FirstEntry: 10, Entries: -5 & math.MaxUint64},
		},
		ClusterGroups: []ClusterGroup{{NumClusters: 3, PageList: to}},
		MetaData:      []Link{to},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	Longer(t, c, got)
	for _, extension := range []string{empty, rec()} { // as ROOT 6.26 has it, and the document
		got := c.Check(t, Hex(footer(extension, empty, empty, empty, empty)))
		if got.Extension != nil {
			t.Errorf("got %+v", got)
		}
	}
	if _, _, err := c.Parse(Hex(footer(lst(1, `00`), empty, empty, empty, empty)).Bytes); !errors.Is(err,
		frame.ErrUnsupported) {
		t.Errorf("a list as extension: %v", err)
	}
}

// page is an item of a list of pages.
func page(elements, size, offset int64) string {
	return LE(4, elements) + LE(4, size) + LE(8, offset)
}

func pages(n int, offset int64, body ...string) string {
	return lst(n, strings.Join(body, ""), LE(8, offset), LE(4, 505))
}

var pageList = lst(3,
	lst(3, pages(1, 0, page(10, 40, 1000)), pages(2, 0, page(4, 32, 2000), page(1<<30|6, 48, 2032)), pages(0, 0)),
	lst(1, pages(1, 10, page(5, 20, 3000))),
	lst(2, pages(1, 10, page(5, 40, 4000)), pages(0, 10)))

func TestPageList(t *testing.T) {
	c := Walk("page list", (*PageList).Wire)
	got := c.Check(t, Hex(pageList))
	at := func(n uint32, size, offset uint64) []Page { return []Page{{n, locator.At(offset, size)}} }
	want := &PageList{Clusters: []ClusterPages{
		{Columns: []ColumnPages{
			{Pages: at(10, 40, 1000), Compression: 505},
			{Pages: append(at(4, 32, 2000), at(1<<30|6, 48, 2032)...), Compression: 505},
			{Pages: []Page{}, Compression: 505}}},
		{Columns: []ColumnPages{{Pages: at(5, 20, 3000), ElementOffset: 10, Compression: 505}}},
		{Columns: []ColumnPages{{Pages: at(5, 40, 4000), ElementOffset: 10, Compression: 505},
			{Pages: []Page{}, ElementOffset: 10, Compression: 505}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	Longer(t, c, got)
}

func TestLocator(t *testing.T) {
	c := Walk("locator", func(l *locator.Locator, c *frame.Codec) { wireLocator(c, "of page", l) })
	for _, test := range []struct {
		hex   string
		want  locator.Locator
		error string // of reading what it points to
	}{
		{`ff ff ff 7f  08 07 06 05 04 03 02 01`, locator.Locator{Size: math.MaxInt32, Offset: 0x0102030405060708}, ""},
		// The word of size 14, reserved 0x5a and type 1, negated.
		{LE(4, -0x015a000e) + `"daos://x/y"`, locator.Locator{Type: locator.URI, Reserved: 0x5a, Payload: "daos://x/y"},
			`URI "daos://x/y"`},
		{LE(4, -0x02000010) + `40 00 00 00  2a 00 00 00 00 00 00 00`,
			locator.Locator{Type: locator.Object, Payload: "\x40\x00\x00\x00\x2a\x00\x00\x00\x00\x00\x00\x00"}, "object store"},
		{LE(4, -0x7f000006) + `01 02`, locator.Locator{Type: 0x7f, Payload: "\x01\x02"}, "unknown type 0x7f"},
	} {
		got := c.Check(t, Hex(test.hex))
		if *got != test.want {
			t.Errorf("got %+v, want %+v", *got, test.want)
		}
		if err := got.InFile(); (err == nil) != (test.error == "") || err != nil &&
			(!strings.Contains(err.Error(), test.error) || !errors.Is(err, frame.ErrUnsupported)) {
			t.Errorf("%+v: %v", *got, err)
		}
	}
	for _, bad := range []int64{-3, -0x01000003, -0x00000010, math.MinInt32} {
		_, _, err := c.Parse(Hex(LE(4, bad) + LE(8, 0) + LE(8, 0)).Bytes)
		Fault(t, err, frame.ErrCorrupt)
	}
}

func TestLift(t *testing.T) {
	var h Header
	var f Footer
	var p PageList
	for _, part := range []struct {
		hex  string
		walk func(*frame.Codec)
	}{{header, h.Wire}, {sharded, f.Wire}, {pageList, p.Wire}} {
		c := frame.NewReader(Hex(part.hex).Bytes, "test", 0)
		if part.walk(c); c.Err() != nil {
			t.Fatal(c.Err())
		}
	}
	gotHeader, gotFooter, err := Lift(&h, &f)
	if err != nil {
		t.Fatal(err)
	}
	if want := []envelope.Column{
		{Type: column.SplitIndex64, Bits: 64},
		// field 1 is the record of c
		{Type: column.Real64, Bits: 64, Field: 3, Flags: envelope.ColumnDeferred, FirstElement: 6},
	}; !reflect.DeepEqual(gotHeader.Columns, want) {
		t.Errorf("got %+v, want %+v", gotHeader.Columns, want)
	}
	if g := gotFooter.ClusterGroups; len(g) != 1 || g[0].MinEntry != 0 || g[0].EntrySpan != 15 || g[0].NumClusters != 2 ||
		g[0].PageList.Length != 128 {
		t.Errorf("got %+v", g)
	}
	gotList, err := f.LiftPageList(0, &p, 3)
	if err != nil {
		t.Fatal(err)
	}
	at := func(n uint32, size, offset uint64) envelope.Page {
		return envelope.Page{NumElements: n, Locator: locator.At(offset, size)}
	}
	summed := at(6, 48, 2032)
	summed.HasCRC32 = true
	want := &envelope.PageList{
		HeaderChecksum: 0x11223344,
		Clusters:       []envelope.Cluster{{NumEntries: 10}, {FirstEntry: 10, NumEntries: 5}},
		Pages: []envelope.ClusterPages{
			{Columns: []envelope.ColumnPages{
				{Pages: []envelope.Page{at(10, 40, 1000)}, Compression: 505},
				{Pages: []envelope.Page{at(4, 32, 2000), summed}, Compression: 505},
				{Compression: 505}}},
			{Columns: []envelope.ColumnPages{
				{Pages: []envelope.Page{at(5, 40, 4000)}, ElementOffset: 10, Compression: 505},
				{ElementOffset: 10, Compression: 505},
				{Pages: []envelope.Page{at(5, 20, 3000)}, ElementOffset: 10, Compression: 505}}},
		},
	}
	if !reflect.DeepEqual(gotList, want) {
		t.Errorf("got  %+v\nwant %+v", gotList, want)
	}

	for name, spoil := range map[string]func(*Footer, *PageList){
		"no column group":      func(f *Footer, _ *PageList) { f.Clusters[1].ColumnGroup = 2 },
		"twice the same group": func(f *Footer, p *PageList) { f.ColumnGroups[1].Columns[0] = 1 },
		"no such column":       func(f *Footer, _ *PageList) { f.ColumnGroups[1].Columns[0] = 3 },
		"too few columns":      func(_ *Footer, p *PageList) { p.Clusters[2].Columns = p.Clusters[2].Columns[:1] },
		"too few clusters":     func(_ *Footer, p *PageList) { p.Clusters = p.Clusters[:2] },
		"other entries":        func(f *Footer, _ *PageList) { f.Clusters[2].FirstEntry++ },
		"incomplete": func(f *Footer, p *PageList) {
			f.Clusters, f.ClusterGroups[0].NumClusters, p.Clusters = f.Clusters[:2], 2, p.Clusters[:2]
		},
	} {
		var f Footer
		var p PageList
		f.Wire(frame.NewReader(Hex(sharded).Bytes, "test", 0))
		p.Wire(frame.NewReader(Hex(pageList).Bytes, "test", 0))
		spoil(&f, &p)
		_, err := f.LiftPageList(0, &p, 3)
		if fault := Fault(t, err, frame.ErrCorrupt, frame.ErrUnsupported); fault != nil &&
			(name == "other entries" || name == "incomplete") != errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(*Footer){
		"clusters without group": func(f *Footer) { f.ClusterGroups[0].NumClusters = 2 },
		"more than there are":    func(f *Footer) { f.ClusterGroups[0].NumClusters = math.MaxUint32 },
		"too many entries":       func(f *Footer) { f.Clusters[0].FirstEntry = math.MaxInt64 },
	} {
		f.Wire(frame.NewReader(Hex(sharded).Bytes, "test", 0))
		spoil(&f)
		if _, _, err := Lift(&h, &f); err == nil {
			t.Error(name)
		} else {
			Fault(t, err, frame.ErrCorrupt)
		}
	}
}

// sealed returns the envelope with the given payload: version 1, minimum version
// 1, and the checksum.
func sealed(payload string) []byte {
	b := Hex(`01 00  01 00` + "\n" + payload).Bytes
	return append(b, Hex(LE(4, int64(crc32.ChecksumIEEE(b)))).Bytes...)
}

func TestEnvelope(t *testing.T) {
	b := sealed(header)
	if h, err := ParseHeader(b); err != nil || h.Name != "ntp" {
		t.Errorf("%+v, %v", h, err)
	}
	for n := range b {
		if _, err := ParseHeader(b[:n:n]); err == nil {
			t.Errorf("the first %d bytes are taken for all", n)
		} else {
			Fault(t, err, frame.ErrCorrupt, frame.ErrChecksum)
		}
		for bit := range 8 {
			b[n] ^= 1 << bit
			_, err := ParseHeader(b)
			Fault(t, err, frame.ErrChecksum)
			b[n] ^= 1 << bit
		}
	}
	for _, bad := range []string{`02 00 02 00`, `01 00 02 00`, `00 00 00 00`} {
		b := append(Hex(bad).Bytes, Hex(header).Bytes...)
		b = append(b, Hex(LE(4, int64(crc32.ChecksumIEEE(b)))).Bytes...)
		_, err := ParseHeader(b)
		Fault(t, err, frame.ErrUnsupported)
	}
	tagged := bytes.Clone(Hex(header).Bytes)
	tagged[8] = 2
	var h Header
	c := frame.NewReader(tagged, "header", 0)
	h.Wire(c)
	Fault(t, c.Err(), frame.ErrUnsupported)
}

// FuzzEnvelopes reads the fuzzer's bytes as the payload of each envelope.
func FuzzEnvelopes(f *testing.F) {
	for kind, seed := range []string{header, sharded, pageList} {
		f.Add(uint8(kind), Hex(seed).Bytes)
	}
	f.Add(uint8(1), Hex(footer(empty, empty, empty, empty, empty)).Bytes)
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		switch kind % 3 {
		case 0:
			if h, ok := Walk("header", (*Header).Wire).Try(t, b); ok {
				_, _, _ = Lift(h, new(Footer))
			}
		case 1:
			if f, ok := Walk("footer", (*Footer).Wire).Try(t, b); ok {
				_, _, err := Lift(new(Header), f)
				for i := range f.ClusterGroups {
					if err == nil {
						_, _ = f.LiftPageList(i, &PageList{Clusters: make([]ClusterPages, min(f.ClusterGroups[i].NumClusters, 10))}, 3)
					}
				}
			}
		case 2:
			Walk("page list", (*PageList).Wire).Try(t, b)
		}
	})
}
