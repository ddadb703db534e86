package rootfile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
)

func TestCreate(t *testing.T) {
	for _, from := range []int64{0, 1, 300, 900, 1500, 3000} {
		for _, s := range []compress.Settings{0, 505} {
			m := new(target)
			o := fixed("new.root")
			o.BigFrom, o.Compression, o.Title = from, s, "a title"
			w := create(t, m, o)
			if err := fill(w); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f := m.open(t)
			if got := contents(t, f); !maps.Equal(got, filled) {
				t.Errorf("big from %d: %v", from, got)
			}
			checkChain(t, f)
			if w.Size() != int64(len(m.b)) || f.Header.End != w.Size() {
				t.Errorf("size %d of %d bytes", w.Size(), len(m.b))
			}
			if big := from > 0; f.Header.Big != big || f.Root.Big() != big {
				t.Errorf("big from %d: header %v, directory %v", from, f.Header.Big, f.Root.Big())
			}
			if f.Root.Name != "new.root" || f.Root.Title != "a title" || f.Header.Compression != uint32(s) {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestListOrder expects the order of ROOT: of a name the newest cycle first, names
// in the order of writing.
func TestListOrder(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed(""))
	if err := errors.Join(fill(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"x;2 TObjString", "x;1 TObjString", "a;1 TDirectory", "a/b;1 TDirectory", "a/b/x;2 TObjString",
		"a/b/x;1 TObjString", "a/z;1 TObjString", "c;1 TDirectory", "c/y;1 TObjString"}
	if got := list(t, m.open(t)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestCreateBytes compares a small file byte by byte. ROOT 6.40 lists, maps and
// updates this file without a message.
func TestCreateBytes(t *testing.T) {
	m := new(target)
	o := fixed("f")
	w := create(t, m, o)
	named, err := hex.DecodeString("40000010000100010000000000000000016e0174")
	if err != nil {
		t.Fatal(err)
	}
	offset, err := w.Blob([]byte("blob"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Object("d", Object{Class: "TNamed", Name: "n", Title: "t", Stored: named,
		Len: len(named)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	infos := newInfos().list
	infos.KeyLen = 64
	const date = "7d42c000"
	var want []byte
	for _, s := range []string{
		// Header: magic, version, begin, end, free list, segments, names,
		// units, compression, infos, UUID.
		"726f6f74 0000fa00 00000064 00000787 0000075a 0000002d 00000001 00000026 04 00000000 00000192 00000526 0001 01000000000000000000000000000002",
		strings.Repeat("00", 37),
		// First record: key, name and title, directory.
		"00000062 0004 0000003f" + date + "0023 0001 00000064 00000000 05 5446696c65 01 66 00", "01 66 00",
		"0005" + date + date + "00000050 00000026 00000064 00000000 000006b8 0001 01000000000000000000000000000002" +
			strings.Repeat("00", 12),
		// RBlob, which always has the big form.
		"0000002e 03ec 00000004" + date + "002a 0001 00000000000000c6 0000000000000064 05 52426c6f62 00 00", "626c6f62",
		// Directory, with the UUID that follows that of the file.
		"00000065 0004 0000003c" + date + "0029 0001 000000f4 00000064 0a 544469726563746f7279 01 64 01 64",
		"0005" + date + date + "00000052 00000029 000000f4 00000064 00000708 0001 01000001000000000000000000000002" +
			strings.Repeat("00", 12),
		// Object.
		"00000039 0004 00000014" + date + "0025 0001 00000159 000000f4 06 544e616d6564 01 6e 01 74",
		hex.EncodeToString(named),
		// Streamer infos.
		"00000526 0004 000004e6" + date +
			"0040 0001 00000192 00000064 05 544c697374 0c 53747265616d6572496e666f 12 446f75626c79206c696e6b6564206c697374",
		hex.EncodeToString(encode(t, &infos)),
		// Key lists of the top directory and of the one in it.
		"00000050 0004 0000002d" + date + "0023 0001 000006b8 00000064 05 5446696c65 01 66 00", "00000001",
		"00000065 0004 0000003c" + date + "0029 0001 000000f4 00000064 0a 544469726563746f7279 01 64 01 64",
		"00000052 0004 00000029" + date + "0029 0001 00000708 000000f4 0a 544469726563746f7279 01 64 01 64", "00000001",
		"00000039 0004 00000014" + date + "0025 0001 00000159 000000f4 06 544e616d6564 01 6e 01 74",
		// Free list: the space beyond the end.
		"0000002d 0004 0000000a" + date + "0023 0001 0000075a 00000064 05 5446696c65 01 66 00", "0001 00000787 77359400",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if at := len(want); !bytes.HasPrefix(m.b[min(at, len(m.b)):], b) {
			t.Errorf("at %d: got\n%x, want\n%x", at, m.b[at:min(at+len(b), len(m.b))], b)
		}
		want = append(want, b...)
	}
	if len(want) != len(m.b) || string(m.b[offset:][:4]) != "blob" {
		t.Errorf("%d bytes, want %d, blob at %d", len(m.b), len(want), offset)
	}
}

func TestDeterminism(t *testing.T) {
	write := func(o Options) []byte {
		m := new(target)
		w := create(t, m, o)
		if err := errors.Join(fill(w), w.Commit(), fill(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		return m.b
	}
	if !bytes.Equal(write(fixed("f")), write(fixed("f"))) {
		t.Error("two runs differ")
	}
	o := fixed("f")
	o.UUID = [16]byte{}
	if bytes.Equal(write(o), write(o)) {
		t.Error("two files have the same UUID")
	}
}

// TestWrites counts writes: payloads that are longer than the buffer have one each,
// small ones are written together.
func TestWrites(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	for range 1000 {
		if _, err := w.Blob([]byte("small")); err != nil {
			t.Fatal(err)
		}
	}
	if m.writes != 0 {
		t.Errorf("%d writes for 47 kB", m.writes)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	offset, err := w.Blob(big)
	if err != nil || m.writes != 2 {
		t.Errorf("%d writes for 1 MB, %v", m.writes, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.b[offset:][:len(big)], big) {
		t.Error("payload differs")
	}
	if m.writes != 4 { // and the tail, and the head
		t.Errorf("%d writes", m.writes)
	}
	checkChain(t, m.open(t))
}

// sparse is a file that does not keep long writes.
type sparse struct{ image }

func (s *sparse) WriteAt(b []byte, at int64) (int, error) {
	if len(b) < 1<<20 {
		s.put(at, bytes.Clone(b))
	}
	return len(b), nil
}

// TestGrow lets a file grow beyond the limit of the small form between commits.
func TestGrow(t *testing.T) {
	s := new(sparse)
	w := create(t, s, fixed("big.root"))
	part := make([]byte, 64<<20)
	want := maps.Clone(filled)
	err := fill(w)
	for i := range 5 {
		err = errors.Join(err, w.Commit())
		parts := slices.Repeat([][]byte{part}, 16)
		if i == 1 {
			parts = append(parts, part)
		}
		_, blobErr := w.Blob(parts...)
		err = errors.Join(err, blobErr)
	}
	_, objectErr := w.Object("a/b/c", plain("far", "away"))
	want["a/b/c/far;1"] = "away"
	if err := errors.Join(err, objectErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := Open(s, s.size)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Header.Big || f.Header.End < 5<<30 {
		t.Errorf("header %+v", f.Header)
	}
	if s := missing(t, f, want); s != "" {
		t.Error(s)
	}
	checkChain(t, f)
	// Payloads that do not fit a key are refused, and do no harm.
	w = create(t, new(sparse), fixed("f"))
	if _, err := w.Blob(slices.Repeat([][]byte{part}, 32)...); err == nil ||
		!strings.Contains(err.Error(), "do not fit a key") {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestObjectErrors(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	if err := fill(w); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("n", 255)
	for name, test := range map[string]struct {
		dir  string
		o    Object
		says string
	}{
		"long name":       {"", plain(long, ""), "255 bytes"},
		"long class":      {"", Object{Class: long}, "255 bytes"},
		"long title":      {"", Object{Title: long}, "255 bytes"},
		"long directory":  {"a/" + long, plain("x", ""), "255 bytes"},
		"more than all":   {"", Object{Stored: []byte("12"), Len: 1}, "2 bytes stored"},
		"directory":       {"", plain("a", ""), `"a" is a directory`},
		"below directory": {"a", plain("b", ""), `"a/b" is a directory`},
		"object":          {"a/z", plain("x", ""), `directory "a/z": directory "a" has an object of that name`},
	} {
		if _, err := w.Object(test.dir, test.o); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Replace("a", Key{SeekKey: 1}, plain("x", "")); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	d, _ := w.folder("a")
	d.keys[1].Cycle = 32767
	if _, err := w.Object("a", plain("z", "")); err == nil || !strings.Contains(err.Error(), "cycle 32767") {
		t.Error(err)
	}
	d.keys[1].Cycle = 1
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, m.open(t)); !maps.Equal(got, filled) {
		t.Errorf("after errors: %v", got)
	}
	if _, err := Create(m, Options{Name: long}); err == nil {
		t.Error("file with a long name")
	}
	_, err := w.Object("", plain("x", ""))
	_, blobErr := w.Blob()
	_, replaceErr := w.Replace("", Key{}, Object{})
	for _, err := range []error{err, blobErr, replaceErr, w.Commit(), w.Close()} {
		if !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if _, err := Create(m, Options{Compression: 905}); !errors.Is(err, frame.ErrUnsupported) {
		t.Error(err)
	}
}

// TestHeaderUnits has positions of 4 bytes in the header, or of 8 in the big form.
func TestHeaderUnits(t *testing.T) {
	for from, want := range map[int64]uint8{0: 4, 1: 8} {
		m := new(target)
		o := fixed("f")
		o.BigFrom = from
		if err := create(t, m, o).Close(); err != nil {
			t.Fatal(err)
		}
		if got := m.open(t).Header.Units; got != want {
			t.Errorf("big from %d on: units of %d bytes, want %d", from, got, want)
		}
	}
}

// TestUUID makes sure that a file gets a random UUID: version 4, in the variant of RFC 4122.
func TestUUID(t *testing.T) {
	for range 20 {
		var o Options
		if err := o.complete(); err != nil {
			t.Fatal(err)
		}
		if o.UUID[6]>>4 != 4 || o.UUID[8]>>6 != 2 {
			t.Errorf("UUID %x", o.UUID)
		}
	}
}
