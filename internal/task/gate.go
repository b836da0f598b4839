package task

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Gate stands in the parent's domain for a weak access.
type Gate struct {
	Record
	opener deps.Node // released when the gate opens; the children wait for it
	region deps.Region
	mode   deps.Mode              // as declared
	as     deps.Mode              // as registered
	same   *Gate                  // another gate of its task at the same entry
	failed bool                   // its task has failed; owned by the task until it drops its reference
	waiter atomic.Pointer[Record] // its task, if that must not start before the gate opens
}

// opened replaces the waiter of a gate that has opened.
var opened Record

var gateDecl = &Decl{
	ID:    NextDeclID(),
	Name:  "weft.gate",
	Run:   func(r *Record) error { gateOf(r).open(false); return nil },
	Skip:  func(r *Record) { gateOf(r).open(true) },
	Clear: func(*Record) {},
	New:   SlabOf[Gate],
}

func gateOf(r *Record) *Gate { return (*Gate)(unsafe.Pointer(r)) }

func (g *Gate) open(failed bool) {
	g.Exec.Schedule(g.opener.Release(failed))
	if r := g.waiter.Swap(&opened); r != nil {
		r.SetNext(nil)
		g.Exec.Schedule(&r.Node)
	}
}

// AwaitGates reports whether r, which the caller owns, has a gate that has not opened; r
// then belongs to that gate, which schedules it again.
//
// A worker that waits inside a body asks this before it starts r on top of that body. A
// predecessor of r's gates could be, or need, a body further down on the same stack, which
// cannot go on before r has ended. A task whose gates are open waits only for its own
// children, which have all started later than the bodies below them.
func (r *Record) AwaitGates() bool {
	c := r.PeekCold()
	if c == nil {
		return false
	}
	for ; c.open < len(c.Gates); c.open++ {
		if c.Gates[c.open].waiter.CompareAndSwap(nil, r) {
			return true
		}
	}
	return false
}

// GatesOpen reports whether no task outside r may still write to the weak regions of r.
// Only the runner of r calls it.
func (r *Record) GatesOpen() bool {
	if c := r.PeekCold(); c != nil {
		for _, g := range c.Gates {
			if g.waiter.Load() != &opened {
				return false
			}
		}
	}
	return true
}

// Doomed reports whether r is a gate whose task has failed: then the successors of the gate
// must not run. Called when r has no references left.
func (r *Record) Doomed() bool { return r.Decl == gateDecl && gateOf(r).failed }

// weak gives r a gate for region. The gates of weak commutative accesses and reductions
// keep the order of submission (they are Inout): if a gate held a lock while its task waits
// for another gate, they could deadlock.
func (d *Domain) weak(r *Record, region deps.Region, m deps.Mode, param int) (e *deps.Entry) {
	mode := m
	if mode == deps.Reduction || mode == deps.Commutative {
		mode = deps.Inout
	}
	if r.Flags&Gated == 0 {
		r.Flags |= Gated
		r.Accesses(r.claim)
	}
	if d.findClaims(r, region); d.reduces() {
		r.refuse(param, region, deps.ErrReductionMix)
		return nil
	}
	d.nested(func() {
		g := gateOf(d.begin(gateDecl))
		g.region, g.mode, g.failed = region, m, false
		g.waiter.Store(nil)
		g.Flags |= Internal
		g.Prio = r.Prio
		g.Extend()
		g.Ref()                // held by r; the body's reference is dropped when the gate has opened
		g.opener = deps.Node{} // its lists may have come from the children's tracker
		d.Tracker.Begin(&g.opener, g.Seq())
		g.as = d.beside(&g.Record, r, mode)
		e = d.access(&g.Record, region, g.as)
		c, claim := r.Cold(), claimOf(e, r)
		c.Gates = append(c.Gates, g)
		g.same, claim.Gates = gatesOf(claim), g
		d.Commit(&g.Record)
	})
	r.addAccess(Access{Entry: e, Mode: m, Weak: true, Param: int8(param)})
	return e
}

// findClaims lists the entries around region that r, which is being registered, has claimed.
func (d *Domain) findClaims(r *Record, region deps.Region) {
	d.claimed = d.claimed[:0]
	d.Tracker.Around(region, func(e *deps.Entry) {
		if d.looks++; e.Claim.Task == r.Seq() {
			d.claimed = append(d.claimed, e)
		}
	})
}

// reduces reports whether a reduction of the task itself is among the entries found. A gate
// there would have its copies combined, and that would wait for a task that is not committed.
func (d *Domain) reduces() bool {
	return slices.ContainsFunc(d.claimed, func(e *deps.Entry) bool { return e.Claim.Modes&(1<<deps.Reduction) != 0 })
}

// beside prepares n, which is r or a gate of r, for an access in mode m that may conflict
// with other accesses of the same task, those at the entries found by findClaims, and returns
// the mode to use. Make n wait for the opener of a gate of r, never for the gate: the gate
// ends only after r, so waiting for it would deadlock. A gate need not wait for r at all: it
// ends after r, which waits for its own accesses. In these cases the mode is exclusive,
// because otherwise n could wait for a join node of a group with r or a gate in it.
func (d *Domain) beside(n, r *Record, m deps.Mode) deps.Mode {
	mode := m
	for _, e := range d.claimed {
		for g := gatesOf(&e.Claim); g != nil; g = g.same {
			if !alike(g.as, m) {
				mode = deps.Inout
			}
		}
		if n != r && e.Claim.Modes&^sharing(m) != 0 {
			mode = deps.Inout
		}
	}
	if n != r {
		d.Tracker.Apart(&n.Node, &r.Node)
	}
	for _, e := range d.claimed {
		for g := gatesOf(&e.Claim); g != nil; g = g.same {
			if !alike(g.as, mode) {
				d.Tracker.Apart(&n.Node, &g.Node)
				d.edges += d.Tracker.Follow(&n.Node, &g.opener)
			}
		}
	}
	return mode
}

// claimOf returns the claim of r, which is being registered, at e.
func claimOf(e *deps.Entry, r *Record) *deps.Claim {
	if e.Claim.Task != r.Seq() {
		e.Claim = deps.Claim{Task: r.Seq()}
	}
	return &e.Claim
}

// claim adds an access of r itself to the claim at its entry: later accesses of r must not
// wait for it. Only for tasks with gates.
func (r *Record) claim(a Access) {
	if !a.Weak {
		claimOf(a.Entry, r).Modes |= 1 << a.Mode
	}
}

// gatesOf returns the latest gate of a claim; same leads to the others.
func gatesOf(c *deps.Claim) *Gate {
	g, _ := c.Gates.(*Gate)
	return g
}

// followGates makes r wait until its gates have opened. A task with commutative locks must:
// a lock held while its children wait could block the tasks that they wait for.
func (d *Domain) followGates(r *Record) {
	for _, g := range r.Cold().Gates {
		d.edges += d.Tracker.Follow(&r.Node, &g.opener)
	}
}

// sharing returns the modes, as bits, that do not conflict with m in one region.
func sharing(m deps.Mode) uint16 {
	if m == deps.In || m == deps.Concurrent {
		return 1 << m
	}
	return 0
}

// alike reports whether accesses in modes a and b to one region do not conflict.
func alike(a, b deps.Mode) bool { return sharing(a)>>b&1 != 0 }

// followGate makes r wait until the gate of its parent's access a, if it has one, has
// opened.
func (d *Domain) followGate(r *Record, a *given) {
	if a.gate != nil {
		d.edges += d.Tracker.Follow(&r.Node, &a.gate.opener)
	}
}

// access registers an access of an internal record.
func (d *Domain) access(r *Record, region deps.Region, m deps.Mode) *deps.Entry {
	edges, e, err := d.Tracker.Access(&r.Node, region, m, nil)
	if err != nil {
		r.Fail(err)
		return e
	}
	d.edges += edges
	r.addAccess(Access{Entry: e, Mode: m})
	if d.Parent != nil && d.Parent.Flags&Gated != 0 {
		d.parents().around(region, func(a *given) { d.followGate(r, a) })
	}
	return e
}

// nested runs f, which submits an internal record while another record may be half
// registered.
func (d *Domain) nested(f func()) {
	saved := d.edges
	f()
	d.edges = saved
}

// Ungate drops r's reference to its gates, which fail with r, and calls complete for the
// gates that thereby have ended. Called when r has ended.
func (r *Record) Ungate(failed bool, complete func(*Record)) {
	c := r.PeekCold()
	if c == nil {
		return
	}
	for _, g := range c.Gates {
		g.failed = failed
		if g.Unref() {
			complete(&g.Record)
		}
	}
}

// Part is the private copy of one task of a reduction.
type Part interface {
	Merge()   // combines the copy into the shared region
	Discard() // frees the copy
}

// Accumulator holds the parts of an open reduction in submission order.
type Accumulator struct {
	parts []Part
	last  uint64 // task of the last part
}

// AddPart records p as the private copy of r in the open reduction of entry e. Inserter
// only, before Commit.
func (r *Record) AddPart(e *deps.Entry, p Part) {
	a, _ := e.Acc.(*Accumulator)
	if a == nil {
		a = new(Accumulator)
		e.Acc = a
	}
	a.parts, a.last = append(a.parts, p), r.Seq()
	c := r.Cold()
	c.Parts = append(c.Parts, p)
}

// maxParts bounds the private copies of an open reduction; a full one is combined and a new
// one opened. The result is the same: parts are combined one by one in submission order.
const maxParts = 64

// limitReduction combines the open reduction of region if it is full, before r is added.
// One that already contains r stays open, because its combination would wait for an
// uncommitted task; the tracker refuses r.
func (d *Domain) limitReduction(r *Record, region deps.Region) {
	if e := d.Tracker.Find(region); e != nil {
		if a, _ := e.Acc.(*Accumulator); a != nil && len(a.parts) >= maxParts && a.last != r.Seq() {
			d.Tracker.CloseReductions(region)
		}
	}
}

type combine struct {
	Record
	parts []Part
}

var combineDecl = &Decl{
	ID:    NextDeclID(),
	Name:  "weft.combine",
	Run:   func(r *Record) error { combineOf(r).finish(Part.Merge); return nil },
	Skip:  func(r *Record) { combineOf(r).finish(func(Part) {}) },
	Clear: func(*Record) {},
	New:   SlabOf[combine],
}

func combineOf(r *Record) *combine { return (*combine)(unsafe.Pointer(r)) }

func (c *combine) finish(f func(Part)) {
	for i, p := range c.parts {
		f(p)
		p.Discard()
		c.parts[i] = nil
	}
	c.parts = c.parts[:0]
}

// closeReduction submits the task that combines the open reduction of e.
func (d *Domain) closeReduction(e *deps.Entry) {
	d.nested(func() {
		c := combineOf(d.begin(combineDecl))
		c.Flags |= Internal
		a := e.Acc.(*Accumulator)
		c.parts, a.parts = a.parts, c.parts[:0]
		d.access(&c.Record, e.Region(), deps.Inout)
		d.Commit(&c.Record)
	})
}
