package expression

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// An Expression is an expression whose syntax is right. Whether it fits the fields of a
// source shows in Compile. It is immutable, and safe for concurrent use.
type Expression struct {
	text        string
	tree        syntax.Node
	definitions []Definition  // later ones first
	operands    []*Expression // of And, whose text joins theirs, instead of a tree
}

// A Definition is a name that stands for an expression.
type Definition struct {
	Name  string
	Value *Expression
}

// Parse returns the expression of a text. The error, an *Error, is about its syntax. Comments are
// errors.
func Parse(text string) (*Expression, error) {
	tree, err := syntax.Parse(text)
	var at *syntax.Error
	switch {
	case errors.As(err, &at):
		line, column := syntax.Position(text, at.Pos)
		return nil, &Error{Line: line, Column: column, Message: at.Message}
	case err != nil:
		return nil, &Error{Message: err.Error()}
	}
	return &Expression{text: text, tree: tree}, nil
}

// word matches the names that the language has for variables.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_$][\pL\d_$]*$`) })

// String returns the text that the expression was parsed from.
func (e *Expression) String() string { return e.text }

// With returns an expression in which names stand for the values of other expressions. A
// definition may use the names of those before it, and hides fields and earlier definitions of
// its name.
func (e *Expression) With(d ...Definition) *Expression {
	reversed := slices.Clone(d)
	slices.Reverse(reversed)
	return &Expression{e.text, e.tree, append(reversed, e.definitions...), e.operands}
}

// An Error says what is wrong with an expression, or with its value for an entry. It wraps a
// *frame.LimitError if the evaluation needs more memory or work than Limits.ExpressionBytes allows.
type Error struct {
	Line, Column int // counted from 1; 0 if unknown
	Message      string
	cause        error
}

// Unwrap returns what has caused the error, or nil.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return "expression: " + e.Message
	case e.Line == 1:
		return fmt.Sprintf("expression, character %d: %s", e.Column, e.Message)
	}
	return fmt.Sprintf("expression, line %d, character %d: %s", e.Line, e.Column, e.Message)
}

// And returns the expression that is true where all conditions are, at least one: (a) && (b). Each
// stays a whole, whatever its text, and an error that Check of its Condition returns is about the
// text of that condition alone.
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
		all[i] = &Expression{one.text, one.tree, slices.Concat(one.definitions, e.definitions), one.operands}
	}
	return all
}

// root returns the tree of the expression, or that of the first of several conditions.
func (e *Expression) root() syntax.Node {
	for e.operands != nil {
		e = e.operands[0]
	}
	return e.tree
}
