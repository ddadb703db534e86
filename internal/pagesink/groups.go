package pagesink

import (
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
)

// list adds a cluster that has been written to the current cluster group.
func (s *Sink) list(c envelope.Cluster, pages []envelope.ColumnPages) {
	s.group.Clusters = append(s.group.Clusters, c)
	s.group.Pages = append(s.group.Pages, envelope.ClusterPages{Columns: pages})
	for i := range pages {
		s.groupPages += len(pages[i].Pages)
	}
}

// GroupSize returns how many clusters of the current cluster group have been
// written, and how many pages these have.
func (s *Sink) GroupSize() (clusters, pages int) { return len(s.group.Clusters), s.groupPages }

// CommitClusterGroup commits the current cluster and the cluster group.
func (s *Sink) CommitClusterGroup() error {
	if err := s.CommitCluster(); err != nil {
		return err
	}
	return s.EndGroup()
}

// EndGroup commits a cluster group of the clusters that have been written. The
// current cluster is not part of it.
func (s *Sink) EndGroup() error {
	n := len(s.group.Clusters)
	if s.err != nil || n == 0 {
		return s.err
	}
	last := s.group.Clusters[n-1]
	end := int64(last.FirstEntry + last.NumEntries)
	s.group.HeaderChecksum = s.sums
	list, err := s.group.Append(nil)
	if err != nil {
		s.err = err
		return err
	}
	link, err := s.Envelope(list)
	if err != nil {
		return err
	}
	s.groups = append(s.groups, envelope.ClusterGroup{
		MinEntry: uint64(s.groupFirst), EntrySpan: uint64(end - s.groupFirst), NumClusters: uint32(n), PageList: link,
	})
	s.group, s.groupFirst, s.groupPages = envelope.PageList{}, end, 0
	return nil
}

// Groups returns the cluster groups that have been committed.
func (s *Sink) Groups() []envelope.ClusterGroup { return s.groups }

// Envelope writes an envelope, compressed as pages are.
func (s *Sink) Envelope(plain []byte) (locator.Link, error) {
	link, err := WriteEnvelope(s.out, plain, s.set)
	if err != nil {
		s.Fail(err)
	}
	return link, err
}
