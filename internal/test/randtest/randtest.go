package randtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
	"github.com/go-rntuple/go-rntuple/value"
)

// A Maker makes random types and values.
type Maker struct{ *rand.Rand }

var scalars = []string{"bool", "char", "std::byte", "std::int8_t", "std::uint8_t", "std::int16_t", "std::uint16_t",
	"std::int32_t", "std::uint32_t", "std::int64_t", "std::uint64_t", "float", "double", "std::string"}

// Type returns a C++ type that is nested at most depth deep.
func (m Maker) Type(depth int) string {
	if depth == 0 || m.IntN(3) == 0 {
		return scalars[m.IntN(len(scalars))]
	}
	inner := func() string { return m.Type(depth - 1) }
	switch m.IntN(12) {
	case 0:
		return fmt.Sprintf("std::array<%s,%d>", inner(), 1+m.IntN(3))
	case 1:
		return fmt.Sprintf("std::bitset<%d>", 1+m.IntN(70))
	case 2:
		return fmt.Sprintf("std::optional<%s>", inner())
	case 3:
		return fmt.Sprintf("std::unique_ptr<%s>", inner())
	case 4:
		return fmt.Sprintf("std::pair<%s,%s>", inner(), inner())
	case 5:
		return fmt.Sprintf("std::tuple<%s,%s,%s>", inner(), inner(), inner())
	case 6:
		return fmt.Sprintf("std::map<%s,%s>", scalars[3+m.IntN(len(scalars)-3)], inner())
	case 7:
		return fmt.Sprintf("std::set<%s>", scalars[3+m.IntN(len(scalars)-3)])
	case 8:
		return fmt.Sprintf("std::variant<%s,%s,%s>", inner(), inner(), inner())
	case 9:
		return "std::atomic<std::int32_t>"
	}
	return fmt.Sprintf("std::vector<%s>", inner())
}

// Value returns a dynamic value of f.
func (m Maker) Value(f *schema.Field) any {
	items := func(n int) []any {
		var all []any
		for range n {
			all = append(all, m.Value(f.Children[0]))
		}
		return all
	}
	switch f.Shape {
	case schema.Scalar:
		return m.scalar(f.Kind())
	case schema.String:
		return strings.Repeat("xyz"[m.IntN(3):], m.IntN(4)) + string([]byte{byte(m.Uint32())})[:m.IntN(2)]
	case schema.Bitset:
		bits := make(value.Bits, f.ArraySize)
		for i := range bits {
			bits[i] = m.IntN(2) == 0
		}
		return bits
	case schema.Array:
		return items(int(f.ArraySize))
	case schema.Wrapper:
		return m.Value(f.Children[0])
	case schema.Optional:
		if m.IntN(2) == 0 {
			return nil
		}
		v := m.Value(f.Children[0])
		if _, isSome := v.(value.Some); v == nil || isSome {
			return value.Some{Value: v}
		}
		return v
	case schema.Record: // pairs and tuples
		var all []any
		for _, child := range f.Children {
			all = append(all, m.Value(child))
		}
		return all
	case schema.Variant:
		if i := m.IntN(len(f.Children) + 1); i < len(f.Children) {
			return value.Alternative{Index: i, Value: m.Value(f.Children[i])}
		}
		return nil
	}
	n := m.IntN(4) * m.IntN(2)
	if !f.IsMap() {
		return items(n)
	}
	pair := f.Children[0].Children
	all := value.Map{StringKeys: pair[0].Shape == schema.String}
	for range n {
		all.Elements = append(all.Elements, value.KeyValue{Key: m.Value(pair[0]), Value: m.Value(pair[1])})
	}
	return all
}

func (m Maker) scalar(kind cpptype.Kind) any {
	v := m.Uint64() >> m.IntN(64)
	switch kind {
	case cpptype.Bool:
		return v&1 != 0
	case cpptype.Char, cpptype.Int8:
		return int8(v)
	case cpptype.Byte, cpptype.UInt8:
		return uint8(v)
	case cpptype.Int16:
		return int16(v)
	case cpptype.UInt16:
		return uint16(v)
	case cpptype.Int32:
		return int32(v)
	case cpptype.UInt32:
		return uint32(v)
	case cpptype.Int64:
		return int64(v)
	case cpptype.UInt64:
		return v
	case cpptype.Float32:
		return math.Float32frombits(uint32(v))
	}
	return math.Float64frombits(v)
}

// Zero returns the value of a field in entries that were written before it was
// added.
func Zero(f *schema.Field) any {
	switch f.Shape {
	case schema.Scalar:
		return Maker{rand.New(zeros{})}.scalar(f.Kind())
	case schema.String:
		return ""
	case schema.Bitset:
		return make(value.Bits, f.ArraySize)
	case schema.Array:
		var all []any
		for range f.ArraySize {
			all = append(all, Zero(f.Children[0]))
		}
		return all
	case schema.Wrapper:
		return Zero(f.Children[0])
	case schema.Record:
		var all []any
		for _, child := range f.Children {
			all = append(all, Zero(child))
		}
		return all
	case schema.Optional, schema.Variant:
		return nil
	}
	if f.IsMap() {
		return value.Map{StringKeys: f.Children[0].Children[0].Shape == schema.String}
	}
	return []any(nil)
}

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }
