package rntuple_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// Files made by hand for what ROOT writes rarely or never.

// scalar builds a single field of one column, whose pages are given per cluster.
func scalar(b *builder, typ string, types ...column.Type) {
	f := b.regular().field(-1, "x", typ, envelope.RolePlain)
	for i, t := range types {
		b.regular().column(f, t, func(c *envelope.Column) { c.Representation = uint16(i) })
	}
}

// vector builds a std::vector<std::int32_t>.
func vector(b *builder) {
	f := b.regular().field(-1, "v", "std::vector<std::int32_t>", envelope.RoleCollection)
	b.regular().column(f, column.Index64)
	b.regular().column(b.regular().field(f, "_0", "std::int32_t", envelope.RolePlain), column.Int32)
}

func flags(f uint16) func(*envelope.Field) { return func(d *envelope.Field) { d.Flags |= f } }
func repeat(n uint64) func(*envelope.Field) {
	return func(d *envelope.Field) { d.Flags |= envelope.FieldRepetitive; d.ArraySize = n }
}
func deferred(first int64) func(*envelope.Column) {
	return func(c *envelope.Column) { c.Flags |= envelope.ColumnDeferred; c.FirstElement = first }
}
func representation(n uint16) func(*envelope.Column) {
	return func(c *envelope.Column) { c.Representation = n }
}

func TestByHand(t *testing.T) {
	tests := []struct {
		name  string
		build func(*builder) edits
		opts  *rntuple.ReadOptions
		want  string // the entries as JSON, or
		err   error  // the error, and
		says  string // what is in its text
	}{
		{name: "large locators, of pages and page list", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			p := page[int32](b, column.Int32, 1, 2)
			p.Locator.Type = locator.Large
			b.cluster(2, chunk(0, p))
			return edits{link: func(l locator.Locator) locator.Locator { l.Type = locator.Large; return l }}
		}, want: `{"x":1} {"x":2}`},

		{name: "everything chunked, at most 90 bytes to a key", build: func(b *builder) edits {
			b.maxKey = 90
			scalar(b, "std::int32_t", column.Int32)
			var src []int32
			for i := range 100 {
				src = append(src, int32(i))
			}
			b.cluster(100, chunk(0, page(b, column.Int32, src...)))
			return edits{}
		}, want: sequence(100)},

		{name: "a chunked page of a size within 8 bytes of the limit", build: func(b *builder) edits {
			b.maxKey = 84 // the page has 80, with its checksum 88
			scalar(b, "std::int32_t", column.Int32)
			var src []int32
			for i := range 20 {
				src = append(src, int32(i))
			}
			b.cluster(20, chunk(0, page(b, column.Int32, src...)))
			return edits{}
		}, want: sequence(20)},

		{name: "feature flag 0 in header and footer", build: func(b *builder) edits {
			scalar(b, "bool", column.Bit)
			b.header.Features, b.footer.Features = envelope.Features{1}, envelope.Features{1 << 63, 0}
			b.cluster(1, chunk(0, page(b, column.Bit, true)))
			return edits{}
		}, want: `{"x":true}`},
		{name: "unknown feature flag in the header", build: func(b *builder) edits {
			b.header.Features = envelope.Features{1 << 5}
			return edits{}
		}, err: rntuple.ErrUnsupported, says: "feature flag 5"},
		{name: "unknown feature flag above 62 in the footer", build: func(b *builder) edits {
			b.footer.Features = envelope.Features{1 << 63, 1 << 63, 0x200}
			return edits{}
		}, err: rntuple.ErrUnsupported, says: "feature flag 137"},
		{name: "epoch 2", build: func(b *builder) edits {
			return edits{anchor: func(a *anchor.Anchor) { a.Epoch = 2 }}
		}, err: rntuple.ErrUnsupported, says: "epoch"},
		{name: "format 1.9.9.9 and longer anchor", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.cluster(1, chunk(0, page[int32](b, column.Int32, 7)))
			return edits{anchor: func(a *anchor.Anchor) { a.Major, a.Minor, a.Patch, a.Extra = 9, 9, 9, []byte("more") }}
		}, want: `{"x":7}`},

		{name: "longer frames and envelopes", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			extra := []byte("\xff what a newer writer appends")
			b.header.Extra, b.footer.Extra, b.footer.ExtensionExtra, b.footer.GroupsExtra, b.footer.SetsExtra = extra,
				extra, extra, extra, extra
			b.header.Fields[0].Extra, b.header.Columns[0].Extra = extra, extra
			b.header.Fields[0].Flags |= 0x4000
			b.header.Columns[0].Flags |= 0x4000
			b.header.ExtraTypes = []envelope.ExtraTypeInfo{{ContentID: 0x77, Extra: extra}}
			for i := range b.header.ListExtra {
				b.header.ListExtra[i], b.footer.Extension.ListExtra[i] = extra, extra
			}
			b.cluster(1, chunk(0, page[int32](b, column.Int32, 7)))
			return edits{
				pageList: func(p *envelope.PageList) {
					p.Extra, p.ClustersExtra, p.PagesExtra, p.Clusters[0].Extra = extra, extra, extra, extra
					p.Clusters[0].Flags = 0x80
					p.Pages[0].Extra, p.Pages[0].Columns[0].Extra = extra, extra
				},
				footer: func(f *envelope.Footer) { f.ClusterGroups[0].Extra = extra },
			}
		}, want: `{"x":7}`},

		{name: "empty extension frame, no attribute list", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.footer.Extension, b.footer.AttributeSets = nil, nil
			b.cluster(1, chunk(0, page[int32](b, column.Int32, 7)))
			return edits{}
		}, want: `{"x":7}`},

		{name: "an unknown column type hides its field and projections on it", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			s := b.regular()
			y := s.field(-1, "y", "std::vector<float>", envelope.RoleCollection)
			s.column(y, column.Index64)
			item := s.field(y, "_0", "float", envelope.RolePlain)
			s.column(item, 0x2a)
			p := s.field(-1, "p", "ROOT::RNTupleCardinality<std::uint64_t>", envelope.RolePlain, flags(envelope.FieldProjected),
				func(f *envelope.Field) { f.Source = uint32(y) })
			b.header.Aliases = []envelope.Alias{{Column: 1, Field: uint32(p)}}
			b.cluster(1, chunk(0, page[int32](b, column.Int32, 7)), chunk(0, page[uint64](b, column.Index64, 0)), chunk(0))
			return edits{}
		}, want: `{"x":7}`, says: `y: unsupported: column type 0x2a of 0 bits, p: its source, field "y"`},

		{name: "SplitReal16, which ROOT does not write", build: func(b *builder) edits {
			scalar(b, "float", column.SplitReal16)
			b.cluster(3, chunk(0, page[float32](b, column.SplitReal16, 1.5, -65504, 6.103515625e-05)))
			return edits{}
		}, want: `{"x":1.5} {"x":-65504} {"x":0.000061035156}`},

		{name: "representations that change from cluster to cluster", build: func(b *builder) edits {
			scalar(b, "double", column.Real64, column.Real16, column.Real32)
			b.cluster(2, chunk(0, page(b, column.Real64, 0.1, 0.2)), suppressed, suppressed)
			b.cluster(2, suppressed, suppressed, chunk(2, page[float32](b, column.Real32, 0.25, 16777216)))
			b.cluster(1, suppressed, chunk(4, page[float32](b, column.Real16, 0.5)), suppressed)
			return edits{}
		}, want: `{"x":0.1} {"x":0.2} {"x":0.25} {"x":16777216} {"x":0.5}`},
		{name: "two active representations", build: func(b *builder) edits {
			scalar(b, "double", column.Real64, column.Real16)
			b.cluster(1, chunk(0, page(b, column.Real64, 0.1)), chunk(0, page[float32](b, column.Real16, 0.1)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "representations 0 and 1 are both active"},
		{name: "no active representation", build: func(b *builder) edits {
			scalar(b, "double", column.Real64)
			b.cluster(1, suppressed)
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "suppressed"},
		{name: "a value that the field's type cannot hold", build: func(b *builder) edits {
			scalar(b, "std::int8_t", column.Int32)
			b.cluster(3, chunk(0, page[int32](b, column.Int32, -128, 127, 128)))
			return edits{}
		}, err: rntuple.ErrRange, says: `field "x", column 0, cluster 0, page 0`},

		{name: "fields added at entry 1 and between clusters", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			s := b.extension()
			s.column(s.field(-1, "mid", "std::int32_t", envelope.RolePlain), column.Int32, deferred(1))
			arr := s.field(-1, "arr", "std::array<std::int32_t,2>", envelope.RolePlain, repeat(2))
			s.column(s.field(arr, "_0", "std::int32_t", envelope.RolePlain), column.Int32, deferred(2))
			s.column(s.field(-1, "bits", "std::bitset<3>", envelope.RolePlain, repeat(3)), column.Bit, deferred(3))
			s.column(s.field(-1, "str", "std::string", envelope.RolePlain), column.Index64, deferred(1))
			s.column(s.ids()-1, column.Char)
			v := s.field(-1, "var", "std::variant<std::int32_t,bool>", envelope.RoleVariant)
			s.column(v, column.Switch, deferred(2))
			s.column(s.field(v, "_0", "std::int32_t", envelope.RolePlain), column.Int32)
			s.column(s.field(v, "_1", "bool", envelope.RolePlain), column.Bit)

			b.cluster(2, chunk(0, page[int32](b, column.Int32, 10, 11)), chunk(1, page[int32](b, column.Int32, 21)),
				chunk(2, page[int32](b, column.Int32, 1, 2)), chunk(3, page(b, column.Bit, true, true, false)),
				chunk(1, page[uint64](b, column.Index64, 2)), chunk(0, page[int8](b, column.Char, 'h', 'i')))
			b.cluster(1, chunk(2, page[int32](b, column.Int32, 12)), chunk(2, page[int32](b, column.Int32, 22)),
				chunk(4, page[int32](b, column.Int32, 3, 4)), chunk(6, page(b, column.Bit, false, false, true)),
				chunk(2, page[uint64](b, column.Index64, 1)), chunk(2, page[int8](b, column.Char, '!')),
				chunk(2, page(b, column.Switch, column.Tagged{Index: 0, Tag: 2})), chunk(0), chunk(0, page(b, column.Bit, true)))
			return edits{}
		}, want: `{"x":10,"mid":0,"arr":[0,0],"bits":"000","str":"","var":null}` +
			` {"x":11,"mid":21,"arr":[1,2],"bits":"011","str":"hi","var":null}` +
			` {"x":12,"mid":22,"arr":[3,4],"bits":"100","str":"!","var":true}`},
		{name: "zeros stored, and elements counted from the first one that is not, as ROOT's merger has it",
			build: func(b *builder) edits {
				scalar(b, "std::int32_t", column.Int32)
				s := b.extension()
				s.column(s.field(-1, "late", "std::int32_t", envelope.RolePlain), column.Int32, deferred(1))
				b.cluster(2, chunk(0, page[int32](b, column.Int32, 10, 11)), chunk(1, page[int32](b, column.Int32, 0, 21)))
				b.cluster(1, chunk(2, page[int32](b, column.Int32, 12)), chunk(3, page[int32](b, column.Int32, 22)))
				return edits{}
			}, want: `{"x":10,"late":0} {"x":11,"late":21} {"x":12,"late":22}`},
		{name: "zeros stored, but elements counted from nowhere", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			s := b.extension()
			s.column(s.field(-1, "late", "std::int32_t", envelope.RolePlain), column.Int32, deferred(1))
			b.cluster(2, chunk(0, page[int32](b, column.Int32, 10, 11)), chunk(2, page[int32](b, column.Int32, 0, 21)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "the column has 4 elements, expected 2"},
		{name: "a representation added late, deferred and suppressed", build: func(b *builder) edits {
			scalar(b, "float", column.Real32)
			b.extension().column(0, column.Real16, representation(1), deferred(-2))
			b.cluster(1, chunk(0, page[float32](b, column.Real32, 0.1)))
			b.cluster(1, chunk(1, page[float32](b, column.Real32, 0.2)), suppressed)
			b.cluster(1, suppressed, chunk(2, page[float32](b, column.Real16, 0.5)))
			return edits{}
		}, want: `{"x":0.1} {"x":0.2} {"x":0.5}`},
		{name: "a representation added late below a collection", build: func(b *builder) edits {
			vector(b)
			b.header.Features = envelope.Features{1}
			b.extension().column(1, column.Int64, representation(1), deferred(-3))
			b.cluster(2, chunk(0, page[uint64](b, column.Index64, 1, 3)), chunk(0, page[int32](b, column.Int32, 1, 2, 3)))
			b.cluster(1, chunk(2, page[uint64](b, column.Index64, 2)), suppressed, chunk(3, page[int64](b, column.Int64, 4, 5)))
			return edits{}
		}, want: `{"v":[1]} {"v":[2,3]} {"v":[4,5]}`},

		{name: "shared pages, and an empty cluster between", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			p := page[int32](b, column.Int32, 3, 4)
			b.cluster(4, chunk(0, p, p))
			b.cluster(0, chunk(4))
			b.groups = append(b.groups, nil)
			b.cluster(2, chunk(4, p))
			return edits{}
		}, want: `{"x":3} {"x":4} {"x":3} {"x":4} {"x":3} {"x":4}`},
		{name: "cluster groups and clusters in another order than their entries", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.cluster(1, chunk(0, page[int32](b, column.Int32, 0)))
			b.cluster(2, chunk(1, page[int32](b, column.Int32, 1, 2)))
			b.groups = append(b.groups, nil)
			b.cluster(1, chunk(3, page[int32](b, column.Int32, 3)))
			return edits{
				pageList: func(p *envelope.PageList) { slices.Reverse(p.Clusters); slices.Reverse(p.Pages) },
				footer:   func(f *envelope.Footer) { slices.Reverse(f.ClusterGroups) },
			}
		}, want: `{"x":0} {"x":1} {"x":2} {"x":3}`},
		{name: "variants whose items are not in order, and a merged run", build: func(b *builder) edits {
			s := b.regular()
			v := s.field(-1, "x", "std::variant<std::int32_t,std::string>", envelope.RoleVariant)
			s.column(v, column.Switch)
			s.column(s.field(v, "_0", "std::int32_t", envelope.RolePlain), column.Int32)
			str := s.field(v, "_1", "std::string", envelope.RolePlain)
			s.column(str, column.Index32)
			s.column(str, column.Char)
			b.cluster(6, chunk(0, page(b, column.Switch, column.Tagged{Index: 2, Tag: 1},
				column.Tagged{Index: 0, Tag: 1}, column.Tagged{},
				column.Tagged{Index: 1, Tag: 2}, column.Tagged{Index: 1, Tag: 1}, column.Tagged{Index: 0, Tag: 2})),
				chunk(0, page[int32](b, column.Int32, 10, 11, 12)),
				chunk(0, page[uint32](b, column.Index32, 1, 3)), chunk(0, page[int8](b, column.Char, 'a', 'b', 'c')))
			return edits{}
		}, want: `{"x":12} {"x":10} {"x":null} {"x":"bc"} {"x":11} {"x":"a"}`},
		{name: "field names with dots, as foreign writers have them", build: func(b *builder) edits {
			s := b.regular()
			r := s.field(-1, "a.b", "", envelope.RoleRecord)
			s.column(s.field(r, "c:d", "bool", envelope.RolePlain), column.Bit)
			b.cluster(1, chunk(0, page(b, column.Bit, true)))
			return edits{}
		}, want: `{"a.b":{"c:d":true}}`},

		{name: "damaged page", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			p := page[int32](b, column.Int32, 1, 2)
			b.file[p.Locator.Offset] ^= 1
			b.cluster(2, chunk(0, p))
			return edits{}
		}, err: rntuple.ErrChecksum, says: `field "x", column 0, cluster 0, page 0: page at offset 0x3e8`},
		{name: "damaged page, not verified", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			p := page[int32](b, column.Int32, 1, 2)
			b.file[p.Locator.Offset] ^= 2
			b.cluster(2, chunk(0, p))
			return edits{}
		}, opts: &rntuple.ReadOptions{SkipChecksums: true}, want: `{"x":3} {"x":2}`},
		{name: "damaged header", build: func(b *builder) edits {
			return edits{header: func(h []byte) []byte { h[20] ^= 1; return h }}
		}, err: rntuple.ErrChecksum, says: "header"},
		{name: "footer of another header", build: func(b *builder) edits {
			return edits{footer: func(f *envelope.Footer) { f.HeaderChecksum++ }}
		}, err: rntuple.ErrChecksum, says: "footer.header checksum"},
		{name: "page list of another header", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.cluster(1, chunk(0, page[int32](b, column.Int32, 1)))
			return edits{pageList: func(p *envelope.PageList) { p.HeaderChecksum++ }}
		}, err: rntuple.ErrCorrupt, says: "page list of the clusters from 0 on"},
		{name: "page of an object store", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			p := page[int32](b, column.Int32, 1)
			p.Locator = locator.Locator{Type: locator.Object, Payload: "0123456789ab"}
			b.cluster(1, chunk(0, p))
			return edits{}
		}, err: rntuple.ErrUnsupported, says: "object store"},
		{name: "page outside of the file", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			p := page[int32](b, column.Int32, 1)
			p.Locator.Offset = 1 << 40
			b.cluster(1, chunk(0, p))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "the file has"},
		{name: "too large a page", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.cluster(3, chunk(0, page[int32](b, column.Int32, 1, 2, 3)))
			return edits{}
		}, opts: &rntuple.ReadOptions{Limits: rntuple.Limits{PageBytes: 8}}, err: rntuple.ErrUnsupported,
			says: "the limit is 8 (rntuple.Limits.PageBytes)"},
		{name: "too large an entry", build: func(b *builder) edits {
			vector(b)
			b.cluster(2, chunk(0, page[uint64](b, column.Index64, 1, 100)),
				chunk(0, page(b, column.Int32, make([]int32, 100)...)))
			return edits{}
		}, opts: &rntuple.ReadOptions{Limits: rntuple.Limits{EntryBytes: 1000}}, err: rntuple.ErrUnsupported,
			says: "bytes, the limit is 1000 (rntuple.Limits.EntryBytes)"},
		{name: "sharded cluster", build: func(b *builder) edits {
			b.cluster(1)
			b.groups[0][0].flags = envelope.ClusterSharded
			return edits{}
		}, err: rntuple.ErrUnsupported, says: "sharded"},
		{name: "more columns in a cluster than in the schema", build: func(b *builder) edits {
			b.cluster(1, chunk(0))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "1 columns, the schema 0"},
		{name: "a column that is too short", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.cluster(3, chunk(0, page[int32](b, column.Int32, 1, 2)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "2 elements, expected 3"},
		{name: "a gap in a column that is not deferred", build: func(b *builder) edits {
			scalar(b, "std::int32_t", column.Int32)
			b.cluster(3, chunk(1, page[int32](b, column.Int32, 1, 2)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "begins with the element 1, expected 0"},
		{name: "a gap between cluster groups", build: func(b *builder) edits {
			b.cluster(1)
			return edits{footer: func(f *envelope.Footer) { f.ClusterGroups[0].MinEntry = 1 }}
		}, err: rntuple.ErrCorrupt, says: "footer.cluster groups"},
		{name: "a cluster group that ends early", build: func(b *builder) edits {
			b.cluster(1)
			return edits{footer: func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = 2 }}
		}, err: rntuple.ErrCorrupt, says: "end before the entry 1, expected 2"},
		{name: "an index that goes back", build: func(b *builder) edits {
			vector(b)
			b.cluster(2, chunk(0, page[uint64](b, column.Index64, 2, 1)), chunk(0, page[int32](b, column.Int32, 1, 2)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "before it begins"},
		{name: "an index beyond the items", build: func(b *builder) edits {
			vector(b)
			b.cluster(1, chunk(0, page[uint64](b, column.Index64, 3)), chunk(0, page[int32](b, column.Int32, 1, 2)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: `field "v._0"`},
		{name: "an optional of two items", build: func(b *builder) edits {
			vector(b)
			b.header.Fields[0].TypeName = "std::optional<std::int32_t>"
			b.cluster(1, chunk(0, page[uint64](b, column.Index64, 2)), chunk(0, page[int32](b, column.Int32, 1, 2)))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "2 values, expected one at most"},
		{name: "a tag without alternative", build: func(b *builder) edits {
			v := b.regular().field(-1, "x", "std::variant<bool>", envelope.RoleVariant)
			b.regular().column(v, column.Switch)
			b.regular().column(b.regular().field(v, "_0", "bool", envelope.RolePlain), column.Bit)
			b.cluster(1, chunk(0, page(b, column.Switch, column.Tagged{Tag: 2})), chunk(0))
			return edits{}
		}, err: rntuple.ErrCorrupt, says: "tag 2"},
		{name: "a collection of empty records that claims 2^62 items", build: func(b *builder) edits {
			v := b.regular().field(-1, "v", "std::vector<E>", envelope.RoleCollection)
			b.regular().column(v, column.Index64)
			b.regular().field(v, "_0", "E", envelope.RoleRecord)
			b.cluster(1, chunk(0, page[uint64](b, column.Index64, 1<<62)))
			return edits{}
		}, err: rntuple.ErrUnsupported, says: "(rntuple.Limits.EntryBytes)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBuilder(t)
			r, err := b.open(test.build(b), test.opts)
			var got []string
			if err == nil {
				got, err = lines(r)
			}
			switch {
			case test.err != nil:
				if !errors.Is(err, test.err) || !strings.Contains(fmt.Sprint(err), test.says) {
					t.Fatalf("error %v\nwant %v: … %s …", err, test.err, test.says)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("read %s\nwant %s", s, test.want)
			}
			var hidden []string
			for _, h := range r.Schema().Hidden {
				hidden = append(hidden, fmt.Sprintf("%s: %v", h.Field.Name, h.Err))
			}
			if s := strings.Join(hidden, ", "); !strings.HasPrefix(strings.Replace(s, `column 2 of field "y._0": `, "", 1),
				test.says) {
				t.Errorf("hidden: %s\nwant %s", s, test.says)
			}
		})
	}
}

// sequence is what entries with the numbers up to n are as JSON.
func sequence(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"x":%d}`, i))
	}
	return strings.Join(all, " ")
}

// lines reads all entries as JSON.
func lines(r *rntuple.Reader) ([]string, error) {
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, record := range v.All() {
		all = append(all, string(value.AppendJSON(nil, record)))
	}
	return all, v.Err()
}

// TestEveryRange makes sure that reads of every first entry and length agree
// with the whole, over the borders of pages, clusters and cluster groups.
func TestEveryRange(t *testing.T) {
	b := newBuilder(t)
	vector(b)
	var want [][]int32
	next := int32(0)
	for c := range 4 {
		var index []envelope.Page
		var items []envelope.Page
		end := uint64(0)
		for p := range c + 1 {
			var ends []uint64
			var page32 []int32
			for e := range p + 2 {
				var entry []int32
				for range (e + c) % 3 {
					entry, page32 = append(entry, next), append(page32, next)
					next++
				}
				want = append(want, entry)
				end += uint64(len(entry))
				ends = append(ends, end)
			}
			index = append(index, page(b, column.Index64, ends...))
			if len(page32) > 0 { // items do not end where entries do
				items = append(items, page(b, column.Int32, page32[:len(page32)/2]...),
					page(b, column.Int32, page32[len(page32)/2:]...))
			}
		}
		entries := uint64(0)
		for _, p := range index {
			entries += uint64(p.NumElements)
		}
		b.cluster(entries, chunk(0, index...), chunk(0, items...))
		// The offset of an index column counts entries.
		last := b.groups[len(b.groups)-1]
		last[len(last)-1].columns[0].ElementOffset = int64(len(want)) - int64(entries)
		if c == 1 {
			b.groups = append(b.groups, nil)
		}
	}
	r, err := b.open(edits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if int(r.NumEntries()) != len(want) {
		t.Fatalf("%d entries, want %d", r.NumEntries(), len(want))
	}
	v, err := rntuple.ViewOf[[]int32](r, "v")
	if err != nil {
		t.Fatal(err)
	}
	j, err := rntuple.JaggedOf[int64](r, "v")
	if err != nil {
		t.Fatal(err)
	}
	for first := range want {
		for n := 1; first+n <= len(want)+1; n++ {
			dst := make([][]int32, n)
			got, err := v.Read(dst, int64(first))
			if wantN := min(n, len(want)-first); err != nil || got != wantN {
				t.Fatalf("Read of %d entries from %d on: %d, %v", n, first, got, err)
			}
			offsets := make([]int64, n+1)
			items, m, err := j.Read(offsets, nil, int64(first))
			if err != nil || m != got {
				t.Fatalf("columnar Read of %d entries from %d on: %d, %v", n, first, m, err)
			}
			for i, entry := range dst[:got] {
				if !slices.Equal(entry, want[first+i]) {
					t.Fatalf("entry %d is %v, want %v", first+i, entry, want[first+i])
				}
				var flat []int32
				for _, x := range items[offsets[i]:offsets[i+1]] {
					flat = append(flat, int32(x))
				}
				if !slices.Equal(flat, want[first+i]) {
					t.Fatalf("columnar entry %d is %v, want %v", first+i, flat, want[first+i])
				}
			}
		}
	}
}
