package workunits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Format is the version of the JSON document.
const Format = 1

// A Plan is a data set and its units. It must not be changed.
type Plan struct {
	Format int       `json:"format"`
	Time   time.Time `json:"time"`             // when the plan was made
	Name   string    `json:"ntuple,omitempty"` // of the RNTuples, as for rntuple.Open
	Fields []string  `json:"fields,omitempty"` // patterns of the fields whose columns cost; none: all
	Files  []File    `json:"files"`
	Units  []Unit    `json:"units"`
}

// A File is a file of the data set, as it was when the plan was made.
type File struct {
	Path    string `json:"path"` // or URL
	Entries int64  `json:"entries"`
	Size    int64  `json:"size"`              // in bytes
	Version string `json:"version,omitempty"` // time of the last change, or what a server says in its place
	Content string `json:"content"`           // checksum of header and footer
}

// A Unit is a part of the data set that is worked on as one.
type Unit struct {
	Name    string `json:"name"` // digits, as many in each unit of a plan, whose order is that of the units
	Parts   []Part `json:"parts"`
	Entries int64  `json:"entries"` // in all parts
	Cost    int64  `json:"cost"`    // bytes that are stored of the wanted columns
}

// A Part is a range of entries of a file: those from First to End, End excluded.
type Part struct {
	File  int   `json:"file"` // number in Plan.Files
	First int64 `json:"first"`
	End   int64 `json:"end"`
}

// Len returns the number of entries.
func (p Part) Len() int64 { return p.End - p.First }

// Entries returns the number of entries of all units.
func (p *Plan) Entries() (n int64) {
	for _, f := range p.Files {
		n += f.Entries
	}
	return n
}

// Clock returns when the plan was made, for rntuple.FileOptions.Clock: what jobs write has the
// same dates each time.
func (p *Plan) Clock() time.Time { return p.Time }

// ID returns a name for the plan, which no other one has.
func (p *Plan) ID() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return sum(b)
}

// sum returns a checksum as text.
func sum(b []byte) string { return fmt.Sprintf("%016x", checksum.Sum(b)) }

// Write writes a plan as JSON, with a line for each file and each unit.
func (p *Plan) Write(w io.Writer) error {
	lines := func(n int, line func(i int) any) ([]byte, error) {
		all := []byte("[")
		for i := range n {
			b, err := json.Marshal(line(i))
			if err != nil {
				return nil, err
			}
			if i > 0 {
				all = append(all, ',')
			}
			all = append(append(all, "\n  "...), b...)
		}
		return append(all, "\n]"...), nil
	}
	files, err1 := lines(len(p.Files), func(i int) any { return p.Files[i] })
	units, err2 := lines(len(p.Units), func(i int) any { return p.Units[i] })
	head := *p
	head.Files, head.Units = nil, nil
	rest, err3 := json.Marshal(head)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	text := string(bytes.TrimSuffix(rest, []byte(`"files":null,"units":null}`)))
	_, err := fmt.Fprintf(w, "%s\n \"files\": %s,\n \"units\": %s}\n", text, files, units)
	return err
}

// Read reads a plan that Write has written, and makes sure that its units have each entry once, in
// order.
func Read(r io.Reader) (*Plan, error) {
	p := new(Plan)
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if p.Format != Format {
		return nil, fmt.Errorf("a plan of format %d, want %d", p.Format, Format)
	}
	return p, p.check()
}

// check returns an error unless the units have each entry once, in order.
func (p *Plan) check() error {
	file, next := 0, int64(0)
	names := map[string]bool{}
	for _, u := range p.Units {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("plan: unit %q: %s", u.Name, fmt.Sprintf(format, args...))
		}
		if names[u.Name] || !isDigits(u.Name) || len(u.Name) != len(p.Units[0].Name) {
			return wrong("another unit has the name, or it is not of so many digits as the others")
		}
		names[u.Name] = true
		n := int64(0)
		for _, part := range u.Parts {
			for file < len(p.Files) && next == p.Files[file].Entries {
				file, next = file+1, 0
			}
			if file == len(p.Files) || part.File != file || part.First != next || part.End <= part.First ||
				part.End > p.Files[file].Entries {
				return wrong("entries %d to %d of file %d do not follow the others", part.First, part.End, part.File)
			}
			next = part.End
			n += part.Len()
		}
		if n != u.Entries || n == 0 {
			return wrong("%d entries, and not %d", n, u.Entries)
		}
	}
	for file < len(p.Files) && next == p.Files[file].Entries {
		file, next = file+1, 0
	}
	if file < len(p.Files) {
		return fmt.Errorf("plan: no unit has the entries of file %d from %d on", file, next)
	}
	return nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Open returns the entries of a unit, given by its number from 0, as a Source. The caller must
// close it. Files are opened as their entries are reached; the error of one that has changed wraps
// ErrChanged.
func (p *Plan) Open(unit int, opts *rntuple.ReadOptions) (*rntuple.Chain, error) {
	if unit < 0 || unit >= len(p.Units) {
		return nil, fmt.Errorf("unit %d of a plan of %d", unit, len(p.Units))
	}
	var inputs []rntuple.Input
	for _, part := range p.Units[unit].Parts {
		f := p.Files[part.File]
		inputs = append(inputs, rntuple.Input{
			Path: f.Path, Name: p.Name, Check: f.Check, Entries: rntuple.EntryRange{First: part.First, End: part.End},
		})
	}
	return rntuple.NewChain(inputs, opts)
}
