package rntuple

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A ColumnWriter writes one RNTuple field by field, many entries at a time, from slices: call Put
// or PutJagged for every field, then End. It must be used by one goroutine at a time; other
// goroutines can use ColumnFillers concurrently. Errors and Close work as for Writer: if a Put
// fails, Close fails.
type ColumnWriter struct {
	common
	columns
}

// Columns is implemented by ColumnWriter and ColumnFiller, to which Put and PutJagged write.
type Columns interface{ to() *columns }

// columns is the part of a ColumnWriter and of a ColumnFiller that writes values.
type columns struct {
	sink    *pagesink.Sink
	err     func() error // of the sink, or that it is closed
	schema  *schema.Schema
	outlets *field.Outlets
	plans   map[planKey]any
	arrays  map[schema.FieldID]*field.ArrayPlan
	given   map[schema.FieldID]int64 // number of entries since the last End
}

type planKey struct {
	field schema.FieldID
	typ   reflect.Type
}

func newColumns(w *ntuple.Writer, sink *pagesink.Sink, outlets *field.Outlets) columns {
	return columns{sink: sink, err: w.Err, schema: w.Schema, outlets: outlets, plans: map[planKey]any{},
		arrays: map[schema.FieldID]*field.ArrayPlan{}, given: map[schema.FieldID]int64{}}
}

func (c *columns) to() *columns { return c }

// CreateColumns creates a ROOT file at path with one RNTuple of the given schema. An existing file
// is replaced, unless FileOptions.NoReplace is set.
func CreateColumns(path, name string, doc *schema.Document, o *WriteOptions) (*ColumnWriter, error) {
	f, err := CreateFile(path, o.file())
	return owning(f, err, func() (*ColumnWriter, error) { return NewColumnWriter(f, name, doc, o.alone()) })
}

// NewColumnWriter creates an RNTuple of the given schema in a file.
func NewColumnWriter(f *File, name string, doc *schema.Document, o *WriteOptions) (*ColumnWriter, error) {
	base, err := begin(f, name, doc, o)
	if err != nil {
		return nil, err
	}
	return columnWriterOn(base, f)
}

func columnWriterOn(base *ntuple.Writer, f *File) (*ColumnWriter, error) {
	w := &ColumnWriter{common: common{ntuple: base, file: f, outlets: field.NewOutlets(base.Sink)}}
	w.columns = newColumns(base, base.Sink, w.common.outlets)
	return w, nil
}

// top returns the top-level field of the given name.
func (c *columns) top(name string) (*schema.Field, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	chain, err := c.schema.Lookup(name)
	if err != nil {
		return nil, err
	}
	if f := chain[0]; len(chain) == 1 && f.Source == nil {
		return f, nil
	}
	return nil, errors.New("not a top-level field with values of its own")
}

// fail makes err the error of the RNTuple, because values are missing that Close would not miss.
func (c *columns) fail(name string, err error) error {
	if c.err() == nil {
		c.sink.Fail(fmt.Errorf("field %q: %w", name, err))
	}
	return c.err()
}

// planOf returns the plan for values of type t of f, which compile makes the first time.
func planOf[P any](c *columns, f *schema.Field, t reflect.Type,
	compile func(*schema.Field, reflect.Type) (P, error)) (P, error) {
	key := planKey{f.ID, t}
	if p, ok := c.plans[key].(P); ok {
		return p, nil
	}
	p, err := compile(f, t)
	if err == nil {
		c.plans[key] = p
	}
	return p, err
}

// Put writes the values of a top-level field for the next len(values) entries. The package
// documentation lists compatible Go types. The error wraps ErrRange if a value is out of range.
func Put[E any](w Columns, name string, values []E) error {
	c := w.to()
	if err := c.sink.Enter("Put"); err != nil {
		return err
	}
	defer c.sink.Leave()
	f, err := c.top(name)
	if err != nil {
		return c.fail(name, err)
	}
	plan, err := planOf(c, f, reflect.TypeFor[E](), c.outlets.CompileField)
	if err != nil {
		return c.fail(name, err)
	}
	if err := plan.Write(unsafe.Pointer(unsafe.SliceData(values)), len(values)); err != nil {
		c.sink.Fail(err)
	}
	c.given[f.ID] += int64(len(values))
	return c.sink.Err()
}

// PutJagged writes the values of a top-level collection field for the next len(offsets)-1
// entries: entry i has the items items[offsets[i]:offsets[i+1]].
func PutJagged[E any](w Columns, name string, offsets []int64, items []E) error {
	c := w.to()
	if err := c.sink.Enter("PutJagged"); err != nil {
		return err
	}
	defer c.sink.Leave()
	f, err := c.top(name)
	if err != nil {
		return c.fail(name, err)
	}
	if len(offsets) == 0 {
		return nil
	}
	first, last := offsets[0], offsets[len(offsets)-1]
	if first < 0 || last < first || last > int64(len(items)) {
		return c.fail(name, fmt.Errorf("offsets from %d to %d for %d items", first, last, len(items)))
	}
	plan, err := planOf(c, f, reflect.TypeFor[E](), c.outlets.CompileJagged)
	if err != nil {
		return c.fail(name, err)
	}
	if err := plan.Write(offsets, unsafe.Pointer(unsafe.SliceData(items[first:]))); err != nil {
		c.sink.Fail(fmt.Errorf("field %q: %w", name, err))
	}
	c.given[f.ID] += int64(len(offsets) - 1)
	return c.sink.Err()
}

// PutArray writes n values of an Array, starting at index first, as the values of a top-level field
// for the next n entries. The shapes of the Array and its children must match those of the field
// and its subfields, except that a Cardinality is a number.
func PutArray(w Columns, name string, a *columnar.Array, first, n int) error {
	c := w.to()
	if err := c.sink.Enter("PutArray"); err != nil {
		return err
	}
	defer c.sink.Leave()
	f, err := c.top(name)
	if err != nil {
		return c.fail(name, err)
	}
	plan := c.arrays[f.ID]
	if plan == nil {
		if plan, err = c.outlets.CompileArray(f, a); err != nil {
			return c.fail(name, err)
		}
		c.arrays[f.ID] = plan
	}
	if err := plan.Write(a, first, n); err != nil {
		c.sink.Fail(fmt.Errorf("field %q: %w", name, err))
	}
	c.given[f.ID] += int64(n)
	return c.sink.Err()
}

// End completes n entries; every field must have been given n values. Clusters end only
// here, so none has fewer entries than a call of End completes.
func (c *columns) End(n int64) error {
	return during("End", c.sink, c.err, func() error {
		for _, f := range c.schema.Fields {
			if got := c.given[f.ID]; f.Source == nil && got != n {
				c.sink.Fail(fmt.Errorf("field %q has the values of %d entries, expected %d", f.Name, got, n))
				return c.sink.Err()
			}
		}
		clear(c.given)
		return c.sink.EndEntries(n)
	})
}
