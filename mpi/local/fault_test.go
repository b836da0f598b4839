package local

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

func TestTruncate_fault(t *testing.T) {
	for _, n := range []int{2, 100, 50_000} { // elements
		err := guarded(t, func() error {
			return Run(2, func(c *mpi.Comm) error {
				x := make([]int64, n)
				if c.Rank() == 0 {
					for i := range x {
						x[i] = int64(i + 1)
					}
					for range 3 {
						if err := c.Send(mpi.Of(x), 1, 0); err != nil {
							return err
						}
					}
					return nil
				}
				for i := range 3 {
					clear(x)
					st, err := c.Recv(mpi.Of(x), 0, 0)
					whole := i != 1
					if errors.Is(err, mpi.ErrEngine) == whole || (err == nil) != whole {
						return fmt.Errorf("message %d: %v", i, err)
					}
					if st.Bytes != n*8 && whole || !whole && st.Bytes != n/2*8 || x[n/2-1] != int64(n/2) || (x[n-1] == 0) == whole {
						return fmt.Errorf("message %d: %d bytes, %v", i, st.Bytes, x[n-1])
					}
				}
				return nil
			}, Inject(Faults{Truncate: []Cut{{From: 0, At: 1}}}))
		})
		require.NoError(t, err)
	}
}

// Messages of several senders arrive in another order; messages of one sender keep theirs.
func TestReorder(t *testing.T) {
	const n = 200
	overtaken := false
	for seed := uint64(0); seed < 20 && !overtaken; seed++ {
		err := guarded(t, func() error {
			return Run(3, func(c *mpi.Comm) error {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				if c.Rank() > 0 {
					for i := range n {
						if err := []*mpi.Comm{c, d}[i%2].Send(mpi.One(&i), 0, i%3); err != nil {
							return err
						}
					}
					return c.Barrier()
				}
				if err := c.Barrier(); err != nil {
					return err
				}
				last := map[[2]int]int{}
				newest := map[int]int{}
				var left [2]int
				for total := 0; total < 2*n; {
					for k, q := range []*mpi.Comm{c, d} {
						st, found, err := q.Iprobe(mpi.AnySource, mpi.AnyTag)
						if err != nil {
							return err
						}
						if !found {
							continue
						}
						x := 0
						if st, err = q.Recv(mpi.One(&x), st.Source, mpi.AnyTag); err != nil {
							return err
						}
						if at, old := last[[2]int{k, st.Source}]; old && x <= at {
							return fmt.Errorf("message %d of rank %d after %d", x, st.Source, at)
						}
						last[[2]int{k, st.Source}] = x
						overtaken = overtaken || x < newest[st.Source]
						newest[st.Source] = max(newest[st.Source], x)
						left[k]++
						total++
					}
				}
				return nil
			}, Inject(Faults{Seed: seed, Reorder: true}))
		})
		require.NoError(t, err)
	}
	assert.True(t, overtaken, "no message has overtaken another")
}

func TestReorder_traffic(t *testing.T) {
	require.NoError(t, guarded(t, func() error {
		return Run(3, func(c *mpi.Comm) error {
			x := make([]byte, 100_000)
			for i := range 20 {
				r := c.Irecv(mpi.Of(x[:i*5000]), mpi.AnySource, i)
				if err := c.Send(mpi.Of(make([]byte, i*5000)), (c.Rank()+1)%3, i); err != nil {
					return errors.Join(err, func() error { _, err := r.Wait(); return err }())
				}
				if _, err := r.Wait(); err != nil {
					return err
				}
				if err := c.Allreduce(mpi.InPlace, mpi.Of(make([]int64, i)), mpi.Sum); err != nil {
					return err
				}
			}
			return nil
		}, Inject(Faults{Reorder: true, Delay: 10 * time.Microsecond}), Eager(64_000))
	}))
}
