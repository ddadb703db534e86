package ntuple_test

import (
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A store is a file in memory, which tells its size, so that readers notice that it grows.
type store struct {
	mu            sync.Mutex
	data          []byte
	reads, writes int
	failRead      func(i int, offset int64) error // of the i-th read; may be nil
	failWrite     func(i int) error               // of the i-th write; may be nil
}

func (s *store) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.data))
}

func (s *store) ReadAt(b []byte, offset int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.failRead != nil {
		if err := s.failRead(s.reads-1, offset); err != nil {
			return 0, err
		}
	}
	if offset > int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(b, s.data[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (s *store) WriteAt(b []byte, offset int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.failWrite != nil {
		if err := s.failWrite(s.writes - 1); err != nil {
			return 0, err
		}
	}
	if more := offset + int64(len(b)) - int64(len(s.data)); more > 0 {
		s.data = append(s.data, make([]byte, more)...)
	}
	return copy(s.data[offset:], b), nil
}

// copied returns a store with the same content.
func (s *store) copied() *store { return &store{data: slices.Clone(s.data)} }

// headerOf returns the header of an RNTuple with fields of C++ types.
func headerOf(t testing.TB, name string, fields ...*schema.FieldDocument) *envelope.Header {
	t.Helper()
	s, err := (&schema.Document{Name: name, Fields: fields}).Describe(true)
	if err != nil {
		t.Fatal(err)
	}
	return &envelope.Header{Name: name, Writer: ntuple.WriterName(), Schema: *s}
}

// setHeader returns the header of an attribute set.
func setHeader(t testing.TB, name string) *envelope.Header {
	t.Helper()
	var fields []*schema.FieldDocument
	for _, f := range ntuple.SetFields {
		fields = append(fields, &schema.FieldDocument{Name: f, Type: "std::int32_t"})
	}
	return headerOf(t, name, fields...)
}

// newStore returns a store that a File of it writes to.
func newStore(t testing.TB, o *ntuple.WriteOptions) (*store, *ntuple.File) {
	t.Helper()
	s := new(store)
	f, err := ntuple.NewFile(s, "f", o)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// written returns a store with an RNTuple n of 32-bit integers: 0, 1, ... up to n.
func written(t *testing.T, n int32) *store {
	t.Helper()
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "n", header(t, "n"))
	put(t, w, n)
	closeAll(t, w, f)
	return s
}

func create(t testing.TB, f *ntuple.File, path string, h *envelope.Header) *ntuple.Writer {
	t.Helper()
	w, err := f.Create(path, h, writeOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func closeAll(t testing.TB, all ...io.Closer) {
	t.Helper()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// open opens an RNTuple in a store.
func (s *store) open(t *testing.T, name string) *ntuple.Reader {
	t.Helper()
	r, err := ntuple.NewReader(s, s.Size(), name, readOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// filler writes values of a 32-bit column, which go on where they ended.
type filler struct {
	t    testing.TB
	w    *ntuple.Writer
	b    *pagesink.Buffer[int32]
	next int32
}

func fill(t testing.TB, w *ntuple.Writer, next int32) *filler {
	t.Helper()
	b, err := pagesink.NewBuffer[int32](w.Sink, w.Schema.Columns[0])
	if err != nil {
		t.Fatal(err)
	}
	return &filler{t, w, b, next}
}

// put writes n more entries.
func (f *filler) put(n int) {
	f.t.Helper()
	for range n {
		f.b.Add(f.next)
		f.next++
		if err := f.w.Sink.EndEntries(1); err != nil {
			f.t.Fatal(err)
		}
	}
}

// values returns all values of the first column of an RNTuple.
func values(t testing.TB, r *ntuple.Reader) []int32 {
	t.Helper()
	all, err := valuesOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func valuesOf(r *ntuple.Reader) (all []int32, err error) {
	a := r.Source.NewReadAhead()
	defer a.Stop()
	column, err := pagesource.NewColumn[int32](a, r.Source.Schema.Fields[0], 0)
	if err != nil {
		return nil, err
	}
	clusters, err := r.Source.Clusters(r.Options.Context)
	if err != nil {
		return nil, err
	}
	for _, c := range clusters {
		n, err := column.Len(c)
		if err != nil {
			return nil, err
		}
		part := make([]int32, n)
		if err := column.Read(r.Options.Context, c, 0, part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// numbers returns 0, 1, ... up to n.
func numbers(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// checkNumbers makes sure that an RNTuple has the numbers up to n.
func checkNumbers(t testing.TB, what string, r *ntuple.Reader, n int) {
	t.Helper()
	if got := values(t, r); !slices.Equal(got, numbers(n)) {
		t.Errorf("%s: %v, want the numbers up to %d", what, got, n)
	}
	if r.Source.Entries != int64(n) {
		t.Errorf("%s: %d entries, want %d", what, r.Source.Entries, n)
	}
}

var errBroken = errors.New("broken")
