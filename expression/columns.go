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
	// Type is the C++ type of the field, made of numbers, strings, collections and
	// optionals, which must go with the Type of the expression: float for one of floats,
	// for example. Empty: bool, std::int64_t, double or std::string, vectors of them, and
	// optionals where a value or an item may be missing.
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
func (f Fields) Columns(s rntuple.Source) ([]*schema.FieldDocument, func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], error) {
	values := make([]*Expression, len(f))
	for i, one := range f {
		values[i] = one.Value.With(f[:i].Definitions()...)
	}
	p, err := Compile(s, values...)
	if err != nil {
		return nil, nil, err
	}
	docs := make([]*schema.FieldDocument, len(f))
	for i, one := range f {
		if docs[i], err = one.document(p.Type(i)); err != nil {
			return nil, nil, err
		}
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

// document returns the description of the field if its expression has the given type.
func (f Field) document(t Type) (*schema.FieldDocument, error) {
	if t.Kind == Other {
		return nil, &Error{Message: fmt.Sprintf("%s %v", f.Value, errOther)}
	}
	typ := f.Type
	if typ == "" {
		typ = t.cpp()
	}
	doc, err := schema.FieldOf(f.Name, typ)
	if err != nil {
		return nil, err
	}
	if !t.fits(doc) {
		return nil, &Error{Message: fmt.Sprintf("the field %q of type %s does not take %v: %v%s", f.Name, doc.Type, t, f.Value, f.withMissing(t, doc))}
	}
	if doc.Description = f.Description; doc.Description == "" {
		doc.Description = f.Value.String()
	}
	return doc, nil
}

// withMissing says how a field takes values of a type that may be missing, if it takes others of that type.
func (f Field) withMissing(t Type, doc *schema.FieldDocument) string {
	present := t
	present.Missing, present.Items = false, false
	switch {
	case t.Items && present.fits(doc):
		return fmt.Sprintf("; write %s:%s=...", f.Name, t.cpp())
	case !t.Missing || !present.fits(doc):
		return ""
	case t.Depth > 0:
		return fmt.Sprintf("; write %s:optional<%s>=...", f.Name, f.Type)
	}
	absent := map[Kind]string{Bool: "false", Int: "-1", Float: "-1", String: `""`}[t.Kind]
	return fmt.Sprintf("; write %s:optional<%s>=..., or give a default: (...) ?? %s", f.Name, f.Type, absent)
}

// cpp returns the C++ type for all values of a type.
func (t Type) cpp() string {
	s := map[Kind]string{Bool: "bool", Int: "std::int64_t", Float: "double", String: "std::string"}[t.Kind]
	if t.Items {
		s = "std::optional<" + s + ">"
	}
	for range t.Depth {
		s = "std::vector<" + s + ">"
	}
	if t.Missing {
		s = "std::optional<" + s + ">"
	}
	return s
}

// fits reports whether values of the type can be written to a field, if they are in range.
func (t Type) fits(f *schema.FieldDocument) bool {
	switch {
	case t.Missing:
		t.Missing = false
		optional := strings.HasPrefix(f.Type, "std::optional<") || strings.HasPrefix(f.Type, "std::unique_ptr<")
		return optional && t.fits(f.Fields[0])
	case t.Depth > 0:
		if t.Depth--; t.Depth == 0 {
			t.Missing = t.Items
		}
		vector := strings.HasPrefix(f.Type, "std::vector<") || strings.HasPrefix(f.Type, "ROOT::VecOps::RVec<")
		return vector && t.fits(f.Fields[0])
	}
	switch t.Kind {
	case Bool:
		return f.Type == "bool"
	case Int:
		name, ok := strings.CutSuffix(strings.TrimPrefix(f.Type, "std::"), "_t")
		return ok && strings.HasPrefix(strings.TrimPrefix(name, "u"), "int")
	case Float:
		return f.Type == "float" || f.Type == "double"
	}
	return f.Type == "std::string"
}
