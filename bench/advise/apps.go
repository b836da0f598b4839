package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// appsPackage is the mini-applications: simulations that nobody looked at when the predictions
// were made.
const appsPackage = "bench/advise/testdata/miniapps"

// trial is a mini-application on a network. Times are seconds of a step: the mean of a run.
type trial struct {
	App, Net            string
	Size, Ranks, Steps  int
	Predicted           []float64 // savings, with their intervals
	Low, High           []float64
	Advised             bool // with the usual -min
	Before, After, Tool []float64
	Same                bool // the changed program gave the same bytes
}

// usualTrials are one or two networks and sizes for each mini-application: other ones than those
// from which the errors of predictions (internal/advise) were taken.
func usualTrials() []*trial {
	const fast, slow, far = "L=40us,bw=2Gbit", "L=100us,bw=1Gbit", "gige,progress=nic"
	return []*trial{
		{App: "jacobi", Net: far, Size: 384, Ranks: 4}, {App: "jacobi", Net: fast, Size: 640, Ranks: 2},
		{App: "wave", Net: slow, Size: 256, Ranks: 4}, {App: "wave", Net: far, Size: 256, Ranks: 2},
		{App: "life", Net: slow, Size: 384, Ranks: 4}, {App: "life", Net: "gige", Size: 512, Ranks: 2},
		{App: "advection", Net: fast, Size: 256, Ranks: 4}, {App: "advection", Net: slow, Size: 512, Ranks: 4},
		{App: "maxwell", Net: fast, Size: 192, Ranks: 4}, {App: "boltzmann", Net: far, Size: 96, Ranks: 4},
		{App: "shallow", Net: far, Size: 192, Ranks: 2}, {App: "shallow", Net: fast, Size: 320, Ranks: 4},
		{App: "heat3", Net: far, Size: 40, Ranks: 4}, {App: "heat3", Net: slow, Size: 32, Ranks: 8},
		{App: "cg", Net: slow, Size: 192, Ranks: 4}, {App: "graph", Net: fast, Size: 256, Ranks: 4},
		{App: "uneven", Net: fast, Size: 192, Ranks: 4}, {App: "stencil9", Net: far, Size: 320, Ranks: 4},
		{App: "reaction", Net: "gige", Size: 256, Ranks: 4}, {App: "reaction", Net: "10gige", Size: 128, Ranks: 2},
		{App: "euler", Net: "gige", Size: 192, Ranks: 4}, {App: "euler", Net: slow, Size: 128, Ranks: 2},
		{App: "parity", Net: "gige", Size: 256, Ranks: 4}, {App: "parity", Net: fast, Size: 384, Ranks: 2},
	}
}

// measureApps sets prediction against measurement for the mini-applications.
func (c *config) measureApps(stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "advise")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &study{shop: &workshop{dir}, reps: c.reps, loop: c.loop, progress: report.NewProgress(stderr)}
	before, err := s.shop.build("apps", appsPackage, nil)
	if err != nil {
		return err
	}
	trials := usualTrials()
	if c.quick {
		trials = trials[:2]
	}
	for i, x := range trials {
		if err := s.attempt(x, before, i); err != nil {
			return fmt.Errorf("%s over %s: %w", x.App, x.Net, err)
		}
	}
	far := usualTargets()
	if c.quick {
		far = far[:0]
	}
	for _, x := range far {
		if err := s.foretell(x, before); err != nil {
			return fmt.Errorf("projection of %s: %w", x.App, err)
		}
	}
	s.progress.Clear()
	printTrials(stdout, trials)
	printTargets(stdout, far)
	if c.out != "" {
		return writeTrials(c.out+".csv", trials)
	}
	return nil
}

// appJob is a run of a mini-application.
func appJob(x *trial, program string, steps int) *job {
	return &job{program: program, size: float64(x.Size), args: []string{"-app", x.App, "-n", strconv.Itoa(x.Size), "-ranks", strconv.Itoa(x.Ranks), "-net", x.Net, "-steps", strconv.Itoa(steps)}}
}

// steps runs a mini-application, and returns the mean seconds of a step, and its sum of bytes.
func (j *job) steps() (mean float64, sum string, err error) {
	out, _, err := j.run()
	if err != nil {
		return 0, "", err
	}
	var median float64
	if _, err = fmt.Sscanf(out, "mean %f median %f sum", &mean, &median); err != nil {
		return 0, "", fmt.Errorf("%s %s printed %q", filepath.Base(j.program), strings.Join(j.args, " "), out)
	}
	return mean, out[strings.Index(out, "sum"):], nil
}

// attempt advises, changes and measures.
func (s *study) attempt(x *trial, before string, number int) error {
	s.progress.Say("%s over %s: advice", x.App, x.Net)
	each, _, err := appJob(x, before, fewSteps).steps()
	if err != nil {
		return err
	}
	x.Steps = min(max(int(s.loop/each), leastSteps), mostSteps)
	j := appJob(x, before, x.Steps)
	j.results = filepath.Join(s.shop.dir, fmt.Sprintf("app%d.json", number))
	if _, _, err := j.steps(); err != nil {
		return err
	}
	r, err := advise.ReadFile(j.results)
	if err != nil {
		return err
	}
	x.Advised = len(consider(j.results, r, usualMin/100).Items) > 0
	a := consider(j.results, r, 0)
	if len(a.Items) == 0 {
		return fmt.Errorf("no change was proven: %s", reasons(a))
	}
	files, err := (&document{Runs: []*advice{a}}).changed()
	if err != nil {
		return err
	}
	after, err := s.shop.build(fmt.Sprintf("app%d-after", number), appsPackage, files)
	if err != nil {
		return fmt.Errorf("the changed program: %w", err)
	}
	return s.race(x, before, after)
}

// race runs the program, the changed one and the instrumented one in turn. The instrumented one
// predicts, so that prediction and measurement meet the same changes of the speed of the machine.
func (s *study) race(x *trial, before, after string) error {
	tool := appJob(x, before, x.Steps)
	tool.results = filepath.Join(s.shop.dir, "race.json")
	forms := []struct {
		j  *job
		to *[]float64
	}{{appJob(x, before, x.Steps), &x.Before}, {appJob(x, after, x.Steps), &x.After}, {tool, &x.Tool}}
	x.Same = true
	first := ""
	for rep := range s.reps {
		s.progress.Say("%s over %s: round %d of %d", x.App, x.Net, rep+1, s.reps)
		for i := range forms {
			f := forms[(i+rep)%len(forms)]
			mean, sum, err := f.j.steps()
			if err != nil {
				return err
			}
			*f.to = append(*f.to, mean)
			if first == "" {
				first = sum
			}
			x.Same = x.Same && sum == first
		}
		r, err := advise.ReadFile(tool.results)
		if err != nil {
			return err
		}
		a, each := consider(tool.results, r, 0), 1/float64(x.Steps)
		x.Predicted, x.Low, x.High = append(x.Predicted, a.Saving*each), append(x.Low, a.Low*each), append(x.High, a.High*each)
	}
	return nil
}

// predicted returns the predicted saving of a step and its interval, medians of the rounds.
func (x *trial) predicted() (saving, low, high float64) {
	return report.Median(x.Predicted), report.Median(x.Low), report.Median(x.High)
}

// saved returns what a step of the changed program saves.
func (x *trial) saved() float64 { return report.Median(differences(x.Before, x.After)) }

// measured prints it, with the quartiles of the rounds.
func (x *trial) measured() string {
	d := differences(x.Before, x.After)
	slices.Sort(d)
	return spread(x.saved(), d[len(d)/4], d[len(d)*3/4])
}

func (x *trial) overhead() float64 {
	return report.Median(differences(x.Tool, x.Before)) / report.Median(x.Before)
}

func (x *trial) inside() bool {
	_, low, high := x.predicted()
	s := x.saved()
	return low <= s && s <= high
}

// width returns half of the interval, as a share of the prediction.
func (x *trial) width() float64 {
	saving, low, high := x.predicted()
	return (high - low) / 2 / saving
}

func (x *trial) miss() float64 { return report.Median(x.Predicted)/x.saved() - 1 }

func printTrials(w io.Writer, trials []*trial) {
	fmt.Fprintf(w, "%-10s %-16s %5s %5s %6s %10s %10s  %-32s %-32s %8s %7s %7s %8s\n", "program", "network", "size", "ranks", "steps", "before", "after", "predicted", "measured", "error", "inside", "advised", "overhead")
	var inside, near, narrow, judged int
	var overheads []float64
	for _, x := range trials {
		fmt.Fprintf(w, "%-10s %-16s %5d %5d %6d %10s %10s  %-32s %-32s %+6.0f %% %7t %7t %6.1f %%", x.App, x.Net, x.Size, x.Ranks, x.Steps, duration(report.Median(x.Before)), duration(report.Median(x.After)),
			spread(x.predicted()), x.measured(), 100*x.miss(), x.inside(), x.Advised, 100*x.overhead())
		overheads = append(overheads, x.overhead())
		if !x.Same {
			fmt.Fprint(w, "  OTHER RESULT")
		}
		fmt.Fprintln(w)
		if !x.Advised {
			continue
		}
		judged++
		if x.inside() {
			inside++
		}
		if math.Abs(x.miss()) <= 0.2 {
			near++
		}
		if x.width() <= 0.25 {
			narrow++
		}
	}
	report.Line(w, report.Text("kind", "apps"), report.Integer("judged", judged), report.Integer("inside", inside), report.Integer("within20", near), report.Integer("narrow", narrow),
		report.Decimal("overhead_percent", 100*report.Median(overheads)), report.Integer("other_results", len(slices.DeleteFunc(slices.Clone(trials), func(x *trial) bool { return x.Same }))))
}

// writeTrials makes a table with a line for each trial.
func writeTrials(name string, trials []*trial) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"program", "network", "size", "ranks", "steps", "before_seconds", "after_seconds", "tool_seconds", "predicted_seconds", "low_seconds", "high_seconds", "saved_seconds"})
	for _, x := range trials {
		line := []string{x.App, x.Net, strconv.Itoa(x.Size), strconv.Itoa(x.Ranks), strconv.Itoa(x.Steps)}
		for _, v := range []float64{report.Median(x.Before), report.Median(x.After), report.Median(x.Tool), report.Median(x.Predicted), report.Median(x.Low), report.Median(x.High), x.saved()} {
			line = append(line, strconv.FormatFloat(v, 'g', 7, 64))
		}
		_ = w.Write(line) // the writer keeps the error
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
