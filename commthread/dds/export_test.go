package dds

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Missing returns the number of strips that have not landed.
func (t *Transfer) Missing() (n int) {
	for i := range t.strips {
		if !t.strips[i].is(landed) {
			n++
		}
	}
	return n
}

// Pretend is a receive without a message: tests land its strips.
type Pretend struct{ *Transfer }

// NewPretend makes a transfer into x whose ends have arrived, cut at bytes of x.
func NewPretend(a *Arena, x []byte, order Direction, cuts ...int) *Pretend {
	_, at := find(unsafe.Pointer(&x[0]), len(x))
	t := &Transfer{e: &Endpoint{}, arena: a, back: a.back, hints: hints{order: order}, user: engine.Buffer(mpi.Of(x)), mem: CommView(x)}
	t.head = header{size: len(x), edge: cuts[0]}
	for _, c := range cuts {
		t.cuts = append(t.cuts, uint64(at+c))
	}
	a.hold(1)
	t.back.begin(t)
	return &Pretend{t}
}

// Arm arms the strips that have not landed.
func (p *Pretend) Arm() bool { return p.back.arm(p.Transfer) }

// Land lands strip i.
func (p *Pretend) Land(i int) { p.back.land(p.Transfer, i) }

// LandAt makes C land strip i, whose bytes are in place, at a time.
func (p *Pretend) LandAt(i int, due int64) bool {
	m := p.memory(&p.strips[i])
	word, _ := mover{}.Move(unsafe.Pointer(&m[0]), nil, len(m), due)
	return word != nil
}

// MoveFrom offers the bytes of strip i, which are at src and due now, to the mover.
func (p *Pretend) MoveFrom(i int, src []byte) bool {
	m := p.memory(&p.strips[i])
	now := osthread.Nanotime()
	word, _ := mover{}.Move(unsafe.Pointer(&m[0]), unsafe.Pointer(&src[0]), len(m), now)
	return word != nil
}

// Abandon gives up the strips that have not landed.
func (p *Pretend) Abandon() { p.back.abandon(p.Transfer) }

// Follow retires p with the last strip of q.
func (p *Pretend) Follow(q *Pretend) bool { return p.back.follow(p.Transfer, q.Transfer) }

// End ends the transfer.
func (p *Pretend) End() error { return p.finish() }

// Stalled reports whether a reader waits, or waited, for strip i.
func (p *Pretend) Stalled(i int) bool { return p.strips[i].is(stalled) }

// ForbidMinor makes the probe fail as on a kernel without MINOR faults.
func ForbidMinor() Option {
	return func(o *options) error {
		o.forbid.minor = true
		return nil
	}
}

// ForbidWays disables ways to a descriptor.
func ForbidWays(full, device, user bool) Option {
	return func(o *options) error {
		o.forbid.ways = [3]bool{full, device, user}
		return nil
	}
}

// Bounds is cut.bounds.
func (c cut) Bounds(n, unit int) []int { return c.bounds(n, unit) }

// Under is under.
func Under[T any](e engine.Engine) (T, bool) { return under[T](e) }

// Open reports whether strip i has landed and none of its pages makes readers wait.
func (p *Pretend) Open(i int) bool { return p.strips[i].isOpen() }

// Cut is how a message is cut into strips.
type Cut = cut

// CutFor, First and Smallest are what plans are made of.
func (c Constants) CutFor(n int) Cut { return c.cutFor(n) }
func (c Constants) First() int       { return c.first() }
func (c Constants) Smallest() int    { return c.smallest() }
