package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// leaves are the fields that are read.
type leaves struct {
	paths   []string
	domains map[string]*domain // of the items of fields
	values  map[string]value   // of fields without members and items
	later   []func()           // what must be done when all paths are known
	checks  []check
}

// A check finds errors, whether or not values are needed.
type check struct {
	find  func(r *run)
	guard *node[bool]         // it finds errors only in rows where that holds; nil: in all
	never func(z *zones) bool // reports whether it finds none in a cluster; nil if that is not known
}

// place returns the place of a path among those that are read.
func (l *leaves) place(path string) int {
	i := slices.Index(l.paths, path)
	if i < 0 {
		i = len(l.paths)
		l.paths = append(l.paths, path)
	}
	return i
}

// A branch is a part of a field's tree, where its values are in a batch: in the Array at the
// path, behind some that are around it.
type branch struct {
	*leaves
	path   string
	around int            // Arrays around the one of the branch
	below  int            // those of them that are below the field of the path, without optionals
	joined bool           // it is of another source of a Join, of which zone maps tell nothing
	array  *rntuple.Array // without values
	dom    *domain
	valid  *validity                   // the optionals around it
	from   func(r *run) *rntuple.Array // finds the outermost Array if it is none of a field
}

// key names the branch.
func (b branch) key() string { return fmt.Sprintf("%s %d", b.path, b.around) }

// validity is where an optional has a value.
type validity struct {
	above *validity
	bits  func(r *run) []bool
}

// find returns what finds an Array in a batch, with some Arrays around it.
func find(place, around int) func(r *run) *rntuple.Array {
	return inside(func(r *run) *rntuple.Array { return r.batch.Columns[place] }, around)
}

func inside(from func(r *run) *rntuple.Array, around int) func(r *run) *rntuple.Array {
	return func(r *run) *rntuple.Array {
		a := from(r)
		for range around {
			a = a.Children[0]
		}
		return a
	}
}

// leaf returns what finds the Array of the branch, which will be read.
func (b branch) leaf() func(r *run) *rntuple.Array {
	if b.from != nil {
		return inside(b.from, b.around)
	}
	return find(b.place(b.path), b.around)
}

// value returns the value of a branch. It is the same for all uses of a field without parts.
func (b branch) value() (value, error) {
	if v, ok := b.values[b.key()]; ok && b.from == nil {
		return v, nil
	}
	v, err := b.newValue()
	if err == nil && v.kind != 0 && b.from == nil {
		b.values[b.key()] = v
	}
	return v, err
}

func (b branch) newValue() (value, error) {
	a := b.array
	switch kind := kindOf(a); {
	case a.Shape == schema.Bitset:
		d := b.items(fixed(a.Size))
		at := b.leaf()
		return listOfItems(b.dom, d, boolsOf(d, &node[bool]{compute: func(r *run, n *node[bool]) {
			n.all, _ = at(r).Values().([]bool)
		}}, false)).sized(a.Size), b.whole()
	case kind == Bool:
		at := b.leaf()
		n := withValidity(b.valid, func(r *run, n *node[bool]) { n.all, _ = at(r).Values().([]bool) })
		return boolsOf(b.dom, n.known(stored(b, boolsIn)), b.valid != nil), nil
	case kind == Int:
		at := b.leaf()
		n := withValidity(b.valid, func(r *run, n *node[int64]) {
			var err *rangeError
			if n.all, err = toIntegers(at(r), &n.buffer, n.valid); err != nil {
				n.out(r, at(r).Len)
				r.fail(entryOf(r, b.dom, err.row), err)
			}
		})
		if _, ok := a.Values().([]uint64); ok {
			b.checks = append(b.checks, check{find: func(r *run) { n.rows(r) }, never: b.fit})
		}
		return intsOf(b.dom, n.known(stored(b, intsIn)), b.valid != nil), nil
	case kind == Float:
		at := b.leaf()
		n := withValidity(b.valid, func(r *run, n *node[float64]) { n.all = toFloats(at(r), &n.buffer) })
		return floatsOf(b.dom, n.known(stored(b, floatsIn)), b.valid != nil), nil
	case kind == String:
		at := b.leaf()
		return stringsOf(b.dom, withValidity(b.valid, func(r *run, n *node[[]byte]) {
			a := at(r)
			all := n.out(r, a.Len)
			for i := range all {
				all[i] = a.Bytes[a.Offsets[i]:a.Offsets[i+1]]
			}
		}), b.valid != nil), nil
	}
	switch a.Shape {
	case schema.Optional:
		return b.optional()
	case schema.Array:
		d := b.items(fixed(a.Size))
		d.sizes = b.sizes
		item, err := b.item(d, a.Children[0]).value()
		if err != nil {
			return value{}, err
		}
		return listOfItems(b.dom, d, item).sized(a.Size), b.whole()
	case schema.Collection:
		d := b.items(nil)
		if d.items == nil {
			d.items, d.sizes = b.offsets(), b.sizes
		}
		inner := b.item(d, a.Children[0])
		item, err := inner.value()
		if _, _, ok := mapOf(a); ok {
			item, err = inner.pair()
		}
		if err != nil {
			return value{}, err
		}
		return listOfItems(b.dom, d, item), b.whole()
	case schema.Record:
		if !isTuple(a) {
			return b.record(), nil
		}
		return value{}, notColumns("%s is a tuple", a.Field.Path())
	}
	return value{}, notColumns("%s is a %v", a.Field.Path(), a.Shape)
}

// whole returns an error for arrays that may be missing.
func (b branch) whole() error {
	if b.valid != nil {
		return notColumns("the array %s may be missing", b.array.Field.Path())
	}
	return nil
}

// entryOf returns the row of the entry that a row of a domain is part of.
func entryOf(r *run, d *domain, row int) int {
	for ; d.up != nil; d = d.up {
		e := rangeError{row: row}
		e.above(d.bounds(r))
		row = e.row
	}
	return row
}

// items returns the domain of the items of the branch's arrays, which is the same for all uses
// of the field.
func (b branch) items(offsets func(r *run, d *domain) []int64) *domain {
	if b.from != nil {
		return &domain{up: b.dom, items: offsets}
	}
	d := b.domains[b.key()]
	if d == nil {
		d = &domain{up: b.dom, items: offsets}
		b.domains[b.key()] = d
	}
	return d
}

// item returns the branch of the items of arrays.
func (b branch) item(d *domain, a *rntuple.Array) branch {
	if b.array.Shape != schema.Optional {
		b.below++
	}
	b.dom, b.array, b.around = d, a, b.around+1
	return b
}

// offsets returns what finds the offsets of the branch's collections. They are those of any
// field in them.
func (b branch) offsets() func(r *run, d *domain) []int64 {
	path, a := b.path, b.array.Children[0]
	if _, _, ok := mapOf(b.array); ok {
		path += "._0"
	}
	for a.Shape == schema.Record && !isTuple(a) && len(a.Children) > 0 {
		a = a.Children[0]
		path += "." + a.Name
	}
	at := b.under(path)
	return func(r *run, _ *domain) []int64 { return at(r).Offsets }
}

// under returns what finds the Array of the branch in any field that is read and lies under it.
// If there is none, the one at the given path is read.
func (b branch) under(path string) func(r *run) *rntuple.Array {
	if b.from != nil {
		return inside(b.from, b.around)
	}
	var at func(r *run) *rntuple.Array
	b.later = append(b.later, func() {
		i := slices.IndexFunc(b.paths, func(p string) bool { return p == b.path || strings.HasPrefix(p, b.path+".") })
		if i < 0 {
			i = b.place(path)
		}
		at = find(i, b.around)
	})
	return func(r *run) *rntuple.Array { return at(r) }
}

// fixed returns the offsets of arrays of a size.
func fixed(size int) func(r *run, d *domain) []int64 {
	return func(r *run, d *domain) []int64 {
		o := resize(&d.buffer, d.up.size(r)+1)
		for i := range o {
			o[i] = int64(i * size)
		}
		return o
	}
}

// optional returns the value of a branch that is an optional.
func (b branch) optional() (value, error) {
	at := b.under(b.path)
	b.valid = &validity{b.valid, func(r *run) []bool { return at(r).Valid }}
	return b.item(b.dom, b.array.Children[0]).value()
}

// withValidity returns a node whose values are those of optionals.
func withValidity[T any](v *validity, load func(r *run, n *node[T])) *node[T] {
	if v == nil {
		return &node[T]{compute: load}
	}
	return &node[T]{compute: func(r *run, n *node[T]) {
		n.valid = v.bits(r)
		if v.above != nil {
			all := append(n.bits[:0], n.valid...)
			for up := v.above; up != nil; up = up.above {
				for i, bit := range up.bits(r) {
					all[i] = all[i] && bit
				}
			}
			n.bits, n.valid = all, all
		}
		load(r, n)
	}}
}

// record returns the value of a branch that is a record.
func (b branch) record() value {
	a := b.array
	out := &record{member: func(i int) (value, error) {
		m := b
		m.path, m.array, m.below = b.path+"."+a.Children[i].Name, a.Children[i], 0
		return m.value()
	}}
	for _, c := range a.Children {
		out.names = append(out.names, c.Name)
	}
	return value{of: b.dom, record: out}
}

// pair returns the value of the pairs of a map.
func (b branch) pair() (value, error) {
	if kindOf(b.array.Children[0]) == String {
		return value{}, notColumns("%s is a map with strings as keys", b.array.Field.Parent.Path())
	}
	b.path += "._0"
	v := b.record()
	v.record.names = []string{"key", "value"}
	return v, nil
}
