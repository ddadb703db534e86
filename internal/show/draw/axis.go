package draw

import (
	"cmp"
	"fmt"
	"math"
	"sort"
)

// MaxBins limits the number of bins of a histogram, of both axes together.
const MaxBins = 1 << 20

// An Axis divides an interval of numbers into bins, or has a bin for each of some words.
type Axis struct {
	Title string
	Edges []float64 // of the bins, rising, one more than there are bins
	Log   bool      // the bins are equal on a logarithmic scale
	Words []string  // the bins, if they have no numbers; then the edges are 0, 1, 2 …

	equal bool
	n     float64
	width float64 // of all bins
	scale float64 // bins per unit of the logarithm
}

// Bins returns the number of bins.
func (a *Axis) Bins() int { return len(a.Edges) - 1 }

// Low returns the lower end, which belongs to the first bin.
func (a *Axis) Low() float64 { return a.Edges[0] }

// High returns the upper end, which does not belong to the last bin.
func (a *Axis) High() float64 { return a.Edges[len(a.Edges)-1] }

// NewAxis returns an axis of n bins of equal width, or of equal width of the logarithm.
func NewAxis(n int, low, high float64, log bool) (*Axis, error) {
	a := &Axis{Edges: make([]float64, n+1), Log: log, equal: !log, n: float64(n), width: high - low}
	switch {
	case !(low < high):
		return nil, fmt.Errorf("the range %g:%g is empty", low, high)
	case math.IsInf(a.width, 0):
		return nil, fmt.Errorf("the range %g:%g is too wide", low, high)
	case log && low <= 0:
		return nil, fmt.Errorf("the range %g:%g does not fit a logarithmic axis, which has no zero", low, high)
	}
	if log {
		a.scale = a.n / math.Log(high/low)
	}
	for i := range a.Edges {
		if part := float64(i) / a.n; log {
			a.Edges[i] = low * math.Pow(high/low, part)
		} else {
			a.Edges[i] = low + float64(i)*(a.width/a.n)
		}
	}
	a.Edges[n] = high
	for i := range n {
		if a.Edges[i] >= a.Edges[i+1] {
			return nil, fmt.Errorf("the range %g:%g is too narrow for %d bins", low, high, n)
		}
	}
	return a, nil
}

// WordAxis returns an axis with a bin for each word.
func WordAxis(words []string) *Axis {
	a := &Axis{Edges: make([]float64, len(words)+1), Words: words, equal: true, n: float64(len(words)),
		width: float64(len(words))}
	for i := range a.Edges {
		a.Edges[i] = float64(i)
	}
	return a
}

// bin returns the number of the bin that x belongs to, from 1: 0 is below the first bin, and
// one more than Bins above the last. It is -1 for NaN. Of equal bins it is what ROOT's TAxis
// computes, which may differ from the edges by a rounding error.
func (a *Axis) bin(x float64) int {
	switch n := len(a.Edges) - 1; {
	case x < a.Edges[0]:
		return 0
	case x < a.Edges[n]:
		if a.equal {
			return 1 + min(int(a.n*(x-a.Edges[0])/a.width), n-1)
		}
		return a.search(x)
	case x >= a.Edges[n]:
		return n + 1
	}
	return -1
}

// search returns the bin of x, which is in one. It guesses and corrects itself.
func (a *Axis) search(x float64) int {
	i := min(max(int(a.scale*math.Log(x/a.Edges[0])), 0), len(a.Edges)-2)
	for ; x < a.Edges[i]; i-- {
	}
	for ; x >= a.Edges[i+1]; i++ {
	}
	return i + 1
}

// A Range is what is known of an interval: an end that is to be found is NaN.
type Range struct{ Low, High float64 }

// Auto is the Range of which nothing is known.
var Auto = Range{math.NaN(), math.NaN()}

func (r Range) known() bool { return !math.IsNaN(r.Low) && !math.IsNaN(r.High) }

// A Binning says how the values along an axis are divided.
type Binning struct {
	Bins  int // 0: at most Most, so that they have round edges
	Most  int
	Range Range
	Log   bool
}

// steps are the widths that bins may have, apart from a power of ten.
var steps = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}

// stepsFrom calls yield with the widths of a list of steps that are at least least, in
// order, until it returns true.
func stepsFrom(least float64, list []float64, yield func(step float64) bool) {
	if !(least > 0) {
		return
	}
	for power := math.Floor(math.Log10(least)); power < 310; power++ {
		for _, s := range list {
			// Division by a power of ten gives decimal fractions their nearest numbers.
			step := s * math.Pow(10, power)
			if power < 0 {
				step = s / math.Pow(10, -power)
			}
			if step >= least*(1-1e-12) && yield(step) {
				return
			}
		}
	}
}

// axis returns the axis for values whose extremes are e; integers are whole numbers.
func (b Binning) axis(e extremes, integers bool) (*Axis, error) {
	low, high := b.Range.Low, b.Range.High
	switch {
	case b.Log:
		return b.logAxis(e)
	case b.Range.known():
		return NewAxis(b.countWithin(low, high, integers), low, high, false)
	}
	least, greatest := e.least, e.greatest
	switch { // of values that all lie beyond a known end, nothing is seen anyway
	case !math.IsNaN(low) && (e.none() || greatest <= low):
		high = low + max(1, math.Abs(low)*1e-6)
	case !math.IsNaN(high) && (e.none() || least >= high):
		low = high - max(1, math.Abs(high)*1e-6)
	case e.none():
		low, high = 0, 1
	}
	if low < high {
		return NewAxis(b.countWithin(low, high, integers), low, high, false)
	}
	integers = integers && math.Abs(least) < 1<<50 && math.Abs(greatest) < 1<<50 // bins around the numbers
	if least == greatest && !integers {
		half := max(0.5, math.Abs(least)*1e-6)
		least, greatest = least-half, greatest+half
	}
	if !math.IsNaN(low) {
		least = low
	}
	if !math.IsNaN(high) {
		greatest = high
	}
	return b.around(least, greatest, integers)
}

// around returns an axis with round edges that least and greatest lie within, except an end
// that is known, which is an edge.
func (b Binning) around(least, greatest float64, integers bool) (axis *Axis, err error) {
	n := cmp.Or(b.Bins, b.Most)
	span := greatest - least
	if math.IsInf(span, 0) {
		return nil, fmt.Errorf("the values from %g to %g need a narrower range", least, greatest)
	}
	narrowest, shift := span/float64(n), 0.0
	if integers {
		narrowest, shift = max(1, (span+1)/float64(n)), 0.5
	}
	stepsFrom(narrowest, steps, func(step float64) bool {
		if integers && step != math.Trunc(step) {
			return false
		}
		bins, low, high := b.Bins, b.Range.Low, b.Range.High
		if math.IsNaN(high) {
			if math.IsNaN(low) {
				low = math.Floor(least/step)*step - shift
			}
			if bins == 0 {
				bins = int((greatest-low)/step) + 1
			}
			high = low + float64(bins)*step
			if high <= greatest {
				return false
			}
		} else {
			if bins == 0 {
				bins = max(1, int(math.Ceil(span/step)))
			}
			low = high - float64(bins)*step
		}
		if bins > n || low > least {
			return false
		}
		axis, err = NewAxis(bins, low, high, false)
		return true
	})
	if axis == nil && err == nil {
		err = fmt.Errorf("the values from %g to %g need a range", least, greatest)
	}
	return axis, err
}

// countWithin returns the number of bins from low to high: the one that is wanted, or the largest
// for which the bins have a round width.
func (b Binning) countWithin(low, high float64, integers bool) (n int) {
	if b.Bins > 0 {
		return b.Bins
	}
	n = b.Most
	least := (high - low) / float64(n)
	if integers {
		least = max(1, least)
	}
	if !(least > 0) || math.IsInf(least, 0) {
		return n // NewAxis says what is wrong
	}
	stepsFrom(least, steps, func(step float64) bool {
		bins := (high - low) / step
		if whole := math.Round(bins); whole >= 1 && math.Abs(bins-whole) < 1e-9*whole &&
			(!integers || step == math.Trunc(step)) {
			n = int(whole)
			return true
		}
		return bins < float64(b.Most)/4
	})
	return n
}

// logAxis returns a logarithmic axis. Ends that are not known are one, two or five times a
// power of ten.
func (b Binning) logAxis(e extremes) (*Axis, error) {
	low, high := b.Range.Low, b.Range.High
	least, greatest := e.positive, e.greatest
	if math.IsInf(least, 0) { // there are none
		switch {
		case math.IsNaN(low) && math.IsNaN(high):
			low, high = 1, 10
		case math.IsNaN(high):
			high = 10 * low
		case math.IsNaN(low):
			low = high / 10
		}
	}
	ends := []float64{1, 2, 5, 10}
	power := func(x float64) float64 { return math.Pow(10, math.Floor(math.Log10(x))) }
	if math.IsNaN(low) {
		p := power(least)
		i := sort.SearchFloat64s(ends, least/p*(1+1e-12))
		low = ends[max(i-1, 0)] * p
	}
	if math.IsNaN(high) {
		greatest = max(greatest, low)
		p := power(greatest)
		i := sort.Search(len(ends), func(i int) bool { return ends[i]*p > greatest })
		high = ends[min(i, len(ends)-1)] * p
		if high <= greatest {
			high = 2 * greatest
		}
	}
	n := cmp.Or(b.Bins, b.Most)
	return NewAxis(n, low, high, true)
}

// extremes are the least and the greatest of some finite numbers, and the least of those
// that are positive.
type extremes struct{ least, greatest, positive float64 }

var nothing = extremes{math.Inf(1), math.Inf(-1), math.Inf(1)}

func (e extremes) none() bool { return e.least > e.greatest }

func (e *extremes) add(values []float64) {
	for _, x := range values {
		if math.Abs(x) > math.MaxFloat64 {
			continue
		}
		if x < e.least {
			e.least = x
		}
		if x > e.greatest {
			e.greatest = x
		}
		if x > 0 && x < e.positive {
			e.positive = x
		}
	}
}

func (e extremes) join(f extremes) extremes {
	return extremes{min(e.least, f.least), max(e.greatest, f.greatest), min(e.positive, f.positive)}
}
