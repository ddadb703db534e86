package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		size, max uint64
		n         int
		first     uint64 // payload bytes in the first chunk
		last      uint64 // and in the last
	}{
		{0, 0, 1, 0, 0},
		{5000, 0, 1, 5000, 5000}, // no limit
		{0, 1000, 1, 0, 0},
		{999, 1000, 1, 999, 999},
		{1000, 1000, 1, 1000, 1000},
		{1001, 1000, 2, 992, 9},
		{1992, 1000, 2, 992, 1000}, // the offset just fits
		{1993, 1000, 3, 984, 9},    // and here it does not, though 2 chunks hold 2000 bytes
		{1999, 1000, 3, 984, 15},
		{2000, 1000, 3, 984, 16}, // no room at all
		{2984, 1000, 3, 984, 1000},
		{2985, 1000, 4, 976, 9},
		{14008, 1000, 15, 888, 120},  // a page of ROOT's: 14 follow-on chunks
		{125000, 1000, 126, 0, 1000}, // the first chunk holds offsets only
		{16, 16, 1, 16, 16},
		{32, 16, 3, 0, 16},
		{1 << 31, 1 << 30, 3, 1<<30 - 16, 16}, // ROOT's default size
		{math.MaxUint64, 1 << 63, 3, 1<<63 - 16, 15},
	} {
		c, err := Split(test.size, test.max)
		if err != nil {
			t.Errorf("%d in %d: %v", test.size, test.max, err)
			continue
		}
		_, first := c.Range(0)
		lo, hi := c.Range(c.Len() - 1)
		if c.Len() != test.n || first != test.first || hi != test.size || hi-lo != test.last {
			t.Errorf("%d in %d: %d chunks, first %d, last %d to %d, want %d, %d, last of %d",
				test.size, test.max, c.Len(), first, lo, hi, test.n, test.first, test.last)
		}
	}
}

// A key size that leaves no room for the offsets is refused before anything
// is read or allocated.
func TestSplitRefuses(t *testing.T) {
	for _, test := range []struct{ size, max uint64 }{
		{2, 1}, {8, 7}, {9, 8}, // 9 bytes fit 2 keys of 8, the offset fills the first: 3 chunks, 16 bytes of offsets
		{1 << 40, 1}, {1 << 40, 7}, {1 << 40, 8}, {1 << 40, 15}, {1 << 40, 1000},
		{math.MaxUint64, 1}, {math.MaxUint64, 1 << 30}, {125001, 1000},
	} {
		if c, err := Split(test.size, test.max); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%d in %d: %d chunks, %v", test.size, test.max, c.Len(), err)
		}
	}
	r := &memory{}
	err := ReadBlob(r, make([]byte, 1<<20), 1, 15)
	if !errors.Is(err, frame.ErrCorrupt) || r.reads != 0 {
		t.Errorf("%d reads, %v", r.reads, err)
	}
}

// memory is a file without keys that counts reads.
type memory struct {
	data  []byte
	reads int
	sizes []int // of the blobs written
}

func (m *memory) ReadAt(b []byte, off int64) (int, error) {
	m.reads++
	return bytes.NewReader(m.data).ReadAt(b, off)
}

// write appends a blob behind some bytes that belong to no blob.
func (m *memory) write(parts ...[]byte) (int64, error) {
	m.data = append(m.data, "key"...)
	offset := len(m.data)
	for _, p := range parts {
		m.data = append(m.data, p...)
	}
	m.sizes = append(m.sizes, len(m.data)-offset)
	return int64(offset), nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

// roundTrip writes and reads a payload of n bytes.
func roundTrip(t *testing.T, n int, maxKeySize uint64) {
	t.Helper()
	payload := randomBytes(n)
	plan, err := Split(uint64(n), maxKeySize)
	if err != nil {
		return // refused, and tested above
	}
	m := &memory{}
	offset, err := WriteBlob(payload, maxKeySize, m.write)
	if err != nil {
		t.Fatalf("%d in %d: %v", n, maxKeySize, err)
	}
	// The chunks but the last are full; the first is written last.
	for i, size := range m.sizes {
		switch last := i == plan.Len()-2; {
		case plan.Len() == 1 && size == n:
		case plan.Len() > 1 && !last && uint64(size) == maxKeySize:
		case plan.Len() > 1 && last && size > 0 && uint64(size) <= maxKeySize:
		default:
			t.Fatalf("%d in %d: chunks of %d bytes", n, maxKeySize, m.sizes)
		}
	}
	got := make([]byte, n)
	if err := ReadBlob(m, got, offset, maxKeySize); err != nil || !bytes.Equal(got, payload) {
		t.Fatalf("%d in %d: differ, %v", n, maxKeySize, err)
	}
	if m.reads != plan.Len() || len(m.sizes) != plan.Len() {
		t.Fatalf("%d in %d: %d writes, %d reads for %d chunks", n, maxKeySize, len(m.sizes), m.reads, plan.Len())
	}
}

func TestBlobRoundTrip(t *testing.T) {
	roundTrip(t, 14008, 1000)
	for n := range 300 {
		for _, m := range []uint64{0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 64, 100} {
			roundTrip(t, n, m)
		}
	}
	// Around what k chunks hold without the offsets, and with them.
	for _, k := range []int{1, 2, 3, 14, 15, 62, 63, 124, 125, 126} {
		for _, holds := range []int{1000 * k, 1000*k - 8*(k-1)} {
			for n := holds - 17; n <= holds+17; n++ {
				roundTrip(t, n, 1000)
			}
		}
	}
}

// The layout, byte by byte: little-endian offsets at the end of the first chunk.
func TestBlobLayout(t *testing.T) {
	m := &memory{}
	offset, err := WriteBlob([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH"), 24, m.write)
	want := "key" + "89abcdefghijklmnopqrstuv" + "key" + "wxyzABCDEFGH" +
		"key" + "01234567" + "\x03\x00\x00\x00\x00\x00\x00\x00" + "\x1e\x00\x00\x00\x00\x00\x00\x00"
	if err != nil || string(m.data) != want || offset != int64(len(want)-24) {
		t.Errorf("offset %d, %v:\n%q, want\n%q", offset, err, m.data, want)
	}
}

func TestReadBlobDamage(t *testing.T) {
	m := &memory{}
	offset, err := WriteBlob(randomBytes(300), 100, m.write)
	if err != nil {
		t.Fatal(err)
	}
	whole := m.data
	dst := make([]byte, 300)
	for n := range whole {
		m.data = whole[:n]
		var fault *frame.FormatError
		if err := ReadBlob(m, dst, offset, 100); !errors.Is(err, frame.ErrCorrupt) || !errors.As(err, &fault) {
			t.Fatalf("file cut to %d of %d bytes: %v", n, len(whole), err)
		}
	}
	m.data = whole
	for _, offset := range []int64{-1, math.MinInt64, math.MaxInt64, int64(len(whole))} {
		for _, max := range []uint64{0, 100, 1 << 30} {
			if err := ReadBlob(m, dst, offset, max); !errors.Is(err, frame.ErrCorrupt) {
				t.Errorf("blob at %#x: %v", offset, err)
			}
		}
	}
	for i := len(whole) - 24; i < len(whole); i += 8 { // the three offsets
		for _, top := range []byte{0x01, 0x7f, 0xff} {
			m.data = bytes.Clone(whole)
			m.data[i+7] = top
			var fault *frame.FormatError
			err := ReadBlob(m, dst, offset, 100)
			if !errors.Is(err, frame.ErrCorrupt) || !errors.As(err, &fault) {
				t.Errorf("offset %x: %v", m.data[i:i+8], err)
			}
			if top == 0xff && fault.Offset != int64(i) {
				t.Errorf("offset at %#x: %v", i, err)
			}
		}
	}
}

// A fault of the storage is not a fault of the file.
func TestReadBlobOtherErrors(t *testing.T) {
	lost := errors.New("connection lost")
	err := ReadBlob(readerFunc(func([]byte, int64) (int, error) { return 3, lost }), make([]byte, 9), 5, 0)
	if !errors.Is(err, lost) || errors.Is(err, frame.ErrCorrupt) {
		t.Error(err)
	}
	// An io.ReaderAt may return io.EOF with the last bytes.
	err = ReadBlob(readerFunc(func(b []byte, _ int64) (int, error) { return len(b), io.EOF }), make([]byte, 9), 5, 0)
	if err != nil {
		t.Error(err)
	}
}

func TestWriteBlobErrors(t *testing.T) {
	full := errors.New("disk full")
	for failing := range 4 {
		n := 0
		_, err := WriteBlob(make([]byte, 300), 100, func(...[]byte) (int64, error) {
			if n++; n > failing {
				return 0, full
			}
			return 0, nil
		})
		if err != full || n != failing+1 {
			t.Errorf("write %d fails: %v after %d", failing, err, n)
		}
	}
	if _, err := WriteBlob(make([]byte, 300), 10, nil); err == nil {
		t.Error("keys of 10 bytes for a payload of 300")
	}
}

type readerFunc func([]byte, int64) (int, error)

func (f readerFunc) ReadAt(b []byte, off int64) (int, error) { return f(b, off) }

func ExampleSplit() {
	chunks, err := Split(2500, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range chunks.Len() {
		fmt.Println(chunks.Range(i))
	}
	// Output:
	// 0 984
	// 984 1984
	// 1984 2500
}

func FuzzReadBlob(f *testing.F) {
	f.Add(uint32(300), uint64(100), int64(0), randomBytes(500))
	f.Add(uint32(14008), uint64(1000), int64(42), randomBytes(20000))
	f.Add(uint32(16), uint64(8), int64(-1), []byte(nil))
	f.Fuzz(func(t *testing.T, size uint32, maxKeySize uint64, offset int64, file []byte) {
		size %= 1 << 20
		roundTrip(t, int(size), maxKeySize)
		err := ReadBlob(bytes.NewReader(file), make([]byte, size), offset, maxKeySize)
		if err != nil && !errors.Is(err, frame.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
