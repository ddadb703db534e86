package pagesource

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// TestSharedPages puts pages in until the oldest ones must go.
func TestSharedPages(t *testing.T) {
	key := func(i int) sharedKey { return sharedKey{offset: uint64(i)} }
	const size = 1 << 20
	var s sharedPages
	if data, known := s.get(key(0)); known || data != nil {
		t.Error("a page is known from the start")
	}
	s.put(key(0), nil, 0)
	if data, known := s.get(key(0)); !known || data != nil {
		t.Error("a page that was read is not known")
	}
	first := []byte("first")
	s.put(key(0), first, size-sharedOverhead)
	s.put(key(0), nil, 0)                // does not forget the data
	s.put(key(0), []byte("other"), size) // nor replaces them
	if data, _ := s.get(key(0)); !bytes.Equal(data.([]byte), first) {
		t.Errorf("kept is %v", data)
	}
	s.put(key(1), []byte{}, maxShared/2+1) // too large
	if _, known := s.get(key(1)); known {
		t.Error("a page of more than half the memory is kept")
	}
	n := maxShared / size
	for i := 1; i < n; i++ {
		s.put(key(i), []byte{}, size-sharedOverhead)
	}
	if _, known := s.get(key(0)); !known || s.used != maxShared || len(s.order) != n || len(s.pages) != n {
		t.Errorf("%d pages of %d bytes, want %d of %d", len(s.pages), s.used, n, maxShared)
	}
	s.put(key(n), nil, 0)
	s.put(key(n+1), []byte{}, maxShared/2)
	used := 0
	for _, p := range s.pages {
		used += p.size
	}
	if used != s.used || used > maxShared || len(s.order) != len(s.pages) || used+size <= maxShared {
		t.Errorf("%d pages of %d bytes, counted are %d", len(s.pages), used, s.used)
	}
	for i := range n + 2 {
		_, known := s.get(key(i))
		if want := slices.Contains(s.order, key(i)); known != want || i >= n && !known || i <= n/2 && known {
			t.Errorf("page %d: known %v", i, known)
		}
	}
}

// TestReadPage reads a page again and again, that may be shared: one that is not compressed is
// verified once, and one that is, twice, and then kept. It is read from the file until it is kept.
func TestReadPage(t *testing.T) {
	want := plainOf(t, 64)
	u, pages := pagesFile(t)
	for _, test := range []struct {
		kind  string
		keep  bool
		reads int // of 4
		err   error
	}{
		{"plain", true, 4, nil}, {"plain", false, 4, frame.ErrChecksum}, {"plain, CRC32", true, 4, nil},
		{"zipped", true, 2, nil}, {"zipped", false, 4, frame.ErrChecksum}, {"zipped, CRC32", true, 2, nil},
	} {
		p := pages[test.kind]
		m := &memory{data: append(slices.Clone(u.file), 0, 0, 0, 0)} // the last page may have a longer checksum below
		src := &Source{Blobs: u.blobs(m)}
		read := func(use func([]byte) error) error {
			return src.readPage(t.Context(), nil, int64s, p, test.keep, nil, use)
		}
		good := func(b []byte) error {
			if !bytes.Equal(b, want) {
				return fmt.Errorf("%d bytes", len(b))
			}
			return nil
		}
		if err := read(func([]byte) error { return errors.New("no") }); err == nil {
			t.Errorf("%s: no error", test.kind)
		}
		src.shared = sharedPages{}
		if strings.HasPrefix(test.kind, "zipped") { // one that is known, but not kept, is verified again
			if err := read(good); err != nil {
				t.Errorf("%s: %v", test.kind, err)
			}
			m.data[p.Locator.Offset+p.Locator.Size] ^= 1
			checkPageError(t, p, read(good), frame.ErrChecksum)
			m.data[p.Locator.Offset+p.Locator.Size] ^= 1
		}
		src.shared = sharedPages{}
		m.forget()
		for range 4 {
			if err := read(good); err != nil {
				t.Errorf("%s: %v", test.kind, err)
			}
		}
		if len(m.reads) != test.reads {
			t.Errorf("%s: %d reads, want %d", test.kind, len(m.reads), test.reads)
		}
		broken := errors.New("broken")
		checkPageError(t, p, read(func([]byte) error { return broken }), broken)
		m.data[p.Locator.Offset+p.Locator.Size] ^= 1 // its checksum
		if err := read(good); test.err == nil && err != nil || !errors.Is(err, test.err) {
			t.Errorf("%s, with a wrong checksum: %v, want %v", test.kind, err, test.err)
		}
		// Another page at the same place is not taken for it.
		p.NumElements--
		if err := read(func([]byte) error { return nil }); err == nil && strings.HasPrefix(test.kind, "zipped") {
			t.Errorf("%s: a page with another number of elements", test.kind)
		}
		p.NumElements++
		p.HasChecksum, p.HasCRC32 = !p.HasChecksum, !p.HasCRC32
		if err := read(good); err == nil {
			t.Errorf("%s: a page with another checksum", test.kind)
		}
		src.SkipChecksums = true
		if err := read(good); err != nil {
			t.Errorf("%s: not verified: %v", test.kind, err)
		}
	}
}

// TestKeepPages has columns that share decoded pages: each page is read and decoded once for all of
// them, and kept in no other form.
func TestKeepPages(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		t.Run(fmt.Sprint(zipped), func(t *testing.T) {
			u := newSheet(t, zipped)
			m := &memory{data: u.file}
			src := u.source(m)
			lending(t, src)
			for _, p := range u.probes {
				for i := range 3 {
					m.forget()
					a := src.NewReadAhead()
					c := p.open(t, a)
					c.keep()
					for _, cluster := range clusters(t, src) {
						n := p.len(cluster.ID)
						for first := int64(0); first < n; first += 7 {
							k := min(7, n-first)
							if err := errors.Join(
								c.read(t.Context(), cluster, first, k),
								c.next(t.Context(), cluster, first, k),
								c.spans(t.Context(), cluster, []columnar.Span{{First: first, N: k}}, false),
							); err != nil {
								t.Fatal(err)
							}
						}
						if err := c.read(t.Context(), cluster, 0, n); err != nil {
							t.Fatal(err)
						}
					}
					if i > 0 && len(m.reads) > 0 {
						t.Errorf("%v: %d reads by reader %d", p, len(m.reads), i)
					}
					a.Stop()
				}
			}
			for key := range src.shared.pages {
				if key.format.Bits == 0 {
					t.Errorf("the page at %d is kept as it is stored, too", key.offset)
				}
			}
		})
	}
}

// TestKeptForType has columns of different types share nothing.
func TestKeptForType(t *testing.T) {
	u := numbers(t, []int{5})
	src := u.source(&memory{data: u.file})
	a := src.NewReadAhead()
	wide, err := NewColumn[int64](a, src.Schema.Fields[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := NewColumn[int8](a, src.Schema.Fields[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	wide.KeepPages()
	narrow.KeepPages()
	c := clusters(t, src)[0]
	for range 2 {
		a, err1 := wide.Next(t.Context(), c, 1, 3)
		b, err2 := narrow.Next(t.Context(), c, 1, 3)
		if err := errors.Join(err1, err2); err != nil || !slices.Equal(a, []int64{1, 2, 3}) ||
			!slices.Equal(b, []int8{1, 2, 3}) {
			t.Errorf("%v and %v: %v", a, b, err)
		}
	}
	if _, err := NewColumn[float32](a, src.Schema.Fields[0], 0); !errors.Is(err, frame.ErrUnsupported) ||
		!strings.HasPrefix(err.Error(), `field "x": `) {
		t.Errorf("a column of integers as floats: %v", err)
	}
	if len(a.columns) != 2 {
		t.Errorf("%d columns", len(a.columns))
	}
}

// TestPartOf measures pages: bounds of the elements, and none of those that are no numbers.
func TestPartOf(t *testing.T) {
	for _, test := range []struct {
		format column.Format
		page   []byte
		n      int
		want   *bounds.Part
	}{
		{column.Format{Type: column.Int8, Bits: 8}, []byte{5, 250, 7}, 3, bounds.PartOf([]int8{5, -6, 7}, false)},
		{column.Format{Type: column.UInt16, Bits: 16}, []byte{1, 0, 0, 1}, 2, bounds.PartOf([]uint16{1, 256}, false)},
		{column.Format{Type: column.Bit, Bits: 1}, []byte{5}, 3, bounds.PartOf([]bool{true, false, true}, false)},
		{column.Format{Type: column.Index32, Bits: 32}, []byte{3, 0, 0, 0, 9, 0, 0, 0}, 2,
			bounds.PartOf([]uint32{3, 9}, true)},
		{column.Format{Type: column.Switch, Bits: 96}, make([]byte, 24), 2, &bounds.Part{}},
	} {
		lending(t)
		got, err := PartOf(test.format, test.page, test.n)
		if err != nil || fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", *test.want) {
			t.Errorf("%v: %+v, %v, want %+v", test.format, got, err, test.want)
		}
		if test.want == nil {
			continue
		}
		if _, err := PartOf(test.format, nil, test.n); test.format.Type != column.Switch &&
			!errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%v of an empty page: %v", test.format, err)
		}
	}
}

// TestSamePages compares columns with the same pages, and with others.
func TestSamePages(t *testing.T) {
	u := newSheet(t, false)
	src := u.source(&memory{data: u.file})
	a := src.NewReadAhead()
	open := func(path string) *Column[uint64] {
		c, err := NewColumn[uint64](a, fieldOf(t, src.Schema, path), 0)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	v, w, s, o := open("v"), open("w"), open("s"), open("o")
	for _, c := range clusters(t, src) {
		if !v.SamePages(w, c) || !w.SamePages(v, c) {
			t.Errorf("cluster %d: v and w have different pages", c.ID)
		}
		if c.End > c.First && (v.SamePages(s, c) || o.SamePages(v, c)) {
			t.Errorf("cluster %d: v, s and o have the same pages", c.ID)
		}
		at, ok, err := v.FirstPage(c)
		pages := c.Columns()[v.field.Columns[0][0].ID].Pages
		if err != nil || ok != (c.End > c.First) || ok && at != pages[0].Locator.Offset {
			t.Errorf("cluster %d: the first page of v is at %d, %v, %v", c.ID, at, ok, err)
		}
	}
}
