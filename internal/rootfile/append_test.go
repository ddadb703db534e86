package rootfile

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
)

func appendTo(t testing.TB, m *target, o Options) *Writer {
	t.Helper()
	w, err := Append(m, int64(len(m.b)), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestAppendToRealFiles adds objects to files of ROOT, in the small and the big
// form; what ROOT wrote stays.
func TestAppendToRealFiles(t *testing.T) {
	n := 0
	for name, b := range realFiles(t) {
		old, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || old.Header.End > int64(len(b)) {
			continue
		}
		for _, from := range []int64{0, 1} {
			m := &target{b: bytes.Clone(b)}
			o := fixed("")
			o.BigFrom = from
			w, err := Append(m, int64(len(m.b)), o)
			if err != nil {
				if !errors.Is(err, frame.ErrUnsupported) || !strings.Contains(err.Error(), "too old") {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			n++
			k, err := w.Object("dir/new dir", plain("new", "one"))
			_, topErr := w.Object("", plain("new", "two"))
			err = errors.Join(err, topErr, w.Commit())
			_, replaceErr := w.Replace("dir/new dir", k, plain("new", "three"))
			if err := errors.Join(err, replaceErr, w.Close()); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			f := m.open(t)
			want := contents(t, old)
			want["dir/new dir/new;1"], want["new;1"] = "three", "two"
			if got := contents(t, f); !maps.Equal(got, want) {
				t.Errorf("%s: %d objects, want %d", name, len(got), len(want))
			}
			if f.Root.UUID != old.Root.UUID || f.Root.Name != old.Root.Name || f.Header.Compression != old.Header.Compression {
				t.Errorf("%s: %+v, was %+v", name, f, old)
			}
			// A list with rules cannot be moved to a longer key.
			if _, infos := infoRecord(t, f); !bytes.Contains(infos, []byte("fSeekHeader")) &&
				!(from == 1 && bytes.Contains(infos, []byte("listOfRules"))) {
				t.Errorf("%s: no streamer info", name)
			}
			if before := chain(t, old); before == nil {
				checkChain(t, f)
			} else {
				t.Logf("%s: %v", name, before)
			}
		}
	}
	if n == 0 {
		t.Skip("no ROOT files in testdata of the repository or beside it")
	}
	t.Logf("%d files", n)
}

// TestAbandon makes sure that a writer that is not closed, or has nothing to write,
// leaves the file as it was.
func TestAbandon(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	if err := errors.Join(fill(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(m.b)
	if err := appendTo(t, m, fixed("")).Close(); err != nil || !bytes.Equal(m.b, before) {
		t.Errorf("nothing to write: %v", err)
	}
	w = appendTo(t, m, fixed(""))
	if _, err := w.Blob(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := fill(w); err != nil {
		t.Fatal(err)
	}
	if len(m.b) == len(before) || !bytes.HasPrefix(m.b, before) {
		t.Error("the file has changed")
	}
	// Bytes beyond the end are overwritten.
	w = appendTo(t, m, fixed(""))
	if _, err := w.Object("", plain("new", "new")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(filled)
	want["new;1"] = "new"
	f := m.open(t)
	if got := contents(t, f); !maps.Equal(got, want) || f.Header.End != w.Size() || w.Size() > int64(len(before)+1000) {
		t.Errorf("%v, %d bytes", got, w.Size())
	}
	checkChain(t, f)
}

// TestAppendRefuses appends to files that ROOT would have to recover first.
func TestAppendRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(*builder)
		is     error
		says   string
	}{
		"cut": {func(b *builder) { b.header.End++ }, frame.ErrCorrupt, "the file is truncated"},
		"not closed": {func(b *builder) { b.header.SeekFree = 0 }, frame.ErrCorrupt,
			"never closed, or its writer crashed; rnt recover"},
		"free list":      {func(b *builder) { b.header.NBytesFree = 1 }, frame.ErrCorrupt, "free list"},
		"far free list":  {func(b *builder) { b.header.SeekFree = 1 << 30 }, frame.ErrCorrupt, "beyond the end"},
		"key behind end": {func(b *builder) { b.header.End = 300 }, frame.ErrCorrupt, "beyond the end"},
		"old":            {func(b *builder) { b.root.Version = 4 }, frame.ErrUnsupported, "too old"},
		"begin":          {func(b *builder) { b.root.Key.NBytes-- }, frame.ErrUnsupported, "too old"},
	} {
		b := nested(t)
		img := b.close()
		l := FreeList{Key: Key{Version: 4}, Segments: []Segment{{Version: 1, First: b.end, Last: 2e9}}}
		b.header.SeekFree, b.header.NBytesFree = b.end, uint32(len(encode(t, &l)))
		img.put(b.end, encode(t, &l))
		b.header.End = img.size
		test.damage(b)
		img.put(100, encode(t, &b.root))
		img.put(0, encode(t, &b.header))
		m := &target{b: img.bytes()}
		_, err := Append(m, int64(len(m.b)), fixed(""))
		if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := nested(t)
	b.top().mkdir("sub")
	b.header.SeekFree = 1
	img := b.close()
	if _, err := Append(&target{b: img.bytes()}, img.size, fixed("")); !errors.Is(err, frame.ErrUnsupported) {
		t.Errorf("two directories of a name: %v", err)
	}
	if _, err := Append(new(target), 0, fixed("")); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("empty file: %v", err)
	}
}

// The job of the crash tests writes in stages, each of which ends with a commit. It
// returns what the last commit that was begun lists.
func stages(w *Writer, committed func(want map[string]string)) error {
	want := make(map[string]string)
	if err := fill(w); err != nil {
		return err
	}
	maps.Copy(want, filled)
	if err := w.Commit(); err != nil {
		return err
	}
	committed(maps.Clone(want))
	var keys [2]Key
	dirs := [2]string{"", "a/b"}
	for i, dir := range dirs {
		var err error
		if keys[i], err = w.Object(dir, plain("anchor", "anchor 0")); err != nil {
			return err
		}
	}
	for i := range 3 {
		text := "anchor " + string(rune('1'+i))
		for j, dir := range dirs {
			if _, err := w.Blob(bytes.Repeat([]byte{byte(i)}, 100000*i)); err != nil {
				return err
			}
			var err error
			if keys[j], err = w.Replace(dir, keys[j], plain("anchor", text)); err != nil {
				return err
			}
		}
		if err := w.Commit(); err != nil {
			return err
		}
		want["anchor;1"], want["a/b/anchor;1"] = text, text
		committed(maps.Clone(want))
	}
	if _, err := w.Object("late", plain("last", "words")); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	want["late/last;1"] = "words"
	committed(maps.Clone(want))
	return nil
}

// TestCrash stops a job at each of its writes. The file must have what was
// committed before, and it must be possible to add to it.
func TestCrash(t *testing.T) {
	first := new(target)
	w := create(t, first, fixed("f"))
	_, err := w.Object("a", plain("old", "object"))
	_, dirErr := w.Object("a/b", plain("old", "object"))
	if err := errors.Join(err, dirErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	old := map[string]string{"a/old;1": "object", "a/b/old;1": "object"}
	for _, torn := range []bool{false, true} {
		for n := 1; crash(t, &target{stopAt: n, torn: torn}, nil); n++ {
		}
		n := 1
		for ; crash(t, &target{stopAt: n, torn: torn, b: bytes.Clone(first.b)}, old); n++ {
		}
		if n < 30 {
			t.Errorf("%d writes, fewer than there must be", n)
		}
	}
}

// crash runs the job and reports whether it was stopped; old is the contents of the
// file before.
func crash(t *testing.T, m *target, old map[string]string) bool {
	t.Helper()
	o := fixed("f")
	w, err := Create(m, o)
	if old != nil {
		w, err = Append(m, int64(len(m.b)), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := old
	err = stages(w, func(now map[string]string) {
		want = now
		maps.Copy(want, old)
	})
	if err != nil && (!errors.Is(err, errStopped) || !errors.Is(w.Close(), errStopped)) {
		t.Errorf("write %d: %v, then %v", m.stopAt, err, w.Close())
	}
	f, openErr := Open(m, int64(len(m.b)))
	switch {
	case want == nil && openErr != nil: // nothing was committed
		return true
	case openErr != nil:
		t.Errorf("write %d: %v", m.stopAt, openErr)
		return err != nil
	}
	got := contents(t, f)
	for path, object := range want {
		// The interrupted commit may have replaced an anchor.
		if s, ok := got[path]; !ok || s < object {
			t.Errorf("write %d: %s is %q, want %q", m.stopAt, path, s, object)
		}
	}
	if err == nil {
		checkChain(t, f)
		return false
	}
	m.stopAt, m.torn = 0, false
	w, err = Append(m, int64(len(m.b)), o)
	if err != nil {
		t.Errorf("continued: %v", err)
		return true
	}
	if _, err := w.Object("a/b/c", plain("after", "the crash")); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	f = m.open(t)
	got["a/b/c/after;1"] = "the crash"
	if now := contents(t, f); !maps.Equal(now, got) {
		t.Errorf("continued: %v, want %v", now, got)
	}
	return true
}

// FuzzAppend appends to any bytes: there is no panic, and what is written can be
// read if the file could be read.
func FuzzAppend(f *testing.F) {
	for _, b := range realFiles(f) {
		if len(b) < 10000 {
			f.Add(b, int64(0))
		}
	}
	m := new(target)
	w := create(f, m, fixed("f"))
	if err := errors.Join(fill(w), w.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(m.b, int64(0))
	f.Add(m.b, int64(500))
	f.Fuzz(func(t *testing.T, b []byte, from int64) {
		m := &target{b: bytes.Clone(b)}
		o := fixed("")
		o.BigFrom = from
		w, err := Append(m, int64(len(b)), o)
		if err != nil {
			return
		}
		if _, err := w.Object("dir", plain("fuzz", "test")); err != nil {
			return
		}
		if w.Close() != nil {
			return
		}
		if _, err := Open(m, int64(len(m.b))); err != nil {
			t.Error(err)
		}
	})
}
