package main

import (
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A reference holds uproot's results, which testdata/gen/dimuon_reference.py
// writes.
type reference struct {
	Entries, Muons, Pairs int
	OppositeSign          int `json:"opposite_sign"`
	Windows               map[string]struct {
		Low, High float64
		Count     int
	}
	Histogram struct {
		Bins                int
		Low, High           float64
		Underflow, Overflow int64
		Counts              []float64
	}
}

func TestCountsEqualUproot(t *testing.T) {
	for _, test := range []struct{ file, reference string }{
		{
			"../../testdata/dimuon.root",
			"testdata/dimuon.json",
		}, {
			"../../../shared/testdata/root/Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root",
			"testdata/Run2012BC_DoubleMuParked_Muons_1000evts.json",
		},
	} {
		t.Run(filepath.Base(test.file), func(t *testing.T) {
			if _, err := os.Stat(test.file); errors.Is(err, fs.ErrNotExist) && strings.Contains(test.file, "/shared/") {
				t.Skip("there is no ", test.file)
			}
			text, err := os.ReadFile(test.reference)
			if err != nil {
				t.Fatal(err)
			}
			var want reference
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			r, err := rntuple.Open(test.file, "Events", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := analyse(r)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, &want)
		})
	}
}

func compare(t *testing.T, got *Spectrum, want *reference) {
	t.Helper()
	counts := func(s *Spectrum) [4]int { return [4]int{s.Entries, s.Muons, s.Pairs, s.OppositeSign} }
	if g, w := counts(got), [4]int{want.Entries, want.Muons, want.Pairs, want.OppositeSign}; g != w {
		t.Errorf("entries, muons, pairs, opposite sign: got %v, uproot has %v", g, w)
	}

	checked := 0
	keys := map[string]string{"J/ψ": "jpsi", "ϒ": "upsilon", "Z": "z"}
	for i, res := range resonances {
		w, ok := want.Windows[keys[res.Name]]
		if !ok {
			continue
		}
		checked++
		if res.Low != w.Low || res.High != w.High || got.Counts[i] != w.Count {
			t.Errorf("%v: got %d, uproot has %v", res, got.Counts[i], w)
		}
	}
	if checked != len(want.Windows) {
		t.Errorf("compared %d windows of %d", checked, len(want.Windows))
	}

	h, w := got.Mass, want.Histogram
	if h.Len() != w.Bins || len(w.Counts) != w.Bins || h.XMin() != w.Low || h.XMax() != w.High {
		t.Fatalf("histogram of %d bins in %g … %g, uproot has %d in %g … %g",
			h.Len(), h.XMin(), h.XMax(), w.Bins, w.Low, w.High)
	}
	for i, count := range w.Counts {
		if h.Value(i) != count {
			t.Errorf("bin %d: got %g, uproot has %g", i, h.Value(i), count)
		}
		edge := w.Low * math.Pow(w.High/w.Low, float64(i)/float64(w.Bins))
		if x := h.Binning.Bins[i].XMin(); math.Abs(x/edge-1) > 1e-12 {
			t.Errorf("bin %d starts at %g, uproot's at %g", i, x, edge)
		}
	}
	under, over := h.Binning.Underflow().Entries(), h.Binning.Overflow().Entries()
	if under != w.Underflow || over != w.Overflow {
		t.Errorf("%d below and %d above, uproot has %d and %d", under, over, w.Underflow, w.Overflow)
	}
}

func TestRun(t *testing.T) {
	path, err := findSample()
	if err != nil {
		t.Fatal(err)
	}
	plot := filepath.Join(t.TempDir(), "dimuon.png")
	var out strings.Builder
	if err := run(&out, path, plot); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && !strings.Contains(line, path) &&
			!strings.Contains(line, plot) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	// The names of the files may contain any letter.
	text := strings.NewReplacer(path, "FILE", plot, "PLOT").Replace(out.String())
	for _, res := range resonances {
		if n := strings.Count(text, res.Name); n != 2 {
			t.Errorf("%s is printed %d times, want it in the table and the histogram", res.Name, n)
		}
	}

	f, err := os.Open(plot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 1600 || size.Y != 1000 {
		t.Errorf("the plot has %v pixels", size)
	}
}

// Without any pair there is nothing to show, but no error either.
func TestEmpty(t *testing.T) {
	h := newSpectrum().Mass
	printHistogram(io.Discard, h)
	if err := savePlot(filepath.Join(t.TempDir(), "empty.png"), h); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "dimuon.png")
	other := filepath.Join(t.TempDir(), "other.root")
	if err := os.WriteFile(other, []byte("not a ROOT file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"missing.root", other, "."} {
		err := run(io.Discard, path, plot)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error of one line", path, err)
		}
	}
	t.Chdir(t.TempDir())
	if path, err := findSample(); err == nil {
		t.Errorf("found %s outside of the repository", path)
	}
}
