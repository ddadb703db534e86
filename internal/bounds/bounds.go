package bounds

import (
	"cmp"
	"fmt"
	"math"
)

// A Kind says what numbers Bounds are of. The values are those in the files; see
// docs/reference/zonemaps.md.
type Kind uint8

const (
	Unknown Kind = iota
	Bool
	Int
	Uint
	Float
	Size // numbers of items of collections
)

var kindNames = [...]string{"unknown", "bool", "int", "uint", "float", "size"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Bounds are the least and the greatest of some numbers of a Kind. The zero value says
// nothing about any numbers.
type Bounds struct {
	Kind  Kind
	Empty bool // there are no numbers, apart from NaNs; the bounds are 0 then
	NaN   bool // there are NaNs

	// The bits of the bounds: of an int64 for Int, of a float64 for Float, where a zero
	// is positive; otherwise of a uint64.
	Least, Greatest uint64
}

// Ints returns bounds of signed integers.
func Ints(least, greatest int64) Bounds {
	return Bounds{Kind: Int, Least: uint64(least), Greatest: uint64(greatest)}
}

// Floats returns bounds of floats.
func Floats(least, greatest float64, nan bool) Bounds {
	return Bounds{Kind: Float, Least: math.Float64bits(least + 0), Greatest: math.Float64bits(greatest + 0), NaN: nan}
}

// None returns the bounds of no numbers of a kind.
func None(k Kind) Bounds { return Bounds{Kind: k, Empty: true} }

// IntBounds returns the bounds of a Bounds of kind Int.
func (b Bounds) IntBounds() (least, greatest int64) { return int64(b.Least), int64(b.Greatest) }

// FloatBounds returns the bounds of a Bounds of kind Float.
func (b Bounds) FloatBounds() (least, greatest float64) {
	return math.Float64frombits(b.Least), math.Float64frombits(b.Greatest)
}

// String returns the bounds as in "int [-1, 5]", "float [0.5, 2], NaN".
func (b Bounds) String() string {
	s := b.Kind.String() + " "
	switch {
	case b.Kind == Unknown:
		return b.Kind.String()
	case b.Empty:
		s += "[]"
	case b.Kind == Int:
		least, greatest := b.IntBounds()
		s += fmt.Sprintf("[%d, %d]", least, greatest)
	case b.Kind == Float:
		least, greatest := b.FloatBounds()
		s += fmt.Sprintf("[%v, %v]", least, greatest)
	default:
		s += fmt.Sprintf("[%d, %d]", b.Least, b.Greatest)
	}
	if b.NaN {
		s += ", NaN"
	}
	return s
}

// compare compares the bits of two numbers of a kind.
func (k Kind) compare(x, y uint64) int {
	switch k {
	case Int:
		return cmp.Compare(int64(x), int64(y))
	case Float:
		return cmp.Compare(math.Float64frombits(x), math.Float64frombits(y))
	}
	return cmp.Compare(x, y)
}

// Valid reports whether the bounds are such as numbers can have.
func (b Bounds) Valid() bool {
	switch {
	case b.Kind == Unknown || b.Kind > Size, b.NaN && b.Kind != Float:
		return false
	case b.Empty:
		return b.Least == 0 && b.Greatest == 0
	case b.Kind == Float:
		if least, greatest := b.FloatBounds(); math.IsNaN(least) || math.IsNaN(greatest) {
			return false
		}
	}
	return b.Kind.compare(b.Least, b.Greatest) <= 0 && (b.Kind != Bool || b.Greatest <= 1)
}

// Join returns the bounds of the numbers of both. It is Unknown if one of them is, or if
// they are of different kinds.
func (b Bounds) Join(c Bounds) Bounds {
	switch {
	case b.Kind != c.Kind:
		return Bounds{}
	case c.Empty:
		b.NaN = b.NaN || c.NaN
		return b
	case b.Empty:
		c.NaN = b.NaN || c.NaN
		return c
	}
	if b.Kind.compare(c.Least, b.Least) < 0 {
		b.Least = c.Least
	}
	if b.Kind.compare(c.Greatest, b.Greatest) > 0 {
		b.Greatest = c.Greatest
	}
	b.NaN = b.NaN || c.NaN
	return b
}

// Contain reports whether all numbers with the bounds c are within b.
func (b Bounds) Contain(c Bounds) bool { return c.Kind != Unknown && b.Join(c) == b }
