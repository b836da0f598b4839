package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

// guarded runs f and fails the test if it does not return.
func guarded(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(60 * time.Second):
		buf := make([]byte, 1<<20)
		require.Fail(t, "hangs", "%s", buf[:runtime.Stack(buf, true)])
		return nil
	}
}

// every runs body on each of the configurations.
func every(t *testing.T, ranks int, body func(*mpi.Comm) error) {
	for name, opts := range map[string][]Option{
		"plain":   nil,
		"eager 0": {Eager(0)},
		"host":    {Network(fast)},
		"nic":     {Network(nicOf(fast))},
		"delay":   {Inject(Faults{Seed: 3, Delay: 30 * time.Microsecond})},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, guarded(t, func() error { return Run(ranks, body, opts...) }))
		})
	}
}

func pattern(b []byte, seed int) []byte {
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed)
	}
	return b
}

// Messages of all protocols, in both orders of posting, to and from every rank.
func TestSizes(t *testing.T) {
	sizes := []int{0, 1, 8, inlineBytes, inlineBytes + 1, 4096, defaultEager, defaultEager + 1, chunk, chunk + 1, 1<<20 + 5, 3 << 20}
	every(t, 2, func(c *mpi.Comm) error {
		peer := 1 - c.Rank()
		for _, n := range sizes {
			for late := range 2 {
				if late == c.Rank() {
					runtime.Gosched()
				}
				in := make([]byte, n+3)
				r := c.Irecv(mpi.Of(in), peer, n)
				if err := c.Send(mpi.Of(pattern(make([]byte, n), peer)), peer, n); err != nil {
					return err
				}
				st, err := r.Wait()
				if err != nil {
					return err
				}
				if st != (mpi.Status{Source: peer, Tag: n, Bytes: n}) {
					return fmt.Errorf("status %+v for %d bytes", st, n)
				}
				if string(in[:n]) != string(pattern(make([]byte, n), c.Rank())) || in[n] != 0 {
					return fmt.Errorf("%d bytes arrived wrong", n)
				}
			}
		}
		return nil
	})
}

// Random messages with random waits: every receive gets the message that the order assigns.
func TestRandomTraffic(t *testing.T) {
	ranks, rounds := 3, few(40, 10)
	every(t, ranks, func(c *mpi.Comm) error {
		mine := rand.New(rand.NewPCG(uint64(c.Rank()), 9))
		for round := range rounds {
			shared := rand.New(rand.NewPCG(uint64(round), 1)) // the same on all ranks
			var rs []*mpi.Request
			var check []func() error
			for i := range 30 {
				src, dst, tag, n := shared.IntN(ranks), shared.IntN(ranks), shared.IntN(2), sizeOf(shared)
				if src == c.Rank() {
					if mine.IntN(3) == 0 {
						rs = append(rs, c.Issend(mpi.Of(pattern(make([]byte, n), i)), dst, tag))
					} else {
						rs = append(rs, c.Isend(mpi.Of(pattern(make([]byte, n), i)), dst, tag))
					}
				}
				if dst == c.Rank() {
					in := make([]byte, n)
					r := c.Irecv(mpi.Of(in), src, tag)
					rs = append(rs, r)
					check = append(check, func() error {
						if st, _ := r.Wait(); st.Bytes != n || string(in) != string(pattern(make([]byte, n), i)) {
							return fmt.Errorf("round %d message %d: %d bytes of %d, or wrong ones", round, i, st.Bytes, n)
						}
						return nil
					})
				}
			}
			if err := mpi.Waitall(rs...); err != nil {
				return err
			}
			for _, f := range check {
				if err := f(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func sizeOf(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0:
		return r.IntN(16)
	case 1:
		return r.IntN(2000)
	case 2:
		return r.IntN(40_000)
	}
	return r.IntN(400_000)
}

// More small messages than a ring holds, to a rank that does not poll.
func TestRing_overflow_does_not_block(t *testing.T) {
	every(t, 2, func(c *mpi.Comm) error {
		const n = 10 * 128
		if (*engine.Comm)(c).Engine().Limits().Eager == 0 {
			return nil
		}
		if c.Rank() == 0 {
			for i := range n {
				if err := c.Send(mpi.One(&i), 1, i%3); err != nil {
					return err
				}
			}
			return c.Send(mpi.Buffer{}, 1, 100)
		}
		if _, err := c.Recv(mpi.Buffer{}, 0, 100); err != nil {
			return err
		}
		for i := range n {
			x := -1
			if _, err := c.Recv(mpi.One(&x), 0, mpi.AnyTag); err != nil || x != i {
				return fmt.Errorf("message %d: got %d, %v", i, x, err)
			}
		}
		return nil
	})
}

func TestTruncation(t *testing.T) {
	for _, n := range []int{50, 5000, 100_000, 2 << 20} {
		for name, opts := range map[string][]Option{"plain": nil, "host": {Network(fast)}, "nic": {Network(nicOf(fast))}} {
			err := guarded(t, func() error {
				return Run(2, func(c *mpi.Comm) error {
					if c.Rank() == 0 {
						return c.Send(mpi.Of(pattern(make([]byte, n), 0)), 1, 4)
					}
					in := make([]byte, n/2)
					_, err := c.Recv(mpi.Of(in), 0, 4)
					var e *mpi.Error
					if !errors.As(err, &e) || e.Class != mpi.ErrTruncate || e.Want != n/2 || e.Got != n || e.Peer != 0 {
						return fmt.Errorf("got %v", err)
					}
					if string(in) != string(pattern(make([]byte, n/2), 0)) {
						return errors.New("the beginning is wrong")
					}
					return nil
				}, opts...)
			})
			assert.NoError(t, err, "%d bytes, %s", n, name)
		}
	}
}

// A message allocates nothing in steady state, on either rank.
func TestAllocations(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector empties pools at random")
	}
	for _, n := range []int{8, 4096, 100_000} {
		err := guarded(t, func() error {
			return Run(2, func(c *mpi.Comm) error {
				x, peer := make([]byte, n), 1-c.Rank()
				turn := func() {
					if c.Rank() == 0 {
						_ = c.Send(mpi.Of(x), peer, 0)
						_, _ = c.Recv(mpi.Of(x), peer, 0)
					} else {
						_, _ = c.Recv(mpi.Of(x), peer, 0)
						_ = c.Send(mpi.Of(x), peer, 0)
					}
				}
				for range 50 {
					turn()
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range 1000 {
					turn()
				}
				runtime.ReadMemStats(&after)
				if got := after.Mallocs - before.Mallocs; got > 300 {
					return fmt.Errorf("%d allocations for 2000 messages of %d bytes", got, n)
				}
				return nil
			})
		})
		assert.NoError(t, err)
	}
}
