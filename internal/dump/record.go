// Package dump describes the records of an RNTuple, and of the ROOT file around
// it, byte by byte, for people who have the specification at hand. What the bytes
// are it learns from the walks that read them.
package dump

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// A Record is a run of bytes that belong together. Its lines cover it without gap
// or overlap.
type Record struct {
	Title      string `json:"record"`
	Offset     int64  `json:"offset"`            // bytes from the start of the file
	Stored     int64  `json:"stored_bytes"`      // in the file
	Compressed bool   `json:"compressed"`        // the lines are about the uncompressed bytes
	Chunked    bool   `json:"chunked,omitempty"` // the stored bytes are spread over several keys
	Lines      []Line `json:"lines"`
	// Elements are those of a page.
	Elements []string `json:"elements,omitempty"`
	// Error is what is wrong with the record; the lines end, or begin to be
	// unread, where it was found.
	Error string `json:"error,omitempty"`
}

// A Line is a member of a record.
type Line struct {
	At    int64  `json:"at"` // bytes from the start of the record, uncompressed
	Bytes Bytes  `json:"bytes"`
	Path  string `json:"path"` // of the member; empty if nobody knows what the bytes are
	Value string `json:"value,omitempty"`
	// Meaning is what the value stands for; of bytes without a path, why they have none.
	Meaning string `json:"meaning,omitempty"`
}

// Bytes are hexadecimal digits in JSON.
type Bytes []byte

func (b Bytes) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString(b)) }

func (b *Bytes) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	decoded, err := hex.DecodeString(s)
	*b = decoded
	return err
}

// The meanings of bytes without a path.
const (
	unknown = "unknown"
	unread  = "not read"
)

// described returns a record of the bytes b, which walk reads. meaning says what
// values stand for; nil if nobody does.
func described(title string, b []byte, bigEndian bool, meaning meanings, walk func(*wire.Codec)) *Record {
	const root = "record"
	var members []wire.Member
	c := wire.NewReader(b, root, 0)
	wire.Trace(c, &members)
	if bigEndian {
		c.BigEndian()
	}
	walk(c)
	r := &Record{Title: title, Stored: int64(len(b)), Lines: []Line{}}
	end := 0
	bare := func(to int, why string) {
		if to > end {
			r.Lines = append(r.Lines, Line{At: int64(end), Bytes: b[end:to], Meaning: why})
			end = to
		}
	}
	for i := 0; i < len(members); {
		m := members[i]
		i++
		for i < len(members) && joined(m, members[i]) {
			m.Bytes = b[m.Pos : m.Pos+len(m.Bytes)+1]
			m.Value = m.Bytes
			i++
		}
		bare(m.Pos, unknown)
		line := Line{At: int64(m.Pos), Bytes: m.Bytes, Path: strings.TrimPrefix(m.Path, root+".")}
		switch {
		case m.Value == nil:
			line.Path, line.Meaning = "", unknown
		case m.Length || isEmpty(m) || i < len(members) && isLength(m, members[i]):
			line.Value, line.Meaning = show("", m.Value), "length of the string"
		default:
			name := line.Path[strings.LastIndexByte(line.Path, '.')+1:]
			line.Value = show(name, m.Value)
			line.Meaning = meaning.of(line.Path, m.Value)
		}
		r.Lines = append(r.Lines, line)
		end = m.Pos + len(m.Bytes)
	}
	var fault *wire.FormatError
	if errors.As(c.Err(), &fault) {
		fault.Path = strings.TrimPrefix(strings.TrimPrefix(fault.Path, root), ".")
		r.Error = fault.Error()
		bare(len(b), unread)
	}
	bare(len(b), unknown)
	return r
}

// joined reports whether b is one more byte of what a is: text that is read byte by
// byte.
func joined(a, b wire.Member) bool {
	_, text := b.Value.(uint8)
	return text && a.Path == b.Path && b.Pos == a.Pos+len(a.Bytes) && !a.Length
}

// isLength reports whether a is the length of the string b, in the form that the
// container has.
func isLength(a, b wire.Member) bool {
	_, number := a.Value.(uint8)
	_, text := b.Value.([]byte)
	return number && text && a.Path == b.Path
}

// isEmpty reports whether a is the length of a string of no bytes, in that form.
func isEmpty(a wire.Member) bool {
	n, number := a.Value.(uint8)
	return number && n == 0 && strings.Contains(" class name title option ", " "+a.Path[strings.LastIndexByte(a.Path, '.')+1:]+" ")
}

// positions are the names of members that are places in the file.
var positions = map[string]bool{
	"seek key": true, "seek pdir": true, "seek dir": true, "seek parent": true, "seek keys": true, "seek free": true, "seek info": true,
	"seek header": true, "seek footer": true, "begin": true, "end": true, "offset": true, "first": true, "last": true,
}

// show returns a value as text.
func show(name string, v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []byte:
		if name == "padding" || name == "uuid" || name == "payload" {
			return ""
		}
		return strconv.Quote(string(v))
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if positions[name] || strings.HasSuffix(name, "checksum") || name == "magic" {
		return fmt.Sprintf("%#x", v)
	}
	return fmt.Sprintf("%d", v)
}
