package rntuple

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/internal/partition"
)

// Fold computes a result from all entries of a source in several goroutines. It partitions the
// entries into ranges, calls work for each of them, and combines the results with join, in the
// order of the entries:
//
//	join(join(join(r0, r1), r2), r3)
//
// The ranges are aligned with clusters and depend only on the source. So if work and join are
// deterministic, the result is bit-for-bit independent of the number of goroutines, including sums
// of floats.
//
// Calls of work run concurrently: each must create its own views, of the source that is passed to
// it, which has the entries, fields and context of s, and return its own result. Calls of join are
// sequential; join may modify and return its first argument. Results are joined as soon as all
// earlier ones are, so that few are kept in memory. If there are no entries, work is called once,
// with an empty range, and Fold returns its result.
//
// When the context of s is done, Fold returns the context's error. After an error of work, Fold
// starts no further ranges, waits for those in progress, and returns the zero A and the error of
// the earliest range that failed, where a sequential loop would have stopped. A panic of work or
// join is propagated to the caller of Fold. The panic value is then an error with the text of the
// original value and its stack trace; it wraps the original value if that is an error.
func Fold[A any](s Source, work func(s Source, entries EntryRange) (A, error), join func(a, b A) A,
	o *FoldOptions) (A, error) {
	return fold(s, work, join, o, 0)
}

// fold is Fold with a minimum number of entries per range, for remote sources.
func fold[A any](s Source, work func(s Source, entries EntryRange) (A, error), join func(a, b A) A,
	options *FoldOptions, least int64) (A, error) {
	var zero A
	o := *cmp.Or(options, new(FoldOptions))
	workers := cmp.Or(o.Workers, s.workers())
	ctx := s.context()
	ranges, total, err := foldRanges(ctx, s, least)
	if err != nil {
		return zero, err
	}
	if min(workers, len(ranges)) > 1 {
		s = oneWorker{s}
	}

	var mu sync.Mutex
	results := make([]*A, len(ranges)) // nil if not there yet, or joined
	var sum A
	joined, done := 0, int64(0)
	err = parallel.Do(workers, len(ranges), func(i int) (err error) {
		defer caught(&err)
		if err := ctx.Err(); err != nil {
			return err
		}
		result, err := work(s, ranges[i])
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		results[i] = &result
		for ; joined < len(results) && results[joined] != nil; joined++ {
			if joined == 0 {
				sum = *results[0]
			} else {
				sum = join(sum, *results[joined])
			}
			results[joined] = nil
		}
		if done += ranges[i].Len(); o.Progress != nil {
			o.Progress(done, total)
		}
		return nil
	})
	switch err := err.(type) {
	case *foldPanic:
		panic(err)
	case error:
		return zero, err
	}
	if joined < len(ranges) {
		runtime.Goexit() // as work has done, which t.FailNow calls
	}
	return sum, nil
}

// FoldOptions configures Fold. The zero value and a nil pointer select the defaults.
type FoldOptions struct {
	// Workers is the number of goroutines that call work, including that of Fold's caller; with
	// one, Fold is a sequential loop. Default: ReadOptions.Workers of the source.
	Workers int

	// Progress, if set, is called after every range with the number of processed entries, which
	// increases up to the total. Calls are made by several goroutines, but never concurrently.
	Progress func(done, total int64)
}

// maxRanges is the number of ranges into which Fold cuts the entries, at most: enough for
// many goroutines to end at almost the same time, and so few that the cost of a range does
// not matter.
const maxRanges = 4096

// foldRanges returns the ranges of entries that Fold gives to work, at least one, and the number of
// entries. Clusters are joined where there are too many, or if s is far away and they have less
// than the given number of entries.
func foldRanges(ctx context.Context, s Source, least int64) (ranges []EntryRange, total int64, err error) {
	clusters, err := s.ranges(ctx)
	if err != nil {
		return nil, 0, err
	}
	if n := len(clusters); n > 0 {
		total = clusters[n-1].End
	}
	n := int64(maxRanges)
	if s.far() && least > 0 {
		n = max(1, min(n, total/least))
	}
	weights := make([]int64, len(clusters))
	for i, c := range clusters {
		weights[i] = c.Len()
	}
	for _, part := range partition.Equal(weights, int(n)) {
		ranges = append(ranges, EntryRange{clusters[part.Begin].First, clusters[part.End-1].End})
	}
	if len(ranges) == 0 {
		ranges = []EntryRange{{}}
	}
	return ranges, total, nil
}

// oneWorker is a source whose loops do not read the next entries in another goroutine.
type oneWorker struct{ Source }

func (oneWorker) workers() int { return 1 }

// foldPanic is a panic of a function that was given to Fold.
type foldPanic struct {
	value any
	stack []byte
}

// caught makes an error of a panic.
func caught(err *error) {
	if value := recover(); value != nil {
		*err = &foldPanic{value, debug.Stack()}
	}
}

func (p *foldPanic) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// Unwrap returns the original value if it is an error.
func (p *foldPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}
