package surgery

import (
	"context"
	"iter"
	"math"
	"sort"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// A foresight lists the entries that will be copied next from a remote file, so that their pages
// are prefetched. It is a pagesource.Chosen.
type foresight struct {
	spans []columnar.Span // in clusters that are not taken over whole
	end   int64           // before which all are known; where a cluster begins
}

func (f *foresight) Next(entry int64) (int64, bool) {
	i := f.find(entry)
	if i == len(f.spans) {
		return 0, false
	}
	return max(entry, f.spans[i].First), true
}

func (f *foresight) Spans(first, end int64) (all []columnar.Span) {
	for i := f.find(first); i < len(f.spans) && f.spans[i].First < end; i++ {
		s := f.spans[i]
		from, to := max(first, s.First), min(end, s.First+s.N)
		all = append(all, columnar.Span{First: from, N: to - from})
	}
	return all
}

// find returns the first span that does not end before an entry.
func (f *foresight) find(entry int64) int {
	return sort.Search(len(f.spans), func(i int) bool { return f.spans[i].First+f.spans[i].N > entry })
}

// foreseen is the number of clusters whose entries are known in advance. Half of them are added at
// a time, so that their pages share requests.
const foreseen = 16

// foresee returns ranges of entries of the only source. If it is far away, they are asked for
// early.
func (m *mapping) foresee(ctx context.Context,
	ranges iter.Seq2[rntuple.EntryRange, error]) iter.Seq2[rntuple.EntryRange, error] {
	src := m.sources[0]
	if len(m.sources) > 1 || !src.Source.Far() {
		return ranges
	}
	return func(yield func(rntuple.EntryRange, error) bool) {
		next, stop := iter.Pull2(ranges)
		defer stop()
		type one struct {
			rntuple.EntryRange
			err error
		}
		var queue []one
		clusters := func() int {
			if len(queue) == 0 {
				return -1
			}
			return m.clustersBetween(ctx, queue[0].First, queue[len(queue)-1].End)
		}
		for more := true; ; {
			for low := clusters() < foreseen/2; low && more && clusters() < foreseen; {
				r, err, ok := next()
				if more = ok && err == nil; ok {
					queue = append(queue, one{r, err})
					m.expect(ctx, r)
				} else {
					m.foresight.end = math.MaxInt64
				}
			}
			if len(queue) == 0 || !yield(queue[0].EntryRange, queue[0].err) {
				return
			}
			queue = queue[1:]
		}
	}
}

// clustersBetween returns how many clusters begin between two entries.
func (m *mapping) clustersBetween(ctx context.Context, first, end int64) int {
	a, err1 := m.sources[0].Source.Find(ctx, first)
	b, err2 := m.sources[0].Source.Find(ctx, end-1)
	if err1 != nil || err2 != nil {
		return foreseen // copying meets the error
	}
	return b.ID - a.ID
}

// expect notes that the entries of a range will be copied.
func (m *mapping) expect(ctx context.Context, r rntuple.EntryRange) {
	f := &m.foresight
	for r.First < r.End {
		c, err := m.sources[0].Source.Find(ctx, r.First)
		if err != nil {
			return // copying meets it
		}
		part := rntuple.EntryRange{First: r.First, End: min(r.End, c.End)}
		if part != (rntuple.EntryRange{First: c.First, End: c.End}) || m.rewrites([]*pagesource.Cluster{c}) {
			f.spans = append(f.spans, columnar.Span{First: part.First, N: part.Len()})
		}
		r.First, f.end = c.End, c.First // others in this cluster may follow
	}
	if n := f.find(m.copied); n > 1<<10 { // those before are copied
		f.spans = append(f.spans[:0:0], f.spans[n:]...)
	}
}

// expectWhole has the pages fetched of the clusters from the given one on, the first of r, that
// will be taken over whole: those that lie in r, as far as that is enough for few requests.
func (m *mapping) expectWhole(ctx context.Context, c *pagesource.Cluster, r rntuple.EntryRange) {
	src := m.sources[0]
	if len(m.sources) > 1 || !src.Source.Far() || r.First < m.expected {
		return
	}
	src.Source.Expect(ctx, func(yield func(column.Format, envelope.Page) bool) {
		for bytes := int64(0); ; {
			for _, f := range m.out.storedFields() {
				from := m.origins[f.ID]
				if from.field == nil || m.out.shape.defines(f) {
					continue
				}
				chunks, err := from.chunks(c)
				if err != nil {
					return // copying meets it
				}
				for _, chunk := range chunks {
					for _, p := range chunk.Pages {
						if bytes += int64(p.StoredSize()); !yield(chunk.Column.Format(), p) {
							return
						}
					}
				}
			}
			if m.expected = c.End; bytes >= src.Options.ReadAhead/4 || c.End >= r.End {
				return
			}
			next, err := src.Source.Find(ctx, c.End)
			if err != nil || next.End > r.End || m.rewrites([]*pagesource.Cluster{next}) {
				return
			}
			c = next
		}
	})
}

// fetch has pages fetched of what copyElements copies next, from an entry of the given clusters on.
func (m *mapping) fetch(ctx context.Context, clusters []*pagesource.Cluster, spans []columnar.Span) {
	first, last := spans[0].First, spans[len(spans)-1]
	m.copied = first
	for i, src := range m.sources {
		if !src.Source.Far() {
			continue
		}
		f := &m.foresight
		if f.end < last.First+last.N {
			f = &foresight{spans: spans, end: last.First + last.N}
		}
		src.ahead.Choose(f)
		src.ahead.Fetch(ctx, clusters[i], first, f.end)
	}
}
