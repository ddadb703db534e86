package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (n *Nil) String() string       { return text(n) }
func (n *Bool) String() string      { return text(n) }
func (n *Int) String() string       { return text(n) }
func (n *Float) String() string     { return text(n) }
func (n *String) String() string    { return text(n) }
func (n *Name) String() string      { return text(n) }
func (n *Item) String() string      { return text(n) }
func (n *Unary) String() string     { return text(n) }
func (n *Binary) String() string    { return text(n) }
func (n *Cond) String() string      { return text(n) }
func (n *Member) String() string    { return text(n) }
func (n *Index) String() string     { return text(n) }
func (n *Slice) String() string     { return text(n) }
func (n *Call) String() string      { return text(n) }
func (n *Predicate) String() string { return text(n) }
func (n *Let) String() string       { return text(n) }
func (n *Array) String() string     { return text(n) }
func (n *Record) String() string    { return text(n) }

func text(n Node) string {
	var p printer
	p.print(n, 0, nothing)
	return string(p)
}

// A printer holds the text of the nodes that are added to it.
type printer []byte

func (p *printer) add(format string, args ...any) { *p = fmt.Appendf(*p, format, args...) }

// What follows a node: an operator, given as its precedence, which is larger, or one of these.
const (
	nothing   = -1 // that the node could take in
	semicolon = 0
)

// needsParentheses reports whether the parser, in expression(lowest), would end a node before its
// end, or give a part of it to what follows: next is the precedence of an operator, or one of the
// above.
func needsParentheses(n Node, lowest, next int) bool {
	switch n := n.(type) {
	case *Unary:
		return next >= unaryPrecedence[n.Op]
	case *Binary:
		own := precedence[n.Op]
		unmixed := own == coalesce && next > 0 && next >= lowest && next != coalesce // a ?? b + c is an error
		return own < lowest || own < next || own == power && next == power || unmixed
	case *Cond:
		return lowest > 0 || next > 0
	case *Let:
		return lowest > 0 || next >= semicolon
	}
	return false
}

// print adds a node where the parser calls expression(lowest), and where next follows.
func (p *printer) print(n Node, lowest, next int) {
	if needsParentheses(n, lowest, next) {
		p.list("(", ")", n)
		return
	}
	switch n := n.(type) {
	case *Nil:
		p.add("nil")
	case *Bool:
		p.add("%t", n.Value)
	case *Int:
		p.add("%d", n.Value)
	case *Float:
		p.float(n.Value)
	case *String:
		p.add("%q", n.Value)
	case *Name:
		if n.Quoted {
			p.add("$env[%q]", n.Name)
		} else {
			p.add("%s", n.Name)
		}
	case *Item:
		p.add("#%s", n.Name)
	case *Unary:
		if p.add("%s", n.Op); n.Op == "not" {
			p.add(" ")
		}
		p.print(n.X, unaryPrecedence[n.Op], next)
	case *Binary:
		p.binary(n, lowest, next)
	case *Cond:
		p.print(n.If, 1, nothing)
		p.add(" ? ")
		p.print(n.Then, 0, nothing)
		p.add(" : ")
		p.print(n.Else, 0, next)
	case *Member:
		if item, ok := n.X.(*Item); !ok || item.Name != "" {
			p.base(n.X)
		}
		p.add(".%s", n.Name)
	case *Index:
		p.base(n.X)
		p.list("[", "]", n.At)
	case *Slice:
		p.slice(n)
	case *Call:
		p.add("%s", n.Name)
		p.list("(", ")", n.Args...)
	case *Predicate:
		p.predicate(n)
	case *Let:
		p.add("let %s = ", n.Name)
		p.print(n.Value, 0, semicolon)
		p.add("; ")
		p.print(n.X, 0, nothing)
	case *Array:
		p.list("[", "]", n.Items...)
	case *Record:
		p.record(n)
	}
}

func (p *printer) list(opening, closing string, nodes ...Node) {
	p.add("%s", opening)
	for i, n := range nodes {
		if i > 0 {
			p.add(", ")
		}
		p.print(n, 0, nothing)
	}
	p.add("%s", closing)
}

// float adds a float so that it is no integer.
func (p *printer) float(value float64) {
	s := strconv.FormatFloat(value, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	p.add("%s", s)
}

func (p *printer) binary(n *Binary, lowest, next int) {
	own := precedence[n.Op]
	if l, ok := n.L.(*Binary); ok && isOrder(l.Op) && isOrder(n.Op) {
		p.list("(", ")", l) // a < b < c is a chain
	} else {
		p.print(n.L, lowest, own)
	}
	if n.Op == ".." {
		p.add("..")
	} else {
		p.add(" %s ", n.Op)
	}
	if own != power {
		own++ // it groups from the left
	}
	p.print(n.R, own, next)
}

// base adds a node before what is taken from it.
func (p *printer) base(n Node) {
	switch n.(type) {
	case *Nil, *Bool, *Int, *Float, *Unary, *Binary, *Cond, *Let:
		p.list("(", ")", n)
	default:
		p.print(n, 0, nothing)
	}
}

func (p *printer) slice(n *Slice) {
	p.base(n.X)
	p.add("[")
	if n.From != nil {
		p.print(n.From, 0, nothing)
	}
	p.add(":")
	if n.To != nil {
		p.print(n.To, 0, nothing)
	}
	p.add("]")
}

// predicate adds a predicate, with braces if it would otherwise begin with one.
func (p *printer) predicate(n *Predicate) {
	start := len(*p)
	if p.print(n.X, 0, nothing); (*p)[start] == '{' {
		*p = append(slices.Insert(*p, start, '{'), '}')
	}
}

func (p *printer) record(n *Record) {
	p.add("{")
	for i, name := range n.Names {
		if i > 0 {
			p.add(", ")
		}
		if isName(name) && !slices.Contains(words, name) {
			p.add("%s: ", name)
		} else {
			p.add("%q: ", name)
		}
		p.print(n.Values[i], 0, nothing)
	}
	p.add("}")
}
