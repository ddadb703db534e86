package pagesource

import (
	"context"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// plans are what a ReadAhead has planned to fetch: the pages of the entries from first up to next.
type plans struct {
	first, next int64
	clusters    []*clusterPlan // from the one that the reader is in
	reach       int64          // how many bytes of a file that is far away may be planned ahead
}

// A clusterPlan is the plan for entries of a cluster: the wanted ones, or, if that is nil, those
// from a place on.
type clusterPlan struct {
	cluster *Cluster
	from    float64
	wanted  *wanted

	level   int          // the next one to plan: which items of collections are wanted, those above must tell
	waiting []storedPage // of the level above
}

// minReach and maxReach limit how many bytes of a file that is far away are planned at first: as
// many as a request should have. The longer entries are read in order, the further ahead.
const minReach, maxReach = 4 << 20, 8 << 20

// extend plans to fetch the entries from first, which is in the given cluster, up to end, as far
// ahead as is useful.
func (a *ReadAhead) extend(ctx context.Context, cluster *Cluster, first, end int64) {
	p := &a.plans
	for len(p.clusters) > 0 && p.clusters[0].cluster != cluster {
		p.clusters = p.clusters[1:]
	}
	if len(p.clusters) == 0 || first < p.first || first >= p.next {
		*p = plans{first: first, next: first, reach: max(minReach, min(a.fetch.src.costs().Bytes, maxReach))}
		a.forget()
	}
	a.pass(cluster)
	var pages []aheadPage
	for i, c := range p.clusters {
		pages = append(pages, a.descend(ctx, c, i == 0)...)
	}
	if p.next < end && a.hungry() {
		for p.next < end {
			next, err := a.src.Find(ctx, p.next)
			if err != nil {
				break // the reader meets the error
			}
			until := min(end, next.End)
			c := a.planFor(next, p.next, until)
			pages = append(pages, a.descend(ctx, c, false)...)
			p.clusters = append(p.clusters, c)
			if p.next = a.after(until); p.next == math.MaxInt64 {
				p.next = max(end, next.End)
			}
			if a.full(pages) {
				break
			}
		}
		p.reach = min(2*p.reach, a.fetch.budget)
	}
	a.plan(ctx, pages)
	if p.next < end && a.src.Far() {
		a.src.expect(ctx, p.next)
	}
	for len(p.clusters) > 0 && p.clusters[0].level <= a.levels() { // the reader needs them at once
		pages = pages[:0]
		for i, c := range p.clusters { // the levels above may have come with those of the first one
			pages = append(pages, a.descend(ctx, c, i == 0)...)
		}
		a.plan(ctx, pages)
	}
}

// hungry reports whether more clusters should be planned.
func (a *ReadAhead) hungry() bool {
	if !a.src.Far() {
		return len(a.plans.clusters) < 2
	}
	return len(a.plans.clusters) == 0 || a.fetch.ahead() < a.plans.reach/2
}

// full reports whether, with some pages more, enough is planned.
func (a *ReadAhead) full(pages []aheadPage) bool {
	if !a.src.Far() {
		return len(a.plans.clusters) >= 2
	}
	n := a.fetch.ahead()
	for _, p := range pages {
		n += int64(p.page.StoredSize())
	}
	return n >= a.plans.reach
}

// planFor returns the plan for the entries of a cluster from first up to end.
func (a *ReadAhead) planFor(c *Cluster, first, end int64) *clusterPlan {
	p := &clusterPlan{cluster: c}
	switch part := first > c.First || end < c.End; {
	case a.chosen != nil:
		p.wanted = a.wantedOf(c, a.chosen.Spans(first, end))
	case part && a.src.Far():
		p.wanted = a.wantedOf(c, []columnar.Span{{First: first, N: end - first}})
	default:
		p.from = place(c, first)
	}
	return p
}

// descend returns the pages of the next level of a plan if it is known which, or if it is worth
// waiting for that.
func (a *ReadAhead) descend(ctx context.Context, p *clusterPlan, wait bool) (pages []aheadPage) {
	if p.level > a.levels() || p.level > 0 && !wait && !a.fetch.arrived(p.waiting) {
		return nil
	}
	if p.wanted != nil {
		p.wanted.ctx = ctx
	}
	for _, c := range a.columns {
		if p.wanted == nil || c.level() == p.level {
			pages = append(pages, c.pages(p.cluster, p.from, p.wanted)...)
		}
	}
	p.level++
	if p.wanted == nil {
		p.level = a.levels() + 1
	}
	p.waiting = p.waiting[:0]
	for _, page := range pages {
		p.waiting = append(p.waiting, page.storedPage)
	}
	return pages
}

// levels returns the level of the column that is in most collections.
func (a *ReadAhead) levels() (most int) {
	for _, c := range a.columns {
		most = max(most, c.level())
	}
	return most
}

// plan has pages fetched.
func (a *ReadAhead) plan(ctx context.Context, pages []aheadPage) {
	a.mu.Lock() // no worker begins with a page meanwhile, which would be read twice
	defer a.mu.Unlock()
	pages = slices.DeleteFunc(pages, func(p aheadPage) bool { return p.planned.Load() != nil || !p.needed() })
	stored := make([]storedPage, len(pages))
	for i, p := range pages {
		stored[i] = p.storedPage
	}
	for i, b := range a.fetch.plan(ctx, stored) {
		if b != nil {
			a.fetch.drop(pages[i].planned.Swap(b))
		}
	}
}

// pass has the columns leave the clusters in front of the one that the reader is in.
func (a *ReadAhead) pass(cluster *Cluster) {
	for _, c := range a.columns {
		c.skip(func(other *Cluster) bool { return other.First < cluster.First })
	}
}

// inPlan returns the plan for a cluster, or nil.
func (a *ReadAhead) inPlan(c *Cluster) *clusterPlan {
	for _, p := range a.plans.clusters {
		if p.cluster == c {
			return p
		}
	}
	return nil
}
