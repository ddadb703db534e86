package rntgroot

import (
	"fmt"
	"strings"

	"go-hep.org/x/hep/groot/rtypes"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// objects decodes the objects of a version of a class: as a decoder, each behind a byte count.
type objects struct {
	*decoder
	class *class
	each  []*decoder // of the members
	// lengths has the numbers of the members that are arrays, and those of their lengths.
	lengths map[int]int
}

// object returns the decoder of objects of the named class, of its newest version.
func (k *compiler) object(name string) (*objects, error) {
	switch name {
	case "TObject":
		return k.tobject(), nil
	case "TClonesArray", "TObjArray", "TList", "TMap", "TRef", "TRefArray": // streamers of their own, of other things than their members
		return nil, frame.Unsupported("class %q", name)
	}
	return k.objects(k.classes.newest(name), name)
}

// newest returns the class of the highest version, nil if there is none.
func (all classes) newest(name string) (newest *class) {
	candidates := all[name]
	if candidates == nil {
		candidates = all[key(name)]
	}
	for _, c := range candidates {
		if newest == nil || c.version > newest.version {
			newest = c
		}
	}
	if newest == nil {
		return all.find(name, 0, 0) // a pair
	}
	return newest
}

// tobject decodes TObjects, which have no byte count.
func (k *compiler) tobject() *objects {
	id, bits := plainOf[uint32]("std::uint32_t", 4), bitsOfObject()
	s := &shape{shape: schema.Record, typeName: "TObject", names: []string{"fUniqueID", "fBits"},
		items: []*shape{id.shape, bits.shape}, version: 1}
	o := &objects{decoder: &decoder{shape: s, least: 10}, each: []*decoder{id, bits},
		class: &class{name: "TObject", version: 1}}
	o.read = func(c *cursor, a *columnar.Array, n int, members bool) {
		for i := 0; i < n && c.err == nil; i++ {
			c.u16()
			o.members(c, a, 1, false)
		}
	}
	return o
}

// objects returns the decoder of objects of one version of a class.
func (k *compiler) objects(c *class, name string) (*objects, error) {
	if c == nil {
		return nil, frame.Unsupported("no streamer information about class %q", name)
	}
	o, ok := k.made[c]
	switch {
	case ok && o == nil:
		return nil, frame.Unsupported("class %q contains itself", name)
	case ok:
		return o, nil
	}
	k.made[c] = nil
	o, err := k.makeObjects(c)
	if err != nil {
		delete(k.made, c)
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	k.made[c] = o
	return o, nil
}

func (k *compiler) makeObjects(c *class) (*objects, error) {
	o := &objects{class: c, decoder: &decoder{least: 6}}
	var items []*shape
	for i := range c.members {
		m := &c.members[i]
		d, err := k.member(m, o)
		if err != nil {
			return nil, fmt.Errorf("member %q of type %q: %w", m.name, m.typeName, err)
		}
		o.each, items = append(o.each, d), append(items, d.shape)
	}
	o.shape = classShape(c, items)
	o.read = func(r *cursor, a *columnar.Array, n int, _ bool) {
		for i := 0; i < n && r.err == nil; i++ {
			version, rest := r.open()
			o.version(r, version)
			o.members(r, a, 1, false)
			r.shut(rest)
		}
	}
	return o, nil
}

// bare returns the decoder of objects without a byte count and a version.
func (o *objects) bare() *decoder {
	d := *o.decoder
	d.least = 0
	d.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		for i := 0; i < n && c.err == nil; i++ {
			o.members(c, a, 1, false)
		}
	}
	return &d
}

// classShape returns the shape of objects of a class whose members have the shapes items.
func classShape(c *class, items []*shape) *shape {
	s := &shape{shape: schema.Record, items: items, version: uint32(max(0, c.version)), checksum: &c.checksum}
	native, bases := !foreign(c.name), 0
	for i, item := range items {
		m := &c.members[i]
		name, about := m.name, m.title
		if m.kind == "TStreamerBase" {
			name, about = fmt.Sprintf(":_%d", bases), ""
			bases++
		}
		if strings.HasPrefix(about, "[") { // a range, or a length
			about = ""
		}
		if i := strings.LastIndex(about, " ("); i >= 0 && strings.Contains(m.typeName, strings.TrimSuffix(about[i+2:], ")")) {
			about = about[:i] // TBranchElement appends the class of the items
		}
		s.names, s.about = append(s.names, name), append(s.about, about)
		native = native && item.typeName != "" && !item.loose
	}
	if native {
		s.typeName = key(c.name)
	}
	if t, err := cpptype.Parse(c.name); err == nil && t.Kind() == cpptype.Pair {
		s.names, s.about, s.checksum, s.version = []string{"_0", "_1"}, nil, nil, 0
	}
	return s
}

// foreign reports whether ROOT refuses to store objects of a class member by member: it has
// streamers of its own for many of its classes.
func foreign(class string) bool {
	return class != "TObject" && rtypes.Factory.HasKey(class)
}

// version makes sure that objects have the version of o.
func (o *objects) version(c *cursor, version uint16) {
	sum := uint32(0)
	if version == 0 {
		sum = c.u32()
	}
	if c.err == nil && (version != 0 && int32(version) != o.class.version || version == 0 && o.class.checksum != sum &&
		o.class.checksum != 0) {
		c.fail(frame.Unsupported("an object of class %q of version %d, checksum %#x, among those of version %d, checksum %#x",
			o.class.name, version, sum, o.class.version, o.class.checksum))
	}
}

// members reads the members of n objects.
func (o *objects) members(c *cursor, a *columnar.Array, n int, columns bool) {
	if n > 1 && len(o.each) == 0 {
		c.fail(frame.Unsupported("objects of a class %q without members", o.class.name))
	}
	for i, d := range o.each {
		if c.err != nil {
			return
		}
		items := n
		if length, ok := o.lengths[i]; ok {
			if n > 1 {
				c.fail(frame.Unsupported("arrays of variable length in several objects"))
				return
			}
			lengths := a.Children[length].Values().([]int32)
			items = int(lengths[len(lengths)-1])
		}
		d.read(c, a.Children[i], items, columns)
	}
	a.Len += n
}

// member returns the decoder of a member of the objects of, which has those before it.
func (k *compiler) member(m *member, of *objects) (*decoder, error) {
	if m.kind == "" { // of a pair without streamer information
		t, err := cpptype.Parse(m.typeName)
		if err != nil {
			return nil, err
		}
		return k.headed(t, 0)
	}
	dims := make([]int, len(m.dims))
	for i, d := range m.dims {
		dims[i] = int(d)
	}
	if m.length == 0 {
		dims = nil
	}
	if m.kind == "TStreamerSTL" || m.kind == "TStreamerSTLstring" {
		t, err := cpptype.Parse(m.typeName)
		if err != nil || m.code > 400 && m.code < 500 {
			return nil, frame.Unsupported("%s", m.kind)
		}
		d, err := k.headed(t, m.contained)
		if err != nil {
			return nil, err
		}
		return arraysOf(d, dims)
	}
	code := m.code
	if m.kind == "TStreamerBasicPointer" {
		return k.pointed(m, of)
	}
	if m.length > 0 && (code > inArray && code < atLength || code > codeObject+inArray-1) {
		code -= inArray
	}
	switch code {
	case codeBase, codeObject, codeAny, codeTObject, codeTNamed, codeObjectp, codeAnyp:
		return k.memberObject(m, code, dims)
	}
	d, err := k.basic(m.typeName, code, m.title)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, frame.Unsupported("%s, code %d", m.kind, m.code)
	}
	if code == codeTString && m.length == 0 {
		return d, nil
	}
	a, err := arraysOf(d, dims)
	if err == nil && code == codeTString {
		return headedBy(a, nil), nil
	}
	return a, err
}

// memberObject returns the decoder of a member or base class that is an object.
func (k *compiler) memberObject(m *member, code int32, dims []int) (*decoder, error) {
	name := strings.TrimSuffix(m.typeName, "*")
	var o *objects
	var err error
	switch {
	case m.kind != "TStreamerBase":
		o, err = k.object(name)
	case m.name == "TObject":
		o = k.tobject()
	default:
		o, err = k.objects(k.classes.find(m.name, uint16(max(0, m.version)), m.checksum), m.name)
	}
	if err != nil {
		return nil, err
	}
	if m.kind == "TStreamerBase" {
		d := *o.decoder
		d.read = func(c *cursor, a *columnar.Array, n int, members bool) {
			if members {
				o.members(c, a, n, true)
			} else {
				o.read(c, a, n, false)
			}
		}
		return &d, nil
	}
	a, err := arraysOf(o.decoder, dims)
	if err == nil && dims != nil && (code == codeTObject || code == codeTNamed) {
		return headedBy(a, nil), nil
	}
	return a, err
}

// pointed returns the decoder of arrays whose length is a member before them. Their objects read
// them: see members.
func (k *compiler) pointed(m *member, of *objects) (*decoder, error) {
	item, err := k.basic(strings.TrimRight(m.typeName, "*"), m.code-atLength, m.title)
	if err != nil {
		return nil, err
	}
	for i, d := range of.each {
		if item == nil || of.class.members[i].name != m.counter || d.typeName != "std::int32_t" {
			continue
		}
		if of.lengths == nil {
			of.lengths = map[int]int{}
		}
		of.lengths[len(of.each)] = i
		s := listShape("std::vector", item.shape)
		s.loose = true
		d := &decoder{shape: s, least: 1}
		d.read = func(c *cursor, a *columnar.Array, n int, _ bool) { // n items
			if present := c.u8(); present == 0 && n > 0 || n < 0 || n > len(c.b)/item.least {
				c.fail(frame.Corrupt("%d elements in %d bytes", n, len(c.b)))
				return
			}
			item.read(c, a.Children[0], n, false)
			a.Offsets = append(a.Offsets, a.Offsets[len(a.Offsets)-1]+int64(n))
			a.Len++
		}
		return d, nil
	}
	return nil, frame.Unsupported("an array of the length %q", m.counter)
}
