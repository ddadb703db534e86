package pagesink

import (
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A book is what a sink shares with its forks: the clusters of the RNTuple, in their
// order.
type book struct {
	out     *Output
	sums    uint64                // checksum of the header
	failure atomic.Pointer[error] // the first one; sticky

	// Forks do not use these.
	groups     []Group
	superseded []locator.Link // page lists of groups that were merged
	groupFirst int64          // first entry of the current cluster group

	mu         sync.Mutex        // guards what follows, and columnSink.offset
	entries    int64             // of the clusters that have their place
	clusters   int               // of the current cluster group that have their place
	groupPages int               // of these
	group      envelope.PageList // those that are written
	tracked    []writtenCluster  // those that Written has not been told of
	spare      []*arena
	forks      int // that are open
	queue      queue
}

// Err returns the first error.
func (b *book) Err() error {
	if err := b.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail makes err the error, unless there is one already.
func (b *book) fail(err error) {
	if b.failure.CompareAndSwap(nil, &err) {
		b.mu.Lock()
		b.queue.wake()
		b.mu.Unlock()
	}
}

// newArena returns memory for a cluster.
func (b *book) newArena() *arena {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := &arena{}
	if n := len(b.spare); n > 0 {
		a, b.spare = b.spare[n-1], b.spare[:n-1]
	}
	return a
}

// write gives a cluster its place, and has it written, in the background or before it
// returns.
func (b *book) write(c *clusterBuilder, background bool) {
	b.mu.Lock()
	first := b.place(c)
	b.mu.Unlock()
	switch {
	case first && background:
		go b.out.writeAll()
	case first:
		if b.out.writeFirst() {
			go b.out.writeAll()
		}
	case !background:
		<-c.done
	}
}

// place gives a cluster the next place in the RNTuple and in the file, and reports
// whether the caller must start to write, once it has unlocked the mutex.
func (b *book) place(c *clusterBuilder) (first bool) {
	c.FirstEntry = uint64(b.entries)
	b.entries += int64(c.NumEntries)
	b.clusters++
	for i, offset := range c.offsets {
		if list := &c.lists[i]; list.ElementOffset != envelope.Suppressed {
			list.ElementOffset = *offset
			for _, p := range c.pages[i] {
				*offset += int64(p.elements)
			}
			b.groupPages += len(c.pages[i])
		}
	}
	return b.out.append(c)
}

// finish takes note that a cluster is written, or not because of err.
func (b *book) finish(c *clusterBuilder, err error) {
	if err != nil {
		b.fail(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.group.Clusters = append(b.group.Clusters, c.Cluster)
		b.group.Pages = append(b.group.Pages, envelope.ClusterPages{Columns: c.lists})
		if c.kinds != nil {
			b.tracked = append(b.tracked, writtenCluster{c.Cluster, c.lists, c.bounds()})
		}
	}
	b.spare = append(b.spare, c.arena.reset())
	if c.sink.fork {
		b.queue.writing -= c.size
		b.queue.wake()
	}
}

// takeGroup returns the clusters that have been committed since the last call.
func (b *book) takeGroup() envelope.PageList {
	b.out.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.group
	b.group = envelope.PageList{}
	b.clusters -= len(list.Clusters)
	for _, c := range list.Pages {
		for i := range c.Columns {
			b.groupPages -= len(c.Columns[i].Pages)
		}
	}
	return list
}
