package dds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// replays makes an arena whose readers are aborted.
func replays(t *testing.T, n int) (*dds.Arena, []byte) {
	t.Helper()
	a, err := dds.NewArena(n*pages.Size(), dds.Backend(dds.Replay))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	x, err := dds.Make[byte](a, n*pages.Size())
	require.NoError(t, err)
	return a, x
}

func replaysHere() bool {
	a, err := dds.NewArena(1, dds.Backend(dds.Replay))
	return err == nil && a.Close() == nil
}

// A function that is aborted at every strip, and run again when that has arrived, sees
// every byte in the end, whatever it reads with.
func TestAttempt_aborted_at_every_strip(t *testing.T) {
	size := pages.Size()
	for name, access := range accesses {
		a, x := replays(t, 14)
		p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size+100, 7*size, 10*size, 13*size)
		require.True(t, p.Arm())
		aborted := 0
		for ; ; aborted++ {
			missing, err := dds.Attempt(func() { assert.True(t, access(x[size:13*size]), name) })
			if missing == nil {
				require.NoError(t, err)
				break
			}
			require.Less(t, aborted, 4, name)
			require.ErrorContains(t, err, "before it arrived")
			require.False(t, missing.Arrived())
			s := p.Strips()[missing.Strip]
			for i := s.From; i < s.To; i++ {
				dds.CommView(x)[i] = 9
			}
			p.Land(missing.Strip)
			require.True(t, missing.Arrived())
		}
		if name != "load" && name != "store" && name != "copy into" {
			assert.Equal(t, 4, aborted, name)
		}
		p.Doom()
		require.NoError(t, p.End())
	}
}

// Other panics are none of its business.
func TestAttempt_other_panics(t *testing.T) {
	assert.PanicsWithValue(t, "mine", func() { _, _ = dds.Attempt(func() { panic("mine") }) })
	assert.Panics(t, func() {
		var p *int
		_, _ = dds.Attempt(func() { *p = 1 })
	})
}

// A message is read as it arrives by a function that is run again and again.
func TestAttempt_message(t *testing.T) {
	if a, err := dds.NewArena(1, dds.Backend(dds.Replay)); err != nil {
		t.Skip(err)
	} else {
		require.NoError(t, a.Close())
	}
	pair(t, "bw=200Mbit,L=5us,progress=nic", 2<<20, []dds.Hint{dds.Strips(6)}, []dds.Option{dds.Backend(dds.Replay)}, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		x := make64(t, a, 1<<17)
		if c.Rank() == 0 {
			stamp(x, 1)
			tr, err := e.Send(mpi.Of(x), 1, 0)
			require.NoError(t, err)
			return tr.Wait()
		}
		tr, err := e.Recv(mpi.Of(x), 0, 0)
		require.NoError(t, err)
		for aborted := 0; ; aborted++ {
			missing, _ := dds.Attempt(func() { assert.Equal(t, -1, wrong(x, 1)) })
			if missing == nil {
				assert.NotZero(t, aborted)
				break
			}
			for !missing.Arrived() {
				e.Poll()
			}
		}
		assert.NotZero(t, a.Counts().Stalls)
		return tr.Wait()
	})
}
