package main

import (
	"fmt"
	"io"

	"github.com/weft-hpc/weft/bench/npb/is"
	"github.com/weft-hpc/weft/bench/npb/mg"
	"github.com/weft-hpc/weft/mpi"
)

// outcome of one run, the same on all ranks.
type outcome struct {
	seconds float64
	verdict error // nil: verified
	norm    float64
	passed  int
}

// job is a benchmark on one rank.
type job interface {
	run(each func(t int)) (outcome, error) // collective
	free() error
}

// newJob makes the benchmark of the command line. Collective.
func newJob(comm *mpi.Comm, c *config) (job, error) {
	if c.bench == "is" {
		form := is.Blocking
		if c.form == is.Nonblocking.String() {
			form = is.Nonblocking
		}
		s, err := is.New(comm, c.is, form)
		return sorting{s}, err
	}
	if c.form == formTasks {
		s, err := mg.NewColumn(comm, c.mg)
		return multigrid{s, true}, err
	}
	s, err := mg.New(comm, c.mg)
	return multigrid{s, false}, err
}

type sorting struct{ *is.Sort }

func (s sorting) run(each func(int)) (outcome, error) {
	r, err := s.Run(each)
	if err != nil {
		return outcome{}, err
	}
	return outcome{seconds: r.Seconds, verdict: r.Verdict, passed: r.Passed}, nil
}

func (s sorting) free() error { return s.Free() }

type multigrid struct {
	*mg.Solver
	tasks bool
}

func (s multigrid) run(each func(int)) (outcome, error) {
	run := s.Run
	if s.tasks {
		run = func(each func(int)) (*mg.Result, error) { return s.RunTasks(each) }
	}
	r, err := run(each)
	if err != nil {
		return outcome{}, err
	}
	return outcome{seconds: r.Seconds, verdict: r.Verdict, norm: r.Norm}, nil
}

func (s multigrid) free() error { return s.Free() }

// summary of all runs.
type summary struct {
	seconds []float64
	best    outcome
	verdict error // the first that failed
}

// repeat runs the job, and prints the iterations of the first time. Collective.
func repeat(j job, reps int, out io.Writer) (*summary, error) {
	s := &summary{}
	for i := range reps {
		r, err := j.run(func(t int) {
			if i == 0 {
				fmt.Fprintf(out, "        %d\n", t)
			}
		})
		if err != nil {
			return nil, err
		}
		s.seconds = append(s.seconds, r.seconds)
		if i == 0 || r.seconds < s.best.seconds {
			s.best = r
		}
		if s.verdict == nil {
			s.verdict = r.verdict
		}
	}
	return s, nil
}
