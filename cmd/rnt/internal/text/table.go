package text

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Table is printed with its columns aligned.
type Table struct {
	head  []string
	right []bool
	rows  [][]string
}

// NewTable returns a table with the given heads. A column whose head begins
// with > is aligned to the right.
func NewTable(heads ...string) *Table {
	t := &Table{right: make([]bool, len(heads))}
	for i, h := range heads {
		h, right := strings.CutPrefix(h, ">")
		t.head, t.right[i] = append(t.head, h), right
	}
	return t
}

// Row appends a row; cells that are missing at its end are empty.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// DropFirst removes the first column.
func (t *Table) DropFirst() {
	t.head, t.right = t.head[1:], t.right[1:]
	for i, row := range t.rows {
		t.rows[i] = row[1:]
	}
}

// widest limits the width of a column that is aligned to the left; a wider cell
// pushes the rest of its row to the right.
const widest = 52

// Print prints the table.
func (t *Table) Print(w io.Writer) error {
	rows := append([][]string{t.head}, t.rows...)
	width := make([]int, len(t.head))
	for _, row := range rows {
		for i, cell := range row {
			if n := utf8.RuneCountInString(cell); n <= widest || t.right[i] {
				width[i] = max(width[i], n)
			}
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(cell)))
			if t.right[i] {
				cell, pad = pad+cell, ""
			}
			line.WriteString(cell + pad + "  ")
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Count returns n with its digits in groups: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size returns a size of n bytes with three or four digits: "999 B", "1.24 kB".
func Size(n int64) string {
	if n < 1000 && n > -1000 {
		return fmt.Sprintf("%d B", n)
	}
	v := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		v /= 1000
		switch {
		case v < 9.995:
			return fmt.Sprintf("%.2f %s", v, unit)
		case v < 99.95:
			return fmt.Sprintf("%.1f %s", v, unit)
		case v < 999.5:
			return fmt.Sprintf("%.0f %s", v, unit)
		}
	}
	return fmt.Sprintf("%.0f EB", v)
}

// JSON prints v as JSON for people and programs.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // < and > are in most type names
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Plural returns a number with a noun whose plural ends in s.
func Plural(n int, what string) string { return PluralOf(int64(n), what, what+"s") }

// PluralOf returns a number with the singular or the plural of a noun.
func PluralOf(n int64, one, several string) string {
	if n == 1 {
		several = one
	}
	return Count(n) + " " + several
}
