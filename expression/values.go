package expression

import (
	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// values are the values of a field, as the virtual machine has them.
type values interface {
	// typ returns their type.
	typ() formula.Type
	// load takes the values of a batch.
	load(a *rntuple.Array) *rangeError
	// at returns a value of the batch. It stays valid.
	at(i int) any
}

// valuesOf returns the values of an Array.
func valuesOf(a *rntuple.Array) values {
	switch kindOf(a) {
	case String:
		return &stringValues{}
	case Bool:
		if a.Shape == schema.Bitset {
			return &listValues[bool]{bounds: bounds{size: a.Size}, item: &boolValues{}}
		}
		return &boolValues{}
	case Int:
		return &intValues{}
	case Float:
		return &floatValues{}
	}
	switch a.Shape {
	case schema.Collection:
		if keys, all, ok := mapOf(a); ok {
			return &mapValues{keys: valuesOf(keys), values: valuesOf(all), byName: kindOf(keys) == String}
		}
		return listOf(a)
	case schema.Array:
		return listOf(a)
	case schema.Record:
		r := &recordValues{tuple: isTuple(a)}
		for _, c := range a.Children {
			r.names, r.members = append(r.names, c.Name), append(r.members, valuesOf(c))
		}
		return r
	case schema.Optional:
		return &optionalValues{item: valuesOf(a.Children[0])}
	case schema.Variant:
		v := &variantValues{}
		for _, c := range a.Children {
			v.alternatives = append(v.alternatives, valuesOf(c))
		}
		return v
	}
	return &bytesValues{}
}

func listOf(a *rntuple.Array) values {
	b := bounds{size: a.Size} // 0 for collections
	switch item := valuesOf(a.Children[0]).(type) {
	case *boolValues:
		return &listValues[bool]{b, item}
	case *intValues:
		return &listValues[int64]{b, item}
	case *floatValues:
		return &listValues[float64]{b, item}
	case *stringValues:
		return &listValues[string]{b, item}
	default:
		return &arrayValues{b, item}
	}
}

// boolValues are bools and bits.
type boolValues struct{ all []bool }

func (v *boolValues) typ() formula.Type { return formula.Type{Kind: formula.Bool} }
func (v *boolValues) load(a *rntuple.Array) *rangeError {
	v.all, _ = a.Values().([]bool)
	return nil
}
func (v *boolValues) at(i int) any                 { return v.all[i] }
func (v *boolValues) slice(all []bool, lo, hi int) { copy(all, v.all[lo:hi]) }

// intValues are integers.
type intValues struct{ buf, all []int64 }

func (v *intValues) typ() formula.Type                 { return formula.Type{Kind: formula.Int} }
func (v *intValues) load(a *rntuple.Array) *rangeError { return v.loadValid(a, nil) }
func (v *intValues) at(i int) any                      { return v.all[i] }
func (v *intValues) slice(all []int64, lo, hi int)     { copy(all, v.all[lo:hi]) }
func (v *intValues) loadValid(a *rntuple.Array, valid []bool) (err *rangeError) {
	v.all, err = toIntegers(a, &v.buf, valid)
	return err
}

// floatValues are floats.
type floatValues struct{ buf, all []float64 }

func (v *floatValues) typ() formula.Type { return formula.Type{Kind: formula.Float} }
func (v *floatValues) load(a *rntuple.Array) *rangeError {
	v.all = toFloats(a, &v.buf)
	return nil
}
func (v *floatValues) at(i int) any                    { return v.all[i] }
func (v *floatValues) slice(all []float64, lo, hi int) { copy(all, v.all[lo:hi]) }

// stringValues are strings.
type stringValues struct{ a *rntuple.Array }

func (v *stringValues) typ() formula.Type { return formula.Type{Kind: formula.String} }
func (v *stringValues) load(a *rntuple.Array) *rangeError {
	v.a = a
	return nil
}
func (v *stringValues) at(i int) any { return string(v.a.Bytes[v.a.Offsets[i]:v.a.Offsets[i+1]]) }
func (v *stringValues) slice(all []string, lo, hi int) {
	for i := range all {
		all[i] = v.at(lo + i).(string)
	}
}

// bytesValues are objects that ROOT has streamed, of which nothing is known.
type bytesValues struct{ a *rntuple.Array }

func (v *bytesValues) typ() formula.Type { return formula.Type{} }
func (v *bytesValues) load(a *rntuple.Array) *rangeError {
	v.a = a
	return nil
}
func (v *bytesValues) at(i int) any {
	return append([]byte{}, v.a.Bytes[v.a.Offsets[i]:v.a.Offsets[i+1]]...)
}

// bounds are those of the items of collections, arrays and bitsets.
type bounds struct {
	a    *rntuple.Array
	size int // of all of them, or 0 if it varies
}

// array returns the type of arrays of items of a type.
func (b bounds) array(item formula.Type) formula.Type {
	t := formula.ArrayOf(item)
	t.Size = b.size
	return t
}

func (b bounds) of(i int) (lo, hi int) {
	if b.a.Shape == schema.Collection {
		return int(b.a.Offsets[i]), int(b.a.Offsets[i+1])
	}
	return i * b.a.Size, (i + 1) * b.a.Size
}

// above moves an error from an item to the collection that it is in.
func (b bounds) above(err *rangeError) *rangeError {
	switch {
	case err == nil:
	case b.a.Shape == schema.Collection:
		err.above(b.a.Offsets)
	default:
		err.row /= b.a.Size
	}
	return err
}

// items returns the Array of the items.
func (b bounds) items() *rntuple.Array {
	if b.a.Shape == schema.Bitset {
		return b.a
	}
	return b.a.Children[0]
}

// listValues are arrays of simple values.
type listValues[T any] struct {
	bounds
	item interface {
		values
		slice(all []T, lo, hi int)
	}
}

func (v *listValues[T]) typ() formula.Type { return v.array(v.item.typ()) }
func (v *listValues[T]) load(a *rntuple.Array) *rangeError {
	v.a = a
	return v.above(v.item.load(v.items()))
}
func (v *listValues[T]) at(i int) any {
	lo, hi := v.of(i)
	all := make([]T, hi-lo)
	v.item.slice(all, lo, hi)
	return all
}

// arrayValues are arrays of other values.
type arrayValues struct {
	bounds
	item values
}

func (v *arrayValues) typ() formula.Type { return v.array(v.item.typ()) }
func (v *arrayValues) load(a *rntuple.Array) *rangeError {
	v.a = a
	return v.above(v.item.load(v.items()))
}
func (v *arrayValues) at(i int) any {
	lo, hi := v.of(i)
	all := make([]any, hi-lo)
	for k := range all {
		all[k] = v.item.at(lo + k)
	}
	return all
}

// mapValues are maps.
type mapValues struct {
	bounds
	keys, values values
	byName       bool
}

func (v *mapValues) typ() formula.Type {
	if v.byName {
		element := v.values.typ()
		return formula.Type{Kind: formula.Map, Elem: &element}
	}
	return formula.ArrayOf(formula.Type{Kind: formula.Record, Members: map[string]formula.Type{"key": v.keys.typ(), "value": v.values.typ()}})
}
func (v *mapValues) load(a *rntuple.Array) *rangeError {
	v.a = a
	pair := v.items()
	err := v.keys.load(pair.Children[0])
	if err == nil {
		err = v.values.load(pair.Children[1])
	}
	return v.above(err)
}
func (v *mapValues) at(i int) any {
	lo, hi := v.of(i)
	if v.byName {
		all := make(map[string]any, hi-lo)
		for k := lo; k < hi; k++ {
			all[v.keys.at(k).(string)] = v.values.at(k)
		}
		return all
	}
	all := make([]any, hi-lo)
	for k := range all {
		all[k] = map[string]any{"key": v.keys.at(lo + k), "value": v.values.at(lo + k)}
	}
	return all
}

// recordValues are records, and tuples as arrays.
type recordValues struct {
	names   []string
	members []values
	tuple   bool
}

func (v *recordValues) typ() formula.Type {
	if v.tuple {
		return formula.ArrayOf(formula.Type{Missing: true})
	}
	all := map[string]formula.Type{}
	for i, name := range v.names {
		all[name] = v.members[i].typ()
	}
	return formula.Type{Kind: formula.Record, Members: all}
}
func (v *recordValues) load(a *rntuple.Array) *rangeError {
	for i, m := range v.members {
		if err := m.load(a.Children[i]); err != nil {
			return err
		}
	}
	return nil
}
func (v *recordValues) at(i int) any {
	if v.tuple {
		all := make([]any, len(v.members))
		for k, m := range v.members {
			all[k] = m.at(i)
		}
		return all
	}
	all := make(map[string]any, len(v.members))
	for k, m := range v.members {
		all[v.names[k]] = m.at(i)
	}
	return all
}

// optionalValues are optionals, and members of matched sources of a Join.
type optionalValues struct {
	valid []bool
	item  values
}

func (v *optionalValues) typ() formula.Type { return v.item.typ().Optional() }
func (v *optionalValues) load(a *rntuple.Array) *rangeError {
	v.valid = a.Valid
	if ints, ok := v.item.(*intValues); ok {
		return ints.loadValid(a.Children[0], a.Valid)
	}
	return v.item.load(a.Children[0])
}
func (v *optionalValues) at(i int) any {
	if !v.valid[i] {
		return nil
	}
	return v.item.at(i)
}

// variantValues are variants.
type variantValues struct {
	a            *rntuple.Array
	alternatives []values
}

func (v *variantValues) typ() formula.Type { return formula.Type{Missing: true} }
func (v *variantValues) load(a *rntuple.Array) *rangeError {
	v.a = a
	for i, alternative := range v.alternatives {
		if err := alternative.load(a.Children[i]); err != nil {
			for row, tag := range a.Tags {
				if int(tag) == i && a.Index[row] == int64(err.row) {
					err.row = row
					break
				}
			}
			return err
		}
	}
	return nil
}
func (v *variantValues) at(i int) any {
	if v.a.Tags[i] < 0 {
		return nil
	}
	return v.alternatives[v.a.Tags[i]].at(int(v.a.Index[i]))
}
