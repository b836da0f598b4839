package dataflow_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// The park/wake protocol under stress. Bursts of tasks come after pauses about as
// long as a worker spins before it goes to sleep (100 us, or 5 us when workers share
// cores), from every side from which tasks can come. A lost wake-up is a task that
// does not run although the submitter does not help: then the deadline ends the
// test with the stacks of all goroutines.

// rounds is how often a pattern is repeated.
func rounds() int {
	if os.Getenv("WEFT_LONG") != "" {
		return 50_000
	}
	return 400 // for each number of workers
}

// pauses makes pauses around the spin budget.
type pauses struct{ *rand.Rand }

// pause spins for 0 to 200 us, mostly close to 100 or to 5.
func (r pauses) pause() {
	var d time.Duration
	switch r.IntN(4) {
	case 0:
		d = time.Duration(r.IntN(200_000))
	case 1:
		d = time.Duration(4_000 + r.IntN(6_000))
	case 2:
		d = 0
	default:
		d = time.Duration(90_000 + r.IntN(30_000))
	}
	spinFor(d)
}

func spinFor(d time.Duration) {
	for end := osthread.Nanotime() + int64(d); osthread.Nanotime() < end; {
		osthread.Relax()
	}
}

// until waits for a condition without entering the runtime.
func until(cond func() bool) {
	for i := 0; !cond(); i++ {
		if i%1000 == 999 {
			time.Sleep(10 * time.Microsecond) // somebody else may need this core
		}
		osthread.Relax()
	}
}

// stress runs pattern more than a thousand times, with 2, 3 and 4 workers.
func stress(t *testing.T, pattern func(rt *dataflow.Runtime, rnd pauses)) {
	for workers := 2; workers <= 4; workers++ {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			seed := rand.Uint64()
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			limit := 20 * time.Second
			if os.Getenv("WEFT_LONG") != "" {
				limit = 20 * time.Minute
			}
			rnd := pauses{rand.New(rand.NewPCG(seed, 0))}
			err := runWithin(t, limit, func(rt *dataflow.Runtime) error {
				for range rounds() {
					pattern(rt, rnd)
				}
				return rt.Wait()
			}, dataflow.Workers(workers))
			require.NoError(t, err)
		})
	}
}

// The submitter spawns and does not help.
func TestPark_bursts_from_the_submitter(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		rnd.pause()
		var ran atomic.Int32
		n := 1 + rnd.IntN(6)
		for range n {
			prio := 0
			if rnd.IntN(4) == 0 {
				prio = rnd.IntN(3) - 1
			}
			rt.Spawn("task", func(*tasks.Context) error { ran.Add(1); return nil }, tasks.Priority(prio))
			if rnd.IntN(8) == 0 {
				rnd.pause()
			}
		}
		until(func() bool { return ran.Load() == int32(n) })
	})
}

// Tasks bound to a worker wake that one.
func TestPark_tasks_for_one_worker(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		rnd.pause()
		var ran atomic.Int32
		n := 1 + rnd.IntN(3)
		for range n {
			rt.Spawn("task", func(*tasks.Context) error { ran.Add(1); return nil }, tasks.OnWorker(1+rnd.IntN(rt.Workers()-1)))
		}
		until(func() bool { return ran.Load() == int32(n) })
	})
}

// Successors become ready when goroutines that are no workers end held events.
func TestPark_completions_of_events(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		var ran atomic.Int32
		n := 1 + rnd.IntN(4)
		data := make([]int64, n)
		events := make(chan *tasks.Event, n)
		for i := range n {
			rt.Spawn("holds", func(ctx *tasks.Context) error { events <- ctx.Hold(); return nil }, tasks.Updates(&data[i]))
			rt.Spawn("after", func(*tasks.Context) error { ran.Add(1); return nil }, tasks.Updates(&data[i]))
		}
		far := pauses{rand.New(rand.NewPCG(rnd.Uint64(), 0))}
		go func() {
			for range n {
				ev := <-events
				far.pause()
				ev.Done()
			}
		}()
		until(func() bool { return ran.Load() == int32(n) })
	})
}

// The submitter sleeps in Wait, and is woken when the last task has ended: on a
// worker, or by an event.
func TestPark_of_the_submitter(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		seed, how := rnd.Uint64(), rnd.IntN(3)
		body := func(ctx *tasks.Context) error {
			pauses{rand.New(rand.NewPCG(seed, 1))}.pause()
			if how == 0 {
				ev := ctx.Hold()
				go func() {
					pauses{rand.New(rand.NewPCG(seed, 2))}.pause()
					ev.Done()
				}()
			}
			return nil
		}
		var x int64
		for range 1 + rnd.IntN(2) {
			rt.Spawn("task", body, tasks.Updates(&x), tasks.OnWorker(1))
		}
		if how == 1 {
			_ = rt.WaitOn(&x)
		} else {
			_ = rt.Wait()
		}
	})
}

// A body waits for children on other workers.
func TestPark_of_a_waiting_body(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		var done atomic.Bool
		seed := rnd.Uint64()
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			r := pauses{rand.New(rand.NewPCG(seed, 1))}
			for i := range 1 + r.IntN(3) {
				other := 1 + i%(rt.Workers()-1)
				ctx.Spawn("child", func(*tasks.Context) error {
					pauses{rand.New(rand.NewPCG(seed, uint64(i)))}.pause()
					return nil
				}, tasks.OnWorker(other))
			}
			err := ctx.Wait()
			done.Store(true)
			return err
		}, tasks.OnWorker(1+rnd.IntN(rt.Workers()-1)))
		rnd.pause()
		until(done.Load)
	})
}

// One task makes many ready, on a worker, while the others go to sleep; all of them
// must run at the same time, or none ends.
func TestPark_of_those_who_are_needed(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		n := int32(rt.Workers() - 1)
		var here atomic.Int32
		var x int64
		seed := rnd.Uint64()
		rt.Spawn("fork", func(ctx *tasks.Context) error {
			pauses{rand.New(rand.NewPCG(seed, 1))}.pause()
			return nil
		}, tasks.Updates(&x))
		for range n {
			rt.Spawn("together", func(*tasks.Context) error {
				here.Add(1)
				until(func() bool { return here.Load() >= n })
				return nil
			}, tasks.Reads(&x))
		}
		until(func() bool { return here.Load() == n })
	})
}

// Bodies inside Block wake each other, the spares come and go.
func TestPark_with_spares(t *testing.T) {
	stress(t, func(rt *dataflow.Runtime, rnd pauses) {
		open := make(chan struct{})
		seed := rnd.Uint64()
		var done atomic.Int32
		for i := range 2 {
			rt.Spawn("blocks", func(ctx *tasks.Context) error {
				ctx.Block(func() { <-open })
				pauses{rand.New(rand.NewPCG(seed, uint64(i)))}.pause()
				done.Add(1)
				return nil
			})
		}
		rt.Spawn("opens", func(*tasks.Context) error { close(open); done.Add(1); return nil })
		rt.Block(func() { until(func() bool { return done.Load() == 3 }) })
	})
}

// An idle runtime leaves the cores alone, wherever its submitter is.
func TestPark_uses_no_core(t *testing.T) {
	if osthread.ProcessCPUTime() == 0 {
		t.Skip("the CPU time of the process is not known here")
	}
	for _, program := range []string{"idle, submitter elsewhere", "idle, submitter in Wait", "idle, spares"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			out, code := child(t, program)
			assert.Zero(t, code, out)
		})
	}
}

// usesNoCore checks that the process uses less than 1 % of a core. What the program did before
// may still go on for a while on a loaded machine, so one quiet interval of ten is enough: a thread that polls
// leaves none.
func usesNoCore(t *testing.T) {
	var used, elapsed time.Duration
	for range 10 {
		runtime.GC()
		before, start := osthread.ProcessCPUTime(), time.Now()
		time.Sleep(500 * time.Millisecond)
		used, elapsed = osthread.ProcessCPUTime()-before, time.Since(start)
		fmt.Printf("%v of CPU time in %v\n", used, elapsed)
		if used < elapsed/100 {
			return
		}
	}
	assert.Less(t, used, elapsed/100)
}

func init() {
	busyThenIdle := func(idle func(rt *dataflow.Runtime)) func(*testing.T) {
		return func(t *testing.T) {
			x := int64(0)
			assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
				for range 10_000 {
					addOne.Spawn(rt, &x)
				}
				idle(rt)
				return rt.Wait()
			}, dataflow.Workers(4)))
			assert.EqualValues(t, 10_000, x)
		}
	}
	programs["idle, submitter elsewhere"] = func(t *testing.T) {
		busyThenIdle(func(rt *dataflow.Runtime) { _ = rt.Wait(); usesNoCore(t) })(t)
	}
	programs["idle, submitter in Wait"] = func(t *testing.T) {
		busyThenIdle(func(rt *dataflow.Runtime) {
			rt.Spawn("holds", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				go func() { usesNoCore(t); ev.Done() }()
				return nil
			})
		})(t)
	}
	programs["idle, spares"] = func(t *testing.T) {
		busyThenIdle(func(rt *dataflow.Runtime) {
			_ = rt.Wait()
			open := make(chan struct{})
			for range 8 {
				rt.Spawn("blocks", func(ctx *tasks.Context) error { ctx.Block(func() { <-open }); return nil })
			}
			rt.Block(func() { usesNoCore(t); close(open) })
		})(t)
	}
}
