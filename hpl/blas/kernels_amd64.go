//go:build gc && !purego

package blas

import "github.com/klauspost/cpuid/v2"

//go:generate go run ./internal/gen

// vectorized returns the primitives in assembly that this processor can run, fastest first.
// Package cpuid also checks that the operating system saves the registers.
func vectorized() (all []*primitives) {
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ) {
		all = append(all, &avx512)
	}
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		all = append(all, &avx2)
	}
	return all
}

var avx512 = primitives{
	name: "avx512", mr: 24, nr: 8, lanes: 8, block: blocks,
	gemmColumn: gemmColumnAVX512, trsmTile: trsmTileAVX512,
	copyMR: copyMRAVX512, copyNR: copyNRAVX512, transpose: transposeAVX512,
	unpack: unpackAVX512,
	absMax: absMaxAVX512, indexAbs: indexAbsAVX512,
	scal: scalAVX512, axpy: axpyAVX512, swap: swapAVX512, exchange4: exchange4AVX512,
	gather8: gather8AVX512, scatter8: scatter8AVX512,
	ger4: ger4AVX512, gemvN4: gemvN4AVX512, gemvT4: gemvT4AVX512,
}

var avx2 = primitives{
	name: "avx2", mr: 12, nr: 4, lanes: 4, block: blocks,
	gemmColumn: gemmColumnAVX2, trsmTile: trsmTileAVX2,
	copyMR: copyMRAVX2, copyNR: copyNRAVX2, transpose: transposeAVX2,
	unpack: unpackAVX2,
	absMax: absMaxAVX2, indexAbs: indexAbsAVX2,
	scal: scalAVX2, axpy: axpyAVX2, swap: swapAVX2, exchange4: exchange4AVX2,
	gather8: gather8AVX2, scatter8: scatter8AVX2,
	ger4: ger4AVX2, gemvN4: gemvN4AVX2, gemvT4: gemvT4AVX2,
}

// The functions in assembly; the fields of primitives say what they compute.

//go:noescape
func gemmColumnAVX512(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, next uintptr, step int)

//go:noescape
func trsmTileAVX512(k int, l, x, y []float64)

//go:noescape
func copyMRAVX512(n int, dst, src []float64, ss int)

//go:noescape
func copyNRAVX512(n int, dst, src []float64, ss int)

//go:noescape
func transposeAVX512(n int, dst []float64, ds int, src []float64, ss int)

//go:noescape
func unpackAVX512(n int, dst []float64, ds int, src []float64)

//go:noescape
func absMaxAVX512(x []float64) float64

//go:noescape
func indexAbsAVX512(x []float64, v float64) int

//go:noescape
func scalAVX512(alpha float64, x []float64)

//go:noescape
func axpyAVX512(alpha float64, x, y []float64)

//go:noescape
func swapAVX512(x, y []float64)

//go:noescape
func exchange4AVX512(a []float64, lda int, pivots []int, first, rows, step int)

//go:noescape
func gather8AVX512(a []float64, lda int, rows []int, w []float64, ldw int)

//go:noescape
func scatter8AVX512(a []float64, lda int, rows []int, w []float64, ldw int)

//go:noescape
func ger4AVX512(x []float64, c0, c1, c2, c3 float64, a []float64, lda int)

//go:noescape
func gemvN4AVX512(c0, c1, c2, c3 float64, a []float64, lda int, y []float64)

//go:noescape
func gemvT4AVX512(a []float64, lda int, x, y []float64)

//go:noescape
func gemmColumnAVX2(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, next uintptr, step int)

//go:noescape
func trsmTileAVX2(k int, l, x, y []float64)

//go:noescape
func copyMRAVX2(n int, dst, src []float64, ss int)

//go:noescape
func copyNRAVX2(n int, dst, src []float64, ss int)

//go:noescape
func transposeAVX2(n int, dst []float64, ds int, src []float64, ss int)

//go:noescape
func unpackAVX2(n int, dst []float64, ds int, src []float64)

//go:noescape
func absMaxAVX2(x []float64) float64

//go:noescape
func indexAbsAVX2(x []float64, v float64) int

//go:noescape
func scalAVX2(alpha float64, x []float64)

//go:noescape
func axpyAVX2(alpha float64, x, y []float64)

//go:noescape
func swapAVX2(x, y []float64)

//go:noescape
func exchange4AVX2(a []float64, lda int, pivots []int, first, rows, step int)

//go:noescape
func gather8AVX2(a []float64, lda int, rows []int, w []float64, ldw int)

//go:noescape
func scatter8AVX2(a []float64, lda int, rows []int, w []float64, ldw int)

//go:noescape
func ger4AVX2(x []float64, c0, c1, c2, c3 float64, a []float64, lda int)

//go:noescape
func gemvN4AVX2(c0, c1, c2, c3 float64, a []float64, lda int, y []float64)

//go:noescape
func gemvT4AVX2(a []float64, lda int, x, y []float64)
