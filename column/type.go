// Package column encodes and decodes one page of one column: the type table of
// the format and its codecs.
//
// Source: specification, section "Column Description"; ROOT class
// RColumnElement.
package column

import "fmt"

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

// A Kind is the Go type of a column's elements in memory.
type Kind uint8

const (
	KindBool    Kind = iota + 1 // bool
	KindInt8                    // int8
	KindUint8                   // uint8
	KindInt16                   // int16
	KindUint16                  // uint16
	KindInt32                   // int32
	KindUint32                  // uint32
	KindInt64                   // int64
	KindUint64                  // uint64
	KindFloat32                 // float32
	KindFloat64                 // float64
	KindTagged                  // Tagged
)

// An encoding is what happens to the elements of a page, decoding from left to
// right: the words are unsplit or not, then unzigzagged or summed up or not.
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
	minBits, maxBits uint16 // on storage, per element
	kind             Kind
	encoding         encoding
}

var types = [...]info{
	Bit:          {"Bit", 1, 1, KindBool, packed},
	Byte:         {"Byte", 8, 8, KindUint8, plain},
	Char:         {"Char", 8, 8, KindInt8, plain}, // signed, as ROOT's char on x86-64
	Int8:         {"Int8", 8, 8, KindInt8, plain},
	UInt8:        {"UInt8", 8, 8, KindUint8, plain},
	Int16:        {"Int16", 16, 16, KindInt16, plain},
	UInt16:       {"UInt16", 16, 16, KindUint16, plain},
	Int32:        {"Int32", 32, 32, KindInt32, plain},
	UInt32:       {"UInt32", 32, 32, KindUint32, plain},
	Int64:        {"Int64", 64, 64, KindInt64, plain},
	UInt64:       {"UInt64", 64, 64, KindUint64, plain},
	Real16:       {"Real16", 16, 16, KindFloat32, plain},
	Real32:       {"Real32", 32, 32, KindFloat32, plain},
	Real64:       {"Real64", 64, 64, KindFloat64, plain},
	Index32:      {"Index32", 32, 32, KindUint32, plain},
	Index64:      {"Index64", 64, 64, KindUint64, plain},
	Switch:       {"Switch", 96, 96, KindTagged, tagged},
	SplitInt16:   {"SplitInt16", 16, 16, KindInt16, splitZigzag},
	SplitUInt16:  {"SplitUInt16", 16, 16, KindUint16, split},
	SplitInt32:   {"SplitInt32", 32, 32, KindInt32, splitZigzag},
	SplitUInt32:  {"SplitUInt32", 32, 32, KindUint32, split},
	SplitInt64:   {"SplitInt64", 64, 64, KindInt64, splitZigzag},
	SplitUInt64:  {"SplitUInt64", 64, 64, KindUint64, split},
	SplitReal16:  {"SplitReal16", 16, 16, KindFloat32, split},
	SplitReal32:  {"SplitReal32", 32, 32, KindFloat32, split},
	SplitReal64:  {"SplitReal64", 64, 64, KindFloat64, split},
	SplitIndex32: {"SplitIndex32", 32, 32, KindUint32, splitDelta},
	SplitIndex64: {"SplitIndex64", 64, 64, KindUint64, splitDelta},
	Real32Trunc:  {"Real32Trunc", 10, 31, KindFloat32, packed},
	Real32Quant:  {"Real32Quant", 1, 32, KindFloat64, packed},
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

// BitRange returns how many bits on storage an element of t may have, zeros if t
// is not known.
func (t Type) BitRange() (least, most uint16) {
	if !t.Known() {
		return 0, 0
	}
	return types[t].minBits, types[t].maxBits
}
