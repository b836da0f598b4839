package mg

import "github.com/weft-hpc/weft/mpi"

// Tags of messages: up and down along an axis are the tag of upward plus the axis.
const (
	tagUp = iota
	_
	_
	tagDown
	_
	_
	tagCopy
)

// exchange fills the border of g with the points of the ranks beside this one. Collective
// among the ranks with points.
func (s *Solver) exchange(l *level, g *Grid) error {
	for axis := range 3 {
		switch {
		case l.parts[axis] == 1:
			wrap(g, axis, 1, g.N[2]+1)
		case axis == 2:
			n := g.N[2]
			if err := s.swap(l, axis, g.plane(n), g.plane(0), g.plane(1), g.plane(n+1)); err != nil {
				return err
			}
		default:
			if err := s.swapFaces(l, g, axis); err != nil {
				return err
			}
		}
	}
	return nil
}

// swap sends up to the rank above and down to the rank below, and receives their points.
func (s *Solver) swap(l *level, axis int, up, fromBelow, down, fromAbove []float64) error {
	c, low, high := s.comm, l.low[axis], l.high[axis]
	if s.together {
		return mpi.Waitall(
			c.Irecv(mpi.Of(fromBelow), low, tagUp+axis), c.Irecv(mpi.Of(fromAbove), high, tagDown+axis),
			c.Isend(mpi.Of(up), high, tagUp+axis), c.Isend(mpi.Of(down), low, tagDown+axis))
	}
	if _, err := c.Sendrecv(mpi.Of(up), high, tagUp+axis, mpi.Of(fromBelow), low, tagUp+axis); err != nil {
		return err
	}
	_, err := c.Sendrecv(mpi.Of(down), low, tagDown+axis, mpi.Of(fromAbove), high, tagDown+axis)
	return err
}

// swapFaces is swap for faces that have to be packed.
func (s *Solver) swapFaces(l *level, g *Grid, axis int) error {
	n := faceLen(g.N, axis)
	up, down, fromBelow, fromAbove := l.face[0][:n], l.face[1][:n], l.face[2][:n], l.face[3][:n]
	pack(up, g, axis, g.N[axis], 1, g.N[2]+1)
	pack(down, g, axis, 1, 1, g.N[2]+1)
	if err := s.swap(l, axis, up, fromBelow, down, fromAbove); err != nil {
		return err
	}
	unpack(g, fromBelow, axis, 0, 1, g.N[2]+1)
	unpack(g, fromAbove, axis, g.N[axis]+1, 1, g.N[2]+1)
	return nil
}

// faceLen returns the number of points of a face: those of x without borders, those of y with
// the borders along x.
func faceLen(n [3]int, axis int) int { return n[2] * edgeLen(n, axis) }

// edgeLen returns the number of points of a face in one plane.
func edgeLen(n [3]int, axis int) int {
	if axis == 0 {
		return n[1]
	}
	return n[0] + 2
}

// pack copies the face at i along an axis, x or y, in the planes from z0 up to but not
// including z1.
func pack(to []float64, g *Grid, axis, i, z0, z1 int) {
	k := 0
	for z := z0; z < z1; z++ {
		if axis == 1 {
			for _, x := range g.row(i, z) {
				to[k] = x
				k++
			}
			continue
		}
		for y := 1; y <= g.N[1]; y++ {
			to[k] = g.row(y, z)[i]
			k++
		}
	}
}

// unpack is the reverse of pack.
func unpack(g *Grid, from []float64, axis, i, z0, z1 int) {
	k := 0
	for z := z0; z < z1; z++ {
		if axis == 1 {
			row := g.row(i, z)
			for j := range row {
				row[j] = from[k]
				k++
			}
			continue
		}
		for y := 1; y <= g.N[1]; y++ {
			g.row(y, z)[i] = from[k]
			k++
		}
	}
}

// wrap fills the border along an axis that this rank has to itself; along x and y, in the
// planes from z0 up to but not including z1.
func wrap(g *Grid, axis, z0, z1 int) {
	n := g.N[axis]
	switch axis {
	case 0:
		for z := z0; z < z1; z++ {
			for y := 1; y <= g.N[1]; y++ {
				row := g.row(y, z)
				row[0], row[n+1] = row[n], row[1]
			}
		}
	case 1:
		for z := z0; z < z1; z++ {
			copy(g.row(0, z), g.row(n, z))
			copy(g.row(n+1, z), g.row(1, z))
		}
	default:
		copy(g.plane(0), g.plane(n))
		copy(g.plane(n+1), g.plane(1))
	}
}

// share gives u of level k to the ranks that have points on level k+1 but not on level k.
func (s *Solver) share(k int) error {
	coarse, fine := s.levels[k], s.levels[k+1]
	if !fine.active || coarse.stride == fine.stride {
		return nil
	}
	if !coarse.active {
		_, err := s.comm.Recv(mpi.Of(coarse.u.V), s.box.rank(coarse.place), tagCopy)
		return err
	}
	for i := 1; i < 8; i++ {
		at, fits := s.box.at, true
		for axis := range 3 {
			if i>>axis&1 == 1 {
				at[axis] -= fine.stride[axis]
				fits = fits && coarse.stride[axis] > fine.stride[axis]
			}
		}
		if !fits {
			continue
		}
		if err := s.comm.Send(mpi.Of(coarse.u.V), s.box.rank(at), tagCopy); err != nil {
			return err
		}
	}
	return nil
}
