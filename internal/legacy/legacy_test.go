package legacy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	. "github.com/go-rntuple/go-rntuple/internal/test/wiretest"
)

// The anchors are written by hand after the classes in ROOT's sources.

const (
	oldHex = `
		40 00 00 36  00 03  c9 47 08 94                 # byte count, class version, class checksum
		00 00 00 00  00 00 00 38                        # version, size
		00 00 00 00 00 00 01 02  00 00 00 03  00 00 00 04
		00 00 00 00 00 00 01 05  00 00 00 06  00 00 00 07
		00 00 00 00 00 00 00 00`
	seeks = `
		00 00 00 02 00 00 00 00                         # 0.2.0.0
		00 00 00 00 00 00 01 02  00 00 00 00 00 00 00 03  00 00 00 00 00 00 00 04
		00 00 00 00 00 00 01 05  00 00 00 00 00 00 00 06  00 00 00 00 00 00 00 07`
	midHex   = `40 00 00 42  00 04` + seeks
	noMaxHex = `40 00 00 3a  00 05` + seeks
	maxHex   = `40 00 00 42  00 06` + seeks + `
		00 00 00 00 40 00 00 00`
)

// summed appends the checksum of everything behind the class version.
func summed(hex string) []byte {
	b := Hex(hex).Bytes
	return binary.BigEndian.AppendUint64(b, checksum.Sum(b[6:]))
}

func TestAnchor(t *testing.T) {
	want := anchor.Anchor{SeekHeader: 0x102, NBytesHeader: 3, LenHeader: 4, SeekFooter: 0x105,
		NBytesFooter: 6, LenFooter: 7}
	rc2 := want
	rc2.Major = 2
	for _, test := range []struct {
		class  uint16
		max    uint64
		b      []byte
		anchor anchor.Anchor
	}{
		{3, 0, Hex(oldHex).Bytes, want},
		{0, 0, Hex(strings.Replace(oldHex, "00 03  c9 47 08 94", "00 00  65 5b 8f 56", 1)).Bytes, want},
		{4, 0, summed(midHex), rc2},
		{5, 0, summed(noMaxHex), rc2},
		{6, 1 << 30, summed(maxHex), rc2},
	} {
		got, err := ParseAnchor(test.b)
		test.anchor.ClassVersion, test.anchor.MaxKeySize = test.class, test.max
		if err != nil || !reflect.DeepEqual(*got, test.anchor) {
			t.Errorf("class version %d: got %+v, %v, want %+v", test.class, got, err, test.anchor)
		}
		for n := range test.b {
			_, err := ParseAnchor(test.b[:n:n])
			Fault(t, err, frame.ErrCorrupt, frame.ErrChecksum)
		}
		_, err = ParseAnchor(append(slices.Clip(test.b), 0))
		Fault(t, err, frame.ErrCorrupt, frame.ErrChecksum)
		for i := range test.b {
			b := bytes.Clone(test.b)
			b[i] ^= 0x10
			if _, err := ParseAnchor(b); err != nil {
				Fault(t, err, frame.ErrCorrupt, frame.ErrChecksum, frame.ErrUnsupported)
			} else if test.class > 3 {
				t.Errorf("class version %d: byte %d changed: no error", test.class, i)
			}
		}
	}
	Walk("anchor", func(o *oldAnchor, c *frame.Codec) { o.Wire(c.BigEndian()) }).Check(t, Hex(oldHex))
	for _, hex := range []string{midHex, noMaxHex} {
		Walk("anchor", func(m *midAnchor, c *frame.Codec) { m.Wire(c.BigEndian()) }).Check(t, Vector{Bytes: summed(hex)})
	}
	for _, class := range []string{"00 01", "00 02", "00 07"} {
		_, err := ParseAnchor(Hex(strings.Replace(oldHex, "00 03", class, 1)).Bytes)
		Fault(t, err, frame.ErrUnsupported)
	}
}

func TestVersion(t *testing.T) {
	for _, test := range []struct {
		a    anchor.Anchor
		want string
	}{
		{anchor.Anchor{ClassVersion: 2, Epoch: 1, Minor: 2}, "1.0.2.0"},
		{anchor.Anchor{ClassVersion: 4, Major: 2}, "0.2.0.0, pre-release RC2, ROOT 6.32"},
		{anchor.Anchor{ClassVersion: 6, Major: 2}, "0.2.0.0, pre-release RC2, ROOT 6.33"},
	} {
		if got := Version(&test.a); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Dialects that are not known are refused by what they say they are.
func TestUnknown(t *testing.T) {
	for _, test := range []struct {
		a      anchor.Anchor
		header string
		kind   error
		says   string
	}{
		{anchor.Anchor{ClassVersion: 6, Major: 4}, ``, frame.ErrUnsupported, "0.4.0.0"},
		{anchor.Anchor{ClassVersion: 4, Epoch: 1, Major: 2}, ``, frame.ErrUnsupported, "1.2.0.0"},
		{anchor.Anchor{ClassVersion: 3}, `02 00 01 00`, frame.ErrUnsupported, "version 2"},
		{anchor.Anchor{ClassVersion: 0}, `00 00 01`, frame.ErrCorrupt, "4 bytes"},
		{anchor.Anchor{ClassVersion: 0}, `00 00 00 00 01`, frame.ErrChecksum, "header"},
		{anchor.Anchor{ClassVersion: 0}, `01 00 01 00`, frame.ErrChecksum, "header"},
	} {
		_, err := Parse(&test.a, Hex(test.header).Bytes, nil)
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v, %s: %v", test.a, test.header, err)
		}
	}
}

func TestBare(t *testing.T) {
	const head = `"rntuple"  00 00 f6 7d  00 00 00 01  00 00 01 f9`
	for _, test := range []struct {
		dummy  string
		object []byte
		tail   string // in place of the last bytes of the object
		class  string
	}{
		{strings.Repeat("00 ", 54), Hex(oldHex).Bytes, "", anchor.ExperimentalClassName},
		{strings.Repeat("00 ", 66), summed(midHex), "", anchor.ExperimentalClassName},
		{strings.Repeat("00 ", 66), summed(maxHex), "little-endian", anchor.ExperimentalClassName},
		{strings.Repeat("00 ", 66), summed(strings.Replace(maxHex, "00 06", "00 02", 1)), "little-endian", anchor.ClassName},
	} {
		b := append(Hex(head).Bytes, test.object[:6]...)
		b = append(b, Hex(test.dummy).Bytes[2:]...)
		b = append(append(b, "\x03ntp"...), test.object...)
		if test.tail != "" {
			slices.Reverse(b[len(b)-8:])
		}
		for _, more := range []int{0, 5000} {
			b := append(slices.Clip(b), make([]byte, more)...)
			got, err := ReadBare(bytes.NewReader(b), int64(len(b)))
			if want := (&Bare{"ntp", test.class, test.object}); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		}
		for n := range b {
			got, err := ReadBare(bytes.NewReader(b[:n]), int64(n))
			switch {
			case n < len("rntuple") && (got != nil || err != nil):
				t.Errorf("%d bytes: %+v, %v", n, got, err)
			case n >= len("rntuple"):
				Fault(t, err, frame.ErrCorrupt)
			}
		}
	}
	_, err := ReadBare(strings.NewReader("rntuple\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x03 "), 100)
	Fault(t, err, frame.ErrCorrupt)
}

// FuzzAnchors reads anchors, bare or not.
func FuzzAnchors(f *testing.F) {
	for _, b := range [][]byte{Hex(oldHex).Bytes, summed(midHex), summed(noMaxHex), summed(maxHex)} {
		f.Add(b)
		f.Add(append([]byte("rntuple\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"),
			slices.Concat(b, []byte("\x01n"), b, b)...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ParseAnchor(b); err != nil {
			Fault(t, err, frame.ErrCorrupt, frame.ErrChecksum, frame.ErrUnsupported)
		}
		if _, err := ReadBare(bytes.NewReader(b), int64(len(b))); err != nil {
			Fault(t, err, frame.ErrCorrupt)
		}
	})
}
