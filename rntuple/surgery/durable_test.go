package surgery

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestDurable has every operation sync what it writes unless it must not, and wait for
// the lock of its output as long as it is told to.
func TestDurable(t *testing.T) {
	for name, do := range operations {
		t.Run(name, func(t *testing.T) {
			o := makeOperands(t)
			out := filepath.Join(t.TempDir(), "out")
			syncs := func(opts Options) (n int) {
				t.Helper()
				var mu sync.Mutex
				diskfile.Hook = func(op diskfile.Op) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					if op.Kind == diskfile.SyncOp || op.Kind == diskfile.SyncDirOp {
						n++
					}
					return 0, nil
				}
				defer func() { diskfile.Hook = nil }()
				if _, err := do(t.Context(), out, o, everyOption{Options: opts}); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := syncs(Options{}); n == 0 {
				t.Error("nothing is synced")
			}
			if n := syncs(Options{Write: rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}}}); n != 0 {
				t.Errorf("without syncs: %d", n)
			}
		})
	}
	for name, do := range operations {
		if name == "Split" {
			continue // out is none of its outputs
		}
		t.Run(name+", locked", func(t *testing.T) {
			t.Parallel() // most of it is waiting
			o := makeOperands(t)
			out := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(out, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := diskfile.Update(out, diskfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if other, err := diskfile.Update(out, diskfile.Options{}); err == nil {
				other.Close()
				f.Close()
				t.Skip("there are no locks here")
			}
			if _, err := do(t.Context(), out, o, everyOption{}); !errors.Is(err, rntuple.ErrLocked) {
				t.Errorf("the output is locked: %v", err)
			}
			closed := make(chan error)
			time.AfterFunc(20*time.Millisecond, func() { closed <- f.Close() })
			wait := Options{Write: rntuple.WriteOptions{File: rntuple.FileOptions{LockWait: time.Hour}}}
			if _, err := do(t.Context(), out, o, everyOption{Options: wait}); err != nil {
				t.Errorf("the output was locked: %v", err)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
		})
	}
}
