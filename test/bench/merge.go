package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// merged is the number of files that are merged.
const merged = 3

// A Merge is the result of merging a data set with several programs, each of which
// is started for every repetition.
type Merge struct {
	Data    string
	Bytes   int64 // of the merged file
	Timings []Timing
}

// A Memory is the peak memory of merging a number of files, in bytes; 0 if the
// system does not report it.
type Memory struct {
	Inputs     int
	Ours, Hadd int64
}

// mergeReport holds the results of -merge.
type mergeReport struct {
	*Report
	Merges []*Merge
	Memory []Memory
}

// mergeSuite measures rnt merge at all levels beside hadd and cp.
func (w *workshop) mergeSuite(out *Report, limits limits) (*mergeReport, error) {
	report := &mergeReport{Report: out}
	dir, err := os.MkdirTemp(w.scratch, "bench-merge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	rnt := filepath.Join(dir, "rnt")
	if err := w.run("go", "build", "-C", w.bench, "-o", rnt, "../../cmd/rnt"); err != nil {
		return nil, err
	}
	hadd, err := w.hadd()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"F-505.root", "J-505.root"} {
		fmt.Fprintf(os.Stderr, "merging %d times %s\n", merged, name)
		path, err := w.path(name)
		if err != nil {
			return nil, err
		}
		m, err := mergeFile(dir, rnt, hadd, path, limits)
		if err != nil {
			return nil, err
		}
		report.Merges = append(report.Merges, m)
	}
	path, err := w.path("F-505-1000.root")
	if err != nil {
		return nil, err
	}
	for n := 2; n <= w.inputs; n *= 10 {
		fmt.Fprintf(os.Stderr, "merging %d files\n", n)
		inputs := slices.Repeat([]string{path}, n)
		target := filepath.Join(dir, "many.root")
		ours, err := timed("", append([]string{rnt, "merge", "--force", target}, inputs...)...)
		if err != nil {
			return nil, err
		}
		theirs, err := timed("", append([]string{hadd, "-f", "-ff", target}, inputs...)...)
		if err != nil {
			return nil, err
		}
		report.Memory = append(report.Memory, Memory{n, ours.memory, theirs.memory})
	}
	return report, nil
}

// hadd returns the path of ROOT's merger.
func (w *workshop) hadd() (string, error) {
	python := filepath.Join(w.venv, "bin", "python")
	out, err := exec.Command(python, "-c",
		"import os, ROOT; print(os.path.join(os.path.dirname(ROOT.__file__), 'bin', 'hadd'))").Output()
	if err != nil {
		return "", fmt.Errorf("where is hadd? %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// mergeFile merges a file with itself. Inputs and output are in dir, so that the
// file system can clone, if it supports that.
func mergeFile(dir, rnt, hadd, path string, limits limits) (*Merge, error) {
	in, whole, target := filepath.Join(dir, "in.root"), filepath.Join(dir, "whole.root"), filepath.Join(dir, "out.root")
	// Reading the file here would count as memory of the programs that are started.
	if _, err := timed("", "cp", "--reflink=never", path, in); err != nil {
		return nil, err
	}
	inputs := slices.Repeat([]string{in}, merged)
	if _, err := timed("", append([]string{rnt, "merge", "--force", "--level", "copy", whole}, inputs...)...); err != nil {
		return nil, err
	}
	info, err := os.Stat(whole)
	if err != nil {
		return nil, err
	}
	ours := func(name, threads string, flags ...string) tool {
		return tool{"rnt merge, " + name, threads,
			append(append(append([]string{rnt, "merge"}, flags...), target), inputs...)}
	}
	programs := []tool{
		{"cp", "", []string{"cp", "--reflink=never", whole, target}},
		ours("L1", "", "--level", "copy"),
		ours("L1, one thread", "1", "--level", "copy"),
		{"hadd -ff", "", append([]string{hadd, "-ff", target}, inputs...)},
		ours("L2", "", "--level", "recompress"),
		ours("L3", "", "--level", "reseal"),
		ours("L4", "", "--level", "rewrite"),
		ours("to LZ4 (L2)", "", "--compression", "lz4:4"),
		{"hadd -f404", "", append([]string{hadd, "-f404", target}, inputs...)},
	}
	for _, p := range []tool{ours("L0", "", "--max-level", "clone"),
		ours("L0, not verified", "", "--max-level", "clone", "--no-verify")} {
		if _, err := timed("", p.command...); err != nil {
			fmt.Fprintln(os.Stderr, "left out:", p.name, "as the file system of", dir, "does not clone extents; see -scratch")
			break
		}
		programs = append(programs, p)
	}
	timings, err := alternate(programs, target, limits)
	if err != nil {
		return nil, err
	}
	for i := range timings {
		timings[i].Ratio = timings[0].Median / timings[i].Median
	}
	return &Merge{Data: fmt.Sprintf("%d × %s", merged, filepath.Base(path)), Bytes: info.Size(), Timings: timings}, nil
}

// A tool is a program that is started for every repetition.
type tool struct {
	name    string
	threads string // GOMAXPROCS, if not empty
	command []string
}

// alternate runs tools in turn, once to warm up, and then as often as the limits
// say. Each of them makes the file target.
func alternate(tools []tool, target string, limits limits) ([]Timing, error) {
	timings := make([]Timing, len(tools))
	begin := time.Now()
	for round := 0; round <= limits.rounds; round++ {
		if round > 3 && time.Since(begin) > limits.budget {
			break
		}
		for i, p := range tools {
			if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
				return nil, err
			}
			used, err := timed(p.threads, p.command...)
			if err != nil {
				return nil, err
			}
			t := &timings[i]
			t.Name, t.PeakMemory = p.name, max(t.PeakMemory, used.memory)
			if round > 0 {
				t.seconds, t.cpu = append(t.seconds, used.seconds), append(t.cpu, used.cpu)
			}
		}
	}
	for i := range timings {
		timings[i].summarize()
	}
	return timings, nil
}

// usage is the time and memory that a command used.
type usage struct {
	seconds, cpu float64
	memory       int64 // peak, in bytes; 0 if the system does not report it
}

// timed runs a command, with the given GOMAXPROCS if it is not empty.
func timed(threads string, command ...string) (usage, error) {
	cmd := exec.Command(command[0], command[1:]...)
	if threads != "" {
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+threads)
	}
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	used := usage{seconds: time.Since(begin).Seconds()}
	if err != nil {
		return used, fmt.Errorf("%.200v: %w\n%s", cmd.Args, err, out)
	}
	used.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	used.memory = maxResident(cmd.ProcessState)
	return used, nil
}

// maxResident returns the peak memory of a program that has ended, in bytes; 0 if the system does
// not report it.
func maxResident(state *os.ProcessState) int64 {
	// Only Unix has Maxrss; on Linux it is in kB.
	if sys := reflect.Indirect(reflect.ValueOf(state.SysUsage())); sys.Kind() == reflect.Struct {
		if peak := sys.FieldByName("Maxrss"); peak.IsValid() {
			return peak.Int() << 10
		}
	}
	return 0
}

// print prints tables in Markdown.
func (r *mergeReport) print(to io.Writer) {
	fmt.Fprintf(to, "%s, %d cores, %s, ROOT %s; medians in seconds, in brackets the quartiles\n",
		r.CPU, r.Cores, r.Go, r.ROOT)
	if r.Quick {
		fmt.Fprintln(to, "QUICK: the data are small, the figures say nothing")
	}
	for _, m := range r.Merges {
		fmt.Fprintf(to, "\n| %s, %s | seconds | speed to cp's | speed to hadd's | peak memory |\n|---|---|---|---|---|\n",
			m.Data, megabytes(m.Bytes))
		hadd := slices.IndexFunc(m.Timings, func(t Timing) bool { return strings.HasPrefix(t.Name, "hadd") })
		for _, t := range m.Timings {
			fmt.Fprintf(to, "| %s | %s | %.2f | %.2f | %s |\n", t.Name, &t, t.Ratio, m.Timings[hadd].Median/t.Median,
				megabytes(t.PeakMemory))
		}
	}
	fmt.Fprintln(to, "\n| inputs | peak memory of rnt merge | of hadd |\n|---|---|---|")
	for _, m := range r.Memory {
		fmt.Fprintf(to, "| %d | %s | %s |\n", m.Inputs, megabytes(m.Ours), megabytes(m.Hadd))
	}
}

// save writes merge.txt and merge.json into a folder.
func (r *mergeReport) save(dir string) error { return save(dir, "merge", r) }
