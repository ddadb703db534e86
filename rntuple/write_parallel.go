package rntuple

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
)

// A Filler writes entries to the RNTuple of a Writer, concurrently with other Fillers. It must be
// used by one goroutine at a time, and closed before the Writer.
//
// A Filler writes its own clusters, and encodes and compresses them in the calling goroutine;
// Workers has no effect on it. Its memory usage is that of a Writer: see ClusterSize and
// PageBufferBudget. Complete clusters are kept in memory until they are written, up to ClusterSize
// for each open Filler; beyond that, Fillers block.
//
// Errors of a Filler are also errors of the Writer, and sticky there.
type Filler[T any] struct {
	forked
	rows[T]
}

// forked is the part of fillers that does not depend on the type of entries.
type forked struct {
	w      *common
	fork   *fork // must not be used once it is closed: another filler may have it
	closed *atomic.Bool
}

// A fork is what a filler works with. The next filler may use it again.
type fork struct {
	sink    *pagesink.Sink
	outlets *field.Outlets
	plan    *field.WritePlan // of a Filler
	columns columns          // of a ColumnFiller
}

// fill returns a filler whose fork compile completes.
func (w *common) fill(ticket int64, compile func(*fork) error) forked {
	w.mu.Lock()
	defer w.mu.Unlock()
	var f *fork
	if n := len(w.idle); n > 0 {
		f, w.idle = w.idle[n-1], w.idle[:n-1]
	} else {
		sink := w.ntuple.Sink.Fork()
		f = &fork{sink: sink, outlets: w.outlets.Fork(sink)}
		if err := compile(f); err != nil {
			sink.Fail(err)
		}
	}
	f.sink.Begin(ticket)
	return forked{w, f, new(atomic.Bool)}
}

// partOf says for errors which entries those of a ticket are.
func partOf(ticket int64) string {
	if ticket == pagesink.NoTicket {
		return " of a filler"
	}
	return fmt.Sprintf(" of ticket %d", ticket)
}

// checkTicket makes a ticket that is no number from 0 on an error of the writer.
func (w *common) checkTicket(ticket int64) {
	if ticket < 0 {
		w.ntuple.Sink.Fail(fmt.Errorf("ticket %d; the number must not be negative", ticket))
	}
}

// alone is the body of a call: it calls change, which changes what fillers have copied, if there
// are none.
func (w *common) alone(call string, change func() error) error {
	return during(call, w.ntuple.Sink, w.ntuple.Err, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if n := w.ntuple.Sink.Forks(); n > 0 {
			return fmt.Errorf("%d fillers are not closed", n)
		}
		w.gather()
		w.idle = nil
		return change()
	})
}

// release returns the memory of fillers to its pool when everything is written.
func (w *common) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gather()
	for _, f := range w.idle {
		f.sink.Release()
	}
	w.idle = nil
}

// gather lets Needs regard what was written to fillers. The caller holds the mutex.
func (w *common) gather() {
	for _, f := range w.idle {
		w.outlets.Merge(f.outlets)
	}
}

// state returns the error that all further calls return.
func (f *forked) state() error {
	if f.closed.Load() {
		return ntuple.ErrClosed
	}
	return f.w.ntuple.Err()
}

// NumEntries returns the number of entries written to the filler so far; 0 once it is
// closed.
func (f *forked) NumEntries() int64 {
	if f.closed.Load() {
		return 0
	}
	return f.fork.sink.Entries()
}

// CommitCluster ends the current cluster, if it has entries. It need not be written yet
// when CommitCluster returns.
func (f *forked) CommitCluster() error {
	if f.closed.Load() {
		return ntuple.ErrClosed
	}
	return during("CommitCluster", f.fork.sink, f.state, f.fork.sink.CommitCluster)
}

// Close ends the last cluster, and the part of a ticket.
func (f *forked) Close() error {
	if f.closed.Swap(true) {
		return ntuple.ErrClosed
	}
	f.fork.sink.Seize("Close")
	err := f.fork.sink.End()
	f.fork.sink.Leave() // before the next filler can have it
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.idle = append(f.w.idle, f.fork)
	return err
}

// Filler returns a Filler whose clusters are added to the RNTuple as they are completed, so their
// order is not deterministic. It is safe for concurrent use.
func (w *Writer[T]) Filler() *Filler[T] { return w.fillerOf(pagesink.NoTicket) }

// OrderedFiller returns a Filler for one part of the entries. Its clusters follow those of all
// lower tickets. Since clusters do not span parts, the RNTuple and the file are independent of
// which goroutines write the parts, and when. Tickets are consecutive numbers from 0, each used
// once; none may be missing when the Writer is closed.
//
// Clusters wait for those of lower tickets, and the Filler blocks when too many are waiting.
// Tickets should therefore be taken in order, and by a goroutine that holds no other ticket: a
// goroutine that waits for its own ticket deadlocks. While the lowest open ticket has not been
// taken yet, Fillers do not block, and all complete clusters are kept in memory. OrderedFiller is
// safe for concurrent use.
func (w *Writer[T]) OrderedFiller(ticket int64) *Filler[T] {
	w.checkTicket(ticket)
	return w.fillerOf(max(ticket, pagesink.NoTicket))
}

func (w *Writer[T]) fillerOf(ticket int64) *Filler[T] {
	f := &Filler[T]{forked: w.fill(ticket, func(f *fork) (err error) {
		f.plan, err = f.outlets.CompileEntries(w.ntuple.Schema.Fields, reflect.TypeFor[T]())
		return err
	})}
	f.rows = rows[T]{sink: f.fork.sink, err: f.state, plan: f.fork.plan, part: partOf(ticket)}
	return f
}

// Fill calls write for the parts 0 to n-1 of the entries, in WriteOptions.Workers goroutines, with
// a Filler for each part. The entries are written in the order of the parts, and the file does not
// depend on the number of goroutines. Clusters do not span parts, so a part should contain the
// entries of at least one large cluster.
//
// Parts are started in order. After an error of write, or of the Writer, Fill starts no further
// parts, waits for those in progress, and returns the error, which becomes the Writer's sticky
// error. A panic of write is propagated to Fill's caller, as by Fold.
//
// There must be no open Filler when Fill is called.
func (w *Writer[T]) Fill(n int, write func(part int, f *Filler[T]) error) error {
	if err := w.alone("Fill", func() error { return nil }); err != nil {
		return err
	}
	sink := w.ntuple.Sink
	first := sink.NextTicket()
	err := parallel.Do(sink.Settings().Workers, n, func(i int) (err error) {
		err = errors.New("the goroutine has ended") // if write calls runtime.Goexit
		defer func() {
			if err != nil {
				sink.Fail(err) // others may wait for this part
			}
		}()
		defer caught(&err)
		f := w.OrderedFiller(first + int64(i))
		if err := write(i, f); err != nil {
			return err
		}
		return f.Close()
	})
	if p, ok := err.(*foldPanic); ok {
		panic(p)
	}
	return cmp.Or(sink.Err(), err)
}

// A ColumnFiller is the Filler of a ColumnWriter; use Put and PutJagged to write to it.
type ColumnFiller struct {
	forked
	columns
}

// Filler returns a ColumnFiller whose clusters are written in any order; see Writer.Filler.
func (w *ColumnWriter) Filler() *ColumnFiller { return w.fillerOf(pagesink.NoTicket) }

// OrderedFiller returns a ColumnFiller for one part of the entries; see Writer.OrderedFiller.
func (w *ColumnWriter) OrderedFiller(ticket int64) *ColumnFiller {
	w.checkTicket(ticket)
	return w.fillerOf(max(ticket, pagesink.NoTicket))
}

func (w *ColumnWriter) fillerOf(ticket int64) *ColumnFiller {
	f := &ColumnFiller{forked: w.fill(ticket, func(f *fork) error {
		f.columns = newColumns(w.ntuple, f.sink, f.outlets)
		return nil
	})}
	f.columns = f.fork.columns
	f.columns.err = f.state
	clear(f.columns.given)
	return f
}
