package osthread

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
func Relax() { Pause(relaxPauses) }
