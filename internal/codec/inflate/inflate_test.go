package inflate

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/flate"
)

// A kind makes n bytes of one kind of data.
type kind struct {
	name string
	data func(n int) []byte
}

func kinds() []kind {
	all := []kind{
		{"noise", func(n int) []byte {
			b := make([]byte, n)
			rand.NewChaCha8([32]byte{1}).Read(b)
			return b
		}},
		{"text", func(n int) []byte {
			var b []byte
			for r := rand.New(rand.NewPCG(1, 2)); len(b) < n; {
				b = fmt.Appendf(b, "event %d, run %d; ", r.IntN(5000), r.IntN(30))
			}
			return b[:n]
		}},
		{"planes", func(n int) []byte {
			return planes(n, func(r *rand.Rand) float64 { return math.Round(91200+2500*r.NormFloat64()) / 1000 })
		}},
		{"coarse", func(n int) []byte { return planes(n, func(r *rand.Rand) float64 { return float64(r.IntN(100)) }) }},
	}
	for p := 1; p <= 64; p++ {
		all = append(all, kind{fmt.Sprintf("period %d", p), func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(i % p * 37)
			}
			return b
		}})
	}
	return all
}

// planes returns doubles split into planes of bytes, as RNTuple stores them.
func planes(n int, next func(*rand.Rand) float64) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	b, items := make([]byte, n), n/8
	for i := range items {
		v := math.Float64bits(next(r))
		for k := range 8 {
			b[k*items+i] = byte(v >> (8 * k))
		}
	}
	return b
}

// A writer is one of the standard library or of the klauspost module.
type writer interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

var writers [2][10 - flate.HuffmanOnly]sync.Pool

// deflate compresses data. If their length is odd, the stream has an empty stored
// block.
func deflate(t testing.TB, data []byte, level int, standard bool) []byte {
	t.Helper()
	pool := &writers[0][level-flate.HuffmanOnly]
	if standard {
		pool = &writers[1][level-flate.HuffmanOnly]
	}
	w, _ := pool.Get().(writer)
	if w == nil {
		var err error
		if standard {
			w, err = stdflate.NewWriter(nil, level)
		} else {
			w, err = flate.NewWriter(nil, level)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	defer pool.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	if len(data)%2 == 1 {
		w.Write(data[:len(data)/2])
		w.Flush()
		data = data[len(data)/2:]
	}
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const guard = 0xA5

// decode decodes n bytes between guards and verifies that Decode changed nothing
// else, and reports no longer a stream than src.
func decode(t testing.TB, src []byte, n int) ([]byte, int, error) {
	t.Helper()
	buf := bytes.Repeat([]byte{guard}, n+64)
	src = append(bytes.Clone(src), "what comes behind"...)[:len(src)]
	used, err := Decode(buf[32:32+n], src)
	for i, c := range buf {
		if (i < 32 || i >= 32+n) && c != guard {
			t.Fatalf("byte %d of %d written", i-32, n)
		}
	}
	if used < 0 || used > len(src) {
		t.Fatalf("%d of %d bytes used", used, len(src))
	}
	return buf[32 : 32+n], used, err
}

// oracle decodes with the standard library.
func oracle(src []byte, n int) (data []byte, used int, err error) {
	in := bytes.NewReader(src)
	r := oracles.Get().(io.Reader)
	defer oracles.Put(r)
	r.(stdflate.Resetter).Reset(in, nil)
	data = make([]byte, n+1)
	got, err := io.ReadFull(r, data)
	switch err {
	case nil:
		err = fmt.Errorf("more than %d bytes", n)
	case io.EOF, io.ErrUnexpectedEOF:
		// Which of the two ended, the data or the stream?
		if _, err = r.Read(data[n:]); err == io.EOF {
			err = nil
		}
		if err == nil && got != n {
			err = fmt.Errorf("%d bytes, expected %d", got, n)
		}
	}
	return data[:got], len(src) - in.Len(), err
}

var oracles = sync.Pool{New: func() any { return stdflate.NewReader(nil) }}

// same fails the test if Decode and the oracle differ. It reports whether the
// oracle accepts src.
func same(t testing.TB, what string, src []byte, n int) bool {
	t.Helper()
	want, wantUsed, wantErr := oracle(src, n)
	got, used, err := decode(t, src, n)
	switch {
	case (err == nil) != (wantErr == nil):
		t.Errorf("%s: %v, the standard library says %v: %x", what, err, wantErr, src[:min(len(src), 100)])
	case err == nil && !bytes.Equal(got, want):
		t.Errorf("%s: other data than the standard library's", what)
	case err == nil && used != wantUsed:
		t.Errorf("%s: %d bytes used, the standard library uses %d", what, used, wantUsed)
	}
	return wantErr == nil
}

func TestDecode(t *testing.T) {
	sizes := []int{32<<10 - 1, 32 << 10, 32<<10 + 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1}
	for n := range 301 {
		sizes = append(sizes, n)
	}
	for i, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range sizes {
				data := k.data(n)
				for level := flate.HuffmanOnly; level <= 9; level++ {
					for _, standard := range []bool{false, true} {
						// Not all combinations: each size has one of the
						// levels, each period one of the sizes.
						turns := 4
						if i >= 4 {
							turns = 24
						}
						if n > 1<<17 {
							turns *= 3
						}
						if (n+level+i)%turns != 0 || testing.Short() && (n > 300 || n%3 > 0) {
							continue
						}
						src := deflate(t, data, level, standard)
						got, used, err := decode(t, src, n)
						if err != nil || used != len(src) || !bytes.Equal(got, data) {
							t.Fatalf("%d bytes, level %d, standard %v: %v, %d of %d bytes used, equal %v", n, level, standard, err, used,
								len(src), bytes.Equal(got, data))
						}
					}
				}
			}
		})
	}
}

// TestOtherLength asks for more and fewer bytes than there are.
func TestOtherLength(t *testing.T) {
	for _, k := range kinds()[:8] {
		for _, level := range []int{0, 1, 9} {
			for _, n := range []int{1, 2, 300, 5000} {
				src := deflate(t, k.data(n), level, false)
				for _, other := range []int{0, n - 1, n + 1, n + 300} {
					if _, _, err := decode(t, src, other); err == nil && other != n {
						t.Errorf("%s, level %d: %d bytes read as %d", k.name, level, n, other)
					}
				}
			}
		}
	}
}

// streams returns small streams with all kinds of blocks.
func streams(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, k := range kinds()[:8] {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 9} {
			all[fmt.Sprintf("%s, level %d", k.name, level)] = deflate(t, k.data(700), level, true)
		}
		all[k.name+", flushed"] = deflate(t, k.data(501), 6, true)
		all[k.name+", fixed"] = deflate(t, k.data(20), 9, true)
	}
	return all
}

// TestDamage cuts streams everywhere and flips each of their bits.
func TestDamage(t *testing.T) {
	for name, src := range streams(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 700
			for _, size := range []int{20, 501} {
				if data, _, err := oracle(src, size); err == nil {
					n = len(data)
				}
			}
			if !same(t, "whole", src, n) {
				t.Fatal("the oracle does not read it")
			}
			step := 1
			if testing.Short() {
				step = 11
			}
			for cut := 0; cut < len(src); cut += step {
				if same(t, fmt.Sprint("cut at ", cut), src[:cut], n) {
					t.Errorf("%d of %d bytes are enough", cut, len(src))
				}
			}
			for i := 0; i < 8*len(src); i += step {
				src[i/8] ^= 1 << (i % 8)
				same(t, fmt.Sprint("bit ", i), src, n)
				src[i/8] ^= 1 << (i % 8)
			}
		})
	}
}

// A bitWriter writes streams bit by bit.
type bitWriter struct {
	out []byte
	n   int
}

func (w *bitWriter) put(v, bits int) {
	for range bits {
		if w.n%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.n/8] |= byte(v&1) << (w.n % 8)
		v >>= 1
		w.n++
	}
}

// dynamic begins a block with the given code lengths, which it writes with a
// code of 4 bits each for 0 to 15.
func dynamic(lits, dists []uint8) *bitWriter {
	w := new(bitWriter)
	w.put(1, 1)
	w.put(2, 2)
	w.put(len(lits)-257, 5)
	w.put(len(dists)-1, 5)
	w.put(19-4, 4)
	for _, symbol := range lenOrder {
		w.put(4*int(1-symbol/16), 3)
	}
	for _, n := range append(bytes.Clone(lits), dists...) {
		w.put(reverse(int(n), 4), 4)
	}
	return w
}

func reverse(v, bits int) (r int) {
	for range bits {
		r = r<<1 | v&1
		v >>= 1
	}
	return r
}

// lengths returns n code lengths, which are 0 but for the given ones.
func lengths(n int, some map[int]uint8) []uint8 {
	b := make([]uint8, n)
	for i, v := range some {
		b[i] = v
	}
	return b
}

// TestCodes has incomplete and oversubscribed codes. What is expected is what zlib
// 1.2.13 does and, unless noted, the standard library.
func TestCodes(t *testing.T) {
	end := map[int]uint8{'a': 1, 256: 1}
	full := lengths(30, map[int]uint8{0: 1, 1: 1})
	match := map[int]uint8{'a': 1, 256: 2, 257: 2} // a is 0, the end 10, a match of 3 is 11
	deep := lengths(286, nil)                      // codes of 1 to 15 bits
	for i := range 15 {
		deep[i] = uint8(i + 1)
	}
	deep[256] = 15
	crowd := lengths(286, nil) // 256 subtables' worth
	for i := range crowd {
		crowd[i] = 8
	}
	for _, test := range []struct {
		name        string
		lits, dists []uint8
		bits, n     int // what follows: bits of this value
		size        int // of the data; -1 is an error
	}{
		{"a and the end", lengths(257, end), full, 0b10, 2, 1},
		{"nothing but an end", lengths(257, map[int]uint8{256: 1}), full, 0, 1, 0},
		{"other bit of a single end", lengths(257, map[int]uint8{256: 1}), full, 1, 1, -1},
		{"single end of two bits", lengths(257, map[int]uint8{256: 2}), full, 0, 2, -1},
		{"no end", lengths(257, map[int]uint8{'a': 1, 'b': 1}), full, 0, 9, -1},
		{"a hole", lengths(257, map[int]uint8{'a': 2, 256: 1}), full, 0, 1, -1},
		{"a code too many", lengths(257, map[int]uint8{'a': 1, 'b': 1, 256: 1}), full, 0, 9, -1},
		{"15 bits", deep, full, 1<<15 - 1, 15, 0},
		{"15 bits and more", append(deep[:16:16], append([]uint8{15}, deep[17:]...)...), full, 1<<15 - 1, 15, -1},
		{"286 codes of 8 bits", crowd, full, 0, 30, -1},
		{"no distances", lengths(257, end), make([]uint8, 1), 0b10, 2, 1},
		{"no distances, 30 times", lengths(257, end), make([]uint8, 30), 0b10, 2, 1},
		{"no distances, but a match", lengths(258, match), make([]uint8, 1), 0b01_0_11_0, 6, -1},
		{"one distance", lengths(258, match), []uint8{1}, 0b01_0_11_0, 6, 4},
		{"other bit of one distance", lengths(258, match), []uint8{1}, 0b01_1_11_0, 6, -1},
		{"one distance of two bits", lengths(258, match), []uint8{2}, 0b01_00_11_0, 7, -1},
		{"distance 30", lengths(258, match), lengths(31, map[int]uint8{30: 1}), 0b01_0_11_0, 6, -1},
		{"287 symbols", lengths(287, end), full, 0b10, 2, -1},
		{"three distances", lengths(258, match), []uint8{2, 2, 2}, 0b01_00_11_0, 7, -1},
		{"distances too many", lengths(258, match), []uint8{1, 1, 1}, 0b01_0_11_0, 6, -1},
		{"match before the data", lengths(258, match), full, 0b01_1_11_0, 6, -1},
		{"match of distance 2", lengths(258, match), full, 0b01_1_11_0_0, 7, 5},
	} {
		w := dynamic(test.lits, test.dists)
		w.put(test.bits, test.n)
		n := max(test.size, 0)
		_, _, err := decode(t, w.out, n)
		if (err == nil) != (test.size >= 0) {
			t.Errorf("%s: %v", test.name, err)
		}
		same(t, test.name, w.out, n)
	}
}

// TestAllocations verifies that neither good nor bad streams cost allocations.
func TestAllocations(t *testing.T) {
	dst := make([]byte, 5000)
	good := deflate(t, kinds()[1].data(len(dst)), 6, true)
	bad := bytes.Clone(good)
	bad[len(bad)/2] ^= 0xFF
	if n := testing.AllocsPerRun(100, func() {
		Decode(dst, good)
		Decode(dst, bad)
		Decode(dst, good[:100])
	}); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, src := range streams(f) {
		f.Add(src, uint16(700))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		if data, _, _ := oracle(src, 1<<16); n%4 > 0 && len(data) < 1<<16 {
			n = uint16(len(data)) // otherwise hardly any input would be good
		}
		same(t, "", src, int(n))
	})
}

// BenchmarkDecode has pages of 1 MiB, written as ROOT does at level 1, and one
// that is small.
func BenchmarkDecode(b *testing.B) {
	all := kinds()
	for _, page := range []struct {
		name string
		data []byte
	}{
		{"text", all[1].data(1 << 20)},
		{"planes", all[2].data(1 << 20)},
		{"coarse", all[3].data(1 << 20)},
		{"offsets", offsets(1 << 20)},
		{"zero", make([]byte, 1<<20)},
		{"short", all[2].data(4000)},
	} {
		src := deflate(b, page.data, 1, true)
		dst := make([]byte, len(page.data))
		run := func(name string, decode func() error) {
			b.Run(page.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(dst)))
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("ours", func() error { _, err := Decode(dst, src); return err })
		in := bytes.NewReader(src)
		s := stdflate.NewReader(in)
		run("standard", func() error {
			in.Reset(src)
			s.(stdflate.Resetter).Reset(in, nil)
			_, err := io.ReadFull(s, dst)
			return err
		})
		k := flate.NewReader(in)
		run("klauspost", func() error {
			in.Reset(src)
			k.(flate.Resetter).Reset(in, nil)
			_, err := io.ReadFull(k, dst)
			return err
		})
	}
}

// offsets returns the ends of jagged items: differences, zigzag and split.
func offsets(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	for i := range n / 8 {
		b[i] = byte(r.IntN(7) * r.IntN(7) / 3)
	}
	return b
}
