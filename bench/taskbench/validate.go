package main

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow/trace"
)

// maxWorkers is the limit of the runtime.
const maxWorkers = 1024

// validate refuses values that no run can have a meaning for. Its messages name the
// graph, the flag, the value and the way out.
func (c *config) validate() error {
	switch {
	case c.workers < 1 || c.workers > maxWorkers:
		return fmt.Errorf("-workers %d: must be 1 to %d", c.workers, maxWorkers)
	case c.reps < 1:
		return fmt.Errorf("-reps %d: must be at least 1", c.reps)
	}
	if c.trace != "" {
		if err := trace.CheckFile(c.trace); err != nil {
			return fmt.Errorf("-trace: %w", err)
		}
	}
	for i := range c.graphs {
		p := c.graphs[i]
		if err := p.validate(); err != nil {
			return fmt.Errorf("graph %d: %w", p.index, err)
		}
		if !c.metg {
			continue
		}
		if !p.kind.countsFLOPs() {
			return fmt.Errorf("-kernel %v: -metg needs a FLOP rate, use compute_bound or load_imbalance", p.kind)
		}
		p.width *= 4
		if err := p.validate(); err != nil {
			return fmt.Errorf("-metg also measures 4 x width = %d: %w", p.width, err)
		}
	}
	return nil
}

// validate checks one graph.
func (p *params) validate() error {
	for _, check := range []func() error{p.validateShape, p.validatePattern, p.validateKernel, p.validateMemory} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// validateShape checks the size of the graph.
func (p *params) validateShape() error {
	switch {
	case p.steps < 1:
		return fmt.Errorf("-steps %d: must be at least 1", p.steps)
	case p.width < 1:
		return fmt.Errorf("-width %d: must be at least 1", p.width)
	case p.output < pairBytes:
		return fmt.Errorf("-output %d: must be at least %d bytes, the pair (timestep, point) that is checked", p.output, pairBytes)
	case p.fields < 2:
		return fmt.Errorf("-field %d: must be at least 2, or a task would overwrite what its neighbours still read", p.fields)
	}
	return nil
}

// validatePattern checks the flags of the dependence pattern. Unlike in the original,
// a -period that the pattern does not use is ignored, so that one command line serves
// every pattern.
func (p *params) validatePattern() error {
	switch {
	case p.radix < 0:
		return fmt.Errorf("-radix %d: must not be negative", p.radix)
	case p.given["period"] && p.period < 0:
		return fmt.Errorf("-period %d: must not be negative", p.period)
	case !(p.fraction >= 0 && p.fraction <= 1):
		return fmt.Errorf("-fraction %v: must be between 0 and 1", p.fraction)
	case p.pattern.usesPeriod() && p.period < 1:
		return fmt.Errorf("-type %v needs a -period of at least 1, the number of its dependence sets", p.pattern)
	case p.pattern == spread && p.radix > p.width, p.pattern.usesRadix() && p.given["radix"] && p.radix > p.width:
		return fmt.Errorf("-radix %d: -type %v with -width %d has at most %d dependences per task, lower -radix or raise -width", p.radix, p.pattern, p.width, p.width)
	case p.pattern == spread && p.radix > 0 && p.period > (p.width+p.radix-1)/p.radix:
		return fmt.Errorf("-period %d: -type spread with -width %d and -radix %d repeats after %d sets, use at most that", p.period, p.width, p.radix, (p.width+p.radix-1)/p.radix)
	}
	return nil
}

// validateKernel checks the flags of the kernel.
func (p *params) validateKernel() error {
	switch {
	case p.iter < 0:
		return fmt.Errorf("-iter %d: must not be negative", p.iter)
	case p.scratch < 0:
		return fmt.Errorf("-scratch %d: must not be negative", p.scratch)
	case p.samples < 1:
		return fmt.Errorf("-sample %d: must be at least 1", p.samples)
	case !(p.imbalance >= 0 && p.imbalance <= 2):
		return fmt.Errorf("-imbalance %v: must be between 0 and 2", p.imbalance)
	case p.kind == memoryBound && p.scratch < 2*p.samples:
		return fmt.Errorf("-scratch %d: -kernel memory_bound copies within it and needs at least 2 bytes for each of the %d samples (-sample)", p.scratch, p.samples)
	}
	return nil
}

// validateMemory refuses graphs whose tables would not fit and counts that would
// overflow.
func (p *params) validateMemory() error {
	if work := float64(p.steps) * float64(p.width) * (256*float64(p.iter) + 64); work > 4e18 {
		return fmt.Errorf("-steps %d -width %d -iter %d: %.2g operations are more than the counters hold, lower one of them", p.steps, p.width, p.iter, work)
	}
	if need := p.tableBytes(); need > tableLimit {
		return fmt.Errorf("needs %.3g bytes of buffers and dependence tables, the limit is %.3g: lower -width, -radix, -period, -field, -output or -scratch", need, float64(tableLimit))
	}
	return nil
}
