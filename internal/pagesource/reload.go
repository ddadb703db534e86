package pagesource

import (
	"context"
	"fmt"
	"reflect"
	"sort"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
)

// regrouped returns the clusters of g from the page lists of the newest state, or nil
// if g still has the page list that it had, or if that fails. Clusters never change,
// but a writer may put them into other cluster groups.
func (s *Source) regrouped(ctx context.Context, g *group) []*Cluster {
	seen, newest := s, s.newest.Load()
	for ctx.Err() == nil {
		if newest != nil {
			if clusters, err := newest.part(ctx, s, g); err == nil {
				return clusters
			}
			seen = newest
		}
		var err error
		if newest, err = s.Reload(ctx); err != nil || reflect.DeepEqual(seen.links(g), newest.links(g)) {
			return nil
		}
		s.newest.Store(newest)
	}
	return nil
}

// over returns the groups of s that have entries of g.
func (s *Source) over(g *group) []*group {
	end := g.MinEntry + g.EntrySpan
	i := sort.Search(len(s.groups), func(i int) bool { return s.groups[i].MinEntry+s.groups[i].EntrySpan > g.MinEntry })
	j := sort.Search(len(s.groups), func(i int) bool { return s.groups[i].MinEntry >= end })
	return s.groups[i:max(i, j)]
}

// links returns where the page lists of the groups are that have entries of g.
func (s *Source) links(g *group) (all []any) {
	for _, g := range s.over(g) {
		all = append(all, g.ClusterGroup)
	}
	return all
}

// part returns the clusters of g, a group of the earlier state old, from the page
// lists of s.
func (s *Source) part(ctx context.Context, old *Source, g *group) ([]*Cluster, error) {
	var found []*Cluster
	next, end := int64(g.MinEntry), int64(g.MinEntry+g.EntrySpan)
	for _, from := range s.over(g) {
		all, err := s.readOnce(ctx, from)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			if c.First == next && c.End <= end {
				found = append(found, c.seenFrom(old, g.firstID+len(found)))
				next = c.End
			}
		}
	}
	if next != end || len(found) != int(g.NumClusters) {
		return nil, fmt.Errorf("the entries from %d up to %d: %w", g.MinEntry, end,
			frame.Corrupt("%d clusters up to entry %d", len(found), next))
	}
	return found, nil
}

// readOnce is like load without Reload.
func (s *Source) readOnce(ctx context.Context, g *group) (clusters []*Cluster, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clusters == nil {
		g.clusters, err = s.read(ctx, g, s.scan)
	}
	return g.clusters, err
}

// seenFrom returns the cluster with the given number, and only with the columns of
// an earlier state.
func (c *Cluster) seenFrom(old *Source, id int) *Cluster {
	columns := c.columns()
	n := min(len(columns), len(old.Schema.Columns))
	if c.ID == id && n == len(columns) {
		return c
	}
	return &Cluster{ID: id, First: c.First, End: c.End, columns: func() []envelope.ColumnPages { return columns[:n] }}
}

// Share makes s use the page lists that old, an earlier state of the same RNTuple,
// has read or is going to read, where both have the same cluster groups. It must be
// called before s is used.
func (s *Source) Share(old *Source) {
	for i, g := range s.groups {
		if i < len(old.groups) && g.firstID == old.groups[i].firstID && g.index == old.groups[i].index &&
			reflect.DeepEqual(g.ClusterGroup, old.groups[i].ClusterGroup) {
			s.groups[i] = old.groups[i]
		}
	}
}

// HeaderChecksum returns the checksum of the RNTuple's header.
func (s *Source) HeaderChecksum() uint64 { return s.headerChecksum }
