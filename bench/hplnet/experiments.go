package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/mpi/local"
)

// experiment is one question.
type experiment struct {
	name, about string
	run         func(*config) error // on this machine; nil: only on a simulated one
	simulated   func(*config) error // with -machine; nil: only on this machine
}

// allExperiments is set by init: the table and the command line refer to each other.
var allExperiments []experiment

func init() {
	allExperiments = []experiment{
		{"size", "GFLOP/s against the order of the matrix", (*config).size, nil},
		{"bandwidth", "against the bandwidth of the links, progress by host and by network card", (*config).bandwidth, (*config).scaleBandwidth},
		{"latency", "against the latency of the links, progress by host and by network card", (*config).latency, (*config).scaleLatency},
		{"noise", "against the part of each core that others steal", (*config).noise, (*config).scaleNoise},
		{"lookahead", "task, look-ahead 1 to 3, blocking: best of each over one network; task beside its bound", (*config).lookahead, nil},
		{"scale", "with -machine: GFLOP/s against the order; what runs if none is named", nil, (*config).scale},
		{"processors", "with -machine: an eighth of the machine to twice as much; asymptote, and the order at half of it", nil, (*config).processors},
	}
}

// chosen returns quick or full.
func chosen[T any](c *config, quick, full T) T {
	if c.quick {
		return quick
	}
	return full
}

// curve sweeps one quantity on one grid, and draws the drivers' speeds against it.
type curve struct {
	experiment, file string // file without extension, in the folder
	title            string
	x                chart.Axis
	values           []float64 // along x, in its unit
	at               func(value float64) point
}

// run measures and draws the curve.
func (c *config) curve(k curve) error {
	series := make([]chart.Series, len(drivers))
	for i, d := range drivers {
		series[i].Label = d.label
	}
	var rows table
	rows.head(k.title, k.x)
	widest := gap{}
	for _, v := range k.values {
		samples, stolen, err := c.underNoise(k.at(v))
		if err != nil {
			return err
		}
		for i := range samples {
			s := &series[i]
			median, low, high := samples[i].speed()
			s.X, s.Y, s.Lo, s.Hi = append(s.X, v), append(s.Y, median), append(s.Lo, low), append(s.Hi, high)
		}
		rows.row(v, samples)
		c.keep(k.experiment, samples, stolen)
		widest.look(v, samples)
	}
	c.print(&rows)
	c.keepWidest(k, widest)
	return (&chart.Lines{Title: k.title, X: k.x, Y: chart.Axis{Title: "speed, median of runs", Unit: "GFLOP/s"},
		Series: series, Note: c.note()}).Write(c.folder + "/" + k.file)
}

// underNoise compares all drivers at a point, while its part of the cores is stolen.
func (c *config) underNoise(p point) (samples []sample, stolen float64, err error) {
	quiet := p
	quiet.noise = 0
	for _, d := range drivers { // searched without noise: the choice is the program's, not the moment's
		with, err := c.tune(quiet, d)
		if err != nil {
			return nil, 0, err
		}
		c.best[choiceKey{p, d}] = with
	}
	t := steal(p.noise, c.period)
	samples, err = c.compare(p, drivers)
	return samples, t.stop(), err
}

// size is GFLOP/s against N, on one process with all cores, too.
func (c *config) size() error {
	orders := chosen(c, []float64{250, 500, 1000}, []float64{250, 500, 1000, 2000, 3000, 4000, 6000, 8000})
	one := hpldat.Grid{P: 1, Q: 1}
	grids := slices.DeleteFunc(slices.Clone(c.grids), func(g hpldat.Grid) bool { return g == one })
	for _, g := range append([]hpldat.Grid{one}, grids...) {
		net := c.net
		if g == one { // it has no messages
			net = local.Net{}
		}
		err := c.curve(curve{
			experiment: "size", file: fmt.Sprintf("size-%dx%d", g.P, g.Q),
			title: fmt.Sprintf("LINPACK against size: grid %d x %d, network %s", g.P, g.Q, nameOf(net)),
			x:     chart.Axis{Title: "order of the matrix", Log: true}, values: orders,
			at: func(n float64) point { return point{grid: g, net: net, n: int(n)} },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bandwidth is GFLOP/s against the bandwidth, at the latency of Gigabit Ethernet.
func (c *config) bandwidth() error {
	values := chosen(c, []float64{125e6, 1.25e9}, []float64{62.5e6, 125e6, 250e6, 375e6, 500e6, 1e9, 2e9, 4e9})
	return c.shaped(func(g hpldat.Grid, net local.Net, mode string) curve {
		return curve{
			experiment: "bandwidth", file: fmt.Sprintf("bandwidth-%dx%d-%s", g.P, g.Q, mode),
			title: fmt.Sprintf("Tolerance to bandwidth: N = %d, grid %d x %d, progress by %s", c.n, g.P, g.Q, mode),
			x:     chart.Axis{Title: "bandwidth of a link, each way", Unit: "bytes/s", Log: true}, values: values,
			at: func(v float64) point {
				net.Name, net.Bandwidth = "", v
				return point{grid: g, net: net, n: c.n}
			},
		}
	})
}

// latency is GFLOP/s against the latency, at the bandwidth of 10 Gigabit Ethernet.
func (c *config) latency() error {
	values := chosen(c, []float64{10e-6, 100e-6}, []float64{1e-6, 10e-6, 30e-6, 100e-6, 300e-6, 1e-3, 3e-3})
	return c.shaped(func(g hpldat.Grid, net local.Net, mode string) curve {
		return curve{
			experiment: "latency", file: fmt.Sprintf("latency-%dx%d-%s", g.P, g.Q, mode),
			title: fmt.Sprintf("Tolerance to latency: N = %d, grid %d x %d, progress by %s", c.n, g.P, g.Q, mode),
			x:     chart.Axis{Title: "latency of a link", Unit: "s", Log: true}, values: values,
			at: func(v float64) point {
				net.Name, net.Bandwidth, net.Latency = "", 1.25e9, time.Duration(v*1e9+0.5)
				return point{grid: g, net: net, n: c.n}
			},
		}
	})
}

// shaped runs a curve for each grid and progress mode; the network is Gigabit Ethernet
// except for the values that the curve changes.
func (c *config) shaped(build func(g hpldat.Grid, net local.Net, mode string) curve) error {
	net, err := local.ParseNet("gige")
	if err != nil {
		return err
	}
	for _, g := range c.grids {
		for _, mode := range c.modes {
			net.NIC = mode == "nic"
			if err := c.curve(build(g, net, mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

// noise is GFLOP/s against the stolen part of the cores.
func (c *config) noise() error {
	values := chosen(c, []float64{0, 10}, []float64{0, 1, 2.5, 5, 10, 20})
	for _, g := range c.grids {
		err := c.curve(curve{
			experiment: "noise", file: fmt.Sprintf("noise-%dx%d", g.P, g.Q),
			title: fmt.Sprintf("Tolerance to noise every %v: N = %d, grid %d x %d, network %s", c.period, c.n, g.P, g.Q, nameOf(c.net)),
			x:     chart.Axis{Title: "time stolen from each core", Unit: "%"}, values: values,
			at: func(v float64) point { return point{grid: g, net: c.net, n: c.n, noise: v / 100} },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// note says where a chart is from.
func (c *config) note() string { return fmt.Sprintf("%s; medians of %d runs", machine.Line(), c.reps) }

// lookahead compares the drivers over one network, on all grids.
func (c *config) lookahead() error {
	b := &chart.Bars{
		Title: fmt.Sprintf("Drivers of LINPACK: N = %d, network %s", c.n, nameOf(c.net)),
		X:     chart.Axis{Title: "grid"}, Y: chart.Axis{Title: "speed, median of runs", Unit: "GFLOP/s"},
		Series: make([]chart.BarSeries, len(drivers)), Note: c.note(),
	}
	for i, d := range drivers {
		b.Series[i].Label = d.label
	}
	var rows table
	rows.head(b.Title, b.X)
	for _, g := range c.grids {
		samples, err := c.compare(point{grid: g, net: c.net, n: c.n}, drivers)
		if err != nil {
			return err
		}
		b.Groups = append(b.Groups, fmt.Sprintf("%d x %d", g.P, g.Q))
		for i := range samples {
			s := &b.Series[i]
			median, low, high := samples[i].speed()
			s.Y, s.Lo, s.Hi = append(s.Y, median), append(s.Lo, low), append(s.Hi, high)
		}
		if samples[0].overBound, err = c.overBound(&samples[0]); err != nil {
			return err
		}
		rows.row(fmt.Sprintf("%dx%d", g.P, g.Q), samples)
		c.keep("lookahead", samples, 0)
	}
	rows.WriteString("task / bound: time / the largest max(work / workers, longest chain) of a rank, in runs with the event log; waits for messages inside bodies count as work\n")
	c.print(&rows)
	return b.Write(c.folder + "/lookahead")
}

// nameOf is a network for a title: the name of its preset, or its values.
func nameOf(n local.Net) string {
	switch {
	case n == (local.Net{}):
		return "none"
	case n.Name != "" && n.NIC:
		return n.Name + ", progress by nic"
	case n.Name != "":
		return n.Name
	}
	return n.String()
}
