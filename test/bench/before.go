package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// buildEarlier builds our program and our tool of another checkout of the
// repository, with its own go.mod, and the tool of this one.
func (w *workshop) buildEarlier(checkout string) error {
	for _, b := range []struct{ checkout, program, source string }{
		{checkout, "earlier", "./go"},
		{checkout, "rnt-earlier", "../../cmd/rnt"},
		{filepath.Join(w.bench, "../.."), "rnt", "../../cmd/rnt"},
	} {
		if err := w.run("go", "build", "-C", filepath.Join(b.checkout, "test/bench"), "-o", filepath.Join(w.bin, b.program),
			b.source); err != nil {
			return err
		}
	}
	return nil
}

// earlierRows returns the rows of the table with the program of the other checkout
// as the only rival.
func earlierRows() []row {
	table := rows()
	for i, r := range table {
		table[i].rivals = []rival{{name: "before", program: earlier, work: r.work, goals: []ratio{0, 0}}}
	}
	return table
}

// toolWorks lists the commands with which the tools of both checkouts are measured.
var toolWorks = []struct{ name, command string }{
	{"rnt merge, L1", "merge --level copy OUT IN IN IN"},
	{"rnt repack to LZ4, L2", "repack --compression lz4:4 OUT IN"},
	{"rnt merge, L4", "merge --level rewrite OUT IN"},
}

// measureTools measures the tool beside that of the other checkout, starting a
// process for every repetition, and appends the results to the report.
func (w *workshop) measureTools(report *Report, wanted func(row string) bool, threads int, limits limits) error {
	dir, err := os.MkdirTemp(w.scratch, "bench-before-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, data := range []string{"F", "J"} {
		path, err := w.path(data + "-505.root")
		if err != nil {
			return err
		}
		for _, work := range toolWorks {
			name, target := work.name+", "+data+" zstd", filepath.Join(dir, "out.root")
			if !wanted(name) {
				continue
			}
			args := strings.Fields(strings.NewReplacer("OUT", target, "IN", path).Replace(work.command))
			for n := 1; n <= threads; n++ {
				fmt.Fprintf(os.Stderr, "%s, threads: %d\n", name, n)
				var tools []tool
				for _, program := range []string{"rnt", "rnt-earlier"} {
					command := append([]string{filepath.Join(w.bin, program)}, args...)
					tools = append(tools, tool{program, strconv.Itoa(n), command})
				}
				timings, err := alternate(tools, target, limits)
				if err != nil {
					return err
				}
				m := &Measurement{Row: name, Threads: n, Ours: timings[0], Rivals: timings[1:]}
				m.compare()
				report.Measurements = append(report.Measurements, m)
			}
		}
	}
	return nil
}

// printBefore prints a table of this checkout beside the other one. Ratios are
// those of before to now: above 1, this checkout is faster, or needs less.
func (r *Report) printBefore(w io.Writer) {
	fmt.Fprintln(w, "\n| work | threads | seconds now | before | before / now | processor | allocations | peak memory |\n|---|---|---|---|---|---|---|---|")
	for _, m := range r.Measurements {
		now, before := &m.Ours, &m.Rivals[0]
		fmt.Fprintf(w, "| %s | %d | %s | %s | %.2f | %.2f | %s | %.2f |\n", m.Row, m.Threads, now, before,
			before.Ratio, before.CPURatio,
			allocations(now, before), float64(before.PeakMemory)/float64(now.PeakMemory))
	}
}

// allocations returns the ratio of two programs' allocations, if both report them.
func allocations(now, before *Timing) string {
	if now.Allocations == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(before.Allocations)/float64(now.Allocations))
}
