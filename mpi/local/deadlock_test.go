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

// knots are programs of three ranks that stand still for ever, with what the report says.
var knots = map[string]struct {
	body func(c *mpi.Comm, big mpi.Buffer) error
	says []string
}{
	"head to head": {func(c *mpi.Comm, big mpi.Buffer) error {
		if c.Rank() == 2 {
			return nil
		}
		return c.Send(big, 1-c.Rank(), 5)
	}, []string{"rank 0 waits for send on world to rank 1, tag 5", "rank 1 waits for send on world to rank 0, tag 5"}},
	"a circle of receives": {func(c *mpi.Comm, big mpi.Buffer) error {
		_, err := c.Recv(big, (c.Rank()+1)%3, 5)
		return err
	}, []string{"rank 0 waits for recv on world from rank 1", "rank 2 waits for recv on world from rank 0"}},
	"any source": {func(c *mpi.Comm, big mpi.Buffer) error {
		_, err := c.Recv(big, mpi.AnySource, mpi.AnyTag)
		return err
	}, []string{"rank 1 waits for recv on world from any rank, any tag"}},
	"a barrier and a receive": {func(c *mpi.Comm, big mpi.Buffer) error {
		if c.Rank() > 0 {
			return c.Barrier()
		}
		_, err := c.Probe(2, 5)
		return err
	}, []string{"rank 0 waits for probe on world from rank 2", "rank 1 waits for barrier on world"}},
	"the wrong tag": {func(c *mpi.Comm, big mpi.Buffer) error {
		if c.Rank() == 0 {
			return mpi.Waitall(c.Isend(big, 1, 4), c.Irecv(mpi.Of(make([]byte, 1)), 1, 4))
		}
		if c.Rank() == 1 {
			time.Sleep(100 * time.Millisecond) // rank 2 waits by then; the deadlock of ranks 0 and 1 does not need it
			_, err := c.Recv(big, 0, 5)
			return err
		}
		return c.Bcast(big, 0)
	}, []string{"rank 0 waits for send", "rank 0 waits for recv", "rank 1 waits for recv", "rank 2 waits for bcast"}},
}

// often looks for deadlocks many times in a short test.
func often(w *World) error {
	w.looks = 10 * time.Millisecond
	return nil
}

// A deadlock ends the run, with a report; a rank that has nothing to do with it does not
// matter.
func TestDeadlock(t *testing.T) {
	for name, k := range knots {
		for net, opts := range nets {
			t.Run(name+", "+net, func(t *testing.T) {
				err := guarded(t, func() error {
					return Run(3, func(c *mpi.Comm) error { return k.body(c, mpi.Of(make([]byte, 1<<20))) }, append(opts, often)...)
				})
				var a *AbortError
				require.ErrorAs(t, err, &a)
				assert.Equal(t, 1, a.Code)
				for _, line := range append(k.says, "wait for each other") {
					assert.ErrorContains(t, err, line)
				}
			})
		}
	}
}

// What looks like a deadlock and is none: each of these waits is ended by a rank that is at
// work, or by a message that is under way.
func TestDeadlock_that_is_none(t *testing.T) {
	const pause = 100 * time.Millisecond
	for name, body := range map[string]func(c *mpi.Comm) error{
		"a rank computes": func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				time.Sleep(pause)
			}
			return c.Barrier()
		},
		"one of two requests is enough": func(c *mpi.Comm) error {
			if c.Rank() == 2 {
				time.Sleep(pause)
				return c.Send(mpi.Of([]byte{1}), 0, 9)
			}
			x := make([]byte, 1)
			if c.Rank() == 0 {
				late := c.Irecv(mpi.Of(x), 1, 9)
				i, _, err := mpi.Waitany(late, c.Irecv(mpi.Of(make([]byte, 1)), 2, 9))
				if i != 1 {
					return fmt.Errorf("request %d: %w", i, err)
				}
				return errors.Join(c.Send(mpi.Of([]byte{1}), 1, 9), mpi.Waitall(late))
			}
			if _, err := c.Recv(mpi.Of(x), 0, 9); err != nil {
				return err
			}
			return c.Send(mpi.Of(x), 0, 9)
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, guarded(t, func() error { return Run(3, body, often) }))
		})
	}
	t.Run("a long message over a slow network", func(t *testing.T) {
		require.NoError(t, guarded(t, func() error {
			return Run(2, func(c *mpi.Comm) error {
				b := mpi.Of(make([]byte, 1<<20))
				if c.Rank() == 0 {
					return c.Send(b, 1, 0)
				}
				_, err := c.Recv(b, 0, 0)
				return err
			}, Network(Net{Latency: time.Millisecond, Bandwidth: 10e6}), often)
		}))
	})
}
