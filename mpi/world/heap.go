package world

import (
	"os"
	"runtime/debug"
	"sync"
)

// heapFloor is the garbage that is made before a collection begins. Go would begin one after 4 MB
// if the heap is small, as it is in programs whose arrays lie outside of it (mpi.Alloc): then ranks
// that compute and wait for each other on all cores lose milliseconds to a collection for every few
// thousand messages.
const heapFloor = 64 << 20

// floor is memory that nobody touches, so that it is only addresses. It is made once and kept: Go
// would clear, and so touch, what it allocates where something has been before.
var floor struct {
	sync.Mutex
	memory []byte // guarded by the mutex
}

// raiseHeap lets the heap count as heapFloor larger from now on. It does nothing if the user has
// chosen when to collect (GOGC, GOMEMLIMIT).
func raiseHeap() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" || debug.SetMemoryLimit(-1) != unlimited {
		return
	}
	floor.Lock()
	defer floor.Unlock()
	if floor.memory == nil {
		floor.memory = make([]byte, heapFloor)
	}
}

const unlimited = 1<<63 - 1
