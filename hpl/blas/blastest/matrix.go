package blastest

import (
	"math"
	"math/rand/v2"
)

// gap fills the memory between columns and elements: a NaN that no operation yields.
var gap = math.Float64frombits(0x7ff8_dead_beef_0001)

// matrix is a column-major matrix whose slice ends at the end of its memory.
type matrix struct {
	m, n, ld int
	a        []float64
	memory   *guarded
}

// newMatrix returns a matrix with extra rows of gap between its columns, and elements from
// fill.
func newMatrix(m, n, extra int, fill func(i, j int) float64) *matrix {
	ld := max(1, m+extra)
	length := 0
	if m > 0 && n > 0 {
		length = (n-1)*ld + m
	}
	x := &matrix{m: m, n: n, ld: ld, memory: newGuarded(length)}
	x.a = x.memory.x
	for j := range n {
		column, gaps := x.column(j)
		for i := range column {
			column[i] = fill(i, j)
		}
		for i := range gaps {
			gaps[i] = gap
		}
	}
	return x
}

// column returns the elements of column j, and the gap between it and the next one.
func (x *matrix) column(j int) (elements, gaps []float64) {
	if x.m == 0 {
		return nil, nil
	}
	all := x.a[j*x.ld : min((j+1)*x.ld, len(x.a))]
	return all[:x.m], all[x.m:]
}

// random returns a matrix of whole numbers from -4 to 3.
func random(r *rand.Rand, m, n, extra int) *matrix {
	word, left := uint64(0), 0
	return newMatrix(m, n, extra, func(int, int) float64 {
		if left == 0 { // a word of the source is enough for 21 numbers
			word, left = r.Uint64(), 21
		}
		v := float64(word&7) - 4
		word, left = word>>3, left-1
		return v
	})
}

// vector returns n small whole numbers, inc apart: the row of a matrix.
func vector(r *rand.Rand, n, inc int) *matrix { return random(r, 1, n, inc-1) }

// like returns a matrix of the same shape, in other memory.
func (x *matrix) like(fill func(i, j int) float64) *matrix {
	return newMatrix(x.m, x.n, x.ld-x.m, fill)
}

func (x *matrix) clone() *matrix {
	c := newMatrix(x.m, x.n, x.ld-x.m, func(i, j int) float64 { return 0 })
	copy(c.a, x.a)
	return c
}

func (x *matrix) at(i, j int) float64 { return x.a[i+j*x.ld] }

func (x *matrix) set(i, j int, v float64) { x.a[i+j*x.ld] = v }

// op returns element (i, j) of the matrix or of its transpose.
func (x *matrix) op(trans bool, i, j int) float64 {
	row, column := x.strides(trans)
	return x.a[i*row+j*column]
}

// strides returns the distances in memory of neighbours in a column and in a row of the
// matrix or of its transpose.
func (x *matrix) strides(trans bool) (row, column int) {
	if trans {
		return x.ld, 1
	}
	return 1, x.ld
}

// free frees the memory: guarded pages are few.
func free(all ...*matrix) {
	for _, x := range all {
		x.memory.free()
	}
}

// same reports the first element whose bits differ, gaps included. Where a NaN is wanted, any
// NaN will do.
func same(r Reporter, what string, got, want *matrix) bool {
	r.Helper()
	for i, v := range want.a {
		g := got.a[i]
		isGap := math.Float64bits(v) == math.Float64bits(gap)
		if g == v || !isGap && math.IsNaN(v) && math.IsNaN(g) || isGap && math.Float64bits(g) == math.Float64bits(gap) {
			continue
		}
		r.Errorf("%s: element (%d, %d) of %d x %d is %v, want %v", what, i%got.ld, i/got.ld, got.m, got.n, g, v)
		return false
	}
	return got.memory.intact(r, what)
}

// near reports the first element that differs by more than tolerance.
func near(r Reporter, what string, got, want *matrix, tolerance float64) bool {
	r.Helper()
	rounded := want.clone()
	defer free(rounded)
	for j := range want.n {
		for i := range want.m {
			if math.Abs(got.at(i, j)-want.at(i, j)) <= tolerance*max(1, math.Abs(want.at(i, j))) {
				rounded.set(i, j, got.at(i, j))
			}
		}
	}
	return same(r, what, got, rounded)
}

// multiply is the plain loop: C := alpha*op(A)*op(B) + beta*C.
// The loop over k is outside of the one over rows, so that additions need not wait for each other: all
// numbers are small whole ones, whose sums are exact in any order.
func multiply(ta, tb bool, k int, alpha float64, a, b *matrix, beta float64, c *matrix) {
	full := make([]float64, c.m*k) // op(A), without gaps
	for i := range full {
		full[i] = a.op(ta, i%c.m, i/c.m)
	}
	sums := make([]float64, c.m)
	for j := range c.n {
		clear(sums)
		for p := 0; p < k && alpha != 0; p++ {
			f, column := b.op(tb, p, j), full[p*c.m:(p+1)*c.m]
			for i, v := range column {
				sums[i] += v * f
			}
		}
		for i, sum := range sums {
			v := 0.0
			if beta != 0 {
				v = beta * c.at(i, j)
			}
			if alpha != 0 {
				v += alpha * sum
			}
			c.set(i, j, v)
		}
	}
}
