package columnar

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Span is a range of entries, items or elements: N from First on. For Append, a negative First
// means N missing values.
type Span struct{ First, N int64 }

// AddSpan appends a span to spans, or extends the last one if they are adjacent.
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

// Sum returns the total number of values in spans.
func Sum(spans []Span) (n int64) {
	for _, s := range spans {
		n += s.N
	}
	return n
}

// ErrBudget reports that values need more memory than the remaining Budget.
var ErrBudget = errors.New("more memory needed than allowed")

// A Budget bounds the memory of values. The zero value allows none.
type Budget struct {
	Left int64 // bytes that may still be allocated
	Over int64 // bytes by which the failed allocation exceeds Left

	spans [][]Span // memory for spans of items
}

// Alloc counts n items of the given size, in bytes, or returns ErrBudget.
func (b *Budget) Alloc(n int64, size uintptr) error {
	if size != 0 && n > b.Left/int64(size) {
		b.Over = math.MaxInt64 - b.Left
		if n <= math.MaxInt64/int64(size) {
			b.Over = n*int64(size) - b.Left
		}
		return ErrBudget
	}
	b.Left -= n * int64(size)
	return nil
}

// Append appends copies of values of src to dst, an Array of the same shape. If they need more than
// limit bytes of memory, the error is a *frame.LimitError. Missing values are zero, empty, invalid
// or valueless.
func Append(dst, src *Array, spans []Span, limit int64) error {
	b := Budget{Left: limit}
	if err := dst.Append(&b, src, spans); err != nil {
		return b.TooLarge(fmt.Sprintf("%d values of field %q", Sum(spans), dst.Name), limit)
	}
	return nil
}

// TooLarge returns, after Alloc has failed, an error which states that what needs more than limit
// bytes.
func (b *Budget) TooLarge(what string, limit int64) error {
	return &frame.LimitError{Limit: "EntryBytes", What: what, Need: limit + min(b.Over, math.MaxInt64-limit), Have: limit}
}

// Append is like the function Append, but charges the memory to the budget; the error is ErrBudget
// if it is exceeded.
func (a *Array) Append(b *Budget, src *Array, spans []Span) error {
	n := Sum(spans)
	switch {
	case n == 0:
		return nil
	case a.hasOffsets():
		if err := b.Alloc(n, 8); err != nil {
			return err
		}
	case a.Shape == schema.Record && len(a.Children) == 0:
		if err := b.Alloc(n, 1); err != nil { // so that numbers do not overflow
			return err
		}
	}
	a.Len += int(n)
	switch a.Shape {
	case schema.Collection:
		items := a.takeOffsets(b, src, spans)
		err := a.Children[0].Append(b, src.Children[0], items)
		b.spans = append(b.spans, items)
		return err
	case schema.String, schema.Streamer:
		inner := a.takeOffsets(b, src, spans)
		if err := b.Alloc(Sum(inner), 1); err != nil {
			return err
		}
		a.Bytes = numbers[byte](a.Bytes).take(numbers[byte](src.Bytes), inner, 1).slice().([]byte)
		b.spans = append(b.spans, inner)
		return nil
	case schema.Array:
		size := int64(a.Size)
		if size == 0 {
			return nil
		}
		inner := make([]Span, len(spans))
		for i, s := range spans {
			if s.N > math.MaxInt64/size {
				b.Over = math.MaxInt64 - b.Left
				return ErrBudget
			}
			inner[i] = Span{First: s.First * size, N: s.N * size} // a negative number stays one
		}
		return a.Children[0].Append(b, src.Children[0], inner)
	case schema.Record:
		for i, child := range a.Children {
			if err := child.Append(b, src.Children[i], spans); err != nil {
				return err
			}
		}
		return nil
	case schema.Optional:
		if err := b.Alloc(n, 1); err != nil {
			return err
		}
		a.Valid = numbers[bool](a.Valid).take(numbers[bool](src.Valid), spans, 1).slice().([]bool)
		return a.Children[0].Append(b, src.Children[0], spans)
	case schema.Variant:
		return a.takeVariants(b, src, spans)
	}
	per := 1
	if a.Shape == schema.Bitset {
		per = a.Size
	}
	if err := b.Alloc(n, uintptr(per)*a.values.size()); err != nil {
		return err
	}
	a.values = a.values.take(src.values, spans, per)
	return nil
}

// takeOffsets appends the offsets of values, and returns where their items are, in memory that goes
// back to b.spans.
func (a *Array) takeOffsets(b *Budget, src *Array, spans []Span) (items []Span) {
	if last := len(b.spans) - 1; last >= 0 {
		items, b.spans = b.spans[last][:0], b.spans[:last]
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

func (a *Array) takeVariants(b *Budget, src *Array, spans []Span) error {
	if err := b.Alloc(Sum(spans), unsafe.Sizeof(int32(0))+unsafe.Sizeof(int64(0))); err != nil {
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
		if err := child.Append(b, src.Children[i], items[i]); err != nil {
			return err
		}
	}
	return nil
}
