package v0

import (
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	. "github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/locator"
)

// The vectors are written by hand after ROOT's source. They show what it says,
// not what any program ever wrote.

// fr returns the text of a frame.
func fr(body ...string) string {
	text := strings.Join(body, "\n")
	return LE(4, 0) + LE(4, int64(8+len(Hex(text).Bytes))) + text + "\n"
}

func version(used, least int64) string { return fr(LE(4, used), LE(4, least), LE(8, 0)) }

func field(id int64, name, typ string, repetitions, structure, parent int64, children ...int64) string {
	links := LE(4, int64(len(children)))
	for _, c := range children {
		links += LE(8, c)
	}
	return fr(LE(8, id), version(0, 0), version(2, 0), Str(name), Str("about "+name), Str(typ), LE(8, repetitions),
		LE(4, structure), LE(8, parent), links)
}

func col(id, typ, field, index int64) string {
	return fr(LE(8, id), version(0, 0), fr(LE(4, typ), LE(4, 1)), LE(8, field), LE(4, index))
}

// The root is field 7. Its children, in order, are 5, an array of fields 6, and
// 2, a vector of fields 1; and then a string, 9.
var header = fr(LE(8, 0), Str("ntp"), Str("text"), Str("author"), Str("custodian"), LE(8, 1600000000), LE(8, -1),
	version(0, 0), fr(Str("own")), fr(Str("group")),
	LE(4, 6),
	field(1, "std::int32_t", "std::int32_t", 0, 0, 2),
	field(2, "v", "std::vector<std::int32_t>", 0, 1, 7, 1),
	field(5, "a", "std::array<float,3>", 3, 0, 7, 6),
	field(6, "float", "float", 0, 0, 5),
	field(9, "s", "std::string", 0, 0, 7),
	field(7, "", "", 0, 2, -1, 5, 2, 9),
	LE(4, 5),
	col(4, 3, 9, 1), col(3, 1, 9, 0), // Byte, Index
	col(0, 10, 1, 0), col(1, 1, 2, 0), col(2, 6, 6, 0)) // Int32, Index, Real32

func place(offset, size int64) string { return LE(8, offset) + LE(4, size) + Str("") }

func columnRange(column, first, elements int64, pages ...string) string {
	return LE(8, column) + LE(8, first) + LE(4, elements) + LE(8, 404) + LE(4, int64(len(pages))) + strings.Join(pages, "")
}

func cluster(id, first, entries int64, columns ...string) string {
	return fr(Str("own")) + fr(LE(8, id), version(0, 0), LE(8, first), LE(8, entries), place(0, 0)) + LE(4,
		int64(len(columns))) + strings.Join(columns, "")
}

// Two clusters, the later one first.
var footer = LE(4, 0) + LE(4, 0) + LE(8, 0) + LE(8, 2) +
	cluster(8, 2, 1, columnRange(0, 3, 0), columnRange(1, 2, 1, LE(4, 1)+place(500, 4)),
		columnRange(2, 6, 3, LE(4, 3)+place(504, 12)),
		columnRange(3, 2, 1, LE(4, 1)+place(516, 4)), columnRange(4, 9, 0)) +
	cluster(3, 0, 2, columnRange(0, 0, 3, LE(4, 1)+place(100, 4), LE(4, 2)+place(104, 8)),
		columnRange(1, 0, 2, LE(4, 2)+place(112, 8)),
		columnRange(4, 0, 9, LE(4, 9)+LE(8, 0)+LE(4, 9)+Str("file://x")), columnRange(3, 0, 2, LE(4, 2)+place(120, 8)),
		columnRange(2, 0, 6, LE(4, 6)+place(128, 24))) +
	LE(4, 0) + LE(4, 111) + LE(4, 222)

func TestHeader(t *testing.T) {
	c := Walk("header", (*Header).Wire)
	got := c.Check(t, Hex(header))
	if got.Name != "ntp" || got.Description != "text" || got.Author != "author" || got.Custodian != "custodian" ||
		got.TimeData != 1600000000 || got.TimeWritten != -1 || got.OwnID.Text != "own" || got.GroupID.Text != "group" {
		t.Errorf("got %+v", got)
	}
	if want := (Field{ID: 5, TypeVersion: Version{Use: 2}, Name: "a", Description: "about a",
		TypeName: "std::array<float,3>", Repetitions: 3, Parent: 7, Children: []uint64{6}}); len(got.Fields) != 6 ||
		!reflect.DeepEqual(got.Fields[2], want) {
		t.Errorf("got %+v, want %+v", got.Fields, want)
	}
	if want := (Column{ID: 4, Type: 3, Sorted: 1, Field: 9, Index: 1}); len(got.Columns) != 5 ||
		!reflect.DeepEqual(got.Columns[0], want) {
		t.Errorf("got %+v, want %+v", got.Columns, want)
	}
	Longer(t, c, got)
}

func TestFooter(t *testing.T) {
	c := Walk("footer", (*Footer).Wire)
	got := c.Check(t, Hex(footer))
	want := Range{Column: 0, NumElements: 3, Compression: 404,
		Pages: []Page{{1, Locator{100, 4, ""}}, {2, Locator{104, 8, ""}}}}
	if len(got.Clusters) != 2 || !reflect.DeepEqual(got.Clusters[1].Columns[0], want) || got.HeaderLength != 111 ||
		got.FooterLength != 222 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	Longer(t, c, got)
}

// parsed returns what header and footer say.
func parsed(t *testing.T) (*Header, *Footer) {
	h, f := new(Header), new(Footer)
	c, d := frame.NewReader(Hex(header).Bytes, "header", 0), frame.NewReader(Hex(footer).Bytes, "footer", 0)
	h.Wire(c)
	f.Wire(d)
	if c.Err() != nil || d.Err() != nil {
		t.Fatal(c.Err(), d.Err())
	}
	return h, f
}

func TestLift(t *testing.T) {
	h, f := parsed(t)
	header, footer, list, err := Lift(h, f, 111, 222)
	if err != nil {
		t.Fatal(err)
	}
	wantFields := []envelope.Field{
		{TypeVersion: 2, Flags: envelope.FieldRepetitive, ArraySize: 3, Name: "a", TypeName: "std::array<float,3>",
			Description: "about a"},
		{TypeVersion: 2, Name: "_0", TypeName: "float", Description: "about float"},
		{TypeVersion: 2, Parent: 2, Role: envelope.RoleCollection, Name: "v", TypeName: "std::vector<std::int32_t>",
			Description: "about v"},
		{TypeVersion: 2, Parent: 2, Name: "_0", TypeName: "std::int32_t", Description: "about std::int32_t"},
		{TypeVersion: 2, Parent: 4, Name: "s", TypeName: "std::string", Description: "about s"},
	}
	if header.Name != "ntp" || header.Description != "text" || !reflect.DeepEqual(header.Fields, wantFields) {
		t.Errorf("got  %+v\nwant %+v", header.Fields, wantFields)
	}
	wantColumns := []envelope.Column{
		{Type: column.Real32, Bits: 32, Field: 1}, {Type: column.Index32, Bits: 32, Field: 2},
		{Type: column.Int32, Bits: 32, Field: 3, PreRelease: true},
		{Type: column.Index32, Bits: 32, Field: 4}, {Type: column.Char, Bits: 8, Field: 4},
	}
	if !reflect.DeepEqual(header.Columns, wantColumns) {
		t.Errorf("got  %+v\nwant %+v", header.Columns, wantColumns)
	}
	if want := []envelope.ClusterGroup{{EntrySpan: 3, NumClusters: 2}}; !reflect.DeepEqual(footer.ClusterGroups, want) {
		t.Errorf("got %+v", footer.ClusterGroups)
	}
	if want := []envelope.Cluster{{FirstEntry: 2, NumEntries: 1}, {NumEntries: 2}}; !reflect.DeepEqual(list.Clusters,
		want) {
		t.Errorf("got %+v", list.Clusters)
	}
	uri := locator.Locator{Type: locator.URI, Payload: "file://x"}
	for i, want := range []envelope.ColumnPages{
		{Compression: 404, Pages: []envelope.Page{{NumElements: 6, Locator: locator.At(128, 24)}}},
		{Compression: 404, Pages: []envelope.Page{{NumElements: 2, Locator: locator.At(112, 8)}}},
		{Compression: 404, Pages: []envelope.Page{{NumElements: 1, Locator: locator.At(100, 4)},
			{NumElements: 2, Locator: locator.At(104, 8)}}},
		{Compression: 404, Pages: []envelope.Page{{NumElements: 2, Locator: locator.At(120, 8)}}},
		{Compression: 404, Pages: []envelope.Page{{NumElements: 9, Locator: uri}}},
	} {
		if got := list.Pages[1].Columns[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("column %d: got %+v, want %+v", i, got, want)
		}
	}
}

// What contradicts itself is refused.
func TestLiftErrors(t *testing.T) {
	for name, spoil := range map[string]func(*Header, *Footer){
		"no root":           func(h *Header, _ *Footer) { h.Fields = h.Fields[:5] },
		"two roots":         func(h *Header, _ *Footer) { h.Fields[0].Parent = noParent },
		"two of an id":      func(h *Header, _ *Footer) { h.Fields[0].ID = 2 },
		"not linked":        func(h *Header, _ *Footer) { h.Fields[5].Children = []uint64{5, 2} },
		"linked twice":      func(h *Header, _ *Footer) { h.Fields[5].Children = []uint64{5, 2, 9, 9} },
		"linked to nothing": func(h *Header, _ *Footer) { h.Fields[3].Children = []uint64{77} },
		"child of another":  func(h *Header, _ *Footer) { h.Fields[3].Parent = 2 },
		"its own parent":    func(h *Header, _ *Footer) { h.Fields[4].Parent, h.Fields[4].Children = 9, []uint64{9} },
		"circle": func(h *Header, _ *Footer) {
			h.Fields[5].Children = []uint64{5, 9}
			h.Fields[0].Children, h.Fields[1].Parent = []uint64{2}, 1
		},
		"column of nothing":    func(h *Header, _ *Footer) { h.Columns[0].Field = 7 },
		"two columns of an id": func(h *Header, _ *Footer) { h.Columns[0].ID = 3 },
		"missing index":        func(h *Header, _ *Footer) { h.Columns[0].Index = 2 },
		"same index":           func(h *Header, _ *Footer) { h.Columns[0].Index = 0 },
		"other RNTuple":        func(_ *Header, f *Footer) { f.Clusters[0].OwnID.Text = "x" },
		"too many entries":     func(_ *Header, f *Footer) { f.Clusters[0].NumEntries = noParent },
		"column missing":       func(_ *Header, f *Footer) { f.Clusters[0].Columns = f.Clusters[0].Columns[1:] },
		"column twice":         func(_ *Header, f *Footer) { f.Clusters[0].Columns[0].Column = 1 },
		"unknown column":       func(_ *Header, f *Footer) { f.Clusters[0].Columns[0].Column = 10 },
		"elements":             func(_ *Header, f *Footer) { f.Clusters[0].Columns[1].NumElements++ },
		"first element":        func(_ *Header, f *Footer) { f.Clusters[0].Columns[1].FirstElement = 1 << 63 },
		"header length":        func(_ *Header, f *Footer) { f.HeaderLength++ },
		"footer length":        func(_ *Header, f *Footer) { f.FooterLength++ },
	} {
		h, f := parsed(t)
		spoil(h, f)
		if _, _, _, err := Lift(h, f, 111, 222); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			Fault(t, err, frame.ErrCorrupt)
		}
	}
	h, f := parsed(t)
	f.Clusters = nil
	if _, footer, list, err := Lift(h, f, 111, 222); err != nil || len(footer.ClusterGroups)+len(list.Clusters) != 0 {
		t.Errorf("no clusters: %v", err)
	}
}

// Versions other than 0 were never there.
func TestVersions(t *testing.T) {
	b := slices.Clone(Hex(header).Bytes)
	b[0] = 1
	c := frame.NewReader(b, "header", 0)
	new(Header).Wire(c)
	Fault(t, c.Err(), frame.ErrUnsupported)
}

func TestChecksum(t *testing.T) {
	b := Hex(header).Bytes
	b = append(b, Hex(LE(4, int64(crc32.ChecksumIEEE(b)))).Bytes...)
	if h, err := ParseHeader(b); err != nil || h.Name != "ntp" {
		t.Errorf("%+v, %v", h, err)
	}
	b[20] ^= 1
	_, err := ParseHeader(b)
	Fault(t, err, frame.ErrChecksum)
	_, err = ParseFooter(b[:3])
	Fault(t, err, frame.ErrCorrupt)
}

// FuzzLift reads the fuzzer's bytes as header and footer.
func FuzzLift(f *testing.F) {
	f.Add(Hex(header).Bytes, Hex(footer).Bytes)
	f.Fuzz(func(t *testing.T, header, footer []byte) {
		h, ok1 := Walk("header", (*Header).Wire).Try(t, header)
		f, ok2 := Walk("footer", (*Footer).Wire).Try(t, footer)
		if ok1 && ok2 {
			if _, _, _, err := Lift(h, f, uint64(f.HeaderLength), uint64(f.FooterLength)); err != nil {
				Fault(t, err, frame.ErrCorrupt)
			}
		}
	})
}
