package rntuple

import (
	"iter"
	"sync"
)

// ahead yields what next returns, up to its last result. With several workers, next is called
// in another goroutine, for the next result, while the loop's body runs.
func ahead[R any](workers int, next func() (result R, last bool)) iter.Seq[R] {
	return func(yield func(R) bool) {
		var other sync.WaitGroup
		defer other.Wait()
		result, last := next()
		for {
			this, done := result, last
			if workers > 1 && !done {
				other.Go(func() { result, last = next() })
			}
			if !yield(this) || done {
				return
			}
			if workers > 1 {
				other.Wait()
			} else {
				result, last = next()
			}
		}
	}
}
