package deps

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// memory holds the data of the test tasks: the bytes of the arena, a word each, and a word
// for each of the handles 0 to 2.
type memory [67]uint64

// cells returns the words of a shape.
func (s shape) cells(f func(i int)) {
	if s.IsHandle() {
		f(64 + int(s.Base()))
		return
	}
	for b := s.bytes; b != 0; b &= b - 1 {
		f(bits.TrailingZeros64(b))
	}
}

func mix(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return a ^ a>>29
}

// perform is the body of a task. Its results depend on the order of everything that must be
// ordered, and on nothing else. A reduction goes to private, one copy per access.
func (m *memory) perform(id int, task []access, private []*memory) uint64 {
	h := uint64(id + 1)
	for k, a := range task {
		a.cells(func(i int) {
			switch a.mode {
			case In:
				h = mix(h, m[i])
			case Out:
				m[i] = mix(h, uint64(i))
			case Inout:
				m[i] = mix(m[i], h)
			case Concurrent:
				atomic.AddUint64(&m[i], h|1)
			case Commutative:
				m[i] += h
			case Reduction:
				private[k][i] += mix(h, uint64(i))
			}
		})
	}
	return h
}

// combine adds the private copies of a reduction to s, in their order.
func (m *memory) combine(s shape, copies []*memory) {
	for _, c := range copies {
		s.cells(func(i int) { m[i] = mix(m[i], c[i]) })
	}
}

// A step is a task or a combine node of a program, as the oracle expands it.
type step struct {
	id      int // in the oracle
	task    int // in the program; -1 for a combine node
	of      Region
	members []int // tasks, in the order of submission
}

// expand lists the steps of a program in serial order.
func expand(p program) (o *oracle, steps []step) {
	o = &oracle{}
	members := map[Region][]int{}
	combine := func(r Region) {
		red, _ := o.combine(r)
		id := o.begin()
		o.access(id, access{shape: red.shape, mode: Inout})
		o.commit(id)
		steps = append(steps, step{id, -1, r, members[r]})
		delete(members, r)
	}
	for i, task := range p {
		id := o.begin()
		for _, a := range task {
			for k := len(o.open) - 1; k >= 0; k-- {
				if o.open[k].closes(a) {
					combine(o.open[k].Region)
				}
			}
			o.access(id, a)
			if a.mode == Reduction {
				members[a.Region] = append(members[a.Region], i)
			}
		}
		o.commit(id)
		steps = append(steps, step{id, i, Region{}, nil})
	}
	for len(o.open) > 0 {
		combine(o.open[len(o.open)-1].Region)
	}
	return o, steps
}

// outcome is the result of a program.
type outcome struct {
	memory memory
	result []uint64 // by task; 0 if it was skipped
}

// copiesFor makes the private copies of a task.
func copiesFor(task []access) []*memory {
	c := make([]*memory, len(task))
	for k, a := range task {
		if a.mode == Reduction {
			c[k] = new(memory)
		}
	}
	return c
}

// serial runs a program task by task. A task that fails selects does its work and then
// fails.
func serial(p program, fails func(task int) bool) *outcome {
	o, steps := expand(p)
	out := &outcome{result: make([]uint64, len(p))}
	copies := make([][]*memory, len(p))
	var bad set
	for _, s := range steps {
		for q := range o.preds {
			if o.preds[s.id].has(q) && bad.has(q) {
				bad.add(s.id)
			}
		}
		switch {
		case bad.has(s.id):
		case s.task >= 0:
			copies[s.task] = copiesFor(p[s.task])
			out.result[s.task] = out.memory.perform(s.task, p[s.task], copies[s.task])
			if fails(s.task) {
				bad.add(s.id)
			}
		default:
			for _, t := range s.members {
				for k, a := range p[t] {
					if a.mode == Reduction && a.Region == s.of {
						out.memory.combine(a.shape, []*memory{copies[t][k]})
					}
				}
			}
		}
	}
	return out
}

// An actor is a task record of the concurrent tests.
type actor struct {
	Node    // first: actorOf relies on it
	id      int
	task    []access
	private []*memory
	whole   *shape // of a combine node
	copies  []*memory
	locks   []*Lock
}

func actorOf(n *Node) *actor { return (*actor)(unsafe.Pointer(n)) }

// A stage runs programs on goroutines. The goroutine of the test submits; it and the
// workers run ready tasks.
type stage struct {
	outcome
	tracker Tracker
	shapes  map[Region]shape
	fails   func(task int) bool
	seq     uint64
	lockIDs uint64

	tamper func(a *actor, edges int32) int32 // if not nil, called before Commit
	all    []*actor                          // while tamper is set

	ready   chan *actor
	free    chan *actor // ended, back to the submitter
	failed  chan *actor // the same, to be forgiven first
	pending sync.WaitGroup
}

func newStage(workers int) *stage {
	s := &stage{ready: make(chan *actor, 4096), free: make(chan *actor, 4096), failed: make(chan *actor, 4096)}
	s.tracker.Configure(s.next, s.combineEntry, nil)
	for range workers {
		go func() {
			for a := range s.ready {
				s.run(a)
			}
		}()
	}
	return s
}

func (s *stage) next() uint64 {
	s.seq++
	return s.seq
}

func (s *stage) actor() *actor {
	var a *actor
	select {
	case a = <-s.free:
	default:
		a = new(actor)
	}
	a.task, a.private, a.whole, a.copies = nil, nil, nil, nil
	a.locks = a.locks[:0]
	s.pending.Add(1)
	s.tracker.Begin(&a.Node, s.next())
	return a
}

func (s *stage) submit(id int, task []access) {
	a := s.actor()
	a.id, a.task, a.private = id, task, copiesFor(task)
	var edges int32
	for k, c := range task {
		var op any
		if c.mode == Reduction {
			op = c.op
		}
		e, entry, err := s.tracker.Access(&a.Node, c.Region, c.mode, op)
		if err != nil {
			panic(err)
		}
		edges += e
		switch c.mode {
		case Reduction:
			list, _ := entry.Acc.([]*memory)
			entry.Acc = append(list, a.private[k])
		case Commutative:
			a.lock(s, entry)
		}
	}
	s.commit(a, edges)
}

func (s *stage) commit(a *actor, edges int32) {
	if s.tamper != nil {
		s.all = append(s.all, a)
		edges = s.tamper(a, edges)
	}
	if a.Commit(edges) {
		s.start(a)
	}
}

// lock adds the lock of an entry to the locks of a, in order.
func (a *actor) lock(s *stage, e *Entry) {
	if e.Lock == nil {
		s.lockIDs++
		e.Lock = &Lock{ID: s.lockIDs}
	}
	i, found := slices.BinarySearchFunc(a.locks, e.Lock.ID, func(l *Lock, id uint64) int { return int(l.ID) - int(id) })
	if !found {
		a.locks = slices.Insert(a.locks, i, e.Lock)
	}
}

func (s *stage) combineEntry(e *Entry) {
	a := s.actor()
	whole := s.shapes[e.Region()]
	a.id, a.whole = -1, &whole
	a.copies, _ = e.Acc.([]*memory)
	e.Acc = nil
	edges, _, err := s.tracker.Access(&a.Node, e.Region(), Inout, nil)
	if err != nil {
		panic(err)
	}
	s.commit(a, edges)
}

// start hands a ready node to the workers once it has its locks.
func (s *stage) start(a *actor) {
	if s.acquire(a) {
		s.ready <- a
	}
}

// acquire takes all locks of a, or none, and reports which. If none, the lock that a waits
// for owns it.
func (s *stage) acquire(a *actor) bool {
	for {
		i := 0
		for i < len(a.locks) && a.locks[i].TryAcquire(&a.Node) {
			i++
		}
		if i == len(a.locks) {
			return true
		}
		busy := a.locks[i]
		for _, l := range a.locks {
			if l != busy {
				s.again(l.Offer(&a.Node))
			}
		}
		if busy.Await(Waiter{Node: &a.Node, Urgency: int32(a.id % 3)}) {
			return false
		}
	}
}

func (s *stage) again(n *Node) {
	for n != nil {
		b := actorOf(n)
		n = n.Next()
		s.start(b)
	}
}

// run executes a ready node and then directly the first successor that became ready.
func (s *stage) run(a *actor) {
	for a != nil {
		failed := a.Poisoned()
		switch {
		case failed:
		case a.whole != nil:
			s.memory.combine(*a.whole, a.copies)
		default:
			s.result[a.id] = s.memory.perform(a.id, a.task, a.private)
			failed = s.fails(a.id)
		}
		for _, l := range a.locks {
			s.again(l.Offer(&a.Node))
		}
		var next *actor
		for n := a.Release(failed); n != nil; {
			b := actorOf(n)
			n = n.Next()
			switch {
			case !s.acquire(b):
			case next == nil:
				next = b
			default:
				s.ready <- b
			}
		}
		if failed {
			s.failed <- a
		} else {
			s.free <- a
		}
		s.pending.Done()
		a = next
	}
}

// play runs a program and waits for its end.
func (s *stage) play(p program, fails func(int) bool, yield func()) *outcome {
	s.prepare(p, fails)
	for i, task := range p {
		s.submit(i, task)
		yield()
	}
	s.tracker.CloseReductions(Region{})
	s.pending.Wait()
	out := s.outcome
	return &out
}

// playAlone submits a whole program and then runs it in random order, on one goroutine: the
// stage has no workers.
func (s *stage) playAlone(p program, rng *rand.Rand) *outcome {
	s.prepare(p, func(int) bool { return false })
	for i, task := range p {
		s.submit(i, task)
	}
	s.tracker.CloseReductions(Region{})
	for len(s.ready) > 0 {
		for range rng.IntN(len(s.ready)) {
			s.ready <- <-s.ready
		}
		s.run(<-s.ready)
	}
	out := s.outcome
	return &out
}

func (s *stage) prepare(p program, fails func(int) bool) {
	s.shapes = map[Region]shape{}
	s.memory, s.result, s.fails = memory{}, make([]uint64, len(p)), fails
	for _, task := range p {
		for _, a := range task {
			s.shapes[a.Region] = a.shape
		}
	}
}

// forgive forgets the failures; everything has ended.
func (s *stage) forgive() {
	s.tracker.Forgive()
	for len(s.failed) > 0 {
		a := <-s.failed
		a.Forgive()
		s.free <- a
	}
}

// Goroutines run and release tasks while the submitter goes on. At the end the memory must
// be as after a serial run, and every task must have read the same. The race detector sees
// the memory: only the tracker orders two tasks (and accidental synchronization of the
// goroutines).
func TestConcurrentRunEqualsSerialRun(t *testing.T) {
	s := newStage(3)
	defer close(s.ready)
	rounds(t, 2000*raceFactor, func(rng *rand.Rand) {
		k := randomTaste(rng)
		k.tasks, k.regions, k.mixed = 8+rng.IntN(72), 2+rng.IntN(16), false
		s.tracker.eager = rng.IntN(2) == 0
		p := randomProgram(rng, k)
		fails := func(int) bool { return false }
		if rng.IntN(4) == 0 {
			salt := rng.Uint64()
			fails = func(task int) bool { return mix(salt, uint64(task))%23 == 0 }
		}
		want := serial(p, fails)
		spin := rng.IntN(200)
		got := s.play(p, fails, func() {
			for range spin {
				s.next()
			}
		})
		require.Equal(t, want.result, got.result, "what the tasks read%v", p)
		require.Equal(t, want.memory, got.memory, "memory%v", p)
		s.forgive()
		if rng.IntN(4) == 0 {
			s.tracker.Reset()
		}
	})
}
