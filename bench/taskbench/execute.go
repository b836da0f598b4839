package main

import (
	"github.com/weft-hpc/weft/dataflow"
)

// execute makes the runs that c asks for on one runtime and prints what came out.
func (p program) execute(c *config) error {
	pr := newProgress(p.stderr)
	defer pr.close()
	return dataflow.Run(func(rt *dataflow.Runtime) error {
		printHeader(p.stdout, c)
		if c.metg {
			return p.metg(rt, c, pr)
		}
		return p.time(rt, c, pr)
	}, c.options()...)
}

// options are the options of the runtime.
func (c *config) options() []dataflow.Option {
	options := []dataflow.Option{dataflow.Workers(c.workers)}
	if !c.pin {
		options = append(options, dataflow.Pin(false))
	}
	return options
}

// time runs the graphs after a warm-up and prints Task Bench's report.
func (p program) time(rt *dataflow.Runtime, c *config, pr *progress) error {
	b, err := newBench(rt, c.graphs, pr, p.tamper)
	if err != nil {
		return err
	}
	seconds, err := b.repeat("taskbench", c.reps)
	if err != nil {
		return err
	}
	pr.clear()
	printReport(p.stdout, c, countAll(b.graphs), seconds)
	return nil
}
