package pagesource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

var int64s = column.Format{Type: column.Int64, Bits: 64}

// repeated returns n numbers that compress well.
func repeated(n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i / 16)
	}
	return values
}

// plainOf returns a page of repeated.
func plainOf(t testing.TB, n int) []byte {
	t.Helper()
	b, err := column.Append(int64s, nil, repeated(n))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEnvelope reads envelopes, and locators and links that no envelope has.
func TestEnvelope(t *testing.T) {
	u := newTuple(t, nil)
	body := bytes.Repeat([]byte("envelope "), 30)
	text := func(b []byte) ([]byte, error) { return append(b, body...), nil }
	zipped := u.envelope(text)
	u.compression = 0
	plain := u.envelope(text)
	size := uint64(len(u.file))
	broken := errors.New("broken")
	for _, test := range []struct {
		name string
		link locator.Link
		max  int64
		kind error
		want string
	}{
		{"compressed", zipped, int64(len(body)), nil, ""},
		{"plain, at the end of the file", plain, 1, nil, ""},
		{"no limit", zipped, 0, nil, ""},
		{"too large", zipped, int64(len(body)) - 1, frame.ErrUnsupported,
			"envelope of at least 270 bytes, the limit is 269"},
		{"in no file", locator.Link{Length: 9, Locator: locator.Locator{Type: locator.Object,
			Payload: "1234"}}, 0, frame.ErrUnsupported, ""},
		{"behind the file", locator.Link{Length: 1, Locator: locator.At(size+1, 0)}, 0, frame.ErrCorrupt,
			"the file has"},
		{"far behind the file", locator.Link{Length: 1, Locator: locator.At(math.MaxUint64, 2)}, 0,
			frame.ErrCorrupt, "the file has"},
		{"larger than the file", locator.Link{Length: 1, Locator: locator.At(2, math.MaxUint64)}, 0,
			frame.ErrCorrupt, "the file has"},
		{"in no memory", locator.Link{Length: math.MaxInt + 1, Locator: zipped.Locator}, 0, frame.ErrCorrupt,
			fmt.Sprintf("envelope of %d bytes", uint64(math.MaxInt)+1)},
		{"longer than the blocks say", locator.Link{Length: 271, Locator: zipped.Locator}, 0, frame.ErrCorrupt, ""},
		{"not compressed", locator.Link{Length: 300, Locator: plain.Locator}, 0, nil, "anything"},
	} {
		b := u.blobs(&memory{data: u.file})
		b.MaxEnvelope = test.max
		got, err := b.Envelope(t.Context(), "the path", test.link)
		var fault *frame.FormatError
		switch {
		case test.kind == nil && test.want == "" && (err != nil || !bytes.Equal(got, body)):
			t.Errorf("%s: %q, %v", test.name, got, err)
		case (test.kind != nil || test.want == "anything") && (!errors.As(err, &fault) || test.kind != nil &&
			!errors.Is(err, test.kind) ||
			fault.Path != "the path" || fault.Offset != int64(test.link.Locator.Offset)):
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		case test.kind != nil && !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
	damaged := slices.Clone(u.file)
	damaged[zipped.Locator.Offset+zipped.Locator.Size-1] ^= 0xff
	b := u.blobs(&memory{data: damaged})
	if got, err := b.Envelope(t.Context(), "the path", zipped); err == nil ||
		!strings.HasPrefix(err.Error(), "the path") {
		t.Errorf("damaged: %q, %v", got, err)
	}
	b = u.blobs(&memory{data: u.file})
	if _, err := b.Envelope(t.Context(), "the path",
		locator.Link{Length: 5, Locator: locator.At(size-4, 5)}); err == nil ||
		!strings.Contains(err.Error(),
			fmt.Sprintf("the path: blob at offset %#x: %v: file ends after 4 of 5 bytes", size-4, frame.ErrCorrupt)) {
		t.Error(err)
	}
	b = u.blobs(&memory{data: u.file, fault: func(int, int64, []byte) error { return broken }})
	if _, err := b.Envelope(t.Context(), "the path", zipped); !errors.Is(err, broken) ||
		!strings.HasPrefix(err.Error(), "the path: ") {
		t.Error(err)
	}
}

// pagesFile returns a file with a page of each kind that page may be stored as.
func pagesFile(t testing.TB) (*tuple, map[string]envelope.Page) {
	t.Helper()
	u := newTuple(t, nil)
	pages := map[string]envelope.Page{}
	for _, kind := range []string{"plain", "zipped"} {
		u.compression = 0
		if kind == "zipped" {
			u.compression = 505
		}
		u.crc32 = false
		pages[kind] = page(u, int64s, repeated(64))
		pages[kind+", no checksum"] = envelope.Page{NumElements: 64, Locator: pages[kind].Locator}
		u.crc32 = true
		pages[kind+", CRC32"] = page(u, int64s, repeated(64))
	}
	return u, pages
}

// TestPage reads pages as they may be stored from files at hand, far away and mapped, with and
// without verification. A damaged byte is found if there is a checksum that is verified.
func TestPage(t *testing.T) {
	want := plainOf(t, 64)
	u, pages := pagesFile(t)
	for kind, p := range pages {
		for _, place := range places {
			for _, skip := range []bool{false, true} {
				l := lending(t)
				r, _ := place.file(slices.Clone(u.file))
				b := u.blobs(r)
				b.SkipChecksums = skip
				var got []byte
				keep := func(page []byte) error { got = slices.Clone(page); return nil }
				if err := b.Page(t.Context(), int64s, p, keep); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s %s: %d bytes, %v", place.name, kind, len(got), err)
				}
				stored := make([]byte, p.StoredSize())
				if err := b.StoredPage(t.Context(), int64s, p, stored); err != nil ||
					!bytes.Equal(stored, u.file[p.Locator.Offset:][:len(stored)]) {
					t.Errorf("%s %s: StoredPage: %v", place.name, kind, err)
				}
				broken := errors.New("broken")
				err := b.Page(t.Context(), int64s, p, func([]byte) error { return broken })
				checkPageError(t, p, err, broken)

				b.R, _ = place.file(flipped(u.file, p.Locator.Offset+p.Locator.Size-1))
				got = nil
				err = b.Page(t.Context(), int64s, p, keep)
				switch verified := (p.HasChecksum || p.HasCRC32) && !skip; {
				case verified && p.HasCRC32 && kind == "zipped, CRC32": // the decoder may notice it first
					checkPageError(t, p, err, nil)
				case verified:
					checkPageError(t, p, err, frame.ErrChecksum)
					checkPageError(t, p, b.StoredPage(t.Context(), int64s, p, stored), frame.ErrChecksum)
				case kind[:5] == "plain" && (err != nil || len(got) != len(want) || bytes.Equal(got, want)):
					t.Errorf("%s %s: not verified: %v", place.name, kind, err)
				}
				if !p.HasChecksum && !p.HasCRC32 || skip {
					if err := b.StoredPage(t.Context(), int64s, p, stored); err != nil {
						t.Errorf("%s %s: StoredPage, not verified: %v", place.name, kind, err)
					}
				}
				l.check(t)
			}
		}
	}
}

// flipped returns a file in which one byte is another one.
func flipped(file []byte, at uint64) []byte {
	file = slices.Clone(file)
	file[at] ^= 0x10
	return file
}

// checkPageError makes sure that an error is of a kind, if that is not nil, and about a page.
func checkPageError(t testing.TB, p envelope.Page, err error, kind error) {
	t.Helper()
	var fault *frame.FormatError
	if !errors.As(err, &fault) || fault.Path != "page" || fault.Offset != int64(p.Locator.Offset) ||
		kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %v, want one of the page at %d", err, p.Locator.Offset)
	}
}

// TestPageBounds has pages that the file cannot hold, or that are larger than allowed.
func TestPageBounds(t *testing.T) {
	u, pages := pagesFile(t)
	last := pages["zipped, CRC32"]
	size := uint64(len(u.file))
	sum := func(p envelope.Page, offset, n uint64) envelope.Page {
		p.Locator = locator.At(offset, n)
		return p
	}
	for _, test := range []struct {
		name    string
		page    envelope.Page
		max     int64
		objects bool
		kind    error
		want    string
	}{
		{"good", last, 512, false, nil, ""},
		{"too large", last, 511, false, frame.ErrUnsupported,
			"page of at least 512 bytes, the limit is 511 (rntuple.Limits.PageBytes)"},
		{"no room for the checksum", sum(pages["plain"], 16, size-7), 512, false, frame.ErrCorrupt,
			"bytes from offset 16 on, the file has"},
		{"just room for the checksum", sum(pages["plain"], 16, size-8), 512, false, nil, ""},
		{"no room for a CRC32", sum(last, 16, size-3), 512, false, frame.ErrCorrupt,
			"bytes from offset 16 on, the file has"},
		{"just room for a CRC32", sum(last, 16, size-4), 512, false, nil, ""},
		{"at the end of the file", sum(last, size, 1), 512, false, nil, ""}, // a read that fails
		{"behind the file", sum(last, size+1, 1), 512, false, frame.ErrCorrupt, ""},
		{"size that wraps around", sum(pages["plain"], 16, math.MaxUint64-4), 512, false, frame.ErrCorrupt, ""},
		{"as large as uncompressed", sum(pages["plain"], 16, 512), 512, true, nil, ""},
		{"larger than uncompressed, in a file", sum(pages["plain"], 16, 513), 512, false, nil, ""},
		{"larger than uncompressed", sum(pages["plain"], 16, 513), 512, true, frame.ErrCorrupt,
			"takes 513 bytes, more than its 512 uncompressed"},
	} {
		b := u.blobs(&memory{data: u.file})
		if b.MaxPage = test.max; test.objects {
			b.R = inObjects{m: &memory{data: u.file}}
		}
		n, err := b.StoredSize(int64s, test.page)
		if test.kind == nil {
			if err != nil || n != int64(test.page.StoredSize()) {
				t.Errorf("%s: %d bytes, %v", test.name, n, err)
			}
			continue
		}
		checkPageError(t, test.page, err, test.kind)
		if err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
		err = b.Page(t.Context(), int64s, test.page, func([]byte) error { return nil })
		if !errors.Is(err, test.kind) {
			t.Errorf("%s: Page returns %v", test.name, err)
		}
	}
}

// TestChunkedPage reads pages and envelopes that are spread over several keys, and one that just is
// not.
func TestChunkedPage(t *testing.T) {
	want := plainOf(t, 64)
	for _, max := range []uint64{519, 520, 521, 200, 100} {
		u := newTuple(t, nil)
		u.compression, u.maxKeySize = 0, max
		p := page(u, int64s, repeated(64))
		u.file = append(u.file, make([]byte, 100)...) // the locator would still fit
		link := u.envelope(func(b []byte) ([]byte, error) { return append(b, want...), nil })
		for _, place := range places {
			r, _ := place.file(u.file)
			b := u.blobs(r)
			if got, want := b.Chunked(520), max < 520; got != want {
				t.Errorf("keys of %d bytes: chunked %v, want %v", max, got, want)
			}
			if in := b.inPlace(int64s, p); in != (place.name == "mapped" && max >= 520) &&
				place.name != "mapped in part" {
				t.Errorf("%s, keys of %d bytes: in place %v", place.name, max, in)
			}
			var got []byte
			if err := b.Page(t.Context(), int64s, p,
				func(page []byte) error { got = slices.Clone(page); return nil }); err != nil ||
				!bytes.Equal(got, want) {
				t.Errorf("%s, keys of %d bytes: %v", place.name, max, err)
			}
			if got, err := b.Envelope(t.Context(), "e", link); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, keys of %d bytes: %v", place.name, max, err)
			}
		}
	}
}

// TestMapped has pages at the end of what is mapped, and beyond it.
func TestMapped(t *testing.T) {
	u := newTuple(t, nil)
	u.compression = 0
	p := page(u, int64s, repeated(64))
	at := int64(p.Locator.Offset)
	for _, test := range []struct {
		bytes int64
		in    bool
	}{{at + 520, true}, {at + 521, true}, {at + 519, false}, {at, false}, {0, false}} {
		m := &mapped{memory: &memory{data: u.file}, bytes: test.bytes}
		b := u.blobs(m)
		if in := b.inPlace(int64s, p); in != test.in {
			t.Errorf("%d bytes are mapped: in place %v", test.bytes, in)
		}
		if err := b.Page(t.Context(), int64s, p, func([]byte) error { return nil }); err != nil {
			t.Error(err)
		}
		if in := m.used == 1 && len(m.reads) == 0; in != test.in {
			t.Errorf("%d bytes are mapped: used %d times, read %d times", test.bytes, m.used, len(m.reads))
		}
		zipped := p
		zipped.Locator.Size--
		if b.inPlace(int64s, zipped) {
			t.Error("a compressed page is in place")
		}
	}
	if (&Blobs{R: &memory{}}).Far() || !(&Blobs{R: &farFile{}}).Far() {
		t.Error("Far is wrong")
	}
}

// An objectStore has one object of a size, and an anchor.
type objectStore struct{ size int64 }

func (s objectStore) Open(context.Context, int64, func(int)) (remote.Info, error) {
	return remote.Info{Size: objects.End, Version: "1"}, nil
}

func (s objectStore) Anchor() []byte { return []byte("anchor") }

func (s objectStore) Read(_ context.Context, _ remote.Info, ranges []remote.Range, arrived func(int)) (int, error) {
	arrived(len(ranges[0].Data))
	for i := range ranges[0].Data {
		ranges[0].Data[i] = 'o'
	}
	return len(ranges), nil
}

func (s objectStore) Ranges() (n int, gap, least int64) { return 1, 0, 0 }

func (s objectStore) Close() error { return nil }

func (s objectStore) ObjectSize(context.Context, int64, func(int)) (int64, error) {
	if s.size < 0 {
		return 0, errors.New("no such object")
	}
	return s.size, nil
}

// inObjects are objects in memory.
type inObjects struct {
	objects.Source
	m *memory
}

func (o inObjects) ReadAt(b []byte, offset int64) (int, error) { return o.m.ReadAt(b, offset) }

// store is the store of URLs of the scheme pagesourcetest.
var store = &objectStore{}

func init() {
	objects.Register("pagesourcetest")
	remote.Register("pagesourcetest",
		func(*url.URL, *remote.Options) (remote.Backend, error) { return store, nil })
}

// TestObjects places the objects of page lists and pages, and reads a large envelope only if the
// object has its size.
func TestObjects(t *testing.T) {
	object := func(id, size uint64) locator.Locator {
		b := []byte{byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)}
		for i := range 8 {
			b = append(b, byte(id>>(8*i)))
		}
		return locator.Locator{Type: locator.Object, Payload: string(b)}
	}
	groups := []envelope.ClusterGroup{{PageList: locator.Link{Locator: object(1, 10)}},
		{PageList: locator.Link{Locator: object(7, 1<<30)}}}
	f := &envelope.Footer{ClusterGroups: groups}
	if err := PlaceLists(f); err != nil {
		t.Fatal(err)
	}
	for i, want := range []locator.Locator{locator.At(1<<32, 10), locator.At(7<<32, 1<<30)} {
		if got := groups[i].PageList.Locator; got != want {
			t.Errorf("page list %d is %v, want %v", i, got, want)
		}
	}
	for _, bad := range []locator.Locator{locator.At(16, 10), object(1<<30, 10), object(1, 1<<30+1),
		{Type: locator.Object, Payload: "1"}} {
		var fault *frame.FormatError
		f.ClusterGroups = []envelope.ClusterGroup{{PageList: locator.Link{Locator: object(2, 1)}},
			{PageList: locator.Link{Locator: bad}}}
		if err := PlaceLists(f); !errors.As(err, &fault) || fault.Path != "footer.cluster group 1.page list" {
			t.Errorf("%v: %v", bad, err)
		}
		list := &envelope.PageList{Pages: []envelope.ClusterPages{{Columns: []envelope.ColumnPages{{},
			{Pages: []envelope.Page{{Locator: object(3, 1)}, {Locator: bad}}}}}}}
		if err := PlacePages(list); !errors.As(err, &fault) || fault.Path != "column 1.page 1" {
			t.Errorf("%v: %v", bad, err)
		}
		if got := list.Pages[0].Columns[1].Pages[0].Locator; got != locator.At(3<<32, 1) {
			t.Errorf("a page is %v", got)
		}
	}

	r, err := remote.OpenObjects(t.Context(), "pagesourcetest://host/object", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, test := range []struct {
		size, length int64
		objects      bool
		want         string
	}{
		{0, 1 << 20, true, ""}, // small enough not to ask
		{0, 1<<20 + 1, true, "object 3 has 0 bytes, expected 1048577"},
		{1<<20 + 1, 1<<20 + 1, true, ""},
		{1<<20 + 2, 1<<20 + 1, true, "object 3 has 1048578 bytes, expected 1048577"},
		{-1, 1<<20 + 1, true, "no such object"},
		{0, 1<<20 + 1, false, ""},
	} {
		store.size = test.size
		b := Blobs{R: r, Size: r.Len()}
		if !test.objects {
			b.R = struct{ io.ReaderAt }{r}
		}
		got, err := b.Envelope(t.Context(), "e", locator.Link{Length: uint64(test.length),
			Locator: locator.At(3<<32, uint64(test.length))})
		switch {
		case test.want == "" && (err != nil || int64(len(got)) != test.length):
			t.Errorf("%d bytes of %d: %v", len(got), test.length, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) ||
			!strings.HasPrefix(err.Error(), "e: ")):
			t.Errorf("%d bytes of %d: %v", test.size, test.length, err)
		}
	}
}

// TestObjectPageList reads the page list of objects, whose locators ParsePlaced places.
func TestObjectPageList(t *testing.T) {
	u := numbers(t, []int{2})
	b, err := u.blobs(&memory{data: u.file}).plain(t, u.groups[0].PageList)
	if err != nil {
		t.Fatal(err)
	}
	list, err := envelope.ParsePageList(b)
	if err != nil {
		t.Fatal(err)
	}
	locate := &list.Pages[0].Columns[0].Pages[0].Locator
	*locate = locator.Locator{Type: locator.Object, Payload: "\x05\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00"}
	u.groups[0].PageList = u.envelope(list.Append)
	src := u.source(&memory{data: u.file})
	src.ParsePageList = ParsePlaced
	if got := clusters(t, src)[0].Columns()[0].Pages[0].Locator; got != locator.At(9<<32, 5) {
		t.Errorf("the page is %v", got)
	}
	locate.Payload = ""
	u.groups[0].PageList = u.envelope(list.Append)
	src = u.source(&memory{data: u.file})
	src.ParsePageList = ParsePlaced
	if _, err := src.Clusters(t.Context()); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), "column 0.page 0") {
		t.Error(err)
	}
}

// TestExactly reads a file that is far away for pages: just what is asked for, by ReadRanges.
func TestExactly(t *testing.T) {
	m := &memory{data: []byte("0123456789")}
	f := &farFile{memory: m, costs: remote.Costs{Ranges: 1, Bytes: 100, Requests: 1}}
	b := &Blobs{R: f, Size: 10}
	got := make([]byte, 4)
	if n, err := b.Exactly(t.Context()).ReadAt(got, 3); n != 4 || err != nil || string(got) != "3456" ||
		f.requests != 1 {
		t.Errorf("%d bytes, %q, %v, %d requests", n, got, err, f.requests)
	}
	if n, err := b.Exactly(t.Context()).ReadAt(got, 8); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes behind the end: %v", n, err)
	}
	b.R = m
	if r := b.Exactly(t.Context()); r != io.ReaderAt(m) {
		t.Errorf("of a file at hand: %v", r)
	}
}
