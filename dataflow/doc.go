// Package dataflow runs tasks: who runs what, when, on which core.
//
// A program spawns tasks as if it called functions (package tasks); the runtime
// finds what must wait for what (package deps), and runs every task as soon as
// it may, on workers pinned one per core:
//
//	err := dataflow.Run(func(rt *dataflow.Runtime) error {
//		for k := range n {
//			potrf.Spawn(rt, a[k][k])
//			for i := k + 1; i < n; i++ {
//				trsm.Spawn(rt, a[k][k], a[i][k])
//			}
//			...
//		}
//		return rt.Wait()
//	})
//
// # Promises
//
// Running the bodies in the order of their spawns on one goroutine gives the same
// bytes (option [Serial] does just that). Nothing waits that need not: there is no
// barrier but Wait. And a run can say what it did ([Trace] and package
// dataflow/trace), why it does not move ([Stall]), and what was declared wrongly
// ([Verify], [Seeded]).
//
// A program needs [Run], the methods Wait and WaitOn of [Runtime], and perhaps some
// options; what follows says how it works inside. [Log] and its parts are for package
// dataflow/trace.
//
// # Vocabulary
//
//	worker      a goroutine locked to a thread, pinned to a core, that runs tasks.
//	            Worker 0 is the goroutine that made the runtime: it spawns, and runs
//	            tasks inside Spawn (above the window), Wait, WaitOn and Close
//	spare       a worker that has the core of one that is inside Block
//	outside     not a worker: stands for goroutines that end held events
//	successor   a task that became ready because this worker ended another; the
//	            first one runs next on the same worker, its data is in cache
//	entrance    tasks of the main program that were ready when spawned, in order
//	window      unfinished tasks of the main program, or children of one task, from
//	            which on Spawn runs some
//
// # Who owns what
//
// The queues, in the order in which a worker looks:
//
//	next         its successor                          own, no synchronization
//	priorities   ready tasks with a priority above 0    all workers, a mutex
//	mail         tasks bound to it (OnWorker)           others put, a mutex
//	inject       tasks made ready from outside          a mutex
//	dq           its own ready tasks, youngest first    Chase-Lev deque
//	entrance     oldest first, several at once          one producer, CAS
//	others' dq   oldest first                           CAS
//	priorities   those with a negative priority
//
// A task with a higher priority than next goes before it, so a priority counts
// everywhere within the length of the bodies that are running.
//
// There is no count of live tasks: every worker counts the tasks it ended and
// publishes the number every 16 tasks (more often if the window is small: together
// they keep less than an eighth of it to themselves) and when it runs out of work;
// Wait and the window add them up. A counter that all workers write costs more than
// a task.
//
// Above the window, the submitter runs whatever it finds, and sleeps if it finds
// nothing. A body that spawns runs only children of its own, and never sleeps: what
// they need is not further down on its stack, and nothing else is buried under them.
//
// Tracker, records and domain of the main program belong to worker 0; those of a
// task's children to the worker that runs its body. A record goes home to its
// allocator through a chain of 32 (package internal/task).
//
// # Sleeping and waking
//
// A worker is active, spinning, parked, waking (on its way from parked), or away
// (inside Block, or a spare not needed). Two counters: spinning, parked.
//
//	Somebody queues a task              A worker runs out of work
//	Q1  put it into a queue             S1  state = spinning, spinning++
//	Q2  if parked == 0, done            S2  look at all queues, for 100 us
//	Q3  if spinning > 0, done           S3  found: state = active; if --spinning
//	Q4  spinning: 0 -> 1, for the           == 0 and there is more: Q2
//	    worker to be woken              S4  else state = parked, parked++, spinning--
//	Q5  some worker: parked -> waking,  S5  look at all queues; found: parked -> active
//	    parked--, leave a token             (if a waker was faster, take its token)
//	Q6  none is parked any more:        S6  sleep until there is a token
//	    spinning--; if work, Q2         S7  waking: it is counted as spinning; parked
//	                                        (woken for something else): count it; S2
//
// A worker starts out as parked, without a goroutine: the first wake-up makes one, in
// the state waking, and takes Ps for all workers. So a runtime without tasks, or with
// tasks that the submitter runs, costs no thread and no change of GOMAXPROCS. When the
// runtime closes, the thread goes back to the Go scheduler with the mask it had.
//
// All are sequentially consistent atomics. No task is left lying while a worker
// sleeps for want of it: if Q2 sees parked == 0, the sleeper has yet to do S4, and
// its S5 comes after Q1. If Q3 sees a spinner, that one finds the task in S2, or
// finds another and wakes a worker in S3, or comes to S5 after Q1; if the spinner is
// Q4's promise and Q5 finds nobody, Q6 looks after the task. Wakes are chained:
// one wake-up wakes the next. A token (osthread.Parker) left for a worker that is
// awake makes its next sleep return at once, nothing worse.
//
// Short tasks (clause Cost) are queued without a wake-up until they add up to what it
// costs; so that they, and what they make ready, start all the same, whoever queues one
// sees to it that half a millisecond later a goroutine does Q2 for it (wakeLater).
//
// Whoever waits for something else than work (Wait, the window, a child, a task run
// in place) sleeps in the same way, and is left a token by whoever brings that
// about: it announces what it waits for before S5, which checks it again.
//
// Where every worker has a core to itself and a communication thread lends its engine
// (executor.Lender), a worker without work makes turns of that in S2 for as long as something is
// under way there: it stays in the state spinning, looks at all queues between two turns,
// and counts as asleep for the window.
//
// # Waits inside bodies
//
// A body that waits (for its children, in WaitOn, for a task to be run in place) runs others
// meanwhile, on top of its stack, and goes on only when these have ended. So that its event
// does not find it below bodies that wait for theirs, these are its own descendants, tasks
// that only this worker may run, and tasks whose bodies get no Context, which wait for
// nothing. If all that is ready is a task of another kind, a spare worker takes over core and
// task (instead, in bury.go), unless the wait is over within 25 us; the body sleeps until
// what it waits for has come, or something that its worker alone may run. A quarter of the
// spares that the process may have serve this; beyond that, bodies that wait are run on top
// of each other, and the lowest goes on last. The main program, which may be in WaitOn, runs
// any task.
//
// # Spares
//
// A body inside Block, or in a wait as above, has its core taken over (relieve) by a spare
// worker: one that rests, if possible on the same core, or a new one. The process has at
// most 2048, each a thread beside that of the sleeper: Go ends a process with 10 000
// threads, and systems often allow a user 4096. Beyond that the function of Block runs all
// the same, so that bodies that wait for each other inside Block go on, and the core is idle
// until a spare of the same runtime is free (Runtime.short, served by rest). A program can
// still deadlock so,
// with more bodies inside Block than spares and cores together, all waiting for a task
// that has not started: the stall report says of each that its core is idle for want of a
// spare.
//
// # Errors
//
// A task fails by returning an error, by a panic or Goexit of its body, by a
// mistake in its spawn, or because a child or held event failed. Tasks that depend
// on it are skipped, also those spawned later, until Wait has returned the error;
// others go on ([StopOnError]: none start). Failed records stay with their domain
// until then, because the tracker's references to them carry the failure.
//
// A panic is recovered where the worker's loop is, not around every body: the
// loop starts again after it. A body that helps while it waits is below such a
// loop of its own, so a panic in a task that it helps with is not its own. A body
// that ends its goroutine ends its task and those below it on that goroutine;
// another goroutine takes the worker's place.
//
// A task with an OnReady hook is kept aside (worker.hooks) when its dependences are
// satisfied, until the worker has finished with the task that ended, so that a hook
// that ends the goroutine leaves nothing half done. Where the goroutine is not a
// worker's (an event, the executor), the hook has one of its own.
//
// # Commutative locks
//
// A task takes the locks of its commutative accesses when it has been found and is
// about to run (mayRun), all of them or none; while it waits for one it holds no other
// and is in no queue, but with that lock (deps.Lock). When a lock becomes free, the most
// urgent waiter goes through admit into a queue again, and competes for the lock like
// any other. So a lock belongs to tasks that run, or wait for their children or events,
// and never to one that is queued. Waiters that one worker alone can run (OnWorker, or a
// task to be run in place) may take long to come back, so the next one leaves with them.
// Tasks of the executor, which starts bodies in program order, take no locks: their
// commutative accesses are registered as Inout.
//
// # Waits that are given up
//
// If a stall is to be an error, the report is handed to the submitter's innermost
// wait if that can return without what it waits for (worker.yields): Wait, WaitOn, a
// body's wait for its children, and the wait for a task to be run in place. That task
// then belongs to whoever makes it ready (task.Cold.Leave, MakeReady: one word says
// who was first), and is queued as others are. Until Wait has returned the report,
// further waits of this kind do not begin.
//
// # Locks
//
// In this order, if ever two are held: a commutative lock's mutex; a domain's
// failures; Runtime.mu; registry, labels, a log, mailbox and priorities are
// innermost. No user code runs under any.
//
// # Not guaranteed
//
// Fairness; an order among ready tasks of equal priority; that a task bound to a
// worker runs while that worker is inside Block; that OnReady hooks run on a
// worker. Deadlocks among bodies that wait for each other by other means than
// the runtime's are the program's: the stall report names those it can see.
//
// # Cost
//
// See bench/taskbench. On a 2.6 GHz EPYC core, spawning and running an empty task
// with three inputs and an output takes about 0.13 us on one worker.
package dataflow
