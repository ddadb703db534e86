package foreign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// textTable is the entries of files of JSON Lines or CSV.
type textTable struct {
	o      Options
	paths  []string
	doc    *schema.Document // of all columns that are read
	chosen []string
}

// openText opens the files. Without a schema it reads them once to find out what they hold.
func openText(paths []string, o Options) (Table, error) {
	t := &textTable{o: o, paths: paths, doc: o.Schema}
	if t.doc == nil {
		g := &guess{}
		for _, path := range paths {
			if err := t.guess(g, path); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		if o.Kind == CSV {
			g.emptyIsText()
		}
		t.doc = &schema.Document{Fields: alike(g, o.Like)}
		fields, err := g.fields("")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paths[0], err)
		}
		t.doc.Fields = append(t.doc.Fields, fields...)
	}
	if len(t.doc.Fields) == 0 {
		return nil, fmt.Errorf("%s: no columns", paths[0])
	}
	var all []string
	for _, f := range t.doc.Fields {
		all = append(all, f.Name)
	}
	var err error
	t.chosen, err = o.chosen(all)
	return t, err
}

// alike returns the fields of a document, which may be nil, whose names were seen, as no
// projections, and takes them from what was seen.
func alike(g *guess, like *schema.Document) (fields []*schema.FieldDocument) {
	if like == nil {
		return nil
	}
	known := map[string]bool{}
	for _, f := range like.Fields {
		if g.members[f.Name] != nil && !known[f.Name] {
			known[f.Name] = true
			fields = append(fields, plain(f))
		}
	}
	g.names = slices.DeleteFunc(g.names, func(name string) bool { return known[name] })
	return fields
}

// plain returns a field that is no projection, with the default columns.
func plain(f *schema.FieldDocument) *schema.FieldDocument {
	d := *f
	d.Source, d.Columns, d.Fields = "", nil, nil
	for _, child := range f.Fields {
		d.Fields = append(d.Fields, plain(child))
	}
	if strings.HasPrefix(d.Type, "ROOT::RNTupleCardinality<") {
		d.Type = "std::uint64_t"
	}
	return &d
}

func (t *textTable) Name() string               { return t.doc.Name }
func (t *textTable) Document() *schema.Document { return withFields(t.doc, t.chosen) }
func (t *textTable) Warnings() []error          { return nil }
func (t *textTable) Close() error               { return nil }

// guess adds what a file holds.
func (t *textTable) guess(g *guess, path string) error {
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if t.o.Kind == JSON {
		return g.addLines(skipMark(contextReader{t.o.Context, f}))
	}
	rows, err := newRows(contextReader{t.o.Context, f})
	if err != nil {
		return err
	}
	for _, name := range rows.names {
		g.member(name)
	}
	for {
		cells, line, err := rows.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		g.add(object, line)
		for i, cell := range cells {
			g.member(rows.names[i]).addCell(cell, t.o.Null, line)
		}
	}
}

// addCell adds the text of a cell of a CSV file.
func (g *guess) addCell(cell, null string, line int64) {
	v, err := strconv.ParseFloat(cell, 64)
	digits := strings.TrimPrefix(cell, "-")
	switch {
	case cell == null:
		g.add(missing, line)
	case cell == "true" || cell == "false":
		g.add(boolean, line)
	case err != nil, strings.ContainsAny(cell, "_xX"), len(digits) > 1 && digits[0] == '0' &&
		digits[1] != '.' && digits[1]|0x20 != 'e':
		g.add(text, line) // also numbers such as 007, whose zeros may matter
	case math.IsNaN(v) || math.IsInf(v, 0):
		g.add(special, line)
	case strings.Trim(digits, "0123456789") == "" && cell != "-0":
		g.addInteger(cell, line)
	default:
		g.add(number, line)
	}
}

// emptyIsText makes columns of strings out of those that have strings or nothing at all: there,
// what stands for a missing value is a string, too.
func (g *guess) emptyIsText() {
	for _, m := range g.members {
		if m.seen[text].count > 0 || m.seen[missing].count == m.values {
			m.seen = map[kind]sighting{text: {count: m.values}}
		}
	}
}

// rows reads the rows of a CSV file, the first of which has the names of the columns.
type rows struct {
	in    *csv.Reader
	lines *lineCounter
	names []string

	// Of a file of one column:
	next  int64 // the first line that read has not returned
	ahead bool  // the following are set: the next row that is not blank, its line, and the error of reading it
	cells []string
	line  int64
	err   error
}

func newRows(r io.Reader) (*rows, error) {
	lines := &lineCounter{r: r}
	in := csv.NewReader(skipMark(lines))
	in.ReuseRecord = true
	names, err := in.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("missing header row with column names")
		}
		return nil, err
	}
	names = slices.Clone(names)
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("two columns are named %q", name)
		}
		seen[name] = true
	}
	line, _ := in.FieldPos(0)
	return &rows{in: in, lines: lines, names: names, next: behind(int64(line), names[0])}, nil
}

// behind returns the line behind a row of one cell.
func behind(line int64, cell string) int64 { return line + 1 + int64(strings.Count(cell, "\n")) }

// skipMark skips the byte order mark that some programs begin files with.
func skipMark(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if mark, _ := b.Peek(len(jsonl.Mark)); string(mark) == jsonl.Mark {
		b.Discard(len(mark))
	}
	return b
}

// read returns the next row and the line on which it begins. In a file of one column, a blank line,
// which package csv skips, is a row with an empty cell.
func (r *rows) read() ([]string, int64, error) {
	if len(r.names) > 1 {
		return r.readCells()
	}
	if !r.ahead {
		r.cells, r.line, r.err = r.readCells()
		r.ahead = true
	}
	if r.next < r.line {
		r.next++
		return []string{""}, r.next - 1, nil
	}
	r.ahead = false
	if r.err == nil {
		r.next = behind(r.line, r.cells[0])
	}
	return r.cells, r.line, r.err
}

// readCells returns the next row that is not blank and the line on which it begins. At the end of
// the file, that is the line behind the last one.
func (r *rows) readCells() ([]string, int64, error) {
	cells, err := r.in.Read()
	if errors.Is(err, io.EOF) {
		return nil, r.lines.n + 1, err
	}
	if err != nil {
		return nil, 0, err
	}
	line, _ := r.in.FieldPos(0)
	if r.lines.returns && slices.ContainsFunc(cells, func(s string) bool { return strings.Contains(s, "\n") }) {
		// Package csv makes \n of \r\n, also in quotes.
		return nil, 0, fmt.Errorf(
			"line %d: multi-line cell in a file with carriage returns: its line breaks are ambiguous", line)
	}
	return cells, int64(line), nil
}

// A lineCounter counts the ends of lines in what is read, and finds out whether it has carriage
// returns.
type lineCounter struct {
	r       io.Reader
	n       int64
	returns bool
}

func (c *lineCounter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(bytes.Count(b[:n], []byte{'\n'}))
	c.returns = c.returns || slices.Contains(b[:n], '\r')
	return n, err
}

func (t *textTable) Add(f *rntuple.File, name string, opts *rntuple.WriteOptions) (int64, error) {
	w, err := rntuple.NewRecordWriter(f, name, t.Document(), opts)
	if err != nil {
		return 0, err
	}
	skip := t.o.First
	for _, path := range t.paths {
		if err := t.addFile(w, path, &skip); err != nil {
			w.Abort()
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
	n := w.NumEntries()
	return n, w.Close()
}

// addFile writes the entries of a file, without the first that are skipped.
func (t *textTable) addFile(w *rntuple.Writer[value.Record], path string, skip *int64) error {
	fields, err := t.fields()
	if err != nil {
		return err
	}
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := io.Reader(contextReader{t.o.Context, f})
	if t.o.Kind == CSV {
		rows, err := newRows(lines)
		if err != nil {
			return err
		}
		if lines, err = t.rowsAsJSON(rows, fields); err != nil {
			return err
		}
	}
	entries := jsonl.NewReader(lines, fields)
	at := t.places(fields)
	for w.NumEntries() < t.o.Count {
		entry, err := entries.Read()
		var wrong *jsonl.Error
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case t.o.Kind == CSV && errors.As(err, &wrong):
			return fmt.Errorf("row %d: column %q: %w", wrong.Line, wrong.Path, wrong.Err)
		case err != nil:
			return err
		case *skip > 0:
			*skip--
			continue
		}
		some := value.Record{Names: t.chosen, Values: make([]any, len(t.chosen))}
		for i, k := range at {
			if k >= 0 {
				some.Values[i] = entry.Values[k]
			}
		}
		if err := w.Write(&some); err != nil {
			return err
		}
		t.o.progress(w.NumEntries(), -1)
	}
	return nil
}

// places returns where the chosen columns are in the entries that package jsonl reads, -1 for
// projected fields.
func (t *textTable) places(fields []*schema.Field) []int {
	byName, n := make(map[string]int, len(fields)), 0
	for _, f := range fields {
		byName[f.Name] = -1
		if f.Source == nil {
			byName[f.Name], n = n, n+1
		}
	}
	at := make([]int, len(t.chosen))
	for i, name := range t.chosen {
		at[i] = byName[name]
	}
	return at
}

// fields returns the fields of all columns.
func (t *textTable) fields() ([]*schema.Field, error) {
	s, err := SchemaOf(t.doc, "table")
	if err != nil {
		return nil, err
	}
	return s.Fields, nil
}

// rowsAsJSON returns the rows of a CSV file as JSON Lines. Cells are strings where the field is
// one, and JSON otherwise.
func (t *textTable) rowsAsJSON(r *rows, fields []*schema.Field) (io.Reader, error) {
	byName := make(map[string]*schema.Field, len(fields))
	for _, f := range fields {
		byName[f.Name] = f
	}
	of := make([]*schema.Field, len(r.names))
	for i, name := range r.names {
		if of[i] = byName[name]; of[i] == nil {
			return nil, fmt.Errorf("the schema has no field for column %q", name)
		}
	}
	var line []byte
	return readerOf(func() ([]byte, error) {
		cells, _, err := r.read()
		if err != nil {
			return nil, err
		}
		line = append(line[:0], '{')
		for i, cell := range cells {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(value.AppendJSON(line, r.names[i]), ':')
			line = t.appendCell(line, cell, of[i])
		}
		return append(line, '}', '\n'), nil
	}), nil
}

// appendCell appends a cell as JSON. What is no value of the field becomes a string, too, so that
// the error shows it.
func (t *textTable) appendCell(b []byte, cell string, f *schema.Field) []byte {
	if f.Shape == schema.Optional {
		if cell == t.o.Null {
			return append(b, "null"...)
		}
		f = f.Children[0]
	}
	switch f.Shape {
	case schema.String, schema.Bitset, schema.Streamer:
		return value.AppendJSON(b, cell)
	case schema.Scalar:
		cell = asJSONNumber(cell)
	}
	if !json.Valid([]byte(cell)) {
		return value.AppendJSON(b, cell)
	}
	return append(b, cell...)
}

// asJSONNumber returns the spelling in JSON of a number that strconv.ParseFloat accepts.
func asJSONNumber(cell string) string {
	sign, digits := "", strings.TrimPrefix(cell, "+")
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	switch strings.ToLower(digits) {
	case "nan":
		return "NaN"
	case "inf", "infinity":
		return sign + "Infinity"
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	if whole, rest, ok := strings.Cut(digits, "."); ok && (rest == "" || rest[0] == 'e' || rest[0] == 'E') {
		digits = whole + ".0" + rest
	}
	return sign + digits
}

// readerOf returns a reader of pieces, one after the other.
func readerOf(next func() ([]byte, error)) io.Reader { return &pieces{next: next} }

type pieces struct {
	next func() ([]byte, error)
	left []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		var err error
		if p.left, err = p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

// A contextReader reads until a context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
