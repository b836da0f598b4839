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
