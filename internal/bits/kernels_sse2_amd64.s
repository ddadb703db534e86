//go:build !purego

#include "textflag.h"

// Vectors of one lane.

#define BLOCK 16

#define V0 X0
#define V1 X1
#define V2 X2
#define V3 X3
#define V4 X4
#define V5 X5
#define V6 X6
#define V7 X7
#define V8 X8
#define V9 X9
#define V10 X10
#define V11 X11
#define V12 X12
#define V13 X13

#define MOVE(a, b) MOVOU a, b
#define LOAD(at, size, v) MOVOU at(SI), v
#define STORE(v, at, size) MOVOU v, at(DI)
#define COPY(a, b) MOVOA a, b
#define ZIP(a, b, t) MOVOA a, t; PUNPCKHBW b, t; PUNPCKLBW b, a
#define SHUFFLE32(n, a, b) PSHUFD $n, a, b
#define ONES(v) PCMPEQB v, v
#define ZERO(v) PXOR v, v
#define AND(a, b) PAND a, b
#define ANDN(a, b) PANDN a, b
#define XOR(a, b) PXOR a, b
#define EQUAL8(a, b) PCMPEQB a, b
#define ADD16(a, b) PADDW a, b
#define ADD32(a, b) PADDL a, b
#define ADD64(a, b) PADDQ a, b
#define SUB8(a, b) PSUBB a, b
#define SUB32(a, b) PSUBL a, b
#define SUB64(a, b) PSUBQ a, b
#define SHR16(n, v) PSRLW $n, v
#define SHR32(n, v) PSRLL $n, v
#define SHR64(n, v) PSRLQ $n, v
#define SAR16(n, v) PSRAW $n, v
#define SAR32(n, v) PSRAL $n, v
#define SHL8(n, v) PSLLDQ $n, v
#define CARRY32
#define CARRY64
#define ADDCARRY32(v)
#define ADDCARRY64(v)

#include "planes_amd64.h"

// func unsplitSSE2(dst unsafe.Pointer, src *byte, stride, n, size int, f filter)
TEXT ·unsplitSSE2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ size+32(FP), BX
	MOVQ f+40(FP), AX

#include "unsplit_amd64.h"
	RET

// func splitSSE2(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)
TEXT ·splitSSE2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ size+32(FP), BX
	MOVQ f+40(FP), AX

#include "split_amd64.h"
	RET

// func unpackBoolsSSE2(dst *bool, src *byte, n int)
TEXT ·unpackBoolsSSE2(SB), NOSPLIT, $0-24
	MOVQ       dst+0(FP), DI
	MOVQ       src+8(FP), SI
	MOVQ       n+16(FP), CX
	MOVQ       $0x8040201008040201, AX
	MOVQ       AX, X10
	PUNPCKLQDQ X10, X10

#include "unpackbools_amd64.h"
	RET

// func packBoolsSSE2(dst *byte, src *bool, n int)
TEXT ·packBoolsSSE2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loop:
	MOVOU    (SI), X0
	MOVOU    16(SI), X1
	PSLLW    $7, X0     // bit 0 of every byte to its bit 7
	PSLLW    $7, X1
	PMOVMSKB X0, AX
	PMOVMSKB X1, BX
	MOVW     AX, (DI)
	MOVW     BX, 2(DI)
	ADDQ     $32, SI
	ADDQ     $4, DI
	SUBQ     $4, CX
	JNZ      loop
	RET
