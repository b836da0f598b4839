package hplrun

import (
	"fmt"
	"math"
	"sync"

	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
)

// The default size of the matrix: for targetSeconds in all, in at most memoryPart of the
// memory, if LINPACK reaches expectedPart of the product's speed.
const (
	targetSeconds  = 15.0
	memoryPart     = 0.7
	expectedPart   = 0.8
	calibrateNanos = 150e6 // how long each core multiplies
)

// calibrate returns the total GFLOP/s of the update's product, C := C - A*B with an inner
// dimension of nb, on several cores at once.
func calibrate(k blas.Kernels, nb, cores int) (float64, error) {
	const order = 480 // 20 tiles of 24: small enough for the second cache, large enough for few edges
	var all sync.WaitGroup
	rates, errs := make([]float64, cores), make([]error, cores)
	for i := range cores {
		all.Go(func() { rates[i], errs[i] = multiply(k, order, nb) })
	}
	all.Wait()
	sum := 0.0
	for i := range cores {
		if errs[i] != nil {
			return 0, errs[i]
		}
		sum += rates[i]
	}
	return sum, nil
}

// multiply times packed products of m by m with an inner dimension of nb, in GFLOP/s.
func multiply(k blas.Kernels, m, nb int) (float64, error) {
	var all [][]float64
	for _, n := range []int{m * nb, nb * m, m * m, k.PackedA(m, nb), k.PackedB(nb, m)} {
		x, err := blas.Alloc(n)
		if err != nil {
			return 0, fmt.Errorf("calibration: %w", err)
		}
		defer blas.Free(x)
		all = append(all, x)
	}
	k.PackA(all[3], blas.NoTrans, m, nb, all[0], m)
	k.PackB(all[4], blas.NoTrans, nb, m, all[1], nb)
	k.GemmPacked(m, m, nb, -1, all[3], all[4], all[2], m) // wakes the wide units
	begin, products := osthread.Nanotime(), 0
	for osthread.Nanotime()-begin < calibrateNanos {
		k.GemmPacked(m, m, nb, -1, all[3], all[4], all[2], m)
		products++
	}
	return 2 * float64(m) * float64(m) * float64(nb) * float64(products) / float64(osthread.Nanotime()-begin), nil
}

// sized returns the order for runs that take about targetSeconds together, at gflops;
// at most most. It is a multiple of the blocks of all process rows and columns.
func sized(c hpl.Config, gflops float64, runs, most int) int {
	n := min(math.Cbrt(1.5*targetSeconds/float64(runs)*gflops*1e9*expectedPart), float64(most))
	step := c.NB * c.P * c.Q / gcd(c.P, c.Q) // of the least common multiple
	if n < float64(step) {
		step = 1
	}
	return max(int(n)/step*step, min(1, most))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
