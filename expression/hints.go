package expression

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// A hint says what helps with an error, mostly to those who write what TTree::Draw of ROOT takes.
type hint struct {
	message, text *regexp.Regexp // of the error, and of the expression; nil matches all
	help          string         // a template for the groups of message
}

var hints = sync.OnceValue(func() []hint {
	const capitals = "; write and, or, not in small letters"
	var all []hint
	add := func(message, text, help string) {
		h := hint{message: regexp.MustCompile(message), help: help}
		if text != "" {
			h.text = regexp.MustCompile(text)
		}
		all = append(all, h)
	}
	add(`^unexpected token Operator\("="\)`, "", "; equality is written ==")
	add(`^unexpected token Operator\("&"\)`, "", "; write and")
	add(`^unexpected token Identifier\("(AND|OR)"\)`, "", capitals)
	add(`^unexpected token`, `\bNOT\b`, capitals)
	add(`^unexpected token`, `[^|]\|[^|]`, "; write or")
	add(`^unexpected token`, `\bTMath::Pi\b`, "; pi is 3.141592653589793")
	add(`^unexpected token`, `\bTMath::\w`, "; functions have no TMath:: before their names: sqrt(x)")
	add(`^no field "pi"|^unknown function pi;`, "", "; pi is 3.141592653589793")
	add(`^no field "(True|TRUE|False|FALSE)"`, "", "; write true or false")
	add(`^no field "(\w+)\$"`, "", "; expressions have no special variables")
	for root, function := range map[string]string{
		"Sum": "sum(array)", "Length": "len(array)", "Max": "max(array)", "Min": "min(array)", "Alt": "array[1] ?? 0",
		"MaxIf": "max(array[condition])", "MinIf": "min(array[condition])",
	} {
		add(`^unknown function `+root+`\$`, "", "; write "+function)
	}
	add(`^invalid operation: [=!<>]=? \((.+) is (?:a )?bool(?: that may be missing)?, [-\d.]+ is an? (?:integer|float)\)`, "", "; a bool is a condition by itself: $1, or not $1")
	add(`^invalid operation: [=!<>]=? \([-\d.]+ is an? (?:integer|float), (.+) is (?:a )?bool(?: that may be missing)?\)`, "", "; a bool is a condition by itself: $1, or not $1")
	add(`^invalid operation: [-+*/%] \((.+) is (?:a )?bool, `, "", "; as a number it is ($1 ? 1 : 0)")
	add(`^(.+) is (?:a )?bool, but argument 1 of (?:int|float)\(x\)`, "", "; as a number it is ($1 ? 1 : 0)")
	return all
})

// helped adds a hint to an error about a text.
func (e *Error) helped(text string) *Error {
	for _, h := range hints() {
		m := h.message.FindStringSubmatchIndex(e.Message)
		if m != nil && (h.text == nil || h.text.MatchString(text)) {
			e.Message += string(h.message.ExpandString(nil, h.help, e.Message, m))
			break
		}
	}
	return e
}

// A loss is the first node whose value nobody takes: a; b yields b alone.
type loss struct{ node ast.Node }

// Visit implements ast.Visitor.
func (l *loss) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.SequenceNode); ok && len(n.Nodes) > 1 && l.node == nil {
		l.node = n.Nodes[0]
	}
}

// noCondition returns the error about an expression of a type that is no condition, which says how to make one of it.
func noCondition(e *Expression, t Type) *Error {
	help := ""
	switch {
	case t.Depth == 1 && t.Kind == Bool:
		help = fmt.Sprintf("; use any(%s, #)", e.text)
		tree, err := parser.Parse(e.text)
		if err != nil {
			break
		}
		if n, ok := tree.Node.(*ast.BinaryNode); ok && isName(n.Left) && isNumber(n.Right) {
			help = fmt.Sprintf("; use any(%s, # %s %s)", n.Left, n.Operator, n.Right)
		}
	case t.Depth == 0 && (t.Kind == Int || t.Kind == Float):
		help = "; compare it with a number"
	}
	return &Error{Message: fmt.Sprintf("expected bool, but got %v: %s%s", t, e.text, help)}
}

func isName(n ast.Node) bool {
	_, ok := n.(*ast.IdentifierNode)
	return ok
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}
