package expression

import (
	"fmt"
	"reflect"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// Values checks that the values of expression i of p have the Go type T, and returns a function
// that returns them, one per entry, for a Batch of p. T is
//
//	bool, int64, float64 or string    for the kinds of these names
//	[]T                               for arrays of T
//	*T                                for a T that may be missing, and is nil then; also for one that never is
//
// The error, an *Error, names the type that fits. The values may share the memory of the Batch:
// they must not be changed, and are valid until the loop that it comes from goes on. The function
// may be called by several goroutines at the same time.
func Values[T any](p *Program, i int) (func(b *Batch) []T, error) {
	t := p.Type(i)
	if t.Kind == Other {
		return nil, &Error{Message: fmt.Sprintf("%s %v", p.exprs[i].text, errOther)}
	}
	read := t.reader(reflect.TypeFor[T]())
	if read == nil {
		return nil, &Error{Message: fmt.Sprintf("%v does not fit %s (%s); %v does", reflect.TypeFor[T](),
			p.exprs[i].text, t, t.goType())}
	}
	return func(b *Batch) []T { return read(b.Values[i]).Interface().([]T) }, nil
}

// goTypes are the types of values of each kind.
var goTypes = [...]reflect.Type{Bool: reflect.TypeFor[bool](), Int: reflect.TypeFor[int64](),
	Float: reflect.TypeFor[float64](), String: reflect.TypeFor[string]()}

// item returns the type of the items of arrays.
func (t Type) item() Type {
	t.Depth--
	t.Missing = t.Items && t.Depth == 0
	return t
}

// goType returns the Go type of values of a type that is not Other.
func (t Type) goType() reflect.Type {
	switch {
	case t.Missing:
		t.Missing = false
		return reflect.PointerTo(t.goType())
	case t.Depth > 0:
		return reflect.SliceOf(t.item().goType())
	}
	return goTypes[t.Kind]
}

// reader returns what makes a slice with elements of a Go type of an Array of values of type t, or
// nil if they do not fit.
func (t Type) reader(to reflect.Type) func(a *columnar.Array) reflect.Value {
	isPointer := to.Kind() == reflect.Pointer && to.Elem().Kind() != reflect.Pointer
	switch {
	case isPointer:
		present := t
		present.Missing = false
		read := present.reader(to.Elem())
		if read == nil {
			return nil
		}
		return func(a *columnar.Array) reflect.Value {
			values := a
			if t.Missing {
				values = a.Children[0]
			}
			from, out := read(values), reflect.MakeSlice(reflect.SliceOf(to), a.Len, a.Len)
			for i := range a.Len {
				if !t.Missing || a.Valid[i] {
					out.Index(i).Set(from.Index(i).Addr())
				}
			}
			return out
		}
	case t.Missing:
		return nil
	case t.Depth > 0:
		if to.Kind() != reflect.Slice {
			return nil
		}
		read := t.item().reader(to.Elem())
		if read == nil {
			return nil
		}
		return func(a *columnar.Array) reflect.Value {
			items, out := read(a.Children[0]), reflect.MakeSlice(reflect.SliceOf(to), a.Len, a.Len)
			for i := range a.Len {
				begin, end := int(a.Offsets[i]), int(a.Offsets[i+1])
				out.Index(i).Set(items.Slice3(begin, end, end))
			}
			return out
		}
	case to != goTypes[t.Kind]:
		return nil
	case t.Kind == String:
		return func(a *columnar.Array) reflect.Value {
			text, out := string(a.Bytes), make([]string, a.Len)
			for i := range out {
				out[i] = text[a.Offsets[i]:a.Offsets[i+1]]
			}
			return reflect.ValueOf(out)
		}
	}
	return func(a *columnar.Array) reflect.Value { return reflect.ValueOf(a.Values()) }
}
