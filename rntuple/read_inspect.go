package rntuple

import (
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Inspection describes the storage of an RNTuple: the sizes of its columns on disk and in
// memory. It is derived from header, footer and page lists only.
type Inspection struct {
	Entries       int64
	Clusters      int
	ClusterGroups int

	Header, Footer EnvelopeSize
	PageLists      EnvelopeSize // sum over all cluster groups

	Columns []ColumnInspection // all physical columns, by ID
	Total   Storage            // the sum over Columns
}

// EnvelopeSize is the size of an envelope in bytes.
type EnvelopeSize struct {
	Disk   uint64
	Length uint64 // uncompressed
}

// Storage counts pages and their sizes in bytes.
//
// Pages can share their bytes: ROOT writes identical pages of a cluster only once, with identical
// locators. The sizes count each of these pages. Shared is the number of pages whose bytes are
// shared with a page of an earlier cluster or of a column with a lower ID, and SharedDisk is their
// part of Disk.
type Storage struct {
	Pages, Shared int64
	Checksums     int64 // pages with a checksum, without shared ones
	ChecksumDisk  int64 // size of these checksums
	Elements      int64 // stored elements, excluding the implicit leading zeros of a column added later

	// Disk is the stored size of the pages, without checksums.
	Disk, SharedDisk int64
	// Packed is the size of the pages before compression.
	Packed int64
	// Memory is the size of the elements in memory as ROOT counts it: 1 byte for a bool, 8 for an
	// offset, and 4 for a float that is stored with fewer bits.
	Memory int64
}

// OwnDisk returns Disk without SharedDisk. The sum over all columns is the space that pages occupy
// on disk.
func (s Storage) OwnDisk() int64 { return s.Disk - s.SharedDisk }

// Add adds t to s.
func (s *Storage) Add(t Storage) {
	s.Pages += t.Pages
	s.Shared += t.Shared
	s.Checksums += t.Checksums
	s.ChecksumDisk += t.ChecksumDisk
	s.Elements += t.Elements
	s.Disk += t.Disk
	s.SharedDisk += t.SharedDisk
	s.Packed += t.Packed
	s.Memory += t.Memory
}

// A ColumnInspection is the Inspection of one physical column.
type ColumnInspection struct {
	Column *schema.Column // format, representation, and the field that owns it
	Storage
	Compression []compress.Settings // distinct settings of the pages, sorted
}

// Disk returns the space that the RNTuple occupies on disk: pages with their checksums, and
// envelopes, without the keys of the ROOT file around them.
func (i *Inspection) Disk() int64 {
	return i.Total.OwnDisk() + i.Total.ChecksumDisk + int64(i.Header.Disk+i.Footer.Disk+i.PageLists.Disk)
}

// Field returns the sum over the columns of a field and all its subfields. Projected fields have no
// columns of their own.
func (i *Inspection) Field(f *schema.Field) Storage {
	var sum Storage
	for _, representation := range f.Columns {
		for _, c := range representation {
			if c.Owner == f {
				sum.Add(i.Columns[c.ID].Storage)
			}
		}
	}
	for _, child := range f.Children {
		sum.Add(i.Field(child))
	}
	return sum
}

// Compression returns the distinct compression settings of all columns, sorted.
func (i *Inspection) Compression() []compress.Settings {
	var all []compress.Settings
	for _, c := range i.Columns {
		for _, s := range c.Compression {
			all = addSettings(all, s)
		}
	}
	return all
}

// Inspect returns the Inspection of the RNTuple. It reads all page lists, but no pages, and calls
// progress, if it is not nil, after each cluster group.
func (r *Reader) Inspect(progress func(done, total int)) (*Inspection, error) {
	groups := r.ntuple.Footer.ClusterGroups
	i := &Inspection{
		Entries:       r.NumEntries(),
		ClusterGroups: len(groups),
		Header:        EnvelopeSize{r.ntuple.Anchor.NBytesHeader, r.ntuple.Anchor.LenHeader},
		Footer:        EnvelopeSize{r.ntuple.Anchor.NBytesFooter, r.ntuple.Anchor.LenFooter},
	}
	for n, g := range groups {
		i.PageLists.Disk += g.PageList.Locator.Size
		i.PageLists.Length += g.PageList.Length
		if g.EntrySpan > 0 {
			if _, err := r.ntuple.Source.Find(r.ctx, int64(g.MinEntry)); err != nil {
				return nil, err
			}
		}
		if progress != nil {
			progress(n+1, len(groups))
		}
	}
	clusters, err := r.ntuple.Source.Clusters(r.ctx)
	if err != nil {
		return nil, err
	}
	i.Clusters = len(clusters)
	for _, c := range r.ntuple.Source.Schema.Columns {
		i.Columns = append(i.Columns, ColumnInspection{Column: c})
	}
	seen := map[locator.Locator]bool{}
	for _, cluster := range clusters {
		for id, pages := range cluster.Columns() {
			i.Columns[id].add(pages, seen)
		}
	}
	for _, c := range i.Columns {
		i.Total.Add(c.Storage)
	}
	return i, nil
}

// add counts the pages of the column in one cluster.
func (c *ColumnInspection) add(stored envelope.ColumnPages, seen map[locator.Locator]bool) {
	format := c.Column.Format()
	for _, p := range stored.Pages {
		c.Pages++
		c.Elements += int64(p.NumElements)
		c.Packed += format.PageSize(p.NumElements)
		c.Memory += int64(p.NumElements) * elementSize(format)
		c.Disk += int64(p.Locator.Size)
		switch {
		case p.Locator.Size == 0: // no bytes to share
		case seen[p.Locator]:
			c.Shared++
			c.SharedDisk += int64(p.Locator.Size)
			continue
		default:
			seen[p.Locator] = true
		}
		if n := p.ChecksumSize(); n > 0 {
			c.Checksums++
			c.ChecksumDisk += int64(n)
		}
	}
	if len(stored.Pages) > 0 {
		c.Compression = addSettings(c.Compression, compress.Settings(stored.Compression))
	}
}

// elementSize returns the size in bytes of an element in ROOT's memory.
func elementSize(f column.Format) int64 {
	switch {
	case !f.Type.Known():
		return int64(f.Bits+7) / 8
	case f.Type.IsIndex():
		return 8
	case f.Type == column.Real32Quant:
		return 4
	case f.Type == column.Switch:
		return column.Size[column.Tagged]()
	}
	return int64(convert.Type(f.Kind()).Size())
}

// addSettings inserts s into a sorted list without duplicates.
func addSettings(all []compress.Settings, s compress.Settings) []compress.Settings {
	at, found := slices.BinarySearch(all, s)
	if found {
		return all
	}
	return slices.Insert(all, at, s)
}
