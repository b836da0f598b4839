package commthread

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// forwarder is the engine that the program sees while a thread runs: the thread and
// its bodies call the true engine, the calls of other goroutines are handed to the
// thread.
type forwarder struct {
	mpi.Engine // the true one
	t          *Thread
}

// waiter is a goroutine that waits for calls it has handed over.
type waiter struct {
	any   bool
	calls []*mpi.Call
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

// Post is part of mpi.Engine.
func (f *forwarder) Post(calls []*mpi.Call) {
	t := f.t
	if t.mine() {
		t.sent(calls)
		f.Engine.Post(calls)
		return
	}
	stand := make([]*mpi.Call, len(calls))
	t.mu.Lock()
	for i, k := range calls {
		stand[i] = t.standIn(k)
		t.forwarded[k] = &handed{by: stand[i]}
	}
	t.commands = append(t.commands, func() {
		t.sent(stand)
		t.engine.Post(stand)
	})
	t.poked = true
	t.mu.Unlock()
	t.rouse()
}

// handed is a call that another goroutine has handed over.
type handed struct {
	by   *mpi.Call // what the thread makes in its place
	wait *waiter   // who waits for it; may be nil
}

// standIn returns the call that the thread makes for k. When it has completed, k is
// completed with the lock held, so that a waiter either sees that or is woken.
func (t *Thread) standIn(k *mpi.Call) *mpi.Call {
	s := &mpi.Call{
		Kind: k.Kind, Exclusive: k.Exclusive, Hidden: k.Hidden, Comm: k.Comm, Peer: k.Peer, Tag: k.Tag, Send: k.Send, Recv: k.Recv,
		Op: k.Op, Win: k.Win, Offset: k.Offset, Count: k.Count, Message: k.Message, Task: k.Task,
		SendCounts: k.SendCounts, SendDispls: k.SendDispls, RecvCounts: k.RecvCounts, RecvDispls: k.RecvDispls,
	}
	s.OnDone = func(s *mpi.Call) {
		t.lane.Moved()
		t.mu.Lock()
		h := t.forwarded[k]
		delete(t.forwarded, k)
		k.Found, k.Message = s.Found, s.Message
		k.Complete(s.Status, s.Err)
		t.mu.Unlock()
		if h.wait != nil {
			h.wait.wake()
		}
	}
	return s
}

// sent notes whether the peers may need this rank's progress.
func (t *Thread) sent(calls []*mpi.Call) {
	for _, k := range calls {
		t.owed = !k.Kind.Collective() && (t.owed || k.Kind.Sends() || k.Kind.OneSided())
	}
}

// Do is part of mpi.Engine.
func (f *forwarder) Do(k *mpi.Call) {
	calls := []*mpi.Call{k}
	f.Post(calls)
	f.Await(false, calls)
}

// Await is part of mpi.Engine.
func (f *forwarder) Await(any bool, calls []*mpi.Call) {
	t, w := f.t, &waiter{any: any, calls: calls}
	if t.mine() {
		t.await(w.done)
		return
	}
	t.aside(w)
}

// aside waits on another goroutine than the thread's.
func (t *Thread) aside(w *waiter) {
	var parker osthread.Parker
	w.wake = parker.Unpark
	enlist := func() {
		t.mu.Lock()
		for _, k := range w.calls {
			if h := t.forwarded[k]; h != nil {
				h.wait = w
			}
		}
		t.mu.Unlock()
	}
	t.lane.Aside(w.done,
		func(wake func()) { w.wake = wake; enlist() },
		func() {
			for enlist(); !w.done(); {
				parker.Park()
			}
		},
		func(number uint64, label string) {
			t.warned.Do(func() {
				fmt.Fprintf(os.Stderr, "weft: task %d %q waits for messages inside its body: a worker more is started to use its core meanwhile; a task with the clause OnComm, or Send and Recv of the communication thread, would not need one\n", number, label)
			})
		})
}

// Poll is part of mpi.Engine.
func (f *forwarder) Poll() int {
	t := f.t
	switch {
	case !t.mine():
		t.rouse()
		return 0
	case t.running() != nil: // let others have the thread
		first := true
		t.await(func() bool {
			was := first
			first = false
			return !was
		})
		return 0
	}
	return f.Engine.Poll()
}

// Sleep is part of mpi.Engine.
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
	var over atomic.Bool
	var parker osthread.Parker
	wake := parker.Unpark
	t.lane.Aside(over.Load,
		func(w func()) { wake = w; t.command(func() { g(); over.Store(true); wake() }) },
		func() {
			t.command(func() { g(); over.Store(true); wake() })
			for !over.Load() {
				parker.Park()
			}
		},
		func(uint64, string) {})
}

func (t *Thread) command(g func()) {
	t.mu.Lock()
	t.commands = append(t.commands, g)
	t.poked = true
	t.mu.Unlock()
	t.rouse()
}

// Outstanding is part of mpi.Engine.
func (f *forwarder) Outstanding(g func(*mpi.Call)) {
	f.onThread(func() { f.Engine.Outstanding(g) })
}

// Cancel is part of mpi.Engine.
func (f *forwarder) Cancel(k *mpi.Call) {
	f.onThread(func() {
		f.t.mu.Lock()
		h := f.t.forwarded[k]
		f.t.mu.Unlock()
		switch {
		case h != nil:
			f.Engine.Cancel(h.by)
		case !k.Done():
			f.Engine.Cancel(k)
		}
	})
}

// Group is part of mpi.Engine.
func (f *forwarder) Group(h mpi.Handle) (rank int, world []int) {
	f.onThread(func() { rank, world = f.Engine.Group(h) })
	return rank, world
}

// Create is part of mpi.Engine.
func (f *forwarder) Create(parent mpi.Handle, members []int, seq uint32) (h mpi.Handle, err error) {
	f.onThread(func() { h, err = f.Engine.Create(parent, members, seq) })
	return h, err
}

// Free is part of mpi.Engine.
func (f *forwarder) Free(h mpi.Handle) (err error) {
	f.onThread(func() { err = f.Engine.Free(h) })
	return err
}

// Revoke is part of mpi.Engine.
func (f *forwarder) Revoke(h mpi.Handle, reason string) {
	f.onThread(func() { f.Engine.Revoke(h, reason) })
}

// Revoked is part of mpi.Engine.
func (f *forwarder) Revoked(h mpi.Handle) (reason string, yes bool) {
	f.onThread(func() { reason, yes = f.Engine.Revoked(h) })
	return reason, yes
}

// NewWindow is part of mpi.Engine.
func (f *forwarder) NewWindow(h mpi.Handle, b mpi.Buffer) (w mpi.Handle, err error) {
	f.onThread(func() { w, err = f.Engine.NewWindow(h, b); f.t.windows++ })
	return w, err
}

// FreeWindow is part of mpi.Engine.
func (f *forwarder) FreeWindow(w mpi.Handle) (err error) {
	f.onThread(func() { err = f.Engine.FreeWindow(w); f.t.windows-- })
	return err
}

// Finalize is part of mpi.Engine.
func (f *forwarder) Finalize() error {
	return fmt.Errorf("commthread: finalize: %w: stop the communication thread first", mpi.ErrState)
}
