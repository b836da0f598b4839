package dataflow

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// How ready tasks get into the queues, and out of them.

// schedule queues the nodes that became ready when a task ended. The most urgent
// of them, if it may run here, runs next.
func (w *worker) schedule(n *deps.Node) {
	for n != nil {
		r := task.FromNode(n)
		n = n.Next()
		if w.admit(r) {
			w.place(r)
		}
	}
}

// place queues r, which a task that ended here has made ready.
func (w *worker) place(r *task.Record) {
	switch {
	case w.outside || w.rt.opt.mode == seeded || r.Worker != 0 || r.Prio < 0:
		w.push(r)
	case w.next == nil:
		w.next = r
	case r.Prio > w.next.Prio:
		w.push(w.next)
		w.next = r
	default:
		w.push(r)
	}
}

// admit brings a task whose dependences are satisfied through what else must be
// before it may be queued, and reports whether the caller shall queue it. Tasks that have
// waited for a commutative lock come here once more.
func (w *worker) admit(r *task.Record) bool {
	return r.Flags&special == 0 || w.admitSpecial(r)
}

func (w *worker) admitSpecial(r *task.Record) bool {
	c := r.PeekCold()
	if r.Flags&task.Hooked != 0 {
		if w.outside { // a goroutine that must not end with the hook
			go w.rt.outside.hookAndQueue(r)
		} else {
			w.hooks = append(w.hooks, r)
		}
		return false
	}
	switch {
	case r.Flags&task.Inline != 0:
		owner := r.Domain.Exec.(*worker)
		if !c.MakeReady() {
			return true
		}
		owner.rouse()
		return false
	case r.Flags&task.Comm != 0:
		if w.rt.comm == nil {
			if !r.Poisoned() {
				refuse(r, errNoComm)
			}
			return true
		}
		w.bring(r)
		return false
	}
	return true
}

// mayRun reports whether r, which has been found and is about to run, has got all its
// commutative locks; otherwise it waits for one of them, and is found again later.
func (w *worker) mayRun(r *task.Record) bool {
	return r.Flags&task.Commutes == 0 || r.TryLock(w.again)
}

// again queues records that may now get their commutative locks.
func (w *worker) again(n *deps.Node) {
	for n != nil {
		r := task.FromNode(n)
		n = n.Next()
		if w.admit(r) {
			w.push(r)
		}
	}
}

// callHooks calls the hooks of the tasks that have become ready, and queues these. A
// hook may end the goroutine, so this comes where nothing is half done: the hooks that
// are left are called by the goroutine that takes the worker's place.
func (w *worker) callHooks() {
	for len(w.hooks) > 0 {
		r := w.hooks[0]
		w.hooks = slices.Delete(w.hooks, 0, 1)
		w.callHook(r)
		if w.admit(r) {
			w.place(r)
		}
	}
}

// hookAndQueue is that for one task, on a goroutine of its own.
func (w *worker) hookAndQueue(r *task.Record) {
	w.callHook(r)
	if w.admit(r) {
		w.push(r)
	}
}

// callHook calls the OnReady hook of r, which is the program's. If it panics, r fails
// without running; the same if it ends the goroutine, and then r is also queued here.
func (w *worker) callHook(r *task.Record) {
	c, returned := r.PeekCold(), false
	hook := c.OnReady
	c.OnReady = nil // the record stays; what the hook refers to need not
	r.Flags &^= task.Hooked
	defer func() {
		if v := recover(); v != nil {
			rec := panics.NewRecovered(2, v)
			refuse(r, fmt.Errorf("its OnReady hook: %w", rec.AsError()))
		} else if !returned {
			refuse(r, errHookEnded)
			if w.root != nil {
				fmt.Fprintf(os.Stderr, "weft: %v\n", taskError(r)) // nobody may be left to call Wait
			}
			if r.Domain.Exec == task.Runner(w) {
				c.Leave() // with its spawner: nobody is left to run it in place
			}
			if w.admit(r) {
				w.push(r)
			}
		}
	}()
	hook()
	returned = true
}

var errHookEnded = errors.New("its OnReady hook called runtime.Goexit (t.FailNow and friends do)")

var errNoComm = errors.New("the clause OnComm needs a communication thread (package commthread), and the runtime has none")

// refuse makes a task that cannot run as it asks one that fails without running.
func refuse(r *task.Record, err error) {
	r.Err = err
	r.Poison()
}

// push queues r where others can find it, and sees to it that somebody looks.
func (w *worker) push(r *task.Record) {
	rt, work := w.rt, w.weigh(r)
	switch {
	case r.Worker != 0:
		rt.pushBound(r)
		return
	case w.outside && (r.Prio == 0 || rt.opt.mode == seeded):
		rt.inject.put(r)
	case rt.opt.mode == seeded:
		w.bag = append(w.bag, r)
		return
	case r.Prio != 0:
		rt.prio.push(r)
	default:
		w.dq.push(r)
	}
	w.notify(work)
}

// weigh returns how long r takes, as far as notify needs to know it. It comes
// before r is queued, when others may run it and use its record again.
func (w *worker) weigh(r *task.Record) int64 {
	if r.Flags&task.Costed != 0 && !w.outside {
		return max(r.PeekCold().Cost, 0)
	}
	return wakeCost
}

// notify wakes a worker for queued work of so many ns: at once if that is worth it,
// otherwise a little later, if the work is still there.
func (w *worker) notify(work int64) {
	if w.rt.parked.Load() == 0 {
		return
	}
	if work < wakeCost {
		if w.unwoken += work; w.unwoken < wakeCost {
			w.rt.wakeLater()
			return
		}
		w.unwoken = 0
	}
	w.rt.wake()
}

// look returns a ready task, or nil if a look at every queue found none. It has not got
// its commutative locks.
func (w *worker) look() *task.Record {
	rt := w.rt
	if r := w.next; r != nil {
		w.next = nil
		if rt.prio.top.Load() > int64(r.Prio) {
			if h := rt.prio.popAbove(int64(r.Prio)); h != nil {
				w.push(r)
				return h
			}
		}
		return r
	}
	if r := w.urgent(); r != nil {
		return r
	}
	if rt.opt.mode == seeded {
		return w.draw()
	}
	if r := w.dq.pop(); r != nil {
		return r
	}
	if w.id == 0 {
		if r := rt.entrance.takeOne(); r != nil {
			return r
		}
	}
	return w.search()
}

// urgent returns what goes before the worker's own queue.
func (w *worker) urgent() *task.Record {
	rt := w.rt
	if rt.prio.top.Load() > 0 {
		if r := rt.prio.popAbove(0); r != nil {
			return r
		}
	}
	if r := w.mail.take(); r != nil {
		return r
	}
	return rt.inject.take()
}

// draw takes a random ready task in the seeded mode.
func (w *worker) draw() *task.Record {
	for n := len(w.bag); n > 0; n = len(w.bag) {
		i := w.random(n)
		if r := w.take(i); w.mayRun(r) {
			return r
		}
	}
	return nil
}

// take removes entry i of the bag.
func (w *worker) take(i int) *task.Record {
	r, last := w.bag[i], len(w.bag)-1
	w.bag[i], w.bag[last] = w.bag[last], nil
	w.bag = w.bag[:last]
	return r
}

// random returns a number in [0, n) (SplitMix64).
func (w *worker) random(n int) int {
	w.rng += 0x9e3779b97f4a7c15
	z := w.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 1 % uint64(n))
}

// search looks for work outside the worker's own queue.
func (w *worker) search() *task.Record {
	rt := w.rt
	if r := w.urgent(); r != nil {
		return r
	}
	if r := w.enterBatch(); r != nil {
		return r
	}
	all := *rt.workers.Load()
	if n := len(all); n > 1 {
		for i, at := 0, w.random(n); i < n; i++ {
			v := all[(at+i)%n]
			// Until none is left: a lost race with another thief says nothing.
			for v != w && !v.dq.empty() {
				if r := v.dq.steal(); r != nil {
					return r
				}
			}
		}
	}
	return rt.prio.popAbove(noPriority)
}

// enterBatch takes tasks from the entrance; the first runs now, the others go to
// the worker's own queue in such an order that they run as they were spawned.
func (w *worker) enterBatch() *task.Record {
	rt := w.rt
	if rt.entrance.empty() {
		return nil
	}
	var batch [entranceBatch]*task.Record
	n := rt.entrance.take(&batch, int64(2*rt.opt.workers))
	if n == 0 {
		return nil
	}
	for i := n - 1; i > 0; i-- {
		w.dq.push(batch[i])
	}
	return batch[0]
}
