package mpi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// describe returns the fields that a caller fills in, as text.
func describe(k *engine.Call) string {
	return fmt.Sprint(k.Kind, k.Peer, k.Tag, k.Send, k.Recv, k.Op, k.Offset, k.Tile, k.Rows, k.LD, k.Count, k.Exclusive, k.SendCounts, k.SendDispls, k.RecvCounts, k.RecvDispls, k.Win != nil)
}

// form is an operation with a blocking and a non-blocking method.
type form struct {
	kind  engine.CallKind
	now   func(c *mpi.Comm) error
	later func(c *mpi.Comm) *mpi.Request
}

var counted = []int{2}

var messageForms = []form{
	{engine.CallSend, func(c *mpi.Comm) error { return c.Send(mpi.Of(f2), 0, 3) }, func(c *mpi.Comm) *mpi.Request { return c.Isend(mpi.Of(f2), 0, 3) }},
	{engine.CallSsend, func(c *mpi.Comm) error { return c.Ssend(mpi.Of(f2), 0, 3) }, func(c *mpi.Comm) *mpi.Request { return c.Issend(mpi.Of(f2), 0, 3) }},
	{engine.CallRecv, func(c *mpi.Comm) error { return drop(c.Recv(mpi.Of(f2), 0, 3)) }, func(c *mpi.Comm) *mpi.Request { return c.Irecv(mpi.Of(f2), 0, 3) }},
	{engine.CallBarrier, func(c *mpi.Comm) error { return c.Barrier() }, func(c *mpi.Comm) *mpi.Request { return c.Ibarrier() }},
	{engine.CallBcast, func(c *mpi.Comm) error { return c.Bcast(gaps, 0) }, func(c *mpi.Comm) *mpi.Request { return c.Ibcast(gaps, 0) }},
	{engine.CallReduce, func(c *mpi.Comm) error { return c.Reduce(gaps, mpi.Of(f6), mpi.Max, 0) },
		func(c *mpi.Comm) *mpi.Request { return c.Ireduce(gaps, mpi.Of(f6), mpi.Max, 0) }},
	{engine.CallAllreduce, func(c *mpi.Comm) error { return c.Allreduce(gaps, mpi.Of(f6), mpi.Max) },
		func(c *mpi.Comm) *mpi.Request { return c.Iallreduce(gaps, mpi.Of(f6), mpi.Max) }},
	{engine.CallScan, func(c *mpi.Comm) error { return c.Scan(gaps, mpi.Of(f6), mpi.Max) },
		func(c *mpi.Comm) *mpi.Request { return c.Iscan(gaps, mpi.Of(f6), mpi.Max) }},
	{engine.CallExscan, func(c *mpi.Comm) error { return c.Exscan(gaps, mpi.Of(f6), mpi.Max) },
		func(c *mpi.Comm) *mpi.Request { return c.Iexscan(gaps, mpi.Of(f6), mpi.Max) }},
	{engine.CallGather, func(c *mpi.Comm) error { return c.Gather(gaps, mpi.Of(f6), 0) },
		func(c *mpi.Comm) *mpi.Request { return c.Igather(gaps, mpi.Of(f6), 0) }},
	{engine.CallGather, func(c *mpi.Comm) error { return c.Gatherv(mpi.Of(f2), mpi.Of(f6), counted, []int{3}, 0) },
		func(c *mpi.Comm) *mpi.Request { return c.Igatherv(mpi.Of(f2), mpi.Of(f6), counted, []int{3}, 0) }},
	{engine.CallScatter, func(c *mpi.Comm) error { return c.Scatter(mpi.Of(f6), gaps, 0) },
		func(c *mpi.Comm) *mpi.Request { return c.Iscatter(mpi.Of(f6), gaps, 0) }},
	{engine.CallScatter, func(c *mpi.Comm) error { return c.Scatterv(mpi.Of(f6), counted, nil, mpi.Of(f2), 0) },
		func(c *mpi.Comm) *mpi.Request { return c.Iscatterv(mpi.Of(f6), counted, nil, mpi.Of(f2), 0) }},
	{engine.CallAllgather, func(c *mpi.Comm) error { return c.Allgather(gaps, mpi.Of(f6)) },
		func(c *mpi.Comm) *mpi.Request { return c.Iallgather(gaps, mpi.Of(f6)) }},
	{engine.CallAllgather, func(c *mpi.Comm) error { return c.Allgatherv(mpi.Of(f2), mpi.Of(f6), counted, []int{1}) },
		func(c *mpi.Comm) *mpi.Request { return c.Iallgatherv(mpi.Of(f2), mpi.Of(f6), counted, []int{1}) }},
	{engine.CallAlltoall, func(c *mpi.Comm) error { return c.Alltoall(mpi.Of(f6), mpi.Of(f6)) },
		func(c *mpi.Comm) *mpi.Request { return c.Ialltoall(mpi.Of(f6), mpi.Of(f6)) }},
	{engine.CallAlltoall, func(c *mpi.Comm) error { return c.Alltoallv(mpi.Of(f6), counted, nil, mpi.Of(f6), counted, []int{2}) },
		func(c *mpi.Comm) *mpi.Request {
			return c.Ialltoallv(mpi.Of(f6), counted, nil, mpi.Of(f6), counted, []int{2})
		}},
	{engine.CallReduceScatter, func(c *mpi.Comm) error { return c.ReduceScatter(gaps, mpi.Of(f6), nil, mpi.Min) },
		func(c *mpi.Comm) *mpi.Request { return c.IreduceScatter(gaps, mpi.Of(f6), nil, mpi.Min) }},
}

func windowForms(w *mpi.Win) []form {
	b := mpi.Of(f2)
	return []form{
		{engine.CallPut, func(*mpi.Comm) error { return w.Put(b, 0, 4) }, func(*mpi.Comm) *mpi.Request { return w.Iput(b, 0, 4) }},
		{engine.CallGet, func(*mpi.Comm) error { return w.Get(b, 0, 4) }, func(*mpi.Comm) *mpi.Request { return w.Iget(b, 0, 4) }},
		{engine.CallAccumulate, func(*mpi.Comm) error { return w.Accumulate(b, mpi.Replace, 0, 4) },
			func(*mpi.Comm) *mpi.Request { return w.Iaccumulate(b, mpi.Replace, 0, 4) }},
		{engine.CallNotify, func(*mpi.Comm) error { return w.PutNotify(b, 0, 4, 63) }, func(*mpi.Comm) *mpi.Request { return w.IputNotify(b, 0, 4, 63) }},
		{engine.CallNotify, func(*mpi.Comm) error { return w.PutTileNotify(b, 0, 3, 1, 2, 63) }, func(*mpi.Comm) *mpi.Request { return w.IputTileNotify(b, 0, 3, 1, 2, 63) }},
		{engine.CallAwaitNotify, func(*mpi.Comm) error { return w.AwaitNotify(63, 2) }, func(*mpi.Comm) *mpi.Request { return w.IawaitNotify(63, 2) }},
		{engine.CallFence, func(*mpi.Comm) error { return w.Fence() }, func(*mpi.Comm) *mpi.Request { return w.Ifence() }},
		{engine.CallFlush, func(*mpi.Comm) error { return w.Flush(mpi.AllRanks) }, func(*mpi.Comm) *mpi.Request { return w.Iflush(mpi.AllRanks) }},
	}
}

// Both methods of an operation make the same call.
func TestBlockingAndNonblockingForms(t *testing.T) {
	e, c := newManual(0, 1)
	win := newWindow(t, e, c)
	seen := map[string]bool{}
	table := append(windowForms(win), messageForms...)
	for _, x := range table {
		var first string
		e.onDo = func(k *engine.Call) {
			require.Equal(t, x.kind, k.Kind)
			first = describe(k)
			k.Complete(engine.Status{}, nil)
		}
		e.open = nil
		require.NoError(t, x.now(c), x.kind)
		r := x.later(c)
		require.Len(t, e.open, 1, x.kind)
		require.Equal(t, first, describe(e.open[0]))
		e.end(0, nil)
		_, err := r.Wait()
		require.NoError(t, err)
		seen[first] = true
	}
	require.Len(t, seen, len(table), "negative control: no two operations look alike")
}

// newWindow makes a window on one rank.
func newWindow(t *testing.T, e *manual, c *mpi.Comm) *mpi.Win {
	e.onDo = func(k *engine.Call) {
		if k.Kind == engine.CallAllgather {
			engine.Copy(k.Recv, k.Send)
		}
		k.Complete(engine.Status{}, nil)
	}
	w, err := c.NewWin(mpi.Of(f6))
	require.NoError(t, err)
	require.Equal(t, engine.Handle(5), w.Inner().Handle())
	return w
}

func TestLocks(t *testing.T) {
	e, c := newManual(0, 1)
	w := newWindow(t, e, c)
	var log []string
	e.onDo = func(k *engine.Call) {
		log = append(log, fmt.Sprint(k.Kind, " ", k.Peer, " ", k.Exclusive))
		k.Complete(engine.Status{}, nil)
	}
	require.NoError(t, w.Lock(0, true))
	require.NoError(t, w.Unlock(0))
	require.NoError(t, w.Lock(0, false))
	require.Equal(t, []string{"lock 0 true", "unlock 0 false", "lock 0 false"}, log)
}

func TestAbort(t *testing.T) {
	e, c := newManual(0, 1)
	c.Abort(3, "lost")
	require.Equal(t, "3 lost", e.reason)
}
