package nas

import (
	"fmt"
	"math"
	"math/cmplx"
)

// Tolerance is the largest relative difference from a reference value, as a ratio of
// complex moduli, that passes: the same for every class (NPB 3.4, verify).
const Tolerance = 1e-12

// checked is how many points the checksum adds up.
const checked = 1024

// Sample returns the coordinates of point j, from 1 to 1024, that the checksum adds up.
func (c Class) Sample(j int) (x, y, z int) { return j % c.NX, 3 * j % c.NY, 5 * j % c.NZ }

// Samples returns where the points that the checksum adds up lie in the part of the grid
// that somebody has: at returns the index of a point in its memory, and whether it is
// there. A point that is summed more than once occurs so often.
func (c Class) Samples(at func(x, y, z int) (index int, mine bool)) (indices []int) {
	for j := 1; j <= checked; j++ {
		if i, mine := at(c.Sample(j)); mine {
			indices = append(indices, i)
		}
	}
	return indices
}

// PartialSum adds up the values at indices, in their order, divided by the number of
// points of the grid: the inverse transform has not been scaled.
func (c Class) PartialSum(x []complex128, indices []int) complex128 {
	var sum complex128
	for _, i := range indices {
		sum += x[i]
	}
	return sum / complex(float64(c.Points()), 0)
}

// Verify compares the checksums of all iterations with the reference, and returns nil if
// all are within [Tolerance]; NaN is not. The error names the first that is not, or says
// that the class has no reference or the number of checksums is wrong.
func (c Class) Verify(sums []complex128) error {
	if len(c.reference) == 0 {
		return fmt.Errorf("nas: class %s has no reference values", c.Name)
	}
	if len(sums) != len(c.reference) {
		return fmt.Errorf("nas: %d checksums of class %s: it has %d iterations", len(sums), c.Name, len(c.reference))
	}
	for i, sum := range sums {
		if d := difference(sum, c.reference[i]); !(d <= Tolerance) {
			return fmt.Errorf("nas: class %s, iteration %d: the checksum is %v and must be %v: the relative difference %.2g is more than %.0e",
				c.Name, i+1, sum, c.reference[i], d, Tolerance)
		}
	}
	return nil
}

// Worst returns the largest relative difference of checksums from their references; NaN
// if one is.
func (c Class) Worst(sums []complex128) (worst float64) {
	for i, sum := range sums[:min(len(sums), len(c.reference))] {
		if d := difference(sum, c.reference[i]); !(d <= worst) {
			worst = d
		}
		if math.IsNaN(worst) {
			break
		}
	}
	return worst
}

func difference(sum, reference complex128) float64 {
	return cmplx.Abs((sum - reference) / reference)
}
