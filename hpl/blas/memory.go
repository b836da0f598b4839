package blas

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/pages"
)

// Alloc returns n zeros on pages of their own, huge ones if the system has them: the
// memory for matrices and packed panels. It is outside the Go heap, except under the
// race detector, which sees nothing else; [Free] gives it back. Any goroutine; a
// system call, and later a fault per touched page. Errors: n < 1, or no memory.
func Alloc(n int) ([]float64, error) {
	if n < 1 || n > maxElements {
		return nil, fmt.Errorf("blas: allocate %d numbers: from 1 to %d are possible", n, maxElements)
	}
	if invariant.Race {
		return make([]float64, n), nil
	}
	b, err := pages.Map(8*n, true)
	if err != nil {
		return nil, fmt.Errorf("blas: allocate %d numbers: %w", n, err)
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

const maxElements = int(^uint(0)>>1) / 16

// Free gives back what [Alloc] returned, all of it and unchanged in length. Nobody may
// touch it any more. Any goroutine; a system call. Errors: a is not from Alloc.
func Free(a []float64) error {
	if invariant.Race || len(a) == 0 {
		return nil
	}
	n := (8*len(a) + pages.Size() - 1) / pages.Size() * pages.Size()
	whole := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), n)
	if err := pages.Unmap(whole); err != nil {
		return fmt.Errorf("blas: free %d numbers: %w", len(a), err)
	}
	return nil
}

// workspace is what Dgemm and Dtrsm pack into. One belongs to the routine that has
// taken it; there are as many as were ever in use at a time, and they stay.
type workspace struct {
	a []float64 // a block of A, blockA
	b []float64 // a block of B, blockB; or a triangle
	// edge is for what is smaller than a primitive wants: mr rows of a strip.
	edge [widestStrip * widestPair]float64
}

var (
	idleMu sync.Mutex
	idle   []*workspace // guarded by idleMu
)

func takeWorkspace() *workspace {
	idleMu.Lock()
	defer idleMu.Unlock()
	if n := len(idle); n > 0 {
		w := idle[n-1]
		idle = idle[:n-1]
		return w
	}
	return newWorkspace()
}

// Reserve makes the memory into which n goroutines pack at the same time, and returns a
// function that gives it to them: the system gives pages out when they are first written
// to, and clears them first, which takes milliseconds. Any goroutine. Whoever reserves
// for several ranks of one process gives back when all have reserved.
func Reserve(n int) (give func()) {
	taken := make([]*workspace, n)
	for i := range taken {
		taken[i] = takeWorkspace()
		clear(taken[i].a)
		clear(taken[i].b)
	}
	return func() {
		for _, w := range taken {
			w.giveBack()
		}
	}
}

func newWorkspace() *workspace {
	const split = blockA + maxDepth*widestStrip
	memory, err := Alloc(split + blockB + hugePage/8)
	if err != nil { // there may still be some in the Go heap
		memory = make([]float64, split+blockB+hugePage/8)
	}
	// From the first boundary of a huge page on, so that the system can use those.
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % hugePage)
	memory = memory[(hugePage-past)%hugePage/8:]
	return &workspace{a: memory[:split:split], b: memory[split:]}
}

const hugePage = 2 << 20 // bytes

func (w *workspace) giveBack() {
	idleMu.Lock()
	defer idleMu.Unlock()
	idle = append(idle, w)
}
