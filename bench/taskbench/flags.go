package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/internal/commandline"
)

// config is the whole command line.
type config struct {
	graphs  []params
	workers int
	reps    int // 0 until defaults are filled in
	pin     bool
	metg    bool
	trace   string
}

const about = `taskbench runs the task graphs of Task Bench (Slaughter et al., SC'20) on weft and times them.
Every task checks every value of every input; a wrong one ends the run with exit code 1.

	taskbench -steps 50000 -width 4 -type stencil_1d -kernel empty -workers 1
	taskbench -metg -type stencil_1d -kernel compute_bound -workers 2

-and starts the flags of another graph, which runs concurrently. -workers, -reps, -metg, -pin
and -trace are of the run, the other flags of a graph.
`

// parseArgs reads the command line: groups of graph flags separated by -and, with the
// flags of the run in any group. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := &config{workers: machine.Cores(), pin: true}
	line := c.line(&params{})
	for i, group := range splitAtAnd(args) {
		p, err := c.parseGroup(i, group)
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		if err != nil {
			return nil, line.Usage(fmt.Errorf("graph %d: %w", i, err))
		}
		c.graphs = append(c.graphs, p)
	}
	if err := c.fillDefaults(); err != nil {
		return nil, line.Usage(err)
	}
	return c, line.Usage(c.validate())
}

// splitAtAnd cuts args at every -and.
func splitAtAnd(args []string) [][]string {
	groups := [][]string{nil}
	for _, a := range args {
		if a == "-and" || a == "--and" {
			groups = append(groups, nil)
			continue
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], a)
	}
	return groups
}

// parseGroup reads the flags of graph number index.
func (c *config) parseGroup(index int, args []string) (params, error) {
	p := params{shape: shape{index: index}, given: map[string]bool{}}
	line := c.line(&p)
	err := line.FlagSet.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return p, line.Parse([]string{"-h"})
	}
	if err == nil {
		err = line.NoArgs()
	}
	line.Visit(func(f *flag.Flag) { p.given[f.Name] = true })
	return p, err
}

// line declares the flags of one group: flags of the graph write to p, flags of the run to c.
func (c *config) line(p *params) *commandline.Line {
	set := commandline.New("taskbench", about)
	set.IntVar(&p.steps, "steps", 4, "height of the task graph: `timesteps`")
	set.IntVar(&p.width, "width", 4, "width of the task graph: `points`")
	set.Func("type", "dependence `pattern` (default trivial)", func(s string) (err error) {
		p.pattern, err = parsePattern(s)
		return err
	})
	set.IntVar(&p.radix, "radix", 3, "`dependences` per task of nearest, spread and random_nearest")
	set.IntVar(&p.period, "period", -1, "number of dependence `sets` of spread and random_nearest, which need it")
	set.Float64Var(&p.fraction, "fraction", 0.25, "`share` of the dependences that random_nearest keeps")
	set.Func("kernel", "`work` of a task (default empty)", func(s string) (err error) {
		p.kind, err = parseKernel(s)
		return err
	})
	set.IntVar(&p.iter, "iter", 0, "`iterations` of the kernel")
	set.IntVar(&p.output, "output", pairBytes, "output `bytes` per task, at least 16")
	set.IntVar(&p.scratch, "scratch", 0, "scratch `bytes` per output buffer (memory_bound only)")
	set.IntVar(&p.samples, "sample", 16, "`pieces` the scratch is visited in (memory_bound only)")
	set.Float64Var(&p.imbalance, "imbalance", 0, "relative `spread` of the iterations of load_imbalance, 0 to 2")
	set.IntVar(&p.fields, "field", 2, "output `buffers` per point, used in turn, at least 2")
	set.IntVar(&c.workers, "workers", c.workers, "`workers` of the runtime, the submitting one included")
	set.IntVar(&c.reps, "reps", c.reps, "timed `runs` after the warm-up (default 1; with -metg 5 per point)")
	set.BoolVar(&c.pin, "pin", c.pin, "pin every worker to a core")
	set.BoolVar(&c.metg, "metg", c.metg, "find the minimum effective task granularity, METG(50%)")
	set.StringVar(&c.trace, "trace", c.trace, "write a trace of the last run to `file`: .html, .json, .dot, .txt or .log")
	set.Section("Patterns", commandline.Row{Text: strings.Join(patternNames, ", ")})
	set.Section("Kernels", commandline.Row{Text: strings.Join(kernelNames, ", ")})
	return set
}

// fillDefaults sets what depends on other flags: -metg has its own.
func (c *config) fillDefaults() error {
	if !c.metg {
		if c.reps == 0 && !c.given("reps") {
			c.reps = 1
		}
		return nil
	}
	if len(c.graphs) > 1 {
		return fmt.Errorf("-metg measures one graph: drop -and and what follows it")
	}
	if c.trace != "" {
		return fmt.Errorf("-trace records one run and -metg makes hundreds: use one of them")
	}
	p := &c.graphs[0]
	if p.given["iter"] {
		return fmt.Errorf("-iter has no meaning with -metg, which chooses the iterations: drop it")
	}
	p.swept = true
	if !p.given["kernel"] {
		p.kind = computeBound
	}
	if !p.given["steps"] {
		p.steps = 1000
	}
	if !p.given["width"] {
		p.width = c.workers
	}
	if !p.given["reps"] {
		c.reps = 5
	}
	return nil
}

// given tells whether any group set the flag explicitly.
func (c *config) given(name string) bool {
	for _, p := range c.graphs {
		if p.given[name] {
			return true
		}
	}
	return false
}
