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
// Where every worker has a core to itself, one that has nothing to run makes the calls in
// place of the thread, and so does one that runs a body with many calls (tasks.Leased): it
// borrows the engine. So a message costs neither a wake-up nor a share of a core that
// computes. See "The lease".
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
//	lease       who has the engine: the thread, nobody, or a worker
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
// The engine belongs to who has the lease, the thread if no worker has it, and with it
// all that is of the thread below, but for its coroutines. A body is a coroutine of the
// thread (iter.Pull: one of the
// two runs, a switch takes 0.1 us): while it runs, it may call the engine directly, and
// gives the thread back whenever it waits. So is a compute task that the thread helps
// with (placement Help). A coroutine lives and dies with the thread that made it: a body
// that calls runtime.Goexit ends alone, and one must not change the locks of its thread
// (runtime.LockOSThread) from one wait to the next. Calls of other goroutines
// (forwarder) are copied, made by who has the engine, and completed with their results; the
// submitting goroutine runs tasks while it waits for one, a worker gives its core to a
// spare. When the thread has ended (gone, set with mu held), callers call the engine
// themselves again.
//
//	operation    from Commit to its end: who has the engine
//	order        domains, their lists and queues, the lists of what may be posted:
//	             all under Thread.mu, which spawning goroutines and workers take for
//	             tens of ns
//	finished, bodies, idle, counts
//	             who has the engine
//	window       who has the engine; changed under mu, for reports
//
// # The loop
//
//	accept    take what has been brought, post what is offered: receives first, then by
//	          priority, in batches
//	Poll      the engine makes progress; completed operations go to finished
//	settle    end their tasks; this makes other tasks ready
//	start     commands, and new bodies
//	resume    go on with bodies whose wait has ended
//	oblige    give the engine to a worker that asks for it
//	rest      nothing of this was any use: spin a little, then sleep
//
// The first three are a turn, which a worker with the engine makes as well. accept clears
// poked under mu before it takes the lists, and its caller looks at everything again.
//
// # The lease
//
// One word says who has the engine, and three more belong to it:
//
//	own    the thread's: it is awake, or has been woken
//	free   nobody's: the thread sleeps or is about to
//	called nobody's: the thread has been woken, but a worker may be faster
//	lent   a worker's: the thread sleeps or is about to
//	poked  something has been brought, or has arrived
//	asker  the worker that waits for the engine, if one does
//	until  when the thread, if it sleeps, wakes up by itself
//
// The thread                            Who brings something
//
//	T1  a step; if somebody asks: T5       P1  put it into a list, poked = true
//	T2  nothing to do: until = ...;        P2  if the word is free: free -> called, and
//	    own -> free                            wake the thread
//	T3  if poked or somebody asks:
//	    nobody's -> own, T1              A body of a worker
//	T4  sleep until woken, or until;
//	    own, or nobody's -> own: T1;       A1  asker = itself
//	    lent: until = later, look at       A2  nobody's -> lent: asker = none, it has it
//	    the word once more, T4             A3  else sleep until it is granted
//	T5  asker = none, own -> lent,
//	    grant, T4                        A worker that gives the engine back
//
//	A worker that has nothing to run       R1  the thread is needed: lent -> own, wake it
//	                                       R2  somebody asks: asker = none, grant
//	W1  nobody's -> lent                   R3  lent -> free; if somebody asks:
//	W2  turns, until it finds work, is         nobody's -> lent, R2
//	    asked, or has nothing to wait      R4  if poked, or until is too late for what
//	    for: R1                                is under way: P2
//
// Nobody's is free or called. All are sequentially consistent; the arrows are
// compare-and-swaps but where the word is own or lent before, which only who has the engine
// leaves (and T4 sees own come). So there is one user of the engine. A thread that has been
// woken may wait for milliseconds behind another one on its core: a worker need not wait for
// it. If one takes the engine, the thread finds it lent, or free again, when it comes (T4).
//
// Nothing is left lying. Take a P1. If P2 sees free, the thread is woken, by this P2 or by
// who was faster, or a worker has taken the engine. If P2 sees own, the thread has yet to
// take T2, and T3 comes after P1. If it sees called, the thread, or a worker before it, has yet
// to take the engine, and looks after that. If it sees lent, the worker has yet to take R1 or R3, and
// R4 comes after P1 (after R1 the thread looks). Nobody asks for ever: after A1, A2 sees own
// or lent, and whoever had the engine then has yet to look for who asks (T5, T3, R2, R3).
// Calls under way are looked at: at R4, either the thread's until is early enough, or it is
// woken; if it moves its until meanwhile, it looks at the word after that (T4), and R4 looks
// at until after the word was freed. No deadlock: who has the engine waits for nobody,
// except in R1, where a body passes it to the thread and asks for it again, and the
// thread serves who asks after every step. TestLease_protocol_exhaustively visits all
// interleavings, and finds each of these looks missing if it is left out.
//
// A coroutine lives and dies with its thread. So a worker does not start or resume one: the
// thread is needed then, and stays so until it has had the engine. A body on a worker that
// waits is a loop of turns; a body that waits for the runtime (children, Block) puts
// the engine back meanwhile. One body at a time is given to the workers, so that no other
// worker waits for it to end. A worker that has ended a task posts what that has made
// ready by itself, if nobody has the engine (Serve): that costs a microsecond or two, and
// waking the thread twelve and a change of threads. On an engine that must be polled it also
// polls between two tasks, at most every 50 us, and the thread then sleeps 2 ms at a time.
//
// The thread, before it sleeps with something under way, wakes a worker that sleeps: that
// has a core to itself, and waits awake in place of the thread.
//
// Workers borrow where each has a core to itself (executor.Port.Spacious), and the thread
// has none. Where threads share cores, who waits awake keeps others from what he waits for.
//
// # Sleeping
//
// An engine that is told of arrivals (in-process ranks) is armed before the engine is laid
// down, and pokes (mpi.Announcer). On
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
// # Deadlocks
//
// When the runtime has reported a stall and nothing in it goes on by itself, the thread, or the
// leased body, waits inside the engine (mpi.Stander), which then knows of every rank that
// does nothing else, and ends the program if some certainly wait for each other: with any calls in one
// process, with one call each over mpi/system. Other stalls are reported again after twice as
// long. A goroutine that is none of the runtime's, and makes its first call later, is not seen.
//
// A rank that stands still in the engine although one of its tasks runs, which may send, would
// be taken for one of a circle that is none. The runtime cannot look at all its workers and at
// the thread at once; two counters say that nothing has happened between its looks:
//
//	advances  turns of who has the lease after which something may go on
//	moves     tasks that the workers have ended
//
// Watchdog, and the submitter            Who has the lease
//
//	D1  a look of the watchdog: read       C1  a call completes: end its task, make
//	    advances and moves                     ready what depends on it, wake who waits
//	D2  its next look, a quarter of        C2  advances + 1
//	    the stall period later: moves is   C3  at rest: if quiet is advances,
//	    the same: ask for the report           stand still
//	D3  nothing is queued, no worker is
//	    in a body                          A worker
//	D4  moves is still the same
//	D5  quiet = advances of D1             E1  take a task from a queue
//	                                       E2  say that it is in a body
//	                                       E3  end the task: make others ready
//	                                       E4  moves + 1
//	                                       E5  say that it is in no body
//
// Say a worker is between E1 and E4 at C3. What it runs was made ready either by a call, or by
// a worker. The last call in its history: if that came to C2 before D1, then what follows came
// to its E2 before D2 (a quarter of a stall period later), or came later from the task of a
// worker; if it came to C2 after D1, C3 sees another number than D1, and does not stand still,
// because C1 to C3 are one goroutine's after the other, as the lease passes. The last worker
// that ended a task in its history and was in a body at D2: before it is in none (E5), it has
// changed moves (E4), so if D3 does not see it in a body, D4 sees another number than D2. So D3
// sees a body at work, or D5 is not reached. TestQuiet_protocol_exhaustively visits all
// interleavings, and finds each of the looks missing.
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
// An order between operations of different keys; progress while a body on the thread, or
// one that has the engine, computes, or
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
