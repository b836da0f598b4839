//go:build gc && !purego && !race

#include "textflag.h"

// func addAVX2(sum, a, b, c, d *float64, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-48
	MOVQ sum+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ c+24(FP), R10
	MOVQ d+32(FP), R11
	MOVQ n+40(FP), CX
	XORQ AX, AX
	PCALIGN $32
four:
	VMOVUPD (R8)(AX*8), Y0
	VADDPD  (R9)(AX*8), Y0, Y0
	VADDPD  (R10)(AX*8), Y0, Y0
	VADDPD  (R11)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     four
	VZEROUPPER
	RET

// func residualAVX2(r, v, u, f, e *float64, a *[4]float64, n int)
TEXT ·residualAVX2(SB), NOSPLIT, $0-56
	MOVQ         r+0(FP), DI
	MOVQ         v+8(FP), R8
	MOVQ         u+16(FP), R9
	MOVQ         f+24(FP), R10
	MOVQ         e+32(FP), R11
	MOVQ         a+40(FP), DX
	VBROADCASTSD (DX), Y10
	VBROADCASTSD 16(DX), Y12
	VBROADCASTSD 24(DX), Y13
	MOVQ         n+48(FP), CX
	XORQ         AX, AX
	PCALIGN      $32
four:
	VMULPD  (R9)(AX*8), Y10, Y0
	VMOVUPD (R8)(AX*8), Y1
	VSUBPD  Y0, Y1, Y1             // v - a0 u
	VMOVUPD 8(R11)(AX*8), Y2
	VADDPD  (R10)(AX*8), Y2, Y2
	VADDPD  16(R10)(AX*8), Y2, Y2
	VMULPD  Y2, Y12, Y2
	VSUBPD  Y2, Y1, Y1             // - a2 (e + f before + f after)
	VMOVUPD (R11)(AX*8), Y3
	VADDPD  16(R11)(AX*8), Y3, Y3
	VMULPD  Y3, Y13, Y3
	VSUBPD  Y3, Y1, Y1             // - a3 (e before + e after)
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     four
	VZEROUPPER
	RET

// func smoothAVX2(u, r, f, e *float64, c *[4]float64, n int)
TEXT ·smoothAVX2(SB), NOSPLIT, $0-48
	MOVQ         u+0(FP), DI
	MOVQ         r+8(FP), R8
	MOVQ         f+16(FP), R10
	MOVQ         e+24(FP), R11
	MOVQ         c+32(FP), DX
	VBROADCASTSD (DX), Y10
	VBROADCASTSD 8(DX), Y11
	VBROADCASTSD 16(DX), Y12
	MOVQ         n+40(FP), CX
	XORQ         AX, AX
	PCALIGN      $32
four:
	VMULPD  8(R8)(AX*8), Y10, Y0   // c0 r
	VMOVUPD (R8)(AX*8), Y1
	VADDPD  16(R8)(AX*8), Y1, Y1
	VADDPD  8(R10)(AX*8), Y1, Y1
	VMULPD  Y1, Y11, Y1
	VADDPD  Y1, Y0, Y0             // + c1 (r before + r after + f)
	VMOVUPD 8(R11)(AX*8), Y2
	VADDPD  (R10)(AX*8), Y2, Y2
	VADDPD  16(R10)(AX*8), Y2, Y2
	VMULPD  Y2, Y12, Y2
	VADDPD  Y2, Y0, Y0             // + c2 (e + f before + f after)
	VADDPD  (DI)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     four
	VZEROUPPER
	RET

// func interpolateAVX2(u, line *float64, half float64, n int)
TEXT ·interpolateAVX2(SB), NOSPLIT, $0-32
	MOVQ         u+0(FP), DI
	MOVQ         line+8(FP), R8
	VBROADCASTSD half+16(FP), Y10
	MOVQ         n+24(FP), CX
	XORQ         AX, AX
	PCALIGN      $32
four:
	VMOVUPD    (R8)(AX*8), Y0
	VADDPD     8(R8)(AX*8), Y0, Y1
	VMULPD     Y1, Y10, Y1             // between two points
	VUNPCKLPD  Y1, Y0, Y2
	VUNPCKHPD  Y1, Y0, Y3
	VPERM2F128 $0x20, Y3, Y2, Y4
	VPERM2F128 $0x31, Y3, Y2, Y5
	VADDPD     (DI), Y4, Y4
	VADDPD     32(DI), Y5, Y5
	VMOVUPD    Y4, (DI)
	VMOVUPD    Y5, 32(DI)
	ADDQ       $64, DI
	ADDQ       $4, AX
	CMPQ       AX, CX
	JLT        four
	VZEROUPPER
	RET
