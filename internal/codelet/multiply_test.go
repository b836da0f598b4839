package codelet

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMultiply(t *testing.T) {
	for _, s := range Sets() {
		for _, n := range []int{0, 1, 3, 7, 16, 17, 100, callPoints + 37} {
			x, f := numbers(n+1, 1)[1:], numbers(n, 2)
			want := canaries(n + 2)
			for i := range f {
				want[i] = x[i] * f[i]
			}
			got := canaries(n + 2)
			s.Multiply(got, x, f, new(Pass))
			require.Less(t, distance(got, want), 1e-15, "%v %d", s, n)
			s.Multiply(x, x, f, new(Pass))
			require.True(t, slices.Equal(got[:n], x), "%v %d in place", s, n)
		}
		require.Panics(t, func() { s.Multiply(make([]complex128, 3), make([]complex128, 4), make([]complex128, 4), new(Pass)) })
	}
}

func TestMultiplyRows(t *testing.T) {
	for _, s := range Sets() {
		for _, size := range [][2]int{{1, 1}, {4, 4}, {5, 3}, {13, 7}, {8, 16}, {callPoints/16 + 9, 17}} {
			rows, w := size[0], size[1]
			for _, gap := range []int{0, 3} {
				x, f := numbers(rows*(w+gap), 1), numbers(rows, 2)
				want := canaries(rows*(w+2*gap) + 1)
				for j := range rows {
					for i := range w {
						want[j*(w+2*gap)+i] = x[j*(w+gap)+i] * f[j]
					}
				}
				got := canaries(len(want))
				s.MultiplyRows(got, w+2*gap, x, w+gap, w, f, new(Pass))
				require.Less(t, distance(got, want), 1e-15, "%v %v gap %d", s, size, gap)
			}
		}
		x := make([]complex128, 8)
		require.Panics(t, func() { s.MultiplyRows(x[:7], 4, x, 4, 4, x[:2], new(Pass)) })
	}
}
