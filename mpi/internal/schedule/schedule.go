package schedule

import (
	"unsafe"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// step is one message or one local action of a round.
type step struct {
	message engine.CallKind // CallSend, CallRecv; CallNone for a local action
	combine bool            // local: out = out op in; otherwise out = in
	peer    int
	out, in engine.Buffer // written to, read
}

// schedule is a collective under way on one rank. It belongs to the runner.
type schedule struct {
	k          *engine.Call // nil when over
	tag        int
	rank, size int

	steps []step
	ends  []int // ends of the rounds, as indices of steps

	round   int            // index of the present round
	posted  bool           // the messages of the present round have been posted
	calls   []*engine.Call // of the present round
	pending int            // number of calls not completed
	err     error          // of the first call that failed

	place     int  // index in Runner.live
	busy      bool // Runner.step works on it
	queued    bool // it is in Runner.ready
	ending    bool // Runner.end has been called for the messages under way
	completed bool // the collective has completed

	pool      *bufferPool
	temps     [][]byte // temporary buffers
	ints      []int    // for tables of the algorithms
	reduction operand  // of a reduction, while it is written
}

// reset clears everything but the memory of the lists.
func (s *schedule) reset() {
	clear(s.steps)
	clear(s.temps)
	*s = schedule{steps: s.steps[:0], ends: s.ends[:0], calls: s.calls[:0], temps: s.temps[:0], ints: s.ints[:0], pool: s.pool}
}

// roundSteps returns the steps of the present round.
func (s *schedule) roundSteps() []step {
	from := 0
	if s.round > 0 {
		from = s.ends[s.round-1]
	}
	return s.steps[from:s.ends[s.round]]
}

// local runs the local actions of the present round, whose messages have completed, and
// goes on to the next round.
func (s *schedule) local() {
	steps := s.roundSteps()
	for i := 0; i < len(steps) && s.err == nil; i++ {
		st := &steps[i]
		switch {
		case st.message != engine.CallNone:
		case !st.combine:
			engine.Copy(st.out, st.in)
		case st.out.Bytes() > 0:
			s.apply(st)
		}
	}
	s.posted = false
	s.round++
}

// apply runs the operation of the collective. If a function of the program panics, the collective
// fails on this rank.
func (s *schedule) apply(st *step) {
	op := s.k.Op
	if !op.Predefined() {
		defer func() {
			if v := recover(); v != nil {
				f := s.k.Fault(engine.ErrOp, "operation %q", op.Name())
				rec := panics.NewRecovered(1, v)
				f.Cause = rec.AsError()
				s.err = engine.NewError(f)
			}
		}()
	}
	op.Apply(st.out.Pointer(), st.in.Pointer(), st.out.Len(), st.out)
}

// recv, send, copy and combine add a step to the round being written.

func (s *schedule) recv(peer int, b engine.Buffer) {
	s.steps = append(s.steps, step{message: engine.CallRecv, peer: peer, out: b})
}

func (s *schedule) send(peer int, b engine.Buffer) {
	s.steps = append(s.steps, step{message: engine.CallSend, peer: peer, in: b})
}

// copy copies as many bytes as fit into both.
func (s *schedule) copy(out, in engine.Buffer) {
	s.steps = append(s.steps, step{out: out, in: in})
}

// combine sets lower to lower op upper; both are contiguous and equally long.
func (s *schedule) combine(lower, upper engine.Buffer) {
	s.steps = append(s.steps, step{combine: true, out: lower, in: upper})
}

// end ends the round being written, unless it is empty.
func (s *schedule) end() {
	if n := len(s.ends); n > 0 && s.ends[n-1] == len(s.steps) || n == 0 && len(s.steps) == 0 {
		return
	}
	s.ends = append(s.ends, len(s.steps))
}

// build writes the schedule of the call.
func (s *schedule) build() {
	k := s.k
	switch k.Kind {
	case engine.CallBarrier:
		s.barrier()
	case engine.CallBcast:
		s.bcast(k.Recv, k.Peer)
	case engine.CallReduce:
		s.reduce(k.Peer)
	case engine.CallAllreduce:
		s.allreduce()
	case engine.CallReduceScatter:
		s.reduceScatter()
	case engine.CallScan:
		s.scan()
	case engine.CallExscan:
		s.exscan()
	case engine.CallGather:
		s.gather(k.Peer)
	case engine.CallScatter:
		s.scatter(k.Peer)
	case engine.CallAllgather:
		s.allgather()
	case engine.CallAlltoall:
		s.alltoall()
	default:
		s.err = k.Fail(engine.ErrState, 0, 0, "%v is not a collective operation that is made of messages", k.Kind)
	}
	s.end()
}

// input returns the contribution of this rank to a reduction.
func (s *schedule) input() engine.Buffer {
	if s.k.Send.IsInPlace() {
		return s.k.Recv
	}
	return s.k.Send
}

// temp returns a buffer for n elements of the kind of like, until the collective ends.
func (s *schedule) temp(n int, like engine.Buffer) engine.Buffer {
	bytes := n * like.ElemSize()
	switch {
	case n == 0:
		return like.Part(0, 0)
	case bytes == 0:
		return engine.Buffer(mpi.Of(make([]struct{}, n)))
	}
	buf := s.pool.get(bytes)
	s.temps = append(s.temps, buf)
	return engine.Raw(unsafe.Pointer(&buf[0]), bytes, like)
}

// table returns n zeroed integers, until the collective ends.
func (s *schedule) table(n int) []int {
	at := len(s.ints)
	for range n {
		s.ints = append(s.ints, 0)
	}
	return s.ints[at : at+n : at+n]
}

// at returns the rank i places after this one, modulo the number of ranks.
func (s *schedule) at(i int) int { return ((s.rank+i)%s.size + s.size) % s.size }

// part returns the part of rank r of a buffer with a part for every rank.
func (s *schedule) part(whole engine.Buffer, counts, displs []int, r int) engine.Buffer {
	if counts != nil {
		return whole.Part(displs[r], counts[r])
	}
	n := whole.Len() / s.size
	return whole.Part(r*n, n)
}

// same reports whether two contiguous buffers begin at the same place.
func same(a, b engine.Buffer) bool { return a.Pointer() == b.Pointer() }
