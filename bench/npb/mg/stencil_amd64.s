//go:build gc && !purego && !race

#include "textflag.h"

// Kernels with AVX-512: eight points of a row at a time, and the rest under a mask. R8, R9 and R10 are in the row
// before, in the plane below, the same one and the plane above, and R11 is the length of a row in bytes; so the
// rows around a row are 0, 1 and 2 lengths from there. The additions are in the order of rows.go.
//
// The two sums of the rows around eight numbers stay in registers: Z0 (faces) and Z1 (edges), and those of the eight
// numbers after them Z2 and Z3. A point takes three numbers of each. CX is the number of points left in
// the row.

// Rows follow each other in memory. So the next row of each plane, which the processor does not expect in time, is
// about this far ahead, in bytes.
#define AHEAD 1024

// FETCH brings the next row of three planes closer.
#define FETCH \
	PREFETCHT0 AHEAD(R8)(R11*2)  \
	PREFETCHT0 AHEAD(R9)(R11*2)  \
	PREFETCHT0 AHEAD(R10)(R11*2)

// FETCHNEXT brings the row after it closer.
#define FETCHNEXT \
	PREFETCHT0 2*AHEAD(R8)(R11*2)  \
	PREFETCHT0 2*AHEAD(R9)(R11*2)  \
	PREFETCHT0 2*AHEAD(R10)(R11*2)

// SUMS adds up the four rows that differ in one coordinate, and the four that differ in two, at an offset.
#define SUMS(off, k, f, e) \
	VMOVUPD.Z off(R9), k, f              \
	VADDPD.Z  off(R9)(R11*2), f, k, f    \
	VADDPD.Z  off(R8)(R11*1), f, k, f    \
	VADDPD.Z  off(R10)(R11*1), f, k, f   \
	VMOVUPD.Z off(R8), k, e              \
	VADDPD.Z  off(R8)(R11*2), e, k, e    \
	VADDPD.Z  off(R10), e, k, e          \
	VADDPD.Z  off(R10)(R11*2), e, k, e

// ALL sets a mask to eight numbers.
#define ALL(k) \
	MOVL  $0xff, BX \
	KMOVW BX, k

// FIRST makes K3 the mask of the first eight of CX + 2 numbers.
#define FIRST \
	ALL(K3)       \
	CMPQ  CX, $6  \
	JGE   5(PC)   \
	MOVL  $4, BX  \
	SHLL  CX, BX  \
	DECL  BX      \
	KMOVW BX, K3

// MASKS makes K1 the mask of CX points, at most eight, and K2 that of the numbers beyond eight of CX + 2.
#define MASKS \
	MOVL  $1, BX  \
	SHLL  CX, BX  \
	DECL  BX      \
	KMOVW BX, K1  \
	MOVL  $4, BX  \
	SHLL  CX, BX  \
	DECL  BX      \
	SHRL  $8, BX  \
	KMOVW BX, K2

// RESIDUAL makes eight points of r.
#define RESIDUAL \
	FETCH                                   \
	PREFETCHT0 AHEAD/2(SI)                  \
	PREFETCHT0 AHEAD/2(DI)                  \
	SUMS(64, K2, Z2, Z3)                    \
	VMULPD.Z  8(R9)(R11*1), Z10, K1, Z4     \
	VMOVUPD.Z 8(SI), K1, Z5                 \
	VSUBPD    Z4, Z5, Z5                    \
	VALIGNQ   $1, Z1, Z3, Z6                \
	VALIGNQ   $2, Z0, Z2, Z7                \
	VALIGNQ   $2, Z1, Z3, Z8                \
	VADDPD    Z0, Z6, Z6                    \
	VADDPD    Z7, Z6, Z6                    \
	VMULPD    Z6, Z12, Z6                   \
	VSUBPD    Z6, Z5, Z5                    \
	VADDPD    Z8, Z1, Z8                    \
	VMULPD    Z8, Z13, Z8                   \
	VSUBPD    Z8, Z5, Z5                    \
	VMOVUPD   Z5, K1, 8(DI)                 \
	ADDQ      $64, SI                       \
	VMOVAPD   Z2, Z0                        \
	VMOVAPD   Z3, Z1

// SMOOTH adds to eight points of u.
#define SMOOTH \
	FETCH                                   \
	PREFETCHT0 AHEAD/2(DI)                  \
	SUMS(64, K2, Z2, Z3)                    \
	VMULPD.Z  8(R9)(R11*1), Z10, K1, Z4     \
	VMOVUPD.Z (R9)(R11*1), K1, Z5           \
	VADDPD.Z  16(R9)(R11*1), Z5, K1, Z5     \
	VALIGNQ   $1, Z0, Z2, Z6                \
	VADDPD    Z6, Z5, Z5                    \
	VMULPD    Z5, Z11, Z5                   \
	VADDPD    Z5, Z4, Z4                    \
	VALIGNQ   $1, Z1, Z3, Z6                \
	VALIGNQ   $2, Z0, Z2, Z7                \
	VADDPD    Z0, Z6, Z6                    \
	VADDPD    Z7, Z6, Z6                    \
	VMULPD    Z6, Z12, Z6                   \
	VADDPD    Z6, Z4, Z4                    \
	VADDPD.Z  8(DI), Z4, K1, Z4             \
	VMOVUPD   Z4, K1, 8(DI)                 \
	VMOVAPD   Z2, Z0                        \
	VMOVAPD   Z3, Z1

// STEP goes on by eight points.
#define STEP \
	ADDQ $64, R8  \
	ADDQ $64, R9  \
	ADDQ $64, R10 \
	ADDQ $64, DI  \
	SUBQ $8, CX

// func residualPlaneAVX512(r, v, u *float64, row, plane, n, rows int, a *[4]float64)
TEXT ·residualPlaneAVX512(SB), NOSPLIT, $0-64
	MOVQ r+0(FP), DI
	MOVQ v+8(FP), SI
	MOVQ u+16(FP), R9
	MOVQ row+24(FP), R11
	MOVQ plane+32(FP), R10
	MOVQ n+40(FP), R12
	MOVQ rows+48(FP), R13
	MOVQ a+56(FP), DX
	VBROADCASTSD (DX), Z10
	VBROADCASTSD 16(DX), Z12
	VBROADCASTSD 24(DX), Z13
	SUBQ R11, R9
	MOVQ R9, R8
	SUBQ R10, R8
	ADDQ R9, R10
	MOVQ R12, CX
	FIRST
	LEAQ 7(R12), AX // from the end of a row to the next one
	ANDQ $-8, AX
	SHLQ $3, AX
	NEGQ AX
	ADDQ R11, AX

row:
	MOVQ R12, CX
	SUMS(0, K3, Z0, Z1)
	ALL(K1)
	ALL(K2)
	CMPQ CX, $14
	JLT  rest
	PCALIGN $32

eight:
	RESIDUAL
	STEP
	CMPQ CX, $14
	JGE  eight

rest:
	MASKS
	RESIDUAL
	STEP
	CMPQ CX, $0
	JG   rest
	ADDQ AX, R8
	ADDQ AX, R9
	ADDQ AX, R10
	ADDQ AX, DI
	ADDQ AX, SI
	DECQ R13
	JNZ  row
	VZEROUPPER
	RET

// func smoothPlaneAVX512(u, r *float64, row, plane, n, rows int, c *[4]float64)
TEXT ·smoothPlaneAVX512(SB), NOSPLIT, $0-56
	MOVQ u+0(FP), DI
	MOVQ r+8(FP), R9
	MOVQ row+16(FP), R11
	MOVQ plane+24(FP), R10
	MOVQ n+32(FP), R12
	MOVQ rows+40(FP), R13
	MOVQ c+48(FP), DX
	VBROADCASTSD (DX), Z10
	VBROADCASTSD 8(DX), Z11
	VBROADCASTSD 16(DX), Z12
	SUBQ R11, R9
	MOVQ R9, R8
	SUBQ R10, R8
	ADDQ R9, R10
	MOVQ R12, CX
	FIRST
	LEAQ 7(R12), AX // from the end of a row to the next one
	ANDQ $-8, AX
	SHLQ $3, AX
	NEGQ AX
	ADDQ R11, AX

row:
	MOVQ R12, CX
	SUMS(0, K3, Z0, Z1)
	ALL(K1)
	ALL(K2)
	CMPQ CX, $14
	JLT  rest
	PCALIGN $32

eight:
	SMOOTH
	STEP
	CMPQ CX, $14
	JGE  eight

rest:
	MASKS
	SMOOTH
	STEP
	CMPQ CX, $0
	JG   rest
	ADDQ AX, R8
	ADDQ AX, R9
	ADDQ AX, R10
	ADDQ AX, DI
	DECQ R13
	JNZ  row
	VZEROUPPER
	RET

// RESTRICT makes eight points, and of these the four that the coarse row has.
#define RESTRICT \
	FETCH                                   \
	FETCHNEXT                               \
	SUMS(64, K2, Z2, Z3)                    \
	VMULPD.Z   8(R9)(R11*1), Z10, K1, Z4    \
	VMOVUPD.Z  (R9)(R11*1), K1, Z5          \
	VADDPD.Z   16(R9)(R11*1), Z5, K1, Z5    \
	VALIGNQ    $1, Z0, Z2, Z6               \
	VADDPD     Z6, Z5, Z5                   \
	VMULPD     Z5, Z11, Z5                  \
	VADDPD     Z5, Z4, Z4                   \
	VALIGNQ    $2, Z0, Z2, Z6               \
	VADDPD     Z6, Z0, Z6                   \
	VALIGNQ    $1, Z1, Z3, Z7               \
	VADDPD     Z7, Z6, Z6                   \
	VMULPD     Z6, Z12, Z6                  \
	VADDPD     Z6, Z4, Z4                   \
	VALIGNQ    $2, Z1, Z3, Z7               \
	VADDPD     Z7, Z1, Z7                   \
	VMULPD     Z7, Z13, Z7                  \
	VADDPD     Z7, Z4, Z4                   \
	VCOMPRESSPD.Z Z4, K5, Z4                \
	VMOVUPD    Z4, K4, 8(DI)                \
	VMOVAPD    Z2, Z0                       \
	VMOVAPD    Z3, Z1                       \
	ADDQ       $64, R8                      \
	ADDQ       $64, R9                      \
	ADDQ       $64, R10                     \
	ADDQ       $32, DI                      \
	SUBQ       $8, CX

// func restrictAVX512(s, r *float64, row, plane, n int, c *[4]float64)
TEXT ·restrictAVX512(SB), NOSPLIT, $0-48
	MOVQ s+0(FP), DI
	MOVQ r+8(FP), R9
	MOVQ row+16(FP), R11
	MOVQ plane+24(FP), R10
	MOVQ n+32(FP), CX
	MOVQ c+40(FP), DX
	VBROADCASTSD (DX), Z10
	VBROADCASTSD 8(DX), Z11
	VBROADCASTSD 16(DX), Z12
	VBROADCASTSD 24(DX), Z13
	SUBQ R11, R9
	MOVQ R9, R8
	SUBQ R10, R8
	ADDQ R9, R10
	ADDQ CX, CX
	FIRST
	SUMS(0, K3, Z0, Z1)
	ALL(K1)
	ALL(K2)
	MOVL  $0xf, BX
	KMOVW BX, K4
	MOVL  $0xaa, BX
	KMOVW BX, K5
	CMPQ CX, $14
	JLT  rest
	PCALIGN $32

eight:
	RESTRICT
	CMPQ CX, $14
	JGE  eight

rest:
	MASKS
	MOVQ  CX, DX
	SHRQ  $1, CX
	MOVL  $1, BX
	SHLL  CX, BX
	DECL  BX
	ANDL  $0xf, BX
	KMOVW BX, K4
	MOVQ  DX, CX
	RESTRICT
	CMPQ CX, $0
	JG   rest
	VZEROUPPER
	RET

DATA low<>+0(SB)/8, $0
DATA low<>+8(SB)/8, $8
DATA low<>+16(SB)/8, $1
DATA low<>+24(SB)/8, $9
DATA low<>+32(SB)/8, $2
DATA low<>+40(SB)/8, $10
DATA low<>+48(SB)/8, $3
DATA low<>+56(SB)/8, $11
GLOBL low<>(SB), RODATA|NOPTR, $64

DATA high<>+0(SB)/8, $4
DATA high<>+8(SB)/8, $12
DATA high<>+16(SB)/8, $5
DATA high<>+24(SB)/8, $13
DATA high<>+32(SB)/8, $6
DATA high<>+40(SB)/8, $14
DATA high<>+48(SB)/8, $7
DATA high<>+56(SB)/8, $15
GLOBL high<>(SB), RODATA|NOPTR, $64

// MEANS makes the mean of one, two or four rows (R8 to R11, DX of them) at eight numbers, Z0, and at the
// numbers after those, Z1. AX is the offset of the first.
#define MEANS \
	VMOVUPD.Z (R8)(AX*1), K1, Z0        \
	VMOVUPD.Z 8(R8)(AX*1), K1, Z1       \
	CMPQ      DX, $2                    \
	JLT       8(PC)                     \
	VADDPD.Z  (R9)(AX*1), Z0, K1, Z0    \
	VADDPD.Z  8(R9)(AX*1), Z1, K1, Z1   \
	JEQ       5(PC)                     \
	VADDPD.Z  (R10)(AX*1), Z0, K1, Z0   \
	VADDPD.Z  8(R10)(AX*1), Z1, K1, Z1  \
	VADDPD.Z  (R11)(AX*1), Z0, K1, Z0   \
	VADDPD.Z  8(R11)(AX*1), Z1, K1, Z1  \
	VMULPD    Z0, Z10, Z0               \
	VMULPD    Z1, Z10, Z1

// INTERPOLATE adds eight numbers, and between two of them their mean, to sixteen of u.
#define INTERPOLATE \
	PREFETCHT0 AHEAD(DI)(AX*2)          \
	PREFETCHT0 AHEAD+64(DI)(AX*2)       \
	MEANS                               \
	VADDPD    Z1, Z0, Z1                \
	VMULPD    Z1, Z11, Z1               \
	VMOVAPD   Z0, Z2                    \
	VPERMT2PD Z1, Z12, Z2               \
	VPERMT2PD Z1, Z13, Z0               \
	VADDPD.Z  (DI)(AX*2), Z2, K2, Z2    \
	VADDPD.Z  64(DI)(AX*2), Z0, K3, Z0  \
	VMOVUPD   Z2, K2, (DI)(AX*2)        \
	VMOVUPD   Z0, K3, 64(DI)(AX*2)      \
	ADDQ      $64, AX                   \
	SUBQ      $8, CX

// func interpolateAVX512(u, a, b, c, d *float64, rows int, mean, half float64, n int)
TEXT ·interpolateAVX512(SB), NOSPLIT, $0-72
	MOVQ u+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ c+24(FP), R10
	MOVQ d+32(FP), R11
	MOVQ rows+40(FP), DX
	VBROADCASTSD mean+48(FP), Z10
	VBROADCASTSD half+56(FP), Z11
	MOVQ n+64(FP), CX
	VMOVDQU64 low<>(SB), Z12
	VMOVDQU64 high<>(SB), Z13
	XORQ AX, AX
	ALL(K1)
	ALL(K2)
	ALL(K3)
	CMPQ CX, $8
	JLT  rest
	PCALIGN $32

eight:
	INTERPOLATE
	CMPQ CX, $8
	JGE  eight

rest:
	CMPQ  CX, $0
	JE    done
	MOVL  $1, BX
	SHLL  CX, BX
	DECL  BX
	KMOVW BX, K1
	ADDQ  CX, CX // sixteen numbers of u
	MOVL  $1, BX
	SHLL  CX, BX
	DECL  BX
	KMOVW BX, K2
	SHRL  $8, BX
	KMOVW BX, K3
	INTERPOLATE

done:
	VZEROUPPER
	RET
