package remotetest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestServe reads ranges through a link, and compares counts and the shortest possible times.
func TestServe(t *testing.T) {
	CheckGoroutines(t)
	dir := t.TempDir()
	data := make([]byte, 300_000)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Serve(t, dir)
	const latency, bandwidth = 20 * time.Millisecond, 1e6
	link := NewLink(t, s.Addr, latency, bandwidth)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	get := func(ranges string) []byte {
		r, err := http.NewRequest("GET", "http://"+link.Addr+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Range", "bytes="+ranges)
		resp, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 206 {
			t.Errorf("%s: %s, %v", ranges, resp.Status, err)
		}
		return b
	}
	start := time.Now()
	if b := get("5-9"); !bytes.Equal(b, data[5:10]) {
		t.Errorf("got %x, want %x", b, data[5:10])
	}
	if d := time.Since(start); d < 4*latency {
		t.Errorf("a connection and a request take %v, want at least %v", d, 4*latency)
	}
	start = time.Now()
	get("0-0,7-8")
	if d := time.Since(start); d < 2*latency {
		t.Errorf("a request takes %v, want at least %v", d, 2*latency)
	}
	if n := link.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	s.Reset()
	before := link.Bytes()
	start = time.Now()
	var all sync.WaitGroup
	for i := range 3 { // they share the bandwidth
		all.Go(func() {
			from, to := i*100_000, (i+1)*100_000
			if b := get(fmt.Sprintf("%d-%d", from, to-1)); !bytes.Equal(b, data[from:to]) {
				t.Errorf("got other bytes from %d on", from)
			}
		})
	}
	all.Wait()
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("%d bytes take %v", len(data), d)
	}
	if n := link.Bytes() - before; n < int64(len(data)) || n > int64(len(data)+3*1000) {
		t.Errorf("%d bytes went over the link, want %d and headers", n, len(data))
	}
	if got, want := s.String(), "3 requests of 3 ranges, 300000 bytes"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLinkEnds makes sure that the end of a connection is passed on.
func TestLinkEnds(t *testing.T) {
	CheckGoroutines(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	link := NewLink(t, l.Addr().String(), time.Millisecond, 0)
	for _, broken := range []bool{false, true} {
		near, err := net.Dial("tcp", link.Addr)
		if err != nil {
			t.Fatal(err)
		}
		near.SetDeadline(time.Now().Add(time.Minute))
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(far, "abc")
		b := make([]byte, 3)
		if _, err := io.ReadFull(near, b); err != nil || string(b) != "abc" {
			t.Errorf("got %q, %v", b, err)
		}
		if broken {
			far.(*net.TCPConn).SetLinger(0)
		}
		far.Close()
		if n, err := near.Read(make([]byte, 1)); n != 0 || err == nil || broken == (err == io.EOF) {
			t.Errorf("broken %t: read %d bytes, %v", broken, n, err)
		}
		near.Close()
	}
}
