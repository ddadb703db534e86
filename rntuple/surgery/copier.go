package surgery

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
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

// copyElements appends the entries in spans, which lie in the given clusters, one of each
// source.
func (m *mapping) copyElements(ctx context.Context, clusters []*pagesource.Cluster, spans []columnar.Span) error {
	o := m.out
	m.repage = m.rewrites(clusters)
	for i, c := range clusters {
		if c != m.last[i] {
			m.last[i] = c
			o.report.Levels[Rewrite].add(stored(c))
			o.report.Clusters++
			m.atOnce = 0
		}
	}
	if m.atOnce == 0 {
		m.atOnce = m.step(clusters)
	}
	for len(spans) > 0 {
		first, end := spans[0].First, spans[len(spans)-1].First+spans[len(spans)-1].N
		some, rest, n := cut(spans, end, m.atOnce)
		last := some[len(some)-1]
		end, err := m.reach(ctx, clusters, first, last.First+last.N)
		if err != nil {
			return err
		}
		if end < last.First+last.N {
			some, rest, n = cut(spans, end, n)
		}
		if err := m.prepare(ctx, clusters, first); err != nil {
			return err
		}
		m.fetch(ctx, clusters, spans)
		last = some[len(some)-1]
		if src, err := m.copySome(ctx, clusters, some, n, len(rest) > 0); err != nil {
			return src.failIn(fmt.Sprintf("entries %d to %d", first, last.First+last.N), err)
		}
		if err := m.define(n); err != nil {
			return err
		}
		if o.Sink.Full() {
			if err := m.release(ctx); err != nil {
				return err
			}
		}
		if err := o.Sink.EndEntries(n); err != nil {
			return err
		}
		m.progress(last.First + last.N)
		spans = rest
	}
	return m.release(ctx)
}

// release appends the elements that wait for the others of their pages.
func (m *mapping) release(ctx context.Context) error {
	for _, c := range m.all {
		if c.flow == nil {
			continue
		}
		if err := c.flow.Release(ctx); err != nil {
			return c.from.src.fail(err)
		}
	}
	return nil
}

// cut returns the first of spans, as far as they are before end and have at most the given
// number of entries, the rest of them, and the number of entries.
func cut(spans []columnar.Span, end, most int64) (some, rest []columnar.Span, n int64) {
	for i, s := range spans {
		k := min(s.N, end-s.First, most-n)
		if k > 0 {
			n += k
			some = append(some, columnar.Span{First: s.First, N: k})
		}
		if k < s.N {
			rest = append(rest, columnar.Span{First: s.First + max(0, k), N: s.N - max(0, k)})
			return some, append(rest, spans[i+1:]...), n
		}
	}
	return some, nil, n
}

// copySome appends the entries in spans, of which there are n. All columns exist that they
// need. If more is set, entries that follow in the clusters will be copied next. An error comes
// with the source that it is about.
func (m *mapping) copySome(ctx context.Context, clusters []*pagesource.Cluster, spans []columnar.Span, n int64,
	more bool) (*source, error) {
	m.flows = m.flows[:0]
	clear(m.sizes)
	inCluster := map[*pagesource.Cluster][]columnar.Span{}
	for _, c := range m.copiers {
		if c.from.field == nil {
			c.zeros(n)
			continue
		}
		cluster := m.cluster(c.from.src, clusters)
		if inCluster[cluster] == nil {
			for _, s := range spans {
				s.First -= cluster.First
				inCluster[cluster] = append(inCluster[cluster], s)
			}
		}
		if err := c.copy(ctx, m, cluster, inCluster[cluster]); err != nil {
			return c.from.src, err
		}
	}
	// Sources decode in several goroutines; the sink takes elements in one.
	errs := make([]error, flowsAtOnce)
	for flows := range slices.Chunk(m.flows, flowsAtOnce) {
		parallel.Do(flows[0].from.Source.Workers, len(flows), func(i int) error {
			f := flows[i]
			errs[i] = f.flow.Read(ctx, f.cluster, f.spans, more)
			return errs[i]
		})
		for i, f := range flows {
			if errs[i] == nil {
				errs[i] = f.flow.Append(ctx, f.shift)
			}
			if errs[i] != nil {
				return f.from, errs[i]
			}
		}
	}
	return nil, nil
}

// flowsAtOnce is the number of columns whose elements are in memory at the same time.
const flowsAtOnce = 8

// A flowing is a flow with what it copies.
type flowing struct {
	flow    pagecopy.Flow
	from    *source
	cluster *pagesource.Cluster
	spans   []columnar.Span
	shift   uint64
}

// collections are some whose offsets have been copied, from the given column and spans.
type collections struct {
	*pagecopy.Copied
	offsets *pagesource.Column[uint64]
	spans   []columnar.Span
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
	want := float64(min(8<<20, m.out.Sink.Settings().ZippedCluster/32))
	return int64(max(1, min(1<<20, want/max(bytes, 1e-3))))
}

// reach creates the columns that get more than zeros in the entries from first to
// end. It returns where the entries end that need no more columns.
func (m *mapping) reach(ctx context.Context, clusters []*pagesource.Cluster, first, end int64) (int64, error) {
	o := m.out
	if o.reached == len(o.shape.Columns) {
		return end, nil
	}
	exist, further := o.reached, 0
	absent := map[schema.FieldID]bool{} // fields that have only zeros so far, and all below them
	for _, f := range o.storedFields() {
		from := m.origins[f.ID]
		principal := f.Columns[0][0]
		for above := f.Parent; above != nil; above = above.Parent {
			absent[f.ID] = absent[f.ID] || absent[above.ID]
		}
		if from.field == nil || absent[f.ID] {
			continue
		}
		cluster := m.cluster(from.src, clusters)
		if int(principal.ID) < o.reached {
			further = max(further, from.further(f, cluster))
			continue
		}
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
	if further > o.reached { // a representation that will be active from the next cluster on
		if err := m.commitCluster(ctx); err != nil {
			return 0, err
		}
	}
	o.reach(max(exist, further), func(c *schema.Column) int64 { return c.PerEntry * o.Sink.Entries() })
	return end, nil
}

// further returns how many columns the output needs for the representation of f that the source
// has in a cluster. The first representation exists.
func (from origin) further(f *schema.Field, c *pagesource.Cluster) int {
	chunks, _ := from.chunks(c) // copying will find the error, too
	columns := f.Columns[representation(f, columnsIn(chunks))]
	return int(columns[len(columns)-1].ID) + 1
}

// commitCluster ends the cluster that is being filled.
func (m *mapping) commitCluster(ctx context.Context) error {
	if err := m.release(ctx); err != nil {
		return err
	}
	return m.out.Sink.CommitCluster()
}

// prepare makes the copiers ready for the entries from first on.
func (m *mapping) prepare(ctx context.Context, clusters []*pagesource.Cluster, first int64) error {
	for _, c := range m.all {
		if err := c.activate(ctx, m, clusters, first); err != nil {
			return err
		}
	}
	for _, c := range m.all {
		if c.open || !c.exists() {
			continue
		}
		c.open = true
		if err := c.connect(m); err != nil {
			return err
		}
	}
	return nil
}

// activate chooses the representation that a field is written in: the one that the
// source has it in, if the output has that, too. It must not change within a cluster.
func (c *copier) activate(ctx context.Context, m *mapping, clusters []*pagesource.Cluster, first int64) error {
	f := c.field
	if len(f.Columns) < 2 || !c.exists() {
		return nil
	}
	r, err := c.wanted(m, clusters, first)
	if err != nil || r == c.out.active[f.ID] {
		return err
	}
	if err := m.commitCluster(ctx); err != nil {
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
	zeros := false
	for _, one := range chunks {
		zeros = zeros || one.Zeros > (first-cluster.First)*one.Column.PerEntry
	}
	r := representation(c.field, columnsIn(chunks))
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
func (c *copier) connect(m *mapping) error {
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
		c.flow, err = fillers[0].elements.From(from.src.ahead, from.field, 0, c.whole(m, columns[0], 0))
	default:
		if c.offsets, err = pagesource.NewColumn[uint64](from.src.ahead, from.field, 0); err == nil && len(columns) > 1 {
			c.flow, err = fillers[1].elements.From(from.src.ahead, from.field, 1, c.whole(m, columns[1], 1))
		}
	}
	return from.src.fail(err)
}

// whole returns which pages of the field's index-th column can become pages of a column of the
// output as they are stored.
func (c *copier) whole(m *mapping, to *schema.Column, index int) pagecopy.Whole {
	o := c.out
	return pagecopy.Whole{
		Pages: func(cluster *pagesource.Cluster) (*pagecopy.Chunk, error) {
			if m.repage {
				return nil, nil
			}
			chunks, err := c.from.chunks(cluster)
			if err != nil || o.level(to, chunks[index]) > Copy {
				return nil, err
			}
			return chunks[index], nil
		},
		Copied: func(size int64) {
			o.report.Levels[Rewrite].add(-1, -size)
			o.report.Levels[Copy].add(1, size)
		},
	}
}

// copy appends the items in spans, counted in the cluster. Elements are left to the flows
// that it adds to those of m.
func (c *copier) copy(ctx context.Context, m *mapping, cluster *pagesource.Cluster, spans []columnar.Span) error {
	if len(spans) == 0 || !c.exists() {
		return nil
	}
	f := c.field
	below := func(spans []columnar.Span) error {
		for _, child := range c.children {
			if err := child.copy(ctx, m, cluster, spans); err != nil {
				return err
			}
		}
		return nil
	}
	flow := func(spans []columnar.Span, shift uint64) error {
		m.flows = append(m.flows, flowing{c.flow, c.from.src, cluster, spans, shift})
		return nil
	}
	switch f.Shape {
	case schema.Scalar:
		if c.from.numbers != nil {
			for _, s := range spans {
				first := cluster.First + s.First
				c.filler().elements.Add(c.from.numbers[first : first+s.N])
			}
			return nil
		}
		return flow(spans, c.from.shift)
	case schema.Bitset:
		return flow(scale(spans, int64(f.ArraySize)), 0)
	case schema.Array:
		return below(scale(spans, int64(f.ArraySize)))
	case schema.Wrapper, schema.Record:
		return below(spans)
	case schema.Variant:
		return c.copyVariants(ctx, m, cluster, spans)
	}
	items, err := c.copyOffsets(ctx, m, cluster, spans)
	if err != nil || len(items) == 0 {
		return err
	}
	if c.flow != nil {
		return flow(items, 0)
	}
	return below(items)
}

// scale returns spans of items, n of which belong to each item in spans.
func scale(spans []columnar.Span, n int64) []columnar.Span {
	all := make([]columnar.Span, 0, len(spans))
	for _, s := range spans {
		if n > 0 {
			all = append(all, columnar.Span{First: s.First * n, N: s.N * n})
		}
	}
	return all
}

// copyOffsets appends collections and returns where their items are. Collections of the same
// sizes often have the same pages of offsets, which are then read only once.
func (c *copier) copyOffsets(ctx context.Context, m *mapping, cluster *pagesource.Cluster,
	spans []columnar.Span) ([]columnar.Span, error) {
	page, ok, err := c.offsets.FirstPage(cluster)
	if err != nil {
		return nil, err
	}
	known := m.sizes[page]
	if ok && known.offsets != nil && len(known.spans) == len(spans) && &known.spans[0] == &spans[0] &&
		known.offsets.SamePages(c.offsets, cluster) && c.filler().offsets.Repeat(known.Copied) {
		return known.Items, nil
	}
	copied, err := c.filler().offsets.Copy(ctx, c.offsets, cluster, spans)
	if err != nil {
		return nil, err
	}
	if ok {
		m.sizes[page] = collections{copied, c.offsets, spans}
	}
	return copied.Items, nil
}

func (c *copier) copyVariants(ctx context.Context, m *mapping, cluster *pagesource.Cluster,
	spans []columnar.Span) error {
	items := make([][]columnar.Span, len(c.children))
	for _, s := range spans {
		for first, n := s.First, s.N; n > 0; {
			copied, begin, end, err := c.filler().tags.Copy(ctx, c.switches, cluster, first, n)
			if err != nil {
				return err
			}
			for i := range c.children {
				if begin[i] < end[i] {
					items[i] = append(items[i], columnar.Span{First: begin[i], N: end[i] - begin[i]})
				}
			}
			first, n = first+copied, n-copied
		}
	}
	for i, child := range c.children {
		if err := child.copy(ctx, m, cluster, items[i]); err != nil {
			return err
		}
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
