package distributed

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// numbers returns the same random numbers on all ranks.
func numbers(n int, seed uint64) []complex128 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(r.NormFloat64(), r.NormFloat64())
	}
	return x
}

// each calls f for every element of this rank's part: its global number, row-major,
// and its place.
func each(dims [3]int, l Layout, f func(global, place int)) {
	for i := range l.Extent[0] {
		for j := range l.Extent[1] {
			for k := range l.Extent[2] {
				g := ((l.Start[0]+i)*dims[1]+l.Start[1]+j)*dims[2] + l.Start[2] + k
				f(g, i*l.Stride[0]+j*l.Stride[1]+k*l.Stride[2])
			}
		}
	}
}

// wrong is the largest difference of this rank's part from a global array, relative to
// the root mean square of that.
func wrong(dims [3]int, l Layout, x, want []complex128) float64 {
	worst, square := 0.0, 0.0
	for _, v := range want {
		square += real(v)*real(v) + imag(v)*imag(v)
	}
	each(dims, l, func(g, at int) {
		d := x[at] - want[g]
		worst = max(worst, math.Hypot(real(d), imag(d)))
		if cmplx.IsNaN(d) {
			worst = math.Inf(1)
		}
	})
	return worst / math.Sqrt(square/float64(len(want)))
}

const tolerance = 1e-13

// problem is a global array and its transforms, computed by package fft on one rank.
type problem struct {
	dims              [3]int
	x, forward, twice []complex128
}

func newProblem(t testing.TB, dims [3]int) *problem {
	g, err := fft.NewGrid(dims[:])
	require.NoError(t, err)
	q := &problem{dims: dims, x: numbers(g.Len(), 7)}
	q.forward, q.twice = make([]complex128, g.Len()), make([]complex128, g.Len())
	require.NoError(t, g.Forward(q.forward, q.x))
	require.NoError(t, g.Inverse(q.twice, q.x))
	return q
}

// check transforms the problem both ways on one rank, twice, and returns the bytes of
// the results.
func (q *problem) check(p *Plan) ([]complex128, error) {
	in, out := p.Input(), p.Output()
	a, err := p.NewArray()
	if err != nil {
		return nil, err
	}
	b, err := p.NewArray()
	if err != nil {
		return nil, err
	}
	var bytes []complex128
	for range 2 {
		each(q.dims, in, func(g, at int) { a[at] = q.x[g] })
		if err := p.Forward(b, a); err != nil {
			return nil, err
		}
		if d := wrong(q.dims, in, a, q.x); d > 0 {
			return nil, fmt.Errorf("the input has changed by %g", d)
		}
		if d := wrong(q.dims, out, b, q.forward); d > tolerance {
			return nil, fmt.Errorf("forward is wrong by %g", d)
		}
		each(q.dims, out, func(_, at int) { bytes = append(bytes, b[at]) })
		each(q.dims, out, func(g, at int) { b[at] = q.x[g] })
		if err := p.Inverse(a, b); err != nil {
			return nil, err
		}
		if d := wrong(q.dims, in, a, q.twice); d > tolerance {
			return nil, fmt.Errorf("inverse is wrong by %g", d)
		}
		each(q.dims, in, func(_, at int) { bytes = append(bytes, a[at]) })
	}
	return bytes, nil
}

// run runs the problem on several ranks and returns the results of all.
func (q *problem) run(ranks int, cfg Config, opts ...local.Option) ([][]complex128, error) {
	cfg.Dims = q.dims
	results := make([][]complex128, ranks)
	err := local.Run(ranks, func(c *mpi.Comm) error {
		p, err := New(c, cfg)
		if err != nil {
			return err
		}
		results[c.Rank()], err = q.check(p)
		if err == nil && cfg.Form == Tasks {
			err = q.checkDeferring(p, results[c.Rank()])
		}
		return errors.Join(err, p.Close())
	}, opts...)
	return results, err
}

// checkDeferring checks the plan as it is when groups are deferred: it computes the same bytes.
func (q *problem) checkDeferring(p *Plan, want []complex128) error {
	p.deferral = deferral{on: true, settled: true}
	got, err := q.check(p)
	if err == nil && !slices.Equal(want, got) {
		err = errors.New("other bytes with deferred groups")
	}
	return err
}

type decomposition struct {
	ranks int
	grid  [2]int
}

func decompositions() []decomposition {
	return []decomposition{
		{1, [2]int{1, 1}}, {2, [2]int{2, 1}}, {3, [2]int{3, 1}}, {4, [2]int{4, 1}}, {8, [2]int{8, 1}},
		{2, [2]int{1, 2}}, {4, [2]int{2, 2}}, {6, [2]int{3, 2}}, {6, [2]int{2, 3}}, {8, [2]int{4, 2}},
	}
}

// All forms, decompositions and transports compute what package fft computes on one
// rank, and all forms the same bytes, whether dimensions divide or not, with padding
// and without.
func TestPlan(t *testing.T) {
	grids := [][3]int{{16, 12, 8}, {7, 5, 9}, {2, 3, 4}, {1, 1, 1}}
	if invariant.Race || testing.Short() {
		grids = grids[1:3]
	}
	for _, dims := range grids {
		q := newProblem(t, dims)
		for _, d := range decompositions() {
			var first [][]complex128
			for i, form := range append(Forms(), Forms()...) {
				cfg := Config{Form: form, OneSided: i >= 4, Grid: d.grid, Pad: 3 * (i % 2), Groups: 3}
				got, err := q.run(d.ranks, cfg)
				require.NoError(t, err, "%v on %v, %v, one-sided %v, padding %d", dims, d.grid, form, cfg.OneSided, cfg.Pad)
				if first == nil {
					first = got
				}
				requireSame(t, first, got, "%v on %v, %v, one-sided %v", dims, d.grid, form, cfg.OneSided)
			}
		}
	}
}

func requireSame(t *testing.T, want, got [][]complex128, format string, args ...any) {
	t.Helper()
	for r := range want {
		require.True(t, slices.Equal(want[r], got[r]), "rank %d has other bytes: %s", r, fmt.Sprintf(format, args...))
	}
}

// On one rank, and forward on any number of ranks, the bytes are the same as of package fft.
func TestPlan_same_bytes_as_fft(t *testing.T) {
	q := newProblem(t, [3]int{16, 12, 8})
	for _, d := range decompositions() {
		err := local.Run(d.ranks, func(c *mpi.Comm) error {
			p, err := New(c, Config{Dims: q.dims, Grid: d.grid, Form: Slabs})
			if err != nil {
				return err
			}
			dst, src := make([]complex128, p.Output().Len), make([]complex128, p.Input().Len)
			each(q.dims, p.Input(), func(g, at int) { src[at] = q.x[g] })
			if err := p.Forward(dst, src); err != nil {
				return err
			}
			each(q.dims, p.Output(), func(g, at int) { assert.Equal(t, q.forward[g], dst[at]) })
			if d.ranks == 1 { // in place
				if err := p.Inverse(src, src); err != nil {
					return err
				}
				each(q.dims, p.Input(), func(g, at int) { assert.Equal(t, q.twice[g], src[at]) })
			}
			return p.Close()
		})
		require.NoError(t, err)
	}
}

// Workers share the planes, stages are small, groups few or many, kernels portable,
// networks slow: the bytes stay the same.
func TestPlan_settings(t *testing.T) {
	q := newProblem(t, [3]int{12, 16, 8})
	net, err := local.ParseNet("L=30us,o=1us,g=1us,bw=1Gbit")
	require.NoError(t, err)
	nic := net
	nic.NIC = true
	decompositions := []decomposition{{1, [2]int{1, 1}}, {2, [2]int{2, 1}}, {4, [2]int{2, 2}}}
	if invariant.Race {
		decompositions = decompositions[1:2]
	}
	for _, d := range decompositions {
		for _, oneSided := range []bool{false, true} {
			want, err := q.run(d.ranks, Config{Grid: d.grid})
			require.NoError(t, err)
			for _, form := range Forms() {
				base := Config{Form: form, OneSided: oneSided, Grid: d.grid}
				many, fine, coarse, small, seeded := base, base, base, base, base
				many.Workers, fine.Groups, coarse.Groups = 3, 40, 1
				if small.Workers = 2; form != Exchange {
					small.Stage = 1
				}
				seeded.RuntimeOptions = []dataflow.Option{dataflow.Seeded(uint64(d.ranks) + 1), dataflow.Workers(2)}
				for name, cfg := range map[string]Config{"workers": many, "fine": fine, "coarse": coarse, "stage": small, "seeded": seeded} {
					got, err := q.run(d.ranks, cfg)
					require.NoError(t, err, "%v %v %s", d, form, name)
					requireSame(t, want, got, "%v %v %s", d, form, name)
					got, err = q.run(d.ranks, cfg, local.Eager(64)) // sends wait for their receives
					require.NoError(t, err, "%v %v %s", d, form, name)
					requireSame(t, want, got, "%v %v %s", d, form, name)
				}
				for _, n := range []local.Net{net, nic} {
					got, err := q.run(d.ranks, base, local.Network(n))
					require.NoError(t, err, "%v %v %v", d, form, n)
					requireSame(t, want, got, "%v %v %v", d, form, n)
				}
			}
		}
	}
}

// Tasks may run in any order that the dependences allow.
func TestPlan_tasks_in_any_order(t *testing.T) {
	q := newProblem(t, [3]int{6, 9, 5})
	for _, d := range []decomposition{{1, [2]int{1, 1}}, {3, [2]int{3, 1}}, {4, [2]int{2, 2}}} {
		want, err := q.run(d.ranks, Config{Grid: d.grid})
		require.NoError(t, err)
		for seed := range uint64(8) {
			cfg := Config{Form: Tasks, Grid: d.grid, Groups: 3, OneSided: seed%2 == 1, Stage: int(seed % 3)}
			cfg.RuntimeOptions = []dataflow.Option{dataflow.Seeded(seed + 1)}
			got, err := q.run(d.ranks, cfg)
			require.NoError(t, err, "seed %d", seed+1)
			requireSame(t, want, got, "seed %d", seed+1)
		}
	}
}

// Every set of kernels works.
func TestPlan_kernels(t *testing.T) {
	q := newProblem(t, [3]int{8, 6, 16})
	for _, set := range codelet.Sets() {
		_, err := q.run(2, Config{Form: Pencils, Kernels: set})
		require.NoError(t, err)
	}
}

// Messages may be late, and messages of different ranks overtake each other.
func TestPlan_disorder(t *testing.T) {
	q := newProblem(t, [3]int{9, 6, 8})
	want, err := q.run(3, Config{})
	require.NoError(t, err)
	for seed, form := range Forms() {
		faults := local.Faults{Seed: uint64(seed), Delay: 200 * time.Microsecond, Reorder: true}
		got, err := q.run(3, Config{Form: form}, local.Inject(faults))
		require.NoError(t, err)
		requireSame(t, want, got, "%v", form)
	}
}

// With many planes, Tasks sends several of them in one message.
func TestPlan_bunches(t *testing.T) {
	for _, dims := range [][3]int{{70, 9, 4}, {10, 100, 4}} {
		q := newProblem(t, dims)
		for _, ranks := range []int{2, 3} {
			want, err := q.run(ranks, Config{Form: Slabs})
			require.NoError(t, err)
			for _, cfg := range []Config{
				{Form: Tasks}, {Form: Tasks, OneSided: true}, {Form: Tasks, Groups: 3, Pad: 1}, {Form: Tasks, Stage: 8}, {Form: Tasks, Stage: 9},
				{Form: Tasks, Groups: 2, RuntimeOptions: []dataflow.Option{dataflow.Seeded(9)}},
			} {
				got, err := q.run(ranks, cfg)
				require.NoError(t, err)
				requireSame(t, want, got, "%v, %d groups", dims, cfg.Groups)
			}
		}
	}
}
