package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A Report holds the results of a run of the benchmarks.
type Report struct {
	Time         string
	CPU          string
	Cores        int
	Go, ROOT     string
	Quick        bool // with little data, so that times mean nothing
	Codecs       bool `json:",omitempty"` // of the benchmarks of codecs
	Before       bool `json:",omitempty"` // of this checkout beside another one
	Measurements []*Measurement
	Failures     []string `json:",omitempty"`
}

func newReport(w *workshop, quick bool) *Report {
	r := &Report{Time: time.Now().UTC().Format(time.RFC3339), CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Quick: quick}
	if out, err := exec.Command("go", "env", "GOVERSION").Output(); err == nil {
		r.Go = strings.TrimSpace(string(out))
	}
	if out, err := exec.Command(filepath.Join(w.bin, "rootbench"), "version").Output(); err == nil {
		r.ROOT = strings.TrimSpace(string(out))
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			r.CPU = strings.TrimSpace(value)
			break
		}
	}
	return r
}

// print prints tables in Markdown.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %d cores, %s, ROOT %s; medians in seconds, in brackets the quartiles\n",
		r.CPU, r.Cores, r.Go, r.ROOT)
	if r.Quick {
		fmt.Fprintln(w, "QUICK: the data are small, the figures say nothing")
	}
	switch {
	case r.Codecs:
		r.printCodecs(w)
	case r.Before:
		r.printBefore(w)
	default:
		r.printWork(w)
	}
	for _, failure := range r.Failures {
		fmt.Fprintf(w, "\nFAILED: %s\n", failure)
	}
}

func (r *Report) printWork(w io.Writer) {
	fmt.Fprintln(w, "\n| work | threads | go-rntuple | against | theirs | ratio | goal |\n|---|---|---|---|---|---|---|")
	for _, m := range r.Measurements {
		for _, t := range m.Rivals {
			fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %.2f | %s |\n", m.Row, m.Threads, &m.Ours, t.Name, &t, t.Ratio, goal(&t))
		}
	}
	fmt.Fprintln(w, "\n| work | threads | file size to theirs | peak memory, theirs | allocations | against one thread |\n|---|---|---|---|---|---|")
	single := map[string]float64{}
	for _, m := range r.Measurements {
		if m.Threads == 1 {
			single[m.Row] = m.Ours.Median
		}
		size, theirs, scaling := "", "", ""
		if len(m.Rivals) > 0 {
			theirs = megabytes(m.Rivals[0].PeakMemory)
			if m.Ours.FileSize > 0 {
				size = fmt.Sprintf("%.3f", float64(m.Ours.FileSize)/float64(m.Rivals[0].FileSize))
			}
		}
		if m.Threads > 1 && single[m.Row] > 0 {
			reached := single[m.Row] / m.Ours.Median
			scaling = fmt.Sprintf("%.2f", reached)
			if m.Scaling > 0 {
				scaling += fmt.Sprintf(" (%s)", goal(&Timing{Ratio: reached, Goal: m.Scaling}))
			}
		}
		fmt.Fprintf(w, "| %s | %d | %s | %s, %s | %d | %s |\n",
			m.Row, m.Threads, size, megabytes(m.Ours.PeakMemory), theirs, m.Ours.Allocations, scaling)
	}
	r.printPeaks(w)
}

func (t *Timing) String() string { return fmt.Sprintf("%.3g [%.3g, %.3g]", t.Median, t.Low, t.High) }

func goal(t *Timing) string {
	switch {
	case t.Goal == 0:
		return ""
	case t.Ratio < t.Goal:
		return fmt.Sprintf("%g: missed", t.Goal)
	}
	return fmt.Sprintf("%g", t.Goal)
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1_000_000) }

// save writes NAME.txt and NAME.json into a folder, and NAME.png unless the
// report is about codecs or another checkout.
func (r *Report) save(dir, name string) error {
	if err := save(dir, name, r); err != nil || r.Codecs || r.Before {
		return err
	}
	return r.draw(filepath.Join(dir, name+".png"))
}

// save writes a report into a folder, as NAME.txt and NAME.json.
func save(dir, name string, report interface{ print(io.Writer) }) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	var text strings.Builder
	report.print(&text)
	if err := os.WriteFile(path+".txt", []byte(text.String()), 0o644); err != nil {
		return err
	}
	out, err := json.MarshalIndent(report, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path+".json", append(out, '\n'), 0o644)
}
