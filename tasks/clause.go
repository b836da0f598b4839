package tasks

import (
	"time"

	"github.com/weft-hpc/weft/internal/task"
)

// Clause adds to a declaration or a spawn. Clauses of a spawn override the clauses of the
// declaration. The zero Clause adds nothing.
type Clause struct {
	kind clauseKind
	n    int64
	text string
	f    func()
	acc  spec
	xs   []any
}

type clauseKind uint8

const (
	clausePriority clauseKind = iota + 1
	clauseLabel
	clauseCost
	clauseIf
	clauseFinal
	clauseReady
	clauseComm
	clauseWorker
	clauseAccess
	clauseIndependent
	clauseLeased
)

// HighPriority is Priority(1 << 20): before all tasks of small priorities.
var HighPriority = Priority(1 << 20)

// OnComm runs the task on the communication thread, when the runtime has one
// (package commthread), and never on a worker; without such a thread the task fails.
// A Commutative access of such a task is Inout: these tasks keep the order of their Spawns.
var OnComm = Clause{kind: clauseComm}

// Independent declares that the messages of a body on the communication thread match no
// message of another task: no two use the same communicator, peer and tag in the same
// direction. Without it, such a body starts when all communication spawned before it has
// been started, and later communication starts when the body has ended.
var Independent = Clause{kind: clauseIndependent}

// Leased lets a worker run a body with OnComm and Independent that makes many calls in a
// row and should not share a core with a computing task. The worker then makes all calls of
// the rank until the body has ended, and polls in between; its core computes nothing
// meanwhile. Where workers do not own their cores, the body runs on the communication
// thread, as without the clause. A body may be Leased if it waits only for Leased bodies of
// other ranks that are spawned in the same order there, and these need no other task of
// this rank; or if it waits for nothing because it leaves the rest to Thread.Watch. Without OnComm it
// means nothing.
var Leased = Clause{kind: clauseLeased}

// Priority orders ready tasks: higher first, 0 by default, negative last. It holds across
// all workers, up to the length of the running tasks.
func Priority(p int) Clause {
	return Clause{kind: clausePriority, n: int64(min(max(p, -1<<31), 1<<31-1))}
}

// Label names one task in errors, reports and traces, instead of the name of its
// declaration.
func Label(name string) Clause { return Clause{kind: clauseLabel, text: name} }

// Cost tells the runtime how long the body takes. The runtime wakes no sleeping worker for
// less work than the wake-up costs (about 12 us); without Cost, it assumes that a task is
// worth it.
func Cost(d time.Duration) Clause { return Clause{kind: clauseCost, n: int64(d)} }

// If(false) makes Spawn wait for the task's dependences, run the task in place and return
// when its body has ended: for tasks too small to hand over.
func If(deferred bool) Clause { return Clause{kind: clauseIf, n: b2i(deferred)} }

// Final(true) runs the children of the task in place, and all further descendants: the
// cutoff of a recursion.
func Final(final bool) Clause { return Clause{kind: clauseFinal, n: b2i(final)} }

// OnReady calls f when the dependences of the task are satisfied, before the task is
// queued. f runs on the goroutine that spawns, or on the worker that satisfied the last
// dependence, or on a new goroutine if that was an event or a message. f must be short. If
// it panics, or ends its goroutine (runtime.Goexit), the task fails without running; the
// end of a goroutine also ends the bodies that it was running.
func OnReady(f func()) Clause { return Clause{kind: clauseReady, f: f} }

// OnWorker runs the task on worker i only (0 is the goroutine that spawns); a worker number
// that the runtime does not have fails the task. A task bound to worker 0 runs while that
// goroutine is inside the runtime.
func OnWorker(i int) Clause { return Clause{kind: clauseWorker, n: int64(i)} }

// Reads is an access of the dynamic form: the task has an Input access to each x. An x may
// be any possible parameter, or a deps.Region.
func Reads(xs ...any) Clause { return With(Input, xs...) }

// Writes is an Output access of the dynamic form to each x; see [Reads].
func Writes(xs ...any) Clause { return With(Output, xs...) }

// Updates is an Inout access of the dynamic form to each x; see [Reads].
func Updates(xs ...any) Clause { return With(Inout, xs...) }

// With is any other access of the dynamic form, such as Commutative or Weak(Inout), to each
// x; see [Reads]. With Each, every x is a slice of regions. Reductions need the declared
// form, where the body gets its copy.
func With(a Access, xs ...any) Clause {
	return Clause{kind: clauseAccess, acc: specOf(a), xs: xs}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// apply puts the clauses, except accesses, into a record.
func apply(r *task.Record, cl []Clause) {
	for i := range cl {
		c := &cl[i]
		switch c.kind {
		case clausePriority:
			r.Prio = int32(c.n)
		case clauseLabel:
			r.Cold().Label = c.text
		case clauseCost:
			r.Cold().Cost = c.n
			r.Flags |= task.Costed
		case clauseIf:
			set(r, task.Inline, c.n == 0)
		case clauseFinal:
			set(r, task.Final, c.n != 0)
		case clauseReady:
			r.Cold().OnReady = c.f
			set(r, task.Hooked, c.f != nil)
		case clauseComm:
			r.Flags |= task.Comm
		case clauseIndependent:
			r.Flags |= task.Independent
		case clauseLeased:
			r.Flags |= task.Leased
		case clauseWorker:
			bindWorker(r, c.n)
		}
	}
}

func set(r *task.Record, f task.Flags, on bool) {
	if on {
		r.Flags |= f
	} else {
		r.Flags &^= f
	}
}
