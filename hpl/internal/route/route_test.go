package route

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// relay passes n elements from rank to rank, in parts that arrive in the opposite order of
// their places.
func relay(c *mpi.Comm, n int) (steps []Step) {
	for at := n - 1; at >= 0; at-- {
		if c.Rank() > 0 {
			steps = append(steps, Step{Peer: c.Rank() - 1, At: at, Len: 1})
		}
		if c.Rank() < c.Size()-1 {
			steps = append(steps, Step{Send: true, Peer: c.Rank() + 1, At: at, Len: 1})
		}
	}
	return steps
}

// A message is cut at elements inside it, not at its ends, and keeps its peer and direction.
func TestCut(t *testing.T) {
	steps := []Step{{Peer: 1, At: 0, Len: 10}, {Send: true, Peer: 2, At: 4, Len: 3}}
	require.Equal(t, steps, Cut(steps, nil))
	require.Equal(t, steps, Cut(steps, []int{0, 10, 12}))
	require.Equal(t, []Step{{Peer: 1, At: 0, Len: 4}, {Peer: 1, At: 4, Len: 1}, {Peer: 1, At: 5, Len: 2}, {Peer: 1, At: 7, Len: 3},
		{Send: true, Peer: 2, At: 4, Len: 1}, {Send: true, Peer: 2, At: 5, Len: 2}}, Cut(steps, []int{4, 5, 7}))
	require.Equal(t, 10, steps[0].Len, "the argument was changed")
}

func TestRelay(t *testing.T) {
	require.NoError(t, local.Run(4, func(c *mpi.Comm) error {
		x := make([]float64, 20)
		for i := range x {
			if c.Rank() == 0 {
				x[i] = float64(i + 1)
			}
		}
		r := Start(c, 3, x, relay(c, len(x)))
		for done := false; !done; {
			var err error
			if done, err = r.Test(); err != nil {
				return err
			}
		}
		for i, v := range x {
			if v != float64(i+1) {
				return fmt.Errorf("element %d is %v", i, v)
			}
		}
		if done, err := r.Test(); !done || err != nil {
			return fmt.Errorf("after the end: %v, %w", done, err)
		}
		return r.Wait()
	}))
}

func TestNothing(t *testing.T) {
	require.NoError(t, local.Run(1, func(c *mpi.Comm) error { return Exchange(c, 0, nil, nil) }))
}

// A failure on one rank ends the runs of all ranks, also of ranks that wait for others;
// steps that have not been posted are dropped.
func TestFailure(t *testing.T) {
	for _, poll := range []bool{false, true} {
		err := local.Run(4, func(c *mpi.Comm) error {
			x := make([]float64, 8)
			steps := relay(c, len(x))
			if c.Rank() == 1 {
				steps[4].Len = 2 // a receive longer than its message
			}
			r := Start(c, 0, x, steps)
			err, done := error(nil), !poll
			for !done {
				done, err = r.Test()
			}
			if !poll {
				err = r.Wait()
			}
			if err == nil && c.Rank() > 0 {
				return fmt.Errorf("rank %d does not know", c.Rank())
			}
			return err
		})
		require.ErrorContains(t, err, "the ranks run different routes")
		require.NotContains(t, err.Error(), "does not know")
	}
}
