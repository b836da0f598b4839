package nas

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// small says that the run should do less: the race detector makes kernels portable and
// everything slow.
func small() bool { return invariant.Race || testing.Short() }

// sized returns class S, with fewer iterations if the run should do less.
func sized(t *testing.T) Class {
	t.Helper()
	class, err := Named("S")
	require.NoError(t, err)
	if small() {
		return class.First(1)
	}
	return class
}

// onRanks runs a class once and returns the result of rank 0.
func onRanks(t *testing.T, ranks int, class Class, cfg distributed.Config, prepare func(c *mpi.Comm, s *Solver)) *Result {
	t.Helper()
	var result *Result
	require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
		s, err := New(c, class, cfg)
		if err != nil {
			return err
		}
		if prepare != nil {
			prepare(c, s)
		}
		r, err := s.Run()
		if err == nil && c.Rank() == 0 {
			result = r
		}
		return errors.Join(err, s.Close())
	}))
	return result
}

// verified asserts that all checksums are right.
func verified(t *testing.T, class Class, r *Result) {
	t.Helper()
	require.NoError(t, r.Verdict)
	require.Len(t, r.Sums, class.Iterations)
	require.LessOrEqual(t, class.Worst(r.Sums), Tolerance)
	require.Equal(t, class.Iterations+1, r.Stats.Transforms)
	require.Positive(t, r.Seconds)
}

// Every checksum of class S, for all variants on several numbers of ranks, also such that
// do not divide the grid; with the same ranks, all variants give the same bits.
func TestSolver_class_S(t *testing.T) {
	class := sized(t)
	counts := []int{1, 2, 3, 4, 8}
	switch {
	case small():
		counts = []int{2}
	case os.Getenv("WEFT_LONG") == "":
		counts = []int{1, 3} // the stage ft of .ci/run has the others
	}
	for _, ranks := range counts {
		var first []complex128
		for _, v := range Variants(ranks < 8) {
			t.Run(fmt.Sprintf("%s on %d", v, ranks), func(t *testing.T) {
				r := onRanks(t, ranks, class, distributed.Config{Form: v.Form, OneSided: v.OneSided}, nil)
				verified(t, class, r)
				if first == nil {
					first = r.Sums
				}
				assert.Equal(t, first, r.Sums, "other bits than exchange")
			})
		}
	}
}

// Class W has three different sizes: an exchange of dimensions would show.
func TestSolver_class_W(t *testing.T) {
	if small() {
		t.Skip("class S is enough for a short run: run without -short and -race")
	}
	class, err := Named("W")
	require.NoError(t, err)
	for _, ranks := range []int{2, 4} {
		if ranks == 4 && os.Getenv("WEFT_LONG") == "" {
			break // the stage ft of .ci/run has them
		}
		for _, v := range Variants(true) {
			t.Run(fmt.Sprintf("%s on %d", v, ranks), func(t *testing.T) {
				verified(t, class, onRanks(t, ranks, class, distributed.Config{Form: v.Form, OneSided: v.OneSided}, nil))
			})
		}
	}
}

// The same in a two-dimensional grid of processes.
func TestSolver_two_dimensional_grid(t *testing.T) {
	class := sized(t)
	for _, grid := range [][2]int{{2, 2}, {1, 3}, {2, 4}} {
		var first []complex128
		for _, v := range Variants(grid[0] == grid[1]) {
			t.Run(fmt.Sprintf("%s on %d x %d", v, grid[0], grid[1]), func(t *testing.T) {
				r := onRanks(t, grid[0]*grid[1], class, distributed.Config{Form: v.Form, OneSided: v.OneSided, Grid: grid}, nil)
				verified(t, class, r)
				if first == nil {
					first = r.Sums
				}
				assert.Equal(t, first, r.Sums, "other bits than exchange")
			})
			if small() {
				return
			}
		}
	}
}

// Grids of processes, padding, workers and a bounded stage change nothing.
func TestSolver_configurations(t *testing.T) {
	class := sized(t)
	for _, cfg := range []distributed.Config{
		{Form: distributed.Tasks, Stage: 2, Workers: 2},
		{Form: distributed.Exchange, Grid: [2]int{2, 2}},
		{Form: distributed.Slabs, Grid: [2]int{1, 4}, Pad: 8},
		{Form: distributed.Pencils, Grid: [2]int{2, 2}, Pad: 3, Workers: 2},
		{Form: distributed.Tasks, Grid: [2]int{2, 2}},
		{Form: distributed.Slabs, Stage: 1, Pad: 8},
		{Form: distributed.Pencils, Stage: 3, OneSided: true, Groups: 5},
	} {
		verified(t, class, onRanks(t, 4, class, cfg, nil))
		if small() {
			return
		}
	}
}

// With the wrong seed, exponent or root of unity, or without a plane, verification fails.
func TestSolver_negative_controls(t *testing.T) {
	class, err := Named("S")
	require.NoError(t, err)
	class = class.First(2) // damage to the transform shows in the second
	seed, alpha := class, class
	seed.Seed++
	alpha.Alpha *= 1 + 1e-6
	spoil := func(f func(s *Solver, u, x []complex128)) func(*mpi.Comm, *Solver) {
		return func(c *mpi.Comm, s *Solver) {
			if c.Rank() == 1 {
				s.spoil = func(u, x []complex128) { f(s, u, x) }
			}
		}
	}
	for name, p := range map[string]struct {
		class   Class
		prepare func(*mpi.Comm, *Solver)
	}{
		"seed":     {seed, nil},
		"exponent": {alpha, nil},
		"plane missing": {class, spoil(func(s *Solver, _, x []complex128) {
			in := s.plan.Input()
			for j := range in.Extent[1] {
				clear(in.Row(x, 5, j))
			}
		})},
		"plane of the transform missing": {class, spoil(func(s *Solver, u, _ []complex128) {
			out := s.plan.Output()
			for i := range out.Extent[0] {
				clear(out.Row(u, i, 3))
			}
		})},
		"root of unity": {class, spoil(func(s *Solver, u, _ []complex128) {
			out := s.plan.Output()
			for i := range out.Extent[0] {
				u[i*out.Stride[0]] *= cmplx.Exp(1e-4i)
			}
		})},
		"one number":   {class, spoil(func(s *Solver, _, x []complex128) { x[s.samples[7]] *= 1 + 1e-6 })},
		"not a number": {class, spoil(func(s *Solver, _, x []complex128) { x[s.samples[0]] = cmplx.NaN() })},
	} {
		if small() && name != "seed" && name != "plane missing" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			verdicts := 0
			err := local.Run(2, func(c *mpi.Comm) error {
				s, err := New(c, p.class, distributed.Config{Form: distributed.Slabs})
				if err != nil {
					return err
				}
				if p.prepare != nil {
					p.prepare(c, s)
				}
				r, err := s.Run()
				if err == nil && errors.Is(r.Verdict, ErrVerification) {
					mu.Lock()
					verdicts++
					mu.Unlock()
				}
				return errors.Join(err, s.Close())
			})
			require.NoError(t, err)
			assert.Equal(t, 2, verdicts, "both ranks know that it failed")
		})
	}
}

// A grid of odd sizes, against transforms by their definition.
func TestSolver_against_definition(t *testing.T) {
	class := custom(6, 5, 4)
	class.Alpha = 1e-3 // high frequencies must matter
	want := byDefinition(class)
	for _, ranks := range []int{1, 2, 3} {
		for _, v := range Variants(ranks > 1) {
			r := onRanks(t, ranks, class, distributed.Config{Form: v.Form, OneSided: v.OneSided}, nil)
			assert.ErrorIs(t, r.Verdict, ErrVerification, "there is nothing to verify with")
			require.Len(t, r.Sums, len(want))
			for i := range want {
				assert.InDelta(t, 0, cmplx.Abs(r.Sums[i]/want[i]-1), 1e-12, "%s on %d ranks, iteration %d", v, ranks, i+1)
			}
		}
	}
}

// byDefinition returns the checksums of a small class.
func byDefinition(c Class) (sums []complex128) {
	x := make([]complex128, c.Points())
	c.Fill(x, 0)
	u := transform(c, x, -1)
	for t := 1; t <= c.Iterations; t++ {
		e := make([]complex128, len(u))
		for i := range u {
			squares := 0
			for axis, n := range []int{c.NX, c.NY, c.NZ} {
				k := []int{i % c.NX, i / c.NX % c.NY, i / (c.NX * c.NY)}[axis]
				k = (k+n/2)%n - n/2
				squares += k * k
			}
			e[i] = u[i] * complex(math.Exp(-4*c.Alpha*math.Pi*math.Pi*float64(t*squares)), 0)
		}
		y := transform(c, e, 1)
		var sum complex128
		for j := 1; j <= 1024; j++ {
			sum += y[j%c.NX+c.NX*(3*j%c.NY)+c.NX*c.NY*(5*j%c.NZ)]
		}
		sums = append(sums, sum/complex(float64(c.Points()), 0))
	}
	return sums
}

func transform(c Class, x []complex128, sign float64) []complex128 {
	y := make([]complex128, len(x))
	for k := range y {
		for j, v := range x {
			turns := float64(k%c.NX*(j%c.NX))/float64(c.NX) +
				float64(k/c.NX%c.NY*(j/c.NX%c.NY))/float64(c.NY) +
				float64(k/(c.NX*c.NY)*(j/(c.NX*c.NY)))/float64(c.NZ)
			y[k] += v * cmplx.Exp(complex(0, sign*2*math.Pi*turns))
		}
	}
	return y
}

// The timed part can be repeated, and tells of each iteration. With a given stage: without one the messages of a run
// depend on how long workers had to wait in the run before.
func TestSolver_Run_twice(t *testing.T) {
	class := sized(t)
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		s, err := New(c, class, distributed.Config{Form: distributed.Tasks, Stage: 8})
		if err != nil {
			return err
		}
		seconds, err := s.Warm()
		assert.Positive(t, seconds)
		var told []complex128
		s.Each = func(step int, sum complex128) {
			assert.Equal(t, len(told)+1, step)
			told = append(told, sum)
		}
		a, e1 := s.Run()
		tellA := told
		told = nil
		b, e2 := s.Run()
		if err = errors.Join(err, e1, e2); err == nil {
			assert.Equal(t, a.Sums, b.Sums)
			assert.Equal(t, a.Totals.Messages, b.Totals.Messages)
			assert.Equal(t, a.Totals.Bytes, b.Totals.Bytes)
			assert.NoError(t, b.Verdict)
			if c.Rank() == 0 {
				assert.Equal(t, a.Sums, tellA)
				assert.Equal(t, b.Sums, told)
			} else {
				assert.Empty(t, told)
			}
		}
		return errors.Join(err, s.Close())
	}))
}

// The messages match the paper's table 1: the volume is the same for all, and slabs send
// one piece per plane and peer.
func TestTotals(t *testing.T) {
	class := sized(t)
	const ranks = 4
	volume := float64(class.Bytes()) * (ranks - 1) / ranks * float64(class.Iterations+1)
	for _, v := range Variants(true) {
		if small() && v.Form != distributed.Slabs {
			continue
		}
		totals := onRanks(t, ranks, class, distributed.Config{Form: v.Form, OneSided: v.OneSided}, nil).Totals
		assert.InEpsilon(t, volume, totals.Bytes, 1e-9, "%s", v)
		assert.LessOrEqual(t, totals.Smallest, totals.Largest)
		assert.InEpsilon(t, volume/ranks, float64(totals.Messages)*float64(totals.Smallest+totals.Largest)/2, 0.3, "%s", v)
		perTransform := totals.Messages / (class.Iterations + 1)
		switch v.Form {
		case distributed.Exchange:
			assert.Equal(t, ranks-1, perTransform, "%s", v)
		case distributed.Slabs:
			assert.Equal(t, class.NZ/ranks*(ranks-1), perTransform, "%s", v)
			assert.Equal(t, 16*class.NX*class.NY/ranks, totals.Largest, "%s", v)
		default:
			assert.GreaterOrEqual(t, perTransform, class.NZ/ranks*(ranks-1), "%s", v)
		}
	}
	alone := onRanks(t, 1, class, distributed.Config{}, nil).Totals
	assert.Zero(t, alone.Messages)
	assert.Zero(t, alone.Smallest)
	assert.Zero(t, alone.Bytes)
}

func TestNew_errors(t *testing.T) {
	class := sized(t)
	for name, cfg := range map[string]distributed.Config{
		"grid":    {Grid: [2]int{3, 5}},
		"pad":     {Pad: -1},
		"stage":   {Stage: -1, Form: distributed.Slabs},
		"workers": {Workers: -2},
	} {
		require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
			_, err := New(c, class, cfg)
			assert.Error(t, err, name)
			_, err = Once(c, class, cfg)
			assert.Error(t, err, name)
			return nil
		}))
	}
}

func TestOnce(t *testing.T) {
	class := sized(t)
	require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
		r, err := Once(c, class, distributed.Config{Form: distributed.Pencils})
		if err == nil {
			assert.NoError(t, r.Verdict)
			assert.Equal(t, 1, r.Workers)
		}
		return err
	}))
}

func TestVariants(t *testing.T) {
	assert.Len(t, Variants(false), 4)
	assert.Len(t, Variants(true), 8)
	names := map[string]bool{}
	for _, v := range Variants(true) {
		names[v.String()] = true
	}
	assert.Len(t, names, 8)
	assert.Contains(t, names, "slabs-onesided")
}

// What a plan keeps for its messages is no more than the estimate has beside two arrays, and at least a third of it.
func TestMemory_of_plans(t *testing.T) {
	class, err := Named("S")
	require.NoError(t, err)
	for _, form := range distributed.Forms() {
		for _, stage := range []int{0, 8} {
			if form == distributed.Exchange && stage > 0 {
				continue
			}
			cfg := distributed.Config{Dims: [3]int{class.NZ, class.NY, class.NX}, Form: form, Stage: stage}
			require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
				p, err := distributed.New(c, cfg)
				if err != nil {
					return err
				}
				kept, estimate := 2*p.Stats().Stage, class.Memory(2, cfg)-2*class.Bytes()
				assert.LessOrEqual(t, kept, estimate, "%v, stage %d", form, stage)
				assert.GreaterOrEqual(t, 3*kept, estimate, "%v, stage %d", form, stage)
				return p.Close()
			}))
		}
	}
}

// The arrays are all that counts: two, and on several ranks what waits for its transfer.
func TestMemory(t *testing.T) {
	class, err := Named("A")
	require.NoError(t, err)
	array := class.Bytes()
	assert.Equal(t, 2*array, class.Memory(1, distributed.Config{}))
	assert.Equal(t, 2*array+array/2, class.Memory(2, distributed.Config{Form: distributed.Exchange, Stage: 4}))
	assert.Equal(t, 2*array+8<<20, class.Memory(2, distributed.Config{Form: distributed.Slabs, Stage: 4}))
	assert.Equal(t, 2*array+(128/4+32)*array/128+array/2/3, class.Memory(2, distributed.Config{Form: distributed.Tasks}))
	assert.Equal(t, 2*array+2*array*3/4, class.Memory(4, distributed.Config{Grid: [2]int{2, 2}}))
	assert.Equal(t, 2*(array+16*8*class.NZ), class.Memory(1, distributed.Config{Pad: 8}))
}

func BenchmarkSolver(b *testing.B) {
	for _, name := range []string{"S", "W", "A"} {
		b.Run(name, func(b *testing.B) {
			class, err := Named(name)
			require.NoError(b, err)
			require.NoError(b, local.Run(1, func(c *mpi.Comm) error {
				s, err := New(c, class, distributed.Config{Form: distributed.Tasks})
				if err == nil {
					_, err = s.Warm()
				}
				best := math.Inf(1)
				for b.Loop() && err == nil {
					var r *Result
					if r, err = s.Run(); err == nil {
						best = math.Min(best, r.Seconds)
						err = r.Verdict
					}
				}
				b.ReportMetric(class.Mop()/best, "Mop/s")
				return errors.Join(err, s.Close())
			}))
		})
	}
}
