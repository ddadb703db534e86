package expression

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// combinations returns the indices of all pairs of two items of an array, or of an item of one
// array and one of another, in the order of ROOT::VecOps::Combinations: the second index grows
// fastest.
func (b *builder) combinations(n *syntax.Call, args []value) (value, error) {
	for i, v := range args {
		if err := b.mustBeArray(n, n.Args[i], v); err != nil {
			return value{}, err
		}
	}
	if slices.ContainsFunc(args, func(v value) bool { return v.null }) {
		return nothing(b.entries), nil
	}
	for i := range args {
		if err := b.downAll(&args[i]); err != nil {
			return value{}, err
		}
	}
	there := b.allThere(args)
	at, here := b.place(n), b.here
	left, right, distinct := args[0].list.items, args[len(args)-1].list.items, len(args) == 1
	var indices [2][]int64
	items := newItems(here, func(r *run, d *domain) {
		o, p := left.bounds(r), right.bounds(r)
		counts := d.counts(r, len(o)-1)
		for i := range len(o) - 1 {
			k, m := o[i+1]-o[i], p[i+1]-p[i]
			pairs := pairsOf(k, m, distinct)
			if pairs > maxItems {
				r.fail(here, i, at.error(fmt.Sprintf("%.0f pairs are more than a million", pairs)))
				pairs = 0
			}
			counts[i+1] = counts[i] + int64(pairs)
		}
		total := counts[len(counts)-1]
		r.budget.Take(16 * total)
		first, second := resize(&indices[0], int(total)), resize(&indices[1], int(total))
		for i, to := range counts[:len(counts)-1] {
			if to == counts[i+1] {
				continue
			}
			m := p[i+1] - p[i]
			for k := range o[i+1] - o[i] {
				from := int64(0)
				if distinct {
					from = k + 1
				}
				for j := from; j < m; j++ {
					first[to], second[to] = k, j
					to++
				}
			}
		}
		r.budget.Step(2 * total)
	})
	items.sized(func(z *zones) extent[int64] {
		s, t := left.span(z), right.span(z)
		least, most := pairsOf(s.low, t.low, distinct), pairsOf(s.high, t.high, distinct)
		if most > maxItems {
			return between(0, int64(maxItems))
		}
		return between(int64(least), int64(most))
	})
	b.checks = append(b.checks, check{
		find: func(r *run) { items.update(r) }, here: here,
		never: func(z *zones) bool { return pairsOf(left.span(z).high, right.span(z).high, distinct) <= maxItems },
	})
	parts := make([]value, len(indices))
	for i, d := range []*domain{left, right} {
		parts[i] = listOf(items, scalar(newNode(items, func(r *run, n *node[int64]) {
			items.update(r)
			n.all = indices[i]
		}).known(func(z *zones) extent[int64] { return between(0, d.span(z).high-1) }), false), nil)
		parts[i].index = true
	}
	out := arrayOf(parts)
	if there != nil {
		out = out.taken(where(there), true)
	}
	return out, nil
}

// pairsOf returns how many pairs there are of an item of n and one of m, or of two of the same n: a
// float, as there may be too many for an integer.
func pairsOf(n, m int64, distinct bool) float64 {
	if distinct {
		return float64(n) * float64(max(n-1, 0)) / 2
	}
	return float64(n) * float64(m)
}
