package envelope

import (
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
)

// Role is the structural role of a field: how it and its subfields are stored.
type Role uint16

const (
	RolePlain      Role = 0x00 // a leaf, or a wrapper: enum, atomic, fixed-size array
	RoleCollection Role = 0x01
	RoleRecord     Role = 0x02
	RoleVariant    Role = 0x03
	RoleStreamer   Role = 0x04
)

// Flags of a field.
const (
	FieldRepetitive uint16 = 0x01 // a fixed-size array; ArraySize is present
	FieldProjected  uint16 = 0x02 // a view on another field; Source is present
	FieldChecksum   uint16 = 0x04 // TypeChecksum is present
	FieldSoA        uint16 = 0x08 // a collection whose C++ type is a struct of arrays
)

// A Field describes a field. Its ID is its index in the list of all fields, those of
// the header followed by those of the extension.
type Field struct {
	Version      uint32 // of the field's mapping to columns; 0 today
	TypeVersion  uint32 // of the C++ class
	Parent       uint32 // ID of the parent; its own ID for a top-level field
	Role         Role
	Flags        uint16
	Name         string
	TypeName     string // normalized since ROOT 6.36; empty for untyped records and collections
	TypeAlias    string
	Description  string
	ArraySize    uint64 // if FieldRepetitive
	Source       uint32 // ID of the field that this one is a view on, if FieldProjected
	TypeChecksum uint32 // of the ROOT streamer info, if FieldChecksum
	Extra        []byte
}

// Wire describes a field record. Specification: "Field Description".
func (f *Field) Wire(c *frame.Codec) {
	frame.Record(c, "field", &f.Extra, func() {
		frame.Int(c, "field version", &f.Version)
		frame.Int(c, "type version", &f.TypeVersion)
		frame.Int(c, "parent", &f.Parent)
		frame.Int(c, "structural role", &f.Role)
		frame.Int(c, "flags", &f.Flags)
		c.String("name", &f.Name)
		c.String("type name", &f.TypeName)
		c.String("type alias", &f.TypeAlias)
		c.String("description", &f.Description)
		if f.Flags&FieldRepetitive != 0 {
			frame.Int(c, "array size", &f.ArraySize)
		}
		if f.Flags&FieldProjected != 0 {
			frame.Int(c, "source field", &f.Source)
		}
		if f.Flags&FieldChecksum != 0 {
			frame.Int(c, "type checksum", &f.TypeChecksum)
		}
	})
}

// Flags of a column.
const (
	ColumnDeferred uint16 = 0x01 // FirstElement is present
	ColumnRanged   uint16 = 0x02 // Min and Max are present
)

// A Column describes a physical column. Its ID is its index in the list of all
// columns, those of the header followed by those of the extension.
type Column struct {
	Type           column.Type
	Bits           uint16 // on storage, per element
	Field          uint32 // ID of the field it belongs to
	Flags          uint16
	Representation uint16  // number of the representation of the field it is part of
	FirstElement   int64   // if ColumnDeferred: earlier elements are zero; negative if the column is also suppressed there
	Min, Max       float64 // if ColumnRanged: the values' inclusive range
	PreRelease     bool    // not stored: see column.Format; also set for Bit columns of optionals
	Extra          []byte
}

// Wire describes a column record. Specification: "Column Description".
func (d *Column) Wire(c *frame.Codec) {
	frame.Record(c, "column", &d.Extra, func() {
		frame.Int(c, "type", &d.Type)
		frame.Int(c, "bits on storage", &d.Bits)
		frame.Int(c, "field", &d.Field)
		frame.Int(c, "flags", &d.Flags)
		frame.Int(c, "representation", &d.Representation)
		if d.Flags&ColumnDeferred != 0 {
			frame.Int(c, "first element", &d.FirstElement)
		}
		if d.Flags&ColumnRanged != 0 {
			c.Float64("min", &d.Min)
			c.Float64("max", &d.Max)
		}
	})
}

// An Alias lends a physical column to a projected field.
type Alias struct {
	Column uint32 // ID of the physical column
	Field  uint32 // ID of the projected field
	Extra  []byte
}

// Wire describes an alias record. Specification: "Alias columns".
func (a *Alias) Wire(c *frame.Codec) {
	frame.Record(c, "alias column", &a.Extra, func() {
		frame.Int(c, "physical column", &a.Column)
		frame.Int(c, "field", &a.Field)
	})
}

// StreamerInfo is the content identifier of a serialized TList of
// TStreamerInfo, for the fields of RoleStreamer.
const StreamerInfo uint32 = 0x00

// ExtraTypeInfo is extra information about a C++ type. Contents of unknown kinds are
// kept.
type ExtraTypeInfo struct {
	ContentID   uint32
	TypeVersion uint32
	TypeName    string
	Content     string // bytes; the specification omits this member
	Extra       []byte
}

// Wire describes an extra type information record. Specification: "Extra type
// information"; ROOT: RNTupleSerializer::SerializeExtraTypeInfo.
func (e *ExtraTypeInfo) Wire(c *frame.Codec) {
	frame.Record(c, "extra type information", &e.Extra, func() {
		frame.Int(c, "content identifier", &e.ContentID)
		frame.Int(c, "type version", &e.TypeVersion)
		c.String("type name", &e.TypeName)
		c.String("content", &e.Content)
	})
}

// A Schema is a schema description: that of a header, or what a footer adds.
type Schema struct {
	Fields     []Field
	Columns    []Column
	Aliases    []Alias
	ExtraTypes []ExtraTypeInfo
	ListExtra  [4][]byte // unknown bytes at the end of the four lists
}

func (s *Schema) wire(c *frame.Codec) {
	frame.List(c, "fields", &s.Fields, &s.ListExtra[0], func(c *frame.Codec, f *Field) { f.Wire(c) })
	frame.List(c, "columns", &s.Columns, &s.ListExtra[1], func(c *frame.Codec, d *Column) { d.Wire(c) })
	frame.List(c, "alias columns", &s.Aliases, &s.ListExtra[2], func(c *frame.Codec, a *Alias) { a.Wire(c) })
	frame.List(c, "extra type information", &s.ExtraTypes, &s.ListExtra[3],
		func(c *frame.Codec, e *ExtraTypeInfo) { e.Wire(c) })
}
