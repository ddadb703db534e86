package pagesource

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Cluster is a range of entries with the locations of their pages.
type Cluster struct {
	ID         int   // its number, in the order of the cluster groups and page lists
	First, End int64 // its entries, without End

	columns func() []envelope.ColumnPages // by column ID; columns added later are missing at the end

	once   sync.Once
	shared map[uint64]struct{} // offsets that several pages have, and perhaps others; set by once
}

// Columns returns the pages of all columns as the page list has them, by column
// ID. Columns added after the cluster was written are missing at the end. The
// slice must not be changed. The first call parses them.
func (c *Cluster) Columns() []envelope.ColumnPages { return c.columns() }

// NewCluster returns a cluster that belongs to no Source, for code that looks at its
// pages even if the page list is not valid.
func NewCluster(id int, c envelope.Cluster, columns []envelope.ColumnPages) *Cluster {
	return newCluster(id, c, func() []envelope.ColumnPages { return columns })
}

func newCluster(id int, c envelope.Cluster, columns func() []envelope.ColumnPages) *Cluster {
	return &Cluster{ID: id, First: int64(c.FirstEntry), End: int64(c.FirstEntry + c.NumEntries), columns: columns}
}

// ByEntry compares clusters by their first entries, and has an empty cluster come
// before the one that begins with the same entry. Page lists may be in any order:
// this is the order in which the clusters of a valid one make a sequence.
func ByEntry(a, b *Cluster) int {
	return compareRanges(uint64(a.First), uint64(a.End-a.First), uint64(b.First), uint64(b.End-b.First))
}

// compareRanges compares two ranges of entries as ByEntry does.
func compareRanges(first1, n1, first2, n2 uint64) int {
	return cmp.Or(cmp.Compare(first1, first2), cmp.Compare(n1, n2))
}

// A Chunk is what one cluster holds of one column: a number of zeros that are not
// stored, followed by the elements of pages.
type Chunk struct {
	Column      *schema.Column
	Zeros       int64
	Pages       []envelope.Page
	Compression uint32 // settings that the pages were written with
	Elements    int64  // including Zeros
}

// Chunk returns the pages that the index-th column of f has in the cluster, in the
// one of the field's representations that is not suppressed there.
//
// Specification: "Suppressed Columns" and, for deferred columns, "Column
// Description".
func (c *Cluster) Chunk(f *schema.Field, index int) (Chunk, error) {
	var active *schema.Column
	columns, present := c.columns(), false
	for _, rep := range f.Columns {
		column := rep[index]
		if int(column.ID) >= len(columns) {
			continue
		}
		present = true
		if columns[column.ID].IsSuppressed() {
			continue
		}
		if active != nil {
			return Chunk{}, c.corrupt(f, "representations %d and %d are both active",
				active.Representation, column.Representation)
		}
		active = column
	}
	entries := c.End - c.First
	if !present {
		// The field was added after this cluster was written: its values are zero.
		column := f.Columns[0][index]
		n, ok := multiply(entries, column.PerEntry)
		if !ok {
			return Chunk{}, c.corrupt(f, "%d entries are too many", entries)
		}
		return Chunk{Column: column, Zeros: n, Elements: n}, nil
	}
	if active == nil {
		return Chunk{}, c.corrupt(f, "all representations of the column are suppressed")
	}
	stored := &columns[active.ID]
	chunk := Chunk{Column: active, Pages: stored.Pages, Compression: stored.Compression}
	for _, p := range stored.Pages {
		chunk.Elements += int64(p.NumElements)
	}
	if active.PerEntry == 0 {
		return chunk, nil
	}
	// The number of entries tells how many elements there must be. If the first
	// ones are missing, the column was added after the entries that they are for.
	first, ok1 := multiply(c.First, active.PerEntry)
	want, ok2 := multiply(entries, active.PerEntry)
	if !ok1 || !ok2 {
		return Chunk{}, c.corrupt(f, "entry %d is too high", c.End)
	}
	offset := stored.ElementOffset
	if active.Flags&envelope.ColumnDeferred != 0 {
		if chunk.Elements == want && offset == first+active.FirstElement {
			// ROOT's merger stores the zeros of its first input, too, but counts
			// elements from the first one after them.
			offset = first
		}
		chunk.Zeros = min(want, max(0, offset-first))
	}
	chunk.Elements += chunk.Zeros
	if offset != first+chunk.Zeros && len(stored.Pages) > 0 {
		return Chunk{}, c.corrupt(f, "the column begins with the element %d, expected %d", stored.ElementOffset, first)
	}
	if chunk.Elements != want {
		return Chunk{}, c.corrupt(f, "the column has %d elements, expected %d", chunk.Elements, want)
	}
	return chunk, nil
}

func (c *Cluster) corrupt(f *schema.Field, format string, args ...any) error {
	return &frame.FormatError{Path: fmt.Sprintf("page list.cluster %d.field %q", c.ID, f.Path()),
		Err: frame.Corrupt(format, args...)}
}

func multiply(a, b int64) (int64, bool) {
	if b != 0 && a > math.MaxInt64/b {
		return 0, false
	}
	return a * b, true
}
