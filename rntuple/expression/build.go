package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// A builder checks the types of a syntax tree, and makes of it the values that compute it.
//
// What cannot fail is computed where its operands are, which may be for more rows than are needed.
// What can fail is computed in the domain here alone: in the rows for which the expression is
// evaluated at that place.
type builder struct {
	*scope
	*leaves
	entries *domain
	here    *domain
	source  *source
	defined []Definition // later ones first
	vars    []variable   // of let
	items   []predicate  // around a node

	names    map[definition]value
	failing  map[syntax.Node]bool // predicates that can fail, or need items of arrays around them
	eager    map[syntax.Node]bool // "and" and "or" of arrays
	nodes    int
	patterns int64 // instructions of literal ones
	depth    int   // of conditions and predicates around a node
}

// A variable is one that let declares.
type variable struct {
	name string
	value
}

// A predicate is what #, #index and #acc are in it.
type predicate struct {
	item  value
	index func() value
	acc   *value // of reduce
}

// A definition is one that has been built in a domain.
type definition struct {
	value *Expression
	after int // definitions that it may use
	here  *domain
}

// A source is the text that a tree is of.
type source struct {
	text  string
	shift int // of the tree in the text
	fixed int // if positive, the place of all nodes, plus 1
}

// place returns the place of a node.
func (b *builder) place(n syntax.Node) *place { return &place{n, b.source} }

// offset returns where in the text the place is.
func (p *place) offset() int {
	if p.source.fixed > 0 {
		return p.source.fixed - 1
	}
	return p.source.shift + p.node.Pos()
}

// error returns an error at the place.
func (p *place) error(message string) *Error {
	line, column := syntax.Position(p.source.text, p.offset())
	return &Error{Line: line, Column: column, Message: message}
}

// errorf returns an error about a node.
func (b *builder) errorf(n syntax.Node, format string, args ...any) *Error {
	return b.place(n).error(fmt.Sprintf(format, args...))
}

// maxNodes is how many nodes are built for an expression, with its definitions.
const maxNodes = 50_000

// maxDepth is how deep conditions and predicates may be nested: what is in them is computed for
// rows of rows.
const maxDepth = 200

var errTooDeep = fmt.Errorf("more than %d conditions and predicates that are in each other", maxDepth)

var errTooMany = fmt.Errorf("an expression of more than %d operations, with its definitions and the members of records",
	maxNodes)

// build returns the value of a node.
func (b *builder) build(n syntax.Node) (value, error) {
	if b.nodes++; b.nodes > maxNodes {
		return value{}, b.errorf(n, "%v", errTooMany)
	}
	v, err := b.value(n)
	if err == errTooMany || err == errTooDeep {
		err = b.errorf(n, "%v", err)
	}
	v.mark(b.place(n))
	return v, err
}

func (b *builder) value(n syntax.Node) (value, error) {
	switch n := n.(type) {
	case *syntax.Nil:
		return nothing(b.entries), nil
	case *syntax.Bool:
		return literalOf(b.entries, n.Value), nil
	case *syntax.Int:
		return literalOf(b.entries, n.Value), nil
	case *syntax.Float:
		return literalOf(b.entries, n.Value), nil
	case *syntax.String:
		return literalOf(b.entries, n.Value), nil
	case *syntax.Name:
		return b.named(n)
	case *syntax.Item:
		return b.item(n)
	case *syntax.Let:
		return b.let(n)
	case *syntax.Member:
		return b.member(n)
	case *syntax.Index:
		return b.indexed(n)
	case *syntax.Slice:
		return b.slice(n)
	case *syntax.Unary:
		return b.unary(n)
	case *syntax.Binary:
		return b.binary(n)
	case *syntax.Cond:
		return b.conditional(n)
	case *syntax.Array:
		return b.arrayOf(n)
	case *syntax.Record:
		return b.recordOf(n)
	case *syntax.Call:
		return b.call(n)
	}
	return value{}, b.errorf(n, "%s stands where there is no function that takes it", n)
}

// all builds several nodes.
func (b *builder) all(nodes ...syntax.Node) ([]value, error) {
	all := make([]value, len(nodes))
	for i, n := range nodes {
		var err error
		if all[i], err = b.build(n); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// in builds what is evaluated in the rows of a domain.
func (b *builder) in(here *domain, build func() (value, error)) (value, error) {
	outer := b.here
	b.here = here
	b.depth++
	defer func() { b.here, b.depth = outer, b.depth-1 }()
	if b.depth > maxDepth {
		return value{}, errTooDeep
	}
	return build()
}

// down returns a value in the domain here.
func (b *builder) down(v value) (value, error) {
	if !b.here.within(v.of) {
		return value{}, errApart
	}
	return v.down(b.here), nil
}

// downAll moves values to the domain here.
func (b *builder) downAll(all ...*value) (err error) {
	for _, v := range all {
		if *v, err = b.down(*v); err != nil {
			return err
		}
	}
	return nil
}

// common returns values in the rows of one domain, the one of them that is within all others.
func common(all ...value) ([]value, error) {
	d := all[0].of
	for _, v := range all {
		if v.of.within(d) {
			d = v.of
		}
	}
	out := make([]value, len(all))
	for i, v := range all {
		if !d.within(v.of) {
			return nil, errApart
		}
		out[i] = v.down(d)
	}
	return out, nil
}

// common2 is common for two values.
func common2(l, r value) (value, value, error) {
	all, err := common(l, r)
	if err != nil {
		return value{}, value{}, err
	}
	return all[0], all[1], nil
}

// named returns the value of a name.
func (b *builder) named(n *syntax.Name) (value, error) {
	if !n.Quoted {
		for _, v := range slices.Backward(b.vars) {
			if v.name == n.Name {
				return v.value, nil
			}
		}
		for i, d := range b.defined {
			if d.Name == n.Name {
				return b.definition(n, d.Value, b.defined[i+1:])
			}
		}
	}
	f, err := b.lookup(n.Name)
	if err != nil {
		return value{}, b.errorf(n, "%v%s%s", err, hint(names, n.Name), b.oddNames())
	}
	v, err := b.valueOf(f, false)
	if f.array != nil {
		v.name = f.array.Field.CppType()
	}
	if err != nil {
		return value{}, err
	}
	return b.read(v)
}

// definition returns the value of a definition, which may use others.
func (b *builder) definition(n syntax.Node, e *Expression, others []Definition) (value, error) {
	key := definition{e, len(others), b.here}
	if v, ok := b.names[key]; ok {
		return v, nil
	}
	outer, vars, items := b.source, b.vars, b.items
	b.source, b.vars, b.items = &source{text: outer.text, fixed: b.place(n).offset() + 1}, nil, nil
	v, err := b.expression(e, others)
	b.source, b.vars, b.items = outer, vars, items
	if err == nil {
		b.names[key] = v
	}
	var failure *Error
	if errors.As(err, &failure) && !strings.HasPrefix(failure.Message, "in what ") {
		failure.Message = fmt.Sprintf("in what %s stands for: %s", n, failure.Message)
	}
	return v, err
}

// expression builds an expression. Definitions are those that it may use beside its own.
func (b *builder) expression(e *Expression, defined []Definition) (value, error) {
	outer := b.defined
	defer func() { b.defined = outer }()
	b.defined = slices.Concat(e.definitions, defined)
	if e.operands == nil {
		return b.build(e.tree)
	}
	whole := b.source
	defer func() { b.source = whole }()
	var v value
	at := 0
	for i, one := range e.operands {
		at++ // the parenthesis
		if b.source = whole; whole.fixed == 0 {
			b.source = &source{text: whole.text, shift: whole.shift + at}
		}
		build := func() (value, error) { return b.expression(one, b.defined) }
		var err error
		if i == 0 {
			v, err = build()
		} else {
			v, err = b.logic(one.tree, true, v, build)
		}
		if err != nil {
			return value{}, err
		}
		at += len(one.text) + len(") && ")
	}
	return v, nil
}

// item returns the item that a predicate is about, its number, or what reduce has so far.
func (b *builder) item(n *syntax.Item) (value, error) {
	if len(b.items) == 0 {
		return value{}, b.errorf(n, "%s stands outside of a predicate", n)
	}
	p := b.items[len(b.items)-1]
	switch n.Name {
	case "":
		return b.read(p.item)
	case "index":
		return p.index(), nil
	}
	if p.acc == nil {
		return value{}, b.errorf(n, "%s stands outside of reduce", n)
	}
	return *p.acc, nil
}

func (b *builder) let(n *syntax.Let) (value, error) {
	v, err := b.build(n.Value)
	if err != nil {
		return value{}, err
	}
	isDefined := slices.ContainsFunc(b.defined, func(d Definition) bool { return d.Name == n.Name })
	if _, err := b.lookup(n.Name); err == nil || isDefined {
		return value{}, b.errorf(n, "cannot redeclare %s", n.Name)
	}
	b.vars = append(b.vars, variable{n.Name, v})
	defer func() { b.vars = b.vars[:len(b.vars)-1] }()
	return b.build(n.X)
}

// predicate builds the argument of a function that is evaluated for each item of an array. It
// returns the array, whose items the value is of.
func (b *builder) predicate(v value, n syntax.Node) (array, result value, err error) {
	if !b.here.within(v.list.items) && v.of != b.here && !b.failing[n] {
		checks := len(b.checks)
		result, err = b.body(v, n)
		if err != errApart && (err != nil || len(b.checks) == checks) {
			return v, result, err
		}
		b.checks = b.checks[:checks]
		clear(b.names) // some may have had checks
		b.failing[n] = true
	}
	if v, err = b.down(v); err != nil {
		return value{}, value{}, err
	}
	result, err = b.body(v, n)
	return v, result, err
}

func (b *builder) body(v value, n syntax.Node) (value, error) {
	items := v.list.items
	b.items = append(b.items, predicate{item: v.list.item, index: func() value { return numbered(items) }})
	defer func() { b.items = b.items[:len(b.items)-1] }()
	return b.in(items, func() (value, error) {
		v, err := b.build(n)
		if err != nil {
			return value{}, err
		}
		return b.down(v)
	})
}

// numbered returns the numbers of items in their arrays.
func numbered(d *domain) value {
	return scalar(newNode(d, func(r *run, n *node[int64]) {
		o := d.bounds(r)
		out := n.out(r, d.n)
		for i, begin := range o[:len(o)-1] {
			for k := begin; k < o[i+1]; k++ {
				out[k] = k - begin
			}
		}
	}).known(func(z *zones) extent[int64] { return between(0, d.span(z).high-1) }), false)
}

// A check finds errors, whether or not what it belongs to is needed.
type check struct {
	find  func(r *run)
	here  *domain             // it looks at these rows alone
	never func(z *zones) bool // reports whether it finds none in a cluster; nil if that is not known
}

// fallible notes that a node can fail, and returns it.
func fallible[T any](b *builder, n *node[T]) *node[T] {
	b.checks = append(b.checks, check{find: func(r *run) { n.rows(r) }, here: n.of})
	return n
}
