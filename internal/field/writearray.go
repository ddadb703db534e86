package field

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// WriteSlice appends the values of a slice, whose type must be that of the plan or one of
// the same memory.
func WriteSlice[T any](p *WritePlan, values []T) error {
	if size := unsafe.Sizeof(*new(T)); size != p.size {
		return fmt.Errorf("values of %d bytes for a plan of %d", size, p.size)
	}
	return p.Write(unsafe.Pointer(unsafe.SliceData(values)), len(values))
}

// An ArrayPlan writes the values of Arrays of one shape as those of one field. It serves
// one goroutine.
type ArrayPlan struct {
	root outArray
	like *columnar.Array
}

// CompileArray makes the plan that writes values of Arrays like a, which may be empty, to
// f. The shapes must be the same, but that a Cardinality is a number, and numbers may have
// any type from which Go values can be written to the field.
func (o *Outlets) CompileArray(f *schema.Field, a *columnar.Array) (*ArrayPlan, error) {
	c := &writeCompiler{Outlets: o}
	root, err := c.array(f, a)
	if err = cmp.Or(err, c.err); err != nil {
		return nil, err
	}
	return &ArrayPlan{root, columnar.Like(a)}, nil
}

// Write appends n values of a, from number first on.
func (p *ArrayPlan) Write(a *columnar.Array, first, n int) error {
	switch {
	case !columnar.Alike(a, p.like):
		return fmt.Errorf("an Array of %v cannot be written as one of %v", a.Shape, p.like.Shape)
	case first < 0 || n < 0 || n > a.Len-first:
		return fmt.Errorf("values %d to %d of %d", first, first+n, a.Len)
	case n == 0:
		return nil
	}
	return p.root.write(a, first, n)
}

// An outArray is the node of an ArrayPlan.
type outArray interface {
	// write appends n values, from number first on, which are there; n is not 0.
	write(a *columnar.Array, first, n int) error
}

// array compiles writing values of Arrays like a to f.
func (c *writeCompiler) array(f *schema.Field, a *columnar.Array) (outArray, error) {
	misfit := fmt.Errorf("field %q of type %s does not take values of %s", f.Path(), f.CppType(), describe(a))
	shape := a.Shape
	if shape == schema.Cardinality {
		shape = schema.Scalar
	}
	switch {
	case f.Shape == schema.Wrapper:
		return c.array(f.Children[0], a)
	case shape != f.Shape, a.Size != int(f.ArraySize), len(a.Children) != len(f.Children):
		return nil, misfit
	}
	below := make([]outArray, len(f.Children))
	for i, child := range f.Children {
		if shape == schema.Record && a.Children[i].Name != child.Name {
			return nil, misfit
		}
		var err error
		if below[i], err = c.array(child, a.Children[i]); err != nil {
			return nil, err
		}
	}
	switch shape {
	case schema.Scalar, schema.Bitset:
		elements := reflect.TypeOf(a.Values()).Elem()
		if shape == schema.Bitset {
			return &elementsOut{&leafOut[bool]{outColumn[bool](c, f, 0)}, elements.Size(), a.Size}, nil
		}
		if to := scalars[f.ElementKind()].writer(c, f, elements); to != nil {
			return &elementsOut{to, elements.Size(), 1}, nil
		}
	case schema.String:
		return &textOut[int8]{c.index(f), outColumn[int8](c, f, 1)}, nil
	case schema.Streamer:
		return &textOut[uint8]{c.index(f), outColumn[uint8](c, f, 1)}, nil
	case schema.Collection:
		return &listOut{c.index(f), below[0]}, nil
	case schema.Optional:
		return &validOut{c.index(f), below[0]}, nil
	case schema.Array:
		return &fixedOut{below[0], a.Size}, nil
	case schema.Record:
		return membersOut(below), nil
	case schema.Variant:
		v := &tagsOut{tags: outColumn[column.Tagged](c, f, 0), alternatives: below, runs: make([]columnar.Span, len(below))}
		for _, child := range f.Children {
			v.counts = append(v.counts, c.counter(child, true))
		}
		return v, nil
	}
	return nil, misfit
}

// describe says what the values of an Array are.
func describe(a *columnar.Array) string {
	switch a.Shape {
	case schema.Scalar, schema.Cardinality:
		return fmt.Sprintf("the Go type %v", reflect.TypeOf(a.Values()).Elem())
	case schema.Collection, schema.Optional, schema.Array:
		return fmt.Sprintf("the shape %v, of %s", a.Shape, describe(a.Children[0]))
	}
	return fmt.Sprintf("the shape %v", a.Shape)
}

// elementsOut writes the values of a Scalar, or the bits of a Bitset.
type elementsOut struct {
	to   out
	size uintptr // of an element, in bytes
	per  int     // elements of a value
}

func (e *elementsOut) write(a *columnar.Array, first, n int) error {
	if e.per == 0 {
		return nil
	}
	all := reflect.ValueOf(a.Values()).UnsafePointer()
	return e.to.write(unsafe.Add(all, uintptr(first*e.per)*e.size), n*e.per, e.size)
}

// textOut writes Strings and Streamers.
type textOut[T int8 | uint8] struct {
	indexOut
	bytes buffers[T]
}

func (t *textOut[T]) write(a *columnar.Array, first, n int) error {
	ends := a.Offsets[first:][:n+1]
	if some := a.Bytes[ends[0]:ends[n]]; len(some) > 0 {
		t.bytes.AddAll(unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(some))), len(some)))
	}
	t.addAll(ends)
	return nil
}

// addAll adds collections whose items end at ends[1:], the first of them beginning at
// ends[0].
func (x *indexOut) addAll(ends []int64) {
	for i, end := range ends[1:] {
		x.add(int(end - ends[i]))
	}
}

// listOut writes Collections.
type listOut struct {
	indexOut
	items outArray
}

func (l *listOut) write(a *columnar.Array, first, n int) error {
	ends := a.Offsets[first:][:n+1]
	if items := ends[n] - ends[0]; items > 0 {
		if err := l.items.write(a.Children[0], int(ends[0]), int(items)); err != nil {
			return err
		}
	}
	l.addAll(ends)
	return nil
}

// validOut writes Optionals.
type validOut struct {
	indexOut
	item outArray
}

func (v *validOut) write(a *columnar.Array, first, n int) error {
	for valid := a.Valid[first:][:n]; len(valid) > 0; {
		run := slices.Index(valid, !valid[0])
		if run < 0 {
			run = len(valid)
		}
		items := 0
		if valid[0] {
			items = 1
			if err := v.item.write(a.Children[0], first, run); err != nil {
				return err
			}
		}
		for range run {
			v.add(items)
		}
		first, valid = first+run, valid[run:]
	}
	return nil
}

// fixedOut writes Arrays of fixed size.
type fixedOut struct {
	item outArray
	size int
}

func (f *fixedOut) write(a *columnar.Array, first, n int) error {
	if f.size == 0 {
		return nil
	}
	return f.item.write(a.Children[0], first*f.size, n*f.size)
}

// membersOut writes Records.
type membersOut []outArray

func (m membersOut) write(a *columnar.Array, first, n int) error {
	for i, member := range m {
		if err := member.write(a.Children[i], first, n); err != nil {
			return err
		}
	}
	return nil
}

// tagsOut writes Variants.
type tagsOut struct {
	tags         buffers[column.Tagged]
	alternatives []outArray
	counts       []*uint64       // of items, by alternative; 0 in a new cluster
	runs         []columnar.Span // by alternative: items that are still to be written
}

func (t *tagsOut) write(a *columnar.Array, first, n int) error {
	clear(t.runs)
	for i, tag := range a.Tags[first:][:n] {
		if tag < 0 {
			t.tags.Add(column.Tagged{})
			continue
		}
		t.tags.Add(column.Tagged{Index: *t.counts[tag], Tag: uint32(tag + 1)})
		*t.counts[tag]++
		run := &t.runs[tag]
		if at := a.Index[first+i]; run.First+run.N == at {
			run.N++
		} else if err := t.end(a, tag); err != nil {
			return err
		} else {
			*run = columnar.Span{First: at, N: 1}
		}
	}
	for tag := range t.runs {
		if err := t.end(a, int32(tag)); err != nil {
			return err
		}
	}
	return nil
}

// end writes the run of an alternative.
func (t *tagsOut) end(a *columnar.Array, tag int32) error {
	run := t.runs[tag]
	if run.N == 0 {
		return nil
	}
	return t.alternatives[tag].write(a.Children[tag], int(run.First), int(run.N))
}
