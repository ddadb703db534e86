package rootfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
)

// TestObjectLimits lists objects with the longest names and sizes, and with longer ones.
func TestObjectLimits(t *testing.T) {
	for _, test := range []struct {
		name string
		len  int // as the key has it
		says string
	}{
		{strings.Repeat("n", 254), 1, ""}, {strings.Repeat("n", 255), 1, "too long: at most 254"},
		{"x", math.MaxInt32, ""}, {"x", math.MaxInt32 - 1, ""},
	} {
		m := new(target)
		w := create(t, m, fixed("f"))
		_, err := w.Object("", Object{Class: "TObjString", Name: test.name, Stored: []byte("x"), Len: test.len})
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.9s, %d bytes: error %v", test.name, test.len, err)
		}
	}
	if math.MaxInt == math.MaxInt32 {
		return
	}
	w := create(t, new(target), fixed("f"))
	large := uint64(math.MaxInt32 + 1)
	_, err := w.Object("", Object{Class: "TObjString", Name: "x", Stored: []byte("x"), Len: int(large)})
	if err == nil || !strings.Contains(err.Error(), "2147483648 bytes do not fit a key") {
		t.Errorf("an object of 2^31 bytes: %v", err)
	}
}

// TestCrosses makes sure that a directory record of 60 bytes crosses the end of a sector of 512 only
// if it begins in its last 59.
func TestCrosses(t *testing.T) {
	for at, want := range map[int64]bool{0: false, 452: false, 453: true, 511: true, 512: false, 964: false, 965: true} {
		if crosses(at) != want {
			t.Errorf("at %d: %v", at, !want)
		}
	}
}

// TestCommitReadFails has each read of a commit fail: that is an error, unless it was to find out
// what can be freed.
func TestCommitReadFails(t *testing.T) {
	errRead := errors.New("read")
	commit := func(failAt int) (m *target, reads int, err error) {
		m = new(target)
		w := create(t, m, fixed("f"))
		_, err = w.Object("dir", plain("x", "x"))
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		f := &failingRead{target: m, failAt: -1, err: errRead}
		if w, err = Append(f, int64(len(m.b)), fixed("")); err != nil {
			t.Fatal(err)
		}
		if _, err = w.Object("dir", plain("y", "y")); err != nil {
			t.Fatal(err)
		}
		f.reads, f.failAt = 0, failAt
		err = w.Commit()
		return m, f.reads, err
	}
	_, total, err := commit(-1)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i := range total {
		m, _, err := commit(i)
		if errors.Is(err, errRead) {
			failed++
		} else if s := missing(t, m.open(t), map[string]string{"dir/x;1": "x", "dir/y;1": "y"}); err != nil || s != "" {
			t.Errorf("read %d of %d fails: %v, %s", i, total, err, s)
		}
	}
	if failed < 2 { // those of the start of the file and the directory
		t.Errorf("%d of %d reads are needed", failed, total)
	}
}

// TestCheckInfos checks streamer infos that are right, damaged, and of an unknown form.
func TestCheckInfos(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	if err := errors.Join(fill(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	k, object := infoRecord(t, m.open(t))
	at := bytes.Index(m.b, object)
	if at < 0 {
		t.Skip("the streamer infos are compressed")
	}
	for _, test := range []struct {
		name   string
		damage func(b []byte)
		want   error
	}{
		{"right", func([]byte) {}, nil},
		{"a count of too many bytes", func(b []byte) { binary.BigEndian.PutUint32(b, 1<<30|1<<20) }, frame.ErrCorrupt},
		{"no count", func(b []byte) { clear(b[:4]) }, nil}, // an unknown form
	} {
		bad := &target{b: bytes.Clone(m.b)}
		test.damage(bad.b[at:])
		if err := bad.open(t).CheckInfos(k); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}
