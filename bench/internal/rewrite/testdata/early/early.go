// Package early uses buffers of requests before the wait, and, in clean, after it.
package early

import "github.com/weft-hpc/weft/mpi"

func races(c *mpi.Comm, n, p int) (float64, error) {
	in, out := make([]float64, n), make([]float64, n)
	r := c.Irecv(mpi.Of(in), p, 0)
	s := c.Isend(mpi.Of(out), p, 0)
	sum := in[0] + out[0] // race: in is read
	out[1] = 2            // race: out is written
	if _, err := r.Wait(); err != nil {
		return 0, err
	}
	copy(out, in) // race: out is written
	_, err := s.Wait()
	return sum, err
}

func listed(c *mpi.Comm, n, p int) (int, error) {
	in, out := make([]int, n), make([]int, n)
	var rs []*mpi.Request
	rs = append(rs, c.Irecv(mpi.Of(in), p, 1))
	rs = append(rs, c.Isend(mpi.Of(out), p, 1))
	first := total(in) // race: in is read
	return first, mpi.Waitall(rs...)
}

func total(x []int) (sum int) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func clean(c *mpi.Comm, n, p int) (float64, error) {
	in, out := make([]float64, n), make([]float64, n)
	var rs [2]*mpi.Request
	rs[0] = c.Irecv(mpi.Of(in), p, 2)
	rs[1] = c.Isend(mpi.Of(out), p, 2)
	k := len(in) + cap(out)
	later := func() { out[0] = in[0] } // not yet
	sum := out[0]                      // a read of what is being sent
	if err := mpi.Waitall(rs[:]...); err != nil {
		return 0, err
	}
	later()
	out[k%n] = in[0]
	in = make([]float64, n)
	r := c.Irecv(mpi.Of(in), p, 3)
	in = nil // another slice
	_ = len(in)
	_, err := r.Wait()
	return sum, err
}

func parts(c *mpi.Comm, u []float64, p int) error {
	r := c.Irecv(mpi.Of(u[:2]), p, 4)
	u[5] = 1 // another part
	_, err := r.Wait()
	return err
}
