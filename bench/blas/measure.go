package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/peak"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
)

// contender is one implementation and its timings.
type contender struct {
	kernels blas.Kernels
	op      *operation
	peak    *peak.Loop
	rates   []float64 // GFLOP/s, one per repetition
	peaks   []float64
}

// execute measures what c asks for and prints it.
func (c *config) execute(out io.Writer) (err error) {
	unpin := pin()
	defer func() { err = errors.Join(err, unpin()) }()
	defer c.progress.Clear()
	var all []*contender
	for _, k := range c.isas {
		op, operands, err := c.newOperation(k)
		if err != nil {
			return err
		}
		defer operands.free()
		if err := c.verify(k, op); err != nil {
			return err
		}
		all = append(all, &contender{kernels: k, op: op, peak: peak.Of(k.Name())})
	}
	for rep := range c.reps {
		c.progress.Say("%s, repetition %d of %d", c.op, rep+1, c.reps)
		for _, x := range all {
			x.repeat()
		}
	}
	c.progress.Clear()
	return c.report(out, all)
}

// pin locks the goroutine to its thread and that to a core, if one is free; the
// function it returns undoes both.
func pin() func() error {
	runtime.LockOSThread()
	found, err := osthread.Affinity()
	claim := osthread.ClaimCores(1)
	if err != nil || claim.Oversubscribed() || osthread.SetAffinity(osthread.CPUSetOf(claim.Cores()...)) != nil {
		return func() error { claim.Release(); runtime.UnlockOSThread(); return nil }
	}
	return func() error {
		defer claim.Release()
		defer runtime.UnlockOSThread()
		return osthread.SetAffinity(found)
	}
}

// shortest is how long a timing lasts at least, in ns: shorter operations are
// timed several at a time.
const shortest = 200_000

// repeat times the operation once, and the peak beside it.
func (x *contender) repeat() {
	for runs := 1; ; runs *= 4 {
		x.op.reset()
		start := peak.Clock()
		for range runs {
			x.op.run()
		}
		ns := peak.Clock() - start
		if ns >= shortest || x.op.start != nil || runs > 1<<20 {
			x.rates = append(x.rates, float64(runs)*x.op.flops/float64(max(ns, 1)))
			break
		}
	}
	if x.peak != nil {
		x.peaks = append(x.peaks, x.peak.Measure())
	}
}

// verify runs the operation once and compares its result with the portable kernels, to
// find an implementation that is fast and wrong.
func (c *config) verify(k blas.Kernels, op *operation) error {
	reference, operands, err := c.newOperation(blas.Portable())
	if err != nil {
		return err
	}
	defer operands.free()
	reference.run()
	op.run()
	if c.tamper != nil {
		c.tamper(op.result)
	}
	for i, want := range reference.result {
		if got := op.result[i]; !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
			return fmt.Errorf("%s of %s: element %d of the result is %v, and %v by the portable kernels", c.op, k.Name(), i, got, want)
		}
	}
	return nil
}

// tolerance is far above rounding, and far below any mistake.
const tolerance = 1e-9

// report prints the machine and the result lines.
func (c *config) report(out io.Writer, all []*contender) error {
	var text strings.Builder
	fmt.Fprintln(&text, machine.Line())
	last := report.Median(all[len(all)-1].rates)
	for _, x := range all {
		rate, top := report.Median(x.rates), 0.0
		fraction := 0.0
		if len(x.peaks) > 0 {
			top = report.Median(x.peaks)
			fraction = rate / top
		}
		fmt.Fprintf(&text, "result op=%s isa=%s m=%d n=%d k=%d reps=%d gflops_best=%.2f gflops_median=%.2f peak_gflops=%.2f fraction=%.3f ratio=%.3f\n",
			c.op, x.kernels.Name(), c.m, c.n, c.k, c.reps, slices.Max(x.rates), rate, top, fraction, rate/last)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
