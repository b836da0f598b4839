package fft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/invariant"
)

// Lengths with small factors and others use Bluestein's method for the others only, and agree
// with the definition in all layouts.
func TestMixed(t *testing.T) {
	if invariant.Race {
		t.Skip("one goroutine")
	}
	for _, set := range codelet.Sets() {
		for _, n := range []int{34, 17 * 13, 19 * 16, 289 * 3, 2 * 2053} {
			x, ok := lineOf(n, set).(*mixed)
			require.True(t, ok, n)
			require.Equal(t, n, x.q*x.m)
			require.Equal(t, 1, rough(x.m))
			for _, count := range []int{1, 9} {
				if count > 1 && n > 300 {
					continue
				}
				pencils, results := problem(n, count)
				for _, l := range []Layout{Contiguous(n), Interleaved(count), {2, 2 * n}, {3 * count, 3}} {
					checkPlan(t, pencils, results, l, l, Kernels(set))
				}
			}
		}
	}
}

func TestRough(t *testing.T) {
	for n, want := range map[int]int{1: 1, 30030: 1, 17: 17, 34: 17, 17 * 17 * 64: 289, 100003: 100003, 2 * 100003: 100003} {
		require.Equal(t, want, rough(n), n)
	}
}

// The negative control: a wrong factor between the two parts is seen.
func TestMixed_wrong_twiddle_is_found(t *testing.T) {
	for _, set := range codelet.Sets() {
		p, err := New(34, Kernels(set))
		require.NoError(t, err)
		x, y := numbers(34, 1), make([]complex128, 34)
		want := direct(x, false)
		require.NoError(t, p.Forward(y, x))
		require.Less(t, wrong(y, want), tolerance)
		p.line.(*mixed).twiddle(false)[20] += 1e-9
		require.NoError(t, p.Forward(y, x))
		require.Greater(t, wrong(y, want), 10*tolerance)
	}
}
