package osthread

// relaxPauses is the number of pauses in a [Relax]: enough to leave the core to
// its other hardware thread and the bus to the writer we wait for, few enough
// that what we wait for is seen soon.
const relaxPauses = 2

// Relax is one step of a spin loop: a few pauses, at a place where the scheduler
// can interrupt the loop even with asynchronous preemption off. Any goroutine;
// never sleeps; 60 ns on a virtual EPYC core, nearly all of it the pauses. A loop
// that spins without it can keep a collection waiting for ever.
//
// It is the call that counts. The compiler puts the stack check, by which the
// scheduler stops a goroutine, into functions that are not inlined and that call
// something themselves; the call of Pause is that something.
//
//go:noinline
func Relax() { Pause(relaxPauses) }
