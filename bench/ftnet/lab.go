package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// lab measures points and keeps them, because figures share points.
type lab struct {
	*config
	progress *report.Progress
	points   map[string][]*point
	order    []string // keys of points, in the order of measuring
	measured *balance
}

// point is the runs of one variant on one network.
type point struct {
	net     local.Net
	variant nas.Variant
	runs    nas.Runs
}

func newLab(c *config, progress *report.Progress) *lab {
	return &lab{config: c, progress: progress, points: map[string][]*point{}}
}

// oneSided reports whether a figure that was asked for compares transports: then all
// networks are measured with both.
func (l *lab) oneSided() bool {
	return slices.ContainsFunc(l.figures, func(f *figure) bool { return f.oneSided })
}

// columns returns the points of a network for the column charts: all forms, and both
// transports if a figure needs them.
func (l *lab) columns(net local.Net) ([]*point, error) { return l.at(net, l.oneSided(), l.reps) }

// curve returns the points of a network in the charts of curves, which are of forms.
func (l *lab) curve(net local.Net) ([]*point, error) {
	return l.at(net, false, min(l.reps, curveReps))
}

// at returns the points of a network: all forms, and with oneSided both transports. It
// measures no point twice.
func (l *lab) at(net local.Net, oneSided bool, reps int) ([]*point, error) {
	key := net.String()
	have := l.points[key]
	all := nas.Variants(oneSided || len(have) > len(distributed.Forms()))
	if len(have) == len(all) {
		return have, nil
	}
	points := make([]*point, len(all))
	for i, v := range all {
		points[i] = &point{net: net, variant: v}
	}
	if err := l.measure(net, points, reps); err != nil {
		return nil, fmt.Errorf("net %s: %w", net, err)
	}
	if have == nil {
		l.order = append(l.order, key)
	}
	l.points[key] = points
	return points, nil
}

// measure runs the variants in turn, repetition by repetition, until there are enough or
// patience is at its end. Wrong checksums are an error.
func (l *lab) measure(net local.Net, points []*point, reps int) error {
	w := world.Default()
	w.Ranks, w.Net = l.ranks, net
	return w.Run(func(comm *mpi.Comm) error {
		for rep, begin := 0, time.Now(); rep < reps; rep++ {
			enough := rep >= leastReps && time.Since(begin) > l.patience
			if err := comm.Bcast(mpi.One(&enough), 0); err != nil || enough {
				return err
			}
			for i := range points {
				p := points[(i+rep)%len(points)] // nobody is always the first
				if comm.Rank() == 0 {
					l.progress.Say("net %s, repetition %d of %d, %s", net, rep+1, reps, p.variant)
				}
				r, err := nas.Once(comm, l.class, l.dist(p.variant))
				if err == nil {
					err = r.Verdict
				}
				if err != nil {
					return fmt.Errorf("%s: %w", p.variant, err)
				}
				if comm.Rank() == 0 {
					p.runs = append(p.runs, r)
				}
			}
		}
		return nil
	})
}

// dist returns how a variant transforms.
func (l *lab) dist(v nas.Variant) distributed.Config {
	d := distributed.Config{Form: v.Form, OneSided: v.OneSided, Workers: l.workers, Pad: l.pad}
	if v.Form != distributed.Exchange && (v.Form != distributed.Tasks || l.line.Given("stage")) {
		d.Stage = l.stage
	}
	return d
}

// balance measures the computation of a run, without a network, once.
func (l *lab) balance() (balance, error) {
	if l.measured != nil {
		return *l.measured, nil
	}
	points, err := l.columns(local.Net{})
	if err != nil {
		return balance{}, err
	}
	b := balance{compute: math.Inf(1)}
	for _, r := range baseline(points).runs { // others can only slow a run down
		b.compute = math.Min(b.compute, r.Seconds-r.Totals.Communication)
		b.bytes = r.Totals.Bytes / float64(l.ranks)
	}
	if !(b.compute > 0) || !(b.bytes > 0) {
		return b, fmt.Errorf("without a network the computation takes %.3g s, and a rank sends %.0f bytes: there is nothing to balance", b.compute, b.bytes)
	}
	l.measured = &b
	return b, nil
}

// baseline returns the exchange, sent and received, among points.
func baseline(points []*point) *point { return pick(points, nas.Variant{}) }

// pick returns the point of a variant; all are there.
func pick(points []*point, v nas.Variant) *point {
	i := slices.IndexFunc(points, func(p *point) bool { return p.variant == v })
	return points[i]
}

// printResults prints a result line for every point.
func (l *lab) printResults(w printer) {
	for _, key := range l.order {
		exchange := baseline(l.points[key])
		for _, p := range l.points[key] {
			best, t := p.runs.Best(), p.runs.Best().Totals
			pairs := []string{
				report.Text("class", l.class.Name), report.Text("variant", p.variant.Form.String()), report.Text("onesided", fmt.Sprint(p.variant.OneSided)),
				report.Text("net", key), report.Decimal("seconds_best", best.Seconds), report.Decimal("seconds_median", report.Median(p.runs.Seconds())),
				report.Decimal("speedup", exchange.runs.Best().Seconds/best.Seconds), report.Decimal("mops_best", l.class.Mop()/best.Seconds),
				report.Decimal("communication_seconds", t.Communication), report.Integer("messages", t.Messages), report.Integer("bytes", int(t.Bytes)),
				report.Integer("message_bytes_min", t.Smallest), report.Integer("message_bytes_max", t.Largest),
				report.Integer("ranks", l.ranks), report.Integer("workers", l.workers), report.Integer("reps", len(p.runs)),
			}
			if l.machine != nil {
				pairs = append(pairs, report.Text("machine", l.machine.Name))
			}
			report.Line(w, pairs...)
		}
	}
}
