package main

import "github.com/weft-hpc/weft/mpi"

// heat3 is the heat equation in a cube cut along two axes, with packed faces.
type heat3 struct {
	g       *mpi.Cart
	x, y, z int
	u, v    []float64
	peers   [4]int
	out, in [4][]float64
}

func newHeat3(c *mpi.Comm, n int) (app, error) {
	dims := halves(c.Size())
	g, err := c.Cart(dims, []bool{true, true})
	if err != nil {
		return nil, err
	}
	h := &heat3{g: g, x: n/dims[0] + 2, y: n/dims[1] + 2, z: n}
	h.u, h.v = make([]float64, h.x*h.y*h.z), make([]float64, h.x*h.y*h.z)
	h.peers[0], h.peers[1] = g.Shift(0, 1)
	h.peers[2], h.peers[3] = g.Shift(1, 1)
	for i := range h.out {
		face := h.y * h.z
		if i >= 2 {
			face = h.x * h.z
		}
		h.out[i], h.in[i] = make([]float64, face), make([]float64, face)
	}
	fill(h.u, c.Rank())
	return h, nil
}

func (h *heat3) state() []float64 { return h.u }

func (h *heat3) pencil(i, j int) []float64 { return h.u[(i*h.y+j)*h.z : (i*h.y+j+1)*h.z] }

func (h *heat3) pack() {
	copy(h.out[0], h.u[h.y*h.z:])
	copy(h.out[1], h.u[(h.x-2)*h.y*h.z:])
	for i := range h.x {
		copy(h.out[2][i*h.z:], h.pencil(i, 1))
		copy(h.out[3][i*h.z:], h.pencil(i, h.y-2))
	}
}

func (h *heat3) unpack() {
	copy(h.u, h.in[0])
	copy(h.u[(h.x-1)*h.y*h.z:], h.in[1])
	for i := 1; i < h.x-1; i++ {
		copy(h.pencil(i, 0), h.in[2][i*h.z:])
		copy(h.pencil(i, h.y-1), h.in[3][i*h.z:])
	}
}

func (h *heat3) step(int) error {
	h.pack()
	if _, err := h.g.Sendrecv(mpi.Of(h.out[0]), h.peers[0], 0, mpi.Of(h.in[1]), h.peers[1], 0); err != nil {
		return err
	}
	if _, err := h.g.Sendrecv(mpi.Of(h.out[1]), h.peers[1], 1, mpi.Of(h.in[0]), h.peers[0], 1); err != nil {
		return err
	}
	if _, err := h.g.Sendrecv(mpi.Of(h.out[2]), h.peers[2], 2, mpi.Of(h.in[3]), h.peers[3], 2); err != nil {
		return err
	}
	if _, err := h.g.Sendrecv(mpi.Of(h.out[3]), h.peers[3], 3, mpi.Of(h.in[2]), h.peers[2], 3); err != nil {
		return err
	}
	h.unpack()
	for i := 1; i < h.x-1; i++ {
		for j := 1; j < h.y-1; j++ {
			u, a, b, c, d := h.pencil(i, j), h.pencil(i-1, j), h.pencil(i+1, j), h.pencil(i, j-1), h.pencil(i, j+1)
			v := h.v[(i*h.y+j)*h.z : (i*h.y+j+1)*h.z]
			for k := 1; k < len(u)-1; k++ {
				v[k] = u[k] + 0.1*(a[k]+b[k]+c[k]+d[k]+u[k-1]+u[k+1]-6*u[k])
			}
		}
	}
	h.u, h.v = h.v, h.u
	return nil
}

// cg is the method of conjugate gradients for a five-point matrix: a halo and two sums in a step.
type cg struct {
	strips
	x, r, q []float64
	rho     float64
}

func newCG(c *mpi.Comm, n int) (app, error) {
	s := &cg{strips: newStrips(c, n, n, 1, false)}
	cells := len(s.fields[0])
	s.x, s.r, s.q = make([]float64, cells), make([]float64, cells), make([]float64, cells)
	copy(s.r, s.fields[0])
	s.rho = 1
	return s, nil
}

func (s *cg) state() []float64 { return s.x }

func (s *cg) step(int) error {
	if _, err := s.c.Sendrecv(mpi.Of(s.line(0, 1)), s.up, 0, mpi.Of(s.line(0, s.rows-1)), s.down, 0); err != nil {
		return err
	}
	if _, err := s.c.Sendrecv(mpi.Of(s.line(0, s.rows-2)), s.down, 1, mpi.Of(s.line(0, 0)), s.up, 1); err != nil {
		return err
	}
	pq := 1e-30
	for i := 1; i < s.rows-1; i++ {
		p, up, down, q := s.line(0, i), s.line(0, i-1), s.line(0, i+1), s.q[i*s.cols:(i+1)*s.cols]
		for k := 1; k < len(p)-1; k++ {
			q[k] = 4*p[k] - p[k-1] - p[k+1] - up[k] - down[k]
			pq += p[k] * q[k]
		}
	}
	if err := s.c.Allreduce(mpi.InPlace, mpi.One(&pq), mpi.Sum); err != nil {
		return err
	}
	alpha, rho := s.rho/pq, 1e-30
	p := s.fields[0]
	for i := s.cols; i < len(p)-s.cols; i++ {
		s.x[i] += alpha * p[i]
		s.r[i] -= alpha * s.q[i]
		rho += s.r[i] * s.r[i]
	}
	if err := s.c.Allreduce(mpi.InPlace, mpi.One(&rho), mpi.Sum); err != nil {
		return err
	}
	beta := rho / s.rho
	for i := s.cols; i < len(p)-s.cols; i++ {
		p[i] = s.r[i] + beta*p[i]
	}
	s.rho = rho
	return nil
}

// graph is values at the nodes of an unstructured mesh: every rank has three neighbours at most,
// by the bits of its number, and gathers what they need.
type graph struct {
	c          *mpi.Comm
	u, v       []float64
	out, in    [2][]float64
	one, other int
}

func newGraph(c *mpi.Comm, n int) (app, error) {
	g := &graph{c: c, u: make([]float64, n*n/c.Size()), one: c.Rank() ^ 1, other: c.Rank() ^ 2}
	if g.one >= c.Size() {
		g.one = mpi.ProcNull
	}
	if g.other >= c.Size() {
		g.other = mpi.ProcNull
	}
	g.v = make([]float64, len(g.u))
	for i := range g.out {
		g.out[i], g.in[i] = make([]float64, 2*n), make([]float64, 2*n)
	}
	fill(g.u, c.Rank())
	return g, nil
}

func (g *graph) state() []float64 { return g.u }

func (g *graph) step(int) error {
	for i := range g.out[0] {
		g.out[0][i], g.out[1][i] = g.u[i*5%len(g.u)], g.u[i*11%len(g.u)]
	}
	if _, err := g.c.Sendrecv(mpi.Of(g.out[0]), g.one, 0, mpi.Of(g.in[0]), g.one, 0); err != nil {
		return err
	}
	if _, err := g.c.Sendrecv(mpi.Of(g.out[1]), g.other, 0, mpi.Of(g.in[1]), g.other, 0); err != nil {
		return err
	}
	for i := range g.in[0] {
		g.u[i*5%len(g.u)] += 0.1 * (g.in[0][i] + g.in[1][i])
	}
	n := len(g.u)
	for i := range g.u {
		g.v[i] = 0.7*g.u[i] + 0.1*(g.u[(i*13+1)%n]+g.u[(i+97)%n])
	}
	g.u, g.v = g.v, g.u
	return nil
}
