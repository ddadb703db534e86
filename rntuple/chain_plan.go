package rntuple

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

func (c *Chain) bind(t reflect.Type, members []field.Member) (plan, error) {
	if err := nameless(members); err != nil {
		return nil, err
	}
	p := &chainPlan{size: int64(t.Size())}
	p.chain = c.chain
	p.bind = func(s Source) (plan, error) {
		inner, err := s.bind(t, members)
		return inner, c.compare(s, members, err)
	}
	return p, p.check(c.ctx)
}

func (c *Chain) bindJagged(path string, item reflect.Type) (jaggedPlan, error) {
	p := &chainJagged{parts[jaggedPlan]{chain: c.chain}}
	p.bind = func(s Source) (jaggedPlan, error) {
		inner, err := s.bindJagged(path, item)
		return inner, c.compare(s, []field.Member{{Name: path, Type: item}}, err)
	}
	return p, p.check(c.ctx)
}

// maxParts is the number of inputs for which a view keeps its plans and decoded pages.
const maxParts = 4

// parts are the plans of a view for the inputs it has read from. An input that was closed
// meanwhile gets a new plan.
type parts[P interface{ stop() }] struct {
	*chain
	bind func(Source) (P, error)
	all  []*part[P] // in order of use, the most recent one last
}

type part[P interface{ stop() }] struct {
	of      *opened
	input   int
	plan    P
	ordered bool // inOrder has been called
}

// use calls f with the plan for an input, which stays open during the call.
func (ps *parts[P]) use(ctx context.Context, i int, f func(*part[P]) error) error {
	return ps.with(ctx, i, func(o *opened) error {
		at := slices.IndexFunc(ps.all, func(p *part[P]) bool { return p.of == o })
		if at < 0 {
			plan, err := ps.bind(o.Source)
			if err != nil {
				return err
			}
			if at = len(ps.all); at == maxParts {
				ps.drop(0)
				at--
			}
			ps.all = append(ps.all, &part[P]{of: o, input: i, plan: plan})
		}
		p := ps.all[at]
		ps.all = append(slices.Delete(ps.all, at, at+1), p)
		return f(p)
	})
}

// check makes the plan for the first input, to find out whether that is possible.
func (ps *parts[P]) check(ctx context.Context) error {
	return ps.use(ctx, 0, func(*part[P]) error { return nil })
}

// drop removes a plan.
func (ps *parts[P]) drop(i int) {
	ps.all[i].plan.stop()
	ps.all = slices.Delete(ps.all, i, i+1)
}

func (ps *parts[P]) stop() {
	for _, p := range ps.all {
		p.plan.stop()
		p.ordered = false
	}
}

// each calls f for at most n entries from first on, once for every input that has some of
// them. Its arguments are the plan for the input; base, the number in the chain of the
// input's first entry; the first entry to read, counted in the input, and how many; and
// done, the number of entries read before. each returns the number of entries read.
func (ps *parts[P]) each(ctx context.Context, first, n int64,
	f func(p *part[P], base, first, n, done int64) (int64, error)) (done int64, err error) {
	for done < n {
		i, entries, ok, err := ps.find(ctx, first+done)
		if err != nil || !ok {
			return done, err
		}
		at, m := first+done-entries.First, min(n-done, entries.End-first-done)
		err = ps.use(ctx, i, func(p *part[P]) error {
			got, err := f(p, entries.First, at, m, done)
			if err == nil && got != m {
				err = fmt.Errorf("%d entries from entry %d on, expected %d", got, at, m)
			}
			return err
		})
		if err != nil {
			return done, err
		}
		done += m
	}
	return done, nil
}

// eachSpans is each for the entries in spans: it calls f with those that an input has,
// counted there.
func (ps *parts[P]) eachSpans(ctx context.Context, spans []columnar.Span,
	f func(p *part[P], base int64, spans []columnar.Span, done int64) error) error {
	done := int64(0)
	for len(spans) > 0 {
		i, entries, ok, err := ps.find(ctx, spans[0].First)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("there is no entry %d", spans[0].First)
		}
		inner, rest := split(spans, entries)
		if err := ps.use(ctx, i, func(p *part[P]) error { return f(p, entries.First, inner, done) }); err != nil {
			return err
		}
		spans, done = rest, done+columnar.Sum(inner)
	}
	return nil
}

// split returns the first of spans as far as they lie in r, counted from its first entry,
// and the rest of them.
func split(spans []columnar.Span, r EntryRange) (inner, rest []columnar.Span) {
	for len(spans) > 0 && spans[0].First < r.End {
		s := spans[0]
		n := min(s.N, r.End-s.First)
		inner = append(inner, columnar.Span{First: s.First - r.First, N: n})
		if spans = spans[1:]; n < s.N {
			return inner, append([]columnar.Span{{First: r.End, N: s.N - n}}, spans...)
		}
	}
	return inner, spans
}

// orderedParts are parts whose plans can read ahead.
type orderedParts[P orderedPlan] struct {
	parts[P]
	order  bool         // entries are read in order,
	end    int64        // up to but not including this one,
	chosen field.Chosen // and only these, if not nil
}

func (ps *orderedParts[P]) inOrder(_, end int64, c field.Chosen) {
	ps.stop()
	ps.order, ps.end, ps.chosen = true, end, c
}

func (ps *orderedParts[P]) stop() {
	ps.order = false
	ps.parts.stop()
}

// announce tells the plan of an input, which begins with the entry base of the chain, in
// which order its entries are read from the given one on.
func (ps *orderedParts[P]) announce(p *part[P], base, at int64) {
	if !ps.order || p.ordered {
		return
	}
	for len(ps.all) > 1 { // the inputs before this one are no longer needed
		ps.drop(0)
	}
	p.ordered = true
	if ps.end-base > p.of.bound() {
		ps.expect(p.input + 1)
	}
	var c field.Chosen
	if ps.chosen != nil {
		c = shifted{ps.chosen, base}
	}
	p.plan.inOrder(at, ps.end-base, c)
}

// shifted is what is chosen of an input of a chain that begins with the entry base.
type shifted struct {
	of   field.Chosen
	base int64
}

func (s shifted) Next(entry int64) (int64, bool) {
	next, ok := s.of.Next(s.base + entry)
	return next - s.base, ok
}

func (s shifted) Spans(first, end int64) []columnar.Span {
	spans := s.of.Spans(s.base+first, s.base+end)
	for i := range spans {
		spans[i].First -= s.base
	}
	return spans
}

// chainPlan reads from the inputs of a chain.
type chainPlan struct {
	orderedParts[plan]
	size int64 // of a value
}

func (p *chainPlan) read(ctx context.Context, memory *field.Memory, first, n int64, dst unsafe.Pointer) (int64, error) {
	return p.each(ctx, first, n, func(part *part[plan], base, at, m, done int64) (int64, error) {
		p.announce(part, base, at)
		return part.plan.read(ctx, memory, at, m, unsafe.Add(dst, done*p.size))
	})
}

func (p *chainPlan) readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span,
	dst unsafe.Pointer) error {
	return p.eachSpans(ctx, spans, func(part *part[plan], base int64, spans []columnar.Span, done int64) error {
		p.announce(part, base, spans[0].First)
		return part.plan.readSpans(ctx, memory, spans, unsafe.Add(dst, done*p.size))
	})
}

// chainJagged reads a collection field from the inputs of a chain.
type chainJagged struct{ parts[jaggedPlan] }

func (p *chainJagged) read(ctx context.Context, first int64, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) (int64, error) {
	return p.each(ctx, first, int64(len(ends)), func(part *part[jaggedPlan], _, at, m, done int64) (int64, error) {
		before := int64(0) // number of items
		if done > 0 {
			before = ends[done-1]
		}
		ends := ends[done : done+m]
		n, err := part.plan.read(ctx, at, ends, func(lo, hi int64) unsafe.Pointer { return items(before+lo, before+hi) })
		for i := range ends {
			ends[i] += before
		}
		return n, err
	})
}

func (p *chainJagged) readSpans(ctx context.Context, spans []columnar.Span, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) error {
	return p.eachSpans(ctx, spans, func(part *part[jaggedPlan], _ int64, spans []columnar.Span, done int64) error {
		before := int64(0) // number of items
		if done > 0 {
			before = ends[done-1]
		}
		ends := ends[done:][:columnar.Sum(spans)]
		err := part.plan.readSpans(ctx, spans, ends, func(lo, hi int64) unsafe.Pointer { return items(before+lo, before+hi) })
		for i := range ends {
			ends[i] += before
		}
		return err
	})
}

// nameless returns an error if a member stands for whole entries, which several sources
// can provide only as a struct or a record.
func nameless(members []field.Member) error {
	for _, m := range members {
		if m.Name == "" {
			return fmt.Errorf("entries of several sources do not fit %v, a struct or a value.Record would", m.Type)
		}
	}
	return nil
}
