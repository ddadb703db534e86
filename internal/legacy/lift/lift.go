package lift

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// noID is an ID that no field and no column has.
const noID = math.MaxUint32

// Schema lifts the two parts of a schema in place: that of the header, and what
// the footer adds. The columns must already have the types of format 1.
//
//   - A projected field is one whose columns are aliases; format 1 marks it and
//     names its source.
//   - Items are named _0, _1 and so on, not after their type.
//   - The members of an untyped collection become those of a record _0.
//   - The bits that optionals have instead of an index, which format 1 lacks, are
//     marked as pre-release.
//
// References to fields or columns that do not exist are left as they are.
func Schema(header, extension *envelope.Schema) {
	parts := []*envelope.Schema{header, extension}
	project(parts)
	insertRecords(parts)
	renameItems(parts)
	markDense(parts)
}

// fields returns the fields of all parts, by ID.
func fields(parts []*envelope.Schema) (all []*envelope.Field) {
	for _, part := range parts {
		for i := range part.Fields {
			all = append(all, &part.Fields[i])
		}
	}
	return all
}

// project marks the fields that aliases belong to.
func project(parts []*envelope.Schema) {
	all := fields(parts)
	var columns []uint32 // owners, by ID of the column
	for _, part := range parts {
		for _, c := range part.Columns {
			columns = append(columns, c.Field)
		}
	}
	for _, part := range parts {
		for _, a := range part.Aliases {
			if uint64(a.Field) >= uint64(len(all)) || uint64(a.Column) >= uint64(len(columns)) {
				continue
			}
			if f := all[a.Field]; f.Flags&envelope.FieldProjected == 0 {
				f.Flags |= envelope.FieldProjected
				f.Source = columns[a.Column]
			}
		}
	}
}

// children returns the IDs of the subfields, by ID.
func children(all []*envelope.Field) map[uint32][]uint32 {
	of := map[uint32][]uint32{}
	for id, f := range all {
		if id := uint32(id); f.Parent != id {
			of[f.Parent] = append(of[f.Parent], id)
		}
	}
	return of
}

// insertRecords puts a record between every untyped collection and its members,
// unless there is one already.
func insertRecords(parts []*envelope.Schema) {
	all := fields(parts)
	of := children(all)
	lacks := func(id uint32) bool {
		f, items := all[id], of[id]
		return f.Role == envelope.RoleCollection && f.TypeName == "" && !(len(items) == 1 && all[items[0]].Name == "_0")
	}
	moved := make([]uint32, len(all)) // new IDs
	next := uint32(0)
	for id := range all {
		moved[id] = next
		if next++; lacks(uint32(id)) {
			next++
		}
	}
	if int(next) == len(all) {
		return
	}
	to := func(id uint32) uint32 {
		if uint64(id) >= uint64(len(moved)) {
			return noID
		}
		return moved[id]
	}
	id := uint32(0)
	for _, part := range parts {
		list := make([]envelope.Field, 0, len(part.Fields))
		for _, f := range part.Fields {
			parent := f.Parent
			f.Parent, f.Source = to(parent), to(f.Source)
			if parent != id && f.Parent != noID && lacks(parent) {
				f.Parent++
			}
			list = append(list, f)
			if lacks(id) {
				list = append(list, envelope.Field{Parent: moved[id], Role: envelope.RoleRecord, Name: "_0"})
			}
			id++
		}
		part.Fields = list
		for i := range part.Columns {
			part.Columns[i].Field = to(part.Columns[i].Field)
		}
		for i := range part.Aliases {
			part.Aliases[i].Field = to(part.Aliases[i].Field)
		}
	}
}

// renameItems numbers the subfields of fields whose C++ type does not name them.
func renameItems(parts []*envelope.Schema) {
	all := fields(parts)
	for id, items := range children(all) {
		if uint64(id) >= uint64(len(all)) {
			continue
		}
		f := all[id]
		switch kind := kindOf(f); {
		case f.Role == envelope.RoleVariant, kind == cpptype.Pair, kind == cpptype.Tuple:
		case len(items) == 1 && (f.Role == envelope.RoleCollection || f.Role == envelope.RolePlain):
		default:
			continue
		}
		for i, item := range items {
			all[item].Name = fmt.Sprintf("_%d", i)
		}
	}
}

// markDense marks the bit columns of optionals.
func markDense(parts []*envelope.Schema) {
	all := fields(parts)
	for _, part := range parts {
		for i := range part.Columns {
			c := &part.Columns[i]
			if c.Type != column.Bit || uint64(c.Field) >= uint64(len(all)) || all[c.Field].Role != envelope.RoleCollection {
				continue
			}
			kind := kindOf(all[c.Field])
			c.PreRelease = kind == cpptype.Optional || kind == cpptype.UniquePtr
		}
	}
}

func kindOf(f *envelope.Field) cpptype.Kind {
	t, err := cpptype.Parse(f.TypeName)
	if err != nil {
		return cpptype.User
	}
	return t.Kind()
}

// unsigned maps unsigned column types to the signed types that were stored in such
// columns before there were signed column types.
var unsigned = map[column.Type]column.Type{
	column.UInt16: column.Int16, column.SplitUInt16: column.SplitInt16,
	column.UInt32: column.Int32, column.SplitUInt32: column.SplitInt32,
	column.UInt64: column.Int64, column.SplitUInt64: column.SplitInt64,
}

// Signs turns columns of unsigned integers and bytes into columns of signed
// integers and characters where the type of their field is one of these. Before
// there were column types for signed integers, only the field told.
func Signs(header, extension *envelope.Schema) {
	parts := []*envelope.Schema{header, extension}
	all := fields(parts)
	seen := map[uint32]bool{}
	for _, part := range parts {
		for i := range part.Columns {
			c := &part.Columns[i]
			if uint64(c.Field) >= uint64(len(all)) {
				continue
			}
			kind, second := kindOf(all[c.Field]), seen[c.Field]
			seen[c.Field] = true
			bytes := c.Type == column.Byte || c.Type == column.UInt8 || c.Type == column.Int8
			switch {
			case bytes && (kind == cpptype.Char || kind == cpptype.String && second):
				c.Type = column.Char
			case bytes && kind == cpptype.Int8:
				c.Type = column.Int8
			case bytes && kind == cpptype.UInt8:
				c.Type = column.UInt8
			case kind.IsSigned() && unsigned[c.Type] != 0:
				c.Type, c.PreRelease = unsigned[c.Type], true
			}
		}
	}
}

// Each returns what lift makes of each of the items.
func Each[A, B any](items []A, lift func(*A) B) (lifted []B) {
	for i := range items {
		lifted = append(lifted, lift(&items[i]))
	}
	return lifted
}

// WireField describes the members of a field in the order of RC1 and RC2. known are the flags
// that the dialect has.
func WireField(c *frame.Codec, f *envelope.Field, known uint16) {
	frame.Int(c, "field version", &f.Version)
	frame.Int(c, "type version", &f.TypeVersion)
	frame.Int(c, "parent", &f.Parent)
	frame.Int(c, "structural role", &f.Role)
	frame.Int(c, "flags", &f.Flags)
	if f.Flags&known&envelope.FieldRepetitive != 0 {
		frame.Int(c, "array size", &f.ArraySize)
	}
	if f.Flags&known&envelope.FieldProjected != 0 {
		frame.Int(c, "source field", &f.Source)
	}
	if f.Flags&known&envelope.FieldChecksum != 0 {
		frame.Int(c, "type checksum", &f.TypeChecksum)
	}
	c.String("name", &f.Name)
	c.String("type name", &f.TypeName)
	c.String("type alias", &f.TypeAlias)
	c.String("description", &f.Description)
}

// Types holds the column types of format 1 by the numbers that they had in RC1 and
// RC2.
var Types = [...]column.Type{
	0x01: column.Index64, 0x02: column.Index32, 0x03: column.Switch, 0x04: column.Byte,
	0x05: column.Char, 0x06: column.Bit,
	0x07: column.Real64, 0x08: column.Real32, 0x09: column.Real16,
	0x0A: column.UInt64, 0x0B: column.UInt32, 0x0C: column.UInt16, 0x0D: column.UInt8,
	0x0E: column.SplitIndex64, 0x0F: column.SplitIndex32,
	0x10: column.SplitReal64, 0x11: column.SplitReal32, 0x12: column.SplitReal16,
	0x13: column.SplitUInt64, 0x14: column.SplitUInt32, 0x15: column.SplitUInt16,
	0x16: column.Int64, 0x17: column.Int32, 0x18: column.Int16, 0x19: column.Int8,
	0x1A: column.SplitInt64, 0x1B: column.SplitInt32, 0x1C: column.SplitInt16,
	0x1D: column.Real32Trunc, 0x1E: column.Real32Quant,
}

// Type returns the column type of format 1 for a number in the given table. If the
// table lacks it, the result is a type that format 1 does not know, either.
func Type(table []column.Type, number uint32) column.Type {
	if number == 0 || uint64(number) >= uint64(len(table)) {
		return column.Type(0x8000 | number)
	}
	return table[number]
}

// Sealed is the size of the checksum that envelopes end with, in bytes.
const Sealed = 4

// Verify verifies the CRC32 that b ends with and makes body read what precedes it.
// The paths of errors begin with what.
func Verify(b []byte, what string, body func(*frame.Codec)) error {
	c := frame.NewReader(b, what, 0)
	end := len(b) - Sealed
	if end < 0 {
		c.Fail("checksum", frame.Corrupt("need %d bytes, have %d", Sealed, len(b)))
		return c.Err()
	}
	if stored, computed := Checksum(b), crc32.ChecksumIEEE(b[:end]); stored != uint64(computed) {
		c.Fail("checksum", frame.BadChecksum(stored, uint64(computed)))
		return c.Err()
	}
	c.Window("envelope", end, func() { body(c) })
	return c.Err()
}

// Checksum returns the checksum that a verified envelope ends with.
func Checksum(b []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(b[len(b)-Sealed:]))
}
