package deps

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"unsafe"
)

// A job is a task record of the tests.
type job struct {
	Node     // first: jobOf relies on it
	id   int // present number in the oracle
}

func jobOf(n *Node) *job { return (*job)(unsafe.Pointer(n)) }

// A lab submits programs to a tracker and to the oracle, side by side, on one goroutine.
// After every step it checks that exactly the right nodes are ready and poisoned: a node
// that is ready too early lacks an edge, one that is ready too late has a false one.
type lab struct {
	tracker Tracker
	oracle  oracle
	seq     uint64
	jobs    []*job // by number in the oracle
	spare   []*job // ended, handed back
	ready   []*job
	err     error

	reuse   bool                         // reuse the nodes of ended tasks
	between func()                       // called between two accesses
	tamper  func(n *Node, e int32) int32 // called before Commit with the number of edges; returns it
	edges   map[uint64][]uint64          // reported by the tracker, if not nil: successor to predecessors
	numbers map[uint64]int               // oracle's number by task number; set with edges
}

func newLab(traced bool) *lab {
	l := new(lab)
	var edge func(pred, succ uint64, waits bool)
	if traced {
		l.edges, l.numbers = map[uint64][]uint64{}, map[uint64]int{}
		edge = func(pred, succ uint64, _ bool) { l.edges[succ] = append(l.edges[succ], pred) }
	}
	l.tracker.Configure(l.next, l.combine, edge)
	return l
}

func (l *lab) next() uint64 {
	l.seq++
	return l.seq
}

// reset prepares the lab for another program; nodes and tables stay.
func (l *lab) reset() {
	l.tracker.Reset()
	l.oracle.reset()
	l.handBack()
	l.ready = l.ready[:0]
	l.err = nil
	if l.edges != nil {
		clear(l.edges)
		clear(l.numbers)
	}
}

// forgive forgets failures. All tasks have ended.
func (l *lab) forgive() {
	l.tracker.Forgive()
	l.oracle.forgive()
	for _, j := range l.jobs {
		if j != nil {
			j.Forgive()
		}
	}
}

// forget prepares the lab for another program on the same tracker.
func (l *lab) forget() {
	if err := l.tracker.table.audit(); err != nil {
		l.failf("the table: %v", err)
	}
	l.forgive()
	l.oracle.reset()
	l.handBack()
	if l.edges != nil {
		clear(l.edges)
		clear(l.numbers)
	}
}

func (l *lab) handBack() {
	for _, j := range l.jobs {
		if j != nil {
			l.spare = append(l.spare, j)
		}
	}
	l.jobs = l.jobs[:0]
}

func (l *lab) failf(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

func (l *lab) job() *job {
	k := len(l.spare)
	if k == 0 {
		return new(job)
	}
	j := l.spare[k-1]
	l.spare = l.spare[:k-1]
	return j
}

func (l *lab) begin() *job {
	j := l.job()
	j.id = l.oracle.begin()
	l.jobs = append(l.jobs, j)
	seq := l.next()
	l.tracker.Begin(&j.Node, seq)
	if l.numbers != nil {
		l.numbers[seq] = j.id
	}
	return j
}

// submit gives one task to the tracker and to the oracle.
func (l *lab) submit(task []access) *job {
	j := l.begin()
	var edges int32
	for _, a := range task {
		want := a.mode != None && !a.Empty() && l.oracle.mixes(j.id, a)
		pending := a
		if want {
			pending.mode = None // no combine node belongs to it
		}
		e, err := l.access(j, a, pending)
		edges += e
		if errors.Is(err, ErrReductionMix) != want {
			l.failf("task %d, %v: got error %v, want one: %v", j.id, a, err, want)
		}
		if err != nil {
			break // a bad task is submitted with the accesses made so far
		}
		l.oracle.access(j.id, a)
		if l.between != nil {
			l.between()
		}
	}
	l.commit(j, edges)
	return j
}

// access registers access a of j with the tracker.
func (l *lab) access(j *job, a, pending access) (edges int32, err error) {
	var op any
	if a.mode == Reduction {
		op = a.op
	}
	l.closing(pending, func() { edges, _, err = l.tracker.Access(&j.Node, a.Region, a.mode, op) })
	return edges, err
}

// look submits a task that waits as a read of s would, and that nothing waits for.
func (l *lab) look(s shape) {
	j := l.begin()
	var edges int32
	read := access{shape: s, mode: In}
	l.closing(read, func() { edges, _ = l.tracker.FollowWriters(&j.Node, s.Region) })
	l.oracle.access(j.id, read)
	l.oracle.exempt.add(j.id)
	l.commit(j, edges)
}

// closing calls f and checks that it closes exactly the reductions that pending requires.
func (l *lab) closing(pending access, f func()) {
	closing := 0
	for i := range l.oracle.open {
		if l.oracle.open[i].closes(pending) {
			closing++
		}
	}
	open := len(l.oracle.open)
	f()
	if closed := open - len(l.oracle.open); closed != closing {
		l.failf("%v: combined %d reductions, want %d", pending, closed, closing)
	}
	for i := range l.oracle.open {
		if l.oracle.open[i].closes(pending) {
			l.failf("%v: did not combine %v", pending, l.oracle.open[i].shape)
		}
	}
}

// combine is the closeReduction callback of the tracker.
func (l *lab) combine(e *Entry) {
	r, ok := l.oracle.combine(e.Region())
	if !ok {
		l.failf("combines %v, which has no open reduction", e.Region())
		return
	}
	a := access{shape: r.shape, mode: Inout}
	j := l.begin()
	edges, _, err := l.tracker.Access(&j.Node, a.Region, a.mode, nil)
	if err != nil {
		l.failf("combine node %d of %v: %v", j.id, a.shape, err)
	}
	l.oracle.access(j.id, a)
	if lost := r.members.minus(&l.oracle.preds[j.id]); !lost.empty() {
		l.failf("combine node %d does not wait for member %d", j.id, lost.first())
	}
	l.commit(j, edges)
}

func (l *lab) commit(j *job, edges int32) {
	if l.tamper != nil {
		edges = l.tamper(&j.Node, edges)
	}
	want := l.oracle.commit(j.id)
	got := j.Commit(edges)
	switch {
	case got && !want:
		left := l.oracle.preds[j.id].minus(&l.oracle.released)
		l.failf("task %d is ready when committed, but must wait for %d", j.id, left.first())
	case !got && want:
		l.failf("task %d waits for %d when committed, but need not wait", j.id, j.Waiting())
	}
	if got {
		l.checkPoison(j)
		l.ready = append(l.ready, j)
	}
}

// checkPoison checks a node that has become ready; earlier its poison may still change.
func (l *lab) checkPoison(j *job) {
	if want := l.oracle.poisoned.has(j.id); j.Poisoned() != want {
		l.failf("task %d poisoned: got %v, want %v", j.id, j.Poisoned(), want)
	}
}

// release ends the ready job at index i.
func (l *lab) release(i int, failed bool) {
	j := l.ready[i]
	l.ready[i] = l.ready[len(l.ready)-1]
	l.ready = l.ready[:len(l.ready)-1]
	failed = failed || j.Poisoned()
	want := l.oracle.release(j.id, failed)
	for n := j.Release(failed); n != nil; {
		r := jobOf(n)
		n = n.Next()
		if !want.has(r.id) {
			left := l.oracle.preds[r.id].minus(&l.oracle.released)
			l.failf("the end of task %d makes task %d ready, but that must wait for %d", j.id, r.id, left.first())
		}
		want = want.minus(one(r.id))
		l.ready = append(l.ready, r)
		l.checkPoison(r)
	}
	if !want.empty() {
		l.failf("the end of task %d should make task %d ready", j.id, want.first())
	}
	if l.reuse && !failed {
		l.spare = append(l.spare, j)
		l.jobs[j.id] = nil
	}
}

func one(i int) *set {
	var s set
	s.add(i)
	return &s
}

// drain releases the ready nodes until none is left, in random order (always the first one
// if rng is nil), and checks that all nodes have ended.
func (l *lab) drain(rng *rand.Rand) {
	for len(l.ready) > 0 && l.err == nil {
		i := 0
		if rng != nil {
			i = rng.IntN(len(l.ready))
		}
		l.release(i, false)
	}
	if left := l.oracle.committed.minus(&l.oracle.released); !left.empty() {
		l.failf("task %d never became ready", left.first())
	}
}

// compare checks the edges of the tracker against the oracle: both must imply the same
// order.
func (l *lab) compare(edges []set) {
	want, got := closure(l.oracle.preds), closure(edges)
	for i := range want {
		if d := want[i].minus(&got[i]); !d.empty() {
			l.failf("task %d does not wait for task %d", i, d.first())
		}
		if d := got[i].minus(&want[i]); !d.empty() {
			l.failf("task %d waits for task %d, but need not", i, d.first())
		}
	}
}

// linked returns the predecessors of every node according to the records. No node has been
// released.
func (l *lab) linked() []set {
	edges := make([]set, len(l.oracle.preds))
	for _, p := range l.jobs {
		var through func(s *Node)
		through = func(s *Node) {
			if s.join {
				s.Successors(through)
			} else {
				edges[jobOf(s).id].add(p.id)
			}
		}
		p.Successors(through)
	}
	return edges
}

// told returns the predecessors of every node as the tracker reported them.
func (l *lab) told() []set {
	edges := make([]set, len(l.oracle.preds))
	for succ, id := range l.numbers {
		var through func(pred uint64)
		through = func(pred uint64) {
			if p, ok := l.numbers[pred]; ok {
				edges[id].add(p)
				return
			}
			for _, q := range l.edges[pred] { // predecessors of a join node
				through(q)
			}
		}
		for _, p := range l.edges[succ] {
			through(p)
		}
	}
	return edges
}
