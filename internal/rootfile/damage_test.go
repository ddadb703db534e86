package rootfile

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
)

func TestOpenRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		is   error
		says string
	}{
		"empty":  {"", frame.ErrCorrupt, "empty"},
		"text":   {"Hello, world", frame.ErrCorrupt, `begins with "Hello, w"`},
		"short":  {"roo", frame.ErrCorrupt, `begins with "roo"`},
		"magic":  {"root", frame.ErrCorrupt, "need 4 bytes"},
		"zeros":  {string(make([]byte, 5000)), frame.ErrCorrupt, "never closed, or its writer crashed; rnt recover"},
		"bare":   {"rntuple\x00\x00\x00\x01", frame.ErrUnsupported, "bare RNTuple"},
		"passwd": {"root:x:0:0:root:/root:/bin/sh\n", frame.ErrCorrupt, `not a ROOT file: it begins with "root:x:0"`},
		"header": {"root\x00" + strings.Repeat("\xff", 200), frame.ErrCorrupt, "before the top directory"},
	} {
		_, err := Open(strings.NewReader(test.file), int64(len(test.file)))
		if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(strings.NewReader(""), -1); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("negative size: %v", err)
	}
	if _, err := Open(strings.NewReader("root"), 1<<40); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("file shorter than said: %v", err)
	}
	lost := errors.New("connection lost")
	_, err := Open(readerFunc(func([]byte, int64) (int, error) { return 0, lost }), 1000)
	if !errors.Is(err, lost) || errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("storage fails: %v", err)
	}
}

type readerFunc func([]byte, int64) (int, error)

func (f readerFunc) ReadAt(b []byte, off int64) (int, error) { return f(b, off) }

// TestNeverClosed opens a file whose writer was killed: its header was written
// once, when the file was created.
func TestNeverClosed(t *testing.T) {
	b := newFile(t, "killed.root")
	b.top().add("TH1D", "x", 1, []byte("x"))
	img := b.close()
	b.root.SeekKeys, b.root.NBytesKeys = 0, 0
	img.put(100, encode(t, &b.root))
	b.header.SeekFree = 0
	img.put(0, encode(t, &b.header))
	if _, err := Open(img, img.size); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), "never closed, or its writer crashed; rnt recover") {
		t.Error(err)
	}
}

// TestTruncated reads a file that lacks its end, as far as it goes.
func TestTruncated(t *testing.T) {
	b := nested(t)
	here := b.end
	b.end += 1 << 20
	b.top().add("TH1D", "gone", 1, []byte("behind the lists of keys"))
	b.end = here
	b.close()
	b.header.End = b.img.size
	b.img.put(0, encode(t, &b.header))

	f, err := Open(io.NewSectionReader(b.img, 0, b.end), b.end)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list(t, f)); n != 11 {
		t.Errorf("%d keys", n)
	}
	gone, err := f.Find("gone")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Payload(gone)
	var fault *frame.FormatError
	if !errors.Is(err, frame.ErrCorrupt) || !errors.As(err, &fault) || !strings.Contains(err.Error(), "truncated") {
		t.Error(err)
	}
}

// TestEveryPrefix opens every prefix of a file and reads what it lists: either
// works, or gives a proper error.
func TestEveryPrefix(t *testing.T) {
	whole := nested(t).close().bytes()
	for n := range whole {
		if exercise(t, whole[:n:n]) && n < 100 {
			t.Errorf("%d bytes are a file", n)
		}
	}
	if !exercise(t, whole) {
		t.Error("the whole is not readable")
	}
}

// exercise reads everything in a file, and reports whether that succeeded.
func exercise(t testing.TB, b []byte) bool {
	sound := true
	check := func(err error) {
		if err == nil {
			return
		}
		sound = false
		n := 0
		for _, kind := range []error{frame.ErrCorrupt, frame.ErrChecksum, frame.ErrUnsupported, ErrNotFound} {
			if errors.Is(err, kind) {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d kinds of error: %v", n, err)
		}
	}
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	check(err)
	if err != nil {
		return false
	}
	visited := 0
	check(f.Walk(func(dir string, k Key) error {
		if visited++; visited > 30 || k.ObjLen > 1<<20 {
			return nil
		}
		_, err := f.Payload(k)
		check(err)
		if !strings.ContainsAny(join(dir, k.Name), ";") && !strings.Contains(k.Name, "/") {
			_, err = f.Find(join(dir, k.Name), k.Class)
			check(err)
		}
		return nil
	}))
	// Keys of 29 bytes and more, in lists that do not overlap.
	if visited > len(b)/minKey {
		t.Fatalf("%d keys in %d bytes", visited, len(b))
	}
	return sound
}

// TestHostileDirectories walks over directories that contain themselves, or each
// other's lists.
func TestHostileDirectories(t *testing.T) {
	walk := func(f *File) error {
		n := 0
		return f.Walk(func(string, Key) error {
			if n++; n > 10000 {
				t.Fatal("Walk does not end")
			}
			return nil
		})
	}
	for name, build := range map[string]func(b *builder){
		"itself": func(b *builder) {
			d := b.top().mkdir("a")
			d.list.Keys = append(d.list.Keys, b.top().list.Keys[0])
		},
		"twice": func(b *builder) { // 2^20 visits if it was walked
			d := b.top()
			for range 20 {
				sub := d.mkdir("a")
				d.list.Keys = append(d.list.Keys, d.list.Keys[0])
				d = sub
			}
		},
		"the top one": func(b *builder) {
			d := b.top()
			k := d.add("TDirectory", "top", 1, nil)
			// The key's payload is made to be the top directory's record.
			k.SeekKey, k.KeyLen = 100, uint16(d.at-100)
			d.list.Keys[0] = k
		},
		"deep": func(b *builder) {
			d := b.top()
			for range maxDepth + 2 {
				d = d.mkdir("a")
			}
		},
		"long": func(b *builder) { // every key repeats the path
			b.top().mkdir(strings.Repeat("a", maxPath)).mkdir("b")
		},
	} {
		b := newFile(t, "hostile.root")
		build(b)
		f := b.open()
		kind, says := frame.ErrCorrupt, "another directory"
		switch name {
		case "deep":
			kind, says = frame.ErrUnsupported, "nested more than 100 deep"
		case "long":
			kind, says = frame.ErrUnsupported, "longer than 4096 bytes"
		case "the top one":
			says = "its record says TFile"
		}
		if err := walk(f); !errors.Is(err, kind) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// Overlapping lists at different places.
	b := newFile(t, "hostile.root")
	first := b.top().mkdir("a")
	for range 10 {
		first.add("TH1D", "x", 1, nil)
	}
	second := b.top().mkdir("b")
	b.close()
	second.rec.SeekKeys, second.rec.NBytesKeys = 1, uint32(b.img.size)-1
	b.img.put(second.at, encode(t, second.rec))
	f, err := Open(b.img, b.img.size)
	if err != nil {
		t.Fatal(err)
	}
	if err := walk(f); !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("overlapping lists: %v", err)
	}
}

// TestListedKeys changes lists of keys: Find never returns another object than the
// one that was asked for.
func TestListedKeys(t *testing.T) {
	for name, change := range map[string]func(b *builder, x1, x2 *Key){
		"name of the newest":  func(_ *builder, _, x2 *Key) { x2.Name = "y" },
		"class of the newest": func(_ *builder, _, x2 *Key) { x2.Class = "TH1E" },
		"cycle of the newest": func(_ *builder, _, x2 *Key) { x2.Cycle = 0 },
		"cycle of the oldest": func(_ *builder, x1, _ *Key) { x1.Cycle = 3 },
		"place of the newest": func(_ *builder, x1, x2 *Key) { x2.SeekKey = x1.SeekKey },
		"list without the last": func(b *builder, _, _ *Key) {
			b.top().list.Extra = encode(t, &b.top().list.Keys[1])
			b.top().list.Keys = b.top().list.Keys[:1]
		},
		"name of another object": func(b *builder, _, _ *Key) {
			b.top().list.Keys = append(b.top().list.Keys[2:], Key{})
			b.top().list.Keys[0].Name = "x"
		},
	} {
		b := newFile(t, "hostile.root")
		b.top().add("TH1D", "x", 1, []byte("old"))
		b.top().add("TH1D", "x", 2, []byte("new"))
		b.top().add("TH1D", "z", 1, []byte("other"))
		change(b, &b.top().list.Keys[0], &b.top().list.Keys[1])
		f := b.open()
		k, err := f.Find("x", "TH1D")
		var got []byte
		if err == nil {
			got, err = f.Payload(k)
		}
		if !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// The list of another directory, which has objects of the same names.
	b := newFile(t, "hostile.root")
	for _, dir := range []string{"a", "b"} {
		b.top().mkdir(dir).add("TH1D", "x", 1, []byte(dir))
	}
	b.close()
	a, other := *b.dirs[1].rec, b.dirs[2].rec
	a.SeekKeys++ // within the list, as after a flipped bit
	b.img.put(b.dirs[1].at, encode(t, &a))
	f, err := Open(b.img, b.img.size)
	if err == nil {
		_, err = f.Find("a/x")
	}
	if !errors.Is(err, frame.ErrCorrupt) {
		t.Error(err)
	}
	a.SeekKeys = other.SeekKeys
	b.img.put(b.dirs[1].at, encode(t, &a))
	if f, err = Open(b.img, b.img.size); err == nil {
		_, err = f.Find("a/x")
	}
	if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), "list of keys") {
		t.Errorf("list of another directory: %v", err)
	}
}

// TestHostileSizes makes sure that no size in a file leads to allocating more than
// the size of the file.
func TestHostileSizes(t *testing.T) {
	b := nested(t)
	img := b.close()
	good := *b.dirs[0].rec
	stored, err := compress.Append(nil, make([]byte, 8<<20), 505) // some hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	bomb := newFile(t, "bomb.root")
	packed := bomb.record(Key{Cycle: 1, SeekPdir: 100, Class: "TObject", Name: "bomb", ObjLen: 8 << 20}, stored)
	bombed := bomb.open()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, d := range []Directory{
		{NBytesKeys: math.MaxUint32, SeekKeys: good.SeekKeys},
		{NBytesKeys: good.NBytesKeys, SeekKeys: 0xffffffff},
		{NBytesKeys: 0, SeekKeys: good.SeekKeys},
		{NBytesKeys: good.NBytesKeys, SeekKeys: math.MaxInt64, Version: 1005},
		{NBytesKeys: good.NBytesKeys, SeekKeys: -5, Version: 1005},
	} {
		img.put(b.dirs[0].at, encode(t, &d))
		f, err := Open(img, img.size)
		if err == nil {
			_, err = f.Find("x")
		}
		if !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	img.put(b.dirs[0].at, encode(t, &good))
	f, err := Open(img, img.size)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Key{
		{NBytes: math.MaxInt32, SeekKey: 100},
		{NBytes: 10, KeyLen: 11, SeekKey: 100},
		{NBytes: -10, SeekKey: 100},
		{NBytes: math.MinInt32, KeyLen: math.MaxUint16, SeekKey: 100},
		{NBytes: 10, SeekKey: -1},
		{NBytes: 10, SeekKey: math.MaxInt64},
		{NBytes: 10, KeyLen: 10, SeekKey: math.MaxInt64},
		{NBytes: 50, ObjLen: math.MaxUint32, SeekKey: 100},
		{NBytes: 0, ObjLen: 1, SeekKey: 100},
	} {
		if _, err := f.Payload(k); !errors.Is(err, frame.ErrCorrupt) && !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%+v: %v", k, err)
		}
	}
	if _, err := bombed.Payload(packed); !errors.Is(err, frame.ErrUnsupported) ||
		!strings.Contains(err.Error(), "the limit is") {
		t.Errorf("8 MiB of zeros: %v", err)
	}
	for _, begin := range []uint32{0, 90, 1 << 20, math.MaxUint32} {
		h := b.header
		h.Begin = begin
		img.put(0, encode(t, &h))
		if _, err := Open(img, img.size); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("first record at %d: %v", begin, err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}
