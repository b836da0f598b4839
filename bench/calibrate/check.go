package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/virtual"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// subject is a program that is measured on this machine and predicted on a simulated one.
type subject struct {
	group   string // subjects of a group solve the same problem in the same place
	variant string
	same    bool // as the blocking driver: look-ahead with one process column
	fourier bool // its speed is that of transforms
	ranks   int
	workers int // of each rank
	net     local.Net

	// run runs the program once; with kernels nil, it computes. Collective.
	run func(c *mpi.Comm, kernels *cluster.Kernels) (seconds float64, err error)

	measured, predicted, errors []float64 // of the rounds; errors are predicted / measured - 1
}

// checkedNets are the networks of a check; none means messages as measured between threads.
var checkedNets = []string{"none", "gige", "10gige"}

// nameOf returns the name of one of them.
func nameOf(net local.Net) string { return cmp.Or(net.Name, checkedNets[0]) }

// linpackSubjects are the three drivers at orders, on one rank with all cores and on two ranks.
func linpackSubjects(o options, net local.Net, orders []int) (all []*subject) {
	grids := []hpldat.Grid{{P: 1, Q: 2}, {P: 2, Q: 1}}
	if net == (local.Net{}) {
		grids = slices.Insert(grids, 0, hpldat.Grid{P: 1, Q: 1})
	}
	for _, n := range orders {
		for _, g := range grids {
			for _, v := range []hpl.Variant{hpl.Task, hpl.LookAhead, hpl.Blocking} {
				s := &subject{
					group:   fmt.Sprintf("hpl N=%d %dx%d %s", n, g.P, g.Q, nameOf(net)),
					variant: hplrun.Variants[v], same: v == hpl.Blocking || v == hpl.LookAhead && g.Q == 1, ranks: g.P * g.Q, workers: checkedCores / (g.P * g.Q), net: net,
				}
				x := hpl.Default(n)
				x.NB, x.P, x.Q = hpl.BlockWidth(n, g.P, checkedCores, o.kernels), g.P, g.Q
				x.Variant, x.Workers = v, s.workers
				s.run = func(c *mpi.Comm, kernels *cluster.Kernels) (float64, error) {
					mine := x
					if mine.Kernels = o.kernels; kernels != nil {
						mine.Kernels = modelled.New(*kernels)
					}
					r, err := hpl.Run(c, mine)
					if err == nil && kernels == nil && (r.Singular != 0 || !(r.Residual < 16)) {
						err = fmt.Errorf("the residual is %v: it has to be below 16", r.Residual)
					}
					return r.Seconds, err
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// fourierSubjects are the forms of NAS FT, of classes, on two ranks.
func fourierSubjects(net local.Net, classes []string) (all []*subject, err error) {
	for _, name := range classes {
		class, err := nas.Named(name)
		if err != nil {
			return nil, err
		}
		for _, form := range distributed.Forms() {
			s := &subject{
				group: fmt.Sprintf("ft %s %s", class.Name, nameOf(net)), variant: form.String(), fourier: true, ranks: checkedCores, workers: 1, net: net,
			}
			s.run = func(c *mpi.Comm, kernels *cluster.Kernels) (seconds float64, err error) {
				cfg := distributed.Config{Form: form, Workers: 1}
				if kernels != nil {
					if cfg.Kernels, err = modelled.Transforms(*kernels); err != nil {
						return 0, err
					}
				}
				r, err := nas.Once(c, class, cfg)
				if err != nil {
					return 0, err
				}
				return r.Seconds, r.Verdict
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// checkedCores is the number of cores that the subjects use, one for each rank or worker.
const checkedCores = 2

// here runs s once on this machine, and returns the seconds of rank 0.
func (s *subject) here() (seconds float64, err error) {
	w := world.Default()
	w.Ranks, w.Net, w.Quiet = s.ranks, s.net, true
	err = w.Run(func(c *mpi.Comm) error {
		took, err := s.run(c, nil)
		if c.Rank() == 0 {
			seconds = took
		}
		return err
	})
	return seconds, err
}

// simulate runs s on the machine m, whose cores have the given speeds.
func (s *subject) simulate(m *cluster.Machine, speeds []float64) (seconds float64, err error) {
	mine := *m
	mine.Speeds = speeds
	mine.Nodes, mine.Cores = s.ranks, s.workers
	err = virtual.Run(&mine, s.ranks, func(c *mpi.Comm) error {
		took, err := s.run(c, &mine.Kernels)
		if c.Rank() == 0 {
			seconds = took
		}
		return err
	})
	return seconds, err
}

// round measures and predicts s once more: the medians of three runs, more if they are short. Each
// is predicted with the speeds that the cores had before and after it.
func (s *subject) round(m *cluster.Machine, p paces) error {
	const least, most, enough = 3, 15, 0.3 // runs, runs, seconds
	var measured, predicted, errors []float64
	known := map[[checkedCores]float64]float64{} // predictions by speeds
	for total := 0.0; len(measured) < least || total < enough && len(measured) < most; {
		before := p.speeds()
		took, err := s.here()
		if err != nil {
			return fmt.Errorf("%s, %s: %w", s.group, s.variant, err)
		}
		speeds := between(before, p.speeds())
		if known[speeds] == 0 {
			if known[speeds], err = s.simulate(m, speeds[:]); err != nil {
				return fmt.Errorf("%s, %s, simulated: %w", s.group, s.variant, err)
			}
		}
		measured, predicted, errors = append(measured, took), append(predicted, known[speeds]), append(errors, known[speeds]/took-1)
		total += took
	}
	s.measured = append(s.measured, report.Median(measured))
	s.predicted = append(s.predicted, report.Median(predicted))
	s.errors = append(s.errors, report.Median(errors))
	return nil
}

// between returns the means of the speeds of the first cores, in steps, because each has a simulation
// of its own.
func between(before, after []float64) (mean [checkedCores]float64) {
	const steps = 20
	for i := range mean {
		mean[i] = math.Round(steps*(before[i]+after[i])/2) / steps
	}
	return mean
}

// check measures this machine and the subjects on it, round by round, so that a machine that
// changes its speed is predicted with the speed that it has in that minute.
func check(o options, stdout io.Writer) error {
	all, err := subjects(o)
	if err != nil {
		return err
	}
	w := newWatch(o.kernels)
	progress := report.NewProgress(os.Stderr)
	defer progress.Clear()
	for round := range o.rounds {
		progress.Say("round %d of %d: calibration", round+1, o.rounds)
		m, err := measure(o, w)
		if err != nil {
			return err
		}
		for _, s := range all {
			progress.Say("round %d of %d, %s, %s", round+1, o.rounds, s.group, s.variant)
			mine := *m
			mine.Network.Net = beyond(m.Network.Net, s.net)
			p := w.products
			if s.fourier {
				p = w.transforms
			}
			if err := s.round(&mine, p); err != nil {
				return err
			}
		}
	}
	progress.Clear()
	printSubjects(all, stdout)
	return nil
}

// subjects returns all that are checked.
func subjects(o options) (all []*subject, err error) {
	orders, classes := []int{1000, 2000, 4000}, []string{"W", "A"}
	if o.quick {
		orders, classes = []int{500}, []string{"S"}
	}
	for _, name := range checkedNets {
		net, err := local.ParseNet(name)
		if err != nil {
			return nil, err
		}
		fourier, err := fourierSubjects(net, classes)
		if err != nil {
			return nil, err
		}
		all = append(append(all, linpackSubjects(o, net, orders)...), fourier...)
	}
	all = slices.DeleteFunc(all, func(s *subject) bool { return !strings.Contains(s.group+" "+s.variant, o.only) })
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: -only %q: no problem and driver have it in their names, which are like %q", world.ErrUsage, o.only, "hpl N=1000 1x2 gige task")
	}
	return all, nil
}

// printSubjects prints the medians of the rounds, the errors of LINPACK and of NAS FT, and how many
// pairs in a group that differ are predicted in their order.
func printSubjects(all []*subject, w io.Writer) {
	fmt.Fprintf(w, "%-24s %-11s %10s %11s %8s\n", "problem", "variant", "seconds", "predicted", "error")
	for _, s := range all {
		fmt.Fprintf(w, "%-24s %-11s %10.5f %11.5f %7.1f%%\n", s.group, s.variant, report.Median(s.measured), report.Median(s.predicted), 100*report.Median(s.errors))
	}
	fmt.Fprintln(w)
	for _, program := range []string{"hpl", "ft"} {
		var misses []float64
		worst := &subject{}
		for _, s := range all {
			if s.group[:len(program)] != program {
				continue
			}
			e := math.Abs(report.Median(s.errors))
			if misses = append(misses, e); e >= slices.Max(misses) {
				worst = s
			}
		}
		if len(misses) == 0 {
			continue
		}
		right, pairs := ordered(all, program)
		report.Line(w, report.Text("check", program), report.Integer("points", len(misses)), report.Integer("rounds", len(worst.errors)),
			report.Decimal("error_median", report.Median(misses)), report.Decimal("error_max", slices.Max(misses)),
			report.Text("worst", worst.group+" "+worst.variant), report.Integer("pairs", pairs), report.Integer("pairs_in_order", right))
	}
}

// ordered counts the pairs of subjects of a program that solve the same problem and differ, and
// those of them whose predictions have the same order. Two differ if their medians are 5 % apart or
// more and one was the faster in every round, and not if they are the same driver: there, what
// differs is the machine.
func ordered(all []*subject, program string) (right, pairs int) {
	const apart = 1.05
	for i, a := range all {
		for _, b := range all[:i] {
			if a.group != b.group || a.group[:len(program)] != program || a.same && b.same {
				continue
			}
			fast, slow := a, b
			if report.Median(a.measured) > report.Median(b.measured) {
				fast, slow = b, a
			}
			if report.Median(slow.measured) < apart*report.Median(fast.measured) || !alwaysBelow(fast.measured, slow.measured) {
				continue
			}
			pairs++
			if report.Median(slow.predicted) > report.Median(fast.predicted) {
				right++
			}
		}
	}
	return right, pairs
}

// alwaysBelow reports whether each element of a is below that of b.
func alwaysBelow(a, b []float64) bool {
	for i := range a {
		if a[i] >= b[i] {
			return false
		}
	}
	return true
}
