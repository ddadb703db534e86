package where

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Condition is an expression that is true or false of an entry. It is safe for
// concurrent use.
type Condition struct{ text string }

// Parse returns the condition of an expression. The error, an *Error, is about its
// syntax; Check says whether it fits an RNTuple's fields.
func Parse(text string) (*Condition, error) {
	if _, err := parser.Parse(text); err != nil {
		e := explain(err, nil)
		if m := colons.FindString(text); m != "" && !strings.Contains(text, "$env") {
			e.Message += fmt.Sprintf("; if %s is a field, write $env[%q]", m, m)
		}
		return nil, e
	}
	return &Condition{text}, nil
}

// colons matches names with colons, which fields may have and words of the language
// may not.
var colons = regexp.MustCompile(`[\pL_][\pL\d_]*(:+[\pL_][\pL\d_]*)+`)

// String returns the text of the expression.
func (c *Condition) String() string { return c.text }

// An Error says what is wrong with an expression, or with its value for an entry.
type Error struct {
	Line, Column int // counted from 1; 0 if unknown
	Message      string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return "expression: " + e.Message
	case e.Line == 1:
		return fmt.Sprintf("expression, character %d: %s", e.Column, e.Message)
	}
	return fmt.Sprintf("expression, line %d, character %d: %s", e.Line, e.Column, e.Message)
}

// explain returns an error of the language as an *Error. If it is about an unknown
// name, and there is a source, the message says which field may be meant.
func explain(err error, s rntuple.Source) *Error {
	var at *file.Error
	if !errors.As(err, &at) {
		return &Error{Message: err.Error()}
	}
	e := &Error{at.Line, at.Column + 1, at.Message}
	if name, ok := strings.CutPrefix(at.Message, "unknown name "); ok && s != nil {
		if _, err := rntuple.FieldOf(s, name); err != nil {
			e.Message = err.Error()
		}
	}
	return e
}

// named adds to an error which fields occur in the text although their names are not
// words of the language, as in a-b, which is a difference.
func named(e *Error, text string, fields []*schema.Field) *Error {
	for _, f := range fields {
		if !word.MatchString(f.Name) && strings.Contains(text, f.Name) && !strings.Contains(text, "$env") {
			e.Message += fmt.Sprintf("; write the field %s as $env[%q]", f.Name, f.Name)
		}
	}
	return e
}

// word matches the names that the language has for variables.
var word = regexp.MustCompile(`^[\pL_$][\pL\d_$]*$`)

// batch is how many entries are read at a time.
const batch = 1000

// Check implements rntuple.Condition. The error, an *Error, says that the condition does
// not fit the fields of s.
func (c *Condition) Check(s rntuple.Source) error {
	_, _, _, err := c.prepare(s)
	return err
}

// prepare compiles the condition for the fields of s. Only the fields that the condition
// names are read, and of records only the members that it names.
func (c *Condition) prepare(s rntuple.Source) (program *vm.Program, variables []*variable, env map[string]any, err error) {
	program, uses, err := c.compile(s)
	if err != nil {
		return nil, nil, nil, err
	}
	env = map[string]any{}
	for _, chain := range uses {
		v, err := newVariable(s, chain, env)
		if err != nil {
			return nil, nil, nil, err
		}
		variables = append(variables, v)
	}
	return program, variables, env, nil
}

// Select implements rntuple.Condition. Errors about values name the entry.
func (c *Condition) Select(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		program, variables, env, err := c.prepare(s)
		if err != nil {
			yield(rntuple.EntryRange{}, err)
			return
		}
		var machine vm.VM
		var run rntuple.EntryRange
		for first := r.First; first < r.End; first += batch {
			n := int(min(batch, r.End-first))
			for _, v := range variables {
				if err := v.load(first, n); err != nil {
					yield(run, err)
					return
				}
			}
			for i := range n {
				for _, v := range variables {
					v.set(i)
				}
				entry := first + int64(i)
				result, err := machine.Run(program, env)
				switch {
				case err != nil:
					yield(run, fmt.Errorf("entry %d: %w", entry, explain(err, nil)))
					return
				case result != true:
				case run.End == entry:
					run.End++
				default:
					if !yield(run, nil) {
						return
					}
					run = rntuple.EntryRange{First: entry, End: entry + 1}
				}
			}
		}
		yield(run, nil)
	}
}

// compile compiles the condition for a schema. It also returns the fields that must
// be read, each after the records that it is in.
func (c *Condition) compile(s rntuple.Source) (*vm.Program, [][]*schema.Field, error) {
	env := types.Map{}
	var fields []*schema.Field
	for _, name := range rntuple.FieldNames(s) {
		f, err := rntuple.FieldOf(s, name)
		if err != nil {
			return nil, nil, err
		}
		fields = append(fields, f)
		env[f.Name] = typeOf(f)
	}
	u := &usage{top: fields, of: map[ast.Node][]*schema.Field{}, count: map[*schema.Field]int{}}
	program, err := expr.Compile(c.text, expr.Env(env), expr.AsBool(), expr.Patch(u))
	if err != nil {
		return nil, nil, named(explain(err, s), c.text, fields)
	}
	if u.env > 0 {
		return nil, nil, &Error{Message: `$env can only be used as $env["name"]`}
	}
	var chains [][]*schema.Field
	for _, chain := range u.chains {
		if f := chain[len(chain)-1]; u.count[f] > 0 {
			chains = append(chains, chain)
			u.count[f] = 0
		}
	}
	// A record that is read as a whole includes its members.
	whole := func(f *schema.Field) bool {
		return slices.ContainsFunc(chains, func(chain []*schema.Field) bool { return chain[len(chain)-1] == f })
	}
	return program, slices.DeleteFunc(slices.Clone(chains), func(chain []*schema.Field) bool {
		return slices.ContainsFunc(chain[:len(chain)-1], whole)
	}), nil
}

// usage collects the fields that an expression uses. It visits the parts of a node
// before the node itself.
type usage struct {
	top    []*schema.Field
	of     map[ast.Node][]*schema.Field // the field that a node is, after the records that it is in
	count  map[*schema.Field]int        // nodes that are the field, except those that only lead to a member
	env    int                          // the same for $env
	chains [][]*schema.Field
}

// Visit implements ast.Visitor.
func (u *usage) Visit(node *ast.Node) {
	fields := func(all []*schema.Field, name string) *schema.Field {
		if i := slices.IndexFunc(all, func(f *schema.Field) bool { return f.Name == name }); i >= 0 {
			return all[i]
		}
		return nil
	}
	use := func(f *schema.Field, above []*schema.Field) {
		if f != nil {
			chain := append(slices.Clone(above), f)
			u.of[*node] = chain
			u.count[f]++
			u.chains = append(u.chains, chain)
		}
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			u.env++
		} else {
			use(fields(u.top, n.Value), nil)
		}
	case *ast.MemberNode:
		name, ok := n.Property.(*ast.StringNode)
		if !ok {
			return
		}
		if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
			u.env--
			use(fields(u.top, name.Value), nil)
			return
		}
		above := u.of[n.Node]
		if len(above) == 0 {
			return
		}
		if record := above[len(above)-1]; record.Shape == schema.Record && !record.IsTuple() {
			if f := fields(record.Children, name.Value); f != nil {
				u.count[record]--
				use(f, above)
			}
		}
	}
}

// typeOf returns the type that a field has in expressions.
func typeOf(f *schema.Field) types.Type {
	if isSimple(f) {
		return types.TypeOf(zero(f))
	}
	switch f.Shape {
	case schema.Wrapper:
		return typeOf(f.Children[0])
	case schema.Bitset:
		return types.Array(types.Bool)
	case schema.Collection, schema.Array:
		if !f.IsMap() {
			return types.Array(typeOf(f.Children[0]))
		}
		key, value := typeOf(f.Children[0].Children[0]), typeOf(f.Children[0].Children[1])
		if key == types.String {
			return types.Map{types.Extra: value}
		}
		return types.Array(types.Map{"key": key, "value": value})
	case schema.Record:
		if f.IsTuple() {
			return types.Array(types.Any)
		}
		members := types.Map{}
		for _, child := range f.Children {
			members[child.Name] = typeOf(child)
		}
		return members
	}
	return types.Any
}
