package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// strip is one rank's part of the vectors. The names follow Ghysels and Vanroose (Parallel
// Computing 40, 2014), algorithm 3.
type strip struct {
	first, rows, cols int       // rows from first to first+rows-1 of the square, counted from 1
	w                 []float64 // A times the residual, with a row on either side: the neighbour's, or the boundary
	blocks            []*block
	sums              []float64 // (r, r) and (w, r)
	scalars           []float64 // alpha, beta, and (r, r) of the iteration before
	residual          []float64 // squared, by iteration
	stop              float64   // residual that is small enough, in parts of the first
	last              int       // iteration
	seconds           float64
}

// block is the rows [from, to) of a strip, which counts from 1.
type block struct {
	from, to, priority int
	q                  []float64 // A times w
	vectors            []float64 // z, s, p, x and r, one after the other
}

// The solution is known, and zero outside of the square; the right side is A times it.

func known(n, row, col int) float64 {
	if row < 1 || col < 1 || row > n || col > n {
		return 0
	}
	return float64((row*7+col*3)%100) / 100
}

func right(n, row, col int) float64 {
	if row < 1 || col < 1 || row > n || col > n {
		return 0
	}
	return 4*known(n, row, col) - known(n, row-1, col) - known(n, row+1, col) - known(n, row, col-1) - known(n, row, col+1)
}

// newStrip returns the part of this rank, at the beginning: x = 0.
func newStrip(c *mpi.Cart, o options) *strip {
	from, to := c.Rank()*o.n/c.Size(), (c.Rank()+1)*o.n/c.Size()
	u := &strip{first: from + 1, rows: to - from, cols: o.n, w: mpi.Alloc[float64]((to - from + 2) * o.n),
		sums: make([]float64, 2), scalars: make([]float64, 3), residual: make([]float64, o.limit), stop: o.tolerance * o.tolerance}
	for at := 1; at <= u.rows; at += o.block {
		b := &block{from: at, to: min(at+o.block, u.rows+1)}
		size := (b.to - b.from) * u.cols
		b.q, b.vectors = make([]float64, size), make([]float64, 5*size)
		if b.from > 1 && b.to <= u.rows {
			b.priority = 1 // it needs nothing of the neighbours
		}
		u.fill(b)
		u.blocks = append(u.blocks, b)
	}
	return u
}

// fill gives a block its first r and w.
func (u *strip) fill(b *block) {
	r, w := b.vectors[4*len(b.q):], u.at(b.from, b.to)
	for i := range r {
		row, col := u.first+b.from-1+i/u.cols, 1+i%u.cols
		r[i] = right(u.cols, row, col)
		w[i] = 4*r[i] - right(u.cols, row-1, col) - right(u.cols, row+1, col) - right(u.cols, row, col-1) - right(u.cols, row, col+1)
		u.sums[0] += r[i] * r[i]
		u.sums[1] += w[i] * r[i]
	}
}

// at returns rows [from, to) of w.
func (u *strip) at(from, to int) []float64 { return u.w[from*u.cols : to*u.cols] }

// enough reports whether the residual of iteration i is small enough.
func (u *strip) enough(i int) bool {
	u.last = i
	return u.residual[i] <= u.stop*u.residual[0]
}

// multiply computes rows of q from the same rows of w and one on either side.
func multiply(cols int, w, q []float64) {
	for at := 0; at < len(q); at += cols {
		up, mid, down, out := w[at:at+cols], w[at+cols:at+2*cols], w[at+2*cols:at+3*cols], q[at:at+cols]
		out[0] = 4*mid[0] - up[0] - down[0] - mid[1]
		for i := 1; i < len(out)-1; i++ {
			out[i] = 4*mid[i] - up[i] - down[i] - mid[i-1] - mid[i+1]
		}
		i := cols - 1
		out[i] = 4*mid[i] - up[i] - down[i] - mid[i-1]
	}
}

// nextScalars computes alpha and beta from the sums, which begin anew.
func nextScalars(sums, s, residual []float64) {
	alpha, beta := sums[0]/sums[1], 0.0
	if s[2] > 0 {
		beta = sums[0] / s[2]
		alpha = sums[0] / (sums[1] - beta*sums[0]/s[0])
	}
	residual[0] = sums[0]
	s[0], s[1], s[2] = alpha, beta, sums[0]
	clear(sums)
}

// advanceBlock is the rest of an iteration, in one pass over a block.
func advanceBlock(scalars, q, w, vectors, sums []float64) {
	alpha, beta, n := scalars[0], scalars[1], len(q)
	z, s, p, x, r := vectors[:n], vectors[n:2*n], vectors[2*n:3*n], vectors[3*n:4*n], vectors[4*n:]
	w, r = w[:n], r[:n]
	var rr, wr float64
	for i := range q {
		z[i] = q[i] + beta*z[i]
		s[i] = w[i] + beta*s[i]
		p[i] = r[i] + beta*p[i]
		x[i] += alpha * p[i]
		ri, wi := r[i]-alpha*s[i], w[i]-alpha*z[i]
		r[i], w[i] = ri, wi
		rr += ri * ri
		wr += wi * ri
	}
	sums[0] += rr
	sums[1] += wr
}

func add(dst, src []float64) {
	for i := range dst {
		dst[i] += src[i]
	}
}

// measure runs f on all ranks at the same time.
func measure(c *mpi.Comm, u *strip, f func() error) error {
	err := c.Barrier()
	start := mpi.Wtime()
	err = errors.Join(err, f())
	u.seconds = mpi.Wtime() - start
	return err
}

// report checks the solutions and prints what rank 0 has to say.
func report(c *mpi.Comm, o options, strips ...*strip) error {
	var left [2]float64
	for i, u := range strips {
		x, err := gather(c, o, u)
		if err != nil {
			return err
		}
		left[i] = distance(o.n, x)
	}
	if c.Rank() != 0 {
		return nil
	}
	fmt.Println(world.Describe(c))
	for i, name := range []string{"exchange, add up, compute", "messages as tasks"} {
		u := strips[i]
		fmt.Printf("%-30s %5d iterations %8.1f ms %8.1f us each\n", name, u.last+1, u.seconds*1e3, u.seconds/float64(u.last+1)*1e6)
	}
	if worst := slices.Max(left[:]); !(worst <= 2*o.tolerance) {
		return fmt.Errorf("FAILED: |b - A x| is %.1e of |b| (limit %.1e)", worst, 2*o.tolerance)
	}
	fmt.Printf("ok: both times |b - A x| is at most %.1e of |b|\n", 2*o.tolerance)
	return nil
}

// gather returns the whole x on rank 0.
func gather(c *mpi.Comm, o options, u *strip) ([]float64, error) {
	counts, displs := make([]int, c.Size()), make([]int, c.Size())
	for r := range counts {
		displs[r] = r * o.n / c.Size() * o.n
		counts[r] = (r+1)*o.n/c.Size()*o.n - displs[r]
	}
	var own []float64
	for _, b := range u.blocks {
		own = append(own, b.vectors[3*len(b.q):4*len(b.q)]...)
	}
	all := make([]float64, o.n*o.n)
	if c.Rank() != 0 {
		counts, displs = nil, nil
	}
	return all, c.Gatherv(mpi.Of(own), mpi.Of(all), counts, displs, 0)
}

// distance returns |b - A x| / |b|.
func distance(n int, x []float64) float64 {
	border := make([]float64, n)
	padded := slices.Concat(border, x, border)
	ax := make([]float64, n*n)
	multiply(n, padded, ax)
	var up, down float64
	for i, v := range ax {
		b := right(n, 1+i/n, 1+i%n)
		up += (b - v) * (b - v)
		down += b * b
	}
	return math.Sqrt(up / down)
}
