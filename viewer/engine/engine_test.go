package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
)

const (
	testdata = "../../testdata"
	good     = testdata + "/good"
	dimuon   = testdata + "/dimuon.root"
)

// served are the files that URLs of the scheme test stand for.
var (
	served     sync.Map // of backends, by number
	servedLast atomic.Int64
)

func init() {
	remote.Register("test", func(u *url.URL, _ *remote.Options) (remote.Backend, error) {
		b, ok := served.Load(u.Host)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return b.(*backend), nil
	})
}

// A backend is a file in memory.
type backend struct {
	b       []byte
	reading func(ctx context.Context) error // called for each read; may be nil

	reads atomic.Int64 // bytes
}

func (b *backend) Open(_ context.Context, _ int64, arrived func(int)) (remote.Info, error) {
	arrived(0)
	return remote.Info{Size: int64(len(b.b))}, nil
}

func (b *backend) Read(ctx context.Context, _ remote.Info, ranges []remote.Range, arrived func(int)) (int, error) {
	if b.reading != nil {
		if err := b.reading(ctx); err != nil {
			return 0, err
		}
	}
	for _, r := range ranges {
		n := copy(r.Data, b.b[r.Offset:])
		arrived(n)
		b.reads.Add(int64(n))
	}
	return len(ranges), nil
}

func (b *backend) Ranges() (n int, gap, least int64) { return 1, 0, 0 }

func (b *backend) Close() error { return nil }

// serve returns the URL of a backend.
func serve(t *testing.T, b *backend) string {
	t.Helper()
	host := strconv.FormatInt(servedLast.Add(1), 10)
	served.Store(host, b)
	t.Cleanup(func() { served.Delete(host) })
	return "test://" + host + "/file.root"
}

// read returns the bytes of a file.
func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// try asks an engine, and returns what comes as the page gets it, or the error.
func try[T any](e *Engine, method string, params any, progress func(Answer)) (to T, b Bytes, err error) {
	text, err := json.Marshal(params)
	if err != nil {
		return to, nil, err
	}
	a, err := e.Do(context.Background(), method, text, progress)
	if err != nil {
		return to, nil, err
	}
	if text, err = json.Marshal(a.JSON); err == nil {
		err = json.Unmarshal(text, &to)
	}
	return to, a.Bytes, err
}

// ask is try for requests that succeed.
func ask[T any](t *testing.T, e *Engine, method string, params any) T {
	t.Helper()
	to, _, err := try[T](e, method, params, nil)
	if err != nil {
		t.Fatalf("%s %v: %v", method, params, err)
	}
	return to
}

// opened returns an engine that has a file open, and what it says of it.
func opened(t *testing.T, path string) (*Engine, Opened) {
	t.Helper()
	e := new(Engine)
	return e, ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: read(t, path)}),
		"name": filepath.Base(path)})
}

// UnmarshalJSON is that of Int, for tests.
func (i *Int) UnmarshalJSON(b []byte) (err error) {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*i = Int(n)
	return err
}

// TestRanges makes sure that little is read where little is needed.
func TestRanges(t *testing.T) {
	b := &backend{b: read(t, dimuon)}
	e := new(Engine)
	ask[Opened](t, e, "open", map[string]any{"url": serve(t, b)})
	ask[Rows](t, e, "rows", map[string]any{"first": 70_000, "count": 10, "fields": []string{"run"}})
	s := ask[Stats](t, e, "stats", nil)
	for range 6000 { // a request may be under way that is not wanted any more
		if int64(s.BytesRead) == b.reads.Load() {
			break
		}
		time.Sleep(10 * time.Millisecond)
		s = ask[Stats](t, e, "stats", nil)
	}
	if n := b.reads.Load(); int64(s.BytesRead) != n || n > int64(len(b.b)/2) || s.Requests == 0 {
		t.Errorf("%+v; %d of %d bytes were read", s, n, len(b.b))
	}
}

// TestErrors tells errors apart.
func TestErrors(t *testing.T) {
	content := read(t, dimuon)
	e := new(Engine)
	fails := func(kind, method string, params any) {
		t.Helper()
		_, _, err := try[json.RawMessage](e, method, params, nil)
		if err == nil {
			t.Errorf("%s %v succeeds", method, params)
		} else if got := ErrorOf(err); got.Kind != kind || got.Message == "" {
			t.Errorf("%s %v: %+v, want %s", method, params, got, kind)
		}
	}
	fails("invalid", "rows", nil)
	fails("invalid", "what", nil)
	fails("network", "open", map[string]any{"url": "test://none/file.root"})
	fails("network", "open", map[string]any{"url": "nothing://host/file.root"})
	fails("invalid", "rows", nil) // still nothing is open
	fails("corrupt", "open", map[string]any{"url": serve(t,
		&backend{b: []byte("PNG: no ROOT file at all, but long enough to be one, perhaps. It is not. It has a hundred bytes, or more.")})})
	fails("corrupt", "open", map[string]any{"url": serve(t, &backend{b: content[:200]})})
	damaged := slices.Clone(content)
	i := bytes.Index(damaged, []byte("\x40\x00\x00\x42\x00\x02")) // the byte count of the anchor
	damaged[i+3]++
	o := ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: damaged})})
	if len(o.NTuples) != 1 || o.NTuples[0].Error == nil || o.NTuples[0].Error.Kind != "corrupt" ||
		o.NTuples[0].Error.Offset == nil {
		t.Errorf("%+v", o)
	}
	fails("corrupt", "rows", map[string]any{"ntuple": "Events"})
	ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content})})
	fails("notfound", "rows", map[string]any{"ntuple": "Evens"})
	fails("invalid", "rows", map[string]any{"first": -1})
	fails("invalid", "rows", map[string]any{"first": "one"})
	fails("invalid", "rows", map[string]any{"count": 1, "fields": []string{"nothing"}})
	for _, x := range []string{"", "Muon_pt +", "nothing", "len(Muon_pt, 1)"} {
		fails("invalid", "histogram", map[string]any{"expression": x})
		if x != "" {
			fails("invalid", "histogram", map[string]any{"expression": "run", "where": x})
			fails("invalid", "download", map[string]any{"format": "csv", "where": x})
		}
	}
	fails("invalid", "histogram", map[string]any{"expression": "run", "where": "Muon_pt"})
	fails("invalid", "histogram", map[string]any{"expression": "run", "low": 2, "high": 1})
	fails("invalid", "histogram", map[string]any{"expression": "run", "bins": -1})
	fails("invalid", "histogram", map[string]any{"expression": "run", "bins": 1 << 40})
	fails("invalid", "histogram", map[string]any{"expression": "Muon_pt", "where": "Muon_eta[1:] > 0"})
	fails("invalid", "storage", map[string]any{"cluster": 1 << 20})
	fails("invalid", "record", map[string]any{"id": "{}"})
	fails("invalid", "record", map[string]any{"id": ""})
	fails("invalid", "record", map[string]any{"id": recordID{Part: "container", Number: 1 << 20}.String()})
	fails("invalid", "download", map[string]any{"format": "exe"})
	if got, _ := json.Marshal([]Int{1 << 53, 1<<53 + 1,
		-1 << 62}); string(got) != `[9007199254740992,"9007199254740993","-4611686018427387904"]` {
		t.Errorf("%s", got)
	}
}

// TestCancel ends requests: those that are cancelled, and those for a file that another one
// replaces.
func TestCancel(t *testing.T) {
	content := read(t, dimuon)
	for _, replace := range []bool{false, true} {
		e := new(Engine)
		blocked := make(chan bool)
		var block atomic.Bool
		var once sync.Once
		b := &backend{b: content, reading: func(ctx context.Context) error {
			if !block.Load() {
				return nil
			}
			once.Do(func() { close(blocked) })
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		ask[Opened](t, e, "open", map[string]any{"url": serve(t, b)})
		block.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		go func() {
			_, err := e.Do(ctx, "histogram", json.RawMessage(`{"expression": "Muon_pt"}`), nil)
			done <- err
		}()
		<-blocked
		if replace {
			ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content})})
		} else {
			cancel()
		}
		if err := <-done; err == nil || ErrorOf(err).Kind != "cancelled" {
			t.Errorf("replaced: %v: %v", replace, err)
		}
		if !replace {
			block.Store(false)
		}
		ask[Rows](t, e, "rows", map[string]any{"count": 1})
	}
}

// TestConcurrent asks many things at once.
func TestConcurrent(t *testing.T) {
	e, _ := opened(t, dimuon)
	requests := map[string]string{
		"rows":      `{"first": 100, "count": 10}`,
		"histogram": `{"expression": "Muon_pt"}`,
		"schema":    `{}`,
		"storage":   `{}`,
		"verify":    `{}`,
		"stats":     `{}`,
	}
	var all sync.WaitGroup
	for range 3 {
		for method, params := range maps.All(requests) {
			all.Go(func() {
				if _, err := e.Do(t.Context(), method, json.RawMessage(params), func(Answer) {}); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			})
		}
	}
	all.Wait()
}

// TestCaught makes sure that a panic answers a request, without its value or a trace.
func TestCaught(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	_, err := caught("histogram", func() (Answer, error) { panic("secret") })
	if e := ErrorOf(err); e.Kind != "internal" || e.Message != "internal error in histogram; the log says more" {
		t.Error(e)
	}
}
