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

func TestLock(t *testing.T) {
	var l lock
	require.True(t, l.acquire(0, false, false))
	require.True(t, l.acquire(1, false, false), "readers together")
	require.False(t, l.acquire(2, true, false))
	require.False(t, l.acquire(3, false, false), "a writer waits: no new readers")
	require.False(t, l.release(3))
	require.True(t, l.release(0))
	require.False(t, l.acquire(2, true, true))
	require.True(t, l.release(1))
	require.True(t, l.acquire(2, true, true))
	require.False(t, l.acquire(3, false, true))
	require.False(t, l.acquire(4, true, false))
	l.stopWaiting() // rank 4 gives up
	require.True(t, l.release(2))
	require.True(t, l.acquire(3, false, true))
}

// All ranks change all counters under locks and without, on every network.
func TestWindow_counters(t *testing.T) {
	const ranks, rounds = 3, 30
	every(t, ranks, func(c *mpi.Comm) error {
		mem := make([]int64, 3)
		w, err := c.NewWin(mpi.Of(mem))
		if err != nil {
			return err
		}
		one := []int64{1}
		for i := range rounds {
			target := (c.Rank() + i) % ranks
			if err := w.Accumulate(mpi.Of(one), mpi.Sum, target, 0); err != nil {
				return err
			}
			var x [1]int64
			err := errors.Join(w.Lock(target, true), w.Get(mpi.Of(x[:]), target, 1))
			x[0]++
			if err = errors.Join(err, w.Put(mpi.Of(x[:]), target, 1), w.Unlock(target)); err != nil {
				return err
			}
		}
		if err := w.Fence(); err != nil {
			return err
		}
		if mem[0] != rounds || mem[1] != rounds {
			return fmt.Errorf("counters %v, and not %d", mem, rounds)
		}
		return w.Free()
	})
}

// A rank that dies with a lock does not keep the others waiting.
func TestWindow_lock_of_a_dead_rank(t *testing.T) {
	err := guarded(t, func() error {
		return Run(3, func(c *mpi.Comm) error {
			w, err := c.NewWin(mpi.Of(make([]int64, 1)))
			if err != nil {
				return err
			}
			if c.Rank() == 1 {
				if err := w.Lock(0, true); err != nil {
					return err
				}
				for _, r := range []int{0, 2} {
					if _, err := c.Sendrecv(mpi.Buffer{}, r, 0, mpi.Buffer{}, r, 0); err != nil {
						return err
					}
					if _, err := c.Recv(mpi.Buffer{}, r, 1); err != nil { // r has got it
						return err
					}
				}
				return errBroken
			}
			if _, err := c.Sendrecv(mpi.Buffer{}, 1, 0, mpi.Buffer{}, 1, 0); err != nil {
				return err
			}
			if err := c.Send(mpi.Buffer{}, 1, 1); err != nil {
				return err
			}
			if err := w.Lock(0, true); err != nil {
				return err
			}
			if err := w.Unlock(0); err != nil {
				return err
			}
			if _, err := c.Sendrecv(mpi.Buffer{}, 2-c.Rank(), 0, mpi.Buffer{}, 2-c.Rank(), 0); err != nil {
				return err
			}
			if err := w.Fence(); !errors.Is(err, mpi.ErrPeerGone) {
				return fmt.Errorf("fence: %v", err)
			}
			return nil
		})
	})
	require.EqualError(t, err, "rank 1: "+errBroken.Error())
}

// A rank whose wait for a lock ends by a revocation is no longer counted among the writers
// that wait; a reader never was.
func TestWindow_lock_that_fails(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		w, err := New(2)
		require.NoError(t, err)
		var shared *lock
		waiting := make(chan struct{})
		require.NoError(t, guarded(t, func() error {
			return each(w, func(c *mpi.Comm) error {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				win, err := d.NewWin(mpi.Of(make([]int64, 1)))
				if err != nil {
					return err
				}
				if c.Rank() == 1 {
					if _, err := c.Recv(mpi.Buffer{}, 0, 0); err != nil { // rank 0 has the lock
						return err
					}
					close(waiting)
					if err := win.Lock(0, exclusive); !errors.Is(err, mpi.ErrRevoked) {
						return fmt.Errorf("lock: %v", err)
					}
					return nil
				}
				if err := win.Lock(0, true); err != nil {
					return err
				}
				if err := c.Send(mpi.Buffer{}, 1, 0); err != nil {
					return err
				}
				<-waiting
				for !w.ends[1].parker.Asleep() {
					time.Sleep(time.Millisecond)
				}
				for _, x := range w.ends[0].windows {
					shared = &x.parts[0].lock
				}
				d.Revoke(errBroken)
				return nil
			})
		}))
		require.NotNil(t, shared)
		assert.Zero(t, shared.waitingWriters, "exclusive %v", exclusive)
		require.NoError(t, w.Close())
	}
}

// each runs body as every rank of the world and returns the first error.
func each(w *World, body func(*mpi.Comm) error) (first error) {
	ends := make(chan error, w.size)
	for r := range w.size {
		go func() { ends <- body(w.Comm(r)) }()
	}
	for range w.size {
		if err := <-ends; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func TestUnlock_of_a_lock_not_held(t *testing.T) {
	require.NoError(t, Run(1, func(c *mpi.Comm) error {
		w, err := c.NewWin(mpi.Of(make([]int64, 1)))
		if err != nil {
			return err
		}
		assert.ErrorIs(t, w.Unlock(0), mpi.ErrState)
		return w.Free()
	}))
}
