package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// innocent is a program that advice must not slow down: where any is given, it is followed
// and the changed program is measured.
type innocent struct {
	Name, Package string
	Args, Quick   []string
	Advice        int
	Before, After []float64 // seconds of a run
}

// programs are the examples, and the blocking forms of HPL and FT.
func programs() []*innocent {
	return []*innocent{
		{Name: "two ranks", Package: "examples/06-two-ranks"},
		{Name: "halo", Package: "examples/07-halo"},
		{Name: "lazy message", Package: "examples/09-lazy-message"},
		{Name: "HPL, blocking", Package: "bench/xhpl", Args: strings.Fields("-variant blocking -n 1500 -nb 96 -p 1 -q 2 -workers 1 -net gige"),
			Quick: strings.Fields("-variant blocking -n 300 -nb 48 -p 1 -q 2 -workers 1 -net gige")},
		{Name: "HPL, blocking, 2 x 2", Package: "bench/xhpl", Args: strings.Fields("-variant blocking -n 1500 -nb 96 -p 2 -q 2 -workers 1 -net gige"),
			Quick: strings.Fields("-variant blocking -n 300 -nb 48 -p 2 -q 2 -workers 1 -net gige")},
		{Name: "FT, exchange", Package: "bench/npbft", Args: strings.Fields("-variant exchange -class W -ranks 2 -workers 1 -net gige"),
			Quick: strings.Fields("-variant exchange -class S -ranks 2 -workers 1 -net gige")},
	}
}

// acquit tries every program.
func (s *study) acquit(quick bool) error {
	for i, x := range programs() {
		if quick && x.Quick == nil && x.Args == nil && i > 0 {
			continue // one example is enough to see that it works
		}
		if quick && x.Quick != nil {
			x.Args = x.Quick
		}
		s.progress.Say("%s: advice", x.Name)
		if err := s.try(x, fmt.Sprintf("other%d", i)); err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
		s.innocents = append(s.innocents, x)
	}
	return nil
}

// try runs a program under the tool, and follows the advice if there is any.
func (s *study) try(x *innocent, name string) error {
	before, err := s.shop.build(name, x.Package, nil)
	if err != nil {
		return err
	}
	j := &job{program: before, args: x.Args, results: filepath.Join(s.shop.dir, name+"-run.json")}
	if _, _, err := j.run(); err != nil {
		return err
	}
	r, err := advise.ReadFile(j.results)
	if err != nil {
		return err
	}
	a := consider(j.results, r, usualMin/100)
	if x.Advice = len(a.Items); x.Advice == 0 {
		return nil
	}
	d := document{Runs: []*advice{a}}
	files, err := d.changed()
	if err != nil {
		return err
	}
	after, err := s.shop.build(name+"-after", x.Package, files)
	if err != nil {
		return fmt.Errorf("the changed program: %w", err)
	}
	for rep := range s.reps {
		s.progress.Say("%s: round %d of %d", x.Name, rep+1, s.reps)
		order := []*job{{program: before, args: x.Args}, {program: after, args: x.Args}}
		times := make([]float64, 2)
		for i := range order {
			k := (i + rep) % 2
			if _, times[k], err = order[k].run(); err != nil {
				return err
			}
		}
		x.Before, x.After = append(x.Before, times[0]), append(x.After, times[1])
	}
	return nil
}

// change returns the share by which the changed program is slower.
func (x *innocent) change() float64 {
	if len(x.Before) == 0 {
		return 0
	}
	return report.Median(x.After)/report.Median(x.Before) - 1
}

// isFalse reports whether the advice slows the program by more than can be noise: beyond the
// limit, and in most of the rounds.
func (x *innocent) isFalse() bool {
	worse := slices.DeleteFunc(differences(x.After, x.Before), func(d float64) bool { return d <= 0 })
	return x.change() > slower && 2*len(worse) > len(x.Before)
}

func (x *innocent) print(w io.Writer) {
	if x.Advice == 0 {
		fmt.Fprintf(w, "%s: no advice\n", x.Name)
		return
	}
	fmt.Fprintf(w, "%s: advice %d; %s before, %s after (%+.1f %%)\n", x.Name, x.Advice, duration(report.Median(x.Before)), duration(report.Median(x.After)), 100*x.change())
}

func (x *innocent) printResult(w io.Writer) {
	report.Line(w, report.Text("kind", "other"), report.Text("program", x.Name), report.Integer("advice", x.Advice),
		report.Decimal("before_seconds", report.Median(x.Before)), report.Decimal("after_seconds", report.Median(x.After)), report.Decimal("change_percent", 100*x.change()))
}
