package main

import (
	"fmt"
	"time"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi/local"
)

// drawBandwidth goes from a quarter to sixteen times the balanced bandwidth.
func drawBandwidth(l *lab, w printer) error {
	b, err := l.balance()
	if err != nil {
		return err
	}
	factors := []float64{1. / 4, 1. / 2, 1 / 1.4, 1, 1.4, 2, 4, 16}
	if l.quick {
		factors = []float64{1. / 2, 1, 4}
	}
	var nets []local.Net
	var x []float64
	for _, f := range factors {
		net := b.net(f, balancedLatency)
		nets, x = append(nets, net), append(x, net.Bandwidth)
	}
	c := &chart.Lines{
		Title: fmt.Sprintf("NAS FT class %s, %d ranks: speed-up over exchange by bandwidth (latency %v)", l.class.Name, l.ranks, balancedLatency),
		X:     chart.Axis{Title: "bandwidth of a rank and direction", Unit: "bytes/s", Log: true},
	}
	return l.sweep(w, "bandwidth", c, x, nets)
}

// drawLatency goes up to some milliseconds, at the balanced bandwidth.
func drawLatency(l *lab, w printer) error {
	b, err := l.balance()
	if err != nil {
		return err
	}
	latencies := []time.Duration{time.Microsecond, balancedLatency, 100 * time.Microsecond, 500 * time.Microsecond, 2 * time.Millisecond, 10 * time.Millisecond}
	if l.quick {
		latencies = []time.Duration{time.Microsecond, 100 * time.Microsecond}
	}
	var nets []local.Net
	var x []float64
	for _, d := range latencies {
		nets, x = append(nets, b.net(1, d)), append(x, d.Seconds())
	}
	c := &chart.Lines{
		Title: fmt.Sprintf("NAS FT class %s, %d ranks: speed-up over exchange by latency (balanced bandwidth)", l.class.Name, l.ranks),
		X:     chart.Axis{Title: "latency", Unit: "s", Log: true},
	}
	return l.sweep(w, "latency", c, x, nets)
}

// sweep measures on all networks in both modes, and draws a curve for each form and
// mode.
func (l *lab) sweep(w printer, name string, c *chart.Lines, x []float64, nets []local.Net) error {
	c.Note = l.note(min(l.reps, curveReps))
	c.Y = ratioAxis("time of exchange / time of variant")
	c.Y.Log = true // twice as fast is as far from 1 as half as fast
	for _, nic := range []bool{false, true} {
		curves := make([]chart.Series, 0, len(distributed.Forms()))
		for _, f := range distributed.Forms()[1:] {
			s := chart.Series{Label: f.String() + ", " + modeName(nic), X: x}
			if nic {
				s.Of = f.String() + ", " + modeName(false)
			}
			curves = append(curves, s)
		}
		for _, net := range nets {
			net.NIC = nic
			points, err := l.curve(net)
			if err != nil {
				return err
			}
			for i, f := range distributed.Forms()[1:] {
				y, lo, hi := ratio(baseline(points), pick(points, nas.Variant{Form: f}))
				curves[i].Y, curves[i].Lo, curves[i].Hi = append(curves[i].Y, y), append(curves[i].Lo, lo), append(curves[i].Hi, hi)
			}
		}
		c.Series = append(c.Series, curves...)
	}
	return l.showLines(w, name, c)
}
