package dataflow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc/panics"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/tasks"
)

// deadline ends the test binary with the stacks of all goroutines if the test is
// not over after d: what must never happen here is a hang.
func deadline(t testing.TB, d time.Duration) {
	timer := time.AfterFunc(d, func() {
		fmt.Fprintf(os.Stderr, "%s is not over after %v\n", t.Name(), d)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(3)
	})
	t.Cleanup(func() { timer.Stop() })
}

const patience = 60 * time.Second // of a deadline for tests that take far less than a second

// run is dataflow.Run under a deadline, with an audit of the state after it.
func run(t testing.TB, body func(*dataflow.Runtime) error, opts ...dataflow.Option) error {
	t.Helper()
	return runWithin(t, patience, body, opts...)
}

func runWithin(t testing.TB, limit time.Duration, body func(*dataflow.Runtime) error, opts ...dataflow.Option) error {
	t.Helper()
	deadline(t, limit)
	var rt *dataflow.Runtime
	err := dataflow.Run(func(r *dataflow.Runtime) error {
		rt = r
		return body(r)
	}, opts...)
	if rt != nil && !errors.As(err, new(*dataflow.StallError)) {
		assert.NoError(t, rt.Audit())
	}
	return err
}

// nearby returns file:line of the line that is offset lines below the call.
func nearby(offset int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+offset)
}

// meeting returns a function that returns when n calls of it are under way at the
// same time, or with an error after half a minute.
func meeting(n int32) func() error {
	var here atomic.Int32
	return func() error {
		here.Add(1)
		for end := time.Now().Add(patience / 2); here.Load() < n; time.Sleep(20 * time.Microsecond) {
			if time.Now().After(end) {
				return fmt.Errorf("%d of %d have come", here.Load(), n)
			}
		}
		return nil
	}
}

// programs are what child processes run, by name.
var programs = map[string]func(t *testing.T){}

// TestChild is the body of child processes.
func TestChild(t *testing.T) {
	if name := os.Getenv("WEFT_TEST_CHILD"); name != "" {
		programs[name](t)
	}
}

// child runs a program in a child process and returns its output and exit code.
func child(t *testing.T, name string, env ...string) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChild$", "-test.v", "-test.timeout=50s")
	cmd.Env = append(os.Environ(), append(env, "WEFT_TEST_CHILD="+name, "GORACE=atexit_sleep_ms=0")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NotEqual(t, -1, cmd.ProcessState.ExitCode(), "killed: %s", out.String())
	return out.String(), cmd.ProcessState.ExitCode()
}

func panicText(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		v := recover()
		require.NotNil(t, v, "no panic")
		text = fmt.Sprint(v)
	}()
	f()
	return ""
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		assert.Contains(t, text, p)
	}
}

// single returns the only *TaskError of err.
func single(t *testing.T, err error) *dataflow.TaskError {
	t.Helper()
	all := taskErrors(err)
	require.Len(t, all, 1, "in: %v", err)
	return all[0]
}

// taskErrors returns the outermost task errors that err joins.
func taskErrors(err error) (all []*dataflow.TaskError) {
	switch e := err.(type) {
	case *dataflow.TaskError:
		return []*dataflow.TaskError{e}
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			all = append(all, taskErrors(x)...)
		}
	case interface{ Unwrap() error }:
		return taskErrors(e.Unwrap())
	}
	return all
}

var (
	nothing  = func(*tasks.Context) error { return nil }
	setOne   = tasks.Declare1("setOne", func(x *int64) { *x = 1 }, tasks.Output)
	addOne   = tasks.Declare1("addOne", func(x *int64) { *x++ }, tasks.Inout)
	copyTo   = tasks.Declare2("copyTo", func(src, dst *int64) { *dst = *src }, tasks.Input, tasks.Output)
	fillTile = tasks.Declare1("fillTile", func(a tasks.Tile[float64]) { *a.At(0, 0) = 1 }, tasks.Inout)
	errOwn   = errors.New("deliberate")
)

// Declarations.

func TestDeclare_of_a_nil_body(t *testing.T) {
	where := nearby(1)
	text := panicText(t, func() { tasks.Declare1[[]int]("factor", nil, tasks.Inout) })
	contains(t, text, `"factor"`, where, "the body is nil")
	where = nearby(1)
	text = panicText(t, func() { tasks.DeclareCtx2[[]int, int]("solve", nil, tasks.Inout, tasks.Value) })
	contains(t, text, `"solve"`, where, "the body is nil")
}

func TestDeclare_of_a_type_without_a_region(t *testing.T) {
	where := nearby(1)
	text := panicText(t, func() { tasks.Declare2("update", func([]int, int) {}, tasks.Input, tasks.Inout) })
	contains(t, text, `"update"`, where, "parameter 2 (int)", "has no region", "Region() deps.Region")

	sum := tasks.Reduction(0, func(dst, src []int) {})
	for name, declare := range map[string]func(){
		"string":             func() { tasks.Declare1("x", func(string) {}, tasks.Input) },
		"map":                func() { tasks.Declare1("x", func(map[int]int) {}, tasks.Inout) },
		"struct":             func() { tasks.Declare1("x", func(struct{ a int }) {}, tasks.Inout) },
		"any":                func() { tasks.Declare1("x", func(any) {}, tasks.Inout) },
		"Each of int":        func() { tasks.Declare1("x", func([]int) {}, tasks.Each(tasks.Input)) },
		"Each of no slice":   func() { tasks.Declare1("x", func(*int) {}, tasks.Each(tasks.Input)) },
		"nil access":         func() { tasks.Declare1("x", func([]int) {}, nil) },
		"weak value":         func() { tasks.Declare1("x", func([]int) {}, tasks.Weak(tasks.Value)) },
		"each value":         func() { tasks.Declare1("x", func([]int) {}, tasks.Each(tasks.Value)) },
		"reduction of other": func() { tasks.Declare1("x", func([]float64) {}, sum) },
		"each reduction":     func() { tasks.Declare1("x", func([]int) {}, tasks.Each(sum)) },
	} {
		t.Run(name, func(t *testing.T) {
			contains(t, panicText(t, declare), `"x"`, "parameter 1", "fault_test.go:")
		})
	}
	text = panicText(t, func() { tasks.Declare1("x", func([]int) {}, tasks.Inout, tasks.Reads([]int{1})) })
	contains(t, text, `"x"`, "belong to Spawn")
}

// Bad arguments of a spawn make a failed task: the body does not run, and what
// depends on it is skipped.

func TestSpawn_of_a_bad_tile(t *testing.T) {
	data := make([]float64, 12)
	for name, c := range map[string]struct {
		tile tasks.Tile[float64]
		want string
	}{
		"leading dimension below rows": {tasks.Tile[float64]{Data: data, Rows: 4, Cols: 3, LD: 3}, "at least the number of rows, 4"},
		"beyond its slice":             {tasks.Tile[float64]{Data: data, Rows: 4, Cols: 3, LD: 5}, "beyond its slice of 12"},
		"one column beyond":            {tasks.Tile[float64]{Data: data, Rows: 13, Cols: 1, LD: 13}, "beyond its slice of 12"},
		"negative rows":                {tasks.Tile[float64]{Data: data, Rows: -4, Cols: 3, LD: 4}, "must not be negative"},
		"negative columns":             {tasks.Tile[float64]{Data: data, Rows: 4, Cols: -3, LD: 4}, "must not be negative"},
		"negative leading dimension":   {tasks.Tile[float64]{Data: data, Rows: 4, Cols: 3, LD: -4}, "at least the number of rows"},
		"no data":                      {tasks.Tile[float64]{Rows: 4, Cols: 3, LD: 4}, "beyond its slice of 0"},
		"sizes that overflow":          {tasks.Tile[float64]{Data: data, Rows: 4, Cols: 3, LD: 1 << 62}, "beyond its slice of 12"},
		"columns that overflow":        {tasks.Tile[float64]{Data: data, Rows: 4, Cols: 1 << 61, LD: 8}, "beyond its slice of 12"},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			err := run(t, func(rt *dataflow.Runtime) error {
				fillTile.Spawn(rt, c.tile)
				err := rt.Wait()
				e := single(t, err)
				assert.Equal(t, "fillTile", e.Label)
				contains(t, err.Error(), c.want, "parameter 1", "fault_test.go")
				rt.Spawn("dynamic", func(*tasks.Context) error { ran = true; return nil }, tasks.Reads(data, c.tile))
				err = rt.Wait()
				assert.Equal(t, "dynamic", single(t, err).Label)
				contains(t, err.Error(), c.want, "argument 2 of the clause Reads")
				return nil
			}, dataflow.Workers(1))
			require.NoError(t, err)
			assert.False(t, ran)
		})
	}
	assert.Zero(t, data[0])
}

func TestSpawn_of_a_bad_dynamic_task(t *testing.T) {
	sum := tasks.Reduction(0, func(dst, src []int) {})
	var p *regionPanics
	for name, c := range map[string]struct {
		body func(*tasks.Context) error
		cl   tasks.Clause
		want string
	}{
		"nil body":          {nil, tasks.Cost(0), "the body is nil"},
		"int":               {nothing, tasks.Reads([]int{1}, 7), "argument 2 of the clause Reads"},
		"nil":               {nothing, tasks.Updates(nil), "has no region"},
		"each of no slice":  {nothing, tasks.With(tasks.Each(tasks.Input), 7), "Each needs a slice"},
		"element":           {nothing, tasks.With(tasks.Each(tasks.Input), []any{[]int{1}, "x"}), "element 1"},
		"reduction":         {nothing, tasks.With(sum, []int{1}), "declared form"},
		"region that fails": {nothing, tasks.Reads(regionPanics{}), "no region today"},
		"nil with a region": {nothing, tasks.Reads(p, 7), "argument 2 of the clause Reads"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				x := int64(0)
				where := nearby(1)
				rt.Spawn("bad", c.body, tasks.Updates(&x), c.cl)
				addOne.Spawn(rt, &x)
				err := rt.Wait()
				e := single(t, err)
				assert.Equal(t, "bad", e.Label)
				assert.Equal(t, where, fmt.Sprintf("%s:%d", filepath.Base(e.File), e.Line))
				contains(t, err.Error(), c.want, "1 task that depended on failed ones was skipped")
				assert.Zero(t, x)
				return nil
			}, dataflow.Workers(1))
			require.NoError(t, err)
		})
	}
}

type regionPanics struct{}

func (regionPanics) Region() deps.Region { panic("no region today") }

var regionless = tasks.Declare2("regionless", func(*int64, regionPanics) {}, tasks.Inout, tasks.Input)

// A panic in a Region method happens in the middle of a registration; the registered part
// must not remain as a task that never ends.
func TestSpawn_with_a_Region_method_that_panics(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		x := int64(0)
		regionless.Spawn(rt, &x, regionPanics{})
		err := rt.Wait()
		assert.Equal(t, "regionless", single(t, err).Label)
		contains(t, err.Error(), "parameter 2", "no region today")
		addOne.Spawn(rt, &x)
		assert.NoError(t, rt.Wait())
		assert.EqualValues(t, 1, x)
		return nil
	})
	require.NoError(t, err)
}

func TestSpawn_of_a_weak_child_that_its_parent_does_not_cover(t *testing.T) {
	weakly := tasks.DeclareCtx1("weakly", func(ctx *tasks.Context, x []int64) error { return nil }, tasks.Weak(tasks.Inout))
	for name, c := range map[string]struct {
		parent tasks.Clause
		want   string
	}{
		"absent":       {tasks.Cost(0), "which no access of its parent"},
		"smaller":      {tasks.With(tasks.Weak(tasks.Inout), make([]int64, 2)), "which no access of its parent"},
		"only reading": {tasks.Clause{}, "declared it only as weak in"},
	} {
		t.Run(name, func(t *testing.T) {
			data := make([]int64, 4)
			if name == "only reading" {
				c.parent = tasks.With(tasks.Weak(tasks.Input), data)
			}
			err := run(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					weakly.Spawn(ctx, data)
					return ctx.Wait()
				}, c.parent)
				return rt.Wait()
			})
			contains(t, err.Error(), c.want, `"weakly"`, `"parent"`, "fault_test.go:")
		})
	}
}

// Failing bodies.

func TestPanic_is_an_error_with_its_stack(t *testing.T) {
	declared := nearby(1)
	explode := tasks.DeclareCtx2("explode", func(ctx *tasks.Context, x *int64, how int) error {
		switch how {
		case 0:
			panic("bang")
		case 1:
			panic(errOwn)
		case 2:
			panic(nil) //nolint:govet // becomes a runtime.PanicNilError
		case 3:
			var none *int64
			*none = *x
		case 4:
			defer func() { panic("second") }()
			panic("first")
		}
		return nil
	}, tasks.Inout, tasks.Value)
	for _, workers := range []int{1, 2} {
		for how, want := range []string{"bang", "deliberate", "nil", "nil pointer", "second"} {
			t.Run(fmt.Sprintf("workers=%d/%s", workers, want), func(t *testing.T) {
				var x int64
				var spawned string
				err := run(t, func(rt *dataflow.Runtime) error {
					spawned = nearby(1)
					explode.Spawn(rt, &x, how, tasks.Label("the one"), tasks.OnWorker(workers-1))
					return rt.Wait()
				}, dataflow.Workers(workers), dataflow.Debug())
				e := single(t, err)
				assert.Equal(t, "the one", e.Label)
				assert.Equal(t, declared, fmt.Sprintf("%s:%d", filepath.Base(e.File), e.Line))
				assert.Contains(t, e.Spawned, spawned)
				require.Len(t, e.Regions, 1)
				contains(t, e.Regions[0], "inout", fmt.Sprintf("%p", &x), "8 B")
				assert.NotZero(t, e.Task)
				var p *panics.ErrRecovered
				require.ErrorAs(t, err, &p)
				assert.Contains(t, string(p.Stack), "TestPanic_is_an_error_with_its_stack.func1")
				contains(t, err.Error(), want, "the one", declared, spawned, e.Regions[0], "fault_test.go")
				if how == 1 {
					assert.ErrorIs(t, err, errOwn)
				}
			})
		}
	}
}

func TestError_of_a_body(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		x, y := int64(0), int64(0)
		where := nearby(1)
		rt.Spawn("returns", func(*tasks.Context) error { return errOwn }, tasks.Reads(&x), tasks.Writes(&y))
		err := rt.Wait()
		e := single(t, err)
		assert.ErrorIs(t, err, errOwn)
		assert.Equal(t, "returns", e.Label)
		assert.Equal(t, where, fmt.Sprintf("%s:%d", filepath.Base(e.File), e.Line))
		assert.Len(t, e.Regions, 2)
		assert.Empty(t, e.Spawned, "recorded in debug and test modes only")
		assert.NoError(t, rt.Wait(), "a failure is returned once")
		return nil
	})
	require.NoError(t, err)
}

// After Close.

func TestSpawn_after_Close(t *testing.T) {
	deadline(t, patience)
	rt, err := dataflow.New(dataflow.Workers(2))
	require.NoError(t, err)
	var leaked *tasks.Context
	rt.Spawn("leaks", func(ctx *tasks.Context) error { leaked = ctx; return nil })
	require.NoError(t, rt.Close())
	assert.NoError(t, rt.Close(), "a second Close")
	assert.ErrorIs(t, rt.Wait(), dataflow.ErrClosed)
	x := int64(0)
	assert.ErrorIs(t, rt.WaitOn(&x), dataflow.ErrClosed)

	where := nearby(1)
	text := panicText(t, func() { addOne.Spawn(rt, &x) })
	contains(t, text, `"addOne"`, where, "closed runtime")
	where = nearby(1)
	text = panicText(t, func() { rt.Spawn("late", nothing) })
	contains(t, text, `"late"`, where, "closed runtime")
	text = panicText(t, func() { leaked.Spawn("later", nothing) })
	contains(t, text, `"later"`, "closed runtime")

	elsewhere := make(chan string)
	go func() { elsewhere <- panicText(t, func() { rt.Spawn("elsewhere", nothing) }) }()
	contains(t, <-elsewhere, `"elsewhere"`, "closed runtime")
}

// Calls from where they must not come.

func TestWait_inside_a_task(t *testing.T) {
	for worker := range 2 {
		t.Run(fmt.Sprintf("worker %d", worker), func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				x := int64(0)
				instead := map[string]string{"Wait": "Context.Wait", "WaitOn": "Context.WaitOn", "Close": "Context.Wait", "Block": "Context.Block"}
				for name, wait := range map[string]func() error{
					"Wait":   rt.Wait,
					"WaitOn": func() error { return rt.WaitOn(&x) },
					"Close":  rt.Close,
					"Block":  func() error { rt.Block(func() {}); return nil },
				} {
					rt.Spawn("selfish", func(*tasks.Context) error { return wait() }, tasks.OnWorker(worker))
					err := rt.Wait()
					assert.Equal(t, "selfish", single(t, err).Label)
					contains(t, err.Error(), name+" at ", "fault_test.go:", `inside task "selfish"`, instead[name])
				}
				addOne.Spawn(rt, &x)
				assert.NoError(t, rt.Wait())
				assert.EqualValues(t, 1, x)
				return nil
			}, dataflow.Workers(2))
			require.NoError(t, err)
		})
	}
}

func TestContext_waits_on_another_goroutine(t *testing.T) {
	x := int64(0)
	for name, wait := range map[string]func(*tasks.Context) error{
		"Wait":   (*tasks.Context).Wait,
		"WaitOn": func(ctx *tasks.Context) error { return ctx.WaitOn(&x) },
	} {
		for _, children := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s with %d children", name, children), func(t *testing.T) {
				err := run(t, func(rt *dataflow.Runtime) error {
					rt.Spawn("shared", func(ctx *tasks.Context) error {
						for range children {
							addOne.Spawn(ctx, &x)
						}
						done := make(chan error)
						go func() { done <- wait(ctx) }()
						err := <-done
						assert.Error(t, err)
						return err
					})
					return rt.Wait()
				}, dataflow.Workers(2))
				contains(t, err.Error(), `"shared"`, "fault_test.go:", "another goroutine")
			})
		}
	}
}

func TestClose_during_a_run_from_elsewhere(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		x := int64(0)
		for range 1000 {
			addOne.Spawn(rt, &x)
		}
		closed := make(chan error)
		go func() { closed <- rt.Close() }()
		contains(t, (<-closed).Error(), "Close at", "fault_test.go:", "another goroutine")
		for range 1000 {
			addOne.Spawn(rt, &x)
		}
		assert.NoError(t, rt.Wait())
		assert.EqualValues(t, 2000, x)
		return nil
	})
	require.NoError(t, err)
}

func TestSpawn_on_a_runtime_from_elsewhere(t *testing.T) {
	x := int64(0)
	check := func(t *testing.T, err error, where string) {
		t.Helper()
		require.Error(t, err)
		contains(t, err.Error(), `"addOne"`, "was spawned at", where, "only the goroutine that created the runtime", `"stray"`)
		assert.Zero(t, x, "the tasks did not run")
	}
	spawn := func(rt *dataflow.Runtime) (where string) {
		addOne.Spawn(rt, &x)
		rt.Spawn("stray", func(*tasks.Context) error { x++; return nil })
		return nearby(-2)
	}
	t.Run("another goroutine", func(t *testing.T) {
		err := run(t, func(rt *dataflow.Runtime) error {
			where := make(chan string)
			go func() { where <- spawn(rt) }()
			w := <-where
			check(t, rt.Wait(), w)
			return rt.Wait()
		})
		require.NoError(t, err)
	})
	for worker := range 2 {
		t.Run(fmt.Sprintf("a body on worker %d", worker), func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				where := ""
				rt.Spawn("body", func(*tasks.Context) error { where = spawn(rt); return nil }, tasks.OnWorker(worker))
				check(t, rt.Wait(), where)
				return rt.Wait()
			}, dataflow.Workers(2))
			require.NoError(t, err)
		})
	}
}

func TestSpawn_on_a_context_from_elsewhere(t *testing.T) {
	x, y := int64(0), int64(0)
	check := func(t *testing.T, err error, where string) {
		t.Helper()
		require.Error(t, err)
		contains(t, err.Error(), `"addOne"`, "was spawned at", where, "only the body of task")
		assert.Zero(t, x, "the task did not run")
	}
	spawn := func(ctx *tasks.Context) (where string) {
		addOne.Spawn(ctx, &x)
		return nearby(-1)
	}
	for _, children := range []int{0, 3} {
		t.Run(fmt.Sprintf("another goroutine, %d children", children), func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				where := make(chan string, 1)
				rt.Spawn("body", func(ctx *tasks.Context) error {
					for range children {
						addOne.Spawn(ctx, &y)
					}
					done := make(chan struct{})
					go func() { defer close(done); where <- spawn(ctx) }()
					<-done
					return nil
				})
				err := rt.Wait()
				check(t, err, <-where)
				contains(t, err.Error(), `"body"`)
				return rt.Wait()
			})
			require.NoError(t, err)
		})
		t.Run(fmt.Sprintf("after the body, %d children", children), func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				var leaked *tasks.Context
				rt.Spawn("body", func(ctx *tasks.Context) error {
					leaked = ctx
					for range children {
						addOne.Spawn(ctx, &y)
					}
					return nil
				})
				require.NoError(t, rt.Wait())
				check(t, func() error { where := spawn(leaked); return fmt.Errorf("%w %s", rt.Wait(), where) }(), "fault_test.go")
				return rt.Wait()
			})
			require.NoError(t, err)
		})
	}
	t.Run("while children are unfinished", func(t *testing.T) {
		err := run(t, func(rt *dataflow.Runtime) error {
			bodyOver, release := make(chan *tasks.Context), make(chan struct{})
			rt.Spawn("body", func(ctx *tasks.Context) error {
				ctx.Spawn("child", func(child *tasks.Context) error {
					ev := child.Hold()
					go func() { bodyOver <- ctx; <-release; ev.Done() }()
					return nil
				})
				return ctx.Wait()
			}, tasks.OnWorker(1))
			ctx := <-bodyOver
			where := spawn(ctx)
			close(release)
			check(t, rt.Wait(), where)
			return rt.Wait()
		}, dataflow.Workers(2))
		require.NoError(t, err)
	})
}

// Cancellation.

func TestCancel_before_the_run(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	x := int64(0)
	err := run(t, func(rt *dataflow.Runtime) error {
		addOne.Spawn(rt, &x)
		rt.Spawn("also", func(*tasks.Context) error { x++; return nil }, tasks.If(false))
		assert.ErrorIs(t, rt.WaitOn(&x), errOwn)
		assert.ErrorIs(t, rt.Wait(), errOwn)
		return nil
	}, dataflow.Context(ctx))
	assert.ErrorIs(t, err, errOwn)
	assert.Zero(t, x)
}

func TestCancel_during_the_run(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			var x, seen, late atomic.Int64
			var y int64
			err := run(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("waits", func(ctx *tasks.Context) error {
					rt.Cancel(errOwn)
					<-ctx.Done()
					seen.Add(1)
					assert.ErrorIs(t, context.Cause(ctx), errOwn)
					assert.ErrorIs(t, ctx.Err(), context.Canceled)
					ctx.Spawn("child", func(*tasks.Context) error { late.Add(1); return nil })
					return ctx.Wait()
				}, tasks.Updates(&y))
				for range 100 {
					rt.Spawn("dependent", func(*tasks.Context) error { x.Add(1); return nil }, tasks.Updates(&y))
				}
				assert.ErrorIs(t, rt.Wait(), errOwn)
				rt.Spawn("late", func(*tasks.Context) error { late.Add(1); return nil })
				return rt.Wait()
			}, dataflow.Workers(workers))
			assert.ErrorIs(t, err, errOwn)
			assert.Zero(t, x.Load(), "tasks that had not started")
			assert.Zero(t, late.Load(), "tasks spawned afterwards")
			assert.EqualValues(t, 1, seen.Load())
		})
	}
}

// A spawn that follows Cancel on the same goroutine does nothing, however fast.
func TestCancel_takes_effect_at_once(t *testing.T) {
	for range 200 {
		ran := false
		err := run(t, func(rt *dataflow.Runtime) error {
			rt.Cancel(errOwn)
			rt.Spawn("late", func(*tasks.Context) error { ran = true; return nil })
			return nil
		}, dataflow.Workers(1))
		require.ErrorIs(t, err, errOwn)
		require.False(t, ran)
	}
}

// Every spawn is known by its own line, as often as it is asked for, whatever the compiler
// has put into which function.
func TestDebug_names_every_spawn(t *testing.T) {
	var x int64
	fails := tasks.DeclareCtx1("fails", func(*tasks.Context, *int64) error { return errOwn }, tasks.Concurrent)
	line := func() int { _, _, n, _ := runtime.Caller(1); return n }
	_ = run(t, func(rt *dataflow.Runtime) error {
		short := func() int { fails.Spawn(rt, &x); return line() }
		for range 3 {
			var want []int
			fails.Spawn(rt, &x)
			want = append(want, line()-1)
			want = append(want, short())
			rt.Spawn("dynamic", func(*tasks.Context) error { return errOwn })
			want = append(want, line()-1)
			err := rt.Wait()
			for _, n := range want {
				assert.ErrorContains(t, err, fmt.Sprintf("fault_test.go:%d", n))
			}
		}
		return nil
	}, dataflow.Workers(1), dataflow.Debug())
}

// hasty is a context that is over before it can have told anybody.
type hasty struct {
	context.Context
	over *atomic.Bool
}

func (c hasty) Err() error {
	if c.over.Load() {
		return errOwn
	}
	return nil
}

// What the program sees of its context, the waits see too.
func TestCancel_is_reported_at_once(t *testing.T) {
	var over atomic.Bool
	err := run(t, func(rt *dataflow.Runtime) error {
		require.NoError(t, rt.Wait())
		over.Store(true)
		require.ErrorIs(t, rt.Wait(), errOwn)
		return nil
	}, dataflow.Context(hasty{t.Context(), &over}))
	assert.ErrorIs(t, err, errOwn)
}

// Cancellation from another goroutine while the program spawns without end, also
// above its window, with children, held events, blocked bodies and weak tasks.
func TestCancel_drains_whatever_is_there(t *testing.T) {
	var data [4]int64
	kinds := map[string]func(rt *dataflow.Runtime, i int){
		"plain": func(rt *dataflow.Runtime, i int) { addOne.Spawn(rt, &data[i%4]) },
		"inline": func(rt *dataflow.Runtime, i int) {
			addOne.Spawn(rt, &data[i%4])
			addOne.Spawn(rt, &data[i%4], tasks.If(false))
		},
		"children": func(rt *dataflow.Runtime, i int) {
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				for range 4 {
					addOne.Spawn(ctx, &data[i%4])
				}
				return ctx.Wait()
			}, tasks.With(tasks.Weak(tasks.Inout), &data[i%4]))
		},
		"held": func(rt *dataflow.Runtime, i int) {
			rt.Spawn("holder", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				go func() { <-ctx.Done(); ev.Fail(context.Cause(ctx)) }()
				return nil
			}, tasks.Updates(&data[i%4]))
		},
		"blocked": func(rt *dataflow.Runtime, i int) {
			rt.Spawn("blocker", func(ctx *tasks.Context) error {
				ctx.Block(func() { <-ctx.Done() })
				return nil
			}, tasks.Updates(&data[i%2]))
		},
		"commutative": func(rt *dataflow.Runtime, i int) {
			rt.Spawn("commutes", nothing, tasks.With(tasks.Commutative, &data[0], &data[1]))
		},
	}
	for name, spawn := range kinds {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			err := run(t, func(rt *dataflow.Runtime) error {
				go func() { time.Sleep(5 * time.Millisecond); cancel(errOwn) }()
				for i := 0; ctx.Err() == nil; i++ {
					spawn(rt, i)
				}
				return nil
			}, dataflow.Context(ctx), dataflow.Workers(2), dataflow.Window(64))
			assert.ErrorIs(t, err, errOwn)
		})
	}
}

// Goexit.

func TestGoexit_on_a_worker(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		x := int64(0)
		for i := range 20 {
			rt.Spawn("leaver", func(ctx *tasks.Context) error {
				if i%2 == 1 {
					ctx.Spawn("child", nothing)
				}
				if i%4 == 2 {
					ctx.Block(runtime.Goexit)
				}
				runtime.Goexit()
				return nil
			}, tasks.OnWorker(1), tasks.Updates(&x))
			addOne.Spawn(rt, &x)
			addOne.Spawn(rt, &x)
			err := rt.Wait()
			assert.Equal(t, "leaver", single(t, err).Label)
			contains(t, err.Error(), "Goexit", "2 tasks that depended on failed ones were skipped")
			meet := meeting(2)
			for range 2 {
				rt.Spawn("meets", func(*tasks.Context) error { return meet() })
			}
			require.NoError(t, rt.Wait(), "the worker has a successor")
			rt.Spawn("bound", nothing, tasks.OnWorker(1))
			require.NoError(t, rt.Wait())
		}
		assert.Zero(t, x)
		return nil
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

func init() {
	programs["goexit"] = func(t *testing.T) {
		over := make(chan string)
		go func() {
			how := "returned"
			defer func() { over <- how }()
			how = "ended"
			_ = dataflow.Run(func(rt *dataflow.Runtime) error {
				var x, y int64
				rt.Spawn("leaver", func(*tasks.Context) error { runtime.Goexit(); return nil }, tasks.OnWorker(0), tasks.Updates(&x))
				addOne.Spawn(rt, &x)
				setOne.Spawn(rt, &y)
				_ = rt.Wait()
				how = "went on"
				return nil
			}, dataflow.Workers(2))
			how = "returned from Run"
		}()
		fmt.Println("the goroutine", <-over)
		assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
			meet := meeting(2)
			for range 2 {
				rt.Spawn("meets", func(*tasks.Context) error { return meet() })
			}
			return rt.Wait()
		}, dataflow.Workers(2)), "the next runtime has its cores")
	}
	programs["goexit inside New"] = func(t *testing.T) {
		leavesInPlace(t, "leaver", func(*tasks.Context) { runtime.Goexit() })
	}
	programs["goexit in a part"] = func(t *testing.T) {
		leavesInPlace(t, "sharer", func(ctx *tasks.Context) { ctx.Share(2, func(int) { runtime.Goexit() }) })
	}
	programs["goexit in serial mode"] = func(t *testing.T) {
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = dataflow.Run(func(rt *dataflow.Runtime) error {
				rt.Spawn("outer", func(ctx *tasks.Context) error {
					ctx.Spawn("leaver", func(*tasks.Context) error { runtime.Goexit(); return nil })
					return nil
				})
				fmt.Println("went on")
				return nil
			}, dataflow.Serial())
		}()
		<-over
	}
	programs["FailNow"] = func(t *testing.T) {
		_ = dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("checks", func(*tasks.Context) error { require.Equal(t, 1, 2); return nil })
			_ = rt.Wait()
			fmt.Println("went on")
			return nil
		}, dataflow.Workers(1))
	}
}

// leavesInPlace runs a task in place that ends the goroutine of a runtime: the runtime is closed.
func leavesInPlace(t *testing.T, name string, body func(ctx *tasks.Context)) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		rt, err := dataflow.New(dataflow.Workers(2))
		require.NoError(t, err)
		rt.Spawn(name, func(ctx *tasks.Context) error { body(ctx); return nil }, tasks.If(false))
		fmt.Println("went on")
	}()
	<-over
	buf := make([]byte, 1<<20)
	assert.Eventually(t, func() bool {
		return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "dataflow.(*worker)")
	}, patience/2, time.Millisecond, "the runtime is closed")
}

func TestGoexit_on_the_submitting_goroutine(t *testing.T) {
	out, code := child(t, "goexit")
	assert.Zero(t, code, out)
	contains(t, out, `"leaver"`, "Goexit", "fault_test.go:", "the goroutine ended")
	assert.Equal(t, 1, strings.Count(out, "Goexit"), out)

	out, code = child(t, "goexit inside New")
	assert.Zero(t, code, out)
	contains(t, out, `"leaver"`, "Goexit")
	assert.NotContains(t, out, "went on")

	out, code = child(t, "goexit in a part")
	assert.Zero(t, code, out)
	contains(t, out, `"sharer"`, "Goexit")
	assert.NotContains(t, out, "went on")

	out, code = child(t, "goexit in serial mode")
	assert.Zero(t, code, out)
	contains(t, out, `"leaver"`, `"outer"`, "Goexit")
	assert.NotContains(t, out, "went on")

	out, code = child(t, "FailNow")
	assert.Equal(t, 1, code, out)
	contains(t, out, "--- FAIL: TestChild", `"checks"`, "Goexit", "Not equal")
	assert.NotContains(t, out, "went on")
}

// A body that helps while it waits survives what happens to the tasks that it
// helps with, unless they end its goroutine.
func TestHelping_body_survives_an_inner_panic(t *testing.T) {
	for name, c := range map[string]struct {
		end  func()
		dies bool
	}{
		"panic":  {func() { panic("inner") }, false},
		"goexit": {runtime.Goexit, true},
	} {
		t.Run(name, func(t *testing.T) {
			outer := false
			err := run(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("outer", func(ctx *tasks.Context) error {
					var ev *tasks.Event
					ctx.Spawn("child", func(child *tasks.Context) error { ev = child.Hold(); return nil }, tasks.OnWorker(1))
					ctx.Spawn("inner", func(*tasks.Context) error { ev.Done(); c.end(); return nil }, tasks.OnWorker(1))
					err := ctx.Wait()
					assert.Equal(t, "inner", single(t, err).Label)
					outer = true
					return nil
				}, tasks.OnWorker(1))
				return rt.Wait()
			}, dataflow.Workers(2))
			if c.dies {
				assert.False(t, outer)
				contains(t, err.Error(), `"outer"`, "Goexit")
				return
			}
			assert.NoError(t, err, "the outer task dealt with it")
			assert.True(t, outer)
		})
	}
}

// A body that fails in any way releases its commutative locks, and its events and children
// when they have ended.
func TestFailing_body_lets_go(t *testing.T) {
	for name, end := range map[string]func() error{
		"error":  func() error { return errOwn },
		"panic":  func() error { panic(errOwn) },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				var x, y, grandchildren int64
				rt.Spawn("fails", func(*tasks.Context) error { return end() },
					tasks.With(tasks.Commutative, &x, &y), tasks.OnWorker(1))
				rt.Spawn("other", func(*tasks.Context) error { y++; return nil }, tasks.With(tasks.Commutative, &y))
				err := rt.Wait()
				assert.Equal(t, "fails", single(t, err).Label)
				assert.EqualValues(t, 1, y, "the locks are free")

				var late atomic.Bool
				rt.Spawn("holds", func(ctx *tasks.Context) error {
					ev := ctx.Hold()
					ctx.Spawn("child", func(c *tasks.Context) error {
						c.Spawn("grandchild", func(*tasks.Context) error { grandchildren++; return nil })
						return nil
					})
					go func() {
						time.Sleep(2 * time.Millisecond)
						late.Store(true)
						ev.Fail(errors.New("late"))
					}()
					return end()
				}, tasks.Updates(&x), tasks.OnWorker(1))
				addOne.Spawn(rt, &x)
				err = rt.Wait()
				assert.True(t, late.Load(), "the task ends with its event")
				assert.Equal(t, "holds", single(t, err).Label)
				contains(t, err.Error(), "late", "1 task that depended")
				assert.EqualValues(t, 1, grandchildren)
				assert.Zero(t, x)
				return nil
			}, dataflow.Workers(2))
			require.NoError(t, err)
		})
	}
}

func TestError_in_seeded_mode_names_the_seed(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("fails", func(*tasks.Context) error { return errOwn })
		return rt.Wait()
	}, dataflow.Seeded(12345))
	contains(t, err.Error(), "Seeded(12345)", `"fails"`)
	assert.ErrorIs(t, err, errOwn)
}

// Harmless extremes.

func TestZero_length_regions(t *testing.T) {
	type empty struct{ _ int }
	many := tasks.Declare7("many", func(a []int64, b *int64, c tasks.Tile[float64], d [][]int64, e *tasks.Buffer[int64], f *empty, g *handleOf) {
	},
		tasks.Inout, tasks.Output, tasks.Inout, tasks.Each(tasks.Inout), tasks.Output, tasks.Inout, tasks.Inout)
	for _, opts := range [][]dataflow.Option{{dataflow.Workers(1)}, {dataflow.Workers(2)}, {dataflow.Serial()}, {dataflow.Verify()}} {
		err := run(t, func(rt *dataflow.Runtime) error {
			var some [4]int64
			for range 3 {
				many.Spawn(rt, nil, nil, tasks.Tile[float64]{}, nil, nil, nil, nil)
				many.Spawn(rt, []int64{}, nil, tasks.Tile[float64]{Data: []float64{1}, Rows: 0, Cols: 7, LD: 0},
					[][]int64{nil, some[:0], some[2:2]}, tasks.NewBuffer[int64](0), nil, nil)
				rt.Spawn("dynamic", nothing, tasks.Updates([]int64(nil), (*int64)(nil), some[1:1], deps.Region{}, (*handleOf)(nil)))
			}
			require.NoError(t, rt.WaitOn([]int64(nil), (*int64)(nil)))
			require.NoError(t, rt.WaitOn())
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
	}
}

type handleOf struct{ id uintptr }

func (h *handleOf) Region() deps.Region { return deps.Handle(h.id) }

// Tasks that update an empty region run side by side.
func TestZero_length_regions_cause_no_dependence(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		meet := meeting(2)
		var some [4]int64
		for range 2 {
			rt.Spawn("meets", func(*tasks.Context) error { return meet() }, tasks.Updates(some[1:1], []int64(nil)))
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

func init() {
	programs["crowd"] = func(t *testing.T) {
		for range 2 {
			x := int64(0)
			assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
				meet := meeting(2)
				for range 2 {
					rt.Spawn("meets", func(*tasks.Context) error { return meet() })
				}
				for range 1000 {
					addOne.Spawn(rt, &x)
				}
				return rt.Wait()
			}, dataflow.Workers(max(2, 3*runtime.NumCPU()))))
			assert.EqualValues(t, 1000, x)
		}
	}
}

func TestMore_workers_than_cores(t *testing.T) {
	out, code := child(t, "crowd")
	assert.Zero(t, code, out)
	assert.Equal(t, 1, strings.Count(out, "they take turns"), out)
}

func TestGOMAXPROCS_of_one(t *testing.T) {
	out, code := child(t, "crowd", "GOMAXPROCS=1")
	assert.Zero(t, code, out)
	assert.Equal(t, 1, strings.Count(out, "GOMAXPROCS raised from 1 to"), out)
}

func TestNew_refuses_bad_options(t *testing.T) {
	var none context.Context
	for want, o := range map[string]dataflow.Option{
		"Workers(0)":       dataflow.Workers(0),
		"Workers(-1)":      dataflow.Workers(-1),
		"Workers(1000000)": dataflow.Workers(1_000_000),
		"Window(0)":        dataflow.Window(0),
		"Window(-5)":       dataflow.Window(-5),
		"Context(nil)":     dataflow.Context(none),
		"RenameBudget(-1)": dataflow.RenameBudget(-1),
		"Stall(-1ns)":      dataflow.Stall(-1, false),
		"Trace(-1)":        dataflow.Trace(-1),
	} {
		_, err := dataflow.New(o)
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "weft: ")
		ran := false
		err = dataflow.Run(func(*dataflow.Runtime) error { ran = true; return nil }, o)
		assert.Error(t, err)
		assert.False(t, ran)
	}
}

func TestEvent(t *testing.T) {
	t.Run("ended twice", func(t *testing.T) {
		err := run(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("holds", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				ev.Done()
				assert.PanicsWithValue(t, "tasks: Event ended twice", ev.Done)
				assert.PanicsWithValue(t, "tasks: Event ended twice", func() { ev.Fail(errOwn) })
				return nil
			})
			return rt.Wait()
		})
		require.NoError(t, err)
	})
	for name, fail := range map[string]error{"fails": errOwn, "done": nil} {
		t.Run(name, func(t *testing.T) {
			x := int64(0)
			err := run(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("holds", func(ctx *tasks.Context) error {
					for i := range 3 {
						ev := ctx.Hold()
						go func() {
							time.Sleep(time.Duration(i) * time.Millisecond)
							if i == 1 {
								ev.Fail(fail)
							} else {
								ev.Done()
							}
						}()
					}
					return nil
				}, tasks.Updates(&x))
				addOne.Spawn(rt, &x)
				return rt.Wait()
			})
			if fail == nil {
				assert.NoError(t, err)
				assert.EqualValues(t, 1, x)
				return
			}
			assert.Equal(t, "holds", single(t, err).Label)
			assert.ErrorIs(t, err, errOwn)
			assert.Zero(t, x, "the successor is skipped")
		})
	}
	t.Run("from another goroutine", func(t *testing.T) {
		err := run(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("holds", func(ctx *tasks.Context) error {
				done := make(chan struct{})
				go func() { defer close(done); ctx.Hold().Done() }()
				<-done
				return nil
			})
			return rt.Wait()
		})
		contains(t, err.Error(), `"holds"`, "another goroutine", "fault_test.go:")
	})
}

func TestOnWorker_that_does_not_exist(t *testing.T) {
	for name, opts := range map[string][]dataflow.Option{
		"parallel": {dataflow.Workers(2)}, "serial": {dataflow.Workers(2), dataflow.Serial()},
		"seeded": {dataflow.Workers(2), dataflow.Seeded(1)}, "verify": {dataflow.Workers(2), dataflow.Verify()},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			err := run(t, func(rt *dataflow.Runtime) error {
				for _, i := range []int{-1, 2, 1 << 20, 1<<31 - 2, 1 << 40} {
					rt.Spawn("lost", func(*tasks.Context) error { ran++; return nil }, tasks.OnWorker(i))
					err := rt.Wait()
					assert.Equal(t, "lost", single(t, err).Label)
					contains(t, err.Error(), fmt.Sprintf("OnWorker(%d)", i))
				}
				rt.Spawn("found", func(*tasks.Context) error { ran += 10; return nil }, tasks.OnWorker(1))
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.Equal(t, 10, ran)
		})
	}
}

func TestOnComm_without_a_communication_thread(t *testing.T) {
	send := tasks.Declare1("send", func(*int64) { panic("must not run") }, tasks.Input, tasks.OnComm)
	for name, opts := range map[string][]dataflow.Option{
		"parallel": {dataflow.Workers(2)}, "serial": {dataflow.Serial()}, "seeded": {dataflow.Seeded(1)},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				x := int64(0)
				addOne.Spawn(rt, &x)
				send.Spawn(rt, &x)
				err := rt.Wait()
				assert.Equal(t, "send", single(t, err).Label)
				contains(t, err.Error(), "OnComm", "commthread")
				assert.EqualValues(t, 1, x)
				return nil
			}, opts...)
			require.NoError(t, err)
		})
	}
}

// A hook that panics is the fault of its task, and the run goes on.
func TestOnReady_that_panics(t *testing.T) {
	for _, workers := range []int{1, 2} {
		err := run(t, func(rt *dataflow.Runtime) error {
			var x, y int64
			hook := tasks.OnReady(func() { panic("hooked") })
			addOne.Spawn(rt, &x, hook) // ready at once
			err := rt.Wait()
			assert.Equal(t, "addOne", single(t, err).Label)
			contains(t, err.Error(), "hooked", "OnReady")
			addOne.Spawn(rt, &y)
			addOne.Spawn(rt, &y, hook) // perhaps ready later
			addOne.Spawn(rt, &y)
			err = rt.Wait()
			contains(t, err.Error(), "hooked")
			assert.EqualValues(t, 1, y)
			assert.Zero(t, x)
			return nil
		}, dataflow.Workers(workers))
		require.NoError(t, err)
	}
}

// A combination that fails must not vanish: the result of the reduction is lost.
func TestReduction_whose_combination_panics(t *testing.T) {
	sum := tasks.Reduction(0, func(dst, src []int64) { panic("cannot combine") })
	accumulate := tasks.Declare1("accumulate", func(x *int64) { *x++ }, sum)
	err := run(t, func(rt *dataflow.Runtime) error {
		x := int64(0)
		accumulate.Spawn(rt, &x)
		addOne.Spawn(rt, &x)
		err := rt.Wait()
		require.Error(t, err)
		contains(t, err.Error(), "cannot combine")
		assert.Zero(t, x)
		return nil
	})
	require.NoError(t, err)
}

// A process that was started with one core runs two tasks that need each other,
// and says once that it has one core.
func TestOne_core_mask(t *testing.T) {
	if runtime.GOOS != "linux" || osthread.NumCores() < 2 {
		t.Skip("needs Linux and two cores, to take one away")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mask, err := osthread.Affinity()
	require.NoError(t, err)
	defer func() { require.NoError(t, osthread.SetAffinity(mask)) }()
	require.NoError(t, osthread.SetAffinity(osthread.CPUSetOf(mask.List()[1]))) // a child process inherits it
	out, code := child(t, "one core")
	assert.Zero(t, code, out)
	assert.Equal(t, 1, strings.Count(out, "this process may use 1 of"), out)
	assert.Equal(t, 1, strings.Count(out, "2 workers on 1 cores"), out)
	contains(t, out, "default workers: 1", "mpirun")
}

func init() {
	programs["one core"] = func(t *testing.T) {
		for range 2 {
			assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
				fmt.Println("default workers:", rt.Workers())
				return nil
			}))
			x := int64(0)
			assert.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
				meet := meeting(2)
				for range 2 {
					rt.Spawn("meets", func(*tasks.Context) error { return meet() })
				}
				for range 1000 {
					addOne.Spawn(rt, &x)
				}
				return rt.Wait()
			}, dataflow.Workers(2)))
			assert.EqualValues(t, 1000, x)
		}
	}
}

// Errors: which tasks are skipped, which go on, and the error of Wait.

// What overlaps the data of a WaitOn that failed depends on the failed task only if its
// own data do; in the main program, and among the children of a task.
func TestFailure_of_WaitOn_is_its_own(t *testing.T) {
	type scope interface {
		tasks.Scope
		WaitOn(xs ...any) error
	}
	program := func(in scope, x []int64) {
		fails := func(*tasks.Context) error { return errOwn }
		tasks.Spawn(in, "before", func(*tasks.Context) error { x[2]++; return nil }, tasks.Updates(x[2:]))
		tasks.Spawn(in, "fails", fails, tasks.Updates(&x[0]))
		assert.Error(t, in.WaitOn(x))
		addOne.Spawn(in, &x[1]) // beside the failed task
		addOne.Spawn(in, &x[2])
		tasks.Spawn(in, "overlaps both", func(*tasks.Context) error { panic("ran") }, tasks.Updates(x[:2]))
		tasks.Spawn(in, "after it", func(*tasks.Context) error { panic("ran") }, tasks.Updates(&x[0]))
	}
	for _, opts := range [][]dataflow.Option{{dataflow.Workers(1)}, {dataflow.Workers(2)}, {dataflow.Serial()}, {dataflow.Verify()}, {dataflow.Seeded(3)}} {
		x, y := make([]int64, 3), make([]int64, 3)
		err := run(t, func(rt *dataflow.Runtime) error {
			program(rt, x)
			rt.Spawn("parent", func(ctx *tasks.Context) error { program(ctx, y); return nil }, tasks.Updates(y))
			return rt.Wait()
		}, opts...)
		assert.ErrorIs(t, err, errOwn)
		assert.Equal(t, []int64{0, 1, 2}, x)
		assert.Equal(t, []int64{0, 1, 2}, y)
	}
}

func TestFailure_skips_what_depends_on_it(t *testing.T) {
	for _, opts := range [][]dataflow.Option{{dataflow.Workers(1)}, {dataflow.Workers(2)}, {dataflow.Serial()}, {dataflow.Seeded(3)}} {
		var x, y, z, other, sum int64
		fail := func(*tasks.Context) error { return errOwn }
		err := run(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("fails", fail, tasks.Updates(&x))
			for range 40 { // a group of readers, more than a node holds inline
				copyTo.Spawn(rt, &x, &y)
			}
			copyTo.Spawn(rt, &y, &z) // transitively
			rt.Spawn("concurrent", func(*tasks.Context) error { panic("ran") }, tasks.With(tasks.Concurrent, &z))
			rt.Spawn("concurrent", func(*tasks.Context) error { panic("ran") }, tasks.With(tasks.Concurrent, &z))
			rt.Spawn("commutes", func(*tasks.Context) error { panic("ran") }, tasks.With(tasks.Commutative, &z))
			rt.Spawn("after the group", func(*tasks.Context) error { panic("ran") }, tasks.Updates(&z))
			for range 10 {
				addOne.Spawn(rt, &other) // independent
			}
			assert.ErrorIs(t, rt.WaitOn(&z), errOwn)
			assert.ErrorIs(t, rt.WaitOn(&x), errOwn, "as often as asked")
			assert.NoError(t, rt.WaitOn(&other))
			copyTo.Spawn(rt, &z, &sum) // after the failure
			addOne.Spawn(rt, &other)
			err := rt.Wait()
			assert.Equal(t, "fails", single(t, err).Label)
			contains(t, err.Error(), "46 tasks that depended on failed ones were skipped")
			addOne.Spawn(rt, &x) // Wait has cleared it
			copyTo.Spawn(rt, &x, &y)
			addOne.Spawn(rt, &z)
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 1, 1, 11, 0}, []int64{x, y, z, other, sum})
	}
}

func TestFailure_of_a_reader_and_of_a_group(t *testing.T) {
	for _, mode := range []tasks.Mode{tasks.Input, tasks.Concurrent, tasks.Commutative} {
		err := run(t, func(rt *dataflow.Runtime) error {
			x := int64(0)
			for i := range 5 {
				rt.Spawn("member", func(*tasks.Context) error {
					if i == 3 {
						return errOwn
					}
					return nil
				}, tasks.With(mode, &x))
			}
			join := tasks.Concurrent
			if mode == join {
				join = tasks.Input
			}
			for range 3 {
				rt.Spawn("next group", func(*tasks.Context) error { panic("ran") }, tasks.With(join, &x))
			}
			err := rt.Wait()
			assert.Equal(t, "member", single(t, err).Label)
			contains(t, err.Error(), "3 tasks that depended")
			addOne.Spawn(rt, &x)
			return rt.Wait()
		}, dataflow.Workers(2))
		require.NoError(t, err)
	}
}

func TestStopOnError(t *testing.T) {
	var before, after, again int64
	err := run(t, func(rt *dataflow.Runtime) error {
		addOne.Spawn(rt, &before)
		rt.Spawn("fails", func(*tasks.Context) error { return errOwn })
		for range 10 {
			addOne.Spawn(rt, &after)
		}
		assert.ErrorIs(t, rt.Wait(), errOwn)
		addOne.Spawn(rt, &again)
		return rt.Wait()
	}, dataflow.StopOnError(), dataflow.Workers(1))
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 0, 1}, []int64{before, after, again})
}

func TestMany_failures_are_bounded(t *testing.T) {
	for name, mode := range map[string]dataflow.Option{"serial": dataflow.Serial(), "parallel": dataflow.Workers(2)} {
		t.Run(name, func(t *testing.T) {
			err := run(t, func(rt *dataflow.Runtime) error {
				for i := range 1000 {
					rt.Spawn(fmt.Sprint("task ", i), func(*tasks.Context) error { return fmt.Errorf("failure %d", i) })
				}
				err := rt.Wait()
				all := taskErrors(err)
				require.Len(t, all, 64)
				for i, e := range all {
					if name == "serial" {
						assert.Equal(t, fmt.Sprint("task ", i), e.Label, "in the order of failure")
					}
				}
				contains(t, err.Error(), "and 936 more tasks failed")
				return nil
			}, mode)
			require.NoError(t, err)
		})
	}
}

func TestRun_returns_the_error_of_its_body_and_those_not_seen(t *testing.T) {
	seen, unseen := errors.New("seen"), errors.New("unseen")
	err := run(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("first", func(*tasks.Context) error { return seen })
		assert.ErrorIs(t, rt.Wait(), seen)
		rt.Spawn("second", func(*tasks.Context) error { return unseen })
		return errOwn
	})
	assert.ErrorIs(t, err, errOwn)
	assert.ErrorIs(t, err, unseen)
	assert.NotErrorIs(t, err, seen)
}

func TestRun_whose_body_panics(t *testing.T) {
	ran := false
	assert.PanicsWithValue(t, "own", func() {
		_ = run(t, func(rt *dataflow.Runtime) error {
			for range 10 {
				rt.Spawn("skipped", func(*tasks.Context) error { ran = true; return nil })
			}
			panic("own")
		}, dataflow.Workers(1))
	})
	assert.False(t, ran)
	x := int64(0)
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error { addOne.Spawn(rt, &x); return nil }))
	assert.EqualValues(t, 1, x)
}

func TestFailure_of_a_child(t *testing.T) {
	parent := func(dealWith func(*tasks.Context) error) func(*dataflow.Runtime) error {
		return func(rt *dataflow.Runtime) error {
			x := int64(0)
			rt.Spawn("parent", func(ctx *tasks.Context) error {
				ctx.Spawn("child", func(*tasks.Context) error { return errOwn }, tasks.Updates(&x))
				addOne.Spawn(ctx, &x)
				return dealWith(ctx)
			}, tasks.Updates(&x))
			addOne.Spawn(rt, &x)
			err := rt.Wait()
			if err != nil {
				assert.Zero(t, x)
			} else {
				assert.EqualValues(t, 1, x)
			}
			return err
		}
	}
	for _, opts := range [][]dataflow.Option{{dataflow.Workers(1)}, {dataflow.Workers(2)}, {dataflow.Serial()}} {
		err := run(t, parent(func(*tasks.Context) error { return nil }), opts...)
		assert.Equal(t, "parent", single(t, err).Label, "a failed child that nobody waits for fails its parent")
		contains(t, err.Error(), `"child"`, "fault_test.go:")
		assert.ErrorIs(t, err, errOwn)

		err = run(t, parent((*tasks.Context).Wait), opts...)
		assert.Equal(t, "parent", single(t, err).Label, "a body may pass it on")
		contains(t, err.Error(), "1 task that depended")

		err = run(t, parent(func(ctx *tasks.Context) error {
			assert.ErrorIs(t, ctx.Wait(), errOwn)
			return ctx.Wait()
		}), opts...)
		assert.NoError(t, err, "or deal with it")
	}
}

// Many failing tasks, from all workers, with successors: nothing is lost.
func TestFailures_from_all_workers(t *testing.T) {
	err := run(t, func(rt *dataflow.Runtime) error {
		var data [64]int64
		for round := range 20 {
			for i := range data {
				rt.Spawn("fails", func(*tasks.Context) error {
					if i%2 == round%2 {
						panic(errOwn)
					}
					return nil
				}, tasks.Updates(&data[i]))
				addOne.Spawn(rt, &data[i])
			}
			err := rt.Wait()
			assert.Len(t, taskErrors(err), 32)
			contains(t, err.Error(), "32 tasks that depended")
		}
		for i := range data {
			assert.EqualValues(t, 10, data[i])
		}
		return nil
	}, dataflow.Workers(4))
	require.NoError(t, err)
}
