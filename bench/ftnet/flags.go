package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/commandline"
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
	machine        *cluster.Machine // of the figure scale; nil: none
	machineName    string
	line           *commandline.Line
}

// defaultStage keeps a network busy that is slower than the computation; a faster network
// needs less. With a stage of all planes, tasks hide the last messages as well: that is
// their default.
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
	set := commandline.New("ftnet", about)
	c.line = set
	set.Func("class", "`size` of the problem: S, W, A ... (default A; with -quick S)", func(s string) (err error) {
		c.class, err = nas.Named(s)
		return err
	})
	set.IntVar(&c.ranks, "ranks", 2, "`ranks` inside this process")
	set.IntVar(&c.workers, "workers", 0, "`cores` of each rank (default: those of the machine, divided among the ranks)")
	set.Least(&c.reps, "reps", 5, 1, "interleaved `repetitions`, with -quick 2; of bandwidth and latency at most 3")
	set.DurationVar(&c.patience, "patience", defaultPatience, "`time` after which no further repetition on a network begins; two there are in any case, if -reps allows")
	set.Func("net", "`network` of speedup, communication and onesided: a preset (gige, 10gige, ib), settings like L=20us,bw=1Gbit, or balanced; may be repeated (default all presets and balanced)", func(s string) error {
		if err := checkNet(s); err != nil {
			return err
		}
		c.nets = append(c.nets, s)
		return nil
	})
	set.Least(&c.stage, "stage", defaultStage, 0, "finished `planes` of a rank that may wait for their transfer; 0: all, as with exchange always, and with tasks if the flag is not given")
	set.Between(&c.pad, "pad", 0, 0, 4096, "`points` added to the distance of planes in memory")
	set.StringVar(&c.out, "out", "", "write NAME.csv and NAME.svg of every figure to this `folder`")
	set.Func("machine", "draw scale on a simulated `machine`: "+strings.Join(cluster.Presets(), ", ")+", or a machine file; class C and 64 ranks, unless flags say otherwise", c.setMachine)
	set.BoolVar(&c.quick, "quick", false, "class S, 2 repetitions, few points: to see that it works")
	var rows []commandline.Row
	for _, f := range allFigures {
		rows = append(rows, commandline.Row{Name: f.name, Text: f.about})
	}
	set.Section("Figures", rows...)
	set.Exits("0 done and verified, 1 failed run or verification, 2 usage")
	return c
}

// parseArgs reads figures and flags, in any order. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	return c, c.line.Parse(args, c.choose, c.complete, c.validate)
}

// choose reads the figures, and the flags between them.
func (c *config) choose() error {
	for c.line.NArg() > 0 {
		f, err := findFigure(c.line.Arg(0))
		if err != nil {
			return err
		}
		c.figures = append(c.figures, f)
		if err := c.line.FlagSet.Parse(c.line.Args()[1:]); err != nil {
			return err
		}
	}
	scale, err := findFigure("scale")
	switch {
	case err != nil:
		return err
	case c.machine != nil && c.figures == nil:
		c.figures = []*figure{scale}
	case c.machine == nil && slices.Contains(c.figures, scale):
		return errors.New("scale needs a machine: give -machine elan4, or a machine file")
	case c.machine != nil && (len(c.figures) > 1 || c.figures[0] != scale):
		return errors.New("-machine is for the figure scale alone")
	case c.figures == nil:
		c.figures = allFigures
	}
	return nil
}

// complete fills in what depends on other flags.
func (c *config) complete() error {
	if c.quick {
		if !c.line.Given("class") {
			c.class, _ = nas.Named("S")
		}
		if !c.line.Given("reps") {
			c.reps = 2
		}
	}
	if c.machine != nil {
		c.simulated()
	}
	if c.workers == 0 && !c.line.Given("workers") && c.ranks > 0 {
		c.workers = max(1, machine.Cores()/c.ranks)
	}
	if c.nets == nil {
		c.nets = defaultNets
	}
	return nil
}

// simulated changes the defaults for a simulated machine.
func (c *config) simulated() {
	if !c.line.Given("class") && !c.quick {
		c.class, _ = nas.Named("C")
	}
	if !c.line.Given("ranks") {
		c.ranks = 64
	}
	if !c.line.Given("workers") {
		c.workers = 1
	}
	c.reps = 1
}

// validate reports values that make no sense.
func (c *config) validate() error {
	switch _, _, launched := system.Launched(); {
	case launched:
		return fmt.Errorf("networks are simulated between ranks inside one process: start ftnet without mpirun")
	case c.ranks < 2 || c.machine == nil && c.ranks > 256:
		return fmt.Errorf("-ranks %d: they are from 2 to 256, because one rank sends nothing", c.ranks)
	case c.workers < 1 || c.workers > 4096:
		return fmt.Errorf("-workers %d: it is from 1 to 4096", c.workers)
	case c.patience <= 0:
		return fmt.Errorf("-patience %v: it is more than 0", c.patience)
	}
	return nil
}

const about = `ftnet measures what overlap brings to NAS FT over simulated networks.

	ftnet -out DIR                 every figure; class A takes some ten minutes
	ftnet speedup -net balanced    one figure, on one network
	ftnet bandwidth -quick
	ftnet -machine elan4 -class D -ranks 256   all forms on a simulated machine
`
