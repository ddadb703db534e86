package draw

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// An event has fields of every depth, of which some are as long as others.
type event struct {
	I  int32       `rntuple:"i"`
	F  float64     `rntuple:"f"`
	B  bool        `rntuple:"b"`
	S  string      `rntuple:"s"`
	O  *float64    `rntuple:"o"`
	V  []float64   `rntuple:"v"`
	W  []int64     `rntuple:"w"` // as long as v
	M  []bool      `rntuple:"m"` // as long as v
	VV [][]float64 `rntuple:"vv"`
	WW [][]float64 `rntuple:"ww"` // as long as vv
	VO []*float64  `rntuple:"vo"` // as long as v
	U  []float64   `rntuple:"u"`  // as long as v, but in one entry
	OV *[]float64  `rntuple:"ov"`
	SS []string    `rntuple:"ss"`
}

const (
	numEvents = 3000
	unequal   = 1234 // the entry in which u is too long
)

func randomEvents() []event {
	r := rand.New(rand.NewPCG(3, 3))
	maybe := func() *float64 {
		if r.IntN(3) == 0 {
			return nil
		}
		v := r.NormFloat64()
		return &v
	}
	all := make([]event, numEvents)
	for i := range all {
		e := event{I: r.Int32N(10), F: r.NormFloat64() * 3, B: r.IntN(2) == 0, S: strings.Repeat("x", r.IntN(4)), O: maybe()}
		if r.IntN(50) == 0 {
			e.F = math.NaN()
		}
		for range r.IntN(5) {
			e.V, e.W, e.M = append(e.V, r.NormFloat64()), append(e.W, r.Int64N(5)), append(e.M, r.IntN(2) == 0)
			e.VO, e.U, e.SS = append(e.VO, maybe()), append(e.U, r.Float64()), append(e.SS, strings.Repeat("y", r.IntN(3)))
			var inner, more []float64
			for range r.IntN(4) {
				inner, more = append(inner, r.NormFloat64()), append(more, r.Float64())
			}
			e.VV, e.WW = append(e.VV, inner), append(e.WW, more)
		}
		if r.IntN(3) > 0 {
			ov := e.V
			e.OV = &ov
		}
		all[i] = e
	}
	all[unequal].U = append(all[unequal].U, 1)
	return all
}

func written(t *testing.T, events []event) (*rntuple.Reader, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.root")
	w, err := rntuple.Create[event](path, "n", &rntuple.WriteOptions{ClusterSize: 20000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		w.Write(&events[i])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if c, err := r.Clusters(); err != nil || len(c) < 5 && len(events) > 1000 {
		t.Fatalf("%d clusters, %v", len(c), err)
	}
	return r, path
}

// newPlan returns a plan for curves, each x, y, weight and condition, of which those at the end
// may be left out.
func newPlan(t *testing.T, s rntuple.Source, curves ...[]string) *Plan {
	t.Helper()
	p := &Plan{X: Binning{Most: 40, Range: Auto}, Y: Binning{Most: 40, Range: Auto}}
	var exprs []*expression.Expression
	for _, texts := range curves {
		n := [4]int{-1, -1, -1, -1}
		for i, text := range texts {
			if text == "" {
				continue
			}
			e, err := expression.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			n[i] = len(exprs)
			exprs, p.Names = append(exprs, e), append(p.Names, text)
		}
		p.Curves = append(p.Curves, Curve{texts[0], n[0], n[1], n[2], n[3]})
	}
	var err error
	if p.Program, err = expression.Compile(s, exprs...); err != nil {
		t.Fatal(err)
	}
	return p
}

// A filled value is what is filled for a row.
type filled struct{ x, y, w float64 }

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Values of every depth are filled as loops over the entries find them.
func TestFill(t *testing.T) {
	events := randomEvents()
	r, _ := written(t, events)
	for _, c := range []struct {
		curve []string
		each  func(e *event, add func(x, y, w float64), missing func())
	}{
		{[]string{"f"}, func(e *event, add func(x, y, w float64), _ func()) { add(e.F, 0, 1) }},
		{[]string{"i"}, func(e *event, add func(x, y, w float64), _ func()) { add(float64(e.I), 0, 1) }},
		{[]string{"b"}, func(e *event, add func(x, y, w float64), _ func()) { add(number(e.B), 0, 1) }},
		{[]string{"f", "", "i", "b"}, func(e *event, add func(x, y, w float64), _ func()) {
			if e.B {
				add(e.F, 0, float64(e.I))
			}
		}},
		{[]string{"o", "", "", "i > 3"}, func(e *event, add func(x, y, w float64), missing func()) {
			if e.I > 3 && e.O == nil {
				missing()
			} else if e.I > 3 {
				add(*e.O, 0, 1)
			}
		}},
		{[]string{"v"}, func(e *event, add func(x, y, w float64), _ func()) {
			for _, x := range e.V {
				add(x, 0, 1)
			}
		}},
		{[]string{"v", "w", "f", "m"}, func(e *event, add func(x, y, w float64), _ func()) {
			for k, x := range e.V {
				if e.M[k] {
					add(x, float64(e.W[k]), e.F)
				}
			}
		}},
		{[]string{"i", "v", "", "b"}, func(e *event, add func(x, y, w float64), _ func()) {
			for _, y := range e.V {
				if e.B {
					add(float64(e.I), y, 1)
				}
			}
		}},
		{[]string{"vv", "ww", "v", "m"}, func(e *event, add func(x, y, w float64), _ func()) {
			for i, inner := range e.VV {
				for k, x := range inner {
					if e.M[i] {
						add(x, e.WW[i][k], e.V[i])
					}
				}
			}
		}},
		{[]string{"f", "vv", "", "i == 2"}, func(e *event, add func(x, y, w float64), _ func()) {
			for _, inner := range e.VV {
				for _, y := range inner {
					if e.I == 2 {
						add(e.F, y, 1)
					}
				}
			}
		}},
		{[]string{"v", "", "o"}, func(e *event, add func(x, y, w float64), missing func()) {
			if e.O == nil {
				missing()
				return
			}
			for _, x := range e.V {
				add(x, 0, *e.O)
			}
		}},
		{[]string{"f", "", "", "o > 0"}, func(e *event, add func(x, y, w float64), _ func()) {
			if e.O != nil && *e.O > 0 {
				add(e.F, 0, 1)
			}
		}},
	} {
		p := newPlan(t, r, c.curve)
		if err := p.Check(); err != nil {
			t.Errorf("%q: %v", c.curve, err)
			continue
		}
		var want []filled
		entries, nan, missing := int64(0), int64(0), int64(0)
		for i := range events {
			c.each(&events[i], func(x, y, w float64) {
				if math.IsNaN(x) || math.IsNaN(y) || math.IsNaN(w) {
					nan++
					return
				}
				entries++
				want = append(want, filled{x, y, w})
			}, func() { missing++ })
		}
		for _, profile := range []bool{false, true} {
			if profile && p.Curves[0].Y < 0 {
				continue
			}
			p.Profile = profile
			for _, ranges := range []Range{Auto, {-1, 1.5}} {
				p.X.Range, p.Y.Range = ranges, ranges
				all, err := p.Fill(r)
				if err != nil {
					t.Errorf("%q: %v", c.curve, err)
					continue
				}
				h := all[0]
				if h.Entries != entries || h.NaN != nan || h.Missing != missing {
					t.Errorf("%q: %d entries, %d NaN, %d missing; want %d, %d, %d", c.curve, h.Entries, h.NaN,
						h.Missing, entries, nan, missing)
				}
				checkFilled(t, h, want, c.curve)
			}
		}
	}
}

// checkFilled compares a histogram with the values that were filled.
func checkFilled(t *testing.T, h *Histogram, want []filled, what any) {
	t.Helper()
	g := NewHistogram(h.X, h.Y, h.Profile)
	var n, w, x, xx, y, yy float64
	for _, v := range want {
		i, j := h.X.bin(v.x), 0
		if h.Y != nil {
			j = h.Y.bin(v.y)
		}
		b := g.At(i, j)
		b.N++
		b.W += v.w
		b.W2 += v.w * v.w
		if h.Profile {
			b.WY += v.w * v.y
			b.WY2 += v.w * v.y * v.y
		}
		if i >= 1 && i <= h.X.Bins() && (h.Y == nil || j >= 1 && j <= h.Y.Bins()) {
			n++
			w, x, xx, y, yy = w+v.w, x+v.w*v.x, xx+v.w*v.x*v.x, y+v.w*v.y, yy+v.w*v.y*v.y
		}
	}
	near := func(a, b float64) bool {
		return math.Abs(a-b) < 1e-7*(1+math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
	}
	for i := range h.Bins {
		a, b := h.Bins[i], g.Bins[i]
		if a.N != b.N || !near(a.W, b.W) || !near(a.W2, b.W2) || !near(a.WY, b.WY) || !near(a.WY2, b.WY2) {
			t.Fatalf("%q: bin %d has %+v, want %+v", what, i, a, b)
		}
	}
	if math.Abs(w) < 1 {
		return // of weights of both signs, the mean may be anything
	}
	if !near(h.Inside(), w) || !near(h.MeanX(), x/w) || !near(h.StdDevX(), math.Sqrt(max(0, xx/w-x/w*x/w))) {
		t.Errorf("%q: mean %g, deviation %g of %g", what, h.MeanX(), h.StdDevX(), h.Inside())
	}
	if (h.Y != nil || h.Profile) && (!near(h.MeanY(), y/w) || !near(h.StdDevY(), math.Sqrt(max(0, yy/w-y/w*y/w)))) {
		t.Errorf("%q: mean of y %g, deviation %g", what, h.MeanY(), h.StdDevY())
	}
	if h.Y != nil {
		if inside, outside := h.Sums(); !near(inside, w) || !near(inside+outside, sumOf(want)) {
			t.Errorf("%q: %g inside, %g outside", what, inside, outside)
		}
	}
}

func sumOf(all []filled) (w float64) {
	for _, v := range all {
		w += v.w
	}
	return w
}

// The bits of all sums are independent of the number of goroutines, and of whether the values are
// kept or read twice. Progress rises to the number of entries.
func TestSameBits(t *testing.T) {
	r, path := written(t, randomEvents())
	p := newPlan(t, r, []string{"vv", "", "ww"}, []string{"f", "", "i"})
	defer func(n int64) { maxKept = n }(maxKept)
	var first []*Histogram
	for _, maxKept = range []int64{1 << 24, 100} {
		for _, workers := range []int{1, 3} {
			r, err := rntuple.Open(path, "n", &rntuple.ReadOptions{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			last := int64(0)
			p.Progress = func(done, total int64) { last = done }
			all, err := p.Fill(r)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = all
			}
			if !reflect.DeepEqual(all, first) {
				t.Errorf("%d workers, %d numbers kept: other sums", workers, maxKept)
			}
			if last != numEvents {
				t.Errorf("progress ends at %d", last)
			}
		}
	}
}

// Strings are counted; there are bins for the most frequent ones.
func TestWords(t *testing.T) {
	events := randomEvents()
	r, _ := written(t, events)
	sums, total := map[string]float64{}, int64(0)
	for _, e := range events {
		for k, s := range e.SS {
			if e.M[k] {
				sums[s] += float64(e.W[k])
				total++
			}
		}
	}
	p := newPlan(t, r, []string{"ss", "", "w", "m"}, []string{"s"})
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for bins, want := range map[int]int{0: 4, 2: 2} { // "", y, yy and xxx
		p.X.Bins = bins
		all, err := p.Fill(r)
		if err != nil {
			t.Fatal(err)
		}
		h := all[0]
		if bins == 0 {
			want = h.X.Bins()
		}
		if len(h.X.Words) != want || h.X.Bins() != want || h.Entries != total || all[1].Entries != numEvents {
			t.Errorf("%d words, %d bins, %d and %d entries", len(h.X.Words), h.X.Bins(), h.Entries, all[1].Entries)
		}
		others := 0.0
		for s, w := range sums {
			found := false
			for i, word := range h.X.Words {
				if word == s {
					found = true
					if got := h.Point(i + 1).Value; got != w {
						t.Errorf("%q: %g, want %g", s, got, w)
					}
				}
			}
			if !found {
				others += w
			}
		}
		if got := h.At(h.X.Bins()+1, 0).W; got != others {
			t.Errorf("%g others, want %g", got, others)
		}
	}
}

func TestFillErrors(t *testing.T) {
	r, _ := written(t, randomEvents())
	for _, c := range []struct {
		curve []string
		want  string
	}{
		{[]string{"v", "u"}, "entry 1234: v has "},
		{[]string{"v", "", "", "f"}, "f is float, not a condition"},
		{[]string{"s", "f"}, "s is string, not numbers"},
		{[]string{"f", "", "s"}, "s is string, not numbers"},
	} {
		p := newPlan(t, r, c.curve)
		err := p.Check()
		if err == nil {
			_, err = p.Fill(r)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.curve, err, c.want)
		}
	}
	p := newPlan(t, r, []string{"f", "f"})
	p.X.Bins, p.Y.Bins = 2000, 2000
	if _, err := p.Fill(r); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Error(err)
	}
}

// Numbers that are all far from zero have the right deviation.
func TestDeviation(t *testing.T) {
	a, err := NewAxis(10, 1.6e9, 1.6e9+100, false)
	if err != nil {
		t.Fatal(err)
	}
	h := NewHistogram(a, nil, false)
	for i := range 100 {
		h.fill(values{x: []float64{1.6e9 + float64(i)}})
	}
	if want := math.Sqrt((100*100 - 1) / 12.); math.Abs(h.StdDevX()-want) > 1e-9 || h.MeanX() != 1.6e9+49.5 {
		t.Errorf("mean %g, deviation %g, want %g", h.MeanX(), h.StdDevX(), want)
	}
}

func BenchmarkFill(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	v := values{x: make([]float64, 8192)}
	for i := range v.x {
		v.x[i] = r.NormFloat64()
	}
	for _, log := range []bool{false, true} {
		a, _ := NewAxis(100, 0.1, 2, log)
		h := NewHistogram(a, nil, false)
		b.Run(map[bool]string{false: "equal", true: "log"}[log], func(b *testing.B) {
			for b.Loop() {
				h.fill(v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v.x)), "ns/value")
		})
	}
}
