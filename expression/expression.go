package expression

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// An Expression is an expression whose syntax is right. Whether it fits the fields of a
// source shows in Compile. It is immutable, and safe for concurrent use.
type Expression struct {
	text        string
	definitions []Definition  // later ones first
	operands    []*Expression // of And, whose text joins theirs
}

// A Definition is a name that stands for an expression.
type Definition struct {
	Name  string
	Value *Expression
}

// Parse returns the expression of a text. The error, an *Error, is about its syntax. Comments are
// errors.
func Parse(text string) (*Expression, error) {
	if err := scan(text); err != nil {
		return nil, err
	}
	tree, err := parser.Parse(text)
	if err != nil {
		e := explain(err).helped(text)
		if m := colons().FindString(text); m != "" && !strings.Contains(text, "$env") && !strings.HasPrefix(m, "TMath::") {
			e.Message += fmt.Sprintf("; if %s is a field, write $env[%q]", m, m)
		}
		return nil, e
	}
	var lost loss
	if ast.Walk(&tree.Node, &lost); lost.node != nil {
		return nil, errorAt(tree.Source, lost.node, "the value of %v is lost; join conditions with &&", lost.node)
	}
	return &Expression{text: text}, nil
}

// colons matches names with colons, which fields may have and words of the language
// may not.
var colons = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL_][\pL\d_]*(:+[\pL_][\pL\d_]*)+`) })

// maxText is how many bytes the text of an expression may have.
const maxText = 1 << 20

// maxNesting is how deep an expression may be nested: the parser, which nests as deep, has no bound
// of its own before it has read all of it. It takes that many nodes at most, each prefix being one.
const maxNesting = 10_000

// marks matches literals of strings, what begins a comment, brackets, and what may stand before operands.
var marks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|` + "`[^`]*(?:`|$)" + `|//|/\*|[][(){}!+-]|\b(?:not|let|if)\b`)
})

// scan returns an error if a text is too long or nested too deep, or if there is a comment in it:
// the parser would drop it, and with it what follows "//", which divides in other languages.
func scan(text string) error {
	if len(text) > maxText {
		return &Error{Line: 1, Column: 1, Message: fmt.Sprintf("%d bytes are more than the %d that it may have", len(text), maxText)}
	}
	nesting := 0
	for at := 0; ; {
		m := marks().FindStringIndex(text[at:])
		if m == nil {
			return nil
		}
		begin, message := at+m[0], ""
		at += m[1]
		switch what := text[begin:at]; what[0] {
		case '/':
			message = fmt.Sprintf("%q begins a comment, and an expression must not have one", what)
			if what == "//" {
				message += "; for a quotient without its fraction, write int(x / y)"
			}
		case '"', '\'', '`':
		case ')', ']', '}':
			nesting--
		default:
			if nesting++; nesting > maxNesting {
				message = fmt.Sprintf("it is nested too deep: more than %d brackets and operators", maxNesting)
			}
		}
		if message != "" {
			before := text[:begin]
			line := before[strings.LastIndexByte(before, '\n')+1:]
			return &Error{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(line) + 1, Message: message}
		}
	}
}

// word matches the names that the language has for variables.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_$][\pL\d_$]*$`) })

// String returns the text that the expression was parsed from.
func (e *Expression) String() string { return e.text }

// With returns an expression in which names stand for the values of other expressions. A
// definition may use the names of those before it, and hides fields and earlier definitions of
// its name. Values take the place of names, so that the expression grows: Compile has a limit for that.
func (e *Expression) With(d ...Definition) *Expression {
	reversed := slices.Clone(d)
	slices.Reverse(reversed)
	return &Expression{e.text, append(reversed, e.definitions...), e.operands}
}

// An Error says what is wrong with an expression, or with its value for an entry. It wraps a
// *rntuple.LimitError if the evaluation needs more memory or work than Limits.ExpressionBytes allows.
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

// explain returns an error of the language as an *Error.
func explain(err error) *Error {
	var at *file.Error
	if !errors.As(err, &at) {
		return &Error{Message: err.Error()}
	}
	return &Error{Line: at.Line, Column: at.Column + 1, Message: goTypes().ReplaceAllStringFunc(at.Message, func(s string) string { return strings.TrimSuffix(s, "64") })}
}

// goTypes matches the types of the virtual machine that have other names here.
var goTypes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(int64|float64)\b`) })
