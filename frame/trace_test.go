package frame_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/wiretest"
)

// TestTrace makes sure that a traced walk reads what any other does, and notes
// every byte of it, once.
func TestTrace(t *testing.T) {
	b := wiretest.Hex(little).Bytes
	var members []frame.Member
	var got, want all
	c := frame.NewReader(b, "x", 0)
	c.Trace(&members)
	got.wire(c)
	want.wire(frame.NewReader(b, "x", 0))
	if c.Err() != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, got %v, want %v", c.Err(), got, want)
	}
	var text strings.Builder
	end := 0
	for _, m := range members {
		if m.Pos != end || !bytes.Equal(m.Bytes, b[m.Pos:][:len(m.Bytes)]) || len(m.Bytes) == 0 {
			t.Errorf("%s: %d bytes at %d, the one before ends at %d", m.Path, len(m.Bytes), m.Pos, end)
		}
		end = m.Pos + len(m.Bytes)
		fmt.Fprintf(&text, "%s %T %v %v\n", m.Path, m.Value, m.Value, m.Length)
	}
	if end != len(b) {
		t.Errorf("%d bytes noted of %d", end, len(b))
	}
	for _, line := range []string{
		"x.i8 int8 -2 false\n", "x.u16 uint16 4660 false\n", "x.s uint32 ", "x.none uint32 0 true\n",
		fmt.Sprintf("x.f float64 %v false\n", want.F), fmt.Sprintf("x.s string %s false\n", want.S),
		fmt.Sprintf("x.items[1].x uint16 %d false\n", want.Items[1]), "x.end uint16 65534 false\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("there is no %q in\n%s", line, &text)
		}
	}
}

// TestTraceGaps walks over less than there is, over some bytes twice, and into
// damage.
func TestTraceGaps(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	var members []frame.Member
	c := frame.NewReader(b, "x", 0)
	c.Trace(&members)
	before := *c
	c.Skip(3)
	*c = before
	var one uint8
	frame.Int(c, "one", &one)
	c.Window("window", 4, func() { frame.Int(c, "two", &one) })
	frame.Int(c, "three", new(uint64))
	if c.Err() == nil || c.Unread() != nil {
		t.Errorf("%v", c.Err())
	}
	var text strings.Builder
	for _, m := range members {
		fmt.Fprintf(&text, "%d %s %v %v\n", m.Pos, m.Path, m.Value, m.Bytes)
	}
	if want := "0 x.one 1 [1]\n1 x.two 2 [2]\n2 x <nil> [3 4 5]\n"; text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
}
