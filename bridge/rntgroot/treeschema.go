package rntgroot

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An assembly makes the columns of a tree, and the schema of the RNTuple.
type assembly struct {
	*builder
	options TreeOptions
	tree    *tree

	columns  []column
	counted  map[*leaf][]column // arrays by their counter
	refused  []BranchError
	selected map[string]bool
	taken    map[string]bool // names of fields
}

// compile makes the columns of a tree. The first one determines the schema.
func (t *Tree) compile(from *tree) error {
	a := &assembly{builder: newBuilder(from), options: t.options, tree: from, counted: map[*leaf][]column{},
		selected: map[string]bool{}, taken: map[string]bool{}}
	if err := a.choose(); err != nil {
		return err
	}
	for _, b := range from.branches {
		if a.selected[b.name] {
			a.branch(b)
		}
	}
	doc := a.document()
	doc.Name, doc.Description = path.Base(from.name), from.title
	if from.title == doc.Name {
		doc.Description = ""
	}
	if len(a.refused) > 0 && !t.options.Skip {
		return &TreeError{from.file, from.name, a.refused}
	}
	if _, err := doc.Describe(true); err != nil {
		return fmt.Errorf("%s: tree %q: %w", from.file, from.name, err)
	}
	t.columns = a.columns
	if t.doc == nil {
		t.doc, t.title, t.skipped = doc, from.title, a.refused
	}
	return agree(doc, t.doc, from.file)
}

// choose selects branches.
func (a *assembly) choose() error {
	for _, b := range a.tree.branches {
		a.selected[b.name] = a.options.Branches == nil
	}
	for _, pattern := range a.options.Branches {
		found := false
		for _, b := range a.tree.branches {
			ok, err := path.Match(pattern, b.name)
			if err != nil {
				return fmt.Errorf("pattern %q: %w", pattern, err)
			}
			if ok || pattern == b.name {
				a.selected[b.name], found = true, true
			}
		}
		if !found {
			return fmt.Errorf("%s: tree %q has no branch %q", a.tree.file, a.tree.name, pattern)
		}
	}
	return nil
}

// branch adds the column of a branch, or refuses it.
func (a *assembly) branch(b *branch) {
	err := recovered(func() error {
		if a.taken[fieldName(b.name)] {
			return frame.Unsupported("another branch has this name, or becomes a field of this name")
		}
		if len(b.leaves) == 1 && b.leaves[0].count != nil && b.kind == "TBranch" {
			items, counter, err := a.elements(b)
			var list *source
			if err == nil {
				list = collectionOf(listShape("std::vector", items.shape), counter, items)
				err = a.try(fieldName(b.name), list)
			}
			l := b.leaves[0].count
			switch {
			case err != nil:
			case a.options.Flat || items.shape.shape == schema.Array: // arrays cannot be projected
				a.columns = append(a.columns, column{fieldName(b.name), b.about(), list})
			default:
				a.counted[l] = append(a.counted[l], column{fieldName(b.name), b.about(), items})
			}
			return err
		}
		s, err := a.source(b)
		if err == nil {
			err = a.try(fieldName(b.name), s)
		}
		if err == nil {
			a.columns = append(a.columns, column{fieldName(b.name), b.about(), s})
		}
		return err
	})
	if err != nil {
		a.refused = append(a.refused, BranchError{b.info(), err})
	}
	a.taken[fieldName(b.name)] = true
}

// try makes sure that the values of a source can be those of a field, that its branches have
// baskets for all entries, and that the first entry can be read.
func (a *assembly) try(name string, s *source) error {
	alone := &schema.Document{Name: "alone", Fields: []*schema.FieldDocument{s.document(name)}}
	if _, err := alone.Describe(true); err != nil {
		return err
	}
	for _, b := range s.branches(nil) {
		if err := b.check(); err != nil {
			return fmt.Errorf("branch %q: %w", b.name, err)
		}
	}
	_, err := s.read(0, min(1, a.tree.entries), nil)
	return err
}

// fieldName returns the name of the field of a branch: names of fields have no dots.
func fieldName(branch string) string { return strings.ReplaceAll(branch, ".", "_") }

// about returns what the title of a branch says beyond its name and its leaves.
func (b *branch) about() string {
	if b.title == b.name || b.title == b.class {
		return ""
	}
	for _, l := range b.leaves[:min(1, len(b.leaves))] {
		for _, start := range []string{l.title, l.name} {
			if rest, ok := strings.CutPrefix(b.title, start); ok && (rest == "" || strings.ContainsAny(rest[:1], "/:[")) {
				return ""
			}
		}
	}
	return b.title
}

// document returns the schema, and puts the columns into its order: as ROOT does, fields first,
// then collections of arrays in the order of the names of their counters, then what these are
// projected to.
func (a *assembly) document() *schema.Document {
	doc := &schema.Document{Fields: []*schema.FieldDocument{}}
	leaves := slices.SortedFunc(maps.Keys(a.counted), func(x, y *leaf) int { return strings.Compare(x.name, y.name) })
	counters := map[*branch]*leaf{}
	for _, l := range leaves {
		counters[a.owners[l]] = l
	}
	columns := a.columns
	a.columns = nil
	add := func(c column) {
		d := c.document(c.name)
		d.Description = c.title
		doc.Fields = append(doc.Fields, d)
		a.columns = append(a.columns, c)
	}
	for _, c := range columns {
		if counters[c.branch] == nil {
			add(c)
		}
	}
	var projected []*schema.FieldDocument
	for i, l := range leaves {
		arrays, counter := a.counted[l], a.counters[l]
		name := fmt.Sprintf("_collection%d", i)
		record := &shape{shape: schema.Record}
		var parts []*source
		for _, c := range arrays {
			record.names, record.about, record.items = append(record.names, c.name), append(record.about, c.title),
				append(record.items, c.shape)
			parts = append(parts, c.source)
			d := listShape("ROOT::VecOps::RVec", c.shape).document(c.name)
			d.Source, d.Description, d.Columns = name, c.title, nil
			d.Fields = []*schema.FieldDocument{projection(c.shape, "_0", name+"._0."+c.name)}
			projected = append(projected, d)
		}
		add(column{name, "", collectionOf(untyped(record), counter, recordOf(record, parts))})
		if owner := a.owners[l]; a.selected[owner.name] {
			projected = append(projected, &schema.FieldDocument{Name: fieldName(l.name),
				Type: "ROOT::RNTupleCardinality<std::uint32_t>", Role: "plain", Source: name, Description: owner.about()})
		}
	}
	doc.Fields = append(doc.Fields, projected...)
	return doc
}

// projection returns a field that is projected from another one.
func projection(s *shape, name, source string) *schema.FieldDocument {
	d := s.document(name)
	d.Source = source
	for i, sub := range d.Fields {
		d.Fields[i] = projection(s.items[i], sub.Name, source+"."+sub.Name)
	}
	return d
}

// agree makes sure that two files have the same branches.
func agree(doc, first *schema.Document, file string) error {
	names := func(d *schema.Document) map[string]*schema.FieldDocument {
		all := map[string]*schema.FieldDocument{}
		for _, f := range d.Fields {
			all[f.Name] = f
		}
		return all
	}
	mine, others := names(doc), names(first)
	for _, f := range first.Fields {
		g := mine[f.Name]
		if g == nil {
			return fmt.Errorf("%s: there is no branch for the field %q, unlike in the first file", file, f.Name)
		}
		if !alike(f, g) {
			return fmt.Errorf("%s: the branch of the field %q has the type %s, in the first file %s", file,
				f.Name, typeOf(g), typeOf(f))
		}
	}
	for _, f := range doc.Fields {
		if others[f.Name] == nil {
			return fmt.Errorf("%s: there is a branch for the field %q, unlike in the first file", file, f.Name)
		}
	}
	return nil
}

func typeOf(f *schema.FieldDocument) string {
	if f.Type == "" {
		return f.Role
	}
	return f.Type
}

// alike reports whether two fields have the same type; their descriptions do not matter.
func alike(a, b *schema.FieldDocument) bool {
	x, y := *a, *b
	x.Description, y.Description, x.Fields, y.Fields = "", "", nil, nil
	one, err1 := json.Marshal(x)
	two, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && string(one) == string(two) && slices.EqualFunc(a.Fields, b.Fields, alike)
}
