package gonum

import (
	"errors"
	"os"
	"strconv"
	"sync"

	"github.com/weft-hpc/weft/dataflow"
	kernels "github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/dense"
	"github.com/weft-hpc/weft/internal/osthread"
)

// computer runs calls with one set of kernels.
type computer struct {
	sizes
	k     kernels.Kernels
	alone *dense.Solver // computes on the calling goroutine
}

func newComputer(k kernels.Kernels) *computer {
	return &computer{sizes: measured, k: k, alone: dense.NewSolver(nil, k)}
}

// starting is held from a look at the free cores to their claim.
var starting sync.Mutex

// run calls f with a solver on the free cores, if the work is enough for two, counted in
// multiplications. It panics on an error, which only a mistake of this package can cause.
func (c *computer) run(work float64, f func(s *dense.Solver) error) {
	err := errAlone
	if work >= c.parallel {
		err = c.onFreeCores(f)
	}
	if errors.Is(err, errAlone) {
		if work >= c.parallel { // a core less for others
			claim := osthread.ClaimCores(1)
			defer claim.Release()
		}
		err = f(c.alone)
	}
	if err != nil {
		panic(err)
	}
}

var errAlone = errors.New("gonum: fewer than two cores are free")

func (c *computer) onFreeCores(f func(s *dense.Solver) error) error {
	starting.Lock()
	n := min(osthread.FreeCores(), limit())
	if n < 2 {
		starting.Unlock()
		return errAlone
	}
	claimed := sync.OnceFunc(starting.Unlock)
	defer claimed()
	return dataflow.Run(func(rt *dataflow.Runtime) error {
		claimed()
		return f(dense.NewSolver(rt, c.k))
	}, dataflow.Workers(n))
}

// limit returns WEFT_WORKERS, or a large number.
func limit() int {
	if n, err := strconv.Atoi(os.Getenv("WEFT_WORKERS")); err == nil && n > 0 {
		return n
	}
	return 1 << 20
}
