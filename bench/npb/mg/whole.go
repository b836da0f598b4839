package mg

import "github.com/weft-hpc/weft/mpi"

// whole has the coarse levels from top on down without ranks: their residual is gathered on
// every rank, and each computes all of the correction. A level of 16^3 points takes a rank less time than
// the messages of its exchanges do.
type whole struct {
	*Solver // on one rank; it has the levels up to top
	top     int
	mine    []float64 // points of this rank
	all     []float64 // of all ranks
}

// newWhole returns the levels from top on down; every rank of s has points on level top.
func newWhole(s *Solver, top int) *whole {
	one := &Solver{class: s.class, box: newBox(1, 0), levels: []*level{nil}}
	for k := 1; k <= top; k++ {
		one.levels = append(one.levels, newLevel(one.box, 1<<k).allocate())
	}
	n := s.levels[top].points()
	return &whole{Solver: one, top: top, mine: make([]float64, n), all: make([]float64, n*s.comm.Size())}
}

// correctFor makes u of level top of s from its residual, without borders. Collective.
func (w *whole) correctFor(s *Solver) error {
	part, all := s.levels[w.top], w.levels[w.top]
	part.r.points(func(x []float64, at int) { copy(w.mine[at:], x) })
	if err := s.comm.Allgather(mpi.Of(w.mine), mpi.Of(w.all)); err != nil {
		return err
	}
	for rank := range s.comm.Size() {
		w.place(s.box.of(rank), part, w.all[rank*len(w.mine):])
	}
	if err := w.exchange(all, all.r); err != nil {
		return err
	}
	if err := w.below(); err != nil {
		return err
	}
	w.extract(part.u, s.box)
	return nil
}

// below makes u of level top from its residual.
func (w *whole) below() error {
	if w.top == 1 {
		return w.coarsest()
	}
	if err := w.correct(w.top - 1); err != nil {
		return err
	}
	return w.up(w.top)
}

// place copies the points of a rank into the residual of level top.
func (w *whole) place(b box, part *level, from []float64) {
	to, n := w.levels[w.top].r, part.n
	x := b.at[0]*n[0] + 1
	part.r.points(func(row []float64, at int) {
		y, z := at/n[0]%n[1], at/n[0]/n[1]
		copy(to.row(b.at[1]*n[1]+y+1, b.at[2]*n[2]+z+1)[x:], from[at:][:len(row)])
	})
}

// extract copies the part of a rank, with its borders, out of u of level top.
func (w *whole) extract(u *Grid, b box) {
	from := w.levels[w.top].u
	x := b.at[0] * u.N[0]
	for z := range u.N[2] + 2 {
		for y := range u.N[1] + 2 {
			copy(u.row(y, z), from.row(b.at[1]*u.N[1]+y, b.at[2]*u.N[2]+z)[x:])
		}
	}
}
