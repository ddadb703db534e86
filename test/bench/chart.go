package main

import (
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

var (
	barColors = [2]color.Color{color.RGBA{0x1f, 0x4e, 0x8c, 0xff}, color.RGBA{0x8f, 0xb8, 0xe0, 0xff}} // one thread, two
	goalColor = color.RGBA{0xd0, 0x3a, 0x2b, 0xff}
	gridColor = color.Gray{0xdd}
)

// A line of the chart is a row against one rival.
type line struct {
	label  string
	ratios [2]ratio // with one thread and with two, 0 if not measured
	goals  [2]ratio
}

// lines returns the lines of a chart from top to bottom.
func (r *Report) lines() []line {
	var lines []line
	for _, m := range r.Measurements {
		for _, t := range m.Rivals {
			label := m.Row + "  vs  " + t.Name
			i := slices.IndexFunc(lines, func(l line) bool { return l.label == label })
			if i < 0 {
				i = len(lines)
				lines = append(lines, line{label: label})
			}
			lines[i].ratios[m.Threads-1], lines[i].goals[m.Threads-1] = t.Ratio, t.Goal
		}
	}
	return lines
}

// draw draws the ratios as bars on a logarithmic axis into a PNG.
func (r *Report) draw(path string) error {
	lines := r.lines()
	if len(lines) == 0 {
		return nil
	}
	p := plot.New()
	p.Title.Text = "go-rntuple against others: their time divided by ours"
	p.Title.TextStyle.Font.Size = 15
	p.Title.Padding = 8
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = ratioTicks{}
	p.X.Label.Text = "times as fast (logarithmic)"
	p.X.Min, p.X.Max = 0.8, 8
	labels := make([]string, len(lines))
	for i, l := range lines {
		labels[len(lines)-1-i] = l.label // the axis begins at the bottom
		for k := range l.ratios {
			for _, x := range []float64{l.ratios[k], l.goals[k]} {
				if x > 0 {
					p.X.Min, p.X.Max = min(p.X.Min, x/1.2), max(p.X.Max, x*1.6)
				}
			}
		}
	}
	p.NominalY(labels...)
	p.Y.Tick.Label.Font.Size = 10
	p.Y.Min, p.Y.Max = -0.7, float64(len(lines))+1.7 // with room for the legend
	p.Add(bars(lines))
	for i, name := range []string{"1 thread", "2 threads"} {
		p.Legend.Add(name, swatch{barColors[i]})
	}
	p.Legend.Add("goal", swatch{goalColor})
	p.Legend.Top = true
	p.Legend.Padding = 4

	height := vg.Length(len(lines)+2)*22 + 90
	canvas := vgimg.NewWith(vgimg.UseWH(11*vg.Inch, height), vgimg.UseDPI(130))
	p.Draw(draw.Crop(draw.New(canvas), 8, -14, 8, -8))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// ratioTicks are 1, 2 and 5 times the powers of ten.
type ratioTicks struct{}

func (ratioTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for power := -3; power <= 5; power++ {
		for _, factor := range []float64{1, 2, 5} {
			if x := factor * math.Pow10(power); low <= x && x <= high {
				ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 6, 64)})
			}
		}
	}
	return ticks
}

// bars are drawn from 1, equal speed: those to the right mean that this library is
// faster.
type bars []line

func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const thickness = 8
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		style := draw.LineStyle{Color: gridColor, Width: 0.5}
		if tick.Value == 1 {
			style = draw.LineStyle{Color: color.Black, Width: 1}
		}
		c.StrokeLine2(style, x(tick.Value), c.Min.Y, x(tick.Value), c.Max.Y)
	}
	text := p.Y.Tick.Label
	text.XAlign, text.YAlign, text.Font.Size = draw.XLeft, draw.YCenter, 8
	for i, l := range b {
		middle := y(float64(len(b) - 1 - i))
		for k, ratio := range l.ratios {
			if ratio == 0 {
				continue
			}
			top := middle + thickness*vg.Length(1-k)
			if slices.Contains(l.ratios[:], 0) {
				top = middle + thickness/2 // alone
			}
			bottom, left, right := top-thickness, x(min(1, ratio)), x(max(1, ratio))
			c.FillPolygon(barColors[k], []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom},
				{X: right, Y: top}, {X: left, Y: top}})
			if l.goals[k] > 0 {
				g := x(l.goals[k])
				c.StrokeLine2(draw.LineStyle{Color: goalColor, Width: 2}, g, bottom, g, top)
				right = max(right, g)
			}
			c.FillText(text, vg.Point{X: right + 4, Y: (top + bottom) / 2}, strconv.FormatFloat(ratio, 'f', 1, 64))
		}
	}
}

// A swatch is a color in the legend.
type swatch struct{ color color.Color }

func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}
