package main

import "github.com/weft-hpc/weft/mpi"

// strips is fields cut into strips of rows, with a border row at both ends.
type strips struct {
	c          *mpi.Comm
	rows, cols int
	up, down   int
	fields     [][]float64
}

func newStrips(c *mpi.Comm, rows, cols, fields int, periodic bool) strips {
	s := strips{c: c, rows: max(rows/c.Size(), 2) + 2, cols: cols, up: c.Rank() - 1, down: c.Rank() + 1}
	switch {
	case periodic:
		s.up, s.down = (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	default:
		if c.Rank() == 0 {
			s.up = mpi.ProcNull
		}
		if c.Rank() == c.Size()-1 {
			s.down = mpi.ProcNull
		}
	}
	for range fields {
		u := make([]float64, s.rows*cols)
		fill(u, c.Rank())
		s.fields = append(s.fields, u)
	}
	return s
}

func (s *strips) state() []float64 { return s.fields[0] }

func (s *strips) line(field, i int) []float64 {
	return s.fields[field][i*s.cols : (i+1)*s.cols]
}

// wave is the wave equation: the present field needs its neighbours, and an absorber does.
type wave struct{ strips }

func newWave(c *mpi.Comm, n int) (app, error) { return &wave{newStrips(c, n, n, 3, false)}, nil }

func (w *wave) step(int) error {
	if _, err := w.c.Sendrecv(mpi.Of(w.line(0, 1)), w.up, 0, mpi.Of(w.line(0, w.rows-1)), w.down, 0); err != nil {
		return err
	}
	if _, err := w.c.Sendrecv(mpi.Of(w.line(0, w.rows-2)), w.down, 0, mpi.Of(w.line(0, 0)), w.up, 0); err != nil {
		return err
	}
	for r := 1; r < w.rows-1; r++ {
		u, up, down, old, next := w.line(0, r), w.line(0, r-1), w.line(0, r+1), w.line(1, r), w.line(2, r)
		for k := 1; k < len(u)-1; k++ {
			next[k] = 2*u[k] - old[k] + 0.2*(u[k-1]+u[k+1]+up[k]+down[k]-4*u[k])
		}
	}
	w.fields[0], w.fields[1], w.fields[2] = w.fields[2], w.fields[0], w.fields[1]
	return nil
}

// shallow is the shallow-water equations: height and two velocities go both ways.
type shallow struct{ strips }

func newShallow(c *mpi.Comm, n int) (app, error) { return &shallow{newStrips(c, n, n, 6, true)}, nil }

func (s *shallow) step(int) error {
	const h, u, v = 0, 1, 2
	top, bottom := s.rows-2, s.rows-1
	if _, err := s.c.Sendrecv(mpi.Of(s.line(h, 1)), s.up, 0, mpi.Of(s.line(h, bottom)), s.down, 0); err != nil {
		return err
	}
	if _, err := s.c.Sendrecv(mpi.Of(s.line(h, top)), s.down, 1, mpi.Of(s.line(h, 0)), s.up, 1); err != nil {
		return err
	}
	if _, err := s.c.Sendrecv(mpi.Of(s.line(u, 1)), s.up, 2, mpi.Of(s.line(u, bottom)), s.down, 2); err != nil {
		return err
	}
	if _, err := s.c.Sendrecv(mpi.Of(s.line(u, top)), s.down, 3, mpi.Of(s.line(u, 0)), s.up, 3); err != nil {
		return err
	}
	if _, err := s.c.Sendrecv(mpi.Of(s.line(v, 1)), s.up, 4, mpi.Of(s.line(v, bottom)), s.down, 4); err != nil {
		return err
	}
	if _, err := s.c.Sendrecv(mpi.Of(s.line(v, top)), s.down, 5, mpi.Of(s.line(v, 0)), s.up, 5); err != nil {
		return err
	}
	for r := 1; r < s.rows-1; r++ {
		for f := range 3 {
			x, above, below, y := s.line(f, r), s.line((f+1)%3, r-1), s.line((f+2)%3, r+1), s.line(3+f, r)
			for k := 1; k < len(x)-1; k++ {
				y[k] = 0.9*x[k] + 0.05*(above[k-1]-below[k+1]) + 0.03*x[k]*above[k]
			}
		}
	}
	for f := range 3 {
		s.fields[f], s.fields[3+f] = s.fields[3+f], s.fields[f]
	}
	return nil
}

// maxwell is Yee's scheme: the electric field goes up, the magnetic one down, half a step later.
type maxwell struct{ strips }

func newMaxwell(c *mpi.Comm, n int) (app, error) { return &maxwell{newStrips(c, n, n, 4, true)}, nil }

func (m *maxwell) step(int) error {
	const ex, ey, hx, hy = 0, 1, 2, 3
	last := m.rows - 1
	if _, err := m.c.Sendrecv(mpi.Of(m.line(ex, 1)), m.up, ex, mpi.Of(m.line(ex, last)), m.down, ex); err != nil {
		return err
	}
	if _, err := m.c.Sendrecv(mpi.Of(m.line(ey, 1)), m.up, ey, mpi.Of(m.line(ey, last)), m.down, ey); err != nil {
		return err
	}
	for r := 1; r < last; r++ {
		x, y, hx, hy, below := m.line(ex, r), m.line(ey, r), m.line(hx, r), m.line(hy, r), m.line(ex, r+1)
		for k := 0; k < len(x)-1; k++ {
			hx[k] -= 0.4 * (y[k+1] - y[k] - below[k] + x[k])
			hy[k] += 0.4 * (x[k+1] - x[k])
		}
	}
	if _, err := m.c.Sendrecv(mpi.Of(m.line(hx, last-1)), m.down, hx, mpi.Of(m.line(hx, 0)), m.up, hx); err != nil {
		return err
	}
	if _, err := m.c.Sendrecv(mpi.Of(m.line(hy, last-1)), m.down, hy, mpi.Of(m.line(hy, 0)), m.up, hy); err != nil {
		return err
	}
	for r := 1; r < last; r++ {
		x, y, hx, above := m.line(ex, r), m.line(ey, r), m.line(hx, r), m.line(hx, r-1)
		for k := 1; k < len(x); k++ {
			x[k] += 0.4 * (hx[k] - hx[k-1])
			y[k] -= 0.4 * (hx[k] - above[k])
		}
	}
	return nil
}

// life is Conway's, on bytes.
type life struct {
	strips
	cells, next []byte
}

func newLife(c *mpi.Comm, n int) (app, error) {
	l := &life{strips: newStrips(c, n, n, 0, true)}
	l.cells, l.next = make([]byte, l.rows*n), make([]byte, l.rows*n)
	for i := range l.cells {
		l.cells[i] = byte((i*i + i/7 + c.Rank()) % 3 & 1)
	}
	return l, nil
}

func (l *life) state() []float64 {
	sum := 0.0
	for i, x := range l.cells {
		sum += float64(x) * float64(i%1000)
	}
	return []float64{sum}
}

func (l *life) row(i int) []byte { return l.cells[i*l.cols : (i+1)*l.cols] }

func (l *life) step(int) error {
	if err := l.c.Send(mpi.Of(l.row(1)), l.up, 0); err != nil {
		return err
	}
	if _, err := l.c.Recv(mpi.Of(l.row(l.rows-1)), l.down, 0); err != nil {
		return err
	}
	if err := l.c.Send(mpi.Of(l.row(l.rows-2)), l.down, 1); err != nil {
		return err
	}
	if _, err := l.c.Recv(mpi.Of(l.row(0)), l.up, 1); err != nil {
		return err
	}
	for r := 1; r < l.rows-1; r++ {
		up, mid, down := l.row(r-1), l.row(r), l.row(r+1)
		for k := 1; k < l.cols-1; k++ {
			sum := up[k-1] + up[k] + up[k+1] + mid[k-1] + mid[k+1] + down[k-1] + down[k] + down[k+1]
			alive := byte(0)
			if sum == 3 || sum == 2 && mid[k] == 1 {
				alive = 1
			}
			l.next[r*l.cols+k] = alive
		}
	}
	l.cells, l.next = l.next, l.cells
	return nil
}

// boltzmann is a lattice Boltzmann method with nine directions, three of which cross each border;
// their lines are packed.
type boltzmann struct {
	strips
	out, in [2][]float64
}

func newBoltzmann(c *mpi.Comm, n int) (app, error) {
	b := &boltzmann{strips: newStrips(c, n, n, 9, true)}
	for i := range b.out {
		b.out[i], b.in[i] = make([]float64, 3*n), make([]float64, 3*n)
	}
	return b, nil
}

func (b *boltzmann) step(int) error {
	n := b.cols
	for d := range 3 {
		copy(b.out[0][d*n:], b.line(1+d, 1))
		copy(b.out[1][d*n:], b.line(4+d, b.rows-2))
	}
	if _, err := b.c.Sendrecv(mpi.Of(b.out[0]), b.up, 0, mpi.Of(b.in[0]), b.down, 0); err != nil {
		return err
	}
	if _, err := b.c.Sendrecv(mpi.Of(b.out[1]), b.down, 1, mpi.Of(b.in[1]), b.up, 1); err != nil {
		return err
	}
	for d := range 3 {
		copy(b.line(1+d, b.rows-1), b.in[0][d*n:])
		copy(b.line(4+d, 0), b.in[1][d*n:])
	}
	for r := 1; r < b.rows-1; r++ {
		for k := 1; k < n-1; k++ {
			at, sum := r*n+k, 0.0
			for d := range 9 {
				sum += b.fields[d][at]
			}
			for d := range 9 {
				b.fields[d][at] += 0.6 * (sum/9 - b.fields[d][at])
			}
		}
	}
	return nil
}
