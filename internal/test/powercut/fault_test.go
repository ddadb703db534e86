package powercut

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
)

// TestFaults lets each operation of each scenario fail in several ways. The program gets an
// error. The file is as it was, or, if that happened at the end of a commit, as it was to be.
// Nothing is left behind, no sync is tried twice, and closing again is an error. If the power
// is cut after that, the same holds for the file.
//
// It takes twelve operations of each scenario, five if it is short, and one of the ways for
// each; with RNTUPLE_CAMPAIGN=1 all operations, in all ways.
func TestFaults(t *testing.T) {
	rnd, wanted := sampletest.Rand(t), 12
	if testing.Short() {
		wanted = 5
	}
	for _, sc := range scenarios {
		if sc.unsteady {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			r := newFaultRun(t, sc)
			ops := r.log.Ops
			n := 0
			for _, at := range sampletest.Cases(rnd, len(ops), wanted) {
				faults := faultsOf(ops[at], at)
				for _, i := range sampletest.Cases(rnd, len(faults), 1) {
					f := faults[i]
					if err := r.try(f); err != nil {
						t.Errorf("operation %d, %s, %v after %v of it: %v", at, describe(ops[at]), f.Err, f.Share, err)
					}
					n++
				}
			}
			if t.Failed() {
				t.Logf("the operations:\n%s", r.log)
			}
			t.Logf("%d operations, %d faults", len(ops), n)
		})
	}
}

// faultsOf returns the ways in which an operation fails.
func faultsOf(op Op, at int) []*Fault {
	all := []*Fault{{At: at, Err: syscall.EIO}}
	if op.Kind == diskfile.WriteOp {
		for _, share := range []float64{0.2, 0.5, 1} {
			all = append(all, &Fault{At: at, Err: syscall.ENOSPC, Share: share})
		}
	}
	return all
}

// A faultRun runs a scenario again and again.
type faultRun struct {
	*scenario
	t     *testing.T
	dir   string
	start map[string][]byte
	first state
	log   *Log    // of the run without a fault
	sizes []int64 // of the file in each of its states; -1 if it is not there
}

func newFaultRun(t *testing.T, sc *scenario) *faultRun {
	r := &faultRun{scenario: sc, t: t, dir: t.TempDir()}
	s := sc.start(t, r.dir, false)
	r.start, r.first = snapshot(t, r.dir), s.state
	r.log = NewLog(r.start)
	r.sizes = []int64{sizeOf(s.path)}
	s.ack = func() {
		r.log.Mark()
		r.sizes = append(r.sizes, sizeOf(s.path))
	}
	if err := hooked(r.log.Hook, func() error { return sc.run(s) }); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	return r
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// reset makes the folder as it was before the first run.
func (r *faultRun) reset() {
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(r.dir, e.Name())))
	}
	for path, b := range r.start {
		err = errors.Join(err, os.WriteFile(path, b, 0o666))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// committing reports whether the operation at is, or comes after, the one with which the
// phase's commit becomes visible: the rename of a new file, or the first write to the start of
// the file.
func (r *faultRun) committing(at int, f *Fault) bool {
	first := 0
	if p := r.log.phase(at); p > 0 {
		first = r.log.marks[p-1]
	}
	for i, op := range r.log.Ops[first : at+1] {
		head := op.Kind == diskfile.WriteOp && op.Off == 0
		if first+i == at && f.Share == 0 {
			return false // it was not done
		}
		if head || op.Kind == diskfile.RenameOp {
			return true
		}
	}
	return false
}

// try runs the scenario with a fault.
func (r *faultRun) try(f *Fault) (err error) {
	r.reset()
	s := r.resume(r.dir, r.first, false)
	f.Log = NewLog(r.start)
	acked := 0
	s.ack = func() {
		f.Log.Mark()
		acked++
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	fails := hooked(f.Hook, func() error { return r.run(s) })
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	switch {
	case f.Op == nil:
		bad("the program did not come that far")
	case fails == nil:
		bad("no error")
	case !errors.Is(fails, f.Err):
		bad("other error: %v", fails)
	}
	if f.Retried() {
		bad("synced again")
	}
	for i, close := range s.closers {
		if err := close(); err == nil {
			bad("closing again, number %d: no error", i)
		}
	}
	cut, err := f.Log.Sweep(s.path, Plan{All: 1 << 8, Random: 20, Last: true}, func(i *Image) error {
		_, err := s.check(i)
		return err
	})
	if err != nil {
		return err
	}
	for _, err := range cut.Errors {
		bad("%w\n%v", err, f.Log)
	}
	// What the folder has.
	want := map[string]bool{}
	for path := range r.start {
		want[path] = true
	}
	size := sizeOf(s.path)
	if size >= 0 {
		want[s.path] = true
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(r.dir, e.Name())
		if !want[path] {
			bad("%s is left behind", e.Name())
		}
		delete(want, path)
	}
	if len(want) > 0 {
		bad("gone: %q", slices.Collect(maps.Keys(want)))
	}
	// What the file has.
	states := s.states[acked:min(acked+2, len(s.states))]
	if !r.committing(f.At, f) {
		states = states[:1]
		if size != r.sizes[acked] {
			bad("%d bytes, %d before", size, r.sizes[acked])
		}
	}
	if size < 0 {
		if states[0] != nil {
			bad("the file is gone")
		}
		return errors.Join(all...)
	}
	if states[0] == nil {
		states = states[1:]
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	if len(states) == 0 {
		bad("there is a file")
	} else {
		_, err := compare(b, states...)
		all = append(all, err, sound(b))
	}
	return errors.Join(all...)
}
