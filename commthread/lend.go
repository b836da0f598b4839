package commthread

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// How workers use the engine, and how the thread lends it.

var _ executor.Lender = (*taskExecutor)(nil)

// layOut decides how the thread sleeps, and whether it lends the engine: not from its own
// core, where it polls as well as a worker, and not if it must sleep inside the engine.
func (t *Thread) layOut() {
	t.lease.wake = t.bed.Unpark
	for e := t.engine; t.announces && t.bell == nil; {
		if b, ok := e.(engine.Announcer); ok {
			t.bell = b
			break
		}
		u, ok := e.(interface{ Unwrap() engine.Engine })
		if !ok {
			t.lease.wake = t.engine.Wake
			return
		}
		e = u.Unwrap()
	}
	if t.lends = t.opt.lease && t.place == Shared; t.lends {
		t.port.Lend((*taskExecutor)(t))
	}
}

// standBy is the sleep of the thread without the engine.
func (t *Thread) standBy(d time.Duration) {
	for {
		since := osthread.Nanotime()
		if t.announces && t.bell == nil {
			t.engine.Sleep(d)
		} else {
			t.bed.ParkTimeout(d)
		}
		has := t.lease.regain()
		if !t.announces {
			t.judge(time.Duration(osthread.Nanotime()-since), has && t.service.polled.Load() < since)
		}
		if has {
			return
		}
		if d = t.absence(); !t.lease.extend(after(d)) {
			return
		}
	}
}

// judge follows a sleep of the thread beside an engine that must be polled, and decides how long the next ones
// are. After one of seldomPoll in which no worker has polled, because the body of a task lasts longer, they are of
// longestPoll, until workers have polled during several in a row: a long body must not keep a message waiting for
// its end, and short ones are not interrupted for nothing.
func (t *Thread) judge(slept time.Duration, alone bool) {
	const several = 4
	switch {
	case slept < t.period:
	case alone:
		if t.served = 0; slept >= t.seldom {
			t.alone.Store(true)
		}
	default:
		if t.served++; t.served == several {
			t.alone.Store(false)
		}
	}
}

// absence returns the length of the thread's sleeps beside workers that poll between their tasks. A worker that
// has the engine when the time is over keeps it, and the thread sleeps for as long again.
func (t *Thread) absence() time.Duration {
	switch {
	case t.announces:
		return noEnd
	case t.alone.Load():
		return t.period
	}
	return t.seldom
}

// oblige passes the engine to an asking worker, and returns when the thread has it again.
func (t *Thread) oblige() {
	if t.lease.asker.Load() == nil {
		return
	}
	d := t.absence()
	t.active.Store(0)
	t.lease.until.Store(after(d))
	if t.lease.grant() {
		t.standBy(d)
	}
	t.enter(nil)
}

// arm makes the engine announce arrivals while it is free, and returns the time after which
// it must be polled all the same; ok is false if there is work now.
func (t *Thread) arm() (due engine.Due, ok bool) {
	if t.bell == nil {
		return engine.Due{Next: engine.Never, Begins: engine.Never}, true
	}
	return t.bell.Arm(t.ring)
}

func (t *Thread) disarm() {
	if t.bell != nil {
		t.bell.Disarm()
	}
}

// arrived is called by the engine, on any goroutine.
func (t *Thread) arrived(begins time.Duration) {
	t.lease.wakeRequested.Store(true)
	if !t.defers(begins) {
		t.lease.summon()
	}
}

// borrowed prepares a worker that has just got the engine.
func (t *Thread) borrowed() {
	t.holder = osthread.G()
	t.active.Store(t.holder)
	t.disarm()
}

// giveBack returns a worker's engine: to the thread if it is needed, or to stand still, which a
// worker without a body does not; else to an asking worker, else it is free.
func (t *Thread) giveBack() {
	const tries = 4
	due, ok := engine.Due{}, false
	for i := 0; i < tries && !t.needed() && !t.still(); i++ {
		if !t.changed { // otherwise Watch has something to test
			if due, ok = t.arm(); ok {
				break
			}
		}
		t.turn() // a message has just arrived
	}
	t.holder = 0
	t.active.Store(0)
	if !ok {
		t.lease.pass()
		return
	}
	d := t.resting(due)
	if !t.announces {
		d = max(d, t.absence()) // its sleep was not longer
		t.service.polled.Store(osthread.Nanotime())
	}
	t.awaits.Store(t.useful())
	t.lease.putBack(after(d))
}

// needed reports whether there is work for the thread alone: coroutines live and die with
// it.
func (t *Thread) needed() bool {
	if t.fresh || t.stop.Load() {
		return true
	}
	for _, b := range t.bodies {
		if b.done() {
			return true
		}
	}
	return false
}

// useful reports whether polling may help this rank or its peers.
func (t *Thread) useful() bool {
	busy, _ := t.underWay()
	return busy || !t.announces && (t.needsHeartbeat || t.windows > 0)
}

// nowAndThen is the number of fruitless turns between two slower checks.
const nowAndThen = 16

// Turn implements executor.Lender.
func (x *taskExecutor) Turn(holds bool) bool {
	t := (*Thread)(x)
	if !holds {
		if !t.awaits.Load() && !t.lease.wakeRequested.Load() || !t.lease.take() {
			t.lease.giveWay()
			return false
		}
		t.borrowed()
	}
	waits := true
	if t.turn() {
		t.idle.busy()
	} else if t.polls%nowAndThen == 0 || !holds {
		t.saturate(osthread.Nanotime())
		waits = t.useful()
	}
	if waits && t.lease.asker.Load() == nil && !t.needed() && !t.still() {
		return true
	}
	t.giveBack()
	return false
}

// Wanted implements executor.Lender.
func (x *taskExecutor) Wanted() bool { return x.awaits.Load() && x.lease.state.Load() != lent }

// Leave implements executor.Lender.
func (x *taskExecutor) Leave() { (*Thread)(x).giveBack() }

// Bring implements executor.Lender.
func (x *taskExecutor) Bring(r *task.Record) { (*Thread)(x).ready(r) }

// Serve implements executor.Lender.
func (x *taskExecutor) Serve() {
	t := (*Thread)(x)
	wake, due := t.lease.wakeRequested.Load(), t.due()
	switch {
	case !wake && !due:
	case t.lease.take():
		t.borrowed()
		t.serve(due)
		t.giveBack()
	case wake:
		t.lease.summon()
	}
}

// leasable reports whether a body that is ready may run on a worker.
func (t *Thread) leasable(r *task.Record) bool {
	const both = task.Leased | task.Independent
	return t.lends && r.Flags&both == both && r.Flags&task.Inline == 0 && t.port.Roomy()
}

// enqueue gives a body to the workers, one at a time: a second one would keep a worker
// waiting for the first. It reports whether r goes now. The caller holds t.mu.
func (t *Thread) enqueue(r *task.Record) bool {
	if t.leasing {
		t.leased = append(t.leased, r)
		return false
	}
	t.leasing = true
	return true
}

// nextLeased ends the turn of a body, and queues the next one.
func (t *Thread) nextLeased(ended *task.Record) {
	var next *task.Record
	t.mu.Lock()
	if ended != nil {
		delete(t.bodyOf, ended)
	}
	if t.leasing = len(t.leased) > 0; t.leasing {
		next, t.leased = t.leased[0], t.leased[1:]
	}
	t.mu.Unlock()
	if next != nil {
		t.port.Queue(next)
	}
}

// Hold implements executor.Lender.
func (x *taskExecutor) Hold(r *task.Record) { x.Resume(r) }

// Resume implements executor.Lender.
func (x *taskExecutor) Resume(r *task.Record) {
	t := (*Thread)(x)
	t.lease.ask(new(asker))
	t.borrowed()
	t.inLease = &body{rec: r}
}

// Pause implements executor.Lender.
func (x *taskExecutor) Pause() {
	t := (*Thread)(x)
	t.inLease = nil
	t.giveBack()
	t.nextLeased(nil) // the body may wait for it
}

// HandBack implements executor.Lender.
func (x *taskExecutor) HandBack(r *task.Record) {
	t := (*Thread)(x)
	switch {
	case r.Flags&task.Skipped != 0:
		t.revoke(nil, r, nil)
	case r.Err != nil && !errors.Is(r.Err, mpi.ErrRevoked):
		t.revoke(nil, r, fmt.Errorf("it failed: %w", r.Err))
	}
	t.inLease = nil
	t.giveBack()
	t.nextLeased(r)
}

// awaitHolding is await on a worker with the lease.
func (t *Thread) awaitHolding(done func() bool) {
	t.port.Waits(true)
	defer t.port.Waits(false)
	for !done() {
		t.heldTurn()
	}
	t.advanced()
}

// virtualNap returns how long the holder may sleep between polls in virtual time, where nobody spins:
// at first for less than the wake-up of a thread costs anything (osthread), then longer.
func (t *Thread) virtualNap() time.Duration {
	const shortest, doublings = 50 * time.Microsecond, 4
	s := &t.idle
	s.sleeps++
	return shortest << min(s.sleeps-1, doublings)
}

// heldTurn is a turn on a worker that keeps the lease; if the thread is needed, it gets the
// engine in between.
func (t *Thread) heldTurn() {
	switch {
	case t.turn():
		t.idle.busy()
	case t.still():
		t.standStill()
	case t.polls%nowAndThen == 0:
		t.saturate(osthread.Nanotime())
		if !t.port.Roomy() {
			osthread.Sleep(crowded) // more threads share the cores now
		}
	case osthread.Simulating():
		t.engine.Sleep(t.virtualNap())
		t.changed = true // no Poll reports the calls that ended inside
	default:
		osthread.Relax()
	}
	if !t.needed() {
		return
	}
	in := t.inLease
	t.inLease, t.holder = nil, 0
	t.active.Store(0)
	t.lease.pass()
	t.lease.ask(new(asker))
	t.borrowed()
	t.inLease = in
}
