// Package route runs a fixed list of messages on one buffer: the common form of a panel
// broadcast and an exchange of rows, once sender and receiver of each message are known. A
// route is data: a driver may run it (Start), or spawn its steps as tasks of a
// communication thread, ordered by the parts of the buffer that the steps access.
package route

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Step is one message of a route, as one rank sees it. A send waits for all earlier
// receives that overlap it. A part of the buffer is received at most once, and no earlier
// step sends any of it; so all receives can be posted at the start. Steps to one peer in
// one direction are messages in this order, on both sides.
type Step struct {
	Send bool // otherwise receive
	Peer int  // rank in the communicator
	At   int  // first element of the buffer
	Len  int  // elements, at least 1
}

// overlaps reports whether the two messages share an element of the buffer.
func (s Step) overlaps(r Step) bool { return s.At < r.At+r.Len && r.At < s.At+s.Len }

// Cut returns the steps with each message cut into shorter ones at the elements of the buffer in at, which ascend. Both ranks of a
// message cut it alike.
func Cut(steps []Step, at []int) (all []Step) {
	for _, s := range steps {
		for _, end := range at {
			if s.At < end && end < s.At+s.Len {
				first := s
				first.Len = end - s.At
				all = append(all, first)
				s.At, s.Len = end, s.Len-first.Len
			}
		}
		all = append(all, s)
	}
	return all
}

// Run is a route in progress. It belongs to one goroutine, which may communicate.
type Run struct {
	c     *mpi.Comm
	tag   int
	x     []float64
	steps []Step
	reqs  []*mpi.Request // by step; nil until posted
	ended []bool         // by step
	times [][2]int64     // by step: osthread.Nanotime when it was posted, and when its end was seen
	left  int            // steps that have not ended
	next  int            // all sends before it have been posted
	err   error          // the first failure
}

// Start posts the receives of a route, and the sends that need not wait. It does not block.
// x is the buffer; the run owns it until Test or Wait has reported the end. Runs in flight
// at the same time on a communicator need different tags: a forwarded message may overtake
// a newly started one. This rank may reuse a tag after its earlier run with that tag has
// ended. A failure of the run revokes c, because no rank can go on without the message: the
// runs of all other ranks fail, too.
func Start(c *mpi.Comm, tag int, x []float64, steps []Step) *Run {
	r := &Run{c: c, tag: tag, x: x, steps: steps, left: len(steps)}
	r.reqs, r.ended, r.times = make([]*mpi.Request, len(steps)), make([]bool, len(steps)), make([][2]int64, len(steps))
	for i, s := range steps {
		if !s.Send {
			r.times[i][0] = osthread.Nanotime()
			r.reqs[i] = c.Irecv(mpi.Of(x[s.At:s.At+s.Len]), s.Peer, tag)
		}
	}
	r.send()
	return r
}

// send posts, in order, the sends that need not wait any more.
func (r *Run) send() {
	for ; r.next < len(r.steps); r.next++ {
		s := r.steps[r.next]
		if !s.Send {
			continue
		}
		if r.waits(r.next) {
			return
		}
		r.times[r.next][0] = osthread.Nanotime()
		r.reqs[r.next] = r.c.Isend(mpi.Of(r.x[s.At:s.At+s.Len]), s.Peer, r.tag)
	}
}

// waits reports whether data that step i sends have not arrived.
func (r *Run) waits(i int) bool {
	for j, s := range r.steps[:i] {
		if !s.Send && !r.ended[j] && s.overlaps(r.steps[i]) {
			return true
		}
	}
	return false
}

// Test polls once and reports whether the run has ended, with its error. It does not block.
func (r *Run) Test() (done bool, err error) {
	if r.left > 0 {
		r.absorb(mpi.Testsome(r.reqs...))
	}
	return r.result()
}

// Wait blocks until the run has ended and returns its error.
func (r *Run) Wait() error {
	for r.left > 0 {
		r.absorb(mpi.Waitsome(r.reqs...))
	}
	_, err := r.result()
	return err
}

// Messages calls f for each message of a run that has ended without an error, with the moments
// ([osthread.Nanotime]) when it was posted and when its end was seen.
func (r *Run) Messages(f func(s Step, posted, done int64)) {
	for i, s := range r.steps {
		f(s, r.times[i][0], r.times[i][1])
	}
}

// Exchange runs a route and returns when it has ended: Start and Wait.
func Exchange(c *mpi.Comm, tag int, x []float64, steps []Step) error {
	return Start(c, tag, x, steps).Wait()
}

// absorb records the completed steps and posts the sends that waited for them.
func (r *Run) absorb(done []int, err error) {
	for _, i := range done {
		r.ended[i] = true
		r.times[i][1] = osthread.Nanotime()
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

// complete checks the length of message i.
func (r *Run) complete(i int) error {
	st, err := r.reqs[i].Wait() // it has completed: Wait returns its result
	if s := r.steps[i]; err == nil && st.Bytes != 8*s.Len {
		return fmt.Errorf("message of %d bytes from rank %d with tag %d, not of %d: the ranks run different routes",
			st.Bytes, s.Peer, r.tag, 8*s.Len)
	}
	return err
}

// fail ends the run: the revoked communicator ends the posted steps, and the others are not
// posted.
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
