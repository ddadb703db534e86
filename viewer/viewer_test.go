package viewer

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// budget is the most bytes that the files of the page may have together, as they are sent.
const budget = 3_050_000

// made returns the files of the page, if there are any.
func made(t *testing.T) fs.FS {
	t.Helper()
	files, err := Files()
	if err != nil {
		t.Skip("skipped: ", err)
	}
	return files
}

// TestSize keeps the page small.
func TestSize(t *testing.T) {
	total := 0
	for _, name := range []string{index, style, page, worker, engine} {
		b, err := fs.ReadFile(made(t), name)
		if err != nil {
			t.Fatal(err)
		}
		total += len(b)
		if name != engine && (len(b) == 0 || bytes.Contains(b, []byte("\x00"))) {
			t.Errorf("%s is no text", name)
		}
	}
	if total > budget {
		t.Errorf("the page has %d bytes, more than %d; was it made with -fast?", total, budget)
	}
}

// TestPolicy makes sure that the page has the policy with which it is served.
func TestPolicy(t *testing.T) {
	b, err := os.ReadFile("page/" + index)
	if err != nil {
		t.Fatal(err)
	}
	// What only headers can say.
	want := strings.Replace(Policy, "frame-ancestors 'none'; ", "", 1)
	if _, got, _ := strings.Cut(string(b), policyTag); !strings.HasPrefix(got, want+`"`) {
		t.Errorf("the policy is %.400s, want %s", got, want)
	}
	for _, tag := range []string{styleTag, scriptTag, "</body>"} {
		if strings.Count(string(b), tag) != 1 {
			t.Errorf("%s has no single %s", index, tag)
		}
	}
}

// TestWrite makes sure that all parts are in the one file, that what it holds cannot end its
// blocks, and that its policy knows its scripts.
func TestWrite(t *testing.T) {
	files := made(t)
	data := []byte("</script><script>alert(1)</script>")
	var b bytes.Buffer
	if err := Write(&b, `"><script>alert(2)</script>.root`, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if n := strings.Count(text, "<script"); n != 4 || strings.Count(text, "</script>") != n ||
		!strings.Contains(text, `data-name="&#34;&gt;&lt;script&gt;alert(2)&lt;/script&gt;.root">`) {
		t.Errorf("%d scripts begin, %d end", n, strings.Count(text, "</script>"))
	}
	block := func(id string) string {
		_, rest, found := strings.Cut(text, `id="`+id+`"`)
		_, rest, _ = strings.Cut(rest, ">")
		content, _, closed := strings.Cut(rest, "</script>")
		if !found || !closed {
			t.Fatalf("there is no block %s", id)
		}
		return content
	}
	for id, want := range map[string]string{"rnt-file": "", "rnt-wasm": engine} {
		got, err := base64.StdEncoding.DecodeString(block(id))
		if err != nil {
			t.Fatal(err)
		}
		expected := data
		if want != "" {
			if expected, err = fs.ReadFile(files, want); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, expected) {
			t.Errorf("the block %s has other bytes", id)
		}
	}
	code, err := fs.ReadFile(files, worker)
	if err != nil || block("rnt-worker") != string(code) {
		t.Errorf("the worker differs: %v", err)
	}
	script, err := fs.ReadFile(files, page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "<script type=\"module\">"+string(script)+"</script>") ||
		!strings.Contains(text, "script-src '"+hashOf(string(script))+"'") {
		t.Error("the script is not there, or the policy does not know it")
	}
	if strings.Contains(text, `src="page.js"`) || strings.Contains(text, `href="page.css"`) {
		t.Error("it names other files")
	}
}

// TestEndsBlock has texts that would end a block of HTML.
func TestEndsBlock(t *testing.T) {
	for text, want := range map[string]bool{"": false, "a < b": false, "<script": false, "</Script ": true,
		"</style>": true, "<!-- ": true} {
		if got := endsBlock(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestHandler asks for the files of the page, with encodings of which some are accepted.
func TestHandler(t *testing.T) {
	files := made(t)
	h, err := Handler()
	if err != nil {
		t.Fatal(err)
	}
	get := func(path, encodings string) *http.Response {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Accept-Encoding", encodings)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for name, kind := range map[string]string{"": "text/html", page: "text/javascript", style: "text/css",
		worker: "text/javascript"} {
		resp := get("/"+name, "gzip, zstd")
		if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) ||
			resp.Header.Get("Content-Security-Policy") != Policy || resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %s %v", name, resp.Status, resp.Header)
		}
	}
	want, err := fs.ReadFile(files, engine)
	if err != nil {
		t.Fatal(err)
	}
	for encodings, accepted := range map[string]bool{"": false, "gzip, br": false, "gzip, deflate, br, zstd": true,
		"zstd;q=0.5, gzip": true, "zstd; q=0.0": false, "xzstd": false} {
		resp := get("/"+engine, encodings)
		body, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(body, want) {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		kind, encoding := "application/octet-stream", ""
		if accepted {
			kind, encoding = "application/wasm", "zstd"
		}
		if resp.Header.Get("Content-Type") != kind || resp.Header.Get("Content-Encoding") != encoding ||
			resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: %v", encodings, resp.Header)
		}
	}
}
