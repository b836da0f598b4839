package commthread_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// Parts of different lengths, with gaps: gathered, scattered and gathered everywhere, between
// tasks that make and use them. What lies in the gaps belongs to other tasks meanwhile.
func TestParts_of_different_lengths(t *testing.T) {
	counts, displs := []int{2, 0, 3}, []int{6, 0, 2}
	inModes(t, func(t *testing.T, s setup) {
		errs := run(t, 3, s, func(r rank) error {
			n := counts[r.Rank()]
			mine, back := make([]int, n), make([]int, n)
			all, every, packed := make([]int, 8), make([]int, 8), make([]int, 5)
			all[5], all[1] = 70, 71
			r.rt.Spawn("make", func(*tasks.Context) error {
				for i := range mine {
					mine[i] = 10*r.Rank() + i + 1
				}
				return nil
			}, tasks.Writes(mine))
			r.ct.Gatherv(r.rt, r.Comm, mpi.Of(mine), mpi.Of(all), counts, displs, 1)
			r.rt.Spawn("in the gap", func(*tasks.Context) error { all[5]++; return nil }, tasks.Updates(all[5:6]))
			r.rt.Spawn("double", func(*tasks.Context) error {
				for i := range all {
					if i != 5 {
						all[i] *= 2
					}
				}
				return nil
			}, tasks.Updates(all[:5]), tasks.Updates(all[6:]))
			r.ct.Scatterv(r.rt, r.Comm, mpi.Of(all), counts, displs, mpi.Of(back), 1)
			r.ct.Allgatherv(r.rt, r.Comm, mpi.Of(back), mpi.Of(every), counts, displs)
			r.ct.Allgatherv(r.rt, r.Comm, mpi.Of(back), mpi.Of(packed), counts, nil)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			if r.Rank() == 1 && !slices.Equal(all, []int{0, 142, 42, 44, 46, 71, 2, 4}) {
				return fmt.Errorf("gathered and doubled: %v", all)
			}
			if !slices.Equal(every, []int{0, 0, 42, 44, 46, 0, 2, 4}) || !slices.Equal(packed, []int{2, 4, 42, 44, 46}) {
				return fmt.Errorf("everywhere: %v, %v", every, packed)
			}
			return nil
		})
		for i, err := range errs {
			assert.NoError(t, err, "rank %d", i)
		}
	})
}

func TestParts_that_cannot_be(t *testing.T) {
	x := make([]int, 4)
	for name, spawn := range map[string]func(r rank){
		"gatherv":    func(r rank) { r.ct.Gatherv(r.rt, r.Comm, mpi.Of(x[:2]), mpi.Of(x), []int{2, 2, 2}, nil, 0) },
		"scatterv":   func(r rank) { r.ct.Scatterv(r.rt, r.Comm, mpi.Of(x), []int{3}, []int{2}, mpi.Of(x[:3]), 0) },
		"allgatherv": func(r rank) { r.ct.Allgatherv(r.rt, r.Comm, mpi.Of(x[:2]), mpi.Of(x), []int{2}, []int{0, 2}) },
	} {
		errs := run(t, 1, setup{}, func(r rank) error {
			spawn(r)
			return r.rt.Wait()
		})
		require.ErrorIs(t, errs[0], mpi.ErrCount, name)
		require.ErrorContains(t, errs[0], "parts_test.go", name)
	}
}
