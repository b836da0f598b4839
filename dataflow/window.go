package dataflow

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// The window: the number of unfinished tasks of one domain at which a spawn begins to run
// some of them.

// window returns the mark of a new domain.
func (w *worker) window() uint64 { return uint64(w.rt.opt.window) }

// throttle handles a spawn above the mark of its domain.
func (w *worker) throttle(d *task.Domain) {
	switch {
	case !d.Root && w.holdsLease:
		w.withoutLease(func() { w.throttleChildren(d) })
	case !d.Root:
		w.throttleChildren(d)
	case w.cur == nil:
		w.rt.throttle()
	}
}

// throttle helps until half of the window is free. If no task can run and none is running, it
// waits, because what comes next would most likely wait, too; but for a while only, and then the
// window grows instead: two ranks that wait for each other's messages above their marks would
// deadlock.
func (rt *Runtime) throttle() {
	w, d := rt.w0, rt.domain
	window := w.window()
	if d.Limit = rt.finishedAll() + window; d.Spawned < d.Limit {
		return
	}
	target := d.Spawned - window/2
	rt.target.Store(target)
	rt.throttled.Store(true)
	var s silence
	w.run(func() bool { return rt.finishedAll() >= target || rt.silent(&s) }, true)
	w.wakeBy = 0
	rt.throttled.Store(false)
	rt.target.Store(noTarget)
	finished := rt.finishedAll()
	if d.Limit = finished + window; finished < target {
		d.Limit = d.Spawned + max(window/2, d.Spawned-finished) // twice as many
	}
}

// silence is a time in which no task can run, none is running, and none ends.
type silence struct {
	since    int64 // Nanotime; 0: there is none
	finished uint64
}

// silent reports whether a silence has lasted long enough for the window to grow. Otherwise it
// sets the time at which the sleep of the submitter ends.
func (rt *Runtime) silent(s *silence) bool {
	w := rt.w0
	if w.state.Load() == active || !rt.stuck(w) {
		s.since, w.wakeBy = 0, 0
		return false
	}
	finished, now := rt.finishedAll(), osthread.Nanotime()
	if s.since == 0 || finished != s.finished {
		s.since, s.finished = now, finished
	}
	w.wakeBy = s.since + int64(patience(rt.domain.Spawned-finished, w.window()))
	return now >= w.wakeBy
}

// patience returns how long the silence is after which so many unfinished tasks may become twice
// as many: nothing below a window, or 1024 tasks, and from there on a millisecond, and three times as
// long for twice as many. So 10 000 tasks that must be spawned before the first one can end cost 40 ms,
// and a rank whose peer is late by 0.1 s each time has up to 32 windows of unfinished tasks; without
// patience it spawned its whole program.
func patience(unfinished, window uint64) time.Duration {
	const first, factor = time.Millisecond, 3
	d, room := time.Duration(0), max(window, leastWindow)
	for ; unfinished >= room && d < time.Hour; room *= 2 {
		d = max(first, factor*d)
	}
	return d
}

// throttleChildren runs children of the spawning body, the youngest first, until half of
// their window is free. It never sleeps, and it runs only children of this body: their
// predecessors cannot be further down on this stack (a child behind a closed gate goes to
// that gate, see AwaitGates), no other body is buried under them, and the stack grows only
// with the depth of the nesting. If there are none, because they all run elsewhere or wait,
// the window grows.
func (w *worker) throttleChildren(d *task.Domain) {
	window := w.window()
	for !w.external && d.Unfinished() > window/2 {
		r := w.child(d)
		if r == nil {
			break
		}
		if w.mayRun(r) && (r.Flags&task.Gated == 0 || !r.AwaitGates()) {
			w.once(r)
		}
	}
	if r := w.next; r != nil { // this body goes on: others may have it
		w.next = nil
		w.push(r)
	}
	d.Limit = d.Spawned + max(window-min(d.Unfinished(), window), (window+1)/2)
}

// child takes a ready task of domain d that others have not taken yet, or nil.
func (w *worker) child(d *task.Domain) *task.Record {
	if r := w.next; r != nil {
		if r.Domain != d {
			return nil
		}
		w.next = nil
		return r
	}
	if w.rt.opt.mode == seeded {
		return w.drawChild(d)
	}
	if r := w.dq.pop(); r != nil {
		if r.Domain == d {
			return r
		}
		w.dq.push(r)
	}
	return w.rt.prio.popOf(d)
}

// drawChild takes a random ready task of domain d in the seeded mode.
func (w *worker) drawChild(d *task.Domain) *task.Record {
	for n, i := len(w.readySet), 0; i < n; i++ {
		at := w.random(n - i)
		if w.readySet[at].Domain == d {
			return w.take(at)
		}
		w.readySet[at], w.readySet[n-1-i] = w.readySet[n-1-i], w.readySet[at]
	}
	return nil
}
