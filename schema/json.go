package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
)

// A Document is a schema in the form of JSON: everything that is needed to make an
// RNTuple with the same schema, and nothing about its data. `rnt schema --json`
// prints it. Members that are empty, zero or false are left out, except names and
// roles.
//
//	{
//	  "name": "Events",
//	  "description": "collisions",
//	  "writer": "ROOT v6.40.00",
//	  "fields": [
//	    {"name": "run", "type": "std::uint32_t", "role": "plain",
//	     "columns": [[{"type": "SplitUInt32", "bits": 32}]]},
//	    {"name": "pt", "type": "std::vector<float>", "role": "collection",
//	     "columns": [[{"type": "SplitIndex64", "bits": 64}]],
//	     "fields": [{"name": "_0", "type": "float", "role": "plain",
//	                 "columns": [[{"type": "Real32Quant", "bits": 12, "range": [0, 500]}]]}]}
//	  ]
//	}
//
// A Document that is encoded by package json and decoded again stays the same.
// ParseDocument and Describe make descriptors from it; Describe tells what a
// Document written by hand can leave out.
//
// The Document of a file has the column types of the file. Those of uncompressed
// data, such as Real32 instead of SplitReal32, compress worse: to write compressed
// data, set the Columns of such fields to nil, which selects the defaults.
type Document struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Writer is the library or program that wrote the data, for information only.
	Writer string `json:"writer,omitempty"`

	// Fields are the top-level fields, in the order of the file.
	Fields []*FieldDocument `json:"fields"`

	// ExtraTypes holds what else ROOT stores about types, such as the streamer
	// information that fields of the role "streamer" need.
	ExtraTypes []ExtraTypeDocument `json:"extra_types,omitempty"`
}

// A FieldDocument is a field of a Document.
type FieldDocument struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`  // C++ type, normalized; empty for untyped records and collections
	Alias       string `json:"alias,omitempty"` // the type as its author wrote it
	Description string `json:"description,omitempty"`

	// Role is "plain", "collection", "record", "variant" or "streamer".
	Role string `json:"role"`
	// ArraySize is the number of items of a fixed-size array or bitset. It is nil for
	// other fields.
	ArraySize *uint64 `json:"array_size,omitempty"`
	// SoA is set if the C++ type of a collection is a struct of arrays.
	SoA bool `json:"soa,omitempty"`

	// FieldVersion is the version of the mapping from type to columns.
	FieldVersion uint32 `json:"field_version,omitempty"`
	// TypeVersion and TypeChecksum are those of a class.
	TypeVersion  uint32  `json:"type_version,omitempty"`
	TypeChecksum *uint32 `json:"type_checksum,omitempty"`

	// Source is the path of the field that a projected field is a view of. The
	// columns are those of the source, so that a projected field lists none.
	Source string `json:"source,omitempty"`
	// Extended is set if the field was added while the RNTuple was being written.
	Extended bool `json:"extended,omitempty"`
	// Hidden says why this library cannot read a top-level field.
	Hidden string `json:"hidden,omitempty"`

	// Columns holds the columns by representation and index in it.
	Columns [][]ColumnDocument `json:"columns,omitempty"`
	Fields  []*FieldDocument   `json:"fields,omitempty"`
}

// A ColumnDocument is a column of a FieldDocument.
type ColumnDocument struct {
	Type string `json:"type"` // name in the specification
	Bits uint16 `json:"bits"` // on storage, per element
	// Range is the inclusive range of the values of a quantized column.
	Range *[2]float64 `json:"range,omitempty"`
	// FirstElement is the first element of a column that was added while the RNTuple
	// was being written, for information only.
	FirstElement *int64 `json:"first_element,omitempty"`
}

// An ExtraTypeDocument is extra information about a C++ type.
type ExtraTypeDocument struct {
	ContentID   uint32 `json:"content_id"`
	TypeVersion uint32 `json:"type_version,omitempty"`
	TypeName    string `json:"type_name,omitempty"`
	Content     []byte `json:"content"` // base64
}

// ClearEncodings removes the columns of all fields, so that Describe gives them ROOT's
// defaults. It also drops encodings that lose precision, such as Real16 or quantized
// columns, and further representations: values are then stored in full.
func (d *Document) ClearEncodings() { clearColumns(d.Fields) }

func clearColumns(fields []*FieldDocument) {
	for _, f := range fields {
		if f != nil { // which Describe reports
			f.Columns = nil
			clearColumns(f.Fields)
		}
	}
}

// Document returns the schema as a Document.
//
// It keeps the encodings of the columns. Those of uncompressed data are not split,
// and compress badly: to write with other compression than the data that the schema
// comes from, call ClearEncodings, unless an encoding was chosen to lose precision.
func (s *Schema) Document() *Document {
	d := &Document{Name: s.Name, Description: s.Description, Writer: s.Writer, Fields: []*FieldDocument{}}
	for _, f := range s.TopLevel() {
		doc := f.document()
		if f.err != nil {
			doc.Hidden = f.err.Error()
		}
		d.Fields = append(d.Fields, doc)
	}
	for _, e := range s.ExtraTypes {
		d.ExtraTypes = append(d.ExtraTypes, ExtraTypeDocument{e.ContentID, e.TypeVersion, e.TypeName, []byte(e.Content)})
	}
	return d
}

// String returns the document as indented JSON.
func (d *Document) String() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// MarshalJSON returns the schema's Document as JSON.
func (s *Schema) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // < and > are in most type names
	err := e.Encode(s.Document())
	return b.Bytes(), err
}

func (f *Field) document() *FieldDocument {
	d := &FieldDocument{
		Name: f.Name, Type: f.TypeName, Alias: f.TypeAlias, Description: f.Description,
		Role: roleName(f.Role), SoA: f.Flags&envelope.FieldSoA != 0,
		FieldVersion: f.Version, TypeVersion: f.TypeVersion,
		Extended: f.Extended,
	}
	if f.Flags&envelope.FieldRepetitive != 0 {
		d.ArraySize = &f.ArraySize
	}
	if f.Flags&envelope.FieldChecksum != 0 {
		d.TypeChecksum = &f.TypeChecksum
	}
	if f.Source != nil {
		d.Source = f.Source.Path()
	} else {
		for _, representation := range f.Columns {
			var columns []ColumnDocument
			for _, c := range representation {
				columns = append(columns, c.document())
			}
			d.Columns = append(d.Columns, columns)
		}
	}
	for _, child := range f.Children {
		d.Fields = append(d.Fields, child.document())
	}
	return d
}

func (c *Column) document() ColumnDocument {
	d := ColumnDocument{Type: c.Type.String(), Bits: c.Bits}
	// JSON has no infinities; a column with such a range cannot be read anyway.
	if c.Flags&envelope.ColumnRanged != 0 && !math.IsInf(c.Min, 0) && !math.IsInf(c.Max, 0) &&
		c.Min == c.Min && c.Max == c.Max {
		d.Range = &[2]float64{c.Min, c.Max}
	}
	if c.Flags&envelope.ColumnDeferred != 0 {
		d.FirstElement = &c.FirstElement
	}
	return d
}

// roleNames are the names of structural roles, which are numbered from 0.
var roleNames = [...]string{"plain", "collection", "record", "variant", "streamer"}

func roleName(r envelope.Role) string {
	if int(r) >= len(roleNames) {
		return fmt.Sprintf("Role(%#02x)", uint16(r))
	}
	return roleNames[r]
}
