package hpl

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weft-hpc/weft/mpi"
)

// ErrNaN is the error of a run in which a pivot or the residual became NaN: broken memory,
// broken kernels, or a matrix with a NaN. Run returns it with the Result, whose fields show
// where.
var ErrNaN = errors.New("not a number (NaN)")

// Run makes the matrix of cfg, solves the system on the first P*Q ranks of c, and verifies
// the solution; the other ranks return at once with a zero Result. Collective: all ranks of
// c call it with equal configurations; only Progress, Log and Workers may differ, and
// kernels must have the same name. The calling goroutine communicates.
//
// With modelled kernels (blas.Modelled) nothing is computed or verified: X is nil, Residual is
// NaN, and the pivots are chosen at random.
//
// A singular matrix is no error: Singular names the column, X is nil and Residual is NaN.
// Errors: an invalid configuration (Validate), too few ranks, too little memory, differing
// configurations, failed messages, and [ErrNaN], with which the Result is filled in. An
// error of one rank of the grid ends the run of all.
func Run(c *mpi.Comm, cfg Config) (Result, error) {
	return run(c, cfg, hooks{})
}

func run(c *mpi.Comm, cfg Config, h hooks) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	g, err := newGrid(c, &cfg)
	if err != nil || g == nil {
		return Result{}, err
	}
	r, err := runOn(g, cfg, h)
	if err != nil && !errors.Is(err, ErrNaN) {
		g.revoke(err)
		return r, err
	}
	return r, errors.Join(err, g.free())
}

// runOn is a run on the ranks of the grid.
func runOn(g *grid, cfg Config, h hooks) (r Result, err error) {
	s, err := newSolver(g, cfg, h)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.free()) }()
	if h.with != nil {
		h.with(s)
	}
	t := newTeam(cfg.Workers)
	s.generate(t)
	t.close()
	if h.filled != nil {
		h.filled(s.matrix)
	}
	if err := s.warmHeap(); err != nil {
		return r, err
	}
	if err := s.drive(); err != nil {
		return r, err
	}
	t = newTeam(cfg.Workers)
	defer t.close()
	return s.result(t)
}

// drive factors and solves, with the driver of the configuration. Like netlib, it uses no
// look-ahead if Q = 1.
func (s *solver) drive() error {
	switch {
	case s.cfg.Variant == Task:
		return runTask(s, (*taskRun).spawn)
	case s.cfg.Variant == TaskPlain:
		return runTask(s, (*taskRun).spawnPlain)
	case s.cfg.looksAhead():
		return runLookAhead(s)
	}
	return runBlocking(s)
}

// looksAhead reports whether the look-ahead driver runs.
func (c *Config) looksAhead() bool { return c.Variant == LookAhead && c.Depth > 0 && c.Q > 1 }

// blocks returns the number of block columns.
func (c *Config) blocks() int { return (c.N + c.NB - 1) / c.NB }

// generate makes the entries of the matrix with all workers, if the kernels compute.
func (s *solver) generate(t *team) {
	if s.model != nil {
		return
	}
	g := newGenerator(s.cfg.N, s.cfg.Seed)
	t.parts(s.matrix.nq, 1, func(_, first, last int) { s.matrix.fill(g, first, last) })
}

// result collects the results of the run. Collective.
func (s *solver) result(t *team) (r Result, err error) {
	r.Pivots = s.pivots
	seconds := []float64{s.meter.elapsed.Seconds()}
	if err = s.grid.all.Allreduce(mpi.InPlace, mpi.Of(seconds), mpi.Max); err != nil {
		return r, err
	}
	r.Seconds = max(seconds[0], time.Nanosecond.Seconds())
	r.GFlops = flops(s.cfg.N) / r.Seconds / 1e9
	if r.Timing, err = s.watch.largest(s.grid.all); err != nil {
		return r, err
	}
	if info := int(s.info.Load()); info > 0 {
		r.Singular, r.Residual = info, math.NaN()
		return r, nil
	}
	if s.model != nil {
		r.Residual = math.NaN()
		return r, nil
	}
	if err = s.replicate(); err != nil {
		return r, err
	}
	r.X = s.x
	if err = s.verify(t, &r); err != nil {
		return r, err
	}
	return r, s.numbers(&r)
}

// numbers returns ErrNaN if the run has produced a NaN.
func (s *solver) numbers(r *Result) error {
	switch info := int(s.info.Load()); {
	case info < 0:
		r.Residual = math.NaN()
		return fmt.Errorf("hpl: the pivot of column %d: %w: check memory, and the kernels %q against others", -info-1, ErrNaN, s.kernels.Name())
	case math.IsNaN(r.Residual):
		return fmt.Errorf("hpl: the residual: %w: check memory, and the kernels %q against others", ErrNaN, s.kernels.Name())
	}
	return nil
}

// Bytes returns the memory in bytes of a run of the valid configuration cfg, over all ranks
// of the grid: the matrix, panels, and buffers of updates, without the memory of program
// and engine. Any goroutine; does not block.
func Bytes(cfg Config) (total int64) {
	k := cfg.kernels()
	jb, d := min(cfg.NB, cfg.N), divisionOf(&cfg)
	ahead, inFlight := d.first(taskPanels(&cfg)), d.inFlight()
	for row := range cfg.P {
		for col := range cfg.Q {
			_, cols := axes(&cfg, row, col)
			sizes := driverSizes(&cfg, k, col)
			words := 0
			if cfg.tasks() { // a buffer for every block column, and for every worker
				words = k.PackedB(jb, cols.local()) + cfg.Workers*k.PackedB(jb, min(cfg.NB+1, cols.local()))
				for _, first := range ahead {
					words += panelLen(&cfg, k, row, first, d.widest(first))
				}
			} else {
				words = cfg.Workers*sizes.u + inFlight*panelLen(&cfg, k, row, 0, d.widest(0))
			}
			if cfg.probes() {
				words += probeLen
			}
			if cfg.P > 1 {
				words += sizes.work + sizes.raw
			}
			words += 6 * cfg.N // vectors: x, pivots, norms
			total += 8 * (matrixLen(&cfg, row, col) + int64(words))
		}
	}
	return total
}

// tasks reports whether the driver is a graph of tasks.
func (c *Config) tasks() bool { return c.Variant == Task || c.Variant == TaskPlain }

// inFlight returns the number of panels for which a driver without tasks has memory.
func (d division) inFlight() int {
	n := 0
	for range d.starts() {
		if !d.cfg.looksAhead() || n == d.cfg.Depth {
			break
		}
		n++
	}
	return n + 1
}
