package syntax

import "slices"

// A Node is a node of a syntax tree: one of the types below.
type Node interface {
	// Pos returns the offset in the text of the byte that errors about the node name: that of an
	// operator, or the first one of what has none.
	Pos() int
	// String returns the node as text, with parentheses where they are needed.
	String() string
}

// Offset is the place of a node in the text.
type Offset int

// Pos implements Node.
func (o Offset) Pos() int { return int(o) }

type (
	// Nil is nil.
	Nil struct{ Offset }
	// Bool is true or false.
	Bool struct {
		Offset
		Value bool
	}
	// Int is a literal of an integer. It has no sign.
	Int struct {
		Offset
		Value int64
	}
	// Float is a literal of a float. It has no sign.
	Float struct {
		Offset
		Value float64
	}
	// String is a literal of a string.
	String struct {
		Offset
		Value string
	}
	// Name is a variable: a field, a definition, or what let declares. Quoted is set for
	// $env["name"], which is always a field.
	Name struct {
		Offset
		Name   string
		Quoted bool
	}
	// Item is "#", the item that a predicate is about, or, if Name is "index" or "acc", #index or
	// #acc.
	Item struct {
		Offset
		Name string
	}
	// Unary is an operator before its operand: "-", "+" or "not", which "!" is as well.
	Unary struct {
		Offset
		Op string
		X  Node
	}
	// Binary is an operator between its operands: "or", "and" (also of "||" and "&&"), "==", "!=", "<", "<=", ">", ">=",
	// "in", "matches", "contains", "startsWith", "endsWith", "..", "+", "-", "*", "/", "%", "**"
	// (also of "^"), or "??". "x not in y" is a Unary of a Binary.
	Binary struct {
		Offset
		Op   string
		L, R Node
	}
	// Cond is If ? Then : Else, also written if If { Then } else { Else }.
	Cond struct {
		Offset
		If, Then, Else Node
	}
	// Member is X.Name. X is an Item for the ".Name" of a predicate. X["name"] is an Index.
	Member struct {
		Offset
		X    Node
		Name string
	}
	// Index is X[At].
	Index struct {
		Offset
		X, At Node
	}
	// Slice is X[From:To]. From and To may be nil.
	Slice struct {
		Offset
		X, From, To Node
	}
	// Call is a call of a function, also written as a pipe: x | f(y) is f(x, y).
	Call struct {
		Offset
		Name string
		Args []Node
	}
	// Predicate is an argument of a function that is evaluated for each item, written with braces
	// or without.
	Predicate struct {
		Offset
		X Node
	}
	// Let is let Name = Value; X.
	Let struct {
		Offset
		Name  string
		Value Node
		X     Node
	}
	// Array is [Items[0], ...].
	Array struct {
		Offset
		Items []Node
	}
	// Record is {Names[0]: Values[0], ...}.
	Record struct {
		Offset
		Names  []string
		Values []Node
	}
)

// Children returns the nodes that a node consists of, without those that are nil. They must not be
// changed.
func Children(n Node) []Node {
	switch n := n.(type) {
	case *Unary:
		return []Node{n.X}
	case *Binary:
		return []Node{n.L, n.R}
	case *Cond:
		return []Node{n.If, n.Then, n.Else}
	case *Member:
		return []Node{n.X}
	case *Index:
		return []Node{n.X, n.At}
	case *Slice:
		return slices.DeleteFunc([]Node{n.X, n.From, n.To}, func(n Node) bool { return n == nil })
	case *Call:
		return n.Args
	case *Predicate:
		return []Node{n.X}
	case *Let:
		return []Node{n.Value, n.X}
	case *Array:
		return n.Items
	case *Record:
		return n.Values
	}
	return nil
}
