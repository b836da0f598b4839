// Package commthread moves messages while the cores compute: it gives a runtime one
// thread that makes all MPI calls of a rank, and runs communication as tasks.
//
//	err := commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
//		for k := range steps {
//			ct.Recv(rt, c, mpi.Of(halo), left, k)            // a task that writes halo
//			ct.Send(rt, c, mpi.Of(edge), right, k)           // a task that reads edge
//			inner.Spawn(rt, u)                               // runs meanwhile
//			border.Spawn(rt, u, halo, edge)                  // runs when halo is there
//		}
//		return rt.Wait()
//	}, nil)
//
// Why a thread: an MPI library moves bytes only while the program is inside a call of
// it. Irecv, 30 ms of work and Wait of 2 MiB over 1 Gbit/s took 46.0 ms with Open MPI
// 4.1, as long as a blocking receive; with a thread that polls, 30.1 ms. And a blocking
// call in a task costs a worker its core, or deadlocks when all workers sit in one
// (Marjanovic et al., Hybrid MPI/SMPSs, section 3).
//
// # Vocabulary
//
//	operation   a comm task that is one MPI call: Send, Recv, Bcast ... A descriptor
//	            without a body
//	body        a function of the program's that runs on the thread (tasks.OnComm); it
//	            may make any MPI call, also blocking ones
//	posted      handed to the engine; under way until it completes
//	window      how many operations may be under way before posting waits
//	forwarded   a call of another goroutine, made by the thread in its place
//	kin         a communicator and the thread's private duplicate of it
//
// # States of an operation
//
//	spawned     it has its place in the order of its domain (entry)
//	ready       its dependences are satisfied
//	offered     and nothing before it must be posted first: in receives or sendable
//	posted      in the list pending
//	completed   in finished, for a moment
//	ended       the runtime has released what depends on it
//
// One whose producer has failed, or whose run was cancelled, is dropped instead: its
// communicator is revoked, so that the peers do not wait for it, and it is skipped. One
// whose arguments are wrong is refused when it is posted, with the same consequence.
//
// # Order
//
// MPI matches messages of one communicator, peer and tag in the order in which they are
// posted; a task graph runs them in any order. So operations of one key are posted in
// the order of their spawns: a ready one waits until those before it have been posted.
// A key is
//
//	send         communicator, destination, tag
//	receive      communicator, source, tag; a wildcard meets every key it could match
//	collective   communicator
//	one-sided    window
//	fence        communicator, as a collective, and window
//
// A body may send and receive anything. Unless it is declared tasks.Independent, it
// starts when all operations before it have been posted and all bodies before it have
// ended, and operations behind it are posted when it has ended.
//
// All this counts among the tasks of one domain: the main program, or the children of
// one task. Tasks of different domains that use one key are ordered by nothing; give
// them different tags or communicators.
//
// # Lazy messages
//
// A receive ends when every byte is there. One that is spawned with LazyRecv, of a message
// sent with LazySend, into memory of an arena (package commthread/dds), lets the tasks that
// read it as tasks.Lazy(tasks.Input) start at its first strip: they wait where they touch
// what is missing. With Attend, a spare worker has their core meanwhile.
//
// # Who owns what
//
// The engine belongs to the thread. A body is a coroutine of it (iter.Pull: one of the
// two runs, a switch takes 0.1 us): while it runs, it may call the engine directly, and
// gives the thread back whenever it waits. So is a compute task that the thread helps
// with (placement Help). A coroutine lives and dies with the thread that made it: a body
// that calls runtime.Goexit ends alone, and one must not change the locks of its thread
// (runtime.LockOSThread) from one wait to the next. Calls of other goroutines
// (forwarder) are copied, made by the thread, and completed with their results; the
// submitting goroutine runs tasks while it waits for one, a worker gives its core to a
// spare. When the thread has ended (gone, set with mu held), callers call the engine
// themselves again.
//
//	operation    from Commit to its end: the thread
//	order        domains, their lists and queues, the lists of what may be posted:
//	             all under Thread.mu, which spawning goroutines and workers take for
//	             tens of ns
//	finished, bodies, idle, counts
//	             the thread alone
//	window       the thread; changed under mu, for reports
//
// # The loop
//
//	accept    take commands, start bodies, post what is offered: receives first, then
//	          by priority, in batches
//	Poll      the engine makes progress; completed operations go to finished
//	settle    end their tasks; this makes other tasks ready
//	resume    go on with bodies whose wait has ended
//	rest      nothing of this was any use: spin a little, then sleep
//
// Sleep and wake, with sequentially consistent atomics: the thread sets asleep, then
// looks at poked, then sleeps in the engine. Who brings something puts it into a list
// and sets poked, under mu, and then looks at asleep: one of the two sees the other. A
// wake while awake ends the next sleep at once, nothing worse. accept clears poked under
// mu before it takes the lists, and its caller looks at everything again.
//
// An engine that is told of arrivals (in-process ranks) sleeps until there is one. On
// one that must be polled, the thread sleeps 25 times the measured cost of a timer
// wake-up, and at least 0.2 ms, between polls, because polling steals from the worker
// on the same core: with a period of 50 us a quarter of it, with 0.5 ms nothing
// measurable. With nothing under way it polls once per millisecond if it has sent
// something since the last collective operation or a window is open, because a peer
// may need its progress, and otherwise sleeps until it is given something.
//
// A window in which everything waits doubles: two ranks whose windows held only calls
// that wait for each other's next ones would stand still.
//
// # Errors across ranks
//
// A comm task that is skipped, cancelled or refused revokes its communicator and the
// kin: pending and later operations on it fail on all ranks with mpi.ErrRevoked and the
// reason, which names the rank and the first failed task. A body that is skipped or
// fails (but for ErrRevoked itself) may have been expected on any communicator: it
// revokes all that the thread knows, or has calls on; so does the cancellation of the
// runtime. Operations that fail in the engine are errors of their tasks, and poison what
// depends on them.
//
// # Locks
//
// Thread.mu, under which no engine, no runtime and no code of the program is called,
// except Call.Complete of a forwarded call (its OnDone must not call back); threads.mu
// of the registry for reports. Never two at once.
//
// # Not guaranteed
//
// An order between operations of different keys; progress while a body computes, or
// while a compute task that the thread helps with runs (placement Help); that a transfer
// ends when its rank never polls and its engine needs that; that no call of this rank is
// caught by the revocation of another that is ahead, such as the last one of Start. The
// duplicate that Start and Use make stays until the end of the program.
//
// A body on a worker that waits for its children runs other tasks meanwhile, on top of
// itself. If one of those blocks in a message that some rank sends only after the first
// body has gone on, neither does. Bodies on the thread do not lie on top of each other:
// what blocks in messages belongs there (tasks.OnComm).
package commthread
