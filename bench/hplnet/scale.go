package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/virtual"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// scaleBlock is the width of a block on simulated machines.
const scaleBlock = 128

// arrangement is a way to use a whole machine.
type arrangement struct {
	label   string
	variant hpl.Variant
	ranks   int
	workers int // of each rank
}

// arrangements are look-ahead with a process per core (pure MPI), the same with a process per
// node, and tasks with a process per node. The second one tells the gain of tasks from the
// gain of larger processes.
func arrangements(m *cluster.Machine) []arrangement {
	return []arrangement{
		{"look-ahead 1, a process per core", hpl.LookAhead, m.Nodes * m.Cores, 1},
		{"look-ahead 1, a process per node", hpl.LookAhead, m.Nodes, m.Cores},
		{"tasks, a process per node", hpl.Task, m.Nodes, m.Cores},
	}
}

// sweep is a curve on simulated machines: it draws the speeds of the arrangements against one
// quantity. Each point is one run, because equal runs have equal results.
type sweep struct {
	experiment, file string // file without extension, in the folder
	title            string
	x                chart.Axis
	values           []float64 // along x, in its unit
	at               func(value float64) (m cluster.Machine, n int)
}

// sweep runs and draws s, and returns the speeds in GFLOP/s of each arrangement at each value.
func (c *config) sweep(s sweep) (speeds [][]float64, err error) {
	first, _ := s.at(s.values[0])
	all := arrangements(&first)
	series := make([]chart.Series, len(all))
	fmt.Fprintf(c.out, "\n%s, NB = %d\n%20s", s.title, scaleBlock, s.x.Title)
	for i, a := range all {
		series[i].Label = a.label
		fmt.Fprintf(c.out, " %36s", a.label)
	}
	fmt.Fprintln(c.out, "  tasks / first")
	for _, v := range s.values {
		m, n := s.at(v)
		fmt.Fprintf(c.out, "%20g", v)
		for i, a := range arrangements(&m) {
			c.progress.Say("%s: %g %s, %s", s.experiment, v, s.x.Unit, a.label)
			r, err := c.simulate(&m, n, a)
			c.progress.Clear()
			if err != nil {
				return nil, fmt.Errorf("%s %g, order %d, %s: %w", s.x.Title, v, n, a.label, err)
			}
			fmt.Fprintf(c.out, " %36.1f", r.GFlops)
			series[i].X, series[i].Y = append(series[i].X, v), append(series[i].Y, r.GFlops)
			c.lines = append(c.lines, []string{
				report.Text("experiment", s.experiment), report.Text("machine", m.Name), report.Integer("nodes", m.Nodes), report.Text("net", m.Network.String()),
				report.Decimal("noise_percent", 100*noiseOf(&m)), report.Integer("n", n), report.Integer("nb", scaleBlock),
				report.Text("variant", hplrun.Variants[a.variant]), report.Integer("ranks", a.ranks), report.Integer("workers", a.workers),
				report.Decimal("seconds", r.Seconds), report.Decimal("gflops", r.GFlops),
			})
		}
		last := len(series[0].Y) - 1
		fmt.Fprintf(c.out, "  %13.3f\n", series[2].Y[last]/series[0].Y[last])
	}
	for _, l := range series {
		speeds = append(speeds, l.Y)
	}
	return speeds, (&chart.Lines{
		Title: s.title, Series: series, Note: first.String(), X: s.x, Y: chart.Axis{Title: "speed", Unit: "GFLOP/s"},
	}).Write(c.folder + "/" + s.file)
}

// noiseOf returns the part of the cores that the noise of m takes.
func noiseOf(m *cluster.Machine) float64 {
	if m.NoiseEvery.Duration == 0 {
		return 0
	}
	return float64(m.NoiseLength.Duration) / float64(m.NoiseEvery.Duration)
}

// scale is GFLOP/s against N on a simulated machine, as in figure 1 of the paper: 512 processors
// by default.
func (c *config) scale() error {
	orders := chosen(c, []float64{2048, 4096}, []float64{16384, 32768, 65536, 98304, 131072, 212992})
	if c.line.Given("n") {
		orders = []float64{float64(c.n)}
	}
	_, err := c.sweep(c.againstOrder("scale", "scale-"+c.machine.Name, *c.machine, orders))
	return err
}

// againstOrder is the sweep of orders on m.
func (c *config) againstOrder(experiment, file string, m cluster.Machine, orders []float64) sweep {
	return sweep{
		experiment: experiment, file: file, title: fmt.Sprintf("LINPACK on machine %s, simulated", m.String()),
		x: chart.Axis{Title: "order of the matrix", Log: true}, values: orders,
		at: func(n float64) (cluster.Machine, int) { return m, int(n) },
	}
}

// scaleBandwidth is GFLOP/s against the bandwidth of the links of a simulated machine.
func (c *config) scaleBandwidth() error {
	factors := chosen(c, []float64{1, 4}, []float64{0.25, 0.5, 1, 2, 4})
	return c.scaleNet("bandwidth", chart.Axis{Title: "bandwidth of a link", Unit: "bytes/s", Log: true},
		times(factors, c.machine.Network.Bandwidth), func(net *local.Net, v float64) { net.Bandwidth = v })
}

// scaleLatency is GFLOP/s against the latency of the links of a simulated machine.
func (c *config) scaleLatency() error {
	values := chosen(c, []float64{10e-6, 1e-3}, []float64{1e-6, 10e-6, 30e-6, 100e-6, 300e-6, 1e-3, 3e-3})
	return c.scaleNet("latency", chart.Axis{Title: "latency of a link", Unit: "s", Log: true},
		values, func(net *local.Net, v float64) { net.Latency = time.Duration(v*1e9 + 0.5) })
}

// scaleNet is GFLOP/s against a property of the network of a simulated machine, for each progress mode.
func (c *config) scaleNet(experiment string, x chart.Axis, values []float64, set func(*local.Net, float64)) error {
	for _, mode := range c.modes {
		_, err := c.sweep(sweep{
			experiment: experiment, file: fmt.Sprintf("%s-%s-%s", experiment, c.machine.Name, mode),
			title: fmt.Sprintf("Tolerance to %s, machine %s simulated, N = %d, progress by %s", experiment, c.machine.Name, c.scaleOrder(), mode),
			x:     x, values: values,
			at: func(v float64) (cluster.Machine, int) {
				m := *c.machine
				m.Network.Name, m.Network.NIC = "", mode == "nic"
				set(&m.Network.Net, v)
				return m, c.scaleOrder()
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scaleNoise is GFLOP/s against the part of the time for which the system takes each core of a
// simulated machine.
func (c *config) scaleNoise() error {
	_, err := c.sweep(sweep{
		experiment: "noise", file: "noise-" + c.machine.Name,
		title: fmt.Sprintf("Tolerance to noise every %v, machine %s simulated, N = %d", c.period, c.machine.Name, c.scaleOrder()),
		x:     chart.Axis{Title: "time stolen from each core", Unit: "%"}, values: chosen(c, []float64{0, 10}, []float64{0, 1, 2.5, 5, 10}),
		at: func(v float64) (cluster.Machine, int) {
			m := *c.machine
			m.NoiseEvery.Duration, m.NoiseLength.Duration = c.period, time.Duration(v/100*float64(c.period))
			return m, c.scaleOrder()
		},
	})
	return err
}

// scaleOrder is the order of the matrix where a sweep does not change it.
func (c *config) scaleOrder() int {
	if c.line.Given("n") {
		return c.n
	}
	return chosen(c, 2048, 32768)
}

// times returns the products of values with one factor.
func times(values []float64, factor float64) []float64 {
	all := slices.Clone(values)
	for i := range all {
		all[i] *= factor
	}
	return all
}

// simulate runs LINPACK of order n on the whole machine m.
func (c *config) simulate(m *cluster.Machine, n int, a arrangement) (result hpl.Result, err error) {
	x, grid := hpl.Default(n), hplrun.Squarest(a.ranks)
	x.NB, x.P, x.Q = scaleBlock, grid.P, grid.Q
	x.Variant, x.Workers, x.Kernels = a.variant, a.workers, modelled.New(m.Kernels)
	err = virtual.Run(m, a.ranks, func(comm *mpi.Comm) error {
		r, err := hpl.Run(comm, x)
		if comm.Rank() == 0 {
			result = r
		}
		return err
	})
	return result, err
}

// setMachine reads the flag -machine.
func (c *config) setMachine(name string) (err error) {
	if c.machine, err = cluster.Load(name); err == nil && c.machine.Kernels == (cluster.Kernels{}) {
		err = errors.New("the machine file has no kernels")
	}
	return err
}
