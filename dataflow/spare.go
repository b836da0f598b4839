package dataflow

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// A spare worker takes over (relieve) the core of a body inside Block, or in a wait (bury.go):
// an idle spare, if possible of the same core, or a new one. The process has at most 2048,
// each a thread beside the sleeper's: Go ends a process with 10 000 threads, and systems often
// allow a user 4096. In further bodies the function of Block runs all the same, so that bodies that wait for
// each other inside Block go on, and the core is idle until a spare of the same runtime is
// free (Runtime.short, served by rest). A program can still deadlock with more bodies inside
// Block than spares and cores together, all waiting for a task that has not started: the
// stall report then names the bodies whose core is idle.

// mainLoop runs tasks until the runtime closes; leave then gives up the core. If a body ends
// the goroutine (Goexit), another one takes its place.
func (w *worker) mainLoop(leave func()) {
	returned := false
	defer func() {
		if returned {
			w.rt.group.Done()
			return
		}
		w.cur = nil // crashed has ended it; next, if set, is a successor to run
		w.rt.home.Go(w.loop)
	}()
	for !w.rt.ending() {
		w.run(w.retire.Load, w.spare())
		if w.spare() && !w.rt.ending() {
			w.rest()
		}
	}
	w.publish()
	w.flushReturns()
	leave()
	if w.spare() {
		spares.Add(-1)
	}
	returned = true
}

func (w *worker) spare() bool { return w.id >= w.rt.opt.workers }

func (rt *Runtime) ending() bool { return rt.state.Load() == task.Closed }

// rest keeps a spare worker until it is needed again.
func (w *worker) rest() {
	rt := w.rt
	w.publish()
	w.flushReturns()
	core := w.core.Load()
	rt.mu.Lock()
	if len(rt.short) > 0 {
		rt.short[0].take(w, nil)
		rt.short = slices.Delete(rt.short, 0, 1)
	} else {
		w.state.Store(away)
		rt.spares = append(rt.spares, w)
	}
	rt.mu.Unlock()
	rt.stuckCheck(w)
	rt.wakeMore()
	w.log.mark(EventPark)
	for w.state.Load() == away && !rt.ending() {
		w.parker.Park()
	}
	w.log.mark(EventUnpark)
	if w.core.Load() != core {
		w.pin(nil)
	}
}

// Block implements task.Runner: f may sleep, and a spare worker has the core meanwhile. r
// is nil for the submitting goroutine itself.
func (w *worker) Block(r *task.Record, f func()) {
	if r != nil {
		if err := w.mayWait(r); err != nil {
			panic(err)
		}
	}
	rt := w.rt
	id := rt.blocked.add(r, "is inside Block, called at")
	defer rt.blocked.remove(id)
	if w.foreign.Load() != nil {
		w.blockForeign(f)
		return
	}
	if rt.opt.mode != parallel {
		f()
		return
	}
	w.publish()
	w.flushReturns()
	s := rt.relieve(w, nil, maxSpares)
	rt.blocked.relief(id, s)
	w.state.Store(away)
	w.log.block(r)
	defer func() {
		s.end()
		w.state.Store(active)
		w.log.unblock(r)
	}()
	w.withoutLease(f)
}

// maxSpares bounds the spare workers of the process. A variable for tests only.
var maxSpares int64 = 2048

// spares counts the spare workers of all runtimes of the process, with the idle ones.
var spares atomic.Int64

// relief is the stay of a spare worker on the core of a sleeping worker.
type relief struct {
	rt   *Runtime
	core int32
	w    *worker // guarded by rt.mu: the spare; nil as long as all spares are in use
}

// relieve puts a spare worker to work on the core of w until end: an idle one, if possible
// of the same core, or a new one if the process has fewer than most. It runs first before
// other tasks, if first is not nil. At the limit, the core is idle until a spare is free; with
// a first task, relieve returns nil instead.
func (rt *Runtime) relieve(w *worker, first *task.Record, most int64) *relief {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := &relief{rt: rt, core: w.core.Load()}
	at := slices.IndexFunc(rt.spares, func(v *worker) bool { return v.core.Load() == s.core })
	if at < 0 && spares.Add(1) <= most {
		s.w = rt.newSpare(int(s.core), first)
		return s
	}
	if at < 0 {
		spares.Add(-1)
		at = len(rt.spares) - 1
	}
	switch {
	case at >= 0:
		s.take(rt.spares[at], first)
		rt.spares = slices.Delete(rt.spares, at, at+1)
	case first != nil:
		return nil
	default:
		rt.short = append(rt.short, s)
	}
	return s
}

// take puts w, an idle spare, to work for s, beginning with first if that is not nil. The
// caller holds rt.mu.
func (s *relief) take(w *worker, first *task.Record) {
	s.w = w
	w.next = first // of its goroutine, which touches it only when the state has changed
	w.core.Store(s.core)
	w.retire.Store(false)
	w.state.Store(active)
	w.parker.Unpark()
}

// newSpare starts a worker beyond the number in the option Workers; it begins with first if
// that is not nil. The caller holds rt.mu.
func (rt *Runtime) newSpare(core int, first *task.Record) *worker {
	all := *rt.workers.Load()
	w := rt.newWorker(len(all), core)
	w.next = first
	w.id = max(w.id, rt.opt.workers)
	more := append(all[:len(all):len(all)], w)
	rt.workers.Store(&more)
	rt.reserve()
	w.launched = true
	rt.group.Add(1)
	rt.home.Go(w.loop)
	return w
}

// end makes the spare leave the core when its present task has ended.
func (s *relief) end() {
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	if s.w == nil {
		s.rt.short = slices.DeleteFunc(s.rt.short, func(o *relief) bool { return o == s })
		return
	}
	s.w.retire.Store(true)
	s.w.parker.Unpark()
}

// missing reports whether s still has no spare.
func (s *relief) missing() bool {
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	return s.w == nil
}

// waitRegistry lists the waits that the runtime cannot see otherwise: held events, and
// bodies inside Block.
type waitRegistry struct {
	mu   sync.Mutex
	last int
	all  map[int]externalWait // guarded by mu
}

type externalWait struct {
	task  uint64
	label string
	what  string // "holds an event made at"
	site  string
	since int64   // osthread.Nanotime
	spare *relief // for a body inside Block with a core to give away
}

func (g *waitRegistry) add(r *task.Record, what string) int {
	o := externalWait{label: "the submitting goroutine", what: what, site: task.CallLine(), since: osthread.Nanotime()}
	if r != nil {
		o.task, o.label = r.Seq(), describe(r)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = make(map[int]externalWait)
	}
	g.last++
	g.all[g.last] = o
	return g.last
}

// relief records the spare of the body with that number.
func (g *waitRegistry) relief(id int, s *relief) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.all[id]
	o.spare = s
	g.all[id] = o
}

func (g *waitRegistry) remove(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, id)
}

func (g *waitRegistry) list() []externalWait {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]externalWait, 0, len(g.all))
	for _, id := range slices.Sorted(maps.Keys(g.all)) {
		out = append(out, g.all[id])
	}
	return out
}

// describe names a task in reports.
func describe(r *task.Record) string {
	file, line := r.Source()
	return fmt.Sprintf("task %d %q (%s:%d)", r.Seq(), r.Label(), file, line)
}
