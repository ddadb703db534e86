package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bridgeRows returns the rows of conversions to and from other formats.
func bridgeRows() []row {
	var table []row
	each := func(makeRow func(data string) row) {
		for _, data := range []string{"F", "J"} {
			r := makeRow(data)
			r.data, r.values = data, data+"-505.root"
			table = append(table, r)
		}
	}
	each(func(data string) row {
		return row{
			name: "Arrow records, " + data + " zstd", work: "arrow", file: data + "-505.root",
			rivals: []rival{{name: "our columns", program: ours, work: "bulk", goals: []ratio{0.8, 0.8}}},
		}
	})
	each(func(data string) row {
		return row{
			name: "rnt arrow into pyarrow, " + data + " zstd", program: pyarrow, work: "stream",
			file: data + "-505.root", tool: "arrow IN",
			rivals: []rival{{name: "uproot, to_arrow_table", program: pyarrow, work: "arrays", goals: []ratio{4, 4}}},
		}
	})
	each(func(data string) row {
		return row{
			name: "rnt convert, TTree to RNTuple, " + data + " zstd", work: "convert",
			file: data + "-tree.root", compression: "505",
			tool:   "convert --compression 505 IN OUT",
			rivals: []rival{{name: "ROOT's RNTupleImporter", program: root, work: "import", goals: []ratio{2}}},
		}
	})
	each(func(data string) row {
		return row{
			name: "rnt convert, RNTuple to Parquet, " + data + " zstd", work: "convert", file: data + "-505.root",
			compression: "501", suffix: ".parquet",
			tool: "convert IN OUT",
			rivals: []rival{
				{name: "pyarrow, from memory", program: pyarrow, work: "write", goals: []ratio{1, 1}},
				{name: "pyarrow, from memory, floats split", program: pyarrow, work: "split", goals: []ratio{0, 0}},
				{name: "uproot and pyarrow", program: pyarrow, work: "rewrite", goals: []ratio{0, 0}},
			},
		}
	})
	return table
}

// A Peak is the peak memory of the tool, in bytes; 0 if the system does not report it.
type Peak struct {
	Entries int
	Bytes   int64
	Own     int64 // without the pages of mapped files, from samples
}

// measurePeaks measures the tool of a row with a third of the entries, with all, and with all of
// them three times. Its parent is this small program, because the system counts the memory
// of parents, too.
func (w *workshop) measurePeaks(r row, threads int) ([]Peak, error) {
	all := w.entries[r.data]
	third := fmt.Sprintf("%s-%d.root", strings.TrimSuffix(r.file, ".root"), all/3)
	output := w.output(r, "peak")
	defer os.Remove(output)
	var peaks []Peak
	for _, input := range []struct {
		file           string
		entries, times int
	}{{third, all / 3, 1}, {r.file, all, 1}, {r.file, all, 3}} {
		path, err := w.path(input.file)
		if err != nil {
			return nil, err
		}
		if err := os.Remove(output); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		args := []string{"--quiet", "--jobs", strconv.Itoa(threads)}
		for _, arg := range strings.Fields(r.tool) {
			switch arg {
			case "IN":
				args = append(args, slices.Repeat([]string{path}, input.times)...)
			case "OUT":
				args = append(args, output)
			default:
				args = append(args, arg)
			}
		}
		p, err := peakOf(exec.Command(filepath.Join(w.bin, "rnt"), args...))
		if err != nil {
			return nil, err
		}
		p.Entries = input.entries * input.times
		peaks = append(peaks, p)
	}
	return peaks, nil
}

// peakOf runs a command, without its standard output, and returns its peak memory.
func peakOf(cmd *exec.Cmd) (p Peak, err error) {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return p, err
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for ticks := time.Tick(time.Millisecond); ; {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%v: %w\n%s", cmd.Args, err, errs.Bytes())
			}
			p.Bytes = maxResident(cmd.ProcessState)
			return p, err
		case <-ticks:
			text, _ := os.ReadFile(status)
			p.Own = max(p.Own, memoryIn(text, "RssAnon:"))
		}
	}
}

// printPeaks prints the memory of the tool.
func (r *Report) printPeaks(w io.Writer) {
	header := "\n| peak memory of rnt (own) | threads | a third of the entries | all | all, three times | three times to once | theirs, all |\n|---|---|---|---|---|---|---|\n"
	for _, m := range r.Measurements {
		if len(m.Peaks) == 0 {
			continue
		}
		fmt.Fprint(w, header)
		header = ""
		var peaks []string
		for _, p := range m.Peaks {
			peaks = append(peaks, fmt.Sprintf("%s (%s)", megabytes(p.Bytes), megabytes(p.Own)))
		}
		once, thrice := m.Peaks[1], m.Peaks[2]
		fmt.Fprintf(w, "| %s | %d | %s | %.2f (%.2f) | %s |\n", m.Row, m.Threads, strings.Join(peaks, " | "),
			float64(thrice.Bytes)/float64(once.Bytes), float64(thrice.Own)/float64(once.Own), megabytes(m.Rivals[0].PeakMemory))
	}
}
