package main

import (
	"math"

	"github.com/go-rntuple/go-rntuple/internal/show/draw"
)

// drawn is what `rnt draw --json` prints.
type drawn struct {
	Kind       string       `json:"kind"` // "histogram", "histogram2d" or "profile"
	Files      []string     `json:"files"`
	Skipped    []badFile    `json:"skipped,omitempty"` // because of --skip-bad
	X          drawnAxis    `json:"x"`
	Y          *drawnAxis   `json:"y,omitempty"` // of a histogram of two dimensions
	Histograms []drawnCurve `json:"histograms"`  // with these axes
}

// drawnAxis is an axis. Bin i goes from edge i, included, to edge i+1; of strings, it is
// the one of label i.
type drawnAxis struct {
	Title  string    `json:"title"`
	Log    bool      `json:"log,omitempty"` // the bins are equal on a logarithmic scale
	Labels []string  `json:"labels,omitempty"`
	Edges  []float64 `json:"edges"`
}

type drawnCurve struct {
	Label   string `json:"label"`
	X       string `json:"expression"`             // of x
	Y       string `json:"expression_y,omitempty"` // of y
	Where   string `json:"where,omitempty"`
	Weight  string `json:"weight,omitempty"`
	Entries int64  `json:"entries"` // values that were filled, in the range or not
	NaN     int64  `json:"nan"`     // values that were not, because they are not numbers
	Missing int64  `json:"missing"` // values that were not, because there are none

	// The mean and the standard deviation of the values in the range; null if there are none.
	MeanX   *float64 `json:"mean"`
	StdDevX *float64 `json:"std_dev"`
	MeanY   *float64 `json:"mean_y,omitempty"`
	StdDevY *float64 `json:"std_dev_y,omitempty"`

	// The sums of the weights of values in the range, below and above it; of two dimensions,
	// Flow has them by where x lies (below, in the range, above) and then y.
	Inside    float64        `json:"inside"`
	Underflow *float64       `json:"underflow,omitempty"`
	Overflow  *float64       `json:"overflow,omitempty"`
	Flow      *[3][3]float64 `json:"flow,omitempty"`

	// By bin: the sums of weights and of their squares; of a profile, the mean of y, which is
	// null without values, its standard error, and the sums of weights.
	Contents []float64  `json:"contents,omitempty"`
	SumW2    []float64  `json:"sumw2,omitempty"`
	Means    []*float64 `json:"means,omitempty"`
	Errors   []*float64 `json:"errors,omitempty"`
	// The same of two dimensions, by bin of x and then of y.
	Contents2 [][]float64 `json:"contents2d,omitempty"`
	SumW22    [][]float64 `json:"sumw2_2d,omitempty"`
}

// drawnOf returns histograms as JSON.
func drawnOf(q *query, histograms []*draw.Histogram, files []string) drawn {
	first := histograms[0]
	d := drawn{Kind: "histogram", X: axisOf(first.X)}
	for _, f := range files {
		d.Files = append(d.Files, shown(f))
	}
	switch {
	case first.Profile:
		d.Kind = "profile"
	case first.Y != nil:
		d.Kind = "histogram2d"
		y := axisOf(first.Y)
		d.Y = &y
	}
	name := func(i int) string {
		if i < 0 {
			return ""
		}
		return q.plan.Names[i]
	}
	for i, h := range histograms {
		curve := q.plan.Curves[i]
		c := drawnCurve{
			Label: h.Label, X: name(curve.X), Y: name(curve.Y), Where: name(curve.Where), Weight: name(curve.Weight),
			Entries: h.Entries, NaN: h.NaN, Missing: h.Missing, Inside: h.Inside(),
		}
		if !q.plan.IsWords() {
			c.MeanX, c.StdDevX = finite(h.MeanX()), finite(h.StdDevX())
		}
		if curve.Y >= 0 {
			c.MeanY, c.StdDevY = finite(h.MeanY()), finite(h.StdDevY())
		}
		if h.Y != nil {
			flow := h.Flow()
			c.Flow = &flow
		} else {
			c.Underflow, c.Overflow = finite(h.At(0, 0).W), finite(h.At(h.X.Bins()+1, 0).W)
		}
		for i := 1; i <= h.X.Bins(); i++ {
			switch bin := h.At(i, 0); {
			case h.Y != nil:
				var w, w2 []float64
				for j := 1; j <= h.Y.Bins(); j++ {
					w, w2 = append(w, h.At(i, j).W), append(w2, h.At(i, j).W2)
				}
				c.Contents2, c.SumW22 = append(c.Contents2, w), append(c.SumW22, w2)
			case h.Profile:
				p := h.Point(i)
				c.Means, c.Errors = append(c.Means, finite(p.Value)), append(c.Errors, finite(p.Error))
				c.Contents, c.SumW2 = append(c.Contents, bin.W), append(c.SumW2, bin.W2)
			default:
				c.Contents, c.SumW2 = append(c.Contents, bin.W), append(c.SumW2, bin.W2)
			}
		}
		d.Histograms = append(d.Histograms, c)
	}
	return d
}

func axisOf(a *draw.Axis) drawnAxis {
	return drawnAxis{Title: a.Title, Log: a.Log, Labels: a.Words, Edges: a.Edges}
}

// finite returns a number, or nil if JSON cannot express it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
