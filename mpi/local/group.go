package local

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
)

// group is a communicator, shared by all its ranks.
type group struct {
	ctx     uint32
	members []int // world ranks; immutable
	joined  int   // guarded by registry.mu: members that have called join
	left    int   // guarded by registry.mu: members that have freed it

	degraded           atomic.Bool // revoked, mismatched, or without one of its members
	mu                 sync.Mutex
	mismatch           string                    // guarded by mu: the first collective calls that differ
	reason             string                    // guarded by mu: of the revocation
	revoked            bool                      // guarded by mu
	pendingCollectives map[int]*collectiveRecord // guarded by mu: not yet called by all
	freeRecords        []*collectiveRecord       // guarded by mu
}

// comm is one rank's view of a group. Owner only.
type comm struct {
	group  *group
	rank   int
	called int    // number of collectives so far
	opened uint32 // number of windows so far
	world  []int
}

// registry makes groups and windows: one for all ranks that ask for it.
type registry struct {
	mu      sync.Mutex
	next    uint32
	pending map[creation]*group
	windows map[creation]*window
	all     []*group
}

func (r *registry) init() { r.pending, r.windows = map[creation]*group{}, map[creation]*window{} }

// create returns a new group.
func (r *registry) create(members []int) *group {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(members)
}

func (r *registry) add(members []int) *group {
	g := &group{ctx: r.next, members: members}
	r.next++
	r.all = append(r.all, g)
	return g
}

// creation identifies a group or window that several ranks create together.
type creation struct {
	parent uint32
	seq    uint32
	first  int
}

// join returns the group of creation b. The first member that calls makes it.
func (r *registry) join(b creation, members []int) *group {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.pending[b]
	if g == nil {
		g = r.add(members)
		r.pending[b] = g
	}
	if g.joined++; g.joined == len(members) {
		delete(r.pending, b)
	}
	return g
}

// Group implements engine.Engine.
func (e *endpoint) Group(h engine.Handle) (rank int, world []int) {
	c := e.comms[h]
	return c.rank, c.world
}

// Create implements engine.Engine.
func (e *endpoint) Create(parent engine.Handle, members []int, seq uint32) (engine.Handle, error) {
	p := e.comms[parent]
	world, rank := make([]int, len(members)), -1
	for i, m := range members {
		if world[i] = p.world[m]; world[i] == e.rank {
			rank = i
		}
	}
	g := e.world.groups.join(creation{p.group.ctx, seq, world[0]}, world)
	if e.world.anyGone.Load() {
		g.degraded.Store(true)
	}
	return e.enter(g, rank), nil
}

// enter adds a communicator of this rank.
func (e *endpoint) enter(g *group, rank int) engine.Handle {
	e.comms = append(e.comms, &comm{group: g, rank: rank, world: g.members})
	return engine.Handle(len(e.comms) - 1)
}

// Free implements engine.Engine. The records of collectives stay: other ranks may still be in
// the barrier before it.
func (e *endpoint) Free(h engine.Handle) error {
	e.world.groups.leave(e.comms[h].group)
	return nil
}

// leave notes that one member does not use the group any more. The last one removes it.
func (r *registry) leave(g *group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.left++; g.left == len(g.members) {
		r.all = slices.DeleteFunc(r.all, func(o *group) bool { return o == g })
	}
}

// Revoke implements engine.Engine.
func (e *endpoint) Revoke(h engine.Handle, reason string) {
	g := e.comms[h].group
	g.mu.Lock()
	if g.revoked {
		g.mu.Unlock()
		return
	}
	g.revoked, g.reason = true, reason
	g.mu.Unlock()
	g.degraded.Store(true)
	e.world.requestScan(g.members)
}

// Revoked implements engine.Engine.
func (e *endpoint) Revoked(h engine.Handle) (reason string, yes bool) {
	g := e.comms[h].group
	if !g.degraded.Load() {
		return "", false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason, g.revoked
}
