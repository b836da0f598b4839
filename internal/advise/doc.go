// Package advise is the analysis behind commthread/advise, and the results file that
// bench/advise reads. It answers two questions about a program with blocking messages: which
// of them could be under way together, and how many seconds that would save. Run the program
// once, unchanged, with WEFT_ADVISE=run.json. Then bench/advise ranks the places in that
// file, and with -diff prints the change where it is provably safe (package
// bench/internal/rewrite). Savings are measured, not modelled: after the run the same
// messages are exchanged again in both forms, in turn. After Natvig and Elster, "Run-Time
// Analysis and Instrumentation for Communication Overlap Potential" (EuroMPI 2010).
//
// # Vocabulary
//
//	call        one call of a method of mpi.Comm, as the program wrote it: Sendrecv
//	request     one message that a call sends or receives
//	site        the place of a call: function, file, line, and three return addresses
//	            (the paper's context)
//	chain       related calls, each of which could start before the ones before it have
//	            completed: a border exchange
//	occurrence  one pass of the program through a chain
//	pattern     peers, tags, sizes and layouts of the requests of an occurrence
//	written     the chain as written: every call waits for its own messages
//	fixed       the chain after the rewrite: the calls of an mpi.Batch, and one Wait in place of
//	            the last call
//	cycle       from the beginning of an occurrence to that of the next
//	window      several cycles of the run, the same on all ranks
//	replay      a window once more: all calls of the program, and as much computation before
//	            each as was measured
//	rehearsal   the messages of a chain alone, with pauses in place of what lies between
//	slack       time from the completion of a chain to the first touch of a received buffer
//
// # The life of a run
//
//  1. Before the body of the program: a private communicator, and a calibration: the
//     time of a message between all pairs of ranks up to 512 KiB (linear beyond), and the
//     cost of protecting pages. Then a tool is put on the engine (engine.Comm.Intercept).
//  2. During the body: calls are noted, chains recognised and timed. The tool changes no
//     call, so results, statuses, errors and the order of messages are the same as without
//     it.
//  3. After the body, if it succeeded on all ranks: rank 0 merges the chains of all ranks.
//     Windows of the run are replayed, with one chain as written and changed in turn (ABBA): the
//     saving is the median difference of a pair. Rank 0 writes the file.
//
// # What a replay is, and when there is none
//
// Each rank has recorded its first 32768 calls, with the computation before each, its messages as
// they came (also those from any source), and its collective calls. A replay makes them again on
// private communicators, with buffers of the same layouts, and computes as long as the program did,
// rank by rank. So ranks wait for each other as in the program: a change may shorten waits
// elsewhere, or move a wait only. (The paper's estimate, a formula for the messages of a chain, is
// off by up to three times where waits matter; a replay by 10 % typically.)
//
// A window must be closed: its sends are those that its receives took. All ranks compare sums of
// their messages and collective calls; if they differ, if the program made non-blocking or one-sided
// calls, reductions of its own, or communicators in a window, or if a chain came too seldom, there
// is no replay. Then the messages of the chain are rehearsed alone, in blocks of some 5 ms, with
// pauses of as much work as was measured (its median). That needs a closed pattern: every send has
// its receive. What is neither is estimated from the calibration ([Network.Written],
// [Network.Fixed]), and marked so.
//
// # What ends a chain
//
//   - a request that overlaps one of the chain in a cell, where either receives: cells are
//     compared exactly, with their strides, so the interleaved columns of a matrix do not
//     end one (section 2.2 of the paper);
//   - a collective or one-sided operation, a probe, or a non-blocking call;
//   - the first call of the chain again: the next time step;
//   - computation between two calls: more than 20 us, unless the same two calls have
//     been seen closer together;
//   - the first touch of a received page, if a [Watch] reports it. Touches are looked for in
//     the first 16 chains and in every 64th; the other chains end at the same calls.
//
// # Why the fixed form is replayed and not tried inside the run
//
// The paper starts the requests of every second occurrence non-blocking, under page
// protection, inside the run. Four things forbid that here. A slice of the Go heap shares
// its pages with other objects and cannot be protected. A Go program cannot resume
// after a protection fault without a handler outside Go. mpi returns the status by value, so
// a call cannot return a true status before it has completed. And the last call of a chain may
// have no neighbour (ProcNull): then the tool does not see it, and would miss the wait in its
// place. A replay after the run changes no byte of the program, costs nothing while it runs, and
// works for buffers of any origin. It does not see what the program's memory accesses and those of
// the messages cost each other in the caches.
//
// # Buffers and touches
//
// Buffers on the Go heap cannot be watched. They are counted and named in the file. The
// source analysis of package rewrite must then prove that nothing touches them between two
// calls of a chain; without the proof no change is advised. Whether buffers share memory is checked
// by the changed program (mpi.Batch); a pair of calls that once ended a chain by an overlap is
// never advised.
//
// Memory of mpi.Alloc during the run lies in an arena of package commthread/dds, and a
// [PageWatch] reports the first touches there. Messages use the arena's other view, so the
// engine's accesses are no touches. The time from the end of a chain to the touch is its
// slack: the wait could move down by it ([Run.Laters]). If userfaultfd cannot be used, with
// the race detector or without cgo, the file says so (Run.Watched).
//
// # Verification of non-blocking code
//
// The program sees requests of Isend and Irecv complete only when it waits or polls, so the
// tool sees the wait even if the bytes came before. Between start and wait, another operation
// on the same cells is a race, whatever the timing. Buffers are compared in the first 16
// passes through each call, and in every 64th after that. A send buffer must be the same at
// the wait as at the start. A message is received into other memory and copied at the wait,
// which shows whether the program wrote to the buffer. A Watch shows reads before the wait;
// without it, the source shows reads of whole variables (rewrite.EarlyTouches).
//
// # Who owns what
//
// The tracker of a rank belongs to the goroutine that is inside the engine of the rank
// (engine.Engine has one at a time). Trackers of in-process ranks share nothing. There are no locks.
//
// # What is not guaranteed
//
// Another problem size may have other chains than the run. Calls of a communication thread
// for tasks are counted and not advised on: tasks overlap already. The tool's own time during
// the run is measured and put into the file. The tool hides interfaces of an engine beyond
// engine.Engine (a poller in C, for instance): callers use their fallback.
package advise
