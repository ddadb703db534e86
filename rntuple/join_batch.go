package rntuple

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

func (j *Join) bindBatches(paths []string, fresh bool) (batchPlan, error) {
	groups := map[*side]*joinedPart{} // by source, nil for the primary one
	rests := map[*side][]string{}
	for i, path := range paths {
		s, rest := j.resolve(path)
		if groups[s] == nil {
			groups[s] = new(joinedPart)
		}
		groups[s].at = append(groups[s].at, i)
		rests[s] = append(rests[s], rest)
	}
	p := &joinBatches{all: make([]*columnar.Array, len(paths))}
	if own := groups[nil]; own != nil || len(groups) == 0 {
		inner, err := j.primary.bindBatches(rests[nil], fresh)
		if err != nil {
			return nil, err
		}
		if own == nil {
			own = new(joinedPart)
		}
		own.batchPlan = inner
		p.together = append(p.together, own)
	}
	for _, s := range j.others {
		part := groups[s]
		if part == nil {
			continue
		}
		var err error
		if s.friend {
			if err = j.align(); err == nil {
				part.batchPlan, err = s.src.bindBatches(rests[s], fresh)
			}
		} else {
			part.batchPlan, err = newMatchBatches(j.primary, s, rests[s], fresh)
		}
		if err != nil {
			return nil, fmt.Errorf("join of %q: %w", s.name, err)
		}
		part.filler = &filler{part.batchPlan, fresh, nil}
		p.together = append(p.together, part)
	}
	return p, nil
}

// joinBatches reads from several sources.
type joinBatches struct {
	together[*joinedPart]
	all []*columnar.Array
}

// joinedPart reads from one of them.
type joinedPart struct {
	batchPlan
	filler *filler // nil for the primary source
	at     []int   // places of its fields among all
}

func (p *joinBatches) arrays() []*columnar.Array {
	for _, part := range p.together {
		for i, a := range part.arrays() {
			p.all[part.at[i]] = a
		}
	}
	return p.all
}

func (p *joinBatches) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	return p.join(first, func(part *joinedPart, i int, all int64) ([]*columnar.Array, int64, error) {
		if i == 0 {
			return part.batchPlan.read(ctx, first, n)
		}
		return part.filler.read(ctx, first, all)
	})
}

func (p *joinBatches) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	return p.join(spans[0].First, func(part *joinedPart, i int, all int64) ([]*columnar.Array, int64, error) {
		if i == 0 {
			return part.batchPlan.readSpans(ctx, spans)
		}
		return part.filler.readSpans(ctx, within(spans, 0, all))
	})
}

// join joins what read reads from each part: from the first one as much as it likes, and
// from the others as many entries as that has.
func (p *joinBatches) join(first int64,
	read func(part *joinedPart, i int, n int64) ([]*columnar.Array, int64, error)) ([]*columnar.Array, int64, error) {
	all := make([]*columnar.Array, len(p.all))
	n := int64(0)
	for i, part := range p.together {
		arrays, got, err := read(part, i, n)
		if i > 0 && err == nil && got != n {
			err = fmt.Errorf("sources that are joined have %d and %d entries from entry %d on", n, got, first)
		}
		if err != nil || got == 0 {
			return nil, 0, err
		}
		n = got
		for i, a := range arrays {
			all[part.at[i]] = a
		}
	}
	return all, n, nil
}

// A filler makes one batch of entries that a plan reads in several.
type filler struct {
	plan  batchPlan
	fresh bool
	all   []*columnar.Array
}

// read reads n entries, or less at the end of the entries.
func (f *filler) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	return f.fill(n, func(done int64) ([]*columnar.Array, int64, error) { return f.plan.read(ctx, first+done, n-done) })
}

// readSpans reads the entries in spans.
func (f *filler) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	n := columnar.Sum(spans)
	return f.fill(n, func(done int64) ([]*columnar.Array, int64, error) {
		return f.plan.readSpans(ctx, within(spans, done, n-done))
	})
}

// fill reads n entries, or less at the end of the entries: read reads some of those that are left
// after the first ones.
func (f *filler) fill(n int64,
	read func(done int64) ([]*columnar.Array, int64, error)) ([]*columnar.Array, int64, error) {
	arrays, got, err := read(0)
	if err != nil || got == n || got == 0 {
		return arrays, got, err
	}
	if f.fresh || f.all == nil {
		f.all = like(f.plan.arrays())
	}
	for _, a := range f.all {
		a.Clear(false)
	}
	for done := got; ; done += got {
		if err := take(f.all, arrays, []columnar.Span{{First: 0, N: got}}); err != nil {
			return nil, 0, err
		}
		if done == n {
			return f.all, n, nil
		}
		if arrays, got, err = read(done); err != nil || got == 0 {
			return f.all, done, err
		}
	}
}

// matchBatches reads the entries of a source that match those of the primary one.
type matchBatches struct {
	*matcher
	items filler // of the entries of the other source
	fresh bool
	all   []*columnar.Array
	spans []columnar.Span
}

func newMatchBatches(primary Source, s *side, paths []string, fresh bool) (*matchBatches, error) {
	m, err := newMatcher(primary, s)
	if err != nil {
		return nil, err
	}
	inner, err := s.src.bindBatches(paths, false)
	p := &matchBatches{matcher: m, items: filler{plan: inner}, fresh: fresh}
	if err == nil {
		p.all = p.empty()
	}
	return p, err
}

// empty returns Arrays for the values.
func (p *matchBatches) empty() []*columnar.Array {
	all := like(p.items.plan.arrays())
	for i, a := range all {
		if !p.side.zeros {
			all[i] = columnar.OptionalOf(a)
		}
	}
	return all
}

func (p *matchBatches) arrays() []*columnar.Array { return p.all }

func (p *matchBatches) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	n, err := p.matchRange(ctx, first, min(n, defaultBatch))
	return p.matched(ctx, n, err)
}

func (p *matchBatches) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	n, err := p.matchSpans(ctx, within(spans, 0, min(columnar.Sum(spans), defaultBatch)))
	return p.matched(ctx, n, err)
}

// matched reads what was matched last, for n entries.
func (p *matchBatches) matched(ctx context.Context, n int64, err error) ([]*columnar.Array, int64, error) {
	if err != nil || n == 0 {
		return nil, 0, err
	}
	items := p.items.plan.arrays()
	if all := columnar.Sum(p.runs); all > 0 {
		var got int64
		if items, got, err = p.items.readSpans(ctx, p.runs); err == nil && got < all {
			err = fmt.Errorf("%d entries, expected %d", got, all)
		}
		if err != nil {
			return nil, 0, p.fail(err)
		}
	}
	p.spans = p.spans[:0]
	for _, at := range p.at {
		p.spans = columnar.AddSpan(p.spans, columnar.Span{First: int64(at), N: 1})
	}
	if p.fresh {
		p.all = p.empty()
	}
	for i, a := range p.all {
		a.Clear(false)
		if !p.side.zeros {
			a.Len = int(n)
			for _, at := range p.at {
				a.Valid = append(a.Valid, at >= 0)
			}
			a = a.Children[0]
		}
		if err := columnar.Append(a, items[i], p.spans, maxCopied); err != nil {
			return nil, 0, err
		}
	}
	return p.all, n, nil
}

func (p *matchBatches) stop() {
	p.keys.stop()
	p.items.plan.stop()
}
