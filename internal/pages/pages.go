// Package pages gets memory from the system by whole pages.
//
// Memory from [Map] is zero, starts at a page boundary, lies outside the Go heap and never
// moves. So its pages can be protected, registered or passed to a foreign library one by one.
// A page is [Size] bytes. The caller of Map owns the mapping and frees it with [Unmap]. The
// collector neither follows pointers in it nor frees it, so it must hold no Go pointers. The
// system allocates a page at its first touch, on the memory node of the touching thread:
// [Prefault] pays that price in advance.
//
// The race detector does not see this memory: do not put synchronization words into it. On
// systems without such mappings Map returns ordinary heap memory, not aligned to pages, and
// Unmap leaves it to the collector.
package pages

import (
	"fmt"
	"os"
)

var size = os.Getpagesize() // immutable

// Size returns the size of a page in bytes. Any goroutine; does not block.
func Size() int { return size }

// Map returns n bytes of zeros in pages of their own. The capacity is the whole mapping, n
// rounded up to pages, and may be used. huge asks the kernel for huge pages; it may decline
// without an error. Any goroutine; one or two system calls of a few us, and later a fault
// per touched page. Errors: n <= 0; no memory.
func Map(n int, huge bool) ([]byte, error) {
	if n <= 0 || n > maxInt-size {
		return nil, fmt.Errorf("pages: map %d bytes", n)
	}
	whole := (n + size - 1) / size * size
	b, err := mapPages(whole, huge)
	if err != nil {
		return nil, fmt.Errorf("pages: map %d bytes: %w", n, err)
	}
	return b[:n], nil
}

// HugeSize is the size of a huge page in bytes on most systems.
const HugeSize = 2 << 20

// AdviseHuge asks the kernel for huge pages in b, which starts at a multiple of HugeSize and may be Go memory; what has been
// touched already may stay as it is. Any goroutine; a system call.
func AdviseHuge(b []byte) { adviseHuge(b) }

// Unmap frees a mapping: b is the slice from Map, not a part of it. A later access through
// any slice crashes the program, unless the memory is on the Go heap. Any goroutine; one
// system call. Errors: b is no live mapping.
func Unmap(b []byte) error {
	if err := unmapPages(b[:cap(b)]); err != nil {
		return fmt.Errorf("pages: unmap %d bytes: %w", len(b), err)
	}
	return nil
}

// Prefault lets the system allocate the pages of b, on the memory node of the calling
// thread, and changes no byte. No other goroutine may write to b meanwhile. Any goroutine;
// takes a fault per page: with Map and Unmap, 4 us per page of 4 KiB on a virtual EPYC core.
func Prefault(b []byte) {
	for i := 0; i < len(b); i += size {
		put(&b[i], b[i])
	}
	if len(b) > 0 { // b may start within a page
		put(&b[len(b)-1], b[len(b)-1])
	}
}

// put stores v. If it were inlined, the compiler would remove a store of the value just
// loaded.
//
//go:noinline
func put(p *byte, v byte) { *p = v }

const maxInt = int(^uint(0) >> 1)
