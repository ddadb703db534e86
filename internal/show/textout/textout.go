package textout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Options say what to write, and how.
type Options struct {
	Fields   []string // paths
	CSV      bool     // otherwise JSON Lines
	Null     string   // stands for a missing value in CSV
	Progress func(entries int64)
	// Entries are those to write, by their numbers in the source, as far as they are there.
	Entries rntuple.EntryRange
}

// Write writes entries of a source, and returns their number.
func Write(ctx context.Context, w io.Writer, s rntuple.Source, o Options) (n int64, err error) {
	view, err := rntuple.RecordsOf(s, o.Fields...)
	if err != nil {
		return 0, err
	}
	write := func(entry value.Record) error {
		_, err := w.Write(append(value.AppendJSON(nil, entry), '\n'))
		return err
	}
	if o.CSV {
		c, err := newCellWriter(w, s, o)
		if err != nil {
			return 0, err
		}
		defer func() { err = cmp.Or(err, c.flush()) }()
		write = c.row
	}
	for i, entry := range view.Range(o.Entries) {
		if err := write(entry); err != nil {
			return n, fmt.Errorf("entry %d: %w", i, err)
		}
		n++
		if n%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return n, err
			}
			o.Progress(n)
		}
	}
	return n, view.Err()
}

// A cellWriter writes entries as the rows of a CSV file.
type cellWriter struct {
	w     io.Writer
	csv   *csv.Writer
	null  string
	lacks []lack
	cells []string
}

// lack says whether values of a field may be missing, and whether these are strings.
type lack struct{ any, text bool }

// newCellWriter writes the row with the names of the columns.
func newCellWriter(w io.Writer, s rntuple.Source, o Options) (*cellWriter, error) {
	c := &cellWriter{w: w, csv: csv.NewWriter(w), null: o.Null}
	for _, path := range o.Fields {
		f, err := rntuple.FieldOf(s, path)
		if err != nil {
			return nil, err
		}
		var l lack
		if f.Shape == schema.Optional || f.Shape == schema.Variant {
			l.any, l.text = true, f.Children[0].Shape == schema.String
		}
		c.lacks = append(c.lacks, l)
		c.cells = append(c.cells, path)
	}
	return c, c.write()
}

func (c *cellWriter) flush() error {
	c.csv.Flush()
	return c.csv.Error()
}

// write writes the cells.
func (c *cellWriter) write() error {
	if len(c.cells) == 1 && c.cells[0] == "" { // would be an empty line, which readers leave out
		if err := c.flush(); err != nil {
			return err
		}
		_, err := io.WriteString(c.w, "\"\"\n")
		return err
	}
	return c.csv.Write(c.cells)
}

func (c *cellWriter) row(entry value.Record) (err error) {
	for i, v := range entry.Values {
		if c.cells[i], err = c.cell(v, c.lacks[i]); err != nil {
			return fmt.Errorf("field %q: %w", entry.Names[i], err)
		}
	}
	return c.write()
}

// cell returns the text of a value: a string as it is, others as JSON.
func (c *cellWriter) cell(v any, missing lack) (string, error) {
	if some, ok := v.(value.Some); ok {
		v = some.Value
	}
	if v == nil {
		if missing.text && c.null == "" {
			return "", errors.New("a missing string would look like an empty one; choose another text for it with --null")
		}
		return c.null, nil
	}
	text, ok := v.(string)
	if !ok {
		b := value.AppendJSON(nil, v)
		if _, variant := v.(value.Alternative); b[0] == '"' && !variant { // NaN, bits or bytes
			b = bytes.Trim(b, `"`)
		}
		text = string(b)
	}
	if missing.any && text == c.null {
		return "", fmt.Errorf("the value %q looks like a missing one; choose another text for these with --null", text)
	}
	return text, nil
}
