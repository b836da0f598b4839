package main

import "github.com/weft-hpc/weft/mpi"

// reaction is the Gray-Scott model: two fields, each with the borders of a plane.
type reaction struct{ a, b *plane }

func newReaction(c *mpi.Comm, n int) (app, error) {
	a, err := newPlane(c, n, true)
	if err != nil {
		return nil, err
	}
	b, err := newPlane(c, n, true)
	return &reaction{a, b}, err
}

func (x *reaction) state() []float64 { return x.a.u }

func (x *reaction) step(int) error {
	if err := x.a.exchange(); err != nil {
		return err
	}
	if err := x.b.exchange(); err != nil {
		return err
	}
	n := x.a.cols
	for r := 1; r < x.a.rows-1; r++ {
		for k := r*n + 1; k < (r+1)*n-1; k++ {
			u, v := x.a.u[k], x.b.u[k]
			uvv := u * v * v
			x.a.v[k] = u + 0.16*(x.a.u[k-1]+x.a.u[k+1]+x.a.u[k-n]+x.a.u[k+n]-4*u) - uvv + 0.035*(1-u)
			x.b.v[k] = v + 0.08*(x.b.u[k-1]+x.b.u[k+1]+x.b.u[k-n]+x.b.u[k+n]-4*v) + uvv - 0.1*v
		}
	}
	x.a.u, x.a.v = x.a.v, x.a.u
	x.b.u, x.b.v = x.b.v, x.b.u
	return nil
}

// euler is gas dynamics: two layers of three fields in one message each, and the time step is the
// smallest of all ranks.
type euler struct{ strips }

func newEuler(c *mpi.Comm, n int) (app, error) {
	e := &euler{newStrips(c, n, 3*n, 2, true)}
	e.rows += 2
	for i := range e.fields {
		e.fields[i] = make([]float64, e.rows*e.cols)
		fill(e.fields[i], c.Rank())
	}
	return e, nil
}

func (e *euler) layers(i int) mpi.Buffer { return mpi.Of(e.fields[0][i*e.cols : (i+2)*e.cols]) }

func (e *euler) step(int) error {
	if _, err := e.c.Sendrecv(e.layers(2), e.up, 0, e.layers(e.rows-2), e.down, 0); err != nil {
		return err
	}
	if _, err := e.c.Sendrecv(e.layers(e.rows-4), e.down, 1, e.layers(0), e.up, 1); err != nil {
		return err
	}
	dt := 0.4
	for r := 2; r < e.rows-2; r++ {
		u, up, down, far, next := e.line(0, r), e.line(0, r-1), e.line(0, r+1), e.line(0, r-2), e.line(1, r)
		for k := 3; k < len(u)-3; k++ {
			next[k] = u[k] - 0.1*(u[k]-u[k-3]) - 0.1*(1.5*u[k]-2*up[k]+0.5*far[k]) + 0.05*(down[k]-u[k])
			dt = min(dt, 1/(1+next[k]*next[k]))
		}
	}
	e.fields[0], e.fields[1] = e.fields[1], e.fields[0]
	return e.c.Allreduce(mpi.InPlace, mpi.One(&dt), mpi.Min)
}

// parity exchanges with plain sends and receives: even ranks send first, odd ones receive first.
type parity struct{ strips }

func newParity(c *mpi.Comm, n int) (app, error) { return &parity{newStrips(c, n, n, 2, false)}, nil }

func (p *parity) even() error {
	if err := p.c.Send(mpi.Of(p.line(0, p.rows-2)), p.down, 0); err != nil {
		return err
	}
	if _, err := p.c.Recv(mpi.Of(p.line(0, p.rows-1)), p.down, 1); err != nil {
		return err
	}
	if err := p.c.Send(mpi.Of(p.line(0, 1)), p.up, 1); err != nil {
		return err
	}
	if _, err := p.c.Recv(mpi.Of(p.line(0, 0)), p.up, 0); err != nil {
		return err
	}
	return nil
}

func (p *parity) odd() error {
	if _, err := p.c.Recv(mpi.Of(p.line(0, 0)), p.up, 0); err != nil {
		return err
	}
	if err := p.c.Send(mpi.Of(p.line(0, 1)), p.up, 1); err != nil {
		return err
	}
	if _, err := p.c.Recv(mpi.Of(p.line(0, p.rows-1)), p.down, 1); err != nil {
		return err
	}
	if err := p.c.Send(mpi.Of(p.line(0, p.rows-2)), p.down, 0); err != nil {
		return err
	}
	return nil
}

func (p *parity) step(int) (err error) {
	if p.c.Rank()%2 == 0 {
		err = p.even()
	} else {
		err = p.odd()
	}
	if err != nil {
		return err
	}
	for r := 1; r < p.rows-1; r++ {
		u, up, down, next := p.line(0, r), p.line(0, r-1), p.line(0, r+1), p.line(1, r)
		for k := 1; k < len(u)-1; k++ {
			next[k] = 0.4*u[k] + 0.15*(u[k-1]+u[k+1]+up[k]+down[k])
		}
	}
	p.fields[0], p.fields[1] = p.fields[1], p.fields[0]
	return nil
}
