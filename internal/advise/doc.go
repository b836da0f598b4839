// Package advise is the analysis behind commthread/advise, and the results file that
// bench/advise reads. It answers two questions about a program with blocking messages:
// which of them could be under way together, and how many seconds that would save. Run the
// program once, unchanged, with WEFT_ADVISE=run.json; then bench/advise ranks the places in
// that file, and with -diff prints the change where it is provably safe (package
// bench/internal/rewrite). Savings are measured, not modelled: after the run the same
// messages are exchanged again in both forms, in turn. The method is that of Natvig and
// Elster, "Run-Time Analysis and Instrumentation for Communication Overlap Potential"
// (EuroMPI 2010).
//
// # Vocabulary
//
//	call        one call of a method of mpi.Comm, as the program wrote it: Sendrecv
//	request     one message that a call sends or receives
//	site        where a call stands: function, file, line, and three return addresses
//	            (the paper's context)
//	chain       related calls, each of which could start before the ones before it have
//	            completed: a border exchange
//	occurrence  one pass of the program through a chain
//	pattern     peers, tags, sizes and layouts of the requests of an occurrence
//	written     the chain as it stands: every call waits for itself
//	fixed       the chain as rewrite leaves it: all requests started in the order of the
//	            calls, and one Waitall where the last call stood
//	slack       time from the completion of a chain to the first touch of what it received
//
// # The life of a run
//
//  1. Before the body of the program: a private communicator, and a calibration: the
//     time of a message between all pairs of ranks up to 512 KiB (linear beyond), and the
//     cost of protecting pages. Then a tool is put on the engine (mpi.Comm.Intercept).
//  2. During the body: calls are noted, chains recognised and timed. Nothing that the
//     program asked for is done in another way, so results, statuses, errors and the
//     order of messages are those of the program without the tool.
//  3. After the body, if it succeeded on all ranks: chains are merged over the ranks by
//     rank 0, and rehearsed: all ranks pass through the messages of a chain again, with
//     scratch buffers of the same layout and pauses of as much work as was measured (its
//     median), in blocks of some 5 ms that alternate between written and fixed (ABBA). What
//     the median pair of blocks differs by is the saving. Rank 0 writes the file.
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
//   - the first touch of a received page, where a [Watch] tells of it. In the first 16 chains,
//     and every 64th, touches are looked for; others end where those did.
//
// # Why the fixed form is rehearsed and not tried inside the run
//
// The paper starts the requests of every second occurrence non-blocking, under page
// protection, inside the run. Four things forbid that here. A slice of the Go heap shares
// its pages with other objects and cannot be protected. A Go program cannot resume
// after a protection fault without a handler outside Go. mpi returns the status by value,
// so a call cannot return before it has completed and still tell the truth. And
// the last call of a chain may have no neighbour (ProcNull): then nothing of it comes
// here, and the wait that stands there would be missed. A rehearsal changes no byte of
// the program, costs nothing while it runs, and works for buffers of any origin. What it
// does not see is the imbalance of the ranks: the waiting that comes of it is in the
// measured time of the chain and in neither side of the rehearsal, so it is never
// promised as a saving.
//
// A rehearsal needs a closed set of messages: every send of the pattern has its
// receive. Chains whose counts differ between ranks, and patterns that do not close, are
// estimated from the calibration ([Network.Written], [Network.Fixed]), and marked so.
//
// # Buffers and touches
//
// Buffers on the Go heap cannot be watched. They are counted and named in the file;
// that nothing touches them between two calls of a chain is then for the source
// analysis of package rewrite to prove, and without that proof no change is advised.
// What mpi.Alloc returns during the run lies in an arena of package commthread/dds, and a
// [PageWatch] tells of the first touches there; messages go by the arena's other view, so
// that the engine's accesses are none. The time from the end of a chain to the touch
// is its slack: how much lower the wait could stand ([Run.Laters]). Where userfaultfd cannot
// be used, with the race detector or without cgo, the file says so (Run.Watched).
//
// # Verification of non-blocking code
//
// Requests of Isend and Irecv are completed towards the program only when it waits or
// polls, so that the wait is seen even if the bytes were there before. Between start
// and wait, another operation on the same cells is a race, whatever the timing. In the
// first 16 passes through each call, and every 64th after that, what is sent is compared
// at the wait with what it was at the start, and messages are received aside and put in
// place at the wait, which shows whether the program wrote to the buffer. Reads before
// the wait show with a Watch, and otherwise, for whole variables, in the source
// (rewrite.EarlyTouches).
//
// # Who owns what
//
// The tracker of a rank belongs to the goroutine that is inside the engine of the rank
// (mpi.Engine has one at a time). Trackers of in-process ranks share nothing. There are no locks.
//
// # What is not guaranteed
//
// Chains are those of the run: other sizes may have others. Calls that a communication
// thread makes for tasks are counted and not advised on: tasks overlap already. The
// tool's own time during the run is measured and put into the file. What an engine offers
// beside mpi.Engine (a poller in C, for instance) is hidden while the tool is on it, and
// whoever asks for it takes its other way.
package advise
