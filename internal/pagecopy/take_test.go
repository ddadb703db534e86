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
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// small returns settings with which clusters and pages are small.
func small(workers int, compression compress.Settings, keySize uint64) pagesink.Settings {
	return pagesink.Settings{
		Compression: compression, ZippedCluster: 15_000, UnzippedCluster: 15_000, MaxPage: 512, PageBudget: 1 << 20,
		MaxKeySize: keySize, Workers: workers,
	}
}

// TestTake copies the clusters of two sources at all levels. The elements must be those of the
// sources, equal pages stay shared, and below Recompress pages are as they were.
func TestTake(t *testing.T) {
	rnd := sampletest.Rand(t)
	for _, in := range []compress.Settings{0, 101} {
		for _, inKey := range []uint64{0, 300} {
			sources := []*source{
				newSource(t, small(1, in, inKey), 500, randomEntries(t, rnd), formats()...),
				newSource(t, small(1, in, inKey), 400, randomEntries(t, rnd), formats()...),
			}
			for _, out := range []compress.Settings{0, 404} {
				for _, outKey := range []uint64{0, 300, 5000} {
					for level := Clone; level <= Reseal; level++ {
						for _, workers := range []int{1, 3} {
							where := fmt.Sprintf("%v from %v to %v, keys of %d and %d, %d workers", level, in, out, inKey, outKey, workers)
							t.Run(where, func(t *testing.T) { testTake(t, sources, small(workers, out, outKey), level, in, rnd) })
						}
					}
				}
			}
		}
	}
}

func testTake(t *testing.T, sources []*source, set pagesink.Settings, level Level,
	in compress.Settings, rnd *rand.Rand) {
	to := formats()
	if level == Reseal { // other encodings of the same kinds
		to[0], to[2], to[5] = pagetest.Of(column.Real64), pagetest.Of(column.Int32), pagetest.Of(column.SplitIndex32)
	}
	o := newOutput(context.Background(), set, to...)
	copier := NewCopier(context.Background(), o.Sink)
	for _, s := range sources {
		s.SkipChecksums = rnd.IntN(2) == 0
	}
	var want [11]struct {
		bits []uint64
		tags []uint32
	}
	var pages, size, elements int64
	entries := uint64(0)
	for cluster := range min(len(sources[0].clusters), len(sources[1].clusters)) {
		given := make([]Column, len(to))
		for i := range to {
			for _, s := range sources {
				chunk := s.chunk(t, cluster, i, level)
				given[i].Chunks = append(given[i].Chunks, chunk)
				pages += int64(len(chunk.Pages))
				for _, p := range chunk.Pages {
					size += int64(p.StoredSize())
					elements += int64(p.NumElements)
				}
				want[i].bits = append(want[i].bits, s.read[cluster].Columns[i].Bits...)
				want[i].tags = append(want[i].tags, s.read[cluster].Columns[i].Tags...)
			}
		}
		n := sources[0].read[cluster].NumEntries
		if entries += n; copier.Take(int64(n), given) != nil {
			t.Fatal(o.Err())
		}
	}
	clusters := o.finish(t)
	if uint64(o.Entries()) != entries || len(clusters) < 2 {
		t.Errorf("%d entries, want %d", o.Entries(), entries)
	}
	for i := range to {
		bits, tags := pagetest.Values(clusters, i)
		if !slices.Equal(bits, want[i].bits) || !slices.Equal(tags, want[i].tags) {
			t.Errorf("%d elements of the column %v differ from the %d of the sources", len(bits), to[i].Type, len(want[i].bits))
		}
	}
	wantSettings := uint32(set.Compression)
	if level <= Copy {
		wantSettings = uint32(in)
	}
	stored := uint64(0)
	for j, c := range clusters {
		places := map[uint64]bool{}
		for i, col := range c.Columns {
			if col.Compression != wantSettings {
				t.Fatalf("compression %d, want %d", col.Compression, wantSettings)
			}
			if level <= Copy {
				was := slices.Concat(sources[0].read[j].Columns[i].Stored, sources[1].read[j].Columns[i].Stored)
				if !slices.EqualFunc(col.Stored, was, bytes.Equal) {
					t.Fatalf("the pages of column %d of cluster %d are not as they were", i, j)
				}
			}
			for k, p := range col.Pages {
				if !p.HasChecksum {
					t.Fatal("a page without checksum")
				}
				if !places[p.Locator.Offset] {
					places[p.Locator.Offset] = true
					stored += uint64(len(col.Stored[k]))
				}
			}
		}
		if shared := len(sharedPlaces(sources[0].read[j])) + len(sharedPlaces(sources[1].read[j])); len(places) > shared {
			t.Errorf("cluster %d: pages at %d places, %d in the sources", j, len(places), shared)
		}
	}
	for _, g := range o.Groups() {
		stored += g.PageList.Locator.Size
	}
	if n := uint64(len(o.file.Bytes)); n != stored && set.MaxKeySize == 0 {
		t.Errorf("the file has %d bytes, pages and page lists have %d", n, stored)
	}
	for _, n := range o.file.Sizes {
		if n == 0 {
			t.Error("a payload without bytes")
		}
		if set.MaxKeySize > 0 && uint64(n) > set.MaxKeySize {
			t.Errorf("payload of %d bytes", n)
		}
	}
	u := copier.Uncloned()
	if level != Clone {
		pages, size = 0, 0
	}
	if u.Pages != pages || u.Bytes != size {
		t.Errorf("%+v not cloned, want %d pages of %d bytes", u, pages, size)
	}
}

// sharedPlaces returns where the pages of a cluster are.
func sharedPlaces(c pagetest.Cluster) map[uint64]bool {
	all := map[uint64]bool{}
	for _, col := range c.Columns {
		for _, p := range col.Pages {
			all[p.Locator.Offset] = true
		}
	}
	return all
}

// TestTakeErrors has each read, each write and each page fail. The error must name the source and
// the field, if it is one of the source, and no cluster may be listed.
func TestTakeErrors(t *testing.T) {
	rnd := sampletest.Rand(t)
	for _, keySize := range []uint64{0, 300} {
		compression := compress.Settings(101)
		if keySize > 0 {
			compression = 0 // so that there are pages of several keys
		}
		src := newSource(t, small(1, compression, keySize), 300, randomEntries(t, rnd), formats()...)
		clean := slices.Clone(src.bytes())
		for level := Clone; level <= Reseal; level++ {
			for _, workers := range []int{1, 3} {
				take := func(o *output) error {
					given := make([]Column, len(src.columns))
					for i := range given {
						given[i].Chunks = []Chunk{src.chunk(t, 0, i, level)}
					}
					n := int64(src.read[0].NumEntries)
					err := errors.Join(NewCopier(context.Background(), o.Sink).Take(n, given), o.Wait())
					if err == nil {
						err = o.CommitClusterGroup()
					}
					return err
				}
				failed := func(what string, o *output, err, want error, from bool) {
					t.Helper()
					if !errors.Is(err, want) || from && !strings.Contains(err.Error(), `the source: field "x`) {
						t.Errorf("%v, %d workers, %s: error %v", level, workers, what, err)
					}
					if len(o.Groups()) > 0 || o.CommitClusterGroup() == nil {
						t.Errorf("%v, %d workers, %s: the cluster is written", level, workers, what)
					}
				}
				output := func() *output { return newOutput(context.Background(), small(workers, 404, 300), formats()...) }
				src.file.reads.Store(0)
				o := output()
				if err := take(o); err != nil {
					t.Fatal(err)
				}
				reads, writes := int(src.file.reads.Load()), len(o.file.Sizes)
				for _, at := range sampletest.Cases(rnd, reads, 5) {
					src.file.reads.Store(0)
					src.file.failAt = int64(at + 1)
					o := output()
					failed(fmt.Sprintf("read %d of %d", at+1, reads), o, take(o), errRead, true)
					src.file.failAt = 0
				}
				for _, at := range sampletest.Cases(rnd, writes, 5) {
					o := output()
					o.file.FailAt = at + 1
					failed(fmt.Sprintf("write %d of %d", at+1, writes), o, take(o), pagetest.ErrFull, false)
				}
				for range 5 {
					pages := src.read[0].Columns[rnd.IntN(len(src.columns))].Pages
					p := pages[rnd.IntN(len(pages))]
					if keySize > 0 && p.StoredSize() > keySize {
						continue // its other keys are elsewhere
					}
					b := slices.Clone(clean)
					b[p.Locator.Offset+rnd.Uint64N(p.StoredSize())] ^= 1 << rnd.IntN(8)
					src.file.Reader.Reset(b)
					o := output()
					failed("damaged page", o, take(o), frame.ErrChecksum, true)
					src.file.Reader.Reset(clean)
				}
			}
		}
	}
}

// bytes returns the file.
func (s *source) bytes() []byte {
	b := make([]byte, s.file.Size())
	s.file.Reader.ReadAt(b, 0)
	return b
}

// TestTakeRefuses makes sure that what cannot be copied is an error before anything is written.
func TestTakeRefuses(t *testing.T) {
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 0, 0), 50, randomEntries(t, rnd), formats()...)
	for name, c := range map[string]struct {
		change func(*Chunk)
		to     column.Type
		want   error
	}{
		"page behind the end": {func(c *Chunk) { c.Pages[0].Locator.Offset = 1 << 40 },
			column.SplitReal64, frame.ErrCorrupt},
		"numbers as a Switch": {func(c *Chunk) { c.Level = Reseal }, column.Switch, frame.ErrUnsupported},
		"shift of real numbers": {func(c *Chunk) { c.Level, c.Shift = Reseal, []uint64{1} },
			column.SplitReal64, frame.ErrUnsupported},
		"shift to real numbers": {func(c *Chunk) {
			*c = src.chunk(t, 0, 4, Reseal)
			c.Shift = []uint64{1}
		}, column.SplitReal64, frame.ErrUnsupported},
		"shift of numbers to tags": {func(c *Chunk) { c.Level, c.Shift = Reseal, []uint64{1} },
			column.Switch, frame.ErrUnsupported},
	} {
		o := newOutput(context.Background(), small(1, 0, 0), pagetest.Of(c.to))
		chunk := src.chunk(t, 0, 0, Copy)
		chunk.Pages = slices.Clone(chunk.Pages)
		c.change(&chunk)
		copier := NewCopier(context.Background(), o.Sink)
		err := copier.Take(1, []Column{{Chunks: []Chunk{chunk}}})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), `the source: field "x0": `) || o.Err() != err ||
			len(o.file.Sizes) > 0 {
			t.Errorf("%s: error %v", name, err)
		}
		if again := copier.Take(1, []Column{{}}); again != err {
			t.Errorf("%s: then %v", name, again)
		}
	}
}

// TestBackground makes sure that with several workers Take does not wait for the source, and that
// Wait does.
func TestBackground(t *testing.T) {
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 0, 0), 50, randomEntries(t, rnd), formats()...)
	for level := Clone; level <= Reseal; level++ {
		synctest.Test(t, func(t *testing.T) {
			src.file.gate = make(chan struct{})
			o := newOutput(t.Context(), small(20, 0, 0), formats()[0])
			waited := make(chan error, 1)
			err := NewCopier(t.Context(), o.Sink).Take(50, []Column{{Chunks: []Chunk{src.chunk(t, 0, 0, level)}}})
			go func() { waited <- o.Wait() }()
			synctest.Wait()
			if len(waited) > 0 || err != nil {
				t.Errorf("%v: the source has not been read yet: %v", level, err)
			}
			close(src.file.gate)
			if err := <-waited; err != nil {
				t.Error(err)
			}
			if bits, _ := pagetest.Values(o.finish(t), 0); !slices.Equal(bits, src.read[0].Columns[0].Bits) {
				t.Errorf("%v: the elements differ", level)
			}
		})
	}
	src.file.gate = nil
}

// TestShift adds numbers to offsets and to the indexes of tags.
func TestShift(t *testing.T) {
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 101, 0), 200, randomEntries(t, rnd), formats()...)
	const split, index, tags = 4, 5, 6
	take := func(column int, to column.Type, shift ...uint64) ([]uint64, []uint32, error) {
		o := newOutput(context.Background(), small(1, 101, 0), pagetest.Of(to))
		chunk := src.chunk(t, 0, column, Reseal)
		chunk.Shift = shift
		copier := NewCopier(context.Background(), o.Sink)
		if err := errors.Join(copier.Take(1, []Column{{Chunks: []Chunk{chunk}}}), o.Wait()); err != nil {
			return nil, nil, err
		}
		bits, tags := pagetest.Values(o.finish(t), 0)
		return bits, tags, nil
	}
	for _, from := range []int{split, index} {
		for _, to := range []column.Type{column.SplitIndex64, column.Index64, column.SplitUInt64} {
			for _, shift := range []uint64{0, 1, 1 << 40} {
				bits, _, err := take(from, to, shift)
				if err != nil {
					t.Fatal(err)
				}
				for i, b := range src.read[0].Columns[from].Bits {
					if bits[i] != b+shift {
						t.Fatalf("element %d: got %d, want %d and %d", i, bits[i], b, shift)
					}
				}
			}
		}
		greatest := src.read[0].Columns[from].Bits
		last := greatest[len(greatest)-1]
		if bits, _, err := take(from, column.UInt64, math.MaxUint64-last); err != nil || bits[len(bits)-1] != math.MaxUint64 {
			t.Errorf("the greatest shift: %v", err)
		}
		if _, _, err := take(from, column.UInt64, math.MaxUint64-last+1); !errors.Is(err, column.ErrRange) {
			t.Errorf("a shift that is too great: %v", err)
		}
	}
	was := src.read[0].Columns[tags]
	bits, got, err := take(tags, column.Switch, 100, 10_000)
	if err != nil || !slices.Equal(got, was.Tags) {
		t.Fatalf("tags differ: %v", err)
	}
	for i, tag := range was.Tags {
		if want := was.Bits[i] + []uint64{0, 100, 10_000}[tag]; bits[i] != want {
			t.Fatalf("element %d with the tag %d: index %d, want %d", i, tag, bits[i], want)
		}
	}
	if _, _, err := take(tags, column.Switch, 100); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), "tag 2 of 1") {
		t.Errorf("a tag without alternative: %v", err)
	}
}

// TestZeros appends zeros to columns of all formats, in front of pages and without.
func TestZeros(t *testing.T) {
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 0, 0), 200, randomEntries(t, rnd), formats()...)
	for i, f := range formats() {
		zero := uint64(0)
		if f.Type == column.Real32Quant {
			zero = 128 // 0 is 127.5 of the 255 steps from -4 to 4
		}
		for _, level := range []Level{Clone, Reseal} {
			for _, n := range []int64{1, 511, 512, 513, 3000} {
				for _, pages := range []bool{false, true} {
					o := newOutput(context.Background(), small(1, 0, 0), f)
					chunk := Chunk{Fail: func(err error) error { return err }}
					want := slices.Repeat([]uint64{zero}, int(n))
					if pages {
						chunk = src.chunk(t, 0, i, level)
						want = append(want, src.read[0].Columns[i].Bits...)
					}
					chunk.Zeros = n
					if err := NewCopier(context.Background(), o.Sink).Take(1, []Column{{Chunks: []Chunk{chunk}}}); err != nil {
						t.Fatal(err)
					}
					c := o.finish(t)[0].Columns[0]
					if !slices.Equal(c.Bits, want) {
						t.Errorf("%v: %d zeros differ", f.Type, n)
					}
					for left, p := n, 0; left > 0; p++ {
						got, most := int64(c.Pages[p].NumElements), max(1, 512*8/int64(max(8, f.Bits)))
						if got != min(left, most) {
							t.Fatalf("%v, %d zeros: page %d has %d, want %d", f.Type, n, p, got, min(left, most))
						}
						left -= got
					}
				}
			}
		}
	}
	o := newOutput(context.Background(), small(1, 0, 0),
		envelope.Column{Type: column.Real32Quant, Bits: 8, Min: 1, Max: 4})
	chunk := Chunk{Chunk: pagesource.Chunk{Zeros: 1},
		Fail: func(err error) error { return fmt.Errorf("the source: %w", err) }}
	err := errors.Join(NewCopier(context.Background(), o.Sink).Take(1, []Column{{Chunks: []Chunk{chunk}}}), o.Wait())
	if !errors.Is(err, column.ErrRange) || !strings.Contains(err.Error(), `the source: zeros: field "x0"`) {
		t.Errorf("zeros in a column without zero: %v", err)
	}
}

// TestBounds makes sure that the bounds of a cluster are those of its elements if they are read,
// and otherwise those that are given.
func TestBounds(t *testing.T) {
	rnd := sampletest.Rand(t)
	const reals = 0
	src := newSource(t, small(1, 0, 0), 200, func(s *pagesink.Sink, columns []*schema.Column) func() {
		return adds(t, s, columns[reals], func() float64 { return 2 + rnd.Float64() }) // without zero
	}, formats()[reals])
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, b := range src.read[0].Columns[reals].Bits {
		least, greatest = min(least, math.Float64frombits(b)), max(greatest, math.Float64frombits(b))
	}
	exact, wide := bounds.Floats(least, greatest, false), bounds.Floats(-10, 10, false)
	zeros := func(kind zonemap.Kind) Chunk {
		return Chunk{Chunk: pagesource.Chunk{Zeros: 5}, Bounds: zonemap.Bounds{Kind: kind},
			Fail: func(err error) error { return err }}
	}
	for level := Clone; level <= Reseal; level++ {
		given := func(b zonemap.Bounds, zeros int64) Chunk {
			c := src.chunk(t, 0, reals, level)
			c.Bounds, c.Zeros = b, zeros
			return c
		}
		found, twice := exact, exact
		if level <= Copy {
			found, twice = wide, bounds.Floats(-10, 30, false)
		}
		nothing := zonemap.Bounds{}
		zero := bounds.Floats(0, 0, false)
		for name, c := range map[string]struct {
			chunks []Chunk
			want   zonemap.Bounds
		}{
			"known":             {[]Chunk{given(wide, 0)}, found},
			"unknown":           {[]Chunk{given(nothing, 0)}, nothing},
			"known and unknown": {[]Chunk{given(wide, 0), given(nothing, 0)}, nothing},
			"known, twice":      {[]Chunk{given(wide, 0), given(bounds.Floats(20, 30, false), 0)}, twice},
			"zeros":             {[]Chunk{zeros(zonemap.Float)}, zero},
			"zeros and pages":   {[]Chunk{given(wide, 3)}, found.Join(zero)},
			"zeros, then pages": {[]Chunk{zeros(zonemap.Float), given(wide, 0)}, found.Join(zero)},
			"another kind":      {[]Chunk{zeros(zonemap.Int), given(wide, 0)}, nothing},
		} {
			o := newOutput(context.Background(), small(3, 101, 0), formats()[reals])
			o.Track(0)
			var got []zonemap.Bounds
			o.Written = func(_ envelope.Cluster, _ []envelope.ColumnPages, found []zonemap.Bounds) error {
				got = append(got, found...)
				return nil
			}
			if err := NewCopier(context.Background(), o.Sink).Take(1, []Column{{Chunks: c.chunks}}); err != nil {
				t.Fatal(err)
			}
			if o.finish(t); len(got) != 1 || got[0] != c.want {
				t.Errorf("%v, %s: bounds %v, want %v", level, name, got, c.want)
			}
		}
	}
}

// TestSuppressed copies clusters in which one or the other representation has the elements.
func TestSuppressed(t *testing.T) {
	rnd := sampletest.Rand(t)
	src := newSource(t, small(1, 0, 0), 3000, randomEntries(t, rnd), formats()...)
	o := newOutput(context.Background(), small(1, 0, 0))
	o.columns = pagetest.Columns(formats()[0], formats()[0])
	o.columns[1].Owner, o.columns[1].Representation = o.columns[0].Owner, 1
	o.columns[0].Owner.Columns = [][]*schema.Column{{o.columns[0]}, {o.columns[1]}}
	o.AddColumns(o.columns)
	copier := NewCopier(context.Background(), o.Sink)
	var want []uint64
	for i := range src.clusters {
		given := []Column{{Suppressed: true}, {Suppressed: true}}
		given[i%2] = Column{Chunks: []Chunk{src.chunk(t, i, 0, Copy)}}
		if err := copier.Take(1, given); err != nil {
			t.Fatal(err)
		}
		want = append(want, src.read[i].Columns[0].Bits...)
	}
	clusters := o.finish(t)
	for i, c := range clusters {
		if c.Columns[0].IsSuppressed() != (i%2 == 1) || c.Columns[1].IsSuppressed() != (i%2 == 0) {
			t.Errorf("cluster %d: suppressed %v and %v", i, c.Columns[0].IsSuppressed(), c.Columns[1].IsSuppressed())
		}
	}
	if bits, _ := pagetest.Values(clusters, 0, 1); !slices.Equal(bits, want) || len(clusters) < 2 {
		t.Errorf("the elements of %d clusters differ", len(clusters))
	}
}
