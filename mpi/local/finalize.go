package local

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// depart takes the rank out of the world. Its body has ended with err. Owner only.
func (e *endpoint) depart(err error) {
	d := &departure{err: err, clean: err == nil, calls: map[uint32]int{}}
	if err == nil {
		e.progress()
		e.report()
		e.Outstanding(func(c *engine.Call) { d.clean = d.clean && c.Kind == engine.CallRecv })
		if !d.clean {
			d.err = errors.New("it has finished with calls under way")
		}
	}
	for _, m := range e.comms {
		d.calls[m.group.ctx] = m.called
	}
	e.leave(d)
	var c panics.Catcher // after a panic, completion hooks may panic again
	c.Try(func() {
		e.scan() // withdraws the calls that others could still match
		e.runCompletions()
	})
}

// report adds an error for every call under way. Owner only.
func (e *endpoint) report() {
	e.reported = true
	e.Outstanding(func(c *engine.Call) {
		e.unfinished = append(e.unfinished, c.Fail(engine.ErrPending, 0, c.Payload(), "%d bytes: it was started and never finished: wait for the request", c.Payload()))
	})
}

// Finalize implements engine.Engine.
func (e *endpoint) Finalize() error {
	if e.closed {
		return nil
	}
	e.closed = true
	if !e.reported && e.departure.Load() == nil {
		e.progress()
		e.report()
	}
	return errors.Join(slices.Concat(e.unfinished, e.unreceived(), e.openWindows())...)
}

// openWindows returns an error for every window that this rank has not freed, unless its communicator was
// revoked: then Free would have failed.
func (e *endpoint) openWindows() (errs []error) {
	for _, w := range e.windows {
		if w == nil {
			continue
		}
		if name := e.nameOf(w.group.ctx); name != "" {
			errs = append(errs, &mpi.Error{Class: engine.ErrPending, Kind: "finalize", Comm: name, Rank: e.rank, Peer: engine.NoPeer, Tag: engine.AnyTag,
				Text: "a window is open: Free it"})
		}
	}
	return errs
}

// unreceived returns an error for every message to this rank that no receive took. It skips
// revoked and mismatched communicators.
func (e *endpoint) unreceived() (errs []error) {
	e.flushReorderBuffer()
	e.mu.Lock()
	e.drain(e)
	var left []*message
	for m := e.match.first; m != nil; m = m.next {
		if !m.dead() && m.key.ctx&1 == 0 {
			left = append(left, m)
		}
	}
	e.mu.Unlock()
	for _, m := range left {
		name := e.nameOf(m.key.ctx >> 1)
		if name == "" {
			continue
		}
		errs = append(errs, &mpi.Error{Class: engine.ErrPending, Kind: "finalize", Comm: name, Rank: e.rank, Peer: int(m.key.src), Tag: m.key.tag, Got: m.n,
			Text: fmt.Sprintf("a message of %d bytes was sent to this rank and never received", m.n)})
	}
	return errs
}

// nameOf describes a communicator of this rank; "" if it was revoked or mismatched.
func (e *endpoint) nameOf(ctx uint32) string {
	for h, m := range e.comms {
		if m.group.ctx != ctx {
			continue
		}
		m.group.mu.Lock()
		dead := m.group.revoked || m.group.mismatch != ""
		m.group.mu.Unlock()
		switch {
		case dead:
			return ""
		case h == 0:
			return "world"
		}
	}
	return fmt.Sprintf("communicator %d", ctx)
}

// finalize finalizes all ranks. It returns their unfinished calls and messages, or nil if a
// rank has failed.
func (w *World) finalize() error {
	var errs []error
	failed := false
	for _, e := range w.ends {
		if err := e.Finalize(); err != nil {
			errs = append(errs, fmt.Errorf("rank %d: %w", e.rank, err))
		}
		d := e.departure.Load()
		failed = failed || d != nil && d.err != nil && len(e.unfinished) == 0
	}
	if failed {
		return nil
	}
	return errors.Join(errs...)
}
