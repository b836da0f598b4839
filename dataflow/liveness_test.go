package dataflow_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// A WaitOn that was cancelled, or whose data was not written, says why.
func TestWaitOn_says_why(t *testing.T) {
	for name, body := range map[string]func(rt *dataflow.Runtime, x *int64){
		"cancelled": func(rt *dataflow.Runtime, x *int64) {
			rt.Spawn("cancels", func(*tasks.Context) error { rt.Cancel(errOwn); return nil }, tasks.Updates(x))
			addOne.Spawn(rt, x)
			err := rt.WaitOn(x)
			assert.ErrorIs(t, err, errOwn)
			assert.NotContains(t, err.Error(), "%!")
		},
		"failed": func(rt *dataflow.Runtime, x *int64) {
			rt.Spawn("fails", func(*tasks.Context) error { return errOwn }, tasks.Updates(x))
			addOne.Spawn(rt, x)
			assert.ErrorIs(t, rt.WaitOn(x), errOwn)
		},
		"in the child of a weak task": func(rt *dataflow.Runtime, x *int64) {
			rt.Spawn("fails", func(*tasks.Context) error { return errOwn }, tasks.Updates(x))
			rt.Spawn("weak", func(ctx *tasks.Context) error {
				addOne.Spawn(ctx, x)
				err := ctx.WaitOn(x)
				assert.NotContains(t, err.Error(), "%!")
				return nil
			}, tasks.With(tasks.Weak(tasks.Inout), x))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, workers := range []int{1, 2} {
				x := int64(0)
				err := run(t, func(rt *dataflow.Runtime) error {
					body(rt, &x)
					return rt.Wait()
				}, dataflow.Workers(workers))
				assert.ErrorIs(t, err, errOwn)
				assert.Zero(t, x)
			}
		})
	}
}

// A Spawn at a small window with one task unfinished returns although the worker that
// has ended all others is in the body of that one.
func TestWindow_with_one_unfinished_task(t *testing.T) {
	const window = 16
	release := make(chan struct{})
	stuck := context.AfterFunc(timeout(t), func() { close(release) })
	defer stuck()
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		for range window - 1 {
			rt.Spawn("short", nothing, tasks.OnWorker(1))
		}
		last := make(chan struct{})
		rt.Spawn("long", func(*tasks.Context) error { close(last); <-release; return nil }, tasks.OnWorker(1))
		<-last
		rt.Spawn("one more", nothing, tasks.OnWorker(1))
		if assert.True(t, stuck(), "Spawn waited for the long task") {
			close(release)
		}
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.Window(window)))
}

// timeout returns a context that ends when a test that takes milliseconds has failed.
func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// A hook that ends its goroutine fails its task, wherever it was called: on a worker at
// the end of a task, with more tasks to be made ready behind it; on the goroutine of an
// event; with a body below it, which ends, too. Nothing is lost.
func TestOnReady_that_ends_its_goroutine(t *testing.T) {
	var hooks, left atomic.Int32
	leave := tasks.OnReady(func() { left.Add(1); runtime.Goexit() })
	for name, first := range map[string]func(*tasks.Context) error{
		"on a worker": nothing,
		"for an event": func(ctx *tasks.Context) error {
			ev := ctx.Hold()
			go func() { time.Sleep(time.Millisecond); ev.Done() }()
			return nil
		},
		"above a body": func(ctx *tasks.Context) error {
			var z int64
			ctx.Spawn("child", nothing, tasks.Updates(&z))
			addOne.Spawn(ctx, &z, leave)
			return ctx.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
				for range 20 {
					var x, y int64
					hooks.Store(0)
					left.Store(0)
					spawned := make(chan struct{})
					rt.Spawn("first", func(ctx *tasks.Context) error { <-spawned; return first(ctx) }, tasks.Updates(&x), tasks.OnWorker(1))
					for range 4 { // readers: they become ready together
						copyTo.Spawn(rt, &x, new(int64), leave)
						copyTo.Spawn(rt, &x, new(int64), tasks.OnReady(func() { hooks.Add(1) }))
					}
					addOne.Spawn(rt, &y)
					wantLeft, wantHooks := int32(4), int32(4)
					if name == "above a body" { // which fails, so that the readers are skipped
						wantLeft = 1 + 4
					}
					rt.Block(func() { // it all happens on workers
						close(spawned)
						for end := time.Now().Add(patience / 2); left.Load() < wantLeft || hooks.Load() < wantHooks; time.Sleep(time.Millisecond) {
							if time.Now().After(end) {
								return
							}
						}
					})
					err := rt.Wait()
					assert.EqualValues(t, wantLeft, left.Load())
					assert.EqualValues(t, wantHooks, hooks.Load())
					assert.Len(t, taskErrors(err), int(wantLeft))
					contains(t, err.Error(), "its OnReady hook called runtime.Goexit")
					assert.EqualValues(t, 1, y)
				}
				return nil
			}, dataflow.Workers(2)))
		})
	}
}

func init() {
	for name, opts := range map[string][]dataflow.Option{
		"hook ends the submitter": {dataflow.Workers(1)}, "hook ends the submitter, serial": {dataflow.Serial()},
	} {
		programs[name] = func(t *testing.T) {
			for _, waits := range []bool{false, true} {
				over := make(chan struct{})
				go func() {
					defer close(over)
					_ = dataflow.Run(func(rt *dataflow.Runtime) error {
						var x int64
						rt.Spawn("first", func(ctx *tasks.Context) error {
							if waits {
								time.AfterFunc(100*time.Millisecond, ctx.Hold().Done) // rt.Wait has begun
							}
							return nil
						}, tasks.Updates(&x))
						addOne.Spawn(rt, &x, tasks.OnReady(runtime.Goexit), tasks.Label("hooked"))
						err := rt.Wait()
						fmt.Println("went on", err)
						return err
					}, opts...)
				}()
				<-over
			}
			fmt.Println("both are over")
		}
	}
}

// The same on the submitting goroutine: it ends, with the runtime and an error. If an event
// made the task ready, the hook has its own goroutine and the program goes on.
func TestOnReady_that_ends_the_submitter(t *testing.T) {
	for _, name := range []string{"hook ends the submitter", "hook ends the submitter, serial"} {
		out, code := child(t, name)
		assert.Zero(t, code, out)
		contains(t, out, `"hooked"`, "its OnReady hook called runtime.Goexit", "both are over", "went on")
	}
}

// In every mode with the option, a wait that never ends is an error, also for a task that
// runs where it is spawned; and the abandoned tasks run later, in order.
func TestStall_of_what_runs_in_place(t *testing.T) {
	for name, opts := range map[string][]dataflow.Option{
		"serial": {dataflow.Serial()}, "verify": {dataflow.Verify()}, "seeded": {dataflow.Seeded(3)},
		"1 worker": {dataflow.Workers(1)}, "2 workers": {dataflow.Workers(2)},
	} {
		for form, use := range map[string]func(s tasks.Scope, rt *dataflow.Runtime, x *int64) error{
			"task": func(s tasks.Scope, _ *dataflow.Runtime, x *int64) error {
				addOne.Spawn(s, x, tasks.If(false), tasks.Label("the stuck one"))
				return nil
			},
			"child": func(_ tasks.Scope, rt *dataflow.Runtime, x *int64) error {
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					addOne.Spawn(ctx, x, tasks.If(false))
					return nil
				}, tasks.OnWorker(0), tasks.With(tasks.Weak(tasks.Inout), x), tasks.Label("the stuck one"))
				return nil
			},
			"WaitOn": func(_ tasks.Scope, rt *dataflow.Runtime, x *int64) error {
				addOne.Spawn(rt, x, tasks.Label("the stuck one"))
				return rt.WaitOn(x)
			},
		} {
			t.Run(name+"/"+form, func(t *testing.T) {
				var x int64
				end := make(chan struct{})
				require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
					rt.Spawn("holder", hold(end), tasks.Updates(&x))
					err := use(rt, rt, &x)
					if form == "WaitOn" && name != "serial" && name != "verify" {
						stallOf(t, err)
					} else {
						stallOf(t, rt.Wait())
					}
					assert.Zero(t, x)
					close(end)
					require.NoError(t, rt.Wait())
					assert.EqualValues(t, 1, x)
					return use(rt, rt, &x) // and all is as before
				}, append(opts, dataflow.Stall(stallTime, true))...))
				assert.EqualValues(t, 2, x)
			})
		}
	}
}

// A body that waits for its children in place, in the serial mode, gets the report.
func TestStall_of_a_body_in_serial_mode(t *testing.T) {
	end := make(chan struct{})
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			ctx.Spawn("child", hold(end))
			stallOf(t, ctx.Wait())
			return nil
		})
		stallOf(t, rt.Wait())
		close(end)
		return rt.Wait()
	}, dataflow.Serial(), dataflow.Stall(stallTime, true)))
}

// inline-commutative: the program waits for a task with a commutative access that it runs
// in place, and meanwhile runs the body of a task with a weak access whose child waits for
// a third task that needs the same lock.
func inlineCommutative(rt *dataflow.Runtime, t *testing.T) (p, q, x, y *int64) {
	p, q, x, y = new(int64), new(int64), new(int64), new(int64)
	both := func(a, b *int64) func(*tasks.Context) error {
		return func(*tasks.Context) error { *a++; *b++; return nil }
	}
	addOne.Spawn(rt, q, tasks.Label("Q"))
	rt.Spawn("P", func(*tasks.Context) error { time.Sleep(5 * time.Millisecond); *p++; return nil }, tasks.Updates(p))
	rt.Spawn("T", func(*tasks.Context) error { *p++; *y++; *x++; return nil }, tasks.Updates(p, y), tasks.With(tasks.Commutative, x))
	rt.Spawn("W", func(ctx *tasks.Context) error {
		addOne.Spawn(ctx, y)
		return ctx.Wait()
	}, tasks.With(tasks.Weak(tasks.Inout), y), tasks.HighPriority)
	rt.Spawn("I", both(q, x), tasks.Updates(q), tasks.With(tasks.Commutative, x), tasks.If(false))
	return p, q, x, y
}

func TestCommutative_run_in_place(t *testing.T) {
	modes := map[string][]dataflow.Option{"1 worker": {dataflow.Workers(1)}, "2 workers": {dataflow.Workers(2)}, "serial": {dataflow.Serial()}}
	for seed := range 100 {
		modes[fmt.Sprintf("seed %d", seed+1)] = []dataflow.Option{dataflow.Seeded(uint64(seed + 1))}
	}
	for name, opts := range modes {
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			p, q, x, y := inlineCommutative(rt, t)
			err := rt.Wait()
			assert.Equal(t, []int64{2, 2, 2, 2}, []int64{*p, *q, *x, *y}, name)
			return err
		}, append(opts, dataflow.Stall(5*time.Second, true))...), name)
	}
}

// A task of high priority does not wait for one of low priority that has not started,
// whichever became ready first: only running tasks hold locks.
func TestCommutative_of_a_late_urgent_task(t *testing.T) {
	for _, workers := range []int{1, 2} {
		const fillers = 20
		var x int64
		var ended atomic.Int32
		var before int32
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			spawned := make(chan struct{})
			for i := range workers - 1 {
				rt.Spawn("holds the others up", func(*tasks.Context) error { <-spawned; return nil }, tasks.OnWorker(i+1))
			}
			rt.Spawn("low", func(*tasks.Context) error { x++; return nil }, tasks.With(tasks.Commutative, &x), tasks.Priority(-1))
			for range fillers {
				rt.Spawn("filler", func(*tasks.Context) error { time.Sleep(100 * time.Microsecond); ended.Add(1); return nil })
			}
			rt.Spawn("high", func(*tasks.Context) error { before = ended.Load(); x++; return nil }, tasks.With(tasks.Commutative, &x), tasks.HighPriority)
			close(spawned)
			return rt.Wait()
		}, dataflow.Workers(workers)))
		assert.Less(t, before, int32(fillers/2), "fillers that ran before the urgent task")
		assert.EqualValues(t, 2, x)
	}
}

// The most urgent task that waits for a lock gets it next.
func TestCommutative_most_urgent_waiter(t *testing.T) {
	var x int64
	var order []int
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		end := make(chan struct{})
		rt.Spawn("holder", hold(end), tasks.With(tasks.Commutative, &x))
		for _, prio := range []int{0, -2, 3, 1, 5, 4} {
			rt.Spawn("waiter", func(*tasks.Context) error { order = append(order, prio); return nil },
				tasks.With(tasks.Commutative, &x), tasks.Priority(prio))
		}
		rt.Spawn("last", func(*tasks.Context) error { close(end); return nil }, tasks.Priority(-3)) // all others have been found
		return rt.Wait()
	}, dataflow.Workers(1)))
	assert.Equal(t, []int{5, 4, 3, 1, 0, -2}, order)
}

// Tasks with several locks each, some bound to a worker, in all modes: all of them run,
// and no two of them touch the same data at a time.
func TestCommutative_many_locks(t *testing.T) {
	for name, opts := range map[string][]dataflow.Option{
		"1 worker": {dataflow.Workers(1)}, "2 workers": {dataflow.Workers(2)}, "4 workers": {dataflow.Workers(4)}, "seeded": {dataflow.Seeded(7)},
	} {
		t.Run(name, func(t *testing.T) {
			const locks, n = 5, 3000
			data := make([]int64, locks)
			var inside [locks]atomic.Int32
			want := make([]int64, locks)
			require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
				for i := range n {
					var mine []int
					var refs []any
					for k := range locks {
						if (i*2654435761>>k)%3 == 0 {
							mine, refs = append(mine, k), append(refs, &data[k])
							want[k]++
						}
					}
					clauses := []tasks.Clause{tasks.With(tasks.Commutative, refs...), tasks.Priority(i%5 - 2)}
					switch i % 10 {
					case 1:
						clauses = append(clauses, tasks.OnWorker(i%rt.Workers()))
					case 2:
						clauses = append(clauses, tasks.If(false))
					}
					rt.Spawn("task", func(ctx *tasks.Context) error {
						for _, k := range mine {
							assert.EqualValues(t, 1, inside[k].Add(1))
						}
						if i%7 == 0 {
							runtime.Gosched()
							ctx.Spawn("child", nothing)
							_ = ctx.Wait() // and helps
						}
						for _, k := range mine {
							data[k]++
							inside[k].Add(-1)
						}
						return nil
					}, clauses...)
				}
				return rt.Wait()
			}, opts...))
			assert.Equal(t, want, data)
		})
	}
}

// The report names the lock that a task waits for, and its holder.
func TestStall_names_a_commutative_lock(t *testing.T) {
	var x int64
	both, end := make(chan struct{}), make(chan struct{})
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("has it", func(ctx *tasks.Context) error { <-both; return hold(end)(ctx) }, tasks.With(tasks.Commutative, &x))
		rt.Spawn("wants it", func(*tasks.Context) error { x++; return nil }, tasks.With(tasks.Commutative, &x))
		close(both)
		s := stallOf(t, rt.Wait())
		contains(t, s.Report, fmt.Sprintf(`waits for the commutative lock of [%p +8 B], which task 1 "has it"`, &x))
		close(end)
		return rt.Wait()
	}, dataflow.Stall(stallTime, true)))
	assert.EqualValues(t, 1, x)
}

// Ready tasks behind a task too short for a wake-up start although the goroutine that queued
// it does not come back: the program's, and a body that goes on for long.
func TestCost_is_a_delay_at_most(t *testing.T) {
	for name, spawns := range map[string]func(rt *dataflow.Runtime, spawn func(tasks.Scope), wait func()) error{
		"the program": func(rt *dataflow.Runtime, spawn func(tasks.Scope), wait func()) error {
			time.Sleep(5 * time.Millisecond) // the worker is asleep
			spawn(rt)
			wait()
			return rt.Wait()
		},
		"a body": func(rt *dataflow.Runtime, spawn func(tasks.Scope), wait func()) error {
			rt.Spawn("long", func(ctx *tasks.Context) error {
				time.Sleep(5 * time.Millisecond)
				spawn(ctx)
				wait()
				return nil
			}, tasks.OnWorker(0))
			return rt.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				var x int64
				ran := make(chan struct{})
				limit := timeout(t)
				require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
					return spawns(rt, func(s tasks.Scope) {
						addOne.Spawn(s, &x, tasks.Cost(time.Microsecond))
						addOne.Spawn(s, &x)
						setOne.Spawn(s, &x, tasks.OnReady(func() { close(ran) }))
					}, func() {
						select {
						case <-ran:
						case <-limit.Done():
							assert.Fail(t, "nobody was woken")
						}
					})
				}, dataflow.Workers(2)))
			}
		})
	}
}

// Many bodies inside Block at once share the spare workers that the process may have:
// all of them end, and there are never more.
func TestBlock_beyond_the_spares(t *testing.T) {
	defer dataflow.SetMaxSpares(3)()
	for _, workers := range []int{1, 2} {
		var ended atomic.Int32
		var made int
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			for range 60 {
				rt.Spawn("sleeps", func(ctx *tasks.Context) error {
					ctx.Block(func() { time.Sleep(time.Millisecond) })
					ended.Add(1)
					return nil
				})
			}
			err := rt.Wait()
			made = rt.SpareWorkers()
			return err
		}, dataflow.Workers(workers)))
		assert.EqualValues(t, 60, ended.Load())
		assert.LessOrEqual(t, made, 3)
		assert.Positive(t, made)
	}
}

// A core that is idle for want of a spare gets one as soon as a spare is free; before, the
// report says that none is.
func TestBlock_waits_for_a_spare(t *testing.T) {
	defer dataflow.SetMaxSpares(1)()
	var x int64
	limit := timeout(t)
	await := func(c chan struct{}) {
		select {
		case <-c:
		case <-limit.Done():
			assert.Fail(t, "the spare did not come")
		}
	}
	first, inside, resumed, ran := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("has the spare", func(ctx *tasks.Context) error {
			ctx.Block(func() { close(inside); <-first })
			close(resumed)
			await(ran) // and keeps its core
			return nil
		}, tasks.OnWorker(1))
		await(inside)
		start := make(chan struct{})
		rt.Spawn("event", hold(start), tasks.Updates(&x))
		for range 4 { // one of them the spare may begin before it leaves its core
			addOne.Spawn(rt, &x)
		}
		rt.Spawn("last", func(*tasks.Context) error { close(ran); return nil }, tasks.Updates(&x))
		rt.Block(func() {
			assert.Contains(t, rt.Outsiders(), "its core is idle, because the process has the")
			close(first)
			await(resumed)
			close(start)
			await(ran)
		})
		return rt.Wait()
	}, dataflow.Workers(2)))
	assert.EqualValues(t, 4, x)
}

// nobody is an executor that is never attached.
type nobody struct{ executor.Executor }

// Only the submitting goroutine, outside of tasks, may attach an executor; a refused one
// leaves the place free.
func TestAttach_from_elsewhere(t *testing.T) {
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		elsewhere := make(chan error)
		go func() {
			_, err := executor.Attach(rt, nobody{})
			elsewhere <- err
		}()
		assert.ErrorIs(t, <-elsewhere, task.ErrGoroutine)
		rt.Spawn("attaches", func(*tasks.Context) error {
			_, err := executor.Attach(rt, nobody{})
			return err
		}, tasks.OnWorker(0))
		err := rt.Wait()
		assert.Equal(t, "attaches", single(t, err).Label)
		contains(t, err.Error(), "Attach", "inside task")
		port, err := executor.Attach(rt, nobody{})
		require.NoError(t, err)
		go func() { elsewhere <- port.Detach() }()
		assert.ErrorIs(t, <-elsewhere, task.ErrGoroutine)
		_, err = executor.Attach(rt, nobody{})
		assert.ErrorContains(t, err, "a communication thread already", "the Detach was refused")
		return port.Detach()
	}, dataflow.Workers(2)))
}

// A submitter that is stuck, in a body or in its program, does not keep the tasks that it
// waits for from a worker that leaves most tasks to it.
func TestHeldBack_stuck_submitter(t *testing.T) {
	defer dataflow.TakeAllBodiesForShort()()
	for name, program := range map[string]func(rt *dataflow.Runtime, done chan bool){
		"body": func(rt *dataflow.Runtime, done chan bool) {
			rt.Spawn("waits", func(*tasks.Context) error { <-done; return nil }, tasks.OnWorker(0))
			rt.Spawn("ends it", func(*tasks.Context) error { close(done); return nil })
		},
		"program": func(rt *dataflow.Runtime, done chan bool) {
			x := new(int)
			rt.Spawn("first", func(*tasks.Context) error { return nil }, tasks.Updates(x))
			rt.Spawn("ends it", func(*tasks.Context) error { close(done); return nil }, tasks.Updates(x))
			<-done
		},
		"Block": func(rt *dataflow.Runtime, done chan bool) {
			rt.Spawn("ends it", func(*tasks.Context) error { close(done); return nil })
			rt.Block(func() { <-done })
		},
		"children": func(rt *dataflow.Runtime, done chan bool) {
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				for range 40 {
					ctx.Spawn("child", func(*tasks.Context) error { return nil })
				}
				defer close(done)
				return ctx.Wait()
			}, tasks.OnWorker(1))
			<-done
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				require.NoError(t, audited(t, func(rt *dataflow.Runtime) error {
					rt.HoldBack()
					program(rt, make(chan bool))
					return rt.Wait()
				}, dataflow.Workers(2)))
			}
		})
	}
}
