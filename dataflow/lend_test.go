package dataflow

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/executor"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// lender is an executor that lends its engine. Workers end its comm tasks in Serve. Its methods
// run on one worker.
type lender struct {
	noBodies
	port    executor.Port
	readied int // comm tasks by Ready
	brought []*task.Record
	served  int
	turns   atomic.Int64
}

func (l *lender) Ready(r *task.Record) { l.readied++; l.port.Finish(r, r.Decl.Run(r)) }
func (l *lender) Bring(r *task.Record) { l.brought = append(l.brought, r) }

func (l *lender) Serve() {
	all := l.brought
	l.brought = nil
	for _, r := range all {
		l.served++
		l.port.Finish(r, r.Decl.Run(r))
	}
}

func (l *lender) Turn(bool) bool        { l.turns.Add(1); return false }
func (l *lender) Wanted() bool          { return false }
func (l *lender) Leave()                {}
func (l *lender) Hold(*task.Record)     {}
func (l *lender) Pause()                {}
func (l *lender) Resume(*task.Record)   {}
func (l *lender) HandBack(*task.Record) {}

// attach attaches x, which is l or rests on it, and lends its engine.
func (l *lender) attach(t *testing.T, rt *Runtime, x interface {
	executor.Executor
	executor.Lender
}) {
	t.Helper()
	p, err := rt.attach(x)
	require.NoError(t, err)
	if !p.Spacious() {
		t.Skip("the worker shares its core")
	}
	p.Lend(x)
	l.port = p
}

// lent runs body with a lender on one worker that has a core to itself.
func lent(t *testing.T, body func(rt *Runtime, l *lender) error) {
	t.Helper()
	err := Run(func(rt *Runtime) error {
		l := &lender{}
		l.attach(t, rt, l)
		return errors.Join(body(rt, l), rt.Wait(), l.port.Detach())
	}, Workers(1), Stall(10*time.Second, true))
	require.NoError(t, err)
}

// A worker brings comm tasks that become ready to an executor that lends its engine, and serves
// them.
func TestLend_brings_and_serves(t *testing.T) {
	add := tasks.Declare1("add", func(x *int) { *x++ }, tasks.Inout)
	double := tasks.Declare1("double", func(x *int) { *x *= 2 }, tasks.Inout, tasks.OnComm)
	x := 1
	lent(t, func(rt *Runtime, l *lender) error {
		for range 3 {
			add.Spawn(rt, &x)
			double.Spawn(rt, &x)
		}
		err := rt.Wait()
		assert.Equal(t, 3, l.served)
		assert.Zero(t, l.readied)
		return err
	})
	assert.Equal(t, 22, x)
}

// A worker without work makes progress calls.
func TestLend_turns_without_work(t *testing.T) {
	lent(t, func(rt *Runtime, l *lender) error {
		rt.Spawn("held", func(ctx *tasks.Context) error {
			e := ctx.Hold()
			go func() {
				for l.turns.Load() < 10 {
					time.Sleep(time.Millisecond)
				}
				e.Done()
			}()
			return nil
		})
		return rt.Wait()
	})
}

// holder is a lender whose lease a worker without work keeps.
type holder struct{ *lender }

func (k holder) Turn(bool) bool { k.turns.Add(1); return true }

// The submitter answers the watchdog while it keeps the lease: the report says what every task
// waits for.
func TestLend_the_holder_answers_the_watchdog(t *testing.T) {
	var x int
	end := make(chan struct{})
	err := Run(func(rt *Runtime) error {
		k := holder{&lender{}}
		k.attach(t, rt, k)
		rt.Spawn("held", func(ctx *tasks.Context) error {
			e := ctx.Hold()
			go func() { <-end; e.Done() }()
			return nil
		}, tasks.Updates(&x))
		rt.Spawn("waits", func(*tasks.Context) error { return nil }, tasks.Updates(&x))
		stall := new(StallError)
		if err := rt.Wait(); assert.ErrorAs(t, err, &stall) {
			assert.Contains(t, stall.Report, "\"waits\"")
			assert.Contains(t, stall.Report, "of task 1 \"held\"")
		}
		close(end)
		return errors.Join(rt.Wait(), k.port.Detach())
	}, Workers(1), Stall(40*time.Millisecond, true))
	require.NoError(t, err)
}

// The watchdog sees the ends of nested tasks on every kind of worker, and the executor's reports.
func TestLend_moves(t *testing.T) {
	lent(t, func(rt *Runtime, l *lender) error {
		n := rt.moves()
		for _, move := range []func(){
			l.port.Moved,
			func() { rt.w0.inner.Add(1) },
			func() { rt.port.Load().w.inner.Add(1) },
			func() { rt.external.inner.Add(1) },
			func() { rt.stalls.waits.Add(1) },
		} {
			move()
			n++
			assert.Equal(t, n, rt.moves())
		}
		return nil
	})
}

// pause is a wait of a program in a call of its executor.
type pause struct {
	over atomic.Bool
	wake func()
}

func (p *pause) Done() bool            { return p.over.Load() }
func (p *pause) Register(wake func())  { p.wake = wake }
func (p *pause) Sleep()                {}
func (p *pause) InBody(uint64, string) {}

// reporting is an executor that has something to report, and then ends a pause.
type reporting struct {
	noBodies
	pause *pause
}

func (*reporting) Ready(*task.Record) {}

func (r *reporting) Report() []string {
	time.AfterFunc(time.Millisecond, func() {
		r.pause.over.Store(true)
		r.pause.wake()
	})
	return []string{"  a call that takes long"}
}

// A stall during a call of the program after a Wait is printed; it is no error of a later Wait,
// also if stalls are errors of waits.
func TestLend_stall_in_a_call_after_a_wait(t *testing.T) {
	p := &pause{}
	err := Run(func(rt *Runtime) error {
		port, err := rt.attach(&reporting{pause: p})
		if err != nil {
			return err
		}
		if err := rt.Wait(); err != nil {
			return err
		}
		port.WaitOutside(p)
		return errors.Join(rt.Wait(), port.Detach())
	}, Workers(1), Stall(40*time.Millisecond, true))
	assert.NoError(t, err)
	assert.True(t, p.over.Load())
}

// A task that is Leased and has no messages is an ordinary one.
func TestLend_leased_without_messages(t *testing.T) {
	ran := false
	err := Run(func(rt *Runtime) error {
		rt.Spawn("plain", func(*tasks.Context) error { ran = true; return nil }, tasks.Leased)
		return rt.Wait()
	}, Workers(1))
	assert.NoError(t, err)
	assert.True(t, ran)
}

// Only the submitting goroutine, outside of tasks and of Block, polls; none does that shares its core, or
// in the modes that use one goroutine.
func TestLend_who_polls(t *testing.T) {
	lent(t, func(rt *Runtime, l *lender) error {
		assert.True(t, l.port.Polls())
		rt.Spawn("task", func(*tasks.Context) error { assert.False(t, l.port.Polls(), "in a task"); return nil })
		err := rt.Wait()
		rt.Block(func() { assert.False(t, l.port.Polls(), "in Block") })
		other := make(chan bool)
		go func() { other <- l.port.Polls() }()
		assert.False(t, <-other, "another goroutine")
		assert.True(t, l.port.Polls(), "again")
		return err
	})
	for name, o := range map[string]Option{"serial": Serial(), "seeded": Seeded(1), "not pinned": Pin(false)} {
		assert.NoError(t, Run(func(rt *Runtime) error {
			p, err := rt.attach(&lender{})
			require.NoError(t, err)
			assert.False(t, p.Polls(), name)
			return p.Detach()
		}, Workers(1), o))
	}
}
