package mg

import (
	"errors"

	"github.com/weft-hpc/weft/mpi"
)

// box is the arrangement of the ranks, x fastest.
type box struct{ sides, at [3]int }

// newBox arranges p ranks, a power of two: z, y and x are halved in turn.
func newBox(p, rank int) box {
	b := box{sides: [3]int{1, 1, 1}}
	for axis := 2; p > 1; p /= 2 {
		b.sides[axis] *= 2
		axis = (axis + 2) % 3
	}
	return b.of(rank)
}

// of returns the same box with the place of a rank.
func (b box) of(rank int) box {
	for axis, n := range b.sides {
		b.at[axis] = rank % n
		rank /= n
	}
	return b
}

// rank returns the rank at a place.
func (b box) rank(at [3]int) int {
	return at[0] + b.sides[0]*(at[1]+b.sides[1]*at[2])
}

// level is one rank's part of a level.
type level struct {
	n      [3]int // points of this rank; the level has too few for some ranks: 1
	stride [3]int // distance between ranks with points
	place  [3]int // this rank, or the one after it that has points
	active bool   // this rank has points
	low    [3]int // ranks beside this one, along each axis
	high   [3]int
	parts  [3]int // ranks with points along each axis

	u, r *Grid // u of ranks without points is a copy of that of the rank at place
	face [4][]float64
}

// newLevel makes the part of a level with n points along each axis.
func newLevel(b box, n int) *level {
	l := &level{active: true}
	for axis, p := range b.sides {
		l.n[axis], l.stride[axis] = max(1, n/p), max(1, p/n)
		s := l.stride[axis]
		l.parts[axis] = p / s
		l.place[axis] = (b.at[axis]/s+1)*s - 1
		l.active = l.active && l.place[axis] == b.at[axis]
	}
	for axis, p := range b.sides {
		to := l.place
		to[axis] = (l.place[axis] + p - l.stride[axis]) % p
		l.low[axis] = b.rank(to)
		to[axis] = (l.place[axis] + l.stride[axis]) % p
		l.high[axis] = b.rank(to)
	}
	return l
}

// points returns the number of points of this rank.
func (l *level) points() int { return l.n[0] * l.n[1] * l.n[2] }

// allocate makes the grids.
func (l *level) allocate() *level {
	l.u = newGrid(l.n)
	if l.active {
		l.r = newGrid(l.n)
	}
	most := 0
	for axis := range 2 {
		if l.parts[axis] > 1 {
			most = max(most, faceLen(l.n, axis))
		}
	}
	for i := range l.face {
		l.face[i] = mpi.Alloc[float64](most)
	}
	return l
}

// free frees the memory.
func (l *level) free() error {
	for _, x := range l.face {
		if err := mpi.Free(x); err != nil {
			return err
		}
	}
	return errors.Join(l.u.free(), l.r.free())
}
