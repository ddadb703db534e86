package pagesink

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
)

// TestGuard makes sure that a call within another one is refused, and is the error from then on,
// also if it is one of another sink of the file; and that a fork is another sink for this.
func TestGuard(t *testing.T) {
	out := &Output{Blob: (&pagetest.File{}).Blob}
	a := NewSink(context.Background(), out, settings(1, 0), 1)
	b := NewSink(context.Background(), out, settings(1, 0), 1)
	fork := a.Fork()
	for range 2 {
		if err := errors.Join(a.Enter("Fill"), fork.Enter("Fill")); err != nil {
			t.Fatal(err)
		}
		a.Leave()
		fork.Leave()
	}
	if err := a.Enter("Fill"); err != nil {
		t.Fatal(err)
	}
	err := b.Enter("Close")
	if !errors.Is(err, ErrConcurrent) || !contains(err, "Close: ") || b.Err() != err || a.Err() != nil {
		t.Errorf("errors %v, %v and %v", err, b.Err(), a.Err())
	}
	a.Leave()
	if err := b.Enter("Close"); err != nil {
		t.Errorf("after the other call: %v", err) // Err has the error
	}
}

// TestPanic makes sure that a panic within a call goes on, and is the error of the sink.
func TestPanic(t *testing.T) {
	s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(1, 0), 1)
	func() {
		defer func() {
			if value := recover(); value != "ouch" {
				t.Errorf("recovered %v", value)
			}
		}()
		if err := s.Enter("Fill"); err != nil {
			t.Fatal(err)
		}
		defer s.Leave()
		panic("ouch")
	}()
	if err := s.Err(); err == nil || !contains(err, "ouch") {
		t.Errorf("error %v", err)
	}
	if err := s.Enter("Close"); err != nil {
		t.Errorf("the call has not ended: %v", err)
	}
}

// TestSeize makes sure that Seize waits for the other call, which is an error all the same.
func TestSeize(t *testing.T) {
	s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(1, 0), 1)
	s.Seize("Close") // nobody else
	s.Leave()
	if err := errors.Join(s.Err(), s.Enter("Fill")); err != nil {
		t.Fatal(err)
	}
	noticed, seized := make(chan struct{}), make(chan struct{})
	go func() {
		for s.Err() == nil { // until Seize has met the other call
			runtime.Gosched()
		}
		close(noticed)
	}()
	go func() {
		s.Seize("Close")
		close(seized)
	}()
	<-noticed
	select {
	case <-seized:
		t.Error("Seize does not wait")
	default:
	}
	s.Leave()
	<-seized
	if !s.guard.busy.Load() || !errors.Is(s.Err(), ErrConcurrent) {
		t.Errorf("busy %v, error %v", s.guard.busy.Load(), s.Err())
	}
}

// TestBackground has the file block. A sink may fill one cluster while another one is written, not
// more; a fork may go on until the clusters that are being written are as large as those of all
// forks. Otherwise memory would have no limit.
func TestBackground(t *testing.T) {
	for _, workers := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			file := &pagetest.File{Gate: make(chan struct{})}
			set := settings(workers, 0)
			set.ZippedCluster = 8000 // 500 entries of TestBackground, which have two elements
			s := NewSink(t.Context(), &Output{Blob: file.Blob}, set, 1)
			ended := make(chan error, 1)
			go func() { ended <- fill(s, doubles(1), 2000) }()
			for n := range 4 {
				synctest.Wait()
				// With one worker the caller writes, with two it waits for the previous cluster.
				got, want := s.entries+s.filled, int64(min(2000, (n+workers)*500))
				if got != want || len(file.Sizes) != n {
					t.Errorf("%d workers, %d clusters written: %d entries, want %d", workers, n, got, want)
				}
				file.Gate <- struct{}{}
			}
			file.Gate <- struct{}{} // the page list
			if err := <-ended; err != nil {
				t.Error(err)
			}
			synctest.Wait()
		})
	}
}

// TestEndCluster ends clusters that are not full while the file blocks: the second one must wait
// for the first one.
func TestEndCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &pagetest.File{Gate: make(chan struct{})}
		s := NewSink(t.Context(), &Output{Blob: file.Blob}, settings(2, 0), 1)
		s.AddColumns(doubles(1))
		ended := make(chan error, 3)
		go func() {
			for range 3 {
				ended <- errors.Join(fillSome(s, doubles(1), 1), s.EndCluster())
			}
		}()
		for n := range 3 {
			synctest.Wait()
			if want := min(3, n+1); len(ended) != want {
				t.Errorf("%d clusters written: %d have ended, want %d", n, len(ended), want)
			}
			file.Gate <- struct{}{}
		}
		if err := errors.Join(<-ended, <-ended, <-ended, s.Wait()); err != nil {
			t.Error(err)
		}
		// Two equal elements and a checksum.
		if s.zippedSum != 3*24 || s.unzippedSum != 3*16 {
			t.Errorf("clusters of %d bytes, %d before compression", s.zippedSum, s.unzippedSum)
		}
	})
}

// TestWait makes sure that Wait and Fail wait for pages of the current cluster which are being
// sealed, and for the cluster that is being written.
func TestWait(t *testing.T) {
	for name, wait := range map[string]func(s *Sink) error{
		"Wait": (*Sink).Wait,
		"Fail": func(s *Sink) error {
			s.Fail(pagetest.ErrFull)
			return s.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			file := &pagetest.File{Gate: make(chan struct{})}
			s := NewSink(t.Context(), &Output{Blob: file.Blob}, settings(2, 0), 1)
			s.AddColumns(doubles(1))
			if err := errors.Join(fillSome(s, doubles(1), 1), s.EndCluster()); err != nil {
				t.Fatal(err)
			}
			b, err := NewBuffer[float64](s, s.Column(0))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the goroutine that sealed the cluster has ended: another one seals the page
			gate, waited := make(chan struct{}), make(chan error, 1)
			b.Insert(Page{NumElements: 1, Encode: func(dst []byte) ([]byte, error) {
				<-gate
				return append(dst, make([]byte, 8)...), nil
			}})
			go func() { waited <- wait(s) }()
			synctest.Wait()
			if len(waited) > 0 {
				t.Errorf("%s returns before the cluster is written", name)
			}
			file.Gate <- struct{}{}
			synctest.Wait()
			if len(waited) > 0 {
				t.Errorf("%s returns before a page is sealed", name)
			}
			close(gate)
			if err := <-waited; err != nil && name == "Wait" {
				t.Error(err)
			}
		})
	}
}

// TestWorkerCount makes sure that no more goroutines seal pages than there are workers, of which
// one is the caller, and that no more pages wait for the others than leastQueue for each.
func TestWorkerCount(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := NewSink(t.Context(), &Output{Blob: (&pagetest.File{}).Blob}, settings(workers, 0), 1)
			s.AddColumns(doubles(1))
			b, err := NewBuffer[float64](s, s.Column(0))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // goroutines that have ended count no more
				gate, ended := make(chan struct{}), make(chan struct{})
				var running, inserted atomic.Int64
				go func() {
					for range 50 {
						b.Insert(Page{NumElements: 1, Encode: func(dst []byte) ([]byte, error) {
							running.Add(1)
							<-gate
							running.Add(-1)
							return append(dst, make([]byte, 8)...), nil
						}})
						inserted.Add(1)
					}
					s.Wait()
					close(ended)
				}()
				synctest.Wait()
				taken, want := inserted.Load(), int64((workers-1)*(1+leastQueue))
				if n := running.Load(); n != int64(workers) || taken != want {
					t.Errorf("%d workers: %d at work, %d pages taken before, want %d", workers, n, taken, want)
				}
				close(gate)
				<-ended
				synctest.Wait()
			}
		})
	}
}

// TestForkBackground is TestBackground for forks, of which only one has clusters.
func TestForkBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &pagetest.File{Gate: make(chan struct{})}
		set := settings(1, 0)
		set.ZippedCluster = 8000
		s := NewSink(t.Context(), &Output{Blob: file.Blob}, set, 1)
		columns := doubles(1)
		s.AddColumns(columns)
		busy, idle := s.Fork(), s.Fork()
		busy.Begin(0)
		idle.Begin(NoTicket)
		ended := make(chan error, 1)
		go func() { ended <- errors.Join(fillSome(busy, columns, 5000), busy.End()) }()
		for n := range 10 {
			synctest.Wait()
			// Two clusters of 500 entries are as large as those of both forks; the third one waits.
			if want := int64(min(5000, (n+3)*500)); busy.Entries() != want {
				t.Errorf("%d clusters written: %d entries, want %d", n, busy.Entries(), want)
			}
			file.Gate <- struct{}{}
		}
		if err := errors.Join(<-ended, idle.End(), s.EndForks(), s.Wait()); err != nil {
			t.Error(err)
		}
		s.out.Wait()
	})
}

// TestSharedOutput has two sinks and a fork write to a file that blocks. Each cluster must be
// written before the sink that commits it in the foreground goes on, and an envelope behind all.
func TestSharedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &pagetest.File{Gate: make(chan struct{})}
		out := &Output{Blob: file.Blob}
		back := NewSink(t.Context(), out, settings(2, 0), 1)
		front := NewSink(t.Context(), out, settings(1, 0), 1)
		for _, s := range []*Sink{back, front} {
			s.AddColumns(doubles(1))
		}
		fork := front.Fork()
		commit := func(s *Sink, n int, end func() error) error {
			return errors.Join(fillSome(s, doubles(1), n), end())
		}
		if err := commit(back, 1, back.EndCluster); err != nil { // in the background
			t.Fatal(err)
		}
		ended, written := make(chan error, 1), make(chan error, 1)
		go func() { ended <- commit(front, 2, front.EndCluster) }()
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("EndCluster returns before the cluster is written")
		}
		fork.Begin(0)
		if err := commit(fork, 3, fork.End); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := WriteEnvelope(out, make([]byte, 10), settings(1, 0))
			written <- err
		}()
		file.Gate <- struct{}{}
		synctest.Wait()
		if len(ended) > 0 || len(written) > 0 {
			t.Error("the cluster of another sink was waited for")
		}
		file.Gate <- struct{}{}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		file.Gate <- struct{}{}
		file.Gate <- struct{}{}
		if err := errors.Join(<-written, back.Wait(), front.EndForks()); err != nil {
			t.Error(err)
		}
		// An entry has two equal elements of 8 bytes, and a page a checksum.
		if want := []int{1*16 + 8, 2*16 + 8, 3*16 + 8, 10}; !slices.Equal(file.Sizes, want) {
			t.Errorf("payloads of %d bytes, want %d", file.Sizes, want)
		}
	})
}

// TestTwoBackground has two sinks write to a file in the background: one payload at a time, in the
// order in which the clusters were committed.
func TestTwoBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, busy := make(chan struct{}), 0
		var sizes []int
		out := &Output{Blob: func(parts ...[]byte) (int64, error) {
			busy++
			<-gate
			busy--
			sizes = append(sizes, len(parts[0]))
			return 0, nil
		}}
		var sinks []*Sink
		for i := range 3 {
			s := NewSink(t.Context(), out, settings(2, 0), 1)
			s.AddColumns(doubles(1))
			if err := errors.Join(fillSome(s, doubles(1), 1+i), s.EndCluster()); err != nil {
				t.Fatal(err)
			}
			sinks = append(sinks, s)
		}
		for range sinks {
			synctest.Wait()
			if busy != 1 {
				t.Errorf("%d payloads are being written", busy)
			}
			gate <- struct{}{}
		}
		for _, s := range sinks {
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
		}
		if want := []int{24, 40, 56}; !slices.Equal(sizes, want) {
			t.Errorf("payloads of %d bytes, want %d", sizes, want)
		}
	})
}

// TestForegroundFirst is TestSharedOutput for a cluster that comes behind one whose sink
// writes it itself: somebody else must write it.
func TestForegroundFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &pagetest.File{Gate: make(chan struct{})}
		s := NewSink(t.Context(), &Output{Blob: file.Blob}, settings(1, 0), 1)
		s.AddColumns(doubles(1))
		fork := s.Fork()
		ended := make(chan error, 1)
		go func() { ended <- errors.Join(fillSome(s, doubles(1), 1), s.EndCluster()) }()
		synctest.Wait()
		fork.Begin(0)
		if err := errors.Join(fillSome(fork, doubles(1), 1), fork.End()); err != nil {
			t.Fatal(err)
		}
		file.Gate <- struct{}{}
		synctest.Wait()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the sink waits for a cluster of the fork")
		}
		file.Gate <- struct{}{}
		s.out.Wait()
		if n, _ := s.GroupSize(); n != 2 || len(file.Sizes) != 2 {
			t.Errorf("%d clusters, %d payloads", n, len(file.Sizes))
		}
	})
}
