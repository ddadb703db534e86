package expression

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An output returns the values of an expression in a batch.
type output func(r *run) *columnar.Array

// fit returns the C++ type for v that is nearest to the type of a field: that type if the field
// takes v, and without a field the type that v has by itself. It is empty if there is none.
func (v value) fit(f *schema.FieldDocument) string {
	present := v
	present.missing = false
	switch {
	case isOptional(f) && isOptional(f.Fields[0]):
		return v.fit(f.Fields[0])
	case isOptional(f):
		return with(f, present.fit(f.Fields[0]))
	case v.missing:
		return around("std::optional<%s>", present.fit(f))
	case v.list != nil && (v.list.tuple || v.list.keyed):
		return ""
	case v.list != nil && isSequence(f):
		return with(f, v.list.item.fit(f.Fields[0]))
	case v.list != nil:
		return around("std::vector<%s>", v.list.item.fit(f))
	case f != nil && v.kind.fits(f.Type):
		return f.Type
	}
	return [...]string{Bool: "bool", Int: "std::int64_t", Float: "double", String: "std::string", Other: ""}[v.kind]
}

// with returns the type of a field that has another type in it.
func with(f *schema.FieldDocument, inner string) string {
	if inner == f.Fields[0].Type {
		return f.Type
	}
	name, _, _ := strings.Cut(f.Type, "<")
	if f.ArraySize != nil {
		return around(fmt.Sprintf("%s<%%s,%d>", name, *f.ArraySize), inner)
	}
	return around(name+"<%s>", inner)
}

// around returns a type around another one, if there is one.
func around(format, inner string) string {
	if inner == "" {
		return ""
	}
	return fmt.Sprintf(format, inner)
}

// isOptional reports whether values of a field, which may be nil, may be missing.
func isOptional(f *schema.FieldDocument) bool {
	return f != nil && (strings.HasPrefix(f.Type, "std::optional<") || strings.HasPrefix(f.Type, "std::unique_ptr<"))
}

// isSequence reports whether a field, which may be nil, has arrays.
func isSequence(f *schema.FieldDocument) bool {
	return f != nil && (strings.HasPrefix(f.Type, "std::vector<") || strings.HasPrefix(f.Type, "ROOT::VecOps::RVec<") ||
		isFixed(f))
}

// isFixed reports whether a field, which may be nil, has arrays of one size, which is not 0.
func isFixed(f *schema.FieldDocument) bool {
	return f != nil && strings.HasPrefix(f.Type, "std::array<") && f.ArraySize != nil
}

// fits reports whether a field of a C++ type takes values of the kind, if they are in range.
func (k Kind) fits(typ string) bool {
	switch k {
	case Bool:
		return typ == "bool"
	case Int:
		name, isInt := strings.CutSuffix(strings.TrimPrefix(typ, "std::"), "_t")
		return isInt && strings.HasPrefix(strings.TrimPrefix(name, "u"), "int") || Float.fits(typ)
	case Float:
		return typ == "float" || typ == "double"
	case String:
		return typ == "std::string"
	}
	return false
}

// A target is a field that the values of an expression are for.
type target struct {
	*builder
	name string // of the field and its type, for messages
}

// output returns what makes an Array of v for a field that takes it, or for none.
func (t *target) output(v value, f *schema.FieldDocument) output {
	wrapped := v.missing
	if isOptional(f) {
		wrapped, f = true, f.Fields[0]
	}
	a, fill := t.array(v, f)
	if !wrapped {
		return func(r *run) *columnar.Array {
			fill(r)
			return a
		}
	}
	outer := &columnar.Array{Shape: schema.Optional, Children: []*columnar.Array{a}}
	var everywhere []bool
	return func(r *run) *columnar.Array {
		outer.Valid = fill(r)
		if outer.Len = a.Len; outer.Valid == nil {
			outer.Valid = resize(&everywhere, a.Len)
			for i := range everywhere {
				everywhere[i] = true
			}
		}
		return outer
	}
}

// array returns an Array for v, as if it were never missing. Fill sets it, and returns where v has
// values; nil: everywhere.
func (t *target) array(v value, f *schema.FieldDocument) (a *columnar.Array, fill func(r *run) (valid []bool)) {
	a = &columnar.Array{Shape: schema.Scalar}
	switch {
	case isFixed(f):
		return t.fixed(v, f)
	case v.list != nil:
		var items *schema.FieldDocument
		if f != nil {
			items = f.Fields[0]
		}
		item, d := t.output(v.list.item, items), v.list.items
		a.Shape = schema.Collection
		return a, func(r *run) []bool {
			a.Offsets = d.bounds(r)
			a.Len, a.Children = len(a.Offsets)-1, append(a.Children[:0], item(r))
			return v.rowsThere(r)
		}
	case v.kind == Bool:
		return columnOf(a, v.bools())
	case v.kind == Int && f != nil && Float.fits(f.Type):
		t.exact(v.ints(), f)
		return columnOf(a, v.asFloats().floats())
	case v.kind == Int:
		return columnOf(a, v.ints())
	case v.kind == Float:
		return columnOf(a, v.floats())
	}
	a.Shape, a.Offsets = schema.String, []int64{0}
	return a, func(r *run) []bool {
		all, valid := v.strings().rows(r)
		a.Clear(false)
		for i, s := range all {
			if valid == nil || valid[i] {
				a.Bytes = append(a.Bytes, s...)
			}
			a.Offsets = append(a.Offsets, int64(len(a.Bytes)))
		}
		a.Len = len(all)
		return valid
	}
}

// columnOf is array for a column.
func columnOf[T columnar.Element](a *columnar.Array, n *node[T]) (*columnar.Array, func(r *run) []bool) {
	columnar.SetValues(a, []T{})
	return a, func(r *run) []bool {
		all, valid := n.rows(r)
		columnar.SetValues(a, all)
		return valid
	}
}

// rowsThere returns where the arrays of v are; nil: everywhere.
func (v value) rowsThere(r *run) []bool {
	if v.there == nil {
		return nil
	}
	there, _ := v.there.rows(r)
	return there
}

// fixed is array for arrays of one size. Others are errors of the entry.
func (t *target) fixed(v value, f *schema.FieldDocument) (*columnar.Array, func(r *run) []bool) {
	d, size := v.list.items, int64(*f.ArraySize)
	t.checks = append(t.checks, check{here: v.of, find: func(r *run) {
		there, offsets := v.rowsThere(r), d.bounds(r)
		for i, begin := range offsets[:len(offsets)-1] {
			if n := offsets[i+1] - begin; n != size && (there == nil || there[i]) {
				r.fail(v.of, i, &Error{Message: fmt.Sprintf("%s does not take an array of length %d", t.name, n)})
				return
			}
		}
	}})
	item := t.output(v.list.item, f.Fields[0])
	a := &columnar.Array{Shape: schema.Array, Size: int(size)}
	return a, func(r *run) []bool {
		items, there := item(r), v.rowsThere(r)
		a.Len = d.up.size(r)
		if items.Len != a.Len*a.Size { // arrays that are missing have items here all the same
			r.budget.Take(8 * size * int64(a.Len))
			padded, spans := columnar.Like(items), []columnar.Span(nil)
			for i, begin := range d.bounds(r)[:a.Len] {
				if !there[i] {
					begin = -1
				}
				spans = columnar.AddSpan(spans, columnar.Span{First: begin, N: size})
			}
			if err := columnar.Append(padded, items, spans, r.limit); err != nil {
				r.fail(d.up, 0, err)
			}
			items = padded
		}
		a.Children = append(a.Children[:0], items)
		return there
	}
}

// exact makes integers errors of the entry that have no equal among the numbers of a field's type.
func (t *target) exact(n *node[int64], f *schema.FieldDocument) {
	t.checks = append(t.checks, check{here: n.of, find: func(r *run) {
		all, valid := n.rows(r)
		for i, x := range all {
			y := float64(x)
			if f.Type == "float" {
				y = float64(float32(x))
			}
			if (y >= 1<<63 || int64(y) != x) && (valid == nil || valid[i]) {
				err := &Error{Message: fmt.Sprintf("%v: %s cannot hold %d exactly", rntuple.ErrRange, t.name, x),
					cause: rntuple.ErrRange}
				r.fail(n.of, i, err)
				return
			}
		}
	}})
}

// document returns the description of the field for the values of its expression.
func (f Field) document(v value) (*schema.FieldDocument, error) {
	own := v.fit(nil)
	if own == "" {
		return nil, &Error{Message: fmt.Sprintf("%s %v", f.Value, errOther)}
	}
	doc, err := schema.FieldOf(f.Name, cmp.Or(f.Type, own))
	if err != nil {
		return nil, err
	}
	if typ := v.fit(doc); typ != doc.Type {
		return nil, &Error{Message: fmt.Sprintf("the field %q of type %s does not take %s: %v; write %s:%s=...%s", f.Name,
			doc.Type, v.words(), f.Value,
			f.Name, typ, v.instead(doc))}
	}
	doc.Description = cmp.Or(f.Description, f.Value.String())
	return doc, nil
}

// words returns the type of v in words.
func (v value) words() string {
	if t := v.typ(); t.Kind != Other {
		return t.String()
	}
	return v.noun()
}

// instead says how an expression would have values that a field takes, if one is needed.
func (v value) instead(f *schema.FieldDocument) string {
	switch {
	case v.list != nil:
		return ""
	case v.kind.fits(f.Type): // but for what is missing
		return ", or give a default: (...) ?? " + [...]string{Bool: "false", Int: "-1", Float: "-1.0", String: `""`}[v.kind]
	case v.kind == Float && Int.fits(f.Type):
		return ", or convert: int(...)"
	}
	return ""
}
