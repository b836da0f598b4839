package mpi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// A bad argument: the class of the error, and a part of its text. Rank 1 of 3 makes the
// calls.
type bad struct {
	text  string
	class error
	call  func(c *mpi.Comm) error
}

var (
	f6     = make([]float64, 6)
	f2     = make([]float64, 2)
	i2     = make([]int64, 2)
	i6     = make([]int64, 6)
	gaps   = mpi.Strided(make([]float64, 12), 3, 2, 4) // 6 elements
	noSend = mpi.Buffer{}
)

func drop(_ any, err error) error { return err }

var badMessages = []bad{
	{"send on world, rank 1, peer 3, tag 0: no such rank: the communicator has ranks 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error { return c.Send(mpi.Of(f6), 3, 0) }},
	{"any source", mpi.ErrRank, func(c *mpi.Comm) error { return c.Send(mpi.Of(f6), mpi.AnySource, 0) }},
	{"peer -7", mpi.ErrRank, func(c *mpi.Comm) error { return drop(c.Recv(mpi.Of(f6), -7, 0)) }},
	{"tags go from 0 to 1000", mpi.ErrTag, func(c *mpi.Comm) error { return c.Ssend(mpi.Of(f6), 0, 1001) }},
	{"tag -5", mpi.ErrTag, func(c *mpi.Comm) error { return drop(c.Recv(mpi.Of(f6), 0, -5)) }},
	{"tags go", mpi.ErrTag, func(c *mpi.Comm) error { return c.Send(mpi.Of(f6), 0, mpi.AnyTag) }},
	{"tags go", mpi.ErrTag, func(c *mpi.Comm) error { return c.Send(mpi.Of(f6), mpi.ProcNull, -1) }},
	{"ranks 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error { return drop(c.Probe(3, 0)) }},
	{"ranks 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error { _, _, err := c.Iprobe(3, 0); return err }},
	{"ranks 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error { return drop(c.Mprobe(3, 0)) }},
	{"ranks 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error { return drop(c.Improbe(3, 0)) }},
	{"InPlace is for collective operations", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Send(mpi.InPlace, 0, 0) }},
	{"InPlace is for collective operations", mpi.ErrBuffer, func(c *mpi.Comm) error { return drop(c.SendrecvReplace(mpi.InPlace, 0, 0, 0, 0)) }},
	{"type string contains a pointer", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Send(mpi.Of([]string{"a"}), 0, 0) }},
	{"do not fit into a slice of 6", mpi.ErrBuffer, func(c *mpi.Comm) error { return drop(c.Recv(mpi.Strided(f6, 2, 3, 4), 0, 0)) }},
	{"do not fit", mpi.ErrBuffer, func(c *mpi.Comm) error { return drop(c.SendrecvReplace(mpi.Strided(f6, 2, 3, 4), 0, 0, 0, 0)) }},
	{"ranks 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error {
		return drop(c.Sendrecv(mpi.Of(f2), 5, 0, mpi.Of(f6), mpi.ProcNull, 0))
	}},
	{"a color is at least 0", mpi.ErrCount, func(c *mpi.Comm) error { return drop(c.Split(-2, 0)) }},
	{"the world communicator stays", mpi.ErrState, func(c *mpi.Comm) error { return c.Free() }},
	{"a grid of [2 2] does not fit on 3 ranks", mpi.ErrCount, func(c *mpi.Comm) error { return drop(c.Cart([]int{2, 2}, nil)) }},
	{"a grid of [3 0] does not fit", mpi.ErrCount, func(c *mpi.Comm) error { return drop(c.Cart([]int{3, 0}, nil)) }},
	{"1 dimensions, but periodic has 2 entries", mpi.ErrCount, func(c *mpi.Comm) error { return drop(c.Cart([]int{3}, make([]bool, 2))) }},
}

var badCollectives = []bad{
	{"the root is one of 0 to 2", mpi.ErrRank, func(c *mpi.Comm) error { return c.Bcast(mpi.Of(f6), 3) }},
	{"peer -5", mpi.ErrRank, func(c *mpi.Comm) error { return c.Reduce(mpi.Of(f6), noSend, mpi.Sum, -5) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Bcast(mpi.InPlace, 0) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Reduce(mpi.InPlace, mpi.Of(f6), mpi.Sum, 0) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Allreduce(mpi.Of(f6), mpi.InPlace, mpi.Sum) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Gather(mpi.InPlace, noSend, 0) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Scatter(noSend, mpi.InPlace, 0) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Alltoall(mpi.InPlace, mpi.Of(f6)) }},
	{"InPlace is not possible here", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Gather(mpi.Of(f2), mpi.InPlace, 1) }},
	{"no operation is given", mpi.ErrKind, func(c *mpi.Comm) error { return c.Allreduce(mpi.Of(f6), mpi.Of(f6), nil) }},
	{"Replace is for Accumulate", mpi.ErrKind, func(c *mpi.Comm) error { return c.Allreduce(mpi.Of(f6), mpi.Of(f6), mpi.Replace) }},
	{`operation "band" is not defined on float64`, mpi.ErrKind, func(c *mpi.Comm) error { return c.Scan(mpi.Of(f6), mpi.Of(f6), mpi.Band) }},
	{`operation "band" is not defined on float64`, mpi.ErrKind, func(c *mpi.Comm) error { return c.Exscan(mpi.InPlace, mpi.Of(f6), mpi.Band) }},
	{"the receive buffer has 2 elements, and needs 6", mpi.ErrCount, func(c *mpi.Comm) error { return c.Allreduce(mpi.Of(f6), mpi.Of(f2), mpi.Sum) }},
	{"send and receive buffer hold float64 and int64", mpi.ErrKind, func(c *mpi.Comm) error { return c.Reduce(mpi.Of(f6), mpi.Of(i6), mpi.Sum, 1) }},
	{"a count is negative", mpi.ErrCount, func(c *mpi.Comm) error { return c.ReduceScatter(mpi.Of(f6), mpi.Of(f2), []int{7, -3, 2}, mpi.Sum) }},
	{"the counts add up to 5 elements, the buffer has 6", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.ReduceScatter(mpi.Of(f6), mpi.Of(f2), []int{1, 2, 2}, mpi.Sum)
	}},
	{"the counts add up to 0 elements, the buffer has 2", mpi.ErrCount, func(c *mpi.Comm) error { return c.ReduceScatter(mpi.Of(f2), mpi.Of(f2), nil, mpi.Sum) }},
	{"the receive buffer has 2 elements, and needs 3", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.ReduceScatter(mpi.Of(f6), mpi.Of(f2), []int{1, 3, 2}, mpi.Sum)
	}},
	{"2 counts for 3 ranks", mpi.ErrCount, func(c *mpi.Comm) error { return c.ReduceScatter(mpi.Of(f6), mpi.Of(f2), []int{3, 3}, mpi.Sum) }},
	{"1 counts for 3 ranks", mpi.ErrCount, func(c *mpi.Comm) error { return c.Gatherv(mpi.Of(f2), mpi.Of(f6), []int{2}, nil, 0) }},
	{"must be contiguous", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Allgather(mpi.Of(f2), gaps) }},
	{"must be contiguous", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Scatter(gaps, mpi.Of(f2), 1) }},
	{"must be contiguous", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Alltoall(gaps, mpi.Of(f6)) }},
	{"the receive buffer of 2 elements cannot be divided among 3 ranks", mpi.ErrCount, func(c *mpi.Comm) error { return c.Allgather(mpi.Of(f2), mpi.Of(f2)) }},
	{"the receive buffer has 2 elements for each rank, this rank's own part has 6", mpi.ErrCount, func(c *mpi.Comm) error { return c.Allgather(mpi.Of(f6), mpi.Of(f6)) }},
	{"hold float64 and int64", mpi.ErrKind, func(c *mpi.Comm) error { return c.Gather(mpi.Of(i2), mpi.Of(f6), 1) }},
	{"2 displacements for 3 counts", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.Allgatherv(mpi.Of(f2), mpi.Of(f6), []int{2, 2, 2}, []int{0, 2})
	}},
	{"elements 5 to 7, the part of rank 2, lie outside the receive buffer of 6", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.Allgatherv(mpi.Of(f2), mpi.Of(f6), []int{2, 2, 2}, []int{0, 2, 5})
	}},
	{"elements -1 to 1, the part of rank 0, lie outside the send buffer of 6", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.Scatterv(mpi.Of(f6), []int{2, 2, 2}, []int{-1, 2, 4}, mpi.Of(f2), 1)
	}},
	{"the part of rank 0", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.Scatterv(mpi.Of(f6), []int{-2, 2, 2}, []int{0, 2, 4}, mpi.Of(f2), 1)
	}},
	{"counts are given on one side only", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.Alltoallv(mpi.Of(f6), []int{2, 2, 2}, nil, mpi.Of(f6), nil, nil)
	}},
	{"this rank sends itself 2 elements and receives 1", mpi.ErrCount, func(c *mpi.Comm) error {
		return c.Alltoallv(mpi.Of(f6), []int{2, 2, 2}, nil, mpi.Of(f6), []int{2, 1, 2}, nil)
	}},
	{"hold float64 and int64", mpi.ErrKind, func(c *mpi.Comm) error { return c.Alltoall(mpi.Of(f6), mpi.Of(i6)) }},
	{"hold float64 and int64", mpi.ErrKind, func(c *mpi.Comm) error {
		return c.Alltoallv(mpi.Of(f6), []int{2, 2, 2}, nil, mpi.Of(i6), []int{2, 2, 2}, nil)
	}},
	{"the receive buffer has 6 elements, and needs 3", mpi.ErrCount, func(c *mpi.Comm) error { return c.Alltoall(mpi.Of(f6[:3]), mpi.Of(f6)) }},
	{"type string contains a pointer", mpi.ErrBuffer, func(c *mpi.Comm) error { return c.Bcast(mpi.Of([]string{""}), 0) }},
}

// checkBad makes every call of a table on an engine that must not be called.
func checkBad(t *testing.T, table []bad) {
	for _, b := range table {
		e, c := newManual(1, 3)
		e.onDo = func(k *engine.Call) { t.Errorf("%v reached the engine, in spite of: %s", k, b.text) }
		err := b.call(c)
		require.ErrorIs(t, err, b.class, b.text)
		require.ErrorContains(t, err, b.text)
		require.Contains(t, err.Error(), "mpi: ")
		require.Contains(t, err.Error(), "world, rank 1")
		var full *mpi.Error
		require.ErrorAs(t, err, &full)
		require.Equal(t, 1, full.Rank)
	}
}

func TestBadMessages(t *testing.T)    { checkBad(t, badMessages) }
func TestBadCollectives(t *testing.T) { checkBad(t, badCollectives) }

// The negative control: an allowed call reaches the engine with its arguments.
func TestGoodArguments(t *testing.T) {
	two := []int{2, 2, 2}
	for i, call := range []func(c *mpi.Comm) error{
		func(c *mpi.Comm) error { return c.Send(gaps, 0, 1000) },
		func(c *mpi.Comm) error { return drop(c.Recv(gaps, mpi.AnySource, mpi.AnyTag)) },
		func(c *mpi.Comm) error { return c.Send(mpi.Buffer{}, 1, 0) },
		func(c *mpi.Comm) error { return c.Barrier() },
		func(c *mpi.Comm) error { return c.Bcast(gaps, 2) },
		func(c *mpi.Comm) error { return c.Reduce(gaps, mpi.Buffer{}, mpi.Sum, 0) },
		func(c *mpi.Comm) error { return c.Reduce(mpi.InPlace, gaps, mpi.Sum, 1) },
		func(c *mpi.Comm) error { return c.Allreduce(mpi.InPlace, gaps, mpi.Max) },
		func(c *mpi.Comm) error { return c.Scan(gaps, mpi.Of(f6), mpi.Prod) },
		func(c *mpi.Comm) error { return c.Exscan(mpi.InPlace, gaps, mpi.Sum) },
		func(c *mpi.Comm) error { return c.Gather(mpi.Of(f2), mpi.Buffer{}, 0) },
		func(c *mpi.Comm) error { return c.Gather(mpi.InPlace, mpi.Of(f6), 1) },
		func(c *mpi.Comm) error { return c.Gatherv(mpi.Of(f2), mpi.Of(f6), two, []int{4, 2, 0}, 1) },
		func(c *mpi.Comm) error { return c.Scatter(mpi.Of(f6), mpi.InPlace, 1) },
		func(c *mpi.Comm) error { return c.Allgather(mpi.InPlace, mpi.Of(f6)) },
		func(c *mpi.Comm) error { return c.Alltoallv(mpi.Of(f6), two, nil, mpi.Of(f6), two, nil) },
		func(c *mpi.Comm) error { return c.ReduceScatter(mpi.InPlace, mpi.Of(f6), nil, mpi.Sum) },
		func(c *mpi.Comm) error { return c.ReduceScatter(gaps, mpi.Of(f6[:3]), []int{1, 3, 2}, mpi.Sum) },
		func(c *mpi.Comm) error { return c.Allreduce(mpi.Buffer{}, mpi.Buffer{}, mpi.Band) },
	} {
		e, c := newManual(1, 3)
		asked := 0
		e.onDo = func(k *engine.Call) {
			asked++
			require.Same(t, c.Inner(), k.Comm)
			require.Equal(t, k.SendCounts == nil, k.SendDispls == nil)
			require.Equal(t, k.RecvCounts == nil, k.RecvDispls == nil)
			k.Complete(engine.Status{}, nil)
		}
		require.NoError(t, call(c), i)
		require.Equal(t, 1, asked, i)
	}
}

func TestDisplacementsAreFilledIn(t *testing.T) {
	e, c := newManual(1, 3)
	e.onDo = func(k *engine.Call) {
		require.Equal(t, []int{0, 1, 4}, k.RecvDispls)
		k.Complete(engine.Status{}, nil)
	}
	require.NoError(t, c.Allgatherv(mpi.Of(f6[:3]), mpi.Of(f6), []int{1, 3, 2}, nil))
}

func TestBadAccesses(t *testing.T) {
	together(t, 2, []string{"here"}, func(c *mpi.Comm) error {
		w, err := c.NewWin(mpi.Of(make([]float64, 10*(1+c.Rank()))))
		if err != nil {
			return err
		}
		for text, x := range map[string]struct {
			class error
			call  error
		}{
			"the communicator has ranks 0 to 1":                       {mpi.ErrRank, w.Put(mpi.Of(f2), 2, 0)},
			"elements 9 to 11 of the window of rank 0, which has 10":  {mpi.ErrWindow, w.Put(mpi.Of(f2), 0, 9)},
			"elements -1 to 1 of the window of rank 1, which has 20":  {mpi.ErrWindow, w.Get(mpi.Of(f2), 1, -1)},
			"the window holds float64, the buffer int64":              {mpi.ErrKind, w.Get(mpi.Of(i2), 1, 0)},
			"InPlace is for collective operations":                    {mpi.ErrBuffer, w.Put(mpi.InPlace, 1, 0)},
			"Accumulate takes the predefined operations and Replace":  {mpi.ErrKind, w.Accumulate(mpi.Of(f2), nil, 0, 0)},
			`operation "bor" is not defined on float64`:               {mpi.ErrKind, w.Accumulate(mpi.Of(f2), mpi.Bor, 0, 0)},
			"notifications go from 0 to 63":                           {mpi.ErrTag, w.PutNotify(mpi.Of(f2), 0, 0, 64)},
			"2 elements are no tile with 3 rows":                      {mpi.ErrCount, w.PutTileNotify(mpi.Of(f2), 0, 0, 3, 3, 1)},
			"1 x 2 elements with leading dimension 9, from element 1": {mpi.ErrWindow, w.PutTileNotify(mpi.Of(f2), 0, 1, 1, 9, 1)},
			"await-notify on world, rank":                             {mpi.ErrTag, w.AwaitNotify(-1, 1)},
			"the count is negative":                                   {mpi.ErrCount, w.AwaitNotify(1, -1)},
			"lock on world":                                           {mpi.ErrRank, w.Lock(-3, true)},
			"flush on world":                                          {mpi.ErrRank, w.Flush(-4)},
		} {
			require.ErrorIs(t, x.call, x.class, text)
			require.ErrorContains(t, x.call, text)
		}
		require.Equal(t, 20, w.Size(1))
		require.Equal(t, 10*(1+c.Rank()), w.Memory().Len())
		require.Same(t, c, w.Comm())
		if err := w.Free(); err != nil {
			return err
		}
		require.ErrorIs(t, w.Put(mpi.Of(f2), 0, 0), mpi.ErrState)
		_, err = c.NewWin(mpi.Of(make([]float64, c.Rank())))
		require.NoError(t, err, "an empty window")
		kinds := []mpi.Buffer{mpi.Of(f2), mpi.Of(i2)}
		_, err = c.NewWin(kinds[c.Rank()])
		require.ErrorIs(t, err, mpi.ErrKind)
		require.ErrorContains(t, err, "rank 0 opens elements of float64, rank 1 of int64")
		layouts := []mpi.Buffer{mpi.Of(f2), gaps}
		_, err = c.NewWin(layouts[c.Rank()])
		require.ErrorIs(t, err, mpi.ErrBuffer)
		require.ErrorContains(t, err, "the memory of rank 1 cannot be a window")
		return nil
	})
}
