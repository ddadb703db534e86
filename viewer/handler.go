package viewer

import (
	"net/http"
	"path"
	"regexp"
	"strings"
)

// Policy is the content security policy with which the page is to be served: it runs its own
// scripts only, sends nothing, and reads files from anywhere. The page has it, too, but for what
// only a header can say.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self' blob:; " +
	"connect-src 'self' http: https: blob: data:; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types rnt"

// Handler returns a handler that serves the page at the root of its paths, with the [Policy] and
// types that it needs. Browsers decompress the engine themselves if they can, which makes the page
// start sooner. See [Files] for the error.
//
// The page reads what its address names, such as /#url=/data/file.root, by ranges. To serve files
// is up to others, such as [http.FileServer].
func Handler() (http.Handler, error) {
	files, err := Files()
	if err != nil {
		return nil, err
	}
	return &handler{http.FileServerFS(files)}, nil
}

type handler struct{ files http.Handler }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := w.Header()
	to.Set("Content-Security-Policy", Policy)
	to.Set("Referrer-Policy", "no-referrer")
	to.Set("X-Content-Type-Options", "nosniff")
	if kind, ok := kinds[path.Ext(r.URL.Path)]; ok {
		to.Set("Content-Type", kind)
	}
	if path.Base(r.URL.Path) == engine {
		to.Set("Vary", "Accept-Encoding")
		if accepts(r, "zstd") {
			to.Set("Content-Encoding", "zstd")
			to.Set("Content-Type", "application/wasm")
		}
	}
	h.files.ServeHTTP(w, r)
}

// kinds are the types of the files by the ends of their names, whatever the system says.
var kinds = map[string]string{
	"":      "text/html; charset=utf-8", // of /
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".zst":  "application/octet-stream",
}

// refused matches what an encoding is followed by that is not wanted.
var refused = regexp.MustCompile(`^\s*q=0(\.0*)?\s*$`)

// accepts reports whether the answer to a request may have an encoding.
func accepts(r *http.Request, encoding string) bool {
	for _, list := range r.Header.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(list, ",") {
			if name, quality, _ := strings.Cut(one, ";"); strings.TrimSpace(name) == encoding {
				return !refused.MatchString(quality)
			}
		}
	}
	return false
}
