package bits

import (
	"os"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/fencetest"
)

// TestFence puts page and elements right before and right behind memory that
// must not be touched: a stray access ends the test with a fault.
func TestFence(t *testing.T) {
	size := 2 * os.Getpagesize()
	before, behind := fencetest.New(t, size), fencetest.New(t, size)
	forKernels(t, func(t *testing.T) {
		for _, o := range allOps() {
			for n := range 301 {
				next := []fencetest.Fence{before, behind}
				get := func(atEnd bool) func(n, align int) []byte {
					return func(n, align int) []byte {
						f := next[0]
						next = append(next[1:], f)
						if atEnd {
							return f.Last(n)
						}
						return f.First(n)
					}
				}
				o.check(t, n, nil, get(false))
				o.check(t, n, nil, get(true))
			}
		}
	})
}
