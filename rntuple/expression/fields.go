package expression

import (
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An input is a field: a variable of an expression, or a member of one that is a record.
type input struct {
	name, path string
	above      []string        // the names of the records that it is in
	array      *columnar.Array // without values; nil for a source of a Join
	members    []*input        // of records that are not tuples, and sources of a Join
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
func newInput(name, path string, above []string, a *columnar.Array) *input {
	f := &input{name: name, path: path, above: above, array: a}
	if a.Shape == schema.Record && !a.Field.IsTuple() {
		for _, c := range a.Children {
			f.members = append(f.members, newInput(c.Name, path+"."+c.Name, append(slices.Clip(above), name), c))
		}
	}
	return f
}

// valueOf returns the value of a field, which may be one of another source of a Join.
func (b *builder) valueOf(f *input, joined bool) (value, error) {
	if f.array != nil {
		return branch{builder: b, path: f.path, array: f.array, dom: b.entries, joined: joined}.value()
	}
	var names []string
	for _, m := range f.members {
		names = append(names, m.name)
	}
	return value{of: b.entries, record: b.record(names, len(names),
		func(i int) (value, error) { return b.valueOf(f.members[i], true) })}, nil
}
