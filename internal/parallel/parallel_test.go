package parallel_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/parallel"
)

// TestDo makes sure that all indexes below the first failure are visited once, and
// that its error is the one returned, whatever the number of workers.
func TestDo(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 3, 16} {
		for _, n := range []int{0, 1, 2, 100} {
			for _, fail := range [][]int{nil, {0}, {n - 1}, {n / 2, n - 1, n / 3}} {
				lowest := n
				for _, f := range fail {
					if f >= 0 {
						lowest = min(lowest, f)
					}
				}
				visits := make([]atomic.Int32, n)
				var goroutines atomic.Int32
				err := parallel.DoWith(workers, n, func(own *int, i int) error {
					if *own++; *own == 1 {
						goroutines.Add(1)
					}
					visits[i].Add(1)
					for _, f := range fail {
						if i == f {
							return fmt.Errorf("index %d", i)
						}
					}
					return nil
				})
				where := fmt.Sprintf("%d workers, %d indexes, failures %v", workers, n, fail)
				for i := range n {
					if v := visits[i].Load(); v > 1 || i <= lowest && v != 1 {
						t.Errorf("%s: index %d visited %d times", where, i, v)
					}
				}
				if lowest < n && (err == nil || err.Error() != fmt.Sprint("index ", lowest)) || lowest == n && err != nil {
					t.Errorf("%s: error %v", where, err)
				}
				if int(goroutines.Load()) > max(1, workers) {
					t.Errorf("%s: %d goroutines", where, goroutines.Load())
				}
			}
		}
	}
}

// TestDoStops makes sure that no index is handed out after a failure.
func TestDoStops(t *testing.T) {
	failure := errors.New("failure")
	for _, workers := range []int{1, 4} {
		var calls atomic.Int32
		err := parallel.Do(workers, 1000, func(int) error { calls.Add(1); return failure })
		if !errors.Is(err, failure) || int(calls.Load()) > workers {
			t.Errorf("%d workers: %d calls, %v", workers, calls.Load(), err)
		}
	}
}
