package commthread

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// Thread is the communication thread of one rank and its runtime. The methods that
// spawn comm tasks belong to the goroutine of the scope they are given, the others to
// the goroutine that started the thread, unless they say otherwise.
type Thread struct {
	// Immutable after Start.
	world   *mpi.Comm
	engine  mpi.Engine // what the thread alone calls
	lane    *dataflow.Lane
	opt     options
	place   Placement
	told    bool // the engine knows of arrivals
	period  time.Duration
	traced  bool
	origin  time.Time // of the times of messages
	restore func() error
	claim   *osthread.Claim
	procs   func()
	ended   chan struct{}

	// Of the thread.
	window   int // calls under way at which posting waits
	posted   int // calls of comm tasks under way
	finished []*operation
	bodies   []*body // under way
	idle     idleState
	counts   map[pair]uint64 // messages by pair, for the trace
	owed     bool            // a message was sent since the last collective: peers may need our progress
	windows  int             // open
	self     uintptr         // identity of the thread's own goroutine

	active atomic.Uintptr // identity of the goroutine that may call the engine now
	asleep atomic.Bool
	stop   atomic.Bool
	warned sync.Once

	mu        sync.Mutex
	family    map[*mpi.Comm]*kin            // guarded by mu
	domains   map[*task.Domain]*domainOrder // guarded by mu
	bodyOf    map[*task.Record]*entry       // guarded by mu
	sendable  []*operation                  // guarded by mu: may be posted
	receives  []*operation                  // guarded by mu: may be posted
	startable []*entry                      // guarded by mu: bodies that may start
	dropped   []*entry                      // guarded by mu: to be skipped
	commands  []func()                      // guarded by mu: of other goroutines
	pending   entryList                     // guarded by mu: operations posted and not completed
	forwarded map[*mpi.Call]*handed         // guarded by mu: calls of other goroutines
	messages  []dataflow.Message            // guarded by mu
	poked     bool                          // guarded by mu: look at commands and lists
}

// kin are the communicators that fail together.
type kin struct {
	public, private *mpi.Comm
	exchanges       int // all-to-alls spawned, for their tags
}

// Start takes the engine of c's rank over, and makes a thread the executor of comm
// tasks of rt. From then on the thread makes all MPI calls of the rank: those of comm
// tasks, and those of any goroutine, which are handed to it. Collective over c (it is
// duplicated for the thread's own messages). The submitting goroutine of rt calls it,
// with no communication under way.
func Start(c *mpi.Comm, rt *dataflow.Runtime, opts ...Option) (*Thread, error) {
	o := defaults()
	for _, f := range opts {
		f(&o)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	t := &Thread{
		world: c, opt: o, window: o.window, traced: rt.Log() != nil, origin: time.Now(),
		family: map[*mpi.Comm]*kin{}, domains: map[*task.Domain]*domainOrder{}, bodyOf: map[*task.Record]*entry{},
		forwarded: map[*mpi.Call]*handed{}, counts: map[pair]uint64{}, ended: make(chan struct{}),
	}
	if err := t.Use(c); err != nil {
		return nil, err
	}
	t.restore = c.Intercept(func(next mpi.Engine) mpi.Engine {
		t.engine = next
		t.told = next.Limits().ToldOfArrivals
		return &forwarder{Engine: next, t: t}
	})
	if t.period = o.poll; t.period == 0 {
		t.period = pollPeriod(t.told)
	}
	var err error
	if t.lane, err = rt.Attach((*executor)(t)); err != nil {
		return nil, errors.Join(err, t.restore())
	}
	t.procs = osthread.RaiseProcs(1)
	t.place, t.claim = o.place.choose(rt.Workers())
	register(t)
	go t.run()
	return t, nil
}

// Run runs body with a runtime and its communication thread: dataflow.Run, Start, and
// Stop when body has returned. Collective over c.
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
		return errors.Join(err, t.Stop())
	}, rtOpts...)
}

// Use prepares another communicator of the rank for operations that need messages of
// the thread's own (Alltoall). Collective over c; c stays usable by itself.
func (t *Thread) Use(c *mpi.Comm) error {
	private, err := c.Dup()
	if err != nil {
		return fmt.Errorf("commthread: %w", err)
	}
	private.SetName(c.Name() + ".thread")
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &kin{public: c, private: private}
	t.family[c], t.family[private] = k, k
	return nil
}

// Stop waits for every task of the runtime, ends the thread and gives the engine back
// to the goroutine that started it. It returns what Wait returns.
func (t *Thread) Stop() error {
	err := t.lane.Runtime().Wait()
	t.stop.Store(true)
	t.wake()
	<-t.ended
	unregister(t)
	if e := t.restore(); e != nil {
		err = errors.Join(err, e)
	}
	if e := t.lane.Detach(); e != nil {
		err = errors.Join(err, e)
	}
	if t.claim != nil {
		t.claim.Release()
	}
	t.procs()
	return err
}

// Placement returns where the thread runs.
func (t *Thread) Placement() Placement { return t.place }

// run is the goroutine of the thread. It ends without unlocking, so that its pinned
// thread ends, too. A body that ends its goroutine ends this one: another goes on.
func (t *Thread) run() {
	returned := false
	defer func() {
		if !returned {
			go t.run()
			return
		}
		close(t.ended)
	}()
	runtime.LockOSThread()
	t.pin()
	t.self = osthread.G()
	t.enter(nil)
	for !t.over() {
		if t.step() {
			t.idle.busy()
			continue
		}
		t.rest()
	}
	returned = true
}

// over reports whether the thread has been stopped and nothing is left to do.
func (t *Thread) over() bool {
	if !t.stop.Load() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.commands) == 0 && len(t.forwarded) == 0
}

// step does what can be done now, and reports whether that was anything.
func (t *Thread) step() bool {
	moved := t.accept()
	if t.engine.Poll() > 0 {
		moved = true
	}
	if t.settle() {
		moved = true
	}
	if t.resume() {
		moved = true
	}
	return moved
}

// accept takes over what other goroutines have brought, and posts what may be posted.
func (t *Thread) accept() bool {
	t.mu.Lock()
	if !t.poked {
		t.mu.Unlock()
		return false
	}
	t.poked = false
	commands, start, dropped := t.commands, t.startable, t.dropped
	t.commands, t.startable, t.dropped = nil, nil, nil
	t.mu.Unlock()
	for _, f := range commands {
		f()
	}
	for _, e := range dropped {
		t.drop(e)
	}
	moved := t.post()
	for _, e := range start {
		t.begin(e)
	}
	return moved || len(commands)+len(start)+len(dropped) > 0
}

// post starts operations, receives first, in batches, as long as the window is open.
func (t *Thread) post() (moved bool) {
	for {
		batch := t.batch()
		if len(batch) == 0 {
			return moved
		}
		moved = true
		calls := make([]*mpi.Call, 0, len(batch))
		for _, o := range batch {
			if o.prepare(t) {
				calls = append(calls, &o.call)
			}
		}
		t.engine.Post(calls)
		t.settle()
	}
}

const batchSize = 64 // calls posted at once

// batch takes operations to be posted, and opens the way for those behind them.
func (t *Thread) batch() (batch []*operation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := min(t.window-t.posted, batchSize)
	for _, list := range [...]*[]*operation{&t.receives, &t.sendable} {
		n := min(room-len(batch), len(*list))
		if n <= 0 {
			continue
		}
		byPriority(*list)
		for _, o := range (*list)[:n] {
			if t.lane.Skips(&o.Record) {
				t.dropped = append(t.dropped, &o.entry)
				t.poked = true
				continue
			}
			batch = append(batch, o)
		}
		*list = slices.Delete(*list, 0, n)
	}
	now := t.now()
	for _, o := range batch {
		o.postedAt = now
		t.passed(&o.entry)
		t.pending.push(&o.entry)
	}
	t.posted += len(batch)
	if len(t.receives)+len(t.sendable) > 0 && t.posted < t.window {
		t.poked = true // come back for the rest; otherwise settle says when
	}
	return batch
}

// grow opens the window when everything in it waits: two ranks whose windows hold only
// calls that wait for each other's next ones would never move again.
func (t *Thread) grow() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.posted >= t.window && len(t.receives)+len(t.sendable) > 0 {
		t.window *= 2
		t.poked = true
	}
}

// settle ends the tasks whose calls have completed.
func (t *Thread) settle() bool {
	if len(t.finished) == 0 {
		return false
	}
	for len(t.finished) > 0 {
		done := t.finished
		t.finished = nil
		t.mu.Lock()
		t.posted -= len(done)
		for _, o := range done {
			t.pending.remove(&o.entry)
			if t.traced {
				t.note(o)
			}
		}
		if len(t.receives)+len(t.sendable) > 0 {
			t.poked = true
		}
		t.mu.Unlock()
		for _, o := range done {
			if o.status != nil {
				*o.status = o.call.Status
			}
			t.lane.Finish(&o.Record, o.call.Err)
		}
	}
	return true
}

// wake makes the thread look at what has been brought to it. Any goroutine.
func (t *Thread) wake() {
	t.mu.Lock()
	t.poked = true
	t.mu.Unlock()
	t.rouse()
}

// rouse ends the sleep of the thread, if it sleeps.
func (t *Thread) rouse() {
	if t.asleep.Load() && t.asleep.Swap(false) {
		t.engine.Wake()
	}
}

// mine reports whether the caller may call the engine: it is the thread, or the body
// that the thread runs at the moment.
func (t *Thread) mine() bool { return t.active.Load() == osthread.G() }
