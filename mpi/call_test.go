package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

func TestCallLife(t *testing.T) {
	_, c := newManual(1, 2)
	hooks := 0
	k := &engine.Call{Kind: engine.CallRecv, Comm: c.Inner(), Peer: 1, Tag: 4, User: "mine", Hidden: true, Slot: 3, Task: 9}
	k.OnDone = func(x *engine.Call) {
		require.Same(t, k, x)
		require.True(t, x.Done())
		hooks++
	}
	require.False(t, k.Done())
	k.Complete(engine.Status{Bytes: 8}, mpi.ErrRevoked)
	require.Equal(t, 1, hooks)
	require.Equal(t, 8, k.Status.Bytes)
	require.Equal(t, mpi.ErrRevoked, k.Err)
	k.Rearm()
	require.False(t, k.Done())
	require.NoError(t, k.Err)
	require.Equal(t, 4, k.Tag)
	k.OnDone = func(x *engine.Call) { x.Reset() } // as OnDone may
	k.Complete(engine.Status{}, nil)
	require.False(t, k.Done())
	require.Nil(t, k.Comm)
	require.Zero(t, k.Tag+k.Peer+k.Slot+int(k.Task))
	require.False(t, k.Hidden)
	require.Equal(t, engine.CallNone, k.Kind)
	require.Equal(t, "mine", k.User)
	require.NotNil(t, k.OnDone)
}

func TestCallTexts(t *testing.T) {
	_, c := newManual(1, 4)
	b := mpi.Of(f6)
	for want, k := range map[string]*engine.Call{
		"send on world to rank 2, tag 7, 48 bytes":       {Kind: engine.CallSend, Comm: c.Inner(), Peer: 2, Tag: 7, Send: engine.Buffer(b)},
		"recv on world from any rank, any tag, 48 bytes": {Kind: engine.CallRecv, Comm: c.Inner(), Peer: mpi.AnySource, Tag: mpi.AnyTag, Recv: engine.Buffer(b)},
		"ssend on world with ProcNull, tag 7, 0 bytes":   {Kind: engine.CallSsend, Comm: c.Inner(), Peer: mpi.ProcNull, Tag: 7},
		"bcast on world root 0, 48 bytes":                {Kind: engine.CallBcast, Comm: c.Inner(), Recv: engine.Buffer(b)},
		"barrier, 0 bytes":                               {Kind: engine.CallBarrier},
		"put-notify on world target 3, tag 1, 48 bytes":  {Kind: engine.CallNotify, Comm: c.Inner(), Peer: 3, Tag: 1, Send: engine.Buffer(b)},
		"mrecv on world from rank 1, 48 bytes":           {Kind: engine.CallMrecv, Comm: c.Inner(), Peer: 1, Recv: engine.Buffer(b)},
		"await-notify on world, tag 3, 0 bytes":          {Kind: engine.CallAwaitNotify, Comm: c.Inner(), Tag: 3},
		"allreduce on world, 48 bytes":                   {Kind: engine.CallAllreduce, Comm: c.Inner(), Send: engine.InPlace, Recv: engine.Buffer(b)},
	} {
		require.Equal(t, want, k.String())
	}
	require.Equal(t, "CallKind(99)", engine.CallKind(99).String())
}

func TestKindsOfCalls(t *testing.T) {
	seen := map[string]bool{}
	for k := engine.CallNone; k <= engine.CallFlush; k++ {
		require.NotEmpty(t, k.String())
		seen[k.String()] = true
		classes := 0
		for _, is := range []bool{k.PointToPoint(), k.OneSided(), k.Collective() && k != engine.CallFence} {
			if is {
				classes++
			}
		}
		require.Equal(t, k != engine.CallNone, classes == 1, k)
		require.False(t, k.Sends() && k.Receives())
		if k.Sends() || k.Receives() {
			require.True(t, k.PointToPoint() && k.HasPeer() && k.HasTag(), k)
		}
	}
	require.Len(t, seen, int(engine.CallFlush)+1)
	require.True(t, engine.CallFence.Collective())
	require.False(t, engine.CallBarrier.HasPeer())
	require.True(t, engine.CallGather.HasPeer())
	require.False(t, engine.CallPut.HasTag())
}

// Needs for all kinds of calls: the ranks for which rank 1 of 3 waits.
func TestNeeds(t *testing.T) {
	root := []int{0}
	for k := engine.CallNone; k <= engine.CallFlush; k++ {
		want := []int{0, 2}
		switch k {
		case engine.CallBcast, engine.CallScatter, engine.CallScan, engine.CallExscan:
			want = root
		case engine.CallReduce, engine.CallGather:
			want = nil
		}
		var got []int
		c := engine.Call{Kind: k}
		for r := range 3 {
			if r != 1 && c.Needs(1, r) {
				got = append(got, r)
			}
		}
		if k.Collective() {
			require.Equal(t, want, got, k)
		}
	}
	gather := engine.Call{Kind: engine.CallGather, Peer: 1}
	require.True(t, gather.Needs(1, 0), "the root needs all")
}

func TestErrorText(t *testing.T) {
	_, c := newManual(1, 4)
	k := &engine.Call{Kind: engine.CallRecv, Comm: c.Inner(), Peer: 2, Tag: 7}
	err := k.Fail(mpi.ErrTruncate, 10, 20, "%d bytes came for %d", 20, 10)
	require.EqualError(t, err, "mpi: recv on world, rank 1, peer 2, tag 7: message longer than the receive buffer: 20 bytes came for 10")
	var e *mpi.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []int{10, 20, 2, 7, 1}, []int{e.Want, e.Got, e.Peer, e.Tag, e.Rank})
	require.ErrorIs(t, e, mpi.ErrTruncate)
	require.NotErrorIs(t, e, mpi.ErrCount)
	cause := errors.New("cable")
	e.Cause = cause
	require.ErrorIs(t, e, cause)
	require.ErrorIs(t, fmt.Errorf("in task 3: %w", e), mpi.ErrTruncate)
	require.ErrorContains(t, e, ": cable")
	k.Peer, k.Tag = mpi.AnySource, mpi.AnyTag
	require.EqualError(t, k.Fail(mpi.ErrRevoked, 0, 0, ""), "mpi: recv on world, rank 1, any source: communicator revoked")
	k.Peer = mpi.ProcNull
	require.ErrorContains(t, k.Fail(mpi.ErrState, 0, 0, ""), "rank 1, ProcNull: not allowed")
	k = &engine.Call{Kind: engine.CallBarrier}
	require.EqualError(t, k.Fail(mpi.ErrEngine, 0, 0, "smoke"), "mpi: barrier on , rank -1: MPI engine failed: smoke")
}
