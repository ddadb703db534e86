package dump

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A Record is a run of bytes that belong together. Its lines cover it without gaps
// and overlaps.
type Record struct {
	Title      string `json:"record"`
	Offset     int64  `json:"offset"`            // bytes from the start of the file
	Stored     int64  `json:"stored_bytes"`      // in the file
	Compressed bool   `json:"compressed"`        // the lines describe the uncompressed bytes
	Chunked    bool   `json:"chunked,omitempty"` // the stored bytes are split over several keys
	Lines      []Line `json:"lines"`
	// Elements are the elements of a page.
	Elements []string `json:"elements,omitempty"`
	// Error says what is wrong with the record. The lines end where the error was
	// found, or describe the rest as not read.
	Error string `json:"error,omitempty"`
}

// A Line is a member of a record.
type Line struct {
	At    int64  `json:"at"` // bytes from the start of the record, uncompressed
	Bytes Bytes  `json:"bytes"`
	Path  string `json:"path"` // of the member; empty if the meaning of the bytes is unknown
	Value string `json:"value,omitempty"`
	// Meaning says what the value stands for. For bytes without a path, it says why
	// they have none.
	Meaning string `json:"meaning,omitempty"`
}

// Bytes are written as hexadecimal digits in JSON.
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

// described returns the record of the bytes b, which walk reads. meaning says what
// values stand for; it may be nil.
func described(title string, b []byte, bigEndian bool, meaning meanings, walk func(*frame.Codec)) *Record {
	const root = "record"
	var members []frame.Member
	c := frame.NewReader(b, root, 0)
	c.Trace(&members)
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
	if fault, ok := errors.AsType[*frame.FormatError](c.Err()); ok {
		fault.Path = strings.TrimPrefix(strings.TrimPrefix(fault.Path, root), ".")
		r.Error = fault.Error()
		bare(len(b), unread)
	}
	bare(len(b), unknown)
	return r
}

// joined reports whether b is the next byte of the text a, which is read byte by
// byte.
func joined(a, b frame.Member) bool {
	_, text := b.Value.(uint8)
	return text && a.Path == b.Path && b.Pos == a.Pos+len(a.Bytes) && !a.Length
}

// isLength reports whether a is the length of the string b, in the form of ROOT
// files.
func isLength(a, b frame.Member) bool {
	_, number := a.Value.(uint8)
	_, text := b.Value.([]byte)
	return number && text && a.Path == b.Path
}

// isEmpty reports whether a is the length of an empty string, in the form of ROOT
// files.
func isEmpty(a frame.Member) bool {
	n, number := a.Value.(uint8)
	return number && n == 0 && strings.Contains(" class name title option ",
		" "+a.Path[strings.LastIndexByte(a.Path, '.')+1:]+" ")
}

// positions holds the names of members that are offsets in the file.
var positions = map[string]bool{
	"seek key": true, "seek pdir": true, "seek dir": true, "seek parent": true, "seek keys": true,
	"seek free": true, "seek info": true,
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
