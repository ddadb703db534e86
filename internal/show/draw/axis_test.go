package draw

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Ranges and numbers of bins as a person would choose them.
func TestAxis(t *testing.T) {
	auto := math.NaN()
	for _, c := range []struct {
		b                Binning
		least, greatest  float64
		integers         bool
		bins             int
		low, high, width float64 // of the first bin
	}{
		{Binning{Most: 100, Range: Auto}, 0.013, 0.98, false, 98, 0.01, 0.99, 0.01},
		{Binning{Most: 70, Range: Auto}, 2.9, 340, false, 69, 0, 345, 5},
		{Binning{Most: 70, Range: Auto}, -2.4, 2.399, false, 60, -2.4, 2.4, 0.08},
		{Binning{Bins: 10, Most: 70, Range: Auto}, 0, 99.9, false, 10, 0, 100, 10},
		{Binning{Bins: 10, Most: 70, Range: Auto}, 0, 100, false, 10, 0, 120, 12}, // 100 must not be above the range
		{Binning{Most: 70, Range: Auto}, 7, 7, false, 68, 6.495, 7.515, 0.015},
		{Binning{Most: 70, Range: Auto}, 0, 4, true, 5, -0.5, 4.5, 1},
		{Binning{Most: 70, Range: Auto}, 7, 7, true, 1, 6.5, 7.5, 1},
		{Binning{Most: 70, Range: Auto}, -100, 199, true, 60, -100.5, 199.5, 5},
		{Binning{Bins: 4, Most: 70, Range: Auto}, 0, 9, true, 4, -0.5, 11.5, 3},
		{Binning{Most: 70, Range: Range{0, 60}}, 0, 0, false, 60, 0, 60, 1},
		{Binning{Most: 100, Range: Range{0, 10}}, 0, 0, true, 10, 0, 10, 1},
		{Binning{Most: 100, Range: Range{0, math.Pi}}, 0, 0, false, 100, 0, math.Pi, math.Pi / 100},
		{Binning{Bins: 7, Most: 70, Range: Range{0, 60}}, 0, 0, false, 7, 0, 60, 60. / 7},
		{Binning{Most: 100, Range: Range{0, auto}}, -5, 49.9, false, 100, 0, 50, 0.5},
		{Binning{Most: 100, Range: Range{0.25, auto}}, 0, 49.9, false, 100, 0.25, 50.25, 0.5},
		{Binning{Bins: 5, Most: 100, Range: Range{auto, 10}}, 1, 70, false, 5, 0, 10, 2},
		{Binning{Most: 100, Range: Range{100, auto}}, 1, 70, false, 100, 100, 101, 0.01}, // all values are below
		{Binning{Most: 100, Range: Auto}, 1, 0, false, 100, 0, 1, 0.01},                  // there are no values
	} {
		e := extremes{c.least, c.greatest, 1}
		if c.least > c.greatest {
			e = nothing
		}
		a, err := c.b.axis(e, c.integers)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*max(1, math.Abs(b)) }
		if a.Bins() != c.bins || !near(a.Low(), c.low) || !near(a.High(), c.high) || !near(a.Edges[1]-a.Edges[0], c.width) {
			t.Errorf("%+v: %d bins from %g to %g of %g", c, a.Bins(), a.Low(), a.High(), a.Edges[1]-a.Edges[0])
		}
	}
	for _, c := range []struct {
		low, high       float64
		least, greatest float64
		from, to        float64
	}{
		{auto, auto, 3, 340, 2, 500},
		{auto, auto, 10, 100, 10, 200},
		{auto, auto, 0.011, 0.012, 0.01, 0.02},
		{1, auto, 3, 340, 1, 500},
		{auto, 1000, 3, 340, 2, 1000},
		{auto, auto, -3, -1, 1, 10},
	} {
		e := nothing
		e.add([]float64{c.least, c.greatest, -7, 0})
		a, err := Binning{Most: 10, Range: Range{c.low, c.high}, Log: true}.axis(e, false)
		if err != nil || a.Bins() != 10 || math.Abs(a.Low()/c.from-1) > 1e-12 || math.Abs(a.High()/c.to-1) > 1e-12 {
			t.Errorf("%+v: %v %v", c, a, err)
		}
	}
}

// Whatever the values are, the axis that is found has no more bins than it may and includes all
// of them; or there is an error.
func TestAxisHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	failed := 0
	const tries = 50000
	for range tries {
		random := func() float64 { return r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20)) }
		var values []float64
		center := random() * float64(r.IntN(2))
		for range 1 + r.IntN(3) {
			values = append(values, center+random())
		}
		integers := r.IntN(3) == 0
		for i := range values {
			if integers {
				values[i] = math.Trunc(values[i])
			}
		}
		e := nothing
		e.add(values)
		b := Binning{Most: 2 + r.IntN(200), Range: Auto, Log: r.IntN(4) == 0}
		if r.IntN(2) == 0 {
			b.Bins = 1 + r.IntN(200)
		}
		end := values[0]
		if r.IntN(2) == 0 {
			end = random()
		}
		switch r.IntN(4) {
		case 0:
			b.Range.Low = end
		case 1:
			b.Range.High = end
		}
		if b.Log && end <= 0 {
			b.Range = Auto
		}
		a, err := b.axis(e, integers)
		if err != nil {
			failed++
			continue
		}
		if b.Bins > 0 && a.Bins() > b.Bins || b.Bins == 0 && a.Bins() > b.Most {
			t.Fatalf("%+v %v: %d bins", b, values, a.Bins())
		}
		if !math.IsNaN(b.Range.Low) && a.Low() != b.Range.Low || !math.IsNaN(b.Range.High) && a.High() != b.Range.High {
			t.Fatalf("%+v %v: from %g to %g", b, values, a.Low(), a.High())
		}
		for _, v := range values {
			i := a.bin(v)
			if b.Log && v <= 0 || v < b.Range.Low || v >= b.Range.High {
				continue
			}
			if i < 1 || i > a.Bins() {
				t.Fatalf("%+v %v: %g is in bin %d of %d from %g to %g", b, values, v, i, a.Bins(), a.Low(), a.High())
			}
		}
	}
	if failed > tries/20 {
		t.Errorf("%d of %d have no axis", failed, tries)
	}
}

// The bin of a number is the one between whose edges it lies, up to a rounding error where ROOT
// makes one.
func TestBin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 2000 {
		log := r.IntN(2) == 0
		low := r.Float64()*10 + 0.001
		a, err := NewAxis(1+r.IntN(50), low, low+r.Float64()*100+0.1, log)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			x := low - 1 + r.Float64()*105
			if r.IntN(3) == 0 {
				x = a.Edges[r.IntN(len(a.Edges))]
			}
			want := 0
			for want < len(a.Edges) && x >= a.Edges[want] {
				want++
			}
			got := a.bin(x)
			nearEdge := false
			for _, e := range a.Edges {
				nearEdge = nearEdge || math.Abs(x-e) < 1e-12*a.width
			}
			if got != want && (log || !nearEdge || got != want-1 && got != want+1) {
				t.Fatalf("%g is in bin %d of %v, want %d", x, got, a.Edges, want)
			}
		}
		for x, want := range map[float64]int{math.Inf(-1): 0, math.Inf(1): a.Bins() + 1, a.High(): a.Bins() + 1,
			math.Nextafter(a.High(), 0): a.Bins(), a.Low(): 1} {
			if got := a.bin(x); got != want {
				t.Fatalf("%g is in bin %d of %v, want %d", x, got, a.Edges, want)
			}
		}
		if a.bin(math.NaN()) != -1 {
			t.Fatal("NaN is in a bin")
		}
	}
	for _, c := range []struct {
		n         int
		low, high float64
		log       bool
	}{{10, 1, 1, false}, {10, 2, 1, false}, {10, math.NaN(), 1, false}, {10, -math.MaxFloat64, math.MaxFloat64, false},
		{10, 0, 1, true}, {1000, 1, 1 + 1e-15, false}} {
		if a, err := NewAxis(c.n, c.low, c.high, c.log); err == nil {
			t.Errorf("%+v: %v", c, a.Edges)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		log       bool
		want      string
	}{
		{0, 10, false, "0 2 4 6 8 10"},
		{0, 60, false, "0 10 20 30 40 50 60"},
		{-0.3, 0.31, false, "-0.3 -0.2 -0.1 0 0.1 0.2 0.3"},
		{0, 4e7, false, "0 1e7 2e7 3e7 4e7"},
		{1.5e6, 1.52e6, false, "1.5e6 1.505e6 1.51e6 1.515e6 1.52e6"},
		{0, 3e-6, false, "0 5e-7 1e-6 1.5e-6 2e-6 2.5e-6 3e-6"},
		{1, 1000, true, "1 3 10 30 100 300 1000"},
		{1, 90, true, "1 2 5 10 20 50"},
		{0.5, 2e6, true, "1 10 100 1000 10000 100000 1e6"},
		{1e-12, 1e12, true, "1e-12 1e-8 1e-4 1 10000 1e8 1e12"},
		{2.1, 2.4, true, "2.10 2.15 2.20 2.25 2.30 2.35 2.40"},
	} {
		got := ""
		for _, tick := range Ticks(c.low, c.high, c.log, 7) {
			if tick.Label != "" {
				got += " " + tick.Label
			}
		}
		if got != " "+c.want {
			t.Errorf("%g to %g:%s, want %s", c.low, c.high, got, c.want)
		}
	}
	for v, want := range map[float64]string{0: "0", 12.3456789: "12.346", 123456: "123456", 1e6: "1e6",
		-1234567: "-1.2346e6", 0.001: "0.001", 0.00012345: "1.2345e-4", 100: "100"} {
		if got := Number(v, 5); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
