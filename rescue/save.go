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
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A saver copies RNTuples into a new file.
type saver struct {
	ctx context.Context
	*evidence
	out       *rootfile.Writer
	keepGoing bool
}

// A copying is an RNTuple on its way.
type copying struct {
	*saver
	*job
	schema *schema.Schema
	set    pagesink.Settings // of the new envelopes
	said   NTuple

	groups    []envelope.ClusterGroup // that are written
	list      envelope.PageList       // of the current one
	elements  map[*schema.Column]int64
	unchecked int64 // pages without a checksum
	unknown   int   // most columns in a cluster that the schema does not have
	stopped   bool  // all that follows is lost
}

// saveListed saves an RNTuple and lists it in its directory. An error is that of
// a file or of the context; ok reports whether there was something to save.
func (s *saver) saveListed(j *job) (said NTuple, ok bool, err error) {
	c, object, err := s.save(j)
	if err != nil || object == nil {
		return c.said, false, err
	}
	dir, name := split(j.path)
	_, err = s.out.Object(dir, s.object(name, object))
	return c.said, err == nil, err
}

func (s *saver) object(name string, anchor []byte) rootfile.Object {
	return rootfile.Object{Class: "ROOT::RNTuple", Name: name, Stored: anchor, Len: len(anchor)}
}

// save copies an RNTuple and returns its anchor, or nil if nothing of it can be
// saved.
func (s *saver) save(j *job) (c *copying, object []byte, err error) {
	c = &copying{saver: s, job: j, elements: map[*schema.Column]int64{}}
	c.said = NTuple{Path: j.path, Found: j.found, Entries: j.total, Kept: []Entries{}, Notes: slices.Clone(j.notes)}
	c.list.HeaderChecksum = j.sum
	if c.schema, err = schema.Build(j.header, j.extension()); err != nil {
		c.lose(0, j.total, err)
		return c, nil, nil
	}
	c.set = pagesink.Settings{Compression: s.compression, MaxKeySize: defaultMaxKey}
	header, err := pagesink.WriteEnvelope(&pagesink.Output{Blob: s.out.Blob}, j.plain, c.set)
	if err != nil {
		return c, nil, err
	}
	if err := c.copyGroups(); err != nil {
		return c, nil, err
	}
	if c.said.Saved == 0 && j.total != 0 {
		return c, nil, nil
	}
	object, err = c.finish(header)
	return c, object, err
}

// lose reports the loss of entries.
func (c *copying) lose(first, end int64, why error) {
	if first == end {
		return
	}
	c.said.Lost = append(c.said.Lost, Loss{Entries{first, end}, why.Error()})
	if !c.keepGoing || c.deferred() {
		c.stopped = true
	}
}

// deferred reports whether there are columns that begin with a certain element,
// whose number would be another one behind lost entries.
func (c *copying) deferred() bool {
	return c.schema != nil && slices.ContainsFunc(c.schema.Columns, func(k *schema.Column) bool { return k.Flags&envelope.ColumnDeferred != 0 })
}

var (
	errNoList = errors.New("their page list is lost")
	errBehind = errors.New("they come behind lost entries")
)

// copyGroups copies the cluster groups, entry by entry.
func (c *copying) copyGroups() error {
	next := int64(0)
	for _, g := range c.job.groups {
		switch {
		case g.first < next || g.end < g.first:
			c.lose(max(next, g.first), max(next, g.end), wire.Corrupt("the cluster group begins with the entry %d, expected %d", g.first, next))
			next = max(next, g.end)
			continue
		case g.first > next:
			c.lose(next, g.first, errNoList)
		}
		next = g.end
		if c.stopped {
			c.behind(g.first, g.end)
			continue
		}
		if err := c.copyGroup(g); err != nil {
			return err
		}
	}
	switch {
	case c.total < 0:
		c.said.Lost = append(c.said.Lost, Loss{Entries{next, -1}, "what came after the last page list, if anything, is lost"})
	case c.total > next:
		c.lose(next, c.total, errNoList)
	}
	if c.stopped && c.keepGoing {
		c.said.Notes = append(c.said.Notes, "entries behind lost ones are not saved: the RNTuple has deferred columns, which begin with an element of a certain number")
	}
	if c.unchecked > 0 {
		c.said.Notes = append(c.said.Notes, fmt.Sprintf("%d pages have no checksum: whether they are damaged cannot be told", c.unchecked))
	}
	if c.unknown > 0 {
		c.said.Notes = append(c.said.Notes, fmt.Sprintf("page lists have %d columns that the schema does not: the fields they belong to were added while the RNTuple was written, and are lost", c.unknown))
	}
	if len(c.said.Kept) > 1 || len(c.said.Kept) == 1 && c.said.Kept[0].First > 0 {
		c.said.Notes = append(c.said.Notes, "saved entries behind lost ones have new numbers")
	}
	return nil
}

// behind reports entries that come after a loss.
func (c *copying) behind(first, end int64) {
	last := &c.said.Lost[len(c.said.Lost)-1]
	if last.Why == errBehind.Error() && last.End == first {
		last.End = end
	} else if first < end {
		c.said.Lost = append(c.said.Lost, Loss{Entries{first, end}, errBehind.Error()})
	}
}

// copyGroup copies a cluster group and its page list.
func (c *copying) copyGroup(g group) error {
	clusters, list, err := c.load(g)
	if err != nil {
		c.lose(g.first, g.end, err)
		return nil
	}
	first := c.said.Saved
	for i, k := range clusters {
		if c.stopped {
			c.behind(k.First, k.End)
			continue
		}
		if err := c.copyCluster(k, list.Clusters[i]); err != nil {
			return err
		}
	}
	if len(c.list.Clusters) == 0 {
		return nil
	}
	plain, err := c.list.Append(nil)
	if err != nil {
		return err
	}
	link, err := pagesink.WriteEnvelope(&pagesink.Output{Blob: c.out.Blob}, plain, c.set)
	c.groups = append(c.groups, envelope.ClusterGroup{
		MinEntry: uint64(first), EntrySpan: uint64(c.said.Saved - first), NumClusters: uint32(len(c.list.Clusters)), PageList: link,
	})
	c.list.Clusters, c.list.Pages = nil, nil
	return err
}

// load reads the page list of a cluster group, and returns the clusters that it
// has, by entry, together with the list in the same order.
func (c *copying) load(g group) ([]*pagesource.Cluster, *envelope.PageList, error) {
	plain, err := c.envelope(g.Link, c.maxKey)
	if err != nil {
		return nil, nil, fmt.Errorf("their page list: %w", err)
	}
	list, err := envelope.ParsePageList(plain)
	switch {
	case err != nil:
		return nil, nil, err
	case list.HeaderChecksum != c.sum:
		return nil, nil, wire.Corrupt("their page list belongs to another header")
	case len(list.Clusters) != g.clusters || len(list.Pages) != g.clusters:
		return nil, nil, wire.Corrupt("their page list has %d clusters, expected %d", len(list.Clusters), g.clusters)
	}
	order := make([]int, g.clusters)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := list.Clusters[i], list.Clusters[j]
		switch {
		case a.FirstEntry < b.FirstEntry, a.FirstEntry == b.FirstEntry && a.NumEntries < b.NumEntries:
			return -1
		case a.FirstEntry == b.FirstEntry && a.NumEntries == b.NumEntries:
			return 0
		}
		return 1
	})
	sorted := *list
	sorted.Clusters, sorted.Pages = nil, nil
	var clusters []*pagesource.Cluster
	next := g.first
	for _, i := range order {
		k := list.Clusters[i]
		first, end := int64(k.FirstEntry), int64(k.FirstEntry+k.NumEntries)
		switch {
		case first != next || end < first:
			return nil, nil, wire.Corrupt("a cluster begins with the entry %d, expected %d", k.FirstEntry, next)
		case k.Flags&envelope.ClusterSharded != 0:
			return nil, nil, wire.Unsupported("a cluster is sharded")
		}
		next = end
		sorted.Clusters, sorted.Pages = append(sorted.Clusters, k), append(sorted.Pages, list.Pages[i])
		clusters = append(clusters, pagesource.NewCluster(i, k, list.Pages[i].Columns))
	}
	if next != g.end {
		return nil, nil, wire.Corrupt("the clusters end before the entry %d, expected %d", next, g.end)
	}
	return clusters, &sorted, nil
}

// copyCluster copies the pages of a cluster. What is damaged leaves bytes of no
// use in the new file. An error is one of writing, or of the context.
func (c *copying) copyCluster(k *pagesource.Cluster, summary envelope.Cluster) error {
	columns := k.Columns()
	if n := len(c.schema.Columns); len(columns) > n {
		c.unknown = max(c.unknown, len(columns)-n)
		columns = columns[:n]
		k = pagesource.NewCluster(k.ID, summary, columns)
	}
	counts, err := c.count(k)
	if err != nil {
		c.lose(k.First, k.End, err)
		return nil
	}
	batch := batch{out: c.out}
	copied := make([]envelope.ColumnPages, len(columns))
	moved := map[uint64]*envelope.Page{} // pages can share their bytes
	for i := range columns {
		copied[i] = columns[i]
		copied[i].Pages = slices.Clone(columns[i].Pages)
		first := c.schema.Columns[i].Owner.Columns[0][c.schema.Columns[i].Index]
		if c.shifted(k) && !copied[i].IsSuppressed() {
			copied[i].ElementOffset = c.elements[first]
		}
		for p := range copied[i].Pages {
			page := &copied[i].Pages[p]
			if err := c.ctx.Err(); err != nil {
				return err
			}
			at := page.Locator
			if twin := moved[at.Offset]; twin != nil && columns[i].Pages[p].HasChecksum == twin.HasChecksum && twin.Locator.Size == at.Size {
				batch.same = append(batch.same, twins{page, twin})
				continue
			}
			stored, err := c.page(c.schema.Columns[i], *page)
			if err != nil {
				c.lose(k.First, k.End, fmt.Errorf("field %q, page %d: %w", c.schema.Columns[i].Owner.Path(), p, err))
				return nil
			}
			moved[at.Offset] = page
			if err := batch.add(page, stored); err != nil {
				return err
			}
		}
	}
	if err := batch.flush(); err != nil {
		return err
	}
	for column, n := range counts {
		c.elements[column] += n
	}
	if n := len(c.said.Kept); n > 0 && c.said.Kept[n-1].End == k.First {
		c.said.Kept[n-1].End = k.End
	} else if k.First < k.End {
		c.said.Kept = append(c.said.Kept, Entries{k.First, k.End})
	}
	summary.FirstEntry = uint64(c.said.Saved)
	c.said.Saved += k.End - k.First
	c.list.Clusters = append(c.list.Clusters, summary)
	c.list.Pages = append(c.list.Pages, envelope.ClusterPages{Columns: copied})
	return nil
}

// shifted reports whether the entries of a cluster get other numbers.
func (c *copying) shifted(k *pagesource.Cluster) bool { return k.First != c.said.Saved }

// count checks that the columns of a cluster go together, and returns how many
// elements they have: by the column of the first representation, as all have one
// count.
func (c *copying) count(k *pagesource.Cluster) (map[*schema.Column]int64, error) {
	counts := map[*schema.Column]int64{}
	hidden := map[*schema.Field]bool{}
	for _, h := range c.schema.Hidden {
		hidden[h.Field] = true
	}
	for _, column := range c.schema.Columns {
		first := column.Owner.Columns[0][column.Index]
		if _, ok := counts[first]; ok {
			continue
		}
		top := column.Owner
		for top.Parent != nil {
			top = top.Parent
		}
		if hidden[top] {
			for _, p := range pagesOf(k, column) {
				counts[first] += int64(p.NumElements)
			}
			continue
		}
		chunk, err := k.Chunk(column.Owner, column.Index)
		if err != nil {
			return nil, err
		}
		counts[first] = chunk.Elements
	}
	return counts, nil
}

// pagesOf returns the pages of a column, none if the cluster is older than it.
func pagesOf(k *pagesource.Cluster, c *schema.Column) []envelope.Page {
	if columns := k.Columns(); int(c.ID) < len(columns) {
		return columns[c.ID].Pages
	}
	return nil
}

// page reads a page with its checksum and verifies it, as far as that is
// possible.
func (c *copying) page(column *schema.Column, p envelope.Page) ([]byte, error) {
	l := p.Locator
	if err := l.InFile(); err != nil {
		return nil, err
	}
	n := l.Size
	if p.HasChecksum {
		n += checksum.Size
	}
	if l.Offset > uint64(c.size) || n < l.Size || n > uint64(c.size)-l.Offset {
		return nil, wire.Corrupt("%d bytes at %#x lie beyond the end of the file", n, l.Offset)
	}
	stored := make([]byte, n)
	if err := anchor.ReadBlob(c.r, stored, int64(l.Offset), c.maxKey); err != nil {
		return nil, err
	}
	if p.HasChecksum {
		return stored, checksum.Verify(binary.LittleEndian.Uint64(stored[l.Size:]), stored[:l.Size])
	}
	c.unchecked++
	if c.anchor == nil && !c.inBlob(int64(l.Offset), int64(l.Offset+n)) {
		return nil, wire.Corrupt("%d bytes at %#x lie in no record of the file", n, l.Offset)
	}
	format := column.Format()
	if format.Check() != nil {
		return stored, nil
	}
	if size := format.PageSize(p.NumElements); size != int64(n) {
		if err := compress.Check(stored, size); err != nil {
			return nil, err
		}
		return stored, compress.Decompress(make([]byte, size), stored)
	}
	return stored, nil
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

// finish writes the footer, with attribute sets, and returns the anchor.
func (c *copying) finish(header locator.Link) ([]byte, error) {
	footer := envelope.Footer{HeaderChecksum: c.sum, Extension: &envelope.Schema{}, ClusterGroups: c.groups, AttributeSets: []envelope.AttributeSet{}}
	if c.footer != nil {
		footer.Features, footer.Extra = c.footer.Features, c.footer.Extra
		footer.Extension, footer.ExtensionExtra = c.footer.Extension, c.footer.ExtensionExtra
		var err error
		if footer.AttributeSets, err = c.saveSets(); err != nil {
			return nil, err
		}
	}
	plain, err := footer.Append(nil)
	if err != nil {
		return nil, err
	}
	link, err := pagesink.WriteEnvelope(&pagesink.Output{Blob: c.out.Blob}, plain, c.set)
	if err != nil {
		return nil, err
	}
	a := anchor.Anchor{
		Epoch: anchor.Epoch, Minor: 2,
		SeekHeader: header.Locator.Offset, NBytesHeader: header.Locator.Size, LenHeader: header.Length,
		SeekFooter: link.Locator.Offset, NBytesFooter: link.Locator.Size, LenFooter: link.Length,
		MaxKeySize: c.set.MaxKeySize,
	}
	if old := c.anchor; old != nil && old.Epoch == anchor.Epoch {
		a.Major, a.Minor, a.Patch = old.Major, old.Minor, old.Patch
	}
	a.ClassVersion = anchor.ClassVersion
	return a.Append(nil)
}

// saveSets saves the attribute sets, those that are whole.
func (c *copying) saveSets() (saved []envelope.AttributeSet, err error) {
	saved = []envelope.AttributeSet{}
	for _, set := range c.footer.AttributeSets {
		note := func(why string) {
			c.said.Notes = append(c.said.Notes, fmt.Sprintf("attribute set %q is lost: %s", set.Name, why))
		}
		j := c.ofSet(set)
		switch {
		case j == nil:
			note("its anchor, header or footer is damaged")
			continue
		case len(c.said.Kept) > 1 || len(c.said.Kept) == 1 && c.said.Kept[0].First > 0:
			note("the entries it speaks of have new numbers")
			continue
		}
		of, object, err := c.saver.save(j)
		if err != nil {
			return nil, err
		}
		if object == nil || of.said.Saved != j.total {
			note(fmt.Sprintf("%d of its %d entries are left", of.said.Saved, j.total))
			continue
		}
		at, err := c.out.Unlisted(c.object(set.Name, object))
		if err != nil {
			return nil, err
		}
		set.AnchorLength, set.Anchor = uint32(len(object)), locator.At(uint64(at), uint64(len(object)))
		saved = append(saved, set)
	}
	return saved, nil
}

// ofSet returns what is to be saved of an attribute set; nil if it cannot be.
func (c *copying) ofSet(set envelope.AttributeSet) *job {
	for _, t := range c.tuples {
		for _, a := range t.anchors {
			if at, _ := (&rootfile.Record{Key: a.key}).Payload(); uint64(at) != set.Anchor.Offset {
				continue
			}
			for _, f := range t.footers {
				if f.at == int64(a.SeekFooter) && len(f.AttributeSets) == 0 {
					return c.newJob(t, f, a)
				}
			}
		}
	}
	return nil
}

// A batch joins pages into payloads of moderate size.
type batch struct {
	out   *rootfile.Writer
	parts [][]byte
	pages []*envelope.Page
	same  []twins
	size  int
}

// twins are a page and another that has the same bytes.
type twins struct{ page, of *envelope.Page }

const batchSize = 4 << 20

// add adds a page, whose locator it will change.
func (b *batch) add(p *envelope.Page, stored []byte) error {
	if len(stored) > defaultMaxKey {
		at, err := anchor.WriteBlob(stored, defaultMaxKey, b.out.Blob)
		p.Locator = locator.At(uint64(at), p.Locator.Size)
		return err
	}
	if b.size > 0 && b.size+len(stored) > batchSize {
		if err := b.write(); err != nil {
			return err
		}
	}
	b.parts, b.pages, b.size = append(b.parts, stored), append(b.pages, p), b.size+len(stored)
	return nil
}

func (b *batch) write() error {
	if len(b.parts) == 0 {
		return nil
	}
	at, err := b.out.Blob(b.parts...)
	if err != nil {
		return err
	}
	for i, p := range b.pages {
		p.Locator = locator.At(uint64(at), p.Locator.Size)
		at += int64(len(b.parts[i]))
	}
	b.parts, b.pages, b.size = b.parts[:0], b.pages[:0], 0
	return nil
}

// flush writes what is left, and gives pages that share bytes the same place.
func (b *batch) flush() error {
	if err := b.write(); err != nil {
		return err
	}
	for _, t := range b.same {
		t.page.Locator = t.of.Locator
	}
	return nil
}
