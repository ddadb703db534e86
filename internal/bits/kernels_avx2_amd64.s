//go:build !purego

#include "textflag.h"

// Vectors of two lanes.

#define BLOCK 32

#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define V10 Y10
#define V11 Y11
#define V12 Y12
#define V13 Y13

#define MOVE(a, b) VMOVDQU a, b
#define LOAD(at, size, v) VBROADCASTI128 at(SI), v; VINSERTI128 $1, (at+16*size)(SI), v, v
#define STORE(v, at, size) VEXTRACTI128 $0, v, at(DI); VEXTRACTI128 $1, v, (at+16*size)(DI)
#define COPY(a, b) VMOVDQA a, b
#define ZIP(a, b, t) VPUNPCKHBW b, a, t; VPUNPCKLBW b, a, a
#define SHUFFLE32(n, a, b) VPSHUFD $n, a, b
#define ONES(v) VPCMPEQB v, v, v
#define ZERO(v) VPXOR v, v, v
#define AND(a, b) VPAND a, b, b
#define ANDN(a, b) VPANDN a, b, b
#define XOR(a, b) VPXOR a, b, b
#define EQUAL8(a, b) VPCMPEQB a, b, b
#define ADD16(a, b) VPADDW a, b, b
#define ADD32(a, b) VPADDD a, b, b
#define ADD64(a, b) VPADDQ a, b, b
#define SUB8(a, b) VPSUBB a, b, b
#define SUB32(a, b) VPSUBD a, b, b
#define SUB64(a, b) VPSUBQ a, b, b
#define SHR16(n, v) VPSRLW $n, v, v
#define SHR32(n, v) VPSRLD $n, v, v
#define SHR64(n, v) VPSRLQ $n, v, v
#define SAR16(n, v) VPSRAW $n, v, v
#define SAR32(n, v) VPSRAD $n, v, v
#define SHL8(n, v) VPSLLDQ $n, v, v

// V12-V13 is what each lane adds up to. V9 gets that of lane 0 in lane 1, and
// V12 that of both lanes.
#define CARRY32 SUB32(V13, V12); ADD32(V12, V13); VPERM2I128 $0x08, V12, V12, V9; VPERM2I128 $0x01, V12, V12, V12; ADD32(V13, V12)
#define CARRY64 SUB64(V13, V12); ADD64(V12, V13); VPERM2I128 $0x08, V12, V12, V9; VPERM2I128 $0x01, V12, V12, V12; ADD64(V13, V12)
#define ADDCARRY32(v) ADD32(V9, v)
#define ADDCARRY64(v) ADD64(V9, v)

#include "planes_amd64.h"

// func unsplitAVX2(dst unsafe.Pointer, src *byte, stride, n, size int, f filter)
TEXT ·unsplitAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ size+32(FP), BX
	MOVQ f+40(FP), AX

#include "unsplit_amd64.h"
	VZEROUPPER
	RET

// func splitAVX2(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)
TEXT ·splitAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ size+32(FP), BX
	MOVQ f+40(FP), AX

#include "split_amd64.h"
	VZEROUPPER
	RET

// func unpackBoolsAVX2(dst *bool, src *byte, n int)
TEXT ·unpackBoolsAVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         $0x8040201008040201, AX
	MOVQ         AX, X10
	VPBROADCASTQ X10, Y10

#include "unpackbools_amd64.h"
	VZEROUPPER
	RET

// func unpackAVX2(dst *uint32, src *byte, n, width, left int, t *unpackTable)
TEXT ·unpackAVX2(SB), NOSPLIT, $0-48
	MOVQ     dst+0(FP), DI
	MOVQ     src+8(FP), SI
	MOVQ     n+16(FP), CX
	MOVQ     width+24(FP), R8
	MOVQ     left+32(FP), X1
	MOVQ     t+40(FP), AX
	VMOVDQU  (AX), Y2         // bytes of the words
	VMOVDQU  32(AX), Y3       // bits before the words
	MOVL     $32, R9
	SUBL     R8, R9
	MOVQ     R9, X4
	VPCMPEQB Y5, Y5, Y5
	VPSRLD   X4, Y5, Y5       // bits of the words
	MOVQ     R8, R9
	SHRQ     $1, R9           // bytes before word 4

loop:
	VMOVDQU     (SI), X0
	VINSERTI128 $1, (SI)(R9*1), Y0, Y0
	VPSHUFB     Y2, Y0, Y0
	VPSRLVD     Y3, Y0, Y0
	VPAND       Y5, Y0, Y0
	VPSLLD      X1, Y0, Y0
	VMOVDQU     Y0, (DI)
	ADDQ        R8, SI
	ADDQ        $32, DI
	SUBQ        $8, CX
	JNZ         loop
	VZEROUPPER
	RET

// FILL sets all words of a vector.
#define FILL(value, x, y) MOVL $value, AX; MOVQ AX, x; VPBROADCASTD x, y

// func float32sAVX2(dst *uint32, src *uint16, n int)
TEXT ·float32sAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

	// The sign; what is below infinity and NaN, and above subnormals, once it
	// is in its place; the difference of the exponents; 2^-14.
	FILL(0x80000000, X8, Y8)
	FILL(0x0f7fffff, X9, Y9)
	FILL(0x00800000, X10, Y10)
	FILL(0x38000000, X11, Y11)
	FILL(0x38800000, X12, Y12)

loop:
	VPMOVZXWD (SI), Y0
	VPSLLD    $16, Y0, Y0
	VPAND     Y8, Y0, Y1
	VPANDN    Y0, Y8, Y0
	VPSRLD    $3, Y0, Y0     // exponent and fraction in their places
	VPCMPGTD  Y9, Y0, Y2
	VPAND     Y11, Y2, Y2
	VPADDD    Y11, Y2, Y2
	VPADDD    Y0, Y2, Y2     // the exponent corrected, twice for infinity and NaN
	VPCMPGTD  Y0, Y10, Y3
	VPADDD    Y12, Y0, Y0
	VSUBPS    Y12, Y0, Y0    // subnormal: 1.fraction*2^-14 - 2^-14
	VPBLENDVB Y3, Y0, Y2, Y0
	VPOR      Y1, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JNZ       loop
	VZEROUPPER
	RET

// func float16sAVX2(dst *uint16, src *uint32, n int)
TEXT ·float16sAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

	// The sign; infinity; what is below 65536, which becomes infinite; 2^-14, the
	// least normal number; 1/2, whose last place is that of subnormal numbers;
	// minus the difference of the exponents, plus almost half of the last place;
	// infinity and the fraction of binary16; one.
	FILL(0x80000000, X6, Y6)
	FILL(0x7f800000, X7, Y7)
	FILL(0x477fffff, X8, Y8)
	FILL(0x38800000, X9, Y9)
	FILL(0x3f000000, X10, Y10)
	FILL(0xc8000fff, X11, Y11)
	FILL(0x7c00, X12, Y12)
	FILL(0x3ff, X13, Y13)
	FILL(1, X14, Y14)

loop:
	VMOVDQU   (SI), Y0
	VPAND     Y6, Y0, Y1
	VPANDN    Y0, Y6, Y0
	VPSRAD    $16, Y1, Y1    // sign, for VPACKSSDW
	VPSRLD    $13, Y0, Y2
	VPAND     Y13, Y2, Y4    // fraction
	VPAND     Y14, Y2, Y2
	VPADDD    Y11, Y2, Y2
	VPADDD    Y0, Y2, Y2
	VPSRLD    $13, Y2, Y2    // normal: rounded, ties to even
	VADDPS    Y10, Y0, Y3
	VPSUBD    Y10, Y3, Y3    // subnormal: rounded by the processor
	VPCMPGTD  Y0, Y9, Y5
	VPBLENDVB Y5, Y3, Y2, Y2
	VPMAXUD   Y14, Y4, Y4
	VPCMPGTD  Y7, Y0, Y3
	VPAND     Y3, Y4, Y4     // of NaN, not zero
	VPOR      Y12, Y4, Y4    // infinity or NaN
	VPCMPGTD  Y8, Y0, Y5
	VPBLENDVB Y5, Y4, Y2, Y2
	VPOR      Y1, Y2, Y2
	VPACKSSDW Y2, Y2, Y2     // in the lower half of each lane
	VPERMQ    $0x08, Y2, Y2
	VMOVDQU   X2, (DI)
	ADDQ      $32, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JNZ       loop
	VZEROUPPER
	RET

// func endsAVX2(dst, ends *uint64, n int, begin, shift uint64) (wrong uint64)
TEXT ·endsAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         ends+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTQ begin+24(FP), Y1 // in its lowest word, the end before
	VPBROADCASTQ shift+32(FP), Y2
	VPXOR        Y3, Y3, Y3

loop:
	VMOVDQU  (SI), Y0
	VPERMQ   $0x93, Y0, Y4      // the last one comes first
	VPBLENDD $0x03, Y1, Y4, Y5  // the ends before those of Y0
	VPSUBQ   Y5, Y0, Y5
	VPOR     Y0, Y5, Y5
	VPOR     Y5, Y3, Y3
	VPADDQ   Y2, Y0, Y0
	VMOVDQU  Y0, (DI)
	VMOVDQA  Y4, Y1
	ADDQ     $32, SI
	ADDQ     $32, DI
	SUBQ     $4, CX
	JNZ      loop

	VEXTRACTI128 $1, Y3, X4
	VPOR         X4, X3, X3
	VPSRLDQ      $8, X3, X4
	VPOR         X4, X3, X3
	VMOVQ        X3, AX
	MOVQ         AX, wrong+40(FP)
	VZEROUPPER
	RET
