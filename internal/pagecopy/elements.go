package pagecopy

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Elements appends elements to a column of a Sink that has neither offsets nor tags.
type Elements interface {
	// From returns what copies from the index-th column of f, which it adds to ahead.
	From(ahead *pagesource.ReadAhead, f *schema.Field, index int) (Flow, error)
	// Zeros appends n zeros.
	Zeros(n int64)
	// Add appends numbers. The column's elements must be 64-bit unsigned integers.
	Add(numbers []uint64)
}

// A Flow copies elements from a column of a Source to one of a Sink.
type Flow interface {
	// Copy appends n elements, from first on, counted from the start of the cluster,
	// and adds shift to each, which must be 0 unless they are 64-bit unsigned integers.
	Copy(ctx context.Context, c *pagesource.Cluster, first, n int64, shift uint64) error
}

// fillers has newElements by the kind of the elements.
var fillers = [...]func(*pagesink.Sink, *schema.Column) (Elements, error){
	reflect.Bool: newElements[bool],
	reflect.Int8: newElements[int8], reflect.Int16: newElements[int16], reflect.Int32: newElements[int32], reflect.Int64: newElements[int64],
	reflect.Uint8: newElements[uint8], reflect.Uint16: newElements[uint16], reflect.Uint32: newElements[uint32], reflect.Uint64: newElements[uint64],
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

func (e *elements[T]) From(ahead *pagesource.ReadAhead, f *schema.Field, index int) (Flow, error) {
	c, err := pagesource.NewColumn[T](ahead, f, index)
	return &flow[T]{c, e.buffer}, err
}

func (e *elements[T]) Zeros(n int64) {
	zeros := make([]T, min(n, 1<<10))
	for ; n > 0; n -= int64(len(zeros)) {
		e.buffer.AddAll(zeros[:min(n, int64(len(zeros)))])
	}
}

func (e *elements[T]) Add(numbers []uint64) { e.buffer.AddAll(any(numbers).([]T)) }

type flow[T column.Element] struct {
	from *pagesource.Column[T]
	to   *pagesink.Buffer[T]
}

func (f *flow[T]) Copy(ctx context.Context, c *pagesource.Cluster, first, n int64, shift uint64) error {
	for n > 0 {
		some, err := f.from.Next(ctx, c, first, n)
		if err != nil {
			return err
		}
		first, n = first+int64(len(some)), n-int64(len(some))
		if numbers, ok := any(some).([]uint64); ok && shift != 0 {
			numbers = slices.Clone(numbers)
			if err := raise(numbers, shift); err != nil {
				return err
			}
			some = any(numbers).([]T)
		}
		f.to.AddAll(some)
	}
	return nil
}

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

// Copy appends n collections, from first on, counted from the start of the cluster. It
// returns the range of their items, which must be appended, too, without end.
func (o *Offsets) Copy(ctx context.Context, from *pagesource.Column[uint64], c *pagesource.Cluster, first, n int64) (begin, end int64, err error) {
	before := uint64(0)
	if first > 0 {
		one, err := from.Next(ctx, c, first-1, 1)
		if err != nil {
			return 0, 0, err
		}
		before = one[0]
	}
	base, last := *o.total-before, before
	for n > 0 {
		ends, err := from.Next(ctx, c, first, n)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range ends {
			if e < last || e > math.MaxInt64 {
				return 0, 0, from.Corrupt(c, "collection from item %d to %d", last, e)
			}
			last = e
			o.buffer.Add(base + e)
		}
		first, n = first+int64(len(ends)), n-int64(len(ends))
	}
	*o.total = base + last
	return int64(before), int64(last), nil
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
func (t *Tags) Copy(ctx context.Context, from *pagesource.Column[column.Tagged], c *pagesource.Cluster, first, n int64) (copied int64, begin, end []int64, err error) {
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
