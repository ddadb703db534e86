package schema_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// sample returns a schema with a bit of everything.
func sample(t *testing.T) *schema.Schema {
	t.Helper()
	var h envelope.Header
	h.Name, h.Description, h.Writer = "Events", "two\nlines", "by hand"
	h.Fields = []envelope.Field{
		{Name: "run", TypeName: "std::uint32_t", TypeAlias: "UInt_t", Description: `the "run"`, Parent: 0},
		{Name: "pt", TypeName: "std::vector<float>", Role: envelope.RoleCollection, Parent: 1},
		{Name: "_0", TypeName: "float", Parent: 1},
		{Name: "hit", TypeName: "Hit", Role: envelope.RoleRecord, Parent: 3, TypeVersion: 3, Flags: envelope.FieldChecksum,
			TypeChecksum: 0xdeadbeef},
		{Name: "xyz", TypeName: "std::array<double,3>", Flags: envelope.FieldRepetitive, ArraySize: 3, Parent: 3},
		{Name: "_0", TypeName: "double", Parent: 4},
		{Name: "name\x1b", TypeName: "std::string", Parent: 3},
		{Name: "future", TypeName: "float", Parent: 7},
		{Name: "view", TypeName: "std::string", Flags: envelope.FieldProjected, Source: 6, Parent: 8},
	}
	h.Columns = []envelope.Column{
		{Type: column.SplitUInt32, Bits: 32, Field: 0},
		{Type: column.SplitIndex64, Bits: 64, Field: 1},
		{Type: column.Real32Quant, Bits: 12, Field: 2, Flags: envelope.ColumnRanged, Min: -1, Max: 500},
		{Type: column.Real32Trunc, Bits: 16, Field: 2, Representation: 1},
		{Type: column.SplitReal64, Bits: 64, Field: 5},
		{Type: column.SplitIndex32, Bits: 32, Field: 6},
		{Type: column.Char, Bits: 8, Field: 6},
		{Type: 0x77, Bits: 3, Field: 7},
	}
	h.Aliases = []envelope.Alias{{Column: 5, Field: 8}, {Column: 6, Field: 8}}
	ext := envelope.Schema{
		Fields: []envelope.Field{{Name: "soa", Role: envelope.RoleCollection, Flags: envelope.FieldSoA, Parent: 9},
			{Name: "_0", Role: envelope.RoleRecord, Parent: 9}},
		Columns: []envelope.Column{{Type: column.Index64, Bits: 64, Field: 9,
			Flags: envelope.ColumnDeferred, FirstElement: 200}},
		ExtraTypes: []envelope.ExtraTypeInfo{{TypeName: "Hit", Content: "\x00\xff"}},
	}
	s, err := schema.Build(&h, &ext)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	if err := sample(t).Print(&b); err != nil {
		t.Fatal(err)
	}
	const want = `RNTuple "Events": 6 top-level fields (1 hidden), 11 fields in all, 9 columns
description: two\nlines
written by:  by hand

run          std::uint32_t         scalar      SplitUInt32          alias UInt_t  "the \"run\""
pt           std::vector<float>    collection  SplitIndex64
└─ _0        float                 scalar      Real32Quant(12)[-1,500] | Real32Trunc(16)
hit          Hit                   record                           class version 3
├─ xyz       std::array<double,3>  array                            size 3
│  └─ _0     double                scalar      SplitReal64
└─ name\x1b  std::string           string      SplitIndex32 + Char
future       float                 plain       Type(0x77)(3)        HIDDEN: column 7 of field "future": unsupported: column type 0x77 of 3 bits
view         std::string           string                           view on hit.name\x1b
soa          untyped               collection  Index64              struct of arrays, added later, Index64 from element 200
└─ _0        untyped               record                           added later
`
	if b.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", b.String(), want)
	}
}

// Printing into something that is full gives its error.
func TestPrintError(t *testing.T) {
	full := errors.New("full")
	if err := sample(t).Print(fullWriter{full}); !errors.Is(err, full) {
		t.Errorf("got the error %v", err)
	}
}

type fullWriter struct{ err error }

func (w fullWriter) Write([]byte) (int, error) { return 0, w.err }

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		`"µ" \ <x>`:       `"µ" \ <x>`,
		"\x1b[31mred":     `\x1b[31mred`,
		"bad \xff\u202e.": `bad \xff\u202e.`,
		"\uFFFD":          "\uFFFD",
		"\t\"":            `\t"`,
	} {
		if got := schema.Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

const sampleJSON = `{
  "name": "Events", "description": "two\nlines", "writer": "by hand",
  "fields": [
    {"name": "run", "type": "std::uint32_t", "alias": "UInt_t", "description": "the \"run\"", "role": "plain",
     "columns": [[{"type": "SplitUInt32", "bits": 32}]]},
    {"name": "pt", "type": "std::vector<float>", "role": "collection",
     "columns": [[{"type": "SplitIndex64", "bits": 64}]],
     "fields": [{"name": "_0", "type": "float", "role": "plain",
       "columns": [[{"type": "Real32Quant", "bits": 12, "range": [-1, 500]}], [{"type": "Real32Trunc", "bits": 16}]]}]},
    {"name": "hit", "type": "Hit", "role": "record", "type_version": 3, "type_checksum": 3735928559,
     "fields": [
       {"name": "xyz", "type": "std::array<double,3>", "role": "plain", "array_size": 3,
        "fields": [{"name": "_0", "type": "double", "role": "plain", "columns": [[{"type": "SplitReal64", "bits": 64}]]}]},
       {"name": "name\u001b", "type": "std::string", "role": "plain",
        "columns": [[{"type": "SplitIndex32", "bits": 32}, {"type": "Char", "bits": 8}]]}]},
    {"name": "future", "type": "float", "role": "plain",
     "hidden": "column 7 of field \"future\": unsupported: column type 0x77 of 3 bits",
     "columns": [[{"type": "Type(0x77)", "bits": 3}]]},
    {"name": "view", "type": "std::string", "role": "plain", "source": "hit.name\u001b"},
    {"name": "soa", "role": "collection", "soa": true, "extended": true,
     "columns": [[{"type": "Index64", "bits": 64, "first_element": 200}]],
     "fields": [{"name": "_0", "role": "record", "extended": true}]}
  ],
  "extra_types": [{"content_id": 0, "type_name": "Hit", "content": "AP8="}]
}`

func TestDocument(t *testing.T) {
	s := sample(t)
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(b, &got), json.Unmarshal([]byte(sampleJSON), &want)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", b, sampleJSON)
	}
	var back schema.Document
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, s.Document()) {
		t.Error("decoded, the document is another one")
	}
}

// An empty schema, and one with a range that JSON has no numbers for.
func TestDocumentOddities(t *testing.T) {
	var h envelope.Header
	for _, want := range []string{
		`{"name":"","fields":[]}`,
		`{"name":"","fields":[{"name":"x","type":"float","role":"Role(0x09)",` +
			`"hidden":"field \"x\" has the structural role 0x09","columns":[[{"type":"Real32Quant","bits":8}]]}]}`,
	} {
		s, err := schema.Build(&h, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range s.Hidden {
			if !errors.Is(hidden.Err, frame.ErrUnsupported) {
				t.Error(hidden.Err)
			}
		}
		b, err := json.Marshal(s)
		if got := strings.Replace(string(b), "unsupported: ", "", 1); err != nil || got != want {
			t.Errorf("got %s, %v\nwant %s", b, err, want)
		}
		inf := math.Inf(1)
		h.Fields = []envelope.Field{{Name: "x", TypeName: "float", Role: 9}}
		h.Columns = []envelope.Column{{Type: column.Real32Quant, Bits: 8, Flags: envelope.ColumnRanged, Min: -inf, Max: inf}}
	}
}
