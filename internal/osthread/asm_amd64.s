//go:build gc

#include "textflag.h"

// func Pause(n int)
TEXT ·Pause(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	TESTQ CX, CX
	JLE  done
again:
	PAUSE
	DECQ CX
	JNZ  again
done:
	RET

// func G() uintptr
TEXT ·G(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func returns(pcs *uintptr, n int) int
//
// A function keeps the frame pointer of its caller at the address in BP, and its return address
// above it. The outermost function of a goroutine has 0 there.
TEXT ·returns(SB), NOSPLIT, $0-24
	MOVQ pcs+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ BP, BX
	XORQ AX, AX
next:
	CMPQ AX, CX
	JGE  out
	TESTQ BX, BX
	JZ   out
	MOVQ 8(BX), DX
	MOVQ DX, (DI)(AX*8)
	INCQ AX
	MOVQ (BX), BX
	JMP  next
out:
	MOVQ AX, ret+16(FP)
	RET
