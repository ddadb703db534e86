package rntflight

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// maxBatch is the number of entries of the largest record batch.
const maxBatch = 1 << 14

// DoGet sends the entries that a ticket asks for, in order, as record batches.
func (s *Server) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	parse := func() (*Query, error) { return parseQuery("ticket", t.GetTicket()) }
	return s.handle(stream.Context(), "DoGet", s.streams, parse, func(ctx context.Context, c *call) error {
		return s.with(ctx, c.Query, func(src *source) error {
			w := flight.NewRecordWriter(sender{ctx, s, c, stream}, ipc.WithSchema(src.schema))
			for records, err := range s.records(src) {
				if err != nil {
					return err
				}
				if err := write(w, records, c); err != nil {
					return err
				}
			}
			return w.Close()
		})
	})
}

// write writes what a reader reads, and releases the reader.
func write(w *flight.Writer, records array.RecordReader, c *call) error {
	defer records.Release()
	for records.Next() {
		if err := w.Write(records.RecordBatch()); err != nil {
			return err
		}
		c.entries.Add(records.RecordBatch().NumRows())
	}
	return records.Err()
}

// A sender sends what a flight.Writer writes.
type sender struct {
	ctx    context.Context
	s      *Server
	c      *call
	stream flight.FlightService_DoGetServer
}

func (w sender) Send(d *flight.FlightData) error {
	return w.s.send(w.ctx, w.c, func() error { return w.stream.Send(d) })
}

// records yields readers of the entries that a query asks for. Conditions are evaluated for one
// unit at a time, so that the first entries are sent soon.
func (s *Server) records(src *source) iter.Seq2[array.RecordReader, error] {
	return func(yield func(array.RecordReader, error) bool) {
		bytes, err := src.footprint()
		if err != nil {
			yield(nil, err)
			return
		}
		o := src.options
		perEntry := max(1, bytes/max(1, src.NumEntries()))
		o.BatchSize = int(min(max(1, s.options.BatchBytes/perEntry), maxBatch))
		if src.condition == nil {
			yield(rntarrow.NewRangeReader(src.Reader, src.entries, &o))
			return
		}
		units, err := src.units(bytes, maxUnits)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, u := range units {
			selection, err := rntuple.Where(src.Reader, within{src.condition, u}, nil)
			if err != nil {
				yield(nil, err)
				return
			}
			if selection.NumEntries() == 0 {
				continue
			}
			if !yield(rntarrow.NewReader(selection, &o)) {
				return
			}
		}
	}
}

// within is a condition for entries in a range only.
type within struct {
	rntuple.Condition
	entries rntuple.EntryRange
}

func (w within) Select(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	r = intersect(r, w.entries)
	if r.Len() == 0 {
		return func(func(rntuple.EntryRange, error) bool) {}
	}
	return w.Condition.Select(s, r)
}

// intersect returns the entries that are in both ranges; none are an empty range.
func intersect(a, b rntuple.EntryRange) rntuple.EntryRange {
	first := max(a.First, b.First)
	return rntuple.EntryRange{First: first, End: max(first, min(a.End, b.End))}
}
