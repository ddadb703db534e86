package anchor

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/go-rntuple/go-rntuple/frame"
)

// fromROOT is the anchor of test_int_float_rntuple_v1-0-0-0.root (ROOT 6.35),
// member by member.
var fromROOT = unhex(`
	40000042 0002
	0001 0000 0000 0000
	000000000000012e 00000000000000a7 0000000000000107
	00000000000002fa 0000000000000052 0000000000000094
	0000000040000000
	1b82482c09f52d5c`)

var fromROOTAnchor = Anchor{
	ClassVersion: 2, Epoch: 1,
	SeekHeader: 0x12e, NBytesHeader: 0xa7, LenHeader: 0x107,
	SeekFooter: 0x2fa, NBytesFooter: 0x52, LenFooter: 0x94,
	MaxKeySize: 1 << 30,
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		panic(err)
	}
	return b
}

func TestGolden(t *testing.T) {
	a, err := Parse(fromROOT)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*a, fromROOTAnchor) {
		t.Errorf("got %+v, want %+v", *a, fromROOTAnchor)
	}
	b, err := fromROOTAnchor.Append([]byte("before"))
	if err != nil || !bytes.Equal(b, append([]byte("before"), fromROOT...)) {
		t.Errorf("Append: %x, %v", b, err)
	}
}

func TestPrefixesAreRefused(t *testing.T) {
	newer := fromROOTAnchor
	newer.Extra = []byte("twenty members longer")
	long, err := newer.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range [][]byte{fromROOT, long} {
		for n := range whole {
			if _, err := Parse(whole[:n]); !errors.Is(err, frame.ErrCorrupt) {
				t.Errorf("%d of %d bytes: %v", n, len(whole), err)
			}
		}
		if _, err := Parse(append(whole[:len(whole):len(whole)], 0)); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%d bytes and one more: %v", len(whole), err)
		}
	}
}

func TestEveryByteIsChecked(t *testing.T) {
	for i := range fromROOT {
		b := bytes.Clone(fromROOT)
		b[i] ^= 0x10
		_, err := Parse(b)
		switch {
		case i < countSize:
			if !errors.Is(err, frame.ErrCorrupt) {
				t.Errorf("byte count damaged: %v", err)
			}
		case i < hashFrom: // ROOT does not hash the class version
			if err != nil {
				t.Errorf("class version changed: %v", err)
			}
		default:
			if !errors.Is(err, frame.ErrChecksum) {
				t.Errorf("byte %d damaged: %v", i, err)
			}
		}
	}
}

func TestNewerMembersAreKept(t *testing.T) {
	a := fromROOTAnchor
	a.ClassVersion, a.Extra = 3, []byte{0}
	b, err := a.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte{0x40, 0, 0, 0x43, 0, 3}; !bytes.Equal(b[:6], want) {
		t.Errorf("begins with %x, want %x", b[:6], want)
	}
	got, err := Parse(b)
	if err != nil || !reflect.DeepEqual(*got, a) {
		t.Errorf("got %+v, %v", got, err)
	}
	b[len(b)-9] = 1 // the extra byte
	if _, err := Parse(b); !errors.Is(err, frame.ErrChecksum) {
		t.Errorf("damaged extra byte: %v", err)
	}
}

func TestSupported(t *testing.T) {
	for _, test := range []struct {
		a       Anchor
		version string
		says    string // empty: supported
	}{
		{Anchor{Epoch: 1}, "1.0.0.0", ""},
		{Anchor{Epoch: 1, Major: 9, Minor: 8, Patch: 7}, "1.9.8.7", ""},
		{Anchor{Epoch: 0, Major: 2}, "0.2.0.0", "pre-release"},
		{Anchor{Epoch: 0, Major: 3}, "0.3.0.0", ""},
		{Anchor{Epoch: 2}, "2.0.0.0", "newer"},
	} {
		if v := test.a.Version(); v != test.version {
			t.Errorf("Version is %s, want %s", v, test.version)
		}
		err := test.a.Supported()
		if test.says == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, frame.ErrUnsupported) || !strings.Contains(err.Error(), test.says) ||
			!strings.Contains(err.Error(), test.version) {
			t.Errorf("%s: %v", test.version, err)
		}
	}
}

// Anchors of old layouts are not called broken.
func TestPreRelease(t *testing.T) {
	for _, test := range []struct {
		head string
		size int
	}{
		{"40000036 0000", 58}, {"40000036 0003", 58}, {"40000042 0004", 70}, {"4000003a 0005", 70},
	} {
		b := make([]byte, test.size)
		copy(b, unhex(test.head))
		if _, err := Parse(b); !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%s: %v", test.head, err)
		}
		if _, err := Parse(b[:len(b)-1]); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%s, cut: %v", test.head, err)
		}
	}
}

// The largest byte count must not run into ROOT's flag.
func TestTooManyExtraBytes(t *testing.T) {
	a := Anchor{Extra: make([]byte, countMask)}
	if b, err := a.Append([]byte("x")); err == nil || string(b) != "x" {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func FuzzAnchor(f *testing.F) {
	f.Add(fromROOT)
	for _, a := range []Anchor{{}, {ClassVersion: 7, Extra: []byte("more")}, {Epoch: 2, MaxKeySize: 1}} {
		b, err := a.Append(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkParse(t, b)
		// The fuzzer cannot guess a checksum, so repair what a reader tests.
		if len(b) >= minSize {
			b = bytes.Clone(b)
			end := len(b) - sumSize
			c := frame.NewWriter(b[:0], "").BigEndian()
			count := countFlag | uint32(end-countSize)
			frame.Int(c, "", &count)
			c = frame.NewWriter(b[:end], "").BigEndian()
			sum := xxh3.Hash(b[hashFrom:end])
			frame.Int(c, "", &sum)
			if _, err := Parse(b); err != nil {
				t.Fatalf("repaired anchor: %v", err)
			}
			checkParse(t, b)
		}
	})
}

// checkParse checks that what can be read is written as it was, and that all
// else gives a proper error.
func checkParse(t *testing.T, b []byte) {
	a, err := Parse(b)
	var fault *frame.FormatError
	switch {
	case err != nil && (a != nil || !errors.As(err, &fault) || fault.Offset > int64(len(b))):
		t.Fatalf("%v, %#v", a, err)
	case err == nil:
		if again, err := a.Append(nil); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x read as %+v, written as %x, %v", b, a, again, err)
		}
	}
}
