package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A Field is a field of the schema.
type Field struct {
	Path        string `json:"path"`
	Name        string `json:"name"`
	Type        string `json:"type"` // in C++
	Role        string `json:"role"` // its shape, as scalar, collection, record
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"` // the path of the field that a projected one shows
	Error       string `json:"error,omitempty"`  // why it cannot be read
	// Expression is how an expression names the numbers, truths or words of the field; empty if it
	// has none.
	Expression string   `json:"expression,omitempty"`
	Drawable   bool     `json:"drawable"` // there is an Expression
	Columns    []Column `json:"columns"`
	Sizes
	Fields []*Field `json:"fields"`
}

// Sizes are those of the pages of a column, or of a field with all below it, in bytes.
type Sizes struct {
	Compressed   Int `json:"compressed"`
	Uncompressed Int `json:"uncompressed"`
}

// A Column is one of a field.
type Column struct {
	ID             int      `json:"id"`
	Type           string   `json:"type"`
	Bits           int      `json:"bits"` // of an element
	Elements       Int      `json:"elements"`
	Pages          Int      `json:"pages"`
	Compression    []string `json:"compression"`
	Representation int      `json:"representation"`
	Suspended      bool     `json:"suspended,omitempty"` // a representation that no cluster uses
	Sizes
}

// schema describes the fields of {ntuple}: {fields: [Field]}. It reads all page lists.
func (f *file) schema(c *call) (Answer, error) {
	var p struct{ NTuple string }
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	r, err := f.reader(p.NTuple)
	if err != nil {
		return Answer{}, err
	}
	r = r.WithContext(c.ctx)
	i, err := r.Inspect(func(done, total int) { c.report(int64(done), int64(total), "page lists") })
	if err != nil {
		return Answer{}, err
	}
	d := &describer{Inspection: i, hidden: map[*schema.Field]string{}}
	for _, h := range r.Schema().Hidden {
		d.hidden[h.Field] = h.Err.Error()
	}
	fields := []*Field{}
	for _, field := range r.Schema().TopLevel() {
		fields = append(fields, d.field(field, top(field)))
	}
	return Answer{JSON: map[string]any{"fields": fields}}, nil
}

// A describer makes Fields.
type describer struct {
	*rntuple.Inspection
	hidden map[*schema.Field]string
}

// field describes a field with all below it. The expression for it may be nil.
func (d *describer) field(f *schema.Field, e *naming) *Field {
	storage := d.Field(f)
	to := &Field{
		Path: f.Path(), Name: f.Name, Type: f.CppType(), Role: "unknown", Description: f.Description, Error: d.hidden[f],
		Columns: []Column{}, Sizes: sizesOf(storage), Fields: []*Field{},
	}
	if f.Shape != 0 {
		to.Role = strings.ToLower(f.Shape.String())
	}
	if to.Error != "" {
		e = nil
	}
	if e != nil && hasValues(f) {
		to.Expression, to.Drawable = e.text(), true
	}
	if f.Source != nil {
		to.Source = f.Source.Path()
	} else {
		for _, representation := range f.Columns {
			for _, c := range representation {
				to.Columns = append(to.Columns, d.column(c))
			}
		}
	}
	for i, child := range f.Children {
		to.Fields = append(to.Fields, d.field(child, e.child(f, i)))
	}
	return to
}

func sizesOf(s rntuple.Storage) Sizes { return Sizes{Int(s.OwnDisk()), Int(s.Packed)} }

func (d *describer) column(c *schema.Column) Column {
	i := d.Columns[c.ID]
	to := Column{
		ID: int(c.ID), Type: c.Format().String(), Bits: int(c.Bits), Elements: Int(i.Elements), Pages: Int(i.Pages),
		Compression: []string{}, Representation: int(c.Representation), Sizes: sizesOf(i.Storage),
		Suspended: c.Representation > 0 && i.Pages == 0,
	}
	for _, s := range i.Compression {
		to.Compression = append(to.Compression, s.String())
	}
	return to
}

// A naming is how an expression reaches a field.
type naming struct {
	name  string              // of the field; "#" is an item
	whole string              // what an item is one of: it stands for all of them
	outer func(string) string // makes of an expression for an item one for the entry
}

// top returns the naming of a top-level field.
func top(f *schema.Field) *naming {
	n := &naming{name: f.Name, outer: func(s string) string { return s }}
	if !isWord(f.Name) {
		n.name = "$env[" + strconv.Quote(f.Name) + "]"
	}
	return n
}

// text returns the expression.
func (n *naming) text() string {
	if n.name == "#" {
		return n.whole
	}
	return n.outer(n.name)
}

// child returns the naming of a child of the field f that n names, or nil if there is none, as of
// what is in maps and variants. So it does for nil.
func (n *naming) child(f *schema.Field, i int) *naming {
	switch {
	case n == nil || f.IsMap():
		return nil
	case f.IsTuple(): // whose members have no type for expressions
		of := ""
		switch c := f.Children[i]; {
		case c.Shape == schema.String:
			of = "string"
		case c.Shape == schema.Scalar && c.Kind() != cpptype.Bool:
			of = "float"
		default:
			return nil
		}
		return &naming{name: fmt.Sprintf("%s(%s[%d])", of, n.name, i), outer: n.outer}
	}
	switch f.Shape {
	case schema.Record:
		if !isWord(f.Children[i].Name) {
			return nil
		}
		return &naming{name: n.name + "." + f.Children[i].Name, outer: n.outer}
	case schema.Collection, schema.Array:
		return &naming{name: "#", whole: n.text(),
			outer: func(s string) string { return n.outer("map(" + n.name + ", " + s + ")") }}
	case schema.Optional, schema.Wrapper:
		return n
	}
	return nil
}

// hasValues reports whether the field holds numbers, truths or words, or arrays of them.
func hasValues(f *schema.Field) bool {
	if f.IsMap() || f.IsTuple() {
		return false
	}
	switch f.Shape {
	case schema.Scalar, schema.String, schema.Bitset, schema.Cardinality:
		return true
	case schema.Collection, schema.Array, schema.Optional, schema.Wrapper:
		return hasValues(f.Children[0])
	}
	return false
}

// keywords are names that mean something else in expressions.
var keywords = []string{"and", "or", "not", "in", "matches", "contains", "startsWith", "endsWith", "let", "if", "else",
	"true", "false", "nil"}

// isWord reports whether expressions can have a name as it is.
func isWord(name string) bool {
	for i, c := range name {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && !slices.Contains(keywords, name)
}
