package plot

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/go-rntuple/go-rntuple/internal/show/draw"
)

// TestBins looks for the bins of two axes where the axes say that they are, in the picture of each
// format.
func TestBins(t *testing.T) {
	// The scale from 0 to 9 has the colours of viridis, exactly.
	contents := [2][3]float64{{9, 1, 0}, {2, 7, 4}} // by y and x
	for _, log := range []bool{false, true} {
		x, err := draw.NewAxis(3, 1, 1000, log)
		if err != nil {
			t.Fatal(err)
		}
		y, err := draw.NewAxis(2, 1, 100, log)
		if err != nil {
			t.Fatal(err)
		}
		h := draw.NewHistogram(x, y, false)
		for j, row := range contents {
			for i, w := range row {
				h.At(i+1, j+1).W = w
			}
		}
		p := &draw.Picture{Histograms: []*draw.Histogram{h}}
		area := newFigure(vgdraw.New(vgsvg.New(plotWidth, plotHeight)), p).area
		for format, painted := range map[string]func(*testing.T, []byte) func(vg.Point) color.Color{"png": paintedPNG,
			"svg": paintedSVG, "pdf": paintedPDF} {
			var b bytes.Buffer
			if err := Write(&b, p, format); err != nil {
				t.Fatal(err)
			}
			at := painted(t, b.Bytes())
			for j, row := range contents {
				for i, w := range row {
					want := viridis[int(w)]
					if w == 0 {
						want = color.NRGBA{0xff, 0xff, 0xff, 0xff}
					}
					// Near the corners of the bin, clear of lines and ticks.
					for _, corner := range []vg.Point{{X: 0.1, Y: 0.1}, {X: 0.9, Y: 0.1}, {X: 0.1, Y: 0.9}, {X: 0.9, Y: 0.9}} {
						place := vg.Point{
							X: area.Min.X + (vg.Length(i)+corner.X)/3*area.Size().X,
							Y: area.Min.Y + (vg.Length(j)+corner.Y)/2*area.Size().Y,
						}
						if got := color.NRGBAModel.Convert(at(place)); got != want {
							t.Errorf("%s, log %v: bin %d, %d is %v at %v, not %v", format, log, i+1, j+1, got, place, want)
						}
					}
				}
			}
		}
	}
}

// The functions painted… return the colour of each place of a picture, in points from the lower
// left corner.

func paintedPNG(t *testing.T, b []byte) func(vg.Point) color.Color {
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return func(p vg.Point) color.Color {
		return img.At(int(p.X.Dots(plotDPI)), int((plotHeight - p.Y).Dots(plotDPI)))
	}
}

var svgFill = regexp.MustCompile(`<path d="M([^"A-Z]+(?:L[^"A-Z]+)+)Z" style="fill:#(\w{6})" />`)

func paintedSVG(t *testing.T, b []byte) func(vg.Point) color.Color {
	// The one transformation around all paths makes y rise.
	ground := fmt.Sprintf(`<g transform="scale(1, -1) translate(0, -%.5g)">`, plotHeight.Points())
	if !bytes.Contains(b, []byte(ground)) || bytes.Contains(b, []byte("<image")) {
		t.Fatalf("%.400s", b)
	}
	var all polygons
	for _, m := range svgFill.FindAllSubmatch(b, -1) {
		rgb, err := strconv.ParseUint(string(m[2]), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		p := polygon{colour: color.NRGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), 0xff}}
		for pair := range strings.SplitSeq(string(m[1]), "L") {
			x, y, _ := strings.Cut(pair, ",")
			p.points = append(p.points, vg.Point{X: vg.Length(number(t, x)), Y: vg.Length(number(t, y))})
		}
		all = append(all, p)
	}
	return all.at
}

// paintedPDF reads the first stream, which is the contents of the page.
func paintedPDF(t *testing.T, b []byte) func(vg.Point) color.Color {
	_, deflated, _ := bytes.Cut(b, []byte("stream\n"))
	r, err := zlib.NewReader(bytes.NewReader(deflated))
	if err != nil {
		t.Fatal(err)
	}
	var all polygons
	var p polygon
	move := func(y float64) float64 { return y } // x is not moved outside of q and Q
	depth := 0
	for lines := bufio.NewScanner(r); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		n := func(i int) float64 { return number(t, words[i]) }
		switch words[len(words)-1] {
		case "q":
			depth++
		case "Q":
			depth--
		case "cm":
			if depth > 1 {
				continue // of a text
			}
			if words[0] != "1.00000" || n(1) != 0 || n(2) != 0 || n(4) != 0 {
				t.Fatal(lines.Text())
			}
			before, scale, shift := move, n(3), n(5)
			move = func(y float64) float64 { return before(scale*y + shift) }
		case "g":
			grey := uint8(math.Round(255 * n(0)))
			p.colour = color.NRGBA{grey, grey, grey, 0xff}
		case "rg":
			p.colour = color.NRGBA{uint8(math.Round(255 * n(0))), uint8(math.Round(255 * n(1))),
				uint8(math.Round(255 * n(2))), 0xff}
		case "m", "l":
			p.points = append(p.points, vg.Point{X: vg.Length(n(0)), Y: vg.Length(move(n(1)))})
		case "f":
			all = append(all, p)
			p.points = nil
		case "S":
			p.points = nil
		case "Do":
			t.Fatal("an image")
		}
	}
	return all.at
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// polygons are painted one over the other.
type polygons []polygon

type polygon struct {
	colour color.NRGBA
	points []vg.Point
}

// at returns the colour of the last polygon that a place is in.
func (all polygons) at(p vg.Point) color.Color {
	for _, a := range slices.Backward(all) {
		inside, b := false, a.points[len(a.points)-1]
		for _, c := range a.points {
			if (b.Y > p.Y) != (c.Y > p.Y) && p.X < b.X+(p.Y-b.Y)/(c.Y-b.Y)*(c.X-b.X) {
				inside = !inside
			}
			b = c
		}
		if inside {
			return a.colour
		}
	}
	return nil
}
