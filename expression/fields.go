package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An input is a field: a variable of an expression, or a member of one that is a record.
type input struct {
	name, path string
	above      []string       // the names of the records that it is in
	array      *rntuple.Array // without values; nil for a source of a Join
	members    []*input       // of records that are not tuples, and sources of a Join
}

// member returns a member of a record, or nil.
func (f *input) member(name string) *input {
	if i := slices.IndexFunc(f.members, func(m *input) bool { return m.name == name }); i >= 0 {
		return f.members[i]
	}
	return nil
}

// scope finds the fields of a source that expressions name.
type scope struct {
	source rntuple.Source
	names  []string
	fields map[string]*input
}

func newScope(s rntuple.Source) *scope {
	return &scope{s, rntuple.FieldNames(s), map[string]*input{}}
}

// lookup returns the field of a name. The error says which name may be meant.
func (s *scope) lookup(name string) (*input, error) {
	if f := s.fields[name]; f != nil {
		return f, nil
	}
	f := &input{name: name, path: name}
	for _, other := range s.names {
		if member, ok := strings.CutPrefix(other, name+"."); ok && !slices.Contains(s.names, name) {
			arrays, err := rntuple.Shapes(s.source, other)
			if err != nil {
				return nil, err
			}
			f.members = append(f.members, newInput(member, other, []string{name}, arrays[0]))
		}
	}
	if f.members == nil {
		if _, err := rntuple.FieldOf(s.source, name); err != nil {
			return nil, err
		}
		arrays, err := rntuple.Shapes(s.source, name)
		if err != nil {
			return nil, err
		}
		f = newInput(name, name, nil, arrays[0])
	}
	s.fields[name] = f
	return f, nil
}

// newInput returns the field at a path.
func newInput(name, path string, above []string, a *rntuple.Array) *input {
	f := &input{name: name, path: path, above: above, array: a}
	if a.Shape == schema.Record && !a.Field.IsTuple() {
		for _, c := range a.Children {
			f.members = append(f.members, newInput(c.Name, path+"."+c.Name, append(slices.Clip(above), name), c))
		}
	}
	return f
}

// uses finds the fields that a tree names. It visits the parts of a node before the node.
type uses struct {
	*scope
	of    map[ast.Node]*input // the field that a node is
	count map[*input]int      // nodes that are the field, except those that only lead to a member
	env   int                 // the same for $env
	first []*input            // in the order of their first use
	text  file.Source
	err   error
}

// errorAt returns an error about a node.
func errorAt(source file.Source, node ast.Node, format string, args ...any) *Error {
	return explain((&file.Error{Location: node.Location(), Message: fmt.Sprintf(format, args...)}).Bind(source))
}

func newUses(s *scope) *uses {
	return &uses{scope: s, of: map[ast.Node]*input{}, count: map[*input]int{}}
}

// Visit implements ast.Visitor.
func (u *uses) Visit(node *ast.Node) {
	use := func(f *input) {
		if f != nil {
			u.of[*node] = f
			u.count[f]++
			u.first = append(u.first, f)
		}
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			u.env++
		} else if f, err := u.lookup(n.Value); err == nil {
			use(f)
		}
	case *ast.MemberNode:
		name, ok := n.Property.(*ast.StringNode)
		if !ok {
			return
		}
		if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
			u.env--
			f, err := u.lookup(name.Value)
			if err != nil && u.err == nil {
				u.err = errorAt(u.text, n, "%v", err)
			}
			use(f)
			return
		}
		if above := u.of[n.Node]; above != nil {
			if f := above.member(name.Value); f != nil {
				u.count[above]--
				use(f)
			}
		}
	}
}

// distinct removes all but the first of equal elements.
func distinct[T comparable](all []T) (out []T) {
	for i, v := range all {
		if !slices.Contains(all[:i], v) {
			out = append(out, v)
		}
	}
	return out
}

// needed returns the paths of the fields that must be read, sorted by first use.
func (u *uses) needed() (all []*input) {
	whole := map[*input]bool{}
	var mark func(f *input)
	mark = func(f *input) {
		for _, m := range f.members {
			whole[m] = true
			mark(m)
		}
	}
	for _, f := range u.first {
		if u.count[f] > 0 { // a record that is read as a whole includes its members
			mark(f)
		}
	}
	for _, f := range u.first {
		switch {
		case u.count[f] == 0 || whole[f]:
		case f.array == nil: // a source of a Join has no values of its own
			all = append(all, f.members...)
		default:
			all = append(all, f)
		}
	}
	return distinct(all)
}
