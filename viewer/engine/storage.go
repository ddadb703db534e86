package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/show/storagemap"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Storage is the answer to storage without a cluster.
type Storage struct {
	Map   *Node `json:"map"`
	Strip Strip `json:"strip"`
}

// A Node is a field with all below it, or a column.
type Node struct {
	Label      string `json:"label"`
	Path       string `json:"path"`                 // of the field; empty for the root and for metadata
	ColumnType string `json:"columnType,omitempty"` // of a column
	Sizes
	Kids []*Node `json:"kids"`
}

// A Strip says where in the file things are.
type Strip struct {
	Size     Int        `json:"size"` // of the file
	Clusters []Cluster  `json:"clusters"`
	Columns  []Runs     `json:"columns"`
	Others   []Envelope `json:"others"`
	// Truncated says that there were too many runs: some lie so close to each other that they are
	// one, with the gap between them and the cluster of the larger one.
	Truncated bool `json:"truncated,omitempty"`
}

// A Cluster is a range of entries, and where its pages lie: from the first to the last.
type Cluster struct {
	First   Int `json:"first"`
	Entries Int `json:"entries"`
	Offset  Int `json:"offset"`
	Length  Int `json:"length"`
}

// Runs are where the pages of a column lie, with their checksums.
type Runs struct {
	Path string   `json:"path"` // of the field, with the column's number in it if it has several: "field [1]"
	Type string   `json:"type"`
	Runs [][3]Int `json:"runs"` // offset, length, cluster
}

// An Envelope is a part of the metadata.
type Envelope struct {
	Offset Int    `json:"offset"`
	Length Int    `json:"length"`
	What   string `json:"what"`
}

// maxRuns is about the number of runs in an answer.
const maxRuns = 20_000

// storage says where the bytes of {ntuple} are, or of {ntuple, cluster} each page.
func (f *file) storage(c *call) (Answer, error) {
	var p struct {
		NTuple  string
		Cluster *int
	}
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	r, err := f.reader(p.NTuple)
	if err != nil {
		return Answer{}, err
	}
	r = r.WithContext(c.ctx)
	if p.Cluster != nil {
		return clusterOf(c.ctx, r, f.pathOf(p.NTuple), *p.Cluster)
	}
	i, err := r.Inspect(func(done, total int) { c.report(int64(done), int64(total), "page lists") })
	if err != nil {
		return Answer{}, err
	}
	columns, err := storagemap.Extents(c.ctx, r)
	if err != nil {
		return Answer{}, err
	}
	ranges, err := r.Clusters()
	if err != nil {
		return Answer{}, err
	}
	s := &Storage{Map: mapOf(i, r.Schema()),
		Strip: Strip{Size: Int(f.r.Len()), Clusters: []Cluster{}, Columns: []Runs{}, Others: []Envelope{}}}
	places := make([]storagemap.Extent, len(ranges))
	for id, extents := range columns {
		for _, e := range extents {
			at := &places[e.Cluster]
			switch {
			case e.Off == e.End: // not in the file
				continue
			case at.End == 0:
				*at = e
			}
			at.Off, at.End = min(at.Off, e.Off), max(at.End, e.End)
		}
		columns[id] = storagemap.Union(extents)
	}
	for n, entries := range ranges {
		s.Strip.Clusters = append(s.Strip.Clusters,
			Cluster{Int(entries.First), Int(entries.Len()), Int(places[n].Off), Int(places[n].End - places[n].Off)})
	}
	s.Strip.runs(r.Schema(), columns)
	for n, e := range storagemap.Envelopes(r) {
		what := fmt.Sprintf("page list %d", n-2)
		if n < 2 {
			what = [...]string{"header", "footer"}[n]
		}
		if e.End > e.Off {
			s.Strip.Others = append(s.Strip.Others, Envelope{Int(e.Off), Int(e.End - e.Off), what})
		}
	}
	return Answer{JSON: s}, nil
}

// runs adds the runs of columns, coarser ones if there are too many.
func (s *Strip) runs(of *schema.Schema, columns [][]storagemap.Extent) {
	joined := make([][]storagemap.Extent, len(columns))
	for within := int64(0); ; within = max(64, 2*within) {
		n := 0
		for id, extents := range columns {
			joined[id] = join(extents, within)
			n += len(joined[id])
		}
		if s.Truncated = within > 0; n <= max(maxRuns, len(columns)) || within > int64(s.Size) {
			break
		}
	}
	for id, c := range of.Columns {
		to := Runs{Path: columnPath(c), Type: c.Format().String(), Runs: [][3]Int{}}
		for _, e := range joined[id] {
			to.Runs = append(to.Runs, [3]Int{Int(e.Off), Int(e.End - e.Off), Int(e.Cluster)})
		}
		s.Columns = append(s.Columns, to)
	}
}

// join joins extents, which are in order, that touch and belong to the same cluster, and those that
// lie within a number of bytes.
func join(extents []storagemap.Extent, within int64) (all []storagemap.Extent) {
	largest := int64(0)
	for _, e := range extents {
		if n := len(all); n > 0 {
			last := &all[n-1]
			if last.End == e.Off && last.Cluster == e.Cluster || e.End-last.Off <= within {
				if e.End-e.Off > largest {
					largest, last.Cluster = e.End-e.Off, e.Cluster
				}
				last.End = e.End
				continue
			}
		}
		largest = e.End - e.Off
		all = append(all, e)
	}
	return all
}

// columnPath returns the path of the field of a column, with its number if the field has several
// columns.
func columnPath(c *schema.Column) string {
	n, at := 0, 0
	for _, representation := range c.Owner.Columns {
		for _, other := range representation {
			if other == c {
				at = n
			}
			n++
		}
	}
	if n == 1 {
		return c.Owner.Path()
	}
	return fmt.Sprintf("%s [%d]", c.Owner.Path(), at)
}

// mapOf returns the tree of the sizes of everything that belongs to an RNTuple. What several
// columns share belongs to the first.
func mapOf(i *rntuple.Inspection, s *schema.Schema) *Node {
	root := &Node{Label: s.Name, Kids: []*Node{}}
	for _, f := range s.TopLevel() {
		root.Kids = append(root.Kids, nodeOf(i, f))
	}
	meta := &Node{Label: "metadata", Kids: []*Node{}}
	for _, part := range []struct {
		label string
		size  rntuple.EnvelopeSize
	}{
		{"header", i.Header}, {"footer", i.Footer}, {"page lists", i.PageLists},
		{"checksums", rntuple.EnvelopeSize{Disk: uint64(i.Total.ChecksumDisk), Length: uint64(i.Total.ChecksumDisk)}},
	} {
		meta.Kids = append(meta.Kids, &Node{Label: part.label, Sizes: Sizes{Int(part.size.Disk), Int(part.size.Length)},
			Kids: []*Node{}})
	}
	root.Kids = append(root.Kids, meta)
	root.sum()
	return root
}

// nodeOf returns the node of a field. One that has a single column and nothing else is the column.
func nodeOf(i *rntuple.Inspection, f *schema.Field) *Node {
	n := &Node{Label: f.Name, Path: f.Path(), Kids: []*Node{}}
	if f.Source == nil {
		for _, representation := range f.Columns {
			for _, c := range representation {
				n.Kids = append(n.Kids, &Node{Label: columnPath(c), Path: f.Path(), ColumnType: c.Format().String(),
					Sizes: sizesOf(i.Columns[c.ID].Storage), Kids: []*Node{}})
			}
		}
	}
	if len(f.Children) == 0 && len(n.Kids) == 1 {
		n.Kids[0].Label = f.Name
		return n.Kids[0]
	}
	for _, child := range f.Children {
		n.Kids = append(n.Kids, nodeOf(i, child))
	}
	return n
}

// sum sets the sizes of nodes with kids, and returns those of n.
func (n *Node) sum() Sizes {
	for _, k := range n.Kids {
		s := k.sum()
		n.Compressed += s.Compressed
		n.Uncompressed += s.Uncompressed
	}
	return n.Sizes
}

// ClusterPages is the answer to storage of a cluster.
type ClusterPages struct {
	Columns []ColumnPages `json:"columns"`
}

// ColumnPages are the pages of a column in a cluster.
type ColumnPages struct {
	Path  string `json:"path"`
	Type  string `json:"type"`
	Pages []Page `json:"pages"`
}

// A Page is one page: its number within column and cluster is its place in the list.
type Page struct {
	Offset       Int    `json:"offset"`
	Length       Int    `json:"length"` // without the checksum
	Elements     Int    `json:"elements"`
	Uncompressed Int    `json:"uncompressed"`
	Checksum     bool   `json:"checksum"`
	ID           string `json:"id"` // for record
}

func clusterOf(ctx context.Context, r *rntuple.Reader, path string, number int) (Answer, error) {
	clusters, err := r.StoredClusters(ctx)
	if err != nil {
		return Answer{}, err
	}
	if number < 0 || number >= len(clusters) {
		return Answer{}, invalid("there is no cluster %d: there are %d", number, len(clusters))
	}
	a := ClusterPages{Columns: []ColumnPages{}}
	stored := clusters[number].Columns()
	columns := slices.Clone(r.Schema().Columns)
	slices.SortStableFunc(columns, func(a, b *schema.Column) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range columns {
		to := ColumnPages{Path: columnPath(c), Type: c.Format().String(), Pages: []Page{}}
		if int(c.ID) < len(stored) {
			for n, p := range stored[c.ID].Pages {
				if p.Locator.InFile() == nil {
					to.Pages = append(to.Pages, Page{
						Int(p.Locator.Offset), Int(p.Locator.Size), Int(p.NumElements),
						Int(c.Format().PageSize(p.NumElements)), p.HasChecksum,
						recordID{NTuple: path, Part: "page", Page: [3]int{int(c.ID), number, n}}.String(),
					})
				}
			}
		}
		a.Columns = append(a.Columns, to)
	}
	return Answer{JSON: a}, nil
}
