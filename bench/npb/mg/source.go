package mg

import (
	"cmp"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/mpi"
)

// seed of the generator, as in all NAS benchmarks.
const seed = 314159265

// charges is the number of points of each sign on the right side.
const charges = 10

// charge is a number of the generator, at a point of the grid of all ranks.
type charge struct {
	value float64
	point int
}

// source makes the right side: 1 where the generator has its largest numbers, -1 where it
// has its smallest. Collective.
func (s *Solver) source() error {
	n, fine := s.class.N, s.levels[len(s.levels)-1]
	var first [3]int
	for axis := range 3 {
		first[axis] = s.box.at[axis] * fine.n[axis]
	}
	low, high := extremes{sign: 1}, extremes{sign: -1}
	for z := range fine.n[2] {
		for y := range fine.n[1] {
			at := ((first[2]+z)*n+first[1]+y)*n + first[0]
			r := nas.Random(seed)
			r.Skip(at)
			for x := range fine.n[0] {
				v := r.Float64()
				low.add(v, at+x)
				high.add(v, at+x)
			}
		}
	}
	s.v.zero()
	for _, e := range []*extremes{&low, &high} {
		all, err := e.ofAll(s.comm)
		if err != nil {
			return err
		}
		for _, c := range all {
			s.charge(c.point, first, -e.sign)
		}
	}
	return s.exchange(fine, s.v)
}

// charge sets a point of the right side, if this rank has it.
func (s *Solver) charge(point int, first [3]int, value float64) {
	n := s.class.N
	at := [3]int{point % n, point / n % n, point / n / n}
	for axis := range 3 {
		if at[axis] -= first[axis]; at[axis] < 0 || at[axis] >= s.v.N[axis] {
			return
		}
	}
	s.v.row(at[1]+1, at[2]+1)[at[0]+1] = value
}

// extremes collects the smallest numbers, times sign.
type extremes struct {
	sign float64
	all  []charge // by value
}

func (e *extremes) add(value float64, point int) {
	value *= e.sign
	if len(e.all) == charges && value >= e.all[charges-1].value {
		return
	}
	c := charge{value, point}
	i, _ := slices.BinarySearchFunc(e.all, c, func(a, b charge) int { return cmp.Compare(a.value, b.value) })
	e.all = slices.Insert(e.all, i, c)
	e.all = e.all[:min(len(e.all), charges)]
}

// ofAll returns the extremes of all ranks. Collective.
func (e *extremes) ofAll(c *mpi.Comm) ([]charge, error) {
	mine, all := make([]float64, 2*charges), make([]float64, 2*charges*c.Size())
	for i := range charges {
		mine[2*i], mine[2*i+1] = 2, -1 // none: larger than any
		if i < len(e.all) {
			mine[2*i], mine[2*i+1] = e.all[i].value, float64(e.all[i].point)
		}
	}
	if err := c.Allgather(mpi.Of(mine), mpi.Of(all)); err != nil {
		return nil, err
	}
	merged := extremes{sign: 1}
	for i := 0; i < len(all); i += 2 {
		if all[i+1] >= 0 {
			merged.add(all[i], int(all[i+1]))
		}
	}
	return merged.all, nil
}
