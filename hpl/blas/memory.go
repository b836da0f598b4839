package blas

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/internal/reserved"
)

// Alloc returns n zeros on pages of their own, huge ones if the system has them: memory
// for matrices and packed panels. It lies outside the Go heap, except under the race
// detector, which sees only the heap. [Free] frees it. Any goroutine; a system call, and
// later a fault per touched page. Errors: n < 1, or no memory.
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

// Free frees memory of [Alloc] or [Modelled.Reserve]: the whole slice, unchanged in length, which may not be
// touched after it. Any goroutine; a system call. Errors: a is not from Alloc.
func Free(a []float64) error {
	if len(a) == 0 {
		return nil
	}
	if p := unsafe.Pointer(unsafe.SliceData(a)); reserved.Owns(p) {
		return reserved.Unmap(unsafe.Slice((*byte)(p), 8*len(a)))
	}
	if invariant.Race {
		return nil
	}
	n := (8*len(a) + pages.Size() - 1) / pages.Size() * pages.Size()
	whole := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), n)
	if err := pages.Unmap(whole); err != nil {
		return fmt.Errorf("blas: free %d numbers: %w", len(a), err)
	}
	return nil
}

// workspace is the memory into which Dgemm and Dtrsm pack. It belongs to the routine that
// took it. There are as many as were ever in use at one time; none is freed.
type workspace struct {
	a []float64 // a block of A, mostA
	b []float64 // a block of B, mostB, or more; or a triangle
	// edge holds a strip of less than mr rows, for a primitive that takes mr.
	edge [mostRows * mostColumns]float64

	touched bool // all pages have been accessed
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

// Reserve makes work buffers for n goroutines at the same time, and touches their pages:
// the system clears a page at its first use, which takes milliseconds for a buffer. The
// returned function hands the buffers to the kernels. Any goroutine. A program with several
// ranks in one process calls it when all ranks have reserved.
func Reserve(n int) (give func()) {
	taken := make([]*workspace, n)
	for i := range taken {
		taken[i] = takeWorkspace()
		taken[i].touch()
	}
	return func() {
		for _, w := range taken {
			w.giveBack()
		}
	}
}

// touch accesses all pages of w, once. Only the goroutine that has taken w calls it.
func (w *workspace) touch() {
	if !w.touched {
		clear(w.a)
		clear(w.b)
		w.touched = true
	}
}

func newWorkspace() *workspace {
	memory, err := Alloc(mostA + mostB + hugePage/8)
	if err != nil { // the Go heap may still have some
		memory = make([]float64, mostA+mostB+hugePage/8)
	}
	// Start at a boundary of huge pages, so that the system can use them.
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % hugePage)
	memory = memory[(hugePage-past)%hugePage/8:]
	return &workspace{a: memory[:mostA:mostA], b: memory[mostA:]}
}

const hugePage = 2 << 20 // bytes

func (w *workspace) giveBack() {
	idleMu.Lock()
	defer idleMu.Unlock()
	idle = append(idle, w)
}
