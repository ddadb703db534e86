package rntuple_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Files that lie, with all checksums right. Each must be refused, or be legal and
// cheap; and it must take neither memory nor time that its size does not justify.

// A lie is a file, and what is to be said about it.
type lie struct {
	name  string
	build func(*builder) edits
	says  string // part of the error; empty if the file is legal
}

// The header of a lie is this long up to its list of fields: head, feature flags,
// name, description, writer.
const headerFields = 8 + 8 + 5 + 4 + 11

// word puts a little-endian word into the header envelope, and seals it again.
func word[T uint32 | uint64](at int, v T) func(*builder) edits {
	return func(b *builder) edits {
		scalar(b, "std::int32_t", column.Int32)
		return edits{header: func(h []byte) []byte {
			switch v := any(v).(type) {
			case uint32:
				binary.LittleEndian.PutUint32(h[at:], v)
			case uint64:
				binary.LittleEndian.PutUint64(h[at:], v)
			}
			return resealed(h)
		}}
	}
}

// resealed gives an envelope its checksum.
func resealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(b[:len(b)-8], checksum.Sum(b[:len(b)-8]))
}

// ofAnchor, ofFooter, ofList and ofPage tell lies about a file of one int32, 7.
func ofAnchor(edit func(*anchor.Anchor)) func(*builder) edits {
	return func(b *builder) edits { one(b); return edits{anchor: edit} }
}

func ofFooter(edit func(*envelope.Footer)) func(*builder) edits {
	return func(b *builder) edits { one(b); return edits{footer: edit} }
}

func ofList(edit func(*envelope.PageList)) func(*builder) edits {
	return func(b *builder) edits { one(b); return edits{pageList: edit} }
}

func ofPage(edit func(*envelope.Page)) func(*builder) edits {
	return ofList(func(l *envelope.PageList) { edit(&l.Pages[0].Columns[0].Pages[0]) })
}

func one(b *builder) {
	scalar(b, "std::int32_t", column.Int32)
	b.cluster(1, chunk(0, page[int32](b, column.Int32, 7)))
}

// fields tells lies about the schema of a file without entries.
func fields(build func(s schemaOf, h *envelope.Header)) func(*builder) edits {
	return func(b *builder) edits { build(b.regular(), &b.header); return edits{} }
}

// nested is a field of so many levels of the given type and role.
func nested(levels int, role envelope.Role) func(*builder) edits {
	return fields(func(s schemaOf, _ *envelope.Header) {
		for i := range levels {
			f := s.field(i-1, "_0", "", role)
			if role == envelope.RoleCollection {
				s.column(f, column.Index64)
			}
		}
		s.column(s.field(levels-1, "_0", "std::int32_t", envelope.RolePlain), column.Int32)
	})
}

// squeezed stores a page that claims to hold n times the byte 0, compressed.
func squeezed(b *builder, s compress.Settings, n int) envelope.Page {
	stored, err := compress.Append(nil, make([]byte, n), s)
	if err != nil {
		b.t.Fatal(err)
	}
	return envelope.Page{NumElements: uint32(n), HasChecksum: true,
		Locator: locator.At(b.blob(binary.LittleEndian.AppendUint64(bytes.Clone(stored), checksum.Sum(stored))),
			uint64(len(stored)))}
}

var lies = []lie{
	// Sizes and places in the anchor.
	{"header of 2^63-1 bytes", ofAnchor(func(a *anchor.Anchor) { a.LenHeader = math.MaxInt64 }), "the limit is"},
	{"header of 2^64-1 bytes", ofAnchor(func(a *anchor.Anchor) { a.LenHeader = math.MaxUint64 }),
		"envelope of at least 9223372036854775807 bytes"},
	{"footer of 2^40 bytes", ofAnchor(func(a *anchor.Anchor) { a.LenFooter = 1 << 40 }), "the limit is"},
	{"header that takes 2^63 bytes", ofAnchor(func(a *anchor.Anchor) { a.NBytesHeader = 1 << 63 }), "the file has"},
	{"header near 2^64", ofAnchor(func(a *anchor.Anchor) { a.SeekHeader = math.MaxUint64 - 10 }), "the file has"},
	{"header at the end", ofAnchor(func(a *anchor.Anchor) { a.SeekHeader += 1 << 9 }), "header"},
	{"footer in place of the header", ofAnchor(func(a *anchor.Anchor) {
		a.SeekHeader, a.NBytesHeader, a.LenHeader = a.SeekFooter, a.NBytesFooter, a.LenFooter
	}), "is a footer envelope"},
	{"keys of one byte", ofAnchor(func(a *anchor.Anchor) { a.MaxKeySize = 1 }), "no room"},
	{"empty header", ofAnchor(func(a *anchor.Anchor) { a.NBytesHeader, a.LenHeader = 0, 0 }), "need 8 bytes"},

	// Frames and lists in the header.
	{"4 billion fields", word(headerFields+8, uint32(math.MaxUint32)), "4294967295 items in"},
	{"2 billion fields", word(headerFields+8, uint32(math.MaxInt32)), "2147483647 items in"},
	{"list frame of 2^63 bytes", word(headerFields, uint64(1<<63)), "list frame of size -9223372036854775808"},
	{"list frame of 2^63-1 bytes", word(headerFields, uint64(1<<63+1)), "list frame of 9223372036854775795 bytes"},
	{"list frame of positive size", word(headerFields, uint64(100)), "list frame of size 100"},
	{"record frame of 2^63-1 bytes", word(headerFields+12, uint64(math.MaxInt64)),
		"record frame of 9223372036854775799 bytes"},
	{"record frame of negative size", word(headerFields+12, uint64(math.MaxUint64)), "record frame of size -1"},
	{"record frame of size 0", word(headerFields+12, uint64(0)), "record frame of size 0"},
	{"a name of 4 GB", word(16, uint32(math.MaxUint32)), "string of 4294967295 bytes"},
	{"feature flags without end", func(b *builder) edits {
		return edits{header: func(h []byte) []byte {
			copy(h[8:], bytes.Repeat([]byte{0xff}, len(h)-16))
			return resealed(h)
		}}
	}, "need 8 bytes"},
	{"envelope of 2^48-1 bytes", word(0, uint64(1<<48-1)<<16|1), "the envelope says 281474976710655"},

	// The tree of fields.
	{"fields that are each other's parents", fields(func(s schemaOf, _ *envelope.Header) {
		s.field(1, "a", "", envelope.RoleRecord)
		s.field(0, "b", "", envelope.RoleRecord)
	}), `field 0, "a", has the parent 1`},
	{"a parent that is not there", fields(func(s schemaOf, _ *envelope.Header) {
		s.field(math.MaxInt32, "a", "",
			envelope.RoleRecord)
	}), "has the parent 2147483647"},
	{"records, 10,000 levels", nested(10000, envelope.RoleRecord), "nested more than 1000 deep"},
	{"vectors, 10,000 levels", nested(10000, envelope.RoleCollection), "nested more than 1000 deep"},
	{"vectors, 990 levels", nested(990, envelope.RoleCollection), ""},
	{"a type name of 10,000 levels", fields(func(s schemaOf, _ *envelope.Header) {
		s.column(s.field(-1, "x", strings.Repeat("std::vector<", 10000)+"int"+strings.Repeat(">", 10000), envelope.RolePlain),
			column.Int32)
	}), `field "x" cannot be read`},
	{"a type name of 100,000 pointers", fields(func(s schemaOf, _ *envelope.Header) {
		s.column(s.field(-1, "x", "int"+strings.Repeat("*", 100000), envelope.RolePlain), column.Int32)
	}), `field "x" cannot be read`},
	{"an array of 2^63 values", fields(func(s schemaOf, _ *envelope.Header) {
		s.column(s.field(s.field(-1, "x", "", envelope.RolePlain, repeat(1<<63)), "_0", "float", envelope.RolePlain),
			column.Real32)
	}), "an array of 9223372036854775808 values"},
	{"arrays of arrays, 2^80 values", fields(func(s schemaOf, _ *envelope.Header) {
		outer := s.field(-1, "x", "", envelope.RolePlain, repeat(1<<40))
		s.column(s.field(s.field(outer, "_0", "", envelope.RolePlain, repeat(1<<40)), "_0", "float", envelope.RolePlain),
			column.Real32)
	}), "an array of 1099511627776 values"},
	{"an array of 2^40 empty records", func(b *builder) edits {
		b.regular().field(b.regular().field(-1, "x", "", envelope.RolePlain, repeat(1<<40)), "_0", "", envelope.RoleRecord)
		b.cluster(1)
		return edits{}
	}, "(rntuple.Limits.EntryBytes)"},
	{"a bitset of 2^40 bits", func(b *builder) edits {
		b.regular().column(b.regular().field(-1, "x", "std::bitset<1099511627776>", envelope.RolePlain, repeat(1<<40)),
			column.Bit)
		b.cluster(1, chunk(0, page(b, column.Bit, true)))
		return edits{}
	}, "(rntuple.Limits.EntryBytes)"},
	{"a late bitset of 2^40 zeros", func(b *builder) edits {
		b.extension().column(b.extension().field(-1, "x", "std::bitset<1099511627776>", envelope.RolePlain, repeat(1<<40)),
			column.Bit, deferred(1<<40))
		b.cluster(1)
		return edits{}
	}, "(rntuple.Limits.EntryBytes)"},
	{"a column of a field that is not there",
		fields(func(s schemaOf, _ *envelope.Header) { s.column(1<<30, column.Int32) }), "belongs to field 1073741824 of 0"},
	{"representation 65,535", fields(func(s schemaOf, _ *envelope.Header) {
		s.column(s.field(-1, "x", "float", envelope.RolePlain), column.Real32, representation(math.MaxUint16))
	}), "of representation 65535"},
	{"two fields of a name", fields(func(s schemaOf, _ *envelope.Header) {
		s.column(s.field(-1, "x", "float", envelope.RolePlain), column.Real32)
		s.column(s.field(-1, "x", "bool", envelope.RolePlain), column.Bit)
	}), ""},

	// Projections.
	{"an alias of column 2^31", fields(func(s schemaOf, h *envelope.Header) {
		h.Aliases = []envelope.Alias{{Column: 1 << 31, Field: uint32(s.field(-1, "x", "float", envelope.RolePlain))}}
	}), "alias column 0 of column 2147483648"},
	{"projections of each other", fields(func(s schemaOf, _ *envelope.Header) {
		for i := range uint32(2) {
			s.field(-1, string('a'+rune(i)), "float", envelope.RolePlain, flags(envelope.FieldProjected),
				func(f *envelope.Field) { f.Source = 1 - i })
		}
	}), "cannot be read"},
	{"a projection of itself", fields(func(s schemaOf, _ *envelope.Header) {
		s.field(-1, "a", "float", envelope.RolePlain, flags(envelope.FieldProjected))
	}), "cannot be read"},
	{"a chain of 3000 projections", fields(func(s schemaOf, h *envelope.Header) {
		for i := range uint32(3000) {
			s.field(-1, fmt.Sprint("f", i), "float", envelope.RolePlain, flags(envelope.FieldProjected),
				func(f *envelope.Field) { f.Source = i + 1 })
			h.Aliases = append(h.Aliases, envelope.Alias{Field: i})
		}
		s.column(s.field(-1, "x", "float", envelope.RolePlain), column.Real32)
	}), ""},

	// Cluster groups, and what they link.
	{"2^64-1 entries", ofFooter(func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = math.MaxUint64 }),
		"footer.cluster groups"},
	{"2^62 entries", ofFooter(func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = 1 << 62 }),
		"end before the entry 1"},
	{"4 billion clusters", ofFooter(func(f *envelope.Footer) { f.ClusterGroups[0].NumClusters = math.MaxUint32 }),
		"expected 4294967295"},
	{"a group with the entries of another",
		ofFooter(func(f *envelope.Footer) { f.ClusterGroups = append(f.ClusterGroups, f.ClusterGroups[0]) }),
		"a group has the entries from 0 on"},
	{"3000 empty groups with one page list", func(b *builder) edits {
		b.zip = 505
		one(b)
		return edits{footer: func(f *envelope.Footer) {
			empty := f.ClusterGroups[0]
			empty.EntrySpan, empty.PageList.Length = 0, 1000
			f.ClusterGroups = slices.Concat(slices.Repeat([]envelope.ClusterGroup{empty}, 3000), f.ClusterGroups)
		}}
	}, "page lists of"},
	{"a page list of 2^62 bytes", ofFooter(func(f *envelope.Footer) { f.ClusterGroups[0].PageList.Length = 1 << 62 }),
		"the limit is"},
	{"a page list that is the file", ofFooter(func(f *envelope.Footer) {
		f.ClusterGroups[0].PageList = locator.Link{Length: 1000, Locator: locator.At(0, 1000)}
	}), "page list"},
	{"clusters that overlap", ofList(func(l *envelope.PageList) {
		l.Clusters = append(l.Clusters, l.Clusters[0])
		l.Pages = append(l.Pages, l.Pages[0])
	}), "2 cluster summaries"},
	{"clusters that overlap, of a group of two", func(b *builder) edits {
		one(b)
		b.cluster(1, chunk(1, page[int32](b, column.Int32, 8)))
		return edits{pageList: func(l *envelope.PageList) { l.Clusters[1].FirstEntry = 0 }}
	}, "begins with the entry 0, expected 1"},
	{"a cluster from entry 2^64-1 on", ofList(func(l *envelope.PageList) { l.Clusters[0].FirstEntry = math.MaxUint64 }),
		"begins with the entry 18446744073709551615"},
	{"a cluster of 2^56-1 entries", func(b *builder) edits {
		one(b)
		return edits{
			pageList: func(l *envelope.PageList) { l.Clusters[0].NumEntries = 1<<56 - 1 },
			footer:   func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = 1<<56 - 1 },
		}
	}, "1 elements, expected 72057594037927935"},
	{"an attribute set that is the header", ofFooter(func(f *envelope.Footer) {
		f.AttributeSets = []envelope.AttributeSet{{SchemaMajor: 1, AnchorLength: 1000,
			Anchor: locator.At(0, 1000), Name: "a"}}
	}), "attribute set"},
	{"an attribute set of 4 GB", ofFooter(func(f *envelope.Footer) {
		f.AttributeSets = []envelope.AttributeSet{{SchemaMajor: 1, AnchorLength: math.MaxUint32,
			Anchor: locator.At(300, 10), Name: "a"}}
	}), "attribute set"},

	// Pages.
	{"a page of 2^31-1 elements", ofPage(func(p *envelope.Page) { p.NumElements = math.MaxInt32 }),
		"elements, expected 1"},
	{"a page of 2^31-1 elements, in as many entries", func(b *builder) edits {
		one(b)
		return edits{
			pageList: func(l *envelope.PageList) {
				l.Clusters[0].NumEntries, l.Pages[0].Columns[0].Pages[0].NumElements = math.MaxInt32, math.MaxInt32
			},
			footer: func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = math.MaxInt32 },
		}
	}, "the limit is"},
	{"a page at 2^64-1", ofPage(func(p *envelope.Page) { p.Locator.Offset = math.MaxUint64 }), "the file has"},
	{"a page that takes 2^63 bytes", ofPage(func(p *envelope.Page) {
		p.Locator = locator.Locator{Type: locator.Large,
			Size: 1 << 63}
	}), "the file has"},
	{"a page that takes 2^64-1 bytes", ofPage(func(p *envelope.Page) {
		p.Locator = locator.Locator{Type: locator.Large,
			Size: math.MaxUint64}
	}), "the file has"},
	{"a page that is the header of the file", ofPage(func(p *envelope.Page) { p.Locator.Offset = 0 }),
		"checksum mismatch"},
	{"the same without checksum, which is legal",
		ofPage(func(p *envelope.Page) { p.Locator.Offset, p.HasChecksum = 0, false }), ""},
	{"an element offset of 2^63-1", ofList(func(l *envelope.PageList) { l.Pages[0].Columns[0].ElementOffset = math.MaxInt64 }), "begins with the element 9223372036854775807"},
	{"10,000 empty pages before the first, which is legal", ofList(func(l *envelope.PageList) {
		c := &l.Pages[0].Columns[0]
		c.Pages = append(make([]envelope.Page, 10000), c.Pages...)
	}), ""},
	{"an index of 2^63", func(b *builder) edits {
		vector(b)
		b.cluster(1, chunk(0, page[uint64](b, column.Index64, 1<<63)), chunk(0, page[int32](b, column.Int32, 1)))
		return edits{}
	}, "a collection ends at 9223372036854775808"},
	{"a variant that has item 2^44-1", func(b *builder) edits {
		v := b.regular().field(-1, "x", "std::variant<bool>", envelope.RoleVariant)
		b.regular().column(v, column.Switch)
		b.regular().column(b.regular().field(v, "_0", "bool", envelope.RolePlain), column.Bit)
		b.cluster(1, chunk(0, page(b, column.Switch, column.Tagged{Index: 1<<44 - 1, Tag: 1})), chunk(0))
		return edits{}
	}, "the column has 0"},
}

// bombs are lies in pages, a compressed one for every algorithm.
func bombs() (all []lie) {
	for _, s := range []compress.Settings{101, 207, 301, 404, 505} {
		claim := func(edit func(b *builder, p *envelope.Page)) func(*builder) edits {
			return func(b *builder) edits {
				scalar(b, "std::int8_t", column.Int8)
				p := squeezed(b, s, 1<<20)
				edit(b, &p)
				b.cluster(uint64(p.NumElements), chunk(0, p))
				return edits{}
			}
		}
		name := fmt.Sprintf("settings %d: ", s)
		all = append(all,
			lie{name + "a page of zeros", claim(func(*builder, *envelope.Page) {}), ""},
			lie{name + "twice as much as there is", claim(func(_ *builder, p *envelope.Page) { p.NumElements *= 2 }),
				"block header"},
			lie{name + "the largest page", claim(func(_ *builder, p *envelope.Page) { p.NumElements = math.MaxInt32 }),
				"the limit is"},
			lie{name + "twice the ratio that is possible", claim(func(b *builder, p *envelope.Page) {
				stored := b.file[p.Locator.Offset:][:20]
				binary.LittleEndian.PutUint32(stored[5:], 0x100000<<8|uint32(stored[5])) // 1 MiB uncompressed
				copy(stored[3:], []byte{11, 0, 0})                                       // 11 compressed
				p.Locator.Size = 20
				binary.LittleEndian.PutUint64(b.file[p.Locator.Offset+20:], checksum.Sum(stored))
			}), "page at offset"},
			lie{name + "blocks in blocks", claim(func(b *builder, p *envelope.Page) {
				inner := bytes.Clone(b.file[p.Locator.Offset:][:p.Locator.Size])
				*p = envelope.Page{NumElements: 1 << 20, HasChecksum: true}
				stored, err := compress.Append(nil, append(inner, make([]byte, 1000)...), s)
				if err != nil {
					b.t.Fatal(err)
				}
				p.Locator = locator.At(b.blob(binary.LittleEndian.AppendUint64(bytes.Clone(stored), checksum.Sum(stored))),
					uint64(len(stored)))
			}), "page at offset"})
	}
	return all
}

// meter counts what is read from a file.
type meter struct {
	*bytes.Reader
	reads, bytes int64
}

func (m *meter) ReadAt(b []byte, at int64) (int, error) {
	m.reads, m.bytes = m.reads+1, m.bytes+int64(len(b))
	return m.Reader.ReadAt(b, at)
}

// probe looks at all metadata of a file, and at its first entry, with the default
// limits.
func probe(r io.ReaderAt, size int64) error {
	reader, err := rntuple.NewReader(r, size, "", nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range reader.Schema().Hidden {
		errs = append(errs, fmt.Errorf("field %q cannot be read: %w", h.Field.Name, h.Err))
	}
	_, err = reader.Clusters()
	errs = append(errs, err)
	if reader.NumEntries() > 0 {
		v, err := rntuple.RecordsOf(reader)
		if err == nil {
			_, err = v.At(0)
		}
		errs = append(errs, err)
	}
	for _, s := range reader.AttributeSets() {
		_, err := reader.OpenAttributes(s.Name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// TestLies reads files that lie.
func TestLies(t *testing.T) {
	for _, test := range append(lies, bombs()...) {
		t.Run(test.name, func(t *testing.T) {
			b := newBuilder(t)
			file := b.bytes(test.build(b))
			// Metadata takes some ten times its bytes in the file; a page up to 4 MiB.
			expectFrugal(t, file, test.says, uint64(12<<20+40*len(file)))
		})
	}
}
