package zstd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/fencetest"
)

// oracleDecoder is the zstd module's decoder, the reference.
var oracleDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err)
	}
	return d
})

// oracle decodes src, which must have n bytes of content, with the module.
func oracle(src []byte, n int) ([]byte, error) {
	out, err := oracleDecoder().DecodeAll(src, make([]byte, 0, n))
	if err == nil && len(out) != n {
		err = fmt.Errorf("%d bytes, expected %d", len(out), n)
	}
	return out, err
}

// each runs a test with the assembly, if this machine has any, and without.
func each(t *testing.T, test func(t *testing.T)) {
	if useAsm {
		t.Run("assembly", test)
		useAsm = false
		defer func() { useAsm = true }()
	}
	t.Run("plain", test)
}

// try calls Decode with src and dst at the end of accessible memory, on systems
// where tests can protect memory.
func (f *fences) try(src []byte, n int) ([]byte, error) {
	dst := f.dst.Last(n)
	err := Decode(dst, f.src.Copy(src))
	return dst, err
}

type fences struct{ src, dst fencetest.Fence }

func newFences(t testing.TB) *fences {
	return &fences{fencetest.New(t, 2<<20), fencetest.New(t, 2<<20)}
}

// A kind makes pages of n bytes.
type kind struct {
	name string
	make func(n int) []byte
}

var kinds = []kind{
	{"split doubles", splitDoubles},
	{"offsets", offsets},
	{"booleans", booleans},
	{"constant", constant},
	{"text", text},
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// planes returns n/8 words split into eight planes of bytes.
func planes(n int, next func(i int) uint64) []byte {
	b := make([]byte, n)
	words := n / 8
	for i := range words {
		w := next(i)
		for k := range 8 {
			b[k*words+i] = byte(w >> (8 * k))
		}
	}
	return b
}

// splitDoubles returns momenta; their mantissas are 0 beyond single precision.
func splitDoubles(n int) []byte {
	r := random(1)
	return planes(n, func(int) uint64 { return math.Float64bits(float64(float32(r.ExpFloat64() * 20))) })
}

// offsets returns the offsets of a jagged array as small differences.
func offsets(n int) []byte {
	r := random(2)
	return planes(n, func(int) uint64 { return uint64(r.ExpFloat64() * 3) })
}

func booleans(n int) []byte {
	r := random(3)
	b := make([]byte, n)
	for i := range b {
		for k := range 8 {
			if r.IntN(12) == 0 {
				b[i] |= 1 << k
			}
		}
	}
	return b
}

func constant(n int) []byte {
	r := random(4)
	b := make([]byte, n)
	for i := range b {
		b[i] = 7
		if r.IntN(200) == 0 {
			b[i] = byte(r.IntN(4))
		}
	}
	return b
}

func text(n int) []byte {
	r := random(5)
	words := []string{"electron", "muon", "jet", "HLT_", "Iso", "Mu24", "track", "vertex", "_eta", "_phi", "_pt", " ",
		", ", ".\n", "the ", "of "}
	var b []byte
	for len(b) < n {
		b = append(b, words[min(r.IntN(16), r.IntN(16))]...)
		if r.IntN(6) == 0 {
			b = binary.AppendUvarint(b, uint64(r.IntN(1<<20)))
		}
	}
	return b[:n]
}

var levels = []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression,
	zstd.SpeedBestCompression}

func encode(t testing.TB, src []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	e := moduleEncoder(t, opts...)
	defer e.Close()
	return e.EncodeAll(src, nil)
}

func moduleEncoder(t testing.TB, opts ...zstd.EOption) *zstd.Encoder {
	t.Helper()
	e, err := zstd.NewWriter(nil, append([]zstd.EOption{
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1 << 20),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestDecode decodes frames written by the module.
func TestDecode(t *testing.T) {
	type frame struct {
		name      string
		want, src []byte
	}
	var frames []frame
	encoders := map[bool]map[zstd.EncoderLevel]*zstd.Encoder{false: {}, true: {}}
	add := func(name string, want []byte, level zstd.EncoderLevel, single bool) {
		e := encoders[single][level]
		if e == nil {
			e = moduleEncoder(t, zstd.WithEncoderLevel(level), zstd.WithSingleSegment(single), zstd.WithEncoderCRC(!single))
			encoders[single][level] = e
		}
		frames = append(frames, frame{fmt.Sprintf("%s, %d bytes, %v", name, len(want), level), want, e.EncodeAll(want, nil)})
	}
	for _, k := range kinds {
		for i, n := range []int{0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 63, 100, 255, 256, 257, 1000, 1023, 1024, 4096,
			65535, 65536, 65536 + 255, 65536 + 256, 1<<17 - 1, 1 << 17, 1<<17 + 1, 1<<18 + 1, 3 << 19} {
			for j, level := range levels {
				if n < 1<<16 || i%len(levels) == j {
					add(k.name, k.make(n), level, i%2 == 0)
				}
			}
		}
	}
	for period := 1; period <= 64; period++ {
		for i, n := range []int{period + 1, 100, 1 << 10, 70_000, 140_001} {
			r := random(uint64(period))
			b := make([]byte, n)
			for i := range b {
				if b[i] = byte(r.Uint32()); i >= period {
					b[i] = b[i-period]
				}
			}
			add(fmt.Sprint("period ", period), bytes.Clone(b), levels[i%2], false)
			for range n / 500 {
				b[r.IntN(n)]++
			}
			add(fmt.Sprint("almost period ", period), b, levels[(i+1)%2], true)
		}
	}
	f := newFences(t)
	each(t, func(t *testing.T) {
		for _, frame := range frames {
			got, err := f.try(frame.src, len(frame.want))
			if err != nil || !bytes.Equal(got, frame.want) {
				t.Errorf("%s: %v, equal %v", frame.name, err, bytes.Equal(got, frame.want))
			}
		}
	})
}

// TestLibzstd decodes frames written by libzstd, all of which have a checksum.
// testdata/frames.py made them.
func TestLibzstd(t *testing.T) {
	frames := libzstd(t)
	f := newFences(t)
	each(t, func(t *testing.T) {
		for name, src := range frames {
			want, err := oracleDecoder().DecodeAll(src, make([]byte, 0, 2<<20))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := f.try(src, len(want))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v, equal %v", name, err, bytes.Equal(got, want))
			}
			src[len(src)-1] ^= 1
			if _, err := f.try(src, len(want)); !errors.Is(err, frame.ErrChecksum) {
				t.Errorf("%s with another checksum: %v", name, err)
			}
			src[len(src)-1] ^= 1
		}
	})
}

func libzstd(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.zst")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d frames, %v", len(names), err)
	}
	frames := make(map[string][]byte)
	for _, name := range names {
		if frames[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return frames
}

// TestFrames has frames made by hand.
func TestFrames(t *testing.T) {
	const (
		magic   = "\x28\xB5\x2F\xFD"
		abc     = "\x19\x00\x00abc" // last block, raw
		skipped = "\x5A\x2A\x4D\x18\x02\x00\x00\x00??"
	)
	for _, test := range []struct {
		name, src, want string
		err             error
	}{
		{"content size", magic + "\x20\x03" + abc, "abc", nil},
		{"content size of 8 bytes", magic + "\xE0\x03\x00\x00\x00\x00\x00\x00\x00" + abc, "abc", nil},
		{"window", magic + "\x00\x00" + abc, "abc", nil},
		{"huge window", magic + "\x00\xFF" + abc, "abc", nil},
		{"no dictionary", magic + "\x23\x00\x00\x00\x00\x03" + abc, "abc", nil},
		{"checksum", magic + "\x24\x03" + abc + "\xF3\xC8\x24\x44", "abc", frame.ErrChecksum},
		{"several blocks", magic + "\x20\x08\x18\x00\x00abc\x00\x00\x00\x12\x00\x00x" + abc, "abcxxabc", nil},
		{"literals only", magic + "\x20\x04\x1D\x00\x00\x21\x7A\x00", "zzzz", nil},
		{"several frames", magic + "\x20\x03" + abc + skipped + magic + "\x00\x00" + abc, "abcabc", nil},
		{"nothing", "", "", nil},
		{"empty", magic + "\x20\x00\x01\x00\x00", "", nil},

		{"dictionary", magic + "\x21\x07\x03" + abc, "abc", frame.ErrUnsupported},
		{"other magic number", "\x28\xB5\x2F\xFE\x20\x03" + abc, "abc", frame.ErrCorrupt},
		{"reserved bit", magic + "\x28\x03" + abc, "abc", frame.ErrCorrupt},
		{"reserved block type", magic + "\x20\x03\x1F\x00\x00abc", "abc", frame.ErrCorrupt},
		{"content size too large", magic + "\x20\x04" + abc, "abc", frame.ErrCorrupt},
		{"content size too small", magic + "\x20\x02" + abc, "abc", frame.ErrCorrupt},
		{"too short", magic + "\x00\x00" + abc, "abcd", frame.ErrCorrupt},
		{"too long", magic + "\x00\x00" + abc, "ab", frame.ErrCorrupt},
		{"no last block", magic + "\x20\x03\x18\x00\x00abc", "abc", frame.ErrCorrupt},
		{"bytes behind it", magic + "\x20\x03" + abc + "x", "abc", frame.ErrCorrupt},
		{"skipped too much", "\x5A\x2A\x4D\x18\x03\x00\x00\x00??", "", frame.ErrCorrupt},
		{"block larger than window", magic + "\x00\x00\x0B\x20\x00x", strings.Repeat("x", 1025), frame.ErrCorrupt},
		{"tables of no block before", magic + "\x20\x04\x1D\x00\x00\x23\x7A\x00", "zzzz", frame.ErrCorrupt},
	} {
		got := make([]byte, len(test.want))
		err := Decode(got, []byte(test.src))
		if !errors.Is(err, test.err) || err == nil && string(got) != test.want {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// TestDamaged changes and cuts frames. The result must be that of the module,
// which differs only in the windows that it allows.
func TestDamaged(t *testing.T) {
	sources := libzstd(t)
	for i, k := range kinds {
		for _, n := range []int{40, 400, 3000} {
			sources[fmt.Sprint(k.name, n)] = encode(t, k.make(n), zstd.WithEncoderCRC(false),
				zstd.WithEncoderLevel(levels[i%len(levels)]))
		}
	}
	f := newFences(t)
	budget := 4_000_000 // bytes to decode of a source
	if testing.Short() {
		budget /= 4
	}
	each(t, func(t *testing.T) {
		for name, src := range sources {
			whole, err := oracleDecoder().DecodeAll(src, make([]byte, 0, 2<<20))
			if err != nil {
				t.Fatal(name, err)
			}
			n := len(whole)
			same := func(src []byte, what string, at int) {
				got, err := f.try(src, n)
				want, wantErr := oracle(src, n)
				if errors.Is(wantErr, zstd.ErrWindowSizeExceeded) {
					return
				}
				if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
					t.Fatalf("%s, %s at %d: %v, module %v, equal %v", name, what, at, err, wantErr, bytes.Equal(got, want))
				}
			}
			step := max(1, n*len(src)/budget)
			for i := 0; i < len(src); i += step {
				for _, x := range []byte{1 << (i & 7), 0x10, 0xFF} {
					src[i] ^= x
					same(src, fmt.Sprintf("%#x", x), i)
					src[i] ^= x
				}
				same(src[:i], "cut", i)
			}
		}
	})
}

// TestExecutor executes sequences of all kinds, valid or not, at all distances
// from the end of dst, and compares the result with that of a loop over bytes.
func TestExecutor(t *testing.T) {
	const room = 3000
	f := newFences(t)
	each(t, func(t *testing.T) {
		r := random(6)
		lengths := func() uint32 {
			switch r.IntN(8) {
			case 0:
				return 0
			case 1:
				return uint32(r.IntN(room))
			case 2:
				return uint32(r.IntN(200))
			default:
				return uint32(r.IntN(40))
			}
		}
		var failed, done int
		for range 30_000 {
			n := r.IntN(room)
			lits := f.src.Last(r.IntN(room) + margin)
			for i := range lits {
				lits[i] = byte(r.Uint32())
			}
			batch := make([]sequence, 1+r.IntN(8))
			for i := range batch {
				batch[i] = sequence{lengths(), lengths(), lengths()}
				if r.IntN(200) == 0 {
					batch[i].offset = r.Uint32()
				}
			}
			x := executor{dst: f.dst.Last(n), out: r.IntN(min(n, 100) + 1), limit: n, lits: lits, litsEnd: len(lits) - margin}
			if r.IntN(4) == 0 {
				x.limit = x.out + r.IntN(n-x.out+1)
			}
			want, ok := model(batch, bytes.Clone(x.dst[:x.out]), lits[:x.litsEnd], x.limit)
			if got := x.run(batch); got != ok || ok && !bytes.Equal(x.dst[:x.out], want) {
				t.Fatalf("%v, want %v: %d bytes %x, want %d bytes %x, of %v", got, ok, x.out, x.dst[:x.out], len(want), want, batch)
			}
			if ok {
				done++
			} else {
				failed++
			}
		}
		if done < 1000 || failed < 1000 {
			t.Errorf("%d done, %d failed", done, failed)
		}
	})
}

func model(batch []sequence, out, lits []byte, limit int) ([]byte, bool) {
	for _, s := range batch {
		if int(s.literals) > len(lits) {
			return nil, false
		}
		out = append(out, lits[:s.literals]...)
		lits = lits[s.literals:]
		if s.offset == 0 || int64(s.offset) > int64(len(out)) || len(out)+int(s.match) > limit {
			return nil, false
		}
		for range s.match {
			out = append(out, out[len(out)-int(s.offset)])
		}
	}
	return out, true
}

// TestReader reads sequences from random bits, with codes of all lengths, both in
// batches and one by one.
func TestReader(t *testing.T) {
	f := newFences(t)
	each(t, func(t *testing.T) {
		r := random(7)
		for range 5000 {
			src := f.src.Last(20 + r.IntN(200))
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			var tables sequenceTables
			tables.reset()
			for _, p := range []*part{&tables.literals, &tables.offset, &tables.match} {
				p.table = p.standard
				if r.IntN(2) == 0 {
					p.table = &p.own
					p.own.entries[0] = p.codes[r.IntN(len(p.codes))]
				}
			}
			bulk := sequenceReader{pos: 8*len(src) - 1 - r.IntN(8), start: 80 + 8*r.IntN(8), repeats: [3]uint32{1, 4, 8}}
			if !bulk.begin(src, &tables) {
				continue
			}
			single := bulk
			got, want := make([]sequence, 1+r.IntN(40)), make([]sequence, 40)[:0]
			wantOK := true
			for len(want) < len(got) && wantOK {
				var s sequence
				wantOK = single.next(src, &s) && single.advance(src)
				want = append(want, s)
			}
			ok := bulk.read(src, got, false)
			if ok != wantOK || ok && (!slices.Equal(got, want) || bulk != single) {
				t.Fatalf("%v, want %v: %v, want %v; left %v, want %v", ok, wantOK, got, want, bulk, single)
			}
		}
	})
}

// TestHuffmanStreams decodes random bits in bulk and step by step.
func TestHuffmanStreams(t *testing.T) {
	f := newFences(t)
	each(t, func(t *testing.T) {
		r := random(8)
		whole := 0
		for round := range 500 {
			var h huffmanTables
			// Codes from even to as skewed as can be.
			n := 1 << r.IntN(8)
			for i := range n {
				h.weights[i] = 1
				if i > 0 && round%2 == 0 {
					h.weights[i] = uint8(i % huffmanLog)
				}
				if round%2 == 0 && i >= huffmanLog {
					h.weights[i] = 0
				}
			}
			if err := h.build(n); err != nil {
				t.Fatal(err)
			}
			src := f.src.Last(100 + r.IntN(60_000))
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			size := 6 + r.IntN(maxBlockSize-6)
			got, want := f.dst.Last(size), make([]byte, size)
			share := (size + 3) / 4
			var bulk [4]stream
			for i := range bulk {
				start := 80 + 8*r.IntN(len(src)-80)
				bulk[i] = stream{pos: start + r.IntN(8*len(src)-start), start: start, out: i * share, end: min((i+1)*share, size)}
			}
			single := bulk
			h.decodeBulk(got, src, &bulk)
			for i, s := range single {
				err, wantErr := h.finish(got, src, &bulk[i]), h.finish(want, src, &s)
				if (err == nil) != (wantErr == nil) {
					t.Fatalf("stream %d: %v, want %v", i, err, wantErr)
				}
				if s.pos-s.start >= huffmanLog*share { // bits for all literals
					whole++
					if !bytes.Equal(got[s.out:s.end], want[s.out:s.end]) {
						t.Fatalf("%d symbols, %d literals: stream %d differs", n, size, i)
					}
				}
			}
		}
		if whole < 100 {
			t.Errorf("%d whole streams", whole)
		}
	})
}

// FuzzDecode compares Decode with the module. The two may differ for frames whose
// window is smaller than their content, or too large for the module.
func FuzzDecode(f *testing.F) {
	for _, src := range libzstd(f) {
		if h, _, err := parseHeader(src); err == nil && h.hasSize {
			f.Add(src, uint32(h.size))
		}
	}
	for _, k := range kinds {
		for _, n := range []int{20, 300, 5000} {
			f.Add(encode(f, k.make(n), zstd.WithEncoderCRC(false)), uint32(n))
		}
	}
	fences := newFences(f)
	f.Fuzz(func(t *testing.T, src []byte, size uint32) {
		n := int(size % (1 << 18))
		if len(src) > 1<<20 {
			return
		}
		got, err := fences.try(src, n)
		if h, _, herr := parseHeader(src); herr == nil && (h.window < uint64(n) || h.window > zstd.MaxWindowSize) {
			return
		}
		want, wantErr := oracle(src, n)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%v, module %v, equal %v", err, wantErr, bytes.Equal(got, want))
		}
	})
}

// BenchmarkDecode decodes pages of 1 MiB and 32 KiB.
func BenchmarkDecode(b *testing.B) {
	for _, k := range kinds {
		for _, n := range []int{1 << 20, 32 << 10} {
			page := k.make(n)
			src := encode(b, page, zstd.WithEncoderCRC(false))
			dst := make([]byte, n)
			run := func(name string, f func() error) {
				b.Run(fmt.Sprintf("%s/%dk/%s", k.name, n>>10, name), func(b *testing.B) {
					b.SetBytes(int64(n))
					for b.Loop() {
						if err := f(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			ours := func() error { return Decode(dst, src) }
			if useAsm {
				run("assembly", ours)
				useAsm = false
				run("plain", ours)
				useAsm = true
			} else {
				run("plain", ours)
			}
			run("module", func() error { _, err := oracleDecoder().DecodeAll(src, dst[:0]); return err })
		}
	}
}
