package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/local"
)

// config holds the command line and the results of the run.
type config struct {
	folder  string
	quick   bool
	n       int
	reps    int
	workers int // of each rank; 0: its share of the cores
	grids   []hpldat.Grid
	net     local.Net // of size, noise and lookahead
	modes   []string  // ways of progress, of bandwidth and latency
	nb      []int     // to search; nil: the default
	period  time.Duration
	kernels blas.Kernels
	wanted  []string // experiments; nil: all

	machine *cluster.Machine // that is simulated; nil: this one

	line     *commandline.Line
	solve    solver
	out      *lastingWriter
	progress *report.Progress
	best     map[choiceKey]choice // found by tune
	lines    [][]string           // result lines
}

// newConfig declares the flags.
func newConfig() *config {
	c := &config{grids: []hpldat.Grid{{P: 1, Q: 2}, {P: 2, Q: 1}}, modes: []string{"host", "nic"}, best: map[choiceKey]choice{}, kernels: blas.Default()}
	c.solve = c.solveHere
	c.net, _ = local.ParseNet("gige")
	set := commandline.New("hplnet", about)
	c.line = set
	set.StringVar(&c.folder, "out", "hplnet", "`folder` for charts and tables; made if it is not there")
	set.BoolVar(&c.quick, "quick", false, "small matrices, few points, two runs, no search: to see that it works")
	set.Least(&c.n, "n", 4000, 1, "`order` of the matrix, except in the experiments size and processors; 1000 with -quick; with -machine 32768, and in scale all of the paper")
	set.Least(&c.reps, "reps", 5, 1, "interleaved `runs` of each driver at each point; 2 with -quick")
	set.Between(&c.workers, "workers", 0, 0, 1024, "worker `cores` of each rank (default: usable cores / ranks, at least 1)")
	set.Func("grids", "process `grids`, as PxQ,PxQ (default 1x2,2x1)", c.setGrids)
	set.Func("net", "`network` of size, noise and lookahead: none, gige, 10gige, ib, or L=20us,o=1us,g=1us,bw=1Gbit,progress=host|nic (default gige)", func(text string) (err error) {
		c.net, err = local.ParseNet(text)
		return err
	})
	set.Func("progress", "who moves messages in bandwidth and latency: `modes` host, nic (default host,nic)", c.setModes)
	set.Func("nb", "block `widths` to search, in columns (default 192,96,144,240; 96 with -quick)", c.setBlocks)
	set.Func("machine", "run bandwidth, latency, noise, scale or processors on a simulated `machine`: "+strings.Join(cluster.Presets(), ", ")+", or a machine file", c.setMachine)
	set.DurationVar(&c.period, "noise-period", 10*time.Millisecond, "`time` from one theft of a core to the next, in the experiment noise")
	set.Func("isa", "`kernels`: "+strings.Join(blas.Names(), ", ")+" (default "+blas.Default().Name()+")", func(s string) (err error) {
		c.kernels, err = blas.Named(s)
		return err
	})
	var rows []commandline.Row
	for _, e := range allExperiments {
		rows = append(rows, commandline.Row{Name: e.name, Text: e.about})
	}
	set.Section("Experiments", rows...)
	set.Exits("0 done and every solution checked, 1 a run failed, 2 usage")
	return c
}

func (c *config) setGrids(text string) error {
	c.grids = nil
	for word := range strings.SplitSeq(text, ",") {
		p, q, _ := strings.Cut(strings.TrimSpace(word), "x")
		rows, err1 := strconv.Atoi(p)
		columns, err2 := strconv.Atoi(q)
		if err1 != nil || err2 != nil || rows < 1 || columns < 1 || rows > 64 || columns > 64 {
			return fmt.Errorf("%q is no grid: write P x Q as 1x2, with 1 to 64 of each", word)
		}
		g := hpldat.Grid{P: rows, Q: columns}
		if slices.Contains(c.grids, g) {
			return fmt.Errorf("grid %s is there twice", word)
		}
		c.grids = append(c.grids, g)
	}
	return nil
}

func (c *config) setModes(text string) error {
	c.modes = nil
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word != "host" && word != "nic" {
			return fmt.Errorf("%q is no way of progress: there are host and nic", word)
		}
		if slices.Contains(c.modes, word) {
			return fmt.Errorf("%s is there twice", word)
		}
		c.modes = append(c.modes, word)
	}
	return nil
}

func (c *config) setBlocks(text string) error {
	c.nb = nil
	for word := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil || v < 1 {
			return fmt.Errorf("%q is no width of a block: it is 1 or more columns", word)
		}
		c.nb = append(c.nb, int(v))
	}
	return nil
}

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	return c, c.line.Parse(args, c.choose, c.complete, c.checkSize)
}

// choose reads the experiments.
func (c *config) choose() error {
	for _, name := range c.line.Args() {
		if strings.HasPrefix(name, "-") {
			return fmt.Errorf("%s comes after %s: flags go before the experiments", name, c.line.Arg(0))
		}
		if !slices.ContainsFunc(allExperiments, func(e experiment) bool { return e.name == name }) {
			return fmt.Errorf("there is no experiment %q: there are %s", name, strings.Join(experimentNames(), ", "))
		}
		c.wanted = append(c.wanted, name)
	}
	return nil
}

// complete fills in what depends on other flags, and reports values that make no sense.
func (c *config) complete() error {
	if c.quick {
		if !c.line.Given("n") {
			c.n = 1000
		}
		if !c.line.Given("reps") {
			c.reps = 2
		}
	}
	if c.nb == nil {
		c.nb = []int{192, 96, 144, 240}
		if c.quick {
			c.nb = []int{96}
		}
	}
	if c.machine != nil && c.wanted == nil {
		c.wanted = []string{"scale"}
	}
	for _, e := range allExperiments {
		switch {
		case !slices.Contains(c.wanted, e.name):
		case c.machine == nil && e.run == nil:
			return fmt.Errorf("%s needs a machine: give -machine js21, or a machine file", e.name)
		case c.machine != nil && e.simulated == nil:
			return fmt.Errorf("%s does not run on a simulated machine: leave -machine away", e.name)
		}
	}
	switch {
	case c.period < time.Millisecond || c.period > time.Second:
		return fmt.Errorf("-noise-period %v: it has to be from 1ms to 1s", c.period)
	case c.folder == "":
		return fmt.Errorf("-out is empty: name a folder")
	}
	return nil
}

// checkSize refuses a run for which this machine has too few threads or too little memory.
func (c *config) checkSize() error {
	if c.machine != nil {
		return nil
	}
	for _, g := range c.grids {
		if err := machine.CheckThreads(g.P*g.Q, c.workers); err != nil {
			return err
		}
		x := c.at(point{grid: g, n: c.n}, drivers[0], choice{nb: slices.Max(c.nb)})
		x.Workers = max(1, x.Workers)
		if err := x.Validate(); err != nil {
			return err
		}
		if err := hplrun.CheckMemory(x); err != nil {
			return err
		}
	}
	return nil
}

// function returns what e does here, or nil if it is not wanted.
func (c *config) function(e experiment) func(*config) error {
	switch {
	case c.wanted != nil && !slices.Contains(c.wanted, e.name):
		return nil
	case c.machine != nil:
		return e.simulated
	}
	return e.run
}

func experimentNames() (names []string) {
	for _, e := range allExperiments {
		names = append(names, e.name)
	}
	return names
}

const about = `hplnet measures how well three drivers of one LINPACK hide their messages: tasks, netlib's
look-ahead, and none. Ranks and network are inside this process.

	hplnet                          all experiments
	hplnet bandwidth latency        these
	hplnet -quick -out quick        small and rough: a minute
	hplnet -machine js21 -out js21  the experiment scale on a simulated machine: hours
	hplnet -machine js21 -n 16384 latency noise   these there: half an hour

Each driver runs with the block size and panel broadcast that suit it best at the point,
found by a search; the drivers then take turns, and medians count. Tasks and the best of the
others run a second round, which makes their ratio. The folder gets a chart (SVG) and its data
(CSV) per experiment, grid and way of progress.
`
