package expression

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Kind is what sort of values an expression has, or the items of its arrays.
type Kind uint8

const (
	Bool   Kind = iota + 1 // bool
	Int                    // int64
	Float                  // float64
	String                 // a string
	Other                  // a record, a map, a variant; or not known before evaluation
)

var kindNames = [...]string{"no value", "bool", "int", "float", "string", "value of another kind"}

// String returns the name of the kind.
func (k Kind) String() string { return kindNames[k] }

// A Type is the type of an expression.
type Type struct {
	Kind    Kind
	Depth   int  // 0: a value per entry; 1: an array of values; 2: an array of arrays, and so on
	Missing bool // the value may be missing
	Items   bool // items of its arrays may be missing
}

// String returns the type in words, such as "array of float".
func (t Type) String() string {
	s := strings.Repeat("array of ", t.Depth) + t.Kind.String()
	if t.Items {
		s += " that may be missing"
	}
	if t.Missing {
		s += ", may be missing"
	}
	return s
}

// A Program is expressions compiled for the fields of a source. It is safe for concurrent use.
type Program struct {
	exprs []*Expression
	types []Type
	paths []string // of fields that are read
	idle  string   // of a field to read if there is none

	scope *scope
	parts []map[int]*part // that the virtual machine evaluates, of each expression, by the numbers of their nodes
	pool  sync.Pool       // of *instance
}

// Compile checks that expressions fit the fields of s, and prepares their evaluation. The error
// is an *Error that names the field, and suggests another for a misspelt name. Only metadata is
// read.
func Compile(s rntuple.Source, e ...*Expression) (*Program, error) { return compile(s, e, false) }

// maxCompiled is how many nodes are compiled in parts of expressions, each of which adds some, and may be part of another.
// If there are more, which would take seconds, the virtual machine evaluates the expressions as a whole.
const maxCompiled, nodesOfPart = maxTogether, 50

var errParts = errors.New("too many parts")

// compile is Compile. If whole is set, the virtual machine evaluates the expressions as a whole.
func compile(s rntuple.Source, exprs []*Expression, whole bool) (*Program, error) {
	p := &Program{exprs: exprs, scope: newScope(s)}
	all, err := trees(exprs)
	if err != nil {
		return nil, err
	}
	for i, e := range exprs {
		tree := all[i]
		_, t, err := formula.Compile(&parser.Tree{Node: copied(tree.Node), Source: tree.Source}, p.scope.variable, new(formula.Budget))
		if err != nil {
			return nil, p.scope.named(explain(err).helped(e.text), e.text)
		}
		p.types = append(p.types, typeOf(t))
		p.parts = append(p.parts, map[int]*part{})
		if whole {
			numbers := numbering{}
			ast.Walk(&tree.Node, numbers)
			root, err := p.scope.newPart(place{tree.Node, tree.Source}, numbers[tree.Node], "it is one whole")
			if err != nil {
				return nil, err
			}
			p.parts[len(p.parts)-1][root.number] = root
		}
	}
	// The first instance finds what the virtual machine must do, the second one reads no more
	// than needed.
	compiled := 0
	_, err = p.build(func(at place, number int, reason string) (*part, error) {
		nodes := numbering{}
		ast.Walk(&at.node, nodes)
		if compiled += nodesOfPart + len(nodes); compiled > maxCompiled {
			return nil, errParts
		}
		return p.scope.newPart(at, number, reason)
	})
	if err == errParts && !whole {
		return compile(s, exprs, true)
	}
	if err != nil {
		return nil, err
	}
	in, err := p.build(nil)
	if err != nil {
		return nil, err
	}
	p.pool.Put(in)
	if p.paths = in.leaves.paths; len(p.paths) == 0 && len(p.scope.names) > 0 {
		p.idle = p.scope.names[0]
	}
	return p, nil
}

// named adds to an error which fields occur in the text although their names are not
// words of the language, as in a-b, which is a difference.
func (s *scope) named(e *Error, text string) *Error {
	for _, name := range s.names {
		if !word().MatchString(strings.ReplaceAll(name, ".", "_")) && strings.Contains(text, name) && !strings.Contains(text, "$env") {
			e.Message += fmt.Sprintf("; write the field %s as $env[%q]", name, name)
		}
	}
	return e
}

// Fields returns the paths of the fields that the program reads.
func (p *Program) Fields() []string { return slices.Clone(p.paths) }

// Type returns the type of expression i.
func (p *Program) Type(i int) Type { return p.types[i] }

// Explain says what is evaluated column by column, and what by the virtual machine, and why.
func (p *Program) Explain() string {
	var b strings.Builder
	for i, e := range p.exprs {
		fmt.Fprintf(&b, "%s: %s\n", e.text, p.types[i])
		if len(p.parts[i]) == 0 {
			b.WriteString("  column by column\n")
			continue
		}
		for _, number := range slices.Sorted(maps.Keys(p.parts[i])) {
			part := p.parts[i][number]
			fmt.Fprintf(&b, "  in the virtual machine, entry by entry: %v (%s)\n", part.at.node, part.reason)
		}
	}
	return b.String()
}

// A Batch holds the values that the expressions of a Program have in entries that follow each
// other. It and all slices in it are valid until the loop that it comes from goes on.
type Batch struct {
	First  int64            // number of the first entry
	Len    int              // number of entries, at least one
	Values []*rntuple.Array // a value per entry of each expression
}

// batchSize is how many entries are evaluated at a time.
const batchSize = 1 << 13

// errOther says that an expression has no type that Arrays have.
var errOther = errors.New("has no values of one type, which float(...), int(...) or string(...) would make")

// In yields the values of the entries of s in r, in batches. s has the fields of the source
// that the program was compiled for: that source, another with the same context, one of the
// inputs of a Chain. In may be called by several goroutines at the same time.
//
// Values are Arrays of the shape Scalar, with []bool, []int64 or []float64; String; Collection
// of these; with an Optional around them if Type says that they may be missing. An expression
// of another kind is an error, as is what the virtual machine reports of an entry.
func (p *Program) In(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for i, t := range p.types {
			if t.Kind == Other {
				yield(nil, &Error{Message: fmt.Sprintf("%s %v", p.exprs[i].text, errOther)})
				return
			}
		}
		in := p.instance()
		defer p.pool.Put(in)
		in.begin(s, r.First)
		b := new(Batch)
		for from, err := range p.read(s, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			*b = Batch{from.First, from.Len, b.Values[:0]}
			err := in.evaluate(s, from, func(r *run) {
				for _, values := range in.outputs {
					b.Values = append(b.Values, values(r))
				}
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// read yields batches of the fields that the program needs.
func (p *Program) read(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error] {
	paths := p.paths
	if len(paths) == 0 && p.idle != "" {
		paths = []string{p.idle}
	}
	return rntuple.BatchesIn(s, r.First, r.End, rntuple.BatchOptions{Fields: paths, Size: batchSize})
}
