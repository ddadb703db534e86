package powercut

import (
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// A Fault makes one operation fail, and watches what comes after it. It is safe for
// concurrent use.
type Fault struct {
	At  int   // number of the operation
	Err error // its error
	// Share is how much of a write is done before it fails, from 0 to 1.
	Share float64
	// Log, if not nil, records what is done.
	Log *Log

	mu    sync.Mutex
	n     int
	Op    *Op  // that failed; nil if there were fewer operations
	After []Op // operations after it, without the bytes
}

// Hook lets operations pass but for one. It is a hook of package diskfile.
func (f *Fault) Hook(op Op) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = len(op.Data)
	failed := f.n == f.At
	if failed {
		n, err = int(float64(n)*f.Share), f.Err
	}
	if f.Log != nil && (!failed || n > 0) {
		done := op
		done.Data = op.Data[:n]
		f.Log.Hook(done)
	}
	op.Data = nil
	switch {
	case failed:
		f.Op = &op
	case f.n > f.At:
		f.After = append(f.After, op)
	}
	f.n++
	return n, err
}

// Retried reports whether a file was synced after its sync had failed.
func (f *Fault) Retried() bool {
	if f.Op == nil || f.Op.Kind != diskfile.SyncOp && f.Op.Kind != diskfile.SyncDirOp {
		return false
	}
	for _, op := range f.After {
		if op.Kind == f.Op.Kind && op.Path == f.Op.Path {
			return true
		}
	}
	return false
}
