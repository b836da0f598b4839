// Package osthread handles threads of the operating system for the runtime: their cores and
// the claims to these, how they sleep and wake, and how they spin without delaying a
// collection.
//
// # Vocabulary
//
// A core is one number of the system's CPU mask, that is one hardware thread. The usable
// cores are the mask at the start of the process, as taskset, mpirun and the container's
// cpuset left it. A pinned thread has a mask of one core. A P is the Go scheduler's licence
// to run Go code; there are GOMAXPROCS of them. A thread that sleeps in a fault, in assembly
// or in a RawSyscall keeps its P; the scheduler can take the P of a thread that sleeps in a
// Syscall. The owner of a [Parker] is the one goroutine that may sleep on it.
//
// # Who owns what
//
//   - The mask of a thread belongs to the goroutine locked to it. [Affinity],
//     [SetAffinity], [SetTimerSlack], [Sleep], [ThreadID] and [ThreadCPUTime] act
//     on the calling thread, so the caller holds runtime.LockOSThread. Threads
//     and processes that C code or os/exec starts from a thread inherit its mask
//     and timer slack. While the goroutine is locked, the Go scheduler makes new threads
//     from a clean one. After an unlock the thread goes back to the scheduler, and its
//     mask passes to new threads. So a goroutine that has pinned itself restores the mask
//     before it unlocks, or it ends without unlocking, and its thread dies with it. (The
//     main thread cannot die: it sleeps for ever, still masked.)
//   - The core ledger, one per process, lists the holders of claimed cores ([ClaimCores],
//     [ClaimCoresIn]), and the cores left to this process ([Confine]). It gives each core
//     to one claim only: two threads that spin on one core hand over in milliseconds
//     instead of a fraction of a microsecond. The ledger pins nothing; the holder does.
//   - The GOMAXPROCS ledger, one per process, keeps as many Ps as the live
//     holders need together ([RaiseProcs]).
//
// Both ledgers are guarded by a mutex of their own; no code of a caller runs
// under either, and neither is taken while the other is held.
//
// # Sleeping: the Parker
//
// A Parker holds at most one token. [Parker.Unpark] leaves the token; [Parker.Park] takes
// it, and sleeps until there is one. Tokens do not add up. Rust's standard library has the
// same protocol in its thread parker (std::thread::park), on one 32-bit word:
//
//	value          meaning
//	EMPTY     0    no token; the owner is awake
//	NOTIFIED  1    a token is there; the owner is awake or about to be
//	PARKED   -1    no token; the owner sleeps, or is on its way to sleep
//
//	move                  by, where                      publishes
//	EMPTY    -> PARKED    owner, first step of a Park    "wake me"
//	NOTIFIED -> EMPTY     owner, first or last step      (takes the token)
//	any      -> NOTIFIED  any thread, Unpark             all that the caller did before
//	PARKED   -> EMPTY     owner, timeout                 "do not wake me"
//
//	Park:    P1  word := word - 1; if it was NOTIFIED, return
//	         P2  sleep while the word is PARKED (the kernel compares and sleeps as one step)
//	         P3  if the word is NOTIFIED, make it EMPTY and return; otherwise P2
//	Unpark:  U1  old := exchange(word, NOTIFIED)
//	         U2  if old was PARKED, wake one sleeper
//
// Every move is an atomic read-modify-write of the one word, so all moves have
// one order, and U1 synchronizes before the P1 or P3 that takes the token.
//
// No wake-up is lost. Take a U1 and the Park that takes its token.
//
//   - U1 comes before P1: P1 sees NOTIFIED and never sleeps.
//   - U1 comes after P1: the word was PARKED, so U2 follows. (Or it was NOTIFIED by
//     another Unpark, to which the same reasoning applies.) If the owner compares after U1,
//     the kernel sees a word that is not PARKED, and does not sleep. If it compared before
//     U1, it sleeps already, because comparing and sleeping are one step: U2 wakes it.
//
// A timeout ends with an exchange of the word for EMPTY, and reports the token if it finds
// one: a token that arrives at that moment is not lost. The late U2 then wakes no thread, or
// a later Park for nothing, which P3 sends back to sleep.
//
// A sleeping owner costs no core. On Linux it sleeps in FUTEX_WAIT, through a system call
// that the Go scheduler knows of. So the scheduler can take its P, though not at once: when
// the monitor thread next looks, after 20 us to 10 ms. A thread that needs a P at once needs
// a spare one (RaiseProcs). FUTEX_WAKE goes through RawSyscall: it is short, and the waker
// keeps its P. On other systems, and with the build tag nofutex, the owner waits on a
// channel, by the same protocol.
//
// # Spinning
//
// A collection stops the world, and a loop that the scheduler cannot interrupt makes it wait
// for ever. Asynchronous preemption is a signal; it can be off (GODEBUG=asyncpreemptoff=1),
// and does not interrupt assembly. The stack check at the entry of a Go function can stop a
// goroutine, too. The compiler omits it in functions that call nothing, and in inlined
// ones. [Relax] is neither, so the scheduler can stop a loop over Relax at every turn.
//
// # A simulated machine
//
// [Simulate] runs a program in virtual time: its threads are coroutines, one of which runs at a
// time, in the order of their times and of a seed (simulate.go). Parker, Sleep, Relax, Nanotime,
// Go, Group, Signal and Timer then act on that machine; [SpinBudget] is 0 there. Cores, Ps and
// processor times still belong to the real machine.
//
// # What is not guaranteed
//
//   - A mask wider than 1024 cores is not read: the usable cores are then
//     0..NumCPU-1, and [Affinity] fails.
//   - The ledger sees this process only. Two processes with overlapping masks
//     claim the same cores; the launcher has to bind them apart.
//   - The holder of a claim is not notified when a later claim finds no core, and its
//     threads run on the same cores unpinned; [Crowded] reports it.
//   - A change of the mask or of the container's cpuset after the start has no effect.
//   - Outside Linux nothing can be pinned, ThreadID is 0 and the two CPU times
//     are 0, all meaning "not known".
package osthread
