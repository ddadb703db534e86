package remotetest

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// CheckGoroutines makes sure that no goroutine that begins after this call runs when the test has
// ended, after its other cleanups that are registered later. It must not be used beside parallel
// tests.
func CheckGoroutines(t testing.TB) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() {
		var left []string
		for wait := time.Millisecond; ; wait *= 2 { // those that are about to end may
			left = nil
			for id, stack := range goroutines() {
				if _, was := before[id]; !was {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
			if wait > time.Minute {
				break
			}
			time.Sleep(wait)
		}
		slices.Sort(left)
		t.Errorf("%d goroutines are left:\n\n%s", len(left), strings.Join(left, "\n\n"))
	})
}

// goroutines returns the stacks of all goroutines but this one, by their numbers.
func goroutines() map[string]string {
	b := make([]byte, 1<<20)
	for n := len(b); n == len(b); {
		b = make([]byte, 2*len(b))
		n = runtime.Stack(b, true)
		if n < len(b) {
			b = b[:n]
			break
		}
	}
	all := map[string]string{}
	for i, stack := range strings.Split(string(b), "\n\n") {
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		if i > 0 { // the first one is the caller
			all[id] = stack
		}
	}
	return all
}
