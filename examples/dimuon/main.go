package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"go-hep.org/x/hep/hbook"
)

// An Event is the part of an entry that is read: values for each of its muons. Only
// the columns named here are read from the file.
type Event struct {
	Charge []int32   `rntuple:"Muon_charge"`
	Pt     []float64 `rntuple:"Muon_pt"` // in GeV, like all energies; float32 in the file
	Eta    []float64 `rntuple:"Muon_eta"`
	Phi    []float64 `rntuple:"Muon_phi"`
	Mass   []float64 `rntuple:"Muon_mass"`
}

// A Resonance is a particle that decays to two muons, with the window of masses in
// which pairs are counted, from Low up to but not including High.
type Resonance struct {
	Name            string
	Mass, Low, High float64
}

var resonances = []Resonance{
	{"ρ/ω", 0.78, 0.72, 0.84},
	{"φ", 1.02, 0.98, 1.06},
	{"J/ψ", 3.10, 2.9, 3.3},
	{"ψ′", 3.69, 3.6, 3.8},
	{"ϒ", 9.46, 9.0, 10.6},
	{"Z", 91.19, 80, 100},
}

// A Spectrum is the result of the analysis.
type Spectrum struct {
	Entries, Muons, Pairs, OppositeSign int

	Mass   *hbook.H1D // of the pairs of opposite sign
	Counts []int      // numbers of pairs in the windows of the resonances
}

// newSpectrum returns an empty spectrum, with a histogram of 300 bins of equal
// width on a logarithmic axis.
func newSpectrum() *Spectrum {
	const bins, low, high = 300, 0.25, 300
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = low * math.Pow(high/low, float64(i)/bins)
	}
	edges[bins] = high
	return &Spectrum{Mass: hbook.NewH1DFromEdges(edges), Counts: make([]int, len(resonances))}
}

// analyse selects the events with exactly two muons, of opposite sign.
func analyse(r *rntuple.Reader) (*Spectrum, error) {
	s := newSpectrum()
	for ev, err := range rntuple.Entries[Event](r) {
		if err != nil {
			return nil, err
		}
		s.Entries++
		s.Muons += len(ev.Charge)
		if len(ev.Charge) != 2 {
			continue
		}
		s.Pairs++
		if ev.Charge[0] == ev.Charge[1] {
			continue
		}
		s.OppositeSign++

		mass := pairMass(ev)
		s.Mass.Fill(mass, 1)
		for i, res := range resonances {
			if res.Low <= mass && mass < res.High {
				s.Counts[i]++
			}
		}
	}
	return s, nil
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

// run analyses the file at path, prints the result to w and plots it.
func run(w io.Writer, path, plot string) error {
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		return err
	}
	defer r.Close()

	start := time.Now()
	s, err := analyse(r)
	if err != nil {
		return err
	}
	printSpectrum(w, path, s, time.Since(start))
	if err := savePlot(plot, s.Mass); err != nil {
		return err
	}
	fmt.Fprintf(w, "plot: %s\n", plot)
	return nil
}

// findSample returns the path of the sample, which is looked for in this folder and
// those above.
func findSample() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, "testdata", "dimuon.root")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no testdata/dimuon.root here or above; run in the checkout of go-rntuple, or name a FILE")
		}
		dir = filepath.Dir(dir)
	}
}

func main() {
	plot := flag.String("o", "dimuon.png", "write the plot to `PLOT`")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: dimuon [-o PLOT] [FILE]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}

	path, err := flag.Arg(0), error(nil)
	if path == "" {
		path, err = findSample()
	}
	if err == nil {
		err = run(os.Stdout, path, *plot)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dimuon:", err)
		os.Exit(1)
	}
}
