package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"go-hep.org/x/hep/hbook"
)

// printSpectrum prints the counts, the histogram, and the speed at which the file at path
// was read and analysed.
func printSpectrum(w io.Writer, path string, s *Spectrum, took time.Duration) {
	fmt.Fprintf(w, "%s\n\n", path)
	fmt.Fprintf(w, "  %-29s%8d\n", "entries", s.Entries)
	fmt.Fprintf(w, "  %-29s%8d\n", "muons", s.Muons)
	fmt.Fprintf(w, "  %-29s%8d\n", "events with two muons", s.Pairs)
	fmt.Fprintf(w, "  %-29s%8d\n\n", "… of opposite sign", s.OppositeSign)
	for i, res := range resonances {
		fmt.Fprintf(w, "  … %-3s %6.2f ≤ m < %6.2f GeV%8d\n", res.Name, res.Low, res.High, s.Counts[i])
	}
	fmt.Fprintln(w)
	printHistogram(w, s.Mass)

	seconds := took.Seconds()
	fmt.Fprintf(w, "\nread and analysed in %.3g s: %.3g entries/s", seconds, float64(s.Entries)/seconds)
	if info, err := os.Stat(path); err == nil {
		fmt.Fprintf(w, ", %.3g MB/s of file size", float64(info.Size())/1e6/seconds)
	}
	fmt.Fprintln(w)
}

// printHistogram draws a histogram with equal bins on a logarithmic axis as 80
// columns of text. The axis of the counts is logarithmic, too, and starts at ½,
// so that a single pair is visible.
func printHistogram(w io.Writer, h *hbook.H1D) {
	const width, height = 75, 16

	counts := make([]float64, width)
	for i := range h.Len() {
		counts[i*width/h.Len()] += h.Value(i)
	}
	top := max(10, slices.Max(counts))
	row := func(count float64) float64 { // in rows above the axis
		return height * math.Log(2*max(0.5, count)) / math.Log(2*top)
	}
	column := func(mass float64) int {
		return int(width * math.Log(mass/h.XMin()) / math.Log(h.XMax()/h.XMin()))
	}

	blocks := []rune(" ▁▂▃▄▅▆▇█")
	canvas := make([][]rune, height+2) // from the bottom; room for names at the top
	for y := range canvas {
		canvas[y] = make([]rune, width)
		for x, count := range counts {
			eighths := math.Round(8 * (row(count) - float64(y)))
			canvas[y][x] = blocks[int(min(max(0, eighths), 8))]
		}
	}
	for _, res := range resonances {
		name := []rune(res.Name)
		x := column(res.Mass) - (len(name)-1)/2
		y := 0 // the lowest row where the name and the column before it are free
		for y+1 < len(canvas) && strings.Trim(string(canvas[y][x-1:x+len(name)]), " ") != "" {
			y++
		}
		copy(canvas[y][x:], name)
	}

	powers := make([]string, len(canvas))
	for count, label := range countTicks {
		if count <= top {
			powers[int(row(count))] = label
		}
	}
	fmt.Fprintln(w, "pairs")
	for y, line := range slices.Backward(canvas) {
		tick := "│"
		if powers[y] != "" {
			tick = "┤"
		}
		fmt.Fprintf(w, "%4s%s%s\n", powers[y], tick, strings.TrimRight(string(line), " "))
	}

	axis := []rune(strings.Repeat("─", width))
	labels := []rune(strings.Repeat(" ", width))
	for mass, label := range massTicks {
		x := column(mass)
		axis[x] = '┴'
		copy(labels[x-len(label)/2:], []rune(label))
	}
	fmt.Fprintf(w, "    └%s\n     %s\n", string(axis), strings.TrimRight(string(labels), " "))
	fmt.Fprintf(w, "%80s\n", "m(μμ) [GeV]")
}
