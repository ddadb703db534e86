package rootfile

import "github.com/go-rntuple/go-rntuple/frame"

// streamerInfos is the object that describes the members of the classes in a file:
// a TList of TStreamerInfo. ROOT does not need it for RNTuples, whose class is
// compiled in; other readers do.
//
// The name of a class is stored where it is first used; later uses refer to that
// place by its offset in the record. So the bytes depend on KeyLen.
type streamerInfos struct {
	KeyLen  int
	Version uint16
	Object  object
	Name    string
	Entries []infoEntry

	tags []tag
}

// An infoEntry is an element of streamerInfos.
type infoEntry struct {
	Class  className
	Info   streamerInfo // if Class is TStreamerInfo
	Raw    []byte       // else
	Option string
}

// A streamerInfo describes the members of one version of a class.
type streamerInfo struct {
	Version      uint16 // of the class TStreamerInfo; ROOT writes 10
	Named        named  // the name is that of the class
	CheckSum     uint32
	ClassVersion uint32

	// The elements are in a TObjArray.
	ArrayClass   className
	ArrayVersion uint16
	ArrayObject  object
	ArrayName    string
	LowerBound   uint32
	Elements     []streamerElement

	Extra []byte
}

// A streamerElement describes a member of a class.
type streamerElement struct {
	Class className
	Basic basicElement // if Class is TStreamerBasicType
	Raw   []byte       // else
}

// A basicElement describes a member of a number type.
type basicElement struct {
	Version        uint16 // of the class TStreamerBasicType; ROOT writes 2
	ElementVersion uint16 // of its base class TStreamerElement; ROOT writes 4
	Named          named  // the name is that of the member
	Type           uint32 // a number for each type
	Size           uint32 // bytes in memory
	ArrayLength    uint32
	ArrayDim       uint32
	MaxIndex       [5]uint32
	TypeName       string
}

// object is the start of every object, a TObject.
type object struct {
	Version  uint16
	ID, Bits uint32
}

// named is a TNamed.
type named struct {
	Version     uint16
	Object      object
	Name, Title string
}

// className is the class of an object that a pointer refers to.
type className struct {
	Name string
	// unknown is a reference to a class name in a part that is not parsed.
	unknown uint32
}

// A tag is the place where the name of a class is stored.
type tag struct {
	reference uint32
	class     string
}

const (
	countFlag  = 1 << 30    // of a byte count before an object
	newClass   = 0xFFFFFFFF // before the name of a class
	classFlag  = 1 << 31    // of a reference to the name of a class
	tagOffset  = 2          // is added to the offset in such a reference
	referenced = 1 << 4     // in the bits of an object: 2 more bytes follow

	streamerInfoClass = "TStreamerInfo"
	basicTypeClass    = "TStreamerBasicType"
)

// Wire describes the object, without its key.
func (l *streamerInfos) Wire(c *frame.Codec) {
	l.tags = nil
	counted(c, "list", func() {
		frame.Int(c, "version", &l.Version)
		l.Object.wire(c)
		String(c, "name", &l.Name)
		n := uint32(len(l.Entries))
		frame.Int(c, "size", &n)
		elements(c, "entries", n, &l.Entries, l.wireEntry)
	})
}

func (l *streamerInfos) wireEntry(c *frame.Codec, e *infoEntry) {
	counted(c, "object", func() {
		l.wireClass(c, &e.Class)
		if e.Class.Name == streamerInfoClass {
			l.wireInfo(c, &e.Info)
		} else {
			c.Rest(&e.Raw)
		}
	})
	String(c, "option", &e.Option)
}

func (l *streamerInfos) wireInfo(c *frame.Codec, s *streamerInfo) {
	counted(c, "info", func() {
		frame.Int(c, "version", &s.Version)
		s.Named.wire(c)
		frame.Int(c, "checksum", &s.CheckSum)
		frame.Int(c, "class version", &s.ClassVersion)
		counted(c, "array", func() {
			l.wireClass(c, &s.ArrayClass)
			counted(c, "", func() {
				frame.Int(c, "version", &s.ArrayVersion)
				s.ArrayObject.wire(c)
				String(c, "name", &s.ArrayName)
				n := uint32(len(s.Elements))
				frame.Int(c, "size", &n)
				frame.Int(c, "lower bound", &s.LowerBound)
				elements(c, "elements", n, &s.Elements, l.wireElement)
			})
		})
		c.Rest(&s.Extra)
	})
}

func (l *streamerInfos) wireElement(c *frame.Codec, e *streamerElement) {
	counted(c, "object", func() {
		l.wireClass(c, &e.Class)
		if e.Class.Name == basicTypeClass {
			e.Basic.wire(c)
		} else {
			c.Rest(&e.Raw)
		}
	})
}

func (e *basicElement) wire(c *frame.Codec) {
	counted(c, "basic type", func() {
		frame.Int(c, "version", &e.Version)
		counted(c, "element", func() {
			frame.Int(c, "version", &e.ElementVersion)
			e.Named.wire(c)
			frame.Int(c, "type", &e.Type)
			frame.Int(c, "size", &e.Size)
			frame.Int(c, "array length", &e.ArrayLength)
			frame.Int(c, "array dim", &e.ArrayDim)
			for i := range e.MaxIndex {
				frame.Int(c, "max index", &e.MaxIndex[i])
			}
			String(c, "type name", &e.TypeName)
		})
	})
}

// wireClass describes the class of an object that a pointer refers to: its name, or
// a reference to an earlier occurrence of the name.
func (l *streamerInfos) wireClass(c *frame.Codec, class *className) {
	here := tag{uint32(l.KeyLen+c.Pos()+tagOffset) | classFlag, class.Name}
	word := class.unknown
	if c.Writing() && word == 0 {
		word = newClass
		for _, t := range l.tags {
			if t.class == class.Name {
				word = t.reference
			}
		}
	}
	frame.Int(c, "class", &word)
	if word == newClass {
		terminated(c, "class name", &here.class)
		class.Name = here.class
		l.tags = append(l.tags, here)
		return
	}
	class.unknown = word
	for _, t := range l.tags {
		if t.reference == word {
			*class = className{Name: t.class}
		}
	}
}

func (o *object) wire(c *frame.Codec) {
	frame.Int(c, "object version", &o.Version)
	frame.Int(c, "id", &o.ID)
	frame.Int(c, "bits", &o.Bits)
	if o.Bits&referenced != 0 {
		c.Fail("bits", frame.Unsupported("an object that others refer to"))
	}
}

func (n *named) wire(c *frame.Codec) {
	counted(c, "named", func() {
		frame.Int(c, "version", &n.Version)
		n.Object.wire(c)
		String(c, "name", &n.Name)
		String(c, "title", &n.Title)
	})
}

// counted describes bytes that are preceded by their number.
func counted(c *frame.Codec, name string, body func()) {
	c.Within(name, func() {
		word, at := uint32(countFlag), c.Pos()
		frame.Int(c, "byte count", &word)
		if c.Writing() {
			body()
			frame.Patch(c, at, countFlag|uint32(c.Pos()-at-4))
			return
		}
		if c.Err() == nil && word&countFlag == 0 {
			c.Fail("byte count", frame.Unsupported("an object without a byte count"))
		}
		c.Window("content", int(word&^countFlag), func() {
			body()
			if c.Err() == nil && c.Left() > 0 {
				c.Fail("end", frame.Unsupported("%d bytes left", c.Left()))
			}
		})
	})
}

// elements describes n elements, each of at least 4 bytes.
func elements[T any](c *frame.Codec, name string, n uint32, s *[]T, wireOne func(*frame.Codec, *T)) {
	c.Within(name, func() {
		if !c.Writing() && c.Err() == nil {
			if uint64(n) > uint64(c.Left()/4) {
				c.Fail("", frame.Corrupt("%d in %d bytes", n, c.Left()))
				return
			}
			*s = make([]T, n)
		}
		for i := range *s {
			if c.Err() != nil {
				return
			}
			c.Element(i, func() { wireOne(c, &(*s)[i]) })
		}
	})
}

// terminated describes a string that ends with a zero byte.
func terminated(c *frame.Codec, name string, s *string) {
	b := append([]byte(*s), 0)
	if c.Writing() {
		c.Raw(name, len(b), &b)
		return
	}
	b = b[:0]
	for c.Err() == nil {
		var one uint8
		if frame.Int(c, name, &one); one == 0 {
			break
		}
		b = append(b, one)
	}
	*s = string(b)
}
