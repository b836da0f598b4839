package hpl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// onNet runs cfg over a network, and returns what rank 0 got.
func onNet(t *testing.T, net string, cfg Config, h hooks, opts ...local.Option) (r Result, err error) {
	t.Helper()
	n, err := local.ParseNet(net)
	require.NoError(t, err)
	err = local.Run(cfg.P*cfg.Q, func(c *mpi.Comm) error {
		mine, err := run(c, cfg, h)
		if c.Rank() == 0 {
			r = mine
		}
		return err
	}, append(opts, local.Network(n))...)
	return r, err
}

// canWait reports whether readers of an arena can be made to wait here; otherwise why
// not.
func canWait(t *testing.T) (can bool, why string) {
	t.Helper()
	a, err := dds.NewArena(1)
	require.NoError(t, err)
	name, why := a.Backend()
	require.NoError(t, a.Close())
	return name == dds.Uffd, why
}

// Panels that are read while they arrive change no bit, on any grid, whatever their way.
func TestTaskDDS(t *testing.T) {
	i := 0
	for _, g := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4}, {1, 3}, {2, 3}} {
		for _, nb := range []int{16, 75} {
			for _, mode := range []commthread.DDS{commthread.DDSAuto, commthread.DDSForce} {
				cfg := blocking(150)
				cfg.P, cfg.Q, cfg.NB, cfg.Workers, cfg.DDS = g[0], g[1], nb, 1+i%2, mode
				cfg.Bcast, cfg.Swap, cfg.L1NoTrans = Broadcast(i%6), Swap(i%3), i%2 == 0
				i++
				sameAsBlocking(t, cfg)
			}
		}
	}
}

// The same over a slow network, where most of a panel is on its way when the updates
// begin: then strips have been armed, and somebody has waited. Off, nothing is.
func TestTaskDDSOnSlowNetwork(t *testing.T) {
	n, nb := 500, 96
	if invariant.Race {
		n, nb = 200, 48
	}
	can, why := canWait(t)
	var sum dds.Counts
	for i, g := range [][2]int{{1, 2}, {1, 4}, {2, 2}} {
		cfg := blocking(n)
		cfg.P, cfg.Q, cfg.NB = g[0], g[1], nb
		want, err := solved(t, cfg, hooks{})
		require.NoError(t, err)
		cfg.Variant, cfg.Workers = Task, 1+i%2
		for _, cfg.DDS = range []commthread.DDS{commthread.DDSOff, commthread.DDSAuto, commthread.DDSForce} {
			r, err := onNet(t, "gige", cfg, hooks{})
			name := fmt.Sprintf("%dx%d, dds %v", g[0], g[1], cfg.DDS)
			require.NoError(t, err, name)
			require.Equal(t, want.X, r.X, name)
			require.Equal(t, want.Pivots, r.Pivots, name)
			if cfg.DDS == commthread.DDSForce {
				sum.Strips += r.DDS.Strips
				sum.Faults += r.DDS.Faults
				sum.Stalls += r.DDS.Stalls
			}
			if !can || cfg.DDS == commthread.DDSOff {
				assert.Zero(t, r.DDS.Strips, name)
			}
		}
	}
	if !can {
		t.Skip("the rest: nobody can be made to wait here: " + why)
	}
	assert.Positive(t, sum.Strips)
	assert.Positive(t, sum.Faults)
	assert.Positive(t, sum.Stalls)
}

// Any order of tasks will do, one after the other included, and no task writes to what
// it only reads.
func TestTaskDDSInAnyOrder(t *testing.T) {
	for seed, opt := range []dataflow.Option{dataflow.Serial(), dataflow.Verify(), dataflow.Seeded(1), dataflow.Seeded(2)} {
		for _, g := range [][2]int{{2, 2}, {1, 3}} {
			if seed < 2 && g[0] > 1 {
				continue // columns of processes exchange rows in tasks that block
			}
			for bcast := Ring; bcast <= LongModified; bcast += 2 {
				cfg := blocking(120)
				cfg.P, cfg.Q, cfg.NB, cfg.DDS = g[0], g[1], 40, commthread.DDSForce
				cfg.Bcast = bcast + Broadcast(seed%2)
				sameAsBlocking(t, cfg, opt)
			}
		}
	}
}

// What goes wrong while panels are on their way ends the run of all ranks, and is named.
func TestTaskDDSFails(t *testing.T) {
	for _, g := range [][2]int{{1, 2}, {2, 2}, {1, 4}} {
		for _, k := range []int{0, 2} {
			cfg := blocking(200)
			cfg.Variant, cfg.P, cfg.Q, cfg.NB, cfg.DDS = Task, g[0], g[1], 50, commthread.DDSForce
			last := g[0]*g[1] - 1
			damage := func(s *solver) {
				if s.grid.all.Rank() == last {
					s.hooks.opened = func(p *panel) {
						if p.k == k {
							panic("a damaged panel")
						}
					}
				}
			}
			_, err := onNet(t, "gige", cfg, hooks{with: damage})
			require.ErrorContains(t, err, "a damaged panel", "%v", g)
		}
	}
}

// A rank that is lost while its panels are being read ends the run of all.
func TestTaskDDSLostRank(t *testing.T) {
	failed := 0
	for at := 8; at < 400; at += 9 {
		cfg := blocking(160)
		cfg.Variant, cfg.P, cfg.Q, cfg.NB, cfg.DDS = Task, 1, 3, 40, commthread.DDSForce
		_, err := onNet(t, "gige", cfg, hooks{}, local.Inject(local.Faults{Kill: map[int]int{1: at}}))
		if err == nil {
			break // it makes fewer calls
		}
		failed++
		require.ErrorIs(t, err, mpi.ErrPeerGone)
	}
	require.Greater(t, failed, 1)
}

// A panel that is not touched before it is used would be seen: what has not landed
// reads as what was there before, where nobody is made to wait.
func TestSkippedStripsFail(t *testing.T) {
	skip := func(s *solver) {
		s.hooks.opened = func(p *panel) {
			if p.k == 1 && s.grid.col != p.col {
				dds.Touch(p.msg)
				clear(p.l2[len(p.l2)/2:]) // as if the second half had not come
			}
		}
	}
	cfg := blocking(150)
	cfg.Variant, cfg.Q, cfg.NB, cfg.DDS = Task, 2, 25, commthread.DDSForce
	r, err := onNet(t, "none", cfg, hooks{with: skip})
	require.NoError(t, err)
	assert.Greater(t, r.Residual, float64(threshold))
}
