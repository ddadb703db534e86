package draw

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// A Terminal is what a picture of characters is for.
type Terminal struct {
	Width, Height int  // in characters; the picture has about that height
	ASCII         bool // there is nothing but ASCII
	Colour        bool
}

// glyphs are the characters of pictures.
type glyphs struct {
	up, right    []string // bars by how full they are, from empty to full
	half         string   // the upper half, for bars that hang down
	shades       []string // from little to much
	marks        []string // of the histograms over the first one
	point, error string   // of a profile
	tick, bar    string   // of the axis on the left
	corner       string
	line, below  string // of the axis at the bottom
}

var (
	unicodeGlyphs = glyphs{
		up: split(" ▁▂▃▄▅▆▇█"), right: split(" ▏▎▍▌▋▊▉█"), half: "▀", shades: split("·░▒▓█"), marks: split("ox+*"),
		point: "•", error: "│", tick: "┤", bar: "│", corner: "└", line: "─", below: "┬",
	}
	asciiGlyphs = glyphs{
		up: split(" .:#"), right: split(" -=#"), half: "'", shades: split(".:+%@"), marks: split("ox+*"),
		point: "o", error: "|", tick: "+", bar: "|", corner: "+", line: "-", below: "+",
	}
)

func split(s string) []string { return strings.Split(s, "") }

// colours are those of the histograms, as parameters of the terminal's control sequence for
// them; they repeat themselves.
var colours = []string{"34", "31", "32", "35", "36", "33"}

// A sheet is a rectangle of characters, of which row 0 is the lowest.
type sheet struct {
	rows   [][]string
	colour [][]int // of each character: the number of a histogram, from 1; 0 for none
}

func newSheet(width, height int) *sheet {
	s := &sheet{make([][]string, height), make([][]int, height)}
	for y := range height {
		s.rows[y], s.colour[y] = make([]string, width), make([]int, width)
		for x := range s.rows[y] {
			s.rows[y][x] = " "
		}
	}
	return s
}

func (s *sheet) set(x, y int, glyph string, colour int) {
	if 0 <= y && y < len(s.rows) && 0 <= x && x < len(s.rows[y]) {
		s.rows[y][x], s.colour[y][x] = glyph, colour
	}
}

// line returns a row with its colours, without spaces at its end.
func (s *sheet) line(y int, coloured bool) string {
	last := len(s.rows[y])
	for last > 0 && s.rows[y][last-1] == " " {
		last--
	}
	var b strings.Builder
	now := 0
	for x, glyph := range s.rows[y][:last] {
		if c := s.colour[y][x]; coloured && c != now && glyph != " " {
			b.WriteString(paint(c))
			now = c
		}
		b.WriteString(glyph)
	}
	if now != 0 {
		b.WriteString(paint(0))
	}
	return b.String()
}

// paint returns the control sequence for a colour.
func paint(colour int) string {
	if colour == 0 {
		return "\x1b[0m"
	}
	return "\x1b[" + colours[(colour-1)%len(colours)] + "m"
}

// WriteText writes the picture as characters.
func (p *Picture) WriteText(w io.Writer, t Terminal) error {
	t.Width, t.Height = max(t.Width, 20), max(t.Height, 4)
	g := t.glyphs()
	var lines []string
	switch h := p.Histograms[0]; {
	case h.X.Words != nil && p.Flat() && !h.Profile:
		lines = p.words(t, g)
	case p.Flat():
		lines = p.bars(t, g)
	default:
		lines = p.shades(t, g)
	}
	text := strings.Join(lines, "\n") + "\n"
	if t.ASCII {
		text = strings.NewReplacer("…", "~", "≤", "<").Replace(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Mark returns what stands for histogram i in a picture of characters.
func (p *Picture) Mark(i int, t Terminal) string { return t.glyphs().mark(i, p.Histograms[i].Profile) }

func (t *Terminal) glyphs() *glyphs {
	if t.ASCII {
		return &asciiGlyphs
	}
	return &unicodeGlyphs
}

// mark returns what stands for the histogram i.
func (g *glyphs) mark(i int, profile bool) string {
	switch {
	case i > 0:
		return g.marks[(i-1)%len(g.marks)]
	case profile:
		return g.point
	}
	return g.up[len(g.up)-1]
}

// Clip returns a text, or its beginning if it has more than width characters.
func Clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// bars returns the lines of a picture over one axis: the first histogram as bars, the others
// as marks; profiles as points with errors.
func (p *Picture) bars(t Terminal, g *glyphs) []string {
	low, high := p.Contents()
	isProfile := p.Histograms[0].Profile
	if low < 0 && high > 0 && !isProfile {
		// Zero lies between two rows.
		below := min(max(1, math.Round(float64(t.Height)*low/(low-high))), float64(t.Height-1))
		above := float64(t.Height) - below
		unit := max(-low/below, high/above)
		low, high = -below*unit, above*unit
	}
	yTicks := Ticks(low, high, p.Log, t.Height/3+1)
	margin := widest(yTicks)
	histograms, columns := p.Histograms, t.Width-margin-2
	if m := together(histograms[0].X.Bins(), columns); m > 1 {
		merged := *p
		merged.Histograms = nil
		for _, h := range histograms {
			merged.Histograms = append(merged.Histograms, h.rebin(m, 1))
		}
		return merged.bars(t, g)
	}
	wide := columns / histograms[0].X.Bins() // of a bin
	s := newSheet(wide*histograms[0].X.Bins(), t.Height)
	at := func(v float64) float64 { // in rows above the axis
		if p.Log && v <= 0 {
			return 0
		}
		return float64(t.Height) * Place(v, low, high, p.Log)
	}
	zero := at(0)
	for i, h := range histograms {
		for x := range h.X.Bins() {
			point := h.Point(x + 1)
			if math.IsNaN(point.Value) {
				continue
			}
			for k := range wide {
				switch column := x*wide + k; {
				case h.Profile:
					if k == wide/2 {
						s.points(column, g, i, [3]float64{at(point.Value - point.Error), at(point.Value), at(point.Value + point.Error)})
					}
				case i == 0:
					s.column(column, g, zero, at(point.Value))
				case point.Value != 0:
					s.set(column, max(0, rowOf(at(point.Value))), g.mark(i, false), i+1)
				}
			}
		}
	}
	row := func(v float64) int { return rowOf(at(v)) }
	if isProfile {
		row = func(v float64) int { return min(int(at(v)), t.Height-1) } // as for points
	}
	return append([]string{Clip(p.YTitle, t.Width)}, s.frame(histograms[0].X, yTicks, row, t, g)...)
}

// rowOf returns the row whose upper end is the nearest to a height; -1 is the axis.
func rowOf(height float64) int { return int(math.Round(height)) - 1 }

// column draws a bar.
func (s *sheet) column(x int, g *glyphs, zero, top float64) {
	full := len(g.up) - 1
	if top < zero {
		for y := range s.rows {
			switch part := min(zero, float64(y+1)) - max(top, float64(y)); {
			case part > 0.75:
				s.set(x, y, g.up[full], 1)
			case part > 0.25:
				s.set(x, y, g.half, 1) // what no full row is left for hangs down
			}
		}
		return
	}
	for y := range s.rows {
		if part := math.Round(float64(full) * (top - max(zero, float64(y)))); part > 0 && float64(y+1) > zero {
			s.set(x, y, g.up[min(int(part), full)], 1)
		}
	}
}

// points draws a point with its error bar.
func (s *sheet) points(x int, g *glyphs, i int, heights [3]float64) {
	for y := int(math.Floor(heights[0])); y <= int(math.Floor(heights[2])) && heights[2] > heights[0]; y++ {
		if s.rows[max(0, min(y, len(s.rows)-1))][x] == " " {
			s.set(x, y, g.error, i+1)
		}
	}
	s.set(x, min(int(heights[1]), len(s.rows)-1), g.mark(i, true), i+1)
}

func widest(all []Tick) (n int) {
	for _, t := range all {
		n = max(n, utf8.RuneCountInString(t.Label))
	}
	return n
}

// frame returns the rows of a sheet with the axis on their left, of which row returns the rows
// of ticks, and the lines of the axis below.
func (s *sheet) frame(a *Axis, yTicks []Tick, row func(float64) int, t Terminal, g *glyphs) (lines []string) {
	margin, yLabels := widest(yTicks), map[int]string{}
	for _, tick := range yTicks {
		if tick.Label != "" {
			yLabels[row(tick.Value)] = tick.Label
		}
	}
	for y := len(s.rows) - 1; y >= 0; y-- {
		bar := g.bar
		if yLabels[y] != "" {
			bar = g.tick
		}
		lines = append(lines, fmt.Sprintf("%*s%s%s", margin, yLabels[y], bar, s.line(y, t.Colour)))
	}

	width := len(s.rows[0])
	line, labels := split(strings.Repeat(g.line, width+1)), split(strings.Repeat(" ", t.Width))
	end := -1 // of the last label
	for _, tick := range a.Ticks(max(3, width/9)) {
		column := min(int(a.place(tick.Value)*float64(width)+1e-9), width)
		label := split(tick.Label)
		from := max(margin+1+column-len(label)/2, 0)
		if len(label) == 0 || column < 0 || from <= end || from+len(label) > t.Width {
			continue
		}
		line[column] = g.below
		end = from + copy(labels[from:], label)
	}
	title := Clip(a.Title, t.Width)
	return append(lines,
		fmt.Sprintf("%*s%s%s", margin, yLabels[-1], g.corner, strings.Join(line, "")),
		strings.TrimRight(strings.Join(labels, ""), " "),
		strings.Repeat(" ", max(0, margin+2+width-utf8.RuneCountInString(title)))+title)
}

// words returns the lines of a picture of counts of words: a bar each, from left to right.
func (p *Picture) words(t Terminal, g *glyphs) (lines []string) {
	low, high := p.Contents()
	if !p.Log {
		low = 0
	}
	first := p.Histograms[0].X
	margin := 0
	for _, word := range first.Words {
		margin = max(margin, utf8.RuneCountInString(word))
	}
	margin = min(margin, t.Width/2)
	numbers := 0
	for _, h := range p.Histograms {
		for i := range first.Words {
			numbers = max(numbers, len(Number(h.Point(i+1).Value, 6)))
		}
	}
	room := max(1, t.Width-margin-numbers-4)
	full := len(g.right) - 1
	for i, word := range first.Words {
		for k, h := range p.Histograms {
			if k > 0 {
				word = ""
			}
			v := h.Point(i + 1).Value
			length := 0
			if v > low {
				length = int(math.Round(Place(v, low, high, p.Log) * float64(room*full)))
			}
			bar := strings.Repeat(g.right[full], length/full)
			if length%full > 0 {
				bar += g.right[length%full]
			}
			if t.Colour {
				bar = paint(k+1) + bar + paint(0)
			}
			pad := strings.Repeat(" ", margin-utf8.RuneCountInString(Clip(word, margin)))
			lines = append(lines, fmt.Sprintf("%s%s%s%s %s", pad, Clip(word, margin), g.bar, bar, Number(v, 6)))
		}
	}
	return append(lines, strings.Repeat(" ", margin+1)+Clip(p.YTitle+" by "+first.Title, t.Width-margin-1))
}

// shades returns the lines of a picture over two axes.
func (p *Picture) shades(t Terminal, g *glyphs) []string {
	h := p.Histograms[0]
	height := t.Height
	yTicks := h.Y.Ticks(height/3 + 1)
	margin := widest(yTicks)
	columns := t.Width - margin - 2
	h = h.rebin(together(h.X.Bins(), columns), together(h.Y.Bins(), height))
	wide, high := max(1, columns/h.X.Bins()), max(1, height/h.Y.Bins())
	s := newSheet(wide*h.X.Bins(), high*h.Y.Bins())
	least, greatest := h.Depths()
	if !p.Log {
		least = 0
	} else {
		least /= 2
	}
	for x := range s.rows[0] {
		for y := range s.rows {
			w := h.At(1+x/wide, 1+y/high).W
			if w > 0 {
				depth := int(math.Ceil(Place(w, least, greatest, p.Log)*float64(len(g.shades)))) - 1
				s.set(x, y, g.shades[min(max(depth, 0), len(g.shades)-1)], 1)
			}
		}
	}
	lines := append([]string{Clip(h.Y.Title, t.Width)}, s.frame(h.X, yTicks, func(v float64) int {
		return rowOf(h.Y.place(v) * float64(len(s.rows)))
	}, t, g)...)
	key := p.YTitle + ":"
	for i, shade := range g.shades {
		part := float64(i+1) / float64(len(g.shades))
		v := least + part*(greatest-least)
		if p.Log {
			v = least * math.Pow(greatest/least, part)
		}
		key += fmt.Sprintf("  %s ≤ %s", shade, Number(v, 3))
	}
	return append(lines, Clip(key, t.Width))
}
