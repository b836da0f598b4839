package local

import (
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Wire moves the bytes of rendezvous messages over a shaped network. The default
// copies at once, on the goroutine that injects them; what is received is not looked
// at before its due time.
type Wire interface {
	// Move copies c.Bytes bytes from place c.At of c.Src to the same place of c.Dst (both
	// packed, see [mpi.CopyPart]), now or later, but soon after c.Due at the latest, and
	// calls c.SetDone. It does not block. Any goroutine inside an engine calls it.
	Move(c *Copy)
}

// Copy describes bytes on their way. It belongs to the wire until SetDone.
type Copy struct {
	Dst, Src  mpi.Buffer
	At, Bytes int
	Due       int64 // osthread.Nanotime at which the receiver may see the bytes
	done      atomic.Bool
	word      *uint32 // of a mover: see Mover
	was       uint32
}

// SetDone says that the bytes are in place. Any goroutine, once.
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

// move moves the bytes [at, at+n) of x. The caller holds x.mu.
func (w *World) move(x *transfer, at, n int, due int64) {
	if w.carried(x, at, n, due) {
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
func (x *transfer) landed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.copies {
		if !c.Done() {
			return false
		}
	}
	return true
}

// settle waits until the wire has moved what it was given, which it does by its due
// times, so that the buffers can be used again.
func (x *transfer) settle() {
	for !x.landed() {
		osthread.Relax()
	}
}
