package mpitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// Options of [Run]. The zero value runs all cases and prints only hangs. All ranks pass the
// same options, except Out, Err and OnHang.
type Options struct {
	Out    io.Writer              // rank 0 writes a line per case; nil: nothing
	Err    io.Writer              // hangs are reported here; nil: standard error
	Only   func(name string) bool // cases to run; nil: all
	Long   bool                   // larger messages, and more random programs
	Lacks  Needs                  // abilities that the engine lacks: their cases are skipped
	Seed   uint64                 // of the random programs
	Hang   time.Duration          // a case that takes longer hangs; 0: one minute
	OnHang func(report string)    // on each rank that hangs; nil: [mpi.Comm.Abort]
}

// Result is the result of one case on all ranks.
type Result struct {
	Name     string
	Skipped  string   // why; "" if it was run
	Failures []string // "rank 1: transfer.go:20: ..."
}

// Report is the result of [Run].
type Report struct {
	Engine  string // its name
	Ranks   int
	Results []Result
}

// Counts returns the number of all cases, of failed and of skipped ones.
func (p *Report) Counts() (cases, failed, skipped int) {
	for _, r := range p.Results {
		switch {
		case r.Skipped != "":
			skipped++
		case len(r.Failures) > 0:
			failed++
		}
	}
	return len(p.Results), failed, skipped
}

// Run runs the cases one after another, each on a duplicate of c. All ranks of c call it and
// get the same report. It returns an error if the suite itself cannot go on; a failed case
// is no error.
func Run(c *mpi.Comm, o Options) (Report, error) { return o.run(c, Cases()) }

func (o Options) run(c *mpi.Comm, cases []Case) (Report, error) {
	p := Report{Engine: (*engine.Comm)(c).Engine().Name(), Ranks: c.Size()}
	control, err := c.Dup()
	if err != nil {
		return p, fmt.Errorf("mpitest: %w", err)
	}
	g := o.guard(control)
	g.start()
	defer g.close()
	for _, k := range cases {
		if o.Only != nil && !o.Only(k.Name) {
			continue
		}
		result := Result{Name: k.Name, Skipped: o.skips(k, c.Size())}
		if result.Skipped == "" {
			if result.Failures, err = o.try(control, g, k); err != nil {
				return p, fmt.Errorf("mpitest: case %q: %w", k.Name, err)
			}
		}
		p.Results = append(p.Results, result)
		if o.Out != nil && c.Rank() == 0 {
			fmt.Fprint(o.Out, result)
		}
	}
	return p, control.Free()
}

func (o Options) guard(c *mpi.Comm) *guard {
	g := &guard{rank: c.Rank(), after: o.Hang, out: o.Err, onHang: o.OnHang}
	if g.after == 0 {
		g.after = time.Minute
	}
	if g.out == nil {
		g.out = os.Stderr
	}
	if g.onHang == nil {
		g.onHang = func(report string) { c.Abort(1, report) }
	}
	return g
}

// skips returns the reason to skip a case, "" to run it.
func (o Options) skips(k Case, ranks int) string {
	switch {
	case ranks < k.MinRanks:
		return fmt.Sprintf("needs %d ranks", k.MinRanks)
	case k.Needs&o.Lacks != 0:
		return fmt.Sprintf("the engine lacks %v", k.Needs&o.Lacks)
	}
	return ""
}

// String returns the line of the case in the output.
func (r Result) String() string {
	switch {
	case r.Skipped != "":
		return fmt.Sprintf("skip %s: %s\n", r.Name, r.Skipped)
	case len(r.Failures) == 0:
		return fmt.Sprintf("ok   %s\n", r.Name)
	}
	var s strings.Builder
	for _, f := range r.Failures {
		fmt.Fprintf(&s, "FAIL %s: %s\n", r.Name, f)
	}
	return s.String()
}

// try runs one case on all ranks and returns their failures.
func (o Options) try(control *mpi.Comm, g *guard, k Case) ([]string, error) {
	s := &state{long: o.Long, seed: o.Seed}
	g.enter(k.Name, s)
	defer g.leave()
	c, err := control.Dup()
	if err != nil {
		return nil, err
	}
	c.SetName(k.Name)
	r := &rank{c, s}
	text := k.run(r)
	if text != "" {
		for _, d := range append(s.derived, c) {
			d.Revoke(errors.New("the case failed: " + firstLine(text)))
		}
	}
	failures, err := exchangeFailures(control, text)
	if err == nil && len(failures) == 0 {
		r.at("giving the communicators back")
		err = r.tidy()
	}
	return failures, err
}

// tidy frees the communicators of a passed case, except revoked ones.
func (r *rank) tidy() error {
	for i := len(r.derived) - 1; i >= 0; i-- {
		if err := r.derived[i].Free(); err != nil && !errors.Is(err, mpi.ErrRevoked) {
			return err
		}
	}
	if err := r.Free(); !errors.Is(err, mpi.ErrRevoked) {
		return err
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// longestText is the largest number of bytes of a failure sent to all ranks.
const longestText = 4000

// exchangeFailures exchanges the failures of all ranks and returns them.
func exchangeFailures(control *mpi.Comm, text string) ([]string, error) {
	bad := []int64{0}
	if text != "" {
		bad[0] = 1
	}
	if err := control.Allreduce(mpi.InPlace, mpi.Of(bad), mpi.Sum); err != nil || bad[0] == 0 {
		return nil, err
	}
	mine := make([]byte, longestText)
	copy(mine, text)
	all := make([]byte, longestText*control.Size())
	if err := control.Allgather(mpi.Of(mine), mpi.Of(all)); err != nil {
		return nil, err
	}
	var failures []string
	for i := range control.Size() {
		if s := string(bytes.TrimRight(all[i*longestText:(i+1)*longestText], "\x00")); s != "" {
			failures = append(failures, fmt.Sprintf("rank %d: %s", i, s))
		}
	}
	return failures, nil
}
