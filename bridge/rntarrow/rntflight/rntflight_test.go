package rntflight_test

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntflight"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// serve starts a server on loopback and returns its address. It ends with the test.
func serve(t testing.TB, o rntflight.Options) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, o, l)
	return l.Addr().String()
}

// serveAt starts a server that ends with the test, or when stop is called.
func serveAt(t testing.TB, o rntflight.Options, l net.Listener) (stop func()) {
	t.Helper()
	s, err := rntflight.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve ended: %v", err)
		}
		s.Close()
	})
	t.Cleanup(stop)
	return stop
}

// dial returns a client of a server.
func dial(t testing.TB, addr string, opts ...grpc.DialOption) flight.Client {
	t.Helper()
	opts = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		// Windows that grow would take whole files for clients that have stopped reading.
		grpc.WithStaticStreamWindowSize(64 << 10), grpc.WithStaticConnWindowSize(1 << 20),
	}, opts...)
	c, err := flight.NewClientWithMiddleware(addr, nil, nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// get returns the rows of what a ticket asks for, as text, and the number of batches.
func get(ctx context.Context, c flight.Client, ticket *flight.Ticket) (rows []string, batches int, err error) {
	stream, err := c.DoGet(ctx, ticket)
	if err != nil {
		return nil, 0, err
	}
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return nil, 0, err
	}
	defer r.Release()
	return rowsOf(r)
}

func rowsOf(r array.RecordReader) (rows []string, batches int, err error) {
	for r.Next() {
		b := r.RecordBatch()
		for i := range int(b.NumRows()) {
			var row strings.Builder
			for _, col := range b.Columns() {
				fmt.Fprintf(&row, "%s|", col.ValueStr(i))
			}
			rows = append(rows, row.String())
		}
		batches++
	}
	return rows, batches, r.Err()
}

// everything returns the rows of all endpoints of what a descriptor asks for.
func everything(t testing.TB, c flight.Client, d *flight.FlightDescriptor) (info *flight.FlightInfo, rows []string) {
	t.Helper()
	info, err := c.GetFlightInfo(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range info.Endpoint {
		some, _, err := get(t.Context(), c, e.Ticket)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, some...)
	}
	return info, rows
}

// same fails unless there are the same rows.
func same(t testing.TB, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("row %d: %.200s, want %.200s", i, got[i], want[i])
			return
		}
	}
}

// wants fails unless an error has a code, and a text with all parts.
func wants(t testing.TB, err error, code codes.Code, parts ...string) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("%v, want %v", err, code)
	}
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want %q", err, part)
		}
	}
}

// TestAllFiles compares what arrives, of every RNTuple of the ROOT files of this repository's
// tests and those beside it, with what package rntarrow reads.
func TestAllFiles(t *testing.T) {
	needsTime(t)
	tested := 0
	for _, folder := range []string{"../../../testdata", "../../../../shared/testdata"} {
		if _, err := os.Stat(folder); err != nil {
			t.Logf("left out: %v", err)
			continue
		}
		c := dial(t, serve(t, rntflight.Options{Folder: folder, BatchBytes: 64 << 10}))
		list, err := c.ListFlights(t.Context(), &flight.Criteria{Expression: []byte("*root")})
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for {
			info, err := list.Recv()
			if err != nil {
				break
			}
			if len(info.Endpoint) > 0 {
				listed[strings.Join(info.FlightDescriptor.Path, ":")] = true
			}
		}
		filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "root") {
				return err
			}
			found, err := rntuple.ListFile(context.Background(), path, nil)
			if err != nil {
				return nil // other tests say why
			}
			name, _ := filepath.Rel(folder, path)
			for _, f := range found {
				r, err := rntuple.Open(path, f.Path, nil)
				if err != nil {
					continue
				}
				defer r.Close()
				id := filepath.ToSlash(name) + ":" + f.Path
				reader, err := rntarrow.NewReader(r, nil)
				if listed[id] != (err == nil) {
					t.Errorf("%s: listed %v, but %v", id, listed[id], err)
				}
				delete(listed, id)
				if err != nil || r.NumEntries() > 1<<17 {
					continue
				}
				want, _, err := rowsOf(reader)
				if err != nil {
					continue // package rntarrow's tests say why
				}
				tested++
				t.Run(id, func(t *testing.T) {
					info, got := everything(t, c, &flight.FlightDescriptor{Type: flight.DescriptorPATH,
						Path: []string{filepath.ToSlash(name), f.Path}})
					same(t, got, want)
					s, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
					if err != nil || !s.Equal(reader.Schema()) || info.TotalRecords != r.NumEntries() || !info.Ordered {
						t.Errorf("%v %v, %d records", err, s, info.TotalRecords)
					}
				})
			}
			return nil
		})
		for id := range listed {
			t.Errorf("%s is listed, but it cannot be read", id)
		}
	}
	if tested < 8 { // of this repository's; the others have strings that are not UTF-8
		t.Errorf("only %d RNTuples", tested)
	}
}

type event struct {
	ID    int64
	Class int32
	Pt    []float32
	Name  string
}

func eventOf(i int64) event {
	pt := make([]float32, i%4)
	for k := range pt {
		pt[k] = float32(i) + float32(k)/4
	}
	return event{i, int32(i % 7), pt, fmt.Sprint("event ", i)}
}

// write writes n events, in clusters of the given number, to the file at path.
func write(t testing.TB, path string, n, cluster int64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.Create[event](path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := eventOf(i)
		w.Write(&e)
		if (i+1)%cluster == 0 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// rowsWhere returns the rows of those of n events for which keep is true.
func rowsWhere(n int64, keep func(event) bool) (rows []string) {
	for i := range n {
		if e := eventOf(i); keep(e) {
			b := array.NewFloat32Builder(memory.DefaultAllocator)
			b.AppendValues(e.Pt, nil)
			pt, _ := b.NewArray().MarshalJSON()
			rows = append(rows, fmt.Sprintf("%d|%d|%s|%s|", e.ID, e.Class, pt, e.Name))
		}
	}
	return rows
}

// TestEndpoints checks that the endpoints cover the entries, each once and in order, at the
// borders of clusters, and that conditions, fields and ranges choose what they say.
func TestEndpoints(t *testing.T) {
	needsTime(t)
	const n, cluster = 250_000, 30_000
	folder := t.TempDir()
	write(t, filepath.Join(folder, "sub", "a.root"), n, cluster)
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))

	info, got := everything(t, c, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"sub/a.root"}})
	same(t, got, rowsWhere(n, func(event) bool { return true }))
	if len(info.Endpoint) != 2 || info.TotalRecords != n || info.TotalBytes <= 0 {
		t.Errorf("%d endpoints, %d records, %d bytes", len(info.Endpoint), info.TotalRecords, info.TotalBytes)
	}
	for i, e := range info.Endpoint { // of four clusters, and of the five others
		rows, _, err := get(t.Context(), c, e.Ticket)
		first := fmt.Sprintf("%d|", i*4*cluster)
		if err != nil || len(rows) != []int{4 * cluster, n - 4*cluster}[i] || !strings.HasPrefix(rows[0], first) {
			t.Errorf("endpoint %d: %d rows, %v", i, len(rows), err)
		}
	}

	int := func(i int64) *int64 { return &i }
	id := func(e event) string { return fmt.Sprintf("%d|", e.ID) }
	for _, test := range []struct {
		q    rntflight.Query
		keep func(event) bool
		row  func(event) string
		all  int64 // records, of which GetFlightInfo tells
	}{
		{rntflight.Query{Fields: []string{"ID"}}, func(event) bool { return true }, id, n},
		{rntflight.Query{Fields: []string{"I*", "ID"}, First: int(29_999), End: int(30_001)},
			func(e event) bool { return e.ID == 29_999 || e.ID == 30_000 }, id, 2},
		{rntflight.Query{Fields: []string{"ID"}, First: int(n)}, func(event) bool { return false }, id, 0},
		{rntflight.Query{Fields: []string{"N*", "ID"}, End: int(1000)}, func(e event) bool { return e.ID < 1000 },
			func(e event) string { return fmt.Sprintf("%s|%d|", e.Name, e.ID) }, 1000},
		{rntflight.Query{Fields: []string{"ID"}, Where: "Class == 3"}, func(e event) bool { return e.Class == 3 }, id, -1},
		{rntflight.Query{Fields: []string{"ID"}, Where: "any(Pt, # > 77000)", First: int(70_000), End: int(240_000)},
			func(e event) bool {
				return e.ID >= 70_000 && e.ID < 240_000 && slices.ContainsFunc(e.Pt, func(pt float32) bool { return pt > 77000 })
			}, id, -1},
		{rntflight.Query{Fields: []string{"ID"}, Where: "ID < 0"}, func(event) bool { return false }, id, -1},
	} {
		test.q.File = "sub/a.root"
		var want []string
		for i := range int64(n) {
			if e := eventOf(i); test.keep(e) {
				want = append(want, test.row(e))
			}
		}
		info, got := everything(t, c, test.q.Descriptor())
		same(t, got, want)
		direct, _, err := get(t.Context(), c, test.q.Ticket())
		if err != nil {
			t.Error(err)
		}
		same(t, direct, want)
		if info.TotalRecords != test.all {
			t.Errorf("%+v: %d records, want %d", test.q, info.TotalRecords, test.all)
		}
	}
}

// TestLargeCluster checks that the endpoints balance where one cluster has almost all entries.
func TestLargeCluster(t *testing.T) {
	needsTime(t)
	const n, cluster = 500_000, 484_722
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.root"), n, cluster)
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	info, got := everything(t, c, (&rntflight.Query{File: "a.root", Fields: []string{"ID"}}).Descriptor())
	if len(got) != n {
		t.Fatalf("%d rows", len(got))
	}
	for i := range got {
		if want := fmt.Sprintf("%d|", i); got[i] != want {
			t.Fatalf("row %d is %s", i, got[i])
		}
	}
	if len(info.Endpoint) != 5 {
		t.Errorf("%d endpoints", len(info.Endpoint))
	}
	for _, e := range info.Endpoint {
		rows, _, err := get(t.Context(), c, e.Ticket)
		if err != nil || len(rows) < n/10 || len(rows) > n/4 {
			t.Errorf("an endpoint has %d rows, %v", len(rows), err)
		}
	}
}

// TestZones checks that there are no endpoints for units that a zone map rules out.
func TestZones(t *testing.T) {
	needsTime(t)
	const n = 120_000
	folder := t.TempDir()
	w, err := rntuple.Create[event](filepath.Join(folder, "a.root"), "Events",
		&rntuple.WriteOptions{ZoneMap: []string{"ID"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(n) {
		e := eventOf(i)
		e.Name = strings.Repeat("x", 1000) // so that 20,000 entries are a unit
		w.Write(&e)
		if (i+1)%20_000 == 0 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	for where, want := range map[string]int{"": 6, "Class < 100": 6, "ID == 45000 or ID > 99999": 2, "ID < 0": 0,
		"ID > 39998 and ID < 40002": 2} {
		info, rows := everything(t, c, (&rntflight.Query{File: "a.root", Fields: []string{"ID", "Name"},
			Where: where}).Descriptor())
		all, _, err := get(t.Context(), c, (&rntflight.Query{File: "a.root", Fields: []string{"ID", "Name"},
			Where: where}).Ticket())
		if err != nil || len(info.Endpoint) != want {
			t.Errorf("%q: %d endpoints, want %d; %v", where, len(info.Endpoint), want, err)
		}
		same(t, rows, all)
	}
}

// TestOptions reads with the options of package rntarrow.
func TestOptions(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.root"), 10, 10)
	c := dial(t, serve(t, rntflight.Options{Folder: folder}))
	q := rntflight.Query{File: "a.root", Fields: []string{"Name", "Pt"}, Lists32: true, Binary: true}
	result, err := c.GetSchema(t.Context(), q.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	s, err := flight.DeserializeSchema(result.Schema, memory.DefaultAllocator)
	if err != nil || s.Field(0).Type.ID() != arrow.BINARY || s.Field(1).Type.ID() != arrow.LIST {
		t.Errorf("%v %v", s, err)
	}
}

// TestBatches checks that record batches have about the size that was asked for.
func TestBatches(t *testing.T) {
	const n = 30_000
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.root"), n, n)
	for _, size := range []int64{1, 10_000, 1 << 20, 1 << 40} {
		c := dial(t, serve(t, rntflight.Options{Folder: folder, BatchBytes: size}))
		one := int64(20)
		rows, batches, err := get(t.Context(), c, (&rntflight.Query{File: "a.root", End: &one}).Ticket())
		if err != nil || len(rows) != 20 || (batches == 20) != (size == 1) {
			t.Errorf("%d bytes: %d rows in %d batches, %v", size, len(rows), batches, err)
		}
		if size == 1 {
			continue // 30,000 batches would take long
		}
		_, batches, err = get(t.Context(), c, (&rntflight.Query{File: "a.root"}).Ticket())
		if least := max(n*30/size, 2); err != nil || int64(batches) < least || int64(batches) > 3*least {
			t.Errorf("%d bytes: %d batches, want %d or some more; %v", size, batches, least, err)
		}
	}
}

// needsTime skips a test in short mode.
func needsTime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes most of a minute with the race detector")
	}
}
