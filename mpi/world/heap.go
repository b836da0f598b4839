package world

import (
	"os"
	"runtime"
	"runtime/debug"
)

// heapFloor is the garbage that is made before a collection begins. Go would begin one after 4 MB
// if the heap is small, as it is in programs whose arrays lie outside of it (mpi.Alloc): then ranks
// that compute and wait for each other on all cores lose milliseconds to a collection for every few
// thousand messages.
const heapFloor = 64 << 20

// raiseHeap lets the heap count as heapFloor larger until restore is called, by memory that nobody
// touches and that is therefore only addresses. It does nothing if the user has chosen when to
// collect (GOGC, GOMEMLIMIT).
func raiseHeap() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" || debug.SetMemoryLimit(-1) != unlimited {
		return func() {}
	}
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}

const unlimited = 1<<63 - 1
