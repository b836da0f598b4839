package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

// bestSplit tries all factors: it returns the descending split of n into k factors with the
// smallest largest factor, then the smallest second, and so on.
func bestSplit(n, k int) (best []int) {
	var try func(n int, sofar []int)
	try = func(n int, sofar []int) {
		if len(sofar) == k {
			if n == 1 && slices.IsSortedFunc(sofar, func(a, b int) int { return b - a }) && (best == nil || slices.Compare(sofar, best) < 0) {
				best = slices.Clone(sofar)
			}
			return
		}
		for d := 1; d <= n; d++ {
			if n%d == 0 {
				try(n/d, append(sofar, d))
			}
		}
	}
	try(n, nil)
	return best
}

func TestDims(t *testing.T) {
	for n := 1; n <= 60; n++ {
		for k := 1; k <= 4; k++ {
			got, err := mpi.Dims(n, make([]int, k)...)
			require.NoError(t, err)
			require.Equal(t, bestSplit(n, k), got, "%d ranks, %d dimensions", n, k)
		}
	}
	got, err := mpi.Dims(24, 0, 2, 0)
	require.NoError(t, err)
	require.Equal(t, []int{4, 2, 3}, got)
	got, err = mpi.Dims(6, 3, 2)
	require.NoError(t, err)
	require.Equal(t, []int{3, 2}, got)
	for _, bad := range [][]int{{7, 2, 0}, {6, -1, 0}, {6, 2, 2}, {6}, {0, 0}, {-4, 0}} {
		_, err := mpi.Dims(bad[0], bad[1:]...)
		require.ErrorIs(t, err, mpi.ErrCount, bad)
	}
}

// coordinates by counting up, the last one fastest.
func coordinates(dims []int) (all [][]int) {
	all = [][]int{nil}
	for _, d := range dims {
		var next [][]int
		for _, x := range all {
			for k := range d {
				next = append(next, append(slices.Clone(x), k))
			}
		}
		all = next
	}
	return all
}

func TestCartAgainstBruteForce(t *testing.T) {
	for _, c := range []struct {
		dims     []int
		periodic []bool
	}{{[]int{6}, nil}, {[]int{2, 3}, []bool{true, false}}, {[]int{2, 1, 2}, []bool{false, true, true}}, {[]int{3, 2}, []bool{true, true}}} {
		together(t, 6, []string{"here"}, func(world *mpi.Comm) error {
			all := coordinates(c.dims)
			g, err := world.Cart(c.dims, c.periodic)
			if err != nil {
				return err
			}
			if world.Rank() >= len(all) {
				return want(true, g == nil, "not on the grid")
			}
			return errors.Join(want(len(all), g.Size(), "size"), want(world.Rank(), g.Rank(), "rank"), want(c.dims, g.Dims(), "dims"), checkGrid(g, all, c.periodic))
		})
	}
}

// checkGrid compares coordinates and neighbours with the list of all coordinates.
func checkGrid(g *mpi.Cart, all [][]int, periodic []bool) (err error) {
	find := func(x []int) int {
		x = slices.Clone(x)
		for i, d := range g.Dims() {
			for periodic != nil && periodic[i] && (x[i] < 0 || x[i] >= d) {
				if x[i] += d; x[i] >= 2*d {
					x[i] -= 2 * d
				}
			}
		}
		if r := slices.IndexFunc(all, func(y []int) bool { return slices.Equal(x, y) }); r >= 0 {
			return r
		}
		return mpi.ProcNull
	}
	for r, x := range all {
		err = errors.Join(err, want(x, g.Coords(r), "coordinates"), want(r, g.At(x...), "rank at"))
	}
	me := all[g.Rank()]
	for dim := range g.Dims() {
		for disp := -3; disp <= 3; disp++ {
			from, to := slices.Clone(me), slices.Clone(me)
			from[dim] -= disp
			to[dim] += disp
			src, dst := g.Shift(dim, disp)
			err = errors.Join(err, want(find(from), src, fmt.Sprint("source ", dim, disp)), want(find(to), dst, fmt.Sprint("target ", dim, disp)))
		}
	}
	return err
}

func TestSub(t *testing.T) {
	together(t, 12, []string{"here"}, func(world *mpi.Comm) error {
		dims := []int{2, 3, 2}
		g, err := world.Cart(dims, []bool{true, false, true})
		if err != nil {
			return err
		}
		me := g.Coords(g.Rank())
		for mask := range 8 {
			keep := []bool{mask&1 > 0, mask&2 > 0, mask&4 > 0}
			s, e := g.Sub(keep...)
			if e != nil {
				return e
			}
			var members []int
			for r, x := range coordinates(dims) {
				if agree(x, me, keep) {
					members = append(members, r)
				}
			}
			err = errors.Join(err, want(len(members), s.Size(), "size"), want(slices.Index(members, g.Rank()), s.Rank(), "rank"))
			for i, m := range members {
				err = errors.Join(err, want(g.World(m), s.World(i), "member"))
			}
			err = errors.Join(err, want(kept(dims, keep), s.Dims(), "dims"), want(kept(me, keep), s.Coords(s.Rank()), "coordinates"))
		}
		_, e := g.Sub(true)
		return errors.Join(err, want(true, errors.Is(e, mpi.ErrCount), "refused"))
	})
}

// agree reports whether two coordinates differ in kept dimensions only.
func agree(x, y []int, keep []bool) bool {
	for i := range x {
		if !keep[i] && x[i] != y[i] {
			return false
		}
	}
	return true
}

func kept(x []int, keep []bool) []int {
	out := []int{}
	for i, v := range x {
		if keep[i] {
			out = append(out, v)
		}
	}
	return out
}

func TestAtPanicsOnWrongDimensions(t *testing.T) {
	together(t, 1, []string{"here"}, func(world *mpi.Comm) error {
		g, err := world.Cart([]int{1}, nil)
		require.NoError(t, err)
		require.PanicsWithValue(t, "mpi: 2 coordinates on a grid of 1 dimensions", func() { g.At(0, 0) })
		return nil
	})
}
