package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/pages"
)

// Observe has the next touch of each page of [p, p+n) noted, without keeping anybody from
// its bytes: [Arena.Pages] tells the touches of the app view, by reads and writes. Pages
// that other allocations share are left out. It reports false if nothing is observed: the
// arena is closed, the memory is not of it or less than a page, a transfer uses it,
// [TracePages] was not given, or readers do not fault here. It is also refused where faults of
// the kernel cannot be answered: a system call on such a page would fail. Not for memory of a transfer under way.
// It takes one system call, and each page a fault at its next touch.
func (a *Arena) Observe(p unsafe.Pointer, n int) bool {
	o, can := a.back.(interface{ observe(from, to int) bool })
	at, inside := a.offset(p, n)
	if !can || !inside || n <= 0 || a.gone() {
		return false
	}
	size := pages.Size()
	from, to := (at+size-1)/size*size, (at+n)/size*size
	if s, ok := a.allocation(at); ok && at+n >= s.end { // the rest of the last page is nobody's
		to = s.to
	}
	return from < to && !a.back.busy(from, to) && o.observe(from, to)
}
