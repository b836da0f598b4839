package main

import (
	"math"

	"github.com/weft-hpc/weft/mpi"
)

// plane is a field cut in both directions, with a border of one cell.
type plane struct {
	g           *mpi.Cart
	rows, cols  int // with the border
	u, v        []float64
	up, down    int
	left, right int
}

func newPlane(c *mpi.Comm, n int, periodic bool) (*plane, error) {
	dims := halves(c.Size())
	g, err := c.Cart(dims, []bool{periodic, periodic})
	if err != nil {
		return nil, err
	}
	p := &plane{g: g, rows: n/dims[0] + 2, cols: n/dims[1] + 2}
	p.u, p.v = make([]float64, p.rows*p.cols), make([]float64, p.rows*p.cols)
	p.up, p.down = g.Shift(0, 1)
	p.left, p.right = g.Shift(1, 1)
	fill(p.u, c.Rank())
	return p, nil
}

func (p *plane) state() []float64 { return p.u }

func (p *plane) row(i int) mpi.Buffer {
	return mpi.Of(p.u[i*p.cols+1 : (i+1)*p.cols-1])
}

func (p *plane) column(j int) mpi.Buffer {
	return mpi.Strided(p.u[p.cols+j:], p.rows-2, 1, p.cols)
}

// jacobi solves Poisson's equation, and looks at the residual every tenth step.
type jacobi struct{ *plane }

func newJacobi(c *mpi.Comm, n int) (app, error) {
	p, err := newPlane(c, n, false)
	return &jacobi{p}, err
}

func (j *jacobi) step(i int) error {
	if err := j.exchange(); err != nil {
		return err
	}
	sum := 0.0
	for r := 1; r < j.rows-1; r++ {
		u, up, down, v := j.u[r*j.cols:(r+1)*j.cols], j.u[(r-1)*j.cols:r*j.cols], j.u[(r+1)*j.cols:(r+2)*j.cols], j.v[r*j.cols:(r+1)*j.cols]
		for k := 1; k < len(u)-1; k++ {
			v[k] = 0.25 * (u[k-1] + u[k+1] + up[k] + down[k])
			sum += (v[k] - u[k]) * (v[k] - u[k])
		}
	}
	j.u, j.v = j.v, j.u
	if i%10 != 9 {
		return nil
	}
	return j.g.Allreduce(mpi.InPlace, mpi.One(&sum), mpi.Sum)
}

func (p *plane) exchange() error {
	if _, err := p.g.Sendrecv(p.row(1), p.up, 1, p.row(p.rows-1), p.down, 1); err != nil {
		return err
	}
	if _, err := p.g.Sendrecv(p.row(p.rows-2), p.down, 2, p.row(0), p.up, 2); err != nil {
		return err
	}
	if _, err := p.g.Sendrecv(p.column(1), p.left, 3, p.column(p.cols-1), p.right, 3); err != nil {
		return err
	}
	if _, err := p.g.Sendrecv(p.column(p.cols-2), p.right, 4, p.column(0), p.left, 4); err != nil {
		return err
	}
	return nil
}

// stencil9 needs the corners, so columns have to wait for rows; the messages of each pair need not.
type stencil9 struct{ *plane }

func newStencil9(c *mpi.Comm, n int) (app, error) {
	p, err := newPlane(c, n, true)
	return &stencil9{p}, err
}

func (s *stencil9) whole(j int) mpi.Buffer { return mpi.Strided(s.u[j:], s.rows, 1, s.cols) }

func (s *stencil9) step(int) error {
	if _, err := s.g.Sendrecv(s.row(1), s.up, 1, s.row(s.rows-1), s.down, 1); err != nil {
		return err
	}
	if _, err := s.g.Sendrecv(s.row(s.rows-2), s.down, 2, s.row(0), s.up, 2); err != nil {
		return err
	}
	if _, err := s.g.Sendrecv(s.whole(1), s.left, 3, s.whole(s.cols-1), s.right, 3); err != nil {
		return err
	}
	if _, err := s.g.Sendrecv(s.whole(s.cols-2), s.right, 4, s.whole(0), s.left, 4); err != nil {
		return err
	}
	for r := 1; r < s.rows-1; r++ {
		u, up, down, v := s.u[r*s.cols:(r+1)*s.cols], s.u[(r-1)*s.cols:r*s.cols], s.u[(r+1)*s.cols:(r+2)*s.cols], s.v[r*s.cols:(r+1)*s.cols]
		for k := 1; k < len(u)-1; k++ {
			v[k] = 0.2*u[k] + 0.15*(u[k-1]+u[k+1]+up[k]+down[k]) + 0.05*(up[k-1]+up[k+1]+down[k-1]+down[k+1])
		}
	}
	s.u, s.v = s.v, s.u
	return nil
}

// advection carries a field along, upwind: two neighbours only.
type advection struct{ *plane }

func newAdvection(c *mpi.Comm, n int) (app, error) {
	p, err := newPlane(c, n, true)
	return &advection{p}, err
}

func (a *advection) step(int) error {
	if _, err := a.g.Sendrecv(a.row(a.rows-2), a.down, 0, a.row(0), a.up, 0); err != nil {
		return err
	}
	if _, err := a.g.Sendrecv(a.column(a.cols-2), a.right, 1, a.column(0), a.left, 1); err != nil {
		return err
	}
	for r := 1; r < a.rows-1; r++ {
		u, up, v := a.u[r*a.cols:(r+1)*a.cols], a.u[(r-1)*a.cols:r*a.cols], a.v[r*a.cols:(r+1)*a.cols]
		for k := 1; k < len(u)-1; k++ {
			v[k] = u[k] - 0.3*(u[k]-u[k-1]) - 0.4*(u[k]-up[k])
		}
	}
	a.u, a.v = a.v, a.u
	return nil
}

// uneven is jacobi with ranks that compute up to twice as long as others, by turns.
type uneven struct {
	*plane
	c *mpi.Comm
}

func newUneven(c *mpi.Comm, n int) (app, error) {
	p, err := newPlane(c, n, true)
	return &uneven{p, c}, err
}

func (x *uneven) step(i int) error {
	if err := x.exchange(); err != nil {
		return err
	}
	sweeps := 1 + (i/16+x.c.Rank())%2
	for range sweeps {
		for r := 1; r < x.rows-1; r++ {
			u, up, v := x.u[r*x.cols:(r+1)*x.cols], x.u[(r-1)*x.cols:r*x.cols], x.v[r*x.cols:(r+1)*x.cols]
			for k := 1; k < len(u)-1; k++ {
				v[k] = 0.25*(u[k-1]+u[k+1]+2*up[k]) + 1e-3*math.Sqrt(math.Abs(u[k]))
			}
		}
		x.u, x.v = x.v, x.u
	}
	return nil
}
