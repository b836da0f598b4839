package hpl_test

import (
	"fmt"

	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// A system of order 500 on a grid of 1 x 2 processes, as tasks. The residual of a right
// solution is far below the threshold of 16. Programs take their communicator from
// world.Run; bench/xhpl is the whole benchmark.
func ExampleRun() {
	cfg := hpl.Default(500)
	cfg.P, cfg.Q = 1, 2
	err := local.Run(2, func(c *mpi.Comm) error {
		r, err := hpl.Run(c, cfg)
		if c.Rank() == 0 && err == nil {
			fmt.Printf("||x||_oo = %.4f, residual below 0.1: %v\n", r.NormXInf, r.Residual < 0.1)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// ||x||_oo = 3.7457, residual below 0.1: true
	// <nil>
}
