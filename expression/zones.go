package expression

import (
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/go-rntuple/go-rntuple/zonemap"
)

// mayHold reports whether a condition can be true for an entry of a cluster of which the
// zones of fields tell. It returns true if that is not known.
//
// It evaluates the condition over what its parts may be, see extent: a comparison whose sides
// cannot meet is false, and so on. Where it knows no better it gives up, never too much.
func mayHold(condition ast.Node, zone func(path string) (zonemap.Zone, bool)) bool {
	r := reckoner{zone: zone, names: map[string]extent{}}
	v := r.eval(condition)
	return v.kind != boolExtent || v.yes
}

// A reckoner evaluates nodes to extents.
type reckoner struct {
	zone  func(path string) (zonemap.Zone, bool)
	items []extent          // what # stands for, the innermost last
	names map[string]extent // of let
}

func (r *reckoner) eval(node ast.Node) extent {
	switch n := node.(type) {
	case *ast.IntegerNode:
		return intsFrom(int64(n.Value), int64(n.Value))
	case *ast.FloatNode:
		return floatsFrom(n.Value, n.Value)
	case *ast.BoolNode:
		return eitherOf(n.Value, !n.Value)
	case *ast.IdentifierNode:
		if v, ok := r.names[n.Value]; ok {
			return v
		}
		return r.field(n.Value)
	case *ast.PointerNode:
		if n.Name == "" && len(r.items) > 0 {
			return r.items[len(r.items)-1]
		}
	case *ast.MemberNode:
		return r.member(n)
	case *ast.SliceNode:
		if a := r.eval(n.Node); a.kind == arrayExtent && !a.missing {
			a.least = 0
			return a
		}
	case *ast.UnaryNode:
		switch v := r.eval(n.Node); n.Operator {
		case "not", "!":
			return v.not()
		case "-":
			return v.negative()
		case "+":
			return v.plus()
		}
	case *ast.BinaryNode:
		return r.binary(n)
	case *ast.ConditionalNode:
		c, a, b := r.eval(n.Cond), r.eval(n.Exp1), r.eval(n.Exp2)
		if c.kind == boolExtent && !c.missing && c.yes != c.no {
			if c.yes {
				return a
			}
			return b
		}
		v := a.union(b)
		v.missing = v.missing || c.missing
		return v
	case *ast.VariableDeclaratorNode:
		value := r.eval(n.Value)
		before, had := r.names[n.Name]
		r.names[n.Name] = value
		v := r.eval(n.Expr)
		if delete(r.names, n.Name); had {
			r.names[n.Name] = before
		}
		return v
	case *ast.BuiltinNode:
		return r.builtin(n)
	}
	return extent{}
}

// field returns what the field at a path may be: a number, a bool, an array, or, if nothing is
// known of it, perhaps a record, which has the path.
func (r *reckoner) field(path string) extent {
	z, ok := r.zone(path)
	if !ok {
		return extent{path: path}
	}
	v := extent{missing: z.Missing, none: z.Empty, nan: z.NaN}
	switch {
	case z.Kind == zonemap.Bool:
		v.kind, v.yes, v.no = boolExtent, !z.Empty && z.Greatest == 1, !z.Empty && z.Least == 0
	case z.Kind == zonemap.Float:
		v.kind = floatExtent
		v.low, v.high = z.FloatBounds()
	case z.Kind != zonemap.Int && z.Greatest > math.MaxInt64:
		return extent{}
	case z.Kind == zonemap.Size:
		if z.Empty {
			return extent{}
		}
		items := r.field(path + "._0")
		v.kind, v.least, v.most, v.item = arrayExtent, int64(z.Least), int64(z.Greatest), &items
	default:
		v.kind = intExtent
		v.first, v.last = z.IntBounds()
	}
	return v
}

// member evaluates x.name, x["name"] and x[index].
func (r *reckoner) member(n *ast.MemberNode) extent {
	if name, ok := n.Property.(*ast.StringNode); ok {
		if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
			return r.field(name.Value)
		}
		// Names of this kind are those of items and of members of tuples, which
		// expressions do not name.
		if v := r.eval(n.Node); v.path != "" && !strings.HasPrefix(name.Value, "_") && !n.Optional {
			m := r.field(v.path + "." + name.Value)
			m.missing = m.missing || v.missing
			return m
		}
		return extent{}
	}
	a, index := r.eval(n.Node), r.eval(n.Property)
	if a.kind != arrayExtent || a.missing || n.Optional || index.kind != intExtent || index.first != index.last {
		return extent{}
	}
	v, i := *a.item, index.first
	v.missing = v.missing || i >= a.least || i < -a.least
	return v
}

func (r *reckoner) binary(n *ast.BinaryNode) extent {
	a := r.eval(n.Left)
	if n.Operator == "in" {
		return r.in(a, n.Right)
	}
	b := r.eval(n.Right)
	switch n.Operator {
	case "and", "&&":
		return a.and(b)
	case "or", "||":
		return a.or(b)
	case "==", "!=", "<", "<=", ">", ">=":
		return a.compare(n.Operator, b)
	case "+", "-", "*", "/":
		return a.arithmetic(n.Operator, b)
	case "??":
		if a.kind == unknownExtent || !a.missing {
			return a
		}
		a.missing = false
		return a.union(b)
	}
	return extent{}
}

// in returns whether a may be one of some values: those of an array in the text, or of a range
// of integers.
func (r *reckoner) in(a extent, values ast.Node) extent {
	result := eitherOf(false, true)
	switch values := values.(type) {
	case *ast.ArrayNode:
		for _, v := range values.Nodes {
			if same := a.compare("==", r.eval(v)); same.kind == unknownExtent || same.yes {
				result.yes = true
			}
		}
		return result
	case *ast.BinaryNode:
		first, last := r.eval(values.Left), r.eval(values.Right)
		if values.Operator == ".." && a.kind == intExtent && first.kind == intExtent && last.kind == intExtent {
			result.yes = a.compare(">=", first).yes && a.compare("<=", last).yes
			return result
		}
	}
	return extent{}
}

// builtin evaluates the functions whose results are easily known from bounds.
func (r *reckoner) builtin(n *ast.BuiltinNode) extent {
	if len(n.Arguments) == 0 {
		return extent{}
	}
	a := r.eval(n.Arguments[0])
	if len(n.Arguments) == 2 {
		if p, ok := n.Arguments[1].(*ast.PredicateNode); ok && a.kind == arrayExtent && !a.missing {
			r.items = append(r.items, *a.item)
			v := r.eval(p.Node)
			r.items = r.items[:len(r.items)-1]
			return a.each(n.Name, v)
		}
	}
	if len(n.Arguments) != 1 {
		return extent{}
	}
	switch n.Name {
	case "len":
		if a.kind == arrayExtent && !a.missing {
			return intsFrom(a.least, a.most)
		}
	case "abs":
		return a.onItems(extent.abs)
	case "min", "max":
		if a.kind == arrayExtent && !a.missing && (a.item.kind == intExtent || a.item.kind == floatExtent) {
			v := *a.item
			v.missing = v.missing || a.least == 0
			return v
		}
	}
	return extent{}
}

// each returns what a function of an array may be whose predicate may be p for its items.
func (a extent) each(name string, p extent) extent {
	if name == "map" {
		a.item = &p
		return a
	}
	if p.kind != boolExtent {
		p = extent{kind: boolExtent, yes: true, no: true}
	}
	p.no = p.no || p.missing
	some, empty := a.most > 0, a.least == 0
	switch name {
	case "any":
		return eitherOf(some && p.yes, empty || p.no)
	case "all":
		return eitherOf(empty || p.yes, some && p.no)
	case "none":
		return eitherOf(empty || p.no, some && p.yes)
	case "one":
		return eitherOf(some && p.yes, true)
	case "count", "filter":
		if p.no {
			a.least = 0
		}
		if !p.yes {
			a.most = 0
		}
		if name == "count" {
			return intsFrom(min(a.least, a.most), a.most)
		}
		a.least = min(a.least, a.most)
		return a
	}
	return extent{}
}
