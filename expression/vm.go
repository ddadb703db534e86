package expression

import (
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// env returns the types of the fields that expressions name.
func (s *scope) env() types.Map {
	env := types.Map{}
	for name, f := range s.fields {
		env[name] = f.typ()
	}
	return env
}

// typ returns the type of a field in the virtual machine.
func (f *input) typ() types.Type {
	if f.array != nil {
		return valuesOf(f.array).typ()
	}
	members := types.Map{}
	for _, m := range f.members {
		members[m.name] = m.typ()
	}
	return members
}

// check applies the language's checker to a tree. It also changes the tree: operators that are
// not those of the language become calls.
func check(tree *parser.Tree, env types.Map) (Type, *conf.Config, error) {
	config := conf.New(env)
	t, err := new(checker.Checker).PatchAndCheck(tree, config)
	if err != nil {
		return Type{}, nil, err
	}
	return typeOf(t), config, nil
}

// translate makes a program of the virtual machine.
func translate(tree *parser.Tree, env types.Map) (*vm.Program, Type, error) {
	t, config, err := check(tree, env)
	if err != nil {
		return nil, t, err
	}
	program, err := compiler.Compile(tree, config)
	return program, t, err
}

// variables give the virtual machine the values of fields, entry by entry.
type variables struct {
	env map[string]any
	all []variable
}

// A variable puts the values of a field where the virtual machine looks them up.
type variable struct {
	values
	in    map[string]any
	name  string
	place int // of the field among those that are read
}

// newVariables returns the variables of fields, whose values are the Arrays of a batch.
func newVariables(fields []*input) *variables {
	v := &variables{env: map[string]any{}}
	for i, f := range fields {
		in := v.env
		for _, record := range f.above {
			if in[record] == nil {
				in[record] = map[string]any{}
			}
			in = in[record].(map[string]any)
		}
		v.all = append(v.all, variable{valuesOf(f.array), in, f.name, i})
	}
	return v
}

// set sets the variables to their values in an entry of the batch.
func (v *variables) set(i int) {
	for _, x := range v.all {
		x.in[x.name] = x.at(i)
	}
}
