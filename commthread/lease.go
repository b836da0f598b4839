package commthread

import (
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// The lease. One word names the holder of the engine, and three more belong to it:
//
//	own            the thread's: it is awake, or has been woken
//	free           nobody's: the thread sleeps or is about to
//	called         nobody's: the thread has been woken, but a worker may be faster
//	lent           a worker's: the thread sleeps or is about to
//	wakeRequested  work has been queued, or a message has arrived
//	asker          the worker that waits for the engine, if any
//	until          the time at which the thread, if it sleeps, wakes up by itself
//
// The thread                            A goroutine that queues work
//
//	T1  a step; if a worker asks: T5       P1  put it into a list, wakeRequested = true
//	T2  nothing to do: until = ...;        P2  if the word is free: free -> called,
//	    own -> free                            and wake the thread
//	T3  if wakeRequested, or a worker
//	    asks: nobody's -> own, T1        A body on a worker
//	T4  sleep until woken, or until;
//	    own, or nobody's -> own: T1;       A1  asker = itself
//	    lent: until = later, check         A2  nobody's -> lent: asker = none, it has it
//	    the word once more, T4             A3  else sleep until it is granted
//	T5  asker = none, own -> lent,
//	    grant, T4                        A worker that returns the engine
//
//	A worker without tasks                 R1  the thread is needed: lent -> own, wake it
//	                                       R2  a worker asks: asker = none, grant
//	W1  nobody's -> lent                   R3  lent -> free; if a worker asks:
//	W2  turns, until it finds a task,          nobody's -> lent, R2
//	    is asked, or has nothing to        R4  if wakeRequested, or until is too late for
//	    wait for: R1                           the pending calls: P2
//
// Nobody's is free or called. All are sequentially consistent. The arrows are
// compare-and-swaps, except where the word is own or lent before, which only the holder
// leaves (and T4 sees own come). So there is one user of the engine. A thread that has been
// woken may wait for milliseconds behind another one on its core, so a worker does not wait
// for it: if a worker takes the engine first, the thread finds the word lent, or free again,
// when it comes (T4).
//
// No work is left behind. Take a P1. If P2 sees free, the thread is woken, by this P2 or by
// a faster one, or a worker has taken the engine. If P2 sees own, the thread has yet to take
// T2, and T3 comes after P1. If it sees called, the thread, or a worker before it, has yet
// to take the engine, and checks after that. If it sees lent, the worker has yet to take R1
// or R3, and R4 comes after P1 (after R1 the thread checks). An arrival may leave out P2
// after P1 if until is near (between.go): if the thread sleeps at that until, it checks when
// it wakes up; if it has been awake since, T3 or R4 came after P1, too. No worker asks
// forever: after A1, A2 sees own or lent, and the holder then has yet to check for an asker
// (T5, T3, R2, R3). Pending calls are polled: at R4, either the thread's until is early
// enough, or it is woken; if it moves its until meanwhile, it checks the word after that
// (T4), and R4 checks until after the word was freed. No deadlock: the holder waits for no
// goroutine, except in R1, where a body passes the engine to the thread and asks for it
// again, and the thread serves the asker after every step. TestLease_protocol_exhaustively
// visits all interleavings, and finds each of these checks missing if it is left out.
//
// A coroutine lives and dies with its thread. So a worker does not start or resume one: the
// thread is needed then, and stays so until it has had the engine. A waiting body on a
// worker is a loop of turns; a body that waits for the runtime (children, Block) returns
// the engine meanwhile. The workers get one body at a time, so that no other worker waits
// for it to end. A worker that has ended a task makes the calls that are due, if the engine is
// free (Serve, between.go), and so does the submitting goroutine with calls of its own (post, forward.go):
// P1, then W1 or P2. Before the thread sleeps with pending calls, it wakes a sleeping
// worker, which has its own core and polls in place of the thread.
//
// The thread has no core of its own, so a worker without tasks that finds the engine in its hands (own)
// lets it have the worker's core (giveWay). A worker with tasks is interrupted when the thread wakes up:
// it has a nice value of -10, where that is allowed, and a short time slice.
//
// Workers borrow where each has its own core (executor.Port.Spacious), and the thread has
// none. Where threads share cores, a polling waiter would keep the core from the threads
// for which it waits. In virtual time, where nobody polls, only bodies borrow (executor.Port.Roomy), and the
// holder sleeps in the engine while it waits.

// lease is the state of the lease; comments name the steps above.
type lease struct {
	state         atomic.Int32
	wakeRequested atomic.Bool           // check the queued work; set with Thread.mu held, or by the engine
	asker         atomic.Pointer[asker] // waits for the engine
	until         atomic.Int64          // Nanotime at which the thread, if it sleeps, wakes up by itself
	wake          func()                // ends the sleep of the thread. Immutable
}

// The states of a lease.
const (
	own    int32 = iota // the thread's, which is awake or has been woken
	free                // nobody's: the thread sleeps, or is about to
	called              // free: the thread has been woken, and the first comer takes it
	lent                // a worker's: the thread sleeps, or is about to
)

// asker is a worker that waits for the engine.
type asker struct {
	granted atomic.Bool
	parker  osthread.Parker
}

// summon gives the engine to the thread if it is free (P2). The caller has set
// wakeRequested. Any goroutine.
func (l *lease) summon() {
	if l.state.Load() == free && l.state.CompareAndSwap(free, called) {
		l.wake()
	}
}

// take takes an engine that nobody has for a worker (W1), and reports whether it did.
func (l *lease) take() bool { return l.become(lent) }

// become changes the word from nobody's to another state, and reports whether it did.
func (l *lease) become(to int32) bool {
	for {
		now := l.state.Load()
		if now != free && now != called {
			return false
		}
		if l.state.CompareAndSwap(now, to) {
			return true
		}
	}
}

// giveWay lets the thread have the core of a worker without tasks, if the engine is the thread's: it
// has no core of its own, and may wait for this one.
func (l *lease) giveWay() {
	if l.state.Load() == own {
		osthread.Yield()
	}
}

// ask returns when the calling worker has the engine.
func (l *lease) ask(a *asker) {
	const spins = 50
	for !l.asker.CompareAndSwap(nil, a) { // behind another one
		osthread.Relax()
	}
	osthread.Step()
	if l.take() { // A2
		l.asker.Store(nil)
		return
	}
	for i := 0; !a.granted.Load(); i++ { // A3
		if i < spins {
			osthread.Relax()
		} else {
			a.parker.Park()
		}
	}
	a.granted.Store(false)
}

// grant passes the caller's engine to the asking worker, and reports whether there was one
// (T5, R2).
func (l *lease) grant() bool {
	a := l.asker.Load()
	if a == nil {
		return false
	}
	l.asker.Store(nil)
	l.state.Store(lent)
	a.granted.Store(true)
	a.parker.Unpark()
	return true
}

// layDown frees the engine on the thread's side, until a time, and reports whether the
// thread may sleep (T2, T3); otherwise it still has the engine.
func (l *lease) layDown(until int64) bool {
	l.until.Store(until)
	osthread.Step()
	l.state.Store(free)
	osthread.Step()
	if l.wakeRequested.Load() || l.asker.Load() != nil {
		return !l.become(own)
	}
	return true
}

// regain reports whether the thread, which was woken or whose time is over, has the engine
// now (T4).
func (l *lease) regain() bool {
	return l.state.Load() == own || l.become(own)
}

// extend lets the thread, which has found the engine lent, sleep until a later time. It
// reports whether the thread may sleep: a worker that has just returned the engine may have
// counted on the earlier time.
func (l *lease) extend(until int64) bool {
	l.until.Store(until)
	return !l.regain()
}

// pass passes the engine from a worker to the thread (R1).
func (l *lease) pass() {
	l.state.Store(own)
	l.wake()
}

// putBack frees a worker's engine; if it stays free, the thread must wake up at time due
// (R2 to R4).
func (l *lease) putBack(due int64) {
	for {
		if l.grant() {
			return
		}
		l.state.Store(free)
		osthread.Step()
		if l.asker.Load() == nil {
			break
		}
		if !l.take() {
			return // the asker has it
		}
	}
	if l.wakeRequested.Load() || l.until.Load() > due {
		l.summon()
	}
}

// after returns the Nanotime at which d is over.
func after(d time.Duration) int64 {
	now := osthread.Nanotime()
	if d >= noEnd {
		return now + int64(noEnd)
	}
	return now + int64(d)
}
