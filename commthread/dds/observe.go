package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/pages"
)

// Observe implements lazypages.Arena.
func (a view) Observe(p unsafe.Pointer, n int) bool {
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
