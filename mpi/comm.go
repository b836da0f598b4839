package mpi

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
)

// Special ranks and tags.
const (
	AnySource = -1 // receive from any rank
	AnyTag    = -1 // receive any tag
	ProcNull  = -2 // no rank: messages to and from it, and accesses to its window, do nothing
	AllRanks  = -3 // Flush: every target
	Undefined = -1 // color of Split: this rank joins no communicator
)

// Comm is a communicator: an ordered group of ranks. Its messages match only each other.
// One goroutine of the rank at a time may call its methods; with a communication thread
// (package commthread), any goroutine. All ranks of the communicator must call its
// collective methods, in the same order.
type Comm struct {
	port   *port
	h      engine.Handle
	name   string
	rank   int
	world  []int
	seq    atomic.Uint32 // number of communicators made from this one
	id     uint32
	limits engine.Limits

	freed   atomic.Bool
	windows atomic.Int32 // number of open windows
}

func newComm(p *port, h engine.Handle, name string) *Comm {
	e := p.get()
	rank, world := e.Group(h)
	return &Comm{port: p, h: h, name: name, rank: rank, world: world, limits: e.Limits()}
}

// Rank returns the number of this rank, from 0 to Size-1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return len(c.world) }

// World returns the number of rank r in the world communicator.
func (c *Comm) World(r int) int { return c.world[r] }

// Name returns the name of the communicator in errors and reports. It is the same on all
// ranks, unless SetName has changed it.
func (c *Comm) Name() string { return c.name }

// SetName names the communicator on this rank.
func (c *Comm) SetName(name string) { c.name = name }

// Handle returns the engine's number for the communicator.
func (c *Comm) Handle() engine.Handle { return c.h }

// ID returns a number that is the same on all ranks of the communicator, and different for
// two communicators that share a rank.
func (c *Comm) ID() uint32 { return c.id }

// Dup returns a new communicator of the same ranks. Collective.
func (c *Comm) Dup() (*Comm, error) {
	if err := c.usable("dup"); err != nil {
		return nil, err
	}
	seq := c.seq.Add(1)
	if err := c.Barrier(); err != nil {
		return nil, err
	}
	members := make([]int, c.Size())
	for i := range members {
		members[i] = i
	}
	return c.create(members, seq, 0)
}

// create makes a communicator of the given members of c.
func (c *Comm) create(members []int, seq uint32, part int) (*Comm, error) {
	h, err := c.port.get().Create(c.h, members, seq)
	if err != nil {
		return nil, fmt.Errorf("mpi: new communicator from %s: %w", c.name, err)
	}
	n := newComm(c.port, h, fmt.Sprintf("%s.%d", c.name, seq))
	if part > 0 {
		n.name += fmt.Sprintf("/%d", part)
	}
	n.id = hashID(c.id, seq, uint32(c.world[members[0]]))
	return n, nil
}

// hashID returns the FNV-1a hash of numbers, at least 1.
func hashID(xs ...uint32) uint32 {
	h := uint32(2166136261)
	for _, x := range xs {
		for range 4 {
			h = (h ^ x&0xff) * 16777619
			x >>= 8
		}
	}
	return max(h, 1)
}

// Split returns a communicator of the ranks that pass the same color, ordered by key and
// then by rank; nil for color Undefined. Collective.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if err := c.usable("split"); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined {
		return nil, c.fail(ErrCount, "split", "color %d: a color is at least 0, or Undefined", color)
	}
	seq := c.seq.Add(1)
	all := make([][2]int64, c.Size())
	mine := [][2]int64{{int64(color), int64(key)}}
	if err := c.Allgather(Of(mine), Of(all)); err != nil {
		return nil, err
	}
	if color == Undefined {
		return nil, nil
	}
	var members []int
	for r, x := range all {
		if x[0] == int64(color) {
			members = append(members, r)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[a][1], all[b][1]) })
	return c.create(members, seq, color+1)
}

// Subset returns a communicator of the given ranks of c, in this order; nil on other ranks.
// All ranks of c pass the same list. Errors: [ErrRank] for a rank out of range or listed
// twice, [ErrCount] if the lists differ. Collective.
func (c *Comm) Subset(ranks []int) (*Comm, error) {
	if err := c.usable("subset"); err != nil {
		return nil, err
	}
	seq := c.seq.Add(1)
	sum := int64(hashList(ranks))
	ends := []int64{sum, -sum}
	if err := c.Allreduce(InPlace, Of(ends), Max); err != nil {
		return nil, err
	}
	if ends[0] != -ends[1] {
		return nil, c.fail(ErrCount, "subset", "the ranks give different lists, this one %v: all give the same", ranks)
	}
	for i, r := range ranks {
		if r < 0 || r >= c.Size() || slices.Contains(ranks[:i], r) {
			return nil, c.fail(ErrRank, "subset", "rank %d in the list %v: each is from 0 to %d, and named once", r, ranks, c.Size()-1)
		}
	}
	if !slices.Contains(ranks, c.rank) {
		return nil, nil
	}
	return c.create(slices.Clone(ranks), seq, 0)
}

// hashList returns a hash of a list of ranks.
func hashList(ranks []int) uint32 {
	h := uint32(len(ranks))
	for _, r := range ranks {
		h = hashID(h, uint32(r))
	}
	return h
}

// SplitShared returns the communicator of the ranks on the same machine, in rank order.
// Collective.
func (c *Comm) SplitShared() (*Comm, error) {
	const longest = 256
	host := c.port.get().Host()
	mine := make([]byte, longest)
	copy(mine, host)
	all := make([]byte, longest*c.Size())
	if err := c.Allgather(Of(mine), Of(all)); err != nil {
		return nil, err
	}
	color := c.rank
	for r := range c.Size() {
		if slices.Equal(all[r*longest:(r+1)*longest], mine) {
			color = r
			break
		}
	}
	return c.Split(color, c.rank)
}

// Free frees the communicator. Every later use of it is [ErrState]. It fails on all ranks,
// and changes nothing, while an operation of any rank is under way on the communicator
// ([ErrPending]) or a window on it is open ([ErrState]). The world communicator cannot be
// freed. Collective.
func (c *Comm) Free() error {
	if err := c.usable("free"); err != nil {
		return err
	}
	if c.h == 0 {
		return c.fail(ErrState, "free", "the world communicator stays until the end")
	}
	under := 0
	c.port.get().Outstanding(func(k *Call) {
		if k.Comm == c {
			under++
		}
	})
	if err := c.Allreduce(InPlace, One(&under), Max); err != nil {
		return err
	}
	switch {
	case c.windows.Load() > 0:
		return c.fail(ErrState, "free", "a window on it is open: Free of the window comes first")
	case under > 0:
		return c.fail(ErrPending, "free", "a rank has %d operations under way on it: wait for their requests first", under)
	}
	if !c.freed.CompareAndSwap(false, true) {
		return c.usable("free")
	}
	return c.port.get().Free(c.h)
}

// Freed reports whether this rank has freed the communicator. Any goroutine.
func (c *Comm) Freed() bool { return c.freed.Load() }

const whenFreed = "this rank has freed the communicator: Free comes after its last use"

// usable returns an error if the communicator has been freed.
func (c *Comm) usable(kind string) error {
	if c.freed.Load() {
		return c.fail(ErrState, kind, whenFreed)
	}
	return nil
}

// fail returns an [Error] for an operation without a [Call].
func (c *Comm) fail(class error, kind, format string, args ...any) error {
	return &Error{Class: class, Kind: kind, Comm: c.name, Rank: c.rank, Peer: NoPeer, Tag: AnyTag, Text: fmt.Sprintf(format, args...)}
}

// Revoke makes every operation on the communicator, pending or later, fail on all its ranks
// with [ErrRevoked] and reason. It is for a rank that cannot go on. It does not wait for the
// other ranks. They can agree on the next step on another communicator. Revoke does nothing
// if this rank has freed the communicator.
func (c *Comm) Revoke(reason error) {
	if c.freed.Load() {
		return
	}
	c.port.get().Revoke(c.h, fmt.Sprintf("by rank %d: %v", c.rank, reason))
}

// Revoked returns [ErrRevoked] with the reason if this rank knows of a revocation of the
// communicator, [ErrState] if it has freed the communicator, else nil.
func (c *Comm) Revoked() error {
	if err := c.usable("any operation"); err != nil {
		return err
	}
	if reason, yes := c.port.get().Revoked(c.h); yes {
		return c.fail(ErrRevoked, "any operation", "%s", reason)
	}
	return nil
}

// Abort ends the program on all ranks with this exit code, after printing reason.
func (c *Comm) Abort(code int, reason string) { c.port.get().Abort(code, reason) }

var start = time.Now()

// Wtime returns wall-clock seconds since a time in the past, which is the same for all ranks
// inside one process (MPI_Wtime).
func Wtime() float64 { return time.Since(start).Seconds() }
