package world

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
)

// runLaunched runs body on this rank of the system's MPI.
func runLaunched(c *Config, size int, body func(*mpi.Comm) error) error {
	comm, err := system.Init()
	if err != nil {
		return err
	}
	if size >= 0 && comm.Size() != size {
		return usage("the launcher started %d ranks, but MPI knows %d: it is not the launcher of %s", size, comm.Size(), system.Library())
	}
	if c.given("ranks") && c.Ranks != comm.Size() {
		return usage("-ranks %d, but the launcher started %d: leave -ranks out", c.Ranks, comm.Size())
	}
	control, err := comm.Dup() // still works when the world has been revoked
	if err != nil {
		return err
	}
	if err := splitCores(control); err != nil {
		return err
	}
	s := &shutdown{world: comm, control: control}
	return s.end(protect(comm, body))
}

// protect calls body and turns a panic into an error.
func protect(c *mpi.Comm, body func(*mpi.Comm) error) (err error) {
	var caught panics.Catcher
	returned := false
	caught.Try(func() {
		err = body(c)
		returned = true
	})
	if p := caught.Recovered(); p != nil {
		return p.AsError()
	}
	if !returned {
		return errors.New("the body ended its goroutine (runtime.Goexit)")
	}
	return err
}

// leftovers returns an error for the unfinished calls and messages of all ranks. All bodies
// have returned.
func leftovers(c, control *mpi.Comm) error {
	if e, ok := (*engine.Comm)(c).Engine().(interface{ Leftovers(engine.Handle) error }); ok {
		return e.Leftovers((*engine.Comm)(control).Handle())
	}
	return nil
}

// Describe returns the number of ranks and the engine, for the header of an output.
func Describe(c *mpi.Comm) string {
	return fmt.Sprintf("%d ranks, engine %s", c.Size(), (*engine.Comm)(c).Engine().Name())
}
