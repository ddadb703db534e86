package formula

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// builtin checks a call of a function of the language.
func (c *checker) builtin(p *ast.Node, n *ast.BuiltinNode) Type {
	f := builtin.Builtins[builtin.Index[n.Name]]
	if f.Predicate {
		return c.predicate(p, n)
	}
	var types []Type
	for i := range n.Arguments {
		types = append(types, c.visit(&n.Arguments[i]))
	}
	want := func(least, most int) bool {
		if len(types) >= least && len(types) <= most {
			return true
		}
		c.fail(n, "%s does not take %d arguments", n.Name, len(types))
		return false
	}
	switch n.Name {
	case "min", "max", "mean", "median":
		return c.statistic(p, n, types)
	case "int", "float":
		if len(types) == 1 && types[0].Kind == String {
			return c.other(p, n, f, types)
		}
		return c.apply(p, n.Name, n.Arguments, types)
	case "take":
		if len(types) == 2 && types[1].Kind == Int {
			return c.arrayFunction(p, n, "first", first, types[0], types[1].Missing, n.Arguments...)
		}
		return c.apply(p, n.Name, n.Arguments, types)
	case "len":
		if !want(1, 1) {
			return Type{}
		}
		switch t := types[0]; t.Kind {
		case String:
			return c.uncharged(p, "characters", c.budget.worked(characters), Type{Kind: Int, Missing: t.Missing}, n.Arguments[0])
		case Array, Map, Record, Any:
			if t.Missing || t.Kind == Any {
				return c.other(p, n, f, types)
			}
			return Type{Kind: Int}
		default:
			return c.fail(n, "%s, and has no length", c.is(n.Arguments[0], t))
		}
	case "first", "last", "get":
		return c.pick(p, n, types)
	case "reverse", "uniq", "sort":
		if !want(1, 2) || n.Name != "sort" && !want(1, 1) {
			return Type{}
		}
		if n.Name == "sort" {
			if t := types[0]; t.Kind == Array && !t.Elem.isNumber() && t.Elem.Kind != String && t.Elem.Kind != Any {
				return c.fail(n, "sort takes an array of numbers or strings: %s; use sortBy", c.is(n.Arguments[0], t))
			}
			return c.arrayFunction(p, n, "sort", c.budget.sorted, types[0], false, n.Arguments...)
		}
		return c.arrayFunction(p, n, n.Name, map[string]call{"reverse": reversed, "uniq": c.budget.unique}[n.Name], types[0], false, n.Arguments...)
	case "concat":
		return c.concat(p, n, types)
	case "type", "toJSON":
		if !want(1, 1) {
			return Type{}
		}
		if n.Name == "toJSON" {
			c.uncharged(&n.Arguments[0], "for JSON", c.budget.forJSON, types[0], n.Arguments[0])
		}
		return Type{Kind: String}
	}
	if Named(n.Name) != nil {
		return c.apply(p, n.Name, n.Arguments, types)
	}
	return c.other(p, n, f, types)
}

// arrayFunction checks a function that yields some of an array's items.
func (c *checker) arrayFunction(p *ast.Node, n *ast.BuiltinNode, name string, f call, t Type, missing bool, args ...ast.Node) Type {
	if t.Kind != Array && t.Kind != Any {
		return c.fail(n, "%s takes an array: %s", n.Name, c.is(n.Arguments[0], t))
	}
	t = t.unnamed()
	t.Missing = t.Missing || missing || t.Kind == Any
	return c.call(p, name, f, t, args...)
}

// pick checks functions that yield one item.
func (c *checker) pick(p *ast.Node, n *ast.BuiltinNode, types []Type) Type {
	arguments := 1
	if n.Name == "get" {
		arguments = 2
	}
	if len(types) != arguments {
		return c.fail(n, "%s does not take %d arguments", n.Name, len(types))
	}
	var at ast.Node
	switch n.Name {
	case "first":
		at = &ast.IntegerNode{}
	case "last":
		at = &ast.IntegerNode{Value: -1}
	default:
		at = n.Arguments[1]
	}
	t := Type{Missing: true}
	switch base := types[0]; {
	case base.Kind == Array || base.Kind == Map:
		t = base.Elem.Optional()
	case base.Kind != Record && base.Kind != Any:
		return c.fail(n, "%s, and has no items", c.is(n.Arguments[0], base))
	}
	return c.uncharged(p, "index", c.budget.charged(index, 1), t, n.Arguments[0], at)
}

func (c *checker) concat(p *ast.Node, n *ast.BuiltinNode, types []Type) Type {
	if len(types) == 0 {
		return c.fail(n, "concat takes arrays")
	}
	t := types[0].unnamed()
	for i, other := range types {
		if other.Kind != Array && other.Kind != Any {
			return c.fail(n, "concat takes arrays: %s", c.is(n.Arguments[i], other))
		}
		t = unify(t, other)
	}
	t.Missing = t.Missing || t.Kind == Any
	c.call(p, "concat", concatenated, t, n.Arguments...)
	c.convert(p, t)
	return t
}

// statistic checks functions of all items of all arguments.
func (c *checker) statistic(p *ast.Node, n *ast.BuiltinNode, types []Type) Type {
	if len(types) == 0 {
		return c.fail(n, "%s takes at least one argument", n.Name)
	}
	t, empty := Type{Kind: Int}, true
	for i, a := range types {
		for a.Kind == Array {
			t.Missing = t.Missing || a.Missing
			a = *a.Elem
		}
		if !types[i].isNumber() && a.Kind == Bool || a.Kind != Any && !a.isNumber() {
			return c.fail(n, "%s takes numbers and arrays of numbers: %s", n.Name, c.is(n.Arguments[i], types[i]))
		}
		empty = empty && types[i].Kind != Int && types[i].Kind != Float
		t.Missing = t.Missing || a.Missing
		switch {
		case a.Kind == Any:
			t = Type{Missing: true}
		case a.Kind == Float && t.Kind == Int:
			t.Kind = Float
		}
	}
	t.Missing = t.Missing || empty
	f := c.budget.statistic(n.Name)
	if n.Name == "mean" || n.Name == "median" {
		t.Kind = Float
	}
	c.call(p, n.Name, f, t, n.Arguments...)
	c.convert(p, t)
	return t
}

// predicate checks functions that evaluate a part of the expression for each item.
func (c *checker) predicate(p *ast.Node, n *ast.BuiltinNode) Type {
	if n.Name == "findLast" || n.Name == "findLastIndex" {
		return c.findLast(p, n)
	}
	array := c.visit(&n.Arguments[0])
	if array.Kind != Array && array.Kind != Any && array.Kind != Nil {
		return c.fail(n, "%s takes an array: %s", n.Name, c.is(n.Arguments[0], array))
	}
	item := Type{Missing: true}
	if array.Kind == Array {
		item = array.Elem.unnamed()
	}
	body, tested := item, Type{Kind: Bool}
	if len(n.Arguments) > 1 {
		predicate := n.Arguments[1].(*ast.PredicateNode)
		acc := item
		if len(n.Arguments) > 2 && n.Name == "reduce" {
			acc = c.visit(&n.Arguments[2]).unnamed()
		}
		c.scopes = append(c.scopes, scope{item, acc})
		switch n.Name {
		case "map", "sum", "groupBy", "sortBy", "reduce":
			body = c.visit(&predicate.Node).unnamed()
			tested = body
		default:
			c.condition(&predicate.Node)
		}
		c.scopes = c.scopes[:len(c.scopes)-1]
		if next := unify(acc, body); n.Name == "reduce" && (!equal(acc, next) || next.Missing != acc.Missing) {
			return c.fail(n, "reduce begins with %s, but goes on with %s", acc.described(), body.described())
		}
	} else if n.Name == "count" {
		n.Arguments = append(n.Arguments, &ast.PredicateNode{Node: &ast.PointerNode{}})
		if !c.truth(&n.Arguments[1].(*ast.PredicateNode).Node, item) {
			return c.fail(n, "count takes an array of bools, or what to count: %s", c.is(n.Arguments[0], array))
		}
	}
	if len(n.Arguments) > 1 {
		predicate := n.Arguments[1].(*ast.PredicateNode)
		c.stepped(&predicate.Node, tested, itemSteps)
	}
	t := Type{Kind: Bool}
	source := &n.Arguments[0]
	switch n.Name {
	case "count":
		t.Kind = Int
	case "findIndex", "findLastIndex":
		t = Type{Kind: Int, Missing: true}
	case "find", "findLast":
		t = item.Optional()
	case "filter":
		t = ArrayOf(item)
		c.convert(p, t)
	case "map":
		t = ArrayOf(body)
		c.convert(p, t)
	case "sum":
		return c.sum(p, n, array, body)
	case "sortBy":
		if t = ArrayOf(item); body.Missing {
			return c.fail(n, "%s may be missing, but sortBy needs a value; give a default with ??", c.text(n.Arguments[1].(*ast.PredicateNode).Node))
		}
		if len(n.Arguments) == 3 {
			if order := c.visit(&n.Arguments[2]); order.Kind != String {
				return c.fail(n, `sortBy takes "asc" or "desc": %s`, c.is(n.Arguments[2], order))
			}
		}
		c.uncharged(source, "sort steps", c.budget.sortSteps, array, *source)
		c.convert(p, t)
	case "reduce":
		t = body
		c.convert(p, t)
		if len(n.Arguments) < 3 {
			return c.unless(p, source, "empty", isEmpty, t) // there is no first item to begin with
		}
	case "groupBy":
		t = Type{}
		c.uncharged(source, "sort steps", c.budget.sortSteps, array, *source)
	}
	if array.Missing || array.Kind != Array {
		return c.unless(p, source, "missing", isMissing, t)
	}
	return t
}

// findLast puts the last item that a filter leaves, or its index, in the place of functions
// that leave a value behind in the virtual machine where they find nothing.
func (c *checker) findLast(p *ast.Node, n *ast.BuiltinNode) Type {
	found := &ast.BuiltinNode{Name: "filter", Arguments: n.Arguments}
	if predicate, ok := n.Arguments[1].(*ast.PredicateNode); ok && n.Name == "findLastIndex" {
		index := &ast.ConditionalNode{Cond: predicate.Node, Exp1: &ast.PointerNode{Name: "index"}, Exp2: &ast.NilNode{}}
		indices := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{n.Arguments[0], &ast.PredicateNode{Node: index}}}
		there := &ast.BinaryNode{Operator: "!=", Left: &ast.PointerNode{}, Right: &ast.NilNode{}}
		found.Arguments = []ast.Node{indices, &ast.PredicateNode{Node: there}}
	}
	found.SetLocation(n.Location())
	ast.Patch(p, &ast.BuiltinNode{Name: "last", Arguments: []ast.Node{found}})
	return c.visit(p)
}

// sum checks the sum of numbers, or of bools, which are 1 or 0.
func (c *checker) sum(p *ast.Node, n *ast.BuiltinNode, array, body Type) Type {
	t := Type{Kind: body.Kind, Missing: array.Missing || body.Missing || array.Kind != Array}
	switch body.Kind {
	case Bool:
		t.Kind = Int
	case Any:
		t.Missing = true
	case Int, Float:
	default:
		return c.fail(n, "sum takes numbers or bools: %s", c.is(n, body))
	}
	terms := n.Arguments[0]
	if len(n.Arguments) > 1 {
		terms = &ast.BuiltinNode{Name: "map", Arguments: n.Arguments}
		terms.SetLocation(n.Location())
		items := ArrayOf(body)
		terms.SetNature(items.nature())
		if array.Missing || array.Kind != Array {
			c.unless(&terms, &n.Arguments[0], "missing", isMissing, items)
		}
	}
	c.call(p, "sum", sum, t, terms)
	c.convert(p, t)
	return t
}

// other checks a function of the language that is missing if an argument is.
func (c *checker) other(p *ast.Node, n *ast.BuiltinNode, f *builtin.Function, types []Type) Type {
	t, err := resultOf(f, types)
	if err != nil {
		return c.fail(n, "%v", err)
	}
	for _, a := range types {
		if a.Missing || a.Kind == Any || a.Kind == Nil {
			t.Missing = true
		}
	}
	c.call(p, f.Name, func(args ...any) (any, error) {
		for i, a := range args {
			if a == nil {
				return nil, nil
			}
			if n, ok := a.(int64); ok && int64(int(n)) == n {
				args[i] = int(n) // the language's own integers
			}
		}
		c.budget.Step(otherSteps)
		c.budget.growth(f.Name, args)
		switch {
		case f.Fast != nil:
			return f.Fast(args[0]), nil
		case f.Safe != nil:
			v, _, err := f.Safe(args...)
			return v, err
		}
		return f.Func(args...)
	}, t, n.Arguments...)
	c.convert(p, t)
	return t
}

// resultOf returns the type of what a function of the language yields.
func resultOf(f *builtin.Function, args []Type) (Type, error) {
	if f.Validate != nil {
		types := make([]reflect.Type, len(args))
		for i, a := range args {
			if types[i] = a.present().goType(); types[i] == nil {
				types[i] = reflect.TypeFor[any]()
			}
		}
		t, err := f.Validate(types)
		if err != nil {
			return Type{}, err
		}
		return fromGo(t), nil
	}
	for _, t := range f.Types {
		if takes(t, args) {
			return fromGo(t.Out(0)), nil
		}
	}
	if f.Types == nil {
		return Type{}, nil
	}
	return Type{}, fmt.Errorf("%s takes other arguments: %v", f.Name, f.Types[0])
}

// takes reports whether a Go function takes arguments of some types.
func takes(f reflect.Type, args []Type) bool {
	if len(args) != f.NumIn() && !(f.IsVariadic() && len(args) >= f.NumIn()-1) {
		return false
	}
	for i, a := range args {
		in := f.In(min(i, f.NumIn()-1))
		if f.IsVariadic() && i >= f.NumIn()-1 {
			in = in.Elem()
		}
		t := a.present().goType()
		if t != nil && !t.AssignableTo(in) && !(a.Kind == Int && in.Kind() == reflect.Int) && !(a.Kind == Array && in.Kind() == reflect.Slice) {
			return false
		}
	}
	return true
}
