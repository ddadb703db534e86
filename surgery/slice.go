package surgery

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A strand is a field of the output with all below it, and how it is filled:
// asked for some of its items it copies their elements, and has its children copy
// those that belong to them. Offsets and tags count anew from the start of the
// output's cluster.
type strand struct {
	out      *output
	field    *schema.Field // of the output
	from     port
	children []*strand

	// Of these the field's shape needs some, once its columns exist.
	open     bool
	flow     pagecopy.Flow
	offsets  *pagesource.Column[uint64]
	switches *pagesource.Column[column.Tagged]
}

func (w *wiring) strand(f *schema.Field) *strand {
	s := &strand{out: w.out, field: f, from: w.ports[f.ID]}
	for _, child := range f.Children {
		s.children = append(s.children, w.strand(child))
	}
	return s
}

// slice appends the entries from first to end, which lie in the given clusters.
func (w *wiring) slice(ctx context.Context, clusters []*pagesource.Cluster, first, end int64) error {
	o := w.out
	for i, c := range clusters {
		if c != w.last[i] {
			w.last[i] = c
			o.report.Levels[Rewrite].add(stored(c))
			o.report.Clusters++
			w.atOnce = 0
		}
	}
	if w.atOnce == 0 {
		w.atOnce = w.step(clusters)
	}
	for first < end {
		stop := w.reach(clusters, first, min(end, first+w.atOnce))
		if err := w.activate(clusters, first); err != nil {
			return err
		}
		for _, s := range w.strands {
			if err := s.prepare(); err != nil {
				return err
			}
		}
		for i, src := range w.sources {
			src.ahead.Advance(ctx, clusters[i], first, end)
		}
		for _, s := range w.strands {
			if s.from.field == nil {
				s.zeros(stop - first)
				continue
			}
			c := w.cluster(s.from.src, clusters)
			if err := s.copy(ctx, c, first-c.First, stop-first); err != nil {
				err = fmt.Errorf("%s: entries %d to %d: %w", s.from.src.name, first, stop, err)
				o.Sink.Fail(err)
				return err
			}
		}
		if err := o.Sink.EndEntries(stop - first); err != nil {
			return err
		}
		first = stop
	}
	return nil
}

// step returns how many entries are copied at a time: few enough that clusters of
// the output end near the size they should have.
func (w *wiring) step(clusters []*pagesource.Cluster) int64 {
	var bytes float64
	for i, c := range clusters {
		all := int64(0)
		for id, list := range c.Columns() {
			format := w.sources[i].Source.Schema.Columns[id].Format()
			for _, p := range list.Pages {
				all += format.PageSize(p.NumElements)
			}
		}
		bytes += float64(all) / float64(c.End-c.First)
	}
	want := float64(min(1<<20, w.out.Sink.Settings().ZippedCluster/64))
	return int64(max(1, min(1<<20, want/max(bytes, 1e-3))))
}

// reach has the columns exist that get more than zeros in the entries from first
// to end. It returns where the entries end that begin with the same columns.
func (w *wiring) reach(clusters []*pagesource.Cluster, first, end int64) int64 {
	o := w.out
	if o.reached == len(o.shape.Columns) {
		return end
	}
	exist := o.reached
	absent := map[schema.FieldID]bool{} // has only zeros so far, and so nothing below it
	for _, f := range o.fields() {
		p := w.ports[f.ID]
		principal := f.Columns[0][0]
		for above := f.Parent; above != nil; above = above.Parent {
			absent[f.ID] = absent[f.ID] || absent[above.ID]
		}
		if p.field == nil || int(principal.ID) < o.reached || absent[f.ID] {
			continue
		}
		cluster := w.cluster(p.src, clusters)
		part, err := cluster.Chunk(p.field, 0)
		if err != nil {
			continue // copy will meet it
		}
		if principal.PerEntry > 0 {
			begins := cluster.First + part.Zeros/principal.PerEntry
			if begins > first {
				absent[f.ID], end = true, min(end, begins)
				continue
			}
		} else if part.Elements == 0 {
			continue
		}
		for _, columns := range f.Columns {
			exist = max(exist, int(columns[len(columns)-1].ID)+1)
		}
	}
	o.reach(exist, func(c *schema.Column) int64 { return c.PerEntry * o.Sink.Entries() })
	return end
}

// activate has fields written in the representation that a source has them in, if
// the output has that, too. Those that lack it must not change within a cluster.
func (w *wiring) activate(clusters []*pagesource.Cluster, first int64) error {
	for _, s := range w.strands {
		if err := s.activate(w, clusters, first); err != nil {
			return err
		}
	}
	return nil
}

func (s *strand) activate(w *wiring, clusters []*pagesource.Cluster, first int64) error {
	if f := s.field; len(f.Columns) > 1 && s.exists() {
		r, err := s.wanted(w, clusters, first)
		if err != nil {
			return err
		}
		if now := s.out.active[f.ID]; r != now {
			if err := s.out.Sink.CommitCluster(); err != nil {
				return err
			}
			s.out.Sink.Activate(f, r)
			s.out.active[f.ID], s.open = r, false
		}
	}
	for _, child := range s.children {
		if err := child.activate(w, clusters, first); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the representation for the entries from first on.
func (s *strand) wanted(w *wiring, clusters []*pagesource.Cluster, first int64) (int, error) {
	if s.from.field == nil {
		return s.out.exactRepresentation(s.field, 0), nil
	}
	cluster := w.cluster(s.from.src, clusters)
	in := make([]*schema.Column, len(s.field.Columns[0]))
	zeros := false
	for i := range in {
		part, err := cluster.Chunk(s.from.field, i)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.from.src.name, err)
		}
		in[i] = part.Column
		zeros = zeros || part.Zeros > (first-cluster.First)*part.Column.PerEntry
	}
	r := (&match{}).representation(s.field, in)
	if int(s.field.Columns[r][0].ID) >= s.out.reached {
		r = 0
	}
	if zeros {
		r = s.out.exactRepresentation(s.field, r)
	}
	return r, nil
}

// columns returns the columns of the field that are written.
func (s *strand) columns() []*schema.Column { return s.field.Columns[s.out.active[s.field.ID]] }

// fill returns what fills the first of them.
func (s *strand) fill() *filler { return s.out.fill[s.columns()[0].ID] }

// exists reports whether the columns of the field do.
func (s *strand) exists() bool {
	return len(s.field.Columns) == 0 || int(s.field.Columns[0][0].ID) < s.out.reached
}

// prepare makes what fills the columns of the strand and of those below it.
func (s *strand) prepare() error {
	if !s.exists() {
		return nil
	}
	if !s.open {
		s.open = true
		if err := s.connect(); err != nil {
			return err
		}
	}
	for _, child := range s.children {
		if err := child.prepare(); err != nil {
			return err
		}
	}
	return nil
}

// connect connects the columns of the field with those it is copied from.
func (s *strand) connect() error {
	f, from := s.field, s.from
	if len(f.Columns) == 0 {
		return nil
	}
	columns := s.columns()
	fillers := make([]*filler, len(columns))
	for i, c := range columns {
		var err error
		if fillers[i], err = s.out.filler(c); err != nil {
			return err
		}
	}
	if from.field == nil {
		return nil
	}
	var err error
	switch f.Shape {
	case schema.Variant:
		s.switches, err = pagesource.NewColumn[column.Tagged](from.src.ahead, from.field, 0)
	case schema.Scalar, schema.Bitset:
		s.flow, err = fillers[0].elements.From(from.src.ahead, from.field, 0)
	default:
		if s.offsets, err = pagesource.NewColumn[uint64](from.src.ahead, from.field, 0); err == nil && len(columns) > 1 {
			s.flow, err = fillers[1].elements.From(from.src.ahead, from.field, 1)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", from.src.name, err)
	}
	return err
}

// filler returns what fills a column.
func (o *output) filler(c *schema.Column) (f *filler, err error) {
	for len(o.fill) <= int(c.ID) {
		o.fill = append(o.fill, &filler{})
	}
	f = o.fill[c.ID]
	switch {
	case f.elements != nil || f.offsets != nil || f.tags != nil:
	case c.Type.IsIndex():
		f.offsets, err = pagecopy.NewOffsets(o.Sink, c)
	case c.Type == column.Switch:
		f.tags, err = pagecopy.NewTags(o.Sink, c, len(c.Owner.Children))
	default:
		f.elements, err = pagecopy.NewElements(o.Sink, c)
	}
	return f, err
}

// copy appends n items, from first on, counted in the cluster.
func (s *strand) copy(ctx context.Context, c *pagesource.Cluster, first, n int64) error {
	if n == 0 || !s.exists() {
		return nil
	}
	f := s.field
	below := func(first, n int64) error {
		for _, child := range s.children {
			if err := child.copy(ctx, c, first, n); err != nil {
				return err
			}
		}
		return nil
	}
	switch f.Shape {
	case schema.Scalar:
		if s.from.numbers != nil {
			first += c.First
			s.fill().elements.Add(s.from.numbers[first : first+n])
			return nil
		}
		return s.flow.Copy(ctx, c, first, n, s.from.shift)
	case schema.Bitset:
		size := int64(f.ArraySize)
		return s.flow.Copy(ctx, c, first*size, n*size, 0)
	case schema.Array:
		size := int64(f.ArraySize)
		return below(first*size, n*size)
	case schema.Wrapper, schema.Record:
		return below(first, n)
	case schema.Variant:
		return s.copyVariants(ctx, c, first, n)
	}
	begin, end, err := s.fill().offsets.Copy(ctx, s.offsets, c, first, n)
	if err != nil || begin == end {
		return err
	}
	if s.flow != nil {
		return s.flow.Copy(ctx, c, begin, end-begin, 0)
	}
	return below(begin, end-begin)
}

func (s *strand) copyVariants(ctx context.Context, c *pagesource.Cluster, first, n int64) error {
	for n > 0 {
		copied, begin, end, err := s.fill().tags.Copy(ctx, s.switches, c, first, n)
		if err != nil {
			return err
		}
		for i, child := range s.children {
			if err := child.copy(ctx, c, begin[i], end[i]-begin[i]); err != nil {
				return err
			}
		}
		first, n = first+copied, n-copied
	}
	return nil
}

// zeros appends n items that are zero.
func (s *strand) zeros(n int64) {
	if !s.exists() {
		return
	}
	f := s.field
	switch f.Shape {
	case schema.Scalar, schema.Bitset:
		s.fill().elements.Zeros(n * int64(max(1, f.ArraySize)))
	case schema.Array:
		for _, child := range s.children {
			child.zeros(n * int64(f.ArraySize))
		}
	case schema.Wrapper, schema.Record:
		for _, child := range s.children {
			child.zeros(n)
		}
	case schema.Variant:
		s.fill().tags.Empty(n)
	default:
		s.fill().offsets.Empty(n)
	}
}
