package xrootd_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/xrootd"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestServer reads all test data from real servers of all kinds, and compares the values.
func TestServer(t *testing.T) {
	tls := "xrd.tls DIR/cert.pem DIR/key.pem\nxrd.tlsca noverify\n"
	for _, c := range []struct{ name, config, scheme string }{
		{"plain", "", "root"},
		{"TLS wanted", tls + "xrootd.tls capable all\n", "roots"},
		{"TLS possible", tls + "xrootd.tls capable all\n", "root"},
		{"TLS for the login", tls + "xrootd.tls login\n", "root"},
		{"TLS for the session", tls + "xrootd.tls session\n", "root"},
		{"TLS for all", tls + "xrootd.tls all\n", "xroots"},
		{"unix", "xrootd.seclib libXrdSec.so\nsec.protocol unix\nsec.protbind * only unix\n", "root"},
		{"host", "xrootd.seclib libXrdSec.so\nsec.protocol host\nsec.protbind * only host\n", "root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			remotetest.CheckGoroutines(t)
			s := xrootd.StartServer(t, c.config)
			remotetest.CheckValues(t, c.scheme+"://"+s.Addr+"/", &rntuple.ReadOptions{Remote: remote.Options{Tail: 2048}})
			if t.Failed() {
				t.Log(s.Log())
			}
		})
	}
}

// TestCluster reads all test data from a real server to which another one redirects.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a cluster takes a while to begin")
	}
	remotetest.CheckGoroutines(t)
	s := remotetest.StartXRootDCluster(t, remotetest.GoodFiles(t))
	base := "root://localhost:" + s.Addr[strings.LastIndex(s.Addr, ":")+1:] + "/"
	remotetest.CheckValues(t, base, nil)
	if _, err := remote.Open(t.Context(), base+"/none.root", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
}

// TestServerErrors asks a real server for what it has not.
func TestServerErrors(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := xrootd.StartServer(t, "")
	for name, want := range map[string]error{"/none.root": fs.ErrNotExist, "/": nil, "/../secret": nil} {
		_, err := remote.Open(t.Context(), "root://"+s.Addr+"/"+name, &remote.Options{Attempts: 1})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := remote.Open(t.Context(), "roots://"+s.Addr+"//objects.root", nil); err == nil ||
		!strings.Contains(err.Error(), "no TLS") {
		t.Errorf("%v, want no TLS", err)
	}
}

// TestServerRestart ends a real server while a file is open, and changes the file later.
func TestServerRestart(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := xrootd.StartServer(t, "")
	f, err := remote.Open(t.Context(), "root://"+s.Addr+"//objects.root", &remote.Options{Tail: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := os.ReadFile(s.File("objects.root"))
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		ranges := []remote.Range{{Offset: 10, Data: make([]byte, 1000)}, {Offset: 5000, Data: make([]byte, 2000)}}
		err := f.ReadRanges(t.Context(), ranges)
		for _, r := range ranges {
			if err == nil && !bytes.Equal(r.Data, want[r.Offset:r.End()]) {
				t.Errorf("wrong bytes from %d to %d", r.Offset, r.End())
			}
		}
		return err
	}
	for range 2 {
		if err := read(); err != nil {
			t.Error(err)
		}
		s.Restart()
	}
	later := time.Now().Add(5 * time.Second)
	if err := os.Chtimes(s.File("objects.root"), later, later); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is open, and what is opened anew
		if err := read(); !errors.Is(err, remote.ErrChanged) {
			t.Errorf("%v, want ErrChanged", err)
		}
		s.Restart()
	}
}

// TestServerLarge reads more than a real server sends at once, and more than its vectored reads
// allow.
func TestServerLarge(t *testing.T) {
	remotetest.CheckGoroutines(t)
	want := make([]byte, 30<<20)
	for i := range want {
		want[i] = byte(i ^ i>>8 ^ i>>16)
	}
	s := xrootd.StartServer(t, "", func(dir string) {
		if err := os.WriteFile(filepath.Join(dir, "data", "large"), want, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	f, err := remote.Open(t.Context(), "root://"+s.Addr+"//large", &remote.Options{Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var many []remote.Range
	for at := int64(1); at < 20<<20; at += 10_000 {
		many = append(many, remote.Range{Offset: at, Data: make([]byte, 777)})
	}
	for _, ranges := range [][]remote.Range{
		{{Offset: 3, Data: make([]byte, len(want)-5)}},
		{{Offset: 3, Data: make([]byte, 5<<20)}, {Offset: 6 << 20, Data: make([]byte, 9<<20)},
			{Offset: 20 << 20, Data: make([]byte, 7)}},
		many,
	} {
		if err := f.ReadRanges(t.Context(), ranges); err != nil {
			t.Error(err)
		}
		for _, r := range ranges {
			if !bytes.Equal(r.Data, want[r.Offset:r.End()]) {
				t.Errorf("wrong bytes from %d to %d", r.Offset, r.End())
			}
		}
	}
}

// TestServerRequests counts what reading 4 of 40 columns takes, in the log of a real server: two
// reads of the metadata, which are one request to the library, and a vectored read for each cluster
// or less.
func TestServerRequests(t *testing.T) {
	remotetest.CheckGoroutines(t)
	const columns, entries, clusters = 40, 10_000, 4
	s := xrootd.StartServer(t, "xrootd.trace all\n", func(dir string) {
		writeColumns(t, filepath.Join(dir, "data", "columns.root"), columns, entries, clusters)
	})
	var stats remote.Stats
	r, err := rntuple.Open("root://"+s.Addr+"//columns.root", "Events",
		&rntuple.ReadOptions{Remote: remote.Options{Stats: &stats}})
	if err != nil {
		t.Fatal(err)
	}
	type four struct {
		A float64 `rntuple:"c03"`
		B float64 `rntuple:"c11"`
		C float64 `rntuple:"c12"`
		D float64 `rntuple:"c39"`
	}
	sum := 0.0
	for e, err := range rntuple.Entries[four](r) {
		if err != nil {
			t.Fatal(err)
		}
		sum += e.A + e.B + e.C + e.D
	}
	r.Close()
	const n = entries * clusters
	if want := float64(4*n*(n-1)/2 + (3+11+12+39)*n); sum != want {
		t.Errorf("the sum is %v, want %v", sum, want)
	}
	got, count := s.Requests(), stats.Count()
	reads := got["read"] + got["readv"]
	if got["login"] != 1 || got["open"] != 1 || got["query"] != 1 || reads > 2+clusters || got["stat"] != reads-2 ||
		int(count.Requests) != reads-1 || count.Repeated != 0 {
		t.Errorf("%v, %+v", got, count)
	}
	if wanted := int64(4 * 8 * n); count.Read > wanted*17/16+200<<10 {
		t.Errorf("%d bytes are read, of %d that are wanted", count.Read, wanted)
	}
	t.Log(got, count)
}

// writeColumns writes columns of numbers that do not compress, in the given number of clusters of n
// entries.
func writeColumns(t *testing.T, path string, columns, n, clusters int) {
	doc := &schema.Document{}
	for c := range columns {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: fmt.Sprintf("c%02d", c), Type: "double"})
	}
	w, err := rntuple.CreateColumns(path, "Events", doc, &rntuple.WriteOptions{Compression: compress.None})
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, n)
	for k := range clusters {
		for c := range columns {
			for i := range values {
				values[i] = float64(k*n + i + c)
			}
			rntuple.Put(w, doc.Fields[c].Name, values)
		}
		w.End(int64(n))
		w.CommitCluster()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestServerTokens reads with tokens of the WLCG.
func TestServerTokens(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("skipped: python3, which makes the server's cache of keys, is not installed")
	}
	if all, _ := filepath.Glob("/usr/lib*/*/libXrdAccSciTokens*"); all == nil {
		t.Skip("skipped: the package xrootd-scitokens-plugins is not installed")
	}
	remotetest.CheckGoroutines(t)
	const issuer = "https://localhost:1"
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := xrootd.StartServer(t, "xrd.tls DIR/cert.pem DIR/key.pem\nxrd.tlsca noverify\nxrootd.tls capable all\n"+
		"xrootd.seclib libXrdSec.so\nsec.protocol ztn\nsec.protbind * only ztn\nofs.authorize 1\nofs.authlib libXrdAccSciTokens.so config=DIR/scitokens.cfg\n",
		func(dir string) {
			public, err := key.PublicKey.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			keys := fmt.Sprintf(`{"expires":%[1]d,"next_update":%[1]d,"jwks":{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"k1","x":%[2]q,"y":%[3]q}]}}`,
				time.Now().Add(time.Hour).Unix(), base64url(public[1:33]), base64url(public[33:]))
			const script = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("CREATE TABLE keycache (issuer text UNIQUE PRIMARY KEY NOT NULL, keys text NOT NULL)")
db.execute("INSERT INTO keycache VALUES (?, ?)", sys.argv[2:])
db.commit()`
			if err := os.MkdirAll(filepath.Join(dir, "scitokens"), 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("python3", "-c", script, filepath.Join(dir, "scitokens", "scitokens_cpp.sqllite"),
				issuer, keys).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			config := "[Global]\naudience = https://wlcg.cern.ch/jwt/v1/any\n[Issuer local]\nissuer = " + issuer +
				"\nbase_path = /\n"
			if err := os.WriteFile(filepath.Join(dir, "scitokens.cfg"), []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	token := func(scope string) string {
		return jwt(t, key, map[string]any{"sub": "gopher", "iss": issuer, "aud": "https://wlcg.cern.ch/jwt/v1/any",
			"scope": scope, "wlcg.ver": "1.0",
			"iat": time.Now().Unix(), "nbf": time.Now().Unix() - 10, "exp": time.Now().Add(time.Hour).Unix()})
	}
	good := token("storage.read:/")
	for name, c := range map[string]struct {
		scheme, token string
		want          error
	}{
		"right":       {"roots", good, nil},
		"other place": {"roots", token("storage.read:/elsewhere"), fs.ErrPermission},
		"none":        {"roots", "", fs.ErrPermission},
		"forged":      {"roots", good[:len(good)-20] + "AAAAAAAAAAAAAAAAAAAA", fs.ErrPermission},
	} {
		t.Setenv("BEARER_TOKEN", c.token)
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		f, err := remote.Open(t.Context(), c.scheme+"://"+s.Addr+"//objects.root", &remote.Options{Attempts: 1})
		if !errors.Is(err, c.want) || err != nil && c.token != "" && strings.Contains(err.Error(), c.token) {
			t.Errorf("%s: %v, want %v\n%s", name, err, c.want, s.Log())
		}
		if err == nil {
			f.Close()
		}
	}
	t.Setenv("BEARER_TOKEN", "")
	t.Setenv("BEARER_TOKEN_FILE", filepath.Join(t.TempDir(), "token"))
	if err := os.WriteFile(os.Getenv("BEARER_TOKEN_FILE"), []byte(good+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	remotetest.CheckValues(t, "roots://"+s.Addr+"/", nil)
}

// jwt returns a signed token.
func jwt(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed := base64url([]byte(`{"alg":"ES256","kid":"k1","typ":"JWT"}`)) + "." + base64url(body)
	hash := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + base64url(signature)
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
