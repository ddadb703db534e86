package pagecopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// noPages has no page copied.
var noPages = Whole{Pages: func(*pagesource.Cluster) (*Chunk, error) { return nil, nil }}

// copySpans copies spans to a flow, of which no more follow.
func copySpans(f Flow, c *pagesource.Cluster, shift uint64, spans ...columnar.Span) error {
	return errors.Join(f.Read(context.Background(), c, spans, false), f.Append(context.Background(), shift))
}

// randomSpans returns spans of n elements, in order and neither empty nor adjacent.
func randomSpans(rnd *rand.Rand, n int64) (spans []columnar.Span) {
	longest := 1 + rnd.Int64N(n)
	for at := int64(0); at < n; {
		s := columnar.Span{First: at + rnd.Int64N(1+min(longest, n-at-1)), N: 0}
		s.N = 1 + rnd.Int64N(min(longest, n-s.First))
		if rnd.IntN(4) == 0 { // all that are left, or from the first on
			s = columnar.Span{First: at, N: n - at}
		}
		spans, at = columnar.AddSpan(spans, s), s.First+s.N
	}
	return spans
}

// divideSpans divides spans into those of several reads, at any element.
func divideSpans(rnd *rand.Rand, spans []columnar.Span) (reads [][]columnar.Span) {
	var now []columnar.Span
	for _, s := range spans {
		for rnd.IntN(3) == 0 && s.N > 1 {
			n := 1 + rnd.Int64N(s.N-1)
			reads, now = append(reads, append(now, columnar.Span{First: s.First, N: n})), nil
			s.First, s.N = s.First+n, s.N-n
		}
		if now = append(now, s); rnd.IntN(3) == 0 {
			reads, now = append(reads, now), nil
		}
	}
	if len(now) > 0 {
		reads = append(reads, now)
	}
	return reads
}

// TestFlow copies random ranges of elements of all formats, whose pages may be copied as they are
// stored. The elements must be those of the ranges, and a page must be copied exactly if all of its
// elements are, one after the other, without a release in between.
func TestFlow(t *testing.T) {
	rnd := sampletest.Rand(t)
	copied := int64(0)
	for _, compression := range []compress.Settings{0, 101} {
		src := newSource(t, small(1, compression, 0), 2000, randomEntries(t, rnd), formats()...)
		for i, f := range formats() {
			if f.Type == column.Switch {
				continue
			}
			for n := range 12 {
				t.Run(fmt.Sprintf("%v, compression %d, %d", f.Type, compression, n), func(t *testing.T) {
					copied += testFlow(t, rnd, src, i, small(1+n%2*2, compression, 0), n%4 != 3)
				})
			}
		}
	}
	if copied < 1000 {
		t.Errorf("only %d pages are copied", copied)
	}
}

// testFlow returns how many pages are copied.
func testFlow(t *testing.T, rnd *rand.Rand, src *source, id int, set pagesink.Settings, whole bool) int64 {
	ctx := context.Background()
	set.ZippedCluster, set.UnzippedCluster = 1<<30, 1<<30
	o := newOutput(ctx, set, formats()[id])
	elements, err := NewElements(o.Sink, o.columns[0])
	if err != nil {
		t.Fatal(err)
	}
	var copied, size, want, wantSize int64
	ahead := src.NewReadAhead()
	flow, err := elements.From(ahead, src.columns[id].Owner, 0, Whole{
		Pages: func(c *pagesource.Cluster) (*Chunk, error) {
			if !whole || c.ID%5 == 4 {
				return nil, nil
			}
			chunk := src.chunk(t, c.ID, id, Copy)
			if c.ID == 0 { // pages without a checksum are not copied
				chunk.Pages = slices.Clone(chunk.Pages)
				for i := range chunk.Pages {
					chunk.Pages[i].HasChecksum = i%2 == 0
				}
			}
			return &chunk, nil
		},
		Copied: func(n int64) { copied, size = copied+1, size+n },
	})
	if err != nil {
		t.Fatal(err)
	}
	var bits []uint64
	for c, cluster := range src.clusters {
		stored := src.read[c].Columns[id]
		spans := randomSpans(rnd, int64(len(stored.Bits)))
		reads := divideSpans(rnd, spans)
		var runs []columnar.Span // ranges between releases
		joined := false
		for i, read := range reads {
			more := i < len(reads)-1
			if err := errors.Join(flow.Read(ctx, cluster, read, more), flow.Append(ctx, 0)); err != nil {
				t.Fatal(err)
			}
			for _, s := range read {
				bits = append(bits, stored.Bits[s.First:][:s.N]...)
				if joined {
					runs = columnar.AddSpan(runs, s)
				} else {
					runs = append(runs, s)
				}
				joined = true
			}
			if !more || rnd.IntN(6) == 0 {
				if err := flow.Release(ctx); err != nil {
					t.Fatal(err)
				}
				joined = false
				if rnd.IntN(2) == 0 { // otherwise the cluster goes on
					if err := errors.Join(o.EndEntries(1), o.EndCluster()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		begin := int64(0)
		for i, p := range stored.Pages {
			end := begin + int64(p.NumElements)
			inside := slices.ContainsFunc(runs, func(s columnar.Span) bool { return s.First <= begin && end <= s.First+s.N })
			if whole && c%5 != 4 && (c > 0 || i%2 == 0) && inside {
				want++
				wantSize += int64(p.StoredSize())
			}
			begin = end
		}
	}
	o.EndEntries(1)
	clusters := o.finish(t)
	if got, _ := pagetest.Values(clusters, 0); !slices.Equal(got, bits) {
		t.Errorf("%d elements differ from the %d that were to be copied", len(got), len(bits))
	}
	if copied != want || size != wantSize {
		t.Errorf("%d pages of %d bytes were copied, want %d of %d", copied, size, want, wantSize)
	}
	return copied
}

// TestFlowClusters makes sure that elements which wait for the others of their page count towards
// the size of the cluster, so that it ends where it would if the pages were not copied.
func TestFlowClusters(t *testing.T) {
	rnd := sampletest.Rand(t)
	ctx := context.Background()
	src := newSource(t, small(1, 0, 0), 3000, randomEntries(t, rnd), formats()...)
	var want []uint64
	for _, whole := range []bool{false, true} {
		set := small(1, 0, 0)
		set.ZippedCluster, set.UnzippedCluster = 1<<30, 5000
		o := newOutput(ctx, set, formats()[0])
		elements, err := NewElements(o.Sink, o.columns[0])
		if err != nil {
			t.Fatal(err)
		}
		flow, err := elements.From(src.NewReadAhead(), src.columns[0].Owner, 0, Whole{
			Pages: func(c *pagesource.Cluster) (*Chunk, error) {
				if !whole {
					return nil, nil
				}
				chunk := src.chunk(t, c.ID, 0, Copy)
				return &chunk, nil
			},
			Copied: func(int64) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for c, cluster := range src.clusters {
			n := int64(len(src.read[c].Columns[0].Bits))
			for i := int64(0); i < n; i += 5 { // five elements are an entry
				some := []columnar.Span{{First: i, N: min(5, n-i)}}
				if err := errors.Join(flow.Read(ctx, cluster, some, i+5 < n), flow.Append(ctx, 0)); err != nil {
					t.Fatal(err)
				}
				if o.Full() {
					if err := flow.Release(ctx); err != nil {
						t.Fatal(err)
					}
				}
				if err := o.EndEntries(1); err != nil {
					t.Fatal(err)
				}
			}
			if err := flow.Release(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range o.finish(t) {
			got = append(got, uint64(len(c.Columns[0].Bits)))
		}
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("clusters of %d elements, %d if no page is copied", got, want)
		}
	}
	for _, n := range want[:len(want)-1] { // an element has 8 bytes, an entry at most five elements
		if n < 5000/8 || n >= 5000/8+5 {
			t.Errorf("clusters of %d elements", want)
		}
	}
}

// TestFlowTakes makes sure that pages are decoded if the output has them encoded or compressed in
// another way, or must know their bounds.
func TestFlowTakes(t *testing.T) {
	ctx := context.Background()
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 101, 0), 100, randomEntries(t, rnd), formats()...)
	bits := src.read[0].Columns[0].Bits
	for name, c := range map[string]struct {
		compression compress.Settings
		to          column.Type
		track       bool
		copied      bool
	}{
		"the same":          {101, column.SplitReal64, false, true},
		"other compression": {404, column.SplitReal64, false, false},
		"none":              {0, column.SplitReal64, false, false},
		"other encoding":    {101, column.Real64, false, false},
		"bounds":            {101, column.SplitReal64, true, false},
	} {
		o := newOutput(ctx, small(1, c.compression, 0), pagetest.Of(c.to))
		if c.track {
			o.Track(0)
		}
		elements, err := NewElements(o.Sink, o.columns[0])
		if err != nil {
			t.Fatal(err)
		}
		copied := 0
		flow, err := elements.From(src.NewReadAhead(), src.columns[0].Owner, 0, Whole{
			Pages: func(*pagesource.Cluster) (*Chunk, error) {
				chunk := src.chunk(t, 0, 0, Copy)
				return &chunk, nil
			},
			Copied: func(int64) { copied++ },
		})
		if err != nil {
			t.Fatal(err)
		}
		all := columnar.Span{First: 0, N: int64(len(bits))}
		if err := errors.Join(copySpans(flow, src.clusters[0], 0, all), o.EndEntries(1)); err != nil {
			t.Fatal(err)
		}
		if got, _ := pagetest.Values(o.finish(t), 0); !slices.Equal(got, bits) || (copied > 0) != c.copied {
			t.Errorf("%s: %d pages are copied, or the elements differ", name, copied)
		}
	}
}

// TestFlowEmptyPages copies pages between which there are some without elements, as no writer has
// them.
func TestFlowEmptyPages(t *testing.T) {
	ctx := context.Background()
	v := 0.0
	src := newSource(t, small(1, 0, 0), 300, func(s *pagesink.Sink, columns []*schema.Column) func() {
		return adds(t, s, columns[0], func() float64 { v++; return v })
	}, pagetest.Of(column.Real64))
	bits, n := src.read[0].Columns[0].Bits, int64(300)
	empty := envelope.Page{HasChecksum: true}
	pages := []envelope.Page{empty, empty}
	for _, p := range src.read[0].Columns[0].Pages { // of 64 elements
		pages = append(pages, p, empty)
	}
	c := pagesource.NewCluster(0, src.read[0].Cluster, []envelope.ColumnPages{{Pages: pages}})
	for _, test := range []struct {
		spans  []columnar.Span
		copied int
	}{
		{nil, 0},
		{[]columnar.Span{{First: 0, N: n}}, 5},
		{[]columnar.Span{{First: 64, N: 64}}, 1},
		{[]columnar.Span{{First: 10, N: 54}, {First: 65, N: 2 * 64}}, 1},
		{[]columnar.Span{{First: 0, N: 64}, {First: 2 * 64, N: 64}, {First: 4 * 64, N: 44}}, 3},
	} {
		o := newOutput(ctx, small(1, 0, 0), pagetest.Of(column.Real64))
		elements, err := NewElements(o.Sink, o.columns[0])
		if err != nil {
			t.Fatal(err)
		}
		copied := 0
		flow, err := elements.From(src.NewReadAhead(), src.columns[0].Owner, 0, Whole{
			Pages: func(c *pagesource.Cluster) (*Chunk, error) {
				chunk, err := c.Chunk(src.columns[0].Owner, 0)
				return &Chunk{Chunk: chunk, From: src.Source, Level: Copy}, err
			},
			Copied: func(int64) { copied++ },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(copySpans(flow, c, 0, test.spans...), o.EndEntries(1)); err != nil {
			t.Fatal(err)
		}
		var want []uint64
		for _, s := range test.spans {
			want = append(want, bits[s.First:][:s.N]...)
		}
		if got, _ := pagetest.Values(o.finish(t), 0); !slices.Equal(got, want) || copied != test.copied {
			t.Errorf("%v: %d pages are copied, want %d, or the elements differ", test.spans, copied, test.copied)
		}
	}
}

// TestFlowMany copies more elements than are read at once.
func TestFlowMany(t *testing.T) {
	ctx := context.Background()
	const n = readSize/8 + 1000
	set := small(1, 0, 0)
	set.ZippedCluster, set.UnzippedCluster, set.MaxPage = 1<<30, 1<<30, 1<<16
	v := 0
	src := newSource(t, set, n, func(s *pagesink.Sink, columns []*schema.Column) func() {
		return adds(t, s, columns[0], func() float64 { v++; return float64(v) })
	}, pagetest.Of(column.SplitReal64))
	for _, spans := range [][]columnar.Span{
		{{First: 0, N: n}},
		{{First: 1, N: n - 1}},
		{{First: 0, N: readSize / 8}, {First: readSize/8 + 1, N: 999}},
		{{First: 0, N: 10}, {First: 20, N: n - 20}},
		{{First: 0, N: readSize/8 - 1}, {First: readSize / 8, N: 5}, {First: readSize/8 + 10, N: 5}},
	} {
		o := newOutput(ctx, set, pagetest.Of(column.SplitReal64))
		elements, err := NewElements(o.Sink, o.columns[0])
		if err != nil {
			t.Fatal(err)
		}
		flow, err := elements.From(src.NewReadAhead(), src.columns[0].Owner, 0, noPages)
		if err != nil {
			t.Fatal(err)
		}
		given := slices.Clone(spans)
		if err := errors.Join(copySpans(flow, src.clusters[0], 0, spans...), o.EndEntries(1)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(spans, given) {
			t.Error("the spans of the caller have changed")
		}
		var want []uint64
		for _, s := range spans {
			want = append(want, src.read[0].Columns[0].Bits[s.First:][:s.N]...)
		}
		if got, _ := pagetest.Values(o.finish(t), 0); !slices.Equal(got, want) {
			t.Errorf("%v: %d elements differ from the %d that were to be copied", spans, len(got), len(want))
		}
	}
}

// TestFlowShift adds a number to offsets as they are copied.
func TestFlowShift(t *testing.T) {
	rnd := sampletest.Rand(t)
	ctx := context.Background()
	src := newSource(t, small(1, 0, 0), 100, randomEntries(t, rnd), formats()...)
	bits := src.read[0].Columns[4].Bits
	n := int64(len(bits))
	for _, c := range []struct {
		shift uint64
		want  error
	}{{0, nil}, {1000, nil}, {math.MaxUint64 - bits[n-1], nil}, {math.MaxUint64 - bits[n-1] + 1, column.ErrRange}} {
		o := newOutput(ctx, small(1, 0, 0), pagetest.Of(column.UInt64))
		elements, err := NewElements(o.Sink, o.columns[0])
		if err != nil {
			t.Fatal(err)
		}
		flow, err := elements.From(src.NewReadAhead(), src.columns[4].Owner, 0, noPages)
		if err != nil {
			t.Fatal(err)
		}
		elements.Zeros(2000)
		elements.Zeros(0)
		elements.Add([]uint64{7, 8})
		err = copySpans(flow, src.clusters[0], c.shift, columnar.Span{First: 0, N: n})
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("shift %d: error %v", c.shift, err)
		}
		if c.want != nil {
			continue
		}
		want := append(make([]uint64, 2000), 7, 8)
		for _, b := range bits {
			want = append(want, b+c.shift)
		}
		o.EndEntries(1)
		if got, _ := pagetest.Values(o.finish(t), 0); !slices.Equal(got, want) {
			t.Errorf("shift %d: the elements differ", c.shift)
		}
	}
}

// TestFlowErrors has each read of a source fail, and what says which pages can be copied.
func TestFlowErrors(t *testing.T) {
	rnd := sampletest.Rand(t)
	ctx := context.Background()
	src := newSource(t, small(1, 101, 0), 300, randomEntries(t, rnd), formats()...)
	n := int64(len(src.read[0].Columns[0].Bits))
	copyAll := func(change func(*Chunk) error, ctx context.Context) (*output, error) {
		o := newOutput(context.Background(), small(1, 101, 0), formats()[0])
		elements, err := NewElements(o.Sink, o.columns[0])
		if err != nil {
			t.Fatal(err)
		}
		flow, err := elements.From(src.NewReadAhead(), src.columns[0].Owner, 0, Whole{
			Pages: func(*pagesource.Cluster) (*Chunk, error) {
				chunk := src.chunk(t, 0, 0, Copy)
				chunk.Pages = slices.Clone(chunk.Pages)
				return &chunk, change(&chunk)
			},
			Copied: func(int64) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		src.file.reads.Store(0)
		for _, read := range []struct {
			columnar.Span
			more bool
		}{{columnar.Span{First: 3, N: n/2 - 3}, true}, {columnar.Span{First: n / 2, N: n/2 - 5}, true}} {
			if err := flow.Read(ctx, src.clusters[0], []columnar.Span{read.Span}, read.more); err != nil {
				return o, err
			}
			if err := flow.Append(ctx, 0); err != nil {
				return o, err
			}
		}
		if err := flow.Release(ctx); err != nil {
			return o, err
		}
		return o, errors.Join(o.EndEntries(1), o.CommitClusterGroup())
	}
	same := func(*Chunk) error { return nil }
	o, err := copyAll(same, ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := pagetest.Values(o.finish(t), 0)
	if want := src.read[0].Columns[0].Bits[3 : n/2+n/2-5]; !slices.Equal(got, want) {
		t.Error("the elements differ")
	}
	reads := src.file.reads.Load()
	for at := range reads {
		src.file.failAt = at + 1
		if _, err := copyAll(same, ctx); !errors.Is(err, errRead) || !strings.Contains(err.Error(), `field "x0"`) {
			t.Errorf("read %d of %d fails: %v", at+1, reads, err)
		}
	}
	src.file.failAt = 0
	if _, err := copyAll(func(*Chunk) error { return errRead }, ctx); !errors.Is(err, errRead) {
		t.Errorf("error of Pages: %v", err)
	}
	behind := func(c *Chunk) error { c.Pages[1].Locator.Offset = 1 << 40; return nil }
	if _, err := copyAll(behind, ctx); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), `the source: field "x0"`) {
		t.Errorf("a page behind the end: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := copyAll(same, done); !errors.Is(err, context.Canceled) {
		t.Errorf("the context is done: %v", err)
	}
}

// A farFile counts how often each byte is read.
type farFile struct {
	bytes.Reader
	mu    sync.Mutex
	reads []int
}

func (f *farFile) Costs() remote.Costs {
	return remote.Costs{Gap: 0, Ranges: 1, Bytes: 4096, Requests: 2}
}

func (f *farFile) ReadRanges(_ context.Context, ranges []remote.Range) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range ranges {
		for i := range r.Data {
			f.reads[r.Offset+int64(i)]++
		}
		if _, err := f.ReadAt(r.Data, r.Offset); err != nil {
			return err
		}
	}
	return nil
}

// TestFlowFar copies pages from a file that is far away, which are fetched ahead. Each must be
// fetched once, even if it is copied only when the flow has come to the next cluster.
func TestFlowFar(t *testing.T) {
	ctx := context.Background()
	set := small(1, 0, 0)
	set.MaxPage, set.UnzippedCluster = 2048, 3*2048 // clusters of three pages
	v := 0.0
	real := pagetest.Of(column.Real64)
	src := newSource(t, set, 1000, func(s *pagesink.Sink, columns []*schema.Column) func() {
		return adds(t, s, columns[0], func() float64 { v++; return v })
	}, real)
	far := &farFile{reads: make([]int, src.file.Size())}
	far.Reset(src.bytes())
	src.R, src.Budget = far, 1<<24
	ahead := src.NewReadAhead()
	src.ExpectWith(ahead)

	set.Workers, set.UnzippedCluster = 2, 1<<30
	set.ZippedCluster = 1 << 30
	o := newOutput(ctx, set, real, real)
	elements, err1 := NewElements(o.Sink, o.columns[0])
	blocker, err2 := pagesink.NewBuffer[float64](o.Sink, o.columns[1])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	gate, copied := make(chan struct{}), 0
	blocker.Insert(pagesink.Page{NumElements: 1, Encode: func(dst []byte) ([]byte, error) { // so the pages wait
		<-gate
		return append(dst, make([]byte, 8)...), nil
	}})
	flow, err := elements.From(ahead, src.columns[0].Owner, 0, Whole{
		Pages: func(c *pagesource.Cluster) (*Chunk, error) {
			chunk := src.chunk(t, c.ID, 0, Copy)
			return &chunk, nil
		},
		Copied: func(int64) { copied++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := src.clusters[0], src.clusters[1]
	ahead.Fetch(ctx, a, a.First, b.End)
	if err := copySpans(flow, a, 0, columnar.Span{First: 0, N: a.End - a.First}); err != nil || copied != 3 {
		t.Fatalf("%d pages are copied: %v", copied, err)
	}
	err = copySpans(flow, b, 0, columnar.Span{First: 0, N: 10}) // some elements of the first page
	close(gate)
	if err := errors.Join(err, o.EndEntries(1)); err != nil {
		t.Fatal(err)
	}
	bits, _ := pagetest.Values(o.finish(t), 0)
	if want, _ := pagetest.Values(src.read, 0); !slices.Equal(bits, want[:a.End+10]) {
		t.Error("the elements differ")
	}
	for i, p := range src.read[0].Columns[0].Pages {
		if n := far.reads[p.Locator.Offset]; n != 1 {
			t.Errorf("page %d is fetched %d times", i, n)
		}
	}
}

// TestNoFlow makes sure that elements which cannot be copied one by one are refused.
func TestNoFlow(t *testing.T) {
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 0, 0), 10, randomEntries(t, rnd), formats()...)
	o := newOutput(context.Background(), small(1, 0, 0), formats()...)
	if _, err := NewElements(o.Sink, o.columns[6]); err == nil ||
		!strings.Contains(err.Error(), `field "x6": column of type Switch`) {
		t.Errorf("tags: %v", err)
	}
	elements, err := NewElements(o.Sink, o.columns[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := elements.From(src.NewReadAhead(), src.columns[6].Owner, 0, Whole{}); !errors.Is(err,
		frame.ErrUnsupported) {
		t.Errorf("from tags: %v", err)
	}
}

// TestOffsets copies random ranges of collections with their items, into clusters of other sizes,
// and a second column of offsets that counts the same items.
func TestOffsets(t *testing.T) {
	rnd := sampletest.Rand(t)
	ctx := context.Background()
	for range 20 {
		index := []column.Type{column.SplitIndex64, column.Index64, column.Index32}[rnd.IntN(3)]
		var all [][]float64 // the collections
		src := newSource(t, small(1, 0, 0), 3000, func(s *pagesink.Sink, columns []*schema.Column) func() {
			ends := s.Counter()
			item := 0.0
			next := adds(t, s, columns[1], func() float64 { item++; return item })
			end := adds(t, s, columns[0], func() uint64 { return *ends })
			return func() {
				n := rnd.IntN(4)
				var items []float64
				for range n {
					next()
					items = append(items, item)
				}
				*ends += uint64(n)
				end()
				all = append(all, items)
			}
		}, pagetest.Of(index), pagetest.Of(column.Real64))
		o := newOutput(ctx, small(1, 0, 0), pagetest.Of(column.SplitIndex64), pagetest.Of(column.Real64),
			pagetest.Of(column.Index64))
		offsets, err1 := NewOffsets(o.Sink, o.columns[0])
		items, err2 := NewElements(o.Sink, o.columns[1])
		beside, err3 := NewOffsets(o.Sink, o.columns[2])
		ahead := src.NewReadAhead()
		from, err4 := pagesource.NewColumn[uint64](ahead, src.columns[0].Owner, 0)
		flow, err5 := items.From(ahead, src.columns[1].Owner, 0, noPages)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			t.Fatal(err)
		}
		var want [][]float64
		for _, c := range src.clusters {
			for _, some := range divideSpans(rnd, randomSpans(rnd, c.End-c.First)) {
				copied, err := offsets.Copy(ctx, from, c, some)
				if err != nil {
					t.Fatal(err)
				}
				if !beside.Repeat(copied) {
					t.Fatal("the other column has another number of items")
				}
				for i, s := range copied.Items {
					if s.N <= 0 || i > 0 && s.First <= copied.Items[i-1].First+copied.Items[i-1].N {
						t.Fatalf("the ranges of items are not joined: %v", copied.Items)
					}
				}
				if err := copySpans(flow, c, 0, copied.Items...); err != nil {
					t.Fatal(err)
				}
				n := int64(0)
				for _, s := range some {
					want = append(want, all[c.First+s.First:][:s.N]...)
					n += s.N
				}
				if rnd.IntN(5) == 0 {
					offsets.Empty(2)
					beside.Empty(2)
					want = append(want, nil, nil)
					n += 2
				}
				if err := o.EndEntries(n); err != nil {
					t.Fatal(err)
				}
				if rnd.IntN(10) == 0 {
					if err := o.EndCluster(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		at := 0
		for _, c := range o.finish(t) {
			begin := uint64(0)
			for i, end := range c.Columns[0].Bits {
				if int(end-begin) != len(want[at]) || c.Columns[2].Bits[i] != end {
					t.Fatalf("collection %d has %d items, want %d", at, end-begin, len(want[at]))
				}
				for j, v := range want[at] {
					if got := c.Columns[1].Bits[int(begin)+j]; got != math.Float64bits(v) {
						t.Fatalf("collection %d: item %d has the bits %#x, want those of %v", at, j, got, v)
					}
				}
				begin, at = end, at+1
			}
			if int(begin) != len(c.Columns[1].Bits) || len(c.Columns[0].Bits) != int(c.NumEntries) {
				t.Fatalf("a cluster with %d items, the collections have %d", len(c.Columns[1].Bits), begin)
			}
		}
		if at != len(want) {
			t.Errorf("%d collections, want %d", at, len(want))
		}
	}
}

// TestRepeat makes sure that offsets are repeated only behind as many items.
func TestRepeat(t *testing.T) {
	ctx := context.Background()
	ends := []uint64{2, 2, 5}
	src := offsetsSource(t, pagetest.Of(column.Index64), ends...)
	index := pagetest.Of(column.Index64)
	o := newOutput(ctx, small(1, 0, 0), index, index, index)
	var all [3]*Offsets
	for i := range all {
		var err error
		if all[i], err = NewOffsets(o.Sink, o.columns[i]); err != nil {
			t.Fatal(err)
		}
	}
	from, err := pagesource.NewColumn[uint64](src.NewReadAhead(), src.columns[0].Owner, 0)
	if err != nil {
		t.Fatal(err)
	}
	copied, err1 := all[0].Copy(ctx, from, src.clusters[0], []columnar.Span{{First: 0, N: 3}})
	nothing, err2 := all[0].Copy(ctx, from, src.clusters[0], nil)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ got, want bool }{
		{all[1].Repeat(copied), true}, {all[1].Repeat(copied), false},
		{all[1].Repeat(nothing), true}, {all[2].Repeat(nothing), false},
	} {
		if c.got != c.want {
			t.Errorf("call %d: %v", i, c.got)
		}
	}
	o.EndEntries(3)
	c := o.finish(t)[0]
	if !slices.Equal(c.Columns[0].Bits, ends) || !slices.Equal(c.Columns[1].Bits, ends) || len(c.Columns[2].Bits) > 0 {
		t.Errorf("offsets %d, %d and %d", c.Columns[0].Bits, c.Columns[1].Bits, c.Columns[2].Bits)
	}
}

// offsetsSource returns a source of one cluster with one column, which has the given numbers.
func offsetsSource(t *testing.T, format envelope.Column, ends ...uint64) *source {
	t.Helper()
	return newSource(t, small(1, 0, 0), 1, func(s *pagesink.Sink, columns []*schema.Column) func() {
		i := 0
		add := adds(t, s, columns[0], func() uint64 { i++; return ends[i-1] })
		return func() {
			for range ends {
				add()
			}
		}
	}, format)
}

// TestDamagedOffsets has offsets that are none.
func TestDamagedOffsets(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		ends  []uint64
		spans []columnar.Span
		want  string // of the error, or ""
	}{
		{[]uint64{1, 1, math.MaxInt64}, []columnar.Span{{First: 0, N: 3}}, ""},
		{[]uint64{1, 1, math.MaxInt64 + 1}, []columnar.Span{{First: 0, N: 2}}, ""},
		{[]uint64{1, 1, math.MaxInt64 + 1}, []columnar.Span{{First: 0, N: 3}},
			"collection from item 1 to 9223372036854775808"},
		{[]uint64{3, 2}, []columnar.Span{{First: 0, N: 2}}, "collection from item 3 to 2"},
		{[]uint64{3, 2, 4}, []columnar.Span{{First: 1, N: 1}}, "collection from item 3 to 2"},
		{[]uint64{3, 2, 4}, []columnar.Span{{First: 2, N: 1}}, ""},
		{[]uint64{1}, []columnar.Span{{First: 1, N: 1}}, "elements from 1 to 2 wanted"},
		{[]uint64{1}, []columnar.Span{{First: 3, N: 1}}, "elements from 2 to 3 wanted"},
	} {
		src := offsetsSource(t, pagetest.Of(column.Index64), c.ends...)
		o := newOutput(ctx, small(1, 0, 0), pagetest.Of(column.Index64))
		offsets, err1 := NewOffsets(o.Sink, o.columns[0])
		from, err2 := pagesource.NewColumn[uint64](src.NewReadAhead(), src.columns[0].Owner, 0)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if _, err := offsets.Copy(ctx, from, src.clusters[0], c.spans); (err != nil) != (c.want != "") ||
			err != nil && (!errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d, %v: error %v, want %q", c.ends, c.spans, err, c.want)
		}
	}
}

// TestTags copies random ranges of variants with their items.
func TestTags(t *testing.T) {
	rnd := sampletest.Rand(t)
	ctx := context.Background()
	const alternatives = 3
	real := pagetest.Of(column.Real64)
	formats := []envelope.Column{pagetest.Of(column.Switch), real, real, real}
	for range 20 {
		var all []uint64 // per entry: the bits of the value, and the tag
		src := newSource(t, small(1, 0, 0), 2000, func(s *pagesink.Sink, columns []*schema.Column) func() {
			var counts []*uint64
			var value []func()
			v := 0.0
			for i := range alternatives {
				counts = append(counts, s.Counter())
				value = append(value, adds(t, s, columns[1+i], func() float64 { return v }))
			}
			var next column.Tagged
			tag := adds(t, s, columns[0], func() column.Tagged { return next })
			return func() {
				v++
				next = column.Tagged{Tag: uint32(rnd.IntN(1 + alternatives))}
				if next.Tag > 0 {
					i := next.Tag - 1
					next.Index = *counts[i]
					*counts[i]++
					value[i]()
				}
				tag()
				all = append(all, uint64(v)<<2|uint64(next.Tag))
			}
		}, formats...)
		o := newOutput(ctx, small(1, 0, 0), formats...)
		tags, err1 := NewTags(o.Sink, o.columns[0], alternatives)
		ahead := src.NewReadAhead()
		from, err2 := pagesource.NewColumn[column.Tagged](ahead, src.columns[0].Owner, 0)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		var flows []Flow
		for i := range alternatives {
			items, err1 := NewElements(o.Sink, o.columns[1+i])
			if err1 != nil {
				t.Fatal(err1)
			}
			flow, err2 := items.From(ahead, src.columns[1+i].Owner, 0, noPages)
			if err2 != nil {
				t.Fatal(err2)
			}
			flows = append(flows, flow)
		}
		var want []uint64
		for _, c := range src.clusters {
			for _, s := range randomSpans(rnd, c.End-c.First) {
				want = append(want, all[c.First+s.First:][:s.N]...)
				for s.N > 0 {
					n, begin, end, err := tags.Copy(ctx, from, c, s.First, s.N)
					if err != nil || n < 1 || n > s.N {
						t.Fatalf("%d of %d variants: %v", n, s.N, err)
					}
					for i, f := range flows {
						if end[i] == begin[i] {
							continue
						}
						items := columnar.Span{First: begin[i], N: end[i] - begin[i]}
						if err := copySpans(f, c, 0, items); err != nil {
							t.Fatal(err)
						}
					}
					s.First, s.N = s.First+n, s.N-n
					if rnd.IntN(5) == 0 {
						tags.Empty(1)
						want = slices.Insert(want, len(want)-int(s.N), 0)
						n++
					}
					if err := o.EndEntries(n); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		at := 0
		for _, c := range o.finish(t) {
			for i, tag := range c.Columns[0].Tags {
				w := want[at]
				if at++; uint64(tag) != w&3 {
					t.Fatalf("variant %d has the tag %d, want %d", at-1, tag, w&3)
				}
				if tag == 0 {
					continue
				}
				if got := c.Columns[tag].Bits[c.Columns[0].Bits[i]]; got != math.Float64bits(float64(w>>2)) {
					t.Fatalf("variant %d has the item %v, want %d", at-1, math.Float64frombits(got), w>>2)
				}
			}
		}
		if at != len(want) {
			t.Errorf("%d variants, want %d", at, len(want))
		}
	}
}

// TestDamagedTags has tags without alternative, and indexes that are none.
func TestDamagedTags(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		tag  column.Tagged
		want string
	}{
		{column.Tagged{Index: math.MaxInt64 - 1, Tag: 2}, ""},
		{column.Tagged{Index: math.MaxInt64, Tag: 2}, "item 9223372036854775807 of alternative 2 of 2"},
		{column.Tagged{Index: 5, Tag: 3}, "item 5 of alternative 3 of 2"},
		{column.Tagged{Index: math.MaxUint64, Tag: 0}, ""}, // no value
	} {
		src := newSource(t, small(1, 0, 0), 1, func(s *pagesink.Sink, columns []*schema.Column) func() {
			return adds(t, s, columns[0], func() column.Tagged { return c.tag })
		}, pagetest.Of(column.Switch))
		o := newOutput(ctx, small(1, 0, 0), pagetest.Of(column.Switch))
		tags, err1 := NewTags(o.Sink, o.columns[0], 2)
		from, err2 := pagesource.NewColumn[column.Tagged](src.NewReadAhead(), src.columns[0].Owner, 0)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := tags.Copy(ctx, from, src.clusters[0], 0, 1); (err != nil) != (c.want != "") ||
			err != nil && (!errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error %v, want %q", c.tag, err, c.want)
		}
		if _, _, _, err := tags.Copy(ctx, from, src.clusters[0], 1, 1); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("a variant behind the end: %v", err)
		}
	}
}
