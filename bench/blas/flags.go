package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/hpl/blas"
)

// config is what the flags say.
type config struct {
	op      string
	m, n, k int
	isas    []blas.Kernels
	reps    int
	tamper  func(result []float64) // damages a result: the negative control of the tests
}

// parseArgs returns what args ask for; flag.ErrHelp if that is the help text, which
// goes to out.
func parseArgs(args []string, out io.Writer) (*config, error) {
	c := &config{}
	names := strings.Join(slices.Sorted(maps.Keys(operations)), "|")
	fs := flag.NewFlagSet("blas", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&c.op, "op", "dgemm", "operation: "+names)
	fs.IntVar(&c.m, "m", 2000, "rows")
	fs.IntVar(&c.n, "n", 2000, "columns (for panel 192, if not given)")
	fs.IntVar(&c.k, "k", 192, "inner dimension of dgemm and packed, order of the triangle of dtrsm")
	isas := fs.String("isa", "auto", "implementations, separated by commas: auto, "+strings.Join(blas.Names(), ", "))
	fs.IntVar(&c.reps, "reps", 15, "repetitions")
	fs.Usage = func() {}
	err := fs.Parse(args)
	if err == flag.ErrHelp {
		fmt.Fprintln(out, "usage: blas [flags]\n\nMeasures one kernel of LINPACK on one pinned core.")
		fs.SetOutput(out)
		fs.PrintDefaults()
	}
	if err != nil {
		return nil, err
	}
	if c.op == "panel" && !given(fs, "n") {
		c.n = 192
	}
	return c, c.check(fs, names, *isas)
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
