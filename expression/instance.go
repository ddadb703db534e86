package expression

import (
	"context"
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An instance evaluates a Program for one goroutine.
type instance struct {
	run
	leaves  *leaves
	outputs []output
	truth   *node[bool] // where the first expression, which is a condition, is true
	mayHold *node[bool] // where it, or an item of it, is true; nil if that is not known
	zones   zones
	whole   *place // of the first expression
}

// An output returns the values of an expression in a batch.
type output func(r *run) *rntuple.Array

// instance returns an instance that is not in use.
func (p *Program) instance() *instance {
	if in, ok := p.pool.Get().(*instance); ok {
		return in
	}
	in, err := p.build(nil)
	if err != nil {
		panic(err) // Compile has built one
	}
	return in
}

// build makes an instance. If newPart is set, it makes the parts that the virtual machine evaluates.
func (p *Program) build(newPart func(at place, number int, reason string) (*part, error)) (*instance, error) {
	in := &instance{leaves: &leaves{domains: map[string]*domain{}, values: map[string]value{}}}
	entries := &domain{}
	all, err := trees(p.exprs)
	if err != nil {
		return nil, err
	}
	for i, tree := range all {
		numbers := numbering{}
		ast.Walk(&tree.Node, numbers)
		b := &builder{scope: p.scope, leaves: in.leaves, budget: &in.budget, entries: entries, text: tree.Source, numbers: numbers, parts: p.parts[i], part: newPart, lets: map[string]value{}}
		if i == 0 {
			in.whole = &place{tree.Node, tree.Source}
		}
		root := numbers[tree.Node]
		v, err := b.build(tree.Node)
		switch machine := p.parts[i][root]; {
		case machine != nil:
			in.add(p.types[i], newMachine(machine, in.leaves, &in.budget, nil))
		case err != nil:
			return nil, err
		default:
			out, err := v.output(p.types[i])
			if u, ok := err.(*unsupported); ok && newPart != nil {
				if machine, err = newPart(place{tree.Node, tree.Source}, root, u.reason); err == nil {
					p.parts[i][root] = machine
					in.add(p.types[i], newMachine(machine, in.leaves, &in.budget, nil))
					continue
				}
			}
			if err != nil {
				return nil, err
			}
			if in.outputs = append(in.outputs, out); i == 0 {
				if in.mayHold = v.innermost(); v.kind == Bool {
					in.truth = v.condition()
				}
			}
		}
	}
	for _, f := range in.leaves.later {
		f()
	}
	return in, nil
}

// add adds an expression that the virtual machine evaluates as a whole.
func (in *instance) add(t Type, m *machine) {
	if in.outputs = append(in.outputs, m.evaluate); len(in.outputs) > 1 || t.Kind != Bool && t.Kind != Other || t.Depth > 0 {
		return
	}
	in.truth = &node[bool]{compute: func(r *run, n *node[bool]) {
		out := n.out(r, r.batch.Len)
		if !m.load(r) {
			return
		}
		for row := 0; row < len(out) && r.err == nil; row++ {
			result, err := m.value(r, row)
			truth, ok := result.(bool)
			if err == nil && !ok && result != nil {
				err = &Error{Message: fmt.Sprintf("expected bool, but got %T: %s", result, m.at.node)}
			}
			if out[row] = truth; err != nil {
				r.fail(row, err)
			}
		}
	}}
}

// begin prepares for the entries of s from a first one on.
func (in *instance) begin(s rntuple.Source, first int64) {
	in.ctx, in.limit = context.Background(), rntuple.Limits{}.For(0).ExpressionBytes
	// An error is that of the reading of the entries, too.
	rntuple.PieceAt(s, first, func(ctx context.Context, r *rntuple.Reader, _ int64) error {
		in.ctx, in.limit = ctx, r.Limits().ExpressionBytes
		return nil
	})
}

// A stopAt is a Stop in the virtual machine, and where that is.
type stopAt struct {
	*formula.Stop
	at *Error
}

// evaluate evaluates the program for a batch, which was read from s: use takes the values.
func (in *instance) evaluate(s rntuple.Source, b *rntuple.Batch, use func(r *run)) (err error) {
	in.serial++
	in.batch, in.err, in.at = b, nil, in.whole
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case *formula.Stop:
			if err = stop.Cause; err == nil {
				err = in.exceeded(stop, errorAt(in.at.text, in.at.node, "%s", brief(in.at.node)))
			}
		case stopAt:
			if err = stop.Cause; err == nil {
				err = in.exceeded(stop.Stop, stop.at)
			}
		default:
			panic(stop)
		}
	}()
	in.budget.Begin(in.ctx, in.limit)
	for _, check := range in.leaves.checks {
		check.find(&in.run)
	}
	use(&in.run)
	return in.failure(s)
}

// brief returns the text of a node, or how it begins.
func brief(n ast.Node) string {
	const most = 60
	text := []rune(n.String())
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// exceeded returns the error for the end of the budget at a place, which is described.
func (in *instance) exceeded(stop *formula.Stop, at *Error) error {
	what := "the values"
	if stop.Steps {
		what = fmt.Sprintf("the work, with %d steps for a byte,", formula.StepsPerByte)
	}
	what = fmt.Sprintf("%s of %s in %d entries", what, at.Message, in.batch.Len)
	at.cause = &rntuple.LimitError{Limit: "ExpressionBytes", What: what, Need: stop.Need, Have: stop.Limit}
	at.Message = at.cause.Error()
	return at
}

// failure returns the first error of the batch, which was read from s.
func (in *instance) failure(s rntuple.Source) error {
	if in.err == nil {
		return nil
	}
	entry := in.batch.First + int64(in.row)
	if selected, ok := s.(*rntuple.Selection); ok {
		entry = selected.Entry(entry)
	}
	return fmt.Errorf("entry %d: %w", entry, in.err)
}

// output returns what makes an Array of the values.
func (v value) output(t Type) (output, error) {
	switch {
	case v.list != nil:
		t.Depth--
		if t.Depth == 0 {
			t.Missing = t.Items
		}
		item, err := v.list.item.output(t)
		d := v.list.items
		a := &rntuple.Array{Shape: schema.Collection}
		return func(r *run) *rntuple.Array {
			a.Offsets = d.bounds(r)
			a.Len, a.Children = len(a.Offsets)-1, append(a.Children[:0], item(r))
			return a
		}, err
	case v.record != nil:
		return nil, notColumns("it is a record")
	case v.null:
		return nil, notColumns("it is nil")
	case !v.isNode():
		return nil, notColumns("it is made of arrays")
	}
	a := newArray(Type{Kind: t.Kind})
	var values func(r *run) (valid []bool)
	switch v.kind {
	case Bool:
		values = outputOf(a, v.bools)
	case Int:
		values = outputOf(a, v.ints)
		if t.Kind == Float {
			values = outputOf(a, v.asFloats().floats)
		}
	case Float:
		values = outputOf(a, v.floats)
	default:
		values = func(r *run) []bool {
			all, valid := v.strings.rows(r)
			field.Clear(a)
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
	if !t.Missing {
		return func(r *run) *rntuple.Array {
			values(r)
			return a
		}, nil
	}
	outer := &rntuple.Array{Shape: schema.Optional, Children: []*rntuple.Array{a}}
	var everywhere []bool
	return func(r *run) *rntuple.Array {
		outer.Valid = values(r)
		if outer.Len = a.Len; outer.Valid == nil {
			outer.Valid = resize(&everywhere, a.Len)
			for i := range everywhere {
				everywhere[i] = true
			}
		}
		return outer
	}, nil
}

func outputOf[T any](a *rntuple.Array, n *node[T]) func(r *run) []bool {
	return func(r *run) []bool {
		all, valid := n.rows(r)
		field.SetValues(a, all)
		return valid
	}
}
