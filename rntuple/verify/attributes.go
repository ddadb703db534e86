package verify

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// attributeSets checks the attribute sets that are linked to the RNTuple.
//
// Source: format 1.0.1.0, "Linked attribute sets"; ROOT class RNTupleAttrSetReader.
func (n *ntuple) attributeSets() {
	names, anchors := map[string]bool{}, map[int64]bool{}
	for _, s := range n.footer.AttributeSets {
		at := int64(s.Anchor.Offset)
		part := fmt.Sprintf("attribute set %q", s.Name)
		fail := func(err error) { n.problem(Attributes, part, at, err) }
		switch {
		case s.Name == "":
			fail(frame.Corrupt("has no name"))
		case names[s.Name]:
			fail(frame.Corrupt("two sets have this name"))
		}
		if anchors[at] {
			fail(frame.Corrupt("its anchor is also that of another set"))
			continue
		}
		names[s.Name], anchors[at] = true, true
		if s.SchemaMajor != 1 {
			fail(frame.Unsupported("schema version %d.%d", s.SchemaMajor, s.SchemaMinor))
			continue
		}
		if s.AnchorLength > anchor.MaxSize {
			fail(frame.Corrupt("anchor of %d bytes", s.AnchorLength))
			continue
		}
		blobs := n.blobs
		blobs.MaxKeySize = 0 // an anchor is never split
		object, err := blobs.Envelope(n.ctx, "anchor", locator.Link{Length: uint64(s.AnchorLength), Locator: s.Anchor})
		if err != nil {
			fail(cause(err, at))
			continue
		}
		link := setLink{s, n.path, n.entries}
		n.sets = append(n.sets, link)
		n.load(anchorObject{n.path + "@" + s.Name, anchor.ClassName, object, at}, &link)
	}
}

// A setLink is the link to an attribute set in the footer of an RNTuple.
type setLink struct {
	envelope.AttributeSet
	path    string // path of the RNTuple
	entries int64  // number of its entries
}

// attributeFields are the fields of an attribute set of schema version 1.0.
var attributeFields = []struct {
	name string
	kind cpptype.Kind
	role envelope.Role
}{
	{"_rangeStart", cpptype.UInt64, envelope.RolePlain},
	{"_rangeLen", cpptype.UInt64, envelope.RolePlain},
	{"_userData", cpptype.User, envelope.RoleRecord},
}

// checkSet checks the attribute set n against the link to it.
func (n *ntuple) checkSet(s *setLink) {
	if n.header == nil {
		return
	}
	at := int64(n.anchor.SeekHeader)
	fail := func(format string, args ...any) { n.problem(Attributes, "header", at, frame.Corrupt(format, args...)) }
	if n.header.Name != s.Name {
		fail("the name is %q, the link says %q", n.header.Name, s.Name)
	}
	if len(n.footer.AttributeSets) > 0 {
		fail("an attribute set has attribute sets")
	}
	if n.schema == nil {
		return
	}
	top := n.schema.TopLevel()
	if len(top) < len(attributeFields) || len(top) > len(attributeFields) && s.SchemaMinor == 0 {
		fail("%d top-level fields, expected %d", len(top), len(attributeFields))
		return
	}
	for i, want := range attributeFields {
		if f := top[i]; f.Name != want.name || f.Role != want.role || want.kind != cpptype.User && f.Kind() != want.kind {
			fail("top-level field %d is %q of type %q, expected %q", i, f.Name, f.TypeName, want.name)
		}
	}
	var visit func(fields []*schema.Field)
	visit = func(fields []*schema.Field) {
		for _, f := range fields {
			if f.Source != nil || f.Role == envelope.RoleStreamer {
				fail("field %q is projected or streamed", f.Path())
			}
			visit(f.Children)
		}
	}
	visit(top)
	n.checkRanges(uint64(s.entries))
}

// checkRanges checks that attributes belong to existing entries. It ignores pages that
// cannot be read, which have been reported.
func (n *ntuple) checkRanges(entries uint64) {
	start, ok1 := n.uint64Field("_rangeStart")
	length, ok2 := n.uint64Field("_rangeLen")
	if !ok1 || !ok2 {
		return
	}
	for _, c := range n.clusters {
		first, ok1 := n.values(c, start)
		count, ok2 := n.values(c, length)
		if !ok1 || !ok2 || len(first) != len(count) {
			continue
		}
		for i := range first {
			if first[i] > entries || count[i] > entries-first[i] {
				n.report(Problem{RNTuple: n.path, Cluster: c.ID, Column: -1, Page: -1, Offset: -1, Check: Attributes,
					Err: frame.Corrupt("attribute %d belongs to %d entries from %d on, but there are %d entries", c.First+int64(i),
						count[i], first[i], entries)})
			}
		}
	}
}

// uint64Field returns a top-level field of type std::uint64_t.
func (n *ntuple) uint64Field(name string) (*schema.Field, bool) {
	chain, err := n.schema.Lookup(name)
	if err != nil || len(chain) != 1 {
		return nil, false
	}
	f := chain[0]
	return f, f.Shape == schema.Scalar && f.Kind() == cpptype.UInt64
}

// values returns the values of f in a cluster.
func (n *ntuple) values(c *cluster, f *schema.Field) (all []uint64, ok bool) {
	chunk, err := c.Chunk(f, 0)
	if err != nil || chunk.Zeros > 0 {
		return nil, false
	}
	d, err := column.NewDecoder[uint64](chunk.Column.Format())
	if err != nil {
		return nil, false
	}
	for _, p := range chunk.Pages {
		err := n.blobs.Page(n.ctx, chunk.Column.Format(), p, func(page []byte) error {
			at := len(all)
			all = append(all, make([]uint64, p.NumElements)...)
			return d.Decode(all[at:], page)
		})
		if err != nil {
			return nil, false
		}
	}
	return all, true
}
