package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/blas"
)

// config is what the flags say.
type config struct {
	op       string
	m, n, k  int
	isas     []blas.Kernels
	reps     int
	progress *report.Progress
	tamper   func(result []float64) // damages a result: the negative control of the tests
}

// help teaches the program; the flags come after it.
const help = `blas measures one kernel of LINPACK on one pinned core: how many GFLOP/s it reaches,
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

Flags:
`

// parseArgs returns what args ask for; flag.ErrHelp if that is the help text, which
// goes to out.
func parseArgs(args []string, out io.Writer) (*config, error) {
	c := &config{}
	names := strings.Join(slices.Sorted(maps.Keys(operations)), "|")
	fs := flag.NewFlagSet("blas", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&c.op, "op", "dgemm", "`operation`: "+names)
	fs.IntVar(&c.m, "m", 2000, "`rows`")
	fs.IntVar(&c.n, "n", 2000, "`columns`; without it, panel has 192, or as many as rows")
	fs.IntVar(&c.k, "k", 192, "inner `dimension` of dgemm and packed, order of the triangle of dtrsm")
	isas := fs.String("isa", "auto", "`implementations`, separated by commas: auto, "+strings.Join(blas.Names(), ", "))
	fs.IntVar(&c.reps, "reps", 15, "`repetitions`")
	fs.Usage = func() {}
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		printHelp(fs, out)
	}
	if err != nil {
		return nil, err
	}
	if c.op == "panel" && !given(fs, "n") {
		c.n = min(c.m, 192)
	}
	return c, c.check(fs, names, *isas)
}

func printHelp(fs *flag.FlagSet, out io.Writer) {
	fmt.Fprint(out, help)
	fs.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(out, "  %-22s %s (default %s)\n", "-"+f.Name+" "+value, usage, f.DefValue)
	})
	fmt.Fprint(out, "\nExit codes: 0 measured, 1 a wrong result or no memory, 2 usage\n")
}

func given(fs *flag.FlagSet, name string) (found bool) {
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// largest keeps products of two dimensions, in bytes, within an int.
const largest = 1 << 24

// check completes c, and says what is wrong with it.
func (c *config) check(fs *flag.FlagSet, names, isas string) error {
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: blas -h lists the flags", fs.Arg(0))
	}
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
