// Package trace shows what a run of a task program did: as a timeline, as a
// graph, and as a page of figures.
//
// # How to get a trace
//
// The runtime keeps an event log if it is asked to. Take the log when the tasks
// of interest are done, and write it; the extension names the format:
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
//	run.prv    the timeline for Paraver: wxparaver run.prv; run.pcf and run.row must lie beside it
//
// All functions take the logs of several ranks as well, and make one file of
// them; see below.
//
// Begin with the summary. It says whether there is anything to look for, and
// where.
//
// # A worked example
//
// This is the tiled Cholesky factorization of a 3 x 3 matrix of tiles on two
// workers, with a check of the result that runs two tasks of its own (the files
// in testdata are all of this run). The summary ends so:
//
//	where the time of the slots went (parallel efficiency 60.0 %)
//	  busy        60.0 %  60.0 us  in bodies
//	  submission  11.0 %  11.0 us  the program between its tasks, and its spawns
//	  scheduling   6.5 %  6.50 us  releasing successors, fetching ready tasks
//	  idle        22.5 %  22.5 us
//	    parked    13.0 %  13.0 us  asleep
//	    starved    7.5 %  7.50 us  awake, no task ready
//	    blocked    2.0 %  2.00 us  core given away and not used
//
//	bounds
//	  work T1             60.0 us  all bodies one after another
//	  critical path Tinf  34.0 us  the longest chain of dependent bodies
//	  parallelism            1.76  T1/Tinf: slots that could be kept busy
//	  lower bound         34.0 us  max(T1/slots, Tinf)
//	  this run            50.0 us  1.47 x the bound
//
// Read it from below. The bound says what a perfect scheduler without overhead
// could have done with these bodies: 34 us. Here it is the critical path and not
// the work (60/2 = 30 us), so two slots are already more than this graph can keep
// busy, and a third would not help. The shares say what the other 16 us went to.
// Idle time comes first: it is what a short critical path would cure, and the
// next table says which labels to work on:
//
//	on the critical path
//	  label  tasks    total   share  longest  task
//	  potrf      1  10.0 us  29.4 %  10.0 us  #1
//	  gemm       1  8.50 us  25.0 %  8.50 us  #5
//	  ...
//
// Overhead (submission and scheduling) of 17.5 % at 1.75 us per task comes
// second: bodies of 6 us are too small for it. The advice at the end of the page
// draws the same conclusions in words, and says how many tasks to fuse.
//
// Now the timeline. In Perfetto, each worker is a track; slices are bodies, named
// and coloured by label, and a colour means the same label in every file. Click
// on potrf #1: the arrows lead to the two trsm that waited for it. The one on
// worker 0 begins 1 us after its predecessor ended, the one on worker 1 half a
// us: that is the price of waking a worker against going on with the successor
// at hand. Where a track shows "parked", look at the counter "tasks ready" below:
// if it is 0 the graph was too narrow at this moment; if it is not, a worker that
// could have helped slept, which is the scheduler's fault. Where "wait" has
// nothing inside, the waiting task found nothing to help with. A body that waits
// holds the bodies that ran meanwhile: they are drawn inside it and not counted
// as its own time.
//
// The page (run.html) shows the same lanes and needs no program beside a browser:
// a click on a task draws what it waited for and what waited for it, and says in
// words what made it late; c marks the critical path, / searches, ? lists the
// keys. It is the quickest way from a long gap to its cause.
//
// Last the graph. Heavy lines are the critical path. Boxes hold the children of
// a task, and ellipses are waits for data. It is a picture for small runs: WriteDOT stops at
// [DOTLimit] tasks and says how many it left out.
//
// # Several ranks
//
// The ranks of a distributed run have a log each. Bring them together on one
// rank, in any order, and write one file:
//
//	trace.WriteFile("run.json", logs...)
//
// The log of a rank says which one it is and on which host, when it began on the
// clock of rank 0, and what messages it had. Each log is shifted by what it began
// later than the earliest one. A nil log counts for nothing, so ranks that kept
// none do no harm, and two logs of one rank are an error.
//
//   - Timeline: a process for each rank. Below its workers is a lane "messages",
//     with a slice from post to completion for each message. Chrome draws the
//     slices in this lane; Perfetto draws them above the workers, by kind. An arrow
//     leads from the post of each send to the completion of its receive, between
//     two marks in the lanes of the two ranks.
//   - Page: the lanes of each rank below its name, the messages in a lane of several
//     rows, and an arrow for each pair.
//   - Paraver: a task for each rank, a node for each host, communication records
//     between the threads "messages" of the ranks, and the number of messages
//     under way as an event.
//   - Graph: a box for each rank, and dashed blue lines from the tasks that sent
//     to those that received.
//   - Summary: a row for each rank, the figures of all together, and the messages.
//
// A send and a receive belong together if communicator, sender, receiver, tag and
// number are the same. One without the other has no arrow: because the log of the
// other rank is missing, or because it has lost it. The summary counts them. It
// also counts messages that arrived before they left, which have no arrow either:
// then the clocks of the ranks differ by more than a message takes, and so does
// all that compares times of two ranks.
//
// The testdata has a run of two ranks that exchange their edges, work on what is
// inside meanwhile, and add up a norm (halo.*). Its summary says:
//
//	messages (queued: from ready to posted; time: from posted to done)
//	  kind       count     bytes  mean queued  mean time      max
//	  send           3  8.06 KiB       500 ns    5.17 us  6.50 us
//	  recv           2  8.00 KiB       200 ns    12.3 us  12.3 us
//	  allreduce      2      16 B       200 ns    4.80 us  4.80 us
//	  total          7  16.1 KiB
//	  under way for 34.6 us, summed over the ranks: overlapped 57.8 % (20.0 us, a body ran on the same rank), exposed 14.6 us
//	  2 pairs of a send and a receive; 1 without the other one (1 because there is no log of its rank)
//
// Exposed time is what messages cost: one was under way, and no body ran on this
// rank. Overlapped time was hidden behind bodies; on a rank with many workers one
// body is enough for it, so look at the idle share too. A long "queued" says that
// the communication thread was late, a long "time" of a receive mostly that its
// send was.
//
// # What the figures mean, and what they cannot mean
//
//   - Body time is exclusive. Waits, blocks, and the bodies that a worker runs
//     inside a wait are not part of it. Preemption by the operating system is: on
//     a loaded machine all figures are too large.
//   - The critical path follows dependences, spawns (a child starts after its
//     parent spawned it) and waits: a WaitOn for the tasks that it had to wait
//     for, any other wait for all children that have ended by then. It is never
//     longer than the run.
//   - The bound takes the bodies as they were. Other placement may make bodies
//     faster (caches), so a run can beat its bound by a little in principle: it
//     is a bound on schedules, not on programs.
//   - A worker that spins without work and one that is about to fetch a task look
//     alike in the log. They are told apart by the number of ready tasks; see
//     [Shares]. Tasks that only one worker may run count as ready for all.
//   - A log of the serial mode gives work, path and parallelism as well: how wide
//     the graph is can be seen before it ever runs in parallel. Children that the
//     serial mode runs in place count as if they could run beside their parent.
//   - The critical path of several ranks is the longest of one rank: paths are not
//     followed through messages. It and the bound of several ranks, the largest of
//     one, are therefore lower than they could be. Tasks do not move from rank to
//     rank, so total work by all slots bounds nothing more.
//   - A task of the communication thread may have no body in the log. Then it is no
//     task in the figures, and paths lead through it as if it took no time.
//   - The time of the submitter outside bodies and waits is called submission. It
//     contains whatever the program does between its spawns.
//
// # Damaged logs
//
// A log that reached its limit has lost its newest events; one that was reset in
// mid-run lacks the starts of bodies that were under way. Every writer first
// makes the log sound: spans nest, ends that fit nothing are dropped, bodies that
// are still open end with the log, bodies older than it begin with it. Such
// bodies are marked as incomplete, and the summary counts them and the lost
// events. Messages get their times in order, and one that was not complete lasts
// to the end of its log. No log makes a writer panic, and what is written is always well-formed.
//
// # Costs
//
// Writing takes 0.4 to 0.6 us per event of the log, plus the disk: a million
// events make 82 MB of Chrome trace in 0.5 s, or 31 MB of Paraver trace
// (one core of an EPYC virtual machine; go test -bench Write). A message takes 0.3
// to 1.3 us. In memory, 120 to
// 230 bytes per event are needed beside the log. Nothing here runs while tasks
// run.
package trace
