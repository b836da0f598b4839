package osthread

import (
	"container/heap"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
)

// A simulated machine runs threads as coroutines in virtual time. Exactly one runs at a time,
// until it parks, sleeps, waits or ends; the next one is the thread with the least time, and
// the seed decides between equal times. Time passes in sleeps, timeouts and Relax, and where
// computing is charged (see Charge). So two runs with the same seed are the same, unless the
// clock of the host is charged (Simulation.Speed).
//
// States of a thread:
//
//	queued   in the heap: it goes on at its time
//	paying   in the heap, until the time that it owes is over
//	blocked  in sleepers, under the address that it sleeps on; in the heap as well if its wait
//	         has a timeout
//	running  the current one
//	ended
//
// The machine belongs to the goroutine in Simulate and to the running coroutine, which take
// turns. Goroutines outside may only wake threads: they leave the address in the mail, which is
// read before each turn. A mutex of the program must not be held in a sleep or wait, because
// the thread that wants it would stop all.
//
// Rejected: a goroutine per thread that hands over by channel (0.45 us, a coroutine 0.1), and
// a clock per thread (a lock-free word could be read from the future).
type machine struct {
	now      int64
	queue    threadHeap
	sleepers map[unsafe.Pointer][]*thread
	current  *thread
	inside   atomic.Uintptr // goroutine of current; 0 between turns
	live     int
	made     int
	enqueued uint64
	random   uint64
	seeded   bool
	turns    int
	beats    atomic.Uint64 // turns, for the watch of the host
	payers   int           // threads that pay
	working  int           // those that pay for work
	computed int64         // time that they have paid, together
	moved    int64         // time of the last move, see checkIdle
	idle     int           // turns since then
	spins    bool          // the thread that is being woken spins on the real machine

	o        Simulation
	nodes    []*node
	measured int64 // CPU time of this thread up to which computing has been charged

	mu   sync.Mutex
	mail []unsafe.Pointer // guarded by mu: addresses to wake, from goroutines outside
}

// thread is a coroutine.
type thread struct {
	number int
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	g      uintptr
	at     int64  // when it goes on, or the end of its timeout
	tie    uint64 // decides among equal times, and order among equal ties
	order  uint64
	index  int            // in the heap; -1: not there
	on     unsafe.Pointer // the address that it sleeps on; nil: none
	woken  bool           // the last sleep ended by a wake, not by its timeout
	since  int64          // beginning of the last sleep
	owed   int64          // computed and not paid, see Charge
	pays   bool           // in settle
	timer  bool           // of a Timer
	node   *node          // nil: none
	core   int            // that it is confined to; -1: none
	nice   int

	computes *core // that t pays for now; nil: none
}

// Simulation has the settings of a simulated machine.
type Simulation struct {
	Seed uint64 // of the order of threads with the same time; 0: the order in which they came
	// Interrupt lets other threads go on at the points that Step marks, as the seed says. It takes
	// time that nobody charged.
	Interrupt bool
	Nodes     int // computers; 0: one with the cores of this one, never too few
	Cores     int // of each node
	// Speeds are the speeds of the cores, node by node, and from the first one again if there are
	// fewer: what is charged there takes its time divided by the speed. nil: all 1.
	Speeds []float64
	// Limit is a virtual time that the simulation does not reach: then it ends with an error.
	// 0: none.
	Limit time.Duration
	// Noise takes the core of each thread that computes for Length, once in every Every, as the
	// system and other programs do. The cores take turns with it. 0: none.
	Noise struct{ Every, Length time.Duration }
	// Waker is the cost of waking a thread that has slept for longer than threads spin, and
	// Sleeper the delay of that thread.
	Waker, Sleeper time.Duration
	// Switch is what a core loses when a thread that has slept goes on there after another one, and
	// when the one that it has interrupted goes on.
	Switch time.Duration
	// Copy is the rate at which threads copy what messages carry, in 1e9 bytes per second, where
	// nothing is copied really (ChargeCopy). 0: it takes no time of theirs.
	Copy float64
	// Spawn is the cost of spawning a task, and Task of starting and ending it, if Speed does not
	// count it.
	Spawn, Task time.Duration
	// Body returns how long the body of a task takes, beside what is charged in it. Any thread of
	// the machine. nil: no longer.
	Body  func(label string, cost time.Duration) time.Duration
	Speed float64 // computing takes its time on this machine multiplied by Speed; 0: only what is charged
}

// Simulated says how a simulation went.
type Simulated struct {
	Elapsed time.Duration // virtual time
	Turns   int           // how often a thread went on
}

// relaxCost is the virtual time of Relax: a loop that polls lets time pass.
const relaxCost = 100 * time.Nanosecond

const never = int64(1<<63 - 1)

// simulated is the machine of the process; nil: the real one.
var simulated atomic.Pointer[machine]

// Simulate runs main as the first thread of a simulated machine, and returns when all threads
// have ended. Threads, parkers, sleeps, waits, timers and the clock of this package act on the
// simulated machine when its threads use them, and on the real machine elsewhere. Nothing is
// pinned. If no thread can go on, it returns an error at once, or, if only timeouts end and time
// passes, after ten minutes of virtual time; the threads that wait stay suspended. If a thread holds the machine for 10 s of the host's time, it prints that thread's
// stack: it may wait for something outside, such as a channel. A panic of a thread, or the end
// of its goroutine (Goexit), ends the caller's as well. One simulation at a time runs in a
// process: another one waits.
func Simulate(o Simulation, main func()) (Simulated, error) {
	oneMachine.Lock()
	defer oneMachine.Unlock()
	m := &machine{sleepers: map[unsafe.Pointer][]*thread{}, random: o.Seed, seeded: o.Seed != 0, o: o, nodes: nodes(o)}
	if o.Speed > 0 { // its clock is a thread's
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	simulated.Store(m)
	defer simulated.Store(nil)
	m.start(main)
	defer m.watchHost()()
	err := m.run()
	return Simulated{Elapsed: time.Duration(m.now), Turns: m.turns}, err
}

var oneMachine sync.Mutex

// here returns the machine if the calling goroutine is its running thread.
func here() *machine {
	m := simulated.Load()
	if m == nil || m.inside.Load() != G() {
		return nil
	}
	return m
}

// start makes a thread, which begins now, on the node of the running one.
func (m *machine) start(f func()) *thread {
	t := &thread{number: m.made, index: -1, core: -1}
	at := m.now
	if m.current != nil {
		t.node, at = m.current.node, at+m.current.owed
	}
	m.made++
	m.live++
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.g, t.yield = G(), yield
		m.inside.Store(t.g)
		f()
		m.settle()
	})
	m.enqueue(t, at)
	return t
}

// run gives turns to threads until all have ended.
func (m *machine) run() error {
	for m.live > 0 {
		m.readMail()
		if len(m.queue) == 0 {
			return m.stuck("a deadlock")
		}
		if m.o.Limit > 0 && m.queue[0].at > int64(m.o.Limit) {
			return m.stuck(fmt.Sprintf("the limit of %v is reached", m.o.Limit))
		}
		t := heap.Pop(&m.queue).(*thread)
		if passed := t.at - m.now; passed > 0 {
			m.now = t.at
			m.computed += passed * int64(m.payers)
		}
		timeout := t.on != nil && !t.pays
		if timeout {
			m.leave(t)
		}
		if !t.pays {
			if err := m.checkIdle(timeout || t.timer); err != nil {
				return err
			}
		}
		m.current = t
		m.turns++
		m.beats.Store(uint64(m.turns))
		m.inside.Store(t.g)
		if m.o.Speed > 0 {
			m.measured = int64(threadCPUTime())
		}
		_, more := t.resume()
		m.inside.Store(0)
		m.current = nil
		if !more {
			m.live--
		}
	}
	return nil
}

// A program that waits for ever does not stop a machine by itself, because watchdogs and threads
// that poll have timeouts. So the machine ends if for long all turns are ends of timeouts, or turns
// of Timers, and none leads to anything: no thread wakes another one, works or sleeps. Work is a
// body, or computing for a while; what the clock of the host says of a poll is less.
const (
	idleTime  = 10 * time.Minute // messages take less; watchdogs report several times in it
	idleTurns = 64               // a single long timeout may be meant
	work      = int64(time.Millisecond)
)

// move notes that a thread does something.
func (m *machine) move() { m.moved, m.idle = m.now, 0 }

// checkIdle counts a turn, and returns an error if nothing has moved for long.
func (m *machine) checkIdle(timeout bool) error {
	if m.idle++; !timeout || m.working > 0 {
		m.move()
	}
	if m.idle < idleTurns || m.now-m.moved < int64(idleTime) {
		return nil
	}
	return m.stuck(fmt.Sprintf("nothing has moved for %v (a wait ends only by threads of the machine, not by other goroutines)", time.Duration(m.now-m.moved)))
}

// stuck describes the threads that wait.
func (m *machine) stuck(why string) error {
	var waiting []string
	for _, all := range m.sleepers {
		for _, t := range all {
			waiting = append(waiting, fmt.Sprint(t.number))
		}
	}
	slices.Sort(waiting)
	const most = 16
	if n := len(waiting); n > most {
		waiting = append(waiting[:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Errorf("osthread: %s at %v of virtual time: %d threads wait (%s)", why, time.Duration(m.now), m.live, strings.Join(waiting, ", "))
}

// enqueue lets t go on at a time.
func (m *machine) enqueue(t *thread, at int64) {
	m.enqueued++
	t.at, t.tie, t.order = at, m.tie(), m.enqueued
	if t.index >= 0 {
		heap.Fix(&m.queue, t.index)
	} else {
		heap.Push(&m.queue, t)
	}
}

// tie returns the next number of the seed (SplitMix64), or 0 without one.
func (m *machine) tie() uint64 {
	if !m.seeded {
		return 0
	}
	m.random += 0x9e3779b97f4a7c15
	z := m.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// pass lets d of virtual time pass for the running thread.
func (m *machine) pass(d time.Duration) {
	m.settle()
	t := m.current
	m.enqueue(t, m.now+int64(d))
	m.turn(t)
}

// sleep suspends the running thread until a wake of the address on, for at most d if that is
// not negative; it reports whether there was one.
func (m *machine) sleep(on unsafe.Pointer, d time.Duration) bool {
	t := m.current
	t.on, t.woken = on, false
	m.sleepers[on] = append(m.sleepers[on], t)
	m.settle()
	if t.woken {
		return true
	}
	t.since = m.now
	if d >= 0 {
		m.enqueue(t, m.now+min(int64(d), never-m.now))
	}
	m.turn(t)
	m.occupy(t)
	return t.woken
}

// turn gives the machine to the next thread, and returns when t goes on, perhaps inside its
// own coroutine.
func (m *machine) turn(t *thread) {
	inside := m.inside.Load()
	t.yield(struct{}{})
	m.inside.Store(inside)
}

// Pull is iter.Pull for a coroutine that belongs to the calling thread: it resumes f, which
// suspends itself by yield. f may park, sleep and wait; its thread does then.
func Pull(f func(yield func(struct{}) bool)) (resume func() (struct{}, bool)) {
	m := here()
	if m == nil {
		resume, _ = iter.Pull(f)
		return resume
	}
	g := uintptr(0)
	next, _ := iter.Pull(func(yield func(struct{}) bool) {
		g = G()
		m.inside.Store(g)
		f(yield)
	})
	return func() (struct{}, bool) {
		outer := m.inside.Load()
		defer m.inside.Store(outer)
		m.inside.Store(g)
		return next()
	}
}

// Step is a point of a protocol: in invariant builds (package invariant) another thread of a
// simulated machine with Interrupt may go on there, as the seed says: for up to some microseconds,
// and rarely for up to two milliseconds, as if the core were stalled. The caller holds no mutex.
// In other builds it is nothing.
func Step() {
	if invariant.Enabled {
		step()
	}
}

func step() {
	const (
		one, longest = 4, 4096       // of 4 steps; ns
		rare, stall  = 1024, 2 << 20 // of 1024 steps; ns
	)
	m := here()
	if m == nil || !m.o.Interrupt {
		return
	}
	switch z := m.tie(); {
	case z%one == 0:
		m.pass(time.Duration(z / one % longest))
	case z%rare == 1:
		m.pass(time.Duration(z / rare % stall))
	}
}

// wake lets all threads go on that sleep on an address.
func (m *machine) wake(on unsafe.Pointer) {
	for _, t := range m.sleepers[on] {
		if !t.timer {
			m.move()
		}
		t.on, t.woken = nil, true
		if !t.pays {
			m.enqueue(t, m.now+m.wakeUp(t))
		}
	}
	delete(m.sleepers, on)
}

// leave ends the sleep of t by its timeout.
func (m *machine) leave(t *thread) {
	rest := slices.DeleteFunc(m.sleepers[t.on], func(o *thread) bool { return o == t })
	if len(rest) == 0 {
		delete(m.sleepers, t.on)
	} else {
		m.sleepers[t.on] = rest
	}
	t.on = nil
}

// wakeFrom is wake for any goroutine.
func (m *machine) wakeFrom(on unsafe.Pointer) {
	if m.inside.Load() == G() {
		m.wake(on)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mail = append(m.mail, on)
}

func (m *machine) readMail() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, on := range m.mail {
		m.wake(on)
	}
	m.mail = m.mail[:0]
}

// threadHeap orders threads by time, tie and order.
type threadHeap []*thread

func (h threadHeap) Len() int { return len(h) }

func (h threadHeap) Less(i, j int) bool {
	switch a, b := h[i], h[j]; {
	case a.at != b.at:
		return a.at < b.at
	case a.tie != b.tie:
		return a.tie < b.tie
	default:
		return a.order < b.order
	}
}

func (h threadHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *threadHeap) Push(x any) {
	t := x.(*thread)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *threadHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last], t.index = nil, -1
	*h = (*h)[:last]
	return t
}
