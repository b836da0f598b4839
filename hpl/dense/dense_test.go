package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/dense"
	"github.com/weft-hpc/weft/internal/invariant"
)

// each runs a test with every set of kernels that runs on this processor.
func each(t *testing.T, test func(t *testing.T, k blas.Kernels)) {
	for _, name := range blas.Names() {
		k, err := blas.Named(name)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { test(t, k) })
	}
}

// gap is the memory between lines of the matrices of tests, which nothing may touch.
const gap = 3

func empty(m, n int, byRows bool) dense.Matrix {
	a := dense.Matrix{Rows: m, Cols: n, LD: m + gap, ByRows: byRows}
	lines := n
	if byRows {
		a.LD, lines = n+gap, m
	}
	a.Data = make([]float64, a.LD*lines)
	for i := range a.Data {
		a.Data[i] = math.NaN()
	}
	for i := range m {
		for j := range n {
			*a.At(i, j) = 0
		}
	}
	return a
}

func random(r *rand.Rand, m, n int, byRows bool) dense.Matrix {
	a := empty(m, n, byRows)
	for i := range m {
		for j := range n {
			*a.At(i, j) = r.Float64() - 0.5
		}
	}
	return a
}

func clone(a dense.Matrix) dense.Matrix {
	a.Data = slices.Clone(a.Data)
	return a
}

// product returns a*b by the plain loop.
func product(a, b dense.Matrix) dense.Matrix {
	c := empty(a.Rows, b.Cols, false)
	column := make([]float64, a.Rows)
	for p := range a.Cols {
		for i := range column {
			column[i] = *a.At(i, p)
		}
		for j := range b.Cols {
			v, to := *b.At(p, j), c.Data[j*c.LD:]
			for i, x := range column {
				to[i] += x * v
			}
		}
	}
	return c
}

// distance returns the largest difference, as a multiple of eps * n * the largest element.
func distance(a, b dense.Matrix, n int) float64 {
	worst, largest := 0.0, 1e-300
	for i := range a.Rows {
		for j := range a.Cols {
			d := math.Abs(*a.At(i, j) - *b.At(i, j))
			if math.IsNaN(d) {
				return math.Inf(1)
			}
			worst, largest = max(worst, d), max(largest, math.Abs(*b.At(i, j)))
		}
	}
	return worst / (0x1p-52 * largest * float64(max(n, 1)))
}

// gapsKept fails unless what is between the lines is as empty left it.
func gapsKept(t *testing.T, a dense.Matrix) {
	t.Helper()
	lines, used := a.Cols, a.Rows
	if a.ByRows {
		lines, used = used, lines
	}
	for l := range lines {
		for _, v := range a.Data[l*a.LD+used : (l+1)*a.LD] {
			require.True(t, math.IsNaN(v), "line %d: something was written behind it", l)
		}
	}
}

// shapes cross the edges of strips, leaves and blocks.
func shapes() [][2]int {
	all := [][2]int{{0, 0}, {1, 1}, {1, 5}, {5, 1}, {0, 3}, {7, 7}, {9, 8}, {24, 24}, {25, 23}, {49, 48}, {48, 49}, {97, 50}, {50, 97}, {145, 145}, {150, 60}, {60, 150}}
	if invariant.Race {
		return [][2]int{{0, 0}, {1, 1}, {9, 8}, {97, 50}, {50, 97}, {145, 145}}
	}
	return all
}

// solvers returns one without a runtime, and calls test with it and with 1 and 3 workers.
func solvers(t *testing.T, k blas.Kernels, test func(name string, s *dense.Solver)) {
	test("in place", dense.NewSolver(nil, k))
	for _, w := range []int{1, 3} {
		require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			test(fmt.Sprint(w, " workers"), dense.NewSolver(rt, k))
			return nil
		}, dataflow.Workers(w)))
	}
}

// everyway runs compute, which works in place on a copy of a, with all solvers: they give the
// same bytes, and check sees the result.
func everyway(t *testing.T, k blas.Kernels, a dense.Matrix, compute func(s *dense.Solver, a dense.Matrix) error) (result dense.Matrix) {
	t.Helper()
	solvers(t, k, func(name string, s *dense.Solver) {
		x := clone(a)
		require.NoError(t, compute(s, x))
		if result.Data == nil {
			result = x
			gapsKept(t, x)
			return
		}
		for i, v := range x.Data {
			require.Equal(t, math.Float64bits(result.Data[i]), math.Float64bits(v), "%s: element %d of %d x %d", name, i, a.Rows, a.Cols)
		}
	})
	return result
}

const few = 4 // units of distance that a right result may be off

func TestLU(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, shape := range shapes() {
			for _, byRows := range []bool{false, true} {
				m, n := shape[0], shape[1]
				a := random(rand.New(rand.NewPCG(1, uint64(m))), m, n, byRows)
				pivots := make([]int, min(m, n))
				lu := everyway(t, k, a, func(s *dense.Solver, x dense.Matrix) error {
					ok, err := s.LU(x, pivots)
					assert.True(t, ok)
					return err
				})
				assert.Less(t, distance(factors(lu), exchanged(a, pivots), min(m, n)), float64(few), "%v", shape)
			}
		}
	})
}

// factors returns L*U.
func factors(lu dense.Matrix) dense.Matrix {
	n := min(lu.Rows, lu.Cols)
	l, u := empty(lu.Rows, n, false), empty(n, lu.Cols, false)
	for i := range lu.Rows {
		for j := range lu.Cols {
			switch {
			case i > j:
				*l.At(i, j) = *lu.At(i, j)
			case i <= j:
				*u.At(i, j) = *lu.At(i, j)
			}
		}
	}
	for i := range n {
		*l.At(i, i) = 1
	}
	return product(l, u)
}

func exchanged(a dense.Matrix, pivots []int) dense.Matrix {
	a = clone(a)
	for i, p := range pivots {
		for j := range a.Cols {
			x, y := a.At(i, j), a.At(p, j)
			*x, *y = *y, *x
		}
	}
	return a
}

func TestLU_singular(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, n := range []int{1, 5, 60, 110} {
			a := random(rand.New(rand.NewPCG(2, 2)), n, n, true)
			for i := range n {
				*a.At(i, n-1) = 0
			}
			ok, err := dense.NewSolver(nil, k).LU(a, make([]int, n))
			require.NoError(t, err)
			assert.False(t, ok)
		}
		tiny := dense.Matrix{Data: []float64{1e-310, 5e-311}, Rows: 2, Cols: 1, LD: 2}
		ok, err := dense.NewSolver(nil, k).LU(tiny, make([]int, 1))
		require.NoError(t, err)
		assert.True(t, ok)
		assert.InDelta(t, 0.5, tiny.Data[1], 1e-12, "no reciprocal of a number that has none")
	})
}

func TestSolve(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, n := range []int{0, 1, 6, 50, 130} {
			for i := range 8 {
				byRows, trans, rhs := i&1 > 0, i&2 > 0, 1+i&4*20
				r := rand.New(rand.NewPCG(3, uint64(n)))
				a, x := random(r, n, n, byRows), random(r, n, rhs, byRows)
				for i := range n {
					*a.At(i, i) += 4
				}
				op := a
				if trans {
					op = a.T()
				}
				b := product(op, x)
				lu, pivots := clone(a), make([]int, n)
				_, err := dense.NewSolver(nil, k).LU(lu, pivots)
				require.NoError(t, err)
				got := everyway(t, k, b, func(s *dense.Solver, b dense.Matrix) error { return s.SolveLU(lu, pivots, trans, b) })
				assert.Less(t, distance(got, x, n), 100.0, "%d, %v", n, trans)
			}
		}
	})
}

// definite returns a symmetric matrix with positive eigenvalues, and NaN above the diagonal.
func definite(n int, byRows bool) (a, whole dense.Matrix) {
	r := rand.New(rand.NewPCG(4, uint64(n)))
	g := random(r, n, n, false)
	whole = product(g, g.T())
	a = empty(n, n, byRows)
	for i := range n {
		*whole.At(i, i) += 1
		for j := range n {
			*a.At(i, j) = math.NaN()
			if j <= i {
				*a.At(i, j) = *whole.At(i, j)
			}
		}
	}
	return a, whole
}

func TestCholesky(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, n := range []int{0, 1, 3, 17, 24, 49, 100, 145} {
			for _, byRows := range []bool{false, true} {
				a, whole := definite(n, byRows)
				l := everyway(t, k, a, func(s *dense.Solver, x dense.Matrix) error {
					ok, err := s.Cholesky(x)
					assert.True(t, ok)
					return err
				})
				lower := empty(n, n, false)
				for i := range n {
					for j := range n {
						if j <= i {
							*lower.At(i, j) = *l.At(i, j)
						} else {
							require.True(t, math.IsNaN(*l.At(i, j)), "(%d, %d) above the diagonal was written", i, j)
						}
					}
				}
				assert.Less(t, distance(product(lower, lower.T()), whole, n), float64(few), "%d", n)
				b := product(whole, random(rand.New(rand.NewPCG(5, 5)), n, 3, false))
				x := everyway(t, k, b, func(s *dense.Solver, b dense.Matrix) error { return s.SolveCholesky(l, b) })
				assert.Less(t, distance(product(whole, x), b, n), 100.0)
			}
		}
	})
}

// The product of a matrix with its inverse is the identity, and nothing is written above the
// diagonal of a symmetric one.
func TestInvert(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, n := range []int{0, 1, 3, 17, 24, 49, 100, 145} {
			for _, byRows := range []bool{false, true} {
				alone := dense.NewSolver(nil, k)
				whole := random(rand.New(rand.NewPCG(8, uint64(n))), n, n, byRows)
				lu, pivots := clone(whole), make([]int, n)
				_, err := alone.LU(lu, pivots)
				require.NoError(t, err)
				x := everyway(t, k, lu, func(s *dense.Solver, x dense.Matrix) error { return s.InvertLU(x, pivots) })
				isInverse(t, whole, x)

				l, whole := definite(n, byRows)
				_, err = alone.Cholesky(l)
				require.NoError(t, err)
				lower := everyway(t, k, l, func(s *dense.Solver, x dense.Matrix) error { return s.InvertCholesky(x) })
				full := empty(n, n, byRows)
				for i := range n {
					for j := range i + 1 {
						*full.At(i, j) = *lower.At(i, j)
						*full.At(j, i) = *lower.At(i, j)
					}
					for j := i + 1; j < n; j++ {
						require.True(t, math.IsNaN(*lower.At(i, j)), "(%d, %d) above the diagonal was written", i, j)
					}
				}
				isInverse(t, whole, full)
			}
		}
	})
}

func isInverse(t *testing.T, a, x dense.Matrix) {
	t.Helper()
	n, one := a.Rows, empty(a.Rows, a.Rows, false)
	for i := range n {
		*one.At(i, i) = 1
	}
	assert.Less(t, distance(product(a, x), one, n), 1e5, "order %d", n)
}

func TestCholesky_indefinite(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, at := range []int{0, 17, 60, 109} {
			for _, bad := range []float64{-1, 0, math.NaN()} {
				a, _ := definite(110, true)
				*a.At(at, at) = bad
				if bad == 0 {
					for j := range at {
						*a.At(at, j) = 0
					}
				}
				ok, err := dense.NewSolver(nil, k).Cholesky(a)
				require.NoError(t, err)
				assert.False(t, ok, "%v at %d", bad, at)
			}
		}
	})
}

func TestQR(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, shape := range shapes() {
			for _, byRows := range []bool{false, true} {
				m, n := shape[0], shape[1]
				mn := min(m, n)
				a := random(rand.New(rand.NewPCG(6, uint64(m))), m, n, byRows)
				tau := make([]float64, mn)
				qr := everyway(t, k, a, func(s *dense.Solver, x dense.Matrix) error { return s.QR(x, tau) })
				r := empty(mn, n, false)
				for j := range n {
					for i := range min(j+1, mn) {
						*r.At(i, j) = *qr.At(i, j)
					}
				}
				reflectors := empty(m, mn, byRows)
				for i := range m {
					for j := range mn {
						*reflectors.At(i, j) = *qr.At(i, j)
					}
				}
				q := everyway(t, k, reflectors, func(s *dense.Solver, x dense.Matrix) error {
					return s.FormQ(x, tau)
				})
				assert.Less(t, distance(product(q, r), a, mn), 2.0*few, "%v: Q R", shape)
				assert.Less(t, distance(product(q.T(), q), eye(mn), mn), 2.0*few, "%v: Q'Q", shape)
				applied := everyway(t, k, a, func(s *dense.Solver, x dense.Matrix) error { return s.ApplyQ(qr, tau, true, x) })
				full := empty(m, n, false)
				for j := range n {
					for i := range mn {
						*full.At(i, j) = *r.At(i, j)
					}
				}
				assert.Less(t, distance(applied, full, m), 2.0*few, "%v: Q'A is R", shape)
				back := everyway(t, k, full, func(s *dense.Solver, x dense.Matrix) error { return s.ApplyQ(qr, tau, false, x) })
				assert.Less(t, distance(back, a, m), 2.0*few, "%v: Q R is A", shape)
			}
		}
	})
}

func eye(n int) dense.Matrix {
	a := empty(n, n, false)
	for i := range n {
		*a.At(i, i) = 1
	}
	return a
}

// Numbers near the ends of the range neither overflow nor vanish.
func TestQR_range(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		for _, size := range []float64{1e-310, 1e-300, 1e-170, 1, 1e170, 1e300} {
			a := dense.Matrix{Data: []float64{3 * size, 4 * size, 0}, Rows: 3, Cols: 1, LD: 3}
			require.NoError(t, dense.NewSolver(nil, k).QR(a, make([]float64, 1)))
			assert.InEpsilon(t, -5*size, a.Data[0], 1e-12, "%g", size)
			assert.InEpsilon(t, 0.5, a.Data[1], 1e-12, "%g", size)
		}
	})
}

func TestProducts(t *testing.T) {
	step := 1
	if invariant.Race {
		step = 3 // each of the three properties is there, and is not
	}
	each(t, func(t *testing.T, k blas.Kernels) {
		r := rand.New(rand.NewPCG(7, 7))
		for _, n := range []int{0, 1, 5, 47, 49, 130} {
			for i := 0; i < 8; i += step {
				byRows, upper, other := i&1 > 0, i&2 > 0, i&4 > 0
				depth, cols := 1+n/2, 1+n/3
				a, b, c := random(r, n, depth, byRows), random(r, depth, cols, other), random(r, n, cols, upper)
				got := everyway(t, k, c, func(s *dense.Solver, c dense.Matrix) error { return s.Multiply(2, a, b, -1, c) })
				want := product(a, b)
				combine(want, 2, c, -1)
				assert.Less(t, distance(got, want, depth), float64(few))

				square := random(r, n, n, byRows)
				lower := everyway(t, k, square, func(s *dense.Solver, c dense.Matrix) error { return s.MultiplyLower(3, a, a.T(), 0.5, c) })
				want = product(a, a.T())
				combine(want, 3, square, 0.5)
				for j := range n {
					for i := range j {
						*want.At(i, j) = *square.At(i, j)
					}
				}
				assert.Less(t, distance(lower, want, depth), float64(few))

				tri := dense.Triangle{Matrix: random(r, n, n, byRows), Upper: upper, Unit: other}
				for i := range n {
					*tri.At(i, i) += 3
				}
				x := random(r, n, cols, !byRows)
				tx := everyway(t, k, x, func(s *dense.Solver, x dense.Matrix) error { return s.MultiplyTriangle(tri, 2, x) })
				want = product(wholeTriangle(tri), x)
				combine(want, 2, want, 0)
				assert.Less(t, distance(tx, want, n), float64(few))
				back := everyway(t, k, tx, func(s *dense.Solver, x dense.Matrix) error { return s.SolveTriangle(tri, 0.5, x) })
				assert.Less(t, distance(product(wholeTriangle(tri), back), product(wholeTriangle(tri), x), n), 1000.0)

				sym := random(r, n, n, byRows)
				whole := empty(n, n, false)
				for i := range n {
					for j := range n {
						*whole.At(i, j) = *sym.At(max(i, j), min(i, j))
					}
				}
				y := random(r, n, cols, other)
				z := everyway(t, k, c, func(s *dense.Solver, c dense.Matrix) error { return s.MultiplySymmetric(2, sym, y, 0.5, c) })
				want = product(whole, y)
				combine(want, 2, c, 0.5)
				assert.Less(t, distance(z, want, n), float64(few))
			}
		}
	})
}

// combine: a := alpha*a + beta*b.
func combine(a dense.Matrix, alpha float64, b dense.Matrix, beta float64) {
	for i := range a.Rows {
		for j := range a.Cols {
			*a.At(i, j) = alpha**a.At(i, j) + beta**b.At(i, j)
		}
	}
}

func wholeTriangle(t dense.Triangle) dense.Matrix {
	a := empty(t.Rows, t.Rows, false)
	for i := range t.Rows {
		for j := range t.Rows {
			switch {
			case i == j && t.Unit:
				*a.At(i, j) = 1
			case i == j || i < j == t.Upper:
				*a.At(i, j) = *t.At(i, j)
			}
		}
	}
	return a
}

func TestBadInput(t *testing.T) {
	s := dense.NewSolver(nil, blas.Default())
	x := make([]float64, 25)
	five := dense.Matrix{Data: x, Rows: 5, Cols: 5, LD: 5}
	short, narrow, wide, negative := five, five, five, five
	short.Data, narrow.LD, wide.Cols, negative.Rows = x[:24], 4, 4, -1
	wide.Data = x
	for says, call := range map[string]func() error{
		"dense: LU: a has 24 elements, and 5 x 5 with leading dimension 5 need 25":    func() error { _, err := s.LU(short, make([]int, 5)); return err },
		"dense: LU: pivots has 4 elements: make it 5":                                 func() error { _, err := s.LU(five, make([]int, 4)); return err },
		"dense: LU: matrix a is -1 x 5: dimensions are not negative":                  func() error { _, err := s.LU(negative, nil); return err },
		"dense: Cholesky: the leading dimension of a is 4: make it at least 5":        func() error { _, err := s.Cholesky(narrow); return err },
		"dense: Cholesky: matrix a is 5 x 4: the other arguments want 5 x 5":          func() error { _, err := s.Cholesky(wide); return err },
		"dense: QR: tau has 3 elements: make it 5":                                    func() error { return s.QR(five, x[:3]) },
		"dense: FormQ: 6 reflectors or columns, and the matrix is 5 x 5":              func() error { return s.FormQ(five, x[:6]) },
		"dense: ApplyQ: matrix a is 5 x 5: the other arguments want 4 x any":          func() error { return s.ApplyQ(five, x[:4], false, wide.T()) },
		"dense: SolveLU: matrix b is 4 x 5: the other arguments want 5 x any":         func() error { return s.SolveLU(five, make([]int, 5), false, wide.T()) },
		"dense: SolveCholesky: matrix b is 4 x 5":                                     func() error { return s.SolveCholesky(five, wide.T()) },
		"dense: Multiply: matrix b is 4 x 5: the other arguments want 5 x 5":          func() error { return s.Multiply(1, five, wide.T(), 0, five) },
		"dense: MultiplyLower: matrix c is 5 x 4: the other arguments want 5 x 5":     func() error { return s.MultiplyLower(1, five, five, 0, wide) },
		"dense: SolveTriangle: matrix t is 5 x 4":                                     func() error { return s.SolveTriangle(dense.Triangle{Matrix: wide}, 1, five) },
		"dense: MultiplyTriangle: matrix b is 4 x 5":                                  func() error { return s.MultiplyTriangle(dense.Triangle{Matrix: five}, 1, wide.T()) },
		"dense: MultiplySymmetric: matrix a is 5 x 4: the other arguments want 5 x 5": func() error { return s.MultiplySymmetric(1, wide, five, 0, five) },
	} {
		assert.ErrorContains(t, call(), says)
	}
}
