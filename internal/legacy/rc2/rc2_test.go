package rc2

import (
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	. "github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/locator"
)

// The vectors are written by hand after ROOT's source. They show what it says,
// not what any program ever wrote.

var empty = List(0)

// schema has what ROOT 6.32 wrote, and what came until format 1.
var schema = List(4,
	Record(`00 00 00 00  00 00 00 00  00 00 00 00  01 00  00 00`, Str("c"), Str(""), Str(""), Str("")),
	Record(`00 00 00 00  00 00 00 00  00 00 00 00  00 00  00 00`, Str("m"), Str("float"), Str(""), Str("member of c")),
	Record(`00 00 00 00  00 00 00 00  02 00 00 00  00 00  01 00  03 00 00 00 00 00 00 00`, Str("bits"),
		Str("std::bitset<3>"), Str(""), Str("")),
	Record(`00 00 00 00  07 00 00 00  03 00 00 00  02 00  07 00  02 00 00 00 00 00 00 00  01 00 00 00  ef be ad de`,
		Str("p"), Str("T"), Str("U"), Str(""))) +
	List(4,
		Record(`0e 00  40 00  00 00 00 00  05 00 00 00`), // SplitIndex64
		// Real32Quant in [-1, 2]
		Record(`1e 00  0c 00  01 00 00 00  10 00  00 00  00 00 00 00 00 00 f0 bf  00 00 00 00 00 00 00 40`),
		// Real32Trunc, representation 1
		Record(`1d 00  10 00  01 00 00 00  08 00  01 00  fe ff ff ff ff ff ff ff`),
		Record(`06 00  01 00  02 00 00 00  00 00 00 00`)) + // Bit
	List(1, Record(`01 00 00 00  01 00 00 00`)) +
	List(3,
		Record(`01 00 00 00  02 00 00 00  03 00 00 00`, Str("T"), Str("old")), // types from version 2 to 3
		Record(`00 00 00 00  02 00 00 00`, Str(""), Str("new")),
		Record(`55`))

var header = `00 00 00 00 00 00 00 00` + "\n" + Str("ntp") + Str("about it") + Str("hand") + schema

func TestHeader(t *testing.T) {
	c := Walk("header", (*Header).Wire)
	got := c.Check(t, Hex(header))
	want := []Field{
		{envelope.Field{Role: envelope.RoleCollection, Name: "c"}},
		{envelope.Field{Name: "m", TypeName: "float", Description: "member of c"}},
		{envelope.Field{Parent: 2, Flags: 1, ArraySize: 3, Name: "bits", TypeName: "std::bitset<3>"}},
		{envelope.Field{TypeVersion: 7, Parent: 3, Role: envelope.RoleRecord, Flags: 7, ArraySize: 2, Source: 1,
			TypeChecksum: 0xdeadbeef, Name: "p", TypeName: "T", TypeAlias: "U"}},
	}
	if got.Name != "ntp" || got.Description != "about it" || got.Writer != "hand" || !reflect.DeepEqual(got.Fields, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	Longer(t, c, got)

	lifted, _ := Lift(got, new(Footer))
	wantColumns := []envelope.Column{
		{Type: column.SplitIndex64, Bits: 64},
		// field 1 is the record of c
		{Type: column.Real32Quant, Bits: 12, Field: 2, Flags: envelope.ColumnRanged, Min: -1, Max: 2},
		{Type: column.Real32Trunc, Bits: 16, Field: 2, Flags: envelope.ColumnDeferred, Representation: 1, FirstElement: -2},
		{Type: column.Bit, Bits: 1, Field: 3},
	}
	if !reflect.DeepEqual(lifted.Columns, wantColumns) {
		t.Errorf("got  %+v\nwant %+v", lifted.Columns, wantColumns)
	}
	wantTypes := []envelope.ExtraTypeInfo{
		{ContentID: 1, TypeVersion: 2, TypeName: "T", Content: "old"}, {TypeVersion: 2, Content: "new"},
		{ContentID: 1 << 31, Extra: []byte{0x55}},
	}
	if !reflect.DeepEqual(lifted.ExtraTypes, wantTypes) {
		t.Errorf("got  %+v\nwant %+v", lifted.ExtraTypes, wantTypes)
	}
	if f := lifted.Fields; len(f) != 5 || f[1].Name != "_0" || f[2].Parent != 1 || f[4].Source != 2 {
		t.Errorf("got %+v", f)
	}
}

func TestFooter(t *testing.T) {
	c := Walk("footer", (*Footer).Wire)
	const link = `80 00 00 00 00 00 00 00  40 00 00 00  00 10 00 00 00 00 00 00`
	head := `00 00 00 00 00 00 00 00  88 77 66 55 44 33 22 11`
	none := Record(empty, empty, empty, empty)
	group := Record(`0a 00 00 00 00 00 00 00  14 00 00 00 00 00 00 00  03 00 00 00`, link)
	to := locator.Link{Length: 128, Locator: locator.At(4096, 64)}
	for _, test := range []struct {
		hex    string
		edited Footer
	}{
		{head + Record(schema) + empty + List(1, group) + List(1, link),
			Footer{Extension: &Schema{}, ClusterGroups: []envelope.ClusterGroup{{MinEntry: 10, EntrySpan: 20, NumClusters: 3,
				PageList: to}}, MetaData: []locator.Link{to}}},
		{head + none + List(1, Record(empty)) + empty + empty,
			Footer{Extension: &Schema{}, ColumnGroups: []ColumnGroup{{Hex(empty).Bytes}},
				ClusterGroups: []envelope.ClusterGroup{}, MetaData: []locator.Link{}}},
		// after ROOT 6.32
		{head + none + empty + empty, Footer{Extension: &Schema{}, ColumnGroups: []ColumnGroup{},
			ClusterGroups: []envelope.ClusterGroup{}}},
	} {
		v := Hex(test.hex)
		got := c.RoundTrip(t, v.Bytes)
		c.Extra(t, v)
		c.Damage(t, v)
		if (got.Extension != nil) != (test.edited.Extension != nil) || got.HeaderChecksum != 0x1122334455667788 ||
			!reflect.DeepEqual(got.ClusterGroups, test.edited.ClusterGroups) ||
			!reflect.DeepEqual(got.MetaData, test.edited.MetaData) || len(got.ColumnGroups) != len(test.edited.ColumnGroups) {
			t.Errorf("got %+v, want %+v", got, test.edited)
		}
		if _, footer := Lift(new(Header), got); footer.HeaderChecksum != got.HeaderChecksum ||
			!reflect.DeepEqual(footer.ClusterGroups, got.ClusterGroups) {
			t.Errorf("got %+v", footer)
		}
	}
}

// An extension can be an empty frame, too.
func TestNoExtension(t *testing.T) {
	c := Walk("footer", (*Footer).Wire)
	if got := c.RoundTrip(t, Hex(`00 00 00 00 00 00 00 00  88 77 66 55 44 33 22 11`+Record()+empty+empty).Bytes); got.Extension != nil {
		t.Errorf("got %+v", got)
	}
}

// FuzzEnvelopes reads the fuzzer's bytes as header and footer.
func FuzzEnvelopes(f *testing.F) {
	f.Add(Hex(header).Bytes,
		Hex(`00 00 00 00 00 00 00 00  88 77 66 55 44 33 22 11`+Record(schema)+empty+empty+empty).Bytes)
	f.Fuzz(func(t *testing.T, header, footer []byte) {
		h, ok1 := Walk("header", (*Header).Wire).Try(t, header)
		f, ok2 := Walk("footer", (*Footer).Wire).Try(t, footer)
		if ok1 && ok2 {
			Lift(h, f)
		}
	})
}

func TestEnvelope(t *testing.T) {
	b := Seal(1, Hex(`01 00 00 00 00 00 00 00`+header).Bytes)
	if h, err := ParseHeader(b); err != nil || h.Name != "ntp" {
		t.Errorf("%+v, %v", h, err)
	}
	b[30] ^= 1
	_, err := ParseHeader(b)
	Fault(t, err, frame.ErrChecksum)
}
