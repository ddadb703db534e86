package rntflight_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntflight"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestNames asks for files that are not in the folder, or are none.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "served")
	write(t, filepath.Join(folder, "sub", "a.root"), 10, 10)
	write(t, filepath.Join(dir, "secret.root"), 10, 10)
	write(t, filepath.Join(folder, "private.root"), 10, 10)
	if err := os.Chmod(filepath.Join(folder, "private.root"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "empty.root"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "text.root"), []byte("no ROOT file, but some text"), 0o666); err != nil {
		t.Fatal(err)
	}
	links := true
	for name, to := range map[string]string{
		"inside.root": "sub/a.root", "up.root": "sub/../sub/a.root",
		"out.root": "../secret.root", "abs.root": filepath.Join(dir, "secret.root"), "nowhere.root": "../none.root",
		"folder": "..", "here": "sub", "loop.root": "loop.root", "device.root": os.DevNull, "sub/top": "..",
	} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Logf("no links: %v", err)
			links = false
		}
	}
	fifo := makeFIFO(t, filepath.Join(folder, "fifo.root"))

	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	ask := func(name string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		q := rntflight.Query{File: name}
		_, _, err := get(ctx, c, q.Ticket())
		_, other := c.GetFlightInfo(ctx, q.Descriptor())
		_, third := c.GetSchema(ctx, q.Descriptor())
		if status.Code(err) != status.Code(other) || status.Code(err) != status.Code(third) {
			t.Errorf("%q: %v, but %v and %v", name, err, other, third)
		}
		for _, text := range []error{err, other, third} {
			if text != nil && (strings.Contains(strings.ReplaceAll(text.Error(), name, ""), dir) ||
				strings.Contains(text.Error(), "escape")) {
				t.Errorf("%q: the error tells too much: %v", name, text)
			}
		}
		return err
	}
	wants(t, ask("sub/a.root"), codes.OK)
	for _, name := range []string{"..", "../secret.root", "sub/../../secret.root", "sub/../sub/a.root", "/etc/passwd",
		filepath.ToSlash(dir) + "/secret.root", `..\secret.root`, `\secret.root`, "//a", "folder/../secret.root"} {
		wants(t, ask(name), codes.PermissionDenied)
	}
	for _, name := range []string{"none.root", "sub/none.root", "none/a.root", "sub/a.root/b"} {
		wants(t, ask(name), codes.NotFound)
	}
	for _, name := range []string{"", ".", "sub", "sub/", "./sub/a.root", "sub//a.root", "sub/a.root\x00",
		"\x00", "a\x00/../b"} {
		if err := ask(name); strings.Contains(name, "..") {
			wants(t, err, codes.PermissionDenied)
		} else {
			wants(t, err, codes.InvalidArgument)
		}
	}
	wants(t, ask(strings.Repeat("a", 300)+".root"), codes.NotFound)
	wants(t, ask(strings.Repeat("a/", 10_000)+"a.root"), codes.NotFound)
	wants(t, ask("empty.root"), codes.DataLoss)
	wants(t, ask("text.root"), codes.DataLoss, `file "text.root"`)
	if os.Geteuid() != 0 && runtime.GOOS != "windows" {
		wants(t, ask("private.root"), codes.PermissionDenied)
	}
	if fifo {
		wants(t, ask("fifo.root"), codes.InvalidArgument, "not a regular file")
	}
	if links {
		for _, name := range []string{"inside.root", "up.root", "here/a.root", "sub/top/sub/a.root"} {
			wants(t, ask(name), codes.OK)
		}
		texts := map[string]bool{}
		for _, name := range []string{"out.root", "abs.root", "nowhere.root", "folder/secret.root", "folder/none.root",
			"loop.root", "device.root"} {
			err := ask(name)
			wants(t, err, codes.NotFound)
			texts[strings.ReplaceAll(status.Convert(err).Message(), name, "")] = true
		}
		if len(texts) != 1 {
			t.Errorf("errors tell what there is outside: %v", texts)
		}
	}

	var names []string
	list, err := c.ListFlights(t.Context(), &flight.Criteria{})
	for err == nil {
		var info *flight.FlightInfo
		if info, err = list.Recv(); err == nil && len(info.Endpoint) == 1 {
			names = append(names, strings.Join(info.FlightDescriptor.Path, ":"))
		}
	}
	want := "[inside.root:Events private.root:Events sub/a.root:Events up.root:Events]"
	if os.Geteuid() != 0 {
		want = strings.Replace(want, " private.root:Events", "", 1)
	}
	if got := fmt.Sprint(names); err != io.EOF || links && runtime.GOOS != "windows" && got != want {
		t.Errorf("listed %s, want %s; %v", got, want, err)
	}
}

// TestRequests makes requests that are malformed, or ask for what the RNTuple does not have.
func TestRequests(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.root"), 100, 10)
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	for _, test := range []struct {
		ticket string
		code   codes.Code
		text   string
	}{
		{``, codes.InvalidArgument, "not JSON"},
		{`null`, codes.InvalidArgument, "no file"},
		{`{}`, codes.InvalidArgument, "no file"},
		{`[]`, codes.InvalidArgument, "array"},
		{`{"file": "a.root"`, codes.InvalidArgument, "EOF"},
		{`{"file": "a.root"} {}`, codes.InvalidArgument, "follows"},
		{`{"file": "a.root", "wher": "x"}`, codes.InvalidArgument, `"wher"`},
		{`{"file": 7}`, codes.InvalidArgument, "number"},
		{`{"file": "a.root", "first": "0"}`, codes.InvalidArgument, "first"},
		{`{"file": "a.root", "first": 1.5}`, codes.InvalidArgument, "first"},
		{`{"file": "a.root", "first": -1}`, codes.InvalidArgument, "range"},
		{`{"file": "a.root", "first": 2, "end": 1}`, codes.InvalidArgument, "range"},
		{`{"file": "a.root", "end": 101}`, codes.OutOfRange, "100 entries"},
		{`{"file": "a.root", "first": 101}`, codes.OutOfRange, "100 entries"},
		{`{"file": "a.root", "end": 99999999999999999999}`, codes.InvalidArgument, "end"},
		{`{"file": "a.root", "fields": "ID"}`, codes.InvalidArgument, "fields"},
		{`{"file": "a.root", "fields": [""]}`, codes.InvalidArgument, `""`},
		{`{"file": "a.root", "fields": ["[a"]}`, codes.InvalidArgument, "pattern"},
		{`{"file": "a.root", "fields": ["Id"]}`, codes.InvalidArgument, `did you mean "ID"`},
		{`{"file": "a.root", "fields": ["x*"]}`, codes.InvalidArgument, `"x*"`},
		{`{"file": "a.root", "where": "ID =="}`, codes.InvalidArgument, "condition"},
		{`{"file": "a.root", "where": "Id == 1"}`, codes.InvalidArgument, "Id"},
		{`{"file": "a.root", "where": "ID + 1"}`, codes.InvalidArgument, "condition"},
		{`{"file": "a.root", "ntuple": "events"}`, codes.NotFound, `"events"`},
		{`{"file": "a.root", "ntuple": "../Events"}`, codes.NotFound, ""},
		{`{"file": "a.root", "version": "1-2"}`, codes.FailedPrecondition, "changed"},
	} {
		_, _, err := get(t.Context(), c, &flight.Ticket{Ticket: []byte(test.ticket)})
		wants(t, err, test.code, test.text)
		if _, err = c.GetFlightInfo(t.Context(),
			&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(test.ticket)}); status.Code(err) != test.code {
			t.Errorf("%s: GetFlightInfo: %v", test.ticket, err)
		}
	}
	for _, size := range []int{60_000, 1 << 20, 32 << 20} {
		_, _, err := get(t.Context(), c, (&rntflight.Query{File: "a.root", Where: strings.Repeat("(", size)}).Ticket())
		if code := status.Code(err); code != codes.InvalidArgument && (code != codes.ResourceExhausted || size < 1<<20) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	for _, d := range []*flight.FlightDescriptor{nil, {}, {Type: flight.DescriptorPATH},
		{Type: flight.DescriptorPATH, Path: []string{"a.root", "Events", "ID"}}} {
		_, err := c.GetFlightInfo(t.Context(), d)
		wants(t, err, codes.InvalidArgument)
	}
	list, err := c.ListFlights(t.Context(), &flight.Criteria{Expression: []byte("[")})
	if err == nil {
		_, err = list.Recv()
	}
	wants(t, err, codes.InvalidArgument)

	put, err := c.DoPut(t.Context())
	if err == nil {
		_, err = put.Recv()
	}
	wants(t, err, codes.Unimplemented)
	action, err := c.DoAction(t.Context(), &flight.Action{Type: "drop"})
	if err == nil {
		_, err = action.Recv()
	}
	wants(t, err, codes.Unimplemented)
	exchange, err := c.DoExchange(t.Context())
	if err == nil {
		_, err = exchange.Recv()
	}
	wants(t, err, codes.Unimplemented)
}

// certificate returns a certificate for 127.0.0.1, and those who trust it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestTokens makes requests with wrong tokens and the right ones, with TLS.
func TestTokens(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.root"), 10, 10)
	cert, pool := certificate(t)
	tokens := []string{"0123456789abcdef", "fedcba9876543210-2"}
	addr := serve(t, rntflight.Options{Folder: folder, Tokens: tokens,
		TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	c := dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
	q := rntflight.Query{File: "a.root"}
	for _, test := range []struct {
		headers []string
		code    codes.Code
	}{
		{nil, codes.Unauthenticated},
		{[]string{""}, codes.Unauthenticated},
		{[]string{"Bearer"}, codes.Unauthenticated},
		{[]string{"Bearer "}, codes.Unauthenticated},
		{[]string{"Bearer 0123456789abcde"}, codes.Unauthenticated},
		{[]string{"Bearer 0123456789abcdef0"}, codes.Unauthenticated},
		{[]string{"Bearer 0123456789ABCDEF"}, codes.Unauthenticated},
		{[]string{"Basic 0123456789abcdef"}, codes.Unauthenticated},
		{[]string{"0123456789abcdef"}, codes.Unauthenticated},
		{[]string{"Bearer 0123456789abcdef,fedcba9876543210-2"}, codes.Unauthenticated},
		{[]string{"Bearer no", "Bearer 0123456789abcdef"}, codes.Unauthenticated},
		{[]string{"Bearer " + tokens[0]}, codes.OK},
		{[]string{"bearer " + tokens[1]}, codes.OK},
	} {
		ctx := t.Context()
		for _, h := range test.headers {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", h)
		}
		_, _, err := get(ctx, c, q.Ticket())
		wants(t, err, test.code)
		_, err = c.GetFlightInfo(ctx, q.Descriptor())
		wants(t, err, test.code)
		_, err = c.GetSchema(ctx, q.Descriptor())
		wants(t, err, test.code)
		list, err := c.ListFlights(ctx, &flight.Criteria{})
		if err == nil {
			_, err = list.Recv()
		}
		wants(t, err, test.code)
	}
	// Without a token, nothing tells whether there is a file.
	_, err := c.GetFlightInfo(t.Context(), (&rntflight.Query{File: "none.root"}).Descriptor())
	wants(t, err, codes.Unauthenticated)

	if _, _, err := get(t.Context(), dial(t, addr), q.Ticket()); status.Code(err) != codes.Unavailable {
		t.Errorf("without TLS: %v", err)
	}
	if _, _, err := get(t.Context(), dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(nil))),
		q.Ticket()); status.Code(err) != codes.Unavailable {
		t.Errorf("with a certificate that nobody trusts: %v", err)
	}
}

// TestRefused checks what New and Serve refuse.
func TestRefused(t *testing.T) {
	cert, _ := certificate(t)
	secure := &tls.Config{Certificates: []tls.Certificate{cert}}
	tokens := []string{"0123456789abcdef"}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, o := range []rntflight.Options{
		{}, {Folder: filepath.Join(dir, "none")}, {Folder: file}, {Folder: dir, MaxStreams: -1}, {Folder: dir, Timeout: -1},
		{Folder: dir, Tokens: []string{""}}, {Folder: dir, Tokens: []string{"0123456789abcde"}},
		{Folder: dir, Tokens: []string{"0123456789abcdef\n"}},
	} {
		if s, err := rntflight.New(&o); err == nil {
			s.Close()
			t.Errorf("New took %+v", o)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		o    rntflight.Options
		addr string
		ok   bool
	}{
		{rntflight.Options{}, "0.0.0.0:0", false},
		{rntflight.Options{}, ":0", false},
		{rntflight.Options{TLS: secure}, "0.0.0.0:0", false},
		{rntflight.Options{Tokens: tokens}, "0.0.0.0:0", false},
		{rntflight.Options{Tokens: tokens, TLS: secure}, "0.0.0.0:0", true},
		{rntflight.Options{}, "127.0.0.1:0", true},
		{rntflight.Options{}, "127.1.2.3:0", runtime.GOOS == "linux"},
	} {
		test.o.Folder = dir
		s, err := rntflight.New(&test.o)
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Listen(test.addr)
		if errors.As(err, new(*rntflight.OpenError)) == test.ok {
			t.Errorf("%+v at %s: %v", test.o, test.addr, err)
		}
		if err != nil {
			if l, err = net.Listen("tcp", test.addr); err != nil {
				t.Logf("left out: %v", err)
				continue
			}
		}
		if err := s.Serve(ended, l); (err == nil) != test.ok {
			t.Errorf("%+v at %s: %v", test.o, test.addr, err)
		}
		if _, err := l.Accept(); err == nil {
			t.Error("the listener is still open")
		}
		s.Close()
	}
}

// TestConditions asks for conditions that take very long, or much memory: they end, and so does
// their turn.
func TestConditions(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.root"), 20_000, 10_000)
	unlimited := rntuple.Limits{ExpressionBytes: math.MaxInt64}
	quick := dial(t, serve(t, rntflight.Options{Folder: folder, MaxStreams: 1,
		MaxTime: 100 * time.Millisecond, Limits: unlimited}))
	patient := dial(t, serve(t, rntflight.Options{Folder: folder, MaxStreams: 1}))
	for where, want := range map[string]codes.Code{
		"any(1..900, let x = #; any(1..900, # + x < 0))": codes.DeadlineExceeded, // minutes
		"all(1..900000, # > 0)":                          codes.ResourceExhausted,
		"len(1..100000000) > 0":                          codes.InvalidArgument,
		"let v = repeat(Name, 100000); any(1..900000, v endsWith (string(#) + v))": codes.ResourceExhausted,
		"len(1..900000) == ID": codes.ResourceExhausted,
		strings.Repeat("Name matches 'a{1,900}b{1,900}' or ", 100) + "false": codes.InvalidArgument,
		"repeat('a', 1000000000) == ''":                                      codes.ResourceExhausted, "ID == 1": codes.OK,
		"let a = string(ID); let b = a+a+a+a+a+a+a+a; let c = b+b+b+b+b+b+b+b; let d = c+c+c+c+c+c+c+c; let e = d+d+d+d+d+d+d+d; e+e+e+e > 'a'": codes.ResourceExhausted,
	} {
		c := patient
		if want == codes.DeadlineExceeded {
			c = quick
		}
		_, _, err := get(t.Context(), c, (&rntflight.Query{File: "a.root", Where: where}).Ticket())
		if status.Code(err) != want {
			t.Errorf("%s: %v, want %v", where, err, want)
		}
		if want == codes.ResourceExhausted && !strings.Contains(err.Error(), "expression, character") {
			t.Errorf("%s: %v, which does not say where", where, err)
		}
	}
}

// TestDamaged reads files with damage in the middle: the client's reader must end in an error.
func TestDamaged(t *testing.T) {
	const n = 100_000
	folder := t.TempDir()
	path := filepath.Join(folder, "a.root")
	write(t, path, n, 10_000)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	for _, where := range []string{"", "Class == 3"} {
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 1
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		rows, _, err := get(t.Context(), c, (&rntflight.Query{File: "a.root", Where: where}).Ticket())
		wants(t, err, codes.DataLoss, `file "a.root"`)
		if len(rows) == 0 || len(rows) >= n {
			t.Errorf("%d rows before the damage", len(rows))
		}
	}
	if err := os.WriteFile(path, good[:len(good)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, err = get(t.Context(), c, (&rntflight.Query{File: "a.root"}).Ticket())
	wants(t, err, codes.DataLoss)
	list, err := c.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := list.Recv()
	if err != nil || len(info.Endpoint) != 0 || !bytes.Contains(info.AppMetadata, []byte(`{"error":`)) {
		t.Errorf("listed as %v, %v", info, err)
	}
}

// TestChanged changes and removes a file between requests, and while it is read.
func TestChanged(t *testing.T) {
	const n = 100_000
	folder := t.TempDir()
	path := filepath.Join(folder, "a.root")
	write(t, path, n, 25_000)
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	q := rntflight.Query{File: "a.root"}
	info, err := c.GetFlightInfo(t.Context(), q.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	begin := func() (r *flight.Reader, rows int) {
		stream, err := c.DoGet(t.Context(), q.Ticket())
		if err != nil {
			t.Fatal(err)
		}
		r, err = flight.NewRecordReader(stream)
		if err != nil || !r.Next() {
			t.Fatal(err)
		}
		return r, int(r.RecordBatch().NumRows())
	}
	// Replaced while it is read: the stream goes on with the file that it began with.
	replaced, some := begin()
	write(t, filepath.Join(folder, "b.root"), 100, 10)
	if err := os.Rename(filepath.Join(folder, "b.root"), path); err != nil {
		t.Fatal(err)
	}
	rows, _, err := rowsOf(replaced)
	if err != nil || some+len(rows) != n {
		t.Errorf("%d rows, %v", some+len(rows), err)
	}
	for _, e := range info.Endpoint {
		_, _, err := get(t.Context(), c, e.Ticket)
		wants(t, err, codes.FailedPrecondition, "changed")
	}
	if rows, _, err := get(t.Context(), c, q.Ticket()); err != nil || len(rows) != 100 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	// Cut while it is read.
	write(t, filepath.Join(folder, "c.root"), n, 25_000)
	q.File = "c.root"
	cut, _ := begin()
	if err := os.Truncate(filepath.Join(folder, "c.root"), 1000); err != nil {
		t.Fatal(err)
	}
	_, _, err = rowsOf(cut)
	wants(t, err, codes.DataLoss)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, _, err = get(t.Context(), c, info.Endpoint[0].Ticket)
	wants(t, err, codes.NotFound)
}
