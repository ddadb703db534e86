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
	p := new(chainBatches)
	p.chain = c.chain
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
	orderedParts[batchPlan]
	model []*columnar.Array // those of the first input, empty
}

func (p *chainBatches) arrays() []*columnar.Array { return p.model }

func (p *chainBatches) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	return p.readPart(ctx, first, func(plan batchPlan, entries EntryRange) ([]*columnar.Array, int64, error) {
		return plan.read(ctx, first-entries.First, min(n, entries.End-first))
	})
}

func (p *chainBatches) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	return p.readPart(ctx, spans[0].First, func(plan batchPlan, entries EntryRange) ([]*columnar.Array, int64, error) {
		spans, _ := split(spans, entries)
		return plan.readSpans(ctx, spans)
	})
}

// readPart calls read with the plan for the input that has the first entry, and the entries that the
// input contributes.
func (p *chainBatches) readPart(ctx context.Context, first int64,
	read func(batchPlan, EntryRange) ([]*columnar.Array, int64, error)) (arrays []*columnar.Array, got int64, err error) {
	i, entries, ok, err := p.find(ctx, first)
	if err != nil || !ok {
		return nil, 0, err
	}
	err = p.use(ctx, i, func(part *part[batchPlan]) (err error) {
		p.announce(part, entries.First, first-entries.First)
		arrays, got, err = read(part.plan, entries)
		return err
	})
	return arrays, got, err
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
