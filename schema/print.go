package schema

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/envelope"
)

// Print writes the schema for people to read: what the RNTuple is, then a table of
// its fields as a tree, or of the given fields and those below them. A line of the
// table has
//
//   - the name of the field
//   - its C++ type
//   - its shape, or its role if it is hidden
//   - the types of its columns: those of one representation joined by +,
//     representations by |
//   - remarks: why it is hidden, which field it is a view of, what else its
//     flags say; and the description in quotes
//
// Characters that do not print are escaped as in Go strings.
func (s *Schema) Print(w io.Writer, fields ...*Field) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "RNTuple %q: %s", s.Name, plural(len(s.Fields)+len(s.Hidden), "top-level field"))
	if n := len(s.Hidden); n > 0 {
		fmt.Fprintf(b, " (%d hidden)", n)
	}
	fmt.Fprintf(b, ", %s in all, %s\n", plural(len(s.all), "field"), plural(len(s.Columns), "column"))
	if s.Description != "" {
		fmt.Fprintf(b, "description: %s\n", Printable(s.Description))
	}
	if s.Writer != "" {
		fmt.Fprintf(b, "written by:  %s\n", Printable(s.Writer))
	}
	var t table
	if len(fields) == 0 {
		fields = s.TopLevel()
	}
	for _, f := range fields {
		t.add(f, "", "", f.err)
	}
	if len(t) > 0 {
		b.WriteByte('\n')
	}
	t.print(b)
	return b.Flush()
}

// String returns what Print writes.
func (s *Schema) String() string {
	var b strings.Builder
	s.Print(&b) // a Builder returns no error
	return b.String()
}

// table holds the lines of a printed tree: name, type, shape, columns, remarks.
type table [][5]string

// widest holds the greatest width that cells give each column of the table; wider
// cells push the rest of their line to the right.
var widest = [5]int{52, 52, 12, 28, 0}

// add appends the line of f and those of the fields below it. The name follows
// prefix, the names of the children follow indent.
func (t *table) add(f *Field, prefix, indent string, hidden error) {
	typ, shape := cmp.Or(f.TypeName, "untyped"), roleName(f.Role)
	if f.Shape != 0 && hidden == nil {
		shape = f.Shape.String()
	}
	*t = append(*t, [5]string{prefix + Printable(f.Name), Printable(typ), shape, f.encodings(), f.remarks(hidden)})
	for i, child := range f.Children {
		if i < len(f.Children)-1 {
			t.add(child, indent+"├─ ", indent+"│  ", nil)
		} else {
			t.add(child, indent+"└─ ", indent+"   ", nil)
		}
	}
}

func (t table) print(w *bufio.Writer) {
	var width [5]int
	for _, line := range t {
		for i, cell := range line {
			if n := utf8.RuneCountInString(cell); n <= widest[i] {
				width[i] = max(width[i], n)
			}
		}
	}
	for _, line := range t {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(cell))+2))
		}
		w.WriteString(strings.TrimRight(b.String(), " "))
		w.WriteByte('\n')
	}
}

// encodings returns the formats of the field's own columns.
func (f *Field) encodings() string {
	if f.Source != nil {
		return ""
	}
	var representations []string
	for _, representation := range f.Columns {
		var formats []string
		for _, c := range representation {
			formats = append(formats, c.Format().String())
		}
		representations = append(representations, strings.Join(formats, " + "))
	}
	return strings.Join(representations, " | ")
}

func (f *Field) remarks(hidden error) string {
	var list []string
	addIf := func(holds bool, format string, args ...any) {
		if holds {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	if hidden != nil {
		list = append(list, "HIDDEN: "+Printable(hidden.Error()))
	}
	if f.Source != nil {
		list = append(list, "view on "+Printable(f.Source.Path()))
	}
	version := int32(f.TypeVersion) // ROOT gives classes without a version -1
	addIf(f.TypeAlias != "", "alias %s", Printable(f.TypeAlias))
	addIf(f.Flags&envelope.FieldRepetitive != 0, "size %d", f.ArraySize)
	addIf(f.Flags&envelope.FieldSoA != 0, "struct of arrays")
	addIf(version > 0, "class version %d", version)
	addIf(f.Extended, "added later")
	if f.Source == nil {
		for _, c := range slices.Concat(f.Columns...) {
			addIf(c.Flags&envelope.ColumnDeferred != 0, "%s from element %d", c.Type, max(c.FirstElement, -c.FirstElement))
		}
	}
	remarks := strings.Join(list, ", ")
	if f.Description != "" {
		remarks = strings.TrimPrefix(remarks+"  ", "  ") + strconv.Quote(f.Description)
	}
	return remarks
}

// Printable returns s with everything that does not print, or is not valid UTF-8,
// escaped as in Go strings. Names in files may contain anything, and terminals obey
// control characters.
func Printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(s[i : i+n])
		} else {
			q := strconv.Quote(s[i : i+n])
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	return b.String()
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
