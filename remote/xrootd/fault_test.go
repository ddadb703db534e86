package xrootd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
)

const secret = "TopSecretToken"

// quick are options with which a request is soon repeated.
func quick() remote.Options {
	return remote.Options{Timeout: time.Minute, Attempts: 4, Backoff: time.Millisecond, Tail: 1000}
}

// content returns n bytes that are all different in blocks.
func content(n int) []byte {
	b := make([]byte, n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// readAll reads parts of the file of a fake in several ways, and returns an error if one is not
// right.
func readAll(ctx context.Context, url string, o remote.Options, want []byte) error {
	f, err := remote.Open(ctx, url, &o)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Len() != int64(len(want)) {
		return fmt.Errorf("WRONG: the file has %d bytes, want %d", f.Len(), len(want))
	}
	head, tail := make([]byte, 500), make([]byte, 500)
	_, err1 := f.ReadAt(head, 0)
	_, err2 := f.ReadAt(tail, f.Len()-500)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	var ranges []remote.Range
	for at := int64(1100); at < f.Len()-5000; at += 30_000 {
		ranges = append(ranges, remote.Range{Offset: at, Data: make([]byte, 1+at%4000)})
	}
	if err := f.ReadRanges(ctx, ranges); err != nil {
		return err
	}
	one := []remote.Range{{Offset: 50_000, Data: make([]byte, 60_000)}}
	if err := f.ReadRanges(ctx, one); err != nil {
		return err
	}
	for _, r := range append(ranges, one[0], remote.Range{Data: head}, remote.Range{Offset: f.Len() - 500, Data: tail}) {
		if !bytes.Equal(r.Data, want[r.Offset:r.End()]) {
			return fmt.Errorf("WRONG: the %d bytes from %d on", len(r.Data), r.Offset)
		}
	}
	return nil
}

// faults are ways to answer a request. Those that are not an end by themselves pass, which another
// attempt finds out.
var faults = map[string]func(c *fakeConn, r *fakeRequest){
	"lost":  func(c *fakeConn, r *fakeRequest) {},
	"close": func(c *fakeConn, r *fakeRequest) { c.Close() },
	"cut": func(c *fakeConn, r *fakeRequest) {
		b := raw(r.stream, statusOK, c.body(r))
		c.write(b[:len(b)-1])
		c.Close()
	},
	"cut header": func(c *fakeConn, r *fakeRequest) {
		c.write(raw(r.stream, statusOK, nil)[:5])
		c.Close()
	},
	"stall": func(c *fakeConn, r *fakeRequest) {
		b := raw(r.stream, statusOK, c.body(r))
		c.write(b[:len(b)/2])
		c.f.stalled(c)
	},
	"other stream":   func(c *fakeConn, r *fakeRequest) { c.send(r.stream+100, statusOK, c.body(r)) },
	"unknown status": func(c *fakeConn, r *fakeRequest) { c.send(r.stream, 4321, c.body(r)) },
	"status 4007":    func(c *fakeConn, r *fakeRequest) { c.send(r.stream, 4007, make([]byte, 24)) },
	"too short": func(c *fakeConn, r *fakeRequest) {
		b := c.body(r)
		c.send(r.stream, statusOK, b[:len(b)/3])
	},
	"empty": func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusOK, nil) },
	"too long": func(c *fakeConn, r *fakeRequest) {
		c.send(r.stream, statusOK, append(c.body(r), make([]byte, 70_000)...))
	},
	"negative size": func(c *fakeConn, r *fakeRequest) {
		b := raw(r.stream, statusOK, c.body(r))
		b[4] = 0xff
		c.write(b)
	},
	"huge size": func(c *fakeConn, r *fakeRequest) {
		b := raw(r.stream, statusError, c.body(r))
		b[4] = 0x7f
		c.write(b)
	},
	"endless": func(c *fakeConn, r *fakeRequest) {
		for range 200 {
			c.send(r.stream, statusOKSoFar, make([]byte, 32<<10))
		}
	},
	"short error":    func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusError, []byte{1, 2}) },
	"short wait":     func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusWait, []byte{1}) },
	"short redirect": func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusRedirect, []byte{0, 0, 0, 1}) },
	"bad redirect": func(c *fakeConn, r *fakeRequest) {
		c.send(r.stream, statusRedirect, numbered(-1, "http://127.0.0.1/x"))
	},
	"async twice": func(c *fakeConn, r *fakeRequest) {
		for range 3 {
			c.send(r.stream, statusWaitResp, numbered(1, ""))
		}
	},
	"bad attn": func(c *fakeConn, r *fakeRequest) {
		c.send(r.stream, statusAttn, append(numbered(asyncResponse, "\x00\x00\x00\x00"),
			raw(r.stream, statusOK, make([]byte, 9))[:12]...))
	},
	"auth more": func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusAuthMore, []byte("more")) },
	"overloaded": func(c *fakeConn, r *fakeRequest) {
		c.send(r.stream, statusError,
			numbered(errOverloaded, "later\x00"))
	},
	"I/O error": func(c *fakeConn, r *fakeRequest) {
		c.send(r.stream, statusError, numbered(errIOError, "disk "+string(r.data)+"\x00"))
	},
	"denied": func(c *fakeConn, r *fakeRequest) {
		c.send(r.stream, statusError, numbered(errUnauthorized, "Unable to open "+string(r.data)+"; permission denied\x00"))
	},
}

// raw returns the bytes of an answer.
func raw(stream uint16, status int, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, stream)
	b = binary.BigEndian.AppendUint16(b, uint16(status))
	return append(binary.BigEndian.AppendUint32(b, uint32(len(body))), body...)
}

// stalled waits until the client gives a connection up.
func (f *fake) stalled(c *fakeConn) {
	c.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 1<<10)
	for {
		if _, err := c.Conn.Read(b); err != nil {
			c.Close()
			return
		}
	}
}

// TestFaults answers the first request of each kind, or all of them, in all wrong ways: what is
// read is right, or there is an error, soon.
func TestFaults(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	places := make(chan struct{}, 16)
	var all sync.WaitGroup
	for kind := range kinds {
		if kind == requestClose || kind == requestAuth {
			continue
		}
		for fault := range faults {
			for _, always := range []bool{false, true} {
				places <- struct{}{}
				all.Go(func() {
					checkFault(t, want, kind, fault, always)
					<-places
				})
			}
		}
	}
	all.Wait()
}

func checkFault(t *testing.T, want []byte, kind uint16, fault string, always bool) {
	f := newFake(t, want)
	f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
		if r.number != kind || n > 0 && !always {
			return false
		}
		faults[fault](c, r)
		return true
	}
	o := quick()
	if fault == "lost" || fault == "stall" || fault == "async twice" { // others are noticed at once
		if o.Timeout = 300 * time.Millisecond; !always {
			o.Attempts = 100 // on a busy machine other requests may meet the timeout, too
		}
	}
	start := time.Now()
	err := readAll(context.Background(), "root://"+f.addr+"/"+path+"?authz=Bearer%20"+secret, o, want)
	name := fmt.Sprintf("%s: %s, always %t: ", kinds[kind], fault, always)
	if time.Since(start) > time.Minute {
		t.Errorf("%sit took %v", name, time.Since(start))
	}
	// the rest is no vectored read
	harmless := kind == requestQuery || kind == requestLogin && fault == "empty" || kind == requestReadv && fault == "cut"
	final := fault == "denied" || fault == "auth more" || fault == "bad redirect"
	switch {
	case err == nil && always && !harmless:
		t.Errorf("%sno error", name)
	case err == nil:
	case strings.Contains(err.Error(), "WRONG"), strings.Contains(err.Error(), secret):
		t.Errorf("%s%v", name, err)
	case !always && !final:
		t.Errorf("%sone fault makes all fail: %v", name, err)
	case fault == "denied" && !errors.Is(err, fs.ErrPermission):
		t.Errorf("%s%v, want one that wraps fs.ErrPermission", name, err)
	}
}

// patience is the timeout of clients that good makes wait for longer. Everything else is answered
// at once.
const patience = 4 * time.Second

// good are ways to answer that the protocol allows.
var good = map[string]func(c *fakeConn, r *fakeRequest, n int) bool{
	"pieces": func(c *fakeConn, r *fakeRequest, n int) bool {
		b := c.body(r)
		for len(b) > 1 {
			k := min(len(b)-1, 1+rand.N(5000))
			c.send(r.stream, statusOKSoFar, b[:k])
			b = b[k:]
		}
		c.send(r.stream, statusOK, b)
		return true
	},
	"wait": func(c *fakeConn, r *fakeRequest, n int) bool {
		if n%2 == 0 {
			c.send(r.stream, statusWait, numbered(0, "staging\x00"))
		}
		return n%2 == 0
	},
	"later": func(c *fakeConn, r *fakeRequest, n int) bool {
		if n > 0 {
			return false
		}
		c.send(r.stream, statusWaitResp, numbered(5, ""))
		c.send(0, statusAttn, numbered(5002, "\x00\x00\x00\x00hello\x00"))
		time.Sleep(patience * 5 / 4)
		c.send(0, statusAttn, append(numbered(asyncResponse, "\x00\x00\x00\x00"), raw(r.stream, statusOK, c.body(r))...))
		return true
	},
	"slowly": func(c *fakeConn, r *fakeRequest, n int) bool {
		if n > 0 {
			return false
		}
		b := raw(r.stream, statusOK, c.body(r))
		for i := range 6 {
			c.write(b[i*len(b)/6 : (i+1)*len(b)/6])
			time.Sleep(patience / 5)
		}
		return true
	},
}

// TestAnswers gives right answers in all ways that the protocol allows.
func TestAnswers(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	var all sync.WaitGroup
	defer all.Wait()
	for way, answer := range good {
		for kind, name := range kinds {
			early := kind == requestProtocol || kind == requestLogin
			read := kind == requestRead || kind == requestReadv
			if kind == requestClose || kind == requestAuth || kind == requestQuery || early && way != "later" ||
				way == "slowly" && !read {
				continue
			}
			all.Go(func() {
				f := newFake(t, want)
				f.answer = func(c *fakeConn, r *fakeRequest, n int) bool { return r.number == kind && answer(c, r, n) }
				o := quick()
				if o.Attempts = 1; way == "slowly" {
					o.Tail = 20_000 // or 1 KiB takes too long
				}
				if !early && way != "wait" && way != "pieces" {
					o.Timeout = patience
				}
				if err := readAll(context.Background(), "root://"+f.addr+"/"+path, o, want); err != nil {
					t.Errorf("%s: %s: %v", name, way, err)
				}
			})
		}
	}
}

// TestMaxWait has servers that ask to wait for ever, in all ways that the protocol has, or send
// what nobody has asked for.
func TestMaxWait(t *testing.T) {
	remotetest.CheckGoroutines(t)
	// opens answers requests to open, by turns.
	opens := func(answers ...func(c *fakeConn, r *fakeRequest)) func(c *fakeConn, r *fakeRequest, n int) bool {
		return func(c *fakeConn, r *fakeRequest, n int) bool {
			if r.number == requestOpen {
				answers[n%len(answers)](c, r)
			}
			return r.number == requestOpen
		}
	}
	wait := func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusWait, numbered(0, "")) }
	flood := func(c *fakeConn, r *fakeRequest) {
		c.write(bytes.Repeat(raw(0, statusAttn, numbered(5002, "\x00\x00\x00\x00hello\x00")), maxAttns))
	}
	const late = "no data arrived in time (300ms without data)"
	for name, c := range map[string]struct {
		answer func(c *fakeConn, r *fakeRequest, n int) bool
		want   error
		text   string
	}{
		"wait": {opens(wait), remote.ErrTimeout, late}, // of the server, or of the pause that it asks for
		"later": {opens(func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusWaitResp, numbered(1e6, "")) }),
			remote.ErrTimeout, "to answer open: " + late},
		"wait, then redirect": {opens(wait, func(c *fakeConn, r *fakeRequest) {
			c.send(r.stream, statusRedirect, numbered(-1, "root://"+c.f.addr))
		}), remote.ErrTimeout, late},
		"wait, then close": {opens(wait, func(c *fakeConn, r *fakeRequest) { c.Close() }), remote.ErrTimeout, late},
		"long": {opens(func(c *fakeConn, r *fakeRequest) { c.send(r.stream, statusWait, numbered(7200, "")) }),
			nil, "asks to wait for 2h0m0s before open, longer than 300ms"},
		"messages": {opens(flood), io.ErrNoProgress,
			"to answer open: the server does not keep to the XRootD protocol: 1000 messages without an answer between them"},
		"messages first": {func(c *fakeConn, r *fakeRequest, n int) bool { flood(c, r); return true }, io.ErrNoProgress,
			"to accept a connection: the server does not keep to the XRootD protocol: 1000 messages without an answer between them"},
	} {
		f := newFake(t, content(10_000))
		f.answer = c.answer
		o := remote.Options{Timeout: time.Minute, MaxWait: 300 * time.Millisecond, Attempts: 1000, Backoff: time.Millisecond}
		if c.want == io.ErrNoProgress {
			o.MaxWait, o.Attempts = time.Minute, 2
		}
		err := readAll(context.Background(), "root://"+f.addr+"/"+path, o, f.data)
		var e *remote.Error
		if !errors.As(err, &e) || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) ||
			!strings.Contains(e.Err.Error(), f.addr) {
			t.Errorf("%s: %v, want %s, and the server", name, err, c.text)
		}
	}
}

// TestChanged changes the file while it is open, and while it is opened anew.
func TestChanged(t *testing.T) {
	for _, reconnect := range []bool{false, true} {
		for _, what := range []string{"time", "size"} {
			f := newFake(t, content(100_000))
			r, err := remote.Open(context.Background(), "root://"+f.addr+"/"+path, new(quick()))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p := make([]byte, 10)
			if _, err := r.ReadAt(p, 5); err != nil {
				t.Error(err)
			}
			if what == "time" {
				f.mtime.Add(1)
			} else {
				f.data = content(100_001)
			}
			if reconnect {
				f.mu.Lock()
				for _, c := range f.all {
					c.Close()
				}
				f.mu.Unlock()
			}
			if _, err := r.ReadAt(make([]byte, 50_000), 40_000); !errors.Is(err, remote.ErrChanged) {
				t.Errorf("%s, reconnect %t: %v, want ErrChanged", what, reconnect, err)
			}
		}
	}
}

// TestRedirect follows redirections of each kind of request.
func TestRedirect(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := content(200_000)
	for _, kind := range []uint16{requestLogin, requestOpen, requestRead, requestReadv, requestStat} {
		for _, form := range []string{"host", "URL", "other host"} {
			to, from := newFake(t, want), newFake(t, want)
			_, port, _ := net.SplitHostPort(to.addr)
			number, _ := strconv.Atoi(port)
			body := numbered(number, "127.0.0.1?a=b?login")
			file := path + "?a=b"
			switch form {
			case "URL":
				body = numbered(-1, "root://"+to.addr+"//other/place?c=d")
				file = "/other/place?c=d"
			case "other host":
				body = numbered(number, "localhost?cap=e")
				file = path + "?cap=e"
			}
			from.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
				if r.number == kind {
					c.send(r.stream, statusRedirect, body)
				}
				return r.number == kind
			}
			if err := readAll(context.Background(), "root://me@"+from.addr+"/"+path+"?authz="+secret,
				quick(), want); err != nil {
				t.Errorf("%s, %s: %v", kinds[kind], form, err)
			}
			got := strings.Join(to.requests(), "\n")
			if !strings.Contains(got, "open "+file+"\n") || form == "host" && !strings.Contains(got, "login melogin\n") {
				t.Errorf("%s, %s: the requests are\n%s\nwant to open %s", kinds[kind], form, got, file)
			}
			if strings.Contains(got, secret) { // which is for the port in the URL
				t.Errorf("%s, %s: the other server is told the secret:\n%s", kinds[kind], form, got)
			}
		}
	}
}

// TestRedirectLoop redirects for ever.
func TestRedirectLoop(t *testing.T) {
	for _, kind := range []uint16{requestOpen, requestRead} {
		f := newFake(t, content(100_000))
		_, port, _ := net.SplitHostPort(f.addr)
		number, _ := strconv.Atoi(port)
		f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
			if r.number == kind {
				c.send(r.stream, statusRedirect, numbered(number, "127.0.0.1"))
			}
			return r.number == kind
		}
		if err := readAll(context.Background(), "root://"+f.addr+"/"+path, quick(), f.data); err == nil ||
			!strings.Contains(err.Error(), "redirected") {
			t.Errorf("%s: %v, want too many redirections", kinds[kind], err)
		}
		if n := f.count(kinds[kind]); n > 50 {
			t.Errorf("%d requests", n)
		}
	}
}

// TestTried has a server that redirects to one that does not have the file, and to one that has it
// when it is told, or not.
func TestTried(t *testing.T) {
	want := content(200_000)
	for _, listens := range []bool{true, false} {
		bad, from, right := newFake(t, want), newFake(t, want), newFake(t, want)
		bad.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
			if r.number == requestOpen {
				c.send(r.stream, statusError, numbered(errNotFound, "no such file\x00"))
			}
			return r.number == requestOpen
		}
		from.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
			host, to := "127.0.0.1", bad
			if listens && strings.HasSuffix(string(r.data), "?tried=127.0.0.1") {
				host, to = "localhost", right
			}
			_, port, _ := net.SplitHostPort(to.addr)
			number, _ := strconv.Atoi(port)
			if r.number == requestOpen {
				c.send(r.stream, statusRedirect, numbered(number, host))
			}
			return r.number == requestOpen
		}
		o := quick()
		o.Attempts = 1
		err := readAll(context.Background(), "root://"+from.addr+"/"+path, o, want)
		if listens && err != nil || !listens && !errors.Is(err, fs.ErrNotExist) || from.count("open") != 2 {
			t.Errorf("listens %t: %v; the requests are %q", listens, err, from.requests())
		}
	}
}
