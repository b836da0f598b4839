package hpl

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// sameAsBlocking runs cfg with the drivers Task and TaskPlain and compares with the
// blocking driver on the same grid: the same bits, because the kernels and the panels are the same.
func sameAsBlocking(t *testing.T, cfg Config, opts ...dataflow.Option) {
	t.Helper()
	want := blockingResult(t, cfg)
	for _, cfg.Variant = range []Variant{Task, TaskPlain} {
		equals(t, want, cfg, hooks{runtime: opts})
	}
}

// narrow is the least width of panels in the runs that are compared: one leaf.
const narrow = 8

func sameWith(t *testing.T, cfg Config, h hooks) {
	t.Helper()
	equals(t, blockingResult(t, cfg), cfg, h)
}

// blockingResult is the result of the blocking driver for cfg.
func blockingResult(t *testing.T, cfg Config) Result {
	t.Helper()
	cfg.Variant = Blocking
	want, err := solved(t, cfg, hooks{leastPanel: narrow})
	require.NoError(t, err)
	return want
}

// equals runs cfg and compares with the result of another driver.
func equals(t *testing.T, want Result, cfg Config, h hooks) {
	t.Helper()
	h.leastPanel = narrow
	r, err := solved(t, cfg, h)
	name := fmt.Sprintf("N %d NB %d on %dx%d, %d workers, bcast %d, swap %d", cfg.N, cfg.NB, cfg.P, cfg.Q, cfg.Workers, cfg.Bcast, cfg.Swap)
	require.NoError(t, err, name)
	require.Equal(t, want.Pivots, r.Pivots, name)
	require.Equal(t, want.X, r.X, name)
	require.Equal(t, want.Residual, r.Residual, name)
	assert.Less(t, r.Residual, healthy, name)
}

// All grids, with 1 to 4 workers each, all broadcasts and swaps.
func TestTask(t *testing.T) {
	i := 0
	for _, g := range append(grids, [2]int{3, 2}) {
		for _, nb := range []int{7, 16, 50, 150, 200} {
			cfg := blocking(150)
			cfg.P, cfg.Q, cfg.NB, cfg.Workers = g[0], g[1], nb, 1+i%4
			cfg.Bcast, cfg.Swap, cfg.SwapThreshold = Broadcast(i%6), Swap(i%3), i%9
			cfg.L1NoTrans, cfg.NoEquil, cfg.ColumnMajor = i%2 == 0, i%3 == 0, i%5 == 0
			if i++; sampled(i, 3*raceShare) {
				sameAsBlocking(t, cfg)
			}
		}
	}
}

// Panels in parts, with all broadcasts, and memory for 2 to 7 panels.
func TestTaskPanelsInParts(t *testing.T) {
	i := 0
	for _, g := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 4}, {2, 3}} {
		for bcast := Ring + Broadcast(i%2); bcast <= LongModified; bcast += 2 {
			cfg := blocking(500)
			cfg.P, cfg.Q, cfg.NB, cfg.Workers, cfg.Bcast = g[0], g[1], 40, 1+i%2, bcast
			cfg.Variant = Task
			if i++; sampled(i, 2*raceShare) {
				sameWith(t, cfg, hooks{panels: 2 + (i-1)%6, partBytes: 9000 << ((i - 1) % 3)})
			}
		}
	}
}

// Parts are cut between strips, alike on both sides, and nothing is lost.
func TestParts(t *testing.T) {
	cfg := blocking(500)
	cfg.NB, cfg.Q = 40, 2
	h := hooks{partBytes: 20000, with: func(s *solver) {
		r := &taskRun{solver: s}
		assert.NoError(t, r.allocate())
		defer r.free()
		p := &panel{memory: r.slots[0].memory}
		r.setPanel(p, 0)
		assert.Equal(t, 4, r.inParts(p))
		mr, _ := s.kernels.Strips()
		for _, whole := range []route.Step{{Peer: 1, Len: len(p.msg)}, {Peer: 1, At: 17, Len: 3}, {Peer: 1, At: len(p.msg) / 3, Len: len(p.msg) / 2}} {
			at := whole.At
			for _, m := range r.splitMessages(p, []route.Step{whole}) {
				assert.Equal(t, at, m.At)
				assert.Positive(t, m.Len)
				if at != whole.At {
					assert.Zero(t, (at-p.head())%(mr*p.jb))
				}
				at += m.Len
			}
			assert.Equal(t, whole.At+whole.Len, at)
		}
		assert.Greater(t, len(r.splitMessages(p, []route.Step{{Len: len(p.msg)}})), 1)
	}}
	_, err := onGrid(cfg, h)
	require.NoError(t, err)
}

// On a fast network a long panel travels whole.
func TestParts_network(t *testing.T) {
	s := &solver{grid: &grid{q: 2}}
	p := &panel{msg: make([]float64, 3*partBytes/8)}
	for row, want := range map[time.Duration]int{0: 1, tooFastForParts: 1, tooFastForParts + 1: 3, math.MaxInt64: 3} {
		assert.Equal(t, want, (&taskRun{solver: s, row: row}).inParts(p), row)
	}
}

// Short updates are joined in one process, and where an exchange of rows is fast.
func TestJoins(t *testing.T) {
	joined := func(p, workers int, column time.Duration, without Refinement) (last []int) {
		cfg := blocking(200)
		cfg.P, cfg.NB, cfg.Workers, cfg.Without = p, 20, workers, without|Narrow
		_, err := onGrid(cfg, hooks{with: func(s *solver) {
			r := &taskRun{solver: s, column: column}
			assert.NoError(t, r.allocate())
			defer r.free()
			p := &panel{memory: r.slots[0].memory}
			r.setPanel(p, 0)
			if s.grid.all.Rank() == 0 {
				last = []int{r.lastJoined(p, 1), r.lastJoined(p, 2)}
			}
		}})
		require.NoError(t, err)
		return last
	}
	assert.Equal(t, []int{1, 5}, joined(1, 1, 0, 0), "8 of the 10 block columns, half of them at a time")
	assert.Equal(t, []int{1, 3}, joined(1, 2, 0, 0))
	assert.Equal(t, []int{1, 2}, joined(1, 1, 0, Joins))
	assert.Equal(t, []int{9, 9}, joined(2, 1, fastForJoins, 0))
	assert.Equal(t, []int{1, 2}, joined(2, 1, fastForJoins+1, 0))
}

// The last block column, with the right side, has any width.
func TestTaskLastBlock(t *testing.T) {
	for n := 90; n <= 107; n++ {
		for q := 1; q <= 2; q++ {
			cfg := blocking(n)
			cfg.Q, cfg.NB, cfg.Workers = q, 17, 2
			sameAsBlocking(t, cfg)
		}
	}
}

// Updates cut by rows: with the block size of the kernels there are enough strips.
func TestTaskPieces(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		n := 1000
		if invariant.Race {
			n = 250 // these kernels are slow, and have low strips
		}
		cfg := blocking(n)
		cfg.NB, cfg.Workers, cfg.Q = n/10, workers, 1+workers%2
		sameAsBlocking(t, cfg)
	}
}

// Two ranks make progress in any order of ready tasks that a worker may choose. One
// goroutine does all computing, so a task that waits for another rank would block
// everything.
func TestTaskInAnyOrder(t *testing.T) {
	for seed := range uint64(2) {
		for i, g := range [][2]int{{1, 1}, {4, 1}, {2, 2}, {1, 4}, {2, 3}, {3, 2}} {
			for bcast := Ring; bcast <= LongModified; bcast += 2 {
				cfg := blocking(90)
				cfg.P, cfg.Q, cfg.NB, cfg.Bcast = g[0], g[1], 16, bcast+Broadcast(seed%2)
				if cfg.Variant = Task; i%3 == int(bcast/2) { // each grid once a seed, with every broadcast
					sameAsBlocking(t, cfg, dataflow.Seeded(seed+1))
				} else if !invariant.Race {
					sameWith(t, cfg, hooks{runtime: []dataflow.Option{dataflow.Seeded(seed + 1)}})
				}
			}
		}
	}
}

// The tasks access only what they declare, and no dependence is hidden from the graph:
// executed in the order of their spawns, one after the other, they give the same result,
// and none writes to an input.
func TestTaskInSerial(t *testing.T) {
	for _, opt := range []dataflow.Option{dataflow.Serial(), dataflow.Verify()} {
		cfg := blocking(90)
		cfg.NB, cfg.Workers = 16, 4
		sameAsBlocking(t, cfg, opt)
		cfg.Q = 3
		sameAsBlocking(t, cfg, opt)
	}
}

// A failure in one task of one rank ends the run of all ranks and is named; no rank hangs.
func TestTaskFails(t *testing.T) {
	for _, g := range grids {
		panels := []int{0, 3, 11}
		if invariant.Race {
			panels = panels[1:2]
		}
		for _, k := range panels {
			cfg := blocking(96)
			cfg.P, cfg.Q, cfg.NB = g[0], g[1], 8
			last := g[0]*g[1] - 1
			damage := func(s *solver) {
				if s.grid.all.Rank() == last {
					s.hooks.unpacked = func(p *panel) {
						if p.k == k {
							panic("a damaged panel")
						}
					}
				}
			}
			drivers := []Variant{Task, TaskPlain}
			if k != 3 {
				drivers = drivers[:1]
			}
			for _, cfg.Variant = range drivers {
				_, err := onGrid(cfg, hooks{with: damage})
				require.ErrorContains(t, err, "a damaged panel", "%v", g)
			}
		}
	}
}

// On a slow network, where the thread stops polling.
func TestTaskOnSlowNetwork(t *testing.T) {
	net := local.Net{Latency: 100 * time.Microsecond, Bandwidth: 1e8}
	want, err := solved(t, blocking(60), hooks{})
	require.NoError(t, err)
	for _, g := range [][2]int{{2, 1}, {3, 1}, {2, 2}} {
		cfg := blocking(60)
		cfg.Variant, cfg.P, cfg.Q, cfg.NB = Task, g[0], g[1], 16
		require.NoError(t, local.Run(g[0]*g[1], func(c *mpi.Comm) error {
			r, err := Run(c, cfg)
			assert.Equal(t, want.Pivots, r.Pivots)
			assert.Less(t, r.Residual, healthy)
			return err
		}, local.Network(net)))
	}
}

// The log has the tasks of all kinds, and the messages of panels and rows.
func TestTaskLog(t *testing.T) {
	var log dataflow.Log
	cfg := blocking(96)
	cfg.Variant, cfg.P, cfg.Q, cfg.NB = Task, 2, 2, 8
	cfg.Log = &log
	_, err := onGrid(cfg, hooks{with: func(s *solver) {
		if s.grid.all.Rank() != 0 {
			s.cfg.Log = nil
		}
	}})
	require.NoError(t, err)
	var labels []string
	for _, l := range log.Labels {
		labels = append(labels, l.Name)
	}
	for _, name := range []string{"factor", "send", "recv", "unpack", "pack", "exchange", "update"} {
		assert.Contains(t, labels, name)
	}
	assert.NotContains(t, labels, "report", "nobody asked for progress")
	for _, w := range log.Workers {
		for _, e := range w.Events {
			if e.Kind == dataflow.EventSpawn {
				assert.NotEqual(t, "touch", labels[e.Arg], "before the clock started")
			}
		}
	}
	assert.Greater(t, len(log.Messages), 12)
}

// There is memory for a part of the matrix, and for at most as many panels as there are.
func TestTaskPanels(t *testing.T) {
	for n, want := range map[int]int{0: 0, 10: 1, 300: 15, 8000: 42, 20000: 34, 60000: 39, 1000000: 64} {
		cfg := Default(n)
		cfg.NB, cfg.Workers = 192, 2
		if n < 1000 {
			cfg.NB = 20
		}
		assert.Equal(t, want, taskPanels(&cfg), n)
	}
}

// With one worker, there is memory for two panels, and one for each other rank.
func TestTaskPanels_one_worker(t *testing.T) {
	cfg := Default(8000)
	cfg.NB = 192
	for ranks, want := range map[int]int{1: 2, 2: 3, 16: 17, 100: 42} {
		cfg.Workers, cfg.Q = 1, ranks
		assert.Equal(t, want, taskPanels(&cfg), ranks)
	}
}
