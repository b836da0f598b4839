package main

import (
	"os"
	"strconv"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct {
	m, n, workers int
	weft          bool
}

const about = `least squares: gonum's package mat, on weft with one call.

	go run ./examples/14-least-squares [-m 4000] [-n 800] [-weft=false] [-workers 2]

What to read: main.go, fit, which is gonum alone, and the call of gonum.Use in run. Try
-weft=false: the same program on gonum's own BLAS and LAPACK.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("least-squares", about)
	line.Between(&o.m, "m", 4000, 1, 1<<15, "measurements, the rows of the matrix")
	line.Between(&o.n, "n", 800, 1, 1<<13, "coefficients, the columns")
	line.BoolVar(&o.weft, "weft", true, "compute on weft")
	line.Workers(&o.workers, 0, "cores that compute (default: all)")
	line.MustParse(func() error {
		if o.n > o.m {
			o.n = o.m
		}
		if o.workers > 0 {
			return os.Setenv("WEFT_WORKERS", strconv.Itoa(o.workers))
		}
		return nil
	})
	return o
}
