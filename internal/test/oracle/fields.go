package oracle

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Fields are the variables of a source.
type Fields struct {
	Types  map[string]Type
	names  []string // of the source
	arrays []*columnar.Array
	view   *rntuple.View[value.Record]
}

// tooLarge stands for an integer of the file beyond 64 bits with a sign.
type tooLarge uint64

// A tuple has members of different types, which are read by themselves.
type tuple []any

// FieldsOf returns the fields of a source. It is not safe for concurrent use.
func FieldsOf(s rntuple.Source) (*Fields, error) {
	f := &Fields{Types: map[string]Type{}, names: rntuple.FieldNames(s)}
	var err error
	if f.arrays, err = rntuple.Shapes(s, f.names...); err != nil {
		return nil, err
	}
	for i, name := range f.names {
		t := typeOf(f.arrays[i])
		if source, member, ok := strings.Cut(name, "."); ok { // a source of a Join
			record := f.Types[source]
			f.Types[source] = Type{Kind: Record, Names: append(record.Names, member), Members: append(record.Members, t)}
		} else {
			f.Types[name] = t
		}
	}
	f.view, err = rntuple.RecordsOf(s, f.names...)
	return f, err
}

// Entry returns the values that the fields have in an entry.
func (f *Fields) Entry(entry int64) (map[string]any, error) {
	all, err := f.view.At(entry)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for i, name := range f.names {
		v := valueOf(all.Values[i], f.arrays[i])
		if source, _, ok := strings.Cut(name, "."); ok {
			record, _ := values[source].(value.Record)
			values[source] = value.Record{Names: f.Types[source].Names, Values: append(record.Values, v)}
		} else {
			values[name] = v
		}
	}
	return values, nil
}

// typeOf returns the type of the values of an array.
func typeOf(a *columnar.Array) Type {
	var children []Type
	for _, c := range a.Children {
		children = append(children, typeOf(c))
	}
	switch a.Shape {
	case schema.Scalar:
		switch reflect.TypeOf(a.Values()).Elem().Kind() {
		case reflect.Bool:
			return boolean
		case reflect.Float32, reflect.Float64:
			return float
		}
		return integer
	case schema.Cardinality:
		return integer
	case schema.String:
		return str
	case schema.Bitset:
		return ArrayOf(boolean)
	case schema.Array:
		return ArrayOf(children[0])
	case schema.Optional:
		return children[0].optional(true)
	case schema.Collection:
		if !a.Field.IsMap() {
			return ArrayOf(children[0])
		}
		key, val := typeOf(a.Children[0].Children[0]), typeOf(a.Children[0].Children[1])
		t := mapOf(key, val)
		if key.Kind != String {
			t.Kind = Array
		}
		return t
	case schema.Variant:
		if t, err := unifyAll(children); err == nil {
			return t.optional(true)
		}
		return Type{Kind: Variant, Missing: true, Members: children}
	case schema.Record:
		if !a.Field.IsTuple() {
			t := Type{Kind: Record, Members: children}
			for _, c := range a.Children {
				t.Names = append(t.Names, c.Name)
			}
			return t
		}
		t, err := unifyAll(children)
		// none becomes a float
		if err == nil && !slices.ContainsFunc(children, func(c Type) bool { return c.String() != t.String() }) {
			return ArrayOf(t)
		}
		return Type{Kind: Tuple, Members: children}
	}
	return Type{Kind: Opaque}
}

// valueOf turns a dynamic value into the value of a variable.
func valueOf(v any, a *columnar.Array) any {
	if a.Shape == schema.Optional {
		if some, ok := v.(value.Some); ok {
			v = some.Value
		}
		if v == nil {
			return nil
		}
		return valueOf(v, a.Children[0])
	}
	switch v := v.(type) {
	case nil:
		return nil
	case value.Alternative:
		return coerce(valueOf(v.Value, a.Children[v.Index]), typeOf(a))
	case value.Bits:
		items := []any{}
		for _, bit := range v {
			items = append(items, bit)
		}
		return items
	case value.Map:
		items, pair := []any{}, a.Children[0]
		for _, e := range v.Elements {
			items = append(items, record("key", valueOf(e.Key, pair.Children[0]), "value", valueOf(e.Value, pair.Children[1])))
		}
		return items
	case []any:
		items := []any{}
		for i, item := range v {
			child := a.Children[0]
			if a.Shape == schema.Record { // a tuple
				child = a.Children[i]
			}
			items = append(items, valueOf(item, child))
		}
		if t := typeOf(a); t.Kind != Tuple {
			return coerce(items, t)
		}
		return tuple(items)
	case value.Record:
		r := value.Record{Names: v.Names}
		for i, m := range v.Values {
			r.Values = append(r.Values, valueOf(m, a.Children[i]))
		}
		return r
	case bool, string:
		return v
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int()
	case r.CanFloat():
		return r.Float()
	case r.CanUint() && r.Uint() > math.MaxInt64:
		return tooLarge(r.Uint())
	case r.CanUint():
		return int64(r.Uint())
	}
	return fmt.Sprintf("opaque %T", v)
}

// record makes a record of two members.
func record(name1 string, v1 any, name2 string, v2 any) value.Record {
	return value.Record{Names: []string{name1, name2}, Values: []any{v1, v2}}
}

// coerce converts a value to a type that unify made of its own and of others.
func coerce(v any, t Type) any {
	switch v := v.(type) {
	case int64:
		if t.Kind == Float {
			return float64(v)
		}
	case []any:
		if t.Kind == Tuple {
			return v
		}
		items := []any{}
		for _, item := range v {
			items = append(items, coerce(item, t.elem()))
		}
		return items
	case value.Record:
		r := value.Record{Names: t.Names}
		for i, name := range t.Names {
			r.Values = append(r.Values, coerce(v.Get(name), t.Members[i]))
		}
		return r
	}
	return v
}
