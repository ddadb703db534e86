package bits

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"
)

// An op is a function of this package, and its twin in plain Go. Both take the
// memory of their slices: elements, and a page of them.
type op struct {
	name        string
	size, width int  // of an element in memory (bytes) and in the page (bits)
	align       int  // of the page
	encodes     bool // the page is the destination
	run, plain  func(elements, page []byte)
}

func decoder[E, P any](name string, width int, run, plain func(dst []E, src []P)) op {
	call := func(f func(dst []E, src []P)) func(elements, page []byte) {
		return func(elements, page []byte) { f(view[E](elements), view[P](page)) }
	}
	return op{name, sizeof[E](), width, sizeof[P](), false, call(run), call(plain)}
}

func encoder[P, E any](name string, width int, run, plain func(dst []P, src []E)) op {
	call := func(f func(dst []P, src []E)) func(elements, page []byte) {
		return func(elements, page []byte) { f(view[P](page), view[E](elements)) }
	}
	return op{name, sizeof[E](), width, sizeof[P](), true, call(run), call(plain)}
}

func view[T any](b []byte) []T {
	size := sizeof[T]()
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), cap(b)/size)[:len(b)/size]
}

func planeOpsOf[W Word]() []op {
	width := 8 * sizeof[W]()
	unsplit := func(f filter) func(dst []W, src []byte) {
		return func(dst []W, src []byte) { unsplitRest(dst, src, len(dst), 0, f) }
	}
	split := func(f filter) func(dst []byte, src []W) {
		return func(dst []byte, src []W) { splitRange(dst, src, 0, len(src), f) }
	}
	return []op{
		decoder("Load", width, Load[W], loadPlain[W]),
		encoder("Store", width, Store[W], storePlain[W]),
		decoder("Unsplit", width, Unsplit[W], unsplit(unfiltered)),
		decoder("UnsplitZigzag", width, UnsplitZigzag[W], unsplit(zigzag)),
		decoder("UnsplitDelta", width, UnsplitDelta[W], unsplit(delta)),
		encoder("Split", width, Split[W], split(unfiltered)),
		encoder("SplitZigzag", width, SplitZigzag[W], split(zigzag)),
		encoder("SplitDelta", width, SplitDelta[W], split(delta)),
	}
}

func planeOps() []op {
	return slices.Concat(planeOpsOf[uint8](), planeOpsOf[uint16](), planeOpsOf[uint32](), planeOpsOf[uint64]())
}

func packOps() (ops []op) {
	for w := 1; w <= 32; w++ {
		ops = append(ops,
			decoder("Unpack", w, func(dst []uint32, src []byte) { Unpack(dst, src, w) },
				func(dst []uint32, src []byte) { unpackRest(dst, src, w, 0) }),
			decoder("UnpackTop", w, func(dst []uint32, src []byte) { UnpackTop(dst, src, w) },
				func(dst []uint32, src []byte) { unpackRest(dst, src, w, 32-w) }),
			encoder("Pack", w, func(dst []byte, src []uint32) { Pack(dst, src, w) },
				func(dst []byte, src []uint32) { packBytewise(dst, src, w, 0) }),
			encoder("PackTop", w, func(dst []byte, src []uint32) { PackTop(dst, src, w) },
				func(dst []byte, src []uint32) { packBytewise(dst, src, w, 32-w) }))
	}
	return ops
}

// packBytewise is pack, a byte at a time.
func packBytewise(dst []byte, src []uint32, width, right int) {
	var acc uint64
	var have int
	for _, w := range src {
		acc |= uint64(w>>right) & (1<<width - 1) << have
		for have += width; have >= 8; have -= 8 {
			dst[0], dst, acc = byte(acc), dst[1:], acc>>8
		}
	}
	if have > 0 {
		dst[0] = byte(acc)
	}
}

func boolOps() []op {
	return []op{
		decoder("UnpackBools", 1, UnpackBools, unpackBoolsRest),
		encoder("PackBools", 1, PackBools, packBoolsRest),
	}
}

func halfOps() []op {
	return []op{
		decoder("Float32s", 16, Float32s, float32sRest),
		encoder("Float16s", 16, Float16s, float16sRest),
	}
}

func allOps() []op { return slices.Concat(planeOps(), packOps(), boolOps(), halfOps()) }

// args makes room for n elements and for their page by get, which is told the
// length and what the address is a multiple of.
func (o op) args(n int, get func(n, align int) []byte) (a args) {
	a.elements, a.page = get(n*o.size, o.size), get(packedLen(n, o.width), o.align)
	a.dst, a.src = a.elements, a.page
	if o.encodes {
		a.dst, a.src = a.page, a.elements
	}
	return a
}

type args struct{ elements, page, dst, src []byte }

// fill fills the source with data, or else with random values.
func (o op) fill(src, data []byte) {
	rand.NewChaCha8([32]byte{byte(len(src))}).Read(src)
	copy(src, data)
	if o.name == "PackBools" {
		for i := range src {
			src[i] &= 1
		}
	}
}

// check compares the op with its twin for n elements.
func (o op) check(t *testing.T, n int, data []byte, get func(n, align int) []byte) {
	t.Helper()
	a := o.args(n, get)
	o.fill(a.src, data)
	source := bytes.Clone(a.src)
	o.run(a.elements, a.page)
	got := bytes.Clone(a.dst)
	clear(a.dst)
	if o.plain(a.elements, a.page); !bytes.Equal(got, a.dst) {
		t.Fatalf("%s%d of %d elements differs from its plain form", o.name, o.width, n)
	}
	if !bytes.Equal(a.src, source) {
		t.Fatalf("%s%d of %d elements changes its source", o.name, o.width, n)
	}
}

// checkAt checks with elements and page that begin so many of their elements
// behind a multiple of 32 bytes, and looks for changes around them.
func (o op) checkAt(t *testing.T, n int, data []byte, elementsAt, pageAt int) {
	t.Helper()
	const margin, guard = 64, 0xa5
	var around [][]byte
	at := elementsAt
	o.check(t, n, data, func(n, align int) []byte {
		b := bytes.Repeat([]byte{guard}, margin+n+margin)
		from := margin - int(uintptr(unsafe.Pointer(&b[0]))%32) + at*align%32
		around = append(around, b[:from], b[from+n:])
		at = pageAt
		return b[from:][:n:n]
	})
	for _, b := range around {
		if bytes.Count(b, []byte{guard}) != len(b) {
			t.Fatalf("%s%d of %d elements changes bytes around it", o.name, o.width, n)
		}
	}
}

// TestKernels takes all short lengths, some long ones, and all positions of
// elements and page in 32 bytes; not all of them if tests are to be short.
func TestKernels(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 13
	}
	forKernels(t, func(t *testing.T) {
		for _, o := range allOps() {
			for n := 0; n <= 300; n += step {
				o.checkAt(t, n, nil, n, n/2)
			}
			for _, n := range []int{1000, 5001} {
				o.checkAt(t, n, nil, 0, 0)
			}
			for at := 0; at < 32*32; at += step {
				o.checkAt(t, 100, nil, at%32, at/32)
			}
		}
	})
}

// TestTooShort makes sure that no function looks behind the end of a page, not
// even within its capacity.
func TestTooShort(t *testing.T) {
	forKernels(t, func(t *testing.T) {
		for _, o := range allOps() {
			for _, n := range []int{1, 8, 16, 100, 256} {
				a := o.args(n, func(n, align int) []byte { return make([]byte, n) })
				func() {
					defer func() {
						if _, ok := recover().(runtime.Error); !ok {
							t.Errorf("%s%d of %d elements takes a page that lacks a byte", o.name, o.width, n)
						}
					}()
					o.run(a.elements, a.page[:len(a.page)-1])
				}()
			}
		}
	})
}

// fuzz compares an op with its twin, given the bytes of the source.
func fuzz(f *testing.F, ops []op) {
	f.Add([]byte("bytes of a page or of elements"), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, which uint16) {
		o := ops[int(which)%len(ops)]
		n := len(data) * 8 / o.width
		if o.encodes {
			n = len(data) / o.size
		}
		forKernels(t, func(t *testing.T) { o.checkAt(t, n, data, 0, len(data)) })
	})
}

func FuzzPlanes(f *testing.F) { fuzz(f, planeOps()) }
func FuzzPack(f *testing.F)   { fuzz(f, packOps()) }
func FuzzBools(f *testing.F)  { fuzz(f, boolOps()) }
func FuzzHalves(f *testing.F) { fuzz(f, halfOps()) }

func BenchmarkKernels(b *testing.B) {
	for _, o := range allOps() {
		if o.width == 8 || o.size == 4 && !slices.Contains([]int{1, 10, 16, 24, 31, 32}, o.width) {
			continue
		}
		for _, kib := range []int{64, 1024} {
			a := o.args(kib<<10/o.size, func(n, align int) []byte { return make([]byte, n) })
			o.fill(a.src, nil)
			bench := func(name string, f func(elements, page []byte)) {
				b.Run(fmt.Sprintf("%s/%d/%dKiB/%s", o.name, o.width, kib, name), func(b *testing.B) {
					b.SetBytes(int64(len(a.elements)))
					for b.Loop() {
						f(a.elements, a.page)
					}
				})
			}
			bench("kernel", o.run)
			bench("plain", o.plain)
		}
	}
}
