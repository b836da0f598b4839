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

// Messages of several senders arrive in another order; messages of one sender keep theirs on a
// communicator. The control: without the fault, the messages of the first sender come first.
func TestReorder(t *testing.T) {
	overtaken := false
	for seed := uint64(0); seed < 20 && !overtaken; seed++ {
		overtaken = overtakes(t, Faults{Seed: seed, Reorder: true})
	}
	assert.True(t, overtaken, "no message has overtaken another")
	assert.False(t, overtakes(t, Faults{}))
}

// overtakes reports whether a message of rank 2 comes before one of rank 1, which sends all of
// its messages on two communicators first. Rank 0 makes no call before all have been sent.
func overtakes(t *testing.T, faults Faults) (overtaken bool) {
	const n = 200
	sent := []chan bool{make(chan bool), make(chan bool), make(chan bool)}
	close(sent[0])
	require.NoError(t, guarded(t, func() error {
		return Run(3, func(c *mpi.Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			both := []*mpi.Comm{c, d}
			if c.Rank() == 0 {
				<-sent[2]
				overtaken, err = receiveReordered(both, 2*n)
				return err
			}
			<-sent[c.Rank()-1]
			defer close(sent[c.Rank()])
			for i := range n {
				if err := both[i%2].Send(mpi.One(&i), 0, i%3); err != nil {
					return err
				}
			}
			return nil
		}, Inject(faults))
	}))
	return overtaken
}

// receiveReordered receives messages with numbers that grow for each sender, and reports
// whether one of rank 2 has come before one of rank 1 on the same communicator.
func receiveReordered(comms []*mpi.Comm, messages int) (overtaken bool, err error) {
	last := map[[2]int]int{} // number, by communicator and sender
	for messages > 0 {
		for k, c := range comms {
			st, found, err := c.Iprobe(mpi.AnySource, mpi.AnyTag)
			if err != nil {
				return false, err
			}
			if !found {
				continue
			}
			x, src := 0, st.Source
			if _, err = c.Recv(mpi.One(&x), src, mpi.AnyTag); err != nil {
				return false, err
			}
			if at, old := last[[2]int{k, src}]; old && x <= at {
				return false, fmt.Errorf("message %d of rank %d after %d", x, src, at)
			}
			last[[2]int{k, src}] = x
			_, second := last[[2]int{k, 2}]
			overtaken = overtaken || src == 1 && second
			messages--
		}
	}
	return overtaken, nil
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
