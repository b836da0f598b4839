//go:build gc && !purego && !race

package nas

import "github.com/klauspost/cpuid/v2"

var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// multiply is multiplyPortable. The runs of a grid are short (its longest has 8192
// values), so a call takes microseconds.
func multiply(dst, src []complex128, f []float64, scale float64) {
	n := len(src) &^ 3
	if !hasAVX2 || n == 0 {
		multiplyPortable(dst, src, f, scale)
		return
	}
	multiplyAVX2(&dst[0], &src[0], &f[0], scale, n)
	multiplyPortable(dst[n:], src[n:], f[2*n:], scale)
}

// multiplyAVX2 is multiplyPortable of n values, a multiple of 4 and at least 4.
//
//go:noescape
func multiplyAVX2(dst, src *complex128, f *float64, scale float64, n int)
