package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A fake is a Backend of bytes in memory.
type fake struct {
	data     []byte
	latency  time.Duration
	rate     float64 // bytes per second; 0: no limit
	most     int     // ranges
	gap      int64
	least    int64 // bytes that a request should have
	attempts int
	bytes    int64                                                     // read
	fail     func(attempt int, ranges []Range) (filled int, err error) // nil: none
	closed   bool
	info     *Info // that it opens with; nil: the right one
}

func (b *fake) Ranges() (int, int64, int64) { return b.most, b.gap, b.least }

func (b *fake) Close() error { b.closed = true; return nil }

func (b *fake) Open(ctx context.Context, tail int64, arrived func(int)) (Info, error) {
	if b.info != nil {
		return *b.info, nil
	}
	tail = min(tail, int64(len(b.data)))
	r := Range{int64(len(b.data)) - tail, make([]byte, tail)}
	_, err := b.Read(ctx, Info{}, []Range{r}, arrived)
	return Info{Size: int64(len(b.data)), Version: "1", Tail: r.Data}, err
}

func (b *fake) Read(ctx context.Context, _ Info, ranges []Range, arrived func(int)) (filled int, err error) {
	b.attempts++
	if err := b.sleep(ctx, b.latency); err != nil {
		return 0, err
	}
	if b.fail != nil {
		if filled, err := b.fail(b.attempts, ranges); err != nil {
			for _, r := range ranges[:filled] {
				copy(r.Data, b.data[r.Offset:])
			}
			return filled, err
		}
	}
	arrived(0)
	for _, r := range ranges {
		for rest := r; len(rest.Data) > 0; {
			n := min(64<<10, len(rest.Data))
			if b.rate > 0 {
				if err := b.sleep(ctx, time.Duration(float64(n)/b.rate*float64(time.Second))); err != nil {
					return filled, err
				}
			}
			copy(rest.Data[:n], b.data[rest.Offset:])
			arrived(n)
			b.bytes += int64(n)
			rest = Range{rest.Offset + int64(n), rest.Data[n:]}
		}
		filled++
	}
	return filled, nil
}

func (b *fake) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var (
	fakes    sync.Map // by host
	register = sync.OnceFunc(func() {
		Register("fake", func(u *url.URL, o *Options) (Backend, error) {
			b, ok := fakes.Load(u.Host)
			if !ok {
				return nil, errors.New("no such fake")
			}
			return b.(*fake), nil
		})
	})
)

// open opens a file of a fake, as the only one of its host.
func (b *fake) open(t *testing.T, o Options) *File {
	t.Helper()
	f, err := b.tryOpen(t, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func (b *fake) tryOpen(t *testing.T, o Options) (*File, error) {
	register()
	host := fmt.Sprintf("host%d", rand.Uint64())
	fakes.Store(host, b)
	t.Cleanup(func() { fakes.Delete(host) })
	return Open(t.Context(), "fake://"+host+"/a", &o)
}

// noise returns bytes of which no part is like another.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestCosts measures requests of a known latency and rate.
func TestCosts(t *testing.T) {
	const mega = 1 << 20
	within := func(got int64, want float64) bool { return float64(got) > 0.8*want && float64(got) < 1.25*want }
	for _, latency := range []time.Duration{100 * time.Microsecond, time.Millisecond, 20 * time.Millisecond,
		100 * time.Millisecond, time.Second} {
		for _, rate := range []float64{1e5, 1e6, 1e7, 1e8, 1e9} {
			for most, least := range map[int]int64{1: 0, 100: 0, 1000: 3 * mega} {
				synctest.Test(t, func(t *testing.T) {
					b := &fake{data: noise(mega), latency: latency, rate: rate, most: most, gap: 1000, least: least}
					f := b.open(t, Options{Requests: 4})
					// Opening tells the latency, but not the rate.
					gap := func(rate float64) float64 {
						gap := max(4<<10, min(latency.Seconds()*rate, 8*mega))
						if most > 1 {
							gap = min(gap, 1000)
						}
						return gap
					}
					if c := f.Costs(); !within(c.Gap, gap(firstRate)) || c.Ranges != most || c.Requests != 4 {
						t.Errorf("%v, %.0f bytes per second: %+v after opening", latency, rate, c)
					}
					for i := range 5 {
						if i == 3 { // is of no account
							b.latency *= 3
						}
						if err := f.ReadRanges(t.Context(), []Range{{0, make([]byte, mega/2)}}); err != nil {
							t.Fatal(err)
						}
						b.latency = latency
					}
					c := f.Costs()
					if !within(c.Gap, gap(rate)) || !within(c.Bytes,
						max(mega, float64(least), min(4*latency.Seconds()*rate, 8*mega))) {
						t.Errorf("%v, %.0f bytes per second: %+v, want a gap of %.0f", latency, rate, c, gap(rate))
					}
				})
			}
		}
	}
}

// TestAttempts counts attempts and the time between them.
func TestAttempts(t *testing.T) {
	passes, stays := &Temporary{Err: errors.New("passes")}, errors.New("stays")
	busy, nowhere := &net.DNSError{Err: "busy", IsTemporary: true}, &net.DNSError{Err: "nowhere", IsNotFound: true}
	always := func(err error) func(int) (int, error) { return func(int) (int, error) { return 0, err } }
	for name, c := range map[string]struct {
		fail              func(attempt int) (int, error)
		o                 Options
		attempts          int
		shortest, longest time.Duration
		want              error
	}{
		"none":           {always(nil), Options{}, 1, 0, 0, nil},
		"stays":          {always(stays), Options{}, 1, 0, 0, stays},
		"passes, always": {always(passes), Options{}, 5, 1500 * time.Millisecond, 4500 * time.Millisecond, passes},
		"passes, one":    {always(passes), Options{Attempts: 1}, 1, 0, 0, passes},
		"passes, many": {always(passes), Options{Attempts: 12, Backoff: time.Second}, 12, 75*time.Second/2 + 1,
			3 * 85 * time.Second / 2, passes},
		"passes, no pause": {always(passes), Options{Attempts: 3, Backoff: 1}, 3, 0, 10, passes},
		"DNS, for now": {always(&net.OpError{Op: "dial", Err: busy}),
			Options{Attempts: 2, Backoff: 1}, 2, 0, 10, busy},
		"DNS": {always(&net.OpError{Op: "dial", Err: nowhere}), Options{}, 1, 0, 0, nowhere},
		"late": {always(os.ErrDeadlineExceeded), Options{Attempts: 2, Backoff: 1}, 2, 0, 10,
			os.ErrDeadlineExceeded},
		"cut": {always(io.ErrUnexpectedEOF), Options{Attempts: 2, Backoff: 1}, 2, 0,
			10, io.ErrUnexpectedEOF},
		"changed":         {always(fmt.Errorf("%w, as it seems", ErrChanged)), Options{}, 1, 0, 0, ErrChanged},
		"changed for now": {always(&Temporary{Err: ErrChanged}), Options{}, 1, 0, 0, ErrChanged},
		"asks to wait": {always(&Temporary{Err: passes, After: 50 * time.Second}), Options{Attempts: 3}, 3,
			100 * time.Second, 100 * time.Second, passes},
		"asks to wait for too long": {always(&Temporary{Err: passes, After: 61 * time.Second}), Options{}, 1, 0, 0, passes},
		"in the end": {func(attempt int) (int, error) {
			if attempt < 4 {
				return 0, passes
			}
			return 0, nil
		}, Options{Backoff: 1}, 4, 0, 100, nil},
		"little by little": {func(attempt int) (int, error) { // each one fills a range
			if attempt < 10 {
				return 1, passes
			}
			return 0, nil
		}, Options{Attempts: 2, Backoff: 1}, 10, 0, 1000, nil},
		"too many, always": {always(ErrTooMany), Options{}, 101, 0, 0, ErrTooMany},
		"too many, often": {func(attempt int) (int, error) {
			if attempt < 100 {
				return 0, ErrTooMany
			}
			return 0, nil
		}, Options{Attempts: 1}, 100, 0, 0, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &fake{data: noise(100_000), most: 100}
			c.o.Tail, c.o.Stats = 1, new(Stats)
			f := b.open(t, c.o)
			b.attempts = 0
			b.fail = func(attempt int, _ []Range) (int, error) { return c.fail(attempt) }
			var ranges []Range
			for i := range 20 {
				ranges = append(ranges, Range{int64(i) * 5000, make([]byte, 10)})
			}
			start := time.Now()
			err := f.ReadRanges(t.Context(), ranges)
			d := time.Since(start)
			if !errors.Is(err, c.want) || b.attempts != c.attempts || d < c.shortest || d > c.longest {
				t.Errorf("%s: %v after %d attempts and %v, want %v after %d and %v to %v", name, err, b.attempts, d, c.want,
					c.attempts, c.shortest, c.longest)
			}
			for _, r := range ranges {
				if err == nil && !bytes.Equal(r.Data, b.data[r.Offset:r.End()]) {
					t.Errorf("%s: other bytes at %d", name, r.Offset)
				}
			}
			if n := f.o.Stats.Count().Requests; n != int64(c.attempts)+1 {
				t.Errorf("%s: counted %d requests", name, n)
			}
		})
	}
}

// TestTimeout gives up requests that stall or trickle, and no others.
func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		rate, size float64 // bytes per second, and of a read
		latency    time.Duration
		fails      bool
		after      time.Duration
	}{
		{0, 1 << 20, 29 * time.Second, false, 29 * time.Second},
		{0, 1 << 20, 31 * time.Second, true, 30 * time.Second},
		{1 << 12, 1 << 20, 0, false, 256 * time.Second}, // comes as 64 KiB each 16 s
		{1 << 10, 1 << 20, 0, true, 30 * time.Second},   // each 64 s
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &fake{data: noise(1 << 20), most: 1}
			f := b.open(t, Options{Tail: 1, Attempts: 1})
			b.latency, b.rate = c.latency, c.rate
			start := time.Now()
			err := f.ReadRanges(t.Context(), []Range{{0, make([]byte, int(c.size)-1)}})
			if d := time.Since(start).Round(time.Second); errors.Is(err, ErrTimeout) != c.fails ||
				(err != nil) != c.fails || d != c.after {
				t.Errorf("%+v: %v after %v", c, err, d)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a byte each 10 s
		b := &fake{data: noise(10_000), most: 1, rate: 1}
		f, err := b.tryOpen(t, Options{Attempts: 2})
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, ErrTimeout) || !b.closed ||
			!strings.HasSuffix(err.Error(), "/a: open: no data arrived in time (2 attempts)") {
			t.Errorf("%v, closed %t", err, b.closed)
		}
	})
}

// TestTrickle gives up a request of which less than 1 KiB arrives in time.
func TestTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fake{data: noise(10_000)}
		f := b.open(t, Options{Tail: 1})
		for _, c := range []struct{ step, n int }{{900, 1}, {1024, 100}, {512, 200}, {1, 29}} {
			arrivals := 0
			start := time.Now()
			_, err := f.once(t.Context(), func(ctx context.Context, arrived func(int)) (bool, error) {
				for range 200 {
					if err := b.sleep(ctx, 14*time.Second); err != nil {
						return false, err
					}
					arrived(c.step)
					arrivals++
				}
				return false, nil
			}, new(f.o.MaxWait))
			if fails := c.step < 512; !errors.Is(err, ErrTimeout) == fails || fails && time.Since(start) > 45*time.Second {
				t.Errorf("%d bytes each 14 s: %v after %v", c.step, err, time.Since(start))
			}
		}
	})
}

// TestMaxWait has a server that says each 10 s that data will arrive, and fails each 10 min. Data
// gives it more time.
func TestMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fake{data: noise(10_000)}
		f := b.open(t, Options{Tail: 1, Attempts: 100, MaxWait: 25 * time.Minute})
		for _, c := range []struct {
			data time.Duration // from the start of the request
			want time.Duration
		}{{0, 25 * time.Minute}, {7 * time.Minute, 32 * time.Minute}, {24 * time.Minute, 49 * time.Minute}} {
			start := time.Now()
			arrives := start.Add(c.data)
			err := f.try(t.Context(), "read", func(ctx context.Context, arrived func(int)) (bool, error) {
				for range 60 {
					if err := b.sleep(ctx, 10*time.Second); err != nil {
						return false, err
					}
					n := 0
					if c.data > 0 && !time.Now().Before(arrives) {
						n, c.data = 1<<10, 0
					}
					arrived(n)
				}
				return false, &Temporary{Err: errors.New("later")}
			})
			if d := time.Since(start) - c.want; !errors.Is(err, ErrTimeout) ||
				!strings.Contains(err.Error(), "no data arrived in time (25m0s without data)") || d < 0 || d > 10*time.Second {
				t.Errorf("%v after %v, want %v", err, time.Since(start), c.want)
			}
		}
	})
}

// TestReadAt reads pieces of a file in random order and sequentially, and counts what that takes.
func TestReadAt(t *testing.T) {
	data := noise(3 << 20)
	for _, tail := range []int64{1, 1000, 64 << 10, 4 << 20} {
		b := &fake{data: data, most: 1}
		f := b.open(t, Options{Tail: tail})
		random := rand.New(rand.NewPCG(1, uint64(tail)))
		for range 3000 {
			offset, size := random.Int64N(f.Len()+10), random.IntN(1<<random.IntN(18))
			if random.IntN(3) == 0 {
				offset = max(0, f.Len()-random.Int64N(200_000))
			}
			p := make([]byte, size)
			n, err := f.ReadAt(p, offset)
			want := data[min(offset, f.Len()):]
			want = want[:min(len(want), size)]
			if n != len(want) || !bytes.Equal(p[:n], want) || (err == io.EOF) != (n < size) || err != nil && err != io.EOF {
				t.Fatalf("tail of %d bytes: read %d bytes at %d: %d, %v", tail, size, offset, n, err)
			}
		}
		if kept := keptBytes(f.blocks); kept > keepBlocks+int(tail)+2*minStep {
			t.Errorf("%d bytes are kept", kept)
		}
	}
	// Many small reads in order take few requests, and each byte is read once.
	b := &fake{data: data, most: 1}
	f := b.open(t, Options{})
	for at := int64(0); at < f.Len(); at += 100 {
		if _, err := f.ReadAt(make([]byte, min(100, f.Len()-at)), at); err != nil {
			t.Fatal(err)
		}
	}
	if b.attempts > 12 || b.bytes != int64(len(data)) {
		t.Errorf("%d requests of %d bytes", b.attempts, b.bytes)
	}
}

func keptBytes(b *blocks) (n int) {
	for _, r := range append(b.ends, b.last...) {
		n += len(r.Data)
	}
	return n
}

// TestConcurrent reads from several goroutines, while the file is closed in the end.
func TestConcurrent(t *testing.T) {
	data := noise(1 << 20)
	b := &fake{data: data, most: 1}
	var mu sync.Mutex
	b.fail = func(int, []Range) (int, error) { return 0, nil }
	f := b.open(t, Options{Tail: 1000, Requests: 1}) // so that the fake is used by one at a time
	var all sync.WaitGroup
	done := 0
	for i := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for {
				offset, p := random.Int64N(f.Len()-5000), make([]byte, 1+random.IntN(5000))
				_, err := f.ReadAt(p, offset)
				if errors.Is(err, fs.ErrClosed) {
					return
				}
				if err != nil || !bytes.Equal(p, data[offset:][:len(p)]) {
					t.Errorf("%d bytes at %d: %v", len(p), offset, err)
					return
				}
				mu.Lock()
				if done++; done == 2000 {
					all.Go(func() { f.Close() })
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if !b.closed {
		t.Error("the backend is not closed")
	}
}

// TestBadSize refuses what a backend says that cannot be.
func TestBadSize(t *testing.T) {
	for _, info := range []Info{{Size: -1}, {Size: 5, Tail: make([]byte, 6)}} {
		b := &fake{info: &info}
		if f, err := b.tryOpen(t, Options{}); err == nil ||
			!strings.HasSuffix(err.Error(), fmt.Sprintf("the server says that the file has %d bytes", info.Size)) || !b.closed {
			t.Errorf("opened %v, %v", f, err)
		}
	}
}

// TestOpenObjects refuses what is no RNTuple in objects, and closes it.
func TestOpenObjects(t *testing.T) {
	b := &fake{data: noise(100)}
	register()
	fakes.Store("objects", b)
	t.Cleanup(func() { fakes.Delete("objects") })
	for url, want := range map[string]error{
		"fake://objects/a":       errors.ErrUnsupported,
		"ntpl+s3+https://host/a": ErrScheme,
		"a":                      ErrScheme,
	} {
		if s, err := OpenObjects(t.Context(), url, nil); s != nil || !errors.Is(err, want) {
			t.Errorf("%s: opened %v, %v, want %v", url, s, err, want)
		}
	}
	if b.attempts != 1 || !b.closed {
		t.Errorf("%d attempts, closed: %v", b.attempts, b.closed)
	}
}
