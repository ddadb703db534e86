package pagecopy

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Elements appends elements to a column of a Sink that has neither offsets nor tags.
type Elements interface {
	// From returns what copies from the index-th column of f, which it adds to ahead.
	From(ahead *pagesource.ReadAhead, f *schema.Field, index int, w Whole) (Flow, error)
	// Zeros appends n zeros.
	Zeros(n int64)
	// Add appends numbers. The column's elements must be 64-bit unsigned integers.
	Add(numbers []uint64)
}

// Whole says which pages a Flow may copy as they are stored.
type Whole struct {
	// Pages returns what the column has in a cluster, or nil if its pages there must be
	// rewritten. It may be called in several goroutines for different flows.
	Pages func(*pagesource.Cluster) (*Chunk, error)
	// Copied is called with the size of each page that is copied, in bytes.
	Copied func(size int64)
}

// A Flow copies elements from a column of a Source to one of a Sink. It serves one goroutine
// at a time. Pages of which it copies all elements become pages of the Sink as they are stored,
// so that of a page whose first elements are wanted the Flow waits for the others.
type Flow interface {
	// Read reads the elements of spans, counted from the start of the cluster, or the first
	// ones if they are many. It may run in several goroutines for different flows. If more is
	// set, elements of the cluster that follow will be read next.
	Read(ctx context.Context, c *pagesource.Cluster, spans []columnar.Span, more bool) error
	// Append appends all elements of the spans that were read last, but for those that wait,
	// and adds shift to each, which must be 0 unless they are 64-bit unsigned integers.
	Append(ctx context.Context, shift uint64) error
	// Release appends the elements that wait. It must be called before the Sink's cluster ends,
	// and before another cluster is read.
	Release(ctx context.Context) error
}

// fillers has newElements by the kind of the elements.
var fillers = [...]func(*pagesink.Sink, *schema.Column) (Elements, error){
	reflect.Bool: newElements[bool],
	reflect.Int8: newElements[int8], reflect.Int16: newElements[int16], reflect.Int32: newElements[int32],
	reflect.Int64: newElements[int64],
	reflect.Uint8: newElements[uint8], reflect.Uint16: newElements[uint16], reflect.Uint32: newElements[uint32],
	reflect.Uint64:  newElements[uint64],
	reflect.Float32: newElements[float32], reflect.Float64: newElements[float64],
}

// NewElements returns what appends elements to a column of s.
func NewElements(s *pagesink.Sink, c *schema.Column) (Elements, error) {
	kind := c.Format().Kind()
	if kind == reflect.Struct {
		return nil, fmt.Errorf("field %q: column of type %v", c.Owner.Path(), c.Type)
	}
	return fillers[kind](s, c)
}

type elements[T column.Element] struct{ buffer *pagesink.Buffer[T] }

func newElements[T column.Element](s *pagesink.Sink, c *schema.Column) (Elements, error) {
	b, err := pagesink.NewBuffer[T](s, c)
	return &elements[T]{b}, err
}

func (e *elements[T]) From(ahead *pagesource.ReadAhead, f *schema.Field, index int, w Whole) (Flow, error) {
	c, err := pagesource.NewColumn[T](ahead, f, index)
	return &flow[T]{from: c, to: e.buffer, whole: w}, err
}

func (e *elements[T]) Zeros(n int64) {
	zeros := make([]T, min(n, 1<<10))
	for ; n > 0; n -= int64(len(zeros)) {
		e.buffer.AddAll(zeros[:min(n, int64(len(zeros)))])
	}
}

func (e *elements[T]) Add(numbers []uint64) { e.buffer.AddAll(any(numbers).([]T)) }

// Offsets appends to a column of offsets, which are the ends of collections.
type Offsets struct {
	buffer *pagesink.Buffer[uint64]
	total  *uint64 // number of items in the current cluster
}

// NewOffsets returns what appends to a column of offsets.
func NewOffsets(s *pagesink.Sink, c *schema.Column) (*Offsets, error) {
	b, err := pagesink.NewBuffer[uint64](s, c)
	return &Offsets{b, s.Counter()}, err
}

// Empty appends n empty collections.
func (o *Offsets) Empty(n int64) {
	for range n {
		o.buffer.Add(*o.total)
	}
}

// Copied are collections that were appended: where their items are, which must be appended,
// too, and the offsets.
type Copied struct {
	Items []columnar.Span
	first uint64 // number of items in the cluster before
	ends  []uint64
}

// Copy appends the collections in spans, counted from the start of the cluster.
func (o *Offsets) Copy(ctx context.Context, from *pagesource.Column[uint64], c *pagesource.Cluster,
	spans []columnar.Span) (*Copied, error) {
	all := &Copied{first: *o.total}
	for _, s := range spans {
		before, err := pagesource.BeginOf(ctx, from, c, s.First)
		if err != nil {
			return nil, err
		}
		base, last := *o.total-before, before
		for first, n := s.First, s.N; n > 0; {
			ends, err := from.Next(ctx, c, first, n)
			if err != nil {
				return nil, err
			}
			for _, e := range ends {
				if e < last || e > math.MaxInt64 {
					return nil, from.Corrupt(c, "collection from item %d to %d", last, e)
				}
				last = e
				all.ends = append(all.ends, base+e)
			}
			first, n = first+int64(len(ends)), n-int64(len(ends))
		}
		*o.total = base + last
		if before < last {
			all.Items = columnar.AddSpan(all.Items, columnar.Span{First: int64(before), N: int64(last - before)})
		}
	}
	o.buffer.AddAll(all.ends)
	return all, nil
}

// Repeat appends collections of the same sizes as others, if they are stored like these. It
// reports false if the current cluster has another number of items.
func (o *Offsets) Repeat(like *Copied) bool {
	if *o.total != like.first {
		return false
	}
	if n := len(like.ends); n > 0 {
		o.buffer.AddAll(like.ends)
		*o.total = like.ends[n-1]
	}
	return true
}

// Tags appends to a Switch column.
type Tags struct {
	buffer *pagesink.Buffer[column.Tagged]
	totals []*uint64 // number of items of each alternative in the current cluster
}

// NewTags returns what appends to a Switch column with the given number of
// alternatives.
func NewTags(s *pagesink.Sink, c *schema.Column, alternatives int) (*Tags, error) {
	b, err := pagesink.NewBuffer[column.Tagged](s, c)
	t := &Tags{buffer: b}
	for range alternatives {
		t.totals = append(t.totals, s.Counter())
	}
	return t, err
}

// Empty appends n variants without a value.
func (t *Tags) Empty(n int64) {
	for range n {
		t.buffer.Add(column.Tagged{})
	}
}

// Copy appends variants, from first on, counted from the start of the cluster: at
// least one, at most n. It returns how many, and for each alternative the range of
// items that must be appended, too, without end.
func (t *Tags) Copy(ctx context.Context, from *pagesource.Column[column.Tagged], c *pagesource.Cluster, first,
	n int64) (copied int64, begin, end []int64, err error) {
	some, err := from.Next(ctx, c, first, n)
	if err != nil {
		return 0, nil, nil, err
	}
	begin, end = make([]int64, len(t.totals)), make([]int64, len(t.totals))
	for _, e := range some {
		if e.Tag == 0 {
			continue
		}
		i := int(e.Tag) - 1
		if i >= len(begin) || e.Index >= math.MaxInt64 {
			return 0, nil, nil, from.Corrupt(c, "item %d of alternative %d of %d", e.Index, e.Tag, len(begin))
		}
		if at := int64(e.Index); begin[i] == end[i] {
			begin[i], end[i] = at, at+1
		} else {
			begin[i], end[i] = min(begin[i], at), max(end[i], at+1)
		}
	}
	for _, e := range some {
		if e.Tag != 0 {
			e.Index += *t.totals[e.Tag-1] - uint64(begin[e.Tag-1])
		}
		t.buffer.Add(e)
	}
	for i, total := range t.totals {
		*total += uint64(end[i] - begin[i])
	}
	return int64(len(some)), begin, end, nil
}
