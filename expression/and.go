package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// And returns the expression that is true where all conditions are, at least one: (a) && (b). Each stays a whole, whatever
// its text, and an error that Check of its Condition returns is about the text of that condition alone.
func And(conditions ...*Expression) *Expression {
	if len(conditions) == 1 {
		return conditions[0]
	}
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = "(" + c.text + ")"
	}
	return &Expression{text: strings.Join(texts, " && "), operands: conditions}
}

// conditions returns the conditions that e joins, or e alone.
func (e *Expression) conditions() []*Expression {
	if e.operands == nil {
		return []*Expression{e}
	}
	all := make([]*Expression, len(e.operands))
	for i, one := range e.operands {
		all[i] = &Expression{one.text, append(one.definitions[:len(one.definitions):len(one.definitions)], e.definitions...), one.operands}
	}
	return all
}

// joined is expand for operands. The nodes have their places in the text of the whole.
func joined(e *Expression, known *names, at *file.Location, left *int) (*parser.Tree, error) {
	var all ast.Node
	begin := 0
	for _, one := range e.operands {
		tree, err := one.expand(known, at, left)
		if err != nil {
			return nil, err
		}
		begin++ // the parenthesis
		if at == nil {
			ast.Walk(&tree.Node, moved(begin))
		}
		if all == nil {
			all = tree.Node
		} else {
			and := &ast.BinaryNode{Operator: "&&", Left: all, Right: tree.Node}
			and.SetLocation(tree.Node.Location())
			all = and
		}
		begin += len([]rune(one.text)) + len(") && ")
	}
	return &parser.Tree{Node: all, Source: file.NewSource(e.text)}, nil
}

// moved is a number of characters, by which it moves nodes.
type moved int

// Visit implements ast.Visitor.
func (m moved) Visit(node *ast.Node) {
	at := (*node).Location()
	at.From, at.To = at.From+int(m), at.To+int(m)
	(*node).SetLocation(at)
}
