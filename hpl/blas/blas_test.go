package blas_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/blas/blastest"
	"github.com/weft-hpc/weft/internal/invariant"
)

// each runs a test with every implementation that runs on this processor.
func each(t *testing.T, test func(t *testing.T, k blas.Kernels)) {
	for _, name := range blas.Names() {
		k, err := blas.Named(name)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { test(t, k) })
	}
}

func TestConformance(t *testing.T) { each(t, blastest.Run) }

func TestNames(t *testing.T) {
	names := blas.Names()
	assert.Equal(t, "portable", names[len(names)-1])
	assert.Equal(t, names[0], blas.Default().Name())
	auto, err := blas.Named("auto")
	require.NoError(t, err)
	assert.Equal(t, blas.Default(), auto)
	if invariant.Race {
		assert.Equal(t, []string{"portable"}, names, "the race detector does not see assembly")
	}
	_, err = blas.Named("sse5")
	assert.ErrorContains(t, err, `no kernels called "sse5"`)
	assert.ErrorContains(t, err, "portable")
}

func TestRegister_refuses_a_taken_name(t *testing.T) {
	assert.PanicsWithValue(t, `blas: Register: there are kernels called "portable" already`, func() { blas.Register(blas.Portable()) })
}

func TestWrongArguments(t *testing.T) {
	x := make([]float64, 100)
	each(t, func(t *testing.T, k blas.Kernels) {
		for says, call := range map[string]func(){
			"blas: Dgemm: lda is 4, and matrix a has 5 rows":         func() { k.Dgemm(false, false, 5, 5, 5, 1, x, 4, x, 5, 1, x, 5) },
			"blas: Dgemm: c has 10 elements":                         func() { k.Dgemm(false, false, 5, 5, 5, 1, x, 5, x, 5, 1, x[:10], 5) },
			"blas: Dgemm: matrix a is -1 x 5":                        func() { k.Dgemm(false, false, -1, 5, 5, 1, x, 5, x, 5, 1, x, 5) },
			"blas: Dgemm: lda is 0":                                  func() { k.Dgemm(false, false, 0, 5, 5, 1, x, 0, x, 5, 1, x, 5) },
			"blas: Dtrsm: a has 24 elements":                         func() { k.Dtrsm(false, false, false, false, 5, 2, 1, x[:24], 5, x, 5) },
			"blas: PackA: packed A has 24 elements":                  func() { k.PackA(x[:24], false, 25, 1, x, 25) },
			"blas: GemmPacked: packed B has 3 elements":              func() { k.GemmPacked(1, 1, 20, 1, make([]float64, 480), x[:3], x, 1) },
			"blas: SolvePacked: packed Triangle has 1 elements":      func() { k.SolvePacked(5, 5, x[:1], x) },
			"blas: PackTriangle: op(A) is upper triangular":          func() { k.PackTriangle(make([]float64, 2000), true, false, true, 5, x, 5) },
			"blas: Idamax: incx is 0":                                func() { k.Idamax(5, x, 0) },
			"blas: Daxpy: y has 4 elements":                          func() { k.Daxpy(5, 1, x, 1, x[:4], 1) },
			"blas: GatherRows: rows[0] is -1, and rows go from 0 to": func() { k.GatherRows(8, x, 1, []int{-1}, x) },
			"blas: ScatterRows: rows[1] is 9, and rows go from 0 to": func() { k.ScatterRows(2, x, []int{1, 9}, x, 9) },
			"blas: Dlaswp: pivots[1] is 9, and rows go from 0 to":    func() { k.Dlaswp(2, x, 9, []int{1, 9}, false) },
			"blas: Dlatcpy: ldb is 2":                                func() { k.Dlatcpy(3, 4, x, 4, x, 2) },
		} {
			assert.Contains(t, panicText(call), says)
		}
	})
}

func panicText(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}

// One implementation gives the same bits, whatever else runs and however C is cut.
func TestProducts_at_the_same_time(t *testing.T) {
	const m, n, depth = 120, 64, 50
	each(t, func(t *testing.T, k blas.Kernels) {
		a, b := numbers(m*depth), numbers(depth*n)
		results := make([][]float64, 8)
		var wg sync.WaitGroup
		for g := range results {
			results[g] = make([]float64, m*n)
			wg.Go(func() {
				for j := 0; j < n; j += g + 1 {
					k.Dgemm(false, false, m, min(g+1, n-j), depth, -1, a, m, b[j*depth:], depth, 1, results[g][j*m:], m)
				}
			})
		}
		wg.Wait()
		for _, r := range results[1:] {
			require.Equal(t, results[0], r)
		}
	})
}

func numbers(n int) []float64 {
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64() - 0.5
	}
	return x
}

// A collection stops the world; kernels must let it.
func TestCollectionsGoOnMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		const n = 150
		a, c := numbers(n*n), make([]float64, n*n)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					k.Dgemm(false, true, n, n, n, 1, a, n, a, n, 0, c, n)
				}
			}
		})
		for range 5 {
			runtime.GC()
		}
		close(stop)
		wg.Wait()
	})
}

func TestAlloc(t *testing.T) {
	for _, n := range []int{1, 511, 512, 513, 1 << 20} {
		x, err := blas.Alloc(n)
		require.NoError(t, err)
		require.Len(t, x, n)
		assert.Zero(t, x[n-1])
		x[0], x[n-1] = 1, 2
		require.NoError(t, blas.Free(x))
	}
	for _, n := range []int{0, -1, math.MaxInt} {
		_, err := blas.Alloc(n)
		assert.ErrorContains(t, err, "blas: allocate")
	}
	assert.NoError(t, blas.Free(nil))
	if runtime.GOOS == "linux" && !invariant.Race {
		assert.ErrorContains(t, blas.Free(make([]float64, 1024)), "blas: free 1024 numbers")
	}
}

func TestNothingIsAllocatedPerCall(t *testing.T) {
	each(t, func(t *testing.T, k blas.Kernels) {
		const n = 60
		a, b, c := numbers(n*n), numbers(n*n), make([]float64, n*n)
		assert.Zero(t, testing.AllocsPerRun(20, func() {
			k.Dgemm(false, false, n, n, n, -1, a, n, b, n, 1, c, n)
			k.Dtrsm(false, false, false, true, n, n, 1, a, n, c, n)
			k.Dgemv(false, n, n, 1, a, n, b, n, 0, c, 1)
			k.Dger(n, n, 1, a, 1, b, n, c, n)
			k.Idamax(n, a, 1)
		}))
	})
}

// More exchanges than one call in assembly does, some of them with rows that are exchanged later, and back.
func TestDlaswp_many(t *testing.T) {
	const rows, pivots, columns, lda = 5500, 5000, 5, 5501
	r := rand.New(rand.NewPCG(3, 3))
	to := make([]int, pivots)
	for i := range to {
		to[i] = i + r.IntN(rows-i)
	}
	before := make([]float64, lda*columns)
	for i := range before {
		before[i] = float64(i)
	}
	want := slices.Clone(before)
	for i, p := range to {
		for j := range columns {
			want[i+j*lda], want[p+j*lda] = want[p+j*lda], want[i+j*lda]
		}
	}
	each(t, func(t *testing.T, k blas.Kernels) {
		got := slices.Clone(before)
		k.Dlaswp(columns, got, lda, to, false)
		assert.Equal(t, want, got)
		k.Dlaswp(columns, got, lda, to, true)
		assert.Equal(t, before, got)
	})
}

// So with rows that are copied, some of them twice.
func TestGatherRows_many(t *testing.T) {
	const rows, columns, lda = 900, 19, 901
	r := rand.New(rand.NewPCG(4, 4))
	from, order := make([]int, rows), r.Perm(rows)
	for i := range from {
		from[i] = r.IntN(rows)
	}
	a := make([]float64, lda*columns)
	for i := range a {
		a[i] = float64(i)
	}
	each(t, func(t *testing.T, k blas.Kernels) {
		k.GatherRows(0, nil, 1, order, nil) // a process without columns
		k.ScatterRows(0, nil, order, nil, 1)
		w, to := make([]float64, rows*columns), make([]float64, len(a))
		k.GatherRows(columns, a, lda, from, w)
		k.ScatterRows(columns, w, order, to, lda)
		for i := range rows {
			for j := range columns {
				require.Equal(t, a[from[i]+j*lda], w[i*columns+j])
				require.Equal(t, w[i*columns+j], to[order[i]+j*lda])
			}
		}
	})
}
