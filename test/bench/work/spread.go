package work

import "sync"

// Spread runs f(0) … f(n-1) concurrently, each with sums of its own, and returns
// their totals.
func Spread(n, sums int, f func(i int, sums []uint64) error) ([]uint64, error) {
	parts, errs := make([][]uint64, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		parts[i] = make([]uint64, sums)
		wg.Go(func() { errs[i] = f(i, parts[i]) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		if i > 0 {
			for k, sum := range parts[i] {
				parts[0][k] += sum
			}
		}
	}
	return parts[0], nil
}
