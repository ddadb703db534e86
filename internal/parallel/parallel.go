package parallel

import "sync"

// Do calls do for the indexes from 0 to n-1, in at most the given number of goroutines,
// including the caller's; with fewer than two it is a plain loop. Calls begin in the order
// of the indexes, and no more begin once one has failed. Do waits for the calls in progress
// and returns the error of the lowest index that has one: the error at which a plain loop
// would have stopped.
//
// To end the loop when a context is done, return the context's error from do.
func Do(workers, n int, do func(i int) error) error {
	return DoWith(workers, n, func(_ *struct{}, i int) error { return do(i) })
}

// DoWith is like Do, but each goroutine passes a value of its own, initially zero,
// to all its calls: memory to reuse, for example.
func DoWith[S any](workers, n int, do func(own *S, i int) error) error {
	if workers = min(workers, n); workers < 2 {
		var own S
		for i := range n {
			if err := do(&own, i); err != nil {
				return err
			}
		}
		return nil
	}
	var mu sync.Mutex
	var failed error
	next, end := 0, n // end is the lowest index that has failed, if any
	work := func() {
		var own S
		for {
			mu.Lock()
			i, last := next, end
			next++
			mu.Unlock()
			if i >= last {
				return
			}
			if err := do(&own, i); err != nil {
				mu.Lock()
				if i < end {
					failed, end = err, i
				}
				mu.Unlock()
			}
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return failed
}
