package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beamlog.LogLevel = "error"
	beam.Init()
	os.Exit(m.Run())
}

// A reference holds uproot's results, as for the program of the library.
type reference struct {
	Entries, Muons, Pairs int64
	OppositeSign          int64 `json:"opposite_sign"`
	Histogram             struct {
		Bins                int
		Low, High           float64
		Underflow, Overflow int64
		Counts              []float64
	}
}

// TestBinsEqualUproot cuts files into many. The bins are those of uproot, which are those of
// examples/dimuon.
func TestBinsEqualUproot(t *testing.T) {
	const data = "../../../../examples/dimuon/testdata/"
	runner := "prism"
	if flink := os.Getenv("RNTBEAM_FLINK"); flink != "" { // see package rntbeam
		runner, *jobopts.Endpoint, *jobopts.EnvironmentType = "universal", flink, "LOOPBACK"
	}
	for _, test := range []struct {
		file, reference string
		parts           int
	}{
		{"../../../../testdata/dimuon.root", data + "dimuon.json", 1},
		{"../../../../testdata/dimuon.root", data + "dimuon.json", 23},
		{"../../../../../shared/testdata/root/Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root",
			data + "Run2012BC_DoubleMuParked_Muons_1000evts.json", 7},
	} {
		t.Run(fmt.Sprint(filepath.Base(test.file), test.parts), func(t *testing.T) {
			if _, err := os.Stat(test.file); errors.Is(err, fs.ErrNotExist) && test.parts == 7 {
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
			dir := t.TempDir()
			size := surgery.PartSize{Entries: (want.Entries + int64(test.parts) - 1) / int64(test.parts)}
			parts, err := surgery.Split(t.Context(), filepath.Join(dir, "part-%03d.root"),
				surgery.Input{Path: test.file, Name: "Events"}, size, nil)
			if err != nil || len(parts) != test.parts {
				t.Fatalf("%d parts, %v", len(parts), err)
			}
			out := filepath.Join(dir, "spectrum.json")
			if test.parts == 1 { // nothing is written but to a temporary file
				out = ""
				t.Chdir(dir)
			}
			got, err := run(t.Context(), runner, out, []string{filepath.Join(dir, "part-*.root")})
			if err != nil {
				t.Fatal(err)
			}
			if names, err := os.ReadDir(dir); err != nil || out == "" && len(names) != test.parts {
				t.Errorf("the folder holds %v, %v", names, err)
			}
			compare(t, got, &want)
		})
	}
}

func compare(t *testing.T, got Spectrum, want *reference) {
	t.Helper()
	if g, w := [4]int64{got.Entries, got.Muons, got.Pairs, got.OppositeSign},
		[4]int64{want.Entries, want.Muons, want.Pairs, want.OppositeSign}; g != w {
		t.Errorf("entries, muons, pairs, opposite sign: got %v, uproot has %v", g, w)
	}
	w := want.Histogram
	if w.Bins != bins || len(w.Counts) != bins || w.Low != low || w.High != high {
		t.Fatalf("uproot has %d bins in %g … %g", w.Bins, w.Low, w.High)
	}
	for i, count := range w.Counts {
		if float64(got.Counts[i]) != count {
			t.Errorf("bin %d: got %d, uproot has %g", i, got.Counts[i], count)
		}
	}
	if got.Underflow != w.Underflow || got.Overflow != w.Overflow {
		t.Errorf("%d below and %d above, uproot has %d and %d", got.Underflow, got.Overflow, w.Underflow, w.Overflow)
	}
}
