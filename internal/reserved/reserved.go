// Package reserved hands out addresses for the data of simulated programs that do not compute:
// matrices of many terabytes fit, because nothing is stored in them.
//
// Two kinds: a matrix is mapped without access, so that a program that touches an element ends
// with a fault; a buffer can be read and written, and costs the pages that are touched. Messages
// between them carry nothing, except what [Keep] has named: counts and pivots.
package reserved

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"unsafe"
)

// space is the address space of the process, reserved at the first use and never given back.
var space struct {
	mu   sync.Mutex
	next uintptr         // guarded by mu: first free address
	kept map[uintptr]int // guarded by mu: bytes that messages carry, by their address
	base atomic.Uintptr
	size atomic.Uintptr
}

const page = 1 << 16 // of every system

// Map returns addresses for n bytes; buffer says that they can be read and written. Any
// goroutine. Errors: no address space, or not on this system.
func Map(n int, buffer bool) ([]byte, error) {
	if n < 1 {
		return nil, fmt.Errorf("reserved: map %d bytes", n)
	}
	space.mu.Lock()
	defer space.mu.Unlock()
	if space.base.Load() == 0 {
		b, err := reserve()
		if err != nil {
			return nil, fmt.Errorf("reserved: no address space: %w", err)
		}
		space.next = uintptr(unsafe.Pointer(unsafe.SliceData(b)))
		space.kept = map[uintptr]int{}
		space.base.Store(space.next)
		space.size.Store(uintptr(len(b))) // last: Owns reads it first
	}
	whole := (uintptr(n) + page - 1) &^ (page - 1)
	if used := space.next - space.base.Load(); whole > space.size.Load()-used {
		return nil, errors.New("reserved: the address space is used up")
	}
	offset := space.next - space.base.Load()
	space.next += whole
	b := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(all)), offset)), whole)
	if buffer {
		if err := open(b); err != nil {
			return nil, fmt.Errorf("reserved: map %d bytes: %w", n, err)
		}
	}
	return b[:n], nil
}

var all []byte // the address space; guarded by space.mu

// Unmap gives the pages of a mapping back to the system. Its addresses are not used again.
func Unmap(b []byte) error {
	space.mu.Lock()
	defer space.mu.Unlock()
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	maps.DeleteFunc(space.kept, func(p uintptr, _ int) bool { return p-from < uintptr(cap(b)) })
	return forget(b[:cap(b)])
}

// Keep has messages that begin at an address of a buffer carry its first n bytes, or more, if an earlier call
// said so: that message may not have been sent yet.
func Keep(p unsafe.Pointer, n int) {
	space.mu.Lock()
	defer space.mu.Unlock()
	space.kept[uintptr(p)] = max(n, space.kept[uintptr(p)])
}

// Owns reports whether an address is one of Map's.
func Owns(p unsafe.Pointer) bool {
	size := space.size.Load()
	return uintptr(p)-space.base.Load() < size
}

// Carried returns how many of the n bytes at an address a message carries: all, unless they are
// reserved; then the part that [Keep] kept.
func Carried(p unsafe.Pointer, n int) int {
	if Owns(p) {
		space.mu.Lock()
		defer space.mu.Unlock()
		return min(n, space.kept[uintptr(p)])
	}
	return n
}
