package test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestJsrootTypes sets the page beside jsroot, of the version of interop: how many fields of the
// files of testdata that have all types each shows right.
func TestJsrootTypes(t *testing.T) {
	modules := installJsroot(t)
	var report strings.Builder
	w := tabwriter.NewWriter(&report, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "file\tfields\tjsroot right\tthe page right\t")
	for _, base := range []string{"types_none_one", "types_zstd_many"} {
		fields := fieldsOf(t, base)
		jsroot, ours := rightOfJsroot(t, modules, base), rightOfPage(t, base, fields)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t\n", base, len(fields), jsroot, ours)
		if ours != len(fields) {
			t.Errorf("%s: the page shows %d of %d fields right", base, ours, len(fields))
		}
	}
	w.Flush()
	t.Log("\n" + report.String())
}

// TestJsrootHistogram has jsroot and the page draw a histogram of Muon_pt: the time from loading
// the page, and the bytes of the file that were fetched. RNTUPLE_J names a file of the benchmark,
// J-505.root; otherwise one of that shape is made.
func TestJsrootHistogram(t *testing.T) {
	modules := installJsroot(t)
	path := os.Getenv("RNTUPLE_J")
	if path == "" {
		path = makeJ(t, 100_000)
	}
	var report strings.Builder
	size, bytes := compareHistograms(t, &report, modules, path)
	t.Log("\n" + report.String())
	if bytes > size/4 {
		t.Errorf("the page fetched %d of the %d bytes of the file for one field of many", bytes, size)
	}
}

// installJsroot returns the folder of modules in which the version of interop is, or skips the
// test.
func installJsroot(t *testing.T) string {
	t.Helper()
	if os.Getenv("RNTUPLE_INTEROP") == "" {
		t.Skip("skipped: RNTUPLE_INTEROP is not set")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "go-rntuple", "jsroot")
	want, err := os.ReadFile("../../test/interop/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if have, _ := os.ReadFile(filepath.Join(dir, "done")); !slices.Equal(have, want) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), want, 0o666); err != nil {
			t.Fatal(err)
		}
		install := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
			"--no-package-lock", "--loglevel=error")
		install.Dir = dir
		if out, err := install.CombinedOutput(); err != nil {
			t.Skipf("skipped: npm install: %v\n%s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, "done"), want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "node_modules")
}

func fieldsOf(t *testing.T, base string) []string {
	t.Helper()
	r, err := rntuple.Open(testdata+"/good/"+base+".root", "types", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for _, f := range r.Schema().TopLevel() {
		names = append(names, f.Name)
	}
	return names
}

// rightOfJsroot returns how many fields jsroot reads as ROOT does.
func rightOfJsroot(t *testing.T, modules, base string) int {
	t.Helper()
	out, err := exec.Command("node", "../../test/interop/jsroot_read.mjs", modules, "types",
		testdata+"/good/"+base+".jsonl.gz", testdata+"/good/"+base+".root").Output()
	if err != nil {
		t.Fatal(err)
	}
	var report struct{ Files []map[string]string }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, wrong := range report.Files[0] {
		if wrong == "" {
			right++
		}
	}
	return right
}

// rightOfPage returns how many fields the page shows as rnt cat prints them, which TestCat of
// cmd/rnt and package interop compare with ROOT.
func rightOfPage(t *testing.T, base string, fields []string) int {
	t.Helper()
	path := testdata + "/good/" + base + ".root"
	r, err := rntuple.Open(path, "types", nil)
	if err != nil {
		t.Fatal(err)
	}
	n := r.NumEntries()
	r.Close()
	p := newTab(t, 1200, 800, "")
	if !p.open(path) {
		t.Fatal(p.text(".failure"))
	}
	wrong := map[string]bool{}
	for entry, line := range lines(t, path, "types", 0, int(n)) {
		p.show("ntuple", "types", "view", "entries", "entry", fmt.Sprint(entry))
		p.wait(`document.querySelector(".entry").dataset.shown === %s`, fmt.Sprintf("types %d", entry))
		var got, want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(eval[string](p, unfolded)), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		for _, name := range fields {
			if string(got[name]) != string(want[name]) || got[name] == nil {
				wrong[name] = true
			}
		}
	}
	return len(fields) - len(wrong)
}

// makeJ makes a file of the shape of the benchmark's J: an event of a collider, with vectors of
// what was found in it.
func makeJ(t *testing.T, entries int) string {
	t.Helper()
	doc := &schema.Document{Name: "Events"}
	add := func(cppType string, names ...string) {
		for _, name := range names {
			f, err := schema.FieldOf(name, cppType)
			if err != nil {
				t.Fatal(err)
			}
			doc.Fields = append(doc.Fields, f)
		}
	}
	singles := strings.Fields("PV_z MET_pt MET_phi MET_sumEt Rho GenWeight")
	add("float", singles...)
	objects := map[string][]string{}
	for object, members := range map[string]string{"Muon": "pt eta phi mass dxy dz iso",
		"Electron": "pt eta phi mass dxy dz iso", "Jet": "pt eta phi mass area btag chHEF neHEF muEF"} {
		for _, member := range strings.Fields(members) {
			objects[object] = append(objects[object], object+"_"+member)
		}
		add("std::vector<float>", objects[object]...)
	}
	path := filepath.Join(t.TempDir(), "J.root")
	w, err := rntuple.CreateColumns(path, "Events", doc, &rntuple.WriteOptions{Compression: 505})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, 0, 8*entries)
	some := func(n int) []float32 {
		values = values[:n]
		for i := range values {
			values[i] = float32(int(random.ExpFloat64()*30*64)) / 64
		}
		return values
	}
	const batch = 10_000
	for done := 0; done < entries; done += batch {
		for _, name := range singles {
			if err := rntuple.Put(w, name, some(batch)); err != nil {
				t.Fatal(err)
			}
		}
		for _, object := range []string{"Muon", "Electron", "Jet"} {
			offsets := make([]int64, batch+1)
			for i := range batch {
				offsets[i+1] = offsets[i] + int64(random.IntN(5))
			}
			for _, name := range objects[object] {
				if err := rntuple.PutJagged(w, name, offsets, some(int(offsets[batch]))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.End(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

const jsrootPage = `<!doctype html><title>jsroot</title><script type="module">
import { openFile } from "/jsroot/modules/io.mjs";
import { rntupleDraw } from "/jsroot/modules/rntuple.mjs";
import { draw } from "/jsroot/modules/draw.mjs";
try {
	const file = await openFile("/J.root"), tuple = await file.readObject("Events"), histogram = await rntupleDraw(tuple, { expr: "Muon_pt" });
	document.body.append(Object.assign(document.createElement("div"), { id: "plot", style: "width: 900px; height: 500px" }));
	await draw("plot", histogram);
	document.body.dataset.drawn = histogram.fArray.reduce((sum, n) => sum + n, 0);
} catch (error) {
	document.body.dataset.drawn = error;
}
</script><body>`

// compareHistograms draws Muon_pt with both, thrice in turns, and returns the size of the file and
// the bytes of it that the page fetched.
func compareHistograms(t *testing.T, out io.Writer, modules, path string) (size, bytes int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := new(server)
	mux := http.NewServeMux()
	mux.HandleFunc("/J.root", func(w http.ResponseWriter, r *http.Request) {
		counts.ranges.Add(1)
		w.Header().Set("Cache-Control", "no-store")
		http.ServeFile(counting{w, &counts.bytes}, r, path)
	})
	mux.Handle("/jsroot/", http.StripPrefix("/jsroot/", http.FileServer(http.Dir(filepath.Join(modules, "jsroot")))))
	mux.HandleFunc("/jsroot.html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, jsrootPage)
	})
	mux.Handle("/", pageHandler(t))
	both := httptest.NewServer(mux)
	defer both.Close()

	type result struct {
		times           []time.Duration
		bytes, requests int64
		shows           string
	}
	results := map[string]*result{"jsroot": {}, "the page": {}}
	p := newTab(t, 1200, 800, "")
	for range 3 {
		for name, r := range results {
			address, drawn, shows := "/jsroot.html", `document.body?.dataset.drawn`, `document.body.dataset.drawn`
			if name == "the page" {
				address, drawn, shows = "/#url="+both.URL+"/J.root&ntuple=Events&view=histogram&x=Muon_pt",
					`document.querySelector(".plot[data-drawn], .failure")`,
					`document.querySelector(".histogram .facts dd, .failure").textContent.replaceAll(",", "")`
			}
			counts.bytes.Store(0)
			counts.ranges.Store(0)
			p.do(chromedp.Navigate("about:blank"))
			start := time.Now()
			p.do(chromedp.Navigate(both.URL + address))
			p.wait(drawn)
			r.times = append(r.times, time.Since(start))
			r.bytes, r.requests, r.shows = counts.bytes.Load(), counts.ranges.Load(), eval[string](p, shows)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "Muon_pt of %d bytes\tmedian time\tbytes fetched\trequests\tvalues\t\n", info.Size())
	for _, name := range []string{"jsroot", "the page"} {
		r := results[name]
		slices.Sort(r.times)
		fmt.Fprintf(w, "%s\t%v\t%d\t%d\t%s\t\n", name, r.times[1].Round(time.Millisecond), r.bytes, r.requests, r.shows)
	}
	w.Flush()
	return info.Size(), results["the page"].bytes
}
