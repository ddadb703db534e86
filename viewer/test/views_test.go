package test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/viewer"
)

// openDimuon opens a tab with dimuon.root.
func openDimuon(t *testing.T) *tab {
	t.Helper()
	p := newTab(t, 1200, 800, "")
	if !p.open(testdata + "/dimuon.root") {
		t.Fatal(p.text(".failure"))
	}
	return p
}

// TestHistogram compares bins with those counted here, chooses a range by dragging, and sees errors
// of expressions.
func TestHistogram(t *testing.T) {
	r, err := rntuple.Open(testdata+"/dimuon.root", "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	type event struct {
		N  uint32    `rntuple:"nMuon"`
		Pt []float32 `rntuple:"Muon_pt"`
	}
	var want [50]int
	for e, err := range rntuple.Entries[event](r) {
		if err != nil {
			t.Fatal(err)
		}
		for _, pt := range e.Pt {
			if i := int(math.Floor(float64(pt) / 2)); e.N == 2 && i >= 0 && i < len(want) {
				want[i]++
			}
		}
	}
	p := openDimuon(t)
	p.show("ntuple", "Events", "view", "histogram", "x", "Muon_pt", "where", "nMuon == 2", "low", "0",
		"high", "100", "bins", "50")
	p.wait(`document.querySelector(".plot[data-drawn]")`)
	p.click(".histogram summary")
	p.wait(`document.querySelector(".histogram tbody tr")`)
	got := eval[[]string](p,
		`[...document.querySelectorAll(".histogram tbody tr")].map((row) => row.lastChild.textContent.replaceAll(",", ""))`)
	if len(got) != len(want) {
		t.Fatalf("%d bins", len(got))
	}
	for i, n := range want {
		if got[i] != strconv.Itoa(n) {
			t.Errorf("bin %d has %s values, not %d", i, got[i], n)
		}
	}

	// From a quarter to three quarters of the axis, which begins 70 pixels from the left and ends
	// 16 from the right.
	box := eval[[]float64](p, `(() => { const b = document.querySelector(".plot svg").getBoundingClientRect(); return [b.left + 70, b.right - 16, b.top + 100]; })()`)
	wide := box[1] - box[0]
	p.do(chromedp.DragAndDropXY(box[0]+wide/4, box[2], box[0]+3*wide/4, box[2]))
	p.wait(`new URLSearchParams(location.hash.slice(1)).get("low") !== "0" && document.querySelector(".plot[data-drawn]")`)
	low, high := eval[float64](p, `Number(new URLSearchParams(location.hash.slice(1)).get("low"))`),
		eval[float64](p, `Number(new URLSearchParams(location.hash.slice(1)).get("high"))`)
	if math.Abs(low-25) > 1 || math.Abs(high-75) > 1 {
		t.Errorf("dragging chose from %g to %g, not 25 to 75", low, high)
	}

	for expression, want := range map[string]string{"Muon_pt +": "character 9", "Muon_pT": "Muon_pT"} {
		p.show("ntuple", "Events", "view", "histogram", "x", expression)
		// The page may still show the failure of the expression before.
		p.wait(fmt.Sprintf(`document.querySelector(".histogram .failure")?.textContent.includes(%q)`, want))
	}
	p.show("ntuple", "Events", "view", "histogram", "x", "mass(Muon_pt, Muon_eta, Muon_phi, Muon_mass)", "where",
		"nMuon == 2 && sum(Muon_charge) == 0", "log", "xy", "low", "0.25", "high", "300")
	p.wait(`document.querySelector(".plot[data-drawn^=mass]")`)
	if got := p.text(".histogram .facts"); !strings.Contains(got, "61,641") {
		t.Errorf("the README has 61,641 entries, the page %q", got)
	}
}

// TestKeyboard does without a mouse: the tree, the tabs, the table.
func TestKeyboard(t *testing.T) {
	const first = "luminosityBlock" // the second field
	p := openDimuon(t)
	p.wait(`document.querySelector('#tree [aria-level="2"]')`)
	eval[bool](p, `document.querySelector("#tree").focus(), true`)
	active := `document.getElementById(document.querySelector("#tree").getAttribute("aria-activedescendant"))`
	p.press(kb.Home)
	p.press(kb.ArrowDown + kb.ArrowDown)
	p.wait(active+`?.querySelector(".name").textContent === %s`, first)
	p.press(kb.Enter)
	p.wait(`document.querySelector(".details h1")?.textContent === %s`, first)
	p.press(kb.End)
	last := eval[string](p, `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(`+active+`.querySelector(".name").textContent))))`)
	if last == first {
		t.Error("End does not move")
	}
	p.press("Muon_pt")
	p.wait(active + `.querySelector(".name").textContent === "Muon_pt"`)
	p.press(kb.ArrowRight)
	p.wait(active + `.getAttribute("aria-expanded") === "true"`)

	eval[bool](p, `document.querySelector('[role=tab][aria-selected=true]').focus(), true`)
	p.press(kb.ArrowRight)
	p.wait(`document.activeElement.id === "tab-entries" && !document.querySelector("#view-entries").hidden`)
	eval[bool](p, `document.querySelector(".grid").focus(), true`)
	p.press(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.wait(`document.querySelector('.grid [data-row="79999"] .cell.active')`)
	p.press(kb.Enter)
	p.wait(`document.querySelector(".entry").dataset.shown === "Events 79999"`)
	p.press(kb.Escape)
	p.wait(`document.querySelector(".entry").hidden`)

	// The whole page can be walked through with the tab key, and what has the focus can be seen.
	stops := map[string]bool{}
	for range 40 {
		p.press(kb.Tab)
		stops[eval[string](p, `document.activeElement.id || document.activeElement.textContent || document.activeElement.getAttribute("aria-label") || ""`)] = true
		if !eval[bool](p, `document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none"`) {
			t.Errorf("the focus is not seen on %s", eval[string](p, `document.activeElement.outerHTML.slice(0, 200)`))
		}
	}
	for _, id := range []string{"tree", "tab-entries"} {
		if !stops[id] {
			t.Errorf("the tab key does not come to %s", id)
		}
	}
}

// TestSearch finds fields by name, type and description.
func TestSearch(t *testing.T) {
	p := openDimuon(t)
	for text, want := range map[string]string{"muon_P": "Muon_pt", "uint64": "event"} {
		eval[bool](p, `(() => { const s = document.querySelector(".tree input"); s.value = %s; s.dispatchEvent(new Event("input")); return true; })()`, text)
		p.wait(`/^[1-9]\d* fields? found$/.test(document.querySelector(".found").textContent)`)
		p.wait(`[...document.querySelectorAll(".node .name")].some((e) => e.textContent === %s)`, want)
	}
}

// TestLink restores what a link shows, and goes back and forth.
func TestLink(t *testing.T) {
	address := "#url=" + site.URL + "/data/dimuon.root&ntuple=Events&"
	p := newTab(t, 1200, 800, address+"view=histogram&x=nMuon&log=y")
	p.wait(`document.querySelector(".plot[data-drawn=nMuon]")`)
	if !eval[bool](p, `[...document.querySelectorAll(".histogram input[type=checkbox]")].map((c) => c.checked).join() === "false,true"`) {
		t.Error("the axes are not those of the link")
	}
	p.goTo(address + "view=entries&row=40000&entry=40002")
	p.wait(`document.querySelector(".entry").dataset.shown === "Events 40002" && document.querySelector('[data-row="40000"] .cell')`)
	p.click("#tab-storage")
	p.wait(`document.querySelector(".map .tile")`)
	p.do(chromedp.NavigateBack())
	p.wait(`!document.querySelector("#view-entries").hidden`)
	p.do(chromedp.NavigateForward())
	p.wait(`!document.querySelector("#view-storage").hidden`)
}

// TestStorage enters a cluster, and compares its entries with those of the file.
func TestStorage(t *testing.T) {
	p := openDimuon(t)
	p.show("ntuple", "Events", "view", "storage", "cluster", "0")
	p.wait(`document.querySelector(".storage tbody tr td:nth-child(7)")`)
	if got := p.text(".storage p:not(.dim)"); !strings.Contains(eval[string](p,
		`document.querySelector(".storage").textContent`), "Entries 0 to ") {
		t.Errorf("the page says %q", got)
	}
	p.show("ntuple", "Events", "view", "storage", "cluster", "123456")
	p.wait(`document.querySelector(".storage .failure")`)
	if n := eval[int](p, `document.querySelectorAll(".map .tile").length`); n < 13 {
		t.Errorf("the map has %d tiles", n)
	}
	// Enough pixels of the strip are not empty.
	if !eval[bool](p, `(() => { const c = document.querySelector(".strip canvas"); return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 === 3 && v > 0); })()`) {
		t.Error("the strip is empty")
	}

	// What is under the pointer is told.
	p.show("ntuple", "Events", "view", "storage")
	// below that of the file and the first column
	path := eval[string](p, `document.querySelectorAll(".strip .label")[2].textContent`)
	eval[bool](p, `(() => {
		const { left, right, top } = document.querySelector(".strip").getBoundingClientRect(), axis = 44, row = 16, labels = 180;
		document.querySelector(".strip canvas").dispatchEvent(new PointerEvent("pointermove", { clientX: (left + labels + right) / 2, clientY: top + axis + 1.5 * row, bubbles: true }));
		return true;
	})()`)
	if tip := p.text(".tip"); !strings.HasPrefix(tip, path+", ") {
		t.Errorf("over the row of %s the page says %q", path, tip)
	}
}

// TestRecords compares the bytes that are shown with those of the file.
func TestRecords(t *testing.T) {
	data, err := os.ReadFile(testdata + "/dimuon.root")
	if err != nil {
		t.Fatal(err)
	}
	p := openDimuon(t)
	p.show("ntuple", "Events", "view", "records")
	p.wait(`document.querySelector(".hex .line [data-m]") && document.querySelector(".meanings .marked")`)
	names := eval[[]string](p, `[...document.querySelectorAll(".record .name")].map((e) => e.textContent)`)
	if len(names) < 4 {
		t.Errorf("only %d records are listed", len(names))
	}
	if eval[bool](p, `document.querySelector(".record-title").textContent.includes("compressed")`) {
		t.Skip("the first record is compressed")
	}
	line := eval[string](p, `document.querySelector(".hex .line .octets").textContent`)
	at, err := strconv.ParseInt(p.text(".hex .line .offset"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x", data[at:at+int64(len(line)/2)]); line != want {
		t.Errorf("the bytes at %d are shown as %s, not %s", at, line, want)
	}
	p.do(chromedp.Click(chromedp.CSS(".meanings .line:nth-child(3)")))
	p.wait(`document.querySelector(".meanings .marked").dataset.m === "2" && document.querySelector('.hex .marked[data-m="2"]')`)
}

// TestCheck finds that a good file is good, and that one with a wrong byte in a page is not.
func TestCheck(t *testing.T) {
	p := openDimuon(t)
	p.show("ntuple", "Events", "view", "check")
	p.click(".check .primary")
	p.wait(`document.querySelector(".check .good")`)
	data, err := os.ReadFile(testdata + "/dimuon.root")
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	path := filepath.Join(t.TempDir(), "damaged.root")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if !p.open(path) {
		t.Fatal(p.text(".failure"))
	}
	p.show("ntuple", "Events", "view", "check")
	p.click(".check .primary")
	p.wait(`document.querySelector(".check .bad") && document.querySelector(".check tbody tr")`)
}

// keepSaved has window.saved be the text that is saved next, which is null before.
func (p *tab) keepSaved() {
	p.Helper()
	eval[bool](p, `(() => {
		window.saved = null;
		const create = URL.createObjectURL;
		URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return create(blob); };
		return true;
	})()`)
}

// TestSaveHistogram saves a plot as a file of its own, in light colours also where the page is
// dark.
func TestSaveHistogram(t *testing.T) {
	p := openDimuon(t)
	p.show("ntuple", "Events", "view", "histogram", "x", "nMuon", "bins", "7")
	p.wait(`document.querySelector(".plot[data-drawn=nMuon]")`)
	p.keepSaved()
	p.theme("Dark")
	eval[bool](p, `([...document.querySelectorAll(".histogram button")].find((b) => b.textContent === "Save as SVG").click(), true)`)
	p.wait(`window.saved !== null`)
	saved := eval[string](p, `window.saved`)
	for _, light := range []string{`fill="rgb(63, 120, 201)"`, `fill="rgb(27, 31, 36)"`, `stroke="rgb(213, 218, 225)"`,
		`height="100%" fill="#ffffff"`} {
		if !strings.Contains(saved, light) {
			t.Errorf("the picture has no %s: %s", light, saved)
		}
	}
	var picture struct {
		XMLName xml.Name
		Paths   []struct {
			D    string `xml:"d,attr"`
			Fill string `xml:"fill,attr"`
		} `xml:"path"`
		Text []string `xml:"text"`
	}
	if err := xml.Unmarshal([]byte(saved), &picture); err != nil {
		t.Fatal(err)
	}
	if picture.XMLName.Space != "http://www.w3.org/2000/svg" || len(picture.Paths) != 1 ||
		strings.Count(picture.Paths[0].D, "H") != 7 || !strings.HasPrefix(picture.Paths[0].Fill, "rgb(") {
		t.Errorf("the picture has no 7 bins that are filled: %+v", picture)
	}
	if !slices.Contains(picture.Text, "nMuon") {
		t.Errorf("the picture has only the texts %q", picture.Text)
	}
}

// TestDrop opens a file that is dropped onto the page.
func TestDrop(t *testing.T) {
	p := newTab(t, 1200, 800, "")
	eval[bool](p, `(async () => {
		const bytes = await (await fetch("/data/dimuon.root")).arrayBuffer();
		const dataTransfer = new DataTransfer();
		dataTransfer.items.add(new File([bytes], "dropped.root"));
		for (const type of ["dragenter", "drop"]) {
			if (document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))) throw type + " is left to the browser";
			if (document.body.classList.contains("dropping") !== (type === "dragenter")) throw type + " does not show";
		}
		return true;
	})()`)
	p.wait(`document.documentElement.dataset.ready === "open"`)
	if title := eval[string](p, `document.title`); !strings.HasPrefix(title, "dropped.root") {
		t.Errorf("the title is %q", title)
	}
}

// TestDownload saves entries as JSON Lines, and compares them with what rnt cat prints.
func TestDownload(t *testing.T) {
	p := openDimuon(t)
	p.keepSaved()
	p.show("ntuple", "Events", "view", "download", "format", "jsonl")
	p.wait(`document.querySelector(".download option")`)
	eval[bool](p, `(() => {
		const [format, fields, where, first, count] = document.querySelectorAll(".download select, .download input");
		format.value = "jsonl"; first.value = "5"; count.value = "20";
		document.querySelector(".download form").requestSubmit();
		return true;
	})()`)
	p.wait(`window.saved !== null || document.querySelector(".download .failure")`)
	want := strings.Join(lines(t, testdata+"/dimuon.root", "Events", 5, 20), "\n") + "\n"
	compare(t, "the download", eval[string](p, `window.saved ?? document.querySelector(".download .failure").textContent`),
		want)
}

// TestSingleFile opens a page that has the file in it, as a file, with nothing beside it.
func TestSingleFile(t *testing.T) {
	data, err := os.ReadFile(testdata + "/dimuon.root")
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := viewer.Write(&page, "dimuon.root", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	p := newTab(t, 1200, 800, "")
	p.do(chromedp.Navigate("file://" + path))
	p.wait(`document.documentElement.dataset.ready == "open"`)
	p.show("ntuple", "Events", "view", "histogram", "x", "nMuon")
	p.wait(`document.querySelector(".plot[data-drawn]")`)
	if got := p.text(".histogram"); !strings.Contains(got, "80,000") {
		t.Errorf("the page shows %s", got)
	}
}
