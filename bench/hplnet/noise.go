package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// thieves are the noise of an operating system: one thread pinned to each usable core,
// which wakes once per period and burns a fixed amount of processor time, whatever else
// wants to run there. The threads begin at different times of the period, as the
// daemons of different machines would.
type thieves struct {
	done    atomic.Bool
	ended   sync.WaitGroup
	restore func()
	stolen  atomic.Int64 // ns of processor time, over all cores
	began   int64
	cores   int
}

// steal begins to steal part (0 to 1) of every core; with 0 it does nothing. The
// threads are Go threads, so they bring their own Ps. The caller calls stop.
func steal(part float64, period time.Duration) *thieves {
	t := &thieves{began: osthread.Nanotime()}
	if part <= 0 {
		return t
	}
	cores := osthread.Usable().List()
	t.cores, t.restore = len(cores), osthread.RaiseProcs(len(cores))
	for i, core := range cores {
		phase := period * time.Duration(i) / time.Duration(len(cores))
		t.ended.Go(func() { t.work(core, phase, period, time.Duration(part*float64(period))) })
	}
	return t
}

// work is one thread. It ends locked, so that the thread dies with its mask.
func (t *thieves) work(core int, phase, period, burn time.Duration) {
	runtime.LockOSThread()
	_ = osthread.SetAffinity(osthread.CPUSetOf(core)) // where threads cannot be pinned, it roams
	_ = osthread.SetTimerSlack(1)
	for next := t.began + int64(phase); !t.done.Load(); next += int64(period) {
		osthread.Sleep(time.Duration(next - osthread.Nanotime()))
		before, wall := osthread.ThreadCPUTime(), osthread.Nanotime()
		for !t.done.Load() {
			used := osthread.ThreadCPUTime() - before
			if before == 0 { // not known here
				used = time.Duration(osthread.Nanotime() - wall)
			}
			if used >= burn {
				t.stolen.Add(int64(used))
				break
			}
			for range 100 {
				osthread.Relax()
			}
		}
		next = max(next, osthread.Nanotime()-int64(period)) // late: do not make up for missed time
	}
}

// stop ends the threads and returns the part of the cores that was stolen.
func (t *thieves) stop() float64 {
	t.done.Store(true)
	t.ended.Wait()
	if t.restore == nil {
		return 0
	}
	t.restore()
	return float64(t.stolen.Load()) / float64(osthread.Nanotime()-t.began) / float64(t.cores)
}
