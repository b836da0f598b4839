package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/commandline"
)

// config holds the flags.
type config struct {
	ops      []string
	sizes    []int
	tall     int
	workers  int
	isas     []blas.Kernels
	reps     int
	out      string
	progress *report.Progress
	tamper   func(result []float64) // damages a result: the negative control of the tests
}

const about = `dense compares gonum, gonum on weft and OpenBLAS (with -tags openblas) on dense matrices.

	dense                              products and factorizations, orders 1000, 2000
	dense -op lu,cholesky -n 300 -workers 1
	dense -op qr -n 200 -tall 10       matrices of 2000 x 200
	dense -op together -n 300          8 goroutines at once, and one after the other

The contenders take turns. gonum has as many processors as there are workers, OpenBLAS as
many threads. Before the timing, results are compared with gonum's. The last lines are
"result key=value ..."; fraction is of the measured peak of the cores that compute, speedup
over the first contender.
`

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := &config{}
	line := commandline.New("dense", about)
	names := strings.Join(slices.Sorted(maps.Keys(operations)), ", ")
	ops := line.String("op", "gemm,lu,cholesky,qr", "`operations`, separated by commas: "+names+", together")
	sizes := line.String("n", "1000,2000", "`orders` of the matrices, separated by commas")
	line.Between(&c.tall, "tall", 1, 1, 64, "rows for each column of the matrices of gemm, lu and qr")
	line.Workers(&c.workers, 2, "cores that compute")
	isas := line.String("isa", "auto", "`kernels` of weft, separated by commas: auto, "+strings.Join(blas.Names(), ", "))
	line.Least(&c.reps, "reps", 5, 1, "repetitions")
	line.StringVar(&c.out, "out", "", "`name` of a chart of the GFLOP/s, NAME.svg and NAME.csv")
	line.Exits("0 measured, 1 a wrong result or no memory, 2 usage")
	return c, line.Parse(args, line.NoArgs, func() error { return c.check(*ops, *sizes, *isas, names) })
}

// check completes c. It returns an error if a value is wrong.
func (c *config) check(ops, sizes, isas, names string) error {
	for op := range strings.SplitSeq(ops, ",") {
		if operations[op] == nil && op != "together" {
			return fmt.Errorf("unknown operation -op %q: choose of %s, together", op, names)
		}
		c.ops = append(c.ops, op)
	}
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 20000 {
			return fmt.Errorf("-n has the order %q: make it a number from 1 to 20000", text)
		}
		if n*n*c.tall > 1<<30 {
			return fmt.Errorf("-n %d -tall %d: a matrix of %d GiB: at most 8", n, c.tall, n*n*c.tall>>27)
		}
		c.sizes = append(c.sizes, n)
	}
	for name := range strings.SplitSeq(isas, ",") {
		k, err := blas.Named(name)
		if err != nil {
			return err
		}
		c.isas = append(c.isas, k)
	}
	return nil
}
