package blastest

import (
	"math"

	"github.com/weft-hpc/weft/hpl/blas"
)

// scalars are the pairs of alpha and beta that are tried in turn.
var scalars = [][2]float64{{-1, 1}, {1, 0}, {2, -1}, {0, 2}, {0, 0}, {-1, 1}, {-3, 0}}

// dgemm tries pairs of sizes from 0 to 70 in two of the three dimensions, with a random
// third one, and transposes and scalars in turn.
func dgemm(r Reporter, k blas.Kernels) {
	s, turn := source(1), 0
	for x, y := range pairs {
		z := s.IntN(size + 1)
		for _, d := range [][3]int{{x, y, z}, {x, z, y}, {z, x, y}} {
			if !gemmOnce(r, k, d, turn) {
				return
			}
			turn++
		}
	}
}

func gemmOnce(r Reporter, k blas.Kernels, d [3]int, turn int) bool {
	r.Helper()
	s := source(uint64(turn))
	m, n, depth := d[0], d[1], d[2]
	ta, tb := turn&1 != 0, turn&2 != 0
	alpha, beta := scalars[turn%len(scalars)][0], scalars[turn%len(scalars)][1]
	a, b, c := opMatrix(s.IntN(4), ta, m, depth), opMatrix(s.IntN(4), tb, depth, n), random(s, m, n, s.IntN(4))
	defer free(a, b, c)
	if beta == 0 && m > 0 {
		for j := range n {
			c.set(0, j, gap)
		}
	}
	want := c.clone()
	defer free(want)
	multiply(ta, tb, depth, alpha, a, b, beta, want)
	k.Dgemm(blas.Transpose(ta), blas.Transpose(tb), m, n, depth, alpha, a.a, a.ld, b.a, b.ld, beta, c.a, c.ld)
	return same(r, "Dgemm"+shape(m, n, depth), c, want)
}

// opMatrix returns an A such that op(A) is m x n.
func opMatrix(extra int, trans bool, m, n int) *matrix {
	if trans {
		m, n = n, m
	}
	return random(source(uint64(m*1000+n)), m, n, extra)
}

// dgemmLarge has more rows, columns and steps than one block holds.
func dgemmLarge(r Reporter, k blas.Kernels) {
	for turn, d := range [][3]int{{300, 100, 193}, {41, 70, 800}, {30, 2100, 3}, {700, 20, 391}, {6000, 40, 9}, {500, 33, 24}} {
		if invariantSizes(d) {
			continue
		}
		for t := range 4 {
			gemmOnce(r, k, d, 4*turn+t)
		}
	}
}

// dgemmSpecial checks netlib's rules for NaN and Inf: with alpha 0, A and B are not read;
// with beta 0, C is not read; otherwise arithmetic decides.
func dgemmSpecial(r Reporter, k blas.Kernels) {
	const m, n, depth = 29, 11, 13
	nan, inf := math.NaN(), math.Inf(1)
	all := func(v float64) func(i, j int) float64 { return func(int, int) float64 { return v } }
	check := func(what string, alpha float64, av, bv, beta, cv, result float64) {
		a, b, c := newMatrix(m, depth, 1, all(av)), newMatrix(depth, n, 1, all(bv)), newMatrix(m, n, 1, all(cv))
		want := c.like(all(result))
		defer free(a, b, c, want)
		k.Dgemm(blas.NoTrans, blas.NoTrans, m, n, depth, alpha, a.a, a.ld, b.a, b.ld, beta, c.a, c.ld)
		same(r, what, c, want)
	}
	check("alpha 0, A NaN", 0, nan, 1, 2, 3, 6)
	check("beta 0, C NaN", 1, 1, 1, 0, nan, depth)
	check("alpha and beta 0", 0, nan, inf, 0, nan, 0)
	check("A NaN", 1, nan, 1, 0, 1, nan)
	check("A Inf", 1, inf, 2, 1, 1, inf)
	check("Inf times 0", 1, inf, 0, 1, 1, nan)
	check("Inf minus Inf", -1, inf, 1, 1, inf, nan)

	a, b, c := newMatrix(m, depth, 0, all(1)), newMatrix(depth, n, 0, all(1)), newMatrix(m, n, 0, all(0))
	a.set(25, 7, nan)
	want := c.like(func(i, _ int) float64 {
		if i == 25 {
			return nan
		}
		return -depth
	})
	defer free(a, b, c, want)
	k.Dgemm(blas.NoTrans, blas.NoTrans, m, n, depth, -1, a.a, a.ld, b.a, b.ld, 1, c.a, c.ld)
	same(r, "one NaN, one row", c, want)
}

// packed checks products of packed matrices, and that UnpackB restores B.
func packed(r Reporter, k blas.Kernels) {
	s := source(3)
	turn := 0
	for x, y := range pairs {
		if !packedOnce(r, k, x, y, s.IntN(size+1), turn) || !packedOnce(r, k, x, s.IntN(size+1), y, turn+1) {
			return
		}
		turn++
	}
	packedOnce(r, k, 500, 30, 400, 1)
	packedOnce(r, k, 50, 19, 1000, 2)
}

func packedOnce(r Reporter, k blas.Kernels, m, n, depth, turn int) bool {
	s := source(uint64(turn))
	ta, tb := turn&1 != 0, turn&2 != 0
	a, b, c := opMatrix(turn%3, ta, m, depth), opMatrix(turn%3, tb, depth, n), random(s, m, n, turn%4)
	ap, bp := random(s, k.PackedA(m, depth), 1, 0), random(s, k.PackedB(depth, n), 1, 0)
	out, want := c.like(nil0), c.clone()
	back := random(s, depth, n, turn%5)
	wantBack := back.like(func(i, j int) float64 { return b.op(tb, i, j) })
	defer free(a, b, c, ap, bp, out, want, back, wantBack)

	k.PackA(ap.a, blas.Transpose(ta), m, depth, a.a, a.ld)
	k.PackB(bp.a, blas.Transpose(tb), depth, n, b.a, b.ld)
	k.GemmPacked(m, n, depth, -1, ap.a, bp.a, c.a, c.ld)
	multiply(ta, tb, depth, -1, a, b, 1, want)
	k.UnpackB(bp.a, depth, n, back.a, back.ld)
	what := shape(m, n, depth)
	return same(r, "GemmPacked"+what, c, want) && same(r, "UnpackB"+what, back, wantBack) &&
		ap.memory.intact(r, "PackA"+what) && bp.memory.intact(r, "PackB"+what)
}

func nil0(int, int) float64 { return 0 }

// packedParts checks that parts of a packed matrix, cut at whole strips, are packed
// matrices: that is how update tasks share a panel.
func packedParts(r Reporter, k blas.Kernels) {
	const m, n, depth = 150, 61, 37
	mr, nr := k.Strips()
	s := source(4)
	a, b, c := random(s, m, depth, 2), random(s, depth, n, 1), random(s, m, n, 3)
	ap, bp := random(s, k.PackedA(m, depth), 1, 0), random(s, k.PackedB(depth, n), 1, 0)
	want := c.clone()
	defer free(a, b, c, ap, bp, want)
	multiply(false, false, depth, -1, a, b, 1, want)
	k.PackA(ap.a, blas.NoTrans, m, depth, a.a, a.ld)
	k.PackB(bp.a, blas.NoTrans, depth, n, b.a, b.ld)
	for i := 0; i < m; i += 2 * mr {
		for j := 0; j < n; j += nr {
			k.GemmPacked(min(2*mr, m-i), min(nr, n-j), depth, -1, ap.a[i*depth:], bp.a[j*depth:], c.a[i+j*c.ld:], c.ld)
		}
	}
	same(r, "GemmPacked of parts", c, want)
}
