package program

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// Config says how a program is run. The zero Config is the runtime as it is by default.
type Config struct {
	Options []dataflow.Option
	Workers int          // bound tasks use this many; 0: worker 0 alone
	Yield   func()       // lets others run; nil: runtime.Gosched
	Later   func(func()) // calls its argument outside of any task; nil: on a goroutine
	Omit    *Omission    // nil: every access is declared
}

// Omission is a mistake made on purpose: a task that does not declare one of its accesses,
// unless that is a buffer or a reduction.
type Omission struct{ Task, Access int }

// Run runs p on a new runtime. It returns only errors that p does not provoke.
func Run(p *Program, c Config) (*Outcome, error) {
	r := &run{p: p, c: c, out: p.fresh(), ran: make([]atomic.Bool, p.Tasks)}
	if r.c.Yield == nil {
		r.c.Yield = runtime.Gosched
	}
	if r.c.Later == nil {
		r.c.Later = func(f func()) { go f() }
	}
	for _, words := range r.out.Buffers {
		b := tasks.NewBuffer[uint64](bufferLen)
		copy(b.Slice(), words)
		r.buffers = append(r.buffers, b)
	}
	err := dataflow.Run(r.main, c.Options...)
	for k, b := range r.buffers {
		copy(r.out.Buffers[k], b.Slice())
	}
	for id := range r.ran {
		r.out.Ran[id] = r.ran[id].Load()
	}
	return r.out, err
}

type run struct {
	p       *Program
	c       Config
	out     *Outcome
	ran     []atomic.Bool
	buffers []*buffer64
}

type buffer64 = tasks.Buffer[uint64]

// scope is the runtime or the Context of a body.
type scope interface {
	tasks.Scope
	Wait() error
	WaitOn(xs ...any) error
}

var errDeliberate = errors.New("deliberate")

func (r *run) main(rt *dataflow.Runtime) error {
	for _, s := range r.p.Steps {
		if err := r.wait(rt, s.Kind); err != nil {
			return err
		}
		r.step(rt, s, r.buffers)
	}
	return r.wait(rt, Wait)
}

// wait waits for all tasks, if the step does.
func (r *run) wait(rt *dataflow.Runtime, k StepKind) error {
	if k != Wait {
		return nil
	}
	err := rt.Wait()
	if err != nil && (!r.p.Fails || !errors.Is(err, errDeliberate)) {
		return fmt.Errorf("wait: %w", err)
	}
	r.out.Failed = r.out.Failed || err != nil
	return nil
}

// step does what main program and bodies have in common.
func (r *run) step(in scope, s Step, buffers []*buffer64) {
	switch s.Kind {
	case Spawn:
		r.spawn(in, s.Task, buffers)
	case WaitOn:
		if in.WaitOn(r.shape(s.Region)) == nil {
			r.out.Seen[s.ID] = digest(s.Region, r.out.Arena)
		}
	}
}

// shape returns a region of the arena as a program would write it.
func (r *run) shape(g Region) any {
	if g.Cols == 1 {
		return r.slice(g)
	}
	return tasks.Tile[uint64]{Data: r.out.Arena[g.Offset:], Rows: g.Rows, Cols: g.Cols, LD: g.LD}
}

func (r *run) slice(g Region) []uint64 { return r.out.Arena[g.Offset:][:g.Rows] }

// args are the parameters of a task that clauses cannot say.
type args struct {
	sums      [2][]uint64  // private copies of reductions
	buffers   [3]*buffer64 // by mode
	each, one [][]uint64   // input, commutative
}

// call is one task on its way to the body.
type call struct {
	*run
	t       *Task
	buffers []*buffer64 // of the scope it was spawned in
	do      func(c call, ctx *tasks.Context, x *args) error
}

var (
	sumA = tasks.Reduction(uint64(0), combining(combineA))
	sumB = tasks.Reduction(uint64(0), combining(combineB))

	declared = declare("task", sumA, sumB)
	weakly   = declare("weak", tasks.Weak(sumA), tasks.Weak(sumB))
)

func combining(f func(dst, src uint64) uint64) func(dst, src []uint64) {
	return func(dst, src []uint64) {
		for i := range dst {
			dst[i] = f(dst[i], src[i])
		}
	}
}

type declaration = tasks.Task8[call, []uint64, []uint64, *buffer64, *buffer64, *buffer64, [][]uint64, [][]uint64]

func declare(name string, a, b tasks.Access) *declaration {
	return tasks.DeclareCtx8(name, func(ctx *tasks.Context, c call, a, b []uint64, in, out, inout *buffer64, each, one [][]uint64) error {
		return c.do(c, ctx, &args{[2][]uint64{a, b}, [3]*buffer64{in, out, inout}, each, one})
	}, tasks.Value, a, b, tasks.Input, tasks.Output, tasks.Inout, tasks.Each(tasks.Input), tasks.Each(tasks.Commutative))
}

// spawn submits t, in the dynamic form if that can say it.
func (r *run) spawn(in scope, t *Task, buffers []*buffer64) {
	var x args
	clauses := r.clauses(t)
	d, typed := declared, false
	for k, a := range t.Accesses {
		switch omit := r.c.Omit; {
		case omit != nil && *omit == Omission{t.ID, k} && !a.Mode.reduces() && a.Region.Buffer == 0:
		case a.Mode.reduces():
			x.sums[a.Mode-SumA], typed = r.slice(a.Region), true
			if a.Weak {
				d = weakly
			}
		case a.Region.Buffer > 0:
			x.buffers[a.Mode], typed = buffers[a.Region.Buffer-1], true
		case a.Each && a.Mode == Input:
			x.each, typed = append(x.each, r.slice(a.Region)), true
		case a.Each:
			x.one, typed = append(x.one, r.slice(a.Region)), true
		default:
			clauses = append(clauses, tasks.With(a.access(), r.shape(a.Region)))
		}
	}
	c := call{r, t, buffers, call.body}
	if typed || t.ID%2 == 0 {
		d.Spawn(in, c, x.sums[0], x.sums[1], x.buffers[0], x.buffers[1], x.buffers[2], x.each, x.one, clauses...)
	} else {
		tasks.Spawn(in, "dynamic", func(ctx *tasks.Context) error { return c.body(ctx, &x) }, clauses...)
	}
}

func (a Access) access() tasks.Access {
	var x tasks.Access = [...]tasks.Mode{tasks.Input, tasks.Output, tasks.Inout, tasks.Concurrent, tasks.Commutative}[a.Mode]
	if a.Lazy {
		x = tasks.Lazy(x)
	}
	if a.Weak {
		x = tasks.Weak(x)
	}
	return x
}

func (r *run) clauses(t *Task) []tasks.Clause {
	c := []tasks.Clause{tasks.If(!t.InPlace), tasks.Final(t.Final), tasks.Priority(t.Priority)}
	if t.Worker > 0 {
		c = append(c, tasks.OnWorker((t.Worker-1)%max(r.c.Workers, 1)))
	}
	return c
}

// body is the body of every task.
func (c call) body(ctx *tasks.Context, x *args) error {
	t := c.t
	if c.ran[t.ID].Swap(true) {
		panic(fmt.Sprintf("task %d runs twice", t.ID))
	}
	c.yield()
	if t.Block {
		ctx.Block(c.yield)
	}
	switch {
	case t.Failure == Error:
		return errDeliberate
	case t.Failure == Panic:
		panic(errDeliberate)
	case t.Failure == EventFails:
		ev := ctx.Hold()
		c.c.Later(func() { c.yield(); ev.Fail(errDeliberate) })
		return nil
	case t.Hold:
		ev := ctx.Hold()
		c.c.Later(func() { c.yield(); t.work(0, c.at(x)); ev.Done() })
		return nil
	}
	t.work(0, c.at(x))
	c.steps(ctx, x)
	return nil
}

func (c call) yield() {
	for range c.t.Yields {
		c.c.Yield()
	}
}

// steps does the steps of the body. A failure that it waits for is dealt with.
func (c call) steps(ctx *tasks.Context, x *args) {
	buffers := append([]*buffer64(nil), c.buffers...)
	for _, a := range c.t.Accesses {
		if a.Region.Buffer > 0 {
			buffers[a.Region.Buffer-1] = x.buffers[a.Mode]
		}
	}
	round := 0
	for _, s := range c.t.Steps {
		c.yield()
		switch s.Kind {
		case Wait:
			_ = ctx.Wait() // the interpreter knows which tasks have run
		case Work:
			round++
			c.t.work(round, c.at(x))
		default:
			c.step(ctx, s, buffers)
		}
	}
}

// at is the view of the task.
func (c call) at(x *args) view {
	return func(k int) ([]uint64, int) {
		switch a := c.t.Accesses[k]; {
		case a.Mode.reduces():
			return x.sums[a.Mode-SumA], a.Region.Offset
		case a.Region.Buffer > 0:
			return x.buffers[a.Mode].Slice(), 0
		}
		return c.out.Arena, 0
	}
}

// Compare says how got differs from want, "" if it does not.
func Compare(want, got *Outcome) string {
	for id := range want.Ran {
		if want.Ran[id] != got.Ran[id] {
			return fmt.Sprintf("task %d: ran %t, and should %t", id, got.Ran[id], want.Ran[id])
		}
	}
	if want.Failed != got.Failed {
		return fmt.Sprintf("a wait failed: %t, and should %t", got.Failed, want.Failed)
	}
	if d := difference("digest", want.Seen, got.Seen); d != "" {
		return d
	}
	for k := range want.Buffers {
		if d := difference(fmt.Sprintf("buffer %d, word", k), want.Buffers[k], got.Buffers[k]); d != "" {
			return d
		}
	}
	return difference("word", want.Arena, got.Arena)
}

func difference(what string, want, got []uint64) string {
	for i := range want {
		if want[i] != got[i] {
			return fmt.Sprintf("%s %d is %#x, and should be %#x", what, i, got[i], want[i])
		}
	}
	return ""
}
