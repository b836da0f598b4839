package mg

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbers returns n of them, the same for the same seed.
func numbers(n int, seed uint64) []float64 {
	r, x := rand.New(rand.NewPCG(seed, 0)), make([]float64, n)
	for i := range x {
		x[i] = r.Float64() - 0.5
	}
	return x
}

// Rows of every length are the same bits with and without vector instructions, and nothing beyond them
// is written.
func TestRows(t *testing.T) {
	for n := 1; n < 40; n++ {
		x := func(seed uint64) []float64 { return numbers(n+2, seed) }
		a, b, c, d := x(1), x(2), x(3), x(4)
		for name, f := range map[string][2]func(y []float64){
			"add":      {func(y []float64) { addRows(y[:n+2], a, b, c, d) }, func(y []float64) { addPortable(y[:n+2], a, b, c, d) }},
			"residual": {func(y []float64) { residualRow(y[:n+2], a, b, c, d, &poisson) }, func(y []float64) { residualPortable(y[:n+2], a, b, c, d, &poisson) }},
			"in place": {func(y []float64) { residualRow(y[:n+2], y[:n+2], b, c, d, &poisson) }, func(y []float64) { residualPortable(y[:n+2], y[:n+2], b, c, d, &poisson) }},
			"smooth":   {func(y []float64) { smoothRow(y[:n+2], a, b, c, &small) }, func(y []float64) { smoothPortable(y[:n+2], a, b, c, &small) }},
			"interpolate": {func(y []float64) { interpolateRow(y[:n+2], a[:n/2+2]) },
				func(y []float64) { interpolatePortable(y[:n+2], a[:n/2+2]) }},
			"interpolate, one point": {func(y []float64) { interpolateRow(y[:n+1], a[:n/2+1]) },
				func(y []float64) { interpolatePortable(y[:n+1], a[:n/2+1]) }},
		} {
			got, want := numbers(n+8, 5), numbers(n+8, 5)
			f[0](got)
			f[1](want)
			require.Equal(t, want, got, "%s, %d points", name, n)
		}
	}
}

// A point of each row by its definition.
func TestRows_definition(t *testing.T) {
	const n = 9
	y, a, b, c, d := numbers(n, 1), numbers(n, 2), numbers(n, 3), numbers(n, 4), numbers(n, 5)
	at := func(f func(y []float64), i int) float64 {
		to := append([]float64(nil), y...)
		f(to)
		return to[i]
	}
	for i := 1; i < n-1; i++ {
		require.InDelta(t, a[i]+b[i]+c[i]+d[i], at(func(y []float64) { addRows(y, a, b, c, d) }, i), 1e-14)
		require.InDelta(t, a[i]+8./3*b[i]-(d[i]+c[i-1]+c[i+1])/6-(d[i-1]+d[i+1])/12,
			at(func(y []float64) { residualRow(y, a, b, c, d, &poisson) }, i), 1e-14)
		require.InDelta(t, y[i]-3./8*a[i]+(a[i-1]+a[i+1]+b[i])/32-(c[i]+b[i-1]+b[i+1])/64,
			at(func(y []float64) { smoothRow(y, a, b, c, &small) }, i), 1e-14)
		require.InDelta(t, y[i]+(a[i/2]+a[(i+1)/2])/2, at(func(y []float64) { interpolateRow(y, a) }, i), 1e-14)
	}
}
