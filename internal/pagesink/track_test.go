package pagesink

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// TestTrack compares the bounds that Written is told of with those of the elements in the file.
// They must be those of the elements as they are read, which some columns round.
func TestTrack(t *testing.T) {
	rnd := sampletest.Rand(t)
	descriptions := []envelope.Column{
		pagetest.Of(column.SplitReal64), pagetest.Of(column.Real32), pagetest.Of(column.Real32),
		{Type: column.Real32Trunc, Bits: 14}, {Type: column.Real32Quant, Bits: 5, Min: -4, Max: 4},
		pagetest.Of(column.Int16), pagetest.Of(column.SplitUInt64), pagetest.Of(column.Bit),
		pagetest.Of(column.SplitIndex64), pagetest.Of(column.Index32), pagetest.Of(column.Real64), pagetest.Of(column.Switch),
	}
	const ends, plain, tags = 8, 10, 11 // plain is not tracked
	for _, workers := range []int{1, 3} {
		for _, compression := range []compress.Settings{0, 101} {
			file := &pagetest.File{}
			set := settings(workers, compression)
			set.ZippedCluster, set.MaxPage = 4000, 512
			s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 3)
			columns := pagetest.Columns(descriptions...)
			for i := range columns[:6] {
				s.Track(columns[i].ID) // before it is added
			}
			s.AddColumns(columns)
			for i := range columns[6:] {
				if i+6 != plain {
					s.Track(columns[i+6].ID)
				}
			}
			var found [][]zonemap.Bounds
			next := uint64(0)
			s.Written = func(c envelope.Cluster, lists []envelope.ColumnPages, b []zonemap.Bounds) error {
				if c.FirstEntry != next || len(lists) != len(columns) || len(lists[0].Pages) == 0 {
					t.Errorf("cluster of the entries from %d on, want %d; %d columns", c.FirstEntry, next, len(lists))
				}
				next += c.NumEntries
				found = append(found, b)
				return nil
			}
			nan := func() float64 {
				if rnd.IntN(3000) == 0 {
					return math.NaN()
				}
				return rnd.NormFloat64()
			}
			var total uint64
			push := []func(){
				pushOf(t, s, 0, nan),
				pushOf(t, s, 1, func() float32 { return float32(nan()) }),
				pushOf(t, s, 2, nan), // converted
				pushOf(t, s, 3, func() float32 { return float32(nan()) }),
				pushOf(t, s, 4, rnd.Float64),
				pushOf(t, s, 5, func() int16 { return int16(rnd.IntN(1000) - 500) }),
				pushOf(t, s, 6, func() uint64 { return rnd.Uint64() | rnd.Uint64() }),
				pushOf(t, s, 7, func() bool { return s.Entries() > 1000 && rnd.IntN(2) == 0 }),
				pushOf(t, s, ends, func() uint64 { return total }),
				pushOf(t, s, 9, func() uint64 { return total }),
				pushOf(t, s, plain, nan),
				pushOf(t, s, tags, func() column.Tagged { return column.Tagged{Index: total, Tag: 1} }),
			}
			first := int64(0)
			for range 3000 {
				if c, _ := s.GroupSize(); int64(c) > first {
					first, total = int64(c), 0
				}
				total += 1 + rnd.Uint64N(4)
				for _, p := range push {
					p()
				}
				if err := s.EndEntries(1); err != nil {
					t.Fatal(err)
				}
				if workers > 1 && s.filled == 0 { // the number of clusters is not known yet
					s.Wait()
				}
			}
			clusters := finish(t, s, file, columns)
			if len(found) != len(clusters) || len(clusters) < 4 {
				t.Fatalf("Written was told of %d clusters of %d", len(found), len(clusters))
			}
			for i, c := range clusters {
				for j, col := range c.Columns {
					want := slowBounds(descriptions[j], col.Bits)
					if j == plain || j == tags {
						want = zonemap.Bounds{}
					}
					if found[i][j] != want {
						t.Errorf("cluster %d, column %d of type %v: bounds %v, want %v", i, j, descriptions[j].Type, found[i][j], want)
					}
				}
			}
		}
	}
}

// pushOf returns a function that adds an element to a column.
func pushOf[T column.Element](t *testing.T, s *Sink, i int, next func() T) func() {
	t.Helper()
	b, err := NewBuffer[T](s, s.columns[i].column)
	if err != nil {
		t.Fatal(err)
	}
	return func() { b.Add(next()) }
}

// slowBounds returns the bounds of the elements of a column in a cluster, by their bits.
func slowBounds(c envelope.Column, all []uint64) zonemap.Bounds {
	kind := map[column.Type]zonemap.Kind{
		column.Int16: zonemap.Int, column.SplitUInt64: zonemap.Uint, column.Bit: zonemap.Bool,
		column.SplitIndex64: zonemap.Size, column.Index32: zonemap.Size,
	}[c.Type]
	if kind == 0 {
		kind = zonemap.Float
	}
	b, last := bounds.None(kind), uint64(0)
	for _, v := range all {
		one := zonemap.Bounds{Kind: kind, Least: v, Greatest: v}
		switch c.Type {
		case column.SplitIndex64, column.Index32:
			one.Least, one.Greatest, last = v-last, v-last, v
		case column.Int16:
			one = bounds.Ints(int64(int16(v)), int64(int16(v)))
		case column.SplitReal64:
			one = ofFloat(math.Float64frombits(v))
		case column.Real32:
			one = ofFloat(float64(math.Float32frombits(uint32(v))))
		case column.Real32Trunc:
			one = ofFloat(float64(math.Float32frombits(uint32(v << (32 - c.Bits)))))
		case column.Real32Quant:
			one = ofFloat(c.Min + float64(v)*(c.Max-c.Min)/float64(uint64(1)<<c.Bits-1))
		}
		b = b.Join(one)
	}
	return b
}

func ofFloat(v float64) zonemap.Bounds {
	if v != v {
		return zonemap.Bounds{Kind: zonemap.Float, Empty: true, NaN: true}
	}
	return bounds.Floats(v, v, false)
}

// TestWritten makes sure that an error of Written is that of the sink, that Written is not called
// after an error, and that nothing is kept for it if no column is tracked.
func TestWritten(t *testing.T) {
	errWritten := errors.New("zone map")
	for _, track := range []bool{false, true} {
		for _, fail := range []int{0, 1, 2} {
			calls := 0
			s := newGroupSink(t, &pagetest.File{}, 0)
			if track {
				s.Track(0)
			}
			s.Written = func(envelope.Cluster, []envelope.ColumnPages, []zonemap.Bounds) error {
				if calls++; calls == fail {
					return errWritten
				}
				return nil
			}
			var err error
			for range 3 {
				s.column.Add(1)
				err = errors.Join(err, s.EndEntries(1), s.CommitCluster())
			}
			want := 0
			if track {
				want = 3
				if fail > 0 {
					want = fail
				}
			}
			if calls != want || (err != nil) != (track && fail > 0) || err != nil && !errors.Is(err, errWritten) {
				t.Errorf("tracked %v, failure at call %d: %d calls, error %v", track, fail, calls, err)
			}
		}
	}
}

// TestTrackForks makes sure that forks track what their sink does, and that the sink tells of
// their clusters in the order of the file, until Written fails.
func TestTrackForks(t *testing.T) {
	errWritten := errors.New("zone map")
	for _, fail := range []int{0, 1, 3} { // the call that fails
		file := &pagetest.File{}
		s := newGroupSink(t, file, 0)
		s.Track(0)
		var found []zonemap.Bounds
		s.Written = func(c envelope.Cluster, _ []envelope.ColumnPages, b []zonemap.Bounds) error {
			if c.FirstEntry != uint64(len(found)) {
				t.Errorf("cluster of the entries from %d on, want %d", c.FirstEntry, len(found))
			}
			if found = append(found, b[0]); len(found) == fail {
				return errWritten
			}
			return nil
		}
		for _, ticket := range []int{3, 0, 4, 2, 1} {
			f := s.Fork()
			b, err := NewBuffer[float64](f, f.Column(0))
			if err != nil {
				t.Fatal(err)
			}
			f.Begin(int64(ticket))
			b.Add(float64(ticket))
			if err := errors.Join(f.EndEntries(1), f.End()); err != nil {
				t.Fatal(err)
			}
			f.Release()
		}
		want := 5
		if fail == 0 {
			finish(t, s.Sink, file, doubles(1))
		} else if want = fail; !errors.Is(s.CommitClusterGroup(), errWritten) {
			t.Errorf("failure at call %d: error %v", fail, s.Err())
		}
		for i, b := range found {
			if want := bounds.Floats(float64(i), float64(i), false); b != want {
				t.Errorf("cluster %d has the bounds %v, want %v", i, b, want)
			}
		}
		if len(found) != want {
			t.Errorf("failure at call %d: %d clusters", fail, len(found))
		}
	}
}
