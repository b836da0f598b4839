package dataflow_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "seed of the first random program; 0 means 1, or the clock if WEFT_LONG is set")
	programsFlag = flag.Int("programs", 0, "number of random programs; 0 means the number of the test")
)

// form is a way to declare and spawn a task.
type form uint8

const (
	formPlain   form = iota // one parameter, a body without Context
	formSingle              // one parameter
	formPair                // two parameters of any kinds
	formSlices              // up to seven slices
	formEach                // Each of slices and tiles in seven modes
	formWeak                // Each, weak and strong
	formBuffers             // Each of buffers
	formDynamic             // a closure and clauses
	forms
)

func (f form) String() string {
	return [...]string{"plain", "single", "pair", "slices", "each", "each weak", "each buffer", "dynamic"}[f]
}

// fits reports whether the accesses of n can be declared in this form.
func (f form) fits(n *node) bool {
	if f == formSingle || f == formPlain {
		return len(n.accs) == 1
	}
	for i := range n.accs {
		a := &n.accs[i]
		if f == formSlices && a.kind != slice || f >= formEach && f != formDynamic && f.group(a) < 0 ||
			f == formDynamic && (a.mode.reduces() || a.kind == buffer) {
			return false
		}
	}
	switch f {
	case formPair:
		return len(n.accs) == 2
	case formSlices:
		return len(n.accs) > 0
	}
	return true
}

// groups are the parameters of the forms with Each.
var groups = map[form][]access{
	formEach: {
		{mode: in, kind: slice}, {mode: in, kind: tile}, {mode: out, kind: slice}, {mode: inout, kind: slice},
		{mode: inout, kind: tile}, {mode: concurrent, kind: slice}, {mode: commutative, kind: slice},
	},
	formWeak: {
		{mode: in, kind: slice, weak: true}, {mode: inout, kind: slice, weak: true}, {mode: commutative, kind: slice, weak: true},
		{mode: in, kind: slice}, {mode: inout, kind: slice},
	},
	formBuffers: {{mode: in, kind: buffer}, {mode: out, kind: buffer}, {mode: inout, kind: slice}},
}

// group returns the parameter of form f that a can be an element of, or -1.
func (f form) group(a *access) int {
	return slices.IndexFunc(groups[f], func(g access) bool { return g.mode == a.mode && g.kind == a.kind && g.weak == a.weak })
}

// Reductions are told apart by the call that made them.
var (
	intReductions  [modes]tasks.Access
	realReductions [modes]tasks.Access
	plainModes     = [modes]tasks.Access{tasks.Input, tasks.Output, tasks.Inout, tasks.Concurrent, tasks.Commutative}
)

func init() {
	for m := sum; m < modes; m++ {
		intReductions[m] = tasks.Reduction(uint64(neutral(m)), combineInts(m))
		realReductions[m] = tasks.Reduction(float64(neutral(m)), combineReals(m))
	}
}

func (a *access) declared() tasks.Access {
	d := plainModes[a.mode]
	switch {
	case a.hidden:
		return tasks.Value
	case a.mode.reduces() && a.kind.isReal():
		d = realReductions[a.mode]
	case a.mode.reduces():
		d = intReductions[a.mode]
	}
	if a.lazy {
		d = tasks.Lazy(d)
	}
	if a.weak {
		d = tasks.Weak(d)
	}
	return d
}

// instance is one run of a task.
type instance struct {
	node  *node
	hash  uint64
	exec  *execution
	ready atomic.Int32
}

type spawner func(in tasks.Scope, x *instance, args []any, cl []tasks.Clause)

var spawners sync.Map // of string: declarations by form, kinds and modes

// declare returns the declaration for n, made if it is the first of its kind.
func declare(n *node) spawner {
	var key strings.Builder
	fmt.Fprint(&key, n.form)
	if n.form < formEach {
		for _, a := range n.accs {
			fmt.Fprint(&key, " ", a.kind, a.mode, a.weak, a.lazy, a.hidden)
		}
	}
	if s, ok := spawners.Load(key.String()); ok {
		return s.(spawner)
	}
	s := declareNew(key.String(), n)
	spawners.Store(key.String(), s)
	return s
}

func declareNew(name string, n *node) spawner {
	switch n.form {
	case formPlain, formSingle:
		return singles[n.accs[0].kind](name, n.accs[0].declared(), n.form == formPlain)
	case formPair:
		return pairs(n.accs[0].kind, n.accs[1].kind)(name, n.accs[0].declared(), n.accs[1].declared())
	case formSlices:
		return manySlices(name, n.accs)
	case formEach:
		return declareEach(name)
	case formWeak:
		return declareWeak(name)
	case formBuffers:
		return declareBuffers(name)
	}
	return nil
}

var singles = [kinds]func(string, tasks.Access, bool) spawner{
	oneParam[[]uint64], oneParam[tasks.Tile[uint64]], oneParam[*uint64], oneParam[windowed], oneParam[*tasks.Buffer[uint64]], oneParam[[]float64], oneParam[*float64],
}

func oneParam[A any](name string, a tasks.Access, noContext bool) spawner {
	if noContext {
		t := tasks.Declare2(name, func(x *instance, a A) {
			if err := x.run(nil, a); err != nil {
				panic(err)
			}
		}, tasks.Value, a)
		return func(in tasks.Scope, x *instance, args []any, cl []tasks.Clause) { t.Spawn(in, x, args[0].(A), cl...) }
	}
	t := tasks.DeclareCtx2(name, func(ctx *tasks.Context, x *instance, a A) error { return x.run(ctx, a) }, tasks.Value, a)
	return func(in tasks.Scope, x *instance, args []any, cl []tasks.Clause) { t.Spawn(in, x, args[0].(A), cl...) }
}

type declarePair func(name string, a, b tasks.Access) spawner

func pairs(a, b kind) declarePair {
	return [kinds]func(kind) declarePair{
		secondParam[[]uint64], secondParam[tasks.Tile[uint64]], secondParam[*uint64], secondParam[windowed], secondParam[*tasks.Buffer[uint64]], secondParam[[]float64], secondParam[*float64],
	}[a](b)
}

func secondParam[A any](b kind) declarePair {
	return [kinds]declarePair{
		twoParams[A, []uint64], twoParams[A, tasks.Tile[uint64]], twoParams[A, *uint64], twoParams[A, windowed], twoParams[A, *tasks.Buffer[uint64]], twoParams[A, []float64], twoParams[A, *float64],
	}[b]
}

func twoParams[A, B any](name string, a, b tasks.Access) spawner {
	t := tasks.DeclareCtx3(name, func(ctx *tasks.Context, x *instance, a A, b B) error { return x.run(ctx, a, b) }, tasks.Value, a, b)
	return func(in tasks.Scope, x *instance, args []any, cl []tasks.Clause) {
		t.Spawn(in, x, args[0].(A), args[1].(B), cl...)
	}
}

type ints = []uint64

func manySlices(name string, accs []access) spawner {
	var d [7]tasks.Access
	for i := range accs {
		d[i] = accs[i].declared()
	}
	switch len(accs) {
	case 1:
		return oneParam[ints](name, d[0], false)
	case 2:
		return twoParams[ints, ints](name, d[0], d[1])
	case 3:
		t := tasks.DeclareCtx4(name, func(c *tasks.Context, x *instance, a0, a1, a2 ints) error { return x.run(c, a0, a1, a2) }, tasks.Value, d[0], d[1], d[2])
		return func(in tasks.Scope, x *instance, a []any, cl []tasks.Clause) {
			t.Spawn(in, x, a[0].(ints), a[1].(ints), a[2].(ints), cl...)
		}
	case 4:
		t := tasks.DeclareCtx5(name, func(c *tasks.Context, x *instance, a0, a1, a2, a3 ints) error { return x.run(c, a0, a1, a2, a3) }, tasks.Value, d[0], d[1], d[2], d[3])
		return func(in tasks.Scope, x *instance, a []any, cl []tasks.Clause) {
			t.Spawn(in, x, a[0].(ints), a[1].(ints), a[2].(ints), a[3].(ints), cl...)
		}
	}
	// The rest of seven are empty: legal, and no dependence.
	for i := len(accs); i < len(d); i++ {
		d[i] = tasks.Inout
	}
	t := tasks.DeclareCtx8(name, func(c *tasks.Context, x *instance, a0, a1, a2, a3, a4, a5, a6 ints) error {
		return x.run(c, []any{a0, a1, a2, a3, a4, a5, a6}[:len(x.node.accs)]...)
	}, tasks.Value, d[0], d[1], d[2], d[3], d[4], d[5], d[6])
	return func(in tasks.Scope, x *instance, a []any, cl []tasks.Clause) {
		var s [7]ints
		for i := range a {
			s[i] = a[i].(ints)
		}
		t.Spawn(in, x, s[0], s[1], s[2], s[3], s[4], s[5], s[6], cl...)
	}
}

// pick returns the arguments of one group.
func pick[T any](n *node, args []any, group int) (out []T) {
	for i := range n.accs {
		if n.accs[i].group == group {
			out = append(out, args[i].(T))
		}
	}
	return out
}

// spread returns elements as single arguments.
func spread[T any](args []any, s []T) []any {
	for _, x := range s {
		args = append(args, x)
	}
	return args
}

type tile64 = tasks.Tile[uint64]

func declareEach(name string) spawner {
	t := tasks.DeclareCtx8(name, func(c *tasks.Context, x *instance, r []ints, rt []tile64, w, u []ints, ut []tile64, s, m []ints) error {
		return x.run(c, spread(spread(spread(spread(spread(spread(spread(nil, r), rt), w), u), ut), s), m)...)
	}, tasks.Value, tasks.Each(tasks.Input), tasks.Each(tasks.Input), tasks.Each(tasks.Output), tasks.Each(tasks.Inout), tasks.Each(tasks.Inout),
		tasks.Each(tasks.Concurrent), tasks.Each(tasks.Commutative))
	return func(in tasks.Scope, x *instance, a []any, cl []tasks.Clause) {
		n := x.node
		t.Spawn(in, x, pick[ints](n, a, 0), pick[tile64](n, a, 1), pick[ints](n, a, 2), pick[ints](n, a, 3), pick[tile64](n, a, 4), pick[ints](n, a, 5), pick[ints](n, a, 6), cl...)
	}
}

func declareWeak(name string) spawner {
	t := tasks.DeclareCtx6(name, func(c *tasks.Context, x *instance, r, u, m, sr, su []ints) error {
		return x.run(c, spread(spread(spread(spread(spread(nil, r), u), m), sr), su)...)
	}, tasks.Value, tasks.Each(tasks.Weak(tasks.Input)), tasks.Weak(tasks.Each(tasks.Inout)), tasks.Each(tasks.Weak(tasks.Commutative)), tasks.Each(tasks.Input), tasks.Each(tasks.Inout))
	return func(in tasks.Scope, x *instance, a []any, cl []tasks.Clause) {
		n := x.node
		t.Spawn(in, x, pick[ints](n, a, 0), pick[ints](n, a, 1), pick[ints](n, a, 2), pick[ints](n, a, 3), pick[ints](n, a, 4), cl...)
	}
}

type buffer64 = *tasks.Buffer[uint64]

func declareBuffers(name string) spawner {
	t := tasks.DeclareCtx4(name, func(c *tasks.Context, x *instance, r, w []buffer64, u []ints) error {
		return x.run(c, spread(spread(spread(nil, r), w), u)...)
	}, tasks.Value, tasks.Each(tasks.Input), tasks.Each(tasks.Output), tasks.Each(tasks.Inout))
	return func(in tasks.Scope, x *instance, a []any, cl []tasks.Clause) {
		n := x.node
		t.Spawn(in, x, pick[buffer64](n, a, 0), pick[buffer64](n, a, 1), pick[ints](n, a, 2), cl...)
	}
}

// dynamically spawns n as a closure with clauses.
func dynamically(in tasks.Scope, x *instance, args []any, cl []tasks.Clause) {
	cl = slices.Clone(cl)
	for i := range x.node.accs {
		a := &x.node.accs[i]
		switch {
		case a.hidden:
		case a.mode == in0 && !a.weak:
			cl = append(cl, tasks.Reads(args[i]))
		case a.mode == out && !a.weak:
			cl = append(cl, tasks.Writes(args[i]))
		case a.mode == inout && !a.weak:
			cl = append(cl, tasks.Updates(args[i]))
		case a.kind == slice:
			cl = append(cl, tasks.With(tasks.Each(a.declared()), []ints{args[i].(ints)}))
		default:
			cl = append(cl, tasks.With(a.declared(), args[i]))
		}
	}
	tasks.Spawn(in, "dynamic", func(ctx *tasks.Context) error { return x.run(ctx, args...) }, cl...)
}

const in0 = mode(0) // in, where a parameter has that name

// execution is one run of a program by the runtime. It is the world of its bodies.
type execution struct {
	config *config
	rt     *dataflow.Runtime
	runs   []atomic.Int32 // of each task
	stormy bool           // tasks fail, and the run may be cancelled

	mu    sync.Mutex
	order []int   // guarded by mu: tasks as they started
	errs  []error // guarded by mu
}

func (e *execution) wrong(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.errs) < 8 {
		e.errs = append(e.errs, fmt.Errorf(format, args...))
	}
}

// run is the body of every task.
func (x *instance) run(ctx *tasks.Context, args ...any) error {
	e, n := x.exec, x.node
	if c := e.runs[n.id].Add(1); c > 1 {
		e.wrong("task %d runs for the %d. time", n.id, c)
	}
	if c := x.ready.Load(); n.hook && c != 1 {
		e.wrong("the hook of task %d was called %d times", n.id, c)
	}
	e.mu.Lock()
	e.order = append(e.order, n.id)
	e.mu.Unlock()
	f := &frame{node: n, ctx: ctx, hash: x.hash, world: e}
	for _, a := range args {
		f.views = append(f.views, viewOf(a))
	}
	if len(f.views) != len(n.accs) {
		return fmt.Errorf("task %d got %d arguments for %d accesses", n.id, len(f.views), len(n.accs))
	}
	f.perform()
	switch n.outcome {
	case failing:
		return errFate
	case crashes:
		panic(errFate)
	}
	return nil
}

var errFate = errors.New("this task fails")

func (f *frame) scope(e *execution) tasks.Scope {
	if f.ctx == nil {
		return e.rt
	}
	return f.ctx
}

func (e *execution) spawn(f *frame, n *node) {
	x := &instance{node: n, hash: f.hash, exec: e}
	args := make([]any, len(n.accs))
	for i := range n.accs {
		args[i] = n.accs[i].arg(f.locate(&n.accs[i]))
	}
	var cl []tasks.Clause
	if n.prio != 0 {
		cl = append(cl, tasks.Priority(n.prio))
	}
	if n.inline {
		cl = append(cl, tasks.If(false))
	}
	if n.final {
		cl = append(cl, tasks.Final(true))
	}
	if n.worker > 0 && !(f.ctx == nil && n.worker-1 == 0) { // nobody else would run it while the program blocks
		cl = append(cl, tasks.OnWorker((n.worker-1)%e.config.workers))
	}
	if n.hook {
		cl = append(cl, tasks.OnReady(func() { x.ready.Add(1) }))
	}
	if n.form == formDynamic {
		dynamically(f.scope(e), x, args, cl)
		return
	}
	declare(n)(f.scope(e), x, args, cl)
}

func (e *execution) wait(f *frame) bool {
	err := error(nil)
	if f.ctx == nil {
		err = e.rt.Wait()
	} else {
		err = f.ctx.Wait()
	}
	if err != nil && !e.stormy {
		e.wrong("Wait: %w", err)
	}
	return err == nil
}

func (e *execution) waitOn(f *frame, a *access, v view) bool {
	err := error(nil)
	if f.ctx == nil {
		err = e.rt.WaitOn(a.arg(v))
	} else {
		err = f.ctx.WaitOn(a.arg(v))
	}
	if err != nil && !e.stormy {
		e.wrong("WaitOn: %w", err)
	}
	return err == nil
}

func (e *execution) block(f *frame) {
	nap := func() {
		if e.config.jitter > 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
	if f.ctx == nil {
		e.rt.Block(nap)
	} else {
		f.ctx.Block(nap)
	}
}

func (e *execution) hold(f *frame, how holdKind, write func()) {
	ev := f.ctx.Hold()
	if how == holdEvent {
		write()
		go func() {
			e.pause(f)
			ev.Done()
		}()
		return
	}
	go func() {
		e.pause(f)
		write()
		ev.Done()
	}()
}

// pause takes some time, or none, so that orders that are wrong come about.
func (e *execution) pause(f *frame) {
	h := e.config.jitter
	if h == 0 {
		return
	}
	switch h = mix(h, f.hash); h % 16 {
	case 0:
		time.Sleep(time.Duration(h>>8%60) * time.Microsecond)
	case 1, 2, 3, 4:
		for range h >> 8 % 10 {
			runtime.Gosched()
		}
	case 5, 6, 7, 8:
		for end := time.Now().Add(time.Duration(h>>8%20) * time.Microsecond); time.Now().Before(end); {
		}
	}
}

// config is one way to run a program.
type config struct {
	name    string
	workers int
	jitter  uint64 // of the lengths of bodies; 0: none
	opts    []dataflow.Option
	begin   func(*dataflow.Runtime) // called before the program; nil for nothing
}

func (c *config) String() string { return c.name }

func newConfig(name string, workers int, jitter uint64, opts ...dataflow.Option) *config {
	opts = append(opts, dataflow.Workers(workers), dataflow.Stall(5*time.Second, true))
	return &config{name: fmt.Sprintf("%s, %d workers, jitter %d", name, workers, jitter), workers: workers, jitter: jitter, opts: opts}
}

func newExecution(c *config, p *program) *execution {
	return &execution{config: c, runs: make([]atomic.Int32, p.nodes)}
}

// run runs p and returns the cells of the memory and the order in which bodies
// started.
func (c *config) run(p *program) (cells []uint64, order []int, err error) {
	e := newExecution(c, p)
	m := newMemory(p.seed)
	err, bad := inspected(func(rt *dataflow.Runtime) error {
		e.rt = rt
		if c.begin != nil {
			c.begin(rt)
		}
		f := &frame{mem: m, world: e}
		f.walk(p.steps)
		return rt.Wait()
	}, c.opts...)
	for i := range e.runs {
		if k := e.runs[i].Load(); k != 1 && p.has(i) {
			e.wrong("task %d ran %d times", i, k)
		}
	}
	return m.cells(), e.order, errors.Join(append(e.errs, err, bad)...)
}

var errHang = errors.New("the program hangs")

// try runs p in a new goroutine and compares the final memory with want.
func (c *config) try(p *program, want []uint64) error {
	result := make(chan error, 1)
	go func() {
		got, _, err := c.run(p)
		if err == nil {
			err = compare(want, got)
		}
		result <- err
	}()
	limit := time.NewTimer(patience / 2)
	defer limit.Stop()
	select {
	case err := <-result:
		return err
	case <-limit.C:
		return errHang
	}
}

func compare(want, got []uint64) error {
	for i := range want {
		if want[i] != got[i] {
			return fmt.Errorf("cell %d is %#x and should be %#x", i, got[i], want[i])
		}
	}
	return nil
}

// has reports whether task id is still in the program: shrinking removes tasks.
func (p *program) has(id int) bool { return hasNode(p.steps, id) }

func hasNode(steps []step, id int) bool {
	return slices.ContainsFunc(steps, func(s step) bool {
		return s.op == opSpawn && (s.node.id == id || hasNode(s.node.steps, id))
	})
}

// shrink returns a smaller program that still fails in configuration c. It removes steps,
// also from bodies, as long as the program fails.
func shrink(p *program, c *config) *program {
	fails := func(q *program) bool {
		want := elide(q)
		for range 20 {
			if c.try(q, want) != nil {
				return true
			}
		}
		return false
	}
	end := time.Now().Add(time.Minute)
	for size := countSteps(p.steps); size > 0; {
		smaller := false
		for at := 0; at+size <= countSteps(p.steps) && time.Now().Before(end); {
			q := *p
			from := at
			q.steps = without(p.steps, &from, size)
			if countSteps(q.steps) < countSteps(p.steps) && fails(&q) {
				p, smaller = &q, true
			} else {
				at += size
			}
		}
		if !smaller {
			size /= 2
		}
	}
	return p
}

func countSteps(steps []step) int {
	n := len(steps)
	for _, s := range steps {
		if s.op == opSpawn {
			n += countSteps(s.node.steps)
		}
	}
	return n
}

// without returns a copy that lacks n steps from the at'th on, where a task comes
// before its steps and goes with them. A touch goes with the wait before it.
func without(steps []step, at *int, n int) (left []step) {
	for _, s := range steps {
		gone := *at <= 0 && *at > -n || s.op == opTouch && (len(left) == 0 || left[len(left)-1].op != opWait)
		*at--
		if gone {
			continue
		}
		if s.op == opSpawn {
			c := *s.node
			c.steps = without(c.steps, at, n)
			s.node = &c
		}
		left = append(left, s)
	}
	return left
}

// randomPrograms calls f with n random programs, twenty times as many in a long run.
func randomPrograms(t *testing.T, n int, l limits, f func(seed uint64, p *program)) {
	first := uint64(1)
	if long() {
		n *= 20
		first = uint64(time.Now().UnixNano())
	}
	if *seedFlag != 0 {
		first = *seedFlag
	}
	if *programsFlag != 0 {
		n = *programsFlag
	}
	for seed := first; seed < first+uint64(n) && !t.Failed(); seed++ {
		f(seed, generate(randomly{rand.New(rand.NewPCG(seed, 0))}, l))
		if t.Failed() {
			t.Logf("to repeat: go test ./dataflow -run '^%s$' -seed=%d -programs=1", t.Name(), seed)
		}
	}
}

// agree demands that p leaves the same memory in every configuration as in plain
// Go.
func agree(t *testing.T, p *program, configs ...*config) {
	t.Helper()
	want := elide(p)
	for _, c := range configs {
		if err := c.try(p, want); err != nil {
			assert.NoError(t, err, "configuration %v; shrunk program:\n%v", c, shrink(p, c))
			return
		}
	}
}

func serialConfigs() []*config {
	return []*config{newConfig("serial", 2, 0, dataflow.Serial()), newConfig("verify", 2, 0, dataflow.Verify())}
}

func parallelConfigs(jitter uint64) (all []*config) {
	for _, workers := range []int{1, 2, 3, 4, 8} {
		all = append(all, newConfig("parallel", workers, jitter))
	}
	for i, window := range []int{1, 2, 7} {
		all = append(all, newConfig(fmt.Sprintf("window %d", window), i+1, jitter, dataflow.Window(window)))
	}
	return append(all,
		newConfig("no renaming", 2, jitter, dataflow.RenameBudget(0)),
		newConfig("one copy", 3, jitter, dataflow.RenameBudget(8*bufCells)),
		newConfig("trace", 2, jitter, dataflow.Trace(0)),
		newConfig("debug", 2, jitter, dataflow.Debug()),
		newConfig("stop on error", 2, jitter, dataflow.StopOnError()),
		newConfig("context", 2, jitter, dataflow.Context(context.WithValue(context.Background(), instance{}, 1))),
		newConfig("not pinned", 2, jitter, dataflow.Pin(false)),
	)
}

func seededConfigs(seed uint64, n int) (all []*config) {
	for i := range n {
		s := seed + uint64(i) + 1
		all = append(all, newConfig(fmt.Sprintf("seeded %d", s), 2, 0, dataflow.Seeded(s)))
	}
	return all
}

func fuzzConfigs() []*config {
	all := append(serialConfigs(), seededConfigs(1, 3)...)
	return append(all, newConfig("parallel", 1, 0), newConfig("parallel", 2, 1), newConfig("parallel", 3, 2, dataflow.Window(3)))
}

// Random programs with everything that the runtime offers leave the same memory
// in every configuration.
func TestRandom_programs_agree(t *testing.T) {
	randomPrograms(t, fewer(60), limits{tasks: 60, depth: 3}, func(seed uint64, p *program) {
		parallel := parallelConfigs(seed)
		if !long() { // every second one
			i := uint64(0)
			parallel = slices.DeleteFunc(parallel, func(*config) bool { i++; return (i+seed)%2 == 0 })
		}
		agree(t, p, slices.Concat(serialConfigs(), seededConfigs(seed, 4), parallel)...)
	})
}

// So they do while the other workers leave most tasks to the submitter.
func TestRandom_programs_agree_held_back(t *testing.T) {
	defer dataflow.TakeAllBodiesForShort()()
	randomPrograms(t, fewer(20), limits{tasks: 60, depth: 3}, func(seed uint64, p *program) {
		var all []*config
		for _, workers := range []int{2, 3, 4} {
			c := newConfig("held back", workers, seed)
			c.begin = (*dataflow.Runtime).HoldBack
			all = append(all, c)
		}
		agree(t, p, append(serialConfigs(), all...)...)
	})
}

// Many small programs, so that a failure is small.
func TestRandom_small_programs_agree(t *testing.T) {
	randomPrograms(t, fewer(200), limits{tasks: 8, depth: 2}, func(seed uint64, p *program) {
		agree(t, p, slices.Concat(serialConfigs(), seededConfigs(seed, 2),
			[]*config{newConfig("parallel", 2, seed), newConfig("window 1", 2, seed, dataflow.Window(1))})...)
	})
}

// A seed stands for an order: the same one twice, another one for another seed.
func TestRandom_seeded_order_repeats(t *testing.T) {
	different := 0
	randomPrograms(t, 40, limits{tasks: 40, depth: 2, ordered: true}, func(seed uint64, p *program) {
		var orders [3][]int
		for i, s := range []uint64{seed, seed, seed + 1} {
			var err error
			_, orders[i], err = newConfig("seeded", 2, 0, dataflow.Seeded(s)).run(p)
			require.NoError(t, err)
		}
		require.Equal(t, orders[0], orders[1], "seed %d, program\n%v", seed, p)
		if !slices.Equal(orders[0], orders[2]) {
			different++
		}
	})
	if *programsFlag == 0 {
		assert.Greater(t, different, 20, "so many seeds of 40 chose another order than their neighbour")
	}
}

// The negative control: when one access of one task is not declared, the oracle
// must notice. Not every access is needed, so it is enough that it notices often,
// and every time when the access orders two neighbours.
func TestRandom_control_missing_access(t *testing.T) {
	found, tried := 0, 0
	randomPrograms(t, 40, limits{tasks: 12, depth: 0, ordered: true, flat: true}, func(seed uint64, p *program) {
		want := elide(p)
		n := hide(p, seed)
		if n == nil {
			return
		}
		tried++
		for _, c := range seededConfigs(seed*100, 20) {
			if got, _, err := c.run(p); err != nil || compare(want, got) != nil {
				found++
				return
			}
		}
	})
	t.Logf("one access of a task hidden in %d programs, noticed in %d", tried, found)
	if *programsFlag == 0 {
		assert.Greater(t, found, tried/5)
	}
}

// hide leaves out one access of one task of the main program.
func hide(p *program, seed uint64) *node {
	rng := rand.New(rand.NewPCG(seed, 7))
	for range 100 {
		s := p.steps[rng.IntN(len(p.steps))]
		if s.op != opSpawn || len(s.node.accs) == 0 || s.node.form >= formEach && s.node.form != formDynamic {
			continue
		}
		a := &s.node.accs[rng.IntN(len(s.node.accs))]
		if a.at.rows == 0 || a.kind == buffer {
			continue
		}
		a.hidden = true
		return s.node
	}
	return nil
}

// The smallest control: a chain of two tasks without its edge.
func TestRandom_control_missing_edge(t *testing.T) {
	at := shape{rows: 8, cols: 1}
	p := &program{nodes: 2, steps: []step{
		{op: opSpawn, node: &node{id: 0, form: formSingle, accs: []access{{mode: inout, from: fromInts, at: at}}}},
		{op: opSpawn, node: &node{id: 1, form: formSingle, accs: []access{{mode: inout, from: fromInts, at: at}}}},
	}}
	want := elide(p)
	wrong := func() (n int) {
		for seed := range uint64(40) {
			got, _, err := newConfig("seeded", 1, 0, dataflow.Seeded(seed+1)).run(p)
			require.NoError(t, err)
			if compare(want, got) != nil {
				n++
			}
		}
		return n
	}
	assert.Zero(t, wrong())
	p.steps[1].node.accs[0].hidden = true
	assert.Greater(t, wrong(), 5)
}
