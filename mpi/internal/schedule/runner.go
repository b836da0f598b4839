package schedule

import "github.com/weft-hpc/weft/mpi"

// Runner carries out the collective calls of one rank. Its methods are called by one
// goroutine at a time, the one that is inside the engine, and outside of its locks.
type Runner struct {
	post    func(calls []*mpi.Call)
	hook    func(*mpi.Call) // OnDone of all internal calls
	live    []*schedule     // under way
	ready   []*schedule     // whose round has ended, or that failed
	running bool            // ready is being worked off
	ended   int             // collectives completed so far

	idle  []*schedule // to be used again
	calls []*mpi.Call // to be used again
	rooms roomPool
}

// NewRunner returns a runner that starts its messages with post. The calls given to
// post are sends and receives with Hidden set; they may complete inside it. post
// does not keep the slice. It may call Advance, which then does nothing: the runner
// looks itself for what has completed.
func NewRunner(post func(calls []*mpi.Call)) *Runner {
	r := &Runner{post: post}
	r.hook = r.done
	return r
}

// tags is the number of different tags: the collective numbered seq uses seq modulo
// tags. It is what every MPI library has (its upper bound is at least 32767), and
// two collectives of one communicator with the same tag can only meet if the later
// one starts 32768 collectives after one that has not ended.
const tags = 1 << 15

// Start begins the collective k, the seq-th one on its communicator, counted in the
// same way by all of its ranks. It posts the first messages and may complete k. It
// does not block.
func (r *Runner) Start(k *mpi.Call, seq int) {
	s := r.take()
	s.k, s.tag = k, seq&(tags-1)
	s.rank, s.size = k.Comm.Rank(), k.Comm.Size()
	s.place = len(r.live)
	r.live = append(r.live, s)
	s.build()
	s.queued = true
	r.ready = append(r.ready, s)
	r.drain()
}

// Advance continues the collectives whose messages have completed since the last
// call of Advance or Start, completes those that have ended, and returns their
// number. It costs one comparison if there is nothing to do. It does not block.
func (r *Runner) Advance() int { return r.drain() }

// Idle reports that Advance has nothing to do now.
func (r *Runner) Idle() bool { return len(r.ready) == 0 }

// drain works off the ready ones, and returns how many collectives completed.
func (r *Runner) drain() int {
	if r.running || len(r.ready) == 0 {
		return 0
	}
	r.running = true
	before := r.ended
	for i := 0; i < len(r.ready); i++ {
		s := r.ready[i]
		r.ready[i] = nil
		s.queued = false
		r.step(s)
	}
	r.ready = r.ready[:0]
	r.running = false
	return r.ended - before
}

// step goes on with s as far as its messages allow.
func (r *Runner) step(s *schedule) {
	s.busy = true
	for !s.over {
		if s.err != nil {
			r.finish(s, s.err)
			break
		}
		if s.pending > 0 {
			break
		}
		if s.posted {
			s.local()
			r.giveBack(s)
		}
		if s.round == len(s.ends) {
			r.finish(s, nil)
			break
		}
		r.postRound(s)
	}
	s.busy = false
	r.settle(s)
}

// postRound posts the messages of the present round: receives, then sends.
func (r *Runner) postRound(s *schedule) {
	steps := s.roundSteps()
	for _, kind := range [2]mpi.CallKind{mpi.CallRecv, mpi.CallSend} {
		for i := range steps {
			if steps[i].message == kind {
				s.calls = append(s.calls, r.call(s, &steps[i]))
			}
		}
	}
	s.posted = true
	s.pending = len(s.calls)
	if s.pending > 0 {
		r.post(s.calls)
	}
}

// call returns the internal call of a step.
func (r *Runner) call(s *schedule, st *step) *mpi.Call {
	var c *mpi.Call
	if n := len(r.calls); n > 0 {
		c = r.calls[n-1]
		r.calls = r.calls[:n-1]
	} else {
		c = &mpi.Call{OnDone: r.hook}
	}
	c.Kind, c.Hidden, c.Comm, c.Peer, c.Tag, c.Task, c.User = st.message, true, s.k.Comm, st.peer, s.tag, s.k.Task, s
	if st.message == mpi.CallSend {
		c.Send = st.in
	} else {
		c.Recv = st.out
	}
	return c
}

// done is the hook of all internal calls: it only marks.
func (r *Runner) done(c *mpi.Call) {
	s := c.User.(*schedule)
	s.pending--
	if s.err == nil && !s.over {
		s.err = s.failure(c)
	}
	if !s.busy && !s.queued && (s.pending == 0 || s.err != nil && !s.over) {
		s.queued = true
		r.ready = append(r.ready, s)
	}
}

// finish ends the collective of s. Messages may still be under way.
func (r *Runner) finish(s *schedule, err error) {
	last := len(r.live) - 1
	r.live[s.place] = r.live[last]
	r.live[s.place].place = s.place
	r.live[last] = nil
	r.live = r.live[:last]
	k := s.k
	s.over, s.k = true, nil
	r.ended++
	r.settle(s)
	k.Complete(mpi.Status{}, err)
}

// settle makes s ready to be used again as soon as nobody can refer to it.
func (r *Runner) settle(s *schedule) {
	if !s.over || s.busy || s.queued || s.pending > 0 {
		return
	}
	r.giveBack(s)
	r.rooms.put(s.rooms)
	s.reset()
	r.idle = append(r.idle, s)
}

// giveBack takes the completed calls of a round back.
func (r *Runner) giveBack(s *schedule) {
	for i, c := range s.calls {
		c.Reset()
		c.User, c.Private = nil, nil
		r.calls = append(r.calls, c)
		s.calls[i] = nil
	}
	s.calls = s.calls[:0]
}

func (r *Runner) take() *schedule {
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return s
	}
	return &schedule{pool: &r.rooms}
}

// Abort completes the collectives that match with err. Their messages that are under
// way stay with the engine: when these end, nothing happens but that the runner takes
// their memory back; buffers of the program that they receive into may be written to
// until then. An engine that revokes a communicator completes these messages, too.
func (r *Runner) Abort(match func(k *mpi.Call) bool, err error) {
	for i := len(r.live) - 1; i >= 0; i-- {
		if i < len(r.live) && match(r.live[i].k) {
			r.finish(r.live[i], err)
		}
	}
}

// Outstanding calls f for every collective that has been started and not completed.
func (r *Runner) Outstanding(f func(*mpi.Call)) {
	for _, s := range r.live {
		f(s.k)
	}
}
