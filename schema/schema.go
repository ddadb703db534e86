package schema

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/nearest"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// FieldID numbers the fields of an RNTuple, from 0.
type FieldID uint32

// ColumnID numbers the physical columns of an RNTuple, from 0.
type ColumnID uint32

// A Schema is the schema of an RNTuple: header and extension together.
type Schema struct {
	Name        string
	Description string
	Writer      string // the library or program that wrote the data

	Fields     []*Field  // the top-level fields that can be read, in the order of their IDs
	Hidden     []Hidden  // the others
	Columns    []*Column // all physical columns, by ID
	ExtraTypes []envelope.ExtraTypeInfo

	all    []*Field // by ID
	byName map[string]*Field
}

// Hidden is a top-level field that cannot be read, and the reason: the field, or one
// below it, is newer than this library or violates the format.
type Hidden struct {
	Field *Field
	Err   error // wraps frame.ErrUnsupported or frame.ErrCorrupt
}

// TopLevel returns all top-level fields, hidden ones too, in the order of their
// IDs.
func (s *Schema) TopLevel() []*Field {
	var all []*Field
	for _, f := range s.all {
		if f.Parent == nil {
			all = append(all, f)
		}
	}
	return all
}

// A Shape says what the values of a field are and how they are stored. It is derived
// from the field's structural role, columns and subfields.
type Shape uint8

const (
	Scalar      Shape = iota + 1 // a bool, number, character or byte: one column
	String                       // an index and a character column
	Bitset                       // ArraySize elements of a bit column
	Cardinality                  // the size of a collection, from its index column
	Array                        // ArraySize values of the only child
	Wrapper                      // the value of the only child: enum, atomic
	Collection                   // an index column; items are values of the only child
	Optional                     // a collection of at most one item
	Record                       // one value of each child
	Variant                      // a switch column; a value of one child, or none
	Streamer                     // an index and a byte column: objects as ROOT's streamers wrote them
)

var shapeNames = [...]string{"invalid", "scalar", "string", "bitset", "cardinality", "array", "wrapper", "collection",
	"optional", "record", "variant", "streamer"}

// String returns the name of the shape, or Shape(0x2a).
func (s Shape) String() string {
	if int(s) >= len(shapeNames) {
		return fmt.Sprintf("Shape(%#02x)", uint8(s))
	}
	return shapeNames[s]
}

// A Field is a node of the schema tree.
type Field struct {
	ID FieldID
	envelope.Field
	Parent   *Field // nil for a top-level field
	Children []*Field
	Source   *Field // the source of a projected field, else nil
	Shape    Shape  // 0 if it is unknown; the field is then hidden
	Extended bool   // the field was added while the RNTuple was written

	// Columns holds the columns by representation and index in it. Those of a
	// projected field are columns of its source.
	Columns [][]*Column

	kind     cpptype.Kind
	resolved bool  // see resolve
	err      error // found while the tree was built
}

// Kind classifies the field's C++ type.
func (f *Field) Kind() cpptype.Kind { return f.kind }

// ElementKind returns the kind of the Go type that the values of a scalar field
// have, or reflect.Invalid if f is not a scalar.
func (f *Field) ElementKind() reflect.Kind {
	if f.Shape != Scalar {
		return reflect.Invalid
	}
	return scalarTypes[f.kind][0].Kind()
}

// Path returns the names from the top-level field to f, joined by dots.
func (f *Field) Path() string {
	if f.Parent == nil {
		return f.Name
	}
	return f.Parent.Path() + "." + f.Name
}

// String returns the path and the C++ type of the field, such as
// "jets._0.pt: float".
func (f *Field) String() string { return f.Path() + ": " + f.CppType() }

// CppType returns the C++ type to show to users: the alias if there is one, else
// the type name. For an untyped field it returns "untyped" and the shape.
func (f *Field) CppType() string {
	return cmp.Or(f.TypeAlias, f.TypeName, "untyped "+f.Shape.String())
}

// IsMap reports whether f is a map: a collection of pairs of key and value.
func (f *Field) IsMap() bool {
	return f.Shape == Collection && f.kind.IsMap() &&
		f.Children[0].Shape == Record && len(f.Children[0].Children) == 2
}

// IsTuple reports whether f is a pair or a tuple: a record whose members are
// numbered.
func (f *Field) IsTuple() bool {
	return f.Shape == Record && (f.kind == cpptype.Pair || f.kind == cpptype.Tuple)
}

// IsDense reports whether f is an optional that has an item for every value and a
// bit that says whether the item counts. Only pre-release formats have them.
func (f *Field) IsDense() bool {
	return f.Shape == Optional && len(f.Columns) > 0 && f.Columns[0][0].Type == column.Bit
}

// A Column is a physical column.
type Column struct {
	ID ColumnID
	envelope.Column
	Owner *Field
	Index int // among the columns of its representation
	// PerEntry is the number of elements that every entry has, 0 if it varies.
	PerEntry int64
}

// String returns the column's number, field and format, such as
// "column 3 of jets._0.pt: SplitReal32".
func (c *Column) String() string {
	return fmt.Sprintf("column %d of %s: %v", c.ID, c.Owner.Path(), c.Format())
}

// Format returns what is needed to decode the column's pages.
func (c *Column) Format() column.Format {
	return column.Format{Type: c.Type, Bits: c.Bits, Min: c.Min, Max: c.Max, PreRelease: c.PreRelease}
}

// Lookup finds a field by its path, a list of names joined by dots, and returns the
// fields from the top-level one down to it. Names may themselves contain dots. The
// name "_0" of the only child of collections, optionals, arrays and wrappers may be
// left out. The error wraps ErrNoField if there is no such field.
func (s *Schema) Lookup(path string) ([]*Field, error) {
	if f := s.byName[path]; f != nil {
		return []*Field{f}, nil
	}
	if chain := find(s.Fields, path); chain != nil {
		return chain, nil
	}
	for _, h := range s.Hidden {
		if path == h.Field.Name || strings.HasPrefix(path, h.Field.Name+".") {
			return nil, fmt.Errorf("field %q cannot be read: %w", path, h.Err)
		}
	}
	return nil, NoField(s.Fields, path, fmt.Sprintf("RNTuple %q", s.Name))
}

// NoField returns the error for a name that none of the given fields has; where is
// what they belong to. It wraps ErrNoField and suggests a field of a similar name.
func NoField(fields []*Field, name, where string) error {
	if like := nearest.Name(name, namesFor(fields, name)); like != "" {
		return fmt.Errorf("%w %q in %s; did you mean %q?", ErrNoField, name, where, like)
	}
	return fmt.Errorf("%w %q in %s", ErrNoField, name, where)
}

// namesFor returns the names of fields, and the paths of those below the one that a
// path leads through.
func namesFor(fields []*Field, path string) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
		rest, ok := strings.CutPrefix(path, f.Name+".")
		if !ok {
			continue
		}
		below := f.Children
		if len(below) == 1 && below[0].Name == "_0" { // which Lookup leaves out
			below = append(slices.Clip(below), below[0].Children...)
		}
		for _, name := range namesFor(below, rest) {
			names = append(names, f.Name+"."+name)
		}
	}
	return names
}

func find(fields []*Field, path string) []*Field {
	for _, f := range fields {
		if f.Name == path {
			return []*Field{f}
		}
		if rest, ok := strings.CutPrefix(path, f.Name+"."); ok {
			if chain := f.Lookup(rest); chain != nil {
				return append([]*Field{f}, chain...)
			}
		}
	}
	return nil
}

// Lookup finds a field below f as Schema.Lookup does and returns the fields from the
// child of f down to it, or nil if there is no such field.
func (f *Field) Lookup(path string) []*Field {
	if chain := find(f.Children, path); chain != nil {
		return chain
	}
	switch f.Shape {
	case Collection, Optional, Array, Wrapper:
		item := f.Children[0]
		if path == item.Name || strings.HasPrefix(path, item.Name+".") {
			return nil // the path does not leave it out
		}
		if chain := item.Lookup(path); chain != nil {
			return append([]*Field{item}, chain...)
		}
	}
	return nil
}

// ErrNoField is wrapped by errors about fields that do not exist.
var ErrNoField = errors.New("no field")

// maxDepth bounds how deep fields nest, so that recursion is safe, and maxPath the
// bytes of a path, which every field below repeats.
const (
	maxDepth = 1000
	maxPath  = 4096
)

// Build makes a schema from a header and a footer's extension, which may be nil.
// The error wraps frame.ErrCorrupt if the descriptors contradict each other so that
// no field can be trusted, and frame.ErrUnsupported if fields nest too deep or have
// too long paths. Other faults hide the top-level field that they occur in.
func Build(h *envelope.Header, ext *envelope.Schema) (*Schema, error) {
	s := &Schema{Name: h.Name, Description: h.Description, Writer: h.Writer}
	ext = cmp.Or(ext, new(envelope.Schema))
	s.ExtraTypes = append(h.ExtraTypes[:len(h.ExtraTypes):len(h.ExtraTypes)], ext.ExtraTypes...)
	n := len(h.Fields) + len(ext.Fields)
	s.all = make([]*Field, 0, n)
	fields := make([]Field, n)
	var top []*Field
	depth, path := make([]int, 0, n), make([]int, 0, n)
	for _, part := range []*envelope.Schema{&h.Schema, ext} {
		for i := range part.Fields {
			f := &fields[len(s.all)]
			f.ID, f.Field, f.Extended = FieldID(len(s.all)), part.Fields[i], part == ext
			s.all = append(s.all, f)
			d, p := 1, len(f.Name)
			switch parent := FieldID(f.Field.Parent); {
			case parent == f.ID:
				top = append(top, f)
			case parent > f.ID:
				return nil, frame.Corrupt("field %d, %q, has the parent %d", f.ID, f.Name, parent)
			default:
				f.Parent = s.all[parent]
				f.Parent.Children = append(f.Parent.Children, f)
				d, p = d+depth[parent], p+1+path[parent]
			}
			if d > maxDepth {
				return nil, frame.Unsupported("field %d is nested more than %d deep", f.ID, maxDepth)
			}
			if p > maxPath {
				return nil, frame.Unsupported("the path of field %d has more than %d bytes", f.ID, maxPath)
			}
			depth, path = append(depth, d), append(path, p)
		}
	}
	if err := s.attach(len(h.Columns)+len(ext.Columns), h.Columns, ext.Columns); err != nil {
		return nil, err
	}
	if err := s.project(h.Aliases, ext.Aliases); err != nil {
		return nil, err
	}
	s.sift(top)
	return s, nil
}

// attach assigns the columns of lists, n in all, to their fields.
func (s *Schema) attach(n int, lists ...[]envelope.Column) error {
	s.Columns = make([]*Column, 0, n)
	// Nearly all fields have one column, so these serve most.
	columns, representations, first := make([]Column, n), make([][]*Column, n), make([]*Column, n)
	for _, list := range lists {
		for i := range list {
			id := len(s.Columns)
			c := &columns[id]
			c.ID, c.Column = ColumnID(id), list[i]
			if int64(c.Field) >= int64(len(s.all)) {
				return frame.Corrupt("column %d belongs to field %d of %d", c.ID, c.Field, len(s.all))
			}
			s.Columns = append(s.Columns, c)
			c.Owner = s.all[c.Field]
			rep := int(c.Representation)
			switch reps := c.Owner.Columns; {
			case rep == 0 && reps == nil:
				representations[id] = first[id : id : id+1]
				c.Owner.Columns = representations[id : id+1 : id+1]
			case rep == len(reps):
				c.Owner.Columns = append(reps, nil)
			case rep != len(reps)-1:
				return frame.Corrupt("column %d is of representation %d of field %q, expected %d or the next", c.ID, rep,
					c.Owner.Path(), len(reps)-1)
			}
			c.Index = len(c.Owner.Columns[rep])
			c.Owner.Columns[rep] = append(c.Owner.Columns[rep], c)
		}
	}
	return nil
}

// project assigns sources and their columns to the projected fields.
func (s *Schema) project(lists ...[]envelope.Alias) error {
	for _, f := range s.all {
		if f.Flags&envelope.FieldProjected != 0 {
			if int64(f.Field.Source) >= int64(len(s.all)) {
				return frame.Corrupt("field %q projects field %d of %d", f.Path(), f.Field.Source, len(s.all))
			}
			f.Source = s.all[f.Field.Source]
		}
	}
	for _, list := range lists {
		for i, a := range list {
			if int64(a.Column) >= int64(len(s.Columns)) || int64(a.Field) >= int64(len(s.all)) {
				return frame.Corrupt("alias column %d of column %d and field %d: there are %d columns and %d fields", i, a.Column,
					a.Field, len(s.Columns), len(s.all))
			}
			f, c := s.all[a.Field], s.Columns[a.Column]
			switch rep := int(c.Representation); {
			case rep == len(f.Columns):
				f.Columns = append(f.Columns, nil)
			case rep != len(f.Columns)-1:
				f.err = frame.Corrupt("alias column %d of field %q is of representation %d, expected %d or the next", i,
					f.Path(), rep, len(f.Columns)-1)
				continue
			}
			f.Columns[c.Representation] = append(f.Columns[c.Representation], c)
		}
	}
	return nil
}

// sift separates the top-level fields that can be read from the others.
func (s *Schema) sift(top []*Field) {
	kinds := map[string]cpptype.Kind{}
	for _, f := range top {
		f.err = f.check(1, kinds)
	}
	s.byName = make(map[string]*Field, len(top))
	for _, f := range top {
		f.resolve()
		if f.err != nil {
			s.Hidden = append(s.Hidden, Hidden{f, f.err})
			continue
		}
		s.Fields = append(s.Fields, f)
		if s.byName[f.Name] == nil {
			s.byName[f.Name] = f
		}
	}
}

// resolve hides the top-level field f if it projects a hidden field.
func (f *Field) resolve() {
	if f.resolved {
		return
	}
	f.resolved = true // also ends cycles of projections
	f.sources(func(source *Field) bool {
		if f.err == nil {
			source.resolve()
			switch err := source.err.(type) {
			case nil:
			case *sourceError:
				f.err = err
			default:
				f.err = &sourceError{source, err}
			}
		}
		return f.err == nil
	})
	if f.err == nil {
		f.err = f.checkProjections()
	}
}

// sourceError says that a field cannot be read because source cannot.
type sourceError struct {
	source *Field
	err    error
}

func (e *sourceError) Error() string {
	return fmt.Sprintf("its source, field %q, cannot be read: %v", e.source.Name, e.err)
}

func (e *sourceError) Unwrap() error { return e.err }

// sources calls visit for the top-level fields that f and the fields below it
// take their columns from, until visit returns false.
func (f *Field) sources(visit func(*Field) bool) bool {
	if f.Source != nil && !visit(f.Source.top()) {
		return false
	}
	for _, rep := range f.Columns {
		for _, c := range rep {
			if c.Owner != f && !visit(c.Owner.top()) {
				return false
			}
		}
	}
	for _, child := range f.Children {
		if !child.sources(visit) {
			return false
		}
	}
	return true
}

// top returns the top-level field that f belongs to.
func (f *Field) top() *Field {
	for f.Parent != nil {
		f = f.Parent
	}
	return f
}
