package mpi

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/pages"
)

// mapped maps the first byte of each Alloc to the function that frees it.
var mapped sync.Map // unsafe.Pointer to func() error

// pagesFor returns memory for Alloc and the function that frees it.
func pagesFor(bytes int) ([]byte, func() error, error) {
	if b, free := engine.FromSource(bytes); b != nil {
		return b, free, nil
	}
	b, err := pages.Map(bytes, bytes >= hugeFrom)
	return b, func() error { return pages.Unmap(b) }, err
}

// Alloc returns n zeroed elements in pages of their own, outside the Go heap, until [Free].
// Engines need not pin this memory, and the network can reach it without a copy. Slices of
// the Go heap can be sent as well. Alloc panics if T contains pointers, or if the system has
// no memory. With the race detector, which cannot see such memory, it uses the Go heap.
func Alloc[T any](n int) []T {
	if _, err := kindOf[T](); err != nil {
		panic(fmt.Sprintf("mpi: Alloc: %v", err))
	}
	var z T
	size := int(unsafe.Sizeof(z))
	if n < 0 {
		panic(fmt.Sprintf("mpi: Alloc of %d elements", n))
	}
	if invariant.Race || n*size == 0 {
		return make([]T, n)
	}
	b, free, err := pagesFor(n * size)
	if err != nil {
		panic(fmt.Sprintf("mpi: Alloc: %v", err))
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	mapped.Store(p, free)
	return unsafe.Slice((*T)(p), n)
}

const hugeFrom = 4 << 20 // bytes from which on Alloc requests huge pages

// Free frees a slice of Alloc. No operation may use it any more. Free does nothing for other
// slices.
func Free[T any](x []T) error {
	free, ok := mapped.LoadAndDelete(unsafe.Pointer(unsafe.SliceData(x)))
	if !ok {
		return nil
	}
	return free.(func() error)()
}
