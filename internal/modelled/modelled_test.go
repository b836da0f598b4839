package modelled

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/osthread"
)

var rates = cluster.Kernels{GFlops: 10, Efficiency: 0.5, Half: 16, Memory: 2, Cache: 1, Cached: 8, Line: 1}

// charged returns how long calls take.
func charged(t *testing.T, calls func()) (took time.Duration) {
	s, err := osthread.Simulate(osthread.Simulation{}, func() { calls(); osthread.Settle() })
	require.NoError(t, err)
	return s.Elapsed
}

// product multiplies 1000 x 16 and 16 x 100 once.
func product(k blas.Kernels) { k.GemmPacked(1000, 100, 16, -1, nil, nil, nil, 0) }

func TestProduct(t *testing.T) {
	k := New(rates)
	want := 2e-9 * 1000 * 100 * 16 / (10 * 0.5 / 2) // half of the rate at a depth of half
	assert.InDelta(t, want, charged(t, func() { product(k) }).Seconds(), 1e-9)
	r := rates
	r.PackEfficiency, r.PackHalf = 0.25, 0
	packs := charged(t, func() { New(r).Dgemm(blas.NoTrans, blas.NoTrans, 1000, 100, 16, 1, nil, 0, nil, 0, 1, nil, 0) })
	assert.InDelta(t, 2e-9*1000*100*16/(10*0.25)*32/16, packs.Seconds(), 1e-9, "half is the default of pack_half")
	r.SolveHalf = 48
	assert.InDelta(t, 1e-9*16*16*100/(10*0.5/4), charged(t, func() { New(r).SolvePacked(16, 100, nil, nil) }).Seconds(), 1e-9)
}

// The times of equal products differ, their mean is that without a spread, and a second run has
// the same times.
func TestSpread(t *testing.T) {
	const products = 1000
	r := rates
	r.Spread = 0.1
	times := func() (all []time.Duration, sum time.Duration) {
		k := New(r)
		for range products {
			d := charged(t, func() { product(k) })
			all, sum = append(all, d), sum+d
		}
		return all, sum
	}
	first, sum := times()
	second, _ := times()
	assert.Equal(t, first, second)
	assert.NotEqual(t, first[0], first[1])
	alone := charged(t, func() { product(New(rates)) })
	assert.InEpsilon(t, float64(alone)*products, float64(sum), 0.02)
	outside := 0
	for _, d := range first {
		if d < alone*9/10 || d > alone*11/10 {
			outside++
		}
	}
	assert.InDelta(t, 0.317, float64(outside)/products, 0.05, "beyond one standard deviation")
}

// Rows of a matrix take longer the less of it is in a cache.
func TestRows(t *testing.T) {
	r := rates
	r.Shared, r.LineMemory, r.Row = 8, 5, 3
	k := New(r)
	for _, x := range []struct {
		elements int
		want     float64 // ns of an element
	}{{1e6 / 8, 1}, {1e6, 1}, {2e6, 3}, {8e6, 4.5}} {
		a, err := k.Reserve(x.elements, false)
		require.NoError(t, err)
		took := charged(t, func() { k.GatherRows(100, a[x.elements/2:], 1000, make([]int, 10), nil) })
		assert.InEpsilon(t, x.want*1000, float64(took), 0.02, "%d elements", x.elements)
		took = charged(t, func() { k.Dcopy(100, a, 1000, a, 1000) })
		assert.InEpsilon(t, 3*200, float64(took), 0.02)
	}
	took := charged(t, func() { k.GatherRows(100, make([]float64, 5), 1000, make([]int, 10), nil) })
	assert.InEpsilon(t, 1000, float64(took), 0.02, "memory of nobody is in the cache")
}

// Elements that are written to rows, and those that are exchanged, take multiples of the time of
// those that are read; the same without factors.
func TestRows_factors(t *testing.T) {
	took := func(r cluster.Kernels) (times [3]float64) {
		k := New(r)
		a, err := k.Reserve(1e5, false)
		require.NoError(t, err)
		rows := make([]int, 10)
		for i, move := range []func(){
			func() { k.GatherRows(100, a, 1000, rows, nil) },
			func() { k.ScatterRows(100, nil, rows, a, 1000) },
			func() { k.Dlaswp(100, a, 1000, rows, false) },
		} {
			times[i] = float64(charged(t, move))
		}
		return times
	}
	plain := took(rates)
	assert.InEpsilonSlice(t, []float64{1000, 1000, 2000}, plain[:], 0.01)
	r := rates
	r.Scatter, r.Exchange = 1.5, 0.6
	factors := took(r)
	assert.InEpsilonSlice(t, []float64{1000, 1500, 1200}, factors[:], 0.01)
}

// What fits into the cache of transforms takes no time.
func TestTransfer(t *testing.T) {
	r := rates
	r.FFT, r.FFTCache, r.FFTMemory = 1, 2, 4
	m := (&transforms{r.Complete()})
	assert.Zero(t, charged(t, func() { m.Transfer(1e6, 2e6) }))
	assert.InEpsilon(t, 0.5e6/4, float64(charged(t, func() { m.Transfer(1e6, 4e6) })), 0.01)
	m = &transforms{rates.Complete()}
	assert.InEpsilon(t, 0.75e6/2, float64(charged(t, func() { m.Transfer(1e6, 4e6) })), 0.01, "cache and memory are the defaults")
}

// What another core has written, or read, takes longer than what is in the cache; without a rate it does not.
func TestFetch(t *testing.T) {
	assert.Zero(t, charged(t, func() { New(rates).Fetch(1000) }))
	r := rates
	r.Handed = 2
	assert.InEpsilon(t, 8000/2-8000/8, float64(charged(t, func() { New(r).Fetch(1000) })), 0.01)
	assert.InEpsilon(t, 8000/2-8000/8, float64(charged(t, func() { New(r).Claim(1000) })), 0.01, "handed is the default of claimed")
	r.Claimed = 1
	assert.InEpsilon(t, 8000-8000/8, float64(charged(t, func() { New(r).Claim(1000) })), 0.01)
}
