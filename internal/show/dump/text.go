package dump

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-rntuple/go-rntuple/schema"
)

// perRow is how many bytes a row shows: few beside a member, more without one.
const (
	perRow  = 8
	perLine = 16
)

// Print prints a record. The first column is the offset in the file, unless the
// record is compressed or split over several keys; the second is the offset in the
// record.
func (r *Record) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  at %#x, %d bytes", schema.Printable(r.Title), r.Offset, r.Stored)
	if n := r.length(); r.Compressed && n > 0 {
		fmt.Fprintf(&b, ", compressed; %d bytes uncompressed", n)
	}
	if r.Chunked {
		b.WriteString(", split over several keys")
	}
	b.WriteByte('\n')
	failed := r.Error == ""
	fail := func() {
		if !failed {
			fmt.Fprintf(&b, "  ERROR: %s\n", schema.Printable(r.Error))
		}
		failed = true
	}
	for _, l := range r.Lines {
		if l.Path == "" && l.Meaning == unread {
			fail()
		}
		r.line(&b, l)
	}
	fail()
	for i := 0; i < len(r.Elements); i += perRow {
		fmt.Fprintf(&b, "  element %-8d %s\n", i, strings.Join(r.Elements[i:min(i+perRow, len(r.Elements))], " "))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// length returns the number of bytes that the lines cover.
func (r *Record) length() (n int64) {
	for _, l := range r.Lines {
		n += int64(len(l.Bytes))
	}
	return n
}

func (r *Record) line(b *strings.Builder, l Line) {
	width, text := perRow, l.Path
	if l.Value == "" && len(l.Bytes) > perRow {
		width = perLine
	}
	if l.Value != "" {
		text += " = " + l.Value
	}
	if l.Path == "" {
		text = fmt.Sprintf("%s, %d bytes", l.Meaning, len(l.Bytes))
	} else if l.Meaning != "" {
		text += "  (" + l.Meaning + ")"
	}
	for i := 0; i < len(l.Bytes); i += width {
		row := l.Bytes[i:min(i+width, len(l.Bytes))]
		at := l.At + int64(i)
		place := fmt.Sprintf("%08x", r.Offset+at)
		if r.Compressed || r.Chunked {
			place = "       ."
		}
		line := fmt.Sprintf("  %s +%04x  %-*s  ", place, at, 3*width-1, fmt.Sprintf("% x", []byte(row)))
		if width == perLine {
			line += fmt.Sprintf("|%-*s|  ", width, ascii(row))
		}
		b.WriteString(strings.TrimRight(line+schema.Printable(text), " ") + "\n")
		text = ""
	}
}

// ascii returns bytes as characters, dots for those that do not print.
func ascii(row []byte) string {
	text := make([]byte, len(row))
	for i, c := range row {
		text[i] = '.'
		if c >= ' ' && c <= '~' {
			text[i] = c
		}
	}
	return string(text)
}
