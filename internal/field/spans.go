package field

import (
	"context"
	"math"
	"sort"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
)

// Chosen says which entries are wanted of those that are read in order; see
// pagesource.Chosen.
type Chosen = pagesource.Chosen

// Choose announces that of the entries that InOrder has announced only some will be read,
// with ReadSpans. Nil stands for all.
func (p *Plan) Choose(c Chosen) { p.ahead.Choose(c) }

// skip has reading in order go on with the given entry.
func (p *Plan) skip(entry int64) {
	if p.next >= 0 && p.next < entry {
		p.next = entry
	}
}

// ReadSpans is like ReadWith for the entries in spans, which are in order.
func (p *Plan) ReadSpans(ctx context.Context, memory *Memory, spans []Span, dst unsafe.Pointer) error {
	defer p.ahead.FetchSpans(ctx, spans)()
	at := uintptr(0)
	for _, s := range spans {
		p.skip(s.First)
		if err := p.ReadWith(ctx, memory, s.First, s.N, unsafe.Add(dst, at)); err != nil {
			return err
		}
		at += uintptr(s.N) * p.size
	}
	return nil
}

// ReadSpans is like Read for the entries in spans, which are in order.
func (j *Jagged) ReadSpans(ctx context.Context, spans []Span, ends []int64, items func(lo, hi int64) unsafe.Pointer) error {
	defer j.plan.ahead.FetchSpans(ctx, spans)()
	total := int64(0)
	for _, s := range spans {
		of := ends[:s.N]
		err := j.Read(ctx, s.First, s.N, of, func(lo, hi int64) unsafe.Pointer { return items(total+lo, total+hi) })
		if err != nil {
			return err
		}
		for i := range of {
			of[i] += total
		}
		total, ends = of[s.N-1], ends[s.N:]
	}
	return nil
}

const (
	// maxGap is how many unwanted entries are read into Arrays and left out again,
	// because that costs less than another read.
	maxGap = 256
	// maxStretch limits the entries that are read at once if some are left out.
	maxStretch = 1 << 14
	// minWhole is the number of entries of a span that makes a batch of its own, which
	// saves copying them.
	minWhole = 1 << 12
)

// stretch returns how many of the spans that begin before end are read together, and the
// range of entries from the first to the last one.
func stretch(spans []Span, end int64) (n int, all Span) {
	all = spans[0]
	for n = 1; n < len(spans); n++ {
		s := spans[n]
		if s.First-all.First-all.N > maxGap || s.First+s.N-all.First > maxStretch || s.First >= end {
			break
		}
		all.N = s.First + s.N - all.First
	}
	all.N = min(all.N, end-all.First)
	return n, all
}

// ReadSpans is like Read for the entries in spans, which are in order. It reads some of
// the first ones, which lie in one cluster, and returns how many.
func (b *Batches) ReadSpans(ctx context.Context, spans []Span) (arrays []*Array, got int64, err error) {
	b.skip(spans[0].First)
	cluster, err := b.src.Find(ctx, spans[0].First)
	if err != nil {
		return nil, 0, err
	}
	if s := spans[0]; len(spans) == 1 || s.N >= minWhole || s.First+s.N >= cluster.End {
		return b.Read(ctx, s.First, s.N)
	}
	if b.fresh || b.taken == nil {
		b.taken = make([]*Array, len(b.arrays))
		for i, a := range b.arrays {
			b.taken[i] = Like(a)
		}
	}
	for _, a := range b.taken {
		Clear(a)
	}
	here := sort.Search(len(spans), func(i int) bool { return spans[i].First >= cluster.End })
	defer b.ahead.FetchSpans(ctx, spans[:here])()
	used := run{budget: math.MaxInt64}
	for len(spans) > 0 && spans[0].First < cluster.End && math.MaxInt64-used.budget < b.budget/2 {
		n, all := stretch(spans, cluster.End)
		b.skip(all.First)
		from, read, err := b.Read(ctx, all.First, all.N)
		if err != nil {
			return nil, 0, err
		}
		b.wanted = b.wanted[:0]
		for _, s := range spans[:n] {
			if s.N = min(s.N, all.First+read-s.First); s.N > 0 {
				b.wanted = append(b.wanted, Span{First: s.First - all.First, N: s.N})
				got += s.N
			}
		}
		for i, a := range b.taken {
			if err := a.take(&used, from[i], b.wanted); err != nil {
				return nil, 0, err
			}
		}
		if spans = spans[n:]; read < all.N {
			break
		}
	}
	return b.taken, got, nil
}
