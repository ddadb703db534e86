package formula

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Compile checks the types of a tree, which the parser of the language has made without
// a configuration, and translates it for the virtual machine. Compile changes the tree.
// variable returns the type of the variable of a name, or an error for a name that does
// not exist.
//
// The program runs with a map[string]any of variables, whose values have the Go types
// that Kind names; slices and maps that are empty are not nil. The result has the type
// that Compile returns: nil if it is missing, bool, int64, float64 or string; []bool,
// []int64, []float64 or []string of items that are never missing; otherwise []any.
// Results may share memory with variables.
//
// Errors are of the type *file.Error, with the place in the text. The program takes what it needs
// from the budget, so no two goroutines may run it at once; a *Stop is the cause of a *file.Error.
func Compile(tree *parser.Tree, variable func(name string) (Type, error), budget *Budget) (*vm.Program, Type, error) {
	c := &checker{variable: variable, budget: budget, config: conf.New(map[string]any{}), replaced: map[ast.Node]ast.Node{}}
	c.config.Optimize = false // its rewriting knows nothing of missing values
	t := c.visit(&tree.Node)
	if c.err != nil {
		return nil, Type{}, c.err.Bind(tree.Source)
	}
	c.convert(&tree.Node, t)
	c.stepped(&tree.Node, t, nodeSteps)
	program, err := compiler.Compile(tree, c.config)
	if err != nil { // it was a panic, and has a trace
		message, _, _ := strings.Cut(err.Error(), "\n")
		err = &file.Error{Message: message}
	}
	return program, t.unnamed(), err
}

// A checker finds the types of nodes, and puts calls in the place of those that the
// virtual machine cannot evaluate for their types.
type checker struct {
	variable     func(name string) (Type, error)
	budget       *Budget
	config       *conf.Config
	err          *file.Error // the first one
	lets         []let
	scopes       []scope               // of the predicates around a node
	types        int                   // of arrays and records, with those of items and members
	instructions int64                 // of patterns
	names        int                   // of variables and functions that were added
	replaced     map[ast.Node]ast.Node // the nodes in whose place others are
}

// A scope is that of a predicate: the types of # and #acc.
type scope struct{ item, acc Type }

// A let is a variable that the expression declares.
type let struct {
	name string
	Type
}

// fail reports an error at a node, unless there was one.
func (c *checker) fail(n ast.Node, format string, args ...any) Type {
	if c.err == nil {
		c.err = &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, args...)}
	}
	return Type{}
}

// is says of what type a node is, for messages.
func (c *checker) is(n ast.Node, t Type) string { return c.text(n) + " is " + t.described() }

// text returns a node as it was written. It undoes all changes below.
func (c *checker) text(n ast.Node) string {
	ast.Walk(&n, restore(c.replaced))
	return n.String()
}

// restore puts nodes back in their places.
type restore map[ast.Node]ast.Node

// Visit implements ast.Visitor.
func (r restore) Visit(p *ast.Node) {
	if before := r[*p]; before != nil {
		*p = before
		ast.Walk(p, r)
	}
}

// visit finds the type of a node.
func (c *checker) visit(p *ast.Node) Type {
	if c.err != nil {
		return Type{}
	}
	_, named := (*p).(*ast.IdentifierNode) // shares the type with what has made it
	t := c.typ(p)
	if left := maxTypes - c.types; !named && (t.Kind == Array || t.Kind == Record || t.Kind == Map) {
		if !t.count(&left) {
			return c.fail(*p, "its arrays and records have more than %d types together, with those of items and members", maxTypes)
		}
		c.types = maxTypes - left
	}
	(*p).SetNature(t.nature())
	return t
}

func (c *checker) typ(p *ast.Node) Type {
	switch n := (*p).(type) {
	case *ast.NilNode:
		return Type{Kind: Nil}
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.IntegerNode:
		return Type{Kind: Int}
	case *ast.FloatNode:
		return Type{Kind: Float}
	case *ast.BoolNode:
		return Type{Kind: Bool}
	case *ast.StringNode:
		return Type{Kind: String}
	case *ast.UnaryNode:
		return c.unary(p, n)
	case *ast.BinaryNode:
		return c.binary(p, n)
	case *ast.ChainNode:
		*p = n.Node // missing values are so without it
		return c.visit(p)
	case *ast.MemberNode:
		return c.member(p, n)
	case *ast.SliceNode:
		return c.slice(p, n)
	case *ast.CallNode:
		id, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			return c.fail(n, "%s cannot be called", c.text(n.Callee))
		}
		return c.function(p, id.Value, n.Arguments)
	case *ast.BuiltinNode:
		return c.builtin(p, n)
	case *ast.PredicateNode:
		return c.visit(&n.Node)
	case *ast.PointerNode:
		if len(c.scopes) == 0 {
			return c.fail(n, "%s stands outside of a predicate", n)
		}
		switch s := c.scopes[len(c.scopes)-1]; n.Name {
		case "":
			return s.item
		case "acc":
			return s.acc
		}
		return Type{Kind: Int} // #index
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.SequenceNode:
		var t Type
		for i := range n.Nodes {
			t = c.visit(&n.Nodes[i])
		}
		return t
	case *ast.ConditionalNode:
		c.condition(&n.Cond)
		return c.either(&n.Exp1, &n.Exp2)
	case *ast.ArrayNode:
		return c.array(p, n)
	case *ast.MapNode:
		return c.record(p, n)
	}
	return Type{} // bytes
}

func (c *checker) identifier(n *ast.IdentifierNode) Type {
	for i := len(c.lets) - 1; i >= 0; i-- {
		if c.lets[i].name == n.Value {
			return c.lets[i].Type
		}
	}
	t, err := c.variable(n.Value)
	if err != nil {
		return c.fail(n, "%v", err)
	}
	return t
}

func (c *checker) let(n *ast.VariableDeclaratorNode) Type {
	t := c.visit(&n.Value)
	if _, err := c.variable(n.Name); err == nil {
		return c.fail(n, "cannot redeclare %s", n.Name)
	}
	c.lets = append(c.lets, let{n.Name, t})
	defer func() { c.lets = c.lets[:len(c.lets)-1] }()
	return c.visit(&n.Expr)
}

// condition checks that a node is true or false, or missing, which is false.
func (c *checker) condition(p *ast.Node) {
	t := c.visit(p)
	switch {
	case c.truth(p, t):
	case t.Kind == Array:
		c.fail(*p, "%s, not true or false; use any(..., #), all(..., #) or count(...)", c.is(*p, t))
	default:
		c.fail(*p, "%s, not true or false", c.is(*p, t))
	}
}

// either returns the type of two nodes of which one is evaluated.
func (c *checker) either(a, b *ast.Node) Type {
	ta, tb := c.visit(a), c.visit(b)
	t := unify(ta, tb)
	if ta.Kind != Nil && !equal(ta, t) {
		c.convert(a, t)
	}
	if tb.Kind != Nil && !equal(tb, t) {
		c.convert(b, t)
	}
	return t
}

func (c *checker) array(p *ast.Node, n *ast.ArrayNode) Type {
	item := Type{}
	for i := range n.Nodes {
		if t := c.visit(&n.Nodes[i]); i == 0 {
			item = t.unnamed()
		} else {
			item = unify(item, t)
		}
	}
	t := ArrayOf(item)
	t.Size = len(n.Nodes)
	c.convert(p, t)
	return t
}

// maxTypes is how many types the arrays and records of a text may have, with those of items and members:
// types that let shares could be compared for ever.
const maxTypes = 100_000

func (c *checker) record(p *ast.Node, n *ast.MapNode) Type {
	t := Type{Kind: Record, Members: map[string]Type{}}
	known := true
	for _, pair := range n.Pairs {
		pair := pair.(*ast.PairNode)
		key, value := c.visit(&pair.Key), c.visit(&pair.Value)
		if name, ok := pair.Key.(*ast.StringNode); ok {
			t.Members[name.Value] = value.unnamed()
		} else if key.Kind != String || key.Missing {
			return c.fail(pair, "%s, not a string", c.is(pair.Key, key))
		} else {
			known = false
		}
	}
	if !known {
		t = Type{Kind: Map, Elem: &Type{Missing: true}}
	}
	return c.uncharged(p, "record", c.budget.made, t, n)
}

// call puts a call of a function in the place of a node. Functions of one name are the
// same. The function yields values whose size is in proportion to those of all arguments.
func (c *checker) call(p *ast.Node, name string, f call, t Type, args ...ast.Node) Type {
	return c.uncharged(p, name, c.budget.charged(f, 0), t, args...)
}

// uncharged is call for a function that takes nothing from the budget, or does so itself.
func (c *checker) uncharged(p *ast.Node, name string, f call, t Type, args ...ast.Node) Type {
	name = "$" + name // no function that a text can name
	c.config.Functions[name] = &builtin.Function{Name: name, Func: f}
	n := &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
	c.replaced[n] = *p
	ast.Patch(p, n)
	n.SetNature(t.nature())
	return t
}

// own puts a call of a function of its own in the place of a node.
func (c *checker) own(p *ast.Node, f call, t Type, args ...ast.Node) Type {
	c.names++
	return c.call(p, strconv.Itoa(c.names), f, t, args...)
}

// convert makes sure that the value of a node is stored as its type says.
func (c *checker) convert(p *ast.Node, t Type) {
	switch t.Kind {
	case Int, Float, Array:
		c.own(p, func(args ...any) (any, error) { return store(args[0], t) }, t, *p)
	}
}

// unless makes a node missing where a condition holds for an array that is a part of it.
func (c *checker) unless(p, array *ast.Node, name string, condition call, t Type) Type {
	c.names++
	id := "$" + strconv.Itoa(c.names)
	value := *array
	variable := func() ast.Node {
		n := &ast.IdentifierNode{Value: id}
		n.SetLocation(value.Location())
		c.replaced[n] = value
		return n
	}
	*array = variable()
	test := variable()
	c.uncharged(&test, name, condition, Type{Kind: Bool}, variable())
	absent := &ast.NilNode{}
	absent.SetNature(Type{Kind: Nil}.nature())
	n := &ast.VariableDeclaratorNode{Name: id, Value: value, Expr: &ast.ConditionalNode{Cond: test, Exp1: absent, Exp2: *p}}
	c.replaced[n] = *p
	ast.Patch(p, n)
	return t.Optional()
}
