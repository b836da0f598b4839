//go:build !mpi || !cgo

package system

import (
	"errors"

	"github.com/weft-hpc/weft/mpi"
)

// ErrNotBuilt is the error of [Init] in builds without MPI.
var ErrNotBuilt = errors.New("mpi/system: this program was built without MPI: build it with cgo, CC=mpicc.openmpi (or mpicc.mpich) and -tags mpi")

// Available reports whether this build has the engine.
func Available() bool { return false }

// Library returns the name and version of the MPI library that the program was
// built with; "" if none.
func Library() string { return "" }

// Init starts MPI and returns the world communicator. In this build there is none.
func Init() (*mpi.Comm, error) { return nil, ErrNotBuilt }

// Leave does nothing in this build.
func Leave(int) {}
