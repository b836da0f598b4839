package osthread

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simulation runs main, and returns the notes of its threads.
func simulation(t *testing.T, seed uint64, main func(note func(format string, args ...any))) (string, Simulated) {
	var text strings.Builder
	s, err := Simulate(Simulation{Seed: seed, Interrupt: true}, func() {
		main(func(format string, args ...any) { fmt.Fprintf(&text, format+" ", args...) })
	})
	require.NoError(t, err)
	return text.String(), s
}

// Threads take turns in the order of their times, and hours pass at once.
func TestSimulate_time(t *testing.T) {
	began := time.Now()
	text, s := simulation(t, 0, func(note func(string, ...any)) {
		var g Group
		for i, d := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
			g.Go(func() {
				begin := Nanotime()
				Sleep(d)
				note("%d@%v", i, time.Duration(Nanotime()-begin))
			})
		}
		g.Wait()
		note("end@%v", time.Duration(Nanotime()))
	})
	assert.Equal(t, "1@1h0m0s 2@2h0m0s 0@3h0m0s end@3h0m0s ", text)
	assert.Equal(t, 3*time.Hour, s.Elapsed)
	assert.Less(t, time.Since(began), time.Minute)
	assert.Less(t, Nanotime(), int64(time.Hour), "outside the clock is the real one")
}

func TestSimulate_parker(t *testing.T) {
	text, _ := simulation(t, 0, func(note func(string, ...any)) {
		var p, q Parker
		var g Group
		g.Go(func() {
			for range 3 {
				p.Park()
				note("ping@%d", Nanotime())
				Sleep(10)
				q.Unpark()
			}
			note("%t", p.ParkTimeout(5))
			note("@%d", Nanotime())
			p.Unpark() // a token before the wait
			note("%t", p.ParkTimeout(1000))
			note("@%d", Nanotime())
		})
		g.Go(func() {
			for range 3 {
				p.Unpark()
				q.Park()
				note("pong@%d", Nanotime())
			}
		})
		g.Wait()
	})
	assert.Equal(t, "ping@0 pong@10 ping@10 pong@20 ping@20 false @35 true @35 pong@30 ", sorted(text, "pong@30 "))
}

// sorted moves one word to the end: two threads may have gone on at the same time.
func sorted(text, last string) string { return strings.Replace(text, last, "", 1) + last }

func TestSimulate_signals_and_timers(t *testing.T) {
	text, _ := simulation(t, 0, func(note func(string, ...any)) {
		s := NewSignal()
		f := AfterFunc(time.Second, func() { note("fired@%v", time.Duration(Nanotime())); s.Set() })
		stopped := AfterFunc(time.Second, func() { note("never") })
		note("%t", s.WaitTimeout(500*time.Millisecond))
		f.Reset(2 * time.Second)
		stopped.Stop()
		s.Wait()
		note("@%v", time.Duration(Nanotime()))
		var g Group
		g.Go(func() { Sleep(time.Second) })
		note("%t %t", g.WaitTimeout(time.Millisecond), g.WaitTimeout(time.Minute))
		before := Nanotime()
		Relax()
		note("%v", time.Duration(Nanotime()-before))
		LockThread()
		Sleep(1)
		UnlockThread()
		note("%v", SpinBudget(time.Second))
	})
	assert.Equal(t, "false fired@2.5s @2.5s false true 100ns 0s ", text)
	assert.Equal(t, time.Second, SpinBudget(time.Second))
}

// Threads at one time go on in the order that the seed says: the same one in every run, and
// all orders under some seed.
func TestSimulate_seeds(t *testing.T) {
	run := func(seed uint64) string {
		text, _ := simulation(t, seed, func(note func(string, ...any)) {
			for i := range 3 {
				Go(func() { note("%d", i) })
			}
		})
		return text
	}
	assert.Equal(t, "0 1 2 ", run(0))
	orders := map[string]bool{}
	for seed := range uint64(100) {
		assert.Equal(t, run(seed), run(seed))
		orders[run(seed)] = true
	}
	assert.Len(t, orders, 6)
}

// A program that sleeps without end ends at the limit.
func TestSimulate_limit(t *testing.T) {
	s, err := Simulate(Simulation{Limit: time.Second}, func() {
		Go(func() {
			for {
				Sleep(time.Millisecond)
			}
		})
		NewSignal().Wait()
	})
	require.ErrorContains(t, err, "the limit of 1s is reached at 1s")
	assert.Equal(t, time.Second, s.Elapsed)
}

// A program in which only time passes ends: a watchdog looks, a thread polls, and nobody wakes
// the first one. One that computes, or sleeps, or has one long timeout does not.
func TestSimulate_idle(t *testing.T) {
	watched := func(main func()) error {
		_, err := Simulate(Simulation{}, func() {
			over := NewSignal()
			var dog *Timer
			dog = AfterFunc(time.Second, func() { dog.Reset(time.Second) })
			Go(func() {
				var polls Parker
				for !over.WaitTimeout(100 * time.Millisecond) {
					polls.ParkTimeout(time.Millisecond)
				}
			})
			main()
			dog.Stop()
			over.Set()
		})
		return err
	}
	err := watched(NewSignal().Wait)
	require.ErrorContains(t, err, "osthread: nothing has moved for 10m")
	assert.ErrorContains(t, err, "threads wait (0")
	assert.NoError(t, watched(func() { Charge(24 * time.Hour) }))
	assert.NoError(t, watched(func() { Sleep(5 * time.Minute) }))
	_, err = Simulate(Simulation{}, func() { assert.False(t, NewSignal().WaitTimeout(24*time.Hour)) })
	assert.NoError(t, err)
}

// The time that threads have computed grows while they do.
func TestSimulate_computed(t *testing.T) {
	_, err := Simulate(Simulation{}, func() {
		for range 2 {
			Go(func() { Charge(10 * time.Minute); Settle() })
		}
		Sleep(4 * time.Minute)
		assert.InDelta(t, 8*time.Minute, ProcessCPUTime(), 10)
		Sleep(time.Hour)
		assert.InDelta(t, 20*time.Minute, ProcessCPUTime(), 10)
	})
	require.NoError(t, err)
}

// A stopped timer does not keep the machine running, not even if nothing has run since its
// start; and it can be stopped when the machine is over.
func TestSimulate_stopped_timer(t *testing.T) {
	var late *Timer
	s, err := Simulate(Simulation{}, func() {
		AfterFunc(time.Hour, func() { t.Error("stopped") }).Stop()
		late = AfterFunc(time.Second, func() {})
	})
	require.NoError(t, err)
	assert.Equal(t, time.Second, s.Elapsed)
	late.Stop()
}

// A deadlock is known at once, with the threads that wait.
func TestSimulate_deadlock(t *testing.T) {
	var p Parker
	s, err := Simulate(Simulation{}, func() {
		Go(func() { Sleep(time.Hour) })
		Go(p.Park)
	})
	require.EqualError(t, err, "osthread: a deadlock at 1h0m0s of virtual time: 1 threads wait (2)")
	assert.Equal(t, time.Hour, s.Elapsed)
}

// A goroutine outside wakes a thread.
func TestSimulate_outside(t *testing.T) {
	var p Parker
	var done atomic.Bool
	begin := make(chan struct{})
	go func() {
		<-begin
		p.Unpark()
		done.Store(true)
	}()
	_, err := Simulate(Simulation{}, func() {
		close(begin)
		for !done.Load() { // the token is in the mail
			Relax()
			runtime.Gosched()
		}
		p.Park()
	})
	require.NoError(t, err)
}

func BenchmarkSimulate_turn(b *testing.B) {
	for _, threads := range []int{2, 640} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			_, err := Simulate(Simulation{}, func() {
				for i := range threads {
					Go(func() {
						for range b.N / threads {
							Sleep(time.Duration(10 + i%7))
						}
					})
				}
			})
			require.NoError(b, err)
		})
	}
}
