package advise

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// watched runs a ring shift of big messages in mpi.Alloc buffers under a PageWatch; touch says
// whether each is read between the two calls.
func watched(t *testing.T, touch bool) *Run {
	t.Helper()
	o := &Options{File: filepath.Join(t.TempDir(), "r"), Watch: NewPageWatch(), Rehearse: -1, apart: 1 << 60}
	var sum byte
	require.NoError(t, local.Run(1, Wrap(o, func(c *mpi.Comm) error {
		const n = 1 << 16
		out, one, two := mpi.Alloc[byte](n), mpi.Alloc[byte](n), mpi.Alloc[byte](n)
		for i := range out {
			out[i] = byte(i % 251)
		}
		for range steps {
			if _, err := c.Sendrecv(mpi.Of(out), 0, 0, mpi.Of(one), 0, 0); err != nil {
				return err
			}
			if touch {
				sum += one[n/2]
			}
			if _, err := c.Sendrecv(mpi.Of(out), 0, 1, mpi.Of(two), 0, 1); err != nil {
				return err
			}
			for end := osthread.Nanotime() + 2_000_000; osthread.Nanotime() < end; { // the slack
				osthread.Relax()
			}
			sum += two[n/2]
			assert.Equal(t, out, one)
			assert.Equal(t, out, two)
		}
		for _, b := range [][]byte{out, one, two} {
			if err := mpi.Free(b); err != nil {
				return err
			}
		}
		return nil
	})))
	r, err := ReadFile(o.File)
	require.NoError(t, err)
	if !strings.HasSuffix(r.Watched, "are seen") {
		t.Skip(r.Watched)
	}
	return r
}

// A chain in mpi.Alloc buffers ends at the first touch of its received data, which also
// gives its slack; calls without a touch in between form one chain.
func TestPageWatch(t *testing.T) {
	r := watched(t, false)
	require.Len(t, r.Chains, 1)
	assert.Len(t, r.Chains[0].Sites, 2)
	require.Positive(t, r.Chains[0].Slack.N)
	assert.Greater(t, r.Chains[0].Slack.Mean, 1.9e-3)
	r = watched(t, true)
	require.Len(t, r.Chains, 2)
	for _, c := range r.Chains {
		assert.Len(t, c.Sites, 1)
		assert.Contains(t, c.Ends[0].Reason, "first touch")
	}
}

// Without buffers of mpi.Alloc the file says so.
func TestPageWatch_heap(t *testing.T) {
	o := &Options{File: filepath.Join(t.TempDir(), "r"), Watch: NewPageWatch(), Rehearse: -1}
	require.NoError(t, local.Run(1, Wrap(o, func(c *mpi.Comm) error {
		_, err := c.Sendrecv(mpi.Of([]byte{1}), 0, 0, mpi.Of(make([]byte, 1)), 0, 0)
		return err
	})))
	r, err := ReadFile(o.File)
	require.NoError(t, err)
	assert.Contains(t, r.Watched, "no buffers of mpi.Alloc")
	assert.Positive(t, r.HeapBuffers)
}
