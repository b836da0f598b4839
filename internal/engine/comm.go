package engine

import (
	"fmt"
	"sync/atomic"
)

// Special ranks and tags. Package mpi documents them.
const (
	AnySource = -1
	AnyTag    = -1
	ProcNull  = -2
	AllRanks  = -3
	NoPeer    = -4
)

// Notifications is the number of notification counters of each rank in a window.
const Notifications = 64

// Comm is a communicator as engines and tools see it. mpi.Comm is the same with the methods
// for programs: one pointer converts to the other.
type Comm struct {
	port   *Port
	h      Handle
	name   string
	rank   int
	world  []int
	seq    atomic.Uint32 // number of communicators made from this one
	id     uint32
	limits Limits

	freed   atomic.Bool
	windows atomic.Int32 // number of open windows
}

func newComm(p *Port, h Handle, name string) *Comm {
	e := p.Engine()
	rank, world := e.Group(h)
	return &Comm{port: p, h: h, name: name, rank: rank, world: world, limits: e.Limits()}
}

// Rank returns the number of this rank, from 0 to Size-1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return len(c.world) }

// World returns the number of rank r in the world communicator.
func (c *Comm) World(r int) int { return c.world[r] }

// Name returns the name of the communicator in errors and reports.
func (c *Comm) Name() string { return c.name }

// SetName names the communicator on this rank.
func (c *Comm) SetName(name string) { c.name = name }

// Handle returns the engine's number for the communicator.
func (c *Comm) Handle() Handle { return c.h }

// ID returns a number that is the same on all ranks of the communicator, and different for
// two communicators that share a rank.
func (c *Comm) ID() uint32 { return c.id }

// Port returns the port of the rank.
func (c *Comm) Port() *Port { return c.port }

// NextSeq returns the number of the next communicator made from c.
func (c *Comm) NextSeq() uint32 { return c.seq.Add(1) }

// Create makes a communicator of the given members of c. A part above 0 becomes part of its
// name. All members call it with the same seq, after a synchronization.
func (c *Comm) Create(members []int, seq uint32, part int) (*Comm, error) {
	h, err := c.port.Engine().Create(c.h, members, seq)
	if err != nil {
		return nil, fmt.Errorf("mpi: new communicator from %s: %w", c.name, err)
	}
	n := newComm(c.port, h, fmt.Sprintf("%s.%d", c.name, seq))
	if part > 0 {
		n.name += fmt.Sprintf("/%d", part)
	}
	n.id = Hash(c.id, seq, uint32(c.world[members[0]]))
	return n, nil
}

// Hash returns the FNV-1a hash of numbers, at least 1.
func Hash(xs ...uint32) uint32 {
	h := uint32(2166136261)
	for _, x := range xs {
		for range 4 {
			h = (h ^ x&0xff) * 16777619
			x >>= 8
		}
	}
	return max(h, 1)
}

// UnderWay returns the number of operations of this rank under way on the communicator.
func (c *Comm) UnderWay() (n int) {
	c.port.Engine().Outstanding(func(k *Call) {
		if k.Comm == c {
			n++
		}
	})
	return n
}

// Windows returns the number of open windows on the communicator.
func (c *Comm) Windows() int { return int(c.windows.Load()) }

// Free frees the communicator; it reports false if this rank has freed it before.
func (c *Comm) Free() (bool, error) {
	if !c.freed.CompareAndSwap(false, true) {
		return false, nil
	}
	return true, c.port.Engine().Free(c.h)
}

// Freed reports whether this rank has freed the communicator. Any goroutine.
func (c *Comm) Freed() bool { return c.freed.Load() }

const whenFreed = "this rank has freed the communicator: Free comes after its last use"

// Usable returns an error if the communicator has been freed.
func (c *Comm) Usable(kind string) error {
	if c.freed.Load() {
		return c.Fail(ErrState, kind, whenFreed)
	}
	return nil
}

// Fail returns the error of an operation without a [Call].
func (c *Comm) Fail(class error, kind, format string, args ...any) error {
	return NewError(Fault{Class: class, Kind: kind, Comm: c.name, Rank: c.rank, Peer: NoPeer, Tag: AnyTag, Text: fmt.Sprintf(format, args...)})
}

// Do makes a call and waits for it.
func (c *Comm) Do(k *Call) (Status, error) {
	if c.Prepare(k) {
		c.port.Engine().Do(k)
	}
	return k.Status, k.Err
}

// Prepare checks a call of c that a tool has filled in, and reports whether to post it.
// Otherwise it has completed, with an error or without effect (ProcNull).
func (c *Comm) Prepare(k *Call) bool {
	if k.Comm != c { // not written again: a report may read it
		k.Comm = c
	}
	if err := c.check(k); err != nil {
		k.Complete(Status{}, err)
		return false
	}
	if k.toNobody() {
		k.Found = true
		if k.Kind == CallMprobe || k.Kind == CallImprobe {
			k.Message = NoMessage
		}
		k.Complete(NullStatus, nil)
		return false
	}
	return true
}

// toNobody reports whether the peer of a call is ProcNull.
func (k *Call) toNobody() bool {
	switch {
	case k.Kind == CallMrecv:
		return k.Message == NoMessage
	case k.Kind.PointToPoint():
		return k.Peer == ProcNull
	}
	return k.Kind.OneSided() && k.Kind.HasPeer() && k.Peer == ProcNull
}

// check returns an error for wrong arguments of a call.
func (c *Comm) check(k *Call) error {
	if c.freed.Load() {
		return k.Fail(ErrState, 0, 0, whenFreed)
	}
	if err := k.Send.Err(); err != nil {
		return k.Fail(ErrBuffer, 0, 0, "%v", err)
	}
	if err := k.Recv.Err(); err != nil {
		return k.Fail(ErrBuffer, 0, 0, "%v", err)
	}
	switch {
	case k.Kind.PointToPoint():
		return c.checkPointToPoint(k)
	case k.Kind.OneSided():
		return c.checkOneSided(k)
	}
	return c.checkCollective(k)
}

func (c *Comm) checkPointToPoint(k *Call) error {
	if k.Kind == CallMrecv {
		if k.Message == nil {
			return k.Fail(ErrState, 0, 0, "no message, or one that has been received already")
		}
		return nil
	}
	wild := !k.Kind.Sends()
	if k.Peer != ProcNull && !(wild && k.Peer == AnySource) && (k.Peer < 0 || k.Peer >= c.Size()) {
		return k.Fail(ErrRank, c.Size(), k.Peer, "the communicator has ranks 0 to %d", c.Size()-1)
	}
	if !(wild && k.Tag == AnyTag) && (k.Tag < 0 || k.Tag > c.limits.MaxTag) {
		return k.Fail(ErrTag, c.limits.MaxTag, k.Tag, "tags go from 0 to %d", c.limits.MaxTag)
	}
	if k.Send.IsInPlace() || k.Recv.IsInPlace() {
		return k.Fail(ErrBuffer, 0, 0, "InPlace is for collective operations")
	}
	return nil
}
