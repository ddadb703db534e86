package rntgroot

import (
	"fmt"

	"go-hep.org/x/hep/groot/rbytes"
	"go-hep.org/x/hep/groot/rdict"
	"go-hep.org/x/hep/groot/root"
	"go-hep.org/x/hep/groot/rtypes"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/value"
)

// The flags and tags that TBufferFile writes before objects.
const (
	countFlag  = 1 << 30    // of a byte count
	memberwise = 1 << 14    // of the version of a container: its items are member by member
	newClass   = 0xFFFFFFFF // before the name of a class
	classFlag  = 1 << 31    // of a reference to the position of a class name
	tagOffset  = 2          // added to references
)

// maxDepth limits the nesting of objects. An object behind a pointer counts twice.
const maxDepth = 5000

// A stream reads an object that ROOT's class TBufferFile wrote.
type stream struct {
	classes classes
	c       *frame.Codec
	depth   int
	columns bool // see members
	plain   bool // no object is groot's; see treemeta.go

	// buf has the bytes that c reads and one more: of a string that claims to be longer
	// than the data, groot copies what exists, and the additional byte shows that.
	buf  []byte
	refs map[int64]any // factories, class names and objects, by position
	r    *rbytes.RBuffer
}

func newStream(all classes, data []byte, what string) *stream {
	buf := append(data[:len(data):len(data)], 0)
	return &stream{
		classes: all, c: frame.NewReader(buf[:len(data)], what, 0).BigEndian(),
		buf: buf, refs: map[int64]any{},
	}
}

func number[T frame.Integer](s *stream, name string) (v T) {
	frame.Int(s.c, name, &v)
	return v
}

// count reads a number of items, each of which takes at least one byte.
func (s *stream) count() int {
	n := number[int32](s, "size")
	if s.c.Err() == nil && (n < 0 || int(n) > s.c.Left()) {
		s.c.Fail("size", frame.Corrupt("%d items in %d bytes", n, s.c.Left()))
	}
	if s.c.Err() != nil {
		return 0
	}
	return int(n)
}

// each calls one n times, or until there is an error.
func (s *stream) each(name string, n int, one func()) {
	s.c.Within(name, func() {
		for i := 0; i < n && s.c.Err() == nil; i++ {
			s.c.Element(i, one)
		}
	})
}

func (s *stream) skip(n int) { s.c.Skip(n) }

// rest skips to the end of the window.
func (s *stream) rest() { s.c.Skip(s.c.Left()) }

// window runs body on the bytes that word, a byte count, counts. It must read
// all of them.
func (s *stream) window(name string, word uint32, body func()) {
	if s.c.Err() == nil && word&countFlag == 0 {
		s.c.Fail(name, frame.Unsupported("%q without a byte count", name))
	}
	if s.depth++; s.depth > maxDepth {
		s.c.Fail(name, frame.Unsupported("objects nested more than %d deep", maxDepth))
	}
	s.c.Within(name, func() {
		s.c.Window("", int(word&^countFlag), func() {
			if body(); s.c.Err() == nil && s.c.Left() > 0 {
				s.c.Fail("end", frame.Corrupt("%d bytes left", s.c.Left()))
			}
		})
	})
	s.depth--
}

// counted reads a value after a byte count and a version.
func (s *stream) counted(name string, body func(version uint16)) {
	word := number[uint32](s, name)
	s.window(name, word, func() { body(number[uint16](s, "version")) })
}

// skipCounted skips an object.
func (s *stream) skipCounted(name string) { s.counted(name, func(uint16) { s.rest() }) }

// tobject skips a TObject.
func (s *stream) tobject() {
	const referenced = 1 << 4
	s.skip(2 + 4) // version, id
	if number[uint32](s, "bits")&referenced != 0 {
		s.skip(2)
	}
}

// checksum reads what stands for the version of a class that has none.
func (s *stream) checksum(version uint16) uint32 {
	if version != 0 {
		return 0
	}
	return number[uint32](s, "checksum")
}

// anything reads an object behind a pointer; read is called with its class
// unless the pointer is null or leads to an object that was there before.
func (s *stream) anything(read func(class string) any) any {
	start := s.c.Pos()
	word := number[uint32](s, "pointer")
	switch {
	case s.c.Err() != nil || word == 0:
		return nil
	case word == newClass || word&countFlag == 0:
		return s.reference(word)
	}
	var obj any
	s.window("object", word, func() {
		if ahead := s.c.Unread(); len(ahead) >= 4 && ahead[0]&(classFlag>>24) == 0 { // groot writes references so
			obj = s.reference(number[uint32](s, "pointer"))
			return
		}
		if name := s.tag(); s.c.Err() == nil {
			obj = read(name)
			s.refs[int64(start+tagOffset)] = obj
		}
	})
	return obj
}

// reference returns an object that was there before.
func (s *stream) reference(word uint32) any {
	obj := s.refs[int64(word)]
	if _, ok := obj.(root.Object); !ok {
		s.c.Fail("pointer", frame.Unsupported("reference %#x to an object that is not known", word))
	}
	return obj
}

// tag reads the class of an object behind a pointer.
func (s *stream) tag() string {
	at := int64(s.c.Pos() + tagOffset)
	word := number[uint32](s, "class")
	if word == newClass {
		name := s.terminated()
		if !s.plain && known(name) != nil {
			s.refs[at] = rtypes.Factory.Get(name)
		} else {
			s.refs[at] = name
		}
		return name
	}
	switch known := s.refs[int64(word&^classFlag)].(type) {
	case string:
		return known
	case rtypes.FactoryFct: // groot puts them there, too
		if obj, ok := known().Interface().(root.Object); ok {
			return obj.Class()
		}
	}
	s.c.Fail("class", frame.Corrupt("reference %#x to a class that was not there before", word))
	return ""
}

// terminated reads a string with a zero byte behind it.
func (s *stream) terminated() string {
	var b []byte
	for s.c.Err() == nil {
		c := number[byte](s, "class name")
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// object reads an object of the named class. Behind a pointer, at is its place.
func (s *stream) object(name string, at int) any {
	if s.plain {
		if read := special[name]; read != nil {
			return read(s)
		}
	} else if obj := known(name); obj != nil {
		return s.groot(name, obj)
	}
	obj := &Object{name: name}
	if at >= 0 {
		s.refs[int64(at+tagOffset)] = obj // objects may lead back to themselves
	}
	s.counted(name, func(version uint16) {
		s.members([]*Object{obj}, s.find(name, version), false)
	})
	return obj
}

// find returns the class of the given version.
func (s *stream) find(name string, version uint16) *class {
	sum := s.checksum(version)
	k := s.classes.find(name, version, sum)
	if k == nil && s.plain {
		k = s.classes.addBuiltin(name, version)
	}
	if k == nil {
		s.unknown("version", name, version, sum)
	}
	return k
}

// unknown fails for a class that find does not know.
func (s *stream) unknown(member, name string, version uint16, checksum uint32) {
	s.c.Fail(member, frame.Unsupported("no streamer information about class %q of version %d, checksum %#x",
		name, version, checksum))
}

// members reads the members of objects, for each member its values in all of
// them. Columns says that they are part of a container whose items are member
// by member; else there is one object.
func (s *stream) members(objects []*Object, k *class, columns bool) {
	if n := s.c.Left(); s.c.Err() == nil && len(k.members) > 0 && len(objects) > n/len(k.members) {
		s.c.Fail("", frame.Corrupt("%d members of %d objects in %d bytes", len(k.members), len(objects), n))
	}
	if s.c.Err() != nil {
		return
	}
	for _, o := range objects {
		o.version = int(k.version)
		o.Record = value.Record{Names: k.names, Values: make([]any, len(k.members))}
	}
	column := make([]any, len(objects))
	for i := range k.members {
		m := &k.members[i]
		s.c.Within(m.name, func() {
			s.columns = columns
			m.read(s, objects, column)
		})
		for j, o := range objects {
			o.Values[i] = column[j]
		}
		if s.c.Err() != nil {
			return
		}
	}
}

// known returns a new object of groot's type for a class, nil if it has none.
func known(class string) rbytes.Unmarshaler {
	if !rtypes.Factory.HasKey(class) {
		return nil
	}
	obj := rtypes.Factory.Get(class)().Interface()
	if _, ok := obj.(root.Object); !ok {
		return nil
	}
	reads, _ := obj.(rbytes.Unmarshaler)
	return reads
}

// groot has groot read obj, an object of the named class.
func (s *stream) groot(name string, obj rbytes.Unmarshaler) any {
	if s.c.Err() != nil {
		return nil
	}
	if name == "TNamed" { // so common that it is checked
		ahead := stream{c: frame.NewReader(s.c.Unread(), name, int64(s.c.Pos())).BigEndian()}
		if ahead.named(); ahead.c.Err() != nil {
			s.c.Fail(name, ahead.c.Err())
			return nil
		}
	}
	start, end := s.c.Pos(), s.c.Pos()+s.c.Left()
	s.r = s.r.Reset(s.buf[start:end+1:end+1], s.refs, uint32(start), rdict.StreamerInfos)
	err := recovered(func() error { return obj.UnmarshalROOT(s.r) })
	if pos := int(s.r.Pos()); err == nil && (pos < start || pos > end) {
		err = fmt.Errorf("%d bytes read of %d", pos-start, end-start)
	}
	if err != nil {
		s.c.Fail(name, frame.Unsupported("groot: %v", err))
		return nil
	}
	s.skip(int(s.r.Pos()) - start)
	return obj
}

// recovered returns the error of f, also if f panics with it: groot does so at
// bad input.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}
