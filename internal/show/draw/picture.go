package draw

import "math"

// A Picture shows histograms with the same axes, one or several over each other; of
// histograms of two axes there is one.
type Picture struct {
	Histograms []*Histogram
	YTitle     string // of the axis of contents
	Log        bool   // the axis of contents is logarithmic

	// Heads and Rows are the table that plots show, with a row for each histogram; the last
	// column has their names.
	Heads []string
	Rows  [][]string
}

// Flat reports whether the picture shows contents over one axis.
func (p *Picture) Flat() bool { return p.Histograms[0].Y == nil }

// Contents returns the ends of the axis of contents of a picture over one axis.
func (p *Picture) Contents() (low, high float64) {
	e, whole := nothing, true // whole: all contents are counts
	for _, h := range p.Histograms {
		for i := 1; i <= h.X.Bins(); i++ {
			point := h.Point(i)
			values := []float64{point.Value}
			if h.Profile {
				values = []float64{point.Value - point.Error, point.Value + point.Error}
			}
			e.add(values)
			whole = whole && point.Value == math.Trunc(point.Value)
		}
	}
	switch profile := p.Histograms[0].Profile; {
	case p.Log && math.IsInf(e.positive, 1):
		return 0.5, 10
	case p.Log:
		low = e.positive / 2
		if whole && !profile {
			low = 0.5 // half of the least count
		}
		return low, max(e.greatest, 2*low)
	case e.none():
		return 0, 1
	case profile:
		pad := (e.greatest - e.least) / 20
		if pad == 0 {
			pad = max(1, math.Abs(e.least)/10)
		}
		return e.least - pad, e.greatest + pad
	}
	low, high = min(0, e.least), max(0, e.greatest)
	if low == high {
		high = 1
	}
	return low, high
}

// Depths returns the least and the greatest content, zero apart, of a picture over two axes.
func (h *Histogram) Depths() (low, high float64) {
	e := nothing
	for i := 1; i <= h.X.Bins(); i++ {
		for j := 1; j <= h.Y.Bins(); j++ {
			if w := h.At(i, j).W; w != 0 {
				e.add([]float64{w})
			}
		}
	}
	if e.none() {
		return 1, 1
	}
	return e.positive, e.greatest
}

// rebin returns the histogram with nx bins of x put together, and ny of y; the last ones may
// be fewer.
func (h *Histogram) rebin(nx, ny int) *Histogram {
	if nx <= 1 && ny <= 1 {
		return h
	}
	g := *h
	g.X = h.X.rebin(nx)
	if h.Y != nil {
		g.Y = h.Y.rebin(ny)
	}
	g.Bins = NewHistogram(g.X, g.Y, h.Profile).Bins
	for i := range h.X.Bins() + 2 {
		for j := range h.rows() {
			g.At(group(i, nx, h.X, g.X), group(j, ny, h.Y, g.Y)).add(h.At(i, j))
		}
	}
	return &g
}

// group returns the bin that bin i of an axis belongs to once n bins are put together.
func group(i, n int, of, to *Axis) int {
	switch {
	case of == nil || i == 0:
		return 0
	case i > of.Bins():
		return to.Bins() + 1
	}
	return 1 + (i-1)/n
}

func (a *Axis) rebin(n int) *Axis {
	b := &Axis{Title: a.Title, Log: a.Log}
	for i := 0; i < a.Bins(); i += n {
		b.Edges = append(b.Edges, a.Edges[i])
	}
	b.Edges = append(b.Edges, a.High())
	return b
}

// together returns how many of n bins must be put together to get at most most, if possible
// without a remainder.
func together(n, most int) int {
	least := max(1, (n+most-1)/most)
	for m := least; m < 2*least; m++ {
		if n%m == 0 {
			return m
		}
	}
	return least
}
