package local

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/mpi"
)

// depart takes the rank of e out of the world when its body has ended. Owner only.
func (e *endpoint) depart(err error) {
	f := &fate{err: err, clean: err == nil, calls: map[uint32]int{}}
	if err == nil {
		e.progress()
		e.report()
		e.Outstanding(func(c *mpi.Call) { f.clean = f.clean && c.Kind == mpi.CallRecv })
		if !f.clean {
			f.err = errors.New("it has finished with calls under way")
		}
	}
	for _, m := range e.comms {
		f.calls[m.group.ctx] = m.called
	}
	e.leave(f)
	var c panics.Catcher // after a panic, those who are told may panic again
	c.Try(func() {
		e.scan() // takes back what others could still match
		e.tell()
	})
}

// report collects what is under way. Owner only.
func (e *endpoint) report() {
	e.reported = true
	e.Outstanding(func(c *mpi.Call) {
		e.unfinished = append(e.unfinished, c.Fail(mpi.ErrPending, 0, c.Payload(), "%d bytes: it was started and never finished: wait for the request", c.Payload()))
	})
}

// Finalize implements mpi.Engine.
func (e *endpoint) Finalize() error {
	if e.closed {
		return nil
	}
	e.closed = true
	if !e.reported && e.fate.Load() == nil {
		e.progress()
		e.report()
	}
	return errors.Join(append(e.unfinished, e.unreceived()...)...)
}

// unreceived reports the messages to this rank that no receive took, but for those of
// communicators that do not work any more.
func (e *endpoint) unreceived() (errs []error) {
	e.settleLimbo()
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
		errs = append(errs, &mpi.Error{Class: mpi.ErrPending, Kind: "finalize", Comm: name, Rank: e.rank, Peer: int(m.key.src), Tag: m.key.tag, Got: m.n,
			Text: fmt.Sprintf("a message of %d bytes was sent to this rank and never received", m.n)})
	}
	return errs
}

// nameOf describes a communicator of this rank; "" if it was revoked or is broken.
func (e *endpoint) nameOf(ctx uint32) string {
	for h, m := range e.comms {
		if m.group.ctx != ctx {
			continue
		}
		m.group.mu.Lock()
		dead := m.group.revoked || m.group.verdict != ""
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

// finalize ends all ranks; what they have left counts only if none has failed.
func (w *World) finalize() error {
	var errs []error
	failed := false
	for _, e := range w.ends {
		if err := e.Finalize(); err != nil {
			errs = append(errs, fmt.Errorf("rank %d: %w", e.rank, err))
		}
		f := e.fate.Load()
		failed = failed || f != nil && f.err != nil && len(e.unfinished) == 0
	}
	if failed {
		return nil
	}
	return errors.Join(errs...)
}
