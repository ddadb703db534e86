package pagesink

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/schema"
)

// doubles returns n columns of that type and encoding.
func doubles(n int) []*schema.Column {
	return pagetest.Columns(slices.Repeat([]envelope.Column{pagetest.Of(column.SplitReal64)}, n)...)
}

func settings(workers int, compression compress.Settings) Settings {
	return Settings{
		Compression: compression, ZippedCluster: 100_000, UnzippedCluster: 1e6, MaxPage: 1 << 20, PageBudget: 200_000,
		MaxKeySize: 1 << 30, Workers: workers,
	}
}

// fill adds columns and writes entries: column i has two elements in every entry, i%3 of them new.
func fill(s *Sink, columns []*schema.Column, entries int) error {
	s.AddColumns(columns)
	if err := fillSome(s, columns, entries); err != nil || s.fork {
		return err
	}
	return s.CommitClusterGroup()
}

// fillSome writes entries to some of the columns.
func fillSome(s *Sink, columns []*schema.Column, entries int) error {
	var buffers []*Buffer[float64]
	for _, c := range columns {
		b, err := NewBuffer[float64](s, c)
		if err != nil {
			return err
		}
		buffers = append(buffers, b)
	}
	for e := range entries {
		for i, b := range buffers {
			b.Add(math.Sqrt(float64(e * (i % 3))))
			b.AddAll([]float64{float64(i % 4)})
		}
		if err := s.EndEntries(1); err != nil {
			return err
		}
	}
	return nil
}

// TestWorkers makes sure that the number of workers does not change a byte, and
// that sinks which share an output take turns.
func TestWorkers(t *testing.T) {
	for _, compression := range []compress.Settings{0, 404, 505} {
		var want []byte
		for _, workers := range []int{1, 2, 3, 8} {
			out := &pagetest.File{}
			shared := &Output{Blob: out.Blob}
			a := NewSink(context.Background(), shared, settings(workers, compression), 1)
			b := NewSink(context.Background(), shared, settings(workers, compression), 1)
			if err := errors.Join(fill(a, doubles(7), 15_000), fill(b, doubles(40), 3000)); err != nil {
				t.Fatal(err)
			}
			if n := a.Groups()[0].NumClusters; n < 3 || a.pending != nil {
				t.Fatalf("%d clusters, want some", n)
			}
			if want == nil {
				want = out.Bytes
			} else if !bytes.Equal(out.Bytes, want) {
				t.Errorf("compression %d, %d workers: other bytes than with one", compression, workers)
			}
			if held := a.budget.held; held > 2*a.set.PageBudget+int64(5*workers)*a.set.MaxPage {
				t.Errorf("%d bytes of memory for pages", held)
			}
		}
	}
}

// TestBudget makes sure that pages are cut as ROOT cuts them when there is too little
// memory for them. Package interop compares this with ROOT in more cases.
func TestBudget(t *testing.T) {
	s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob},
		Settings{ZippedCluster: 1 << 30, UnzippedCluster: 1 << 30, MaxPage: 1 << 20, PageBudget: 3000, Workers: 1}, 1)
	columns := doubles(3)
	s.AddColumns(columns) // which takes 2*256 bytes for each
	var b [3]*Buffer[float64]
	for i, c := range columns {
		b[i], _ = NewBuffer[float64](s, c)
	}
	pages := func(i int) (n []int) {
		for _, p := range s.current.pages[i] {
			n = append(n, int(p.elements))
		}
		return n
	}
	add := func(i, n int) {
		b[i].AddAll(make([]float64, n))
	}
	for _, step := range []struct {
		column, add int
		want        [3][]int
	}{
		{0, 64, [3][]int{}},                            // 512 bytes, 1792 with the others
		{1, 65, [3][]int{}},                            // 1024, 2560
		{2, 33, [3][]int{}},                            // 512, 2816
		{0, 1, [3][]int{nil, {65}, nil}},               // 1024: column 1, the largest, makes room
		{1, 64, [3][]int{nil, {65}, nil}},              // 512
		{1, 1, [3][]int{{65}, {65}, nil}},              // 1024: column 0 makes room
		{2, 32, [3][]int{{65}, {65, 65}, nil}},         // 1024: column 1 makes room
		{2, 63, [3][]int{{65}, {65, 65}, nil}},         // full
		{2, 1, [3][]int{{65}, {65, 65}, {128}}},        // 2048 do not fit, and no other is larger
		{1, 32, [3][]int{{65}, {65, 65}, {128}}},       // 256, the least
		{2, 128, [3][]int{{65}, {65, 65}, {128, 128}}}, // as before
	} {
		add(step.column, step.add)
		for i, want := range step.want {
			if got := pages(i); !slices.Equal(got, want) {
				t.Fatalf("after %d elements in column %d: pages of %d elements in column %d, want %d", step.add,
					step.column, got, i, want)
			}
		}
	}
}

// TestClusterSize makes sure that a cluster ends with the entry that makes it
// large enough, however its columns fill.
func TestClusterSize(t *testing.T) {
	const limit = 100_000
	s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob},
		Settings{ZippedCluster: limit, UnzippedCluster: limit, MaxPage: 1 << 20, PageBudget: 1 << 20, Workers: 1}, 1)
	columns := doubles(50)
	s.AddColumns(columns)
	b := make([]*Buffer[float64], len(columns))
	for i, c := range columns {
		b[i], _ = NewBuffer[float64](s, c)
	}
	size, first := 0, int64(0)
	for e := range int64(20_000) {
		n := 0
		for i := range b {
			if i == 7 || e%int64(i+1) == 0 {
				b[i].AddAll(make([]float64, 1+i%5))
				n += 8 * (1 + i%5)
			}
		}
		if err := s.EndEntries(1); err != nil {
			t.Fatal(err)
		}
		if size += n; (s.entries > first) != (size >= limit) {
			t.Fatalf("entry %d: %d bytes, cluster from %d on, before from %d on", e, size, s.entries, first)
		}
		if s.entries > first {
			size, first = 0, s.entries
		}
	}
}

// TestSinkErrors makes sure that errors of the output and of the context are returned
// and stay.
func TestSinkErrors(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, at := range []int{1, 2, 3} {
			s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{FailAt: at}).Blob}, settings(workers, 505), 1)
			if err := fill(s, doubles(7), 15_000); !errors.Is(err, pagetest.ErrFull) ||
				!errors.Is(s.CommitCluster(), pagetest.ErrFull) {
				t.Errorf("%d workers, failure at call %d: %v", workers, at, err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s := NewSink(ctx, &Output{Blob: (&pagetest.File{}).Blob}, settings(workers, 505), 1)
		if err := s.EndEntries(1); err != context.Canceled || s.Err() != err {
			t.Errorf("%d workers: %v", workers, err)
		}
		s = NewSink(ctx, &Output{Blob: (&pagetest.File{}).Blob}, settings(workers, 505), 1)
		if err := s.EndCluster(); err != context.Canceled || s.Err() != err {
			t.Errorf("%d workers: %v at the end", workers, err)
		}
	}
}

// contains reports whether the text of an error has a part.
func contains(err error, part string) bool { return strings.Contains(err.Error(), part) }
