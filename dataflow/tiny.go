package dataflow

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
)

// Tiny tasks. The record, the tracker's entries and the data of a task that another worker
// runs go from core to core and back, which can cost more than the task itself: two workers
// then take longer than one. So workers time a sample of the bodies, and while these are short
// (Runtime.tiny), worker 0, the submitter's, runs nearly all tasks. Each other worker, unless
// it is inside a body, is held back: every 250 us it takes a single task, and leaves the tasks
// that this one makes ready to worker 0. Between two looks it sleeps, because a worker that
// spins slows the other hardware thread of its core.
//
// A held back worker always times the task that it takes. The following end the state: a long
// body on any worker; two of worker 0's timed bodies in a row that are not short; a hint
// (clause Cost) of a long body; and a worker 0 that does not move from one look to the next.
// Worker 0 moves if it spawns or runs tasks. It does not while it is inside one body, in code
// of the program, in Block, or asleep.
//
// No task is lost, and none waits for long behind a worker that could take it:
//
//   - Worker 0 searches all queues as usual. So does a worker inside a body that waits.
//   - A held back worker looks at all queues, its own included, every 250 us. If worker 0 has
//     not moved since the last look, the state ends, for all workers. So a task waits at most
//     500 us behind a worker 0 that is stuck; short tasks with a hint may, too (wakeLater).
//     Worker 0 need not move if it spins: then it looks at all queues itself.
//   - At the same looks it finds tasks with a priority and tasks that outside events have made
//     ready, if worker 0 has not taken them before. A task bound to it (OnWorker) wakes it.
//   - It counts as spinning while it sleeps, so queued tasks wake no other worker: it finds
//     them itself. It does not sleep while the communication thread wants its help. Before it
//     parks, it searches all queues (S5 in idle.go).
//   - If worker 0 sleeps, the state ends before a worker leaves a task to it.

const (
	lookPause  = 250_000 // ns between two looks of a worker that is held back
	shortRow   = 8       // short bodies timed in a row that make tasks tiny
	longerRow  = 2       // bodies timed in a row that are not short and make them not tiny
	timedOften = 8       // one body in 8 is timed during a row
	timedRare  = 64
)

// Lengths of bodies, in ns, with the time of reading the clock. Variables for tests only.
var (
	shortBody int64 = 120   // a body below is short
	longBody  int64 = 2_000 // a body from here on is long
)

// bodyLengths follows the lengths of the bodies that one worker times.
type bodyLengths struct {
	tiny bool // at the last body
	row  int  // timed bodies in a row that speak for a change of tiny
}

// add returns whether tasks are tiny after a body of the given length in ns, if they were so
// before it.
func (b *bodyLengths) add(ns int64, tiny bool) bool {
	short := ns < shortBody
	if short == tiny || tiny != b.tiny {
		b.row = 0
	}
	b.tiny = tiny
	switch {
	case ns >= longBody:
		b.tiny = false
	case short == tiny:
		return tiny
	case short:
		b.row++
		b.tiny = b.row >= shortRow
	default:
		b.row++
		b.tiny = b.row < longerRow
	}
	if b.tiny != tiny {
		b.row = 0
	}
	return b.tiny
}

// interval returns the number of bodies from a timed body to the next.
func (b *bodyLengths) interval() int64 {
	if b.row > 0 {
		return timedOften
	}
	return timedRare
}

// runTimed runs the body of r and learns from its length.
func (w *worker) runTimed(r *task.Record) {
	w.untimed = timedRare // also if the body panics
	start := osthread.Nanotime()
	if err := r.Decl.Run(r); err != nil {
		r.Err = err
	}
	osthread.EndTask(r)
	w.learn(osthread.Nanotime() - start)
}

// learn takes note of a body of the given length in ns. While tasks are tiny, bodies of other
// workers than 0 count only if they are long: part of their length is the way of the data.
func (w *worker) learn(ns int64) {
	was := w.rt.tiny.Load()
	if was && w.root == nil && ns < longBody {
		return
	}
	if is := w.lengths.add(ns, was); is != was {
		w.rt.tiny.Store(is)
	}
	w.untimed = w.lengths.interval()
}

// heldBack reports whether w is to leave most tasks to worker 0.
func (w *worker) heldBack() bool { return w.root == nil && w.rt.tiny.Load() && w.cur == nil }

// lookSeldom is look for a worker that is held back.
func (w *worker) lookSeldom() *task.Record {
	rt := w.rt
	if r := w.next; r != nil {
		if s := rt.w0.state.Load(); s == parked || s == away {
			rt.tiny.Store(false)
			return w.look()
		}
		w.next = nil
		w.push(r)
	}
	if r := w.urgent(); r != nil {
		return r
	}
	now := osthread.Nanotime()
	if now < w.nextLook {
		return rt.prio.popAbove(noPriority)
	}
	w.nextLook = now + lookPause
	moves := rt.w0.moves()
	if moves == w.seen && rt.w0.state.Load() != spinning { // a spinning worker 0 looks for tasks itself
		rt.tiny.Store(false)
	}
	w.seen = moves
	w.untimed = 1
	if r := w.dq.pop(); r != nil {
		return r
	}
	if r := rt.submitted.takeOne(); r != nil {
		return r
	}
	return w.search()
}

// nap sleeps until the next look of a worker that is held back, or until another goroutine
// leaves a token. A worker that spins slows the other hardware thread of its core.
func (w *worker) nap() {
	w.parker.ParkTimeout(time.Duration(w.nextLook - osthread.Nanotime()))
}

// moves returns a number that grows when w0, worker 0, spawns or runs tasks: at the latest
// after 64 of them.
func (w0 *worker) moves() uint64 { return w0.published.Load() + w0.alloc.Blocks() }
