package xrootd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	neturl "net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
)

// TestConcurrent makes many requests of several files at a time, whose answers come in pieces and
// in any order.
func TestConcurrent(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(500_000)
	f := newFake(t, want)
	var answering sync.WaitGroup
	defer answering.Wait()
	f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
		if r.number != requestRead && r.number != requestReadv {
			return false
		}
		answering.Go(func() {
			b := c.body(r)
			for len(b) > 20_000 {
				time.Sleep(rand.N(3 * time.Millisecond))
				n := 1 + rand.IntN(20_000)
				c.send(r.stream, statusOKSoFar, b[:n])
				b = b[n:]
			}
			c.send(r.stream, statusOK, b)
		})
		return true
	}
	var all sync.WaitGroup
	for range 3 {
		r, err := remote.Open(context.Background(), "root://"+f.addr+"/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 15 {
			all.Go(func() {
				for range 5 {
					var ranges []remote.Range
					for at := rand.Int64N(100_000); at < 450_000; at += rand.Int64N(100_000) {
						ranges = append(ranges, remote.Range{Offset: at, Data: make([]byte, 1+rand.IntN(40_000))})
						at = ranges[len(ranges)-1].End()
					}
					if err := r.ReadRanges(context.Background(), ranges); err != nil {
						t.Error(err)
						return
					}
					for _, r := range ranges {
						if !bytes.Equal(r.Data, want[r.Offset:r.End()]) {
							t.Errorf("wrong bytes from %d to %d", r.Offset, r.End())
						}
					}
				}
			})
		}
	}
	all.Wait()
	if n := f.count("login"); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
}

// TestCancel cancels a request whose answer comes later: nothing of it is written any more, and the
// connection goes on.
func TestCancel(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	f := newFake(t, want)
	ctx, cancel := context.WithCancelCause(context.Background())
	release, answered := make(chan struct{}), make(chan struct{})
	f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
		if r.number != requestReadv {
			return false
		}
		b := c.body(r)
		c.send(r.stream, statusOKSoFar, b[:len(b)/2])
		cancel(errors.New("enough"))
		go func() {
			<-release
			c.send(r.stream, statusOK, b[len(b)/2:])
			close(answered)
		}()
		return true
	}
	r, err := remote.Open(context.Background(), "root://"+f.addr+"/"+path, &remote.Options{Tail: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ranges := []remote.Range{{Offset: 10, Data: make([]byte, 100)}, {Offset: 100_000, Data: make([]byte, 100)}}
	if err := r.ReadRanges(ctx, ranges); err == nil || err.Error() != "enough" {
		t.Errorf("%v, want enough", err)
	}
	clear(ranges[0].Data)
	clear(ranges[1].Data)
	close(release)
	<-answered
	p := make([]byte, 40_000)
	if _, err := r.ReadAt(p, 300); err != nil || !bytes.Equal(p, want[300:40_300]) {
		t.Errorf("wrong bytes, or %v", err)
	}
	if zero := make([]byte, 100); !bytes.Equal(ranges[0].Data, zero) || !bytes.Equal(ranges[1].Data, zero) {
		t.Error("the answer to a cancelled request has arrived")
	}
	if n := f.count("login"); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
}

// TestBroken breaks the connection while nothing is read: the file is opened anew.
func TestBroken(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	f := newFake(t, want)
	r, err := remote.Open(context.Background(), "root://"+f.addr+"/"+path, new(quick()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		f.mu.Lock()
		for _, c := range f.all {
			c.Close()
		}
		f.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		one := []remote.Range{{Offset: 1000, Data: make([]byte, 5000)}}
		if err := r.ReadRanges(context.Background(), one); err != nil || !bytes.Equal(one[0].Data, want[1000:6000]) {
			t.Errorf("wrong bytes, or %v", err)
		}
	}
	if n := f.count("open"); n != 4 {
		t.Errorf("the file was opened %d times, want 4", n)
	}
}

// TestStopped has a server that says nothing any more, but whose connection stays: it is given up.
func TestStopped(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	f := newFake(t, want)
	f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
		if r.number == requestRead && n == 1 {
			f.stalled(c)
		}
		return false
	}
	o := quick()
	o.Timeout, o.Attempts = 500*time.Millisecond, 100
	if err := readAll(context.Background(), "root://"+f.addr+"/"+path, o, want); err != nil {
		t.Error(err)
	}
	if n := f.count("login"); n < 2 {
		t.Errorf("%d logins, want 2", n)
	}
}

// TestTrickle has a server that sends a byte now and then: requests that wait behind are given up
// as the one whose answer it is, and the connection, too.
func TestTrickle(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	f := newFake(t, want)
	f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
		if r.number != requestReadv || n > 0 {
			return false
		}
		for b := raw(r.stream, statusOK, c.body(r)); len(b) > 0; b = b[1:] {
			if _, err := c.Conn.Write(b[:1]); err != nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		return true
	}
	o := quick()
	o.Timeout, o.Attempts = 500*time.Millisecond, 100
	r, err := remote.Open(context.Background(), "root://"+f.addr+"/"+path, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	start := time.Now()
	var all sync.WaitGroup
	for i := range int64(4) {
		all.Go(func() {
			ranges := []remote.Range{{Offset: i * 1000, Data: make([]byte, 900)}, {Offset: 100_000, Data: make([]byte, 900)}}
			if err := r.ReadRanges(context.Background(), ranges); err != nil ||
				!bytes.Equal(ranges[0].Data, want[i*1000:][:900]) {
				t.Errorf("wrong bytes, or %v", err)
			}
		})
	}
	all.Wait()
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	if n := f.count("login"); n < 2 {
		t.Errorf("%d logins, want 2", n)
	}
}

// TestFirst has a server that answers the login only once it is asked to open the file.
func TestFirst(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	f := newFake(t, want)
	f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
		if r.number != requestLogin {
			return false
		}
		next, err := c.next()
		if err != nil || next.number != requestOpen {
			t.Errorf("%v, %v, want a request to open the file", next, err)
			return false
		}
		c.send(r.stream, statusOK, c.body(r))
		c.send(next.stream, statusOK, c.body(next))
		return true
	}
	if err := readAll(context.Background(), "root://"+f.addr+"/"+path, quick(), want); err != nil {
		t.Error(err)
	}
}

// TestRequests counts what is asked for.
func TestRequests(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	for _, c := range []struct {
		limits string
		most   int // elements that the server takes, whatever it says
		readv  []string
	}{
		{"1024\n2097136\n", 1024, []string{"readv 7"}},
		{"readv_iov_max\nreadv_ior_max\n", 1024, []string{"readv 7"}},
		{"4\n2097136\n", 1024, []string{"readv 4", "readv 3"}},
		{"100\n5000\n", 1024, []string{"readv 7"}},
		{"1\n2097136\n", 1024, nil},
		{"-1\n2097136\n", 1024, nil},
		{"1024\n2097136\n", 3, []string{"readv 7", "readv 3", "readv 3"}},
		{"1024\n2097136\n", 1, []string{"readv 7", "readv 3"}},
	} {
		f := newFake(t, want)
		f.answer = func(conn *fakeConn, r *fakeRequest, n int) bool {
			switch {
			case r.number == requestQuery:
				conn.send(r.stream, statusOK, []byte(c.limits+"\x00"))
			case r.number == requestReadv && len(r.elements()) > c.most:
				conn.send(r.stream, statusError, numbered(errArgTooLong, "Read vector is too long\x00"))
			default:
				return false
			}
			return true
		}
		if err := readAll(context.Background(), "root://"+f.addr+"/"+path, quick(), want); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		var readv []string
		for _, r := range f.requests() {
			if strings.HasPrefix(r, "readv") {
				readv = append(readv, r)
			}
		}
		if !slices.Equal(readv, c.readv) {
			t.Errorf("%+v: %q", c, readv)
		}
	}
}

// TestSplit compares what is asked for with the bytes that are wanted, one by one.
func TestSplit(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var ranges []remote.Range
		wanted := map[int64]bool{}
		at := random.Int64N(100)
		for range 1 + random.IntN(20) {
			r := remote.Range{Offset: at, Data: make([]byte, 1+random.IntN(300))}
			for i := r.Offset; i < r.End(); i++ {
				wanted[i] = true
			}
			ranges, at = append(ranges, r), r.End()+random.Int64N(3*gap)
		}
		l := limits{1 + random.IntN(8), 1 + random.IntN(400)}
		last, pieces := int64(-1), 0
		for _, elements := range split(ranges, l) {
			if len(elements) > l.elements || len(elements) == 0 {
				t.Fatalf("%d elements, of at most %d", len(elements), l.elements)
			}
			for _, e := range elements {
				if e.offset < last || len(elements) > 1 && e.size > l.size || e.size <= 0 {
					t.Fatalf("an element of %d bytes at %d, behind %d", e.size, e.offset, last)
				}
				if e.offset-last > gap && l.elements > 1 {
					pieces++
				}
				for i := e.offset; i < e.end(); i++ {
					if !wanted[i] && l.elements > 1 && !wanted[i-gap] && !wanted[i+gap] {
						near := false
						for d := int64(1); d <= gap; d++ {
							near = near || wanted[i-d] || wanted[i+d]
						}
						if !near {
							t.Fatalf("byte %d is not wanted", i)
						}
					}
					delete(wanted, i)
				}
				last = e.end()
			}
		}
		if len(wanted) > 0 {
			t.Fatalf("%d bytes are not asked for", len(wanted))
		}
	}
}

// FuzzAnswers reads what a server may send. What the client takes for complete must be so.
func FuzzAnswers(f *testing.F) {
	data := []byte("0123456789")
	elements := []element{{0, 3}, {5, 4}}
	handle := fileHandle(theHandle)
	vector := slices.Concat(elements[0].append(nil, handle), data[:3], elements[1].append(nil, handle), data[5:9])
	read, readv, stat := raw(1, statusOK, data), raw(2, statusOK, vector), raw(3, statusOK, []byte("1 10 48 100\x00"))
	f.Add(slices.Concat(read, readv, stat))
	f.Add(slices.Concat(raw(2, statusOKSoFar, vector[:20]), raw(1, statusOKSoFar, data[:4]), raw(2, statusOK, vector[20:]),
		raw(1, statusOK, data[4:]), stat))
	f.Add(slices.Concat(raw(1, statusWaitResp, numbered(1, "")),
		raw(0, statusAttn, append(numbered(asyncResponse, "\x00\x00\x00\x00"), read...)),
		raw(2, statusError, numbered(errNotFound, "no")), raw(3, statusWait, numbered(0, ""))))
	f.Add(raw(2, statusRedirect, numbered(1094, "host?a=b?c")))
	f.Add(raw(2, statusRedirect, numbered(-1, "roots://[::1]:7//x/y?a=b")))
	f.Fuzz(func(t *testing.T, b []byte) {
		near, far := net.Pipe()
		c, _ := newConn(near, near, true, false, nil)
		defer c.close()
		var sending sync.WaitGroup
		defer sending.Wait()
		defer far.Close()
		requests := []*request{readRequest(handle, []element{{0, len(data)}}),
			readRequest(handle, elements), statRequest(handle)}
		got := [][]byte{make([]byte, len(data)), make([]byte, len(data))}
		sinks := []sink{
			newScatter(handle, []element{{0, len(data)}}, []remote.Range{{Data: got[0]}}),
			newScatter(handle, elements, []remote.Range{{Data: got[1][:3]}, {Offset: 5, Data: got[1][5:9]}}),
			new(message),
		}
		p := newProgress(time.Second, func(int) {})
		var calls []*call
		for i, r := range requests {
			k, err := c.start(r, sinks[i], p)
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, k)
		}
		sending.Go(func() { bytesFrom(far) })
		sending.Go(func() { far.Write(b); far.Close() })
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for i, k := range calls {
			a, err := k.wait(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				t.Fatal("the end of the connection is not noticed")
			}
			if err != nil {
				continue
			}
			var to *redirection
			if err := a.err(); err == nil && i < 2 {
				if s := sinks[i].(*scatter); len(s.elements) > 0 || s.done > 0 {
					t.Errorf("request %d is complete without %v", i, s.elements)
				}
			} else if errors.As(err, &to) {
				if next := (place{host: "x", port: "1", path: "/y"}).follow(to, place{}); next.host == "" ||
					next.port == "" || next.path == "" {
					t.Errorf("redirected to %+v", next)
				}
			}
		}
		if m := sinks[2].(*message); len(m.data) > 0 {
			parseConfig(m.data)
			parseOpen(m.data)
			if info, err := parseStat(cString(m.data)); err == nil && info.Size < 0 {
				t.Errorf("%+v", info)
			}
		}
	})
}

// bytesFrom reads until the end.
func bytesFrom(c net.Conn) {
	b := make([]byte, 1<<10)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}

// TestURLs opens files by URLs of all forms.
func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"root://h//a/b":                   "{h 1094 false  /a/b }",
		"root://h/a/b":                    "{h 1094 false  /a/b }",
		"xroot://me@h:7///a":              "{h 7 false  //a }",
		"roots://[::1]:7//a%20b?x=y%20&z": "{::1 7 true  /a b x=y%20&z}",
		"XRoots://H//a?&q":                "{H 1094 true  /a q}",
		"root:///a":                       "names no host",
		"root://h":                        "names no file",
		"root://h//":                      "names no file",
		"root://h//a%00b":                 "character",
		"root://h//a%3Fb":                 "character",
	} {
		u, err := neturl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		p, err := placeOf(u)
		if got := fmt.Sprint(p); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %s", url, got, err, want)
		}
	}
}
