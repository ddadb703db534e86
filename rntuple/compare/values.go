package compare

import (
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A comparer compares the values of a field, and of the fields below it, in the n
// entries from first on.
type comparer interface {
	compare(first, n int64) error
}

// comparer returns the comparer of a top-level field. It compares numbers if all of them
// lie in at most one collection, and dynamic values otherwise.
func (c *comparison) comparer(p *pair) (comparer, error) {
	var all comparers
	if c.flat(p, nil, &all) && len(all) > 0 {
		return all, nil
	}
	a, err := rntuple.ViewOf[any](c.a, wrapper(p.a).Path())
	if err != nil {
		return nil, err
	}
	b, err := rntuple.ViewOf[any](c.b, wrapper(p.b).Path())
	return &dynamic{pair: p, a: a, b: b}, err
}

type comparers []comparer

func (all comparers) compare(first, n int64) error {
	for _, c := range all {
		if err := c.compare(first, n); err != nil {
			return err
		}
	}
	return nil
}

// flat appends the comparers of the numbers in p, and reports whether that is all that p
// has; otherwise p takes dynamic values. The collection around p is in, which may be nil.
func (c *comparison) flat(p, in *pair, all *comparers) bool {
	if p == nil || p.a.Shape != p.b.Shape {
		return false
	}
	switch p.a.Shape {
	case schema.Record:
		for _, child := range p.children {
			if !c.flat(child, in, all) {
				return false
			}
		}
		return !p.a.IsTuple() && len(p.children) > 0
	case schema.Collection:
		if in != nil || p.a.IsMap() || p.a.Kind().IsUnordered() || p.b.Kind().IsUnordered() {
			return false
		}
		return c.flat(p.children[0], p, all)
	case schema.Scalar:
		one, err := c.scalars(p, in)
		if one == nil || err != nil {
			return false
		}
		*all = append(*all, one)
		return true
	}
	return false
}

// A number is the Go type of a scalar.
type number interface {
	bool | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// scalars returns the comparer of scalars, or nil if they take dynamic values.
func (c *comparison) scalars(p, in *pair) (comparer, error) {
	if p.a.Kind() != p.b.Kind() {
		return nil, nil
	}
	return flats[p.a.ElementKind()](c, p, in)
}

// flats holds flatOf by the kind of the scalars.
var flats = [...]func(c *comparison, p, in *pair) (comparer, error){
	reflect.Bool: flatOf[bool],
	reflect.Int8: flatOf[int8], reflect.Int16: flatOf[int16], reflect.Int32: flatOf[int32], reflect.Int64: flatOf[int64],
	reflect.Uint8: flatOf[uint8], reflect.Uint16: flatOf[uint16], reflect.Uint32: flatOf[uint32],
	reflect.Uint64:  flatOf[uint64],
	reflect.Float32: flatOf[float32], reflect.Float64: flatOf[float64],
}

// flatOf returns the comparer of scalars of type T, which lie in the collection in if that
// is not nil.
func flatOf[T number](c *comparison, p, in *pair) (comparer, error) {
	x, y := pathIn(c.a, p.a), pathIn(c.b, p.b)
	if x == "" || y == "" {
		return nil, nil
	}
	if in == nil {
		a, err := rntuple.ViewOf[T](c.a, x)
		if err != nil {
			return nil, err
		}
		b, err := rntuple.ViewOf[T](c.b, y)
		return &scalars[T]{pair: p, a: a, b: b}, err
	}
	a, err := rntuple.JaggedOf[T](c.a, x)
	if err != nil {
		return nil, err
	}
	b, err := rntuple.JaggedOf[T](c.b, y)
	sizes := !in.measured
	in.measured = true
	return &jagged[T]{pair: p, in: in, sizes: sizes, a: a, b: b, batch: maxBatch / 16}, err
}

// wrapper returns the outermost wrapper around f, or f itself.
func wrapper(f *schema.Field) *schema.Field {
	for f.Parent != nil && f.Parent.Shape == schema.Wrapper {
		f = f.Parent
	}
	return f
}

// pathIn returns the path of f in r, or "" if the path finds another field, which can
// happen because names may contain dots.
func pathIn(r *rntuple.Reader, f *schema.Field) string {
	f = wrapper(f)
	path := f.Path()
	if chain, err := r.Schema().Lookup(path); err != nil || chain[len(chain)-1] != f {
		return ""
	}
	return path
}

// maxBatch is the approximate number of values read at a time.
const maxBatch = 1 << 14

// scalars compares one scalar per entry.
type scalars[T number] struct {
	*pair
	a, b *rntuple.View[T]
	x, y []T
}

func (s *scalars[T]) compare(first, n int64) error {
	for n > 0 {
		count := min(n, maxBatch)
		s.x, s.y = slices.Grow(s.x[:0], int(count))[:count], slices.Grow(s.y[:0], int(count))[:count]
		if _, err := s.a.Read(s.x, first); err != nil {
			return err
		}
		if _, err := s.b.Read(s.y, first); err != nil {
			return err
		}
		for i, x := range s.x {
			if x != s.y[i] {
				s.numbers(first+int64(i), x, s.y[i])
			}
		}
		first, n = first+count, n-count
	}
	return nil
}

// jagged compares the scalars in one collection per entry.
type jagged[T number] struct {
	*pair
	in           *pair // the collection
	sizes        bool  // whether to compare its sizes as well
	a, b         *rntuple.JaggedView[T]
	x, y         []T
	xEnds, yEnds []int64
	batch        int64 // entries to read at once
}

func (j *jagged[T]) compare(first, n int64) error {
	for n > 0 {
		count := min(n, j.batch)
		if err := j.read(first, count); err != nil {
			return err
		}
		if items := int64(len(j.x)); items > 2*maxBatch && j.batch > 1 {
			j.batch /= 2
		} else if items < maxBatch/2 && j.batch < maxBatch {
			j.batch *= 2
		}
		for i := range count {
			x, y := j.x[j.xEnds[i]:j.xEnds[i+1]], j.y[j.yEnds[i]:j.yEnds[i+1]]
			if len(x) != len(y) {
				if j.sizes {
					j.in.differ(first + i)
				}
				continue
			}
			for k := range x {
				if x[k] != y[k] {
					j.numbers(first+i, x[k], y[k])
				}
			}
		}
		first, n = first+count, n-count
	}
	return nil
}

// read reads n entries of both.
func (j *jagged[T]) read(first, n int64) (err error) {
	j.xEnds, j.yEnds = slices.Grow(j.xEnds[:0], int(n)+1)[:n+1], slices.Grow(j.yEnds[:0], int(n)+1)[:n+1]
	if j.x, _, err = j.a.Read(j.xEnds, j.x, first); err != nil {
		return err
	}
	j.y, _, err = j.b.Read(j.yEnds, j.y, first)
	return err
}

// dynamic compares values of any kind.
type dynamic struct {
	*pair
	a, b *rntuple.View[any]
	x, y []any
}

func (d *dynamic) compare(first, n int64) error {
	// The size of the values is not known yet: begin with few.
	for batch := int64(16); n > 0; batch = min(2*batch, 512) {
		count := min(n, batch)
		d.x, d.y = slices.Grow(d.x[:0], int(count))[:count], slices.Grow(d.y[:0], int(count))[:count]
		if _, err := d.a.Read(d.x, first); err != nil {
			return err
		}
		if _, err := d.b.Read(d.y, first); err != nil {
			return err
		}
		for i := range d.x {
			d.values(first+int64(i), d.x[i], d.y[i])
		}
		first, n = first+count, n-count
	}
	clear(d.x)
	clear(d.y)
	return nil
}
