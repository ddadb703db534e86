package splice

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A copier copies elements to the columns of a field of the output and of those below
// it: given some of its items, it copies their elements, and its children copy those
// that belong to them. Offsets and tags count from the start of the output's cluster.
type copier struct {
	out      *output
	field    *schema.Field // of the output
	from     origin
	children []*copier

	open bool // connected: those of the following that the field's shape needs are set

	flow     pagecopy.Flow
	offsets  *pagesource.Column[uint64]
	switches *pagesource.Column[column.Tagged]
}

func (m *mapping) copier(f *schema.Field) *copier {
	c := &copier{out: m.out, field: f, from: m.origins[f.ID]}
	m.all = append(m.all, c)
	for _, child := range f.Children {
		c.children = append(c.children, m.copier(child))
	}
	return c
}

// copyElements appends the entries of a range, which lie in the given clusters, one
// of each source.
func (m *mapping) copyElements(ctx context.Context, clusters []*pagesource.Cluster, r Range) error {
	o := m.out
	for i, c := range clusters {
		if c != m.last[i] {
			m.last[i] = c
			o.report.Levels[pagecopy.Rewrite].Add(stored(c))
			o.report.Clusters++
			m.atOnce = 0
		}
	}
	if m.atOnce == 0 {
		m.atOnce = m.step(clusters)
	}
	for r.First < r.End {
		end := m.reach(clusters, r.First, min(r.End, r.First+m.atOnce))
		if err := m.prepare(clusters, r.First); err != nil {
			return err
		}
		for i, src := range m.sources {
			src.ahead.Advance(ctx, clusters[i], r.First, r.End)
		}
		for _, c := range m.copiers {
			if c.from.field == nil {
				c.zeros(end - r.First)
				continue
			}
			cluster := m.cluster(c.from.src, clusters)
			if err := c.copy(ctx, cluster, r.First-cluster.First, end-r.First); err != nil {
				return fmt.Errorf("%s: entries %d to %d: %w", c.from.src.name, r.First, end, err)
			}
		}
		if err := o.Sink.EndEntries(end - r.First); err != nil {
			return err
		}
		m.progress(end)
		r.First = end
	}
	return nil
}

// step returns how many entries are copied at a time: few enough that clusters of the
// output end near the size they should have.
func (m *mapping) step(clusters []*pagesource.Cluster) int64 {
	var bytes float64
	for i, c := range clusters {
		all := int64(0)
		for id, list := range c.Columns() {
			format := m.sources[i].Source.Schema.Columns[id].Format()
			for _, p := range list.Pages {
				all += format.PageSize(p.NumElements)
			}
		}
		bytes += float64(all) / float64(c.End-c.First)
	}
	want := float64(min(1<<20, m.out.Sink.Settings().ZippedCluster/64))
	return int64(max(1, min(1<<20, want/max(bytes, 1e-3))))
}

// reach creates the columns that get more than zeros in the entries from first to
// end. It returns where the entries end that need no more columns.
func (m *mapping) reach(clusters []*pagesource.Cluster, first, end int64) int64 {
	o := m.out
	if o.reached == len(o.shape.Columns) {
		return end
	}
	exist := o.reached
	absent := map[schema.FieldID]bool{} // fields that have only zeros so far, and all below them
	for _, f := range o.storedFields() {
		from := m.origins[f.ID]
		principal := f.Columns[0][0]
		for above := f.Parent; above != nil; above = above.Parent {
			absent[f.ID] = absent[f.ID] || absent[above.ID]
		}
		if from.field == nil || int(principal.ID) < o.reached || absent[f.ID] {
			continue
		}
		cluster := m.cluster(from.src, clusters)
		chunk, err := cluster.Chunk(from.field, 0)
		if err != nil {
			continue // copying will find it, too
		}
		if principal.PerEntry > 0 {
			begins := cluster.First + chunk.Zeros/principal.PerEntry
			if begins > first {
				absent[f.ID], end = true, min(end, begins)
				continue
			}
		} else if chunk.Elements == 0 {
			continue
		}
		for _, columns := range f.Columns {
			exist = max(exist, int(columns[len(columns)-1].ID)+1)
		}
	}
	o.reach(exist, func(c *schema.Column) int64 { return c.PerEntry * o.Sink.Entries() })
	return end
}

// prepare makes the copiers ready for the entries from first on.
func (m *mapping) prepare(clusters []*pagesource.Cluster, first int64) error {
	for _, c := range m.all {
		if err := c.activate(m, clusters, first); err != nil {
			return err
		}
	}
	for _, c := range m.all {
		if c.open || !c.exists() {
			continue
		}
		c.open = true
		if err := c.connect(); err != nil {
			return err
		}
	}
	return nil
}

// activate chooses the representation that a field is written in: the one that the
// source has it in, if the output has that, too. It must not change within a cluster.
func (c *copier) activate(m *mapping, clusters []*pagesource.Cluster, first int64) error {
	f := c.field
	if len(f.Columns) < 2 || !c.exists() {
		return nil
	}
	r, err := c.wanted(m, clusters, first)
	if err != nil || r == c.out.active[f.ID] {
		return err
	}
	if err := c.out.Sink.CommitCluster(); err != nil {
		return err
	}
	c.out.Sink.Activate(f, r)
	c.out.active[f.ID], c.open = r, false
	return nil
}

// wanted returns the representation for the entries from first on.
func (c *copier) wanted(m *mapping, clusters []*pagesource.Cluster, first int64) (int, error) {
	if c.from.field == nil {
		return c.out.exactRepresentation(c.field, 0), nil
	}
	cluster := m.cluster(c.from.src, clusters)
	chunks, err := c.from.chunks(cluster)
	if err != nil {
		return 0, err
	}
	in := make([]*schema.Column, len(chunks))
	zeros := false
	for i, one := range chunks {
		in[i] = one.Column
		zeros = zeros || one.Zeros > (first-cluster.First)*one.Column.PerEntry
	}
	r := representation(c.field, in)
	if int(c.field.Columns[r][0].ID) >= c.out.reached {
		r = 0
	}
	if zeros {
		r = c.out.exactRepresentation(c.field, r)
	}
	return r, nil
}

// columns returns the columns of the field that are written.
func (c *copier) columns() []*schema.Column { return c.field.Columns[c.out.active[c.field.ID]] }

// filler returns what fills the first of them.
func (c *copier) filler() *filler { return c.out.fillers[c.columns()[0].ID] }

// exists reports whether the columns of the field exist.
func (c *copier) exists() bool {
	return len(c.field.Columns) == 0 || int(c.field.Columns[0][0].ID) < c.out.reached
}

// connect connects the columns of the field with those it is copied from.
func (c *copier) connect() error {
	f, from := c.field, c.from
	if len(f.Columns) == 0 {
		return nil
	}
	columns := c.columns()
	fillers := make([]*filler, len(columns))
	for i, col := range columns {
		var err error
		if fillers[i], err = c.out.filler(col); err != nil {
			return err
		}
	}
	if from.field == nil {
		return nil
	}
	var err error
	switch f.Shape {
	case schema.Variant:
		c.switches, err = pagesource.NewColumn[column.Tagged](from.src.ahead, from.field, 0)
	case schema.Scalar, schema.Bitset:
		c.flow, err = fillers[0].elements.From(from.src.ahead, from.field, 0)
	default:
		if c.offsets, err = pagesource.NewColumn[uint64](from.src.ahead, from.field, 0); err == nil && len(columns) > 1 {
			c.flow, err = fillers[1].elements.From(from.src.ahead, from.field, 1)
		}
	}
	return from.src.fail(err)
}

// copy appends n items, from first on, counted in the cluster.
func (c *copier) copy(ctx context.Context, cluster *pagesource.Cluster, first, n int64) error {
	if n == 0 || !c.exists() {
		return nil
	}
	f := c.field
	below := func(first, n int64) error {
		for _, child := range c.children {
			if err := child.copy(ctx, cluster, first, n); err != nil {
				return err
			}
		}
		return nil
	}
	switch f.Shape {
	case schema.Scalar:
		if c.from.numbers != nil {
			first += cluster.First
			c.filler().elements.Add(c.from.numbers[first : first+n])
			return nil
		}
		return c.flow.Copy(ctx, cluster, first, n, c.from.shift)
	case schema.Bitset:
		size := int64(f.ArraySize)
		return c.flow.Copy(ctx, cluster, first*size, n*size, 0)
	case schema.Array:
		size := int64(f.ArraySize)
		return below(first*size, n*size)
	case schema.Wrapper, schema.Record:
		return below(first, n)
	case schema.Variant:
		return c.copyVariants(ctx, cluster, first, n)
	}
	begin, end, err := c.filler().offsets.Copy(ctx, c.offsets, cluster, first, n)
	if err != nil || begin == end {
		return err
	}
	if c.flow != nil {
		return c.flow.Copy(ctx, cluster, begin, end-begin, 0)
	}
	return below(begin, end-begin)
}

func (c *copier) copyVariants(ctx context.Context, cluster *pagesource.Cluster, first, n int64) error {
	for n > 0 {
		copied, begin, end, err := c.filler().tags.Copy(ctx, c.switches, cluster, first, n)
		if err != nil {
			return err
		}
		for i, child := range c.children {
			if err := child.copy(ctx, cluster, begin[i], end[i]-begin[i]); err != nil {
				return err
			}
		}
		first, n = first+copied, n-copied
	}
	return nil
}

// zeros appends n items that are zero.
func (c *copier) zeros(n int64) {
	if !c.exists() {
		return
	}
	f := c.field
	switch f.Shape {
	case schema.Scalar, schema.Bitset:
		c.filler().elements.Zeros(n * int64(max(1, f.ArraySize)))
	case schema.Array:
		for _, child := range c.children {
			child.zeros(n * int64(f.ArraySize))
		}
	case schema.Wrapper, schema.Record:
		for _, child := range c.children {
			child.zeros(n)
		}
	case schema.Variant:
		c.filler().tags.Empty(n)
	default:
		c.filler().offsets.Empty(n)
	}
}
