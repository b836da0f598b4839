package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/pages"
)

// Observe records the next touch of each page of [p, p+n), read or write, without delaying
// any access: [Arena.Pages] returns the touches. It leaves out pages shared with other
// allocations. It reports false if nothing is observed: the arena is closed, the memory is
// outside it or smaller than a page, a transfer uses it, [TracePages] was not given, or
// this back end has no faults. It also refuses where faults of the kernel cannot be
// answered, because a system call on such a page would fail. It takes one system call, and
// one fault per page.
func (a *Arena) Observe(p unsafe.Pointer, n int) bool {
	o, can := a.back.(interface{ observe(from, to int) bool })
	at, inside := a.offset(p, n)
	if !can || !inside || n <= 0 || a.gone() {
		return false
	}
	size := pages.Size()
	from, to := (at+size-1)/size*size, (at+n)/size*size
	if s, ok := a.allocation(at); ok && at+n >= s.end { // the rest of the last page is unused
		to = s.to
	}
	return from < to && !a.back.busy(from, to) && o.observe(from, to)
}
