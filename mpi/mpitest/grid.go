package mpitest

import (
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// gridCases: ranks on a grid.
func gridCases() []Case {
	return []Case{
		one("grid/coordinates", gridCoordinates),
		one("grid/ranks left over", gridLeftOver),
		one("grid/halo exchange", gridHalo),
		one("grid/rows and columns", gridSub),
		one("grid/wrong use", gridWrong),
	}
}

// grid makes a grid of all ranks.
func (r *rank) grid(periodic bool) (*mpi.Cart, *rank) {
	dims, err := mpi.Dims(r.Size(), 0, 0)
	r.must(err)
	g, err := r.Cart(dims, []bool{periodic, periodic})
	r.must(err)
	return g, r.keep(g.Comm, nil)
}

func gridCoordinates(r *rank) {
	g, _ := r.grid(false)
	d := g.Dims()
	r.equal("ranks on the grid", d[0]*d[1], r.Size())
	for p := range r.Size() {
		x := g.Coords(p)
		same(r, "coordinates", x, []int{p / d[1], p % d[1]})
		r.equal("rank at the coordinates", g.At(x...), p)
	}
	r.equal("beyond the end", g.At(d[0], 0), mpi.ProcNull)
	r.equal("before the beginning", g.At(0, -1), mpi.ProcNull)
	ring, _ := r.grid(true)
	r.equal("around the end", ring.At(d[0], -1), d[1]-1)
	r.equal("around the beginning", ring.At(-1-d[0], 0), (d[0]-1)*d[1])
}

func gridLeftOver(r *rank) {
	n := max(r.Size()-1, 1)
	g, err := r.Cart([]int{n}, nil)
	r.must(err)
	if r.Rank() >= n {
		r.equal("a grid for a rank that is left over", g == nil, true)
	} else {
		r.keep(g.Comm, nil).usable()
		r.equal("rank", g.Rank(), r.Rank())
	}
	r.usable()
}

// gridHalo sends to the neighbours in each direction.
func gridHalo(r *rank) {
	for _, periodic := range []bool{false, true} {
		g, c := r.grid(periodic)
		for dim := range 2 {
			for _, disp := range []int{1, -1, 2} {
				r.at("periodic %v, dimension %d, by %d", periodic, dim, disp)
				src, dst := g.Shift(dim, disp)
				got := blank(4)
				_, err := c.Sendrecv(mpi.Of(words(seedOf(c.Rank(), dim), 4)), dst, 0, mpi.Of(got), src, 0)
				r.must(err)
				x := g.Coords(g.Rank())
				x[dim] -= disp
				from := g.At(x...)
				r.equal("source", src, from)
				if from == mpi.ProcNull {
					same(r, "halo beyond the end", got, blank(4))
				} else {
					same(r, "halo", got, words(seedOf(from, dim), 4))
				}
			}
		}
	}
}

func gridSub(r *rank) {
	g, _ := r.grid(true)
	x, d := g.Coords(g.Rank()), g.Dims()
	for dim := range 2 {
		keep := []bool{dim == 0, dim == 1}
		line, err := g.Sub(keep...)
		r.must(err)
		c := r.keep(line.Comm, nil)
		r.equal("ranks in the line", c.Size(), d[dim])
		r.equal("place in the line", c.Rank(), x[dim])
		same(r, "sizes", line.Dims(), []int{d[dim]})
		for p := range c.Size() {
			y := slices.Clone(x)
			y[dim] = p
			r.equal("rank in the line", c.World(p), g.World(g.At(y...)))
		}
		c.usable()
		sum := []int64{int64(x[1-dim])}
		r.must(c.Allreduce(mpi.InPlace, mpi.Of(sum), mpi.Sum))
		r.equal("sum along the line", sum[0], int64(x[1-dim]*d[dim]))
	}
}

func gridWrong(r *rank) {
	_, err := r.Cart([]int{r.Size(), 2}, nil)
	r.wants(err, mpi.ErrCount, "grid that is too large")
	_, err = r.Cart([]int{0}, nil)
	r.wants(err, mpi.ErrCount, "grid without ranks")
	_, err = r.Cart([]int{1}, []bool{true, false})
	r.wants(err, mpi.ErrCount, "periodic for two dimensions of one")
	g, _ := r.grid(false)
	_, err = g.Sub(true)
	r.wants(err, mpi.ErrCount, "keep for one dimension of two")
	_, err = mpi.Dims(7, 2, 0)
	r.wants(err, mpi.ErrCount, "two rows of seven ranks")
	r.usable()
}
