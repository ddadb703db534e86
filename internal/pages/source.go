// Package pages finds, fetches and decodes the pages of columns: the layer
// between the envelopes of an RNTuple and the elements of its columns.
//
// A Source may be used by several goroutines; a Column serves one.
package pages

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Source gives access to the clusters and pages of one RNTuple.
type Source struct {
	Blobs
	Schema  *schema.Schema
	Entries int64
	Workers int   // goroutines that decode pages for a reader, beside its own
	Budget  int64 // bytes of decoded pages that a reader may have at hand

	// ParsePageList reads the page list of a cluster group; nil for that of
	// format 1.
	ParsePageList func(group int, b []byte) (*envelope.PageList, error)

	headerChecksum uint64
	groups         []*group // by first entry
	shared         sharedPages
}

// group is a cluster group. Its page list is read when first needed.
type group struct {
	envelope.ClusterGroup
	index   int // in the footer
	firstID int // of its clusters

	mu       sync.Mutex
	clusters []*Cluster // by first entry; nil until read
}

// A Cluster is a cluster with the places of its pages.
type Cluster struct {
	ID         int   // clusters are numbered in the order of the cluster groups and page lists
	First, End int64 // entries: those from First to End, End excluded

	columns []envelope.ColumnPages // by column ID; columns added later are missing at the end

	once   sync.Once
	shared map[uint64]struct{} // offsets that several pages have, and maybe others; set by once
}

// Columns returns the pages of all columns as the page list has them, by column
// ID. Columns added after the cluster was written are missing at the end. The
// slice must not be changed.
func (c *Cluster) Columns() []envelope.ColumnPages { return c.columns }

// NewSource returns the source of the RNTuple with the given footer. An error
// says that the cluster groups do not cover the entries.
func NewSource(blobs Blobs, s *schema.Schema, headerChecksum uint64, footer *envelope.Footer) (*Source, error) {
	src := &Source{Blobs: blobs, Schema: s, headerChecksum: headerChecksum}
	id := 0
	for i, g := range footer.ClusterGroups {
		src.groups = append(src.groups, &group{ClusterGroup: g, index: i, firstID: id})
		id += int(g.NumClusters)
	}
	slices.SortStableFunc(src.groups, func(a, b *group) int { return byEntry(a.MinEntry, a.EntrySpan, b.MinEntry, b.EntrySpan) })
	lists := uint64(0) // bytes
	for _, g := range src.groups {
		if lists += g.PageList.Length; src.MaxEnvelope > 0 && lists > uint64(src.MaxEnvelope) {
			return nil, &wire.FormatError{Path: "footer.cluster groups", Err: wire.Unsupported("page lists of %d bytes, the limit is %d", lists, src.MaxEnvelope)}
		}
		if g.MinEntry != uint64(src.Entries) || g.EntrySpan > uint64(math.MaxInt64-src.Entries) {
			return nil, &wire.FormatError{Path: "footer.cluster groups", Err: wire.Corrupt(
				"a group has the entries from %d on, %d of them; expected one from %d on", g.MinEntry, g.EntrySpan, src.Entries)}
		}
		src.Entries += int64(g.EntrySpan)
	}
	return src, nil
}

// byEntry orders ranges of entries; an empty one comes before one that begins
// at the same entry.
func byEntry(first1, n1, first2, n2 uint64) int {
	switch {
	case first1 != first2 && first1 < first2, first1 == first2 && n1 < n2:
		return -1
	case first1 == first2 && n1 == n2:
		return 0
	}
	return 1
}

// Find returns the cluster that holds an entry, which must be there.
func (s *Source) Find(ctx context.Context, entry int64) (*Cluster, error) {
	i := sort.Search(len(s.groups), func(i int) bool {
		g := s.groups[i]
		return int64(g.MinEntry+g.EntrySpan) > entry
	})
	clusters, err := s.load(ctx, s.groups[i])
	if err != nil {
		return nil, err
	}
	i = sort.Search(len(clusters), func(i int) bool { return clusters[i].End > entry })
	return clusters[i], nil
}

// Clusters returns all clusters in the order of their entries. It reads all
// page lists.
func (s *Source) Clusters(ctx context.Context) ([]*Cluster, error) {
	var all []*Cluster
	for _, g := range s.groups {
		clusters, err := s.load(ctx, g)
		if err != nil {
			return nil, err
		}
		all = append(all, clusters...)
	}
	return all, nil
}

// load returns the clusters of g.
func (s *Source) load(ctx context.Context, g *group) ([]*Cluster, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clusters != nil {
		return g.clusters, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	where := fmt.Sprintf("page list of the clusters from %d on", g.firstID)
	b, err := s.Envelope(where, g.PageList)
	if err != nil {
		return nil, err
	}
	var list *envelope.PageList
	if s.ParsePageList != nil {
		list, err = s.ParsePageList(g.index, b)
	} else {
		list, err = envelope.ParsePageList(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	clusters, err := s.clusters(g, list)
	if err != nil {
		return nil, &wire.FormatError{Offset: int64(g.PageList.Locator.Offset), Path: where, Err: err}
	}
	g.clusters = clusters
	return clusters, nil
}

// clusters checks a page list and makes clusters of it.
func (s *Source) clusters(g *group, list *envelope.PageList) ([]*Cluster, error) {
	switch {
	case list.HeaderChecksum != s.headerChecksum:
		return nil, wire.Corrupt("belongs to a header with the checksum %#x, this one has %#x", list.HeaderChecksum, s.headerChecksum)
	case len(list.Clusters) != int(g.NumClusters) || len(list.Pages) != len(list.Clusters):
		return nil, wire.Corrupt("%d cluster summaries and the pages of %d clusters, expected %d", len(list.Clusters), len(list.Pages), g.NumClusters)
	}
	clusters := make([]*Cluster, len(list.Clusters))
	for i, c := range list.Clusters {
		if c.Flags&envelope.ClusterSharded != 0 {
			return nil, wire.Unsupported("cluster %d is sharded", g.firstID+i)
		}
		if c.FirstEntry > math.MaxInt64-c.NumEntries {
			return nil, wire.Corrupt("cluster %d begins with the entry %d", g.firstID+i, c.FirstEntry)
		}
		if n := len(list.Pages[i].Columns); n > len(s.Schema.Columns) {
			return nil, wire.Corrupt("cluster %d has %d columns, the schema %d", g.firstID+i, n, len(s.Schema.Columns))
		}
		clusters[i] = &Cluster{ID: g.firstID + i, First: int64(c.FirstEntry), End: int64(c.FirstEntry + c.NumEntries), columns: list.Pages[i].Columns}
	}
	slices.SortStableFunc(clusters, func(a, b *Cluster) int {
		return byEntry(uint64(a.First), uint64(a.End-a.First), uint64(b.First), uint64(b.End-b.First))
	})
	next := int64(g.MinEntry)
	for _, c := range clusters {
		if c.First != next {
			return nil, wire.Corrupt("cluster %d begins with the entry %d, expected %d", c.ID, c.First, next)
		}
		next = c.End
	}
	if end := int64(g.MinEntry + g.EntrySpan); next != end {
		return nil, wire.Corrupt("the clusters end before the entry %d, expected %d", next, end)
	}
	return clusters, nil
}

// A Chunk is what one cluster holds of one column: Zeros elements that are not
// stored, then those of Pages.
type Chunk struct {
	Column      *schema.Column
	Zeros       int64
	Pages       []envelope.Page
	Compression uint32 // settings that the pages were written with
	Elements    int64  // with Zeros
}

// Chunk returns the pages of a field's column, the index-th one, in cluster c.
// Of the field's representations it takes the one that is not suppressed there.
//
// Specification: "Suppressed Columns" and, for deferred columns, "Column
// Description".
func (c *Cluster) Chunk(f *schema.Field, index int) (Chunk, error) {
	var active *schema.Column
	present := false
	for _, rep := range f.Columns {
		column := rep[index]
		if int(column.ID) >= len(c.columns) {
			continue
		}
		present = true
		if c.columns[column.ID].IsSuppressed() {
			continue
		}
		if active != nil {
			return Chunk{}, c.corrupt(f, "representations %d and %d are both active", active.Representation, column.Representation)
		}
		active = column
	}
	entries := c.End - c.First
	if !present {
		// The field was added after this cluster: it has the value zero.
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
	stored := &c.columns[active.ID]
	chunk := Chunk{Column: active, Pages: stored.Pages, Compression: stored.Compression}
	for _, p := range stored.Pages {
		chunk.Elements += int64(p.NumElements)
	}
	if active.PerEntry == 0 {
		return chunk, nil
	}
	// Such a column has a known number of elements in every cluster. Those
	// that are missing in front come from before it was added.
	first, ok1 := multiply(c.First, active.PerEntry)
	want, ok2 := multiply(entries, active.PerEntry)
	if !ok1 || !ok2 {
		return Chunk{}, c.corrupt(f, "entry %d is too high", c.End)
	}
	offset := stored.ElementOffset
	if active.Flags&envelope.ColumnDeferred != 0 {
		if chunk.Elements == want && offset == first+active.FirstElement {
			// ROOT's merger stores the zeros of its first input, too, and counts
			// elements from the first one that is not.
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
	return &wire.FormatError{Path: fmt.Sprintf("page list.cluster %d.field %q", c.ID, f.Path()), Err: wire.Corrupt(format, args...)}
}

func multiply(a, b int64) (int64, bool) {
	if b != 0 && a > math.MaxInt64/b {
		return 0, false
	}
	return a * b, true
}
