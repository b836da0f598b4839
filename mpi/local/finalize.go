package local

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
)

// depart takes the rank of e out of the world when its body has ended. Owner only.
func (e *endpoint) depart(err error) {
	e.progress()
	f := &fate{err: err, clean: err == nil, calls: map[uint32]int{}}
	e.Outstanding(func(c *mpi.Call) {
		if c.Kind != mpi.CallRecv {
			f.clean = false
		}
	})
	for _, m := range e.comms {
		f.calls[m.group.ctx] = m.called
	}
	if err == nil && !f.clean {
		f.err = fmt.Errorf("it has finished with calls under way")
	}
	for _, c := range e.open {
		if c == nil || !c.Kind.Sends() {
			continue
		}
		if x, ok := c.Private.(*transfer); ok && x.withdraw() {
			x.release()
			e.unfinished = append(e.unfinished, c.Fail(mpi.ErrPending, 0, c.Payload(), "%d bytes were not received: wait for the request", c.Payload()))
			e.fail(c, c.Fail(mpi.ErrPending, 0, 0, "the rank has finished"))
		}
	}
	e.tell()
	e.leave(f)
}

// Finalize implements mpi.Engine.
func (e *endpoint) Finalize() error {
	if e.closed {
		return nil
	}
	e.progress()
	e.closed = true
	errs := e.unfinished
	e.Outstanding(func(c *mpi.Call) {
		errs = append(errs, c.Fail(mpi.ErrPending, 0, c.Payload(), "posted and never finished (%d bytes): wait for the request", c.Payload()))
	})
	errs = append(errs, e.unreceived()...)
	return errors.Join(errs...)
}

// unreceived reports the messages to this rank that no receive took.
func (e *endpoint) unreceived() (errs []error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drain(e)
	for m := e.match.first; m != nil; m = m.next {
		if m.dead() || m.key.ctx&1 != 0 {
			continue
		}
		errs = append(errs, &mpi.Error{Class: mpi.ErrPending, Kind: "finalize", Comm: fmt.Sprintf("communicator %d", m.key.ctx>>1), Rank: e.rank,
			Peer: int(m.key.src), Tag: m.key.tag, Got: m.n, Text: fmt.Sprintf("a message of %d bytes was sent to this rank and never received", m.n)})
	}
	return errs
}

// finalize ends all ranks; their errors count only if none has failed.
func (w *World) finalize() error {
	var errs []error
	failed := false
	for _, e := range w.ends {
		if f := e.fate.Load(); f != nil && f.err != nil && e.unfinished == nil {
			failed = true
		}
	}
	for _, e := range w.ends {
		if err := e.Finalize(); err != nil {
			errs = append(errs, fmt.Errorf("rank %d: %w", e.rank, err))
		}
	}
	if failed {
		return nil
	}
	return errors.Join(errs...)
}
