package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/viewer"
)

// needPage skips a test if the page was not made.
func needPage(t *testing.T) {
	t.Helper()
	if _, err := viewer.Files(); err != nil {
		t.Skip("skipped: ", err)
	}
}

// inPage returns the file that a page holds, and its name.
func inPage(t *testing.T, path string) (name string, file []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), `id="rnt-file" data-name="`)
	name, rest, _ = strings.Cut(rest, `">`)
	text, _, ok := strings.Cut(rest, "</script>")
	if file, err = base64.StdEncoding.DecodeString(text); err != nil || !ok {
		t.Fatalf("the page holds no file: %v", err)
	}
	return name, file
}

// TestPage makes pages of whole files and of parts, and refuses what is too much.
func TestPage(t *testing.T) {
	needPage(t)
	content, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.html")
	if text := tool.RNT(t, "page", dimuon, "-o", out); !strings.HasPrefix(text, out+": ") ||
		!strings.Contains(text, "MB") {
		t.Errorf("it prints %q", text)
	}
	if name, file := inPage(t, out); name != "dimuon.root" || !bytes.Equal(file, content) {
		t.Errorf("the page holds %d bytes of %s", len(file), name)
	}
	tool.RNT(t, "-q", "page", dimuon, "-o", out, "--force", "--first", "79000", "--count", "5000", "--fields", "run,event")
	name, file := inPage(t, out)
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if name != "dimuon.root" || r.Name() != "Events" || r.NumEntries() != 1000 || len(r.Schema().TopLevel()) != 2 {
		t.Errorf("%s: %d entries of %v", name, r.NumEntries(), r.Schema())
	}
	if text := tool.RNT(t, "page", dimuon, "-o", "-"); !strings.HasPrefix(text, "<!doctype html>") ||
		!strings.Contains(text, `id="rnt-file"`) {
		t.Errorf("standard output is %.100q", text)
	}
	for _, c := range []struct {
		args   []string
		status int
		stderr string
	}{
		{[]string{dimuon, "-o", out}, cli.ExitError, "exists"},
		{[]string{dimuon, "-o", out, "--force", "--max-size", "1M"}, cli.ExitError, "--count and --fields"},
		{[]string{dimuon, "-o", out, "--force", "--first", "80000"}, cli.ExitError, "no entry 80000"},
		{[]string{dimuon, "-o", out, "--force", "--fields", "nothing"}, cli.ExitError, "nothing"},
		{[]string{dimuon, "-o", dimuon, "--force"}, cli.ExitError, "is an input"},
		{[]string{dimuon}, cli.ExitUsage, "missing output file"},
		{[]string{dimuon, "-o", out, "--count", "0"}, cli.ExitUsage, "--count must be positive"},
		{[]string{dimuon, "-o", out, "--port", "1"}, cli.ExitUsage, "--port requires --serve"},
		{nil, cli.ExitUsage, "missing argument FILE"},
		{[]string{"--serve", "-o", out}, cli.ExitUsage, "--serve cannot be combined with --out"},
		{[]string{"--serve", "--port", "70000"}, cli.ExitUsage, "--port must be"},
		{[]string{"--serve", dir}, cli.ExitError, "no .root files"},
		{[]string{"--serve", filepath.Join(dir, "none.root")}, cli.ExitError, "no such file"},
	} {
		if stdout, stderr, status := tool.Try(append([]string{"page"}, c.args...)...); status != c.status ||
			!strings.Contains(stderr, c.stderr) || stdout != "" {
			t.Errorf("page %v: status %d, %s%s", c.args, status, stdout, stderr)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestPageServe serves a page and files, in ranges, to those who know the address.
func TestPageServe(t *testing.T) {
	needPage(t)
	content, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a b#?.root"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.root")); err != nil {
		t.Log(err) // where there are no links
	}
	out, in := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	var stderr bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- tool.Run(ctx, []string{"page", "--serve", "--port", "0", dir, dimuon, "https://example.org/x.root?a=b"},
			nil, in, &stderr)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	var printed []string
	for len(printed) < 3 && lines.Scan() {
		printed = append(printed, lines.Text())
	}
	if len(printed) < 3 {
		t.Fatalf("it prints %v; status %d, %s", printed, <-status, &stderr)
	}
	address, fragment, _ := strings.Cut(printed[0], "#url=")
	file, _, _ := strings.Cut(fragment, "  ")
	if file, err = url.QueryUnescape(file); err != nil ||
		!strings.HasSuffix(printed[0], "  "+filepath.Join(dir, "a b#?.root")) {
		t.Errorf("%q, %v", printed[0], err)
	}
	if printed[2] != address+"#url=https%3A%2F%2Fexample.org%2Fx.root%3Fa%3Db" ||
		!strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("it prints %q", printed)
	}
	get := func(method, address string, header ...string) (*http.Response, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			if header[i] == "Host" {
				r.Host = header[i+1]
			}
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, b
	}
	for name, kind := range map[string]string{"": "text/html", "page.js": "text/javascript", "page.css": "text/css",
		"worker.js": "text/javascript", "rnt.wasm.zst": "application/octet-stream"} {
		resp, b := get("GET", address+name)
		if h := resp.Header; resp.StatusCode != 200 || !strings.HasPrefix(h.Get("Content-Type"), kind) ||
			h.Get("Content-Security-Policy") != viewer.Policy ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" || len(b) == 0 {
			t.Errorf("%s: %s %v", name, resp.Status, resp.Header)
		}
	}
	resp, b := get("GET", file, "Range", "bytes=100-199")
	if resp.StatusCode != 206 || !bytes.Equal(b, content[100:200]) || resp.Header.Get("ETag") == "" ||
		resp.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("%s, %d bytes, %v", resp.Status, len(b), resp.Header)
	}
	secret := strings.Split(file, "/")[4]
	for _, c := range []struct {
		method, address, host string
		status                int
	}{
		{"GET", strings.Replace(file, secret, strings.Repeat("A", len(secret)), 1), "", 404},
		{"GET", strings.Replace(file, secret+"/0/", secret+"/2/", 1), "", 404},
		{"GET", address + "files/" + secret + "/0/../../../etc/passwd", "", 404},
		{"GET", address + "README", "", 404},
		{"POST", file, "", 405},
		{"GET", file, "evil.example:80", 421},
	} {
		var header []string
		if c.host != "" {
			header = []string{"Host", c.host}
		}
		if resp, b := get(c.method, c.address, header...); resp.StatusCode != c.status || bytes.Contains(b, content[:100]) {
			t.Errorf("%s %s: %s, want %d", c.method, c.address, resp.Status, c.status)
		}
	}
	cancel(cli.SignalError{Signal: os.Interrupt})
	if got := <-status; got != cli.ExitSignal+2 {
		t.Errorf("status %d: %s", got, &stderr)
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
