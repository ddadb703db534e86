package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/schema"
)

// written is the schema of an RNTuple that ROOT wrote.
type written struct {
	file   string
	header *envelope.Header
	ext    *envelope.Schema
}

// byROOT returns the schemas of all RNTuples of the test files.
func byROOT(t *testing.T) (all []written) {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../testdata/*.root", "../testdata/good/*.root",
		"../../shared/testdata/root/*.root"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Logf("there are no files %s; tested without them", pattern)
		}
		files = append(files, found...)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(path, err)
		}
		err = f.Walk(func(_ string, k rootfile.Key) error {
			if k.Class != anchor.ClassName {
				return nil
			}
			object, err := f.Payload(k)
			if err != nil {
				return err
			}
			a, err := anchor.Parse(object)
			if err != nil {
				return err
			}
			blob := func(seek, stored, length uint64) []byte {
				dst, src := make([]byte, length), make([]byte, stored)
				if err := anchor.ReadBlob(bytes.NewReader(b), src, int64(seek), a.MaxKeySize); err != nil {
					t.Fatal(path, err)
				}
				if stored == length {
					return src
				}
				if err := compress.Decompress(dst, src); err != nil {
					t.Fatal(path, err)
				}
				return dst
			}
			header, err := envelope.ParseHeader(blob(a.SeekHeader, a.NBytesHeader, a.LenHeader))
			if err != nil {
				return err
			}
			footer, err := envelope.ParseFooter(blob(a.SeekFooter, a.NBytesFooter, a.LenFooter))
			if err != nil {
				return err
			}
			all = append(all, written{filepath.Base(path), header, footer.Extension})
			return nil
		})
		if err != nil {
			t.Fatal(path, err)
		}
	}
	return all
}

// throughJSON returns the document of s, after a trip through JSON.
func throughJSON(t *testing.T, s *schema.Schema) *schema.Document {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := schema.ParseDocument(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// without leaves out the fields and those below them that drop tells.
func without(fields []*schema.FieldDocument, drop func(*schema.FieldDocument) bool) (left []*schema.FieldDocument) {
	for _, f := range fields {
		if !drop(f) {
			copied := *f
			copied.Fields = without(f.Fields, drop)
			left = append(left, &copied)
		}
	}
	return left
}

// change changes the fields and all below them.
func change(fields []*schema.FieldDocument, edit func(*schema.FieldDocument)) {
	for _, f := range fields {
		edit(f)
		change(f.Fields, edit)
	}
}

func compare(t *testing.T, what string, got, want *envelope.Schema) {
	t.Helper()
	compareLists(t, what+": field", got.Fields, want.Fields)
	compareLists(t, what+": column", got.Columns, want.Columns)
	compareLists(t, what+": alias", got.Aliases, want.Aliases)
	compareLists(t, what+": extra type", got.ExtraTypes, want.ExtraTypes)
}

func compareLists[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d, want %d", what, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s %d:\n%+v, want\n%+v", what, i, got[i], want[i])
			return
		}
	}
}

// What ROOT has written is described as ROOT did it, number by number: what was
// there at first, and what was added in one step after the other.
func TestDescribeROOT(t *testing.T) {
	extended, projected, representations := 0, 0, 0
	for _, w := range byROOT(t) {
		name := w.file + " " + w.header.Name
		s, err := schema.Build(w.header, w.ext)
		if err != nil {
			t.Fatal(name, err)
		}
		doc := throughJSON(t, s)
		isExtended := func(f *schema.FieldDocument) bool { return f.Extended }
		regular := *doc
		regular.Fields, regular.ExtraTypes = without(doc.Fields, isExtended), nil
		got, err := regular.Describe(true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compare(t, name, got, &w.header.Schema)
		for _, c := range got.Columns {
			representations += int(c.Representation)
		}
		projected += len(got.Aliases)

		// Fields that were added after the same number of entries are a step.
		all := envelope.Schema{}
		added := topmost(s.TopLevel(), doc.Fields)
		slices.SortFunc(added, func(a, b addition) int { return int(a.field.ID) - int(b.field.ID) })
		for len(added) > 0 {
			entries := int64(0)
			step := schema.Document{}
			for len(added) > 0 {
				if n := entriesBefore(added[0].field); n != 0 && entries != 0 && n != entries {
					break
				} else if n != 0 {
					entries = n
				}
				step.Fields, added = append(step.Fields, added[0].doc), added[1:]
			}
			if len(added) == 0 {
				step.ExtraTypes = doc.ExtraTypes
			}
			before, err := schema.Build(w.header, &all)
			if err != nil {
				t.Fatal(name, err)
			}
			part, err := step.Extend(before, entries, true)
			if err != nil {
				t.Fatal(name, err)
			}
			all.Fields = append(all.Fields, part.Fields...)
			all.Columns = append(all.Columns, part.Columns...)
			all.Aliases = append(all.Aliases, part.Aliases...)
			all.ExtraTypes = append(all.ExtraTypes, part.ExtraTypes...)
			extended += len(part.Fields)
		}
		if w.ext != nil && len(w.ext.Fields) > 0 {
			compare(t, name+", extension", &all, w.ext)
		}
	}
	if extended < 80 || projected < 20 || representations < 30 {
		t.Errorf("only %d added fields, %d alias columns, %d representations were compared", extended,
			projected, representations)
	}
}

// An addition is a field that was added, with the document that does it.
type addition struct {
	field *schema.Field
	doc   *schema.FieldDocument
}

// topmost returns the extended fields below fields that are not below others.
func topmost(fields []*schema.Field, docs []*schema.FieldDocument) (all []addition) {
	for i, f := range fields {
		if f.Extended {
			all = append(all, addition{f, docs[i]})
			continue
		}
		for _, below := range topmost(f.Children, docs[i].Fields) {
			below.doc = &schema.FieldDocument{Name: f.Name, Fields: []*schema.FieldDocument{below.doc}}
			all = append(all, below)
		}
	}
	return all
}

// entriesBefore returns after how many entries f was added, 0 if it does not tell.
func entriesBefore(f *schema.Field) int64 {
	if f.Source != nil {
		return 0
	}
	for _, c := range slices.Concat(f.Columns...) {
		if c.PerEntry > 0 {
			return max(c.FirstElement, -c.FirstElement) / c.PerEntry
		}
	}
	for _, child := range f.Children {
		if n := entriesBefore(child); n > 0 {
			return n
		}
	}
	return 0
}

// A document that ROOT or we have written is the same after it was described.
func TestDescribeBuild(t *testing.T) {
	for _, w := range byROOT(t) {
		s, err := schema.Build(w.header, w.ext)
		if err != nil {
			t.Fatal(err)
		}
		want := throughJSON(t, s)
		// All fields are in the header now, and the projected ones come last.
		change(want.Fields, func(f *schema.FieldDocument) {
			f.Extended = false
			for _, c := range f.Columns {
				for i := range c {
					c[i].FirstElement = nil
				}
			}
		})
		slices.SortStableFunc(want.Fields, func(a, b *schema.FieldDocument) int {
			return min(len(a.Source),
				1) - min(len(b.Source), 1)
		})
		described, err := want.Describe(true)
		if err != nil {
			t.Errorf("%s: %v", w.file, err)
			continue
		}
		s, err = schema.Build(&envelope.Header{Name: w.header.Name, Description: w.header.Description,
			Writer: w.header.Writer, Schema: *described}, nil)
		if err != nil || len(s.Hidden) > 0 {
			t.Fatal(w.file, err, s.Hidden)
		}
		if got := s.Document(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another document", w.file)
		}
	}
}

// Fields without columns get those that ROOT gives them, fields with nothing but
// a type of the standard library also get its subfields.
func TestDescribeDefaults(t *testing.T) {
	for _, w := range byROOT(t) {
		if !strings.HasPrefix(w.file, "types_") &&
			!slices.Contains([]string{"dimuon.root", "special_soa.root", "special_streamer.root"}, w.file) {
			continue
		}
		s, err := schema.Build(w.header, nil)
		if err != nil {
			t.Fatal(err)
		}
		compressed := !strings.HasPrefix(w.file, "types_none")
		doc := s.Document()
		for _, f := range doc.Fields {
			if !strings.Contains(f.Name, "__") { // the others have encodings on request
				change([]*schema.FieldDocument{f}, func(f *schema.FieldDocument) { f.Columns = nil })
			}
		}
		got, err := doc.Describe(compressed)
		if err != nil {
			t.Fatal(w.file, err)
		}
		compare(t, w.file+" without columns", got, &w.header.Schema)

		for i, f := range doc.Fields {
			spelling := f.Type
			if f.Alias != "" {
				spelling = f.Alias
			}
			if _, err := schema.FieldOf(f.Name, spelling); err == nil && f.Source == "" && !strings.Contains(f.Name, "__") {
				doc.Fields[i] = &schema.FieldDocument{Name: f.Name, Type: spelling, Description: f.Description}
			}
		}
		if got, err = doc.Describe(compressed); err != nil {
			t.Fatal(w.file, err)
		}
		compare(t, w.file+" with types only", got, &w.header.Schema)
	}
}

// FieldOf makes what ROOT has written, for all fields whose type it knows.
func TestFieldOf(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range byROOT(t) {
		s, err := schema.Build(w.header, w.ext)
		if err != nil {
			t.Fatal(err)
		}
		doc := s.Document()
		change(doc.Fields, func(f *schema.FieldDocument) { // parents first
			spelling := f.Type
			if f.Alias != "" {
				spelling = f.Alias
			}
			got, err := schema.FieldOf(f.Name, spelling)
			if err != nil {
				return
			}
			seen[spelling] = true
			want := without([]*schema.FieldDocument{f}, func(*schema.FieldDocument) bool { return false })
			change(want, func(f *schema.FieldDocument) {
				f.Columns, f.Source, f.Extended, f.Description = nil, "", false, ""
			})
			if !reflect.DeepEqual(got, want[0]) {
				g, _ := json.Marshal(got)
				w, _ := json.Marshal(want[0])
				t.Errorf("%s:\n%s, want\n%s", spelling, g, w)
			}
		})
	}
	t.Logf("%d types", len(seen))
	for _, spelling := range []string{"bool", "std::vector<size_t>", "std::optional<Double32_t>", "std::bitset<137>",
		"std::unordered_multimap<std::int32_t,std::string>"} {
		if !seen[spelling] {
			t.Errorf("%s did not come up", spelling)
		}
	}
}

// Spellings that ROOT normalizes, and types that FieldOf refuses.
func TestFieldOfSpellings(t *testing.T) {
	for spelling, want := range map[string]string{
		"const map<string, vector<Long64_t>>":     "std::map<std::string,std::vector<std::int64_t>>",
		"int[2][3]":                               "std::array<std::array<std::int32_t,3>,2>",
		"Double32_t":                              "double alias Double32_t",
		"pair<size_t, Double32_t>":                "std::pair<std::uint64_t,double> alias std::pair<size_t,Double32_t>",
		"std::tuple<>":                            "std::tuple<>",
		"std::array<float,0>":                     "std::array<float,0>",
		"ROOT::RNTupleCardinality<std::uint32_t>": "ROOT::RNTupleCardinality<std::uint32_t>",
	} {
		f, err := schema.FieldOf("x", spelling)
		if err != nil {
			t.Errorf("%s: %v", spelling, err)
			continue
		}
		got := f.Type
		if f.Alias != "" {
			got += " alias " + f.Alias
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", spelling, got, want)
		}
	}
	for spelling, reason := range map[string]string{
		"":                               `"" is neither`,
		"Hit":                            `"Hit" is neither`,
		"std::vector<Hit>":               `"Hit" is neither`,
		"std::string_view":               `"std::string_view" is neither`,
		"std::vector<float":              "missing , or >",
		"float*":                         `"float*" is neither`,
		"std::variant<>":                 `"std::variant<>" is neither`,
		"ROOT::RNTupleCardinality<char>": "is neither",
		"std::variant<" + strings.Repeat("int,", 125) + "int>": "is neither",
	} {
		if _, err := schema.FieldOf("x", spelling); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got the error %v", spelling, err)
		}
	}
}

// Everything that a document can have wrong is refused, with its place.
func TestDescribeRefuses(t *testing.T) {
	doc := func(fields string) string { return `{"name": "n", "fields": [` + fields + `]}` }
	leaf := func(typ, columns string) string {
		return doc(`{"name": "x", "type": "` + typ + `", "role": "plain", "columns": [` + columns + `]}`)
	}
	// Sources for projections.
	const sources = `{"name": "v", "type": "std::vector<P>", "role": "collection", "fields": [
		{"name": "_0", "type": "P", "role": "record", "fields": [{"name": "a", "type": "float"}, {"name": "w", "type": "std::vector<float>"}]}]},
		{"name": "f", "type": "float"}, {"name": "arr", "type": "std::array<float,2>"}, {"name": "var", "type": "std::variant<float>"},
		{"name": "view", "type": "float", "role": "plain", "source": "f"},
		`
	project := func(field string) string { return doc(sources + field) }
	for _, test := range []struct{ name, doc, want string }{
		{"no RNTuple name", `{"fields": []}`, `RNTuple name "" is empty`},
		{"RNTuple name", `{"name": "a/b", "fields": []}`, `RNTuple name "a/b" has the character '/'`},
		{"null", doc(`null`), `top level: subfield 0 is null`},
		{"null below", doc(`{"name": "r", "role": "record", "fields": [null]}`), `field "r": subfield 0 is null`},
		{"null item", doc(`{"name": "v", "type": "std::vector<float>", "fields": [null]}`), `field "v": subfield 0 is null`},
		{"no name", doc(`{"type": "float"}`), `top level: the name is empty`},
		{"dot", doc(`{"name": "a.b", "type": "float"}`), `field "a.b": the name has the character '.'`},
		{"space", doc(`{"name": "a b", "type": "float"}`), `field "a b": the name has the character ' '`},
		{"backslash", doc(`{"name": "a\\b", "type": "float"}`), `field "a\\b": the name has the character '\\'`},
		{"control", doc(`{"name": "a\u007f", "type": "float"}`), `field "a\x7f": the name has the character '\x7f'`},
		{"twice", doc(`{"name": "a", "type": "float"}, {"name": "a", "type": "float"}, {"name": "a", "type": "float"}`),
			`top level: there are several fields of the name "a"`},
		{"twice below", doc(`{"name": "r", "role": "record", "fields": [{"name": "a", "type": "float"}, {"name": "a", "type": "bool"}]}`), `field "r": there are several fields of the name "a"`},

		{"no role", doc(`{"name": "x", "type": "Hit"}`), `field "x": has no role, and its type "Hit" does not tell it`},
		{"role", doc(`{"name": "x", "type": "float", "role": "leaf"}`), `field "x": unknown role "leaf"`},
		{"role of type", doc(`{"name": "x", "type": "std::vector<float>", "role": "record"}`),
			`field "x": has the role "record", but a std::vector<float> the role "collection"`},
		{"field version", doc(`{"name": "x", "type": "float", "field_version": 1}`), `field "x": unknown field version 1`},
		{"struct of arrays", doc(`{"name": "x", "type": "P", "role": "record", "soa": true}`),
			`field "x": only a collection can be a struct of arrays`},
		{"untyped leaf", doc(`{"name": "x", "role": "plain"}`), `field "x": only records and collections can be untyped`},
		{"untyped below class", doc(`{"name": "x", "type": "P", "role": "record", "fields": [{"name": "y", "role": "record"}]}`), `field "x.y": untyped fields must be at the top or directly below untyped fields`},
		{"std", doc(`{"name": "x", "type": "std::list<int>", "role": "record"}`),
			`field "x": the type "std::list<std::int32_t>" of the standard library is not one that RNTuple knows`},
		{"leaf", doc(`{"name": "x", "type": "long double", "role": "plain"}`),
			`field "x": the type "long double" is not known as a leaf`},
		{"enum", doc(`{"name": "x", "type": "E", "role": "plain", "fields": [{"name": "_0", "type": "float"}]}`),
			`field "x": an enum cannot be of the type "float"`},
		{"enum of two", doc(`{"name": "x", "type": "E", "role": "plain", "fields": [{"name": "_0", "type": "int"}, {"name": "_1", "type": "int"}]}`), `field "x": has 2 subfields, expected 1`},
		{"streamer", doc(`{"name": "x", "type": "S", "role": "streamer", "fields": [{"name": "_0", "type": "int"}]}`),
			`field "x": has 1 subfield, expected 0`},
		{"cardinality", doc(`{"name": "x", "type": "ROOT::RNTupleCardinality<std::uint32_t>"}`),
			`field "x": a cardinality must be a projected field`},

		{"no subfields", doc(`{"name": "x", "type": "std::vector<Hit>"}`), `field "x": has 0 subfields, expected 1`},
		{"no item", doc(`{"name": "x", "role": "collection"}`), `field "x": has 0 subfields, expected 1`},
		{"subfields of leaf", doc(`{"name": "x", "type": "float", "fields": [{"name": "_0", "type": "float"}]}`),
			`field "x": has 1 subfield, expected 0`},
		{"name of item", doc(`{"name": "x", "type": "std::vector<float>", "fields": [{"name": "item", "type": "float"}]}`),
			`field "x": subfield "item" must have the name "_0"`},
		{"type of item", doc(`{"name": "x", "type": "std::vector<float>", "fields": [{"name": "_0", "type": "int"}]}`),
			`field "x": subfield _0 has the type "std::int32_t", expected "float"`},
		{"type of pair", doc(`{"name": "x", "type": "std::map<char,bool>", "fields": [{"name": "_0", "type": "std::pair<bool,char>"}]}`), `field "x": subfield _0 has the type "std::pair<bool,char>", expected "std::pair<char,bool>"`},
		{"array size", doc(`{"name": "x", "type": "std::array<float,3>", "array_size": 4}`),
			`field "x": the array size 4 is not that of a std::array<float,3>`},
		{"array size 0", doc(`{"name": "x", "type": "std::bitset<3>", "array_size": 0}`),
			`field "x": the array size 0 is not that of a std::bitset<3>`},
		{"array size of leaf", doc(`{"name": "x", "type": "float", "array_size": 0}`),
			`field "x": the array size 0 is not that of a float`},
		{"array size of class", doc(`{"name": "x", "type": "P", "role": "record", "array_size": 2}`),
			`field "x": the type "P" has no array size`},
		{"huge array", doc(`{"name": "x", "type": "std::array<std::bitset<1048576>,4194304>"}`),
			`field "x": unsupported: field "x._0": an array of 1048576 values`},
		{"no alternatives", doc(`{"name": "x", "type": "std::variant<>", "role": "variant"}`),
			`field "x": a variant must be a std::variant of 1 to 125 alternatives, not "std::variant<>"`},
		{"alternatives", doc(`{"name": "x", "type": "std::variant<` + strings.Repeat("bool,",
			125) + `bool>", "role": "variant"}`),
			`field "x": a variant must be a std::variant of 1 to 125 alternatives, not "std::variant<` + strings.Repeat("bool,",
				125) + `bool>"`},
		{"class as variant", doc(`{"name": "x", "type": "V", "role": "variant"}`),
			`field "x": a variant must be a std::variant of 1 to 125 alternatives, not "V"`},

		{"column type", leaf("float", `[{"type": "Real8"}]`), `field "x": unknown column type "Real8"`},
		{"unknown column type", leaf("float", `[{"type": "Type(0x2a)", "bits": 4}]`),
			`field "x": unknown column type "Type(0x2a)"`},
		{"column type of another", leaf("std::int16_t", `[{"type": "Int32"}]`),
			`field "x": column type Int32 where only SplitInt16 Int16 can be`},
		{"half", leaf("float", `[{"type": "SplitReal16"}]`),
			`field "x": column type SplitReal16 where only SplitReal32 Real32 Real16 Real32Trunc Real32Quant can be`},
		{"float as double", leaf("float", `[{"type": "Real64"}]`),
			`field "x": column type Real64 where only SplitReal32 Real32 Real16 Real32Trunc Real32Quant can be`},
		{"characters", leaf("std::string", `[{"type": "Index64"}, {"type": "Byte"}]`),
			`field "x": column type Byte where only Char can be`},
		{"columns", leaf("std::string", `[{"type": "Index64"}]`), `field "x": representation 0 has 1 column, expected 2`},
		{"columns in second", leaf("float", `[{"type": "Real32"}], []`),
			`field "x": representation 1 has 0 columns, expected 1`},
		{"columns of record", doc(`{"name": "x", "role": "record", "columns": [[{"type": "Bit"}]]}`),
			`field "x": representation 0 has 1 column, expected 0`},
		{"width", leaf("float", `[{"type": "Real32", "bits": 31}]`),
			`field "x": column type Real32 of 31 bits, expected 32 to 32`},
		{"no width", leaf("float", `[{"type": "Real32Trunc"}]`),
			`field "x": column type Real32Trunc of 0 bits, expected 10 to 31`},
		{"range", leaf("float", `[{"type": "Real32", "range": [0, 1]}]`), `field "x": column type Real32 has no range`},
		{"no range", leaf("float", `[{"type": "Real32Quant", "bits": 8}]`),
			`field "x": column type Real32Quant needs a range`},
		{"empty range", leaf("double", `[{"type": "Real32Quant", "bits": 8, "range": [1, 1]}]`),
			`field "x": column type Real32Quant with the range [1, 1]`},
		{"range empty in float", leaf("float", `[{"type": "Real32Quant", "bits": 8, "range": [1, 1.00000001]}]`),
			`field "x": column type Real32Quant with the range [1, 1.00000001]`},
		{"range beyond float", leaf("float", `[{"type": "Real32Quant", "bits": 8, "range": [0, 1e39]}]`),
			`field "x": column type Real32Quant with the range [0, 1e+39]`},
		{"subnormal range", leaf("double", `[{"type": "Real32Quant", "bits": 8, "range": [1e-310, 1]}]`),
			`field "x": column type Real32Quant with the range [1e-310, 1]`},

		{"no source", project(`{"name": "x", "type": "float", "source": "v._0.b"}`),
			`field "x": there is no field "v._0.b" that can be projected`},
		{"source of projection", project(`{"name": "x", "type": "float", "source": "view"}`),
			`field "x": there is no field "view" that can be projected`},
		{"no source below", project(`{"name": "x", "type": "std::vector<float>", "source": "v", "fields": [{"name": "_0", "type": "float"}]}`), `field "x._0": a subfield of a projected field needs a source, too`},
		{"nothing below", project(`{"name": "x", "type": "std::vector<float>", "source": "v"}`),
			`field "x": has 0 subfields, expected 1`},
		{"source in the middle", doc(`{"name": "f", "type": "float"}, {"name": "x", "role": "record", "fields": [{"name": "y", "type": "float", "source": "f"}]}`), `field "x.y": only a top-level field can be projected`},
		{"columns of projection", project(`{"name": "x", "type": "float", "source": "f", "columns": [[{"type": "Real32"}]]}`),
			`field "x": a projected field has no columns of its own`},
		{"role of source", project(`{"name": "x", "type": "float", "source": "v"}`),
			`field "x": has the role "plain", its source "v" the role "collection"`},
		{"type of source", project(`{"name": "x", "type": "double", "source": "f"}`),
			`field "x": has the type "double", its source "f" the type "float"`},
		{"size of no collection", project(`{"name": "x", "type": "ROOT::RNTupleCardinality<std::uint32_t>", "source": "f"}`),
			`field "x": its source "f" is not a collection`},
		{"array", project(`{"name": "x", "type": "std::array<float,2>", "source": "arr", "fields": [{"name": "_0", "type": "float", "source": "arr._0"}]}`),
			`field "x": variants and arrays cannot be projected; field "x._0": its source "arr._0" lies below a variant or array`},
		{"variant", project(`{"name": "x", "type": "std::variant<float>", "source": "var", "fields": [{"name": "_0", "type": "float", "source": "var._0"}]}`),
			`field "x": variants and arrays cannot be projected; field "x._0": its source "var._0" lies below a variant or array`},
		{"out of array", project(`{"name": "x", "type": "float", "source": "arr._0"}`),
			`field "x": its source "arr._0" lies below a variant or array`},
		{"out of collection", project(`{"name": "x", "type": "float", "source": "v._0.a"}`),
			`field "x": its source "v._0.a" lies below other collections`},
		{"too deep", project(`{"name": "x", "type": "std::vector<float>", "source": "v", "fields": [{"name": "_0", "type": "float", "source": "v._0.w._0"}]}`), `field "x._0": its source "v._0.w._0" lies below other collections`},
		{"into collection", project(`{"name": "x", "type": "std::vector<float>", "source": "v", "fields": [{"name": "_0", "type": "float", "source": "f"}]}`), `field "x._0": its source "f" lies below other collections`},

		{"all at once", doc(`{"name": "a b", "type": "float"}, {"name": "c", "type": "int", "columns": [[{"type": "Real32"}]]}, {"name": "d", "type": "float", "source": "e"}`),
			`field "a b": the name has the character ' '; field "c": column type Real32 where only SplitInt32 Int32 can be; field "d": there is no field "e" that can be projected`},
	} {
		d, err := schema.ParseDocument(strings.NewReader(test.doc))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		_, err = d.Describe(true)
		var problems *schema.DocumentError
		if !errors.As(err, &problems) {
			t.Errorf("%s: got the error %v", test.name, err)
		} else if got := strings.Join(problems.Problems, "; "); got != test.want {
			t.Errorf("%s: got\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

// TestDescribeForeignTypes describes fields of types that have other names in
// C++; problems suggest these.
func TestDescribeForeignTypes(t *testing.T) {
	for _, test := range []struct{ field, want string }{
		{`"type": "uint64"`, `has no role, and its type "uint64" does not tell it; did you mean "std::uint64_t"?`},
		{`"type": "int32", "role": "plain"`, `the type "int32" is not known as a leaf; did you mean "std::int32_t"?`},
		{`"type": "std::uint8", "role": "plain"`,
			`the type "std::uint8" of the standard library is not one that RNTuple knows; did you mean "std::uint8_t"?`},
		{`"type": "vector<float32>"`, `has 0 subfields, expected 1; did you mean "std::vector<float>"?`},
		{`"type": "Color", "role": "plain", "fields": [{"name": "_0", "type": "uint16", "role": "plain"}]`,
			`an enum cannot be of the type "uint16"; did you mean "std::uint16_t"?`},
		{`"type": "Event"`, `has no role, and its type "Event" does not tell it`},
	} {
		d, err := schema.ParseDocument(strings.NewReader(`{"name": "n", "fields": [{"name": "x", ` + test.field + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Describe(true)
		var problems *schema.DocumentError
		if !errors.As(err, &problems) || problems.Problems[0] != `field "x": `+test.want {
			t.Errorf("%s: got the error %v", test.field, err)
		}
	}
	if _, err := schema.FieldOf("x", "float64"); err == nil ||
		!strings.HasSuffix(err.Error(), `; did you mean "double"?`) {
		t.Error(err)
	}
}

// TestDescribeSpellings makes sure that the type names of old files are written
// in today's spelling.
func TestDescribeSpellings(t *testing.T) {
	for spelling, want := range map[string]string{
		"ElementLink<DataVector<xAOD::Jet_v1> >": "ElementLink<DataVector<xAOD::Jet_v1>>", // ROOT issue 22130
		"DataVector<int,vector<CustomStruct> >":  "DataVector<std::int32_t,std::vector<CustomStruct>>",
		"PxPyPzE4D<Double_t>":                    "PxPyPzE4D<double>",
	} {
		d := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "x", Type: spelling, Role: "record"}}}
		got, err := d.Describe(true)
		if err != nil || got.Fields[0].TypeName != want || got.Fields[0].TypeAlias != "" {
			t.Errorf("%q becomes %+v, %v", spelling, got, err)
		}
	}
}

// Documents that only code can make.
func TestDescribeCode(t *testing.T) {
	d := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "bad \xff", Type: "float"}}}
	if _, err := d.Describe(true); err == nil || err.Error() != `schema: field "bad \xff": the name is not valid UTF-8` {
		t.Error(err)
	}
	d.Fields[0] = &schema.FieldDocument{Name: "r", Role: "record"}
	d.Fields[0].Fields = []*schema.FieldDocument{d.Fields[0], d.Fields[0]}
	chain := &schema.FieldDocument{Name: "x", Type: "float"}
	for range 1000 {
		chain = &schema.FieldDocument{Name: "x", Role: "record", Fields: []*schema.FieldDocument{chain}}
	}
	deep := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{chain}}
	if _, err := deep.Describe(true); err == nil || !strings.HasSuffix(err.Error(), ".x\": nested more than 1000 deep") {
		t.Errorf("a deep field: %.200v", err)
	}
	deep.Fields[0] = chain.Fields[0]
	if _, err := deep.Describe(true); err != nil {
		t.Error(err)
	}
	var problems *schema.DocumentError
	if _, err := d.Describe(true); !errors.As(err, &problems) || len(problems.Problems) != 100 ||
		!strings.HasPrefix(err.Error(), "schema: 100 problems:\n\tfield \"r\": ") {
		t.Errorf("a field in itself: %.200v", err)
	}
}

func TestParseDocument(t *testing.T) {
	for text, reason := range map[string]string{
		``:                               "EOF",
		`{"name": "n", "colums": []}`:    `unknown field "colums"`,
		`{"name": "n"} {}`:               "more text follows",
		`{"name": "n", "fields": "x"}`:   "cannot unmarshal",
		`{"fields":[{"array_size":-1}]}`: "cannot unmarshal",
	} {
		if _, err := schema.ParseDocument(strings.NewReader(text)); err == nil ||
			!strings.HasPrefix(err.Error(), "schema document: ") || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got the error %v", text, err)
		}
	}
}

// What ROOT has no example of: base classes, and what the author leaves open.
func TestDescribeLenient(t *testing.T) {
	d, err := schema.ParseDocument(strings.NewReader(`{"name": "n", "fields": [
		{"name": "n", "type": "ROOT::RNTupleCardinality<std::uint32_t>", "source": "pts"},
		{"name": "c", "type": "C", "role": "record", "type_version": 4294967295, "type_checksum": 7, "fields": [
			{"name": ":_0", "type": "Base<Double32_t>::Part", "role": "record"},
			{"name": "o", "type": "operator<", "role": "record"},
			{"name": "q", "type": "Float_t", "columns": [[{"type": "Real32Quant", "bits": 9, "range": [0, 0.1]}], [{"type": "Real16"}]]}]},
		{"name": "pts", "type": "vector<Double32_t>", "description": "two"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Describe(false)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "lenient", got, &envelope.Schema{
		Fields: []envelope.Field{
			{Name: "c", TypeName: "C", Role: record, TypeVersion: 1<<32 - 1, Flags: envelope.FieldChecksum, TypeChecksum: 7},
			{Name: ":_0", TypeName: "Base<double>::Part", TypeAlias: "Base<Double32_t>::Part", Role: record},
			{Name: "o", TypeName: "operator<", Role: record},
			{Name: "q", TypeName: "float"},
			{Name: "pts", TypeName: "std::vector<double>", TypeAlias: "std::vector<Double32_t>", Description: "two",
				Role: collection, Parent: 4},
			{Name: "_0", TypeName: "double", TypeAlias: "Double32_t", Parent: 4},
			{Name: "n", TypeName: "ROOT::RNTupleCardinality<std::uint32_t>",
				Flags: envelope.FieldProjected, Source: 4, Parent: 6},
		},
		Columns: []envelope.Column{
			{Type: column.Real32Quant, Bits: 9, Field: 3, Flags: envelope.ColumnRanged, Max: float64(float32(0.1))},
			{Type: column.Real16, Bits: 16, Field: 3, Representation: 1},
			{Type: column.Index64, Bits: 64, Field: 4},
			{Type: column.SplitReal32, Bits: 32, Field: 5},
		},
		Aliases: []envelope.Alias{{Column: 2, Field: 6}},
	})
}

// Extensions go into untyped records, too, and otherwise not into fields that
// are there.
func TestExtend(t *testing.T) {
	m := &maker{}
	r := m.add(top, "r", "", record)
	in := m.add(r, "in", "", record)
	m.add(in, "a", "float", plain, column.Real32)
	m.add(m.add(top, "c", "", collection, column.Index64), "_0", "", record)
	m.add(top, "p", "P", record)
	m.Fields[m.add(top, "h", "float", plain, column.Real32)].Version = 1 // hidden
	before := m.build(t)
	n := uint32(len(m.Fields))

	extend := func(fields string, entries int64) (*envelope.Schema, error) {
		t.Helper()
		d, err := schema.ParseDocument(strings.NewReader(`{"fields": [` + fields + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return d.Extend(before, entries, true)
	}
	const late = `{"name": "r", "fields": [{"name": "in", "role": "record", "fields": [{"name": "b", "type": "std::array<std::string,3>"}]}, {"name": "new", "role": "record"}]},
		{"name": "view", "type": "float", "source": "r.in.a"}`
	for _, entries := range []int64{0, 7} {
		got, err := extend(late, entries)
		if err != nil {
			t.Fatal(err)
		}
		want := &envelope.Schema{
			Fields: []envelope.Field{
				{Name: "b", TypeName: "std::array<std::string,3>", Flags: envelope.FieldRepetitive,
					ArraySize: 3, Parent: uint32(in)},
				{Name: "_0", TypeName: "std::string", Parent: n},
				{Name: "new", Role: record, Parent: uint32(r)},
				{Name: "view", TypeName: "float", Flags: envelope.FieldProjected, Source: uint32(in) + 1, Parent: n + 3},
			},
			Columns: []envelope.Column{
				{Type: column.SplitIndex64, Bits: 64, Field: n + 1},
				{Type: column.Char, Bits: 8, Field: n + 1},
			},
			Aliases: []envelope.Alias{{Column: 0, Field: n + 3}},
		}
		if entries > 0 {
			want.Columns[0].Flags, want.Columns[0].FirstElement = envelope.ColumnDeferred, 3*entries
		}
		compare(t, "extension", got, want)
		s, err := schema.Build(&m.Header, got)
		if err != nil || len(s.Hidden) != len(before.Hidden) {
			t.Error(err, s.Hidden)
		}
	}
	for fields, want := range map[string]string{
		`{"name": "p", "type": "P", "role": "record"}`:                                                 `field "p": already exists; only an untyped record can get more subfields`,
		`{"name": "p", "fields": [{"name": "x", "type": "float"}]}`:                                    `field "p": already exists; only an untyped record can get more subfields`,
		`{"name": "r", "role": "record"}`:                                                              `field "r": already exists; only an untyped record can get more subfields`,
		`{"name": "r", "fields": [{"name": "in", "type": "float"}, null]}`:                             `field "r": subfield 1 is null; field "r.in": already exists; only an untyped record can get more subfields`,
		`{"name": "c", "fields": [{"name": "_0", "fields": [{"name": "x", "type": "float"}]}]}`:        `field "c": already exists; only an untyped record can get more subfields`,
		`{"name": "x", "type": "float", "columns": [[{"type": "Real64"}]]}`:                            `field "x": column type Real64 where only SplitReal32 Real32 Real16 Real32Trunc Real32Quant can be`,
		`{"name": "r", "fields": [{"name": "x", "type": "std::array<std::bitset<1048576>,4194304>"}]}`: `field "r": unsupported: field "r.x._0": an array of 1048576 values`,
		`{"name": "x", "type": "float", "source": "h"}`:                                                `field "x": its source, field "h", cannot be read: unsupported: field "h" has field version 1`,
		`{"name": "x", "type": "std::bitset<512>"}`:                                                    `field "x": more than 2^63 elements`,
	} {
		_, err := extend(fields, 1<<60)
		var problems *schema.DocumentError
		if !errors.As(err, &problems) || strings.Join(problems.Problems, "; ") != want {
			t.Errorf("%s: got the error %v", fields, err)
		}
	}
}
