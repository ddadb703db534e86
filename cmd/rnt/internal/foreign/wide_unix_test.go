//go:build unix

package foreign

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestWide checks that tables of many columns take work in proportion to their number. It compares
// the processor time for n and for 32n columns, which does not depend on what else the machine
// does; work in n² would take 1024 times as much.
func TestWide(t *testing.T) {
	const n, more, most = 500, 32, 200
	for _, kind := range []Kind{CSV, JSON} {
		var ratio float64
		for range 3 { // the collection of garbage can only add to it
			few := min(roundTrip(t, kind, n), roundTrip(t, kind, n), roundTrip(t, kind, n))
			if ratio = float64(roundTrip(t, kind, more*n)) / float64(few); ratio < most {
				break
			}
		}
		if ratio >= most {
			t.Errorf("%s: %d times the columns take %.0f times the work", kind, more, ratio)
		}
	}
}

// roundTrip converts a table of n columns into an RNTuple and back, and returns the processor time
// in microseconds.
func roundTrip(t *testing.T, kind Kind, n int) int64 {
	dir := t.TempDir()
	names, cells, members := make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		names[i], cells[i] = "c"+strconv.Itoa(i), strconv.Itoa(i)
		members[i] = `"` + names[i] + `":` + cells[i]
	}
	text := "{" + strings.Join(members, ",") + "}\n"
	if kind == CSV {
		text = strings.Join(names, ",") + "\n" + strings.Join(cells, ",") + "\n"
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out.root")
	if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}

	before := processorTime(t)
	table, err := Open([]string{in}, Options{Context: context.Background(), Kind: kind, Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := rntuple.CreateFile(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Add(f, "n", nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(out, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := Write(context.Background(), &b, kind, r,
		WriteOptions{Fields: names, Progress: func(int64, int64) {}}); err != nil {
		t.Fatal(err)
	}
	took := processorTime(t) - before
	if b.String() != text {
		t.Errorf("%s of %d columns comes back as\n%.200s", kind, n, b.String())
	}
	return took
}

// processorTime returns the microseconds for which the process has used processors.
func processorTime(t *testing.T) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return (syscall.TimevalToNsec(u.Utime) + syscall.TimevalToNsec(u.Stime)) / 1000 // alone, each is an estimate
}
