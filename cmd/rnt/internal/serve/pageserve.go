package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/viewer"
)

// maxPageFiles is the most files that page --serve has addresses of.
const maxPageFiles = 10_000

// servePage serves the page and files until the context is done. It listens on this machine only.
func servePage(ctx context.Context, t *cli.Tool, args []string, port int) error {
	page, err := viewer.Handler()
	if err != nil {
		return err
	}
	s := &pageServer{page: page, secret: rand.Text()}
	var others []string // URLs, which the page reads itself
	for _, arg := range args {
		if remote.IsURL(arg) {
			others = append(others, arg)
		} else if err := s.add(ctx, arg); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("%w; choose another port with --port", err)
	}
	s.host = l.Addr().String()
	top := url.URL{Scheme: "http", Host: s.host, Path: "/"}
	if len(args) == 0 {
		fmt.Fprintln(t.Out, top.String())
	}
	for i, f := range s.files {
		at := url.URL{Scheme: "http", Host: s.host, Path: s.pathOf(i, f)}
		fmt.Fprintf(t.Out, "%s#url=%s  %s\n", top.String(), url.QueryEscape(at.String()), f)
	}
	for _, u := range others {
		fmt.Fprintf(t.Out, "%s#url=%s\n", top.String(), url.QueryEscape(u))
	}
	if err := t.Out.Flush(); err != nil {
		l.Close()
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// A pageServer serves the page, and files at addresses that nobody can guess: everyone on this
// machine can connect.
type pageServer struct {
	page   http.Handler
	host   string // with the port
	secret string
	files  []string // paths
}

// add adds a file, or the ROOT files in and below a folder, of which those that links lead to are
// left out.
func (s *pageServer) add(ctx context.Context, name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		s.files = append(s.files, name)
		return nil
	}
	before := len(s.files)
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.Type().IsRegular() && filepath.Ext(path) == ".root":
			s.files = append(s.files, path)
		}
		if len(s.files) > maxPageFiles {
			return fmt.Errorf("%s: more than %d files", name, maxPageFiles)
		}
		return nil
	})
	if err == nil && len(s.files) == before {
		err = fmt.Errorf("%s: no .root files", name)
	}
	return err
}

// pathOf returns the path at which a file is served.
func (s *pageServer) pathOf(number int, file string) string {
	return "/" + path.Join("files", s.secret, strconv.Itoa(number), filepath.Base(file))
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		switch value := recover(); value {
		case nil:
		case http.ErrAbortHandler:
			panic(value)
		default:
			log.Printf("%s %s: %v\n%s", r.Method, r.URL.Path, value, debug.Stack())
			http.Error(w, fmt.Sprintf("internal error in %s %s", r.Method, r.URL.Path), http.StatusInternalServerError)
		}
	}()
	h := w.Header()
	h.Set("Content-Security-Policy", viewer.Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	switch {
	// Names that others have lead to this machine must not make the files those of another site.
	case r.Host != s.host:
		http.Error(w, "the page is at http://"+s.host+"/", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "files are read-only", http.StatusMethodNotAllowed)
	case strings.HasPrefix(r.URL.Path, "/files/"):
		s.file(w, r)
	default:
		s.page.ServeHTTP(w, r)
	}
}

// file serves a file, in ranges.
func (s *pageServer) file(w http.ResponseWriter, r *http.Request) {
	for i, name := range s.files {
		if r.URL.Path != s.pathOf(i, name) {
			continue
		}
		f, info, err := regular.Open(name)
		if err != nil {
			http.Error(w, "the file can no longer be opened", http.StatusNotFound)
			return
		}
		defer f.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
		http.ServeContent(w, r, "", info.ModTime(), f)
		return
	}
	http.NotFound(w, r)
}
