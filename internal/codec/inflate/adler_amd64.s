//go:build !purego

#include "textflag.h"

// The weights of the bytes of a block: words from 32 down to 1.
DATA weights<>+0(SB)/8, $0x001D001E001F0020
DATA weights<>+8(SB)/8, $0x0019001A001B001C
DATA weights<>+16(SB)/8, $0x0015001600170018
DATA weights<>+24(SB)/8, $0x0011001200130014
DATA weights<>+32(SB)/8, $0x000D000E000F0010
DATA weights<>+40(SB)/8, $0x0009000A000B000C
DATA weights<>+48(SB)/8, $0x0005000600070008
DATA weights<>+56(SB)/8, $0x0001000200030004
GLOBL weights<>(SB), RODATA|NOPTR, $64

// func sums(data []byte) (sum, weighted uint64)
TEXT ·sums(SB), NOSPLIT, $0-40
	MOVQ  data_base+0(FP), SI
	MOVQ  data_len+8(FP), CX
	PXOR  X0, X0                // sum, in two parts
	PXOR  X1, X1                // sums of the blocks before each block, in two parts
	PXOR  X2, X2                // bytes weighted within their blocks, in four parts
	PXOR  X3, X3                // 0
	MOVOU weights<>+0(SB), X8
	MOVOU weights<>+16(SB), X9
	MOVOU weights<>+32(SB), X10
	MOVOU weights<>+48(SB), X11
	SHRQ  $5, CX
	JZ    done

block:
	MOVOU     (SI), X4
	MOVOU     16(SI), X5
	PADDQ     X0, X1
	MOVO      X4, X6
	MOVO      X5, X7
	PSADBW    X3, X6
	PSADBW    X3, X7
	PADDQ     X6, X0
	PADDQ     X7, X0
	MOVO      X4, X6
	MOVO      X5, X7
	PUNPCKLBW X3, X4
	PUNPCKHBW X3, X6
	PUNPCKLBW X3, X5
	PUNPCKHBW X3, X7
	PMADDWL   X8, X4
	PMADDWL   X9, X6
	PMADDWL   X10, X5
	PMADDWL   X11, X7
	PADDL     X6, X4
	PADDL     X7, X5
	PADDL     X4, X2
	PADDL     X5, X2
	ADDQ      $32, SI
	DECQ      CX
	JNZ       block

done:
	PSHUFD $0x4E, X0, X4
	PADDQ  X4, X0
	MOVQ   X0, AX
	MOVQ   AX, sum+24(FP)
	PSHUFD $0x4E, X1, X4
	PADDQ  X4, X1
	MOVQ   X1, AX
	SHLQ   $5, AX
	// The parts of X2 are below 1<<32, but not their sum.
	MOVO      X2, X4
	PUNPCKLLQ X3, X2
	PUNPCKHLQ X3, X4
	PADDQ     X4, X2
	PSHUFD    $0x4E, X2, X4
	PADDQ     X4, X2
	MOVQ      X2, BX
	ADDQ      BX, AX
	MOVQ      AX, weighted+32(FP)
	RET
