package pagesource

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A sheet is a tuple with columns of many kinds, and what they hold.
type sheet struct {
	*tuple
	probes []probe
}

// addedAt is the entry at which the last field of a sheet was added, in the midst of a cluster.
const addedAt = 14

// sizes are the numbers of entries of the clusters of a sheet; the first two make a group.
var sizes = []int{10, 30, 5, 0, 17}

// newSheet returns a sheet whose pages are compressed, or not.
func newSheet(t testing.TB, zipped bool) *sheet {
	t.Helper()
	i := &schema.FieldDocument{Name: "i", Type: "std::int32_t", Columns: [][]schema.ColumnDocument{
		{{Type: "SplitInt32", Bits: 32}}, {{Type: "Int32", Bits: 32}},
	}}
	s := schemaOf(t, []*schema.FieldDocument{
		i,
		{Name: "f", Type: "double"},
		{Name: "b", Type: "bool"},
		{Name: "v", Type: "std::vector<std::int16_t>"},
		{Name: "w", Type: "std::vector<float>"},
		{Name: "s", Type: "std::string"},
		{Name: "a", Type: "std::array<std::int32_t,3>"},
		{Name: "t", Type: "std::bitset<5>"},
		{Name: "o", Type: "std::optional<std::int8_t>"},
	}, addedAt, &schema.FieldDocument{Name: "x", Type: "std::int64_t"})
	u := &sheet{tuple: newTuple(t, s)}
	if !zipped {
		u.compression = 0
	}
	ints := probeOf[int32](u, "i", 0)
	floats := probeOf[float64](u, "f", 0)
	bools := probeOf[bool](u, "b", 0)
	vEnds := probeOf[uint64](u, "v", 0)
	vItems := probeOf[int16](u, "v._0", 0)
	wEnds := probeOf[uint64](u, "w", 0)
	wItems := probeOf[float32](u, "w._0", 0)
	sEnds := probeOf[uint64](u, "s", 0)
	sChars := probeOf[uint8](u, "s", 1)
	threes := probeOf[int32](u, "a._0", 0)
	bits := probeOf[bool](u, "t", 0)
	oEnds := probeOf[uint64](u, "o", 0)
	oItems := probeOf[int8](u, "o._0", 0)
	later := probeOf[int64](u, "x", 0)
	var columns []envelope.ColumnPages
	first := 0
	for k, n := range sizes {
		for _, p := range u.probes {
			p.more()
		}
		for e := first; e < first+n; e++ {
			ints.add(int32(e*7 - 50))
			floats.add(float64(e/16) / 4)
			bools.add(e%3 == 0)
			for j := range e % 4 {
				vItems.add(int16(e*10 + j))
				wItems.add(float32(e/8) / 2)
			}
			vEnds.add(uint64(len(vItems.last())))
			wEnds.add(uint64(len(vItems.last())))
			sChars.add([]byte("abcdefghij")[:e*3%11]...)
			sEnds.add(uint64(len(sChars.last())))
			threes.add(int32(e), int32(-e), int32(e*e))
			bits.add(e&1 != 0, e&2 != 0, e&4 != 0, e&8 != 0, true)
			if e%2 == 1 {
				oItems.add(int8(e))
			}
			oEnds.add(uint64(len(oItems.last())))
			if e >= addedAt {
				later.add(int64(e) << 33)
			} else {
				later.add(0)
			}
		}
		columns = make([]envelope.ColumnPages, len(s.Columns))
		for id := range columns {
			columns[id] = suppressed
		}
		ints.put(u.tuple, k, 12, columns)
		floats.put(u.tuple, k, 20, columns)
		bools.put(u.tuple, k, 16, columns)
		vEnds.put(u.tuple, k, 5, columns)
		columns[u.field("w").Columns[0][0].ID] = columns[u.field("v").Columns[0][0].ID]
		vItems.put(u.tuple, k, 6, columns)
		wItems.put(u.tuple, k, 11, columns)
		sEnds.put(u.tuple, k, 8, columns)
		sChars.put(u.tuple, k, 33, columns)
		threes.put(u.tuple, k, 14, columns)
		bits.put(u.tuple, k, 31, columns)
		oEnds.put(u.tuple, k, 40, columns)
		oItems.put(u.tuple, k, 2, columns)
		last := s.Columns[len(s.Columns)-1]
		if zeros := min(n, max(0, addedAt-first)); k > 0 {
			u.stored[u.field("x")] = [2]int64{int64(first + zeros)} // the column counts what it does not store, too
			columns[last.ID] = chunk(u.tuple, last, later.want[k][zeros:], 9)
		} else {
			columns = columns[:last.ID] // the cluster was written before the field was added
		}
		u.cluster(n, columns...)
		if k == 1 || k == len(sizes)-1 {
			u.group()
		}
		first += n
	}
	return u
}

// A probe makes sure that a column has the elements that it should have.
type probe interface {
	fmt.Stringer
	more()
	// open returns a column that is read with a read-ahead.
	open(t testing.TB, a *ReadAhead) reader
	len(cluster int) int64
	// put writes the column of a cluster, in pages of at most per elements.
	put(u *tuple, cluster, per int, columns []envelope.ColumnPages)
	chunk(u *tuple, c *Cluster) (Chunk, error)
}

// A known is a column of which is known what it holds.
type known[T column.Element] struct {
	path  string
	index int
	want  [][]T // by cluster
}

// probeOf adds a column to those of a sheet.
func probeOf[T column.Element](u *sheet, path string, index int) *known[T] {
	k := &known[T]{path: path, index: index}
	u.probes = append(u.probes, k)
	return k
}

func (k *known[T]) String() string { return fmt.Sprintf("%s.%d", k.path, k.index) }

func (k *known[T]) more() { k.want = append(k.want, nil) }

func (k *known[T]) add(values ...T) {
	last := &k.want[len(k.want)-1]
	*last = append(*last, values...)
}

func (k *known[T]) last() []T { return k.want[len(k.want)-1] }

func (k *known[T]) len(cluster int) int64 { return int64(len(k.want[cluster])) }

// store writes what the column has in a cluster in pages of at most per elements.
func (k *known[T]) store(u *tuple, cluster, per int) envelope.ColumnPages {
	u.t.Helper()
	f := u.field(k.path)
	return chunk(u, f.Columns[cluster%len(f.Columns)][k.index], k.want[cluster], per)
}

func (k *known[T]) put(u *tuple, cluster, per int, columns []envelope.ColumnPages) {
	u.t.Helper()
	f := u.field(k.path)
	columns[f.Columns[cluster%len(f.Columns)][k.index].ID] = k.store(u, cluster, per)
}

func (k *known[T]) chunk(u *tuple, c *Cluster) (Chunk, error) {
	return c.Chunk(u.field(k.path), k.index)
}

func (k *known[T]) open(t testing.TB, a *ReadAhead) reader {
	t.Helper()
	c, err := NewColumn[T](a, fieldOf(t, a.src.Schema, k.path), k.index)
	if err != nil {
		t.Fatal(err)
	}
	return &opened[T]{k, c}
}

// A reader reads a column in one of several ways. Each returns an error if it gets something else
// than it should.
type reader interface {
	fmt.Stringer
	read(ctx context.Context, c *Cluster, first, n int64) error
	next(ctx context.Context, c *Cluster, first, n int64) error
	part(ctx context.Context, c *Cluster, first, n int64) error
	spans(ctx context.Context, c *Cluster, spans []columnar.Span, more bool) error
	length(c *Cluster) (int64, error)
	keep()
}

type opened[T column.Element] struct {
	*known[T]
	c *Column[T]
}

func (o *opened[T]) keep() { o.c.KeepPages() }

func (o *opened[T]) length(c *Cluster) (int64, error) { return o.c.Len(c) }

// compare compares elements with those that a cluster has from first on.
func (o *opened[T]) compare(how string, c *Cluster, first int64, got []T) error {
	if want := o.want[c.ID][first:][:len(got)]; !slices.Equal(got, want) {
		return fmt.Errorf("%v, cluster %d: %s of %d from %d on gives %v, want %v", o, c.ID, how, len(got),
			first, got, want)
	}
	return nil
}

func (o *opened[T]) read(ctx context.Context, c *Cluster, first, n int64) error {
	got := make([]T, n)
	if err := o.c.Read(ctx, c, first, got); err != nil {
		return err
	}
	return o.compare("Read", c, first, got)
}

func (o *opened[T]) next(ctx context.Context, c *Cluster, first, n int64) error {
	for n > 0 {
		got, err := o.c.Next(ctx, c, first, n)
		if err != nil {
			return err
		}
		if len(got) == 0 || int64(len(got)) > n {
			return fmt.Errorf("%v, cluster %d: Next gives %d of %d from %d on", o, c.ID, len(got), n, first)
		}
		if err := o.compare("Next", c, first, got); err != nil {
			return err
		}
		first, n = first+int64(len(got)), n-int64(len(got))
	}
	return nil
}

func (o *opened[T]) part(ctx context.Context, c *Cluster, first, n int64) error {
	got, err := o.c.Part(ctx, c, first, n)
	if err != nil {
		return err
	}
	chunk, err := c.Chunk(o.c.field, o.c.index)
	if err != nil {
		return err
	}
	one, end := false, chunk.Zeros // whether a page has them all
	for _, p := range chunk.Pages {
		one = one || n > 0 && first >= end && first+n <= end+int64(p.NumElements)
		end += int64(p.NumElements)
	}
	if one && int64(len(got)) != n || !one && n > 0 && got != nil {
		return fmt.Errorf("%v, cluster %d: Part gives %d of %d from %d on", o, c.ID, len(got), n, first)
	}
	return o.compare("Part", c, first, got)
}

func (o *opened[T]) spans(ctx context.Context, c *Cluster, spans []columnar.Span, more bool) error {
	var want []T
	for _, s := range spans {
		want = append(want, o.want[c.ID][s.First:][:s.N]...)
	}
	got := make([]T, len(want))
	if err := o.c.ReadSpans(ctx, c, spans, got, more); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%v, cluster %d: spans %v give %v, want %v", o, c.ID, spans, got, want)
	}
	return nil
}
