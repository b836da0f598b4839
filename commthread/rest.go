package commthread

import (
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// The loop of the thread polls the engine, and sleeps between polls.
//
// An engine that announces arrivals (in-process ranks) is armed before the engine is freed,
// and sets wakeRequested (engine.Announcer); between.go tells when that wakes the thread.
//
// If the engine must be polled, the thread sleeps for 62 us after the first fruitless poll,
// because a handshake may need several, and after each further one twice as long as before:
//
//	up to 10 ms    while workers poll between their tasks
//	up to 2 ms     once the body of a task has lasted longer than that (judge)
//	up to 0.25 ms  on a core of its own, where workers do not poll between their tasks, and
//	               while no worker computes; then it doubles after 32 polls only
//
// Polling steals from the worker on the same core: a wake-up costs the worker 25 to 45 us on
// virtual machines, though the thread itself uses less than 8. Measured, medians of pairs of
// runs of LINPACK on two cores: with at most 2 ms in place of 0.2, 8000 equations under Open
// MPI are 1.07 times as fast on 1x2 and 1.06 times on 2x1 (Intel Xeon, nine pairs); with 10 ms
// in place of 2, 1000, 2000 and 4000 equations on 2x1 1.10, 1.03 and 1.03 times (Zen 5; nine,
// nine and five pairs), and under MPICH 1000 and 2000 on 1x2 1.08 and 1.07 times (five pairs).
// Where it doubled each time while no worker computed, four ranks on two cores (Zen 5) took 1.5
// to 1.7 times as long as with the present rule.
//
// Without pending calls the thread polls once per millisecond if it has sent a message since
// the last collective operation or a window is open, because a peer may need its progress;
// otherwise it sleeps until it gets work.
//
// When the runtime has reported a stall and cannot make progress by itself, the thread, or
// the leased body, waits inside the engine (engine.Stander), which then knows every rank that
// does nothing else, and ends the program if some certainly wait for each other: with any
// calls in one process, with one call each over mpi/system. Other stalls are reported again
// after twice as long. A goroutine outside the runtime that makes its first call later is
// not seen.

// idleState is the state of the thread between its last work and its sleep.
type idleState struct {
	since     int64 // idle since then; 0: busy
	completed int64 // last completion of a call
	sleeps    int   // in a row
}

func (s *idleState) busy() { s.since, s.sleeps = 0, 0 }

const (
	spinAlone   = 100 * time.Microsecond // before the first sleep, on its own core
	spinShared  = 2 * time.Microsecond
	saturated   = 200 * time.Microsecond // a full window without an end for so long grows
	heartbeat   = time.Millisecond       // peers may need our progress
	hearing     = 10 * time.Millisecond  // a peer may have revoked a communicator
	worthASleep = 30 * time.Microsecond  // about the core time of a timer's wake-up
	helpPeriod  = 500 * time.Microsecond // between two checks for compute tasks
	crowded     = 500 * time.Microsecond // between the polls of a leased body whose worker shares its core
	longestPoll = 2 * time.Millisecond   // between polls with pending calls
	seldomPoll  = 10 * time.Millisecond  // the same, while workers poll between their tasks
	noEnd       = time.Hour

	pollDoublings = 5  // from the first fruitless poll to longestPoll
	idlePolls     = 32 // before the time doubles, while no worker computes
)

var yield = osthread.Yield // tests count it

// idleStep follows a step without work.
func (t *Thread) idleStep() {
	now := osthread.Nanotime()
	s := &t.idle
	if t.saturate(now); t.still() {
		t.standStill()
		return
	}
	if t.place == Help && t.help() {
		t.advanced()
		s.busy()
		return
	}
	spin := spinShared
	if t.place != Shared {
		spin = spinAlone
	}
	if now-s.since < int64(osthread.SpinBudget(spin)) {
		osthread.Relax()
		return
	}
	t.sleep()
}

// saturate enlarges the window if it has been full for a while without an end.
func (t *Thread) saturate(now int64) {
	s := &t.idle
	if s.since == 0 {
		s.since = now
	}
	if t.posted >= t.window && now-max(s.completed, s.since) > int64(saturated) {
		t.grow()
	}
}

// nap returns the time for which the thread may sleep if it is not woken.
func (t *Thread) nap() time.Duration {
	busy, full := t.underWay()
	d := noEnd
	switch {
	case full:
		d = saturated
	case busy && t.relieved():
		d = max(relief, t.period)
	case t.announces:
	case busy:
		d = t.nextPoll()
	case t.needsHeartbeat || t.windows > 0:
		d = heartbeat
	default:
		d = hearing
	}
	if t.place == Help && t.port.Busy() {
		d = min(d, helpPeriod)
	}
	return d
}

// nextPoll returns the time to the next poll with pending calls.
func (t *Thread) nextPoll() time.Duration {
	doublings, most, longest := t.idle.sleeps, pollDoublings, t.period/8
	switch {
	case t.claim == nil && !t.port.Busy(): // no worker computes
		doublings /= idlePolls
	case t.claim == nil && t.lends: // workers poll between their tasks, too
		most, longest = 2*pollDoublings, t.absence()
	}
	return min(t.period>>pollDoublings<<min(doublings, most), longest)
}

// resting is nap on an armed engine that must be called again after due, unless a worker
// does that between tasks.
func (t *Thread) resting(due engine.Due) time.Duration {
	d := t.nap()
	if !t.announces {
		return min(d, due.Next)
	}
	t.service.dueAt.Store(after(due.Next))
	switch {
	case !t.relieved():
		return min(d, due.Next)
	case t.presses(due.Begins):
		return min(d, due.Begins)
	}
	return min(d, max(relief, t.period))
}

// underWay reports whether any call of this rank is pending, and whether others wait for
// room in the window.
func (t *Thread) underWay() (busy, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.service.patient.Store(len(t.bodies)+len(t.forwarded) == 0 && t.inLease == nil)
	return t.posted > 0 || len(t.bodies)+len(t.checks) > 0 || len(t.forwarded) > 0, t.posted >= t.window && t.waiting()
}

// sleep frees the engine for a time, or until there is work; then the thread has it again.
func (t *Thread) sleep() {
	due, ok := t.arm()
	if !ok {
		return
	}
	d := t.resting(due)
	if d <= osthread.SpinBudget(worthASleep) {
		t.disarm()
		osthread.Relax()
		if t.place == Shared && !t.port.Spacious() {
			yield() // another rank may wait for this core
		}
		return
	}
	awaits := t.useful()
	t.awaits.Store(awaits)
	t.active.Store(0)
	if awaits && t.lends {
		t.port.Rouse() // a worker with its own core polls instead
	}
	if t.lease.layDown(after(d)) {
		t.standBy(d)
		t.idle.sleeps++
	}
	t.disarm()
	t.enter(nil)
}

// pin places the thread, which has just been locked to the goroutine.
func (t *Thread) pin() {
	set := osthread.Usable() // a new thread inherits the mask of its creator
	if t.claim != nil && t.claim.Cores() != nil {
		set = osthread.CPUSetOf(t.claim.Cores()[0])
	}
	_ = osthread.SetAffinity(set) // a refusal costs time, not correctness
	_ = osthread.SetTimerSlack(1)
	_ = osthread.SetTimeSlice(100 * time.Microsecond) // to get the core from a computing worker
	// If allowed: the thread runs for microseconds, and delays cost more.
	_ = osthread.SetNice(-10)
	osthread.CalmMonitor()
}
