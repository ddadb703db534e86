package envelope

import (
	"fmt"
	"hash/crc32"
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A PageList is a page-list envelope: the clusters of a cluster group and the
// locations of their pages.
type PageList struct {
	HeaderChecksum uint64
	Clusters       []Cluster
	ClustersExtra  []byte
	Pages          []ClusterPages // per cluster, in the order of Clusters
	PagesExtra     []byte
	Extra          []byte
}

// ParsePageList reads a page-list envelope.
func ParsePageList(b []byte) (*PageList, error) {
	p := new(PageList)
	return p, parse(b, TypePageList, p)
}

// Append appends the envelope, uncompressed, to dst.
func (p *PageList) Append(dst []byte) ([]byte, error) { return appendTo(dst, TypePageList, p) }

// wire describes the page list. Specification: "Page List Envelope".
func (p *PageList) wire(c *frame.Codec) {
	p.walk(c, func(c *frame.Codec, d *ClusterPages) { d.Wire(c) })
}

// walk is wire with a function that walks the pages of a cluster.
func (p *PageList) walk(c *frame.Codec, pages func(*frame.Codec, *ClusterPages)) {
	frame.Int(c, "header checksum", &p.HeaderChecksum)
	frame.List(c, "clusters", &p.Clusters, &p.ClustersExtra, func(c *frame.Codec, s *Cluster) { s.Wire(c) })
	frame.List(c, "pages", &p.Pages, &p.PagesExtra, pages)
	c.Rest(&p.Extra)
}

// ClusterSharded is the flag of a sharded cluster. No version of the format defines
// sharding yet; readers must refuse such a cluster.
const ClusterSharded uint8 = 0x01

// A Cluster is a cluster summary.
type Cluster struct {
	FirstEntry uint64
	NumEntries uint64 // below 2^56
	Flags      uint8
	Extra      []byte
}

// Wire describes a cluster summary. Specification: "Cluster Summary Record
// Frame".
func (s *Cluster) Wire(c *frame.Codec) {
	frame.Record(c, "cluster summary", &s.Extra, func() {
		frame.Int(c, "first entry number", &s.FirstEntry)
		if s.NumEntries>>56 != 0 {
			c.Fail("number of entries", fmt.Errorf("%d entries are too many for a cluster", s.NumEntries))
		}
		word := s.NumEntries | uint64(s.Flags)<<56
		frame.Int(c, "number of entries", &word)
		s.NumEntries, s.Flags = word<<8>>8, uint8(word>>56)
	})
}

// plainPages is set by tests that read page lists without the shortcut.
var plainPages = false

// ClusterPages are the pages of one cluster.
type ClusterPages struct {
	Columns []ColumnPages // by column ID; those of columns added after the cluster was written are missing at the end
	Extra   []byte
}

// Wire describes the outer list frame of a cluster. Specification: "Page
// Locations".
func (d *ClusterPages) Wire(c *frame.Codec) {
	if quick := d.scan(c); quick.stored != nil {
		d.Columns = quick.parse()
	}
}

// scan is Wire, but if it reads the usual form, it returns the columns unparsed.
func (d *ClusterPages) scan(c *frame.Codec) quickPages {
	if !c.Writing() && !plainPages {
		if quick, n := scanQuick(c.Unread()); n > 0 {
			c.Skip(n)
			return quick
		}
	}
	frame.List(c, "columns", &d.Columns, &d.Extra, func(c *frame.Codec, p *ColumnPages) { p.Wire(c) })
	return quickPages{}
}

// ColumnPages are the pages of one column in one cluster.
type ColumnPages struct {
	Pages         []Page
	ElementOffset int64  // number of the first element of Pages in the whole column; negative if the column is suppressed
	Compression   uint32 // settings; absent if suppressed
	Extra         []byte
}

// Suppressed is the element offset that ROOT stores for suppressed columns.
const Suppressed = math.MinInt64

// IsSuppressed reports whether another representation of the field holds the
// elements of this cluster.
func (p *ColumnPages) IsSuppressed() bool { return p.ElementOffset < 0 }

// Wire describes the inner list frame of a column. Specification: "Page
// Locations" and "Suppressed Columns".
func (p *ColumnPages) Wire(c *frame.Codec) {
	frame.ListTail(c, "pages", &p.Pages, &p.Extra, func(c *frame.Codec, g *Page) { g.Wire(c) }, func() {
		frame.Int(c, "element offset", &p.ElementOffset)
		if !p.IsSuppressed() {
			frame.Int(c, "compression settings", &p.Compression)
		} else if len(p.Pages) > 0 {
			c.Fail("element offset", frame.Corrupt("%d, but the column has %d pages", p.ElementOffset, len(p.Pages)))
		}
	})
}

// A Page is the location of one page. Pages with equal locators share their bytes.
type Page struct {
	NumElements uint32 // at most 2^31-1
	HasChecksum bool   // the 8 bytes after the page, which the locator's size excludes, hold its XXH3
	HasCRC32    bool   // not stored: in a pre-release format, 4 bytes hold the CRC32 of the uncompressed page instead
	Locator     locator.Locator
}

// ChecksumSize returns the size in bytes of the checksum behind the page, 0 if it
// has none.
func (g *Page) ChecksumSize() uint64 {
	switch {
	case g.HasChecksum:
		return checksum.Size
	case g.HasCRC32:
		return crc32.Size
	}
	return 0
}

// StoredSize returns the size in bytes of the page as it is stored, with the
// checksum behind it. The locator is taken at its word: of one that was read and
// not compared with the size of the file, the sum may overflow.
func (g *Page) StoredSize() uint64 { return g.Locator.Size + g.ChecksumSize() }

// Wire describes an inner item of the page locations. The checksum flag is the
// sign of the number of elements.
func (g *Page) Wire(c *frame.Codec) {
	n := int32(g.NumElements)
	if g.HasChecksum {
		n = -n
	}
	if g.NumElements > math.MaxInt32 {
		c.Fail("number of elements", fmt.Errorf("%d elements are too many for a page", g.NumElements))
	}
	frame.Int(c, "number of elements", &n)
	if n == math.MinInt32 {
		c.Fail("number of elements", frame.Corrupt("%d", n))
	}
	if !c.Writing() {
		g.HasChecksum, g.NumElements = n < 0, uint32(max(n, -n))
	}
	g.Locator.Wire(c, "locator")
}
