package dataflow

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weft-hpc/weft/internal/task"
)

// life is what the goroutine of a worker does until the runtime closes; leave then gives
// up its core. If a body ends the goroutine (Goexit), another one takes its place.
func (w *worker) life(leave func()) {
	returned := false
	defer func() {
		if returned {
			w.rt.group.Done()
			return
		}
		w.cur = nil // crashed has ended it; next, if set, is a successor to be run
		go w.loop()
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
	returned = true
}

func (w *worker) spare() bool { return w.id >= w.rt.opt.workers }

func (rt *Runtime) ending() bool { return rt.state.Load() == task.Closed }

// rest keeps a spare worker until it is needed again.
func (w *worker) rest() {
	rt := w.rt
	w.publish()
	w.flushReturns()
	rt.mu.Lock()
	w.state.Store(away)
	rt.spares = append(rt.spares, w)
	rt.mu.Unlock()
	rt.stuckCheck(w)
	rt.wakeMore()
	w.log.mark(EventPark)
	for w.state.Load() == away && !rt.ending() {
		w.parker.Park()
	}
	w.log.mark(EventUnpark)
}

// Block is part of task.Runner: f may sleep, and a spare worker has the core
// meanwhile. r is nil for the submitting goroutine itself.
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
	s := rt.takeSpare(w.core)
	w.state.Store(away)
	w.log.block(r)
	defer func() {
		s.retire.Store(true)
		s.parker.Unpark()
		w.state.Store(active)
		w.log.unblock(r)
	}()
	w.without(f)
}

// takeSpare puts a spare worker to work on core.
func (rt *Runtime) takeSpare(core int) *worker {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for i, w := range rt.spares {
		if w.core == core {
			rt.spares = append(rt.spares[:i], rt.spares[i+1:]...)
			w.retire.Store(false)
			w.state.Store(active)
			w.parker.Unpark()
			return w
		}
	}
	all := *rt.workers.Load()
	w := rt.newWorker(len(all), core)
	w.id = max(w.id, rt.opt.workers)
	more := append(all[:len(all):len(all)], w)
	rt.workers.Store(&more)
	rt.reserve()
	w.launched = true
	rt.group.Add(1)
	go w.loop()
	return w
}

// registry knows what the runtime waits for and cannot see: held events, and
// bodies inside Block.
type registry struct {
	mu   sync.Mutex
	last int
	all  map[int]outsider // guarded by mu
}

type outsider struct {
	task  uint64
	label string
	what  string // "holds an event made at"
	site  string
	since time.Time
}

func (g *registry) add(r *task.Record, what string) int {
	o := outsider{label: "the submitting goroutine", what: what, site: task.CallLine(), since: time.Now()}
	if r != nil {
		o.task, o.label = r.Seq(), describe(r)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = make(map[int]outsider)
	}
	g.last++
	g.all[g.last] = o
	return g.last
}

func (g *registry) remove(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, id)
}

func (g *registry) list() []outsider {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]outsider, 0, len(g.all))
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
