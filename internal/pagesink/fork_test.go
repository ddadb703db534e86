package pagesink

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestForks makes sure that the bytes depend on tickets only, and that a fork waits when the
// clusters that wait for lower tickets are as large as those of all forks, but not for
// a ticket that nobody has. Those of the lowest ticket are written at once.
func TestForks(t *testing.T) {
	const tickets, entries = 4, 5000
	var want []byte
	for _, backwards := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			out := &pagetest.File{}
			set := settings(2, 101)
			set.ZippedCluster = 20_000
			s := NewSink(t.Context(), &Output{Blob: out.Blob}, set, 1)
			columns := doubles(7)
			s.AddColumns(columns)
			ended := make(chan error, tickets)
			run := func(i int64) {
				f := s.Fork()
				f.Begin(i)
				ended <- errors.Join(fill(f, columns, entries+int(i)), f.End())
			}
			if backwards {
				for i := int64(tickets - 1); i >= 0; i-- {
					if run(i); i > 0 && s.queue.waiting < 2*set.ZippedCluster {
						t.Fatalf("%d bytes wait", s.queue.waiting)
					}
				}
			} else {
				lowest := s.Fork()
				lowest.Begin(0)
				for i := range int64(tickets - 1) {
					go run(i + 1)
				}
				synctest.Wait()
				if limit := tickets * set.ZippedCluster; s.queue.waiting < limit || s.queue.waiting > 2*limit {
					t.Errorf("%d bytes wait, the limit is %d", s.queue.waiting, limit)
				}
				if n := len(ended); n > 0 {
					t.Errorf("%d forks have ended", n)
				}
				err := fill(lowest, columns, entries)
				synctest.Wait()
				if len(out.Bytes) < int(set.ZippedCluster) {
					t.Errorf("%d bytes of the lowest ticket are written before it ends", len(out.Bytes))
				}
				ended <- errors.Join(err, lowest.End())
			}
			for range tickets {
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(s.EndForks(), s.CommitClusterGroup()); err != nil {
				t.Fatal(err)
			}
			if s.Entries() != tickets*entries+6 || s.queue.waiting != 0 || s.queue.writing != 0 {
				t.Errorf("%d entries, %+v", s.Entries(), s.queue)
			}
			if want == nil {
				want = out.Bytes
			} else if !bytes.Equal(out.Bytes, want) {
				t.Error("other bytes in another order")
			}
		})
	}
}

// TestForkWakes has a fork wait for a lower ticket, and makes sure that whatever ends the wait
// wakes it: nobody else does, so that it would hang for ever.
func TestForkWakes(t *testing.T) {
	// Who takes the next ticket may be the one who waits.
	const notTaken = "the lower ticket ends, and the next one is not taken"
	for name, c := range map[string]struct {
		wake func(lower *Sink, cancel context.CancelFunc)
		want error
	}{
		"the lower ticket ends": {func(lower *Sink, _ context.CancelFunc) { lower.End() }, nil},
		notTaken:                {func(lower *Sink, _ context.CancelFunc) { lower.End() }, nil},
		"the lower ticket fails": {func(lower *Sink, _ context.CancelFunc) { lower.Fail(pagetest.ErrFull) },
			pagetest.ErrFull},
		"an element of the lower ticket does not fit": {func(lower *Sink, _ context.CancelFunc) {
			b, err := NewBuffer[int64](lower, lower.Column(1))
			if err != nil {
				t.Fatal(err)
			}
			b.Add(1 << 40)
			lower.EndEntries(1)
			lower.CommitCluster()
		}, column.ErrRange},
		"another goroutine uses the lower ticket": {func(lower *Sink, _ context.CancelFunc) {
			lower.Enter("Fill")
			lower.Enter("Fill")
		}, ErrConcurrent},
		"the context is done": {func(_ *Sink, cancel context.CancelFunc) { cancel() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				set := settings(1, 0)
				set.ZippedCluster = 20_000
				s := NewSink(ctx, &Output{Blob: (&pagetest.File{}).Blob}, set, 1)
				columns := pagetest.Columns(pagetest.Of(column.SplitReal64), pagetest.Of(column.Int32))
				s.AddColumns(columns)
				lower, higher := s.Fork(), s.Fork()
				lower.Begin(0)
				ticket := int64(1)
				if name == notTaken {
					ticket = 2
				}
				higher.Begin(ticket)
				ended := make(chan error, 1)
				go func() { ended <- errors.Join(fillSome(higher, columns[:1], 10_000), higher.End()) }()
				synctest.Wait()
				if len(ended) > 0 || s.queue.waiting < 2*set.ZippedCluster {
					t.Fatalf("the fork does not wait: %v, %d bytes", <-ended, s.queue.waiting)
				}
				c.wake(lower, cancel)
				synctest.Wait()
				select {
				case err := <-ended:
					if !errors.Is(err, c.want) {
						t.Errorf("got the error %v, want %v", err, c.want)
					}
				default:
					t.Error("the fork waits for ever")
				}
			})
		})
	}
}

// TestQueueFull makes sure when a cluster has to wait: the next ticket never for what waits, and
// nobody for a ticket that was not taken.
func TestQueueFull(t *testing.T) {
	for _, c := range []struct {
		ticket           int64
		writing, waiting int64 // bytes, of 100
		taken            bool  // the next ticket, 5
		want             bool
	}{
		{5, 99, 1000, true, false}, {5, 100, 0, true, true}, {NoTicket, 99, 1000, true, false},
		{NoTicket, 100, 0, false, true},
		{6, 50, 49, true, false}, {6, 50, 50, true, true}, {6, 0, 100, true, true}, {6, 1000, 1000, false, false},
	} {
		q := newQueue()
		q.next, q.writing, q.waiting = 5, c.writing, c.waiting
		if c.taken {
			q.take(5)
		}
		if got := q.full(c.ticket, 100); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestTickets makes sure that a ticket can be taken once, that none may be missing in the end, and
// that all forks must have ended.
func TestTickets(t *testing.T) {
	begin := func(s *Sink, ticket int64) *Sink {
		f := s.Fork()
		f.Begin(ticket)
		return f
	}
	end := func(f *Sink) {
		if err := f.End(); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		do   func(s *Sink)
		next int64
		want string // of the error, or ""
	}{
		"none": {func(s *Sink) {}, 0, ""},
		"two, of one fork": {func(s *Sink) {
			f := begin(s, 1)
			end(f)
			f.Begin(0)
			end(f)
		}, 2, ""},
		"without a ticket": {func(s *Sink) { end(begin(s, NoTicket)) }, 0, ""},
		"one is missing":   {func(s *Sink) { end(begin(s, 1)) }, 0, "ticket 0 is missing, but 1 higher ones were taken"},
		"missing": {func(s *Sink) {
			end(begin(s, 0))
			end(begin(s, 2))
			end(begin(s, 3))
		}, 1, "ticket 1 is missing, but 2 higher ones were taken"},
		"twice": {func(s *Sink) { end(begin(s, 0)); begin(s, 0).End() }, 1, "ticket 0 was taken before"},
		"twice at a time": {func(s *Sink) {
			first, second := begin(s, 1), begin(s, 1)
			second.End()
			first.End()
			begin(s, 0).End()
		}, 2, "ticket 1 was taken before"},
		"not ended": {func(s *Sink) { begin(s, 0); begin(s, NoTicket) }, 0, "2 fillers are not closed"},
	} {
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(1, 0), 1)
		c.do(s)
		forks := 0
		if name == "not ended" {
			forks = 2
		}
		if got := s.Forks(); got != forks {
			t.Errorf("%s: %d forks, want %d", name, got, forks)
		}
		if got := s.NextTicket(); got != c.next {
			t.Errorf("%s: the next ticket is %d, want %d", name, got, c.next)
		}
		if err := s.EndForks(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestTicketsAgain makes sure that the clusters of a ticket depend on its entries only, not on
// those that the fork had before, and that a fork counts its own entries.
func TestTicketsAgain(t *testing.T) {
	sizes := func(s *Sink, file *pagetest.File, columns []*schema.Column) (all []uint64) {
		for _, c := range finish(t, s, file, columns) {
			all = append(all, c.NumEntries)
		}
		return all
	}
	var want []uint64
	for i, entries := range []int{0, 700, 5000} { // of the ticket before
		file := &pagetest.File{}
		set := settings(1+i, 101) // the number of workers is that of the sink
		set.ZippedCluster = 20_000
		s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 1)
		columns := doubles(3)
		s.AddColumns(columns)
		f := s.Fork()
		f.Begin(0)
		if err := errors.Join(fillSome(f, columns, entries), f.End()); err != nil {
			t.Fatal(err)
		}
		s.out.Wait()
		before, _ := s.GroupSize()
		f.Begin(1)
		if f.Entries() != 0 {
			t.Errorf("%d entries of a new ticket", f.Entries())
		}
		if err := fillSome(f, columns, 6000); err != nil || f.Entries() != 6000 {
			t.Fatalf("%d entries: %v", f.Entries(), err)
		}
		if err := errors.Join(f.End(), s.EndForks()); err != nil {
			t.Fatal(err)
		}
		got := sizes(s, file, columns)[before:]
		if s.Entries() != int64(entries)+6000 {
			t.Errorf("%d entries, want %d", s.Entries(), entries+6000)
		}
		if i == 0 {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("clusters of %d entries, without those before of %d", got, want)
		}
	}
	if len(want) < 3 {
		t.Errorf("%d clusters", len(want))
	}
}

// TestUnordered has forks without tickets in several goroutines: all entries must be there, those
// of a cluster in their order.
func TestUnordered(t *testing.T) {
	const forks, entries = 4, 3000
	file := &pagetest.File{}
	set := settings(2, 0)
	set.ZippedCluster, set.MaxPage = 10_000, 1024
	s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 1)
	columns := doubles(2)
	s.AddColumns(columns)
	ended := make(chan error)
	for i := range forks {
		f := s.Fork()
		f.Begin(NoTicket)
		go func() {
			x, err := NewBuffer[float64](f, columns[0])
			y, err2 := NewBuffer[float64](f, columns[1])
			for e := range entries {
				x.Add(float64(i*entries + e))
				y.AddAll([]float64{float64(i*entries + e), -1})
				err = errors.Join(err, f.EndEntries(1))
			}
			ended <- errors.Join(err, err2, f.End())
			f.Release()
		}()
	}
	for range forks {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.EndForks(); err != nil {
		t.Fatal(err)
	}
	seen, last := map[float64]bool{}, 0.0
	for _, c := range finish(t, s, file, columns) {
		for i, b := range c.Columns[0].Bits {
			v := math.Float64frombits(b)
			if i > 0 && v != last+1 || seen[v] || c.Columns[1].Bits[2*i] != b {
				t.Fatalf("entry %d of a cluster is out of order", i)
			}
			seen[v], last = true, v
		}
	}
	if len(seen) != forks*entries || s.Entries() != forks*entries {
		t.Errorf("%d entries, want %d", len(seen), forks*entries)
	}
}
