package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// filledWith returns a histogram of numbers.
func filledWith(t *testing.T, label string, n int, low, high float64, numbers ...float64) *Histogram {
	t.Helper()
	a, err := newAxis(n, low, high, false)
	if err != nil {
		t.Fatal(err)
	}
	h := newHistogram(a, nil, false)
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
	words := newHistogram(wordAxis([]string{"yes", "no"}), nil, false)
	words.X.Title = "s"
	words.fill(values{x: []float64{0, 0, 0, 0, 1}})
	squares := newHistogram(a.X, filledWith(t, "", 3, 0, 3).X, false)
	squares.Y.Title = "y"
	squares.fill(values{x: []float64{0.5, 0.5, 1.5, 3.5}, y: []float64{0.5, 0.5, 1.5, 2.5}})
	profile := newHistogram(a.X, nil, true)
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

// Whatever is drawn, at whatever size: no line is too wide, nothing panics, and the plots are what
// they should be.
func TestPictures(t *testing.T) {
	var pictures []*Picture
	add := func(all ...*Histogram) {
		for _, log := range []bool{false, true} {
			p := &Picture{Histograms: all, YTitle: "entries", Log: log, Heads: []string{"ENTRIES", ""}}
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
		add(filledWith(t, "ramp", n, 0, 100, ramp...))
		add(filledWith(t, "empty", n, 0, 100))
		add(filledWith(t, "infinite", n, 1e9, 1e9+1, math.Inf(1), math.Inf(-1), math.NaN()))
		h := filledWith(t, "weights", n, -1, 1)
		h.fill(values{x: []float64{-0.5, 0.5, 0}, weight: []float64{-1e-9, 1e12, 3}})
		add(h, h, h, h, h, h, h, h)
		for _, log := range []bool{false, true} {
			x, _ := newAxis(n, 1, 100, log)
			y, _ := newAxis(max(1, n/3), 0.1, 1, log)
			x.Title, y.Title = strings.Repeat("a long title ", 20), "y"
			h := newHistogram(x, y, false)
			add(h)
			h = newHistogram(x, y, false)
			h.fill(values{x: ramp, y: ramp})
			add(h)
			h = newHistogram(x, nil, true)
			h.fill(values{x: ramp, y: ramp})
			h.fill(values{x: ramp[:500], y: ramp[500:]})
			add(h, newHistogram(x, nil, true))
		}
	}
	words := newHistogram(wordAxis([]string{"", "a", strings.Repeat("ö", 100)}), nil, false)
	add(words)
	words = newHistogram(words.X, nil, false)
	words.fill(values{x: []float64{0, 1, 1, 2}})
	add(words, words)
	truth := wordAxis([]string{"false", "true"})
	h := newHistogram(truth, truth, false)
	h.fill(values{x: []float64{0, 1}, y: []float64{0, 1}})
	add(h)
	for i, p := range pictures {
		for _, term := range []Terminal{{Width: 80, Height: 18}, {Width: 10, Height: 1}, {Width: 237, Height: 40, ASCII: true}} {
			lines := strings.Split(inText(t, p, term), "\n")
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > max(term.Width, 20) {
					t.Errorf("picture %d, %+v: %d characters in %q", i, term, n, line)
				}
				if term.ASCII && !strings.Contains(line, "ö") && strings.Trim(line, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
					t.Errorf("picture %d: %q is not ASCII", i, line)
				}
			}
			if len(lines) > 2*term.Height+10 {
				t.Errorf("picture %d, %+v: %d lines", i, term, len(lines))
			}
		}
		formats := Formats
		if i%24 > 0 || testing.Short() {
			formats = Formats[1:2] // the others take their time
		}
		for _, format := range formats {
			var b bytes.Buffer
			if err := p.WritePlot(&b, format); err != nil {
				t.Fatal(err)
			}
			checkPlot(t, b.Bytes(), format)
		}
	}
	if err := pictures[0].WritePlot(io.Discard, "gif"); err == nil {
		t.Error("GIF")
	}
}

func checkPlot(t *testing.T, b []byte, format string) {
	t.Helper()
	switch format {
	case "png":
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil || img.Bounds().Dx() != 1600 {
			t.Fatalf("%v, %v", img, err)
		}
	case "svg":
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
			t.Error("a coordinate is not a number")
		}
	case "pdf":
		if !bytes.HasPrefix(b, []byte("%PDF-")) {
			t.Errorf("%.20q", b)
		}
	}
}
