package hplrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// plan chooses the values that the command line leaves open, the same on all ranks: the
// grid and the size of the matrix. If the run is not possible, it returns an error of
// usage on rank 0, and the others stop without one. Collective.
func (r *rank) plan() (stop bool, err error) {
	refuse := func(format string, args ...any) (bool, error) {
		if r.Rank() > 0 {
			return true, nil // rank 0 says it
		}
		return true, fmt.Errorf("%w: %w", world.ErrUsage, fmt.Errorf(format, args...))
	}
	f := *r.options.file // a copy: ranks of one process share the options
	if f.Grids == nil {
		f.Grids = []hpldat.Grid{Squarest(r.Size())}
	}
	r.file = &f
	if need := f.Ranks(); need > r.Size() {
		return refuse("Need at least %d processes for these tests, there are %d ranks: use -ranks %d, or mpirun -np %d, or a smaller grid", need, r.Size(), need, need)
	}
	if f.N == nil {
		if err := r.sizeMatrix(); err != nil {
			return true, err
		}
	}
	if err := r.chooseBlocks(); err != nil {
		return true, err
	}
	for c := range f.Tests() {
		if err := r.prepared(c, r.options.drivers[0]).Validate(); err != nil {
			return refuse("%w", err)
		}
	}
	if r.options.world.Modelled {
		return false, nil // nothing is stored
	}
	c := r.biggest()
	bytes, fits, err := r.room(c, 1)
	if err != nil {
		return true, err
	}
	if c.N > fits {
		return refuse("%w", tooLarge(c, bytes, fits))
	}
	return false, nil
}

// Squarest returns the grid of all ranks with the most rows that are not more than the
// columns.
func Squarest(ranks int) hpldat.Grid {
	g := hpldat.Grid{P: 1, Q: ranks}
	for p := 1; p*p <= ranks; p++ {
		if ranks%p == 0 {
			g = hpldat.Grid{P: p, Q: ranks / p}
		}
	}
	return g
}

// prepared adds the settings to a test that an HPL.dat lacks.
func (r *rank) prepared(c hpl.Config, d driver) hpl.Config {
	o := r.options
	c.Variant, c.Without, c.Workers, c.Seed, c.Kernels = d.variant, d.without, o.workers, o.seed, r.kernels()
	if c.Workers == 0 {
		c.Workers = world.Workers(r.Comm)
	}
	return c
}

func (r *rank) kernels() blas.Kernels {
	if r.options.kernels != nil {
		return r.options.kernels
	}
	return blas.Default()
}

// sizeMatrix chooses N, and NB where it is not given, for a run of about targetSeconds:
// all ranks multiply for a moment. Collective.
func (r *rank) sizeMatrix() error {
	g := r.file.Grids[0]
	c := hpl.Default(1 << 14)
	c.P, c.Q = g.P, g.Q
	if r.options.nb != nil {
		c.NB = r.options.nb[0]
	}
	c = r.prepared(c, r.options.drivers[0])
	if err := r.Barrier(); err != nil {
		return err
	}
	one, err := calibrate(c.Kernels, c.NB, c.Workers)
	if err != nil {
		return err
	}
	sum := 0.0
	if err := r.Allreduce(mpi.One(&one), mpi.One(&sum), mpi.Sum); err != nil {
		return err
	}
	gflops := sum * float64(g.P*g.Q) / float64(r.Size())
	bytes, most, err := r.room(c, memoryPart)
	if err != nil {
		return err
	}
	r.file.N = []int{0} // one order: how many tests, then?
	runs := r.runs()
	n := int64(sized(c, gflops, runs, most))
	if err := r.Bcast(mpi.One(&n), 0); err != nil {
		return err
	}
	r.file.N = []int{int(n)}
	if err := r.chooseBlocks(); err != nil {
		return err
	}
	c.N, c.NB = int(n), r.file.NB[0]
	r.sizing = fmt.Sprintf("no -n and no -dat: N = %d for %d run(s) in about %.0f s: the cores multiply at %.1f GFLOP/s, of which LINPACK is taken to reach %.0f %%, messages not counted; it takes %s of memory",
		n, runs, targetSeconds, gflops, 100*expectedPart, gib(float64(hpl.Bytes(c))))
	if bytes > 0 {
		r.sizing += fmt.Sprintf(", of %s", gib(float64(bytes)))
	}
	return nil
}

// chooseBlocks chooses an NB for each order and grid, where neither -nb nor an HPL.dat gives them, as if all
// ranks had the workers of the rank with fewest, and the kernels that want the narrowest blocks. Collective.
func (r *rank) chooseBlocks() error {
	if r.options.nb != nil || r.options.line.Given("dat") {
		return nil
	}
	workers := int64(r.prepared(hpl.Config{}, r.options.drivers[0]).Workers)
	if err := r.Allreduce(mpi.InPlace, mpi.One(&workers), mpi.Min); err != nil {
		return err
	}
	f := r.file
	cores := func(g hpldat.Grid) int { return g.P * g.Q * int(workers) }
	widths := make([]int64, 0, len(f.Grids)*len(f.N))
	for _, g := range f.Grids {
		for _, n := range f.N {
			widths = append(widths, int64(hpl.BlockWidth(n, g.P, cores(g), r.kernels())))
		}
	}
	if err := r.Allreduce(mpi.InPlace, mpi.Of(widths), mpi.Min); err != nil { // hosts may have different kernels
		return err
	}
	f.Width = func(n int, g hpldat.Grid) int {
		return int(widths[slices.Index(f.Grids, g)*len(f.N)+slices.Index(f.N, n)])
	}
	f.NB = nil
	var choices []string
	for _, g := range f.Grids {
		for _, n := range f.N {
			nb := f.Width(n, g)
			if !slices.Contains(f.NB, nb) {
				f.NB = append(f.NB, nb)
			}
			if choice := fmt.Sprintf("%d for N = %d, P = %d, %d cores", nb, n, g.P, cores(g)); !slices.Contains(choices, choice) {
				choices = append(choices, choice)
			}
		}
	}
	r.blocks = fmt.Sprintf("no -nb: NB = %s, from a table of measured widths, by order and cores (go doc hpl.BlockWidth) for kernels %s", strings.Join(choices, "; "), r.kernels().Name())
	return nil
}

// biggest returns the test that takes most memory.
func (r *rank) biggest() (biggest hpl.Config) {
	most := int64(-1)
	for c := range r.file.Tests() {
		c = r.prepared(c, r.options.drivers[0])
		if bytes := hpl.Bytes(c); bytes > most {
			biggest, most = c, bytes
		}
	}
	return biggest
}

// maxOrder is the largest order that hpl takes.
const maxOrder = 1 << 29

// room returns the memory of this machine that is available, 0 if the system does not
// tell, and the largest order of a run like c that fits into part of it on every
// machine of the world. Collective.
func (r *rank) room(c hpl.Config, part float64) (bytes int64, fits int, err error) {
	host, err := r.SplitShared()
	if err != nil {
		return 0, 0, err
	}
	here := min(host.Size(), c.P*c.Q)
	if err := host.Free(); err != nil {
		return 0, 0, err
	}
	mine, most := int64(maxOrder), int64(0)
	bytes, ok := available(r.program.system)
	if ok {
		mine = int64(largest(c, float64(here)/float64(c.P*c.Q), int64(part*float64(bytes)), maxOrder))
	}
	err = r.Allreduce(mpi.One(&mine), mpi.One(&most), mpi.Min)
	return bytes, int(most), err
}
