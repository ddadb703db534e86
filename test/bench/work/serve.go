package work

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// A Result is the result of one repetition.
type Result struct {
	Seconds float64  `json:"seconds"`
	Sums    []uint64 `json:"sums"`   // the same in all programs
	Bytes   int64    `json:"bytes"`  // the size of what was written, if anything
	Allocs  uint64   `json:"allocs"` // number of allocations, if the program reports it
}

// Serve does the work once for each line on standard input, and prints a Result
// as a line of JSON. The size of the file output, if not empty, is reported.
func Serve(output string, work func() (sums []uint64, err error)) error {
	return ServeSized(func() ([]uint64, int64, error) {
		sums, err := work()
		if err != nil || output == "" {
			return sums, 0, err
		}
		info, err := os.Stat(output)
		if err != nil {
			return nil, 0, err
		}
		return sums, info.Size(), nil
	})
}

// ServeSized is like Serve, for work that returns the number of bytes it wrote.
func ServeSized(work func() (sums []uint64, size int64, err error)) error {
	forgetLoading()
	var before, after runtime.MemStats
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		runtime.ReadMemStats(&before)
		start := time.Now()
		sums, size, err := work()
		result := Result{Seconds: time.Since(start).Seconds(), Sums: sums, Bytes: size}
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		result.Allocs = after.Mallocs - before.Mallocs
		if err := out.Encode(&result); err != nil {
			return err
		}
	}
	return in.Err()
}

// forgetLoading gives back what was needed to load data, so that the program's peak memory is that
// of the work, with the data that it begins with.
func forgetLoading() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // Linux resets the peak
}

// Main runs a program with its arguments.
func Main(run func(args []string) error) {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Random is splitmix64, as in ../cpp/data.hxx.
type Random uint64

// Bits returns 64 random bits.
func (r *Random) Bits() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
