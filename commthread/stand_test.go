package commthread_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// standing runs a program of two ranks with reports of stalls after 50 ms. It is cut off,
// with an error, if it does not end by itself.
func standing(t *testing.T, body func(r rank) error) error {
	t.Helper()
	hangs(t)
	return local.Run(2, func(c *mpi.Comm) error {
		cut := time.AfterFunc(hangGuard, func() { c.Revoke(errors.New("cut off")) })
		defer cut.Stop()
		return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			return errors.Join(body(rank{c, rt, ct, setup{}}), rt.Wait())
		}, []dataflow.Option{dataflow.Workers(1), dataflow.Stall(50*time.Millisecond, false)})
	})
}

// atOnce runs programs at the same time, because they mostly stand still, and returns their errors.
func atOnce(t *testing.T, programs map[string]func(r rank) error) map[string]error {
	t.Helper()
	var mu sync.Mutex
	errs := map[string]error{}
	var wg sync.WaitGroup
	for name, program := range programs {
		wg.Go(func() {
			err := standing(t, program)
			mu.Lock()
			defer mu.Unlock()
			errs[name] = err
		})
	}
	wg.Wait()
	return errs
}

// watchReceive spawns a task that starts to receive x, and ends when it has arrived.
func watchReceive(r rank, x *int) {
	r.rt.Spawn("watches", func(ctx *tasks.Context) error {
		in := r.Irecv(mpi.One(x), r.peer(), 5)
		r.ct.Watch(ctx, func() (bool, error) { return mpi.Testall(in) })
		return nil
	}, tasks.Writes(x), tasks.OnComm)
}

// A deadlock of ranks with communication threads ends the run, if comm tasks, bodies on the
// thread, bodies with the lease, tasks, or the program itself wait.
func TestStand_deadlock_ends_the_run(t *testing.T) {
	receive := func(r rank) error {
		x := 0
		_, err := r.Recv(mpi.One(&x), r.peer(), 5)
		return err
	}
	body := func(clauses ...tasks.Clause) func(r rank) error {
		return func(r rank) error {
			r.rt.Spawn("receives", func(*tasks.Context) error { return receive(r) }, clauses...)
			return nil
		}
	}
	for name, err := range atOnce(t, map[string]func(r rank) error{
		"comm tasks": func(r rank) error {
			x, y := 0, 0
			r.ct.Recv(r.rt, r.Comm, mpi.One(&x), r.peer(), 5)
			r.ct.Recv(r.rt, r.Comm, mpi.One(&y), r.peer(), 6)
			return nil
		},
		"bodies": body(tasks.OnComm),
		"leased": body(tasks.OnComm, tasks.Leased, tasks.Independent),
		"tasks":  body(),
		"a watch": func(r rank) error {
			watchReceive(r, new(int))
			return nil
		},
		"the programs": receive,
		"a barrier": func(r rank) error {
			if r.Rank() == 0 {
				r.ct.Barrier(r.rt, r.Comm)
				return nil
			}
			return receive(r)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			var a *local.AbortError
			require.ErrorAs(t, err, &a)
			assert.Equal(t, 1, a.Code)
			for _, line := range []string{"a deadlock: ", "rank 0 waits for ", "rank 1 waits for recv on world from rank 0, tag 5"} {
				assert.ErrorContains(t, err, line)
			}
		})
	}
}

// No deadlock, although the rank stands still for a while: a body that sleeps, a goroutine
// inside Block, a held event, a message whose sender or receiver is late.
func TestStand_that_is_no_deadlock(t *testing.T) {
	const pause = 2500 * time.Millisecond // longer than two looks of the engine
	send := func(r rank) error {
		x := 7
		return r.Send(mpi.One(&x), r.peer(), 5)
	}
	late := func(late func(ctx *tasks.Context)) func(r rank) error {
		return func(r rank) error {
			x, y := 0, 0
			r.ct.Recv(r.rt, r.Comm, mpi.One(&x), r.peer(), 5)
			if r.Rank() == 0 {
				r.rt.Spawn("late", func(ctx *tasks.Context) error { late(ctx); return send(r) }, tasks.Writes(&y))
				return r.rt.Wait()
			}
			r.rt.Spawn("answers", func(*tasks.Context) error { return send(r) }, tasks.Reads(&x))
			return r.rt.Wait()
		}
	}
	held := func(r rank) error {
		x, y := 0, 0
		watchReceive(r, &x)
		if r.Rank() == 0 {
			r.rt.Spawn("holds", func(ctx *tasks.Context) error {
				time.AfterFunc(pause, ctx.Hold().Done)
				return nil
			}, tasks.Writes(&y))
			r.ct.Send(r.rt, r.Comm, mpi.One(&y), r.peer(), 5)
			return r.rt.Wait()
		}
		r.ct.Send(r.rt, r.Comm, mpi.One(&x), r.peer(), 5)
		return r.rt.Wait()
	}
	for name, err := range atOnce(t, map[string]func(r rank) error{
		"a body sleeps":                late(func(*tasks.Context) { time.Sleep(pause) }),
		"inside Block":                 late(func(ctx *tasks.Context) { ctx.Block(func() { time.Sleep(pause) }) }),
		"a held event, beside a watch": held,
	}) {
		require.NoError(t, err, name)
	}
}
