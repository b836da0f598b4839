package nas_test

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// The smallest class on two ranks, as tasks. Verdict is nil if all checksums match the
// reference. Programs take their communicator from world.Run; bench/npbft is the whole
// benchmark.
func ExampleOnce() {
	class, err := nas.Named("S")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = local.Run(2, func(c *mpi.Comm) error {
		r, err := nas.Once(c, class, distributed.Config{Form: distributed.Tasks})
		if c.Rank() == 0 && err == nil {
			fmt.Println(class.Size(), len(r.Sums), r.Verdict)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 64x  64x  64 6 <nil>
	// <nil>
}
