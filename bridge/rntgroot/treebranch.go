package rntgroot

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A builder makes the sources of the branches of a tree.
type builder struct {
	compiler
	counters map[*leaf]*source
	owners   map[*leaf]*branch
}

func newBuilder(t *tree) *builder {
	b := &builder{compiler{t.classes, map[*class]*objects{}}, map[*leaf]*source{}, map[*leaf]*branch{}}
	for _, br := range t.branches {
		for _, l := range br.leaves {
			b.owners[l] = br
		}
	}
	return b
}

// source returns the source of a branch with a value for each entry, which is not an array of
// variable length.
func (b *builder) source(br *branch) (*source, error) {
	switch br.kind {
	case "TBranch":
		return b.leaves(br)
	case "TBranchElement":
		return b.element(br)
	case "TBranchObject":
		if len(br.leaves) == 1 && len(br.branches) == 0 {
			return b.virtual(br)
		}
	}
	return nil, frame.Unsupported("a %s", br.kind)
}

// leaves returns the source of a branch of numbers and C strings.
func (b *builder) leaves(br *branch) (*source, error) {
	record := &shape{shape: schema.Record}
	var all []*decoder
	for _, l := range br.leaves {
		if l.count != nil && len(br.leaves) > 1 {
			return nil, frame.Unsupported("an array of variable length in a list of leaves")
		}
		d, err := b.leaf(l)
		if err != nil {
			return nil, err
		}
		record.names, record.items = append(record.names, fieldName(l.name)), append(record.items, d.shape)
		all = append(all, d)
	}
	switch {
	case len(br.branches) > 0:
		return nil, frame.Unsupported("a branch of leaves with branches below it")
	case len(all) == 0:
		return nil, frame.Unsupported("a branch without leaves")
	case len(all) == 1:
		return &source{shape: all[0].shape, branch: br, decoder: all[0]}, nil
	}
	return b.leafList(br, record, all)
}

// leafList returns the source of a branch with several leaves, one of which may be a C string: of
// empty ones ROOT writes nothing, so that only the length of the entry tells them.
func (b *builder) leafList(br *branch, record *shape, all []*decoder) (*source, error) {
	fixed, strings := 0, 0
	for _, one := range all {
		fixed += one.size
		if one.size == 0 {
			strings++
		}
	}
	if strings > 1 {
		return nil, frame.Unsupported("several C strings in a list of leaves")
	}
	d := &decoder{shape: record, least: fixed, whole: strings > 0}
	if strings == 0 {
		d.size = fixed
	}
	d.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		for i := 0; i < n && c.err == nil; i++ {
			empty := strings > 0 && len(c.b) == fixed
			for j, one := range all {
				if one.size == 0 && empty {
					readCStrings(&cursor{}, a.Children[j], 1, false)
				} else {
					one.read(c, a.Children[j], 1, false)
				}
			}
			a.Len++
		}
	}
	return &source{shape: record, branch: br, decoder: d}, nil
}

// leafTypes are the types of leaves: the letter in lists of leaves, the code, and that of an
// unsigned one.
var leafTypes = map[string]struct {
	letter, unsignedLetter string
	code, unsigned         int32
}{
	"TLeafO": {"O", "O", codeBool, codeBool}, "TLeafB": {"B", "b", codeChar, codeUChar},
	"TLeafS": {"S", "s", codeShort, codeUShort},
	"TLeafI": {"I", "i", codeInt, codeUInt}, "TLeafL": {"L", "l", codeLong64, codeULong64},
	"TLeafG": {"G", "g", codeLong, codeULong},
	"TLeafF": {"F", "F", codeFloat, codeFloat}, "TLeafD": {"D", "D", codeDouble, codeDouble},
	"TLeafF16": {"f", "f", codeFloat16, codeFloat16}, "TLeafD32": {"d", "d", codeDouble32, codeDouble32},
	"TLeafC": {"C", "C", codeCharStar, codeCharStar},
}

// leaf returns the decoder of the values of a leaf, or of one element if its number varies.
func (b *builder) leaf(l *leaf) (*decoder, error) {
	t, ok := leafTypes[l.kind]
	code := t.code
	if l.unsigned {
		code = t.unsigned
	}
	switch {
	case !ok:
		return nil, frame.Unsupported("a leaf of class %s", l.kind)
	case code == codeCharStar:
		if l.count != nil {
			return nil, frame.Unsupported("an array of C strings")
		}
		return cstrings, nil
	}
	_, comment, _ := strings.Cut(l.title, "/") // of packed numbers: their range
	d, err := b.basic("", code, comment)
	if err != nil {
		return nil, err
	}
	return arraysOf(d, l.dims())
}

var dimension = regexp.MustCompile(`\[(\d+)\]`)

// dims returns the dimensions of an array, without the variable one; nil if there is one element
// only.
func (l *leaf) dims() []int {
	if l.length == 1 {
		return nil
	}
	title, _, _ := strings.Cut(l.title, "/")
	var dims []int
	total := 1
	for _, m := range dimension.FindAllStringSubmatch(title, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > l.length {
			return []int{l.length}
		}
		dims, total = append(dims, n), total*n
		if total > l.length {
			break
		}
	}
	if total != l.length { // some programs write other titles
		return []int{l.length}
	}
	return dims
}

// counter returns the source of the numbers of elements of arrays.
func (b *builder) counter(l *leaf) (*source, error) {
	if s := b.counters[l]; s != nil {
		return s, nil
	}
	br := b.owners[l]
	if br == nil || br.kind != "TBranch" || len(br.leaves) != 1 {
		return nil, frame.Unsupported("the number of elements in the leaf %q", l.name)
	}
	s, err := b.leaves(br)
	if err == nil && s.shape.shape != schema.Scalar {
		err = frame.Unsupported("the number of elements in the leaf %q", l.name)
	}
	b.counters[l] = s
	return s, err
}

// elements returns the source of the elements of a branch of arrays of variable length, and that
// of their numbers.
func (b *builder) elements(br *branch) (items, counter *source, err error) {
	if items, err = b.leaves(br); err != nil {
		return nil, nil, err
	}
	if counter, err = b.counter(br.leaves[0].count); err != nil {
		return nil, nil, err
	}
	items.lengths = counter
	return items, counter, nil
}

// virtual returns the source of objects that follow the name of their class.
func (b *builder) virtual(br *branch) (*source, error) {
	l := br.leaves[0]
	o, err := b.object(l.title)
	if err != nil || l.kind != "TLeafObject" {
		return nil, fmt.Errorf("a %s: %w", l.kind, err)
	}
	d := *o.decoder
	d.read = func(c *cursor, a *columnar.Array, n int, members bool) {
		if l.virtual {
			if name := c.take(int(c.u8()) + 1); c.err == nil && strings.TrimRight(string(name), "\x00") != l.title {
				c.fail(frame.Unsupported("an object of class %q in a branch of %q", name, l.title))
			}
		}
		o.read(c, a, n, members)
	}
	return &source{shape: o.shape, branch: br, decoder: &d}, nil
}

// element returns the source of a branch of objects at the top.
func (b *builder) element(br *branch) (*source, error) {
	t, err := cpptype.Parse(br.class)
	if err != nil {
		return nil, err
	}
	switch {
	case br.typ == branchSTL || br.typ == branchClones:
		return b.list(br, t)
	case len(br.branches) > 0:
		c := b.classes.find(br.class, br.version, br.checksum)
		if br.typ != branchLeaf || c == nil {
			return nil, frame.Unsupported("no streamer information about class %q of version %d", br.class, br.version)
		}
		return b.splitAll(c, br.branches)
	case br.typ != branchLeaf && br.typ != branchStreamer:
		return nil, frame.Unsupported("a branch of type %d", br.typ)
	}
	var d *decoder
	switch {
	case t.Kind() == cpptype.String:
		d = texts
	case t.Name == "TString":
		d = tstrings
	case isContainer(t):
		d, err = b.headed(t, 0)
	default:
		c := b.classes.find(br.class, br.version, br.checksum)
		if c == nil {
			c = b.classes.newest(br.class)
		}
		var o *objects
		if o, err = b.objects(c, br.class); err == nil {
			d = o.decoder
			if br.typ == branchLeaf {
				d = o.bare()
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return &source{shape: d.shape, branch: br, decoder: d}, nil
}

// list returns the source of a branch of containers whose items are split. t is their type.
func (b *builder) list(br *branch, t cpptype.Type) (*source, error) {
	size := plainOf[int32]("std::int32_t", 4)
	counter := &source{shape: size.shape, branch: br, decoder: size}
	c := b.classes.newest(br.items)
	if len(br.branches) > 0 {
		if first := br.branches[0]; key(first.class) == key(br.items) {
			c = b.classes.find(br.items, first.version, first.checksum)
		}
	}
	if c == nil {
		return nil, frame.Unsupported("no streamer information about class %q", br.items)
	}
	items, err := b.splitAll(c, br.branches)
	if err != nil {
		return nil, err
	}
	s := listShape("std::vector", items.shape)
	switch {
	case br.typ == branchClones:
		s.loose = true
	case t.Kind().IsMap():
		items.shape = pairOf(items.items[0], items.items[1])
		s = mapShape(t, items.shape)
	case isSequence(t):
		s = listShape(template(t), items.shape)
		s.loose = s.loose || template(t) != t.Name
	default:
		return nil, frame.Unsupported("a container of type %s", t)
	}
	return collectionOf(s, counter, items), nil
}

// splitAll is split of all the branches.
func (b *builder) splitAll(c *class, branches []*branch) (*source, error) {
	s, err := b.split(c, &branches)
	if err == nil && len(branches) > 0 {
		err = frame.Unsupported("branch %q is none of a member of %q", branches[0].name, c.name)
	}
	return s, err
}

// split returns the source of objects whose members are in the first of the branches, which it
// takes off. Those of base classes and of members that are objects may follow each other without
// a branch above them.
func (b *builder) split(c *class, branches *[]*branch) (*source, error) {
	var parts []*source
	var items []*shape
	for i := range c.members {
		m := &c.members[i]
		part, err := b.part(c, i, parts, branches)
		if err != nil {
			return nil, fmt.Errorf("member %q of type %q: %w", m.name, m.typeName, err)
		}
		parts, items = append(parts, part), append(items, part.shape)
	}
	return recordOf(classShape(c, items), parts), nil
}

// part returns the source of member i of c.
func (b *builder) part(c *class, i int, before []*source, branches *[]*branch) (*source, error) {
	m := &c.members[i]
	if all := *branches; len(all) > 0 && all[0].kind == "TBranchElement" && int(all[0].id) == i &&
		key(all[0].class) == key(c.name) {
		*branches = all[1:]
		return b.memberBranch(c, m, all[0], before)
	}
	inner := b.classOf(m)
	if inner == nil || len(inner.members) == 0 {
		return nil, frame.Unsupported("there is no branch of it")
	}
	return b.split(inner, branches)
}

// classOf returns the class of a member that is an object, or of a base class; nil for others.
func (b *builder) classOf(m *member) *class {
	if m.kind == "TStreamerBase" {
		return b.classes.find(m.name, uint16(max(0, m.version)), m.checksum)
	}
	switch m.code {
	case codeObject, codeAny, codeTObject, codeTNamed, codeObjectp, codeAnyp:
		return b.classes.newest(strings.TrimSuffix(m.typeName, "*"))
	}
	return nil
}

// memberBranch returns the source of a member that has a branch of its own.
func (b *builder) memberBranch(c *class, m *member, br *branch, before []*source) (*source, error) {
	switch br.typ {
	case branchBase, branchObject:
		inner := b.classOf(m)
		if inner == nil {
			return nil, frame.Unsupported("no streamer information about its class")
		}
		return b.splitAll(inner, br.branches)
	case branchSTL, branchClones:
		t, err := cpptype.Parse(m.typeName)
		if err != nil {
			return nil, err
		}
		return b.list(br, t)
	case branchLeaf, ofClones, ofSTL:
	default:
		return nil, frame.Unsupported("a branch of type %d", br.typ)
	}
	if len(br.branches) > 0 {
		return nil, frame.Unsupported("a branch of type %d with branches below it", br.typ)
	}
	of := &objects{class: c}
	for _, p := range before {
		of.each = append(of.each, &decoder{shape: p.shape})
	}
	d, err := b.member(m, of)
	if err != nil {
		return nil, err
	}
	s := &source{shape: d.shape, branch: br, decoder: d, members: br.typ != branchLeaf}
	if length, ok := of.lengths[len(of.each)]; ok {
		if s.members {
			return nil, frame.Unsupported("arrays of variable length in several objects")
		}
		s.each = before[length]
	}
	return s, nil
}
