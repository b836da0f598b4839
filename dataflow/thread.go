package dataflow

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// The goroutines of workers, and the Ps they need.

// firstLaunch is how long the first launch of a runtime waits: the start and the end of a
// thread take about twice as long, and many runs are over before. A variable for tests only.
var firstLaunch = 100 * time.Microsecond

// longTask is the length in ns of a task that is worth a thread.
const longTask = 100_000

// launch starts the goroutine of w, which is waking, and reports whether this is the first
// time. The first launch of a runtime is delayed, except for a task that is bound or known to be long. A worker that is
// never needed costs neither a thread nor a P.
func (rt *Runtime) launch(w *worker, bound bool) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	switch {
	case w.launched:
		return false
	case rt.ending():
		rt.giveUp(w)
	case rt.started || bound || runtime.GOMAXPROCS(0) == 1: // with one P nobody else could start it
		rt.begin(w)
	default:
		rt.delayed.Store(w)
		starts.add(rt)
	}
	return true
}

// giveUp undoes the waking of w, which has not been launched. The caller holds mu.
func (rt *Runtime) giveUp(w *worker) {
	w.state.Store(away)
	rt.spinning.Add(-1)
}

// begin starts the goroutine of w. The caller holds mu.
func (rt *Runtime) begin(w *worker) {
	rt.reserve()
	w.launched = true
	rt.group.Add(1)
	rt.home.Go(w.loop)
}

// beginDelayed starts the worker whose launch has been delayed, unless Close came before.
func (rt *Runtime) beginDelayed() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if w := rt.delayed.Swap(nil); w != nil {
		rt.begin(w)
	}
}

// needed begins a delayed launch for a task that is known to be long (tasks.Cost): it outlasts the start of
// a thread, and its body might keep the world from stopping, which the start of the first worker needs.
func (rt *Runtime) needed(work int64) {
	if work >= longTask && rt.delayed.Load() != nil {
		rt.beginDelayed()
	}
}

// abandonDelayed takes back a delayed launch. The caller holds mu.
func (rt *Runtime) abandonDelayed() {
	if w := rt.delayed.Swap(nil); w != nil {
		rt.giveUp(w)
	}
}

// starter begins the delayed launches of all runtimes of the process. It has a goroutine as
// long as there are any: timers of package time are late by up to a millisecond.
type starter struct {
	mu      sync.Mutex
	queue   []delayedLaunch // guarded by mu, in the order of their times
	running bool            // guarded by mu
}

type delayedLaunch struct {
	rt *Runtime
	at int64 // Nanotime
}

var starts starter

func (s *starter) add(rt *Runtime) {
	if osthread.Simulating() { // another clock, and threads that end with the machine
		osthread.Go(func() {
			osthread.Sleep(firstLaunch)
			rt.beginDelayed()
		})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, delayedLaunch{rt, osthread.Nanotime() + int64(firstLaunch)})
	if !s.running {
		s.running = true
		osthread.Go(s.run)
	}
}

func (s *starter) run() {
	for {
		d, more := s.next()
		if !more {
			return
		}
		if wait := d.at - osthread.Nanotime(); wait > 0 {
			osthread.Sleep(time.Duration(wait))
		}
		d.rt.beginDelayed()
	}
}

// next takes the first launch that has not been taken back; more is false, and the goroutine
// ends, if there is none.
func (s *starter) next() (d delayedLaunch, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, d := range s.queue {
		if d.rt.delayed.Load() != nil {
			s.queue = slices.Delete(s.queue, 0, i+1)
			return d, true
		}
	}
	clear(s.queue)
	s.queue, s.running = s.queue[:0], false
	return d, false
}

// reserve takes Ps for all workers, and for as many sleeping bodies. The caller holds mu.
func (rt *Runtime) reserve() {
	if !rt.started {
		rt.started = true
		rt.seekers.Store(seekersOf(rt.opt.workers))
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
	osthread.LockThread()
	w.g.Store(osthread.G())
	w.thread.Store(int64(osthread.ThreadID()))
	if w.dq.ring.Load() == nil { // not if it replaces a worker that ended: tasks may be queued
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
			osthread.UnlockThread()
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
