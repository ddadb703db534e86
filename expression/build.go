package expression

import (
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/go-rntuple/go-rntuple/internal/formula"
)

// A builder makes nodes that compute an expression column by column. Where it cannot, it
// leaves a part of the expression to the virtual machine: the smallest one whose value depends
// on the entry alone.
type builder struct {
	*scope
	*leaves
	budget  *formula.Budget
	entries *domain
	text    file.Source
	numbers map[ast.Node]int                                         // of the nodes of the tree, as they are walked
	parts   map[int]*part                                            // what the virtual machine evaluates, by the number of the node
	part    func(at place, number int, reason string) (*part, error) // nil: all parts are there

	node ast.Node // the operator or function that is built, for messages
	name string   // what it is called

	lets  map[string]value
	items []value     // of the arrays that the predicates around a node are about
	over  []*domain   // of these items
	guard *node[bool] // what must hold in a row for an error in the virtual machine to count; nil if nothing must
}

// passed reports whether a guard, if there is one, holds in a row.
func passed(r *run, guard *node[bool], row int) bool {
	if guard == nil {
		return true
	}
	all, _ := guard.peek(r)
	return all[row]
}

// guarded builds a node that is evaluated only where another one is true, or false.
func (b *builder) guarded(n ast.Node, g *node[bool], want bool) (value, error) {
	outer := b.guard
	defer func() { b.guard = outer }()
	if len(b.items) == 0 { // in predicates, nothing may fail
		if !want {
			g = mapped(g, not).known(monotonic(g, not))
		}
		if b.guard = g; outer != nil {
			b.guard = combined(outer, g, and).known(ofBools(and, outer, g))
		}
	}
	return b.build(n)
}

// numbering gives each node of a tree a number.
type numbering map[ast.Node]int

// Visit implements ast.Visitor.
func (n numbering) Visit(node *ast.Node) { n[*node] = len(n) }

// build returns the value of a node.
func (b *builder) build(n ast.Node) (value, error) {
	number := b.numbers[n]
	if p := b.parts[number]; p != nil {
		return b.run(p)
	}
	v, err := b.columns(n)
	v.mark(&place{n, b.text})
	u, ok := err.(*unsupported)
	if !ok || b.part == nil || len(b.items) > 0 || !b.closed(n) {
		return v, err
	}
	p, err := b.part(place{n, b.text}, number, u.reason)
	if err != nil {
		return value{}, err
	}
	b.parts[number] = p
	return b.run(p)
}

// closed reports whether a tree has no value that depends on where it stands in another one:
// no item of a predicate, and no variable of let.
func (b *builder) closed(n ast.Node) bool { return !b.free(n, 0) }

// free reports whether there is one in a tree, which stands in some predicates.
func (b *builder) free(n ast.Node, predicates int) bool {
	switch n := n.(type) {
	case *ast.PointerNode:
		return predicates == 0
	case *ast.PredicateNode:
		return b.free(n.Node, predicates+1)
	case *ast.IdentifierNode:
		_, ok := b.lets[n.Value]
		return ok
	}
	for _, part := range partsOf(n) {
		if b.free(part, predicates) {
			return true
		}
	}
	return false
}

// partsOf returns the nodes that a node consists of.
func partsOf(n ast.Node) (all []ast.Node) {
	add := func(parts ...ast.Node) {
		for _, p := range parts {
			if p != nil {
				all = append(all, p)
			}
		}
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		add(n.Node)
	case *ast.BinaryNode:
		add(n.Left, n.Right)
	case *ast.ChainNode:
		add(n.Node)
	case *ast.MemberNode:
		add(n.Node, n.Property)
	case *ast.SliceNode:
		add(n.Node, n.From, n.To)
	case *ast.CallNode:
		add(n.Arguments...)
	case *ast.BuiltinNode:
		add(n.Arguments...)
	case *ast.PredicateNode:
		add(n.Node)
	case *ast.VariableDeclaratorNode:
		add(n.Value, n.Expr)
	case *ast.SequenceNode:
		add(n.Nodes...)
	case *ast.ConditionalNode:
		add(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		add(n.Nodes...)
	case *ast.MapNode:
		add(n.Pairs...)
	case *ast.PairNode:
		add(n.Key, n.Value)
	}
	return all
}

// columns returns the value of a node that is computed column by column.
func (b *builder) columns(n ast.Node) (value, error) {
	switch n := n.(type) {
	case *ast.NilNode:
		return value{of: b.entries, null: true, missing: true}, nil
	case *ast.BoolNode:
		return literalOf(b.entries, n.Value), nil
	case *ast.IntegerNode:
		return literalOf(b.entries, int64(n.Value)), nil
	case *ast.FloatNode:
		return literalOf(b.entries, n.Value), nil
	case *ast.StringNode:
		return literalOf(b.entries, n.Value), nil
	case *ast.IdentifierNode:
		if v, ok := b.lets[n.Value]; ok {
			return v, nil
		}
		return b.input(n.Value)
	case *ast.PointerNode:
		switch {
		case len(b.items) == 0 || n.Name != "" && n.Name != "index":
			return value{}, notColumns("#%s", n.Name)
		case n.Name == "index":
			return b.numbered(b.over[len(b.over)-1]), nil
		}
		return b.items[len(b.items)-1], nil
	case *ast.ChainNode:
		return b.build(n.Node)
	case *ast.PredicateNode:
		return b.build(n.Node)
	case *ast.MemberNode:
		return b.member(n)
	case *ast.SliceNode:
		return b.slice(n)
	case *ast.UnaryNode:
		return b.unary(n)
	case *ast.BinaryNode:
		return b.binary(n)
	case *ast.ConditionalNode:
		return b.conditional(n)
	case *ast.VariableDeclaratorNode:
		return b.let(n)
	case *ast.BuiltinNode:
		return b.builtin(n)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			return b.function(n, id.Value, n.Arguments)
		}
	case *ast.ArrayNode:
		return value{}, notColumns("it makes an array")
	case *ast.MapNode:
		return value{}, notColumns("it makes a map")
	}
	return value{}, notColumns("%s", n)
}

// input returns the value of a field.
func (b *builder) input(name string) (value, error) {
	f, err := b.lookup(name)
	if err != nil {
		return value{}, err
	}
	return b.valueOf(f, false)
}

// valueOf returns the value of a field, which may be one of another source of a Join.
func (b *builder) valueOf(f *input, joined bool) (value, error) {
	if f.array != nil {
		return branch{leaves: b.leaves, path: f.path, array: f.array, dom: b.entries, joined: joined}.value()
	}
	out := &record{member: func(i int) (value, error) { return b.valueOf(f.members[i], true) }}
	for _, m := range f.members {
		out.names = append(out.names, m.name)
	}
	return value{of: b.entries, record: out}, nil
}

func (b *builder) let(n *ast.VariableDeclaratorNode) (value, error) {
	v, err := b.build(n.Value)
	if err != nil {
		return value{}, err
	}
	old, had := b.lets[n.Name]
	b.lets[n.Name] = v
	defer func() {
		if delete(b.lets, n.Name); had {
			b.lets[n.Name] = old
		}
	}()
	return b.build(n.Expr)
}

// member returns a member of a record, or an item of an array.
func (b *builder) member(n *ast.MemberNode) (value, error) {
	name, named := n.Property.(*ast.StringNode)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" && named {
		return b.input(name.Value)
	}
	base, err := b.build(n.Node)
	if err != nil {
		return value{}, err
	}
	switch {
	case base.record != nil && named:
		for i, m := range base.record.names {
			if m == name.Value {
				return base.record.member(i)
			}
		}
	case base.list != nil && !named:
		at, err := b.build(n.Property)
		if err != nil {
			return value{}, err
		}
		switch {
		case at.list == nil:
		case at.list.item.kind == Int:
			return b.taken(n, base, at)
		default:
			return b.masked(n, base, at)
		}
		return b.index(base, at)
	}
	return value{}, notColumns("it takes a part of something that is no array")
}

// common returns two values in the rows of the same domain, the one whose rows belong to those
// of the other.
func common(l, r value) (*domain, value, value, error) {
	d := l.of
	if r.of.within(d) {
		d = r.of
	}
	l, err := l.down(d)
	if err == nil {
		r, err = r.down(d)
	}
	return d, l, r, err
}

// predicate builds the argument of a function of arrays that is about their items, which are
// those of the value. Meanwhile the items are in a domain of their own: rows of another predicate
// about the same array are other ones.
func (b *builder) predicate(over value, n ast.Node) (value, error) {
	d := &domain{up: over.of, items: func(r *run, _ *domain) []int64 { return over.list.items.bounds(r) }}
	b.items, b.over = append(b.items, over.list.item.moved(d)), append(b.over, d)
	defer func() { b.items, b.over = b.items[:len(b.items)-1], b.over[:len(b.over)-1] }()
	v, err := b.build(n)
	if err == nil && v.of != d {
		v, err = v.down(d)
	}
	if err != nil {
		return value{}, err
	}
	return v.moved(over.list.items), nil
}

// numbered returns the numbers of items in their arrays.
func (b *builder) numbered(d *domain) value {
	return intsOf(d, &node[int64]{compute: func(r *run, n *node[int64]) {
		o := d.bounds(r)
		out := n.out(r, d.size(r))
		for i, begin := range o[:len(o)-1] {
			for k := begin; k < o[i+1]; k++ {
				out[k] = k - begin
			}
		}
	}}, false)
}

// checked returns an error if errors are possible where a node stands that depends on whether
// the virtual machine gets there.
func (b *builder) checked() error {
	if len(b.items) > 0 {
		return notColumns("an error in it depends on the items before")
	}
	return nil
}
