package expression

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// leaves are the fields that are read.
type leaves struct {
	paths   []string
	domains map[string]*domain // of the items of fields
	columns map[string]any     // nodes of fields
	later   []func()           // what must be done when all paths are known
	checks  []check
}

// reads returns the place of a path among those that are read.
func (l *leaves) reads(path string) int {
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
	*builder
	path   string
	around []int           // which child leads from the Array at the path to this one
	below  int             // those that are below the field of the path, without optionals
	joined bool            // zone maps tell nothing of it
	array  *columnar.Array // without values
	dom    *domain
	valid  []func(r *run) []bool // the optionals around it
}

// key names the branch.
func (b branch) key() string { return fmt.Sprint(b.path, b.around) }

// find returns what finds an Array in a batch, behind some that are around it.
func find(place int, around []int) func(r *run) *columnar.Array {
	return func(r *run) *columnar.Array {
		a := r.batch.Columns[place]
		for _, i := range around {
			a = a.Children[i]
		}
		return a
	}
}

// leaf returns what finds the Array of the branch, which will be read.
func (b branch) leaf() func(r *run) *columnar.Array { return find(b.reads(b.path), b.around) }

// loaded returns the node of the branch, which is the same for all uses of a field.
func loaded[T any](b branch, load func(r *run, n *node[T])) *node[T] {
	if n, ok := b.columns[b.key()].(*node[T]); ok {
		return n
	}
	n := newNode(b.dom, func(r *run, n *node[T]) {
		n.valid = b.present(r, n)
		load(r, n)
	})
	b.columns[b.key()] = n
	return n
}

// present returns where all optionals around the branch have values, or nil if there are none.
func (b branch) present(r *run, n interface {
	validWhere(r *run, all ...[]bool) []bool
}) []bool {
	all := make([][]bool, len(b.valid))
	for i, valid := range b.valid {
		all[i] = valid(r)
	}
	return n.validWhere(r, all...)
}

// there returns where an array, a record or a variant is; nil if it is everywhere.
func (b branch) there() *node[bool] {
	if len(b.valid) == 0 {
		return nil
	}
	return newNode(b.dom, func(r *run, n *node[bool]) {
		n.all = b.present(r, n)
		n.valid = nil
	})
}

// zone returns what zone maps tell of the branch.
func (b branch) zone(z *zones) (zonemap.Zone, bool) {
	if b.joined {
		return zonemap.Zone{}, false
	}
	return z.of(b.path + strings.Repeat("._0", b.below))
}

// stored bounds the values of a field. The function of returns the bounds of a zone that has them.
func stored[T any](b branch, of func(zonemap.Zone) (low, high T, ok bool)) func(z *zones) extent[T] {
	return func(z *zones) extent[T] {
		if zone, ok := b.zone(z); ok {
			if low, high, ok := of(zone); ok {
				return extent[T]{low, high, !zone.Empty, zone.NaN, len(b.valid) > 0 || zone.Missing}
			}
		}
		return anything[T]().orMissing(len(b.valid) > 0)
	}
}

func boolsIn(z zonemap.Zone) (low, high bool, ok bool) {
	return z.Least == 1, z.Greatest == 1, z.Kind == zonemap.Bool
}

func intsIn(z zonemap.Zone) (low, high int64, ok bool) {
	low, high = z.IntBounds()
	return low, high, z.Kind == zonemap.Int || z.Kind == zonemap.Uint && z.Greatest <= math.MaxInt64
}

func floatsIn(z zonemap.Zone) (low, high float64, ok bool) {
	low, high = z.FloatBounds()
	return low, high, z.Kind == zonemap.Float
}

// fit reports whether the integers of the branch have a place in 64 bits with a sign.
func (b branch) fit(z *zones) bool {
	zone, ok := b.zone(z)
	if !ok {
		return false
	}
	_, _, ok = intsIn(zone)
	return ok
}

// sizes bounds the number of items of the branch's collections and arrays, which have none where
// they are missing.
func (b branch) sizes(z *zones) extent[int64] {
	zone, ok := b.zone(z)
	if !ok || zone.Kind != zonemap.Size || zone.Empty || zone.Greatest > math.MaxInt64 {
		return rowNumbers(false)
	}
	if zone.Missing {
		zone.Least = 0
	}
	return between(int64(zone.Least), int64(zone.Greatest))
}

// value returns the value of a branch.
func (b branch) value() (value, error) {
	a, missing := b.array, len(b.valid) > 0
	switch kind := kindOf(a); {
	case a.Shape == schema.Bitset:
		at := b.leaf()
		d := b.items(fixed(a.Size)).sized(always(a.Size))
		v := listOf(d, scalar(newNode(d, func(r *run, n *node[bool]) { n.all, _ = at(r).Values().([]bool) }), false),
			b.there())
		return v.fixedTo(a.Size), nil
	case kind == Bool:
		at := b.leaf()
		n := loaded(b, func(r *run, n *node[bool]) { n.all, _ = at(r).Values().([]bool) })
		return scalar(n.known(stored(b, boolsIn)), missing), nil
	case kind == Int:
		at := b.leaf()
		n := loaded(b, func(r *run, n *node[int64]) { n.all = numbersIn(at(r), &n.buffer) })
		v := scalar(n.known(stored(b, intsIn)), missing)
		if _, ok := a.Values().([]uint64); ok {
			v.unsigned = &unsigned{a.Field.Path(), b.fit, n}
		}
		return v, nil
	case kind == Float:
		at := b.leaf()
		n := loaded(b, func(r *run, n *node[float64]) { n.all = numbersIn(at(r), &n.buffer) })
		if _, ok := a.Values().([]float32); ok && !missing {
			n.singles = func(r *run) []float32 { return at(r).Values().([]float32) }
		}
		return scalar(n.known(stored(b, floatsIn)), missing), nil
	case kind == String:
		at := b.leaf()
		return scalar(loaded(b, func(r *run, n *node[[]byte]) {
			a := at(r)
			all := n.out(r, a.Len)
			for i := range all {
				all[i] = a.Bytes[a.Offsets[i]:a.Offsets[i+1]]
			}
		}), missing), nil
	}
	switch a.Shape {
	case schema.Optional:
		at := b.under(b.path)
		b.valid = append(slices.Clip(b.valid), func(r *run) []bool { return at(r).Valid })
		return b.child(0, b.dom).value()
	case schema.Array:
		d := b.items(fixed(a.Size)).sized(b.sizes)
		item, err := b.item(d).value()
		v := listOf(d, item, b.there())
		return v.fixedTo(a.Size), err
	case schema.Collection:
		return b.collection()
	case schema.Record:
		if isTuple(a) {
			return b.tuple()
		}
		return b.members(), nil
	case schema.Variant:
		return b.variant()
	}
	return value{}, fmt.Errorf("%s is a %v", a.Field.Path(), a.Shape)
}

// fixedTo returns arrays of a size, wherever they are there.
func (v value) fixedTo(size int) value {
	if !v.missing {
		v.list.size = size
		return v
	}
	return v.taken(where(v.there), true) // no items where it is not there
}

// unsigned are integers of a field that may be beyond 64 bits with a sign, wherever they have got
// to.
type unsigned struct {
	path  string
	fit   func(z *zones) bool // reports whether there are none in a cluster
	large *node[int64]        // negative where one is
}

// moved returns the integers where a function moves columns to; nil stays nil.
func (u *unsigned) moved(move func(*node[int64]) *node[int64]) *unsigned {
	if u == nil {
		return nil
	}
	return &unsigned{u.path, u.fit, move(u.large)}
}

// muxUnsigned merges what the sources have in unsigned. Integers of other sources are never too
// large.
func muxUnsigned(which, at *node[int64], sources []value) *unsigned {
	var paths []string
	for _, s := range sources {
		if s.unsigned != nil && !slices.Contains(paths, s.unsigned.path) {
			paths = append(paths, s.unsigned.path)
		}
	}
	if paths == nil {
		return nil
	}
	fit := func(z *zones) bool {
		return !slices.ContainsFunc(sources, func(s value) bool { return s.unsigned != nil && !s.unsigned.fit(z) })
	}
	return &unsigned{strings.Join(paths, " or "), fit, mixed(which, at, columnsOfAll(sources, func(v value) *node[int64] {
		if v.unsigned == nil {
			return constant(v.of, int64(0))
		}
		return v.unsigned.large
	}))}
}

// read returns a value that a name, an item or a member stands for. It is an error of the entry if
// an integer in it is too large. Members of records are read by themselves.
func (b *builder) read(v value) (value, error) {
	u := v.bottom().unsigned
	if u == nil {
		return v, nil
	}
	at, err := b.down(v)
	if err != nil {
		return value{}, err
	}
	at = at.bottom()
	b.checks = append(b.checks, check{here: b.here, never: u.fit, find: func(r *run) {
		all, valid := at.unsigned.large.rows(r)
		for i, v := range all {
			if v < 0 && (valid == nil || valid[i]) {
				r.fail(at.of, i, &rangeError{u.path, uint64(v)})
				return
			}
		}
	}})
	return v.signed(), nil
}

// signed returns a value whose integers have been read.
func (v value) signed() value {
	if v.list == nil {
		v.unsigned = nil
		return v
	}
	l := *v.list
	l.item, l.parts = l.item.signed(), nil
	v.list = &l
	return v
}

// items returns the domain of the items of the branch's arrays, which is the same for all uses
// of the field.
func (b branch) items(load func(r *run, d *domain)) *domain {
	d := b.domains[b.key()]
	if d == nil {
		d = newItems(b.dom, load)
		b.domains[b.key()] = d
	}
	return d
}

// child returns the branch of an Array within this one, in some domain.
func (b branch) child(i int, d *domain) branch {
	b.around = append(slices.Clip(b.around), i)
	b.dom, b.array = d, b.array.Children[i]
	return b
}

// item returns the branch of the items of arrays.
func (b branch) item(d *domain) branch {
	b.below++
	b.valid = nil
	return b.child(0, d)
}

// collection returns the value of a branch that is a collection.
func (b branch) collection() (value, error) {
	d := b.items(nil)
	if d.load == nil {
		at := b.offsets()
		d.load = func(r *run, d *domain) { d.offsets = at(r).Offsets }
		d.sized(b.sizes)
	}
	inner := b.item(d)
	item, err := inner.value()
	keyed := false
	if keys, ok := keysIn(b.array); ok {
		inner.path += "._0"
		item = inner.members()
		item.record.names = []string{"key", "value"}
		keyed, err = kindOf(keys) == String, nil
	}
	v := listOf(d, item, b.there())
	if v.list.keyed = keyed; v.missing {
		v = v.taken(where(v.there), true) // no items where it is not there
	}
	return v, err
}

// offsets returns what finds the offsets of the branch's collections. They are those of any
// field in them.
func (b branch) offsets() func(r *run) *columnar.Array {
	path, a := b.path, b.array.Children[0]
	if _, ok := keysIn(b.array); ok {
		path += "._0"
	}
	for a.Shape == schema.Record && !isTuple(a) && len(a.Children) > 0 {
		a = a.Children[0]
		path += "." + a.Name
	}
	return b.under(path)
}

// under returns what finds the Array of the branch in any field that is read and lies under it.
// If there is none, the one at the given path is read.
func (b branch) under(path string) func(r *run) *columnar.Array {
	var at func(r *run) *columnar.Array
	b.later = append(b.later, func() {
		i := slices.IndexFunc(b.paths, func(p string) bool { return p == b.path || strings.HasPrefix(p, b.path+".") })
		if i < 0 {
			i = b.reads(path)
		}
		at = find(i, b.around)
	})
	return func(r *run) *columnar.Array { return at(r) }
}

// members returns the value of a branch that is a record.
func (b branch) members() value {
	a := b.array
	var names []string
	for _, c := range a.Children {
		names = append(names, c.Name)
	}
	v := value{of: b.dom, there: b.there(), record: b.record(names, len(names), func(i int) (value, error) {
		m := b
		m.path, m.array, m.below = b.path+"."+a.Children[i].Name, a.Children[i], 0
		return m.value()
	})}
	v.missing = v.there != nil
	return v
}

// tuple returns the value of a branch that is a tuple: an array of its members if they have one
// type.
func (b branch) tuple() (value, error) {
	b.reads(b.path) // as a whole
	var parts []value
	for i := range b.array.Children {
		m := b.child(i, b.dom)
		m.joined = true
		v, err := m.value()
		if err != nil {
			return value{}, err
		}
		parts = append(parts, v)
	}
	v := arrayOf(parts)
	if item := v.list.item; slices.ContainsFunc(parts, func(p value) bool { return !p.alike(item) }) {
		v.list.tuple, v.list.parts, v.list.item = true, parts, value{} // an integer stays one
	}
	return v, nil
}

// variant returns the value of a branch that is a variant.
func (b branch) variant() (value, error) {
	at := b.leaf()
	out := &variant{
		tag: newNode(b.dom, func(r *run, n *node[int64]) {
			valid := b.present(r, new(node[bool]))
			tags := at(r).Tags
			for i := range n.out(r, len(tags)) {
				if n.all[i] = int64(tags[i]); valid != nil && !valid[i] {
					n.all[i] = -1
				}
			}
		}),
		at: newNode(b.dom, func(r *run, n *node[int64]) { n.all = at(r).Index }),
	}
	there := newNode(b.dom, func(r *run, n *node[bool]) {
		tags, _ := out.tag.rows(r)
		for i := range n.out(r, len(tags)) {
			n.all[i] = tags[i] >= 0
		}
	})
	for i := range b.array.Children {
		d := &domain{up: b.dom, clock: b.dom.clock, selection: true, load: func(r *run, d *domain) {
			a := at(r)
			r.budget.Take(8 * int64(a.Len))
			d.above = resize(&d.buffer, a.Children[i].Len)
			for row, tag := range a.Tags {
				if int(tag) == i {
					d.above[a.Index[row]] = int64(row)
				}
			}
		}}
		m := b.child(i, d)
		m.joined, m.valid = true, nil
		v, err := m.value()
		if err != nil {
			return value{}, err
		}
		out.alternatives = append(out.alternatives, v)
	}
	v := value{of: b.dom, missing: true, there: there, variant: out}
	if one, ok := mux(out.tag, out.at, out.alternatives, true); ok {
		return one, nil // of a type that all alternatives have
	}
	return v, nil
}
