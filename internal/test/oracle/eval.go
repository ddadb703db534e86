package oracle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/value"
)

// A TypeError is an error of an expression, before any entry.
type TypeError struct {
	Pos  int
	Text string
}

// An EntryError is an error of an entry.
type EntryError TypeError

func (e *TypeError) Error() string  { return fmt.Sprintf("character %d: %s", e.Pos+1, e.Text) }
func (e *EntryError) Error() string { return fmt.Sprintf("character %d: %s", e.Pos+1, e.Text) }

// A Program is an expression that has been checked.
type Program struct {
	Type Type
	root node
}

// Check checks an expression. The error is a *TypeError.
func Check(n syntax.Node, fields map[string]Type) (p *Program, err error) {
	defer caught[*TypeError](&err)
	c := &checker{fields: fields}
	root := c.check(n)
	return &Program{root.Type, root}, nil
}

// Eval returns the value that the expression has in an entry. The error is an *EntryError.
func (p *Program) Eval(fields map[string]any) (v any, err error) {
	defer caught[*EntryError](&err)
	return p.root.eval(&frame{fields: fields}), nil
}

func caught[E error](err *error) {
	if r := recover(); r != nil {
		e, ok := r.(E)
		if !ok {
			panic(r)
		}
		*err = e
	}
}

// An Env is the variables of one entry.
type Env struct {
	Types  map[string]Type
	Values map[string]any
}

// Eval checks an expression and evaluates it in one entry.
func Eval(n syntax.Node, env Env) (any, error) {
	p, err := Check(n, env.Types)
	if err != nil {
		return nil, err
	}
	return p.Eval(env.Values)
}

// A node is a checked part of an expression.
type node struct {
	Type
	eval func(f *frame) any
}

// A frame is what the names of an expression stand for while it is evaluated.
type frame struct {
	fields map[string]any
	lets   []any
	items  []item // the last one is that of the innermost predicate
}

type item struct {
	value, acc any
	index      int64
}

// in returns a frame with another item.
func (f *frame) in(i item) *frame {
	return &frame{f.fields, f.lets, append(slices.Clone(f.items), i)}
}

// A checker is the same for types.
type checker struct {
	fields map[string]Type
	lets   []let
	items  []itemTypes
}

type let struct {
	name string
	Type
}

type itemTypes struct {
	value Type
	acc   *Type // in reduce
}

func fail(n syntax.Node, format string, args ...any) {
	panic(&TypeError{n.Pos(), fmt.Sprintf(format, args...)})
}

func failEntry(n syntax.Node, format string, args ...any) {
	panic(&EntryError{n.Pos(), fmt.Sprintf(format, args...)})
}

func must(n syntax.Node, t Type, err error) Type {
	if err != nil {
		fail(n, "%v", err)
	}
	return t
}

// constant returns the node of a literal.
func constant(t Type, v any) node { return node{t, func(*frame) any { return v }} }

func (c *checker) check(n syntax.Node) node {
	switch n := n.(type) {
	case *syntax.Nil:
		return constant(Type{Missing: true}, nil)
	case *syntax.Bool:
		return constant(boolean, n.Value)
	case *syntax.Int:
		return constant(integer, n.Value)
	case *syntax.Float:
		return constant(float, n.Value)
	case *syntax.String:
		return constant(str, n.Value)
	case *syntax.Name:
		return c.name(n)
	case *syntax.Item:
		return c.item(n)
	case *syntax.Unary:
		return c.unary(n)
	case *syntax.Binary:
		return c.binary(n)
	case *syntax.Cond:
		return c.cond(n)
	case *syntax.Member:
		x := c.check(n.X)
		if x.Kind == Map {
			return c.index(n, x, constant(str, n.Name))
		}
		return member(n, x, n.Name)
	case *syntax.Index:
		return c.checkIndex(n, n.X, n.At)
	case *syntax.Slice:
		return c.slice(n)
	case *syntax.Call:
		return c.call(n)
	case *syntax.Let:
		return c.let(n)
	case *syntax.Array:
		return c.array(n)
	case *syntax.Record:
		return c.record(n)
	}
	fail(n, "unexpected %T", n)
	return node{}
}

func (c *checker) cond(n *syntax.Cond) node {
	cond, then, els := c.check(n.If), c.check(n.Then), c.check(n.Else)
	if !cond.is(Bool, Nil) {
		fail(n, "the condition is %v", cond.Type)
	}
	t, err := unify(then.Type, els.Type)
	return node{must(n, t, err), func(f *frame) any {
		if cond.eval(f) == true {
			return coerce(then.eval(f), t)
		}
		return coerce(els.eval(f), t)
	}}
}

func (c *checker) let(n *syntax.Let) node {
	v := c.check(n.Value)
	c.lets = append(c.lets, let{n.Name, v.Type})
	x := c.check(n.X)
	c.lets = c.lets[:len(c.lets)-1]
	return node{x.Type, func(f *frame) any {
		return x.eval(&frame{f.fields, append(slices.Clone(f.lets), v.eval(f)), f.items})
	}}
}

func (c *checker) record(n *syntax.Record) node {
	t, members := Type{Kind: Record, Names: n.Names}, []node{}
	for _, m := range n.Values {
		members = append(members, c.check(m))
		t.Members = append(t.Members, members[len(members)-1].Type)
	}
	return node{t, func(f *frame) any { return value.Record{Names: n.Names, Values: evalAll(members, f)} }}
}

// read returns the value that a name, an item or a member stands for. It is an error if an integer
// in it is too large; the members of records and tuples are looked at where they are taken.
func read(n syntax.Node, v any) any {
	switch v := v.(type) {
	case tooLarge:
		failEntry(n, "%d is beyond 64 bits with a sign", v)
	case []any:
		for _, item := range v {
			read(n, item)
		}
	}
	return v
}

func (c *checker) name(n *syntax.Name) node {
	for i, l := range slices.Backward(c.lets) {
		if l.name == n.Name && !n.Quoted {
			return node{l.Type, func(f *frame) any { return f.lets[i] }}
		}
	}
	t, ok := c.fields[n.Name]
	if !ok {
		fail(n, "no field %s", n.Name)
	}
	return node{t, func(f *frame) any { return read(n, f.fields[n.Name]) }}
}

func (c *checker) item(n *syntax.Item) node {
	depth := len(c.items) - 1
	if depth < 0 {
		fail(n, "# is outside of a predicate")
	}
	switch top := c.items[depth]; {
	case n.Name == "index":
		return node{integer, func(f *frame) any { return f.items[depth].index }}
	case n.Name == "acc" && top.acc == nil:
		fail(n, "#acc is outside of reduce")
	case n.Name == "acc":
		return node{*top.acc, func(f *frame) any { return f.items[depth].acc }}
	}
	return node{c.items[depth].value, func(f *frame) any { return f.items[depth].value }}
}

func member(n syntax.Node, x node, name string) node {
	t, ok := x.member(name)
	if !ok {
		fail(n, "%v has no member %s", x.Type, name)
	}
	return node{t, func(f *frame) any {
		if r, ok := x.eval(f).(value.Record); ok {
			return read(n, r.Get(name))
		}
		return nil
	}}
}

func (c *checker) array(n *syntax.Array) node {
	var items []node
	var types []Type
	for _, i := range n.Items {
		items = append(items, c.check(i))
		types = append(types, items[len(items)-1].Type)
	}
	t := Type{Kind: Array}
	if len(items) > 0 {
		elem, err := unifyAll(types)
		t = ArrayOf(must(n, elem, err))
	}
	return node{t, func(f *frame) any {
		all := []any{}
		for _, i := range items {
			all = append(all, coerce(i.eval(f), t.elem()))
		}
		return all
	}}
}

// checkIndex checks x[at].
func (c *checker) checkIndex(n, of, at syntax.Node) node {
	x := c.check(of)
	name, isName := at.(*syntax.String)
	i, isInt := at.(*syntax.Int)
	switch {
	case x.Kind == Record && isName:
		return member(n, x, name.Value)
	case x.Kind == Tuple && isInt:
		if i.Value >= int64(len(x.Members)) {
			fail(n, "%v has no member %d", x.Type, i.Value)
		}
		return node{x.Members[i.Value].optional(x.Missing), func(f *frame) any {
			if all, ok := x.eval(f).(tuple); ok {
				return read(n, all[i.Value])
			}
			return nil
		}}
	}
	return c.index(n, x, c.check(at))
}

func (c *checker) index(n syntax.Node, x, at node) node {
	both := func(t Type, get func(v []any, at any) any) node {
		return node{t, func(f *frame) any {
			v, at := x.eval(f), at.eval(f)
			if v == nil || at == nil {
				return nil
			}
			return get(v.([]any), at)
		}}
	}
	switch {
	case x.Kind == Map:
		pair := x.elem()
		comparable(n, "==", pair.Members[0], at.Type)
		return both(pair.Members[1].optional(true), func(v []any, at any) any {
			for _, pair := range v {
				if k := read(n, pair.(value.Record).Get("key")); k != nil && equal(k, at) {
					return read(n, pair.(value.Record).Get("value"))
				}
			}
			return nil
		})
	case x.Kind != Array:
		fail(n, "%v has no items", x.Type)
	case at.is(Int, Nil):
		return both(x.elem().optional(true), func(v []any, at any) any { return itemAt(v, at.(int64)) })
	case at.Kind == Array && at.elem().is(Int, Nil):
		t := x.Type.optional(!at.Strict || at.Missing)
		t.Strict = false
		return both(t, func(v []any, indices any) any {
			items := []any{}
			for _, i := range indices.([]any) {
				k, ok := i.(int64)
				if inside := ok && k >= -int64(len(v)) && k < int64(len(v)); !inside {
					if at.Strict {
						failEntry(n, "index %v of %d items", i, len(v))
					}
					return nil
				}
				items = append(items, itemAt(v, k))
			}
			return items
		})
	case at.Kind == Array && at.elem().Kind == Bool:
		return both(x.Type.optional(at.Missing), func(v []any, mask any) any {
			if len(mask.([]any)) != len(v) {
				failEntry(n, "%d bools choose of %d items", len(mask.([]any)), len(v))
			}
			items := []any{}
			for i, yes := range mask.([]any) {
				if yes == true {
					items = append(items, v[i])
				}
			}
			return items
		})
	}
	fail(n, "an index is %v", at.Type)
	return node{}
}

// itemAt returns v[i], of which a negative i counts from the end, or nil if there is none.
func itemAt(v []any, i int64) any {
	if i < 0 {
		i += int64(len(v))
	}
	if i < 0 || i >= int64(len(v)) {
		return nil
	}
	return v[i]
}

func (c *checker) slice(n *syntax.Slice) node {
	x := c.check(n.X)
	if !x.is(Array, String) {
		fail(n, "%v has no slices", x.Type)
	}
	bound := func(n syntax.Node, otherwise int64) node {
		if n == nil {
			return constant(integer, otherwise)
		}
		b := c.check(n)
		if !b.is(Int, Nil) {
			fail(n, "a bound is %v", b.Type)
		}
		return b
	}
	from, to := bound(n.From, 0), bound(n.To, math.MaxInt64)
	return node{x.optional(from.Missing || to.Missing), func(f *frame) any {
		v, a, b := x.eval(f), from.eval(f), to.eval(f)
		if v == nil || a == nil || b == nil {
			return nil
		}
		return cut(v, a.(int64), b.(int64))
	}}
}

// cut returns v[from:to] of an array or of the characters of a string.
func cut(v any, from, to int64) any {
	items, isArray := v.([]any)
	characters := []string{}
	if !isArray {
		characters = strings.Split(v.(string), "")
	}
	length := int64(len(items) + len(characters))
	place := func(i int64) int64 {
		if i < 0 {
			i += length
		}
		return min(max(i, 0), length)
	}
	from, to = place(from), place(to)
	to = max(from, to)
	if isArray {
		return slices.Clone(items[from:to])
	}
	return strings.Join(characters[from:to], "")
}

// lift applies f to scalars, or item by item to arrays of the same length, with scalars beside them
// the same for all items. An array is missing if an operand is; f sees what of scalars is missing.
func lift(n syntax.Node, types []Type, args []any, f func(types []Type, args []any) any) any {
	length := -1
	for i, t := range types {
		if t.Kind == Array {
			if slices.Contains(nils(args), true) {
				return nil
			}
			if k := len(args[i].([]any)); length >= 0 && k != length {
				failEntry(n, "arrays of %d and %d items", length, k)
			} else {
				length = k
			}
		}
	}
	if length < 0 {
		return f(types, args)
	}
	items := []any{}
	for i := range length {
		itemTypes, itemArgs := slices.Clone(types), slices.Clone(args)
		for k, t := range types {
			if t.Kind == Array {
				itemTypes[k], itemArgs[k] = t.elem(), args[k].([]any)[i]
			}
		}
		items = append(items, lift(n, itemTypes, itemArgs, f))
	}
	return items
}

// liftType returns the type of what lift returns, given that of f.
func liftType(types []Type, f func(types []Type) Type) Type {
	items, missing, isArray := slices.Clone(types), false, false
	for i, t := range types {
		missing = missing || t.Missing
		if t.Kind == Array {
			isArray, items[i] = true, t.elem()
		} else if t.Kind != Nil {
			items[i].Missing = false // where there are arrays
		}
	}
	if !isArray {
		return f(types)
	}
	return ArrayOf(liftType(items, f)).optional(missing)
}

// nils reports which values are missing.
func nils(args []any) (missing []bool) {
	for _, v := range args {
		missing = append(missing, v == nil)
	}
	return missing
}

// itemwise returns the node of an operation on scalars and, item by item, on arrays.
func itemwise(n syntax.Node, args []node, typ func(types []Type) Type, f func(types []Type, args []any) any) node {
	var types []Type
	for _, x := range args {
		types = append(types, x.Type)
	}
	return node{liftType(types, typ), func(frame *frame) any {
		return lift(n, types, evalAll(args, frame), f)
	}}
}

func evalAll(args []node, f *frame) (values []any) {
	for _, x := range args {
		values = append(values, x.eval(f))
	}
	return values
}

// whenAll returns a function of scalars that is otherwise if one is missing.
func whenAll(otherwise any, f func(types []Type, args []any) any) func(types []Type, args []any) any {
	return func(types []Type, args []any) any {
		if slices.Contains(nils(args), true) {
			return otherwise
		}
		return f(types, args)
	}
}

func anyMissing(types []Type) bool {
	return slices.ContainsFunc(types, func(t Type) bool { return t.Missing })
}
