package rntgroot

import (
	"math"
	"strings"

	"go-hep.org/x/hep/groot/rbase"
	"go-hep.org/x/hep/groot/rbytes"
	"go-hep.org/x/hep/groot/rdict"
	"go-hep.org/x/hep/groot/rmeta"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
	"github.com/go-rntuple/go-rntuple/value"
)

// A reader reads one member of several objects, one value each, into dst. Objects are nil
// for values that are not members.
type reader func(s *stream, objects []*Object, dst []any)

// Codes of types in TStreamerElement (ROOT: TVirtualStreamerInfo::EReadWrite).
const (
	codeBase = iota
	codeChar
	codeShort
	codeInt
	codeLong
	codeFloat
	codeCounter
	codeCharStar
	codeDouble
	codeDouble32
	_
	codeUChar
	codeUShort
	codeUInt
	codeULong
	codeBits
	codeLong64
	codeULong64
	codeBool
	codeFloat16

	inArray  = 20 // added for fixed-size arrays
	atLength = 40 // added for arrays whose length is another member

	codeObject  = 61 // a TObject or a class derived from it
	codeAny     = 62 // an object of another class
	codeObjectp = 63 // a pointer that is never null: the object itself
	codeObjectP = 64
	codeTString = 65
	codeTObject = 66
	codeTNamed  = 67
	codeAnyp    = 68
	codeAnyP    = 69
	codeAnyPVT  = 70
)

// compile returns the reader of m. If m is not supported, the reader returns an error.
func (m *member) compile() reader {
	if m.kind == "TStreamerSTL" || m.kind == "TStreamerSTLstring" {
		return m.container()
	}
	code := m.code
	if m.kind == "TStreamerBasicPointer" {
		return m.pointed(code - atLength)
	}
	// arrays of pointers keep their codes
	if m.length > 0 && (code > inArray && code < atLength || code > codeObject+inArray-1) {
		code -= inArray
	}
	var one reader
	switch code {
	case codeBase:
		return m.baseClass
	case codeObject, codeAny, codeTObject, codeTNamed, codeObjectp, codeAnyp:
		name := strings.TrimSuffix(m.typeName, "*")
		if m.kind == "TStreamerBase" {
			name = m.name
		}
		one = items(func(s *stream) any { return s.object(name, -1) })
	case codeObjectP, codeAnyP, codeAnyPVT:
		one = items(pointer)
	default:
		item := m.basic(code)
		if item == nil {
			return m.unsupported()
		}
		one = items(item)
	}
	switch {
	case m.length == 0:
		return one
	case code == codeTString || code == codeTObject || code == codeTNamed:
		return array(m.dims, func(s *stream, _ []*Object, dst []any) {
			s.counted("array", func(uint16) { one(s, nil, dst) })
		})
	}
	return array(m.dims, one)
}

// baseClass reads base classes. They are stored member by member if the objects are.
func (m *member) baseClass(s *stream, _ []*Object, dst []any) {
	if !s.columns {
		dst[0] = s.object(m.name, -1)
		return
	}
	objects := make([]*Object, len(dst))
	for i := range objects {
		objects[i] = &Object{name: m.name}
		dst[i] = objects[i]
	}
	version := uint16(max(0, m.version))
	k := s.classes.find(m.name, version, m.checksum)
	if k == nil {
		s.unknown("", m.name, version, m.checksum)
		return
	}
	s.members(objects, k, true)
}

func (m *member) unsupported() reader {
	return func(s *stream, _ []*Object, _ []any) {
		s.c.Fail("", frame.Unsupported("%s of type %q, code %d", m.kind, m.typeName, m.code))
	}
}

// An item reads one value.
type item func(s *stream) any

// items returns a reader of successive values.
func items(one item) reader {
	return func(s *stream, _ []*Object, dst []any) {
		for i := range dst {
			if dst[i] = one(s); s.c.Err() != nil {
				return
			}
		}
	}
}

func pointer(s *stream) any {
	at := s.c.Pos()
	return s.anything(func(class string) any {
		if s.plain && !ofTree(class) {
			s.rest()
			return nil
		}
		return s.object(class, at)
	})
}

// array returns a reader of fixed-size arrays of the values that one reads.
func array(dims []int32, one reader) reader {
	n := 1
	for _, d := range dims {
		if d <= 0 || n > math.MaxInt32/int(d) {
			return func(s *stream, _ []*Object, _ []any) {
				s.c.Fail("", frame.Corrupt("an array of the dimensions %d", dims))
			}
		}
		n *= int(d)
	}
	return func(s *stream, _ []*Object, dst []any) {
		if len(dst) > s.c.Left()/n {
			s.c.Fail("", frame.Corrupt("%d arrays of %d elements in %d bytes", len(dst), n, s.c.Left()))
			return
		}
		all := make([]any, len(dst)*n)
		one(s, nil, all)
		for i := range dst {
			dst[i] = nest(all[i*n:(i+1)*n:(i+1)*n], dims[1:])
		}
	}
}

// nest groups values into arrays of arrays with the given dimensions.
func nest(all []any, dims []int32) any {
	if len(dims) == 0 {
		return all
	}
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	outer := make([]any, len(all)/n)
	for i := range outer {
		outer[i] = nest(all[i*n:(i+1)*n:(i+1)*n], dims[1:])
	}
	return outer
}

// pointed returns a reader of arrays whose length is another member.
func (m *member) pointed(code int32) reader {
	one := m.basic(code)
	if one == nil {
		return m.unsupported()
	}
	return func(s *stream, objects []*Object, dst []any) {
		for i := range dst {
			n, ok := objects[i].length(m.counter)
			if !ok || len(dst) > 1 {
				s.c.Fail("", frame.Unsupported("the length %q of an array", m.counter))
				return
			}
			array := []any{}
			present, one := number[uint8](s, "present"), one
			if m.narrow && present != 2 {
				one = integer[int32]
			}
			if present != 0 && n > 0 {
				if n > int64(s.c.Left()) {
					s.c.Fail("", frame.Corrupt("%d elements in %d bytes", n, s.c.Left()))
					return
				}
				array = make([]any, n)
				items(one)(s, nil, array)
			}
			dst[i] = array
		}
	}
}

// length returns the value of an integer member of o or of one of its base classes.
func (o *Object) length(name string) (int64, bool) {
	for i, v := range o.Values {
		switch v := v.(type) {
		case int32:
			if o.Names[i] == name {
				return int64(v), true
			}
		case *Object:
			if n, ok := v.length(name); ok && o.Names[i] == v.name { // a base class
				return n, true
			}
		}
	}
	return 0, false
}

// basic returns a function that reads a value of a fundamental type, or nil for classes.
func (m *member) basic(code int32) item {
	switch code {
	case codeChar:
		return integer[int8]
	case codeShort:
		return integer[int16]
	case codeInt, codeCounter:
		return integer[int32]
	case codeLong, codeLong64:
		return integer[int64]
	case codeUChar:
		return integer[uint8]
	case codeUShort:
		return integer[uint16]
	case codeUInt, codeBits:
		return integer[uint32]
	case codeULong, codeULong64:
		return integer[uint64]
	case codeBool:
		return func(s *stream) any { return number[uint8](s, "bool") != 0 }
	case codeFloat:
		return float
	case codeDouble:
		return double
	case codeDouble32:
		element := m.element(rmeta.Double32)
		return packed(func(r *rbytes.RBuffer) any { return float64(r.ReadD32(element)) })
	case codeFloat16:
		element := m.element(rmeta.Float16)
		return packed(func(r *rbytes.RBuffer) any { return float32(r.ReadF16(element)) })
	case codeTString:
		return text
	case codeCharStar:
		return func(s *stream) any {
			var b []byte
			s.c.Raw("characters", s.count(), &b)
			return string(b)
		}
	}
	return nil
}

func integer[T frame.Integer](s *stream) any { return number[T](s, "integer") }
func float(s *stream) any                    { return math.Float32frombits(number[uint32](s, "float")) }
func double(s *stream) any                   { return math.Float64frombits(number[uint64](s, "double")) }
func text(s *stream) any                     { return s.text("string") }

// element converts m for groot, which takes the range of a packed number from the comment
// after the member.
func (m *member) element(code rmeta.Enum) (e rbytes.StreamerElement) {
	_ = recovered(func() error {
		element := rdict.Element{Name: *rbase.NewNamed(m.name, m.title), Type: code}.New()
		e = &element
		return nil
	})
	return e
}

// packed reads a packed number with groot.
func packed(read func(*rbytes.RBuffer) any) item {
	return func(s *stream) (v any) {
		start, end := s.c.Pos(), s.c.Pos()+s.c.Left()
		s.r = s.r.Reset(s.buf[start:end], s.refs, uint32(start), nil)
		if err := recovered(func() error { v = read(s.r); return s.r.Err() }); err != nil {
			s.c.Fail("number", frame.Corrupt("%d bytes left", end-start))
			return nil
		}
		s.skip(int(s.r.Pos()) - start)
		return v
	}
}

// container returns a reader of a string or container of the standard library.
func (m *member) container() reader {
	t, err := cpptype.Parse(m.typeName)
	if err != nil || m.code > 400 && m.code < 500 {
		return m.unsupported()
	}
	one := headed(t, m.contained)
	if m.length > 0 {
		return array(m.dims, one)
	}
	return one
}

// headed returns a reader of values after a byte count and a version, such as members that
// are strings or containers. Several of them share one byte count. Contained is the code of
// the items.
func headed(t cpptype.Type, contained int32) reader {
	body := content(t, contained)
	columns := memberWise(t)
	return func(s *stream, _ []*Object, dst []any) {
		s.counted(t.String(), func(version uint16) {
			if version&memberwise == 0 {
				items(body)(s, nil, dst)
				return
			}
			class := number[uint16](s, "class version")
			sum := s.checksum(class)
			for i := range dst {
				if dst[i] = columns(s, class, sum); s.c.Err() != nil {
					return
				}
			}
		})
	}
}

// content returns a function that reads a value of type t without a byte count.
func content(t cpptype.Type, code int32) item {
	switch kind := t.Kind(); {
	case kind == cpptype.String:
		return text
	case kind == cpptype.Bitset:
		return bits
	case kind.IsMap():
		key, elem := content(t.Args[0], 0), content(t.Args[1], 0)
		strings := t.Args[0].Kind() == cpptype.String
		return func(s *stream) any {
			m := value.Map{StringKeys: strings}
			s.each("elements", s.count(), func() {
				k := key(s)
				m.Elements = append(m.Elements, value.KeyValue{Key: k, Value: elem(s)})
			})
			return m
		}
	case isSequence(t):
		one := content(t.Args[0], code)
		return func(s *stream) any {
			all := make([]any, s.count())
			items(one)(s, nil, all)
			return all
		}
	case t.Name == "*":
		return pointer
	}
	if c := basicCode(t); c != 0 {
		code = c
	}
	if one := new(member).basic(code); one != nil { // also enums
		return one
	}
	name := t.String()
	return func(s *stream) any { return s.object(name, -1) }
}

func bits(s *stream) any {
	b := make(value.Bits, s.count())
	for i := range b {
		b[i] = number[uint8](s, "bit") != 0
	}
	return b
}

// memberWise returns a function that reads a container whose items are stored member by
// member, in the class version with a given number or checksum.
func memberWise(t cpptype.Type) func(s *stream, version uint16, checksum uint32) any {
	if t.Kind().IsMap() {
		keys, elems := asMember(t.Args[0]), asMember(t.Args[1])
		strings := t.Args[0].Kind() == cpptype.String
		return func(s *stream, _ uint16, _ uint32) any {
			n := s.count()
			k, v := make([]any, n), make([]any, n)
			if n > 0 {
				keys(s, nil, k)
				elems(s, nil, v)
			}
			m := value.Map{StringKeys: strings, Elements: make([]value.KeyValue, n)}
			for i := range m.Elements {
				m.Elements[i] = value.KeyValue{Key: k[i], Value: v[i]}
			}
			return m
		}
	}
	if !isSequence(t) {
		return func(s *stream, _ uint16, _ uint32) any {
			s.c.Fail("version", frame.Unsupported("%s member by member", t))
			return nil
		}
	}
	name := t.Args[0].String()
	return func(s *stream, version uint16, checksum uint32) any {
		n := s.count()
		all, objects := make([]any, n), make([]*Object, n)
		for i := range all {
			objects[i] = &Object{name: name}
			all[i] = objects[i]
		}
		if n == 0 || s.c.Err() != nil {
			return all
		}
		k := s.classes.find(name, version, checksum)
		if k == nil {
			s.unknown("class version", name, version, checksum)
			return nil
		}
		s.members(objects, k, true)
		return all
	}
}

// asMember returns a reader of members of type t.
func asMember(t cpptype.Type) reader {
	if isContainer(t) {
		return headed(t, 0)
	}
	return items(content(t, 0))
}

// isContainer reports whether t is a string or container of the standard
// library.
func isContainer(t cpptype.Type) bool {
	k := t.Kind()
	return k == cpptype.String || k == cpptype.Bitset || k.IsMap() || isSequence(t)
}

// isSequence reports whether t is a container other than a map.
func isSequence(t cpptype.Type) bool {
	if len(t.Args) == 0 || t.Scope != nil {
		return false
	}
	switch k := t.Kind(); {
	case k == cpptype.Vector, k == cpptype.RVec, k.IsSet():
		return true
	}
	switch strings.TrimPrefix(t.Name, "std::") {
	case "list", "deque", "forward_list":
		return true
	}
	return false
}

// basicCode returns the code of a fundamental type, or 0 for classes.
func basicCode(t cpptype.Type) int32 {
	switch t.Name {
	case "Double32_t":
		return codeDouble32
	case "Float16_t":
		return codeFloat16
	case "TString":
		return codeTString
	}
	return map[cpptype.Kind]int32{
		cpptype.Bool: codeBool, cpptype.Char: codeChar, cpptype.Byte: codeUChar, cpptype.Int8: codeChar,
		cpptype.UInt8: codeUChar,
		cpptype.Int16: codeShort, cpptype.UInt16: codeUShort, cpptype.Int32: codeInt, cpptype.UInt32: codeUInt,
		cpptype.Int64: codeLong64, cpptype.UInt64: codeULong64, cpptype.Float32: codeFloat, cpptype.Float64: codeDouble,
	}[t.Kind()]
}
