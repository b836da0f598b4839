package task

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Cover finds children that access memory which no access of their parent covers, while
// another task of the parent's domain accesses it too and no dependence orders the two. The
// tracker orders the child among its siblings alone, so parallel and serial runs differ.
// Memory that the parent's body has allocated belongs to it, and is no mistake.
//
// Each checking domain has a Cover. It records the tasks of the domain, and the accesses of
// their descendants that they do not cover (strays), since the last wait for all of them,
// and compares each new one with the recorded ones. It keeps the memory reachable for as
// long, because a freed address could be reused.
type Cover struct {
	mu      sync.Mutex // the goroutines that run the parents add strays
	tasks   []noted
	strays  []stray
	reports int

	block []touch // memory for the touches of tasks; the inserter's
	owner string  // label of the parent of the domain's tasks; immutable
}

// NewCover returns a Cover for the children of owner, whose body the calling goroutine
// runs, or for the main program if owner is nil.
func NewCover(owner *Record) *Cover {
	if owner == nil {
		return &Cover{}
	}
	return &Cover{owner: owner.Label()}
}

const (
	maxNoted   = 1 << 14 // tasks; the older half is forgotten
	maxStrays  = 1 << 10 // likewise
	maxReports = 16      // reports until the next wait
)

// touch is one access.
type touch struct {
	region deps.Region
	mode   deps.Mode
	weak   bool
	keep   unsafe.Pointer
}

// noted is a task of the domain.
type noted struct {
	seq     uint64
	label   string
	pc      uintptr
	barrier bool // the spawner has waited for it
	touches []touch
}

// stray is an access of a descendant of task of that no access of the task covers.
type stray struct {
	touch
	of           uint64
	child, owner string // labels of the descendant and of task of
	pc           uintptr
}

func newTouch(a Access) touch {
	t := touch{region: a.Entry.Region(), mode: a.Mode, weak: a.Weak}
	if region := t.region; !region.IsHandle() {
		base := region.Base()
		t.keep = *(*unsafe.Pointer)(unsafe.Pointer(&base))
	}
	return t
}

// clashes reports whether t and u are a mistake if unordered.
func (t touch) clashes(u touch) bool {
	return (t.mode.Writes() || u.mode.Writes()) && !(t.mode == deps.Concurrent && u.mode == deps.Concurrent) && t.region.Overlaps(u.region)
}

// keepsApart reports whether t and u prevent two tasks of one domain from running at the
// same time. Weak accesses order only children, by the children's regions.
func (t touch) keepsApart(u touch) bool {
	return !t.weak && !u.weak && t.clashes(u) && !(t.mode == deps.Reduction && u.mode == deps.Reduction)
}

// apart reports whether a dependence orders n and a task with the given touches.
func (n *noted) apart(touches []touch) bool {
	return slices.ContainsFunc(n.touches, func(t touch) bool {
		return slices.ContainsFunc(touches, t.keepsApart)
	})
}

// commit checks r, whose accesses are complete. Inserter of r's domain.
func (c *Cover) commit(r *Record) {
	if r.Decl == gateDecl || r.Decl == combineDecl {
		return
	}
	n := noted{seq: r.Seq(), label: r.Label(), pc: r.PC, barrier: r.Flags&Inline != 0, touches: c.room(int(r.nacc))}
	r.Accesses(func(a Access) {
		t := newTouch(a)
		n.touches = append(n.touches, t)
		r.Domain.strayed(r, t)
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks = halve(c.tasks, maxNoted)
	c.tasks = append(c.tasks, n)
	for i := range c.strays {
		c.compare(r.Domain, &c.strays[i], len(c.tasks)-1)
	}
}

// room returns an empty slice for n touches, from a block for many tasks. Inserter of the
// domain.
func (c *Cover) room(n int) []touch {
	const most = 512 // touches in a block
	if cap(c.block)-len(c.block) < n {
		c.block = make([]touch, 0, max(n, min(most, 2*cap(c.block))))
	}
	first := len(c.block)
	c.block = c.block[:first+n]
	return c.block[first : first : first+n]
}

// strayed adds t as a stray to the domain of every ancestor of r that does not cover it, up
// to the first that does: an access declared by an ancestor must be covered by the ancestor's
// parent. It reads only immutable fields of an ancestor, whose body may have ended meanwhile.
func (d *Domain) strayed(r *Record, t touch) {
	for p := d.Parent; p != nil && !p.allows(t); d, p = p.Domain, p.Domain.Parent {
		s := stray{touch: t, of: p.Seq(), child: r.Label(), owner: d.Cover.owner, pc: r.PC}
		p.Domain.Cover.stray(p.Domain, s)
	}
}

// allows reports whether an access of r covers the child's access t, or a weak one makes
// the child wait.
func (r *Record) allows(t touch) (yes bool) {
	r.Accesses(func(a Access) {
		if a.Mode.Writes() || !t.mode.Writes() {
			yes = yes || a.Entry.Region().Contains(t.region) || a.Weak && a.Entry.Region().Overlaps(t.region)
		}
	})
	return yes
}

// stray records s. Any goroutine.
func (c *Cover) stray(d *Domain, s stray) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.strays {
		if o := &c.strays[i]; o.of == s.of && o.region == s.region && o.mode == s.mode {
			return
		}
	}
	c.strays = halve(c.strays, maxStrays)
	c.strays = append(c.strays, s)
	for i := range c.tasks {
		c.compare(d, &s, i)
	}
}

// halve drops the older half of a full list.
func halve[T any](list []T, full int) []T {
	if len(list) < full {
		return list
	}
	return slices.Delete(list, 0, full/2)
}

// compare reports s if it and task i access the same memory, unordered.
func (c *Cover) compare(d *Domain, s *stray, i int) {
	n := &c.tasks[i]
	if n.seq == s.of || c.reports == maxReports {
		return
	}
	at := slices.IndexFunc(n.touches, s.clashes)
	if at < 0 || !c.unordered(s.of, i) {
		return
	}
	c.reports++
	with := n.touches[at]
	d.AddFailure(fmt.Errorf("weft: task %q%s has %v access to %v, which no access of its parent %q covers, and nothing orders it with task %q%s, which has %v access to %v: declare the access on %q too, as Weak if only its children touch it",
		s.child, spawnedAt(s.pc), s.mode, s.region, s.owner, n.label, spawnedAt(n.pc), with.mode, with.region, s.owner))
}

// unordered reports whether no dependence orders task seq and task i, directly or through
// tasks between them. It reports false if seq has been dropped from the list.
func (c *Cover) unordered(seq uint64, i int) bool {
	p := slices.IndexFunc(c.tasks, func(n noted) bool { return n.seq == seq })
	if p < 0 {
		return false
	}
	first, last := min(p, i), max(p, i)
	after := slices.Clone(c.tasks[last].touches) // of last and its predecessors
	for k := last - 1; k > first; k-- {
		if n := &c.tasks[k]; n.barrier || n.apart(after) {
			after = append(after, n.touches...)
		}
	}
	ended := c.tasks[first].barrier && first != p // its children may go on
	return !ended && !c.tasks[first].apart(after)
}

func spawnedAt(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf(" (spawned at %s:%d)", f.File, f.Line)
}

// forget drops all records. All tasks of the domain have ended.
func (c *Cover) forget() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tasks)
	clear(c.strays)
	clear(c.block)
	c.block = c.block[:0]
	c.tasks, c.strays, c.reports = c.tasks[:0], c.strays[:0], 0
}
