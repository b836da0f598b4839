package osthread

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"
)

// The values of a Parker's word. See the state table of the package.
const (
	empty    int32 = 0
	notified int32 = 1
	parked   int32 = -1
)

// Parker lets one goroutine, the owner, sleep until another goroutine wakes it. It holds at
// most one token: Unpark leaves it, Park takes it or sleeps until it comes. The zero value
// is ready and holds no token. A Parker must not be copied after first use, and lives in
// ordinary Go memory (the race detector follows its word only there). On Linux it is four
// bytes; pad adjacent Parkers to cache lines.
//
// The owner may change from one Park to the next if the program orders the two. An Unpark
// synchronizes before the return of the Park that took its token.
type Parker struct {
	bed  bed // for the sleeper; empty on Linux, where the word is enough
	word atomic.Int32
}

// Park takes the token; if there is none, it sleeps until there is. Owner only:
// a second goroutine in Park at the same time panics. Blocks the goroutine and
// its thread; the P can be handed over (package doc). Does not allocate on Linux.
// With a token there, it costs one atomic operation.
func (p *Parker) Park() {
	if !p.takeOrAnnounce() {
		p.park()
	}
}

// park sleeps until it has taken a token.
func (p *Parker) park() {
	Step()
	for {
		p.sleep(-1)
		if p.word.CompareAndSwap(notified, empty) {
			return
		}
	}
}

// ParkTimeout is Park that gives up after d, in ns: it reports whether it took a
// token. With d <= 0 it takes a token that is there and does not sleep. On Linux
// the end of the wait is as exact as the thread's timer slack ([SetTimerSlack]).
func (p *Parker) ParkTimeout(d time.Duration) bool {
	if d <= 0 {
		return p.word.CompareAndSwap(notified, empty)
	}
	if p.takeOrAnnounce() {
		return true
	}
	Step()
	deadline := after(d)
	for left := d; left > 0; left = time.Duration(deadline - Nanotime()) {
		p.sleep(left)
		if p.word.CompareAndSwap(notified, empty) {
			return true
		}
	}
	return p.word.Swap(empty) == notified
}

// Unpark leaves the token, if it is not there already, and wakes the owner if it
// sleeps. Any goroutine, the owner included; never blocks, keeps its P. If the owner is
// awake, it costs one atomic exchange, some 7 ns; if it sleeps, a system call more, about 12
// us. The owner runs 15 to 30 us later on a halted virtual EPYC core (bench/wake). It may be
// in its next Park when Unpark returns.
func (p *Parker) Unpark() {
	if p.word.Swap(notified) == parked {
		p.wake()
	}
}

// wake wakes the owner, who sleeps or is about to.
func (p *Parker) wake() {
	if m := simulated.Load(); m != nil {
		m.wakeFrom(unsafe.Pointer(&p.word)) // the owner may be a thread of it
	}
	p.bed.wake(&p.word)
}

// UnparkSpinning is Unpark for an owner that spins on the real machine, where Park is left out: on a
// simulated one the wake-up costs nothing.
func (p *Parker) UnparkSpinning() {
	m := here()
	if m == nil {
		p.Unpark()
		return
	}
	m.spins = true
	p.Unpark()
	m.spins = false
}

// sleep is step P2.
func (p *Parker) sleep(d time.Duration) {
	if m := here(); m != nil {
		if p.word.Load() == parked { // as the kernel checks it
			m.sleep(unsafe.Pointer(&p.word), d)
		}
		return
	}
	p.bed.sleep(&p.word, d)
}

// Asleep reports whether the owner sleeps, or is about to, without a token. Any goroutine;
// one atomic load. The answer may be out of date: use it to choose a thread to wake, never to
// skip a necessary Unpark.
func (p *Parker) Asleep() bool { return p.word.Load() == parked }

// takeOrAnnounce is step P1: it takes the token and reports true, or announces
// that the owner goes to sleep.
func (p *Parker) takeOrAnnounce() bool {
	switch p.word.Add(-1) {
	case empty: // was NOTIFIED
		return true
	case parked: // was EMPTY
		return false
	}
	panic("osthread: two goroutines park on one Parker")
}

// after returns the Nanotime at which d is over, the end of time if it never is.
func after(d time.Duration) int64 {
	now := Nanotime()
	if int64(d) > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + int64(d)
}
