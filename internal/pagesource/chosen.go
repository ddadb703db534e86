package pagesource

import (
	"context"
	"math"
	"sort"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Chosen says which entries are wanted of those that are read in order. It is used by
// several goroutines.
type Chosen interface {
	// Next returns the first wanted entry from the given one on; it is not ok if there is
	// none.
	Next(entry int64) (next int64, ok bool)
	// Spans returns the wanted entries from first up to but not including end, as spans in
	// order.
	Spans(first, end int64) []columnar.Span
}

// Choose announces that of the entries that Advance announces only some will be read. Nil
// stands for all.
func (a *ReadAhead) Choose(c Chosen) {
	if c == a.chosen {
		return // what is in progress may look at it
	}
	a.chosen, a.plans = c, plans{}
	a.forget()
	for _, column := range a.columns {
		column.choose(c != nil)
	}
}

// A list is a Chosen of spans that are in order.
type list []columnar.Span

func (l *list) Next(entry int64) (int64, bool) {
	for _, s := range (*l)[l.find(entry):] {
		return max(entry, s.First), true
	}
	return 0, false
}

func (l *list) Spans(first, end int64) (all []columnar.Span) {
	for _, s := range (*l)[l.find(first):] {
		begin, behind := max(first, s.First), min(end, s.First+s.N)
		if begin >= behind {
			break
		}
		all = append(all, columnar.Span{First: begin, N: behind - begin})
	}
	return all
}

// find returns the first span that does not end before an entry.
func (l *list) find(entry int64) int {
	return sort.Search(len(*l), func(i int) bool { return (*l)[i].First+(*l)[i].N > entry })
}

// FetchSpans announces that the entries in spans, which are in order, will be read one after the
// other, until the function that it returns is called. It does nothing if the file is at hand, or
// entries were chosen.
func (a *ReadAhead) FetchSpans(ctx context.Context, spans []columnar.Span) (done func()) {
	if len(spans) < 2 || a.fetch == nil || !a.src.Far() || a.chosen != nil {
		return func() {}
	}
	a.Choose((*list)(&spans))
	if cluster, err := a.src.Find(ctx, spans[0].First); err == nil { // if not, the reader meets the error
		last := spans[len(spans)-1]
		a.Fetch(ctx, cluster, spans[0].First, last.First+last.N)
	}
	return func() { a.Choose(nil) }
}

// choose makes the column ready for entries that are chosen.
func (c *Column[T]) choose(some bool) {
	c.gaps = some
	if some && c.index == 0 && c.field.Columns[0][0].Type.IsIndex() {
		c.KeepPages() // wanted reads it, too
	}
}

// after returns the first entry from the given one on that will be read.
func (a *ReadAhead) after(entry int64) int64 {
	if a.chosen == nil {
		return entry
	}
	if next, ok := a.chosen.Next(entry); ok {
		return next
	}
	return math.MaxInt64
}

// nearEntries is the number of unwanted entries between wanted ones that are not worth
// looking for pages among them.
const nearEntries = 16

// A wanted finds the elements that chosen entries of a cluster need.
type wanted struct {
	ctx     context.Context
	src     *Source
	fetch   *fetch
	cluster *Cluster
	entries []columnar.Span
	items   map[*schema.Field][]columnar.Span // of collections; nil if they are not known
	byPage  map[uint64][]columnar.Span        // of collections in entries, by the offset of the first page of offsets
}

// wanted returns what is wanted of a cluster, or nil if all of it is.
func (a *ReadAhead) wanted(ctx context.Context, c *Cluster) *wanted {
	if p := a.inPlan(c); p != nil {
		return p.wanted
	}
	if a.chosen == nil {
		return nil
	}
	w := a.wantedOf(c, a.chosen.Spans(c.First, c.End))
	w.ctx = ctx
	return w
}

// wantedOf returns what entries in spans need of a cluster.
func (a *ReadAhead) wantedOf(c *Cluster, spans []columnar.Span) *wanted {
	w := &wanted{src: a.src, fetch: a.fetch, cluster: c, items: map[*schema.Field][]columnar.Span{},
		byPage: map[uint64][]columnar.Span{}}
	for _, s := range spans {
		s.First -= c.First
		if last := len(w.entries) - 1; last >= 0 && s.First-w.entries[last].First-w.entries[last].N <= nearEntries {
			w.entries[last].N = s.First + s.N - w.entries[last].First
			continue
		}
		w.entries = append(w.entries, s)
	}
	return w
}

// elements returns the elements that are wanted of the index-th column of f. It is not ok
// if they are not known.
func (w *wanted) elements(f *schema.Field, index int) (spans []columnar.Span, ok bool) {
	switch spans, ok = w.of(f); {
	case !ok:
	case index == 1:
		return w.inside(f, spans)
	case f.Shape == schema.Bitset:
		return scale(spans, f.ArraySize)
	}
	return spans, ok
}

// of returns the items that are wanted of f.
func (w *wanted) of(f *schema.Field) (spans []columnar.Span, ok bool) {
	above := f.Parent
	if above == nil {
		return w.entries, true
	}
	if spans, ok = w.of(above); !ok {
		return nil, false
	}
	switch {
	case above.Shape == schema.Record, above.Shape == schema.Wrapper, above.IsDense():
		return spans, true
	case above.Shape == schema.Array:
		return scale(spans, above.ArraySize)
	case above.Shape == schema.Collection, above.Shape == schema.Optional:
		return w.inside(above, spans)
	}
	return nil, false
}

// scale returns spans of items that there are n of in each of those in spans.
func scale(spans []columnar.Span, n uint64) (all []columnar.Span, ok bool) {
	for _, s := range spans {
		if n > math.MaxInt64 || s.First+s.N > math.MaxInt64/int64(max(1, n)) {
			return nil, false
		}
		all = append(all, columnar.Span{First: s.First * int64(n), N: s.N * int64(n)})
	}
	return all, true
}

// inside returns the items of the collections of f in spans.
func (w *wanted) inside(f *schema.Field, spans []columnar.Span) (items []columnar.Span, ok bool) {
	if items, ok = w.items[f]; ok {
		return items, items != nil
	}
	alone := &ReadAhead{src: w.src, fetch: w.fetch}
	defer alone.Stop()
	items, err := w.find(alone, f, spans)
	if err != nil {
		items = nil // the reader meets the error
	}
	w.items[f] = items
	return items, items != nil
}

// find returns the items of collections.
func (w *wanted) find(alone *ReadAhead, f *schema.Field, spans []columnar.Span) ([]columnar.Span, error) {
	ends, err := NewColumn[uint64](alone, f, 0)
	if err != nil {
		return nil, err
	}
	ends.choose(true)
	page, ok, err := ends.FirstPage(w.cluster)
	if err != nil {
		return nil, err
	}
	twins := ok && f.Parent == nil // collections of the same sizes share their pages as a rule
	if items := w.byPage[page]; twins && items != nil {
		return items, nil
	}
	items := []columnar.Span{}
	for _, s := range spans {
		begin, err := BeginOf(w.ctx, ends, w.cluster, s.First)
		if err != nil {
			return nil, err
		}
		end, err := BeginOf(w.ctx, ends, w.cluster, s.First+s.N)
		if err != nil {
			return nil, err
		}
		if begin < end && end <= math.MaxInt64 {
			items = append(items, columnar.Span{First: int64(begin), N: int64(end - begin)})
		}
	}
	if twins {
		w.byPage[page] = items
	}
	return items, nil
}

// BeginOf returns where the items of a collection begin, given the column of the ends of
// collections: where the one before it ends.
func BeginOf(ctx context.Context, ends *Column[uint64], c *Cluster, item int64) (uint64, error) {
	if item == 0 {
		return 0, nil
	}
	before, err := ends.Next(ctx, c, item-1, 1)
	if err != nil {
		return 0, err
	}
	return before[0], nil
}

// pages returns which of the pages of a column hold elements of spans.
func (p *clusterPages[T]) pages(spans []columnar.Span) []bool {
	all := make([]bool, len(p.Pages))
	for i := range p.Pages {
		begin, end := p.ends[i]-int64(p.Pages[i].NumElements), p.ends[i]
		for len(spans) > 0 && spans[0].First+spans[0].N <= begin {
			spans = spans[1:]
		}
		all[i] = len(spans) > 0 && spans[0].First < end
	}
	return all
}
