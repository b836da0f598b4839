package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/dataflow"
)

// metgRun measures the samples of the sweeps on one runtime.
type metgRun struct {
	program
	config   *config
	rt       *dataflow.Runtime
	progress *progress
	peak     float64 // best FLOP/s of the kernel on all workers
}

// metg prints METG(50 %) at 4 x width, then at width, last of all.
func (p program) metg(rt *dataflow.Runtime, c *config, pr *progress) error {
	m := &metgRun{program: p, config: c, rt: rt, progress: pr}
	if err := m.calibrate(); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "kernel alone on %d workers: %.3f GFLOP/s; a point is the mean of %d runs, again counts its repetitions for a spread above %.1f\n",
		c.workers, m.peak/1e9, c.reps, maxSpread)
	wide, err := m.sweepAt(4)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "METG4(50%%) %.3f us\n", wide*1e6)
	narrow, err := m.sweepAt(1)
	if err != nil {
		return err
	}
	graph := &c.graphs[0]
	report.Line(p.stdout, report.Decimal("metg50_us", narrow*1e6), report.Decimal("metg50_4x_us", wide*1e6), report.Decimal("gflops_best", m.peak/1e9),
		report.Integer("workers", c.workers), report.Integer("ranks", 1), report.Integer("width", graph.width),
		report.Integer("steps", graph.steps), report.Integer("field", graph.fields), report.Integer("reps", c.reps))
	fmt.Fprintf(p.stdout, "METG(50%%) %.3f us\n", narrow*1e6)
	return nil
}

// calibrate finds the FLOP rate of the kernel on all workers: one column of
// independent tasks of about a millisecond per worker, the best of some runs.
func (m *metgRun) calibrate() error {
	p := m.config.graphs[0]
	p.pattern, p.kind = noComm, computeBound
	p.steps, p.width, p.iter = 20, m.config.workers, 60_000
	b, err := newBench(m.rt, []params{p}, m.progress, nil)
	if err != nil {
		return err
	}
	seconds, err := b.repeat("calibration", 10)
	if err != nil {
		return err
	}
	m.peak = float64(countAll(b.graphs).flops) / slices.Min(seconds)
	return nil
}

// sweepAt searches METG(50 %), in seconds, at factor times the width.
func (m *metgRun) sweepAt(factor int) (float64, error) {
	p := m.config.graphs[0]
	p.width *= factor
	b, err := newBench(m.rt, []params{p}, m.progress, m.tamper)
	if err != nil {
		return 0, err
	}
	m.progress.clear()
	printSampleHead(m.stdout, p.width)
	w := &sweep{cores: m.config.workers, peak: m.peak}
	w.measure = func(iter int) (sample, error) { return m.measure(b, iter) }
	w.show = func(s *sample, efficiency float64) {
		m.progress.clear()
		printSample(m.stdout, s, m.config.workers, efficiency)
	}
	found, err := w.find()
	m.peak = w.peak
	if found.atMost {
		fmt.Fprintln(m.stdout, "the efficiency never fell below 50 %: the next figure is an upper bound")
	}
	return found.seconds, err
}

// measure makes the runs of one sample.
func (m *metgRun) measure(b *bench, iter int) (sample, error) {
	b.graphs[0].iter = iter
	seconds, err := b.repeat(fmt.Sprintf("width %d, iter %d", b.graphs[0].width, iter), m.config.reps)
	if err != nil {
		return sample{}, err
	}
	sum := countAll(b.graphs)
	return sample{iter: iter, tasks: sum.tasks, flops: sum.flops, seconds: seconds}, nil
}

// printSampleHead writes the head of a sweep's table, printSample a line of it.
func printSampleHead(out io.Writer, width int) {
	fmt.Fprintf(out, "\nwidth %d\n%10s %14s %22s %12s %11s %6s\n", width, "iter", "granularity us", "min .. max", "GFLOP/s", "efficiency", "again")
}

func printSample(out io.Writer, s *sample, cores int, efficiency float64) {
	perTask := 1e6 * float64(cores) / float64(s.tasks)
	fmt.Fprintf(out, "%10d %14.3f %10.3f ..%10.3f %12.3f %10.1f%% %6d\n", s.iter, s.granularity(cores)*1e6,
		slices.Min(s.seconds)*perTask, slices.Max(s.seconds)*perTask, s.rate()/1e9, efficiency*100, s.again)
}
