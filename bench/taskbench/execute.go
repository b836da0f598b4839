package main

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
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
	if c.trace != "" {
		options = append(options, dataflow.Trace(0))
	}
	return options
}

// time runs the graphs after a warm-up and prints Task Bench's report.
func (p program) time(rt *dataflow.Runtime, c *config, pr *progress) error {
	b, err := newBench(rt, c.graphs, pr, p.tamper)
	if err != nil {
		return err
	}
	b.traced = c.trace != ""
	seconds, err := b.repeat("taskbench", c.reps)
	if err != nil {
		return err
	}
	pr.clear()
	if err := p.writeTrace(rt, c); err != nil {
		return err
	}
	printReport(p.stdout, c, countAll(b.graphs), seconds)
	return nil
}

// writeTrace writes the event log of the last run, if -trace is set.
func (p program) writeTrace(rt *dataflow.Runtime, c *config) error {
	if c.trace == "" {
		return nil
	}
	log := rt.Log()
	if err := trace.WriteFile(c.trace, log); err != nil {
		return fmt.Errorf("-trace: %w", err)
	}
	fmt.Fprintf(p.stdout, "trace of the last run: %s", c.trace)
	if log.Overflow > 0 {
		fmt.Fprintf(p.stdout, " (%d events lost: the log was full, lower -steps)", log.Overflow)
	}
	fmt.Fprintln(p.stdout)
	return nil
}
