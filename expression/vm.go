package expression

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// variable returns the type of the variable of a name.
func (s *scope) variable(name string) (formula.Type, error) {
	f, err := s.lookup(name)
	if err != nil {
		return formula.Type{}, err
	}
	return f.typ(), nil
}

// typ returns the type of a field.
func (f *input) typ() formula.Type {
	if f.array != nil {
		t := valuesOf(f.array).typ()
		t.Name = f.array.Field.CppType()
		return t
	}
	members := map[string]formula.Type{}
	for _, m := range f.members {
		members[m.name] = m.typ()
	}
	return formula.Type{Kind: formula.Record, Members: members}
}

// typeOf returns the Type of values of a type of the virtual machine.
func typeOf(t formula.Type) (out Type) {
	out.Missing = t.Missing
	for ; t.Kind == formula.Array; t = *t.Elem {
		if out.Depth++; t.Elem.Missing {
			if t.Elem.Kind == formula.Array {
				return Type{Kind: Other, Missing: true}
			}
			out.Items = true
		}
	}
	switch t.Kind {
	case formula.Bool:
		out.Kind = Bool
	case formula.Int:
		out.Kind = Int
	case formula.Float:
		out.Kind = Float
	case formula.String:
		out.Kind = String
	default:
		return Type{Kind: Other, Missing: true}
	}
	return out
}

// A part is a part of an expression that the virtual machine evaluates, for each entry. It is
// safe for concurrent use.
type part struct {
	number  int // of its node
	compile func(*formula.Budget) (*vm.Program, formula.Type, error)
	typ     Type
	inputs  []*input
	reason  string
	at      *place
}

// newPart compiles a node, which it does not change.
func (s *scope) newPart(at place, number int, reason string) (*part, error) {
	p := &part{number: number, reason: reason, at: &at}
	u := newUses(s)
	ast.Walk(&at.node, u)
	p.inputs = u.needed()
	p.compile = func(b *formula.Budget) (*vm.Program, formula.Type, error) {
		return formula.Compile(&parser.Tree{Node: copied(at.node), Source: at.text}, s.variable, b)
	}
	_, t, err := p.compile(new(formula.Budget))
	if err != nil {
		return nil, explain(err)
	}
	p.typ = typeOf(t)
	return p, nil
}

// copied returns a copy of a node and of those that it consists of.
func copied(n ast.Node) ast.Node {
	c := reflect.New(reflect.TypeOf(n).Elem())
	c.Elem().Set(reflect.ValueOf(n).Elem())
	for i := range c.Elem().NumField() {
		f := c.Elem().Field(i)
		if !f.CanSet() {
			continue
		}
		switch part := f.Interface().(type) {
		case ast.Node:
			f.Set(reflect.ValueOf(copied(part)))
		case []ast.Node:
			parts := slices.Clone(part)
			for k, p := range parts {
				parts[k] = copied(p)
			}
			f.Set(reflect.ValueOf(parts))
		}
	}
	return c.Interface().(ast.Node)
}

// A machine evaluates a part, for one goroutine.
type machine struct {
	*part
	program *vm.Program
	vm      vm.VM
	env     map[string]any
	all     []variable
	guard   *node[bool]
	serial  int
	array   *rntuple.Array // of the values in a batch, unless they are of another kind
}

// A variable puts the values of a field where the virtual machine looks them up.
type variable struct {
	values
	in   map[string]any
	name string
	at   func(r *run) *rntuple.Array
}

// newMachine returns the machine of a part. The fields that it needs will be read.
func newMachine(p *part, l *leaves, budget *formula.Budget, guard *node[bool]) *machine {
	program, _, err := p.compile(budget)
	if err != nil {
		panic(err) // newPart has compiled it
	}
	m := &machine{part: p, program: program, env: map[string]any{}, guard: guard}
	for _, f := range p.inputs {
		in := m.env
		for _, record := range f.above {
			if in[record] == nil {
				in[record] = map[string]any{}
			}
			in = in[record].(map[string]any)
		}
		m.all = append(m.all, variable{valuesOf(f.array), in, f.name, find(l.place(f.path), 0)})
	}
	if p.typ.Kind != Other {
		m.array = newArray(p.typ)
	}
	return m
}

// load takes the values of the fields in a batch. It returns false if it cannot.
func (m *machine) load(r *run) (ok bool) {
	ok = true
	for _, v := range m.all {
		if err := v.load(v.at(r)); err != nil {
			r.fail(err.row, err)
			ok = false
		}
	}
	return ok
}

// value returns the value of an entry of the batch. What it takes of memory can be given back with
// it.
func (m *machine) value(r *run, row int) (any, error) {
	left := r.budget.Bytes
	defer func() { r.budget.Bytes = left }()
	for _, v := range m.all {
		x := v.values.at(row)
		r.budget.Load(x)
		v.in[v.name] = x
	}
	result, err := m.vm.Run(m.program, m.env)
	var stop *formula.Stop
	if errors.As(err, &stop) {
		at := explain(err)
		at.Message = brief(m.at.node)
		panic(stopAt{stop, at})
	}
	if err != nil {
		return nil, explain(err)
	}
	return result, nil
}

// size returns the number of items in an Array, or of bytes of strings.
func size(a *rntuple.Array) int {
	n := a.Len + len(a.Bytes)
	for _, c := range a.Children {
		n += size(c)
	}
	return n
}

// evaluate returns the values of all entries of the batch. Where the guard does not hold, there
// are other ones.
func (m *machine) evaluate(r *run) *rntuple.Array {
	if m.serial == r.serial {
		return m.array
	}
	m.serial = r.serial
	outer := r.at
	r.at = m.at
	defer func() { r.at = outer }()
	field.Clear(m.array)
	if !m.load(r) {
		for range r.batch.Len {
			zero(m.array)
		}
		return m.array
	}
	for row := range r.batch.Len {
		if !passed(r, m.guard, row) {
			zero(m.array)
			continue
		}
		result, err := m.value(r, row)
		before := size(m.array)
		if err == nil && !add(m.array, result) {
			err = &Error{Message: fmt.Sprintf("%s is %T, not %s", m.at.node, result, m.typ)}
		}
		r.budget.Take(8 * int64(size(m.array)-before))
		if err != nil {
			r.fail(row, err)
			for m.array.Len < r.batch.Len {
				zero(m.array)
			}
			break
		}
	}
	return m.array
}

// run returns the value of a part that the virtual machine evaluates.
func (b *builder) run(p *part) (value, error) {
	if p.typ.Kind == Other || p.typ.Missing && p.typ.Depth > 0 {
		return value{}, notColumns("%s", p.reason)
	}
	m := newMachine(p, b.leaves, b.budget, b.guard)
	b.checks = append(b.checks, check{find: func(r *run) { m.evaluate(r) }, guard: m.sure()})
	return branch{leaves: b.leaves, from: m.evaluate, array: m.array, dom: b.entries}.newValue()
}

// newArray returns an empty Array for values of a type.
func newArray(t Type) *rntuple.Array {
	if t.Missing {
		t.Missing = false
		return &rntuple.Array{Shape: schema.Optional, Children: []*rntuple.Array{newArray(t)}}
	}
	if t.Depth > 0 {
		if t.Depth--; t.Depth == 0 {
			t.Missing = t.Items
		}
		return &rntuple.Array{Shape: schema.Collection, Offsets: []int64{0}, Children: []*rntuple.Array{newArray(t)}}
	}
	a := &rntuple.Array{Shape: schema.Scalar}
	switch t.Kind {
	case Bool:
		field.SetValues(a, []bool{})
	case Int:
		field.SetValues(a, []int64{})
	case Float:
		field.SetValues(a, []float64{})
	case String:
		a.Shape, a.Offsets = schema.String, []int64{0}
	}
	return a
}

// add appends a value of the virtual machine to an Array. It returns false if the value has
// another type.
func add(a *rntuple.Array, v any) bool {
	switch a.Shape {
	case schema.Optional:
		a.Len++
		a.Valid = append(a.Valid, v != nil)
		if v == nil {
			zero(a.Children[0])
			return true
		}
		return add(a.Children[0], v)
	case schema.String:
		a.Len++
		s, ok := v.(string)
		a.Bytes = append(a.Bytes, s...)
		a.Offsets = append(a.Offsets, int64(len(a.Bytes)))
		return ok
	case schema.Collection:
		a.Len++
		items := a.Children[0]
		ok := addAll(items, v) || each(v, func(item any) bool { return add(items, item) })
		a.Offsets = append(a.Offsets, int64(items.Len))
		return ok
	}
	switch all := a.Values().(type) {
	case []bool:
		b, ok := v.(bool)
		field.SetValues(a, append(all, b))
		return ok
	case []int64:
		n, ok := toInt(v)
		field.SetValues(a, append(all, n))
		return ok
	case []float64:
		x, ok := v.(float64)
		if !ok {
			var n int64
			n, ok = toInt(v)
			x = float64(n)
		}
		field.SetValues(a, append(all, x))
		return ok
	}
	return false
}

// addAll appends the items of an array of numbers to an Array of such. It returns false if they are others.
func addAll(a *rntuple.Array, v any) bool {
	switch v := v.(type) {
	case []int64:
		return addNumbers(a, v)
	case []float64:
		return addNumbers(a, v)
	}
	return false
}

func addNumbers[T number](a *rntuple.Array, v []T) bool {
	all, ok := a.Values().([]T)
	if ok {
		field.SetValues(a, append(all, v...))
	}
	return ok
}

// zero appends a value that may be anything.
func zero(a *rntuple.Array) {
	switch {
	case a.Shape == schema.Optional:
		add(a, nil)
	case a.Shape == schema.String:
		add(a, "")
	case a.Shape == schema.Collection:
		add(a, []any{})
	case kindOf(a) == Bool:
		add(a, false)
	default:
		add(a, 0)
	}
}

func toInt(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

// each calls f for the items of an array, as long as it returns true.
func each(v any, f func(any) bool) bool {
	switch v := v.(type) {
	case []any:
		return all(v, f)
	case []bool:
		return all(v, f)
	case []int:
		return all(v, f)
	case []int64:
		return all(v, f)
	case []float64:
		return all(v, f)
	case []string:
		return all(v, f)
	}
	return false
}

func all[T any](items []T, f func(any) bool) bool {
	for _, item := range items {
		if !f(item) {
			return false
		}
	}
	return true
}
