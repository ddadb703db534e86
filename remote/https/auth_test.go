package https_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
)

// TestHTTP2 reads by HTTP/2, whose requests share a connection.
func TestHTTP2(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var n, others int
	files := remotetest.Files(remotetest.Good(t))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; r.ProtoMajor != 2 {
			others++
		}
		files.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	trust(t, s)
	remotetest.CheckValues(t, strings.Replace(s.URL, "https", "davs", 1), nil)
	if n == 0 || others > 0 {
		t.Errorf("%d of %d requests are not by HTTP/2", others, n)
	}
}

// TestTokens finds tokens in the order of the WLCG Bearer Token Discovery 1.0.
func TestTokens(t *testing.T) {
	remotetest.CheckGoroutines(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var got recorder
	s := httptest.NewServer(&got)
	defer s.Close()
	user := fmt.Sprintf("bt_u%d", os.Geteuid())
	file(user, " runtime.dir\n")
	named := file("token", "named.file\r\n")
	for _, c := range []struct {
		token, file, dir string // BEARER_TOKEN, BEARER_TOKEN_FILE, XDG_RUNTIME_DIR
		want, fails      string
	}{
		{" variable\n", named, dir, "Bearer variable", ""},
		{"", named, dir, "Bearer named.file", ""},
		{" \n", named, dir, "Bearer named.file", ""},
		{"", "", dir, "Bearer runtime.dir", ""},
		{"", file("empty", "\n"), dir, "", ""},
		{"", filepath.Join(dir, "missing"), dir, "", "BEARER_TOKEN_FILE"},
		{"sec ret", "", "", "", "BEARER_TOKEN: the token has the byte 0x20"},
		{"", file("bad", "sec\nret"), "", "", "bad: the token has the byte 0xa"},
	} {
		t.Setenv("BEARER_TOKEN", c.token)
		t.Setenv("BEARER_TOKEN_FILE", c.file)
		t.Setenv("XDG_RUNTIME_DIR", c.dir)
		err := readNoise(s.URL, remote.Options{})
		tokens := slices.Compact(got.take("Authorization"))
		if c.fails == "" && (err != nil || !slices.Equal(tokens, []string{c.want})) {
			t.Errorf("%+v: sent %q, %v", c, tokens, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) ||
			strings.Contains(err.Error(), "sec") || len(tokens) > 0) {
			t.Errorf("%+v: sent %q, %v", c, tokens, err)
		}
	}
	t.Setenv("BEARER_TOKEN", "secret")
	if err := readNoise(strings.Replace(s.URL, "//", "//user:pass@", 1), remote.Options{}); err != nil ||
		got.take("Authorization")[0] != "Basic dXNlcjpwYXNz" {
		t.Errorf("a user in the URL does not take precedence: %v", err)
	}
}

// TestTokenInClear makes sure that no token is sent to another machine without encryption. The
// proxy stands for the other machine.
func TestTokenInClear(t *testing.T) {
	var got recorder
	s := httptest.NewServer(&got)
	defer s.Close()
	if err := child(t, "http://data.example/a", "HTTP_PROXY="+strings.Replace(s.URL, "//", "//name:word@", 1),
		"BEARER_TOKEN=secret"); err != "" {
		t.Error(err)
	}
	seen := got.all()
	for _, h := range seen {
		if h.Get("Authorization") != "" || h.Get("Path") != "http://data.example/a" ||
			h.Get("Proxy-Authorization") != "Basic bmFtZTp3b3Jk" {
			t.Errorf("the proxy got %v", h)
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d requests to the proxy, want 4", len(seen))
	}
}

// TestProxy reads by https through a proxy, which sees no token.
func TestProxy(t *testing.T) {
	var got, asked recorder
	s := httptest.NewTLSServer(&got)
	defer s.Close()
	asked.set(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		far, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		w.WriteHeader(http.StatusOK)
		// What the client has sent since it got the answer may be in the buffer.
		near, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer near.Close()
		go io.Copy(far, buffered)
		io.Copy(near, far)
	})
	proxy := httptest.NewServer(&asked)
	defer proxy.Close()
	trust(t, s)
	if err := child(t, "https://example.com/a", "HTTPS_PROXY="+proxy.URL, "BEARER_TOKEN=secret"); err != "" {
		t.Error(err)
	}
	if tokens := slices.Compact(got.take("Authorization")); !slices.Equal(tokens, []string{"Bearer secret"}) {
		t.Errorf("the server got %q", tokens)
	}
	if seen := asked.all(); len(seen) == 0 || strings.Contains(fmt.Sprint(seen), "secret") {
		t.Errorf("the proxy got %v", seen)
	}
	url, want := "https://other.example/a?secret", "https://other.example/a?…: open: Bad Request"
	if err := child(t, url, "HTTPS_PROXY="+strings.Replace(proxy.URL, "//", "//name:secret@", 1)); !strings.HasPrefix(err,
		want) || strings.Contains(err, "secret") {
		t.Errorf("%s, want %s", err, want)
	}
}

// child reads noise in another process, because net/http reads the environment once, and returns
// the error.
func child(t *testing.T, url string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), append(env, "REMOTE_TEST_URL="+url)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, text, ok := strings.Cut(string(out), "error: ")
	if !ok {
		t.Fatalf("the child says %s", out)
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// TestChild is the other process of child.
func TestChild(t *testing.T) {
	url := os.Getenv("REMOTE_TEST_URL")
	if url == "" {
		t.Skip("skipped: is for other tests to run")
	}
	remotetest.CheckGoroutines(t)
	if err := readNoise(url, remote.Options{Attempts: 2, Backoff: time.Millisecond}); err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println("error: ")
}

// An authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.cert, a.key = a.issue("Authority", true)
	return a
}

// issue returns a certificate that the authority signs, or itself.
func (a *authority) issue(name string, ca bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true}
	parent, signer := a.cert, a.key
	if ca {
		c.IsCA, c.KeyUsage, parent, signer = true, x509.KeyUsageCertSign, c, key
	}
	b, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(b); err != nil {
		a.t.Fatal(err)
	}
	return c, key
}

// write writes a client's certificate and its key to files, which may be the same.
func (a *authority) write(name, cert, key string) {
	c, k := a.issue(name, false)
	b, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		a.t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b})
	if cert == key {
		certPEM, keyPEM = append(certPEM, keyPEM...), append(certPEM, keyPEM...)
	}
	for path, b := range map[string][]byte{cert: certPEM, key: keyPEM} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

// TestCertificates reads from a server that asks for a client's certificate.
func TestCertificates(t *testing.T) {
	remotetest.CheckGoroutines(t)
	a := newAuthority(t)
	var names []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names = append(names, r.TLS.PeerCertificates[0].Subject.CommonName)
		serveBytes(w, r, noise)
	}))
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	o := remote.Options{Backoff: time.Millisecond}

	t.Setenv("X509_CERT_DIR", t.TempDir())
	if err := readNoise(s.URL, o); err == nil ||
		!strings.Contains(err.Error(), "certificate signed by unknown authority") ||
		strings.Contains(err.Error(), "attempts") {
		t.Errorf("a server that nobody knows: %v", err)
	}
	trust(t, s)
	if err := readNoise(s.URL, o); err == nil || !strings.Contains(err.Error(), "tls: certificate required") ||
		strings.Contains(err.Error(), "attempts") {
		t.Errorf("without a certificate: %v", err)
	}
	dir := t.TempDir()
	cert, key, proxy := filepath.Join(dir, "usercert.pem"), filepath.Join(dir, "userkey.pem"), filepath.Join(dir, "x509up")
	a.write("User", cert, key)
	a.write("Proxy", proxy, proxy)
	read := func(want string) {
		t.Helper()
		names = nil
		if err := readNoise(s.URL, o); err != nil {
			t.Error(err)
		}
		if names = slices.Compact(names); !slices.Equal(names, []string{want}) {
			t.Errorf("the clients were %q, want %q", names, want)
		}
	}
	t.Setenv("X509_USER_CERT", cert)
	t.Setenv("X509_USER_KEY", key)
	read("User")
	a.write("Renewed", cert, key)
	read("Renewed")
	t.Setenv("X509_USER_CERT", proxy)
	t.Setenv("X509_USER_KEY", "")
	read("Proxy")
	t.Setenv("X509_USER_CERT", cert)
	t.Setenv("X509_USER_KEY", key)
	t.Setenv("X509_USER_PROXY", proxy)
	read("Proxy")
	newAuthority(t).write("Stranger", proxy, proxy)
	if err := readNoise(s.URL, o); err == nil || strings.Contains(err.Error(), "attempts") {
		t.Errorf("with a stranger's certificate: %v", err)
	}
	t.Setenv("X509_USER_PROXY", filepath.Join(dir, "missing"))
	if err := readNoise(s.URL, o); err == nil ||
		!strings.Contains(err.Error(), "open: the client's certificate: open "+dir) {
		t.Errorf("with a certificate that is not there: %v", err)
	}
	t.Setenv("X509_USER_PROXY", "")
	t.Setenv("X509_CERT_DIR", filepath.Join(dir, "missing"))
	if err := readNoise(s.URL, o); err == nil || !strings.Contains(err.Error(), "open: X509_CERT_DIR: open "+dir) {
		t.Errorf("with a folder that is not there: %v", err)
	}
}
