package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// processors is GFLOP/s against the number of processors of a simulated machine, from an eighth
// to twice its nodes. On each, orders grow with the square root of the processors, so that a node
// has as much memory; the asymptote of the speed and the order at half of it are those of a fit.
func (c *config) processors() error {
	sizes := chosen(c, []float64{0.5, 1}, []float64{0.125, 0.25, 0.5, 1, 2})
	orders := chosen(c, []float64{512, 1024, 2048}, []float64{8192, 16384, 32768, 65536})
	all := arrangements(c.machine)
	series := make([]chart.Series, len(all))
	text := fmt.Sprintf("\nOn the whole machine and on parts of it: speed at the largest order, asymptote, order at half of it\n%12s %10s %36s %12s %12s %12s\n",
		"processors", "order", "", "GFLOP/s", "asymptote", "half")
	for _, size := range sizes {
		m := *c.machine
		m.Nodes = max(1, int(size*float64(m.Nodes)))
		these := ordersOf(orders, float64(m.Nodes)/float64(c.machine.Nodes))
		speeds, err := c.sweep(c.againstOrder("processors", fmt.Sprintf("processors-%s-%d", m.Name, m.Nodes*m.Cores), m, these))
		if err != nil {
			return err
		}
		largest := len(these) - 1
		for i, a := range arrangements(&m) {
			f := fit(these, speeds[i])
			series[i].Label = a.label
			series[i].X, series[i].Y = append(series[i].X, float64(m.Nodes*m.Cores)), append(series[i].Y, speeds[i][largest])
			text += fmt.Sprintf("%12d %10g %36s %12.1f %12.1f %12.0f\n", m.Nodes*m.Cores, these[largest], a.label, speeds[i][largest], f.asymptote(), f.half())
			c.lines = append(c.lines, []string{
				report.Text("experiment", "processors"), report.Text("machine", m.Name), report.Integer("processors", m.Nodes*m.Cores),
				report.Text("arrangement", a.label), report.Decimal("gflops_asymptote", f.asymptote()), report.Decimal("n_half", f.half()),
			})
		}
	}
	fmt.Fprint(c.out, text)
	return c.drawProcessors(series)
}

func (c *config) drawProcessors(series []chart.Series) error {
	return (&chart.Lines{
		Title:  fmt.Sprintf("LINPACK on parts of machine %s, simulated: as much memory per node", c.machine.Name),
		Series: series, Note: c.machine.String(),
		X: chart.Axis{Title: "processors", Log: true}, Y: chart.Axis{Title: "speed", Unit: "GFLOP/s", Log: true},
	}).Write(c.folder + "/processors-" + c.machine.Name)
}

// ordersOf returns orders for a machine that is so many times as large, in whole blocks.
func ordersOf(orders []float64, size float64) []float64 {
	all := times(orders, math.Sqrt(size))
	for i := range all {
		all[i] = scaleBlock * math.Max(1, math.Round(all[i]/scaleBlock))
	}
	return all
}

// seconds is a model of the time of LINPACK against the order n: cubic n^3 + square n^2 + linear n.
type seconds struct{ cubic, square, linear float64 }

// fit returns the model with the least sum of squares of relative errors.
func fit(orders, gflops []float64) seconds {
	a, b := mat.NewDense(len(orders), 3, nil), mat.NewVecDense(len(orders), nil)
	largest := orders[len(orders)-1] // the unit: powers of orders differ by many digits
	for i, n := range orders {
		t, x := operations(n)/(1e9*gflops[i]), n/largest
		a.SetRow(i, []float64{x * x * x / t, x * x / t, x / t})
		b.SetVec(i, 1)
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		return seconds{math.NaN(), math.NaN(), math.NaN()}
	}
	return seconds{x.AtVec(0) / math.Pow(largest, 3), x.AtVec(1) / math.Pow(largest, 2), x.AtVec(2) / largest}
}

// operations is what LINPACK of order n counts.
func operations(n float64) float64 { return n * n * (2*n/3 + 1.5) }

// asymptote is the speed of a matrix without end, in GFLOP/s.
func (s seconds) asymptote() float64 { return 2.0 / 3 / s.cubic / 1e9 }

// half returns the order with half of that speed; NaN if there is none up to 1e9.
func (s seconds) half() float64 {
	slower := func(n float64) bool {
		return operations(n)/(n*(s.linear+n*(s.square+n*s.cubic)))/1e9 < s.asymptote()/2
	}
	low, high := 1.0, 1e9
	if !(s.cubic > 0) || slower(high) {
		return math.NaN()
	}
	for high-low > 1 {
		if middle := (low + high) / 2; slower(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
