package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/weft-hpc/weft/hpl/blas"
)

// operation is one kernel with its operands.
type operation struct {
	flops  float64
	result []float64 // what run writes
	start  []float64 // nil, or what result is before a run that cannot run twice
	run    func()    // the timed operation
}

// operations has a constructor for each -op.
var operations = map[string]func(k blas.Kernels, m, n, depth int, o *operands) *operation{
	"dgemm": dgemm, "packed": packed, "dtrsm": dtrsm, "panel": panel,
	"dgemv": dgemv, "dgemvt": dgemvt, "dger": dger, "daxpy": daxpy, "dscal": dscal, "idamax": idamax,
}

// operands hands out matrices of random numbers between -0.5 and 0.5, always the
// same ones, and frees them all.
type operands struct {
	random *rand.Rand
	all    [][]float64
	err    error
}

func newOperands() *operands { return &operands{random: rand.New(rand.NewPCG(2, 3))} }

// matrix returns n random numbers; nothing, and an error for later, without memory.
func (o *operands) matrix(n int) []float64 {
	x := o.empty(n)
	for i := range x {
		x[i] = o.random.Float64() - 0.5
	}
	return x
}

// empty returns n zeros.
func (o *operands) empty(n int) []float64 {
	if o.err != nil {
		return nil // all is in vain
	}
	x, err := blas.Alloc(n)
	if err != nil {
		o.err = err
		return nil
	}
	o.all = append(o.all, x)
	return x
}

func (o *operands) free() (err error) {
	for _, x := range o.all {
		if e := blas.Free(x); e != nil {
			err = e
		}
	}
	o.all = nil
	return err
}

// leading returns the leading dimension for m rows: on cache lines, and off the
// powers of two, which would put all columns into the same sets of the caches.
func leading(m int) int {
	ld := (m + 7) / 8 * 8
	if ld%256 == 0 {
		ld += 8
	}
	return ld
}

// dgemm is the update of LINPACK: C := C - A*B.
func dgemm(k blas.Kernels, m, n, depth int, o *operands) *operation {
	lda, ldb := leading(m), leading(depth)
	c, a, b := o.matrix(lda*n), o.matrix(lda*depth), o.matrix(ldb*n)
	return &operation{flops: 2 * float64(m) * float64(n) * float64(depth), result: c, run: func() {
		k.Dgemm(blas.NoTrans, blas.NoTrans, m, n, depth, -1, a, lda, b, ldb, 1, c, lda)
	}}
}

// packed is the same without the packing.
func packed(k blas.Kernels, m, n, depth int, o *operands) *operation {
	lda, ldb := leading(m), leading(depth)
	c, a, b := o.matrix(lda*n), o.matrix(lda*depth), o.matrix(ldb*n)
	ap, bp := o.empty(k.PackedA(m, depth)), o.empty(k.PackedB(depth, n))
	if o.err == nil {
		k.PackA(ap, blas.NoTrans, m, depth, a, lda)
		k.PackB(bp, blas.NoTrans, depth, n, b, ldb)
	}
	return &operation{flops: 2 * float64(m) * float64(n) * float64(depth), result: c, run: func() {
		k.GemmPacked(m, n, depth, -1, ap, bp, c, lda)
	}}
}

// dtrsm is the solution for a block row of U: a unit lower triangle of order k, n
// columns.
func dtrsm(k blas.Kernels, _, n, order int, o *operands) *operation {
	ld := leading(order)
	a, start := o.matrix(ld*order), o.matrix(ld*n)
	for i := range a {
		a[i] /= float64(order) // keeps the solution small, as pivoting does
	}
	b := o.empty(ld * n)
	return &operation{flops: float64(order) * float64(order) * float64(n), result: b, start: start, run: func() {
		k.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, order, n, 1, a, ld, b, ld)
	}}
}

func dgemv(k blas.Kernels, m, n, _ int, o *operands) *operation {
	ld := leading(m)
	a, x, y := o.matrix(ld*n), o.matrix(n), o.matrix(m)
	return &operation{flops: 2 * float64(m) * float64(n), result: y, run: func() {
		k.Dgemv(blas.NoTrans, m, n, -1, a, ld, x, 1, 1, y, 1)
	}}
}

func dgemvt(k blas.Kernels, m, n, _ int, o *operands) *operation {
	ld := leading(m)
	a, x, y := o.matrix(ld*n), o.matrix(m), o.matrix(n)
	return &operation{flops: 2 * float64(m) * float64(n), result: y, run: func() {
		k.Dgemv(blas.Trans, m, n, -1, a, ld, x, 1, 1, y, 1)
	}}
}

func dger(k blas.Kernels, m, n, _ int, o *operands) *operation {
	ld := leading(m)
	a, x, y := o.matrix(ld*n), o.matrix(m), o.matrix(n)
	return &operation{flops: 2 * float64(m) * float64(n), result: a, run: func() {
		k.Dger(m, n, -1, x, 1, y, 1, a, ld)
	}}
}

func daxpy(k blas.Kernels, m, _, _ int, o *operands) *operation {
	x, y := o.matrix(m), o.matrix(m)
	return &operation{flops: 2 * float64(m), result: y, run: func() { k.Daxpy(m, -1.5, x, 1, y, 1) }}
}

func dscal(k blas.Kernels, m, _, _ int, o *operands) *operation {
	x := o.matrix(m)
	return &operation{flops: float64(m), result: x, run: func() { k.Dscal(m, -1, x, 1) }}
}

// idamax counts a comparison as an operation.
func idamax(k blas.Kernels, m, _, _ int, o *operands) *operation {
	x, index := o.matrix(m), o.empty(1)
	return &operation{flops: float64(m), result: index, run: func() { index[0] = float64(k.Idamax(m, x, 1)) }}
}

// newOperation returns -op for one implementation, with operands of its own.
func (c *config) newOperation(k blas.Kernels) (*operation, *operands, error) {
	o := newOperands()
	op := operations[c.op](k, c.m, c.n, c.k, o)
	if o.err != nil {
		return nil, nil, fmt.Errorf("operands of %s: %w", c.op, o.err)
	}
	op.reset()
	return op, o, nil
}

// reset makes the operands ready for a run.
func (op *operation) reset() {
	if op.start != nil {
		copy(op.result, op.start)
	}
}
