//go:build !purego

#include "textflag.h"

// Registers of the processor, from the arguments on:
//
//	R0, R1    destination and source, which move with the loop
//	R2        stride of the planes
//	R3        words left to do; bytes of bits
//	R4, R5    bytes of a word, filter
//	R6 to R13 planes, which move with the loop
//
// A block of 16 words of 1, 2, 4 or 8 = 1<<b bytes fills as many vectors. Byte k
// of word w has the address kwwww in the planes (b bits of k, 4 of w), and wwwwk
// in the words. ZIP interleaves two vectors. A round of it, of the lower half of
// the vectors with the upper half, takes every byte to the address whose bits are
// rotated by one to the left; UNZIP of neighbours rotates them to the right. So b
// rounds make words of planes, or planes of words.

#define ZIP(a, b, lower, upper) \
	VZIP1 b.B16, a.B16, lower.B16 \
	VZIP2 b.B16, a.B16, upper.B16

#define ZIP4(a, b, c, d, to0, to1, to2, to3) \
	ZIP(a, c, to0, to1) \
	ZIP(b, d, to2, to3)

#define ZIP8(a, b, c, d, e, f, g, h, to0, to1, to2, to3, to4, to5, to6, to7) \
	ZIP(a, e, to0, to1) \
	ZIP(b, f, to2, to3) \
	ZIP(c, g, to4, to5) \
	ZIP(d, h, to6, to7)

#define UNZIP(a, b, even, odd) \
	VUZP1 b.B16, a.B16, even.B16 \
	VUZP2 b.B16, a.B16, odd.B16

#define UNZIP4(a, b, c, d, to0, to1, to2, to3) \
	UNZIP(a, b, to0, to2) \
	UNZIP(c, d, to1, to3)

#define UNZIP8(a, b, c, d, e, f, g, h, to0, to1, to2, to3, to4, to5, to6, to7) \
	UNZIP(a, b, to0, to4) \
	UNZIP(c, d, to1, to5) \
	UNZIP(e, f, to2, to6) \
	UNZIP(g, h, to3, to7)

// T is what a vector holds: H8, S4 or D2. V31 is zero, V30 holds ones.
#define UNZIGZAG(T, v) \
	VAND  V30.B16, v.B16, V29.B16 \
	VSUB  V29.T, V31.T, V29.T     \
	VUSHR $1, v.T, v.T            \
	VEOR  V29.B16, v.B16, v.B16

#define ZIGZAG(T, top, v) \
	VUSHR $top, v.T, V29.T      \
	VSUB  V29.T, V31.T, V29.T   \
	VADD  v.T, v.T, v.T         \
	VEOR  V29.B16, v.B16, v.B16

// SUM adds to every word those before it, and V28, the sum so far in all words.
#define SUM32(v) \
	VEXT $12, v.B16, V31.B16, V29.B16 \
	VADD V29.S4, v.S4, v.S4           \
	VEXT $8, v.B16, V31.B16, V29.B16  \
	VADD V29.S4, v.S4, v.S4           \
	VDUP v.S[3], V29.S4               \
	VADD V28.S4, v.S4, v.S4           \
	VADD V29.S4, V28.S4, V28.S4

#define SUM64(v) \
	VEXT $8, v.B16, V31.B16, V29.B16 \
	VADD V29.D2, v.D2, v.D2          \
	VDUP v.D[1], V29.D2              \
	VADD V28.D2, v.D2, v.D2          \
	VADD V29.D2, V28.D2, V28.D2

#define PLANES(first) \
	MOVD first, R6    \
	ADD  R2, R6, R7   \
	ADD  R2, R7, R8   \
	ADD  R2, R8, R9   \
	ADD  R2, R9, R10  \
	ADD  R2, R10, R11 \
	ADD  R2, R11, R12 \
	ADD  R2, R12, R13

// func unsplitKernel(dst unsafe.Pointer, src *byte, stride, n, size int, f filter)
TEXT ·unsplitKernel(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD n+24(FP), R3
	MOVD size+32(FP), R4
	MOVD f+40(FP), R5
	PLANES(R1)
	VEOR V31.B16, V31.B16, V31.B16
	VEOR V28.B16, V28.B16, V28.B16
	MOVD $1, R14
	CMP  $4, R4
	BEQ  start32
	BGT  start64

	VDUP R14, V30.H8

loop16:
	VLD1.P 16(R6), [V0.B16]
	VLD1.P 16(R7), [V1.B16]
	ZIP(V0, V1, V16, V17)
	CMP    $1, R5
	BEQ    zigzag16

store16:
	VST1.P [V16.B16, V17.B16], 32(R0)
	SUBS   $16, R3
	BNE    loop16
	RET

zigzag16:
	UNZIGZAG(H8, V16)
	UNZIGZAG(H8, V17)
	B store16

start32:
	VDUP R14, V30.S4

loop32:
	VLD1.P 16(R6), [V0.B16]
	VLD1.P 16(R7), [V1.B16]
	VLD1.P 16(R8), [V2.B16]
	VLD1.P 16(R9), [V3.B16]
	ZIP4(V0, V1, V2, V3, V16, V17, V18, V19)
	ZIP4(V16, V17, V18, V19, V0, V1, V2, V3)
	CMP    $1, R5
	BEQ    zigzag32
	BGT    delta32

store32:
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	SUBS   $16, R3
	BNE    loop32
	RET

zigzag32:
	UNZIGZAG(S4, V0)
	UNZIGZAG(S4, V1)
	UNZIGZAG(S4, V2)
	UNZIGZAG(S4, V3)
	B store32

delta32:
	SUM32(V0)
	SUM32(V1)
	SUM32(V2)
	SUM32(V3)
	B store32

start64:
	VDUP R14, V30.D2

loop64:
	VLD1.P 16(R6), [V0.B16]
	VLD1.P 16(R7), [V1.B16]
	VLD1.P 16(R8), [V2.B16]
	VLD1.P 16(R9), [V3.B16]
	VLD1.P 16(R10), [V4.B16]
	VLD1.P 16(R11), [V5.B16]
	VLD1.P 16(R12), [V6.B16]
	VLD1.P 16(R13), [V7.B16]
	ZIP8(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	ZIP8(V16, V17, V18, V19, V20, V21, V22, V23, V0, V1, V2, V3, V4, V5, V6, V7)
	ZIP8(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	CMP    $1, R5
	BEQ    zigzag64
	BGT    delta64

store64:
	VST1.P [V16.B16, V17.B16, V18.B16, V19.B16], 64(R0)
	VST1.P [V20.B16, V21.B16, V22.B16, V23.B16], 64(R0)
	SUBS   $16, R3
	BNE    loop64
	RET

zigzag64:
	UNZIGZAG(D2, V16)
	UNZIGZAG(D2, V17)
	UNZIGZAG(D2, V18)
	UNZIGZAG(D2, V19)
	UNZIGZAG(D2, V20)
	UNZIGZAG(D2, V21)
	UNZIGZAG(D2, V22)
	UNZIGZAG(D2, V23)
	B store64

delta64:
	SUM64(V16)
	SUM64(V17)
	SUM64(V18)
	SUM64(V19)
	SUM64(V20)
	SUM64(V21)
	SUM64(V22)
	SUM64(V23)
	B store64

// func splitKernel(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)
TEXT ·splitKernel(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD n+24(FP), R3
	MOVD size+32(FP), R4
	MOVD f+40(FP), R5
	PLANES(R0)
	VEOR V31.B16, V31.B16, V31.B16
	SUB  R4, R1, R14               // the word before
	CMP  $4, R4
	BEQ  loop32
	BGT  loop64

loop16:
	VLD1.P 32(R1), [V0.B16, V1.B16]
	CMP    $1, R5
	BEQ    zigzag16

unzip16:
	UNZIP(V0, V1, V16, V17)
	VST1.P [V16.B16], 16(R6)
	VST1.P [V17.B16], 16(R7)
	SUBS   $16, R3
	BNE    loop16
	RET

zigzag16:
	ZIGZAG(H8, 15, V0)
	ZIGZAG(H8, 15, V1)
	B unzip16

loop32:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	CMP    $1, R5
	BEQ    zigzag32
	BGT    delta32

unzip32:
	UNZIP4(V0, V1, V2, V3, V16, V17, V18, V19)
	UNZIP4(V16, V17, V18, V19, V0, V1, V2, V3)
	VST1.P [V0.B16], 16(R6)
	VST1.P [V1.B16], 16(R7)
	VST1.P [V2.B16], 16(R8)
	VST1.P [V3.B16], 16(R9)
	SUBS   $16, R3
	BNE    loop32
	RET

zigzag32:
	ZIGZAG(S4, 31, V0)
	ZIGZAG(S4, 31, V1)
	ZIGZAG(S4, 31, V2)
	ZIGZAG(S4, 31, V3)
	B unzip32

delta32:
	VLD1.P 64(R14), [V16.B16, V17.B16, V18.B16, V19.B16]
	VSUB   V16.S4, V0.S4, V0.S4
	VSUB   V17.S4, V1.S4, V1.S4
	VSUB   V18.S4, V2.S4, V2.S4
	VSUB   V19.S4, V3.S4, V3.S4
	B      unzip32

loop64:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]
	CMP    $1, R5
	BEQ    zigzag64
	BGT    delta64

unzip64:
	UNZIP8(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	UNZIP8(V16, V17, V18, V19, V20, V21, V22, V23, V0, V1, V2, V3, V4, V5, V6, V7)
	UNZIP8(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	VST1.P [V16.B16], 16(R6)
	VST1.P [V17.B16], 16(R7)
	VST1.P [V18.B16], 16(R8)
	VST1.P [V19.B16], 16(R9)
	VST1.P [V20.B16], 16(R10)
	VST1.P [V21.B16], 16(R11)
	VST1.P [V22.B16], 16(R12)
	VST1.P [V23.B16], 16(R13)
	SUBS   $16, R3
	BNE    loop64
	RET

zigzag64:
	ZIGZAG(D2, 63, V0)
	ZIGZAG(D2, 63, V1)
	ZIGZAG(D2, 63, V2)
	ZIGZAG(D2, 63, V3)
	ZIGZAG(D2, 63, V4)
	ZIGZAG(D2, 63, V5)
	ZIGZAG(D2, 63, V6)
	ZIGZAG(D2, 63, V7)
	B unzip64

delta64:
	VLD1.P 64(R14), [V16.B16, V17.B16, V18.B16, V19.B16]
	VLD1.P 64(R14), [V20.B16, V21.B16, V22.B16, V23.B16]
	VSUB   V16.D2, V0.D2, V0.D2
	VSUB   V17.D2, V1.D2, V1.D2
	VSUB   V18.D2, V2.D2, V2.D2
	VSUB   V19.D2, V3.D2, V3.D2
	VSUB   V20.D2, V4.D2, V4.D2
	VSUB   V21.D2, V5.D2, V5.D2
	VSUB   V22.D2, V6.D2, V6.D2
	VSUB   V23.D2, V7.D2, V7.D2
	B      unzip64

	// BITS makes bools of 2 bytes, of which v holds each 8 times. V30 has bit i in
	// byte i of 8.
#define BITS(v) \
	VCMTST V30.B16, v.B16, v.B16 \
	VUSHR  $7, v.B16, v.B16

// func unpackBoolsKernel(dst *bool, src *byte, n int)
TEXT ·unpackBoolsKernel(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R3
	MOVD $0x8040201008040201, R14
	VDUP R14, V30.D2

loop:
	VLD1.P 16(R1), [V0.B16]
	ZIP(V0, V0, V16, V17)
	ZIP(V16, V16, V4, V5)
	ZIP(V17, V17, V6, V7)
	ZIP(V4, V4, V16, V17)
	ZIP(V5, V5, V18, V19)
	ZIP(V6, V6, V20, V21)
	ZIP(V7, V7, V22, V23)
	BITS(V16)
	BITS(V17)
	BITS(V18)
	BITS(V19)
	BITS(V20)
	BITS(V21)
	BITS(V22)
	BITS(V23)
	VST1.P [V16.B16, V17.B16, V18.B16, V19.B16], 64(R0)
	VST1.P [V20.B16, V21.B16, V22.B16, V23.B16], 64(R0)
	SUBS   $16, R3
	BNE    loop
	RET

// func packBoolsKernel(dst *byte, src *bool, n int)
TEXT ·packBoolsKernel(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R3

loop:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]
	UNZIP8(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	UNZIP8(V16, V17, V18, V19, V20, V21, V22, V23, V0, V1, V2, V3, V4, V5, V6, V7)
	UNZIP8(V0, V1, V2, V3, V4, V5, V6, V7, V16, V17, V18, V19, V20, V21, V22, V23)
	VSLI   $1, V23.B16, V22.B16                     // a plane keeps its bit 0, and takes those of the next above it
	VSLI   $1, V22.B16, V21.B16
	VSLI   $1, V21.B16, V20.B16
	VSLI   $1, V20.B16, V19.B16
	VSLI   $1, V19.B16, V18.B16
	VSLI   $1, V18.B16, V17.B16
	VSLI   $1, V17.B16, V16.B16
	VST1.P [V16.B16], 16(R0)
	SUBS   $16, R3
	BNE    loop
	RET
