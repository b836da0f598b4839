package mpi

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/pages"
)

// mapped remembers what Alloc took from the system, by its first byte.
var mapped sync.Map // unsafe.Pointer to []byte

// Alloc returns n zeroed elements in pages of their own, outside the Go heap: the
// memory for messages, which engines need not pin, and which the network can reach
// without a copy. It stays until [Free]. Slices of the Go heap can be sent as well.
// Alloc panics if T contains pointers, or if the system has no memory. Builds with
// the race detector, which does not see such memory, take it from the heap.
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
	b, err := pages.Map(n*size, n*size >= hugeFrom)
	if err != nil {
		panic(fmt.Sprintf("mpi: Alloc: %v", err))
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	mapped.Store(p, b)
	return unsafe.Slice((*T)(p), n)
}

const hugeFrom = 4 << 20 // bytes from which huge pages are asked for

// Free gives back what Alloc returned, which no operation uses any more. Other
// slices are left alone.
func Free[T any](x []T) error {
	b, ok := mapped.LoadAndDelete(unsafe.Pointer(unsafe.SliceData(x)))
	if !ok {
		return nil
	}
	return pages.Unmap(b.([]byte))
}
