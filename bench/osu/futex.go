package main

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/osthread"
)

// futexWake returns the median us in which a thread wakes another that sleeps, both
// pinned, pause ns after it has gone to sleep: the least cost of a comm task spawned to a
// sleeping thread. The program wake compares it with the same in C.
func futexWake(count int, pause int64) (float64, error) {
	claim := osthread.ClaimCores(2)
	defer claim.Release()
	if claim.Oversubscribed() {
		return 0, nil // no two cores: not known
	}
	defer osthread.RaiseProcs(4)()
	var sleeper osthread.Parker
	var woken atomic.Int64
	took := make([]float64, count)
	both := onCores(claim.Cores(), func() {
		for i := range took {
			for until := osthread.Nanotime() + pause; osthread.Nanotime() < until; {
				osthread.Relax()
			}
			woken.Store(0)
			begin := osthread.Nanotime()
			sleeper.Unpark()
			for woken.Load() == 0 {
				osthread.Relax()
			}
			took[i] = float64(woken.Load()-begin) / 1e3
		}
	}, func() {
		for range took {
			sleeper.Park()
			woken.Store(osthread.Nanotime())
		}
	})
	return report.Median(took), both
}

// onCores runs each function on its own goroutine, pinned to a core, and waits for all. If
// one cannot be pinned, none runs. The threads end with the goroutines.
func onCores(cores []int, fs ...func()) error {
	pinned, start := make(chan error, len(fs)), make(chan bool, len(fs))
	var ended sync.WaitGroup
	for i, f := range fs {
		ended.Go(func() {
			runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
			err := osthread.SetAffinity(osthread.CPUSetOf(cores[i]))
			if errors.Is(err, errors.ErrUnsupported) {
				err = nil
			}
			pinned <- err
			if <-start {
				f()
			}
		})
	}
	var err error
	for range fs {
		err = errors.Join(err, <-pinned)
	}
	for range fs {
		start <- err == nil
	}
	ended.Wait()
	return err
}
