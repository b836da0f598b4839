package main

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct{ n, workers int }

// sizes are the points a side; products of small primes are quick to transform.
var sizes = []int{4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}

const about = `poisson: an equation solved by three-dimensional Fourier transforms that are tasks.

	go run ./examples/08-poisson [-n 128] [-workers 2]

What to read: solve in main.go. fft.Grid spawns its transform as tasks that declare what
they read and write, so the division of a plane starts when the planes that it needs are
there, and the way back when the division is done: five loops, one Wait. Try -n 16, where
the spectral error has not come down to rounding.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("poisson", about)
	line.Least(&o.n, "n", 128, 1, fmt.Sprint("points a side of the largest grid: one of ", sizes[3:]))
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.MustParse(func() error {
		if !slices.Contains(sizes[3:], o.n) {
			return fmt.Errorf("-n %d: it is one of %v", o.n, sizes[3:])
		}
		return nil
	})
	return o
}
