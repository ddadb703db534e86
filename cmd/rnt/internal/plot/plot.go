package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"unicode/utf8"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/go-rntuple/go-rntuple/internal/show/draw"
)

// Formats are those that Write knows.
var Formats = []string{"png", "svg", "pdf"}

const (
	plotWidth  = 8 * vg.Inch
	plotHeight = 5.2 * vg.Inch
	plotDPI    = 200
	lineHeight = 14 // of the table above the plot
)

// Write writes a picture in one of the Formats.
func Write(w io.Writer, p *draw.Picture, format string) error {
	var c vg.CanvasWriterTo
	switch height := plotHeight + lineHeight*vg.Length(len(p.Histograms)-1); format {
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWidth, height), vgimg.UseDPI(plotDPI))}
	case "svg":
		c = vgsvg.New(plotWidth, height)
	case "pdf":
		c = vgpdf.New(plotWidth, height)
	default:
		return fmt.Errorf("%q is not a plot format", format)
	}
	newFigure(vgdraw.New(c), p).draw()
	_, err := c.WriteTo(w)
	return err
}

// A scale leads from numbers to lengths along an axis.
type scale struct {
	low, high float64
	log       bool
	from, to  vg.Length
	ticks     []draw.Tick
	title     string
}

// at returns where v lies; what is beyond the ends of the axis lies on them.
func (s *scale) at(v float64) vg.Length {
	part := 0.0
	if !s.log || v > 0 {
		part = draw.Place(v, s.low, s.high, s.log)
	}
	return s.from + vg.Length(min(max(part, 0), 1))*(s.to-s.from)
}

// A figure is a picture that is being drawn.
type figure struct {
	vgdraw.Canvas
	*draw.Picture
	area  vg.Rectangle // of the data
	x, y  scale
	angle float64 // of the labels of x
}

// plotColours are those of the histograms of a plot; they repeat themselves.
var plotColours = []color.Color{
	color.NRGBA{0x1f, 0x4e, 0x8c, 0xff}, color.NRGBA{0xc8, 0x2d, 0x2d, 0xff}, color.NRGBA{0x1e, 0x8a, 0x4a, 0xff},
	color.NRGBA{0x8e, 0x44, 0xad, 0xff}, color.NRGBA{0xe0, 0x7b, 0x00, 0xff}, color.NRGBA{0x00, 0x8b, 0x9b, 0xff},
}

func plotColour(i int) color.Color { return plotColours[i%len(plotColours)] }

var (
	paleBlue = color.NRGBA{0xd5, 0xe4, 0xf4, 0xff}
	black    = color.NRGBA{0, 0, 0, 0xff}
	grey     = color.NRGBA{0x60, 0x60, 0x60, 0xff}
	axisLine = vgdraw.LineStyle{Color: black, Width: 0.8}
)

// sans is the one font of the pictures. Package plot of gonum would bring eleven more, of 4 MB.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

var handler = func() text.Handler {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err)
	}
	return text.Plain{Fonts: font.NewCache(font.Collection{{Font: sans, Face: face}})}
}()

// style returns the style of text of a size in points, aligned to where it is drawn.
func style(size vg.Length, c color.Color, x, y float64) text.Style {
	return text.Style{
		Color: c, Font: font.From(sans, size),
		XAlign: text.XAlignment(x), YAlign: text.YAlignment(y), Handler: handler,
	}
}

const (
	alignStart  = 0.0
	alignMiddle = -0.5
	alignEnd    = -1.0
)

// newFigure lays a picture out.
func newFigure(c vgdraw.Canvas, p *draw.Picture) *figure {
	h := p.Histograms[0]
	f := &figure{Canvas: c, Picture: p}
	f.x = scale{low: h.X.Low(), high: h.X.High(), log: h.X.Log, title: h.X.Title, ticks: h.X.Ticks(8)}
	if p.Flat() {
		low, high := p.Contents()
		if p.Log {
			high *= math.Pow(high/low, 0.06)
		} else if !h.Profile {
			high += (high - low) * 0.06
			if low < 0 {
				low -= (high - low) * 0.06
			}
		}
		f.y = scale{low: low, high: high, log: p.Log, title: p.YTitle, ticks: draw.Ticks(low, high, p.Log, 8)}
	} else {
		f.y = scale{low: h.Y.Low(), high: h.Y.High(), log: h.Y.Log, title: h.Y.Title, ticks: h.Y.Ticks(8)}
	}

	rows := max(len(p.Rows), 1)
	f.area = vg.Rectangle{Min: c.Min, Max: c.Max}
	f.area.Max.Y -= 14 + lineHeight*vg.Length(rows+1)
	f.area.Min.Y += 46
	f.area.Max.X -= 18
	label, left := style(11, black, alignEnd, alignMiddle), vg.Length(0)
	for _, t := range f.y.ticks {
		left = max(left, label.Width(t.Label))
	}
	f.area.Min.X += left + 34
	if h.X.Words != nil {
		f.angle = f.wordsRoom(h.X)
	}
	if !p.Flat() {
		f.area.Max.X -= 66
	}
	if f.nameAbove() {
		f.area.Max.Y -= lineHeight
	}
	f.x.from, f.x.to = f.area.Min.X, f.area.Max.X
	f.y.from, f.y.to = f.area.Min.Y, f.area.Max.Y
	return f
}

// draw draws all.
func (f *figure) draw() {
	f.SetColor(color.White)
	f.Fill(f.Rectangle.Path())
	f.table()
	for i, h := range f.Histograms {
		switch {
		case !f.Flat():
			f.heat(h) // the only one
		case h.Profile:
			f.points(h, i)
		default:
			f.outline(h, i)
		}
	}
	f.frame()
}

// wordsRoom makes room for the words on the axis, and returns the angle that they need.
func (f *figure) wordsRoom(a *draw.Axis) (angle float64) {
	label, longest := style(11, black, alignMiddle, alignEnd), vg.Length(0)
	for i := range f.x.ticks {
		f.x.ticks[i].Label = draw.Clip(a.Words[i], 24)
		longest = max(longest, label.Width(f.x.ticks[i].Label))
	}
	if longest+6 < (f.area.Max.X-f.area.Min.X)/vg.Length(a.Bins()) {
		return 0
	}
	f.area.Min.Y += longest * 0.72
	return math.Pi / 4
}

// frame draws the box around the data, ticks, labels and titles.
func (f *figure) frame() {
	length := func(t draw.Tick) vg.Length {
		if t.Label == "" {
			return 3
		}
		return 6
	}
	a := f.area
	label := style(11, black, alignMiddle, alignEnd)
	if f.angle != 0 {
		label = style(11, black, alignEnd, alignMiddle)
		label.Rotation = f.angle
	}
	isWords := f.Histograms[0].X.Words != nil
	for _, t := range f.x.ticks {
		x := f.x.at(t.Value)
		if !isWords {
			f.StrokeLine2(axisLine, x, a.Min.Y, x, a.Min.Y+length(t))
			f.StrokeLine2(axisLine, x, a.Max.Y, x, a.Max.Y-length(t))
		}
		f.FillText(label, vg.Point{X: x, Y: a.Min.Y - 5}, t.Label)
	}
	label = style(11, black, alignEnd, alignMiddle)
	for _, t := range f.y.ticks {
		y := f.y.at(t.Value)
		f.StrokeLine2(axisLine, a.Min.X, y, a.Min.X+length(t), y)
		f.StrokeLine2(axisLine, a.Max.X, y, a.Max.X-length(t), y)
		f.FillText(label, vg.Point{X: a.Min.X - 6, Y: y}, t.Label)
	}
	f.StrokeLines(axisLine, box(a))

	title := style(12.5, black, alignEnd, alignStart)
	f.FillText(title, vg.Point{X: a.Max.X, Y: f.Min.Y + 10}, fitted(title, f.x.title, a.Max.X-f.Min.X-8))
	title.Rotation = math.Pi / 2
	title.YAlign = alignEnd
	flat := style(12.5, black, alignEnd, alignStart)
	f.FillText(title, vg.Point{X: f.Min.X + 8, Y: a.Max.Y}, fitted(flat, f.y.title, a.Max.Y-f.Min.Y-8))
}

// box returns the line around a rectangle.
func box(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min, {X: r.Max.X, Y: r.Min.Y}}
}

// fitted returns a text, or as much of its beginning as fits.
func fitted(s text.Style, t string, room vg.Length) string {
	for n := utf8.RuneCountInString(t); n > 1 && s.Width(t) > room; n-- {
		t = draw.Clip(t, n-1)
	}
	return t
}

// tableColumns returns where the columns of numbers of the table end, and where the first begins.
func (f *figure) tableColumns() (ends []vg.Length, begin vg.Length) {
	last := len(f.Heads) - 1 // the names, on the left
	ends, begin = make([]vg.Length, last), f.Max.X-18
	for column := last - 1; column >= 0; column-- {
		ends[column] = begin
		width := headStyle.Width(f.Heads[column])
		for _, row := range f.Rows {
			width = max(width, numberStyle.Width(row[column]))
		}
		begin -= width + 14
	}
	return ends, begin
}

// nameAbove reports whether the name of a single histogram needs a line of its own.
func (f *figure) nameAbove() bool {
	if len(f.Rows) != 1 {
		return false
	}
	_, begin := f.tableColumns()
	return nameStyle.Width(f.Rows[0][len(f.Heads)-1]) > begin-f.area.Min.X
}

var (
	headStyle   = style(8, grey, alignEnd, alignStart)
	numberStyle = style(10, black, alignEnd, alignStart)
	nameStyle   = style(10, black, alignStart, alignStart)
)

// table draws the table of the statistics above the plot, with a sample of each histogram.
func (f *figure) table() {
	if len(f.Heads) == 0 {
		return
	}
	top := f.area.Max.Y + 6 + lineHeight*vg.Length(len(f.Rows))
	ends, begin := f.tableColumns()
	for column, x := range ends {
		f.FillText(headStyle, vg.Point{X: x, Y: top}, f.Heads[column])
		for i, row := range f.Rows {
			f.FillText(numberStyle, vg.Point{X: x, Y: top - lineHeight*vg.Length(i+1)}, row[column])
		}
	}
	for i, row := range f.Rows {
		from, y, room := f.area.Min.X, top-lineHeight*vg.Length(i+1), begin
		if f.nameAbove() {
			y, room = top+lineHeight, f.Max.X-18
		}
		if len(f.Rows) > 1 {
			f.StrokeLine2(vgdraw.LineStyle{Color: plotColour(i), Width: 2}, from, y+3.5, from+16, y+3.5)
			from += 22
		}
		f.FillText(nameStyle, vg.Point{X: from, Y: y}, fitted(nameStyle, row[len(f.Heads)-1], room-from))
	}
}

// outline draws a histogram; a single one is filled.
func (f *figure) outline(h *draw.Histogram, i int) {
	base := f.y.at(0)
	line := []vg.Point{{X: f.area.Min.X, Y: base}}
	for bin := 1; bin <= h.X.Bins(); bin++ {
		y := f.y.at(h.Point(bin).Value)
		line = append(line, vg.Point{X: f.x.at(h.X.Edges[bin-1]), Y: y}, vg.Point{X: f.x.at(h.X.Edges[bin]), Y: y})
	}
	line = append(line, vg.Point{X: f.area.Max.X, Y: base})
	if len(f.Histograms) == 1 {
		f.FillPolygon(paleBlue, line)
	}
	f.StrokeLines(vgdraw.LineStyle{Color: plotColour(i), Width: 1.1}, line)
	if f.y.low < 0 {
		f.StrokeLine2(vgdraw.LineStyle{Color: grey, Width: 0.5}, f.area.Min.X, base, f.area.Max.X, base)
	}
}

// points draws a profile.
func (f *figure) points(h *draw.Histogram, i int) {
	line := vgdraw.LineStyle{Color: plotColour(i), Width: 1}
	dot := vgdraw.GlyphStyle{Color: plotColour(i), Radius: 1.8, Shape: vgdraw.CircleGlyph{}}
	for bin := 1; bin <= h.X.Bins(); bin++ {
		point := h.Point(bin)
		if math.IsNaN(point.Value) || f.y.log && point.Value <= 0 {
			continue
		}
		left, right, y := f.x.at(h.X.Edges[bin-1]), f.x.at(h.X.Edges[bin]), f.y.at(point.Value)
		x := (left + right) / 2
		f.StrokeLine2(line, left, y, right, y)
		f.StrokeLine2(line, x, f.y.at(point.Value-point.Error), x, f.y.at(point.Value+point.Error))
		f.DrawGlyph(dot, vg.Point{X: x, Y: y})
	}
}

// heat draws a histogram of two axes, and the colour scale beside it.
func (f *figure) heat(h *draw.Histogram) {
	z := scale{log: f.Log, from: f.area.Min.Y, to: f.area.Max.Y}
	z.low, z.high = h.Depths()
	switch {
	case !z.log:
		z.low = min(0, least(h))
	case z.low == z.high:
		z.low /= 2
	}
	if z.low >= z.high {
		z.high = z.low + 1
	}
	f.bins(h, z)

	from, to := f.area.Max.X+12, f.area.Max.X+24
	beside := vg.Rectangle{Min: vg.Point{X: from, Y: z.from}, Max: vg.Point{X: to, Y: z.to}}
	for i := range shades { // each under all that follow, as in bins
		rest := beside
		rest.Min.Y += vg.Length(i) / shades * (z.to - z.from)
		f.FillPolygon(shade((float64(i)+0.5)/shades), box(rest))
	}
	f.StrokeLines(axisLine, box(beside))
	label := style(10, black, alignStart, alignMiddle)
	for _, t := range draw.Ticks(z.low, z.high, z.log, 8) {
		if t.Label != "" {
			y := z.at(t.Value)
			f.StrokeLine2(axisLine, to, y, to+3, y)
			f.FillText(label, vg.Point{X: to + 5, Y: y}, t.Label)
		}
	}
	title := style(10, grey, alignEnd, alignStart)
	f.FillText(title, vg.Point{X: f.Max.X - 8, Y: f.area.Min.Y - 16}, f.YTitle)
}

// bins draws the bins of two axes, as vectors: an image would be turned or stretched by each format
// in its own way. Bins that are equal and lie side by side are one polygon. It reaches below the
// next bins, to the right and above, which are drawn later, because edges that only touch let the
// background shine through.
func (f *figure) bins(h *draw.Histogram, z scale) {
	drawn := func(x, y int) bool {
		if x > h.X.Bins() || y > h.Y.Bins() {
			return false
		}
		w := h.At(x, y).W
		return w != 0 && (w > 0 || !z.log)
	}
	colour := func(x, y int) color.NRGBA {
		return shade(float64((z.at(h.At(x, y).W) - z.from) / (z.to - z.from)))
	}
	for y := 1; y <= h.Y.Bins(); y++ {
		low, high := f.y.at(h.Y.Edges[y-1]), f.y.at(h.Y.Edges[y])
		for x := 1; x <= h.X.Bins(); x++ {
			if !drawn(x, y) {
				continue
			}
			first, c, above := x, colour(x, y), drawn(x, y+1)
			for drawn(x+1, y) && colour(x+1, y) == c && drawn(x+1, y+1) == above {
				x++
			}
			left, right := f.x.at(h.X.Edges[first-1]), f.x.at(h.X.Edges[x])
			top, end := high, right
			if above {
				top = f.y.at(h.Y.Edges[y+1])
			}
			if drawn(x+1, y) {
				end = f.x.at(h.X.Edges[x+1])
			}
			f.FillPolygon(c, []vg.Point{{X: left, Y: low}, {X: end, Y: low}, {X: end, Y: high}, {X: right, Y: high},
				{X: right, Y: top}, {X: left, Y: top}})
		}
	}
}

// least returns the least content of a histogram of two axes.
func least(h *draw.Histogram) float64 {
	least := math.Inf(1)
	for i := 1; i <= h.X.Bins(); i++ {
		for j := 1; j <= h.Y.Bins(); j++ {
			least = min(least, h.At(i, j).W)
		}
	}
	return least
}

// viridis has colours of the scale of that name, at equal distances.
var viridis = [...]color.NRGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x48, 0x28, 0x78, 0xff}, {0x3e, 0x49, 0x89, 0xff}, {0x31, 0x68, 0x8e, 0xff},
	{0x26, 0x82, 0x8e, 0xff},
	{0x1f, 0x9e, 0x89, 0xff}, {0x35, 0xb7, 0x79, 0xff}, {0x6e, 0xce, 0x58, 0xff}, {0xb5, 0xde, 0x2b, 0xff},
	{0xfd, 0xe7, 0x25, 0xff},
}

// shades is the number of colours in the scale beside the plot.
const shades = 256

// shade returns the colour of the part of a scale from 0 to 1.
func shade(part float64) color.NRGBA {
	at := min(max(part, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	a, b, t := viridis[i], viridis[i+1], at-float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + t*(float64(b)-float64(a)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
