package viewer

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
)

//go:generate go run ./build

//go:embed all:dist
var dist embed.FS

// ErrNotMade says that this program was built without the page.
var ErrNotMade = errors.New(`the page is not part of this program: run "go generate ./viewer" in the repository, and build it again`)

// Files returns the files of the page, among them index.html. The error is ErrNotMade if they were
// not made before this program was built.
func Files() (fs.FS, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{index, style, page, worker, engine} {
		if _, err := fs.Stat(files, name); err != nil {
			return nil, ErrNotMade
		}
	}
	return files, nil
}

// The files of the page.
const (
	index  = "index.html"
	style  = "page.css"
	page   = "page.js"
	worker = "worker.js"
	engine = "rnt.wasm.zst" // compressed by zstd; the browser decompresses it, or the worker
)

// What Write replaces in index.html. A test makes sure that it is there.
const (
	policyTag = `<meta http-equiv="Content-Security-Policy" content="`
	styleTag  = `<link rel="stylesheet" href="page.css">`
	scriptTag = `<script type="module" src="page.js"></script>`
)

// Write writes the page as one HTML file with a file in it, which it shows at once: its bytes are
// data, and its name is only shown. It needs nothing else and makes no requests: its content
// security policy forbids them. See Files for the error ErrNotMade.
func Write(w io.Writer, name string, data io.Reader) error {
	files, err := Files()
	if err != nil {
		return err
	}
	var text [4]string
	for i, file := range []string{index, style, page, worker} {
		b, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		text[i] = string(b)
	}
	wasm, err := fs.ReadFile(files, engine)
	if err != nil {
		return err
	}
	document, css, script, work := text[0], text[1], text[2], text[3]
	for _, s := range []string{css, script, work} {
		if endsBlock(s) {
			return errors.New("viewer: a file of the page would end its block in HTML")
		}
	}
	policy := fmt.Sprintf("default-src 'none'; script-src '%s' 'wasm-unsafe-eval'; style-src '%s'; worker-src blob:; "+
		"connect-src blob: data:; img-src data: blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types rnt", hashOf(script), hashOf(css))
	before, rest, found := strings.Cut(document, policyTag)
	_, rest, closed := strings.Cut(rest, `"`)
	if !found || !closed {
		return errors.New("viewer: index.html has no content security policy")
	}
	document = before + policyTag + policy + `"` + rest
	if !strings.Contains(document, styleTag) || !strings.Contains(document, scriptTag) {
		return errors.New("viewer: index.html does not name its style and its script")
	}
	document = strings.Replace(document, styleTag, "<style>"+css+"</style>", 1)
	document = strings.Replace(document, scriptTag, "", 1)
	body, end, found := cutLast(document, "</body>")
	if !found {
		return errors.New("viewer: index.html has no body")
	}

	if _, err := io.WriteString(w, body+`<script type="text/plain" id="rnt-worker">`+work+"</script>\n"+`<script type="text/plain" id="rnt-wasm">`); err != nil {
		return err
	}
	if err := writeBase64(w, bytes.NewReader(wasm)); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "</script>\n"+`<script type="text/plain" id="rnt-file" data-name="`+html.EscapeString(name)+`">`); err != nil {
		return err
	}
	if err := writeBase64(w, data); err != nil {
		return err
	}
	// What the script looks for is before it.
	_, err = io.WriteString(w, "</script>\n<script type=\"module\">"+script+"</script>\n</body>"+end)
	return err
}

// endsBlock reports whether a text cannot be within <script> or <style>.
func endsBlock(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "</script") || strings.Contains(s, "</style") || strings.Contains(s, "<!--")
}

// hashOf returns what a content security policy calls a text.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func writeBase64(w io.Writer, r io.Reader) error {
	e := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := io.Copy(e, r); err != nil {
		return err
	}
	return e.Close()
}
