package engine

import (
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// Limits of rows: how many there are in an answer, and the bytes of text after which it ends.
const (
	maxRows    = 4096
	maxRowText = 4 << 20
)

// maxViews is how many sets of fields keep the pages that they have decoded.
const maxViews = 4

// A rowView reads some fields of an RNTuple. It is used by the request that has taken it.
type rowView struct {
	key  string
	view *rntuple.View[value.Record]
}

// Rows is the answer to rows.
type Rows struct {
	First Int      `json:"first"`
	Lines []string `json:"lines"` // entries as rnt cat prints them
}

// rows returns entries of {ntuple, first, count, fields}; without fields, all of them. There are
// fewer than asked for at the end, and where they are very long.
func (f *file) rows(c *call) (Answer, error) {
	var p struct {
		NTuple       string
		First, Count int64
		Fields       []string
	}
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	r, err := f.reader(p.NTuple)
	switch {
	case err != nil:
		return Answer{}, err
	case p.First < 0 || p.Count < 0:
		return Answer{}, invalid("first and count must not be negative")
	}
	rows := Rows{First: Int(p.First), Lines: []string{}}
	left := min(p.Count, r.NumEntries()-p.First, maxRows)
	if left <= 0 {
		return Answer{JSON: rows}, nil
	}
	v, err := f.take(r, p.NTuple, p.Fields)
	if err != nil {
		return Answer{}, err
	}
	// Entries can be large: a few are read first.
	var text []byte
	size, batch := 0, int64(8)
	for at := p.First; left > 0 && size < maxRowText; {
		if err := c.ctx.Err(); err != nil {
			return Answer{}, err
		}
		entries := make([]value.Record, min(batch, left))
		n, err := v.view.Read(entries, at)
		if err != nil {
			return Answer{}, err
		}
		for _, e := range entries[:n] {
			text = value.AppendJSON(text[:0], e)
			rows.Lines = append(rows.Lines, string(text))
			if size += len(text); size > maxRowText {
				break
			}
		}
		at, left = at+int64(n), left-int64(n)
		if size < maxRowText/8 {
			batch *= 4
		}
	}
	f.give(v)
	return Answer{JSON: rows}, nil
}

// take returns a view that nobody else uses.
func (f *file) take(r *rntuple.Reader, name string, fields []string) (*rowView, error) {
	key := strings.Join(append([]string{name}, fields...), "\x00")
	f.mu.Lock()
	i := slices.IndexFunc(f.views, func(v *rowView) bool { return v.key == key })
	if i >= 0 {
		v := f.views[i]
		f.views = slices.Delete(f.views, i, i+1)
		f.mu.Unlock()
		return v, nil
	}
	f.mu.Unlock()
	view, err := rntuple.RecordsOf(r, fields...)
	return &rowView{key, view}, err
}

// give keeps a view for others who read the same fields.
func (f *file) give(v *rowView) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views = slices.Insert(f.views, 0, v)
	f.views = f.views[:min(len(f.views), maxViews)]
}
