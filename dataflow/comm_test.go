package dataflow

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// fakeComm is an executor of the comm target: one goroutine that takes the tasks
// that are ready and ends them a little later, in the opposite order, as messages
// may.
type fakeComm struct {
	noBodies
	rt    *Runtime
	mu    sync.Mutex
	ready []*task.Record // guarded by mu
	some  chan struct{}
	quit  chan struct{}
	seen  atomic.Int32
}

func (c *fakeComm) Ready(r *task.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = append(c.ready, r)
	select {
	case c.some <- struct{}{}:
	default:
	}
}

func (c *fakeComm) loop() {
	for {
		select {
		case <-c.quit:
			return
		case <-c.some:
		}
		time.Sleep(50 * time.Microsecond)
		c.mu.Lock()
		batch := c.ready
		c.ready = nil
		c.mu.Unlock()
		for i := len(batch) - 1; i >= 0; i-- {
			c.complete(batch[i])
		}
	}
}

func (c *fakeComm) complete(r *task.Record) {
	if r.Poisoned() {
		c.rt.external.skip(r)
	} else {
		c.seen.Add(1)
		r.Exec = c.rt.external
		r.Err = r.Decl.Run(r)
	}
	c.rt.external.finish(r)
}

// runComm runs body on a runtime with a fake communication thread, which it returns.
func runComm(t *testing.T, body func(rt *Runtime) error, opts ...Option) (*fakeComm, error) {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { panic(t.Name() + " is not over after a minute") })
	defer timer.Stop()
	c := &fakeComm{some: make(chan struct{}, 1), quit: make(chan struct{})}
	defer close(c.quit)
	err := Run(func(rt *Runtime) error {
		c.rt, rt.comm = rt, c
		go c.loop()
		return body(rt)
	}, opts...)
	return c, err
}

var commModes = map[string][]Option{
	"1 worker": {Workers(1)}, "2 workers": {Workers(2)}, "small window": {Workers(2), Window(4)}, "serial": {Serial()}, "seeded": {Seeded(7)},
}

// Messages and arithmetic in turn, along chains: the order of every chain is kept.
func TestComm_tasks_in_chains(t *testing.T) {
	send := tasks.Declare1("send", func(x *int) { *x *= 2 }, tasks.Inout, tasks.OnComm)
	compute := tasks.Declare1("compute", func(x *int) { *x++ }, tasks.Inout)
	for name, opts := range commModes {
		t.Run(name, func(t *testing.T) {
			var x [5]int
			c, err := runComm(t, func(rt *Runtime) error {
				for range 10 {
					for i := range x {
						compute.Spawn(rt, &x[i])
						send.Spawn(rt, &x[i])
					}
				}
				assert.NoError(t, rt.WaitOn(&x[3]))
				assert.Equal(t, 2046, x[3])
				for i := range x {
					compute.Spawn(rt, &x[i])
				}
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.Equal(t, [5]int{2047, 2047, 2047, 2047, 2047}, x)
			assert.EqualValues(t, 50, c.seen.Load())
		})
	}
}

// A receive that ends only when a later send has been started does not stop the
// submitter, in any mode: comm tasks are started in order and not waited for.
func TestComm_exchange(t *testing.T) {
	receive := tasks.Declare1("receive", func(x *int) { *x = 42 }, tasks.Output, tasks.OnComm)
	send := tasks.Declare1("send", func(*int) {}, tasks.Input, tasks.OnComm)
	use := tasks.Declare2("use", func(x, sum *int) { *sum += *x }, tasks.Input, tasks.Inout)
	for name, opts := range commModes {
		t.Run(name, func(t *testing.T) {
			in, out, sum := 0, 0, 0
			err := Run(func(rt *Runtime) error {
				var posted []*task.Record // receives
				rt.comm = executorFunc(func(r *task.Record) {
					if r.Label() == "receive" {
						posted = append(posted, r)
						return
					}
					peer := &fakeComm{rt: rt}
					go func() {
						peer.complete(r)
						peer.complete(posted[0])
					}()
				})
				receive.Spawn(rt, &in)
				send.Spawn(rt, &out)
				use.Spawn(rt, &in, &sum)
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.Equal(t, 42, sum)
		})
	}
}

// Tasks behind a failure never come to the executor; a comm task that fails poisons
// what depends on it.
func TestComm_tasks_and_failures(t *testing.T) {
	lost := errors.New("lost")
	for name, opts := range commModes {
		t.Run(name, func(t *testing.T) {
			var x, y int
			c, err := runComm(t, func(rt *Runtime) error {
				rt.Spawn("fails", func(*tasks.Context) error { return lost }, tasks.Updates(&x))
				rt.Spawn("never sent", func(*tasks.Context) error { panic("sent") }, tasks.Updates(&x), tasks.OnComm)
				err := rt.Wait()
				assert.ErrorIs(t, err, lost)
				rt.Spawn("fails", func(*tasks.Context) error { return lost }, tasks.Updates(&y), tasks.OnComm)
				rt.Spawn("skipped", func(*tasks.Context) error { panic("ran") }, tasks.Updates(&y))
				rt.Spawn("never sent", func(*tasks.Context) error { panic("sent") }, tasks.Updates(&y), tasks.OnComm)
				err = rt.Wait()
				assert.ErrorIs(t, err, lost)
				assert.ErrorContains(t, err, "2 tasks that depended")
				rt.Spawn("fine", func(*tasks.Context) error { y = 1; return nil }, tasks.Updates(&y), tasks.OnComm)
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.Equal(t, 1, y)
			assert.EqualValues(t, 2, c.seen.Load())
		})
	}
}

// The end of a comm task wakes the goroutine that waits for it: a worker, the submitter in
// Wait or WaitOn, a body that waits for a child.
func TestComm_completion_wakes_sleepers(t *testing.T) {
	slow := tasks.Declare1("slow", func(x *int) { time.Sleep(300 * time.Microsecond); *x++ }, tasks.Inout, tasks.OnComm)
	for _, workers := range []int{1, 2} {
		n := 0
		_, err := runComm(t, func(rt *Runtime) error {
			var x int
			for range 15 {
				slow.Spawn(rt, &x)
				rt.Spawn("after", func(*tasks.Context) error { n++; return nil }, tasks.Updates(&x))
				if err := rt.WaitOn(&x); err != nil {
					return err
				}
				slow.Spawn(rt, &x)
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					slow.Spawn(ctx, &x)
					slow.Spawn(ctx, &x)
					if err := ctx.WaitOn(&x); err != nil {
						return err
					}
					slow.Spawn(ctx, &x)
					return ctx.Wait()
				}, tasks.Updates(&x))
				if err := rt.Wait(); err != nil {
					return err
				}
			}
			assert.Equal(t, 75, x)
			return nil
		}, Workers(workers))
		require.NoError(t, err)
		assert.Equal(t, 15, n)
	}
}

// More comm tasks under way than the window has room for do not stop the submitter:
// it grows.
func TestComm_above_the_window(t *testing.T) {
	const window = 8
	for _, workers := range []int{1, 2} {
		var held []*task.Record
		var mu sync.Mutex
		err := Run(func(rt *Runtime) error {
			rt.comm = executorFunc(func(r *task.Record) {
				mu.Lock()
				defer mu.Unlock()
				held = append(held, r)
			})
			x := make([]int, 10*window)
			for i := range x {
				rt.Spawn("posted", func(*tasks.Context) error { x[i] = 1; return nil }, tasks.Updates(&x[i]), tasks.OnComm)
			}
			go func() {
				for _, r := range held {
					(&fakeComm{rt: rt}).complete(r)
				}
			}()
			err := rt.Wait()
			for i := range x {
				assert.Equal(t, 1, x[i])
			}
			return err
		}, Workers(workers), Window(window))
		require.NoError(t, err)
		assert.Len(t, held, 10*window)
	}
}

// noBodies is the part of an executor that concerns bodies that wait.
type noBodies struct{}

func (noBodies) Spawned(*task.Record) {}
func (noBodies) Await(func() bool)    {}
func (noBodies) Wake()                {}
func (noBodies) Report() []string     { return nil }
func (noBodies) Advances() uint64     { return 0 }
func (noBodies) Watches() int         { return 0 }
func (noBodies) Quiet(uint64)         {}

// quietOn is an executor on which something goes on while a report is made.
type quietOn struct {
	noBodies
	during   func() // the report
	advances atomic.Uint64
	told     chan uint64 // what Quiet got
}

func (q *quietOn) Ready(*task.Record)    {}
func (q *quietOn) Report() []string      { q.during(); return nil }
func (q *quietOn) Advances() uint64      { return q.advances.Load() }
func (q *quietOn) Quiet(advances uint64) { q.told <- advances }

// Quiet gets the number of advances from long before the report, so the executor notices if
// the number has changed since. If a task has ended since, Quiet is not called.
func TestComm_quiet_is_of_the_look(t *testing.T) {
	report := func(during func(q *quietOn, l executor.Port, r *task.Record)) (told []uint64) {
		q := &quietOn{told: make(chan uint64, 100)}
		q.advances.Store(7)
		err := Run(func(rt *Runtime) error {
			l, err := rt.attach(q)
			if err != nil {
				return err
			}
			var recs []*task.Record
			for range 2 {
				x := new(int)
				rt.Spawn("call", func(*tasks.Context) error { return nil }, tasks.Updates(x), tasks.OnComm)
			}
			rt.w0.alloc.Each(func(r *task.Record) {
				if !r.Ended() && r.Seq() != 0 {
					recs = append(recs, r)
				}
			})
			reports := 0
			q.during = func() {
				if reports++; reports == 1 {
					during(q, l, recs[0])
				}
				if reports == 2 {
					for _, r := range recs {
						if !r.Ended() {
							l.Finish(r, nil)
						}
					}
				}
			}
			err = rt.Wait()
			return errors.Join(err, l.Detach())
		}, Workers(1), Stall(40*time.Millisecond, false))
		require.NoError(t, err)
		close(q.told)
		for n := range q.told {
			told = append(told, n)
		}
		return told
	}
	assert.Equal(t, uint64(7), report(func(q *quietOn, _ executor.Port, _ *task.Record) { q.advances.Add(1) })[0])
	assert.Empty(t, report(func(_ *quietOn, l executor.Port, r *task.Record) { l.Finish(r, nil) }))
}

type executorFunc func(r *task.Record)

func (f executorFunc) Spawned(*task.Record) {}
func (f executorFunc) Await(func() bool)    {}
func (f executorFunc) Wake()                {}
func (f executorFunc) Report() []string     { return nil }
func (f executorFunc) Advances() uint64     { return 0 }
func (f executorFunc) Watches() int         { return 0 }
func (f executorFunc) Quiet(uint64)         {}

func (f executorFunc) Ready(r *task.Record) { f(r) }
