package swap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// problem is a matrix and the pivots of one of its panels, which begins at row first.
type problem struct {
	rows, cols, nb, first int
	pivots                []int
}

func entry(i, j int) float64 { return float64(i*1000 + j + 1) }

// serial applies the exchanges one after the other to the whole matrix; the result is by
// row and column.
func (p problem) serial() [][]float64 {
	a := make([][]float64, p.rows)
	for i := range a {
		for j := range p.cols {
			a[i] = append(a[i], entry(i, j))
		}
	}
	for j, row := range p.pivots {
		i := p.first + j
		a[i], a[row] = a[row], a[i]
	}
	return a
}

// piece returns the rows of process row rank, column-major with leading dimension lda.
func (p problem) piece(d distribution, rank int) (a []float64, lda int) {
	lda = 3
	for i := range p.rows {
		if r, at := d.of(i); r == rank {
			lda = at + 4
		}
	}
	a = make([]float64, lda*p.cols+1)
	for i := range a {
		a[i] = math.NaN()
	}
	for i := range p.rows {
		if r, at := d.of(i); r == rank {
			for j := range p.cols {
				a[at+j*lda] = entry(i, j)
			}
		}
	}
	return a, lda
}

// check compares U and the local part with the result of the serial exchange. The rows of
// the triangle must be unchanged.
func (p problem) check(d distribution, rank int, a []float64, lda int, u []float64, ldu int) error {
	want := p.serial()
	last := p.first + len(p.pivots)
	for j := range p.cols {
		for i := range p.pivots {
			if got := u[i+j*ldu]; got != want[p.first+i][j] {
				return fmt.Errorf("U(%d,%d) is %v, not %v", i, j, got, want[p.first+i][j])
			}
		}
		for i := range p.rows {
			r, at := d.of(i)
			expect := want[i][j]
			if i >= p.first && i < last {
				expect = entry(i, j)
			}
			if r == rank && a[at+j*lda] != expect {
				return fmt.Errorf("row %d, column %d is %v, not %v", i, j, a[at+j*lda], expect)
			}
		}
	}
	return nil
}

// solve exchanges the rows of the problem over c, the columns in pieces that are all in
// flight at the same time.
func (p problem) solve(c *mpi.Comm, algorithm Algorithm, pieces int) error {
	d := distribution{nb: p.nb, size: c.Size()}
	plan := New(c.Rank(), c.Size(), p.nb, p.first, p.pivots)
	a, lda := p.piece(d, c.Rank())
	ldu := len(p.pivots) + 2
	u := make([]float64, ldu*p.cols+1)
	works, runs := make([][]float64, pieces), make([]*route.Run, pieces)
	bound := func(i int) int { return p.cols * i / pieces }
	for i := range pieces {
		n := bound(i+1) - bound(i)
		works[i] = make([]float64, plan.Work(n))
		for j := range works[i] {
			works[i][j] = math.NaN()
		}
		plan.Pack(blas.Portable(), n, a[bound(i)*lda:], lda, works[i])
		runs[i] = route.Start(c, i, works[i], plan.Route(algorithm, n))
	}
	for i := range pieces {
		if err := runs[i].Wait(); err != nil {
			return err
		}
		plan.Unpack(blas.Portable(), bound(i+1)-bound(i), works[i], u[bound(i)*ldu:], ldu, a[bound(i)*lda:], lda)
	}
	return p.check(d, c.Rank(), a, lda, u, ldu)
}

// pivots returns random pivots: few different rows, rows of one process, the rows
// themselves, or any.
func pivots(rng *rand.Rand, p problem, size, taste int) (all []int) {
	n := 1 + rng.IntN(min(p.nb-p.first%p.nb, p.rows-p.first)) // of one block, or its end
	if taste%2 == 0 {
		n = min(p.nb-p.first%p.nb, p.rows-p.first)
	}
	for j := range n {
		i := p.first + j
		below := p.rows - i
		row := i + rng.IntN(below)
		switch taste % 5 {
		case 0:
			row = i
		case 1:
			row = i + min(below-1, n+rng.IntN(2))
		case 2: // the owner of the last row has most
			row = p.rows - 1 - rng.IntN(min(below, 1+(p.rows-1)%p.nb))
		case 3:
			row = i + rng.IntN(min(below, 2*p.nb*size))
		}
		all = append(all, row)
	}
	return all
}

func TestAgainstSerial(t *testing.T) {
	for size := 1; size <= 7; size++ {
		err := local.Run(size, func(c *mpi.Comm) error {
			rng := rand.New(rand.NewPCG(1, uint64(size)))
			for try := range 120 {
				p := problem{rows: 1 + rng.IntN(60), cols: rng.IntN(21), nb: 1 + rng.IntN(9)}
				p.first = rng.IntN(p.rows)
				p.pivots = pivots(rng, p, size, try)
				for _, algorithm := range []Algorithm{BinaryExchange, SpreadRoll, Equilibrated} {
					if err := p.solve(c, algorithm, 1+rng.IntN(3)); err != nil {
						return fmt.Errorf("%+v, algorithm %d: %w", p, algorithm, err)
					}
				}
			}
			return nil
		}, local.Eager(64))
		require.NoError(t, err, "%d process rows", size)
	}
}

func TestApply(t *testing.T) {
	p := problem{rows: 50, cols: 17, nb: 8, first: 8, pivots: []int{49, 9, 10, 49, 30, 15, 14, 40}}
	for size := 1; size <= 3; size++ {
		err := local.Run(size, func(c *mpi.Comm) error {
			d := distribution{nb: p.nb, size: size}
			plan := New(c.Rank(), size, p.nb, p.first, p.pivots)
			a, lda := p.piece(d, c.Rank())
			w, u := make([]float64, plan.Work(p.cols)), make([]float64, plan.Rows()*p.cols)
			if err := plan.Apply(blas.Portable(), c, SpreadRoll, 5, p.cols, a, lda, w, u, plan.Rows()); err != nil {
				return err
			}
			if err := plan.Apply(blas.Portable(), c, SpreadRoll, 5, 0, nil, lda, nil, nil, 1); err != nil {
				return err
			}
			return p.check(d, c.Rank(), a, lda, u, plan.Rows())
		})
		require.NoError(t, err)
	}
}

// The negative controls: the check notices a missing exchange on one rank, and two in the
// wrong order; the messages notice plans that differ.
func TestChecksFail(t *testing.T) {
	p := problem{rows: 40, cols: 5, nb: 6, first: 0, pivots: []int{39, 38, 20, 20, 39, 5}}
	q := p
	q.pivots = []int{38, 39, 20, 20, 39, 5}
	d := distribution{nb: p.nb, size: 1}
	plan := New(0, 1, p.nb, p.first, q.pivots)
	a, lda := p.piece(d, 0)
	w, u := make([]float64, plan.Work(p.cols)), make([]float64, 6*p.cols)
	plan.Pack(blas.Portable(), p.cols, a, lda, w)
	require.Error(t, p.check(d, 0, a, lda, u, 6), "nothing unpacked")
	plan.Unpack(blas.Portable(), p.cols, w, u, 6, a, lda)
	require.NoError(t, q.check(d, 0, a, lda, u, 6))
	require.Error(t, p.check(d, 0, a, lda, u, 6), "other pivots")

	err := local.Run(2, func(c *mpi.Comm) error {
		mine := p
		if c.Rank() == 1 {
			mine.pivots = []int{0, 1, 2, 3, 4, 5}
		}
		return mine.solve(c, BinaryExchange, 1)
	})
	require.Error(t, err)
}

func TestBadPlans(t *testing.T) {
	require.PanicsWithValue(t, "swap: the pivot of row 5 is row 4, which is above it", func() { New(0, 2, 4, 4, []int{4, 4}) })
	require.Panics(t, func() { New(2, 2, 4, 1, nil) })
	require.Panics(t, func() { New(0, 2, 2, 1, []int{1, 2}) })
	require.Panics(t, func() { New(0, 1, 4, 0, []int{0}).Pack(blas.Portable(), 3, nil, 1, make([]float64, 2)) })
}

func TestChoose(t *testing.T) {
	require.Equal(t, BinaryExchange, Choose(0, 64, 1000, true))
	require.Equal(t, Equilibrated, Choose(1, 64, 1, true))
	require.Equal(t, SpreadRoll, Choose(1, 64, 1, false))
	require.Equal(t, BinaryExchange, Choose(2, 64, 64, true))
	require.Equal(t, Equilibrated, Choose(2, 64, 65, true))
	require.Equal(t, SpreadRoll, Choose(7, 64, 1, false))
}

// Messages per rank and panel are as few as the package documentation says.
func TestMessages(t *testing.T) {
	sends := func(size, rank int, algorithm Algorithm) (n int) {
		var all []int
		for i := range 16 {
			all = append(all, i+16*(1+i%size)) // every process row has some
		}
		for _, s := range New(rank, size, 16, 0, all).Route(algorithm, 10) {
			if s.Send {
				n++
			}
		}
		return n
	}
	for algorithm := BinaryExchange; algorithm <= Equilibrated; algorithm++ {
		require.Equal(t, 1, sends(2, 0, algorithm))
		require.Equal(t, 1, sends(2, 1, algorithm))
		require.Zero(t, sends(1, 0, algorithm))
	}
	require.Equal(t, 2+2, sends(4, 0, BinaryExchange), "two turns, and leavers to two more")
	require.Equal(t, 2, sends(4, 3, BinaryExchange))
	require.Equal(t, 3+2, sends(4, 0, SpreadRoll))
	require.Equal(t, 3, sends(4, 3, SpreadRoll))
}
