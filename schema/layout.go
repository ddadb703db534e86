package schema

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A layout is what a C++ type alone determines about its field.
type layout struct {
	kind  cpptype.Kind
	role  envelope.Role
	size  *uint64        // array size
	items []cpptype.Type // of the subfields _0, _1, ...
}

// layoutOf returns the layout of a type. ok is false for types whose members the
// name does not tell.
//
// Specification: "Mapping of C++ Types to Fields and Columns".
func layoutOf(t cpptype.Type) (l layout, ok bool) {
	l = layout{kind: t.Kind()}
	switch k := l.kind; {
	case k == cpptype.User:
		return l, false
	case k == cpptype.Cardinality:
		k = t.Args[0].Kind()
		return l, k == cpptype.UInt32 || k == cpptype.UInt64
	case k.IsMap():
		l.role, l.items = envelope.RoleCollection, []cpptype.Type{{Name: "std::pair", Args: t.Args}}
	case k == cpptype.Vector, k == cpptype.RVec, k.IsSet(), k == cpptype.Optional, k == cpptype.UniquePtr:
		l.role, l.items = envelope.RoleCollection, t.Args
	case k == cpptype.Variant:
		l.role, l.items = envelope.RoleVariant, t.Args
		return l, 0 < len(t.Args) && len(t.Args) <= maxAlternatives
	case k == cpptype.Pair, k == cpptype.Tuple:
		l.role, l.items = envelope.RoleRecord, t.Args
	case k == cpptype.Atomic:
		l.items = t.Args
	case k == cpptype.Array, k == cpptype.Bitset:
		l.items = t.Args[:len(t.Args)-1]
		if n, _ := t.Args[len(t.Args)-1].Uint(); n > 0 {
			l.size = &n // ROOT omits the size 0
		}
	}
	return l, true
}

// maxAlternatives is the largest number of alternatives of a variant.
const maxAlternatives = 125

// resolved returns t as ROOT stores it, with double for Double32_t.
func resolved(t cpptype.Type) cpptype.Type {
	if t.Name == "Double32_t" {
		t.Name = "double"
	}
	if t.Scope != nil {
		scope := resolved(*t.Scope)
		t.Scope = &scope
	}
	t.Args = slices.Clone(t.Args)
	for i := range t.Args {
		t.Args[i] = resolved(t.Args[i])
	}
	return t
}

// aliasOf returns the alias by which ROOT remembers the spelling of a type of the
// given name: normalized, but with some typedefs kept. It is "" if it equals name.
func aliasOf(spelling, name string) string {
	// The dollar keeps the parser from resolving the typedef.
	t, err := cpptype.Parse(typedefs().ReplaceAllString(spelling, "$1$$"))
	if alias := strings.ReplaceAll(t.String(), "_t$", "_t"); err == nil && alias != name {
		return alias
	}
	return ""
}

var typedefs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(size_t|ptrdiff_t)\b`) })

// complete returns a copy of f with everything that its type determines, and the
// layout of the type if there is one.
func complete(f *FieldDocument, projected bool) (*FieldDocument, *layout) {
	c := *f
	t, err := cpptype.Parse(f.Type)
	if err != nil {
		return &c, nil // a name that does not parse is that of a user's type
	}
	c.Type = resolved(t).String()
	if c.Alias == "" || t.Name == "Double32_t" {
		c.Alias = aliasOf(f.Type, c.Type)
	}
	l, ok := layoutOf(t)
	if !ok {
		return &c, nil
	}
	if c.Role == "" {
		c.Role = roleName(l.role)
	}
	if c.ArraySize == nil {
		c.ArraySize = l.size
	}
	if len(c.Fields) == 0 && !projected {
		if all, err := fieldOf(c.Name, t); err == nil {
			c.Fields = all.Fields
		}
	}
	return &c, &l
}

// check checks that role, array size and subfields of f are right for its type.
func (w *describer) check(path string, f *FieldDocument, l *layout, in place) {
	role := roleOf(f.Role)
	switch {
	case f.Role == "":
		w.problem(path, "has no role, and its type %q does not tell it%s", f.Type, suggestion(f.Type))
	case role == noRole:
		w.problem(path, "unknown role %q", f.Role)
	}
	if f.FieldVersion != 0 {
		w.problem(path, "unknown field version %d", f.FieldVersion)
	}
	if f.SoA && role != envelope.RoleCollection {
		w.problem(path, "only a collection can be a struct of arrays")
	}
	if role == noRole {
		return
	}
	if l != nil {
		w.checkKnown(path, f, l)
		if l.kind == cpptype.Cardinality && !in.projected {
			w.problem(path, "a cardinality must be a projected field")
		}
		return
	}

	composite := role == envelope.RoleRecord || role == envelope.RoleCollection
	switch {
	case f.Type == "" && !composite:
		w.problem(path, "only records and collections can be untyped")
	case f.Type == "" && !in.untyped:
		w.problem(path, "untyped fields must be at the top or directly below untyped fields")
	case role == envelope.RoleVariant || strings.HasPrefix(f.Type, "std::variant<"):
		w.problem(path, "a variant must be a std::variant of 1 to %d alternatives, not %q", maxAlternatives, f.Type)
	case strings.HasPrefix(f.Type, "std::"):
		w.problem(path, "the type %q of the standard library is not one that RNTuple knows%s", f.Type, suggestion(f.Type))
	case f.ArraySize != nil:
		w.problem(path, "the type %q has no array size", f.Type)
	case role == envelope.RolePlain && len(f.Fields) == 0:
		w.problem(path, "the type %q is not known as a leaf%s", f.Type, suggestion(f.Type))
	case role == envelope.RolePlain && w.numbered(path, f, 1): // an enum
		t, _ := cpptype.Parse(f.Fields[0].Type)
		if k := t.Kind(); !k.IsInteger() && k != cpptype.Char && k != cpptype.Bool {
			w.problem(path, "an enum cannot be of the type %q%s", f.Fields[0].Type, suggestion(f.Fields[0].Type))
		}
	case role == envelope.RoleCollection:
		w.numbered(path, f, 1)
	case role == envelope.RoleStreamer:
		w.numbered(path, f, 0)
	}
}

// suggestion returns what a message about the unknown type t ends with: the C++
// type that was probably meant, if there is one.
func suggestion(t string) string {
	if c := cpptype.Suggest(t); c != "" {
		return fmt.Sprintf("; did you mean %q?", c)
	}
	return ""
}

// checkKnown compares f with the layout of its type.
func (w *describer) checkKnown(path string, f *FieldDocument, l *layout) {
	if roleOf(f.Role) != l.role {
		w.problem(path, "has the role %q, but a %s the role %q", f.Role, f.Type, roleName(l.role))
		return
	}
	if n := f.ArraySize; n != nil && (l.size == nil && (*n > 0 || l.kind != cpptype.Array && l.kind != cpptype.Bitset) ||
		l.size != nil && *n != *l.size) {
		w.problem(path, "the array size %d is not that of a %s", *n, f.Type)
	}
	if !w.numbered(path, f, len(l.items)) {
		return
	}
	for i, item := range l.items {
		t, _ := cpptype.Parse(f.Fields[i].Type)
		if got, want := resolved(t).String(), resolved(item).String(); got != want {
			w.problem(path, "subfield _%d has the type %q, expected %q", i, got, want)
		}
	}
}

// numbered checks that f has n subfields, which are named _0, _1, ...
func (w *describer) numbered(path string, f *FieldDocument, n int) bool {
	if len(f.Fields) != n {
		w.problem(path, "has %s, expected %d%s", plural(len(f.Fields), "subfield"), n, suggestion(f.Type))
		return false
	}
	for i, sub := range f.Fields {
		if sub == nil {
			return false
		}
		if want := fmt.Sprintf("_%d", i); sub.Name != want {
			w.problem(path, "subfield %q must have the name %q", sub.Name, want)
		}
	}
	return true
}

const noRole envelope.Role = math.MaxUint16

func roleOf(name string) envelope.Role {
	if i := slices.Index(roleNames[:], name); i >= 0 {
		return envelope.Role(i)
	}
	return noRole
}

// The column types that fields may be written with. The first is the default for
// compressed data, the second, if any, for uncompressed data.
//
// Specification: "Fundamental Types", the entries W; ROOT does not implement SplitReal16.
var (
	indexTypes  = []column.Type{column.SplitIndex64, column.Index64, column.SplitIndex32, column.Index32}
	scalarTypes = map[cpptype.Kind][]column.Type{
		cpptype.Bool:    {column.Bit},
		cpptype.Char:    {column.Char},
		cpptype.Byte:    {column.Byte},
		cpptype.Int8:    {column.Int8},
		cpptype.UInt8:   {column.UInt8},
		cpptype.Int16:   {column.SplitInt16, column.Int16},
		cpptype.UInt16:  {column.SplitUInt16, column.UInt16},
		cpptype.Int32:   {column.SplitInt32, column.Int32},
		cpptype.UInt32:  {column.SplitUInt32, column.UInt32},
		cpptype.Int64:   {column.SplitInt64, column.Int64},
		cpptype.UInt64:  {column.SplitUInt64, column.UInt64},
		cpptype.Float32: {column.SplitReal32, column.Real32, column.Real16, column.Real32Trunc, column.Real32Quant},
		cpptype.Float64: {column.SplitReal64, column.Real64, column.SplitReal32, column.Real32, column.Real16,
			column.Real32Trunc, column.Real32Quant},
		cpptype.Bitset: {column.Bit},
	}
)

// columnTypes returns the types that each column of a field may have.
func columnTypes(role envelope.Role, l *layout) [][]column.Type {
	switch role {
	case envelope.RoleCollection:
		return [][]column.Type{indexTypes}
	case envelope.RoleVariant:
		return [][]column.Type{{column.Switch}}
	case envelope.RoleStreamer:
		return [][]column.Type{indexTypes, {column.Byte}}
	}
	switch {
	case l == nil || role != envelope.RolePlain:
	case l.kind == cpptype.String:
		return [][]column.Type{indexTypes, {column.Char}}
	case scalarTypes[l.kind] != nil:
		return [][]column.Type{scalarTypes[l.kind]}
	}
	return nil
}

// columns describes the columns of f, or the default columns if it lists none.
func (w *describer) columns(path string, f *FieldDocument, l *layout, id uint32) {
	legal := columnTypes(roleOf(f.Role), l)
	representations := f.Columns
	if len(representations) == 0 && len(legal) > 0 {
		defaults := make([]ColumnDocument, len(legal))
		for i, types := range legal {
			t := types[0]
			switch {
			case f.Alias == "Double32_t":
				t = column.SplitReal32 // for uncompressed data, too
			case !w.compressed && len(types) > 1:
				t = types[1]
			}
			defaults[i].Type = t.String()
		}
		representations = append(representations, defaults)
	}
	described := uint16(0)
	for r, columns := range representations {
		if len(columns) != len(legal) {
			w.problem(path, "representation %d has %s, expected %d", r, plural(len(columns), "column"), len(legal))
			continue
		}
		for i, c := range columns {
			out, problem := c.describe(legal[i], l != nil && l.kind == cpptype.Float32)
			if problem != "" {
				w.problem(path, "%s", problem)
			}
			out.Field, out.Representation = id, described
			w.out.Columns = append(w.out.Columns, out)
		}
		described++
	}
}

// describe returns the column, without its field, and what is wrong with it. The
// range of the column of a float is rounded to floats, as in ROOT.
func (d ColumnDocument) describe(legal []column.Type, isFloat bool) (c envelope.Column, problem string) {
	for c.Type = 0; c.Type.Known() && c.Type.String() != d.Type; c.Type++ {
	}
	if !c.Type.Known() {
		return c, fmt.Sprintf("unknown column type %q", d.Type)
	}
	if !slices.Contains(legal, c.Type) {
		return c, fmt.Sprintf("column type %s where only %s can be", d.Type, strings.Trim(fmt.Sprint(legal), "[]"))
	}
	lo, hi := c.Type.BitRange()
	c.Bits = d.Bits
	if c.Bits == 0 && lo == hi {
		c.Bits = lo
	}
	if c.Bits < lo || c.Bits > hi {
		return c, fmt.Sprintf("column type %s of %d bits, expected %d to %d", d.Type, d.Bits, lo, hi)
	}
	switch {
	case c.Type != column.Real32Quant && d.Range != nil:
		return c, fmt.Sprintf("column type %s has no range", d.Type)
	case c.Type != column.Real32Quant:
		return c, ""
	case d.Range == nil:
		return c, fmt.Sprintf("column type %s needs a range", d.Type)
	}
	c.Flags, c.Min, c.Max = envelope.ColumnRanged, d.Range[0], d.Range[1]
	smallest := 0x1p-1022
	if isFloat {
		c.Min, c.Max, smallest = float64(float32(c.Min)), float64(float32(c.Max)), 0x1p-126
	}
	normal := func(v float64) bool { return v == 0 || math.Abs(v) >= smallest }
	if !normal(c.Min) || !normal(c.Max) || (column.Format{Type: c.Type, Bits: c.Bits, Min: c.Min,
		Max: c.Max}).Check() != nil {
		return c, fmt.Sprintf("column type %s with the range [%g, %g]", d.Type, d.Range[0], d.Range[1])
	}
	return c, ""
}
