package mpi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

// All calls are started before any has completed; Result is that of each.
func TestBatch(t *testing.T) {
	e, c := newManual(0, 2)
	x := make([]int32, 8)
	var b mpi.Batch
	b.Sendrecv(c, mpi.Of(x[:1]), 1, 5, mpi.Of(x[1:2]), 1, 6)
	b.Send(c, mpi.Of(x[:1]), 1, 7) // two sends of one element
	b.Recv(c, mpi.Of(x[2:3]), 1, 8)
	b.Ssend(c, mpi.Of(x[4:]), 1, 9)
	require.Len(t, e.open, 5)
	require.Equal(t, "recv on world from rank 1, tag 6, 4 bytes", e.open[0].String(), "the receive first")
	e.end(0, nil)
	e.end(1, errLate)
	e.onAwait = func() {
		for i := range 3 {
			e.end(2+i, nil)
		}
	}
	st, err := b.Result(2)
	require.NoError(t, err)
	require.Equal(t, mpi.Status{Source: 1, Tag: 8, Bytes: 16}, st)
	st, err = b.Result(0)
	require.ErrorIs(t, err, errLate)
	require.Equal(t, mpi.Status{Source: 1, Tag: 6, Bytes: 4}, st, "the receive had no error")
	st, err = b.Result(1)
	require.NoError(t, err)
	require.Zero(t, st)
	require.ErrorIs(t, b.Wait(), errLate)
	var none mpi.Batch
	require.NoError(t, none.Wait())
}

// A call that shares memory with an earlier one waits for it, if either receives, and for no
// other.
func TestBatch_shared(t *testing.T) {
	x := make([]int32, 8)
	for name, second := range map[string]func(b *mpi.Batch, c *mpi.Comm){
		"sends what was received":     func(b *mpi.Batch, c *mpi.Comm) { b.Send(c, mpi.Of(x[3:5]), 1, 3) },
		"receives what is sent":       func(b *mpi.Batch, c *mpi.Comm) { b.Recv(c, mpi.Of(x[1:2]), 1, 3) },
		"receives again":              func(b *mpi.Batch, c *mpi.Comm) { b.Recv(c, mpi.Of(x[2:4]), 1, 3) },
		"exchange, its send":          func(b *mpi.Batch, c *mpi.Comm) { b.Sendrecv(c, mpi.Of(x[3:4]), 1, 3, mpi.Of(x[6:]), 1, 3) },
		"exchange, its receive":       func(b *mpi.Batch, c *mpi.Comm) { b.Sendrecv(c, mpi.Of(x[6:]), 1, 3, mpi.Of(x[3:4]), 1, 3) },
		"a column across what is got": func(b *mpi.Batch, c *mpi.Comm) { b.Send(c, mpi.Strided(x[1:], 2, 1, 2), 1, 3) },
	} {
		e, c := newManual(0, 2)
		var b mpi.Batch
		b.Recv(c, mpi.Of(x[5:6]), 1, 0)
		b.Sendrecv(c, mpi.Of(x[:2]), 1, 1, mpi.Of(x[2:4]), 1, 2)
		waits := 0
		e.onAwait = func() {
			require.Len(t, e.open, 3, name)
			waits++
			e.open[1].Complete(e.open[1].Status, nil)
			e.open[2].Complete(e.open[2].Status, nil)
		}
		second(&b, c)
		require.NotZero(t, waits, name)
		require.Greater(t, len(e.open), 3, name)
		require.False(t, e.open[0].Done(), name)
	}
}

// As with the blocking call, nothing of a wrong exchange is started, and nobody waits for it.
func TestBatch_wrong(t *testing.T) {
	e, c := newManual(0, 2)
	x := make([]int32, 2)
	var b mpi.Batch
	b.Sendrecv(c, mpi.Of(x[:1]), 2, 5, mpi.Of(x[1:]), 1, 6)
	b.Sendrecv(c, mpi.Of(x[:1]), 1, 5, mpi.Of(x[1:]), 2, 6)
	b.Sendrecv(c, mpi.Of(x[:1]), mpi.ProcNull, 5, mpi.Of(x[1:]), mpi.ProcNull, 6)
	require.Empty(t, e.open)
	for i := range 2 {
		_, err := b.Result(i)
		require.ErrorIs(t, err, mpi.ErrRank)
	}
	st, err := b.Result(2)
	require.NoError(t, err)
	require.Equal(t, mpi.ProcNull, st.Source)
}

// The calls come from a pool: a program that repeats a batch makes no garbage.
func TestBatch_allocates_nothing(t *testing.T) {
	if invariant.Race {
		t.Skip("with the race detector a pool forgets at random")
	}
	e, c := newManual(0, 2)
	x := make([]int32, 8)
	e.onAwait = func() {}
	once := func() {
		e.open = e.open[:0]
		var b mpi.Batch
		b.Sendrecv(c, mpi.Of(x[:1]), 1, 5, mpi.Of(x[1:2]), 1, 6)
		b.Sendrecv(c, mpi.Of(x[2:3]), 1, 5, mpi.Of(x[3:4]), 1, 6)
		b.Recv(c, mpi.Of(x[4:5]), 1, 8)
		for i := range e.open {
			e.end(i, nil)
		}
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
	}
	once()
	require.Less(t, testing.AllocsPerRun(100, once), 1.0)
}

// Calls beyond the eighth are as the others.
func TestBatch_long(t *testing.T) {
	e, c := newManual(0, 2)
	x := make([]int32, 40)
	var b mpi.Batch
	for i := range 20 {
		b.Recv(c, mpi.Of(x[i:i+1]), 1, i)
	}
	require.Len(t, e.open, 20)
	for i := range e.open {
		e.end(i, nil)
	}
	for i := range 20 {
		st, err := b.Result(i)
		require.NoError(t, err)
		require.Equal(t, i, st.Tag)
	}
	require.NoError(t, b.Wait())
}
