package task

import (
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Gate stands in the parent's domain for a weak access.
type Gate struct {
	Record
	opener deps.Node // released when the gate opens; the children wait for it
	region deps.Region
	mode   deps.Mode
}

var gateDecl = &Decl{
	ID:    NextDeclID(),
	Name:  "weft.gate",
	Run:   func(r *Record) error { r.Exec.Schedule(gateOf(r).opener.Release(false)); return nil },
	Skip:  func(r *Record) { r.Exec.Schedule(gateOf(r).opener.Release(true)) },
	Clear: func(*Record) {},
	New:   SlabOf[Gate],
}

func gateOf(r *Record) *Gate { return (*Gate)(unsafe.Pointer(r)) }

// weak gives r a gate for region. Weak commutative accesses and reductions keep
// the order of submission between their gates (they are Inout there): a gate
// that held a lock while its task waits for another gate could deadlock.
func (d *Domain) weak(r *Record, region deps.Region, m deps.Mode, param int) (e *deps.Entry) {
	mode := m
	if mode == deps.Reduction || mode == deps.Commutative {
		mode = deps.Inout
	}
	d.nested(func() {
		g := gateOf(d.begin(gateDecl))
		g.region, g.mode = region, m
		g.Flags |= Internal
		g.Prio = r.Prio
		g.Extend()
		g.Ref() // r's; the body's reference is dropped when the gate has opened
		d.Tracker.Begin(&g.opener, g.Seq())
		e = d.access(&g.Record, region, mode)
		c := r.Cold()
		c.Gates = append(c.Gates, g)
		d.Commit(&g.Record)
	})
	r.addAccess(Access{Entry: e, Mode: m, Weak: true, Param: int8(param)})
	return e
}

// access registers an access of one of the runtime's own records.
func (d *Domain) access(r *Record, region deps.Region, m deps.Mode) *deps.Entry {
	edges, e, err := d.Tracker.Access(&r.Node, region, m, nil)
	if err != nil {
		r.Fail(err)
		return e
	}
	d.edges += edges
	r.addAccess(Access{Entry: e, Mode: m})
	if d.Parent == nil {
		return e
	}
	if c := d.Parent.PeekCold(); c != nil {
		for _, o := range c.Gates {
			if o.region.Overlaps(region) {
				d.edges += d.Tracker.Follow(&r.Node, &o.opener)
			}
		}
	}
	return e
}

// nested runs f, which submits a record of the runtime's own while another
// record may be half registered.
func (d *Domain) nested(f func()) {
	saved := d.edges
	f()
	d.edges = saved
}

// Ungate drops r's reference to its gates and returns, joined by their Next
// links, those that are thereby complete. Called when r has ended.
func (r *Record) Ungate(complete func(*Record)) {
	c := r.PeekCold()
	if c == nil {
		return
	}
	for _, g := range c.Gates {
		if g.Unref() {
			complete(&g.Record)
		}
	}
}

// Part is the private copy of one task of a reduction.
type Part interface {
	Merge()   // combines the copy into the shared region
	Discard() // gives the copy back
}

// Accumulator holds the parts of an open reduction in submission order.
type Accumulator struct{ parts []Part }

// AddPart notes that p belongs to the open reduction of entry e. Inserter only.
func AddPart(e *deps.Entry, p Part) {
	a, _ := e.Acc.(*Accumulator)
	if a == nil {
		a = new(Accumulator)
		e.Acc = a
	}
	a.parts = append(a.parts, p)
}

// maxParts bounds the private copies that an open reduction may hold; beyond, it
// is combined and a new one opened. The result is the same: parts are combined
// one by one in submission order.
const maxParts = 64

func (d *Domain) limitReduction(region deps.Region) {
	if e := d.Tracker.Find(region); e != nil {
		if a, _ := e.Acc.(*Accumulator); a != nil && len(a.parts) >= maxParts {
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
