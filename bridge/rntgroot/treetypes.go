package rntgroot

import (
	"cmp"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A compiler makes decoders of the types in a tree.
type compiler struct {
	classes classes
	made    map[*class]*objects // nil while it is being made
}

// basic returns the decoder of a fundamental type, which has the given code; nil for others.
// Range is the comment that has the range of packed numbers.
func (k *compiler) basic(typeName string, code int32, comment string) (*decoder, error) {
	switch code {
	case codeDouble32:
		return packed32(comment)
	case codeFloat16:
		return packed16(comment)
	}
	return k.plain(typeName, code), nil
}

// plain is basic for types that are not packed.
func (k *compiler) plain(typeName string, code int32) *decoder {
	if t, err := cpptype.Parse(typeName); err == nil && code != codeBits {
		if c := basicCode(t); c != 0 && !(c == codeChar && code == codeUChar) {
			code = c
		} else if (code == codeInt || code == codeUInt) && t.Name != "" && !strings.HasSuffix(t.Name, "_t") {
			return enumOf(t.String())
		}
		if t.Kind() == cpptype.Int8 {
			return plainOf[int8]("std::int8_t", 1)
		}
	}
	switch code {
	case codeBool:
		return plainOf[bool]("bool", 1)
	case codeChar:
		return plainOf[int8]("char", 1)
	case codeUChar:
		return plainOf[uint8]("std::uint8_t", 1)
	case codeShort:
		return plainOf[int16]("std::int16_t", 2)
	case codeUShort:
		return plainOf[uint16]("std::uint16_t", 2)
	case codeInt, codeCounter:
		return plainOf[int32]("std::int32_t", 4)
	case codeUInt:
		return plainOf[uint32]("std::uint32_t", 4)
	case codeBits:
		return bitsOfObject()
	case codeLong, codeLong64:
		return plainOf[int64]("std::int64_t", 8)
	case codeULong, codeULong64:
		return plainOf[uint64]("std::uint64_t", 8)
	case codeFloat:
		return plainOf[float32]("float", 4)
	case codeDouble:
		return plainOf[float64]("double", 8)
	case codeTString:
		return tstrings
	}
	return nil
}

func enumOf(name string) *decoder {
	d := plainOf[int32](name, 4)
	d.enum = true
	return d
}

// bitsOfObject decodes the member fBits of a TObject.
func bitsOfObject() *decoder {
	d := plainOf[uint32]("std::uint32_t", 4)
	plain := d.read
	d.size = 0
	d.read = func(c *cursor, a *columnar.Array, n int, members bool) {
		const referenced = 1 << 4
		for i := 0; i < n && c.err == nil; i++ {
			if len(c.b) >= 4 && binary.BigEndian.Uint32(c.b)&referenced != 0 {
				c.fail(frame.Unsupported("an object that a TRef refers to"))
			}
			plain(c, a, 1, members)
		}
	}
	return d
}

// rangeOf returns what a comment or a list of leaves says about packed numbers, as ROOT's
// TStreamerElement reads it: "[least,greatest]" or "[least,greatest,bits]". If factor is 0, least
// is the number of bits, or 0.
func rangeOf(comment string) (least, factor float64, err error) {
	var parts []string
	for range 2 { // the first brackets may be a dimension
		_, inside, found := strings.Cut(comment, "[")
		inside, rest, closed := strings.Cut(inside, "]")
		if !found || !closed {
			return 0, 0, nil
		}
		if parts = strings.Split(inside, ","); len(parts) > 1 {
			break
		}
		comment = rest
	}
	if len(parts) < 2 {
		return 0, 0, nil
	}
	least, err1 := bound(parts[0])
	greatest, err2 := bound(parts[1])
	bits, err3 := 32, error(nil)
	if len(parts) == 3 {
		bits, err3 = strconv.Atoi(strings.TrimSpace(parts[2]))
	}
	if err := cmp.Or(err1, err2, err3); err != nil || len(parts) > 3 || bits < 2 || bits > 32 {
		return 0, 0, frame.Unsupported("the range in %q", comment)
	}
	if least < greatest {
		steps := float64(math.MaxUint32)
		if bits < 32 {
			steps = float64(uint64(1) << bits)
		}
		return least, steps / (greatest - least), nil
	}
	if bits < 15 {
		return float64(bits), 0, nil
	}
	return 0, 0, nil
}

// bound returns a bound of a range: a number, or some forms of pi.
func bound(s string) (float64, error) {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	sign := 1.0
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s, sign = rest, -1
	}
	if v, ok := map[string]float64{"pi": math.Pi, "2pi": 2 * math.Pi, "2*pi": 2 * math.Pi, "twopi": 2 * math.Pi,
		"pi/2": math.Pi / 2, "pi/4": math.Pi / 4}[s]; ok {
		return sign * v, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	return sign * v, err
}

// packed32 decodes Double32_t.
func packed32(comment string) (*decoder, error) {
	least, factor, err := rangeOf(comment)
	switch {
	case err != nil:
		return nil, err
	case factor != 0: // has more digits than Double32_t keeps in an RNTuple
		return converted("double", 4, func(b []byte) float64 { return float64(binary.BigEndian.Uint32(b))/factor + least }),
			nil
	case least != 0:
		d := converted("double", 3, func(b []byte) float64 { return float64(truncated(b, uint32(least))) })
		d.typeName = "Double32_t"
		return d, nil
	}
	d := converted("double", 4,
		func(b []byte) float64 { return float64(math.Float32frombits(binary.BigEndian.Uint32(b))) })
	d.typeName = "Double32_t"
	return d, nil
}

// packed16 decodes Float16_t, a float in memory.
func packed16(comment string) (*decoder, error) {
	least, factor, err := rangeOf(comment)
	if err != nil {
		return nil, err
	}
	if factor != 0 {
		return loose(converted("float", 4,
			func(b []byte) float32 { return float32(float64(binary.BigEndian.Uint32(b))/factor + least) })), nil
	}
	bits := uint32(least)
	if bits == 0 {
		bits = 12
	}
	return loose(converted("float", 3, func(b []byte) float32 { return truncated(b, bits) })), nil
}

// loose says that d's values have another type in the program that wrote them than in RNTuples.
func loose(d *decoder) *decoder {
	d.loose = true
	return d
}

// truncated returns a number whose exponent has a byte, and whose mantissa the given number of
// bits.
func truncated(b []byte, bits uint32) float32 {
	mantissa := uint32(binary.BigEndian.Uint16(b[1:]))
	f := math.Float32frombits(uint32(b[0])<<23 | mantissa&(1<<(bits+1)-1)<<(23-bits))
	if mantissa&(1<<(bits+1)) != 0 {
		f = -f
	}
	return f
}

// value returns the decoder of values of type t without a byte count; contained is the code of
// an enum, or of the items if t is a container.
func (k *compiler) value(t cpptype.Type, contained int32) (*decoder, error) {
	kind := t.Kind()
	switch {
	case kind == cpptype.String:
		return texts, nil
	case kind == cpptype.Bitset:
		return bitset(t)
	case kind.IsMap():
		return k.mapOf(t)
	case isSequence(t):
		item, err := k.value(t.Args[0], contained)
		if err != nil {
			return nil, err
		}
		s := listShape(template(t), item.shape)
		s.loose = s.loose || template(t) != t.Name
		return listOf(s, item), nil
	case t.Name == "*", t.Name == "&":
		return nil, frame.Unsupported("pointers")
	}
	if code := basicCode(t); code != 0 || contained == codeInt || contained == codeUInt {
		if code == 0 {
			code = contained
		}
		if d, err := k.basic(t.String(), code, ""); d != nil || err != nil {
			return d, err
		}
	}
	o, err := k.object(t.String())
	if err != nil {
		return nil, err
	}
	return o.decoder, nil
}

// template returns the name of the container that t becomes.
func template(t cpptype.Type) string {
	if k := t.Kind(); k == cpptype.Vector || k == cpptype.RVec || k.IsSet() {
		return t.Name
	}
	return "std::vector"
}

// headed returns the decoder of values of type t that are members or branches: containers have a
// byte count.
func (k *compiler) headed(t cpptype.Type, contained int32) (*decoder, error) {
	d, err := k.value(t, contained)
	if err != nil || !isContainer(t) {
		return d, err
	}
	var columns func(c *cursor, a *columnar.Array, n int)
	switch {
	case t.Kind().IsMap():
		columns, err = k.mapColumns(t)
	case isSequence(t):
		if item, _ := k.value(t.Args[0], contained); item != nil && item.shape.shape == schema.Record {
			columns, err = k.listColumns(t.Args[0])
		}
	}
	return headedBy(d, columns), err
}

func bitset(t cpptype.Type) (*decoder, error) {
	n, _ := t.Args[0].Uint()
	if n == 0 || n > math.MaxInt32 {
		return nil, frame.Unsupported("%s", t)
	}
	d := &decoder{shape: scalarOf[bool](t.String()), least: 4 + int(n)}
	d.shape.shape, d.shape.size = schema.Bitset, int(n)
	d.read = func(c *cursor, a *columnar.Array, m int, _ bool) {
		for i := 0; i < m && c.err == nil; i++ {
			if got := c.count(1); c.err == nil && got != int(n) {
				c.fail(frame.Corrupt("%d bits, expected %d", got, n))
			}
			b := c.take(int(n))
			values := a.Len
			for j, dst := 0, grown[bool](a, len(b)); j < len(b); j++ {
				dst[j] = b[j] != 0
			}
			a.Len = values + 1
		}
	}
	return d, nil
}

// pairOf returns the shape of the items of a map.
func pairOf(key, elem *shape) *shape {
	s := &shape{shape: schema.Record, items: []*shape{key, elem}, names: []string{"_0", "_1"},
		loose: key.loose || elem.loose}
	if key.typeName != "" && elem.typeName != "" {
		s.typeName = "std::pair<" + key.typeName + "," + elem.typeName + ">"
	}
	return s
}

// mapShape returns the shape of maps of type t with the given items.
func mapShape(t cpptype.Type, pair *shape) *shape {
	s := &shape{shape: schema.Collection, items: []*shape{pair}, loose: pair.loose}
	if pair.typeName != "" {
		s.typeName = t.Name + "<" + pair.items[0].typeName + "," + pair.items[1].typeName + ">"
	}
	return s
}

func (k *compiler) mapOf(t cpptype.Type) (*decoder, error) {
	key, err := k.value(t.Args[0], 0)
	if err != nil {
		return nil, err
	}
	elem, err := k.value(t.Args[1], 0)
	if err != nil {
		return nil, err
	}
	pair := &decoder{shape: pairOf(key.shape, elem.shape), least: key.least + elem.least}
	pair.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		for i := 0; i < n && c.err == nil; i++ {
			key.read(c, a.Children[0], 1, false)
			elem.read(c, a.Children[1], 1, false)
			a.Len++
		}
	}
	return listOf(mapShape(t, pair.shape), pair), nil
}

// mapColumns returns a function that reads a map with all keys before all elements.
func (k *compiler) mapColumns(t cpptype.Type) (func(c *cursor, a *columnar.Array, n int), error) {
	key, err := k.headed(t.Args[0], 0)
	if err != nil {
		return nil, err
	}
	elem, err := k.headed(t.Args[1], 0)
	if err != nil {
		return nil, err
	}
	return func(c *cursor, a *columnar.Array, n int) {
		if version := c.u16(); version == 0 {
			c.u32() // checksum
		}
		for i := 0; i < n && c.err == nil; i++ {
			size := c.count(1)
			if size > 0 {
				key.read(c, a.Children[0].Children[0], size, true)
				elem.read(c, a.Children[0].Children[1], size, true)
			}
			a.Children[0].Len += size
			a.Offsets = append(a.Offsets, a.Offsets[len(a.Offsets)-1]+int64(size))
			a.Len++
		}
	}, nil
}

// listColumns returns a function that reads a list of objects member by member.
func (k *compiler) listColumns(t cpptype.Type) (func(c *cursor, a *columnar.Array, n int), error) {
	o, err := k.object(t.String())
	if err != nil {
		return nil, err
	}
	return func(c *cursor, a *columnar.Array, n int) {
		o.version(c, c.u16())
		for i := 0; i < n && c.err == nil; i++ {
			size := c.count(1)
			if size > 0 {
				o.members(c, a.Children[0], size, true)
			}
			a.Offsets = append(a.Offsets, a.Offsets[len(a.Offsets)-1]+int64(size))
			a.Len++
		}
	}, nil
}
