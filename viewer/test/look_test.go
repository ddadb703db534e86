package test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// looks are the views, with what to wait for.
var looks = []struct{ name, state, ready string }{
	{"details", "field=Muon_pt", `document.querySelector(".details .facts")`},
	{"entries", "entry=2", `document.querySelector(".entry").dataset.shown && !document.querySelector(".grid .waits")`},
	{"histogram", "x=Muon_pt&where=nMuon == 2&log=y&low=0&high=100", `document.querySelector(".plot[data-drawn]")`},
	{"storage", "cluster=0", `document.querySelector(".map .tile") && document.querySelector(".storage tbody tr")`},
	{"records", "", `document.querySelector(".hex .marked")`},
	{"check", "", `true`},
	{"download", "", `document.querySelector(".download option")`},
}

// pale returns the texts whose contrast with what is behind them is less than the 4.5 of WCAG 2.2
// AA, or 3 where they are large.
const pale = `(() => {
	const rgb = (text) => { const n = text.match(/[\d.]+/g)?.map(Number) ?? []; return n.length === 3 ? [...n, 1] : n; };
	const light = (c) => { const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
	const found = [];
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility({ visibilityProperty: true }) || e.closest(".tile, .hidden, script, :disabled, .readout")) continue;
		const style = getComputedStyle(e), front = rgb(e.namespaceURI.endsWith("svg") ? style.fill : style.color);
		const [a, b] = [light(front), light(behind(e))].sort((x, y) => y - x);
		const contrast = (a + 0.05) / (b + 0.05), large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
		if (contrast < (large ? 3 : 4.5)) found.push(e.textContent.trim().slice(0, 40) + ": " + contrast.toFixed(2));
	}
	return found;
})()`

// nameless returns what can be used but has no name for screen readers.
const nameless = `[...document.querySelectorAll("button, input, select, progress, a, [role=tree], [role=treeitem], [role=grid], [role=tab], [role=tabpanel], [role=listbox], [role=application], [role=img], aside, nav")]
	.filter((e) => e.checkVisibility() && e.getAttribute("aria-hidden") !== "true" && !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || [...(e.labels ?? [])].some((l) => l.textContent.trim())))
	.map((e) => e.outerHTML.slice(0, 120))`

// TestLook shows every view, light and dark, wide and narrow: all text can be read, everything has
// a name, and nothing is wider than the window. RNTUPLE_SHOTS names a folder for pictures.
func TestLook(t *testing.T) {
	shots := os.Getenv("RNTUPLE_SHOTS")
	for _, theme := range []string{"Light", "Dark"} {
		for _, width := range []int64{1280, 390} {
			p := newTab(t, width, 800, "")
			p.theme(theme)
			look := func(name string) {
				t.Helper()
				what := fmt.Sprintf("%s-%s-%d", name, theme, width)
				for _, text := range eval[[]string](p, pale) {
					t.Errorf("%s: pale text: %s", what, text)
				}
				for _, element := range eval[[]string](p, nameless) {
					t.Errorf("%s: no name: %s", what, element)
				}
				if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s is %d pixels wide", what, wide)
				}
				if shots == "" {
					return
				}
				png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(shots, what+".png"), png, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			look("start")
			if !p.open(testdata + "/dimuon.root") {
				t.Fatal(p.text(".failure"))
			}
			for _, l := range looks {
				eval[bool](p, `(location.hash = "file=dimuon.root&ntuple=Events&view=" + %s + "&" + %s, true)`, l.name, l.state)
				p.wait(`!document.querySelector("#view-" + %s).hidden`, l.name)
				p.wait(l.ready)
				look(l.name)
			}
			p.open(testdata + "/bad/page-of-8-gigabytes.root")
			look("bad")
		}
	}
}
