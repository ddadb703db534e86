package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// ParseDocument reads a Document from JSON, as Schema.MarshalJSON writes it.
// Unknown members are an error, so that a misspelled member does not silently
// select a default.
func ParseDocument(r io.Reader) (*Document, error) {
	d := new(Document)
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("schema document: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("schema document: more text follows")
	}
	return d, nil
}

// A DocumentError lists everything that is wrong with a Document.
type DocumentError struct {
	Problems []string
}

func (e *DocumentError) Error() string {
	if len(e.Problems) == 1 {
		return "schema: " + e.Problems[0]
	}
	return fmt.Sprintf("schema: %d problems:\n\t%s", len(e.Problems), strings.Join(e.Problems, "\n\t"))
}

// Describe returns the descriptors of the document's fields for a header. It is the
// inverse of Build and Schema.Document. Fields and columns are numbered as ROOT
// numbers them: depth-first in the order of the document, projected fields last.
//
// What the document leaves out gets ROOT's defaults: the column types for
// compressed or uncompressed data; the bits of column types that leave no choice;
// aliases; and, for types that FieldOf knows, also role, array size and subfields.
// Type names are normalized. Members that are for information only, which are
// Extended, Hidden and FirstElement, have no effect.
//
// ROOT keeps extra types in the footer, not in the header.
//
// The error is a *DocumentError.
func (d *Document) Describe(compressed bool) (*envelope.Schema, error) {
	w := describer{before: &Schema{}, compressed: compressed}
	if problem := nameProblem(d.Name); problem != "" {
		w.problems = append(w.problems, fmt.Sprintf("RNTuple name %q %s", d.Name, problem))
	}
	return w.describe(d, 0)
}

// Extend returns the descriptors that add the document's fields to the schema before
// of an RNTuple that has the given number of entries: a schema extension for the
// footer, or what to append to the one that it has. Columns that would have
// elements in these entries are deferred. The document's name has no effect.
//
// Besides new top-level fields the document may have new subfields of an existing
// untyped record that does not lie below a collection: it names the record, without
// columns or type, and lists only the new subfields.
//
// Otherwise Extend is like Describe.
func (d *Document) Extend(before *Schema, entries int64, compressed bool) (*envelope.Schema, error) {
	w := describer{before: before, compressed: compressed}
	return w.describe(d, entries)
}

// FieldOf returns a field of a C++ type that consists of fundamental types and types
// of the standard library only, with all subfields and the aliases that ROOT gives
// them, but without columns. The members of other types are known only to the
// caller.
func FieldOf(name, cppType string) (*FieldDocument, error) {
	t, err := cpptype.Parse(cppType)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", name, err)
	}
	f, err := fieldOf(name, t)
	if err != nil {
		return nil, fmt.Errorf("field %q of type %s: %w", name, t, err)
	}
	f.Alias = aliasOf(cppType, f.Type)
	return f, nil
}

func fieldOf(name string, t cpptype.Type) (*FieldDocument, error) {
	l, ok := layoutOf(t)
	if !ok {
		return nil, fmt.Errorf("%q is neither a fundamental type nor one of the standard library that RNTuple knows%s", t,
			suggestion(t.String()))
	}
	f := &FieldDocument{Name: name, Type: resolved(t).String(), Role: roleName(l.role), ArraySize: l.size}
	f.Alias = aliasOf(t.String(), f.Type)
	for i, item := range l.items {
		sub, err := fieldOf(fmt.Sprintf("_%d", i), item)
		if err != nil {
			return nil, err
		}
		f.Fields = append(f.Fields, sub)
	}
	return f, nil
}

// A describer makes descriptors and collects problems.
type describer struct {
	before     *Schema // whose IDs come first
	compressed bool
	out        envelope.Schema
	problems   []string
	sourceOf   map[string]*Field // the fields that can be projected, by path
}

// maxProblems is the number of problems after which the search ends. It also ends
// the walk over documents that contain themselves.
const maxProblems = 100

// A place is the position of a field in the tree.
type place struct {
	id        uint32 // of the parent
	path      string
	depth     int
	untyped   bool // whether an untyped field may be here
	projected bool
}

func (p place) of(name string) string {
	if p.depth == 0 {
		return name
	}
	return p.path + "." + name
}

func (w *describer) problem(path, format string, args ...any) {
	where := "top level: "
	if path != "" {
		where = fmt.Sprintf("field %q: ", path)
	}
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, where+fmt.Sprintf(format, args...))
	}
}

func (w *describer) describe(d *Document, entries int64) (*envelope.Schema, error) {
	bad := map[string]bool{} // top-level fields with problems
	old := map[string]*Field{}
	for _, f := range w.before.TopLevel() {
		old[f.Name] = f
	}
	each := func(projected bool) {
		for _, f := range d.Fields {
			if f == nil || (f.Source != "") != projected {
				continue
			}
			n := len(w.problems)
			if old[f.Name] != nil {
				w.add(f, old[f.Name])
			} else {
				w.field(f, place{untyped: true, projected: projected})
			}
			bad[f.Name] = bad[f.Name] || len(w.problems) > n
		}
	}
	w.siblings("", d.Fields)
	each(false)
	before := w.before.descriptors()
	// Projected fields come last, after their sources have IDs and columns.
	if s, err := Build(&envelope.Header{Schema: before}, &w.out); err == nil {
		w.sourceOf = map[string]*Field{}
		for _, f := range s.all {
			if f.Source == nil {
				w.sourceOf[f.Path()] = f
			}
		}
	}
	each(true)
	for _, e := range d.ExtraTypes {
		w.out.ExtraTypes = append(w.out.ExtraTypes,
			envelope.ExtraTypeInfo{ContentID: e.ContentID, TypeVersion: e.TypeVersion, TypeName: e.TypeName,
				Content: string(e.Content)})
	}

	s, err := Build(&envelope.Header{Schema: before}, &w.out)
	if err != nil && w.problems == nil {
		w.problems = append(w.problems, err.Error())
	}
	if err == nil {
		w.finish(s, entries, bad)
	}
	if w.problems != nil {
		return nil, &DocumentError{w.problems}
	}
	return &w.out, nil
}

// finish checks the new part of the finished schema s and defers its columns.
func (w *describer) finish(s *Schema, entries int64, bad map[string]bool) {
	for _, f := range s.all[len(w.before.all):] {
		if f.Source != nil {
			if problem := f.projectionProblem(); problem != "" {
				w.problem(f.Path(), "%s", problem)
				bad[f.top().Name] = true
			}
		}
	}
	for _, h := range s.Hidden {
		was := slices.ContainsFunc(w.before.Hidden, func(old Hidden) bool { return old.Field.ID == h.Field.ID })
		if e, ok := h.Err.(*sourceError); ok && int(e.source.ID) >= len(w.before.all) {
			was = true // the source has a problem of its own
		}
		if !was && !bad[h.Field.Name] {
			w.problem(h.Field.Name, "%v", h.Err)
		}
	}
	for i, c := range s.Columns[len(w.before.Columns):] {
		if c.PerEntry > 0 && entries > math.MaxInt64/c.PerEntry {
			w.problem(c.Owner.Path(), "more than 2^63 elements")
		}
		if first := c.PerEntry * entries; first != 0 {
			if c.Representation > 0 {
				first = -first // suppressed there, too
			}
			w.out.Columns[i].Flags |= envelope.ColumnDeferred
			w.out.Columns[i].FirstElement = first
		}
	}
}

// descriptors returns the descriptors that s was built from, with no column deferred.
func (s *Schema) descriptors() (d envelope.Schema) {
	for _, f := range s.all {
		d.Fields = append(d.Fields, f.Field)
		if f.Source == nil {
			continue
		}
		for _, c := range slices.Concat(f.Columns...) {
			d.Aliases = append(d.Aliases, envelope.Alias{Column: uint32(c.ID), Field: uint32(f.ID)})
		}
	}
	for _, c := range s.Columns {
		d.Columns = append(d.Columns, c.Column)
	}
	return d
}

// siblings checks the names of fields with the same parent.
func (w *describer) siblings(path string, fields []*FieldDocument) {
	seen := map[string]int{}
	for i, f := range fields {
		if f == nil {
			w.problem(path, "subfield %d is null", i)
			continue
		}
		if seen[f.Name]++; seen[f.Name] == 2 {
			w.problem(path, "there are several fields of the name %q", f.Name)
		}
	}
}

// nameProblem says what is wrong with the name of a field or an RNTuple; "" if
// nothing is. Specification: "Naming specification".
func nameProblem(name string) string {
	switch {
	case name == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	}
	for _, r := range name {
		if unicode.IsControl(r) || strings.ContainsRune(`. \/`, r) {
			return fmt.Sprintf("has the character %q", r)
		}
	}
	return ""
}

// add describes the new subfields of an existing record that f lists.
func (w *describer) add(f *FieldDocument, record *Field) {
	path := record.Path()
	if record.Role != envelope.RoleRecord || record.TypeName != "" || record.Source != nil ||
		f.Type != "" || f.Source != "" || f.Role != "" && f.Role != "record" || len(f.Fields) == 0 {
		w.problem(path, "already exists; only an untyped record can get more subfields")
		return
	}
	w.siblings(path, f.Fields)
	depth := strings.Count(path, ".") + 1
	for _, sub := range f.Fields {
		if sub == nil {
			continue
		}
		if i := slices.IndexFunc(record.Children, func(old *Field) bool { return old.Name == sub.Name }); i >= 0 {
			w.add(sub, record.Children[i])
		} else {
			w.field(sub, place{id: uint32(record.ID), path: path, depth: depth, untyped: true})
		}
	}
}

// field describes f and the fields below it.
func (w *describer) field(f *FieldDocument, in place) {
	path := in.of(f.Name)
	if len(w.problems) >= maxProblems {
		return
	}
	if in.depth >= maxDepth {
		w.problem(path, "nested more than %d deep", maxDepth)
		return
	}
	if problem := nameProblem(f.Name); problem != "" {
		w.problem(path, "the name %s", problem)
	}
	f, l := complete(f, in.projected)
	out := envelope.Field{
		Version: f.FieldVersion, TypeVersion: f.TypeVersion, Name: f.Name, TypeName: f.Type, TypeAlias: f.Alias,
		Description: f.Description,
		Parent:      in.id, Role: roleOf(f.Role),
	}
	id := uint32(len(w.before.all) + len(w.out.Fields))
	if in.depth == 0 {
		out.Parent = id
	}
	if f.ArraySize != nil {
		out.Flags, out.ArraySize = out.Flags|envelope.FieldRepetitive, *f.ArraySize
	}
	if f.TypeChecksum != nil {
		out.Flags, out.TypeChecksum = out.Flags|envelope.FieldChecksum, *f.TypeChecksum
	}
	if f.SoA {
		out.Flags |= envelope.FieldSoA
	}
	if f.Source != "" && !in.projected {
		w.problem(path, "only a top-level field can be projected")
	}
	w.check(path, f, l, in)
	w.siblings(path, f.Fields)
	if in.projected {
		w.source(path, f, id, &out)
	}
	w.out.Fields = append(w.out.Fields, out)
	if !in.projected {
		w.columns(path, f, l, id)
	}
	for _, sub := range f.Fields {
		if sub != nil {
			w.field(sub, place{id: id, path: path, depth: in.depth + 1, untyped: f.Type == "", projected: in.projected})
		}
	}
}

// source completes the projected field out and gives it the columns of its source.
func (w *describer) source(path string, f *FieldDocument, id uint32, out *envelope.Field) {
	if f.Columns != nil {
		w.problem(path, "a projected field has no columns of its own")
	}
	source := w.sourceOf[f.Source]
	switch {
	case f.Source == "":
		w.problem(path, "a subfield of a projected field needs a source, too")
		return
	case source == nil:
		if w.sourceOf != nil {
			w.problem(path, "there is no field %q that can be projected", f.Source)
		}
		return
	}
	out.Flags, out.Source = out.Flags|envelope.FieldProjected, uint32(source.ID)
	for _, c := range slices.Concat(source.Columns...) {
		w.out.Aliases = append(w.out.Aliases, envelope.Alias{Column: uint32(c.ID), Field: id})
	}
}

// projectionProblem says why f cannot be a projection of its source; "" if it can.
//
// Specification: "Field Description", the restrictions on field projections;
// ROOT: RProjectedFields::EnsureValidMapping.
func (f *Field) projectionProblem() string {
	source := f.Source
	path := source.Path()
	switch {
	case f.kind == cpptype.Cardinality:
		if source.Role != envelope.RoleCollection {
			return fmt.Sprintf("its source %q is not a collection", path)
		}
	case f.Role != source.Role:
		return fmt.Sprintf("has the role %q, its source %q the role %q", roleName(f.Role), path, roleName(source.Role))
	case f.Role == envelope.RoleVariant || f.Shape == Array || source.Shape == Array:
		return "variants and arrays cannot be projected"
	case (f.Role == envelope.RolePlain || f.Role == envelope.RoleStreamer) && !cpptype.Same(f.TypeName, source.TypeName):
		return fmt.Sprintf("has the type %q, its source %q the type %q", f.TypeName, path, source.TypeName)
	}
	of, ok := f.collection()
	sourceOf, sourceOK := source.collection()
	switch {
	case !ok || !sourceOK:
		return fmt.Sprintf("its source %q lies below a variant or array", path)
	case (of == nil) != (sourceOf == nil), of != nil && of.Source != sourceOf:
		return fmt.Sprintf("its source %q lies below other collections", path)
	}
	return ""
}

// collection returns the innermost collection that f lies below, or nil. ok is false
// if there is a variant or an array in between.
func (f *Field) collection() (c *Field, ok bool) {
	for c = f.Parent; c != nil && c.Role != envelope.RoleCollection; c = c.Parent {
		if c.Role == envelope.RoleVariant || c.Shape == Array {
			return nil, false
		}
	}
	return c, true
}
