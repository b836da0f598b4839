package advise

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// arenaBytes is the size of the arena: of all memory of mpi.Alloc that can be watched.
const arenaBytes = 64 << 20

// PageWatch is a [Watch] of memory of mpi.Alloc: it puts that memory into an arena of package
// dds, whose pages fault at their first touch. One serves all ranks of a process. Send
// buffers, and messages of less than a page, are not watched. Without userfaultfd nothing is
// watched ([PageWatch.State] says why).
//
// Locks: mu guards the fields below it; the arena's are taken inside.
type PageWatch struct {
	users atomic.Int32
	mu    sync.Mutex
	arena *dds.Arena // made at the first Alloc
	first unsafe.Pointer
	why   string // not
	armed []*armedPages
	undo  func()
}

// armedPages are pages whose first touch is to be reported.
type armedPages struct {
	from, to int // pages of the arena
	touched  func(place string, at int64)
}

// NewPageWatch returns a watch that no rank uses yet.
func NewPageWatch() *PageWatch { return &PageWatch{} }

// begin directs mpi.Alloc to the arena, for one more rank.
func (w *PageWatch) begin() {
	if w.users.Add(1) == 1 {
		undo := engine.AllocFrom(w.alloc)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.undo = undo
	}
}

// stop is the opposite of begin. The arena stays, because its memory may be in use.
func (w *PageWatch) stop() {
	if w.users.Add(-1) == 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.undo()
	}
}

// State describes the watched memory as text.
func (w *PageWatch) State() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.why != "":
		return "first touches are not seen: " + w.why
	case w.arena == nil:
		return "first touches are not seen: the program has no buffers of mpi.Alloc"
	}
	return "first touches of mpi.Alloc buffers are seen"
}

// alloc is a mpi.Source.
func (w *PageWatch) alloc(bytes int) ([]byte, func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why != "" || bytes < pages.Size() {
		return nil, nil
	}
	if w.arena == nil {
		w.why = w.open()
	}
	if w.why != "" {
		return nil, nil
	}
	b, err := dds.Make[byte](w.arena, bytes)
	if err != nil { // it is full: such memory is not watched
		return nil, nil
	}
	return b, func() error { return dds.Free(w.arena, b) }
}

// open makes the arena, and tries to observe its pages; it returns the reason if it cannot.
func (w *PageWatch) open() string {
	a, err := dds.NewArena(arenaBytes, lazypages.Trace().(dds.Option))
	if err != nil {
		return err.Error()
	}
	b, err := dds.Make[byte](a, pages.Size())
	if err != nil {
		return err.Error()
	}
	name, reason := a.Backend()
	if lazypages.Of(a).Observe(unsafe.Pointer(unsafe.SliceData(b)), len(b)) {
		b[0] = 1 // a touch
		if seen := lazypages.Of(a).Pages(); len(seen) == 1 {
			w.arena, w.first = a, unsafe.Pointer(unsafe.SliceData(b)) // the first page of the arena
			return ""
		}
		reason = "a touch was not noted"
	}
	_ = a.Close()
	return fmt.Sprintf("memory of back end %s: %s", name, reason)
}

// Arm implements [Watch].
func (w *PageWatch) Arm(p unsafe.Pointer, n int, writesOnly bool, touched func(place string, at int64)) (disarm func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.arena == nil || writesOnly {
		return nil, false
	}
	w.poll() // earlier touches do not count
	if !lazypages.Of(w.arena).Observe(p, n) {
		return nil, false
	}
	at, size := int(uintptr(p)-uintptr(w.first)), pages.Size()
	x := &armedPages{from: at / size, to: (at + n + size - 1) / size, touched: touched}
	w.armed = append(w.armed, x)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.armed = slices.DeleteFunc(w.armed, func(y *armedPages) bool { return y == x })
	}, true
}

// Poll implements [Watch].
func (w *PageWatch) Poll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.poll()
}

// poll reports touches; mu is held.
func (w *PageWatch) poll() {
	if len(w.armed) == 0 || w.arena == nil {
		return
	}
	for _, access := range lazypages.Of(w.arena).Pages() {
		for _, x := range w.armed {
			if x.touched != nil && x.from <= access.Page && access.Page < x.to {
				x.touched("", access.At)
				x.touched = nil // once
			}
		}
	}
}

// View implements [Watch].
func (w *PageWatch) View(b engine.Buffer) engine.Buffer {
	return engine.Buffer(dds.CommBuffer(mpi.Buffer(b)))
}
