package pagetest

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Of returns the description of a column of a type that has only one width.
func Of(t column.Type) envelope.Column {
	_, bits := t.BitRange()
	return envelope.Column{Type: t, Bits: bits}
}

// Columns returns columns by ID, each of a field of its own: x0, x1 and so on.
func Columns(descriptions ...envelope.Column) []*schema.Column {
	var all []*schema.Column
	for i, d := range descriptions {
		f := &schema.Field{ID: schema.FieldID(i), Field: envelope.Field{Name: fmt.Sprint("x", i)}, Shape: schema.Scalar}
		c := &schema.Column{ID: schema.ColumnID(i), Owner: f, Column: d}
		f.Columns = [][]*schema.Column{{c}}
		all = append(all, c)
	}
	return all
}
