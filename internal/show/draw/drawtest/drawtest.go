package drawtest

import (
	"math"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/show/draw"
)

// axis returns an axis of n bins. It panics if there is none.
func axis(n int, low, high float64, log bool) *draw.Axis {
	a, err := draw.NewAxis(n, low, high, log)
	if err != nil {
		panic(err)
	}
	return a
}

// filled returns a histogram of numbers.
func filled(label string, n int, low, high float64, numbers ...float64) *draw.Histogram {
	h := draw.NewHistogram(axis(n, low, high, false), nil, false)
	h.Label, h.X.Title = label, "x"
	h.Fill(numbers, nil, nil)
	return h
}

// Pictures returns pictures of every kind: of no values, of infinite ones, of weights of both
// signs, of words, with one bin and with a thousand, linear and logarithmic.
func Pictures() (pictures []*draw.Picture) {
	add := func(all ...*draw.Histogram) {
		for _, log := range []bool{false, true} {
			p := &draw.Picture{Histograms: all, YTitle: "entries", Log: log, Heads: []string{"ENTRIES", ""}}
			for _, h := range all {
				p.Rows = append(p.Rows, []string{"123", h.Label})
			}
			pictures = append(pictures, p)
		}
	}
	ramp := make([]float64, 1000)
	for i := range ramp {
		ramp[i] = float64(i) * float64(i) / 1e4
	}
	for _, n := range []int{1, 7, 64, 1000} {
		add(filled("ramp", n, 0, 100, ramp...))
		add(filled("empty", n, 0, 100))
		add(filled("infinite", n, 1e9, 1e9+1, math.Inf(1), math.Inf(-1), math.NaN()))
		h := filled("weights", n, -1, 1)
		h.Fill([]float64{-0.5, 0.5, 0}, nil, []float64{-1e-9, 1e12, 3})
		add(h, h, h, h, h, h, h, h)
		for _, log := range []bool{false, true} {
			x := axis(n, 1, 100, log)
			y := axis(max(1, n/3), 0.1, 1, log)
			x.Title, y.Title = strings.Repeat("a long title ", 20), "y"
			h := draw.NewHistogram(x, y, false)
			add(h)
			h = draw.NewHistogram(x, y, false)
			h.Fill(ramp, ramp, nil)
			add(h)
			h = draw.NewHistogram(x, nil, true)
			h.Fill(ramp, ramp, nil)
			h.Fill(ramp[:500], ramp[500:], nil)
			add(h, draw.NewHistogram(x, nil, true))
		}
	}
	words := draw.NewHistogram(draw.WordAxis([]string{"", "a", strings.Repeat("ö", 100)}), nil, false)
	add(words)
	words = draw.NewHistogram(words.X, nil, false)
	words.Fill([]float64{0, 1, 1, 2}, nil, nil)
	add(words, words)
	truth := draw.WordAxis([]string{"false", "true"})
	h := draw.NewHistogram(truth, truth, false)
	h.Fill([]float64{0, 1}, []float64{0, 1}, nil)
	add(h)
	return pictures
}
