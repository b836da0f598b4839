package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/internal/commandline"
)

// config is the command line.
type config struct {
	fix, diff, json bool
	svg             string
	min             float64 // percent
	size            float64
	targets         []target
	after           []string
	files           []string
	line            *commandline.Line

	corpus               bool
	study, quick, others bool // -measure and what belongs to it
	apps                 bool
	reps                 int
	loop                 float64
	net, out             string
	dims                 []int
	ranks                [3]int
}

// usualMin is the percentage of a program from which advice is given.
const usualMin = 5.0

// target is a size to project to, and the number of ranks; 0: as many as the largest run has.
type target struct {
	size  float64
	ranks int
}

// newConfig declares the flags.
func newConfig() *config {
	c := &config{}
	set := commandline.New("advise", about)
	set.Exits("0 done, 1 failed, or races found in non-blocking code, 2 usage")
	c.line = set
	set.BoolVar(&c.fix, "fix", false, "make the changes that are advised and proven, in the source files")
	set.BoolVar(&c.diff, "diff", false, "print them as a unified diff")
	set.BoolVar(&c.json, "json", false, "print one JSON document instead of text, and no result lines")
	set.StringVar(&c.svg, "svg", "", "draw predicted and measured speed-up into `FILE`.svg, with a table beside it")
	set.Float64Var(&c.min, "min", usualMin, "`percent` of the program that advice saves at least; 0 lists uncertain savings, too")
	set.Float64Var(&c.size, "size", 0, "problem `size` of the run, written into its file; with one file only")
	set.Func("project", "`sizes` to project to, separated by commas; 1024@16 is size 1024 on 16 ranks", func(s string) error {
		for part := range strings.SplitSeq(s, ",") {
			t, err := parseTarget(part)
			if err != nil {
				return err
			}
			c.targets = append(c.targets, t)
		}
		return nil
	})
	set.Func("after", "results `file` of a run of the changed program; may be given several times", func(s string) error {
		c.after = append(c.after, s)
		return nil
	})
	set.BoolVar(&c.corpus, "corpus", false, "try advice on programs that it has to change, and on others that it must not; no files, about 30 s")
	c.measureFlags()
	return c
}

// measureFlags declares the flags of -measure.
func (c *config) measureFlags() {
	c.line.BoolVar(&c.study, "measure", false, "advise, change, build and run example 10 and other programs, and set prediction against measurement; no files")
	c.line.BoolVar(&c.quick, "quick", false, "with -measure: small sizes, to see that it works")
	c.line.BoolVar(&c.others, "others", true, "with -measure: look for false advice on other programs, too")
	c.line.BoolVar(&c.apps, "apps", false, "with -measure: fifteen mini-applications on four networks and projections of four, instead of example 10; about ten minutes")
	c.line.IntVar(&c.reps, "reps", 5, "with -measure: `rounds` of before, after and instrumented")
	c.line.Float64Var(&c.loop, "loop", 0.6, "with -measure: `seconds` that a run takes about")
	c.line.StringVar(&c.net, "net", "gige", "with -measure: simulated `network`, as of the programs")
	c.line.StringVar(&c.out, "out", "", "with -measure: write `NAME`.csv, and NAME-speedup.svg with its table")
	c.dims, c.ranks = []int{1, 2, 3}, [3]int{4, 4, 8}
	c.line.Func("dims", "with -measure: `dimensions`, separated by commas (default 1,2,3)", func(s string) error {
		c.dims = nil
		for part := range strings.SplitSeq(s, ",") {
			d, err := strconv.Atoi(part)
			if err != nil || d < 1 || d > 3 {
				return fmt.Errorf("%q is no dimension from 1 to 3", part)
			}
			c.dims = append(c.dims, d)
		}
		return nil
	})
	c.line.Func("ranks", "with -measure: `ranks` in one, two and three dimensions (default 4,4,8)", func(s string) error {
		parts := strings.Split(s, ",")
		if len(parts) != len(c.ranks) {
			return fmt.Errorf("%q: they are three numbers, separated by commas", s)
		}
		for i, part := range parts {
			n, err := strconv.Atoi(part)
			if err != nil || n < 2 {
				return fmt.Errorf("%q is no number of ranks above 1", part)
			}
			c.ranks[i] = n
		}
		return nil
	})
}

func parseTarget(text string) (t target, err error) {
	size, ranks, both := strings.Cut(text, "@")
	if t.size, err = strconv.ParseFloat(size, 64); err != nil || !(t.size > 0) {
		return t, fmt.Errorf("%q is no size above 0", size)
	}
	if both {
		if t.ranks, err = strconv.Atoi(ranks); err != nil || t.ranks < 1 {
			return t, fmt.Errorf("%q is no number of ranks", ranks)
		}
	}
	return t, nil
}

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	return c, c.line.Parse(args, c.check)
}

// check reports values that make no sense.
func (c *config) check() error {
	c.files = c.line.Args()
	switch {
	case c.study && len(c.files) > 0:
		return fmt.Errorf("-measure makes its own runs: no files go with it")
	case c.apps && !c.study:
		return fmt.Errorf("-apps says which programs -measure runs: give both")
	case c.corpus && (c.study || len(c.files) > 0):
		return fmt.Errorf("-corpus makes its own runs: neither files nor -measure go with it")
	case c.reps < 1 || !(c.loop > 0):
		return fmt.Errorf("-reps %d -loop %g: they are above 0", c.reps, c.loop)
	case len(c.files) == 0 && !c.study && !c.corpus:
		return fmt.Errorf("no results file: run a program with WEFT_ADVISE=FILE first")
	case !(c.min >= 0 && c.min <= 100):
		return fmt.Errorf("-min %g: it is a percentage", c.min)
	case c.size < 0:
		return fmt.Errorf("-size %g: it is above 0", c.size)
	case c.size > 0 && len(c.files) > 1:
		return fmt.Errorf("-size goes with one file, and there are %d", len(c.files))
	case len(c.targets) > 0 && len(c.files) < 2:
		return fmt.Errorf("-project needs a set: files of at least two sizes")
	}
	return nil
}

const about = `advise says which communication of a program could overlap, what it would save, and how the
source would look. It reads results files: run any program of weft with WEFT_ADVISE=FILE.

	WEFT_ADVISE=run.json go run ./examples/10-advise
	advise -diff run.json
	advise -fix run.json
	advise -project 1024 64.json 128.json 256.json
	advise ft.json                         a timeline of tasks (npbft -trace ft.json)
	advise -measure -out results/advise    how good the predictions are on this machine
	advise -corpus                         that changed programs give the same bytes

A chain is a series of blocking calls that do not need one another. Its saving has been
measured at the end of the run: "replayed" with all calls of the program and the computation
between, or "rehearsed" with its messages alone, and it is "estimated" from the speed of the
network where neither was possible. In brackets is where nine of ten savings lie. Only changes
that the source proves to be safe are advised; for others the reason is said. Whether buffers
share memory is checked when the changed program runs (mpi.Batch): calls that do wait for each
other as before.
`
