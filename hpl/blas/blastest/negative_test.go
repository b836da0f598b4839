package blastest

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
)

// recorder takes the findings of a case.
type recorder struct{ found []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

// broken is the portable implementation with one mistake.
type broken struct {
	blas.Kernels
	mistake string
}

func (b broken) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, x []float64, ldb int, beta float64, c []float64, ldc int) {
	if b.mistake == "reads C" && beta == 0 {
		beta = math.SmallestNonzeroFloat64
	}
	b.Kernels.Dgemm(ta, tb, m, n, k, alpha, a, lda, x, ldb, beta, c, ldc)
	switch {
	case m == 0 || n == 0:
	case b.mistake == "last element":
		c[m-1+(n-1)*ldc]++
	case b.mistake == "writes between columns" && n > 1 && ldc > m:
		c[m] = 0
	case b.mistake == "writes before":
		*(*float64)(unsafe.Add(unsafe.Pointer(&c[0]), -8)) = 1
	}
}

func (b broken) Dtrsm(side blas.Side, uplo blas.UpLo, ta blas.Transpose, diag blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldb int) {
	if b.mistake == "diagonal" {
		diag = blas.NonUnit
	}
	b.Kernels.Dtrsm(side, uplo, ta, diag, m, n, alpha, a, lda, x, ldb)
}

func (b broken) Idamax(n int, x []float64, incx int) int {
	i := b.Kernels.Idamax(n, x, incx)
	for j := n - 1; b.mistake == "last of equals" && j > i; j-- {
		if math.Abs(x[j*incx]) == math.Abs(x[i*incx]) {
			return j
		}
	}
	return i
}

func (b broken) Dlaswp(n int, a []float64, lda int, pivots []int, back bool) {
	if b.mistake == "dropped exchange" && len(pivots) > 3 {
		pivots = pivots[:len(pivots)-1]
	}
	b.Kernels.Dlaswp(n, a, lda, pivots, back && b.mistake != "wrong order")
}

func (b broken) GatherRows(n int, a []float64, lda int, rows []int, w []float64) {
	if b.mistake == "gathers one row less" && len(rows) > 3 {
		rows = rows[:len(rows)-1]
	}
	b.Kernels.GatherRows(n, a, lda, rows, w)
}

func (b broken) ScatterRows(n int, w []float64, rows []int, a []float64, lda int) {
	if b.mistake == "scatters to the next row" && len(rows) > 3 {
		rows = append(slices.Clone(rows[1:]), rows[0])
	}
	b.Kernels.ScatterRows(n, w, rows, a, lda)
}

func (b broken) PackA(dst []float64, ta blas.Transpose, m, k int, a []float64, lda int) {
	b.Kernels.PackA(dst, ta, m, k, a, lda)
	if b.mistake == "packs a wrong number" && m > 0 && k > 0 {
		dst[0]++
	}
}

// The negative controls: the suite must find the mistake of each.
func TestSuiteFindsMistakes(t *testing.T) {
	for mistake, in := range map[string]string{
		"last element": "dgemm", "writes between columns": "dgemm", "writes before": "dgemm", "reads C": "dgemm/special",
		"diagonal": "dtrsm", "last of equals": "idamax", "dropped exchange": "dlaswp", "wrong order": "dlaswp",
		"packs a wrong number": "packed", "gathers one row less": "rows", "scatters to the next row": "rows",
	} {
		for _, c := range Cases() {
			if c.Name == in {
				r := &recorder{}
				c.Check(r, broken{blas.Portable(), mistake})
				assert.NotEmpty(t, r.found, "%s, in %s", mistake, in)
			}
		}
	}
}

func TestSuiteAcceptsNoMistake(t *testing.T) {
	for _, c := range Cases() {
		r := &recorder{}
		c.Check(r, broken{blas.Portable(), "none"})
		assert.Empty(t, r.found, c.Name)
	}
}

// The page behind an operand cannot be read.
func TestGuardPage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("guard pages are for Linux: run this test there")
	}
	g := newGuarded(3)
	defer g.free()
	g.x[2] = 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	require.Panics(t, func() {
		sink = *(*float64)(unsafe.Add(unsafe.Pointer(&g.x[2]), 8))
	})
}

var sink float64
