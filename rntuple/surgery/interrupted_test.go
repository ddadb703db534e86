package surgery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// dying is a file that fails at some write.
type dying struct {
	*os.File
	calls int
}

var errDead = errors.New("no more writes")

func (d *dying) WriteAt(p []byte, off int64) (int, error) {
	if d.calls--; d.calls < 0 {
		return 0, errDead
	}
	return d.File.WriteAt(p, off)
}

// updateDying opens a file that fails at some write.
func updateDying(disk *os.File, calls int) opener {
	return func(_ string, o *ntuple.WriteOptions) (*ntuple.File, error) {
		info, err := disk.Stat()
		if err != nil {
			return nil, err
		}
		return ntuple.Update(&dying{disk, calls}, info.Size(), o)
	}
}

// TestInterrupted stops merging into a file at every write: it is what it was,
// or complete.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	old, more, into := filepath.Join(dir, "old"), filepath.Join(dir, "more"), filepath.Join(dir, "into")
	points(t, old, 0, 300, &rntuple.WriteOptions{Compression: compress.None})
	points(t, more, 300, 30_000, &rntuple.WriteOptions{ClusterSize: 20_000, Compression: compress.None})
	for _, least := range []Level{Copy, Rewrite} {
		for calls := 0; ; calls++ {
			copyFile(t, old, into)
			disk, err := os.OpenFile(into, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = mergeInto(all, updateDying(disk, calls), Input{Path: into}, []Input{{Path: more}},
				&MergeOptions{Options: Options{AtLeast: least}})
			disk.Close()
			if err == nil {
				if calls < 5 {
					t.Errorf("done after %d writes", calls)
				}
				checkPoints(t, into, 30_300)
				break
			}
			if !errors.Is(err, errDead) {
				t.Fatalf("stopped at write %d: %v", calls, err)
			}
			r, err := rntuple.Open(into, "n", nil)
			if err != nil {
				t.Fatalf("stopped at write %d: %v", calls, err)
			}
			n := r.NumEntries()
			r.Close()
			if n != 300 && n != 30_300 {
				t.Fatalf("stopped at write %d: %d entries", calls, n)
			}
			checkPoints(t, into, int(n))
		}
	}
}

// TestCancelled cancels merging in the middle.
func TestCancelled(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.root")
	points(t, in, 0, 5000, &rntuple.WriteOptions{ClusterSize: 1000})
	for least := Copy; least <= Rewrite; least++ {
		ctx, cancel := context.WithCancel(all)
		out := filepath.Join(t.TempDir(), "out.root")
		done := int64(0)
		_, err := Merge(ctx, out, []Input{{Path: in}},
			&MergeOptions{Options: Options{AtLeast: least, Progress: func(n, total int64) {
				if done = n; n > total/2 {
					cancel()
				}
			}}})
		if !errors.Is(err, context.Canceled) || done == 0 {
			t.Errorf("level %v: %v after %d bytes", least, err, done)
		}
		noFile(t, out)
	}
}
