package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/mpi/system"
)

// config is the command line.
type config struct {
	figures        []*figure
	class          nas.Class
	ranks, workers int
	reps           int
	patience       time.Duration // for one network
	nets           []string      // as given; nil: all of defaultNets
	stage, pad     int
	out            string
	quick          bool
	set            *flag.FlagSet
}

// defaultStage is enough to keep a network busy that is slower than the computation; one
// that is faster needs less. Tasks hide what is sent last, too, with a stage of all planes,
// and have that unless -stage says otherwise.
const defaultStage = 16

// Curves have many points: a few repetitions of each are enough. No network is given more
// than patience, unless it takes longer for two repetitions.
const (
	curveReps       = 3
	leastReps       = 2
	defaultPatience = 30 * time.Second
)

// newConfig declares the flags.
func newConfig() *config {
	c := &config{}
	c.class, _ = nas.Named("A")
	set := flag.NewFlagSet("ftnet", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	c.set = set
	set.Func("class", "`size` of the problem: S, W, A ... (default A; with -quick S)", func(s string) (err error) {
		c.class, err = nas.Named(s)
		return err
	})
	set.IntVar(&c.ranks, "ranks", 2, "`ranks` inside this process")
	set.IntVar(&c.workers, "workers", 0, "`cores` of each rank; 0: those of the machine, divided among the ranks")
	set.IntVar(&c.reps, "reps", 5, "interleaved `repetitions`, with -quick 2; of bandwidth and latency at most 3")
	set.DurationVar(&c.patience, "patience", defaultPatience, "`time` after which no further repetition on a network begins; two there are in any case, if -reps allows")
	set.Func("net", "`network` of speedup, communication and onesided: a preset (gige, 10gige, ib), settings like L=20us,bw=1Gbit, or balanced; may be repeated (default all presets and balanced)", func(s string) error {
		if err := checkNet(s); err != nil {
			return err
		}
		c.nets = append(c.nets, s)
		return nil
	})
	set.IntVar(&c.stage, "stage", defaultStage, "finished `planes` of a rank that may wait for their transfer; 0: all, as with exchange always, and with tasks if the flag is not given")
	set.IntVar(&c.pad, "pad", 0, "`points` added to the distance of planes in memory")
	set.StringVar(&c.out, "out", "", "write NAME.csv and NAME.svg of every figure to this `folder`")
	set.BoolVar(&c.quick, "quick", false, "class S, 2 repetitions, few points: to see that it works")
	return c
}

// parseArgs reads figures and flags, in any order. It returns flag.ErrHelp for -h; any
// other error is one of usage, worded for the user.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	for len(args) > 0 {
		if !strings.HasPrefix(args[0], "-") {
			f, err := findFigure(args[0])
			if err != nil {
				return nil, err
			}
			c.figures = append(c.figures, f)
			args = args[1:]
			continue
		}
		if err := c.set.Parse(args); err != nil {
			if err == flag.ErrHelp {
				return nil, err
			}
			return nil, fmt.Errorf("%w (ftnet -h lists the flags)", err)
		}
		args = c.set.Args()
	}
	if c.figures == nil {
		c.figures = allFigures
	}
	c.complete()
	return c, c.validate()
}

func (c *config) given(name string) (yes bool) {
	c.set.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// complete fills in what depends on other flags.
func (c *config) complete() {
	if c.quick {
		if !c.given("class") {
			c.class, _ = nas.Named("S")
		}
		if !c.given("reps") {
			c.reps = 2
		}
	}
	if c.workers == 0 && !c.given("workers") && c.ranks > 0 {
		c.workers = max(1, machine.Cores()/c.ranks)
	}
	if c.nets == nil {
		c.nets = defaultNets
	}
}

// validate reports values that make no sense.
func (c *config) validate() error {
	switch _, _, launched := system.Launched(); {
	case launched:
		return fmt.Errorf("networks are simulated between ranks inside one process: start ftnet without mpirun")
	case c.ranks < 2 || c.ranks > 256:
		return fmt.Errorf("-ranks %d: they are from 2 to 256, because one rank sends nothing", c.ranks)
	case c.workers < 1 || c.workers > 4096:
		return fmt.Errorf("-workers %d: it is from 1 to 4096", c.workers)
	case c.reps < 1:
		return fmt.Errorf("-reps %d: it is at least 1", c.reps)
	case c.patience <= 0:
		return fmt.Errorf("-patience %v: it is more than 0", c.patience)
	case c.stage < 0 || c.pad < 0:
		return fmt.Errorf("-stage %d, -pad %d: both are at least 0", c.stage, c.pad)
	}
	return nil
}

// printHelp describes the program and its flags.
func printHelp(w io.Writer) {
	fmt.Fprint(w, `ftnet measures what overlap brings to NAS FT over simulated networks.

	ftnet -out DIR                 every figure; class A takes some ten minutes
	ftnet speedup -net balanced    one figure, on one network
	ftnet bandwidth -quick

Figures:
`)
	for _, f := range allFigures {
		fmt.Fprintf(w, "  %-14s %s\n", f.name, f.about)
	}
	fmt.Fprint(w, "\nFlags:\n")
	newConfig().set.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-16s %s\n", "-"+f.Name+" "+value, usage)
	})
	fmt.Fprint(w, "\nExit codes: 0 done and verified, 1 failed run or verification, 2 usage\n")
}
