// What the kernels have in common for all sizes of vectors. The file that
// includes this one defines the size:
//
//	V0 to V13          vector registers
//	BLOCK              bytes in a vector
//	MOVE(a, b)         moves a vector between register and memory
//	LOAD(at, size, v)  loads lanes from at(SI), 16*size bytes apart
//	STORE(v, at, size) stores lanes to at(DI), 16*size bytes apart
//
// and operations, whose last operand is the destination. A lane is 16 bytes of a
// vector. Each works on a block of 16 words of its own: the first one on words 0
// to 15 of a turn of the loop, the second on the next 16.
//
// The other registers, beginning with the arguments:
//
//	DI, SI  destination and source, which move on with the loop
//	R8      stride of the planes; R9 has three times that
//	CX      words left to do
//	BX      bytes of a word
//	AX      filter
//	DX      the fifth of 8 planes
//
// How planes become words: a block of words of 2, 4 or 8 = 1<<b bytes fills as
// many registers. Byte k of word w has the address kwwww in the planes (b bits of
// k, 4 of w), and wwwwk in the words. ZIP(a, b, t) interleaves the bytes of a and
// b; the lower half goes to a, the upper one to t, and b is lost if it is not a.
// A round of it, of the lower half of the registers with the upper half, takes
// every byte to the address whose bits are rotated by one to the left. So b
// rounds make words of planes, and 4 rounds make planes of words.

// A round leaves its result in a t; b is free.
#define ROUND2(a, b, t) ZIP(a, b, t)

// A round leaves its result in a t b c; d is free.
#define ROUND4(a, b, c, d, t) \
	ZIP(a, c, t) \
	ZIP(b, d, c)

// A round leaves its result in a t b e c f d g; h is free.
#define ROUND8(a, b, c, d, e, f, g, h, t) \
	ZIP(a, e, t) \
	ZIP(b, f, e) \
	ZIP(c, g, f) \
	ZIP(d, h, g)

// UNZIGZAG: v>>1 ^ ((^v&1) - 1), with ones in V10 and minus ones in V11.
#define UNZIGZAG16(v) COPY(v, V9); ANDN(V10, V9); ADD16(V11, V9); SHR16(1, v); XOR(V9, v)
#define UNZIGZAG32(v) COPY(v, V9); ANDN(V10, V9); ADD32(V11, V9); SHR32(1, v); XOR(V9, v)
#define UNZIGZAG64(v) COPY(v, V9); ANDN(V10, V9); ADD64(V11, V9); SHR64(1, v); XOR(V9, v)

// ZIGZAG: v<<1 ^ its sign in all bits.
#define ZIGZAG16(v) COPY(v, V9); SAR16(15, V9); ADD16(v, v); XOR(V9, v)
#define ZIGZAG32(v) COPY(v, V9); SAR32(31, V9); ADD32(v, v); XOR(V9, v)
#define ZIGZAG64(v) COPY(v, V9); SAR32(31, V9); SHUFFLE32(0xF5, V9, V9); ADD64(v, v); XOR(V9, v)

// SUM adds to every word of v those before it in the lane, and V12: the sum of
// all words before, to which it adds those of v, lane by lane. At the end of a
// turn CARRY, given the V12 of its beginning in V13, makes the lanes of V12 one
// sum again, and ADDCARRY adds to each lane the words in the lanes before it.
// Vectors of one lane do not need that.
#define SUM32(v) \
	COPY(v, V9); SHL8(4, V9); ADD32(V9, v)                \
	COPY(v, V9); SHL8(8, V9); ADD32(V9, v)                \
	SHUFFLE32(0xFF, v, V9); ADD32(V12, v); ADD32(V9, V12)

#define SUM64(v) \
	COPY(v, V9); SHL8(8, V9); ADD64(V9, v)                \
	SHUFFLE32(0xEE, v, V9); ADD64(V12, v); ADD64(V9, V12)

// BITS stores bools, of v with 8 times each of 2 bytes in a lane. V10 holds bit i
// in byte i of 8, V12 ones.
#define BITS(v, at) AND(V10, v); EQUAL8(V10, v); AND(V12, v); STORE(v, at, 8)
