package main

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// scaleBlock is the width of a block in the experiment scale.
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

// scale is GFLOP/s against N on a simulated machine, as in figure 1 of the paper: 512 processors
// by default. Each point is one run, because equal runs have equal results.
func (c *config) scale() error {
	if c.machine == nil {
		return nil
	}
	orders := chosen(c, []int{2048, 4096}, []int{16384, 32768, 65536, 98304, 131072, 212992})
	if c.line.Given("n") {
		orders = []int{c.n}
	}
	all := arrangements(c.machine)
	series := make([]chart.Series, len(all))
	for i, a := range all {
		series[i].Label = a.label
	}
	fmt.Fprintf(c.out, "\nLINPACK on machine %v, NB = %d\n%10s %36s %36s %36s  tasks / first\n", c.machine, scaleBlock, "N", all[0].label, all[1].label, all[2].label)
	for _, n := range orders {
		var speeds []float64
		for i, a := range all {
			c.progress.Say("N=%d, %s", n, a.label)
			r, err := c.simulate(n, a)
			if err != nil {
				return fmt.Errorf("order %d, %s: %w", n, a.label, err)
			}
			speeds = append(speeds, r.GFlops)
			series[i].X, series[i].Y = append(series[i].X, float64(n)), append(series[i].Y, r.GFlops)
			c.lines = append(c.lines, []string{
				report.Text("experiment", "scale"), report.Text("machine", c.machine.Name), report.Integer("n", n), report.Integer("nb", scaleBlock),
				report.Text("variant", hplrun.Variants[a.variant]), report.Integer("ranks", a.ranks), report.Integer("workers", a.workers),
				report.Decimal("seconds", r.Seconds), report.Decimal("gflops", r.GFlops),
			})
		}
		c.progress.Clear()
		fmt.Fprintf(c.out, "%10d %36.1f %36.1f %36.1f  %13.3f\n", n, speeds[0], speeds[1], speeds[2], speeds[2]/speeds[0])
	}
	return (&chart.Lines{
		Title: fmt.Sprintf("LINPACK on machine %s, simulated", c.machine.Name), Series: series, Note: c.machine.String(),
		X: chart.Axis{Title: "order of the matrix", Log: true}, Y: chart.Axis{Title: "speed", Unit: "GFLOP/s"},
	}).Write(c.folder + "/scale-" + c.machine.Name)
}

// simulate runs LINPACK of order n on the whole machine.
func (c *config) simulate(n int, a arrangement) (result hpl.Result, err error) {
	x, grid := hpl.Default(n), hplrun.Squarest(a.ranks)
	x.NB, x.P, x.Q = scaleBlock, grid.P, grid.Q
	x.Variant, x.Workers, x.Kernels = a.variant, a.workers, modelled.New(c.machine.Kernels)
	w := world.Default()
	w.Ranks, w.Machine, w.Modelled = a.ranks, c.machineName, true
	err = w.Run(func(comm *mpi.Comm) error {
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
	c.machineName = name
	if c.machine, err = cluster.Load(name); err == nil && c.machine.Kernels == (cluster.Kernels{}) {
		err = errors.New("the machine file has no kernels")
	}
	return err
}
