package expression

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

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
}

// String returns the type in words, such as "array of float".
func (t Type) String() string {
	s := strings.Repeat("array of ", t.Depth) + t.Kind.String()
	if t.Missing {
		s += ", may be missing"
	}
	return s
}

// A Program is expressions compiled for the fields of a source. It is safe for concurrent use.
type Program struct {
	texts  []string
	exprs  []*Expression
	types  []Type
	fields []*input // that must be read
	idle   string   // path of a field to read if none must be

	programs []*vm.Program
	pool     sync.Pool // of *instance
}

// Compile checks that expressions fit the fields of s, and prepares their evaluation. The error
// is an *Error that names the field, and suggests another for a misspelt name. Only metadata is
// read.
func Compile(s rntuple.Source, e ...*Expression) (*Program, error) { return compile(s, e) }

func compile(s rntuple.Source, exprs []*Expression) (*Program, error) {
	sc := newScope(s)
	p := &Program{exprs: exprs}
	u := newUses(sc)
	for _, e := range exprs {
		p.texts = append(p.texts, e.text)
		tree := e.tree()
		u.text = tree.Source
		ast.Walk(&tree.Node, u)
		if u.err == nil && u.env > 0 {
			u.err = &Error{Message: `$env can only be used as $env["name"]`}
		}
		if u.err != nil {
			return nil, u.err
		}
	}
	p.fields = u.needed()
	env := sc.env()
	for _, e := range exprs {
		program, t, err := translate(e.tree(), env)
		if err != nil {
			return nil, sc.named(sc.suggest(explain(err)), e.text)
		}
		p.programs = append(p.programs, program)
		p.types = append(p.types, t)
	}
	if len(p.fields) == 0 && len(sc.names) > 0 {
		p.idle = sc.names[0]
	}
	return p, nil
}

// suggest makes an error about an unknown name say which field may be meant.
func (s *scope) suggest(e *Error) *Error {
	if name, ok := strings.CutPrefix(e.Message, "unknown name "); ok {
		if _, err := s.lookup(name); err != nil {
			e.Message = err.Error()
		}
	}
	return e
}

// named adds to an error which fields occur in the text although their names are not
// words of the language, as in a-b, which is a difference.
func (s *scope) named(e *Error, text string) *Error {
	for _, name := range s.names {
		if !word.MatchString(strings.ReplaceAll(name, ".", "_")) && strings.Contains(text, name) && !strings.Contains(text, "$env") {
			e.Message += fmt.Sprintf("; write the field %s as $env[%q]", name, name)
		}
	}
	return e
}

// Fields returns the paths of the fields that the program reads.
func (p *Program) Fields() []string {
	all := make([]string, len(p.fields))
	for i, f := range p.fields {
		all[i] = f.path
	}
	return all
}

// Type returns the type of expression i.
func (p *Program) Type(i int) Type { return p.types[i] }

// Explain says how each expression is evaluated.
func (p *Program) Explain() string {
	var b strings.Builder
	for i, text := range p.texts {
		fmt.Fprintf(&b, "%s\n  %s\n", text, p.types[i])
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
				yield(nil, &Error{Message: fmt.Sprintf("%s %v", p.texts[i], errOther)})
				return
			}
		}
		in := p.instance()
		defer p.pool.Put(in)
		b := new(Batch)
		for from, err := range p.read(s, r) {
			if err == nil {
				err = in.load(from)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			*b = Batch{from.First, from.Len, b.Values[:0]}
			for i := range p.types {
				a, err := in.values(i)
				if err != nil {
					yield(nil, err)
					return
				}
				b.Values = append(b.Values, a)
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// read yields batches of the fields that the program needs.
func (p *Program) read(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error] {
	paths := p.Fields()
	if len(paths) == 0 && p.idle != "" {
		paths = []string{p.idle}
	}
	return rntuple.BatchesIn(s, r.First, r.End, rntuple.BatchOptions{Fields: paths, Size: batchSize})
}

// typeOf returns the Type of values of a Go type.
func typeOf(t reflect.Type) (out Type) {
	for ; t.Kind() == reflect.Slice; t = t.Elem() {
		out.Depth++
	}
	switch t.Kind() {
	case reflect.Bool:
		out.Kind = Bool
	case reflect.Int, reflect.Int64:
		out.Kind = Int
	case reflect.Float64:
		out.Kind = Float
	case reflect.String:
		out.Kind = String
	default:
		return Type{Kind: Other, Missing: true}
	}
	return out
}
