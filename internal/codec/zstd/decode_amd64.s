//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// func hasBMI2() bool
TEXT ·hasBMI2(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  no
	MOVL $7, AX
	XORL CX, CX
	CPUID
	ANDL $0x108, BX        // BMI1 and BMI2
	CMPL BX, $0x108
	SETEQ ret+0(FP)
no:
	RET

// The fields of an entry (decode_fse.go).
#define ENTRY_VALUE(e) 0(e)
#define ENTRY_STATE(e) 4(e)
#define ENTRY_EXTRA(e) 5(e)
#define ENTRY_NEXT(e) 6(e)

// FIELD moves CX down by the number in bits, and sets to to so many bits of the
// window AX from position CX up. Only the low 6 bits of CX count. It clobbers DX.
#define FIELD(bits, to) \
	MOVBLZX bits, DX    \
	SUBL  DX, CX        \
	SHRXQ CX, AX, to    \
	BZHIQ DX, to, to

// NEXT replaces an entry by that of the next state. It clobbers BP.
#define NEXT(entry, table) \
	FIELD(ENTRY_STATE(entry), BP) \
	MOVWLZX ENTRY_NEXT(entry), entry \
	LEAQ    (table)(entry*8), entry  \
	LEAQ    (entry)(BP*8), entry

// func readSequences(r *sequenceReader, src *byte, batch *sequence, n int) int
//
// BX: position, counted from address 0       DI: next of batch
// R8, R9, R10: entries of literals, offset, match; R11, R12, R13: their tables
// R14, R15, third: repeated offsets          AX: window, CX: position in it
TEXT ·readSequences(SB), NOSPLIT, $24-40
	MOVQ r+0(FP), AX
	MOVQ src+8(FP), DX
	MOVQ batch+16(FP), DI
	MOVQ n+24(FP), CX
	LEAQ (CX)(CX*2), CX
	LEAQ (DI)(CX*4), CX
	MOVQ CX, end-8(SP)
	SHLQ $3, DX
	MOVQ sequenceReader_start(AX), CX
	ADDQ DX, CX
	MOVQ CX, start-16(SP)
	MOVQ sequenceReader_pos(AX), BX
	ADDQ DX, BX
	MOVQ sequenceReader_l(AX), R8
	MOVQ sequenceReader_o(AX), R9
	MOVQ sequenceReader_m(AX), R10
	MOVQ sequenceReader_lt(AX), R11
	MOVQ sequenceReader_ot(AX), R12
	MOVQ sequenceReader_mt(AX), R13
	MOVL (sequenceReader_repeats+0)(AX), R14
	MOVL (sequenceReader_repeats+4)(AX), R15
	MOVL (sequenceReader_repeats+8)(AX), CX
	MOVL CX, third-24(SP)

loop:
	// The bits of this sequence and of the states after it; a window has at
	// least 56.
	MOVWLZX ENTRY_STATE(R8), DX // and extraBits
	ADDW    ENTRY_STATE(R9), DX
	ADDW    ENTRY_STATE(R10), DX
	MOVBLZX DH, CX
	ADDB    CX, DX
	MOVBLZX DX, DX
	CMPL    DX, $56
	JHI     done
	MOVQ    BX, CX
	SUBQ    DX, BX
	CMPQ    BX, start-16(SP)
	JLT     under
	MOVQ    CX, AX
	SHRQ    $3, AX
	MOVQ    -7(AX), AX
	ORQ     $56, CX

	FIELD(ENTRY_EXTRA(R9), BP)
	ADDL ENTRY_VALUE(R9), BP            // offset
	FIELD(ENTRY_EXTRA(R10), SI)
	ADDL ENTRY_VALUE(R10), SI
	MOVL SI, sequence_match(DI)
	FIELD(ENTRY_EXTRA(R8), SI)
	ADDL ENTRY_VALUE(R8), SI
	MOVL SI, sequence_literals(DI)
	SUBL $3, BP
	JLS  repeated
	MOVL R15, third-24(SP)
	MOVL R14, R15
	MOVL BP, R14

resolved:
	MOVL BP, sequence_offset(DI)
	NEXT(R8, R11)
	NEXT(R10, R13)
	NEXT(R9, R12)
	ADDQ $sequence__size, DI
	CMPQ DI, end-8(SP)
	JNE  loop
	JMP  done

repeated:
	// The offset was 1 to 3, and is one more if there are no literals.
	CMPL SI, $1
	ADCL $3, BP
	LEAL -1(R14), SI
	MOVL R15, DX
	CMPL BP, $2
	CMOVLCS R14, DX
	CMOVLHI third-24(SP), DX
	CMPL BP, $3
	CMOVLHI SI, DX
	MOVL third-24(SP), SI
	CMOVLCC R15, SI
	MOVL SI, third-24(SP)
	CMPL BP, $1
	CMOVLNE R14, R15
	MOVL DX, R14
	MOVL DX, BP
	JMP  resolved

under:
	ADDQ DX, BX

done:
	MOVQ r+0(FP), AX
	MOVQ src+8(FP), DX
	SHLQ $3, DX
	SUBQ DX, BX
	MOVQ BX, sequenceReader_pos(AX)
	MOVQ R8, sequenceReader_l(AX)
	MOVQ R9, sequenceReader_o(AX)
	MOVQ R10, sequenceReader_m(AX)
	MOVL R14, (sequenceReader_repeats+0)(AX)
	MOVL R15, (sequenceReader_repeats+4)(AX)
	MOVL third-24(SP), CX
	MOVL CX, (sequenceReader_repeats+8)(AX)
	MOVQ DI, AX
	SUBQ batch+16(FP), AX
	XORL DX, DX
	MOVL $sequence__size, CX
	DIVQ CX
	MOVQ AX, ret+32(FP)
	RET

// func runSequences(x *executor, batch *sequence, n int, p *[17][16]uint8) int
//
// DI: next byte of dst, R10: bound of DI          R8: next of batch, R9: its end
// SI: next literal, R11: end of literals          R12: dst
// AX, CX, DX: literals, match, offset; R15: end of the literals in lits
// BX, R13: ends of literals and match in dst; BP: what is copied; R14: patterns
TEXT ·runSequences(SB), NOSPLIT, $8-40
	MOVQ x+0(FP), R15
	MOVQ batch+8(FP), R8
	MOVQ n+16(FP), CX
	LEAQ (CX)(CX*2), CX
	LEAQ (R8)(CX*4), R9
	MOVQ executor_dst(R15), R12
	MOVQ executor_out(R15), DI
	ADDQ R12, DI
	MOVQ (executor_dst+8)(R15), R10
	SUBQ $const_margin, R10
	MOVQ executor_limit(R15), CX
	CMPQ CX, R10
	CMOVQLT CX, R10
	ADDQ R12, R10
	MOVQ executor_lits(R15), SI
	MOVQ SI, R11
	ADDQ executor_litsEnd(R15), R11
	ADDQ executor_lit(R15), SI
	MOVQ p+24(FP), R14

loop:
	CMPQ R8, R9
	JEQ  done
	MOVL sequence_literals(R8), AX
	MOVL sequence_match(R8), CX
	MOVL sequence_offset(R8), DX
	LEAQ (SI)(AX*1), R15
	CMPQ R15, R11
	JHI  done
	LEAQ (DI)(AX*1), BX
	LEAQ (BX)(CX*1), R13
	CMPQ R13, R10
	JHI  done
	MOVQ BX, BP
	SUBQ R12, BP
	SUBQ DX, BP
	JCS  done
	ADDQ R12, BP           // the match
	MOVOU (SI), X0
	MOVOU X0, (DI)
	CMPL AX, $16
	JHI  literals

match:
	MOVQ  R15, SI
	MOVQ  R13, DI
	CMPL  DX, $16
	JCS   near
	MOVOU (BP), X0
	MOVOU X0, (BX)
	ADDQ  $sequence__size, R8
	CMPL  CX, $16
	JLS   loop

	// 32 bytes at a time, until BX is past the match.
	SUBQ  BX, BP
	ADDQ  $16, BX

far:
	MOVOU (BX)(BP*1), X0
	MOVOU X0, (BX)
	MOVOU 16(BX)(BP*1), X1
	MOVOU X1, 16(BX)
	ADDQ  $32, BX
	CMPQ  BX, R13
	JCS   far
	JMP   loop

literals:
	MOVOU 16(SI), X0
	MOVOU X0, 16(DI)
	MOVOU 32(SI), X1
	MOVOU X1, 32(DI)
	ADDQ  $32, SI
	ADDQ  $32, DI
	LEAQ  16(DI), AX
	CMPQ  AX, BX
	JCS   literals
	JMP   match

near:
	// X0 becomes the next 16 bytes, and DX how many of them are whole
	// repetitions.
	TESTL  DX, DX
	JEQ    zero
	MOVOU  (BP), X0
	SHLL   $4, DX
	MOVOU  (R14)(DX*1), X1
	PSHUFB X1, X0
	MOVOU  X0, (BX)
	ADDQ   $sequence__size, R8
	CMPL   CX, $16
	JLS    loop
	SHRL   $4, DX
	MOVBLZX 256(R14)(DX*1), DX
	LEAQ   (DX)(DX*2), AX
	ADDQ   DX, BX
	SUBQ   $64, R13
	CMPQ   BX, R13
	JHI    rest

run:
	MOVOU  X0, (BX)
	MOVOU  X0, (BX)(DX*1)
	MOVOU  X0, (BX)(DX*2)
	MOVOU  X0, (BX)(AX*1)
	LEAQ   (BX)(DX*4), BX
	CMPQ   BX, R13
	JLS    run

rest:
	ADDQ   $64, R13
	CMPQ   BX, R13
	JCC    loop

single:
	MOVOU  X0, (BX)
	ADDQ   DX, BX
	CMPQ   BX, R13
	JCS    single
	JMP    loop

zero:
	// Undo the copying of the literals.
	MOVL sequence_literals(R8), AX
	SUBQ AX, SI
	ADDQ CX, AX
	SUBQ AX, DI

done:
	MOVQ x+0(FP), R15
	SUBQ R12, DI
	MOVQ DI, executor_out(R15)
	SUBQ executor_lits(R15), SI
	MOVQ SI, executor_lit(R15)
	MOVQ R8, AX
	SUBQ batch+8(FP), AX
	XORL DX, DX
	MOVL $sequence__size, CX
	DIVQ CX
	MOVQ AX, ret+32(FP)
	RET

// OPEN sets bits to the next bits of stream i, and at to the address of the eight
// bytes that they come from. The number of 0 bits below the lowest 1 in bits is
// that of the bits consumed; at least 55 more are valid. CX: streams, DX: src.
#define OPEN(i, at, bits) \
	MOVQ  (stream__size*i+stream_pos)(CX), at \
	MOVQ  at, AX                              \
	SHRQ  $3, at                              \
	LEAQ  -7(DX)(at*1), at                    \
	NOTQ  AX                                  \
	ANDQ  $7, AX                              \
	INCQ  AX                                  \
	MOVQ  (at), bits                          \
	ORQ   $1, bits                            \
	SHLXQ AX, bits, bits

// REFILL moves at down by the whole bytes consumed and loads bits again.
#define REFILL(at, bits) \
	TZCNTQ bits, AX       \
	MOVL   AX, CX         \
	SHRL   $3, CX         \
	SUBQ   CX, at         \
	ANDL   $7, AX         \
	MOVQ   (at), bits     \
	ORQ    $1, bits       \
	SHLXQ  AX, bits, bits

// CLOSE stores the position of stream i. CX: streams, DX: src.
#define CLOSE(i, at, bits) \
	TZCNTQ bits, AX              \
	SUBQ   DX, at                \
	LEAQ   64(at*8), at          \
	SUBQ   AX, at                \
	MOVQ   at, (stream__size*i+stream_pos)(CX)

// ONE decodes a symbol.
#define ONE(bits, to) \
	MOVQ    bits, AX            \
	SHRQ    $53, AX             \
	MOVWLZX (BX)(AX*2), AX      \
	SHLXQ   AX, bits, bits      \
	MOVB    AH, to

// func decodeHuffmanOne(t *[1 << huffmanLog]uint16, dst, src *byte, s *[4]stream, n int)
//
// R8 to R11: next bits of the streams, R12 to R15: their addresses
// DI: destination of the first stream; SI, DX: distances from it to those of the
// second and the fourth
// BX: table
TEXT ·decodeHuffmanOne(SB), NOSPLIT, $8-40
	MOVQ s+24(FP), CX
	MOVQ src+16(FP), DX
	OPEN(0, R12, R8)
	OPEN(1, R13, R9)
	OPEN(2, R14, R10)
	OPEN(3, R15, R11)
	MOVQ t+0(FP), BX
	MOVQ (stream_out)(CX), DI
	MOVQ (stream__size+stream_out)(CX), SI
	SUBQ DI, SI
	ADDQ dst+8(FP), DI
	LEAQ (SI)(SI*2), DX
	MOVQ n+32(FP), AX
	LEAQ (AX)(AX*4), AX
	ADDQ DI, AX
	MOVQ AX, end-8(SP)

loop:
	ONE(R8, (DI))
	ONE(R9, (DI)(SI*1))
	ONE(R10, (DI)(SI*2))
	ONE(R11, (DI)(DX*1))
	ONE(R8, 1(DI))
	ONE(R9, 1(DI)(SI*1))
	ONE(R10, 1(DI)(SI*2))
	ONE(R11, 1(DI)(DX*1))
	ONE(R8, 2(DI))
	ONE(R9, 2(DI)(SI*1))
	ONE(R10, 2(DI)(SI*2))
	ONE(R11, 2(DI)(DX*1))
	ONE(R8, 3(DI))
	ONE(R9, 3(DI)(SI*1))
	ONE(R10, 3(DI)(SI*2))
	ONE(R11, 3(DI)(DX*1))
	ONE(R8, 4(DI))
	ONE(R9, 4(DI)(SI*1))
	ONE(R10, 4(DI)(SI*2))
	ONE(R11, 4(DI)(DX*1))
	ADDQ $5, DI
	CMPQ DI, end-8(SP)
	JCC  done
	REFILL(R12, R8)
	REFILL(R13, R9)
	REFILL(R14, R10)
	REFILL(R15, R11)
	JMP  loop

done:
	MOVQ s+24(FP), CX
	MOVQ src+16(FP), DX
	CLOSE(0, R12, R8)
	CLOSE(1, R13, R9)
	CLOSE(2, R14, R10)
	CLOSE(3, R15, R11)
	MOVQ n+32(FP), AX
	LEAQ (AX)(AX*4), AX
	ADDQ AX, (stream__size*0+stream_out)(CX)
	ADDQ AX, (stream__size*1+stream_out)(CX)
	ADDQ AX, (stream__size*2+stream_out)(CX)
	ADDQ AX, (stream__size*3+stream_out)(CX)
	RET

// TWO decodes one or two symbols and moves to past them.
#define TWO(bits, to) \
	MOVQ    bits, AX        \
	SHRQ    $53, AX         \
	MOVL    (BP)(AX*4), AX  \
	SHLXQ   AX, bits, bits  \
	MOVBLZX AH, CX          \
	SHRL    $16, AX         \
	MOVW    AX, (to)        \
	ADDQ    CX, to

// func decodeHuffmanTwo(t *[1 << huffmanLog]uint32, dst, src *byte, s *[4]stream, n int)
//
// R8 to R11: next bits of the streams, R12 to R15: their addresses
// BX, DX, SI, DI: their destinations; BP: table
TEXT ·decodeHuffmanTwo(SB), NOSPLIT, $8-40
	MOVQ s+24(FP), CX
	MOVQ src+16(FP), DX
	OPEN(0, R12, R8)
	OPEN(1, R13, R9)
	OPEN(2, R14, R10)
	OPEN(3, R15, R11)
	MOVQ dst+8(FP), AX
	MOVQ (stream__size*0+stream_out)(CX), BX
	MOVQ (stream__size*1+stream_out)(CX), DX
	MOVQ (stream__size*2+stream_out)(CX), SI
	MOVQ (stream__size*3+stream_out)(CX), DI
	ADDQ AX, BX
	ADDQ AX, DX
	ADDQ AX, SI
	ADDQ AX, DI
	MOVQ n+32(FP), AX
	MOVQ AX, left-8(SP)
	MOVQ t+0(FP), BP

loop:
	TWO(R8, BX)
	TWO(R9, DX)
	TWO(R10, SI)
	TWO(R11, DI)
	TWO(R8, BX)
	TWO(R9, DX)
	TWO(R10, SI)
	TWO(R11, DI)
	TWO(R8, BX)
	TWO(R9, DX)
	TWO(R10, SI)
	TWO(R11, DI)
	TWO(R8, BX)
	TWO(R9, DX)
	TWO(R10, SI)
	TWO(R11, DI)
	TWO(R8, BX)
	TWO(R9, DX)
	TWO(R10, SI)
	TWO(R11, DI)
	DECQ left-8(SP)
	JEQ  done
	REFILL(R12, R8)
	REFILL(R13, R9)
	REFILL(R14, R10)
	REFILL(R15, R11)
	JMP  loop

done:
	MOVQ s+24(FP), CX
	MOVQ dst+8(FP), AX
	SUBQ AX, BX
	SUBQ AX, DX
	SUBQ AX, SI
	SUBQ AX, DI
	MOVQ BX, (stream__size*0+stream_out)(CX)
	MOVQ DX, (stream__size*1+stream_out)(CX)
	MOVQ SI, (stream__size*2+stream_out)(CX)
	MOVQ DI, (stream__size*3+stream_out)(CX)
	MOVQ src+16(FP), DX
	CLOSE(0, R12, R8)
	CLOSE(1, R13, R9)
	CLOSE(2, R14, R10)
	CLOSE(3, R15, R11)
	RET
