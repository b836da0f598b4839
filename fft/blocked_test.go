package fft

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/codelet"
)

// vectorSets are the kernels that can transform a pencil in two sweeps.
func vectorSets() []*codelet.Set {
	return slices.DeleteFunc(codelet.Sets(), func(s *codelet.Set) bool { return s.Lanes() == 1 })
}

// Two sweeps give the transform by its definition, for lengths with all kinds of factors and
// with positions that do not fill vectors, in place or not, in both directions.
func TestBlocked(t *testing.T) {
	for _, set := range vectorSets() {
		for _, n := range []int{64, 144, 210, 225, 420, 1001, 1155, 1350, 2048, 2310, 4096, 5005} {
			b := halved(n, set)
			if b == nil {
				continue
			}
			checkBlocked(t, b, fmt.Sprint(set, " ", n))
		}
	}
}

func checkBlocked(t *testing.T, b *blocked, name string) {
	t.Helper()
	s := &smooth{n: b.n, set: b.set, blocks: b}
	ws := s.newWorkspace(1)
	x := numbers(b.n, 1)
	for _, inverse := range []bool{false, true} {
		want, y := direct(x, inverse), canaries(b.n+1)
		b.transform(y, x, inverse, false, ws)
		require.Less(t, wrong(y[:b.n], want), tolerance, name)
		require.Equal(t, canary, y[b.n], name)
		place := slices.Clone(x)
		b.transform(place, place, inverse, false, ws)
		require.True(t, slices.Equal(place, y[:b.n]), "%s in place", name)
	}
}

// The negative control: every table of factors matters.
func TestBlocked_wrong_twiddle_is_found(t *testing.T) {
	for _, set := range vectorSets() {
		for _, n := range []int{1155, 4096, 5005} {
			b := halved(n, set)
			s := &smooth{n: n, set: set, blocks: b}
			x, y, ws := numbers(n, 1), make([]complex128, n), s.newWorkspace(1)
			want := direct(x, false)
			t1 := b.tablesOf(false)
			for i, pass := range append(slices.Clone(t1.passes), t1.rest) {
				if len(pass) == 0 {
					continue
				}
				pass[len(pass)/2] += 1e-9
				b.transform(y, x, false, false, ws)
				pass[len(pass)/2] -= 1e-9
				require.Greater(t, wrong(y, want), 10*tolerance, "%v %d table %d", set, n, i)
			}
		}
	}
}

// Lengths of a plan that are transformed in two sweeps, and the convolutions that use them.
func TestPlan_two_sweeps(t *testing.T) {
	for _, set := range vectorSets() {
		for _, n := range []int{4096, 6144} {
			pencils, results := problem(n, 1)
			checkPlan(t, pencils, results, Contiguous(n), Contiguous(n), Kernels(set))
		}
		narrow := set.Lanes() == 2
		require.Equal(t, !narrow, newSmooth(4096, set).blocks != nil, set)
		require.Equal(t, narrow, newSmooth(1<<17, set).blocks != nil, set)
		require.Nil(t, newSmooth(1000, set).blocks, set)
	}
}
