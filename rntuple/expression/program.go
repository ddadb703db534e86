package expression

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
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

	scope   *scope
	outputs func(b *builder, i int, v value) (output, error) // of expression i; nil if it has none
	pool    sync.Pool                                        // of *instance
}

// Compile checks that expressions fit the fields of s, and prepares their evaluation. The error
// is an *Error that names the field, and suggests another for a misspelt name. Only metadata is
// read.
func Compile(s rntuple.Source, e ...*Expression) (*Program, error) {
	return compile(s, e, plainOutput)
}

// plainOutput returns the output of an expression for no field.
func plainOutput(b *builder, _ int, v value) (output, error) {
	if v.typ().Kind == Other {
		return nil, nil
	}
	return (&target{builder: b}).output(v, nil), nil
}

func compile(s rntuple.Source, e []*Expression,
	outputs func(b *builder, i int, v value) (output, error)) (*Program, error) {
	p := &Program{exprs: e, scope: newScope(s), outputs: outputs}
	in, types, err := p.build()
	if err != nil {
		return nil, err
	}
	p.types = types
	p.pool.Put(in)
	if p.paths = in.leaves.paths; len(p.paths) == 0 && len(p.scope.names) > 0 {
		p.idle = p.scope.names[0]
	}
	return p, nil
}

// Fields returns the paths of the fields that the program reads.
func (p *Program) Fields() []string { return slices.Clone(p.paths) }

// CanFail reports whether an entry can make the evaluation fail: not for want of memory, or of a
// file that can be read, but because a value of an expression is an error.
func (p *Program) CanFail() bool {
	in := p.instance()
	defer p.pool.Put(in)
	return len(in.leaves.checks) > 0
}

// Type returns the type of expression i.
func (p *Program) Type(i int) Type { return p.types[i] }

// A Batch holds the values that the expressions of a Program have in entries that follow each
// other. It and all slices in it are valid until the loop that it comes from goes on.
type Batch struct {
	First  int64             // number of the first entry
	Len    int               // number of entries, at least one
	Values []*columnar.Array // a value per entry of each expression; the function Values has them as Go values
}

// errOther says that an expression has no type that Arrays have.
var errOther = errors.New("has no values of one type; take a member of a record, or convert what a variant holds: float(...), int(...), string(...)")

// In yields the values of the entries of s in r, in batches. s has the fields of the source
// that the program was compiled for: that source, another with the same context, one of the
// inputs of a Chain. In may be called by several goroutines at the same time.
//
// Values are Arrays of the shape Scalar, with []bool, []int64 or []float64; String; Collection
// of these; with an Optional around them if Type says that they may be missing. An expression
// of another kind is an error. An error of an entry ends the loop.
func (p *Program) In(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		in := p.instance()
		defer p.pool.Put(in)
		if i := slices.IndexFunc(in.outputs, func(o output) bool { return o == nil }); i >= 0 {
			yield(nil, &Error{Message: fmt.Sprintf("%s %v", p.exprs[i].text, errOther)})
			return
		}
		in.begin(s, r.First)
		b := new(Batch)
		for from, err := range p.evaluated(in, s, r, func(r *run) {
			b.Values = b.Values[:0]
			for _, values := range in.outputs {
				b.Values = append(b.Values, values(r))
			}
		}) {
			if err != nil {
				yield(nil, err)
				return
			}
			*b = Batch{from.First, from.Len, b.Values}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Explain returns a text for users with the types of the expressions and the paths of the fields
// that are read.
func (p *Program) Explain() string {
	var b strings.Builder
	for i, e := range p.exprs {
		fmt.Fprintf(&b, "%s: %s\n", e.text, p.types[i])
	}
	fmt.Fprintf(&b, "fields that are read: %s\n", cmp.Or(strings.Join(p.paths, ", "), "none"))
	return b.String()
}
