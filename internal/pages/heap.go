package pages

import (
	"runtime"
	"sync"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// heapBytes is the size of the heap at which the runtime first collects garbage: until then every object
// may lie in memory that nobody has touched.
const heapBytes = 4 << 20

// sweepTime is how long the collector may go on in the background after a collection: it
// took 1 to 4 ms of a core.
const sweepTime = 5 * time.Millisecond

var warming sync.Mutex

// WarmHeap collects garbage, leaves the Go heap 4 MiB of free memory whose pages the system has allocated,
// and returns when the collector is idle. Benchmarks call it before they start the clock, as package
// testing collects garbage: a page takes 0.5 us, and 10 us on some virtual machines. There NAS FT of class
// W, as slabs on two ranks, took 9.5 ms, and 8.2 without the faults of its requests. Any goroutine; blocks for
// some 10 ms; calls at the same time share one collection. In virtual time it does nothing.
func WarmHeap() {
	if osthread.Simulating() {
		return
	}
	growHeap()
	osthread.Sleep(sweepTime)
}

func growHeap() {
	if !warming.TryLock() {
		warming.Lock()
		defer warming.Unlock()
		return
	}
	defer warming.Unlock()
	b := make([]byte, heapBytes)
	for i := 0; i < len(b); i += size {
		put(&b[i], 1)
	}
	runtime.GC()
}
