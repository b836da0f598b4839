package mpi

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/internal/engine"
)

// Request is an operation under way. One goroutine at a time may use it. Every request must
// be waited for, or tested until it has completed; until then its buffers belong to the
// engine. Wait returns at once if the request has completed, or is persistent and not
// started.
type Request struct {
	call       engine.Call
	port       *engine.Port
	comm       *Comm
	self       [1]*engine.Call
	persistent bool
	active     bool
}

func (c *Comm) request() *Request {
	r := &Request{port: c.inner().Port(), comm: c}
	r.self[0] = &r.call
	return r
}

// post starts the request.
func (r *Request) post() *Request {
	r.active = true
	if r.comm.inner().Prepare(&r.call) {
		r.port.Engine().Post(r.self[:])
	}
	return r
}

func (r *Request) persist() *Request {
	r.persistent = true
	return r
}

// Start starts a persistent request. Its last operation, if any, must have been waited for.
func (r *Request) Start() error {
	switch {
	case r == nil || !r.persistent:
		return fmt.Errorf("mpi: start: %w: only a persistent request (SendInit, RecvInit) can be started", ErrState)
	case r.active:
		return fmt.Errorf("mpi: start of a %s: %w: it has been started already and not waited for", &r.call, ErrState)
	}
	r.call.Rearm()
	r.post()
	return nil
}

// Startall starts persistent requests, in order.
func Startall(rs ...*Request) error {
	var errs []error
	for _, r := range rs {
		errs = append(errs, r.Start())
	}
	return errors.Join(errs...)
}

// finish makes the request inactive and returns the result of its call.
func (r *Request) finish() (Status, error) {
	r.active = false
	return Status(r.call.Status), r.call.Err
}

// idle reports whether there is nothing to wait for.
func (r *Request) idle() bool { return r == nil || !r.active }

// Wait returns when the request has completed. The status is valid for a receive only. The
// error is the same as from the blocking operation.
func (r *Request) Wait() (Status, error) {
	if r.idle() {
		return r.result()
	}
	if !r.call.Done() {
		r.port.Engine().Await(false, r.self[:])
	}
	return r.finish()
}

// result returns the result of the last operation of an inactive request; an empty status if
// the request is nil or persistent.
func (r *Request) result() (Status, error) {
	if r == nil || r.persistent {
		return Status{Source: AnySource, Tag: AnyTag}, nil
	}
	return Status(r.call.Status), r.call.Err
}

// Test makes some progress and reports whether the request has completed.
func (r *Request) Test() (done bool, st Status, err error) {
	if !r.idle() && !r.call.Done() {
		r.port.Engine().Poll()
	}
	if r.idle() {
		st, err = r.result()
		return true, st, err
	}
	if !r.call.Done() {
		return false, Status{}, nil
	}
	st, err = r.finish()
	return true, st, err
}

// Cancel cancels a receive: Wait then returns [ErrCancelled], or the message if that was
// faster. Other operations cannot be cancelled ([ErrState]).
func (r *Request) Cancel() error {
	if r.idle() || r.call.Done() {
		return nil
	}
	if k := r.call.Kind; k != engine.CallRecv {
		return r.call.Fail(ErrState, 0, 0, "only a receive can be cancelled")
	}
	r.port.Engine().Cancel(&r.call)
	return nil
}

// Waitall waits for all requests and returns their errors, joined. Nil requests are
// skipped.
func Waitall(rs ...*Request) error {
	if open := unfinished(rs); len(open) > 0 {
		portOf(rs).Engine().Await(false, open)
	}
	var errs []error
	for _, r := range rs {
		if !r.idle() {
			if _, err := r.finish(); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// anyOpen reports whether one of the requests has not completed.
func anyOpen(rs []*Request) bool {
	for _, r := range rs {
		if !r.idle() && !r.call.Done() {
			return true
		}
	}
	return false
}

// unfinished returns the calls that have not completed.
func unfinished(rs []*Request) (open []*engine.Call) {
	for _, r := range rs {
		if !r.idle() && !r.call.Done() {
			open = append(open, &r.call)
		}
	}
	return open
}

func portOf(rs []*Request) *engine.Port {
	for _, r := range rs {
		if !r.idle() && r.port != nil {
			return r.port
		}
	}
	return nil
}

// Waitany waits until one of the requests has completed, and returns its index; -1
// if none is under way.
func Waitany(rs ...*Request) (int, Status, error) {
	for {
		open := unfinished(rs)
		if i := firstDone(rs); i >= 0 {
			st, err := rs[i].finish()
			return i, st, err
		}
		if len(open) == 0 {
			return -1, Status{Source: AnySource, Tag: AnyTag}, nil
		}
		portOf(rs).Engine().Await(true, open)
	}
}

func firstDone(rs []*Request) int {
	for i, r := range rs {
		if !r.idle() && r.call.Done() {
			return i
		}
	}
	return -1
}

// Waitsome waits until at least one of the requests has completed. It returns the indices of
// all completed requests, nil if none is under way, and their errors, joined. Wait of each
// then returns its status.
func Waitsome(rs ...*Request) ([]int, error) {
	if open := unfinished(rs); len(open) > 0 && firstDone(rs) < 0 {
		portOf(rs).Engine().Await(true, open)
	}
	return takeDone(rs)
}

// Testsome is Waitsome without the wait.
func Testsome(rs ...*Request) ([]int, error) {
	if p := portOf(rs); p != nil {
		p.Engine().Poll()
	}
	return takeDone(rs)
}

func takeDone(rs []*Request) (done []int, err error) {
	var errs []error
	for i, r := range rs {
		if !r.idle() && r.call.Done() {
			done = append(done, i)
			if _, err := r.finish(); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return done, errors.Join(errs...)
}

// Testall reports whether all requests have completed; then it returns their errors,
// joined.
func Testall(rs ...*Request) (bool, error) {
	if p := portOf(rs); p != nil && anyOpen(rs) {
		p.Engine().Poll()
	}
	if anyOpen(rs) {
		return false, nil
	}
	return true, Waitall(rs...)
}

// Testany is Waitany that does not wait: done is false if some are under way and none has
// completed.
func Testany(rs ...*Request) (i int, done bool, st Status, err error) {
	if p := portOf(rs); p != nil && firstDone(rs) < 0 {
		p.Engine().Poll()
	}
	if i = firstDone(rs); i >= 0 {
		st, err = rs[i].finish()
		return i, true, st, err
	}
	return -1, !anyOpen(rs), Status{Source: AnySource, Tag: AnyTag}, nil
}
