package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A drawJob is a histogram that rnt draw and ROOT's RDataFrame fill: the arguments of rnt draw, and
// the same in C++; see testdata/gen/draw.py.
type drawJob struct {
	args []string

	X      string       `json:"x"`
	Y      string       `json:"y"`
	Weight string       `json:"weight"`
	Where  string       `json:"where"`
	Kind   string       `json:"kind"`
	Bins   []int        `json:"bins"`
	Range  [][2]float64 `json:"range"`
	Edges  []float64    `json:"edges,omitempty"`
}

var drawJobs = []drawJob{
	{args: []string{"Muon_pt", "--bins", "60", "--range", "0:30"}, X: "Muon_pt", Bins: []int{60},
		Range: [][2]float64{{0, 30}}},
	{args: []string{"nMuon", "--bins", "5", "--range", "1:4"}, X: "nMuon", Bins: []int{5}, Range: [][2]float64{{1, 4}}},
	{args: []string{"Muon_charge", "--bins", "3", "--range=-1.5:1.5", "--where", "nMuon == 3"}, X: "Muon_charge",
		Where: "nMuon == 3", Bins: []int{3}, Range: [][2]float64{{-1.5, 1.5}}},
	{args: []string{"Muon_pt", "--where", "nMuon == 2", "--weight", "Muon_eta", "--bins", "77", "--range", "2.5:47"},
		X: "Muon_pt", Weight: "Muon_eta", Where: "nMuon == 2", Bins: []int{77}, Range: [][2]float64{{2.5, 47}}},
	{args: []string{"Muon_pt", "--weight", "nMuon", "--bins", "40", "--range", "4:12"}, X: "Muon_pt", Weight: "nMuon",
		Bins: []int{40}, Range: [][2]float64{{4, 12}}},
	{args: []string{"Muon_pt", "--where", "Muon_eta > 0.5", "--bins", "50", "--range", "0:100"},
		X: "Muon_pt[Muon_eta > 0.5]", Bins: []int{50}, Range: [][2]float64{{0, 100}}},
	{args: []string{"Muon_pt", "--where", "abs(Muon_eta) < 1 and Muon_charge > 0", "--weight", "Muon_phi", "--bins",
		"50", "--range", "0:100"},
		X: "Muon_pt[abs(Muon_eta) < 1 && Muon_charge > 0]", Weight: "Muon_phi[abs(Muon_eta) < 1 && Muon_charge > 0]",
		Bins: []int{50}, Range: [][2]float64{{0, 100}}},
	{args: []string{"Muon_pt[0] - Muon_pt[1]", "--where", "nMuon > 1", "--bins", "80", "--range=-20:20"},
		X: "double(Muon_pt[0]) - double(Muon_pt[1])", Where: "nMuon > 1", Bins: []int{80}, Range: [][2]float64{{-20, 20}}},
	// missing elsewhere
	{args: []string{"Muon_pt[2]", "--bins", "30", "--range", "0:15"}, X: "Muon_pt[2]", Where: "nMuon > 2", Bins: []int{30},
		Range: [][2]float64{{0, 15}}},
	{args: []string{"max(Muon_pt)", "--where", "any(Muon_eta, abs(#) > 2)", "--bins", "64", "--range", "3:67"},
		X: "Max(Muon_pt)", Where: "Any(abs(Muon_eta) > 2)", Bins: []int{64}, Range: [][2]float64{{3, 67}}},
	{args: []string{"mass(Muon_pt, Muon_eta, Muon_phi, Muon_mass)", "--where", "nMuon == 2 and sum(Muon_charge) == 0",
		"--bins", "120", "--range", "2:5"},
		X: "ROOT::VecOps::InvariantMass(ROOT::RVecD(Muon_pt), ROOT::RVecD(Muon_eta), ROOT::RVecD(Muon_phi), ROOT::RVecD(Muon_mass))", Where: "nMuon == 2 && Sum(Muon_charge) == 0",
		Bins: []int{120}, Range: [][2]float64{{2, 5}}},
	{args: []string{"Muon_pt", "--log", "x", "--bins", "30", "--range", "1:1000"}, X: "Muon_pt"},
	{args: []string{"Muon_pt:Muon_eta", "--bins", "24,20", "--range=-2:2,5:45"}, X: "Muon_eta", Y: "Muon_pt",
		Kind: "Histo2D", Bins: []int{24, 20}, Range: [][2]float64{{-2, 2}, {5, 45}}},
	{args: []string{"Muon_pt:nMuon", "--weight", "Muon_eta", "--bins", "4,20", "--range", "1:5,5:45"},
		X: "ROOT::RVec<double>(Muon_pt.size(), nMuon)", Y: "Muon_pt", Weight: "Muon_eta", Kind: "Histo2D", Bins: []int{4, 20},
		Range: [][2]float64{{1, 5}, {5, 45}}},
	{args: []string{"Muon_pt[0]:Muon_pt[1]", "--where", "nMuon == 2", "--bins", "10", "--range", "0:50,0:50"},
		X: "Muon_pt[1]", Y: "Muon_pt[0]", Where: "nMuon == 2", Kind: "Histo2D", Bins: []int{10, 10},
		Range: [][2]float64{{0, 50}, {0, 50}}},
	{args: []string{"Muon_pt:Muon_eta", "--profile", "--bins", "40", "--range=-2:2"}, X: "Muon_eta", Y: "Muon_pt",
		Kind: "Profile1D", Bins: []int{40}, Range: [][2]float64{{-2, 2}}},
	{args: []string{"Muon_pt:Muon_eta", "--profile", "--weight", "abs(Muon_phi)", "--where", "nMuon == 3",
		"--bins", "40", "--range=-2:2"},
		X: "Muon_eta", Y: "Muon_pt", Weight: "abs(Muon_phi)", Where: "nMuon == 3", Kind: "Profile1D", Bins: []int{40},
		Range: [][2]float64{{-2, 2}}},
	{args: []string{"run", "--bins", "50", "--range", "190000:200000"}, X: "run", Bins: []int{50},
		Range: [][2]float64{{190000, 200000}}},
}

// drawnByROOT is what testdata/gen/draw.py prints.
type drawnByROOT struct {
	Entries  float64
	Mean     [2]float64
	StdDev   [2]float64 `json:"std_dev"`
	Contents []float64
	Squares  []float64
	Errors   []float64
	Weights  []float64
}

// drawnByUs is what rnt draw --json prints.
type drawnByUs struct {
	X          struct{ Edges []float64 }
	Histograms []struct {
		Entries             float64
		Mean                float64
		StdDev              float64 `json:"std_dev"`
		MeanY               float64 `json:"mean_y"`
		StdDevY             float64 `json:"std_dev_y"`
		Underflow, Overflow float64
		Flow                [3][3]float64
		Contents            []float64
		SumW2               []float64
		Means, Errors       []*float64
		Contents2           [][]float64 `json:"contents2d"`
		SumW22              [][]float64 `json:"sumw2_2d"`
	}
}

// TestDraw compares histograms with those of ROOT, bin by bin.
func TestDraw(t *testing.T) {
	needed(t)
	const sample = "../../testdata/dimuon.root"
	rnt := filepath.Join(t.TempDir(), "rnt")
	if out, err := exec.Command("go", "build", "-o", rnt, "../../cmd/rnt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ours := make([]drawnByUs, len(drawJobs))
	jobs := slices.Clone(drawJobs)
	for i := range jobs {
		j := &jobs[i]
		out, err := exec.Command(rnt, slices.Concat([]string{"draw", sample, "--json"}, j.args)...).Output()
		if err == nil {
			err = json.Unmarshal(out, &ours[i])
		}
		if err != nil || len(ours[i].Histograms) != 1 {
			t.Fatalf("%q: %v\n%s", j.args, err, out)
		}
		if j.Kind == "" {
			j.Kind = "Histo1D"
		}
		if j.Bins == nil {
			j.Edges = ours[i].X.Edges
		}
	}
	plan := filepath.Join(t.TempDir(), "plan.json")
	b, err := json.Marshal(map[string]any{"file": sample, "name": "Events", "jobs": jobs})
	if err == nil {
		err = os.WriteFile(plan, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(script(t, "draw.py", plan)), []byte("\n"))
	if len(lines) != len(jobs) {
		t.Fatalf("ROOT fills %d histograms of %d", len(lines), len(jobs))
	}
	for i, line := range lines {
		var want drawnByROOT
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { compareDrawn(t, &jobs[i], &ours[i], &want) })
	}
}

func compareDrawn(t *testing.T, j *drawJob, us *drawnByUs, root *drawnByROOT) {
	h := &us.Histograms[0]
	// ROOT adds weights and squares in another order than several goroutines do.
	same := func(what string, got, want float64) {
		t.Helper()
		if got != want && math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("%q: %s is %v, ROOT has %v", j.args, what, got, want)
		}
	}
	same("entries", h.Entries, root.Entries)
	same("mean", h.Mean, root.Mean[0])
	same("standard deviation", h.StdDev, root.StdDev[0])
	if j.Kind == "Histo2D" {
		same("mean of y", h.MeanY, root.Mean[1])
		same("standard deviation of y", h.StdDevY, root.StdDev[1])
		nx, ny := j.Bins[0], j.Bins[1]
		var flow [3][3]float64
		part := func(i, n int) int { return min(i, 1) + max(0, i-n) }
		for x := range nx + 2 {
			for y := range ny + 2 {
				cell := x + y*(nx+2)
				flow[part(x, nx)][part(y, ny)] += root.Contents[cell]
				if part(x, nx) == 1 && part(y, ny) == 1 {
					same(fmt.Sprintf("bin %d, %d", x, y), h.Contents2[x-1][y-1], root.Contents[cell])
					same(fmt.Sprintf("sum of squares of bin %d, %d", x, y), h.SumW22[x-1][y-1], root.Squares[cell])
				}
			}
		}
		for x := range flow {
			for y := range flow[x] {
				same(fmt.Sprintf("flow %d, %d", x, y), h.Flow[x][y], flow[x][y])
			}
		}
		return
	}
	n := len(root.Contents) - 2
	if len(h.Contents) != n || len(us.X.Edges) != n+1 {
		t.Fatalf("%q: %d bins, ROOT has %d", j.args, len(h.Contents), n)
	}
	weights := root.Contents
	if j.Kind == "Profile1D" {
		weights = root.Weights
		same("mean of y", h.MeanY, root.Mean[1])
		same("standard deviation of y", h.StdDevY, root.StdDev[1])
	}
	same("underflow", h.Underflow, weights[0])
	same("overflow", h.Overflow, weights[n+1])
	for i := range n {
		same(fmt.Sprintf("bin %d", i), h.Contents[i], weights[i+1])
		if j.Kind != "Profile1D" {
			same(fmt.Sprintf("sum of squares of bin %d", i), h.SumW2[i], root.Squares[i+1])
			continue
		}
		if (h.Means[i] == nil) != (weights[i+1] == 0) {
			t.Errorf("%q: bin %d has a mean: %v", j.args, i, h.Means[i] != nil)
		} else if h.Means[i] != nil {
			same(fmt.Sprintf("mean in bin %d", i), *h.Means[i], root.Contents[i+1])
			same(fmt.Sprintf("error of the mean in bin %d", i), *h.Errors[i], root.Errors[i+1])
		}
	}
}
