package pagesink

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A pusher pushes random elements to a column, and keeps the bits that the file must have.
type pusher interface {
	push(rnd *rand.Rand, n int)
	pushed() *pushed
}

type pushed struct {
	bits []uint64
	tags []uint32
}

type pusherOf[T column.Element] struct {
	buffer *Buffer[T]
	random func(rnd *rand.Rand) (v T, bits uint64)
	all    pushed
}

func newPusher[T column.Element](t *testing.T, s *Sink, c *schema.Column, random func(*rand.Rand) (T, uint64)) pusher {
	t.Helper()
	b, err := NewBuffer[T](s, c)
	if err != nil {
		t.Fatal(err)
	}
	return &pusherOf[T]{buffer: b, random: random}
}

func (p *pusherOf[T]) pushed() *pushed { return &p.all }

// push pushes n elements, in one of the ways that there are.
func (p *pusherOf[T]) push(rnd *rand.Rand, n int) {
	values := make([]T, n)
	for i := range values {
		v, bits := p.random(rnd)
		values[i], p.all.bits = v, append(p.all.bits, bits)
		if tagged, ok := any(v).(column.Tagged); ok {
			p.all.tags = append(p.all.tags, tagged.Tag)
		}
	}
	switch rnd.IntN(4) {
	case 0:
		for _, v := range values {
			if !p.buffer.Push(v) {
				p.buffer.Add(v)
			}
		}
	case 1:
		for len(values) > 0 {
			next := p.buffer.Next(len(values))
			if len(next) == 0 {
				panic("Next must return an element")
			}
			values = values[copy(next, values):]
		}
	default:
		p.buffer.AddAll(values)
	}
}

// A maker returns a pusher for a column.
type maker = func(*testing.T, *Sink, *schema.Column) pusher

// numbers returns what makes pushers of integers of a width in bits.
func numbers[T int16 | int64 | uint8 | uint32](width int) maker {
	return func(t *testing.T, s *Sink, c *schema.Column) pusher {
		return newPusher(t, s, c, func(rnd *rand.Rand) (T, uint64) {
			v := T(rnd.Uint64())
			return v, uint64(v) << (64 - width) >> (64 - width)
		})
	}
}

// formats returns descriptions of columns, and for each a function that returns a pusher.
func formats() (all []envelope.Column, make []maker) {
	add := func(c envelope.Column, f maker) {
		all, make = append(all, c), append(make, f)
	}
	add(pagetest.Of(column.SplitReal64), func(t *testing.T, s *Sink, c *schema.Column) pusher {
		return newPusher(t, s, c, func(rnd *rand.Rand) (float64, uint64) {
			v := rnd.NormFloat64()
			return v, math.Float64bits(v)
		})
	})
	add(pagetest.Of(column.Real64), func(t *testing.T, s *Sink, c *schema.Column) pusher { // pages of zeros are equal
		return newPusher(t, s, c, func(rnd *rand.Rand) (float64, uint64) { return 0, 0 })
	})
	add(pagetest.Of(column.Real32), func(t *testing.T, s *Sink, c *schema.Column) pusher { // converted
		return newPusher(t, s, c, func(rnd *rand.Rand) (float64, uint64) {
			v := float32(rnd.IntN(100))
			return float64(v), uint64(math.Float32bits(v))
		})
	})
	add(pagetest.Of(column.SplitReal32), func(t *testing.T, s *Sink, c *schema.Column) pusher {
		return newPusher(t, s, c, func(rnd *rand.Rand) (float32, uint64) { return 0, 0 })
	})
	add(envelope.Column{Type: column.Real32Trunc, Bits: 16}, func(t *testing.T, s *Sink, c *schema.Column) pusher {
		return newPusher(t, s, c, func(rnd *rand.Rand) (float32, uint64) {
			v := rnd.Float32()
			return v, uint64(math.Float32bits(v) >> 16)
		})
	})
	add(pagetest.Of(column.Bit), func(t *testing.T, s *Sink, c *schema.Column) pusher {
		return newPusher(t, s, c, func(rnd *rand.Rand) (bool, uint64) {
			n := rnd.IntN(2)
			return n == 1, uint64(n)
		})
	})
	add(pagetest.Of(column.UInt8), numbers[uint8](8))
	add(pagetest.Of(column.SplitInt16), numbers[int16](16))
	add(pagetest.Of(column.SplitInt64), numbers[int64](64))
	add(pagetest.Of(column.UInt32), numbers[uint32](32))
	add(pagetest.Of(column.Switch), func(t *testing.T, s *Sink, c *schema.Column) pusher {
		return newPusher(t, s, c, func(rnd *rand.Rand) (column.Tagged, uint64) {
			v := column.Tagged{Index: rnd.Uint64N(1000), Tag: rnd.Uint32N(3)}
			return v, v.Index
		})
	})
	return all, make
}

// finish returns what a sink has written.
func finish(t *testing.T, s *Sink, file *pagetest.File, columns []*schema.Column) []pagetest.Cluster {
	t.Helper()
	if err := s.CommitClusterGroup(); err != nil {
		t.Fatal(err)
	}
	r := pagetest.Reader{File: file.Bytes, Columns: columns, Sums: s.HeaderChecksum(), MaxKeySize: s.Settings().MaxKeySize}
	return r.Clusters(t, s.Groups())
}

// check compares what was pushed with what was read.
func (p *pushed) check(t *testing.T, what any, clusters []pagetest.Cluster, columns ...int) {
	t.Helper()
	bits, tags := pagetest.Values(clusters, columns...)
	if !slices.Equal(bits, p.bits) || !slices.Equal(tags, p.tags) {
		t.Errorf("%v: %d elements differ from the %d that were pushed", what, len(bits), len(p.bits))
	}
}

// TestRoundTrip pushes random elements, and reads them. Of columns some are added later, and
// one field changes its representation.
func TestRoundTrip(t *testing.T) {
	rnd := sampletest.Rand(t)
	for _, workers := range []int{1, 3} {
		for _, compression := range []compress.Settings{0, 101, 505} {
			for _, keySize := range []uint64{0, 3000} {
				for mode := range 4 {
					set := Settings{
						Compression: compression, ZippedCluster: 25_000, UnzippedCluster: 100_000,
						MaxPage: 1 << (9 + rnd.IntN(6)), PageBudget: 1 << (13 + rnd.IntN(6)), MaxKeySize: keySize,
						NoChecksums: mode&1 != 0, NoSharing: mode&2 != 0, Workers: workers,
					}
					t.Run(fmt.Sprintf("%+v", set), func(t *testing.T) { roundTrip(t, set, rnd) })
				}
			}
		}
	}
}

func roundTrip(t *testing.T, set Settings, rnd *rand.Rand) {
	descriptions, makers := formats()
	n := len(descriptions)
	for _, more := range []column.Type{column.Real32, column.SplitReal64, column.SplitIndex64} {
		descriptions = append(descriptions, pagetest.Of(more))
	}
	columns := pagetest.Columns(descriptions...)
	two, offsets := columns[n:n+2], columns[n+2]
	two[1].Owner, two[1].Representation = two[0].Owner, 1 // the field's second representation
	two[0].Owner.Columns = [][]*schema.Column{{two[0]}, {two[1]}}

	file := &pagetest.File{}
	s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, rnd.Uint64())
	late := rnd.IntN(n) // the column from which on they are added later
	var pushers []pusher
	order := append(slices.Clone(columns[n:]), columns[:n]...) // by ID
	for i, c := range order {
		c.ID = schema.ColumnID(i)
	}
	s.AddColumns(order[:3+late])
	for i := range late {
		pushers = append(pushers, makers[i](t, s, columns[i]))
	}
	var floats [2]*Buffer[float64]
	for i, c := range two {
		floats[i], _ = NewBuffer[float64](s, c)
	}
	ends, err := NewBuffer[uint64](s, offsets)
	if err != nil {
		t.Fatal(err)
	}
	total := s.Counter()
	var sizes []uint64
	var values []float64
	active, entries := 0, int64(0)
	for step := range 40 {
		if step == 20 {
			for _, c := range columns[late:n] {
				c.FirstElement = rnd.Int64N(100)
			}
			s.AddColumns(order)
			for i := late; i < n; i++ {
				pushers = append(pushers, makers[i](t, s, columns[i]))
			}
		}
		if step%7 == 6 {
			if err := errors.Join(s.EndCluster(), s.Wait()); err != nil {
				t.Fatal(err)
			}
			for i, p := range pushers {
				if got, want := s.Elements(columns[i]), columns[i].FirstElement+int64(len(p.pushed().bits)); got != want {
					t.Errorf("column %v has %d elements, want %d", columns[i], got, want)
				}
			}
			active = 1 - active
			s.Activate(two[0].Owner, active)
		}
		if step%11 == 10 {
			if err := s.CommitClusterGroup(); err != nil {
				t.Fatal(err)
			}
			if clusters, pages := s.GroupSize(); clusters != 0 || pages != 0 {
				t.Errorf("%d clusters with %d pages in a new group", clusters, pages)
			}
		}
		k := int64(1 + rnd.IntN(3))
		for _, p := range pushers {
			p.push(rnd, rnd.IntN(1+rnd.IntN(300)))
		}
		for range k {
			v := float64(rnd.IntN(1 << 20))
			floats[active].Add(v)
			values = append(values, v)
			size := rnd.Uint64N(5)
			*total += size
			ends.Add(*total)
			sizes = append(sizes, size)
		}
		if entries += k; s.EndEntries(k) != nil || s.Entries() != entries {
			t.Fatalf("%d entries, want %d: %v", s.Entries(), entries, s.Err())
		}
	}
	clusters := finish(t, s, file, order)
	waiting := 5*int64(set.Workers) + int64(len(columns)) // pages, for which there is up to twice the memory
	if held, limit := s.budget.held, set.PageBudget+waiting*max(initialPage, set.MaxPage)*2; held > limit {
		t.Errorf("%d bytes of memory for pages, the limit is %d", held, limit)
	}
	for i, p := range pushers {
		p.pushed().check(t, columns[i], clusters, int(columns[i].ID))
	}
	if got := s.Elements(&schema.Column{ID: schema.ColumnID(len(columns))}); got != 0 {
		t.Errorf("%d elements in a column that has not been added", got)
	}
	size, reps, compressed := uint64(0), map[bool]int{}, set.Compression.Level() > 0
	for _, c := range clusters {
		size += uint64(c.CheckSharing(t, !set.NoSharing && !set.NoChecksums))
		next := uint64(0)
		for id, col := range c.Columns {
			for j, p := range col.Pages {
				if p.HasChecksum == set.NoChecksums || col.Compression != uint32(set.Compression) {
					t.Fatalf("%v: %+v", s.Column(schema.ColumnID(id)), p)
				}
				if order[id] == columns[0] && int64(p.NumElements) > set.MaxPage/8 {
					t.Fatalf("page %d of %d elements", j, p.NumElements)
				}
				zeros := order[id] == columns[1] && p.NumElements > 8 // they are compressed to less
				plain := uint64(order[id].Format().PageSize(p.NumElements))
				if smaller := p.Locator.Size < plain; zeros && smaller != compressed || smaller && !compressed {
					t.Fatalf("%v: a page of %d bytes, %d before compression", order[id], p.Locator.Size, plain)
				}
				if set.MaxKeySize == 0 && p.Locator.Offset >= next {
					next = p.Locator.Offset + p.StoredSize()
				} else if set.MaxKeySize == 0 && (set.NoSharing || set.NoChecksums) {
					t.Fatalf("the pages of %v come before others", s.Column(schema.ColumnID(id)))
				}
			}
		}
		if c.Columns[0].IsSuppressed() == c.Columns[1].IsSuppressed() {
			t.Fatal("both representations are suppressed, or none")
		}
		reps[c.Columns[0].IsSuppressed()]++
		end := uint64(0)
		for i, e := range c.Columns[2].Bits {
			if e-end != sizes[i] {
				t.Fatalf("entry %d of the cluster has %d items, want %d", i, e-end, sizes[i])
			}
			end = e
		}
		sizes = sizes[c.NumEntries:]
		for i, v := range values[:c.NumEntries] {
			want, column := uint64(math.Float32bits(float32(v))), c.Columns[0]
			if column.IsSuppressed() {
				want, column = math.Float64bits(v), c.Columns[1]
			}
			if column.Bits[i] != want {
				t.Fatalf("the field has the bits %#x, want %#x", column.Bits[i], want)
			}
		}
		values = values[c.NumEntries:]
	}
	if len(values) > 0 || reps[false] == 0 || reps[true] == 0 {
		t.Errorf("%d values are missing; clusters by representation: %v", len(values), reps)
	}
	for _, g := range s.Groups() {
		size += g.PageList.Locator.Size
	}
	if n := uint64(len(file.Bytes)); n < size || n > size && set.MaxKeySize == 0 {
		t.Errorf("the file has %d bytes, pages and page lists have %d", n, size)
	}
	for _, n := range file.Sizes {
		if set.MaxKeySize > 0 && uint64(n) > set.MaxKeySize {
			t.Errorf("payload of %d bytes", n)
		}
	}
	s.Release()
	if s.budget.held != 0 || s.spare != nil || s.workers.free != nil || s.current.arena.total != 0 {
		t.Errorf("memory after Release: %d bytes, %d arenas, %d buffers", s.budget.held, len(s.spare), len(s.workers.free))
	}
}

// TestReleaseFailed makes sure that a sink which has failed gives back the memory of pages that
// are not full.
func TestReleaseFailed(t *testing.T) {
	s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(1, 0), 1)
	columns := doubles(3)
	s.AddColumns(columns)
	if err := fillSome(s, columns, 5); err != nil {
		t.Fatal(err)
	}
	s.Fail(errors.New("failed"))
	if s.budget.held == 0 {
		t.Fatal("no memory is in use")
	}
	if s.Release(); s.budget.held != 0 {
		t.Errorf("%d bytes are in use", s.budget.held)
	}
}

// TestPayloads makes sure that the pages of a cluster make as few payloads as fit.
func TestPayloads(t *testing.T) {
	for _, c := range []struct {
		keySize uint64
		want    []int // but for the page list
	}{
		{0, []int{5 * 808}},
		{5 * 808, []int{5 * 808}},
		{5*808 - 1, []int{4 * 808, 808}},
		{2 * 808, []int{2 * 808, 2 * 808, 808}},
		{808, []int{808, 808, 808, 808, 808}},
		{800, slices.Repeat([]int{16, 800}, 5)}, // the first chunk, of 792 bytes and the offset of the second, comes last
	} {
		file := &pagetest.File{}
		set := settings(1, 0)
		set.MaxKeySize = c.keySize
		s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 1)
		columns := doubles(5)
		s.AddColumns(columns)
		for i, col := range columns {
			b, _ := NewBuffer[float64](s, col)
			for j := range 100 {
				b.Add(float64(100*i + j))
			}
		}
		s.EndEntries(1)
		if err := s.CommitCluster(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(file.Sizes, c.want) {
			t.Errorf("key size %d: payloads of %d bytes, want %d", c.keySize, file.Sizes, c.want)
		}
		for i, got := range finish(t, s, file, columns)[0].Columns {
			if len(got.Bits) != 100 || got.Bits[99] != math.Float64bits(float64(100*i+99)) {
				t.Errorf("key size %d: column %d differs", c.keySize, i)
			}
		}
	}
}

// TestFailures has each payload fail, one after the other. The error must be that of everything
// that follows, nothing must be written after it, and no group may have the cluster.
func TestFailures(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, keySize := range []uint64{0, 1500} {
			calls := 0 // without a failure
			for at := 0; at <= calls; at++ {
				file := &pagetest.File{FailAt: at}
				set := settings(workers, 0)
				set.ZippedCluster, set.MaxPage, set.MaxKeySize = 10_000, 2048, keySize
				s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 1)
				err := fill(s, doubles(3), 1500)
				if at == 0 {
					calls = len(file.Sizes)
					if err != nil || calls < 4 {
						t.Fatalf("%d payloads: %v", calls, err)
					}
					continue
				}
				for i, e := range []error{
					err, s.CommitCluster(), s.EndEntries(1), s.CommitClusterGroup(), s.Checkpoint(),
					s.AppendCluster(1, nil, nil), s.EndForks(),
				} {
					if !errors.Is(e, pagetest.ErrFull) {
						t.Errorf("failure at payload %d of %d: call %d has the error %v", at, calls, i, e)
					}
				}
				if len(file.Sizes) != at || len(s.Groups()) > 0 {
					t.Errorf("failure at payload %d of %d: %d calls, %d groups", at, calls, len(file.Sizes), len(s.Groups()))
				}
			}
		}
	}
}

// TestEncodeError has an element that its column cannot hold. The error names the field, and
// nothing of the cluster is written.
func TestEncodeError(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, compression := range []compress.Settings{0, 101} {
			file := &pagetest.File{}
			s := NewSink(context.Background(), &Output{Blob: file.Blob}, settings(workers, compression), 1)
			s.AddColumns(pagetest.Columns(pagetest.Of(column.Real64), pagetest.Of(column.Int32)))
			good, err1 := NewBuffer[float64](s, s.Column(0))
			bad, err2 := NewBuffer[int64](s, s.Column(1))
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			good.Add(1)
			bad.AddAll([]int64{1, 1 << 31})
			err := errors.Join(s.EndEntries(1), s.CommitCluster())
			if !errors.Is(err, column.ErrRange) || len(file.Sizes) > 0 {
				t.Errorf("%d payloads, error %v", len(file.Sizes), err)
			}
			if want := `field "x1"`; err == nil || !contains(err, want) {
				t.Errorf("error %v, want %s", err, want)
			}
			if _, err := NewBuffer[column.Tagged](s, s.Column(0)); err == nil || !contains(err, `field "x0"`) {
				t.Errorf("a buffer for elements of another kind: %v", err)
			}
		}
	}
}
