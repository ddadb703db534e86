package frame_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/wiretest"
)

type item struct {
	X     uint64
	Extra []byte
}

// nested is a record with a list of records, a list with a tail and a number
// behind them.
type nested struct {
	A       uint32
	Records []item
	Pairs   []uint64
	Tail    uint16
	B       uint8
	Extra   [3][]byte
}

func (v *nested) wire(c *frame.Codec) {
	frame.Record(c, "nested", &v.Extra[0], func() {
		frame.Int(c, "a", &v.A)
		frame.List(c, "records", &v.Records, &v.Extra[1], func(c *frame.Codec, i *item) {
			frame.Record(c, "record", &i.Extra, func() { frame.Int(c, "x", &i.X) })
		})
		frame.ListTail(c, "pairs", &v.Pairs, &v.Extra[2], func(c *frame.Codec, x *uint64) { frame.Int(c, "x", x) },
			func() { frame.Int(c, "tail", &v.Tail) })
		frame.Int(c, "b", &v.B)
	})
}

const vector = `
	[ 53 00 00 00 00 00 00 00              # record frame of 83 bytes
	  04 03 02 01                          # a
	  [ d4 ff ff ff ff ff ff ff            # list frame of 44 bytes
	    02 00 00 00                        # 2 items
	    [ 10 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 ]
	    [ 10 00 00 00 00 00 00 00 02 00 00 00 00 00 00 80 ] ]
	  [ e6 ff ff ff ff ff ff ff            # list frame of 26 bytes
	    01 00 00 00                        # 1 item
	    08 07 06 05 04 03 02 01
	    02 01                              # tail
	    "more" ]                           # unknown
	  ff ]                                 # b`

func TestFrames(t *testing.T) {
	codec := wiretest.Walk("test", (*nested).wire)
	v := wiretest.Hex(vector)
	got := codec.Check(t, v)
	if got.A != 0x01020304 || len(got.Records) != 2 || got.Records[1].X != 1<<63+2 || len(got.Pairs) != 1 ||
		got.Pairs[0] != 0x0102030405060708 || got.Tail != 0x0102 || string(got.Extra[2]) != "more" || got.B != 0xff {
		t.Errorf("got %+v", got)
	}
	// Errors name the place in all frames.
	bad := bytes.Clone(v.Bytes)
	bad[24+16] = 17 // the size of the second record, which would reach into the next list
	_, _, err := codec.Parse(bad)
	if f := wiretest.Fault(t, err, frame.ErrCorrupt); f.Path != "test.nested.records[1].record.size" ||
		f.Offset != 1000+24+16+8 {
		t.Errorf("got %v", err)
	}
}

// sweep tries sizes; those from lo to hi, both included, are right.
func sweep(t *testing.T, what string, lo, hi int64, parse func(size int64) error) {
	t.Helper()
	sizes := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 12, math.MinInt32, math.MaxInt32, 1 << 32,
		1<<32 + 20, -1 << 32, math.MaxInt64 - 8, math.MaxInt64}
	for s := int64(-64); s <= 64; s++ {
		sizes = append(sizes, s)
	}
	for _, size := range sizes {
		var err error
		if n := wiretest.Allocated(func() { err = parse(size) }); n > 10_000 {
			t.Errorf("%s of size %d allocates %d bytes", what, size, n)
		}
		if ok := lo <= size && size <= hi; ok != (err == nil) {
			t.Errorf("%s of size %d: %v", what, size, err)
		} else if !ok {
			wiretest.Fault(t, err, frame.ErrCorrupt)
		}
	}
}

func TestSizes(t *testing.T) {
	zeros := "00 00 00 00 00 00 00 00"
	sweep(t, "a record with 4 bytes of 8", 12, 16, func(size int64) error {
		c := frame.NewReader(wiretest.Hex(wiretest.LE(8, size)+zeros).Bytes, "x", 0)
		var extra []byte
		frame.Record(c, "record", &extra, func() { frame.Int(c, "n", new(uint32)) })
		if c.Err() == nil && (c.Pos() != int(size) || len(extra) != int(size)-12) {
			t.Errorf("size %d: %d bytes read, %d extra", size, c.Pos(), len(extra))
		}
		return c.Err()
	})
	sweep(t, "an empty record in 16 bytes", 8, 16, func(size int64) error {
		c := frame.NewReader(wiretest.Hex(wiretest.LE(8, size)+zeros).Bytes, "x", 0)
		frame.Record(c, "record", new([]byte), func() {})
		return c.Err()
	})
	for items := int64(0); items <= 3; items++ {
		sweep(t, "a list in 12+24 bytes", -36, -12-8*items, func(size int64) error {
			c := frame.NewReader(wiretest.Hex(wiretest.LE(8, size)+wiretest.LE(4, items)+strings.Repeat(zeros, 3)).Bytes, "x", 0)
			var got []uint64
			frame.List(c, "list", &got, new([]byte), func(c *frame.Codec, x *uint64) { frame.Int(c, "x", x) })
			if c.Err() == nil && (len(got) != int(items) || c.Pos() != int(-size)) {
				t.Errorf("size %d: %d items, %d bytes", size, len(got), c.Pos())
			}
			return c.Err()
		})
	}
}

// More items than the bytes can hold are refused before there is room for them.
func TestItems(t *testing.T) {
	for _, items := range []int64{0, 1, 2, 3, 4, 100, math.MaxInt32, 1 << 31, math.MaxUint32} {
		b := wiretest.Hex(wiretest.LE(8, -36) + wiretest.LE(4, items)).Bytes
		c := frame.NewReader(append(b, make([]byte, 24)...), "x", 0)
		var got [][1000]byte
		allocated := wiretest.Allocated(func() {
			frame.List(c, "list", &got, new([]byte), func(c *frame.Codec, x *[1000]byte) { frame.Int(c, "x", new(uint64)) })
		})
		if ok := items <= 3; ok != (c.Err() == nil) || allocated > 20_000 {
			t.Errorf("%d items in 24 bytes: %v, %d bytes allocated", items, c.Err(), allocated)
		} else if !ok && wiretest.Fault(t, c.Err(), frame.ErrCorrupt).Path != "x.list.number of items" {
			t.Errorf("%d items: %v", items, c.Err())
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(wiretest.Hex(vector).Bytes)
	for _, s := range wiretest.Seeds(f) {
		f.Add(s.Footer[24:]) // behind the features and the header's checksum: a record of lists
	}
	codec := wiretest.Walk("test", (*nested).wire)
	f.Fuzz(func(t *testing.T, b []byte) { codec.Try(t, b) })
}
