package local

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

var errBroken = errors.New("the input is broken")

// waits are calls that need rank 0, which never answers.
var waits = map[string]func(c *mpi.Comm) error{
	"recv":      func(c *mpi.Comm) error { _, err := c.Recv(mpi.Of(make([]byte, 8)), 0, 1); return err },
	"any":       func(c *mpi.Comm) error { _, err := c.Recv(mpi.Of(make([]byte, 8)), mpi.AnySource, 1); return err },
	"probe":     func(c *mpi.Comm) error { _, err := c.Probe(0, 1); return err },
	"mprobe":    func(c *mpi.Comm) error { _, err := c.Mprobe(mpi.AnySource, mpi.AnyTag); return err },
	"ssend":     func(c *mpi.Comm) error { return c.Ssend(mpi.Of(make([]byte, 8)), 0, 7) },
	"large":     func(c *mpi.Comm) error { return c.Send(mpi.Of(make([]byte, 1<<20)), 0, 7) },
	"barrier":   func(c *mpi.Comm) error { return c.Barrier() },
	"allreduce": func(c *mpi.Comm) error { return c.Allreduce(mpi.InPlace, mpi.Of(make([]int64, 1000)), mpi.Sum) },
	"bcast":     func(c *mpi.Comm) error { return c.Bcast(mpi.Of(make([]int64, 10)), 0) },
	"waitall": func(c *mpi.Comm) error {
		x := make([]byte, 16)
		return mpi.Waitall(c.Irecv(mpi.Of(x[:8]), 0, 1), c.Irecv(mpi.Of(x[8:]), mpi.AnySource, mpi.AnyTag))
	},
}

var nets = map[string][]Option{"plain": nil, "host": {Network(fast)}, "nic": {Network(nicOf(fast))}}

// A rank fails while the others wait for it, or before they do: all of them end with an
// error that names the rank and the reason.
func TestRank_that_fails(t *testing.T) {
	for net, opts := range nets {
		for name, wait := range waits {
			for _, how := range []string{"error", "panic", "nothing"} {
				if how == "nothing" && strings.Contains("any mprobe waitall", name) {
					continue // ranks 1 and 2 could still send to each other
				}
				err := guarded(t, func() error {
					return Run(3, func(c *mpi.Comm) error {
						if c.Rank() == 0 {
							switch how {
							case "error":
								return errBroken
							case "panic":
								panic("out of luck")
							}
							return nil
						}
						err := wait(c)
						if !errors.Is(err, mpi.ErrPeerGone) {
							return fmt.Errorf("%s after %s: got %v", name, how, err)
						}
						if how == "error" && !errors.Is(err, errBroken) {
							return fmt.Errorf("%s: %v does not say why", name, err)
						}
						return nil
					}, opts...)
				})
				switch how {
				case "error":
					require.EqualError(t, err, "rank 0: "+errBroken.Error(), "%s, %s", net, name)
				case "panic":
					require.ErrorContains(t, err, "rank 0: panic: out of luck", "%s, %s", net, name)
				default:
					require.NoError(t, err, "%s, %s", net, name)
				}
			}
		}
	}
}

// A wait for notifications of a failed rank ends; notifications that have arrived count.
func TestAwaitNotify_of_a_rank_that_fails(t *testing.T) {
	for name, opts := range nets {
		err := guarded(t, func() error {
			return Run(2, func(c *mpi.Comm) error {
				w, err := c.NewWin(mpi.Of(make([]int64, 1)))
				if err != nil {
					return err
				}
				if c.Rank() == 1 { // has made the window, and now needs only notifications
					if err := c.Send(mpi.Buffer{}, 0, 0); err != nil {
						return err
					}
				}
				if c.Rank() == 0 {
					if _, err := c.Recv(mpi.Buffer{}, 1, 0); err != nil {
						return err
					}
					if err := w.PutNotify(mpi.Of([]int64{4}), 1, 0, 5); err != nil {
						return err
					}
					if err := w.Flush(1); err != nil {
						return err
					}
					return errBroken
				}
				if err := w.AwaitNotify(5, 1); err != nil {
					return err
				}
				if err := w.AwaitNotify(5, 1); !errors.Is(err, mpi.ErrPeerGone) {
					return fmt.Errorf("await: %v", err)
				}
				return nil
			}, opts...)
		})
		require.EqualError(t, err, "rank 0: "+errBroken.Error(), name)
	}
}

// Messages that a rank has sent before it left are received.
func TestRank_that_leaves_its_messages(t *testing.T) {
	every(t, 2, func(c *mpi.Comm) error {
		n := min(10_000, (*engine.Comm)(c).Engine().Limits().Eager)
		if c.Rank() == 1 {
			if err := c.Send(mpi.Of(make([]byte, n/2)), 0, 1); err != nil {
				return err
			}
			return c.Send(mpi.Of(make([]byte, n)), 0, 2)
		}
		in := make([]byte, n)
		if n > 0 {
			for (*engine.Comm)(c).Engine().(*endpoint).world.ends[1].departure.Load() == nil {
				(*engine.Comm)(c).Engine().Sleep(time.Millisecond)
			}
		}
		if st, err := c.Probe(1, 2); n > 0 && (err != nil || st.Bytes != n) {
			return fmt.Errorf("probe: %+v %w", st, err)
		}
		if _, err := c.Recv(mpi.Of(in), mpi.AnySource, 2); err != nil {
			return err
		}
		if _, err := c.Recv(mpi.Of(in), 1, mpi.AnyTag); err != nil {
			return err
		}
		_, err := c.Recv(mpi.Of(in), 1, mpi.AnyTag)
		if !errors.Is(err, mpi.ErrPeerGone) {
			return fmt.Errorf("nothing is left: %w", err)
		}
		return nil
	})
}

func TestKill(t *testing.T) {
	for name, opts := range nets {
		w, err := New(3, opts...)
		require.NoError(t, err)
		errs := make(chan error, 3)
		for r := range 3 {
			go func() {
				_, err := w.Comm(r).Recv(mpi.Of(make([]byte, 8)), mpi.AnySource, 0)
				errs <- err
			}()
		}
		w.Kill(1)
		for range 3 {
			err := guarded(t, func() error { return <-errs })
			require.ErrorIs(t, err, mpi.ErrPeerGone, name)
			require.ErrorContains(t, err, "rank 1 was killed")
		}
		require.NoError(t, w.Comm(0).Send(mpi.Of(make([]byte, 8)), 2, 0), "the others go on")
		_, err = w.Comm(2).Recv(mpi.Of(make([]byte, 8)), 0, 0)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
}

// A rank dies in the middle of its operations, in the middle of large transfers.
func TestKill_after_operations(t *testing.T) {
	for name, opts := range nets {
		for limit := range 12 {
			opts := append([]Option{Inject(Faults{Kill: map[int]int{1: limit}})}, opts...)
			err := guarded(t, func() error {
				return Run(2, func(c *mpi.Comm) error {
					x, y := make([]byte, 300_000), make([]byte, 300_000)
					for range 5 {
						if _, err := c.Sendrecv(mpi.Of(x), 1-c.Rank(), 0, mpi.Of(y), 1-c.Rank(), 0); err != nil {
							return err
						}
						if err := c.Barrier(); err != nil {
							return err
						}
					}
					return nil
				}, opts...)
			})
			require.ErrorIs(t, err, mpi.ErrPeerGone, "%s, after %d", name, limit)
		}
	}
}

// After a collective has failed, no rank copies from its buffers, or into them: the program may
// give them back.
func TestKill_leaves_the_buffers_of_collectives(t *testing.T) {
	const n = 150_000
	for name, opts := range nets {
		for i := range 20 {
			limit := i % 5
			opts := append([]Option{Inject(Faults{Kill: map[int]int{1: limit}})}, opts...)
			all := make([][]byte, 4)
			err := guarded(t, func() error {
				return Run(4, func(c *mpi.Comm) error {
					x, y := make([]byte, 4*n), make([]byte, 4*n)
					all[c.Rank()] = y
					for range 5 {
						if err := c.Alltoall(mpi.Of(x), mpi.Of(y)); err != nil {
							fill(y, 0xa5)
							return err
						}
					}
					return nil
				}, opts...)
			})
			require.ErrorIs(t, err, mpi.ErrPeerGone, "%s, after %d", name, limit)
			for r, y := range all {
				require.Equal(t, len(y), bytes.Count(y, []byte{0xa5}), "%s, after %d: rank %d", name, limit, r)
			}
		}
	}
}

func fill(b []byte, x byte) {
	for i := range b {
		b[i] = x
	}
}

// All pending calls fail when one rank revokes the communicator, and no buffer is written
// afterwards.
func TestRevoke(t *testing.T) {
	for name, opts := range nets {
		for what, wait := range waits {
			err := guarded(t, func() error {
				return Run(3, func(c *mpi.Comm) error {
					d, err := c.Dup()
					if err != nil {
						return err
					}
					if c.Rank() == 0 {
						d.Revoke(errBroken)
						if err := d.Revoked(); !errors.Is(err, mpi.ErrRevoked) {
							return fmt.Errorf("revoked: %v", err)
						}
					} else if err := wait(d); !errors.Is(err, mpi.ErrRevoked) || !strings.Contains(err.Error(), errBroken.Error()) {
						return fmt.Errorf("%s: %v", what, err)
					}
					return c.Barrier()
				}, opts...)
			})
			require.NoError(t, err, "%s, %s", name, what)
		}
	}
}

// The start of a call may itself handle the notification of a revocation that concerns the
// call: the call does not wait then.
func TestRevoke_at_the_start_of_a_call(t *testing.T) {
	require.NoError(t, guarded(t, func() error {
		return Run(2, func(c *mpi.Comm) error {
			for i := range 4000 {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				for range i % 64 {
					osthread.Relax()
				}
				if c.Rank() == 0 {
					d.Revoke(errBroken)
				} else if _, err := d.Probe(0, 1); !errors.Is(err, mpi.ErrRevoked) {
					return fmt.Errorf("revocation %d: %v", i, err)
				}
			}
			return c.Barrier()
		})
	}))
}

// The negative control: without a revocation the same calls do wait.
func TestRevoke_is_needed(t *testing.T) {
	w, err := New(2)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- waits["recv"](w.Comm(1)) }()
	select {
	case err := <-done:
		require.Fail(t, "it came back", "%v", err)
	case <-time.After(20 * time.Millisecond):
	}
	w.Kill(0)
	require.ErrorIs(t, <-done, mpi.ErrPeerGone)
	require.NoError(t, w.Close())
}

// A body that ends its goroutine, like FailNow of package testing.
func TestGoexit(t *testing.T) {
	err := guarded(t, func() error {
		return Run(2, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				runtime.Goexit()
			}
			_ = c.Barrier()
			return nil
		})
	})
	require.EqualError(t, err, "rank 0: the body ended its goroutine (runtime.Goexit)")
}

// The sender of a message that a matched probe has taken can leave: then the receive fails.
// The receiver can leave, too: then the send ends.
func TestMprobe_and_leave(t *testing.T) {
	for name, opts := range nets {
		w, err := New(2, opts...)
		require.NoError(t, err)
		out := w.Comm(0).Issend(mpi.Of(make([]byte, 100_000)), 1, 0)
		m, err := w.Comm(1).Mprobe(0, 0)
		require.NoError(t, err)
		w.Kill(0)
		_, err = out.Wait()
		require.ErrorIs(t, err, mpi.ErrPeerGone, name)
		_, err = m.Recv(mpi.Of(make([]byte, 100_000)))
		require.ErrorIs(t, err, mpi.ErrPeerGone, name)
		require.NoError(t, w.Close())

		w, err = New(2, opts...)
		require.NoError(t, err)
		out = w.Comm(0).Issend(mpi.Of(make([]byte, 100_000)), 1, 0)
		_, err = w.Comm(1).Mprobe(0, 0)
		require.NoError(t, err)
		w.Kill(1)
		_, err = out.Wait()
		require.ErrorIs(t, err, mpi.ErrPeerGone, name)
		require.NoError(t, w.Close())
	}
}

func TestAbort(t *testing.T) {
	err := guarded(t, func() error {
		return Run(3, func(c *mpi.Comm) error {
			if c.Rank() == 2 {
				c.Abort(7, "no disk")
			}
			return c.Barrier()
		})
	})
	var a *AbortError
	require.ErrorAs(t, err, &a)
	assert.Equal(t, AbortError{Code: 7, Rank: 2, Reason: "no disk"}, *a)
}

func TestOrder_of_collectives(t *testing.T) {
	err := guarded(t, func() error {
		return Run(3, func(c *mpi.Comm) error {
			err := c.Barrier()
			if err == nil && c.Rank() == 1 {
				err = c.Allreduce(mpi.InPlace, mpi.Of(make([]int64, 2)), mpi.Sum)
			} else if err == nil {
				err = c.Bcast(mpi.Of(make([]int64, 2)), 0)
			}
			if err == nil { // the root of a broadcast may not notice
				err = c.Barrier()
			}
			if !errors.Is(err, mpi.ErrOrder) && !errors.Is(err, mpi.ErrPeerGone) {
				return fmt.Errorf("got %v", err)
			}
			for _, part := range []string{"bcast (root 0) of 16 bytes of int64", "rank 1 calls allreduce (sum) of 16 bytes of int64", "as collective number 1 of world"} {
				if !strings.Contains(err.Error(), part) {
					return fmt.Errorf("%q is not in %v", part, err)
				}
			}
			return nil
		})
	})
	require.NoError(t, err)
}

// What the ranks compare their collectives by is kept only until all have called.
func TestOrder_of_collectives_is_forgotten(t *testing.T) {
	w, err := New(3)
	require.NoError(t, err)
	require.NoError(t, guarded(t, func() error {
		return each(w, func(c *mpi.Comm) error {
			for range 10 {
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			return nil
		})
	}))
	for _, g := range w.groups.all {
		assert.Empty(t, g.pendingCollectives)
	}
	require.NoError(t, w.Close())
}

func TestFinalize_reports(t *testing.T) {
	err := guarded(t, func() error {
		return Run(2, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				return c.Send(mpi.Of(make([]byte, 5)), 1, 9)
			}
			c.Irecv(mpi.Of(make([]byte, 6)), 1, 8)
			return nil
		})
	})
	require.ErrorIs(t, err, mpi.ErrPending)
	assert.ErrorContains(t, err, "rank 1: mpi: recv on world, rank 1, peer 1, tag 8")
	assert.ErrorContains(t, err, "mpi: finalize on world, rank 1, peer 0, tag 9: unmatched or unfinished at the end: a message of 5 bytes")
}

// When all others have finished, the rank itself may still answer its receive from any
// source, until it waits for nothing else.
func TestAny_source_that_the_rank_itself_answers(t *testing.T) {
	every(t, 3, func(c *mpi.Comm) error {
		if c.Rank() > 0 {
			return nil
		}
		for _, o := range (*engine.Comm)(c).Engine().(*endpoint).world.ends[1:] {
			for o.departure.Load() == nil {
				(*engine.Comm)(c).Engine().Sleep(time.Millisecond)
			}
		}
		for _, n := range []int{1, 100, 100_000} {
			in, out := make([]byte, n), make([]byte, n)
			out[n-1] = 7
			q := c.Irecv(mpi.Of(in), mpi.AnySource, 3)
			(*engine.Comm)(c).Engine().Poll()
			p := c.Isend(mpi.Of(out), 0, 3)
			if _, err := q.Wait(); err != nil || in[n-1] != 7 {
				return fmt.Errorf("%d bytes to itself: got %d, %w", n, in[n-1], err)
			}
			if _, err := p.Wait(); err != nil {
				return err
			}
		}
		q := c.Irecv(mpi.Of(make([]byte, 1)), mpi.AnySource, 3)
		if _, _, err := mpi.Waitany(q); !errors.Is(err, mpi.ErrPeerGone) {
			return fmt.Errorf("nobody can answer: %v", err)
		}
		return nil
	})
}
