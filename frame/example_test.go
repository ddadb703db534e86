package frame_test

import (
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A point is a record of our own.
type point struct {
	X, Y  int32
	Label string
	Extra []byte // members of newer versions
}

// wire describes a point, for reading and for writing.
func (p *point) wire(c *frame.Codec) {
	frame.Record(c, "point", &p.Extra, func() {
		frame.Int(c, "x", &p.X)
		frame.Int(c, "y", &p.Y)
		c.String("label", &p.Label)
	})
}

// A list of records is written, read again, and read when it is cut short.
func Example() {
	points := []point{{X: 1, Y: -2, Label: "a"}, {X: 3, Y: 4, Label: "b", Extra: []byte{0xff}}}
	list := func(c *frame.Codec, items *[]point) {
		frame.List(c, "points", items, new([]byte), func(c *frame.Codec, p *point) { p.wire(c) })
	}
	w := frame.NewWriter(nil, "example")
	list(w, &points)
	b, err := w.Bytes()
	fmt.Println(len(b), "bytes,", err)

	var got []point
	r := frame.NewReader(b, "example", 0)
	list(r, &got)
	fmt.Println(got, r.Err())

	r = frame.NewReader(b[:40], "example", 0)
	list(r, &got)
	fmt.Println(r.Err())
	fmt.Println(errors.Is(r.Err(), frame.ErrCorrupt))
	// Output:
	// 55 bytes, <nil>
	// [{1 -2 a []} {3 4 b [255]}] <nil>
	// example.points.size at offset 0xc: corrupt data: list frame of 43 bytes, 28 left
	// true
}
