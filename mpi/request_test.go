package mpi_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

var errLate = errors.New("too late")

func TestWait(t *testing.T) {
	e, c := newManual(0, 2)
	x := make([]int32, 1)
	r := c.Irecv(mpi.Of(x), 1, 5)
	require.Len(t, e.open, 1)
	require.Equal(t, "recv on world from rank 1, tag 5, 4 bytes", e.open[0].String())
	done, _, err := r.Test()
	require.False(t, done)
	require.NoError(t, err)
	require.Equal(t, 1, e.polls)
	e.onAwait = func() { e.end(0, nil) }
	want := mpi.Status{Source: 1, Tag: 5, Bytes: 4}
	st, err := r.Wait()
	require.NoError(t, err)
	require.Equal(t, want, st)
	require.Equal(t, 1, st.Elements(mpi.Of(x)))
	require.Zero(t, st.Elements(mpi.Buffer{}))
	st, err = r.Wait()
	require.NoError(t, err)
	require.Equal(t, want, st, "again, and at once")
	done, st, err = r.Test()
	require.True(t, done)
	require.NoError(t, err)
	require.Equal(t, want, st)
	require.Equal(t, 1, e.polls)
}

func TestErrorsOfRequests(t *testing.T) {
	e, c := newManual(0, 2)
	r := c.Issend(mpi.Of(f2), 1, 5)
	e.onPoll = func() { e.end(0, errLate) }
	done, _, err := r.Test()
	require.True(t, done)
	require.Equal(t, errLate, err)
	_, err = r.Wait()
	require.Equal(t, errLate, err, "it does not go away")
	bad := c.Isend(mpi.Of(f2), 2, 5)
	require.Len(t, e.open, 1, "a bad one is not started")
	done, _, err = bad.Test()
	require.True(t, done)
	require.ErrorIs(t, err, mpi.ErrRank)
}

func TestNilRequests(t *testing.T) {
	var none *mpi.Request
	st, err := none.Wait()
	require.NoError(t, err)
	require.Equal(t, mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, st)
	done, _, err := none.Test()
	require.True(t, done)
	require.NoError(t, err)
	require.NoError(t, none.Cancel())
	require.ErrorIs(t, none.Start(), mpi.ErrState)
	require.NoError(t, mpi.Waitall(nil, none))
	require.NoError(t, mpi.Waitall())
	i, _, err := mpi.Waitany(none, nil)
	require.Equal(t, -1, i)
	require.NoError(t, err)
	some, err := mpi.Waitsome(none)
	require.Empty(t, some)
	require.NoError(t, err)
	some, err = mpi.Testsome(none)
	require.Empty(t, some)
	require.NoError(t, err)
	all, err := mpi.Testall(none)
	require.True(t, all)
	require.NoError(t, err)
	i, done, _, err = mpi.Testany(none)
	require.Equal(t, -1, i)
	require.True(t, done, "nothing is under way")
	require.NoError(t, err)
}

func TestProcNull(t *testing.T) {
	e, c := newManual(0, 2)
	null := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
	st, err := c.Recv(mpi.Of(f2), mpi.ProcNull, 3)
	require.NoError(t, err)
	require.Equal(t, null, st)
	require.NoError(t, c.Send(mpi.Of(f2), mpi.ProcNull, 3))
	st, err = c.Probe(mpi.ProcNull, 3)
	require.NoError(t, err)
	require.Equal(t, null, st)
	_, found, err := c.Iprobe(mpi.ProcNull, 3)
	require.NoError(t, err)
	require.True(t, found)
	for range 2 {
		m, err := c.Mprobe(mpi.ProcNull, 3)
		require.NoError(t, err)
		for range 2 {
			st, err = m.Recv(mpi.Of(f2))
			require.NoError(t, err)
			require.Equal(t, null, st)
		}
	}
	r := c.Irecv(mpi.Of(f2), mpi.ProcNull, 3)
	require.NoError(t, mpi.Waitall(r, c.Isend(mpi.Of(f2), mpi.ProcNull, 3)))
	st, err = c.SendrecvReplace(mpi.Of(f2), mpi.ProcNull, 0, mpi.ProcNull, 0)
	require.NoError(t, err)
	require.Equal(t, null, st)
	require.Empty(t, e.open)
}

func TestPersistentRequests(t *testing.T) {
	e, c := newManual(0, 2)
	r := c.RecvInit(mpi.Of(f2), 1, 5)
	st, err := r.Wait()
	require.NoError(t, err)
	require.Equal(t, mpi.AnySource, st.Source, "it has not been started")
	for i := range 3 {
		require.NoError(t, r.Start())
		require.Len(t, e.open, 1)
		err := r.Start()
		require.ErrorIs(t, err, mpi.ErrState)
		require.ErrorContains(t, err, "start of a recv on world from rank 1, tag 5, 16 bytes")
		e.end(0, nil)
		require.ErrorIs(t, r.Start(), mpi.ErrState, "it has not been waited for")
		e.open = nil
		st, err := r.Wait()
		require.NoError(t, err)
		require.Equal(t, 1, st.Source, i)
	}
	s, z := c.SendInit(mpi.Of(f2), 1, 5), c.SsendInit(mpi.Of(f2), 1, 5)
	require.NoError(t, mpi.Startall(s, z, r))
	require.Equal(t, engine.CallSend, e.open[0].Kind)
	require.Equal(t, engine.CallSsend, e.open[1].Kind)
	require.ErrorIs(t, mpi.Startall(s, nil), mpi.ErrState)
	once := c.Isend(mpi.Of(f2), 1, 5)
	require.ErrorContains(t, once.Start(), "only a persistent request")
	for i := range e.open {
		e.end(i, nil)
	}
	require.NoError(t, mpi.Waitall(s, z, r, once))
	bad := c.SendInit(mpi.Of(f2), 9, 5)
	for range 2 {
		require.NoError(t, bad.Start())
		_, err := bad.Wait()
		require.ErrorIs(t, err, mpi.ErrRank)
	}
}

// three returns an engine with three receives under way.
func three() (*manual, []*mpi.Request) {
	e, c := newManual(0, 4)
	var rs []*mpi.Request
	for i := range 3 {
		rs = append(rs, c.Irecv(mpi.Of(f2), i+1, i))
	}
	return e, rs
}

func TestWaitall(t *testing.T) {
	e, rs := three()
	next := 0
	e.onAwait = func() { e.end(next, []error{nil, errLate, mpi.ErrPeerGone}[next]); next++ }
	err := mpi.Waitall(rs[0], nil, rs[1], rs[2])
	require.Equal(t, 3, next)
	require.ErrorIs(t, err, errLate)
	require.ErrorIs(t, err, mpi.ErrPeerGone)
	require.NoError(t, mpi.Waitall(rs...), "they have been waited for")
}

func TestWaitany(t *testing.T) {
	e, rs := three()
	order := []int{2, 0, 1}
	e.onAwait = func() { e.end(order[0], nil); order = order[1:] }
	for _, want := range []int{2, 0, 1} {
		i, st, err := mpi.Waitany(rs...)
		require.NoError(t, err)
		require.Equal(t, want, i)
		require.Equal(t, want+1, st.Source)
	}
	i, st, err := mpi.Waitany(rs...)
	require.NoError(t, err)
	require.Equal(t, -1, i)
	require.Equal(t, mpi.AnySource, st.Source)
}

func TestWaitsome(t *testing.T) {
	e, rs := three()
	e.onAwait = func() { e.end(2, errLate); e.end(1, nil); e.onAwait = func() { e.end(0, nil) } }
	done, err := mpi.Waitsome(rs...)
	require.Equal(t, []int{1, 2}, done)
	require.ErrorIs(t, err, errLate)
	done, err = mpi.Waitsome(rs...)
	require.Equal(t, []int{0}, done)
	require.NoError(t, err)
	done, err = mpi.Waitsome(rs...)
	require.Nil(t, done)
	require.NoError(t, err)
}

func TestTestsomeTestallTestany(t *testing.T) {
	e, rs := three()
	done, err := mpi.Testsome(rs...)
	require.Empty(t, done)
	require.NoError(t, err)
	i, any, _, err := mpi.Testany(rs...)
	require.Equal(t, -1, i)
	require.False(t, any)
	require.NoError(t, err)
	require.Equal(t, 2, e.polls)
	e.end(1, errLate)
	i, any, st, err := mpi.Testany(rs...)
	require.Equal(t, 1, i)
	require.True(t, any)
	require.Equal(t, 2, st.Source)
	require.Equal(t, errLate, err)
	require.Equal(t, 2, e.polls, "it was there without a poll")
	all, err := mpi.Testall(rs...)
	require.False(t, all)
	require.NoError(t, err)
	e.end(0, nil)
	done, err = mpi.Testsome(rs...)
	require.Equal(t, []int{0}, done)
	require.NoError(t, err)
	e.onPoll = func() { e.end(2, mpi.ErrTruncate) }
	all, err = mpi.Testall(rs...)
	require.True(t, all)
	require.ErrorIs(t, err, mpi.ErrTruncate)
}

func TestCancel(t *testing.T) {
	e, rs := three()
	require.NoError(t, rs[1].Cancel())
	require.Equal(t, e.open[1:2], e.cancelled)
	e.end(1, mpi.ErrCancelled)
	_, err := rs[1].Wait()
	require.ErrorIs(t, err, mpi.ErrCancelled)
	require.NoError(t, rs[1].Cancel(), "too late, and no error")
	require.Len(t, e.cancelled, 1)
	e, c := newManual(0, 2)
	err = c.Isend(mpi.Of(f2), 1, 0).Cancel()
	require.ErrorIs(t, err, mpi.ErrState)
	require.ErrorContains(t, err, "only a receive can be cancelled")
	require.Empty(t, e.cancelled)
}

func TestMatchedProbe(t *testing.T) {
	e, c := newManual(0, 2)
	taken := &engine.Message{}
	e.onDo = func(k *engine.Call) {
		k.Found, k.Message = true, taken
		k.Complete(engine.Status{Source: 1, Tag: 8, Bytes: 16}, nil)
	}
	m, err := c.Improbe(mpi.AnySource, mpi.AnyTag)
	require.NoError(t, err)
	require.Equal(t, mpi.Status{Source: 1, Tag: 8, Bytes: 16}, m.Status)
	r := m.Irecv(mpi.Of(f2))
	require.Same(t, taken, e.open[0].Message)
	require.Equal(t, engine.CallMrecv, e.open[0].Kind)
	_, err = m.Recv(mpi.Of(f2))
	require.ErrorIs(t, err, mpi.ErrState, "once only")
	require.ErrorContains(t, err, "received already")
	e.end(0, nil)
	st, err := r.Wait()
	require.NoError(t, err)
	require.Equal(t, 1, st.Source)
	e.onDo = func(k *engine.Call) { k.Complete(engine.Status{}, nil) }
	m, err = c.Improbe(1, 2)
	require.NoError(t, err)
	require.Nil(t, m)
	_, found, err := c.Iprobe(1, 2)
	require.NoError(t, err)
	require.False(t, found)
}

func TestSendrecv(t *testing.T) {
	e, c := newManual(0, 3)
	in, out := []int32{0}, []int32{7}
	e.onAwait = func() {
		require.Equal(t, []engine.CallKind{engine.CallRecv, engine.CallSend}, []engine.CallKind{e.open[0].Kind, e.open[1].Kind}, "receives first")
		engine.Copy(e.open[0].Recv, e.open[1].Send)
		e.end(0, nil)
		e.end(1, nil)
	}
	st, err := c.Sendrecv(mpi.Of(out), 1, 4, mpi.Of(in), 2, 5)
	require.NoError(t, err)
	require.Equal(t, mpi.Status{Source: 2, Tag: 5, Bytes: 4}, st)
	require.Equal(t, []int32{7}, in)
	e.open = nil
	x := count(9)
	next := e.onAwait
	e.onAwait = func() {
		require.NotEqual(t, e.open[0].Recv.Pointer(), e.open[1].Send.Pointer(), "a copy is sent")
		require.Equal(t, []int32{0, 4, 8}, elements(mpi.Buffer(e.open[1].Send)))
		next()
	}
	_, err = c.SendrecvReplace(mpi.Strided(x, 3, 1, 4), 1, 4, 2, 5)
	require.NoError(t, err)
	require.Equal(t, count(9), x)
	e.open = nil
	_, err = c.Sendrecv(mpi.Of(out), 1, 4, mpi.Of(in), 9, 5)
	require.ErrorIs(t, err, mpi.ErrRank)
	require.Empty(t, e.open, "neither half is started if one is wrong")
}

// swift is an engine that starts calls and waits for them in one step.
type swift struct {
	*manual
	postWait func(calls []*engine.Call)
}

func (e *swift) PostWait(calls []*engine.Call, _ time.Duration) {
	e.open = append(e.open, calls...)
	e.postWait(calls)
}

// An exchange is one step of an engine that can, and Await only if that was too short.
func TestSendrecvInOneStep(t *testing.T) {
	e, _ := newManual(0, 3)
	x := &swift{manual: e}
	c := (*mpi.Comm)(engine.NewWorld(x))
	in, out := []int32{0}, []int32{7}
	var steps, awaits int
	e.onAwait = func() { awaits++; e.end(1, errLate) }
	for late := range 2 {
		steps, awaits, e.open = 0, 0, nil
		x.postWait = func(calls []*engine.Call) {
			steps++
			require.Equal(t, []engine.CallKind{engine.CallRecv, engine.CallSend}, []engine.CallKind{calls[0].Kind, calls[1].Kind}, "receives first")
			e.end(0, nil)
			if late == 0 {
				e.end(1, nil)
			}
		}
		st, err := c.Sendrecv(mpi.Of(out), 1, 4, mpi.Of(in), 2, 5)
		require.Equal(t, mpi.Status{Source: 2, Tag: 5, Bytes: 4}, st)
		require.Equal(t, []int{1, late}, []int{steps, awaits})
		require.Equal(t, late == 1, errors.Is(err, errLate))
	}
	e.open = nil
	x.postWait = func(calls []*engine.Call) { require.Len(t, calls, 1); e.end(0, nil) }
	_, err := c.Sendrecv(mpi.Of(out), 1, 4, mpi.Of(in), mpi.ProcNull, 5)
	require.NoError(t, err)
	require.Len(t, e.open, 1, "only the send is for the engine")
}

func TestBlockingCallsDoNotAllocate(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector allocates: run without -race")
	}
	_, c := newManual(0, 2)
	x := make([]float64, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if c.Send(mpi.Of(x), 1, 0) != nil {
			panic("send")
		}
		if _, err := c.Recv(mpi.Strided(x, 5, 2, 20), 1, 0); err != nil {
			panic(err)
		}
		if _, err := c.Sendrecv(mpi.Of(x), mpi.ProcNull, 0, mpi.Of(x), mpi.ProcNull, 0); err != nil {
			panic(err)
		}
		if c.Barrier() != nil || c.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Sum) != nil || c.Bcast(mpi.Of(x), 1) != nil {
			panic("collective")
		}
	}))
	require.NotZero(t, testing.AllocsPerRun(10, func() { c.Isend(mpi.Of(x), 1, 0) }), "negative control: a request is an object")
}

// Two goroutines at once in blocking calls, as with a communication thread: each has a call
// of its own.
func TestNestedBlockingCalls(t *testing.T) {
	e, c := newManual(0, 2)
	e.onDo = func(outer *engine.Call) {
		e.onDo = func(inner *engine.Call) {
			require.NotSame(t, outer, inner)
			require.Equal(t, 2, inner.Tag)
			inner.Complete(engine.Status{}, nil)
		}
		require.NoError(t, c.Send(mpi.Of(f2), 1, 2))
		require.Equal(t, 1, outer.Tag)
		outer.Complete(engine.Status{}, errLate)
	}
	require.Equal(t, errLate, c.Send(mpi.Of(f2), 1, 1))
}
