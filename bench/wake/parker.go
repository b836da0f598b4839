package main

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/osthread"
)

// side is one of the two threads of the Parker's game.
type side struct {
	osthread.Parker
	_ [124]byte // neighbours on one cache line would slow each other
}

// playParker plays one round with two locked, pinned goroutines and a Parker
// each.
func playParker(g game) (timing, error) {
	var sides [2]side
	took := make([]float64, g.handovers) // us
	var sent int64                       // written by the waker before it hands over
	err := onTwoCores(g.cores, func(who int) {
		me, other := &sides[who], &sides[1-who]
		for i := range took {
			if i%2 == who {
				sent = osthread.Nanotime()
				other.Unpark()
			} else {
				me.Park()
				took[i] = float64(osthread.Nanotime()-sent) / 1e3
			}
		}
	})
	if err != nil {
		return timing{}, err
	}
	return timing{median: report.Median(took), min: slices.Min(took)}, nil
}

// onTwoCores runs play(0) and play(1) on two locked goroutines, pinned on the
// two cores where the system can pin, and waits for both. If one cannot be pinned,
// neither plays.
func onTwoCores(cores [2]int, play func(who int)) error {
	pinned := make(chan error, 2)
	start := make(chan bool)
	var ended sync.WaitGroup
	for who, core := range cores {
		ended.Go(func() {
			runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
			err := osthread.SetAffinity(osthread.CPUSetOf(core))
			if errors.Is(err, errors.ErrUnsupported) {
				err = nil
			}
			pinned <- err
			if <-start {
				play(who)
			}
		})
	}
	err := errors.Join(<-pinned, <-pinned)
	start <- err == nil
	start <- err == nil
	ended.Wait()
	return err
}
