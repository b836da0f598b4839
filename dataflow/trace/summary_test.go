package trace

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

func TestSummaryOfCholesky(t *testing.T) {
	s := Summarize(cholesky())
	assert.Equal(t, 50*us, s.Elapsed)
	assert.Equal(t, 2, s.Slots)
	assert.Equal(t, 2*us, s.First)
	assert.Equal(t, 47*us, s.Last)
	assert.Equal(t, 10, s.Tasks)
	assert.Equal(t, 10, s.Dependences)
	assert.Equal(t, 1, s.Failed)
	assert.Zero(t, s.Unfinished)

	// potrf 10+4.5, trsm 7.5+8, syrk 4.5+5.5, gemm 8.5, check 2.5+1, norm 6, file 2
	assert.Equal(t, 60*us, s.Work)
	// potrf 10, trsm 8, gemm 8.5, check 0.5 up to the spawn of norm, norm 6, check 1
	assert.Equal(t, 34*us, s.CriticalPath)
	// the same up to check, 1.5 up to the spawn of file: 1 + block 2 + 1, held for 1, check 1
	assert.Equal(t, 34*us, s.OutsidePath)
	assert.Equal(t, 34*us, s.Bound)
	assert.InDelta(t, 50./34, s.OverBound, 1e-9)
	assert.InDelta(t, 60./34, s.Parallelism, 1e-9)
	assert.InDelta(t, 60./100, s.Efficiency, 1e-9)
	requireShares(t, s)

	assert.Equal(t, "trsm", s.Labels[0].Name)
	assert.Equal(t, LabelSummary{Name: "trsm", File: "/home/someone/src/cholesky/main.go", Line: 11, Count: 2, Total: 15500,
		Mean: 7750, Median: 7750, P95: 8000, Max: 8000}, s.Labels[0])
	assert.Equal(t, []PathLabel{
		{Name: "potrf", Count: 1, Total: 10 * us, Share: 10. / 34, Longest: 10 * us, Task: 1},
		{Name: "gemm", Count: 1, Total: 8500, Share: 8.5 / 34, Longest: 8500, Task: 5},
		{Name: "trsm", Count: 1, Total: 8 * us, Share: 8. / 34, Longest: 8 * us, Task: 3},
		{Name: "norm", Count: 1, Total: 6 * us, Share: 6. / 34, Longest: 6 * us, Task: 9},
		{Name: "check", Count: 1, Total: 1500, Share: 1.5 / 34, Longest: 1500, Task: 8},
	}, s.Path)
}

// requireShares checks the invariants of every summary.
func requireShares(t *testing.T, s Summary) {
	t.Helper()
	h := s.Shares
	for _, share := range []float64{h.Busy, h.Submission, h.Scheduling, h.Idle, h.Parked, h.Starved, h.Blocked} {
		require.GreaterOrEqual(t, share, 0.0)
	}
	if s.Elapsed > 0 && h.Busy+h.Submission+h.Scheduling <= 1 {
		require.InDelta(t, 1, h.Busy+h.Submission+h.Scheduling+h.Idle, 1e-9)
	}
	require.LessOrEqual(t, s.CriticalPath, s.Work)
	require.LessOrEqual(t, s.CriticalPath, s.OutsidePath)
	require.LessOrEqual(t, s.OutsidePath, s.Elapsed)
}

// The shares of the hand-made log, counted by hand.
func TestSharesOfCholesky(t *testing.T) {
	h := Summarize(cholesky()).Shares
	// Submitter: 0-9 and 48-50 in the program.
	assert.InDelta(t, 0.11, h.Submission, 1e-9)
	// Worker 1 parked 0-1.5, 31-37, 44.5-50.
	assert.InDelta(t, 0.13, h.Parked, 1e-9)
	// Fetching a ready task: worker 1 at 1.5-2, 12-12.5, 20-20.5, 25-25.5, 37-38 (norm is ready);
	// worker 0 at 12-13, 21-21.5, 30-30.5, 36-36.5, 39-40.
	assert.InDelta(t, (0.5+0.5+0.5+0.5+1+1+0.5+0.5+0.5+1)/100, h.Scheduling, 1e-9)
	// Nothing ready: worker 0 at 9-12, 44-46, 47-48; worker 1 at 30-31, less while syrk2
	// is ready and worker 0 is not in a body (30-30.5: one task, two workers), 44-44.5.
	assert.InDelta(t, (3+2+1+1+0.5)/100, h.Starved, 1e-9)
	assert.InDelta(t, 0.02, h.Blocked, 1e-9)
	assert.InDelta(t, 0.60, h.Busy, 1e-9)
}

// Work and critical path of random graphs against the textbook recursion.
func TestBoundsAgainstBruteForce(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, workers := 1+rng.IntN(60), 1+rng.IntN(4)
		l, preds, weights := simulate(rng, n, workers)
		var work, path time.Duration
		length := make([]time.Duration, n+1)
		for i := 1; i <= n; i++ {
			work += weights[i]
			for _, p := range preds[i] {
				length[i] = max(length[i], length[p])
			}
			length[i] += weights[i]
			path = max(path, length[i])
		}
		s := Summarize(l)
		require.Equal(t, work, s.Work, "seed %d", seed)
		require.Equal(t, path, s.CriticalPath, "seed %d", seed)
		require.Equal(t, path, s.OutsidePath, "seed %d", seed)
		require.Equal(t, max((work+time.Duration(workers)-1)/time.Duration(workers), path), s.Bound, "seed %d", seed)
		requireShares(t, s)
		var onPath time.Duration
		for _, p := range s.Path {
			onPath += p.Total
		}
		require.Equal(t, path, onPath, "seed %d: the path by label adds up", seed)
	}
}

// Without one dependence of a chain the path is shorter: the comparison above
// would see a missing edge.
func TestBoundsNeedEveryEdge(t *testing.T) {
	chain := func() *dataflow.Log {
		b := newBuilder(1, "worker 0")
		for i := range uint64(9) {
			b.spawn(0, 0, "link", 0, i)
		}
		for i := range 9 {
			b.run(0, time.Duration(i)*us, time.Duration(i+1)*us, uint64(i)+1)
		}
		return &b.log
	}
	require.Equal(t, 9*us, Summarize(chain()).CriticalPath)
	for cut := uint64(2); cut <= 9; cut++ {
		l := chain()
		for i, e := range l.Workers[0].Events {
			if e.Kind == dataflow.EventEdge && e.Task == cut {
				l.Workers[0].Events[i].Kind = dataflow.EventNone
			}
		}
		require.Equal(t, max(time.Duration(cut-1), time.Duration(10-cut))*us, Summarize(l).CriticalPath)
	}
}

func TestPathAcrossWaitOfTheProgram(t *testing.T) {
	b := newBuilder(2, "worker 0", "worker 1")
	one := b.spawn(0, 0, "one", 0)
	b.run(1, 1*us, 4*us, one)
	b.add(0, 1*us, dataflow.EventWait, 0, 0, 0)
	b.add(0, 5*us, dataflow.EventWaited, 0, 0, 0)
	two := b.spawn(0, 6*us, "two", 0) // no dependence, but spawned after the wait
	b.run(1, 7*us, 9*us, two)
	assert.Equal(t, 5*us, Summarize(&b.log).CriticalPath)
}

func TestPathWithChildren(t *testing.T) {
	b := newBuilder(2, "worker 0", "worker 1")
	parent := b.spawn(0, 0, "parent", 0)
	after := b.spawn(0, 0, "after", 0, parent)
	b.start(0, 0, parent)
	child := b.spawn(0, 2*us, "child", parent)
	b.add(0, 3*us, dataflow.EventEnd, parent, 0, 0) // does not wait: its release does
	b.run(1, 4*us, 10*us, child)
	b.add(1, 10*us, dataflow.EventDone, parent, 0, 0)
	b.run(1, 11*us, 12*us, after)
	s := Summarize(&b.log)
	assert.Equal(t, 9*us, s.CriticalPath, "parent up to the spawn 2, child 6, after 1")
	assert.Equal(t, 10*us, s.Work)
}

// Parts of a task that another worker runs are work of the task, and keep that worker busy.
func TestJoinedPartsAreWork(t *testing.T) {
	b := newBuilder(2, "worker 0", "worker 1")
	panel := b.spawn(0, 0, "panel", 0)
	after := b.spawn(0, 0, "after", 0, panel)
	b.add(0, 0, dataflow.EventWait, 0, 0, 0)
	b.state(1, 2*us, 8*us, dataflow.EventJoin, panel)
	b.run(0, 0, 10*us, panel)
	b.run(1, 10*us, 20*us, after)
	b.add(0, 20*us, dataflow.EventWaited, 0, 0, 0)
	s := Summarize(&b.log)
	assert.Equal(t, 26*us, s.Work)
	assert.Equal(t, 20*us, s.CriticalPath)
	assert.InDelta(t, 26./40, s.Efficiency, 1e-9)
	assert.Equal(t, 16*us, s.Labels[0].Total)
	assert.Equal(t, 2, s.Tasks)
}

func TestOutsidePathCountsBlocksAndHeldEvents(t *testing.T) {
	b := newBuilder(1, "worker 0", "outside")
	recv := b.spawn(0, 0, "recv", 0)
	use := b.spawn(0, 0, "use", 0, recv)
	b.add(0, 0, dataflow.EventWait, 0, 0, 0)
	b.start(0, 1*us, recv)
	b.state(0, 2*us, 5*us, dataflow.EventBlock, recv)
	b.add(0, 6*us, dataflow.EventEnd, recv, 0, 0)
	b.add(1, 16*us, dataflow.EventDone, recv, 0, 0)
	b.run(0, 16*us, 20*us, use)
	b.add(0, 20*us, dataflow.EventWaited, 0, 0, 0)
	s := Summarize(&b.log)
	assert.Equal(t, 6*us, s.CriticalPath)
	assert.Equal(t, 19*us, s.OutsidePath)
	assert.InDelta(t, 3./20, s.Shares.Blocked, 1e-9)
	assert.Contains(t, s.Advice[len(s.Advice)-1], "outside")
}

func TestSmallTasksAreAdvisedToBeFused(t *testing.T) {
	b := newBuilder(1, "worker 0")
	for range 1000 {
		b.spawn(0, 0, "tiny", 0)
	}
	b.add(0, 0, dataflow.EventWait, 0, 0, 0)
	at := time.Duration(0)
	for i := range uint64(1000) {
		b.run(0, at, at+800, i+1)
		at += 800 + 556
	}
	b.add(0, at, dataflow.EventWaited, 0, 0, 0)
	s := Summarize(&b.log)
	assert.InDelta(t, 0.41, s.Shares.Overhead(), 0.001)
	require.Len(t, s.Advice, 1)
	assert.Equal(t, "tasks are too small: median task 800 ns, overhead 41.0 % (555 ns per task): fuse about 8 tasks into one", s.Advice[0])
}

func TestAdviceKnowsItsCauses(t *testing.T) {
	t.Run("serial chain", func(t *testing.T) {
		b := newBuilder(4, "worker 0", "worker 1", "worker 2", "worker 3")
		for i := range uint64(10) {
			b.spawn(0, 0, "link", 0, i)
		}
		b.add(0, 0, dataflow.EventWait, 0, 0, 0)
		for i := range uint64(10) {
			at := time.Duration(i) * 100 * us
			b.run(1, at, at+100*us, i+1)
		}
		b.add(0, 1000*us, dataflow.EventWaited, 0, 0, 0)
		s := Summarize(&b.log)
		require.Len(t, s.Advice, 1)
		assert.Contains(t, s.Advice[0], `too little parallelism for 4 slots: 1 on average; the critical path takes 100.0 % of the run, 100.0 % of it in "link"`)
	})
	t.Run("slow submission", func(t *testing.T) {
		b := newBuilder(2, "worker 0", "worker 1")
		for i := range 10 {
			at := time.Duration(i) * 100 * us
			b.run(1, at+1*us, at+50*us, b.spawn(0, at, "late", 0))
		}
		b.add(0, 1000*us, dataflow.EventWait, 0, 0, 0)
		s := Summarize(&b.log)
		require.Len(t, s.Advice, 1)
		assert.Contains(t, s.Advice[0], "workers wait for the program to submit tasks (100.0 % of the time")
	})
	t.Run("short window", func(t *testing.T) {
		b := newBuilder(1, "worker 0")
		b.run(0, 10*us, 20*us, b.spawn(0, 9*us, "one", 0))
		b.log.Elapsed = 1000 * us
		assert.Contains(t, Summarize(&b.log).Advice[0], "tasks ran in 10.0 us of 1.00 ms only")
	})
	t.Run("nothing to say", func(t *testing.T) {
		b := newBuilder(1, "worker 0")
		b.run(0, 1*us, 100*us, b.spawn(0, 0, "good", 0))
		assert.Empty(t, Summarize(&b.log).Advice)
	})
	t.Run("empty", func(t *testing.T) {
		assert.Contains(t, Summarize(nil).Advice[0], "Trace option")
		assert.Contains(t, Summarize(&dataflow.Log{Overflow: 7}).Advice[0], "7 events are missing")
	})
}

func TestPercentiles(t *testing.T) {
	b := newBuilder(1, "worker 0")
	at := time.Duration(0)
	for i := 1; i <= 100; i++ {
		b.run(0, at, at+time.Duration(i), b.spawn(0, 0, "x", 0))
		at += time.Duration(i)
	}
	l := Summarize(&b.log).Labels[0]
	assert.Equal(t, time.Duration(95), l.P95)
	assert.Equal(t, time.Duration(50), l.Median)
	assert.Equal(t, time.Duration(100), l.Max)
	assert.Equal(t, time.Duration(50), l.Mean)
}
