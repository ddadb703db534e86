package field

import (
	"context"
	"math"
	"sort"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
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
func (p *Plan) ReadSpans(ctx context.Context, memory *Memory, spans []columnar.Span, dst unsafe.Pointer) error {
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
func (j *Jagged) ReadSpans(ctx context.Context, spans []columnar.Span, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) error {
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
	// maxStretch is how many entries are read at once if some are left out: those between two
	// of its multiples, which pages of our files end at, as it is the number of floats in them.
	maxStretch = 1 << 14
	// minWhole is the number of entries of a span that makes a batch of its own, which
	// saves copying them.
	minWhole = 1 << 12
)

// stretch returns how many of the spans, which begin at first and go on in a cluster, are read
// together, at least in part, and which entries are read for them: if exact is set none before the
// first or behind the last one, which may be in other pages.
func stretch(spans []columnar.Span, first int64, cluster *pagesource.Cluster, exact bool) (n int, all columnar.Span) {
	begin := first - (first-cluster.First)%maxStretch
	limit := min(begin+maxStretch, cluster.End)
	if exact || first-begin > maxGap {
		begin = first
	}
	end := spans[0].First + spans[0].N
	for n = 1; n < len(spans) && spans[n].First < limit && spans[n].First-end <= maxGap; n++ {
		end = spans[n].First + spans[n].N
	}
	if !exact && limit-end <= maxGap || end > limit {
		end = limit
	}
	return n, columnar.Span{First: begin, N: end - begin}
}

// ReadSpans is like Read for the entries in spans, which are in order. It reads some of
// the first ones, which lie in one cluster, and returns how many.
func (b *Batches) ReadSpans(ctx context.Context,
	spans []columnar.Span) (arrays []*columnar.Array, got int64, err error) {
	b.skip(spans[0].First)
	cluster, err := b.src.Find(ctx, spans[0].First)
	if err != nil {
		return nil, 0, err
	}
	if s := spans[0]; len(spans) == 1 || s.N >= minWhole || s.First+s.N >= cluster.End {
		return b.Read(ctx, s.First, s.N)
	}
	if b.fresh || b.taken == nil {
		b.taken = make([]*columnar.Array, len(b.arrays))
		for i, a := range b.arrays {
			b.taken[i] = columnar.Like(a)
		}
	}
	for _, a := range b.taken {
		a.Clear(false)
	}
	here := sort.Search(len(spans), func(i int) bool { return spans[i].First >= cluster.End })
	defer b.ahead.FetchSpans(ctx, spans[:here])()
	b.scratch.Left = math.MaxInt64
	first := spans[0].First
	for first < cluster.End && math.MaxInt64-b.scratch.Left < b.budget/2 {
		var n int
		var all columnar.Span
		var from []*columnar.Array
		var read int64
		for exact := b.src.Far(); ; exact = true { // what is not wanted may be damaged, or too large
			n, all = stretch(spans, first, cluster, exact)
			b.skip(all.First)
			if from, read, err = b.Read(ctx, all.First, all.N); exact || err == nil && all.First+read > first {
				break
			}
		}
		if err != nil {
			return nil, 0, err
		}
		b.wanted = b.wanted[:0]
		for _, s := range spans[:n] {
			begin, end := max(s.First, first), min(s.First+s.N, all.First+read)
			if begin < end {
				b.wanted = append(b.wanted, columnar.Span{First: begin - all.First, N: end - begin})
				got += end - begin
			}
		}
		for i, a := range b.taken {
			if err := a.Append(&b.scratch, from[i], b.wanted); err != nil {
				return nil, 0, err
			}
		}
		if last := spans[n-1]; last.First+last.N > all.First+all.N { // the rest of it is read with the next ones
			n, first = n-1, all.First+all.N
		} else if n < len(spans) {
			first = spans[n].First
		}
		if spans = spans[n:]; len(spans) == 0 || read < all.N {
			break
		}
	}
	return b.taken, got, nil
}
