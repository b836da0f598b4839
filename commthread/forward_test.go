package commthread_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// warned returns the warnings that the threads have written to standard error.
var warned struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

type warnWriter struct{}

func (warnWriter) Write(p []byte) (int, error) {
	warned.mu.Lock()
	defer warned.mu.Unlock()
	return warned.text.Write(p)
}

func takeWarnings() string {
	warned.mu.Lock()
	defer warned.mu.Unlock()
	defer warned.text.Reset()
	return warned.text.String()
}

func TestMain(m *testing.M) {
	commthread.SetWarnings(warnWriter{})
	os.Exit(m.Run())
}

// A task that blocks in a message on a worker works, and is named once per thread; one
// that does so on the thread is not.
func TestForward_warns_once(t *testing.T) {
	takeWarnings()
	swap := func(r rank, tag int, cl ...tasks.Clause) {
		x, y := tag, 0
		r.rt.Spawn(fmt.Sprintf("swap %d", tag), func(*tasks.Context) error {
			_, err := r.Sendrecv(mpi.One(&x), r.peer(), tag, mpi.One(&y), r.peer(), tag)
			return err
		}, cl...)
	}
	succeed(t, 2, setup{}, func(r rank) error {
		swap(r, 1, tasks.OnComm)
		return r.rt.Wait()
	})
	assert.Empty(t, takeWarnings())
	succeed(t, 2, setup{}, func(r rank) error {
		for tag := range 10 {
			swap(r, tag)
		}
		return r.rt.Wait()
	})
	text := takeWarnings()
	assert.LessOrEqual(t, strings.Count(text, "waits for messages inside its body"), 2, "one per rank")
	assert.Contains(t, text, `"swap `)
	assert.Contains(t, text, "OnComm")
}

// All calls of package mpi work on any goroutine while a thread runs, and on several at the
// same time.
func TestForward_any_goroutine(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			const n = 4
			errs := make([]error, n)
			var comms [n]*mpi.Comm
			for i := range comms {
				c, err := r.Dup()
				if err != nil {
					return err
				}
				comms[i] = c
			}
			var wg sync.WaitGroup
			for i, c := range comms[1:] {
				wg.Go(func() { errs[i+1] = exercise(c) })
			}
			errs[0] = exercise(comms[0])
			r.rt.Block(wg.Wait)
			for _, c := range comms {
				errs = append(errs, c.Free())
			}
			return errors.Join(append(errs, r.rt.Wait())...)
		})
	})
}

// exercise makes each kind of call on two ranks.
func exercise(c *mpi.Comm) error {
	peer := 1 - c.Rank()
	x, y, z := []int{c.Rank(), 5}, []int{-1, -1}, -1
	var errs []error
	note := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	in, out := c.RecvInit(mpi.Of(y), peer, 1), c.SendInit(mpi.Of(x), peer, 1)
	for range 3 {
		note("startall", mpi.Startall(in, out))
		note("waitall", mpi.Waitall(in, out))
	}
	a, b := c.Irecv(mpi.One(&z), peer, 2), c.Irecv(mpi.Of(y), peer, 3)
	note("send", c.Send(mpi.Of(x), peer, 3))
	i, _, err := mpi.Waitany(a, b)
	note("waitany", err)
	if i != 1 || y[0] != peer {
		errs = append(errs, fmt.Errorf("waitany returned %d, got %v", i, y))
	}
	note("cancel", a.Cancel())
	if _, err := a.Wait(); !errors.Is(err, mpi.ErrCancelled) {
		errs = append(errs, fmt.Errorf("a cancelled receive ended with %w", err))
	}
	sent := c.Isend(mpi.Of(x), peer, 4)
	st, err := c.Probe(mpi.AnySource, 4)
	note("probe", err)
	if st.Source != peer || st.Elements(mpi.Of(y)) != 2 {
		errs = append(errs, fmt.Errorf("probe found %+v", st))
	}
	m, err := c.Mprobe(peer, mpi.AnyTag)
	note("mprobe", err)
	if m != nil {
		_, err = m.Recv(mpi.Of(y))
		note("mrecv", err)
	}
	note("isend", mpi.Waitall(sent))
	_, found, err := c.Iprobe(peer, 99)
	note("iprobe", err)
	if found {
		errs = append(errs, errors.New("iprobe found what nobody sent"))
	}
	half, err := c.Split(c.Rank(), 0)
	note("split", err)
	if half == nil || half.Size() != 1 {
		return errors.Join(append(errs, errors.New("split"))...)
	}
	note("free", half.Free())
	return errors.Join(append(errs, exerciseWindow(c))...)
}

func exerciseWindow(c *mpi.Comm) error {
	peer, mem, x, sum := 1-c.Rank(), make([]int, 4), 7+c.Rank(), 0
	w, err := c.NewWin(mpi.Of(mem))
	if err != nil {
		return err
	}
	err = errors.Join(w.PutNotify(mpi.One(&x), peer, 1, 3), w.PutTileNotify(mpi.Of([]int{x, x + 1}), peer, 0, 1, 3, 3), w.AwaitNotify(3, 2), w.Lock(peer, true),
		w.Accumulate(mpi.One(&x), mpi.Sum, peer, 2), w.Unlock(peer), w.Fence())
	if err == nil && !slices.Equal(mem, []int{7 + peer, 7 + peer, 7 + peer, 8 + peer}) {
		err = fmt.Errorf("the window holds %v", mem)
	}
	return errors.Join(err, c.Allreduce(mpi.One(&x), mpi.One(&sum), mpi.Sum), w.Free(), c.Barrier())
}

// After Stop the communicator is used directly again, also by goroutines that the
// thread served before, and another thread can be started.
func TestForward_after_stop(t *testing.T) {
	withWorld(t, 2, func(c *mpi.Comm) error {
		return dataflow.Run(func(rt *dataflow.Runtime) error {
			for range 3 {
				ct, err := commthread.Start(c, rt)
				if err != nil {
					return err
				}
				x, y := c.Rank(), -1
				ct.Send(rt, c, mpi.One(&x), 1-c.Rank(), 0)
				if _, err := c.Recv(mpi.One(&y), 1-c.Rank(), 0); err != nil {
					return err
				}
				if err := errors.Join(ct.Stop(), ct.Stop()); err != nil {
					return err
				}
				if err := errors.Join(commthread.Audit(ct), c.Barrier()); err != nil || y != 1-c.Rank() {
					return fmt.Errorf("got %d: %w", y, err)
				}
				ct.Send(rt, c, mpi.One(&x), 1-c.Rank(), 0)
				assert.ErrorContains(t, rt.Wait(), "the runtime has none")
				assert.NoError(t, ct.Stop())
			}
			return nil
		}, dataflow.Workers(1))
	})
}

// A Start that fails changes nothing.
func TestForward_start_refuses(t *testing.T) {
	withWorld(t, 1, func(c *mpi.Comm) error {
		return dataflow.Run(func(rt *dataflow.Runtime) error {
			before := (*engine.Comm)(c).Engine()
			for _, o := range []commthread.Option{commthread.Window(0), commthread.Place(9), commthread.Poll(-1)} {
				_, err := commthread.Start(c, rt, o)
				assert.ErrorContains(t, err, "commthread: ")
			}
			_, err := commthread.Start(nil, rt)
			assert.ErrorContains(t, err, "nil")
			_, err = commthread.Start(c, nil)
			assert.ErrorContains(t, err, "nil")
			ct, err := commthread.Start(c, rt)
			require.NoError(t, err)
			assert.ErrorContains(t, ct.Use(nil), "nil")
			assert.NoError(t, ct.Use(c))
			_, err = commthread.Start(c, rt)
			assert.ErrorContains(t, err, "already")
			assert.ErrorIs(t, (*engine.Comm)(c).Engine().Finalize(), mpi.ErrState)
			rt.Spawn("stops", func(*tasks.Context) error { return ct.Stop() })
			assert.ErrorContains(t, rt.Wait(), "would wait for itself")
			assert.NoError(t, ct.Stop())
			assert.Equal(t, before, (*engine.Comm)(c).Engine())
			assert.NoError(t, rt.Close())
			_, err = commthread.Start(c, rt)
			assert.ErrorIs(t, err, dataflow.ErrClosed)
			assert.Equal(t, before, (*engine.Comm)(c).Engine())
			return nil
		}, dataflow.Workers(1))
	})
}

// Stop waits for the pending calls of other goroutines.
func TestForward_stop_waits_for_calls(t *testing.T) {
	succeed(t, 2, setup{}, func(r rank) error {
		got := make(chan error, 1)
		x, y := 1, 0
		started := make(chan struct{})
		go func() {
			q := r.Irecv(mpi.One(&y), r.peer(), 5)
			close(started)
			_, err := q.Wait()
			got <- err
		}()
		<-started
		r.ct.Send(r.rt, r.Comm, mpi.One(&x), r.peer(), 5)
		if err := r.ct.Stop(); err != nil {
			return err
		}
		return <-got
	})
}

// stays is an engine that starts calls and waits for them in one step; it notes for how long.
type stays struct {
	engine.Engine
	mu  sync.Mutex
	all []time.Duration
}

func (s *stays) Unwrap() engine.Engine { return s.Engine }

func (s *stays) PostWait(calls []*engine.Call, d time.Duration) {
	s.mu.Lock()
	s.all = append(s.all, d)
	s.mu.Unlock()
	s.Engine.Post(calls)
}

// A goroutine that may call the engine makes an exchange in one step of it, which is short;
// exchanges of other goroutines are handed over.
func TestForward_exchange_in_one_step(t *testing.T) {
	for name, c := range map[string]struct {
		spawn func(r rank, body func(*tasks.Context) error)
		stays bool
	}{
		"body": {func(r rank, body func(*tasks.Context) error) {
			r.rt.Spawn("body", func(ctx *tasks.Context) error { return body(ctx) }, tasks.OnComm)
		}, true},
		"task": {func(r rank, body func(*tasks.Context) error) {
			r.rt.Spawn("task", func(ctx *tasks.Context) error { return body(ctx) })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var engines [2]*stays
			s := setup{before: func(c *mpi.Comm) func() error {
				return (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine {
					engines[c.Rank()] = &stays{Engine: next}
					return engines[c.Rank()]
				})
			}}
			succeed(t, 2, s, func(r rank) error {
				before := len(engines[r.Rank()].all)
				x, y := r.Rank(), -1
				c.spawn(r, func(*tasks.Context) error {
					_, err := r.Sendrecv(mpi.One(&x), r.peer(), 0, mpi.One(&y), r.peer(), 0)
					return err
				})
				err := r.rt.Wait()
				assert.Equal(t, r.peer(), y)
				all := engines[r.Rank()].all[before:]
				assert.Equal(t, c.stays, len(all) == 1, "%v", all)
				for _, d := range all {
					assert.LessOrEqual(t, d, 20*time.Microsecond)
				}
				return err
			})
		})
	}
}
