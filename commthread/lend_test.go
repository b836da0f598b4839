package commthread_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// spacious skips a test where two ranks of one worker do not have a core each.
func spacious(t *testing.T) {
	t.Helper()
	if osthread.Usable().Count() < 2 {
		t.Skip("needs two cores")
	}
}

var (
	lending = setup{cts: []commthread.Option{commthread.Place(commthread.Shared)}}
	keeping = setup{cts: []commthread.Option{commthread.Place(commthread.Shared), commthread.Lease(false)}}
)

// watched counts the polls of one goroutine.
type watched struct {
	engine.Engine
	by    *atomic.Uintptr
	polls *atomic.Int64
}

func (w *watched) Unwrap() engine.Engine { return w.Engine }

func (w *watched) Poll() int {
	if osthread.G() == w.by.Load() {
		w.polls.Add(1)
	}
	return w.Engine.Poll()
}

// A worker that waits for a message polls for it (the test hangs if it does not); without the
// lease it never polls.
func TestLend_a_worker_without_work_polls(t *testing.T) {
	spacious(t)
	const enough = 1000
	assert.GreaterOrEqual(t, pollsOfWaiter(t, lending, enough), int64(enough))
	assert.Zero(t, pollsOfWaiter(t, keeping, 0))
}

// pollsOfWaiter returns how often the worker of rank 0 has polled while it waited for a
// message of rank 1, which sends after 20 ms and enough polls.
func pollsOfWaiter(t *testing.T, s setup, enough int64) int64 {
	hangs(t)
	var me atomic.Uintptr
	var polls atomic.Int64
	s.before = func(c *mpi.Comm) func() error {
		return (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { return &watched{Engine: next, by: &me, polls: &polls} })
	}
	errs := run(t, 2, s, func(r rank) error {
		x := r.Rank()
		if r.Rank() == 1 {
			for i := 0; i < 20 || polls.Load() < enough; i++ {
				time.Sleep(time.Millisecond)
			}
			r.ct.Send(r.rt, r.Comm, mpi.One(&x), 0, 1)
			return r.rt.Wait()
		}
		me.Store(osthread.G())
		r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 1, 1)
		err := r.rt.Wait()
		assert.Equal(t, 1, x)
		return err
	})
	require.NoError(t, errors.Join(errs...))
	return polls.Load()
}

// postCounter counts the posts of one goroutine.
type postCounter struct {
	engine.Engine
	by    *atomic.Uintptr
	posts *atomic.Int64
}

func (p *postCounter) Unwrap() engine.Engine { return p.Engine }

func (p *postCounter) Post(calls []*engine.Call) {
	if osthread.G() == p.by.Load() {
		p.posts.Add(1)
	}
	p.Engine.Post(calls)
}

// A call of the submitting goroutine is posted when it returns, by itself, where the engine is free; without
// the lease, and for another goroutine, the thread posts it.
func TestLend_calls_of_the_submitting_goroutine(t *testing.T) {
	spacious(t)
	assert.Positive(t, postsOfCaller(t, lending, false))
	assert.Zero(t, postsOfCaller(t, lending, true))
	assert.Zero(t, postsOfCaller(t, keeping, false))
}

// A user's operation that panics ends the call with an error on whichever goroutine it ran, and the engine is
// given back: Stop returns.
func TestLend_an_operation_that_panics(t *testing.T) {
	for _, s := range []setup{lending, keeping} {
		hangs(t)
		errs := run(t, 2, s, func(r rank) error {
			op, err := mpi.NewOp("lookup", true, func(_, _ []int64) { panic("no such entry") })
			if err != nil {
				return err
			}
			x := int64(1)
			return r.Allreduce(mpi.InPlace, mpi.One(&x), op)
		})
		assert.ErrorIs(t, errors.Join(errs...), mpi.ErrOp) // it revokes the communicator, perhaps before the other rank is there
		for _, err := range errs {
			assert.ErrorContains(t, err, "no such entry")
		}
	}
}

// postsOfCaller returns how many of 50 sends of rank 0 the goroutine that started them has posted before
// Isend returned: the submitting one, or another.
func postsOfCaller(t *testing.T, s setup, other bool) (posted int) {
	hangs(t)
	const rounds = 50
	var me atomic.Uintptr
	var posts atomic.Int64
	s.before = func(c *mpi.Comm) func() error {
		return (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine {
			if c.Rank() != 0 {
				return next
			}
			return &postCounter{Engine: next, by: &me, posts: &posts}
		})
	}
	errs := run(t, 2, s, func(r rank) (err error) {
		messages := func() {
			for i := 0; i < rounds && err == nil; i++ {
				x, y := i, -1
				if r.Rank() == 1 {
					err = recv(r.Comm, &y, 0, 1)
					assert.Equal(t, i, y)
					continue
				}
				time.Sleep(time.Millisecond) // the thread goes to sleep
				me.Store(osthread.G())
				before := posts.Load()
				q := r.Isend(mpi.One(&x), 1, 1)
				if posts.Load() > before {
					posted++
				}
				me.Store(0)
				_, err = q.Wait()
			}
		}
		if !other {
			messages()
			return err
		}
		var over sync.WaitGroup
		over.Go(messages)
		r.rt.Block(over.Wait)
		return err
	})
	require.NoError(t, errors.Join(errs...))
	return posted
}

// polled is an engine that tells of nothing: somebody must poll it.
type polled struct{ *watched }

func (p polled) Limits() engine.Limits {
	l := p.watched.Limits()
	l.ToldOfArrivals = false
	return l
}

// On an engine that must be polled, a worker with short tasks polls between them while a
// message is under way; without the lease it does not. On a busy machine the communication
// thread may not come to lay down the lease while the tasks run: then they run again.
func TestLend_a_worker_polls_between_tasks(t *testing.T) {
	spacious(t)
	const tries = 20
	polls := int64(0)
	for range tries {
		if polls = pollsBetweenTasks(t, lending); polls > 20 {
			break
		}
	}
	assert.Greater(t, polls, int64(20))
	assert.Zero(t, pollsBetweenTasks(t, keeping))
}

// pollsBetweenTasks returns how often the worker of rank 0 polls between 100 tasks of 0.2 ms.
func pollsBetweenTasks(t *testing.T, c setup) int64 {
	hangs(t)
	var me atomic.Uintptr
	var polls atomic.Int64
	c.before = func(c *mpi.Comm) func() error {
		return (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { return polled{&watched{Engine: next, by: &me, polls: &polls}} })
	}
	errs := run(t, 2, c, func(r rank) error {
		x, chain := r.Rank(), 0
		if r.Rank() == 1 { // rank 0 sends when its tasks have ended
			r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 0, 1)
			r.ct.Send(r.rt, r.Comm, mpi.One(&x), 0, 2)
			return r.rt.Wait()
		}
		r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 1, 2)
		for range 100 {
			r.rt.Spawn("short", func(*tasks.Context) error {
				me.Store(osthread.G())
				for end := osthread.Nanotime() + 200_000; osthread.Nanotime() < end; osthread.Relax() {
				}
				return nil
			}, tasks.Updates(&chain))
		}
		r.rt.Spawn("last", func(*tasks.Context) error { me.Store(0); return nil }, tasks.Updates(&chain))
		r.ct.Send(r.rt, r.Comm, mpi.One(&chain), 1, 1)
		return r.rt.Wait()
	})
	require.NoError(t, errors.Join(errs...))
	return polls.Load()
}

// A leased body runs on a worker if workers may borrow the engine, and on the thread if not.
// In both cases it may send and receive, wait for children, block, and run beside bodies of
// the thread that its peer must get through before it can answer.
func TestLend_bodies(t *testing.T) {
	spacious(t)
	for name, c := range map[string]struct {
		setup
		worker bool
	}{"lent": {lending, true}, "kept": {keeping, false}} {
		t.Run(name, func(t *testing.T) {
			errs := run(t, 2, c.setup, func(r rank) error {
				var first, second int
				chatty := func(ctx *tasks.Context) error {
					assert.Equal(t, c.worker, ctx.Worker() < r.rt.Workers(), "on worker %d", ctx.Worker())
					for i := range 20 {
						got, mine := -1, i
						if _, err := r.Sendrecv(mpi.One(&mine), r.peer(), 1, mpi.One(&got), r.peer(), 1); err != nil || got != i {
							return errors.Join(err, errors.New("the wrong message"))
						}
					}
					child := 0
					ctx.Spawn("child", func(*tasks.Context) error { child = 1; return r.Barrier() }, tasks.Writes(&child), tasks.OnComm, tasks.Independent, tasks.Leased)
					err := ctx.Wait()
					ctx.Block(func() { time.Sleep(time.Millisecond) })
					assert.Equal(t, 1, child)
					return errors.Join(err, r.Barrier())
				}
				coroutine := func(*tasks.Context) error {
					got := -1
					_, err := r.Sendrecv(mpi.One(&second), r.peer(), 2, mpi.One(&got), r.peer(), 2)
					return err
				}
				after := tasks.Updates(&second)
				if r.Rank() == 1 { // its chatty body is not ready before both coroutines have run
					after = tasks.Updates(&first)
				}
				r.rt.Spawn("coroutine", coroutine, tasks.OnComm, tasks.Independent, tasks.Updates(&first), tasks.Priority(-1))
				r.rt.Spawn("chatty", chatty, tasks.OnComm, tasks.Independent, tasks.Leased, after)
				return r.rt.Wait()
			})
			require.NoError(t, errors.Join(errs...))
		})
	}
}

// A waiting body with the lease passes the engine to the thread for work that only the thread
// can do: here a coroutine that the peer needs before it answers.
func TestLend_a_waiting_body_lets_coroutines_go_on(t *testing.T) {
	spacious(t)
	begun := make(chan struct{})
	errs := run(t, 2, lending, func(r rank) error {
		var x, y int
		exchange := func() error {
			_, err := r.Sendrecv(mpi.One(&x), r.peer(), 1, mpi.One(&y), r.peer(), 1)
			return err
		}
		inTurn := []tasks.Clause{tasks.OnComm, tasks.Independent}
		if r.Rank() == 1 {
			r.rt.Spawn("coroutine", func(ctx *tasks.Context) error {
				ctx.Block(func() { <-begun })
				_, err := r.Recv(mpi.One(&y), 0, 3)
				return errors.Join(r.Send(mpi.One(&x), 0, 2), err)
			}, append(inTurn, tasks.Updates(&x))...)
			r.rt.Spawn("leased", func(*tasks.Context) error { return exchange() }, append(inTurn, tasks.Leased, tasks.Updates(&x))...)
			return r.rt.Wait()
		}
		r.rt.Spawn("coroutine", func(ctx *tasks.Context) error {
			ctx.Block(func() { <-begun; time.Sleep(time.Millisecond) })
			err := r.Send(mpi.One(&x), 1, 3)
			_, e := r.Recv(mpi.One(&y), 1, 2)
			return errors.Join(err, e)
		}, inTurn...)
		r.rt.Spawn("leased", func(*tasks.Context) error { close(begun); return exchange() }, append(inTurn, tasks.Leased)...)
		return r.rt.Wait()
	})
	require.NoError(t, errors.Join(errs...))
}

// While a body has the lease, another ready leased body does not occupy a worker, even if its
// priority is higher.
func TestLend_one_body_at_a_time(t *testing.T) {
	spacious(t)
	s := lending
	s.rts = []dataflow.Option{dataflow.Workers(2)}
	var ran atomic.Bool
	errs := run(t, 1, s, func(r rank) error {
		leased := func(body func() error) {
			r.rt.Spawn("leased", func(*tasks.Context) error { return body() }, tasks.OnComm, tasks.Independent, tasks.Leased, tasks.HighPriority)
		}
		leased(func() error {
			for !ran.Load() {
				if _, _, err := r.Iprobe(0, 1); err != nil {
					return err
				}
			}
			return nil
		})
		leased(func() error { return nil })
		leased(func() error { return nil })
		r.rt.Spawn("other", func(*tasks.Context) error { ran.Store(true); return nil })
		return r.rt.Wait()
	})
	require.NoError(t, errors.Join(errs...))
}

// A leased body that fails, or whose predecessor has failed, revokes the same communicators as
// a body of the thread, and gives the engine back.
func TestLend_failing_bodies(t *testing.T) {
	spacious(t)
	broken := errors.New("broken")
	for name, fail := range map[string]func(r rank) error{
		"error":   func(rank) error { return broken },
		"panic":   func(rank) error { panic(broken) },
		"skipped": nil,
	} {
		t.Run(name, func(t *testing.T) {
			errs := run(t, 2, lending, func(r rank) error {
				other, err := r.apart()
				if err != nil {
					return err
				}
				x := r.Rank()
				switch {
				case r.Rank() == 1: // in a leased body, for a message that does not come
					r.rt.Spawn("waits", func(*tasks.Context) error { _, err := r.Recv(mpi.One(&x), 0, 7); return err }, tasks.OnComm, tasks.Independent, tasks.Leased)
				case fail == nil:
					r.rt.Spawn("cause", func(*tasks.Context) error { return broken }, tasks.Writes(&x))
					r.rt.Spawn("fails", func(*tasks.Context) error { return nil }, tasks.OnComm, tasks.Independent, tasks.Leased, tasks.Reads(&x))
				default:
					r.rt.Spawn("fails", func(*tasks.Context) error { return fail(r) }, tasks.OnComm, tasks.Independent, tasks.Leased)
				}
				err = r.rt.Wait()
				sum := 0
				r.ct.Allreduce(r.rt, other, mpi.One(&x), mpi.One(&sum), mpi.Sum) // the engine is there
				assert.NoError(t, r.rt.Wait())
				return err
			})
			assert.ErrorIs(t, errs[0], broken)
			assert.ErrorIs(t, errs[1], mpi.ErrRevoked)
			assert.ErrorContains(t, errs[1], "does not run fails")
		})
	}
}

// Watch ends a task when its messages have come, with their error, on a worker and on the
// thread.
func TestWatch(t *testing.T) {
	for name, s := range map[string]setup{"lent": lending, "kept": keeping, "traced": {rts: []dataflow.Option{dataflow.Trace(0)}}} {
		t.Run(name, func(t *testing.T) {
			errs := run(t, 2, s, func(r rank) error {
				mine, theirs := r.Rank(), -1
				var in, out *mpi.Request
				r.rt.Spawn("start", func(ctx *tasks.Context) error {
					in, out = r.Irecv(mpi.One(&theirs), r.peer(), 1), r.Isend(mpi.One(&mine), r.peer(), 1)
					r.ct.Watch(ctx, func() (bool, error) { return mpi.Testall(in, out) })
					return nil
				}, tasks.OnComm, tasks.Independent, tasks.Leased, tasks.Writes(&theirs))
				r.rt.Spawn("use", func(*tasks.Context) error { assert.Equal(t, r.peer(), theirs); return nil }, tasks.Reads(&theirs))
				return r.rt.Wait()
			})
			require.NoError(t, errors.Join(errs...))
		})
	}
}

// A check that fails is the failure of its task; the peers learn of it.
func TestWatch_failures(t *testing.T) {
	broken := errors.New("broken")
	for name, s := range map[string]setup{"lent": lending, "kept": keeping} {
		t.Run(name, func(t *testing.T) {
			errs := run(t, 2, s, func(r rank) error {
				other, err := r.apart()
				if err != nil {
					return err
				}
				x := 0
				r.rt.Spawn("start", func(ctx *tasks.Context) error {
					in := r.Irecv(mpi.One(&x), r.peer(), 1)
					r.ct.Watch(ctx, func() (bool, error) {
						done, err := mpi.Testall(in)
						if r.Rank() == 0 && !done {
							_ = in.Cancel()
							return true, broken
						}
						return done, err
					})
					return nil
				}, tasks.OnComm, tasks.Independent, tasks.Leased)
				err = r.rt.Wait()
				return errors.Join(err, other.Barrier())
			})
			assert.ErrorIs(t, errs[0], broken)
			assert.ErrorIs(t, errs[1], mpi.ErrRevoked)
		})
	}
}

// The report of a run in which a worker with the engine waits for ever.
func TestReport_of_a_worker_that_polls(t *testing.T) {
	spacious(t)
	text := stalling(t, 1, lending.cts, func(r rank) int {
		x := 0
		r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 0, 42, tasks.Label("halo"))
		return 1
	})[0]
	assert.Contains(t, text, `"halo"`)
	assert.Contains(t, text, "tag 42")
}

// A message that arrives during a long task after short ones is handled before the task
// ends, although arrivals waited for the ends of the short ones.
func TestLend_a_long_task_after_short_ones(t *testing.T) {
	spacious(t)
	hangs(t)
	const rounds = 30
	var started, answered atomic.Int64
	succeed(t, 2, lending, func(r rank) error {
		for i := range int64(rounds) {
			if r.Rank() == 1 {
				for started.Load() <= i {
					osthread.Relax()
				}
				x := 7
				if err := errors.Join(r.Comm.Send(mpi.One(&x), 0, 1), recv(r.Comm, &x, 0, 2)); err != nil {
					return err
				}
				answered.Add(1)
			} else if err := shortThenLong(r, func() { started.Add(1) }, func() bool { return answered.Load() > i }); err != nil {
				return err
			}
		}
		return nil
	})
}

// shortThenLong runs short tasks until arrivals wait for their ends, and then a task that
// ends when rank 1 has received the answer to a message sent meanwhile.
func shortThenLong(r rank, start func(), answered func() bool) error {
	var x, y int
	r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 1, 1)
	r.ct.Send(r.rt, r.Comm, mpi.One(&x), 1, 2)
	for !commthread.Brisk(r.ct) {
		r.rt.Spawn("short", func(*tasks.Context) error { spin(20 * time.Microsecond); return nil }, tasks.Writes(&y))
		if err := r.rt.WaitOn(&y); err != nil {
			return err
		}
	}
	r.rt.Spawn("long", func(*tasks.Context) error {
		start()
		for !answered() {
			osthread.Relax()
		}
		return nil
	}, tasks.Writes(&y))
	return r.rt.Wait()
}

func spin(d time.Duration) {
	for end := osthread.Nanotime() + int64(d); osthread.Nanotime() < end; {
		osthread.Relax()
	}
}
