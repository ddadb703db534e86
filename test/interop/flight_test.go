package interop

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// flightResult is what testdata/gen/flight.py prints.
type flightResult struct {
	Ntuples, Fields, Endpoints, Unlisted, Binary int
	LeftOut                                      [][]string `json:"left_out"`
}

// serveFlight starts rnt serve, which ends with the test, and returns its location.
func serveFlight(t *testing.T, rnt string, args ...string) (location string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), rnt, append([]string{"serve", "-q"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Wait()
		t.Fatalf("%v: %s", err, &stderr)
	}
	_, location, _ = strings.Cut(strings.TrimSpace(line), " at ")
	return location
}

// TestFlight has pyarrow read files of which uproot reads the same values, from rnt serve: by
// endpoints in parallel, and at once; and through TLS with a token.
func TestFlight(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	rnt := filepath.Join(dir, "rnt")
	if out, err := exec.Command("go", "build", "-o", rnt, "../../cmd/rnt").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	many := filepath.Join(dir, "many")
	type entry struct {
		I  int64
		Pt []float32
	}
	if err := os.Mkdir(many, 0o777); err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.Create[entry](filepath.Join(many, "many.root"), "ntuple", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(320_000) {
		w.Write(&entry{i, []float32{float32(i), 0.5, -1}[:i%4]})
		if i%20_000 == 0 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cert, secure := selfSigned(t, dir)
	const token = "a-token-for-this-test"
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, test := range []struct {
		folder, criteria           string
		ntuples, fields, endpoints int // at least
		secure                     bool
	}{
		{shared, "*.root", 17, 1043, 1, false},
		{"../../testdata", "dimuon.root", 1, 13, 1, false},
		{many, "", 1, 2, 3, true},
	} {
		t.Run(filepath.Base(test.folder), func(t *testing.T) {
			if _, err := os.Stat(test.folder); err != nil {
				t.Skipf("the public files are not there: %v", err)
			}
			args, more := []string{test.folder, "--listen", "127.0.0.1:0"}, []string(nil)
			if test.secure {
				args = append([]string{test.folder, "--listen", "0.0.0.0:0", "--token-file", tokens}, secure...)
				more = []string{cert, token}
			}
			location := serveFlight(t, rnt, args...)
			if test.secure {
				scheme, address, _ := strings.Cut(location, "://")
				_, port, err := net.SplitHostPort(address)
				if err != nil || scheme != "grpc+tls" {
					t.Fatal(location, err)
				}
				location = "grpc+tls://127.0.0.1:" + port
			}
			var got flightResult
			if err := json.Unmarshal(script(t, "flight.py", append([]string{test.folder, location, test.criteria}, more...)...),
				&got); err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", got)
			if got.Ntuples < test.ntuples || got.Fields < test.fields || got.Endpoints < test.endpoints || got.Unlisted > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// selfSigned makes a certificate for 127.0.0.1, and returns its path and the flags for it.
func selfSigned(t *testing.T, dir string) (cert string, flags []string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	public, err1 := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	private, err2 := x509.MarshalPKCS8PrivateKey(key)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	var paths []string
	for i, block := range []*pem.Block{{Type: "CERTIFICATE", Bytes: public}, {Type: "PRIVATE KEY", Bytes: private}} {
		path := filepath.Join(dir, fmt.Sprintf("%d.pem", i))
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths[0], []string{"--tls-cert", paths[0], "--tls-key", paths[1]}
}
