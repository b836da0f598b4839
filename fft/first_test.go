package fft

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A range of a plan's pencils gets the same results as in a transform of all, and the other
// pencils do not change; also with an output that bypasses the caches.
func TestPlan_First(t *testing.T) {
	const n, count = 48, 20
	for _, side := range []Layout{Interleaved(count), Contiguous(n)} {
		for _, option := range []Option{Stream(false), Stream(true)} {
			p, err := NewMany(n, count, side, side, option)
			require.NoError(t, err)
			x := numbers(n*count, 1)
			want, got := slices.Clone(x), slices.Clone(x)
			require.NoError(t, p.Inverse(want, want))
			from, some := 7, 9
			require.NoError(t, p.First(some, got[from*side.Dist:], got[from*side.Dist:], true))
			for b := range count {
				for i := range n {
					at := i*side.Stride + b*side.Dist
					if b >= from && b < from+some {
						require.Equal(t, want[at], got[at])
					} else {
						require.Equal(t, x[at], got[at])
					}
				}
			}
		}
	}
}

func TestPlan_First_bad_input(t *testing.T) {
	p, err := NewMany(4, 3, Contiguous(4), Contiguous(4))
	require.NoError(t, err)
	x := make([]complex128, 12)
	assert.ErrorContains(t, p.First(4, x, x, false), "first 4 transforms of a plan for 3")
	assert.ErrorContains(t, p.First(-1, x, x, false), "first -1 transforms")
	assert.ErrorContains(t, p.First(2, x[:7], x, false), "output has 7 numbers: 2 transforms of length 4 need 8")
	assert.NoError(t, p.First(0, nil, nil, false))
}
