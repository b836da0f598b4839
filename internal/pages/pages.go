// Package pages gets memory from the system by whole pages.
//
// Memory from [Map] starts on a page of its own, is zero, lies outside the Go
// heap and is never moved, so its pages can be protected, registered or handed to a
// foreign library one by one. A page is [Size] bytes. Whoever called Map owns the
// mapping and gives it back with [Unmap]; the collector neither follows
// pointers in it nor frees it, so it holds no Go pointers. Pages come into being at
// the first touch, on the memory node of the thread that touches them: [Prefault]
// pays that price in advance.
//
// The race detector does not see this memory, and synchronization words do not
// belong in it. Where the system has no such mapping, Map returns ordinary heap
// memory, page-aligned by nothing but luck, and Unmap leaves it to the collector.
package pages

import (
	"fmt"
	"os"
)

var size = os.Getpagesize() // immutable

// Size returns the size of a page in bytes. Any goroutine; does not block.
func Size() int { return size }

// Map returns n bytes of zeros in pages of their own. The capacity is the whole
// mapping, n rounded up to pages, and may be used. With huge the kernel is asked
// for huge pages; it may decline, and no error says so. Any goroutine; one or two
// system calls of a few us, and later a fault per touched page. Errors: n <= 0, or
// the system's when it has no memory.
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

// Unmap gives back a mapping: b is what Map returned, not a slice of a part of
// it. Later accesses to it, through any slice, kill the program where the memory is
// not Go's. Any goroutine; one system call. Errors: b is no live mapping.
func Unmap(b []byte) error {
	if err := unmapPages(b[:cap(b)]); err != nil {
		return fmt.Errorf("pages: unmap %d bytes: %w", len(b), err)
	}
	return nil
}

// Prefault brings the pages of b into being, on the memory node of the calling
// thread, and changes no byte. Nobody else may write to b meanwhile. Any
// goroutine; occupies it for a fault per page: with map and unmap, 4 us per page
// of 4 KiB on a virtual EPYC core.
func Prefault(b []byte) {
	for i := 0; i < len(b); i += size {
		put(&b[i], b[i])
	}
	if len(b) > 0 { // b may start within a page
		put(&b[len(b)-1], b[len(b)-1])
	}
}

// put stores v. The compiler would leave out a store of what was just loaded if
// it could see it.
//
//go:noinline
func put(p *byte, v byte) { *p = v }

const maxInt = int(^uint(0) >> 1)
