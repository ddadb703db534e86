package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A Race is a histogram by two processes here, and by ROOT on Dask with two workers; seconds.
type Race struct {
	Files, Entries int
	// Ours is from the first command to the bins: the plan, two processes, each with half of the
	// units, the sum.
	Ours Timing
	// Whole is Dask's from the start of Python to its end, with one histogram; Run is without the
	// start of Python, ROOT and the cluster; Warm is once more in the same cluster, with everything
	// compiled and cached.
	Whole, Run, Warm Timing
}

// daskReport holds the result of -dask.
type daskReport struct {
	*Report
	Race Race
}

// dask measures the same histogram with jobs of rnt, and with ROOT on Dask.
func (w *workshop) daskSuite(out *Report, limits limits, quick bool) (*daskReport, error) {
	files := 50
	if quick {
		files = 4
	}
	dir, err := os.MkdirTemp(w.scratch, "bench-dask-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	j, err := w.path("J-505.root")
	if err != nil {
		return nil, err
	}
	s := &daskBench{w, dir, filepath.Join(w.bin, "rnt"), filepath.Join(w.venv, "..", "dask"), nil}
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d.root", i))
		if err := os.Symlink(j, path); err != nil {
			return nil, err
		}
		s.files = append(s.files, path)
	}
	race, err := s.race(max(1, min(limits.rounds, 5)))
	return &daskReport{out, race}, err
}

// daskBench makes histograms of files.
type daskBench struct {
	*workshop
	dir      string
	rnt      string
	packages string // with Dask, beside the environment, which other programs use
	files    []string
}

// race measures by turns.
func (s *daskBench) race(rounds int) (r Race, err error) {
	if err := s.install(); err != nil {
		return r, err
	}
	r = Race{Files: len(s.files), Entries: len(s.files) * s.entries["J"]}
	r.Ours.Name, r.Whole.Name, r.Run.Name, r.Warm.Name = "rnt, two processes", "ROOT on Dask", "without the start",
		"again in the same cluster"
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "histogram of %d files, round %d\n", len(s.files), round+1)
		begin := time.Now()
		ours, err := s.jobs(filepath.Join(s.dir, fmt.Sprint("round", round)))
		if err != nil {
			return r, err
		}
		r.Ours.seconds = append(r.Ours.seconds, time.Since(begin).Seconds())

		theirs, whole, err := s.cluster()
		if err != nil {
			return r, err
		}
		if !slices.Equal(ours, theirs.Counts) {
			return r, fmt.Errorf("other histograms: %v and %v", ours, theirs.Counts)
		}
		r.Whole.seconds = append(r.Whole.seconds, whole-theirs.Runs[1]-theirs.Runs[2])
		r.Run.seconds = append(r.Run.seconds, theirs.Runs[0])
		r.Warm.seconds = append(r.Warm.seconds, theirs.Runs[1:]...)
	}
	for _, t := range []*Timing{&r.Ours, &r.Whole, &r.Run, &r.Warm} {
		t.summarize()
		t.Ratio = ratio(t.Median / r.Ours.Median)
	}
	return r, nil
}

// The histogram.
const (
	drawn, condition  = "Muon_pt", "MET_pt > 20"
	bins, lowest, top = "100", "0", "100"
)

// jobs plans, has two processes fill half of the units each, as jobs of a batch system would, and
// adds what they have made.
func (s *daskBench) jobs(folder string) ([]float64, error) {
	plan, units := folder+".json", min(20, len(s.files))
	if _, err := timed("", append([]string{s.rnt, "plan", "--units", fmt.Sprint(units), "--fields", drawn, "--where",
		condition, plan}, s.files...)...); err != nil {
		return nil, err
	}
	draw := []string{s.rnt, "draw", "--where", condition, "--bins", bins, "--range", lowest + ":" + top}
	var processes sync.WaitGroup
	errs := make([]error, 2)
	for i, half := range []string{fmt.Sprintf("0:%d", units/2), fmt.Sprintf("%d:%d", units/2, units)} {
		processes.Go(func() {
			_, errs[i] = timed("1", slices.Concat(draw, []string{"--unit", half, "--out", folder, plan, drawn})...)
		})
	}
	processes.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out, err := exec.Command(s.rnt, append(draw[1:], "--units", folder, "--json", plan, drawn)...).Output()
	if err != nil {
		return nil, err
	}
	var found struct {
		Histograms []struct{ Contents []float64 }
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, err
	}
	return found.Histograms[0].Contents, nil
}

// install installs Dask, unless it is there.
func (s *daskBench) install() error {
	if _, err := os.Stat(filepath.Join(s.packages, "distributed")); err == nil {
		return nil
	}
	return s.run(filepath.Join(s.venv, "bin", "pip"), "install", "-q", "--disable-pip-version-check", "--target",
		s.packages, "dask==2026.8.0", "distributed==2026.8.0")
}

// daskResult is what the program in Python prints.
type daskResult struct {
	Start  float64
	Runs   []float64
	Counts []float64
}

// cluster runs ROOT's distributed RDataFrame, and returns how long its process lasted, too.
func (s *daskBench) cluster() (r daskResult, seconds float64, err error) {
	cmd := exec.Command(filepath.Join(s.venv, "bin", "python"),
		append([]string{filepath.Join(s.bench, "py", "dask_histogram.py"),
			"Events", drawn, condition, bins, lowest, top}, s.files...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+s.packages)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	begin := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return r, 0, fmt.Errorf("dask_histogram.py: %w\n%s", err, messages.Bytes())
	}
	seconds = time.Since(begin).Seconds()
	at := bytes.LastIndex(out, []byte(`{"start"`)) // after Dask's progress bars
	if at < 0 {
		return r, 0, errors.New("dask_histogram.py printed no result")
	}
	if err = json.Unmarshal(out[at:], &r); err == nil && len(r.Runs) != 3 {
		err = fmt.Errorf("dask_histogram.py: %d runs", len(r.Runs))
	}
	return r, seconds, err
}

// print prints tables in Markdown.
func (r *daskReport) print(to io.Writer) {
	fmt.Fprintf(to, "%s, %d cores, %s, ROOT %s; medians in seconds, in brackets the quartiles\n",
		r.CPU, r.Cores, r.Go, r.ROOT)
	if r.Quick {
		fmt.Fprintln(to, "QUICK: the data are small, the figures say nothing")
	}
	fmt.Fprintf(to, "\n| histogram of %d files, %d entries | seconds | ratio |\n|---|---|---|\n",
		r.Race.Files, r.Race.Entries)
	for _, t := range []*Timing{&r.Race.Ours, &r.Race.Whole, &r.Race.Run, &r.Race.Warm} {
		fmt.Fprintf(to, "| %s | %s | %.1f |\n", t.Name, t, t.Ratio)
	}
}

// save writes dask.txt and dask.json into a folder.
func (r *daskReport) save(dir string) error { return save(dir, "dask", r) }
