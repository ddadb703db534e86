package envelope

import (
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A Header is the header envelope: the schema that the RNTuple was created with.
type Header struct {
	Features    Features
	Name        string
	Description string
	Writer      string // the library or program that wrote the data
	Schema
	Extra []byte
}

// ParseHeader reads a header envelope.
func ParseHeader(b []byte) (*Header, error) {
	h := new(Header)
	return h, parse(b, TypeHeader, h)
}

// Append appends the envelope, uncompressed, to dst.
func (h *Header) Append(dst []byte) ([]byte, error) { return appendTo(dst, TypeHeader, h) }

// wire describes the header. Specification: "Header Envelope".
func (h *Header) wire(c *frame.Codec) {
	h.Features.Wire(c)
	c.String("name", &h.Name)
	c.String("description", &h.Description)
	c.String("writer", &h.Writer)
	h.Schema.wire(c)
	c.Rest(&h.Extra)
}

// A Footer is the footer envelope: the additions to the schema and the locations of
// the page lists.
type Footer struct {
	Features       Features
	HeaderChecksum uint64
	Extension      *Schema // nil if the frame is empty
	ExtensionExtra []byte
	ClusterGroups  []ClusterGroup
	GroupsExtra    []byte
	AttributeSets  []AttributeSet // nil if the list is missing, as in files older than format 1.0.1.0
	SetsExtra      []byte
	Extra          []byte
}

// ParseFooter reads a footer envelope.
func ParseFooter(b []byte) (*Footer, error) {
	f := new(Footer)
	return f, parse(b, TypeFooter, f)
}

// Append appends the envelope, uncompressed, to dst.
func (f *Footer) Append(dst []byte) ([]byte, error) { return appendTo(dst, TypeFooter, f) }

// wire describes the footer. Specification: "Footer Envelope"; the list of
// attribute sets came with format 1.0.1.0.
func (f *Footer) wire(c *frame.Codec) {
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
	frame.List(c, "cluster groups", &f.ClusterGroups, &f.GroupsExtra, func(c *frame.Codec, g *ClusterGroup) { g.Wire(c) })
	if c.Writing() && f.AttributeSets != nil || !c.Writing() && c.Left() > 0 {
		frame.List(c, "attribute sets", &f.AttributeSets, &f.SetsExtra, func(c *frame.Codec, a *AttributeSet) { a.Wire(c) })
	}
	c.Rest(&f.Extra)
}

// A ClusterGroup is a run of clusters that share a page-list envelope.
type ClusterGroup struct {
	MinEntry    uint64 // first entry of all its clusters
	EntrySpan   uint64 // entries that its clusters cover
	NumClusters uint32
	PageList    locator.Link
	Extra       []byte
}

// Wire describes a cluster group record. Specification: "Cluster Group Record
// Frame".
func (g *ClusterGroup) Wire(c *frame.Codec) {
	frame.Record(c, "cluster group", &g.Extra, func() {
		frame.Int(c, "minimum entry number", &g.MinEntry)
		frame.Int(c, "entry span", &g.EntrySpan)
		frame.Int(c, "number of clusters", &g.NumClusters)
		g.PageList.Wire(c, "page list")
	})
}

// An AttributeSet links an RNTuple to attributes of ranges of its entries.
type AttributeSet struct {
	SchemaMajor, SchemaMinor uint16
	AnchorLength             uint32          // bytes of the anchor in memory, uncompressed
	Anchor                   locator.Locator // of the anchor object, without its key
	Name                     string
	Extra                    []byte
}

// Wire describes a linked attribute set record (format 1.0.1.0).
func (a *AttributeSet) Wire(c *frame.Codec) {
	frame.Record(c, "attribute set", &a.Extra, func() {
		frame.Int(c, "schema major", &a.SchemaMajor)
		frame.Int(c, "schema minor", &a.SchemaMinor)
		frame.Int(c, "anchor length", &a.AnchorLength)
		a.Anchor.Wire(c, "anchor")
		c.String("name", &a.Name)
	})
}
