// Package trace shows a run of a task program as a timeline, as a graph, and as a page of
// figures.
//
// The runtime keeps an event log with the option dataflow.Trace. Take the log when the
// tasks of interest are done, and write it; the extension names the format:
//
//	err := dataflow.Run(func(rt *dataflow.Runtime) error {
//		submit(rt)
//		if err := rt.Wait(); err != nil {
//			return err
//		}
//		return trace.WriteFile("run.txt", rt.Log())
//	}, dataflow.Trace(0))
//
//	run.txt    the summary: cat run.txt
//	run.html   the timeline for any browser, in one file that needs no network
//	run.json   the timeline: drop it on https://ui.perfetto.dev, or load it in chrome://tracing
//	run.dot    the task graph: dot -Tsvg run.dot -o run.svg, and open it in a browser
//
// Begin with the summary: its first lines say what bounded the run, how much time is at stake, and
// where ([Bottleneck]); then it says where the time went, and what to do about it. To see what a
// change did, compare two runs (WriteComparison, WriteHTMLComparison, SideBySide). README.md
// in the folder of this package reads two runs line by line.
//
// # Several ranks
//
// Each rank of a distributed run has a log. Bring the logs together on one rank, in any
// order, and write one file:
//
//	trace.WriteFile("run.json", logs...)
//
// A log names its rank and its host, the time of its beginning on the clock of rank 0, and
// its messages. The file shifts each log by its beginning. Nil logs are left out; two logs
// of one rank are an error.
//
// A send and a receive are a pair if communicator, sender, receiver, tag and number are the
// same. A message has no arrow if the log of the other rank is missing or has lost its
// half, or if it arrived before it left. In the last case the clocks of the ranks differ by
// more than a message takes, and so do all times compared between them. The summary counts
// both.
//
// # What the figures mean
//
//   - Body time is exclusive: without waits, blocks, and the bodies that a worker runs
//     inside a wait. It includes preemption by the operating system, so on a loaded machine
//     all figures are too large.
//   - The critical path follows dependences, spawns (a child starts after its parent
//     spawned it) and waits: from a WaitOn to the tasks that it waited for, from any other
//     wait to all children that have ended by then. It is never longer than the run.
//   - The bound takes the bodies as they were. Another placement may make bodies faster
//     (caches), so a run can beat its bound: it is a bound on schedules, not on programs.
//   - A worker that spins without work and one that is about to fetch a task look alike in
//     the log. The number of ready tasks tells them apart; see [Shares]. A task that only
//     one worker may run counts as ready for all.
//   - A log of the serial mode gives work, path and parallelism, too: the width of the graph
//     is known before it ever runs in parallel. Children that the serial mode runs in place
//     count as if they could run beside their parent.
//   - The critical path of several ranks is the longest path of one rank: paths do not
//     follow messages. So this path, and the bound made from it, are lower than the true ones.
//   - A task of the communication thread may have no body in the log. Then it is no task in
//     the figures, and paths pass through it in no time.
//   - The time of the submitter outside bodies and waits is called submission. It contains
//     the program's own work between its spawns.
//
// # Damaged logs
//
// A log that reached its limit has lost its newest events; a log that was reset in mid-run
// lacks the starts of running bodies. Every writer first repairs the log: spans nest, ends
// without a start are dropped, open bodies end with the log, and older bodies begin with
// it. The summary counts these incomplete bodies and the lost events. Messages get their
// times in order, and an incomplete message lasts to the end of its log. No log makes a
// writer panic, and every file is well-formed.
//
// # Costs
//
// Writing takes 0.4 to 0.6 us per event of the log, plus the disk. A million events make 82
// MB of Chrome trace in 0.5 s (one core of an EPYC virtual machine; go test -bench Write). A
// message takes 0.3 to 1.3 us. Memory: 120 to 230 bytes per event besides the log. Nothing
// here runs while tasks run.
package trace
