package codelet

import (
	"fmt"
	"unsafe"
)

// multiplied is the number of legs of the kernels that multiply.
const multiplied = 4

// Multiply sets dst[i] to src[i] f[i] for every i below the length of f. dst may be src; else
// they must not share memory. p is scratch memory: its settings are lost.
//
// Any goroutine, with its own Pass. Panics if a slice is shorter than f. In cache, about
// 0.3 ns per number.
func (s *Set) Multiply(dst, src, f []complex128, p *Pass) {
	n := len(f)
	if len(dst) < n || len(src) < n {
		panic(fmt.Sprintf("codelet: multiply %d numbers to %d by %d factors: too short", len(src), len(dst), n))
	}
	full := 0
	if kernel := s.table[multiplied].product; kernel != nil {
		full = n / (multiplied * s.lanes) * (multiplied * s.lanes)
		for q := 0; q < full; q += callPoints {
			p.multiply(s, dst[q:], src[q:], f[q:], min(callPoints, full-q))
			kernel(&p.a)
		}
	}
	for i := full; i < n; i++ {
		dst[i] = src[i] * f[i]
	}
}

// multiply sets the arguments of one call of product, for n numbers.
func (p *Pass) multiply(s *Set, dst, src, f []complex128, n int) {
	a, vector := &p.a, 16*s.lanes
	a.in, a.out, a.twiddle = unsafe.Pointer(&src[0]), unsafe.Pointer(&dst[0]), unsafe.Pointer(&f[0])
	a.inLeg, a.outLeg = vector, vector
	a.n0, a.in0, a.out0 = n/(multiplied*s.lanes), multiplied*vector, multiplied*vector
	a.n1, a.in1, a.out1, a.twiddle1 = 1, 0, 0, 0
	a.n2, a.in2, a.out2 = 1, 0, 0
	a.consts = s.constants(false)
}

// MultiplyRows sets dst[j dstRow + i] to src[j srcRow + i] f[j] for every j below the length
// of f and i below w. All else is as with Multiply.
func (s *Set) MultiplyRows(dst []complex128, dstRow int, src []complex128, srcRow, w int, f []complex128, p *Pass) {
	n := len(f)
	if n == 0 || w < 1 {
		return
	}
	if dstRow < 0 || srcRow < 0 || (n-1)*dstRow+w > len(dst) || (n-1)*srcRow+w > len(src) {
		panic(fmt.Sprintf("codelet: multiply %d rows of %d numbers, %d and %d apart, from a slice of %d to one of %d: too short",
			n, w, srcRow, dstRow, len(src), len(dst)))
	}
	full, rows := 0, 0
	if kernel := s.table[multiplied].scale; kernel != nil && w >= s.lanes && n >= multiplied {
		full, rows = w/s.lanes*s.lanes, n/multiplied*multiplied
		step := max(multiplied, callPoints/w/multiplied*multiplied)
		for j := 0; j < rows; j += step {
			p.scale(s, dst[j*dstRow:], dstRow, src[j*srcRow:], srcRow, full, f[j:min(j+step, rows)])
			kernel(&p.a)
		}
	}
	for j, c := range f {
		from := full
		if j >= rows {
			from = 0
		}
		d := dst[j*dstRow:][:w]
		for i, v := range src[j*srcRow:][from:w] {
			d[from+i] = v * c
		}
	}
}

// scale sets the arguments of one call of scale, for all rows of f.
func (p *Pass) scale(s *Set, dst []complex128, dstRow int, src []complex128, srcRow, w int, f []complex128) {
	a := &p.a
	a.in, a.out, a.twiddle = unsafe.Pointer(&src[0]), unsafe.Pointer(&dst[0]), unsafe.Pointer(&f[0])
	a.inLeg, a.outLeg = 16*srcRow, 16*dstRow
	a.n0, a.in0, a.out0 = w/s.lanes, 16*s.lanes, 16*s.lanes
	a.n1, a.in1, a.out1, a.twiddle1 = len(f)/multiplied, multiplied*16*srcRow, multiplied*16*dstRow, 16*multiplied
	a.n2, a.in2, a.out2 = 1, 0, 0
	a.consts = s.constants(false)
}
