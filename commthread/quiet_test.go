package commthread

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// stands counts how often its user stands still.
type stands struct {
	engine.Engine
	n atomic.Int64
}

func (s *stands) Unwrap() engine.Engine { return s.Engine }

func (s *stands) StandStill(func() bool) { s.n.Add(1) }

// A call completes between the runtime's look and its call of Quiet, which then has no effect:
// the tasks behind the completed call run, and may send.
func TestQuiet_a_call_completes_before_the_word(t *testing.T) {
	for name, receive := range map[string]func(rt *dataflow.Runtime, ct *Thread, c *mpi.Comm, x *int) error{
		"of a task": func(rt *dataflow.Runtime, ct *Thread, c *mpi.Comm, x *int) error {
			ct.Recv(rt, c, mpi.One(x), 1, 5)
			return rt.WaitOn(x)
		},
		"of another goroutine": func(_ *dataflow.Runtime, _ *Thread, c *mpi.Comm, x *int) error {
			_, err := c.Recv(mpi.One(x), 1, 5)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
				e := &stands{}
				restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { e.Engine = next; return e })
				defer func() { assert.NoError(t, restore()) }()
				return Run(c, func(rt *dataflow.Runtime, ct *Thread) error {
					x := 7
					if c.Rank() == 1 {
						if _, err := c.Recv(mpi.One(new(int)), 0, 4); err != nil {
							return err
						}
						return c.Send(mpi.One(&x), 0, 5)
					}
					runtime := (*taskExecutor)(ct)
					seen := runtime.Advances()
					if err := c.Send(mpi.One(&x), 1, 4); err != nil {
						return err
					}
					if err := receive(rt, ct, c, &x); err != nil {
						return err
					}
					onThread(ct, func() {
						rests := func(quiet uint64) int64 { // as the loop does
							runtime.Quiet(quiet)
							ct.turn()
							ct.idle.busy()
							ct.idleStep()
							return e.n.Load()
						}
						assert.Zero(t, rests(seen))
						now := runtime.Advances()
						assert.EqualValues(t, 1, rests(now))
						assert.EqualValues(t, 2, rests(now), "being told again is no advance")
					})
					return nil
				}, nil)
			}))
		})
	}
}

// A worker has the engine when the runtime says that it does nothing: the thread, which sleeps, gets it and
// stands still.
func TestQuiet_while_a_worker_polls(t *testing.T) {
	require.NoError(t, local.Run(1, func(c *mpi.Comm) error {
		e := &stands{}
		restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { e.Engine = next; return e })
		defer func() { assert.NoError(t, restore()) }()
		return Run(c, func(rt *dataflow.Runtime, ct *Thread) error {
			worker := (*taskExecutor)(ct)
			for !ct.lease.take() { // once the thread sleeps
				osthread.Sleep(time.Millisecond)
			}
			ct.borrowed()
			worker.Quiet(worker.Advances())
			assert.False(t, worker.Turn(true))
			for late := time.Now().Add(10 * time.Second); e.n.Load() == 0 && time.Now().Before(late); {
				osthread.Sleep(time.Millisecond)
			}
			assert.NotZero(t, e.n.Load())
			return nil
		}, nil)
	}))
}

// onThread calls f between two steps of the thread.
func onThread(t *Thread, f func()) {
	over := make(chan struct{})
	t.submit(func() { f(); close(over) })
	<-over
}
