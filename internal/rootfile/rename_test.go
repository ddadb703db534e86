package rootfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
)

// TestRename renames objects among others of the same class, and of the same name.
func TestRename(t *testing.T) {
	for _, test := range []struct {
		at, name string
		want     string // paths and contents, or part of the error
	}{
		{"x", "y", "other;1:o y;1:1 y;2:new"},
		{"x", "x", "other;1:o x;1:1 x;2:new"},
		{"x;1", "y", "other;1:o x;2:2 y;1:new"},
		{"x", "other", `has an object "other"`},
		{"none", "y", `no key is called "none"`},
	} {
		m := new(target)
		w := create(t, m, fixed("f"))
		for i, name := range []string{"x", "other", "x"} {
			if _, err := w.Object("", plain(name, []string{"1", "o", "2"}[i])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w = appendTo(t, m, fixed(""))
		if _, err := w.Rename(test.at, plain(test.name, "new"), "TObjString"); err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s to %s: error %v", test.at, test.name, err)
			}
			continue
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, one := range strings.Fields(test.want) {
			path, content, _ := strings.Cut(one, ":")
			want[path] = content
		}
		if got := contents(t, m.open(t)); !maps.Equal(got, want) {
			t.Errorf("%s to %s: %v, want %v", test.at, test.name, got, want)
		}
	}
}

// TestBlobFromRefuses has blobs of sizes that no key can have. The file goes on without them.
func TestBlobFromRefuses(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	for _, n := range []int64{-1, math.MaxInt32, math.MaxInt32 - int64(blobKey().Size()) + 1, math.MaxInt64 / 2} {
		if _, err := w.BlobFrom(n, func(io.WriterAt) error { return errStopped }); err == nil ||
			errors.Is(err, errStopped) {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
	_, err := w.Object("", plain("x", "x"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if s := missing(t, m.open(t), map[string]string{"x;1": "x"}); s != "" {
		t.Error(s)
	}
}

// TestFreeUnread frees space of a file that cannot be read, where nothing is known.
func TestFreeUnread(t *testing.T) {
	m := new(target)
	w := create(t, io.NewOffsetWriter(m, 0), fixed("f"))
	offset, err := w.Blob(make([]byte, 100))
	if err := errors.Join(err, w.Commit(), w.Free("", BlobClassName, "", offset, 100)); err != nil || len(w.freed) > 0 {
		t.Errorf("%d gaps, error %v", len(w.freed), err)
	}
}

// TestLongestKey has keys of the size that fits the length of a key, and of one byte more.
func TestLongestKey(t *testing.T) {
	for more := range 2 {
		k := Key{Version: KeyVersion, Class: "c", Name: "n", Title: strings.Repeat("t", 65535-26-2-2-5+more)}
		_, err := encoded(&k)
		if k.Size() != 65535+more || (err != nil) != (more > 0) {
			t.Errorf("a key of %d bytes: error %v", k.Size(), err)
		}
	}
}

// TestHostileElements has more elements than bytes could hold: no memory is allocated for them.
func TestHostileElements(t *testing.T) {
	for n, want := range map[uint32]int{4: 4, 5: 0, math.MaxUint32: 0} {
		var s []uint32
		c := reader(make([]byte, 19), "list", 0)
		elements(c, "elements", n, &s, func(c *frame.Codec, v *uint32) { frame.Int(c, "element", v) })
		if len(s) != want || (c.Err() != nil) != (want == 0) || want == 0 && !strings.Contains(fmt.Sprint(c.Err()),
			fmt.Sprintf("%d in 19 bytes", n)) {
			t.Errorf("%d elements: %d, error %v", n, len(s), c.Err())
		}
	}
}
