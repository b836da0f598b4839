package osthread

import "time"

// relaxPauses is the number of pauses in a [Relax]: enough to leave the core to its other
// hardware thread and the bus to the writer, few enough to see the write soon.
const relaxPauses = 2

// Relax is one step of a spin loop: a few pauses, at a place where the scheduler
// can interrupt the loop even with asynchronous preemption off. Any goroutine;
// never sleeps; 60 ns on a virtual EPYC core, nearly all of it the pauses. A loop
// that spins without it can keep a collection waiting for ever.
//
// The scheduler stops a goroutine at the stack check of a function. The compiler puts this
// check into functions that are not inlined and call another function: here Pause.
//
//go:noinline
func Relax() {
	if simulated.Load() != nil {
		if m := here(); m != nil {
			m.pass(relaxCost)
			return
		}
	}
	Pause(relaxPauses)
}

// Yield lets another thread that is ready on this core go first; without one it returns at once.
// It is for a loop that spins while it waits for a thread which may need the core: Linux may let
// the one that spins finish its turn, up to 4 ms, even if a thread with a better nice value
// wakes up meanwhile. One system call, 0.6 us; no point where
// a collection can stop the loop, so call Relax as well. Any goroutine. Nothing on a simulated
// machine, where nobody spins, and outside Linux.
func Yield() {
	if here() == nil {
		yield()
	}
}

// SpinBudget returns how long a thread may spin before it sleeps, given how long is worth it on
// the real machine: not at all on a simulated one, where nobody wakes a thread that spins.
func SpinBudget(d time.Duration) time.Duration {
	if here() != nil {
		return 0
	}
	return d
}
