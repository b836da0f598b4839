package mpi

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/pages"
)

// mapped remembers what Alloc gave, by its first byte, and how to give it back.
var mapped sync.Map // unsafe.Pointer to func() error

// Source gives memory for [Alloc], at least so many zeroed bytes that begin at a page, and a
// function that takes it back; nil if it has none.
type Source func(bytes int) (b []byte, free func() error)

var source atomic.Pointer[Source]

// AllocFrom has Alloc take memory from s, if that has any, until restore is called. It is for
// tools that watch the memory of messages; the last caller wins. Any goroutine may call it.
func AllocFrom(s Source) (restore func()) {
	before := source.Swap(&s)
	return func() { source.Store(before) }
}

// pagesFor returns memory for Alloc and what gives it back.
func pagesFor(bytes int) ([]byte, func() error, error) {
	if s := source.Load(); s != nil {
		if b, free := (*s)(bytes); b != nil {
			return b, free, nil
		}
	}
	b, err := pages.Map(bytes, bytes >= hugeFrom)
	return b, func() error { return pages.Unmap(b) }, err
}

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
	b, free, err := pagesFor(n * size)
	if err != nil {
		panic(fmt.Sprintf("mpi: Alloc: %v", err))
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	mapped.Store(p, free)
	return unsafe.Slice((*T)(p), n)
}

const hugeFrom = 4 << 20 // bytes from which huge pages are asked for

// Free gives back what Alloc returned, which no operation uses any more. Other
// slices are left alone.
func Free[T any](x []T) error {
	free, ok := mapped.LoadAndDelete(unsafe.Pointer(unsafe.SliceData(x)))
	if !ok {
		return nil
	}
	return free.(func() error)()
}
