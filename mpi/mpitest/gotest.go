package mpitest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// Launch runs body on every rank of an engine whose ranks are goroutines, ends the engine,
// and returns the errors.
type Launch func(body func(*mpi.Comm) error) error

// Test runs the suite as subtests of t named name, each case in a launch of its own.
func Test(t *testing.T, name string, launch Launch) { Options{}.Test(t, name, launch) }

// Test is the function of the same name with options.
func (o Options) Test(t *testing.T, name string, launch Launch) {
	t.Run(name, func(t *testing.T) {
		for _, k := range Cases() {
			t.Run(k.Name, func(t *testing.T) { o.test(t, k, launch) })
		}
		for name, leave := range leftovers {
			t.Run("finalize/"+name, func(t *testing.T) {
				if err := launch(leave); !errors.Is(err, mpi.ErrPending) {
					t.Errorf("got %v, and not %q", err, mpi.ErrPending)
				}
			})
		}
	})
}

func (o Options) test(t *testing.T, k Case, launch Launch) {
	if o.Hang == 0 {
		o.Hang = 20 * time.Second // go test has a limit, too
	}
	var p Report
	err := launch(func(c *mpi.Comm) error {
		mine, err := o.run(c, []Case{k})
		if c.Rank() == 0 {
			p = mine
		}
		return err
	})
	for _, result := range p.Results {
		for _, f := range result.Failures {
			t.Error(f)
		}
		if result.Skipped != "" {
			t.Skip(result.Skipped)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// leftovers are bodies that end with unfinished calls, messages or windows: the engine reports them.
var leftovers = map[string]func(*mpi.Comm) error{
	"message that nobody receives": func(c *mpi.Comm) error {
		n := min((*engine.Comm)(c).Engine().Limits().Eager, 8)
		return c.Send(mpi.Of(make([]byte, max(n, 0))), c.Rank(), 3)
	},
	"receive that nobody sends to": func(c *mpi.Comm) error {
		c.Irecv(mpi.Of(make([]byte, 8)), c.Rank(), 3)
		return nil
	},
	"window that nobody frees": func(c *mpi.Comm) error {
		_, err := c.NewWin(mpi.Of(make([]byte, 8)))
		return err
	},
}

// Check returns an error if a case failed or, if all is set, was skipped.
func (p *Report) Check(all bool) error {
	var errs []error
	for _, r := range p.Results {
		if len(r.Failures) > 0 {
			errs = append(errs, fmt.Errorf("%s: %s", r.Name, r.Failures[0]))
		} else if r.Skipped != "" && all {
			errs = append(errs, fmt.Errorf("%s: skipped: %s", r.Name, r.Skipped))
		}
	}
	return errors.Join(errs...)
}
