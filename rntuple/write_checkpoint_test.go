package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestUpdate adds RNTuples to files that ROOT and we have written.
func TestUpdate(t *testing.T) {
	for _, name := range []string{"../testdata/good/special_dirs.root", "../testdata/good/types_none_one.root"} {
		path := filepath.Join(t.TempDir(), "update.root")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			f, err := rntuple.UpdateFile(path, fixed)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []string{"new/deep/points", "more"} {
				w, err := rntuple.NewWriter[Point](f, n, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.WriteBatch([]Point{{1, 2}, {3, 4}}); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		after, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil || len(after) != len(before)+4 {
			t.Fatalf("%v, were %v: %v", after, before, err)
		}
		for _, info := range after {
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				t.Fatalf("%s: %v", info.Path, err)
			}
			if _, err := lines(r); err != nil {
				t.Errorf("%s: %v", info.Path, err)
			}
			r.Close()
		}
	}
}

// dying is a file that takes only so many calls of WriteAt.
type dying struct {
	memory
	calls int
}

var errDead = errors.New("no more writes")

func (d *dying) WriteAt(p []byte, off int64) (int, error) {
	if d.calls--; d.calls < 0 {
		return 0, errDead
	}
	return d.memory.WriteAt(p, off)
}

// TestCheckpoints stops a small job at every call of WriteAt, and a larger one at
// some: what was written up to the last checkpoint can be read.
func TestCheckpoints(t *testing.T) {
	t.Run("small", func(t *testing.T) { testCheckpoints(t, 40, 10, 1) })
	t.Run("large", func(t *testing.T) { testCheckpoints(t, 30_000, 7_000, 9) })
}

func testCheckpoints(t *testing.T, entries, every, step int) {
	opts := &rntuple.WriteOptions{Compression: 404, ClusterSize: 5000, MaxUnzippedPageSize: 1000}
	for calls := 0; ; calls += step {
		d := &dying{calls: calls}
		safe, err := func() (safe int, err error) {
			f, err := rntuple.NewFile(d, "checkpoints.root", fixed)
			if err != nil {
				return 0, err
			}
			w, err := rntuple.NewWriter[Point](f, "dir/n", opts)
			if err != nil {
				return 0, err
			}
			for i := range entries {
				if err := w.Write(&Point{X: float32(i)}); err != nil {
					return safe, err
				}
				if (i+1)%every == 0 {
					if err := w.Checkpoint(); err != nil {
						return safe, err
					}
					safe = i + 1
				}
			}
			if err := w.Close(); err != nil {
				return safe, err
			}
			return safe, f.Close()
		}()
		if err != nil && !errors.Is(err, errDead) {
			t.Fatalf("stopped at call %d: %v", calls, err)
		}
		if safe > 0 {
			r, openErr := rntuple.NewReader(bytes.NewReader(d.b), int64(len(d.b)), "dir/n", nil)
			if openErr != nil {
				t.Fatalf("stopped at call %d, after %d entries: %v", calls, safe, openErr)
			}
			if r.NumEntries() < int64(safe) {
				t.Errorf("stopped at call %d: %d entries, want %d", calls, r.NumEntries(), safe)
			}
			v, _ := rntuple.ViewOf[float32](r, "X")
			for i, x := range v.All() {
				if x != float32(i) {
					t.Fatalf("stopped at call %d: entry %d is %g", calls, i, x)
				}
			}
			if v.Err() != nil {
				t.Errorf("stopped at call %d: %v", calls, v.Err())
			}
		}
		if err == nil {
			if safe != entries/every*every || calls < 5 {
				t.Errorf("done after %d calls with %d entries", calls, safe)
			}
			return
		}
	}
}
