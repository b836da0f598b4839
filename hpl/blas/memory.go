package blas

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
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
// took it. There are about as many as were ever in use at one time.
type workspace struct {
	a []float64 // a block of A, mostA
	b []float64 // a block of B, mostB, or more; or a triangle
	// edge holds a strip of less than mr rows, for a primitive that takes mr.
	edge [mostRows * mostColumns]float64

	memory  []float64 // all of it, from Alloc; nil if it is of the Go heap
	touched bool      // all pages have been accessed
}

// idle holds the workspaces that nobody uses. A goroutine begins its search at a place of its own, where
// it left one: that memory is in the cache of its core. There is no lock, because a worker, which is
// locked to its thread, would sleep for it, and kernels of a microsecond take a workspace.
var idle [256]struct {
	workspace atomic.Pointer[workspace]
	_         [56]byte // to the next cache line
}

// place returns the place of idle that is i steps from the goroutine's own.
func place(own uint64, i int) *atomic.Pointer[workspace] {
	return &idle[(own+uint64(i))%uint64(len(idle))].workspace
}

// ownPlace is a hash of the goroutine.
func ownPlace() uint64 { return uint64(osthread.G()) * 0x9E3779B97F4A7C15 >> 56 }

func takeWorkspace() *workspace {
	own := ownPlace()
	for i := range 2 * len(idle) { // twice: the others move them meanwhile
		if p := place(own, i); p.Load() != nil {
			if w := p.Swap(nil); w != nil {
				return w
			}
		}
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
	w := &workspace{memory: memory}
	if err != nil { // the Go heap may still have some
		memory = make([]float64, mostA+mostB+hugePage/8)
	}
	// Start at a boundary of huge pages, so that the system can use them.
	past := int(uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % hugePage)
	memory = memory[(hugePage-past)%hugePage/8:]
	w.a, w.b = memory[:mostA:mostA], memory[mostA:]
	return w
}

const hugePage = 2 << 20 // bytes

func (w *workspace) giveBack() {
	own := ownPlace()
	for i := range idle {
		if p := place(own, i); p.Load() == nil && p.CompareAndSwap(nil, w) {
			return
		}
	}
	_ = Free(w.memory) // more than idle holds; an error leaves it allocated
}
