package lzma

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ulikunitz/xz/lzma"

	"github.com/go-rntuple/go-rntuple/internal/test/fencetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
)

//go:embed testdata/streams.bin
var streamsBin []byte

// streams returns the streams that testdata/streams.py made: their content's
// length and CRC-32.
func streams() (all []stream) {
	for b := streamsBin; len(b) > 0; {
		n := 12 + binary.LittleEndian.Uint32(b[8:])
		all = append(all, stream{int(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:]), b[12:n:n]})
		b = b[n:]
	}
	return all
}

type stream struct {
	size int
	sum  uint32
	src  []byte
}

// A result is what Decode returns, and what is in dst.
type result struct {
	dst  []byte
	used int
	err  error
}

// try calls Decode with src and dst at the end of accessible memory, on systems
// where tests can protect memory, with and without assembly, whose results must be
// the same.
func (f *fences) try(t testing.TB, src []byte, n int) result {
	t.Helper()
	var results []result
	for _, useAsm = range []bool{false, true} {
		dst := f.dst.Last(n)
		clear(dst)
		n, used, err := Decode(dst, f.src.Copy(src))
		if n > len(dst) || used > len(src) && err == nil {
			t.Fatalf("%d of %d bytes written, %d of %d read", n, len(dst), used, len(src))
		}
		results = append(results, result{bytes.Clone(dst[:n]), used, err})
	}
	plain, asm := results[0], results[1]
	if plain.err != asm.err || plain.err == nil && (plain.used != asm.used || !bytes.Equal(plain.dst, asm.dst)) {
		t.Fatalf("plain: %d bytes of %d, %v; assembly: %d bytes of %d, %v; equal %v", len(plain.dst), plain.used, plain.err,
			len(asm.dst), asm.used, asm.err, bytes.Equal(plain.dst, asm.dst))
	}
	return plain
}

type fences struct{ src, dst fencetest.Fence }

func newFences(t testing.TB) *fences {
	return &fences{fencetest.New(t, 8<<20), fencetest.New(t, 8<<20)}
}

// module decodes src with the xz module.
func module(src []byte, n int) ([]byte, error) {
	r, err := lzma.Reader2Config{DictCap: max(lzma.MinDictCap, n)}.NewReader2(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestStreams decodes what liblzma has written.
func TestStreams(t *testing.T) {
	f := newFences(t)
	for i, s := range streams() {
		for _, behind := range []int{0, 1, inMarginForTests - 1, 100} {
			src := append(slices.Clone(s.src), make([]byte, behind)...)
			got := f.try(t, src, s.size)
			if got.err != nil || len(got.dst) != s.size || got.used != len(s.src) || crc32.ChecksumIEEE(got.dst) != s.sum {
				t.Errorf("stream %d: %d of %d bytes, %d of %d read, %v", i, len(got.dst), s.size, got.used, len(s.src), got.err)
			}
		}
		if got := f.try(t, s.src, s.size+1); got.err != nil || len(got.dst) != s.size {
			t.Errorf("stream %d, with room for more: %d bytes, %v", i, len(got.dst), got.err)
		}
		if s.size > 0 {
			if got := f.try(t, s.src, s.size-1); got.err != errLong {
				t.Errorf("stream %d, a byte short of room: %v", i, got.err)
			}
		}
	}
}

// inMarginForTests is about what assembly leaves alone at the end of the input.
const inMarginForTests = 21

// TestRandom decodes streams of random symbols.
func TestRandom(t *testing.T) {
	f := newFences(t)
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		data, src := randomStream(r, 1+r.IntN(8), 1<<(2+seed%15))
		got := f.try(t, src, len(data))
		if got.err != nil || got.used != len(src) || !bytes.Equal(got.dst, data) {
			t.Fatalf("seed %d: %v, %d of %d read, equal %v", seed, got.err, got.used, len(src), bytes.Equal(got.dst, data))
		}
		if seed%10 == 0 {
			if want, err := module(src, len(data)); err != nil || !bytes.Equal(want, data) {
				t.Fatalf("seed %d: the xz module says %v, equal %v", seed, err, bytes.Equal(want, data))
			}
		}
	}
}

// TestMatches decodes matches that just are within the dictionary and the chunk, and
// such that just are not.
func TestMatches(t *testing.T) {
	f := newFences(t)
	for seed := range uint64(200) {
		for _, test := range []struct {
			far, long int // by how many bytes
			want      error
		}{{0, 0, nil}, {1, 0, errMatch}, {0, 1, errMatch}} {
			e := &encoder{Rand: rand.New(rand.NewPCG(seed, 3))}
			e.out = append(e.out, plainResetDict, 0, 0, 1) // Of another dictionary.
			e.data = append(e.data, 1)
			e.dict = 1
			e.begin(resetDict)
			n := 2 + e.IntN(40)
			for range n {
				e.symbol(true)
			}
			length := 2 + e.IntN(30)
			e.bit(isMatch+e.state*maxPosStates+n&e.posMask, 1)
			e.bit(isRep+e.state, 0)
			e.length(lenCoder, length, n&e.posMask)
			e.distance(n-1+test.far, length)
			e.reps[0] = n - 1
			e.copy(length)
			e.end(resetDict, n+length-test.long)
			src := append(e.out, make([]byte, 50)...)
			got := f.try(t, src, len(e.data))
			if got.err != test.want || got.err == nil && !bytes.Equal(got.dst, e.data) {
				t.Fatalf("seed %d: %v, want %v", seed, got.err, test.want)
			}
		}
	}
}

// TestFar decodes a match with the greatest distance of a block of ROOT.
func TestFar(t *testing.T) {
	e := &encoder{Rand: rand.New(rand.NewPCG(1, 2))}
	for n := 1<<24 - 1000; len(e.data) < n; {
		kind := plain
		if len(e.data) == 0 {
			kind = plainResetDict
		}
		b := make([]byte, min(1<<16, n-len(e.data)))
		b[0] = byte(len(e.data) >> 16)
		e.out = append(e.out, byte(kind), byte((len(b)-1)>>8), byte(len(b)-1))
		e.data, e.out = append(e.data, b...), append(e.out, b...)
	}
	e.symbols(resetProperties, 1)
	src := append(e.out, endMark)
	for _, useAsm = range []bool{false, true} {
		dst := make([]byte, len(e.data))
		if _, _, err := Decode(dst, src); err != nil || !bytes.Equal(dst, e.data) {
			t.Errorf("assembly %v: %v", useAsm, err)
		}
	}
}

// TestDamage changes, cuts and refuses small streams. What is read of a damaged
// stream must be what the xz module reads.
func TestDamage(t *testing.T) {
	f := newFences(t)
	small := slices.DeleteFunc(streams(), func(s stream) bool { return len(s.src) > 1000 })
	for _, i := range sampletest.Cases(sampletest.Rand(t), len(small), len(small)/5) {
		s := small[i]
		for at := range s.src {
			if got := f.try(t, s.src[:at], s.size); got.err == nil {
				t.Errorf("stream %d: %d of %d bytes are enough", i, at, len(s.src))
			}
			for _, flip := range []byte{1, 1 << (at % 8), 0x80, 0xFF} {
				bad := slices.Clone(s.src)
				bad[at] ^= flip
				got := f.try(t, bad, s.size)
				if got.err != nil {
					continue
				}
				if want, err := module(bad[:got.used], s.size); err != nil || !bytes.Equal(got.dst, want) {
					t.Errorf("stream %d: flip of %#x in byte %d gives %d bytes, the xz module says %v", i, flip, at, len(got.dst), err)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	good := []byte{resetDict, 0, 0, 0, 5, 0x5D, 0, 0, 0, 0, 0, 0} // one byte, 0
	end := func(b ...byte) []byte { return append(b, endMark) }
	for _, test := range []struct {
		name string
		src  []byte
		want error
	}{
		{"nothing", nil, errTruncated},
		{"no end mark", []byte{plainResetDict, 0, 0, 7}, errTruncated},
		{"header cut", []byte{plainResetDict, 0}, errTruncated},
		{"chunk cut", end(plainResetDict, 0, 5, 7), errTruncated},
		{"chunk without its first bytes", end(resetDict, 0, 0, 0, 3, 0x5D, 0, 0, 0, 0), errTruncated},
		{"first chunk without dictionary", end(plain, 0, 0, 7), errChunk},
		{"first chunk without properties", end(plainResetDict, 0, 0, 7, resetState, 0, 0, 0, 4, 0, 0, 0, 0, 0), errChunk},
		{"unknown chunk", end(3, 0, 0, 7), errChunk},
		{"unknown chunk of symbols", end(0x7F, 0, 0, 7), errChunk},
		{"pb of 5", end(resetDict, 0, 0, 0, 5, 225, 0, 0, 0, 0, 0, 0), errChunk},
		{"lc + lp of 5", end(resetDict, 0, 0, 0, 5, 4+9, 0, 0, 0, 0, 0, 0), errChunk},
		{"too long", end(plainResetDict, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21),
			errLong},
		{"first byte of the range coder", end(resetDict, 0, 0, 0, 5, 0x5D, 1, 0, 0, 0, 0, 0), errEnd},
		{"code left over", end(resetDict, 0, 0, 0, 5, 0x5D, 0, 0, 0, 0, 1, 0), errEnd},
		{"byte left over", end(resetDict, 0, 0, 0, 6, 0x5D, 0, 0, 0, 0, 0, 0, 0), errEnd},
		{"match in an empty dictionary", end(resetDict, 0, 9, 0, 5, 0x5D, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0), errMatch},
	} {
		// Behind the stream, too, what assembly needs to read ahead.
		for _, behind := range []int{0, 40} {
			src := append(slices.Clone(test.src), bytes.Repeat([]byte{endMark}, behind)...)
			if behind > 0 && test.want == errTruncated {
				continue
			}
			f := newFences(t)
			if got := f.try(t, src, 10); !errors.Is(got.err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, got.err, test.want)
			}
		}
	}
	if got := newFences(t).try(t, append(good, endMark), 10); got.err != nil || len(got.dst) != 1 {
		t.Errorf("the stream that the others are like: %v", got.err)
	}
}

// TestAllocations verifies that decoding needs no memory.
func TestAllocations(t *testing.T) {
	s := streams()[0]
	dst := make([]byte, s.size)
	if n := testing.AllocsPerRun(100, func() {
		if _, _, err := Decode(dst, s.src); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecode compares assembly, plain Go and the xz module.
func FuzzDecode(f *testing.F) {
	for _, s := range streams() {
		if len(s.src) < 4000 && s.size < 1<<17 {
			f.Add(s.src, uint32(s.size))
		}
	}
	for seed := range uint64(20) {
		data, src := randomStream(rand.New(rand.NewPCG(seed, 2)), 4, 300)
		f.Add(src, uint32(len(data)))
	}
	fences := newFences(f)
	f.Fuzz(func(t *testing.T, src []byte, n uint32) {
		n %= 1 << 17
		got := fences.try(t, src[:min(len(src), 1<<17)], int(n))
		if got.err != nil {
			return
		}
		if want, err := module(src[:got.used], int(n)); err != nil || !bytes.Equal(got.dst, want) {
			t.Fatalf("%d bytes; the xz module: %d, %v", len(got.dst), len(want), err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	planes := make([]byte, 1<<20)
	for i := range planes { // as of floats: noise, and bytes that are often the same
		if planes[i] = byte(r.Uint32()); i >= len(planes)/2 {
			planes[i] = byte(64 + int(r.NormFloat64()))
		}
	}
	var text []byte
	for len(text) < 1<<20 {
		text = fmt.Appendf(text, "event %d, run %d; ", r.IntN(5000), r.IntN(30))
	}
	for name, data := range map[string][]byte{"planes": planes, "text": text} {
		var buf bytes.Buffer
		w, err := lzma.NewWriter2(&buf)
		if err == nil {
			_, err = w.Write(data)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			b.Fatal(err)
		}
		dst := make([]byte, len(data))
		for _, kind := range []string{"assembly", "plain", "module"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				useAsm = kind == "assembly"
				defer func() { useAsm = true }()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					var err error
					if kind == "module" {
						_, err = module(buf.Bytes(), len(data))
					} else {
						_, _, err = Decode(dst, buf.Bytes())
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
