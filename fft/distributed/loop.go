package distributed

// This file and link.go schedule Exchange, Slabs and Pencils, by a loop on the goroutine of
// the rank. All receives are posted before the first transform. Between planes the loop
// tests the messages, which otherwise do not move; other workers help with planes and
// columns. In all three forms the last bytes leave after the last plane, in the order of
// planes, so no pencil is complete before the end of communication.
//
// Ownership: an item of a pass belongs to the worker that claimed it. A slot of the stage
// belongs to the worker that computes a plane into it, then to the requests that send it,
// and is free when they have completed. All MPI calls are made by the goroutine of the
// rank.
//
//	an item:  waiting -> ready (its part has arrived) -> claimed -> done -> sent
//
// Locks: passLoop.mu, then stage.mu, each held for some ns. No hook, MPI call or task runs
// under one.
//
// Order of messages: every piece has a tag of its own within its transform, and successive
// transforms post their messages in order on both sides. So a piece that comes early waits
// for the receive of its own transform. Puts wait for the fence.

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// loopSchedule is one transform as Exchange, Slabs or Pencils: a loop over passes on the
// goroutine of the rank.
type loopSchedule struct {
	p     *Plan
	st    *steps
	a     *arrays
	links []*link // by pass: the exchange after it; nil if there is none
}

// runLoop runs a transform as Exchange, Slabs or Pencils.
func (p *Plan) runLoop(st *steps, a *arrays) error {
	h := &loopSchedule{p, st, a, make([]*link, len(st.passes))}
	err := h.start()
	for i := 0; err == nil && i < len(st.passes); i++ {
		err = h.pass(i)
	}
	for _, k := range h.links {
		for err == nil && k != nil && len(k.sends) > 0 {
			err = k.reclaim(true)
		}
	}
	if err == nil {
		return nil
	}
	p.revoke(err)
	for _, k := range h.links {
		if k != nil {
			k.abandon()
		}
	}
	return err
}

// start posts the receives of all exchanges, before anything is transformed.
func (h *loopSchedule) start() error {
	for i := range h.st.passes {
		x := h.st.passes[i].after
		if x == nil {
			continue
		}
		k := &link{x: x, form: h.p.cfg.Form, array: h.a.data[x.to], stage: h.p.stage, stats: &h.p.stats}
		if h.p.cfg.OneSided {
			k.win = h.p.window(x.comm, k.array)
		}
		h.links[i] = k
		if err := k.post(); err != nil {
			return err
		}
	}
	return nil
}

// passLoop is one pass in progress: the rank's goroutine runs the loop, other workers help
// with items whose input has arrived.
type passLoop struct {
	p       *Plan
	ps      *pass
	a       *arrays
	in, out *link

	mu      sync.Mutex
	next    int             // guarded by mu: the next item to compute
	limit   int             // guarded by mu: items whose input has arrived
	busy    int             // guarded by mu: items being computed
	helpers int             // guarded by mu
	done    []finishedPlane // guarded by mu: planes to send
	failure error           // guarded by mu: the panic of an item
}

// finishedPlane is a plane to send.
type finishedPlane struct {
	item, slot int
	plane      []complex128
}

func (h *loopSchedule) pass(i int) error {
	l := &passLoop{p: h.p, ps: &h.st.passes[i], a: h.a, out: h.links[i]}
	if i > 0 {
		l.in = h.links[i-1]
	}
	err := l.run()
	if h.p.workers > 1 {
		err = errors.Join(err, h.p.rt.Wait())
	}
	if err == nil && l.out != nil && l.out.form == Exchange {
		err = l.out.alltoall()
	}
	return err
}

// run computes, sends finished planes and receives, until all is done or an item has
// failed; in the second case other workers may still be computing.
func (l *passLoop) run() error {
	for {
		finished, err := l.finished()
		if finished || err != nil {
			return err
		}
		if err := l.progress(); err != nil {
			return err
		}
		if err := l.release(false); err != nil {
			return err
		}
		if item, slot, ok := l.claim(); ok {
			l.work(item, slot)
			continue
		}
		if err := l.wait(); err != nil {
			return err
		}
	}
}

// progress sends finished planes, frees the slots of sent planes and tests the receives:
// messages move only while their ranks are inside MPI.
func (l *passLoop) progress() error {
	if l.in != nil {
		if err := l.in.reclaim(false); err != nil {
			return err
		}
	}
	if l.out == nil || l.out.form == Exchange {
		return nil
	}
	for {
		l.mu.Lock()
		if len(l.done) == 0 {
			l.mu.Unlock()
			return errors.Join(l.out.reclaim(false), l.out.receive(false))
		}
		d := l.done[0]
		l.done = l.done[1:]
		l.mu.Unlock()
		l.out.send(d.item, d.slot, d.plane)
	}
}

// release makes the items of arrived parts ready, and spawns helpers for them.
func (l *passLoop) release(wait bool) error {
	arrived := 0
	if l.in != nil {
		if err := l.in.receive(wait); err != nil {
			return err
		}
		arrived = l.in.arrived
	}
	l.mu.Lock()
	for l.limit < l.ps.items && (l.in == nil || l.ps.part(l.limit) < arrived) {
		l.limit++
	}
	missing := max(0, min(l.p.workers, l.limit-l.next)-1-l.helpers)
	l.helpers += missing
	l.mu.Unlock()
	for range missing {
		l.p.rt.Spawn("share", l.help) // may run it at once
	}
	return nil
}

// claim returns a ready item, and a slot of the stage if its plane needs one.
func (l *passLoop) claim() (item, slot int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == l.limit {
		return 0, 0, false
	}
	slot = -1
	if l.out != nil && l.out.form != Exchange {
		if slot = l.p.stage.acquire(); slot < 0 {
			return 0, 0, false
		}
	}
	l.next++
	l.busy++
	return l.next - 1, slot, true
}

// finished reports whether the pass is finished, and its failure.
func (l *passLoop) finished() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waits := l.in != nil && l.in.arrived < len(l.in.receives)
	return l.next == l.ps.items && l.busy == 0 && len(l.done) == 0 && !waits, l.failure
}

// wait waits for messages: for the next part, or for a send that frees a slot. While other
// workers compute, it waits only a moment.
func (l *passLoop) wait() error {
	l.mu.Lock()
	alone, ready := l.busy == 0 && len(l.done) == 0, l.next < l.limit
	l.mu.Unlock()
	switch {
	case !alone:
		osthread.Relax()
		return nil
	case !ready:
		return l.release(true)
	case l.in != nil && len(l.in.sends) > 0:
		return l.in.reclaim(true)
	case l.out != nil:
		return l.out.reclaim(true)
	}
	return nil
}

// helpSpins is how often a helper looks for a ready item before it ends.
const helpSpins = 256

// help computes ready items on another worker.
func (l *passLoop) help(*tasks.Context) error {
	for spins := 0; spins < helpSpins; spins++ {
		if item, slot, ok := l.claim(); ok {
			l.work(item, slot)
			spins = 0
			continue
		}
		osthread.Relax()
	}
	l.mu.Lock()
	l.helpers--
	l.mu.Unlock()
	return nil
}

// work computes an item. A panic in a hook becomes the error of the pass.
func (l *passLoop) work(item, slot int) {
	s := l.p.scratch()
	var plane []complex128
	err := caught(func() {
		if l.out == nil {
			l.ps.do(item, l.a, s)
		} else {
			plane = l.pieces(item, slot, s)
		}
	})
	l.p.spare.Put(s)
	osthread.Settle()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	switch {
	case err != nil:
		if l.failure == nil {
			l.failure = fmt.Errorf("distributed: item %d of a pass: %w", item, err)
		}
		if slot >= 0 {
			l.p.stage.release(slot)
		}
	case slot >= 0:
		l.done = append(l.done, finishedPlane{item, slot, plane})
	}
}

// caught calls f and returns its panic as an error.
func caught(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	f()
	return nil
}

// pieces computes a plane before an exchange, and copies the piece that stays here.
func (l *passLoop) pieces(item, slot int, s *scratch) []complex128 {
	n := l.ps.planes.rows * l.ps.planes.cols
	plane := s.out
	if slot >= 0 {
		plane = l.p.stage.plane(slot, n)
	}
	plane = plane[:n]
	l.ps.plane(item, plane, l.a, s)
	l.out.x.copyPiece(l.out.x.ownPiece(l.out.array, item), plane, l.out.x.me)
	if slot < 0 {
		l.out.pack(item, plane)
	}
	return plane
}
