package distributed

import (
	"errors"
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

// Groups that are transformed while they arrive give the same bytes, on all grids,
// whether dimensions divide or not.
func TestPlan_lazy(t *testing.T) {
	grids := [][3]int{{7, 5, 9}, {2, 3, 4}, {40, 36, 32}}
	if invariant.Race || testing.Short() {
		grids = grids[:2]
	}
	for _, dims := range grids {
		q := newProblem(t, dims)
		for _, d := range decompositions() {
			want, err := q.run(d.ranks, Config{Grid: d.grid})
			require.NoError(t, err)
			for i, mode := range []commthread.DDS{commthread.DDSAuto, commthread.DDSForce, commthread.DDSForce} {
				if mode == commthread.DDSAuto && d.ranks > 3 {
					continue // it calibrates, with everybody on few cores
				}
				cfg := Config{Form: Tasks, Grid: d.grid, Pad: 3 * i, Groups: 2 + i, DDS: mode, Workers: 1 + i%2}
				if i == 2 {
					cfg.RuntimeOptions = []dataflow.Option{dataflow.Seeded(uint64(d.ranks))}
				}
				got, err := q.run(d.ranks, cfg)
				require.NoError(t, err, "%v on %v, dds %v", dims, d.grid, mode)
				requireSame(t, want, got, "%v on %v, dds %v", dims, d.grid, mode)
			}
		}
	}
}

// The same over a slow network: strips have been armed, and workers have waited.
func TestPlan_lazy_slowly(t *testing.T) {
	probe, err := dds.NewArena(1)
	require.NoError(t, err)
	name, why := probe.Backend()
	require.NoError(t, probe.Close())
	net, err := local.ParseNet("L=25us,o=1us,g=1us,bw=200Mbit")
	require.NoError(t, err)
	var total dds.Counts
	q := newProblem(t, [3]int{48, 64, 48})
	for _, ranks := range []int{2, 3} {
		want, err := q.run(ranks, Config{})
		require.NoError(t, err)
		for _, mode := range []commthread.DDS{commthread.DDSOff, commthread.DDSForce} {
			counts := make([]dds.Counts, ranks)
			cfg := Config{Dims: q.dims, Form: Tasks, Groups: 3, DDS: mode}
			got := make([][]complex128, ranks)
			require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
				p, err := New(c, cfg)
				if err != nil {
					return err
				}
				got[c.Rank()], err = q.check(p)
				counts[c.Rank()] = p.Stats().DDS
				p.ResetStats()
				assert.Zero(t, p.Stats().DDS)
				return errors.Join(err, p.Close())
			}, local.Network(net)))
			requireSame(t, want, got, "%d ranks, dds %v", ranks, mode)
			var sum dds.Counts
			for _, c := range counts {
				sum.Strips += c.Strips
				sum.Faults += c.Faults
				sum.Stalls += c.Stalls
			}
			if mode == commthread.DDSOff || name != dds.Uffd {
				assert.Zero(t, sum)
			}
			if mode == commthread.DDSOff {
				continue
			}
			total.Strips += sum.Strips
			total.Faults += sum.Faults
			total.Stalls += sum.Stalls
		}
	}
	if name != dds.Uffd {
		t.Skip("the rest: nobody can be made to wait here: " + why)
	}
	assert.Positive(t, total.Strips)
	assert.Positive(t, total.Faults)
	assert.Positive(t, total.Stalls)
}

// Where blocks cannot be, DDS changes nothing.
func TestPlan_lazy_without_blocks(t *testing.T) {
	q := newProblem(t, [3]int{12, 10, 8})
	want, err := q.run(2, Config{})
	require.NoError(t, err)
	for _, cfg := range []Config{{Form: Slabs}, {Form: Tasks, OneSided: true}, {Form: Tasks, Stage: 2}, {Form: Tasks, Groups: 1}} {
		cfg.DDS = commthread.DDSForce
		got, err := q.run(2, cfg)
		require.NoError(t, err)
		requireSame(t, want, got, "%+v", cfg)
	}
	_, err = q.run(2, Config{DDS: 3})
	require.ErrorContains(t, err, "DDS is DDS(3)")
}

// The negative control: a receiver that expects other ranges than the sender has
// packed is found out.
func TestPlan_lazy_in_another_order_is_found(t *testing.T) {
	q := newProblem(t, [3]int{12, 12, 64})
	err := local.Run(2, func(c *mpi.Comm) error {
		p, err := New(c, Config{Dims: q.dims, Form: Tasks, Groups: 3, DDS: commthread.DDSForce})
		if err != nil {
			return err
		}
		last := p.forward.passes[1].columns
		if len(last.ranges) < 3 { // no check of this package, but of the test
			return errors.New("there are too few ranges")
		}
		r := &last.ranges[len(last.ranges)-1]
		split := *r
		r.to -= 64
		split.from = r.to
		last.ranges = append(last.ranges, split)
		p.forward.passes[1].items++
		_, wrong := q.check(p)
		if err := c.Barrier(); err != nil { // all have looked
			return err
		}
		return errors.Join(wrong, p.Close())
	})
	require.ErrorContains(t, err, "forward is wrong")
}

// A rank that fails, or is killed, while blocks are on their way takes the others with
// it.
func TestPlan_lazy_failure(t *testing.T) {
	net, err := local.ParseNet("gige")
	require.NoError(t, err)
	q := newProblem(t, [3]int{24, 24, 32})
	failed := 0
	for at := 4; at < 60; at += 4 {
		cfg := Config{Form: Tasks, Groups: 3, DDS: commthread.DDSForce}
		if _, err := q.run(3, cfg, local.Network(net), local.Inject(local.Faults{Kill: map[int]int{1: at}})); err != nil {
			failed++
		}
	}
	require.Greater(t, failed, 3)
	broken := func(dst, src []complex128, at [3]int) {
		if at[0] == 23 {
			panic("this row is cursed")
		}
		copy(dst, src)
	}
	_, err = q.run(3, Config{Form: Tasks, Groups: 3, DDS: commthread.DDSForce, BeforeForward: broken}, local.Network(net))
	require.ErrorContains(t, err, "this row is cursed")
}
