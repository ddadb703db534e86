package parallel_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/parallel"
)

// TestAhead takes results in order, up to the end or the first error. No more of them are
// computed, or wait, than there are workers.
func TestAhead(t *testing.T) {
	failure := errors.New("failure")
	for _, workers := range []int{-1, 1, 2, 3, 16} {
		for _, n := range []int{0, 1, 2, 100} {
			for _, fail := range []int{-1, 0, n / 2} {
				where := fmt.Sprintf("%d workers, %d results, failure %d", workers, n, fail)
				var begun, taken, most atomic.Int64
				a := parallel.NewAhead(workers, n, func(i int) (int, error) {
					most.Store(max(most.Load(), begun.Add(1)-taken.Load()))
					if i == fail {
						return 0, failure
					}
					return i * i, nil
				})
				want := parallel.ErrEnd
				if 0 <= fail && fail < n {
					want = failure
				}
				for i := 0; ; i++ {
					got, err := a.Next()
					taken.Add(1)
					if err != nil {
						if !errors.Is(err, want) || want == failure && i != fail || want != failure && i != n {
							t.Errorf("%s: error %v after %d results", where, err, i)
						}
						break
					}
					if got != i*i {
						t.Errorf("%s: result %d is %d", where, i, got)
					}
				}
				a.Stop()
				if m := most.Load(); m > int64(max(1, workers)) || workers == 1 && n > 0 && m != 1 {
					t.Errorf("%s: %d results at the same time", where, m)
				}
			}
		}
	}
}

// TestAheadStop makes sure that nothing runs after Stop.
func TestAheadStop(t *testing.T) {
	var running atomic.Int64
	a := parallel.NewAhead(4, 1000, func(i int) (int, error) {
		defer running.Add(-1)
		running.Add(1)
		runtime.Gosched()
		return i, nil
	})
	if _, err := a.Next(); err != nil {
		t.Fatal(err)
	}
	a.Stop()
	if n := running.Load(); n != 0 {
		t.Errorf("%d calls run", n)
	}
	if _, err := a.Next(); err != parallel.ErrEnd {
		t.Error(err)
	}
}

// TestAheadEnds makes errors of panics and of goroutines that end.
func TestAheadEnds(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2} {
		a := parallel.NewAhead(workers, 1, func(int) (int, error) { panic(broken) })
		_, err := a.Next()
		var p *parallel.PanicError
		if !errors.As(err, &p) || p.Value != broken || !errors.Is(err, broken) ||
			!strings.Contains(err.Error(), "broken\n\ngoroutine") {
			t.Errorf("%d workers: a panic becomes %v", workers, err)
		}
		a = parallel.NewAhead(workers, 1, func(int) (int, error) { runtime.Goexit(); return 0, nil })
		if _, err := a.Next(); err != parallel.ErrExit {
			t.Errorf("%d workers: the end of a goroutine becomes %v", workers, err)
		}
	}
}
