package commthread

import (
	"runtime"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// idleState is where the thread stands between its last work and its sleep.
type idleState struct {
	since     int64 // nothing to do since then; 0: busy
	completed int64 // last completion of a call
	sleeps    int   // in a row
}

func (s *idleState) busy() { s.since, s.sleeps = 0, 0 }

const (
	spinAlone   = 100 * time.Microsecond // before the first sleep, with a core of its own
	spinShared  = 2 * time.Microsecond
	saturated   = 200 * time.Microsecond // a full window in which nothing ends for so long grows
	heartbeat   = time.Millisecond       // peers may need our progress
	hearing     = 10 * time.Millisecond  // somebody may have revoked something
	worthASleep = 30 * time.Microsecond  // about what a timer's wake-up costs a core
	relief      = 2 * time.Millisecond   // while workers poll between tasks
	helpPeriod  = 500 * time.Microsecond // looks for compute tasks
	noEnd       = time.Hour
)

// rest is what the thread does after a step with nothing to do.
func (t *Thread) rest() {
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
	if now-s.since < int64(spin) {
		osthread.Relax()
		return
	}
	t.sleep(t.nap())
}

// saturate opens the window if it has been full for a while in which nothing has ended.
func (t *Thread) saturate(now int64) {
	s := &t.idle
	if s.since == 0 {
		s.since = now
	}
	if t.posted >= t.window && now-max(s.completed, s.since) > int64(saturated) {
		t.grow()
	}
}

// nap returns how long the thread may sleep if nobody wakes it.
func (t *Thread) nap() time.Duration {
	busy, full := t.underWay()
	d := noEnd
	switch {
	case full:
		d = saturated
	case t.told:
	case busy && t.relieved():
		d = max(relief, t.period)
	case busy && t.idle.sleeps < 2: // a handshake may need several polls
		d = t.period / 4
	case busy:
		d = t.period
	case t.owed || t.windows > 0:
		d = heartbeat
	default:
		d = hearing
	}
	if t.place == Help && t.port.Busy() {
		d = min(d, helpPeriod)
	}
	return d
}

// underWay reports whether any call of this rank is under way, and whether others wait
// for room in the window.
func (t *Thread) underWay() (busy, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.posted > 0 || len(t.bodies)+len(t.checks) > 0 || len(t.forwarded) > 0, t.posted >= t.window && t.waiting()
}

// sleep gives the engine up for a time, at the end of which, or when something has been
// brought, the thread has it again.
func (t *Thread) sleep(d time.Duration) {
	due, ok := t.arm()
	if !ok {
		return
	}
	if d = min(d, due); d <= worthASleep {
		t.disarm()
		osthread.Relax()
		return
	}
	awaits := t.useful()
	t.awaits.Store(awaits)
	t.active.Store(0)
	if awaits && t.lends {
		t.port.Rouse() // who waits on a core of its own does so awake
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
	set := osthread.Usable() // a new thread has the mask of the one it was made by
	if t.claim != nil && t.claim.Cores() != nil {
		set = osthread.CPUSetOf(t.claim.Cores()[0])
	}
	_ = osthread.SetAffinity(set) // a refusal costs time, not correctness
	_ = osthread.SetTimerSlack(1)
	_ = osthread.SetTimeSlice(100 * time.Microsecond) // to get the core from a worker that computes
	// Where that is allowed: it runs for microseconds, and late is lost.
	_ = osthread.SetNice(-10)
	osthread.CalmMonitor()
}

// pollPeriod returns the period of polling on an engine that does not tell of
// arrivals: so long that the polling takes at most 4 % of a core.
func pollPeriod(told bool) time.Duration {
	const shortest, longest, share = 200 * time.Microsecond, time.Millisecond, 25
	if told {
		return longest
	}
	return min(max(share*timerCost(), shortest), longest)
}

// timerCost measures the core time of one timed sleep.
func timerCost() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 20
	begin := osthread.ThreadCPUTime()
	for range n {
		osthread.Sleep(50 * time.Microsecond)
	}
	return (osthread.ThreadCPUTime() - begin) / n
}
