package commthread_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// A body that panics, fails or ends its goroutine fails its task and revokes its
// communicator. The thread and the other started bodies go on.
func TestBody_failures_leave_the_thread_alive(t *testing.T) {
	broken := errors.New("broken")
	for name, fail := range map[string]func() error{
		"error": func() error { return broken }, "panic": func() error { panic(broken) }, "goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			errs := run(t, 2, setup{}, func(r rank) error {
				other, err := r.apart()
				if err != nil {
					return err
				}
				gate, x, went := make(chan struct{}), r.Rank(), 0
				r.rt.Spawn("in the middle", func(ctx *tasks.Context) error {
					ctx.Block(func() { <-gate })
					went = 1
					return nil
				}, tasks.Writes(&went), tasks.OnComm, tasks.Independent)
				if r.Rank() == 0 {
					r.rt.Spawn("fails", func(*tasks.Context) error { defer close(gate); return fail() }, tasks.OnComm, tasks.Independent)
				} else {
					r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 0, 7) // nobody sends that
					close(gate)
				}
				err = r.rt.Wait()
				assert.Equal(t, 1, went)
				sum := 0
				r.ct.Allreduce(r.rt, other, mpi.One(&x), mpi.One(&sum), mpi.Sum) // the thread is alive
				assert.NoError(t, r.rt.Wait())
				assert.Equal(t, 1, sum)
				return err
			})
			if name == "goexit" {
				assert.ErrorContains(t, errs[0], "Goexit")
			} else {
				assert.ErrorIs(t, errs[0], broken)
			}
			assert.ErrorIs(t, errs[1], mpi.ErrRevoked)
			assert.ErrorContains(t, errs[1], `does not run fails`)
			assert.ErrorContains(t, errs[1], "rank 0")
		})
	}
}

// A body that fails with ErrRevoked does not revoke other communicators.
func TestBody_revoked_is_not_a_reason_to_revoke(t *testing.T) {
	succeed(t, 2, setup{}, func(r rank) error {
		other, err := r.apart()
		if err = errors.Join(err, r.Barrier()); err != nil { // nobody is inside a call on other
			return err
		}
		x := 0
		r.rt.Spawn("receive", func(*tasks.Context) error {
			_, err := other.Recv(mpi.One(&x), r.peer(), 0)
			return err
		}, tasks.OnComm)
		if r.Rank() == 0 {
			other.Revoke(errors.New("enough"))
		}
		err = r.rt.Wait()
		assert.ErrorIs(t, err, mpi.ErrRevoked)
		assert.ErrorContains(t, err, "enough")
		assert.NoError(t, r.Revoked())
		return r.Barrier() // still possible
	})
}

// Loops around Test make progress on every goroutine.
func TestBody_polling(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			poll := func(tag int) error {
				x, y := tag+r.Rank(), -1
				in, out := r.Irecv(mpi.One(&y), r.peer(), tag), r.Isend(mpi.One(&x), r.peer(), tag)
				for !done(in) || !done(out) {
				}
				if y != tag+r.peer() {
					return fmt.Errorf("got %d", y)
				}
				return nil
			}
			r.rt.Spawn("on the thread", func(*tasks.Context) error { return poll(1) }, tasks.OnComm, tasks.Independent)
			r.rt.Spawn("on the thread too", func(*tasks.Context) error { return poll(2) }, tasks.OnComm, tasks.Independent)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			r.rt.Spawn("on a worker", func(*tasks.Context) error { return poll(3) })
			if err := r.rt.Wait(); err != nil {
				return err
			}
			return poll(4)
		})
	})
}

func done(q *mpi.Request) bool {
	over, _, err := q.Test()
	return over && err == nil
}

// Bodies on the thread may do the same as bodies on workers: wait for children and events,
// block, spawn reductions and comm tasks.
func TestBody_contexts(t *testing.T) {
	add := tasks.Declare1("add", func(x []int64) { x[0]++ }, tasks.Reduction(int64(0), func(dst, src []int64) { dst[0] += src[0] }))
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			x, y, held, sum := r.Rank(), -1, 0, make([]int64, 1)
			r.rt.Spawn("parent", func(ctx *tasks.Context) error {
				r.ct.Recv(ctx, r.Comm, mpi.One(&y), r.peer(), 0)
				r.ct.Send(ctx, r.Comm, mpi.One(&x), r.peer(), 0)
				if err := ctx.Wait(); err != nil {
					return err
				}
				ctx.Spawn("child on the thread", func(*tasks.Context) error { return r.Send(mpi.One(&y), r.peer(), 1) }, tasks.OnComm)
				ctx.Spawn("child in place", func(*tasks.Context) error {
					_, err := r.Recv(mpi.One(&x), r.peer(), 1)
					return err
				}, tasks.Writes(&x), tasks.If(false))
				if x != r.Rank() {
					return fmt.Errorf("got %d back", x)
				}
				for range 10 {
					add.Spawn(ctx, sum)
				}
				return nil // children and reduction end later
			}, tasks.Writes(&y), tasks.Updates(&x), tasks.Writes(sum), tasks.OnComm)
			r.rt.Spawn("holds", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				ctx.Block(func() { held++ })
				go func() { held++; ev.Done() }()
				return nil
			}, tasks.Updates(&held), tasks.OnComm)
			r.rt.Spawn("reads", func(*tasks.Context) error {
				if y != r.peer() || held != 2 || sum[0] != 10 {
					return fmt.Errorf("got %d, %d and %d", y, held, sum[0])
				}
				return nil
			}, tasks.Reads(&y, &held, sum))
			return r.rt.Wait()
		})
	})
}

// A panic, an error or Goexit inside Block ends the body in the same way.
func TestBody_block_fails(t *testing.T) {
	broken := errors.New("broken")
	errs := run(t, 1, setup{}, func(r rank) error {
		r.rt.Spawn("panics", func(ctx *tasks.Context) error { ctx.Block(func() { panic(broken) }); return nil }, tasks.OnComm)
		r.rt.Spawn("ends", func(ctx *tasks.Context) error { ctx.Block(runtime.Goexit); return nil }, tasks.OnComm)
		return r.rt.Wait()
	})
	assert.ErrorIs(t, errs[0], broken)
	assert.ErrorContains(t, errs[0], "Goexit")
}

// Bodies are chained unless they are independent: the first one of a chain waits, and
// none starts; the independent one starts, and ends the wait.
func TestBody_chains(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 1, s, func(r rank) error {
			var order []string
			var x, y int
			note := func(s string) { order = append(order, s) } // bodies have the thread in turn
			r.rt.Spawn("first", func(*tasks.Context) error {
				note("first")
				_, err := r.Recv(mpi.One(&x), 0, 0)
				note("first ends")
				return err
			}, tasks.OnComm)
			r.rt.Spawn("second", func(*tasks.Context) error { note("second"); return nil }, tasks.OnComm)
			r.ct.Recv(r.rt, r.Comm, mpi.One(&y), 0, 1)
			r.rt.Spawn("independent", func(*tasks.Context) error {
				note("independent")
				return errors.Join(r.Ssend(mpi.One(&x), 0, 0), r.Send(mpi.One(&x), 0, 1))
			}, tasks.OnComm, tasks.Independent)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			order = slices.DeleteFunc(order, func(s string) bool { return s == "independent" })
			if want := []string{"first", "first ends", "second"}; !slices.Equal(order, want) {
				return fmt.Errorf("order %v", order)
			}
			return nil
		})
	})
}

// If(false) and Final do not change operations: they are tasks like the others.
func TestBody_clauses_of_operations(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 1, s, func(r rank) error {
			x, y, ready := 1, 0, atomic.Int32{}
			r.ct.Recv(r.rt, r.Comm, mpi.One(&y), 0, 0, tasks.If(false), tasks.Label("in"), tasks.Priority(3), tasks.OnReady(func() { ready.Add(1) }))
			r.ct.Send(r.rt, r.Comm, mpi.One(&x), 0, 0, tasks.Final(true), tasks.OnWorker(0), tasks.OnComm, tasks.Independent)
			r.rt.Spawn("in place", func(*tasks.Context) error { return r.Sendrecv2(&x, &y) }, tasks.OnComm, tasks.If(false), tasks.Updates(&y))
			err := r.rt.Wait()
			if y != 1 || ready.Load() != 1 {
				return fmt.Errorf("got %d, %d ready", y, ready.Load())
			}
			return err
		})
	})
}

// Sendrecv2 sends x to this rank itself.
func (r rank) Sendrecv2(x, y *int) error {
	_, err := r.Sendrecv(mpi.One(x), r.Rank(), 9, mpi.One(y), r.Rank(), 9)
	return err
}

// A task with OnComm that was spawned before the start of the thread runs on the thread.
func TestBody_spawned_before_start(t *testing.T) {
	hangs(t)
	withWorld(t, 1, func(c *mpi.Comm) error {
		return dataflow.Run(func(rt *dataflow.Runtime) error {
			gate, x, y := make(chan struct{}), 0, 0
			rt.Spawn("produce", func(*tasks.Context) error { <-gate; x = 1; return nil }, tasks.Writes(&x))
			rt.Spawn("on the thread", func(*tasks.Context) error { y = x; return nil }, tasks.Reads(&x), tasks.Writes(&y), tasks.OnComm)
			ct, err := commthread.Start(c, rt)
			require.NoError(t, err)
			close(gate)
			assert.NoError(t, ct.Stop())
			assert.Equal(t, 1, y)
			return commthread.Audit(ct)
		}, dataflow.Workers(2))
	})
}

// Bodies start in program order, and the first one may be ready last: the bodies behind it do
// not hold the commutative lock that it needs.
func TestBody_commutative_in_program_order(t *testing.T) {
	for _, clauses := range [][]tasks.Clause{{tasks.OnComm}, {tasks.OnComm, tasks.Independent}} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprint(len(clauses), workers), func(t *testing.T) {
				errs := run(t, 2, setup{rts: []dataflow.Option{dataflow.Workers(workers), dataflow.Stall(2*time.Second, true)}}, func(r rank) error {
					var x, y int
					add := func(*tasks.Context) error { x++; return nil }
					r.rt.Spawn("late", func(ctx *tasks.Context) error { ctx.Block(func() { time.Sleep(20 * time.Millisecond) }); return nil }, tasks.Updates(&y))
					r.rt.Spawn("first", add, append(clauses, tasks.Reads(&y), tasks.With(tasks.Commutative, &x))...)
					r.rt.Spawn("second", add, append(clauses, tasks.With(tasks.Commutative, &x))...)
					r.rt.Spawn("on a worker", add, tasks.With(tasks.Commutative, &x))
					err := r.rt.Wait()
					assert.Equal(t, 3, x)
					return err
				})
				for _, err := range errs {
					assert.NoError(t, err)
				}
			})
		}
	}
}
