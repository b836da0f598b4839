package advise

import (
	"slices"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Sizes of the calibration, and how often each goes to and fro.
var calibrated = []int{8, 1 << 10, 8 << 10, 64 << 10, 512 << 10}

const (
	trips  = 3
	rounds = 15 // of pairs, at most: a tournament of more ranks is cut short
)

// calibrate measures the one-way time between pairs of ranks. All ranks call it; rank 0
// gets the result.
func calibrate(c *mpi.Comm) (Network, error) {
	mine := make([]float64, 0, rounds*len(calibrated))
	buf := mpi.Alloc[byte](calibrated[len(calibrated)-1])
	defer func() { _ = mpi.Free(buf) }()
	n := c.Size() + c.Size()%2
	for round := range min(n-1, rounds) {
		if err := c.Barrier(); err != nil {
			return Network{}, err
		}
		peer := opponent(c.Rank(), round, n)
		for _, size := range calibrated {
			t := 0.0
			if peer < c.Size() && peer != c.Rank() {
				var err error
				if t, err = pingPong(c, buf[:size], peer); err != nil {
					return Network{}, err
				}
			}
			mine = append(mine, t)
		}
	}
	all := make([]float64, len(mine)*c.Size())
	if len(mine) > 0 {
		if err := c.Gather(mpi.Of(mine), mpi.Of(all), 0); err != nil {
			return Network{}, err
		}
	}
	return networkOf(all), nil
}

// opponent returns the partner of rank r in a round of a tournament of n ranks, n even:
// every pair meets once in n-1 rounds (the circle method).
func opponent(r, round, n int) int {
	last := n - 1
	if r == last {
		for x := range last {
			if (2*x)%last == round%last {
				return x
			}
		}
	}
	x := ((round-r)%last + last) % last
	if x == r {
		return last
	}
	return x
}

// pingPong returns the one-way time of b between this rank and peer, the best of several.
func pingPong(c *mpi.Comm, b []byte, peer int) (float64, error) {
	best := int64(0)
	for trip := range trips + 1 { // the first one warms up
		start := osthread.Nanotime()
		for leg := range 2 {
			var err error
			if (leg == 0) == (c.Rank() < peer) {
				err = c.Send(mpi.Of(b), peer, 0)
			} else {
				_, err = c.Recv(mpi.Of(b), peer, 0)
			}
			if err != nil {
				return 0, err
			}
		}
		if d := osthread.Nanotime() - start; trip > 0 && (best == 0 || d < best) {
			best = d
		}
	}
	return seconds(best) / 2, nil
}

// networkOf summarises times by pair and size; zeros are pairs that did not meet.
func networkOf(all []float64) (n Network) {
	for i, size := range calibrated {
		var times []float64
		for j := i; j < len(all); j += len(calibrated) {
			if all[j] > 0 {
				times = append(times, all[j])
			}
		}
		if len(times) == 0 {
			return Network{}
		}
		slices.Sort(times)
		n.Points = append(n.Points, Point{float64(size), times[len(times)/2]})
		n.Worst = append(n.Worst, Point{float64(size), times[len(times)-1]})
	}
	return n
}
