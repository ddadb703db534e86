package surgery

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Define defines a field of the output of Slim or Skim, whose value is the result of f for each
// selected entry. T is a struct as for rntuple.Entries: only its fields are read; they may be
// dropped from the output. V is any type supported by rntuple.Create.
//
// The tag contains the name and the options of the field, as in struct tags:
//
//	surgery.Define("mass,type=float,desc=invariant mass in GeV", func(e *Event) float64 { ... })
//
// With an empty tag, V is a struct with several new fields. It is an error if the output already
// has a field of that name; to replace a field, drop the old one.
//
// Calls of f are concurrent, for different entries, and in no particular order. An entry, and
// everything that it points to, is valid until f returns, and f must not modify a result after
// returning it. A panic of f is propagated to the caller of Slim or Skim; no output file is then
// created.
func Define[T, V any](tag string, f func(entry *T) V) Definition {
	d, err := newComputed(tag, f)
	if err != nil {
		return &wrong{fmt.Errorf("surgery.Define(%q): %w", tag, err)}
	}
	return d
}

// DefineColumns defines fields of the output of Slim or Skim whose values are computed in columnar
// form for the selected entries; see Define. expression.Fields implements Columns.
func DefineColumns(columns Columns) Definition { return byColumns{columns} }

// Columns compute new fields.
type Columns interface {
	// Columns returns fields with their types, and a function that yields their values for entries
	// of a source in batches. It must not read entries of s; an error means that the fields of s
	// are unsuitable. The function must be safe for concurrent use. It is called with a source with
	// the fields of s, and its batches must contain an Array for each field, with the shape of the
	// field; only the types of numbers may differ. A number out of the range of the field is an
	// error that wraps rntuple.ErrRange.
	Columns(s rntuple.Source) (fields []*schema.FieldDocument,
		in func(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], err error)
}

// A Definition defines fields that Slim or Skim adds; see Define and DefineColumns.
type Definition interface {
	// bind prepares computing the fields from those of a source.
	bind(s rntuple.Source) (*bound, error)
}

// wrong is a definition that Define refuses.
type wrong struct{ err error }

func (w *wrong) bind(rntuple.Source) (*bound, error) { return nil, w.err }

// check returns the errors of definitions that are wrong whatever the source.
func check(all []Definition) error {
	var errs []error
	for _, d := range all {
		if w, ok := d.(*wrong); ok {
			errs = append(errs, w.err)
		}
	}
	return errors.Join(errs...)
}

// A bound definition is one for the fields of a source.
type bound struct {
	fields []*schema.FieldDocument
	// compute returns the values for some entries of a source with these fields. It is
	// safe for concurrent use.
	compute func(s rntuple.Source, r rntuple.EntryRange) (block, error)
	// writer returns what writes them to the fields of the output.
	writer func(out *field.Outlets, to []*schema.Field) (writer, error)
}

// A block is values that bound.compute has returned.
type block any

// A writer writes n values of a block, from number first on.
type writer func(b block, first, n int) error

// computed is the fields that a Go function computes from entries of type T.
type computed[T, V any] struct {
	f      func(*T) V
	typ    reflect.Type // a struct with the memory of V, whose members are the fields
	fields []*schema.FieldDocument
	reuse  *rntuple.EntriesOptions
}

func newComputed[T, V any](tag string, f func(*T) V) (*computed[T, V], error) {
	d := &computed[T, V]{f: f, typ: reflect.TypeFor[V]()}
	if tag != "" {
		if name, _, _ := strings.Cut(tag, ","); name == "" || name == "-" {
			return nil, errors.New("the tag has no name for the field")
		}
		d.typ = reflect.StructOf([]reflect.StructField{{Name: "Value", Type: d.typ,
			Tag: reflect.StructTag("rntuple:" + strconv.Quote(tag))}})
	}
	doc, err := field.Model("", d.typ)
	if err != nil {
		return nil, err
	}
	if d.fields = doc.Fields; len(d.fields) == 0 {
		return nil, fmt.Errorf("%v has no fields", d.typ)
	}
	if isPlain(reflect.TypeFor[V]()) { // of other values, an entry may own parts
		d.reuse = &rntuple.EntriesOptions{Reuse: true}
	}
	return d, nil
}

// isPlain reports whether values of type t have no memory in common with others that may be
// written over.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		return !slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return !isPlain(f.Type) })
	}
	return t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String
}

func (d *computed[T, V]) bind(s rntuple.Source) (*bound, error) {
	if _, err := rntuple.ViewOf[T](s, ""); err != nil {
		return nil, err
	}
	return &bound{d.fields, d.compute, d.writer}, nil
}

func (d *computed[T, V]) compute(s rntuple.Source, r rntuple.EntryRange) (block, error) {
	values := make([]V, 0, r.Len())
	for e, err := range rntuple.EntriesIn[T](s, r, d.reuse) {
		if err != nil {
			return nil, err
		}
		values = append(values, d.f(e))
	}
	return values, nil
}

func (d *computed[T, V]) writer(out *field.Outlets, to []*schema.Field) (writer, error) {
	plan, err := out.CompileEntries(to, d.typ)
	return func(b block, first, n int) error { return field.WriteSlice(plan, b.([]V)[first:first+n]) }, err
}

// byColumns is a definition by columns.
type byColumns struct{ Columns }

func (d byColumns) bind(s rntuple.Source) (*bound, error) {
	fields, in, err := d.Columns.Columns(s)
	if err != nil {
		return nil, err
	}
	compute := func(s rntuple.Source, r rntuple.EntryRange) (block, error) {
		all := make([]*columnar.Array, len(fields))
		for b, err := range in(s, r) {
			if err == nil {
				err = collect(all, b)
			}
			if err != nil {
				return nil, err
			}
		}
		for i, a := range all {
			if a == nil || int64(a.Len) != r.Len() {
				return nil, fmt.Errorf("field %q: there are not as many values as entries, %d", fields[i].Name, r.Len())
			}
		}
		return all, nil
	}
	return &bound{fields, compute, writeArrays}, nil
}

// collect appends the values of a batch to Arrays, which are nil at first.
func collect(all []*columnar.Array, b *rntuple.Batch) error {
	if len(b.Columns) != len(all) {
		return fmt.Errorf("a batch has %d columns, want %d", len(b.Columns), len(all))
	}
	for i, a := range b.Columns {
		if all[i] == nil {
			all[i] = columnar.Like(a)
		}
		if !columnar.Alike(all[i], a) {
			return fmt.Errorf("column %d changes its shape", i)
		}
		if err := columnar.Append(all[i], a, []columnar.Span{{N: int64(a.Len)}}, math.MaxInt64); err != nil {
			return err
		}
	}
	return nil
}

// writeArrays is the writer of blocks of Arrays.
func writeArrays(out *field.Outlets, to []*schema.Field) (writer, error) {
	plans := make([]*field.ArrayPlan, len(to))
	return func(b block, first, n int) (err error) {
		for i, a := range b.([]*columnar.Array) {
			if plans[i] == nil {
				if plans[i], err = out.CompileArray(to[i], a); err != nil {
					return err
				}
			}
			if err := plans[i].Write(a, first, n); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
