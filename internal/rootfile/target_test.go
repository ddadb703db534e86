package rootfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

// target is a file in memory that can stop at a write.
type target struct {
	b      []byte
	writes int
	stopAt int  // the write that fails; 0: none
	torn   bool // only half of that write is done
}

var errStopped = errors.New("stopped")

func (m *target) WriteAt(b []byte, at int64) (int, error) {
	m.writes++
	n := len(b)
	if m.stopAt > 0 && m.writes >= m.stopAt {
		if !m.torn || m.writes > m.stopAt {
			return 0, errStopped
		}
		n /= 2
	}
	if grow := at + int64(n) - int64(len(m.b)); grow > 0 {
		m.b = append(m.b, make([]byte, grow)...)
	}
	copy(m.b[at:], b[:n])
	if n < len(b) {
		return n, errStopped
	}
	return n, nil
}

func (m *target) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(b, at)
}

func (m *target) open(t testing.TB) *File {
	t.Helper()
	f, err := Open(m, int64(len(m.b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fixed returns options with which two runs write the same bytes.
func fixed(name string) Options {
	return Options{
		Name:  name,
		Clock: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) },
		UUID:  [16]byte{1, 15: 2},
	}
}

func create(t testing.TB, w io.WriterAt, o Options) *Writer {
	t.Helper()
	f, err := Create(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// plain returns an uncompressed object.
func plain(name, content string) Object {
	return Object{Class: "TObjString", Name: name, Stored: []byte(content), Len: len(content)}
}

// fill writes records of all kinds.
func fill(w *Writer) error {
	steps := []struct{ dir, name, content string }{
		{"", "x", "first"}, {"a/b", "x", "below"}, {"a/b", "x", "below again"},
		{"", "x", "second"}, {"/c/", "y", ""}, {"a", "z", "z"},
	}
	for i, s := range steps {
		if _, err := w.Blob(bytes.Repeat([]byte{byte(i)}, 100*i), []byte("tail")); err != nil {
			return err
		}
		if _, err := w.Object(s.dir, plain(s.name, s.content)); err != nil {
			return err
		}
	}
	_, err := w.Unlisted(plain("unlisted", "unlisted"))
	return err
}

// filled lists the objects that fill writes.
var filled = map[string]string{
	"x;2": "second", "x;1": "first", "a/b/x;2": "below again", "a/b/x;1": "below", "c/y;1": "", "a/z;1": "z",
}

// contents returns the objects of a file except directories, by path and cycle.
func contents(t testing.TB, f *File) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := f.Walk(func(dir string, k Key) error {
		b, err := f.Payload(k)
		if err == nil && !isDirectory(k) {
			all[fmt.Sprintf("%s;%d", join(dir, k.Name), k.CycleNumber())] = string(b)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// missing returns the objects of want that a file does not have.
func missing(t testing.TB, f *File, want map[string]string) string {
	t.Helper()
	got := contents(t, f)
	for path, object := range want {
		if s, ok := got[path]; !ok || s != object {
			return fmt.Sprintf("%s is %q, want %q", path, s, object)
		}
	}
	return ""
}

// checkChain goes from record to record, as ROOT's Map and Recover do.
func checkChain(t testing.TB, f *File) {
	t.Helper()
	if err := chain(t, f); err != nil {
		t.Error(err)
	}
}

// chain returns an error if a byte before the end belongs neither to a record nor
// to a gap, or if the gaps are not those in the free list.
func chain(t testing.TB, f *File) error {
	h := f.Header
	var gaps []Segment
	at := int64(h.Begin)
	for at < h.End {
		b, err := f.readUpTo("record", at, 1000)
		if err != nil {
			return err
		}
		if n := int32(binary.BigEndian.Uint32(b)); n < 0 {
			gaps = append(gaps, Segment{First: at, Last: at - int64(n) - 1})
			at -= int64(n)
			continue
		}
		var k Key
		c := reader(b, "record", at)
		// The key of a TBasket is longer than other keys.
		if k.Wire(c); c.Err() != nil || k.SeekKey != at || int(k.KeyLen) < k.Size() || k.NBytes < int32(k.KeyLen) {
			return fmt.Errorf("at %d: no key, %v", at, c.Err())
		}
		at += int64(k.NBytes)
	}
	if at != h.End {
		return fmt.Errorf("records end at %d, the file at %d", at, h.End)
	}
	l := freeListOf(t, f)
	if int(h.NFree) != len(l.Segments) || len(gaps) != len(l.Segments)-1 {
		return fmt.Errorf("%d free, gaps %v, listed %v", h.NFree, gaps, l.Segments)
	}
	for i, s := range l.Segments[:len(gaps)] {
		if s.First != gaps[i].First || s.Last != gaps[i].Last {
			return fmt.Errorf("gaps %v, listed %v", gaps, l.Segments)
		}
	}
	if last := l.Segments[len(gaps)]; last.First != h.End || last.Last < 2000000000 || last.Last <= h.End {
		return fmt.Errorf("last free segment %v, the file ends at %d", last, h.End)
	}
	return nil
}

func freeListOf(t testing.TB, f *File) (l FreeList) {
	t.Helper()
	b, err := f.read("free list", f.Header.SeekFree, int64(f.Header.NBytesFree))
	if err != nil {
		t.Fatal(err)
	}
	if err := decode(b, &l); err != nil {
		t.Fatal(err)
	}
	return l
}
