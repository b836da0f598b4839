package schedule

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

// caught reports whether a trial of the collective fails if alter changes its messages: by a
// wrong result, a message left over, or a hang.
func caught(t *testing.T, kind engine.CallKind, d data[affine], n int, alter func(c *engine.Call)) (bad bool) {
	m := newSim(&panicT{TB: t}, 5, 7)
	m.alter = alter
	defer func() {
		if x := recover(); x != nil {
			require.Equal(t, failed, x)
			bad = true
		}
	}()
	x := &trial[affine]{t: m.t, d: d, rng: m.rng, cs: m.world(), n: n}
	x.start(kind)
	m.finish(x.rs...)
	x.verify()
	return false
}

// panicT is a test whose failure is a panic.
type panicT struct{ testing.TB }

const failed = "the trial has failed"

func (j *panicT) Errorf(string, ...any) {}
func (j *panicT) FailNow()              { panic(failed) }

// The negative control of all tests of collectives: they find any message to a wrong rank,
// and a wrong order of the operands.
func TestWrongSchedulesAreCaught(t *testing.T) {
	reversed := affines
	reversed.combine = func(a, b affine) affine { return affines.combine(b, a) }
	for _, kind := range collectives {
		messages := 0
		require.False(t, caught(t, kind, affines, 7, func(*engine.Call) { messages++ }), kind)
		require.Positive(t, messages)
		for i := range messages {
			at := 0
			require.True(t, caught(t, kind, affines, 7, func(c *engine.Call) {
				if at == i {
					for c.Peer = (c.Peer + 1) % 5; c.Peer == c.Comm.Rank(); {
						c.Peer = (c.Peer + 1) % 5
					}
				}
				at++
			}), "%v with a wrong peer in message %d", kind, i)
		}
		switch kind {
		case engine.CallReduce, engine.CallAllreduce, engine.CallScan, engine.CallExscan, engine.CallReduceScatter:
			require.True(t, caught(t, kind, reversed, 7, nil), kind)
		}
	}
}

func TestRanksDisagreeAboutCounts(t *testing.T) {
	for _, c := range []struct {
		root, others int
		class        error
		text         string
	}{
		{10, 5, mpi.ErrTruncate, "rank 2 sent 80 bytes where 40 are expected: the ranks disagree about counts"},
		{5, 10, mpi.ErrCount, "rank 2 sent 40 bytes where 80 are expected"},
	} {
		m := newSim(t, 3, 1)
		var rs []*mpi.Request
		for i, comm := range m.world() {
			n := c.others
			if i == 2 {
				n = c.root
			}
			rs = append(rs, comm.Ibcast(mpi.Of(make([]int64, n)), 2))
		}
		m.run(func() bool { return false })
		for i, r := range rs[:2] {
			done, _, err := r.Test()
			require.True(t, done)
			require.ErrorIs(t, err, c.class)
			require.ErrorContains(t, err, c.text)
			var e *mpi.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, 2, e.Peer)
			require.Equal(t, i, e.Rank)
			require.Equal(t, []int{c.others * 8, c.root * 8}, []int{e.Want, e.Got})
		}
		m.audit()
	}
}

// A collective fails while other messages of it are under way. These end later and do not
// disturb the next collectives.
func TestFailureWithMessagesUnderWay(t *testing.T) {
	for seed := range uint64(20) {
		m := newSim(t, 4, seed)
		cs := m.world()
		var rs []*mpi.Request
		for i, c := range cs {
			rs = append(rs, c.Iallgather(mpi.Of(make([]int64, 10+i/3*10)), mpi.Of(make([]int64, 40+i/3*40))))
		}
		m.run(func() bool { return false })
		_, _, err := rs[2].Test()
		require.ErrorIs(t, err, mpi.ErrTruncate)
		done, _, _ := rs[0].Test()
		require.False(t, done, "the message of rank 2 does not arrive")
		for _, n := range m.nodes {
			n.runner.Abort(func(*engine.Call) bool { return true }, mpi.ErrRevoked)
		}
		x := &trial[affine]{t: t, d: affines, rng: m.rng, cs: cs, n: 9}
		for _, kind := range collectives {
			x.start(kind)
		}
		m.run(func() bool { return false })
		for _, r := range x.rs {
			_, err := r.Wait()
			require.NoError(t, err)
		}
		x.verify()
	}
}

func TestAbortInTheMiddle(t *testing.T) {
	lost := errors.New("the network is gone")
	for steps := range 30 {
		m := newSim(t, 5, uint64(steps))
		hit := &trial[affine]{t: t, d: affines, rng: m.rng, cs: m.world(), n: 50}
		other := &trial[affine]{t: t, d: affines, rng: m.rng, cs: m.comms(1, 4, 3, 2, 1, 0), n: 50}
		for _, x := range []*trial[affine]{hit, other} {
			x.start(engine.CallAllreduce)
			x.start(engine.CallAllgather)
			x.start(engine.CallScan)
		}
		for range steps * 3 {
			m.step()
		}
		for _, n := range m.nodes {
			before, after := 0, 0
			n.runner.Outstanding(func(*engine.Call) { before++ })
			n.runner.Abort(func(k *engine.Call) bool { return k.Comm == (*engine.Comm)(hit.cs[n.world]) }, lost)
			n.runner.Outstanding(func(k *engine.Call) { after++; require.NotSame(t, hit.cs[n.world], k.Comm) })
			require.LessOrEqual(t, after, before)
		}
		failures := 0
		for _, r := range hit.rs {
			done, _, err := r.Test()
			require.True(t, done)
			if err != nil {
				require.Equal(t, lost, err)
				failures++
			}
		}
		require.True(t, steps > 0 || failures == len(hit.rs))
		m.run(func() bool { return false })
		for _, r := range other.rs {
			_, err := r.Wait()
			require.NoError(t, err)
		}
		other.verify()
	}
}

// An aborted collective completes once no message refers to its buffers, if the engine ends them.
func TestAbortEndsItsMessages(t *testing.T) {
	early := 0 // with messages under way
	for _, ends := range []bool{true, false} {
		for seed := range uint64(60) {
			m := newSim(t, 5, seed)
			if ends {
				for _, n := range m.nodes {
					n.runner.end = m.withdraw
				}
			}
			x := &trial[affine]{t: t, d: affines, rng: m.rng, cs: m.world(), n: 50}
			for _, kind := range collectives {
				x.start(kind)
			}
			for range m.rng.IntN(60) {
				m.step()
			}
			for i, n := range m.nodes {
				n.runner.Abort(func(k *engine.Call) bool { return true }, mpi.ErrPeerGone)
				n.runner.Advance()
				if len(n.runner.live) == 0 && m.open(i) > 0 {
					early++
				}
				require.True(t, !ends || early == 0, "seed %d: rank %d has completed with messages under way", seed, i)
			}
			m.run(func() bool { return false })
			for _, r := range x.rs {
				done, _, err := r.Test()
				require.True(t, done && (err == nil || errors.Is(err, mpi.ErrPeerGone)), "%v", err)
			}
			for _, n := range m.nodes {
				require.Empty(t, n.runner.live)
				require.True(t, n.runner.Idle())
			}
		}
	}
	require.NotZero(t, early, "the negative control: nobody ends messages")
}

// immediate is a runner whose messages end at once, with a result that the test chooses.
func immediate(t *testing.T, kind engine.CallKind, p int, answer func(c *engine.Call) (engine.Status, error)) error {
	m := newSim(t, p, 1)
	n := m.nodes[0]
	n.runner = NewRunner(func(calls []*engine.Call) {
		require.Zero(t, n.runner.Advance(), "not inside of itself")
		for _, c := range calls {
			c.Complete(answer(c))
		}
	}, nil)
	b := engine.Buffer(mpi.Of(make([]int64, 4*p)))
	k := &engine.Call{Kind: kind, Comm: (*engine.Comm)(m.world()[0]), Send: b, Recv: b}
	n.runner.Start(k, 12345678)
	require.True(t, k.Done())
	require.Empty(t, n.runner.live)
	return k.Err
}

func TestErrorsOfEngines(t *testing.T) {
	gone := fmt.Errorf("it is late: %w", mpi.ErrPeerGone)
	for _, c := range []struct {
		kind  engine.CallKind
		given error
		class error
		text  string
	}{
		{engine.CallBarrier, nil, nil, ""},
		{engine.CallBarrier, gone, mpi.ErrPeerGone, "mpi: barrier on world, rank 0, peer 1: peer is gone: receiving 0 bytes from rank 1: it is late"},
		{engine.CallBarrier, errors.New("smoke"), mpi.ErrEngine, "smoke"},
		{engine.CallBcast, mpi.ErrTruncate, mpi.ErrTruncate, "64 bytes are too many for rank 1"},
		{engine.CallBcast, mpi.ErrRevoked, mpi.ErrRevoked, "sending 64 bytes to rank 1: communicator revoked"},
		{engine.CallGather, mpi.ErrTruncate, mpi.ErrTruncate, "rank 1 sent more than the 32 bytes that are expected"},
		{engine.CallFence, nil, mpi.ErrState, "fence is not a collective operation that is made of messages"},
	} {
		err := immediate(t, c.kind, 2, func(call *engine.Call) (engine.Status, error) {
			require.Equal(t, 12345678%tags, call.Tag)
			return engine.Status{Bytes: call.Recv.Bytes()}, c.given
		})
		if c.class == nil {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, c.class)
		require.ErrorContains(t, err, c.text)
	}
}

// wire connects runners without allocating. Messages match when it is pumped.
type wire struct {
	nodes []*Runner
	sends []*engine.Call
	recvs []*engine.Call
}

func (w *wire) post(calls []*engine.Call) {
	for _, c := range calls {
		if c.Kind == engine.CallSend {
			w.sends = append(w.sends, c)
		} else {
			w.recvs = append(w.recvs, c)
		}
	}
}

func (w *wire) pump() {
	for len(w.sends) > 0 {
		s := w.sends[0]
		w.sends = append(w.sends[:0], w.sends[1:]...)
		for i, r := range w.recvs {
			if r.Peer == s.Comm.Rank() && s.Peer == r.Comm.Rank() && r.Tag == s.Tag {
				w.recvs = append(w.recvs[:i], w.recvs[i+1:]...)
				n := engine.Copy(r.Recv, s.Send)
				from, to := w.nodes[r.Peer], w.nodes[s.Peer]
				s.Complete(engine.Status{}, nil)
				r.Complete(engine.Status{Bytes: n}, nil)
				from.Advance()
				to.Advance()
				break
			}
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector allocates: run without -race")
	}
	const p = 4
	for _, c := range []struct {
		kind engine.CallKind
		n    int
	}{{engine.CallBarrier, 0}, {engine.CallAllreduce, 8}, {engine.CallAllreduce, 1 << 16}, {engine.CallBcast, 1 << 16}, {engine.CallReduce, 8}} {
		m, w := newSim(t, p, 1), &wire{}
		calls := make([]*engine.Call, p)
		for i, comm := range m.world() {
			w.nodes = append(w.nodes, NewRunner(w.post, nil))
			x, y := make([]float64, c.n), make([]float64, c.n)
			calls[i] = &engine.Call{Kind: c.kind, Comm: (*engine.Comm)(comm), Send: engine.Buffer(mpi.Of(x)), Recv: engine.Buffer(mpi.Of(y)), Op: engine.Sum}
		}
		seq := 0
		round := func() {
			seq++
			for i, k := range calls {
				k.Rearm()
				w.nodes[i].Start(k, seq)
			}
			w.pump()
			for _, k := range calls {
				if !k.Done() || k.Err != nil {
					panic(k.Err)
				}
			}
		}
		round()
		require.Zero(t, testing.AllocsPerRun(50, round), c.kind)
	}
}

func TestRooms(t *testing.T) {
	var p bufferPool
	a := p.get(100)
	require.Len(t, a, 128)
	p.put([][]byte{a})
	require.Equal(t, 128, p.kept)
	require.Same(t, &a[0], &p.get(65)[0])
	require.Zero(t, p.kept)
	require.Len(t, p.get(1), minBuffer)
	p.put([][]byte{make([]byte, 2*maxKept)})
	require.Zero(t, p.kept, "too large to keep")
}

func BenchmarkAllreduce(b *testing.B) {
	for _, n := range []int{1, 1 << 10, 1 << 17} {
		b.Run(fmt.Sprintf("%d_float64_on_4_ranks", n), func(b *testing.B) {
			m, w := newSim(b, 4, 1), &wire{}
			calls := make([]*engine.Call, 4)
			for i, comm := range m.world() {
				w.nodes = append(w.nodes, NewRunner(w.post, nil))
				calls[i] = &engine.Call{Kind: engine.CallAllreduce, Comm: (*engine.Comm)(comm), Send: engine.Buffer(mpi.Of(make([]float64, n))), Recv: engine.Buffer(mpi.Of(make([]float64, n))), Op: engine.Sum}
			}
			b.ReportAllocs()
			for seq := 0; b.Loop(); seq++ {
				for i, k := range calls {
					k.Rearm()
					w.nodes[i].Start(k, seq)
				}
				w.pump()
			}
		})
	}
}
