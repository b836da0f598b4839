package dataflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/joined"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// Lock order, if two locks are ever held: the mutex of a commutative lock; a domain's
// failures; Runtime.mu; waitRegistry, labels, a log, mailbox and priorities are innermost. No
// user code runs under any.
//
// Counting. There is no count of live tasks: every worker counts the tasks it ended and
// publishes the number every 16 tasks (more often with a small window: all workers together
// keep less than an eighth of it unpublished) and when it runs out of work; Wait and the
// window add the counts up.
//
// Rejected designs:
//
//   - Channels between workers: a hand-over between locked, parked threads took 130 us, by
//     futex or eventfd 45 us. Workers spin for 100 us and then sleep on a futex.
//   - One counter of live tasks: a word that all workers write costs more than a task.
//   - One shared ready queue: it serializes workers; priorities alone are global, because LU
//     needs its panel before any update.
//   - A wake-up for each queued task: it costs the submitter 12 us, more than most tasks.
//     A spinning worker takes the task; wake-ups are chained.
//   - time.Sleep for short waits: below 1 ms Go sleeps 1 ms.
//   - More unpinned workers than cores: two spinners on one core hand over in 3.8 ms instead of
//     0.2 us. Each worker owns a core, and spares replace sleeping bodies.
//   - Recovering a panic around every body: one recover around the worker's loop costs the
//     tasks nothing.
//   - Helping with any ready task inside Spawn of a body: a buried body can wait for one
//     below it on the stack. throttleChildren runs only children of its own body.
//   - A lock around the tracker, for spawns from any goroutine: one inserter per domain needs
//     none.

// Runtime runs the tasks that one goroutine spawns. Its methods, except Log, belong to that
// goroutine, outside of tasks. It is a tasks.Scope.
type Runtime struct {
	mainScope

	// Immutable after New.
	opt      options
	ctx      context.Context
	uncause  context.CancelCauseFunc
	unwatch  func() bool
	spin     time.Duration
	batch    uint64 // a worker publishes when its count of ends has none of these bits
	claim    *osthread.Claim
	home     osthread.Home // of all threads; immutable
	w0       *worker
	external *worker
	comm     executor.Executor // owned by the submitter, and by workers while there are comm tasks

	// Owned by the submitting goroutine.
	domain  *task.Domain
	spawner task.Scope    // scope of Spawn
	pin     *osthread.Pin // of its thread; nil if not pinned
	closed  bool
	stalls  stallReport
	logFile *os.File // of WEFT_TRACE; nil without
	kept    Log      // for logFile: the messages of executors; owned by the submitting goroutine

	// Shared.
	state       atomic.Uint32 // of the domains: task.Open ...
	port        atomic.Pointer[port]
	lender      atomic.Pointer[executor.Lender]
	skip        atomic.Bool // tasks that have not started are skipped
	workers     atomic.Pointer[[]*worker]
	throttled   atomic.Bool
	late        atomic.Bool // a goroutine sleeps in wakeLater
	_           [cacheLine]byte
	ids         atomic.Uint64 // task numbers given out
	_           [cacheLine]byte
	tiny        atomic.Bool  // bodies are too short to share the tasks
	parked      atomic.Int32 // workers in state parked
	_           [cacheLine]byte
	spinning    atomic.Int32 // workers in state spinning, and promised wake-ups
	seekers     atomic.Int32 // chains of wake-ups: 1 until the first worker is launched, see idle.go
	_           [cacheLine]byte
	target      atomic.Uint64 // the submitter sleeps until this many tasks have ended
	_           [cacheLine]byte
	submitted   submissionQueue
	prio        priorities
	offer       atomic.Pointer[offer] // of a body inside Share; nil without
	offered     atomic.Int64          // when the latest offer began or had no more parts
	seriesBegan atomic.Int64          // when the present series of offers began
	inject      mailbox               // tasks made ready outside of any worker

	mu      sync.Mutex
	spares  []*worker              // guarded by mu: idle ones
	short   []*relief              // guarded by mu: cores of sleepers without a spare
	procs   []func()               // guarded by mu: return Ps
	started bool                   // guarded by mu: there are Ps for all workers
	delayed atomic.Pointer[worker] // its launch waits for its time; written under mu
	group   osthread.Group
	blocked waitRegistry // external waits
	labels  labels
}

// Run calls body with a new runtime, on the calling goroutine, waits for every task and
// closes the runtime. It returns the error of body and the errors of tasks that body has
// not seen. The calling goroutine is worker 0, locked to its thread and pinned until Run
// returns. If body panics, Run skips the tasks that have not started and passes the panic
// on.
//
// Processes that body or a task starts (os/exec) inherit the mask of the starting thread,
// which is one core; so do threads that C code makes. Start them inside [Unpinned], and
// they may use all cores of this process.
func Run(body func(*Runtime) error, opts ...Option) (err error) {
	rt, err := New(opts...)
	if err != nil {
		return err
	}
	finished := false
	defer func() {
		if !finished {
			rt.Cancel(errors.New("the body of Run did not return"))
			rt.Close()
		}
	}()
	err = rt.call(body)
	finished = true
	return joinClosed(err, rt.Close())
}

// joinClosed joins the errors of the body of Run and of Close, without those that Close repeats:
// the body has returned the error of a WaitOn, or that of a Wait, and the run was cancelled or
// has stalled.
func joinClosed(err, closed error) error {
	_, stood := errors.AsType[*StallError](err)
	_, stands := errors.AsType[*StallError](closed)
	if err != nil && closed != nil && (stood && stands || err.Error() == closed.Error()) {
		return err
	}
	return joined.Add(err, closed)
}

// New returns a runtime whose worker 0 is the calling goroutine: it is locked to its
// thread, and pinned to a core, until Close, which the same goroutine must call. If a
// goroutine has several runtimes, closed in any order, the latest open one has its core,
// and the last Close restores the affinity that the first New found. Prefer Run, whose
// remarks hold here, too. It returns errors for invalid options and environment variables.
func New(opts ...Option) (*Runtime, error) {
	o, err := resolve(opts)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{opt: o, spin: osthread.SpinBudget(spinBudget), home: osthread.HereHome()}
	rt.seekers.Store(1)
	if o.logFile != "" {
		if rt.logFile, err = createLog(o.logFile); err != nil {
			return nil, err
		}
	}
	rt.batch = o.batch() - 1
	rt.labels.begin()
	rt.ctx, rt.uncause = context.WithCancelCause(o.ctx)
	rt.target.Store(noTarget)
	rt.prio.top.Store(noPriority)
	rt.external = rt.newWorker(-1, -1)
	rt.external.external = true
	osthread.LockThread()
	rt.takeCores()
	rt.start()
	rt.unwatch = context.AfterFunc(rt.ctx, rt.cancelled)
	if rt.ctx.Err() != nil {
		rt.cancelled()
	}
	rt.watch()
	return rt, nil
}

// goroutines returns the number of workers: one in the modes that use the submitting
// goroutine alone.
func (o *options) goroutines() int {
	if o.mode == parallel {
		return o.workers
	}
	return 1
}

// batch returns how many ends of tasks a worker may leave unpublished, a power of two:
// while one worker is in a long body, all workers together keep at most an eighth of the
// window unpublished, so that Spawn does not count them as unfinished.
func (o *options) batch() uint64 {
	n := uint64(publishBatch)
	for n > 1 && n*uint64(o.goroutines()) > uint64(o.window/8) {
		n /= 2
	}
	return n
}

// takeCores claims a core for every worker, and pins the calling thread.
func (rt *Runtime) takeCores() {
	n := rt.opt.goroutines()
	rt.takeProcs(osthread.Procs{Compute: 1})
	if inherited, online := osthread.Inherited().Count(), osthread.Online(); inherited == 1 && online > 1 {
		warnOnce(&oneCore, "this process may use 1 of %d cores: if a launcher bound it, lift that (mpirun --bind-to none, or taskset)", online)
	}
	if n > osthread.NumCores() {
		warnOnce(&crowded, "%d workers on %d cores: they take turns, and are not pinned", n, osthread.NumCores())
		rt.spin = osthread.SpinBudget(crowdBudget)
	}
	if !rt.opt.pin {
		return
	}
	rt.claim = osthread.ClaimCores(n)
	if rt.claim.Oversubscribed() {
		rt.spin = osthread.SpinBudget(crowdBudget)
		return
	}
	rt.pin, _ = osthread.PinTo(rt.claim.Cores()[0]) // nil where threads cannot be pinned
}

var oneCore, crowded, procsNoted sync.Once

func warnOnce(once *sync.Once, format string, args ...any) {
	once.Do(func() { fmt.Fprintf(os.Stderr, "weft: "+format+"\n", args...) })
}

// noteProcs reports that GOMAXPROCS differs from the user's setting, if there is one.
func noteProcs(from, to int) {
	if os.Getenv("GOMAXPROCS") == "" {
		return
	}
	warnOnce(&procsNoted, "GOMAXPROCS raised from %d to %d, until the last runtime closes: workers asleep in the kernel keep theirs", from, to)
}

func (rt *Runtime) warn(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "weft: "+format+"\n", args...)
}

func (rt *Runtime) newWorker(id, core int) *worker {
	w := &worker{rt: rt, id: id, rng: rt.opt.seed + uint64(id)}
	w.core.Store(int32(core))
	w.alloc = task.NewAllocator(&rt.ids)
	if rt.opt.trace > 0 {
		w.log = newEventLog(rt)
	}
	if rt.opt.goroutines() > 1 {
		w.untimed = timedOften
	}
	return w
}

func (rt *Runtime) core(i int) int {
	if rt.pin == nil {
		return -1
	}
	return rt.claim.Cores()[i]
}

// start makes the workers, of which only this goroutine's runs yet, and the domain of the
// main program.
func (rt *Runtime) start() {
	all := make([]*worker, rt.opt.goroutines())
	for i := range all {
		all[i] = rt.newWorker(i, rt.core(i))
	}
	rt.workers.Store(&all)
	w := all[0]
	w.dq.init(firstDeque)
	rt.w0 = w
	w.g.Store(osthread.G())
	w.thread.Store(int64(osthread.ThreadID()))
	d := w.alloc.NewDomain(w, nil, &rt.state)
	d.Root = true
	d.Limit = uint64(rt.opt.window)
	d.Budget = &task.Budget{Limit: rt.opt.rename}
	d.Rename = rt.opt.rename > 0
	d.Lines = rt.opt.lines
	d.Verify = rt.opt.mode == verify
	if rt.opt.lines {
		d.Cover = task.NewCover(nil)
	}
	d.Final = rt.opt.mode == serial || rt.opt.mode == verify
	w.observe(d)
	rt.domain, w.root = d, d
	rt.mainScope = task.MainOf(d)
	rt.spawner = task.SpawnerOf(d)
	for _, w := range all[1:] { // each starts when it is woken for the first time
		w.state.Store(parked)
		rt.parked.Add(1)
	}
}

type mainScope = task.Main // makes a Runtime a tasks.Scope

// Spawn submits body as a task in the dynamic form; see tasks.Spawn.
func (rt *Runtime) Spawn(name string, body func(*tasks.Context) error, cl ...tasks.Clause) {
	tasks.Spawn(rt.spawner, name, body, cl...)
}

// Workers returns the number of cores that compute.
func (rt *Runtime) Workers() int { return rt.opt.workers }

// Wait returns when every task spawned so far has ended; the goroutine runs tasks
// meanwhile. It returns the errors of the tasks that failed since the last Wait, joined,
// each a *TaskError; the cause of a cancellation; or a *StallError (see Stall). Afterwards
// buffers hold their last value, and later tasks do not depend on earlier failures. The end
// of every task synchronizes before the return.
func (rt *Runtime) Wait() error {
	if err := rt.mine("Wait"); err != nil {
		return err
	}
	if rt.closed {
		return ErrClosed
	}
	return rt.wait()
}

// ErrClosed is the error of a wait on a closed runtime.
var ErrClosed = errors.New("weft: the runtime is closed")

func (rt *Runtime) wait() error {
	d, w := rt.domain, rt.w0
	d.Tracker.CloseReductions(emptyRegion)
	rt.target.Store(d.Spawned)
	w.yields = rt.opt.stallOn
	w.log.wait(nil)
	w.run(func() bool {
		w.publish()
		return rt.finished() == d.Spawned || rt.stalls.err != nil
	}, false)
	w.log.waited(nil)
	rt.target.Store(noTarget)
	w.yields = false
	if err := rt.stalls.err; err != nil {
		rt.stalls.err = nil
		return err
	}
	d.Trim()
	err := errors.Join(d.TakeFailures(), rt.cause())
	d.Forgive()
	if rt.ctx.Err() == nil {
		rt.skip.Store(false)
	}
	if err != nil && rt.opt.mode == seeded {
		err = fmt.Errorf("with Seeded(%d): %w", rt.opt.seed, err)
	}
	return err
}

// mine returns an error unless the caller is the submitting goroutine outside of any task.
func (rt *Runtime) mine(method string) error {
	g := osthread.G()
	if g == rt.w0.g.Load() && rt.w0.cur == nil {
		return nil
	}
	for _, v := range *rt.workers.Load() {
		if v.g.Load() == g && v.cur != nil { // this worker is the caller
			file, line := v.cur.Source()
			return fmt.Errorf("weft: %s at %s, inside task %q (declared at %s:%d), which %s", method, task.CallLine(), v.cur.Label(), file, line, insteadInBody(method))
		}
	}
	return fmt.Errorf("weft: %s at %s: %w: the one that created the runtime, outside of tasks (a task waits for its children with Context.Wait)", method, task.CallLine(), task.ErrGoroutine)
}

// insteadInBody says why a body must not call a method of its runtime, and what to call.
func insteadInBody(method string) string {
	if method == "WaitOn" || method == "Block" {
		return "must not use the runtime: a task has Context." + method
	}
	return "would wait for itself: a task waits for its children with Context.Wait"
}

// WaitOn returns when the tasks that write to any of the regions of xs have ended, so that
// the caller may read them; it runs tasks meanwhile. To overwrite data that tasks may still
// read, spawn a task or call Wait. WaitOn returns an error if the data depend on a failed
// task; Wait returns the failure again.
func (rt *Runtime) WaitOn(xs ...any) error {
	if err := rt.mine("WaitOn"); err != nil {
		return err
	}
	if rt.closed {
		return ErrClosed
	}
	regions := make([]deps.Region, len(xs))
	for i, x := range xs {
		var err error
		if regions[i], err = task.RegionOf(x); err != nil {
			return fmt.Errorf("weft: WaitOn at %s: %w", task.CallLine(), err)
		}
	}
	return rt.w0.WaitOn(rt.domain, regions)
}

// Block calls f, which may sleep; a spare worker runs tasks on the core of the
// submitting goroutine until f returns.
func (rt *Runtime) Block(f func()) {
	if err := rt.mine("Block"); err != nil {
		panic(err)
	}
	rt.w0.Block(nil, f)
}

// Cancel skips every task that has not started and makes Spawn do nothing; running tasks
// see their Context done with this cause. It is final. Any goroutine.
func (rt *Runtime) Cancel(cause error) {
	rt.uncause(cause)
	rt.cancelled()
}

// cause returns the cause of a cancellation, or nil. The program's context is done a moment
// before the runtime's, and may be the reason for the program's wait.
func (rt *Runtime) cause() error { return cmp.Or(context.Cause(rt.ctx), context.Cause(rt.opt.ctx)) }

// cancelled is also called, a little later, when the program's context ends.
func (rt *Runtime) cancelled() {
	rt.skip.Store(true)
	rt.state.CompareAndSwap(task.Open, task.Cancelled)
}

// Unpinned calls f on the calling goroutine, whose thread may meanwhile run on all cores
// with which the process was started: processes that f starts (os/exec), and threads that C
// code makes in it, inherit that mask. f itself may run on the core of another worker, so
// it should be short or sleep; if it takes long, call Unpinned inside Block. Any goroutine,
// in a body or not. It returns the error of f, or an error if the system refused to change
// the mask; then f has not been called.
func Unpinned(f func() error) error { return osthread.Unpinned(f) }

// Close waits for every task, as Wait does, ends the workers, and restores the affinity and
// GOMAXPROCS found by New. A later spawn panics; a second Close returns nil. After a
// *StallError, unfinished tasks stay unfinished.
func (rt *Runtime) Close() error {
	if err := rt.mine("Close"); err != nil {
		return err
	}
	if rt.closed {
		return nil
	}
	err := rt.wait()
	stalled := errors.As(err, new(*StallError))
	if stalled {
		rt.skip.Store(true) // tasks that become ready later do not run
		err = errors.Join(err, rt.domain.TakeFailures())
	}
	rt.closed = true
	rt.state.Store(task.Closed)
	rt.unwatch()
	rt.uncause(ErrClosed)
	rt.unwatchStalls()
	rt.mu.Lock() // from here on no worker starts
	rt.abandonDelayed()
	for _, w := range *rt.workers.Load() {
		w.retire.Store(true)
		if w.launched || w.root != nil {
			w.parker.Unpark()
		} else if w.state.CompareAndSwap(parked, away) {
			rt.parked.Add(-1)
		}
	}
	rt.mu.Unlock()
	rt.dismiss(stalled)
	if rt.pin != nil {
		err = errors.Join(err, rt.pin.Release())
	}
	if rt.claim != nil {
		rt.claim.Release()
	}
	rt.giveProcs()
	if !stalled { // after a stall a worker may still look for work
		rt.submitted.free()
	}
	osthread.UnlockThread()
	return errors.Join(err, rt.writeLog())
}

// dismiss waits until all workers have ended. After a stall, it leaves behind workers in
// bodies that never return.
func (rt *Runtime) dismiss(stalled bool) {
	if !stalled {
		rt.group.Wait()
		return
	}
	rt.group.WaitTimeout(100 * time.Millisecond)
}

// pushBound queues a task that only one worker may run.
func (rt *Runtime) pushBound(r *task.Record) {
	if !rt.hasWorker(r) || rt.opt.mode != parallel {
		r.Worker = 0
		rt.inject.put(r)
		rt.wake()
		return
	}
	w := (*rt.workers.Load())[r.Worker-1]
	w.mail.put(r)
	rt.wakeBound(w)
}

// hasWorker refuses r if it is bound to a worker that the runtime does not have.
func (rt *Runtime) hasWorker(r *task.Record) bool {
	i := int(r.Worker) - 1
	if i >= rt.opt.workers {
		refuse(r, fmt.Errorf("OnWorker(%d): the runtime has workers 0 to %d", i, rt.opt.workers-1))
		return false
	}
	return true
}
