package rc2

import (
	"math"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A Header is the header envelope.
type Header struct {
	Features                  envelope.Features
	Name, Description, Writer string
	Schema
	Extra []byte
}

// ParseHeader reads a header envelope.
func ParseHeader(b []byte) (*Header, error) {
	h := new(Header)
	return h, envelope.Open(b, envelope.TypeHeader, h.Wire)
}

// Wire describes a header.
func (h *Header) Wire(c *frame.Codec) {
	h.Features.Wire(c)
	c.String("name", &h.Name)
	c.String("description", &h.Description)
	c.String("writer", &h.Writer)
	h.Schema.wire(c)
	c.Rest(&h.Extra)
}

// A Schema is a schema description, of a header or of what a footer adds.
type Schema struct {
	Fields     []Field
	Columns    []Column
	Aliases    []envelope.Alias
	ExtraTypes []ExtraType
	ListExtra  [4][]byte
}

func (s *Schema) wire(c *frame.Codec) {
	frame.List(c, "fields", &s.Fields, &s.ListExtra[0], func(c *frame.Codec, f *Field) { f.Wire(c) })
	frame.List(c, "columns", &s.Columns, &s.ListExtra[1], func(c *frame.Codec, d *Column) { d.Wire(c) })
	frame.List(c, "alias columns", &s.Aliases, &s.ListExtra[2], func(c *frame.Codec, a *envelope.Alias) { a.Wire(c) })
	frame.List(c, "extra type information", &s.ExtraTypes, &s.ListExtra[3],
		func(c *frame.Codec, e *ExtraType) { e.Wire(c) })
}

// A Field is a field of format 1 with its members in another order. ROOT 6.32 sets
// no flag other than that of arrays.
type Field struct{ envelope.Field }

// Wire describes a field.
func (f *Field) Wire(c *frame.Codec) {
	frame.Record(c, "field", &f.Extra, func() { lift.WireField(c, &f.Field, math.MaxUint16) })
}

// Flags of a column. The others say how elements are sorted; nothing depends on
// them.
const (
	columnDeferred = 0x08
	columnRanged   = 0x10
)

// A Column is a column of format 1 with other types and flags. In ROOT 6.32 the flags have
// 32 bits. The upper ones, which are 0, later became the representation.
type Column struct{ envelope.Column }

// Wire describes a column.
func (d *Column) Wire(c *frame.Codec) {
	frame.Record(c, "column", &d.Extra, func() {
		frame.Int(c, "type", &d.Type)
		frame.Int(c, "bits on storage", &d.Bits)
		frame.Int(c, "field", &d.Field)
		frame.Int(c, "flags", &d.Flags)
		frame.Int(c, "representation", &d.Representation)
		if d.Flags&columnDeferred != 0 {
			frame.Int(c, "first element", &d.FirstElement)
		}
		if d.Flags&columnRanged != 0 {
			c.Float64("min", &d.Min)
			c.Float64("max", &d.Max)
		}
	})
}

func (d *Column) lift() envelope.Column {
	lifted := d.Column
	lifted.Type, lifted.Flags, lifted.Extra = lift.Type(lift.Types[:], uint32(d.Type)), 0, nil
	lifted.PreRelease = lifted.Type == column.Switch && d.Bits == 64
	if d.Flags&columnDeferred != 0 {
		lifted.Flags |= envelope.ColumnDeferred
	}
	if d.Flags&columnRanged != 0 {
		lifted.Flags |= envelope.ColumnRanged
	}
	return lifted
}

// An ExtraType is extra information about a C++ type. Its members changed while the
// format version did not.
type ExtraType struct{ Members []byte }

// Wire describes extra type information.
func (e *ExtraType) Wire(c *frame.Codec) {
	frame.Record(c, "extra type information", &e.Members, func() {})
}

// lift tries both forms: the older one has a range of type versions, the newer one
// a single version, as in format 1. Members of neither form are left in Extra.
func (e *ExtraType) lift() envelope.ExtraTypeInfo {
	for _, ranged := range []bool{true, false} {
		var t envelope.ExtraTypeInfo
		c := frame.NewReader(e.Members, "", 0)
		frame.Int(c, "content identifier", &t.ContentID)
		frame.Int(c, "type version", &t.TypeVersion)
		if ranged {
			var to uint32
			frame.Int(c, "type version to", &to)
		}
		c.String("type name", &t.TypeName)
		c.String("content", &t.Content)
		if c.Err() == nil && c.Left() == 0 {
			return t
		}
	}
	return envelope.ExtraTypeInfo{ContentID: 1 << 31, Extra: e.Members}
}

func (s *Schema) lift() *envelope.Schema {
	return &envelope.Schema{
		Fields:     lift.Each(s.Fields, func(f *Field) envelope.Field { return f.Field }),
		Columns:    lift.Each(s.Columns, (*Column).lift),
		Aliases:    s.Aliases,
		ExtraTypes: lift.Each(s.ExtraTypes, (*ExtraType).lift),
	}
}

// A Footer is the footer envelope.
type Footer struct {
	Features       envelope.Features
	HeaderChecksum uint64
	Extension      *Schema // nil if the frame is empty
	ExtensionExtra []byte
	ColumnGroups   []ColumnGroup // of sharded clusters, which ROOT never wrote
	ClusterGroups  []envelope.ClusterGroup
	MetaData       []locator.Link // nil if the list is missing, as after ROOT 6.32
	ListExtra      [3][]byte
	Extra          []byte
}

// ParseFooter reads a footer envelope.
func ParseFooter(b []byte) (*Footer, error) {
	f := new(Footer)
	return f, envelope.Open(b, envelope.TypeFooter, f.Wire)
}

// Wire describes a footer.
func (f *Footer) Wire(c *frame.Codec) {
	f.Features.Wire(c)
	frame.Int(c, "header checksum", &f.HeaderChecksum)
	frame.Record(c, "schema extension", &f.ExtensionExtra, func() {
		if !c.Writing() && c.Left() > 0 {
			f.Extension = new(Schema)
		}
		if f.Extension != nil {
			f.Extension.wire(c)
		}
	})
	frame.List(c, "column groups", &f.ColumnGroups, &f.ListExtra[0],
		func(c *frame.Codec, g *ColumnGroup) { frame.Record(c, "column group", &g.Extra, func() {}) })
	frame.List(c, "cluster groups", &f.ClusterGroups, &f.ListExtra[1],
		func(c *frame.Codec, g *envelope.ClusterGroup) { g.Wire(c) })
	if c.Writing() && f.MetaData != nil || !c.Writing() && c.Left() > 0 {
		frame.List(c, "meta-data", &f.MetaData, &f.ListExtra[2], func(c *frame.Codec, l *locator.Link) { l.Wire(c, "link") })
	}
	c.Rest(&f.Extra)
}

// A ColumnGroup is a record whose members are not read: clusters that refer to one
// are refused.
type ColumnGroup struct{ Extra []byte }

// Lift returns the header and the footer in the form of format 1.
func Lift(h *Header, f *Footer) (*envelope.Header, *envelope.Footer) {
	header := &envelope.Header{Features: h.Features, Name: h.Name, Description: h.Description, Writer: h.Writer,
		Schema: *h.Schema.lift()}
	footer := &envelope.Footer{Features: f.Features, HeaderChecksum: f.HeaderChecksum, Extension: &envelope.Schema{},
		ClusterGroups: f.ClusterGroups}
	if f.Extension != nil {
		footer.Extension = f.Extension.lift()
	}
	lift.Schema(&header.Schema, footer.Extension)
	return header, footer
}
