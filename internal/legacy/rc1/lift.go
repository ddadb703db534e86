package rc1

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
)

func (s *Schema) lift() *envelope.Schema {
	return &envelope.Schema{
		Fields:     lift.Each(s.Fields, (*Field).lift),
		Columns:    lift.Each(s.Columns, (*Column).lift),
		Aliases:    lift.Each(s.Aliases, func(a *Alias) envelope.Alias { return a.Alias }),
		ExtraTypes: lift.Each(s.ExtraTypes, (*ExtraType).lift),
	}
}

func (f *Field) lift() envelope.Field {
	lifted := f.Field
	lifted.Flags &= envelope.FieldRepetitive // the others were defined later
	return lifted
}

// Lift returns the header and the footer in the form of format 1.
func Lift(h *Header, f *Footer) (*envelope.Header, *envelope.Footer, error) {
	header := &envelope.Header{Features: h.Features, Name: h.Name, Description: h.Description, Writer: h.Writer,
		Schema: *h.Schema.lift()}
	footer := &envelope.Footer{Features: f.Features, HeaderChecksum: uint64(f.HeaderChecksum),
		Extension: &envelope.Schema{}}
	if f.Extension != nil {
		footer.Extension = f.Extension.lift()
	}
	lift.Schema(&header.Schema, footer.Extension)
	lift.Signs(&header.Schema, footer.Extension)
	rest := f.Clusters
	for i, g := range f.ClusterGroups {
		fail := func(format string, args ...any) (*envelope.Header, *envelope.Footer, error) {
			return nil, nil, &frame.FormatError{Path: fmt.Sprintf("footer.cluster groups[%d]", i),
				Err: frame.Corrupt(format, args...)}
		}
		if uint64(g.NumClusters) > uint64(len(rest)) {
			return fail("%d clusters, %d are left", g.NumClusters, len(rest))
		}
		lifted := envelope.ClusterGroup{PageList: g.PageList.lift()}
		end := uint64(0)
		for j, c := range rest[:g.NumClusters] {
			if begins(rest, j) {
				lifted.NumClusters++
			}
			n, _ := c.entries()
			if n > math.MaxInt64 || c.FirstEntry > math.MaxInt64-n {
				return fail("a cluster has %d entries from %d on", n, c.FirstEntry)
			}
			if j == 0 {
				lifted.MinEntry = c.FirstEntry
			}
			lifted.MinEntry, end = min(lifted.MinEntry, c.FirstEntry), max(end, c.FirstEntry+n)
		}
		lifted.EntrySpan = end - lifted.MinEntry
		rest = rest[g.NumClusters:]
		footer.ClusterGroups = append(footer.ClusterGroups, lifted)
	}
	if len(rest) > 0 {
		return nil, nil, &frame.FormatError{Path: "footer.cluster summaries",
			Err: frame.Corrupt("%d of %d clusters are in no cluster group", len(rest), len(f.Clusters))}
	}
	return header, footer, nil
}

// begins reports whether cluster i is the first shard of a cluster. Format 1 has no
// sharded clusters: adjacent ones with the same entries become one.
func begins(clusters []Cluster, i int) bool {
	n, sharded := clusters[i].entries()
	if !sharded || i == 0 {
		return true
	}
	before, too := clusters[i-1].entries()
	return !too || before != n || clusters[i-1].FirstEntry != clusters[i].FirstEntry
}

// LiftPageList returns the page list of the cluster group with the given index in
// the form of format 1. columns is the number of columns in the schema.
//
// The shards of a cluster must together have all columns; others are refused.
func (f *Footer) LiftPageList(group int, p *PageList, columns int) (*envelope.PageList, error) {
	first := 0
	for _, g := range f.ClusterGroups[:group] {
		first += int(g.NumClusters)
	}
	clusters := f.Clusters[first:][:f.ClusterGroups[group].NumClusters]
	if len(p.Clusters) != len(clusters) {
		return nil, &frame.FormatError{Path: "page list.clusters",
			Err: frame.Corrupt("pages of %d clusters, expected %d", len(p.Clusters), len(clusters))}
	}
	lifted := &envelope.PageList{HeaderChecksum: uint64(f.HeaderChecksum)}
	var now shards
	for i, c := range clusters {
		fail := func(err error) (*envelope.PageList, error) {
			return nil, &frame.FormatError{Path: fmt.Sprintf("page list.clusters[%d]", i), Err: err}
		}
		n, sharded := c.entries()
		pages := p.Clusters[i].lift()
		if begins(clusters, i) {
			if now.missing > 0 {
				return fail(now.incomplete())
			}
			if sharded {
				now = shards{pages: make([]envelope.ColumnPages, columns), seen: make([]bool, columns), missing: columns}
			} else {
				now = shards{pages: pages}
			}
			lifted.Clusters = append(lifted.Clusters, envelope.Cluster{FirstEntry: c.FirstEntry, NumEntries: n})
			lifted.Pages = append(lifted.Pages, envelope.ClusterPages{Columns: now.pages})
		}
		if !sharded {
			continue
		}
		if uint64(c.ColumnGroup) >= uint64(len(f.ColumnGroups)) {
			return fail(frame.Corrupt("column group %d of %d", c.ColumnGroup, len(f.ColumnGroups)))
		}
		if err := now.add(f.ColumnGroups[c.ColumnGroup].Columns, pages); err != nil {
			return fail(err)
		}
	}
	if now.missing > 0 {
		return nil, &frame.FormatError{Path: "page list.clusters", Err: now.incomplete()}
	}
	return lifted, nil
}

// shards collects the pages of sharded clusters with the same entries.
type shards struct {
	pages   []envelope.ColumnPages // by column
	seen    []bool
	missing int // columns
}

// add adds a shard that holds the columns of the given IDs.
func (s *shards) add(ids []uint32, pages []envelope.ColumnPages) error {
	if len(ids) != len(pages) {
		return frame.Corrupt("pages of %d columns, its column group has %d", len(pages), len(ids))
	}
	for i, id := range ids {
		if uint64(id) >= uint64(len(s.pages)) || s.seen[id] {
			return frame.Corrupt("column %d is not there, or in another shard, too", id)
		}
		s.pages[id], s.seen[id] = pages[i], true
		s.missing--
	}
	return nil
}

func (s *shards) incomplete() error {
	return frame.Unsupported("pre-release format RC1 with clusters that are sharded into different ranges of entries: %d columns are missing in one", s.missing)
}

func (d *ClusterPages) lift() []envelope.ColumnPages {
	lifted := make([]envelope.ColumnPages, len(d.Columns))
	for i, p := range d.Columns {
		to := &lifted[i]
		to.ElementOffset, to.Compression = int64(p.ElementOffset), p.Compression
		for _, g := range p.Pages {
			to.Pages = append(to.Pages, envelope.Page{NumElements: g.Elements << 2 >> 2,
				HasCRC32: g.Elements>>pageFlags&1 != 0, Locator: g.Locator})
		}
	}
	return lifted
}
