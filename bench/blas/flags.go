package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/commandline"
)

// config holds the flags.
type config struct {
	op       string
	m, n, k  int
	isas     []blas.Kernels
	reps     int
	progress *report.Progress
	tamper   func(result []float64) // damages a result: the negative control of the tests
}

const about = `blas measures one kernel of LINPACK on one pinned core: how many GFLOP/s it reaches,
and what part of the processor's peak, which a loop of multiply-adds in registers shows.

	blas                                    the update of LINPACK: C := C - A B
	blas -op panel -m 4000                  the factorization of a panel
	blas -isa avx512,avx2 -reps 31          implementations in turn

What -m, -n and -k mean: dgemm and packed (dgemm less the packing) multiply m x k by k x n;
dtrsm solves with a triangle of order k for n columns; panel, dgemv, dgemvt and dger have
an m x n matrix; daxpy, dscal and idamax have m numbers.

Implementations named together run repetition by repetition. Each is first compared with
the portable kernels. The last lines are "result key=value ...", one per implementation:
fraction is gflops_median / peak_gflops, ratio is gflops_median over that of the last
implementation named.
`

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := &config{}
	line := commandline.New("blas", about)
	names := strings.Join(slices.Sorted(maps.Keys(operations)), ", ")
	line.StringVar(&c.op, "op", "dgemm", "`operation`: "+names)
	line.IntVar(&c.m, "m", 2000, "`rows`")
	line.IntVar(&c.n, "n", 2000, "`columns`; without it, panel has 192, or as many as rows")
	line.IntVar(&c.k, "k", 192, "inner `dimension` of dgemm and packed, order of the triangle of dtrsm")
	isas := line.String("isa", "auto", "`implementations`, separated by commas: auto, "+strings.Join(blas.Names(), ", "))
	line.IntVar(&c.reps, "reps", 15, "`repetitions`")
	line.Exits("0 measured, 1 a wrong result or no memory, 2 usage")
	return c, line.Parse(args, line.NoArgs, func() error {
		if c.op == "panel" && !line.Given("n") {
			c.n = min(c.m, 192)
		}
		return c.check(names, *isas)
	})
}

// largest keeps products of two dimensions, in bytes, within an int.
const largest = 1 << 24

// check completes c. It returns an error if a value is wrong.
func (c *config) check(names, isas string) error {
	if operations[c.op] == nil {
		return fmt.Errorf("unknown operation -op %q: choose one of %s", c.op, names)
	}
	for _, d := range []struct {
		name string
		v    int
	}{{"m", c.m}, {"n", c.n}, {"k", c.k}, {"reps", c.reps}} {
		if d.v < 1 || d.v > largest {
			return fmt.Errorf("-%s is %d: make it 1 to %d", d.name, d.v, largest)
		}
	}
	if c.op == "panel" && c.n > c.m {
		return fmt.Errorf("a panel of -m %d rows and -n %d columns: give it as many rows as columns, or more", c.m, c.n)
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
