package mg

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl/blas"
)

// Grid is the part of a level that a rank holds: N[0] x N[1] x N[2] points along x, y and z,
// with a border of one point around them. x is contiguous.
type Grid struct {
	N [3]int
	V []float64
}

// newGrid returns a grid of zeros, in huge pages if the system has them.
func newGrid(n [3]int) *Grid {
	v, err := blas.Alloc((n[0] + 2) * (n[1] + 2) * (n[2] + 2))
	if err != nil {
		panic(fmt.Sprintf("mg: %v", err))
	}
	return &Grid{n, v}
}

// free frees the memory of a grid, which may be nil.
func (g *Grid) free() error {
	if g == nil {
		return nil
	}
	return blas.Free(g.V)
}

// row returns the row at y and z, from 0, with its borders.
func (g *Grid) row(y, z int) []float64 {
	w := g.N[0] + 2
	return g.V[(z*(g.N[1]+2)+y)*w:][:w:w]
}

// plane returns the plane at z, from 0, with its borders.
func (g *Grid) plane(z int) []float64 {
	n := (g.N[0] + 2) * (g.N[1] + 2)
	return g.V[z*n:][:n:n]
}

// faces returns the rows that differ from the row at y and z in one coordinate.
func (g *Grid) faces(y, z int) (below, above, before, after []float64) {
	return g.row(y-1, z), g.row(y+1, z), g.row(y, z-1), g.row(y, z+1)
}

// edges returns the rows that differ in two.
func (g *Grid) edges(y, z int) (a, b, c, d []float64) {
	return g.row(y-1, z-1), g.row(y+1, z-1), g.row(y-1, z+1), g.row(y+1, z+1)
}

// points calls f for the points of each row, without borders, and with the number of points before them.
func (g *Grid) points(f func(x []float64, at int)) {
	at := 0
	for z := 1; z <= g.N[2]; z++ {
		for y := 1; y <= g.N[1]; y++ {
			f(g.row(y, z)[1:g.N[0]+1], at)
			at += g.N[0]
		}
	}
}

// zero clears the grid.
func (g *Grid) zero() { clear(g.V) }

// squares returns the sum of the squares of the points.
func (g *Grid) squares() (sum float64) {
	g.points(func(x []float64, _ int) { sum += squares(x) })
	return sum
}

// squares adds up in four sums, so that an addition does not wait for the one before.
func squares(x []float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] * x[0]
		b += x[1] * x[1]
		c += x[2] * x[2]
		d += x[3] * x[3]
	}
	for _, y := range x {
		a += y * y
	}
	return (a + b) + (c + d)
}
