package trace

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

var keep = flag.String("keep", "", "folder to keep the files of the traced Cholesky run in, for a look")

// The tests below trace real runs: this package reads the records of the runtime.

const tileSize = 48

// The kernels of the tiled Cholesky factorization, on square row-major tiles.
var (
	potrf = tasks.Declare1("potrf", func(a []float64) {
		for j := range tileSize {
			for i := j; i < tileSize; i++ {
				x := a[i*tileSize+j] - inner(a[i*tileSize:][:j], a[j*tileSize:][:j])
				if i == j {
					a[i*tileSize+j] = math.Sqrt(x)
				} else {
					a[i*tileSize+j] = x / a[j*tileSize+j]
				}
			}
			clear(a[j*tileSize+j+1:][:tileSize-j-1])
		}
	}, tasks.Inout, tasks.HighPriority)
	trsm = tasks.Declare2("trsm", func(l, a []float64) {
		for i := range tileSize {
			for j := range tileSize {
				a[i*tileSize+j] = (a[i*tileSize+j] - inner(a[i*tileSize:][:j], l[j*tileSize:][:j])) / l[j*tileSize+j]
			}
		}
	}, tasks.Input, tasks.Inout)
	syrk = tasks.Declare2("syrk", func(a, c []float64) { multiply(a, a, c) }, tasks.Input, tasks.Inout)
	gemm = tasks.Declare3("gemm", multiply, tasks.Input, tasks.Input, tasks.Inout)
)

func multiply(a, b, c []float64) {
	for i := range tileSize {
		for j := range tileSize {
			c[i*tileSize+j] -= inner(a[i*tileSize:][:tileSize], b[j*tileSize:][:tileSize])
		}
	}
}

func inner(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// tiles is a symmetric positive definite matrix of n x n tiles.
func tiles(n int) [][][]float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	a := make([][][]float64, n)
	for i := range a {
		a[i] = make([][]float64, n)
		for j := range a[i] {
			a[i][j] = make([]float64, tileSize*tileSize)
		}
	}
	for i := range n * tileSize {
		for j := range i + 1 {
			x := rng.Float64()
			if i == j {
				x += float64(n * tileSize)
			}
			a[i/tileSize][j/tileSize][i%tileSize*tileSize+j%tileSize] = x
			a[j/tileSize][i/tileSize][j%tileSize*tileSize+i%tileSize] = x
		}
	}
	return a
}

func factor(rt *dataflow.Runtime, a [][][]float64) {
	for k := range a {
		potrf.Spawn(rt, a[k][k])
		for i := k + 1; i < len(a); i++ {
			trsm.Spawn(rt, a[k][k], a[i][k])
		}
		for i := k + 1; i < len(a); i++ {
			for j := k + 1; j < i; j++ {
				gemm.Spawn(rt, a[i][k], a[j][k], a[i][j])
			}
			syrk.Spawn(rt, a[i][k], a[i][i])
		}
	}
}

// residual is the largest entry of A - L Lt below the diagonal.
func residual(a, l [][][]float64) (worst float64) {
	at := func(m [][][]float64, i, j int) float64 {
		return m[i/tileSize][j/tileSize][i%tileSize*tileSize+j%tileSize]
	}
	for i := range len(a) * tileSize {
		for j := range i + 1 {
			x := at(a, i, j)
			for k := range j + 1 {
				x -= at(l, i, k) * at(l, j, k)
			}
			worst = max(worst, math.Abs(x))
		}
	}
	return worst
}

// traced runs a program with a log.
func traced(t *testing.T, body func(rt *dataflow.Runtime) error, opts ...dataflow.Option) *dataflow.Log {
	t.Helper()
	var l *dataflow.Log
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		err := body(rt)
		l = rt.Log()
		return err
	}, append([]dataflow.Option{dataflow.Trace(0)}, opts...)...))
	require.NotNil(t, l)
	return l
}

func TestRunOfCholesky(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		l, a := tiles(4), tiles(4)
		log := traced(t, func(rt *dataflow.Runtime) error {
			factor(rt, l)
			return rt.Wait()
		}, dataflow.Workers(workers))
		require.Less(t, residual(a, l), 1e-10)

		dir := t.TempDir()
		if *keep != "" && workers == 2 {
			dir = *keep
		}
		requireSound(t, log)
		for _, name := range []string{"run.json", "run.dot", "run.txt"} {
			require.NoError(t, WriteFile(filepath.Join(dir, name), log))
		}
		requireCholesky(t, log, workers)
	}
}

// requireCholesky checks the log of 4 x 4 tiles.
func requireCholesky(t *testing.T, log *dataflow.Log, workers int) {
	s := Summarize(log)
	counts := map[string]int{}
	for _, l := range s.Labels {
		counts[l.Name] = l.Count
		assert.Contains(t, l.File, "run_test.go")
	}
	assert.Equal(t, map[string]int{"potrf": 4, "trsm": 6, "syrk": 6, "gemm": 4}, counts)
	assert.Equal(t, workers, s.Slots)
	assert.Zero(t, s.Unfinished+s.Failed+s.Skipped+s.NeverStarted)
	assert.Greater(t, s.OverBound, 0.999)
	assert.GreaterOrEqual(t, s.CriticalPath, s.Work/20)

	f := chromeOf(t, log)
	assert.Len(t, slices.DeleteFunc(f.phase("X"), func(e chromeEvent) bool { return e.Cat != "task" }), 20)
	m := newModel(log)
	assert.Len(t, f.phase("s"), len(m.deps.from), "an arrow for every dependence")
	for e := range m.deps.from {
		from, to := &m.tasks[m.deps.from[e]], &m.tasks[m.deps.to[e]]
		assert.LessOrEqual(t, from.end, to.start, "task %d started before task %d ended", to.number, from.number)
	}
}

func TestRunWithChildrenBlocksAndEvents(t *testing.T) {
	l := traced(t, func(rt *dataflow.Runtime) error {
		x := []int64{0}
		rt.Spawn("parent", func(ctx *tasks.Context) error {
			for range 3 {
				ctx.Spawn("child", func(ctx *tasks.Context) error { busy(50 * us); return nil })
			}
			if err := ctx.Wait(); err != nil {
				return err
			}
			ctx.Block(func() { time.Sleep(2 * time.Millisecond) })
			e := ctx.Hold()
			time.AfterFunc(3*time.Millisecond, e.Done)
			return nil
		}, tasks.Updates(x))
		rt.Spawn("reader", func(ctx *tasks.Context) error { return nil }, tasks.Reads(x))
		return rt.Wait()
	}, dataflow.Workers(2))
	requireSound(t, l)
	s := Summarize(l)
	assert.Equal(t, 5, s.Tasks)
	assert.GreaterOrEqual(t, s.CriticalPath, 50*us)
	assert.GreaterOrEqual(t, s.OutsidePath, 5*time.Millisecond, "2 ms blocked and 3 ms held")
	assert.Greater(t, s.OutsidePath-s.CriticalPath, 1900*us)
	var blocked, children int
	for _, e := range chromeOf(t, l).phase("X") {
		if e.Name == "blocked" {
			blocked++
			assert.Greater(t, e.end-e.at, int64(1_900_000))
		}
		if e.Name == "child" {
			children++
			assert.Equal(t, 1., e.Args["parent"])
		}
	}
	assert.Equal(t, 1, blocked)
	assert.Equal(t, 3, children)
}

// A WaitOn joins the tasks that it waits for and nothing else.
func TestRunWithWaitOn(t *testing.T) {
	for _, workers := range []int{1, 2} {
		l := traced(t, func(rt *dataflow.Runtime) error {
			x, y := []int64{0}, []int64{0}
			rt.Spawn("long", func(*tasks.Context) error { busy(3 * time.Millisecond); return nil }, tasks.Updates(x), tasks.HighPriority)
			rt.Spawn("short", func(*tasks.Context) error { busy(100 * us); return nil }, tasks.Updates(y))
			if err := rt.WaitOn(y); err != nil { // one worker runs "long" in here, too
				return err
			}
			busy(5 * time.Millisecond) // two workers end it meanwhile
			rt.Spawn("last", func(*tasks.Context) error { busy(1 * time.Millisecond); return nil })
			return rt.Wait()
		}, dataflow.Workers(workers))
		requireSound(t, l)
		s := Summarize(l)
		assert.Equal(t, 3, s.Tasks, "the wait is no task")
		path := map[string]bool{} // not its length: however long each of them took
		for _, l := range s.Path {
			path[l.Name] = true
		}
		assert.NotEmpty(t, path)
		assert.False(t, path["long"] && path["last"], "long and last can run side by side: %v", path)
	}
}

func TestRunWithErrors(t *testing.T) {
	boom := errors.New("boom")
	var l *dataflow.Log
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		x := []int64{0}
		rt.Spawn("bad", func(*tasks.Context) error { return boom }, tasks.Updates(x))
		rt.Spawn("poisoned", func(*tasks.Context) error { return nil }, tasks.Reads(x))
		err := rt.Wait()
		l = rt.Log()
		return err
	}, dataflow.Workers(1), dataflow.Trace(0))
	require.ErrorIs(t, err, boom)
	requireSound(t, l)
	s := Summarize(l)
	assert.Equal(t, 1, s.Tasks)
	assert.Equal(t, 1, s.Failed)
	assert.Equal(t, 1, s.Skipped)
}

// A log with a limit is truncated, and says so.
func TestRunBeyondTheLimit(t *testing.T) {
	l := traced(t, func(rt *dataflow.Runtime) error {
		x := []int64{0}
		for range 20_000 {
			rt.Spawn("step", func(*tasks.Context) error { return nil }, tasks.Updates(x))
		}
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.Trace(10_000))
	require.NotZero(t, l.Overflow)
	requireSound(t, l)
	assert.Contains(t, Summarize(l).Advice[0], "events are missing")
}

func TestNoTrace(t *testing.T) {
	require.NoError(t, dataflow.Run(func(rt *dataflow.Runtime) error {
		var text strings.Builder
		require.NoError(t, WriteSummary(&text, rt.Log()))
		assert.Contains(t, text.String(), "was the runtime made with the Trace option?")
		return nil
	}, dataflow.Workers(1)))
}

func busy(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
