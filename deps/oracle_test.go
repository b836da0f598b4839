package deps

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// An access names one region of one task.
type access struct {
	shape
	mode Mode
	op   int // of a reduction
}

func (a access) String() string {
	if a.mode == Reduction {
		return fmt.Sprintf("%v#%d %v", a.mode, a.op, a.shape)
	}
	return fmt.Sprintf("%v %v", a.mode, a.shape)
}

// A program lists the accesses of its tasks, in the order of submission.
type program [][]access

func (p program) String() string {
	var b strings.Builder
	for i, task := range p {
		fmt.Fprintf(&b, "\n%4d:", i)
		for _, a := range task {
			fmt.Fprintf(&b, " %v;", a)
		}
	}
	return b.String()
}

// mustFollow reports whether an access b must wait for an access a of an earlier task: the
// rules at Mode, in their shortest form. The combine node of a reduction is an Inout access
// of the program.
func mustFollow(a, b access) bool {
	switch {
	case a.mode == None || b.mode == None || !a.meets(b.shape):
		return false
	case b.mode == Reduction: // works on a private copy
		return false
	case a.mode == Commutative && b.mode == Commutative && a.Region == b.Region:
		return false
	}
	return a.mode != b.mode || a.mode != In && a.mode != Concurrent
}

// oracle knows the required order of all nodes. It compares every access with all earlier
// ones, with sets of bytes, and shares no other code with the tracker. It numbers nodes in
// the order of their beginning, combine nodes too.
type oracle struct {
	accesses [][]access
	preds    []set // required predecessors of each node; implied ones may be missing
	before   []int // nodes whose submission has ended, in that order
	exempt   set   // nodes that no other waits for
	open     []reduction

	committed, released, failed set
	ready                       set // committed, every predecessor released
	poisoned                    set // a predecessor failed
}

type reduction struct {
	access
	members set
}

func (o *oracle) reset() {
	*o = oracle{accesses: o.accesses[:0], preds: o.preds[:0], before: o.before[:0], open: o.open[:0]}
}

// begin numbers a new node.
func (o *oracle) begin() int {
	o.accesses = append(o.accesses, nil)
	o.preds = append(o.preds, set{})
	return len(o.preds) - 1
}

// mixes reports whether a would make its task name a region both as a reduction and
// otherwise, or twice as a reduction.
func (o *oracle) mixes(id int, a access) bool {
	for _, own := range o.accesses[id] {
		if own.meets(a.shape) && (own.mode == Reduction || a.mode == Reduction) {
			return true
		}
	}
	return false
}

// closes reports whether a requires the open reduction r to be combined first.
func (r *reduction) closes(a access) bool {
	return a.mode != None && r.meets(a.shape) && (a.mode != Reduction || r.Region != a.Region || r.op != a.op)
}

// access adds an access to a node that has begun, after the combination of the reductions
// that it closes.
func (o *oracle) access(id int, a access) {
	if a.mode == None || a.Empty() {
		return
	}
	own := o.accesses[id]
	known := false
	for i := range own {
		if own[i].Region == a.Region { // named again: both modes at once
			known = true
			if own[i].mode != a.mode {
				own[i].mode = Inout
				a.mode = Inout
			}
		}
	}
	if !known {
		o.accesses[id] = append(own, a)
	}
	for _, p := range o.before {
		for _, e := range o.accesses[p] {
			if mustFollow(e, a) && !o.exempt.has(p) {
				o.preds[id].add(p)
				break
			}
		}
	}
	if a.mode == Reduction {
		o.reduce(id, a)
	}
}

func (o *oracle) reduce(id int, a access) {
	for i := range o.open {
		if o.open[i].Region == a.Region {
			o.open[i].members.add(id)
			return
		}
	}
	r := reduction{access: a}
	r.members.add(id)
	o.open = append(o.open, r)
}

// combine removes the open reduction of region r and returns it.
func (o *oracle) combine(r Region) (reduction, bool) {
	for i := range o.open {
		if o.open[i].Region == r {
			red := o.open[i]
			o.open = append(o.open[:i], o.open[i+1:]...)
			return red, true
		}
	}
	return reduction{}, false
}

// commit ends the submission of a node and reports whether it is ready.
func (o *oracle) commit(id int) bool {
	o.before = append(o.before, id)
	o.committed.add(id)
	for _, p := range o.before {
		if o.preds[id].has(p) && o.failed.has(p) {
			o.poisoned.add(id)
		}
	}
	if left := o.preds[id].minus(&o.released); !left.empty() {
		return false
	}
	o.ready.add(id)
	return true
}

// release ends a node and returns the nodes that become ready.
func (o *oracle) release(id int, failed bool) (ready set) {
	o.released.add(id)
	if failed {
		o.failed.add(id)
	}
	for _, n := range o.before {
		if !o.preds[n].has(id) || o.released.has(n) {
			continue
		}
		if failed {
			o.poisoned.add(n)
		}
		if left := o.preds[n].minus(&o.released); left.empty() && !o.ready.has(n) {
			ready.add(n)
			o.ready.add(n)
		}
	}
	return ready
}

// forgive forgets the failures of ended nodes.
func (o *oracle) forgive() { o.failed = set{} }

// taste steers randomProgram.
type taste struct {
	tasks, regions, accesses int
	modes                    []Mode
	mixed                    bool // a task may name a region as a reduction and otherwise
}

var everyMode = []Mode{None, In, In, Out, Inout, Concurrent, Commutative, Reduction}

// randomTaste draws sizes and modes; few modes make long groups.
func randomTaste(rng *rand.Rand) taste {
	k := taste{
		tasks:    1 + rng.IntN(32),
		regions:  1 + rng.IntN(8),
		accesses: 1 + rng.IntN(4),
		modes:    everyMode,
		mixed:    rng.IntN(4) == 0,
	}
	if rng.IntN(2) == 0 {
		k.modes = nil
		for range 2 + rng.IntN(2) {
			k.modes = append(k.modes, everyMode[rng.IntN(len(everyMode))])
		}
	}
	return k
}

func randomProgram(rng *rand.Rand, k taste) program {
	palette := make([]shape, k.regions)
	for i := range palette {
		palette[i] = randomShape(rng)
	}
	var p program
	for range k.tasks {
		var task []access
		for range rng.IntN(k.accesses + 1) {
			a := access{shape: palette[rng.IntN(len(palette))], mode: k.modes[rng.IntN(len(k.modes))]}
			if a.mode == Reduction && rng.IntN(4) == 0 {
				a.op = 1
			}
			if k.mixed || !mixesWith(task, a) {
				task = append(task, a)
			}
		}
		p = append(p, task)
	}
	return p
}

func mixesWith(task []access, a access) bool {
	for _, b := range task {
		if b.meets(a.shape) && b.mode != None && a.mode != None && (a.mode == Reduction || b.mode == Reduction) {
			return true
		}
	}
	return false
}
