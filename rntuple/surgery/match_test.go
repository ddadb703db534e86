package surgery

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestCurrent replaces formats from before format 1.0.0.0: only an element of a Switch, an index of 44 bits
// and a tag of 20 then, has another width now, with an index of 64 bits and a tag of 32.
func TestCurrent(t *testing.T) {
	for from, want := range map[column.Format]column.Format{
		{Type: column.Switch, Bits: 64, PreRelease: true}: {Type: column.Switch, Bits: 96},
		{Type: column.Int32, Bits: 32, PreRelease: true}:  {Type: column.Int32, Bits: 32},
		{Type: column.Switch, Bits: 96}:                   {Type: column.Switch, Bits: 96},
		{Type: column.Real32Trunc, Bits: 12}:              {Type: column.Real32Trunc, Bits: 12},
	} {
		if got := current(from); got != want {
			t.Errorf("%#v becomes %#v, want %#v", from, got, want)
		}
	}
}

// TestTypeNames compares fields whose types have names that are spelt in different
// ways, as those of ROOT 6.34 and 6.36 are (ROOT's issue 22130).
func TestTypeNames(t *testing.T) {
	build := func(typeName string) *schema.Schema {
		fields := []envelope.Field{
			{TypeName: typeName, Name: "links", Role: envelope.RoleRecord},
			{TypeName: "std::uint32_t", Name: "index", Parent: 0},
		}
		s, err := schema.Build(&envelope.Header{Name: "n", Schema: envelope.Schema{
			Fields:  fields,
			Columns: []envelope.Column{{Type: column.UInt32, Bits: 32, Field: 1}},
		}}, nil)
		if err != nil || len(s.Hidden) > 0 {
			t.Fatal(err, s.Hidden)
		}
		return s
	}
	for _, test := range []struct {
		first, this string
		same        bool
	}{
		{"ElementLink<DataVector<xAOD::Jet_v1>>", "ElementLink<DataVector<xAOD::Jet_v1> >", true},
		{"ElementLink<DataVector<xAOD::Jet_v1> >", "ElementLink<DataVector<xAOD::Jet_v1>>", true},
		{"Pair<Long64_t, unsigned int>", "Pair<std::int64_t,std::uint32_t>", true},
		{"ElementLink<DataVector<xAOD::Jet_v1>>", "ElementLink<DataVector<xAOD::Jet_v2> >", false},
		{"Pair<std::int64_t,float>", "Pair<std::int64_t,double>", false},
		{"C<", "C<", true}, // no type names, but the same
		{"C<", "C< ", false},
	} {
		m := compare(build(test.first).Fields, build(test.this), "", false)
		m.apply(Strict)
		if same := len(m.problems) == 0; same != test.same {
			t.Errorf("%q and %q: %v", test.first, test.this, m.problems)
		} else if !same && !strings.Contains(m.problems[0].What, "the type is "+test.this) {
			t.Errorf("%q and %q: %v", test.first, test.this, m.problems)
		}
	}
}

// TestFits has which columns can become which others, from words for their formats: the kind of
// values, their bits, and whether the column is split or loses bits.
func TestFits(t *testing.T) {
	type format struct {
		typ   column.Type
		bits  uint16
		kind  string // of values: those of one kind can be converted into each other
		split column.Type
		full  bool // the column holds all values of as many bits
	}
	formats := []format{
		{column.Bit, 1, "int", 0, false},
		{column.Int8, 8, "int", 0, false},
		{column.UInt16, 16, "int", column.SplitUInt16, false},
		{column.SplitUInt16, 16, "int", column.UInt16, false},
		{column.Int32, 32, "int", column.SplitInt32, false},
		{column.SplitInt32, 32, "int", column.Int32, false},
		{column.Byte, 8, "byte", 0, false},
		{column.Real16, 16, "real", 0, false},
		{column.Real32, 32, "real", column.SplitReal32, true},
		{column.SplitReal32, 32, "real", column.Real32, true},
		{column.Real32Trunc, 20, "real", 0, false},
		{column.Real32Quant, 20, "real", 0, false},
		{column.Real64, 64, "real", column.SplitReal64, true},
		{column.Index32, 32, "index", column.SplitIndex32, true},
		{column.SplitIndex32, 32, "index", column.Index32, true},
		{column.Index64, 64, "index", column.SplitIndex64, true},
	}
	of := func(f format) column.Format {
		return (&schema.Column{Column: envelope.Column{Type: f.typ, Bits: f.bits}}).Format()
	}
	for _, a := range formats {
		for _, b := range formats {
			if (a.kind == "index") != (b.kind == "index") {
				continue // fields of other shapes
			}
			same := a.typ == b.typ || a.split != 0 && a.split == b.typ
			wider := same || a.kind == b.kind && b.full && b.bits >= a.bits
			for _, c := range []struct{ further, convert, want bool }{
				{false, false, same}, {true, false, wider}, {false, true, a.kind == b.kind}, {true, true, a.kind == b.kind},
			} {
				if got := fits(of(a), of(b), c.further, c.convert); got != c.want {
					t.Errorf("%v to %v, further %v, convert %v: %v", a.typ, b.typ, c.further, c.convert, got)
				}
			}
		}
	}
}

// TestSetsThatDiffer merges RNTuples with attribute sets of the same name and other fields, which
// every mode must refuse: attributes have no values for fields that others lack.
func TestSetsThatDiffer(t *testing.T) {
	dir := t.TempDir()
	one, text, more := filepath.Join(dir, "one"), filepath.Join(dir, "text"), filepath.Join(dir, "more")
	withSet(t, one, struct{ A int32 }{1})
	withSet(t, text, struct{ A string }{"1"})
	withSet(t, more, struct{ A, B int32 }{1, 2})
	for _, mode := range []Mode{Strict, Filter, Union} {
		for _, inputs := range [][]Input{{{Path: one}, {Path: text}}, {{Path: one}, {Path: more}},
			{{Path: more}, {Path: one}}} {
			out := filepath.Join(dir, "out")
			_, err := Merge(all, out, inputs, &MergeOptions{Mode: mode})
			refused, ok := errors.AsType[*IncompatibleError](err)
			if !ok || slices.ContainsFunc(refused.Problems,
				func(p Problem) bool { return !strings.HasPrefix(p.Input, inputs[1].Path) }) {
				t.Errorf("mode %v, %v: %v, want problems of the second input", mode, inputs, err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("mode %v, %v: there is an output", mode, inputs)
			}
		}
	}
}

// withSet writes an RNTuple with an attribute set that has one attribute.
func withSet[A any](t *testing.T, path string, value A) {
	t.Helper()
	w, err := rntuple.Create[point](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := rntuple.NewAttributes[A](w, "set", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.Write(&point{X: 1}), set.Write(rntuple.EntryRange{End: 1}, value), w.Close())
	if err != nil {
		t.Fatal(err)
	}
}
