package main

import (
	"image/color"
	"math"

	"go-hep.org/x/hep/hbook"
	"go-hep.org/x/hep/hplot"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The size of the plot; a PNG has 1600 × 1000 pixels.
const (
	plotWidth  = 8 * vg.Inch
	plotHeight = 5 * vg.Inch
	plotDPI    = 200
)

// savePlot draws the spectrum on logarithmic axes, in the format that the suffix of
// path names.
func savePlot(path string, h *hbook.H1D) error {
	p := hplot.New()
	p.X.Label.Text = "m(μμ) [GeV]"
	p.X.Label.Position = draw.PosRight
	p.X.Tick.Marker = massTicks
	p.Y.Label.Text = "Opposite-sign muon pairs / bin"
	p.Y.Label.Position = draw.PosTop
	p.Y.Tick.Marker = countTicks
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Label.TextStyle.Font.Size = 15
		axis.Label.Padding = 4
		axis.Tick.Label.Font.Size = 13
		axis.Padding = 3
		axis.Width, axis.Tick.Width = 0, 0 // frame draws them
	}

	spectrum := bars{hplot.NewH1D(h, hplot.WithLogY(true))}
	spectrum.FillColor = color.RGBA{0xc9, 0xdd, 0xf0, 0xff}
	spectrum.LineStyle.Color = color.RGBA{0x1f, 0x4e, 0x8c, 0xff}
	spectrum.LineStyle.Width = 0.9

	var names plotter.XYLabels
	top := 10.0
	for _, res := range resonances {
		y := peak(h, res)
		names.XYs = append(names.XYs, plotter.XY{X: res.Mass, Y: y})
		names.Labels = append(names.Labels, res.Name)
		top = max(top, 4*y) // with room for the name
	}
	labels, err := plotter.NewLabels(names)
	if err != nil {
		return err
	}
	labels.Offset.Y = 5
	for i := range labels.TextStyle {
		labels.TextStyle[i] = text.Style{
			Color:   color.Black,
			Font:    p.X.Tick.Label.Font,
			XAlign:  text.XCenter,
			Handler: p.TextHandler,
		}
	}

	p.Add(spectrum, labels, frame{})
	p.Y.Min, p.Y.Max = 0.5, top // so that a single pair is visible

	figure := hplot.Figure(p, hplot.WithDPI(plotDPI),
		hplot.WithBorder(hplot.Border{Left: 8, Right: 14, Bottom: 8, Top: 12}))
	return hplot.Save(figure, plotWidth, plotHeight, path)
}

// peak returns the highest count around a resonance, where its name goes.
func peak(h *hbook.H1D, res Resonance) float64 {
	count := 1.0
	for _, bin := range h.Binning.Bins {
		if 0.95*res.Low <= bin.XMid() && bin.XMid() < 1.05*res.High {
			count = max(count, bin.SumW())
		}
	}
	return count
}

// The bars of a histogram ask for no room beyond the axes: hplot's computation of
// it panics if the axis of masses is logarithmic.
type bars struct{ *hplot.H1D }

func (bars) GlyphBoxes(*plot.Plot) []plot.GlyphBox { return nil }

// logTicks are the multiples of the powers of ten, with labels for some.
type logTicks map[float64]string

var (
	massTicks = logTicks{
		0.5: "0.5", 1: "1", 2: "2", 5: "5", 10: "10", 20: "20", 50: "50", 100: "100", 200: "200",
	}
	countTicks = logTicks{
		1: "1", 10: "10", 1e2: "10²", 1e3: "10³", 1e4: "10⁴", 1e5: "10⁵", 1e6: "10⁶", 1e7: "10⁷", 1e8: "10⁸", 1e9: "10⁹",
	}
)

func (labels logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for power := int(math.Floor(math.Log10(low))); math.Pow10(power) <= high; power++ {
		for i := 1.0; i < 10; i++ {
			if v := i * math.Pow10(power); low <= v && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: labels[v]})
			}
		}
	}
	return ticks
}

// A frame is the box around a plot, with the ticks of its axes on the inside.
type frame struct{}

func (frame) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: color.Black, Width: 0.8}
	length := func(t plot.Tick) vg.Length {
		if t.IsMinor() {
			return 4
		}
		return 8
	}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(line, x(t.Value), c.Min.Y, x(t.Value), c.Min.Y+length(t))
		c.StrokeLine2(line, x(t.Value), c.Max.Y, x(t.Value), c.Max.Y-length(t))
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(line, c.Min.X, y(t.Value), c.Min.X+length(t), y(t.Value))
		c.StrokeLine2(line, c.Max.X, y(t.Value), c.Max.X-length(t), y(t.Value))
	}
	corners := []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}}
	c.StrokeLines(line, append(corners, corners[:2]...))
}
