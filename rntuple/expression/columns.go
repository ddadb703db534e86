package expression

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Field is a field whose values are those of an expression.
type Field struct {
	Definition
	// Type is the C++ type of the field, which must hold the values of the expression:
	//
	//	Bool     bool
	//	Int      an integer type, float or double
	//	Float    double, or float, which rounds
	//	String   std::string
	//	arrays   std::vector, ROOT::VecOps::RVec or std::array of a type for the items
	//
	// or std::optional or std::unique_ptr of such a type, which it must be where a value is
	// missing. It is an error of the entry if the type cannot hold an integer, or an array
	// because of its length. Empty: bool, std::int64_t, double or std::string, vectors of
	// them, and optionals where a value may be missing.
	Type string
	// Description is that of the field. Empty: the text of the expression.
	Description string
}

// ParseField returns the field of a text such as "mass = hypot(px, py)" or, with a type,
// "mass:float = hypot(px, py)". The error is an *Error if it is about the expression.
func ParseField(text string) (f Field, err error) {
	left, right, ok := strings.Cut(text, "=")
	name, typ, _ := strings.Cut(left, ":")
	f.Name, f.Type = strings.TrimSpace(name), strings.TrimSpace(typ)
	if !ok || f.Name == "" || strings.HasPrefix(right, "=") {
		return f, fmt.Errorf("%q is not NAME=EXPRESSION", text)
	}
	if f.Value, err = Parse(strings.TrimSpace(right)); err != nil {
		return f, fmt.Errorf("%s: %w", f.Name, err)
	}
	return f, nil
}

// Fields are fields to be computed, for surgery.DefineColumns. Their expressions may name
// fields before them.
type Fields []Field

// ParseFields returns the fields of several texts; see ParseField.
func ParseFields(texts ...string) (Fields, error) {
	var all Fields
	for _, text := range texts {
		f, err := ParseField(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other Field) bool { return other.Name == f.Name }) {
			return nil, fmt.Errorf("%q is defined twice", f.Name)
		}
		all = append(all, f)
	}
	return all, nil
}

// Definitions returns the names of the fields with what they stand for, for
// Expression.With.
func (f Fields) Definitions() (all []Definition) {
	for _, one := range f {
		all = append(all, one.Definition)
	}
	return all
}

// Columns implements surgery.Columns. The error is an *Error if an expression does not fit the
// fields of s.
func (f Fields) Columns(s rntuple.Source) ([]*schema.FieldDocument,
	func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], error) {
	values := make([]*Expression, len(f))
	for i, one := range f {
		values[i] = one.Value.With(f[:i].Definitions()...)
	}
	docs := make([]*schema.FieldDocument, len(f))
	p, err := compile(s, values, func(b *builder, i int, v value) (_ output, err error) {
		if docs[i] == nil { // for the first instance; others are for other goroutines
			if docs[i], err = f[i].document(v); err != nil {
				return nil, err
			}
		}
		t := &target{b, fmt.Sprintf("the field %q of type %s", f[i].Name, docs[i].Type)}
		return t.output(v, docs[i]), nil
	})
	if err != nil {
		return nil, nil, err
	}
	in := func(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error] {
		return func(yield func(*rntuple.Batch, error) bool) {
			for b, err := range p.In(s, r) {
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(&rntuple.Batch{First: b.First, Len: b.Len, Columns: b.Values}, nil) {
					return
				}
			}
		}
	}
	return docs, in, nil
}
