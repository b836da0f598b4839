package main

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// drawScale runs all forms, sent and one-sided, on a simulated machine with transforms that take
// their time and do not compute: the table has what figures 4 to 7 of the paper show. A variant
// runs once, because equal runs have equal results.
func drawScale(l *lab, w printer) error {
	if l.machine == nil { // it is among all figures
		return nil
	}
	points := make([]*point, 0, 2*len(distributed.Forms()))
	for _, v := range nas.Variants(true) {
		l.progress.Say("machine %s, %s", l.machine.Name, v)
		p := &point{net: l.machine.Network.Net, variant: v}
		if err := l.simulate(p); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		points = append(points, p)
	}
	l.progress.Clear()
	key := l.machine.Network.Net.String()
	l.order, l.points[key] = append(l.order, key), points
	l.printScale(w, points)
	return l.chartScale(points)
}

// simulate runs a variant on the simulated machine.
func (l *lab) simulate(p *point) error {
	w := world.Default()
	w.Ranks, w.Machine, w.Modelled = l.ranks, l.machineName, true
	d := l.dist(p.variant)
	var err error
	if d.Kernels, err = modelled.Transforms(l.machine.Kernels); err != nil {
		return err
	}
	return w.Run(func(comm *mpi.Comm) error {
		r, err := nas.Once(comm, l.class, d)
		if err == nil && comm.Rank() == 0 {
			p.runs = append(p.runs, r)
		}
		return err
	})
}

// printScale prints a line per variant.
func (l *lab) printScale(w printer, points []*point) {
	fmt.Fprintf(w, "\nNAS FT class %s on machine %v, %d ranks of %d workers, in virtual time\n", l.class.Name, l.machine, l.ranks, l.workers)
	fmt.Fprintf(w, "%-20s %10s %12s %14s %14s %10s %10s %12s\n", "variant", "seconds", "GFLOP/s", "in calls, s", "computing, s", "speed-up", "messages", "one-sided")
	base := baseline(points).runs.Best()
	for _, p := range points {
		r := p.runs.Best()
		gain := ""
		if p.variant.OneSided {
			sent := pick(points, nas.Variant{Form: p.variant.Form}).runs.Best()
			gain = fmt.Sprintf("%.3f", sent.Seconds/r.Seconds)
		}
		fmt.Fprintf(w, "%-20s %10.3f %12.1f %14.3f %14.3f %10.3f %10d %12s\n", p.variant, r.Seconds, 1e-3*l.class.Mop()/r.Seconds,
			r.Totals.Communication, r.Seconds-r.Totals.Communication, base.Seconds/r.Seconds, r.Totals.Messages/max(r.Stats.Transforms, 1), gain)
	}
}

// chartScale draws the seconds in communication calls and beside them.
func (l *lab) chartScale(points []*point) error {
	if l.out == "" {
		return nil
	}
	total, calls := chart.BarSeries{Label: "whole run"}, chart.BarSeries{Label: "in communication calls"}
	var names []string
	for _, p := range points {
		names = append(names, p.variant.String())
		total.Y, calls.Y = append(total.Y, p.runs.Best().Seconds), append(calls.Y, p.runs.Best().Totals.Communication)
	}
	b := &chart.Bars{
		Title: fmt.Sprintf("NAS FT class %s, %d ranks, machine %s, simulated", l.class.Name, l.ranks, l.machine.Name), Note: l.machine.String(),
		X: chart.Axis{Title: "variant"}, Y: chart.Axis{Title: "time", Unit: "s"}, Groups: names, Series: []chart.BarSeries{total, calls},
	}
	return b.Write(l.file(fmt.Sprintf("scale-%s-%s-%d", l.machine.Name, l.class.Name, l.ranks)))
}

// setMachine reads the flag -machine.
func (c *config) setMachine(name string) (err error) {
	c.machineName = name
	if c.machine, err = cluster.Load(name); err == nil && c.machine.Kernels.FFT == 0 {
		err = errors.New(`the machine has no rate of transforms: add "fft" to its "kernels"`)
	}
	return err
}
