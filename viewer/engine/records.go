package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/show/dump"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A RecordInfo is one of the records that the page lists.
type RecordInfo struct {
	Name   string `json:"name"`
	What   string `json:"what"` // what it belongs to: container, or ntuple and its name
	Offset Int    `json:"offset"`
	Length Int    `json:"length"` // stored
	ID     string `json:"id"`
}

// A recordID says which record is meant: one of those that package dump shows for a part.
type recordID struct {
	NTuple string
	Part   string // container, anchor, header, footer, page list, page, at
	Number int    // of the record, or of the page list
	Page   [3]int `json:",omitzero"` // column, cluster, page
	At     int64  `json:",omitzero"` // an offset
}

func (id recordID) String() string {
	b, err := json.Marshal(id)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(b)
}

// last stands for the last record that package dump shows for a part: those before it are of the
// key around it.
const last = -1

// A Record is the answer to record.
type Record struct {
	Name       string `json:"name"`
	Offset     Int    `json:"offset"`
	Length     Int    `json:"length"` // stored
	Compressed bool   `json:"compressed"`
	// Meanings cover the bytes, but for those at the end if Truncated is set.
	Meanings  []Meaning `json:"meanings"`
	Truncated bool      `json:"truncated,omitempty"`
	Elements  []string  `json:"elements,omitempty"` // of a page
	Error     string    `json:"error,omitempty"`    // what is wrong with the record
}

// A Meaning says what some bytes of a record are.
type Meaning struct {
	Offset int    `json:"offset"` // in the uncompressed record
	Length int    `json:"length"`
	Depth  int    `json:"depth"` // how many members it is in
	Name   string `json:"name"`  // the path of the member, empty if it is not known
	Value  string `json:"value"` // with what it means
}

// Limits of what is shown of a record: meanings, bytes and elements.
const (
	maxMeanings = 50_000
	maxShown    = 4 << 20
	maxElements = 10_000
	maxRecords  = 20_000
)

// records lists the records of the file: {records: [RecordInfo]}, with what cannot be read as
// warnings: [text].
func (f *file) records(c *call) (Answer, error) {
	list, warnings := []RecordInfo{}, []string{}
	number := 0
	err := dump.File(c.ctx, f.r, f.r.Len(), dump.Options{Container: true}, func(r *dump.Record) error {
		list = append(list, RecordInfo{r.Title, "container", Int(r.Offset), Int(r.Stored),
			recordID{Part: "container", Number: number}.String()})
		if number++; number == maxRecords {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		if c.ctx.Err() != nil {
			return Answer{}, err
		}
		warnings = append(warnings, err.Error())
	}
	for _, i := range f.infos {
		what := "ntuple " + i.Path
		err := dump.File(c.ctx, f.r, f.r.Len(), dump.Options{NTuple: i.Path, Anchor: true}, func(r *dump.Record) error {
			id := recordID{NTuple: i.Path, Part: "anchor"}
			for _, l := range list {
				if l.What == what {
					id.Number++
				}
			}
			list = append(list, RecordInfo{r.Title, what, Int(r.Offset), Int(r.Stored), id.String()})
			return nil
		})
		if err != nil {
			if c.ctx.Err() != nil {
				return Answer{}, err
			}
			warnings = append(warnings, err.Error())
		}
		r, err := f.reader(i.Path)
		if err != nil {
			warnings = append(warnings, err.Error())
			continue
		}
		a := r.Anchor()
		add := func(name string, l locator.Locator, length uint64, id recordID) {
			if l.InFile() == nil && len(list) < maxRecords {
				id.NTuple = i.Path
				list = append(list, RecordInfo{name, what, Int(l.Offset), Int(length), id.String()})
			}
		}
		add("header", a.Header().Locator, a.NBytesHeader, recordID{Part: "header", Number: last})
		add("footer", a.Footer().Locator, a.NBytesFooter, recordID{Part: "footer", Number: last})
		for k, g := range r.Footer().ClusterGroups {
			add(fmt.Sprintf("page list %d", k), g.PageList.Locator, g.PageList.Locator.Size,
				recordID{Part: "page list", Number: k})
		}
	}
	return Answer{JSON: map[string]any{"records": list, "warnings": warnings}}, nil
}

// record describes the record with the {id}, or the one that holds the byte {at}: a Record, bytes,
// uncompressed, and compressedBytes as they are stored if they are.
func (f *file) record(c *call) (Answer, error) {
	var p struct {
		ID string
		At *int64
	}
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	var id recordID
	if p.At != nil {
		id = recordID{Part: "at", At: *p.At, Number: last}
	} else if err := json.Unmarshal([]byte(p.ID), &id); err != nil {
		return Answer{}, invalid("%q is not the ID of a record", p.ID)
	}
	o := dump.Options{NTuple: id.NTuple}
	wanted := id.Number
	switch id.Part {
	case "container":
		o.Container, o.NTuple = true, ""
	case "anchor":
		o.Anchor = true
	case "header":
		o.Header = true
	case "footer":
		o.Footer = true
	case "page list":
		o.PageList, wanted = []int{id.Number}, last
	case "page":
		o.Page, wanted = &dump.Page{Column: id.Page[0], Cluster: id.Page[1], Page: id.Page[2]}, last
	case "at":
		o.At = &id.At
	default:
		return Answer{}, invalid("%q is not the ID of a record", p.ID)
	}
	var found *dump.Record
	number := 0
	err := dump.File(c.ctx, f.r, f.r.Len(), o, func(r *dump.Record) error {
		holds := r.Offset <= id.At && id.At < r.Offset+r.Stored
		if number == wanted || wanted == last && (o.At == nil || holds || found == nil) {
			found = r
		}
		number++
		if number > wanted && wanted != last {
			return errEnough
		}
		return nil
	})
	switch {
	case found != nil && c.ctx.Err() == nil:
	case err == nil || errors.Is(err, errEnough):
		return Answer{}, invalid("there is no such record")
	default:
		return Answer{}, err
	}
	return f.shown(found), nil
}

// shown returns what is shown of a record.
func (f *file) shown(r *dump.Record) Answer {
	a := &Record{Name: r.Title, Offset: Int(r.Offset), Length: Int(r.Stored), Compressed: r.Compressed,
		Meanings: []Meaning{}, Error: r.Error}
	a.Elements = r.Elements[:min(len(r.Elements), maxElements)]
	var plain []byte
	for _, l := range r.Lines {
		if len(a.Meanings) == maxMeanings || len(plain)+len(l.Bytes) > maxShown {
			a.Truncated = true
			break
		}
		value := l.Value
		if l.Meaning != "" {
			value = strings.TrimSpace(value + " " + l.Meaning)
		}
		a.Meanings = append(a.Meanings, Meaning{len(plain), len(l.Bytes), strings.Count(l.Path, "."), l.Path, value})
		plain = append(plain, l.Bytes...)
	}
	bytes := Bytes{"bytes": plain}
	if r.Compressed && !r.Chunked {
		stored := make([]byte, min(r.Stored, maxShown))
		if n, err := f.r.ReadAt(stored, r.Offset); err == nil || n == len(stored) {
			bytes["compressedBytes"] = slices.Clip(stored)
		}
	}
	return Answer{a, bytes}
}
