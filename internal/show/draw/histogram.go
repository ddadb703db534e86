package draw

import "math"

// A Histogram holds sums of weights in bins of one axis or two; or, if it is a profile, in
// bins of x the sums that give the mean of y.
type Histogram struct {
	Label   string
	X, Y    *Axis // Y is nil for one axis and for a profile
	Profile bool

	// Bins are the sums in the bins, with those beyond the ends of the axes: see At.
	Bins []Bin

	Entries int64 // values that were filled, wherever they lie
	NaN     int64 // values that were not, because one of them is not a number
	Missing int64 // nor these, of which one is missing

	inside moments // of what lies within the axes
	counts []int64 // for fillCounts, by bin
}

// A Bin holds the sums of what was filled into a bin.
type Bin struct {
	N       int64   // how many values
	W, W2   float64 // their weights, and the squares of these
	WY, WY2 float64 // of a profile: the weights times y and y squared
}

// add adds the sums of another bin.
func (b *Bin) add(c *Bin) {
	b.N += c.N
	b.W += c.W
	b.W2 += c.W2
	b.WY += c.WY
	b.WY2 += c.WY2
}

// moments are sums for mean and deviation. The coordinates count from the middle of their
// axes, so that little is lost when squares are subtracted.
type moments struct{ w, x, xx, y, yy float64 }

func (m *moments) add(n moments) {
	m.w += n.w
	m.x += n.x
	m.xx += n.xx
	m.y += n.y
	m.yy += n.yy
}

// NewHistogram returns an empty histogram.
func NewHistogram(x, y *Axis, profile bool) *Histogram {
	h := &Histogram{X: x, Y: y, Profile: profile}
	h.Bins = make([]Bin, (x.Bins()+2)*h.rows())
	return h
}

// rows returns the number of bins along y, with those beyond its ends.
func (h *Histogram) rows() int {
	if h.Y == nil {
		return 1
	}
	return h.Y.Bins() + 2
}

// At returns the bin of the given numbers along the axes, which count from 1: 0 and Bins+1
// are beyond the ends. Y is 0 if there is no such axis.
func (h *Histogram) At(x, y int) *Bin { return &h.Bins[x*h.rows()+y] }

// middle returns what the moments count from.
func middle(a *Axis) float64 {
	if a == nil {
		return 0
	}
	return a.Edges[0]/2 + a.Edges[len(a.Edges)-1]/2
}

// values are numbers to be filled: as many y as x if the histogram has such, and as many
// weights unless all are one.
type values struct{ x, y, weight []float64 }

// Fill adds values: as many y as x if the histogram has such, and as many weights, unless they are
// nil and all are one.
func (h *Histogram) Fill(x, y, weight []float64) { h.fill(values{x, y, weight}) }

// fill adds values.
func (h *Histogram) fill(v values) {
	switch {
	case h.Y != nil || h.Profile:
		h.fillPairs(v)
	case v.weight == nil && len(h.Bins) <= len(v.x):
		h.fillCounts(v.x)
	default:
		h.fillWeighted(v.x, v.weight)
	}
}

// fillCounts adds values of one axis, of weight one. It counts them first, which is faster where
// there are more than bins.
func (h *Histogram) fillCounts(values []float64) {
	if h.counts == nil {
		h.counts = make([]int64, len(h.Bins))
	}
	counts, a := h.counts, h.X
	low, high, width, n, center := a.Low(), a.High(), a.width, a.n, middle(a)
	last, equal := a.Bins(), a.equal
	var inside, nan int64
	var sum, squares float64
	for _, x := range values {
		if !(low <= x && x < high) {
			if i := a.bin(x); i >= 0 {
				counts[i]++
			} else {
				nan++
			}
			continue
		}
		if equal {
			counts[1+min(int(n*(x-low)/width), last-1)]++ // as in Axis.bin
		} else {
			counts[a.search(x)]++
		}
		inside++
		sum += x - center
		squares += (x - center) * (x - center)
	}
	for i, n := range counts {
		d := &h.Bins[i]
		d.N += n
		d.W += float64(n)
		d.W2 += float64(n)
	}
	clear(counts)
	h.NaN += nan
	h.Entries += int64(len(values)) - nan
	h.inside.add(moments{w: float64(inside), x: sum, xx: squares})
}

// fillWeighted adds values of one axis; without weights they are one.
func (h *Histogram) fillWeighted(values, weights []float64) {
	last, center := h.X.Bins(), middle(h.X)
	w := 1.0
	for k, x := range values {
		i := h.X.bin(x)
		if weights != nil {
			w = weights[k]
		}
		if i < 0 || math.IsNaN(w) {
			h.NaN++
			continue
		}
		h.Entries++
		d := &h.Bins[i]
		d.N++
		d.W += w
		d.W2 += w * w
		if 0 < i && i <= last {
			x -= center
			h.inside.add(moments{w: w, x: w * x, xx: w * x * x})
		}
	}
}

// fillPairs adds values of two axes, or of a profile.
func (h *Histogram) fillPairs(v values) {
	lastX, lastY, rows := h.X.Bins(), 0, h.rows()
	cx, cy, w := middle(h.X), middle(h.Y), 1.0
	if h.Y != nil {
		lastY = h.Y.Bins()
	}
	for k, x := range v.x {
		y := v.y[k]
		if v.weight != nil {
			w = v.weight[k]
		}
		i, j := h.X.bin(x), 0
		if h.Y != nil {
			j = h.Y.bin(y)
		}
		if i < 0 || j < 0 || math.IsNaN(y) || math.IsNaN(w) {
			h.NaN++
			continue
		}
		h.Entries++
		b := &h.Bins[i*rows+j]
		b.N++
		b.W += w
		b.W2 += w * w
		if h.Profile {
			b.WY += w * y
			b.WY2 += w * y * y
		}
		if 0 < i && i <= lastX && (h.Profile || 0 < j && j <= lastY) {
			x, y := x-cx, y-cy
			h.inside.add(moments{w, w * x, w * x * x, w * y, w * y * y})
		}
	}
}

// add adds the sums of g, which has the same axes.
func (h *Histogram) add(g *Histogram) {
	for i := range g.Bins {
		if g.Bins[i].N != 0 {
			h.Bins[i].add(&g.Bins[i])
		}
	}
	h.Entries += g.Entries
	h.NaN += g.NaN
	h.Missing += g.Missing
	h.inside.add(g.inside)
}

// clear removes everything that was filled.
func (h *Histogram) clear() {
	clear(h.Bins)
	*h = Histogram{Label: h.Label, X: h.X, Y: h.Y, Profile: h.Profile, Bins: h.Bins, counts: h.counts}
}

// Mean and deviation are computed from the values within the axes, as ROOT does, not from
// the bins. They are NaN if there are none.

// MeanX returns the mean of x.
func (h *Histogram) MeanX() float64 { return middle(h.X) + h.inside.x/h.inside.w }

// MeanY returns the mean of y.
func (h *Histogram) MeanY() float64 { return middle(h.Y) + h.inside.y/h.inside.w }

// StdDevX returns the standard deviation of x.
func (h *Histogram) StdDevX() float64 { return deviation(h.inside.w, h.inside.x, h.inside.xx) }

// StdDevY returns the standard deviation of y.
func (h *Histogram) StdDevY() float64 { return deviation(h.inside.w, h.inside.y, h.inside.yy) }

// Inside returns the sum of the weights within the axes.
func (h *Histogram) Inside() float64 { return h.inside.w }

// deviation returns the standard deviation of numbers with the given sums of weights, of
// numbers and of squares: 0 where weights of both signs leave a negative variance, as in ROOT.
func deviation(w, x, xx float64) float64 {
	mean := x / w
	return math.Sqrt(max(0, xx/w-mean*mean))
}

// Flow returns the sums of weights of a histogram of two axes by where they lie: [0][1] is
// below the lower end of x and within y.
func (h *Histogram) Flow() (sums [3][3]float64) {
	part := func(i int, a *Axis) int {
		switch {
		case i == 0:
			return 0
		case i <= a.Bins():
			return 1
		}
		return 2
	}
	for i := range h.X.Bins() + 2 {
		for j := range h.rows() {
			sums[part(i, h.X)][part(j, h.Y)] += h.At(i, j).W
		}
	}
	return sums
}

// Sums returns the sums of the weights within both axes, and of all others.
func (h *Histogram) Sums() (inside, outside float64) {
	for x, row := range h.Flow() {
		for y, w := range row {
			if x == 1 && y == 1 {
				inside = w
			} else {
				outside += w
			}
		}
	}
	return inside, outside
}

// A Point is the content of a bin with its error: the sum of weights and the root of the sum
// of their squares; or, in a profile, the mean of y and its standard error.
type Point struct{ Value, Error float64 }

// Point returns the content of the bin i of x. That of a bin of a profile without any
// weight is NaN.
func (h *Histogram) Point(i int) Point {
	b := h.At(i, 0)
	if !h.Profile {
		return Point{b.W, math.Sqrt(b.W2)}
	}
	w := b.W
	if w == 0 {
		return Point{math.NaN(), math.NaN()}
	}
	spread := deviation(w, b.WY, b.WY2)
	return Point{b.WY / w, spread / math.Sqrt(w*w/b.W2)}
}
