package commthread_test

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// slow is a network on which 8 MiB take 67 ms.
var slow = func() local.Option {
	n, err := local.ParseNet("gige")
	if err != nil {
		panic(err)
	}
	return local.Network(n)
}()

// waits reports whether memory can make readers wait here, and why not.
func waits(t *testing.T) (yes bool, why string) {
	t.Helper()
	a, err := dds.NewArena(1)
	require.NoError(t, err)
	name, why := a.Backend()
	require.NoError(t, a.Close())
	return name == dds.Uffd, why
}

// longMessage is the length of a message in numbers. Number late comes with the last strip;
// the last few come with the header.
const (
	longMessage = 1 << 20
	late        = longMessage - 1<<14
)

// lazyFault sends a long message from rank 0 to rank 1, where a task reads a late part of it
// while it arrives. It calls trouble on a new goroutine as soon as the task has started. It
// returns the errors of the ranks, the number of readers that began, and the value that the
// last one read. It checks that no state is left behind.
func lazyFault(t *testing.T, trouble func(w *local.World, rts []*dataflow.Runtime)) (errs []error, began int64, read float64) {
	t.Helper()
	var world *local.World
	var readers atomic.Int64
	rts := make([]*dataflow.Runtime, 2)
	reading := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		<-reading
		trouble(world, rts)
	}()
	s := setup{dead: true, world: func(w *local.World) { world = w }, net: []local.Option{slow}}
	errs = run(t, 2, s, func(r rank) error {
		rts[r.Rank()] = r.rt
		if err := r.Barrier(); err != nil { // both are there
			return err
		}
		a, err := dds.NewArena(8*longMessage + 1<<16)
		if err != nil {
			return err
		}
		x, err := dds.Make[float64](a, longMessage)
		if err != nil {
			return err
		}
		e, err := dds.Open(r.Comm, dds.Strips(4), dds.Fixed(dds.Constants{}))
		if err != nil {
			return errors.Join(err, a.Close())
		}
		if r.Rank() == 0 {
			x[late] = 42
			r.ct.LazySend(r.rt, e, mpi.Of(x), 1, 0, nil)
		} else {
			r.ct.LazyRecv(r.rt, e, mpi.Of(x), 0, 0, nil)
			r.rt.Spawn("reader", func(*tasks.Context) error {
				if readers.Add(1) == 1 {
					close(reading)
				}
				dds.Touch(x[late : late+1])
				read = x[late]
				return nil
			}, tasks.With(tasks.Lazy(tasks.Input), x))
		}
		err = r.rt.Wait()
		var abandoned error
		if dead := errors.Is(err, mpi.ErrPeerGone) && r.Rank() == 0; dead || err == nil {
			abandoned = e.RetireAll()
		} else {
			abandoned = e.Abandon(err)
		}
		assert.Zero(t, e.Outstanding())
		require.NoError(t, a.Close(), "every page is open")
		return errors.Join(err, abandoned)
	})
	if readers.Load() == 0 {
		close(reading)
	}
	<-over
	return errs, readers.Load(), read
}

// A reader fails if its message is lost while it runs, because the runtime of the receiver or
// of the sender is cancelled. No rank hangs.
func TestLazyRecv_lost_while_it_is_read(t *testing.T) {
	yes, why := waits(t)
	if !yes {
		t.Skip("readers start when all is there: " + why)
	}
	for name, trouble := range map[string]func(*local.World, []*dataflow.Runtime){
		"cancelled":        func(_ *local.World, rts []*dataflow.Runtime) { rts[1].Cancel(errBroken) },
		"sender cancelled": func(_ *local.World, rts []*dataflow.Runtime) { rts[0].Cancel(errBroken) },
	} {
		t.Run(name, func(t *testing.T) {
			errs, began, read := lazyFault(t, trouble)
			for tries := 1; read == 42 && tries < 10; tries++ { // a busy machine: the message was faster
				errs, began, read = lazyFault(t, trouble)
			}
			require.EqualValues(t, 1, began)
			assert.ErrorIs(t, errs[1], task.ErrOvertaken)
			assert.True(t, math.IsNaN(read), "%v", read)
			assert.ErrorIs(t, errors.Join(errs...), errBroken)
			if name != "cancelled" {
				assert.ErrorIs(t, errs[1], mpi.ErrRevoked)
			}
		})
	}
}

// A sender dies while its message is in flight: the reader gets all of the message, or fails.
func TestLazyRecv_sender_dies_while_it_is_read(t *testing.T) {
	if yes, why := waits(t); !yes {
		t.Skip("readers start when all is there: " + why)
	}
	errs, began, read := lazyFault(t, func(w *local.World, _ []*dataflow.Runtime) { w.Kill(0) })
	require.EqualValues(t, 1, began)
	if !errors.Is(errs[1], task.ErrOvertaken) { // unless its last calls were under way, which failed
		assert.Equal(t, 42.0, read)
	}
}

// A sender that dies before anything has landed: the reader never starts.
func TestLazyRecv_sender_dies_first(t *testing.T) {
	var world *local.World
	ran := atomic.Bool{}
	s := setup{dead: true, world: func(w *local.World) { world = w }, net: []local.Option{slow}}
	errs := run(t, 2, s, func(r rank) error {
		a, err := dds.NewArena(1 << 20)
		if err != nil {
			return err
		}
		x, err := dds.Make[float64](a, 1<<16)
		if err != nil {
			return err
		}
		e, err := dds.Open(r.Comm, dds.Fixed(dds.Constants{}))
		if err != nil {
			return err
		}
		if r.Rank() == 0 {
			world.Kill(0)
			return errors.Join(r.Barrier(), a.Close())
		}
		r.ct.LazyRecv(r.rt, e, mpi.Of(x), 0, 0, nil)
		r.rt.Spawn("reader", func(*tasks.Context) error { ran.Store(true); return nil }, tasks.With(tasks.Lazy(tasks.Input), x))
		err = r.rt.Wait()
		return errors.Join(err, e.Abandon(err), a.Close())
	})
	assert.ErrorIs(t, errs[1], mpi.ErrPeerGone)
	assert.False(t, ran.Load())
}

// attended returns what two tasks did, of which the first waits in a fault for the end of
// a message, with one worker: which of them ended first.
func attended(t *testing.T, attend bool) (first string) {
	t.Helper()
	var order atomic.Pointer[string]
	ended := func(name string) { order.CompareAndSwap(nil, &name) }
	n, err := local.ParseNet("L=25us,bw=200Mbit") // a third of a second: on a busy machine others come late
	require.NoError(t, err)
	errs := run(t, 2, setup{net: []local.Option{local.Network(n)}, cts: []commthread.Option{commthread.Place(commthread.Shared)}}, func(r rank) error {
		a, err := dds.NewArena(8*longMessage + 1<<16)
		if err != nil {
			return err
		}
		x, err := dds.Make[float64](a, longMessage)
		if err != nil {
			return err
		}
		e, err := dds.Open(r.Comm, dds.Strips(4), dds.Fixed(dds.Constants{}))
		if err != nil {
			return err
		}
		if attend {
			if err := r.ct.Attend(a); err != nil {
				return err
			}
		}
		if r.Rank() == 0 {
			x[late] = 42
			r.ct.LazySend(r.rt, e, mpi.Of(x), 1, 0, nil)
		} else {
			r.ct.LazyRecv(r.rt, e, mpi.Of(x), 0, 0, nil)
			r.rt.Spawn("reader", func(*tasks.Context) error {
				assert.Equal(t, 42.0, x[late])
				ended("reader")
				return nil
			}, tasks.With(tasks.Lazy(tasks.Input), x), tasks.HighPriority)
			r.rt.Spawn("other", func(*tasks.Context) error { ended("other"); return nil }, tasks.With(tasks.Lazy(tasks.Input), x))
		}
		if err := r.rt.Wait(); err != nil {
			return err
		}
		counts := a.Counts()
		if r.Rank() == 1 {
			assert.Positive(t, counts.Faults)
			assert.Positive(t, counts.Stalls)
		}
		if err := e.Close(); err != nil {
			return err
		}
		t.Cleanup(func() { assert.NoError(t, a.Close()) }) // after the thread has stopped watching
		return nil
	})
	require.NoError(t, errors.Join(errs...))
	return *order.Load()
}

// With Attend, a worker that waits in a fault does not keep its core from other tasks; without
// it, the control, it does.
func TestAttend_other_tasks_run(t *testing.T) {
	if yes, why := waits(t); !yes {
		t.Skip("nobody can be made to wait here: " + why)
	}
	assert.Equal(t, "other", attended(t, true))
	assert.Equal(t, "reader", attended(t, false))
}

// Several workers may wait for one strip; each has its core back afterwards, so the runtime
// can end.
func TestAttend_several_readers(t *testing.T) {
	if yes, why := waits(t); !yes {
		t.Skip("nobody can be made to wait here: " + why)
	}
	const readers = 3
	var sum, spun atomic.Int64
	require.NoError(t, lazyPair(t, "gige", func(c *mpi.Comm, rt *dataflow.Runtime, ct *commthread.Thread, e *dds.Endpoint, a *dds.Arena) error {
		x, err := dds.Make[float64](a, longMessage)
		if err != nil {
			return err
		}
		if err := ct.Attend(a); err != nil {
			return err
		}
		if c.Rank() == 0 {
			x[late] = 1
			ct.LazySend(rt, e, mpi.Of(x), 1, 0, nil)
			return rt.Wait()
		}
		ct.LazyRecv(rt, e, mpi.Of(x), 0, 0, nil)
		for range readers {
			rt.Spawn("reader", func(*tasks.Context) error {
				sum.Add(int64(x[late]))
				return nil
			}, tasks.With(tasks.Lazy(tasks.Input), x), tasks.HighPriority)
		}
		for range 10 {
			rt.Spawn("other", func(*tasks.Context) error {
				for range 100 {
					spun.Add(1)
					runtime.Gosched()
				}
				return nil
			}, tasks.With(tasks.Lazy(tasks.Input), x))
		}
		return rt.Wait()
	}, dataflow.Workers(readers)))
	assert.EqualValues(t, readers, sum.Load())
	assert.EqualValues(t, 1000, spun.Load())
}

// A lazy message of which one end is skipped, or fails before it has said anything, fails at the
// other end, although nobody has ended the endpoint.
func TestLazy_other_end_is_told(t *testing.T) {
	spoilt := errors.New("spoilt")
	fails := func(r rank, x []float64) {
		r.rt.Spawn("fails", func(*tasks.Context) error { return spoilt }, tasks.Writes(x))
	}
	for name, body := range map[string]func(r rank, e *dds.Endpoint, x []float64){
		"the send is skipped": func(r rank, e *dds.Endpoint, x []float64) {
			if r.Rank() == 1 {
				r.ct.LazyRecv(r.rt, e, mpi.Of(x), 0, 0, nil)
				return
			}
			fails(r, x)
			r.ct.LazySend(r.rt, e, mpi.Of(x), 1, 0, nil)
		},
		"the send fails": func(r rank, e *dds.Endpoint, x []float64) {
			if r.Rank() == 1 {
				r.ct.LazyRecv(r.rt, e, mpi.Of(x), 0, 0, nil)
				return
			}
			r.ct.LazySend(r.rt, e, mpi.Of(x), 2, 0, nil)
		},
		"the receive is skipped": func(r rank, e *dds.Endpoint, x []float64) {
			if r.Rank() == 0 {
				r.ct.LazySend(r.rt, e, mpi.Of(x), 1, 0, nil)
				return
			}
			fails(r, x)
			r.ct.LazyRecv(r.rt, e, mpi.Of(x), 0, 0, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var waited sync.WaitGroup
			waited.Add(2)
			errs := run(t, 2, setup{net: []local.Option{slow}}, func(r rank) error {
				e, err := dds.Open(r.Comm, dds.Strips(4), dds.Fixed(dds.Constants{}))
				if err != nil { // the other end has already failed
					waited.Done()
					return err
				}
				cut := time.AfterFunc(hangGuard, func() { _ = e.Abandon(errors.New("cut off")) })
				body(r, e, make([]float64, longMessage))
				err = r.rt.Wait()
				waited.Done()
				waited.Wait() // an end that leaves would tell the other
				cut.Stop()
				return errors.Join(err, e.Abandon(err))
			})
			for rank, err := range errs {
				require.Error(t, err, "rank %d", rank)
				assert.NotContains(t, err.Error(), "cut off", "rank %d", rank)
			}
		})
	}
}
