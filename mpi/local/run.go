package local

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Run calls body once per rank, each on a goroutine of its own, and waits for all of them.
// It joins the errors of the bodies, each with its rank; a panic counts as an error with its
// stack. If all bodies succeed, Run returns mpi.ErrPending for every unfinished call,
// unreceived message and open window.
//
// A rank leaves the world when its body returns. From then on calls of other ranks that need
// it fail with mpi.ErrPeerGone, which names the rank and its error.
//
// After an Abort, Run returns the [*AbortError] alone. So it does, within three seconds and
// with a report, after a deadlock: ranks wait for each other in blocking calls, and none of
// them can go on.
func Run(ranks int, body func(*mpi.Comm) error, opts ...Option) error {
	w, err := New(ranks, opts...)
	if err != nil {
		return err
	}
	errs := make([]error, ranks)
	var group osthread.Group
	for r := range ranks {
		group.GoOn(w.node(r), func() { w.runRank(r, body, &errs[r]) })
	}
	over := osthread.NewSignal()
	var looking osthread.Group
	looking.Go(func() { w.watch(over) })
	group.Wait()
	over.Set()
	looking.Wait()
	failed := errors.Join(errs...)
	unfinished := w.Close()
	if a := w.aborted.Load(); a != nil {
		return a
	}
	if failed != nil {
		return failed
	}
	return unfinished
}

// runRank runs the body of one rank, sets err to its error, and takes the rank out of the
// world.
func (w *World) runRank(r int, body func(*mpi.Comm) error, err *error) {
	var c panics.Catcher
	*err = errors.New("the body ended its goroutine (runtime.Goexit)")
	defer func() { // a Goexit comes here too
		w.ends[r].depart(*err)
		if *err != nil {
			*err = fmt.Errorf("rank %d: %w", r, *err)
		}
	}()
	c.Try(func() { *err = body(w.comms[r]) })
	if p := c.Recovered(); p != nil {
		*err = p.AsError()
	}
}
