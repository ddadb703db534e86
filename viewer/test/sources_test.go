package test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/viewer"
)

// A holey file has holes where zeros are written.
type holey struct{ *os.File }

var zeros [1 << 20]byte

func (f holey) WriteAt(p []byte, off int64) (int, error) {
	for rest := p; len(rest) > 0; {
		part := rest[:min(len(rest), len(zeros))]
		if !bytes.Equal(part, zeros[:len(part)]) {
			if _, err := f.File.WriteAt(part, off); err != nil {
				return 0, err
			}
		}
		rest, off = rest[len(part):], off+int64(len(part))
	}
	return len(p), nil
}

const (
	bigBatches = 190
	bigBatch   = 2 << 20
	bigEntries = bigBatches * bigBatch // 398 million; 3.2 GB
)

// big makes a file of 3 GB, nearly all holes. The first entry of each batch is its number, the last
// is -1.
func big(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "big.root")
	disk, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	opts := &rntuple.WriteOptions{Compression: compress.None, NoSharing: true}
	f, err := rntuple.NewFile(holey{disk}, "big.root", nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := schema.FieldOf("x", "std::int64_t")
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewColumnWriter(f, "big", &schema.Document{Name: "big", Fields: []*schema.FieldDocument{x}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int64, bigBatch)
	values[bigBatch-1] = -1
	for i := range bigBatches {
		values[0] = int64(i)
		if err := rntuple.Put(w, "x", values); err != nil {
			t.Fatal(err)
		}
		if err := w.End(bigBatch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := disk.Stat(); err != nil || info.Size() < 3_000_000_000 {
		t.Fatal(info.Size(), err)
	}
	return path
}

// TestBig scrolls through a file of 3 GB with 398 million entries: row by row, from end to end, and
// to the very last one.
func TestBig(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: 3 GB take seconds")
	}
	p := newTab(t, 1000, 700, "")
	if !p.open(big(t)) {
		t.Fatal(p.text(".failure"))
	}
	p.show("ntuple", "big", "view", "entries")
	cell := func(row int64, want string) {
		t.Helper()
		p.wait(`document.querySelector('.grid [data-row="`+fmt.Sprint(row)+`"] .cell:not(.waits)')?.textContent === %s`, want)
	}
	cell(0, "0")
	eval[bool](p, `(document.querySelector(".grid").scrollTop = 1e9, true)`) // the bar, to its end
	cell(bigEntries-1, "-1")
	eval[bool](p, `document.querySelector(".grid").focus(), true`)
	p.press(kb.Home, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	cell(0, "0")
	p.press(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	cell(bigEntries-1, "-1")
	p.press(kb.ArrowUp)
	p.wait(`document.querySelector('[data-row="%s"] .cell.active')`, bigEntries-2)
	p.show("ntuple", "big", "view", "entries", "entry", fmt.Sprint(100*bigBatch))
	p.wait(`document.querySelector(".entry").dataset.shown === %s`, fmt.Sprintf("big %d", 100*bigBatch))
	if got := eval[string](p, unfolded); got != `{"x":100}` {
		t.Errorf("entry %d is shown as %s", 100*bigBatch, got)
	}
	// A turn of the wheel moves by rows, not by a share of the file.
	p.press(kb.Home, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	cell(0, "0")
	eval[bool](p, `document.querySelector(".grid").dispatchEvent(new WheelEvent("wheel", { deltaY: 260, cancelable: true })), true`)
	p.wait(`document.querySelector('[data-row="10"]') && !document.querySelector('[data-row="9"]')`)

	// A histogram of all tells how far it is, and can be cancelled; the engine answers other
	// questions then.
	p.show("ntuple", "big", "view", "histogram", "x", "x")
	p.wait(`document.querySelector(".histogram .task:not([hidden]) progress")?.value > 0`)
	p.click(".histogram .task button")
	p.wait(`document.querySelector(".histogram [role=status]").textContent === "Cancelled."`)
	p.show("ntuple", "big", "view", "entries", "entry", fmt.Sprint(50*bigBatch))
	p.wait(`document.querySelector(".entry").dataset.shown === %s`, fmt.Sprintf("big %d", 50*bigBatch))
}

// pageHandler returns the handler that serves the page with an engine that the browser
// decompresses.
func pageHandler(t *testing.T) http.Handler {
	t.Helper()
	h, err := viewer.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHandler opens a file in the page as package viewer serves it.
func TestHandler(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/", pageHandler(t))
	mux.Handle("/data/", http.StripPrefix("/data/", http.FileServer(http.Dir(testdata))))
	s := httptest.NewServer(mux)
	defer s.Close()
	p := newTab(t, 1200, 800, "")
	p.do(chromedp.Navigate(s.URL + "/#url=/data/dimuon.root&ntuple=Events&view=histogram&x=nMuon"))
	p.wait(`document.querySelector(".plot[data-drawn=nMuon]")`)
	if n := eval[int](p, `(async () => (await (await fetch("/rnt.wasm.zst")).arrayBuffer()).byteLength)()`); n < 10_000_000 {
		t.Errorf("the engine has %d bytes for the page, as if it were compressed", n)
	}
}

// TestFirstView logs how long it takes until the fields of a local file are shown, the median of
// three times: from loading the page, whose engine starts meanwhile, and from choosing the file,
// which is done as soon as the page has a button for it. RNTUPLE_J names a file of the benchmark,
// J-505.root.
func TestFirstView(t *testing.T) {
	s := httptest.NewServer(pageHandler(t))
	defer s.Close()
	paths := []string{testdata + "/dimuon.root", testdata + "/good/types_zstd_many.root"}
	if j := os.Getenv("RNTUPLE_J"); j != "" {
		paths = append(paths, j)
	}
	p := newTab(t, 1200, 800, "")
	for _, path := range paths {
		var loading, choosing [3]time.Duration
		for i := range loading {
			p.do(chromedp.Navigate("about:blank"))
			loaded := time.Now()
			p.do(chromedp.Navigate(s.URL))
			p.wait(`document.documentElement.dataset.ready`)
			chosen := time.Now()
			if !p.open(path) {
				t.Fatal(p.text(".failure"))
			}
			p.wait(`document.querySelector('#tree [aria-level="2"]')`)
			loading[i], choosing[i] = time.Since(loaded), time.Since(chosen)
		}
		slices.Sort(loading[:])
		slices.Sort(choosing[:])
		t.Logf("%s: the fields are shown %v after the page was loaded, %v after the file was chosen", filepath.Base(path),
			loading[1].Round(time.Millisecond), choosing[1].Round(time.Millisecond))
	}
}

// A server counts what it is asked for.
type server struct {
	*httptest.Server
	ranges, whole atomic.Int64 // requests
	bytes         atomic.Int64 // that were sent
}

// serve serves testdata to other origins: with ranges or without, and with leave to read or
// without.
func serve(t *testing.T, ranges, leave bool) *server {
	t.Helper()
	s := new(server)
	files := http.FileServer(http.Dir(testdata))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if leave {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Allow-Headers", "Range")
			w.Header().Set("Access-Control-Expose-Headers", "Content-Range, Content-Length, Accept-Ranges, ETag")
		}
		if r.Method == http.MethodOptions {
			return
		}
		if ranges && r.Header.Get("Range") != "" {
			s.ranges.Add(1)
			files.ServeHTTP(counting{w, &s.bytes}, r)
			return
		}
		r.Header.Del("Range")
		if r.Method == http.MethodGet {
			s.whole.Add(1)
		}
		if ranges {
			files.ServeHTTP(counting{w, &s.bytes}, r)
			return
		}
		files.ServeHTTP(rangeless{counting{w, &s.bytes}}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// rangeless does not say that there could be ranges.
type rangeless struct{ counting }

func (r rangeless) WriteHeader(status int) {
	r.Header().Del("Accept-Ranges")
	r.counting.WriteHeader(status)
}

// TestURL opens files of servers with and without ranges, and says what is wrong with those that do
// not give them.
func TestURL(t *testing.T) {
	with, without, closed := serve(t, true, true), serve(t, false, true), serve(t, true, false)
	want := lines(t, testdata+"/dimuon.root", "Events", 79999, 1)[0]
	for _, s := range []*server{with, without} {
		p := newTab(t, 1200, 800, "#url="+s.URL+"/dimuon.root&ntuple=Events&view=entries&entry=79999")
		p.wait(`document.querySelector(".entry").dataset.shown === "Events 79999" || document.querySelector(".failure")`)
		compare(t, "the last entry", eval[string](p, unfolded), want)
	}
	// Two open the file, at its start and at its end; then pages that lie together come together:
	// 13 in all, and 53 one by one.
	if with.whole.Load() > 0 || with.ranges.Load() == 0 || with.ranges.Load() > 30 {
		t.Errorf("with ranges the page made %d requests of the whole file, %d of ranges",
			with.whole.Load(), with.ranges.Load())
	}
	if info, err := os.Stat(testdata + "/dimuon.root"); err != nil || with.bytes.Load() >= info.Size() {
		t.Errorf("%d bytes were sent for the last entry of a file of %d", with.bytes.Load(), info.Size())
	}
	p := newTab(t, 1200, 800, "")
	for _, address := range []string{with.URL + "/none.root", closed.URL + "/dimuon.root",
		"http://127.0.0.1:1/dimuon.root"} {
		p.goTo("#url=" + address)
		p.wait(`document.documentElement.dataset.ready === "failed"`)
		if got := p.text(".failure"); strings.Contains(got, "Something went wrong") {
			t.Errorf("%s: the page says %q", address, got)
		}
		if !p.open(testdata + "/dimuon.root") {
			t.Fatal(p.text(".failure"))
		}
	}
}

// TestText shows a file whose names, descriptions and values are markup: as text.
func TestText(t *testing.T) {
	const markup = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>`
	type entry struct {
		Text string `rntuple:"text,desc=<img src=x onerror=\"window.broken=1\"><script>window.broken=1</script>"`
	}
	path := filepath.Join(t.TempDir(), `<b onclick="x">.root`)
	w, err := rntuple.Create[entry](path, "<img>", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&entry{markup}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := newTab(t, 1200, 800, "")
	if !p.open(path) {
		t.Fatal(p.text(".failure"))
	}
	infos, err := rntuple.ListFile(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, view := range []string{"details", "entries", "histogram", "storage", "records", "check", "download"} {
		p.show("ntuple", infos[0].Path, "field", "text", "x", "text", "view", view, "entry", "0")
		p.wait(`!document.querySelector("#view-" + %s).hidden`, view)
		if view == "entries" {
			p.wait(`document.querySelector(".entry").dataset.shown`)
			compare(t, "the entry", eval[string](p, unfolded), lines(t, path, infos[0].Path, 0, 1)[0])
		}
		if eval[bool](p, `document.querySelector("img, b, body script") !== null || "broken" in window`) {
			t.Errorf("%s: what the file holds became markup", view)
		}
	}
}
