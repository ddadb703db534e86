package https_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// nginxConfig has the places %[1]s, for files of nginx, %[2]s, of testdata/good, and %[3]s, of
// noise, and the ports %[4]d and, for https, %[5]d.
const nginxConfig = `
daemon off;
master_process off;
pid "%[1]s/pid";
error_log "%[1]s/errors";
events {}
http {
	log_format ranges '$uri $status $server_protocol $http_range';
	access_log "%[1]s/log" ranges;
	client_body_temp_path "%[1]s/body";
	proxy_temp_path "%[1]s/proxy";
	fastcgi_temp_path "%[1]s/fastcgi";
	uwsgi_temp_path "%[1]s/uwsgi";
	scgi_temp_path "%[1]s/scgi";
	default_type application/octet-stream;
	limit_req_zone $server_name zone=few:1m rate=20r/s;
	server {
		listen %[4]s;
		listen %[5]s ssl http2;
		ssl_certificate "%[1]s/cert";
		ssl_certificate_key "%[1]s/key";
		location /good/ { alias "%[2]s/"; }
		location /good/whole/ { alias "%[2]s/"; max_ranges 0; }
		location /plain/ { alias "%[3]s/"; }
		location /whole/ { alias "%[3]s/"; max_ranges 0; }
		location /single/ { alias "%[3]s/"; max_ranges 1; }
		location /three/ { alias "%[3]s/"; max_ranges 3; }
		location /slow/ { alias "%[3]s/"; limit_rate 1m; }
		location /gzip/ { alias "%[3]s/"; gzip on; gzip_types *; gzip_min_length 1; }
		location /time/ { alias "%[3]s/"; etag off; }
		location /unversioned/ { alias "%[3]s/"; etag off; add_header Last-Modified ""; }
		location /closing/ { alias "%[3]s/"; keepalive_timeout 0; }
		location /dav/ { alias "%[1]s/"; dav_methods PUT DELETE MOVE; client_max_body_size 0; }
		location /moved/ { return 307 /plain/noise; }
		location /busy/ { alias "%[3]s/"; limit_req zone=few; limit_req_status 429; }
		location /secret/ { return 403; }
	}
}
`

// nginx starts nginx, and returns the URLs of its server, by http and https, and the path of its
// log.
func nginx(t *testing.T, noiseDir string) (plain, secure, log string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("skipped: there is no nginx")
		}
	}
	dir := t.TempDir()
	s := httptest.NewTLSServer(http.NotFoundHandler()) // has a certificate
	trust(t, s)
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: s.Certificate().Raw},
		"key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr, secure := remotetest.FreeAddress(t), remotetest.FreeAddress(t)
	config := fmt.Sprintf(nginxConfig, dir, remotetest.Good(t), noiseDir, addr, secure)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := exec.Command(program, "-e", filepath.Join(dir, "errors"), "-p", dir, "-c", filepath.Join(dir, "config"))
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			break
		}
		if time.Since(start) > time.Minute {
			said, _ := os.ReadFile(out.Name())
			wrote, _ := os.ReadFile(filepath.Join(dir, "errors"))
			t.Fatalf("nginx does not start:\n%s%s", said, wrote)
		}
	}
	return "http://" + addr, "https://" + secure, filepath.Join(dir, "log")
}

// TestNginx reads from nginx with several configurations.
func TestNginx(t *testing.T) {
	remotetest.CheckGoroutines(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "noise")
	if err := os.WriteFile(path, noise, 0o644); err != nil {
		t.Fatal(err)
	}
	plain, secure, log := nginx(t, dir)
	marks := 0
	requests := func() (all []string) { // that were logged so far
		t.Helper()
		marks++
		mark := fmt.Sprintf("/mark%d", marks)
		if err := readNoise(plain+mark, remote.Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(time.Millisecond) {
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if lines, _, ok := strings.Cut(string(b), mark+" "); ok { // and so is what was before
				return strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
			}
		}
		t.Fatal("nginx logs nothing")
		return nil
	}
	for _, c := range []struct {
		place string
		o     remote.Options
		want  error
		most  int // requests
	}{
		{place: "plain", most: 4},
		{place: "whole", most: 2},
		{place: "whole", o: remote.Options{Whole: 1000}, want: remote.ErrNoRanges, most: 2},
		{place: "single", most: 11},
		{place: "three", most: 11},
		{place: "slow", most: 4},
		{place: "gzip", most: 4},
		{place: "time", most: 4},
		{place: "unversioned", most: 4},
		{place: "closing", most: 4},
		{place: "moved", most: 5},
		{place: "busy", o: remote.Options{Attempts: 10, Backoff: 20 * time.Millisecond}, most: 40},
		{place: "secret", want: os.ErrPermission, most: 1},
		{place: "missing", want: os.ErrNotExist, most: 1},
	} {
		for _, url := range []string{plain, secure} {
			t.Run(c.place, func(t *testing.T) {
				before := len(requests())
				err := readNoise(url+"/"+c.place+"/noise", c.o)
				lines := requests()[before+1:]
				if !errors.Is(err, c.want) || len(lines) > c.most || len(lines) == 0 {
					t.Errorf("%v, want %v; the requests were\n%s", err, c.want, strings.Join(lines, "\n"))
				}
			})
		}
	}

	remotetest.CheckValues(t, secure+"/good", &rntuple.ReadOptions{Remote: remote.Options{Tail: 2048}})
	remotetest.CheckValues(t, plain+"/good/whole", nil)
	all := strings.Join(requests(), "\n")
	for _, want := range []string{" 206 HTTP/1.1 bytes=1000-1899,101000-", " 206 HTTP/2.0 bytes=1000-1899,101000-"} {
		if !strings.Contains(all, want) {
			t.Errorf("no request as %q", want)
		}
	}

	f, err := remote.Open(t.Context(), plain+"/plain/noise", &remote.Options{Tail: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := append([]byte("x"), noise[1:]...)
	if err := errors.Join(os.WriteFile(path+".new", b, 0o644), os.Rename(path+".new", path),
		os.Chtimes(path, modified, modified)); err != nil {
		t.Fatal(err)
	}
	if err := f.ReadRanges(t.Context(), []remote.Range{{Offset: 5, Data: make([]byte, 10)}}); !errors.Is(err,
		remote.ErrChanged) {
		t.Errorf("a changed file: %v", err)
	}
	if got := requests(); !strings.Contains(got[len(got)-1], "/plain/noise 412 ") {
		t.Errorf("nginx does not heed If-Match: %s", got[len(got)-1])
	}
}
