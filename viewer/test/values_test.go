package test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// good returns the paths of the files of testdata that are not damaged.
func good(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(testdata + "/good/*.root")
	if err != nil || len(paths) < 15 {
		t.Fatal(len(paths), err)
	}
	return append(paths, testdata+"/dimuon.root")
}

// lines returns entries as rnt cat prints them.
func lines(t *testing.T, path, ntuple string, first int64, n int) []string {
	t.Helper()
	r, err := rntuple.Open(path, ntuple, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	view, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	records := make([]value.Record, n)
	if n, err = view.Read(records, first); err != nil {
		t.Fatal(err)
	}
	texts := make([]string, n)
	for i, record := range records[:n] {
		texts[i] = string(value.AppendJSON(nil, record))
	}
	return texts
}

// unfolded unfolds everything of the entry that is shown, and puts its text together again.
const unfolded = `(async () => {
	const root = document.querySelector(".entry .values > .members");
	for (;;) {
		const closed = [...root.querySelectorAll("details:not([open])")], more = [...root.querySelectorAll("li > button")];
		closed.forEach((d) => { d.open = true; });
		more.forEach((b) => b.click());
		if (!closed.length && !more.length && [...root.querySelectorAll("details")].every((d) => d.children.length === 2)) break;
		await new Promise((resolve) => setTimeout(resolve));
	}
	const list = (ul, object) => {
		const parts = [...ul.children].map((li) => {
			const fold = li.firstElementChild, leaf = fold.className === "leaf";
			const name = fold.querySelector(".key").textContent;
			const text = leaf ? fold.lastElementChild.textContent : list(fold.lastElementChild, fold.querySelector(".dim").textContent.includes("member"));
			return object ? JSON.stringify(name) + ":" + text : text;
		});
		return object ? "{" + parts.join() + "}" : "[" + parts.join() + "]";
	};
	return list(root, true);
})()`

// TestValues opens every file of testdata in one tab, and compares the first entry, one in the
// middle and the last of every RNTuple, unfolded, with what rnt cat prints.
func TestValues(t *testing.T) {
	p := newTab(t, 1200, 800, "")
	fields, entries := 0, 0
	for _, path := range good(t) {
		if !p.open(path) {
			t.Errorf("%s: %s", path, p.text(".failure"))
			continue
		}
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			n := r.NumEntries()
			fields += len(r.Schema().TopLevel())
			r.Close()
			asked := []int64{0, n / 2, n - 1}
			slices.Sort(asked)
			for _, entry := range slices.Compact(asked) {
				if entry < 0 || entry >= n {
					continue
				}
				p.show("ntuple", info.Path, "view", "entries", "entry", strconv.FormatInt(entry, 10))
				p.wait(`document.querySelector(".entry").dataset.shown === %s || document.querySelector(".entry .failure")`,
					fmt.Sprintf("%s %d", info.Path, entry))
				if failure := p.text(".entry .failure"); failure != "" {
					t.Errorf("%s, %s, entry %d: %s", path, info.Path, entry, failure)
					continue
				}
				compare(t, fmt.Sprintf("%s, %s, entry %d", path, info.Path, entry), eval[string](p, unfolded),
					lines(t, path, info.Path, entry, 1)[0])
				entries++
			}
		}
	}
	t.Logf("%d entries with together %d fields are as rnt cat prints them", entries, fields)
}

// compare compares long texts.
func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(i-60, 0)
	t.Errorf("%s: the page shows\n%s\nnot\n%s", what, got[from:min(i+60, len(got))], want[from:min(i+60, len(want))])
}

// TestTable compares the cells that are in view with what rnt cat prints, for all columns.
func TestTable(t *testing.T) {
	p := newTab(t, 1200, 700, "")
	path := testdata + "/good/types_zstd_many.root"
	if !p.open(path) {
		t.Fatal(p.text(".failure"))
	}
	p.show("view", "entries")
	p.wait(`document.querySelector(".grid .line .cell")`)
	want := lines(t, path, "types", 0, 10)
	seen := map[string]bool{}
	for at := 0; ; at += 800 {
		end := eval[bool](p, `(() => { const g = document.querySelector(".grid"); g.scrollLeft = %s; return g.scrollLeft < %s; })()`, at, at)
		p.wait(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(!document.querySelector(".grid .line .waits")))))`)
		cells := eval[[][]string](p, `[...document.querySelectorAll(".grid .line")].slice(0, 10).flatMap((line) => [...line.querySelectorAll(".cell")].map((cell) =>
			[line.dataset.row, document.querySelector('.grid .head [aria-colindex="' + cell.getAttribute("aria-colindex") + '"] .name').textContent, cell.textContent]))`)
		for _, cell := range cells {
			row, _ := strconv.Atoi(cell[0])
			text := strings.TrimSuffix(cell[2], "…")
			if !strings.Contains(want[row], strconv.Quote(cell[1])+":"+text) {
				t.Errorf("entry %d: %s is shown as %s", row, cell[1], cell[2])
			}
			seen[cell[1]] = true
		}
		if end {
			break
		}
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(r.Schema().TopLevel()); len(seen) != n {
		t.Errorf("%d columns were seen, not %d", len(seen), n)
	}
}

// damaged returns the paths of files that must not open, or not as a whole.
func damaged(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	whole, err := os.ReadFile(testdata + "/dimuon.root")
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(whole)
	for i := 200; i < 1000; i++ {
		flipped[i] ^= 0x55
	}
	paths, _ := filepath.Glob(testdata + "/bad/*.root")
	for name, data := range map[string][]byte{
		"half.root": whole[:len(whole)/2], "header.root": whole[:80], "empty.root": nil, "flipped.root": flipped,
		"text.txt": []byte("<script>alert(1)</script>\n"), "picture.png": []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, fs.FileMode(0o666)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestDamage shows damaged and foreign files: what the library says of them is there to read, and
// the page goes on.
func TestDamage(t *testing.T) {
	p := newTab(t, 1200, 800, "")
	for _, path := range damaged(t) {
		want := ""
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		for _, info := range infos {
			if r, errOpen := rntuple.Open(path, info.Path, nil); errOpen != nil {
				err = errOpen
			} else {
				if _, errInspect := r.Inspect(nil); errInspect != nil {
					err = errInspect
				}
				r.Close()
			}
		}
		if err != nil {
			want = err.Error()
			want = want[strings.LastIndex(want, ": ")+1:]
		}
		opened := p.open(path)
		if want == "" {
			continue // damaged where only values show it
		}
		if opened {
			p.wait(`document.querySelector(".failure, .warning")`)
		}
		if got := eval[string](p, `[...document.querySelectorAll(".failure, .warning")].map((e) => e.textContent).join(" ")`); !strings.Contains(got, strings.TrimSpace(want)) {
			t.Errorf("%s: the page says %q, not %q", path, got, want)
		}
		if !p.open(testdata + "/dimuon.root") {
			t.Fatalf("after %s the page opens nothing any more: %s", path, p.text(".failure"))
		}
	}
}
