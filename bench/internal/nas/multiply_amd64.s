//go:build gc && !purego && !race

#include "textflag.h"

// func multiplyAVX2(dst, src *complex128, f *float64, scale float64, n int)
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ f+16(FP), DX
	VBROADCASTSD scale+24(FP), Y15
	MOVQ n+32(FP), CX
	SHRQ $2, CX
	PCALIGN $32
four:
	VMULPD (DX), Y15, Y0
	VMULPD 32(DX), Y15, Y1
	VMULPD (SI), Y0, Y0
	VMULPD 32(SI), Y1, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, DX
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  four
	VZEROUPPER
	RET
