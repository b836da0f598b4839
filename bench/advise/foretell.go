package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// foretold is a mini-application whose time is projected from small runs, to twice and four times
// the largest size and to twice the number of ranks, and measured there.
type foretold struct {
	App, Net string
	Sizes    []int // that are run, on each number of Ranks
	Ranks    []int
	points   []*point
}

// point is a size and a number of ranks. Times are seconds of a step, as written and changed.
type point struct {
	Size, Ranks        int
	Projected, Changed float64
	Before, After      []float64
}

// Steps of a run for projections, and of one that measures.
const (
	setSteps = 1000
	farSteps = 200
)

func usualTargets() []*foretold {
	square, cube := []int{64, 128, 256}, []int{24, 32, 48}
	return []*foretold{
		{App: "jacobi", Net: "gige", Sizes: square, Ranks: []int{2, 4}},
		{App: "shallow", Net: "L=100us,bw=1Gbit", Sizes: square, Ranks: []int{2, 4}},
		{App: "cg", Net: "gige", Sizes: square, Ranks: []int{2, 4}},
		{App: "heat3", Net: "gige", Sizes: cube, Ranks: []int{2, 4}},
	}
}

// foretell projects, and measures. A round makes the runs for projections and those that measure,
// so that both meet the same changes of the speed of the machine.
func (s *study) foretell(x *foretold, before string) error {
	size, ranks := x.Sizes[len(x.Sizes)-1], x.Ranks[len(x.Ranks)-1]
	x.points = []*point{{Size: 2 * size, Ranks: ranks}, {Size: 4 * size, Ranks: ranks}, {Size: size, Ranks: 2 * ranks}}
	var d document
	runs, err := s.collect(x, &d, before, 0)
	if err != nil {
		return err
	}
	files, err := d.changed()
	if err != nil {
		return err
	}
	after, err := s.shop.build("far-"+x.App, appsPackage, files)
	if err != nil {
		return fmt.Errorf("the changed program: %w", err)
	}
	for rep := range s.reps {
		for _, p := range x.points {
			s.progress.Say("%s, size %d on %d ranks: round %d of %d", x.App, p.Size, p.Ranks, rep+1, s.reps)
			if err := s.arrive(x, p, before, after); err != nil {
				return err
			}
		}
		more, err := s.collect(x, &d, before, rep+1)
		if err != nil {
			return err
		}
		runs = append(runs, more...)
	}
	set, err := advise.NewSet(runs, d.usable())
	if err != nil {
		return err
	}
	for _, p := range x.points {
		forecast := set.Project(float64(p.Size), p.Ranks)
		p.Projected, p.Changed = forecast.Written/setSteps, forecast.Fixed/setSteps
	}
	return nil
}

// collect makes a run for projections of each size on each number of ranks, and adds its advice to d.
func (s *study) collect(x *foretold, d *document, before string, round int) (runs []*advise.Run, err error) {
	for _, n := range x.Sizes {
		for _, ranks := range x.Ranks {
			s.progress.Say("%s, size %d on %d ranks: a run for projections", x.App, n, ranks)
			j := appJob(&trial{App: x.App, Net: x.Net, Size: n, Ranks: ranks}, before, setSteps)
			j.results = filepath.Join(s.shop.dir, fmt.Sprintf("far-%s-%d-%d-%d.json", x.App, n, ranks, round))
			if _, _, err := j.steps(); err != nil {
				return nil, err
			}
			r, err := advise.ReadFile(j.results)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
			d.Runs = append(d.Runs, consider(j.results, r, 0))
		}
	}
	return runs, nil
}

// arrive measures at a point.
func (s *study) arrive(x *foretold, p *point, before, after string) error {
	t := &trial{App: x.App, Net: x.Net, Size: p.Size, Ranks: p.Ranks}
	was, _, err := appJob(t, before, farSteps).steps()
	if err != nil {
		return err
	}
	is, _, err := appJob(t, after, farSteps).steps()
	if err != nil {
		return err
	}
	p.Before, p.After = append(p.Before, was), append(p.After, is)
	return nil
}

// misses returns the relative errors of the projected times.
func (p *point) misses() (written, changed float64) {
	return p.Projected/report.Median(p.Before) - 1, p.Changed/report.Median(p.After) - 1
}

func printTargets(w io.Writer, all []*foretold) {
	worst, points := 0.0, 0
	for _, x := range all {
		fmt.Fprintf(w, "%s over %s, projected from sizes %v on %v ranks, seconds of a step:\n", x.App, x.Net, x.Sizes, x.Ranks)
		for _, p := range x.points {
			a, b := p.misses()
			worst, points = math.Max(worst, math.Max(math.Abs(a), math.Abs(b))), points+1
			fmt.Fprintf(w, "    size %d on %d ranks: as written %s, measured %s (%+.0f %%); changed %s, measured %s (%+.0f %%)\n", p.Size, p.Ranks,
				duration(p.Projected), duration(report.Median(p.Before)), 100*a, duration(p.Changed), duration(report.Median(p.After)), 100*b)
			report.Line(w, report.Text("kind", "foretold"), report.Text("program", x.App), report.Integer("size", p.Size), report.Integer("ranks", p.Ranks),
				report.Decimal("projected_seconds", p.Projected), report.Decimal("measured_seconds", report.Median(p.Before)), report.Decimal("error_percent", 100*a),
				report.Decimal("changed_projected_seconds", p.Changed), report.Decimal("changed_measured_seconds", report.Median(p.After)), report.Decimal("changed_error_percent", 100*b))
		}
	}
	if points > 0 {
		report.Line(w, report.Text("kind", "projections"), report.Integer("points", points), report.Decimal("worst_error_percent", 100*worst))
	}
}
