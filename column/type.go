package column

import (
	"fmt"
	"reflect"
)

// A Type is a column type: what an element is and how a page stores it.
type Type uint16

// The column types of format 1.0.
const (
	Bit          Type = 0x00
	Byte         Type = 0x01
	Char         Type = 0x02
	Int8         Type = 0x03
	UInt8        Type = 0x04
	Int16        Type = 0x05
	UInt16       Type = 0x06
	Int32        Type = 0x07
	UInt32       Type = 0x08
	Int64        Type = 0x09
	UInt64       Type = 0x0A
	Real16       Type = 0x0B
	Real32       Type = 0x0C
	Real64       Type = 0x0D
	Index32      Type = 0x0E
	Index64      Type = 0x0F
	Switch       Type = 0x10
	SplitInt16   Type = 0x11
	SplitUInt16  Type = 0x12
	SplitInt32   Type = 0x13
	SplitUInt32  Type = 0x14
	SplitInt64   Type = 0x15
	SplitUInt64  Type = 0x16
	SplitReal16  Type = 0x17
	SplitReal32  Type = 0x18
	SplitReal64  Type = 0x19
	SplitIndex32 Type = 0x1A
	SplitIndex64 Type = 0x1B
	Real32Trunc  Type = 0x1C
	Real32Quant  Type = 0x1D
)

// An encoding is how the elements of a page are stored: as words whose bytes are
// split into planes or not, after zigzag or delta encoding or without.
type encoding uint8

const (
	plain encoding = iota
	split
	splitZigzag
	splitDelta
	packed // elements of Bits bits one after the other, lowest bit first
	tagged // 64-bit index, 32-bit tag
)

// info is a row of the table of column types.
type info struct {
	name             string
	minBits, maxBits uint16       // on storage, per element
	kind             reflect.Kind // of an element in memory; that of Tagged is Struct
	encoding         encoding
}

var types = [...]info{
	Bit:          {"Bit", 1, 1, reflect.Bool, packed},
	Byte:         {"Byte", 8, 8, reflect.Uint8, plain},
	Char:         {"Char", 8, 8, reflect.Int8, plain}, // signed, as ROOT's char on x86-64
	Int8:         {"Int8", 8, 8, reflect.Int8, plain},
	UInt8:        {"UInt8", 8, 8, reflect.Uint8, plain},
	Int16:        {"Int16", 16, 16, reflect.Int16, plain},
	UInt16:       {"UInt16", 16, 16, reflect.Uint16, plain},
	Int32:        {"Int32", 32, 32, reflect.Int32, plain},
	UInt32:       {"UInt32", 32, 32, reflect.Uint32, plain},
	Int64:        {"Int64", 64, 64, reflect.Int64, plain},
	UInt64:       {"UInt64", 64, 64, reflect.Uint64, plain},
	Real16:       {"Real16", 16, 16, reflect.Float32, plain},
	Real32:       {"Real32", 32, 32, reflect.Float32, plain},
	Real64:       {"Real64", 64, 64, reflect.Float64, plain},
	Index32:      {"Index32", 32, 32, reflect.Uint32, plain},
	Index64:      {"Index64", 64, 64, reflect.Uint64, plain},
	Switch:       {"Switch", 96, 96, reflect.Struct, tagged},
	SplitInt16:   {"SplitInt16", 16, 16, reflect.Int16, splitZigzag},
	SplitUInt16:  {"SplitUInt16", 16, 16, reflect.Uint16, split},
	SplitInt32:   {"SplitInt32", 32, 32, reflect.Int32, splitZigzag},
	SplitUInt32:  {"SplitUInt32", 32, 32, reflect.Uint32, split},
	SplitInt64:   {"SplitInt64", 64, 64, reflect.Int64, splitZigzag},
	SplitUInt64:  {"SplitUInt64", 64, 64, reflect.Uint64, split},
	SplitReal16:  {"SplitReal16", 16, 16, reflect.Float32, split},
	SplitReal32:  {"SplitReal32", 32, 32, reflect.Float32, split},
	SplitReal64:  {"SplitReal64", 64, 64, reflect.Float64, split},
	SplitIndex32: {"SplitIndex32", 32, 32, reflect.Uint32, splitDelta},
	SplitIndex64: {"SplitIndex64", 64, 64, reflect.Uint64, splitDelta},
	Real32Trunc:  {"Real32Trunc", 10, 31, reflect.Float32, packed},
	Real32Quant:  {"Real32Quant", 1, 32, reflect.Float64, packed},
}

// Known reports whether t is a type of the table.
func (t Type) Known() bool { return int(t) < len(types) }

// IsIndex reports whether the elements of t are offsets into a collection.
func (t Type) IsIndex() bool {
	return t == Index32 || t == Index64 || t == SplitIndex32 || t == SplitIndex64
}

// String returns the name of t in the specification, or Type(0x2a).
func (t Type) String() string {
	if !t.Known() {
		return fmt.Sprintf("Type(%#02x)", uint16(t))
	}
	return types[t].name
}

// Kind returns the kind of the Go type that elements of t have in memory:
// reflect.Struct for Tagged, reflect.Invalid if t is not known.
func (t Type) Kind() reflect.Kind {
	if !t.Known() {
		return reflect.Invalid
	}
	return types[t].kind
}

// BitRange returns the least and the greatest number of bits on storage that an
// element of t may have, or zeros if t is not known.
func (t Type) BitRange() (least, most uint16) {
	if !t.Known() {
		return 0, 0
	}
	return types[t].minBits, types[t].maxBits
}
