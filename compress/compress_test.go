package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
)

// sample returns n bytes of text with runs, which all algorithms compress.
func sample(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+1000)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%d;%d,%.2f;", i, i%7, r.NormFloat64())
		if i%100 == 0 {
			b = append(b, make([]byte, 600)...)
		}
	}
	return b[:n]
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// checkSentinel fails the test unless err wraps exactly one of the sentinels.
func checkSentinel(t *testing.T, err error) {
	t.Helper()
	n := 0
	for _, kind := range []error{frame.ErrCorrupt, frame.ErrChecksum, frame.ErrUnsupported} {
		if errors.Is(err, kind) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("error %v wraps %d sentinels, want 1", err, n)
	}
}

// checkError is checkSentinel for the errors of Decompress.
func checkError(t *testing.T, err error) {
	t.Helper()
	checkSentinel(t, err)
	var fe *frame.FormatError
	if !errors.As(err, &fe) {
		t.Errorf("error %v is no FormatError", err)
	}
}

// try decompresses src to n bytes. Check must not refuse what can be read.
func try(t *testing.T, src []byte, n int) ([]byte, error) {
	t.Helper()
	dst := make([]byte, n)
	err := Decompress(dst, src)
	if err != nil {
		checkError(t, err)
	} else if c := Check(src, int64(n)); c != nil {
		t.Errorf("Check refuses what Decompress reads: %v", c)
	}
	return dst, err
}

func roundTrip(t *testing.T, src []byte, s Settings) []byte {
	t.Helper()
	prefix := []byte("kept")
	out, err := Append(slices.Clone(prefix), src, s)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, prefix) || len(out) > len(prefix)+len(src) {
		t.Fatalf("%v: %d bytes became %d, prefix %q", s, len(src), len(out)-len(prefix), out[:4])
	}
	out = out[len(prefix):]
	got, err := try(t, out, len(src))
	if err != nil || !bytes.Equal(got, src) {
		t.Fatalf("%v, %d bytes: %v, equal %v", s, len(src), err, bytes.Equal(got, src))
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	levels := []int{0, 1, 3, 4, 5, 9, 99}
	sizes := []int{0, 1, 10, 11, 100, 300, 70_000, 1 << 20}
	if testing.Short() {
		sizes = sizes[:7]
	}
	for a := Inherit; a <= Zstd; a++ {
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel() // the encoders and decoders are shared
			for _, level := range levels {
				for _, n := range sizes {
					testRoundTrip(t, Settings(int(a)*100+level), n)
				}
			}
		})
	}
}

func testRoundTrip(t *testing.T, s Settings, n int) {
	src := sample(n)
	first := roundTrip(t, src, s)
	// 100 bytes are too few for some.
	if stored := len(first) == n; stored != (s.Level() == 0 || n < 100) && n != 100 {
		t.Errorf("%d: %d bytes stored as %d", s, n, len(first))
	}
	if n > 1000 {
		return
	}
	if out := roundTrip(t, noise(n), s); len(out) != n {
		t.Errorf("%d: %d bytes of noise became %d", s, n, len(out))
	}
	// Encoders are used again: what they write must not depend on their past.
	roundTrip(t, sample(5000)[n:], s)
	if again := roundTrip(t, src, s); !bytes.Equal(first, again) {
		t.Errorf("%d: %d bytes compress differently the second time", s, n)
	}
}

func TestSeveralBlocks(t *testing.T) {
	for _, c := range codecs {
		s := Settings(int(c.algorithm)*100 + 1)
		src := append(bytes.Repeat(sample(1<<16), 256), "the second block, second block, second block, second block"...)
		if c.algorithm == LZMA {
			src = append(src, make([]byte, 1000)...) // an .xz stream has 60 bytes of its own
		} else {
			src = append(src, make([]byte, 100)...)
		}
		out := roundTrip(t, src, s)
		if len(out) >= len(src) {
			t.Errorf("%v: not compressed", s)
		}
		first := headerSize + uint24(out[3:])
		if uint24(out[6:]) != maxBlock || uint24(out[first+6:]) != len(src)-maxBlock {
			t.Errorf("%v: blocks of %d and %d bytes", s, uint24(out[6:]), uint24(out[first+6:]))
		}
		_, err := try(t, out[:first], len(src))
		_, behind := try(t, out, maxBlock)
		if err == nil || behind == nil {
			t.Errorf("%v: half of it read: %v, %v", s, err, behind)
		}
		// A block that does not shrink makes the whole buffer raw.
		src = append(src[:maxBlock], noise(1000)...)
		if out := roundTrip(t, src, s); len(out) != len(src) {
			t.Errorf("%v: incompressible block, %d bytes became %d", s, len(src), len(out))
		}
	}
}

// TestDamage cuts, lengthens and flips a block of each algorithm.
func TestDamage(t *testing.T) {
	src := sample(2000)
	for _, c := range codecs {
		out := roundTrip(t, src, Settings(int(c.algorithm)*100+5))
		for n := range len(out) {
			if _, err := try(t, out[:n], len(src)); err == nil {
				t.Errorf("%s: %d of %d bytes are enough", c.name, n, len(out))
			}
		}
		if _, err := try(t, append(slices.Clone(out), 0), len(src)); err == nil {
			t.Errorf("%s: trailing byte ignored", c.name)
		}
		for _, n := range []int{len(src) - 1, len(src) + 1} {
			if _, err := try(t, out, n); err == nil || Check(out, int64(n)) == nil {
				t.Errorf("%s: %d bytes read as %d", c.name, len(src), n)
			}
		}
		// Without a checksum damage behind the header may go unseen.
		summed := c.algorithm != OldDeflate && c.algorithm != Zstd
		for i := range out {
			for bit := range 8 {
				bad := slices.Clone(out)
				bad[i] ^= 1 << bit
				got, err := try(t, bad, len(src))
				if err == nil && !bytes.Equal(got, src) && (summed || i < headerSize) {
					t.Errorf("%s: flip of bit %d of byte %d unseen", c.name, bit, i)
				}
			}
		}
	}
}

// raw puts a header in front of data.
func raw(magic string, data []byte, usize int) []byte {
	b := append([]byte(magic), 0, 0, 0, 0, 0, 0)
	putUint24(b[3:], len(data))
	putUint24(b[6:], usize)
	return append(b, data...)
}

func TestErrors(t *testing.T) {
	lz4 := roundTrip(t, sample(300), 404)
	lz4[headerSize] ^= 1
	zlib := roundTrip(t, sample(300), 101)
	zlib[len(zlib)-1] ^= 1
	for _, test := range []struct {
		name string
		src  []byte
		n    int
		want error
	}{
		{"unknown magic", raw("QQ\x01", make([]byte, 20), 300), 300, frame.ErrUnsupported},
		{"unknown zstd method", raw("ZS\x02", make([]byte, 20), 300), 300, frame.ErrUnsupported},
		{"unknown lz4 version", raw("L4\x02", make([]byte, 20), 300), 300, frame.ErrUnsupported},
		{"longer than uncompressed", raw("ZS\x01", make([]byte, 20), 5), 5, frame.ErrCorrupt},
		{"something for nothing", raw("ZS\x01", make([]byte, 20), 5), 0, frame.ErrCorrupt},
		{"nothing for something", nil, 5, frame.ErrCorrupt},
		{"block of nothing", raw("ZS\x01", make([]byte, 20), 0), 300, frame.ErrCorrupt},
		{"lz4 checksum", lz4, 300, frame.ErrChecksum},
		{"zlib checksum", zlib, 300, frame.ErrChecksum},
		{"zlib ratio", raw("ZL\x08", make([]byte, 20), 20*1032+1), 20*1032 + 1, frame.ErrCorrupt},
		{"lz4 ratio", raw("L4\x01", make([]byte, 20), 20*255+1), 20*255 + 1, frame.ErrCorrupt},
		{"lzma ratio", raw("XZ\x00", make([]byte, 20), 20*7100+1), 20*7100 + 1, frame.ErrCorrupt},
		{"zstd ratio", raw("ZS\x01", make([]byte, 20), 20<<15+1), 20<<15 + 1, frame.ErrCorrupt},
	} {
		_, err := try(t, test.src, test.n)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	if _, err := Append(nil, sample(100), 601); !errors.Is(err, frame.ErrUnsupported) {
		t.Errorf("Append with an unknown algorithm: %v", err)
	}
	if err := Check(nil, -1); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("Check of a negative length: %v", err)
	}
}

// TestMaxRatio verifies that Check accepts what compresses best.
func TestMaxRatio(t *testing.T) {
	for _, c := range codecs {
		roundTrip(t, make([]byte, maxBlock), Settings(int(c.algorithm)*100+9))
	}
	// The densest zstd frame: blocks of 128 KiB that repeat one byte.
	frame := []byte("\x28\xB5\x2F\xFD\xA0\x00\x00\x80\x00") // one segment of 8 MiB
	for i := range 64 {
		last := byte(0)
		if i == 63 {
			last = 1
		}
		frame = append(frame, 2|last, 0, 16, 'x')
	}
	if got, err := try(t, raw("ZS\x01", frame, 8<<20), 8<<20); err != nil || got[1<<20] != 'x' {
		t.Errorf("zstd run: %v", err)
	}
}

// TestMemory decodes blocks that announce more than they hold, and measures what
// is allocated besides the destination.
func TestMemory(t *testing.T) {
	src := sample(300)
	xz := roundTrip(t, src, 209)[headerSize:]
	const properties = xzHeaderSize + 4 // of LZMA2, in the block header
	xz[properties] = 40                 // a dictionary of 4 GiB
	binary.LittleEndian.PutUint32(xz[properties+4:], crc32.ChecksumIEEE(xz[xzHeaderSize:properties+4]))
	for _, test := range []struct {
		name string
		src  []byte
		ok   bool
	}{
		{"xz dictionary", raw("XZ\x00", xz, 300), true},
		{"zstd content size", raw("ZS\x01", []byte("\x28\xB5\x2F\xFD\xE0\x00\x00\x00\x00\x04\x00\x00\x00\x03\x00\x10x"), 300),
			false},
		{"zstd window", raw("ZS\x01", []byte("\x28\xB5\x2F\xFD\x00\x98\x63\x09\x00x"), 300), true},
		{"zstd large block", raw("ZS\x01", []byte("\x28\xB5\x2F\xFD\x00\x98\x03\x00\x10x"), 300), false},
	} {
		try(t, test.src, 300) // fills the pools
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := try(t, test.src, 300)
		runtime.ReadMemStats(&after)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes allocated", test.name, n)
		}
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]Settings{
		"none": None, "0": None, "505": 505, "zstd:5": 505, "zstd 5": 505, "LZ4": 404, "lzma": 207,
		"zlib": 101, "deflate:2": 302, " zstd ": 505, "zstd:0": 500, "1": 1,
	} {
		if got, err := ParseSettings(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "zstd:10", "zstd:", "zstd:-1", "550", "601", "snappy", "-1", ":5", "inherit:5"} {
		if got, err := ParseSettings(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
	for s, want := range map[Settings]string{505: "zstd 5", 500: "none", 0: "none", 1: "inherit 1",
		707: "Algorithm(0x7) 7", 301: "deflate 1"} {
		if got := s.String(); got != want {
			t.Errorf("%d: %q, want %q", uint32(s), got, want)
		}
	}
}
