package engine

import (
	"math"

	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// mostBins is the number of bins of histograms that do not say how many they have.
const mostBins = 100

// A Histogram is the answer to histogram.
type Histogram struct {
	Kind    string    `json:"kind"` // number, or text, with a bin for each of the most frequent values
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
	Edges   []float64 `json:"edges"`            // of the bins, one more than there are
	Labels  []string  `json:"labels,omitempty"` // of the bins, if they have no numbers
	Bins    []float64 `json:"bins"`
	Under   float64   `json:"under"`
	Over    float64   `json:"over"`
	NaN     Int       `json:"nan"`     // values that are not numbers
	Missing Int       `json:"missing"` // values that are not there
	Entries Int       `json:"entries"` // values that were filled, those of under and over among them
	// Mean and standard deviation are those of the values in the bins, nil if there are none.
	Mean   *float64 `json:"mean"`
	StdDev *float64 `json:"stddev"`
}

// histogram fills {ntuple, expression, where, bins, low, high, logx} as rnt draw does. The ends of
// the range may be left out.
func (f *file) histogram(c *call) (Answer, error) {
	var p struct {
		NTuple, Expression, Where string
		Bins                      int
		Low, High                 *float64
		LogX                      bool
	}
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	r, err := f.reader(p.NTuple)
	if err != nil {
		return Answer{}, err
	}
	if p.Bins < 0 || p.Bins > draw.MaxBins {
		return Answer{}, invalid("the number of bins must be from 1 to %d", draw.MaxBins)
	}
	source := r.WithContext(c.ctx)
	plan := draw.Plan{
		Names:    []string{p.Expression},
		Curves:   []draw.Curve{{X: 0, Y: -1, Weight: -1, Where: -1}},
		X:        draw.Binning{Bins: p.Bins, Most: mostBins, Range: draw.Auto, Log: p.LogX},
		Progress: func(done, total int64) { c.report(done, total, "entries") },
	}
	if p.Low != nil {
		plan.X.Range.Low = *p.Low
	}
	if p.High != nil {
		plan.X.Range.High = *p.High
	}
	e, err := expression.Parse(p.Expression)
	if err != nil {
		return Answer{}, err
	}
	all := []*expression.Expression{e}
	if p.Where != "" {
		where, err := expression.Parse(p.Where)
		if err != nil {
			return Answer{}, invalid("the condition: %w", err)
		}
		all = append(all, where)
		plan.Names, plan.Curves[0].Where = append(plan.Names, p.Where), 1
	}
	if plan.Program, err = expression.Compile(source, all...); err != nil {
		return Answer{}, err
	}
	if err := plan.Check(); err != nil {
		return Answer{}, invalid("%w", err)
	}
	histograms, err := plan.Fill(source)
	if err != nil {
		return Answer{}, invalid("%w", err) // ErrorOf knows what is the file's fault
	}
	return Answer{JSON: histogramOf(histograms[0])}, nil
}

func histogramOf(h *draw.Histogram) *Histogram {
	n := h.X.Bins()
	to := &Histogram{
		Kind: "number", Low: h.X.Low(), High: h.X.High(), Edges: h.X.Edges, Labels: h.X.Words, Bins: make([]float64, n),
		Under: h.At(0, 0).W, Over: h.At(n+1, 0).W, NaN: Int(h.NaN), Missing: Int(h.Missing), Entries: Int(h.Entries),
	}
	for i := range to.Bins {
		to.Bins[i] = h.At(i+1, 0).W
	}
	if h.X.Words != nil {
		to.Kind = "text"
	} else {
		to.Mean, to.StdDev = finite(h.MeanX()), finite(h.StdDevX())
	}
	return to
}

// finite returns a number, or nil if JSON cannot express it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
