package dds_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/trial"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Parts of an Alltoallv go where they belong, of any length, in arenas and outside, and an
// operation on the buffers waits for them.
func TestWrap_alltoallv(t *testing.T) {
	net, err := local.ParseNet("10gige")
	require.NoError(t, err)
	const p, most = 4, 1 << 16
	require.NoError(t, local.Run(p, func(c *mpi.Comm) error {
		a, err := dds.NewArena(12 << 20)
		require.NoError(t, err)
		w, err := dds.Wrap(c, dds.Force())
		require.NoError(t, err)
		me := w.Rank()
		length := func(from, to int) int { return (from*3 + to*5) % 7 * most / 8 }
		for _, outside := range []bool{false, true} {
			x, y := make([]uint64, p*most), make([]uint64, p*most)
			if !outside || me%2 == 0 {
				x, y = make64(t, a, p*most), make64(t, a, p*most)
			}
			var sc, sd, rc, rd []int
			for r := range p {
				sc, sd = append(sc, length(me, r)), append(sd, r*most)
				rc, rd = append(rc, length(r, me)), append(rd, (p-1-r)*most)
				stamp(x[r*most:][:length(me, r)], uint64(me*p+r))
			}
			for range 3 {
				require.NoError(t, w.Alltoallv(mpi.Of(x), sc, sd, mpi.Of(y), rc, rd))
				for r := range p {
					assert.Equal(t, -1, wrong(y[rd[r]:][:rc[r]], uint64(r*p+me)), "part of %d at %d", r, me)
				}
			}
			for r := range p {
				stamp(x[r*most:][:most], uint64(me*p+r))
			}
			require.NoError(t, w.Alltoall(mpi.Of(x), mpi.Of(y)))
			clear(x) // its writer waits
			for r := range p {
				assert.Equal(t, -1, wrong(y[r*most:][:most], uint64(r*p+me)))
			}
			require.NoError(t, w.Barrier())
		}
		assert.Zero(t, w.Outstanding())
		g, _, _ := w.Gain()
		if name, _ := a.Backend(); name == dds.Uffd {
			assert.Positive(t, g.Messages, "none returned early")
		}
		return errors.Join(w.Close(), a.Close())
	}, local.Network(net)))
}

// An Alltoallv whose early returns are switched off arms no page: each first touch of one would cost a fault, which
// a nested hypervisor handles without the system's knowledge.
func TestWrap_alltoallv_switched_off(t *testing.T) {
	net, err := local.ParseNet("10gige")
	require.NoError(t, err)
	const p, n = 2, 1 << 16
	a, err := dds.NewArena(8 << 20)
	require.NoError(t, err)
	require.NoError(t, local.Run(p, func(c *mpi.Comm) error {
		w, err := dds.Wrap(c, dds.Force())
		require.NoError(t, err)
		x, y := make64(t, a, p*n), make64(t, a, p*n)
		counts, displs := []int{n, n}, []int{0, n}
		exchange := func() (armed int64) {
			require.NoError(t, w.Barrier())
			before := a.Counts().Strips
			require.NoError(t, w.Barrier())
			for r := range p {
				stamp(x[r*n:][:n], uint64(w.Rank()*p+r))
			}
			require.NoError(t, w.Alltoallv(mpi.Of(x), counts, displs, mpi.Of(y), counts, displs))
			for r := range p {
				assert.Equal(t, -1, wrong(y[r*n:][:n], uint64(r*p+w.Rank())))
			}
			require.NoError(t, w.Barrier())
			return a.Counts().Strips - before
		}
		name, _ := a.Backend()
		for try := 0; exchange() == 0 && name == dds.Uffd; try++ { // the control; what comes early is not armed
			require.Less(t, try, 50, "no receive was armed")
		}
		w.SwitchOff()
		assert.Zero(t, exchange())
		return w.Close()
	}, local.Network(net)))
	require.NoError(t, a.Close())
}

// With Adaptive a trial decides whether an Alltoallv is made of messages, on all ranks alike: the form in which the program is
// faster stays. Here the program itself is slow after one of the two forms, on one rank.
func TestWrap_alltoallv_trial(t *testing.T) {
	const p, n = 3, 1 << 10
	for _, slow := range []bool{false, true} { // the slow form is the one with messages
		require.NoError(t, local.Run(p, func(c *mpi.Comm) error {
			w, err := dds.Wrap(c, dds.Adaptive(), dds.Fixed(dds.Constants{Gap: 1}))
			require.NoError(t, err)
			x, y := make([]uint64, p*n), make([]uint64, p*n)
			counts, displs := []int{n, n, n}, []int{0, n, 2 * n}
			for i := range trial.Runs + 3 {
				for r := range p {
					stamp(x[r*n:][:n], uint64(w.Rank()*p+r))
				}
				require.NoError(t, w.Alltoallv(mpi.Of(x), counts, displs, mpi.Of(y), counts, displs))
				for r := range p {
					assert.Equal(t, -1, wrong(y[r*n:][:n], uint64(r*p+w.Rank())), "exchange %d", i)
				}
				messages, settled := w.Spreading()
				require.Equal(t, i >= trial.Runs, settled, "exchange %d", i)
				if settled {
					require.Equal(t, !slow, messages, "exchange %d on rank %d", i, w.Rank())
				} else if messages == slow && w.Rank() == 1 {
					time.Sleep(20 * time.Millisecond)
				}
			}
			return w.Close()
		}))
	}
}

// A part of another length than announced is an error on the receiver.
func TestWrap_alltoallv_mismatch(t *testing.T) {
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		w, err := dds.Wrap(c, dds.Force())
		require.NoError(t, err)
		x, y := make([]uint64, 2000), make([]uint64, 2000)
		counts, d := []int{1000, 1000}, []int{0, 1000}
		got := counts
		if c.Rank() == 1 {
			got = []int{900, 1000}
		}
		err = w.Alltoallv(mpi.Of(x), counts, d, mpi.Of(y), got, d)
		if c.Rank() == 1 {
			require.ErrorIs(t, err, mpi.ErrTruncate)
		} else {
			require.NoError(t, err)
		}
		return w.Close()
	}))
}
