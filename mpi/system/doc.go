// Package system is the machine's MPI library as an engine of package mpi. Builds with cgo
// and the tag mpi contain it; in all others [Available] is false and the error of [Init]
// tells how to build. The compiler selects the library:
//
//	CC=mpicc.openmpi go build -tags mpi ./...
//	CC=mpicc.mpich   go build -tags mpi ./...
//
// Programs use it through package mpi/world.
//
// # Mapping to MPI
//
// Messages, and collectives with predefined operations on predefined kinds, are MPI's
// non-blocking ones; strided buffers are derived datatypes, cached, in messages and
// one-sided calls, and packed in collectives. Reductions with a user's operation, MaxLoc
// and MinLoc are schedules of messages (package mpi/internal/schedule), and so are maxima
// and minima of unsigned integers if the library compares them as signed. Each communicator
// has a hidden twin for all collectives, so that they never match a message of the program.
// Every Poll tries pending probes, locks and awaited notifications again. A message may
// have more than 2^31-1 elements, a part of a collective may not. The library chooses the
// order in which it adds floats, and the results of Max and Min with NaN.
//
// A window is an MPI window, locked shared by all ranks for its lifetime, and a second one
// of hidden words: a lock, taken by fetch-and-add, and the notification counters. PutNotify, PutTileNotify,
// Flush and Unlock complete their accesses at the target before they return, even from
// Post: MPI has no non-blocking flush. Accumulate returns from Post when its buffer may be
// reused, so that accesses of one rank to one place keep their order. Accumulate with an
// operation that MPI lacks excludes only other operations of this kind.
//
// # Settings
//
// Init sets, in the environment of Open MPI and unless they are set: no signal handlers;
// long messages only as fragments, whose length the library checks, 16 at a time between
// processes of one machine; and, on machines without InfiniBand, no windows of UCX, which
// offers them but cannot create them. Both processes copy fragments at the same time: 1 MiB
// took 30 to 45 us, and by the single copy of the system 90 to 110; 16 MiB took as long by
// either.
//
// For MPICH, where its launcher starts processes on several hosts without InfiniBand, Init sets
// UCX_RNDV_THRESH=1m unless it is set: messages of up to 1 MB between hosts leave without a handshake.
// Over TCP messages that begin while others cross made both slow, as if their handshakes waited behind data (in C, too: 16 of
// 128 KB each way, two or four at a time, 24 ms and not 18): NAS FT,
// class A, in the three forms that overlap, took 3.1 to 4.0 s without the setting and 2.4 to 2.9 s with it, on two
// hosts at 1 Gbit/s. Such messages wait in the memory of the receiver if it has posted no receive.
//
// The monitor thread of the Go runtime becomes SCHED_IDLE (package internal/osthread says how and at
// which price). It took the core of a rank that waits in the library 13 800 times a second, now 2300
// times, and the other rank waits, too: on two virtual cores, where a system call takes 1 us, messages of 8 B and of 1 MiB took
// 1.9 times as long before under Open MPI, and 1.3 and 1.2 times under MPICH.
//
// WEFT_CHECK_COLLECTIVES=1 ([CheckVariable]) compares the collective calls of all ranks.
//
// # Not guaranteed
//
//   - The library moves bytes only inside engine calls; others may wait for this rank, in
//     one-sided calls too.
//   - If a rank dies, the launcher ends the program. Only a blocking call that waits for a
//     rank that has finished normally gets [mpi.ErrPeerGone].
//   - Deadlocks are found among ranks in blocking calls that each need certain others; not
//     if one of several ranks could end a call (any source, Waitany, locks, several calls
//     of a communication thread), or in cycles of more than eight ranks.
//   - The order of collectives is checked only with WEFT_CHECK_COLLECTIVES=1 in the
//     environment of all ranks and in invariant builds; otherwise ranks that differ hang,
//     or get wrong data. The check may report a call only after its end: it ends the run
//     with [mpi.ErrOrder], at the latest at the end of the run.
//   - Open MPI 4.1 reports no error to a rank that sends itself a message longer than a
//     receive it posted before; the receive gets its beginning. To other ranks, and in the
//     other order, it is [mpi.ErrTruncate].
//   - Ranks that disagree about the length of a reduction may overwrite memory of the
//     library (see guard.c).
//   - Locks are not fair: many readers can keep a writer waiting.
package system
