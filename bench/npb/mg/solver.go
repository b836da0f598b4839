package mg

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// tolerance is the largest relative error of a verified norm.
const tolerance = 1e-8

// Solver is the benchmark on one rank. One goroutine uses it.
type Solver struct {
	class    Class
	comm     *mpi.Comm
	box      box
	levels   []*level // from 1 on, the coarsest; 0 is nil
	v        *Grid    // right side
	norm     float64  // of the last residual
	together bool     // the messages of an axis are under way at once
	whole    *whole   // coarse levels that every rank computes; nil: none
	divide   division // into tasks
	graph    *graph   // makes the cycles as tasks; nil: they are made in turn
}

// New makes the grids of this rank. Ranks must be a power of two, and no more than the cube
// of the points along an axis.
func New(c *mpi.Comm, class Class) (*Solver, error) {
	return newSolver(c, class, newBox(c.Size(), c.Rank()))
}

// NewColumn is New with up to four ranks along z only. Their faces have as many points as those of a box, in half of
// the messages, and none has to be packed.
func NewColumn(c *mpi.Comm, class Class) (*Solver, error) {
	b := newBox(c.Size(), c.Rank())
	if c.Size() <= 4 {
		b = box{sides: [3]int{1, 1, c.Size()}, at: [3]int{0, 0, c.Rank()}}
	}
	return newSolver(c, class, b)
}

func newSolver(c *mpi.Comm, class Class, b box) (*Solver, error) {
	p := c.Size()
	s := &Solver{class: class, comm: c, box: b, levels: []*level{nil}, divide: divided}
	if bits.OnesCount(uint(p)) != 1 || s.box.sides[2] > class.N {
		return nil, fmt.Errorf("MG class %s on %d ranks: it takes a power of two up to %d", class.Name, p, class.N*class.N*class.N)
	}
	for k := 1; k <= class.levels(); k++ {
		s.levels = append(s.levels, newLevel(s.box, 1<<k).allocate())
	}
	s.v = newGrid(s.levels[class.levels()].n)
	return s, nil
}

// Free frees the memory.
func (s *Solver) Free() error {
	if err := s.freeLevels(); err != nil {
		return err
	}
	return s.v.free()
}

func (s *Solver) freeLevels() error {
	for _, l := range s.levels[1:] {
		if err := l.free(); err != nil {
			return err
		}
	}
	return nil
}

// begin makes the right side, and u = 0. Collective.
func (s *Solver) begin() error {
	s.levels[s.class.levels()].u.zero()
	return s.source()
}

// cycle is one V-cycle, and the residual after it. Collective.
func (s *Solver) cycle() error {
	finest := s.class.levels()
	if err := s.correct(finest - 1); err != nil {
		return err
	}
	if err := s.up(finest); err != nil {
		return err
	}
	return s.residual(s.levels[finest], s.v)
}

// correct makes u of level k, the correction of level k+1, from the residual of level k+1.
func (s *Solver) correct(k int) error {
	if l := s.levels[k]; l.active {
		restrict(l.r, s.levels[k+1].r, 1, l.n[2]+1)
	}
	return s.correctFrom(k)
}

// correctFrom makes u of level k from its residual, which has no borders yet.
func (s *Solver) correctFrom(k int) error {
	if s.whole != nil && k == s.whole.top {
		return s.whole.correctFor(s)
	}
	if l := s.levels[k]; l.active {
		if err := s.exchange(l, l.r); err != nil {
			return err
		}
	}
	if k == 1 {
		if err := s.coarsest(); err != nil {
			return err
		}
		return s.share(k)
	}
	if err := s.correct(k - 1); err != nil {
		return err
	}
	if err := s.up(k); err != nil {
		return err
	}
	return s.share(k)
}

// coarsest makes u of level 1 from its residual.
func (s *Solver) coarsest() error {
	l := s.levels[1]
	l.u.zero()
	if !l.active {
		return nil
	}
	return s.smooth(l)
}

// up corrects level k by level k-1.
func (s *Solver) up(k int) error {
	l, v := s.levels[k], s.v
	if k < s.class.levels() {
		l.u.zero()
		v = l.r
	}
	if !l.active {
		return nil
	}
	interpolate(l.u, s.levels[k-1].u, s.shift(k), 0, l.n[2]+2)
	if err := s.residual(l, v); err != nil {
		return err
	}
	return s.smooth(l)
}

// shift returns, for each axis, whether the points of level k begin at an even point: that
// is so where this rank has one of them, and it is a point of level k-1, too.
func (s *Solver) shift(k int) (shift [3]int) {
	l := s.levels[k]
	for axis, n := range l.n {
		if n == 1 && (s.box.at[axis]+1)/l.stride[axis]%2 == 0 {
			shift[axis] = 1
		}
	}
	return shift
}

func (s *Solver) residual(l *level, v *Grid) error {
	residual(l.r, v, l.u, &poisson, 1, l.n[2]+1)
	return s.exchange(l, l.r)
}

func (s *Solver) smooth(l *level) error {
	smooth(l.u, l.r, &s.class.smoother, 1, l.n[2]+1)
	return s.exchange(l, l.u)
}

// Result of a run, the same on all ranks.
type Result struct {
	Seconds float64 // of the slowest rank
	Norm    float64 // of the residual
	Verdict error   // nil: verified
}

// Run makes an iteration that is not timed, the timed ones, and verifies the norm of the
// residual. Each is called before every timed iteration; nil: not. Collective.
func (s *Solver) Run(each func(t int)) (*Result, error) {
	if err := s.warm(); err != nil {
		return nil, err
	}
	pages.WarmHeap()
	if err := s.comm.Barrier(); err != nil {
		return nil, err
	}
	from := osthread.Nanotime()
	if err := s.iterations(s.class.Iterations, each); err != nil {
		return nil, err
	}
	r := &Result{Seconds: float64(osthread.Nanotime()-from) / 1e9, Norm: s.norm}
	r.Verdict = s.class.verify(r.Norm)
	return r, s.comm.Allreduce(mpi.InPlace, mpi.One(&r.Seconds), mpi.Max)
}

// warm makes an iteration and begins anew.
func (s *Solver) warm() error {
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.iterations(1, nil); err != nil {
		return err
	}
	return s.begin()
}

// iterations makes n cycles from u = 0, and the norm after them.
func (s *Solver) iterations(n int, each func(t int)) error {
	cycles := s.cycles
	if s.graph != nil {
		cycles = s.graph.cycles
	}
	if err := cycles(n, each); err != nil {
		return err
	}
	sum := s.levels[s.class.levels()].r.squares()
	if err := s.comm.Allreduce(mpi.InPlace, mpi.One(&sum), mpi.Sum); err != nil {
		return err
	}
	s.norm = math.Sqrt(sum / s.class.points())
	return nil
}

// cycles makes n cycles from u = 0, one operator after the other.
func (s *Solver) cycles(n int, each func(t int)) error {
	if err := s.residual(s.levels[s.class.levels()], s.v); err != nil {
		return err
	}
	for t := 1; t <= n; t++ {
		if each != nil {
			each(t)
		}
		if err := s.cycle(); err != nil {
			return err
		}
	}
	return nil
}

// verify compares a norm with that of the class.
func (c Class) verify(norm float64) error {
	if e := math.Abs(norm-c.Norm) / c.Norm; !(e <= tolerance) {
		return fmt.Errorf("MG class %s: the residual's norm is %.13e instead of %.13e, a relative error of %.2e", c.Name, norm, c.Norm, e)
	}
	return nil
}
