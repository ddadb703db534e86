package jsonl

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A node reads the values of a field.
type node struct {
	parse    func(*Reader, *node) (any, *Error) // parses the value at pos, which is of one of kinds
	kinds    kind                               // of JSON values that are allowed
	what     string                             // describes the values in errors
	children []*node
	optional bool
	size     uint64 // items of arrays, tuples and bitsets; bits of numbers

	min, max uint64           // of integers; min without its sign
	box      func(uint64) any // makes an integer

	members []string // names
	byName  map[string]int
	slots   []int    // positions of the members in the record, -1 for those that are dropped
	names   []string // of the members that are not dropped
}

// kind is a set of kinds of JSON values.
type kind uint8

const (
	null kind = 1 << iota
	boolean
	number
	text
	array
	object
)

// kinds gives the kind of a JSON value by its first byte.
var kinds = [256]kind{
	'n': null, 't': boolean, 'f': boolean, '"': text, '[': array, '{': object, '-': number,
	'0': number, '1': number, '2': number, '3': number, '4': number, '5': number, '6': number, '7': number,
	'8': number, '9': number,
}

// compile makes the node of f and those of the fields below it.
func compile(f *schema.Field) *node {
	n := &node{size: f.ArraySize}
	for _, child := range f.Children {
		n.children = append(n.children, compile(child))
	}
	as := func(kinds kind, parse func(*Reader, *node) (any, *Error), what string, args ...any) *node {
		n.kinds, n.parse, n.what = kinds, parse, fmt.Sprintf(what, args...)
		return n
	}
	switch f.Shape {
	case schema.Scalar, schema.Cardinality:
		switch k := f.Kind(); k {
		case cpptype.Bool:
			return as(boolean, (*Reader).boolean, "true or false")
		case cpptype.Float32, cpptype.Float64:
			n.size = 32 << (k - cpptype.Float32)
			return as(number|text, (*Reader).float, "a %d-bit number", n.size)
		default:
			t := integers[k]
			n.box, n.max = t.box, 1<<t.size-1
			if t.signed {
				n.min, n.max = 1<<(t.size-1), n.max>>1
			}
			return as(number, (*Reader).integer, "an integer from %d to %d", -int64(n.min), n.max)
		}
	case schema.String:
		return as(text, (*Reader).str, "a string")
	case schema.Bitset:
		return as(text, (*Reader).bits, "a string of %d bits", n.size)
	case schema.Streamer:
		return as(text, (*Reader).base64, "a string in base64")
	case schema.Wrapper:
		return n.children[0]
	case schema.Optional:
		n.optional = true
		return as(null|n.children[0].kinds, (*Reader).optional, "null or %s", n.children[0].what)
	case schema.Variant:
		n.kinds = null
		for _, child := range n.children {
			n.kinds |= child.kinds
		}
		return as(n.kinds, (*Reader).variant, "a value of %s", f.CppType())
	case schema.Array:
		return as(array, (*Reader).tuple, "an array of %d", n.size)
	case schema.Collection:
		if !f.IsMap() {
			return as(array, (*Reader).collection, "an array")
		}
		pair := n.children[0]
		pair.kinds, pair.parse, pair.what = array, (*Reader).tuple, "[key,value]"
		if f.Children[0].Children[0].Shape == schema.String {
			return as(array|object, (*Reader).dictionary, "an object or an array of [key,value]")
		}
		return as(array, (*Reader).dictionary, "an array of [key,value]")
	case schema.Record:
		n.size = uint64(len(n.children))
		if f.IsTuple() {
			return as(array, (*Reader).tuple, "an array of %d", n.size)
		}
		n.byName = make(map[string]int, n.size)
		for i, child := range f.Children {
			n.members, n.byName[child.Name] = append(n.members, child.Name), i
			if child.Source != nil {
				n.slots = append(n.slots, -1)
				continue
			}
			n.slots, n.names = append(n.slots, len(n.names)), append(n.names, child.Name)
		}
		return as(object, (*Reader).record, "an object")
	}
	return as(0, nil, "nothing, as the field cannot be read")
}

// integers lists, by type, how to make an integer from its two's complement.
var integers = map[cpptype.Kind]struct {
	size   uint64
	signed bool
	box    func(uint64) any
}{
	cpptype.Char:        {8, true, func(v uint64) any { return int8(v) }},
	cpptype.Int8:        {8, true, func(v uint64) any { return int8(v) }},
	cpptype.Int16:       {16, true, func(v uint64) any { return int16(v) }},
	cpptype.Int32:       {32, true, func(v uint64) any { return int32(v) }},
	cpptype.Int64:       {64, true, func(v uint64) any { return int64(v) }},
	cpptype.Byte:        {8, false, func(v uint64) any { return uint8(v) }},
	cpptype.UInt8:       {8, false, func(v uint64) any { return uint8(v) }},
	cpptype.UInt16:      {16, false, func(v uint64) any { return uint16(v) }},
	cpptype.UInt32:      {32, false, func(v uint64) any { return uint32(v) }},
	cpptype.UInt64:      {64, false, func(v uint64) any { return v }},
	cpptype.Cardinality: {64, false, func(v uint64) any { return v }},
}
