package rescue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A salvage is the part of an RNTuple that can be saved.
type salvage struct {
	*evidence
	*job
	keepGoing bool
	schema    *schema.Schema // nil: nothing can be saved
	result    NTuple
	groups    []savedGroup
	sets      []*salvage // attribute sets, which are complete

	settings  *compress.Settings // of the first pages, of those that can be written; nil if there are none
	unchecked int64              // pages without a checksum
	unknown   int                // most columns in a cluster that the schema does not have
	stopped   bool               // all that follows is lost
}

// A savedGroup is a cluster group with clusters that can be saved.
type savedGroup struct {
	group
	clusters []int // indexes of these clusters, by entry
}

// examine reads and verifies all pages of an RNTuple to find out which clusters can be
// saved. An error is that of the context.
func (e *evidence) examine(ctx context.Context, j *job, keepGoing bool) (s *salvage, err error) {
	s = &salvage{evidence: e, job: j, keepGoing: keepGoing}
	s.result = NTuple{Path: j.path, Found: j.found, Entries: j.total, Kept: []rntuple.EntryRange{},
		Missing: slices.Clone(j.missing), Notes: slices.Clone(j.notes)}
	built, err := schema.Build(j.header, j.extension())
	if err != nil {
		s.lose(0, j.total, err)
		return s, nil
	}
	s.schema = built
	if err := s.examineGroups(ctx); err != nil {
		return nil, err
	}
	s.addNotes()
	return s, s.examineSets(ctx)
}

// any reports whether something can be saved: entries, or an RNTuple without entries.
func (s *salvage) any() bool { return s.schema != nil && (s.result.Saved > 0 || s.total == 0) }

// lose reports the loss of entries.
func (s *salvage) lose(first, end int64, why error) {
	if first == end {
		return
	}
	s.result.Lost = append(s.result.Lost, Loss{rntuple.EntryRange{First: first, End: end}, why.Error()})
	if !s.keepGoing || s.deferred() {
		s.stopped = true
	}
}

// deferred reports whether there are deferred columns. After lost entries, the number of
// the element with which they begin would be wrong.
func (s *salvage) deferred() bool {
	return s.schema != nil && slices.ContainsFunc(s.schema.Columns,
		func(c *schema.Column) bool { return c.Flags&envelope.ColumnDeferred != 0 })
}

var (
	errNoList = errors.New("their page list is lost")
	errBehind = errors.New("they come after lost entries")
)

// examineGroups examines the cluster groups, by entry.
func (s *salvage) examineGroups(ctx context.Context) error {
	next := int64(0)
	for _, g := range s.job.groups {
		switch {
		case g.first < next || g.end < g.first:
			s.lose(max(next, g.first), max(next, g.end),
				frame.Corrupt("the cluster group begins with the entry %d, expected %d", g.first, next))
			next = max(next, g.end)
			continue
		case g.first > next:
			s.lose(next, g.first, errNoList)
		}
		next = g.end
		if s.stopped {
			s.loseBehind(g.first, g.end)
		} else if err := s.examineGroup(ctx, g); err != nil {
			return err
		}
	}
	switch {
	case s.total < 0:
		s.result.Lost = append(s.result.Lost, Loss{rntuple.EntryRange{First: next, End: -1},
			"what came after the last page list, if anything, is lost"})
	case s.total > next:
		s.lose(next, s.total, errNoList)
	}
	return nil
}

// loseBehind reports entries that come after a loss.
func (s *salvage) loseBehind(first, end int64) {
	last := &s.result.Lost[len(s.result.Lost)-1]
	if last.Why == errBehind.Error() && last.End == first {
		last.End = end
	} else if first < end {
		s.result.Lost = append(s.result.Lost, Loss{rntuple.EntryRange{First: first, End: end}, errBehind.Error()})
	}
}

// examineGroup examines the clusters of a cluster group.
func (s *salvage) examineGroup(ctx context.Context, g group) error {
	clusters, err := s.load(g)
	if err != nil {
		s.lose(g.first, g.end, err)
		return nil
	}
	saved := savedGroup{group: g}
	for i, c := range clusters {
		if s.stopped {
			s.loseBehind(c.First, c.End)
			continue
		}
		err := s.examineCluster(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.lose(c.First, c.End, err)
			continue
		}
		saved.clusters = append(saved.clusters, i)
		s.result.Saved += c.End - c.First
		if n := len(s.result.Kept); n > 0 && s.result.Kept[n-1].End == c.First {
			s.result.Kept[n-1].End = c.End
		} else if c.First < c.End {
			s.result.Kept = append(s.result.Kept, rntuple.EntryRange{First: c.First, End: c.End})
		}
	}
	if len(saved.clusters) > 0 {
		s.groups = append(s.groups, saved)
	}
	return nil
}

// load reads the page list of a cluster group and returns its clusters, by entry, without
// columns that the schema lacks.
func (s *salvage) load(g group) ([]*pagesource.Cluster, error) {
	plain, err := s.envelope(g.Link, s.maxKey)
	if err != nil {
		return nil, fmt.Errorf("their page list: %w", err)
	}
	list, err := envelope.ParsePageList(plain)
	switch {
	case err != nil:
		return nil, err
	case list.HeaderChecksum != s.sum:
		return nil, frame.Corrupt("their page list belongs to another header")
	case len(list.Clusters) != g.clusters || len(list.Pages) != g.clusters:
		return nil, frame.Corrupt("their page list has %d clusters, expected %d", len(list.Clusters), g.clusters)
	}
	clusters := make([]*pagesource.Cluster, g.clusters)
	for i, c := range list.Clusters {
		if c.Flags&envelope.ClusterSharded != 0 {
			return nil, frame.Unsupported("a cluster is sharded")
		}
		columns := list.Pages[i].Columns
		if n := len(s.schema.Columns); len(columns) > n {
			s.unknown = max(s.unknown, len(columns)-n)
			columns = columns[:n]
		}
		clusters[i] = pagesource.NewCluster(i, c, columns)
	}
	slices.SortStableFunc(clusters, pagesource.ByEntry)
	next := g.first
	for _, c := range clusters {
		if c.First != next || c.End < c.First {
			return nil, frame.Corrupt("a cluster begins with the entry %d, expected %d", c.First, next)
		}
		next = c.End
	}
	if next != g.end {
		return nil, frame.Corrupt("the clusters end before the entry %d, expected %d", next, g.end)
	}
	return clusters, nil
}

// examineCluster returns the reason why a cluster cannot be saved, or nil.
func (s *salvage) examineCluster(ctx context.Context, c *pagesource.Cluster) error {
	if err := s.checkCounts(c); err != nil {
		return err
	}
	unchecked := s.unchecked
	type place struct {
		offset, size uint64
		summed       bool
	}
	seen := map[place]bool{} // pages can share their bytes
	for i, column := range c.Columns() {
		if settings := compress.Settings(column.Compression); s.settings == nil && len(column.Pages) > 0 && known(settings) {
			s.settings = &settings
		}
		for n, page := range column.Pages {
			if err := ctx.Err(); err != nil {
				return err
			}
			at := place{page.Locator.Offset, page.Locator.Size, page.HasChecksum}
			if seen[at] {
				continue
			}
			seen[at] = true
			if err := s.checkPage(s.schema.Columns[i], page); err != nil {
				s.unchecked = unchecked
				return fmt.Errorf("field %q, page %d: %w", s.schema.Columns[i].Owner.Path(), n, err)
			}
		}
	}
	return nil
}

// checkCounts checks the numbers of elements of a cluster's columns, except for fields that
// this library cannot read.
func (s *salvage) checkCounts(c *pagesource.Cluster) error {
	hidden := map[*schema.Field]bool{}
	for _, h := range s.schema.Hidden {
		hidden[h.Field] = true
	}
	for _, column := range s.schema.Columns {
		top := column.Owner
		for top.Parent != nil {
			top = top.Parent
		}
		if hidden[top] || column.Representation > 0 {
			continue
		}
		if _, err := c.Chunk(column.Owner, column.Index); err != nil {
			return err
		}
	}
	return nil
}

// checkPage verifies a page by its checksum or, if it has none, as far as possible.
func (s *salvage) checkPage(column *schema.Column, p envelope.Page) error {
	l, n := p.Locator, p.StoredSize()
	if err := l.InFile(); err != nil {
		return err
	}
	if l.Offset > uint64(s.size) || n < l.Size || n > uint64(s.size)-l.Offset {
		return frame.Corrupt("%d bytes at %#x lie beyond the end of the file", n, l.Offset)
	}
	stored := make([]byte, n)
	if err := anchor.ReadBlob(s.r, stored, int64(l.Offset), s.maxKey); err != nil {
		return err
	}
	if p.HasChecksum {
		return checksum.Verify(binary.LittleEndian.Uint64(stored[l.Size:]), stored[:l.Size])
	}
	s.unchecked++
	if s.anchor == nil && !s.inBlob(int64(l.Offset), int64(l.Offset+n)) {
		return frame.Corrupt("%d bytes at %#x lie in no record of the file", n, l.Offset)
	}
	format := column.Format()
	size := format.PageSize(p.NumElements)
	if format.Check() != nil || size == int64(n) {
		return nil
	}
	if limit := s.limits.PageBytes; limit > 0 && size > limit {
		return &frame.LimitError{Limit: "PageBytes", What: "page", Need: size, Have: limit}
	}
	if err := compress.Check(stored, size); err != nil {
		return err
	}
	return compress.Decompress(make([]byte, size), stored)
}

// inBlob reports whether a range of bytes lies in one RBlob.
func (e *evidence) inBlob(at, end int64) bool {
	i, _ := slices.BinarySearchFunc(e.blobs, at, func(b extent, at int64) int {
		if b.end <= at {
			return -1
		}
		return 1
	})
	return i < len(e.blobs) && e.blobs[i].at <= at && end <= e.blobs[i].end
}

// addNotes adds remarks to the result.
func (s *salvage) addNotes() {
	r := &s.result
	if s.stopped && s.keepGoing {
		r.Notes = append(r.Notes, "entries after lost ones are not saved, because the RNTuple has deferred columns, which begin with an element of a certain number")
	}
	if s.unchecked > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d pages have no checksum, so damage to them cannot be noticed", s.unchecked))
	}
	if s.unknown > 0 {
		r.Missing = append(r.Missing, fmt.Sprintf("fields that were added while the RNTuple was written: page lists have %d columns that are not in the schema", s.unknown))
	}
	if s.footer != nil && len(s.footer.Extra)+len(s.footer.ExtensionExtra) > 0 {
		r.Missing = append(r.Missing, "bytes of a newer format in the footer, which are not copied")
	}
	if s.renumbered() {
		r.Notes = append(r.Notes, "saved entries after lost ones have new numbers")
	}
}

// renumbered reports whether saved entries have new numbers.
func (s *salvage) renumbered() bool {
	kept := s.result.Kept
	return len(kept) > 1 || len(kept) == 1 && kept[0].First > 0
}

// examineSets examines the attribute sets; those that are complete can be saved.
func (s *salvage) examineSets(ctx context.Context) error {
	if s.footer == nil || !s.any() {
		return nil
	}
	for _, link := range s.footer.AttributeSets {
		miss := func(why string) {
			s.result.Missing = append(s.result.Missing, fmt.Sprintf("attribute set %q: %s", link.Name, why))
		}
		j := s.ofSet(link)
		switch {
		case j == nil:
			miss("its anchor, header or footer is damaged")
			continue
		case s.renumbered():
			miss("the entries it refers to have new numbers")
			continue
		}
		set, err := s.examine(ctx, j, s.keepGoing)
		if err != nil {
			return err
		}
		if !set.any() || set.result.Saved != j.total {
			miss(fmt.Sprintf("%d of its %d entries are left", set.result.Saved, j.total))
			continue
		}
		s.sets = append(s.sets, set)
	}
	return nil
}

// ofSet returns the job for an attribute set, or nil if its anchor or its metadata is lost.
func (s *salvage) ofSet(set envelope.AttributeSet) *job {
	for _, t := range s.tuples {
		for _, a := range t.anchors {
			if at, _ := (&rootfile.Record{Key: a.key}).Payload(); uint64(at) != set.Anchor.Offset {
				continue
			}
			for _, f := range t.footers {
				if f.at == int64(a.SeekFooter) && len(f.AttributeSets) == 0 {
					return s.newJob(t, f, a)
				}
			}
		}
	}
	return nil
}
