package gonum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/testlapack"
	"gonum.org/v1/gonum/mat"

	kernels "github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
)

// all sends every problem to the kernels, and those of some work to a runtime.
var all = sizes{product: 1, triangle: 1, multiply: 1, vector: 1, order: 1, square: 1, inverse: 1, reflector: 1, form: 1, apply: 1, columns: 1, parallel: 60 * 60 * 60}

// each runs a test with every set of kernels that runs on this processor.
func each(t *testing.T, test func(t *testing.T, b *blasRoutines, l *lapackRoutines)) {
	for _, name := range kernels.Names() {
		k, err := kernels.Named(name)
		require.NoError(t, err)
		b, l := blasWith(k), lapackWith(k)
		b.sizes, l.sizes = all, all
		t.Run(name, func(t *testing.T) { test(t, b, l) })
	}
}

func long() bool { return os.Getenv("WEFT_LONG") == "1" }

// gonum's own suite.
func TestBLAS(t *testing.T) {
	each(t, func(t *testing.T, b *blasRoutines, _ *lapackRoutines) {
		t.Run("Dgemm", func(t *testing.T) { testblas.TestDgemm(t, b) })
		t.Run("Dsymm", func(t *testing.T) { testblas.DsymmTest(t, b) })
		t.Run("Dtrsm", func(t *testing.T) { testblas.DtrsmTest(t, b) })
		t.Run("Dsyrk", func(t *testing.T) { testblas.DsyrkTest(t, b) })
		t.Run("Dsyr2k", func(t *testing.T) { testblas.Dsyr2kTest(t, b) })
		t.Run("Dgemv", func(t *testing.T) { testblas.DgemvTest(t, b) })
		t.Run("Dtrsv", func(t *testing.T) { testblas.DtrsvTest(t, b) })
		t.Run("Dtrmm", func(t *testing.T) { testblas.DtrmmTest(t, b) })
	})
}

// gonum's own suite. Those parts of it that take seconds run with WEFT_LONG=1 only, as do
// other kernels than the fastest: TestAgainstGonum has all.
func TestLAPACK(t *testing.T) {
	each(t, func(t *testing.T, b *blasRoutines, l *lapackRoutines) {
		if b.k != kernels.Default() && !long() {
			t.Skip("WEFT_LONG=1 runs the suite with all kernels")
		}
		blas64.Use(b)
		defer blas64.Use(gonumblas.Implementation{})
		t.Run("Dgetri", func(t *testing.T) { testlapack.DgetriTest(t, l) })
		t.Run("Dpotri", func(t *testing.T) { testlapack.DpotriTest(t, l) })
		t.Run("Dpotrs", func(t *testing.T) { testlapack.DpotrsTest(t, l) })
		t.Run("Dorgqr", func(t *testing.T) { testlapack.DorgqrTest(t, l) })
		if invariant.Race && !long() {
			return
		}
		t.Run("Dgetrs", func(t *testing.T) { testlapack.DgetrsTest(t, l) })
		t.Run("Dgeqrf", func(t *testing.T) { testlapack.DgeqrfTest(t, l) })
		if !long() {
			return
		}
		t.Run("Dgetrf", func(t *testing.T) { testlapack.DgetrfTest(t, l) })
		t.Run("Dpotrf", func(t *testing.T) { testlapack.DpotrfTest(t, l) })
		t.Run("Dormqr", func(t *testing.T) { testlapack.DormqrTest(t, l) })
	})
}

// problem is the arguments of a random call.
type problem struct {
	r          *rand.Rand
	special    bool // operands have a NaN, an infinity and zeros
	side       blas.Side
	uplo       blas.Uplo
	tA, tB     blas.Transpose
	diag       blas.Diag
	m, n, k    int
	ld         int // beyond the columns
	alpha      float64
	beta       float64
	a, b, c, d []float64
	ints       []int
}

func choose[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func newProblem(seed uint64, special bool) *problem {
	r := rand.New(rand.NewPCG(seed, 77))
	size := func() int {
		return choose(r, 0, 1, 2, 1+r.IntN(9), 1+r.IntN(30), 1+r.IntN(75))
	}
	p := &problem{
		r: r, special: special, side: choose(r, blas.Left, blas.Right), uplo: choose(r, blas.Upper, blas.Lower), tA: choose(r, blas.NoTrans, blas.Trans, blas.ConjTrans),
		tB: choose(r, blas.NoTrans, blas.Trans), diag: choose(r, blas.Unit, blas.NonUnit), m: size(), n: size(), k: size(), ld: r.IntN(4),
		alpha: choose(r, 0, 1, -0.7), beta: choose(r, 0, 1, 0.3),
	}
	const most = 80 * 80
	p.a, p.b, p.c, p.d = p.numbers(most), p.numbers(most), p.numbers(most), p.numbers(most)
	p.ints = make([]int, 80)
	return p
}

func (p *problem) numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = p.r.Float64() - 0.5
		if p.special && p.r.IntN(6) == 0 {
			x[i] = 0
		}
	}
	if p.special {
		x[p.r.IntN(60)], x[p.r.IntN(60)] = math.NaN(), math.Inf(1)
	}
	return x
}

// dominant makes the first n elements of the diagonal large, so that a triangle is regular.
func (p *problem) dominant(n, ld int) {
	for i := range n {
		p.a[i*ld+i] += 5
	}
}

// solvable makes the triangles of order n regular.
func (p *problem) solvable(n int) {
	p.dominant(n, 75+p.ld)
	if p.diag == blas.Unit {
		for i := range p.a {
			p.a[i] /= 16
		}
	}
}

func (p *problem) order() int {
	if p.side == blas.Left {
		return p.m
	}
	return p.n
}

// calls has one call of each method on a problem, which changes the problem.
var blasCalls = map[string]func(p *problem, b blas.Float64){
	"Dgemm": func(p *problem, b blas.Float64) {
		b.Dgemm(p.tA, p.tB, p.m, p.n, p.k, p.alpha, p.a, 76+p.ld, p.b, 75+p.ld, p.beta, p.c, 75+p.ld)
	},
	"Dsyrk": func(p *problem, b blas.Float64) {
		if p.beta == 0 { // gonum multiplies c with it all the same, for the lower triangle of a product with Trans
			p.c = make([]float64, len(p.c))
		}
		b.Dsyrk(p.uplo, p.tA, p.n, p.k, p.alpha, p.a, 75+p.ld, p.beta, p.c, 75+p.ld)
	},
	"Dsyr2k": func(p *problem, b blas.Float64) {
		b.Dsyr2k(p.uplo, p.tA, p.n, p.k, p.alpha, p.a, 75+p.ld, p.b, 76+p.ld, p.beta, p.c, 75+p.ld)
	},
	"Dsymm": func(p *problem, b blas.Float64) {
		b.Dsymm(p.side, p.uplo, p.m, p.n, p.alpha, p.a, 75+p.ld, p.b, 75+p.ld, p.beta, p.c, 75+p.ld)
	},
	"Dtrmm": func(p *problem, b blas.Float64) {
		b.Dtrmm(p.side, p.uplo, p.tA, p.diag, p.m, p.n, p.alpha, p.a, 75+p.ld, p.c, 75+p.ld)
	},
	"Dgemv": func(p *problem, b blas.Float64) {
		b.Dgemv(p.tA, p.m, p.n, p.alpha, p.a, 75+p.ld, p.b, 1+p.ld/2, p.beta, p.c, 1+p.ld/3)
	},
	"Dtrsv": func(p *problem, b blas.Float64) {
		p.solvable(p.n)
		b.Dtrsv(p.uplo, p.tA, p.diag, p.n, p.a, 75+p.ld, p.c, 1+p.ld/2)
	},
	"Dtrsm": func(p *problem, b blas.Float64) {
		p.solvable(p.order())
		b.Dtrsm(p.side, p.uplo, p.tA, p.diag, p.m, p.n, p.alpha, p.a, 75+p.ld, p.c, 75+p.ld)
	},
}

var lapackCalls = map[string]func(p *problem, l lapack.Float64){
	"Dgetrf": func(p *problem, l lapack.Float64) {
		p.d[0] = truth(l.Dgetrf(p.m, p.n, p.a, 75+p.ld, p.ints[:min(p.m, p.n)]))
	},
	"Dgetrs": func(p *problem, l lapack.Float64) {
		p.dominant(p.n, 75+p.ld)
		for i := range p.n {
			p.ints[i] = i + p.r.IntN(p.n-i)
		}
		l.Dgetrs(p.tA, p.n, p.k, p.a, 75+p.ld, p.ints[:p.n], p.c, 75+p.ld)
	},
	"Dgetri": func(p *problem, l lapack.Float64) {
		p.dominant(p.n, 75+p.ld)
		for i := range p.n {
			p.ints[i] = i + p.r.IntN(p.n-i)
		}
		p.d[0] = truth(l.Dgetri(p.n, p.a, 75+p.ld, p.ints[:p.n], p.b[:max(1, p.n)], max(1, p.n)))
		clear(p.b)
	},
	"Dpotri": func(p *problem, l lapack.Float64) {
		p.dominant(p.n, 75+p.ld)
		p.d[0] = truth(l.Dpotri(p.uplo, p.n, p.a, 75+p.ld))
	},
	"Dpotrf": func(p *problem, l lapack.Float64) {
		p.dominant(p.n, 75+p.ld)
		p.d[0] = truth(l.Dpotrf(p.uplo, p.n, p.a, 75+p.ld))
		if p.d[0] == 0 {
			clear(p.a) // means nothing
		}
	},
	"Dpotrs": func(p *problem, l lapack.Float64) {
		p.dominant(p.n, 75+p.ld)
		l.Dpotrs(p.uplo, p.n, p.k, p.a, 75+p.ld, p.c, 75+p.ld)
	},
	"Dgeqrf": func(p *problem, l lapack.Float64) {
		l.Dgeqrf(p.m, p.n, p.a, 75+p.ld, p.b[:min(p.m, p.n)], p.d[:max(1, p.n)], max(1, p.n))
		clear(p.d)
	},
	"Dormqr": func(p *problem, l lapack.Float64) {
		k := min(p.k, p.order())
		p.reflectors(p.order(), k)
		other := max(1, p.m+p.n-p.order())
		l.Dormqr(p.side, p.tB, p.m, p.n, k, p.a, 75+p.ld, p.b[:k], p.c, 75+p.ld, p.d[:other], other)
		clear(p.d)
	},
	"Dorgqr": func(p *problem, l lapack.Float64) {
		n := min(p.m, p.n)
		k := min(p.k, n)
		p.reflectors(p.m, k)
		l.Dorgqr(p.m, n, k, p.a, 75+p.ld, p.b[:k], p.d[:max(1, n)], max(1, n))
		clear(p.d)
	},
}

// reflectors makes k reflectors of a.
func (p *problem) reflectors(m, k int) {
	gonumlapack.Implementation{}.Dgeqr2(m, k, p.a, 75+p.ld, p.b[:k], p.d)
}

func truth(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// same returns an error unless the problems have the same numbers within rounding: the same
// NaNs and infinities, if exactly; otherwise at least those of want.
func same(got, want *problem, exactly bool) error {
	for name, x := range map[string][2][]float64{"a": {got.a, want.a}, "b": {got.b, want.b}, "c": {got.c, want.c}, "d": {got.d, want.d}} {
		for i, v := range x[1] {
			g := x[0][i]
			bad := !(math.Abs(g-v) <= 1e-10*(1+math.Abs(v)))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				bad = math.IsNaN(v) != math.IsNaN(g) || !math.IsNaN(v) && v != g
				if !exactly {
					bad = !math.IsNaN(g) && !math.IsInf(g, 0)
				}
			} else if !exactly && math.IsNaN(g) {
				bad = false
			}
			if bad {
				return fmt.Errorf("%s[%d] is %v, and by gonum %v (%d x %d x %d, %c %c %c %c %c)", name, i, g, v, want.m, want.n, want.k, want.side, want.uplo, want.tA, want.tB, want.diag)
			}
		}
	}
	for i, v := range want.ints {
		if got.ints[i] != v && exactly {
			return fmt.Errorf("pivot %d is %d, and by gonum %d", i, got.ints[i], v)
		}
	}
	return nil
}

func rounds() uint64 {
	switch {
	case long():
		return 3000
	case invariant.Race:
		return 20
	}
	return 60
}

// Random shapes, strides, transposes and special values: what gonum computes.
func TestAgainstGonum(t *testing.T) {
	each(t, func(t *testing.T, b *blasRoutines, l *lapackRoutines) {
		for seed := range rounds() {
			special := seed%3 == 0
			for name, call := range blasCalls {
				got, want := newProblem(seed, special), newProblem(seed, special)
				call(got, b)
				call(want, gonumblas.Implementation{})
				require.NoError(t, same(got, want, true), "%s, seed %d", name, seed)
			}
			for name, call := range lapackCalls {
				got, want := newProblem(seed, special), newProblem(seed, special)
				call(got, l)
				call(want, gonumlapack.Implementation{})
				exactly := !special || name == "Dgetrs" || name == "Dpotrs" || name == "Dgetri" || name == "Dpotri"
				if !exactly && name == "Dpotrf" && got.d[0] == 0 { // a NaN on the diagonal, which gonum has not multiplied with a zero
					continue
				}
				if !exactly && !slices.Equal(got.ints, want.ints) { // after a NaN, other rows are pivots
					require.True(t, slices.ContainsFunc(got.a, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }), "%s, seed %d", name, seed)
					continue
				}
				require.NoError(t, same(got, want, exactly), "%s, seed %d", name, seed)
			}
		}
	})
}

// wrong is kernels whose products are a little wrong.
type wrong struct{ kernels.Kernels }

func (w wrong) Dgemm(ta, tb kernels.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	w.Kernels.Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	if m > 0 && n > 0 {
		c[0] += 1e-6
	}
}

func (w wrong) Dtrsm(side kernels.Side, uplo kernels.UpLo, ta kernels.Transpose, diag kernels.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	w.Kernels.Dtrsm(side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb)
	b[0] += 1e-6
}

func (w wrong) Dgemv(ta kernels.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incx int, beta float64, y []float64, incy int) {
	w.Kernels.Dgemv(ta, m, n, alpha, a, lda, x, incx, beta, y, incy)
	if len(y) > 0 {
		y[0] += 1e-6
	}
}

func (w wrong) Dtrsv(uplo kernels.UpLo, ta kernels.Transpose, diag kernels.Diag, n int, a []float64, lda int, x []float64, incx int) {
	w.Kernels.Dtrsv(uplo, ta, diag, n, a, lda, x, incx)
	x[0] += 1e-6
}

// The negative control: every method is compared, and goes through the kernels.
func TestAgainstGonum_finds_wrong_kernels(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	b, l := blasWith(wrong{kernels.Portable()}), lapackWith(wrong{kernels.Portable()})
	b.sizes, l.sizes = all, all
	found := map[string]bool{}
	for seed := range uint64(60) {
		for name, call := range blasCalls {
			got, want := newProblem(seed, false), newProblem(seed, false)
			call(got, b)
			call(want, gonumblas.Implementation{})
			found[name] = found[name] || same(got, want, true) != nil
		}
		for name, call := range lapackCalls {
			got, want := newProblem(seed, false), newProblem(seed, false)
			call(got, l)
			call(want, gonumlapack.Implementation{})
			found[name] = found[name] || same(got, want, true) != nil
		}
	}
	for name, yes := range found {
		assert.True(t, yes, "%s: nothing noticed the wrong kernels", name)
	}
}

// message returns what a call panics with.
func message(call func()) (text any) {
	defer func() { text = recover() }()
	call()
	return nil
}

// Wrong arguments panic, with gonum's messages.
func TestPanics(t *testing.T) {
	b, l := BLAS(), LAPACK()
	gb, gl := blas.Float64(gonumblas.Implementation{}), lapack.Float64(gonumlapack.Implementation{})
	x := func(n int) []float64 { return make([]float64, n) }
	for name, call := range map[string]func(b blas.Float64, l lapack.Float64){
		"transpose": func(b blas.Float64, _ lapack.Float64) {
			b.Dgemm('x', blas.NoTrans, 30, 30, 30, 1, x(900), 30, x(900), 30, 0, x(900), 30)
		},
		"short a": func(b blas.Float64, _ lapack.Float64) {
			b.Dgemm(blas.NoTrans, blas.NoTrans, 30, 30, 30, 1, x(899), 30, x(900), 30, 0, x(900), 30)
		},
		"lda": func(b blas.Float64, _ lapack.Float64) {
			b.Dgemm(blas.NoTrans, blas.NoTrans, 30, 30, 30, 1, x(900), 29, x(900), 30, 0, x(900), 30)
		},
		"negative": func(b blas.Float64, _ lapack.Float64) {
			b.Dgemm(blas.NoTrans, blas.NoTrans, -30, 30, 30, 1, x(900), 30, x(900), 30, 0, x(900), 30)
		},
		"short c": func(b blas.Float64, _ lapack.Float64) {
			b.Dsyrk(blas.Upper, blas.NoTrans, 30, 30, 1, x(900), 30, 0, x(899), 30)
		},
		"uplo": func(b blas.Float64, _ lapack.Float64) {
			b.Dsyr2k('x', blas.NoTrans, 30, 30, 1, x(900), 30, x(900), 30, 0, x(900), 30)
		},
		"side": func(b blas.Float64, _ lapack.Float64) {
			b.Dtrsm('x', blas.Upper, blas.NoTrans, blas.Unit, 30, 30, 1, x(900), 30, x(900), 30)
		},
		"diag": func(b blas.Float64, _ lapack.Float64) {
			b.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, 'x', 30, 30, 1, x(900), 30, x(900), 30)
		},
		"gemv x": func(b blas.Float64, _ lapack.Float64) {
			b.Dgemv(blas.NoTrans, 90, 80, 1, x(7200), 80, x(79), 1, 0, x(90), 1)
		},
		"gemv inc": func(b blas.Float64, _ lapack.Float64) {
			b.Dgemv(blas.Trans, 90, 80, 1, x(7200), 80, x(90), 1, 0, x(80), 0)
		},
		"trsv x": func(b blas.Float64, _ lapack.Float64) {
			b.Dtrsv(blas.Upper, blas.NoTrans, blas.Unit, 80, x(6400), 80, x(79), 1)
		},
		"ldb": func(b blas.Float64, _ lapack.Float64) {
			b.Dsymm(blas.Left, blas.Upper, 30, 30, 1, x(900), 30, x(900), 29, 0, x(900), 30)
		},
		"getrf ipiv":  func(_ blas.Float64, l lapack.Float64) { l.Dgetrf(30, 30, x(900), 30, make([]int, 29)) },
		"getrf lda":   func(_ blas.Float64, l lapack.Float64) { l.Dgetrf(30, 30, x(900), 29, make([]int, 30)) },
		"getrs trans": func(_ blas.Float64, l lapack.Float64) { l.Dgetrs('x', 30, 30, x(900), 30, make([]int, 30), x(900), 30) },
		"getri ipiv":  func(_ blas.Float64, l lapack.Float64) { l.Dgetri(90, x(8100), 90, make([]int, 89), x(90), 90) },
		"getri lwork": func(_ blas.Float64, l lapack.Float64) { l.Dgetri(90, x(8100), 90, make([]int, 90), x(90), 89) },
		"potri uplo":  func(_ blas.Float64, l lapack.Float64) { l.Dpotri('x', 90, x(8100), 90) },
		"potri lda":   func(_ blas.Float64, l lapack.Float64) { l.Dpotri(blas.Upper, 90, x(8100), 89) },
		"potrf uplo":  func(_ blas.Float64, l lapack.Float64) { l.Dpotrf('x', 30, x(900), 30) },
		"potrs b":     func(_ blas.Float64, l lapack.Float64) { l.Dpotrs(blas.Upper, 30, 30, x(900), 30, x(899), 30) },
		"geqrf work":  func(_ blas.Float64, l lapack.Float64) { l.Dgeqrf(30, 30, x(900), 30, x(30), x(29), 30) },
		"geqrf lwork": func(_ blas.Float64, l lapack.Float64) { l.Dgeqrf(30, 30, x(900), 30, x(30), x(29), 29) },
		"geqrf tau":   func(_ blas.Float64, l lapack.Float64) { l.Dgeqrf(30, 30, x(900), 30, x(29), x(30), 30) },
		"ormqr side": func(_ blas.Float64, l lapack.Float64) {
			l.Dormqr('x', blas.Trans, 30, 30, 30, x(900), 30, x(30), x(900), 30, x(30), 30)
		},
		"ormqr k": func(_ blas.Float64, l lapack.Float64) {
			l.Dormqr(blas.Left, blas.Trans, 30, 30, 31, x(999), 31, x(31), x(900), 30, x(30), 30)
		},
		"orgqr n > m":  func(_ blas.Float64, l lapack.Float64) { l.Dorgqr(30, 31, 30, x(930), 31, x(30), x(31), 31) },
		"orgqr shorta": func(_ blas.Float64, l lapack.Float64) { l.Dorgqr(30, 30, 30, x(899), 30, x(30), x(30), 30) },
	} {
		want := message(func() { call(gb, gl) })
		require.NotNil(t, want, name)
		assert.Equal(t, want, message(func() { call(b, l) }), name)
	}
}

// Questions about workspace have gonum's answers.
func TestWorkspace(t *testing.T) {
	l, g := LAPACK(), gonumlapack.Implementation{}
	got, want := make([]float64, 1), make([]float64, 1)
	l.Dgeqrf(300, 200, nil, 200, nil, got, -1)
	g.Dgeqrf(300, 200, nil, 200, nil, want, -1)
	assert.Equal(t, want, got)
	l.Dormqr(blas.Left, blas.Trans, 300, 20, 200, nil, 200, nil, nil, 20, got, -1)
	g.Dormqr(blas.Left, blas.Trans, 300, 20, 200, nil, 200, nil, nil, 20, want, -1)
	assert.Equal(t, want, got)
	l.Dorgqr(300, 200, 200, nil, 200, nil, got, -1)
	g.Dorgqr(300, 200, 200, nil, 200, nil, want, -1)
	assert.Equal(t, want, got)
}

func TestUse(t *testing.T) {
	before := blas64.Implementation()
	undo := Use()
	assert.IsType(t, &blasRoutines{}, blas64.Implementation())
	again := Use()
	again()
	assert.IsType(t, &blasRoutines{}, blas64.Implementation(), "the first Use still holds")
	a := mat.NewDense(90, 90, newProblem(1, false).numbers(8100))
	var lu mat.LU
	lu.Factorize(a)
	var x, back mat.Dense
	require.NoError(t, lu.SolveTo(&x, false, a))
	back.Sub(&x, mat.NewDiagDense(90, ones(90)))
	assert.Less(t, mat.Norm(&back, 2), 1e-8)
	undo()
	assert.Equal(t, before, blas64.Implementation())
	assert.Equal(t, gonumlapack.Implementation{}, installed)
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// Calls from many goroutines have the result of one alone, and leave no core claimed.
func TestGoroutines(t *testing.T) {
	each(t, func(t *testing.T, b *blasRoutines, l *lapackRoutines) {
		const n = 70
		a := newProblem(5, false).numbers(n * n)
		want := append([]float64(nil), a...)
		pivots := make([]int, n)
		l.Dgetrf(n, n, want, n, pivots)
		free := osthread.FreeCores()
		var wg sync.WaitGroup
		results := make([][]float64, 8)
		for g := range results {
			wg.Go(func() {
				for range 5 {
					results[g] = append(results[g][:0], a...)
					l.Dgetrf(n, n, results[g], n, make([]int, n))
				}
			})
		}
		wg.Wait()
		for _, r := range results {
			assert.Equal(t, want, r)
		}
		assert.Equal(t, free, osthread.FreeCores())
	})
}

// While all cores are claimed, a call computes where it is, and where they are free on all.
func TestCores(t *testing.T) {
	if osthread.NumCores() < 2 {
		t.Skip("one core: calls compute where they are")
	}
	c := newComputer(kernels.Portable())
	claim := osthread.ClaimCores(osthread.FreeCores())
	assert.ErrorIs(t, c.onFreeCores(nil), errAlone)
	claim.Release()
	t.Setenv("WEFT_WORKERS", "1")
	assert.ErrorIs(t, c.onFreeCores(nil), errAlone)
}
