package envelope_test

import (
	"errors"
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

// member is an optional member of a record.
type member[T any] struct {
	flag uint16
	hex  string
	set  func(*T)
}

// optional calls test with all sets of optional members, in the order that they
// have on disk, and with flags that are not known.
func optional[T any](members []member[T], unknown []uint16, test func(flags uint16, hex string, set func(*T))) {
	for set := range 1 << len(members) {
		for _, flags := range unknown {
			text, sets := "", []func(*T){}
			for i, m := range members {
				if set>>i&1 != 0 {
					flags |= m.flag
					text += " " + m.hex
					sets = append(sets, m.set)
				}
			}
			test(flags, text, func(v *T) {
				for _, set := range sets {
					set(v)
				}
			})
		}
	}
}

func TestField(t *testing.T) {
	codec := Walk("test", (*envelope.Field).Wire)
	members := []member[envelope.Field]{
		{0x01, `03 00 00 00 00 00 00 80`, func(f *envelope.Field) { f.ArraySize = 1<<63 + 3 }},
		{0x02, `07 00 00 00`, func(f *envelope.Field) { f.Source = 7 }},
		{0x04, `ef be ad de`, func(f *envelope.Field) { f.TypeChecksum = 0xdeadbeef }},
	}
	optional(members, []uint16{0, 0x08, 0x8010}, func(flags uint16, hex string, set func(*envelope.Field)) {
		got := codec.Check(t, Hex(Record(
			`01 00 00 00  ff ff ff ff  02 00 00 00`, // field version, type version, parent
			`04 00`, LE(2, int64(flags)),            // role
			`02 00 00 00 "pt"  05 00 00 00 "float"  07 00 00 00 "Float_t"  06 00 00 00 "in GeV"`, hex)))
		want := envelope.Field{Version: 1, TypeVersion: math.MaxUint32, Parent: 2, Role: envelope.RoleStreamer, Flags: flags,
			Name: "pt", TypeName: "float", TypeAlias: "Float_t", Description: "in GeV"}
		if set(&want); !reflect.DeepEqual(*got, want) {
			t.Errorf("flags %#x: got %+v, want %+v", flags, *got, want)
		}
	})
}

func TestColumn(t *testing.T) {
	codec := Walk("test", (*envelope.Column).Wire)
	members := []member[envelope.Column]{
		{0x01, `fe ff ff ff ff ff ff ff`, func(c *envelope.Column) { c.FirstElement = -2 }},
		{0x02, `00 00 00 00 00 00 f0 bf  00 00 00 00 00 00 00 40`, func(c *envelope.Column) { c.Min, c.Max = -1, 2 }},
	}
	optional(members, []uint16{0, 0x04, 0x8000}, func(flags uint16, hex string, set func(*envelope.Column)) {
		got := codec.Check(t, Hex(Record(
			`1d 00  14 00`,                                     // type, bits
			`03 00 00 00`, LE(2, int64(flags)), `01 00`, hex))) // field, flags, representation
		want := envelope.Column{Type: column.Real32Quant, Bits: 20, Field: 3, Flags: flags, Representation: 1}
		if set(&want); !reflect.DeepEqual(*got, want) {
			t.Errorf("flags %#x: got %+v, want %+v", flags, *got, want)
		}
	})
}

// The other records of all envelopes.
func TestRecords(t *testing.T) {
	check := func(got, want any) {
		t.Helper()
		if got = reflect.ValueOf(got).Elem().Interface(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	check(Walk("test", (*envelope.Alias).Wire).Check(t, Hex(`[ 10 00 00 00 00 00 00 00  05 00 00 00  06 00 00 00 ]`)),
		envelope.Alias{Column: 5, Field: 6})
	check(Walk("test", (*envelope.ExtraTypeInfo).Wire).Check(t, Hex(`
		[ 1d 00 00 00 00 00 00 00  09 00 00 80  02 00 00 00   # unknown content, version 2
		  01 00 00 00 "T"  04 00 00 00 "\x00\xff\x00\xff" ]`)),
		envelope.ExtraTypeInfo{ContentID: 0x80000009, TypeVersion: 2, TypeName: "T", Content: "\x00\xff\x00\xff"})
	check(Walk("test", (*envelope.ClusterGroup).Wire).Check(t, Hex(`
		[ 30 00 00 00 00 00 00 00
		  0a 00 00 00 00 00 00 00  14 00 00 00 00 00 00 00  03 00 00 00   # entries 10 to 29 in 3 clusters
		  00 01 00 00 00 00 00 00  80 00 00 00  00 10 00 00 00 00 00 00 ] # page list of 256 bytes, 128 in the file`)),
		envelope.ClusterGroup{MinEntry: 10, EntrySpan: 20, NumClusters: 3,
			PageList: locator.Link{Length: 256, Locator: locator.Locator{Size: 128, Offset: 4096}}})
	check(Walk("test", (*envelope.AttributeSet).Wire).Check(t, Hex(`
		[ 22 00 00 00 00 00 00 00  01 00  02 00  4e 00 00 00   # schema 1.2, anchor of 78 bytes
		  4e 00 00 00  00 10 00 00 00 00 00 00  02 00 00 00 "at" ]`)),
		envelope.AttributeSet{SchemaMajor: 1, SchemaMinor: 2, AnchorLength: 78,
			Anchor: locator.Locator{Size: 78, Offset: 4096}, Name: "at"})

	// 56 bits of entries, 8 bits of flags.
	for text, want := range map[string]envelope.Cluster{
		`e8 03 00 00 00 00 00 00  ff ff ff ff ff ff ff 00`: {FirstEntry: 1000, NumEntries: 1<<56 - 1},
		`ff ff ff ff ff ff ff ff  02 00 00 00 00 00 00 01`: {FirstEntry: math.MaxUint64, NumEntries: 2,
			Flags: envelope.ClusterSharded},
		`00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 fe`: {Flags: 0xfe},
	} {
		check(Walk("test", (*envelope.Cluster).Wire).Check(t, Hex(Record(text))), want)
	}
}

func TestPages(t *testing.T) {
	codec := Walk("test", (*envelope.Page).Wire)
	for text, want := range map[string]envelope.Page{
		`0a 00 00 00  28 00 00 00  00 10 00 00 00 00 00 00`: {NumElements: 10,
			Locator: locator.Locator{Size: 40, Offset: 4096}},
		`f6 ff ff ff  28 00 00 00  00 10 00 00 00 00 00 00`: {NumElements: 10, HasChecksum: true,
			Locator: locator.Locator{Size: 40, Offset: 4096}},
		`ff ff ff 7f  00 00 00 00  00 00 00 00 00 00 00 00`: {NumElements: math.MaxInt32},
		`01 00 00 80  f8 ff ff fd  aa bb cc dd`: {NumElements: math.MaxInt32, HasChecksum: true,
			Locator: locator.Locator{Type: locator.Object, Payload: "\xaa\xbb\xcc\xdd"}},
	} {
		if got := codec.Check(t, Hex(text)); *got != want {
			t.Errorf("%s: got %+v", text, *got)
		}
	}
	_, _, err := codec.Parse(Hex(`00 00 00 80  28 00 00 00  00 10 00 00 00 00 00 00`).Bytes)
	Fault(t, err, frame.ErrCorrupt)
}

// Suppressed columns have no compression settings and must not have pages.
func TestColumnPages(t *testing.T) {
	codec := Walk("test", (*envelope.ColumnPages).Wire)
	const page = `f6 ff ff ff  28 00 00 00  00 10 00 00 00 00 00 00`
	pages := []envelope.Page{{NumElements: 10, HasChecksum: true, Locator: locator.Locator{Size: 40, Offset: 4096}}}
	for _, test := range []struct {
		hex        string
		want       envelope.ColumnPages
		suppressed bool
	}{
		{List(0, `00 00 00 00 00 00 00 00  f9 01 00 00`), envelope.ColumnPages{Compression: 505}, false},
		{List(1, page, `64 00 00 00 00 00 00 00  00 00 00 00`), envelope.ColumnPages{Pages: pages, ElementOffset: 100},
			false},
		{List(2, page, page, `64 00 00 00 00 00 00 00  00 00 00 00`),
			envelope.ColumnPages{Pages: append(pages, pages...), ElementOffset: 100}, false},
		{List(0, `00 00 00 00 00 00 00 80`), envelope.ColumnPages{ElementOffset: envelope.Suppressed}, true},
		{List(0, `ff ff ff ff ff ff ff ff`), envelope.ColumnPages{ElementOffset: -1}, true},
	} {
		got := codec.Check(t, Hex(test.hex))
		if got.Pages = append([]envelope.Page(nil), got.Pages...); !reflect.DeepEqual(*got, test.want) ||
			got.IsSuppressed() != test.suppressed {
			t.Errorf("got %+v, want %+v", *got, test.want)
		}
	}
	_, _, err := codec.Parse(Hex(List(1, page, `00 00 00 00 00 00 00 80`)).Bytes)
	if f := Fault(t, err, frame.ErrCorrupt); f != nil && f.Path != "test.pages.element offset" {
		t.Errorf("pages of a suppressed column: %v", err)
	}
}

// What the format cannot hold is not written.
func TestTooMuch(t *testing.T) {
	for _, v := range []interface{ Wire(*frame.Codec) }{
		&envelope.Cluster{NumEntries: 1 << 56},
		&envelope.Page{NumElements: 1 << 31},
		&envelope.ColumnPages{Pages: make([]envelope.Page, 1), ElementOffset: -1},
	} {
		c := frame.NewWriter(nil, "x")
		if v.Wire(c); c.Err() == nil {
			t.Errorf("%+v is written", v)
		}
	}
}

func TestFeatures(t *testing.T) {
	const end = 1 << 63
	for _, test := range []struct {
		hex     string
		want    envelope.Features
		flags   []int
		unknown string // number of the first flag that is not supported
	}{
		{`00 00 00 00 00 00 00 00`, envelope.Features{0}, nil, ""},
		{`01 00 00 00 00 00 00 00`, envelope.Features{1}, []int{0}, ""},
		{`20 00 00 00 00 00 00 00`, envelope.Features{1 << 5}, []int{5}, "5"},
		{`01 00 00 00 00 00 00 40`, envelope.Features{1<<62 | 1}, []int{0, 62}, "62"},
		{`00 00 00 00 00 00 00 80  00 00 00 00 00 00 00 00`, envelope.Features{end, 0}, nil, ""},
		{`00 00 00 00 00 00 00 80  01 00 00 00 00 00 00 00`, envelope.Features{end, 1}, []int{64}, "64"},
		{`01 00 00 00 00 00 00 80  00 00 00 00 00 00 00 80  00 02 00 00 00 00 00 00`,
			envelope.Features{end | 1, end, 1 << 9}, []int{0, 137}, "137"},
	} {
		header := Hex(`01 00 00 00 00 00 00 00` + test.hex + strings.Repeat(`00 00 00 00`,
			3) + List(0) + List(0) + List(0) + List(0))
		h := headers.Check(t, header)
		if !reflect.DeepEqual(h.Features, test.want) {
			t.Errorf("%s: got %#x", test.hex, h.Features)
		}
		for n := range 300 { // bit 63 of every word is not a flag
			want := false
			for _, flag := range test.flags {
				want = want || n == flag
			}
			if h.Features.Has(n) != want {
				t.Errorf("%#x: flag %d is %v", h.Features, n, !want)
			}
		}
		err := h.Features.Supported()
		if (err == nil) != (test.unknown == "") ||
			err != nil && !(errors.Is(err, frame.ErrUnsupported) && strings.Contains(err.Error(), "flag "+test.unknown+":")) {
			t.Errorf("%#x: %v", h.Features, err)
		}
	}
	// A word that promises another one, at the end of the envelope.
	_, err := envelope.ParseHeader(Seal(1, Hex(`01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 80`).Bytes))
	Fault(t, err, frame.ErrCorrupt)
	for _, f := range []envelope.Features{{end}, {0, 0}, {end, end}, {end, 0, 0}} {
		if _, err := (&envelope.Header{Features: f}).Append(nil); err == nil {
			t.Errorf("%#x is written", f)
		}
	}
	// None given means none set.
	b, err := new(envelope.Header).Append(nil)
	if h, err2 := envelope.ParseHeader(b); err != nil || err2 != nil ||
		!reflect.DeepEqual(h.Features, envelope.Features{0}) {
		t.Errorf("%v, %v", err, err2)
	}
}
