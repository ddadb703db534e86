package bits

import "unsafe"

// Words of n bytes are split into n planes: the lowest bytes of all words come first.

// A filter is applied to words after unsplitting, and undone before splitting.
type filter int

const (
	unfiltered filter = iota // assembly knows the numbers
	zigzag
	delta
)

// Unsplit joins the words whose bytes src holds plane by plane.
func Unsplit[W Word](dst []W, src []byte) { unsplit(dst, src, len(dst), unfiltered) }

// UnsplitZigzag is Unsplit followed by UnZigzag.
func UnsplitZigzag[W Word](dst []W, src []byte) { unsplit(dst, src, len(dst), zigzag) }

// UnsplitDelta is Unsplit followed by UnDelta.
func UnsplitDelta[W Word](dst []W, src []byte) { unsplit(dst, src, len(dst), delta) }

// UnsplitRange is Unsplit for some of n words: those from number first on, as many as dst has.
func UnsplitRange[W Word](dst []W, src []byte, n, first int) {
	unsplit(dst, src[first:], n, unfiltered)
}

// UnsplitRangeZigzag is UnsplitRange followed by UnZigzag.
func UnsplitRangeZigzag[W Word](dst []W, src []byte, n, first int) {
	unsplit(dst, src[first:], n, zigzag)
}

// Split is the inverse of Unsplit; dst is as long as src in bytes.
func Split[W Word](dst []byte, src []W) { split(dst, src, unfiltered) }

// SplitZigzag is Zigzag followed by Split. It does not change src.
func SplitZigzag[W Word](dst []byte, src []W) { split(dst, src, zigzag) }

// SplitDelta is Delta followed by Split. It does not change src.
func SplitDelta[W Word](dst []byte, src []W) { split(dst, src, delta) }

// unsplit joins words whose planes begin stride bytes apart.
func unsplit[W Word](dst []W, src []byte, stride int, f filter) {
	n, size := len(dst), sizeof[W]()
	if n == 0 {
		return
	}
	src = head(src, (size-1)*stride+n)
	done := kernelWords[W](n, f)
	if done > 0 {
		unsplitKernel(unsafe.Pointer(&dst[0]), &src[0], stride, done, size, f)
	}
	unsplitRest(dst, src, stride, done, f)
}

func split[W Word](dst []byte, src []W, f filter) {
	n, size := len(src), sizeof[W]()
	dst = head(dst, n*size)
	from := 0
	if f == delta {
		from = min(1, n) // the kernel looks at the word before
	}
	to := from + kernelWords[W](n-from, f)
	if from < to {
		splitKernel(&dst[from], unsafe.Pointer(&src[from]), n, to-from, size, f)
	}
	splitRange(dst, src, 0, from, f)
	splitRange(dst, src, to, n, f)
}

// kernelWords returns how many of n words the kernels process. There are kernels for
// the encodings that columns have.
func kernelWords[W Word](n int, f filter) int {
	if size := sizeof[W](); size == 1 || size == 2 && f == delta {
		return 0
	}
	return blocks(n)
}

// unsplitRest unsplits the words from number from on.
func unsplitRest[W Word](dst []W, src []byte, stride, from int, f filter) {
	if from == len(dst) {
		return
	}
	n, i := len(dst), from
	switch d := any(dst).(type) {
	case []uint8:
		i = copy(d, src)
	case []uint16:
		i = unsplit16(d, src, stride, i)
	case []uint32:
		i = unsplit32(d, src, stride, i)
	case []uint64:
		i = unsplit64(d, src, stride, i)
	}
	for ; i < n; i++ {
		var w uint64
		for k := range sizeof[W]() {
			w |= uint64(src[k*stride+i]) << (8 * k)
		}
		dst[i] = W(w)
	}
	switch rest := dst[from:]; f {
	case zigzag:
		UnZigzag(rest)
	case delta:
		if from > 0 {
			rest[0] += dst[from-1]
		}
		UnDelta(rest)
	}
}

// splitRange splits the words from number from up to number to.
func splitRange[W Word](dst []byte, src []W, from, to int, f filter) {
	var filtered [64]W
	for n := len(src); from < to; {
		words := src[from:min(to, from+len(filtered))]
		if f != unfiltered {
			words = filtered[:copy(filtered[:], words)]
		}
		switch f {
		case zigzag:
			Zigzag(words)
		case delta:
			Delta(words)
			if from > 0 {
				words[0] -= src[from-1]
			}
		}
		i := 0
		switch w := any(words).(type) {
		case []uint8:
			i = copy(dst[from:], w)
		case []uint16:
			i = split16(dst[from:], w, n)
		case []uint32:
			i = split32(dst[from:], w, n)
		case []uint64:
			i = split64(dst[from:], w, n)
		}
		for ; i < len(words); i++ {
			for k := range sizeof[W]() {
				dst[k*n+from+i] = byte(uint64(words[i]) >> (8 * k))
			}
		}
		from += len(words)
	}
}

// exchange swaps the bits of a in mask<<shift with those of b in mask. With 8,
// 16 and 32 bits it does the steps of transposing a matrix of bytes.
func exchange(a, b uint64, shift int, mask uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & mask
	return a ^ t<<shift, b ^ t
}

const (
	mask8  = 0x00ff00ff00ff00ff
	mask16 = 0x0000ffff0000ffff
	mask32 = 0x00000000ffffffff
)

// The functions below take 8 words at a time, a plane of them in a uint64. They
// begin with word number i, and return the number of the word that they leave
// to do. The planes begin at src or p, stride bytes apart.

func unsplit16(dst []uint16, src []byte, stride, i int) int {
	n := len(dst)
	p0, p1 := src[:n], src[stride:][:n]
	for ; i+8 <= n; i += 8 {
		a, b := exchange(le.Uint64(p0[i:i+8]), le.Uint64(p1[i:i+8]), 8, mask8)
		w := dst[i : i+8]
		w[0], w[1], w[2], w[3] = uint16(a), uint16(b), uint16(a>>16), uint16(b>>16)
		w[4], w[5], w[6], w[7] = uint16(a>>32), uint16(b>>32), uint16(a>>48), uint16(b>>48)
	}
	return i
}

func split16(p []byte, src []uint16, stride int) (i int) {
	p0, p1 := p[:len(src)], p[stride:][:len(src)]
	for ; i+8 <= len(src); i += 8 {
		w := src[i : i+8]
		a := uint64(w[0]) | uint64(w[2])<<16 | uint64(w[4])<<32 | uint64(w[6])<<48
		b := uint64(w[1]) | uint64(w[3])<<16 | uint64(w[5])<<32 | uint64(w[7])<<48
		a, b = exchange(a, b, 8, mask8)
		le.PutUint64(p0[i:i+8], a)
		le.PutUint64(p1[i:i+8], b)
	}
	return i
}

func unsplit32(dst []uint32, src []byte, stride, i int) int {
	n := len(dst)
	p0, p1, p2, p3 := src[:n], src[stride:][:n], src[2*stride:][:n], src[3*stride:][:n]
	for ; i+8 <= n; i += 8 {
		a, b := exchange(le.Uint64(p0[i:i+8]), le.Uint64(p1[i:i+8]), 8, mask8)
		c, d := exchange(le.Uint64(p2[i:i+8]), le.Uint64(p3[i:i+8]), 8, mask8)
		a, c = exchange(a, c, 16, mask16)
		b, d = exchange(b, d, 16, mask16)
		w := dst[i : i+8]
		w[0], w[1], w[2], w[3] = uint32(a), uint32(b), uint32(c), uint32(d)
		w[4], w[5], w[6], w[7] = uint32(a>>32), uint32(b>>32), uint32(c>>32), uint32(d>>32)
	}
	return i
}

func split32(p []byte, src []uint32, stride int) (i int) {
	n := len(src)
	p0, p1, p2, p3 := p[:n], p[stride:][:n], p[2*stride:][:n], p[3*stride:][:n]
	for ; i+8 <= n; i += 8 {
		w := src[i : i+8]
		a, b := uint64(w[0])|uint64(w[4])<<32, uint64(w[1])|uint64(w[5])<<32
		c, d := uint64(w[2])|uint64(w[6])<<32, uint64(w[3])|uint64(w[7])<<32
		a, c = exchange(a, c, 16, mask16)
		b, d = exchange(b, d, 16, mask16)
		a, b = exchange(a, b, 8, mask8)
		c, d = exchange(c, d, 8, mask8)
		le.PutUint64(p0[i:i+8], a)
		le.PutUint64(p1[i:i+8], b)
		le.PutUint64(p2[i:i+8], c)
		le.PutUint64(p3[i:i+8], d)
	}
	return i
}

func unsplit64(dst []uint64, src []byte, stride, i int) int {
	n := len(dst)
	p0, p1, p2, p3 := src[:n], src[stride:][:n], src[2*stride:][:n], src[3*stride:][:n]
	p4, p5, p6, p7 := src[4*stride:][:n], src[5*stride:][:n], src[6*stride:][:n], src[7*stride:][:n]
	for ; i+8 <= n; i += 8 {
		a, b, c, d := le.Uint64(p0[i:i+8]), le.Uint64(p1[i:i+8]), le.Uint64(p2[i:i+8]), le.Uint64(p3[i:i+8])
		e, f, g, h := le.Uint64(p4[i:i+8]), le.Uint64(p5[i:i+8]), le.Uint64(p6[i:i+8]), le.Uint64(p7[i:i+8])
		w := dst[i : i+8]
		w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7] = transpose(a, b, c, d, e, f, g, h)
	}
	return i
}

func split64(p []byte, src []uint64, stride int) (i int) {
	n := len(src)
	p0, p1, p2, p3 := p[:n], p[stride:][:n], p[2*stride:][:n], p[3*stride:][:n]
	p4, p5, p6, p7 := p[4*stride:][:n], p[5*stride:][:n], p[6*stride:][:n], p[7*stride:][:n]
	for ; i+8 <= n; i += 8 {
		w := src[i : i+8]
		a, b, c, d, e, f, g, h := transpose(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
		le.PutUint64(p0[i:i+8], a)
		le.PutUint64(p1[i:i+8], b)
		le.PutUint64(p2[i:i+8], c)
		le.PutUint64(p3[i:i+8], d)
		le.PutUint64(p4[i:i+8], e)
		le.PutUint64(p5[i:i+8], f)
		le.PutUint64(p6[i:i+8], g)
		le.PutUint64(p7[i:i+8], h)
	}
	return i
}

// transpose makes byte i of word k byte k of word i.
func transpose(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	a, b = exchange(a, b, 8, mask8)
	c, d = exchange(c, d, 8, mask8)
	e, f = exchange(e, f, 8, mask8)
	g, h = exchange(g, h, 8, mask8)
	a, c = exchange(a, c, 16, mask16)
	b, d = exchange(b, d, 16, mask16)
	e, g = exchange(e, g, 16, mask16)
	f, h = exchange(f, h, 16, mask16)
	a, e = exchange(a, e, 32, mask32)
	b, f = exchange(b, f, 32, mask32)
	c, g = exchange(c, g, 32, mask32)
	d, h = exchange(d, h, 32, mask32)
	return a, b, c, d, e, f, g, h
}

// UnZigzag replaces 0, 1, 2, 3, … by 0, -1, 1, -2, …
func UnZigzag[W Word](s []W) {
	for i, w := range s {
		s[i] = w>>1 ^ -(w & 1)
	}
}

// Zigzag is the inverse of UnZigzag.
func Zigzag[W Word](s []W) {
	top := 8*sizeof[W]() - 1
	for i, w := range s {
		s[i] = w<<1 ^ -(w >> top)
	}
}

// UnDelta replaces every word but the first by its sum with all before it.
func UnDelta[W Word](s []W) {
	var sum W
	for i, w := range s {
		sum += w
		s[i] = sum
	}
}

// Delta is the inverse of UnDelta.
func Delta[W Word](s []W) {
	var last W
	for i, w := range s {
		s[i], last = w-last, w
	}
}
