package ntuple_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// readOptions returns the default options.
func readOptions(*testing.T) *ntuple.ReadOptions { return ntuple.NewReadOptions() }

// writeOptions returns the default options, changed by functions.
func writeOptions(_ testing.TB, change ...func(*ntuple.WriteOptions)) *ntuple.WriteOptions {
	o := ntuple.NewWriteOptions()
	for _, f := range change {
		f(o)
	}
	o.Derive()
	return o
}

// header returns the header of an RNTuple with one field of 32-bit integers.
func header(t *testing.T, name string) *envelope.Header {
	t.Helper()
	doc := &schema.Document{Name: name, Fields: []*schema.FieldDocument{{Name: "x", Type: "std::int32_t"}}}
	s, err := doc.Describe(true)
	if err != nil {
		t.Fatal(err)
	}
	return &envelope.Header{Name: name, Writer: ntuple.WriterName(), Schema: *s}
}

// put writes n entries 0, 1, ...
func put(t *testing.T, w *ntuple.Writer, n int32) {
	t.Helper()
	b, err := pagesink.NewBuffer[int32](w.Sink, w.Schema.Columns[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		b.Add(i)
		if err := w.Sink.EndEntries(1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPaths writes RNTuples at paths, one of them under another name than its
// header has, appends to one, and reads all by their paths.
func TestPaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.root")
	o := writeOptions(t)
	f, err := ntuple.CreateFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range []string{"top", "a/b/deep", "listed"} {
		name := []string{"top", "deep", "named"}[i]
		w, err := f.Create(at, header(t, name), o)
		if err != nil {
			t.Fatal(err)
		}
		put(t, w, int32(i)+1)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	r, err := ntuple.Open(location.Parse(path), "a/b/deep;1", readOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if f, err = ntuple.UpdateFile(path, o); err != nil {
		t.Fatal(err)
	}
	w, err := f.Resume(r, o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, 10)
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}

	for at, want := range map[string]struct {
		name    string
		entries int64
	}{"top": {"top", 1}, "a/b/deep": {"deep", 12}, "a/b/deep;1": {"deep", 2}, "a/b/deep;2": {"deep", 12},
		"listed": {"named", 3}} {
		r, err := ntuple.Open(location.Parse(path), at, readOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		if r.Path != at || r.Header.Name != want.name || r.Source.Entries != want.entries {
			t.Errorf("%s: %q with %d entries, expected %q with %d", at, r.Header.Name, r.Source.Entries, want.name, want.entries)
		}
		r.Close()
	}
	infos, err := ntuple.ListFile(t.Context(), location.Parse(path), remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, i := range infos {
		paths = append(paths, i.Path)
	}
	slices.Sort(paths)
	if want := []string{"a/b/deep", "a/b/deep;1", "listed", "top"}; !slices.Equal(paths, want) {
		t.Errorf("listed are %q, expected %q", paths, want)
	}
}

func TestSplitPath(t *testing.T) {
	for path, want := range map[string][2]string{
		"n": {"", "n"}, "d/n": {"d", "n"}, "/d/e/n": {"d/e", "n"}, "d//n": {"d", "n"}, "": {"", ""},
	} {
		if dir, name := ntuple.SplitPath(path); dir != want[0] || name != want[1] {
			t.Errorf("%q: %q and %q, expected %q", path, dir, name, want)
		}
	}
}

// buffer is a file in memory.
type buffer struct{ bytes.Buffer }

func (b *buffer) WriteAt(p []byte, off int64) (int, error) {
	if missing := int(off) + len(p) - b.Len(); missing > 0 {
		b.Write(make([]byte, missing))
	}
	return copy(b.Bytes()[off:], p), nil
}

// TestHidden has a field of a type that nobody knows: writers refuse it, unless
// they are told to take it as it is.
func TestHidden(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		o := writeOptions(t, func(o *ntuple.WriteOptions) { o.AllowHidden = allowed })
		f, err := ntuple.NewFile(&buffer{}, "f", o)
		if err != nil {
			t.Fatal(err)
		}
		h := header(t, "n")
		h.Columns[0].Type = 0x1fff
		w, err := f.Create("n", h, o)
		if (err == nil) != allowed {
			t.Errorf("allowed %v: %v", allowed, err)
		}
		if err == nil && len(w.Schema.Hidden) != 1 {
			t.Errorf("%d hidden fields, expected 1", len(w.Schema.Hidden))
		}
	}
}

// TestErrors closes files and writers that cannot be completed.
func TestErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := writeOptions(t, func(o *ntuple.WriteOptions) { o.Context = ctx })
	var b buffer
	f, err := ntuple.NewFile(&b, "f", o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Create("n", header(t, "n"), o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, 3)
	cancel()
	if err := w.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("closing after the context was done: %v", err)
	}
	if err := w.Close(); !errors.Is(err, ntuple.ErrClosed) {
		t.Errorf("closing twice: %v", err)
	}
	if err := f.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("closing the file: %v", err)
	}
	if infos, err := ntuple.List(bytes.NewReader(b.Bytes()), int64(b.Len())); len(infos) > 0 {
		t.Errorf("the file lists %v (%v)", infos, err)
	}

	if f, err = ntuple.NewFile(&buffer{}, "f", writeOptions(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create("n", header(t, "n"), writeOptions(t)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err == nil {
		t.Error("a file was closed before its writer")
	}
	if _, err := ntuple.Open(location.Parse(filepath.Join(t.TempDir(), "none")), "", readOptions(t)); err == nil {
		t.Error("a file was opened that is not there")
	}
}

// TestCreateFails creates files that cannot be, of which nothing is left.
func TestCreateFails(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none", "f.root")
	if _, err := ntuple.CreateFile(none, writeOptions(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
	o := writeOptions(t, func(o *ntuple.WriteOptions) { o.File.Compression = 999 })
	if _, err := ntuple.CreateFile(filepath.Join(dir, "f.root"), o); !errors.Is(err, frame.ErrUnsupported) ||
		!strings.HasPrefix(err.Error(), dir) {
		t.Errorf("with an unknown compression: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestSetFails has an attribute set fail: that is an error of the RNTuple.
func TestSetFails(t *testing.T) {
	for _, checkpoint := range []bool{false, true} {
		o := writeOptions(t)
		_, f := newStore(t, o)
		w := create(t, f, "n", header(t, "n"))
		put(t, w, 3)
		set, err := w.CreateSet(setHeader(t, "set"), o)
		if err != nil {
			t.Fatal(err)
		}
		set.Sink.Fail(errBroken)
		if checkpoint {
			err = w.Checkpoint()
		} else {
			err = w.Close()
		}
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), `attribute set "set"`) {
			t.Errorf("checkpoint %v: error %v", checkpoint, err)
		}
	}
}

// TestDiscard gives up an RNTuple and an attribute set beside others, which stay.
func TestDiscard(t *testing.T) {
	o := writeOptions(t)
	var b buffer
	f, err := ntuple.NewFile(&b, "f", o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Create("kept", header(t, "kept"), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		set, err := w.CreateSet(header(t, name), o)
		if err != nil {
			t.Fatal(err)
		}
		if name == "one" {
			set.Discard()
		}
	}
	other, err := f.Create("dropped", header(t, "dropped"), o)
	if err != nil {
		t.Fatal(err)
	}
	other.Discard()
	if err, err2 := other.Close(), other.Abort(); !errors.Is(err, ntuple.ErrClosed) || !errors.Is(err2, ntuple.ErrClosed) {
		t.Errorf("closing what was discarded: %v, %v", err, err2)
	}
	put(t, w, 5)
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := ntuple.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), "", readOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if sets := r.Footer.AttributeSets; r.Header.Name != "kept" || len(sets) != 1 || sets[0].Name != "two" {
		t.Errorf("%q with the attribute sets %v", r.Header.Name, sets)
	}
}
