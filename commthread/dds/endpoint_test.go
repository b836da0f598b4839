package dds_test

import (
	"errors"
	"math"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// Every back end gives the same bytes and statuses.
func TestBackends_agree(t *testing.T) {
	lengths := []int{0, 1, 5000, 8192, 8193, 1 << 18, 1<<20 + 5}
	run := func(name string) (got [][]byte, statuses []mpi.Status) {
		pair(t, "10gige", 2<<20, []dds.Hint{dds.Strips(6)}, []dds.Option{dds.Backend(name)}, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
			for i, n := range lengths {
				x, err := dds.Make[byte](a, n+100)
				require.NoError(t, err)
				if c.Rank() == 0 {
					for j := range x {
						x[j] = byte(j*13 + i)
					}
					tr, err := e.Send(mpi.Of(x[7:n+7]), 1, i)
					require.NoError(t, err)
					require.NoError(t, tr.Wait())
				} else {
					tr, err := e.Recv(mpi.Of(x[11:]), mpi.AnySource, mpi.AnyTag)
					require.NoError(t, err)
					got = append(got, append([]byte{}, x...))
					statuses = append(statuses, tr.Status())
					require.NoError(t, tr.Wait())
				}
				require.NoError(t, dds.Free(a, x))
			}
			return nil
		})
		return got, statuses
	}
	want, sts := run(dds.Explicit)
	require.Equal(t, byte(6*3+6), byte(want[6][11+6-6]-7*13+18), "the pattern starts at 7")
	for i, st := range sts {
		assert.Equal(t, mpi.Status{Source: 0, Tag: i, Bytes: lengths[i]}, st)
	}
	got, st := run(dds.Auto)
	assert.Equal(t, want, got)
	assert.Equal(t, sts, st)
}

// Buffers with gaps and outside of arenas are sent and received in full.
func TestTransfer_other_memory(t *testing.T) {
	pair(t, "10gige", 1<<20, []dds.Hint{dds.Strips(4)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		const rows, cols, ld = 300, 200, 310
		heap := make([]float64, ld*cols)
		x, err := dds.Make[float64](a, ld*cols)
		require.NoError(t, err)
		if c.Rank() == 0 {
			for i := range x {
				x[i] = float64(i)
				heap[i] = float64(i)
			}
			for _, b := range []mpi.Buffer{mpi.Tile(x, rows, cols, ld), mpi.Of(heap), mpi.Tile(heap, rows, cols, ld)} {
				tr, err := e.Send(b, 1, 0)
				require.NoError(t, err)
				require.NoError(t, tr.Wait())
			}
			tr, err := e.Send(mpi.Of(x), mpi.ProcNull, 0)
			require.NoError(t, err)
			return tr.Wait()
		}
		for _, b := range []mpi.Buffer{mpi.Tile(heap, rows, cols, ld), mpi.Of(x), mpi.Tile(x, rows, cols, ld)} {
			clear(heap)
			tr, err := e.Recv(b, 0, 0)
			require.NoError(t, err)
			require.NoError(t, tr.Wait())
		}
		for i := range x {
			if x[i] != float64(i) {
				t.Errorf("element %d is %v", i, x[i])
				break
			}
		}
		tr, err := e.Recv(mpi.Of(x), mpi.ProcNull, 0)
		require.NoError(t, err)
		assert.Equal(t, mpi.ProcNull, tr.Status().Source)
		return tr.Wait()
	})
}

// A message that does not fit is an error of the receiver, and no other memory is written.
func TestTransfer_truncated(t *testing.T) {
	for _, n := range []int{100, 1 << 19} {
		pair(t, "10gige", 2<<20, []dds.Hint{dds.Strips(4)}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
			x, err := dds.Make[byte](a, n)
			require.NoError(t, err)
			if c.Rank() == 0 {
				tr, err := e.Send(mpi.Of(x), 1, 0)
				require.NoError(t, err)
				require.NoError(t, tr.Wait())
				return nil
			}
			x[n-1] = 5
			_, err = e.Recv(mpi.Of(x[:n-1]), 0, 0)
			require.ErrorIs(t, err, mpi.ErrTruncate)
			assert.Equal(t, byte(5), x[n-1])
			return nil
		})
	}
}

// A sender that dies at any point leaves an error and open pages.
func TestSender_dies(t *testing.T) {
	for _, net := range []string{"gige", "gige,progress=nic"} {
		n, err := local.ParseNet(net)
		require.NoError(t, err)
		killed := errors.New("that was it")
		err = local.Run(2, func(c *mpi.Comm) error {
			a, err := dds.NewArena(4 << 20)
			require.NoError(t, err)
			e, err := dds.Open(c, dds.Strips(8))
			require.NoError(t, err)
			x := make64(t, a, 1<<18)
			if c.Rank() == 0 {
				_, err := c.Recv(mpi.Of(make([]byte, 1)), 1, 0) // the message has come this far
				require.NoError(t, err)
				_, err = e.Isend(mpi.Of(x), 1, 0)
				require.NoError(t, err)
				return killed
			}
			require.NoError(t, c.Send(mpi.Of(make([]byte, 1)), 0, 0))
			tr, err := e.Recv(mpi.Of(x), 0, 0)
			if err == nil {
				sum := uint64(0)
				for _, v := range x { // ends, with or without the bytes
					sum += v
				}
				err = tr.Wait()
			}
			if err != nil {
				assert.ErrorIs(t, err, mpi.ErrPeerGone)
			}
			runtime.KeepAlive(x)
			return a.Close()
		}, local.Network(n))
		require.ErrorIs(t, err, killed)
	}
}

// Abandoning an endpoint frees a reader that waits in a fault.
func TestAbandon_during_a_fault(t *testing.T) {
	needUffd(t)
	pair(t, "bw=10Mbit,L=5us", 1<<20, []dds.Hint{dds.Strips(6), dds.Fixed(dds.Constants{})}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		x := make64(t, a, 1<<16)
		if c.Rank() == 0 {
			tr, err := e.Send(mpi.Of(x), 1, 0)
			if err == nil {
				err = tr.Wait()
			}
			_ = err       // nil, or revoked: a race
			_ = e.Close() // revoked by now, or not yet
			return nil
		}
		tr, err := e.Recv(mpi.Of(x), 0, 0)
		require.NoError(t, err)
		var reader sync.WaitGroup
		reader.Go(func() {
			for _, v := range x {
				if v == math.MaxUint64 {
					return
				}
			}
		})
		require.Eventually(t, func() bool { return a.Counts().Faults > 0 }, patience, 1000)
		_ = e.Abandon(errors.New("no more")) // it returns the errors of tr
		soon(t, "the reader", reader.Wait)
		assert.True(t, tr.Done())
		if err := tr.Err(); err != nil {
			assert.ErrorIs(t, err, mpi.ErrRevoked)
		}
		_, err = e.Recv(mpi.Of(x), 0, 0)
		assert.ErrorContains(t, err, "closed endpoint")
		return nil
	})
}

// Messages of a train are not decomposed; with the hint its last ones are not armed either,
// and are retired with the one before.
func TestTrain(t *testing.T) {
	needUffd(t)
	const length = 1 << 16
	k := dds.Constants{Gap: 8, Fault: 1000}
	for _, piggyback := range []bool{false, true} {
		hints := []dds.Hint{dds.Fixed(k)}
		if piggyback {
			hints = append(hints, dds.PiggybackAfter(2), dds.Order(dds.Up))
		}
		pair(t, "bw=100Mbit,L=5us", 4<<20, hints, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
			var all []*dds.Transfer
			var xs [][]uint64
			for i := range 4 {
				x := make64(t, a, length)
				xs = append(xs, x)
				stamp(x, uint64(i+100*c.Rank()))
				var tr *dds.Transfer
				var err error
				if c.Rank() == 0 {
					tr, err = e.Isend(mpi.Of(x), 1, i)
				} else {
					tr, err = e.Recv(mpi.Of(x), 0, i)
				}
				require.NoError(t, err)
				all = append(all, tr)
			}
			if c.Rank() == 0 {
				return e.RetireAll()
			}
			armed := 0
			for i, tr := range all {
				if i > 0 {
					assert.Len(t, tr.Strips(), 1, "message %d", i)
				} else {
					assert.Greater(t, len(tr.Strips()), 1)
				}
				if len(tr.Strips()) == 1 && tr.Strips()[0].Armed {
					armed++
				}
			}
			if !piggyback {
				assert.NotZero(t, armed)
			}
			for i, x := range xs {
				assert.Equal(t, -1, wrong(x, uint64(i)), "message %d", i)
				assert.Zero(t, all[i].Missing(), "message %d: its reader waits, armed or not", i)
			}
			require.NoError(t, e.RetireAll())
			assert.Zero(t, e.Outstanding())
			return nil
		})
	}
}

// Other messages in place of headers are refused.
func TestRecv_no_header(t *testing.T) {
	pair(t, "none", 1<<16, nil, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		_, err := e.Recv(mpi.Tile([]int{1}, 2, 2, 2), 0, 0)
		require.Error(t, err)
		_, err = e.Send(mpi.Tile([]int{1}, 2, 2, 2), 0, 0)
		require.Error(t, err)
		_, err = e.Recv(mpi.Of(make([]int, 1)), 99, 0)
		require.ErrorIs(t, err, mpi.ErrRank)
		return nil
	})
}

// A message that could not be sent keeps its content.
func TestIsend_that_fails_keeps_its_bytes(t *testing.T) {
	for _, backend := range []string{dds.Explicit, dds.Uffd} {
		if backend == dds.Uffd && !onPages(t) {
			continue
		}
		failed := errors.New("no more")
		n, err := local.ParseNet("bw=10Mbit,L=5us")
		require.NoError(t, err)
		require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
			a, err := dds.NewArena(1<<20, dds.Backend(backend))
			require.NoError(t, err)
			e, err := dds.Open(c, dds.Strips(8))
			require.NoError(t, err)
			require.NoError(t, c.Barrier())
			x := make64(t, a, 1<<14)
			if c.Rank() == 0 {
				stamp(x, 5)
				tr, err := e.Isend(mpi.Of(x), 1, 0)
				require.NoError(t, err)
				_ = e.Abandon(failed)
				for range 2 {
					require.ErrorIs(t, tr.Err(), mpi.ErrRevoked, backend)
				}
				assert.Equal(t, -1, wrong(x, 5), backend)
			} else {
				tr, err := e.Recv(mpi.Of(x), 0, 0)
				if err == nil {
					err = tr.Wait()
				}
				require.ErrorIs(t, err, mpi.ErrRevoked, backend)
				_ = e.Abandon(failed)
			}
			require.NoError(t, c.Barrier())
			return a.Close()
		}, local.Network(n)))
	}
}

// Starting processes while strips are armed changes nothing, here or there.
func TestChildren_during_a_transfer(t *testing.T) {
	needUffd(t)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	pair(t, "bw=100Mbit,L=5us", 1<<20, []dds.Hint{dds.Strips(8), dds.Fixed(dds.Constants{}), dds.Force()}, nil, func(c *mpi.Comm, e *dds.Endpoint, a *dds.Arena) error {
		x := make64(t, a, 1<<16)
		if c.Rank() == 0 {
			stamp(x, 3)
			tr, err := e.Send(mpi.Of(x), 1, 0)
			return errors.Join(err, tr.Wait())
		}
		tr, err := e.Recv(mpi.Of(x), 0, 0)
		require.NoError(t, err)
		var reader sync.WaitGroup
		reader.Go(func() { assert.Equal(t, -1, wrong(x, 3)) })
		require.Eventually(t, func() bool { return a.Counts().Stalls > 0 }, patience, time.Microsecond)
		for range 4 {
			assert.NoError(t, exec.Command(shell, "-c", "sh -c : & wait").Run())
		}
		soon(t, "the reader", reader.Wait)
		return tr.Wait()
	})
}
