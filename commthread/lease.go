package commthread

import (
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// lease says who has the engine. The steps T1 to R4 are those of the package
// documentation.
type lease struct {
	state atomic.Int32
	poked atomic.Bool           // look at what has been brought; set with Thread.mu held, or by the engine
	asker atomic.Pointer[asker] // waits for the engine
	until atomic.Int64          // Nanotime at which the thread, if it sleeps, wakes up by itself
	wake  func()                // ends the sleep of the thread. Immutable
}

// The states of a lease.
const (
	own    int32 = iota // the thread's, which is awake or has been woken
	free                // nobody's: the thread sleeps, or is about to
	called              // nobody's: the thread has been woken, and whoever comes first has it
	lent                // a worker's: the thread sleeps, or is about to
)

// asker is a worker that waits for the engine.
type asker struct {
	granted atomic.Bool
	parker  osthread.Parker
}

// summon wakes the thread if nobody has the engine (P2). Whoever calls it has set
// poked. Any goroutine.
func (l *lease) summon() {
	if l.state.Load() == free && l.state.CompareAndSwap(free, called) {
		l.wake()
	}
}

// take is the way of a worker to an engine that nobody has (W1).
func (l *lease) take() bool { return l.become(lent) }

// become gives an engine that nobody has to the caller, and reports whether it did.
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

// ask returns when the calling worker has the engine.
func (l *lease) ask(a *asker) {
	const spins = 50
	for !l.asker.CompareAndSwap(nil, a) { // A1: behind another one
		osthread.Relax()
	}
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

// grant gives the engine, which the caller has, to who asks for it, and reports whether
// somebody did (T5, R2).
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

// layDown gives the engine up on the thread's side, until a time, and reports whether the
// thread may sleep (T2, T3): otherwise it has it still.
func (l *lease) layDown(until int64) bool {
	l.until.Store(until)
	l.state.Store(free)
	if l.poked.Load() || l.asker.Load() != nil {
		return !l.become(own)
	}
	return true
}

// regain reports whether the thread, which was woken or whose time is over, has the engine
// now (T4).
func (l *lease) regain() bool {
	return l.state.Load() == own || l.become(own)
}

// stay says that the thread, which has found the engine lent, sleeps on until a later
// time, and reports whether it may: a worker that has just given the engine back may have
// counted on the time before.
func (l *lease) stay(until int64) bool {
	l.until.Store(until)
	return !l.regain()
}

// pass gives the engine from a worker to the thread (R1).
func (l *lease) pass() {
	l.state.Store(own)
	l.wake()
}

// putBack gives the engine from a worker to nobody, for whom the thread has to wake up at
// time due (R2 to R4).
func (l *lease) putBack(due int64) {
	for {
		if l.grant() {
			return
		}
		l.state.Store(free)
		if l.asker.Load() == nil {
			break
		}
		if !l.take() {
			return // who asked has it
		}
	}
	if l.poked.Load() || l.until.Load() > due {
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
