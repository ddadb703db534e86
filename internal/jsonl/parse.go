package jsonl

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"

	"github.com/go-rntuple/go-rntuple/value"
)

// fit says how well a value matches the JSON from which it was read. Larger is
// worse.
type fit int

const (
	prints fit = iota // prints as the same JSON, within a variant
	whole             // is a float that prints with a point, unlike the JSON
	other             // prints differently
	never
)

// worsen records how well a part of the value fits.
func (r *Reader) worsen(f fit) { r.fit = max(r.fit, f) }

// value reads a value of n.
func (r *Reader) value(n *node) (any, *Error) {
	if kinds[r.next()]&n.kinds == 0 {
		return nil, r.expected(n.what)
	}
	return n.parse(r, n)
}

// mismatch returns the error for input at pos that is not a value of n.
func (r *Reader) mismatch(n *node, pos int) *Error {
	r.pos = pos
	return r.expected(n.what)
}

func (r *Reader) boolean(*node) (any, *Error) {
	if r.buf[r.pos] == 't' {
		return true, r.word("true")
	}
	return false, r.word("false")
}

func (r *Reader) integer(n *node) (any, *Error) {
	token, err := r.number()
	if err != nil {
		return nil, err
	}
	digits, limit, sign := token, n.max, uint64(1)
	if token[0] == '-' {
		digits, limit, sign = token[1:], n.min, math.MaxUint64
	}
	v := uint64(0)
	for _, c := range digits {
		d := uint64(c - '0') // large if c is not a digit
		if d > 9 || d > limit || v > (limit-d)/10 {
			return nil, r.expected(n.what)
		}
		v = v*10 + d
	}
	r.pos += len(token)
	if v == 0 && token[0] == '-' {
		r.worsen(other)
	}
	return n.box(v * sign), nil
}

var notNumbers = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

func (r *Reader) float(n *node) (v any, _ *Error) {
	begin, f, token := r.pos, 0.0, []byte(nil)
	if r.buf[begin] == '"' {
		s, err := r.text()
		if err != nil {
			return nil, err
		}
		var ok bool
		if f, ok = notNumbers[string(s)]; !ok {
			return nil, r.mismatch(n, begin)
		}
	} else {
		var err *Error
		if token, err = r.number(); err != nil {
			return nil, err
		}
		var bad error
		if f, bad = strconv.ParseFloat(string(token), int(n.size)); bad != nil {
			return nil, r.expected(n.what)
		}
		r.pos += len(token)
	}
	if v = f; n.size == 32 {
		v = float32(f)
	}
	switch {
	case r.variants == 0 || token == nil:
	case !printsAs(v, token):
		r.worsen(other)
	case !bytes.ContainsAny(token, ".eE"):
		r.worsen(whole)
	}
	return v, nil
}

func (r *Reader) str(*node) (any, *Error) {
	s, err := r.text()
	return string(s), err
}

func (r *Reader) bits(n *node) (any, *Error) {
	begin := r.pos
	s, err := r.text()
	if err != nil {
		return nil, err
	}
	if uint64(len(s)) != n.size {
		return nil, r.mismatch(n, begin)
	}
	bits := make(value.Bits, len(s))
	for i, c := range s {
		if c != '0' && c != '1' {
			return nil, r.mismatch(n, begin)
		}
		bits[len(s)-1-i] = c == '1'
	}
	return bits, nil
}

func (r *Reader) base64(n *node) (any, *Error) {
	begin := r.pos
	s, err := r.text()
	if err != nil {
		return nil, err
	}
	b, bad := base64.StdEncoding.AppendDecode(nil, s)
	if bad != nil {
		return nil, r.mismatch(n, begin)
	}
	return b, nil
}

func (r *Reader) optional(n *node) (any, *Error) {
	if r.buf[r.pos] == 'n' {
		return nil, r.word("null")
	}
	return r.value(n.children[0])
}

// variant reads the value of the first of the alternatives that fit best.
func (r *Reader) variant(n *node) (any, *Error) {
	begin, height, outer := r.pos, len(r.stack), r.fit
	first := kinds[r.buf[begin]]
	if first == null {
		return nil, r.word("null")
	}
	var found any
	var failed *Error
	best, end, tried := never, 0, 0
	r.variants++
	for i, child := range n.children {
		if child.kinds&first == 0 {
			continue
		}
		tried++
		r.pos, r.fit = begin, prints
		v, err := r.value(child)
		if err != nil {
			r.drop(height)
			failed = err
			continue
		}
		if r.fit < best {
			found, best, end = value.Alternative{Index: i, Value: v}, r.fit, r.pos
		}
		if best == prints {
			break
		}
	}
	r.variants--
	switch {
	case best < never:
		r.pos, r.fit = end, max(outer, best)
		return found, nil
	case tried == 1:
		return nil, failed
	}
	return nil, r.mismatch(n, begin)
}

// drop removes the values above height from the stack.
func (r *Reader) drop(height int) {
	clear(r.stack[height:])
	r.stack = r.stack[:height]
}

// items reads an array of the given length, or of any length if that is negative.
// The items are values of nodes in turn; the last node is that of all further
// items.
func (r *Reader) items(n *node, nodes []*node, length int64) ([]any, *Error) {
	height := len(r.stack)
	r.pos++
	for i := int64(0); ; i++ {
		more, err := r.more(i == 0, ']')
		if err != nil {
			return nil, err
		}
		if length >= 0 && more != (i < length) {
			return nil, r.fail("expected %s, found %s", n.what,
				map[bool]string{true: "more", false: strconv.FormatInt(i, 10)}[more])
		}
		if !more {
			break
		}
		v, err := r.value(nodes[min(i, int64(len(nodes)-1))])
		if err != nil {
			return nil, err.in("[%d]", i)
		}
		r.stack = append(r.stack, v)
	}
	items := append(make([]any, 0, len(r.stack)-height), r.stack[height:]...)
	r.drop(height)
	return items, nil
}

func (r *Reader) collection(n *node) (any, *Error) { return box(r.items(n, n.children, -1)) }

func (r *Reader) tuple(n *node) (any, *Error) { return box(r.items(n, n.children, int64(n.size))) }

func box(items []any, err *Error) (any, *Error) { return items, err }

// members reads an object and calls each for every member; each reads the value.
func (r *Reader) members(each func(name []byte) *Error) *Error {
	r.pos++
	for first := true; ; first = false {
		if more, err := r.more(first, '}'); err != nil || !more {
			return err
		}
		if r.next() != '"' {
			return r.expected("a name")
		}
		name, err := r.text()
		if err != nil {
			return err
		}
		if r.next() != ':' {
			return r.expected("':'")
		}
		r.pos++
		if err := each(name); err != nil {
			return err
		}
	}
}

func (r *Reader) dictionary(n *node) (any, *Error) {
	m := value.Map{StringKeys: n.kinds&object != 0, Elements: []value.KeyValue{}}
	open := r.buf[r.pos]
	if open == '{' {
		err := r.members(func(name []byte) *Error {
			key := string(name)
			v, err := r.value(n.children[0].children[1])
			if err != nil {
				return err.in("[%q]", key)
			}
			m.Elements = append(m.Elements, value.KeyValue{Key: key, Value: v})
			return nil
		})
		if err != nil {
			return nil, err
		}
	} else {
		pairs, err := r.items(n, n.children, -1)
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			kv := pair.([]any)
			m.Elements = append(m.Elements, value.KeyValue{Key: kv[0], Value: kv[1]})
		}
	}
	if r.variants > 0 && value.AppendJSON(nil, m)[0] != open {
		r.worsen(other)
	}
	return m, nil
}

// unset stands for a member that has not been read.
type unset struct{}

func (r *Reader) record(n *node) (any, *Error) {
	values := slices.Repeat([]any{unset{}}, len(n.names))
	next := 0 // the next member, if they come in order
	err := r.members(func(name []byte) *Error {
		i := next
		if i >= len(n.members) || string(name) != n.members[i] {
			var ok bool
			if i, ok = n.byName[string(name)]; !ok {
				return r.fail("there is no member %q", name)
			}
			if i < next {
				r.worsen(other)
			}
		}
		next = i + 1
		v, err := r.value(n.children[i])
		switch slot := n.slots[i]; {
		case err != nil:
			return err.in(".%s", n.members[i])
		case slot < 0:
		case values[slot] != any(unset{}):
			return r.fail("the member %q is there twice", n.members[i])
		default:
			values[slot] = v
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, slot := range n.slots {
		if slot < 0 || values[slot] != any(unset{}) {
			continue
		}
		if !n.children[i].optional {
			return nil, r.fail("the member %q is missing", n.members[i])
		}
		values[slot] = nil
		r.worsen(other)
	}
	return value.Record{Names: n.names, Values: values}, nil
}
