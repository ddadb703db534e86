package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

// A bucket is a server of objects by HTTP, as stores of S3 are, which does not look at signatures.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	waits   chan struct{} // if not nil, uploads are announced here and are not answered
}

// newBucket starts a bucket and returns the URLs of its objects by HTTP and S3, with a slash at the
// end.
func newBucket(t *testing.T) (b *bucket, byHTTP, byS3 string) {
	b = &bucket{objects: map[string][]byte{}}
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "key",
		"AWS_SECRET_ACCESS_KEY": "secret", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_ENDPOINT_URL_S3": "", "AWS_REGION": ""} {
		t.Setenv(name, value)
	}
	return b, s.URL + "/bucket/", "s3://bucket/"
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	b.mu.Lock()
	waits := b.waits
	if waits != nil && r.Method == http.MethodPut {
		b.mu.Unlock()
		waits <- struct{}{}
		<-r.Context().Done()
		return
	}
	defer b.mu.Unlock()
	old, exists := b.objects[r.URL.Path]
	switch {
	case r.Method == http.MethodPut && exists && r.Header.Get("If-None-Match") == "*":
		w.WriteHeader(http.StatusPreconditionFailed)
	case r.Method == http.MethodPut && err == nil:
		b.objects[r.URL.Path] = body
	case !exists:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%p"`, old))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(old))
	}
}

// TestOutputsAtURLs has each command that makes a file make it at a URL, where it must be what it
// is on disk.
func TestOutputsAtURLs(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	b, byHTTP, byS3 := newBucket(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("schema.json", []byte(rnt(t, "schema", "--json", in)), 0o600); err != nil {
		t.Fatal(err)
	}
	const out = "OUT"
	for i, command := range []string{
		"convert IN OUT.root", "convert IN OUT.parquet", "convert IN OUT.jsonl", "merge OUT.root IN IN",
		"concat OUT.root IN IN",
		"skim OUT.root IN --where nMuon==2", "slim OUT.root IN --fields run", "repack OUT.root IN --compression lz4:4",
		"hmerge --prefix a_,b_ OUT.root IN IN",
		"rename IN --to Other --out OUT.root", "recover OUT.root IN", "create OUT.root --schema schema.json",
		"draw IN nMuon --out OUT.svg", "stat IN --map OUT.svg",
	} {
		for _, base := range []string{byHTTP, byS3}[i%2:][:1] {
			run := func(place string, more ...string) (string, string, int) {
				args := clitest.Arguments(command, out, place+"out", "IN", in)
				return try(append(args, more...)...)
			}
			_, stderr, status := run("")
			if status != exitOK {
				t.Fatalf("%s: %d, %s", command, status, stderr)
			}
			stdout, stderr, status := run(base)
			if status != exitOK || strings.Contains(stdout, "secret") {
				t.Errorf("%s at %s: %d, %s", command, base, status, stderr)
				continue
			}
			name := ""
			for _, word := range strings.Fields(command) {
				if strings.HasPrefix(word, out) {
					name = strings.Replace(word, out, "out", 1)
				}
			}
			local, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			far := b.objects["/bucket/"+name]
			if strings.HasSuffix(name, ".root") { // which have dates
				if _, stderr, status := try("diff", name, base+name); status != exitOK {
					t.Errorf("%s at %s: %s", command, base, stderr)
				}
			} else if !bytes.Equal(local, far) {
				t.Errorf("%s at %s: the file is another one", command, base)
			}
			_, stderr, status = run(base)
			if status != exitError || !strings.Contains(stderr, base+name+": exists; --force replaces it") {
				t.Errorf("%s at %s once more: %d, %s", command, base, status, stderr)
			}
			b.objects["/bucket/"+name] = []byte("old")
			if _, stderr, status = run(base, "--force"); status != exitOK || len(b.objects["/bucket/"+name]) < 10 {
				t.Errorf("%s at %s with --force: %d, %s", command, base, status, stderr)
			}
			delete(b.objects, "/bucket/"+name)
			os.Remove(name)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v are left in the folder for temporary files, %v", left, err)
	}
}

// TestNoOutputsAtURLs lists what cannot be written at a URL.
func TestNoOutputsAtURLs(t *testing.T) {
	b, _, url := newBucket(t)
	content, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	b.objects["/bucket/in.root"] = content
	for command, want := range map[string]string{
		"merge --into URL/in.root IN":             "remote files",
		"append URL/in.root IN":                   "remote files",
		"rename URL/in.root --to Other":           "remote files",
		"index URL/in.root":                       "remote files",
		"split --clusters 1 URL/part.root IN":     "files on disk only",
		"merge --force URL/in.root URL/in.root":   "is an input and would be overwritten",
		"merge gopher://host/out.root IN":         `unknown scheme "gopher"`,
		"merge http://user:secret@[host IN":       "not a URL",
		"merge s3://user:secret@bucket/o.root IN": "credentials are not taken from a URL",
	} {
		args := clitest.Arguments(command, "URL/", url, "IN", dimuon)
		if _, stderr, status := try(args...); status != exitError || !strings.Contains(stderr, want) ||
			strings.Contains(stderr, "secret") {
			t.Errorf("%s: %d, %s, want %q", command, status, stderr, want)
		}
	}
	if len(b.objects) != 1 || !bytes.Equal(b.objects["/bucket/in.root"], content) {
		t.Error("objects were written")
	}
}

// TestInterruptedUpload stops the tool while the store is silent.
func TestInterruptedUpload(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	b, _, url := newBucket(t)
	b.waits = make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	var stderr strings.Builder
	status := make(chan int)
	go func() {
		status <- tool.Run(ctx, []string{"merge", url + "out.root", dimuon}, strings.NewReader(""), io.Discard, &stderr)
	}()
	<-b.waits
	cancel(cli.SignalError{Signal: os.Interrupt})
	if s := <-status; s != 130 || !strings.Contains(stderr.String(),
		"interrupted; "+url+"out.root is either complete or was not written") {
		t.Errorf("%d, %s", s, stderr.String())
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 || len(b.objects) > 0 {
		t.Errorf("%v are left in the folder for temporary files, %v, and %d objects", left, err, len(b.objects))
	}
}
