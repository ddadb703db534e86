package pagesink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
)

// TestAhead makes sure that entries which are added as many at a time as Ahead allows, one column
// after the other, make the same file as one entry after the other.
func TestAhead(t *testing.T) {
	rnd := sampletest.Rand(t)
	const entries = 20_000
	sizes := make([]int, entries) // elements by entry: the largest have eight times those of the smallest
	for i := range sizes {
		sizes[i] = 1 + rnd.IntN(8)
	}
	for _, compression := range []compress.Settings{0, 101} {
		var want []byte
		for _, ahead := range []bool{false, true} {
			file := &pagetest.File{}
			set := settings(1, compression)
			set.ZippedCluster, set.PageBudget = 50_000, 1<<30
			s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 1)
			columns := doubles(3)
			s.AddColumns(columns)
			var buffers []*Buffer[float64]
			for _, c := range columns {
				b, err := NewBuffer[float64](s, c)
				if err != nil {
					t.Fatal(err)
				}
				buffers = append(buffers, b)
			}
			several := 0
			for e := 0; e < entries; {
				n := 1
				if ahead {
					most := 1 + rnd.IntN(1000)
					if n = s.Ahead(most); n < 1 || n > most || n > mostAhead {
						t.Fatalf("%d entries of %d can be added", n, most)
					}
				}
				n = min(n, entries-e)
				for _, b := range buffers {
					for i := range n {
						for range sizes[e+i] {
							b.Add(float64(e + i))
						}
					}
				}
				if e += n; n > 1 {
					several++
				}
				if err := s.EndEntries(int64(n)); err != nil {
					t.Fatal(err)
				}
			}
			clusters := len(finish(t, s, file, columns))
			if want == nil {
				want = file.Bytes
			} else if !bytes.Equal(file.Bytes, want) {
				t.Errorf("%d clusters, other bytes than entry by entry", clusters)
			}
			if ahead && several < 50 {
				t.Errorf("%d times several entries could be added", several)
			}
		}
	}
}

// TestAheadExact has entries of 24 bytes: what is left of the cluster is divided by eight times
// their size and one byte.
func TestAheadExact(t *testing.T) {
	for _, c := range []struct{ filled, limit, n, want int }{
		{3, 3*24 + 3*8*25, 100, 3},     // as many as fit
		{3, 3*24 + 3*8*25 - 1, 100, 2}, // one byte is missing
		{3, 1 << 30, 100, 3},           // no more than there are: they may not be typical
		{50, 1 << 30, 20, 20},          // no more than are wanted
		{1000, 1 << 30, 1000, 256},     // no more than stay in a cache
		{0, 1 << 30, 100, 1},           // at least one
		{3, 24, 100, 1},
	} {
		set := settings(1, 0)
		set.ZippedCluster, set.UnzippedCluster = 1<<30, 1<<30
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, set, 1)
		s.AddColumns(doubles(1))
		b, err := NewBuffer[float64](s, s.Column(0))
		if err != nil {
			t.Fatal(err)
		}
		for range c.filled {
			b.Add(1)
			b.Add(2)
			b.Add(3)
		}
		s.EndEntries(int64(c.filled))
		s.limit = int64(c.limit)
		if got := s.Ahead(c.n); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

// TestEstimate makes sure that the size of clusters before compression follows that of the clusters
// before: as ROOT computes it, a cluster ends when it would have the wanted size with their ratio.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		compression                        compress.Settings
		wanted, most, zipped, plain, limit int64
	}{
		{0, 1000, 5000, 0, 0, 1000},               // nothing is known
		{101, 1000, 5000, 0, 0, 2000},             // compression by half is assumed
		{101, 1000, 1500, 0, 0, 1500},             // no more than the most
		{101, 1000, 50_000, 100, 800, 8000},       // compressed to an eighth
		{101, 1000, 5000, 100, 800, 5000},         // no more than the most
		{101, 1000, 5000, 100, 50, 500},           // compression makes it larger
		{0, 1000, 5000, 100, 300, 3000},           // equal pages are stored once
		{101, 1000, 1 << 40, 1, 1 << 30, 1000000}, // a ratio of 1000 is the largest
	} {
		s := &Sink{set: Settings{Compression: c.compression, ZippedCluster: c.wanted, UnzippedCluster: c.most},
			unzippedSum: c.plain}
		if got := s.estimate(c.zipped); got != c.limit {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

// TestFull makes sure that a cluster which may have reached its size waits for the previous one,
// whose size makes the limit exact: or clusters would depend on the number of workers.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		limit   int64 // that is assumed while the previous cluster is written
		full    bool
		waiting bool
	}{
		{17, false, true}, // 16 bytes do not reach it
		{16, true, false}, // they do, and the exact limit, of 16 bytes, too
		{15, true, false},
	} {
		set := settings(2, 0)
		set.ZippedCluster = 1 << 20
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, set, 1)
		s.AddColumns(doubles(1))
		if err := errors.Join(fillSome(s, doubles(1), 1), s.EndCluster()); err != nil {
			t.Fatal(err)
		}
		s.set.UnzippedCluster = 16 // an entry has two elements of 8 bytes
		b, err := NewBuffer[float64](s, s.Column(0))
		if err != nil {
			t.Fatal(err)
		}
		b.AddAll([]float64{1, 2})
		s.settle()
		s.limit = c.limit
		if got := s.Full(); got != c.full || (s.pending != nil) != c.waiting {
			t.Errorf("limit %d: full %v; the previous cluster is pending: %v", c.limit, got, s.pending != nil)
		}
	}
}

// TestEqualPages makes sure that of pages of the same size that of the last column makes room, as
// in ROOT.
func TestEqualPages(t *testing.T) {
	set := settings(1, 0)
	set.PageBudget = 3*256 + 1024 + 1024 + 511 // the third page can have 256 bytes, not 512
	s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, set, 1)
	columns := doubles(3)
	s.AddColumns(columns)
	for i, n := range []int{65, 65, 33} { // pages of 1024, 1024 and 512 bytes
		b, err := NewBuffer[float64](s, columns[i])
		if err != nil {
			t.Fatal(err)
		}
		b.AddAll(make([]float64, n))
	}
	for i, want := range []int{0, 1, 0} {
		if n := len(s.current.pages[i]); n != want {
			t.Errorf("column %d has %d pages, want %d", i, n, want)
		}
	}
}

// TestLateColumn makes sure that a column which is added takes 512 bytes of the budget, for which
// the largest page is flushed if they do not fit.
func TestLateColumn(t *testing.T) {
	for _, c := range []struct {
		budget int64
		pages  int
	}{{1024 + 256 + 512, 0}, {1024 + 256 + 511, 1}} {
		set := settings(1, 0)
		set.PageBudget = c.budget
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, set, 1)
		columns := doubles(2)
		s.AddColumns(columns[:1])
		b, err := NewBuffer[float64](s, columns[0])
		if err != nil {
			t.Fatal(err)
		}
		b.AddAll(make([]float64, 65)) // of a page with 1024 bytes
		s.AddColumns(columns)
		if n := len(s.current.pages[0]); n != c.pages || len(s.current.pages) != 2 {
			t.Errorf("budget of %d bytes: %d pages, want %d", c.budget, n, c.pages)
		}
	}
}

// TestQueueLength makes sure that pages wait only if the budget has room for them.
func TestQueueLength(t *testing.T) {
	for _, c := range []struct{ budget, filling, page, workers, want int64 }{
		{1000, 0, 10, 1, 32}, // 100 would fit
		{1000, 0, 50, 1, 20}, // as many as fit
		{1000, 500, 50, 1, 10},
		{1000, 500, 50, 2, 5}, // for each worker
		{1000, 900, 50, 1, 4}, // four always
		{1000, 2000, 50, 1, 4},
	} {
		s := &Sink{set: Settings{PageBudget: c.budget, MaxPage: c.page, Workers: int(c.workers)}, filling: c.filling}
		if got := s.queueLength(); int64(got) != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

// TestLargeEntry makes sure that an entry is complete of which not even one element fits the cluster.
func TestLargeEntry(t *testing.T) {
	for _, c := range []struct{ limit, elements int64 }{{1, 1}, {7, 100}, {8, 100}} {
		file := &pagetest.File{}
		set := settings(1, 0)
		set.ZippedCluster, set.UnzippedCluster = c.limit, c.limit
		s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 1)
		columns := doubles(1)
		s.AddColumns(columns)
		b, err := NewBuffer[float64](s, columns[0])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for i := range c.elements {
				b.Add(float64(i))
			}
			if err := s.EndEntries(1); err != nil {
				t.Fatal(err)
			}
		}
		clusters := finish(t, s, file, columns)
		if len(clusters) != 2 {
			t.Errorf("%+v: %d clusters, want 2", c, len(clusters))
		}
		for _, cluster := range clusters {
			n := int64(0)
			for _, p := range cluster.Columns[0].Pages {
				n += int64(p.NumElements)
			}
			if n != c.elements {
				t.Errorf("%+v: an entry has %d elements", c, n)
			}
		}
	}
}

// TestPageGrowth makes sure that a page grows from 256 bytes to the largest size, by doubling.
func TestPageGrowth(t *testing.T) {
	for _, c := range []struct {
		most int64 // bytes of a page
		want []int // elements
	}{
		{1 << 20, nil},
		{4096, []int{512, 512}},
		{4000, []int{500, 500, 24}},
		{100, []int{12, 12, 12}},
		{1, []int{1, 1, 1}},
	} {
		set := settings(1, 0)
		set.MaxPage = c.most
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, set, 1)
		s.AddColumns(doubles(1))
		b, err := NewBuffer[float64](s, s.Column(0))
		if err != nil {
			t.Fatal(err)
		}
		for n := range 1025 {
			if s.capacity[0] > max(c.most, 8) || s.capacity[0] > max(initialPage, 2*8*int64(n)) {
				t.Fatalf("a page of %d bytes for %d elements", s.capacity[0], n)
			}
			b.Add(1)
		}
		pages := s.current.pages[0]
		for i, want := range c.want {
			if i < len(pages) && int(pages[i].elements) != want && i < 2 {
				t.Errorf("%d bytes at most: page %d has %d elements, want %d", c.most, i, pages[i].elements, want)
			}
		}
		if full := 1024 / max(1, int(c.most)/8); len(pages) != full && len(c.want) > 0 {
			t.Errorf("%d bytes at most: %d pages, want %d", c.most, len(pages), full)
		}
	}
}

// TestOutputWrite writes payloads that are collected in memory, and such that are streamed.
func TestOutputWrite(t *testing.T) {
	errFill := errors.New("cannot fill")
	for _, n := range []int{0, 1, minStreamed - 1, minStreamed, minStreamed + 1} {
		for _, stream := range []bool{false, true} {
			file := &pagetest.File{Bytes: []byte("before")}
			streamed := 0
			out := &Output{Blob: file.Blob}
			if stream {
				out.Stream = func(n int64, fill func(io.WriterAt) error) (int64, error) {
					streamed++
					return file.Stream(n, fill)
				}
			}
			want := make([]byte, n)
			for i := range want {
				want[i] = byte(i % 251)
			}
			at, err := out.Write(int64(n), func(w io.WriterAt) error {
				for i := n; i > 0; { // in pieces, from the end on
					first := max(0, i-10_000)
					if _, err := w.WriteAt(want[first:i], int64(first)); err != nil {
						return err
					}
					i = first
				}
				return nil
			})
			if err != nil || at != 6 || !bytes.Equal(file.Bytes[6:], want) {
				t.Errorf("%d bytes at %d: %v", n, at, err)
			}
			if (streamed == 1) != (stream && n >= minStreamed) {
				t.Errorf("%d bytes, of %d at least: streamed %d times", n, minStreamed, streamed)
			}
			if _, err := out.Write(int64(n), func(io.WriterAt) error { return errFill }); err != errFill {
				t.Errorf("%d bytes: error %v", n, err)
			}
			if streamed == 0 && len(file.Sizes) != 1 {
				t.Error("a payload is written that is not complete")
			}
		}
	}
}
