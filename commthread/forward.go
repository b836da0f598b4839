package commthread

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// warnings receives the names of tasks that block a worker. Tests read it.
var warnings io.Writer = os.Stderr

// forwarder is the program's engine while a thread runs: the thread and its bodies call the
// true engine; other goroutines hand their calls to the thread. The submitting goroutine, which is a worker,
// makes them itself if the engine is free.
type forwarder struct {
	engine.Engine // the true engine
	t             *Thread
}

// Unwrap returns the engine below, for tools that need a more capable one.
func (f *forwarder) Unwrap() engine.Engine { return f.Engine }

// waiter is a goroutine that waits for calls it has handed over.
type waiter struct {
	any   bool
	calls []*engine.Call
	wake  func()
}

func (w *waiter) done() bool {
	for _, k := range w.calls {
		if k.Done() == w.any {
			return w.any
		}
	}
	return !w.any
}

// Post implements engine.Engine.
func (f *forwarder) Post(calls []*engine.Call) {
	if t := f.t; !t.mine() {
		var pcs callers
		runtime.Callers(2, pcs[:])
		if f.post(calls, &pcs) && t.awaits.Load() {
			t.port.Rouse() // the caller may compute now; another worker with its own core polls
		}
		return
	}
	f.post(calls, nil)
}

// callers is the call site of a call: its stack.
type callers [24]uintptr

// post is Post, and reports whether the submitting goroutine has posted the calls itself. site may be nil
// if the caller waits for them at once.
func (f *forwarder) post(calls []*engine.Call, site *callers) (itself bool) {
	t := f.t
	if t.mine() {
		t.postCalls(calls)
		return false
	}
	t.mu.Lock()
	if t.gone.Load() {
		t.mu.Unlock()
		t.postCalls(calls)
		return false
	}
	for _, k := range calls {
		h := t.standIn(k)
		if h.pcs[0] = 0; site != nil {
			h.pcs = *site
		}
		t.forwarded[k] = h
		t.handedOn = append(t.handedOn, &h.call)
	}
	t.lease.wakeRequested.Store(true)
	t.mu.Unlock()
	if t.lends && t.port.Polls() && t.lease.take() { // no task has ended: Serve would count one
		t.borrowed()
		t.serve(false)
		t.giveBack()
		return true
	}
	t.lease.summon()
	return false
}

// postCalls posts calls on the goroutine that may call the engine.
func (t *Thread) postCalls(calls []*engine.Call) { t.postBy(calls, func() { t.engine.Post(calls) }) }

// postBy is postCalls with a form of Post.
func (t *Thread) postBy(calls []*engine.Call, post func()) {
	for _, k := range calls {
		t.sent(k)
	}
	if !t.gone.Load() {
		t.watch(calls)
	}
	post()
	t.changed = true
}

// Limits of a PostWait: on a worker about the time of a message between processes of one
// machine whose peer is late; on the thread, which may share its core with a worker, its
// usual spin.
const (
	postWaitWorker = 20 * time.Microsecond
	postWaitThread = spinShared
)

// PostWait implements engine.PostWaiter.
func (f *forwarder) PostWait(calls []*engine.Call, d time.Duration) {
	t := f.t
	w, can := f.Engine.(engine.PostWaiter)
	if !can || !t.mine() {
		f.post(calls, nil)
		return
	}
	switch {
	case t.gone.Load():
	case t.holder != 0:
		d = min(d, postWaitWorker)
	default:
		d = min(d, postWaitThread)
	}
	t.postBy(calls, func() { w.PostWait(calls, d) })
}

// handed is a call that another goroutine has handed over. It is used again.
type handed struct {
	call   engine.Call  // the thread's call in its place
	caller *engine.Call // nil: it has completed
	pcs    callers      // call site; 0: of a goroutine that is about to wait
	wait   *waiter      // the waiting goroutine; may be nil
}

// where returns file:line of the call, outside of the packages that pass it on.
func (h *handed) where() string {
	if h.pcs[0] == 0 {
		return "a place that is not known yet"
	}
	frames := runtime.CallersFrames(h.pcs[:])
	for {
		f, more := frames.Next()
		if !passesOn(f.Function) || !more {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}

// passesOn reports whether a function is of a package that passes calls on.
func passesOn(function string) bool {
	const module = "github.com/weft-hpc/weft/"
	return slices.ContainsFunc([]string{"mpi.", "internal/engine.", "commthread.", "dataflow."}, func(p string) bool { return strings.HasPrefix(function, module+p) })
}

// standIn returns the call that the thread makes for k. The lock is held.
func (t *Thread) standIn(k *engine.Call) *handed {
	h := t.freeHanded
	if n := len(h); n > 0 {
		t.freeHanded = h[:n-1]
		h[n-1].fill(k)
		return h[n-1]
	}
	x := new(handed)
	x.call.User, x.call.OnDone = x, t.onReturned
	x.fill(k)
	return x
}

// fill makes the thread's call that of k.
func (h *handed) fill(k *engine.Call) {
	s := &h.call
	h.caller = k
	s.Kind, s.Exclusive, s.Hidden, s.Comm, s.Peer, s.Tag, s.Send, s.Recv = k.Kind, k.Exclusive, k.Hidden, k.Comm, k.Peer, k.Tag, k.Send, k.Recv
	s.Op, s.Win, s.Offset, s.Tile, s.Rows, s.LD, s.Count, s.Message, s.Task = k.Op, k.Win, k.Offset, k.Tile, k.Rows, k.LD, k.Count, k.Message, k.Task
	s.SendCounts, s.SendDispls, s.RecvCounts, s.RecvDispls = k.SendCounts, k.SendDispls, k.RecvCounts, k.RecvDispls
}

// returned is the end of a stand-in s. It completes the caller's call with the lock held, so that a waiter
// either sees that or is woken.
func (t *Thread) returned(s *engine.Call) {
	h := s.User.(*handed)
	t.port.Moved()
	t.mu.Lock()
	k, w := h.caller, h.wait
	delete(t.forwarded, k)
	k.Found, k.Message = s.Found, s.Message
	k.Complete(s.Status, s.Err)
	h.caller, h.wait = nil, nil
	t.usedHanded = append(t.usedHanded, h)
	t.mu.Unlock()
	if w != nil {
		w.wake()
	}
	t.advanced()
}

// reuseHanded makes what has been returned free for other calls. The engine, which may be looking at a call until
// the callback has returned, is not being called. The lock is held.
func (t *Thread) reuseHanded() {
	for _, h := range t.usedHanded {
		h.call.Reset()
	}
	t.freeHanded = append(t.freeHanded, t.usedHanded...)
	clear(t.usedHanded)
	t.usedHanded = t.usedHanded[:0]
}

// sent records, when k is posted, whether the peers may need this rank's progress.
func (t *Thread) sent(k *engine.Call) {
	t.needsHeartbeat = !k.Kind.Collective() && (t.needsHeartbeat || k.Kind.Sends() || k.Kind.OneSided())
}

// Do implements engine.Engine.
func (f *forwarder) Do(k *engine.Call) {
	calls := []*engine.Call{k}
	f.post(calls, nil)
	f.Await(false, calls)
}

// Await implements engine.Engine.
func (f *forwarder) Await(any bool, calls []*engine.Call) {
	t, w := f.t, &waiter{any: any, calls: calls}
	if t.mine() {
		f.await(w)
		return
	}
	t.waitOffThread(w)
}

// await waits on the goroutine that may call the engine.
func (f *forwarder) await(w *waiter) {
	if f.t.gone.Load() {
		f.Engine.Await(w.any, w.calls)
		return
	}
	f.t.awaitCalls(w)
}

// waitOffThread waits on another goroutine than the thread's.
func (t *Thread) waitOffThread(w *waiter) {
	x := &callWait{waiter: w, t: t}
	w.wake = x.parker.Unpark
	t.port.WaitOutside(x)
}

// callWait is a wait for calls on another goroutine than the thread's.
type callWait struct {
	*waiter
	t      *Thread
	parker osthread.Parker
}

// Done, Register, Sleep and InBody are part of executor.Waiter.
func (x *callWait) Done() bool { return x.done() }

func (x *callWait) Register(wake func()) {
	x.wake = wake
	x.enlist()
}

func (x *callWait) Sleep() {
	for x.enlist(); !x.done(); {
		x.parker.Park()
	}
}

func (x *callWait) InBody(number uint64, label string) {
	x.t.warned.Do(func() {
		fmt.Fprintf(warnings, "weft: task %d %q waits for messages inside its body: a worker more is started to use its core meanwhile; a task with the clause OnComm, or Send and Recv of the communication thread, would not need one\n", number, label)
	})
}

// enlist has the waiter woken when one of its calls completes.
func (x *callWait) enlist() {
	if x.done() {
		return
	}
	var pcs callers
	runtime.Callers(1, pcs[:])
	x.t.mu.Lock()
	defer x.t.mu.Unlock()
	for _, k := range x.calls {
		if h := x.t.forwarded[k]; h != nil {
			if h.wait = x.waiter; h.pcs[0] == 0 {
				h.pcs = pcs
			}
		}
	}
}

// Poll implements engine.Engine.
func (f *forwarder) Poll() int {
	t := f.t
	switch {
	case !t.mine():
		t.lease.summon()
		return 0
	case t.gone.Load():
	case t.checking:
		return 0
	case t.holder != 0:
		t.heldTurn()
		return 0
	case t.running() != nil: // let others have the thread
		t.awaitPoll()
		return 0
	}
	t.changed = true
	return f.Engine.Poll()
}

// Sleep implements engine.Engine.
func (f *forwarder) Sleep(d time.Duration) {
	if !f.t.mine() {
		osthread.Sleep(d)
		return
	}
	f.Engine.Sleep(d)
}

// onThread calls g on the thread, and returns when it has returned.
func (f *forwarder) onThread(g func()) {
	t := f.t
	if t.mine() {
		g()
		return
	}
	x := &commandWait{t: t, g: g}
	x.wake = x.parker.Unpark
	t.port.WaitOutside(x)
}

// commandWait is the wait of another goroutine for a call that the thread makes for it.
type commandWait struct {
	t      *Thread
	g      func()
	wake   func()
	over   atomic.Bool
	parker osthread.Parker
}

// Done, Register, Sleep and InBody are part of executor.Waiter.
func (x *commandWait) Done() bool { return x.over.Load() }

func (x *commandWait) Register(wake func()) {
	x.wake = wake
	x.t.command(x.run)
}

func (x *commandWait) Sleep() {
	for x.t.command(x.run); !x.Done(); {
		x.parker.Park()
	}
}

func (x *commandWait) InBody(uint64, string) {}

func (x *commandWait) run() {
	x.g()
	x.over.Store(true)
	x.wake()
}

// command makes the thread call g; if the thread has ended, the caller does.
func (t *Thread) command(g func()) {
	if !t.submit(g) {
		g()
	}
}

// submit makes the thread call g, and reports whether the thread still exists.
func (t *Thread) submit(g func()) bool {
	t.mu.Lock()
	if t.gone.Load() {
		t.mu.Unlock()
		return false
	}
	t.commands = append(t.commands, g)
	t.lease.wakeRequested.Store(true)
	t.mu.Unlock()
	t.lease.summon()
	return true
}

// Outstanding implements engine.Engine.
func (f *forwarder) Outstanding(g func(*engine.Call)) {
	f.onThread(func() { f.Engine.Outstanding(g) })
}

// Cancel implements engine.Engine.
func (f *forwarder) Cancel(k *engine.Call) {
	f.onThread(func() {
		f.t.mu.Lock()
		h := f.t.forwarded[k]
		f.t.mu.Unlock()
		switch {
		case h != nil:
			f.Engine.Cancel(&h.call)
		case !k.Done():
			f.Engine.Cancel(k)
		}
	})
}

// Group implements engine.Engine.
func (f *forwarder) Group(h engine.Handle) (rank int, world []int) {
	f.onThread(func() { rank, world = f.Engine.Group(h) })
	return rank, world
}

// Create implements engine.Engine.
func (f *forwarder) Create(parent engine.Handle, members []int, seq uint32) (h engine.Handle, err error) {
	f.onThread(func() { h, err = f.Engine.Create(parent, members, seq) })
	return h, err
}

// Free implements engine.Engine.
func (f *forwarder) Free(h engine.Handle) (err error) {
	f.onThread(func() { err = f.Engine.Free(h) })
	return err
}

// Revoke implements engine.Engine.
func (f *forwarder) Revoke(h engine.Handle, reason string) {
	f.onThread(func() { f.t.revokePair(h, reason) })
}

// Revoked implements engine.Engine.
func (f *forwarder) Revoked(h engine.Handle) (reason string, yes bool) {
	f.onThread(func() { reason, yes = f.Engine.Revoked(h) })
	return reason, yes
}

// NewWindow implements engine.Engine.
func (f *forwarder) NewWindow(h engine.Handle, b engine.Buffer) (w engine.Handle, err error) {
	f.onThread(func() { w, err = f.Engine.NewWindow(h, b); f.t.windows++ })
	return w, err
}

// FreeWindow implements engine.Engine.
func (f *forwarder) FreeWindow(w engine.Handle) (err error) {
	f.onThread(func() { err = f.Engine.FreeWindow(w); f.t.windows-- })
	return err
}

// Finalize implements engine.Engine.
func (f *forwarder) Finalize() error {
	return fmt.Errorf("commthread: finalize: %w: stop the communication thread first", mpi.ErrState)
}
