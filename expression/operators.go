package expression

import (
	"bytes"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/go-rntuple/go-rntuple/internal/formula"
)

func (b *builder) unary(n *ast.UnaryNode) (value, error) {
	v, err := b.build(n.Node)
	if err != nil {
		return value{}, err
	}
	return unary(n.Operator, v)
}

func unary(op string, v value) (value, error) {
	switch {
	case v.list != nil:
		item, err := unary(op, v.list.item)
		return listOfItems(v.of, v.list.items, item), err
	case op == "+" && v.isNumber():
		return v, nil
	case op == "-" && v.kind == Int:
		if x, ok := v.literal.(int64); ok {
			return literalOf(v.of, -x), nil
		}
		return intsOf(v.of, mapped(v.ints, negate[int64]).known(negated(v.ints)), v.missing), nil
	case op == "-" && v.kind == Float:
		if x, ok := v.literal.(float64); ok {
			return literalOf(v.of, -x), nil
		}
		return floatsOf(v.of, mapped(v.floats, negate[float64]).known(negated(v.floats)), v.missing), nil
	case (op == "!" || op == "not") && v.kind == Bool:
		c := v.condition()
		return boolsOf(v.of, mapped(c, not).known(monotonic(c, not)), false), nil
	}
	return value{}, notColumns("the operator %s of this type", op)
}

func (b *builder) binary(n *ast.BinaryNode) (value, error) {
	l, err := b.build(n.Left)
	if err != nil {
		return value{}, err
	}
	switch op := n.Operator; op {
	case "and", "&&", "or", "||":
		return b.logic(n, op == "and" || op == "&&", l, n.Right)
	case "??":
		return b.orElse(l, n.Right)
	case "in":
		return b.in(l, n.Right)
	}
	r, err := b.build(n.Right)
	if err != nil {
		return value{}, err
	}
	b.node, b.name = n, n.Operator
	return b.operate(n.Operator, l, r)
}

// operate applies an operator to two values, item by item if they are arrays.
func (b *builder) operate(op string, l, r value) (value, error) {
	if op == "^" {
		op = "**"
	}
	switch op {
	case "+", "-", "*", "/", "%", "**":
		return b.itemwise(l, r, func(l, r value) (value, error) { return arithmeticOf(op, l, r) })
	case "<", "<=", ">", ">=", "==", "!=":
		if l.null || r.null {
			return equalsNil(op, l, r)
		}
		return b.itemwise(l, r, func(l, r value) (value, error) { return comparisonOf(op, l, r) })
	case "contains", "startsWith", "endsWith", "matches":
		return search(op, l, r)
	}
	return value{}, notColumns("the operator %s", op)
}

// itemwise applies a function to values, or to the items of arrays.
func (b *builder) itemwise(l, r value, f func(l, r value) (value, error)) (value, error) {
	switch {
	case l.list == nil && r.list == nil:
		_, l, r, err := common(l, r)
		if err != nil {
			return value{}, err
		}
		return f(l, r)
	case l.list != nil && r.list != nil:
		r, err := b.aligned(r, l)
		if err != nil {
			return value{}, err
		}
		item, err := b.itemwise(l.list.item, r.list.item, f)
		return listOfItems(l.of, l.list.items, item), err
	case l.list != nil:
		item, err := b.broadcast(l, r, func(item, r value) (value, error) { return b.itemwise(item, r, f) })
		return item, err
	}
	return b.broadcast(r, l, func(item, l value) (value, error) { return b.itemwise(l, item, f) })
}

// broadcast applies a function to the items of an array and to a value that is the same for all
// of them.
func (b *builder) broadcast(array, v value, f func(item, v value) (value, error)) (value, error) {
	if v.record != nil || v.null || v.missing {
		return value{}, notColumns("it combines an array with a value that may be missing")
	}
	if !array.list.items.within(v.of) {
		return value{}, notColumns("it makes an array for each item of another one")
	}
	item, err := f(array.list.item, v)
	if err == nil && item.list == nil {
		item, err = item.down(array.list.items)
	}
	return listOfItems(array.of, array.list.items, item), err
}

func arithmeticOf(op string, l, r value) (value, error) {
	missing := l.missing || r.missing
	switch {
	case l.kind == String && r.kind == String && op == "+":
		return stringsOf(l.of, concatenate(l.strings, r.strings), missing), nil
	case !l.isNumber() || !r.isNumber():
		return value{}, notColumns("the operator %s of these types", op)
	case op == "%":
		if l.kind != Int || r.kind != Int {
			return value{}, notColumns("the operator %s of these types", op)
		}
		if c, ok := r.literal.(int64); ok && c != 0 {
			return intsOf(l.of, mapped(l.ints, moduloConst(c)), missing), nil
		}
		return intsOf(l.of, modulo(l.ints, r.ints), true), nil
	case op == "/" || op == "**" || l.kind != r.kind:
		l, r = l.asFloats(), r.asFloats()
	}
	if l.kind == Int {
		if c, ok := r.literal.(int64); ok {
			return intsOf(l.of, mapped(l.ints, arithmeticConst(op, c)).known(calculated(op, l.ints, r.ints)), missing), nil
		}
		return intsOf(l.of, combined(l.ints, r.ints, arithmetic[int64](op)).known(calculated(op, l.ints, r.ints)), missing), nil
	}
	switch c, ok := r.literal.(float64); {
	case op == "/":
		return floatsOf(l.of, combined(l.floats, r.floats, divide).known(both(quotient, l.floats, r.floats)), missing), nil
	case op == "**":
		return floatsOf(l.of, combined(l.floats, r.floats, power), missing), nil
	case ok:
		return floatsOf(l.of, mapped(l.floats, arithmeticConst(op, c)).known(calculated(op, l.floats, r.floats)), missing), nil
	}
	return floatsOf(l.of, combined(l.floats, r.floats, arithmetic[float64](op)).known(calculated(op, l.floats, r.floats)), missing), nil
}

// concatenate joins strings. Those of a batch share memory.
func concatenate(left, right *node[[]byte]) *node[[]byte] {
	var memory []byte
	return &node[[]byte]{compute: func(r *run, n *node[[]byte]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		out, size, steps := n.out(r, len(a)), 0, 0
		for i, s := range a {
			size += len(s) + len(b[i])
		}
		r.budget.Take(int64(size))
		memory = slices.Grow(memory[:0], size)
		for i, s := range a {
			begin := len(memory)
			memory = append(append(memory, s...), b[i]...)
			out[i] = memory[begin:]
			if steps += 1 + len(out[i]); steps > maxBlock {
				r.budget.Step(int64(steps))
				steps = 0
			}
		}
		n.both(r, v, w)
	}}
}

func comparisonOf(op string, l, r value) (value, error) {
	if l.isNumber() && r.isNumber() && l.kind != r.kind {
		l, r = l.asFloats(), r.asFloats()
	}
	if l.kind != r.kind {
		return value{}, notColumns("the operator %s of these types", op)
	}
	if l.literal != nil && r.literal == nil {
		l, r, op = r, l, mirrored[op]
	}
	var n *node[bool]
	switch l.kind {
	case Int:
		if c, ok := r.literal.(int64); ok {
			n = mapped(l.ints, orderConst(op, c))
		} else {
			n = combined(l.ints, r.ints, order[int64](op))
		}
		n.known(compared(op, l.ints, r.ints))
	case Float:
		if c, ok := r.literal.(float64); ok {
			n = mapped(l.floats, orderConst(op, c))
		} else {
			n = combined(l.floats, r.floats, order[float64](op))
		}
		n.known(compared(op, l.floats, r.floats))
	case String:
		if c, ok := r.literal.(string); ok && (op == "==" || op == "!=") {
			n = mapped(l.strings, func(out []bool, a [][]byte) {
				for i, s := range a {
					out[i] = (string(s) == c) == (op == "==")
				}
			})
		} else {
			n = onStrings(l.strings, r.strings, orderStrings(op))
		}
	case Bool:
		f := compare[bool](op)
		if f == nil {
			return value{}, notColumns("the operator %s of these types", op)
		}
		n = combined(l.bools, r.bools, f).known(ofBools(f, l.bools, r.bools))
	default:
		return value{}, notColumns("the operator %s of these types", op)
	}
	if l.missing || r.missing {
		n = truth(n)
	}
	return boolsOf(l.of, n, false), nil
}

// equalsNil compares with nil.
func equalsNil(op string, l, r value) (value, error) {
	if op != "==" && op != "!=" {
		return value{}, notColumns("the operator %s of these types", op)
	}
	v := l
	if l.null {
		v = r
	}
	switch {
	case v.null:
		return literalOf(v.of, op == "=="), nil
	case v.record != nil:
		return value{}, notColumns("it compares a record with nil")
	case v.kind == 0 || !v.missing:
		return literalOf(v.of, op != "=="), nil
	}
	n := v.valid()
	if op == "==" {
		n = mapped(n, not).known(monotonic(n, not))
	}
	return boolsOf(v.of, n, false), nil
}

// onStrings returns the column of a function of strings, which looks at each byte.
func onStrings(left, right *node[[]byte], f func(a, b []byte) bool) *node[bool] {
	return &node[bool]{compute: func(r *run, n *node[bool]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		out, steps := n.out(r, len(a)), 0
		for i, s := range a {
			out[i] = f(s, b[i])
			if steps += 1 + len(s); steps > maxBlock {
				r.budget.Step(int64(steps))
				steps = 0
			}
		}
		n.both(r, v, w)
	}}
}

// search applies an operator that looks for a string in another one.
func search(op string, l, r value) (value, error) {
	if l.kind != String || r.kind != String {
		return value{}, notColumns("the operator %s of these types", op)
	}
	d, l, r, err := common(l, r)
	if err != nil {
		return value{}, err
	}
	var n *node[bool]
	if op == "matches" {
		pattern, ok := r.literal.(string)
		if !ok {
			return value{}, notColumns("the pattern is no literal")
		}
		re, err := formula.ParsePattern(pattern)
		if err != nil {
			return value{}, notColumns("%v", err)
		}
		n = &node[bool]{compute: func(r *run, n *node[bool]) {
			a, valid := l.strings.rows(r)
			for i := range n.out(r, len(a)) {
				n.all[i] = (valid == nil || valid[i]) && r.budget.Match(re, a[i])
			}
		}}
	} else {
		f := map[string]func(s, part []byte) bool{"contains": bytes.Contains, "startsWith": bytes.HasPrefix, "endsWith": bytes.HasSuffix}[op]
		n = onStrings(l.strings, r.strings, f)
	}
	if l.missing || r.missing {
		n = truth(n)
	}
	return boolsOf(d, n, false), nil
}

// logic is "and" or "or". What is on the right is evaluated only where it matters.
func (b *builder) logic(n ast.Node, and bool, l value, right ast.Node) (value, error) {
	if l.list != nil {
		r, err := b.build(right)
		if err != nil {
			return value{}, err
		}
		if b.node, b.name = n, "or"; and {
			b.name = "and"
		}
		return b.itemwise(l, r, func(l, r value) (value, error) { return logicOf(and, l, r) })
	}
	if l.kind != Bool {
		return value{}, notColumns("its left side is not known to be true or false")
	}
	r, err := b.guarded(right, l.condition(), and)
	if err != nil {
		return value{}, err
	}
	return b.itemwise(l, r, func(l, r value) (value, error) { return logicOf(and, l, r) })
}

func logicOf(isAnd bool, l, r value) (value, error) {
	if l.kind != Bool || r.kind != Bool {
		return value{}, notColumns("its sides are not known to be true or false")
	}
	f := or
	if isAnd {
		f = and
	}
	a, b := l.condition(), r.condition()
	return boolsOf(l.of, combined(a, b, f).known(ofBools(f, a, b)), false), nil
}

// orElse is ??.
func (b *builder) orElse(l value, right ast.Node) (value, error) {
	if l.kind == 0 && !l.null {
		return value{}, notColumns("the operator ?? of an array or a record")
	}
	if l.null {
		return b.build(right)
	}
	n := l.valid()
	r, err := b.guarded(right, n, false)
	if err != nil {
		return value{}, err
	}
	return choose(boolsOf(l.of, n, false), l, r, r.missing)
}

func (b *builder) conditional(n *ast.ConditionalNode) (value, error) {
	c, err := b.build(n.Cond)
	if err != nil {
		return value{}, err
	}
	if c.kind != Bool {
		return value{}, notColumns("its condition is not known to be true or false")
	}
	t := c.condition()
	yes, err := b.guarded(n.Exp1, t, true)
	if err != nil {
		return value{}, err
	}
	no, err := b.guarded(n.Exp2, t, false)
	if err != nil {
		return value{}, err
	}
	return choose(boolsOf(c.of, t, false), yes, no, yes.missing || no.missing)
}

// choose returns the value of yes where c is true, and that of no elsewhere.
func choose(c, yes, no value, missing bool) (value, error) {
	if yes.null && !no.null {
		yes = absent(no)
	}
	if no.null && !yes.null {
		no = absent(yes)
	}
	if yes.isNumber() && no.isNumber() && yes.kind != no.kind {
		yes, no = yes.asFloats(), no.asFloats()
	}
	if yes.kind != no.kind || yes.kind == 0 {
		return value{}, notColumns("it is one of two arrays, records, or values of different types")
	}
	_, yes, no, err := common(yes, no)
	if err == nil {
		_, c, yes, err = common(c, yes)
	}
	if err == nil {
		_, yes, no, err = common(yes, no)
	}
	if err != nil {
		return value{}, err
	}
	switch yes.kind {
	case Bool:
		return boolsOf(c.of, either(c.bools, yes.bools, no.bools, missing), missing), nil
	case Int:
		return intsOf(c.of, either(c.bools, yes.ints, no.ints, missing), missing), nil
	case Float:
		return floatsOf(c.of, either(c.bools, yes.floats, no.floats, missing), missing), nil
	}
	return stringsOf(c.of, either(c.bools, yes.strings, no.strings, missing), missing), nil
}

// absent returns a value of the type of v that is missing everywhere.
func absent(v value) value {
	if v.kind == 0 {
		return v
	}
	return v.each(v.of, true, nodeFunc{missingAll[bool](v.of), missingAll[int64](v.of), missingAll[float64](v.of), missingAll[[]byte](v.of)})
}

func missingAll[T any](d *domain) func(*node[T]) *node[T] {
	return func(*node[T]) *node[T] {
		return &node[T]{compute: func(r *run, n *node[T]) {
			clear(n.out(r, d.size(r)))
			clear(n.flags(r, d.size(r)))
		}}
	}
}

// either returns the column of the values of yes where c is true, and of no elsewhere.
func either[T any](c *node[bool], yes, no *node[T], missing bool) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		which, _ := c.rows(r)
		a, v := yes.rows(r)
		b, w := no.rows(r)
		out := n.out(r, len(which))
		for i, t := range which {
			if t {
				out[i] = a[i]
			} else {
				out[i] = b[i]
			}
		}
		if n.valid = nil; missing {
			flags := n.flags(r, len(which))
			for i, t := range which {
				flags[i] = t && (v == nil || v[i]) || !t && (w == nil || w[i])
			}
		}
	}}).known(alternative(c, yes, no))
}
