package local

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Post implements mpi.Engine.
func (e *endpoint) Post(calls []*mpi.Call) {
	e.post(calls)
	e.progress()
}

func (e *endpoint) post(calls []*mpi.Call) {
	for _, c := range calls {
		e.start(c)
	}
}

// start starts a call. Owner only.
func (e *endpoint) start(c *mpi.Call) {
	m := e.comms[c.Comm.Handle()]
	c.Slot, c.Next = 0, nil
	if e.faults.deadly(c) {
		e.world.Kill(e.rank)
	}
	if m.group.ill.Load() {
		if err := e.refuse(c, m); err != nil {
			e.fail(c, err)
			return
		}
	}
	e.begun(c, m)
	// It is pending: perhaps in vain, and the alarm may have been read by the start itself.
	if c.Slot > 0 && m.group.ill.Load() && !c.Kind.Collective() {
		if err := e.refuse(c, m); err != nil {
			e.readMail() // what its peers wrote before they left
			e.giveUp(c, m, err)
		}
	}
}

// begun starts a call on a communicator that works. Owner only.
func (e *endpoint) begun(c *mpi.Call, m *comm) {
	switch c.Kind {
	case mpi.CallSend, mpi.CallSsend:
		e.startSend(c, m)
	case mpi.CallRecv:
		e.startRecv(c, m)
	case mpi.CallProbe, mpi.CallIprobe, mpi.CallMprobe, mpi.CallImprobe:
		e.startProbe(c, m)
	case mpi.CallMrecv:
		got := c.Message.Private.(*message)
		c.Message.Private = nil
		e.consume(got, c)
	default:
		if c.Kind.Collective() {
			e.startCollective(c, m)
			return
		}
		e.startAccess(c, m)
	}
}

// Do implements mpi.Engine.
func (e *endpoint) Do(c *mpi.Call) {
	e.start(c)
	e.tell()
	if c.Done() {
		return
	}
	e.one[0] = c
	e.Await(false, e.one[:])
}

// Poll implements mpi.Engine.
func (e *endpoint) Poll() int {
	before := e.completed
	e.progress()
	e.since = forever
	return e.completed - before
}

// progress does whatever can be done now. Owner only.
func (e *endpoint) progress() {
	for {
		if e.ringing() {
			e.mu.Lock()
			e.drain(e)
			e.mu.Unlock()
		}
		if e.mail.n.Load() > 0 {
			e.readMail()
		}
		if e.timers.next() != forever {
			e.expire()
		}
		if len(e.active) > 0 {
			e.copySome()
		}
		if e.news.Load() {
			e.news.Store(false)
			if e.faults.Reorder {
				e.stir()
			}
			if len(e.waiting) > 0 {
				e.retry()
			}
		}
		e.tell()
		if e.running.advance() == 0 && e.doneHead == nil {
			return
		}
	}
}

// ready reports whether progress may have something to do. Owner only.
func (e *endpoint) ready() bool {
	return e.ringing() || e.mail.n.Load() > 0 || len(e.active) > 0 || e.news.Load() || e.doneHead != nil || !e.running.runner.Idle() ||
		len(e.timers.heap) > 0 && e.timers.heap[0].due <= e.world.clock()
}

// Await implements mpi.Engine.
func (e *endpoint) Await(some bool, calls []*mpi.Call) {
	e.awaited, e.anyOf = calls, some
	if e.world.anyGone.Load() {
		e.scan() // what this rank could have answered itself, it does not any more
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
		e.rest()
	}
	e.since, e.awaited = forever, nil
}

func anyDone(calls []*mpi.Call) bool {
	for _, c := range calls {
		if c.Done() {
			return true
		}
	}
	return false
}

// spinRound is the number of spins from one look at the clock to the next.
const spinRound = 32

// rest is one step of waiting for what ready would see: a spin, and after enough of
// them a sleep, which ends a while before the next due time. Owner only.
func (e *endpoint) rest() {
	if e.spins++; e.spins == 1 && e.world.timed {
		e.since = min(e.since, e.world.clock())
	}
	osthread.Relax()
	if e.spins%spinRound != 0 {
		return
	}
	now := osthread.Nanotime()
	if e.spins == spinRound {
		e.spinning = now
	}
	left := time.Duration(forever)
	if due := e.timers.next(); due != forever {
		left = time.Duration(due - now)
	}
	if time.Duration(now-e.spinning) > e.world.spin && left > e.world.lead {
		e.park(left-e.world.lead, false)
		e.spins = 0
	}
}

// park sleeps until the bell rings, or d is over, and not at all after a Wake that is
// to be heeded. Owner only.
func (e *endpoint) park(d time.Duration, heed bool) {
	if e.world.timed {
		d = min(d, time.Hour)                     // senders count on the end of it
		e.until.Store(e.world.clock() + int64(d)) // before asleep: see send
	}
	e.ring.Store(nil)
	e.asleep.Store(true)
	if !e.ready() && !(heed && e.woken.Load()) {
		e.awake.Unlock()
		e.parker.ParkTimeout(d)
		e.awake.Lock()
	}
	if !e.asleep.CompareAndSwap(true, false) {
		e.parker.ParkTimeout(0) // a token of the bell, if it came too late
	}
}

// Sleep implements mpi.Engine. It ends for the next due time of a shaped network, as
// exactly as the timer slack of the thread allows (osthread.SetTimerSlack). What is due
// in less than a timer's wake-up costs is waited for awake.
func (e *endpoint) Sleep(d time.Duration) {
	if e.woken.Swap(false) || e.ready() {
		return
	}
	if e.world.timed {
		now := e.world.clock()
		e.since = min(e.since, now)
		if due := e.timers.next(); due != forever {
			d = min(d, time.Duration(due-now))
			if d <= notWorthASleep {
				e.linger(due)
				return
			}
		}
	}
	e.park(d, true)
	e.woken.Store(false)
}

// Arm implements mpi.Announcer.
func (e *endpoint) Arm(ring func()) (due time.Duration, ok bool) {
	due = forever
	if e.world.timed {
		now := e.world.clock()
		if e.since = min(e.since, now); e.timers.next() != forever {
			due = time.Duration(e.timers.next() - now)
		}
		e.until.Store(now + int64(min(due, time.Hour)))
	}
	e.ring.Store(&ring)
	e.asleep.Store(true)
	if e.ready() {
		e.Disarm()
		return 0, false
	}
	return due, true
}

// Disarm implements mpi.Announcer.
func (e *endpoint) Disarm() { e.asleep.CompareAndSwap(true, false) }

// notWorthASleep is about what a timer's wake-up costs a core (23 us were measured).
const notWorthASleep = 30 * time.Microsecond

// linger spins until due, or until there is something to do.
func (e *endpoint) linger(due int64) {
	for e.world.clock() < due && !e.woken.Load() && !e.ready() {
		osthread.Relax()
	}
	e.woken.Store(false)
}

// Wake implements mpi.Engine.
func (e *endpoint) Wake() {
	e.woken.Store(true)
	e.bell()
}
