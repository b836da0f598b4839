package commthread_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// lazyPair runs body on two ranks over a slow network, each with a thread, an endpoint
// and an arena.
func lazyPair(t *testing.T, net string, body func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread, e *dds.Endpoint, a *dds.Arena) error, opts ...dataflow.Option) error {
	t.Helper()
	n, err := local.ParseNet(net)
	require.NoError(t, err)
	return local.Run(2, func(c *mpi.Comm) error {
		a, err := dds.NewArena(16 << 20)
		if err != nil {
			return err
		}
		err = commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			e, err := dds.Open(c, dds.Strips(4))
			if err != nil {
				return err
			}
			err = body(c, rt, ct, e, a)
			if err != nil {
				return errors.Join(err, e.Abandon(err))
			}
			return e.Close()
		}, append([]dataflow.Option{dataflow.Workers(1)}, opts...))
		return errors.Join(err, a.Close())
	}, local.Network(n))
}

var (
	sumLazily = tasks.Declare2("sum", sumOf, tasks.Lazy(tasks.Input), tasks.Inout)
	clearAll  = tasks.Declare1("clear", func(x []float64) { clear(x) }, tasks.Output)
	makeUp    = tasks.Declare2("make up", func(x []float64, salt float64) {
		for i := range x {
			x[i] = salt + float64(i%1000)
		}
	}, tasks.Output, tasks.Value)
)

func sumOf(x []float64, sum *float64) {
	for _, v := range x {
		*sum += v
	}
}

// Lazy readers see the bytes that were sent, and a task that overwrites the buffer waits for
// the readers and for the message, in all modes.
func TestLazyRecv(t *testing.T) {
	const n, rounds = 1 << 16, 4
	for name, opt := range map[string]dataflow.Option{"parallel": dataflow.Workers(1), "serial": dataflow.Serial(), "seeded": dataflow.Seeded(7)} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, lazyPair(t, "gige", func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread, e *dds.Endpoint, a *dds.Arena) error {
				x, err := dds.Make[float64](a, n)
				if err != nil {
					return err
				}
				var got, want float64
				for round := range rounds {
					if c.Rank() == 0 {
						makeUp.Spawn(rt, x, float64(round))
						ct.LazySend(rt, e, mpi.Of(x), 1, round, nil)
						continue
					}
					ct.LazyRecv(rt, e, mpi.Of(x), 0, round, nil)
					sumLazily.Spawn(rt, x, &got)
					clearAll.Spawn(rt, x)
					for i := range n {
						want += float64(round) + float64(i%1000)
					}
				}
				if err := rt.Wait(); err != nil {
					return err
				}
				assert.Equal(t, want, got)
				return nil
			}, opt))
		})
	}
}

// Where pages can be armed, the reader starts while its message is under way, and a
// reader that is not lazy does not.
func TestLazyRecv_starts_early(t *testing.T) {
	const n = 1 << 18            // 2 MiB: 84 ms, so that a busy machine does not take as long to start a task
	var early, late atomic.Int64 // transfers under way when the reader started, plus 1
	probe, err := dds.NewArena(1)
	require.NoError(t, err)
	name, why := probe.Backend()
	require.NoError(t, probe.Close())
	if name != dds.Uffd {
		t.Skip("nobody can be made to wait here: " + why)
	}
	if invariant.Enabled {
		t.Skip("such a build looks at all that a task reads before it starts")
	}
	require.NoError(t, lazyPair(t, "L=25us,o=1us,g=1us,bw=200Mbit", func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread, e *dds.Endpoint, a *dds.Arena) error {
		x, err := dds.Make[float64](a, n)
		if err != nil {
			return err
		}
		if err := ct.Attend(a); err != nil {
			return err
		}
		if c.Rank() == 0 {
			ct.LazySend(rt, e, mpi.Of(x), 1, 0, nil)
			return rt.Wait()
		}
		count := func(to *atomic.Int64) func([]float64) {
			return func(x []float64) { to.Store(int64(e.Outstanding()) + 1); _ = x[len(x)-1] }
		}
		ct.LazyRecv(rt, e, mpi.Of(x), 0, 0, nil)
		tasks.Declare1("early", count(&early), tasks.Lazy(tasks.Input)).Spawn(rt, x)
		tasks.Declare1("late", count(&late), tasks.Input).Spawn(rt, x)
		return rt.Wait()
	}))
	assert.EqualValues(t, 2, early.Load(), "the lazy reader starts while the message is under way")
	assert.EqualValues(t, 1, late.Load(), "the other one after its end")
}

// If a message cannot be received, its lazy readers and their successors are skipped.
func TestLazyRecv_error(t *testing.T) {
	ran := atomic.Bool{}
	err := lazyPair(t, "gige", func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread, e *dds.Endpoint, a *dds.Arena) error {
		x, err := dds.Make[float64](a, 1<<14)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			ct.LazySend(rt, e, mpi.Of(x), 1, 0, nil)
			return rt.Wait()
		}
		ct.LazyRecv(rt, e, mpi.Of(x[:100]), 0, 0, nil)
		rt.Spawn("reader", func(*tasks.Context) error { ran.Store(true); return nil }, tasks.With(tasks.Lazy(tasks.Input), x[:100]), tasks.Writes(x[200:300]))
		rt.Spawn("after", func(*tasks.Context) error { ran.Store(true); return nil }, tasks.Reads(x[200:300]))
		return rt.Wait()
	})
	require.ErrorIs(t, err, mpi.ErrTruncate)
	assert.False(t, ran.Load(), "what depended on the message ran")
}
