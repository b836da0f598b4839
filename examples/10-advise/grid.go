package main

import (
	"fmt"
	"slices"
	"sync"

	"github.com/weft-hpc/weft/mpi"
)

// grid is the part of a rank: n[0] x n[1] x n[2] cells, with one more on either side
// where the grid is cut or ends. A square has n[2] = 1, and no cells beside that.
type grid struct {
	dims    int // that have neighbours: 2 or 3
	n, from [3]int
	stride  [3]int
	origin  int // index of the first cell
	u, next []float64
	workers int

	outFront, outBack, inFront, inBack []float64
}

func newGrid(c *mpi.Cart, o options) *grid {
	g := &grid{dims: max(o.dims, 2), workers: o.workers}
	at, cuts := c.Coords(c.Rank()), c.Dims()
	for d := range 3 {
		g.n[d] = 1
		if d < g.dims {
			g.n[d] = o.n
		}
		if d < len(cuts) {
			g.from[d] = at[d] * o.n / cuts[d]
			g.n[d] = (at[d]+1)*o.n/cuts[d] - g.from[d]
		}
	}
	return g.allocate()
}

// allocate makes the cells, with values that depend on their place in the whole grid.
func (g *grid) allocate() *grid {
	size := 1
	for d := 2; d >= 0; d-- {
		g.stride[d] = size
		size *= g.n[d]
		if d < g.dims {
			size += 2 * g.stride[d]
			g.origin += g.stride[d]
		}
	}
	g.u, g.next = make([]float64, size), make([]float64, size)
	for i := range g.n[0] {
		for j := range g.n[1] {
			for k := range g.n[2] {
				g.u[g.at(i, j, k)] = float64(((g.from[0]+i)*7 + (g.from[1]+j)*13 + (g.from[2]+k)*29) % 101)
			}
		}
	}
	face := g.n[0] * g.n[1]
	g.outFront, g.outBack, g.inFront, g.inBack = make([]float64, face), make([]float64, face), make([]float64, face), make([]float64, face)
	return g
}

// at returns the index of a cell; 0 is the first of the rank's own.
func (g *grid) at(i, j, k int) int {
	return g.origin + i*g.stride[0] + j*g.stride[1] + k*g.stride[2]
}

// row and column of a square, counted from the ones outside.
func (g *grid) row(i int) mpi.Buffer {
	return mpi.Strided(g.u[i*g.stride[0]+g.stride[1]:], 1, g.n[1], g.n[1])
}
func (g *grid) column(j int) mpi.Buffer {
	return mpi.Strided(g.u[j*g.stride[1]+g.stride[0]:], g.n[0], 1, g.stride[0])
}

// plane and side of a cube: the faces across its first and second dimension.
func (g *grid) plane(i int) mpi.Buffer {
	return mpi.Strided(g.u[i*g.stride[0]+g.stride[1]+g.stride[2]:], g.n[1], g.n[2], g.stride[1])
}
func (g *grid) side(j int) mpi.Buffer {
	return mpi.Strided(g.u[j*g.stride[1]+g.stride[0]+g.stride[2]:], g.n[0], g.n[2], g.stride[0])
}

// pack copies the faces across the third dimension to where they are sent from.
func (g *grid) pack() {
	for i := range g.n[0] {
		for j := range g.n[1] {
			g.outFront[i*g.n[1]+j], g.outBack[i*g.n[1]+j] = g.u[g.at(i, j, 0)], g.u[g.at(i, j, g.n[2]-1)]
		}
	}
}

// unpack copies the received neighbour values to their places.
func (g *grid) unpack(front, back int) {
	for i := range g.n[0] {
		for j := range g.n[1] {
			if front != mpi.ProcNull {
				g.u[g.at(i, j, -1)] = g.inFront[i*g.n[1]+j]
			}
			if back != mpi.ProcNull {
				g.u[g.at(i, j, g.n[2])] = g.inBack[i*g.n[1]+j]
			}
		}
	}
}

// step computes every cell from itself and its neighbours.
func (g *grid) step() {
	var wg sync.WaitGroup
	for w := range g.workers {
		wg.Go(func() { g.relax(w*g.n[0]/g.workers, (w+1)*g.n[0]/g.workers) })
	}
	wg.Wait()
	g.u, g.next = g.next, g.u
}

func (g *grid) relax(from, to int) {
	part := 1 / float64(2*g.dims+1)
	s, t, r := g.stride[0], g.stride[1], g.stride[2]
	for i := from; i < to; i++ {
		for j := range g.n[1] {
			for x := g.at(i, j, 0); x < g.at(i, j, g.n[2]); x++ {
				sum := g.u[x] + g.u[x-s] + g.u[x+s] + g.u[x-t] + g.u[x+t]
				if g.dims == 3 {
					sum += g.u[x-r] + g.u[x+r]
				}
				g.next[x] = sum * part
			}
		}
	}
}

// report compares with the whole grid on one rank, and prints the end of the program.
func report(c *mpi.Cart, g *grid, o options, took float64, steps []float64) error {
	whole := &grid{dims: g.dims, n: [3]int{o.n, o.n, 1}, workers: o.workers}
	if g.dims == 3 {
		whole.n[2] = o.n
	}
	whole.allocate()
	for range o.steps {
		whole.step()
	}
	wrong := []int64{0}
	for i := range g.n[0] {
		for j := range g.n[1] {
			x, y := g.at(i, j, 0), whole.at(g.from[0]+i, g.from[1]+j, g.from[2])
			if !slices.Equal(g.u[x:x+g.n[2]], whole.u[y:y+g.n[2]]) {
				wrong[0]++
			}
		}
	}
	slices.Sort(steps)
	slowest := []float64{took, steps[len(steps)/2]}
	if err := c.Allreduce(mpi.InPlace, mpi.Of(slowest), mpi.Max); err != nil {
		return err
	}
	if err := c.Allreduce(mpi.InPlace, mpi.Of(wrong), mpi.Sum); err != nil {
		return err
	}
	if wrong[0] > 0 {
		return fmt.Errorf("FAILED: %d rows of cells differ from the plain loop", wrong[0])
	}
	if c.Rank() == 0 {
		fmt.Printf("%d ranks as %v, %d steps in %.2f ms, %.1f us each, median %.1f us\n", c.Size(), c.Dims(), o.steps, slowest[0]*1e3, slowest[0]*1e6/float64(o.steps), slowest[1]*1e6)
		fmt.Printf("ok: after %d steps the cells are those of the plain loop\n", o.steps)
	}
	return nil
}
