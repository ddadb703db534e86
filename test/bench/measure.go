package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

// tooLong is the time after which a repetition is aborted.
const tooLong = 10 * time.Minute

// A worker is a program that does a piece of work once whenever it is asked to, so
// that the time to start a program is not measured.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errs   bytes.Buffer
	output string // the file it writes, if any
}

func start(output string, command []string) (*worker, error) {
	w := &worker{cmd: exec.Command(command[0], command[1:]...), output: output}
	w.cmd.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
	w.cmd.Stderr = &w.errs
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	return w, w.cmd.Start()
}

// repeat does the work once.
func (w *worker) repeat() (work.Result, error) {
	var result work.Result
	timer := time.AfterFunc(tooLong, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	_, err := io.WriteString(w.in, "go\n")
	var line []byte
	if err == nil {
		line, err = w.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &result)
	}
	if err != nil {
		w.cmd.Process.Kill()
		err = fmt.Errorf("%s: %w; it printed: %s%s", strings.Join(w.cmd.Args, " "), err, line, w.close())
	}
	return result, err
}

// peakMemory returns the worker's peak memory in bytes, or 0 if the system does not
// report it.
func (w *worker) peakMemory() int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	return memoryIn(status, "VmHWM:")
}

// memoryIn returns an amount of memory in the status of a process in bytes, or 0 if it is not
// there.
func memoryIn(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kB, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kB << 10
		}
	}
	return 0
}

// cpuTime returns the processor time of the worker in seconds, and of the programs that it
// started and that have ended, or 0 if the system does not report it.
func (w *worker) cpuTime() float64 {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", w.cmd.Process.Pid))
	sum := 0.0
	for _, stat := range stats {
		text, _ := os.ReadFile(stat)
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			ns, _ := strconv.ParseFloat(fields[0], 64)
			sum += ns / 1e9
		}
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 { // the end of the name
		if fields := strings.Fields(string(stat[i+1:])); len(fields) > 14 {
			const ticks = 100 // in a second, on Linux
			for _, field := range fields[13:15] {
				n, _ := strconv.ParseFloat(field, 64)
				sum += n / ticks
			}
		}
	}
	return sum
}

// close ends the worker, and returns what it wrote to standard error.
func (w *worker) close() string {
	w.in.Close()
	w.cmd.Wait()
	return w.errs.String()
}

// A Timing summarizes one program's repetitions of a piece of work.
type Timing struct {
	Name        string
	Median      float64 // seconds
	Low, High   float64 // the quartiles
	Repetitions int
	FileSize    int64   `json:",omitempty"` // of the file that was written
	PeakMemory  int64   `json:",omitempty"` // of the program, in bytes
	Allocations uint64  `json:",omitempty"` // of one repetition, if the program reports them
	Goal        ratio   `json:",omitempty"` // for Ratio
	Ratio       ratio   `json:",omitempty"` // of its median to ours
	CPU         float64 `json:",omitempty"` // median of the processor time, in seconds, if the system reports it
	CPURatio    ratio   `json:",omitempty"` // of that to ours

	seconds, cpu []float64
}

func (t *Timing) summarize() {
	slices.Sort(t.seconds)
	slices.Sort(t.cpu)
	t.Median, t.Low, t.High = quantile(t.seconds, 0.5), quantile(t.seconds, 0.25), quantile(t.seconds, 0.75)
	t.Repetitions = len(t.seconds)
	if len(t.cpu) > 0 {
		t.CPU = quantile(t.cpu, 0.5)
	}
}

// quantile returns the quantile q of sorted values, at least one.
func quantile(sorted []float64, q float64) float64 {
	i, part := math.Modf(q * float64(len(sorted)-1))
	low, high := sorted[int(i)], sorted[min(int(i)+1, len(sorted)-1)]
	return low + part*(high-low)
}

// A Measurement is the result of a row with a number of threads.
type Measurement struct {
	Row     string
	Threads int
	Bytes   uint64 `json:",omitempty"` // of the pages that a codec decodes or encodes
	Scaling ratio  `json:",omitempty"` // goal for the ratio of our time with one thread to this
	Peaks   []Peak `json:",omitempty"` // of our tool, if it does the work
	Ours    Timing
	Rivals  []Timing
}

// compare sets the ratios of the rivals' medians to ours.
func (m *Measurement) compare() {
	for i := range m.Rivals {
		t := &m.Rivals[i]
		t.Ratio = t.Median / m.Ours.Median
		if m.Ours.CPU > 0 {
			t.CPURatio = t.CPU / m.Ours.CPU
		}
	}
}

// limits determine how often work is repeated: rounds times, or less often, but at
// least 3 times, if that would take longer than budget.
type limits struct {
	rounds int
	budget time.Duration
}

// measure measures a row: all programs are started, each does its work once to
// warm up, and then they take turns.
func (w *workshop) measure(r row, threads int, limits limits) (*Measurement, error) {
	m := &Measurement{Row: r.name, Threads: threads, Ours: Timing{Name: "go-rntuple"}}
	if threads > 1 {
		m.Scaling = r.scaling
	}
	var workers []*worker
	defer func() {
		for _, w := range workers {
			w.close()
			if w.output != "" {
				os.Remove(w.output)
			}
		}
	}()
	add := func(p program, work, file string, threads int) error {
		path, err := w.path(file)
		if err != nil {
			return err
		}
		args := []string{work, r.data, path}
		if p != uproot {
			args = append(args, strconv.Itoa(threads))
		}
		output := ""
		if r.compression != "" {
			output = w.output(r, strconv.Itoa(len(workers)))
			args = append(args, r.compression, output)
		}
		worker, err := start(output, w.command(p, args...))
		if err == nil {
			workers = append(workers, worker)
		}
		return err
	}
	if err := add(r.program, r.work, r.file, threads); err != nil {
		return nil, err
	}
	for _, rival := range r.rivals {
		if !rival.measuredWith(threads) {
			continue
		}
		if err := add(rival.program, rival.work, cmp.Or(rival.file, r.file), cmp.Or(rival.threads, threads)); err != nil {
			return nil, err
		}
		m.Rivals = append(m.Rivals, Timing{Name: rival.name, Goal: rival.goals[threads-1]})
	}
	timings := []*Timing{&m.Ours}
	for i := range m.Rivals {
		timings = append(timings, &m.Rivals[i])
	}

	var want []uint64
	begin := time.Now()
	for round := 0; round <= limits.rounds; round++ {
		if round > 3 && time.Since(begin) > limits.budget {
			break
		}
		for i, worker := range workers {
			before := worker.cpuTime()
			result, err := worker.repeat()
			if err != nil {
				return nil, err
			}
			used := worker.cpuTime() - before
			if r.cpu && used > 0 {
				result.Seconds = used
			}
			if round == 0 && i == 0 {
				want = result.Sums
			} else if at := differ(want, result.Sums); at >= 0 {
				return nil, fmt.Errorf("%s: sum %d of %s is not ours: %d, %d", r.name, at, timings[i].Name, result.Sums, want)
			}
			if round > 0 {
				timings[i].seconds = append(timings[i].seconds, result.Seconds)
				timings[i].cpu = append(timings[i].cpu, used)
				timings[i].FileSize, timings[i].Allocations = result.Bytes, result.Allocs
			}
		}
	}
	for i, timing := range timings {
		timing.summarize()
		timing.PeakMemory = workers[i].peakMemory()
	}
	m.compare()
	if r.tool != "" {
		var err error
		if m.Peaks, err = w.measurePeaks(r, threads); err != nil {
			return nil, err
		}
		m.Ours.Allocations = 0 // those of the program that starts the tool
		if r.program == ours {
			m.Ours.PeakMemory = m.Peaks[1].Bytes
		}
	}
	if r.work == "decode" || r.work == "encode" {
		m.Bytes = want[0]
	}
	if r.compression == "" {
		return m, nil
	}
	files := []string{""}
	for _, worker := range workers {
		files = append(files, worker.output)
	}
	return m, w.compareFiles(r, files)
}

// differ returns the first index at which two lists of sums differ, or -1 if they
// are equal.
func differ(a, b []uint64) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// output returns the path of a file that one of the programs of a row writes.
func (w *workshop) output(r row, name string) string {
	return filepath.Join(w.scratch, fmt.Sprintf("bench-%d-%s%s", os.Getpid(), name, cmp.Or(r.suffix, ".root")))
}

// compareFiles has ROOT, or pyarrow, read those files that were written, and the row's values if
// they have all of its entries.
func (w *workshop) compareFiles(r row, files []string) error {
	var want []uint64
	for i, file := range files {
		if i == 0 && r.part {
			continue
		}
		if i == 0 {
			var err error
			if file, err = w.path(cmp.Or(r.values, r.file)); err != nil {
				return err
			}
		}
		// structs have std::vector where the others have RVec, which only entries take as one
		// another
		command := w.command(root, "entries", r.data, file, "1")
		if filepath.Ext(file) == ".parquet" {
			command = w.command(pyarrow, "parquet", r.data, file, "1")
		}
		reader, err := start("", command)
		if err != nil {
			return err
		}
		result, err := reader.repeat()
		reader.close()
		if err != nil {
			return err
		}
		if want == nil {
			want = result.Sums
		} else if at := differ(want, result.Sums); at >= 0 {
			return fmt.Errorf("%s: sum %d of the written file %d is %d, not %d", r.name, at, i, result.Sums, want)
		}
	}
	return nil
}
