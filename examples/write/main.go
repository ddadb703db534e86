package main

import (
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
)

// An Event is an entry of the file. The tags give the fields their names and, where
// the Go type does not determine them, C++ types, precision and descriptions.
type Event struct {
	Run     uint32             `rntuple:"run"`
	Lumi    uint32             `rntuple:"lumi,desc=luminosity section"`
	Number  uint64             `rntuple:"event"`
	Trigger Trigger            `rntuple:"trigger"`
	Vertex  Vertex             `rntuple:"vertex"`
	Muons   []Muon             `rntuple:"muons"`
	Jets    []Jet              `rntuple:"jets"`
	MET     cpp.Double32       `rntuple:"met,desc=missing transverse momentum in GeV"`
	Weights map[string]float64 `rntuple:"weights"`
	ZMass   *float32           `rntuple:"z_mass,desc=generated mass in GeV, where there is a Z"` // std::optional<float>
}

// A Trigger says why an event was kept; each answer takes a bit. This struct and
// those below become untyped records, which need no class in C++; to name a class,
// write `rntuple:"trigger,class=Trigger"` above.
type Trigger struct {
	Muon   bool `rntuple:"muon,desc=a muon above 24 GeV"`
	Dimuon bool `rntuple:"dimuon,desc=two muons above 8 GeV"`
}

// A Vertex is where the protons met, in cm. X and Y are stored as 16-bit floats.
type Vertex struct {
	X float32 `rntuple:"x,encoding=Real16"`
	Y float32 `rntuple:"y,encoding=Real16"`
	Z float32 `rntuple:"z,desc=along the beam"`
}

// A Momentum takes 44 bits instead of 96: 16 for pt, in steps of less than 1 %,
// rounded down, and 14 for each angle, in steps of less than 0.001.
type Momentum struct {
	Pt  float32 `rntuple:"pt,trunc=16,desc=transverse momentum in GeV"`
	Eta float32 `rntuple:"eta,quant=14,min=-5,max=5"`
	Phi float32 `rntuple:"phi,quant=14,min=-3.1416,max=3.1416"`
}

// A Muon has the fields pt, eta, phi and charge.
type Muon struct {
	Momentum
	Charge int8 `rntuple:"charge"`
}

// A Jet has a list of its constituents: lists nest.
type Jet struct {
	Momentum
	Constituents []Momentum `rntuple:"constituents"`
}

// write makes the file, which appears once Close has succeeded.
func write(path string, events iter.Seq[Event]) error {
	w, err := rntuple.Create[Event](path, "Events", &rntuple.WriteOptions{Description: "simulated collisions"})
	if err != nil {
		return err
	}
	w.WriteAll(events) // errors are sticky: Close returns the first one
	return w.Close()
}

// A Dimuon is the part of an Event to read; no other column is touched.
type Dimuon struct {
	Muons     []Momentum         `rntuple:"muons"` // without the charge
	Weights   map[string]float64 `rntuple:"weights"`
	Generated *float32           `rntuple:"z_mass"`
}

// zMass returns the mean mass of the Z, as generated and as measured: that of the
// two muons in the file.
func zMass(path string) (generated, measured float64, err error) {
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	var sum float64
	for ev, err := range rntuple.Entries[Dimuon](r) {
		if err != nil {
			return 0, 0, err
		}
		if ev.Generated == nil {
			continue
		}
		weight, a, b := ev.Weights["scale_up"], ev.Muons[0], ev.Muons[1]
		sum += weight
		generated += weight * float64(*ev.Generated)
		measured += weight * math.Sqrt(float64(a.Pt*b.Pt)*opening(float64(a.Eta-b.Eta), float64(a.Phi-b.Phi)))
	}
	return generated / sum, measured / sum, nil
}

// opening returns m²/(pt₁·pt₂) of two light particles that are eta and phi apart.
func opening(eta, phi float64) float64 { return 2 * (math.Cosh(eta) - math.Cos(phi)) }

// run writes n events to the file at path, reads them, and prints a report to out.
func run(out io.Writer, path string, n int) error {
	start := time.Now()
	if err := write(path, collisions(n)); err != nil {
		return err
	}
	writing := time.Since(start)
	start = time.Now()
	generated, measured, err := zMass(path)
	if err != nil {
		return err
	}
	reading := time.Since(start)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	size := float64(info.Size())
	rate := func(d time.Duration) float64 { return float64(n) / 1e3 / d.Seconds() } // thousand events/s
	fmt.Fprintf(out, "%s: %d events, %.2f MB, %.0f bytes each\n", path, n, size/1e6, size/float64(n))
	fmt.Fprintf(out, "generated and written: %.2f s, %.0f thousand events/s\n", writing.Seconds(), rate(writing))
	fmt.Fprintf(out, "read, three fields:    %.2f s, %.0f thousand events/s\n", reading.Seconds(), rate(reading))
	fmt.Fprintf(out, "mean mass of the Z:    %.2f GeV generated, %.2f GeV from muons with 16 bits for pt\n", generated,
		measured)
	fmt.Fprintf(out, "go on with:            rnt schema %[1]s\n                       root -l %[1]s\n", path)
	return nil
}

func main() {
	n := flag.Int("n", 100_000, "write `EVENTS` events")
	path := flag.String("o", "events.root", "write them to `FILE`")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: write [-n EVENTS] [-o FILE]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *n < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *path, *n); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

// collisions yields n events, the same in every run.
func collisions(n int) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		g := generator{rand.New(rand.NewPCG(2026, 4))}
		for i := range n {
			if !yield(g.event(i)) {
				return
			}
		}
	}
}

type generator struct{ *rand.Rand }

// event generates an event with jets and, half of the time, a Z that decays to muons.
func (g generator) event(i int) Event {
	ev := Event{
		Run: 1, Lumi: uint32(1 + i/1000), Number: uint64(1 + i),
		Vertex:  Vertex{float32(g.normal(0, 0.001)), float32(g.normal(0, 0.001)), float32(g.normal(0, 3.5))},
		MET:     cpp.Double32(20 * g.ExpFloat64()),
		Weights: map[string]float64{"scale_down": g.normal(0.9, 0.02), "scale_up": g.normal(1.1, 0.02)},
	}
	for range g.IntN(4) {
		ev.Jets = append(ev.Jets, g.jet())
	}
	if g.IntN(2) == 0 {
		mass := float32(91.19 + 1.25*math.Tan(1.53*g.uniform(1))) // a resonance
		a, b := g.decay(float64(mass))
		ev.ZMass, ev.Muons = &mass, []Muon{{a, -1}, {b, +1}}
		ev.Trigger = Trigger{Muon: max(a.Pt, b.Pt) > 24, Dimuon: min(a.Pt, b.Pt) > 8}
	}
	return ev
}

// decay generates two particles, nearly back to back, with the given invariant mass.
func (g generator) decay(mass float64) (a, b Momentum) {
	etaA, etaB, phi, delta := g.uniform(2.4), g.uniform(2.4), g.uniform(math.Pi), g.normal(math.Pi, 0.3)
	ratio := math.Exp(g.normal(0, 0.2))
	pt := mass / math.Sqrt(ratio*opening(etaA-etaB, delta))
	return momentum(pt, etaA, phi), momentum(ratio*pt, etaB, phi+delta)
}

func (g generator) jet() Jet {
	pt, eta, phi := 20*math.Pow(1-g.Float64(), -0.25), g.uniform(4.5), g.uniform(math.Pi)
	jet := Jet{Momentum: momentum(pt, eta, phi)}
	for ; pt > 1; pt *= 0.6 {
		jet.Constituents = append(jet.Constituents, momentum(0.4*pt, g.normal(eta, 0.1), g.normal(phi, 0.1)))
	}
	return jet
}

// momentum returns a Momentum with angles in the ranges that the tags give.
func momentum(pt, eta, phi float64) Momentum {
	return Momentum{float32(pt), float32(max(-5, min(eta, 5))), float32(math.Remainder(phi, 2*math.Pi))}
}

func (g generator) normal(mean, sigma float64) float64 { return mean + sigma*g.NormFloat64() }
func (g generator) uniform(limit float64) float64      { return limit * (2*g.Float64() - 1) }
