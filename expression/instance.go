package expression

import (
	"fmt"

	"github.com/expr-lang/expr/vm"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An instance evaluates a Program for one goroutine.
type instance struct {
	program *Program
	batch   *rntuple.Batch
	machine vm.VM
	*variables
}

func (p *Program) instance() *instance {
	if in, ok := p.pool.Get().(*instance); ok {
		return in
	}
	return &instance{program: p, variables: newVariables(p.fields)}
}

// load takes the values of a batch.
func (in *instance) load(b *rntuple.Batch) error {
	in.batch = b
	for i, v := range in.all {
		if err := v.load(b.Columns[i]); err != nil {
			return fmt.Errorf("entry %d: %w", b.First+int64(err.row), err)
		}
	}
	return nil
}

// run runs program i for a row of the batch.
func (in *instance) run(i, row int) (any, error) {
	in.set(row)
	result, err := in.machine.Run(in.program.programs[i], in.env)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w", in.batch.First+int64(row), explain(err))
	}
	return result, nil
}

// values returns the values of an expression.
func (in *instance) values(i int) (*rntuple.Array, error) {
	a := newArray(in.program.types[i])
	for row := range in.batch.Len {
		result, err := in.run(i, row)
		if err != nil {
			return nil, err
		}
		if !add(a, result) {
			return nil, fmt.Errorf("entry %d: %w", in.batch.First+int64(row), &Error{Message: fmt.Sprintf("%s is %T, not %s", in.program.texts[i], result, in.program.types[i])})
		}
	}
	return a, nil
}

// newArray returns an empty Array for values of a type.
func newArray(t Type) *rntuple.Array {
	if t.Missing {
		t.Missing = false
		return &rntuple.Array{Shape: schema.Optional, Children: []*rntuple.Array{newArray(t)}}
	}
	if t.Depth > 0 {
		t.Depth--
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
	a.Len++
	switch a.Shape {
	case schema.Optional:
		a.Valid = append(a.Valid, v != nil)
		if v == nil {
			zero(a.Children[0])
			return true
		}
		return add(a.Children[0], v)
	case schema.String:
		s, ok := v.(string)
		a.Bytes = append(a.Bytes, s...)
		a.Offsets = append(a.Offsets, int64(len(a.Bytes)))
		return ok
	case schema.Collection:
		items := a.Children[0]
		ok := each(v, func(item any) bool { return add(items, item) })
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

// zero appends a zero value.
func zero(a *rntuple.Array) {
	switch a.Shape {
	case schema.String:
		add(a, "")
	case schema.Collection:
		add(a, []any{})
	default:
		switch a.Values().(type) {
		case []bool:
			add(a, false)
		default:
			add(a, 0)
		}
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

// each calls f with the items of an array, as long as it returns true.
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
	case [][]int64:
		return all(v, f)
	case [][]float64:
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
