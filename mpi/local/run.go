package local

import (
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/mpi"
)

// Run calls body once per rank, each on a goroutine of its own, and waits for all of
// them. Package variables are common to all ranks. The error joins those of the
// bodies, each with its rank; a panic is an error with its stack. A rank whose body has
// returned, with an error or without, is gone: calls of others that need it fail with
// mpi.ErrPeerGone, which names it and its error, so nobody waits for ever. If
// all bodies succeed, Run reports as mpi.ErrPending what they left unfinished. After
// an Abort it returns the [*AbortError] alone. Ranks that wait for each other in blocking
// calls, so that none of them can ever go on, end the run in the same way, within three
// seconds, with a report of who waits for what.
func Run(ranks int, body func(*mpi.Comm) error, opts ...Option) error {
	w, err := New(ranks, opts...)
	if err != nil {
		return err
	}
	errs := make([]error, ranks)
	var wg sync.WaitGroup
	for r := range ranks {
		wg.Go(func() { w.runRank(r, body, &errs[r]) })
	}
	over := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() { w.watch(over) })
	wg.Wait()
	close(over)
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

// runRank runs the body of one rank, sets err to what came of it, and takes the rank
// out of the world.
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
