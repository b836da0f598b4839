package advise_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/weft-hpc/weft/commthread/advise"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// A program that swaps two numbers, one blocking call after another. Programs need not call
// Wrap: mpi/world does, if WEFT_ADVISE=FILE is in the environment.
func ExampleWrap() {
	dir, err := os.MkdirTemp("", "advise")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "run.json")
	swap := func(c *mpi.Comm) error {
		u, peer := make([]float64, 2000), 1-c.Rank()
		for range 20 {
			if _, err := c.Sendrecv(mpi.Of(u[:500]), peer, 0, mpi.Of(u[500:1000]), peer, 0); err != nil {
				return err
			}
			if _, err := c.Sendrecv(mpi.Of(u[1000:1500]), peer, 1, mpi.Of(u[1500:]), peer, 1); err != nil {
				return err
			}
		}
		return nil
	}
	err = local.Run(2, advise.Wrap(&advise.Options{File: file, Rehearse: -1}, swap))
	if err != nil {
		fmt.Println(err)
		return
	}
	info, fileErr := os.Stat(file)
	fmt.Println(err, fileErr, info.Size() > 0)
	// Output: <nil> <nil> true
}
