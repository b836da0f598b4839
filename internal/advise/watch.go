package advise

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// Watch reports the first touch of memory, by page protection. [PageWatch] is one, on systems
// that have the means.
type Watch interface {
	// Arm watches [p, p+n) until the first access, or the first write if writesOnly,
	// and calls touched once, from any goroutine or thread, or in Poll, with the place in
	// the source ("file:line", "" if not known) and the time (osthread.Nanotime). It
	// reports false if it cannot watch this memory. disarm ends it; after it has returned,
	// touched is not called. Bytes of the range that share a page with others may be left
	// out. The engine's own accesses do not count.
	Arm(p unsafe.Pointer, n int, writesOnly bool, touched func(place string, at int64)) (disarm func(), ok bool)
	// Poll calls the outstanding calls of touched. It does not wait.
	Poll()
	// View returns the buffer under the addresses that engines are given: an access there
	// is no touch. b itself if it is not watched.
	View(b engine.Buffer) engine.Buffer
}

// arm watches all of a buffer. A strided one is watched block by block if its blocks
// are pages apart; otherwise it cannot be told from its neighbours.
func arm(w Watch, b engine.Buffer, writesOnly bool, touched func(string, int64)) (disarm func(), ok bool) {
	if w == nil || b.Bytes() == 0 {
		return nil, false
	}
	if b.Contiguous() {
		return w.Arm(b.Pointer(), b.Bytes(), writesOnly, touched)
	}
	blocks, block, stride := b.Layout()
	if block*b.ElemSize() < pageSize() {
		return nil, false
	}
	var all []func()
	disarm = func() {
		for _, d := range all {
			d()
		}
	}
	for i := range blocks {
		p := unsafe.Add(b.Pointer(), i*stride*b.ElemSize())
		d, ok := w.Arm(p, block*b.ElemSize(), writesOnly, touched)
		if !ok {
			disarm()
			return nil, false
		}
		all = append(all, d)
	}
	return disarm, true
}
