package dds_test

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
)

// storm collects garbage without a pause until the test ends.
func storm(t *testing.T) {
	old := debug.SetGCPercent(1)
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			runtime.GC()
		}
	})
	t.Cleanup(func() {
		done.Store(true)
		wg.Wait()
		debug.SetGCPercent(old)
	})
}

// readings are ways to read a message while it arrives; each reports whether it equals
// stamp's.
var readings = []func(x []uint64, salt uint64) bool{
	func(x []uint64, salt uint64) bool { return wrong(x, salt) == -1 },
	func(x []uint64, salt uint64) bool { // in assembly
		y := make([]uint64, len(x))
		copy(y, x)
		return wrong(y, salt) == -1
	},
	func(x []uint64, salt uint64) bool { // backwards, without a hint
		for i := len(x) - 1; i >= 0; i -= 500 {
			if x[i] != (uint64(i)+salt)*0x9e3779b97f4a7c15 {
				return false
			}
		}
		return wrong(x, salt) == -1
	},
	func(x []uint64, salt uint64) bool { // jumps, and writes
		for i := 0; i < len(x); i += 1000 {
			x[i*7919%len(x)]++
			x[i*7919%len(x)]--
		}
		return wrong(x, salt) == -1
	},
	func(x []uint64, salt uint64) bool { // two readers
		var other bool
		var wg sync.WaitGroup
		wg.Go(func() { other = wrong(x, salt) == -1 })
		one := wrong(x, salt) == -1
		wg.Wait()
		return one && other
	},
}

func exchange(t *testing.T, c *mpi.Comm, e *dds.Endpoint, x []uint64, round int) {
	salt := uint64(round)
	if c.Rank() == 0 {
		stamp(x, salt)
		tr, err := e.Send(mpi.Of(x), 1, 0)
		require.NoError(t, err)
		clear(x) // waits for unsent bytes
		require.NoError(t, tr.Wait())
		return
	}
	tr, err := e.Recv(mpi.Of(x), 0, 0)
	require.NoError(t, err)
	assert.True(t, readings[round%len(readings)](x, salt), "round %d", round)
	require.NoError(t, tr.Wait())
	assert.Equal(t, -1, wrong(x, salt), "round %d, afterwards", round)
}

// All ways of reading, under collections without a pause, on one P and on several.
func TestStorm(t *testing.T) {
	needUffd(t)
	storm(t)
	for _, net := range []string{"bw=4Gbit,L=5us", "bw=4Gbit,L=5us,progress=nic"} {
		pair(t, net, 2<<20, []dds.Hint{dds.Strips(12)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
			x := make64(t, a, 1<<17+3)
			for faults, try := int64(0), 0; faults == 0; try++ {
				require.Less(t, try, 50, "no reader was early: nothing was tested")
				for round := range 2 * len(readings) {
					exchange(t, c, e, x, round)
				}
				faults = int64(a.Counts().Faults) // none, if all readers of a busy machine were late
				require.NoError(t, c.Allreduce(mpi.InPlace, mpi.One(&faults), mpi.Max))
			}
			if c.Rank() == 1 {
				assert.NotZero(t, a.Counts().Strips)
			}
			return nil
		})
	}
}

// With one P, which a faulting reader occupies, strips arrive nevertheless.
func TestStorm_one_P(t *testing.T) {
	needUffd(t)
	procs := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	pair(t, "bw=2Gbit,L=5us", 2<<20, []dds.Hint{dds.Strips(12)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		x := make64(t, a, 1<<17)
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			runtime.GOMAXPROCS(1)
		}
		for stalls, try := int64(0), 0; stalls == 0; try++ {
			require.Less(t, try, 50, "no reader had to wait: nothing was tested")
			for round := range 2 * len(readings) {
				exchange(t, c, e, x, round)
			}
			stalls = int64(a.Counts().Stalls)
			require.NoError(t, c.Allreduce(mpi.InPlace, mpi.One(&stalls), mpi.Max))
		}
		return nil
	})
}

// Hundreds of strips are in flight at once, to several readers.
func TestStorm_many_strips(t *testing.T) {
	needUffd(t)
	const messages, length = 8, 1 << 19
	pair(t, "bw=4Gbit,L=5us", messages*length*8, []dds.Hint{dds.Strips(64)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		var wg sync.WaitGroup
		var xs [][]uint64
		for i := range messages {
			xs = append(xs, make64(t, a, length))
			stamp(xs[i], uint64(i+c.Rank()*100))
		}
		var all []*dds.Transfer
		for i, x := range xs {
			if c.Rank() == 0 {
				tr, err := e.Isend(mpi.Of(x), 1, i)
				require.NoError(t, err)
				all = append(all, tr)
				continue
			}
			tr, err := e.Recv(mpi.Of(x), 0, i)
			require.NoError(t, err)
			all = append(all, tr)
			wg.Go(func() { assert.Equal(t, -1, wrong(x, uint64(i)), "message %d", i) })
		}
		for _, tr := range all {
			require.NoError(t, tr.Wait())
			if c.Rank() == 1 {
				assert.Greater(t, len(tr.Strips()), 50)
			}
		}
		wg.Wait()
		return nil
	})
}

// Messages into rows that share pages with their neighbours: the neighbours never wait, and
// keep their content.
func TestHalo_rows(t *testing.T) {
	needUffd(t)
	const row, rows = 40_000 + 24, 3 // bytes: no whole pages
	pair(t, "bw=2Mbit,L=5us", 1<<20, []dds.Hint{dds.Strips(1), dds.Fixed(dds.Constants{Gap: 1e3})}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		x, err := dds.Make[byte](a, rows*row)
		require.NoError(t, err)
		middle := x[row : 2*row]
		if c.Rank() == 0 {
			copy(middle, bytes.Repeat([]byte{3}, row))
			tr, err := e.Send(mpi.Of(middle), 1, 0)
			require.NoError(t, err)
			return tr.Wait()
		}
		tr, err := e.Recv(mpi.Of(middle), 0, 0)
		require.NoError(t, err)
		for i := range row {
			x[i], x[2*row+i] = 1, 2
		}
		require.False(t, tr.Done())
		assert.Zero(t, a.Counts().Faults, "a neighbour had to wait")
		require.NotZero(t, a.Counts().Strips)
		assert.Equal(t, row, bytes.Count(middle, []byte{3}))
		require.NoError(t, tr.Wait())
		assert.Equal(t, row, bytes.Count(x, []byte{1}))
		assert.Equal(t, row, bytes.Count(x, []byte{2}))
		return nil
	})
}

// The receiver's estimate of the network does not change the sender's cut.
func TestConstants_differ(t *testing.T) {
	needUffd(t)
	for _, swap := range []bool{false, true} {
		pair(t, "gige", 2<<20, nil, nil, func(c *mpi.Comm, _ *dds.Endpoint, a *dds.Arena) error {
			k := dds.Constants{Gap: 8, Fault: 1000}
			if (c.Rank() == 0) == swap {
				k = dds.Constants{Gap: 1e-6}
			}
			e, err := dds.Open(c, dds.Fixed(k))
			require.NoError(t, err)
			x := make64(t, a, 1<<16)
			for round := range 3 {
				exchange(t, c, e, x, round)
			}
			return e.Close()
		})
	}
}
