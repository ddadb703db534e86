package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
)

// stored rounds a momentum to what its columns can hold, and sets got to the result
// if its angles are within half a step of it.
func stored(m, got *Momentum) {
	m.Pt = math.Float32frombits(math.Float32bits(m.Pt) &^ 0xffff)
	const steps, rounding = 1<<14 - 1, 1e-6
	if math.Abs(float64(m.Eta-got.Eta)) <= 10.0/steps/2+rounding {
		got.Eta = m.Eta
	}
	if math.Abs(float64(m.Phi-got.Phi)) <= 6.2832/steps/2+rounding {
		got.Phi = m.Phi
	}
}

// storedEvent applies stored to everything of low precision.
func storedEvent(ev, got *Event) {
	for i := range min(len(ev.Muons), len(got.Muons)) {
		stored(&ev.Muons[i].Momentum, &got.Muons[i].Momentum)
	}
	for i := range min(len(ev.Jets), len(got.Jets)) {
		a, b := &ev.Jets[i], &got.Jets[i]
		stored(&a.Momentum, &b.Momentum)
		for j := range min(len(a.Constituents), len(b.Constituents)) {
			stored(&a.Constituents[j], &b.Constituents[j])
		}
	}
	ev.MET = cpp.Double32(float32(ev.MET))
	for _, x := range []struct{ ev, got *float32 }{{&ev.Vertex.X, &got.Vertex.X}, {&ev.Vertex.Y, &got.Vertex.Y}} {
		const step = 0x1p-11 // relative; absolute where numbers are subnormal
		if d := math.Abs(float64(*x.ev - *x.got)); d <= max(step*math.Abs(float64(*x.ev)), 0x1p-25) {
			*x.got = *x.ev
		}
	}
}

// show prints an event with everything that it points to.
func show(ev *Event) string {
	mass := "none"
	if ev.ZMass != nil {
		mass = fmt.Sprint(*ev.ZMass)
	}
	c := *ev
	c.ZMass = nil
	return fmt.Sprintf("%+v Z mass %s", c, mass)
}

func TestValues(t *testing.T) {
	const n = 2500
	path := filepath.Join(t.TempDir(), "events.root")
	if err := write(path, collisions(n)); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumEntries() != n {
		t.Fatalf("%d entries, want %d", r.NumEntries(), n)
	}
	v, err := rntuple.ViewOf[Event](r, "")
	if err != nil {
		t.Fatal(err)
	}
	var i, muons, jets int64
	for ev := range collisions(n) {
		got, err := v.At(i)
		if err != nil {
			t.Fatal(err)
		}
		muons, jets = muons+int64(len(ev.Muons)), jets+int64(len(ev.Jets))
		storedEvent(&ev, &got)
		if g, w := show(&got), show(&ev); g != w {
			t.Fatalf("entry %d:\n got %s\nwant %s", i, g, w)
		}
		i++
	}
	if muons < n/2 || jets < n || muons%2 != 0 {
		t.Errorf("%d muons and %d jets are not what we want to show", muons, jets)
	}

	charge, err := rntuple.ViewOf[[]int8](r, "muons.charge")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range charge.All() {
		if len(c) != 0 && (len(c) != 2 || c[0] != -1 || c[1] != +1) {
			t.Fatalf("entry %d: charges %v", i, c)
		}
	}
	if err := charge.Err(); err != nil {
		t.Fatal(err)
	}
}

// The tags do what the comments say.
func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.root")
	if err := write(path, collisions(1)); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := r.Schema()
	if s.Description != "simulated collisions" || len(s.Fields) != 10 || len(s.Hidden) > 0 {
		t.Errorf("description %q, %d fields, %d hidden", s.Description, len(s.Fields), len(s.Hidden))
	}
	for _, want := range []struct {
		path, typ, column, description string
	}{
		{"run", "std::uint32_t", "SplitUInt32 32 bits [0, 0]", ""},
		{"lumi", "std::uint32_t", "SplitUInt32 32 bits [0, 0]", "luminosity section"},
		{"event", "std::uint64_t", "SplitUInt64 64 bits [0, 0]", ""},
		{"trigger", "", "", ""},
		{"trigger.muon", "bool", "Bit 1 bits [0, 0]", "a muon above 24 GeV"},
		{"vertex.x", "float", "Real16 16 bits [0, 0]", ""},
		{"vertex.z", "float", "SplitReal32 32 bits [0, 0]", "along the beam"},
		{"muons", "", "SplitIndex64 64 bits [0, 0]", ""},
		{"muons.pt", "float", "Real32Trunc 16 bits [0, 0]", "transverse momentum in GeV"},
		{"muons.eta", "float", "Real32Quant 14 bits [-5, 5]", ""},
		{"muons.phi", "float", "Real32Quant 14 bits [-3.1416, 3.1416]", ""},
		{"muons.charge", "std::int8_t", "Int8 8 bits [0, 0]", ""},
		{"jets.constituents", "", "SplitIndex64 64 bits [0, 0]", ""},
		{"jets.constituents.pt", "float", "Real32Trunc 16 bits [0, 0]", "transverse momentum in GeV"},
		{"met", "double", "SplitReal32 32 bits [0, 0]", "missing transverse momentum in GeV"},
		{"weights", "std::map<std::string,double>", "SplitIndex64 64 bits [0, 0]", ""},
		{"z_mass", "std::optional<float>", "SplitIndex64 64 bits [0, 0]", "generated mass in GeV, where there is a Z"},
	} {
		chain, err := s.Lookup(want.path)
		if err != nil {
			t.Error(err)
			continue
		}
		f, column := chain[len(chain)-1], ""
		if len(f.Columns) > 0 {
			c := f.Columns[0][0]
			column = fmt.Sprintf("%v %d bits [%.5g, %.5g]", c.Type, c.Bits, c.Min, c.Max)
		}
		if f.TypeName != want.typ || column != want.column || f.Description != want.description {
			t.Errorf("%s: type %q, column %q, description %q, want %+v", want.path, f.TypeName, column, f.Description, want)
		}
	}
	if chain, err := s.Lookup("met"); err == nil && chain[0].TypeAlias != "Double32_t" {
		t.Errorf("met has the alias %q", chain[0].TypeAlias)
	}
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.root")
	for _, n := range []int{1, 3000} { // the second time the file exists
		var out strings.Builder
		if err := run(&out, path, n); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{fmt.Sprintf("%d events", n), "bytes each", "rnt schema " + path, "root -l " + path} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "NaN") {
			t.Error(out.String())
		}
	}
	generated, measured, err := zMass(path)
	if err != nil {
		t.Fatal(err)
	}
	// Truncating pt takes 1/512 to 1/256 from it, by its place in the binade.
	if loss := 1 - measured/generated; math.Abs(generated-91.2) > 0.5 || loss < 1./512 || loss > 1./256 {
		t.Errorf("mean mass %g generated, %g measured", generated, measured)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "missing", "events.root"), dir} {
		err := run(io.Discard, path, 1)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error of one line", path, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
