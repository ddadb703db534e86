package expression

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// A text makes the strings of a column, which share memory.
type text struct {
	r    *run
	n    *node[[]byte]
	all  []byte
	ends []int
}

// textOf returns the column of strings that a function makes one after the other. It returns where
// they are.
func textOf(d *domain, build func(r *run, t *text) (valid []bool)) *node[[]byte] {
	t := new(text)
	return newNode(d, func(r *run, n *node[[]byte]) {
		t.r, t.n, t.all, t.ends = r, n, t.all[:0], t.ends[:0]
		valid := build(r, t)
		out, begin := n.out(r, len(t.ends)), 0
		for i, end := range t.ends {
			out[i], begin = t.all[begin:end:end], end
		}
		n.valid = valid
	})
}

// add adds a string that consists of others.
func (t *text) add(parts ...[]byte) {
	t.grow(parts...)
	t.end()
}

// grow adds to a string that is not at its end.
func (t *text) grow(parts ...[]byte) {
	for _, p := range parts {
		t.r.budget.Take(int64(len(p)))
		t.all = append(t.all, p...)
	}
}

// end ends a string.
func (t *text) end() {
	t.ends = append(t.ends, len(t.all))
	if len(t.ends)%1024 == 0 {
		t.r.budget.Step(1024)
	}
}

// stringsIn builds arguments that are strings, in one domain. They are nil if one is.
func (b *builder) stringsIn(n *syntax.Call, args ...syntax.Node) ([]value, error) {
	all, err := b.all(args...)
	if err != nil {
		return nil, err
	}
	for i, v := range all {
		switch {
		case v.variant != nil:
			if all[i], err = b.alternative(args[i], v, String); err != nil {
				return nil, err
			}
		case !v.null && v.kind != String:
			return nil, b.errorf(args[i], "%s takes a string: %s", n.Name, is(args[i], v))
		}
	}
	if slices.ContainsFunc(all, func(v value) bool { return v.null }) {
		return nil, nil
	}
	return common(all...)
}

func anyMissing(all []value) bool {
	return slices.ContainsFunc(all, func(v value) bool { return v.missing })
}

// changed returns a string without what is around it, or in other letters.
func (b *builder) changed(n *syntax.Call, args []value) (value, error) {
	with := func(s, by []byte) []byte { return s }
	switch n.Name {
	case "upper":
		with = func(s, _ []byte) []byte { return bytes.ToUpper(s) }
	case "lower":
		with = func(s, _ []byte) []byte { return bytes.ToLower(s) }
	case "trimPrefix":
		with = bytes.TrimPrefix
	case "trimSuffix":
		with = bytes.TrimSuffix
	case "trim":
		with = func(s, by []byte) []byte { return bytes.Trim(s, string(by)) }
		if len(args) == 1 {
			with = func(s, _ []byte) []byte { return bytes.TrimSpace(s) }
		}
	}
	space := []byte(" ")
	return scalar(textOf(args[0].of, func(r *run, t *text) []bool {
		all, valid := args[0].strings().rows(r)
		if len(args) == 1 {
			for _, s := range all {
				t.add(with(s, space))
			}
			return valid
		}
		by, w := args[1].strings().rows(r)
		for i, s := range all {
			r.budget.Step(int64(len(s)) * int64(1+len(by[i]))) // trim looks for each byte among those to be removed
			t.add(with(s, by[i]))
		}
		return t.n.validWhere(r, valid, w)
	}), anyMissing(args)), nil
}

// withCount builds strings, and an integer behind them, in one domain. It is -1 if there is no such
// argument.
func (b *builder) withCount(n *syntax.Call, texts int) (args []value, count *node[int64], missing bool, err error) {
	if args, err = b.stringsIn(n, n.Args[:texts]...); err != nil || args == nil {
		return nil, nil, false, err
	}
	c := literalOf(b.entries, int64(-1))
	if texts < len(n.Args) {
		arg := n.Args[texts]
		if c, err = b.build(arg); err == nil && c.null {
			c = scalar(nowhere[int64](b.entries), true)
		}
		if err == nil && c.kind != Int {
			err = b.errorf(arg, "argument %d of %s is an integer: %s", texts+1, n.Name, is(arg, c))
		}
		if err != nil {
			return nil, nil, false, err
		}
	}
	if args, err = common(append(args, c)...); err != nil {
		return nil, nil, false, err
	}
	return args[:texts], args[texts].ints(), anyMissing(args), nil
}

func (b *builder) replace(n *syntax.Call) (value, error) {
	args, count, missing, err := b.withCount(n, 3)
	if err != nil || args == nil {
		return nothing(b.entries), err
	}
	return scalar(textOf(args[0].of, func(r *run, t *text) []bool {
		all, u := args[0].strings().rows(r)
		old, v := args[1].strings().rows(r)
		by, w := args[2].strings().rows(r)
		most, x := count.rows(r)
		for i, s := range all {
			r.budget.Step(int64(len(s)))
			if found := int64(bytes.Count(s, old[i])); found > 0 && most[i] != 0 {
				if most[i] > 0 {
					found = min(found, most[i])
				}
				r.budget.Take(found * int64(len(by[i])))
				s = bytes.Replace(s, old[i], by[i], int(found))
			}
			t.add(s)
		}
		return t.n.validWhere(r, u, v, w, x)
	}), missing), nil
}

func (b *builder) repeat(n *syntax.Call) (value, error) {
	args, count, missing, err := b.withCount(n, 1)
	if err != nil || args == nil {
		return nothing(b.entries), err
	}
	number := scalar(count, missing)
	if err := b.downAll(&number, &args[0]); err != nil {
		return value{}, err
	}
	at, here := b.place(n), b.here
	count = number.ints()
	return scalar(fallible(b, textOf(here, func(r *run, t *text) []bool {
		all, v := args[0].strings().rows(r)
		times, w := count.rows(r)
		for i, s := range all {
			there := (v == nil || v[i]) && (w == nil || w[i])
			if there && times[i] < 0 {
				r.fail(here, i, at.error(fmt.Sprintf("repeat %d times", times[i])))
			}
			if there && times[i] > 0 && len(s) > 0 {
				r.budget.Take(int64(len(s)) * min(times[i], math.MaxInt64/int64(2*len(s))))
				for range times[i] {
					t.all = append(t.all, s...)
				}
			}
			t.end()
		}
		return t.n.validWhere(r, v, w)
	})), missing), nil
}

// split returns the parts of a string between separators.
func (b *builder) split(n *syntax.Call) (value, error) {
	args, count, missing, err := b.withCount(n, 2)
	if err != nil || args == nil {
		return nothing(b.entries), err
	}
	cut := bytes.SplitN
	if n.Name == "splitAfter" {
		cut = bytes.SplitAfterN
	}
	var there *node[bool]
	if missing {
		there = b.allThere([]value{args[0], args[1], scalar(count, missing)})
	}
	var parts [][]byte
	items := newItems(args[0].of, func(r *run, d *domain) {
		all, _ := args[0].strings().rows(r)
		by, _ := args[1].strings().rows(r)
		most, _ := count.rows(r)
		counts := d.counts(r, len(all))
		parts = parts[:0]
		var valid []bool
		if there != nil {
			valid, _ = there.rows(r)
		}
		for i, s := range all {
			if valid == nil || valid[i] {
				r.budget.Step(int64(len(s)))
				r.budget.Take(24 * int64(1+bytes.Count(s, by[i])))
				parts = append(parts, cut(s, by[i], int(most[i]))...)
			}
			counts[i+1] = int64(len(parts))
		}
	})
	return listOf(items, scalar(newNode(items, func(r *run, n *node[[]byte]) {
		items.update(r)
		n.all = parts
	}), false), there), nil
}

// join returns the strings of an array as one.
func (b *builder) join(n *syntax.Call, v value) (value, error) {
	by := literalOf(b.entries, "")
	if len(n.Args) == 2 {
		args, err := b.stringsIn(n, n.Args[1])
		if err != nil || args == nil {
			return nothing(b.entries), err
		}
		by = args[0]
	}
	if v.list.item.null {
		v = v.mapped(scalar(constant[[]byte](v.list.items, nil), false))
	}
	if v = b.complete(v); v.list.item.kind != String {
		return value{}, b.errorf(n, "join takes an array of strings: %s", is(n.Args[0], v))
	}
	v, by, err := common2(v, by)
	if err != nil {
		return value{}, err
	}
	items := v.list.items
	return scalar(textOf(v.of, func(r *run, t *text) []bool {
		o := items.bounds(r)
		all, _ := v.list.item.strings().rows(r)
		between, valid := by.strings().rows(r)
		for i := range len(o) - 1 {
			for k := o[i]; k < o[i+1]; k++ {
				if k > o[i] {
					t.grow(between[i])
				}
				t.grow(all[k])
			}
			t.end()
		}
		return valid
	}), by.missing).only(v), nil
}

// indexOf returns the number of the character where a string is in another one, or -1.
func (b *builder) indexOf(n *syntax.Call, args []value) (value, error) {
	find := bytes.Index
	if n.Name == "lastIndexOf" {
		find = bytes.LastIndex
	}
	return scalar(newNode(args[0].of, func(r *run, n *node[int64]) {
		all, v := args[0].strings().rows(r)
		parts, w := args[1].strings().rows(r)
		out := n.out(r, len(all))
		for i, s := range all {
			r.budget.Step(int64(len(s)))
			if at := find(s, parts[i]); at < 0 {
				out[i] = -1
			} else {
				out[i] = int64(utf8.RuneCount(s[:at]))
			}
		}
		n.validWhere(r, v, w)
	}), anyMissing(args)), nil
}

func (b *builder) hasPart(n *syntax.Call, args []value) (value, error) {
	f := bytes.HasPrefix
	if n.Name == "hasSuffix" {
		f = bytes.HasSuffix
	}
	return scalar(onStrings(args[0].strings(), args[1].strings(), f), anyMissing(args)), nil
}

// substring returns the characters from one to another.
func (b *builder) substring(v, from, to value) value {
	return scalar(textOf(v.of, func(r *run, t *text) []bool {
		all, u := v.strings().rows(r)
		first, v := from.ints().rows(r)
		last, w := to.ints().rows(r)
		for i, s := range all {
			n := int64(utf8.RuneCount(s))
			begin, end := clamped(first[i], n), clamped(last[i], n)
			t.add(characters(s, begin, max(begin, end)))
		}
		return t.n.validWhere(r, u, v, w)
	}), anyMissing([]value{v, from, to}))
}

// characters returns the characters of a string from one to another, which it has.
func characters(s []byte, from, to int64) []byte {
	begin := 0
	for ; from > 0; from, to = from-1, to-1 {
		_, n := utf8.DecodeRune(s[begin:])
		begin += n
	}
	end := begin
	for ; to > 0; to-- {
		_, n := utf8.DecodeRune(s[end:])
		end += n
	}
	return s[begin:end]
}

// text returns a number, a string or a bool as a string.
func (b *builder) text(n *syntax.Call, v value) (value, error) {
	if v.variant != nil {
		v.variant = &variant{v.variant.tag, v.variant.at, slices.Clone(v.variant.alternatives)}
		for i, a := range v.variant.alternatives {
			if a.kind != 0 {
				v.variant.alternatives[i] = printed(a)
			}
		}
		return b.alternative(n.Args[0], v, String)
	}
	if v.kind == 0 {
		return value{}, b.errorf(n.Args[0], "string takes a number, a string or a bool: %s", is(n.Args[0], v))
	}
	return printed(v), nil
}

// printed returns a value as a string, as package fmt prints it.
func printed(v value) value {
	var add func(r *run, t *text) []bool
	switch v.kind {
	case String:
		return v
	case Bool:
		add = printedBy(v.bools(), strconv.AppendBool)
	case Int:
		add = printedBy(v.ints(), func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) })
	case Float:
		add = printedBy(v.floats(), func(b []byte, x float64) []byte { return fmt.Append(b, x) })
	}
	return scalar(textOf(v.of, add), v.missing)
}

func printedBy[T any](n *node[T], print func(b []byte, v T) []byte) func(r *run, t *text) []bool {
	var buf []byte
	return func(r *run, t *text) []bool {
		all, valid := n.rows(r)
		for _, v := range all {
			buf = print(buf[:0], v)
			t.add(buf)
		}
		return valid
	}
}

// convert is int and float, also of strings and variants.
func (b *builder) convert(n *syntax.Call, v value) (value, error) {
	if n.Name == "int" && v.innermost() == Int {
		v.literal, v.index = nil, false
		return v, nil
	}
	if v.kind != String {
		return b.function(n, []value{v})
	}
	v, err := b.down(v)
	if err != nil {
		return value{}, err
	}
	at, here := b.place(n), b.here
	if n.Name == "int" {
		return scalar(parsed(b, v.strings(), func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, at, here),
			v.missing), nil
	}
	return scalar(parsed(b, v.strings(), func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, at, here),
		v.missing), nil
}

// parsed returns the numbers that strings are. It is an error of the entry if one is none.
func parsed[T number](b *builder, from *node[[]byte], parse func(string) (T, error), at *place, here *domain) *node[T] {
	return fallible(b, newNode(here, func(r *run, n *node[T]) {
		all, valid := from.rows(r)
		out := n.out(r, len(all))
		n.valid = valid
		for i, s := range all {
			if valid != nil && !valid[i] {
				continue
			}
			var err error
			if out[i], err = parse(string(s)); err != nil {
				r.fail(here, i, at.error(fmt.Sprintf("%q is no number, or not one of this type", s)))
				return
			}
		}
	}))
}

// shift is bitshl, bitshr and bitushr.
func (b *builder) shift(n *syntax.Call, args []value) (value, error) {
	for i, v := range args {
		if v.innermost() != Int && !v.null {
			return value{}, b.errorf(n.Args[i], "%s takes integers: %s", n.Name, is(n.Args[i], v))
		}
		if err := b.downAll(&args[i]); err != nil {
			return value{}, err
		}
	}
	f := map[string]func(m int64, by uint64) int64{
		"bitshl":  func(m int64, by uint64) int64 { return m << by },
		"bitshr":  func(m int64, by uint64) int64 { return m >> by },
		"bitushr": func(m int64, by uint64) int64 { return int64(uint64(m) >> by) },
	}[n.Name]
	at := b.place(n)
	return b.ofIntegers(n, args, func(v []value, missing bool) value {
		d := v[0].of
		return scalar(fallible(b, newNode(d, func(r *run, out *node[int64]) {
			a, u := v[0].ints().rows(r)
			by, w := v[1].ints().rows(r)
			out.validWhere(r, u, w)
			all := out.out(r, len(a))
			for i, m := range a {
				if by[i] < 0 && (out.valid == nil || out.valid[i]) {
					r.fail(d, i, at.error(fmt.Sprintf("%s by %d", n.Name, by[i])))
				}
				all[i] = f(m, uint64(by[i]))
			}
		})), missing)
	})
}
