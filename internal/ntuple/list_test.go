package ntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
	inside "github.com/go-rntuple/go-rntuple/remote/objects"
)

// listed returns a file that lists objects of a class at paths.
func listed(t *testing.T, class string, paths ...string) *store {
	t.Helper()
	s := new(store)
	w, err := rootfile.Create(s, rootfile.Options{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		dir, name := ntuple.SplitPath(p)
		if _, err := w.Object(dir, rootfile.Object{Class: class, Name: name, Stored: []byte("object"),
			Len: 6}); err != nil {
			t.Fatal(err)
		}
	}
	closeAll(t, w)
	return s
}

// TestNotFound opens RNTuples that are not there, or without a name where there are several: errors
// say what there is.
func TestNotFound(t *testing.T) {
	var trees []string
	for i := range 12 {
		trees = append(trees, fmt.Sprintf("d/t%02d", i))
	}
	two, f := newStore(t, writeOptions(t))
	for _, path := range []string{"one", "d/two", "two"} {
		_, name := ntuple.SplitPath(path)
		w := create(t, f, path, header(t, name))
		put(t, w, 1)
		closeAll(t, w)
	}
	closeAll(t, f)
	inDir, f := newStore(t, writeOptions(t))
	w := create(t, f, "d/two", header(t, "two"))
	closeAll(t, w, f)
	for _, test := range []struct {
		name  string
		file  *store
		open  string
		found bool // the error does not wrap ErrNotFound
		want  string
	}{
		{"empty", listed(t, "TObject", "a"), "", false, "the file holds no RNTuple"},
		{"empty, by name", listed(t, "TObject", "a"), "n", false, "the file holds no RNTuple"},
		{"trees", listed(t, "TTree", trees[:10]...), "", false,
			"the file holds TTrees, no RNTuple: " + strings.Join(trees[:10], ", ")},
		{"many trees", listed(t, "TTree", trees...), "n", false, strings.Join(trees[:10], ", ") + " and 2 more"},
		{"one tree more", listed(t, "TTree", trees[:11]...), "n", false, strings.Join(trees[:10],
			", ") + " and 1 more"},
		{"tuples", listed(t, "TNtupleD", "a", "a", "b"), "", false, "TTrees, no RNTuple: a, b"},
		{"several", two, "", true, "the file has several RNTuples, name one of them: one, two"},
		{"another name", two, "three", false, `RNTuple "three": not found; the file has one, two, d/two`},
		{"another cycle", two, "one;2", false, `RNTuple "one;2": not found`},
		{"none at the top", inDir, "", false, "RNTuple at the top level: not found; the file has d/two"},
	} {
		_, err := ntuple.NewReader(test.file, test.file.Size(), test.open, readOptions(t))
		if err == nil || errors.Is(err, rootfile.ErrNotFound) == test.found ||
			!strings.Contains(err.Error(), test.want) {
			if err != nil && test.name == "another name" && strings.Contains(err.Error(), "d/two") &&
				errors.Is(err, rootfile.ErrNotFound) {
				continue // the order of directories does not matter
			}
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	infos, err := ntuple.List(two, two.Size())
	if err != nil || len(infos) != 3 {
		t.Errorf("%v, %v", infos, err)
	}
	for _, i := range infos {
		if i.Class != anchor.ClassName || !i.Newest {
			t.Errorf("%+v", i)
		}
	}
}

// TestDamagedFiles lists and opens files that cannot be read, or are none.
func TestDamagedFiles(t *testing.T) {
	s := written(t, 5)
	for _, data := range [][]byte{nil, []byte("root"), bytes.Repeat([]byte("x"), 1000), s.data[:100]} {
		bad := &store{data: data}
		if _, err := ntuple.List(bad, bad.Size()); err == nil {
			t.Errorf("%d bytes were listed", len(data))
		}
		if _, err := ntuple.NewReader(bad, bad.Size(), "n", readOptions(t)); err == nil {
			t.Errorf("%d bytes were opened", len(data))
		}
	}
	dir := t.TempDir()
	if _, err := ntuple.ListFile(t.Context(), location.Parse(filepath.Join(dir, "none")), remote.Options{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("listing a file that is not there: %v", err)
	}
	// A bare file, as early versions could write it, has nothing but a head. This one ends too
	// early.
	bare := &store{data: append([]byte("rntuple"), make([]byte, 20)...)}
	if _, err := ntuple.List(bare, bare.Size()); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("listing a bare file without an anchor: %v", err)
	}
	reads := bare.reads
	bare.reads, bare.failRead = 0, func(i int, _ int64) error {
		if i == reads-1 { // those before have found out that it is no ROOT file
			return errBroken
		}
		return nil
	}
	if _, err := ntuple.List(bare, bare.Size()); !errors.Is(err, errBroken) {
		t.Errorf("listing a bare file that cannot be read: %v", err)
	}
	path := filepath.Join(dir, "damaged.root")
	if err := os.WriteFile(path, s.data[:100], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ntuple.ListFile(t.Context(), location.Parse(path), remote.Options{}); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.HasPrefix(err.Error(), path) {
		t.Errorf("listing a damaged file: %v", err)
	}

	total := 0
	s.failRead = func(i int, _ int64) error { total = i + 1; return nil }
	r := s.open(t, "n")
	s.reads = 0
	for i := range total {
		s.reads = 0
		s.failRead = func(k int, _ int64) error {
			if k == i {
				return errBroken
			}
			return nil
		}
		if r, err := ntuple.NewReader(s, s.Size(), "n", readOptions(t)); err == nil {
			checkNumbers(t, "after a fault that did not matter", r, 5)
		} else if !errors.Is(err, errBroken) {
			t.Errorf("read %d of %d: %v", i, total, err)
		}
	}
	s.failRead = nil
	// Every byte of anchor, header and footer counts. That of an anchor's class, as of its key, may
	// only make it disappear.
	a := r.Anchor
	for _, part := range []locator.Locator{a.Header().Locator, a.Footer().Locator} {
		for at := part.Offset; at < part.Offset+part.Size; at += 3 {
			bad := s.copied()
			bad.data[at] ^= 0x55
			if _, err := ntuple.NewReader(bad, bad.Size(), "n", readOptions(t)); err == nil ||
				!strings.Contains(err.Error(), `RNTuple "n": `) {
				t.Errorf("byte %d: %v", at, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := readOptions(t)
	o.Context = ctx
	if _, err := ntuple.NewReader(s, s.Size(), "n", o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// An object that is no anchor, or far too large for one.
	no := listed(t, anchor.ClassName, "n")
	if _, err := ntuple.NewReader(no, no.Size(), "n", readOptions(t)); err == nil ||
		!strings.HasPrefix(err.Error(), `RNTuple "n": `) {
		t.Error(err)
	}
	large := new(store)
	w, err := rootfile.Create(large, rootfile.Options{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Object("", rootfile.Object{Class: anchor.ClassName, Name: "n", Stored: make([]byte,
		1<<16+1), Len: 1<<16 + 1}); err != nil {
		t.Fatal(err)
	}
	closeAll(t, w)
	if _, err := ntuple.NewReader(large, large.Size(), "n", readOptions(t)); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), "65537 bytes long") {
		t.Error(err)
	}
}

// rewritten returns the anchor of an RNTuple with another header or footer, which edit has changed,
// in a copy of the store.
func rewritten(t *testing.T, s *store, edit func(*envelope.Header, *envelope.Footer)) (*store, []byte) {
	t.Helper()
	r := s.open(t, "n")
	h, f, a := *r.Header, *r.Footer, *r.Anchor
	edit(&h, &f)
	s = s.copied()
	put := func(b []byte, err error) uint64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		at := len(s.data)
		s.data = append(s.data, b...)
		return uint64(at)
	}
	b, err := h.Append(nil)
	a.SeekHeader, a.NBytesHeader, a.LenHeader = put(b, err), uint64(len(b)), uint64(len(b))
	if f.HeaderChecksum == r.Footer.HeaderChecksum {
		f.HeaderChecksum = envelope.Checksum(b)
	}
	b, err = f.Append(nil)
	a.SeekFooter, a.NBytesFooter, a.LenFooter = put(b, err), uint64(len(b)), uint64(len(b))
	object, err := a.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, object
}

// TestContradictions opens RNTuples whose metadata use what is not known, or contradict each other.
func TestContradictions(t *testing.T) {
	s := written(t, 5)
	unknown := envelope.Features{1 << 40}
	for _, test := range []struct {
		name string
		edit func(h *envelope.Header, f *envelope.Footer)
		kind error
		want string
	}{
		{"good", func(*envelope.Header, *envelope.Footer) {}, nil, ""},
		{"features of the header", func(h *envelope.Header, _ *envelope.Footer) { h.Features = unknown },
			frame.ErrUnsupported, "40"},
		{"features of the footer", func(_ *envelope.Header, f *envelope.Footer) { f.Features = unknown },
			frame.ErrUnsupported, "40"},
		{"header of another one", func(_ *envelope.Header, f *envelope.Footer) { f.HeaderChecksum++ },
			frame.ErrChecksum, "footer.header checksum"},
		{"schema", func(h *envelope.Header, _ *envelope.Footer) { h.Columns[0].Field = 5 }, frame.ErrCorrupt, ""},
		{"groups", func(_ *envelope.Header, f *envelope.Footer) { f.ClusterGroups[0].MinEntry = 1 },
			frame.ErrCorrupt, "cluster groups"},
	} {
		s, object := rewritten(t, s, test.edit)
		_, err := ntuple.NewReaderAt(s, s.Size(), anchor.ClassName, object, readOptions(t))
		if test.kind == nil && err != nil || test.kind != nil && (!errors.Is(err, test.kind) ||
			!strings.Contains(err.Error(), test.want) ||
			!strings.HasPrefix(err.Error(), `RNTuple "ROOT::RNTuple": `)) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	a := *s.open(t, "n").Anchor
	a.Major = 9
	object, err := a.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Epoch = 7
	other, err := a.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range [][]byte{object[:20], other} {
		if _, err := ntuple.NewReaderAt(s, s.Size(), anchor.ClassName, object, readOptions(t)); err == nil {
			t.Error("an anchor was read that is none")
		}
	}
}

// TestOptions returns the defaults that depend on others.
func TestOptions(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	if near, far := ntuple.DefaultWorkers(false), ntuple.DefaultWorkers(true); near != n || far != max(8, n) {
		t.Errorf("%d and %d workers", near, far)
	}
	// These defaults are ROOT's; objects of the same name are replaced, as files are.
	if o := ntuple.NewWriteOptions(); !o.Upload.Replace || o.Pages.MaxKeySize != 1<<30 || o.Pages.MaxPage != 1<<20 ||
		o.Pages.ZippedCluster != 128<<20 || o.Pages.Workers != n {
		t.Errorf("%+v", o)
	}
	for _, test := range []struct {
		level  compress.Settings
		budget int64
		want   int64
	}{{505, 0, 256 << 20}, {0, 0, 128 << 20}, {505, 1000, 1000}} {
		o := writeOptions(t, func(o *ntuple.WriteOptions) {
			o.Pages.Compression, o.PageBudget, o.Pages.NoChecksums = test.level, test.budget, test.budget > 0
		})
		if o.Pages.PageBudget != test.want || o.Pages.UnzippedCluster != 1280<<20 ||
			o.Pages.NoSharing != (test.budget > 0) {
			t.Errorf("%+v: %+v", test, o.Pages)
		}
	}
	for _, test := range []struct {
		limits ntuple.Limits
		size   int64
		want   ntuple.Limits
	}{
		{ntuple.Limits{}, 0, ntuple.Limits{PageBytes: 4 << 20, EntryBytes: 4 << 20, EnvelopeBytes: 256 << 10,
			ExpressionBytes: 256 << 20}},
		{ntuple.Limits{}, 10000, ntuple.Limits{PageBytes: 40960000, EntryBytes: 40960000,
			EnvelopeBytes: 5120000, ExpressionBytes: 256 << 20}},
		{ntuple.Limits{}, math.MaxInt64, ntuple.Limits{PageBytes: 1 << 30, EntryBytes: 1 << 30,
			EnvelopeBytes: 1 << 30, ExpressionBytes: 256 << 20}},
		{ntuple.Limits{PageBytes: 1, EntryBytes: 2, EnvelopeBytes: 3, ExpressionBytes: 4}, 10000,
			ntuple.Limits{PageBytes: 1, EntryBytes: 2, EnvelopeBytes: 3, ExpressionBytes: 4}},
	} {
		if got := test.limits.For(test.size); got != test.want {
			t.Errorf("for %d bytes: %+v, want %+v", test.size, got, test.want)
		}
	}
	if got := (ntuple.Limits{}).ForObjects(); got.PageBytes != 16<<20 || got.EnvelopeBytes != 1<<30 {
		t.Errorf("for objects: %+v", got)
	}
	if got := (ntuple.Limits{PageBytes: 5}).ForObjects(); got.PageBytes != 5 {
		t.Errorf("for objects: %+v", got)
	}
}

// TestReaderOptions opens RNTuples with options of their own.
func TestReaderOptions(t *testing.T) {
	s := written(t, 5)
	o := readOptions(t)
	o.Workers, o.ReadAhead, o.SkipChecksums = 3, 1000, true
	r, err := ntuple.NewReader(s, s.Size(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	src := r.Source
	if src.Workers != 3 || src.Budget != 1000 || !src.SkipChecksums ||
		src.MaxPage != max(4<<20, 4096*s.Size()) || src.Size != s.Size() ||
		o.Limits.PageBytes != 0 || r.Path != "n" || r.Legacy() {
		t.Errorf("%+v", r)
	}
	if r := s.open(t, "n"); r.Source.Workers != runtime.GOMAXPROCS(0) || r.Source.SkipChecksums {
		t.Errorf("%+v", r)
	}
	settings, ok, err := r.Compression(t.Context())
	if settings != compress.Default || !ok || err != nil {
		t.Errorf("compression %v, %v, %v", settings, ok, err)
	}
	settings, ok, err = written(t, 1).open(t, "n").Compression(t.Context())
	if settings != compress.Default || !ok || err != nil {
		t.Errorf("compression of one entry: %v, %v, %v", settings, ok, err)
	}
	empty := written(t, 0).open(t, "n")
	if _, ok, err := empty.Compression(t.Context()); ok || err != nil {
		t.Errorf("compression without entries: %v, %v", ok, err)
	}
	s.failRead = func(int, int64) error { return errBroken }
	if _, _, err := failing(t, s).Compression(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("compression without a page list: %v", err)
	}

	type key struct{}
	n := 0
	for i := range 3 {
		got, err := ntuple.Memo(r, key{}, func() (int, error) {
			if n++; n == 1 {
				return 0, errBroken
			}
			return n, nil
		})
		if want := min(2*i, 2); got != want || (err != nil) != (i == 0) {
			t.Errorf("call %d: %d, %v, want %d", i, got, err, want)
		}
	}
	if got, err := ntuple.Memo(r, 5, func() (string, error) { return "other", nil }); got != "other" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// failing returns a reader of a store that fails later.
func failing(t *testing.T, s *store) *ntuple.Reader {
	t.Helper()
	fail := s.failRead
	s.failRead = nil
	r := s.open(t, "n")
	s.failRead = fail
	return r
}

// objects are an RNTuple whose header, footer, page lists and pages are objects in memory.
type objects struct {
	anchor []byte
	data   [][]byte // by number
}

func (o *objects) Open(context.Context, int64, func(int)) (remote.Info, error) {
	return remote.Info{Size: inside.End, Version: "1"}, nil
}

func (o *objects) Anchor() []byte { return o.anchor }

func (o *objects) Read(_ context.Context, _ remote.Info, ranges []remote.Range, arrived func(int)) (int, error) {
	for i, r := range ranges {
		data := o.data[inside.At(r.Offset)]
		if len(data) != len(r.Data) {
			return i, fmt.Errorf("object of %d bytes, %d are wanted", len(data), len(r.Data))
		}
		copy(r.Data, data)
		arrived(len(data))
	}
	return len(ranges), nil
}

func (o *objects) Ranges() (n int, gap, least int64) { return 1, 0, 0 }

func (o *objects) Close() error { return nil }

func (o *objects) ObjectSize(_ context.Context, offset int64, _ func(int)) (int64, error) {
	return int64(len(o.data[inside.At(offset)])), nil
}

// stored is the RNTuple at URLs of the scheme ntupletest.
var stored = &objects{}

func init() {
	inside.Register("ntupletest")
	remote.Register("ntupletest",
		func(*url.URL, *remote.Options) (remote.Backend, error) { return stored, nil })
}

// TestObjects reads an RNTuple in objects.
func TestObjects(t *testing.T) {
	s := written(t, 7)
	r := s.open(t, "n")
	add := func(b []byte) int64 {
		stored.data = append(stored.data, b)
		at, _ := inside.Offset(uint64(len(stored.data) - 1))
		return at
	}
	object := func(b []byte) locator.Locator {
		id, n := inside.At(add(b)), len(b)
		payload := []byte{byte(n), byte(n >> 8), 0, 0, byte(id), 0, 0, 0, 0, 0, 0, 0}
		return locator.Locator{Type: locator.Object, Payload: string(payload)}
	}
	footer := *r.Footer
	footer.ClusterGroups = slices.Clone(footer.ClusterGroups)
	for i := range footer.ClusterGroups {
		g := &footer.ClusterGroups[i]
		b, err := r.Source.Envelope(t.Context(), "list", g.PageList)
		if err != nil {
			t.Fatal(err)
		}
		list, err := envelope.ParsePageList(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, cluster := range list.Pages {
			for _, column := range cluster.Columns {
				for j := range column.Pages {
					p := &column.Pages[j]
					// The checksum follows, but does not count for the size in the locator.
					l := object(s.data[p.Locator.Offset:][:p.StoredSize()])
					p.Locator = locator.Locator{Type: locator.Object,
						Payload: string([]byte{byte(p.Locator.Size), 0, 0, 0}) + l.Payload[4:]}
				}
			}
		}
		if b, err = list.Append(nil); err != nil {
			t.Fatal(err)
		}
		g.PageList = locator.Link{Length: uint64(len(b)), Locator: object(b)}
	}
	header, err := r.Header.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := footer.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := *r.Anchor
	a.SeekHeader, a.NBytesHeader, a.LenHeader = uint64(add(header)), uint64(len(header)), uint64(len(header))
	a.SeekFooter, a.NBytesFooter, a.LenFooter = uint64(add(b)), uint64(len(b)), uint64(len(b))
	if stored.anchor, err = a.Append(nil); err != nil {
		t.Fatal(err)
	}
	const path = "ntupletest://host/bucket/name"
	for _, name := range []string{"", "n"} {
		in, err := ntuple.Open(location.Parse(path), name, readOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		checkNumbers(t, "in objects", in, 7)
		if in.Path != "n" || in.Options.Limits.PageBytes != 16<<20 || in.Source.Workers < 8 {
			t.Errorf("%+v", in)
		}
		if _, err := in.Refresh(t.Context()); !errors.Is(err, frame.ErrUnsupported) {
			t.Error(err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := ntuple.Open(location.Parse(path), "other", readOptions(t)); !errors.Is(err, rootfile.ErrNotFound) ||
		!strings.Contains(err.Error(), "the URL has n") {
		t.Error(err)
	}
	infos, err := ntuple.ListFile(t.Context(), location.Parse(path), remote.Options{})
	if want := []ntuple.Info{{Path: "n", Class: anchor.ClassName, Newest: true}}; err != nil ||
		!slices.Equal(infos, want) {
		t.Errorf("%v, %v", infos, err)
	}
	footer.ClusterGroups[0].PageList.Locator = locator.At(5, 5)
	if b, err = footer.Append(nil); err != nil {
		t.Fatal(err)
	}
	stored.data[len(stored.data)-1] = b
	a.NBytesFooter, a.LenFooter = uint64(len(b)), uint64(len(b))
	if stored.anchor, err = a.Append(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ntuple.ListFile(t.Context(), location.Parse(path), remote.Options{}); !errors.Is(err,
		frame.ErrUnsupported) {
		t.Error(err)
	}
	// With a feature that is not known the locators may mean anything: it is what the error names.
	footer.Features = envelope.Features{1 << 40}
	if b, err = footer.Append(nil); err != nil {
		t.Fatal(err)
	}
	stored.data[len(stored.data)-1] = b
	a.NBytesFooter, a.LenFooter = uint64(len(b)), uint64(len(b))
	if stored.anchor, err = a.Append(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ntuple.ListFile(t.Context(), location.Parse(path), remote.Options{}); !errors.Is(err,
		frame.ErrUnsupported) || !strings.Contains(err.Error(), "feature flag 40") {
		t.Error(err)
	}
}
