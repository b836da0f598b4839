package blastest

import (
	"math/rand/v2"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/invariant"
)

// invariantSizes reports whether a product is too large for the race detector's speed.
func invariantSizes(d [3]int) bool { return invariant.Race && d[0]*d[1]*d[2] > 1<<20 }

// form is one of the sixteen forms of a triangular system.
type form struct {
	side blas.Side
	uplo blas.UpLo
	ta   blas.Transpose
	diag blas.Diag
}

func forms() (all []form) {
	for i := range 16 {
		all = append(all, form{i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0})
	}
	return all
}

// triangle returns a triangle that keeps the numbers small; the other half is gap.
func (f form) triangle(s *rand.Rand, n, extra int) *matrix {
	return newMatrix(n, n, extra, func(i, j int) float64 {
		switch {
		case i == j && f.diag == blas.Unit, i != j && (i > j) == bool(f.uplo):
			return gap
		case i == j:
			return float64(1+s.IntN(3)) * 2
		}
		return whole(s) / float64(2*n)
	})
}

// element returns element (i, j) of op(A).
func (f form) element(a *matrix, i, j int) float64 {
	if f.ta {
		i, j = j, i
	}
	switch {
	case i == j && f.diag == blas.Unit:
		return 1
	case i != j && (i > j) == bool(f.uplo):
		return 0
	}
	return a.at(i, j)
}

// product returns op(A)*X or X*op(A).
func (f form) product(a, x *matrix) *matrix {
	return x.like(func(i, j int) (sum float64) {
		if f.side == blas.Left {
			for p := range x.m {
				sum += f.element(a, i, p) * x.at(p, j)
			}
		} else {
			for p := range x.n {
				sum += x.at(i, p) * f.element(a, p, j)
			}
		}
		return sum
	})
}

// rounding bounds the error of a solution, relative to elements of the size of 1.
const rounding = 1e-11

func dtrsm(r Reporter, k blas.Kernels) {
	s := source(5)
	all := forms()
	for x := 0; x <= size; x += stride() {
		for y := 0; y < len(all); y++ {
			if !trsmOnce(r, k, all[y], x, s.IntN(size/2)) || !trsmOnce(r, k, all[y], s.IntN(size/2), x) {
				return
			}
		}
	}
}

func trsmOnce(r Reporter, k blas.Kernels, f form, m, n int) bool {
	s := source(uint64(100*m + n))
	order := m
	if f.side == blas.Right {
		order = n
	}
	a, x := f.triangle(s, order, n%4), random(s, m, n, m%4)
	b := f.product(a, x)
	alpha := float64(1 + n%2)
	for j := range n {
		for i := range m {
			b.set(i, j, b.at(i, j)/alpha)
		}
	}
	defer free(a, x, b)
	k.Dtrsm(f.side, f.uplo, f.ta, f.diag, m, n, alpha, a.a, a.ld, b.a, b.ld)
	ok := near(r, "Dtrsm"+shape(m, n), b, x, rounding)
	if !ok {
		r.Errorf("the form was %+v", f)
	}
	return ok
}

func dtrsmLarge(r Reporter, k blas.Kernels) {
	for i, f := range forms() {
		if m, n := 391+13*i, 17; f.side == blas.Left && !invariant.Race {
			trsmOnce(r, k, f, m, n)
		} else if !invariant.Race {
			trsmOnce(r, k, f, n, m)
		}
	}
	a, b := form{}.triangle(source(1), 5, 0), newMatrix(5, 3, 1, func(int, int) float64 { return gap })
	want := b.like(nil0)
	defer free(a, b, want)
	k.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, 5, 3, 0, a.a, a.ld, b.a, b.ld)
	same(r, "Dtrsm with alpha 0", b, want)
}

// solvePacked checks the packed solution, and a product with it as it is.
func solvePacked(r Reporter, k blas.Kernels) {
	s := source(6)
	for n := 0; n <= size; n += stride() {
		for turn := range 4 {
			f := form{side: blas.Left, uplo: turn&1 != 0, ta: turn&1 != 0, diag: turn&2 != 0}
			if !solveOnce(r, k, f, n, s.IntN(size/2)) {
				return
			}
		}
	}
	if !invariant.Race {
		solveOnce(r, k, form{}, 450, 11)
	}
}

func solveOnce(r Reporter, k blas.Kernels, f form, n, cols int) bool {
	s := source(uint64(n*100 + cols))
	a, x := f.triangle(s, n, n%3), random(s, n, cols, n%2)
	b := f.product(a, x)
	tri, bp := random(s, k.PackedTriangle(n), 1, 0), random(s, k.PackedB(n, cols), 1, 0)
	defer free(a, x, b, tri, bp)
	k.PackTriangle(tri.a, f.uplo, f.ta, f.diag, n, a.a, a.ld)
	k.PackB(bp.a, blas.NoTrans, n, cols, b.a, b.ld)
	k.SolvePacked(n, cols, tri.a, bp.a)
	k.UnpackB(bp.a, n, cols, b.a, b.ld)
	return near(r, "SolvePacked"+shape(n, cols), b, x, rounding) && tri.memory.intact(r, "PackTriangle") && bp.memory.intact(r, "SolvePacked")
}

func dtrsv(r Reporter, k blas.Kernels) {
	for n := 0; n <= size; n += stride() {
		for i, f := range forms()[:] {
			f.side = blas.Left
			s := source(uint64(n))
			a, x := f.triangle(s, n, n%3), random(s, n, 1, 0)
			column := f.product(a, x)
			inc := 1 + i%2
			b := newMatrix(1, n, inc-1, func(_, j int) float64 { return column.at(j, 0) })
			want := b.like(func(_, j int) float64 { return x.at(j, 0) })
			k.Dtrsv(f.uplo, f.ta, f.diag, n, a.a, a.ld, b.a, inc)
			ok := near(r, "Dtrsv"+shape(n), b, want, rounding)
			free(a, x, column, b, want)
			if !ok {
				r.Errorf("the form was %+v", f)
				return
			}
		}
	}
}
