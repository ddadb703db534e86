package schema

import (
	"fmt"
	"math/bits"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// maxPerEntry bounds the elements that fixed-size arrays, nested in each other,
// have per entry.
const maxPerEntry = 1 << 40

// check derives the shapes of f and of all fields below it. The error says what
// violates the format or is unknown. An entry holds perEntry values of f; 0 means
// that their number varies. The kinds are those of type names that have been parsed.
//
// Specification: "Mapping of C++ Types to Fields and Columns".
func (f *Field) check(perEntry int64, kinds map[string]cpptype.Kind) error {
	if f.err != nil {
		return f.err
	}
	if f.Version != 0 {
		return frame.Unsupported("field %q has field version %d", f.Path(), f.Version)
	}
	kind, known := kinds[f.TypeName]
	if !known {
		// A name that does not parse is that of a user's type.
		if t, err := cpptype.Parse(f.TypeName); err == nil {
			kind = t.Kind()
		}
		kinds[f.TypeName] = kind
	}
	f.kind = kind
	var err error
	if f.Shape, err = f.shape(); err != nil {
		return err
	}

	if f.Shape == Array || f.Shape == Bitset {
		hi, n := bits.Mul64(uint64(perEntry), f.ArraySize)
		if hi != 0 || n > maxPerEntry || f.ArraySize > maxPerEntry {
			return frame.Unsupported("field %q: an array of %d values", f.Path(), f.ArraySize)
		}
		perEntry = int64(n)
	}
	for r, rep := range f.Columns {
		if len(rep) != len(f.Columns[0]) {
			return frame.Corrupt("representation %d of field %q has %d columns, the first has %d", r, f.Path(),
				len(rep), len(f.Columns[0]))
		}
		for _, c := range rep {
			// Only the principal column has an element per value; the numbers of
			// characters and streamed bytes vary.
			if c.Owner == f && c.Index == 0 {
				c.PerEntry = perEntry
			}
		}
	}
	switch f.Shape {
	case Collection, Optional, Variant:
		if !f.IsDense() {
			perEntry = 0
		}
	}
	for _, child := range f.Children {
		if err := child.check(perEntry, kinds); err != nil {
			return err
		}
	}
	return nil
}

// shape derives the shape of f. The structural role decides, then the columns and
// the subfields; the type name only decides what these leave open.
func (f *Field) shape() (Shape, error) {
	switch f.Role {
	case envelope.RolePlain:
		switch {
		case len(f.Columns) == 0 && len(f.Children) == 1 &&
			(f.Flags&envelope.FieldRepetitive != 0 || f.kind == cpptype.Array):
			return Array, nil // ROOT omits the flag if the array has no elements
		case len(f.Columns) == 0 && len(f.Children) == 1:
			return Wrapper, nil
		case len(f.Children) > 0:
			return 0, frame.Unsupported("plain field %q of type %s with %d subfields", f.Path(), f.TypeName, len(f.Children))
		case f.Flags&envelope.FieldRepetitive != 0 || f.kind == cpptype.Bitset:
			return Bitset, f.columns(bitColumn)
		case f.kind == cpptype.String:
			return String, f.columns(column.Type.IsIndex, charColumn)
		case f.kind == cpptype.Cardinality:
			return Cardinality, f.columns(column.Type.IsIndex)
		case f.kind == cpptype.Byte:
			return Scalar, f.columns(byteColumn)
		case f.kind.IsFloat():
			return Scalar, f.columns(realColumn)
		case f.kind == cpptype.Bool, f.kind == cpptype.Char, f.kind.IsInteger():
			return Scalar, f.columns(integralColumn)
		}
		return 0, frame.Unsupported("field %q has the type %q, which is not known as a leaf", f.Path(), f.TypeName)
	case envelope.RoleCollection:
		if len(f.Children) != 1 {
			return 0, frame.Unsupported("collection field %q with %d subfields", f.Path(), len(f.Children))
		}
		shape := Collection
		if f.kind == cpptype.Optional || f.kind == cpptype.UniquePtr {
			shape = Optional
			if len(f.Columns) == 1 && len(f.Columns[0]) == 1 && f.Columns[0][0].PreRelease {
				return shape, f.columns(bitColumn)
			}
		}
		return shape, f.columns(column.Type.IsIndex)
	case envelope.RoleRecord:
		return Record, f.columns()
	case envelope.RoleVariant:
		if len(f.Children) == 0 {
			return 0, frame.Corrupt("variant field %q without subfields", f.Path())
		}
		return Variant, f.columns(switchColumn)
	case envelope.RoleStreamer:
		return Streamer, f.columns(column.Type.IsIndex, byteColumn)
	}
	return 0, frame.Unsupported("field %q has the structural role %#02x", f.Path(), uint16(f.Role))
}

// checkProjections checks that f and the fields below it have as many values in an
// entry as the fields whose columns they borrow: they must lie below the same
// collections and arrays.
//
// Specification: "Field Description", on projected fields.
func (f *Field) checkProjections() error {
	for _, rep := range f.Columns {
		for _, c := range rep {
			if c.Owner != f && !sameItems(f.Parent, c.Owner.Parent) {
				return frame.Corrupt("field %q has column %d of field %q, which lies below other collections",
					f.Path(), c.ID, c.Owner.Path())
			}
		}
	}
	for _, child := range f.Children {
		if err := child.checkProjections(); err != nil {
			return err
		}
	}
	return nil
}

// sameItems reports whether a and b, and the fields that they are nested in, always
// have the same number of items.
func sameItems(a, b *Field) bool {
	a, b = a.multiplier(), b.multiplier()
	switch {
	case a == b:
		return true
	case a == nil || b == nil || a.Shape != b.Shape || a.ArraySize != b.ArraySize:
		return false
	case a.Shape != Array && a.Columns[0][0] != b.Columns[0][0]:
		return false
	}
	return sameItems(a.Parent, b.Parent)
}

// multiplier returns the innermost of f and its ancestors whose number of items
// differs from that of its parent.
func (f *Field) multiplier() *Field {
	for f != nil && (f.Shape == Record || f.Shape == Wrapper || f.IsDense()) {
		f = f.Parent
	}
	return f
}

// columns checks that every representation has exactly the wanted columns.
func (f *Field) columns(want ...func(column.Type) bool) error {
	if len(f.Columns) == 0 && len(want) > 0 {
		return frame.Corrupt("field %q of type %s has no columns", f.Path(), f.TypeName)
	}
	for r, rep := range f.Columns {
		for _, c := range rep {
			if err := c.Format().Check(); err != nil {
				return fmt.Errorf("column %d of field %q: %w", c.ID, f.Path(), err)
			}
		}
		if len(rep) != len(want) {
			return frame.Corrupt("representation %d of field %q, a %s, has %d columns, expected %d", r, f.Path(),
				f.TypeName, len(rep), len(want))
		}
		for i, c := range rep {
			if !want[i](c.Type) {
				return frame.Unsupported("field %q, a %s, has a column of type %v", f.Path(), f.TypeName, c.Type)
			}
		}
	}
	return nil
}

func bitColumn(t column.Type) bool    { return t == column.Bit }
func byteColumn(t column.Type) bool   { return t == column.Byte }
func charColumn(t column.Type) bool   { return t == column.Char }
func switchColumn(t column.Type) bool { return t == column.Switch }

func realColumn(t column.Type) bool {
	switch t {
	case column.Real16, column.SplitReal16, column.Real32, column.SplitReal32, column.Real64, column.SplitReal64,
		column.Real32Trunc, column.Real32Quant:
		return true
	}
	return false
}

func integralColumn(t column.Type) bool {
	return t == column.Bit || t == column.Char || t >= column.Int8 && t <= column.UInt64 ||
		t >= column.SplitInt16 && t <= column.SplitUInt64
}
