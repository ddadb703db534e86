//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// A line has the instructions of one step.
//
// R8: range, R9: code    SI: next byte of src, DI: next byte of dst
// R10: decoder           R11: address of a probability, or of a tree; DX: node of the tree
// R12: state             R13: last distance less 1, X1: the last four
// AX: bound, BX: probability, CX: by what it changes; BP, R14, R15: scratch
//
// high: the four high bits of the byte before DI; contexts of literals use no more

#define PROB(i) (decoder_probs+2*i)

#define NORMALIZE \
	CMPL R8, $const_topValue; JCC 5(PC) \
	SHLL $8, R8; SHLL $8, R9; MOVB (SI), R9; INCQ SI

#define BOUND \
	NORMALIZE \
	MOVL R8, AX; SHRL $11, AX; IMULL BX, AX

#define ADAPT(p) SARL $5, CX; SUBL CX, BX; MOVW BX, p

// IF decodes a bit with the probability at R11, falls through if it is 0, and goes
// to one if it is 1. There, ONE must follow.
#define IF(one) \
	MOVWLZX (R11), BX; BOUND \
	CMPL R9, AX; JCC one     \
	MOVL AX, R8; LEAL -2017(BX), CX; ADAPT((R11))

#define ONE SUBL AX, R8; SUBL AX, R9; MOVL BX, CX; ADAPT((R11))

// DECIDE decodes a bit with the probability BX without a branch, and sets the flag
// C if it is 0. ADAPT must follow. BRANCH doubles DX, and adds the bit.
#define DECIDE \
	BOUND                                           \
	LEAL -2017(BX), CX; MOVL R9, BP                 \
	SUBL AX, R8; SUBL AX, R9                        \
	CMOVLCS AX, R8; CMOVLCS BP, R9; CMOVLCC BX, CX

#define BRANCH LEAL (DX)(DX*1), DX; SBBL $-1, DX

// ROOT, NODE and LAST decode the first bits of a tree and the last. NODE loads both
// probabilities that can be next before it is known which is.
#define ROOT MOVL $1, DX; MOVWLZX 2(R11), BX
#define NODE \
	MOVWLZX (R11)(DX*4), R14; MOVWLZX 2(R11)(DX*4), R15 \
	DECIDE; CMOVLCS R14, R15                            \
	MOVL DX, BP; BRANCH; ADAPT((R11)(BP*2)); MOVL R15, BX
#define LAST DECIDE; MOVL DX, BP; BRANCH; ADAPT((R11)(BP*2))
#define TREE3 ROOT; NODE; NODE; LAST

// MATCHED is NODE for a literal of which the bits were those of R15, a byte moved
// left, as long as R14 is 0x100; then it is 0.
#define MATCHED \
	MOVL R15, R13; ANDL R14, R13; LEAL (R14)(R13*1), R12; ADDL DX, R12                     \
	ADDL R15, R15; XORL R13, R14                                                           \
	MOVL R15, R10; ANDL R14, R10; ADDL R14, R10; LEAL (R10)(DX*2), R10                     \
	MOVL R15, DI; ANDL R13, DI; ADDL R13, DI; LEAL (DI)(DX*2), DI                          \
	MOVWLZX (R11)(R10*2), R10; MOVWLZX 2(R11)(DI*2), DI                                    \
	DECIDE; CMOVLCS R10, DI; CMOVLCC R13, R14; BRANCH; ADAPT((R11)(R12*2)); MOVL DI, BX

// POSITION sets to to the position in the dictionary.
#define POSITION(to) MOVL DI, to; SUBL dict-8(SP), to

// func decodeSymbols(d *decoder, last int, r *[14]uint64) bool
TEXT ·decodeSymbols(SB), NOSPLIT, $56-25
	MOVB $0, ret+24(FP)
	MOVQ d+0(FP), R10
	MOVQ decoder_src(R10), SI
	MOVQ last+8(FP), AX; ADDQ SI, AX; MOVQ AX, last-16(SP)
	ADDQ decoder_in(R10), SI
	MOVQ decoder_dst(R10), DI
	MOVQ decoder_dict(R10), AX; ADDQ DI, AX; MOVQ AX, dict-8(SP)
	MOVQ decoder_limit(R10), AX; ADDQ DI, AX; MOVQ AX, limit-24(SP)
	ADDQ decoder_out(R10), DI
	MOVL decoder_rng(R10), R8; MOVL decoder_code(R10), R9; MOVL decoder_state(R10), R12
	MOVOU decoder_reps(R10), X1; MOVL X1, R13
	MOVQ DI, R11

next: // R11: next byte of dst
	MOVQ R11, DI
	MOVBLZX -1(DI), AX; SHRL $4, AX; MOVL AX, high-32(SP)

loop:
	CMPQ DI, limit-24(SP); JCC done
	CMPQ SI, last-16(SP); JHI done
	POSITION(R14); ANDL decoder_posMask(R10), R14
	MOVL R12, AX; SHLL $4, AX; ADDL AX, R14
	LEAQ PROB(const_isMatch)(R10)(R14*2), R11
	IF(match)
	POSITION(R11); SHLL $4, R11; ADDL high-32(SP), R11; SHLL $4, R11; ANDL decoder_litMask(R10), R11
	MOVL decoder_lc(R10), CX; SHLL CX, R11; LEAL (R11)(R11*2), R11
	LEAQ PROB(const_literals)(R10)(R11*2), R11
	CMPL R12, $7; JCC matched
	ROOT; NODE; NODE; NODE; NODE
	LEAL -16(DX), AX; MOVL AX, high-32(SP)
	NODE; NODE; NODE; LAST
	MOVB DX, (DI); INCQ DI; XORL AX, AX; SUBL $3, R12; CMOVLCS AX, R12
	JMP  loop

matched:
	MOVL R12, state-40(SP); MOVQ DI, out-48(SP)
	MOVQ DI, AX; SUBQ R13, AX; MOVBLZX -1(AX), R15; ADDL R15, R15
	MOVL $0x100, R14; MOVL $1, DX
	MOVL R15, R13; ANDL R14, R13; MOVWLZX 0x202(R11)(R13*2), BX
	MATCHED; MATCHED; MATCHED; MATCHED
	LEAL -16(DX), AX; MOVL AX, high-32(SP)
	MATCHED; MATCHED; MATCHED; MATCHED
	MOVQ d+0(FP), R10; MOVL X1, R13; MOVL state-40(SP), R12; MOVQ out-48(SP), DI
	MOVB DX, (DI); INCQ DI; LEAL -3(R12), AX; SUBL $6, R12; CMPL AX, $7; CMOVLCS AX, R12
	JMP  loop

match:
	ONE; LEAQ PROB(const_isRep)(R10)(R12*2), R11
	CMPL R12, $7; SBBL R12, R12; ANDL $-3, R12 // -3 after a literal, else 0
	IF(rep)
	ADDL $10, R12; PSHUFD $0x90, X1, X1 // 0, 0, 1, 2
	MOVQ $-1, R13 // no distance yet
	LEAQ PROB(const_lenCoder)(R10), R11

length:
	POSITION(R15); ANDL decoder_posMask(R10), R15; SHLL $4, R15 // size of a tree
	IF(longer)
	LEAQ (2*const_low)(R11)(R15*1), R11
	TREE3; SUBL $(8-2), DX
	JMP  distance

longer:
	ONE; ADDQ $2, R11
	IF(longest)
	LEAQ (2*(const_mid-1))(R11)(R15*1), R11
	TREE3; SUBL $(8-2-8), DX
	JMP  distance

longest:
	ONE; ADDQ $(2*(const_high-1)), R11
	ROOT; NODE; NODE; NODE; NODE; NODE; NODE; NODE; LAST; SUBL $(256-2-16), DX

distance:
	TESTQ R13, R13; JPL copy
	MOVL DX, length-40(SP)
	SUBL $2, DX; MOVL $3, AX; CMPL DX, AX; CMOVLHI AX, DX
	SHLL $7, DX; LEAQ PROB(const_posSlot)(R10)(DX*1), R11
	ROOT; NODE; NODE; NODE; NODE; NODE; LAST
	SUBL $64, DX; MOVL DX, R13
	CMPL DX, $4; JCS decoded
	ANDL $1, R13; ORL $2, R13
	MOVL DX, CX; SHRL $1, CX; DECL CX
	CMPL DX, $const_endPosModel; JCC direct
	SHLL CX, R13; MOVL $1, AX; SHLL CX, AX
	MOVL R13, R11; SUBL DX, R11; LEAQ PROB(const_posSpecial)(R10)(R11*2), R11
	JMP  reverse

direct:
	SUBL $const_alignBits, CX
bits:
	NORMALIZE
	SHRL $1, R8; MOVL R9, BP; SUBL R8, R9; CMOVLCS BP, R9
	SBBL AX, AX; LEAL 1(AX)(R13*2), R13
	DECL CX; JNE bits
	SHLL $const_alignBits, R13; MOVL $(1<<const_alignBits), AX
	LEAQ PROB(const_align)(R10), R11

reverse: // bits from the lowest on, until they are worth AX
	MOVL R12, state-48(SP); MOVL AX, end-56(SP)
	MOVL $1, R12; ROOT
lowest:
	NODE
	MOVL DX, AX; ANDL $1, AX; NEGL AX; ANDL R12, AX; ADDL AX, R13 // R12: what the bit is worth
	ADDL R12, R12; CMPL R12, end-56(SP); JNE lowest
	MOVL state-48(SP), R12

decoded:
	MOVQ R13, X0; MOVSS X0, X1
	MOVL length-40(SP), DX

copy: // DX bytes
	MOVQ DI, AX; SUBQ dict-8(SP), AX; CMPQ R13, AX; JCC bad
	LEAQ (DI)(DX*1), R11; MOVQ limit-24(SP), CX; SUBQ R11, CX; JCS bad
	MOVQ DI, BP; SUBQ R13, BP; DECQ BP
	CMPQ CX, $15; JCS bytes
	CMPQ R13, $7; JCS close

far: // 8 bytes or more
	MOVQ (BP), AX; MOVQ AX, (DI); MOVQ 8(BP), AX; MOVQ AX, 8(DI)
	ADDQ $16, BP; ADDQ $16, DI; CMPQ DI, R11; JCS far
	JMP  next

close:
	MOVQ r+16(FP), AX
	MOVL $7, CX; SUBL R13, CX; SHLL $3, CX // the bits of 8 bytes that do not repeat
	MOVQ (BP), BX; SHLQ CX, BX; SHRQ CX, BX; IMULQ (AX)(R13*8), BX
	MOVQ (7*8)(AX)(R13*8), CX
fill:
	MOVQ BX, (DI); ADDQ CX, DI; CMPQ DI, R11; JCS fill
	JMP  next

bytes:
	MOVB (BP), AX; MOVB AX, (DI)
	INCQ BP; INCQ DI; CMPQ DI, R11; JCS bytes
	JMP  next

rep:
	ONE; ADDQ $(2*const_states), R11
	IF(other)
	POSITION(AX); ANDL decoder_posMask(R10), AX
	SUBQ R10, R11; SUBQ $PROB(const_isRepG0), R11; SHLQ $4, R11; ADDQ R10, R11
	LEAQ PROB(const_isRep0Long)(R11)(AX*2), R11
	IF(long)
	ADDL $11, R12; MOVL $9, AX; CMPL R12, $8; CMOVLEQ AX, R12
	MOVQ DI, AX; SUBQ R13, AX; MOVBLZX -1(AX), AX; MOVB AX, (DI); LEAQ 1(DI), R11
	JMP  next

long:
	ONE; JMP repeated

other:
	ONE; ADDQ $(2*const_states), R11
	IF(third)
	PSHUFD $0xE1, X1, X1 // 1, 0, 2, 3
	JMP  repeated

third:
	ONE; ADDQ $(2*const_states), R11
	IF(fourth)
	PSHUFD $0xD2, X1, X1 // 2, 0, 1, 3
	JMP  repeated

fourth:
	ONE; PSHUFD $0x93, X1, X1 // 3, 0, 1, 2

repeated:
	MOVL X1, R13; ADDL $11, R12
	LEAQ PROB(const_repCoder)(R10), R11; JMP length

done:
	MOVB $1, ret+24(FP)

bad:
	SUBQ decoder_src(R10), SI; MOVQ SI, decoder_in(R10)
	SUBQ decoder_dst(R10), DI; MOVQ DI, decoder_out(R10)
	MOVL R8, decoder_rng(R10); MOVL R9, decoder_code(R10); MOVL R12, decoder_state(R10); MOVOU X1, decoder_reps(R10)
	RET
