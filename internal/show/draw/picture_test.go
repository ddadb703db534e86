package draw

import (
	"strings"
	"testing"
)

// filledWith returns a histogram of numbers.
func filledWith(t *testing.T, label string, n int, low, high float64, numbers ...float64) *Histogram {
	t.Helper()
	a, err := NewAxis(n, low, high, false)
	if err != nil {
		t.Fatal(err)
	}
	h := NewHistogram(a, nil, false)
	h.Label = label
	h.fill(values{x: numbers})
	h.X.Title = "x"
	return h
}

func inText(t *testing.T, p *Picture, term Terminal) string {
	t.Helper()
	var b strings.Builder
	if err := p.WriteText(&b, term); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	numbers := []float64{0.5, 1.5, 1.5, 1.5, 1.5, 2.5, 2.5, 3.5, -1, 9}
	a := filledWith(t, "a", 4, 0, 4, numbers...)
	b := filledWith(t, "b", 4, 0, 4, 0.5, 0.5, 3.5)
	b.X = a.X
	negative := filledWith(t, "n", 2, 0, 2)
	negative.fill(values{x: []float64{0.5, 1.5}, weight: []float64{2, -2}})
	words := NewHistogram(WordAxis([]string{"yes", "no"}), nil, false)
	words.X.Title = "s"
	words.fill(values{x: []float64{0, 0, 0, 0, 1}})
	squares := NewHistogram(a.X, filledWith(t, "", 3, 0, 3).X, false)
	squares.Y.Title = "y"
	squares.fill(values{x: []float64{0.5, 0.5, 1.5, 3.5}, y: []float64{0.5, 0.5, 1.5, 2.5}})
	profile := NewHistogram(a.X, nil, true)
	profile.fill(values{x: []float64{0.5, 0.5, 2.5}, y: []float64{1, 3, 4}})
	for _, c := range []struct {
		p    *Picture
		t    Terminal
		want string
	}{
		{&Picture{Histograms: []*Histogram{a}, YTitle: "entries"}, Terminal{Width: 40, Height: 7}, `
entries
4┤         █████████
 │         █████████
 │         █████████
2┤         █████████▄▄▄▄▄▄▄▄▄
 │         ██████████████████
 │▆▆▆▆▆▆▆▆▆██████████████████▆▆▆▆▆▆▆▆▆
 │████████████████████████████████████
0└┬─────────────────┬─────────────────┬
  0                 2                 4
                                      x
`},
		{&Picture{Histograms: []*Histogram{a}, YTitle: "entries"}, Terminal{Width: 40, Height: 4, ASCII: true}, `
entries
4+         #########
 |         #########
2+         ##################
 |####################################
0++-----------------+-----------------+
  0                 2                 4
                                      x
`},
		{&Picture{Histograms: []*Histogram{a, b}, YTitle: "entries", Log: true}, Terminal{Width: 40, Height: 9, Colour: true}, `
entries
   │        \x1b[34m████████\x1b[0m
   │        \x1b[34m████████\x1b[0m
   │        \x1b[34m████████\x1b[0m
  2┤\x1b[31moooooooo\x1b[34m████████████████\x1b[0m
   │        \x1b[34m████████████████\x1b[0m
   │        \x1b[34m████████████████\x1b[0m
  1┤\x1b[34m████████████████████████\x1b[31moooooooo\x1b[0m
   │\x1b[34m████████████████████████████████\x1b[0m
   │\x1b[34m████████████████████████████████\x1b[0m
0.5└┬───────────────┬───────────────┬
    0               2               4
                                    x
`},
		{&Picture{Histograms: []*Histogram{negative}, YTitle: "sum"}, Terminal{Width: 40, Height: 8}, `
sum
 2┤██████████████████
  │██████████████████
  │██████████████████
  │██████████████████
 0┤                  ██████████████████
  │                  ██████████████████
  │                  ██████████████████
  │                  ██████████████████
-2└┬─────────────────┬─────────────────┬
   0                 1                 2
                                       x
`},
		{&Picture{Histograms: []*Histogram{words}, YTitle: "entries"}, Terminal{Width: 40, Height: 4}, `
yes│████████████████████████████████ 4
 no│████████ 1
    entries by s
`},
		{&Picture{Histograms: []*Histogram{squares}, YTitle: "entries"}, Terminal{Width: 50, Height: 6}, `
y
 │                                 ▒▒▒▒▒▒▒▒▒▒▒
 │                                 ▒▒▒▒▒▒▒▒▒▒▒
2┤           ▒▒▒▒▒▒▒▒▒▒▒
 │           ▒▒▒▒▒▒▒▒▒▒▒
 │███████████
 │███████████
0└┬─────────────────────┬─────────────────────┬
  0                     2                     4
                                              x
entries:  · ≤ 0.4  ░ ≤ 0.8  ▒ ≤ 1.2  ▓ ≤ 1.6  █ ≤…
`},
		{&Picture{Histograms: []*Histogram{profile}, YTitle: "mean"}, Terminal{Width: 40, Height: 7}, `
mean
4┤                      •
 │
3┤
 │    │
 │    │
2┤    •
 │    │
 └┬─────────────────┬─────────────────┬
  0                 2                 4
                                      x
`},
	} {
		want := strings.ReplaceAll(strings.TrimPrefix(c.want, "\n"), `\x1b`, "\x1b")
		if got := inText(t, c.p, c.t); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}
