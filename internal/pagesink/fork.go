package pagesink

import "fmt"

// Fork returns a sink for the same RNTuple, for another goroutine. It begins with the
// columns and representations that s has now. Forks seal pages themselves and need the
// memory that Settings says, each; their clusters are written in the background.
//
// Between Begin and End a fork takes entries as every sink does.
func (s *Sink) Fork() *Sink {
	f := &Sink{book: s.book, guard: new(guard), ctx: s.ctx, set: s.set, fork: true}
	f.set.Workers = 1
	f.budget.limit = f.set.PageBudget
	f.begin(0)
	for _, k := range s.columns {
		f.add(&columnSink{column: k.column, sink: f, packed: k.packed, offset: k.offset,
			suppressed: k.suppressed, tracked: k.tracked})
	}
	return f
}

// NoTicket is the ticket of clusters that are written as they come.
const NoTicket = -1

// Begin prepares a fork for clusters whose place is behind those of all lower tickets,
// in the file, too. They depend on nothing but the entries that the fork gets.
func (s *Sink) Begin(ticket int64) {
	s.ticket, s.begun, s.zippedSum, s.unzippedSum = ticket, 0, 0, 0
	s.limit = s.estimate(0)
	s.allot()
	s.mu.Lock()
	s.forks++
	ok := ticket == NoTicket || s.queue.take(ticket)
	s.mu.Unlock()
	if !ok {
		s.ticket = NoTicket
		s.fail(fmt.Errorf("ticket %d was taken before", ticket))
	}
}

// End commits the last cluster. Then the fork can Begin again.
func (s *Sink) End() error {
	s.CommitCluster()
	s.mu.Lock()
	s.forks--
	if s.ticket != NoTicket {
		s.queue.tickets[s.ticket].ended = true
		s.advance()
	}
	s.mu.Unlock()
	return s.Err()
}

// NextTicket returns a number above all tickets that were taken, if these have ended.
func (s *Sink) NextTicket() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.next
}

// Forks returns the number of forks between Begin and End.
func (s *Sink) Forks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forks
}

// EndForks makes sure that nothing is missing: that all forks have ended, and that
// tickets are the numbers from 0 on.
func (s *Sink) EndForks() error {
	s.mu.Lock()
	forks, next, higher := s.forks, s.queue.next, len(s.queue.tickets)
	s.mu.Unlock()
	switch {
	case forks > 0:
		s.Fail(fmt.Errorf("%d fillers are not closed", forks))
	case higher > 0:
		s.Fail(fmt.Errorf("ticket %d is missing, but %d higher ones were taken", next, higher))
	}
	return s.Err()
}

// hand hands over a cluster of a fork. It waits while too many are to be written.
func (s *Sink) hand(c *clusterBuilder) {
	if err := c.arrange(); err != nil {
		s.fail(err)
		return
	}
	s.zippedSum += c.size
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.Err() == nil && s.queue.full(s.ticket, int64(s.forks)*s.set.ZippedCluster) {
		s.await()
	}
	if s.ticket > s.queue.next {
		s.queue.waiting += c.size
		t := s.queue.tickets[s.ticket]
		t.clusters = append(t.clusters, c)
	} else {
		s.start(c)
	}
}

// await waits until the queue has changed. The caller holds the mutex.
func (s *Sink) await() {
	changed := s.queue.changed
	s.mu.Unlock()
	select {
	case <-changed:
	case <-s.ctx.Done():
		s.fail(s.ctx.Err())
	}
	s.mu.Lock()
}

// advance starts to write the clusters whose turn has come. The caller holds the mutex.
func (b *book) advance() {
	q := &b.queue
	for t := q.tickets[q.next]; t != nil; t = q.tickets[q.next] {
		for _, c := range t.clusters {
			q.waiting -= c.size
			b.start(c)
		}
		t.clusters = nil
		if !t.ended {
			break
		}
		delete(q.tickets, q.next)
		q.next++
	}
	q.wake()
}

// start starts to write a cluster of a fork. The caller holds the mutex.
func (b *book) start(c *clusterBuilder) {
	b.queue.writing += c.size
	if b.place(c) {
		go b.out.writeAll()
	}
}

// A queue has the order of tickets, and the clusters that wait for lower ones.
type queue struct {
	next    int64             // the lowest ticket that has not ended
	tickets map[int64]*ticket // that were taken, from next on
	waiting int64             // bytes of the clusters that wait
	writing int64             // bytes of clusters of forks that are being written
	changed chan struct{}     // closed by wake
}

type ticket struct {
	clusters []*clusterBuilder // that wait
	ended    bool
}

func newQueue() queue {
	return queue{tickets: map[int64]*ticket{}, changed: make(chan struct{})}
}

// wake wakes those who wait for a change.
func (q *queue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// take reports whether a ticket is new.
func (q *queue) take(n int64) bool {
	if n < q.next || q.tickets[n] != nil {
		return false
	}
	q.tickets[n] = &ticket{}
	return true
}

// full reports whether another cluster has to wait until others are written, of which
// there are limit bytes. The next ticket never waits for higher ones; and nobody waits for
// a ticket that was not taken, because who takes it may be the one who would wait.
func (q *queue) full(n, limit int64) bool {
	if n <= q.next {
		return q.writing >= limit
	}
	return q.writing+q.waiting >= limit && q.tickets[q.next] != nil
}
