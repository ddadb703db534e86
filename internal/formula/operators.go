package formula

import (
	"fmt"
	"math"
	"strconv"

	"github.com/expr-lang/expr/ast"
)

// plain reports whether the virtual machine's own arithmetic is right for values of
// the type.
func (t Type) plain() bool {
	return !t.Missing && (t.Kind == Float || t.Kind == Int && strconv.IntSize == 64)
}

func (c *checker) unary(p *ast.Node, n *ast.UnaryNode) Type {
	t := c.visit(&n.Node).unnamed()
	switch n.Operator {
	case "!", "not":
		switch {
		case t.Kind == Array && t.Elem.Kind == Bool:
			result := ArrayOf(Type{Kind: Bool})
			result.Missing = t.Missing
			return c.call(p, "not", notItems, result, n.Node)
		case !c.truth(&n.Node, t):
			return c.fail(n, "invalid operation: %s (%s)", n.Operator, c.is(n.Node, t))
		}
		return Type{Kind: Bool}
	case "+", "-":
		result, ok := arithmetic(t, Type{Kind: Int}, "-")
		if !ok {
			return c.fail(n, "invalid operation: %s (%s)", n.Operator, c.is(n.Node, t))
		}
		if n.Operator == "-" && !t.plain() {
			return c.call(p, "negate", negate, result, n.Node)
		}
		return result
	}
	return c.fail(n, "unknown operator %s", n.Operator)
}

func (c *checker) binary(p *ast.Node, n *ast.BinaryNode) Type {
	switch n.Operator {
	case "and", "&&", "or", "||":
		return c.logic(p, n)
	case "??":
		return c.orElse(n)
	}
	if among, ok := n.Right.(*ast.BinaryNode); ok && n.Operator == "in" && among.Operator == ".." {
		return c.inRange(p, n, among)
	}
	l, r := c.visit(&n.Left), c.visit(&n.Right)
	wrong := func() Type {
		return c.fail(n, "invalid operation: %s (%s, %s)", n.Operator, c.is(n.Left, l), c.is(n.Right, r))
	}
	switch op := n.Operator; op {
	case "+", "-", "*", "/", "%", "**", "^":
		t, ok := arithmetic(l, r, op)
		switch {
		case !ok:
			return wrong()
		case op == "%" && t.Kind == Int && t.Missing && !l.Missing && !r.Missing:
			if by, ok := n.Right.(*ast.IntegerNode); ok && by.Value != 0 {
				t.Missing = false
			}
		}
		switch {
		case l.plain() && r.plain() && !t.Missing:
			return t
		case op == "^":
			op = "**"
		}
		return c.call(p, op, operators[op], t, n.Left, n.Right)
	case "<", "<=", ">", ">=", "==", "!=":
		t, ok := comparison(l, r, op)
		switch {
		case !ok:
			return wrong()
		case l.Kind == Nil || r.Kind == Nil:
			return t // what is missing is equal to nil
		case l.plain() && r.plain():
			return t
		case t.Kind == Bool:
			return c.uncharged(p, "scalar"+op, c.budget.worked(scalars(op)), t, n.Left, n.Right)
		}
		return c.call(p, op, operators[op], t, n.Left, n.Right)
	case "..":
		if l.Kind != Int && l.Kind != Any || r.Kind != Int && r.Kind != Any {
			return wrong()
		}
		t := ArrayOf(Type{Kind: Int})
		t.Missing = l.Missing || r.Missing || l.Kind == Any || r.Kind == Any
		return c.call(p, op, c.budget.rangeOf, t, n.Left, n.Right)
	case "in":
		switch {
		case r.Kind == Array:
			if _, ok := comparison(l, r.Elem.present(), "=="); !ok {
				return wrong()
			}
		case r.Kind == Any || r.Kind == Nil:
		case (r.Kind == Map || r.Kind == Record) && (l.Kind == String && !l.Missing || l.Kind == Any):
		default:
			return wrong()
		}
		return c.uncharged(p, "in", c.budget.worked(contains), Type{Kind: Bool}, n.Left, n.Right)
	case "matches", "contains", "startsWith", "endsWith":
		for _, t := range []Type{l, r} {
			if t.Kind != String && t.Kind != Any && t.Kind != Nil {
				return wrong()
			}
		}
		if op == "matches" {
			return c.matches(p, n)
		}
		return c.uncharged(p, op, c.budget.worked(searches[op]), Type{Kind: Bool}, n.Left, n.Right)
	}
	return c.fail(n, "unknown operator %s", n.Operator)
}

// matches checks the operator, whose pattern is compiled once if it is always the same.
func (c *checker) matches(p *ast.Node, n *ast.BinaryNode) Type {
	var last string
	var pattern *Pattern
	if s, ok := n.Right.(*ast.StringNode); ok {
		var err error
		if last = s.Value; last != "" {
			if pattern, err = ParsePattern(last); err != nil {
				return c.fail(n.Right, "%v", err)
			}
			if c.instructions += pattern.size; c.instructions > maxPattern {
				return c.fail(n.Right, "patterns of some %d instructions together, which is more than %d", c.instructions, maxPattern)
			}
		}
	}
	return c.own(p, func(args ...any) (any, error) {
		if args[0] == nil || args[1] == nil {
			return false, nil
		}
		text, ok1 := args[0].(string)
		s, ok2 := args[1].(string)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("invalid operation: matches (%s, %s)", noun(args[0]), noun(args[1]))
		}
		if pattern == nil || s != last {
			var err error
			if pattern, err = c.budget.pattern(s); err != nil {
				return nil, err
			}
			last = s
		}
		return c.budget.Match(pattern, []byte(text)), nil
	}, Type{Kind: Bool}, n.Left, n.Right)
}

// inRange checks "x in from..to", which makes no array.
func (c *checker) inRange(p *ast.Node, n, among *ast.BinaryNode) Type {
	l, from, to := c.visit(&n.Left), c.visit(&among.Left), c.visit(&among.Right)
	for _, t := range []Type{from, to} {
		if t.Kind != Int && t.Kind != Any {
			return c.fail(among, "invalid operation: .. (%s, %s)", c.is(among.Left, from), c.is(among.Right, to))
		}
	}
	if !l.isNumber() && l.Kind != Any && l.Kind != Nil {
		return c.fail(n, "invalid operation: in (%s, %s)", c.is(n.Left, l), c.is(among, ArrayOf(Type{Kind: Int})))
	}
	return c.call(p, "in range", isBetween, Type{Kind: Bool}, n.Left, among.Left, among.Right)
}

// truth makes sure that a node is true or false: what is missing is false. It reports
// whether the type allows that.
func (c *checker) truth(p *ast.Node, t Type) bool {
	switch {
	case t.Kind == Bool && !t.Missing:
	case t.Kind == Bool || t.Kind == Any || t.Kind == Nil:
		c.uncharged(p, "true", isTrue, Type{Kind: Bool}, *p)
	default:
		return false
	}
	return true
}

// logic checks "and" and "or". For arrays they work item by item.
func (c *checker) logic(p *ast.Node, n *ast.BinaryNode) Type {
	l, r := c.visit(&n.Left), c.visit(&n.Right)
	if l.Kind != Array && r.Kind != Array {
		if !c.truth(&n.Left, l) || !c.truth(&n.Right, r) {
			return c.fail(n, "invalid operation: %s (%s, %s)", n.Operator, c.is(n.Left, l), c.is(n.Right, r))
		}
		return Type{Kind: Bool}
	}
	isMask := func(t Type) bool { return t.Kind == Bool || t.Kind == Array && t.Elem.Kind == Bool }
	if !isMask(l) || !isMask(r) {
		return c.fail(n, "invalid operation: %s (%s, %s)", n.Operator, c.is(n.Left, l), c.is(n.Right, r))
	}
	t := ArrayOf(Type{Kind: Bool})
	t.Missing = l.Missing || r.Missing
	if n.Operator == "and" || n.Operator == "&&" {
		return c.call(p, "and", andItems, t, n.Left, n.Right)
	}
	return c.call(p, "or", orItems, t, n.Left, n.Right)
}

func (c *checker) orElse(n *ast.BinaryNode) Type {
	l := c.visit(&n.Left)
	r := c.visit(&n.Right)
	t := unify(l.present(), r)
	if l.Kind == Nil {
		t = r.unnamed()
	}
	if l.Kind != Nil && !equal(l, t) {
		left := t
		left.Missing = left.Missing || l.Missing
		c.convert(&n.Left, left)
	}
	if r.Kind != Nil && !equal(r, t) {
		c.convert(&n.Right, t)
	}
	return t
}

// arithmetic returns the type of what an operator yields.
func arithmetic(l, r Type, op string) (Type, bool) {
	if l.Kind == Array || r.Kind == Array {
		return itemwise(l, r, func(l, r Type) (Type, bool) { return arithmetic(l, r, op) })
	}
	missing := l.Missing || r.Missing
	var t Type
	switch {
	case l.Kind == Any && (r.Kind == Any || r.isNumber() || r.Kind == String), r.Kind == Any && (l.isNumber() || l.Kind == String):
		return Type{Missing: true}, true
	case op == "+" && l.Kind == String && r.Kind == String:
		t.Kind = String
	case !l.isNumber() || !r.isNumber():
		return Type{}, false
	case op == "%":
		if l.Kind != Int || r.Kind != Int {
			return Type{}, false
		}
		t.Kind, missing = Int, true // by zero
	case op == "/" || op == "**" || op == "^" || l.Kind == Float || r.Kind == Float:
		t.Kind = Float
	default:
		t.Kind = Int
	}
	t.Missing = missing
	return t, true
}

// comparison returns the type of what a comparison yields.
func comparison(l, r Type, op string) (Type, bool) {
	equality := op == "==" || op == "!="
	if (l.Kind == Array || r.Kind == Array) && (!equality || l.Kind != Nil && r.Kind != Nil) {
		t, ok := itemwise(l, r, func(l, r Type) (Type, bool) { return comparison(l, r, op) })
		return t, ok
	}
	switch {
	case l.Kind == Any || r.Kind == Any:
		if l.Kind == Nil || r.Kind == Nil {
			return Type{Kind: Bool}, equality
		}
	case l.isNumber() && r.isNumber(), l.Kind == String && r.Kind == String:
	case equality && (l.Kind == r.Kind || l.Kind == Nil || r.Kind == Nil):
	default:
		return Type{}, false
	}
	return Type{Kind: Bool}, true
}

// itemwise returns the type of an operation on arrays, one of which may be a value that is
// the same for all items.
func itemwise(l, r Type, of func(l, r Type) (Type, bool)) (Type, bool) {
	missing := l.Missing || r.Missing
	if l.Kind == Array {
		l = *l.Elem
	} else {
		l = l.present()
	}
	if r.Kind == Array {
		r = *r.Elem
	} else {
		r = r.present()
	}
	item, ok := of(l, r)
	t := ArrayOf(item)
	t.Missing = missing
	return t, ok
}

func (c *checker) member(p *ast.Node, n *ast.MemberNode) Type {
	name, named := n.Property.(*ast.StringNode)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
		if !named {
			return c.fail(n, `$env can only be used as $env["name"]`)
		}
		t, err := c.variable(name.Value)
		if err != nil {
			return c.fail(n, "%v", err)
		}
		ast.Patch(p, &ast.IdentifierNode{Value: name.Value})
		return t
	}
	base, at := c.visit(&n.Node), c.visit(&n.Property)
	var t Type
	switch {
	case base.Kind == Any:
		t.Missing = true
	case base.Kind == Array && at.Kind == Any:
		t.Missing = true
	case base.Kind == Array && at.Kind == Int:
		t = *base.Elem
		if t.Missing = t.Missing || base.Missing || !within(n.Property, base.Size); !t.Missing {
			return t
		}
	case base.Kind == Array && at.Kind == Array && at.Elem.index:
		t = base.unnamed()
		t.Missing = base.Missing || at.Missing || at.Elem.Missing
		return c.call(p, "index all", indexAll, t, n.Node, n.Property)
	case base.Kind == Array && at.Kind == Array && at.Elem.Kind == Bool:
		t = base.unnamed()
		t.Missing = base.Missing || at.Missing
		return c.call(p, "mask", masked, t, n.Node, n.Property)
	case base.Kind == Array && at.Kind == Array && at.Elem.Kind == Int:
		t = base.unnamed()
		t.Missing = true // out of range
	case base.Kind == Array:
		if named {
			return c.fail(n, "%s; write map(%s, .%s) for the members of its items", c.is(n.Node, base), c.text(n.Node), name.Value)
		}
		return c.fail(n, "%s, but an index is an integer, an array of integers or an array of bools", c.is(n.Property, at))
	case base.Kind == Record && named:
		m, ok := base.Members[name.Value]
		if !ok {
			return c.fail(n, "%s has no member %q%s", c.text(n.Node), name.Value, suggest(name.Value, base.Members))
		}
		if !base.Missing {
			return m
		}
		t = m.Optional()
	case (base.Kind == Map || base.Kind == Record) && (at.Kind == String || at.Kind == Any):
		t.Missing = true
		if base.Kind == Map {
			t = base.Elem.Optional()
		}
	default:
		return c.fail(n, "%s, and has no members or items", c.is(n.Node, base))
	}
	return c.uncharged(p, "index", c.budget.charged(index, 1), t, n.Node, n.Property)
}

// within reports whether an index is a constant that is in the range of an array of a
// known size.
func within(at ast.Node, size int) bool {
	i, ok := at.(*ast.IntegerNode)
	if minus, isMinus := at.(*ast.UnaryNode); isMinus && minus.Operator == "-" {
		if i, ok = minus.Node.(*ast.IntegerNode); ok {
			return i.Value <= size && i.Value > 0
		}
	}
	return ok && i.Value < size
}

func (c *checker) slice(p *ast.Node, n *ast.SliceNode) Type {
	t := c.visit(&n.Node).unnamed()
	if t.Kind != Array && t.Kind != String && t.Kind != Any {
		return c.fail(n, "cannot slice %s", c.is(n.Node, t))
	}
	missing := t.Missing || t.Kind == Any
	for _, bound := range []*ast.Node{&n.From, &n.To} {
		if *bound == nil {
			continue
		}
		b := c.visit(bound)
		if b.Kind != Int && b.Kind != Any {
			return c.fail(*bound, "%s, but the bounds of a slice are integers", c.is(*bound, b))
		}
		missing = missing || b.Missing || b.Kind == Any
	}
	if !missing {
		return t
	}
	from, to := n.From, n.To
	if from == nil {
		from = &ast.IntegerNode{}
	}
	if to == nil {
		to = &ast.IntegerNode{Value: math.MaxInt}
	}
	return c.uncharged(p, "slice", slice, t.Optional(), n.Node, from, to)
}
