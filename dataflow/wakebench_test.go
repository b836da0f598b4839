package dataflow_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// BenchmarkWake measures the time from just before a Spawn to the start of the body on the
// other of two workers, which sleeps in the kernel or still spins. The submitter does not
// help. The figures are us/wake-median and us/wake-p95; ns/op includes the pause before
// each spawn. bench/wake compares with two C threads.
func BenchmarkWake(b *testing.B) {
	for _, state := range []struct {
		name  string
		pause time.Duration // since the end of the last task: a worker spins for 100 us
	}{
		{"parked", time.Millisecond},
		{"spinning", 20 * time.Microsecond},
	} {
		for _, bound := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/OnWorker=%v", state.name, bound), func(b *testing.B) {
				benchWake(b, state.pause, bound)
			})
		}
	}
}

var (
	woken     atomic.Int64 // when the body started
	benchWoke = tasks.Declare1("woke", func(*int64) { woken.Store(osthread.Nanotime()) }, tasks.Inout)
)

func benchWake(b *testing.B, pause time.Duration, bound bool) {
	var x int64
	var clauses []tasks.Clause
	if bound {
		clauses = []tasks.Clause{tasks.OnWorker(1)}
	}
	took := make([]time.Duration, 0, b.N)
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for range b.N {
			spinFor(pause)
			woken.Store(0)
			start := osthread.Nanotime()
			benchWoke.Spawn(rt, &x, clauses...)
			for woken.Load() == 0 {
				osthread.Relax()
			}
			took = append(took, time.Duration(woken.Load()-start))
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "us/wake-median")
	b.ReportMetric(float64(took[len(took)*95/100].Nanoseconds())/1e3, "us/wake-p95")
}

// BenchmarkTrace measures the cost of the event log per task of 10 us, on 1 and on 2
// workers: rounds with and without it alternate, and the best ones are compared.
func BenchmarkTrace(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var off, on []float64
			for range max(b.N, 5) {
				off = append(off, traceRound(b, workers))
				on = append(on, traceRound(b, workers, dataflow.Trace(0)))
			}
			plain, traced := slices.Min(off), slices.Min(on)
			b.ReportMetric(plain, "us/task-off")
			b.ReportMetric(traced, "us/task-on")
			b.ReportMetric(100*(traced/plain-1), "%overhead")
		})
	}
}

var benchTenMicroseconds = tasks.Declare2("work", func(_, x *[8]int64) {
	for end := osthread.Nanotime() + 10_000; osthread.Nanotime() < end; {
		x[0]++
	}
}, tasks.Input, tasks.Inout)

// traceRound returns the us of core time per task of 10 us.
func traceRound(b *testing.B, workers int, opts ...dataflow.Option) (us float64) {
	const n = 4000
	var data [8][8]int64
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		round := func() error {
			for i := range n {
				benchTenMicroseconds.Spawn(rt, &data[(i+1)%8], &data[i%8])
			}
			return rt.Wait()
		}
		if err := round(); err != nil {
			return err
		}
		rt.ResetLog()
		start := time.Now()
		err := round()
		us = float64(time.Since(start).Nanoseconds()) / 1e3 / n * float64(workers)
		return err
	}, append(opts, dataflow.Workers(workers))...)
	if err != nil {
		b.Fatal(err)
	}
	return us
}
