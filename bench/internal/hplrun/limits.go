package hplrun

import (
	"fmt"
	"os"

	"github.com/weft-hpc/weft/hpl"
)

// rootFS is where /proc and /sys are.
var rootFS = os.DirFS("/")

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

// CheckMemory refuses a run whose ranks are all inside this process, if this machine
// has not the memory that it needs, and says what would fit. It reads a few small files
// of the system, and believes in the run if they are not there. Any goroutine.
func CheckMemory(c hpl.Config) error {
	bytes, known := available(rootFS)
	if !known {
		return nil
	}
	if fits := largest(c, 1, bytes, maxOrder); c.N > fits {
		return tooLarge(c, bytes, fits)
	}
	return nil
}

// tooLarge is the error of a run for which a machine with so many bytes has no room.
func tooLarge(c hpl.Config, bytes int64, fits int) error {
	return fmt.Errorf("order N = %d on %d x %d processes needs %s of memory (here %s are available): with NB = %d at most N = %d fits",
		c.N, c.P, c.Q, gib(float64(hpl.Bytes(c))), gib(float64(bytes)), c.NB, fits)
}
