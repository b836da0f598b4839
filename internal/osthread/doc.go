// Package osthread is what the runtime knows about threads of the operating
// system: where they may run, who has which core, how they sleep and wake, and
// how they spin without standing in the way of a collection.
//
// # Vocabulary
//
// A core is one number of the system's CPU mask, that is one hardware thread.
// The usable cores are those of the mask the process was started with; taskset,
// mpirun and a container's cpuset have already taken their part of it. A pinned
// thread has a mask of one core. A P is the Go scheduler's licence to run Go
// code, of which there are GOMAXPROCS; a thread that sleeps in a fault, in
// assembly or in a RawSyscall keeps its P, one that sleeps in a Syscall can be
// relieved of it. An owner is the one goroutine that may sleep on a [Parker].
//
// # Who owns what
//
//   - The mask of a thread belongs to the goroutine locked to it. [Affinity],
//     [SetAffinity], [SetTimerSlack], [Sleep], [ThreadID] and [ThreadCPUTime] act
//     on the calling thread, so the caller holds runtime.LockOSThread. Threads
//     and processes that C code or os/exec starts from a thread inherit its mask
//     and timer slack. The Go scheduler makes its own threads from a clean one as
//     long as the goroutine is locked; but a thread that is unlocked as it is goes
//     back to the scheduler with its mask and passes it on. So a goroutine that has
//     pinned itself ends without unlocking, and its thread dies with it (the main
//     thread cannot die: it sleeps for ever, still masked), or it restores the mask
//     it found before it unlocks.
//   - The core ledger, one per process, says which usable core is claimed by
//     whom ([ClaimCores], [ClaimCoresIn]), and which are left to this process
//     ([Confine]). It gives each core to one claim only:
//     two threads that spin on one core hand over in milliseconds instead of a
//     fraction of a microsecond. The ledger pins nothing; its holder does.
//   - The GOMAXPROCS ledger, one per process, keeps as many Ps as the live
//     holders need together ([RaiseProcs]).
//
// Both ledgers are guarded by a mutex of their own; no code of a caller runs
// under either, and neither is taken while the other is held.
//
// # Sleeping: the Parker
//
// A Parker holds at most one token. [Parker.Unpark] leaves the token,
// [Parker.Park] takes it, sleeping until there is one. Tokens do not add up. The
// protocol is that of the thread parker of Rust's standard library, on one
// 32-bit word:
//
//	value          meaning
//	EMPTY     0    no token; the owner is awake
//	NOTIFIED  1    a token is there; the owner is awake or about to be
//	PARKED   -1    no token; the owner sleeps, or is on its way to sleep
//
//	move                  who, where                     what it publishes
//	EMPTY    -> PARKED    owner, first step of a Park    "wake me"
//	NOTIFIED -> EMPTY     owner, first or last step      takes the token
//	any      -> NOTIFIED  anyone, Unpark                 all the caller did before
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
// No wake-up is lost. Take a U1 and the Park whose token it leaves. Either U1
// comes before P1: then P1 sees NOTIFIED and never sleeps. Or U1 comes after P1:
// then the word was PARKED (or NOTIFIED by another Unpark, to which the same
// reasoning applies), so U2 follows. If the owner compares after U1, the kernel
// sees a word that is not PARKED and does not sleep; if it compared before, it
// sleeps already, because comparing and sleeping are one step, and U2 finds it.
// A timeout ends with an exchange of the word for EMPTY and reports a token it
// finds there, so a token that arrives at that moment is not lost either; the
// late U2 then wakes nobody, or a later Park for nothing, which P3 sends back to
// sleep.
//
// A sleeping owner costs no core. On Linux it sleeps in FUTEX_WAIT through a
// system call that the Go scheduler knows about, so that its P can be handed
// over: not at once, but when the monitor thread next looks, after 20 us to
// 10 ms. Whoever needs a P at once needs a spare one (RaiseProcs). FUTEX_WAKE goes
// through RawSyscall: it is short, and the waker keeps its P. On other systems,
// and with the build tag nofutex, the sleeper waits on a channel, by the same
// protocol.
//
// # Spinning
//
// A collection stops the world, and a loop that the scheduler cannot interrupt
// keeps it waiting for ever. Asynchronous preemption is a signal; it can be off
// (GODEBUG=asyncpreemptoff=1), and it does not reach assembly. The other way in
// is the stack check at the entry of a Go function, which the compiler leaves
// out of functions that call nothing and of those it inlines. [Relax] is a step
// of a spin loop that is neither, so a loop over Relax can be stopped at every
// turn.
//
// # What is not guaranteed
//
//   - A mask wider than 1024 cores is not read: the usable cores are then
//     0..NumCPU-1, and [Affinity] fails.
//   - The ledger sees this process only. Two processes with overlapping masks
//     claim the same cores; the launcher has to bind them apart.
//   - A claim is not told when a later one finds no core and runs unpinned over it;
//     [Crowded] says so when it is asked.
//   - A change of the mask or of the container's cpuset after the start is not noticed.
//   - Outside Linux nothing can be pinned, ThreadID is 0 and the two CPU times
//     are 0, all meaning "not known".
package osthread
