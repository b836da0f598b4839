package local

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// Wire moves the bytes of rendezvous messages over a shaped network. The default copies
// them at once, on the sender's or receiver's goroutine; the receive completes at the due
// time.
type Wire interface {
	// Move copies c.Bytes bytes from offset c.At of c.Src to the same offset of c.Dst (of
	// the packed elements, see [engine.CopyPart]), and then calls c.SetDone. It may return
	// before that, but the copy is in place soon after c.Due. It does not block. Any
	// goroutine inside an engine calls it.
	Move(c *Copy)
}

// Copy describes bytes in flight. It belongs to the wire until SetDone.
type Copy struct {
	Dst, Src  engine.Buffer
	At, Bytes int
	Due       int64 // osthread.Nanotime at which the receiver may see the bytes
	done      atomic.Bool
	word      *uint32 // for a mover: the bytes are in place when *word differs from was
	was       uint32
}

// SetDone reports to the engine that the bytes are in place. Any goroutine, once.
func (c *Copy) SetDone() { c.done.Store(true) }

// Done reports whether SetDone has been called.
func (c *Copy) Done() bool { return c.done.Load() || c.moved() }

// OnWire lets w move the bytes of rendezvous messages over a shaped network.
func OnWire(w Wire) Option {
	return func(world *World) error {
		world.wire = w
		return nil
	}
}

// move moves the bytes [at, at+n) of x: by the mover, the wire, or a copy. The caller holds
// x.mu.
func (w *World) move(x *transfer, at, n int, due int64) {
	if w.offerToMover(x, at, n, due) {
		return
	}
	if w.wire == nil {
		move(x.dst, x.src, at, n)
		return
	}
	c := &Copy{Dst: x.dst, Src: x.src, At: at, Bytes: n, Due: due}
	x.copies = append(x.copies, c)
	w.wire.Move(c)
}

// landed reports whether all bytes given to the wire are in place.
func (x *transfer) inPlace() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.copies {
		if !c.Done() {
			return false
		}
	}
	return true
}

// waitInPlace waits until the wire has moved all bytes given to it, so that the program can
// use the buffers again. That is soon after their due times.
func (x *transfer) waitInPlace() {
	for !x.inPlace() {
		osthread.Relax()
		osthread.Yield()
	}
}
