package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism" // and universal

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"

	// Files at URLs.
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	_ "github.com/go-rntuple/go-rntuple/remote/s3"
	_ "github.com/go-rntuple/go-rntuple/remote/xrootd"
)

// An Event is the part of an entry that is read.
type Event struct {
	Charge []int32   `rntuple:"Muon_charge"`
	Pt     []float64 `rntuple:"Muon_pt"` // in GeV, like all energies; float32 in the file
	Eta    []float64 `rntuple:"Muon_eta"`
	Phi    []float64 `rntuple:"Muon_phi"`
	Mass   []float64 `rntuple:"Muon_mass"`
}

// A Spectrum counts events, and the pairs of opposite sign in bins of equal width on a logarithmic
// axis.
type Spectrum struct {
	Entries, Muons, Pairs, OppositeSign int64

	Underflow, Overflow int64
	Counts              []int64 // of the bins
}

func init() {
	rntbeam.Register[Event]()
	beam.RegisterType(reflect.TypeFor[Spectrum]())
	beam.RegisterDoFn(reflect.TypeFor[spectrumFn]())
	beam.RegisterDoFn(reflect.TypeFor[writeFn]())
}

// spectrum adds to a pipeline what makes the spectrum of some files.
func spectrum(s beam.Scope, patterns ...string) beam.PCollection {
	events := rntbeam.ReadAll[Event](s, beam.CreateList(s, patterns), &rntbeam.ReadOptions{Name: "Events"})
	return beam.Combine(s, &spectrumFn{}, events)
}

// A spectrumFn adds events to spectra.
type spectrumFn struct{}

func (f *spectrumFn) CreateAccumulator() Spectrum { return Spectrum{Counts: make([]int64, bins)} }

func (f *spectrumFn) AddInput(s Spectrum, ev Event) Spectrum {
	s.Entries++
	s.Muons += int64(len(ev.Charge))
	if len(ev.Charge) != 2 {
		return s
	}
	s.Pairs++
	if ev.Charge[0] == ev.Charge[1] {
		return s
	}
	s.OppositeSign++
	switch bin := binOf(pairMass(&ev)); {
	case bin < 0:
		s.Underflow++
	case bin >= bins:
		s.Overflow++
	default:
		s.Counts[bin]++
	}
	return s
}

func (f *spectrumFn) MergeAccumulators(a, b Spectrum) Spectrum {
	a.Entries += b.Entries
	a.Muons += b.Muons
	a.Pairs += b.Pairs
	a.OppositeSign += b.OppositeSign
	a.Underflow += b.Underflow
	a.Overflow += b.Overflow
	for i, n := range b.Counts {
		a.Counts[i] += n
	}
	return a
}

const (
	bins      = 300
	low, high = 0.25, 300
)

// edges are where the bins begin, and the end of the last.
var edges = func() []float64 {
	all := make([]float64, bins+1)
	for i := range all {
		all[i] = low * math.Pow(high/low, float64(i)/bins)
	}
	all[bins] = high
	return all
}()

// binOf returns the bin of a mass, -1 below the first one.
func binOf(mass float64) int {
	i, found := slices.BinarySearch(edges, mass)
	if !found {
		i--
	}
	return i
}

// pairMass returns the invariant mass of the two muons of an event,
// M² = (E₁+E₂)² − (p₁+p₂)².
func pairMass(ev *Event) float64 {
	var e, px, py, pz float64
	for i := range 2 {
		pt, eta, phi, m := ev.Pt[i], ev.Eta[i], ev.Phi[i], ev.Mass[i]
		p := pt * math.Cosh(eta)
		e += math.Sqrt(p*p + m*m)
		px += pt * math.Cos(phi)
		py += pt * math.Sin(phi)
		pz += pt * math.Sinh(eta)
	}
	return math.Sqrt(max(0, e*e-px*px-py*py-pz*pz))
}

// A writeFn writes a spectrum as JSON. A worker may try that again, so the file appears whole.
type writeFn struct{ Path string }

func (f *writeFn) ProcessElement(s Spectrum) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	to, err := os.CreateTemp(filepath.Dir(f.Path), filepath.Base(f.Path)+"-*")
	if err != nil {
		return err
	}
	if _, err := to.Write(text); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	return os.Rename(to.Name(), f.Path)
}

// run runs the pipeline, which writes the file out, or a temporary file if that is empty.
func run(ctx context.Context, runner, out string, patterns []string) (s Spectrum, err error) {
	if out == "" {
		folder, err := os.MkdirTemp("", "dimuon-")
		if err != nil {
			return s, err
		}
		defer os.RemoveAll(folder)
		out = filepath.Join(folder, "spectrum.json")
	}
	path, err := filepath.Abs(out)
	if err != nil {
		return s, err
	}
	p, scope := beam.NewPipelineWithRoot()
	beam.ParDo0(scope, &writeFn{path}, spectrum(scope, patterns...))
	if _, err := beam.Run(ctx, runner, p); err != nil {
		return s, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// show prints the counts, and the largest bins.
func show(w io.Writer, s Spectrum) {
	fmt.Fprintf(w, "entries               %9d\nmuons                 %9d\nevents with two muons %9d\n… of opposite sign    %9d\n", s.Entries, s.Muons, s.Pairs, s.OppositeSign)
	order := make([]int, bins)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(s.Counts[b] - s.Counts[a]) })
	fmt.Fprintln(w, "\nthe most pairs have masses of, in GeV:")
	for _, i := range order[:8] {
		fmt.Fprintf(w, "  %7.2f … %7.2f %9d\n", edges[i], edges[i+1], s.Counts[i])
	}
}

func main() {
	out := flag.String("o", "", "write the bins to `SPECTRUM.json`")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: dimuon [-o SPECTRUM.json] FILE|PATTERN|URL...")
		flag.PrintDefaults()
	}
	flag.Parse()
	beamlog.LogLevel = "warn"
	beam.Init() // in a worker, this does not return
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	runner := *runners.Runner
	if runner == "" {
		runner = "prism"
	}
	s, err := run(context.Background(), runner, *out, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "dimuon:", rntbeam.Cause(err))
		os.Exit(1)
	}
	show(os.Stdout, s)
}
