package rntuple_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc1"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc2"
	v0 "github.com/go-rntuple/go-rntuple/internal/legacy/v0"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestLegacy reads all values of the public files of pre-release formats, and
// compares them with those of the editions in format 1 that the same programs
// wrote, where there are any.
func TestLegacy(t *testing.T) {
	const shared = "../../shared/testdata/"
	files, err := filepath.Glob(shared + "legacy/*.root")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the public files of pre-release formats are not there")
	}
	dialects := map[string]string{
		"v0": "pre-release, ROOT 6.20 to 6.24", "rc1": "pre-release RC1, ", "rc2": "0.2.0.0, pre-release RC2, ",
		"rc3": "0.3.0.0, pre-release RC3, ",
	}
	program := regexp.MustCompile(`^([a-z]+\d).?_(?:class\d_|signed_)?(.+)\.root$`)
	compared := 0
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			m := program.FindStringSubmatch(filepath.Base(path))
			if m == nil {
				t.Fatal("a name without dialect")
			}
			name := m[2]
			editions, _ := filepath.Glob(shared + "root/" + name + "_rntuple_v1-*.root")
			more, _ := filepath.Glob(shared + "root/test_" + name + "_rntuple_v1-*.root")
			infos, err := rntuple.ListFile(context.Background(), path, nil)
			if err != nil || len(infos) == 0 {
				t.Fatalf("%v, %v", infos, err)
			}
			for _, info := range infos {
				old := openLegacy(t, path, info.Path)
				if !strings.HasPrefix(old.FormatVersion(), dialects[m[1]]) {
					t.Errorf("format %q", old.FormatVersion())
				}
				got := legacyLines(t, old, old.Schema().Fields)
				if int64(len(got)) != old.NumEntries() || len(got) == 0 {
					t.Errorf("%d of %d entries", len(got), old.NumEntries())
				}
				if want, ok := legacyValues[name]; ok {
					if text := strings.Join(slices.Compact(got), " "); text != want {
						t.Errorf("got %s\nwant %s", text, want)
					}
					continue
				}
				for _, edition := range append(editions, more...) {
					now, err := rntuple.Open(edition, info.Path, nil)
					if errors.Is(err, rntuple.ErrNotFound) {
						t.Logf("another program wrote %s", edition)
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					sameValues(t, old, now)
					now.Close()
					compared++
				}
			}
		})
	}
	if compared < len(files)/2 {
		t.Errorf("only %d RNTuples have an edition in format 1", compared)
	}
}

// legacyValues are the values that the bytes of the file show to the eye, where
// there is no other edition or another program wrote it. Equal ones in a row are
// there once.
var legacyValues = map[string]string{
	"min1":         `{"one_uint":3435973836}`, // 0xcccccccc
	"min1_bare":    `{"one_uint":3435973836}`,
	"splitint_5e4": `{"one_integers":67305985}`, // 0x04030201, 30,000 times
	// The program that came later makes the second variant valueless; here the
	// tags are 1, 1, 0 and the integers 1, 1.
	"emptystruct_invalidvar": `{"empty_struct":{},"variant":1} {"empty_struct":{},"variant":null}`,
}

func openLegacy(t *testing.T, path, name string) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	for _, h := range r.Schema().Hidden {
		t.Errorf("%s: field %q is hidden: %v", name, h.Field.Name, h.Err)
	}
	return r
}

func legacyLines(t *testing.T, r *rntuple.Reader, fields []*schema.Field) (all []string) {
	t.Helper()
	err := golden.Fields(r, fields, func(_ int64, line []byte) error {
		all = append(all, string(bytes.Clone(line)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sameValues compares the fields that both have.
func sameValues(t *testing.T, old, now *rntuple.Reader) {
	t.Helper()
	var a, b []*schema.Field
	for _, f := range old.Schema().Fields {
		if i := slices.IndexFunc(now.Schema().Fields, func(g *schema.Field) bool { return f.Name == g.Name }); i >= 0 {
			a, b = append(a, f), append(b, now.Schema().Fields[i])
		} else {
			t.Logf("%s.%s is not in the other edition", old.Name(), f.Name)
		}
	}
	if len(a) == 0 {
		t.Fatal("no field in common")
	}
	got, want := legacyLines(t, old, a), legacyLines(t, now, b)
	if len(got) != len(want) {
		t.Errorf("%d entries, now %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("entry %d is\n%.2000s\nwant\n%.2000s", i, got[i], want[i])
		}
	}
}

// old builds bare files of pre-release formats by hand, after the documents.
type old struct {
	t     testing.TB
	file  []byte
	class uint16
}

// The head of a bare file: magic, versions, an empty anchor, a name of one byte,
// the anchor.
const (
	oldAnchorSize = 58
	oldHead       = 7 + 3*4 + oldAnchorSize + 2 + oldAnchorSize
	rc2AnchorSize = 70
)

func newOld(t testing.TB, class uint16) *old {
	head := oldHead
	if class == 4 {
		head += 2 * (rc2AnchorSize - oldAnchorSize)
	}
	return &old{t: t, file: make([]byte, head), class: class}
}

// put appends bytes and returns their locator.
func (o *old) put(b []byte) locator.Locator {
	o.file = append(o.file, b...)
	return locator.At(uint64(len(o.file)-len(b)), uint64(len(b)))
}

// seal appends what describe walks, behind the given words, with its checksum.
func (o *old) seal(describe func(*frame.Codec), words ...uint16) locator.Locator {
	o.t.Helper()
	c := frame.NewWriter(nil, "test")
	for _, w := range words {
		frame.Int(c, "word", &w)
	}
	describe(c)
	b, err := c.Bytes()
	if err != nil {
		o.t.Fatal(err)
	}
	return o.put(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// open opens the file.
func (o *old) open(header, footer locator.Locator) (*rntuple.Reader, error) {
	copy(o.file, slices.Concat([]byte("rntuple\x00\x00\xf6\x7d\x00\x00\x00\x01\x00\x00\x00\x00"),
		o.anchor(locator.Locator{}, locator.Locator{}), []byte("\x01n"), o.anchor(header, footer)))
	return rntuple.NewReader(bytes.NewReader(o.file), int64(len(o.file)), "", nil)
}

func (o *old) anchor(header, footer locator.Locator) []byte {
	size := uint32(oldAnchorSize)
	if o.class == 4 {
		size = rc2AnchorSize
	}
	b := binary.BigEndian.AppendUint32(nil, 1<<30|size-4)
	b = binary.BigEndian.AppendUint16(b, o.class)
	if o.class == 4 {
		b = append(b, 0, 0, 0, 2, 0, 0, 0, 0) // format 0.2.0.0
		for _, l := range []locator.Locator{header, footer} {
			for _, n := range []uint64{l.Offset, l.Size, l.Size} {
				b = binary.BigEndian.AppendUint64(b, n)
			}
		}
		return binary.BigEndian.AppendUint64(b, checksum.Sum(b[6:]))
	}
	b = append(b, make([]byte, 12)...)
	for _, l := range []locator.Locator{header, footer} {
		b = binary.BigEndian.AppendUint64(b, l.Offset)
		b = binary.BigEndian.AppendUint32(b, uint32(l.Size))
		b = binary.BigEndian.AppendUint32(b, uint32(l.Size))
	}
	return append(b, make([]byte, 8)...)
}

// openRC1 opens the file with envelopes of RC1, in one cluster group.
func (o *old) openRC1(h *rc1.Header, f *rc1.Footer, p *rc1.PageList) (*rntuple.Reader, error) {
	header := o.seal(h.Wire, 1, 1)
	f.HeaderChecksum = binary.LittleEndian.Uint32(o.file[len(o.file)-4:])
	list := o.seal(p.Wire, 1, 1)
	f.ClusterGroups = []rc1.ClusterGroup{{NumClusters: uint32(len(f.Clusters)),
		PageList: rc1.Link{Length: uint32(list.Size), Locator: list}}}
	return o.open(header, o.seal(f.Wire, 1, 1))
}

// openV0 opens the file with header and footer of ROOT 6.20 to 6.24.
func (o *old) openV0(h *v0.Header, f *v0.Footer) (*rntuple.Reader, error) {
	header := o.seal(h.Wire)
	// The postscript has the length of the footer itself.
	c := frame.NewWriter(nil, "test")
	f.Wire(c)
	f.HeaderLength, f.FooterLength = uint32(header.Size), uint32(c.Pos()+4)
	return o.open(header, o.seal(f.Wire))
}

// expectText compares all entries with JSON, and says which fields are hidden.
func expectText(t *testing.T, r *rntuple.Reader, want string) {
	t.Helper()
	got, err := entriesAsText(r)
	if err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	for _, h := range r.Schema().Hidden {
		t.Errorf("%s is hidden: %v", h.Field.Name, h.Err)
	}
}

func entriesAsText(r *rntuple.Reader) (string, error) {
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		return "", err
	}
	var all []string
	for _, record := range v.All() {
		all = append(all, string(value.AppendJSON(nil, record)))
	}
	return strings.Join(all, " "), v.Err()
}

func u32s(v ...uint32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func u64s(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// TestLegacyRC1 has what the document of RC1 says and no file shows: a variant
// with many items, split integers without zigzag, sharded clusters, a field added
// late, and locators that lead out of the file.
func TestLegacyRC1(t *testing.T) {
	build := func(edit func(h *rc1.Header, f *rc1.Footer, p *rc1.PageList)) (*rntuple.Reader, error) {
		o := newOld(t, 3)
		field := func(parent uint32, role envelope.Role, name, typ string) rc1.Field {
			return rc1.Field{Field: envelope.Field{Parent: parent, Role: role, Name: name, TypeName: typ}}
		}
		h := &rc1.Header{Tag: 1, Name: "n", Schema: rc1.Schema{
			Fields: []rc1.Field{
				field(0, envelope.RoleVariant, "v", "std::variant<std::int32_t,bool>"),
				field(1, envelope.RolePlain, "i", "std::int32_t"),
				field(0, envelope.RolePlain, "_0", "std::int32_t"),
				field(0, envelope.RolePlain, "_1", "bool"),
			},
			Columns: []rc1.Column{
				{Type: 0x03, Bits: 64, Field: 0}, {Type: 0x14, Bits: 32, Field: 1}, {Type: 0x0b, Bits: 32, Field: 2},
				{Type: 0x06, Bits: 1, Field: 3},
			},
		}}
		f := &rc1.Footer{
			Extension: &rc1.Schema{
				Fields:  []rc1.Field{field(4, envelope.RolePlain, "late", "std::uint16_t")},
				Columns: []rc1.Column{{Type: 0x0c, Bits: 16, Field: 4, Flags: 8, FirstElement: 3}},
			},
			ColumnGroups: []rc1.ColumnGroup{{Columns: []uint32{1, 4}}, {Columns: []uint32{0, 2, 3}}},
			Clusters: []rc1.Cluster{{Entries: 3}, {FirstEntry: 3, Entries: 1 | 1<<56},
				{FirstEntry: 3, Entries: 1 | 1<<56, ColumnGroup: 1}},
		}
		pages := func(offset uint64, n uint32, b []byte) rc1.ColumnPages {
			return rc1.ColumnPages{ElementOffset: offset, Pages: []rc1.Page{{Elements: n, Locator: o.put(b)}}}
		}
		none := func(offset uint64) rc1.ColumnPages { return rc1.ColumnPages{ElementOffset: offset} }
		p := &rc1.PageList{Clusters: []rc1.ClusterPages{
			{Columns: []rc1.ColumnPages{
				pages(0, 3, u64s(0|1<<44, 0|2<<44, 0)),                                 // the integer 0, the bool 0, nothing
				pages(0, 3, []byte{0xff, 7, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0x80}), // -1, 7, -2^31
				pages(0, 1, u32s(0xfffffffe)), pages(0, 1, []byte{1}),
			}},
			{Columns: []rc1.ColumnPages{pages(3, 1, []byte{5, 0, 0, 0}), pages(3, 1, []byte{9, 0})}},
			{Columns: []rc1.ColumnPages{pages(3, 1, u64s(0|1<<44)), pages(1, 1, u32s(8)), none(1)}},
		}}
		edit(h, f, p)
		return o.openRC1(h, f, p)
	}
	r, err := build(func(*rc1.Header, *rc1.Footer, *rc1.PageList) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.FormatVersion(); got != "pre-release RC1, ROOT 6.28 to 6.30" {
		t.Errorf("format %q", got)
	}
	expectText(t, r, `{"v":-2,"i":-1,"late":0} {"v":true,"i":7,"late":0} {"v":null,"i":-2147483648,"late":0} {"v":8,"i":5,"late":9}`)

	for name, test := range map[string]struct {
		edit func(h *rc1.Header, f *rc1.Footer, p *rc1.PageList)
		kind error
	}{
		"object store": {func(_ *rc1.Header, _ *rc1.Footer, p *rc1.PageList) {
			p.Clusters[0].Columns[1].Pages[0].Locator = locator.Locator{Type: locator.Object,
				Payload: strings.Repeat("\x01", 12)}
		}, rntuple.ErrUnsupported},
		"URI": {func(_ *rc1.Header, _ *rc1.Footer, p *rc1.PageList) {
			p.Clusters[0].Columns[1].Pages[0].Locator = locator.Locator{Type: locator.URI, Payload: "daos://pool/page"}
		}, rntuple.ErrUnsupported},
		"sharded into different ranges": {func(_ *rc1.Header, f *rc1.Footer, _ *rc1.PageList) {
			f.Clusters[2].Entries++
		}, rntuple.ErrUnsupported},
		"feature flag 3": {func(h *rc1.Header, _ *rc1.Footer, _ *rc1.PageList) { h.Features = envelope.Features{8} },
			rntuple.ErrUnsupported},
		"belongs to field 9": {func(h *rc1.Header, _ *rc1.Footer, _ *rc1.PageList) { h.Columns[0].Field = 9 },
			rntuple.ErrCorrupt},
		"the column has 3 elements": {func(_ *rc1.Header, f *rc1.Footer, _ *rc1.PageList) {
			f.Clusters[0].Entries = 2
			f.Clusters[1].FirstEntry = 2
			f.Clusters[2].FirstEntry = 2
		}, rntuple.ErrCorrupt},
	} {
		r, err := build(test.edit)
		if err == nil {
			_, err = entriesAsText(r)
		}
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLegacyTypes has types that ROOT 6.26 to 6.30 could write and no file shows,
// each as a field of three entries made by hand. What is not in the document of RC1
// is from ROOT's source: an optional without a value has an item all the same if
// items have less than four bytes, and a bit says so; an integer is signed if its
// field is; items are called like their type.
func TestLegacyTypes(t *testing.T) {
	const (
		index32, char, bit, real32 = 0x02, 0x05, 0x06, 0x08
		uint64s, uint32s, uint16s  = 0x0a, 0x0b, 0x0c
		uint8s, splitUint16s       = 0x0d, 0x15
		int8s, splitReal32s        = 0x19, 0x11
		leaf, list, rec, variant   = envelope.RolePlain, envelope.RoleCollection, envelope.RoleRecord, envelope.RoleVariant
	)
	type data = oldColumn
	type part = oldField
	for _, test := range []struct {
		parts []part
		want  string // of entries 0, 1 and 2
		also  string // other dialects that could say it so
	}{
		{[]part{
			{0, list, "f", "std::optional<std::int8_t>", 0, []data{{bit, 1, 3, []byte{0b101}}}},
			{0, leaf, "std::int8_t", "std::int8_t", 0, []data{{int8s, 8, 3, []byte{5, 77, 0xff}}}},
		}, "5 null -1", "RC2"},
		{[]part{
			{0, list, "f", "std::unique_ptr<bool>", 0, []data{{bit, 1, 3, []byte{0b110}}}},
			{0, leaf, "bool", "bool", 0, []data{{bit, 1, 3, []byte{0b011}}}},
		}, "null true false", "RC2"},
		{[]part{ // items of a vector
			{0, list, "f", "std::vector<std::optional<char>>", 0, []data{{index32, 32, 3, u32s(2, 2, 5)}}},
			{0, list, "_0", "std::optional<char>", 0, []data{{bit, 1, 5, []byte{0b11010}}}},
			{1, leaf, "_0", "char", 0, []data{{char, 8, 5, []byte("-b-de")}}},
		}, "[null,98] [] [null,100,101]", "RC2"},
		{[]part{ // the other way round
			{0, list, "f", "std::optional<Bytes>", 0, []data{{bit, 1, 3, []byte{0b011}}}},
			{0, rec, "_0", "Bytes", 0, nil},
			{1, list, "v", "std::vector<std::uint8_t>", 0, []data{{index32, 32, 3, u32s(2, 3, 3)}}},
			{2, leaf, "_0", "std::uint8_t", 0, []data{{uint8s, 8, 3, []byte{1, 2, 3}}}},
		}, `{"v":[1,2]} {"v":[3]} null`, "RC2"},
		{[]part{
			{0, list, "f", "std::optional<std::array<std::int8_t,2>>", 0, []data{{bit, 1, 3, []byte{0b010}}}},
			{0, leaf, "_0", "std::array<std::int8_t,2>", 2, nil},
			{1, leaf, "std::int8_t", "std::int8_t", 0, []data{{uint8s, 8, 6, []byte{0, 0, 0x80, 1, 0, 0}}}},
		}, "null [-128,1] null", ""},
		{[]part{
			{0, list, "f", "std::optional<std::optional<std::int16_t>>", 0, []data{{index32, 32, 3, u32s(1, 1, 2)}}},
			{0, list, "_0", "std::optional<std::int16_t>", 0, []data{{bit, 1, 2, []byte{0b10}}}},
			{1, leaf, "_0", "std::int16_t", 0, []data{{uint16s, 16, 2, []byte{9, 9, 0xfe, 0xff}}}},
		}, "null null -2", ""},
		{[]part{
			{0, list, "f", "std::unique_ptr<Empty>", 0, []data{{bit, 1, 3, []byte{0b001}}}},
			{0, rec, "_0", "Empty", 0, nil},
		}, "{} null null", "RC2"},
		{[]part{ // added with entry 1
			{0, list, "f", "std::optional<std::uint8_t>", 0, []data{{bit, 1, 2 | late, []byte{0b01}}}},
			{0, leaf, "_0", "std::uint8_t", 0, []data{{uint8s, 8, 2 | late, []byte{200, 9}}}},
		}, "null 200 null", "RC2"},
		{[]part{
			{0, list, "f", "std::optional<float>", 0, []data{{index32, 32, 3, u32s(0, 1, 1)}}},
			{0, leaf, "_0", "float", 0, []data{{real32, 32, 1, u32s(0x3fc00000)}}},
		}, "null 1.5 null", "RC2"},
		{[]part{
			{0, leaf, "f", "Color", 0, nil},
			{0, leaf, "_0", "std::int32_t", 0, []data{{uint32s, 32, 3, u32s(1, 1<<32-2, 3)}}},
		}, "1 -2 3", ""},
		{[]part{
			{0, leaf, "f", "std::bitset<3>", 3, []data{{bit, 1, 9, []byte{0b11_001_100, 0b1}}}},
		}, `"100" "001" "111"`, "RC2"},
		{[]part{
			{0, leaf, "f", "std::array<LV,2>", 2, nil},
			{0, rec, "LV", "LV", 0, nil},
			{1, leaf, "pt", "float", 0, []data{{real32, 32, 6, u32s(0, 0x3f800000, 0, 0, 0x40000000, 0)}}},
		}, `[{"pt":0},{"pt":1}] [{"pt":0},{"pt":0}] [{"pt":2},{"pt":0}]`, "v0 RC2"},
		{[]part{
			{0, list, "f", "std::vector<LV>", 0, []data{{index32, 32, 3, u32s(1, 1, 2)}}},
			{0, rec, "LV", "LV", 0, nil},
			{1, rec, ":_0", "Base", 0, nil},
			{1, leaf, "pt", "float", 0, []data{{splitReal32s, 32, 2, []byte{0, 0, 0, 0, 0x80, 0, 0x3f, 0x40}}}},
			{2, leaf, "id", "std::uint64_t", 0, []data{{uint64s, 64, 2, u64s(7, 1<<64-1)}}},
		}, `[{":_0":{"id":7},"pt":1}] [] [{":_0":{"id":18446744073709551615},"pt":2}]`, ""},
		{[]part{
			{0, rec, "f", "std::pair<std::int64_t,std::int16_t>", 0, nil},
			{0, leaf, "std::int64_t", "std::int64_t", 0, []data{{uint64s, 64, 3, u64s(1<<64-1, 2, 1<<63)}}},
			{0, leaf, "std::int16_t", "std::int16_t", 0, []data{{splitUint16s, 16, 3, []byte{1, 2, 3, 0, 0xff, 0x80}}}},
		}, "[-1,1] [2,-254] [-9223372036854775808,-32765]", ""},
		{[]part{
			{0, rec, "f", "std::tuple<bool,std::string>", 0, nil},
			{0, leaf, "_0", "bool", 0, []data{{bit, 1, 3, []byte{0b010}}}},
			{0, leaf, "_1", "std::string", 0, []data{{index32, 32, 3, u32s(1, 1, 3)}, {char, 8, 3, []byte("abc")}}},
		}, `[false,"a"] [true,""] [false,"bc"]`, "RC2"},
		{[]part{
			{0, list, "f", "std::set<std::int32_t>", 0, []data{{index32, 32, 3, u32s(0, 2, 2)}}},
			{0, leaf, "_0", "std::int32_t", 0, []data{{uint32s, 32, 2, u32s(1<<32-1, 4)}}},
		}, "[] [-1,4] []", ""},
		{[]part{
			{0, list, "f", "std::vector<bool>", 0, []data{{index32, 32, 3, u32s(1, 3, 3)}}},
			{0, leaf, "bool", "bool", 0, []data{{bit, 1, 3, []byte{0b101}}}},
		}, "[true] [false,true] []", "v0 RC2"},
		{[]part{
			{0, variant, "f", "std::variant<std::string,std::int8_t>", 0,
				[]data{{0x03, 64, 3, u64s(0|2<<44, 0|1<<44, 1|1<<44)}}},
			{0, leaf, "std::string", "std::string", 0, []data{{index32, 32, 2, u32s(1, 3)}, {char, 8, 3, []byte("xyz")}}},
			{0, leaf, "std::int8_t", "std::int8_t", 0, []data{{uint8s, 8, 1, []byte{0x80}}}},
		}, `-128 "x" "yz"`, "v0"},
		{[]part{ // ROOT's own names of types
			{0, rec, "f", "Old", 0, nil},
			{0, leaf, "c", "Char_t", 0, []data{{char, 8, 3, []byte{1, 0xff, 3}}}},
			{0, list, "r", "ROOT::RVec<UShort_t>", 0, []data{{index32, 32, 3, u32s(0, 1, 1)}}},
			{2, leaf, "_0", "UShort_t", 0, []data{{uint16s, 16, 1, []byte{0xff, 0xff}}}},
		}, `{"c":1,"r":[]} {"c":-1,"r":[65535]} {"c":3,"r":[]}`, "v0"},
	} {
		check := func(dialect string, r *rntuple.Reader, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for _, hidden := range r.Schema().Hidden {
				t.Errorf("%s, %s is hidden: %v", dialect, test.parts[0].typ, hidden.Err)
			}
			got, err := entriesAsText(r)
			if got = strings.NewReplacer(`{"f":`, "", "} ", " ").Replace(got + " "); err != nil || got != test.want+" " {
				t.Errorf("%s, %s: got %s, %v; want %s", dialect, test.parts[0].typ, got, err, test.want)
			}
		}
		r, err := newOld(t, 3).withRC1(test.parts)
		check("RC1", r, err)
		if strings.Contains(test.also, "v0") {
			r, err := newOld(t, 0).withV0(test.parts)
			check("v0", r, err)
		}
		if strings.Contains(test.also, "RC2") {
			r, err := newOld(t, 4).withRC2(test.parts)
			check("RC2", r, err)
		}
	}
}

// oldField is a field of the tests above. Its parent is that of the given number.
type oldField struct {
	parent uint32
	role   envelope.Role
	name   string
	typ    string
	array  uint64
	data   []oldColumn
}

type oldColumn struct {
	typ, bits uint16 // as in RC1
	n         uint32 // elements; late if the column begins with entry 1
	page      []byte
}

const late = 1 << 31

// withRC1 opens the file with three entries of a field, whose parts are given, in
// the form of RC1.
func (o *old) withRC1(parts []oldField) (*rntuple.Reader, error) {
	h := &rc1.Header{Tag: 1, Name: "n"}
	var columns []rc1.ColumnPages
	for id, part := range parts {
		field := rc1.Field{Field: envelope.Field{Parent: part.parent, Role: part.role, Name: part.name, TypeName: part.typ}}
		if part.array > 0 {
			field.Flags, field.ArraySize = envelope.FieldRepetitive, part.array
		}
		h.Fields = append(h.Fields, field)
		for _, d := range part.data {
			c := rc1.Column{Type: d.typ, Bits: d.bits, Field: uint32(id)}
			if d.n&late != 0 {
				c.Flags, c.FirstElement = 8, 1
			}
			h.Columns = append(h.Columns, c)
			columns = append(columns, rc1.ColumnPages{ElementOffset: c.FirstElement,
				Pages: []rc1.Page{{Elements: d.n &^ late, Locator: o.put(d.page)}}})
		}
	}
	return o.openRC1(h, &rc1.Footer{Clusters: []rc1.Cluster{{Entries: 3}}},
		&rc1.PageList{Clusters: []rc1.ClusterPages{{Columns: columns}}})
}

// v0Types has the column types of ROOT 6.20 to 6.24 by those of RC1.
var v0Types = map[uint16]uint32{0x02: 1, 0x03: 2, 0x05: 3, 0x06: 4, 0x08: 6, 0x0a: 9, 0x0b: 10, 0x0c: 11, 0x0d: 3}

// withV0 is withRC1 in the form of ROOT 6.20 to 6.24.
func (o *old) withV0(parts []oldField) (*rntuple.Reader, error) {
	h := &v0.Header{Name: "n", Fields: []v0.Field{{Structure: 2, Parent: 1<<64 - 1, Children: []uint64{1}}}}
	cluster := v0.Cluster{NumEntries: 3}
	for i, part := range parts {
		id, parent := uint64(i+1), uint64(part.parent+1)
		if i == 0 {
			parent = 0
		} else {
			h.Fields[parent].Children = append(h.Fields[parent].Children, id)
		}
		h.Fields = append(h.Fields, v0.Field{ID: id, Name: part.name, TypeName: part.typ, Structure: uint32(part.role),
			Parent: parent, Repetitions: part.array})
		for j, d := range part.data {
			column := uint64(len(h.Columns))
			h.Columns = append(h.Columns, v0.Column{ID: column, Type: v0Types[d.typ], Field: id, Index: uint32(j)})
			at := o.put(d.page)
			cluster.Columns = append(cluster.Columns, v0.Range{Column: column, NumElements: d.n,
				Pages: []v0.Page{{NumElements: d.n, Locator: v0.Locator{Offset: int64(at.Offset), Size: uint32(at.Size)}}}})
		}
	}
	return o.openV0(h, &v0.Footer{Clusters: []v0.Cluster{cluster}})
}

// withRC2 is withRC1 in the form of ROOT 6.32.
func (o *old) withRC2(parts []oldField) (*rntuple.Reader, error) {
	h := &rc2.Header{Name: "n"}
	var columns []envelope.ColumnPages
	for id, part := range parts {
		field := rc2.Field{Field: envelope.Field{Parent: part.parent, Role: part.role, Name: part.name, TypeName: part.typ}}
		if part.array > 0 {
			field.Flags, field.ArraySize = envelope.FieldRepetitive, part.array
		}
		h.Fields = append(h.Fields, field)
		for _, d := range part.data {
			c := rc2.Column{Column: envelope.Column{Type: column.Type(d.typ), Bits: d.bits, Field: uint32(id)}}
			if d.n&late != 0 {
				c.Flags, c.FirstElement = 8, 1
			}
			h.Columns = append(h.Columns, c)
			columns = append(columns, envelope.ColumnPages{ElementOffset: c.FirstElement,
				Pages: []envelope.Page{{NumElements: d.n &^ late, Locator: o.put(d.page)}}})
		}
	}
	seal := func(kind envelope.Type, describe func(*frame.Codec)) locator.Locator {
		c := frame.NewWriter(nil, "test")
		describe(c)
		b, err := c.Bytes()
		if err != nil {
			o.t.Fatal(err)
		}
		b = append(u64s(uint64(kind)|uint64(len(b)+16)<<16), b...)
		return o.put(binary.LittleEndian.AppendUint64(b, checksum.Sum(b)))
	}
	header := seal(envelope.TypeHeader, h.Wire)
	f := &rc2.Footer{HeaderChecksum: binary.LittleEndian.Uint64(o.file[len(o.file)-8:])}
	list, err := (&envelope.PageList{HeaderChecksum: f.HeaderChecksum, Clusters: []envelope.Cluster{{NumEntries: 3}},
		Pages: []envelope.ClusterPages{{Columns: columns}}}).Append(nil)
	if err != nil {
		return nil, err
	}
	f.ClusterGroups = []envelope.ClusterGroup{{EntrySpan: 3, NumClusters: 1,
		PageList: locator.Link{Length: uint64(len(list)), Locator: o.put(list)}}}
	return o.open(header, seal(envelope.TypeFooter, f.Wire))
}

// TestLegacyDense reads an optional with bits in place of an index as Go types.
func TestLegacyDense(t *testing.T) {
	r, err := newOld(t, 3).withRC1([]oldField{
		{0, envelope.RoleCollection, "f", "std::optional<std::uint8_t>", 0, []oldColumn{{0x06, 1, 3, []byte{0b101}}}},
		{0, envelope.RolePlain, "_0", "std::uint8_t", 0, []oldColumn{{0x0d, 8, 3, []byte{5, 77, 0}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Schema().Fields[0]; !f.IsDense() {
		t.Errorf("%s is a %v", f.Name, f.Shape)
	}
	pointer := func(p *uint8) string {
		if p == nil {
			return "null"
		}
		return fmt.Sprint(*p)
	}
	for name, got := range map[string]string{
		"pointers": texts(t, r, "f", pointer), "pointers to items": texts(t, r, "f._0", pointer),
		"wider pointers": texts(t, r, "f", func(p *int64) string {
			if p == nil {
				return "null"
			}
			return fmt.Sprint(*p)
		}),
		"slices": texts(t, r, "f", func(s []uint8) string {
			if len(s) == 0 {
				return "null"
			}
			return strings.Trim(fmt.Sprint(s), "[]")
		}),
	} {
		if got != "5 null 0" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := rntuple.JaggedOf[uint8](r, "f"); !errors.Is(err, rntuple.ErrUnsupported) {
		t.Errorf("jagged: %v", err)
	}
}

// texts reads a field and returns its values as text.
func texts[T any](t *testing.T, r *rntuple.Reader, path string, text func(T) string) string {
	t.Helper()
	v, err := rntuple.ViewOf[T](r, path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, value := range v.All() {
		all = append(all, text(value))
	}
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return strings.Join(all, " ")
}

// TestLegacyPageChecksum has a page that its CRC32 follows, which the document of
// RC1 provides for, and damages one or the other.
func TestLegacyPageChecksum(t *testing.T) {
	for bit := -1; bit < 8*(4+crc32.Size); bit++ {
		o := newOld(t, 3)
		page := u32s(0x01020304)
		page = binary.LittleEndian.AppendUint32(page, crc32.ChecksumIEEE(page))
		if bit >= 0 {
			page[bit/8] ^= 1 << (bit % 8)
		}
		at := o.put(page)
		at.Size = 4
		h := &rc1.Header{Tag: 1, Name: "n", Schema: rc1.Schema{
			Fields:  []rc1.Field{{Field: envelope.Field{Name: "x", TypeName: "std::uint32_t"}}},
			Columns: []rc1.Column{{Type: 0x0b, Bits: 32}},
		}}
		r, err := o.openRC1(h, &rc1.Footer{Clusters: []rc1.Cluster{{Entries: 1}}}, &rc1.PageList{Clusters: []rc1.ClusterPages{
			{Columns: []rc1.ColumnPages{{Pages: []rc1.Page{{Elements: 1<<30 | 1, Locator: at}}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		switch got, err := entriesAsText(r); {
		case bit < 0:
			expectText(t, r, `{"x":16909060}`)
		case !errors.Is(err, rntuple.ErrChecksum):
			t.Errorf("bit %d: got %s, %v", bit, got, err)
		}
	}
}

// TestLegacyV0 has what ROOT's source of 2020 says and no file shows: nested
// collections and members of classes.
func TestLegacyV0(t *testing.T) {
	o := newOld(t, 0)
	field := func(id uint64, structure uint32, parent uint64, name, typ string, children ...uint64) v0.Field {
		return v0.Field{ID: id, Name: name, TypeName: typ, Structure: structure, Parent: parent, Children: children}
	}
	h := &v0.Header{Name: "n", Fields: []v0.Field{
		field(0, 2, 1<<64-1, "", "", 4, 2),
		field(1, 0, 2, "std::string", "std::string"),
		field(2, 1, 0, "words", "std::vector<std::string>", 1),
		field(3, 0, 4, "x", "std::int64_t"),
		field(4, 2, 0, "point", "Point", 3),
	}, Columns: []v0.Column{
		{ID: 0, Type: 1, Field: 2}, {ID: 1, Type: 1, Field: 1}, {ID: 2, Type: 3, Field: 1, Index: 1},
		{ID: 3, Type: 9, Field: 3},
	}}
	pages := func(column, first uint64, n uint32, b []byte) v0.Range {
		l := o.put(b)
		return v0.Range{Column: column, FirstElement: first, NumElements: n,
			Pages: []v0.Page{{NumElements: n, Locator: v0.Locator{Offset: int64(l.Offset), Size: uint32(l.Size)}}}}
	}
	f := &v0.Footer{Clusters: []v0.Cluster{
		{FirstEntry: 1, NumEntries: 2, Columns: []v0.Range{
			pages(0, 1, 2, u32s(0, 1)), pages(1, 2, 1, u32s(2)), pages(2, 3, 2, []byte("de")), pages(3, 1, 2, u64s(1<<63, 3)),
		}},
		{NumEntries: 1, Columns: []v0.Range{
			pages(0, 0, 1, u32s(2)), pages(1, 0, 2, u32s(1, 3)), pages(2, 0, 3, []byte("abc")), pages(3, 0, 1, u64s(1<<64-2)),
		}},
	}}
	r, err := o.openV0(h, f)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.FormatVersion(); got != "pre-release, ROOT 6.20 to 6.24" {
		t.Errorf("format %q", got)
	}
	expectText(t, r, `{"point":{"x":-2},"words":["a","bc"]} {"point":{"x":-9223372036854775808},"words":[]} {"point":{"x":3},"words":["de"]}`)

	if _, err := rntuple.NewReader(bytes.NewReader(o.file), int64(len(o.file)), "m",
		nil); !errors.Is(err, rntuple.ErrNotFound) {
		t.Errorf("another name: %v", err)
	}
	if infos, err := rntuple.List(bytes.NewReader(o.file), int64(len(o.file))); err != nil || len(infos) != 1 ||
		infos[0].Path != "n" || infos[0].Class != "ROOT::Experimental::RNTuple" {
		t.Errorf("got %+v, %v", infos, err)
	}
}

// FuzzLegacy reads bare files with the fuzzer's header, footer and, in front of
// them, page list; their checksums are right.
func FuzzLegacy(f *testing.F) {
	plain := func(describe func(*frame.Codec)) []byte {
		c := frame.NewWriter(nil, "seed")
		describe(c)
		b, err := c.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	legacySeeds(f)
	const size = 100 // of the page list below, sealed
	h := &rc1.Header{Tag: 1, Name: "n", Schema: rc1.Schema{
		Fields: []rc1.Field{{Field: envelope.Field{Role: envelope.RoleCollection, Name: "c"}},
			{Field: envelope.Field{Name: "x", TypeName: "std::int32_t"}}},
		Columns: []rc1.Column{{Type: 2, Bits: 32}, {Type: 0x14, Bits: 32, Field: 1}},
	}}
	p := &rc1.PageList{Clusters: []rc1.ClusterPages{{Columns: []rc1.ColumnPages{
		{Pages: []rc1.Page{{Elements: 1, Locator: locator.At(7, 4)}}},
		{Pages: []rc1.Page{{Elements: 1, Locator: locator.At(7, 4)}}},
	}}}}
	list := plain(p.Wire)
	list = append(list, make([]byte, size-len(list)-8)...)
	footer := &rc1.Footer{
		Clusters: []rc1.Cluster{{Entries: 1}},
		ClusterGroups: []rc1.ClusterGroup{{NumClusters: 1,
			PageList: rc1.Link{Length: size, Locator: locator.At(oldHead, size)}}},
	}
	f.Add(uint8(3), plain(h.Wire), plain(footer.Wire), list)
	v := &v0.Header{Fields: []v0.Field{{Parent: 1<<64 - 1, Children: []uint64{1}}, {ID: 1, Name: "x", TypeName: "float"}},
		Columns: []v0.Column{{Type: 6, Field: 1}}}
	f.Add(uint8(0), plain(v.Wire), plain((&v0.Footer{Clusters: []v0.Cluster{{NumEntries: 1,
		Columns: []v0.Range{{NumElements: 1, Pages: []v0.Page{{NumElements: 1,
			Locator: v0.Locator{Offset: 7, Size: 4}}}}}}}}).Wire), []byte{})
	f.Fuzz(func(t *testing.T, class uint8, header, footer, list []byte) {
		o := newOld(t, uint16(class))
		words := []uint16{1, 1}
		if class == 0 {
			words = nil
		}
		raw := func(b []byte) func(*frame.Codec) { return func(c *frame.Codec) { c.Rest(&b) } }
		o.seal(raw(list), 1, 1)
		at := o.seal(raw(header), words...)
		sum := o.file[len(o.file)-4:]
		switch {
		case class > 0 && len(footer) >= 12:
			copy(footer[8:], sum) // behind one word of feature flags
		case class == 0 && len(footer) >= 8:
			binary.LittleEndian.PutUint32(footer[len(footer)-8:], uint32(at.Size))
			binary.LittleEndian.PutUint32(footer[len(footer)-4:], uint32(len(footer)+4))
		}
		_, _ = o.open(at, o.seal(raw(footer), words...))
		if _, err := readAll(o.file); err != nil {
			sound(t, err)
		}
	})
}
