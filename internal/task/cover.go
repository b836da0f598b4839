package task

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Cover finds the children that touch memory which no access of their parent covers,
// while another task of the parent's domain touches it too and nothing orders the two:
// the child is ordered among its siblings alone, so parallel and serial runs differ. Memory
// that the parent's body has made is nobody else's, and no mistake.
//
// A domain that checks has one. It notes the tasks of the domain, and the accesses of
// their descendants that they do not cover (strays), since the last wait for all of them,
// and compares each that comes with what is there. The memory is kept reachable for as
// long, or its addresses could come to stand for something else.
type Cover struct {
	mu     sync.Mutex // strays come from the runners of the parents
	tasks  []noted
	strays []stray
	told   int

	block []touch // memory for those of tasks; of the inserter
	owner string  // label of the task whose children the domain has; immutable
}

// NewCover returns one for the children of owner, whose body the calling goroutine runs, or
// for the main program if owner is nil.
func NewCover(owner *Record) *Cover {
	if owner == nil {
		return &Cover{}
	}
	return &Cover{owner: owner.Label()}
}

const (
	maxNoted  = 1 << 14 // tasks; the older half is forgotten
	maxStrays = 1 << 10 // likewise
	maxTold   = 16      // reports until the next wait
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

// stray is an access of a descendant of task of, which that does not cover.
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

// clashes reports whether t and u, unordered, are a mistake.
func (t touch) clashes(u touch) bool {
	return (t.mode.Writes() || u.mode.Writes()) && !(t.mode == deps.Concurrent && u.mode == deps.Concurrent) && t.region.Overlaps(u.region)
}

// keepsApart reports whether two tasks of one domain do not run at the same time because
// of t and u. Weak accesses order children, and those by their own regions alone.
func (t touch) keepsApart(u touch) bool {
	return !t.weak && !u.weak && t.clashes(u) && !(t.mode == deps.Reduction && u.mode == deps.Reduction)
}

// apart reports whether a task with one of touches waits for n, or n for it.
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

// room returns an empty slice for n touches, cut from a block for those of many tasks.
// Inserter of the domain.
func (c *Cover) room(n int) []touch {
	const most = 512 // touches in a block
	if cap(c.block)-len(c.block) < n {
		c.block = make([]touch, 0, max(n, min(most, 2*cap(c.block))))
	}
	first := len(c.block)
	c.block = c.block[:first+n]
	return c.block[first : first : first+n]
}

// strayed tells every ancestor of r that does not cover t, up to one that does: what an
// ancestor declares is for its own parent to cover. Of an ancestor, whose body may have
// ended meanwhile, it reads only what does not change.
func (d *Domain) strayed(r *Record, t touch) {
	for p := d.Parent; p != nil && !p.allows(t); d, p = p.Domain, p.Domain.Parent {
		s := stray{touch: t, of: p.Seq(), child: r.Label(), owner: d.Cover.owner, pc: r.PC}
		p.Domain.Cover.stray(p.Domain, s)
	}
}

// allows reports whether an access of r covers what a child does, or one that is weak
// makes the child wait.
func (r *Record) allows(t touch) (yes bool) {
	r.Accesses(func(a Access) {
		if a.Mode.Writes() || !t.mode.Writes() {
			yes = yes || a.Entry.Region().Contains(t.region) || a.Weak && a.Entry.Region().Overlaps(t.region)
		}
	})
	return yes
}

// stray takes note of s. Any goroutine.
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

// halve forgets the older half of a list that is full.
func halve[T any](list []T, full int) []T {
	if len(list) < full {
		return list
	}
	return slices.Delete(list, 0, full/2)
}

// compare reports s if it and task i touch the same memory, unordered.
func (c *Cover) compare(d *Domain, s *stray, i int) {
	n := &c.tasks[i]
	if n.seq == s.of || c.told == maxTold {
		return
	}
	at := slices.IndexFunc(n.touches, s.clashes)
	if at < 0 || !c.unordered(s.of, i) {
		return
	}
	c.told++
	with := n.touches[at]
	d.AddFailure(fmt.Errorf("weft: task %q%s has %v access to %v, which no access of its parent %q covers, and nothing orders it with task %q%s, which has %v access to %v: declare the access on %q too, as Weak if only its children touch it",
		s.child, spawnedAt(s.pc), s.mode, s.region, s.owner, n.label, spawnedAt(n.pc), with.mode, with.region, s.owner))
}

// unordered reports whether neither of task seq and task i waits for the other, directly
// or through tasks between them. If seq has been forgotten, it was long ago.
func (c *Cover) unordered(seq uint64, i int) bool {
	p := slices.IndexFunc(c.tasks, func(n noted) bool { return n.seq == seq })
	if p < 0 {
		return false
	}
	first, last := min(p, i), max(p, i)
	after := slices.Clone(c.tasks[last].touches) // of the tasks that last waits for, and its own
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

// forget drops everything: all tasks of the domain have ended.
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
	c.tasks, c.strays, c.told = c.tasks[:0], c.strays[:0], 0
}
