package schema_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	. "github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/schema"
)

const (
	plain      = envelope.RolePlain
	collection = envelope.RoleCollection
	record     = envelope.RoleRecord
	variant    = envelope.RoleVariant
	streamer   = envelope.RoleStreamer
)

// maker makes descriptors.
type maker struct {
	envelope.Header
	ext *envelope.Schema
}

// top is the parent of top-level fields.
const top = -1

// add adds a field with columns of the given types and returns its ID.
func (m *maker) add(parent int, name, typ string, role envelope.Role, columns ...column.Type) int {
	id := len(m.Fields)
	if parent == top {
		parent = id
	}
	m.Fields = append(m.Fields, envelope.Field{Parent: uint32(parent), Name: name, TypeName: typ, Role: role})
	for _, t := range columns {
		m.column(id, t, 0)
	}
	return id
}

// array adds a repetitive field.
func (m *maker) array(parent int, name, typ string, size uint64, columns ...column.Type) int {
	id := m.add(parent, name, typ, plain, columns...)
	m.Fields[id].Flags, m.Fields[id].ArraySize = envelope.FieldRepetitive, size
	return id
}

func (m *maker) column(field int, t column.Type, representation uint16) int {
	c := envelope.Column{Type: t, Field: uint32(field), Representation: representation}
	for c.Bits = 1; c.Bits < 96 && (column.Format{Type: t, Bits: c.Bits, Max: 1}).Check() != nil; c.Bits++ {
	}
	m.Columns = append(m.Columns, c)
	return len(m.Columns) - 1
}

// project adds a projected field on the column of a source field.
func (m *maker) project(parent int, name, typ string, role envelope.Role, source, column int) int {
	id := m.add(parent, name, typ, role)
	m.Fields[id].Flags, m.Fields[id].Source = envelope.FieldProjected, uint32(source)
	m.Aliases = append(m.Aliases, envelope.Alias{Column: uint32(column), Field: uint32(id)})
	return id
}

func (m *maker) build(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Build(&m.Header, m.ext)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(fields []*schema.Field) (all []string) {
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return all
}

// What is not known, or not as it should be, hides its top-level field and the
// projections on it, also projections on these, and nothing else.
func TestHidden(t *testing.T) {
	const leaf, vector, index, pt = 4, 1, 1, 2 // IDs of two fields and two columns
	for _, test := range []struct {
		name   string
		damage func(*maker)
		kind   error
		reason string
	}{
		{"column type", func(m *maker) { m.Columns[pt].Type = 0x2a }, frame.ErrUnsupported, "0x2a"},
		{"column width", func(m *maker) { m.Columns[pt].Bits = 33 }, frame.ErrUnsupported, "33 bits"},
		{"column type of the collection", func(m *maker) { m.Columns[index].Type = 0x2a }, frame.ErrUnsupported, "0x2a"},
		{"column of another kind", func(m *maker) { m.Columns[pt].Type = column.Int32 }, frame.ErrUnsupported, "Int32"},
		{"no index column", func(m *maker) { m.Columns[index].Type, m.Columns[index].Bits = column.Int64, 64 },
			frame.ErrUnsupported, "Int64"},
		{"role", func(m *maker) { m.Fields[leaf].Role = 7 }, frame.ErrUnsupported, "0x07"},
		{"role of the collection", func(m *maker) { m.Fields[vector].Role = 0xffff }, frame.ErrUnsupported, "0xffff"},
		{"field version", func(m *maker) { m.Fields[leaf].Version = 1 }, frame.ErrUnsupported, "version 1"},
		{"leaf type", func(m *maker) { m.Fields[leaf].TypeName = "std::float16_t" }, frame.ErrUnsupported, "std::float16_t"},
		{"two items", func(m *maker) { m.add(vector, "_1", "float", plain, column.Real32) },
			frame.ErrUnsupported, "2 subfields"},
		{"array size", func(m *maker) { m.array(3, "a", "std::bitset<9>", 1<<62, column.Bit) }, frame.ErrUnsupported,
			"4611686018427387904"},
		{"no columns", func(m *maker) { m.add(3, "x", "float", plain) }, frame.ErrCorrupt, "no columns"},
		{"two columns", func(m *maker) { m.column(leaf, column.Real32, 0) }, frame.ErrCorrupt, "2 columns"},
		{"one column too few", func(m *maker) { m.add(3, "s", "std::string", plain, column.Index64) },
			frame.ErrCorrupt, "1 columns"},
		{"columns of a record", func(m *maker) { m.column(3, column.Real32, 0) }, frame.ErrCorrupt, "1 columns"},
		{"representations", func(m *maker) { m.column(leaf, column.Real32, 1); m.column(leaf, column.Real32, 1) },
			frame.ErrCorrupt, "representation 1"},
		{"unknown representation", func(m *maker) { m.column(leaf, 0x2a, 1) }, frame.ErrUnsupported, "0x2a"},
		{"quantized range", func(m *maker) {
			m.Columns[pt].Type, m.Columns[pt].Min, m.Columns[pt].Max = column.Real32Quant, 1,
				1
		}, frame.ErrCorrupt, "range"},
		{"variant without alternatives", func(m *maker) { m.add(3, "x", "std::variant<>", variant, column.Switch) },
			frame.ErrCorrupt, "without subfields"},
		{"empty array", func(m *maker) { m.array(3, "a", "std::array<float,3>", 3) }, frame.ErrCorrupt, "no columns"},
	} {
		m := &maker{}
		m.add(top, "good", "float", plain, column.Real32)
		m.add(top, "v", "std::vector<P>", collection, column.Index64)
		m.project(top, "other", "float", plain, 0, 0)
		m.add(vector, "_0", "P", record)
		m.add(3, "pt", "float", plain, column.Real32)
		if test.damage != nil {
			test.damage(m)
		}
		m.project(top, "n", "ROOT::RNTupleCardinality<std::uint64_t>", plain, vector, index)
		p := m.project(top, "pts", "std::vector<float>", collection, vector, index)
		m.project(p, "_0", "float", plain, leaf, pt)
		m.add(top, "last", "float", plain, column.Real32)

		s := m.build(t)
		var hidden []string
		for _, h := range s.Hidden {
			hidden = append(hidden, h.Field.Name)
			if !errors.Is(h.Err, test.kind) || !strings.Contains(h.Err.Error(), test.reason) {
				t.Errorf("%s: %s: %v", test.name, h.Field.Name, h.Err)
			}
			_, err := s.Lookup(h.Field.Name + "._0")
			if !errors.Is(err, test.kind) || errors.Is(err, schema.ErrNoField) {
				t.Errorf("%s: looked up: %v", test.name, err)
			}
		}
		if got, want := names(s.Fields), []string{"good", "other", "last"}; !slices.Equal(got, want) ||
			!slices.Equal(hidden, []string{"v", "n", "pts"}) {
			t.Errorf("%s: fields %q, hidden %q", test.name, got, hidden)
		}
		if err := s.Print(io.Discard); err != nil {
			t.Error(err)
		}
	}
}

// A projection may come before its source.
func TestHiddenBackwards(t *testing.T) {
	m := &maker{}
	m.column(3, column.Real32, 0)
	m.project(top, "a", "float", plain, 1, 0)
	m.project(top, "b", "float", plain, 2, 0)
	m.add(top, "c", "float", plain, 0x2a)
	m.add(top, "good", "float", plain)
	if s := m.build(t); len(s.Hidden) != 3 || !errors.Is(s.Hidden[0].Err, frame.ErrUnsupported) {
		t.Errorf("hidden: %v", s.Hidden)
	}
}

// Descriptors that contradict each other are no schema.
func TestContradictions(t *testing.T) {
	for name, damage := range map[string]func(*maker){
		"parent behind":           func(m *maker) { m.Fields[0].Parent = 1 },
		"parent missing":          func(m *maker) { m.Fields[1].Parent = 2 },
		"parent far":              func(m *maker) { m.Fields[1].Parent = math.MaxUint32 },
		"column of no field":      func(m *maker) { m.Columns[0].Field = 2 },
		"column far":              func(m *maker) { m.Columns[0].Field = math.MaxUint32 },
		"representation 1 first":  func(m *maker) { m.Columns[0].Representation = 1 },
		"representation 2 second": func(m *maker) { m.column(0, column.Real32, 2) },
		"representation 0 last":   func(m *maker) { m.column(0, column.Real32, 1); m.column(0, column.Real32, 0) },
		"alias of no column":      func(m *maker) { m.Aliases[0].Column = 1 },
		"alias to no field":       func(m *maker) { m.Aliases[0].Field = 2 },
		"aliases far": func(m *maker) {
			m.Aliases[0] = envelope.Alias{Column: math.MaxUint32,
				Field: math.MaxUint32}
		},
		"source missing": func(m *maker) { m.Fields[1].Source = 2 },
		"source far":     func(m *maker) { m.Fields[1].Source = math.MaxUint32 },
	} {
		m := &maker{}
		m.add(top, "a", "float", plain, column.Real32)
		m.project(top, "b", "float", plain, 0, 0)
		m.build(t)
		damage(m)
		if _, err := schema.Build(&m.Header, nil); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fields nest up to a limit.
func TestDepth(t *testing.T) {
	for _, test := range []struct {
		depth int
		ok    bool
	}{{1000, true}, {1001, false}, {100_000, false}} {
		m := &maker{}
		parent := top
		for range test.depth - 1 {
			parent = m.add(parent, "_0", "std::atomic<T>", plain)
		}
		m.add(parent, "_0", "float", plain, column.Real32)
		s, err := schema.Build(&m.Header, nil)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, frame.ErrUnsupported) &&
			!errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("depth %d: %v", test.depth, err)
		}
		if err != nil {
			continue
		}
		if chain, err := s.Lookup("_0._0"); err != nil || len(s.Hidden) > 0 || len(chain) != 2 {
			t.Errorf("depth %d: %v, hidden %v", test.depth, err, s.Hidden)
		}
		if err := s.Print(io.Discard); err != nil {
			t.Error(err)
		}
	}
}

// The shape of every kind of field, and the elements per entry of its columns.
// Supplement, 4.7.
func TestShapes(t *testing.T) {
	m := &maker{}
	want := map[string]struct {
		shape    schema.Shape
		perEntry []int64
	}{}
	expect := func(name string, shape schema.Shape, perEntry ...int64) {
		want[name] = struct {
			shape    schema.Shape
			perEntry []int64
		}{shape, perEntry}
	}
	m.add(top, "bool", "bool", plain, column.Bit)
	expect("bool", schema.Scalar, 1)
	m.add(top, "byte", "std::byte", plain, column.Byte)
	expect("byte", schema.Scalar, 1)
	m.add(top, "int", "std::int32_t", plain, column.SplitUInt32) // read from a column of another integer
	expect("int", schema.Scalar, 1)
	m.add(top, "d32", "double", plain, column.SplitReal32)
	m.Fields[len(m.Fields)-1].TypeAlias = "Double32_t"
	expect("d32", schema.Scalar, 1)
	m.add(top, "string", "std::string", plain, column.Index32, column.Char)
	expect("string", schema.String, 1, 0)
	m.array(top, "bits", "std::bitset<70>", 70, column.Bit)
	expect("bits", schema.Bitset, 70)
	a := m.array(top, "array", "std::array<std::array<std::string,3>,2>", 2)
	expect("array", schema.Array)
	b := m.array(a, "_0", "std::array<std::string,3>", 3)
	expect("array._0", schema.Array)
	m.add(b, "_0", "std::string", plain, column.SplitIndex64, column.Char)
	expect("array._0._0", schema.String, 6, 0)
	a = m.array(top, "arraybits", "std::array<R,4>", 4)
	expect("arraybits", schema.Array)
	b = m.add(a, "_0", "R", record)
	expect("arraybits._0", schema.Record)
	m.array(b, "bits", "std::bitset<5>", 5, column.Bit)
	expect("arraybits._0.bits", schema.Bitset, 20)
	b = m.array(b, "none", "std::array<float,0>", 0)
	expect("arraybits._0.none", schema.Array)
	m.add(b, "_0", "float", plain, column.Real32)
	expect("arraybits._0.none._0", schema.Scalar, 0)
	a = m.array(top, "jagged", "std::array<std::vector<std::array<float,3>>,2>", 2)
	expect("jagged", schema.Array)
	a = m.add(a, "_0", "std::vector<std::array<float,3>>", collection, column.Index64)
	expect("jagged._0", schema.Collection, 2)
	a = m.array(a, "_0", "std::array<float,3>", 3)
	expect("jagged._0._0", schema.Array)
	m.add(a, "_0", "float", plain, column.Real32)
	expect("jagged._0._0._0", schema.Scalar, 0)
	for typ, shape := range map[string]schema.Shape{
		"ROOT::VecOps::RVec<float>": schema.Collection, "std::set<float>": schema.Collection, "": schema.Collection,
		"MyProxy":              schema.Collection,
		"std::optional<float>": schema.Optional, "std::unique_ptr<float>": schema.Optional,
	} {
		name := "c:" + typ
		a = m.add(top, name, typ, collection, column.SplitIndex32)
		expect(name, shape, 1)
		m.add(a, "_0", "float", plain, column.Real16)
		expect(name+"._0", schema.Scalar, 0)
	}
	a = m.add(top, "map", "std::map<char,bool>", collection, column.Index64)
	expect("map", schema.Collection, 1)
	a = m.add(a, "_0", "std::pair<char,bool>", record)
	expect("map._0", schema.Record)
	m.add(a, "_0", "char", plain, column.Char)
	expect("map._0._0", schema.Scalar, 0)
	m.add(a, "_1", "bool", plain, column.Int8)
	expect("map._0._1", schema.Scalar, 0)
	a = m.add(top, "variant", "std::variant<float,E>", variant, column.Switch)
	expect("variant", schema.Variant, 1)
	m.add(a, "_0", "float", plain, column.Real32)
	expect("variant._0", schema.Scalar, 0)
	a = m.add(a, "_1", "E", plain)
	expect("variant._1", schema.Wrapper)
	m.add(a, "_0", "std::uint8_t", plain, column.UInt8)
	expect("variant._1._0", schema.Scalar, 0)
	a = m.add(top, "atomic", "std::atomic<double>", plain)
	expect("atomic", schema.Wrapper)
	m.add(a, "_0", "double", plain, column.Real32Trunc)
	expect("atomic._0", schema.Scalar, 1)
	m.add(top, "streamer", "TH1", streamer, column.Index64, column.Byte)
	expect("streamer", schema.Streamer, 1, 0)
	m.add(top, "empty", "Empty", record)
	expect("empty", schema.Record)
	m.add(top, "n", "ROOT::RNTupleCardinality<std::uint32_t>", plain, column.SplitIndex64)
	expect("n", schema.Cardinality, 1)

	s := m.build(t)
	seen := 0
	var visit func(fields []*schema.Field)
	visit = func(fields []*schema.Field) {
		for _, f := range fields {
			var perEntry []int64
			for _, rep := range f.Columns {
				for i, c := range rep {
					perEntry = append(perEntry, c.PerEntry)
					if c.Owner != f || c.Index != i || s.Columns[c.ID] != c {
						t.Errorf("%s: column %+v", f.Path(), c)
					}
				}
			}
			if w := want[f.Path()]; f.Shape != w.shape || !slices.Equal(perEntry, w.perEntry) {
				t.Errorf("%s: a %v with %v elements per entry, want %+v", f.Path(), f.Shape, perEntry, w)
			}
			if f.IsMap() != (f.Name == "map") || f.IsTuple() != strings.HasPrefix(f.TypeName, "std::pair") {
				t.Errorf("%s: map %v, tuple %v", f.Path(), f.IsMap(), f.IsTuple())
			}
			seen++
			visit(f.Children)
		}
	}
	visit(s.Fields)
	if len(s.Hidden) > 0 || seen != len(want) {
		t.Errorf("%d fields, want %d; hidden %v", seen, len(want), s.Hidden)
	}
	for path, want := range map[string]string{"d32": "Double32_t", "int": "std::int32_t", "c:": "untyped collection"} {
		if chain, err := s.Lookup(path); err != nil || chain[0].CppType() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestLookup(t *testing.T) {
	m := &maker{}
	a := m.add(top, "mu", "std::vector<std::array<P,2>>", collection, column.Index64)
	a = m.array(a, "_0", "std::array<P,2>", 2)
	a = m.add(a, "_0", "P", record)
	m.add(a, "pt", "float", plain, column.Real32)
	m.add(a, "p.x", "float", plain, column.Real32)
	m.add(m.add(a, ":_0", "Base", record), "id", "std::int32_t", plain, column.Int32)
	m.add(top, "mu.pt", "float", plain, column.Real32) // shadows the one in mu
	a = m.add(top, "a.b", "R", record)
	m.add(a, "c", "float", plain, column.Real32)
	a = m.add(top, "a", "R", record)
	a = m.add(a, "b", "R", record)
	m.add(a, "d", "float", plain, column.Real32)
	a = m.add(top, "t", "std::pair<float,float>", record)
	m.add(a, "_0", "float", plain, column.Real32)
	m.add(a, "_1", "float", plain, column.Real32)
	a = m.add(top, "o", "std::optional<E>", collection, column.Index64)
	a = m.add(a, "_0", "E", plain)
	m.add(a, "_0", "std::int32_t", plain, column.Int32)
	s := m.build(t)
	for path, want := range map[string]string{
		"mu": "mu", "mu._0": "mu/_0", "mu._0._0": "mu/_0/_0",
		"mu._0._0.pt": "mu/_0/_0/pt", "mu._0.pt": "mu/_0/_0/pt", "mu.pt": "mu.pt",
		"mu.p.x": "mu/_0/_0/p.x", "mu.:_0.id": "mu/_0/_0/:_0/id",
		"a.b": "a.b", "a.b.c": "a.b/c", "a.b.d": "a/b/d",
		"t._1": "t/_1", "o._0._0": "o/_0/_0",
		"": "", "x": "", "mu.": "", ".mu": "", "mu.x": "", "mu._0._0._0": "", "mu._1": "", "t.pt": "", "t._2": "",
		"a.b.": "", "mu..pt": "",
	} {
		chain, err := s.Lookup(path)
		if got := strings.Join(names(chain), "/"); got != want || (want == "") != errors.Is(err, schema.ErrNoField) {
			t.Errorf("%q: %q, %v, want %q", path, got, err, want)
		}
	}
}

// What the footer adds goes on where the header ended.
func TestExtension(t *testing.T) {
	m := &maker{}
	a := m.add(top, "a", "R", record)
	x := m.add(a, "x", "float", plain, column.SplitReal32)
	m.ExtraTypes = []envelope.ExtraTypeInfo{{TypeName: "first"}}
	m.ext = &envelope.Schema{
		Fields: []envelope.Field{
			{Parent: 2, Name: "late", TypeName: "float"},
			{Parent: uint32(a), Name: "y", TypeName: "float"},
			{Parent: 4, Name: "view", TypeName: "float", Flags: envelope.FieldProjected, Source: uint32(x)},
		},
		Columns: []envelope.Column{
			{Type: column.Real32, Bits: 32, Field: 2, Flags: envelope.ColumnDeferred, FirstElement: 5},
			{Type: column.Real32, Bits: 32, Field: 3},
			{Type: column.Real16, Bits: 16, Field: uint32(x), Representation: 1},
		},
		Aliases:    []envelope.Alias{{Column: 0, Field: 4}, {Column: 3, Field: 4}},
		ExtraTypes: []envelope.ExtraTypeInfo{{TypeName: "second"}},
	}
	s := m.build(t)
	fields := s.Fields[0].Children
	if got := names(append(s.Fields, fields...)); !slices.Equal(got, []string{"a", "late", "view", "x", "y"}) ||
		len(s.Hidden) > 0 {
		t.Fatalf("fields %q, hidden %v", got, s.Hidden)
	}
	if s.Fields[0].Extended || !s.Fields[1].Extended || fields[0].Extended || !fields[1].Extended {
		t.Error("the wrong fields are of the extension")
	}
	view := s.Fields[2]
	if len(fields[0].Columns) != 2 || view.Source != fields[0] || len(view.Columns) != 2 ||
		view.Columns[1][0] != s.Columns[3] ||
		s.Columns[3].PerEntry != 1 || s.Columns[1].FirstElement != 5 || s.Columns[1].Owner.Name != "late" {
		t.Errorf("columns %v of x, %v of view", fields[0].Columns, view.Columns)
	}
	if len(s.ExtraTypes) != 2 || s.ExtraTypes[1].TypeName != "second" || len(m.ExtraTypes) != 1 {
		t.Errorf("extra types %v", s.ExtraTypes)
	}
}

// No descriptors make the schema allocate out of proportion to their bytes.
func TestProportion(t *testing.T) {
	for name, m := range map[string]*maker{
		"aliases of a high representation": func() *maker {
			m := &maker{}
			m.add(top, "a", "float", plain)
			for r := range uint16(4000) {
				m.column(0, column.Real32, r)
			}
			for range 1000 {
				m.project(top, "p", "float", plain, 0, len(m.Columns)-1)
			}
			return m
		}(),
		"hidden projections of each other": func() *maker {
			m := &maker{}
			m.add(top, "a", "float", plain, column.Real32)
			m.add(top, "b", "float", plain, 0x2a)
			for i := range 3000 {
				m.project(top, "p", "float", plain, i+1, 0)
			}
			return m
		}(),
		"hidden projections of each other, backwards": func() *maker {
			m := &maker{}
			m.add(top, "a", "float", plain, column.Real32)
			for i := range 3000 {
				m.project(top, "p", "float", plain, i+2, 0)
			}
			m.add(top, "b", "float", plain, 0x2a)
			return m
		}(),
	} {
		b, err := m.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		allocated := Allocated(func() { _, err = schema.Build(&m.Header, nil) })
		if limit := uint64(100 * len(b)); allocated > limit {
			t.Errorf("%s: %d bytes allocated for %d, %.0f times as many; %v", name, allocated, len(b),
				float64(allocated)/float64(len(b)), err)
		}
	}
}

// The files at hand can be read as a whole, every field is found by its path,
// and clusters hold as many elements as the schema says.
func TestReal(t *testing.T) {
	seeds := Seeds(t)
	if len(seeds) == 0 {
		t.Skip("no ROOT files in testdata or ../shared/testdata/root")
	}
	for _, seed := range seeds {
		s, err := build(seed.Header, seed.Footer)
		if err != nil || len(s.Hidden) > 0 {
			t.Errorf("%s: %v, hidden %v", seed.Name, err, s.Hidden)
			continue
		}
		checkTree(t, s)
		checked := 0
		for _, b := range seed.PageLists {
			p, err := envelope.ParsePageList(b)
			if err != nil {
				t.Fatal(err)
			}
			for i, cluster := range p.Pages {
				for id, pages := range cluster.Columns {
					c := s.Columns[id]
					if c.PerEntry == 0 || c.Flags&envelope.ColumnDeferred != 0 || pages.IsSuppressed() {
						continue
					}
					var n uint64
					for _, page := range pages.Pages {
						n += uint64(page.NumElements)
					}
					if want := p.Clusters[i].NumEntries * uint64(c.PerEntry); n != want {
						t.Errorf("%s: cluster %d: column %d of %s has %d elements, want %d", seed.Name, i, id, c.Owner.Path(), n, want)
					}
					checked++
				}
			}
		}
		t.Logf("%s: %d columns checked", seed.Name, checked)
	}
}

func build(header, footer []byte) (*schema.Schema, error) {
	h, err := envelope.ParseHeader(header)
	if err != nil {
		return nil, err
	}
	f, err := envelope.ParseFooter(footer)
	if err != nil {
		return nil, err
	}
	return schema.Build(h, f.Extension)
}

// checkTree checks what holds for every schema.
func checkTree(t *testing.T, s *schema.Schema) {
	t.Helper()
	var visit func(parent *schema.Field, fields []*schema.Field, depth int)
	visit = func(parent *schema.Field, fields []*schema.Field, depth int) {
		for _, f := range fields {
			if f.Parent != parent || f.Shape == 0 || depth > 1000 {
				t.Fatalf("%q: parent %v, a %v, depth %d", f.Path(), f.Parent, f.Shape, depth)
			}
			_, _, _ = f.CppType(), f.IsMap(), f.IsTuple()
			for _, rep := range f.Columns {
				for _, c := range rep {
					if err := c.Format().Check(); err != nil || c.Owner == nil || c.PerEntry < 0 {
						t.Errorf("%q: column %+v, %v", f.Path(), c, err)
					}
				}
			}
			if depth <= 8 {
				if chain, err := s.Lookup(f.Path()); err != nil {
					t.Errorf("%q, %v: %v", f.Path(), chain, err)
				}
			}
			visit(f, f.Children, depth+1)
		}
	}
	visit(nil, s.Fields, 1)
	for _, h := range s.Hidden {
		if !errors.Is(h.Err, frame.ErrUnsupported) && !errors.Is(h.Err, frame.ErrCorrupt) {
			t.Errorf("%q is hidden: %v", h.Field.Name, h.Err)
		}
	}
	if err := s.Print(io.Discard); err != nil {
		t.Error(err)
	}
	if _, err := s.MarshalJSON(); err != nil {
		t.Error(err)
	}
}

// The fuzzer sees header and footer without length and checksum.
func FuzzSchemaBuild(f *testing.F) {
	m := &maker{}
	m.add(top, "a", "float", plain, column.Real32)
	m.project(top, "b", "float", plain, 0, 0)
	h, err := m.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	foot, err := (&envelope.Footer{Extension: &envelope.Schema{}}).Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(h[:len(h)-8], foot[:len(foot)-8])
	for _, s := range Seeds(f) {
		f.Add(s.Header[:len(s.Header)-8], s.Footer[:len(s.Footer)-8])
	}
	f.Fuzz(func(t *testing.T, h, foot []byte) {
		s, err := build(Seal(1, h), Seal(2, foot))
		if err != nil {
			if !errors.Is(err, frame.ErrCorrupt) && !errors.Is(err, frame.ErrUnsupported) {
				t.Error(err)
			}
			return
		}
		checkTree(t, s)
	})
}

// The cost grows linearly with the number of fields.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		m := &maker{}
		for i := range n / 2 {
			v := m.add(top, fmt.Sprintf("field_%d", i), "std::vector<float>", collection, column.SplitIndex64)
			m.add(v, "_0", "float", plain, column.SplitReal32)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				m.build(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/field")
		})
	}
}
