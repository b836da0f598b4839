package commthread

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/joined"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// Terms:
//
//	operation   a comm task that is one MPI call: Send, Recv, Bcast ... A descriptor without
//	            a body (PaRSEC: remote dependency)
//	body        a function of the program on the thread (tasks.OnComm); it may make any MPI
//	            call, also blocking ones (TAMPI: task-aware blocking mode)
//	posted      handed to the engine; pending until it completes
//	window      the number of pending operations at which posting waits
//	forwarded   a call of another goroutine, made in its place by the holder of the lease (funneled)
//	comm pair   a communicator and the thread's private duplicate of it
//	lease       the right to call the engine: the thread's, nobody's, or a worker's
//	turn        one round of progress: accept, poll, settle
//
// The thread is a loop (run, work): accept takes over queued work and posts calls, the engine
// polls, settle ends the tasks of completed calls, startBodies and resume run bodies, and
// idleStep sleeps when nothing moved. accept, Poll and settle form a turn, which any holder of
// the lease can make; bodies run on the thread only.
//
// Ownership. The holder of the lease owns the engine and the fields that its turns use; the
// change of the lease word orders accesses of two holders. Thread.mu guards the fields that
// other goroutines change when they spawn or queue work. Atomics serve the checks without
// a lock. Thread.mu is held while neither the engine nor the runtime nor a program is called,
// except Call.Complete of a forwarded call. The registry of threads for reports has its own
// lock; no goroutine holds both.
//
// Files: order.go, the order of posts; lease.go, the protocol of the lease and its proof;
// lend.go, workers with the lease; between.go, service between tasks; rest.go, polling and
// sleep; quiet.go, waits that only a call can end; body.go, coroutines; forward.go, calls of
// other goroutines; revoke.go, errors across ranks; lazy.go, messages read while they arrive;
// source.go, memory that is chosen when a call is posted.
//
// Rejected designs:
//
//   - Every call by the thread alone, without a lease: a message costs a wake-up, or a share of
//     a computing core. What that costs LINPACK today is the column "leases" of hpl.Refinement.
//   - A blocking exchange of any block column on the lease: deadlock on 2x2 and 3x1, because
//     ranks chose different columns.
//   - Freeing the lease on return without a grant: a polling worker took it again at once, and
//     the asking body starved.
//   - Polling by workers that share cores: the poller keeps the core from the thread that it
//     waits for.
//   - A fixed time between polls on a shared core: 50 us cost 17 to 32 % of the core, 0.2 ms 6 %.
//   - That time from the measured cost of a sleep: it does not show what the worker loses.
//   - MPI_THREAD_MULTIPLE: MPI libraries hold global locks. Two threads in Allreduce were half
//     as fast as one after the other (ompi#2427).
//   - A goroutine per body with channels: a coroutine switch costs 0.1 us, a hand-over between
//     locked threads 45 us and more.
//   - time.Sleep between polls: below 1 ms Go sleeps 1 ms.

// Thread is the communication thread of one rank and its runtime. The methods that
// spawn comm tasks belong to the goroutine of the scope they are given, the others to
// the goroutine that started the thread, unless they say otherwise.
type Thread struct {
	fixed
	stopped bool // of the goroutine that started the thread
	served  int  // of the thread's own goroutine: its sleeps in a row in which workers polled; see judge
	holderState
	shared

	mu sync.Mutex // guards the following
	programOrder
	inbox
	leaseQueue
	pending  entryList // operations posted and not completed
	checks   []*check  // kept by Watch; of the holder, changed under mu
	messages messageList
	watches  []func() // end what Attend began
}

// fixed does not change after Start.
type fixed struct {
	world     *mpi.Comm
	engine    engine.Engine    // the holder of the lease calls it
	bell      engine.Announcer // of the engine; nil if it has none, or does not announce arrivals
	lends     bool             // workers may borrow the engine
	rt        *dataflow.Runtime
	port      executor.Port
	opt       options
	place     Placement
	announces bool          // the engine announces arrivals
	period    time.Duration // longest between polls while calls are pending
	seldom    time.Duration // the same, if workers poll meanwhile
	traced    bool
	origin    int64 // of the times of messages
	restore   func() error
	claim     *osthread.Claim
	procs     func()
	ended     *osthread.Signal
	unwatch   func() bool // ends the watch for a cancellation
	group     uint64      // the same in all threads that were started together

	onReturned func(*engine.Call) // the method value returned, made once
}

// holderState belongs to the holder of the lease.
type holderState struct {
	holder         uintptr // identity of the worker's goroutine; 0: the thread's own
	self           uintptr // identity of the thread's own goroutine
	fresh          bool    // there are bodies or commands for the thread alone
	window         int     // pending calls at which posting waits
	posted         int     // pending calls of comm tasks
	finished       []*operation
	settled        []*operation               // memory of finished, used in turn
	taken          []*operation               // memory of a batch
	calls          []*engine.Call             // likewise
	onDone         func(*engine.Call)         // completed
	postedLast     []*engine.Call             // the array of the calls that were posted last, for handedOn
	ring           func(begins time.Duration) // arrived
	checking       bool                       // a check of checks is being called
	changed        bool                       // calls may have ended since the last check
	inLease        *body                      // the body that has the engine, on a worker
	bodies         []*body                    // started and not ended, with compute tasks that the thread runs
	helped         int                        // number of these compute tasks
	polls          uint64                     // of the engine
	idle           idleState
	counts         map[pair]uint64 // messages by pair, for the trace
	postings       uint64          // calls, for the trace
	needsHeartbeat bool            // sent since the last collective: peers may need our progress
	windows        int             // open
}

// shared is read and written by any goroutine without a lock.
type shared struct {
	lease  lease
	bed    osthread.Parker // the thread sleeps in it, if it does not sleep in the engine
	active atomic.Uintptr  // identity of the goroutine that may call the engine now
	awaits atomic.Bool     // polling may be of use: something is pending, or was
	alone  atomic.Bool     // no worker polled during the thread's last sleep of 10 ms; see judge
	stop   atomic.Bool
	gone   atomic.Bool // set with mu held: the thread has ended and takes no more work
	warned sync.Once

	service  service
	advances atomic.Uint64 // see quiet.go; the holder changes it
	quiet    atomic.Uint64 // the runtime did nothing at this number of advances; plus 1, 0: it did
}

// programOrder keeps operations and bodies until they may start; guarded by Thread.mu.
type programOrder struct {
	family    map[*mpi.Comm]*commPair
	domains   map[*task.Domain]*domainOrder
	bodyOf    map[*task.Record]*entry
	spare     spareOrders
	sendable  lineup   // sends that may be posted
	receives  lineup   // receives that may be posted
	startable []*entry // bodies that may start
}

// inbox is the work that other goroutines queue for the thread; guarded by Thread.mu.
type inbox struct {
	commands  []func()
	handedOn  []*engine.Call           // forwarded calls, to be posted
	forwarded map[*engine.Call]*handed // forwarded calls, until they complete
	inCalls   map[*body][]*engine.Call // the calls that bodies wait for
	dropped   []*entry                 // to be skipped

	usedHanded, freeHanded []*handed // of calls that have completed; to be used again
}

// leaseQueue is the order of bodies on the lease; guarded by Thread.mu.
type leaseQueue struct {
	leased  []*task.Record // bodies that wait for the one before them
	leasing bool           // a worker has a body
}

// commPair holds two communicators that fail together.
type commPair struct {
	public, private *mpi.Comm
	exchanges       int // all-to-alls spawned, for their tags
}

// Start takes over the engine of c's rank, and makes a thread the executor of comm tasks of
// rt. From then on the thread makes all MPI calls of the rank: calls of comm tasks, and
// calls of any goroutine, which are handed to it. Collective over c (it is duplicated for
// the thread's messages). The submitting goroutine of rt calls it, without pending
// communication. Errors: invalid options, a runtime that is closed or has a thread already,
// and errors of the duplication.
func Start(c *mpi.Comm, rt *dataflow.Runtime, opts ...Option) (*Thread, error) {
	o := defaults()
	for _, f := range opts {
		f(&o)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if c == nil || rt == nil {
		return nil, errors.New("commthread: start: the communicator or the runtime is nil")
	}
	t := &Thread{
		fixed: fixed{
			world: c, rt: rt, opt: o, traced: rt.Log() != nil, origin: osthread.Nanotime(), ended: osthread.NewSignal(),
		},
		holderState:  holderState{window: o.window, counts: map[pair]uint64{}},
		programOrder: programOrder{family: map[*mpi.Comm]*commPair{}, domains: map[*task.Domain]*domainOrder{}, bodyOf: map[*task.Record]*entry{}},
		inbox:        inbox{forwarded: map[*engine.Call]*handed{}, inCalls: map[*body][]*engine.Call{}},
	}
	t.onDone, t.onReturned, t.ring = t.completed, t.returned, t.arrived
	var err error
	if t.port, err = executor.Attach(rt, (*taskExecutor)(t)); err != nil {
		return nil, err
	}
	if err := t.join(); err != nil {
		return nil, errors.Join(err, t.port.Detach())
	}
	t.restore = (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine {
		t.engine = next
		t.announces = next.Limits().ToldOfArrivals
		return &forwarder{Engine: next, t: t}
	})
	t.period, t.seldom = cmp.Or(o.poll, longestPoll), cmp.Or(o.poll, seldomPoll)
	t.procs = osthread.RaiseProcs(1)
	t.place, t.claim = o.place.choose(rt.Workers())
	t.layOut()
	register(t)
	t.unwatch = t.port.OnCancel(func() { t.submit(t.cancelled) })
	osthread.Go(t.run)
	return t, nil
}

// started counts the groups of threads whose first rank is in this process.
var started atomic.Uint64

// join agrees with the threads of the other ranks.
func (t *Thread) join() error {
	if err := t.Use(t.world); err != nil {
		return err
	}
	if t.world.Rank() == 0 {
		t.group = started.Add(1)
	}
	if err := t.world.Bcast(mpi.One(&t.group), 0); err != nil {
		return fmt.Errorf("commthread: %w", err)
	}
	return nil
}

// Run runs body with a runtime and its communication thread: dataflow.Run with rtOpts,
// Start with opts, and Stop when body has returned. It blocks until all tasks and messages
// of this rank have ended. It returns the errors of the three and of body; if body fails,
// it revokes c, so that its other ranks fail as well instead of waiting. Collective over c.
func Run(c *mpi.Comm, body func(*dataflow.Runtime, *Thread) error, rtOpts []dataflow.Option, opts ...Option) error {
	return dataflow.Run(func(rt *dataflow.Runtime) error {
		t, err := Start(c, rt, opts...)
		if err != nil {
			return err
		}
		stopped := false
		defer func() {
			if !stopped { // body panics: do not leave the peers waiting
				c.Revoke(errors.New("the body of commthread.Run did not return"))
				rt.Cancel(errors.New("the body of commthread.Run did not return"))
				_ = t.Stop()
			}
		}()
		err = body(rt, t)
		if err != nil {
			c.Revoke(err)
		}
		stopped = true
		return joined.Add(err, t.Stop())
	}, rtOpts...)
}

// Use prepares another communicator of the rank for operations that need messages of the
// thread (Alltoall). Collective over c; c stays usable by itself. A second call for a
// communicator does nothing.
func (t *Thread) Use(c *mpi.Comm) error {
	if c == nil {
		return errors.New("commthread: use: the communicator is nil")
	}
	t.mu.Lock()
	known := t.family[c] != nil
	t.mu.Unlock()
	if known {
		return nil
	}
	private, err := c.Dup()
	if err != nil {
		return fmt.Errorf("commthread: %w", err)
	}
	private.SetName(c.Name() + ".thread")
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &commPair{public: c, private: private}
	t.family[c], t.family[private] = k, k
	return nil
}

// Stop waits for every task of the runtime and for the pending calls of other goroutines,
// ends the thread and returns the engine to the goroutine that started it, which alone may
// call Stop, outside of tasks. It returns the result of Wait; a second Stop returns nil.
func (t *Thread) Stop() error {
	if err := t.port.Mine("Stop of the communication thread"); err != nil || t.stopped {
		return err
	}
	t.stopped = true
	err := t.rt.Wait()
	t.unwatch()
	t.unattend()
	t.stop.Store(true)
	t.wake()
	t.ended.Wait()
	unregister(t)
	if t.traced {
		l := new(dataflow.Log)
		t.addMessages(l)
		t.port.Keep(l)
	}
	err = errors.Join(err, t.restore(), t.port.Detach())
	if t.claim != nil {
		t.claim.Release()
	}
	t.procs()
	return err
}

// Placement returns where the thread runs.
func (t *Thread) Placement() Placement { return t.place }

// run is the goroutine of the thread. It ends without unlocking, so that its pinned thread
// ends, too.
func (t *Thread) run() {
	defer t.ended.Set()
	osthread.LockThread()
	t.pin()
	t.self = osthread.G()
	t.enter(nil)
	for !t.over() {
		t.work()
	}
}

// work is a turn of the thread's loop.
func (t *Thread) work() {
	if t.step() {
		t.idle.busy()
	} else {
		t.idleStep()
	}
	t.oblige()
}

// over reports whether the thread has been stopped and nothing is left to do; then other
// goroutines call the engine themselves again.
func (t *Thread) over() bool {
	if !t.stop.Load() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	over := len(t.commands)+len(t.handedOn) == 0 && len(t.forwarded) == 0
	if over {
		t.gone.Store(true)
	}
	return over
}

// step does the present work of the thread, and reports whether there was any.
func (t *Thread) step() bool {
	moved, ran := t.turn(), t.fresh
	if ran {
		t.startBodies()
	}
	if t.resume() {
		ran = true
	}
	if ran {
		t.advanced()
	}
	return moved || ran
}

// turn is the part of a step that any holder of the lease can do.
func (t *Thread) turn() bool {
	accepted := t.accept()
	moved := false
	t.polls++
	if t.engine.Poll() > 0 {
		moved, t.changed = true, true
	}
	if t.settle() {
		moved = true
	}
	if t.changed && t.check() {
		moved = true
	}
	if moved {
		t.advanced()
	}
	return accepted || moved
}

// accept takes over the work of other goroutines, and posts operations. It reports whether
// there was a request.
func (t *Thread) accept() bool {
	if !t.lease.wakeRequested.Load() {
		return false
	}
	t.mu.Lock()
	t.lease.wakeRequested.Store(false)
	calls, dropped := t.handedOn, t.dropped
	t.handedOn, t.dropped = t.postedLast[:0], nil
	t.reuseHanded()
	t.fresh = len(t.commands)+len(t.startable) > 0
	t.mu.Unlock()
	if len(calls) > 0 {
		t.postCalls(calls)
	}
	clear(calls)
	t.postedLast = calls
	for _, e := range dropped {
		t.drop(e)
	}
	if posted := t.post(); posted || len(calls)+len(dropped) > 0 {
		t.advanced()
	}
	return true // also if there was nothing: the changes need another look
}

// startBodies does the part of accept that only the thread can do.
func (t *Thread) startBodies() {
	t.mu.Lock()
	commands, start := t.commands, t.startable
	t.commands, t.startable, t.fresh = nil, nil, false
	t.mu.Unlock()
	for _, f := range commands {
		f()
	}
	for _, e := range start {
		t.begin(e)
	}
}

// post starts operations, receives first, in batches, as long as the window is open. It
// reports whether there were any.
func (t *Thread) post() (some bool) {
	for {
		batch := t.batch()
		if len(batch) == 0 {
			return some
		}
		some = true
		t.calls = t.calls[:0]
		for _, o := range batch {
			if o.prepare(t) {
				t.calls = append(t.calls, &o.call)
			}
		}
		t.engine.Post(t.calls)
		t.changed = true
		t.settle()
	}
}

const batchSize = 64 // calls posted at once

// batch takes operations to be posted, and unblocks those behind them, which may join the
// batch.
func (t *Thread) batch() []*operation {
	t.mu.Lock()
	defer t.mu.Unlock()
	batch, now := t.taken[:0], t.now()
	for room := min(t.window-t.posted, batchSize); len(batch) < room; {
		o := t.next()
		if o == nil {
			break
		}
		if t.port.Skips(&o.Record) {
			t.dropped = append(t.dropped, &o.entry)
			t.lease.wakeRequested.Store(true)
			continue
		}
		o.posting.posted = now
		t.passed(&o.entry)
		t.pending.push(&o.entry)
		batch = append(batch, o)
	}
	t.posted += len(batch)
	t.taken = batch
	return batch
}

// next takes the next operation to be posted, nil if there is none. The caller holds t.mu.
func (t *Thread) next() *operation {
	switch {
	case t.receives.len() > 0:
		return t.receives.pop()
	case t.sendable.len() > 0:
		return t.sendable.pop()
	}
	return nil
}

// waiting reports whether operations wait for room in the window. The caller holds t.mu.
func (t *Thread) waiting() bool { return t.receives.len()+t.sendable.len() > 0 }

// grow doubles the window when all its calls wait: two ranks whose windows hold only calls
// that wait for each other's next ones would never move again.
func (t *Thread) grow() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.posted >= t.window && t.waiting() {
		t.window *= 2
		t.lease.wakeRequested.Store(true)
	}
}

// settle ends the tasks whose calls have completed.
func (t *Thread) settle() bool {
	if len(t.finished) == 0 {
		return false
	}
	t.idle.completed = osthread.Nanotime()
	for len(t.finished) > 0 {
		done := t.finished
		t.finished, t.settled = t.settled[:0], done
		t.mu.Lock()
		t.posted -= len(done)
		for _, o := range done {
			t.pending.remove(&o.entry)
			if t.traced {
				t.note(&o.call, o.Seq(), &o.posting)
			}
		}
		if t.waiting() {
			t.lease.wakeRequested.Store(true)
		}
		t.mu.Unlock()
		for i, o := range done {
			if o.status != nil {
				*o.status = mpi.Status(o.call.Status)
			}
			err := o.call.Err
			if o.source != nil {
				err = o.sent(err)
			}
			if o.refused {
				t.revoke((*mpi.Comm)(o.call.Comm), &o.Record, err)
			}
			t.port.Finish(&o.Record, err)
			done[i] = nil
		}
	}
	return true
}

// wake makes the thread check its queued work. Any goroutine.
func (t *Thread) wake() {
	t.mu.Lock()
	t.lease.wakeRequested.Store(true)
	t.mu.Unlock()
	t.lease.summon()
}

// mine reports whether the caller may call the engine: the thread, the body that the thread
// runs now, or a worker with the lease; any goroutine, when the thread has ended.
func (t *Thread) mine() bool { return t.active.Load() == osthread.G() || t.gone.Load() }
