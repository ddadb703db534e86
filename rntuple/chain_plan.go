package rntuple

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
)

func (c *Chain) bind(t reflect.Type, members []field.Member) (plan, error) {
	if err := nameless(members); err != nil {
		return nil, err
	}
	p := &chainPlan{parts: parts[plan]{chain: c.chain}, size: int64(t.Size())}
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
			ps.all = append(ps.all, &part[P]{of: o, plan: plan})
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
func (ps *parts[P]) each(ctx context.Context, first, n int64, f func(p *part[P], base, first, n, done int64) (int64, error)) (done int64, err error) {
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

// chainPlan reads from the inputs of a chain.
type chainPlan struct {
	parts[plan]
	size  int64 // of a value
	order bool  // entries are read in order,
	end   int64 // up to but not including this one
}

func (p *chainPlan) read(ctx context.Context, memory *field.Memory, first, n int64, dst unsafe.Pointer) (int64, error) {
	return p.each(ctx, first, n, func(part *part[plan], base, at, m, done int64) (int64, error) {
		if p.order && !part.ordered {
			for len(p.all) > 1 { // the inputs before this one are no longer needed
				p.drop(0)
			}
			part.ordered = true
			part.plan.inOrder(at, p.end-base)
		}
		return part.plan.read(ctx, memory, at, m, unsafe.Add(dst, done*p.size))
	})
}

func (p *chainPlan) inOrder(first, end int64) {
	p.stop()
	p.order, p.end = true, end
}

func (p *chainPlan) stop() {
	p.order = false
	p.parts.stop()
}

// chainJagged reads a collection field from the inputs of a chain.
type chainJagged struct{ parts[jaggedPlan] }

func (p *chainJagged) read(ctx context.Context, first int64, ends []int64, items func(lo, hi int64) unsafe.Pointer) (int64, error) {
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
