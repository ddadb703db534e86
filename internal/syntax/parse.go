package syntax

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxText is how many bytes a text may have.
	maxText = 1 << 20
	// maxNesting bounds the depth of trees, and of the parser's recursion: walks over a tree may
	// recurse.
	maxNesting = 10_000
	// maxNodes bounds how many nodes a walk over a tree visits. A text has fewer, but those with
	// two parents double the visits at each level.
	maxNodes = 1 << 20
)

// An Error says what is wrong with a text.
type Error struct {
	Pos     int // offset of the byte where it is wrong
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Pos, e.Message) }

// Position returns the line and the column, in characters, of an offset in a text. Both begin with
// 1.
func Position(text string, pos int) (line, column int) {
	before := text[:pos]
	lastLine := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(lastLine) + 1
}

// Parse returns the tree of a text. Its errors are of type *Error. A node has two parents where the
// text has the value of one operand twice: the b of a < b < c, which is a < b and b < c, and the a
// of a ?: b. A walk visits it twice, but at most a million nodes in all, and recurses at most
// 10,000 deep.
func Parse(text string) (n Node, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			e, ok := failure.(*Error)
			if !ok {
				panic(failure)
			}
			n, err = nil, e
		}
	}()
	if len(text) > maxText {
		fail(0, "%d bytes are more than the %d that it may have", len(text), maxText)
	}
	for pos, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[pos:], string(utf8.RuneError)) {
			fail(pos, "it is not UTF-8")
		}
	}
	p := parser{scanner: scanner{text: text}}
	p.next()
	n = p.sequence()
	if p.tok.kind != eof {
		p.unexpected()
	}
	limit(n)
	return n, nil
}

// limit fails if a tree is too deep or too large to be walked.
func limit(root Node) {
	type visit struct {
		n     Node
		depth int
	}
	visited := 0
	for todo := []visit{{root, 1}}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.depth > maxNesting {
			tooDeep(v.n.Pos())
		}
		if visited++; visited > maxNodes {
			fail(v.n.Pos(), "it has more than %d operands and operators", maxNodes)
		}
		for _, child := range Children(v.n) {
			todo = append(todo, visit{child, v.depth + 1})
		}
	}
}

func tooDeep(pos int) {
	fail(pos, "it is nested too deep: more than %d brackets and operators", maxNesting)
}

// precedence has the operators between operands: those with larger numbers bind tighter.
var precedence = map[string]int{
	"|":  0,
	"or": 10, "||": 10,
	"and": 15, "&&": 15,
	"==": 20, "!=": 20, "<": 20, "<=": 20, ">": 20, ">=": 20,
	"in": 20, "matches": 20, "contains": 20, "startsWith": 20, "endsWith": 20,
	"..": 25,
	"+":  30, "-": 30,
	"*": 60, "/": 60, "%": 60,
	"**": power, "^": power,
	"??": coalesce,
}

const (
	power    = 100 // the only ones that group from the right
	coalesce = 500
)

// unaryPrecedence has the operators before an operand, which takes in what binds as tight or
// tighter.
var unaryPrecedence = map[string]int{"not": 50, "!": 50, "-": 90, "+": 90}

// synonyms has the operators that are in the tree under another name.
var synonyms = map[string]string{"||": "or", "&&": "and", "^": "**", "!": "not"}

// Operators returns the operators before and between operands, as texts have them, in alphabetical
// order. Some may have either place.
func Operators() []string {
	all := maps.Clone(precedence)
	maps.Copy(all, unaryPrecedence)
	return slices.Sorted(maps.Keys(all))
}

func operatorName(text string) string {
	if name, ok := synonyms[text]; ok {
		return name
	}
	return text
}

// isOrder reports whether comparisons with the operator form chains.
func isOrder(op string) bool { return op == "<" || op == "<=" || op == ">" || op == ">=" }

// negatable are the operators that may follow not.
var negatable = []string{"in", "matches", "contains", "startsWith", "endsWith"}

// predicates has the functions whose second argument is a predicate, and how many arguments they
// take.
var predicates = map[string]struct{ min, max int }{
	"all": {2, 2}, "any": {2, 2}, "none": {2, 2}, "one": {2, 2}, "map": {2, 2}, "filter": {2, 2},
	"find": {2, 2}, "findIndex": {2, 2}, "findLast": {2, 2}, "findLastIndex": {2, 2}, "groupBy": {2, 2},
	"count": {1, 2}, "sum": {1, 2}, "sortBy": {2, 3}, "reduce": {2, 3},
}

// A parser makes a tree of tokens by recursive descent.
type parser struct {
	scanner
	last, tok  token // the token before the next one, and the next one
	depth      int   // of calls of expression, and of what each has parsed so far
	predicates int   // that are open
}

// next goes on to the next token.
func (p *parser) next() { p.last, p.tok = p.tok, p.scan() }

// accept goes on if the next token is an operator or a bracket, and reports whether it is.
func (p *parser) accept(text string) bool {
	ok := p.tok.is(text)
	if ok {
		p.next()
	}
	return ok
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected()
	}
}

// sequence parses an expression that a semicolon may follow at the end of the text.
func (p *parser) sequence() Node {
	start := p.tok.pos
	x := p.expression(0)
	if end := p.tok.pos; p.accept(";") && p.tok.kind != eof {
		fail(x.Pos(), "the value of %s is lost; join conditions with &&", strings.TrimSpace(p.text[start:end]))
	}
	return x
}

// deepen counts a node that is around what comes next, or around what is parsed already.
func (p *parser) deepen() {
	if p.depth++; p.depth > maxNesting {
		tooDeep(p.tok.pos)
	}
}

// expression parses operands between operators whose precedence is at least lowest.
func (p *parser) expression(lowest int) (x Node) {
	depth := p.depth
	p.deepen()
	switch {
	case lowest == 0 && p.tok.is("let"):
		x = p.let()
	case lowest == 0 && p.tok.is("if"):
		x = p.ifElse()
	default:
		x = p.binary(p.operand(), lowest)
		for lowest == 0 && p.tok.is("?") {
			x = p.conditional(x)
		}
	}
	p.depth = depth
	return x
}

// binary parses the operators and operands after the operand x.
func (p *parser) binary(x Node, lowest int) Node {
	for previous := ""; p.tok.kind == operator; {
		p.deepen()
		op, not := p.tok, p.tok
		negated := not.is("not")
		if negated {
			ahead := *p
			ahead.next()
			if op = ahead.tok; op.kind != operator || !slices.Contains(negatable, op.text) {
				ahead.unexpected()
			}
		}
		tightness, ok := precedence[op.text]
		if !ok || tightness < lowest {
			break
		}
		if negated {
			p.next()
		}
		p.next()
		switch {
		case op.text == "|":
			x = p.pipe(x)
		case previous == "??" && op.text != "??":
			fail(op.pos, "Operator (%s) and coalesce expressions (??) cannot be mixed. Wrap either by parentheses.", op.text)
		case isOrder(op.text):
			x = p.comparisons(x, op)
		case tightness == power:
			x = &Binary{Offset(op.pos), operatorName(op.text), x, p.expression(tightness)}
		default:
			x = &Binary{Offset(op.pos), operatorName(op.text), x, p.expression(tightness + 1)}
		}
		if negated {
			x = &Unary{Offset(not.pos), "not", x}
		}
		previous = op.text
	}
	return x
}

// comparisons parses what follows the operator op in l < m < r, which is l < m and m < r.
func (p *parser) comparisons(l Node, op token) (all Node) {
	for {
		p.deepen()
		r := p.expression(precedence[op.text] + 1)
		var comparison Node = &Binary{Offset(op.pos), op.text, l, r}
		if all != nil {
			comparison = &Binary{Offset(op.pos), "and", all, comparison}
		}
		all = comparison
		if p.tok.kind != operator || !isOrder(p.tok.text) {
			return all
		}
		l, op = r, p.tok
		p.next()
	}
}

// pipe parses what follows "|" after x.
func (p *parser) pipe(x Node) Node {
	name := p.tok
	if !isVariable(name) {
		p.refuse("; write or")
	}
	if p.next(); !p.tok.is("(") {
		p.refuse("; write or")
	}
	return p.call(name, x)
}

// conditional parses what follows x, which is "?".
func (p *parser) conditional(x Node) Node {
	n := &Cond{Offset: Offset(p.tok.pos), If: x, Then: x}
	p.next()
	if !p.tok.is(":") {
		n.Then = p.expression(0)
	}
	p.expect(":")
	n.Else = p.expression(0)
	return n
}

// isVariable reports whether a token may name a variable or a function.
func isVariable(t token) bool {
	return t.kind == identifier && t.text != "true" && t.text != "false" && t.text != "nil" && t.text != "$env"
}

func (p *parser) let() Node {
	p.next()
	n := &Let{Offset: Offset(p.tok.pos), Name: p.tok.text}
	if !isVariable(p.tok) {
		p.unexpected()
	}
	p.next()
	p.expect("=")
	n.Value = p.expression(0)
	p.expect(";")
	n.X = p.sequence()
	return n
}

func (p *parser) ifElse() Node {
	n := &Cond{Offset: Offset(p.tok.pos)}
	p.next()
	n.If = p.expression(0)
	p.expect("{")
	n.Then = p.sequence()
	p.expect("}")
	p.expect("else")
	if p.tok.is("if") {
		n.Else = p.expression(0)
		return n
	}
	p.expect("{")
	n.Else = p.sequence()
	p.expect("}")
	return n
}
