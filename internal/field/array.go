package field

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Array holds the values that a field has in a range of entries, or the items that
// it has in the values of the field above. The documentation of rntuple.Array says which
// members are set.
type Array struct {
	Name  string
	Field *schema.Field
	Shape schema.Shape
	Len   int
	Size  int

	Offsets []int64
	Bytes   []byte
	Valid   []bool
	Tags    []int32
	Index   []int64

	Children []*Array

	values values
	bounds []int64 // of a Cardinality: offsets, which collections may share
}

// Values returns the values of a Scalar as a slice of the Go type that the
// documentation of package rntuple gives for them, those of a Cardinality as []uint64, those of a Bitset as
// []bool; nil for other shapes.
func (a *Array) Values() any {
	if a.values == nil {
		return nil
	}
	return a.values.slice()
}

// Values returns a.Values() if it is a []T, else a *MismatchError.
func Values[T any](a *Array) ([]T, error) {
	v, ok := a.Values().([]T)
	if ok {
		return v, nil
	}
	m := Mismatch{Path: a.Name, Have: "an array of " + a.Shape.String(), Go: reflect.TypeFor[[]T]()}
	if a.Field != nil {
		m.Path, m.Have = a.Field.Path(), a.Field.CppType()
	}
	if v := a.Values(); v != nil {
		m.Fits = reflect.TypeOf(v).String()
	}
	return nil, &MismatchError{[]Mismatch{m}}
}

// SetValues makes v the values of a Scalar.
func SetValues[T any](a *Array, v []T) { a.values, a.Len = numbers[T](v), len(v) }

// values are the values of an Array, of one number type.
type values interface {
	slice() any
	size() uintptr // of an element, in bytes
	// empty returns no values, in the same memory unless fresh is set.
	empty(fresh bool) values
	// take appends copies of the spans of src, per elements for each value.
	take(src values, spans []Span, per int) values
}

type numbers[T any] []T

func (v numbers[T]) slice() any    { return []T(v) }
func (v numbers[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (v numbers[T]) empty(fresh bool) values {
	if fresh {
		return numbers[T](nil)
	}
	return v[:0]
}

// Short spans, where there is room, are copied in steps of 32 bytes or 8 offsets; the next spans overwrite what is too much.
// Processors guess wrongly where loops end that are as short as most spans.
const stepBytes, stepOffsets = 32, 8

func copyStep(to, from unsafe.Pointer) {
	t, f := (*[stepBytes]byte)(to), (*[stepBytes]byte)(from)
	a, b, c, d := binary.NativeEndian.Uint64(f[:]), binary.NativeEndian.Uint64(f[8:]), binary.NativeEndian.Uint64(f[16:]), binary.NativeEndian.Uint64(f[24:])
	binary.NativeEndian.PutUint64(t[:], a)
	binary.NativeEndian.PutUint64(t[8:], b)
	binary.NativeEndian.PutUint64(t[16:], c)
	binary.NativeEndian.PutUint64(t[24:], d)
}

func (v numbers[T]) take(src values, spans []Span, per int) values {
	from := src.(numbers[T])
	step := stepBytes / int(v.size())
	at := len(v)
	v = extend(v, Sum(spans)*int64(per))
	for _, s := range spans {
		first, n := int(s.First)*per, int(s.N)*per
		switch {
		case first < 0:
			clear(v[at:][:n])
		case n <= 4*step && first+n+step <= len(from) && at+n+step <= len(v):
			copyStep(unsafe.Pointer(&v[at]), unsafe.Pointer(&from[first]))
			for k := step; k < n; k += step {
				copyStep(unsafe.Pointer(&v[at+k]), unsafe.Pointer(&from[first+k]))
			}
		default:
			copy(v[at:][:n], from[first:])
		}
		at += n
	}
	return v
}

// extend returns s with n more elements, which are undefined.
func extend[S ~[]T, T any](s S, n int64) S {
	return slices.Grow(s, int(n))[:len(s)+int(n)]
}

// A Span is a range of the values of an Array, or N times no value if First is negative.
type Span = pagesource.Span

// AddSpan appends a span to spans, joined with the last one if they meet.
func AddSpan(spans []Span, s Span) []Span {
	if last := len(spans) - 1; last >= 0 {
		switch l := &spans[last]; {
		case l.First < 0 && s.First < 0, l.First >= 0 && s.First == l.First+l.N:
			l.N += s.N
			return spans
		}
	}
	return append(spans, s)
}

// Sum returns the number of values in spans.
func Sum(spans []Span) (n int64) {
	for _, s := range spans {
		n += s.N
	}
	return n
}

// hasOffsets reports whether the array has Offsets.
func (a *Array) hasOffsets() bool {
	return a.Shape == schema.Collection || a.Shape == schema.String || a.Shape == schema.Streamer
}

// Like returns an empty Array of the same shape as a, with memory of its own.
func Like(a *Array) *Array {
	c := &Array{Name: a.Name, Field: a.Field, Shape: a.Shape, Size: a.Size}
	for _, child := range a.Children {
		c.Children = append(c.Children, Like(child))
	}
	if a.values != nil {
		c.values = a.values.empty(true)
	}
	c.clear(true)
	return c
}

// Alike reports whether a and b have the same shape, and the same types of values.
func Alike(a, b *Array) bool {
	return a.Shape == b.Shape && a.Size == b.Size && reflect.TypeOf(a.values) == reflect.TypeOf(b.values) && slices.EqualFunc(a.Children, b.Children, Alike)
}

// OptionalOf returns an empty Array of optionals of values like those of a.
func OptionalOf(a *Array) *Array {
	return &Array{Name: a.Name, Field: a.Field, Shape: schema.Optional, Children: []*Array{Like(a)}}
}

// Clear makes a empty, whose memory will be used again.
func Clear(a *Array) { a.clearAll(false) }

func (a *Array) clearAll(fresh bool) {
	a.clear(fresh)
	for _, child := range a.Children {
		child.clearAll(fresh)
	}
}

func (a *Array) clear(fresh bool) {
	if fresh {
		a.Offsets, a.Bytes, a.Valid, a.Tags, a.Index, a.bounds = nil, nil, nil, nil, nil, nil
	}
	a.Len, a.Offsets, a.Bytes, a.Valid, a.Tags, a.Index = 0, a.Offsets[:0], a.Bytes[:0], a.Valid[:0], a.Tags[:0], a.Index[:0]
	if a.hasOffsets() {
		a.Offsets = append(a.Offsets, 0)
	}
	if a.values != nil {
		a.values = a.values.empty(fresh)
	}
}

// snapshot returns a copy of the tree that shares its memory.
func (a *Array) snapshot() *Array {
	c := *a
	c.Children = slices.Clone(a.Children)
	for i, child := range c.Children {
		c.Children[i] = child.snapshot()
	}
	return &c
}

// share makes the values of a those of another array, but for its children.
func (a *Array) share(with *Array) {
	a.Len, a.Offsets, a.Bytes, a.values = with.Len, with.Offsets, with.Bytes, with.values
}

// Take appends copies of values of src to a, an Array of the same shape. Missing values
// are zero, empty, invalid or valueless. The error, a *frame.LimitError, says that they
// need more than budget bytes of memory.
func Take(a, src *Array, spans []Span, budget int64) error {
	r := run{budget: budget}
	if err := a.take(&r, src, spans); err != nil {
		return tooLarge(fmt.Sprintf("%d values of field %q", Sum(spans), a.Name), budget, r.over)
	}
	return nil
}

// take is Take with the budget of a run. Its only error is errBudget.
func (a *Array) take(r *run, src *Array, spans []Span) error {
	n := Sum(spans)
	switch {
	case n == 0:
		return nil
	case a.hasOffsets():
		if err := r.alloc(n, 8); err != nil {
			return err
		}
	case a.Shape == schema.Record && len(a.Children) == 0:
		if err := r.alloc(n, 1); err != nil { // so that numbers do not overflow
			return err
		}
	}
	a.Len += int(n)
	switch a.Shape {
	case schema.Collection:
		items := a.takeOffsets(r, src, spans)
		err := a.Children[0].take(r, src.Children[0], items)
		r.spans = append(r.spans, items)
		return err
	case schema.String, schema.Streamer:
		inner := a.takeOffsets(r, src, spans)
		if err := r.alloc(Sum(inner), 1); err != nil {
			return err
		}
		a.Bytes = numbers[byte](a.Bytes).take(numbers[byte](src.Bytes), inner, 1).slice().([]byte)
		r.spans = append(r.spans, inner)
		return nil
	case schema.Array:
		size := int64(a.Size)
		if size == 0 {
			return nil
		}
		inner := make([]Span, len(spans))
		for i, s := range spans {
			if s.N > math.MaxInt64/size {
				r.over = math.MaxInt64 - r.budget
				return errBudget
			}
			inner[i] = Span{First: s.First * size, N: s.N * size} // a negative number stays one
		}
		return a.Children[0].take(r, src.Children[0], inner)
	case schema.Record:
		for i, child := range a.Children {
			if err := child.take(r, src.Children[i], spans); err != nil {
				return err
			}
		}
		return nil
	case schema.Optional:
		if err := r.alloc(n, 1); err != nil {
			return err
		}
		a.Valid = numbers[bool](a.Valid).take(numbers[bool](src.Valid), spans, 1).slice().([]bool)
		return a.Children[0].take(r, src.Children[0], spans)
	case schema.Variant:
		return a.takeVariants(r, src, spans)
	}
	per := 1
	if a.Shape == schema.Bitset {
		per = a.Size
	}
	if err := r.alloc(n, uintptr(per)*a.values.size()); err != nil {
		return err
	}
	a.values = a.values.take(src.values, spans, per)
	return nil
}

// takeOffsets appends the offsets of values, and returns where their items are, in memory that goes back to r.spans.
func (a *Array) takeOffsets(r *run, src *Array, spans []Span) (items []Span) {
	if last := len(r.spans) - 1; last >= 0 {
		items, r.spans = r.spans[last][:0], r.spans[:last]
	}
	items = slices.Grow(items, len(spans))[:len(spans)]
	begin := len(a.Offsets)
	at := a.Offsets[begin-1]
	a.Offsets = extend(a.Offsets, Sum(spans))
	to, n := a.Offsets[begin:], 0
	end := int64(-1) // of the last span of items
	for _, s := range spans {
		count := int64(0)
		switch {
		case s.First < 0:
			for i := range s.N {
				to[i] = at
			}
		case s.N <= stepOffsets && s.First+stepOffsets < int64(len(src.Offsets)) && stepOffsets <= len(to):
			bounds := (*[stepOffsets + 1]int64)(src.Offsets[s.First:])
			shift := at - bounds[0]
			for i := range stepOffsets { // see numbers.take
				to[i] = bounds[i+1] + shift
			}
			count = bounds[s.N] - bounds[0]
		default:
			bounds := src.Offsets[s.First:][:s.N+1]
			shift := at - bounds[0]
			for i, end := range bounds[1:] {
				to[i] = end + shift
			}
			count = bounds[s.N] - bounds[0]
		}
		to = to[s.N:]
		if count == 0 {
			continue
		}
		first := src.Offsets[s.First]
		if first == end {
			items[n-1].N += count
		} else {
			items[n] = Span{First: first, N: count}
			n++
		}
		at, end = at+count, first+count
	}
	return items[:n]
}

func (a *Array) takeVariants(r *run, src *Array, spans []Span) error {
	if err := r.alloc(Sum(spans), unsafe.Sizeof(int32(0))+unsafe.Sizeof(int64(0))); err != nil {
		return err
	}
	next := make([]int64, len(a.Children))
	for i, child := range a.Children {
		next[i] = int64(child.Len)
	}
	items := make([][]Span, len(a.Children))
	for _, s := range spans {
		for i := range s.N {
			tag, index := int32(-1), int64(0)
			if s.First >= 0 {
				tag = src.Tags[s.First+i]
			}
			if tag >= 0 {
				items[tag] = AddSpan(items[tag], Span{First: src.Index[s.First+i], N: 1})
				index = next[tag]
				next[tag]++
			}
			a.Tags, a.Index = append(a.Tags, tag), append(a.Index, index)
		}
	}
	for i, child := range a.Children {
		if err := child.take(r, src.Children[i], items[i]); err != nil {
			return err
		}
	}
	return nil
}
