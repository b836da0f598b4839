package dataflow_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// shareOf spawns a task that shares parts, and fails unless each runs once.
func shareOf(rt tasks.Scope, parts int, part func(i int), cl ...tasks.Clause) {
	tasks.Spawn(rt, "share", func(ctx *tasks.Context) error {
		runs := make([]atomic.Int32, parts)
		ctx.Share(parts, func(i int) {
			runs[i].Add(1)
			part(i)
		})
		for i := range runs {
			if n := runs[i].Load(); n != 1 {
				return fmt.Errorf("part %d ran %d times", i, n)
			}
		}
		return nil
	}, cl...)
}

// meet spawns two tasks that wait for each other: then two workers run.
func meet(rt *dataflow.Runtime) {
	var here atomic.Int32
	for range 2 {
		rt.Spawn("meet", func(*tasks.Context) error {
			for here.Add(1); here.Load() < 2; {
				osthread.Relax()
			}
			return nil
		}, tasks.HighPriority)
	}
}

// busy computes for a while.
func busy(d time.Duration) {
	for end := osthread.Nanotime() + int64(d); osthread.Nanotime() < end; {
		osthread.Relax()
	}
}

// Every part runs once, whatever the number of parts, workers, and bodies that share at the same
// time.
func TestShare_once(t *testing.T) {
	for name, opts := range map[string][]dataflow.Option{
		"one": {dataflow.Workers(1)}, "two": {dataflow.Workers(2)}, "three": {dataflow.Workers(3)},
		"serial": {dataflow.Serial()}, "seeded": {dataflow.Seeded(5)}, "verify": {dataflow.Verify()},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				for i := range 200 {
					shareOf(rt, []int{0, 1, 2, 7, 100}[i%5], func(int) {}, tasks.Priority(i%3-1))
				}
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
		})
	}
}

// A part may wait for one that another worker runs: so there is one. The worker sleeps before.
func TestShare_is_helped(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		var met atomic.Int32
		shareOf(rt, 3, func(i int) {
			if i == 0 { // so long that the others are worth a wake-up
				busy(time.Millisecond)
				return
			}
			met.Add(1)
			for until := time.Now().Add(20 * time.Second); met.Load() < 2; osthread.Relax() {
				if time.Now().After(until) {
					panic("nobody has taken the other part")
				}
			}
		})
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// Workers leave tasks for the parts of a more urgent task, and for no other.
func TestShare_priority(t *testing.T) {
	for _, priority := range []int{0, 1} {
		var workers sync.Map
		var seen atomic.Int32
		parts := []int{200, 100_000}[priority] // up to a second of them, until another worker comes
		err := run(t, func(rt *dataflow.Runtime) error {
			meet(rt)
			shareOf(rt, parts, func(int) {
				if _, known := workers.LoadOrStore(osthread.G(), true); !known {
					seen.Add(1)
				}
				if seen.Load() < 2 {
					busy(10 * time.Microsecond)
				}
			}, tasks.Priority(priority))
			for range 2000 {
				rt.Spawn("other", func(*tasks.Context) error { busy(20 * time.Microsecond); return nil })
			}
			return rt.Wait()
		}, dataflow.Workers(2))
		require.NoError(t, err)
		assert.EqualValues(t, 1+priority, seen.Load(), "priority %d", priority)
	}
}

// A panic of a part, or the end of its goroutine, fails the task; the other parts have ended by
// then.
func TestShare_part_fails(t *testing.T) {
	for name, fail := range map[string]func(){
		"panic":  func() { panic("part broken on purpose") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			for which := range 8 {
				var running atomic.Int32
				var after int32
				err := run(t, func(rt *dataflow.Runtime) error {
					data, other, over := 0, 0, make(chan struct{})
					rt.Spawn("share", func(ctx *tasks.Context) error {
						defer func() { after = running.Load(); close(over) }()
						ctx.Share(8, func(i int) {
							running.Add(1)
							defer running.Add(-1)
							busy(200 * time.Microsecond)
							if i == which {
								fail()
							}
						})
						return nil
					}, tasks.Updates(&data), tasks.OnWorker(1))
					rt.Spawn("dependent", func(*tasks.Context) error { return nil }, tasks.Updates(&data))
					rt.Spawn("independent", func(*tasks.Context) error { return nil }, tasks.Updates(&other))
					<-over // a part that ends the goroutine of the program ends the program
					return rt.WaitOn(&other)
				}, dataflow.Workers(3))
				if name == "panic" {
					require.ErrorContains(t, err, "part broken on purpose")
					assert.NotContains(t, err.Error(), "panic: panic:")
				} else {
					require.ErrorContains(t, err, "Goexit")
				}
				assert.Contains(t, err.Error(), `"share"`)
				assert.Zero(t, after, "parts that ran when the body had ended")
			}
		})
	}
}

// In the serial mode the parts run in order, in the seeded mode in orders that depend on the seed.
func TestShare_order(t *testing.T) {
	order := func(o dataflow.Option) (parts []int) {
		require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
			shareOf(rt, 20, func(i int) { parts = append(parts, i) })
			return rt.Wait()
		}, o))
		return parts
	}
	assert.True(t, slices.IsSorted(order(dataflow.Serial())))
	first, second := order(dataflow.Seeded(1)), order(dataflow.Seeded(2))
	assert.NotEqual(t, first, second)
	assert.Equal(t, first, order(dataflow.Seeded(1)))
}

// On another goroutine, Share does the work all the same, and the run fails with the place.
func TestShare_on_another_goroutine(t *testing.T) {
	n := 0
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("share", func(ctx *tasks.Context) error {
			var g sync.WaitGroup
			g.Go(func() { ctx.Share(5, func(int) { n++ }) })
			g.Wait()
			return nil
		})
		return rt.Wait()
	}, dataflow.Workers(2))
	require.ErrorContains(t, err, "share_test.go:")
	assert.Equal(t, 5, n)
}

// On a simulated machine parts take the time that they should, and every order of events works.
func TestShare_simulated(t *testing.T) {
	const ms = time.Millisecond
	for workers, want := range map[int]time.Duration{1: 24 * ms, 2: 12 * ms, 4: 6 * ms} {
		s := simulate(t, 1, workers, func(rt *dataflow.Runtime) error {
			shareOf(rt, 24, func(int) { osthread.Sleep(ms) })
			return rt.Wait()
		})
		assert.InDelta(t, want, s.Elapsed, 3*float64(ms), "%d workers", workers) // the first part, alone, then wake-ups one by one
	}
	for seed := range uint64(300) {
		simulate(t, seed, 3, func(rt *dataflow.Runtime) error {
			for i := range 6 {
				shareOf(rt, 5, func(int) { osthread.Sleep(50 * time.Microsecond) }, tasks.Priority(i%2))
			}
			return rt.Wait()
		})
	}
}

// BenchmarkShare tells what it costs to share two parts without work: with a worker that spins,
// and without any.
func BenchmarkShare(b *testing.B) {
	for workers := 1; workers <= 2; workers++ {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			err := dataflow.Run(func(rt *dataflow.Runtime) error {
				rt.Spawn("share", func(ctx *tasks.Context) error {
					for b.Loop() {
						ctx.Share(2, func(int) {})
					}
					return nil
				})
				return rt.Wait()
			}, dataflow.Workers(workers))
			require.NoError(b, err)
		})
	}
}
