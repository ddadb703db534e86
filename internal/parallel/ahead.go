package parallel

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Ahead is results that are computed in several goroutines, and taken in order. At most
// as many of them are computed, or wait, as there are goroutines. It must be used by one
// goroutine at a time.
type Ahead[R any] struct {
	workers, n, next int // next is the first index that is not begun
	do               func(i int) (R, error)
	pending          []chan outcome[R] // of the indexes before next, in order
}

type outcome[R any] struct {
	result R
	err    error
}

// NewAhead returns the results of do for the indexes from 0 to n-1. With fewer than two
// workers, do runs only while Next waits.
func NewAhead[R any](workers, n int, do func(i int) (R, error)) *Ahead[R] {
	return &Ahead[R]{workers: max(1, workers), n: n, do: do}
}

// ErrEnd is the error of Next after the last result.
var ErrEnd = errors.New("there are no more results")

// Next returns the next result. After an error it must not be called again. If do panics,
// the error is a *PanicError; if it ends its goroutine, ErrExit.
func (a *Ahead[R]) Next() (R, error) {
	for len(a.pending) < a.workers && a.next < a.n {
		a.begin()
	}
	if len(a.pending) == 0 {
		return *new(R), ErrEnd
	}
	o := <-a.pending[0]
	a.pending = a.pending[1:]
	return o.result, o.err
}

// begin begins to compute a result.
func (a *Ahead[R]) begin() {
	to, i := make(chan outcome[R], 1), a.next
	a.next++
	a.pending = append(a.pending, to)
	go func() {
		o := outcome[R]{err: ErrExit}
		defer func() {
			if value := recover(); value != nil {
				o.err = &PanicError{value, debug.Stack()}
			}
			to <- o
		}()
		o.result, o.err = a.do(i)
	}()
}

// Stop waits for the calls of do that are in progress. No more begin.
func (a *Ahead[R]) Stop() {
	a.next = a.n
	for _, c := range a.pending {
		<-c
	}
	a.pending = nil
}

// ErrExit says that a function has ended its goroutine by runtime.Goexit, which t.FailNow
// calls.
var ErrExit = errors.New("the goroutine has ended")

// A PanicError is a panic in another goroutine.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the original value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
