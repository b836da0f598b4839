package main

import (
	"fmt"
	"math"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/fft/dist"
	"github.com/weft-hpc/weft/fft/nas"
	"github.com/weft-hpc/weft/mpi/local"
)

// group is a network in one progress mode, and what was measured on it.
type group struct {
	name   string
	points []*point
}

// groups measures all networks in both progress modes.
func (l *lab) groups() (all []group, err error) {
	for _, name := range l.nets {
		net, err := l.network(name)
		if err != nil {
			return nil, err
		}
		for _, nic := range []bool{false, true} {
			net.NIC = nic
			points, err := l.at(net, l.oneSided())
			if err != nil {
				return nil, err
			}
			all = append(all, group{name + " " + modeName(nic), points})
			if net == (local.Net{}) || net == (local.Net{NIC: true}) {
				break // memory has no modes
			}
		}
	}
	return all, nil
}

// columns makes a series with one value per group: value returns it, and the ends of
// its spread.
func columns(label string, groups []group, value func(points []*point) (y, lo, hi float64)) chart.BarSeries {
	s := chart.BarSeries{Label: label}
	for _, g := range groups {
		y, lo, hi := value(g.points)
		s.Y, s.Lo, s.Hi = append(s.Y, y), append(s.Lo, lo), append(s.Hi, hi)
	}
	return s
}

func groupNames(groups []group) (names []string) {
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// ratio returns how many times as fast as base p is, best against best, and with the
// slowest of p for the spread.
func ratio(base, p *point) (y, lo, hi float64) {
	y = base.best().Seconds / p.best().Seconds
	return y, base.best().Seconds / p.slowest(), y
}

// drawSpeedup is figure 4 of the paper, over our own exchange.
func drawSpeedup(l *lab, w printer) error {
	groups, err := l.groups()
	if err != nil {
		return err
	}
	b := &chart.Bars{
		Title:  fmt.Sprintf("NAS FT class %s on %d ranks: speed-up over exchange", l.class.Name, l.ranks),
		X:      chart.Axis{Title: "network and progress"},
		Y:      chart.Axis{Title: "time of exchange / time of variant"},
		Groups: groupNames(groups),
	}
	for _, f := range dist.Forms()[1:] {
		b.Series = append(b.Series, columns(f.String(), groups, func(points []*point) (y, lo, hi float64) {
			return ratio(baseline(points), pick(points, nas.Variant{Form: f}))
		}))
	}
	printOverlap(w, groups)
	return l.show(w, "speedup", b)
}

// printOverlap says what overlap brings at best, and what tasks bring beyond schedules made
// by hand.
func printOverlap(w printer, groups []group) {
	fmt.Fprintf(w, "\n%-24s %22s %30s\n", "network and progress", "best over exchange", "tasks over slabs and pencils")
	for _, g := range groups {
		slabs, pencils := pick(g.points, nas.Variant{Form: dist.Slabs}), pick(g.points, nas.Variant{Form: dist.Pencils})
		tasks := pick(g.points, nas.Variant{Form: dist.Tasks}).best().Seconds
		hand := math.Min(slabs.best().Seconds, pencils.best().Seconds)
		fmt.Fprintf(w, "%-24s %22.3f %30.3f\n", g.name, baseline(g.points).best().Seconds/math.Min(hand, tasks), hand/tasks)
	}
}

// drawCommunication is figure 6, with the exchange, whose time is all of it.
func drawCommunication(l *lab, w printer) error {
	groups, err := l.groups()
	if err != nil {
		return err
	}
	b := &chart.Bars{
		Title:  fmt.Sprintf("NAS FT class %s on %d ranks: time in communication calls", l.class.Name, l.ranks),
		X:      chart.Axis{Title: "network and progress"},
		Y:      chart.Axis{Title: "mean of the ranks, best run", Unit: "s"},
		Groups: groupNames(groups),
	}
	for _, v := range nas.Variants(true) {
		b.Series = append(b.Series, columns(v.String(), groups, func(points []*point) (y, lo, hi float64) {
			p := pick(points, v)
			y = p.best().Totals.Communication
			lo, hi = y, y
			for _, r := range p.runs {
				lo, hi = math.Min(lo, r.Totals.Communication), math.Max(hi, r.Totals.Communication)
			}
			return y, lo, hi
		}))
	}
	return l.show(w, "communication", b)
}

// drawOneSided is figure 7: what the transport changes.
func drawOneSided(l *lab, w printer) error {
	groups, err := l.groups()
	if err != nil {
		return err
	}
	b := &chart.Bars{
		Title:  fmt.Sprintf("NAS FT class %s on %d ranks: one-sided over sent and received", l.class.Name, l.ranks),
		X:      chart.Axis{Title: "network and progress"},
		Y:      chart.Axis{Title: "time two-sided / time one-sided"},
		Groups: groupNames(groups),
	}
	for _, f := range dist.Forms() {
		b.Series = append(b.Series, columns(f.String(), groups, func(points []*point) (y, lo, hi float64) {
			return ratio(pick(points, nas.Variant{Form: f}), pick(points, nas.Variant{Form: f, OneSided: true}))
		}))
	}
	return l.show(w, "onesided", b)
}
