package machine

import "fmt"

// mostThreads is how many threads the ranks of this process may have together: Go's
// run time ends a program that has 10000.
const mostThreads = 8000

// CheckThreads refuses more ranks inside this process, or more workers for each (0: as
// many as it has cores for), than a process can have threads: one per worker, and
// one per rank for its messages. Any goroutine; does not block.
func CheckThreads(ranks, workers int) error {
	if most := mostThreads / (1 + max(1, min(workers, mostThreads))); ranks > most || workers >= mostThreads {
		return fmt.Errorf("%d ranks of %d worker(s) are too many for one process, which can have %d threads: use fewer, or mpirun", ranks, max(1, workers), mostThreads)
	}
	return nil
}
