package dataflow

import (
	"runtime"

	"github.com/weft-hpc/weft/internal/osthread"
)

// The goroutines of workers, and the Ps they need.

// launch starts the goroutine of w, which is waking, and reports whether this is the first
// time. A worker that is never needed costs neither a thread nor a P.
func (rt *Runtime) launch(w *worker) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if w.launched {
		return false
	}
	if rt.ending() {
		w.state.Store(away)
		rt.spinning.Add(-1)
		return true
	}
	rt.reserve()
	w.launched = true
	rt.group.Add(1)
	go w.loop()
	return true
}

// reserve takes Ps for all workers, and for as many sleeping bodies. The caller holds mu.
func (rt *Runtime) reserve() {
	if !rt.started {
		rt.started = true
		rt.addProcs(osthread.Procs{Compute: 2*rt.opt.goroutines() - 1})
	}
}

// takeProcs raises GOMAXPROCS for this runtime.
func (rt *Runtime) takeProcs(need osthread.Procs) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.addProcs(need)
}

// addProcs is takeProcs for callers that hold mu.
func (rt *Runtime) addProcs(need osthread.Procs) {
	rt.procs = append(rt.procs, osthread.RaiseProcsFunc(need, noteProcs))
}

// giveProcs restores GOMAXPROCS.
func (rt *Runtime) giveProcs() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, restore := range rt.procs {
		restore()
	}
	rt.procs = nil
}

// loop is the goroutine of a worker other than 0, from its first task to the end of the
// runtime. Then the thread returns to the Go scheduler with its original mask; a thread
// whose goroutine was ended by a body dies with it.
func (w *worker) loop() {
	runtime.LockOSThread()
	w.g.Store(osthread.G())
	w.thread.Store(int64(osthread.ThreadID()))
	if w.dq.ring.Load() == nil { // not if it replaces one that ended: tasks may be queued
		w.dq.init(firstDeque)
	}
	mask, err := osthread.Affinity()
	w.pin(err)
	if w.state.Load() == waking { // the task that it was woken for; until here it counts as spinning
		w.next = w.look() // it takes its locks when it is about to run
		w.found()
	}
	w.mainLoop(func() {
		if w.core.Load() < 0 || osthread.SetAffinity(mask) == nil {
			runtime.UnlockOSThread()
		}
	})
}

// pin confines the thread of w to its core, unless err tells that this is impossible.
func (w *worker) pin(err error) {
	core := int(w.core.Load())
	if core < 0 {
		return
	}
	if err == nil {
		err = osthread.SetAffinity(osthread.CPUSetOf(core))
	}
	if err != nil {
		w.rt.warn("worker %d cannot be pinned to core %d: %v", w.id, core, err)
		w.core.Store(-1)
	}
}
