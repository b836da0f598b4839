package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// Priorities.

// passing counts the low tasks that each worker starts while a high one is ready.
type passing struct {
	ready, started atomic.Bool // of the high task
	low            [4]atomic.Int32
}

func (p *passing) lowBody(ctx *tasks.Context) error {
	if p.ready.Load() && !p.started.Load() {
		p.low[ctx.Worker()].Add(1)
	}
	for end := time.Now().Add(10 * time.Microsecond); time.Now().Before(end); {
		osthread.Relax()
	}
	return nil
}

func (p *passing) highBody(*tasks.Context) error { p.started.Store(true); return nil }

// atMostOne runs a program a few times, until no worker has started more than one
// low task while the high one was ready: the system may take the core from a worker
// that has just taken the high task from the queue.
func atMostOne(t *testing.T, workers int, program func(*dataflow.Runtime, *passing)) {
	t.Helper()
	var seen []int32
	for range 10 {
		p := new(passing)
		err := run(t, func(rt *dataflow.Runtime) error { program(rt, p); return rt.Wait() }, dataflow.Workers(workers))
		require.NoError(t, err)
		assert.True(t, p.started.Load())
		most := int32(0)
		for i := range p.low {
			most = max(most, p.low[i].Load())
		}
		if most <= 1 {
			return
		}
		seen = append(seen, most)
	}
	assert.Fail(t, "low tasks pass the high one", "most on one worker, in each run: %v", seen)
}

// With 1000 tasks of low priority ready, one of high priority starts within the
// length of one task, on any worker.
func TestPriority_of_a_late_task(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		for _, low := range []int{0, 1, -3} {
			t.Run(fmt.Sprintf("workers=%d/low=%d", workers, low), func(t *testing.T) {
				atMostOne(t, workers, func(rt *dataflow.Runtime, p *passing) {
					for range 1000 {
						rt.Spawn("low", p.lowBody, tasks.Priority(low))
					}
					rt.Spawn("high", p.highBody, tasks.HighPriority)
					p.ready.Store(true)
				})
			})
		}
	}
}

// The same when the task becomes ready inside the run: as the successor of a task of low
// priority or with a held event, or as a child.
func TestPriority_of_a_task_that_becomes_ready(t *testing.T) {
	for _, how := range []string{"successor", "child", "event"} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/workers=%d", how, workers), func(t *testing.T) {
				atMostOne(t, workers, func(rt *dataflow.Runtime, p *passing) {
					var x int64
					isReady := tasks.OnReady(func() { p.ready.Store(true) })
					for range 500 {
						rt.Spawn("low", p.lowBody)
					}
					rt.Spawn("trigger", func(ctx *tasks.Context) error {
						switch how {
						case "child":
							ctx.Spawn("high", p.highBody, tasks.HighPriority, isReady)
						case "event":
							ctx.Hold().Done()
						}
						return nil
					}, tasks.Updates(&x))
					for range 500 {
						rt.Spawn("low", p.lowBody)
					}
					if how != "child" {
						rt.Spawn("high", p.highBody, tasks.Updates(&x), tasks.HighPriority, isReady)
					}
				})
			})
		}
	}
}

// The same on workers that go along chains, where each task is the successor of the
// one before.
func TestPriority_beside_chains(t *testing.T) {
	for _, how := range []string{"child", "event"} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/workers=%d", how, workers), func(t *testing.T) {
				atMostOne(t, workers, func(rt *dataflow.Runtime, p *passing) {
					var chains [2]int64
					var x int64
					var ev *tasks.Event
					isReady := tasks.OnReady(func() { p.ready.Store(true) })
					rt.Spawn("holds", func(ctx *tasks.Context) error { ev = ctx.Hold(); return nil }, tasks.Updates(&x), tasks.If(false))
					if how == "event" {
						rt.Spawn("high", p.highBody, tasks.Updates(&x), tasks.HighPriority, isReady)
					}
					for i := range 400 {
						rt.Spawn("link", func(ctx *tasks.Context) error {
							if i == 200 {
								ev.Done()
								if how == "child" {
									ctx.Spawn("high", p.highBody, tasks.HighPriority, isReady)
								}
							}
							return p.lowBody(ctx)
						}, tasks.Updates(&chains[i%2]))
					}
				})
			})
		}
	}
}

// One worker runs ready tasks in the order of their priorities, and tasks of equal
// priority as they were spawned.
func TestPriority_order(t *testing.T) {
	prios := []int{0, -1, 3, 1 << 20, -1 << 31, 0, 7, -1, 3, 1<<31 - 1, 0, -1 << 40, 1 << 40}
	var got []int
	err := run(t, func(rt *dataflow.Runtime) error {
		for _, p := range prios {
			rt.Spawn("task", func(*tasks.Context) error { got = append(got, p); return nil }, tasks.Priority(p))
		}
		return rt.Wait()
	}, dataflow.Workers(1))
	require.NoError(t, err)
	assert.Equal(t, []int{1<<31 - 1, 1 << 40, 1 << 20, 7, 3, 3, 0, 0, 0, -1, -1, -1 << 31, -1 << 40}, got)
}

// Successors of negative priority come after tasks without one.
func TestPriority_of_a_successor_below_others(t *testing.T) {
	var order []string
	err := run(t, func(rt *dataflow.Runtime) error {
		var x int64
		note := func(name string) func(*tasks.Context) error {
			return func(*tasks.Context) error { order = append(order, name); return nil }
		}
		rt.Spawn("first", note("first"), tasks.Updates(&x))
		rt.Spawn("last", note("last"), tasks.Updates(&x), tasks.Priority(-1))
		rt.Spawn("between", note("between"))
		return rt.Wait()
	}, dataflow.Workers(1))
	require.NoError(t, err)
	assert.Equal(t, []string{"first", "between", "last"}, order)
}

// Concurrency.

func TestTasks_that_can_only_finish_together(t *testing.T) {
	for _, workers := range []int{2, 3, 4} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				var x [8]int64
				for range 20 {
					for range 2 { // some ready at once, some later
						meet := meeting(int32(workers))
						for i := range workers {
							rt.Spawn("meets", func(*tasks.Context) error { return meet() }, tasks.Updates(&x[i]))
						}
					}
					if err := rt.Wait(); err != nil {
						return err
					}
				}
				meet := meeting(int32(workers))
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					for range workers { // children
						ctx.Spawn("meets", func(*tasks.Context) error { return meet() })
					}
					return ctx.Wait()
				})
				if err := rt.Wait(); err != nil {
					return err
				}
				rt.Spawn("fork", nothing, tasks.Writes(&x))
				meet2 := meeting(int32(workers))
				for range workers { // successors of one task
					rt.Spawn("meets", func(*tasks.Context) error { return meet2() }, tasks.Reads(&x))
				}
				return rt.Wait()
			}, dataflow.Workers(workers))
			require.NoError(t, err)
		})
	}
}

// The successor stays on the worker that released it, as long as nothing is more
// urgent.
func TestSuccessor_stays_on_its_worker(t *testing.T) {
	const chains, length = 2, 200
	var moved atomic.Int32
	err := run(t, func(rt *dataflow.Runtime) error {
		var data [chains]int64
		last := [chains]int{-1, -1}
		for range length {
			for c := range chains {
				rt.Spawn("link", func(ctx *tasks.Context) error {
					if last[c] >= 0 && last[c] != ctx.Worker() {
						moved.Add(1)
					}
					last[c] = ctx.Worker()
					for end := time.Now().Add(5 * time.Microsecond); time.Now().Before(end); {
						osthread.Relax()
					}
					return nil
				}, tasks.Updates(&data[c]))
			}
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
	assert.Less(t, moved.Load(), int32(chains*length/10), "moves among %d links", chains*length)
}

// Affinity, as the kernel sees it.

func needLinux(t *testing.T) {
	if runtime.GOOS != "linux" || osthread.NumCores() < 2 {
		t.Skip("needs Linux, where threads can be pinned, and two cores")
	}
}

func mask(t *testing.T) osthread.CPUSet {
	t.Helper()
	m, err := osthread.Affinity()
	require.NoError(t, err)
	return m
}

func TestPin_gives_every_worker_a_core(t *testing.T) {
	needLinux(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	found := mask(t)
	n := osthread.NumCores()
	for range 3 { // three runtimes, one after the other
		masks := make([]osthread.CPUSet, n)
		err := run(t, func(rt *dataflow.Runtime) error {
			for i := range n {
				rt.Spawn("where", func(ctx *tasks.Context) error {
					assert.Equal(t, i, ctx.Worker())
					masks[i] = mask(t)
					return nil
				}, tasks.OnWorker(i))
			}
			return rt.Wait()
		}, dataflow.Workers(n))
		require.NoError(t, err)
		var all osthread.CPUSet
		for i, m := range masks {
			assert.Equal(t, 1, m.Count(), "worker %d", i)
			all = all.Or(m)
		}
		assert.Equal(t, n, all.Count(), "all different")
		assert.Equal(t, found, mask(t), "the mask found is restored")
	}
}

func TestPin_off(t *testing.T) {
	needLinux(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	found := mask(t)
	err := run(t, func(rt *dataflow.Runtime) error {
		for i := range 2 {
			rt.Spawn("where", func(*tasks.Context) error { assert.Equal(t, found, mask(t)); return nil }, tasks.OnWorker(i))
		}
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.Pin(false))
	require.NoError(t, err)
	assert.Equal(t, found, mask(t))
}

// A spare runs on the core of the worker that it stands in for.
func TestPin_of_a_spare(t *testing.T) {
	needLinux(t)
	err := run(t, func(rt *dataflow.Runtime) error {
		var mine, other osthread.CPUSet
		spare := 0
		rt.Spawn("blocked", func(ctx *tasks.Context) error {
			mine = mask(t)
			ran := make(chan struct{})
			ctx.Spawn("on the spare", func(c *tasks.Context) error {
				defer close(ran)
				other, spare = mask(t), c.Worker()
				return nil
			})
			ctx.Block(func() { <-ran })
			return ctx.Wait()
		})
		err := rt.Wait()
		assert.Positive(t, spare)
		assert.Equal(t, mine, other)
		assert.Equal(t, 1, mine.Count())
		return err
	}, dataflow.Workers(1))
	require.NoError(t, err)
}

// An idle spare moves to another core that needs it, if the process may have only one.
func TestPin_of_a_spare_that_moves(t *testing.T) {
	needLinux(t)
	defer dataflow.SetMaxSpares(1)()
	err := run(t, func(rt *dataflow.Runtime) error {
		var cores, spares [2]osthread.CPUSet
		for i := range 2 {
			held, ran := make(chan struct{}), make(chan struct{})
			rt.Spawn("holds the other core", func(*tasks.Context) error {
				close(held)
				<-ran
				return nil
			}, tasks.OnWorker(1-i))
			rt.Spawn("blocked", func(ctx *tasks.Context) error {
				cores[i] = mask(t)
				<-held
				ctx.Spawn("on the spare", func(c *tasks.Context) error {
					defer close(ran)
					spares[i] = mask(t)
					return nil
				})
				ctx.Block(func() { <-ran })
				return ctx.Wait()
			}, tasks.OnWorker(i))
			if err := rt.Wait(); err != nil {
				return err
			}
			for rt.RestingSpares() == 0 { // until then it may take a task, still on its former core
				runtime.Gosched()
			}
		}
		assert.Equal(t, 1, rt.SpareWorkers())
		assert.Equal(t, cores, spares)
		assert.NotEqual(t, cores[0], cores[1])
		return nil
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// Two runtimes at the same time: the cores are the first one's, the second is not
// pinned. Afterwards they are free again.
func TestTwo_runtimes_at_once(t *testing.T) {
	needLinux(t)
	n := osthread.NumCores()
	err := run(t, func(first *dataflow.Runtime) error {
		var second error
		var pinned atomic.Int32
		var x, y int64
		over := make(chan struct{})
		go func() {
			defer close(over)
			second = dataflow.Run(func(rt *dataflow.Runtime) error {
				meet := meeting(2)
				for range 2 {
					rt.Spawn("where", func(*tasks.Context) error {
						if mask(t).Count() == 1 {
							pinned.Add(1)
						}
						return meet()
					})
				}
				for range 10_000 {
					addOne.Spawn(rt, &y)
				}
				return rt.Wait()
			}, dataflow.Workers(2))
		}()
		for range 10_000 {
			addOne.Spawn(first, &x)
		}
		err := first.Wait()
		<-over
		assert.NoError(t, second)
		assert.Zero(t, pinned.Load())
		assert.EqualValues(t, 10_000, x)
		assert.EqualValues(t, 10_000, y)
		return err
	}, dataflow.Workers(n))
	require.NoError(t, err)
	claim := osthread.ClaimCores(n)
	assert.False(t, claim.Oversubscribed(), "all cores have been given back")
	claim.Release()
}

func TestRuntimes_come_and_go_on_many_goroutines(t *testing.T) {
	deadline(t, patience)
	before := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 10 {
				x := int64(0)
				rt, err := dataflow.New(dataflow.Workers(1 + (g+i)%3))
				if !assert.NoError(t, err) {
					return
				}
				for range 100 {
					addOne.Spawn(rt, &x)
				}
				if i%2 == 0 {
					assert.NoError(t, rt.Wait())
				}
				assert.NoError(t, rt.Close())
				assert.EqualValues(t, 100, x)
			}
		})
	}
	all.Wait()
	assert.Equal(t, before, runtime.GOMAXPROCS(0))
}

// A runtime inside a task of another.
func TestRuntime_inside_a_task(t *testing.T) {
	x := int64(0)
	err := run(t, func(rt *dataflow.Runtime) error {
		for worker := range 2 {
			rt.Spawn("outer", func(ctx *tasks.Context) error {
				return dataflow.Run(func(inner *dataflow.Runtime) error {
					for range 100 {
						addOne.Spawn(inner, &x)
					}
					return inner.Wait()
				}, dataflow.Workers(2), dataflow.Context(ctx))
			}, tasks.OnWorker(worker), tasks.Updates(&x))
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
	assert.EqualValues(t, 200, x)
}

// Block.

func TestBlock_gives_the_core_away(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, bound := range []int{-1, 0, workers - 1} {
			t.Run(fmt.Sprintf("workers=%d/on=%d", workers, bound), func(t *testing.T) {
				err := run(t, func(rt *dataflow.Runtime) error {
					where := tasks.Cost(time.Millisecond)
					if bound >= 0 {
						where = tasks.OnWorker(bound)
					}
					for range 10 {
						ch := make(chan struct{})
						for range workers {
							rt.Spawn("sleeps", func(ctx *tasks.Context) error { ctx.Block(func() { <-ch }); return nil }, where)
						}
						rt.Spawn("wakes", func(*tasks.Context) error { close(ch); return nil })
						if err := rt.Wait(); err != nil {
							return err
						}
					}
					return nil
				}, dataflow.Workers(workers))
				require.NoError(t, err)
			})
		}
	}
}

func TestBlock_64_times_at_once(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			var inside atomic.Int32
			most := int32(0)
			err := run(t, func(rt *dataflow.Runtime) error {
				for range 3 { // spares are used again
					open := make(chan struct{})
					for range 64 {
						rt.Spawn("sleeps", func(ctx *tasks.Context) error {
							ctx.Block(func() {
								if n := inside.Add(1); n == 64 {
									most = n
									close(open)
								}
								<-open
								inside.Add(-1)
							})
							return nil
						})
					}
					if err := rt.Wait(); err != nil {
						return err
					}
				}
				return nil
			}, dataflow.Workers(workers))
			require.NoError(t, err)
			assert.EqualValues(t, 64, most)
		})
	}
}

// A chain of bodies, each inside Block until its child has been inside Block.
func TestBlock_nested(t *testing.T) {
	var descend func(depth int) func(*tasks.Context) error
	descend = func(depth int) func(*tasks.Context) error {
		return func(ctx *tasks.Context) error {
			if depth == 0 {
				return nil
			}
			below := make(chan error, 1)
			ctx.Spawn("deeper", func(c *tasks.Context) error {
				err := descend(depth - 1)(c)
				below <- err
				return err
			})
			ctx.Block(func() { <-below })
			ctx.Block(func() {})
			return ctx.Wait()
		}
	}
	for _, workers := range []int{1, 2} {
		err := run(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("top", descend(32))
			return rt.Wait()
		}, dataflow.Workers(workers))
		require.NoError(t, err)
	}
}

func TestRuntime_Block(t *testing.T) {
	for _, workers := range []int{1, 2} {
		x := int64(0)
		err := run(t, func(rt *dataflow.Runtime) error {
			for range 20 {
				ran := make(chan int, 1)
				rt.Spawn("runs meanwhile", func(ctx *tasks.Context) error { ran <- ctx.Worker(); return nil }, tasks.Updates(&x))
				rt.Block(func() { assert.NotZero(t, <-ran) })
				addOne.Spawn(rt, &x)
			}
			assert.PanicsWithValue(t, "inside", func() { rt.Block(func() { panic("inside") }) })
			addOne.Spawn(rt, &x)
			return rt.Wait()
		}, dataflow.Workers(workers))
		require.NoError(t, err)
		assert.EqualValues(t, 21, x)
	}
}

// What runs inside Runtime.Block is still the submitter.
func TestRuntime_Block_around_spawns_and_waits(t *testing.T) {
	for _, workers := range []int{1, 2} {
		x := int64(0)
		err := run(t, func(rt *dataflow.Runtime) error {
			for range 20 {
				rt.Block(func() {
					for range 10 {
						addOne.Spawn(rt, &x)
					}
					assert.NoError(t, rt.WaitOn(&x))
					rt.Block(func() {})
					addOne.Spawn(rt, &x)
					assert.NoError(t, rt.Wait())
				})
			}
			return nil
		}, dataflow.Workers(workers))
		require.NoError(t, err)
		assert.EqualValues(t, 220, x)
	}
}

func TestBlock_in_the_other_modes(t *testing.T) {
	for name, mode := range map[string]dataflow.Option{"serial": dataflow.Serial(), "seeded": dataflow.Seeded(5), "verify": dataflow.Verify()} {
		t.Run(name, func(t *testing.T) {
			n := 0
			err := run(t, func(rt *dataflow.Runtime) error {
				rt.Block(func() { n++ })
				rt.Spawn("blocks", func(ctx *tasks.Context) error { ctx.Block(func() { n++ }); return nil })
				return rt.Wait()
			}, mode)
			require.NoError(t, err)
			assert.Equal(t, 2, n)
		})
	}
}

// A body that panics inside Block has come back from it.
func TestBlock_whose_function_panics(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		for range 10 {
			rt.Spawn("blocks", func(ctx *tasks.Context) error { ctx.Block(func() { panic(errOwn) }); return nil })
			assert.ErrorIs(t, rt.Wait(), errOwn)
		}
		meet := meeting(2)
		for range 2 {
			rt.Spawn("meets", func(*tasks.Context) error { return meet() })
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// The window.

func TestWindow_is_kept(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, window := range []int{1, 2, 7, 64, 1000} {
			t.Run(fmt.Sprintf("workers=%d/window=%d", workers, window), func(t *testing.T) {
				var ended atomic.Int64
				most := int64(0)
				err := run(t, func(rt *dataflow.Runtime) error {
					for i := range int64(5000) {
						rt.Spawn("task", func(*tasks.Context) error { ended.Add(1); return nil })
						most = max(most, i+1-ended.Load())
					}
					return rt.Wait()
				}, dataflow.Workers(workers), dataflow.Window(window))
				require.NoError(t, err)
				// Workers publish what they have ended every 16 tasks, or sooner.
				assert.LessOrEqual(t, most, int64(window+16*workers))
			})
		}
	}
}

// Everything that is unfinished waits for an event from outside, which comes only
// after more spawns than the window has room for: it grows.
func TestWindow_grows_when_everything_waits_for_outside(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for _, how := range []string{"event", "dependence"} {
			t.Run(fmt.Sprintf("workers=%d/%s", workers, how), func(t *testing.T) {
				const window = 16
				var ran atomic.Int32
				var x int64
				open := make(chan struct{})
				err := run(t, func(rt *dataflow.Runtime) error {
					hold := func(ctx *tasks.Context) error {
						ran.Add(1)
						ev := ctx.Hold()
						go func() { <-open; ev.Done() }()
						return nil
					}
					rt.Spawn("head", hold, tasks.Updates(&x))
					for range 5 * window {
						if how == "dependence" {
							addOne.Spawn(rt, &x)
						} else {
							rt.Spawn("more", hold)
						}
					}
					close(open)
					return rt.Wait()
				}, dataflow.Workers(workers), dataflow.Window(window))
				require.NoError(t, err)
				if how == "dependence" {
					assert.EqualValues(t, 5*window, x)
				} else {
					assert.EqualValues(t, 5*window+1, ran.Load())
				}
			})
		}
	}
}

// Clauses.

func TestOnReady(t *testing.T) {
	for name, opts := range map[string][]dataflow.Option{
		"1 worker": {dataflow.Workers(1)}, "2 workers": {dataflow.Workers(2)}, "serial": {dataflow.Serial()}, "seeded": {dataflow.Seeded(2)},
	} {
		t.Run(name, func(t *testing.T) {
			var x, seen int64
			var hooks atomic.Int32
			err := run(t, func(rt *dataflow.Runtime) error {
				for i := range 100 {
					addOne.Spawn(rt, &x, tasks.OnReady(func() {
						hooks.Add(1)
						seen = x // the task will see this value: its dependences are satisfied
						assert.EqualValues(t, i, seen)
					}))
				}
				addOne.Spawn(rt, &x, tasks.OnReady(nil))
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.EqualValues(t, 100, hooks.Load())
			assert.EqualValues(t, 101, x)
		})
	}
}

func TestIf_runs_in_place(t *testing.T) {
	for _, workers := range []int{1, 2} {
		var x, y int64
		err := run(t, func(rt *dataflow.Runtime) error {
			for i := range int64(200) {
				addOne.Spawn(rt, &x) // perhaps on another worker
				rt.Spawn("in place", func(ctx *tasks.Context) error {
					assert.Zero(t, ctx.Worker())
					x++
					return nil
				}, tasks.Updates(&x), tasks.If(false))
				assert.Equal(t, 2*i+2, x, "has ended when Spawn returns")
			}
			rt.Spawn("deferred", func(*tasks.Context) error { y++; return nil }, tasks.Updates(&y), tasks.If(true))
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				worker := ctx.Worker()
				ctx.Spawn("in place", func(c *tasks.Context) error {
					assert.Equal(t, worker, c.Worker())
					y += 10
					return nil
				}, tasks.If(false), tasks.Updates(&y))
				y += 100
				return nil
			}, tasks.Updates(&y))
			rt.Spawn("fails", func(*tasks.Context) error { return errOwn }, tasks.If(false))
			assert.ErrorIs(t, rt.Wait(), errOwn)
			return nil
		}, dataflow.Workers(workers))
		require.NoError(t, err)
		assert.EqualValues(t, 111, y)
	}
}

func TestFinal_runs_all_descendants_in_place(t *testing.T) {
	var n, strangers atomic.Int32
	var grow func(worker, depth int) func(*tasks.Context) error
	grow = func(worker, depth int) func(*tasks.Context) error {
		return func(ctx *tasks.Context) error {
			n.Add(1)
			if ctx.Worker() != worker {
				strangers.Add(1)
			}
			for range 2 {
				if depth > 0 {
					before := n.Load()
					ctx.Spawn("child", grow(worker, depth-1))
					assert.Greater(t, n.Load(), before, "has run when Spawn returns")
				}
			}
			return nil
		}
	}
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("root", func(ctx *tasks.Context) error { return grow(ctx.Worker(), 6)(ctx) }, tasks.Final(true))
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
	assert.EqualValues(t, 127, n.Load())
	assert.Zero(t, strangers.Load())
}

// Costs decide only about waking: the tasks run in any case.
func TestCost(t *testing.T) {
	for _, cost := range []time.Duration{0, -1, 1, time.Microsecond, 5 * time.Microsecond, time.Second, 1<<63 - 1} {
		x := int64(0)
		err := run(t, func(rt *dataflow.Runtime) error {
			for range 5 {
				time.Sleep(time.Millisecond) // the workers are asleep
				for range 50 {
					addOne.Spawn(rt, &x, tasks.Cost(cost))
				}
				if err := rt.Wait(); err != nil {
					return err
				}
			}
			return nil
		}, dataflow.Workers(2))
		require.NoError(t, err)
		assert.EqualValues(t, 250, x)
	}
}

// Enough tasks of a small cost are worth a wake-up.
func TestCost_adds_up(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		time.Sleep(5 * time.Millisecond)
		meet := meeting(2)
		for range 2 {
			for range 20 {
				rt.Spawn("small", nothing, tasks.Cost(time.Microsecond))
			}
			rt.Spawn("meets", func(*tasks.Context) error { return meet() }, tasks.Cost(time.Microsecond))
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// Context.

func TestContext(t *testing.T) {
	type key struct{}
	end := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, 42), end)
	defer cancel()
	var numbers [2]uint64
	err := run(t, func(rt *dataflow.Runtime) error {
		for i := range 2 {
			rt.Spawn("looks", func(c *tasks.Context) error {
				assert.Equal(t, 42, c.Value(key{}))
				got, ok := c.Deadline()
				assert.True(t, ok)
				assert.Equal(t, end, got)
				assert.NoError(t, c.Err())
				assert.Equal(t, i, c.Worker())
				assert.Equal(t, "look here", c.Label())
				numbers[i] = task.DomainOf(c).Parent.Seq()
				select {
				case <-c.Done():
					return errors.New("done")
				default:
					return nil
				}
			}, tasks.OnWorker(i), tasks.Label("look here"))
		}
		require.NoError(t, rt.Wait())
		assert.Equal(t, 2, rt.Workers())
		rt.Spawn("cancels", func(c *tasks.Context) error {
			cancel()
			<-c.Done()
			assert.ErrorIs(t, c.Err(), context.Canceled)
			return nil
		})
		assert.ErrorIs(t, rt.Wait(), context.Canceled)
		return nil
	}, dataflow.Context(ctx), dataflow.Workers(2))
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotZero(t, numbers[0])
	assert.Greater(t, numbers[1], numbers[0])
}

// Bodies with weak accesses wait for their children, inside each other on one
// stack: no child may wait for a body below it.
func TestWait_inside_bodies_with_weak_accesses(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for _, mode := range []tasks.Mode{tasks.Inout, tasks.Input, tasks.Commutative, tasks.Output} {
			t.Run(fmt.Sprintf("workers=%d/%v", workers, mode), func(t *testing.T) {
				var data [2]int64
				var children atomic.Int32
				err := run(t, func(rt *dataflow.Runtime) error {
					for i := range 200 {
						x := &data[i%2]
						rt.Spawn("strong", func(ctx *tasks.Context) error {
							ctx.Spawn("child", func(*tasks.Context) error { children.Add(1); return nil })
							return ctx.Wait()
						}, tasks.Updates(x))
						rt.Spawn("weak", func(ctx *tasks.Context) error {
							for range 3 {
								ctx.Spawn("child", func(*tasks.Context) error { children.Add(1); return nil }, tasks.With(mode, x))
							}
							return ctx.Wait()
						}, tasks.With(tasks.Weak(mode), x))
					}
					return rt.Wait()
				}, dataflow.Workers(workers))
				require.NoError(t, err)
				assert.EqualValues(t, 800, children.Load())
			})
		}
	}
}

// A worker's tasks in the order of its mail, at any priority of the others.
func TestOnWorker(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		var order [3][]int
		for i := range 300 {
			w := i % 3
			rt.Spawn("bound", func(ctx *tasks.Context) error {
				assert.Equal(t, w, ctx.Worker())
				order[w] = append(order[w], i)
				return nil
			}, tasks.OnWorker(w))
		}
		require.NoError(t, rt.Wait())
		for w := range order {
			assert.Len(t, order[w], 100)
			assert.IsIncreasing(t, order[w])
		}
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			for i := range 30 {
				ctx.Spawn("bound child", func(c *tasks.Context) error { assert.Equal(t, i%3, c.Worker()); return nil }, tasks.OnWorker(i%3))
			}
			return ctx.Wait()
		})
		return rt.Wait()
	}, dataflow.Workers(3))
	require.NoError(t, err)
}

// Commutative tasks of one region run in an order of the seed's, too: a wrong use of them
// shows. The control: as inout tasks they keep their order.
func TestSeeded_commutative(t *testing.T) {
	for _, mode := range []tasks.Mode{tasks.Commutative, tasks.Inout} {
		results := map[string]bool{}
		for seed := range uint64(60) {
			x, y, order := 0, 0, ""
			require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
				for _, name := range []string{"a", "b", "c"} {
					rt.Spawn(name, func(ctx *tasks.Context) error {
						order += name
						ctx.Spawn("child", nothing, tasks.Updates(&y))
						return ctx.Wait() // others are drawn meanwhile
					}, tasks.With(mode, &x, &y))
				}
				return rt.Wait()
			}, dataflow.Seeded(seed+1)))
			results[order] = true
		}
		if mode == tasks.Inout {
			assert.Equal(t, map[string]bool{"abc": true}, results)
		} else {
			assert.Len(t, results, 6, "all orders of three tasks")
		}
	}
}
