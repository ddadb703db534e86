package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// counter counts what is read.
type counter struct {
	io.ReaderAt
	reads, bytes atomic.Int64
}

func (c *counter) ReadAt(b []byte, off int64) (int, error) {
	c.reads.Add(1)
	c.bytes.Add(int64(len(b)))
	return c.ReaderAt.ReadAt(b, off)
}

func (c *counter) reset() (reads, bytes int64) { return c.reads.Swap(0), c.bytes.Swap(0) }

// TestFewReads makes sure that only what is asked for is read. The sizes are
// those that ROOT's RNTupleInspector gives for the file.
func TestEntryRangeString(t *testing.T) {
	if got := fmt.Sprint(rntuple.EntryRange{First: 5, End: 100}); got != "[5, 100)" {
		t.Errorf("got %q", got)
	}
}

func TestFewReads(t *testing.T) {
	file, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{ReaderAt: bytes.NewReader(file)}
	r, err := rntuple.NewReader(c, int64(len(file)), "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	// Header, footer, anchor and directory, each in one read.
	if reads, n := c.reset(); reads > 5 || n > 4<<10 {
		t.Errorf("opening takes %d reads of %d bytes in all", reads, n)
	}
	v, err := rntuple.ViewOf[uint32](r, "run")
	if err != nil {
		t.Fatal(err)
	}
	if reads, n := c.reset(); reads > 0 {
		t.Errorf("a view takes %d reads of %d bytes", reads, n)
	}
	for range v.All() {
	}
	// The page list, and ten pages of 1 column: 80,000 equal numbers.
	if reads, n := c.reset(); v.Err() != nil || reads != 11 || n > 4<<10 {
		t.Errorf("one column takes %d reads of %d bytes: %v", reads, n, v.Err())
	}
}

// TestPageListsWhenNeeded opens a file with several cluster groups and reads
// one entry.
func TestPageListsWhenNeeded(t *testing.T) {
	b := newBuilder(t)
	scalar(b, "std::int32_t", column.Int32)
	for i := range int32(8) {
		b.groups = append(b.groups, nil)
		b.cluster(1, chunk(int64(i), page(b, column.Int32, i)))
	}
	file := b.bytes(edits{})
	c := &counter{ReaderAt: bytes.NewReader(file)}
	r, err := rntuple.NewReader(c, int64(len(file)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := rntuple.ViewOf[int32](r, "x")
	if err != nil {
		t.Fatal(err)
	}
	c.reset()
	if x, err := v.At(5); err != nil || x != 5 {
		t.Errorf("entry 5 is %d, %v", x, err)
	}
	if reads, _ := c.reset(); reads != 2 {
		t.Errorf("%d reads for one page list and one page", reads)
	}
}

// TestConcurrent reads with many views of one Reader at the same time.
func TestConcurrent(t *testing.T) {
	r, err := rntuple.Open("../testdata/good/types_zlib_groups.root", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, err := lines(r)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := rntuple.Open("../testdata/good/types_zlib_groups.root", "", nil) // no page list read yet
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := lines(fresh)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d entries, want %d: %v", len(got), len(want), err)
			}
		})
	}
	wg.Wait()
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r, err := rntuple.Open(sample, "", &rntuple.ReadOptions{Context: ctx}); err != nil {
		t.Error(err)
	} else {
		defer r.Close()
		cancel()
		for _, err := range rntuple.Entries[struct {
			Run uint32 `rntuple:"run"`
		}](r) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("reading with a cancelled context: %v", err)
			}
		}
		if _, err := r.Clusters(); !errors.Is(err, context.Canceled) {
			t.Errorf("Clusters with a cancelled context: %v", err)
		}
		if c, err := r.WithContext(context.Background()).Clusters(); err != nil || len(c) != 10 {
			t.Errorf("Clusters with a fresh context: %d, %v", len(c), err)
		}
	}
	if _, err := rntuple.Open(sample, "", &rntuple.ReadOptions{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a cancelled context: %v", err)
	}
}

func TestReadEnds(t *testing.T) {
	r, err := rntuple.Open(sample, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := rntuple.ViewOf[uint64](r, "nMuon")
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]uint64, 10)
	for _, c := range []struct {
		first int64
		n     int
		err   error
	}{{79_990, 10, nil}, {79_995, 5, nil}, {80_000, 0, io.EOF}, {1 << 62, 0, io.EOF}} {
		if n, err := v.Read(buf, c.first); n != c.n || err != c.err {
			t.Errorf("Read from %d on: %d, %v; want %d, %v", c.first, n, err, c.n, c.err)
		}
	}
	if n, err := v.Read(nil, 80_000); n != 0 || err != nil {
		t.Errorf("Read of nothing: %d, %v", n, err)
	}
	if _, err := v.Read(buf, -1); err == nil {
		t.Error("Read from -1 on succeeds")
	}
	if _, err := v.At(80_000); err != io.EOF {
		t.Errorf("At behind the end: %v", err)
	}
	for e, want := range map[rntuple.EntryRange]int{
		{First: 80_000 - 3, End: 1 << 62}:              3,
		{First: 80_000 - 3, End: math.MaxInt64}:        3,
		{First: 5, End: 2}:                             0,
		{First: math.MaxInt64, End: math.MinInt64}:     0,
		{First: 80_000, End: math.MaxInt64}:            0,
		{First: -1, End: 3}:                            -1,
		{First: math.MinInt64, End: math.MaxInt64}:     -1,
		{First: math.MinInt64, End: math.MinInt64 + 1}: -1,
	} {
		var got [4]int
		add := func(i, n int, err error) {
			if got[i] += n; err != nil {
				got[i] = -1
			}
		}
		for range v.Range(e) {
			add(0, 1, nil)
		}
		add(0, 0, v.Err())
		for _, err := range rntuple.EntriesIn[struct {
			N uint64 `rntuple:"nMuon"`
		}](r, e, nil) {
			add(1, 1, err)
		}
		for b, err := range rntuple.BatchesIn(r, e, nil) {
			if err != nil {
				b = new(rntuple.Batch)
			}
			add(2, b.Len, err)
		}
		for part, err := range rntuple.Possible(r, e, nil, nil) {
			add(3, int(part.Len()), err)
		}
		if got != [4]int{want, want, want, want} {
			t.Errorf("loops over %v yield %v entries, want %d each, -1 for an error", e, got, want)
		}
	}
}

// wide builds a file with n fields of one entry.
func wide(t testing.TB, n int) []byte {
	b := newBuilder(t)
	p := chunk(0, page[int32](b, column.Int32, 42))
	var columns []envelope.ColumnPages
	for i := range n {
		f := b.regular().field(-1, fmt.Sprintf("field%d", i), "std::int32_t", envelope.RolePlain)
		b.regular().column(f, column.Int32)
		columns = append(columns, p)
	}
	b.cluster(1, columns...)
	return b.bytes(edits{})
}

// BenchmarkOpen shows that the cost of opening grows linearly with the fields.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		file := wide(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", nil)
				if err != nil || len(r.Schema().Fields) != n {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/field")
		})
	}
}
