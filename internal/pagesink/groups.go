package pagesink

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A Group is a cluster group that has been written.
type Group struct {
	envelope.ClusterGroup

	// Read returns the page list, uncompressed. Nil: the group stays as it is; otherwise
	// the sink may merge it with others.
	Read func() ([]byte, error)

	own bool // nothing else refers to the page list
}

const (
	// maxRuns is the number of groups of about the same size that are merged. So a
	// cluster is listed anew a number of times, and there is a number of groups, that
	// grow with the logarithm of the number of clusters.
	maxRuns = 4

	// maxMerged is the size in bytes up to which page lists are merged. A reader has to
	// decode all of one for one entry.
	maxMerged = 16 << 20
)

// GroupSize returns how many clusters of the current cluster group have been
// committed, and how many pages these have.
func (s *Sink) GroupSize() (clusters, pages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clusters, s.groupPages
}

// CommitClusterGroup commits the current cluster and the cluster group.
func (s *Sink) CommitClusterGroup() error {
	if err := s.CommitCluster(); err != nil {
		return err
	}
	return s.EndGroup()
}

// EndGroup commits a cluster group of the clusters that have been committed. The
// current cluster is not part of it.
func (s *Sink) EndGroup() error { return s.endGroup(false) }

// Checkpoint commits the current cluster and a cluster group, which it merges with others
// if Checkpoint made them, or if Resume says so, so that there are never many.
func (s *Sink) Checkpoint() error {
	if err := s.CommitCluster(); err != nil {
		return err
	}
	return s.endGroup(true)
}

func (s *Sink) endGroup(merge bool) error {
	list := s.takeGroup()
	s.report()
	if s.Err() != nil || len(list.Clusters) == 0 {
		return s.Err()
	}
	g, err := s.writeGroup(list, merge)
	if err != nil {
		s.Fail(err)
		return err
	}
	s.groups = append(s.groups, g)
	s.groupFirst = int64(g.MinEntry + g.EntrySpan)
	return nil
}

// writeGroup writes the page list of a cluster group, which it merges with the last ones if
// wanted. These are removed.
func (s *Sink) writeGroup(list envelope.PageList, merge bool) (g Group, err error) {
	list.HeaderChecksum = s.sums
	first := uint64(s.groupFirst)
	if merge {
		kept, lists, err := s.mergeable(len(list.Clusters))
		if err != nil {
			return g, err
		}
		var clusters []envelope.Cluster
		var pages []envelope.ClusterPages
		for _, l := range lists {
			clusters, pages = append(clusters, l.Clusters...), append(pages, l.Pages...)
		}
		list.Clusters, list.Pages = append(clusters, list.Clusters...), append(pages, list.Pages...)
		for _, old := range s.groups[kept:] {
			if old.own {
				s.superseded = append(s.superseded, old.PageList)
			}
			first = min(first, old.MinEntry)
		}
		s.groups = s.groups[:kept]
	}
	plain, err := list.Append(nil)
	if err != nil {
		return g, err
	}
	stored, err := compress.Append(nil, plain, s.set.Compression)
	if err != nil {
		return g, err
	}
	last := list.Clusters[len(list.Clusters)-1]
	g.ClusterGroup = envelope.ClusterGroup{MinEntry: first, EntrySpan: last.FirstEntry + last.NumEntries - first,
		NumClusters: uint32(len(list.Clusters))}
	if g.PageList, err = writeStored(s.out, stored, len(plain), s.set.MaxKeySize); err != nil {
		return g, err
	}
	if merge {
		g.own, g.Read = true, func() ([]byte, error) {
			if uint64(len(stored)) == g.PageList.Length {
				return stored, nil
			}
			b := make([]byte, g.PageList.Length)
			return b, compress.Decompress(b, stored)
		}
	}
	return g, nil
}

// mergeable returns the page lists of the groups that are to be merged with one of n
// clusters that follows them. These are the last ones; kept is the number of others.
func (s *Sink) mergeable(n int) (kept int, lists []*envelope.PageList, err error) {
	kept = len(s.groups)
	next, size := uint64(s.groupFirst), uint64(0)
	for {
		i := kept
		total, from := n, next
		for i > 0 {
			g := &s.groups[i-1]
			if g.Read == nil || g.MinEntry+g.EntrySpan != from || level(int(g.NumClusters)) > level(n) ||
				size+g.PageList.Length > maxMerged {
				break
			}
			total, from, size = total+int(g.NumClusters), g.MinEntry, size+g.PageList.Length
			i--
		}
		if kept-i < maxRuns-1 {
			return kept, lists, nil
		}
		var more []*envelope.PageList
		for j := i; j < kept; j++ {
			l, err := s.groups[j].read()
			if err != nil {
				return 0, nil, fmt.Errorf("page list of the entries from %d on: %w", s.groups[j].MinEntry, err)
			}
			if len(l.ClustersExtra)+len(l.PagesExtra)+len(l.Extra) > 0 { // of a later version of the format
				s.groups[j].Read = nil
				return kept, lists, nil
			}
			more = append(more, l)
		}
		kept, lists = i, append(more, lists...)
		n, next = total, from
	}
}

// level is the logarithm of a number of clusters to the base maxRuns.
func level(clusters int) int { return (bits.Len(uint(clusters)) - 1) / (bits.Len(maxRuns) - 1) }

// read returns the page list of a group.
func (g *Group) read() (*envelope.PageList, error) {
	b, err := g.Read()
	if err != nil {
		return nil, err
	}
	return envelope.ParsePageList(b)
}

// Groups returns the cluster groups that have been committed.
func (s *Sink) Groups() []envelope.ClusterGroup {
	var all []envelope.ClusterGroup
	for i := range s.groups {
		all = append(all, s.groups[i].ClusterGroup)
	}
	return all
}

// Superseded returns where the page lists are that nothing refers to any more, because
// others have replaced them since the last call.
func (s *Sink) Superseded() []locator.Link {
	links := slices.Clone(s.superseded)
	s.superseded = s.superseded[:0]
	return links
}

// Envelope writes an envelope, compressed as pages are.
func (s *Sink) Envelope(plain []byte) (locator.Link, error) {
	link, err := WriteEnvelope(s.out, plain, s.set)
	if err != nil {
		s.Fail(err)
	}
	return link, err
}
