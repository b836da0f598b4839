// Package system is the machine's MPI library as an engine of package mpi. It is
// there in builds with cgo and the tag mpi; in all others [Available] is false and
// [Init] says what to do. The compiler brings the library: one source serves both
//
//	CC=mpicc.openmpi go build -tags mpi ./...
//	CC=mpicc.mpich   go build -tags mpi ./...
//
// # Two languages
//
// C holds what MPI gives out: communicators, datatypes, windows, requests. Go knows
// them by numbers; no type of MPI is named in Go, and nothing but integers and
// pointers passes between the two (shim.h). C never calls Go. The shim has no
// opinions: what an operation means, and what its failure is called, is decided in Go.
//
// A call in progress has a slot, a number that Go chooses; its request, the memory
// of its counts and perhaps a completion function stand beside the slot in C. Post
// fills records in memory of C, up to 256, and starts them by one call into C. Poll is
// one call too: it lets MPI make progress and leaves the ends in memory that both can
// see. Do, the way of blocking calls, starts and waits in one call, which tests the
// one request. PostWait is Post that stays in C for the ends: an exchange of short messages
// is over then.
//
// # Who owns what
//
//	records, results       whoever is inside the engine: one goroutine at a time
//	slots, communicators,
//	windows, types         the same
//	Parker of Sleep        anyone wakes it
//
// A call into C that waits gives its P up, so a collection never waits for MPI; and
// no call into C waits while Go holds a lock. Buffers in the Go heap are pinned from
// Post to the end of the request in MPI, be the call completed earlier or not.
//
// # Waiting
//
// A loop that waits, in C, tests without a pause for 20 us; then it also lets others have
// the core every 32 tests (sched_yield), which costs nothing if nobody wants it. Where there
// are more ranks than cores, it does so after every test, from the start. If a yield takes
// longer than half a millisecond, twice in a row, somebody computes on this core: then the
// loop sleeps between its tests, 25 times the cost of a timer's wake-up, and yields again
// every eighth time to see whether the core is free. So a rank that waits with a core of its
// own is awake, and one that shares its core takes at most some percent of it. The requests
// stand in the order of their start; each round tests the 256 oldest and a window that moves
// over the rest, so that 10 000 receives in flight do not make a round 10 000 tests long.
//
// # What MPI does, and what is done here
//
// Messages, and collectives with predefined operations on predefined kinds, are MPI's
// own non-blocking ones; strided buffers are derived datatypes, kept for later use, in
// messages and one-sided calls, and packed in collectives. Reductions with a user's
// operation, MaxLoc and MinLoc are schedules of messages (package
// mpi/internal/schedule); so are maxima and minima of unsigned integers where the
// library takes these for signed ones. Each communicator has a hidden twin for all
// collectives, so that they never meet a message of the program. Probes, locks and
// awaited notifications are tried again in every Poll. Limits of MPI show: a message may
// have more than 2^31-1 elements, a part of a collective may not. Sums of floats are
// combined in the order that the library chooses; Max and Min treat NaN as it does.
//
// # Parts of messages
//
// Sends that are marked as parts of a message ([mpi.Call].InLine) leave one after the other:
// C keeps the later ones back, and starts each when one before it has left (line.c). A library
// that has all of them under way shares the link among them, and the first part arrives with
// the last. Parts of 0.5 MB over 1 Gbit/s came after 5, 9, 13 ... 71 ms instead of all after
// 70. Every wait and poll moves them on, and so does the thread that polls beside Go. A part
// that has not been started when its communicator is revoked is not sent.
//
// # Revocation
//
// Every rank listens for notices on a communicator of its own. [mpi.Comm.Revoke] sends
// one to each member; who hears it completes all calls on that communicator with
// mpi.ErrRevoked. Receives are cancelled. MPI cannot take back sends and collectives:
// they are abandoned, their buffers stay pinned, and the end of the program waits
// for them for a bounded time. A notice is heard inside engine calls only, after some
// milliseconds of waiting there at the latest.
//
// # Waits without an end
//
// A rank that has been in one blocking call for two seconds, and then after four, eight
// and so on, asks the ranks that it waits for, by notices as for revocations, and they pass the
// question on if they are in such a wait themselves and have not made the matching call. A
// question that comes back twice by the same waits is the proof of a deadlock: the first
// of its ranks prints the circle and aborts the program. A rank that has ended well answers
// that it has, and the call fails. After a minute in one call, and again after twice as
// long, a rank says on standard error what it waits for. With a communication thread, all
// this begins when the runtime has reported a stall ([mpi.Stander]). All of this takes place once per
// second at most, and costs calls that end sooner nothing.
//
// # Windows
//
// A window is an MPI window that is locked shared, by all and for all, as long as it
// is open, and a second one of hidden words: a lock, which is taken by fetch and add, and
// the notification counters. PutNotify, Flush and Unlock complete their accesses at
// the target before they return, even from Post: MPI has no non-blocking flush. Accumulate
// returns from Post when its buffer may be used again, so that accesses of one rank to one
// place keep their order.
// Accumulate with an operation that MPI does not have excludes others of its kind only.
//
// # Settings
//
// Init sets, in the environment of Open MPI and as far as they are not set: no signal
// handlers; long messages only as fragments, which it checks, 16 of them at a time between
// processes of one machine; and, on machines without InfiniBand, no windows of UCX, which it
// offers and cannot make. Fragments are copied twice, by both processes at once: 1 MiB
// took 30 to 45 us, and by one copy of the system 90 to 110; 16 MiB took as long by either.
//
// # Messages that are too long
//
// With OMPI_MCA_btl_vader_single_copy_mechanism=cma in the environment, Open MPI 4.1 reads a
// long message from the memory of its sender straight into the
// buffer of its receive, all of it: if it is too long, what lies behind the buffer is
// overwritten, and the receive fails only then. Nobody but the library knows both lengths
// before: the receive may have been posted before the message came, for any sender and tag. So
// the program contains a process_vm_readv of its own (guard.c), which the dynamic linker gives
// to the library. It finds the operation that receives at this address, and stops where its
// buffer ends; the library then reports the message as too long. It costs something for long
// messages only, whose buffer is looked for among the operations under way. If the
// library does not get this function (the program is linked in another way), Init refuses the
// setting.
//
// Collectives are guarded up to the end of the program's buffer. Ranks that disagree about
// the length of a reduction may still write over memory of the library.
//
// # What is not guaranteed
//
//   - The library moves bytes only inside engine calls; others may wait for this
//     rank, in one-sided calls too.
//   - If a rank dies, the launcher ends the program. [mpi.ErrPeerGone] is only what a blocking
//     call gets that waits for a rank that has ended well.
//   - Deadlocks are found among ranks in blocking calls that each need certain others; not
//     where any one of several could go on (any source, Waitany, locks, several calls of a
//     communication thread), or in circles of more than eight ranks.
//   - The order of collectives is checked only with WEFT_CHECK_COLLECTIVES=1 in the
//     environment of all ranks ([CheckVariable]) and in invariant builds; otherwise ranks
//     that differ hang, or worse. The check is not in time for the call itself: it ends the
//     run with [mpi.ErrOrder], at its end at the latest.
//   - Open MPI 4.1 says nothing to a rank that sends itself a message longer than a
//     receive it posted before; the receive gets its beginning. To other ranks, and in
//     the other order, it is [mpi.ErrTruncate].
//   - Locks are not fair: many readers can keep a writer waiting.
package system
