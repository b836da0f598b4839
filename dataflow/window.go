package dataflow

import (
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

// throttle helps until half of the window is free. If no task can run and none is running,
// the window grows instead: two ranks that wait for each other's messages above their marks
// would deadlock.
func (rt *Runtime) throttle() {
	w, d := rt.w0, rt.domain
	window := w.window()
	if d.Limit = rt.finishedAll() + window; d.Spawned < d.Limit {
		return
	}
	target := d.Spawned - window/2
	rt.target.Store(target)
	rt.throttled.Store(true)
	w.run(func() bool {
		return rt.finishedAll() >= target || w.state.Load() != active && rt.stuck(w)
	}, true)
	rt.throttled.Store(false)
	rt.target.Store(noTarget)
	d.Limit = max(rt.finishedAll()+window, d.Spawned+window/2)
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
