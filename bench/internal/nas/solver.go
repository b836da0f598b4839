package nas

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// Solver runs the benchmark on the ranks of a communicator. Its methods belong to the
// goroutine that made it, and are collective.
//
// It has two arrays: the transform of the initial values, which stays as it is, and the
// values at the time of an iteration. Initial values and evolution are computed row by row as
// the first pass of a transform reads them.
type Solver struct {
	class     Class
	comm      *mpi.Comm
	plan      *distributed.Plan
	spectrum  []complex128 // u: layout Output
	values    []complex128 // x: layout Input
	samples   []int        // in values
	initial   *initial
	evolution *Evolution

	// Each, if not nil, is called on rank 0 after every iteration, from 1, with its
	// checksum. It is inside the timed part, as the reference prints there.
	Each func(t int, sum complex128)

	model codelet.Model // of modelled kernels; nil otherwise

	spoil func(spectrum, values []complex128) // a test seam: damages the values
}

// Result is a timed run.
type Result struct {
	Seconds float64           // on rank 0, as the reference takes it; 0 on the others
	Sums    []complex128      // checksums by iteration; the same on all ranks
	Verdict error             // nil if all checksums are right; the same on all ranks; nil with modelled kernels
	Workers int               // of a rank
	Stats   distributed.Stats // of the transforms of this rank in the timed part
	Totals  Totals            // of all ranks; the same on all
}

// Runs are repetitions of one configuration, on rank 0.
type Runs []*Result

// Best returns the fastest run; nil if there is none.
func (rs Runs) Best() (best *Result) {
	for _, r := range rs {
		if best == nil || r.Seconds < best.Seconds {
			best = r
		}
	}
	return best
}

// Seconds returns the times of the runs, in order.
func (rs Runs) Seconds() (all []float64) {
	for _, r := range rs {
		all = append(all, r.Seconds)
	}
	return all
}

// ErrVerification is in the Verdict of a run whose checksums are wrong.
var ErrVerification = errors.New("verification failed")

// New prepares a class on the ranks of c: plan and arrays, no values. cfg selects the
// transform; New sets its dimensions and hooks. Collective. The plan may make a runtime,
// and then the calling goroutine is its worker 0 until Close. Errors: as distributed.New,
// no memory.
func New(c *mpi.Comm, class Class, cfg distributed.Config) (*Solver, error) {
	s := &Solver{class: class, comm: c}
	if cfg.Kernels != nil {
		s.model = cfg.Kernels.Model()
	}
	cfg.Dims = [3]int{class.NZ, class.NY, class.NX}
	cfg.BeforeForward, cfg.BeforeInverse = s.fill, s.evolve
	var err error
	if s.plan, err = distributed.New(c, cfg); err != nil {
		return nil, err
	}
	if s.spectrum, err = s.plan.NewArray(); err == nil {
		s.values, err = s.plan.NewArray()
	}
	if err != nil {
		return nil, errors.Join(err, s.plan.Close())
	}
	in := s.plan.Input()
	s.samples = class.Samples(func(x, y, z int) (int, bool) { return in.At([3]int{z, y, x}) })
	return s, nil
}

// Plan returns the plan of the transforms.
func (s *Solver) Plan() *distributed.Plan { return s.plan }

// Close ends the plan and gives the arrays back. Collective.
func (s *Solver) Close() error { return s.plan.Close() }

// Filling or evolving a point takes about as long as this number of operations of a
// transform of a grid, at 40 GFLOP/s: estimates, for evolving of what it takes longer than a copy
// (Zen 5, NAS FT on one rank with each of them done twice: 1.5 and 0.3 ns).
const (
	fillOperations   = 60
	evolveOperations = 8
)

// fill is the hook before the forward transform: the initial values of a part of a row.
func (s *Solver) fill(dst, _ []complex128, at [3]int) {
	if s.model != nil {
		s.model.Compute(fillOperations * len(dst))
		return
	}
	s.initial.row(dst, at[2], at[1], at[0])
}

// evolve is the hook before the inverse transform.
func (s *Solver) evolve(dst, src []complex128, at [3]int) {
	if s.model != nil {
		s.model.Compute(evolveOperations * len(dst))
		return
	}
	e := s.evolution
	e.Run(dst, src, X, at[2], e.At(Y, at[1])*e.At(Z, at[0]))
}

// Warm touches all memory and code: initial values and their transform, which the
// reference does before it starts the timer, and one inverse transform, which has its
// own arrays here. It returns the seconds.
func (s *Solver) Warm() (seconds float64, err error) {
	start := mpi.Wtime()
	if err := s.begin(); err != nil {
		return 0, err
	}
	s.evolution = s.class.Evolution(1)
	err = s.plan.Inverse(s.values, s.spectrum)
	return mpi.Wtime() - start, err
}

// begin computes the initial values and their transform.
func (s *Solver) begin() error {
	s.initial = newInitial(s.class)
	return s.plan.Forward(s.spectrum, nil)
}

// Run does the timed part once: from a barrier, the initial values and their transform,
// all iterations with their checksums, and verification. An error is a failure of the
// run; wrong checksums are in the Verdict of the result.
func (s *Solver) Run() (r *Result, err error) {
	r = &Result{Workers: s.plan.Workers(), Sums: make([]complex128, 0, s.class.Iterations)}
	s.plan.ResetStats()
	pages.WarmHeap()
	if err := s.comm.Barrier(); err != nil {
		return nil, err
	}
	start := mpi.Wtime()
	if err := s.begin(); err != nil {
		return nil, fmt.Errorf("initial transform: %w", err)
	}
	for t := 1; t <= s.class.Iterations; t++ {
		sum, err := s.iterate(t)
		if err != nil {
			return nil, fmt.Errorf("iteration %d: %w", t, err)
		}
		if s.comm.Rank() == 0 {
			r.Sums = append(r.Sums, sum)
			if s.Each != nil {
				s.Each(t, sum)
			}
		}
	}
	if s.comm.Rank() == 0 {
		_ = s.class.Verify(r.Sums) // it belongs to the timed part; agree tells all ranks
		r.Seconds = mpi.Wtime() - start
	}
	r.Stats = s.plan.Stats()
	if r.Totals, err = totals(s.comm, r.Stats); err != nil {
		return nil, err
	}
	return r, s.agree(r)
}

// iterate computes the values at time t and their checksum, which rank 0 has.
func (s *Solver) iterate(t int) (sum complex128, err error) {
	s.evolution = s.class.Evolution(t)
	if err := s.plan.Inverse(s.values, s.spectrum); err != nil {
		return 0, err
	}
	if s.spoil != nil {
		s.spoil(s.spectrum, s.values)
	}
	var part complex128
	if s.model == nil {
		part = s.class.PartialSum(s.values, s.samples)
	}
	err = s.comm.Reduce(mpi.One(&part), mpi.One(&sum), mpi.Sum, 0)
	return sum, err
}

// agree gives the checksums to all ranks, and the verdict.
func (s *Solver) agree(r *Result) error {
	if s.comm.Rank() > 0 {
		r.Sums = make([]complex128, s.class.Iterations)
	}
	if err := s.comm.Bcast(mpi.Of(r.Sums), 0); err != nil {
		return err
	}
	if s.model != nil {
		return nil
	}
	if wrong := s.class.Verify(r.Sums); wrong != nil {
		r.Verdict = fmt.Errorf("%w: %w", ErrVerification, wrong)
	}
	return nil
}

// Once runs a class one time, after a run of the same code that does not count, and closes
// all it has made: for measurements of several variants in turn, none of which
// waits beside another with its memory and its workers. Collective.
func Once(c *mpi.Comm, class Class, cfg distributed.Config) (*Result, error) {
	s, err := New(c, class, cfg)
	if err != nil {
		return nil, err
	}
	var r *Result
	if _, err = s.Warm(); err == nil {
		r, err = s.Run()
	}
	return r, errors.Join(err, s.Close())
}
