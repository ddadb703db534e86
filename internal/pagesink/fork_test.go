package pagesink

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagetest"
)

// TestForks makes sure that the bytes depend on tickets only, and that a fork waits when the
// clusters that wait for lower tickets are as large as those of all forks, but not for
// a ticket that nobody has.
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
				ended <- errors.Join(fill(lowest, columns, entries), lowest.End())
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
	for name, c := range map[string]struct {
		wake func(lower *Sink, cancel context.CancelFunc)
		want error
	}{
		"the lower ticket ends":  {func(lower *Sink, _ context.CancelFunc) { lower.End() }, nil},
		"the lower ticket fails": {func(lower *Sink, _ context.CancelFunc) { lower.Fail(pagetest.ErrFull) }, pagetest.ErrFull},
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
				higher.Begin(1)
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
