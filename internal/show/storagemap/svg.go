package storagemap

import (
	"encoding/xml"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
)

// An svg writes elements. Package encoding/xml escapes all text and all attributes, and
// keeps the first error.
type svg struct {
	e    *xml.Encoder
	open []xml.StartElement
	err  error
}

func newSVG(w io.Writer) *svg { return &svg{e: xml.NewEncoder(w)} }

func (s *svg) token(t xml.Token) {
	if s.err == nil {
		s.err = s.e.EncodeToken(t)
	}
}

// begin begins an element with attributes, names and values in turn, where a value is a
// string or a float64.
func (s *svg) begin(name string, attributes ...any) {
	start := xml.StartElement{Name: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		value, ok := attributes[i+1].(string)
		if !ok {
			value = number(attributes[i+1].(float64))
		}
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: attributes[i].(string)}, Value: value})
	}
	s.token(start)
	s.open = append(s.open, start)
}

func (s *svg) end() {
	last := len(s.open) - 1
	s.token(s.open[last].End())
	s.open = s.open[:last]
	s.token(xml.CharData("\n"))
}

// element writes an element that holds nothing but text.
func (s *svg) element(name, text string, attributes ...any) {
	s.begin(name, attributes...)
	if text != "" {
		s.token(xml.CharData(text))
	}
	s.end()
}

// rect writes a rectangle, with a text that is shown on hover unless it is empty.
func (s *svg) rect(r Rect, hover string, attributes ...any) {
	s.begin("rect", append([]any{"x", r.X, "y", r.Y, "width", r.W, "height", r.H}, attributes...)...)
	s.title(hover)
	s.end()
}

func (s *svg) title(hover string) {
	if hover != "" {
		s.begin("title")
		s.token(xml.CharData(hover))
		s.end()
	}
}

// text writes a line of text whose base line begins at x, y.
func (s *svg) text(x, y, size float64, text string, attributes ...any) {
	s.element("text", text, append([]any{"x", x, "y", y, "font-size", size}, attributes...)...)
}

func (s *svg) close() error {
	if s.err == nil {
		s.err = s.e.Close()
	}
	return s.err
}

// number returns v with at most two digits behind the point.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
}

// path writes several rectangles as one element.
func (s *svg) path(rects []Rect, attributes ...any) {
	var d strings.Builder
	for _, r := range rects {
		w := number(r.W)
		d.WriteString("M" + number(r.X) + " " + number(r.Y) + "h" + w + "v" + number(r.H) + "h-" + w + "z")
	}
	s.element("path", "", append([]any{"d", d.String()}, attributes...)...)
}

// width returns about how wide text is, or something above limit if it is wider than that.
func width(text string, size, limit float64) float64 {
	n := 0.0
	for _, r := range text {
		switch {
		case r >= 0x1100: // most of these are wide
			n += size * 1.05
		case strings.ContainsRune("ijlrtfI.,:;|!'()[] ", r):
			n += size * 0.36
		case strings.ContainsRune("mwMW%@", r):
			n += size * 0.92
		default:
			n += size * 0.63
		}
		if n > limit {
			break
		}
	}
	return n
}

func fits(text string, size, room float64) bool { return width(text, size, room) <= room }

// fit returns text, or as much of its beginning as fits with an ellipsis.
func fit(text string, size, room float64) string {
	if fits(text, size, room) {
		return text
	}
	end := 0
	for i := range text {
		if !fits(text[:i]+"…", size, room) {
			break
		}
		end = i
	}
	return text[:end] + "…"
}

// endings yields the path of a field and the shorter and shorter ends of it that say what
// it is: not those that begin with "_0", which is the name of the items of any collection.
func endings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := path; name != ""; _, name, _ = strings.Cut(name, ".") {
			first, _, _ := strings.Cut(name, ".")
			isItem := first == "_0" || strings.HasPrefix(first, "_0 ")
			if (!isItem || name == path) && !yield(name) {
				return
			}
		}
	}
}

// fitPath returns the longest of the endings of path that fits, or else as much of its end
// as fits behind an ellipsis.
func fitPath(path string, size, room float64) string {
	for name := range endings(path) {
		if fits(name, size, room) {
			return name
		}
	}
	for i := range path {
		if cut := "…" + path[i:]; fits(cut, size, room) {
			return cut
		}
	}
	return ""
}
