package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// served runs rnt serve until the test ends it with a signal, and returns its address.
func served(t *testing.T, args ...string) (addr string, stop func() (status int, stderr string)) {
	t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	var stderr bytes.Buffer
	result := make(chan int, 1)
	go func() {
		result <- tool.Run(ctx, append([]string{"serve"}, args...), nil, in, &stderr)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: status %d, %s", err, <-result, &stderr)
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), " at ")
	scheme, addr, _ := strings.Cut(url, "://")
	if !strings.HasPrefix(line, "serving "+args[0]+" at ") || !strings.HasPrefix(scheme, "grpc") {
		t.Errorf("it prints %q", line)
	}
	once := sync.OnceValues(func() (int, string) {
		cancel(cli.SignalError{Signal: os.Interrupt})
		return <-result, stderr.String()
	})
	t.Cleanup(func() { once() })
	return addr, once
}

// rowsServed returns the number of entries that a server sends for a ticket.
func rowsServed(t *testing.T, ctx context.Context, addr, ticket string,
	creds credentials.TransportCredentials) (rows int64, err error) {
	t.Helper()
	c, err := flight.NewClientWithMiddleware(addr, nil, nil, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stream, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte(ticket)})
	if err != nil {
		return 0, err
	}
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for r.Next() {
		rows += r.RecordBatch().NumRows()
	}
	return rows, r.Err()
}

const dimuonTicket = `{"file": "dimuon.root", "fields": ["nMuon"]}`

// TestServe serves testdata, tells of requests, and ends as other commands do.
func TestServe(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		args := []string{filepath.Dir(dimuon), "--listen", "127.0.0.1:0"}
		if quiet {
			args = append(args, "-q")
		}
		addr, stop := served(t, args...)
		if rows, err := rowsServed(t, t.Context(), addr, dimuonTicket, insecure.NewCredentials()); err != nil ||
			rows != 80000 {
			t.Errorf("%d rows, %v", rows, err)
		}
		_, err := rowsServed(t, t.Context(), addr, `{"file": "../README.md"}`, insecure.NewCredentials())
		if status.Code(err) != codes.PermissionDenied {
			t.Error(err)
		}
		code, stderr := stop()
		if code != cli.ExitSignal+int(syscall.SIGINT) || !strings.HasSuffix(stderr, "rnt: interrupted\n") {
			t.Errorf("status %d, %s", code, stderr)
		}
		if logged := strings.Count(stderr, "DoGet"); (logged == 2) == quiet || quiet && logged > 0 {
			t.Errorf("-q %v, but %s", quiet, stderr)
		}
		if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			c.Close()
			t.Error("it still listens")
		}
	}
}

// TestServeTokens serves all addresses, which takes TLS and tokens.
func TestServeTokens(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	secure := []string{"--tls-cert", file("cert.pem", certificate), "--tls-key",
		file("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))}
	tokens := file("tokens", []byte("# of Alice\n0123456789abcdef\n\n  fedcba9876543210\r\n"))

	folder := filepath.Dir(dimuon)
	addr, _ := served(t, append([]string{folder, "--listen", "0.0.0.0:0", "--token-file", tokens}, secure...)...)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	creds := credentials.NewTLS(&tls.Config{RootCAs: pool})
	for token, want := range map[string]codes.Code{
		"0123456789abcdef": codes.OK, "fedcba9876543210": codes.OK, "# of Alice": codes.Unauthenticated,
		"": codes.Unauthenticated,
	} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		if rows, err := rowsServed(t, ctx, "127.0.0.1:"+port, dimuonTicket, creds); status.Code(err) != want ||
			err == nil && rows != 80000 {
			t.Errorf("token %q: %d rows, %v", token, rows, err)
		}
	}

	link, open := filepath.Join(dir, "link"), file("open", []byte("0123456789abcdef\n"))
	if err := errors.Join(os.Symlink(tokens, link), os.Chmod(open, 0o640)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{nil, cli.ExitUsage, "missing argument FOLDER"},
		{[]string{folder, "more"}, cli.ExitUsage, "unexpected arguments: more"},
		{[]string{folder, "--listen", ":0"}, cli.ExitUsage, "needs TLS and tokens: --tls-cert, --tls-key and --token-file"},
		{append([]string{folder, "--listen", ":0"}, secure...), cli.ExitUsage, "needs TLS and tokens"},
		{[]string{folder, "--listen", ":0", "--token-file", tokens}, cli.ExitUsage, "needs TLS and tokens"},
		{[]string{folder, "--listen", "nonsense"}, cli.ExitError, "nonsense"},
		{append([]string{folder}, secure[:2]...), cli.ExitUsage, "--tls-cert and --tls-key must be used together"},
		{[]string{folder, "--max-streams", "0"}, cli.ExitUsage, "--max-streams must be positive"},
		{[]string{folder, "--timeout", "-1s"}, cli.ExitUsage, "--timeout and --max-time must be positive"},
		{[]string{folder, "--token-file", file("none", []byte("\n# nothing\n"))}, cli.ExitError, "no tokens"},
		{[]string{folder, "--token-file", file("short", []byte("0123456789abcdef\nsecret\n"))}, cli.ExitError, "token 2 "},
		{[]string{folder, "--token-file", link}, cli.ExitError, "is a symbolic link, not a regular file"},
		{[]string{folder, "--token-file", open}, cli.ExitError, "others must have no access"},
		{[]string{filepath.Join(dir, "missing")}, cli.ExitError, "missing"},
		{[]string{dimuon}, cli.ExitError, "dimuon.root"},
	} {
		stdout, stderr, code := tool.Try(append([]string{"serve"}, c.args...)...)
		if code != c.status || stdout != "" || !strings.Contains(stderr, c.text) {
			t.Errorf("%v: status %d, %s%s", c.args, code, stdout, stderr)
		}
	}
}
