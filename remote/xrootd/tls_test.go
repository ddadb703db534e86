package xrootd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
)

// certificate makes a certificate for this machine, which is its own authority. It returns the
// names of its file, in a folder of its own, and of the file of its key.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	cert, err2 := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	pkcs8, err3 := x509.MarshalPKCS8PrivateKey(key)
	certFile, keyFile = filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "key.pem")
	err4 := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644)
	err5 := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// newTLSFake returns a fake that can do TLS, which is trusted.
func newTLSFake(t *testing.T, data []byte) *fake {
	t.Helper()
	certFile, keyFile := certificate(t)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(t, data)
	f.tls = &tls.Config{Certificates: []tls.Certificate{cert}}
	t.Setenv("X509_CERT_DIR", filepath.Dir(certFile))
	return f
}

// noToken makes sure that no token of the machine is found.
func noToken(t *testing.T) {
	for _, name := range []string{"BEARER_TOKEN", "BEARER_TOKEN_FILE", "X509_USER_PROXY",
		"X509_USER_CERT", "X509_CERT_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
}

// TestTLS encrypts where server or URL want it.
func TestTLS(t *testing.T) {
	remotetest.CheckGoroutines(t)
	noToken(t)
	want := content(200_000)
	for _, c := range []struct {
		flags         uint32
		scheme        string
		login, secure bool // encrypted
		fails         string
	}{
		{0, "root", false, false, ""},
		{flagTLSNow, "root", true, true, ""},
		{flagTLSNow, "xroots", true, true, ""},
		{flagTLSLogin, "xroot", true, true, ""},
		{flagTLSLater, "root", false, true, ""},
		{0, "roots", false, false, "no TLS"},
		{flagTLSLater, "roots", false, false, "no TLS"}, // the user's name must not be seen
		{flagTLSNow, "roots", true, true, "certificate"},
	} {
		f := newTLSFake(t, want)
		f.flags |= c.flags
		if c.fails == "certificate" {
			t.Setenv("X509_CERT_DIR", t.TempDir())
		}
		var login, others atomic.Bool
		f.answer = func(conn *fakeConn, r *fakeRequest, n int) bool {
			switch r.number {
			case requestProtocol:
				if wants := r.params[4]&4 != 0; wants != strings.HasSuffix(c.scheme, "s") {
					t.Errorf("%+v: TLS is wanted: %t", c, wants)
				}
			case requestLogin:
				login.Store(conn.secure)
			default:
				others.Store(conn.secure)
			}
			return false
		}
		err := readAll(context.Background(), c.scheme+"://"+f.addr+"/"+path, quick(), want)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) || f.count("login") > 0 {
				t.Errorf("%+v: %v, %d logins", c, err, f.count("login"))
			}
		case err != nil || login.Load() != c.login || others.Load() != c.secure:
			t.Errorf("%+v: %v, login encrypted: %t, others: %t", c, err, login.Load(), others.Load())
		}
	}
}

// TestAuthentication has a server that demands it.
func TestAuthentication(t *testing.T) {
	remotetest.CheckGoroutines(t)
	noToken(t)
	want := content(200_000)
	token := "\"ztn\\x00\\x00T\\x00\\x00\\x00\\x0f" + secret + "\\x00\""
	unix := fmt.Sprintf("%q", "unix\x00gopher "+groupName()+"\x00")
	for i, c := range []struct {
		sec, token string
		flags      uint32
		auth       string // the last one, as the server is told
		fails      string
	}{
		{"&P=unix", "", 0, unix, ""},
		{"&P=unix", "", 0, unix, ""},
		{"&P=gsi,v:10400&P=host&P=unix", "", 0, `"host\x00"`, ""},
		{"&P=ztn,0:4096:&P=unix", "", flagTLSNow, unix, ""},
		{"&P=ztn,0:4096:&P=unix", secret, flagTLSNow, token, ""},
		{"&P=ztn,0:4096:", secret, flagTLSLogin, token, ""},
		{"&P=ztn,0:4096:", secret, 0, "", "roots://"},
		{"&P=ztn,0:4096:", "", flagTLSNow, "", "no bearer token"},
		{"&P=gsi,v:10400&P=krb5", secret, 0, "", `"gsi": not supported`},
		{"something", secret, 0, "", "something"},
		{"&P=ztn,0:4096:&P=refused", secret, flagTLSNow, "", "expired"},
	} {
		f := newTLSFake(t, want)
		f.flags |= c.flags
		f.sec, f.strict = c.sec, i == 0
		t.Setenv("BEARER_TOKEN", c.token)
		if c.fails == "expired" {
			f.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
				if r.number == requestAuth {
					c.send(r.stream, statusError, numbered(errAuthFailed, "the token "+secret+" is expired"))
				}
				return r.number == requestAuth
			}
		}
		err := readAll(context.Background(), "root://gopher@"+f.addr+"/"+path, quick(), want)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), secret) ||
				c.sec[0] == '&' && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		last := ""
		for _, r := range f.requests() {
			if data, ok := strings.CutPrefix(r, "auth "); ok {
				last = data
			}
		}
		if err != nil || last != c.auth {
			t.Errorf("%+v: %v, authenticated by %s", c, err, last)
		}
	}
}

// TestTokenStays makes sure that a token is told neither to another host nor to another port.
func TestTokenStays(t *testing.T) {
	noToken(t)
	t.Setenv("BEARER_TOKEN", secret)
	want := content(200_000)
	for _, host := range []string{"localhost", "127.0.0.1"} {
		for _, kind := range []uint16{requestLogin, requestOpen, requestRead} {
			to := newTLSFake(t, want)
			to.flags, to.sec = to.flags|flagTLSNow, "&P=ztn,0:4096:"
			from := newFake(t, want)
			from.flags, from.tls = to.flags, to.tls
			if kind != requestLogin {
				from.sec = to.sec // which gets the token
			}
			_, port, _ := net.SplitHostPort(to.addr)
			number, _ := strconv.Atoi(port)
			from.answer = func(c *fakeConn, r *fakeRequest, n int) bool {
				if r.number == kind {
					c.send(r.stream, statusRedirect, numbered(number, host))
				}
				return r.number == kind
			}
			err := readAll(context.Background(), "roots://"+from.addr+"/"+path, quick(), want)
			if !errors.Is(err, fs.ErrPermission) ||
				!strings.Contains(err.Error(), "not for a server to which another one redirects") {
				t.Errorf("%s, %s: %v", host, kinds[kind], err)
			}
			if got := strings.Join(to.requests(), "\n"); strings.Contains(got, secret) || to.count("login") == 0 {
				t.Errorf("%s, %s: the other server gets\n%s", host, kinds[kind], got)
			}
			if got := strings.Join(from.requests(), "\n"); strings.Contains(got, secret) != (from.sec != "") {
				t.Errorf("%s, %s: the server of the URL gets\n%s", host, kinds[kind], got)
			}
		}
	}
}
