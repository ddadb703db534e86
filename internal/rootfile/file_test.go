package rootfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
)

// list returns the keys that Walk visits, as "dir/name;cycle class".
func list(t testing.TB, f *File) []string {
	t.Helper()
	var all []string
	err := f.Walk(func(dir string, k Key) error {
		all = append(all, fmt.Sprintf("%s;%d %s", join(dir, k.Name), k.CycleNumber(), k.Class))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// nested builds a file with directories, cycles, keys of both forms in one
// list and an object that is compressed.
func nested(t testing.TB) *builder {
	b := newFile(t, "nested.root")
	top := b.top()
	top.add("TH1D", "x", 1, []byte("x1"))
	sub := top.mkdir("sub")
	b.big = BigVersion
	top.add("ROOT::RNTuple", "x", 3, []byte("x3"))
	deep := sub.mkdir("deep")
	b.big = 0
	top.add("ROOT::RNTuple", "x", -2, []byte("x2"))
	top.add("TObjString", "semi;colon", 1, nil)
	deep.add("ROOT::RNTuple", "x", 1, []byte("deep x"))
	deep.add("TTree", "sub", 1, []byte("not a directory"))
	sub.mkdir("empty")
	packed, err := compress.Append(nil, bytes.Repeat([]byte("text "), 100), 505)
	if err != nil {
		t.Fatal(err)
	}
	sub.addLong("TNamed", "packed", 1, packed, 500)
	return b
}

func TestWalk(t *testing.T) {
	f := nested(t).open()
	want := []string{
		"x;1 TH1D",
		"sub;1 TDirectory",
		"sub/deep;1 TDirectory",
		"sub/deep/x;1 ROOT::RNTuple",
		"sub/deep/sub;1 TTree",
		"sub/empty;1 TDirectory",
		"sub/packed;1 TNamed",
		"x;3 ROOT::RNTuple",
		"x;2 ROOT::RNTuple",
		"semi;colon;1 TObjString",
	}
	if got := list(t, f); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	stop := errors.New("stop")
	n := 0
	err := f.Walk(func(string, Key) error {
		if n++; n == 4 {
			return stop
		}
		return nil
	})
	if err != stop || n != 4 {
		t.Errorf("%v after %d keys", err, n)
	}
}

func TestFind(t *testing.T) {
	f := nested(t).open()
	for _, test := range []struct {
		path  string
		class []string
		want  string // the payload, or part of the error
		ok    bool
	}{
		{"x", nil, "x3", true},
		{"/x", nil, "x3", true},
		{"x;1", nil, "x1", true},
		{"x;2", nil, "x2", true},
		{"x", []string{"TH1D"}, "x1", true},
		{"x", []string{"TTree", anchor.ClassName}, "x3", true},
		{"semi;colon", nil, "", true},
		{"sub/deep/x", nil, "deep x", true},
		{"sub;1/deep/x;1", nil, "deep x", true},
		{"sub/deep/sub", nil, "not a directory", true},
		{"sub/packed", nil, strings.Repeat("text ", 100), true},
		{"y", nil, `"y": not found: no key is called "y" in top directory`, false},
		{"", nil, "not found", false},
		{"x;4", nil, "only x;1 (TH1D), x;3 (ROOT::RNTuple), x;2 (ROOT::RNTuple) is in top directory", false},
		{"x", []string{"TTree"}, "only x;1 (TH1D)", false},
		{"x;1", []string{anchor.ClassName}, "only x;1 (TH1D)", false},
		{"x/y", nil, "only x;1 (TH1D)", false},
		{"sub/x", nil, `in directory "sub"`, false},
		{"sub/deep/sub/x", nil, `only sub;1 (TTree) is in directory "sub/deep"`, false},
		{"sub/empty/x", nil, `in directory "sub/empty"`, false},
	} {
		k, err := f.Find(test.path, test.class...)
		if !test.ok {
			if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v, want %q", test.path, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.path, err)
			continue
		}
		if b, err := f.Payload(k); err != nil || string(b) != test.want {
			t.Errorf("%q: payload %q, %v, want %q", test.path, b, err, test.want)
		}
	}
}

// TestFindOthers makes sure that errors name at most five keys that have the name, but another class.
func TestFindOthers(t *testing.T) {
	keys := make([]Key, 7)
	for n, want := range map[int]string{
		5: "only x;1 (A), x;2 (A), x;3 (A), x;4 (A), x;5 (A) is",
		7: "only x;1 (A), x;2 (A), x;3 (A), x;4 (A), x;5 (A), ... is",
	} {
		for i := range keys[:n] {
			keys[i] = Key{Class: "A", Name: "x", Cycle: int16(i + 1)}
		}
		_, err := choose(keys[:n], "x", func(Key) bool { return false })
		if !errors.Is(err, ErrNotFound) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d keys: %v, want %s", n, err, want)
		}
	}
}

// TestReads counts reads: one each for the header with the top directory, for each
// list, for each directory below, and for the object.
func TestReads(t *testing.T) {
	b := nested(t)
	b.end += 1 << 20 // a gap, which must not be read
	b.top().add("ROOT::RNTuple", "far", 1, make([]byte, 78))
	f := b.open()
	img := b.img
	if want := []int{firstRead}; !slices.Equal(img.reads, want) {
		t.Errorf("Open reads %d, want %d", img.reads, want)
	}
	for path, want := range map[string]int{"far": 1, "sub/deep/x": 5} {
		img.reads = nil
		k, err := f.Find(path)
		if err != nil || len(img.reads) != want {
			t.Errorf("%s: reads %d, want %d; %v", path, img.reads, want, err)
		}
		img.reads = nil
		if _, err := f.Payload(k); err != nil || len(img.reads) != 1 {
			t.Errorf("%s: Payload reads %d, %v", path, img.reads, err)
		}
	}
}

// TestLongNames opens a file whose name fills the first read, so that the directory
// needs another one.
func TestLongNames(t *testing.T) {
	b := newFile(t, strings.Repeat("n", 4000))
	b.top().add("TObjString", strings.Repeat("k", 300), 1, []byte("payload"))
	f := b.open()
	if len(b.img.reads) != 2 {
		t.Errorf("reads %d", b.img.reads)
	}
	if f.Root.Name != strings.Repeat("n", 4000) || len(list(t, f)) != 1 {
		t.Errorf("file %q", f.Root.Name)
	}
}

// TestBigFile reads a file with records before and after a hole of several GB.
func TestBigFile(t *testing.T) {
	for _, at := range []int64{1<<31 - 200, 1 << 32, 5 << 40} {
		b := newFile(t, "big.root")
		b.top().add("TObjString", "before", 1, []byte("small key"))
		before := b.top().mkdir("dir")
		b.end, b.big = at, BigVersion
		before.add("TObjString", "behind", 1, []byte("big key"))
		b.top().mkdir("late").add("TObjString", "late", 1, []byte("late key"))
		before.rec.Version = DirectoryVersion + BigVersion
		f := b.open()
		if !f.Header.Big || !f.Root.Big() || f.Header.End < at {
			t.Errorf("header %+v", f.Header)
		}
		for path, want := range map[string]string{"before": "small key", "dir/behind": "big key", "late/late": "late key"} {
			k, err := f.Find(path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if got, err := f.Payload(k); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		}
		if n := len(list(t, f)); n != 5 {
			t.Errorf("%d keys", n)
		}
	}
}

// TestAnchorAndBlob reads an RNTuple as ROOT's RNTupleWriter embeds it: a
// compressed anchor, and a payload that is split over several keys.
func TestAnchorAndBlob(t *testing.T) {
	b := newFile(t, "ntuple.root")
	b.big = BigVersion
	payload := bytes.Repeat([]byte("0123456789abcdef"), 14008/16+1)[:14008]
	var chunks int
	offset, err := anchor.WriteBlob(payload, 1000, func(parts ...[]byte) (int64, error) {
		chunks++
		k := b.record(Key{Class: BlobClassName, Cycle: 1, SeekPdir: 100, ObjLen: 7}, slices.Concat(parts...))
		return k.SeekKey + int64(k.KeyLen), nil
	})
	if err != nil || chunks != 15 {
		t.Fatalf("%d chunks, %v", chunks, err)
	}
	want := anchor.Anchor{ClassVersion: anchor.ClassVersion, Epoch: 1, SeekHeader: uint64(offset),
		NBytesHeader: 14008, MaxKeySize: 1000}
	object, err := want.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := compress.Append(nil, object, 505)
	if err != nil || len(packed) >= len(object) {
		t.Fatalf("%d bytes packed, %v", len(packed), err)
	}
	b.top().addLong(anchor.ClassName, "ntuple", 1, packed, len(object))
	f := b.open()

	k, err := f.Find("ntuple", anchor.ClassName, anchor.ExperimentalClassName)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Payload(k)
	if err != nil {
		t.Fatal(err)
	}
	a, err := anchor.Parse(got)
	if err != nil || a.SeekHeader != want.SeekHeader {
		t.Fatalf("anchor %+v, %v", a, err)
	}
	read := make([]byte, a.NBytesHeader)
	if err := anchor.ReadBlob(b.img, read, int64(a.SeekHeader), a.MaxKeySize); err != nil || !bytes.Equal(read, payload) {
		t.Errorf("blob differs, %v", err)
	}

	// The compressed anchor is damaged.
	b.img.put(k.SeekKey+int64(k.KeyLen), []byte("??"))
	if _, err := f.Payload(k); !errors.Is(err, frame.ErrUnsupported) {
		t.Errorf("unknown compression: %v", err)
	}
	// The key of an RBlob does not give the length of its payload.
	blob := Key{NBytes: 30, KeyLen: 10, SeekKey: 100, Class: BlobClassName}
	for _, blob.ObjLen = range []uint32{0, 7, 20, 1 << 31} {
		if got, err := f.Payload(blob); err != nil || len(got) != 20 {
			t.Errorf("RBlob with object length %d: %d bytes, %v", blob.ObjLen, len(got), err)
		}
	}
}
