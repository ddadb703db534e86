package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
			name: "rnt arrow into pyarrow, " + data + " zstd", program: pyarrow, work: "stream", file: data + "-505.root", tool: "arrow IN",
			rivals: []rival{{name: "uproot, to_arrow_table", program: pyarrow, work: "arrays", goals: []ratio{4, 4}}},
		}
	})
	each(func(data string) row {
		return row{
			name: "rnt convert, TTree to RNTuple, " + data + " zstd", work: "convert", file: data + "-tree.root", compression: "505",
			tool:   "convert --compression 505 IN OUT",
			rivals: []rival{{name: "ROOT's RNTupleImporter", program: root, work: "import", goals: []ratio{2}}},
		}
	})
	each(func(data string) row {
		return row{
			// arrow-go's default is level 3.
			name: "rnt convert, RNTuple to Parquet, " + data + " zstd", work: "convert", file: data + "-505.root", compression: "503", suffix: ".parquet",
			tool: "convert IN OUT",
			rivals: []rival{
				{name: "pyarrow, from memory", program: pyarrow, work: "write", goals: []ratio{1, 1}},
				{name: "uproot and pyarrow", program: pyarrow, work: "rewrite", goals: []ratio{0, 0}},
			},
		}
	})
	return table
}

// A Peak is the peak memory of the tool.
type Peak struct {
	Entries int
	Bytes   int64 // 0 if the system does not report it
}

// measurePeaks measures the tool of a row with a third of the entries, with all, and with all of
// them three times. Its parent is this small program, because the system counts the memory
// of parents, too.
func (w *workshop) measurePeaks(r row, threads int) ([]Peak, error) {
	all := w.entries[r.data]
	stem, suffix := strings.TrimSuffix(r.file, ".root"), filepath.Ext(r.file)
	output := w.output(r, "peak")
	defer os.Remove(output)
	var peaks []Peak
	for _, input := range []struct {
		file  string
		times int
	}{{fmt.Sprintf("%s-%d%s", stem, all/3, suffix), 1}, {r.file, 1}, {r.file, 3}} {
		path, err := w.path(input.file)
		if err != nil {
			return nil, err
		}
		if err := os.Remove(output); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		// The shell becomes the tool, whose output is not kept here.
		command := []string{"sh", "-c", `exec "$0" "$@" >/dev/null`, filepath.Join(w.bin, "rnt"), "--quiet", "--jobs", strconv.Itoa(threads)}
		for _, arg := range strings.Fields(r.tool) {
			switch arg {
			case "IN":
				for range input.times {
					command = append(command, path)
				}
			case "OUT":
				command = append(command, output)
			default:
				command = append(command, arg)
			}
		}
		used, err := timed("", command...)
		if err != nil {
			return nil, err
		}
		entries := all
		if input.file != r.file {
			entries = all / 3
		}
		peaks = append(peaks, Peak{entries * input.times, used.memory})
	}
	return peaks, nil
}

// printPeaks prints the memory of the tool.
func (r *Report) printPeaks(w io.Writer) {
	header := "\n| peak memory of rnt | threads | a third of the entries | all | all, three times | three times to once | theirs, all |\n|---|---|---|---|---|---|---|\n"
	for _, m := range r.Measurements {
		if len(m.Peaks) == 0 {
			continue
		}
		fmt.Fprint(w, header)
		header = ""
		var peaks []string
		for _, p := range m.Peaks {
			peaks = append(peaks, megabytes(p.Bytes))
		}
		fmt.Fprintf(w, "| %s | %d | %s | %.2f | %s |\n", m.Row, m.Threads, strings.Join(peaks, " | "),
			float64(m.Peaks[2].Bytes)/float64(m.Peaks[1].Bytes), megabytes(m.Rivals[0].PeakMemory))
	}
}
