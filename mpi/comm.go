package mpi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// Special ranks and tags.
const (
	AnySource = engine.AnySource // receive from any rank
	AnyTag    = engine.AnyTag    // receive any tag
	ProcNull  = engine.ProcNull  // no rank: messages to and from it, and accesses to its window, do nothing
	AllRanks  = engine.AllRanks  // Flush: every target
	Undefined = -1               // color of Split: this rank joins no communicator
)

// Comm is a communicator: an ordered group of ranks. Its messages match only each other.
// One goroutine of the rank at a time may call its methods; with a communication thread
// (package commthread), any goroutine. All ranks of the communicator must call its
// collective methods, in the same order.
type Comm engine.Comm

// inner returns the communicator as engines see it.
func (c *Comm) inner() *engine.Comm { return (*engine.Comm)(c) }

// engine returns the engine of this rank, with its tools.
func (c *Comm) engine() engine.Engine { return c.inner().Port().Engine() }

// Rank returns the number of this rank, from 0 to Size-1.
func (c *Comm) Rank() int { return c.inner().Rank() }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.inner().Size() }

// World returns the number of rank r in the world communicator.
func (c *Comm) World(r int) int { return c.inner().World(r) }

// Name returns the name of the communicator in errors and reports. It is the same on all
// ranks, unless SetName has changed it.
func (c *Comm) Name() string { return c.inner().Name() }

// SetName names the communicator on this rank.
func (c *Comm) SetName(name string) { c.inner().SetName(name) }

// Dup returns a new communicator of the same ranks. Collective.
func (c *Comm) Dup() (*Comm, error) {
	if err := c.inner().Usable("dup"); err != nil {
		return nil, err
	}
	seq := c.inner().NextSeq()
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
	n, err := c.inner().Create(members, seq, part)
	return (*Comm)(n), err
}

// Split returns a communicator of the ranks that pass the same color, ordered by key and
// then by rank; nil for color Undefined. Collective.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if err := c.inner().Usable("split"); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined {
		return nil, c.inner().Fail(ErrCount, "split", "color %d: a color is at least 0, or Undefined", color)
	}
	seq := c.inner().NextSeq()
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
	if err := c.inner().Usable("subset"); err != nil {
		return nil, err
	}
	seq := c.inner().NextSeq()
	sum := int64(hashList(ranks))
	ends := []int64{sum, -sum}
	if err := c.Allreduce(InPlace, Of(ends), Max); err != nil {
		return nil, err
	}
	if ends[0] != -ends[1] {
		return nil, c.inner().Fail(ErrCount, "subset", "the ranks give different lists, this one %v: all give the same", ranks)
	}
	for i, r := range ranks {
		if r < 0 || r >= c.Size() || slices.Contains(ranks[:i], r) {
			return nil, c.inner().Fail(ErrRank, "subset", "rank %d in the list %v: each is from 0 to %d, and named once", r, ranks, c.Size()-1)
		}
	}
	if !slices.Contains(ranks, c.Rank()) {
		return nil, nil
	}
	return c.create(slices.Clone(ranks), seq, 0)
}

// hashList returns a hash of a list of ranks.
func hashList(ranks []int) uint32 {
	h := uint32(len(ranks))
	for _, r := range ranks {
		h = engine.Hash(h, uint32(r))
	}
	return h
}

// SplitShared returns the communicator of the ranks on the same machine, in rank order.
// Collective.
func (c *Comm) SplitShared() (*Comm, error) {
	const longest = 256
	host := c.engine().Host()
	mine := make([]byte, longest)
	copy(mine, host)
	all := make([]byte, longest*c.Size())
	if err := c.Allgather(Of(mine), Of(all)); err != nil {
		return nil, err
	}
	color := c.Rank()
	for r := range c.Size() {
		if slices.Equal(all[r*longest:(r+1)*longest], mine) {
			color = r
			break
		}
	}
	return c.Split(color, c.Rank())
}

// Free frees the communicator. Every later use of it is [ErrState]. It fails on all ranks,
// and changes nothing, while an operation of any rank is under way on the communicator
// ([ErrPending]) or a window on it is open ([ErrState]). The world communicator cannot be
// freed. Collective.
func (c *Comm) Free() error {
	if err := c.inner().Usable("free"); err != nil {
		return err
	}
	if c.inner().Handle() == 0 {
		return c.inner().Fail(ErrState, "free", "the world communicator stays until the end")
	}
	under := c.inner().UnderWay()
	if err := c.Allreduce(InPlace, One(&under), Max); err != nil {
		return err
	}
	switch {
	case c.inner().Windows() > 0:
		return c.inner().Fail(ErrState, "free", "a window on it is open: Free of the window comes first")
	case under > 0:
		return c.inner().Fail(ErrPending, "free", "a rank has %d operations under way on it: wait for their requests first", under)
	}
	first, err := c.inner().Free()
	if !first {
		return c.inner().Usable("free")
	}
	return err
}

// Freed reports whether this rank has freed the communicator. Any goroutine.
func (c *Comm) Freed() bool { return c.inner().Freed() }

// Revoke makes every operation on the communicator, pending or later, fail on all its ranks
// with [ErrRevoked] and reason. It is for a rank that cannot go on. It does not wait for the
// other ranks. They can agree on the next step on another communicator. Revoke does nothing
// if this rank has freed the communicator.
func (c *Comm) Revoke(reason error) {
	if c.Freed() {
		return
	}
	c.engine().Revoke(c.inner().Handle(), fmt.Sprintf("by rank %d: %v", c.Rank(), reason))
}

// Revoked returns [ErrRevoked] with the reason if this rank knows of a revocation of the
// communicator, [ErrState] if it has freed the communicator, else nil.
func (c *Comm) Revoked() error {
	if err := c.inner().Usable("any operation"); err != nil {
		return err
	}
	if reason, yes := c.engine().Revoked(c.inner().Handle()); yes {
		return c.inner().Fail(ErrRevoked, "any operation", "%s", reason)
	}
	return nil
}

// Abort ends the program on all ranks with this exit code, after printing reason.
func (c *Comm) Abort(code int, reason string) { c.engine().Abort(code, reason) }

// Wtime returns wall-clock seconds since a time in the past, which is the same for all ranks
// inside one process (MPI_Wtime).
func Wtime() float64 { return float64(osthread.Nanotime()) / 1e9 }
