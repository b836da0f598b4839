package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/joined"
	"github.com/weft-hpc/weft/internal/osthread"
)

// States of a runtime, as its domains see them.
const (
	Open uint32 = iota
	Cancelled
	Closed
)

// Runner executes records: a worker of package dataflow.
type Runner interface {
	// Submit takes over r, which has been committed. Unless ready, it belongs to its last
	// predecessor. inline, if not nil, is the cold part of a record that Submit must run
	// before it returns. The inserter calls it.
	Submit(d *Domain, r *Record, ready bool, inline *Cold)
	Misuse(err error)              // any goroutine: the next Wait reports it
	Context() context.Context      // of the runtime
	ID() int                       // of the worker
	ChildDomain(r *Record) *Domain // the running task r spawns its first child
	WaitChildren(r *Record) error  // the running task r waits, and helps
	WaitOn(d *Domain, regions []deps.Region) error
	Hold(r *Record) func(error) // call the returned function once, on any goroutine
	Block(r *Record, f func())
	Share(r *Record, parts int, body func(part int)) // the running task r
	Schedule(ready *deps.Node)                       // nodes that became ready, joined by Next; the runner's goroutine
	Edge(pred, succ uint64, waits bool)              // traced domains: inserter
	Spawned(r *Record)                               // traced domains: inserter
	Announce(r *Record)                              // the inserter is about to commit a task of the comm target
}

// Domain is a set of tasks with one tracker. It belongs to its inserter: the goroutine
// Owner. The words that the inserter writes with every task are on cache lines that the
// runners of tasks do not read.
type Domain struct {
	Tracker deps.Tracker
	Spawned uint64 // tasks committed, ever (main) or since the last wait (children)
	Limit   uint64 // of Spawned: beyond it a spawn runs some of the tasks
	edges   int32  // of the record being filled
	locks   uint64
	renamed []func()      // drop the old versions of buffers
	given   givens        // accesses of Parent
	claimed []*deps.Entry // scratch of beside
	looks   int           // entries that beside has visited, for tests
	_       [cacheLine]byte

	Exec   Runner // the worker whose goroutine inserts
	Alloc  *Allocator
	Owner  uintptr // osthread.G of the inserter
	Parent *Record // nil for the main program
	State  *atomic.Uint32
	Budget *Budget
	Cover  *Cover // checks the accesses of children; nil if off
	Root   bool   // the domain of the main program
	Lines  bool   // record where tasks are spawned
	Traced bool   // Exec gets every spawn and dependence
	Rename bool   // buffers may get fresh copies
	Final  bool   // tasks run at their spawn
	Verify bool   // tasks are verified
	free   *Domain
	use    atomic.Uint64 // number of times it has been freed
	_      [cacheLine]byte

	Live  atomic.Int64 // children only: committed minus ended, since the last wait
	ended failures     // of children
}

// cacheLine separates words that different threads write: two lines of 64 bytes, which the
// prefetcher of amd64 fetches in pairs.
const cacheLine = 128

// NewDomain returns an empty domain of exec and a, reused if possible.
func (a *Allocator) NewDomain(exec Runner, parent *Record, state *atomic.Uint32) *Domain {
	if a.reuse == nil {
		a.reuse = a.domains.Swap(nil)
	}
	d := a.reuse
	if d == nil {
		d = &Domain{Alloc: a}
	} else {
		a.reuse, d.free = d.free, nil
		d.Tracker.Reset()
	}
	d.Exec, d.Parent, d.State = exec, parent, state
	d.Owner = osthread.G()
	d.Spawned, d.edges = 0, 0
	d.Final, d.Traced, d.Lines, d.Verify, d.Cover = false, false, false, false, nil
	d.Live.Store(0)
	d.given.known = false
	d.Tracker.Configure(a.NextID, d.closeReduction, nil)
	return d
}

// Unfinished returns the number of unfinished tasks of d, a domain of children. Inserter
// only.
func (d *Domain) Unfinished() uint64 { return d.Spawned + uint64(d.Live.Load()) }

// FreeDomain takes back a domain whose tasks have all ended. Any goroutine.
func (a *Allocator) FreeDomain(d *Domain) {
	d.Parent = nil
	d.use.Add(1)
	for {
		d.free = a.domains.Load()
		if a.domains.CompareAndSwap(d.free, d) {
			return
		}
	}
}

// Trace reports the dependences and spawns of d to exec from now on.
func (d *Domain) Trace() {
	d.Traced = true
	d.Tracker.Configure(d.Alloc.NextID, d.closeReduction, d.Exec.Edge)
}

// Begin starts a record of declaration decl, or returns nil if the spawn is void: the
// runtime is cancelled, or the goroutine is not the inserter. It panics on a closed
// runtime, as a send on a closed channel does.
func (d *Domain) Begin(decl *Decl) *Record { return d.BeginNamed(decl, "") }

// BeginNamed is Begin for declarations whose tasks have individual names.
func (d *Domain) BeginNamed(decl *Decl, name string) *Record {
	if g := osthread.G(); g != d.Owner || d.State.Load() != Open {
		d.refuse(g, decl, name)
		return nil
	}
	return d.begin(decl)
}

func (d *Domain) begin(decl *Decl) *Record {
	r := d.Alloc.Get(decl)
	d.Tracker.Begin(&r.Node, d.Alloc.NextID())
	r.Decl, r.Domain = decl, d
	r.Children = nil
	r.Err = nil
	r.Prio, r.Worker, r.Flags, r.nacc = 0, 0, 0, 0
	r.PC = 0
	if d.Lines {
		r.PC = CallSite()
	}
	d.edges = 0
	return r
}

// ErrGoroutine is in the errors of calls on the wrong goroutine.
var ErrGoroutine = errors.New("called from another goroutine than the one that may")

// refuse handles a spawn that makes no task: it panics, reports a misuse, or, on a
// cancelled runtime, does nothing.
func (d *Domain) refuse(g uintptr, decl *Decl, name string) {
	if g == d.Owner && d.State.Load() == Cancelled {
		return
	}
	if name == "" {
		name = decl.Name
	}
	what := fmt.Sprintf("task %q", name)
	if decl.Line > 0 {
		what += fmt.Sprintf(" (declared at %s:%d)", decl.File, decl.Line)
	}
	switch {
	case d.State.Load() == Closed:
		panic(fmt.Sprintf("weft: %s spawned at %s on a closed runtime", what, CallLine()))
	case g != d.Owner:
		where := "only the goroutine that created the runtime, outside of tasks, may spawn on it (a body spawns children on its Context)"
		if d.Parent != nil {
			where = fmt.Sprintf("only the body of task %q may spawn its children, on its own goroutine and before it returns", d.Parent.Label())
		}
		d.Exec.Misuse(fmt.Errorf("weft: %s was spawned at %s: %s: %w", what, CallLine(), where, ErrGoroutine))
	}
}

// Access declares that r accesses region in mode m. op identifies a reduction. A mistake
// makes r a failed task. Access returns the entry, nil for an empty region.
func (d *Domain) Access(r *Record, region deps.Region, m deps.Mode, weak bool, param int, op any) *deps.Entry {
	if region.Empty() {
		return nil
	}
	if d.Parent != nil {
		d.underParent(r, region, m, weak, param)
	}
	if weak {
		return d.weak(r, region, m, param)
	}
	if m == deps.Commutative && r.Flags&Comm != 0 {
		m = deps.Inout // the executor has its own order: with a lock, it could wait for a waiter of that lock
	}
	if m == deps.Reduction {
		d.limitReduction(r, region)
	}
	mode := m
	if r.Flags&Gated != 0 {
		d.findClaims(r, region)
		mode = d.beside(r, r, m)
	}
	if m == deps.Reduction && mode != m {
		r.refuse(param, region, deps.ErrReductionMix)
		return nil
	}
	edges, e, err := d.Tracker.Access(&r.Node, region, mode, op)
	if err != nil {
		r.refuse(param, region, err)
		return nil
	}
	d.edges += edges
	if mode == deps.Lazy {
		r.overtakes(d.Tracker.Overtaken())
	}
	if m == deps.Commutative {
		if e.Lock == nil {
			d.locks++
			e.Lock = &deps.Lock{ID: d.locks}
		}
		c := r.Cold()
		c.Locks = append(c.Locks, e.Lock)
		r.Flags |= Commutes
	}
	a := Access{Entry: e, Mode: m, Param: int8(param)}
	r.addAccess(a)
	if r.Flags&Gated != 0 {
		r.claim(a)
	}
	return e
}

// refuse makes r fail because of an access that it must not have.
func (r *Record) refuse(param int, region deps.Region, err error) {
	r.Fail(fmt.Errorf("%s, region %v: %w", ParamName(param), region, err))
}

// Await makes r, which stands for a wait, follow the writers of region. Later tasks do not
// depend on r, so the failure of one writer fails r but not tasks that do not depend on
// that writer.
func (d *Domain) Await(r *Record, region deps.Region) {
	if region.Empty() {
		return
	}
	if d.Parent != nil {
		d.underParent(r, region, deps.In, false, -1)
	}
	edges, e := d.Tracker.FollowWriters(&r.Node, region)
	d.edges += edges
	r.addAccess(Access{Entry: e, Mode: deps.In, Param: -1})
}

// underParent checks an access of r against the accesses of its parent, and makes r wait
// for the parent's gates at region.
func (d *Domain) underParent(r *Record, region deps.Region, m deps.Mode, weak bool, param int) {
	p := d.Parent
	if !weak && p.Flags&Gated == 0 {
		return
	}
	var covered, written bool // by an access of the parent
	var weaker *given         // a weak one without writing
	d.parents().around(region, func(a *given) {
		inside := a.region.Contains(region)
		covered = covered || inside
		written = written || inside && a.Mode.Writes()
		if a.gate != nil && !a.Mode.Writes() {
			weaker = a
		}
		if !weak { // for a weak access its own gate waits
			d.followGate(r, a)
		}
	})
	if weak && !covered {
		r.Fail(fmt.Errorf("%s is a weak %v access to %v, which no access of its parent %q covers: declare it on the parent too",
			ParamName(param), m, region, p.Label()))
	}
	if weaker != nil && m.Writes() && !written {
		r.Fail(fmt.Errorf("%s accesses %v as %v, but its parent %q declared it only as weak %v: declare the stronger access on the parent",
			ParamName(param), region, m, p.Label(), weaker.Mode))
	}
}

// ParamName names a parameter by its index in messages; -1 is a clause.
func ParamName(i int) string {
	if i < 0 {
		return "an access clause"
	}
	return fmt.Sprintf("parameter %d", i+1)
}

// Commit ends the registration of r and hands it to the runner.
func (d *Domain) Commit(r *Record) {
	d.Spawned++
	if d.Cover != nil {
		d.Cover.commit(r)
	}
	if d.Final && r.Flags&Comm == 0 {
		r.Flags |= Inline | Final
	}
	if r.Flags&Comm != 0 {
		d.Exec.Announce(r) // it may forbid running r in place
	}
	if r.Flags&Commutes != 0 {
		r.sortLocks()
	}
	var inline *Cold
	if r.Flags&Inline != 0 {
		inline = r.Cold() // holds its ready flag
	}
	if r.Flags&Gated != 0 && r.Flags&Commutes != 0 {
		d.followGates(r)
	}
	if d.Traced {
		d.Exec.Spawned(r)
	}
	d.Exec.Submit(d, r, r.Node.Commit(d.edges), inline)
}

// Budget bounds the bytes of fresh copies at one time.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

// Take reserves n bytes and reports whether they were available.
func (b *Budget) Take(n int64) bool {
	if b.used.Add(n) <= b.Limit {
		return true
	}
	b.used.Add(-n)
	return false
}

// Give returns n bytes.
func (b *Budget) Give(n int64) { b.used.Add(-n) }

// Used returns the bytes reserved now.
func (b *Budget) Used() int64 { return b.used.Load() }

// Renamed records that a buffer has old versions; the next wait for all tasks of the domain
// calls trim, which drops them.
func (d *Domain) Renamed(trim func()) { d.renamed = append(d.renamed, trim) }

// Trim drops the old versions of all buffers. Every task of d has ended.
func (d *Domain) Trim() {
	for _, trim := range d.renamed {
		trim()
	}
	clear(d.renamed)
	d.renamed = d.renamed[:0]
	d.Cover.forget()
}

// maxFailures bounds the errors kept for one report.
const maxFailures = 64

// failures collects the errors of failed tasks from all runners, and the failed records:
// the tracker must remember them until the failure has been reported.
type failures struct {
	mu      sync.Mutex
	errs    []error
	lost    int
	skipped int
	records *deps.Node
}

// KeepFailed keeps a released record that failed or was skipped. Any goroutine.
func (d *Domain) KeepFailed(r *Record) {
	f := &d.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Flags&(Skipped|Internal) == Skipped {
		f.skipped++
	}
	r.SetNext(f.records)
	f.records = &r.Node
}

// Forgive frees the failed records: later tasks do not depend on them. The inserter calls
// it, or the goroutine that ends the domain.
func (d *Domain) Forgive() {
	f := &d.ended
	f.mu.Lock()
	n := f.records
	f.records, f.skipped = nil, 0
	f.mu.Unlock()
	for n != nil {
		next := n.Next()
		n.Forgive()
		FromNode(n).Home().Return(n, n)
		n = next
	}
	d.Tracker.Forgive()
}

// AddFailure records the failure of a task of d. Any goroutine.
func (d *Domain) AddFailure(err error) {
	f := &d.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errs) < maxFailures {
		f.errs = append(f.errs, err)
	} else {
		f.lost++
	}
}

// TakeFailures returns the failures since the last call, joined; nil if there were none.
func (d *Domain) TakeFailures() error {
	f := &d.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := f.errs
	if f.lost > 0 {
		errs = append(errs, joined.Note(fmt.Sprintf("and %d more tasks failed", f.lost)))
	}
	if f.skipped > 0 && len(errs) > 0 {
		which, were := "tasks", "were"
		if f.skipped == 1 {
			which, were = "task", "was"
		}
		errs = append(errs, joined.Note(fmt.Sprintf("%d %s that depended on failed ones %s skipped", f.skipped, which, were)))
	}
	f.errs, f.lost = nil, 0
	return errors.Join(errs...)
}

// Skips returns the number of tasks skipped since the last Forgive.
func (d *Domain) Skips() int {
	f := &d.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped
}

// Failures returns the same as TakeFailures, and keeps it.
func (d *Domain) Failures() error {
	f := &d.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

// FirstFailure returns the first error of Failures, nil if there is none.
func (d *Domain) FirstFailure() error {
	f := &d.ended
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs[0]
}

// Use returns the number of the present use of d, which serves other tasks after its own
// have ended.
func (d *Domain) Use() uint64 { return d.use.Load() }

// InUse reports whether d is still in that use, so that it accepts spawns.
func (d *Domain) InUse(use uint64) bool { return d.use.Load() == use && d.State.Load() != Closed }
