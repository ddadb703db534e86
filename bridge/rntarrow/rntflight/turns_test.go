//go:build !race

// With the race detector, the runtime of Go 1.26 crashes where a bubble of package synctest makes
// timers.

package rntflight_test

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntflight"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// timed runs a test of a server in a bubble of package synctest: its clock advances when the
// server and all clients wait, and nothing of them may be left at its end. The folder of the
// server has a file a.root of 100,000 entries.
func timed(t *testing.T, o rntflight.Options, test func(t *testing.T, l loopback)) {
	t.Helper()
	if o.Folder == "" {
		o.Folder = t.TempDir()
		write(t, filepath.Join(o.Folder, "a.root"), 100_000, 25_000)
	}
	synctest.Test(t, func(t *testing.T) {
		l := loopback{Listener: bufconn.Listen(1 << 10)}
		l.stop = serveAt(t, o, l)
		test(t, l)
	})
}

// A loopback listens in memory, at what looks like an address of this machine.
type loopback struct {
	*bufconn.Listener
	stop func()
}

func (loopback) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// dial returns a client of the server at l.
func (l loopback) dial(t testing.TB) flight.Client {
	t.Helper()
	return dial(t, "passthrough:///",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
}

// ask asks for all entries of a.root.
func ask(t testing.TB, ctx context.Context, c flight.Client) flight.FlightService_DoGetClient {
	t.Helper()
	stream, err := c.DoGet(ctx, (&rntflight.Query{File: "a.root"}).Ticket())
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// begin asks for all entries of a.root and takes the first message, the schema.
func begin(t testing.TB, ctx context.Context, c flight.Client) flight.FlightService_DoGetClient {
	t.Helper()
	stream := ask(t, ctx, c)
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	return stream
}

// end takes all messages of a stream and returns the error at its end.
func end(stream flight.FlightService_DoGetClient) (err error) {
	for err == nil {
		_, err = stream.Recv()
	}
	return err
}

// TestStalled has clients stop reading: they are dropped, and others get their turns.
func TestStalled(t *testing.T) {
	timed(t, rntflight.Options{MaxStreams: 2, Timeout: time.Minute}, func(t *testing.T, l loopback) {
		c := l.dial(t)
		stalled := []flight.FlightService_DoGetClient{begin(t, t.Context(), c), begin(t, t.Context(), c)}
		time.Sleep(30 * time.Second)
		c = l.dial(t)
		begin(t, t.Context(), c) // holds one of the two turns
		rows, _, err := get(t.Context(), c, (&rntflight.Query{File: "a.root"}).Ticket())
		if err != nil || len(rows) != 100_000 {
			t.Errorf("the next client got %d rows, %v", len(rows), err)
		}
		for _, stream := range stalled {
			wants(t, end(stream), codes.DeadlineExceeded, "took no data for 1m0s")
		}
	})
}

// TestSlow has a client take each batch just in time: it is not dropped, however long that lasts.
func TestSlow(t *testing.T) {
	timed(t, rntflight.Options{Timeout: time.Minute}, func(t *testing.T, l loopback) {
		r, err := flight.NewRecordReader(ask(t, t.Context(), l.dial(t)))
		if err != nil {
			t.Fatal(err)
		}
		started, rows := time.Now(), int64(0)
		for r.Next() {
			rows += r.RecordBatch().NumRows()
			time.Sleep(59 * time.Second)
		}
		if took := time.Since(started); r.Err() != nil || rows != 100_000 || took < 2*time.Minute {
			t.Errorf("%d rows in %v, %v", rows, took, r.Err())
		}
	})
}

// TestManyStalled has clients that stop reading and stay connected: the first ones are
// disconnected when there are more than the number of streams.
func TestManyStalled(t *testing.T) {
	timed(t, rntflight.Options{MaxStreams: 2, Timeout: time.Minute}, func(t *testing.T, l loopback) {
		var streams []flight.FlightService_DoGetClient
		for range 5 {
			streams = append(streams, begin(t, t.Context(), l.dial(t)))
			time.Sleep(2 * time.Minute)
		}
		for i, stream := range streams {
			if i < 3 {
				wants(t, end(stream), codes.Unavailable)
			} else {
				wants(t, end(stream), codes.DeadlineExceeded)
			}
		}
	})
}

// TestMemory has as many streams as there may be wait for their clients: each holds a record
// batch and some pages, of a file with much more.
func TestMemory(t *testing.T) {
	folder := t.TempDir()
	type row struct{ A, B, C, D, E, F, G, H [64]float64 } // 4 KiB
	w, err := rntuple.Create[row](filepath.Join(folder, "a.root"), "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 50_000 {
		w.Write(new(row))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	timed(t, rntflight.Options{Folder: folder}, func(t *testing.T, l loopback) {
		before := heap()
		for range 16 {
			begin(t, t.Context(), l.dial(t))
		}
		synctest.Wait()
		if used := heap() - before; used > 16*32<<20 {
			t.Errorf("16 streams hold %d MiB", used>>20)
		}
	})
}

// TestMaxTime ends a stream that lasts too long.
func TestMaxTime(t *testing.T) {
	timed(t, rntflight.Options{MaxTime: time.Minute, Timeout: time.Hour}, func(t *testing.T, l loopback) {
		stream := begin(t, t.Context(), l.dial(t))
		time.Sleep(2 * time.Minute)
		wants(t, end(stream), codes.DeadlineExceeded, "longer than 1m0s")
	})
}

// TestHundred has a hundred clients at once: each gets all entries in its turn, or
// ResourceExhausted if too many wait.
func TestHundred(t *testing.T) {
	for _, test := range []struct{ streams, refused int64 }{{16, 0}, {1, 100 - 16}} {
		timed(t, rntflight.Options{MaxStreams: int(test.streams)}, func(t *testing.T, l loopback) {
			hold, release := context.WithCancel(t.Context())
			for range test.streams {
				begin(t, hold, l.dial(t))
			}
			var clients sync.WaitGroup
			var refused, served atomic.Int64
			for range 100 {
				c := l.dial(t)
				clients.Go(func() {
					rows, _, err := get(t.Context(), c, (&rntflight.Query{File: "a.root", Fields: []string{"ID"}}).Ticket())
					switch {
					case status.Code(err) == codes.ResourceExhausted:
						refused.Add(1)
					case err != nil || len(rows) != 100_000:
						t.Errorf("%d rows, %v", len(rows), err)
					default:
						served.Add(1)
					}
				})
			}
			synctest.Wait() // until all have asked
			if n := refused.Load(); n != test.refused || served.Load() != 0 {
				t.Errorf("%d streams at a time: %d clients refused, want %d; %d served too early", test.streams, n,
					test.refused, served.Load())
			}
			release()
			clients.Wait()
			if n := served.Load(); n != 100-test.refused {
				t.Errorf("%d streams at a time: %d clients served, want %d", test.streams, n, 100-test.refused)
			}
		})
	}
}

// TestCanceled frees the turn of a client that goes away.
func TestCanceled(t *testing.T) {
	timed(t, rntflight.Options{MaxStreams: 1}, func(t *testing.T, l loopback) {
		started := time.Now()
		for i := range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := l.dial(t)
			stream := ask(t, ctx, c)
			for range i % 3 {
				if _, err := stream.Recv(); err != nil {
					t.Fatal(err)
				}
			}
			if i%2 == 0 {
				cancel()
			} else {
				c.Close()
			}
		}
		rows, _, err := get(t.Context(), l.dial(t), (&rntflight.Query{File: "a.root", Fields: []string{"Class"}}).Ticket())
		if took := time.Since(started); err != nil || len(rows) != 100_000 || took != 0 {
			t.Errorf("%d rows after %v, %v", len(rows), took, err)
		}
	})
}

// TestShutdown ends a server while streams stall and wait.
func TestShutdown(t *testing.T) {
	timed(t, rntflight.Options{MaxStreams: 3}, func(t *testing.T, l loopback) {
		var streams []flight.FlightService_DoGetClient
		for range 3 {
			streams = append(streams, begin(t, t.Context(), l.dial(t)))
		}
		for range 3 {
			streams = append(streams, ask(t, t.Context(), l.dial(t)))
		}
		synctest.Wait()
		l.stop()
		for _, stream := range streams {
			wants(t, end(stream), codes.Unavailable)
		}
	})
}
