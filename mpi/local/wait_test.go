package local

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

func TestTimers(t *testing.T) {
	var q timers
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 500 {
		q.push(notification{due: int64(r.IntN(50)), bytes: int64(i)})
	}
	last := notification{due: -1}
	for range 500 {
		require.Equal(t, q.heap[0].due, q.next())
		l := q.pop()
		require.True(t, l.due > last.due || l.due == last.due && l.bytes > last.bytes, "%v after %v", l, last)
		last = l
	}
	assert.EqualValues(t, forever, q.next())
}

// Two ranks play ping-pong at intervals around the spin time: no wake-up is lost, for
// messages over rings and for eager and rendezvous ones.
func TestWakeups(t *testing.T) {
	for _, size := range []int{8, 2000, 40_000, 300_000} {
		err := guarded(t, func() error {
			w, err := New(2)
			if err != nil {
				return err
			}
			w.spin = 2 * time.Microsecond
			done := make(chan error, 2)
			for r := range 2 {
				go func() {
					done <- func() error {
						c, x, dice := w.Comm(r), make([]byte, size), rand.New(rand.NewPCG(uint64(r), 1))
						for i := range 600 {
							if i%2 == r {
								for until := osthread.Nanotime() + dice.Int64N(40_000); osthread.Nanotime() < until; {
									osthread.Relax()
								}
								if err := c.Send(mpi.Of(x), 1-r, 0); err != nil {
									return err
								}
							} else if _, err := c.Recv(mpi.Of(x), 1-r, 0); err != nil {
								return err
							}
						}
						return nil
					}()
				}()
			}
			if err := <-done; err != nil {
				return err
			}
			if err := <-done; err != nil {
				return err
			}
			return w.Close()
		})
		require.NoError(t, err)
	}
}

// A waiting rank sleeps: it does not use a core.
func TestWaiting_sleeps(t *testing.T) {
	if osthread.ProcessCPUTime() == 0 {
		t.Skip("this system does not tell the time a process has used")
	}
	w, err := New(2)
	require.NoError(t, err)
	whileRank1Waits(t, w, func() {
		require.Eventually(t, w.ends[1].parker.Asleep, 10*time.Second, time.Millisecond)
	})
}

// whileRank1Waits calls f while rank 1 receives, then sends what it waits for, and closes w.
func whileRank1Waits(t *testing.T, w *World, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		_, err := w.Comm(1).Recv(mpi.Buffer{}, 0, 0)
		done <- err
	}()
	f()
	require.NoError(t, w.Comm(0).Send(mpi.Buffer{}, 1, 0))
	require.NoError(t, <-done)
	require.NoError(t, w.Close())
}

// A rank that waits spins for the time that it was told before it sleeps.
func TestWaiting_spins_first(t *testing.T) {
	w, err := New(2)
	require.NoError(t, err)
	w.spin = time.Minute
	w.ends[1].spinStart = -1 << 62 // of a wait long ago
	whileRank1Waits(t, w, func() {
		for until := time.Now().Add(10 * time.Millisecond); time.Now().Before(until); runtime.Gosched() {
			require.False(t, w.ends[1].asleep.Load())
		}
	})
}

// A rank that stands still sleeps until it is over.
func TestStandStill_sleeps(t *testing.T) {
	w, err := New(1)
	require.NoError(t, err)
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		w.ends[0].StandStill(over.Load)
		close(done)
	}()
	assert.Eventually(t, w.ends[0].parker.Asleep, 10*time.Second, time.Millisecond)
	over.Store(true)
	<-done
	require.NoError(t, w.Close())
}

// On a network with delays an owner that has armed its engine is told of a notification that
// is due before it would wake up by itself, also if it never slept before.
func TestArm_of_a_timed_network(t *testing.T) {
	w, err := New(2, Network(fast))
	require.NoError(t, err)
	told := make(chan struct{}, 1)
	due, ok := w.ends[1].Arm(func(begins time.Duration) {
		assert.Equal(t, engine.Never, begins)
		told <- struct{}{}
	})
	require.True(t, ok)
	require.Equal(t, engine.Due{Next: engine.Never, Begins: engine.Never}, due)
	w.ends[1].notify(notification{kind: notifyWake, due: w.clock() + int64(time.Millisecond)})
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		require.Fail(t, "nobody told")
	}
	w.ends[1].Disarm()
	require.NoError(t, w.Close())
}

// An owner that has armed its engine is told from when a handshake can begin a transfer: at once if the
// link is idle, otherwise when it will be.
func TestArm_tells_when_a_transfer_begins(t *testing.T) {
	w, err := New(2, Network(Net{Latency: time.Millisecond, Bandwidth: 1e9}))
	require.NoError(t, err)
	from, to := w.ends[0], w.ends[1]
	x := &transfer{from: from, to: to, n: 1 << 20}
	due := w.clock() + int64(time.Hour)
	busy := due + int64(time.Hour)
	cases := []struct {
		name  string
		at    *endpoint
		kind  notificationKind
		link  *direction
		early time.Duration // it begins before the link is idle
	}{
		{"request to send", to, notifyRTS, &to.link.ingress, 2 * time.Millisecond},
		{"clear to send", from, notifyCTS, &from.link.egress, 0},
		{"credit", from, notifyCredit, &from.link.egress, 0},
		{"segment", to, notifySegment, nil, 0},
	}
	for _, c := range cases {
		n := &notification{kind: c.kind, due: due, transfer: x}
		if c.link == nil {
			assert.EqualValues(t, forever, c.at.begins(n), c.name)
			continue
		}
		assert.Equal(t, due, c.at.begins(n), c.name)
		c.link.busyUntil = busy
		assert.Equal(t, busy-int64(c.early), c.at.begins(n), c.name)
		c.link.busyUntil = 0
	}

	told := make(chan time.Duration, 1)
	_, ok := to.Arm(func(begins time.Duration) { told <- begins })
	require.True(t, ok)
	to.notify(notification{kind: notifyRTS, due: w.clock() + int64(time.Minute), transfer: x})
	assert.InDelta(t, time.Minute, <-told, float64(10*time.Second))
	to.inbox.takeAll(nil)
	to.timers.push(notification{kind: notifySegment, due: w.clock() + int64(time.Minute), transfer: x})
	to.timers.push(notification{kind: notifyRTS, due: w.clock() + int64(time.Hour), transfer: x})
	armed, ok := to.Arm(func(time.Duration) {})
	require.True(t, ok)
	to.Disarm()
	assert.InDelta(t, time.Minute, armed.Next, float64(10*time.Second))
	assert.InDelta(t, time.Hour, armed.Begins, float64(10*time.Second))
	to.timers.heap = nil
	require.NoError(t, w.Close())
}

func TestSleep(t *testing.T) {
	w, err := New(2)
	require.NoError(t, err)
	e := w.ends[0]
	start := time.Now()
	e.Sleep(2 * time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(start), 2*time.Millisecond, "nothing came")
	require.NoError(t, guarded(t, func() error {
		e.Wake()
		e.Wake()
		e.Sleep(time.Hour) // the Wake before
		go e.Wake()
		e.Sleep(time.Hour) // the Wake meanwhile
		for _, n := range []int{8, 5000, 100_000} {
			r := w.Comm(1).Isend(mpi.Of(make([]byte, n)), 0, 0)
			e.Sleep(time.Hour) // something is there
			if _, err := w.Comm(0).Recv(mpi.Of(make([]byte, n)), 1, 0); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, w.Close())
}

func TestCancel(t *testing.T) {
	every(t, 1, func(c *mpi.Comm) error {
		r := c.Irecv(mpi.Of(make([]byte, 8)), 0, 1)
		assert.NoError(t, r.Cancel())
		_, err := r.Wait()
		assert.ErrorIs(t, err, mpi.ErrCancelled)
		r = c.Irecv(mpi.Of(make([]byte, 8)), mpi.AnySource, 1)
		assert.NoError(t, c.Send(mpi.Of(make([]byte, 0)), 0, 1))
		assert.NoError(t, r.Cancel(), "too late")
		_, err = r.Wait()
		assert.NoError(t, err)
		return nil
	})
}

func TestNew_refuses(t *testing.T) {
	for _, f := range []func() (*World, error){
		func() (*World, error) { return New(0) },
		func() (*World, error) { return New(2, Eager(-1)) },
		func() (*World, error) { return New(2, Network(Net{Latency: -1})) },
		func() (*World, error) { return New(2, Inject(Faults{Delay: -1})) },
	} {
		_, err := f()
		assert.ErrorContains(t, err, "mpi/local: ")
	}
}

// Everything is given back: goroutines and GOMAXPROCS.
func TestRun_leaves_nothing_behind(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for range 3 {
		require.NoError(t, Run(5, func(c *mpi.Comm) error {
			assert.Greater(t, runtime.GOMAXPROCS(0), 5)
			return c.Barrier()
		}, Network(fast)))
	}
	assert.Equal(t, procs, runtime.GOMAXPROCS(0))
	require.Eventually(t, func() bool {
		buf := make([]byte, 1<<20)
		return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "local.(*World)")
	}, 10*time.Second, time.Millisecond)
}
