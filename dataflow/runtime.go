package dataflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// Runtime runs the tasks that one goroutine spawns. Its methods, except Log,
// belong to that goroutine, outside of tasks. It is a tasks.Scope.
type Runtime struct {
	mainScope

	// Immutable after New.
	opt     options
	ctx     context.Context
	uncause context.CancelCauseFunc
	unwatch func() bool
	spin    time.Duration
	batch   uint64 // a worker publishes when its count of ends has none of these bits
	claim   *osthread.Claim
	w0      *worker
	outside *worker
	comm    executor.Executor // of the submitter, and of workers while there are comm tasks

	// Of the submitting goroutine.
	domain  *task.Domain
	spawner task.Scope    // of Spawn
	pin     *osthread.Pin // of its thread; nil if not pinned
	closed  bool
	stalls  stallReport
	logFile *os.File // of WEFT_TRACE; nil without

	// Shared.
	state     atomic.Uint32 // of the domains: task.Open ...
	port      atomic.Pointer[port]
	lender    atomic.Pointer[executor.Lender]
	skip      atomic.Bool   // tasks that have not started are skipped
	ids       atomic.Uint64 // task numbers given out
	workers   atomic.Pointer[[]*worker]
	throttled atomic.Bool
	late      atomic.Bool // somebody sleeps for wakeLater
	_         [cacheLine]byte
	parked    atomic.Int32 // workers in state parked
	_         [cacheLine]byte
	spinning  atomic.Int32 // workers in state spinning, and wakers' promises
	_         [cacheLine]byte
	target    atomic.Uint64 // the submitter sleeps until this many tasks have ended
	_         [cacheLine]byte
	entrance  entrance
	prio      priorities
	inject    mailbox // tasks made ready outside of any worker

	mu      sync.Mutex
	spares  []*worker // guarded by mu: not needed now
	short   []*relief // guarded by mu: cores of sleepers for which there is no spare
	procs   []func()  // guarded by mu: give back Ps
	started bool      // guarded by mu: there are Ps for all workers
	group   sync.WaitGroup
	blocked registry // what is waited for outside of the runtime
	labels  labels
}

// Run calls body with a new runtime, on the calling goroutine, waits for every
// task and closes the runtime. It returns the error of body and those of tasks
// that body has not seen. The calling goroutine is worker 0, locked to its thread
// and pinned until Run returns. If body panics, the tasks that have not started
// are skipped and the panic goes on.
//
// Processes that body or a task starts (os/exec) inherit the mask of the thread that
// starts them, which is one core; so do threads that C code makes. Start them inside
// [Unpinned], and they may use all cores of this process.
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

// joinClosed joins what the body of Run returned with what Close did, unless that says the
// same again: the body has returned the error of a Wait, and the run has been cancelled or
// stands still.
func joinClosed(err, closed error) error {
	_, stood := errors.AsType[*StallError](err)
	_, stands := errors.AsType[*StallError](closed)
	if err != nil && closed != nil && (stood && stands || err.Error() == closed.Error()) {
		return err
	}
	return errors.Join(err, closed)
}

// New returns a runtime whose worker 0 is the calling goroutine: it is locked to
// its thread, and pinned to a core, until Close, which must be called by the same
// goroutine. Of several runtimes of one goroutine, closed in any order, the latest
// that is open has its core, and the last Close restores the affinity that the first
// New found. Prefer Run, whose remarks hold here, too. The errors are those of options,
// and of variables of the environment, that make no sense.
func New(opts ...Option) (*Runtime, error) {
	o, err := resolve(opts)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{opt: o, spin: spinBudget}
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
	rt.outside = rt.newWorker(-1, -1)
	rt.outside.outside = true
	runtime.LockOSThread()
	rt.takeCores()
	rt.start()
	rt.unwatch = context.AfterFunc(rt.ctx, rt.cancelled)
	if rt.ctx.Err() != nil {
		rt.cancelled()
	}
	rt.watch()
	return rt, nil
}

// goroutines returns the number of workers that run: one in the modes that use
// the submitting goroutine alone.
func (o *options) goroutines() int {
	if o.mode == parallel {
		return o.workers
	}
	return 1
}

// batch returns how many ends of tasks a worker may keep to itself, a power of two: what
// all workers keep while one of them is in a long body is at most an eighth of the window,
// so that Spawn does not take them for unfinished.
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
		rt.spin = crowdBudget
	}
	if !rt.opt.pin {
		return
	}
	rt.claim = osthread.ClaimCores(n)
	if rt.claim.Oversubscribed() {
		rt.spin = crowdBudget
		return
	}
	rt.pin, _ = osthread.PinTo(rt.claim.Cores()[0]) // nil where threads cannot be pinned
}

var oneCore, crowded, procsNoted sync.Once

func warnOnce(once *sync.Once, format string, args ...any) {
	once.Do(func() { fmt.Fprintf(os.Stderr, "weft: "+format+"\n", args...) })
}

// noteProcs says that GOMAXPROCS is not what the user asked for; a number that
// nobody chose needs no words.
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
	return w
}

func (rt *Runtime) core(i int) int {
	if rt.pin == nil {
		return -1
	}
	return rt.claim.Cores()[i]
}

// start makes the workers, of which only this goroutine's runs yet, and the domain of
// the main program.
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
	if w.log != nil {
		d.Trace()
	}
	rt.domain, w.root = d, d
	rt.mainScope = task.MainOf(d)
	rt.spawner = task.Above(rt, 1)
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
// meanwhile. It returns the errors of the tasks that failed since the last Wait,
// joined, each a *TaskError; the cause of a cancellation; or a *StallError
// (see Stall). Buffers hold their last value afterwards, and nothing depends on
// what failed before. The end of every task synchronizes before the return.
func (rt *Runtime) Wait() error {
	if err := rt.mine("Wait"); err != nil {
		return err
	}
	if rt.closed {
		return ErrClosed
	}
	return rt.wait()
}

// ErrClosed is returned for a wait on a closed runtime.
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

// mine returns an error unless the caller is the submitting goroutine outside of
// any task.
func (rt *Runtime) mine(method string) error {
	g := osthread.G()
	if g == rt.w0.g.Load() && rt.w0.cur == nil {
		return nil
	}
	for _, v := range *rt.workers.Load() {
		if v.g.Load() == g && v.cur != nil { // the caller is this worker
			file, line := v.cur.Source()
			return fmt.Errorf("weft: %s at %s, inside task %q (declared at %s:%d), which would wait for itself: a task waits for its children with Context.Wait", method, task.CallLine(), v.cur.Label(), file, line)
		}
	}
	return fmt.Errorf("weft: %s at %s: %w: the one that created the runtime, outside of tasks (a task waits for its children with Context.Wait)", method, task.CallLine(), task.ErrGoroutine)
}

// WaitOn returns when the tasks that write to any of the regions of xs have ended,
// so that the caller may read them; it runs tasks meanwhile. To overwrite data
// that tasks may still read, spawn a task or call Wait. The error says that what
// the data depends on failed; it stays for Wait to return.
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

// Cancel skips every task that has not started and makes Spawn do nothing; tasks
// that run see their Context done with this cause. It is final. Any goroutine.
func (rt *Runtime) Cancel(cause error) {
	rt.uncause(cause)
	rt.cancelled()
}

// cause returns why the runtime was cancelled, nil if it was not. The context of the program
// is done a moment before that of the runtime, and may be what made the program wait.
func (rt *Runtime) cause() error { return cmp.Or(context.Cause(rt.ctx), context.Cause(rt.opt.ctx)) }

// cancelled is also called, a little later, when the context of the program ends.
func (rt *Runtime) cancelled() {
	rt.skip.Store(true)
	rt.state.CompareAndSwap(task.Open, task.Cancelled)
}

// Unpinned calls f on the calling goroutine, the thread of which may meanwhile run on
// all cores that the process was started with: processes that f starts (os/exec), and
// threads that C code makes in it, inherit that. What f does itself may run on the core
// of another worker, so it should be short or sleep; if it takes long, call Unpinned
// inside Block. Any goroutine, in a body or not. The error is that of f, or says that
// the system refused to change the mask; then f has not been called.
func Unpinned(f func() error) error { return osthread.Unpinned(f) }

// Close waits for every task, as Wait does, ends the workers, and restores the
// affinity and GOMAXPROCS found by New. Spawning afterwards panics; a second Close
// returns nil. After a *StallError, unfinished tasks are left where they are.
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
		rt.skip.Store(true) // what becomes ready later does not run
		err = errors.Join(err, rt.domain.TakeFailures())
	}
	rt.closed = true
	rt.state.Store(task.Closed)
	rt.unwatch()
	rt.uncause(ErrClosed)
	rt.unwatchStalls()
	rt.mu.Lock() // from here on no worker starts
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
	if !stalled { // otherwise somebody may be looking for work yet
		rt.entrance.free()
	}
	runtime.UnlockOSThread()
	return errors.Join(err, rt.writeLog())
}

// dismiss waits until all workers have gone. After a stall, some may be in bodies
// that never return: those are left behind.
func (rt *Runtime) dismiss(stalled bool) {
	if !stalled {
		rt.group.Wait()
		return
	}
	gone := make(chan struct{})
	go func() { defer close(gone); rt.group.Wait() }()
	select {
	case <-gone:
	case <-time.After(100 * time.Millisecond):
	}
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
