package engine

import (
	"path"
	"sort"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/show/textout"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// formats are those of downloads, with their types. With Parquet, by package rntarrow, the
// compressed engine would have 9.0 MB instead of 2.9.
var formats = map[string]string{"csv": "text/csv", "jsonl": "application/jsonl"}

// Downloaded is the answer to download, after the bytes.
type Downloaded struct {
	Name string `json:"name"` // for the file
	MIME string `json:"mime"`
	Rows Int    `json:"rows"`
}

// chunkSize is about the number of bytes that are sent at a time.
const chunkSize = 1 << 18

// download writes entries of {ntuple, format, fields, where, null, first, count} as a file, which
// progress gets in pieces, as chunk: those of count entries from first on, or of all from there,
// for which the condition holds. Fields are paths; null stands for missing values in CSV.
func (f *file) download(c *call) (Answer, error) {
	var p struct {
		NTuple, Format, Where string
		Null                  string
		Fields                []string
		First                 int64
		Count                 *int64
	}
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	mime := formats[p.Format]
	switch {
	case mime == "":
		return Answer{}, invalid("there is no format %q", p.Format)
	case p.First < 0 || p.Count != nil && *p.Count < 0:
		return Answer{}, invalid("first and count must not be negative")
	}
	r, err := f.reader(p.NTuple)
	if err != nil {
		return Answer{}, err
	}
	r = r.WithContext(c.ctx)
	if len(p.Fields) == 0 {
		for _, field := range r.Schema().Fields {
			p.Fields = append(p.Fields, field.Name)
		}
	}
	entries := rntuple.EntryRange{First: min(p.First, r.NumEntries()), End: r.NumEntries()}
	if p.Count != nil && *p.Count < entries.Len() {
		entries.End = entries.First + *p.Count
	}
	var source rntuple.Source = r
	if p.Where != "" {
		e, err := expression.Parse(p.Where)
		if err != nil {
			return Answer{}, invalid("the condition: %w", err)
		}
		s, err := rntuple.Where(r, e.Condition(), nil)
		if err != nil {
			return Answer{}, invalid("the condition: %w", err)
		}
		source = s.WithContext(c.ctx)
		// Those that are chosen, from one entry up to another.
		at := func(entry int64) int64 {
			return int64(sort.Search(int(s.NumEntries()), func(i int) bool { return s.Entry(int64(i)) >= entry }))
		}
		entries = rntuple.EntryRange{First: at(entries.First), End: at(entries.End)}
	}
	w := &chunks{call: c, total: entries.Len()}
	rows, err := textout.Write(c.ctx, w, source, textout.Options{
		Fields: p.Fields, CSV: p.Format == "csv", Null: p.Null, Entries: entries,
		Progress: func(n int64) {
			w.done = n
			if c.giveWay != nil {
				c.giveWay()
			}
		},
	})
	if err != nil {
		return Answer{}, err
	}
	w.done = rows
	w.flush()
	name := path.Base(r.Name())
	if base := strings.TrimSuffix(path.Base(f.name), ".root"); base != "" && base != "." && base != "/" {
		name = base + "_" + name
	}
	return Answer{JSON: Downloaded{name + "." + p.Format, mime, Int(rows)}}, nil
}

// chunks reports what is written to it.
type chunks struct {
	*call
	b           []byte
	done, total int64 // entries
}

func (w *chunks) Write(b []byte) (int, error) {
	if w.b = append(w.b, b...); len(w.b) >= chunkSize {
		w.flush()
	}
	return len(b), nil
}

func (w *chunks) flush() {
	if len(w.b) > 0 && w.progress != nil {
		w.progress(Answer{Progress{Int(w.done), Int(w.total), "entries"}, Bytes{"chunk": w.b}})
	}
	w.b = nil
}
