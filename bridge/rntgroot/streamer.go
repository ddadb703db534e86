package rntgroot

import (
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A class is a version of a class, as a TStreamerInfo describes it.
type class struct {
	name     string
	version  int32
	checksum uint32
	members  []member
	names    []string // of the members
}

// A member is what a TStreamerElement describes: a data member or base class.
type member struct {
	kind        string // the class of the element, such as "TStreamerBase"
	name, title string
	code        int32 // of the type, see read.go
	length      int32 // number of elements of a fixed-size array, else 0
	dims        []int32
	typeName    string
	version     int32 // TStreamerBase: of the class; if it is negative, checksum counts
	checksum    uint32
	counter     string // TStreamerBasicPointer: the member with the length
	narrow      bool   // TStreamerBasicPointer: the numbers have 32 bits unless the byte before them is 2
	contained   int32  // TStreamerSTL: code of the items

	read reader
}

// parseClasses reads a serialized TList of TStreamerInfo behind a pointer, as the extra type
// information of an RNTuple has it.
func parseClasses(content string) (all []*class, err error) {
	s := newStream(nil, []byte(content), "streamer information")
	s.anything(func(name string) any {
		if name != "TList" {
			s.c.Fail("class", frame.Unsupported("%q, expected a TList", name))
			return nil
		}
		all = s.classList()
		return nil
	})
	return all, s.c.Err()
}

// parseInfos reads such a list as the record of a file has it, behind a key of keyLen bytes:
// references count from there.
func parseInfos(record []byte, keyLen int) ([]*class, error) {
	s := newStream(nil, record, "streamer information")
	s.skip(keyLen)
	all := s.classList()
	return all, s.c.Err()
}

// classList reads a TList of TStreamerInfo.
func (s *stream) classList() (all []*class) {
	s.counted("list", func(uint16) {
		s.tobject()
		s.text("name")
		s.each("entries", s.count(), func() {
			s.anything(func(name string) any {
				if name != "TStreamerInfo" { // such as a list of read rules
					s.skipCounted("entry")
					return nil
				}
				all = append(all, s.class())
				return nil
			})
			s.text("option")
		})
	})
	return all
}

// class reads a TStreamerInfo.
func (s *stream) class() *class {
	k := new(class)
	s.counted("info", func(uint16) {
		k.name, _ = s.named()
		k.checksum = number[uint32](s, "checksum")
		k.version = number[int32](s, "class version")
		s.anything(func(string) any {
			s.counted("elements", func(uint16) {
				s.tobject()
				s.text("name")
				n := s.count()
				s.skip(4) // lower bound
				s.each("element", n, func() {
					s.anything(func(kind string) any {
						k.members = append(k.members, s.member(kind))
						return nil
					})
				})
			})
			return nil
		})
	})
	for i := range k.members {
		k.names = append(k.names, k.members[i].name)
	}
	return k
}

// member reads an object of a class that derives from TStreamerElement.
func (s *stream) member(kind string) (m member) {
	m.kind = kind
	s.counted("element", func(uint16) {
		switch kind {
		case "TStreamerBase":
			s.element(&m)
			m.version = number[int32](s, "version")
		case "TStreamerSTLstring": // derives from TStreamerSTL
			s.counted("base", func(uint16) {
				s.element(&m)
				s.rest()
			})
		case "TStreamerSTL":
			s.element(&m)
			s.skip(4) // kind of container
			m.contained = number[int32](s, "contained type")
		case "TStreamerBasicPointer":
			s.element(&m)
			s.skip(4) // version of the class with the counter
			m.counter = s.text("counter")
		default:
			s.element(&m)
		}
		s.rest()
	})
	return m
}

// element reads a TStreamerElement.
func (s *stream) element(m *member) {
	s.counted("base", func(version uint16) {
		if version < 2 {
			s.c.Fail("version", frame.Unsupported("TStreamerElement of version %d", version))
		}
		m.name, m.title = s.named()
		m.code = number[int32](s, "type")
		s.skip(4) // size in memory
		m.length = number[int32](s, "array length")
		dims := number[int32](s, "array dimensions")
		var index [5]int32
		for i := range index {
			index[i] = number[int32](s, "dimension")
		}
		m.dims, m.checksum = index[:max(0, min(dims, 5))], uint32(index[1])
		m.typeName = s.text("type name")
		s.rest() // a range, in old versions
	})
}

// named reads a TNamed.
func (s *stream) named() (name, title string) {
	s.counted("named", func(uint16) {
		s.tobject()
		name, title = s.text("name"), s.text("title")
	})
	return name, title
}

// A classes finds the descriptions of classes. It does not change once it is
// made.
type classes map[string][]*class

// key is the spelling that classes are found by: ROOT has other ones in
// streamer information than in type names of fields.
func key(name string) string {
	if canonical, err := cpptype.Normalize(name); err == nil {
		return canonical
	}
	return strings.TrimPrefix(name, "std::")
}

func (all classes) add(k *class) {
	for i := range k.members {
		m := &k.members[i]
		m.narrow = k.name == "TBranch" && k.version < 10 && m.name == "fBasketSeek"
		m.read = m.compile()
	}
	all[k.name] = append(all[k.name], k)
	if name := key(k.name); name != k.name {
		all[name] = append(all[name], k)
	}
}

// find returns the class of the given version or, if that is 0, checksum; nil
// if there is none.
func (all classes) find(name string, version uint16, checksum uint32) *class {
	candidates := all[name]
	if candidates == nil {
		candidates = all[key(name)]
	}
	for _, k := range candidates {
		if version == 0 && k.checksum == checksum || version != 0 && k.version == int32(version) {
			return k
		}
	}
	if t, err := cpptype.Parse(name); err == nil && t.Kind() == cpptype.Pair {
		return pair(t)
	}
	return nil
}

// pair describes a pair: ROOT does so only where it has a dictionary.
func pair(t cpptype.Type) *class {
	return &class{
		name: t.String(), names: []string{"first", "second"},
		members: []member{{name: "first", read: asMember(t.Args[0])}, {name: "second", read: asMember(t.Args[1])}},
	}
}

// text reads a TString: the length in a byte, or in the next 4 bytes if that is 255.
func (s *stream) text(name string) (text string) {
	const long = 255
	var n uint8
	if frame.Int(s.c, name, &n); n == long {
		s.c.String(name, &text)
		return text
	}
	var b []byte
	s.c.Raw(name, int(n), &b)
	return string(b)
}
