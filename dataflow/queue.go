package dataflow

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/task"
)

// Terms:
//
//	worker            a goroutine locked to a thread, pinned to a core, that runs tasks.
//	                  Worker 0 is the goroutine that made the runtime: it spawns, and runs
//	                  tasks inside Spawn (above the window), Wait, WaitOn and Close
//	                  (OpenMP: thread of the team; StarPU: CPU worker)
//	spare             a worker on the core of one that is inside Block (OmpSs-2: the
//	                  blocking API's substitute thread)
//	external          a record-keeping worker for goroutines that end held events
//	window            the number of unfinished tasks of the main program, or of children of
//	                  one task, at which Spawn begins to run some (throttling)
//	successor         a task that became ready because this worker ended another; the first
//	                  one runs next on the same worker, with its data in cache (immediate
//	                  successor)
//	submission queue  tasks of the main program that were ready when spawned, in order
//	executor          the communication thread, seen from here (internal/executor)
//	lease             the right to call the executor's engine, which workers may borrow
//
// The queues, in the order in which a worker looks:
//
//	next              its successor                          own, no synchronization
//	priorities        ready tasks with a priority above 0    all workers, a mutex
//	mail              tasks bound to it (OnWorker)           others put, a mutex
//	inject            tasks made ready by other goroutines   a mutex
//	dq                its own ready tasks, youngest first    Chase-Lev deque
//	submission queue  oldest first, several at once          one producer, CAS
//	others' dq        oldest first                           CAS
//	priorities        tasks with a negative priority
//
// A task with a higher priority than next goes before it, so a priority takes effect
// everywhere within the length of the running bodies.
//
// The tracker, the records and the domain of the main program belong to worker 0; the
// domain of a task's children belongs to the worker that runs its body. A record returns to
// its allocator in a chain of 32 (package internal/task).

// cacheLine separates words that different threads write: two lines of 64 bytes, because the
// adjacent-line prefetcher of amd64 fetches pairs.
const cacheLine = 128

// deque is the queue of one worker (Chase and Lev, SPAA 2005, with sequentially consistent
// indices): the owner pushes and pops at the bottom, last in first out, and others steal
// from the top, first in first out.
type deque struct {
	bottom atomic.Int64 // written by the owner
	_      [cacheLine - 8]byte
	top    atomic.Int64 // moved by CAS: by thieves, and by the owner for the last element
	_      [cacheLine - 8]byte
	ring   atomic.Pointer[ring] // replaced by the owner when full
}

type ring struct {
	mask int64
	slot []slot
}

func newRing(n int64) *ring { return &ring{mask: n - 1, slot: make([]slot, n)} }

// slot is a place in a queue. The index that its writer stores afterwards publishes it. A
// late thief may read it while it is being written for another turn; it then discards the
// value because the index has moved. So the write may be plain (an atomic one costs as much
// as the index), except under the race detector, which cannot know this.
type slot struct{ r unsafe.Pointer }

func (s *slot) set(r *task.Record) {
	if invariant.Race {
		atomic.StorePointer(&s.r, unsafe.Pointer(r))
	} else {
		s.r = unsafe.Pointer(r)
	}
}

func (s *slot) get() *task.Record { return (*task.Record)(atomic.LoadPointer(&s.r)) }

func (q *deque) init(n int64) { q.ring.Store(newRing(n)) }

// push adds r at the bottom. Owner only.
func (q *deque) push(r *task.Record) {
	b, g := q.bottom.Load(), q.ring.Load()
	if b-q.top.Load() > g.mask {
		g = q.grow(g, b)
	}
	g.slot[b&g.mask].set(r)
	q.bottom.Store(b + 1)
}

func (q *deque) grow(old *ring, b int64) *ring {
	g := newRing(2 * (old.mask + 1))
	for i := q.top.Load(); i < b; i++ {
		g.slot[i&g.mask].set(old.slot[i&old.mask].get())
	}
	q.ring.Store(g)
	return g
}

// pop takes the youngest element, or returns nil. Owner only.
func (q *deque) pop() *task.Record {
	b := q.bottom.Load()
	if q.top.Load() >= b {
		return nil
	}
	b--
	q.bottom.Store(b)
	t := q.top.Load()
	if t > b {
		q.bottom.Store(b + 1)
		return nil
	}
	g := q.ring.Load()
	r := g.slot[b&g.mask].get()
	if t == b {
		if !q.top.CompareAndSwap(t, t+1) {
			r = nil
		}
		q.bottom.Store(b + 1)
	}
	return r
}

// steal takes the oldest element, or returns nil if there is none or another thief was
// faster. Any goroutine.
func (q *deque) steal() *task.Record {
	t := q.top.Load()
	if t >= q.bottom.Load() {
		return nil
	}
	g := q.ring.Load()
	r := g.slot[t&g.mask].get()
	if !q.top.CompareAndSwap(t, t+1) {
		return nil
	}
	return r
}

func (q *deque) empty() bool { return q.top.Load() >= q.bottom.Load() }

// submissionQueue holds the tasks of the main program that were ready when they were
// spawned, in that order. One producer; consumers take several at once, so that a worker
// fed by the submitter alone seldom touches its cache lines.
type submissionQueue struct {
	tail atomic.Int64 // written by the producer
	_    [cacheLine - 8]byte
	head atomic.Int64 // moved by CAS
	_    [cacheLine - 8]byte
	ring atomic.Pointer[submissionRing] // from the first task on
}

type submissionRing [submissionSize]slot

// submissionRings keeps rings of closed runtimes for reuse: 32 KiB each.
var submissionRings = sync.Pool{New: func() any { return new(submissionRing) }}

const (
	submissionSize  = 1 << (12 - 10*invariant.Tiny)
	submissionBatch = 16 - 14*invariant.Tiny
	firstDeque      = 256 - 254*invariant.Tiny
)

// put adds r and reports whether there was room. Producer only.
func (q *submissionQueue) put(r *task.Record) bool {
	t := q.tail.Load()
	if t-q.head.Load() >= submissionSize {
		return false
	}
	g := q.ring.Load()
	if g == nil {
		g = submissionRings.Get().(*submissionRing)
		q.ring.Store(g)
	}
	g[t%submissionSize].set(r)
	q.tail.Store(t + 1)
	return true
}

// free returns the ring. Producer only, after the last take.
func (q *submissionQueue) free() {
	if g := q.ring.Swap(nil); g != nil {
		clear(g[:min(q.tail.Load(), submissionSize)])
		submissionRings.Put(g)
	}
}

// take moves the oldest elements to out, at most a share of 1/parts, and returns their
// number. Any goroutine.
func (q *submissionQueue) take(out *[submissionBatch]*task.Record, parts int64) int64 {
	for {
		h := q.head.Load()
		n := q.tail.Load() - h
		if n <= 0 {
			return 0
		}
		n = min(max(n/parts, 1), submissionBatch)
		g := q.ring.Load()
		for i := range n {
			out[i] = g[(h+i)%submissionSize].get()
		}
		if q.head.CompareAndSwap(h, h+n) {
			return n
		}
	}
}

// takeOne returns the oldest element or nil. Any goroutine.
func (q *submissionQueue) takeOne() *task.Record {
	for {
		h := q.head.Load()
		if q.tail.Load() <= h {
			return nil
		}
		r := q.ring.Load()[h%submissionSize].get()
		if q.head.CompareAndSwap(h, h+1) {
			return r
		}
	}
}

func (q *submissionQueue) empty() bool { return q.head.Load() >= q.tail.Load() }

// priorities holds the ready tasks whose priority is not 0, for all workers: LU needs its
// panel before any update anywhere (dplasma issue 31). A worker looking for work reads top
// first.
type priorities struct {
	top  atomic.Int64 // priority of the first task, noPriority if empty
	_    [cacheLine - 8]byte
	mu   sync.Mutex
	heap []*task.Record // guarded by mu: highest priority first, then oldest
}

const noPriority = math.MinInt64

func before(a, b *task.Record) bool {
	return a.Prio > b.Prio || a.Prio == b.Prio && a.Seq() < b.Seq()
}

func (q *priorities) push(r *task.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.heap = append(q.heap, r)
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !before(q.heap[i], q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
	q.top.Store(int64(q.heap[0].Prio))
}

// popAbove takes the first task if its priority is higher than p.
func (q *priorities) popAbove(p int64) *task.Record {
	return q.popIf(p, func(*task.Record) bool { return true })
}

// popOf takes the first task if it belongs to domain d.
func (q *priorities) popOf(d *task.Domain) *task.Record {
	return q.popIf(noPriority, func(r *task.Record) bool { return r.Domain == d })
}

// popIf takes the first task if its priority is higher than p and wanted accepts it.
func (q *priorities) popIf(p int64, wanted func(*task.Record) bool) *task.Record {
	if q.top.Load() <= p {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.heap) == 0 || int64(q.heap[0].Prio) <= p || !wanted(q.heap[0]) {
		return nil
	}
	r := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0], q.heap[last] = q.heap[last], nil
	q.heap = q.heap[:last]
	q.sift()
	if last == 0 {
		q.top.Store(noPriority)
	} else {
		q.top.Store(int64(q.heap[0].Prio))
	}
	return r
}

func (q *priorities) sift() {
	for i, n := 0, len(q.heap); ; {
		c := 2*i + 1
		if c >= n {
			return
		}
		if c+1 < n && before(q.heap[c+1], q.heap[c]) {
			c++
		}
		if !before(q.heap[c], q.heap[i]) {
			return
		}
		q.heap[i], q.heap[c] = q.heap[c], q.heap[i]
		i = c
	}
}

// mailbox is a queue for the rare ways into a worker: tasks bound to it, and tasks made
// ready by goroutines that are not workers.
type mailbox struct {
	n     atomic.Int32
	mu    sync.Mutex
	first *deps.Node // guarded by mu
	last  *deps.Node
}

func (q *mailbox) put(r *task.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.SetNext(nil)
	if q.first == nil {
		q.first = &r.Node
	} else {
		q.last.SetNext(&r.Node)
	}
	q.last = &r.Node
	q.n.Add(1)
}

func (q *mailbox) take() *task.Record {
	if q.n.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.first
	if n == nil {
		return nil
	}
	q.first = n.Next()
	q.n.Add(-1)
	return task.FromNode(n)
}
