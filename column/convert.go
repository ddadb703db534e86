package column

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/bits"
	"github.com/go-rntuple/go-rntuple/internal/convert"
)

// A Decoder decodes pages of one format into elements of type T. It is safe for
// concurrent use.
type Decoder[T Element] struct {
	format  Format
	convert convert.Func // nil if T is the type of the format's kind
}

// NewDecoder returns a decoder of pages of format f, which must have passed Check.
// If T is not the type of f's kind, every value is converted: bool and integers to
// each other, and floats to each other, as ROOT allows it. For other types the
// error wraps frame.ErrUnsupported.
func NewDecoder[T Element](f Format) (*Decoder[T], error) {
	c, ok := f.converter(f.Kind(), kindOf[T]())
	if !ok {
		return nil, frame.Unsupported("column of type %v read as %T", f, *new(T))
	}
	return &Decoder[T]{f, c}, nil
}

// Decode decodes a page of len(dst) elements. The error wraps frame.ErrCorrupt if
// the page does not have the length that they need, and ErrRange if T cannot hold
// a value.
func (d *Decoder[T]) Decode(dst []T, page []byte) error {
	if d.convert == nil {
		return decode(d.format, bits.Bytes(dst), len(dst), page)
	}
	return d.format.decodeAs(kindOf[T](), d.convert, convert.Slice(dst), len(dst), page)
}

// Append appends the page that holds src to dst. T must be the type of f's kind.
// The error wraps ErrRange if a value is outside the range of a Real32Quant column.
func Append[T Element](f Format, dst []byte, src []T) ([]byte, error) {
	if kindOf[T]() != f.Kind() {
		return dst, fmt.Errorf("elements of type %T for a column of type %v", *new(T), f)
	}
	return encode(f, dst, bits.Bytes(src), len(src))
}

// An Encoder encodes elements of type T as pages of one format. It keeps no
// state and is safe for concurrent use.
type Encoder[T Element] struct {
	format  Format
	convert convert.Func // nil if T is the type of the format's kind
}

// NewEncoder returns an encoder of pages of format f, which must have passed Check.
// If T is not the type of f's kind, every value is converted; the types may be those
// that NewDecoder allows.
func NewEncoder[T Element](f Format) (*Encoder[T], error) {
	c, ok := f.converter(kindOf[T](), f.Kind())
	if !ok {
		return nil, frame.Unsupported("column of type %v written from %T", f, *new(T))
	}
	return &Encoder[T]{f, c}, nil
}

// Append appends the page that holds src to dst. The error wraps ErrRange if the
// column cannot hold a value.
func (e *Encoder[T]) Append(dst []byte, src []T) ([]byte, error) {
	if e.convert == nil {
		return encode(e.format, dst, bits.Bytes(src), len(src))
	}
	return e.format.encodeFrom(kindOf[T](), e.convert, dst, convert.Slice(src), len(src))
}

// A Recoder makes pages of one format out of pages of another. It is safe for
// concurrent use.
type Recoder struct {
	from, to Format
	convert  convert.Func // nil if the kinds are the same
}

// NewRecoder returns a Recoder of pages of the format from to pages of the format
// to, which must both have passed Check. Values are converted as NewDecoder does;
// the error wraps frame.ErrUnsupported if that is not possible.
func NewRecoder(from, to Format) (*Recoder, error) {
	c, ok := from.converter(from.Kind(), to.Kind())
	if _, writable := to.converter(from.Kind(), to.Kind()); !ok || !writable {
		return nil, frame.Unsupported("column of type %v written from one of type %v", to, from)
	}
	return &Recoder{from, to, c}, nil
}

// Append appends to dst the elements of page, n of them. The errors are those of
// Decoder.Decode and of Encoder.Append.
func (r *Recoder) Append(dst, page []byte, n int) ([]byte, error) {
	elements, err := r.from.elements(page, n)
	if err != nil {
		return dst, err
	}
	defer giveBack(elements)
	if r.convert == nil {
		return encode(r.to, dst, elements.bytes, n)
	}
	return r.to.encodeFrom(r.from.Kind(), r.convert, dst, elements.memory(), n)
}

// CheckRange decodes a page of n elements and checks whether the Go type of a kind
// can hold them. The errors are those of NewDecoder and of Decoder.Decode.
func (f Format) CheckRange(to reflect.Kind, page []byte, n int) error {
	c, ok := f.converter(f.Kind(), to)
	switch {
	case !ok:
		return frame.Unsupported("column of type %v read as %v", f, to)
	case c == nil:
		return f.pageLength(page, n)
	}
	var one [1]uint64 // takes all
	sink := convert.Slice(one[:])
	sink.Stride = 0
	return f.decodeAs(to, c, sink, n, page)
}

// Values decodes a page of n elements to values of the Go type of f's kind.
func (f Format) Values(page []byte, n int) ([]any, error) {
	elements, err := f.elements(page, n)
	if err != nil {
		return nil, err
	}
	defer giveBack(elements)
	all := make([]any, n)
	for i := range all {
		if f.Kind() == reflect.Struct {
			all[i] = bits.View[Tagged](elements.bytes)[i]
		} else {
			all[i] = elements.memory().Value(f.Kind(), i)
		}
	}
	return all, nil
}

// Size returns the number of bytes that an element has in ROOT's memory.
func Size[T Element]() int64 {
	if kindOf[T]() == reflect.Struct {
		return 16
	}
	return int64(convert.Type(kindOf[T]()).Size())
}

// kindOf returns the kind whose elements are of type T.
func kindOf[T Element]() reflect.Kind { return reflect.TypeFor[T]().Kind() }

// converter returns what converts between the elements of f and another kind, nil
// if they are of the same kind. It is not ok if there is no such conversion.
func (f Format) converter(from, to reflect.Kind) (c convert.Func, ok bool) {
	switch {
	case from == to:
		return nil, true
	case f.Type == Byte: // not a number
		return nil, false
	}
	c = convert.Between(from, to)
	return c, c != nil
}

// elements decodes a page of n elements into borrowed memory.
func (f Format) elements(page []byte, n int) (*scratch, error) {
	if err := f.pageLength(page, n); err != nil { // before memory is allocated for them
		return nil, err
	}
	s := borrow(n, f.Kind())
	return s, decode(f, s.bytes, n, page)
}

// decodeAs decodes a page of n elements and converts them to another kind.
func (f Format) decodeAs(to reflect.Kind, c convert.Func, dst convert.Memory, n int, page []byte) error {
	elements, err := f.elements(page, n)
	if err != nil {
		return err
	}
	defer giveBack(elements)
	if lost := c(dst, elements.memory(), n); lost >= 0 {
		return fmt.Errorf("element %d: %w: %v does not fit %v", lost, ErrRange, elements.memory().Value(f.Kind(), lost), to)
	}
	return nil
}

// encodeFrom converts n elements of another kind and appends a page of them to dst.
func (f Format) encodeFrom(from reflect.Kind, c convert.Func, dst []byte, src convert.Memory, n int) ([]byte, error) {
	elements := borrow(n, f.Kind())
	defer giveBack(elements)
	if lost := c(elements.memory(), src, n); lost >= 0 {
		return dst, fmt.Errorf("element %d: %w: %v does not fit a column of type %v", lost, ErrRange,
			src.Value(from, lost), f)
	}
	return encode(f, dst, elements.bytes, n)
}

// scratch is memory for the elements of a page, borrowed from a pool.
type scratch struct {
	words []uint64 // aligned for all elements
	bytes []byte
	size  int // of an element
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// borrow returns memory for n elements of a kind.
func borrow(n int, k reflect.Kind) *scratch {
	t := reflect.TypeFor[Tagged]()
	if k != reflect.Struct {
		t = convert.Type(k)
	}
	s := scratches.Get().(*scratch)
	s.size = int(t.Size())
	if words := (n*s.size + 7) / 8; words > cap(s.words) {
		s.words = make([]uint64, words)
	}
	s.bytes = bits.Bytes(s.words[:cap(s.words)])[:n*s.size]
	return s
}

func giveBack(s *scratch) { scratches.Put(s) }

func (s *scratch) memory() convert.Memory { return convert.Bytes(s.bytes, s.size) }
