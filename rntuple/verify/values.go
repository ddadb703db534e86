package verify

import (
	"math"
	"math/bits"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A walk visits the fields of an RNTuple, cluster by cluster, and compares the number of
// items that each field must have with the number of elements of its columns.
type walk struct {
	*ntuple
	c     *cluster
	entry int64           // first entry that the cluster should have
	next  map[place]int64 // next element of each column, or unknown
	lost  bool            // columns that are not in next are unknown, not at element 0
}

// A place is a column of a field in all representations.
type place struct {
	field *schema.Field
	index int
}

// unknown stands for a number of items that cannot be determined because of a problem that
// has been reported.
const unknown = -1

func newWalk(n *ntuple) *walk { return &walk{ntuple: n, next: map[place]int64{}} }

// cluster checks the columns of a cluster whose pages have been checked. It must be called
// in the order of the entries.
func (w *walk) cluster(c *cluster) {
	if w.schema == nil {
		return
	}
	if c.First != w.entry {
		w.lose()
	}
	w.c, w.entry = c, c.End
	for _, f := range w.schema.Fields {
		w.field(f, c.End-c.First)
	}
}

// lose forgets the number of elements that columns have so far.
func (w *walk) lose() {
	clear(w.next)
	w.lost = true
}

// problem reports a problem of a column of f, or of all of them if column is negative.
func (w *walk) problem(check Check, f *schema.Field, column int, err error) {
	w.report(Problem{RNTuple: w.path, Cluster: w.c.ID, Column: column, Field: f.Path(), Page: -1, Offset: -1,
		Check: check, Err: err})
}

// field checks f, which has the given number of items, and the fields below it.
func (w *walk) field(f *schema.Field, items int64) {
	below := items
	switch f.Shape {
	case schema.Scalar:
		w.column(f, 0, items)
	case schema.Bitset:
		w.column(f, 0, w.times(f, items))
	case schema.Array:
		below = w.times(f, items)
	case schema.String, schema.Streamer:
		w.column(f, 1, w.offsets(f, items))
	case schema.Cardinality, schema.Collection, schema.Optional:
		if f.IsDense() {
			w.column(f, 0, items)
		} else {
			below = w.offsets(f, items)
		}
	case schema.Variant:
		w.variant(f, items)
		return
	}
	for _, child := range f.Children {
		w.field(child, below)
	}
}

// times returns the number of values in arrays.
func (w *walk) times(f *schema.Field, items int64) int64 {
	if items < 0 {
		return unknown
	}
	hi, lo := bits.Mul64(uint64(items), f.ArraySize)
	if hi != 0 || lo > math.MaxInt64 {
		w.problem(Elements, f, -1, frame.Corrupt("%d arrays of %d values", items, f.ArraySize))
		return unknown
	}
	return int64(lo)
}

// column checks the column of f with the given index, which must have the given number of
// elements. It is not ok if the column cannot be read.
func (w *walk) column(f *schema.Field, index int, elements int64) (chunk pagesource.Chunk, ok bool) {
	chunk, err := w.c.Chunk(f, index)
	at := place{f, index}
	next, known := w.next[at]
	if !known && w.lost {
		next = unknown
	}
	if err != nil {
		w.next[at] = unknown
		w.problem(Elements, f, -1, bare(err))
		return chunk, false
	}
	id := int(chunk.Column.ID)
	if elements >= 0 && chunk.Elements != elements {
		w.problem(Elements, f, id, frame.Corrupt("%d elements, expected %d", chunk.Elements, elements))
	}
	if chunk.Column.Owner != f {
		return chunk, true // the rest is checked with the owner
	}
	if id < len(w.c.columns) {
		offset := w.c.columns[id].ElementOffset - chunk.Zeros
		if next >= 0 && offset != next && len(chunk.Pages) > 0 {
			w.problem(Elements, f, id, frame.Corrupt("begins with element %d, expected %d", offset, next))
		}
		if len(chunk.Pages) > 0 {
			next = offset
		}
		w.deferred(f, chunk)
	}
	if next >= 0 {
		next += chunk.Elements
	}
	w.next[at] = next
	return chunk, true
}

// deferred checks the part of a cluster before the first element of a column.
//
// Specification: "Column Description", "Suppressed Columns".
func (w *walk) deferred(f *schema.Field, chunk pagesource.Chunk) {
	c := chunk.Column
	if c.Flags&envelope.ColumnDeferred == 0 || c.PerEntry == 0 || w.c.First > math.MaxInt64/c.PerEntry {
		return
	}
	first := w.c.First * c.PerEntry
	switch start := c.FirstElement; {
	case start >= 0:
		if want := min(chunk.Elements, max(0, start-first)); chunk.Zeros != want {
			w.problem(Elements, f, int(c.ID), frame.Corrupt("%d elements are not stored, expected %d because the column begins with element %d", chunk.Zeros, want, start))
		}
	case start < -first:
		w.problem(Elements, f, int(c.ID), frame.Corrupt("is suppressed before element %d, the cluster begins with %d",
			uint64(-start), first))
	}
}

// bare returns err without its place, which the Problem has.
func bare(err error) error {
	if e, ok := err.(*frame.FormatError); ok {
		return e.Err
	}
	return err
}

// offsets checks the index column of f, and returns the end of the last collection.
func (w *walk) offsets(f *schema.Field, items int64) (end int64) {
	chunk, ok := w.column(f, 0, items)
	if !ok {
		return unknown
	}
	id := int(chunk.Column.ID)
	last, widest, item := uint64(0), uint64(0), chunk.Zeros
	for i, r := range w.resultsOf(chunk) {
		if r == nil || r.err != nil {
			return unknown
		}
		n := int64(chunk.Pages[i].NumElements)
		if n == 0 {
			continue
		}
		descent, above, below := r.descent, r.above, r.below
		if r.first < last {
			descent, above, below = 0, last, r.first
		}
		if descent >= 0 {
			w.report(Problem{RNTuple: w.path, Cluster: w.c.ID, Column: id, Field: f.Path(), Page: i,
				Offset: int64(chunk.Pages[i].Locator.Offset), Check: Values,
				Err: frame.Corrupt("the collection of item %d ends at %d, before it begins at %d",
					item+descent, below, above)})
			return unknown
		}
		widest = max(widest, r.first-last, r.widest)
		last, item = r.last, item+n
	}
	if last > math.MaxInt64 {
		w.problem(Values, f, id, frame.Corrupt("a collection ends at %d", last))
		return unknown
	}
	if most := largest(f); widest > most {
		w.problem(Values, f, id, frame.Corrupt("an item has %d values, expected at most %d", widest, most))
	}
	return int64(last)
}

// largest returns the largest number of items that a collection of f can have.
func largest(f *schema.Field) uint64 {
	switch f.Shape {
	case schema.Optional:
		return 1
	case schema.Cardinality:
		if t, err := cpptype.Parse(f.TypeName); err == nil && len(t.Args) > 0 && t.Args[0].Kind() == cpptype.UInt32 {
			return math.MaxUint32
		}
	}
	return math.MaxInt64
}

// resultsOf returns the results of the pages of a chunk.
func (w *walk) resultsOf(chunk pagesource.Chunk) []*result {
	if len(chunk.Pages) == 0 {
		return nil
	}
	return w.c.results[chunk.Column.ID]
}

// variant checks a variant and its alternatives.
func (w *walk) variant(f *schema.Field, items int64) {
	chunk, ok := w.column(f, 0, items)
	tags := make([]tag, len(f.Children)+1)
	for _, r := range w.resultsOf(chunk) {
		if r == nil || r.err != nil || len(r.tags) != len(tags) {
			ok = false
			break
		}
		for i, t := range r.tags {
			tags[i].count, tags[i].highest = tags[i].count+t.count, max(tags[i].highest, t.highest)
		}
	}
	for i, child := range f.Children {
		t := tags[i+1]
		switch {
		case !ok:
			t.count = unknown
		case t.count > 0 && t.highest >= uint64(t.count):
			w.problem(Values, f, int(chunk.Column.ID),
				frame.Corrupt("refers to item %d of alternative %d, which has %d items", t.highest, i+1, t.count))
		}
		w.field(child, t.count)
	}
}
