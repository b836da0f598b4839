// Package route runs a fixed list of messages on one buffer: what a broadcast of a
// panel and an exchange of rows come down to, once it is known who sends what to whom.
// A route is data, so that a driver may run it (Start), or hand its steps to a
// communication thread as tasks of their own: the parts of the buffer that the steps
// touch say what must wait for what.
package route

import (
	"fmt"

	"github.com/weft-hpc/weft/mpi"
)

// Step is one message of a route, as one rank sees it. A step that sends waits for
// the steps before it that receive what it sends, whole or in part. A part of the buffer
// is received at most once, and nothing of it is sent before; so all receives can be
// posted at the start. Steps to one peer in one direction are messages in this order, on
// both sides.
type Step struct {
	Send bool // or receive
	Peer int  // rank in the communicator
	At   int  // first element of the buffer
	Len  int  // elements, at least 1
}

// overlaps reports whether the two messages share an element of the buffer.
func (s Step) overlaps(r Step) bool { return s.At < r.At+r.Len && r.At < s.At+s.Len }

// Run is a route under way. It belongs to one goroutine, that which may communicate.
type Run struct {
	c     *mpi.Comm
	tag   int
	x     []float64
	steps []Step
	reqs  []*mpi.Request // by step; nil as long as it has not been posted
	ended []bool         // by step: it has completed
	left  int            // steps that have not
	next  int            // steps before it that send have been posted
	err   error          // the first failure
}

// Start posts the receives of a route, and those of its sends that need not wait. It
// does not block. x is the buffer; it belongs to the run until Test or Wait has reported
// the end. Runs of one communicator that are under way at the same time on some rank have
// different tags: what a rank forwards may overtake what it starts. A tag may be used again
// for a run that this rank starts when it has ended the one before. A failure of the run
// revokes c, because nobody can go on without the message: the runs of all other ranks
// fail, too.
func Start(c *mpi.Comm, tag int, x []float64, steps []Step) *Run {
	r := &Run{c: c, tag: tag, x: x, steps: steps, left: len(steps)}
	r.reqs, r.ended = make([]*mpi.Request, len(steps)), make([]bool, len(steps))
	for i, s := range steps {
		if !s.Send {
			r.reqs[i] = c.Irecv(mpi.Of(x[s.At:s.At+s.Len]), s.Peer, tag)
		}
	}
	r.send()
	return r
}

// send posts the sends that need not wait any more, in their order.
func (r *Run) send() {
	for ; r.next < len(r.steps); r.next++ {
		s := r.steps[r.next]
		if !s.Send {
			continue
		}
		if r.waits(r.next) {
			return
		}
		r.reqs[r.next] = r.c.Isend(mpi.Of(r.x[s.At:s.At+s.Len]), s.Peer, r.tag)
	}
}

// waits reports whether something that step i sends has not arrived.
func (r *Run) waits(i int) bool {
	for j, s := range r.steps[:i] {
		if !s.Send && !r.ended[j] && s.overlaps(r.steps[i]) {
			return true
		}
	}
	return false
}

// Test makes progress by one poll and reports whether the run has ended; err is its
// failure then. It does not block.
func (r *Run) Test() (done bool, err error) {
	if r.left > 0 {
		r.settle(mpi.Testsome(r.reqs...))
	}
	return r.result()
}

// Wait returns when the run has ended, with its failure.
func (r *Run) Wait() error {
	for r.left > 0 {
		r.settle(mpi.Waitsome(r.reqs...))
	}
	_, err := r.result()
	return err
}

// Exchange runs a route and returns when it has ended: Start and Wait.
func Exchange(c *mpi.Comm, tag int, x []float64, steps []Step) error {
	return Start(c, tag, x, steps).Wait()
}

// settle takes in the steps that have completed, and posts what waited for them.
func (r *Run) settle(done []int, err error) {
	for _, i := range done {
		r.ended[i] = true
		r.left--
		if err == nil && !r.steps[i].Send {
			err = r.complete(i)
		}
	}
	switch {
	case err != nil:
		r.fail(err)
	case r.err == nil && len(done) > 0:
		r.send()
	}
}

// complete checks that all of message i has come.
func (r *Run) complete(i int) error {
	st, err := r.reqs[i].Wait() // it has completed: this is its result
	if s := r.steps[i]; err == nil && st.Bytes != 8*s.Len {
		return fmt.Errorf("message of %d bytes from rank %d with tag %d, not of %d: the ranks run different routes",
			st.Bytes, s.Peer, r.tag, 8*s.Len)
	}
	return err
}

// fail ends the run: what has been posted ends with the communicator, what has not is
// not posted any more.
func (r *Run) fail(err error) {
	if r.err != nil {
		return
	}
	r.err = err
	r.c.Revoke(err)
	for i := r.next; i < len(r.steps); i++ {
		if r.reqs[i] == nil {
			r.ended[i] = true
			r.left--
		}
	}
}

func (r *Run) result() (done bool, err error) {
	if r.left > 0 {
		return false, nil
	}
	return true, r.err
}
