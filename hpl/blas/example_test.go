package blas_test

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl/blas"
)

// C := A*B for column-major matrices with leading dimensions, with netlib's arguments.
func ExampleKernels() {
	a := []float64{1, 3, 2, 4} // 1 2
	b := []float64{5, 7, 6, 8} // 3 4
	c := make([]float64, 4)
	blas.Default().Dgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2)
	fmt.Println(c[0], c[2])
	fmt.Println(c[1], c[3])
	// Output:
	// 19 22
	// 43 50
}

// A matrix that is multiplied many times is packed once; a packed matrix can be cut.
func ExampleKernels_packed() {
	k := blas.Portable()
	const m, n, inner = 50, 8, 16
	a, b, c := make([]float64, m*inner), make([]float64, inner*n), make([]float64, m*n)
	for i := range a {
		a[i] = 1
	}
	for i := range b {
		b[i] = 2
	}
	ap, bp := make([]float64, k.PackedA(m, inner)), make([]float64, k.PackedB(inner, n))
	k.PackA(ap, blas.NoTrans, m, inner, a, m)
	k.PackB(bp, blas.NoTrans, inner, n, b, inner)
	mr, _ := k.Strips()
	k.GemmPacked(mr, n, inner, -1, ap, bp, c, m)                   // the first rows of C
	k.GemmPacked(m-mr, n, inner, -1, ap[mr*inner:], bp, c[mr:], m) // and the others
	fmt.Println(c[0], c[m*n-1])
	// Output: -32 -32
}
