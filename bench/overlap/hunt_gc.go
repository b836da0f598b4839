package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// collection measures how long a collection stops the world that begins while a reader
// sleeps in a fault, 400 ms, in compiled Go, with two Ps and with one.
func (h *hunt) collection() error {
	if h.cfg.dds != ddsForce {
		return nil // nobody would sleep
	}
	fmt.Fprintln(h.out, "\na collection that begins while a reader sleeps in a fault (compiled Go)")
	for _, procs := range []int{2, 1} {
		h.progress.Say("collection with GOMAXPROCS=%d", procs)
		before := runtime.GOMAXPROCS(procs)
		err := h.collectDuringFault(procs)
		runtime.GOMAXPROCS(before)
		if err != nil {
			return fmt.Errorf("GOMAXPROCS=%d: %w", procs, err)
		}
	}
	return nil
}

// patience is how long a reader may take to fall asleep.
const patience = 30 * time.Second

func (h *hunt) collectDuringFault(procs int) error {
	hints := h.hints(dds.Fixed(dds.Constants{Gap: 1}))
	net := shapedNet("bw=10Gbit")
	net.Latency = h.cfg.asleep / 2 // there and back
	return h.between(net, 1<<10, hints, func(p *party) error {
		type outcome struct{ stopped, asleep float64 }
		found := make(chan outcome, 1)
		began := osthread.Nanotime()
		go func() {
			for p.arena.Counts().Faults == 0 && osthread.Nanotime()-began < int64(patience) {
				runtime.Gosched()
			}
			fell := osthread.Nanotime()
			before := pauses()
			runtime.GC()
			found <- outcome{longest(before, pauses()), float64(fell-began) / 1e9}
		}()
		if err := p.lazy.Get(mpi.Of(p.in), 1, 0); err != nil {
			return err
		}
		if err := checked(p.in); err != nil {
			return err
		}
		slept := float64(osthread.Nanotime()-began) / 1e9
		o := <-found
		if o.asleep > slept {
			return fmt.Errorf("the collection began %.3f s after the reader, which slept for %.3f s", o.asleep, slept)
		}
		fmt.Fprintf(h.out, "GOMAXPROCS=%d: the reader slept %.0f ms, the world was stopped for %.3f ms at most\n", procs, slept*1e3, o.stopped*1e3)
		h.result("collection", report.Integer("gomaxprocs", procs), report.Decimal("seconds_asleep", slept), report.Decimal("seconds_stopped", o.stopped))
		return p.w.Flush()
	})
}

// pauses returns the distribution of the times for which collections stopped the world.
func pauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}

// longest returns an upper bound of the longest pause between two readings, in seconds.
func longest(before, after *metrics.Float64Histogram) float64 {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] == before.Counts[i] {
			continue
		}
		if bound := after.Buckets[i+1]; !math.IsInf(bound, 1) {
			return bound
		}
		return after.Buckets[i]
	}
	return 0
}
