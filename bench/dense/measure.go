package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/peak"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/gonum"
	"github.com/weft-hpc/weft/internal/osthread"
)

// contender is one implementation and its timings.
type contender struct {
	name  string
	peak  *peak.Loop
	call  func(p *problem)
	times []float64 // ns of a call
	peaks []float64 // GFLOP/s of one core
}

// native is OpenBLAS where the program is built with it.
var native func(workers int) (name string, calls map[string]func(p *problem))

// contenders returns those of an operation.
func (c *config) contenders(op string) (all []*contender) {
	if op == "together" {
		return c.together()
	}
	o := operations[op]
	add := func(name, isa string, b blas.Float64, l lapack.Float64) {
		all = append(all, &contender{name: name, peak: peak.Of(isa), call: func(p *problem) {
			blas64.Use(b) // what gonum's LAPACK calls
			o.call(p, b, l)
		}})
	}
	add("gonum", "auto", gonumblas.Implementation{}, gonumlapack.Implementation{})
	if native != nil {
		if name, calls := native(c.workers); calls[op] != nil {
			all = append(all, &contender{name: name, peak: peak.Of("auto"), call: calls[op]})
		}
	}
	for _, k := range c.isas {
		add("weft-"+k.Name(), k.Name(), gonum.BLASWith(k), gonum.LAPACKWith(k))
	}
	return all
}

// goroutines is how many factor at once in the operation together.
const goroutines = 8

// together returns two contenders: as many LU factorizations in turn, and at once.
func (c *config) together() (all []*contender) {
	for _, k := range c.isas {
		l := gonum.LAPACKWith(k)
		factor := func(copies []*problem, at int) { operations["lu"].call(copies[at], nil, l) }
		for _, atOnce := range []bool{false, true} {
			name := "in-turn-"
			if atOnce {
				name = "at-once-"
			}
			var copies []*problem
			all = append(all, &contender{name: name + k.Name(), peak: peak.Of(k.Name()), call: func(p *problem) {
				for len(copies) < goroutines {
					copies = append(copies, newProblem(p.m, p.n))
				}
				var wg sync.WaitGroup
				for at := range copies {
					copies[at].restore(p)
					if !atOnce {
						continue
					}
					wg.Go(func() { factor(copies, at) })
				}
				wg.Wait()
				for at := range copies {
					if !atOnce {
						factor(copies, at)
					}
				}
				copy(p.a, copies[0].a)
			}})
		}
	}
	return all
}

// execute measures what c asks for and prints it.
func (c *config) execute(out io.Writer) error {
	if err := os.Setenv("WEFT_WORKERS", strconv.Itoa(c.workers)); err != nil {
		return err
	}
	before := runtime.GOMAXPROCS(c.workers)
	defer runtime.GOMAXPROCS(before)
	defer blas64.Use(blas64.Implementation())
	defer c.progress.Clear()
	fmt.Fprintln(out, machine.Line())
	lines := &chart.Lines{Title: "Dense matrices, " + strconv.Itoa(c.workers) + " workers", Note: machine.Line(),
		X: chart.Axis{Title: "order of the matrix", Log: true}, Y: chart.Axis{Title: "speed", Unit: "GFLOP/s"}}
	for _, op := range c.ops {
		var series []chart.Series
		for _, n := range c.sizes {
			all, err := c.measure(op, n)
			if err != nil {
				return err
			}
			series = c.report(out, op, n, all, series)
		}
		lines.Series = append(lines.Series, series...)
	}
	if c.out == "" {
		return nil
	}
	return lines.Write(c.out)
}

func (c *config) rows(op string, n int) int {
	if o := operations[op]; o != nil && o.tall {
		return n * c.tall
	}
	return n
}

// measure verifies and times the contenders on matrices with n columns.
func (c *config) measure(op string, n int) ([]*contender, error) {
	all := c.contenders(op)
	start := newProblem(c.rows(op, n), n)
	if err := c.verify(op, all, start); err != nil {
		return nil, err
	}
	// Short calls are timed many at a time, each on its own copy.
	copies := make([]*problem, max(1, min(2000, 400_000/(n*n+100))))
	for i := range copies {
		copies[i] = newProblem(start.m, start.n)
	}
	for rep := range c.reps {
		c.progress.Say("%s of order %d, repetition %d of %d", op, n, rep+1, c.reps)
		for _, x := range all {
			for _, p := range copies {
				p.restore(start)
			}
			begin := osthread.Nanotime()
			for _, p := range copies {
				x.call(p)
			}
			x.times = append(x.times, float64(osthread.Nanotime()-begin)/float64(len(copies)))
			if x.peak != nil {
				runtime.LockOSThread()
				x.peaks = append(x.peaks, x.peak.Measure())
				runtime.UnlockOSThread()
			}
		}
	}
	return all, nil
}

// verify compares the results with the first contender's.
func (c *config) verify(op string, all []*contender, start *problem) error {
	var want *problem
	for _, x := range all {
		p := newProblem(start.m, start.n)
		x.call(p)
		result := [][]float64{p.a, p.b, p.c}
		if x.name == nativeName {
			continue // it has other pivots and the transpose
		}
		if c.tamper != nil && want != nil {
			c.tamper(p.a)
			c.tamper(p.b)
			c.tamper(p.c)
		}
		if want == nil {
			want = p
		}
		for i, w := range [][]float64{want.a, want.b, want.c} {
			for j, v := range w {
				if got := result[i][j]; !(math.Abs(got-v) <= tolerance*max(1, math.Abs(v))) {
					return fmt.Errorf("%s of order %d: element %d of the result of %s is %v, and of %s %v", op, start.n, j, x.name, got, all[0].name, v)
				}
			}
		}
	}
	return nil
}

// nativeName is the name of OpenBLAS.
const nativeName = "openblas"

// tolerance is far above rounding in a matrix with small factors, and far below any mistake.
const tolerance = 1e-6

// report prints the result lines and appends the points to the series of the chart.
func (c *config) report(out io.Writer, op string, n int, all []*contender, series []chart.Series) []chart.Series {
	m := c.rows(op, n)
	flops := 0.0
	if o := operations[op]; o != nil {
		flops = o.flops(float64(m), float64(n))
	} else {
		flops = goroutines * operations["lu"].flops(float64(m), float64(n))
	}
	first := report.Median(all[0].times)
	for i, x := range all {
		ns := report.Median(x.times)
		fraction := 0.0
		if len(x.peaks) > 0 {
			fraction = flops / ns / (report.Median(x.peaks) * float64(c.workers))
		}
		fmt.Fprintf(out, "result op=%s m=%d n=%d by=%s workers=%d reps=%d ms=%.4g gflops=%.3g fraction=%.3f speedup=%.3f\n",
			op, m, n, x.name, c.workers, c.reps, ns/1e6, flops/ns, fraction, first/ns)
		if i >= len(series) {
			series = append(series, chart.Series{Label: op + " " + x.name})
		}
		series[i].X, series[i].Y = append(series[i].X, float64(n)), append(series[i].Y, flops/ns)
	}
	return series
}
