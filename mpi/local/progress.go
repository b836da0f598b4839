package local

// # Sleep and wake-up
//
// Await spins for 100 us (5 us with more ranks than cores) and then sleeps:
//
//	owner:   S1  asleep := true
//	         S2  check rings, inbox, recheck and timers; if there is work, skip S3
//	         S3  park, until unparked or shortly before the next due time
//	         S4  asleep := false
//	others:  B1  publish a message, a notification, or set recheck (an atomic store)
//	         B2  if asleep, and a compare-and-swap makes it false, unpark the owner
//
// All are sequentially consistent. If B2 finds asleep false, it comes before S1 or after S4
// in their order. In the first case B1 comes before S2, which finds the work. In the second
// the owner checks again before it sleeps. If B2 finds true, it unparks; the parker keeps
// the token if the owner has not parked yet.
//
// A message costs the sender a load of asleep. That word has a cache line of its own, which
// nobody writes while the owner spins. A rank without due times sleeps without a timeout.

import (
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// Post implements engine.Engine.
func (e *endpoint) Post(calls []*engine.Call) {
	osthread.Settle()
	e.post(calls)
	e.progress()
}

func (e *endpoint) post(calls []*engine.Call) {
	for _, c := range calls {
		e.start(c)
	}
}

// start starts a call. Owner only.
func (e *endpoint) start(c *engine.Call) {
	m := e.comms[c.Comm.Handle()]
	c.Slot, c.Next = 0, nil
	if e.faults.kills(c) {
		e.world.Kill(e.rank)
	}
	if m.group.degraded.Load() {
		if err := e.failureOf(c, m); err != nil {
			e.fail(c, err)
			return
		}
	}
	e.dispatch(c, m)
	// It is pending. The start itself may have handled the notification of a failure that
	// concerns it, so check again.
	if c.Slot > 0 && m.group.degraded.Load() && !c.Kind.Collective() {
		if err := e.failureOf(c, m); err != nil {
			e.readInbox() // the notifications that its peers left before
			e.failPending(c, m, err)
		}
	}
}

// dispatch starts a call whose communicator has been checked. Owner only.
func (e *endpoint) dispatch(c *engine.Call, m *comm) {
	switch c.Kind {
	case engine.CallSend, engine.CallSsend:
		e.startSend(c, m)
	case engine.CallRecv:
		e.startRecv(c, m)
	case engine.CallProbe, engine.CallIprobe, engine.CallMprobe, engine.CallImprobe:
		e.startProbe(c, m)
	case engine.CallMrecv:
		got := c.Message.Private.(*message)
		c.Message.Private = nil
		e.receiveMessage(got, c)
	default:
		if c.Kind.Collective() {
			e.startCollective(c, m)
			return
		}
		e.startAccess(c, m)
	}
}

// Do implements engine.Engine.
func (e *endpoint) Do(c *engine.Call) {
	osthread.Settle()
	e.start(c)
	e.runCompletions()
	if c.Done() {
		return
	}
	e.single[0] = c
	e.Await(false, e.single[:])
}

// Poll implements engine.Engine.
func (e *endpoint) Poll() int {
	osthread.Settle()
	before := e.completed
	e.progress()
	e.waitingSince = forever
	return e.completed - before
}

// progress does all work that is there now. Owner only.
func (e *endpoint) progress() {
	for {
		if e.anyInRings() {
			e.mu.Lock()
			e.drain(e)
			e.mu.Unlock()
		}
		if e.inbox.n.Load() > 0 {
			e.readInbox()
		}
		if e.timers.next() != forever {
			e.expire()
		}
		if len(e.active) > 0 {
			e.copySome()
		}
		if len(e.injecting) > 0 {
			e.injectSegment()
		}
		if e.recheck.Load() {
			e.recheck.Store(false)
			if e.faults.Reorder {
				e.releaseOne()
			}
			if len(e.waiting) > 0 {
				e.retry()
			}
		}
		e.runCompletions()
		if e.collectives.advance() == 0 && e.doneHead == nil && len(e.injecting) == 0 {
			return
		}
	}
}

// ready reports whether progress may have something to do. Owner only.
func (e *endpoint) ready() bool {
	return e.anyInRings() || e.inbox.n.Load() > 0 || len(e.active) > 0 || len(e.injecting) > 0 || e.recheck.Load() || e.doneHead != nil || !e.collectives.runner.Idle() ||
		len(e.timers.heap) > 0 && e.timers.heap[0].due <= e.world.clock()
}

// Await implements engine.Engine.
func (e *endpoint) Await(some bool, calls []*engine.Call) {
	osthread.Settle()
	e.awaited, e.anyOf = calls, some
	if e.world.anyGone.Load() {
		e.scan() // while it waits, this rank cannot answer its own calls
	}
	next := 0
	for seen := -1; ; {
		if seen != e.completed {
			seen, e.spins = e.completed, 0
			if some && anyDone(calls) {
				break
			}
			for !some && next < len(calls) && calls[next].Done() {
				next++
			}
			if next == len(calls) {
				break
			}
		}
		if e.ready() {
			e.progress()
			continue
		}
		e.waitStep()
	}
	e.waitingSince, e.awaited = forever, nil
}

func anyDone(calls []*engine.Call) bool {
	for _, c := range calls {
		if c.Done() {
			return true
		}
	}
	return false
}

// spinRound is the number of spins between two readings of the clock.
const spinRound = 32

// waitStep is one step of waiting until ready: a spin, now and then a turn for another thread on this
// core, and after enough of them a sleep, which ends some time before the next due time. Owner only.
func (e *endpoint) waitStep() {
	if e.spins++; e.spins == 1 && e.world.timed {
		e.waitingSince = min(e.waitingSince, e.world.clock())
	}
	if e.world.spin > 0 {
		osthread.Relax()
		if e.spins%spinRound != 0 {
			return
		}
	}
	now := osthread.Nanotime()
	if e.spins == spinRound {
		e.spinStart = now
	}
	left := time.Duration(forever)
	if due := e.timers.next(); due != forever {
		left = time.Duration(due - now)
	}
	if (e.world.spin == 0 || time.Duration(now-e.spinStart) > e.world.spin) && left > e.world.lead {
		e.park(left-e.world.lead, false)
		e.spins = 0
		return
	}
	osthread.Yield() // the rank that is waited for may be on this core
}

// park sleeps until wakeIfAsleep, or for d. If wakeable, it does not sleep after a Wake.
// Owner only.
func (e *endpoint) park(d time.Duration, wakeable bool) {
	if e.world.timed {
		d = min(d, time.Hour)                        // notify relies on wakeTime
		e.wakeTime.Store(e.world.clock() + int64(d)) // before asleep: see notify
	}
	e.onWake.Store(nil)
	osthread.Step()
	e.asleep.Store(true)
	osthread.Step()
	if !e.ready() && !(wakeable && e.woken.Load()) {
		e.awake.Unlock()
		e.parker.ParkTimeout(d)
		e.awake.Lock()
	}
	if !e.asleep.CompareAndSwap(true, false) {
		e.parker.ParkTimeout(0) // takes the token of a late wakeIfAsleep
	}
}

// Sleep implements engine.Engine. It ends at the next due time of a shaped network, as exactly
// as the timer slack of the thread allows (osthread.SetTimerSlack). If that is less than
// minSleep away, it spins.
func (e *endpoint) Sleep(d time.Duration) {
	if e.woken.Swap(false) || e.ready() {
		return
	}
	if e.world.timed {
		now := e.world.clock()
		e.waitingSince = min(e.waitingSince, now)
		if due := e.timers.next(); due != forever {
			d = min(d, time.Duration(due-now))
			if d <= osthread.SpinBudget(minSleep) {
				e.spinUntil(due)
				return
			}
		}
	}
	e.park(d, true)
	e.woken.Store(false)
}

// Arm implements engine.Announcer.
func (e *endpoint) Arm(onArrival func(begins time.Duration)) (due engine.Due, ok bool) {
	due = engine.Due{Next: engine.Never, Begins: engine.Never}
	if e.world.timed {
		now := e.world.clock()
		e.waitingSince = min(e.waitingSince, now)
		due = engine.Due{Next: e.fromNow(e.timers.next()), Begins: e.fromNow(e.nextBegin())}
		e.wakeTime.Store(now + int64(min(due.Next, time.Hour)))
	}
	e.onWake.Store(&onArrival)
	e.asleep.Store(true)
	if e.ready() {
		e.Disarm()
		return engine.Due{}, false
	}
	return due, true
}

// Disarm implements engine.Announcer.
func (e *endpoint) Disarm() { e.asleep.CompareAndSwap(true, false) }

// minSleep is about the processor time of a timer's wake-up (23 us were measured).
const minSleep = 30 * time.Microsecond

// spinUntil spins until due, or until there is something to do.
func (e *endpoint) spinUntil(due int64) {
	for e.world.clock() < due && !e.woken.Load() && !e.ready() {
		osthread.Relax()
	}
	e.woken.Store(false)
}

// Wake implements engine.Engine.
func (e *endpoint) Wake() {
	e.woken.Store(true)
	e.wakeIfAsleep()
}
