package rntuple

import (
	"context"
	"errors"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

func (c *Chain) bindBatches(paths []string, fresh bool) (batchPlan, error) {
	members := make([]field.Member, len(paths))
	for i, path := range paths {
		members[i] = field.Member{Name: path, Type: anyType}
	}
	p := &chainBatches{parts: parts[batchPlan]{chain: c.chain}}
	p.bind = func(s Source) (batchPlan, error) {
		inner, err := s.bindBatches(paths, fresh)
		if p.model != nil && c.config.AllowMissing && errors.Is(err, ErrNoField) {
			inner, err = p.without(s, paths, fresh)
		}
		if err = c.compare(s, members, err); err != nil {
			return nil, err
		}
		var all []Difference
		for i, a := range p.model {
			if b := inner.arrays()[i]; !columnar.Alike(a, b) { // other fields above it
				all = append(all, Difference{paths[i], a.Field.CppType(), b.Field.CppType()})
			}
		}
		if len(all) > 0 {
			return nil, &SchemaError{Differences: all}
		}
		return inner, nil
	}
	err := p.use(c.ctx, 0, func(part *part[batchPlan]) error {
		p.model = like(part.plan.arrays())
		return nil
	})
	return p, err
}

// chainBatches reads from the inputs of a chain.
type chainBatches struct {
	parts[batchPlan]
	chainOrder
	model []*columnar.Array // those of the first input, empty
}

func (p *chainBatches) arrays() []*columnar.Array { return p.model }

func (p *chainBatches) read(ctx context.Context, first, n int64) (arrays []*columnar.Array, got int64, err error) {
	i, entries, ok, err := p.find(ctx, first)
	if err != nil || !ok {
		return nil, 0, err
	}
	err = p.use(ctx, i, func(part *part[batchPlan]) error {
		at := first - entries.First
		announce(p.chainOrder, &p.parts, part, entries.First, at)
		var err error
		arrays, got, err = part.plan.read(ctx, at, min(n, entries.End-first))
		return err
	})
	return arrays, got, err
}

func (p *chainBatches) readSpans(ctx context.Context,
	spans []columnar.Span) (arrays []*columnar.Array, got int64, err error) {
	i, entries, ok, err := p.find(ctx, spans[0].First)
	if err != nil || !ok {
		return nil, 0, err
	}
	spans, _ = split(spans, entries)
	err = p.use(ctx, i, func(part *part[batchPlan]) (err error) {
		announce(p.chainOrder, &p.parts, part, entries.First, spans[0].First)
		arrays, got, err = part.plan.readSpans(ctx, spans)
		return err
	})
	return arrays, got, err
}

func (p *chainBatches) inOrder(_, end int64, c field.Chosen) {
	p.stop()
	p.chainOrder = chainOrder{true, end, c}
}

func (p *chainBatches) stop() {
	p.order = false
	p.parts.stop()
}

// without returns a plan for an input that lacks some of the fields.
func (p *chainBatches) without(s Source, paths []string, fresh bool) (batchPlan, error) {
	w := &withoutFields{fresh: fresh, all: make([]*columnar.Array, len(paths))}
	var there []string
	for i, path := range paths {
		if _, err := s.field(path); errors.Is(err, ErrNoField) {
			w.all[i], w.absent = columnar.Like(p.model[i]), append(w.absent, i)
		} else {
			w.present, there = append(w.present, i), append(there, path)
		}
	}
	var err error
	w.batchPlan, err = s.bindBatches(there, fresh)
	return w, err
}

// withoutFields adds fields that have no values to those of a plan.
type withoutFields struct {
	batchPlan
	all             []*columnar.Array
	present, absent []int // places in all
	fresh           bool
}

func (w *withoutFields) arrays() []*columnar.Array {
	for i, a := range w.batchPlan.arrays() {
		w.all[w.present[i]] = a
	}
	return w.all
}

func (w *withoutFields) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	return w.add(w.batchPlan.read(ctx, first, n))
}

func (w *withoutFields) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	return w.add(w.batchPlan.readSpans(ctx, spans))
}

// add adds the fields to what was read.
func (w *withoutFields) add(arrays []*columnar.Array, got int64, err error) ([]*columnar.Array, int64, error) {
	if err != nil || got == 0 {
		return nil, 0, err
	}
	all := make([]*columnar.Array, len(w.all))
	for i, at := range w.present {
		all[at] = arrays[i]
	}
	for _, at := range w.absent {
		a := w.all[at]
		if w.fresh {
			a = columnar.Like(a)
		}
		a.Clear(false)
		if err := columnar.Append(a, a, []columnar.Span{{First: -1, N: got}}, maxCopied); err != nil {
			return nil, 0, err
		}
		all[at] = a
	}
	return all, got, nil
}
