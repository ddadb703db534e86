package compare

import (
	"bytes"
	"math"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A pair is a field of a and the field of b that it is compared with. Their shapes can be
// compared, and neither is a wrapper.
type pair struct {
	a, b     *schema.Field
	children []*pair // of fields that both have: members by name, alternatives and others by index
	Tolerance
	result   Field
	last     int64 // the entry that differed last
	measured bool  // a comparer already compares the sizes of this collection
}

// pair returns the pairs of fields that both have and that can be compared. Fields
// correspond by name; those of tuples, variants and the like correspond by index.
func (c *comparison) pair(parent *schema.Field, a, b []*schema.Field) (pairs []*pair) {
	named := parent == nil || parent.Shape == schema.Record && !parent.IsTuple()
	others := byName(b)
	for i, f := range a {
		g := others[f.Name]
		if !named {
			g = nil
			if i < len(b) {
				g = b[i]
			}
		}
		var p *pair
		if g != nil {
			p = c.newPair(f, g)
		}
		if p != nil || !named {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// newPair returns the pair of two fields, or nil if they cannot be compared.
func (c *comparison) newPair(f, g *schema.Field) *pair {
	path := f.Path()
	f, g = unwrapped(f), unwrapped(g)
	if !comparable(f, g) {
		c.uncompared = append(c.uncompared, path)
		return nil
	}
	p := &pair{a: f, b: g, last: -1}
	p.result = Field{Path: f.Path(), First: -1}
	p.Tolerance = c.toleranceOf(p)
	if f.Shape != schema.Scalar {
		p.children = c.pair(f, f.Children, g.Children)
	}
	return p
}

// unwrapped returns the field that f wraps, or f itself.
func unwrapped(f *schema.Field) *schema.Field {
	for f.Shape == schema.Wrapper {
		f = f.Children[0]
	}
	return f
}

// comparable reports whether the values of two fields can be compared.
func comparable(f, g *schema.Field) bool {
	class := func(f *schema.Field) any {
		switch {
		case f.Shape == schema.Cardinality:
			return schema.Scalar
		case f.IsMap():
			return "map"
		case f.IsTuple():
			return "tuple"
		case f.Shape == schema.Array:
			return schema.Collection
		}
		return f.Shape
	}
	return class(f) == class(g)
}

// collect appends the results of the field and the fields below it.
func (p *pair) collect(all *[]Field) {
	if p == nil {
		return
	}
	if p.result.Values > 0 || p.result.MaxAbs > 0 {
		*all = append(*all, p.result)
	}
	for _, child := range p.children {
		child.collect(all)
	}
}

// differ counts a value of an entry that differs.
func (p *pair) differ(entry int64) {
	if p.result.Entries == 0 {
		p.result.First = entry
	}
	if p.last != entry {
		p.last = entry
		p.result.Entries++
	}
	p.result.Values++
}

// floats compares floats.
func (p *pair) floats(entry int64, x, y float64) {
	if x == y || x != x && y != y {
		return
	}
	p.distance(math.Abs(x-y), max(math.Abs(x), math.Abs(y)))
	if !p.allows(x, y) {
		p.differ(entry)
	}
}

// integers compares integers that are not equal.
func (p *pair) integers(entry int64, x, y integer) {
	size := float64(max(x.size, y.size))
	switch {
	case x.negative != y.negative:
		p.distance(float64(x.size)+float64(y.size), size)
	default:
		p.distance(float64(max(x.size, y.size)-min(x.size, y.size)), size)
	}
	p.differ(entry)
}

// distance records the absolute difference of two numbers, of which the larger has
// the given magnitude.
func (p *pair) distance(abs, size float64) {
	if abs != abs {
		abs = math.Inf(1)
	}
	rel := abs / size
	if rel != rel {
		rel = math.Inf(1)
	}
	p.result.MaxAbs, p.result.MaxRel = max(p.result.MaxAbs, abs), max(p.result.MaxRel, rel)
}

// An integer is the value of an integer of any type, as sign and magnitude.
type integer struct {
	negative bool
	size     uint64
}

// integerOf converts an integer or a bool; ok is false for other types.
func integerOf(v any) (i integer, ok bool) {
	switch v := reflect.ValueOf(v); {
	case v.CanInt():
		n := v.Int()
		return integer{n < 0, uint64(max(n, -n))}, true
	case v.CanUint():
		return integer{size: v.Uint()}, true
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			i.size = 1
		}
		return i, true
	}
	return i, false
}

// floatOf converts a number of any type.
func floatOf(v any) float64 {
	switch v := v.(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	}
	i, _ := integerOf(v)
	if i.negative {
		return -float64(i.size)
	}
	return float64(i.size)
}

// values compares two dynamic values of an entry.
func (p *pair) values(entry int64, x, y any) {
	if p == nil {
		return
	}
	switch p.a.Shape {
	case schema.Scalar, schema.Cardinality:
		p.numbers(entry, x, y)
	case schema.String:
		if x.(string) != y.(string) {
			p.differ(entry)
		}
	case schema.Bitset:
		if !slices.Equal(x.(value.Bits), y.(value.Bits)) {
			p.differ(entry)
		}
	case schema.Streamer:
		if !bytes.Equal(x.([]byte), y.([]byte)) {
			p.differ(entry)
		}
	case schema.Optional:
		x, y = inside(x), inside(y)
		if (x == nil) != (y == nil) {
			p.differ(entry)
		} else if x != nil {
			p.children[0].values(entry, x.(value.Some).Value, y.(value.Some).Value)
		}
	case schema.Variant:
		v, _ := x.(value.Alternative)
		w, _ := y.(value.Alternative)
		if v.Index != w.Index || (x == nil) != (y == nil) {
			p.differ(entry)
		} else if x != nil && v.Index < len(p.children) {
			p.children[v.Index].values(entry, v.Value, w.Value)
		}
	case schema.Record:
		p.members(entry, x, y)
	default:
		p.items(entry, x, y)
	}
}

// inside returns the value of an optional as a Some, or nil.
func inside(v any) any {
	if _, ok := v.(value.Some); ok || v == nil {
		return v
	}
	return value.Some{Value: v}
}

func (p *pair) numbers(entry int64, x, y any) {
	v, ok1 := integerOf(x)
	w, ok2 := integerOf(y)
	switch {
	case !ok1 || !ok2:
		p.floats(entry, floatOf(x), floatOf(y))
	case v != w:
		p.integers(entry, v, w)
	}
}

func (p *pair) members(entry int64, x, y any) {
	if v, ok := x.([]any); ok { // a tuple or an element of a map
		w := y.([]any)
		for i := range min(len(v), len(w)) {
			p.children[i].values(entry, v[i], w[i])
		}
		return
	}
	v, w := x.(value.Record), y.(value.Record)
	for _, child := range p.children {
		child.values(entry, v.Get(memberOf(p.a, child.a)), w.Get(memberOf(p.b, child.b)))
	}
}

// memberOf returns the name of the member of record that f is, or lies below.
func memberOf(record, f *schema.Field) string {
	for f.Parent != record {
		f = f.Parent
	}
	return f.Name
}

// items compares the items of arrays and collections.
func (p *pair) items(entry int64, x, y any) {
	v, w := list(x), list(y)
	if len(v) != len(w) {
		p.differ(entry)
		return
	}
	if p.a.Kind().IsUnordered() || p.b.Kind().IsUnordered() {
		v, w = sorted(v), sorted(w)
	}
	for i := range v {
		p.children[0].values(entry, v[i], w[i])
	}
}

// list returns the items of a collection; those of a map are pairs.
func list(v any) []any {
	m, ok := v.(value.Map)
	if !ok {
		items, _ := v.([]any)
		return items
	}
	all := make([]any, len(m.Elements))
	for i, e := range m.Elements {
		all[i] = []any{e.Key, e.Value}
	}
	return all
}

// sorted returns items in an order that does not depend on that of the file.
func sorted(items []any) []any {
	keys := make([]string, len(items))
	order := make([]int, len(items))
	for i, v := range items {
		keys[i], order[i] = string(value.AppendJSON(nil, v)), i
	}
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare([]byte(keys[i]), []byte(keys[j])) })
	all := make([]any, len(items))
	for i, at := range order {
		all[i] = items[at]
	}
	return all
}
