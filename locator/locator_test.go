package locator_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/locator"
)

var codec = wiretest.Walk("test", func(l *locator.Locator, c *frame.Codec) { l.Wire(c, "locator") })

// vectors: a head of other than simple locators is the negated word
// type<<24 | reserved<<16 | size, where the size includes the head.
var vectors = []struct {
	hex  string
	want locator.Locator
	ok   bool // in a file
}{
	{`00 00 00 00  00 00 00 00 00 00 00 00`, locator.Locator{}, true},
	{`10 00 00 00  f4 01 00 00 00 00 00 00`, locator.Locator{Size: 16, Offset: 500}, true},
	{`ff ff ff 7f  ff ff ff ff ff ff ff ff`, locator.Locator{Size: math.MaxInt32, Offset: math.MaxUint64}, true},
	{`ec ff ff fe  00 00 00 80 00 00 00 00  f4 01 00 00 00 00 00 00`, // -(1<<24 | 20)
		locator.Locator{Type: locator.Large, Size: 1 << 31, Offset: 500}, true},
	{`ec ff ff fe  10 00 00 00 00 00 00 00  f4 01 00 00 00 00 00 00`, // larger than needed
		locator.Locator{Type: locator.Large, Size: 16, Offset: 500}, true},
	{`ec ff a5 fe  00 00 00 00 00 00 00 01  01 00 00 00 00 00 00 80`, // -(1<<24 | 0x5a<<16 | 20)
		locator.Locator{Type: locator.Large, Reserved: 0x5a, Size: 1 << 56, Offset: 1<<63 + 1}, true},
	{`f0 ff ff fd  10 00 00 00  61 62 63 64 65 66 67 68`, // -(2<<24 | 16): a 32-bit size
		locator.Locator{Type: locator.Object, Payload: "\x10\x00\x00\x00abcdefgh"}, false},
	{`ec ff fe fd  10 00 00 00 00 00 00 00  61 62 63 64 65 66 67 68`, // -(2<<24 | 1<<16 | 20): a 64-bit size
		locator.Locator{Type: locator.Object, Reserved: 1, Payload: "\x10\x00\x00\x00\x00\x00\x00\x00abcdefgh"}, false},
	{`f9 ff ff 81  "xyz"`, locator.Locator{Type: 0x7e, Payload: "xyz"}, false}, // -(0x7e<<24 | 7)
	{`fc ff 00 80`, locator.Locator{Type: 0x7f, Reserved: 0xff}, false},        // -(0x7f<<24 | 0xff<<16 | 4)
}

func TestVectors(t *testing.T) {
	for _, test := range vectors {
		got := codec.Check(t, wiretest.Hex(test.hex))
		if *got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.hex, *got, test.want)
		}
		if err := got.InFile(); (err == nil) != test.ok || !test.ok && !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%s: in a file: %v", test.hex, err)
		}
	}
	// The longest: 64 KiB with the head.
	long := wiretest.Hex(`01 00 ff f8`).Bytes // -(7<<24 | 0xffff)
	if got := codec.RoundTrip(t, append(long, make([]byte, 0xffff-4)...)); len(got.Payload) != 0xffff-4 || got.Type != 7 {
		t.Errorf("type %v, %d bytes", got.Type, len(got.Payload))
	}
}

func TestMalformed(t *testing.T) {
	for _, head := range []string{
		`00 00 00 80`, // the lowest integer: its own negation, size 0
		`ff ff ff ff`, // size 1, type 0
		`ec ff ff ff`, // size 20, but type 0
		`fd ff ff fd`, // size 3: less than the head
		`00 00 ff fd`, // size 0
		`ed ff ff fe`, // large, of size 19
		`eb ff ff fe`, // large, of size 21
		`fc ff ff fe`, // large, of size 4
	} {
		_, _, err := codec.Parse(append(wiretest.Hex(head).Bytes, make([]byte, 64)...))
		if err == nil {
			t.Errorf("%s is taken for a locator", head)
		} else if f := wiretest.Fault(t, err, frame.ErrCorrupt); f.Path != "test.locator.head" {
			t.Errorf("%s: %v", head, err)
		}
	}
	for _, l := range []locator.Locator{
		{Size: 1 << 31},
		{Type: 0x80, Payload: "x"},
		{Type: 2, Payload: string(make([]byte, 0x10000-4))},
	} {
		if _, err := codec.Append(nil, &l); err == nil || errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("type %v, size %d, %d bytes of payload: %v", l.Type, l.Size, len(l.Payload), err)
		}
	}
}

func TestAt(t *testing.T) {
	for size, want := range map[uint64]locator.Type{0: locator.File, math.MaxInt32: locator.File,
		math.MaxInt32 + 1: locator.Large, math.MaxUint64: locator.Large} {
		l := locator.At(7, size)
		b, err := codec.Append(nil, &l)
		if err != nil || l.Type != want || *codec.RoundTrip(t, b) != l || l.Size != size || l.Offset != 7 {
			t.Errorf("%d bytes: %+v, %v", size, l, err)
		}
	}
	for l, want := range map[locator.Type]string{locator.File: "File", locator.Large: "Large", locator.Object: "Object64",
		locator.Multi: "Multi", 0x7e: "Type(0x7e)"} {
		if l.String() != want {
			t.Errorf("%v, want %s", l, want)
		}
	}
}

func TestStrings(t *testing.T) {
	for l, want := range map[locator.Locator]string{
		locator.At(0x1000, 128):                     "128 bytes at offset 0x1000",
		locator.At(1<<40, 1<<32):                    "4294967296 bytes at offset 0x10000000000",
		{Type: locator.Object, Payload: "\x01\xff"}: "Object64 locator 01ff",
		{Type: locator.Multi, Payload: "\x01\xff"}:  "Multi locator 01ff",
		{Type: locator.Object, Payload: "\x80\x00\x00\x00\x05\x00\x00\x00\x01\x00\x00\x00"}: "128 bytes in object 4294967301",
		{Type: 0x7e, Payload: "a"}:                    "Type(0x7e) locator 61",
		{Type: locator.URI, Payload: "https://cern/"}: `URI "https://cern/"`,
	} {
		if got := l.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	link := locator.Link{Length: 300, Locator: locator.At(0x1000, 128)}
	if got, want := link.String(), "300 bytes, stored as 128 bytes at offset 0x1000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestObject reads the numbers and sizes of objects.
func TestObject(t *testing.T) {
	for _, test := range []struct {
		hex      string
		id, size uint64
		want     error
	}{
		{`f0 ff ff fd  10 00 00 00  2a 00 00 00 00 00 00 80`, 1<<63 + 42, 16, nil},
		{`ec ff ff fd  10 00 00 00 01 00 00 00  2a 00 00 00 00 00 00 00`, 42, 1<<32 + 16, nil},
		{`ec ff fe fd  10 00 00 00 00 00 00 00  2a 00 00 00 00 00 00 00`, 42, 16, nil}, // with reserved bits
		{`f8 ff ff fd  10 00 00 00`, 0, 0, frame.ErrCorrupt},
		{`eb ff ff fd  10 00 00 00 00 00 00 00  2a 00 00 00 00 00 00 00 00`, 0, 0, frame.ErrCorrupt},
		{`f0 ff ff fc  10 00 00 00  2a 00 00 00 00 00 00 00`, 0, 0, frame.ErrUnsupported}, // of type Multi
		{`10 00 00 00  f4 01 00 00 00 00 00 00`, 0, 0, frame.ErrUnsupported},              // in a file
	} {
		l, _, err := locator.Parse(wiretest.Hex(test.hex).Bytes)
		if err != nil {
			t.Fatal(test.hex, err)
		}
		if id, size, err := l.Object(); id != test.id || size != test.size || !errors.Is(err, test.want) {
			t.Errorf("%s: object %d of %d bytes, %v", test.hex, id, size, err)
		}
	}
}

func TestLink(t *testing.T) {
	codec := wiretest.Walk("test", func(l *locator.Link, c *frame.Codec) { l.Wire(c, "link") })
	got := codec.Check(t, wiretest.Hex(`00 01 00 00 00 00 00 00  10 00 00 00  f4 01 00 00 00 00 00 00`))
	if (*got != locator.Link{Length: 256, Locator: locator.Locator{Size: 16, Offset: 500}}) {
		t.Errorf("got %+v", *got)
	}
}

func FuzzLocator(f *testing.F) {
	for _, v := range vectors {
		f.Add(wiretest.Hex(v.hex).Bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) { codec.Try(t, b) })
}
