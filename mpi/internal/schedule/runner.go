package schedule

import (
	"github.com/weft-hpc/weft/internal/engine"
)

// Runner carries out the collective calls of one rank. Only the goroutine inside the engine
// may call its methods, with no lock of the engine held.
type Runner struct {
	post    func(calls []*engine.Call)
	end     func(c *engine.Call, err error) // see NewRunner; may be nil
	hook    func(*engine.Call)              // OnDone of all internal calls
	live    []*schedule                     // under way
	ready   []*schedule                     // a round has ended, or a message has failed
	running bool                            // runReady is active
	ended   int                             // number of completed collectives

	idle    []*schedule    // unused, for later collectives
	calls   []*engine.Call // unused
	buffers bufferPool
}

// NewRunner returns a runner that starts its messages with post. The calls given to post are
// sends and receives with Hidden set; they may complete inside it. post does not keep the
// slice. It may call Advance, which then does nothing: the runner itself continues the
// schedules whose messages completed.
//
// A collective that fails has other messages under way. For each of them the runner calls end,
// which makes it complete soon, with err or as if nothing had happened; only then the
// collective completes, and the program has its buffers back. Without end (nil) it completes at
// once, and these messages stay with the engine.
func NewRunner(post func(calls []*engine.Call), end func(c *engine.Call, err error)) *Runner {
	r := &Runner{post: post, end: end}
	r.hook = r.done
	return r
}

// tags is the number of different tags: collective number seq uses tag seq modulo tags.
// Every MPI library allows tags up to 32767 at least. Two collectives of one communicator
// share a tag only if one has not ended when the 32768th after it starts.
const tags = 1 << 15

// Start starts collective k, which has number seq on its communicator; all ranks count
// alike. It posts the first messages and may complete k. It does not block.
func (r *Runner) Start(k *engine.Call, seq int) {
	s := r.newSchedule()
	s.k, s.tag = k, seq&(tags-1)
	s.rank, s.size = k.Comm.Rank(), k.Comm.Size()
	s.place = len(r.live)
	r.live = append(r.live, s)
	s.build()
	s.queued = true
	r.ready = append(r.ready, s)
	r.runReady()
}

// Advance continues the collectives whose messages have completed since the last Advance or
// Start. It returns the number of collectives that it completed. It costs one comparison if
// there is nothing to do. It does not block.
func (r *Runner) Advance() int { return r.runReady() }

// Idle reports that Advance has nothing to do now.
func (r *Runner) Idle() bool { return len(r.ready) == 0 }

// runReady continues the ready schedules and returns the number of collectives completed.
func (r *Runner) runReady() int {
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

// step continues s until it waits for messages or has ended.
func (r *Runner) step(s *schedule) {
	s.busy = true
	for !s.completed {
		if s.err != nil {
			r.endMessages(s)
		}
		if s.pending > 0 && (s.err == nil || r.end != nil) {
			break
		}
		if s.err != nil {
			r.finish(s, s.err)
			break
		}
		if s.posted {
			s.local()
			r.recycleCalls(s)
			continue // an operation may have failed
		}
		if s.round == len(s.ends) {
			r.finish(s, nil)
			break
		}
		r.postRound(s)
	}
	s.busy = false
	r.recycle(s)
}

// endMessages makes the messages under way of a failed collective complete soon, once.
func (r *Runner) endMessages(s *schedule) {
	if r.end == nil || s.ending {
		return
	}
	s.ending = true
	for _, c := range s.calls {
		r.end(c, s.err)
	}
}

// postRound posts the messages of the present round: receives, then sends.
func (r *Runner) postRound(s *schedule) {
	steps := s.roundSteps()
	for _, kind := range [2]engine.CallKind{engine.CallRecv, engine.CallSend} {
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
func (r *Runner) call(s *schedule, st *step) *engine.Call {
	var c *engine.Call
	if n := len(r.calls); n > 0 {
		c = r.calls[n-1]
		r.calls = r.calls[:n-1]
	} else {
		c = &engine.Call{OnDone: r.hook}
	}
	c.Kind, c.Hidden, c.Comm, c.Peer, c.Tag, c.Task, c.User = st.message, true, s.k.Comm, st.peer, s.tag, s.k.Task, s
	if st.message == engine.CallSend {
		c.Send = st.in
	} else {
		c.Recv = st.out
	}
	return c
}

// done is the completion hook of all internal calls. It only counts, and queues the schedule.
func (r *Runner) done(c *engine.Call) {
	s := c.User.(*schedule)
	s.pending--
	if s.err == nil && !s.completed {
		s.err = s.failure(c)
	}
	if s.pending == 0 || s.err != nil && !s.completed {
		r.queue(s)
	}
}

// finish ends the collective of s. Without an end, messages may still be under way.
func (r *Runner) finish(s *schedule, err error) {
	last := len(r.live) - 1
	r.live[s.place] = r.live[last]
	r.live[s.place].place = s.place
	r.live[last] = nil
	r.live = r.live[:last]
	k := s.k
	s.completed, s.k = true, nil
	r.ended++
	r.recycle(s)
	k.Complete(engine.Status{}, err)
}

// recycle makes s available for later collectives, once no message refers to it.
func (r *Runner) recycle(s *schedule) {
	if !s.completed || s.busy || s.queued || s.pending > 0 {
		return
	}
	r.recycleCalls(s)
	r.buffers.put(s.temps)
	s.reset()
	r.idle = append(r.idle, s)
}

// recycleCalls makes the completed calls of a round available again.
func (r *Runner) recycleCalls(s *schedule) {
	for i, c := range s.calls {
		c.Reset()
		c.User, c.Private = nil, nil
		r.calls = append(r.calls, c)
		s.calls[i] = nil
	}
	s.calls = s.calls[:0]
}

func (r *Runner) newSchedule() *schedule {
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return s
	}
	return &schedule{pool: &r.buffers}
}

// Abort makes the collectives for which match reports true fail with err. Without an end (see
// [NewRunner]) they complete at once, and their messages may still be written into buffers of
// the program, unless the engine completes these, too. Otherwise they complete in Advance.
func (r *Runner) Abort(match func(k *engine.Call) bool, err error) {
	for i := len(r.live) - 1; i >= 0; i-- {
		if i >= len(r.live) || !match(r.live[i].k) {
			continue
		}
		s := r.live[i]
		if r.end == nil {
			r.finish(s, err)
			continue
		}
		if s.err == nil {
			s.err = err
		}
		r.queue(s)
	}
}

// queue makes runReady continue s.
func (r *Runner) queue(s *schedule) {
	if !s.busy && !s.queued {
		s.queued = true
		r.ready = append(r.ready, s)
	}
}

// Outstanding calls f for every collective under way.
func (r *Runner) Outstanding(f func(*engine.Call)) {
	for _, s := range r.live {
		f(s.k)
	}
}
