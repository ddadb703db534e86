package pagesource

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Source gives access to the clusters and pages of one RNTuple.
type Source struct {
	Blobs
	Schema  *schema.Schema
	Entries int64
	Workers int   // goroutines that decode pages for a reader, beside its own
	Budget  int64 // limit for the decoded pages that a reader holds, in bytes

	// ParsePageList parses the page list of a cluster group, whose number in the
	// footer it is given. Nil: page lists are those of format 1.
	ParsePageList func(group int, b []byte) (*envelope.PageList, error)

	// Reload returns a source for the newest committed state of the RNTuple, which has
	// at least the clusters of this one. It is called if a page list cannot be read: if
	// its clusters are in another cluster group now, a writer may have overwritten it.
	// It must be safe for concurrent use. Nil: the file does not change.
	Reload func(context.Context) (*Source, error)

	newest         atomic.Pointer[Source] // the last that Reload returned
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

// NewSource returns a source for the RNTuple with the given footer. It is an error
// if the cluster groups do not cover the entries without gap or overlap.
func NewSource(blobs Blobs, s *schema.Schema, headerChecksum uint64, footer *envelope.Footer) (*Source, error) {
	src := &Source{Blobs: blobs, Schema: s, headerChecksum: headerChecksum}
	id := 0
	for i, g := range footer.ClusterGroups {
		src.groups = append(src.groups, &group{ClusterGroup: g, index: i, firstID: id})
		id += int(g.NumClusters)
	}
	slices.SortStableFunc(src.groups, func(a, b *group) int {
		return compareRanges(a.MinEntry, a.EntrySpan, b.MinEntry, b.EntrySpan)
	})
	lists := uint64(0) // bytes
	for _, g := range src.groups {
		if lists += g.PageList.Length; src.MaxEnvelope > 0 && lists > uint64(src.MaxEnvelope) {
			return nil, &frame.FormatError{Path: "footer.cluster groups", Err: tooLong("page lists", lists, src.MaxEnvelope)}
		}
		if g.MinEntry != uint64(src.Entries) || g.EntrySpan > uint64(math.MaxInt64-src.Entries) {
			return nil, &frame.FormatError{Path: "footer.cluster groups", Err: frame.Corrupt(
				"a group has the entries from %d on, %d of them; expected one from %d on", g.MinEntry, g.EntrySpan, src.Entries)}
		}
		src.Entries += int64(g.EntrySpan)
	}
	return src, nil
}

// Find returns the cluster that holds an entry, which must be less than Entries.
func (s *Source) Find(ctx context.Context, entry int64) (*Cluster, error) {
	clusters, err := s.load(ctx, s.groups[s.groupOf(entry)])
	if err != nil {
		return nil, err
	}
	i := sort.Search(len(clusters), func(i int) bool { return clusters[i].End > entry })
	return clusters[i], nil
}

// Clusters returns all clusters in the order of their entries, for which it reads
// all page lists.
func (s *Source) Clusters(ctx context.Context) ([]*Cluster, error) {
	lists := make([][]*Cluster, len(s.groups))
	workers := 1
	if s.Far() {
		workers = s.costs().Requests
	}
	err := parallel.Do(workers, len(s.groups), func(i int) (err error) {
		lists[i], err = s.load(ctx, s.groups[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(lists...), nil
}

// expect has the page list that tells of an entry read in the background, if it is far away.
func (s *Source) expect(ctx context.Context, entry int64) {
	i := s.groupOf(entry)
	if i == len(s.groups) {
		return
	}
	g := s.groups[i]
	if !g.mu.TryLock() {
		return // somebody is reading it
	}
	has := g.clusters != nil
	g.mu.Unlock()
	if !has {
		go s.load(ctx, g) // an error is met by the reader
	}
}

// groupOf returns the number of the group that has an entry.
func (s *Source) groupOf(entry int64) int {
	return sort.Search(len(s.groups), func(i int) bool {
		g := s.groups[i]
		return int64(g.MinEntry+g.EntrySpan) > entry
	})
}

// load returns the clusters of g, by first entry.
func (s *Source) load(ctx context.Context, g *group) ([]*Cluster, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clusters != nil {
		return g.clusters, nil
	}
	clusters, err := s.read(ctx, g, s.scan)
	if err != nil && s.Reload != nil && ctx.Err() == nil {
		if moved := s.regrouped(ctx, g); moved != nil {
			clusters, err = moved, nil
		}
	}
	g.clusters = clusters
	return clusters, err
}

// read reads the page list of g, by means of parse, and returns its clusters.
func (s *Source) read(ctx context.Context, g *group,
	parse func(*group, []byte) (*envelope.ScannedPageList, error)) ([]*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	where := fmt.Sprintf("page list of the clusters from %d on", g.firstID)
	b, err := s.Envelope(ctx, where, g.PageList)
	if err != nil {
		return nil, err
	}
	list, err := parse(g, b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	clusters, err := s.clusters(g, list)
	if err != nil {
		return nil, &frame.FormatError{Offset: int64(g.PageList.Locator.Offset), Path: where, Err: err}
	}
	return clusters, nil
}

// PageList reads the page list of a cluster group, which is numbered as in the footer, and checks
// it.
func (s *Source) PageList(ctx context.Context, number int) (list *envelope.PageList, err error) {
	g := s.groups[slices.IndexFunc(s.groups, func(g *group) bool { return g.index == number })]
	_, err = s.read(ctx, g, func(g *group, b []byte) (*envelope.ScannedPageList, error) {
		if list, err = s.parse(g, b); err != nil {
			return nil, err
		}
		return list.Scanned(), nil
	})
	return list, err
}

// scan reads a page list; of the usual ones, the pages of a cluster are parsed when they
// are first needed.
func (s *Source) scan(g *group, b []byte) (*envelope.ScannedPageList, error) {
	if s.ParsePageList == nil {
		return envelope.ScanPageList(b)
	}
	list, err := s.parse(g, b)
	if err != nil {
		return nil, err
	}
	return list.Scanned(), nil
}

// parse reads all of a page list.
func (s *Source) parse(g *group, b []byte) (*envelope.PageList, error) {
	if s.ParsePageList == nil {
		return envelope.ParsePageList(b)
	}
	return s.ParsePageList(g.index, b)
}

// CheckPageList returns the error that a Source would return for any cluster of
// the group g if its page list were list; firstID is the number of the group's
// first cluster.
func CheckPageList(s *schema.Schema, headerChecksum uint64, g envelope.ClusterGroup, firstID int,
	list *envelope.PageList) error {
	src := &Source{Schema: s, headerChecksum: headerChecksum}
	_, err := src.clusters(&group{ClusterGroup: g, firstID: firstID}, list.Scanned())
	return err
}

// clusters checks a page list and returns its clusters, by first entry.
func (s *Source) clusters(g *group, list *envelope.ScannedPageList) ([]*Cluster, error) {
	switch {
	case list.HeaderChecksum != s.headerChecksum:
		return nil, frame.Corrupt("belongs to a header with the checksum %#x, this one has %#x",
			list.HeaderChecksum, s.headerChecksum)
	case len(list.Clusters) != int(g.NumClusters) || len(list.Pages) != len(list.Clusters):
		return nil, frame.Corrupt("%d cluster summaries and the pages of %d clusters, expected %d", len(list.Clusters),
			len(list.Pages), g.NumClusters)
	}
	clusters := make([]*Cluster, len(list.Clusters))
	for i, c := range list.Clusters {
		if c.Flags&envelope.ClusterSharded != 0 {
			return nil, frame.Unsupported("cluster %d is sharded", g.firstID+i)
		}
		if c.FirstEntry > math.MaxInt64-c.NumEntries {
			return nil, frame.Corrupt("cluster %d begins with the entry %d", g.firstID+i, c.FirstEntry)
		}
		if n := list.Pages[i].NumColumns(); n > len(s.Schema.Columns) {
			return nil, frame.Corrupt("cluster %d has %d columns, the schema %d", g.firstID+i, n, len(s.Schema.Columns))
		}
		clusters[i] = newCluster(g.firstID+i, c, sync.OnceValue(list.Pages[i].Columns))
	}
	slices.SortStableFunc(clusters, ByEntry)
	next := int64(g.MinEntry)
	for _, c := range clusters {
		if c.First != next {
			return nil, frame.Corrupt("cluster %d begins with the entry %d, expected %d", c.ID, c.First, next)
		}
		next = c.End
	}
	if end := int64(g.MinEntry + g.EntrySpan); next != end {
		return nil, frame.Corrupt("the clusters end before the entry %d, expected %d", next, end)
	}
	return clusters, nil
}
