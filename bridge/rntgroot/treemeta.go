package rntgroot

import (
	"fmt"
	"io"
	"strings"

	"go-hep.org/x/hep/groot/rdict"
	"go-hep.org/x/hep/groot/root"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/value"
)

// A tree is what a file says about a TTree.
type tree struct {
	file     string // its path
	r        io.ReaderAt
	size     int64 // of the file
	classes  classes
	name     string // path in the file
	title    string
	entries  int64
	branches []*branch
}

// A branch is a TBranch, or an object of a class that derives from it.
type branch struct {
	tree        *tree
	kind        string // its class
	name, title string
	entries     int64
	bytes       int64  // of all entries, uncompressed
	elsewhere   string // the file with the baskets, if it is another one
	baskets     []place
	leaves      []*leaf
	branches    []*branch

	// Of a TBranchElement; the constants below say what typ is.
	class    string // of the object, or of that which has the member
	items    string // class of the items of a TClonesArray or container
	version  uint16 // of class
	checksum uint32
	id       int32 // number of the member in its class
	typ      int32
	code     int32 // of the member's type
}

// Types of a TBranchElement.
const (
	branchStreamer = -1 // an object that a streamer of its own writes
	branchLeaf     = 0
	branchBase     = 1
	branchObject   = 2
	branchClones   = 3
	branchSTL      = 4
	ofClones       = 31
	ofSTL          = 41
)

// A place is where a basket is.
type place struct {
	seek  int64  // 0 if it is not in a record of its own
	bytes int32  // of the record
	whole []byte // else: the object within the tree, from byte keep[0] on
	first int64  // entry
}

// A leaf is a TLeaf, or an object of a class that derives from it.
type leaf struct {
	kind        string
	name, title string
	length      int   // of a fixed-size array
	size        int   // of an element, in memory
	unsigned    bool  // numbers
	ranged      bool  // it is the counter of others
	count       *leaf // the number of elements, or nil
	virtual     bool  // TLeafObject: the class precedes the object
}

// special are the classes whose objects no streamer information describes.
var special map[string]func(s *stream) any

func init() {
	special = map[string]func(s *stream) any{
		"TObject": func(s *stream) any { s.tobject(); return nil },
		"TArrayD": func(s *stream) any { s.skip(8 * s.count()); return nil },
		"TArrayI": func(s *stream) any { s.skip(4 * s.count()); return nil },
		"TObjArray": func(s *stream) any {
			var all []any
			s.counted("array", func(uint16) {
				s.tobject()
				s.text("name")
				n := s.count()
				s.skip(4) // lower bound
				s.each("element", n, func() { all = append(all, pointer(s)) })
			})
			return all
		},
		"TBasket": func(s *stream) any {
			k := &Object{name: "TBasket"}
			var b []byte
			s.c.Raw("basket", s.c.Left(), &b)
			k.Record = value.Record{Names: []string{"bytes"}, Values: []any{b}}
			return k
		},
	}
}

// ofTree reports whether objects of a class are parts of a tree that are needed.
func ofTree(class string) bool {
	return strings.HasPrefix(class, "TBranch") && class != "TBranchRef" ||
		strings.HasPrefix(class, "TLeaf") || class == "TBasket"
}

// addBuiltin adds what groot knows about a class of ROOT, and returns it; nil if groot does not
// know the version. Files of groot itself lack the streamer information of some parts of trees.
func (all classes) addBuiltin(name string, version uint16) *class {
	info, err := rdict.StreamerInfos.StreamerInfo(name, int(version))
	if err != nil || info.ClassVersion() != int(version) {
		return nil
	}
	k := &class{name: name, version: int32(version), checksum: uint32(info.CheckSum())}
	for _, e := range info.Elements() {
		m := member{name: e.Name(), title: e.Title(), code: int32(e.Type()), length: int32(e.ArrayLen()),
			typeName: e.TypeName()}
		m.dims = e.ArrayDims()[:min(e.ArrayDim(), len(e.ArrayDims()))]
		if o, ok := e.(root.Object); ok {
			m.kind = o.Class()
		}
		switch e := e.(type) {
		case *rdict.StreamerBase:
			m.version = int32(e.Base())
		case *rdict.StreamerBasicPointer:
			m.counter = e.CountName()
		}
		k.members, k.names = append(k.members, m), append(k.names, m.name)
	}
	all.add(k)
	return k
}

// parts makes trees and branches of objects. After an error it does nothing more.
type parts struct {
	tree   *tree
	leaves map[*Object]*leaf
	err    error
}

func (p *parts) fail(member, is string) {
	if p.err == nil {
		p.err = &frame.FormatError{Path: member, Err: frame.Corrupt("%s", is)}
	}
}

// member returns a member of o or of one of its base classes.
func (o *Object) member(name string) any {
	for i, v := range o.Values {
		if o.Names[i] == name {
			return v
		}
		if base, ok := v.(*Object); ok && o.Names[i] == base.name {
			if v := base.member(name); v != nil {
				return v
			}
		}
	}
	return nil
}

func (p *parts) text(o *Object, name string) string {
	s, ok := o.member(name).(string)
	if !ok {
		p.fail(name, fmt.Sprintf("is a %T", o.member(name)))
	}
	return s
}

// int returns a number, 0 if there is none: older classes lack some.
func (p *parts) int(o *Object, name string) int64 {
	switch v := o.member(name).(type) {
	case int32:
		return int64(v)
	case int64:
		return v
	case uint32:
		return int64(v)
	case float64: // numbers of entries, in old files
		return int64(v)
	case int16:
		return int64(v)
	case uint16:
		return int64(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

func (p *parts) ints(o *Object, name string) (all []int64) {
	v, _ := o.member(name).([]any)
	for _, e := range v {
		switch e := e.(type) {
		case int32:
			all = append(all, int64(e))
		case int64:
			all = append(all, e)
		default:
			p.fail(name, fmt.Sprintf("has a %T", e))
			return nil
		}
	}
	return all
}

// list returns the objects of an array.
func (p *parts) list(o *Object, name string) (all []*Object) {
	v, ok := o.member(name).([]any)
	if !ok {
		p.fail(name, fmt.Sprintf("is a %T", o.member(name)))
	}
	for _, e := range v {
		if e, ok := e.(*Object); ok {
			all = append(all, e)
		} else {
			all = append(all, nil)
		}
	}
	return all
}

func (p *parts) branches(o *Object) (all []*branch) {
	for _, e := range p.list(o, "fBranches") {
		if e != nil && p.err == nil {
			all = append(all, p.branch(e))
		}
	}
	return all
}

func (p *parts) branch(o *Object) *branch {
	b := &branch{tree: p.tree, kind: o.name, name: p.text(o, "fName"), title: p.text(o, "fTitle")}
	b.entries = p.int(o, "fEntries")
	b.bytes, b.elsewhere = p.int(o, "fTotBytes"), p.text(o, "fFileName")
	if o.member("fClassName") != nil {
		b.class = p.text(o, "fClassName")
	}
	if o.member("fClonesName") != nil {
		b.items = p.text(o, "fClonesName")
	}
	b.version, b.checksum = uint16(p.int(o, "fClassVersion")), uint32(p.int(o, "fCheckSum"))
	b.id, b.typ, b.code = int32(p.int(o, "fID")), int32(p.int(o, "fType")), int32(p.int(o, "fStreamerType"))
	b.branches = p.branches(o)
	for _, l := range p.list(o, "fLeaves") {
		if l != nil && p.err == nil {
			b.leaves = append(b.leaves, p.leaf(l))
		}
	}
	p.baskets(o, b)
	return b
}

func (p *parts) leaf(o *Object) *leaf {
	if l := p.leaves[o]; l != nil {
		return l
	}
	l := &leaf{kind: o.name, name: p.text(o, "fName"), title: p.text(o, "fTitle")}
	p.leaves[o] = l
	l.length, l.size = int(p.int(o, "fLen")), int(p.int(o, "fLenType"))
	l.unsigned, l.ranged = p.int(o, "fIsUnsigned") != 0, p.int(o, "fIsRange") != 0
	l.virtual = p.int(o, "fVirtual") != 0
	if c, ok := o.member("fLeafCount").(*Object); ok {
		l.count = p.leaf(c)
	}
	return l
}

// baskets lists where the baskets of b are. Those that had not been written when the tree was
// saved are in the tree itself.
func (p *parts) baskets(o *Object, b *branch) {
	written := p.int(o, "fWriteBasket")
	seeks, bytes, firsts := p.ints(o, "fBasketSeek"), p.ints(o, "fBasketBytes"), p.ints(o, "fBasketEntry")
	inside := p.list(o, "fBaskets")
	if n := int64(min(len(seeks), len(bytes), len(firsts))); written < 0 || written > n {
		p.fail(b.name, fmt.Sprintf("%d baskets, of which %d are listed", written, n))
	}
	for i := range max(int(written), len(inside)) {
		var one *Object
		if i < len(inside) {
			one = inside[i]
		}
		switch {
		case p.err != nil:
			return
		case i < int(written) && seeks[i] != 0:
			b.baskets = append(b.baskets, place{seek: seeks[i], bytes: int32(bytes[i]), first: firsts[i]})
		case one != nil && i < len(firsts):
			whole, _ := one.member("bytes").([]byte)
			b.baskets = append(b.baskets, place{whole: whole, first: firsts[i]})
		case i < int(written):
			p.fail(b.name, fmt.Sprintf("basket %d is nowhere", i))
		}
	}
}
