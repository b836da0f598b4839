package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi/local"
)

// group is a network and its measurements.
type group struct {
	name   string
	points []*point
}

// groups measures all networks in one progress mode. Memory has no modes: it is among those
// of host.
func (l *lab) groups(nic bool) (all []group, err error) {
	for _, name := range l.nets {
		net, err := l.network(name)
		if err != nil {
			return nil, err
		}
		if net == (local.Net{}) && nic {
			continue
		}
		net.NIC = nic
		points, err := l.columns(net)
		if err != nil {
			return nil, err
		}
		all = append(all, group{name, points})
	}
	return all, nil
}

// note returns the text at the foot of a chart.
func (l *lab) note(reps int) string {
	return fmt.Sprintf("%s; workers of a rank: %d; best of at most %d runs", machine.Line(), l.workers, reps)
}

// value returns the height of a column and the ends of its spread.
type value func(points []*point) (y, lo, hi float64)

// column is a series of a chart.
type column struct {
	label string
	value value
}

// drawColumns draws a chart for each progress mode, with a group of columns for each
// network: name-host and name-nic.
func (l *lab) drawColumns(w printer, name, title string, y chart.Axis, columns []column) error {
	for _, nic := range []bool{false, true} {
		groups, err := l.groups(nic)
		if err != nil {
			return err
		}
		if len(groups) == 0 {
			continue
		}
		b := &chart.Bars{
			Title: fmt.Sprintf("NAS FT class %s, %d ranks, progress %s: %s", l.class.Name, l.ranks, modeName(nic), title),
			Note:  l.note(l.reps),
			X:     chart.Axis{Title: "network"},
			Y:     y,
		}
		for _, c := range columns {
			b.Series = append(b.Series, chart.BarSeries{Label: c.label})
		}
		for _, g := range groups {
			b.Groups = append(b.Groups, g.name)
			for i, c := range columns {
				s := &b.Series[i]
				y, lo, hi := c.value(g.points)
				s.Y, s.Lo, s.Hi = append(s.Y, y), append(s.Lo, lo), append(s.Hi, hi)
			}
		}
		if err := l.show(w, name+"-"+modeName(nic), b); err != nil {
			return err
		}
	}
	return nil
}

// ratio returns how many times as fast as base p is, best against best, and with the
// slowest of p for the spread.
func ratio(base, p *point) (y, lo, hi float64) {
	y = base.runs.Best().Seconds / p.runs.Best().Seconds
	return y, base.runs.Best().Seconds / slices.Max(p.runs.Seconds()), y
}

// ratioAxis is the axis of a ratio of times; above 1 the second time is shorter.
func ratioAxis(title string) chart.Axis { return chart.Axis{Title: title, Mark: 1} }

// secondsAxis is logarithmic: networks differ a hundredfold.
var secondsAxis = chart.Axis{Title: "mean of the ranks, best run and range", Unit: "s", Log: true}

// drawSpeedup is figure 4 of the paper, over our own exchange.
func drawSpeedup(l *lab, w printer) error {
	var columns []column
	for _, f := range distributed.Forms()[1:] {
		columns = append(columns, column{f.String(), func(points []*point) (y, lo, hi float64) {
			return ratio(baseline(points), pick(points, nas.Variant{Form: f}))
		}})
	}
	if err := l.drawColumns(w, "speedup", "speed-up over exchange", ratioAxis("time of exchange / time of variant"), columns); err != nil {
		return err
	}
	return l.printOverlap(w)
}

// printOverlap says what overlap brings at best, and what tasks bring beyond schedules made
// by hand.
func (l *lab) printOverlap(w printer) error {
	fmt.Fprintf(w, "\n%-24s %22s %30s\n", "network and progress", "best over exchange", "tasks over slabs and pencils")
	for _, nic := range []bool{false, true} {
		groups, err := l.groups(nic)
		if err != nil {
			return err
		}
		for _, g := range groups {
			slabs, pencils := pick(g.points, nas.Variant{Form: distributed.Slabs}), pick(g.points, nas.Variant{Form: distributed.Pencils})
			tasks := pick(g.points, nas.Variant{Form: distributed.Tasks}).runs.Best().Seconds
			hand := math.Min(slabs.runs.Best().Seconds, pencils.runs.Best().Seconds)
			best := baseline(g.points).runs.Best().Seconds / math.Min(hand, tasks)
			fmt.Fprintf(w, "%-24s %22.3f %30.3f\n", g.name+" "+modeName(nic), best, hand/tasks)
		}
	}
	return nil
}

// drawCommunication is figure 6, with the exchange; a chart for each transport.
func drawCommunication(l *lab, w printer) error {
	for _, oneSided := range []bool{false, true} {
		var columns []column
		for _, f := range distributed.Forms() {
			columns = append(columns, column{f.String(), func(points []*point) (y, lo, hi float64) {
				return inCalls(pick(points, nas.Variant{Form: f, OneSided: oneSided}))
			}})
		}
		name, title := "communication", "time in communication calls"
		if oneSided {
			name, title = name+"-onesided", title+", one-sided"
		}
		if err := l.drawColumns(w, name, title, secondsAxis, columns); err != nil {
			return err
		}
	}
	return nil
}

// shortest is the least time that the clock tells from none: logarithmic charts have no 0.
const shortest = 1e-9

// inCalls returns the seconds in communication calls of the best run, and of all.
func inCalls(p *point) (y, lo, hi float64) {
	of := func(r *nas.Result) float64 { return math.Max(r.Totals.Communication, shortest) }
	y = of(p.runs.Best())
	lo, hi = y, y
	for _, r := range p.runs {
		lo, hi = math.Min(lo, of(r)), math.Max(hi, of(r))
	}
	return y, lo, hi
}

// drawOneSided is figure 7: the effect of the transport.
func drawOneSided(l *lab, w printer) error {
	var columns []column
	for _, f := range distributed.Forms() {
		columns = append(columns, column{f.String(), func(points []*point) (y, lo, hi float64) {
			return ratio(pick(points, nas.Variant{Form: f}), pick(points, nas.Variant{Form: f, OneSided: true}))
		}})
	}
	return l.drawColumns(w, "onesided", "one-sided over sent and received", ratioAxis("time two-sided / time one-sided"), columns)
}
