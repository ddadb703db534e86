package remote

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type part struct{ begin, end int64 }

func (p part) bounds() (int64, int64) { return p.begin, p.end }

// readsOf returns how many pieces a request of parts reads, and how many bytes, if it reads the
// gaps of at most a size. It looks at each byte.
func readsOf(parts []part, gap int64) (pieces int, bytes int64) {
	wanted := map[int64]bool{}
	first, last := parts[0].begin, parts[0].end
	for _, p := range parts {
		for i := p.begin; i < p.end; i++ {
			wanted[i] = true
		}
		first, last = min(first, p.begin), max(last, p.end)
	}
	pieces = 1
	for i := first; i < last; i++ {
		end := i
		for !wanted[end] {
			end++
		}
		switch {
		case end == i:
			bytes++
		case end-i <= gap:
			bytes += end - i
		default:
			pieces++
		}
		i = max(i, end-1)
	}
	return pieces, bytes
}

// TestPlan compares random plans with what Plan promises.
func TestPlan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 20_000 {
		c := Costs{Gap: random.Int64N(20), Ranges: random.IntN(4), Bytes: 1 + random.Int64N(200), Requests: 1}
		all := make([]part, random.IntN(12))
		for i := range all {
			begin := random.Int64N(400)
			all[i] = part{begin, begin + 1 + random.Int64N(60)}
		}
		wanted := int64(0)
		for _, p := range islands(all, true) {
			wanted += p.end - p.begin
		}
		given := slices.Clone(all)
		requests := Plan(c, all, part.bounds)

		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("plan %d, %+v of %v: %v: "+format, append([]any{n, c, given, requests}, args...)...)
		}
		// Each part once, in order.
		if got, want := slices.Concat(requests...), slices.Clone(given); !slices.IsSortedFunc(got, byBegin) ||
			!sameParts(got, want) {
			fail("got the parts %v", got)
		}
		extra, before := int64(0), int64(-1)
		for _, r := range requests {
			if len(r) == 0 {
				fail("an empty request")
			}
			if r[0].begin < before {
				fail("what is before %d is in two requests", before)
			}
			most := max(1, c.Ranges)
			if n, _ := readsOf(r, c.Gap); n > most {
				fail("%d pieces in the request %v, even if all gaps of at most %d bytes are read", n, r, c.Gap)
			}
			// The fewest bytes that are read with no more pieces than allowed.
			pieces, bytes := readsOf(r, 0)
			gaps := gapsOf(r)
			slices.Sort(gaps)
			for _, g := range gaps[:max(0, pieces-most)] {
				extra += g
				bytes += g
			}
			if bytes > max(c.Bytes, longestPiece(r)) {
				fail("%d bytes in the request %v", bytes, r)
			}
			for _, p := range r {
				before = max(before, p.end)
			}
		}
		if extra > wanted/maxExtra {
			fail("%d bytes are read besides, of %d", extra, wanted)
		}
		if c.Ranges <= 1 {
			if fewest := slowPlan(c, given); len(requests) != fewest {
				fail("%d requests, want %d", len(requests), fewest)
			}
		}
	}
}

func byBegin(a, b part) int { return cmp.Compare(a.begin, b.begin) }

func sameParts(a, b []part) bool {
	order := func(a, b part) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) }
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	return slices.Equal(a, b)
}

// islands returns the pieces of parts that overlap or touch, in order.
func islands(parts []part, touch bool) (all []part) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, byBegin)
	for _, p := range parts {
		if n := len(all); n > 0 && (p.begin < all[n-1].end || touch && p.begin == all[n-1].end) {
			all[n-1].end = max(all[n-1].end, p.end)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// gapsOf returns the sizes of the gaps between parts.
func gapsOf(parts []part) (gaps []int64) {
	all := islands(parts, true)
	for i := 1; i < len(all); i++ {
		gaps = append(gaps, all[i].begin-all[i-1].end)
	}
	return gaps
}

// longestPiece returns the size of the largest piece of parts that overlap, which cannot be
// divided.
func longestPiece(parts []part) (longest int64) {
	for _, p := range islands(parts, false) {
		longest = max(longest, p.end-p.begin)
	}
	return longest
}

// slowPlan returns how many requests of one piece there are: parts that overlap count as one, gaps
// are closed from the shortest on while the extra bytes allow it, and what is joined is divided as
// late as possible.
func slowPlan(c Costs, parts []part) (requests int) {
	wanted := int64(0)
	all := islands(parts, false)
	for _, p := range all {
		wanted += p.end - p.begin
	}
	closed := map[int]bool{} // the gaps before these
	for left := wanted / maxExtra; ; {
		best := -1
		for i := 1; i < len(all); i++ {
			gap := all[i].begin - all[i-1].end
			if !closed[i] && gap <= c.Gap && (best < 0 || gap < all[best].begin-all[best-1].end) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		if left -= all[best].begin - all[best-1].end; left < 0 {
			break
		}
		closed[best] = true
	}
	for i := 0; i < len(all); {
		first := i
		for i++; i < len(all) && closed[i] && all[i].end-all[first].begin <= c.Bytes; i++ {
		}
		requests++
	}
	return requests
}

// TestPlanSizes plans parts of equal size with equal gaps, whose requests can be counted by hand.
func TestPlanSizes(t *testing.T) {
	for _, c := range []struct {
		parts, size, gap int64
		costs            Costs
		requests         int
	}{
		{0, 0, 0, Costs{}, 0},
		{1, 1000, 0, Costs{}, 1},
		{10, 100, 1000, Costs{Ranges: 1, Bytes: 1 << 20}, 10},
		{10, 100, 1000, Costs{Ranges: 3, Bytes: 1 << 20}, 4},
		{10, 100, 1000, Costs{Ranges: 10, Bytes: 1 << 20}, 1},
		{10, 100, 1000, Costs{Ranges: 10, Bytes: 500}, 2},
		{10, 100, 0, Costs{Bytes: 1 << 20}, 1},
		{10, 100, 0, Costs{Bytes: 250}, 5},
		{10, 100, 0, Costs{Bytes: 1}, 10},
		{10, 160, 10, Costs{Gap: 10, Bytes: 1 << 20}, 1}, // 90 bytes of 1600 are less than a 16th
		{10, 160, 10, Costs{Gap: 9, Bytes: 1 << 20}, 10}, // too large a gap
		{10, 100, 10, Costs{Gap: 10, Bytes: 1 << 20}, 4}, // 62 bytes close six of nine gaps
		{100, 1 << 50, 1 << 40, Costs{Gap: 1 << 50, Bytes: 1 << 60}, 1},
	} {
		var all []part
		for i := range c.parts {
			begin := i * (c.size + c.gap)
			all = append(all, part{begin, begin + c.size})
		}
		if got := Plan(c.costs, all, part.bounds); len(got) != c.requests {
			t.Errorf("%+v: %d requests", c, len(got))
		}
	}
}
