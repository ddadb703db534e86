package expression

import (
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// maxNodes is how many nodes an expression may have, and the expressions of a Program together, after
// names have been replaced by what they stand for: twice and five times what the parser allows for a
// text. With definitions that use one another twice, the number doubles with each.
const maxNodes, maxTogether = 20_000, 50_000

// trees returns new trees of expressions, in which the values of definitions have taken the place of
// their names.
func trees(exprs []*Expression) ([]*parser.Tree, error) {
	together, all := maxTogether, make([]*parser.Tree, len(exprs))
	for i, e := range exprs {
		left := min(maxNodes, together)
		together -= left
		var err error
		if all[i], err = e.expand(nil, nil, &left); err != nil {
			return nil, err
		}
		together += left
	}
	return all, nil
}

// names are definitions, later ones first.
type names struct {
	definitions []Definition
	up          *names // the definitions before them
}

// lookup returns the definition of a name, and those that it may use.
func (n *names) lookup(name string) (d Definition, before *names, ok bool) {
	for ; n != nil; n = n.up {
		for i, d := range n.definitions {
			if d.Name == name {
				return d, &names{n.definitions[i+1:], n.up}, true
			}
		}
	}
	return Definition{}, nil, false
}

// expand returns a new tree with definitions of e, and of those that it may use, in the place of their
// names. Its nodes are all at one place if at is not nil. It takes nodes from those that are left.
func (e *Expression) expand(known *names, at *file.Location, left *int) (*parser.Tree, error) {
	if len(e.definitions) > 0 {
		known = &names{e.definitions, known}
	}
	if e.operands != nil {
		return joined(e, known, at, left)
	}
	tree, err := parser.Parse(e.text)
	if err != nil {
		return nil, err // never: Parse accepted it
	}
	x := expansion{known, at, left, tree.Source, nil}
	ast.Walk(&tree.Node, &x)
	return tree, x.err
}

// An expansion replaces names in a tree.
type expansion struct {
	known *names
	at    *file.Location
	left  *int
	text  file.Source
	err   error
}

// Visit implements ast.Visitor.
func (x *expansion) Visit(node *ast.Node) {
	if x.err != nil {
		return
	}
	if *x.left--; *x.left < 0 {
		x.err = errorAt(x.text, *node, "the expression has more than %d nodes, or those of the program have more than %d", maxNodes, maxTogether)
		return
	}
	if let, ok := (*node).(*ast.VariableDeclaratorNode); ok {
		if _, _, defined := x.known.lookup(let.Name); defined {
			x.err = errorAt(x.text, let, "cannot redeclare %s", let.Name)
			return
		}
	}
	at := x.at
	if at == nil {
		place := (*node).Location()
		at = &place
	}
	(*node).SetLocation(*at)
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok {
		return
	}
	d, before, ok := x.known.lookup(id.Value)
	if !ok {
		return
	}
	*x.left++ // the name goes
	tree, err := d.Value.expand(before, at, x.left)
	if x.err = err; err == nil {
		*node = tree.Node
	} else if e, ok := err.(*Error); ok && x.at == nil {
		x.err = errorAt(x.text, id, "in what %s stands for: %s", d.Name, e.Message)
	}
}
