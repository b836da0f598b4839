package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

const stallTime = 60 * time.Millisecond

// hold is a body whose event ends when the channel is closed.
func hold(until chan struct{}) func(*tasks.Context) error {
	return func(ctx *tasks.Context) error {
		ev := ctx.Hold()
		go func() { <-until; ev.Done() }()
		return nil
	}
}

func stallOf(t *testing.T, err error) *dataflow.StallError {
	t.Helper()
	var s *dataflow.StallError
	require.ErrorAs(t, err, &s)
	assert.Equal(t, stallTime, s.After)
	contains(t, err.Error(), "no progress for 60ms", s.Report)
	return s
}

// The report names the event, the tasks that wait, for whom, for what region, and
// where all that is in the source. The run can go on afterwards.
func TestStall_report(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			var x, y int64
			end := make(chan struct{})
			err := run(t, func(rt *dataflow.Runtime) error {
				var held string
				spawned := nearby(1)
				rt.Spawn("holder", func(ctx *tasks.Context) error {
					held = nearby(1)
					ev := ctx.Hold()
					go func() { <-end; ev.Done() }()
					return nil
				}, tasks.Updates(&x))
				waiter := nearby(1)
				copyTo.Spawn(rt, &x, &y)
				third := nearby(1)
				addOne.Spawn(rt, &y, tasks.Label("the third"))
				started := time.Now()
				s := stallOf(t, rt.Wait())
				assert.Less(t, time.Since(started), patience/2)
				region := func(p *int64) string { return fmt.Sprintf("[%p +8 B]", p) }
				contains(t, s.Report, "3 tasks of the main program are unfinished",
					`"holder"`, spawned, "holds an event made at", held,
					`"copyTo"`, waiter, "waits for "+region(&x)+" of task",
					`"the third"`, third, "waits for "+region(&y)+" of task")
				assert.Equal(t, 5, strings.Count(s.Report, "\n")+1, s.Report)
				assert.Zero(t, y)
				close(end)
				return rt.Wait()
			}, dataflow.Workers(workers), dataflow.Stall(stallTime, true), dataflow.Debug())
			require.NoError(t, err)
			assert.EqualValues(t, 1, y)
		})
	}
}

// Tasks behind a group of readers: the report looks through the join.
func TestStall_report_behind_a_group(t *testing.T) {
	var x int64
	end := make(chan struct{})
	err := run(t, func(rt *dataflow.Runtime) error {
		for range 3 {
			rt.Spawn("reader", hold(end), tasks.Reads(&x))
		}
		for range 2 {
			rt.Spawn("concurrent", nothing, tasks.With(tasks.Concurrent, &x))
		}
		s := stallOf(t, rt.Wait())
		contains(t, s.Report, "5 tasks", `"concurrent"`, `"reader"`)
		for line := range strings.Lines(s.Report) {
			if strings.Contains(line, `"concurrent"`) {
				assert.Equal(t, 3, strings.Count(line, `"reader"`), line)
				contains(t, line, fmt.Sprintf("[%p +8 B]", &x))
			}
		}
		close(end)
		return rt.Wait()
	}, dataflow.Stall(stallTime, true), dataflow.Workers(2))
	require.NoError(t, err)
}

// Long reports are cut.
func TestStall_report_is_bounded(t *testing.T) {
	var x int64
	end := make(chan struct{})
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("holder", hold(end), tasks.Updates(&x))
		for range 1000 {
			addOne.Spawn(rt, &x)
		}
		s := stallOf(t, rt.Wait())
		contains(t, s.Report, "1001 tasks", "and 970 more")
		assert.Less(t, strings.Count(s.Report, "\n"), 40)
		close(end)
		return rt.Wait()
	}, dataflow.Stall(stallTime, true))
	require.NoError(t, err)
	assert.EqualValues(t, 1000, x)
}

// What is stuck where, in whatever way a body can wait; and Close after the report
// comes back in bounded time although the tasks never end.
func TestStall_then_Close(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() {
		close(never)
		claim := osthread.ClaimCores(osthread.NumCores())
		assert.False(t, claim.Oversubscribed(), "the cores have been given back")
		claim.Release()
	})
	for name, c := range map[string]struct {
		body func(*tasks.Context) error
		want string
	}{
		"held event": {hold(never), "holds an event made at"},
		"held by a child": {func(ctx *tasks.Context) error {
			ctx.Spawn("child", hold(never))
			return nil
		}, `"child"`},
		"Context.Wait": {func(ctx *tasks.Context) error {
			ctx.Spawn("child", hold(never))
			return ctx.Wait()
		}, `"child"`},
		"Context.Block": {func(ctx *tasks.Context) error { ctx.Block(func() { <-never }); return nil }, "is inside Block, called at"},
		"Context.WaitOn": {func(ctx *tasks.Context) error {
			var x int64
			ctx.Spawn("child", hold(never), tasks.Updates(&x))
			return ctx.WaitOn(&x)
		}, `"child"`},
		"a sleeping body": {func(ctx *tasks.Context) error { <-never; return nil }, "is ready or runs"},
	} {
		for worker := range 2 {
			onMain := worker == 0 && name != "held event" && name != "held by a child" && name != "Context.Wait"
			if onMain {
				continue // then Wait is below that body and cannot return
			}
			t.Run(fmt.Sprintf("%s/on %d", name, worker), func(t *testing.T) {
				t.Parallel()
				deadline(t, patience)
				rt, err := dataflow.New(dataflow.Workers(2), dataflow.Stall(stallTime, true))
				require.NoError(t, err)
				var x, y int64
				where := nearby(1)
				rt.Spawn("stuck", c.body, tasks.OnWorker(worker), tasks.Updates(&x))
				addOne.Spawn(rt, &x)
				addOne.Spawn(rt, &y)
				s := stallOf(t, rt.Wait())
				contains(t, s.Report, `"stuck"`, where, c.want, `"addOne"`)
				stallOf(t, rt.Wait())
				addOne.Spawn(rt, &x)
				started := time.Now()
				stallOf(t, rt.Close())
				assert.Less(t, time.Since(started), patience/2)
				assert.NoError(t, rt.Close())
				assert.Panics(t, func() { addOne.Spawn(rt, &x) })
				assert.Zero(t, x)
				assert.EqualValues(t, 1, y)
			})
		}
	}
}

// Run closes at once after its body has got the report.
func TestStall_in_Run(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	var x int64
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("holder", hold(end), tasks.Updates(&x))
		return rt.Wait()
	}, dataflow.Stall(stallTime, true), dataflow.Workers(2))
	stallOf(t, err)
}

// What ends after the runtime has been closed does no harm.
func TestStall_ends_after_Close(t *testing.T) {
	end := make(chan struct{})
	var x, y int64
	blocked := make(chan struct{})
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("holder", hold(end), tasks.Updates(&x))
		rt.Spawn("blocked", func(ctx *tasks.Context) error {
			ctx.Block(func() { <-end })
			defer close(blocked)
			return nil
		}, tasks.OnWorker(1), tasks.Updates(&y))
		for range 100 {
			addOne.Spawn(rt, &x)
			addOne.Spawn(rt, &y)
		}
		return rt.Wait()
	}, dataflow.Stall(stallTime, true), dataflow.Workers(2))
	stallOf(t, err)
	close(end)
	<-blocked
	time.Sleep(20 * time.Millisecond)
	assert.Zero(t, x, "tasks do not run after Close")
	assert.Zero(t, y)
}

// No false alarms. On a machine that is so loaded that a timer is late by most of a stall
// period there may be one; then the same is tried with longer periods. What is
// wrong is wrong with all of them.
func TestStall_is_quiet(t *testing.T) {
	compute := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); {
			osthread.Relax()
		}
	}
	for name, program := range map[string]func(quiet time.Duration, rt *dataflow.Runtime) error{
		"a long task": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Spawn("computes", func(*tasks.Context) error { compute(5 * quiet / 2); return nil }, tasks.OnWorker(1))
			return nil
		},
		"a long task on the submitter": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Spawn("computes", func(*tasks.Context) error { compute(5 * quiet / 2); return nil }, tasks.OnWorker(0))
			return nil
		},
		"a long child": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				ctx.Spawn("computes", func(*tasks.Context) error { compute(5 * quiet / 2); return nil })
				return ctx.Wait()
			})
			return nil
		},
		"events now and then": func(quiet time.Duration, rt *dataflow.Runtime) error {
			var x int64
			for range 10 {
				rt.Spawn("holds", func(ctx *tasks.Context) error {
					ev := ctx.Hold()
					time.AfterFunc(quiet/4, ev.Done)
					return nil
				}, tasks.Updates(&x))
			}
			return nil
		},
		"events of children now and then": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				var x int64
				for range 10 {
					ctx.Spawn("holds", func(c *tasks.Context) error {
						ev := c.Hold()
						time.AfterFunc(quiet/4, ev.Done)
						return nil
					}, tasks.Updates(&x))
				}
				return ctx.Wait()
			})
			return nil
		},
		"children inside Block now and then": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				var x int64
				for range 10 {
					ctx.Spawn("blocks", func(c *tasks.Context) error {
						c.Block(func() { time.Sleep(quiet / 4) })
						return nil
					}, tasks.Updates(&x), tasks.OnWorker(1))
				}
				return ctx.Wait()
			}, tasks.OnWorker(1))
			return nil
		},
		"the submitter is elsewhere": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Spawn("holds", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				time.AfterFunc(2*quiet, ev.Done)
				return nil
			})
			time.Sleep(5 * quiet / 2)
			return nil
		},
		"the submitter is inside Block": func(quiet time.Duration, rt *dataflow.Runtime) error {
			rt.Block(func() { time.Sleep(5 * quiet / 2) })
			return nil
		},
		"wait, pause, wait": func(quiet time.Duration, rt *dataflow.Runtime) error {
			for range 5 {
				rt.Spawn("holds", func(ctx *tasks.Context) error {
					ev := ctx.Hold()
					time.AfterFunc(quiet/2, ev.Done)
					return nil
				})
				if err := rt.Wait(); err != nil {
					return err
				}
				time.Sleep(quiet / 2)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			for quiet := 60 * time.Millisecond; quiet < 2*time.Second; quiet *= 2 {
				err = run(t, func(rt *dataflow.Runtime) error {
					return errors.Join(program(quiet, rt), rt.Wait())
				}, dataflow.Workers(2), dataflow.Stall(quiet, true))
				if err == nil {
					break
				}
			}
			require.NoError(t, err)
		})
	}
}

// A report that was asked for when the wait was just over is not delivered to the
// next one.
func TestStall_just_over(t *testing.T) {
	const period = 8 * time.Millisecond
	err := run(t, func(rt *dataflow.Runtime) error {
		for i := range 60 {
			rt.Spawn("holds", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				time.AfterFunc(time.Duration(i%12)*time.Millisecond, ev.Done)
				return nil
			})
			if err := rt.Wait(); err != nil {
				var s *dataflow.StallError
				assert.ErrorAs(t, err, &s)
				again := time.Now()
				if err := rt.Wait(); err != nil { // at once: only its own report may come
					assert.GreaterOrEqual(t, time.Since(again), period)
				}
			}
			rt.Spawn("short", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				time.AfterFunc(time.Millisecond, ev.Done)
				return nil
			})
			for err := rt.Wait(); err != nil; err = rt.Wait() {
				assert.NotContains(t, err.Error(), "0 tasks", "a report about nothing")
			}
		}
		return nil
	}, dataflow.Workers(2), dataflow.Stall(period, true))
	require.NoError(t, err)
}

// A request for a report before a wait has no effect in the wait; the control: a request
// during the wait has.
func TestStall_asked_before(t *testing.T) {
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("holds", func(ctx *tasks.Context) error {
			ev := ctx.Hold()
			time.AfterFunc(30*time.Millisecond, ev.Done)
			return nil
		})
		rt.AskForReport()
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.Stall(time.Hour, true)))

	end := make(chan struct{})
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("holder", hold(end))
		over := make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() {
			for tick := time.NewTicker(time.Millisecond); ; {
				select {
				case <-over:
					tick.Stop()
					return
				case <-tick.C:
					rt.AskForReport()
				}
			}
		})
		var stall *dataflow.StallError
		require.ErrorAs(t, rt.Wait(), &stall)
		close(over)
		asking.Wait()
		close(end)
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.Stall(time.Hour, true)))
}

// The printed variant, in processes of their own.

func init() {
	programs["stall in Wait"] = func(t *testing.T) {
		var x int64
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("holder", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				time.AfterFunc(6*stallTime, ev.Done)
				return nil
			}, tasks.Updates(&x))
			addOne.Spawn(rt, &x)
			return rt.Wait()
		}, dataflow.Stall(stallTime, false), dataflow.Workers(2)))
		fmt.Println("result", x)
	}
	programs["stall in WaitOn"] = func(t *testing.T) {
		var x int64
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("holder", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				time.AfterFunc(6*stallTime, ev.Done)
				return nil
			}, tasks.Updates(&x))
			addOne.Spawn(rt, &x)
			return rt.WaitOn(&x)
		}, dataflow.Stall(stallTime, false), dataflow.Workers(2)))
		fmt.Println("result", x)
	}
	programs["stall below a body"] = func(t *testing.T) {
		var x int64
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("sleeper", func(ctx *tasks.Context) error {
				ctx.Block(func() { time.Sleep(8 * stallTime) })
				return nil
			}, tasks.Updates(&x), tasks.OnWorker(0))
			addOne.Spawn(rt, &x)
			return rt.Wait()
		}, dataflow.Stall(stallTime, true), dataflow.Workers(2)))
		fmt.Println("result", x)
	}
	programs["body that sleeps"] = func(t *testing.T) {
		var x int64
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("sleeper", func(*tasks.Context) error { time.Sleep(8 * stallTime); return nil }, tasks.Updates(&x))
			addOne.Spawn(rt, &x)
			return rt.Wait()
		}, dataflow.Stall(stallTime, true), dataflow.Workers(1)))
		fmt.Println("result", x)
	}
	programs["submitter elsewhere"] = func(t *testing.T) {
		var x int64
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			addOne.Spawn(rt, &x)
			time.Sleep(6 * stallTime)
			return nil
		}, dataflow.Stall(stallTime, true), dataflow.Workers(1)))
		fmt.Println("result", x)
	}
}

func TestStall_printed(t *testing.T) {
	for name, want := range map[string][]string{
		"stall in Wait":       {`"holder"`, "holds an event made at", `"addOne"`, "waits for"},
		"stall in WaitOn":     {`"holder"`, "holds an event made at", `"addOne"`, "waits for"},
		"stall below a body":  {`"sleeper"`, "is inside Block, called at"},
		"body that sleeps":    {"inside Context.Block", "a body is at ", "stall_test.go:", ", sleep)"},
		"submitter elsewhere": {"submitting goroutine", "tasks are ready and no worker is free", "is at ", "stall_test.go:", ", sleep)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, code := child(t, name)
			assert.Zero(t, code, out)
			contains(t, out, append(want, "weft: no progress for", "result 1")...)
			n := strings.Count(out, want[1])
			assert.True(t, n == 2 || n == 3, "this state after 1, 2 and 4 periods of 6, or 2, 4 and 8 of 8, not %d times: %s", n, out)
		})
	}
}

// What Wait has returned, Run does not say a second time when Close finds it again.
func TestRun_says_once_why_it_ended(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		cancel(cause)
		return rt.Wait()
	}, dataflow.Context(ctx))
	require.ErrorIs(t, err, cause)
	assert.Equal(t, "enough", err.Error())

	end := make(chan struct{})
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		rt.Spawn("holder", hold(end))
		return rt.Wait()
	}, dataflow.Stall(stallTime, true))
	close(end)
	require.Error(t, err)
	assert.Equal(t, 1, strings.Count(err.Error(), "no progress for"), err.Error())

	other := errors.New("the body's own")
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		rt.Spawn("fails", func(*tasks.Context) error { return cause })
		return other
	})
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, other)
}

func TestStall_off(t *testing.T) {
	end := make(chan struct{})
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("holder", hold(end))
		time.AfterFunc(2*stallTime, func() { close(end) })
		return rt.Wait()
	}, dataflow.Stall(0, true))
	require.NoError(t, err)
}
