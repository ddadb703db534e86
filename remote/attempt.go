package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// maxBackoff limits the delay between two attempts, unless the server requests more, up to
// maxAfter.
const (
	maxBackoff = 10 * time.Second
	maxAfter   = time.Minute
)

// An attempt makes a request once. It reports whether it made progress, which resets the count of
// attempts.
type attempt func(ctx context.Context, arrived func(int)) (progress bool, err error)

// requests makes the requests for one file.
type requests struct {
	name  string // to show
	o     Options
	host  *host
	bytes *atomic.Int64 // counts those that are moved
	use   *use
}

// try makes a request and retries it after temporary errors.
func (f *requests) try(ctx context.Context, op string, a attempt) error {
	inner, leave, err := f.use.enter(ctx)
	if err != nil {
		return &Error{Op: op, URL: f.name, Err: err}
	}
	defer leave()
	wait, left := f.o.Backoff, f.o.MaxWait
	for n, total := 1, 1; ; n, total = n+1, total+1 {
		progress, err := f.once(inner, a, &left)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if cause := context.Cause(inner); cause != nil { // the file was closed
			return &Error{Op: op, URL: f.name, Attempts: total, Err: cause}
		}
		if progress {
			n, wait = 1, f.o.Backoff
		}
		after, again := temporary(err)
		if after > maxAfter {
			err = fmt.Errorf("%w, and asks to wait for %v", err, after.Round(time.Second))
		}
		if left <= 0 {
			err = fmt.Errorf("%w (%v without data)", err, f.o.MaxWait)
		}
		if !again || n >= f.o.Attempts || after > maxAfter || left <= 0 {
			return &Error{Op: op, URL: f.name, Attempts: total, Err: err}
		}
		f.o.Stats.repeated.Add(1)
		d := max(after, wait/2+rand.N(wait))
		pause := time.NewTimer(d)
		wait, left = min(2*wait, maxBackoff), left-d
		select {
		case <-pause.C:
		case <-inner.Done():
			pause.Stop()
		}
	}
}

// once makes one attempt, which fails if too little arrives for a while. It sets left to how much
// longer the next one may go without data.
func (f *requests) once(ctx context.Context, a attempt, left *time.Duration) (bool, error) {
	start := time.Now()
	if err := f.host.enter(ctx); err != nil {
		return false, err
	}
	defer f.host.leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := watch{timeout: f.o.Timeout, maxWait: f.o.MaxWait, left: *left,
		timer: time.AfterFunc(min(f.o.Timeout, *left), func() { cancel(ErrTimeout) })}
	w.start = time.Now()
	w.since = w.start
	progress, err := a(ctx, w.arrived)
	m := w.stop()
	*left = w.left - time.Since(w.since)
	if err != nil && context.Cause(ctx) == ErrTimeout && !errors.Is(err, ErrTimeout) { // it may say more
		err = ErrTimeout
	}
	f.bytes.Add(m.total)
	f.o.Stats.requests.Add(1)
	f.o.Stats.waited.Add(int64(time.Since(start)))
	if err == nil {
		f.host.measured(m)
	}
	return progress, err
}

// alive is the number of bytes that must arrive within the timeout. With fewer, the request counts
// as stalled, even if some data arrives.
const alive = 1 << 10

// A watch measures an attempt, and cancels it if it stalls.
type watch struct {
	timeout time.Duration // without a sign that data will arrive
	maxWait time.Duration // without data
	timer   *time.Timer

	mu      sync.Mutex // arrived may be called by another goroutine, and later than it should
	stopped bool
	lately  int           // bytes since the timer was set
	since   time.Time     // when data arrived, or the attempt began
	left    time.Duration // that may pass from then on without data
	measure
}

// arrived counts n bytes that have arrived now. None are a sign that there will be some.
func (w *watch) arrived(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.lately += n
	if w.lately >= alive {
		w.since, w.left = time.Now(), w.maxWait
	}
	if n == 0 || w.lately >= alive {
		w.timer.Reset(min(w.timeout, w.left-time.Since(w.since)))
		w.lately = 0
	}
	w.measure.arrived(n)
}

func (w *watch) stop() measure {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	return w.measure
}

// A use is what a file is used for: the requests that are under way.
type use struct {
	life  context.Context // ends when the file is closed
	end   context.CancelCauseFunc
	mu    sync.RWMutex // held for writing to close the file
	under sync.WaitGroup
}

func newUse() *use {
	u := new(use)
	u.life, u.end = context.WithCancelCause(context.Background())
	return u
}

// enter begins a request, unless the file is closed. The context that it returns ends with ctx, and
// when the file is closed; leave must be called at the end.
func (u *use) enter(ctx context.Context) (inner context.Context, leave func(), err error) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if u.life.Err() != nil {
		return nil, nil, context.Cause(u.life)
	}
	u.under.Add(1)
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(u.life, func() { cancel(context.Cause(u.life)) })
	return inner, func() {
		stop()
		cancel(nil)
		u.under.Done()
	}, nil
}

// close ends all requests and waits until they have left.
func (u *use) close() {
	u.mu.Lock()
	u.end(fs.ErrClosed)
	u.mu.Unlock()
	u.under.Wait()
}
