package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// Limits of a study.
const (
	matters  = 0.10 // share of a step from which a saving is judged
	slower   = 0.02 // a change that slows a program by more is false advice
	learned  = 256  // the largest size that a projection has seen, of a square
	learned3 = 64   // and of a cube
)

// study sets prediction against measurement: the border exchange of example 10 is run,
// advised, changed, built and run again.
type study struct {
	shop     *workshop
	reps     int
	loop     float64 // seconds that a run should take
	net      string
	sizes    [3][]int // by dimension
	ranks    [3]int
	progress *report.Progress

	cells       []*cell
	projections []*forecast
	innocents   []*innocent
}

// cell is one dimension and size. Times are seconds of a step: medians of the steps of a run,
// which the interruptions of a busy machine move less than the mean.
type cell struct {
	Dims, Size, Ranks, Steps int
	Predicted, Low, High     float64   // saving
	Advised                  bool      // with the usual -min
	Before, After, Tool      []float64 // by round
	Means                    [3][]float64
	run                      *advise.Run
}

// forecast is a saving that smaller sizes foretell, by step.
type forecast struct {
	Dims, Size int
	Largest    int // size that was known
	Saving     float64
	of         *cell
}

// sizes of a study.
var (
	usualSizes = [3][]int{{64, 128, 256, 512, 1024}, {64, 128, 256, 512, 1024}, {32, 48, 64, 96, 128}}
	quickSizes = [3][]int{{32, 64}, {32, 64}, {16, 32}}
)

// measure makes a study and prints it.
func (c *config) measure(stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "advise")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &study{shop: &workshop{dir}, reps: c.reps, loop: c.loop, net: c.net, sizes: usualSizes, ranks: c.ranks, progress: report.NewProgress(stderr)}
	if c.quick {
		s.sizes = quickSizes
	}
	for _, dims := range c.dims {
		if err := s.dimension(dims); err != nil {
			return fmt.Errorf("%d-D: %w", dims, err)
		}
	}
	if c.others {
		err = s.acquit(c.quick)
	}
	s.progress.Clear()
	s.print(stdout) // the results so far, also if other cells failed
	if c.out != "" {
		err = errors.Join(err, s.write(c.out))
	}
	return err
}

// dimension measures the exchange of a grid that is cut in dims dimensions.
func (s *study) dimension(dims int) error {
	before, err := s.shop.build("before", "examples/10-advise", nil)
	if err != nil {
		return err
	}
	var cells []*cell
	var d document
	for _, n := range s.sizes[dims-1] {
		x := &cell{Dims: dims, Size: n, Ranks: s.ranks[dims-1]}
		s.progress.Say("%d-D, size %d: advice", dims, n)
		a, err := s.predict(x, before)
		if err != nil {
			return err
		}
		d.Runs = append(d.Runs, a)
		cells = append(cells, x)
	}
	files, err := d.changed()
	switch {
	case err != nil:
		return err
	case len(files) == 0:
		return fmt.Errorf("no change of the exchange was proven: %s", reasons(d.Runs[0]))
	}
	after, err := s.shop.build("after", "examples/10-advise", files)
	if err != nil {
		return fmt.Errorf("the changed program: %w", err)
	}
	for _, x := range cells {
		if err := s.compare(x, before, after); err != nil {
			return err
		}
	}
	s.cells = append(s.cells, cells...)
	return s.project(dims, cells, &d)
}

func reasons(a *advice) (text string) {
	for _, x := range a.Refused {
		text += x.Place + ": " + x.Reason + "; "
	}
	return text
}

// job is a run of a cell's exchange.
func (s *study) job(x *cell, program string, steps int) *job {
	return &job{program: program, size: float64(x.Size), args: []string{"-dims", fmt.Sprint(x.Dims), "-n", fmt.Sprint(x.Size),
		"-ranks", fmt.Sprint(x.Ranks), "-net", s.net, "-steps", fmt.Sprint(steps)}}
}

// Steps of a run: in the trial run that determines the number for the others, and the minimum.
const (
	fewSteps   = 40
	leastSteps = 100
	mostSteps  = 20_000
)

// steps returns how many steps take as long as a run should, what checks them included.
func (s *study) steps(x *cell, program string) (int, error) {
	_, one, err := s.job(x, program, 1).run()
	if err != nil {
		return 0, err
	}
	_, many, err := s.job(x, program, 1+fewSteps).run()
	if err != nil {
		return 0, err
	}
	each := max((many-one)/fewSteps, 1e-5)
	return min(max(int(s.loop/each), leastSteps), mostSteps), nil
}

// predict runs the program under the tool. It takes every proven change as advice, however
// little it saves, because the changed program makes them all.
func (s *study) predict(x *cell, program string) (*advice, error) {
	var err error
	if x.Steps, err = s.steps(x, program); err != nil {
		return nil, err
	}
	j := s.job(x, program, x.Steps)
	j.results = filepath.Join(s.shop.dir, fmt.Sprintf("%d-%d.json", x.Dims, x.Size))
	if _, _, err := j.exchange(); err != nil {
		return nil, err
	}
	if x.run, err = advise.ReadFile(j.results); err != nil {
		return nil, err
	}
	x.Advised = len(consider(j.results, x.run, usualMin/100).Items) > 0
	a := consider(j.results, x.run, 0)
	a.Items = append(a.Items, a.Small...)
	for _, it := range a.Items {
		passes := it.Saving.Passes / float64(x.Steps)
		x.Predicted += it.Saving.Total / float64(x.Steps)
		x.Low += it.Saving.Low * passes
		x.High += it.Saving.High * passes
	}
	return a, nil
}

// compare runs the program, the changed one and the instrumented one in turn.
func (s *study) compare(x *cell, before, after string) error {
	tool := s.job(x, before, x.Steps)
	tool.results, tool.bare = filepath.Join(s.shop.dir, "overhead.json"), true
	forms := []struct {
		j  *job
		to *[]float64
	}{{s.job(x, before, x.Steps), &x.Before}, {s.job(x, after, x.Steps), &x.After}, {tool, &x.Tool}}
	for rep := range s.reps {
		s.progress.Say("%d-D, size %d: round %d of %d", x.Dims, x.Size, rep+1, s.reps)
		for i := range forms {
			k := (i + rep) % len(forms)
			f := forms[k]
			t, mean, err := f.j.exchange()
			if err != nil {
				return err
			}
			*f.to = append(*f.to, t)
			x.Means[k] = append(x.Means[k], mean)
		}
	}
	return nil
}

// project predicts the savings of the larger sizes from the smaller ones.
func (s *study) project(dims int, cells []*cell, d *document) error {
	most := learned
	if dims == 3 {
		most = learned3
	}
	var runs []*advise.Run
	largest := 0
	for _, x := range cells {
		if x.Size <= most {
			runs = append(runs, x.run)
			largest = max(largest, x.Size)
		}
	}
	x := slices.MaxFunc(cells, func(a, b *cell) int { return a.Size - b.Size })
	if len(runs) < 2 || x.Size <= most {
		return nil
	}
	set, err := advise.NewSet(runs, d.usable())
	if err != nil {
		return err
	}
	f := &forecast{Dims: dims, Size: x.Size, Largest: largest, of: x}
	p := set.Project(float64(x.Size), x.Ranks)
	for _, chain := range p.Chains {
		f.Saving += chain.PerPass
	}
	s.projections = append(s.projections, f)
	return nil
}

// saved returns what a step of the changed program saves: the median over the rounds, and
// the least and the most.
func (x *cell) saved() (median, least, most float64) {
	d := differences(x.Before, x.After)
	return report.Median(d), slices.Min(d), slices.Max(d)
}

// overhead returns the share of a step that the tool adds.
func (x *cell) overhead() float64 {
	return report.Median(differences(x.Tool, x.Before)) / report.Median(x.Before)
}

func differences(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// miss returns the relative error of a prediction; judged is false where the saving is
// too small to be.
func (x *cell) miss(predicted float64) (relative float64, judged bool) {
	saved, _, _ := x.saved()
	if saved < matters*report.Median(x.Before) {
		return 0, false
	}
	return predicted/saved - 1, true
}

// isFalse reports whether the program has been slowed by following the advice: beyond the
// limit, and in most of the rounds.
func (x *cell) isFalse() bool {
	worse := slices.DeleteFunc(differences(x.After, x.Before), func(d float64) bool { return d <= 0 })
	return x.Advised && report.Median(x.After) > (1+slower)*report.Median(x.Before) && 2*len(worse) > len(x.Before)
}
