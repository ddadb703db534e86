package rc1

import (
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
	"github.com/go-rntuple/go-rntuple/locator"
)

// Version is both the version of all envelopes and the release candidate tag.
const Version = 1

// parse verifies an envelope and makes body read its payload. Document:
// "Envelopes".
func parse(b []byte, what string, body func(*frame.Codec)) error {
	return lift.Verify(b, what, func(c *frame.Codec) {
		var version, least uint16
		frame.Int(c, "version", &version)
		frame.Int(c, "minimum version", &least)
		if least != Version || version < least {
			c.Fail("minimum version", frame.Unsupported("pre-release envelope of version %d, readable from %d on", version,
				least))
		}
		body(c)
	})
}

// A Header is the header envelope.
type Header struct {
	Features                  envelope.Features
	Tag                       uint32 // release candidate
	Name, Description, Writer string
	Schema
	Extra []byte
}

// ParseHeader reads a header envelope.
func ParseHeader(b []byte) (*Header, error) {
	h := new(Header)
	return h, parse(b, "header", h.Wire)
}

// Wire describes a header. Document: "Header Envelope".
func (h *Header) Wire(c *frame.Codec) {
	h.Features.Wire(c)
	frame.Int(c, "release candidate tag", &h.Tag)
	if h.Tag > Version { // 0 was reserved for the final format
		c.Fail("release candidate tag", frame.Unsupported("pre-release format, release candidate %d", h.Tag))
	}
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
	Aliases    []Alias
	ExtraTypes []ExtraType
	ListExtra  [4][]byte
}

func (s *Schema) wire(c *frame.Codec) {
	records(c, "fields", 36, &s.Fields, &s.ListExtra[0], (*Field).Wire)
	records(c, "columns", 16, &s.Columns, &s.ListExtra[1], (*Column).Wire)
	records(c, "alias columns", 12, &s.Aliases, &s.ListExtra[2], (*Alias).Wire)
	records(c, "extra type information", 20, &s.ExtraTypes, &s.ListExtra[3], (*ExtraType).Wire)
}

// A Field is a field of format 1 without the members that were added later.
type Field struct{ envelope.Field }

// Wire describes a field. Document: "Field Description".
func (f *Field) Wire(c *frame.Codec) {
	record(c, "field", &f.Extra, func() { lift.WireField(c, &f.Field, envelope.FieldRepetitive) })
}

// columnDeferred is the flag of a column that was added late. The other flags say
// how elements are sorted; nothing depends on them.
const columnDeferred = 0x08

// A Column describes a column.
type Column struct {
	Type         uint16
	Bits         uint16 // on storage, per element
	Field        uint32
	Flags        uint32
	FirstElement uint64 // if columnDeferred
	Extra        []byte
}

// Wire describes a column. Document: "Column Description".
func (d *Column) Wire(c *frame.Codec) {
	record(c, "column", &d.Extra, func() {
		frame.Int(c, "type", &d.Type)
		frame.Int(c, "bits on storage", &d.Bits)
		frame.Int(c, "field", &d.Field)
		frame.Int(c, "flags", &d.Flags)
		if d.Flags&columnDeferred != 0 {
			frame.Int(c, "first element", &d.FirstElement)
		}
	})
}

func (d *Column) lift() envelope.Column {
	t := lift.Type(lift.Types[:], uint32(d.Type))
	lifted := envelope.Column{Type: t, Bits: d.Bits, Field: d.Field, PreRelease: t == column.Switch}
	if d.Flags&columnDeferred != 0 {
		lifted.Flags, lifted.FirstElement = envelope.ColumnDeferred, int64(d.FirstElement)
	}
	return lifted
}

// An Alias lends a column to a projected field.
type Alias struct{ envelope.Alias }

// Wire describes an alias. Document: "Alias columns".
func (a *Alias) Wire(c *frame.Codec) {
	record(c, "alias column", &a.Extra, func() {
		frame.Int(c, "physical column", &a.Column)
		frame.Int(c, "field", &a.Field)
	})
}

// An ExtraType is extra information about a C++ type.
type ExtraType struct {
	From, To  uint32 // versions of the type
	ContentID uint32
	TypeName  string
	Extra     []byte // includes the content, which the document leaves out
}

// Wire describes extra type information. Document: "Extra type information".
func (e *ExtraType) Wire(c *frame.Codec) {
	record(c, "extra type information", &e.Extra, func() {
		frame.Int(c, "type version from", &e.From)
		frame.Int(c, "type version to", &e.To)
		frame.Int(c, "content identifier", &e.ContentID)
		c.String("type name", &e.TypeName)
	})
}

// lift leaves the content in Extra. The only kind of content that existed, C++
// source text, has no number in format 1.
func (e *ExtraType) lift() envelope.ExtraTypeInfo {
	return envelope.ExtraTypeInfo{ContentID: e.ContentID, TypeVersion: e.From, TypeName: e.TypeName, Extra: e.Extra}
}

// A Footer is the footer envelope.
type Footer struct {
	Features        envelope.Features
	HeaderChecksum  uint32
	Extension       *Schema // nil if the frame is empty
	ExtensionExtra  []byte
	ExtensionIsList bool // an empty list frame, as ROOT wrote it before fields could be added late
	ColumnGroups    []ColumnGroup
	Clusters        []Cluster
	ClusterGroups   []ClusterGroup
	MetaData        []Link // to envelopes with user meta-data
	ListExtra       [4][]byte
	Extra           []byte
}

// ParseFooter reads a footer envelope.
func ParseFooter(b []byte) (*Footer, error) {
	f := new(Footer)
	return f, parse(b, "footer", f.Wire)
}

// Wire describes a footer. Document: "Footer Envelope".
func (f *Footer) Wire(c *frame.Codec) {
	f.Features.Wire(c)
	frame.Int(c, "header checksum", &f.HeaderChecksum)
	f.wireExtension(c)
	records(c, "column groups", recordHead+listHead, &f.ColumnGroups, &f.ListExtra[0], (*ColumnGroup).Wire)
	records(c, "cluster summaries", 20, &f.Clusters, &f.ListExtra[1], (*Cluster).Wire)
	records(c, "cluster groups", 16, &f.ClusterGroups, &f.ListExtra[2], (*ClusterGroup).Wire)
	records(c, "meta-data", 8, &f.MetaData, &f.ListExtra[3], (*Link).Wire)
	c.Rest(&f.Extra)
}

func (f *Footer) wireExtension(c *frame.Codec) {
	c.Within("schema extension", func() {
		start := c.Pos()
		var size int32
		frame.Int(c, "size", &size)
		if !c.Writing() {
			f.ExtensionIsList = size < 0
		}
		if f.ExtensionIsList {
			var none []struct{}
			listRest(c, start, size, 1, &none, &f.ExtensionExtra, func(*struct{}, *frame.Codec) {
				c.Fail("", frame.Unsupported("pre-release format with a list as schema extension"))
			}, func() {})
			return
		}
		recordRest(c, start, size, &f.ExtensionExtra, func() {
			if !c.Writing() && c.Left() > 0 {
				f.Extension = new(Schema)
			}
			if f.Extension != nil {
				f.Extension.wire(c)
			}
		})
	})
}

// A ColumnGroup is a set of columns: a sharded cluster holds those of a group only.
type ColumnGroup struct {
	Columns   []uint32
	ListExtra []byte
	Extra     []byte
}

// Wire describes a column group. Document: "Column Group Record Frame".
func (g *ColumnGroup) Wire(c *frame.Codec) {
	record(c, "column group", &g.Extra, func() {
		records(c, "columns", 4, &g.Columns, &g.ListExtra, func(id *uint32, c *frame.Codec) { frame.Int(c, "id", id) })
	})
}

// A Cluster is a cluster summary.
type Cluster struct {
	FirstEntry  uint64
	Entries     uint64 // the number, and flags in the top 8 bits
	ColumnGroup uint32 // if sharded
	Extra       []byte
}

// Wire describes a cluster summary. Document: "Cluster Summary Record Frame".
func (s *Cluster) Wire(c *frame.Codec) {
	record(c, "cluster summary", &s.Extra, func() {
		frame.Int(c, "first entry number", &s.FirstEntry)
		frame.Int(c, "number of entries", &s.Entries)
		if _, sharded := s.entries(); sharded {
			frame.Int(c, "column group", &s.ColumnGroup)
		}
	})
}

// entries returns the number of entries and whether the cluster holds only the
// columns of a group. For such a cluster ROOT 6.26 has code that stores the negated
// number of entries, while the document has a flag.
func (s *Cluster) entries() (n uint64, sharded bool) {
	if s.Entries>>56 == 0xff {
		return -s.Entries, true
	}
	return s.Entries << 8 >> 8, s.Entries>>56&1 != 0
}

// A ClusterGroup is a run of clusters that share a page list.
type ClusterGroup struct {
	NumClusters uint32
	PageList    Link
	Extra       []byte
}

// Wire describes a cluster group. Document: "Cluster Group Record Frame".
func (g *ClusterGroup) Wire(c *frame.Codec) {
	record(c, "cluster group", &g.Extra, func() {
		frame.Int(c, "number of clusters", &g.NumClusters)
		c.Within("page list", func() { g.PageList.Wire(c) })
	})
}

// A PageList is a page list envelope.
type PageList struct {
	Clusters  []ClusterPages
	ListExtra []byte
	Extra     []byte
}

// ParsePageList reads a page list envelope.
func ParsePageList(b []byte) (*PageList, error) {
	p := new(PageList)
	return p, parse(b, "page list", p.Wire)
}

// Wire describes a page list. Document: "Page List Envelope".
func (p *PageList) Wire(c *frame.Codec) {
	records(c, "clusters", listHead, &p.Clusters, &p.ListExtra, (*ClusterPages).Wire)
	c.Rest(&p.Extra)
}

// ClusterPages are the pages of a cluster.
type ClusterPages struct {
	Columns []ColumnPages // those of the cluster's column group, or all
	Extra   []byte
}

// Wire describes the outer list frame of a cluster.
func (d *ClusterPages) Wire(c *frame.Codec) {
	records(c, "columns", listHead+8+4, &d.Columns, &d.Extra, (*ColumnPages).Wire)
}

// ColumnPages are the pages of a column in a cluster.
type ColumnPages struct {
	Pages         []Page
	ElementOffset uint64
	Compression   uint32
	Extra         []byte
}

// Wire describes the inner list frame of a column.
func (p *ColumnPages) Wire(c *frame.Codec) {
	list(c, "pages", 8, &p.Pages, &p.Extra, (*Page).Wire, func() {
		frame.Int(c, "element offset", &p.ElementOffset)
		frame.Int(c, "compression settings", &p.Compression)
	})
}

// A Page is the place of a page.
type Page struct {
	Elements uint32 // the number, and flags in the top 2 bits
	Locator  locator.Locator
}

// pageFlags is the bit where the flags of a page begin. Flag 1 says that a CRC32 of
// the uncompressed page follows the page; ROOT never wrote it.
const pageFlags = 30

// Wire describes an inner item of the page locations.
func (g *Page) Wire(c *frame.Codec) {
	frame.Int(c, "number of elements", &g.Elements)
	if g.Elements>>pageFlags > 1 {
		c.Fail("number of elements", frame.Unsupported("page with the flags %#x", g.Elements>>pageFlags))
	}
	wireLocator(c, "locator", &g.Locator)
}
