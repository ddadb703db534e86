package v0

import (
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A Header holds the schema and what the draft calls the identity of the data.
type Header struct {
	Reserved                             uint64
	Name, Description, Author, Custodian string
	TimeData, TimeWritten                int64 // seconds since 1970
	Version                              Version
	OwnID, GroupID                       ID
	Fields                               []Field
	Columns                              []Column
	Extra                                []byte
}

// ParseHeader reads a header with its checksum.
func ParseHeader(b []byte) (*Header, error) {
	h := new(Header)
	return h, lift.Verify(b, "header", h.Wire)
}

// Wire describes a header without its checksum.
func (h *Header) Wire(c *frame.Codec) {
	framed(c, &h.Extra, func() {
		frame.Int(c, "reserved", &h.Reserved)
		c.String("name", &h.Name)
		c.String("description", &h.Description)
		c.String("author", &h.Author)
		c.String("custodian", &h.Custodian)
		frame.Int(c, "time of data", &h.TimeData)
		frame.Int(c, "time of writing", &h.TimeWritten)
		h.Version.wire(c, "version")
		h.OwnID.wire(c, "own id")
		h.GroupID.wire(c, "group id")
		list[uint32](c, "fields", minField, &h.Fields, (*Field).Wire)
		list[uint32](c, "columns", minColumn, &h.Columns, (*Column).Wire)
	})
}

// A Version is the version that the writer of a record supported, and the least
// version that its reader must support.
type Version struct {
	Use, Min uint32
	Flags    uint64
	Extra    []byte
}

func (v *Version) wire(c *frame.Codec, name string) {
	oldFrame(c, name, &v.Extra, func() {
		frame.Int(c, "used", &v.Use)
		frame.Int(c, "minimum", &v.Min)
		frame.Int(c, "flags", &v.Flags)
	})
}

// An ID was meant to be a UUID; ROOT left it empty.
type ID struct {
	Text  string
	Extra []byte
}

func (i *ID) wire(c *frame.Codec, name string) {
	oldFrame(c, name, &i.Extra, func() { c.String("text", &i.Text) })
}

// A Field describes a field. Fields are listed in no particular order.
type Field struct {
	ID                          uint64
	FieldVersion, TypeVersion   Version
	Name, Description, TypeName string
	Repetitions                 uint64
	Structure                   uint32 // numbered as the structural roles of format 1
	Parent                      uint64 // noParent for the root
	Children                    []uint64
	Extra                       []byte
}

const noParent = 1<<64 - 1

// Wire describes a field.
func (f *Field) Wire(c *frame.Codec) {
	oldFrame(c, "field", &f.Extra, func() {
		frame.Int(c, "id", &f.ID)
		f.FieldVersion.wire(c, "field version")
		f.TypeVersion.wire(c, "type version")
		c.String("name", &f.Name)
		c.String("description", &f.Description)
		c.String("type name", &f.TypeName)
		frame.Int(c, "repetitions", &f.Repetitions)
		frame.Int(c, "structure", &f.Structure)
		frame.Int(c, "parent", &f.Parent)
		list[uint32](c, "children", 8, &f.Children, func(id *uint64, c *frame.Codec) { frame.Int(c, "id", id) })
	})
}

// A Column describes a column. Columns are listed in no particular order.
type Column struct {
	ID         uint64
	Version    Version
	Type       uint32
	Sorted     uint32
	ModelExtra []byte
	Field      uint64
	Index      uint32 // place among the columns of the field
	Extra      []byte
}

// Wire describes a column.
func (d *Column) Wire(c *frame.Codec) {
	oldFrame(c, "column", &d.Extra, func() {
		frame.Int(c, "id", &d.ID)
		d.Version.wire(c, "version")
		oldFrame(c, "model", &d.ModelExtra, func() {
			frame.Int(c, "type", &d.Type)
			frame.Int(c, "sorted", &d.Sorted)
		})
		frame.Int(c, "field", &d.Field)
		frame.Int(c, "index", &d.Index)
	})
}

// A Footer holds the clusters with the locations of their pages, and ends with a
// postscript that gives the sizes of header and footer.
type Footer struct {
	Reserved                   uint64
	Clusters                   []Cluster
	HeaderLength, FooterLength uint32 // bytes, uncompressed, with their checksums
}

// ParseFooter reads a footer with its checksum.
func ParseFooter(b []byte) (*Footer, error) {
	f := new(Footer)
	return f, lift.Verify(b, "footer", f.Wire)
}

// Wire describes a footer without its checksum. ROOT did not set the size of its
// frame.
func (f *Footer) Wire(c *frame.Codec) {
	versions(c)
	frame.Const[uint32](c, "size", 0)
	frame.Int(c, "reserved", &f.Reserved)
	list[uint64](c, "clusters", minCluster, &f.Clusters, (*Cluster).Wire)
	versions(c)
	frame.Int(c, "header length", &f.HeaderLength)
	frame.Int(c, "footer length", &f.FooterLength)
	if n := c.Left(); n > 0 && !c.Writing() {
		c.Fail("postscript", frame.Corrupt("%d bytes follow", n))
	}
}

// A Cluster is a range of entries with the pages of all columns.
type Cluster struct {
	OwnID                  ID // of the RNTuple
	ID                     uint64
	Version                Version
	FirstEntry, NumEntries uint64
	Locator                Locator // not used
	Extra                  []byte  // of the frame before the columns
	Columns                []Range
}

// Wire describes a cluster.
func (s *Cluster) Wire(c *frame.Codec) {
	s.OwnID.wire(c, "own id")
	oldFrame(c, "summary", &s.Extra, func() {
		frame.Int(c, "id", &s.ID)
		s.Version.wire(c, "version")
		frame.Int(c, "first entry", &s.FirstEntry)
		frame.Int(c, "number of entries", &s.NumEntries)
		s.Locator.wire(c, "locator")
	})
	list[uint32](c, "columns", minRange, &s.Columns, (*Range).Wire)
}

// A Range is the part of a column that a cluster holds.
type Range struct {
	Column       uint64 // its ID
	FirstElement uint64
	NumElements  uint32
	Compression  int64 // settings
	Pages        []Page
}

// Wire describes a range.
func (r *Range) Wire(c *frame.Codec) {
	frame.Int(c, "column", &r.Column)
	frame.Int(c, "first element", &r.FirstElement)
	frame.Int(c, "number of elements", &r.NumElements)
	frame.Int(c, "compression settings", &r.Compression)
	list[uint32](c, "pages", minPage, &r.Pages, (*Page).Wire)
}

// A Page is the location of a page.
type Page struct {
	NumElements uint32
	Locator     Locator
}

// Wire describes a page.
func (p *Page) Wire(c *frame.Codec) {
	frame.Int(c, "number of elements", &p.NumElements)
	p.Locator.wire(c, "locator")
}

// A Locator says where bytes are: in the file or at a URL, which no version of ROOT
// wrote.
type Locator struct {
	Offset int64
	Size   uint32
	URL    string
}

func (l *Locator) wire(c *frame.Codec, name string) {
	c.Within(name, func() {
		frame.Int(c, "offset", &l.Offset)
		frame.Int(c, "size", &l.Size)
		c.String("url", &l.URL)
	})
}

func (l *Locator) lift() locator.Locator {
	if l.URL != "" {
		return locator.Locator{Type: locator.URI, Payload: l.URL}
	}
	return locator.At(uint64(l.Offset), uint64(l.Size))
}

// The sizes in bytes of the shortest items of lists. They bound the numbers of items
// that are believed.
const (
	frameHead  = 8
	minVersion = frameHead + 16
	minID      = frameHead + 4
	minField   = frameHead + 8 + 2*minVersion + 3*4 + 8 + 4 + 8 + 4
	minColumn  = frameHead + 8 + minVersion + (frameHead + 8) + 8 + 4
	minPage    = 4 + (8 + 4 + 4)
	minRange   = 8 + 8 + 4 + 8 + 4
	minCluster = minID + frameHead + 8 + minVersion + 2*8 + (8 + 4 + 4) + 4
)

// versions reads the versions of a frame: the one that it was written with, and the
// least that its reader must know. There was only version 0.
func versions(c *frame.Codec) {
	var used, least uint16
	frame.Int(c, "version", &used)
	frame.Int(c, "minimum version", &least)
	if used != 0 || least != 0 {
		c.Fail("version", frame.Unsupported("pre-release format with version %d of this frame, readable from %d on", used,
			least))
	}
}

// oldFrame reads or writes a frame called name whose members body walks. Bytes that
// follow them are kept in extra.
func oldFrame(c *frame.Codec, name string, extra *[]byte, body func()) {
	c.Within(name, func() { framed(c, extra, body) })
}

// framed is like oldFrame, for a record whose name is already part of the path.
func framed(c *frame.Codec, extra *[]byte, body func()) {
	start := c.Pos()
	versions(c)
	var size uint32
	frame.Int(c, "size", &size)
	switch {
	case c.Writing():
		body()
		c.Rest(extra)
		frame.Patch(c, start+4, uint32(c.Pos()-start))
	case c.Err() != nil:
	case size < frameHead || uint64(size-frameHead) > uint64(c.Left()):
		c.Fail("size", frame.Corrupt("frame of size %d, %d bytes left", size, c.Left()))
	default:
		c.Window("frame", int(size-frameHead), func() {
			body()
			c.Rest(extra)
		})
	}
}

// list reads or writes the number of items, of type N, and then the items, which
// take at least least bytes each.
func list[N uint32 | uint64, T any](c *frame.Codec, name string, least int, items *[]T, item func(*T, *frame.Codec)) {
	c.Within(name, func() {
		n := N(len(*items))
		frame.Int(c, "number", &n)
		if c.Err() == nil && !c.Writing() {
			if uint64(n) > uint64(c.Left()/least) {
				c.Fail("number", frame.Corrupt("%d items in %d bytes", n, c.Left()))
				return
			}
			*items = make([]T, n)
		}
		for i := range *items {
			if c.Err() != nil {
				return
			}
			c.Element(i, func() { item(&(*items)[i], c) })
		}
	})
}
