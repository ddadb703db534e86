package where

import (
	"fmt"
	"io"
	"math"

	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A variable puts the values of a field where expressions look them up.
type variable struct {
	values
	in   map[string]any
	name string
}

// values are the values of a field in a batch of entries.
type values interface {
	load(first int64, n int) error
	at(i int) any
}

func (v *variable) set(i int) { v.in[v.name] = v.at(i) }

// newVariable returns the variable of a field, in the records that it is in.
func newVariable(s rntuple.Source, chain []*schema.Field, env map[string]any) (*variable, error) {
	f := chain[len(chain)-1]
	for _, record := range chain[:len(chain)-1] {
		if env[record.Name] == nil {
			env[record.Name] = map[string]any{}
		}
		env = env[record.Name].(map[string]any)
	}
	values, err := valuesOf(s, f)
	return &variable{values, env, f.Name}, err
}

// zero returns the zero value of a simple field.
func zero(f *schema.Field) any {
	flat := isFlat(f)
	if flat {
		f = f.Children[0]
	}
	switch {
	case f.Shape == schema.String && flat:
		return []string(nil)
	case f.Shape == schema.String:
		return ""
	case f.Kind().IsFloat() && flat:
		return []float64(nil)
	case f.Kind().IsFloat():
		return 0.0
	case f.Kind() == cpptype.Bool && flat:
		return []bool(nil)
	case f.Kind() == cpptype.Bool:
		return false
	case flat:
		return []int(nil)
	}
	return 0
}

// isFlat reports whether f is a collection of scalars or strings.
func isFlat(f *schema.Field) bool {
	return f.Shape == schema.Collection && (f.Children[0].Shape == schema.Scalar || f.Children[0].Shape == schema.String)
}

// isSimple reports whether f has values of one Go type, that of its zero value.
func isSimple(f *schema.Field) bool {
	return f.Shape == schema.Scalar || f.Shape == schema.Cardinality || f.Shape == schema.String || isFlat(f)
}

func valuesOf(s rntuple.Source, f *schema.Field) (values, error) {
	path := f.Path()
	if !isSimple(f) {
		view, err := rntuple.ViewOf[any](s, path)
		return &dynamic{scalars[any]{view: view}, f}, err
	}
	switch zero(f).(type) {
	case bool:
		return newScalars[bool](s, path)
	case float64:
		return newScalars[float64](s, path)
	case string:
		return newScalars[string](s, path)
	case []bool:
		return newJagged[bool](s, path)
	case []float64:
		return newJagged[float64](s, path)
	case []string:
		return newJagged[string](s, path)
	case []int:
		return newJagged[int](s, path)
	}
	return newScalars[int](s, path)
}

// scalars are values of one type.
type scalars[T any] struct {
	view   *rntuple.View[T]
	buffer []T
}

func newScalars[T any](s rntuple.Source, path string) (values, error) {
	view, err := rntuple.ViewOf[T](s, path)
	return &scalars[T]{view: view}, err
}

func (s *scalars[T]) load(first int64, n int) error {
	if cap(s.buffer) < n {
		s.buffer = make([]T, n)
	}
	got, err := s.view.Read(s.buffer[:n], first)
	if err == nil && got < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (s *scalars[T]) at(i int) any { return s.buffer[i] }

// jagged are collections of one type.
type jagged[T any] struct {
	view    *rntuple.JaggedView[T]
	offsets []int64
	items   []T
}

func newJagged[T any](s rntuple.Source, path string) (values, error) {
	view, err := rntuple.JaggedOf[T](s, path)
	return &jagged[T]{view: view}, err
}

func (j *jagged[T]) load(first int64, n int) (err error) {
	if len(j.offsets) != n+1 {
		j.offsets = make([]int64, n+1)
	}
	got := 0
	j.items, got, err = j.view.Read(j.offsets, j.items, first)
	if err == nil && got < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (j *jagged[T]) at(i int) any { return j.items[j.offsets[i]:j.offsets[i+1]] }

// dynamic are values of any type.
type dynamic struct {
	scalars[any]
	field *schema.Field
}

func (d *dynamic) load(first int64, n int) error {
	if err := d.scalars.load(first, n); err != nil {
		return err
	}
	for i, v := range d.buffer[:n] {
		var err error
		if d.buffer[i], err = convert(d.field, v); err != nil {
			return fmt.Errorf("entry %d: %w", first+int64(i), err)
		}
	}
	return nil
}

// convert returns a dynamic value as expressions have it.
func convert(f *schema.Field, v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case int8:
		return int(v), nil
	case uint8:
		return int(v), nil
	case int16:
		return int(v), nil
	case uint16:
		return int(v), nil
	case int32:
		return int(v), nil
	case uint32:
		return int(v), nil
	case int64:
		return int(v), nil
	case uint64:
		if v > math.MaxInt {
			return nil, fmt.Errorf("field %q: %w: %d is beyond 64 bits with a sign", f.Path(), rntuple.ErrRange, v)
		}
		return int(v), nil
	case float32:
		return float64(v), nil
	case value.Bits:
		return []bool(v), nil
	case value.Some:
		return convert(item(f), v.Value)
	case value.Alternative:
		return convert(f.Children[v.Index], v.Value)
	case value.Record:
		return convertRecord(f, v)
	case value.Map:
		return convertMap(f, v)
	case []any:
		f := unwrap(f)
		all := make([]any, len(v))
		for i, e := range v {
			child := f.Children[0]
			if f.IsTuple() {
				child = f.Children[i]
			}
			var err error
			if all[i], err = convert(child, e); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return v, nil
}

// unwrap returns the field of the value that wrappers and optionals hold.
func unwrap(f *schema.Field) *schema.Field {
	for f.Shape == schema.Wrapper || f.Shape == schema.Optional {
		f = f.Children[0]
	}
	return f
}

// item returns the field of the value that an optional holds.
func item(f *schema.Field) *schema.Field {
	for f.Shape == schema.Wrapper {
		f = f.Children[0]
	}
	return f.Children[0]
}

func convertRecord(f *schema.Field, v value.Record) (any, error) {
	f = unwrap(f)
	members := make(map[string]any, len(v.Names))
	for i, name := range v.Names {
		var err error
		if members[name], err = convert(f.Children[i], v.Values[i]); err != nil {
			return nil, err
		}
	}
	return members, nil
}

func convertMap(f *schema.Field, v value.Map) (any, error) {
	pair := unwrap(f).Children[0].Children
	byKey, all := map[string]any{}, make([]any, len(v.Elements))
	for i, e := range v.Elements {
		key, err := convert(pair[0], e.Key)
		if err != nil {
			return nil, err
		}
		value, err := convert(pair[1], e.Value)
		if err != nil {
			return nil, err
		}
		if v.StringKeys {
			byKey[key.(string)] = value
		} else {
			all[i] = map[string]any{"key": key, "value": value}
		}
	}
	if v.StringKeys {
		return byKey, nil
	}
	return all, nil
}
