package pagesink

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// realPage returns a page of the numbers from first on, uncompressed, of a column of type Real64,
// and the bits of the numbers.
func realPage(first, n int) (page []byte, bits []uint64) {
	for i := range n {
		b := math.Float64bits(float64(first + i))
		page, bits = binary.LittleEndian.AppendUint64(page, b), append(bits, b)
	}
	return page, bits
}

// encodes returns the Encode of a page.
func encodes(page []byte) func([]byte) ([]byte, error) {
	return func(dst []byte) ([]byte, error) { return append(dst, page...), nil }
}

// TestAppendCluster appends a cluster with pages of all kinds between clusters that buffers fill.
func TestAppendCluster(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, compression := range []compress.Settings{0, 101} {
			real := pagetest.Of(column.Real64)
			columns := pagetest.Columns(real, real, real, real, real)
			columns[4].Owner, columns[4].Representation = columns[3].Owner, 1
			columns[3].Owner.Columns = [][]*schema.Column{{columns[3]}, {columns[4]}}
			file := &pagetest.File{}
			set := settings(workers, compression)
			set.Compression = compression
			s := NewSink(context.Background(), &Output{Blob: file.Blob}, set, 5)
			s.AddColumns(columns)
			var all [4]pushed // of columns 0 to 2, and of the field that has the others
			var buffers []*Buffer[float64]
			for _, c := range columns {
				b, err := NewBuffer[float64](s, c)
				if err != nil {
					t.Fatal(err)
				}
				buffers = append(buffers, b)
			}
			counter := s.Counter()
			fill := func(first int) {
				for i := range all {
					buffers[i].Add(float64(first))
					all[i].bits = append(all[i].bits, math.Float64bits(float64(first)))
				}
				*counter = 7
				if err := s.EndEntries(1); err != nil {
					t.Fatal(err)
				}
			}
			fill(1000)
			if err := s.CommitCluster(); err != nil || *counter != 0 {
				t.Fatalf("the counter is %d: %v", *counter, err)
			}
			if err := s.AppendCluster(0, nil, nil); err != nil {
				t.Fatal(err)
			}
			buffers[2].AddAll([]float64{1, 2, 3}) // of the appended cluster
			all[2].bits = append(all[2].bits, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000)

			equal, equalBits := realPage(0, 50)
			other, otherBits := realPage(50, 30)
			zipped, err := compress.Append(nil, other, 101)
			if err != nil {
				t.Fatal(err)
			}
			placed := &envelope.Page{NumElements: 30, HasChecksum: true}
			foreign := binary.LittleEndian.AppendUint64(slices.Clone(zipped), checksum.Sum(zipped))
			pages := []Page{
				{NumElements: 50, Encode: encodes(equal)},
				{NumElements: 30, Encode: encodes(other)},
				{NumElements: 50, Encode: encodes(equal)},
			}
			all[0].bits = slices.Concat(all[0].bits, equalBits, otherBits, equalBits)
			given := []Column{
				{Compression: uint32(compression), Pages: pages},
				{Compression: 101, Pages: []Page{
					{NumElements: 30, Placed: placed},
					{NumElements: 30, Encode: encodes(zipped), Compressed: true},
				}},
				{Compression: uint32(compression)},
				// Nobody will read these, nor may pages that are read share their bytes, which are not written.
				{Suppressed: true, Pages: []Page{
					{NumElements: 30, Encode: encodes(other)},
					{NumElements: 50, Encode: encodes(equal), Compressed: true}, // as in the next column
				}},
				{Compression: 0, Pages: []Page{{NumElements: 50, Encode: encodes(equal), Compressed: true}}},
			}
			all[1].bits = slices.Concat(all[1].bits, otherBits, otherBits)
			all[3].bits = append(all[3].bits, equalBits...)
			before := -1
			place := func(out *Output) (int64, error) {
				before = len(file.Bytes)
				at, err := out.Write(int64(len(foreign)), func(w io.WriterAt) error {
					_, err := w.WriteAt(foreign, 0)
					return err
				})
				placed.Locator = locator.At(uint64(at), uint64(len(zipped)))
				return int64(len(foreign)), err
			}
			sum := s.zippedSum
			if err := errors.Join(s.AppendCluster(80, given, place), s.Wait()); err != nil {
				t.Fatal(err)
			}
			sum = s.zippedSum - sum
			if n, pages := s.GroupSize(); n != 2 || pages != 4+3+2+1+1 {
				t.Errorf("%d clusters with %d pages", n, pages)
			}
			fill(2000)
			clusters := finish(t, s, file, columns)
			if len(clusters) != 3 || clusters[1].NumEntries != 80 || s.Entries() != 82 {
				t.Fatalf("%d clusters, %d entries", len(clusters), s.Entries())
			}
			for i := range 3 {
				all[i].check(t, i, clusters, i)
			}
			all[3].check(t, "representations", clusters, 3, 4)
			for i, c := range clusters {
				if c.Columns[3].IsSuppressed() != (i == 1) || c.Columns[4].IsSuppressed() != (i != 1) {
					t.Errorf("cluster %d: suppressed %v and %v", i, c.Columns[3].IsSuppressed(), c.Columns[4].IsSuppressed())
				}
			}
			for i, want := range []uint32{uint32(compression), 101, uint32(compression), 0, 0} {
				if got := clusters[1].Columns[i].Compression; got != want {
					t.Errorf("column %d: compression %d, want %d", i, got, want)
				}
			}
			at := clusters[1].Columns[1].Pages[0].Locator.Offset
			if at != uint64(before) {
				t.Errorf("the placed page is at %d, behind others it would be at %d", at, before)
			}
			for i, c := range clusters[1].Columns {
				for _, p := range c.Pages {
					if p.Locator.Offset > at {
						t.Errorf("column %d has a page behind those of place", i)
					}
				}
			}
			// The placed page has bytes of its own, even if another one is equal.
			p := clusters[1].Columns[1].Pages
			if p[0].Locator == p[1].Locator {
				t.Error("pages share bytes that place wrote")
			}
			clusters[1].Columns[1].Pages = p[1:]
			if got := clusters[1].CheckSharing(t, true) + int64(len(foreign)); got != sum {
				t.Errorf("the cluster takes %d bytes, it counts %d", got, sum)
			}
		}
	}
}

// TestPlaced makes sure that nothing is written of a cluster whose pages are all placed.
func TestPlaced(t *testing.T) {
	file := &pagetest.File{}
	s := NewSink(context.Background(), &Output{Blob: file.Blob}, settings(1, 0), 5)
	s.AddColumns(doubles(1))
	placed := &envelope.Page{NumElements: 1}
	given := []Column{{Pages: []Page{{NumElements: 1, Placed: placed}}}}
	if err := s.AppendCluster(1, given, func(*Output) (int64, error) { return 8, nil }); err != nil {
		t.Fatal(err)
	}
	if len(file.Sizes) > 0 || s.zippedSum != 8 {
		t.Errorf("payloads of %d bytes; the cluster counts %d", file.Sizes, s.zippedSum)
	}
}

// TestAppendClusterErrors has Encode and place fail: the cluster must not be listed.
func TestAppendClusterErrors(t *testing.T) {
	errEncode := errors.New("cannot encode")
	page, _ := realPage(0, 10)
	fails := func([]byte) ([]byte, error) { return nil, errEncode }
	for _, workers := range []int{1, 3} {
		for _, compression := range []compress.Settings{0, 101} {
			for name, c := range map[string]struct {
				page  Page
				place func(*Output) (int64, error)
				calls int
			}{
				"encode":     {Page{NumElements: 10, Encode: fails}, nil, 0},
				"compressed": {Page{NumElements: 10, Encode: fails, Compressed: true}, nil, 0},
				"place": {Page{NumElements: 10, Encode: encodes(page)}, func(*Output) (int64, error) { return 0, errEncode },
					1},
			} {
				file := &pagetest.File{}
				s := NewSink(context.Background(), &Output{Blob: file.Blob}, settings(workers, compression), 5)
				columns := pagetest.Columns(pagetest.Of(column.Real64))
				s.AddColumns(columns)
				err := errors.Join(s.AppendCluster(10, []Column{{Pages: []Page{c.page}}}, c.place), s.Wait())
				if !errors.Is(err, errEncode) || !errors.Is(s.CommitClusterGroup(), errEncode) {
					t.Errorf("%s, %d workers: error %v", name, workers, err)
				}
				if len(s.Groups()) > 0 || len(s.group.Clusters) > 0 {
					t.Errorf("%s, %d workers: the cluster is listed", name, workers)
				}
				if len(file.Sizes) != c.calls {
					t.Errorf("%s, %d workers: %d payloads, want %d", name, workers, len(file.Sizes), c.calls)
				}
			}
		}
	}
}

// TestInsert puts stored pages between elements. They must come in this order, and count
// towards the size of the cluster, with elements that are to come.
func TestInsert(t *testing.T) {
	for _, compression := range []compress.Settings{0, 101} {
		file := &pagetest.File{}
		s := NewSink(context.Background(), &Output{Blob: file.Blob}, settings(1, compression), 5)
		columns := pagetest.Columns(pagetest.Of(column.Real64), pagetest.Of(column.Bit))
		s.AddColumns(columns)
		b, err1 := NewBuffer[float64](s, columns[0])
		bit, err2 := NewBuffer[bool](s, columns[1])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		page, bits := realPage(10, 20)
		stored, err := compress.Append(nil, page, compression)
		if err != nil {
			t.Fatal(err)
		}
		insert := Page{NumElements: 20, Encode: encodes(stored), Compressed: true}
		want := pushed{}
		for _, v := range []float64{1, 2, 3} {
			b.Add(v)
			b.Insert(insert)
			want.bits = append(append(want.bits, math.Float64bits(v)), bits...)
		}
		b.Insert(insert)
		want.bits = append(want.bits, bits...)
		bit.Add(true) // a byte
		size := func() int64 { s.settle(); return s.unzipped }
		if got := size(); got != 8*int64(len(want.bits))+1 {
			t.Errorf("the cluster has %d bytes before compression, want %d", got, 8*len(want.bits)+1)
		}
		before := size()
		b.Reserve(5)
		bit.Reserve(3)
		if got := size(); got != before+5*8+3 {
			t.Errorf("reserved: %d bytes, want %d", got, before+5*8+3)
		}
		b.Reserve(-5)
		if got := size(); got != before+3 {
			t.Errorf("reserved less: %d bytes, want %d", got, before+3)
		}
		s.EndEntries(1)
		clusters := finish(t, s, file, columns)
		want.check(t, "inserted", clusters, 0)
		var sizes []uint32
		for _, p := range clusters[0].Columns[0].Pages {
			sizes = append(sizes, p.NumElements)
		}
		if !slices.Equal(sizes, []uint32{1, 20, 1, 20, 1, 20, 20}) {
			t.Errorf("pages of %d elements", sizes)
		}
		s.Track(1)
		for _, c := range []struct {
			got, want bool
		}{
			{b.Takes(columns[0].Format(), uint32(compression)), true},
			{b.Takes(columns[0].Format(), uint32(compression)+1), false},
			{b.Takes(column.Format{Type: column.SplitReal64, Bits: 64}, uint32(compression)), false},
			{bit.Takes(columns[1].Format(), uint32(compression)), false}, // its bounds would not be known
		} {
			if c.got != c.want {
				t.Errorf("Takes: %+v", c)
			}
		}
	}
}

// TestGivenBounds appends clusters whose bounds the caller may know.
func TestGivenBounds(t *testing.T) {
	known := bounds.Floats(-5, 5, false)
	for _, c := range []struct {
		given func() zonemap.Bounds
		want  zonemap.Kind
	}{
		{func() zonemap.Bounds { return known }, zonemap.Float},
		{func() zonemap.Bounds { return zonemap.Bounds{} }, zonemap.Unknown}, // the pages' are not known either
		{nil, zonemap.Unknown},
	} {
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(1, 0), 5)
		columns := doubles(2)
		s.Track(0)
		s.AddColumns(columns)
		calls := 0
		s.Written = func(_ envelope.Cluster, _ []envelope.ColumnPages, found []zonemap.Bounds) error {
			calls++
			if found[0].Kind != c.want || c.want == zonemap.Float && found[0] != known || found[1].Kind != zonemap.Unknown {
				t.Errorf("bounds %v, want %v", found, c.want)
			}
			return nil
		}
		page, _ := realPage(0, 10)
		given := []Column{
			{Pages: []Page{{NumElements: 10, Encode: encodes(page)}}, Bounds: c.given},
			{Bounds: func() zonemap.Bounds { panic("nobody wants them") }},
		}
		if err := errors.Join(s.AppendCluster(1, given, nil), s.CommitClusterGroup()); err != nil || calls != 1 {
			t.Errorf("%d clusters: %v", calls, err)
		}
	}
}
