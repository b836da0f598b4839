package main

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// The tasks of the measurement have three parameters and an empty body.
const (
	taskBatch   = 512 // fewer than the window, so that none runs before the Wait
	taskBatches = 64
	taskTiles   = 96
)

var emptyTask = tasks.Declare3("empty", func(_, _, _ []byte) {}, tasks.Input, tasks.Input, tasks.Inout)

// taskCosts measures what the runtime does for a task with one worker: to spawn it, and to
// start and end it. The medians of many batches.
func taskCosts() (spawn, task time.Duration, err error) {
	tiles := make([][]byte, taskTiles)
	for i := range tiles {
		tiles[i] = make([]byte, 64)
	}
	var spawns, ends []int64
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		for range taskBatches {
			begin := osthread.Nanotime()
			for i := range taskBatch {
				emptyTask.Spawn(rt, tiles[i%taskTiles], tiles[(i+1)%taskTiles], tiles[(7*i+2)%taskTiles])
			}
			middle := osthread.Nanotime()
			if err := rt.Wait(); err != nil {
				return err
			}
			spawns = append(spawns, middle-begin)
			ends = append(ends, osthread.Nanotime()-middle)
		}
		return nil
	}, dataflow.Workers(1))
	return perTask(spawns), perTask(ends), err
}

// perTask returns the median time of a task in batches.
func perTask(batches []int64) time.Duration {
	if len(batches) == 0 {
		return 0
	}
	slices.Sort(batches)
	return time.Duration(batches[len(batches)/2]) / taskBatch
}

// wakeCosts measures the wake-up of a thread that has slept for longer than threads spin: how
// long the waker needs for it, and how much later the sleeper goes on. The medians of many.
func wakeCosts() (waker, sleeper time.Duration) {
	const wakes = 101
	cores := osthread.Usable().List()
	if len(cores) < 2 {
		return 0, 0
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var bed osthread.Parker
	awake := make(chan int64)
	go func() {
		runtime.LockOSThread()                                // and its thread ends with the goroutine
		_ = osthread.SetAffinity(osthread.CPUSetOf(cores[1])) // elsewhere the system chooses
		for range wakes {
			bed.Park()
			awake <- osthread.Nanotime()
		}
	}()
	var calls, delays []int64
	for range wakes {
		osthread.Sleep(time.Millisecond)
		begin := osthread.Nanotime()
		bed.Unpark()
		called := osthread.Nanotime()
		calls = append(calls, called-begin)
		delays = append(delays, <-awake-begin)
	}
	slices.Sort(calls)
	slices.Sort(delays)
	return time.Duration(calls[wakes/2]), time.Duration(delays[wakes/2])
}

// handedRates measures how fast a core reads and writes what another one has just written, and how fast it
// writes what another one has read, in 1e9 bytes per second: from how much longer a product in a panel, and
// the packing of a panel, take then than with operands that only the core itself has used, which fit into
// its cache, and from the rate of those. 0 with one core. The medians of several memories, because
// it depends on where they lie, and of many times.
func handedRates(k blas.Kernels, cached float64) (handed, claimed float64) {
	const memories = 9
	cores := osthread.Usable().List()
	if len(cores) < 2 {
		return 0, 0
	}
	var all [2][]float64
	for range memories {
		h, c := handedRatesOnce(k, cached, cores)
		all[0], all[1] = append(all[0], h), append(all[1], c)
	}
	return report.Median(all[0]), report.Median(all[1])
}

// handedRatesOnce measures them with new memory.
func handedRatesOnce(k blas.Kernels, cached float64, cores []int) (handed, claimed float64) {
	const m, n, rounds = 1000, 48, 51
	a, b, c := numbers(m*n), numbers(n*n), numbers(m*n)
	packed, sums := numbers(k.PackedA(m, n)), numbers(m)
	write := func() {
		k.Dscal(m*n, 1, a, 1)
		k.Dscal(m*n, 1, c, 1)
	}
	product := func() { k.Dgemm(blas.NoTrans, blas.NoTrans, m, n, n, -1, a, m, b, n, 1, c, m) }
	pack := func() { k.PackA(packed, blas.NoTrans, m, n, a, m) }
	var products, packs struct{ own, other []int64 }
	var used, free osthread.Parker
	var g sync.WaitGroup
	on := func(core int, f func()) {
		g.Go(func() {
			runtime.LockOSThread() // and its thread ends with the goroutine
			_ = osthread.SetAffinity(osthread.CPUSetOf(core))
			f()
		})
	}
	on(cores[0], func() {
		for range rounds {
			free.Park()
			write()
			k.Dgemv(blas.NoTrans, m, n, 1, packed, m, b, 1, 1, sums, 1)
			used.Unpark()
		}
	})
	on(cores[1], func() {
		for range rounds {
			write()
			products.own = append(products.own, elapsed(product))
			pack()
			packs.own = append(packs.own, elapsed(pack))
			free.Unpark()
			used.Park()
			products.other = append(products.other, elapsed(product))
			packs.other = append(packs.other, elapsed(pack))
		}
	})
	g.Wait()
	rate := func(bytes float64, own, other []int64) float64 {
		slices.Sort(own)
		slices.Sort(other)
		return bytes / (bytes/cached + float64(max(0, other[rounds/2]-own[rounds/2])))
	}
	return rate(2*8*m*n, products.own, products.other), rate(8*m*n, packs.own, packs.other)
}

// elapsed returns the nanoseconds that f takes.
func elapsed(f func()) int64 {
	begin := osthread.Nanotime()
	f()
	return osthread.Nanotime() - begin
}

// switchCost measures how long one thread takes to hand a core over to another that sleeps on it:
// the median of batches.
func switchCost() time.Duration {
	const batches, rounds = 15, 500
	defer osthread.RaiseProcs(2)() // as in a run: with one P, the Go scheduler takes 100 us to hand it over
	cores := osthread.Usable().List()
	var here, there osthread.Parker
	var all []int64
	var ready, done sync.WaitGroup
	ready.Add(2)
	player := func(play func()) {
		done.Go(func() {
			runtime.LockOSThread() // and its thread ends with the goroutine
			_ = osthread.SetAffinity(osthread.CPUSetOf(cores[0]))
			ready.Done()
			ready.Wait()
			play()
		})
	}
	player(func() {
		for range batches {
			begin := osthread.Nanotime()
			for range rounds {
				there.Unpark()
				here.Park()
			}
			all = append(all, (osthread.Nanotime()-begin)/(2*rounds))
		}
	})
	player(func() {
		for range batches * rounds {
			there.Park()
			here.Unpark()
		}
	})
	done.Wait()
	slices.Sort(all)
	return time.Duration(all[batches/2])
}
